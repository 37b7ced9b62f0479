//! Finds the installed libtp and declares, from its headers, every function that Rust can call.
//!
//! `TP_INCLUDE_DIR` and `TP_LIB_DIR` say where it lies; without them pkg-config does.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const HEADERS: [&str; 9] = [
    "common.h", "dtype.h", "error.h", "tensor.h", "random.h", "runtime.h", "level.h", "transform.h", "ops.h",
];

fn folder(variable: &str, name: &str) -> PathBuf {
    println!("cargo:rerun-if-env-changed={variable}");
    if let Some(given) = env::var_os(variable) {
        return PathBuf::from(given);
    }
    let out = Command::new("pkg-config").arg(format!("--variable={name}")).arg("libtp").output();
    let text = match out {
        Ok(out) if out.status.success() => String::from_utf8(out.stdout).expect("pkg-config prints UTF-8"),
        _ => panic!("libtp was not found: set PKG_CONFIG_PATH, or TP_INCLUDE_DIR and TP_LIB_DIR"),
    };
    // pkg-config quotes spaces with a backslash.
    PathBuf::from(text.trim_end().replace('\\', ""))
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        out.push_str(&rest[..start]);
        match rest[start..].find("*/") {
            Some(end) => rest = &rest[start + end + 2..],
            None => return out,
        }
    }
    out + rest
}

/// The Rust type of a C type, and the name that follows it; None for what is not declared here.
fn declared(text: &str) -> Option<(String, String)> {
    let spaced = text.replace('*', " * ");
    let mut words = spaced.split_whitespace().peekable();
    let mut constant = words.next_if_eq(&"const").is_some();
    let base = match words.next()? {
        "int" => "c_int",
        "int64_t" => "i64",
        "uint64_t" => "u64",
        "uint8_t" => "u8",
        "size_t" => "usize",
        "double" => "f64",
        "bool" => "bool",
        "char" => "c_char",
        "void" => "c_void",
        known @ ("tp_tensor" | "tp_scalar" | "tp_generator" | "tp_function" | "tp_vmap_options" | "tp_memory_stats") => {
            known
        }
        _ => return None,
    };
    let mut kind = base.to_string();
    while words.next_if_eq(&"*").is_some() {
        kind = format!("*{} {kind}", if constant { "const" } else { "mut" });
        constant = words.next_if_eq(&"const").is_some();
    }
    let name = words.next().unwrap_or("").to_string();
    (words.next().is_none() && !name.contains('[')).then_some((kind, name))
}

fn function(prototype: &str) -> Option<String> {
    let open = prototype.find('(')?;
    let (head, arguments) = (&prototype[..open], prototype[open + 1..].strip_suffix(')')?);
    if arguments.contains('(') {
        return None;
    }
    let (result, name) = declared(head)?;
    let mut list = Vec::new();
    if arguments.trim() != "void" {
        for argument in arguments.split(',') {
            let (kind, name) = declared(argument)?;
            list.push(format!("{name}_: {kind}"));
        }
    }
    let arrow = if result == "c_void" { String::new() } else { format!(" -> {result}") };
    Some(format!("    pub fn {name}({}){arrow};\n", list.join(", ")))
}

fn bindings(include: &Path) -> String {
    let mut out = String::from("extern \"C\" {\n");
    for header in HEADERS {
        let path = include.join("tp").join(header);
        println!("cargo:rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let text = without_comments(&text);
        for part in text.split("TP_API ").skip(1) {
            if let Some(declaration) = part.split(';').next().and_then(function) {
                out.push_str(&declaration);
            }
        }
    }
    writeln!(out, "}}").unwrap();
    out
}

fn main() {
    let include = folder("TP_INCLUDE_DIR", "includedir");
    let library = folder("TP_LIB_DIR", "libdir");
    let target = PathBuf::from(env::var_os("OUT_DIR").unwrap()).join("functions.rs");
    fs::write(target, bindings(&include)).unwrap();
    println!("cargo:rustc-link-search=native={}", library.display());
    println!("cargo:rustc-link-lib=dylib=tp");
    // For the build script of a program that wants to find the library there at run time: DEP_TP_LIBDIR.
    println!("cargo:libdir={}", library.display());
}
