# ruff: noqa: F403, F405
"""Sums, products, extremes, truth, spread, norms."""

import numpy as np

import tensorplay as tp

from ._base import *
from .elementwise import _same_ratio

# dim (and keepdim) of the calls over a shape; "keep" gives dim by position as well
_DIMS = (
    ((3, 4), (), {}),
    ((3, 4), (0,), {}),
    ((3, 4), (-1, True), {}),
    ((2, 3, 4), ((0, 2),), {"keepdim": True}),
    ((2, 3, 4), (1,), {}),
    ((), (), {}),
    ((), (0,), {}),
    ((0, 3), (), {}),
    ((0, 3), (0,), {}),
    ((3, 0), (0,), {}),
    ((2, 1, 3), ((1, -1),), {}),
    ((3, 4), (), {"keepdim": True}),
    ((2, 3), ((),), {}),
)


def _calls(values=make, empty=True, several=True, extra=(), order=2, vary=None, low=-2.0, high=2.0, none=True):
    """Samples over dims. empty: reductions over no elements exist; several: dim may be several dimensions."""

    def samples(rng, dtype):
        for shape, args, kwargs in (*_DIMS, *extra):
            dim = args[0] if args else None
            if not several and isinstance(dim, tuple):
                continue
            if not none and dim is None:
                continue
            if not empty and _reduces_nothing(shape, dim):
                continue
            if not several and "keepdim" in kwargs and dim is None:
                continue
            x = values(rng, dtype, *shape, low=low, high=high)
            yield Sample((x, *args), kwargs, order=order, vary=dict(vary or {}), grad=not _reduces_nothing(shape, dim))

    return samples


def _reduces_nothing(shape, dim):
    if 0 not in shape:
        return False
    dims = range(len(shape)) if dim is None or dim == () else (dim,) if isinstance(dim, int) else dim
    return any(shape[d] == 0 for d in dims)


def _with_dtype(base, *calls):
    """Also with dtype=."""

    def samples(rng, dtype):
        yield from base(rng, dtype)
        for target, args, kwargs in calls:
            x = make(rng, dtype, 2, 3)
            if dtype in COMPLEX and target.name not in COMPLEX:
                continue
            yield Sample((x, *args), {**kwargs, "dtype": target}, grad=target.name in ("float64", "complex128"))

    return samples


def _axis(a, dim):
    """dim for NumPy: all dimensions for None and the empty list, none for a 0-d array."""
    if a.ndim == 0:
        return ()
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return None
    return tuple(dim) if isinstance(dim, list) else dim


def _numpy(fn, prepare=lambda a: a):
    def reference(a, dim=None, keepdim=False, dtype=None):
        a = a if dtype is None else a.astype(dtype.name)
        return fn(prepare(a), axis=_axis(a, dim), keepdims=keepdim)

    return reference


def _ints(a):
    return a.astype(np.int64) if a.dtype.kind in "biu" else a


def _sum_dtype(names, s):
    if "dtype" in s.kwargs:
        return s.kwargs["dtype"].name
    return "int64" if names[0] in BOOL + INTEGERS else names[0]


_F64 = ((tp.float64, (), {}), (tp.complex128, (0,), {}))
add("sum", _with_dtype(_calls(), *_F64, (tp.int64, (0,), {})), _numpy(np.sum, _ints), dtype=_sum_dtype)


def _nan_calls(rng, dtype):
    yield from _calls()(rng, dtype)
    if dtype in FLOATS:
        x = make(rng, dtype, 3, 4)
        x[0, 1] = x[2, 2] = np.nan
        yield Sample((x, 0), order=2, grad=False)
        yield Sample((x,), {}, grad=False)


add("nansum", _with_dtype(_nan_calls, *_F64), _numpy(np.nansum, _ints), dtypes=REAL + COMPLEX, dtype=_sum_dtype)


def _mean_dtype(names, s):
    return s.kwargs["dtype"].name if "dtype" in s.kwargs else names[0]


