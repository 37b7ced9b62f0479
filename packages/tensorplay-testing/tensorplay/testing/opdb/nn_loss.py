# ruff: noqa: F403, F405
"""Margin losses, distances, bilinear."""

import numpy as np

from ._base import *
from .nn import _REDUCTIONS, reduced

_SHAPES = {"broadcast": "the shapes must agree", "0-d": "needs a dimension"}



def entry(name, samples, reference, **options):
    options.setdefault("dtypes", FLOATS)
    options.setdefault("dtype", lambda n, s: n[0])
    options.setdefault("missing", _SHAPES)
    add(f"nn.functional.{name}", samples, reference, refuses=False, scale=10, **options)


def _distance_samples(rng, dtype):
    def x(*shape):
        return make(rng, dtype, *shape)

    for shape in ((3, 4), (4,), (0, 3), (2, 1, 3)):
        yield Sample((x(*shape), x(*shape)))
    yield Sample((x(3, 4), x(4)), {"p": 3.0, "eps": 0.01})
    yield Sample((x(3, 4), x(3, 4)), {"keepdim": True})


def _pairwise(x, y, p=2.0, eps=1e-6, keepdim=False):
    d = np.abs(x - y + eps)
    return (d**p).sum(-1, keepdims=keepdim) ** (1 / p)


entry("pairwise_distance", _distance_samples, _pairwise)


def _similarity_samples(rng, dtype):
    def x(*shape):
        return make(rng, dtype, *shape)

    for shape in ((3, 4), (0, 3), (2, 1, 3)):
        yield Sample((x(*shape), x(*shape)))
    yield Sample((x(4), x(4)), {"dim": 0})
    yield Sample((x(), x()), {"dim": 0}, grad=False)
    yield Sample((x(3, 4), x(4)), {"dim": -1, "eps": 0.5})


def _similarity(x, y, dim=1, eps=1e-8):
    x, y = np.broadcast_arrays(x, y)
    if not x.ndim:
        return x * y / (np.maximum(np.abs(x), eps) * np.maximum(np.abs(y), eps))
    a, b = (np.maximum(np.sqrt((v * v).sum(dim)), eps) for v in (x, y))
    return (x * y).sum(dim) / (a * b)


entry("cosine_similarity", _similarity_samples, _similarity)


def _bilinear_samples(rng, dtype):
    def x(*shape):
        return make(rng, dtype, *shape)

    for lead in ((), (2,), (2, 3), (0,)):
        yield Sample((x(*lead, 3), x(*lead, 2), x(4, 3, 2)))
        yield Sample((x(*lead, 3), x(*lead, 2), x(4, 3, 2), x(4)))


def _bilinear(a, b, w, bias=None):
    y = np.einsum("...i,kij,...j->...k", a, w, b)
    return y if bias is None else y + bias


entry("bilinear", _bilinear_samples, _bilinear)


def _signs(rng, dtype, *shape):
    return round_to(np.where(rng.integers(0, 2, shape), 1.0, -1.0), dtype)


def loss(name, shapes, draw, options, reference, **more):
    """draw(rng, dtype, shape): the arguments; each shape with each reduction, then each of the options."""

    def samples(rng, dtype):
        for shape in shapes:
            for reduction in _REDUCTIONS:
                yield Sample(draw(rng, dtype, shape), {} if reduction == "mean" else {"reduction": reduction})
        for o in options:
            o = o(rng, dtype) if callable(o) else o
            yield Sample(draw(rng, dtype, shapes[0]), dict(o))

    def of(*args, reduction="mean", **kwargs):
        return reduced(reference(*args, **kwargs), reduction)

    entry(name, samples, of, **more)


_ANY = ((3, 4), (), (2, 1, 3))
_BROAD = {"broadcast": "shown by the losses of pairs", "empty": "a mean of nothing"}


def _signed(rng, dtype, shape):
    return make(rng, dtype, *shape), _signs(rng, dtype, *shape)


loss("soft_margin_loss", _ANY, _signed, (), lambda x, y: np.logaddexp(0, -x * y), missing=_BROAD)
loss(
    "hinge_embedding_loss",
    _ANY,
    _signed,
    ({"margin": 0.3},),
    lambda x, y, margin=1.0: np.where(y != 1, np.maximum(margin - x, 0), 0) + np.where(y != -1, x, 0),
    missing=_BROAD,
)
loss(
    "margin_ranking_loss",
    _ANY,
    lambda rng, dtype, shape: (make(rng, dtype, *shape), *_signed(rng, dtype, shape)),
    ({"margin": 0.3},),
    lambda a, b, y, margin=0.0: np.maximum(-y * (a - b) + margin, 0),
    missing=_BROAD,
)


