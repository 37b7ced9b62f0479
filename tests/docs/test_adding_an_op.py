"""Follows docs/adding-an-op.md on a copy of the tree: what the page appends is appended, what it runs is run.

`nox -s docs-literal` runs it; elsewhere it is skipped for want of nox.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "adding-an-op.md"
APPENDED = re.compile(r"^Append to `([^`]+)`:\n\n```\w+\n(.*?)^```$", re.M | re.S)
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.M | re.S)


def copy_tree(target):
    """What git knows or would add, as a repository of its own."""
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE).stdout.decode().split("\0")
    for name in filter(None, listed):
        source, copy = ROOT / name, target / name
        if source.is_symlink() or source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy, follow_symlinks=False)
    subprocess.run(["git", "init", "-q", target], check=True)
    # Installing the build tools once more would show nothing about the page.
    tools = ROOT / "build" / "builder"
    if tools.is_dir():
        (target / "build").mkdir()
        (target / "build" / "builder").symlink_to(tools)


def run(command, tree):
    environment = {k: v for k, v in os.environ.items()
                   if k not in ("PYTHONPATH", "VIRTUAL_ENV", "NOXSESSION", "NOX_CURRENT_SESSION")}
    environment["PATH"] = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(command, cwd=tree, env=environment, text=True, shell=isinstance(command, str),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{command}:\n{done.stdout[-6000:]}"
    return done.stdout


@pytest.mark.slow
def test_the_page(tmp_path):
    pytest.importorskip("nox")
    if not (ROOT / ".git").exists():
        pytest.skip("needs a git checkout")
    text = PAGE.read_text()
    tree = tmp_path / "tree"
    copy_tree(tree)

    appended = APPENDED.findall(text)
    assert len(appended) == 3
    for name, block in appended:
        path = tree / name
        assert "log_cosh" not in path.read_text(), f"{name} has the page's operator: the page needs another one"
        path.write_text(path.read_text() + block)
    blocks = [(kind, code) for kind, code in BLOCK.findall(text) if code not in [a for _, a in appended]]
    assert [kind for kind, _ in blocks] == ["sh", "python"]

    for kind, code in blocks:
        if kind == "sh":
            out = run(code, tree)
            assert re.search(r"\b[1-9]\d* passed", out) and "skipped" not in out, out[-2000:]
        else:
            run([tree / ".nox" / "matrix" / "bin" / "python", "-c", code], tree)
