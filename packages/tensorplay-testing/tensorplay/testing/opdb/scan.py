# ruff: noqa: F403, F405
"""Running sums, products and extremes; softmax."""

import numpy as np

import tensorplay as tp

from ._base import *
from .elementwise import _same_ratio
from .reduce import _ints, _sum_dtype, _with_dtype

_KEEP = {0: _same_ratio(1)}


def _along(values=make, zeros=False):
    def samples(rng, dtype):
        for shape, dim in (
            ((3, 4), 0),
            ((3, 4), -1),
            ((2, 3, 4), 1),
            ((), 0),
            ((0, 3), 0),
            ((0, 3), 1),
            ((5,), 0),
            ((1, 2), 0),
        ):
            yield Sample((values(rng, dtype, *shape), dim), vary=_KEEP if values is distinct else {})
        if zeros and dtype in ("float64", "complex128"):
            x = make(rng, dtype, 3, 5, gap=0.3)
            x[0, 2] = x[1, 1] = x[1, 3] = 0
            yield sample(x, 1)

    return samples


def _numpy(fn):
    def reference(a, dim, dtype=None):
        a = a if dtype is None else a.astype(dtype.name)
        return fn(_ints(a), axis=dim) if a.ndim else _ints(a)

    return reference


_CASTS = ((tp.float64, (0,), {}), (tp.complex128, (1,), {}))
add("cumsum", _with_dtype(_along(), *_CASTS), _numpy(np.cumsum), dtype=_sum_dtype)
add("cumprod", _with_dtype(_along(zeros=True), *_CASTS), _numpy(np.cumprod), dtype=_sum_dtype)


def _lcse_calls(rng, dtype):
    yield from _along()(rng, dtype)
    if dtype in FLOATS:
        yield Sample((round_to(np.array([[-np.inf, 1.0, 90.0], [-np.inf, -np.inf, 2.0]]), dtype), 1), grad=False)


def _lcse(a, dim):
    a = a if a.dtype.kind in "fc" else a.astype(float)
    if not a.ndim or not a.size:
        return a
    return np.logaddexp.accumulate(a, axis=dim) if a.dtype.kind == "f" else np.log(np.cumsum(np.exp(a), axis=dim))


add("logcumsumexp", _lcse_calls, _lcse, dtype="float")


def _running(better):
    """Extremes so far and where they are: the last of equal ones, NaN wins."""

    def reference(a, dim):
        if a.ndim == 0:
            return a, np.zeros((), np.int64)
        moved = np.moveaxis(np.array(a), dim, 0)
        values, at = moved.copy(), np.zeros(moved.shape, np.int64)
        for i in range(1, len(moved)):
            x, best = moved[i], values[i - 1]
            nan = np.isnan(x) if x.dtype.kind == "f" else np.zeros(x.shape, bool)
            best_nan = np.isnan(best) if x.dtype.kind == "f" else np.zeros(x.shape, bool)
            take = nan | (better(x, best) & ~best_nan)
            values[i] = np.where(take, x, best)
            at[i] = np.where(take, i, at[i - 1])
        return np.moveaxis(values, 0, dim), np.moveaxis(at, 0, dim)

    return reference


def _running_calls(rng, dtype):
    yield from _along(distinct)(rng, dtype)
    yield Sample((make(rng, dtype, 6, low=-1, high=1), 0), grad=False)
    if dtype in FLOATS:
        yield Sample((round_to(np.array([1.0, np.nan, 2.0, -1.0]), dtype), 0), grad=False)


_PAIR = lambda n, s: (n[0], "int64")
add("cummax", _running_calls, _running(np.greater_equal), dtypes=REAL, dtype=_PAIR)
add("cummin", _running_calls, _running(np.less_equal), dtypes=REAL, dtype=_PAIR)


def _softmax_calls(rng, dtype):
    yield from _along()(rng, dtype)
    yield Sample((make(rng, dtype, 2, 3), 1), {"dtype": tp.float64}, grad=dtype == "float64")
    yield Sample((make(rng, dtype, 2, 3), 0, tp.float64), grad=dtype == "float64")
    if dtype in FLOATS:
        yield sample(round_to(make(rng, dtype, 2, 3) * 40 + 50, dtype), 1)
        yield Sample((round_to(np.array([[-np.inf, 1.0, 2.0], [0.0, -np.inf, -np.inf]]), dtype), 1), grad=False)


def _log_softmax(a, dim, dtype=None):
    a = a.astype(float)
    if a.ndim == 0:
        return np.zeros(())
    if not a.size:
        return a
    m = a - np.max(a, axis=dim, keepdims=True)
    return m - np.log(np.sum(np.exp(m), axis=dim, keepdims=True))


def _softmax_dtype(names, s):
    given = s.kwargs.get("dtype") or (s.args[2] if len(s.args) > 2 else None)
    return given.name if given else names[0] if names[0] in FLOATS else "float32"


add(
    "softmax",
    _softmax_calls,
    lambda *a, **k: np.exp(_log_softmax(*a, **k)),
    dtypes=FLOATS,
    dtype=_softmax_dtype,
    refuses=False,
)
add("log_softmax", _softmax_calls, _log_softmax, dtypes=FLOATS, dtype=_softmax_dtype, refuses=False)
