# ruff: noqa: F403, F405
"""Indexing: gathers, scatters, masks."""

import numpy as np

from ._base import *


def _i(rng, n, *shape, dtype="int64"):
    """Indices of a dimension of size n, negative ones among them where the operator takes them."""
    return np.asarray(rng.integers(0, max(n, 1), shape), dtype=dtype)


def _d(rng, n, k):
    """k different indices."""
    return np.asarray(rng.permutation(n)[:k], dtype=np.int64)


# ---- NumPy's indexing ----


def _index_calls(rng, dtype):
    x = make(rng, dtype, 4, 3, 2)
    neg = _i(rng, 4, 5) - 4
    yield sample(x, [_i(rng, 4, 5)])
    yield sample(x, [neg])
    yield sample(x, [_i(rng, 4, 2, 2), _i(rng, 3, 2)])
    yield sample(x, [None, _i(rng, 3, 4)])
    yield sample(x, [_i(rng, 4, 3), None, _i(rng, 2, 3)])
    yield sample(x, [_i(rng, 4, 3, dtype="int32"), _i(rng, 3), _i(rng, 2, 2, 1)])
    yield sample(x, [_i(rng, 4)])
    yield Sample((x, [make(rng, "bool", 4, 3)]), fixed=(1,))
    yield Sample((x, [None, make(rng, "bool", 3)]), fixed=(1,))
    yield sample(make(rng, dtype, 0, 3), [None, _i(rng, 3, 2)])
    yield sample(make(rng, dtype, 4, 3), [np.zeros((0,), np.int64)])
    yield Sample((make(rng, dtype), [np.array(True)]), fixed=(1,))


def _index_ref(a, indices):
    at = tuple(slice(None) if i is None else i for i in indices)
    return a[at]


add("index", _index_calls, _index_ref, dtype="same")


def _put_calls(rng, dtype):
    for accumulate in (False, True):
        x = make(rng, dtype, 4, 3, 2)
        yield sample(x, [_i(rng, 4, 5)], make(rng, dtype, 5, 3, 2), accumulate)
        yield sample(x, [_d(rng, 4, 2)], make(rng, dtype, 2), accumulate=accumulate)
        yield sample(x, [None, _i(rng, 3, 4) - 3], make(rng, dtype, 4, 4, 2), accumulate)
        yield sample(x, [_i(rng, 4, 3), None, _i(rng, 2, 3)], make(rng, dtype, 3, 3), accumulate)
        yield Sample((x, [make(rng, "bool", 4, 3)], make(rng, dtype), accumulate), fixed=(1,))
        yield sample(make(rng, dtype, 0, 3), [None, _i(rng, 3, 2)], make(rng, dtype, 0, 2), accumulate)


def _index_put_ref(a, indices, values, accumulate=False):
    out = np.array(a)
    at = tuple(slice(None) if i is None else i for i in indices)
    if accumulate:
        if a.dtype == bool:
            np.logical_or.at(out, at, values)
        else:
            np.add.at(out, at, values)
    else:
        out[at] = values
    return out


add("index_put", _put_calls, _index_put_ref, dtype="same", scale=8)

# ---- along a dimension ----


def _select_calls(rng, dtype):
    yield sample(make(rng, dtype, 4, 3), 0, _i(rng, 4, 5))
    yield sample(make(rng, dtype, 4, 3), -1, _i(rng, 3, 2, dtype="int32"))
    yield sample(make(rng, dtype, 2, 3, 4), 1, _i(rng, 3, 4))
    yield sample(make(rng, dtype, 4), 0, _i(rng, 4))
    yield sample(make(rng, dtype, 0, 3), 1, _i(rng, 3, 2))
    yield sample(make(rng, dtype, 3, 2), 0, np.zeros((0,), np.int64))
    yield sample(make(rng, dtype), 0, np.zeros((1,), np.int64))


add("index_select", _select_calls, lambda a, d, i: np.take(a, np.atleast_1d(i), axis=d) if a.ndim else a, dtype="same")


def _row_calls(values, *extra, distinct_rows=False):
    """Calls with an index of rows of a dimension, and a source with as many."""

    def samples(rng, dtype):
        for shape, dim, k in (
            ((4, 3), 0, 2),
            ((4, 3), -1, 2),
            ((2, 3, 4), 1, 3),
            ((4,), 0, 3),
            ((0, 3), 1, 2),
            ((4, 3), 0, 0),
            ((4, 3), 0, 6),
        ):
            source = list(shape)
            source[dim] = k
            index = _i(rng, shape[dim], k)
            yield sample(make(rng, dtype, *shape), dim, index, *values(rng, dtype, source))
        for kwargs in extra:
            yield Sample((make(rng, dtype, 4, 3), 0, _i(rng, 4, 2), *values(rng, dtype, (2, 3))), kwargs)
        yield sample(make(rng, dtype), 0, np.zeros((1,), np.int64), *values(rng, dtype, ()))

    return samples


def _rows(a, dim, index):
    full = [slice(None)] * a.ndim
    full[dim] = index
    return tuple(full)


def _source(rng, dtype, shape):
    return (make(rng, dtype, *shape),)


