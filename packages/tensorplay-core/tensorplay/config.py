"""Where libtp is, for programs in other languages that link with it.

cc main.c $(python -m tensorplay.config --cflags --libs)
"""

import argparse
import pathlib

_ROOT = pathlib.Path(__file__).absolute().parent


def include_dir():
    """The folder that holds tp/tp.h."""
    return str(_ROOT / "include")


def library_dir():
    """The folder that holds libtp."""
    return str(_ROOT / "lib")


def cflags():
    """What the compiler needs."""
    return f"-I{include_dir()}"


def libs():
    """What the linker needs; the program finds libtp there at run time as well."""
    return f"-L{library_dir()} -ltp -Wl,-rpath,{library_dir()}"


def main():
    """Prints what is asked for, in the order cflags, libs, folders."""
    from ._version import version

    parser = argparse.ArgumentParser(prog="python -m tensorplay.config", description=__doc__.splitlines()[0])
    known = {
        "cflags": (cflags, "compiler flags"),
        "libs": (libs, "linker flags"),
        "includedir": (include_dir, "folder of the headers"),
        "libdir": (library_dir, "folder of the library"),
        "pkgconfigdir": (lambda: str(_ROOT / "lib" / "pkgconfig"), "folder of libtp.pc"),
        "version": (lambda: version, "version of tensorplay-core"),
    }
    for name, (_, text) in known.items():
        parser.add_argument(f"--{name}", action="store_true", help=text)
    options = parser.parse_args()
    chosen = [value() for name, (value, _) in known.items() if getattr(options, name)]
    if not chosen:
        parser.error("say what to print: " + ", ".join(f"--{name}" for name in known))
    print(" ".join(chosen))


if __name__ == "__main__":
    main()
