"""Compiles every installed header alone, as C99, C11, C++11 and C++20, with warnings as errors.

    python ci/headers.py INCLUDE

Headers for C++ alone (*.hpp) are C++17 and newer.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wundef", "-Wcast-qual",
          "-Wcast-align", "-Wredundant-decls", "-Wformat=2", "-Wdouble-promotion", "-Werror", "-fsyntax-only"]
ONLY = {"c": ["-Wstrict-prototypes", "-Wmissing-prototypes", "-Wold-style-definition", "-Wc++-compat"],
        "c++": ["-Wold-style-cast", "-Wnon-virtual-dtor", "-Woverloaded-virtual"]}
DIALECTS = [("c", "c99"), ("c", "c11"), ("c++", "c++11"), ("c++", "c++20"), ("c++", "c++17")]
COMPILERS = {"c": ("cc", "clang"), "c++": ("c++", "clang++")}


def main():
    include = pathlib.Path(sys.argv[1]).resolve()
    headers = sorted(include.glob("tp/*.h*"))
    if not headers:
        sys.exit(f"headers: none in {include}")
    failed, done = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for language, standard in DIALECTS:
            for compiler in COMPILERS[language]:
                if shutil.which(compiler) is None:
                    continue
                done.append(f"{standard} ({compiler})")
                for header in headers:
                    if header.suffix == ".hpp" and standard not in ("c++17", "c++20"):
                        continue
                    # Twice: the guard has to hold as well.
                    source = pathlib.Path(folder) / "alone"
                    source.write_text(f"#include <tp/{header.name}>\n" * 2 + "typedef int not_empty;\n")
                    command = [compiler, "-x", language, f"-std={standard}", *STRICT, *ONLY[language], f"-I{include}",
                               str(source)]
                    if subprocess.run(command).returncode:
                        print(f"headers: tp/{header.name} does not compile alone as {standard} with {compiler}")
                        failed += 1
    if failed:
        sys.exit(1)
    if not {"c99 (cc)", "c++11 (c++)"} <= set(done):
        sys.exit("headers: needs cc and c++")
    print(f"headers: {len(headers)} compile alone as {', '.join(done)}")


main()
