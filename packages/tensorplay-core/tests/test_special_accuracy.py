"""Special functions against mpmath: an error of at most 4 ulp plus 2 eps times the condition number times the value,
on grids with zeros, poles and the borders of the methods."""

import mpmath as mp
import numpy as np
import pytest

import tensorplay as tp

S = tp.special
EPS = mp.mpf(2) ** -52
NEAR = [1e-12, 1e-6, 1e-3, 0.1, 0.3, 0.49, 0.51, 0.99, 1.0, 1.01, 1.5, 2.0, 2.01, 3.7, 4.01, 7.99, 8.01, 13.3, 29.5]
BOTH = NEAR + [-x for x in NEAR]
UNIT = [1e-12, 1e-3, 0.1, 0.249, 0.251, 0.4, 0.49, 0.51, 0.6, 0.74, 0.76, 0.9, 0.999, 1 - 1e-12]
AIRY_ZEROS = [-2.338107410459767, -4.087949444130971, -7.944133587120853, -9.02265085334098]

CASES = {
    "digamma": (tp.digamma, mp.digamma, [*NEAR, 1.4616321449683623, 1.4616321449683625, 1.46, -0.3, -2.6]),
    "lgamma": (tp.lgamma, lambda x: mp.log(abs(mp.gamma(x))), [*NEAR, 1 + 1e-9, 1 - 1e-9, 2 + 1e-9, 2 - 1e-9, -2.3]),
    "erfcx": (S.erfcx, lambda x: mp.exp(x * x) * mp.erfc(x), [*NEAR, -0.1, -3.0, -20.0, 1e6, 1e9]),
    "ndtr": (S.ndtr, lambda x: mp.erfc(-x / mp.sqrt(2)) / 2, [*BOTH, -35.0]),
    "log_ndtr": (S.log_ndtr, lambda x: mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2), [*NEAR, -0.9]),
    "log_ndtr below": (S.log_ndtr, lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), [-0.5, -0.99, -1.01, -9.0, -1e4]),
    "erfinv": (tp.erfinv, mp.erfinv, UNIT),
    "ndtri": (S.ndtri, lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), [*UNIT, 0.5 + 1e-9]),
    "entr": (S.entr, lambda x: -x * mp.log(x), NEAR),
    "bessel_j0": (S.bessel_j0, lambda x: mp.besselj(0, x), [*BOTH, 2.404825557695773, 5.520078110286311]),
    "bessel_j1": (S.bessel_j1, lambda x: mp.besselj(1, x), [*BOTH, 3.8317059702075125]),
    "bessel_y0": (S.bessel_y0, lambda x: mp.bessely(0, x), [*NEAR, 0.8935769662791675]),
    "bessel_y1": (S.bessel_y1, lambda x: mp.bessely(1, x), [*NEAR, 2.197141326031017]),
    "i0": (tp.i0, lambda x: mp.besseli(0, x), [*BOTH, 709.0]),
    "i1": (S.i1, lambda x: mp.besseli(1, x), [*BOTH, 709.0]),
    "i0e": (S.i0e, lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), [*BOTH, 1e4]),
    "i1e": (S.i1e, lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), [*BOTH, 1e4]),
    "k0": (S.modified_bessel_k0, lambda x: mp.besselk(0, x), [*NEAR, 690.0]),
    "k1": (S.modified_bessel_k1, lambda x: mp.besselk(1, x), [*NEAR, 690.0]),
    "k0e": (S.scaled_modified_bessel_k0, lambda x: mp.exp(x) * mp.besselk(0, x), [*NEAR, 690.0]),
    "k1e": (S.scaled_modified_bessel_k1, lambda x: mp.exp(x) * mp.besselk(1, x), [*NEAR, 690.0]),
    "airy_ai": (S.airy_ai, mp.airyai, [*BOTH, *AIRY_ZEROS]),
    "spherical_bessel_j0": (S.spherical_bessel_j0, lambda x: mp.sin(x) / x, [*BOTH, 3.141592653589793]),
    "logit": (tp.logit, lambda x: mp.log(x / (1 - x)), [*UNIT, 0.5 + 1e-9, 0.5 - 1e-3]),
    "zeta": (lambda s: S.zeta(s, 0.3), lambda s: mp.zeta(s, mp.mpf(0.3)), [1 + 1e-9, 1.3, 2.0, 7.5, 20.9, 60.0]),
}
for _n in (1, 2, 9):
    CASES[f"polygamma {_n}"] = (lambda x, n=_n: tp.polygamma(n, x), lambda x, n=_n: mp.polygamma(n, x), NEAR)
