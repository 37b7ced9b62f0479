# ruff: noqa: F403, F405
"""Eigenvalues and singular values. Vectors are determined up to signs, phases and bases: they have no reference here,
and derivatives of them are tested through functions that do not depend on the choice."""

import numpy as np

from ._base import *
from .linalg_factor import _RECTANGLES, hermitian, rectangular
from .linalg_solve import _NONE, _SQUARE, call, lapack, regular


def _spread(a):
    """With different values: those of these matrices are apart by a multiple of 1."""
    return a + np.diag(np.arange(min(a.shape[-2:])) * 2.0).astype(a.dtype) if a.shape[-1] == a.shape[-2] else a


def _hermitian_samples(rng, dtype):
    for shape in _SQUARE:
        yield call(_spread(hermitian(rng, dtype, *shape)), grad=False)
    yield call(_spread(hermitian(rng, dtype, 3, 3)), UPLO="U", grad=False)


def _triangle(a, UPLO="L"):
    h = np.conj(np.swapaxes(a, -1, -2))
    low = np.tril(a) if UPLO == "L" else np.tril(h)
    return low + np.conj(np.swapaxes(np.tril(low, -1), -1, -2))


def _values(names, s):
    return to_real(names[0])


# Derivatives are those along Hermitian matrices: tests of their own take them.
lapack("linalg.eigh", _hermitian_samples, None, dtype=lambda names, s: (to_real(names[0]), names[0]), grad=())
lapack("linalg.eigvalsh", _hermitian_samples, lambda a, UPLO="L": np.linalg.eigvalsh(_triangle(a, UPLO)),
       dtype=_values, grad=())  # fmt: skip


def to_complex(name):
    return "complex64" if name in ("float32", "complex64") else "complex128"


def _general_samples(rng, dtype):
    for shape in _SQUARE:
        a = regular(rng, dtype, *shape)
        yield call(_spread(a) if a.size else a, grad=False)


lapack("linalg.eig", _general_samples, None, dtype=lambda names, s: (to_complex(names[0]),) * 2, grad=())
lapack("linalg.eigvals", _general_samples, None, dtype=lambda names, s: to_complex(names[0]), grad=())


def _svd_samples(**options):
    def samples(rng, dtype):
        for shape in _RECTANGLES:
            yield call(rectangular(rng, dtype, *shape), grad=False)
        for key, values in options.items():
            for value in values:
                yield call(rectangular(rng, dtype, 4, 3), grad=False, **{key: value})

    return samples


def _three(names, s):
    return (names[0], to_real(names[0]), names[0])


lapack("linalg.svd", _svd_samples(full_matrices=(False,)), None, dtype=_three, grad=())
lapack("svd", _svd_samples(some=(False,), compute_uv=(False,)), None, dtype=_three, grad=())


def _differing(rng, dtype):
    for shape in _RECTANGLES:
        n = max(shape[-2:])
        a = regular(rng, dtype, *shape[:-2], n, n) + np.diag(2.0 * np.arange(n))
        yield call(np.ascontiguousarray(a[..., : shape[-2], : shape[-1]]).astype(storage(dtype)))


lapack("linalg.svdvals", _differing, lambda a: np.linalg.svd(a, compute_uv=False), dtype=_values)


def _pinv_samples(rng, dtype):
    for shape in _RECTANGLES:
        yield call(rectangular(rng, dtype, *shape))
    yield call(hermitian(rng, dtype, 3, 3), hermitian=True, grad=False)
    yield call(rectangular(rng, dtype, 3, 2), atol=1e-3)
    yield call(rectangular(rng, dtype, 2, 3), atol=1e-3, rtol=1e-3)
    real = "float32" if dtype in ("float32", "complex64") else "float64"
    yield Sample((rectangular(rng, dtype, 2, 3, 2),), {"rtol": np.full(2, 1e-3, real)}, grad=False)
    yield Sample((rectangular(rng, dtype, 2, 3, 2),), {"atol": np.full((), 1e-3, real)}, grad=False)
    yield call(hermitian(rng, dtype, 3, 3), rtol=np.full((), 1e-3, real), hermitian=True, grad=False)
    yield call(rectangular(rng, dtype, 3, 2), 1e-3)
    yield call(hermitian(rng, dtype, 3, 3), 1e-3, hermitian=True, grad=False)


def _first(names, s):
    return names[0]


lapack("linalg.pinv", _pinv_samples, lambda a, *tol, **options: np.linalg.pinv(a), dtype=_first)


def _pinverse_samples(rng, dtype):
    for shape in _RECTANGLES:
        yield call(rectangular(rng, dtype, *shape))
    yield call(rectangular(rng, dtype, 3, 2), rcond=1e-3)


lapack("pinverse", _pinverse_samples, lambda a, rcond=None: np.linalg.pinv(a))


def _rank_samples(rng, dtype):
    for shape in _RECTANGLES:
        yield call(rectangular(rng, dtype, *shape))
    low = round_to(make(rng, dtype, 2, 4, 2, gap=0.5) @ make(rng, dtype, 2, 2, 3, gap=0.5), dtype)
    real = "float32" if dtype in ("float32", "complex64") else "float64"
    yield call(low, rtol=1e-4)
    yield call(low, atol=1e-4, rtol=1e-4)
    yield call(low, 1e-4)
    yield call(hermitian(rng, dtype, 3, 3), hermitian=True)
    yield Sample((low,), {"rtol": np.full(2, 1e-4, real)})
    yield Sample((low,), {"atol": np.full((), 1e-4, real)})
    yield Sample((low, np.full(2, 1e-4, real)))
    h = hermitian(rng, dtype, 3, 3)
    yield call(h, 1e-4, hermitian=True)
    yield Sample((h, np.full((), 1e-4, real)), {"hermitian": True})
    yield Sample((h,), {"rtol": np.full((), 1e-4, real), "hermitian": True})


def _rank(a, *tol, atol=0, rtol=0, hermitian=False):
    s = np.linalg.svd(a, compute_uv=False)
    return (s > 1e-4).sum(-1) if s.size else np.zeros(s.shape[:-1], np.int64)


lapack("linalg.matrix_rank", _rank_samples, _rank, dtype="int64", grad=())


def _cond_samples(rng, dtype):
    for shape in _SQUARE:
        yield call(_spread(regular(rng, dtype, *shape)), grad=shape != (0, 0))
    yield call(rectangular(rng, dtype, 4, 2))
    for p in (2, -2, 1, -1, float("inf"), -float("inf"), "fro", "nuc"):
        yield call(_spread(regular(rng, dtype, 3, 3)), p)


def _cond(a, p=None):
    if not a.size:
        return np.zeros(a.shape[:-2], a.real.dtype)
    return np.linalg.cond(a, p)


lapack("linalg.cond", _cond_samples, _cond, dtype=_values, missing=_NONE)
