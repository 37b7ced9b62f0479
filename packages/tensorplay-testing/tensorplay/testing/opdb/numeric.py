# ruff: noqa: F403, F405
"""Numbers and their neighbours, comparisons with tolerance, differences, integrals, covariances, combinations."""

import itertools
import math

import numpy as np

from ._base import *
from .elementwise import _special, binary
from .maths import _inexact, float_unary

# ---- elementwise ----

binary("copysign", lambda a, b: np.copysign(_inexact(a), _inexact(b)), dtypes=REAL, dtype="float", gap=0.3)


def _neighbours(rng, dtype):
    for a, b in (((3, 4), (3, 4)), ((), (3,)), ((0, 3), (3,)), ((), ())):
        yield sample(make(rng, dtype, *a), make(rng, dtype, *b))
    edges = np.array([0.0, 1.0, 1.0, -1.0, np.inf if dtype == "float64" else 0.5, np.nan, 2.0, 2.0])
    yield Sample(
        (round_to(edges, dtype), round_to(np.array([-1.0, 2.0, 0.0, 0.0, 0.0, 1.0, 2.0, 1.0]), dtype)), grad=False
    )


add("nextafter", _neighbours, np.nextafter, dtypes=("float32", "float64"), refuses=False, grad=())


def _common(a, b):
    """Numbers and 0-d arrays take the other's dtype, which NumPy does not do."""
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim and not b.ndim:
        return a, b.astype(a.dtype)
    return (a.astype(b.dtype), b) if b.ndim and not a.ndim else (a, b)


binary("gcd", lambda a, b: np.gcd(*_common(a, b)), dtypes=INTEGERS, high=30.0)
binary("lcm", lambda a, b: np.lcm(*_common(a, b)), dtypes=INTEGERS, high=9.0)


def _frexp_samples(rng, dtype):
    for shape in SHAPES:
        yield sample(make(rng, dtype, *shape, gap=0.1))
    yield Sample((round_to(np.array([0.0, -8.0, 0.75, 1e-7, np.inf]), dtype),), grad=False)


add("frexp", _frexp_samples, np.frexp, dtypes=FLOATS, dtype=lambda names, s: [names[0], "int32"])


def _ldexp_dtype(names, s):
    """That of a product with a power of 2.0, which is float32 for whole exponents."""
    a, b = s.arrays()
    power = names[1] if names[1] in INEXACT else "float32"
    return promote([(names[0], a.ndim > 0), (power, b.ndim > 0)])


binary("ldexp", lambda a, b: a * 2.0 ** _inexact(b), dtype=_ldexp_dtype, number=False)
binary("logaddexp2", lambda a, b: np.logaddexp2(_inexact(a), _inexact(b)), dtypes=REAL, dtype="float", scale=4)


def _logit_samples(rng, dtype):
    for shape in SHAPES:
        yield sample(make(rng, dtype, *shape, low=0.1, high=0.9))
    yield sample(make(rng, dtype, 3, low=0.2, high=0.8), 0.1)
    if dtype in FLOATS:
        yield Sample((round_to(np.array([0.0, 1.0, 0.5, 0.01]), dtype), 0.1), order=1)


def _logit(a, eps=None):
    a = _inexact(a) if eps is None else np.clip(_inexact(a), eps, 1 - eps)
    with np.errstate(all="ignore"):
        return np.log(a) - np.log1p(-a)


add("logit", _logit_samples, _logit, dtypes=REAL, dtype="float")
float_unary("deg2rad", lambda a: a * (math.pi / 180))
float_unary("rad2deg", lambda a: a * (180 / math.pi))


def _polar_samples(rng, dtype):
    for a, b in (((3, 4), (3, 4)), ((), (3,)), ((0, 3), (3,)), ((), ())):
        yield sample(make(rng, dtype, *a, low=0.2), make(rng, dtype, *b))


add(
    "polar",
    _polar_samples,
    lambda r, t: r * np.exp(1j * t),
    dtypes=("float32", "float64"),
    dtype=lambda names, s: to_complex(names[0]),
    refuses=False,
)


def _isreal_samples(rng, dtype):
    for shape in SHAPES:
        yield sample(make(rng, dtype, *shape))
    if dtype in COMPLEX:
        yield sample(round_to(np.array([1 + 0j, 1j, complex(np.nan, 0)]), dtype))


add("isreal", _isreal_samples, np.isreal, dtype="bool", grad=())


def _close_samples(rng, dtype):
    for a, b in (((3, 4), (3, 4)), ((), (3,)), ((0, 3), (3,)), ((), ())):
        yield sample(make(rng, dtype, *a), make(rng, dtype, *b))
    x = make(rng, dtype, 2, 3)
    yield sample(x, x, 0.0, 0.0)
    if dtype != "bool":
        yield sample(x, round_to(x + 1, dtype), 0.5, 0.5)
        yield sample(x, 2)
    if dtype in FLOATS:
        yield sample(_special(dtype), _special(dtype), equal_nan=True)
        yield sample(_special(dtype), _special(dtype))


