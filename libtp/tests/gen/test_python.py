"""The generated Python module, over a library that records its calls."""

import importlib
import inspect
import sys

import pytest
from optable import emit_python, rules, schema
from optable.errors import Report

CONVERT = '''
"""Stands for tensorplay._convert: handles are strings, calls are recorded."""
NULL = None
calls = []

class Tensor:
    def __init__(self, name):
        self._h = name

class Ffi:
    @staticmethod
    def typeof(text):
        return text
    @staticmethod
    def new(type):
        return ["o0", "o1"] if "[2]" in type else [2] if "int64" in type else [["p0", "p1"]]

class Lib:
    fail = 0
    def __getattr__(self, name):
        # In place forms return a status, the others a handle, or a status if they fill `out`.
        def call(*args):
            for a in args:
                if isinstance(a, object) and type(a).__name__ == "Wrong":
                    raise TypeError("an integer is required")
            calls.append((name, *args))
            status = name.rstrip("_") != name or name in ("tp_max_dim", "tp_unbind", "tp_two")
            return self.fail if status else "r"
        return call

ffi, lib = Ffi(), Lib()

def wrap(h):
    return Tensor(h)
def as_tensor_handle(x, op, name):
    if isinstance(x, Tensor): return x._h
    raise TypeError(f"{op}: argument {name!r} must be a Tensor, got {type(x).__name__}")
def as_handle(x, op, name):
    return x._h if isinstance(x, Tensor) else f"weak {x}"
def handles(xs, op, name):
    return [as_tensor_handle(x, op, name) for x in xs]
def ints(x, op, name):
    if isinstance(x, int): return (x,)
    try:
        return tuple(x)
    except TypeError:
        raise TypeError(f"{op}: argument {name!r} must be ints") from None
def floats(x, op, name): return list(x)
def scalar(x, op, name): return ("scalar", x)
def text(x, op, name): return x and x.encode()
def generator(x, op, name): return x
def dtype_code(x): return {"float32": 11}[x]
def raise_error(): raise ValueError("from libtp")
'''

EXTRA = """
["norm"]
signature = "norm(Tensor self, Scalar p=2) -> Tensor"
composite = "c_norm"
module = "linalg"
doc = "A norm."

["flip_all"]
signature = "flip_all(Tensor self, int[]? dims=None) -> Tensor"
composite = "c_flip"
doc = '''Flipped.

Any dtype.'''

["pick"]
signature = "pick(Tensor mask, Operand self) -> Tensor"
composite = "c_pick"
method = false
inplace = true
doc = "The function."

["pick.self"]
signature = "pick(Tensor self, Tensor mask) -> Tensor"
composite = "c_pick_self"
function = false
doc = "The method."

["quiet"]
signature = "quiet(Tensor self) -> Tensor"
composite = "c_quiet"
method = false
doc = "No method."
"""


@pytest.fixture(scope="module")
def ops(tmp_path_factory, basic):
    folder = tmp_path_factory.mktemp("generated")
    (folder / "t.toml").write_text(basic + EXTRA)
    report = Report()
    table = schema.load([folder / "t.toml"], report)
    rules.compile_rules(table, report)
    assert not report.faults
    package = folder / "fake_tensorplay"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "_convert.py").write_text(CONVERT)
    (package / "_dtypes.py").write_text("def as_dtype(x):\n    return {'float32': 11}[x]\n")
    (package / "_tensor.py").write_text("from ._convert import Tensor\n")
    texts = emit_python.outputs(table)
    for name, text in texts.items():
        (package / name).write_text(text)
    compile(texts["_ops.pyi"], "_ops.pyi", "exec")
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("fake_tensorplay._ops")
    finally:
        sys.path.remove(str(folder))
        for name in [n for n in sys.modules if n.startswith("fake_tensorplay")]:
            del sys.modules[name]


@pytest.fixture
def call(ops):
    """call(function, ...) returns what reached libtp."""
    convert = sys.modules["fake_tensorplay._convert"]

    def record(function, *args, **kw):
        convert.calls.clear()
        function(*args, **kw)
        return convert.calls[-1]

    record.tensor = convert.Tensor
    record.lib = convert.lib
    return record


