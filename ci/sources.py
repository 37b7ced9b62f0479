"""Keeps libtp/src/meson.build, Meson's list of sources, in step with the tree.

    python ci/sources.py --check     fails when a file is missing from the list or listed without being there
    python ci/sources.py --write     writes the list anew

Meson has no globs on purpose: a list makes the build know when to configure again.
"""

import argparse
import difflib
import pathlib
import sys

LIBTP = pathlib.Path(__file__).resolve().parent.parent / "libtp"
LIST = LIBTP / "src" / "meson.build"

HEAD = """\
# Written by `python ci/sources.py --write`; run it after adding, renaming or removing a file.
"""
FOLDERS = ("core", "tensor", "dispatch", "levels", "kernels", "rules")


def block(name, paths):
    lines = [f"{name} = files("]
    lines += [f"  '{path}'," for path in paths]
    return "\n".join(lines + [")"]) + "\n"


def tests():
    """Each test program with its name: its path, so that two folders may use one name."""
    lines = ["libtp_test_files = {"]
    for path in relative("tests/**/*.c"):
        name = path.removeprefix("../tests/").removesuffix(".c").replace("/test_", "/").replace("/", "_")
        lines.append(f"  '{name}': files('{path}'),")
    return "\n".join(lines + ["}"]) + "\n"


def relative(pattern, *, skip=()):
    """Paths below libtp that match, as seen from libtp/src."""
    found = sorted(p.relative_to(LIBTP) for p in LIBTP.glob(pattern) if p.name not in skip)
    return [str(p.relative_to("src")) if p.parts[0] == "src" else f"../{p}" for p in found]


def text():
    known = [path for folder in FOLDERS for path in relative(f"src/{folder}/**/*.c")]
    stray = sorted(set(relative("src/**/*.c")) - set(known))
    if stray:
        sys.exit(f"sources: {', '.join(stray)}: not in one of the folders {', '.join(FOLDERS)}")
    return HEAD + "\n".join((
        block("libtp_sources", known),
        block("libtp_headers", relative("include/tp/*.h*")),
        block("libtp_ops", relative("ops/*.toml")),
        block("libtp_tools", relative("tools/**/*.py", skip={"find_openblas.py", "copy_header.py", "localize.py"})),
        tests(),
    ))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--check", action="store_true")
    group.add_argument("--write", action="store_true")
    options = parser.parse_args()
    wanted = text()
    present = LIST.read_text() if LIST.exists() else ""
    if options.write:
        if wanted != present:
            LIST.write_text(wanted)
        return
    if wanted != present:
        sys.stdout.writelines(difflib.unified_diff(present.splitlines(True), wanted.splitlines(True),
                                                   "libtp/src/meson.build", "the tree"))
        sys.exit("sources: the list of sources differs from the tree: run python ci/sources.py --write")


main()
