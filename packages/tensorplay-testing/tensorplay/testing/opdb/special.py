# ruff: noqa: F403, F405
"""Special functions."""

import numpy as np

from ._base import *
from .elementwise import binary
from .maths import _inexact, float_unary, special


def _s(name, reference=None, public=None, **options):
    float_unary("special." + name, reference or special(public or name), dtypes=REAL, **options)


float_unary("digamma", special("digamma"), dtypes=REAL, low=0.3, high=4.0, special=False)
float_unary("lgamma", special("gammaln"), dtypes=REAL, low=0.3, high=4.0, special=False)


def _polygamma_samples(rng, dtype):
    for n in (0, 1, 2, 5):
        for shape in SHAPES:
            yield sample(n, make(rng, dtype, *shape, low=0.4, high=4.0, gap=0.1))


def _polygamma(n, x):
    import scipy.special

    return scipy.special.polygamma(n, _inexact(x))


# The function takes the tensor last; polygamma_, a method, has tests of its own.
add("polygamma", _polygamma_samples, _polygamma, dtypes=REAL, dtype="float", inplace=False)


def _mvlgamma_samples(rng, dtype):
    for p in (1, 3):
        for shape in SHAPES:
            yield sample(make(rng, dtype, *shape, low=1.6, high=5.0), p)


def _mvlgamma(x, p):
    import scipy.special

    x = _inexact(x)
    return sum(scipy.special.gammaln(x - j / 2) for j in range(p)) + p * (p - 1) / 4 * np.log(np.pi)


add("mvlgamma", _mvlgamma_samples, _mvlgamma, dtypes=REAL, dtype="float")
float_unary("erfinv", special("erfinv"), dtypes=REAL, low=-0.9, high=0.9)
_s("erfcx")
_s("ndtr")
_s("ndtri", low=0.1, high=0.9)
_s("log_ndtr")
_s("entr", low=0.2, high=3.0)


def _of(name):
    return lambda a, b: special(name)(_inexact(np.asarray(a)), _inexact(np.asarray(b)))


def _pair(name, public=None, **options):
    binary("special." + name, _of(public or name), dtypes=REAL, dtype="float", **options)


_pair("xlog1py", low=0.3, high=2.5, special=False)
binary("igamma", _of("gammainc"), dtypes=REAL, dtype="float", low=0.3, high=4.0, special=False)
binary("igammac", _of("gammaincc"), dtypes=REAL, dtype="float", low=0.3, high=4.0, special=False)
_pair("zeta", low=1.3, high=4.0, special=False)
_s("spherical_bessel_j0", lambda a: np.where(np.isinf(a), 0.0, np.sinc(a / np.pi)))
# SciPy has NaN for infinite arguments of Bessel functions; tests/test_special.py checks the limits.
float_unary("i0", special("i0"), dtypes=REAL, special=False)
_s("i1", special=False)
_s("i0e")
_s("i1e")
_s("bessel_j0", public="j0", special=False)
_s("bessel_j1", public="j1", special=False)
_s("bessel_y0", public="y0", low=0.4, high=4.0, special=False)
_s("bessel_y1", public="y1", low=0.4, high=4.0, special=False)
_s("modified_bessel_i0", public="i0", special=False)
_s("modified_bessel_i1", public="i1", special=False)
_s("modified_bessel_k0", public="k0", low=0.4, high=4.0)
_s("modified_bessel_k1", public="k1", low=0.4, high=4.0)
_s("scaled_modified_bessel_k0", public="k0e", low=0.4, high=4.0)
_s("scaled_modified_bessel_k1", public="k1e", low=0.4, high=4.0)
_s("airy_ai", lambda a: special("airy")(a)[0], special=False)


def _polynomial_samples(low, high):
    def samples(rng, dtype):
        for a, b in (((3, 4), (3, 4)), ((), (3,)), ((2, 1, 3), (4, 1)), ((0, 3), (3,)), ((), ())):
            n = round_to(rng.integers(0, 2 if dtype == "bool" else 6, b), "int64")
            yield sample(make(rng, dtype, *a, low=low, high=high), n)
        yield sample(make(rng, dtype, 2, 3, low=low, high=high), 4)
        if dtype == "float64":
            yield sample(make(rng, dtype, 3, low=low, high=high), np.array([-1, 30, 7]))

    return samples


def _polynomial(name, shifted=False):
    def reference(x, n):
        import scipy.special

        x, n = np.broadcast_arrays(_inexact(np.asarray(x)), np.asarray(n))
        x = (2 * x - 1 if shifted else x).astype(float)
        out = np.zeros(x.shape)
        for k in np.ndindex(x.shape):
            if n[k] < 0:
                continue
            d = int(n[k])
            if name in ("v", "w"):
                u = scipy.special.eval_chebyu
                out[k] = u(d, x[k]) - (1 if name == "v" else -1) * (u(d - 1, x[k]) if d else 0)
            else:
                out[k] = getattr(scipy.special, "eval_" + name)(d, x[k])
        return out

    return reference


for _name, _function in (
    ("chebyshev_polynomial_t", "chebyt"),
    ("chebyshev_polynomial_u", "chebyu"),
    ("chebyshev_polynomial_v", "v"),
    ("chebyshev_polynomial_w", "w"),
    ("hermite_polynomial_h", "hermite"),
    ("hermite_polynomial_he", "hermitenorm"),
    ("laguerre_polynomial_l", "laguerre"),
    ("legendre_polynomial_p", "legendre"),
):
    for _shifted in (False, True):
        if _shifted and not _name.startswith("cheb"):
            continue
        add(
            "special." + ("shifted_" if _shifted else "") + _name,
            _polynomial_samples(*((0.1, 0.9) if _shifted else (-0.9, 0.9))),
            _polynomial(_function, _shifted),
            dtypes=REAL,
            dtype="float",
            scale=10,
        )
