"""Determinants at singular matrices to third order, factorisations and their derivatives, errors."""

import itertools

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, jacfwd, jacrev, jvp, vjp, vmap
from tensorplay.testing import gradcheck

scipy_linalg = pytest.importorskip("scipy.linalg")
RNG = np.random.default_rng(8)


def leibniz(a):
    """The determinant as the polynomial that it is."""
    total = 0
    for order in itertools.permutations(range(a.shape[0])):
        sign = np.linalg.det(np.eye(len(order))[list(order)])
        term = tp.ones((), dtype=a.dtype) * sign
        for i, j in enumerate(order):
            term = term * a[i, j]
        total = total + term
    return total


def matrix(rank, n=4, imaginary=False):
    a = RNG.standard_normal((n, rank)) @ RNG.standard_normal((rank, n))
    return a + 1j * RNG.standard_normal((n, rank)) @ RNG.standard_normal((rank, n)) if imaginary else a


@pytest.mark.parametrize("rank", [4, 3, 2, 1, 0])
@pytest.mark.parametrize(
    "order", [grad, lambda f: jacrev(grad(f)), lambda f: jacfwd(jacrev(f)), lambda f: jacfwd(jacfwd(f)),
              lambda f: jacfwd(jacrev(grad(f))), lambda f: jacrev(jacfwd(jacrev(f))),
              lambda f: jacfwd(jacfwd(jacfwd(f)))],
    ids=["r", "rr", "fr", "ff", "frr", "rfr", "fff"])  # fmt: skip
def test_determinant_derivatives_at_every_rank(rank, order):
    a = tp.from_numpy(matrix(rank))
    want = order(leibniz)(a).numpy()
    np.testing.assert_allclose(order(tp.linalg.det)(a).numpy(), want, atol=1e-11)
    both = vmap(order(tp.det))(tp.stack([a, a + 1])).numpy()
    np.testing.assert_allclose(both, [want, order(leibniz)(a + 1).numpy()], atol=1e-10)


def test_fourth_derivative_of_a_regular_determinant():
    def fourth(f):
        return jacfwd(jacfwd(jacrev(grad(f))))

    a = tp.from_numpy(matrix(3, 3)) + 3 * tp.eye(3)
    np.testing.assert_allclose(fourth(tp.linalg.det)(a).numpy(), fourth(leibniz)(a).numpy(), atol=1e-11)
    with pytest.raises(tp.linalg.LinAlgError, match="singular"):
        fourth(tp.linalg.det)(tp.zeros(3, 3))


def test_complex_determinants():
    z = matrix(2, 3, True)
    for a in (z, matrix(1, 3, True)):
        t = tp.from_numpy(a)
        assert abs(tp.linalg.det(t).item() - np.linalg.det(a)) < 1e-13
        assert gradcheck(tp.linalg.det, (t,), order=2)


def test_scales_of_determinants():
    assert tp.linalg.det(tp.eye(400, dtype=tp.float64) * 0.5).item() == 0.5**400
    assert tp.linalg.det(tp.diag(tp.full((3,), float("inf")))).item() == float("inf")
    assert np.isnan(tp.linalg.det(tp.full((2, 2), float("nan"))).item())
    assert tp.det(tp.ones(0, 0)).item() == 1 and tp.det(tp.ones(3, 0, 0)).tolist() == [1, 1, 1]


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5), (2, 4, 4), (1, 1), (0, 3), (3, 0), (60, 40)])
@pytest.mark.parametrize("imaginary", [False, True])
def test_lu(shape, imaginary):
    a = RNG.standard_normal(shape) + (1j * RNG.standard_normal(shape) if imaginary else 0)
    t = tp.from_numpy(a)
    p, low, up = tp.linalg.lu(t)
    np.testing.assert_allclose((p @ low @ up).numpy(), a, atol=1e-12)
    if a.size:
        for got, want in zip((p, low, up), scipy_linalg.lu(a)):
            np.testing.assert_allclose(got.numpy(), want, atol=1e-12)
    factors, pivots = tp.linalg.lu_factor(t)
    for got, want in zip(tp.lu_unpack(factors, pivots), (p, low, up)):
        np.testing.assert_array_equal(got.numpy(), want.numpy())
    _, low, up = tp.linalg.lu(t, pivot=False)
    np.testing.assert_allclose((low @ up).numpy(), a, atol=1e-9)
    if 0 not in shape and shape[0] < 60:
        assert gradcheck(lambda x: tp.linalg.lu(x)[1:], (t,), order=2)


def test_solves_by_lu_and_ldl():
    a, b = RNG.standard_normal((2, 3, 3)) + 1j, RNG.standard_normal((3, 2)) + 0.5j
    t, r = tp.from_numpy(a), tp.from_numpy(b)
    factors = tp.linalg.lu_factor(t)
    np.testing.assert_allclose((t @ tp.linalg.lu_solve(*factors, r)).numpy(), np.stack([b, b]), atol=1e-12)
    x = tp.linalg.lu_solve(*factors, r.mT, left=False, adjoint=True)
    np.testing.assert_allclose((x @ t.mH).numpy(), np.stack([b.T, b.T]), atol=1e-12)
    h = t + t.mH
    for m, hermitian in ((t + t.mT, False), (h, True)):
        parts = tp.linalg.ldl_factor(m, hermitian=hermitian)
        x = tp.linalg.ldl_solve(*parts, r, hermitian=hermitian)
        np.testing.assert_allclose((m @ x).numpy(), np.stack([b, b]), atol=1e-11)
        assert gradcheck(lambda y: tp.linalg.ldl_solve(*parts, y, hermitian=hermitian), (r,), order=2)
    real = np.array([[0.0, 1], [1, 0]])  # needs a block of two rows
    parts = tp.linalg.ldl_factor(tp.from_numpy(real))
    np.testing.assert_allclose(tp.linalg.ldl_solve(*parts, tp.eye(2, dtype=tp.float64)).numpy(), real, atol=1e-15)


