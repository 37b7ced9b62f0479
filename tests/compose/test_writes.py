"""Writes into tensors made inside a mapped or differentiated function, under every nesting of two transforms."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, jacfwd, jacrev, jvp, vmap

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


@pytest.mark.parametrize("cut", [lambda x: x.unbind(0), lambda x: [p.squeeze(0) for p in x.chunk(11)],
                                 lambda x: [p.squeeze(0) for p in x.split([1] * 11)],
                                 lambda x: [p.squeeze(0) for p in x.tensor_split(11)]])  # fmt: skip
def test_many_pieces_of_one_tensor_are_its_views(cut):
    """More pieces than are cut at once: written, read, and differentiated they are parts of the whole."""

    def f(x):
        y = x * 1.0
        parts = cut(y)
        assert len(parts) == 11 and all(p.shape == (2,) for p in parts)
        parts[3].add_(parts[4])
        parts[10][0] = parts[0].sum()
        return (y**3).sum() + (parts[3] * parts[2]).sum()

    def exact(x):
        rows = [x[i] for i in range(11)]
        rows[3] = rows[3] + rows[4]
        rows[10] = tp.stack([rows[0].sum(), rows[10][1]])
        return (tp.stack(rows) ** 3).sum() + (rows[3] * rows[2]).sum()

    xs = tp.tensor(np.random.default_rng(0).standard_normal((3, 11, 2)))
    along = lambda h: lambda x: jvp(grad(h), (x,), (x,))[1]
    for take in (lambda h: h, grad, along, lambda h: jacrev(grad(h))):
        want = np.stack([take(exact)(x).numpy() for x in xs])
        np.testing.assert_allclose(take(f)(xs[0]).numpy(), want[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(vmap(take(f))(xs).numpy(), want, rtol=1e-12, atol=1e-12)
