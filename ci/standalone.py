"""Installs libtp with Meson alone, into a path with a space, moves it, and holds it to what a product promises.

    python ci/standalone.py LIBTP FOLDER [MESON OPTION ...]

A C program finds the library through pkg-config and CMake, shared and static; it needs nothing of Python at run time;
it works with the OpenBLAS that is shipped, with one that the environment names, and without any.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include <tp/tp.h>

int main(int argc, char **argv)
{
    int64_t shape[2] = {2, 2};
    double values[4] = {4, 2, 2, 5};
    tp_tensor *a, *b, *c;
    const double *v;
    if (tp_abi_version() != TP_ABI_VERSION || argc < 2) return 1;
    a = tp_from_data(values, TP_FLOAT64, 2, shape);
    b = tp_matmul(a, a);
    v = (const double *)tp_data(b);
    if (!v || v[0] != 20 || v[1] != 18 || v[2] != 18 || v[3] != 29) return 2;
    c = tp_linalg_cholesky(a, false);
    if (!strcmp(argv[1], "without")) {
        if (strcmp(tp_blas_library(), "built-in") != 0) return 3;
        if (c || tp_error_code() != TP_ERR_RUNTIME || !strstr(tp_error_message(), "install OpenBLAS")) return 4;
        printf("%s\n", tp_error_message());
    } else {
        v = (const double *)tp_data(c);
        if (!v || v[0] != 2 || v[1] != 0 || v[2] != 1 || v[3] != 2) return 5;
    }
    printf("libtp %s, ABI %d, %s\n", tp_library_version(), tp_abi_version(), tp_blas_library());
    tp_release(a), tp_release(b), tp_release(c);
    return tp_live_tensors() != 0;
}
"""

CMAKE = """
cmake_minimum_required(VERSION 3.15)
project(standalone C)
find_package(libtp {version} REQUIRED)
add_executable(shared program.c)
target_link_libraries(shared PRIVATE tp::tp)
add_executable(static program.c)
target_link_libraries(static PRIVATE tp::tp_static)
"""


def run(*command, quiet=False, **options):
    if quiet:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run([str(part) for part in command], **options)
    if done.returncode:
        sys.exit(f"standalone: {' '.join(map(str, command))} gave {done.returncode}\n{done.stdout or ''}")


def install(source, folder, options):
    """The prefix, moved once since Meson installed into it."""
    prefix, moved = folder / "first prefix", folder / "the prefix"
    tree = folder / "tree"
    again = ["--reconfigure"] if (tree / "build.ninja").exists() else []
    for old in (prefix, moved):
        shutil.rmtree(old, ignore_errors=True)
    run("meson", "setup", *again, tree, source, f"--prefix={prefix}", *options, quiet=True)
    run("meson", "install", "-C", tree, quiet=True)
    prefix.rename(moved)
    return moved


def programs(folder, prefix, lib):
    """Each way to build the program, and what came of it."""
    (folder / "program.c").write_text(PROGRAM)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libtp"], check=True, stdout=subprocess.PIPE, text=True,
                           env=os.environ | {"PKG_CONFIG_PATH": str(lib / "pkgconfig")}).stdout
    run("cc", "-std=c99", folder / "program.c", *shlex.split(flags), f"-Wl,-rpath,{lib}", "-o", folder / "found")
    yield "pkg-config", folder / "found"
    version = re.search(r"Version: (\S+)", (lib / "pkgconfig" / "libtp.pc").read_text())[1]
    for wanted, good in ((version, True), (version.rsplit(".", 1)[0], True), ("0.0.1", False), ("99", False)):
        (folder / "CMakeLists.txt").write_text(CMAKE.format(version=wanted))
        shutil.rmtree(folder / "cmake", ignore_errors=True)
        command = ["cmake", "-S", folder, "-B", folder / "cmake", f"-DCMAKE_PREFIX_PATH={prefix}"]
        if shutil.which("cmake") is None:
            return print("standalone: no cmake, its package file is not tried")
        if good:
            run(*command, quiet=True)
            run("cmake", "--build", folder / "cmake", quiet=True)
        elif subprocess.run(list(map(str, command)), capture_output=True).returncode == 0:
            sys.exit(f"standalone: CMake takes version {version} for {wanted}")
        for name in ("shared", "static") if good else ():
            yield f"CMake {name}", folder / "cmake" / name


def main():
    source, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    folder.mkdir(parents=True, exist_ok=True)
    prefix = install(source, folder, sys.argv[3:])
    (described,) = prefix.rglob("libtp.pc")
    lib = described.parent.parent
    run(sys.executable, pathlib.Path(__file__).with_name("exports.py"), lib)
    shipped = sorted(lib.glob("lib*openblas*"))
    for way, program in programs(folder, prefix, lib):
        plain = {k: v for k, v in os.environ.items() if k not in ("TP_BLAS", "LD_LIBRARY_PATH")}
        print(f"standalone, {way}:", flush=True)
        if shipped:
            run(program, "with", env=plain | {"TP_BLAS": str(shipped[0])})
            shared = b"libtp.so" in subprocess.run(["ldd", program], check=True, stdout=subprocess.PIPE).stdout
            run(program, "with", env=plain if shared else plain | {"LD_LIBRARY_PATH": str(lib)})
        run(program, "without", env=plain | {"TP_BLAS": "built-in"})
    objects = subprocess.run(["nm", "-g", "--defined-only", lib / "libtp.a"], check=True, stdout=subprocess.PIPE,
                             text=True).stdout
    stray = [line for line in objects.splitlines() if len(line.split()) == 3 and not line.split()[2].startswith("tp_")]
    if stray:
        sys.exit(f"standalone: the static library defines {stray[:5]}")


main()
