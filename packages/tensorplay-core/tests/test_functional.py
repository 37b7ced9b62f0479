"""autograd.functional against closed forms."""

import numpy as np
import pytest

import tensorplay as tp

F = tp.autograd.functional
A = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])
X = np.array([0.5, -1.0, 2.0])
a, x = tp.tensor(A), tp.tensor(X)


def test_products():
    f = lambda v: (a * v * v).sum(1)
    u, w = np.array([2.0, -1.0]), np.array([1.0, 0.5, -2.0])
    value, g = F.vjp(f, x, tp.tensor(u))
    np.testing.assert_allclose(value.numpy(), A @ X**2)
    np.testing.assert_allclose(g.numpy(), 2 * X * (u @ A))
    value, t = F.jvp(f, x, tp.tensor(w))
    np.testing.assert_allclose(t.numpy(), A @ (2 * X * w))
    s = lambda v: (v**3).sum()
    for product in (F.vhp, F.hvp):
        value, h = product(s, x, tp.tensor(w))
        np.testing.assert_allclose(value.numpy(), (X**3).sum())
        np.testing.assert_allclose(h.numpy(), 6 * X * w)
    assert not g.requires_grad and x.grad is None


@pytest.mark.parametrize("vectorize", [True, False])
def test_jacobian_and_hessian(vectorize):
    f = lambda v: (a * v * v).sum(1)
    j = F.jacobian(f, x, vectorize=vectorize)
    np.testing.assert_allclose(j.numpy(), 2 * A * X)
    two = F.jacobian(lambda v, w: (v * w, v.sum()), (x, x + 1), vectorize=vectorize)
    np.testing.assert_allclose(two[0][0].numpy(), np.diag(X + 1))
    np.testing.assert_allclose(two[0][1].numpy(), np.diag(X))
    np.testing.assert_allclose(two[1][0].numpy(), np.ones(3))
    np.testing.assert_allclose(two[1][1].numpy(), np.zeros(3))
    with pytest.raises(RuntimeError, match="strict"):
        F.jacobian(lambda v, w: v.sum(), (x, x), strict=True, vectorize=vectorize)
    h = F.hessian(lambda v: (v**3).sum(), x, vectorize=vectorize)
    np.testing.assert_allclose(h.numpy(), np.diag(6 * X))
    h = F.hessian(lambda v, w: (v * v * w).sum(), (x, x), vectorize=vectorize)
    np.testing.assert_allclose(h[0][1].numpy(), np.diag(2 * X))
    np.testing.assert_allclose(h[1][1].numpy(), np.zeros((3, 3)))
    assert F.jacobian(lambda v: v[:0], x, vectorize=vectorize).shape == (0, 3)


def test_results_can_be_differentiated():
    v = tp.tensor(X, requires_grad=True)
    j = F.jacobian(lambda t: t * t * t, v, create_graph=True)
    (g,) = tp.autograd.grad(j.sum(), v)
    np.testing.assert_allclose(g.numpy(), 6 * X)
    _, t = F.jvp(lambda t: t * t * t, v, tp.ones_like(x), create_graph=True)
    (g,) = tp.autograd.grad(t.sum(), v)
    np.testing.assert_allclose(g.numpy(), 6 * X)


def test_refusals():
    for call, error in (
        (lambda: F.vjp(lambda v: v, x), RuntimeError), (lambda: F.vjp(lambda v: 3, x), TypeError),
        (lambda: F.jvp(lambda v: v, x, tp.zeros(2)), ValueError), (lambda: F.hessian(lambda v: v, x), RuntimeError),
        (lambda: F.jacobian(lambda v: v, 3), TypeError),
        (lambda: F.jvp(lambda v: tp.zeros(1), x, x, strict=True), RuntimeError),
    ):  # fmt: skip
        with pytest.raises(error):
            call()
