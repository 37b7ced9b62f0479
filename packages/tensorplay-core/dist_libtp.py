"""Puts a copy of libtp into the sdist, where the repository has a symbolic link.

Meson runs this at the end of `meson dist`. An archive drops the link, and the folder it points to lies outside of
what is archived.
"""

import os
import pathlib
import shutil
import subprocess


def main():
    source = (pathlib.Path(os.environ["MESON_PROJECT_SOURCE_ROOT"]) / "subprojects" / "libtp").resolve()
    target = pathlib.Path(os.environ["MESON_PROJECT_DIST_ROOT"]) / "subprojects" / "libtp"
    if target.is_symlink() or target.is_file():
        target.unlink()
    elif target.is_dir():
        shutil.rmtree(target)
    listed = subprocess.run(["git", "ls-files", "-z", "."], cwd=source, check=True, stdout=subprocess.PIPE).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target / name)


main()
