# ruff: noqa: F403, F405
"""Determinants, LU, LDL^T, reflectors, least squares."""

import numpy as np

from ._base import *
from .linalg_solve import _SQUARE, _each, _info, _nudged, call, lapack, regular

_RECTANGLES = (*_SQUARE, (4, 2), (2, 4), (2, 3, 2), (2, 2, 3), (0, 3), (3, 0), (0, 2, 3))


def _h(a):
    return np.conj(np.swapaxes(a, -1, -2))


def rectangular(rng, dtype, *shape):
    """Like regular ones, cut to the shape: pivots are far from each other."""
    n = max(shape[-2:])
    return np.ascontiguousarray(regular(rng, dtype, *shape[:-2], n, n)[..., : shape[-2], : shape[-1]])


def _stacked(function, a, outputs):
    """The results of a function of one matrix, for a batch."""
    lead = a.shape[:-2]
    flat = [function(a[i]) for i in np.ndindex(lead)]
    if not flat:
        one = map(np.asarray, function(np.ones(a.shape[-2:], a.dtype)))
        return tuple(np.zeros(lead + r.shape, r.dtype) for r in one)
    return tuple(np.stack([r[i] for r in flat]).reshape(lead + np.shape(flat[0][i])) for i in range(outputs))


# ---- determinants ----


def _det_samples(rng, dtype):
    yield from _each(regular)(rng, dtype)
    if dtype in ("float64", "complex128"):  # singular ones, of rank 3, 2 and 1
        for rank in (3, 2, 1):
            a = make(rng, dtype, 4, rank) @ make(rng, dtype, rank, 4)
            yield call(a, grad=True)


def _det(a):
    return np.linalg.det(a) if a.size or a.ndim > 2 else np.ones((), a.dtype)


for _name in ("linalg.det", "det"):
    lapack(_name, _det_samples, _det)


# ---- LU: the elimination with exchanges, row by row ----


