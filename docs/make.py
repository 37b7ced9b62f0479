"""Pages that are made for the build: the examples with their pictures, and the reference of functions."""

import ast
import importlib
import inspect
import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent

EXAMPLE = """# {title}

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


def example(path, out):
    """The example's docstring, its picture and what it printed, and its source: as a page of this documentation."""
    picture, log = out / f"{path.stem}.png", out / f"{path.stem}.txt"
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
    page = EXAMPLE.format(name=path.stem, first=docstring.end_lineno + 2, **values)
    (out / f"{path.stem}.md").write_text(page)


def examples():
    out = ROOT / "docs" / "examples" / "made"
    out.mkdir(exist_ok=True)
    for path in sorted((ROOT / "docs" / "examples").glob("*.py")):
        example(path, out)


# The families of the operator table, and the modules of what is written in Python, by the page that they are on.
PAGES = {
    "Making tensors": ("create", "_creation", "_interop"),
    "Element by element": ("elementwise", "elementwise_math", "numeric", "special"),
    "Reductions and scans": ("reduce", "scan"),
    "Shapes and views": ("shape", "views", "_shapes"),
    "Indexing, sorting, searching": ("index", "sort", "search", "_sets"),
    "Products and matrices": ("linalg", "linalg_solve"),
    "Random numbers": ("random", "_random"),
}
NAMESPACES = ("linalg", "fft", "special", "masked", "nn.functional")


def public(module):
    """The functions of a module that documentation names: those without the trailing underscore of in-place forms."""
    for name in dir(module):
        if not name.startswith("_") and not name.endswith("_"):
            value = getattr(module, name)
            if inspect.isfunction(value) or inspect.isbuiltin(value):
                yield name, value


def families():
    """{name of an operator: family}."""
    found = {}
    for path in sorted((ROOT / "libtp" / "ops").glob("*.toml")):
        for key in tomllib.loads(path.read_text()):
            found[key.partition(".")[0]] = path.stem
    return found


def reference():
    """docs/reference: the functions of tensorplay by what they do, and a page for each namespace."""
    out = ROOT / "docs" / "reference"
    out.mkdir(exist_ok=True)
    tensorplay = importlib.import_module("tensorplay")
    family, page_of = families(), {f: title for title, fs in PAGES.items() for f in fs}
    pages = {title: [] for title in [*PAGES, "Other functions"]}
    for name, value in public(tensorplay):
        of = family.get(name) or family.get(value.__name__) or value.__module__.rpartition(".")[2]
        pages[page_of.get(of, "Other functions")].append(f"tensorplay.{name}")
    for space in NAMESPACES:
        module = importlib.import_module(f"tensorplay.{space}")
        pages[f"tensorplay.{space}"] = [f"tensorplay.{space}.{name}" for name, _ in public(module)]
    files = []
    for title, names in pages.items():
        if names:
            files.append(title.lower().replace(",", "").replace(".", "_").replace(" ", "_"))
            entries = "\n".join(f".. autofunction:: {name}" for name in names)
            (out / f"{files[-1]}.md").write_text(f"# {title}\n\n```{{eval-rst}}\n{entries}\n```\n")
    (out / "index.md").write_text(INDEX + "\n".join(files) + "\n```\n")


INDEX = """# Functions

Every function, with its shapes, dtypes and errors. Those of `tensorplay` are methods of `Tensor` too, with the tensor
as first argument; where it makes sense, a name with an underscore at its end writes into that tensor (`tp.exp_`,
`x.exp_()`).

```{toctree}
:maxdepth: 1

"""
