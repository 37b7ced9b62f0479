"""The snippets of the documentation run, page by page, as a reader would run them."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Its snippet needs the operator that the page adds: test_adding_an_op.py runs it.
PAGES = sorted(p for p in (ROOT / "docs").glob("*.md") if "```python" in p.read_text() and p.name != "adding-an-op.md")


def run(*command):
    done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", *sorted(ROOT.glob("packages/*/README.md"))],
                         ids=lambda p: str(p.relative_to(ROOT)))
def test_python(page):
    for package in ("func", "nn", "testing"):
        pytest.importorskip(f"tensorplay.{package}")
    run(sys.executable, "ci/snippets.py", str(page))


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_c(tmp_path):
    tensorplay = pathlib.Path(pytest.importorskip("tensorplay").__file__).parent
    blocks = re.findall(r"```c\n(.*?)```", (ROOT / "docs" / "abi.md").read_text(), re.S)
    programs = [b for b in blocks if "int main" in b]
    for code, printed in zip(programs, ("5 14 14 50\n", "1 4\n9 16\n25 36\n"), strict=True):
        source, program = tmp_path / "example.c", tmp_path / "example"
        source.write_text(code)
        run("cc", "-std=c99", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", str(source), "-o", str(program),
            f"-I{tensorplay / 'include'}", f"-L{tensorplay / 'lib'}", "-l:libtp.so.0",
            f"-Wl,-rpath,{tensorplay / 'lib'}")
        assert run(str(program)) == printed
