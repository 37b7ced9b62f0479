"""Factorisations and solves: errors, and derivatives that the operator database can't take."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, vmap
from tensorplay.testing import gradcheck

A = np.array([[2.0, 0.5, 0.1], [0.3, 3.0, -0.2], [0.4, 0.1, 2.5]])


def gram(a):
    return a @ a.conj().transpose(-1, -2) + tp.eye(3, dtype=a.dtype)


@pytest.mark.parametrize("name", ["cholesky", "linalg.cholesky"])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("shift", [0, 0.3j])
def test_cholesky_derivatives(name, upper, shift):
    f = tp.cholesky if name == "cholesky" else tp.linalg.cholesky
    x = tp.tensor(np.stack([A, A.T]) + shift * np.tri(3))
    gradcheck(lambda a: f(gram(a), upper=upper), x, order=2)
    gradcheck(lambda a: vmap(lambda b: f(gram(b), upper=upper))(a), x, order=1)


def test_the_matrix_at_fault():
    a = tp.tensor(np.stack([A, A - A, A]))
    for f in (tp.linalg.inv, tp.linalg.cholesky, lambda a: tp.linalg.solve(a, a)):
        with pytest.raises(tp.linalg.LinAlgError, match="matrix 1 of the batch"):
            f(a)
        with pytest.raises(tp.linalg.LinAlgError, match="matrix 1 of the batch"):
            vmap(f)(a)
        with pytest.raises(tp.linalg.LinAlgError):
            f(a[1])
    assert tp.linalg.inv_ex(a)[1].tolist() == [0, 1, 0]
    assert tp.linalg.cholesky_ex(a)[1].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: tp.linalg.inv(tp.ones(2, 3)), RuntimeError),
        (lambda: tp.linalg.inv(tp.ones(3)), RuntimeError),
        (lambda: tp.linalg.inv(tp.ones(2, 2, dtype=tp.int64)), TypeError),
        (lambda: tp.linalg.solve(tp.ones(2, 2), tp.ones(3, 1)), RuntimeError),
        (lambda: tp.linalg.solve(tp.ones(2, 2), tp.ones(2), left=False), RuntimeError),
        (lambda: tp.linalg.solve(tp.ones(2, 2), tp.tensor(1.0), left=False), RuntimeError),
        (lambda: tp.linalg.solve(tp.ones(2, 2), tp.ones(2, 2, dtype=tp.float64)), RuntimeError),
        (lambda: tp.linalg.solve_triangular(tp.ones(2, 2), tp.ones(3, 2), upper=True), RuntimeError),
        (lambda: tp.linalg.matrix_power(tp.ones(2, 3), 2), RuntimeError),
        (lambda: tp.linalg.multi_dot([tp.ones(2, 3)]), RuntimeError),
        (lambda: tp.linalg.multi_dot([tp.ones(2, 3), tp.ones(2, 3)]), RuntimeError),
        (lambda: tp.linalg.vander(tp.ones(3), N=1), RuntimeError),
        (lambda: tp.linalg.cross(tp.ones(2), tp.ones(2)), RuntimeError),
        (lambda: tp.cross(tp.ones(2), tp.ones(2)), RuntimeError),
        (lambda: tp.linalg.vecdot(tp.ones(2), tp.ones(3)), RuntimeError),
        (lambda: tp.linalg.tensorinv(tp.ones(2, 3), 1), RuntimeError),
        (lambda: tp.linalg.tensorsolve(tp.ones(2, 3), tp.ones(2)), RuntimeError),
    ],
)
def test_bad_input(call, error):
    with pytest.raises(error):
        call()


def test_complete_qr():
    a = np.stack([A[:, :2], A[:, 1:]])
    q, r = tp.linalg.qr(tp.tensor(a), "complete")
    assert q.shape == (2, 3, 3) and r.shape == (2, 3, 2)
    np.testing.assert_allclose((q @ r).numpy(), a, atol=1e-14)
    np.testing.assert_allclose((q.transpose(-1, -2) @ q).numpy(), np.stack([np.eye(3)] * 2), atol=1e-14)
    with pytest.raises(RuntimeError, match="complete has no derivative"):
        grad(lambda x: tp.linalg.qr(x, "complete")[1].sum())(tp.tensor(a))
    with pytest.raises(RuntimeError, match="mode must be"):
        tp.linalg.qr(tp.tensor(a), "economic")
