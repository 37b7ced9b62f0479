# ruff: noqa: F403, F405
"""Views, copies in another order, triangles and diagonals."""

import numpy as np

import tensorplay as tp

from ._base import *


def cases(*calls, empty=True, scalar=True):
    """Samples of calls given as (shape, args, kwargs)."""

    def samples(rng, dtype):
        for shape, args, kwargs in calls:
            yield Sample((make(rng, dtype, *shape), *args), kwargs)

    return samples


def c(shape, *args, **kwargs):
    return shape, args, kwargs


def same(name, samples, reference, **options):
    options.setdefault("dtype", lambda names, s: names[0])
    add(name, samples, reference, **options)


def _sizes(shape, *size):
    return size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


_RESHAPES = (
    c((3, 4), 2, 6),
    c((3, 4), (4, 3)),
    c((3, 4), -1),
    c((), 1),
    c((), ()),
    c((1,), ()),
    c((0, 3), 3, 0),
    c((2, 3, 4), 6, -1),
    c((2, 1, 3), (2, 3, 1)),
)


def _reshape(a, *size):
    return a.reshape(_sizes(a, *size))


def _view_samples(rng, dtype):
    """View sizes that keep dimensions apart, so that every layout can be viewed."""
    for shape, size in (
        ((3, 4), (3, 2, 2)),
        ((3, 4), (1, 3, 4)),
        ((3, 4), (3, -1)),
        ((), ()),
        ((), (1,)),
        ((0, 3), (0, 3)),
        ((2, 1, 3), (2, 3)),
    ):
        yield Sample((make(rng, dtype, *shape), size))
    yield Sample((make(rng, dtype, 4), 2, 2))
    yield Sample((make(rng, dtype, 3, 4), bits_of(dtype)), grad=False, value=dtype in INTEGERS or dtype == "float64")


def bits_of(dtype):
    """A dtype of the same size, other than a bool's."""
    size = getattr(tp, dtype if dtype != "bool" else "bool_").itemsize
    return {1: tp.uint8, 2: tp.int16, 4: tp.int32, 8: tp.int64, 16: tp.complex128}[size]


def view_dtype(names, s):
    """The dtype of a view, which a sample may ask for."""
    return s.args[1].name if len(s.args) > 1 and isinstance(s.args[1], tp.dtype) else names[0]


def view(a, *size):
    """view, of shapes and dtypes."""
    if isinstance(size[0], tp.dtype):
        return a.view(size[0].numpy)
    return _reshape(a, *size)


add("view", _view_samples, view, dtype=view_dtype)
same("reshape", cases(*_RESHAPES), _reshape)


def _as_samples(*pairs):
    def samples(rng, dtype):
        for a, b in pairs:
            yield sample(make(rng, dtype, *a), make(rng, dtype, *b))

    return samples


same("view_as", _as_samples(((3, 4), (3, 2, 2)), ((), (1,)), ((0, 3), (0, 3))), lambda a, b: a.reshape(b.shape))
same("reshape_as", _as_samples(((3, 4), (2, 6)), ((), (1,)), ((0, 3), (3, 0))), lambda a, b: a.reshape(b.shape))
same(
    "expand_as", _as_samples(((3, 1), (3, 4)), ((), (2, 3)), ((1, 3), (0, 3))), lambda a, b: np.broadcast_to(a, b.shape)
)
same(
    "permute",
    cases(c((2, 3, 4), 2, 0, 1), c((2, 3, 4), (0, 2, 1)), c((2, 3), -1, 0), c((), ()), c((0, 3), 1, 0)),
    lambda a, *d: a.transpose(_sizes(a, *d)),
)


def _expand(a, *size):
    size = list(_sizes(a, *size))
    lead = len(size) - a.ndim
    size = [a.shape[i - lead] if n == -1 else n for i, n in enumerate(size)]
    return np.broadcast_to(a, size)


same(
    "expand",
    cases(
        c((3, 1), 3, 4),
        c((3, 1), (2, 3, 4)),
        c((1, 3), -1, 3),
        c((), 2, 3),
        c((), ()),
        c((1, 3), 0, 3),
        c((0, 1), 0, 3),
        c((2, 1, 3), 2, 2, -1),
    ),
    _expand,
)
same(
    "broadcast_to",
    cases(c((3, 1), (3, 4)), c((), (2, 3)), c((1, 3), (0, 3)), c((0, 3), (2, 0, 3))),
    lambda a, s: np.broadcast_to(a, s),
)


def _slice(a, dim=0, start=0, end=2**63 - 1, step=1):
    at = [slice(None)] * a.ndim
    at[dim] = slice(start, end, step)
    return a[tuple(at)]


