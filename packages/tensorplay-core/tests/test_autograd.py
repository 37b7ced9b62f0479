"""Plain autograd as Python sees it: grad, backward, modes, hooks, leaves."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay._clib import lib
from tensorplay.autograd import backward, grad

X = np.array([0.5, -1.0, 2.0])


def leaf(*values, dtype=tp.float64):
    return tp.tensor(values or X.tolist(), dtype=dtype, requires_grad=True)


def test_grad():
    x, y = leaf(), leaf(1.0, 2.0, 3.0)
    z = (x * x * y).sum()
    gx, gy = grad(z, [x, y], retain_graph=True)
    np.testing.assert_allclose(gx.numpy(), 2 * X * [1, 2, 3])
    np.testing.assert_allclose(gy.numpy(), X**2)
    assert isinstance(grad(z, x, retain_graph=True), tuple) and x.grad is None
    (g,) = grad(x * y, x, tp.tensor([1.0, 0.0, 2.0], dtype=tp.float64))
    np.testing.assert_allclose(g.numpy(), [1, 0, 6])
    (g,) = grad([x.sum(), (x * 2).sum()], x)
    np.testing.assert_allclose(g.numpy(), 3)


def test_higher_orders():
    x = leaf()
    y = (x**4).sum()
    for k, expected in enumerate((4 * X**3, 12 * X**2, 24 * X, np.full(3, 24.0))):
        (g,) = grad(y, x, create_graph=True)
        np.testing.assert_allclose(g.detach().numpy(), expected, err_msg=str(k))
        y = g.sum()


def test_unused_inputs():
    x, y = leaf(), leaf()
    with pytest.raises(RuntimeError, match="allow_unused"):
        grad(x.sum(), [x, y])
    g, none = grad(x.sum(), [x, y], allow_unused=True)
    assert none is None and g.tolist() == [1, 1, 1]
    assert grad(x.sum(), [x, y], materialize_grads=True)[1].tolist() == [0, 0, 0]
    with pytest.raises(ValueError):
        grad(x.sum(), [x, y], allow_unused=False, materialize_grads=True)


def test_batched_cotangents():
    x = leaf()
    (j,) = grad(x * x, x, tp.eye(3, dtype=tp.float64), is_grads_batched=True)
    np.testing.assert_allclose(j.numpy(), np.diag(2 * X))
    assert lib.tp_level_depth() == 0
    with pytest.raises((ValueError, RuntimeError)):
        grad(x * x, x, tp.zeros(3, 2, dtype=tp.float64), is_grads_batched=True)
    assert lib.tp_level_depth() == 0


def test_backward():
    x, y = leaf(), leaf()
    (x * y).sum().backward()
    (x * 3).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), X + 3)
    np.testing.assert_allclose(y.grad.numpy(), X)
    assert not x.grad.requires_grad
    x.grad = None
    assert x.grad is None
    (x * y).backward(tp.tensor([1.0, 2.0, 3.0], dtype=tp.float64))
    np.testing.assert_allclose(x.grad.numpy(), X * [1, 2, 3])
    x.grad.zero_()
    assert x.grad.tolist() == [0, 0, 0]
    del x.grad
    y.grad = None
    backward([x.sum(), (x * y).sum()], inputs=[x])
    np.testing.assert_allclose(x.grad.numpy(), 1 + X)
    assert y.grad is None
    x.grad = tp.ones(3, dtype=tp.float64)
    (x * 1).sum().backward(create_graph=True)
    np.testing.assert_allclose(x.grad.detach().numpy(), 2)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: grad(x, x), RuntimeError),
        (lambda x: (x * 2).backward(), RuntimeError),
        (lambda x: tp.zeros(1).backward(), RuntimeError),
        (lambda x: grad(x.sum(), tp.zeros(1)), RuntimeError),
        (lambda x: grad(tp.zeros(()), x), RuntimeError),
        (lambda x: (x * 2).backward(tp.zeros(2)), ValueError),
        (lambda x: grad(3, x), TypeError),
        (lambda x: grad(x.sum(), [3]), TypeError),
        (lambda x: grad(x, x, 3), TypeError),
        (lambda x: grad(x, x, [None, None]), ValueError),
        (lambda x: backward(x.sum(), inputs=[]), ValueError),
        (lambda x: grad(x.sum(), x, ["a"]), TypeError),
        (lambda x: setattr(x, "grad", 3), TypeError),
        (lambda x: setattr(x, "grad", tp.zeros(2, dtype=tp.float64)), ValueError),
        (lambda x: setattr(x, "grad", tp.zeros(3)), ValueError),
        (lambda x: (x * 1).requires_grad_(False), RuntimeError),
        (lambda x: tp.tensor([1]).requires_grad_(), RuntimeError),
        (lambda x: tp.zeros(1).register_hook(print), RuntimeError),
        (lambda x: x.register_hook(3), TypeError),
        (lambda x: tp.zeros(1).retain_grad(), RuntimeError),
    ],
)
def test_refusals(call, error):
    with pytest.raises(error) as caught:
        call(leaf())
    assert str(caught.value) and "\n" not in str(caught.value)


def test_a_graph_is_used_once():
    x = leaf()
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 4 * X)
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_in_place_changes_of_saved_values_are_noticed():
    x = leaf()
    y = x * 1
    z = (y * y).sum()
    y += 1
    with pytest.raises(RuntimeError, match="in-place"):
        z.backward()


def test_leaves():
    x = leaf()
    y = x * 2
    assert x.is_leaf and x.requires_grad and not y.is_leaf and y.requires_grad and tp.zeros(1).is_leaf
    assert x.grad_fn is None and y.grad_fn.name() == "mul" and tp.zeros(1).grad_fn is None
    z = y.detach()
    assert not z.requires_grad and z.is_leaf and z.data_ptr() == y.detach().data_ptr() and not y.data.requires_grad
    assert x.requires_grad_(False) is x and not x.requires_grad
    x.requires_grad = True
    assert x.requires_grad
    y = x * 2
    assert y.detach_() is y and not y.requires_grad and y.is_leaf
    y = x * 3
    y.retain_grad()
    (y * y).sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), 6 * X)
    assert (x * 2).grad is None


def test_modes():
    x = leaf()
    assert tp.is_grad_enabled()
    with tp.no_grad():
        assert not tp.is_grad_enabled() and not (x * 2).requires_grad
        with tp.enable_grad():
            assert (x * 2).requires_grad
        with tp.set_grad_enabled(True):
            assert (x * 2).requires_grad
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad

    @tp.no_grad()
    def f(v):
        return v * 2

    @tp.no_grad
    def g(v):
        """Doc."""
        return v * 2

    @tp.set_grad_enabled(False)
    def h(v):
        return v * 2

    assert not f(x).requires_grad and not g(x).requires_grad and not h(x).requires_grad and g.__doc__ == "Doc."
    assert (x * 2).requires_grad
    with pytest.raises(ZeroDivisionError), tp.no_grad():
        1 / 0
    assert tp.is_grad_enabled()
    tp.set_grad_enabled(False)
    assert not (x * 2).requires_grad
    tp.set_grad_enabled(True)
    mode = tp.no_grad()
    with mode, mode:
        assert not tp.is_grad_enabled()
    assert tp.is_grad_enabled()


def test_modes_on_generators():
    closed = []

    @tp.no_grad()
    def numbers(n):
        try:
            got = None
            for i in range(n):
                assert not tp.is_grad_enabled()
                try:
                    got = yield i, got
                except KeyError as e:
                    got = e
            return "end"
        finally:
            closed.append(tp.is_grad_enabled())

    g = numbers(4)
    assert next(g) == (0, None) and tp.is_grad_enabled()
    assert g.send("a") == (1, "a") and tp.is_grad_enabled()
    assert isinstance(g.throw(KeyError())[1], KeyError) and tp.is_grad_enabled()
    g.close()
    assert closed == [False] and tp.is_grad_enabled()

    def outer():
        return (yield from numbers(1))

    g = outer()
    next(g)
    with pytest.raises(StopIteration) as stop:
        next(g)
    assert stop.value.value == "end"


def test_no_grad_masks_what_is_active_on_entry_only(transforms):
    x = tp.tensor(X)
    vjp, jvp = transforms.vjp, transforms.jvp
    with tp.no_grad():
        np.testing.assert_allclose(vjp(lambda v: v * v)(x).numpy(), 2 * X)
        np.testing.assert_allclose(vjp(vjp(lambda v: v * v * v))(x).numpy(), 6 * X)

    def f(v):
        with tp.no_grad():
            c = v * 3
        return v * c

    np.testing.assert_allclose(vjp(f)(x).numpy(), 3 * X)
    np.testing.assert_allclose(jvp(f)(x).numpy(), 3 * X)


def test_hooks():
    x = leaf()
    seen = []
    h = x.register_hook(lambda g: seen.append(g.tolist()))
    double = x.register_hook(lambda g: g * 2)
    (x * x).sum().backward()
    np.testing.assert_allclose(seen, [2 * X])
    np.testing.assert_allclose(x.grad.numpy(), 4 * X)
    double.remove()
    double.remove()
    x.grad = None
    with h:
        x.sum().backward()
    assert len(seen) == 2 and x.grad.tolist() == [1, 1, 1]
    x.sum().backward()
    assert len(seen) == 2

    y = x * 1
    y.register_hook(lambda g: g * 10)
    x.grad = None
    (y * y).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 20 * X)

    class Mine(Exception):
        pass

    def fails(g):
        raise Mine

    y = x * 1
    y.register_hook(fails)
    with pytest.raises(Mine):
        y.sum().backward()
    y = x * 1
    y.register_hook(lambda g: 3)
    with pytest.raises(TypeError, match="hook"):
        y.sum().backward()


def test_inside_transforms(transforms):
    """Rows of the contract: autograd works on what a transform tracks."""
    x = tp.tensor(X)
    vmap, vjp = transforms.vmap, transforms.vjp

    def inner(v):
        v = v.detach().requires_grad_()
        return grad((v**3).sum(), v)[0]

    np.testing.assert_allclose(vmap(inner)(x).numpy(), 3 * X**2)
    through = lambda v: grad((v * v * v).sum(), v)[0]
    np.testing.assert_allclose(vjp(through)(x).numpy(), 6 * X)
    w = leaf()
    vmap(lambda v: ((v * w).sum().backward(), v)[1])(tp.tensor([[1.0, 2, 3], [4, 5, 6]], dtype=tp.float64))
    np.testing.assert_allclose(w.grad.numpy(), [5, 7, 9])
    with pytest.raises(RuntimeError, match="vjp"):
        vmap(lambda v: grad((v * w).sum(), w)[0])(x)


def test_complex_gradients():
    z = tp.tensor([1 + 2j], requires_grad=True)
    (z * z.conj()).real.sum().backward()
    assert z.grad.tolist() == [2 + 4j]


def test_million_long_chains_need_no_stack():
    x = y = tp.tensor(1.0, requires_grad=True)
    for _ in range(200_000):
        y = y + 1.0
    y.backward()
    assert x.grad.item() == 1
    del y
