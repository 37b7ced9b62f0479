# ruff: noqa: F403, F405
"""Functions of matrices and of sets of points."""

import numpy as np

from ._base import *
from .linalg_solve import _NONE, _SQUARE, call, lapack

_POINTS = ("float32", "float64")


def _exp_samples(rng, dtype):
    for shape in _SQUARE:
        yield call(make(rng, dtype, *shape, low=-1, high=1))
    yield call(round_to(make(rng, dtype, 3, 3, low=-1, high=1) * 6, dtype), grad=False)
    yield call(round_to(np.eye(3, k=1) + 2 * np.eye(3), dtype))  # a Jordan block


def _expm(a):
    import scipy.linalg

    return scipy.linalg.expm(a.astype("c16")) if a.size else a


def _real_where(function):
    def reference(a):
        r = function(a)
        return r if a.dtype.kind == "c" else r.real

    return reference


for _name in ("linalg.matrix_exp", "matrix_exp"):
    lapack(_name, _exp_samples, _real_where(_expm))


def _norms(d, p):
    x = np.abs(d)
    if p == 0:
        return (x != 0).sum(-1).astype(d.dtype)
    if p == float("inf"):
        return x.max(-1, initial=0)
    return (x**p).sum(-1) ** (1 / p)


# Points whose differences are neither zero nor equal in both coordinates, where the norms have kinks.
_APART = np.array([[0.0, 0.5], [3.0, 1.6], [7.0, -0.9], [12.5, 2.1]])


def _cdist_samples(rng, dtype):
    for a, b in (((3, 2), (4, 2)), ((2, 3, 2), (2, 1, 2)), ((3, 2), (2, 2, 2)), ((0, 2), (3, 2)), ((2, 0), (3, 0)),
                 ((1, 20), (30, 20))):  # fmt: skip
        yield Sample((make(rng, dtype, *a), make(rng, dtype, *b)), grad=b[-1] > 0 or a[0] == 0)
    for p in (1.0, 3.5, 0.5, float("inf"), 0.0):
        yield call(round_to(_APART[:3], dtype), round_to(_APART[:2] + np.array([20, 4.2]), dtype), p=p)
    yield Sample((make(rng, dtype, 3, 2), make(rng, dtype, 2, 2)), {"compute_mode": "use_mm_for_euclid_dist"})


def _cdist(a, b, p=2.0, compute_mode=None):
    return _norms(a[..., :, None, :] - b[..., None, :, :], p)


add("cdist", _cdist_samples, _cdist, dtypes=_POINTS, missing={"0-d": "needs points"}, scale=10)


def _pdist_samples(rng, dtype):
    for shape in ((4, 2), (2, 3), (1, 2), (0, 2), (3, 0)):
        yield call(distinct(rng, dtype, *shape), grad=0 not in shape and shape[0] > 1)
    for p in (1.0, 2.5, float("inf"), 0.0):
        yield call(round_to(_APART, dtype), p=p)


def _pdist(x, p=2.0):
    i, j = np.triu_indices(len(x), 1)
    return _norms(x[i] - x[j], p)


add("nn.functional.pdist", _pdist_samples, _pdist, dtypes=_POINTS, missing=_NONE, scale=10)


def _renorm_samples(rng, dtype):
    for shape, p, dim, most in (((3, 4), 2, 0, 1.5), ((3, 4), 1, 1, 2.0), ((2, 3, 2), 3.0, -1, 1.0),
                                ((0, 3), 2, 0, 1.0), ((3, 2), 2, 0, 0.0), ((3, 2), 2, 0, 1e3),
                                ((3, 4), float("inf"), 0, 0.5)):  # fmt: skip
        # the same values at every seed: their norms are apart from maxnorm, where there is a kink
        x = np.sin(np.arange(np.prod(shape, dtype=int)) * 1.3 + 0.4).reshape(shape) * 2
        if dtype in COMPLEX:
            x = x + 1j * np.cos(x * 5)
        yield Sample((round_to(x, dtype), p, dim, most))


def _renorm(x, p, dim, most):
    y = np.moveaxis(x, dim, 0)
    norm = _norms(y.reshape(len(y), -1), p) if y.size else np.zeros(len(y))
    factor = np.where(norm > most, most / (norm + 1e-7), 1).astype(x.real.dtype)
    return np.moveaxis(y * factor.reshape(-1, *[1] * (x.ndim - 1)), 0, dim)


add("renorm", _renorm_samples, _renorm, dtypes=INEXACT, dtype="same", missing=_NONE, scale=4)
