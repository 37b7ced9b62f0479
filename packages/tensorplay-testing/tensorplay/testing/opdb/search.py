# ruff: noqa: F403, F405
"""Sorted sequences, sets, counts, quantiles, and reductions into places that an index names."""

import numpy as np

from ._base import *
from .index import _i
from .order import _KEEP

_POINTS = {0: lambda a, i: a, 1: lambda a, i: np.roll(a, i, -1) if a.ndim else a}

# ---- sorted sequences ----


def _sequence_calls(rng, dtype):
    def seq(*shape):
        return np.sort(make(rng, dtype, *shape), -1)

    for shape, values in (
        ((5,), (2, 3)),
        ((5,), ()),
        ((2, 5), (2, 3)),
        ((2, 1, 4), (2, 1, 6)),
        ((0,), (3,)),
        ((5,), (0,)),
    ):
        for kwargs in ({}, {"right": True}):
            yield Sample((seq(*shape), make(rng, dtype, *values)), kwargs, vary=_POINTS)
    x = seq(4)
    yield Sample((x, x), {"side": "right", "out_int32": True}, vary=_POINTS)
    yield Sample((x, x), {"side": "left"}, vary=_POINTS)
    y = make(rng, dtype, 2, 5)
    yield Sample(
        (y, make(rng, dtype, 2, 3)), {"sorter": np.argsort(y, -1, kind="stable")}, vary={**_POINTS, 2: lambda a, i: a}
    )
    if dtype in FLOATS:
        z = round_to(np.array([-np.inf, 0.0, np.inf, np.nan, np.nan]), dtype)
        yield Sample((z, z), vary=_POINTS)
        yield Sample((z, z), {"right": True}, vary=_POINTS)


def _searchsorted(seq, values, *, out_int32=False, right=False, side=None, sorter=None):
    side = side or ("right" if right else "left")
    if sorter is not None:
        seq = np.take_along_axis(seq, sorter, -1)
    if seq.ndim == 1:
        return np.asarray(np.searchsorted(seq, values, side))
    flat = zip(seq.reshape(-1, seq.shape[-1]), values.reshape(-1, values.shape[-1]), strict=True)
    return np.stack([np.searchsorted(s, v, side) for s, v in flat]).reshape(values.shape)


_WHICH = {"0-d": "a sequence has a dimension"}
add(
    "searchsorted",
    _sequence_calls,
    _searchsorted,
    dtypes=REAL,
    dtype=lambda n, s: "int32" if s.kwargs.get("out_int32") else "int64",
    grad=(),
)


def _bucket_calls(rng, dtype):
    for shape in ((2, 3), (), (0, 2)):
        for kwargs in ({}, {"right": True}, {"out_int32": True}):
            edges = np.sort(make(rng, dtype, 4))
            yield Sample((make(rng, dtype, *shape), edges), kwargs, vary={1: lambda a, i: a})


add(
    "bucketize",
    _bucket_calls,
    lambda x, edges, *, out_int32=False, right=False: np.asarray(
        np.searchsorted(edges, x, "right" if right else "left")
    ),
    dtypes=REAL,
    dtype=lambda n, s: "int32" if s.kwargs.get("out_int32") else "int64",
    grad=(),
)


def _isin_calls(rng, dtype):
    for a, b in (((3, 4), (3,)), ((), (2, 2)), ((0, 3), (2,)), ((2,), (0,)), ((4,), ())):
        yield sample(make(rng, dtype, *a), make(rng, dtype, *b))
    x = make(rng, dtype, 5)
    yield sample(x, x[::2].copy(), invert=True)
    yield sample(x, x[:2].copy(), assume_unique=True)
    if dtype in FLOATS:
        yield sample(round_to(np.array([np.nan, 1.0, np.inf]), dtype), round_to(np.array([np.nan, np.inf]), dtype))


def _isin(a, b, *, assume_unique=False, invert=False):
    return np.asarray((a[..., None] == b.reshape(-1)).any(-1) != invert)


add("isin", _isin_calls, _isin, dtypes=REAL, dtype="bool", grad=())

# ---- sets ----


def _row_calls(rng, dtype):
    yield sample(make(rng, dtype, 6, 2, low=0, high=1.4).round(0) if dtype in INEXACT else make(rng, dtype, 6, 2))
    yield sample(np.repeat(make(rng, dtype, 3, 1), [2, 1, 3], 0), True)
    yield sample(make(rng, dtype, 40, 1))
    yield sample(make(rng, dtype, 0, 2))


