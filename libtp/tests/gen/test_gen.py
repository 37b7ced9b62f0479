"""The program, and the C that it writes."""

import pathlib
import re
import shutil
import subprocess
import sys
import time

import pytest

LIBTP = pathlib.Path(__file__).resolve().parents[2]
GEN = LIBTP / "tools" / "gen.py"
# Every kind of argument and of output, so that the compiler sees each form.
KINDS = """
[many]
signature = '''many(Tensor self, Tensor? w, Tensor[] ts, Tensor?[] os, int i, int? oi, int[] li, int[]? oli, float f,
    float? of, float[] lf, bool b, bool? ob, Scalar s, Scalar? os2, str t, str? ot, dtype d, dtype? od,
    Generator? default) -> Tensor'''
kernel = "k_many"
vjp = "function"
jvp = "function"
batch = "function"
doc = "Every kind of argument */ and \\"quotes\\"."

[formula]
signature = '''formula(Tensor self, Tensor? w, int[] d, int[]? e, float p, Scalar s, str m, bool b, int? k)
    -> (Tensor a, Tensor b)'''
kernel = "k_formula"
vjp = { self = '''
x = grads[0] * w if has(w) else grads[0] * s
y = max_dim(x, self.ndim - 1)
shape = self.shape[1:]
where(self > 0, x, 0) * len(d) + grads[1] * p ** 2 * y[0] * shape[0] * (self.numel // 2)
''', w = "sum_dim(grads[0], d)" }
jvp = ["self_t * p - w_t", "self_t if b else reshape(self_t, -1)"]
batch = "function"
doc = "A long formula."

[double]
signature = "double(Tensor self) -> Tensor"
composite = "add(self, self, alpha=float32 == self.dtype)"
doc = "An alpha of bool."

[hidden]
signature = "hidden(Tensor self) -> Tensor"
kernel = "k_hidden"
internal = true
inplace = true
vjp = "zero"
batch = "broadcast"
doc = "Internal."
"""


def run(*args):
    return subprocess.run([sys.executable, str(GEN), *map(str, args)], capture_output=True, text=True)


@pytest.fixture
def ops_dir(tmp_path, basic):
    folder = tmp_path / "ops"
    folder.mkdir()
    (folder / "basic.toml").write_text(basic)
    (folder / "kinds.toml").write_text(KINDS)
    return folder


@pytest.fixture
def written(ops_dir, tmp_path):
    result = run("--ops", ops_dir, "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    return tmp_path / "out"


def test_check_writes_nothing(ops_dir, tmp_path):
    assert run("--ops", ops_dir, "--out", tmp_path / "none", "--check").returncode == 0
    assert not (tmp_path / "none").exists()


def test_faults_go_to_stderr(ops_dir):
    (ops_dir / "bad.toml").write_text('[x]\nsignature = "x(Tensor self) -> Tensor"\nkernel = "k"\ndoc = "."\n')
    result = run("--ops", ops_dir, "--check")
    assert result.returncode == 1 and not result.stdout
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["bad.toml"] * 3


def test_a_name_of_a_public_header_is_taken(ops_dir):
    text = '[retain]\nsignature = "retain(Tensor self) -> Tensor"\ncomposite = "c_r"\ndoc = "."\n'
    (ops_dir / "bad.toml").write_text(text)
    assert "tp_retain is already in a public header" in run("--ops", ops_dir, "--check").stderr


def test_the_tree_is_valid():
    result = run("--ops", LIBTP / "ops", "--check")
    assert result.returncode == 0, result.stderr


def test_the_same_input_gives_the_same_output(ops_dir, tmp_path):
    outputs = []
    for name in ("one", "two"):
        folder = tmp_path / name
        start = time.perf_counter()
        assert run("--ops", ops_dir, "--out", folder, "--python", folder, "--docs", folder / "ops.md").returncode == 0
        assert time.perf_counter() - start < 20  # hangs, not speed
        outputs.append({p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()})
    assert outputs[0] == outputs[1]
    names = "tp/ops.h tp/ops.hpp tp/tp_ops.f90 tpi_ops.h x_ops.h registry.c formulas.c signatures.c tp.map"
    names += " cdef.h _ops.py _ops.pyi ops.md"
    assert {str(p) for p in outputs[0]} == set(names.split())


def test_unchanged_files_keep_their_time(ops_dir, written, tmp_path):
    before = {p: p.stat().st_mtime_ns for p in written.rglob("*.*")}
    run("--ops", ops_dir, "--out", written)
    assert before == {p: p.stat().st_mtime_ns for p in written.rglob("*.*")}


def test_symbol_map(written):
    symbols = set(re.findall(r"\b(tp_\w+);", (written / "tp.map").read_text()))
    assert set("tp_retain tp_add tp_add_ tp_add_f tp_add_i_ tp_sum_dim tp_max_dim tp_unbind".split()) <= symbols
    assert not {"tp_hidden", "tpi_hidden", "tp_neg_"} & symbols
    declared = set(re.findall(r"\b(tp_\w+)\(", (written / "tp" / "ops.h").read_text()))
    assert declared <= symbols


def test_registry_is_sorted_by_name(written):
    text = (written / "registry.c").read_text()
    names = re.findall(r"    &tpi_op_(\w+),", text)
    ids = dict(re.findall(r"tpi_op_(\w+) = \{.*?\.id = (\d+)", text, re.S))
    assert [ids[n] for n in names] == [str(i) for i in range(len(names))]
    assert f"tpi_op_count = {len(names)};" in text
    of = dict(re.findall(r"tpi_op_(\w+) = \{.*?\.inplace_of = (-?\d+)", text, re.S))
    assert of["add_"] == ids["add"] and of["add"] == "-1"


compiler = shutil.which("cc") or shutil.which("gcc")
needs_compiler = pytest.mark.skipif(compiler is None, reason="no C compiler")


def compile_c(*args):
    return subprocess.run([compiler, *map(str, args)], capture_output=True, text=True)


@needs_compiler
@pytest.mark.parametrize("file", ["registry.c", "formulas.c", "signatures.c"])
def test_c_compiles_without_warnings(written, tmp_path, file):
    flags = "-std=gnu17 -Wall -Wextra -Wno-missing-field-initializers -Werror -O1".split()
    include = [f"-I{folder}" for folder in (written, LIBTP / "include", LIBTP / "src")]
    result = compile_c(*flags, *include, "-c", written / file, "-o", tmp_path / "x.o")
    assert result.returncode == 0, result.stderr


@needs_compiler
@pytest.mark.parametrize("standard", ["c99", "c++11"])
def test_the_public_header_compiles_alone(written, tmp_path, standard):
    source = tmp_path / "alone.c"
    source.write_text('#include "tp/ops.h"\n')
    language = ["-x", "c++"] if "+" in standard else []
    flags = [f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{written}", f"-I{LIBTP / 'include'}"]
    result = compile_c(*flags, *language, "-fsyntax-only", source)
    assert result.returncode == 0, result.stderr


def test_files_of_the_generator_stay_short():
    for path in pathlib.Path(GEN).parent.rglob("*.py"):
        assert len(path.read_text().splitlines()) < 800, path
