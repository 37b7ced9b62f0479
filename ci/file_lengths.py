"""Reports source files that have grown beyond 800 lines, and fails beyond 1000: split them by sub-family."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOFT, HARD = 800, 1000
KINDS = (".c", ".h", ".hpp", ".py", ".toml")


def main():
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE).stdout.decode().split("\0")
    failed = False
    for name in sorted(set(filter(None, listed))):
        path = ROOT / name
        if path.suffix not in KINDS or not path.is_file() or name.startswith("libtp/abi/"):  # a record
            continue
        lines = path.read_bytes().count(b"\n")
        if lines > SOFT:
            print(f"{name}: {lines} lines, more than {HARD if lines > HARD else SOFT}")
            failed |= lines > HARD
    if failed:
        sys.exit("file_lengths: split the files with more than 1000 lines")


main()