def _close(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    if a.dtype.kind == "b":
        return np.equal(a, b)
    return np.isclose(_inexact(a), _inexact(b), rtol, atol, equal_nan)


add("isclose", _close_samples, _close, dtype="bool", grad=())


def _dist_samples(rng, dtype):
    for a, b in (((3, 4), (3, 4)), ((2, 1, 3), (3,)), ((), ())):
        yield sample(make(rng, dtype, *a), make(rng, dtype, *b))
    for p in (1, 3, 2.5, math.inf):
        yield sample(make(rng, dtype, 2, 3), make(rng, dtype, 2, 3), p)
    yield sample(make(rng, dtype, 0, 3), make(rng, dtype, 3))


add(
    "dist",
    _dist_samples,
    lambda a, b, p=2: np.linalg.norm(np.ravel(a - b), p) if (a - b).size else np.float64(0),
    dtypes=INEXACT,
    dtype="real",
    scale=3,
)
for _name in ("resolve_conj", "resolve_neg"):
    add(_name, lambda rng, dtype: [sample(make(rng, dtype, *s)) for s in SHAPES], lambda a: a, dtype="same")

# ---- along a dimension ----


def _diff_samples(rng, dtype):
    yield sample(make(rng, dtype, 4, 5))
    yield sample(make(rng, dtype, 4, 5), 2, 0)
    yield sample(make(rng, dtype, 3), 4)
    yield sample(make(rng, dtype, 3, 4), 0)
    yield sample(make(rng, dtype, 3, 4), 1, -1, make(rng, dtype, 3, 2), make(rng, dtype, 3, 1))
    yield sample(make(rng, dtype, 3, 4), dim=0, append=make(rng, dtype, 1, 4))
    yield sample(make(rng, dtype, 0, 3))


def _diff(a, n=1, dim=-1, prepend=None, append=None):
    more = {k: v for k, v in (("prepend", prepend), ("append", append)) if v is not None}
    return np.diff(a, n, dim, **more)


_FLAT = {"0-d": "has no dimension", "broadcast": "the shapes are joined"}
add("diff", _diff_samples, _diff, dtype="same", missing=_FLAT)


def _integral_samples(rng, dtype):
    yield sample(make(rng, dtype, 4, 5))
    yield sample(make(rng, dtype, 4, 5), dx=0.5, dim=0)
    yield sample(make(rng, dtype, 4, 5), make(rng, dtype, 5))
    yield sample(make(rng, dtype, 4, 5), make(rng, dtype, 4), dim=0)
    yield sample(make(rng, dtype, 4, 5), make(rng, dtype, 4, 5))
    yield sample(make(rng, dtype, 4, 1, 5), make(rng, dtype, 3, 5))
    yield sample(make(rng, dtype, 0, 3))
    yield sample(make(rng, dtype, 3, 1))


def _areas(y, x, dx, dim):
    y = np.moveaxis(_inexact(y), dim, -1)
    if x is not None:
        x = _inexact(x)
        dx = np.diff(x if x.ndim == 1 else np.moveaxis(x, dim, -1), axis=-1)
    return (y[..., 1:] + y[..., :-1]) / 2 * dx


def _trapezoid(y, x=None, *, dx=1, dim=-1):
    return _areas(y, x, dx, dim).sum(-1)


def _cumulative(y, x=None, *, dx=1, dim=-1):
    return np.moveaxis(np.cumsum(_areas(y, x, dx, dim), -1), -1, dim)


for _name, _reference in (("trapezoid", _trapezoid), ("cumulative_trapezoid", _cumulative)):
    add(_name, _integral_samples, _reference, dtypes=NUMBERS, dtype="float", missing={"0-d": "no dimension"}, scale=16)
alias("trapezoid", "trapz")


def _gradient_samples(rng, dtype):
    yield sample(make(rng, dtype, 4, 5))
    yield sample(make(rng, dtype, 4, 5), spacing=0.5, dim=[0])
    yield sample(make(rng, dtype, 4, 5), spacing=[0.5, 2.0], dim=[1, 0], edge_order=2)
    yield sample(make(rng, dtype, 4, 3, 2), dim=[0, 1], edge_order=2)
    yield sample(make(rng, dtype, 0, 4), dim=[1])
    if dtype in FLOATS:
        at = [round_to(np.cumsum(rng.uniform(0.5, 1.5, n)), dtype) for n in (4, 5)]
        steps = {i: lambda a, i: a * (1 + i / 8) for i in (1, 2)}
        yield Sample((make(rng, dtype, 4, 5),), {"spacing": at}, vary=steps)
        yield Sample((make(rng, dtype, 4, 5),), {"spacing": at[:1], "dim": [0], "edge_order": 2}, vary=steps)


def _gradient(a, *, spacing=(1,), dim=None, edge_order=1):
    dims = list(range(a.ndim)) if dim is None else dim
    spacing = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing]
    spacing = spacing * len(dims) if len(spacing) == 1 else spacing
    return [
        np.gradient(_inexact(a), h, axis=d, edge_order=edge_order) if a.size else np.zeros_like(_inexact(a))
        for h, d in zip(spacing, dims, strict=True)
    ]


