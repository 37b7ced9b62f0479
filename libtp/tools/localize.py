"""Makes the installed static library: one object in which nothing but the public functions can be seen from outside.

localize.py ARCHIVE TARGET AR LD OBJCOPY: an archive as the compiler leaves it would define every internal function in
the program that links with it.
"""

import pathlib
import subprocess
import sys
import tempfile

archive, target, ar, ld, objcopy = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    whole = str(pathlib.Path(folder) / "tp.o")
    subprocess.run([ld, "-r", "--whole-archive", archive, "-o", whole], check=True)
    subprocess.run([objcopy, "--wildcard", "--keep-global-symbol=tp_*", whole], check=True)
    pathlib.Path(target).unlink(missing_ok=True)
    subprocess.run([ar, "rcsD", target, whole], check=True)