def _soft(x, y, weight=None):
    v = y * np.logaddexp(0, -x) + (1 - y) * np.logaddexp(0, x)
    return (v if weight is None else v * weight).mean(-1)


loss(
    "multilabel_soft_margin_loss",
    ((3, 4), (4,), (2, 1, 3)),
    lambda rng, dtype, shape: (make(rng, dtype, *shape), make(rng, dtype, *shape, low=0.0, high=1.0)),
    (lambda rng, dtype: {"weight": make(rng, dtype, 4, low=0.5, high=1.5)},),
    _soft,
    missing={**_BROAD, "0-d": "needs a dimension"},
)


def _triplet(a, p_, n, margin=1.0, p=2, eps=1e-6, swap=False):
    far = _pairwise(a, n, p, eps)
    if swap:
        far = np.minimum(far, _pairwise(p_, n, p, eps))
    return np.maximum(_pairwise(a, p_, p, eps) - far + margin, 0)


loss(
    "triplet_margin_loss",
    ((3, 4), (4,), (2, 1, 3)),
    lambda rng, dtype, shape: tuple(make(rng, dtype, *shape) for _ in range(3)),
    ({"margin": 0.3}, {"p": 3.0, "eps": 0.01}, {"swap": True}),
    _triplet,
    missing={**_BROAD, "0-d": "needs a dimension"},
)


def _cosine(a, b, y, margin=0.0):
    c = (a * b).sum(-1) / np.sqrt(((a * a).sum(-1) + 1e-12) * ((b * b).sum(-1) + 1e-12))
    return np.where(y == 1, 1 - c, np.maximum(c - margin, 0))


loss(
    "cosine_embedding_loss",
    ((3, 4), (4,)),
    lambda rng, dtype, shape: (
        make(rng, dtype, *shape),
        make(rng, dtype, *shape),
        np.where(rng.integers(0, 2, shape[:-1]), 1, -1),
    ),
    ({"margin": -0.4},),
    _cosine,
    missing={**_BROAD, "0-d": "needs a dimension"},
)


def _poisson(x, t, log_input=True, full=False, eps=1e-8):
    v = np.exp(x) - t * x if log_input else x - t * np.log(x + eps)
    if full:
        u = np.where(t > 1, t, 2.0)
        v = v + np.where(t > 1, u * np.log(u) - u + 0.5 * np.log(2 * np.pi * u), 0.0)
    return v


loss(
    "poisson_nll_loss",
    _ANY,
    lambda rng, dtype, shape: (
        make(rng, dtype, *shape, low=0.2, high=2.0),
        round_to(make(rng, dtype, *shape, low=1.2, high=4.0) - (rng.uniform() < 0.5), dtype),
    ),
    ({"full": True}, {"log_input": False}, {"log_input": False, "eps": 0.1, "full": True}),
    _poisson,
    missing=_BROAD,
)


def _multi(x, t, p=1, margin=1.0, weight=None):
    flat = x.ndim == 1
    x, t = np.atleast_2d(x), np.atleast_1d(t)
    n = np.arange(len(t))
    z = np.maximum(margin - x[n, t][:, None] + x, 0) ** p
    if weight is not None:
        z = z * weight[t][:, None]
    z[n, t] = 0
    v = z.sum(1) / x.shape[1]
    return v[0] if flat else v


loss(
    "multi_margin_loss",
    ((3, 4), (4,)),
    lambda rng, dtype, shape: (make(rng, dtype, *shape), np.asarray(rng.integers(0, 4, shape[:-1]))),
    ({"p": 2}, {"margin": 0.3}, lambda rng, dtype: {"weight": make(rng, dtype, 4, low=0.5, high=1.5)}),
    _multi,
    missing={**_BROAD, "0-d": "needs a dimension"},
)


def _labels(rng, dtype, shape):
    t = np.asarray([[2, 0, -1, 1], [-1, 1, 2, 3], [3, 1, 0, 2]])
    return make(rng, dtype, *shape), t if len(shape) == 2 else t[0]


def _multilabel(x, t):
    flat = x.ndim == 1
    x, t = np.atleast_2d(x), np.atleast_2d(t)
    out = []
    for row, labels in zip(x, t, strict=True):
        chosen = [int(k) for k in labels[: next((i for i, k in enumerate(labels) if k < 0), len(labels))]]
        others = [j for j in range(len(row)) if j not in chosen]
        out.append(sum(max(0.0, 1 - row[i] + row[j]) for i in chosen for j in others) / len(row))
    return np.asarray(out[0] if flat else out, float)


loss(
    "multilabel_margin_loss",
    ((3, 4), (4,)),
    _labels,
    (),
    _multilabel,
    missing={**_BROAD, "0-d": "needs a dimension"},
)