same(
    "slice",
    cases(
        c((4, 3), 0, 1, 3),
        c((4, 5), 1, 0, 5, 2),
        c((4, 5), -1, -3),
        c((4,), 0, 2, 1),
        c((5,), start=1, step=2),
        c((4, 5), dim=1, end=-1),
        c((0, 3), 0, 0, 2),
        c((0, 3), 1, 1),
    ),
    _slice,
    missing={"0-d": "has no dimension"},
)
same(
    "select",
    cases(c((4, 3), 0, 1), c((4, 3), 1, -1), c((4,), 0, 2), c((0, 3), 1, 2), c((2, 3, 4), -2, 0)),
    lambda a, d, i: np.take(a, i, axis=d),
    missing={"0-d": "has no dimension"},
)


def _narrows(rng, dtype):
    yield from cases(c((4, 3), 0, 1, 2), c((4, 3), 1, -2, 2), c((4,), 0, 1, 0), c((0, 3), 1, 1, 2))(rng, dtype)
    for start in (1, -2):
        yield Sample((make(rng, dtype, 4, 3), 0, np.array(start), 2), vary={1: lambda a, i: a - i % 2})


same(
    "narrow",
    _narrows,
    lambda a, d, i, n: np.take(a, range(int(i) % a.shape[d], int(i) % a.shape[d] + n), axis=d),
    missing={"0-d": "has no dimension"},
)
_DIAGONALS = (
    c((3, 4)),
    c((3, 4), 1),
    c((3, 4), -2),
    c((2, 3, 4), 0, 1, 2),
    c((2, 3, 4), 1, 0, -1),
    c((2, 3, 4), dim1=2, dim2=0),
    c((0, 3)),
    c((3, 4), 7),
)
same(
    "diagonal",
    cases(*_DIAGONALS),
    lambda a, offset=0, dim1=0, dim2=1: np.diagonal(a, offset, dim1, dim2),
    missing={"0-d": "has no diagonal"},
)
same(
    "unsqueeze",
    cases(c((3, 4), 0), c((3, 4), 1), c((3, 4), -1), c((), 0), c((0, 3), 2)),
    lambda a, d: np.expand_dims(a, d),
)
same("contiguous", cases(c((3, 4)), c(()), c((0, 3)), c((2, 1, 3))), lambda a: a)


def _flatten(a, start_dim=0, end_dim=-1):
    if a.ndim == 0:
        return a.reshape(1)
    i, j = start_dim % a.ndim, end_dim % a.ndim
    n = int(np.prod(a.shape[i : j + 1], dtype=int))
    return a.reshape(*a.shape[:i], n, *a.shape[j + 1 :])


same(
    "flatten",
    cases(c((2, 3, 4)), c((2, 3, 4), 1), c((2, 3, 4), 0, 1), c((2, 3, 4), end_dim=-2), c(()), c((0, 3)), c((3,))),
    _flatten,
)
same("ravel", cases(c((2, 3, 4)), c(()), c((0, 3))), lambda a: a.reshape(-1))


