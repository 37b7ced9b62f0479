"""Matrix exponential, distances, renorm: accuracy, ties, errors."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, hessian, jacfwd, jacrev, vmap
from tensorplay.testing import gradcheck

mpmath = pytest.importorskip("mpmath")
RNG = np.random.default_rng(10)


def exact_exp(a):
    with mpmath.workdps(40):
        m = mpmath.expm(mpmath.matrix(a.tolist()), method="taylor")
        return np.array([[complex(m[i, j]) for j in range(m.cols)] for i in range(m.rows)])


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 0.5, 3.0, 30.0])
@pytest.mark.parametrize("imaginary", [False, True])
def test_exponential_is_accurate(scale, imaginary):
    for n in (1, 2, 5):
        a = scale * (RNG.standard_normal((n, n)) + (1j * RNG.standard_normal((n, n)) if imaginary else 0))
        want = exact_exp(a)
        for dtype, eps in (("f8", 1e-15), ("f4", 1e-6)):
            x = a.astype(np.result_type(dtype, "c8") if imaginary else dtype)
            got = tp.linalg.matrix_exp(tp.from_numpy(x)).numpy()
            exact = want if dtype == "f8" else exact_exp(x.astype(complex))
            assert np.linalg.norm(got - exact) < eps * 30 * max(1, scale) * np.linalg.norm(exact)


def test_exponentials_of_a_batch_have_scales_of_their_own():
    a = np.stack([np.eye(2) * 50, np.eye(2) * 1e-8, np.array([[0, 1], [0, 0]]), np.full((2, 2), np.nan)])
    got = tp.linalg.matrix_exp(tp.from_numpy(a)).numpy()
    np.testing.assert_allclose(got[0], np.exp(50) * np.eye(2), rtol=1e-13)
    np.testing.assert_allclose(got[1], np.exp(1e-8) * np.eye(2), rtol=1e-15)
    np.testing.assert_array_equal(got[2], [[1, 1], [0, 1]])
    assert np.isnan(got[3]).all()


@pytest.mark.parametrize("a", [np.eye(3), np.zeros((3, 3)), np.eye(3, k=1), np.diag([1.0, 1.0, 2.0])])
def test_derivatives_of_exponentials_at_ties(a):
    """At multiples of the identity the first and second derivatives are those of exp, symmetrised."""
    t = tp.from_numpy(a)
    assert gradcheck(tp.linalg.matrix_exp, (t,), order=2)
    e, f = (tp.from_numpy(RNG.standard_normal((3, 3))) for _ in range(2))

    def along(x):
        return tp.linalg.matrix_exp(x[0] * e + x[1] * f)

    zero = tp.zeros(2, dtype=tp.float64)
    want = ((e @ f + f @ e) / 2).numpy()
    for second in (jacfwd(jacrev(along)), jacfwd(jacfwd(along)), jacrev(jacrev(along))):
        np.testing.assert_allclose(second(zero)[..., 0, 1].numpy(), want, atol=1e-13)


def test_distances_that_cancellation_would_lose():
    a = 1e4 + RNG.standard_normal((40, 3)) * 1e-6
    t = tp.from_numpy(a)
    want = np.sqrt(((a[:, None] - a[None]) ** 2).sum(-1))
    np.testing.assert_allclose(tp.cdist(t, t).numpy(), want, rtol=1e-15)
    assert (tp.cdist(t, t).diagonal() == 0).all()


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, float("inf")])
def test_derivatives_where_points_coincide(p):
    x = tp.from_numpy(RNG.standard_normal((3, 2)))
    y = x.clone()
    g = grad(lambda a: tp.cdist(a, y, p).sum())(x)
    assert g.isfinite().all()
    one = tp.ones(1, 2, dtype=tp.float64)
    assert (grad(lambda a: tp.cdist(a, one, p).sum())(one) == 0).all()
    if p == 2:
        far = tp.from_numpy(RNG.standard_normal((4, 2)) + 5)
        assert gradcheck(lambda a, b: tp.cdist(a, b), (x, far), order=2)
        h = hessian(lambda a: (tp.cdist(a, far) ** 2).sum())(x).reshape(6, 6)
        np.testing.assert_allclose(h.numpy(), 2 * 4 * np.eye(6), atol=1e-9)
    batch = tp.stack([x, x + 1])
    np.testing.assert_allclose(vmap(lambda a: tp.cdist(a, y, p))(batch)[1].numpy(), tp.cdist(x + 1, y, p).numpy())


def test_errors():
    x = tp.ones(2, 3)
    for call, kind, text in (
        (lambda: tp.linalg.matrix_exp(x), RuntimeError, "linalg.matrix_exp: needs square"),
        (lambda: tp.matrix_exp(tp.ones(2, 2, dtype=tp.int64)), TypeError, "matrix_exp: needs float32"),
        (lambda: tp.cdist(x, tp.ones(2, 2)), RuntimeError, "cdist: points"),
        (lambda: tp.cdist(x, x, -1.0), RuntimeError, "cdist: p must not be negative"),
        (lambda: tp.cdist(x, x.double()), RuntimeError, "cdist: dtypes differ"),
        (lambda: tp.cdist(x, x, compute_mode="fast"), RuntimeError, "unknown compute_mode"),
        (lambda: tp.cdist(x.long(), x.long()), TypeError, "cdist: needs float32"),
        (lambda: tp.renorm(tp.ones(3), 2, 0, 1.0), RuntimeError, "renorm: at least 2"),
        (lambda: tp.renorm(x, 0, 0, 1.0), RuntimeError, "p must be positive"),
        (lambda: tp.renorm(x, 2, 0, -1.0), RuntimeError, "maxnorm must not be negative"),
        (lambda: tp.renorm(x, 2, 2, 1.0), IndexError, "renorm"),
    ):
        with pytest.raises(kind, match=text):
            call()