def _lu_of(a, pivot=True):
    a, (m, n) = a.copy(), a.shape
    pivots, perm = np.arange(1, min(m, n) + 1, dtype=np.int32), np.arange(m)
    for k in range(min(m, n)):
        if pivot:
            p = k + np.argmax(np.abs(a[k:, k].real) + np.abs(a[k:, k].imag))
            pivots[k] = p + 1
            a[[k, p]], perm[[k, p]] = a[[p, k]], perm[[p, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, pivots, perm


def _lu_factor(a, pivot=True):
    return _stacked(lambda m: _lu_of(m, pivot)[:2], a, 2)


def _parts(a, perm):
    m, n = a.shape
    k = min(m, n)
    p = np.zeros((m, m), a.dtype)
    p[perm, np.arange(m)] = 1
    return p, np.tril(a[:, :k], -1) + np.eye(m, k, dtype=a.dtype), np.triu(a[:k])


def _lu(a, pivot=True):
    def one(m):
        lu, _, perm = _lu_of(m, pivot)
        p, low, up = _parts(lu, perm)
        return (p if pivot else np.zeros(0, m.dtype)), low, up

    p, low, up = _stacked(one, a, 3)
    return (p if pivot else np.zeros(0, a.dtype)), low, up


def _lu_samples(rng, dtype):
    for shape in _RECTANGLES:
        yield call(rectangular(rng, dtype, *shape))
    yield call(np.ascontiguousarray(rectangular(rng, dtype, 3, 3)[::-1]))
    yield call(rectangular(rng, dtype, 3, 5), pivot=False)


def _two(names, s):
    return (names[0], "int32")


lapack("linalg.lu", _lu_samples, _lu, dtype=lambda names, s: (names[0],) * 3)
lapack("linalg.lu_factor", _lu_samples, _lu_factor, dtype=_two)


def _lu_factor_ex_samples(rng, dtype):
    yield from _lu_samples(rng, dtype)
    yield call(rectangular(rng, dtype, 2, 2), check_errors=True)


lapack("linalg.lu_factor_ex", _lu_factor_ex_samples,
       lambda a, pivot=True, check_errors=False: (*_lu_factor(a, pivot), _info(a)),
       dtype=lambda names, s: (names[0], "int32", "int32"))  # fmt: skip


def _unpack_samples(rng, dtype):
    for shape in ((3, 3), (2, 3, 3), (4, 2), (2, 4), (0, 0), (0, 2, 2)):
        yield Sample(_lu_factor(rectangular(rng, dtype, *shape)[..., ::-1, :]))
    yield Sample(_lu_factor(rectangular(rng, dtype, 3, 3)), {"unpack_data": False})
    yield Sample(_lu_factor(rectangular(rng, dtype, 3, 3)), {"unpack_pivots": False})


def _perm_of(pivots, m):
    perm = np.arange(m)
    for i, p in enumerate(pivots):
        perm[[i, p - 1]] = perm[[p - 1, i]]
    return perm


def _unpack(lu, pivots, unpack_data=True, unpack_pivots=True):
    lead, none = lu.shape[:-2], np.zeros(0, lu.dtype)
    flat = [_parts(lu[i], _perm_of(pivots[i], lu.shape[-2])) for i in np.ndindex(lead)]
    if not flat:
        parts = (np.zeros(lead + r.shape, lu.dtype) for r in _parts(np.ones(lu.shape[-2:]), np.arange(lu.shape[-2])))
    else:
        parts = (np.stack([r[i] for r in flat]).reshape(lead + flat[0][i].shape) for i in range(3))
    p, low, up = parts
    return (p if unpack_pivots else none), (low if unpack_data else none), (up if unpack_data else none)


lapack("lu_unpack", _unpack_samples, _unpack, dtype=lambda names, s: (names[0],) * 3)


def _lu_solve_samples(rng, dtype):
    for a, b in (((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 1)), ((3, 3), (2, 3, 2)), ((0, 0), (0, 2)), ((2, 2), (2, 0)),
                 ((0, 2, 2), (0, 2, 1))):  # fmt: skip
        yield Sample((*_lu_factor(regular(rng, dtype, *a)[..., ::-1, :]), make(rng, dtype, *b)))
    for options in ({"left": False}, {"adjoint": True}, {"left": False, "adjoint": True}):
        b = make(rng, dtype, *((2, 3) if "left" in options else (3, 2)))
        yield Sample((*_lu_factor(regular(rng, dtype, 3, 3)[::-1]), b), options)


def _matrix_of(lu, pivots):
    p, low, up = _unpack(lu, pivots)
    return p @ low @ up


def _lu_solve(lu, pivots, b, left=True, adjoint=False):
    a = _matrix_of(lu, pivots)
    a = _h(a) if adjoint else a
    if not left:
        return np.swapaxes(_lu_solved(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)
    return _lu_solved(a, b)


def _lu_solved(a, b):
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    b = np.broadcast_to(b, lead + b.shape[-2:])
    return np.linalg.solve(np.broadcast_to(a, lead + a.shape[-2:]), b) if b.size else np.zeros(b.shape, b.dtype)


lapack("linalg.lu_solve", _lu_solve_samples, _lu_solve)


def _old_lu_solve_samples(rng, dtype):
    for s in _lu_solve_samples(rng, dtype):
        if not s.kwargs:
            lu, pivots, b = s.args
            yield Sample((b, lu, pivots))


lapack("lu_solve", _old_lu_solve_samples, lambda b, lu, pivots: _lu_solve(lu, pivots, b))


# ---- LDL^T: where no exchange is needed, the elimination of symmetric matrices ----


def symmetric(rng, dtype, *shape):
    a = regular(rng, dtype, *shape)
    return a + np.swapaxes(a, -1, -2) + 4 * np.eye(shape[-1], dtype=a.dtype)


def hermitian(rng, dtype, *shape):
    a = symmetric(rng, dtype, *shape)
    return (a + _h(a)) / 2


def _ldl_of(a, conjugate):
    a, n = a.copy(), a.shape[-1]
    for k in range(n):
        row = a[k + 1 :, k].copy()
        a[k + 1 :, k] = row / a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], np.conj(row) if conjugate else row)
    return np.tril(a), np.arange(1, n + 1, dtype=np.int32)


def _ldl(a, hermitian=False):
    return _stacked(lambda m: _ldl_of(m, hermitian), a, 2)


def _ldl_samples(rng, dtype, **more):
    for shape in _SQUARE:
        yield call(symmetric(rng, dtype, *shape), grad=False)
    yield call(hermitian(rng, dtype, 3, 3), hermitian=True, grad=False)
    if more:
        yield call(symmetric(rng, dtype, 3, 3), grad=False, **more)


lapack("linalg.ldl_factor", _ldl_samples, _ldl, dtype=_two, grad=())
lapack("linalg.ldl_factor_ex", lambda rng, dtype: _ldl_samples(rng, dtype, check_errors=True),
       lambda a, hermitian=False, check_errors=False: (*_ldl(a, hermitian), _info(a)), grad=(),
       dtype=lambda names, s: (names[0], "int32", "int32"))  # fmt: skip


def _ldl_solve_samples(rng, dtype):
    for a, b in (((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 1)), ((3, 3), (2, 3, 2)), ((0, 0), (0, 2)), ((2, 2), (2, 0))):
        yield Sample((*_ldl(symmetric(rng, dtype, *a)), make(rng, dtype, *b)), vary={1: lambda p, i: p}, grad=False)
    yield Sample((*_ldl(hermitian(rng, dtype, 3, 3), True), make(rng, dtype, 3, 2)), {"hermitian": True},
                 vary={0: _nudged, 1: lambda p, i: p}, grad=False)  # fmt: skip


def _ldl_solve(ld, pivots, b, hermitian=False):
    low = np.tril(ld, -1) + np.eye(ld.shape[-1])
    d = np.where(np.eye(ld.shape[-1]) > 0, ld, 0)
    return _lu_solved(low @ d @ (_h(low) if hermitian else np.swapaxes(low, -1, -2)), b)


lapack("linalg.ldl_solve", _ldl_solve_samples, _ldl_solve, grad=())


# ---- reflectors ----


def _geqrf_of(a):
    a, (m, n) = a.copy(), a.shape
    tau = np.zeros(min(m, n), a.dtype)
    for k in range(min(m, n)):
        x = a[k:, k]
        if not np.any(x[1:]) and x[0].imag == 0:
            continue
        beta = -np.copysign(np.linalg.norm(x), x[0].real)
        tau[k] = (beta - x[0]) / beta
        v = np.concatenate([[1], x[1:] / (x[0] - beta)])
        a[k:, k + 1 :] -= np.conj(tau[k]) * np.outer(v, np.conj(v) @ a[k:, k + 1 :])
        a[k:, k] = np.concatenate([[beta], v[1:]])
    return a, tau


def _geqrf(a):
    return _stacked(_geqrf_of, a, 2)


lapack("geqrf", lambda rng, dtype: (call(rectangular(rng, dtype, *shape), grad=False) for shape in _RECTANGLES), _geqrf,
       dtype=lambda names, s: (names[0],) * 2, grad=())  # fmt: skip


def _product_of(a, tau):
    m = a.shape[0]
    q = np.eye(m, dtype=a.dtype)
    for k, t in enumerate(tau):
        v = np.concatenate([np.zeros(k), [1], a[k + 1 :, k]])
        q = q @ (np.eye(m) - t * np.outer(v, np.conj(v)))
    return q


def _products(a, tau):
    lead, m = a.shape[:-2], a.shape[-2]
    flat = [_product_of(a[i], tau[i]) for i in np.ndindex(lead)]
    return np.stack(flat).reshape(lead + (m, m)) if flat else np.zeros(lead + (m, m), a.dtype)


def _householder_samples(rng, dtype):
    for shape, k in (((3, 3), 3), ((4, 2), 2), ((4, 3), 2), ((2, 3, 2), 2), ((0, 0), 0), ((3, 0), 0), ((0, 3, 2), 2)):
        yield Sample((make(rng, dtype, *shape), make(rng, dtype, *shape[:-2], k)))


for _name in ("linalg.householder_product", "orgqr"):
    lapack(_name, _householder_samples, lambda a, tau: _products(a, tau)[..., : a.shape[-1]])


def _ormqr_samples(rng, dtype):
    for lead in ((), (2,)):
        for left in (True, False):
            for transpose in (True, False):
                yield Sample((make(rng, dtype, *lead, 4, 2), make(rng, dtype, *lead, 2),
                              make(rng, dtype, *lead, *((4, 3) if left else (3, 4)))),
                             {"left": left, "transpose": transpose})  # fmt: skip
    yield Sample((make(rng, dtype, 3, 2), make(rng, dtype, 2), make(rng, dtype, 3, 0)))


def _ormqr(a, tau, x, left=True, transpose=False):
    q = _products(a, tau)
    q = _h(q) if transpose else q
    return q @ x if left else x @ q


lapack("ormqr", _ormqr_samples, _ormqr)


# ---- least squares ----


def _lstsq_samples(rng, dtype):
    for a, b in (((4, 2), (4, 3)), ((2, 4), (2, 1)), ((3, 3), (3, 2)), ((2, 4, 2), (2, 4, 2)), ((2, 3, 2), (2, 3)),
                 ((0, 3, 2), (0, 3, 1)), ((3, 2), (3, 0))):  # fmt: skip
        yield call(rectangular(rng, dtype, *a), make(rng, dtype, *b))
    for driver in ("gels", "gelsy", "gelsd", "gelss"):
        grad = driver in ("gels", "gelsy")  # the others' singular values have no derivative here
        yield call(rectangular(rng, dtype, 4, 2), make(rng, dtype, 4, 2), driver=driver, grad=grad)
    yield call(rectangular(rng, dtype, 2, 3), make(rng, dtype, 2, 2), rcond=1e-4, driver="gelsd", grad=False)


def _lstsq(a, b, rcond=None, driver="gelsy"):
    m, n = a.shape[-2:]
    vector = b.shape == a.shape[:-1]
    b = b[..., None] if vector else b
    real = a.real.dtype
    x = np.linalg.pinv(a) @ b
    residuals, values = np.zeros(0, real), np.zeros(0, real)
    if m > n and driver != "gelsy":
        residuals = (np.abs(b - a @ x) ** 2).sum(-2)
    if driver in ("gelsd", "gelss"):
        values = np.linalg.svd(a, compute_uv=False)
    rank = np.zeros(0, np.int64) if driver == "gels" else np.full(
        a.shape[:-2], min(m, n) if b.shape[-1] else 0)  # fmt: skip
    return (x[..., 0] if vector else x), residuals, rank, values


lapack("linalg.lstsq", _lstsq_samples, _lstsq,
       dtype=lambda names, s: (names[0], to_real(names[0]), "int64", to_real(names[0])))  # fmt: skip
