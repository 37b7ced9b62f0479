"""assert_close: whether values agree, and a message that says where they do not."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensorplay import Tensor

# (rtol, atol) by dtype; everything else is compared exactly. A few units in the last place of a sum of some terms.
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def tolerance(*names):
    """The looser of the tolerances of some dtypes."""
    pairs = [TOLERANCES.get(n, (0.0, 0.0)) for n in names]
    return max(p[0] for p in pairs), max(p[1] for p in pairs)


def dtype_name(x):
    """ "float32", for a tensor, an array or a number."""
    return x.dtype.name if isinstance(x, (Tensor, np.ndarray, np.generic)) else type(x).__name__


def to_numpy(x):
    """A NumPy array of a tensor's values; bfloat16 as float32."""
    if isinstance(x, Tensor):
        x = x.detach()
        if x.dtype.name == "bfloat16":
            x = x.float()
        return x.numpy()
    return np.asarray(x)


def _wide(a):
    if a.dtype.kind == "c":
        return a.astype(np.complex128)
    return a.astype(np.float64) if a.dtype.kind == "f" else a


def mismatch(actual, expected, rtol, atol, equal_nan):
    """None, or what is wrong, for two arrays of one shape."""
    if actual.size == 0:
        return None
    exact = actual.dtype.kind in "biu" and expected.dtype.kind in "biu" and not rtol and not atol
    with np.errstate(all="ignore"):
        if exact:
            good = actual == expected
            error = np.abs(actual.astype(object) - expected.astype(object)).astype(np.float64)
            limit = np.zeros(actual.shape)
        else:
            a, e = _wide(actual), _wide(expected)
            if a.dtype.kind in "biu":
                a = a.astype(np.float64)
            error = np.abs(a - e)
            limit = atol + rtol * np.abs(e)
            good = (a == e) | (np.isfinite(e) & (error <= limit))
            if equal_nan:
                good |= _is_nan(a) & _is_nan(e)
    if np.all(good):
        return None
    # A NaN or an infinity on one side counts as the largest error.
    ranked = np.where(good, -1.0, np.where(np.isnan(error), np.inf, error))
    at = np.unravel_index(int(np.argmax(ranked)), actual.shape) if actual.ndim else ()
    count = int(np.size(good) - np.count_nonzero(good))
    where = f" at index {tuple(int(i) for i in at)}" if at else ""
    return (
        f"{count} of {actual.size} elements differ; the largest error is {ranked[at]:.4g}{where}: "
        f"got {actual[at]}, expected {expected[at]} (allowed {limit[at]:.4g}: rtol {rtol:g}, atol {atol:g})"
    )


def _is_nan(x):
    return np.isnan(x) if x.dtype.kind in "fc" else np.zeros(x.shape, bool)


def _fields(x):
    """The names of the fields of a named tuple or a dataclass, None for anything else."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return x._fields
    if hasattr(type(x), "__dataclass_fields__"):
        return tuple(type(x).__dataclass_fields__)
    return None


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    check_dtype: bool = True,
    msg: str | None = None,
) -> None:
    """AssertionError unless the values agree: |actual - expected| <= atol + rtol * |expected|, element by element.

    Args:
        actual, expected: Tensors, NumPy arrays, numbers, or nested sequences, mappings, named tuples and dataclasses
            of them. Shapes must be equal.
        rtol, atol: by dtype if None: float64 1e-7 and 1e-7, float32 1.3e-6 and 1e-5, bfloat16 1.6e-2 and 1e-5,
            float16 1e-3 and 1e-5, zero for integers and bool. Of two dtypes the looser counts.
        equal_nan: NaN equals NaN.
        check_dtype: tensors and arrays must have the same dtype. Numbers have none to compare.
        msg: text in front of the message.

    The message names the place in the structure, the number of differing elements, the largest error and its index.
    """
    __tracebackhide__ = True
    fault = _compare(actual, expected, rtol, atol, equal_nan, check_dtype, "")
    if fault:
        raise AssertionError(f"{msg}: {fault}" if msg else fault)


def _compare(actual, expected, rtol, atol, equal_nan, check_dtype, path):
    arrays = (Tensor, np.ndarray, np.generic, bool, int, float, complex)
    place = f"{path}: " if path else ""
    if isinstance(actual, arrays) and isinstance(expected, arrays):
        typed = all(isinstance(x, (Tensor, np.ndarray, np.generic)) for x in (actual, expected))
        a_name, e_name = dtype_name(actual), dtype_name(expected)
        if typed and check_dtype and a_name != e_name:
            return f"{place}the dtype is {a_name}, expected {e_name}"
        a, e = to_numpy(actual), to_numpy(expected)
        if a.shape != e.shape:
            return f"{place}the shape is {list(a.shape)}, expected {list(e.shape)}"
        names = [
            n for x, n in ((actual, a_name), (expected, e_name)) if isinstance(x, (Tensor, np.ndarray, np.generic))
        ]
        if any(n in TOLERANCES for n in names):
            names = [n for n in names if n in TOLERANCES]
        default = tolerance(*(names or ["float64"]))
        fault = mismatch(a, e, default[0] if rtol is None else rtol, default[1] if atol is None else atol, equal_nan)
        return f"{place}{fault}" if fault else None
    rest = (rtol, atol, equal_nan, check_dtype)
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            return f"{place}the keys are {sorted(map(str, actual))}, expected {sorted(map(str, expected))}"
        return _first(_compare(actual[k], expected[k], *rest, f"{path}[{k!r}]") for k in expected)
    fields = _fields(expected)
    if fields and _fields(actual) == fields:
        return _first(_compare(getattr(actual, k), getattr(expected, k), *rest, f"{path}.{k}") for k in fields)
    if isinstance(actual, Sequence) and isinstance(expected, Sequence) and not isinstance(actual, (str, bytes)):
        if len(actual) != len(expected):
            return f"{place}the length is {len(actual)}, expected {len(expected)}"
        return _first(_compare(a, e, *rest, f"{path}[{i}]") for i, (a, e) in enumerate(zip(actual, expected)))
    if isinstance(actual, arrays) and isinstance(expected, Sequence) and not isinstance(expected, (str, bytes)):
        return _compare(actual, np.asarray(expected), rtol, atol, equal_nan, False, path)
    if type(actual) is type(expected) and actual == expected:
        return None
    return f"{place}got {type(actual).__name__} {actual!r:.80}, expected {type(expected).__name__} {expected!r:.80}"


def _first(faults):
    return next((f for f in faults if f), None)
