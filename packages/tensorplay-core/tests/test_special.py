"""Special functions: edges, errors, names. Accuracy is in test_special_accuracy.py."""

import math

import numpy as np
import pytest

import tensorplay as tp

S = tp.special
INF, NAN = math.inf, math.nan

EDGES = [
    (tp.i0, [0, INF, -INF, NAN], [1, INF, INF, NAN]),
    (S.i1, [0, INF, -INF, NAN], [0, INF, -INF, NAN]),
    (S.i0e, [0, INF, -INF, 1e300], [1, 0, 0, 3.9894228040143267e-151]),
    (S.bessel_j0, [0, INF, -INF, NAN], [1, 0, 0, NAN]),
    (S.bessel_j1, [0, INF, -INF, NAN], [0, 0, 0, NAN]),
    (S.bessel_y0, [0, INF, -1, NAN], [-INF, 0, NAN, NAN]),
    (S.bessel_y1, [0, INF, -1, NAN], [-INF, 0, NAN, NAN]),
    (S.modified_bessel_k0, [0, INF, -1, NAN], [INF, 0, NAN, NAN]),
    (S.scaled_modified_bessel_k1, [0, INF, -1, NAN], [INF, 0, NAN, NAN]),
    (S.airy_ai, [INF, -INF, NAN], [0, 0, NAN]),
    (S.spherical_bessel_j0, [0, INF, -INF], [1, 0, 0]),
    (S.erfcx, [INF, -INF, -30, NAN], [0, INF, INF, NAN]),
    (tp.erfinv, [-1, 1, 2, 0], [-INF, INF, NAN, 0]),
    (S.ndtri, [0, 1, 0.5, -0.1], [-INF, INF, 0, NAN]),
    (S.log_ndtr, [INF, -INF, -1e10], [0, -INF, -5e19]),
    (S.entr, [0, 1, -1, INF], [0, 0, -INF, -INF]),
    (tp.digamma, [0.0, -1, INF, -INF], [-INF, NAN, INF, NAN]),
    (tp.lgamma, [0.0, -1, INF, 1, 2], [INF, INF, INF, 0, 0]),
]


@pytest.mark.parametrize(("fn", "x", "expected"), EDGES, ids=lambda v: getattr(v, "__name__", ""))
def test_edges(fn, x, expected):
    for dtype in (tp.float64, tp.float32):
        got = fn(tp.tensor(x, dtype=dtype)).numpy()
        np.testing.assert_allclose(got, np.asarray(expected, got.dtype), rtol=1e-6)


BAD = [
    (lambda: tp.polygamma(-1, tp.ones(2)), RuntimeError, "polygamma: n must not be negative, got -1"),
    (lambda: tp.mvlgamma(tp.ones(2), 0), RuntimeError, "mvlgamma: p must be at least 1, got 0"),
    (lambda: tp.digamma(tp.ones(2, dtype=tp.complex64)), TypeError, "digamma"),
    (lambda: S.erfcx(tp.ones(2, dtype=tp.complex64)), TypeError, "erfcx"),
    (lambda: S.zeta(tp.ones(2), tp.ones(3)), ValueError, "broadcast"),
]


@pytest.mark.parametrize(("call", "error", "text"), BAD)
def test_bad_input(call, error, text):
    with pytest.raises(error, match=text) as e:
        call()
    assert "\n" not in str(e.value)


def test_names():
    x = tp.tensor([0.3, 0.7])
    for name, same in {"expit": "sigmoid", "gammaln": "lgamma", "psi": "digamma", "erf": "erf"}.items():
        assert getattr(S, name)(x).tolist() == getattr(tp, same)(x).tolist()
    assert S.multigammaln(x + 2, 2).tolist() == x.add(2).mvlgamma(2).tolist()


def test_methods():
    x = tp.tensor([0.3, 0.7])
    y = x.clone()
    assert y.polygamma_(2) is y and y.tolist() == x.polygamma(2).tolist() == tp.polygamma(2, x).tolist()
    for name in ("digamma", "lgamma", "erfinv", "i0"):
        y = x.clone()
        getattr(y, name + "_")()
        assert y.tolist() == getattr(x, name)().tolist()


def test_integers_become_floats():
    assert tp.i0(tp.arange(3)).dtype == tp.float32
    assert S.legendre_polynomial_p(tp.arange(3), 2).tolist() == [-0.5, 1, 5.5]
    assert S.chebyshev_polynomial_t(0.5, tp.arange(4)).tolist() == [1, 0.5, -0.5, -1]


def test_polynomials_of_large_degree():
    x = np.array([-1.0, -0.999999, -0.3, 0.0, 0.2, 1.0])
    got = S.chebyshev_polynomial_t(tp.from_numpy(x), 100001).numpy()
    np.testing.assert_allclose(got, np.cos(100001 * np.arccos(x)), atol=1e-10)
    assert abs(S.legendre_polynomial_p(tp.from_numpy(x), 5000).numpy()).max() <= 1


def test_higher_derivatives():
    x = tp.tensor([0.0, 0.4, 3.0], dtype=tp.float64)
    fourth = S.bessel_j0
    for _ in range(4):
        fourth = _derivative(fourth)
    # from the series 1 - x^2 / 4 + x^4 / 64
    assert abs(fourth(x)[0] - 0.375) < 1e-15


def _derivative(f):
    def g(x):
        if not x.requires_grad:
            x = x.clone().requires_grad_()
        return tp.autograd.grad(f(x).sum(), x, create_graph=True)[0]

    return g
