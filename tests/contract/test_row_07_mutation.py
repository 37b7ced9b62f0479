"""Row 7: in-place operators under vmap do what the loop does."""

import pytest

import tensorplay as tp
from tensorplay.func import grad, jacfwd, jacrev, jvp, vmap
from tensorplay.testing import assert_close


def both(f, *tensors):
    """vmap and the loop, on copies: the results, and the arguments afterwards."""
    a, b = [t.clone() for t in tensors], [t.clone() for t in tensors]
    got = vmap(f)(*a)
    want = tp.stack([f(*row) for row in zip(*(t.unbind(0) for t in b))])
    return got, want, a, b


MUTATIONS = {
    "add_": lambda x, y: x.add_(y),
    "sub_": lambda x, y: x.sub_(y, alpha=2),
    "mul_": lambda x, y: x.mul_(y),
    "div_": lambda x, y: x.div_(y.abs() + 1),
    "+=": lambda x, y: x.__iadd__(y),
    "copy_": lambda x, y: x.copy_(y),
    "fill_": lambda x, y: x.fill_(y.sum()),
    "zero_": lambda x, y: x.zero_(),
    "exp_": lambda x, y: x.exp_(),
    "clamp_": lambda x, y: x.clamp_(-0.5, 0.5),
    "masked_fill_": lambda x, y: x.masked_fill_(y > 0, 3.0),
    "x[0] = y": lambda x, y: (x.__setitem__(0, y[1]), x)[1],
    "x[1:] = y": lambda x, y: (x.__setitem__(slice(1, None), y[1:]), x)[1],
    "x[mask] = 0": lambda x, y: (x.__setitem__(tp.tensor([True, False, True]), 0.0), x)[1],
    "x[index] = y": lambda x, y: (x.__setitem__(tp.tensor([2, 0]), y[:2]), x)[1],
    "view": lambda x, y: (x.view(3, 1).add_(y.unsqueeze(1)), x)[1],
    "slice of a slice": lambda x, y: (x[1:][0:1].mul_(y[:1]), x)[1],
    "index_add_": lambda x, y: x.index_add_(0, tp.tensor([0, 0, 2]), y),
    "scatter_": lambda x, y: x.scatter_(0, tp.tensor([2, 1, 0]), y),
    "index_put_": lambda x, y: x.index_put_([tp.tensor([0, 0])], y[:2], True),
    "tril_": lambda x, y: x.expand(1, 3).clone().tril_()[0] + y,
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutating_a_mapped_tensor(name):
    tp.manual_seed(1)
    x, y = tp.randn(4, 3, dtype=tp.float64), tp.randn(4, 3, dtype=tp.float64)
    got, want, a, b = both(MUTATIONS[name], x, y)
    assert_close(got, want)
    for after, loop in zip(a, b):
        assert_close(after, loop)  # the caller sees it


def test_mutating_along_another_in_dim_shows_too():
    x = tp.zeros(2, 3)
    vmap(lambda t: t.add_(1), 1)(x)
    assert_close(x, tp.ones(2, 3))
    view = tp.zeros(3, 4)
    vmap(lambda t: t.add_(1))(view[:, 1:3])
    assert_close(view.sum(), tp.tensor(6.0))


def test_the_example_of_the_reference():
    x, y = tp.randn(3, 1), tp.randn(3, 1)
    want = x + y
    assert_close(vmap(lambda x, y: x.add_(y), in_dims=(0, 0))(x, y), want)
    assert_close(x, want)


def test_a_tensor_made_inside_becomes_batched():
    x = tp.randn(4, 3, dtype=tp.float64)

    def f(x):
        out = tp.zeros(3, dtype=tp.float64)
        out[0] = x.sum()
        out[1:] = x[:2]
        return out

    assert_close(vmap(f)(x), tp.stack([f(r) for r in x.unbind(0)]))


@pytest.mark.parametrize("name", ["add_", "x[0] = y", "fill_", "index_put_"])
def test_a_captured_tensor_refuses_a_mapped_value(name):
    w = tp.zeros(3)
    calls = {
        "add_": lambda x: w.add_(x),
        "x[0] = y": lambda x: w.__setitem__(0, x[0]),
        "fill_": lambda x: w.fill_(x[0]),
        "index_put_": lambda x: w.index_put_([tp.tensor([0])], x[:1]),
    }
    with pytest.raises(RuntimeError) as caught:
        vmap(lambda x: (calls[name](x), x)[1])(tp.ones(2, 3))
    text = str(caught.value)
    assert "captured" in text and "\n" not in text and ("out-of-place" in text or "w + " in text)
    assert_close(w, tp.zeros(3))


def test_a_captured_tensor_takes_an_unmapped_value_once():
    w = tp.zeros(3)
    vmap(lambda x: (w.add_(1), x)[1])(tp.ones(5, 3))
    assert_close(w, tp.ones(3))
    w[1] = 7
    vmap(lambda x: (w.__setitem__(1, w[0] + 1), x)[1])(tp.ones(5, 3))
    assert_close(w, tp.tensor([1.0, 2.0, 1.0]))


def test_writing_through_an_expanded_dimension_is_an_error():
    with pytest.raises(RuntimeError):
        tp.zeros(1).expand(3).add_(1)
    with pytest.raises(RuntimeError):
        vmap(lambda x: x.unsqueeze(0).expand(2, 3).add_(x))(tp.ones(4, 3))


def test_derivatives_through_mutation():
    x = tp.tensor([0.5, 2.0, -1.0], dtype=tp.float64)

    def f(x):
        y = x.clone()
        y.mul_(x)
        y[0] = y[1].clone() * x[2]  # what a product saves must not be written to later
        y[1:].exp_()
        return y

    def pure(x):
        return tp.stack([x[1] * x[1] * x[2], (x[1] * x[1]).exp(), (x[2] * x[2]).exp()])

    assert_close(f(x), pure(x))
    assert_close(jacrev(f)(x), jacrev(pure)(x))
    assert_close(jacfwd(f)(x), jacfwd(pure)(x))
    _, t = jvp(f, (x,), (x,))
    assert_close(t, jvp(pure, (x,), (x,))[1])
    batch = tp.stack([x, x * 0.5])
    assert_close(vmap(jacrev(f))(batch), tp.stack([jacrev(pure)(r) for r in batch.unbind(0)]))
    assert_close(grad(lambda b: vmap(f)(b).sum())(batch), grad(lambda b: vmap(pure)(b).sum())(batch))


def test_mutating_the_differentiated_argument():
    x = tp.tensor([1.0, 2.0], dtype=tp.float64)
    g = grad(lambda t: (t.exp_(), (t * 3).sum())[1])
    assert_close(g(x.clone()), 3 * x.exp())


def test_a_saved_value_that_was_overwritten_is_reported():
    x = tp.tensor([1.0, 2.0], dtype=tp.float64)

    def f(t):
        y = t * 2
        z = y * y
        y.add_(1)
        return z.sum()

    with pytest.raises(RuntimeError, match=r"mul.*modified by an in-place operation") as caught:
        grad(f)(x)
    assert "\n" not in str(caught.value)


def test_a_tensor_that_a_leaf_was_copied_into_is_no_leaf():
    leaf = tp.tensor([1.0, 2.0], dtype=tp.float64, requires_grad=True)
    y = tp.zeros(2, dtype=tp.float64)
    y.copy_(leaf)
    assert y.requires_grad and not y.is_leaf
    y.mul_(3.0)
    y[0] += 1.0
    (y * y).sum().backward()
    assert_close(leaf.grad, tp.tensor([24.0, 36.0], dtype=tp.float64))
    assert y.grad is None
