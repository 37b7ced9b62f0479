"""Where libtp is, for programs in other languages that link with it.

cc main.c $(python -m tensorplay.config --cflags --libs)

Flags are quoted for a shell where a path needs it, as pkg-config does; where libtp lies below a path with spaces,
write `eval "cc main.c $(python -m tensorplay.config --cflags --libs)"`. Folders are printed as they are.
"""

import argparse
import pathlib
import shlex

_ROOT = pathlib.Path(__file__).absolute().parent


def include_dir():
    """The folder that holds tp/tp.h."""
    return str(_ROOT / "include")


def library_dir():
    """The folder that holds libtp."""
    return str(_ROOT / "lib")


def pkgconfig_dir():
    """The folder that holds libtp.pc, for PKG_CONFIG_PATH."""
    return str(_ROOT / "lib" / "pkgconfig")


def cmake_dir():
    """The folder that holds libtpConfig.cmake, for libtp_DIR or CMAKE_PREFIX_PATH."""
    return str(_ROOT / "lib" / "cmake" / "libtp")


def cflags():
    """What the compiler needs."""
    return shlex.quote(f"-I{include_dir()}")


def libs():
    """What the linker needs; the program finds libtp there at run time as well."""
    return f"{shlex.quote('-L' + library_dir())} -ltp {shlex.quote('-Wl,-rpath,' + library_dir())}"


def main():
    """Prints what is asked for, in the order cflags, libs, folders."""
    from ._version import version

    parser = argparse.ArgumentParser(prog="python -m tensorplay.config", description=__doc__.splitlines()[0])
    known = {
        "cflags": (cflags, "compiler flags"),
        "libs": (libs, "linker flags"),
        "includedir": (include_dir, "folder of the headers"),
        "libdir": (library_dir, "folder of the library"),
        "pkgconfigdir": (pkgconfig_dir, "folder of libtp.pc"),
        "cmakedir": (cmake_dir, "folder of libtpConfig.cmake"),
        "version": (lambda: version, "version of tensorplay-core"),
    }
    for name, (_, text) in known.items():
        parser.add_argument(f"--{name}", action="append_const", dest="asked", const=name, help=text)
    asked = parser.parse_args().asked or ()
    chosen = [value() for name, (value, _) in known.items() if name in asked]
    if not chosen:
        parser.error("say what to print: " + ", ".join(f"--{name}" for name in known))
    print(" ".join(chosen))


if __name__ == "__main__":
    main()