add("mean", _with_dtype(_calls(), *_F64), _numpy(np.mean), dtypes=INEXACT, dtype=_mean_dtype)
add("nanmean", _with_dtype(_nan_calls, *_F64), _numpy(np.nanmean), dtypes=INEXACT, dtype=_mean_dtype)


def _prod_calls(rng, dtype):
    yield from _calls(several=False)(rng, dtype)
    if dtype in ("float64", "complex128"):  # zeros: none of the derivatives may divide
        x = make(rng, dtype, 3, 4, gap=0.3)
        x[0, 1] = x[1, 1] = x[1, 2] = 0
        yield sample(x, 1)
        yield sample(x, 0)
        yield sample(x)


add("prod", _with_dtype(_prod_calls, *_F64), _numpy(np.prod, _ints), dtype=_sum_dtype)

# ---- extremes ----

_KEEP = {0: _same_ratio(1)}
_EXTREME = dict(values=distinct, empty=False, vary=_KEEP)
add("amax", _calls(**_EXTREME), _numpy(np.max), dtypes=REAL, dtype="same")
add("amin", _calls(**_EXTREME), _numpy(np.min), dtypes=REAL, dtype="same")


def _aminmax_calls(rng, dtype):
    for s in _calls(several=False, **_EXTREME)(rng, dtype):
        args = s.args[1:]
        kwargs = dict(zip(("dim", "keepdim"), args), **s.kwargs)
        yield Sample((s.args[0],), kwargs, vary=_KEEP)


add(
    "aminmax",
    _aminmax_calls,
    lambda a, dim=None, keepdim=False: (_numpy(np.min)(a, dim, keepdim), _numpy(np.max)(a, dim, keepdim)),
    dtypes=REAL,
    dtype=lambda n, s: (n[0], n[0]),
)


def _nans(rng, dtype):
    if dtype in FLOATS:
        x = distinct(rng, dtype, 3, 4)
        x[1, 2] = np.nan
        x[2, 0] = np.inf
        yield x


def _extreme_calls(rng, dtype):
    for s in _calls(several=False, **_EXTREME)(rng, dtype):
        if len(s.args) == 1 and s.kwargs:
            continue
        yield s
    for x in _nans(rng, dtype):
        yield Sample((x, 1), grad=False)
        yield Sample((x,), grad=False)
    if dtype in REAL:  # ties: the first counts
        x = np.array([[1, 0, 1, 1], [0, 0, 1, 0]], storage(dtype))
        yield Sample((x, 1), grad=False)
        a, b = distinct(rng, dtype, 4), distinct(rng, dtype, 3, 1, low=-1.9, high=2.1)
        yield Sample((a, b), vary={0: _same_ratio(1), 1: _same_ratio(1)})
        yield Sample((a, distinct(rng, dtype)), vary={0: _same_ratio(1)})


def _extreme(pick, where, elementwise):
    def reference(a, dim=None, keepdim=False):
        if isinstance(dim, np.ndarray):
            return elementwise(a, dim)
        if dim is None:
            return pick(a)
        if a.ndim == 0:
            return a, np.zeros((), np.int64)
        return pick(a, axis=dim, keepdims=keepdim), where(a, axis=dim, keepdims=keepdim)

    return reference


def _pair_dtype(names, s):
    if len(names) == 2:
        return promote([(n, a.ndim > 0) for n, a in zip(names, s.arrays())])
    one = len(s.args) == 1 and "dim" not in s.kwargs
    return names[0] if one else (names[0], "int64")


add("max", _extreme_calls, _extreme(np.max, np.argmax, np.maximum), dtypes=REAL, dtype=_pair_dtype)
add("min", _extreme_calls, _extreme(np.min, np.argmin, np.minimum), dtypes=REAL, dtype=_pair_dtype)


