# ruff: noqa: F403, F405
"""Products of vectors, matrices and tensors."""

import numpy as np

from ._base import *


def products(name, *pairs, reference, dtypes=NUMBERS, mixed=True, **options):
    def samples(rng, dtype):
        for shapes in pairs:
            yield Sample(tuple(make(rng, dtype, *s) for s in shapes))
        if mixed and dtype in ("float64", "complex128"):
            yield Sample((make(rng, dtype, *pairs[0][0]), make(rng, "float32", *pairs[0][1])), grad=False, note="mixed")

    add(name, samples, reference, dtypes=dtypes, scale=options.pop("scale", 10), **options)


_RIGID = {"0-d": "has no dimension", "broadcast": "shapes are given"}
_MATMUL = (
    ((2, 3), (3, 4)),
    ((3,), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((2, 3, 4), (2, 4, 3)),
    ((2, 1, 3, 4), (3, 4, 2)),
    ((2, 3, 4), (4,)),
    ((3,), (2, 3, 4)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((2, 0, 3), (2, 3, 4)),
    ((1, 1), (1, 1)),
    ((5, 2, 3), (3, 2)),
)
products("matmul", *_MATMUL, reference=np.matmul, missing={"0-d": "is not allowed"})
products(
    "mm",
    ((2, 3), (3, 4)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((3, 3), (3, 3)),
    ((1, 2), (2, 1)),
    reference=np.matmul,
    missing={"0-d": "needs matrices"},
)
products(
    "bmm", ((2, 3, 4), (2, 4, 3)), ((0, 3, 4), (0, 4, 2)), ((2, 3, 0), (2, 0, 2)), reference=np.matmul, missing=_RIGID
)
products(
    "mv",
    ((2, 3), (3,)),
    ((0, 3), (3,)),
    ((2, 0), (0,)),
    reference=np.matmul,
    missing={"0-d": "needs a matrix and a vector"},
)
products("dot", ((3,), (3,)), ((0,), (0,)), ((1,), (1,)), reference=np.dot, missing=_RIGID)
products("vdot", ((3,), (3,)), ((0,), (0,)), reference=lambda a, b: np.sum(np.conj(a) * b), missing=_RIGID)
products(
    "inner",
    ((3,), (3,)),
    ((2, 3), (4, 3)),
    ((2, 2, 3), (3,)),
    ((), (3,)),
    ((), ()),
    ((0, 3), (2, 3)),
    ((2, 0), (3, 0)),
    reference=np.inner,
)
products(
    "outer", ((3,), (4,)), ((0,), (3,)), ((1,), (2,)), reference=np.outer, missing={"0-d": "needs vectors"}, dtypes=ALL
)
alias("outer", "ger")
products(
    "kron",
    ((2, 3), (3, 2)),
    ((3,), (2, 2)),
    ((), (3,)),
    ((), ()),
    ((0, 3), (2, 1)),
    ((2, 1, 2), (2,)),
    reference=np.kron,
    dtypes=ALL,
)


def _fused(shapes, more, reference):
    """beta * self + alpha * product."""

    def samples(rng, dtype):
        def draw(s):
            return tuple(make(rng, dtype, *x) for x in s)

        for s in (shapes, *more):
            yield Sample(draw(s))
        if dtype != "bool":
            yield Sample(draw(shapes), {"beta": 2, "alpha": 3})
        if dtype in INEXACT:
            yield Sample(draw(shapes), {"beta": 0.5, "alpha": -1.5})
            yield Sample(draw(shapes), {"beta": 0})
        if dtype in COMPLEX:
            yield Sample(draw(shapes), {"beta": 1j, "alpha": 1 - 1j})

    def value(c, a, b, beta=1, alpha=1):
        if c.dtype == bool:
            return np.logical_or(c, reference(a, b))
        return (beta * c if beta != 0 else 0) + alpha * reference(a, b)

    return samples, value


for _name, _shapes, _more, _ref in (
    (
        "addmm",
        ((2, 4), (2, 3), (3, 4)),
        (((4,), (2, 3), (3, 4)), ((), (2, 3), (3, 4)), ((2, 4), (2, 0), (0, 4)), ((0, 4), (0, 3), (3, 4))),
        np.matmul,
    ),
    ("addmv", ((2,), (2, 3), (3,)), (((), (2, 3), (3,)), ((1,), (2, 3), (3,)), ((2,), (2, 0), (0,))), np.matmul),
    ("addr", ((2, 3), (2,), (3,)), (((), (2,), (3,)), ((3,), (2,), (3,)), ((0, 3), (0,), (3,))), np.outer),
    (
        "baddbmm",
        ((2, 3, 2), (2, 3, 4), (2, 4, 2)),
        (((), (2, 3, 4), (2, 4, 2)), ((3, 1), (2, 3, 4), (2, 4, 2)), ((0, 3, 2), (0, 3, 4), (0, 4, 2))),
        np.matmul,
    ),
    (
        "addbmm",
        ((3, 2), (2, 3, 4), (2, 4, 2)),
        (((), (2, 3, 4), (2, 4, 2)), ((2,), (2, 3, 4), (2, 4, 2)), ((3, 2), (0, 3, 4), (0, 4, 2))),
        lambda a, b: np.matmul(a, b).sum(0),
    ),
):
    _samples, _reference = _fused(_shapes, _more, _ref)
    add(_name, _samples, _reference, dtypes=ALL if _name == "addr" else NUMBERS, scale=10)


def _einsum_calls(rng, dtype):
    for equation, *shapes in (
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("ij->ji", (2, 3)),
        ("ii->i", (3, 3)),
        ("ij,ij->", (2, 3), (2, 3)),
        ("i,j->ij", (2,), (3,)),
        ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
        ("...ij,jk->...ik", (2, 2, 3), (3, 2)),
        ("ij,jk", (2, 3), (3, 2)),
        ("ij->i", (2, 3)),
        ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
        (",i->i", (), (3,)),
        ("ij,jk->ik", (0, 3), (3, 2)),
        ("ij,jk->ik", (2, 0), (0, 2)),
        ("b...,b...->...", (2, 3), (2, 3)),
        ("ij,kj->ik", (2, 3), (4, 3)),
        ("ijk,ilk->jl", (2, 3, 4), (2, 3, 4)),
    ):
        yield Sample((equation, [make(rng, dtype, *s) for s in shapes]))


add(
    "einsum",
    _einsum_calls,
    lambda e, xs: np.einsum(e, *xs),
    dtypes=NUMBERS,
    scale=10,
    dtype=lambda n, s: n[0],
    missing={"broadcast": "a list"},
)


def _tensordot_calls(rng, dtype):
    for a, b, *dims in (
        ((2, 3, 4), (3, 4, 2)),
        ((2, 3), (3, 4), 1),
        ((2, 3), (4,), 0),
        ((), (3,), 0),
        ((2, 3, 4), (4, 2, 3), [0, 1], [1, 2]),
        ((2, 3), (3, 2), (1, 0), (0, 1)),
        ((0, 3), (3, 2), 1),
        ((2, 3), (2, 3)),
    ):
        yield Sample((make(rng, dtype, *a), make(rng, dtype, *b), *dims))


def _tensordot(a, b, dims=2, other=None):
    return np.tensordot(a, b, dims if other is None else (list(dims), list(other)))


add("tensordot", _tensordot_calls, _tensordot, dtypes=NUMBERS, scale=10)


def _trace_calls(rng, dtype):
    for shape in ((3, 4), (3, 3), (0, 3), (1, 1)):
        yield sample(make(rng, dtype, *shape))


add(
    "trace",
    _trace_calls,
    lambda a: np.trace(a.astype(np.int64) if a.dtype.kind in "biu" else a),
    missing={"0-d": "needs a matrix"},
    dtype=lambda n, s: "int64" if n[0] in BOOL + INTEGERS else n[0],
)


def _linear_calls(rng, dtype):
    for x, w, b in (
        ((2, 3), (4, 3), (4,)),
        ((3,), (4, 3), (4,)),
        ((2, 2, 3), (4, 3), None),
        ((2, 3), (3,), None),
        ((2, 3), (3,), ()),
        ((0, 3), (4, 3), (4,)),
        ((2, 0), (4, 0), (4,)),
    ):
        args = (make(rng, dtype, *x), make(rng, dtype, *w))
        yield Sample(args if b is None else (*args, make(rng, dtype, *b)))
    yield Sample((make(rng, dtype, 2, 3), make(rng, dtype, 4, 3)), {"bias": make(rng, dtype, 4)})


add(
    "nn.functional.linear",
    _linear_calls,
    lambda x, w, bias=None: x @ w.T + (0 if bias is None else bias),
    dtypes=NUMBERS,
    scale=10,
)