def _unique_rows(a, consecutive=False):
    if not len(a):
        return (np.zeros(0, np.int64),) * 3
    if consecutive:
        fresh = np.r_[True, (a[1:] != a[:-1]).any(1)]
        first = np.flatnonzero(fresh)
        return first, np.cumsum(fresh) - 1, np.diff(np.r_[first, len(a)])
    _, first, inverse, counts = np.unique(a, True, True, True, axis=0)
    return first, inverse.reshape(-1), counts


add(
    "unique_rows",
    _row_calls,
    _unique_rows,
    dtype=lambda n, s: ("int64",) * 3,
    grad=(),
    vmap="the number of distinct rows depends on the values: sort and compare neighbours, which has a fixed size",
    missing={"0-d": "two dimensions are needed"},
)

# ---- counts ----


def _count_calls(rng, dtype):
    yield sample(make(rng, dtype, 6, low=0, high=4), minlength=8)
    yield sample(make(rng, dtype, 0), minlength=3)
    yield Sample((make(rng, dtype, 6, low=0, high=4), rng.uniform(0.5, 1.5, 6)), {"minlength": 8})
    yield Sample((make(rng, dtype, 3, low=0, high=4), np.array([1, 2, 3])), {"minlength": 8})


def _bincount(a, weights=None, minlength=0):
    return np.bincount(a.astype(np.int64), weights, minlength)


add(
    "bincount",
    _count_calls,
    _bincount,
    dtypes=INTEGERS,
    dtype=lambda n, s: "int64" if len(n) == 1 else "float64",
    grad=("int64",),
    missing={"0-d": "one dimension is needed", "broadcast": "the sizes agree"},
)


def _binned(rng, dtype, *shape):
    """Values away from the edges of eighths of [-2, 2]."""
    x = make(rng, dtype, *shape)
    return round_to(np.round(x * 8) / 8 + 0.03, dtype) if dtype in FLOATS else x


def _histc_calls(rng, dtype):
    for shape in ((3, 4), (), (0, 3)):
        yield sample(_binned(rng, dtype, *shape), 4, -2, 2)
    # with the range of the data, elements on an edge would be a matter of rounding
    apart = np.sin(np.arange(20) * 1.7) * 1.9 if dtype in FLOATS else make(rng, dtype, 20)
    yield Sample((round_to(apart, dtype),), {"bins": 5}, grad=False)
    yield Sample((np.ones(3, storage(dtype)),), {"bins": 3}, grad=False)
    yield sample(_binned(rng, dtype, 20), 8, min=-1, max=1)
    if dtype in FLOATS:
        yield Sample((round_to(np.array([-2.0, 2.0, np.nan, np.inf, 0.1]), dtype), 4, -2, 2), grad=False)


def _histc(a, bins=100, min=0, max=0):
    a = np.asarray(a, float)
    if min == max:
        min, max = (a.min(), a.max()) if a.size else (0, 1)
        if min == max:
            min, max = min - 1, max + 1
    return np.histogram(a[np.isfinite(a)], bins, (min, max))[0]


add("histc", _histc_calls, _histc, dtypes=INTEGERS + FLOATS, dtype="same", grad=())


def _histogram_calls(rng, dtype):
    def x(*shape):
        return _binned(rng, dtype, *shape)

    yield sample(x(3, 4), 4, range=[-2.0, 2.0])
    yield Sample((round_to(np.append(np.clip(x(18), -1.9, 1.9), [-2.0, 2.0]), dtype), 4), grad=False)
    yield sample(x(), 2, range=[-2.5, 2.5])
    yield sample(x(0, 3), 2)
    edges = round_to(np.array([-2.0, -0.5, 0.0, 2.0]), dtype)
    same = {1: lambda a, i: a, 2: lambda a, i: a * (1 + i / 8)}
    weight = round_to(rng.uniform(0.5, 1.5, (2, 5)), dtype)
    yield Sample((x(2, 5), edges), vary=same)
    yield Sample((x(2, 5), edges), {"weight": weight, "density": True}, vary=same)
    yield Sample((x(2, 5), 4), {"weight": weight, "density": True, "range": [-2.0, 2.0]}, vary={1: same[2]})


def _histogram(a, bins, *, range=None, weight=None, density=False):
    a, bins = np.asarray(a, float), bins if isinstance(bins, int) else np.asarray(bins, float)
    return np.histogram(a, bins, range, density, None if weight is None else np.asarray(weight, float))


add(
    "histogram",
    _histogram_calls,
    _histogram,
    dtypes=FLOATS,
    dtype=lambda n, s: (n[0], n[0]),
    grad=(),
    missing={"broadcast": "the shapes agree"},
)

# ---- quantiles ----


