# ruff: noqa: F403, F405
"""Sorting, selecting by rank, positions."""

import numpy as np

from ._base import *
from .elementwise import _same_ratio

_KEEP = {0: _same_ratio(1)}
_PAIR = lambda n, s: (n[0], "int64")


def _order(a, dim, descending):
    """Positions in order along a dimension: stable, NaN as the largest."""
    if a.ndim == 0:
        return np.zeros((), np.int64)
    moved = np.moveaxis(a, dim, -1)
    if descending:
        n = moved.shape[-1]
        at = n - 1 - np.argsort(moved[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    else:
        at = np.argsort(moved, axis=-1, kind="stable")
    return np.moveaxis(at, -1, dim)


def _take(a, at, dim):
    return np.take_along_axis(a, at, dim) if a.ndim else a


def _sort(a, dim=-1, descending=False, stable=False):
    at = _order(a, dim, descending)
    return _take(a, at, dim), at


def _sort_calls(rng, dtype):
    for shape, args, kwargs in (
        ((3, 4), (), {}),
        ((3, 4), (0,), {}),
        ((2, 3, 4), (1, True), {}),
        ((), (), {}),
        ((0, 3), (), {}),
        ((0, 3), (0,), {}),
        ((5,), (), {"descending": True}),
        ((4, 2), (-2, False, True), {}),
        ((20,), (0, True), {"stable": True}),
    ):
        yield Sample((distinct(rng, dtype, *shape), *args), kwargs, vary=_KEEP)
    ties = make(rng, "int64", 3, 8, low=0, high=1).astype(storage(dtype))
    for descending in (False, True):
        yield Sample((ties, 1, descending), grad=False)
        if dtype in FLOATS:
            x = distinct(rng, dtype, 3, 4)
            x[0, 1] = x[1, 0] = x[1, 3] = np.nan
            x[2, 2] = -np.inf
            yield Sample((x, 1, descending), grad=False)


add("sort", _sort_calls, _sort, dtypes=REAL, dtype=_PAIR)
add("argsort", _sort_calls, lambda *a, **k: _sort(*a, **k)[1], dtypes=REAL, dtype="int64")


def _msort_calls(rng, dtype):
    for shape in ((3, 4), (5,), (0, 3), (2, 1, 3), ()):
        yield Sample((distinct(rng, dtype, *shape),), vary=_KEEP)


add("msort", _msort_calls, lambda a: np.sort(a, axis=0) if a.ndim else a, dtypes=REAL, dtype="same")


def _topk(a, k, dim=-1, largest=True, sorted=True):
    if a.ndim == 0:
        return a, np.zeros((), np.int64)
    at = np.take(_order(a, dim, largest), range(k), axis=dim)
    if not sorted:
        at = np.sort(at, axis=dim)
    return np.take_along_axis(a, at, dim), at


def _topk_calls(rng, dtype):
    for shape, args, kwargs in (
        ((3, 4), (2,), {}),
        ((3, 4), (2, 0), {}),
        ((2, 3, 4), (1, 1, False), {}),
        ((3, 4), (4,), {}),
        ((3, 4), (0,), {}),
        ((), (1,), {}),
        ((0, 3), (2,), {}),
        ((6,), (3,), {"largest": False, "sorted": False}),
        ((6,), (3, -1, True, False), {}),
    ):
        yield Sample((distinct(rng, dtype, *shape), *args), kwargs, vary=_KEEP)
    ties = make(rng, "int64", 3, 8, low=0, high=1).astype(storage(dtype))
    yield Sample((ties, 3), grad=False)
    if dtype in FLOATS:
        x = distinct(rng, dtype, 3, 4)
        x[0, 1] = x[1, 0] = np.nan
        yield Sample((x, 2), grad=False)
        yield Sample((x, 3), {"largest": False}, grad=False)


add("topk", _topk_calls, _topk, dtypes=REAL, dtype=_PAIR)


def _kth(a, k, dim=-1, keepdim=False):
    if a.ndim == 0:
        return a, np.zeros((), np.int64)
    at = np.take(_order(a, dim, False), [k - 1], axis=dim)
    values = np.take_along_axis(a, at, dim)
    return (values, at) if keepdim else (np.squeeze(values, dim), np.squeeze(at, dim))


def _kth_calls(rng, dtype):
    for shape, args, kwargs in (
        ((3, 4), (2,), {}),
        ((3, 4), (1, 0), {}),
        ((2, 3, 4), (3, 1, True), {}),
        ((), (1,), {}),
        ((0, 3), (2,), {}),
        ((6,), (6,), {"keepdim": True}),
    ):
        yield Sample((distinct(rng, dtype, *shape), *args), kwargs, vary=_KEEP)
    yield Sample((make(rng, "int64", 3, 8, low=0, high=1).astype(storage(dtype)), 4), grad=False)


add("kthvalue", _kth_calls, _kth, dtypes=REAL, dtype=_PAIR)


def _median_calls(rng, dtype):
    for shape, args in (
        ((3, 3), ()),
        ((3, 4), (1,)),
        ((2, 3, 4), (0, True)),
        ((), ()),
        ((), (0,)),
        ((0, 3), (1,)),
        ((4,), ()),
    ):
        yield Sample((distinct(rng, dtype, *shape), *args), vary=_KEEP)
    if dtype in FLOATS:
        x = distinct(rng, dtype, 3, 4)
        x[1, 2] = np.nan
        yield Sample((x, 1), grad=False)
        yield Sample((x,), grad=False)


def _median(a, dim=None, keepdim=False):
    if dim is None:
        flat = a.reshape(-1)
        return (
            np.array(np.nan) if flat.dtype.kind == "f" and np.isnan(flat).any() else np.sort(flat)[(flat.size - 1) // 2]
        )
    if a.ndim == 0:
        return a, np.zeros((), np.int64)
    n = a.shape[dim]
    values, at = _kth(a, (n - 1) // 2 + 1, dim, True)
    if a.dtype.kind == "f" and a.size:
        bad = np.isnan(a).any(axis=dim, keepdims=True)
        first = np.argmax(np.isnan(a), axis=dim, keepdims=True)
        values, at = np.where(bad, np.nan, values), np.where(bad, first, at)
    return (values, at) if keepdim else (np.squeeze(values, dim), np.squeeze(at, dim))


add("median", _median_calls, _median, dtypes=REAL, dtype=lambda n, s: n[0] if len(s.args) == 1 else (n[0], "int64"))


def _sparse(rng, dtype, *shape):
    return np.asarray(np.where(make(rng, "bool", *shape), make(rng, dtype, *shape), np.zeros((), storage(dtype))))


def _nonzero_calls(rng, dtype):
    for shape in ((3, 4), (5,), (), (0, 3), (2, 2, 3)):
        yield sample(_sparse(rng, dtype, *shape))
    yield sample(np.zeros((2, 3), storage(dtype)))


def _nonzero(a):
    return np.argwhere(a).astype(np.int64)


_REASON = "the number of rows depends on the values"
add("nonzero", _nonzero_calls, _nonzero, dtype="int64", vmap=_REASON)
add("argwhere", _nonzero_calls, _nonzero, dtype="int64", vmap=_REASON)


def _static_calls(rng, dtype):
    for shape, size in (((3, 4), 5), ((5,), 7), ((), 1), ((0, 3), 2), ((3, 2), 0), ((2, 2, 3), 12)):
        yield sample(_sparse(rng, dtype, *shape), size=size)
    yield sample(_sparse(rng, dtype, 3, 4), size=9, fill_value=7)


def _nonzero_static(a, size, fill_value=-1):
    found = np.argwhere(a)[:size]
    return np.concatenate([found, np.full((size - len(found), a.ndim), fill_value)]).astype(np.int64)


add("nonzero_static", _static_calls, _nonzero_static, dtype="int64")
