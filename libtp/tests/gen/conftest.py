"""Tables of a few operators, read and compiled in memory."""

import pathlib
import sys

import pytest

LIBTP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(LIBTP / "tools"))

from optable import errors, rules, schema  # noqa: E402

BASIC = """
[add]
signature = "add(Tensor self, Operand other, *, Scalar alpha=1) -> Tensor"
kernel = "k_add"
promote = "common"
vjp = "function"
jvp = "elementwise"
batch = "broadcast"
inplace = true
doc = "Sum."

[sub]
signature = "sub(Tensor self, Operand other) -> Tensor"
kernel = "k_sub"
vjp = { self = "grad", other = "-grad" }
jvp = { self = "self_t", other = "-other_t" }
batch = "broadcast"
doc = "Difference."

[mul]
signature = "mul(Tensor self, Operand other) -> Tensor"
kernel = "k_mul"
promote = "common"
vjp = { self = "grad * conj(other)", other = "grad * conj(self)" }
jvp = "bilinear"
batch = "broadcast"
inplace = true
aliases = ["multiply"]
doc = "Product."

[div]
signature = "div(Tensor self, Operand other) -> Tensor"
kernel = "k_div"
vjp = { self = "grad / other", other = "-grad * result / other" }
jvp = { self = "self_t / other", other = "-other_t * result / other" }
batch = "broadcast"
doc = "Quotient."

[neg]
signature = "neg(Tensor self) -> Tensor"
kernel = "k_neg"
vjp = { self = "-grad" }
jvp = "linear"
batch = "broadcast"
doc = "Negative."

[conj]
signature = "conj(Tensor self) -> Tensor"
composite = "c_conj"
doc = "Conjugate."

[gt]
signature = "gt(Tensor self, Operand other) -> Tensor"
kernel = "k_gt"
vjp = "nondiff"
batch = "broadcast"
doc = "Greater."

[where]
signature = "where(Tensor condition, Operand self, Operand other) -> Tensor"
kernel = "k_where"
promote = "common"
promote_args = ["self", "other"]
nondiff_args = ["condition"]
vjp = { self = "where(condition, grad, 0)", other = "where(condition, 0, grad)" }
jvp = "linear"
batch = "broadcast"
doc = "Choice."

["sum.dim"]
signature = "sum(Tensor self, int[] dim, bool keepdim=False) -> Tensor"
kernel = "k_sum"
vjp = "function"
jvp = "linear"
batch = "reduce"
doc = "Sum over dimensions."

["max.dim"]
signature = "max(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"
kernel = "k_max"
nondiff_outputs = [1]
vjp = { self = "mul(grad, results[0])" }
jvp = ["self_t * results[0]", "zero"]
batch = "function"
doc = "Maximum."

["max.other"]
signature = "max(Tensor self, Tensor other) -> Tensor"
kernel = "k_maximum"
vjp = { self = "where(self > other, grad, 0)", other = "where(self > other, 0, grad)" }
jvp = { self = "where(self > other, self_t, 0)", other = "where(self > other, 0, other_t)" }
batch = "broadcast"
doc = "The larger."

[two]
signature = "two(Tensor a, Tensor b) -> (Tensor x, Tensor y)"
kernel = "k_two"
vjp = { a = "grads[0] * b + grads[1]", b = "grads[0] * a - grads[1] * 2" }
jvp = [{ a = "a_t * b", b = "b_t * a" }, "a_t - 2 * b_t"]
batch = "function"
doc = "Two outputs."

[reshape]
signature = "reshape(Tensor self, int[] *size) -> Tensor"
composite = "c_reshape"
doc = "Another shape."

[einsum]
signature = "einsum(str equation, Tensor[] *operands) -> Tensor"
composite = "c_einsum"
doc = "Sums of products."

[unbind]
signature = "unbind(Tensor self, int dim=0) -> Tensor[]"
composite = "c_unbind"
doc = "Parts."

[cat]
signature = "cat(Tensor[] tensors, int dim=0) -> Tensor"
kernel = "k_cat"
vjp = "function"
jvp = "linear"
batch = "function"
doc = "Joined."

[rand]
signature = "rand(int[] *size, *, dtype? dtype=None, Generator? generator=None) -> Tensor"
kernel = "k_rand"
random = true
doc = "Uniform."

[scale]
signature = '''scale(Tensor self, float factor, float? floor=None, *, str mode="x", bool? flag=None,
    int? k=None) -> Tensor'''
kernel = "k_scale"
vjp = { self = "grad * factor" }
jvp = { self = "self_t * factor" }
batch = "broadcast"
doc = "Scaled."
"""


class Table:
    def __init__(self, ops, report):
        self.ops = ops
        self.faults = report.faults

    def __getitem__(self, name):
        return next(op for op in self.ops if op.name == name)


@pytest.fixture(scope="session")
def basic():
    return BASIC


@pytest.fixture
def table(tmp_path):
    """table(text, basic=True) reads the basic table and the text beside it."""

    def read(text="", basic=True):
        report = errors.Report()
        paths = []
        for name, content in (("basic.toml", BASIC if basic else ""), ("more.toml", text)):
            path = tmp_path / name
            path.write_text(content)
            paths.append(path)
        ops = schema.load(paths, report)
        rules.compile_rules(ops, report)
        return Table(ops, report)

    return read


def entry(signature="f(Tensor self) -> Tensor", **keys):
    """Text of one operator `f`: complete, but for the keys that are given (None: left out)."""
    known = {"kernel": '"k_f"', "vjp": '{ self = "grad" }', "jvp": '"linear"', "batch": '"broadcast"',
             "doc": '"A test."'}  # fmt: skip
    known.update(keys)
    lines = ["[f]", f'signature = "{signature}"']
    return "\n".join(lines + [f"{k} = {v}" for k, v in known.items() if v is not None]) + "\n"


@pytest.fixture(name="entry")
def entry_fixture():
    return entry