def _quantile_calls(rng, dtype):
    q = round_to(np.array([0.1, 0.34, 0.9]), dtype)
    keep = {**_KEEP, 1: lambda a, i: a}
    for shape, args in (
        ((3, 4), (0.3,)),
        ((3, 5), (0.6, 1)),
        ((2, 3, 4), (0.25, 0, True)),
        ((3, 4), (q, -1)),
        ((3, 4), (q, 0, True)),
        ((3, 4), (q,)),
        ((), (0.5,)),
        ((3, 0), (0.5, 0)),
        ((4,), (round_to(np.array(0.4), dtype), 0)),
    ):
        yield Sample((distinct(rng, dtype, *shape), *args), vary=keep)
    for how in ("lower", "higher", "midpoint", "nearest"):
        yield Sample((distinct(rng, dtype, 2, 6), 0.37, 1), {"interpolation": how}, vary=keep)
        yield Sample((distinct(rng, dtype, 2, 6), q[1:2], 1), {"interpolation": how}, vary=keep, order=1)
    x = distinct(rng, dtype, 3, 4)
    x[1, 2] = np.nan
    x[2] = np.nan
    yield Sample((x, 0.4, 1), grad=False)
    yield Sample((round_to(np.array([np.inf, np.inf, 1.0]), dtype), 0.75, 0), grad=False)


def _quantile(fn):
    def reference(a, q, dim=None, keepdim=False, *, interpolation="linear"):
        with np.errstate(all="ignore"):
            if interpolation == "linear" and np.isinf(a).any():
                return np.asarray(np.quantile(a, q, dim, method="higher", keepdims=keepdim))
            return np.asarray(fn(a, np.asarray(q, float), dim, method=interpolation, keepdims=keepdim))

    return reference


for _name, _fn in (("quantile", np.quantile), ("nanquantile", np.nanquantile)):
    add(
        _name,
        _quantile_calls,
        _quantile(_fn),
        dtypes=FLOATS,
        dtype="same",
        missing={"broadcast": "q adds a dimension"},
        scale=4,
    )


def _nanmedian_calls(rng, dtype):
    for shape, args in (((3, 3), ()), ((3, 4), (1,)), ((2, 3, 4), (0, True)), ((), ()), ((), (0,)), ((0, 3), (1,))):
        yield Sample((distinct(rng, dtype, *shape), *args), vary=_KEEP)
    if dtype in FLOATS:
        x = distinct(rng, dtype, 3, 4)
        x[1, 2] = np.nan
        yield Sample((x, 1), vary={0: lambda a, i: a * (1 + i / 8)})
        yield Sample((x,), vary={0: lambda a, i: a * (1 + i / 8)})
        yield Sample((np.full((2, 2), np.nan, storage(dtype)),), grad=False)


