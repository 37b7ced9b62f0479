# ruff: noqa: F403, F405
"""Factorisations and solves."""

import functools

import numpy as np

from ._base import *

_LAPACK = ("float32", "float64", "complex64", "complex128")
_NONE = {"0-d": "needs matrices", "broadcast": "one tensor, or shapes that must fit"}


def _nudged(a, i):
    """The i-th sample of a batch: close by, so that what makes a matrix regular stays."""
    return a * np.asarray(1 + 0.1 * i, a.dtype) if a.dtype.kind in "fc" else np.roll(a, i)


def call(*arrays, grad=True, **kwargs):
    n = sum(isinstance(a, np.ndarray) for a in arrays)
    return Sample(arrays, kwargs, grad=grad, vary=dict.fromkeys(range(n), _nudged))


def regular(rng, dtype, *shape):
    """Matrices far from singular ones."""
    return round_to(make(rng, dtype, *shape, low=-1, high=1) + 3 * np.eye(shape[-1]), dtype)


def positive(rng, dtype, *shape):
    a = make(rng, dtype, *shape, low=-1, high=1)
    return round_to(a @ np.conj(np.swapaxes(a, -1, -2)) + 2 * np.eye(shape[-1]), dtype)


def lapack(name, samples, reference, **options):
    options.setdefault("missing", _NONE)
    options.setdefault("dtypes", _LAPACK)
    add(name, samples, reference, scale=100, **options)


_SQUARE = ((3, 3), (2, 3, 3), (1, 1), (0, 0), (0, 2, 2), (2, 1, 2, 2))


def _each(made, **kwargs):
    def samples(rng, dtype):
        for shape in _SQUARE:
            yield call(made(rng, dtype, *shape), grad=made is not positive)
        for k, v in kwargs.items():
            yield call(made(rng, dtype, 3, 3), grad=made is not positive, **{k: v})

    return samples


def _lower(a, upper=False):
    h = np.conj(np.swapaxes(a, -1, -2))
    low = np.linalg.cholesky(h if upper else a) if a.size else a
    return np.conj(np.swapaxes(low, -1, -2)) if upper else low


def _info(a):
    return np.zeros(a.shape[:-2], np.int32)


# Derivatives are those along Hermitian matrices: tests of their own take them.
lapack("linalg.cholesky", _each(positive, upper=True), _lower, grad=())
lapack("cholesky", _each(positive, upper=True), _lower, grad=())


def _with_info(names, s):
    return (names[0], "int32")


lapack(
    "linalg.cholesky_ex",
    _each(positive, upper=True, check_errors=True),
    lambda a, upper=False, check_errors=False: (_lower(a, upper), _info(a)),
    dtype=_with_info,
    grad=(),
)


def _factor_samples(rng, dtype):
    for a, b in (((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 1)), ((3, 3), (2, 3, 2)), ((0, 0), (0, 2)), ((2, 2), (2, 0))):
        yield call(make(rng, dtype, *b), regular(rng, dtype, *a))
    yield call(make(rng, dtype, 3, 2), regular(rng, dtype, 3, 3), upper=True)


def _gram(low, upper=False):
    h = np.conj(np.swapaxes(low, -1, -2))
    if upper:
        u = np.triu(low)
        return np.conj(np.swapaxes(u, -1, -2)) @ u
    return np.tril(low) @ np.conj(np.swapaxes(np.tril(low), -1, -2)) if h.size else low


def _solve_matrices(a, b):
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = np.broadcast_to(a, lead + a.shape[-2:]), np.broadcast_to(b, lead + b.shape[-2:])
    return np.linalg.solve(a, b) if b.size else np.zeros(b.shape, b.dtype)


lapack(
    "cholesky_solve", _factor_samples, lambda b, low, upper=False: _solve_matrices(_gram(low, upper), b), missing=_NONE
)
lapack(
    "cholesky_inverse",
    _each(regular, upper=True),
    lambda low, upper=False: np.linalg.inv(_gram(low, upper)),
)


def _triangle_samples(rng, dtype):
    for a, b in (((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 1)), ((3, 3), (2, 3, 2)), ((0, 0), (0, 2)), ((2, 2), (2, 0))):
        for upper in (False, True):
            yield call(regular(rng, dtype, *a), make(rng, dtype, *b), upper=upper)
    for upper in (False, True):
        yield call(regular(rng, dtype, 3, 3), make(rng, dtype, 2, 3), upper=upper, left=False)
        yield call(regular(rng, dtype, 3, 3), make(rng, dtype, 3, 2), upper=upper, unitriangular=True)


