"""Prints the path of scipy-openblas32's shared library and of its licence, or nothing where it is not installed.

Runs while Meson configures. The package is looked up without being imported: importing it would map the library.
"""

import importlib.metadata
import importlib.util
import pathlib


def main():
    spec = importlib.util.find_spec("scipy_openblas32")
    if spec is None or not spec.submodule_search_locations:
        return
    root = pathlib.Path(spec.submodule_search_locations[0])
    libraries = sorted(root.glob("lib/libscipy_openblas*"))
    if not libraries:
        return
    print(libraries[0])
    for file in importlib.metadata.files("scipy-openblas32") or ():
        if "licen" in file.name.lower():
            print(file.locate())
            return


main()
