# ruff: noqa: F403, F405
"""Elementary and special functions, and the activations."""

import math

import numpy as np

from ._base import *
from .elementwise import _same_ratio, _special, binary, unary


def _inexact(a):
    a = np.asarray(a)
    return a if a.dtype.kind in "fc" else a.astype(float)


def float_unary(name, reference, **options):
    """A function whose integer arguments become floats."""
    options.setdefault("dtype", "float")
    unary(name, lambda a, **k: reference(_inexact(a), **k), **options)


def special(name):
    """A function of scipy.special."""

    def reference(a, *rest):
        import scipy.special

        return getattr(scipy.special, name)(a, *rest)

    return reference


float_unary("exp", np.exp)
float_unary("exp2", lambda a: np.exp(a * math.log(2)))
float_unary("expm1", np.expm1)
float_unary("log", np.log, gap=0.3, low=0.2, high=3.0)
float_unary("log2", np.log2, low=0.2, high=3.0)
float_unary("log10", np.log10, low=0.2, high=3.0)
float_unary("log1p", np.log1p, low=-0.7, high=2.0)


def _logaddexp(a, b):
    a, b = _inexact(a), _inexact(b)
    if a.dtype.kind == b.dtype.kind == "f":
        return np.logaddexp(a, b)
    return np.log(np.exp(a) + np.exp(b))


binary("logaddexp", _logaddexp, dtype="float")


def _xlogy_samples(rng, dtype):
    for a, b in (((3, 4), (3, 4)), ((), (3,)), ((2, 1, 3), (4, 1)), ((0, 3), (3,)), ((), ())):
        yield sample(make(rng, dtype, *a), make(rng, dtype, *b, low=0.3, high=2.5, gap=0.1))
    yield sample(make(rng, dtype, 2, 3), 2)
    if dtype in FLOATS:
        yield Sample(
            (round_to(np.array([0.0, 0.0, 1.0, np.nan]), dtype), round_to(np.array([0.0, np.inf, 0.0, 1.0]), dtype)),
            grad=False,
        )
        x = round_to(np.array([0.0, 0.0]), dtype)
        yield Sample((x, round_to(np.array([2.0, 0.5]), dtype)), order=1)


def _xlogy(a, b):
    import scipy.special

    return scipy.special.xlogy(_inexact(np.asarray(a)), _inexact(np.asarray(b)))


add("xlogy", _xlogy_samples, _xlogy, dtypes=REAL, dtype="float")
float_unary("sqrt", np.sqrt, gap=0.3, low=0.1, high=3.0)
float_unary("rsqrt", lambda a: 1 / np.sqrt(a), low=0.2, high=3.0)
binary("hypot", lambda a, b: np.hypot(_inexact(a), _inexact(b)), dtypes=REAL, dtype="float", gap=0.3)
float_unary("sin", np.sin)
float_unary("cos", np.cos)
float_unary("tan", np.tan, low=-1.2, high=1.2)
float_unary("asin", np.arcsin, low=-0.9, high=0.9)
float_unary("acos", np.arccos, low=-0.9, high=0.9)
float_unary("atan", np.arctan, low=-0.9, high=0.9)
binary("atan2", lambda a, b: np.arctan2(_inexact(a), _inexact(b)), dtypes=REAL, dtype="float", gap=0.3)
float_unary("sinh", np.sinh)
float_unary("cosh", np.cosh)
float_unary("tanh", np.tanh)
float_unary("asinh", np.arcsinh, low=-0.9, high=0.9)
float_unary("acosh", np.arccosh, low=1.2, high=3.0)
float_unary("atanh", np.arctanh, low=-0.8, high=0.8)
for _name in ("asin", "acos", "atan", "asinh", "acosh", "atanh"):
    alias(_name, "arc" + _name[1:])
alias("atan2", "arctan2")


def _sinc(a):
    return np.where(np.isinf(a), 0.0, np.sinc(a)) if a.dtype.kind == "f" else np.sinc(a)


def _sinc_samples(rng, dtype):
    for shape in SHAPES:
        yield sample(make(rng, dtype, *shape, gap=0.2))
    if dtype == "float64":
        yield Sample((np.array([0.0, 1.0, -2.0, 1e-9, 1e-4]),), order=2, note="near zero")


add("sinc", _sinc_samples, lambda a: _sinc(_inexact(a)), dtype="float", scale=10)
float_unary("erf", special("erf"), dtypes=REAL)
float_unary("erfc", special("erfc"), dtypes=REAL)
float_unary("sigmoid", lambda a: 1 / (1 + np.exp(-a)))


# ---- activations ----


def _bent(rng, dtype, low=-2.0, high=2.0):
    """Values away from a kink at zero."""
    keep = {0: _same_ratio(1)}
    for shape in SHAPES:
        yield Sample((make(rng, dtype, *shape, low=low, high=high, gap=0.2),), vary=keep)
    if dtype in FLOATS:
        yield Sample((_special(dtype),), grad=False, note="special")


add(
    "relu",
    _bent,
    lambda a: np.where(np.isnan(a), a, np.maximum(a, 0)) if a.dtype.kind == "f" else np.maximum(a, 0),
    dtypes=INTEGERS + FLOATS,
    dtype="same",
)


def _with(base, *options):
    def samples(rng, dtype):
        yield from base(rng, dtype)
        for o in options:
            yield Sample((make(rng, dtype, 2, 3, gap=0.2),), dict(o), vary={0: _same_ratio(1)})
            if dtype in FLOATS:
                finite = _special(dtype)[[0, 1, 5, 6]]
                yield Sample((finite,), dict(o), grad=False)

    return samples


def _plain(rng, dtype):
    for shape in SHAPES:
        yield sample(make(rng, dtype, *shape))


def _gelu(a, approximate="none"):
    a = _inexact(a)
    if approximate == "tanh":
        return 0.5 * a * (1 + np.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))
    return a * 0.5 * special("erfc")(-a / math.sqrt(2))


add("gelu", _with(_plain, {"approximate": "tanh"}), _gelu, dtypes=REAL, dtype="float")
float_unary("silu", lambda a: a / (1 + np.exp(-a)), special=False)


def _softplus(a, beta=1.0, threshold=20.0):
    a = _inexact(a)
    return np.where(a * beta > threshold, a, np.log1p(np.exp(np.minimum(a * beta, 700))) / beta)


def _softplus_samples(rng, dtype):
    yield from _with(_plain, {"beta": 2.0}, {"beta": 0.5, "threshold": 5.0})(rng, dtype)
    if dtype in ("float32", "float64"):
        yield sample(round_to(np.array([19.0, 21.0, 800.0, -800.0, 3.0]), dtype))
        yield sample(round_to(np.array([1.0, 1.9, 3.5, -1.0]), dtype), 3.0, 6.0)


add("softplus", _softplus_samples, _softplus, dtypes=REAL, dtype="float")
add(
    "leaky_relu",
    _with(_bent, {"negative_slope": 0.2}),
    lambda a, negative_slope=0.01: np.where(a > 0, a, negative_slope * a),
    dtypes=FLOATS,
    dtype="same",
    refuses=False,
)
add(
    "elu",
    _with(_bent, {"alpha": 0.5}),
    lambda a, alpha=1.0: np.where(a > 0, a, alpha * np.expm1(np.minimum(a, 0))),
    dtypes=FLOATS,
    dtype="same",
    refuses=False,
)