for _name, _f in (("chebyshev_polynomial_u", mp.chebyu), ("legendre_polynomial_p", mp.legendre)):
    _g = getattr(S, _name)
    for _n in (3, 30, 150, 300):
        CASES[f"{_name} {_n}"] = (
            lambda x, n=_n, g=_g: g(x, n),
            lambda x, n=_n, f=_f: f(n, x),
            [-0.99, -0.4, 1e-3, 0.7, 0.9999, 1.2],
        )


def _values(fn, points):
    return fn(tp.tensor(points, dtype=tp.float64)).detach().numpy()


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    fn, reference, points = CASES[name]
    with mp.workdps(50):
        for x, got in zip(points, _values(fn, points), strict=True):
            X = mp.mpf(x)
            h = abs(X) * mp.mpf(10) ** -20
            exact = reference(X)
            slope = (reference(X + h) - reference(X - h)) / (2 * h)
            limit = 4 * mp.mpf(float(np.spacing(abs(float(exact))))) + 2 * abs(X * slope) * EPS
            assert abs(mp.mpf(float(got)) - exact) <= limit, (x, got, mp.nstr(exact, 20))


@pytest.mark.parametrize("a", [1e-10, 0.1, 0.99, 1.5, 10.0, 29.9, 31.0, 139.0, 200.0, 3000.0])
def test_igamma(a):
    x = [a * f for f in (0.3, 0.59, 0.61, 0.95, 1 - 1e-7, 1.0, 1.05, 1.39, 1.41, 2.0)] + [1e-3, 1.09, 1.11]
    p = tp.igamma(tp.tensor(a, dtype=tp.float64), tp.tensor(x, dtype=tp.float64)).numpy()
    q = tp.igammac(tp.tensor(a, dtype=tp.float64), tp.tensor(x, dtype=tp.float64)).numpy()
    with mp.workdps(50):
        for k, v in enumerate(x):
            A, X = mp.mpf(a), mp.mpf(v)
            for got, exact in (
                (p[k], mp.gammainc(A, 0, X, regularized=True)),
                (q[k], mp.gammainc(A, X, mp.inf, regularized=True)),
            ):
                if exact > 1e-100:
                    assert abs(got / exact - 1) < 1e-13, (a, v, got, exact)


def test_igamma_derivative_in_a():
    with mp.workdps(60):
        for a, x in ((0.1, 0.05), (1.5, 1.6), (5.0, 2.0), (31.0, 30.0), (100.0, 100.0), (100.0, 70.0), (20.0, 60.0)):
            t = tp.tensor(a, dtype=tp.float64, requires_grad=True)
            first = tp.autograd.grad(tp.igamma(t, x), t, create_graph=True)[0]
            second = tp.autograd.grad(first, t)[0]
            h, A = mp.mpf(10) ** -15, mp.mpf(a)
            low, mid, high = (-mp.gammainc(A + s * h, x, mp.inf, regularized=True) for s in (-1, 0, 1))
            assert abs(first.item() / ((high - low) / (2 * h)) - 1) < 1e-12, (a, x)
            assert abs(second.item() - (high - 2 * mid + low) / h**2) < 1e-8 * abs(first.item()), (a, x)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    ("fn", "n", "sign"),
    [(S.i0e, 0, 1), (S.i1e, 1, 1), (S.scaled_modified_bessel_k0, 0, -1), (S.scaled_modified_bessel_k1, 1, -1)],
)
def test_derivatives_of_scaled_bessel_functions(fn, n, sign, order):
    points = [0.1, 1.3, 5.0, 12.0, 17.9, 18.1, 100.0, 1e4]
    x = tp.tensor(points, dtype=tp.float64, requires_grad=True)
    y = fn(x)
    for _ in range(order):
        y = tp.autograd.grad(y.sum(), x, create_graph=True)[0]
    bessel = mp.besseli if sign > 0 else mp.besselk

    def f(k, X):
        return bessel(k, X) * mp.exp(-sign * X)

    def derivative(k, m, X):
        if m == 0:
            return f(k, X)
        rest = [derivative(k + j, m - 1, X) for j in (-1, 0, 1)]
        return sign * ((rest[0] + rest[2]) / 2 - rest[1])

    with mp.workdps(50):
        for v, got in zip(points, y.detach().numpy(), strict=True):
            assert abs(float(got) / derivative(n, order, mp.mpf(v)) - 1) < 1e-12, v
