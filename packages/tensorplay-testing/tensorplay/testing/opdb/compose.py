# ruff: noqa: F403, F405
"""Operators on several tensors that move elements: cat, stack, meshgrid, scatters into views."""

import numpy as np

from ._base import *


def _of_lists(*groups, **kwargs):
    """Samples of one list of tensors: groups of (shapes, args, kwargs)."""

    def samples(rng, dtype):
        for shapes, *rest in groups:
            args = [x for x in rest if not isinstance(x, dict)]
            kw = next((x for x in rest if isinstance(x, dict)), {})
            yield Sample(([make(rng, dtype, *s) for s in shapes], *args), kw)
        if kwargs.get("mixed", True) and dtype in ("float64", "int64", "complex128"):
            s = groups[0][0]
            yield Sample(([make(rng, dtype, *s[0]), make(rng, "float32", *s[-1])],), grad=False, note="mixed")

    return samples


def _cat(xs, dim=0):
    kept = [x for x in xs if x.shape != (0,)] or xs[:1]
    return np.concatenate(kept, dim)


def _common(names, s):
    return promote([(n, a.ndim > 0) for n, a in zip(names, s.arrays())])


_CATS = _of_lists(
    (((2, 3), (4, 3)),),
    (((2, 3), (2, 1)), 1),
    (((2, 3), (2, 3), (2, 1)), -1),
    (((3,), (2,)),),
    (((0, 3), (2, 3)),),
    (((0,), (2, 3)), {"dim": 1}),
    (((2, 3),),),
    (((2, 0), (2, 0)), 0),
)
add("cat", _CATS, _cat, dtype=_common, missing={"0-d": "can't be joined"})
alias("cat", "concat", "concatenate")
add(
    "stack",
    _of_lists((((2, 3), (2, 3)),), (((2, 3),) * 3, 1), (((), ()),), (((0, 3), (0, 3)), -1), (((2,), (2,)), {"dim": 1})),
    lambda xs, dim=0: np.stack(xs, dim),
    dtype=_common,
)
add(
    "hstack",
    _of_lists((((2, 3), (2, 1)),), (((3,), (2,)),), (((), ()),), (((0, 3), (0, 3)),)),
    np.hstack,
    dtype=_common,
)
add(
    "vstack",
    _of_lists((((2, 3), (1, 3)),), (((3,), (3,)),), (((), ()),), (((0, 3), (0, 3)),)),
    np.vstack,
    dtype=_common,
)
alias("vstack", "row_stack")
add(
    "dstack",
    _of_lists((((2, 3), (2, 3)),), (((3,), (3,)),), (((), ()),), (((0, 3), (0, 3)),)),
    np.dstack,
    dtype=_common,
)
add(
    "column_stack",
    _of_lists((((2, 3), (2, 1)),), (((3,), (3,)),), (((), ()),), (((0, 3), (0, 3)),)),
    np.column_stack,
    dtype=_common,
)


def _each(names, s):
    return tuple(names)


def _grids(rng, dtype):
    yield Sample(([make(rng, dtype, 2), make(rng, dtype, 3)],))
    yield Sample(([make(rng, dtype, 2), make(rng, dtype, 3)],), {"indexing": "xy"})
    yield Sample(([make(rng, dtype, 2), make(rng, dtype), make(rng, dtype, 3)],), {"indexing": "ij"})
    yield Sample(([make(rng, dtype, 2), make(rng, dtype, 3), make(rng, dtype, 2)],), {"indexing": "xy"})
    yield Sample(([make(rng, dtype, 0), make(rng, dtype, 3)],))
    yield Sample(([make(rng, dtype, 3)],))


add("meshgrid", _grids, lambda xs, indexing="ij": tuple(np.meshgrid(*xs, indexing=indexing)), dtype=_each)
add(
    "broadcast_tensors",
    _of_lists((((3, 1), (4,)),), (((), (2, 3), (3,)),), (((0, 3), (1, 3)),), (((2,),),), mixed=False),
    lambda xs: tuple(np.broadcast_arrays(*xs)),
    dtype=_each,
)

for _n in (1, 2, 3):

    def _atleast(rng, dtype):
        for shape in ((), (3,), (2, 3), (2, 1, 3), (0, 3)):
            yield sample(make(rng, dtype, *shape))

    add(f"atleast_{_n}d", _atleast, getattr(np, f"atleast_{_n}d"), dtype="same")


def _copy_samples(rng, dtype):
    for a, b in (((3, 4), (3, 4)), ((2, 3), (3,)), ((), ()), ((0, 3), (3,)), ((2, 3), ())):
        yield sample(make(rng, dtype, *a), make(rng, dtype, *b))
    if dtype in ("float64", "complex128", "int64"):
        yield Sample((make(rng, dtype, 2, 3), make(rng, "int64", 3)), note="cast")


add("copy", _copy_samples, lambda a, b: np.broadcast_to(b, a.shape).astype(a.dtype), dtype="same")


def _into(*calls):
    def samples(rng, dtype):
        for shape, src, *args in calls:
            kw = args.pop() if args and isinstance(args[-1], dict) else {}
            yield Sample((make(rng, dtype, *shape), make(rng, dtype, *src), *args), kw)

    return samples


def _put(a, src, at):
    out = np.array(a)
    out[at] = src
    return out


def _at(a, dim, index):
    full = [slice(None)] * a.ndim
    full[dim] = index
    return tuple(full)


add(
    "select_scatter",
    _into(((3, 4), (4,), 0, 1), ((3, 4), (3,), 1, -1), ((3,), (), 0, 2), ((0, 3), (0,), 1, 0)),
    lambda a, s, dim, index: _put(a, s, _at(a, dim, index)),
    dtype="same",
)
add(
    "slice_scatter",
    _into(
        ((5, 3), (2, 3), 0, 1, 3),
        ((4, 6), (4, 3), 1, 0, 6, 2),
        ((5,), (2,), 0, -2),
        ((0, 3), (0, 2), {"dim": 1, "start": 1}),
        ((5,), (3,), {"step": 2}),
        ((4, 5), (4, 4), {"dim": 1, "end": -1}),
    ),
    lambda a, s, dim=0, start=0, end=2**63 - 1, step=1: _put(a, s, _at(a, dim, slice(start, end, step))),
    dtype="same",
    missing={"0-d": "has no dimension"},
)


def _diagonal_scatter(a, s, offset=0, dim1=0, dim2=1):
    out = np.array(a)
    view = np.diagonal(out, offset, dim1, dim2)
    view.flags.writeable = True
    view[...] = s
    return out


add(
    "diagonal_scatter",
    _into(
        ((3, 4), (3,)),
        ((3, 4), (3,), 1),
        ((2, 3, 4), (2, 2), -1, 1, 2),
        ((2, 3, 4), (3, 2), 0, 0, -1),
        ((2, 3, 4), (3, 2), {"dim1": 2, "dim2": 0}),
        ((0, 3), (0,)),
    ),
    _diagonal_scatter,
    dtype="same",
    missing={"0-d": "has no diagonal"},
)
