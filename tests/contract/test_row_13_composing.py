"""Rows 13 to 16: transforms of transforms. All of depth three stand in tests/compose."""

import pytest

import tensorplay as tp
from tensorplay.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from tensorplay.testing import assert_close

tp.manual_seed(0)
W = tp.randn(3, dtype=tp.float64)
X = tp.randn(5, 3, dtype=tp.float64)


def loss(w, x):
    return (w * x).sum().tanh() + (w * w).sum() * x[0]


def loop(f, *batches):
    return tp.stack([f(*row) for row in zip(*(b.unbind(0) for b in batches))])


def test_13_vmap_of_grad_with_a_shared_argument():
    assert_close(vmap(grad(loss), (None, 0))(W, X), loop(lambda x: grad(loss)(W, x), X))


def test_14_vmap_of_grad_over_the_differentiated_argument():
    assert_close(vmap(grad(lambda x: loss(W, x)))(X), loop(grad(lambda x: loss(W, x)), X))
    assert_close(vmap(grad(loss))(X, X), loop(grad(loss), X, X))
    assert_close(vmap(grad(loss, (0, 1)), 1)(X.t(), X.t())[1], loop(grad(loss, 1), X, X))


def test_15_vmap_of_vmap_and_grad_of_vmap():
    f = lambda x, y: (x * y).sin().sum()
    y = tp.randn(4, 3, dtype=tp.float64)
    got = vmap(lambda x: vmap(f, (None, 0))(x, y))(X)
    assert_close(got, tp.stack([tp.stack([f(a, b) for b in y.unbind(0)]) for a in X.unbind(0)]))
    g = grad(lambda w: vmap(loss, (None, 0))(w, X).sum())(W)
    assert_close(g, loop(lambda x: grad(loss)(W, x), X).sum(0))


@pytest.mark.parametrize("transform", [jacrev, jacfwd, hessian])
def test_16_vmap_of_jacobians(transform):
    f = (lambda x: loss(W, x)) if transform is hessian else (lambda x: x.sin() * W.sum() + x[0] * x)
    assert_close(vmap(transform(f))(X), loop(transform(f), X))
    assert_close(vmap(transform(f), 1, -1)(X.t()), loop(transform(f), X).movedim(0, -1))


def test_linearize_and_vjp_functions_under_vmap():
    f = lambda x: x.sin() * x[0]
    out, push = linearize(f, W)
    assert_close(vmap(push)(X), loop(lambda t: jvp(f, (W,), (t,))[1], X))
    out, pull = vjp(f, W)
    assert_close(vmap(lambda c: pull(c)[0])(X), loop(lambda c: vjp(f, W)[1](c)[0], X))


def test_linearize_evaluates_once():
    calls = []

    def f(x):
        calls.append(1)
        return x.sin() * x

    out, push = linearize(f, W)
    for _ in range(3):
        push(W)
    vmap(push)(X)
    assert len(calls) == 1


def test_perturbation_confusion():
    # d/dx (x * d/dy (x + y)) = 1, not 2
    one = tp.tensor(1.0, dtype=tp.float64)
    assert_close(grad(lambda x: x * grad(lambda y: x + y)(one))(one), one)
    inner = lambda x: jvp(lambda y: x + y, (one,), (one,))[1]
    assert_close(jvp(lambda x: x * inner(x), (one,), (one,))[1], one)
    assert_close(grad(lambda x: x * inner(x))(one), one)
    assert_close(jvp(lambda x: x * grad(lambda y: x + y)(one), (one,), (one,))[1], one)
