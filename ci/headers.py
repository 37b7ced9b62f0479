"""Compiles every installed header alone, as C99, C11, C++11 and C++20, with warnings as errors.

    python ci/headers.py INCLUDE
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
DIALECTS = [("cc", "c", "c99"), ("cc", "c", "c11"), ("c++", "c++", "c++11"), ("c++", "c++", "c++20")]


def main():
    include = pathlib.Path(sys.argv[1]).resolve()
    headers = sorted(include.glob("tp/*.h"))
    if not headers:
        sys.exit(f"headers: none in {include}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for compiler, language, standard in DIALECTS:
            if shutil.which(compiler) is None:
                print(f"headers: no {compiler}, {standard} left out")
                continue
            for header in headers:
                # Twice: the guard has to hold as well.
                source = pathlib.Path(folder) / "alone"
                source.write_text(f"#include <tp/{header.name}>\n" * 2 + "typedef int not_empty;\n")
                command = [compiler, "-x", language, f"-std={standard}", *STRICT, f"-I{include}", str(source)]
                if subprocess.run(command).returncode:
                    print(f"headers: tp/{header.name} does not compile alone as {standard}")
                    failed += 1
    if failed:
        sys.exit(1)
    print(f"headers: {len(headers)} compile alone as {', '.join(standard for _, _, standard in DIALECTS)}")


main()