def _unflatten(a, dim, sizes):
    dim %= a.ndim
    known = int(np.prod([n for n in sizes if n != -1], dtype=int))
    sizes = [a.shape[dim] // known if n == -1 else n for n in sizes]
    return a.reshape(*a.shape[:dim], *sizes, *a.shape[dim + 1 :])


same(
    "unflatten",
    cases(c((3, 4), 1, (2, 2)), c((6, 2), 0, (3, -1)), c((3, 4), -1, (4, 1)), c((0, 4), 1, (2, 2))),
    _unflatten,
    missing={"0-d": "has no dimension"},
)
same(
    "transpose",
    cases(c((3, 4), 0, 1), c((2, 3, 4), -1, 0), c((2, 3, 4), 1, 1), c((0, 3), 0, 1), c((), 0, 0), c((), -1, 0)),
    lambda a, i, j: np.swapaxes(a, i, j) if a.ndim else a,
)
alias("transpose", "swapaxes", "swapdims")
same("t", cases(c((3, 4)), c((3,)), c(()), c((0, 3))), np.transpose)
same(
    "adjoint",
    cases(c((3, 4)), c((2, 3, 4)), c((0, 3))),
    lambda a: np.conj(np.swapaxes(a, -1, -2)),
    missing={"0-d": "needs a matrix"},
)
same(
    "movedim",
    cases(c((2, 3, 4), 0, 2), c((2, 3, 4), (0, 1), (2, 0)), c((2, 3, 4), -1, 0), c((0, 3), 0, 1), c((), (), ())),
    np.moveaxis,
)
alias("movedim", "moveaxis")


def _squeeze(a, dim=None):
    if dim is None:
        return np.squeeze(a)
    dims = (dim,) if isinstance(dim, int) else dim
    return np.squeeze(a, tuple(d % max(a.ndim, 1) for d in dims if a.ndim and a.shape[d] == 1))


same(
    "squeeze",
    cases(
        c((2, 1, 3)), c((1, 1)), c((2, 1, 3), 1), c((2, 1, 3), 0), c((2, 1, 3, 1), (1, -1)), c(()), c((), 0), c((0, 1))
    ),
    _squeeze,
)

# ---- lists of views ----


def _split(a, split_size, dim=0):
    n = a.shape[dim]
    if isinstance(split_size, int):
        sizes = [min(split_size, n - i) for i in range(0, n, split_size)] if n else [0]
    else:
        sizes = split_size
    return tuple(np.split(a, np.cumsum(sizes)[:-1], axis=dim)) if len(sizes) > 1 else (a,)


_SPLITS = (
    c((5, 3), 2),
    c((5, 3), 2, 1),
    c((5, 3), (1, 4)),
    c((5, 3), [2, 0, 1], dim=-1),
    c((5,), 7),
    c((0, 3), 2),
    c((0, 3), 2, 1),
    c((2, 19), 2, 1),
)
_FIRST = {"0-d": "has no dimension"}


def _lists(name, samples, reference, **options):
    options.setdefault("dtype", lambda names, s: (names[0],) * len(reference(*s.args, **s.kwargs)))
    add(name, samples, reference, **{"missing": _FIRST, **options})


_lists("split", cases(*_SPLITS), _split)
_lists(
    "split_with_sizes",
    cases(c((5, 3), (1, 4)), c((5, 3), [2, 0, 1], 1), c((0, 3), (0, 0)), c((13, 2), (1, 2, 0, 3, 2, 1, 1, 0, 2, 1))),
    _split,
)
alias("split", "unsafe_split")
alias("split_with_sizes", "unsafe_split_with_sizes")


def _tensor_split(a, at, dim=0):
    return tuple(np.array_split(a, int(at) if np.ndim(at) == 0 else at, axis=dim))


def _tensor_splits(rng, dtype):
    yield from cases(
        c((5, 3), 2), c((5, 3), 4, 1), c((5, 3), (1, 3)), c((5, 3), (2, 1, 9), 1), c((5, 3), (1, -1)), c((0, 3), 2),
        c((11, 2), 9),
    )(rng, dtype)
    for at, dim in ((np.array(2), 0), (np.array([1, 2]), 1)):
        yield Sample((make(rng, dtype, 5, 3), at, dim), fixed=(1,))


_lists("tensor_split", _tensor_splits, _tensor_split)


def _chunk(a, chunks, dim=0):
    n = a.shape[dim]
    size = -(-n // chunks)
    return _split(a, size, dim) if size else (a,) * chunks


_CHUNKS = c((5, 3), 2), c((5, 3), 3, 1), c((5,), 7), c((0, 3), 2, 1), c((6, 2), 4), c((0, 3), 3), c((2, 11), 10, 1)
_lists("chunk", cases(*_CHUNKS), _chunk)
alias("chunk", "unsafe_chunk")
_lists(
    "unbind",
    cases(c((3, 4)), c((3, 4), 1), c((3,)), c((2, 3, 4), -1), c((2, 0)), c((11, 2))),
    lambda a, dim=0: tuple(np.moveaxis(a, dim, 0)),
)

# ---- turned around ----


def _flip(a, *dims):
    return np.flip(a, tuple(_sizes(a, *dims)))


same("flip", cases(c((3, 4), 0), c((3, 4), (0, 1)), c((3, 4), -1), c((2, 3, 4), 0, 2), c((0, 3), 1), c((), ())), _flip)
same("fliplr", cases(c((3, 4)), c((2, 3, 2)), c((0, 3))), np.fliplr, missing={"0-d": "needs two dimensions"})
same("flipud", cases(c((3, 4)), c((3,)), c((0, 3))), np.flipud, missing={"0-d": "needs a dimension"})


def _roll(a, shifts, dims=()):
    if isinstance(dims, int):
        dims = (dims,)
    return (
        np.roll(a, shifts, tuple(dims)) if len(dims) else np.roll(a, shifts if isinstance(shifts, int) else shifts[0])
    )


same(
    "roll",
    cases(
        c((3, 4), 1),
        c((3, 4), -2, 1),
        c((3, 4), (1, 2), (0, 1)),
        c((3, 4), (5, -1), dims=(1, 1)),
        c((0, 3), 1, 0),
        c((), 1),
        c((2, 3, 4), 2, -1),
    ),
    _roll,
)
same(
    "rot90",
    cases(c((3, 4)), c((3, 4), 2), c((3, 4), -1), c((2, 3, 4), 1, (1, 2)), c((2, 3, 4), k=3, dims=[0, -1]), c((0, 3))),
    lambda a, k=1, dims=(0, 1): np.rot90(a, k, dims),
    missing={"0-d": "needs a plane"},
)
for _name, _fn in (("tril", np.tril), ("triu", np.triu)):
    same(
        _name,
        cases(c((3, 4)), c((3, 4), 1), c((4, 3), -1), c((2, 3, 3), 0), c((0, 3)), c((3, 3), diagonal=-7)),
        lambda a, diagonal=0, fn=_fn: fn(a, diagonal),
        missing={"0-d": "needs a matrix"},
    )
same(
    "diag",
    cases(c((3,)), c((3,), 1), c((3,), -2), c((3, 4)), c((3, 4), 1), c((3, 4), diagonal=-1), c((0,)), c((0, 3))),
    lambda a, diagonal=0: np.diag(a, diagonal),
    missing={"0-d": "needs a vector or a matrix"},
)


def _diag_embed(a, offset=0, dim1=-2, dim2=-1):
    n = a.shape[-1] + abs(offset)
    out = np.zeros((*a.shape[:-1], n, n), a.dtype)
    i = np.arange(a.shape[-1])
    out[..., i + max(-offset, 0), i + max(offset, 0)] = a
    dim1, dim2 = dim1 % out.ndim, dim2 % out.ndim
    if dim1 > dim2:
        out, dim1, dim2 = np.swapaxes(out, -1, -2), dim2, dim1
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


same(
    "diag_embed",
    cases(c((3,)), c((2, 3)), c((2, 3), 1), c((2, 3), -1, 0, 2), c((2, 3), 1, dim1=1, dim2=0), c((0, 3)), c((2, 0))),
    _diag_embed,
    missing={"0-d": "needs a dimension"},
)
same(
    "diagflat",
    cases(c((3,)), c((2, 2)), c((3,), 1), c((), 0), c((3,), offset=-1), c((0,))),
    lambda a, offset=0: np.diagflat(a, offset),
)

# ---- repeated ----


def _tile(a, *counts):
    return np.tile(a, tuple(_sizes(a, *counts)))


_TILES = (c((3, 2), 2, 1), c((3, 2), (2, 1, 3)), c((3, 2), 1, 0), c((), 2), c((), ()), c((0, 3), 2, 2))
same("repeat", cases(*_TILES), _tile)
same("tile", cases(*_TILES, c((2, 3), 2)), _tile)


def _repeat_interleaves(rng, dtype):
    yield from cases(
        c((3, 2), 2), c((3, 2), 3, 0), c((3, 2), 2, -1), c((3, 2), 0, dim=1), c((), 2), c((0, 3), 2, 1),
        c((3, 2), 2, 0, output_size=6),
    )(rng, dtype)  # fmt: skip
    roll = {1: np.roll}
    yield Sample((make(rng, dtype, 3, 2), np.array([1, 0, 2])), {"dim": 0, "output_size": 3}, vary=roll)
    yield Sample((make(rng, dtype, 3, 2), np.array([2, 3])), {"dim": -1}, fixed=(1,))
    yield Sample((make(rng, dtype, 4), np.array([1, 2, 0, 1])), {"output_size": 4}, vary=roll)
    yield Sample((make(rng, dtype, 3, 2), np.array(2), 1), fixed=(1,))
    yield Sample((np.array([1, 0, 3]),), {"output_size": 4}, vary={0: np.roll})


def _repeat(a, n=None, dim=None, output_size=None):
    return np.repeat(np.arange(len(a)), a) if n is None else np.repeat(a, n, axis=dim)


same("repeat_interleave", _repeat_interleaves, _repeat)


def _unfold(a, dim, size, step):
    if a.ndim == 0:
        return np.broadcast_to(a, (size,))
    windows = np.lib.stride_tricks.sliding_window_view(a, size, axis=dim)
    return windows[(*([slice(None)] * (dim % a.ndim)), slice(None, None, step))]


same(
    "unfold",
    cases(
        c((7,), 0, 3, 2),
        c((3, 5), 1, 2, 1),
        c((5, 3), 0, 2, 3),
        c((3, 4), -1, 4, 1),
        c((0, 4), 1, 2, 2),
        c((), 0, 1, 1),
        c((5,), 0, 2, 1),
    ),
    _unfold,
)