def _index_add_ref(a, dim, index, source, alpha=1):
    out = np.array(a)
    if a.ndim == 0:
        return np.logical_or(out, source) if a.dtype == bool else out + alpha * source
    add_at = np.logical_or.at if a.dtype == bool else np.add.at
    add_at(out, _rows(a, dim, index), source if a.dtype == bool else np.asarray(alpha * source).astype(a.dtype))
    return out


def _index_add_samples(rng, dtype):
    yield from _row_calls(_source)(rng, dtype)
    if dtype != "bool":
        yield Sample((make(rng, dtype, 4, 3), 0, _i(rng, 4, 5), make(rng, dtype, 5, 3)), {"alpha": 2})
    if dtype in INEXACT:
        yield Sample((make(rng, dtype, 4, 3), 1, _i(rng, 3, 2), make(rng, dtype, 4, 2)), {"alpha": -0.5})


add("index_add", _index_add_samples, _index_add_ref, dtype="same", scale=8)


def _index_copy_ref(a, dim, index, source):
    out = np.array(a)
    if a.ndim == 0:
        return np.array(source)
    out[_rows(a, dim, index)] = source
    return out


add("index_copy", _row_calls(_source), _index_copy_ref, dtype="same")


def _fill_value(rng, dtype, shape):
    return (make(rng, dtype),)


def _index_fill_samples(rng, dtype):
    yield from _row_calls(_fill_value)(rng, dtype)
    yield sample(make(rng, dtype, 4, 3), 0, _i(rng, 4, 2), True if dtype == "bool" else 2)
    if dtype in INEXACT:
        yield sample(make(rng, dtype, 4, 3), 1, _i(rng, 3, 2), -0.5)


def _index_fill_ref(a, dim, index, value):
    out = np.array(a)
    if a.ndim == 0:
        return np.asarray(value).astype(a.dtype)
    out[_rows(a, dim, index)] = value
    return out


add("index_fill", _index_fill_samples, _index_fill_ref, dtype="same")

# ---- element by element ----


def _gather_calls(rng, dtype):
    yield sample(make(rng, dtype, 4, 3), 0, _i(rng, 4, 2, 3))
    yield sample(make(rng, dtype, 4, 3), -1, _i(rng, 3, 4, 5))
    yield sample(make(rng, dtype, 4, 3), 0, _i(rng, 4, 2, 2, dtype="int32"))
    yield sample(make(rng, dtype, 2, 3, 4), 1, _i(rng, 3, 1, 5, 3))
    yield sample(make(rng, dtype, 4), 0, _i(rng, 4, 6))
    yield sample(make(rng, dtype), 0, np.zeros((), np.int64))
    yield sample(make(rng, dtype, 0, 3), 1, np.zeros((0, 2), np.int64))
    yield sample(make(rng, dtype, 4, 3), 0, np.zeros((0, 3), np.int64))
    yield sample(make(rng, dtype, 4), 0, np.zeros((2, 0), np.int64))


def _cut(a, index, dim):
    """The part of an array that an index reaches, but for dim."""
    return a[tuple(slice(None) if d == dim % a.ndim else slice(0, n) for d, n in enumerate(index.shape))]


def _gather_ref(a, dim, index):
    if not index.size:
        return np.zeros(index.shape, a.dtype)
    return np.take_along_axis(_cut(a, index, dim), index, dim) if a.ndim else a


add("gather", _gather_calls, _gather_ref, dtype="same")


def _scatter_calls(value):
    def samples(rng, dtype):
        for shape, dim, index, src in (
            ((4, 3), 0, (2, 3), (2, 3)),
            ((4, 3), 1, (4, 2), (4, 5)),
            ((2, 3, 4), -2, (2, 2, 3), (2, 2, 4)),
            ((4,), 0, (6,), (6,)),
            ((), 0, (), ()),
            ((0, 3), 1, (0, 2), (0, 2)),
            ((4, 3), 0, (0, 3), (0, 3)),
            ((4,), 0, (0, 3), (0, 3)),
        ):
            n = shape[dim] if shape else 1
            yield sample(make(rng, dtype, *shape), dim, _i(rng, n, *index), make(rng, dtype, *src))
        if value:
            yield sample(make(rng, dtype, 4, 3), 1, _i(rng, 3, 4, 2), True if dtype == "bool" else 2)
            if dtype in INEXACT:
                yield sample(make(rng, dtype, 4, 3), 0, _i(rng, 4, 2, 3), -0.5)

    return samples


def _scatter_ref(accumulate):
    def reference(a, dim, index, src):
        out = np.array(a)
        if a.ndim == 0:
            return (np.logical_or(a, src) if a.dtype == bool else a + src) if accumulate else np.asarray(src)
        for at in np.ndindex(index.shape):
            to = list(at)
            to[dim] = index[at]
            v = src[at] if isinstance(src, np.ndarray) else src
            out[tuple(to)] = (out[tuple(to)] | v if a.dtype == bool else out[tuple(to)] + v) if accumulate else v
        return out

    return reference