def _arg_calls(rng, dtype):
    yield from _calls(several=False, **_EXTREME)(rng, dtype)
    yield sample(np.array([[1, 0, 1, 1], [0, 0, 1, 0]], storage(dtype)), 1)
    for x in _nans(rng, dtype):
        yield sample(x, 1)


def _arg(fn):
    def reference(a, dim=None, keepdim=False):
        if a.ndim == 0:
            return np.zeros((), np.int64)
        return fn(a, axis=dim, keepdims=keepdim)

    return reference


add("argmax", _arg_calls, _arg(np.argmax), dtypes=REAL, dtype="int64")
add("argmin", _arg_calls, _arg(np.argmin), dtypes=REAL, dtype="int64")

# ---- truth ----


def _truth_calls(rng, dtype):
    yield from _calls()(rng, dtype)
    x = np.where(make(rng, "bool", 3, 4), make(rng, dtype, 3, 4), np.zeros((), storage(dtype)))
    yield sample(x, 1)
    yield sample(np.ones((2, 3), storage(dtype)))
    yield sample(np.zeros((2, 3), storage(dtype)), 0)


add("any", _truth_calls, _numpy(np.any), dtype="bool")
add("all", _truth_calls, _numpy(np.all), dtype="bool")


def _count_calls(rng, dtype):
    for s in _truth_calls(rng, dtype):
        if not s.kwargs and len(s.args) < 3:
            yield s


add("count_nonzero", _count_calls, lambda a, dim=None: np.sum(a != 0, axis=_axis(a, dim)), dtype="int64")

# ---- spread ----


def _spread_calls(rng, dtype):
    for shape, dim, correction, keepdim in (
        ((3, 4), None, 1, False),
        ((3, 4), 0, 0, False),
        ((2, 3, 4), (0, 2), 1.0, True),
        ((3, 4), -1, 2, True),
        ((0, 3), 1, 1, False),
        ((4,), 0, 0.5, False),
        ((2, 1, 3), (-1,), 0, False),
    ):
        x = make(rng, dtype, *shape)
        args = (x,) if dim is None else (x, dim)
        yield Sample(args, {} if correction == 1 and not keepdim else {"correction": correction, "keepdim": keepdim})
    x = make(rng, dtype, 3, 4)
    yield sample(x, 0, False)
    yield sample(x, 0, True, True)
    yield sample(x, unbiased=False)
    yield sample(x, False)
    yield sample(x, dim=1, correction=0)
    yield Sample((make(rng, dtype),), {"correction": 0}, order=1, grad=False)
    yield Sample((make(rng, dtype, 1),), {}, grad=False, note="one element")


def _var(a, dim=None, unbiased=None, keepdim=False, correction=1):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = 1 if unbiased else 0
    axis = _axis(a, dim)
    n = a.size if axis is None else int(np.prod([a.shape[i] for i in np.atleast_1d(np.asarray(axis, int))], dtype=int))
    d = a - np.mean(a, axis=axis, keepdims=True)
    total = np.sum(np.abs(d) ** 2, axis=axis, keepdims=keepdim)
    return total / max(0, n - correction) if n - correction > 0 else np.full_like(total, np.nan)


def _mean_of(a, dim=None, unbiased=None, keepdim=False, correction=1):
    return np.mean(a, axis=_axis(a, None if isinstance(dim, bool) else dim), keepdims=keepdim)


_SPREAD = dict(dtypes=INEXACT, scale=3)
add("var", _spread_calls, _var, dtype="real", **_SPREAD)
add("std", _spread_calls, lambda *a, **k: np.sqrt(_var(*a, **k)), dtype="real", **_SPREAD)
_TWO = lambda n, s: (to_real(n[0]), n[0])
add("var_mean", _spread_calls, lambda *a, **k: (_var(*a, **k), _mean_of(*a, **k)), dtype=_TWO, **_SPREAD)
add("std_mean", _spread_calls, lambda *a, **k: (np.sqrt(_var(*a, **k)), _mean_of(*a, **k)), dtype=_TWO, **_SPREAD)

