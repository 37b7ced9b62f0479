# ruff: noqa: F403, F405
"""Views by strides or as another dtype, copies of views, and what cuts by positions."""

import dataclasses

import numpy as np

from ._base import *
from .shape import _lists, _split, bits_of, c, cases, same, view, view_dtype

# ---- by strides ----

_STRIDED = (
    c((12,), (3, 4), (4, 1)),
    c((12,), (3, 3), (1, 1)),
    c((12,), (2, 2), (0, 3), 2),
    c((12,), (), (), 5),
    c((12,), (0, 3), (1, 1)),
    c((5,), (2, 2), (2, 1), storage_offset=1),
    c((), (3,), (0,)),
    c((0,), (0, 2), (2, 1)),
)


def _as_strided(a, size, stride, storage_offset=None):
    flat = a.reshape(-1)[storage_offset or 0 :]
    return (
        np.lib.stride_tricks.as_strided(flat, size, [s * a.itemsize for s in stride]) if flat.size else np.zeros(size)
    )


def _strided(rng, dtype):
    """Values depend on memory: mapped over any but the first dimension, it is another function."""
    for s in cases(*_STRIDED)(rng, dtype):
        yield dataclasses.replace(s, fixed=(0,))


same("as_strided", _strided, _as_strided, layouts=False)
same("as_strided_copy", _strided, _as_strided, layouts=False)

# ---- as another dtype ----


def _to_real(names, s):
    return to_real(names[0])


_COMPLEX = cases(c((3, 2)), c(()), c((0, 3)), c((4,)))
_PAIRS = cases(c((3, 4, 2)), c((2,)), c((0, 2)))


def _pairs(a):
    return np.stack([a.real, a.imag], -1)


for _name in ("view_as_real", "view_as_real_copy"):
    add(_name, _COMPLEX, _pairs, dtypes=COMPLEX, dtype=_to_real, grad=("complex128",))
for _name in ("view_as_complex", "view_as_complex_copy"):
    add(
        _name,
        _PAIRS,
        lambda a: a[..., 0] + 1j * a[..., 1],
        dtypes=("float32", "float64"),
        dtype=lambda names, s: to_complex(names[0]),
        missing={"0-d": "has no last dimension"},
        layouts=False,
    )

# ---- copies of views ----

_NO_DIM = {"0-d": "has no dimension"}


def _copy(of, *calls, **options):
    """An entry of the operator `of` under the name `<of>_copy`, with samples of its own where arguments differ."""
    entry = ENTRIES[of]
    samples = cases(*calls) if calls else entry.samples
    ENTRIES[of + "_copy"] = dataclasses.replace(entry, name=of + "_copy", samples=samples, **options)


_copy("expand", c((3, 1), (2, 3, 4)), c((), (2, 3)), c((1, 3), [0, 3]), c((0, 1), (0, 3)))
_copy("permute", c((2, 3, 4), (2, 0, 1)), c((), ()), c((0, 3), (1, 0)))
for _name in ("diagonal", "narrow", "squeeze", "unsqueeze", "transpose", "t", "unfold", "select", "slice", "unbind"):
    _copy(_name)
_copy("split_with_sizes")
same("alias_copy", cases(c((3, 4)), c(()), c((0, 3))), lambda a: a)
_lists("split_copy", cases(c((5, 3), 2), c((5, 3), 2, 1), c((5,), 7), c((0, 3), 2)), _split)


def _view_copies(rng, dtype):
    yield from cases(c((3, 4), (3, 2, 2)), c((), ()), c((), (1,)), c((0, 3), (0, 3)), c((4,), [2, 2]))(rng, dtype)
    yield Sample((make(rng, dtype, 3, 4), bits_of(dtype)), grad=False, value=dtype in INTEGERS or dtype == "float64")


add("view_copy", _view_copies, view, dtype=view_dtype)

# ---- cut ----


def _cut(axis):
    def reference(a, at):
        return tuple(np.array_split(a, at, axis=min(axis, a.ndim - 1)))

    return reference


_lists("hsplit", cases(c((3, 4), 2), c((4,), 2), c((3, 4), (1, 3)), c((4,), [2]), c((0, 4), 2)), _cut(1))
_lists("vsplit", cases(c((4, 3), 2), c((4, 3), (1, 3)), c((0, 3), 2)), _cut(0))
_lists("dsplit", cases(c((2, 3, 4), 2), c((2, 3, 4), (1, 3)), c((0, 2, 2), 2)), _cut(2))


def _positions(rng, dtype):
    for shape in ((3, 4), (), (0, 2)):
        yield sample(np.asarray(rng.integers(0, 24, shape), dtype), (2, 3, 4))
    yield sample(np.asarray(rng.integers(0, 6, (5,)), dtype), 6)


_lists(
    "unravel_index",
    _positions,
    lambda a, shape: tuple(np.unravel_index(a.astype(np.int64), shape)),
    dtypes=INTEGERS,
    dtype=lambda names, s: (names[0],) * np.size(s.args[1]),
    missing={},
)


def _fill_diagonal(a, value, wrap=False):
    a = a.copy()
    if a.size:
        np.fill_diagonal(a, value, wrap)
    return a


same(
    "fill_diagonal",
    cases(
        c((3, 3), 1),
        c((3, 5), 1),
        c((7, 3), 1),
        c((7, 3), 1, wrap=True),
        c((3, 3), 1, True),
        c((2, 2, 2), 1),
        c((0, 3), 1),
    ),
    _fill_diagonal,
    missing={"0-d": "has no diagonal"},
)