def _triangular(a, b, upper, left=True, unitriangular=False):
    a = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        a = a - a * np.eye(a.shape[-1]) + np.eye(a.shape[-1])
    if left:
        return _solve_matrices(a, b)
    return np.swapaxes(_solve_matrices(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)


lapack("linalg.solve_triangular", _triangle_samples, _triangular)


def _triangular_solve_samples(rng, dtype):
    for a, b in (((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 1)), ((3, 3), (2, 3, 2)), ((0, 0), (0, 2))):
        yield call(make(rng, dtype, *b), regular(rng, dtype, *a))
    for k in ("upper", "transpose", "unitriangular"):
        yield call(make(rng, dtype, 3, 2), regular(rng, dtype, 3, 3), **{k: k != "upper"})


def _triangular_solve(b, a, upper=True, transpose=False, unitriangular=False):
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    m = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        m = m - m * np.eye(a.shape[-1]) + np.eye(a.shape[-1])
    m = np.swapaxes(m, -1, -2) if transpose else m
    return _solve_matrices(m, b), np.broadcast_to(a, lead + a.shape[-2:])


lapack("triangular_solve", _triangular_solve_samples, _triangular_solve, dtype=lambda n, s: (n[0], n[0]))


def _solve_samples(rng, dtype):
    for a, b in (
        ((3, 3), (3, 2)),
        ((3, 3), (3,)),
        ((2, 3, 3), (2, 3)),
        ((2, 3, 3), (2, 3, 2)),
        ((2, 3, 3), (3, 2)),
        ((3, 3), (2, 3, 2)),
        ((0, 0), (0, 2)),
        ((0, 2, 2), (0, 2, 1)),
        ((2, 2), (2, 0)),
    ):
        yield call(regular(rng, dtype, *a), make(rng, dtype, *b))
    yield call(regular(rng, dtype, 3, 3), make(rng, dtype, 2, 3), left=False)


def _solve(a, b, left=True):
    if not left:
        return np.swapaxes(_solve_matrices(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)
    if b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1]):
        return _solve_matrices(a, b[..., None])[..., 0]
    return _solve_matrices(a, b)


lapack("linalg.solve", _solve_samples, _solve)


def _solve_ex_samples(rng, dtype):
    yield from _solve_samples(rng, dtype)
    yield call(regular(rng, dtype, 3, 3), make(rng, dtype, 3, 1), check_errors=True)


def _solve_ex(a, b, left=True, check_errors=False):
    x = _solve(a, b, left)
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    return x, np.zeros(x.shape[:-1] if vector else x.shape[:-2], np.int32)


lapack("linalg.solve_ex", _solve_ex_samples, _solve_ex, dtype=_with_info)
lapack("linalg.inv", _each(regular), np.linalg.inv)
lapack("inverse", _each(regular), np.linalg.inv)
lapack(
    "linalg.inv_ex",
    _each(regular, check_errors=True),
    lambda a, check_errors=False: (np.linalg.inv(a), _info(a)),
    dtype=_with_info,
)
for _name in ("linalg.slogdet", "slogdet"):
    lapack(_name, _each(regular), lambda a: tuple(np.linalg.slogdet(a)), dtype=lambda n, s: (n[0], to_real(n[0])))


def _logdet(a):
    sign, value = np.linalg.slogdet(a)
    return np.log(sign) + value if a.dtype.kind == "c" else np.where(sign < 0, np.nan, value)


lapack("logdet", _each(regular), _logdet)


# ---- made of others ----


def _power_samples(rng, dtype):
    for shape, n in (((3, 3), 3), ((2, 3, 3), 2), ((3, 3), 0), ((2, 2), 1), ((3, 3), -2), ((0, 0), 2), ((2, 2), 5)):
        yield call(regular(rng, dtype, *shape), n)


for _name in ("linalg.matrix_power", "matrix_power"):
    lapack(_name, _power_samples, np.linalg.matrix_power, refuses=False)


def _tensorinv_samples(rng, dtype):
    yield call(regular(rng, dtype, 6, 6).reshape(2, 3, 6))
    yield call(regular(rng, dtype, 6, 6).reshape(6, 2, 3), ind=1)
    yield call(regular(rng, dtype, 2, 2), ind=1)
    yield Sample((make(rng, dtype, 0, 2, 0), 2))


lapack(
    "linalg.tensorinv",
    _tensorinv_samples,
    lambda a, ind=2: np.linalg.tensorinv(a, ind) if a.size else np.zeros(a.shape[ind:] + a.shape[:ind], a.dtype),
)


def _tensorsolve_samples(rng, dtype):
    yield call(regular(rng, dtype, 6, 6).reshape(2, 3, 6), make(rng, dtype, 2, 3))
    yield call(regular(rng, dtype, 6, 6).reshape(2, 3, 3, 2), make(rng, dtype, 2, 3))
    yield call(regular(rng, dtype, 6, 6).reshape(6, 2, 3).transpose(1, 0, 2), make(rng, dtype, 6), dims=[0, 2])
    yield Sample((make(rng, dtype, 0, 0), make(rng, dtype, 0)))


def _tensorsolve(a, b, dims=None):
    if not a.size:
        return np.zeros(a.shape[b.ndim :], a.dtype)
    if dims is not None:
        a = np.moveaxis(a, dims, range(a.ndim - len(dims), a.ndim))
    return np.linalg.solve(a.reshape(b.size, -1), b.reshape(-1)).reshape(a.shape[b.ndim :])