add("gradient", _gradient_samples, _gradient, dtypes=NUMBERS, dtype="float", missing=_FLAT, scale=16)

# ---- covariances ----


def _cov_samples(rng, dtype):
    yield sample(make(rng, dtype, 3, 6))
    yield sample(make(rng, dtype, 5))
    yield sample(make(rng, dtype, 3, 6), correction=0)
    counts = np.array([1, 2, 0, 3, 1, 1])
    same = {1: lambda a, i: a + i if a.dtype.kind == "i" else a * (1 + i / 8)}
    yield Sample((make(rng, dtype, 2, 6),), {"fweights": counts}, vary=same)
    if dtype in FLOATS:
        weights = round_to(rng.uniform(0.5, 1.5, 6), dtype)
        yield Sample((make(rng, dtype, 2, 6),), {"aweights": weights}, vary=same)
        yield Sample((make(rng, dtype, 2, 6),), {"fweights": counts, "aweights": weights, "correction": 0}, vary=same)


_COV = {"0-d": "NaN", "empty": "NaN", "broadcast": "weights have a fixed shape"}


def _cov(a, *, correction=1, fweights=None, aweights=None):
    return np.asarray(np.cov(_inexact(a), ddof=correction, fweights=fweights, aweights=aweights))


add("cov", _cov_samples, _cov, dtypes=NUMBERS, dtype=lambda names, s: names[0] if names[0] in INEXACT else "float32",
    missing=_COV, scale=16)  # fmt: skip
add(
    "corrcoef",
    lambda rng, dtype: [sample(make(rng, dtype, 3, 6)), sample(make(rng, dtype, 2, 4))],
    lambda a: np.corrcoef(_inexact(a)),
    dtypes=NUMBERS,
    dtype="float",
    missing=_COV,
    scale=16,
    grad=("float64",),
)

# ---- arrangements ----


def _block_samples(rng, dtype):
    yield sample(make(rng, dtype, 2, 3), make(rng, dtype, 3), make(rng, dtype), make(rng, dtype, 1, 1))
    yield sample(make(rng, dtype, 0, 2), make(rng, dtype, 2, 2))
    yield sample(make(rng, dtype, 2, 2))


def _block_diag(*xs):
    xs = [np.atleast_2d(x) for x in xs]
    out = np.zeros((sum(x.shape[0] for x in xs), sum(x.shape[1] for x in xs)), xs[0].dtype)
    i = j = 0
    for x in xs:
        out[i : i + x.shape[0], j : j + x.shape[1]] = x
        i, j = i + x.shape[0], j + x.shape[1]
    return out


add("block_diag", _block_samples, _block_diag, dtype="same", missing={"broadcast": "shapes stand side by side"})


def _product(*xs):
    return xs[0] if len(xs) == 1 else np.array(list(itertools.product(*xs)), xs[0].dtype).reshape(-1, len(xs))


add(
    "cartesian_prod",
    lambda rng, dtype: [
        sample(make(rng, dtype, 2), make(rng, dtype, 3), make(rng, dtype, 2)),
        sample(make(rng, dtype, 2), make(rng, dtype, 0)),
        sample(make(rng, dtype, 3)),
    ],
    _product,
    dtype="same",
    missing={"0-d": "1-d tensors only", "broadcast": "sizes are independent"},
)


def _combinations(a, r=2, with_replacement=False):
    f = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(f(a, r))
    return np.array(rows, a.dtype).reshape(len(rows), r) if r else np.zeros(0, a.dtype)


add(
    "combinations",
    lambda rng, dtype: [
        sample(make(rng, dtype, 4)),
        sample(make(rng, dtype, 4), 3),
        sample(make(rng, dtype, 3), 2, True),
        sample(make(rng, dtype, 3), 4, True),
        sample(make(rng, dtype, 2), 3),
        sample(make(rng, dtype, 3), 0),
        sample(make(rng, dtype, 0)),
    ],
    _combinations,
    dtype="same",
    missing={"0-d": "1-d tensors only"},
)


def _constant_samples(rng, dtype):
    yield sample(make(rng, dtype, 2, 3), [1, 2])
    yield sample(make(rng, dtype, 2, 3), [1, -1, 0, 2], 1)
    yield sample(make(rng, dtype, 0, 3), [0, 1])
    yield sample(make(rng, dtype), [])


def _constant(x, pad, value=0):
    from .sampling import _pad

    return _pad(x, pad, "constant", value)


add("constant_pad_nd", _constant_samples, _constant, dtype="same")
