"""Fails when libtp exports anything but tp_*, or needs a library that is not part of every system.

    python ci/exports.py FOLDER_OF_LIBTP
"""

import pathlib
import re
import subprocess
import sys

SYSTEM = re.compile(r"(libc|libm|libpthread|libdl|ld-linux\S*|libgcc_s|libatomic)\.so\.\d+$")


def main():
    library = pathlib.Path(sys.argv[1]) / "libtp.so.0"
    table = subprocess.run(["nm", "-D", "--defined-only", str(library)], check=True, stdout=subprocess.PIPE,
                           text=True).stdout
    names = [line.split()[-1].split("@")[0] for line in table.splitlines()]
    exported = [name for name in names if not re.fullmatch(r"TP_[0-9_.]+|LIBTP_[0-9_.]+", name)]  # version nodes
    stray = [name for name in exported if not name.startswith("tp_")]
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", subprocess.run(["readelf", "-d", str(library)], check=True,
                                                               stdout=subprocess.PIPE, text=True).stdout)
    foreign = [name for name in needed if not SYSTEM.match(name)]
    if stray or foreign or not exported:
        sys.exit(f"exports: beyond tp_*: {stray}; beyond the system: {foreign}; {len(exported)} symbols in all")
    print(f"exports: {len(exported)} symbols, all tp_*; needs {', '.join(needed)}")


main()