# ---- log-sum-exp and norms ----


def _logsumexp(a, dim=None, keepdim=False):
    a = a if a.dtype.kind in "fc" else a.astype(float)
    axis = _axis(a, dim)
    if a.size == 0:
        return np.full(np.sum(a, axis=axis, keepdims=keepdim).shape, -np.inf)
    m = np.max(a.real, axis=axis, keepdims=True)
    m = np.where(np.isfinite(m), m, 0)
    out = np.log(np.sum(np.exp(a - m), axis=axis, keepdims=True)) + m
    return out if keepdim else np.squeeze(out, tuple(range(a.ndim)) if axis is None else axis)


def _lse_calls(rng, dtype):
    yield from _calls()(rng, dtype)
    if dtype in FLOATS:
        x = make(rng, dtype, 2, 3) * 50
        yield sample(round_to(x + 60, dtype), 1)
        yield Sample((round_to(np.array([[-np.inf, 1.0], [-np.inf, -np.inf], [np.inf, 0.0]]), dtype), 1), grad=False)


add("logsumexp", _lse_calls, _logsumexp, dtype="float", dtypes=REAL, refuses=False)


def _vector_norm(a, p=2, dim=None, keepdim=False, dtype=None):
    a = a if dtype is None else a.astype(dtype.name)
    p = 2 if p is None or p == "fro" else p
    axis, x = _axis(a, dim), np.abs(a)
    if p == 0:
        return np.sum((x != 0).astype(float), axis=axis, keepdims=keepdim)
    if np.isinf(p):
        return (np.max if p > 0 else np.min)(x, axis=axis, keepdims=keepdim)
    return np.sum(x**p, axis=axis, keepdims=keepdim) ** (1 / p)


def _norm_dtype(names, s):
    return to_real(s.kwargs["dtype"].name if "dtype" in s.kwargs else names[0])


def _norm_calls(words=True):
    def samples(rng, dtype):
        def x(*shape):
            size = distinct(rng, "float64", *shape, low=0.3, high=2.0)  # no two of the same absolute value
            turn = np.exp(2j * np.pi * rng.random(shape)) if dtype in COMPLEX else rng.choice([-1, 1], shape)
            return round_to(size * turn, dtype)

        for p in (2, 1, 3, 0.5, 0, float("inf"), float("-inf"), -1, 2.5):
            yield Sample((x(3, 4), p, 1), vary=_KEEP)
        for shape, args, kwargs in (
            ((3, 4), (), {}),
            ((2, 3, 4), (1, (0, -1), True), {}),
            ((), (), {}),
            ((0, 3), (2, 0), {}),
            ((3,), (3.0,), {"keepdim": True}),
            ((2, 3), (), {"dim": 0}),
        ):
            yield Sample((x(*shape), *args), kwargs, vary=_KEEP)
        yield Sample((x(2, 3),), {"dtype": tp.complex128}, grad=dtype in ("float64", "complex128"))
        if words:
            yield Sample((x(3, 4), "fro"), vary=_KEEP)
            yield Sample((x(3, 4), "fro", (0, 1), True), vary=_KEEP)
            yield Sample(
                (x(3, 4),), {"p": "fro", "dtype": tp.complex128, "dim": 1}, grad=dtype in ("float64", "complex128")
            )

    return samples


add("norm", _norm_calls(), _vector_norm, dtypes=INEXACT, dtype=_norm_dtype, scale=3)
add("linalg.vector_norm", _norm_calls(False), _vector_norm, dtypes=INEXACT, dtype=_norm_dtype, scale=3)


