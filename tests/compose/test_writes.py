"""Writes into tensors made inside a mapped or differentiated function, under every nesting of two transforms."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, jacfwd, jvp, vmap

D = tp.float64


def element(x):
    out = tp.zeros(3, dtype=D)
    out[0] = x * x
    return out.sum()


def through_a_view(x):
    out = tp.zeros(3, dtype=D)
    tail = out[1:]
    tail[0] = x * x
    return out.sum()


def seen_by_the_view(x):
    out = tp.zeros(3, dtype=D)
    tail = out[1:]
    out[1] = x * x
    return tail.sum()


def then_scaled(x):
    out = tp.zeros(2, 2, dtype=D)
    out.diagonal().copy_(x)
    out *= x
    return out[0, 0]


def whole(x):
    out = tp.zeros((), dtype=D)
    out.copy_(x)
    out.mul_(x)
    return out


def overwritten(x):
    out = x * tp.ones(2, dtype=D)
    out[0] = 7.0
    out[1] *= x
    return out[1]


FUNCTIONS = [element, through_a_view, seen_by_the_view, then_scaled, whole, overwritten]  # each is x ** 2
X = np.array([1.5, -2.0, 0.25])
ONE = tp.ones((), dtype=D)


def push(f):
    return lambda x: jvp(f, (x,), (ONE,))[1]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_square(f):
    x = tp.tensor(X)
    np.testing.assert_allclose([float(f(v)) for v in x], X**2)
    np.testing.assert_allclose(vmap(f)(x).numpy(), X**2)
    for first in (grad, push, jacfwd):
        np.testing.assert_allclose([float(first(f)(v)) for v in x], 2 * X)
        np.testing.assert_allclose(vmap(first(f))(x).numpy(), 2 * X)
        for second in (grad, push):
            np.testing.assert_allclose(vmap(second(first(f)))(x).numpy(), [2, 2, 2])
    np.testing.assert_allclose(grad(lambda v: vmap(f)(v).sum())(x).numpy(), 2 * X)
    np.testing.assert_allclose(push_all(f)(x).numpy(), 2 * X)
    np.testing.assert_allclose(grad(lambda v: vmap(grad(f))(v).sum())(x).numpy(), [2, 2, 2])
    rows = tp.tensor(np.stack([X, X + 1]))
    np.testing.assert_allclose(vmap(vmap(f))(rows).numpy(), rows.numpy() ** 2)


def push_all(f):
    return lambda x: jvp(vmap(f), (x,), (tp.ones(3, dtype=D),))[1]


def test_captured_tensor_is_plain_again():
    kept = tp.zeros(3, dtype=D)

    def f(x):
        kept[0] = x * x
        return kept.sum()

    np.testing.assert_allclose(float(grad(f)(tp.tensor(3.0, dtype=D))), 6)
    np.testing.assert_allclose((kept + 0).numpy(), [9, 0, 0])
    np.testing.assert_allclose(float(push(f)(tp.tensor(2.0, dtype=D))), 4)
    np.testing.assert_allclose(kept.numpy(), [4, 0, 0])


def test_inner_level_writes_into_a_tensor_of_an_outer_one():
    def f(x):
        out = x * tp.ones(2, dtype=D)
        kept = out.clone()  # what is written below must not be what a backward pass needs
        inner = grad(lambda y: (kept * y * y).sum())(x)  # 4 x^2
        out[0] = inner
        return out.sum()  # 4 x^2 + x

    np.testing.assert_allclose(float(grad(f)(tp.tensor(3.0, dtype=D))), 25)
    np.testing.assert_allclose(vmap(grad(f))(tp.tensor(X)).numpy(), 8 * X + 1)
