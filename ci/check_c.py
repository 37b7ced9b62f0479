"""Checks the layout of the C sources against .clang-format; with --fix, brings them into it.

    python ci/check_c.py [--fix] [file ...]

Beyond what clang-format says: no tab, no space at the end of a line, at most 120 columns (comments and macros too),
and an include guard in every public header. Columns made by hand stand between `clang-format off` and `on`.
"""

import argparse
import pathlib
import re
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
    if path.parent.name == "tp" and not re.search(r"^#ifndef (\w+)\n#define \1$", text, re.M):
        yield f"{name}: no include guard"
    formatted = subprocess.run(["clang-format", str(path)], check=True, stdout=subprocess.PIPE, text=True).stdout
    if formatted != text:
        yield f"{name}: not in the project's format"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    files = [path.resolve() for path in options.files] or list(sources())
    if options.fix:
        subprocess.run(["clang-format", "-i", *map(str, files)], check=True)
    found = [fault for path in files for fault in faults(path)]
    if found:
        print("\n".join(found))
        sys.exit(f"check_c: {len(found)} faults; `nox -s format` mends the format")


main()
