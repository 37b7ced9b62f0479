"""Runs the Python snippets of Markdown files, all snippets of a file one after another in one fresh process.

    python ci/snippets.py README.md ...

A block that starts with ```python runs as it stands; ```python skip marks one that can't.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```python[ \t]*(?P<tag>\w*)\n(?P<code>.*?)^```[ \t]*$", re.M | re.S)


def program(text):
    """The snippets of a page, each on the lines it has there, so that a traceback points into the page."""
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        if block["tag"] == "skip":
            continue
        first = text.count("\n", 0, block.start("code"))
        for offset, line in enumerate(block["code"].split("\n")):
            if line:
                lines[first + offset] = line
    return "\n".join(lines) + "\n"


def main():
    failed = []
    for name in sys.argv[1:]:
        text = pathlib.Path(name).read_text()
        code = program(text)
        if not code.strip():
            continue
        with tempfile.TemporaryDirectory() as folder:
            run = f"exec(compile({code!r}, {name!r}, 'exec'), {{'__name__': '__main__'}})"
            done = subprocess.run([sys.executable, "-W", "error::DeprecationWarning", "-c", run], cwd=folder)
        print(f"{name}: {'ok' if done.returncode == 0 else 'FAILED'}")
        if done.returncode:
            failed.append(name)
    if failed:
        sys.exit(f"snippets: failed: {', '.join(failed)}")


main()
