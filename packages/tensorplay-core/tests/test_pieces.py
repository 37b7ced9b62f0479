"""Cotangents of pieces of a tensor, which the backward pass adds in place where it may."""

import numpy as np
import pytest

import tensorplay as tp

D = tp.float64
X = np.arange(1.0, 9.0).reshape(4, 2)


def leaf():
    return tp.tensor(X, requires_grad=True)


def pieces(y):
    """A function of rows, slices, strided slices and the whole, and its gradient."""
    value = (y[0] ** 2).sum() + (y[3] * y[1]).sum() + (y[1:3] ** 3).sum() + (y[::2] * 5).sum() + y.sum() + y[-1, 1] * 7
    z = y.detach().numpy()
    g = np.ones_like(z)
    g[0] += 2 * z[0]
    g[3] += z[1]
    g[1] += z[3]
    g[1:3] += 3 * z[1:3] ** 2
    g[::2] += 5
    g[-1, 1] += 7
    return value, g


def test_the_sum_of_all_pieces():
    x = leaf()
    value, want = pieces(x)
    (got,) = tp.autograd.grad(value, x)
    np.testing.assert_array_equal(got.numpy(), want)


def test_twice_through_one_graph():
    x = leaf()
    value, want = pieces(x)
    for _ in range(2):
        (got,) = tp.autograd.grad(value, x, retain_graph=True)
        np.testing.assert_array_equal(got.numpy(), want)
    value.backward()
    np.testing.assert_array_equal(x.grad.numpy(), want)
    with pytest.raises(RuntimeError, match="freed|retain_graph"):
        value.backward()
    np.testing.assert_array_equal(x.grad.numpy(), want)


def test_of_something_in_between_with_hook_and_retain_grad():
    x = leaf()
    y = x * 3
    y.retain_grad()
    seen = []
    y.register_hook(lambda g: seen.append(g.clone()))
    value, want = pieces(y)
    value.backward()
    np.testing.assert_array_equal(y.grad.numpy(), want)
    np.testing.assert_array_equal(x.grad.numpy(), 3 * want)
    assert len(seen) == 1 and (seen[0].numpy() == want).all()


def test_what_a_hook_keeps_is_not_written_later():
    x = leaf()
    y = x * 1.0
    row, kept = y[0], []
    row.register_hook(kept.append)
    (row.sum() * 2 + (y[0] * 3).sum() + (y[1] * 4).sum() + (y * 5).sum()).backward()
    assert kept[0].tolist() == [2, 2]
    assert x.grad.tolist() == [[10, 10], [9, 9], [5, 5], [5, 5]]


def test_the_cotangent_given_is_not_written():
    x = leaf()
    given = tp.ones(4, 2, dtype=D)
    y = x * 1.0
    tp.autograd.backward([y, y[0], y[1]], [given, tp.ones(2, dtype=D), tp.ones(2, dtype=D)])
    assert given.tolist() == np.ones((4, 2)).tolist()
    assert x.grad.tolist() == [[2, 2], [2, 2], [1, 1], [1, 1]]


def test_one_cotangent_for_two_tensors():
    a, b = leaf(), leaf()
    c = (a * 1.0) + (b * 1.0)  # both take the same cotangent
    (c.sum() + (c[0] * 2).sum() + (c[0] * 3).sum()).backward()
    want = np.ones((4, 2))
    want[0] += 5
    np.testing.assert_array_equal(a.grad.numpy(), want)
    np.testing.assert_array_equal(b.grad.numpy(), want)
    a.grad.zero_()
    np.testing.assert_array_equal(b.grad.numpy(), want)


def test_two_consumers_whose_cotangents_are_one_tensor():
    x = leaf()
    y = x * 1.0
    u, v = y.reshape(8), y.reshape(8)
    w = u + v
    (w.sum() * 2 + (y[0]).sum() + w[3]).backward()
    want = np.full((4, 2), 4.0)
    want[0] += 1
    want[1, 1] += 2
    np.testing.assert_array_equal(x.grad.numpy(), want)


def test_pieces_of_one_of_several_results():
    x = tp.tensor([[3.0, 1.0, 2.0], [5.0, 4.0, 6.0]], requires_grad=True)
    values, order = x.sort(1)
    (values[0, 2] * 2).backward(retain_graph=True)
    assert x.grad.tolist() == [[2, 0, 0], [0, 0, 0]]
    x.grad = None
    (values[0, 2] * 2 + (values[1] * 3).sum() + values[:, 1].sum() + values.sum()).backward()
    assert x.grad.tolist() == [[3, 1, 2], [5, 4, 4]]


def test_second_derivatives():
    x = leaf()
    value, want = pieces(x)
    (g,) = tp.autograd.grad(value, x, create_graph=True)
    np.testing.assert_array_equal(g.detach().numpy(), want)
    ((g * g).sum() / 2).backward()  # the Hessian times the gradient
    h = np.zeros((4, 2, 4, 2))
    for j in range(2):
        h[0, j, 0, j] = 2
        h[3, j, 1, j] = h[1, j, 3, j] = 1
        for i in (1, 2):
            h[i, j, i, j] += 6 * X[i, j]
    np.testing.assert_allclose(x.grad.numpy(), np.einsum("ijkl,kl->ij", h, want), rtol=1e-14)


@pytest.mark.parametrize("n", [1, 8, 9, 65, 600])
def test_many(n):
    x = tp.tensor(np.arange(2.0 * n).reshape(n, 2), requires_grad=True)
    weights = np.cos(np.arange(n))
    for parts in (x.unbind(0), [x[i] for i in range(n)], [p.squeeze(0) for p in x.split(1)],
                  [p.squeeze(0) for p in x.tensor_split(n)]):  # fmt: skip
        assert len(parts) == n
        total = sum((p * p).sum() * w for p, w in zip(parts, weights.tolist()))
        (g,) = tp.autograd.grad(total, x)
        np.testing.assert_allclose(g.numpy(), 2 * x.detach().numpy() * weights[:, None], rtol=1e-14)
