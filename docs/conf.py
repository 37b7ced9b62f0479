"""Sphinx configuration: `nox -s docs`."""

import ast
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

project = "tensorplay"
author = "the tensorplay maintainers"
copyright = f"2026, {author}"
release = re.search(r"version: '([^']+)'", (ROOT / "packages/tensorplay-core/meson.build").read_text())[1]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "examples/*.py"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_typehints = "none"
html_theme = "furo"
html_title = "tensorplay"

# The list of operators is made from the table.
subprocess.run([sys.executable, ROOT / "libtp/tools/gen.py", "--ops", ROOT / "libtp/ops",
                "--docs", ROOT / "docs/operators.md"], check=True)


MADE = ROOT / "docs" / "examples" / "made"
PAGE = """# {title}

{text}

```{{image}} {name}.png
:alt: {title}
```

What it prints:

```text
{printed}
```

## The page

```{{literalinclude}} ../{name}.py
:language: python
:lines: {first}-
```
"""


def make_page(path):
    """The example's docstring, its picture and what it printed, and its source: as a page of this documentation."""
    picture, log = MADE / f"{path.stem}.png", MADE / f"{path.stem}.txt"
    newest = max(p.stat().st_mtime for p in (path, path.with_name("page.mplstyle")))
    if not (picture.exists() and log.exists()) or log.stat().st_mtime < newest:
        print(f"running {path.name}", flush=True)
        done = subprocess.run([sys.executable, path, "--out", picture], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{path.name} failed:\n{done.stderr[-3000:]}")
        log.write_text("".join(line for line in done.stdout.splitlines(True) if not line.startswith("picture:")))
    docstring = ast.parse(path.read_text()).body[0]
    title, _, text = docstring.value.value.partition("\n\n")
    values = {"title": title.rstrip("."), "text": text.rstrip(), "printed": log.read_text().rstrip()}
    page = PAGE.format(name=path.stem, first=docstring.end_lineno + 2, **values)
    (MADE / f"{path.stem}.md").write_text(page)


MADE.mkdir(exist_ok=True)
for example in sorted((ROOT / "docs" / "examples").glob("*.py")):
    make_page(example)


def as_written(app, what, name, obj, options, lines):
    """Docstrings are plain text, not markup."""
    lines[:] = ["::", "", *(f"   {line}" for line in lines), ""]


def setup(app):
    app.connect("autodoc-process-docstring", as_written)
