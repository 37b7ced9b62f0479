"""Checks the layout of the C sources; with --fix, lets clang-format rewrite them.

    python ci/check_c.py [--fix] [file ...]

Required of every line: no tab, no space at its end, at most 120 columns; of every file: one final newline, an include
guard in headers. With clang-format at hand (its style stands in .clang-format) its verdict counts for the files
named in ci/formatted.txt, or for all of them once that file is gone.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = 120


def sources():
    for folder in ("include", "src", "tests"):
        for path in sorted((ROOT / "libtp" / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".hpp"):
                yield path


def faults(path):
    text = path.read_text()
    name = path.relative_to(ROOT)
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line:
            yield f"{name}:{number}: tab"
        if line != line.rstrip():
            yield f"{name}:{number}: space at the end of the line"
        if len(line) > COLUMNS:
            yield f"{name}:{number}: {len(line)} columns, at most {COLUMNS}"
    if not text.endswith("\n") or text.endswith("\n\n"):
        yield f"{name}: does not end in one newline"
    if path.suffix == ".h" and not re.search(r"^#ifndef (\w+)\n#define \1$", text, re.M) and "X(" not in text:
        yield f"{name}: no include guard"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    files = [path.resolve() for path in options.files] or list(sources())
    formatter = shutil.which("clang-format")
    if options.fix:
        subprocess.run([formatter or "clang-format", "-i", *map(str, files)], check=True)
    found = [fault for path in files for fault in faults(path)]
    print("\n".join(found))
    if found:
        sys.exit(f"check_c: {len(found)} faults")


main()