def test_operands(ops, call):
    x, y = call.tensor("x"), call.tensor("y")
    assert call(ops.mul, x, y) == ("tp_mul", "x", "y")
    assert call(ops.mul, x, 2.5) == ("tp_mul_f", "x", 2.5)
    assert call(ops.mul, x, 2) == ("tp_mul_i", "x", 2)
    assert call(ops.mul, x, 2**63) == ("tp_mul", "x", f"weak {2**63}")
    assert call(ops.mul, x, True) == ("tp_mul", "x", "weak True")
    assert call(ops.mul, x, other=1j) == ("tp_mul", "x", "weak 1j")
    assert call(ops.where, x, 1.0, y) == ("tp_where", "x", "weak 1.0", "y")


def test_arguments(ops, call):
    x = call.tensor("x")
    assert call(ops.add, x, x, alpha=3) == ("tp_add", "x", "x", ("scalar", 3))
    assert call(ops.add, x, x) == ("tp_add", "x", "x", ("scalar", 1))
    assert call(ops.sum, x, 1) == ("tp_sum_dim", "x", (1,), 1, False)
    assert call(ops.sum, x, [0, 1], keepdim=True) == ("tp_sum_dim", "x", (0, 1), 2, True)
    assert call(ops.scale, x, 2.0) == ("tp_scale", "x", 2.0, None, b"x", -1, -(2**63))
    assert call(ops.scale, x, 2.0, 0.5, mode="y", flag=True, k=3) == ("tp_scale", "x", 2.0, (0.5,), b"y", True, 3)
    assert call(ops.cat, [x, x]) == ("tp_cat", ["x", "x"], 2, 0)
    assert call(ops.cat, (t for t in (x, x)), dim=1) == ("tp_cat", ["x", "x"], 2, 1)
    assert call(ops.flip_all, x) == ("tp_flip_all", "x", None, -1)
    assert call(ops.flip_all, x, 0) == ("tp_flip_all", "x", (0,), 1)
    assert call(ops.rand, 2, 3, dtype="float32") == ("tp_rand", (2, 3), 2, 11, None)


def test_varargs(ops, call):
    x = call.tensor("x")
    for args, kw in (((2, 3), {}), (((2, 3),), {}), (([2, 3],), {}), ((), {"size": (2, 3)})):
        assert call(ops.reshape, x, *args, **kw) == ("tp_reshape", "x", (2, 3), 2)
    assert call(ops.reshape, x) == ("tp_reshape", "x", (), 0)
    assert call(ops.reshape, x, -1) == ("tp_reshape", "x", (-1,), 1)
    for args, kw in (((x, x), {}), (([x, x],), {}), (((t for t in (x, x)),), {}), ((), {"operands": (x, x)})):
        assert call(ops.einsum, "i,i", *args, **kw) == ("tp_einsum", b"i,i", ["x", "x"], 2)
    assert call(ops.einsum, "i->", x) == ("tp_einsum", b"i->", ["x"], 1)


def test_overloads(ops, call):
    x, y = call.tensor("x"), call.tensor("y")
    assert call(ops.max, x, 0)[:4] == ("tp_max_dim", "x", 0, False)
    assert call(ops.max, x, dim=0, keepdim=True)[:4] == ("tp_max_dim", "x", 0, True)
    assert call(ops.max, x, y) == ("tp_max_other", "x", "y")
    assert call(ops.max, x, other=y) == ("tp_max_other", "x", "y")
    bad = ((x,), {}), ((x, "a"), {}), ((x, 0), {"dim": 0}), ((x, 0), {"out": y}), ((x, 0, True, 1), {}), ((), {})
    for args, kw in bad:
        with pytest.raises(TypeError, match=r"max\(\) received an invalid combination of arguments.*max\(self, dim"):
            ops.max(*args, **kw)


def test_results(ops, call):
    x = call.tensor("x")
    r = ops.max(x, 0)
    assert r.values._h == "o0" and r.indices._h == "o1" and type(r).__name__ == "max_dim_result"
    assert [t._h for t in ops.unbind(x)] == ["p0", "p1"] and type(ops.unbind(x)) is tuple
    assert ops.mul_(x, x) is x
    call.lib.__class__.fail = 1
    try:
        for f in (lambda: ops.mul_(x, x), lambda: ops.max(x, 0), lambda: ops.unbind(x)):
            with pytest.raises(ValueError, match="from libtp"):
                f()
    finally:
        call.lib.__class__.fail = 0


