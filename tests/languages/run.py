"""Builds and runs the program of every language against installed copies of libtp.

    python tests/languages/run.py FOLDER LIBDIR ...

LIBDIR is the folder of a libtp with its pkgconfig/ and cmake/: that of a wheel, that of a Meson installation. C, Rust
and Fortran find it with pkg-config, C++ and Fortran with CMake. Programs are built below FOLDER. Fails where a program
fails, or where the toolchain of C, C++, Rust or Fortran is missing; Java needs a JDK 22 or newer, which may lie beside
the default one, and is reported as not run without.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
BINDINGS = HERE.parent.parent / "libtp" / "bindings"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]

CMAKE = """
cmake_minimum_required(VERSION 3.15)
project(network {language})
find_package(libtp 0.1 REQUIRED)
add_executable(network {sources})
target_link_libraries(network PRIVATE tp::tp)
set_target_properties(network PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS OFF)
"""


class Fails(Exception):
    pass


class NotRun(Exception):
    pass


def run(*command, env=None, cwd=None):
    done = subprocess.run([str(part) for part in command], env=os.environ | (env or {}), cwd=cwd,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Fails(f"{' '.join(map(str, command))} gave {done.returncode}\n{done.stdout}")
    return done.stdout


class Libtp:
    """An installed one."""

    def __init__(self, lib):
        self.lib = lib
        self.env = {"PKG_CONFIG_PATH": str(lib / "pkgconfig")}
        self.flags = shlex.split(run("pkg-config", "--cflags", "--libs", "libtp", env=self.env))
        self.include = shlex.split(run("pkg-config", "--variable=includedir", "libtp", env=self.env))[0]
        self.include = pathlib.Path(self.include)


def with_cmake(libtp, folder, language, sources):
    shutil.rmtree(folder / "tree", ignore_errors=True)
    quoted = " ".join(f'"{source}"' for source in sources)
    (folder / "CMakeLists.txt").write_text(CMAKE.format(language=language, sources=quoted))
    run("cmake", "-S", folder, "-B", folder / "tree", f"-Dlibtp_DIR={libtp.lib / 'cmake' / 'libtp'}")
    run("cmake", "--build", folder / "tree")
    return run(folder / "tree" / "network")


def c(libtp, folder):
    run("cc", "-std=c99", *STRICT, HERE / "c" / "network.c", *libtp.flags, "-lm", "-o", folder / "network")
    return run(folder / "network", env={"LD_LIBRARY_PATH": str(libtp.lib)})


def cpp(libtp, folder):
    run("c++", "-std=c++20", *STRICT, "-fsyntax-only", HERE / "cpp" / "network.cpp", *libtp.flags)
    # Leaks of the wrapper, and what it does to memory; the library is as it is.
    run("c++", "-std=c++17", *STRICT, "-g", "-fsanitize=address,undefined", HERE / "cpp" / "wrapper.cpp", *libtp.flags,
        "-o", folder / "wrapper")
    run(folder / "wrapper", env={"LD_LIBRARY_PATH": str(libtp.lib), "ASAN_OPTIONS": "detect_leaks=1"})
    return with_cmake(libtp, folder, "CXX", [HERE / "cpp" / "network.cpp"])


def rust(libtp, folder):
    run("cargo", "run", "--offline", "--quiet", "--manifest-path", HERE / "rust" / "Cargo.toml",
        env=libtp.env | {"CARGO_TARGET_DIR": str(folder), "RUSTFLAGS": "-Dwarnings"})
    return run(folder / "debug" / "network")


def fortran(libtp, folder):
    sources = [libtp.include / "tp" / "tp.f90", libtp.include / "tp" / "tp_ops.f90", HERE / "fortran" / "network.f90"]
    # -fPIC: a constant with the address of a procedure in it is not for read-only memory.
    run("gfortran", "-std=f2018", "-fPIC", *sources, *libtp.flags, "-o", folder / "network", cwd=folder)
    run(folder / "network", env={"LD_LIBRARY_PATH": str(libtp.lib)})
    return with_cmake(libtp, folder, "Fortran", sources)


def jdk():
    """The newest JDK, if it is one of 22 or newer."""
    homes = [pathlib.Path(p) for p in (os.environ.get("JAVA_HOME"),) if p]
    java = shutil.which("java")
    homes += [pathlib.Path(java).resolve().parent.parent] if java else []
    homes += [p for top in ("/usr/lib/jvm", "/opt/java", "/opt") for p in pathlib.Path(top).glob("*jdk*")]
    found = []
    for home in homes:
        if (home / "bin" / "javac").exists():
            text = run(home / "bin" / "javac", "-version")
            version = re.search(r"javac (\d+)", text)
            found += [(int(version[1]), home)] if version else []
    if not found or max(found)[0] < 22:
        raise NotRun("no JDK of 22 or newer")
    return max(found)[1] / "bin"


def java(libtp, folder):
    tools = jdk()
    run(tools / "javac", "-d", folder, *sorted(BINDINGS.glob("java/tensorplay/*.java")), HERE / "java" / "Network.java")
    return run(tools / "java", "--enable-native-access=ALL-UNNAMED",
               f"-Dtensorplay.library={libtp.lib / 'libtp.so.0'}", "-cp", folder, "Network")


NEEDS = {"C": "cc", "C++": "c++", "Rust": "cargo", "Fortran": "gfortran"}
LANGUAGES = {"C": c, "C++": cpp, "Rust": rust, "Fortran": fortran, "Java": java}


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    bad = [f"{language}: needs {tool}" for language, tool in NEEDS.items() if shutil.which(tool) is None]
    bad += [f"needs {tool}" for tool in ("cmake", "pkg-config") if shutil.which(tool) is None]
    if bad:
        sys.exit("languages: " + "; ".join(bad))
    for number, place in enumerate(sys.argv[2:]):
        libtp = Libtp(pathlib.Path(place).resolve())
        print(f"languages: with {libtp.lib}")
        for language, build in LANGUAGES.items():
            own = folder / f"{language} {number}"
            own.mkdir(parents=True, exist_ok=True)
            start = time.monotonic()
            try:
                build(libtp, own)
                print(f"  {language:8} right, {time.monotonic() - start:.1f} s", flush=True)
            except NotRun as e:
                print(f"  {language:8} not run: {e}", flush=True)
            except Fails as e:
                bad.append(language)
                print(f"  {language:8} FAILS: {e}", flush=True)
    if bad:
        sys.exit(f"languages: {', '.join(bad)}")


main()