def _matrix_norm(a, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    a = a if dtype is None else a.astype(dtype.name)
    x = np.abs(a)
    r, k = (d % a.ndim for d in dim)
    if ord == "fro":
        out = np.sqrt(np.sum(x**2, axis=(r, k), keepdims=True))
    elif ord in ("nuc", 2, -2):
        values = np.linalg.svd(np.moveaxis(a, (r, k), (-2, -1)), compute_uv=False)
        pick = {"nuc": np.sum, 2: np.max, -2: np.min}[ord]
        out = np.expand_dims(pick(values, axis=-1), sorted((r, k)))
    else:
        first, second = (r, k) if abs(ord) == 1 else (k, r)
        out = (np.max if ord > 0 else np.min)(np.sum(x, axis=first, keepdims=True), axis=second, keepdims=True)
    return out if keepdim else np.squeeze(out, (r, k))


def _matrix_calls(rng, dtype):
    def x(*shape):
        """Sums along a dimension are far apart: which one is the largest does not hang on a small step."""
        apart = sum(np.indices(shape)) * 7 if len(shape) > 1 else 0
        return round_to(distinct(rng, dtype, *shape, low=0.3, high=2.0) + apart, dtype)

    for ord in (1, -1, float("inf"), float("-inf")):
        yield Sample((x(3, 4), ord), vary=_KEEP)
    yield Sample((x(2, 3, 4), 1, (0, 2), True), vary=_KEEP)
    yield Sample((x(2, 3, 4), float("inf")), {"dim": (1, 0), "keepdim": True}, vary=_KEEP)
    yield Sample((x(3, 4),), {"ord": "fro"}, vary=_KEEP)
    yield Sample((x(3, 4),), vary=_KEEP)
    yield Sample((x(2, 3, 4), "fro", (0, 1), True), vary=_KEEP)
    yield Sample((x(0, 3, 4), 1), vary=_KEEP)
    if dtype not in HALF:
        for ord in ("nuc", 2, -2):
            yield Sample((x(3, 5), ord), vary=_KEEP)
            yield Sample((x(3, 2, 4), ord, (2, 0), True), vary=_KEEP)
    yield Sample((x(3, 4), 1), {"dtype": tp.complex128}, grad=dtype in ("float64", "complex128"))
    yield Sample((x(3, 4),), {"dtype": tp.complex128}, grad=dtype in ("float64", "complex128"))


_MATRIX = dict(dtypes=INEXACT, dtype=_norm_dtype, scale=3)
add(
    "linalg.matrix_norm",
    _matrix_calls,
    _matrix_norm,
    missing={"0-d": "needs a matrix"},
    **_MATRIX,
)


def _norm_any(a, ord=None, dim=None, keepdim=False, dtype=None):
    matrix = (isinstance(dim, (tuple, list)) and len(dim) == 2) or (dim is None and a.ndim == 2)
    if ord is not None and matrix:
        return _matrix_norm(a, ord, dim or (0, 1), keepdim, dtype)
    return _vector_norm(a, ord, dim, keepdim, dtype)


def _any_norm_calls(rng, dtype):
    def x(*shape):
        apart = sum(np.indices(shape)) * 7 if len(shape) > 1 else 0
        return round_to(distinct(rng, dtype, *shape, low=0.3, high=2.0) + apart, dtype)

    calls = (
        ((3, 4), (), {}),
        ((3, 4), (1,), {}),
        ((3, 4), (float("inf"), (0, 1), True), {}),
        ((2, 3, 4), (3, 1), {}),
        ((5,), (1.5,), {}),
        ((), (), {}),
        ((2, 3, 4), (), {"dim": (0, 2), "keepdim": True}),
        ((3, 4), ("fro",), {}),
        ((2, 3, 4), ("fro", (1, 2), True), {}),
        ((0, 3), (), {}),
    )
    for shape, args, kwargs in calls:
        yield Sample((x(*shape), *args), kwargs, vary=_KEEP)
    for args in ((), ("fro",)):
        yield Sample((x(3, 4), *args), {"dtype": tp.complex128}, grad=dtype in ("float64", "complex128"))


add("linalg.norm", _any_norm_calls, _norm_any, **_MATRIX)