def _nanmedian(a, dim=None, keepdim=False):
    if dim is None:
        flat = np.sort(a.reshape(-1))
        good = int((flat == flat).sum())
        return flat[max(good - 1, 0) // 2]
    if a.ndim == 0:
        return a, np.zeros((), np.int64)
    order = np.argsort(a, dim, kind="stable")
    k = np.maximum((a == a).sum(dim, keepdims=True) - 1, 0) // 2
    at = np.take_along_axis(order, k, dim)
    values = np.take_along_axis(a, at, dim)
    return (values, at) if keepdim else (np.squeeze(values, dim), np.squeeze(at, dim))


_PAIR = lambda n, s: n[0] if len(s.args) == 1 else (n[0], "int64")
add("nanmedian", _nanmedian_calls, _nanmedian, dtypes=REAL, dtype=_PAIR)


def _mode_calls(rng, dtype):
    for shape, args in (
        ((3, 6), ()),
        ((6, 3), (0, True)),
        ((2, 5, 2), (1,)),
        ((), (0,)),
        ((0, 3), (1,)),
        ((5,), (-1,)),
    ):
        yield Sample((make(rng, "int8", *shape, low=0, high=1).astype(storage(dtype)), *args), order=1, grad=False)
    yield Sample((distinct(rng, dtype, 3, 4), 1), vary=_KEEP)


def _mode(a, dim=-1, keepdim=False):
    if a.ndim == 0:
        return a, np.zeros((), np.int64)
    moved = np.moveaxis(a, dim, -1)
    values, at = np.empty(moved.shape[:-1], a.dtype), np.empty(moved.shape[:-1], np.int64)
    for k in np.ndindex(moved.shape[:-1]):
        found, counts = np.unique(moved[k], return_counts=True)
        values[k] = found[np.argmax(counts)]
        at[k] = np.flatnonzero(moved[k] == values[k])[-1]
    return (np.expand_dims(values, dim), np.expand_dims(at, dim)) if keepdim else (values, at)


add("mode", _mode_calls, _mode, dtypes=REAL, dtype=lambda n, s: (n[0], "int64"))

# ---- reductions into places ----

_WORDS = ("sum", "prod", "mean", "amin", "amax")


def _reduce_calls(rng, dtype):
    for word in _WORDS:
        for shape, dim, index, src in (
            ((4, 3), 0, (5, 3), (5, 3)),
            ((2, 3, 4), -2, (2, 2, 3), (2, 4, 4)),
            ((4,), 0, (6,), (6,)),
        ):
            for kwargs in ({}, {"include_self": False}):
                n = shape[dim]
                x, v = distinct(rng, dtype, *shape, low=0.3), distinct(rng, dtype, *src, low=0.4, high=1.9)
                yield Sample((x, dim, _i(rng, n, *index), v, word), kwargs, vary=_APART)
    yield Sample((make(rng, dtype), 0, np.array(0), make(rng, dtype), "prod"), vary=_APART)
    yield Sample((make(rng, dtype, 0, 3), 1, np.zeros((0, 2), np.int64), make(rng, dtype, 0, 2), "amax"))
    if dtype == "float64":
        x, v = np.array([2.0, 0.0, 3.0, 1.0]), np.array([0.0, 2.0, 5.0, 0.0, 0.0])
        for kwargs in ({}, {"include_self": False}):
            yield Sample((x, 0, np.array([0, 1, 2, 3, 3]), v, "prod"), kwargs, order=1, vary=_APART, note="zeros")


_APART = {i: lambda a, i: a * (1 + i / 8) if a.dtype.kind in "fc" else a for i in (0, 1, 2)}


def _scatter_reduce(a, dim, index, src, reduce, *, include_self=True):
    shape = a.shape
    a, index, src = np.atleast_1d(a), np.atleast_1d(index), np.atleast_1d(src)
    found = {at: [a[at]] if include_self else [] for at in np.ndindex(a.shape)}
    for at in np.ndindex(index.shape):
        to = list(at)
        to[dim] = index[at]
        found[tuple(to)].append(src[at])
    out = np.array(a)
    whole = a.dtype.kind in "biu"
    for at, values in found.items():
        if not values or (len(values) == 1 and include_self):
            continue
        v = np.array(values, a.dtype)
        out[at] = {
            "sum": lambda v: v.any() if v.dtype == bool else v.sum(dtype=v.dtype),
            "prod": lambda v: v.all() if v.dtype == bool else v.prod(dtype=v.dtype),
            "mean": lambda v: v.sum(dtype=v.dtype) // len(v) if whole else v.mean(),
            "amin": np.min,
            "amax": np.max,
        }[reduce](v)
    return out.reshape(shape)


def _not_bool(samples):
    """The mean of booleans is not defined."""

    def those(rng, dtype):
        return [
            s
            for s in samples(rng, dtype)
            if dtype != "bool" or not any(isinstance(a, str) and a == "mean" for a in s.args)
        ]

    return those


add("scatter_reduce", _not_bool(_reduce_calls), _scatter_reduce, dtypes=REAL, dtype="same", scale=8,
    missing={"broadcast": "shapes nest"}, refuses=False)  # fmt: skip


def _index_reduce_calls(rng, dtype):
    for word in _WORDS[1:]:
        for kwargs in ({}, {"include_self": False}):
            x, v = distinct(rng, dtype, 4, 3, low=0.3), distinct(rng, dtype, 5, 3, low=0.4, high=1.9)
            yield Sample((x, 0, _i(rng, 4, 5), v, word), kwargs, vary=_APART)
    yield Sample(
        (distinct(rng, dtype, 2, 4, low=0.3), -1, _i(rng, 4, 2), distinct(rng, dtype, 2, 2), "amax"), vary=_APART
    )
    yield Sample((make(rng, dtype), 0, np.array([0]), make(rng, dtype), "prod"), vary=_APART)
    yield Sample((make(rng, dtype, 0, 3), 1, np.zeros(2, np.int64), make(rng, dtype, 0, 2), "amax"))


def _index_reduce(a, dim, index, source, reduce, *, include_self=True):
    shape = a.shape
    a, source = np.atleast_1d(a), np.atleast_1d(source)
    at = [1] * a.ndim
    at[dim] = -1
    wide = np.broadcast_to(index.reshape(at), source.shape)
    return _scatter_reduce(a, dim, wide, source, reduce, include_self=include_self).reshape(shape)


add("index_reduce", _not_bool(_index_reduce_calls), _index_reduce, dtypes=REAL, dtype="same", scale=8,
    missing={"broadcast": "shapes nest"}, refuses=False)  # fmt: skip
