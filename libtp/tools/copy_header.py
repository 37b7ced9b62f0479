"""copy_header.py BESIDE NAME TARGET: copies the generated header NAME, found from the folder of BESIDE, if it changed."""

import pathlib
import sys

beside, name, target = sys.argv[1:]
text = (pathlib.Path(beside).parent / name).read_bytes()
target = pathlib.Path(target)
if not target.exists() or target.read_bytes() != text:
    target.write_bytes(text)