lapack("linalg.tensorsolve", _tensorsolve_samples, _tensorsolve)


def _vander_samples(rng, dtype):
    for shape, kwargs in (((3,), {}), ((3,), {"N": 4}), ((2, 3), {"N": 2}), ((0,), {"N": 3}), ((0, 2), {})):
        yield Sample((make(rng, dtype, *shape),), kwargs)


def _vander(x, N=None):
    return x[..., None] ** np.arange(x.shape[-1] if N is None else N)


add(
    "linalg.vander",
    _vander_samples,
    lambda x, N=None: _vander(x.astype(np.int64) if x.dtype.kind in "biu" else x, N),
    dtypes=tuple(d for d in INEXACT if d not in HALF),
    refuses=False,
    scale=10,
    missing=_NONE,
)


def _vecdot_samples(rng, dtype):
    for a, b, kwargs in (
        ((3,), (3,), {}),
        ((2, 3), (2, 3), {}),
        ((2, 3), (3,), {}),
        ((3, 1, 2), (3, 4, 2), {"dim": 0}),
        ((2, 0), (2, 0), {}),
        ((0, 3), (0, 3), {}),
    ):
        yield Sample((make(rng, dtype, *a), make(rng, dtype, *b)), kwargs)


lapack(
    "linalg.vecdot",
    _vecdot_samples,
    lambda a, b, dim=-1: (np.conj(a) * b).sum(dim),
    refuses=False,
    missing={"0-d": "needs vectors"},
)


def _cross_samples(rng, dtype):
    for a, b in (((3,), (3,)), ((2, 3), (2, 3)), ((1, 3), (2, 3)), ((0, 3), (0, 3))):
        yield Sample((make(rng, dtype, *a), make(rng, dtype, *b)))
    yield Sample((make(rng, dtype, 3, 2), make(rng, dtype, 3, 2)), {"dim": 0})


def _cross(a, b, dim=-1):
    a, b = np.broadcast_arrays(a, b)
    return np.cross(a, b, axis=dim)


def _first_cross(a, b, dim=None):
    a, b = np.broadcast_arrays(a, b)
    return np.cross(a, b, axis=a.shape.index(3) if dim is None else dim)


for _name, _ref in (("linalg.cross", _cross), ("cross", _first_cross)):
    lapack(_name, _cross_samples, _ref, refuses=False, missing={"0-d": "needs vectors"})


def _chain_samples(rng, dtype):
    for shapes in (
        ((2, 3), (3, 4)),
        ((3,), (3, 4), (4,)),
        ((5, 2), (2, 6), (6, 3), (3, 2)),
        ((0, 3), (3, 2)),
        ((2, 0), (0, 3)),
        ((3,), (3,)),
    ):
        yield Sample(([make(rng, dtype, *s) for s in shapes],))


lapack("linalg.multi_dot", _chain_samples, lambda ts: functools.reduce(np.matmul, ts), refuses=False)


# ---- QR ----


def _qr_samples(**more):
    def samples(rng, dtype):
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2), (1, 1), (0, 2), (2, 0), (0, 3, 2)):
            a = make(rng, dtype, *shape, low=-1, high=1)
            yield call(round_to(a + 3 * np.eye(*shape[-2:]), dtype))
        for key, value in more.items():
            for v in value:
                yield call(regular(rng, dtype, 3, 3), **{key: v})
                yield call(make(rng, dtype, 2, 3), **{key: v})

    return samples


def _qr(a, mode="reduced"):
    if mode == "r":
        return np.zeros(0, a.dtype), np.linalg.qr(a, "r")
    return tuple(np.linalg.qr(a, mode))


lapack("linalg.qr", _qr_samples(mode=("complete", "r")), _qr, dtype=lambda n, s: (n[0], n[0]))
lapack(
    "qr",
    _qr_samples(some=(False,)),
    lambda a, some=True: _qr(a, "reduced" if some else "complete"),
    dtype=lambda n, s: (n[0], n[0]),
)


# ---- names of the namespace ----


def _matmul_samples(rng, dtype):
    for a, b in (((2, 3), (3, 4)), ((3,), (3,)), ((2, 2, 3), (3, 2)), ((0, 3), (3, 2))):
        yield Sample((make(rng, dtype, *a), make(rng, dtype, *b)))


add("linalg.matmul", _matmul_samples, np.matmul, dtypes=NUMBERS, scale=10, missing={"0-d": "is not allowed"})


def _diagonal_samples(rng, dtype):
    for shape, kwargs in (
        ((3, 4), {}),
        ((2, 3, 3), {"offset": 1}),
        ((2, 3, 4), {"offset": -1, "dim1": 0, "dim2": 1}),
        ((0, 2, 2), {}),
    ):
        yield Sample((make(rng, dtype, *shape),), kwargs)


add(
    "linalg.diagonal",
    _diagonal_samples,
    lambda a, offset=0, dim1=-2, dim2=-1: np.diagonal(a, offset, dim1, dim2),
    missing=_NONE,
)
