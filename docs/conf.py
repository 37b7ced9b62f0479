"""Sphinx configuration: `nox -s docs`."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))

import make  # noqa: E402

project = "tensorplay"
author = "the tensorplay maintainers"
copyright = f"2026, {author}"
release = re.search(r"version: '([^']+)'", (ROOT / "packages/tensorplay-core/meson.build").read_text())[1]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_typehints = "none"
suppress_warnings = ["misc.highlighting_failure"]  # the lexer of Fortran does not know kinds of logical constants
html_theme = "furo"
html_title = "tensorplay"

# The list of operators is made from the table.
subprocess.run([sys.executable, ROOT / "libtp/tools/gen.py", "--ops", ROOT / "libtp/ops",
                "--docs", ROOT / "docs/operators.md"], check=True)

make.examples()
make.reference()


def as_written(app, what, name, obj, options, lines):
    """Docstrings are plain text, not markup."""
    lines[:] = ["::", "", *(f"   {line}" for line in lines), ""]


def setup(app):
    app.connect("autodoc-process-docstring", as_written)
