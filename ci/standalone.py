"""Installs libtp with Meson alone, into a path with a space, and runs a C program found through pkg-config.

    python ci/standalone.py LIBTP FOLDER
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

PROGRAM = r"""
#include <stdio.h>
#include <tp/tp.h>

int main(void)
{
    printf("libtp %s, ABI %d\n", tp_library_version(), tp_abi_version());
    return 0;
}
"""


def run(*command, **options):
    subprocess.run([str(part) for part in command], check=True, **options)


def main():
    source, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    prefix = folder / "the prefix"
    run("meson", "setup", folder / "tree", source, f"--prefix={prefix}", stdout=subprocess.DEVNULL)
    run("meson", "install", "-C", folder / "tree", stdout=subprocess.DEVNULL)
    (described,) = prefix.rglob("libtp.pc")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libtp"], check=True, stdout=subprocess.PIPE, text=True,
                           env=os.environ | {"PKG_CONFIG_PATH": str(described.parent)}).stdout
    (folder / "program.c").write_text(PROGRAM)
    run("cc", "-std=c99", folder / "program.c", *shlex.split(flags), "-o", folder / "program")
    run(folder / "program", env=os.environ | {"LD_LIBRARY_PATH": str(described.parent.parent)})


main()