def _scatter_calls_by(rng, dtype):
    yield from _scatter_calls(True)(rng, dtype)
    if dtype in INEXACT and dtype not in COMPLEX:
        for by in ("add", "multiply"):
            x, at = make(rng, dtype, 4, 3, gap=0.2), _i(rng, 4, 5, 3)
            yield Sample((x, 0, at, make(rng, dtype, 5, 3, gap=0.2)), {"reduce": by})
            yield Sample((x, 0, at, 1.5), {"reduce": by})


def _scatter_by(a, dim, index, src, reduce=None):
    if reduce is None:
        return _scatter_ref(False)(a, dim, index, src)
    if reduce == "add":
        return _scatter_ref(True)(a, dim, index, src)
    out = np.array(a)
    for at in np.ndindex(index.shape):
        to = list(at)
        to[dim] = index[at]
        out[tuple(to)] *= src[at] if isinstance(src, np.ndarray) else src
    return out


add("scatter", _scatter_calls_by, _scatter_by, dtype="same", scale=8)
add("scatter_add", _scatter_calls(False), _scatter_ref(True), dtype="same", scale=8)


def _take_calls(rng, dtype):
    yield sample(make(rng, dtype, 4, 3), _i(rng, 12, 5))
    yield sample(make(rng, dtype, 4, 3), _i(rng, 12, 2, 2) - 12)
    yield sample(make(rng, dtype), np.zeros((3,), np.int64))
    yield sample(make(rng, dtype, 4), _i(rng, 4))
    yield sample(make(rng, dtype, 0), np.zeros((0, 2), np.int64))


add("take", _take_calls, lambda a, i: np.take(a, i) if i.size else np.zeros(i.shape, a.dtype), dtype="same")


def _put_flat_calls(rng, dtype):
    for accumulate in (False, True):
        yield sample(make(rng, dtype, 4, 3), _i(rng, 12, 5), make(rng, dtype, 5), accumulate)
        yield sample(make(rng, dtype, 4, 3), _i(rng, 12, 2, 2), make(rng, dtype, 4), accumulate=accumulate)
        yield sample(make(rng, dtype), np.zeros((1,), np.int64), make(rng, dtype, 1), accumulate)
        yield sample(make(rng, dtype, 3), np.zeros((0,), np.int64), make(rng, dtype, 0), accumulate)


def _put_flat_ref(a, index, source, accumulate=False):
    flat = np.array(a).reshape(-1)
    return _index_put_ref(flat, [index.reshape(-1)], source.reshape(-1), accumulate).reshape(a.shape)


add("put", _put_flat_calls, _put_flat_ref, dtype="same", scale=8)


def _along_calls(rng, dtype):
    yield sample(make(rng, dtype, 4, 3), _i(rng, 3, 4, 2), 1)
    yield sample(make(rng, dtype, 4, 3), _i(rng, 4, 2, 1), 0)
    yield sample(make(rng, dtype, 1, 3), _i(rng, 3, 4, 2), dim=-1)
    yield sample(make(rng, dtype, 4, 3), _i(rng, 12, 5))
    yield sample(make(rng, dtype), np.zeros((), np.int64))
    yield sample(make(rng, dtype, 0, 3), np.zeros((0, 2), np.int64), 1)


def _along_ref(a, i, dim=None):
    if dim is None:
        return np.take_along_axis(a.reshape(-1), i.reshape(-1), 0)
    dim %= a.ndim
    shape = np.broadcast_shapes(*(tuple(1 if d == dim else n for d, n in enumerate(x.shape)) for x in (a, i)))
    a, i = (np.broadcast_to(x, tuple(x.shape[d] if d == dim else n for d, n in enumerate(shape))) for x in (a, i))
    return np.take_along_axis(a, i, dim)


add("take_along_dim", _along_calls, _along_ref, dtype="same")

# ---- masks ----


def _masked_calls(rng, dtype):
    for a, m in (((3, 4), (3, 4)), ((3, 4), (4,)), ((4,), (3, 1)), ((), ()), ((0, 3), (3,))):
        yield Sample((make(rng, dtype, *a), make(rng, "bool", *m)), fixed=(1,))


add(
    "masked_select",
    _masked_calls,
    lambda a, m: np.broadcast_to(a, np.broadcast_shapes(a.shape, m.shape))[
        np.broadcast_to(m, np.broadcast_shapes(a.shape, m.shape))
    ],
    dtype="same",
)


def _masked_scatter_calls(rng, dtype):
    for a, m, n in (((3, 4), (3, 4), 12), ((3, 4), (4,), 15), ((), (), 1), ((0, 3), (3,), 2), ((4,), (3, 4), 12)):
        yield sample(make(rng, dtype, *a), make(rng, "bool", *m), make(rng, dtype, n))


def _masked_scatter_ref(a, m, source):
    shape = np.broadcast_shapes(a.shape, m.shape)
    out, m = np.array(np.broadcast_to(a, shape)), np.broadcast_to(m, shape)
    out[m] = source.reshape(-1)[: int(m.sum())]
    return out


add("masked_scatter", _masked_scatter_calls, _masked_scatter_ref, dtype="same")