@pytest.mark.parametrize("name", ["mul", "mul_", "neg", "sum", "cat", "rand", "reshape"])
def test_unknown_keywords(ops, call, name):
    args = {"cat": ([],), "rand": (2,), "sum": (call.tensor("x"), 0)}.get(name, (call.tensor("x"), call.tensor("y")))
    args = args[:1] if name in ("neg", "reshape") else args
    message = rf"^{name}\(\) received an invalid combination of arguments.*out.*accepted: {name}\("
    with pytest.raises(TypeError, match=message):
        getattr(ops, name)(*args, out=None)


def test_wrong_types_name_operator_and_argument(ops, call):
    class Wrong:
        pass

    x = call.tensor("x")
    for function, args, message in (
        (ops.neg, ([1],), "neg: argument 'self' must be a Tensor, got list"),
        (ops.mul, (3, x), "mul: argument 'self' must be a Tensor, got int"),
        (ops.unbind, (x, Wrong()), "unbind: argument 'dim' must be an int, got Wrong"),
        (ops.scale, (x, Wrong()), "scale: argument 'factor' must be a float, got Wrong"),
        (ops.sum, (x, 0, Wrong()), r"sum: argument 'keepdim' must be a bool, got Wrong"),
        (ops.cat, (x,), "cat: argument 'tensors' must be a sequence of tensors, got Tensor"),
        (ops.cat, ([x, 1],), "cat: argument 'tensors' must be a Tensor, got int"),
    ):
        with pytest.raises(TypeError) as info:
            function(*args)
        assert str(info.value) == message
        assert info.value.__context__ is None or info.value.__suppress_context__


def test_install_keeps_what_the_class_defines(ops):
    class Mine:
        def neg(self):
            return "mine"

    ops.install(Mine)
    assert Mine.neg(None) == "mine"
    assert Mine.mul is ops.mul and Mine.multiply is ops.mul and Mine.multiply_ is ops.mul_ and Mine.max is ops.max
    for name in ("rand", "cat", "norm", "quiet", "where"):
        assert not hasattr(Mine, name)


def test_overloads_that_are_only_functions_or_only_methods(ops, call):
    x, y = call.tensor("x"), call.tensor("y")
    assert call(ops.pick, x, 2.0) == ("tp_pick_f", "x", 2.0)
    method = ops.METHODS["pick"]
    assert call(method, x, y) == ("tp_pick_self", "x", "y")
    assert "The method" in method.__doc__ and "The method" not in ops.pick.__doc__
    assert "pick_" in ops.FUNCTIONS and "pick_" not in ops.METHODS
    with pytest.raises(TypeError, match=r"^pick\(\) received.*accepted: pick\(self, mask\)"):
        method(x, y, out=None)
    with pytest.raises(TypeError, match=r"^pick\(\) received.*accepted: pick\(mask, self\)"):
        ops.pick(x, y, out=None)


def test_namespaces(ops):
    assert ops.NAMESPACES == {"linalg": {"norm": ops.norm}}
    assert "norm" not in ops.FUNCTIONS and ops.FUNCTIONS["multiply"] is ops.mul and ops.multiply is ops.mul
    assert set(ops.__all__) == set(ops.FUNCTIONS)


def test_docstrings(ops):
    assert ops.mul.__doc__.startswith("mul(self, other) -> Tensor\n\n    Product.")
    assert "Dtypes: the arguments are brought to their common dtype." in ops.mul.__doc__
    lines = inspect.getdoc(ops.max).split("\n")
    assert lines[:2] == ["max(self, dim, keepdim=False) -> (values, indices)", "max(self, other) -> Tensor"]
    assert ops.flip_all.__doc__.count("Any dtype.") == 1
    for f in ops.FUNCTIONS.values():
        assert inspect.getdoc(f)


def test_defaults_show_in_the_signature(ops):
    assert inspect.signature(ops.add).parameters["alpha"].default == 1
