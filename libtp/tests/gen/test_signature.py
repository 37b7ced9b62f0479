import pytest
from optable.errors import TableError
from optable.signature import MISSING, parse_signature


def test_types_defaults_and_keyword_only_arguments():
    sig = parse_signature("f.x(Tensor self, Tensor? w, int[] *size, *, Scalar alpha=1, dtype? dtype=None) -> Tensor")
    assert sig.name == "f.x"
    assert [a.type for a in sig.args] == ["Tensor", "Tensor?", "int[]", "Scalar", "dtype?"]
    assert [a.keyword_only for a in sig.args] == [False, False, False, True, True]
    assert sig["size"].varargs and sig["self"].default is MISSING
    assert sig["alpha"].default == 1 and sig["w"].optional
    assert sig.outputs == ("",) and not sig.is_list


@pytest.mark.parametrize(
    "type, default, value",
    [
        ("int", "-1", -1), ("float", "1", 1.0), ("float", "1e-5", 1e-5), ("bool", "False", False),
        ("str", "'mean'", "mean"),
        ("int[]", "[1, 2]", (1, 2)), ("int[]", "1", (1,)), ("int[]", "[]", ()), ("int?", "None", None),
        ("float[]", "[0.5]", (0.5,)), ("dtype", "'float32'", "float32"), ("Scalar", "2.5", 2.5), ("Operand", "0", 0),
        ("str", "'a, b'", "a, b"),
    ],
)  # fmt: skip
def test_default(type, default, value):
    got = parse_signature(f"f({type} x={default}) -> Tensor")["x"].default
    assert got == value and isinstance(got, builtin_type(value))


def builtin_type(value):
    return value.__class__


@pytest.mark.parametrize(
    "type, default",
    [
        ("int", "1.5"), ("int", "True"), ("int", "None"), ("bool", "1"), ("float", "'x'"), ("str", "3"),
        ("int[]", "[1.5]"),
        ("dtype", "'float99'"), ("Tensor", "0"), ("int", "foo"), ("int", "1 +"),
    ],
)  # fmt: skip
def test_bad_default_names_the_argument(type, default):
    with pytest.raises(TableError, match="argument 'x': default"):
        parse_signature(f"f({type} x={default}) -> Tensor")


@pytest.mark.parametrize(
    "text, message",
    [
        ("f(Tensor self)", "not of the form"),
        ("f Tensor self -> Tensor", "not of the form"),
        ("f(Tensr self) -> Tensor", "unknown type 'Tensr'"),
        ("f(Tensor[]? self) -> Tensor", "can't be optional"),
        ("f(self) -> Tensor", "not of the form `type name`"),
        ("f(Tensor x, int x) -> Tensor", "appears twice"),
        ("f(int a=1, int b) -> Tensor", "without a default follows"),
        ("f(Tensor self, *, int a, *, int b) -> Tensor", "more than one"),
        ("f(Tensor *self) -> Tensor", "only a positional int"),
        ("f(int[] *a, int b) -> Tensor", "must be the last positional"),
        ("f(Tensor self) -> int", "returns 'int'"),
        ("f(Tensor self) -> (Tensor a)", "two or more"),
        ("f(Tensor self) -> (Tensor a, Tensor a)", "distinct"),
        ("f(Tensor self) -> (Tensor a, int b)", "not of the form `Tensor name`"),
    ],
)
def test_bad_signature(text, message):
    with pytest.raises(TableError, match=message):
        parse_signature(text)


def test_names_reserved_in_c_are_changed_there_only():
    a = parse_signature("f(Tensor self, float from, float double) -> Tensor")["double"]
    assert a.name == "double" and a.c_params == ["double double_"]


def test_outputs():
    assert parse_signature("f(Tensor x) -> (Tensor values, Tensor indices)").outputs == ("values", "indices")
    assert parse_signature("f(Tensor x) -> Tensor[]").is_list