def test_reflectors():
    for shape in ((4, 3), (3, 3), (2, 5, 2)):
        a = tp.from_numpy(RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape))
        stored, tau = tp.geqrf(a)
        q = tp.linalg.householder_product(stored, tau)
        np.testing.assert_allclose((q @ stored.triu()[..., : shape[-1], :]).numpy(), a.numpy(), atol=1e-13)
        other = tp.from_numpy(RNG.standard_normal((*shape[:-1], 2)) + 0j)
        whole = tp.ormqr(stored, tau, other)
        np.testing.assert_allclose(tp.ormqr(stored, tau, whole, transpose=True).numpy(), other.numpy(), atol=1e-13)
        assert gradcheck(tp.linalg.householder_product, (stored, tau), order=2)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (3, 3)])
@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
def test_least_squares(shape, driver):
    a, b = RNG.standard_normal(shape), RNG.standard_normal((shape[0], 2))
    t, r = tp.from_numpy(a), tp.from_numpy(b)
    want = np.linalg.lstsq(a, b, rcond=None)
    got = tp.linalg.lstsq(t, r, driver=driver)
    np.testing.assert_allclose(got.solution.numpy(), want[0], atol=1e-12)
    if driver != "gelsy" and shape == (5, 3):
        np.testing.assert_allclose(got.residuals.numpy(), want[1], atol=1e-12)
    if driver != "gels":
        assert got.rank.item() == 3
    if driver in ("gelsd", "gelss"):
        np.testing.assert_allclose(got.singular_values.numpy(), want[3], atol=1e-12)
    assert gradcheck(lambda x, y: tp.linalg.lstsq(x, y, driver=driver).solution, (t, r), order=2)
    low = tp.from_numpy(np.outer(a[:, 0], a[0]))
    if driver != "gels":
        x = tp.linalg.lstsq(low, r, driver=driver)
        assert x.rank.item() == 1
        np.testing.assert_allclose(x.solution.numpy(), np.linalg.pinv(low.numpy(), 1e-10) @ b, atol=1e-10)


def test_modes_agree_on_lu():
    for shape in ((4, 4), (5, 3), (3, 5)):
        a = tp.from_numpy(RNG.standard_normal(shape))
        t = tp.from_numpy(RNG.standard_normal(shape))

        def f(x):
            return tp.linalg.lu(x)[1:]

        out, pull = vjp(f, a)
        cotangents = tuple(tp.from_numpy(RNG.standard_normal(o.shape)) for o in out)
        _, tangents = jvp(f, (a,), (t,))
        left = sum((x * y).sum() for x, y in zip(tangents, cotangents)).item()
        assert abs(left - (pull(cotangents)[0] * t).sum().item()) < 1e-10


def test_errors():
    eye, wide = tp.eye(3), tp.ones(2, 3)
    batch = tp.stack([eye, tp.zeros(3, 3)])
    factors, pivots = tp.linalg.lu_factor(eye)
    for call, kind, text in (
        (lambda: tp.linalg.det(wide), RuntimeError, "linalg.det: needs square"),
        (lambda: tp.det(tp.ones(3)), RuntimeError, "det: needs at least 2"),
        (lambda: tp.linalg.det(tp.ones(2, 2, dtype=tp.int64)), TypeError, "linalg.det: needs float32"),
        (lambda: tp.linalg.lu_factor(batch), tp.linalg.LinAlgError, r"linalg.lu_factor: .*\(matrix 1 of the batch\)"),
        (lambda: vmap(tp.linalg.lu_factor)(batch), tp.linalg.LinAlgError, r"matrix 1 of the batch"),
        (lambda: tp.linalg.lu_factor_ex(batch, check_errors=True), tp.linalg.LinAlgError, "lu_factor_ex"),
        (lambda: tp.linalg.lu_solve(factors, pivots, tp.ones(2, 2)), RuntimeError, "linalg.lu_solve: "),
        (lambda: tp.linalg.lu_solve(factors, pivots[:2], eye), RuntimeError, "pivots of shape"),
        (lambda: tp.linalg.lu_solve(factors, pivots.long(), eye), RuntimeError, "int32 is needed"),
        (lambda: tp.linalg.ldl_factor(tp.zeros(2, 2)), tp.linalg.LinAlgError, "linalg.ldl_factor: "),
        (lambda: tp.linalg.ldl_solve(eye, pivots * 9, eye), RuntimeError, "pivots must lie between"),
        (lambda: tp.linalg.householder_product(wide, tp.ones(2)), RuntimeError, "at least as many rows"),
        (lambda: tp.linalg.householder_product(eye, tp.ones(4)), RuntimeError, "do not fit"),
        (lambda: tp.ormqr(eye, tp.ones(3), tp.ones(2, 2)), RuntimeError, "do not fit"),
        (lambda: tp.linalg.lstsq(eye, tp.ones(2, 2)), RuntimeError, "linalg.lstsq: "),
        (lambda: tp.linalg.lstsq(eye, eye, driver="best"), RuntimeError, "driver must be"),
        (lambda: tp.linalg.lstsq(eye, eye.double()), RuntimeError, "dtypes differ"),
        (lambda: tp.linalg.lstsq(eye[:, :2] * eye[0, :2], eye, driver="gels"), tp.linalg.LinAlgError, "full rank"),
    ):
        with pytest.raises(kind, match=text):
            call()
    assert tp.linalg.lu_factor_ex(batch).info.tolist() == [0, 1]
    assert tp.lu(batch, get_infos=True)[2].tolist() == [0, 1]
