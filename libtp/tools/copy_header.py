"""Copies a generated header to where Meson wants it, if it has changed.

copy_header.py BESIDE NAME TARGET: the header is NAME, seen from the folder of the file BESIDE.
"""

import pathlib
import sys

beside, name, target = sys.argv[1:]
text = (pathlib.Path(beside).parent / name).read_bytes()
target = pathlib.Path(target)
if not target.exists() or target.read_bytes() != text:
    target.write_bytes(text)
