"""Row 2: plain autograd works inside every transform."""

import pytest

import tensorplay as tp
from tensorplay.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from tensorplay.testing import assert_close

X = tp.tensor([0.5, -1.0, 2.0], dtype=tp.float64)
A = tp.autograd


def inner(x):
    """The gradient of sum(x^3) by autograd.grad."""
    y = x.detach().requires_grad_()
    return A.grad((y * y * y).sum(), y)[0]


def tracked(x):
    """The same, of the argument itself."""
    return A.grad((x * x * x).sum(), x, create_graph=True)[0]


def test_grad_of_autograd_grad():
    assert_close(grad(lambda x: A.grad((x * x).sum(), x)[0].sum())(tp.tensor([1.0, 5.0])), tp.tensor([2.0, 2.0]))
    assert_close(grad(lambda x: A.grad((x * x * x).sum(), x, create_graph=False)[0].sum())(X), 6 * X)
    assert_close(grad(lambda x: tracked(x).sum())(X), 6 * X)


def test_inside_vmap_it_is_the_gradient_of_each_sample():
    x = tp.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=tp.float64)
    assert_close(vmap(inner)(x), 3 * x * x)

    def f(row):
        row = row.clone().requires_grad_()
        return A.grad((row**2).sum() * row[0], row)[0]

    loop = tp.stack([f(r) for r in x.unbind(0)])
    assert_close(vmap(f)(x), loop)


def required(x, create_graph=True):
    """The same, where nothing but plain autograd tracks: requires_grad_ here, no detach."""
    y = x.clone().requires_grad_()
    return A.grad((y * y * y).sum(), y, create_graph=create_graph)[0]


@pytest.mark.parametrize("f", [tracked, required, lambda x: required(x, False)])
def test_inside_reverse_mode(f):
    assert_close(grad(lambda x: f(x).sum())(X), 6 * X)
    assert_close(jacrev(f)(X), tp.diag(6 * X))
    out, back = vjp(f, X)
    assert_close(back(tp.ones_like(out))[0], 6 * X)


@pytest.mark.parametrize("create_graph", [True, False])
def test_inside_forward_mode_and_vmap(create_graph):
    f = lambda x: required(x, create_graph)
    out, t = jvp(f, (X,), (tp.ones_like(X),))
    assert_close(out, 3 * X * X)
    assert_close(t, 6 * X)
    assert_close(jacfwd(f)(X), tp.diag(6 * X))
    assert_close(hessian(lambda x: f(x).sum())(X), tp.diag(6 * tp.ones(3, dtype=tp.float64)))
    batch = tp.stack([X, 2 * X])
    assert_close(vmap(f)(batch), 3 * batch * batch)
    assert_close(vmap(grad(lambda x: f(x).sum()))(batch), 6 * batch)
    assert_close(grad(lambda b: vmap(f)(b).sum())(batch), 6 * batch)
    assert_close(vmap(lambda x: jvp(f, (x,), (x,))[1])(batch), 6 * batch * batch)
    assert_close(jvp(vmap(f), (batch,), (batch,))[1], 6 * batch * batch)


def test_a_tensor_that_requires_grad_may_leave_a_transform():
    """What plain autograd recorded inside ends there; the value and the outer derivative go on."""
    leaves = lambda x: x.clone().requires_grad_() * 2
    assert_close(vmap(leaves)(X), 2 * X)
    out, t = jvp(leaves, (X,), (X,))
    assert_close(out, 2 * X)
    assert_close(t, 2 * X)
    assert_close(grad(lambda x: leaves(x).sum())(X), tp.full((3,), 2.0, dtype=tp.float64))
    assert not vmap(leaves)(X).requires_grad
    beside = lambda x: tp.ones(3, dtype=tp.float64).requires_grad_() * x
    assert_close(jacrev(beside)(X), tp.eye(3, dtype=tp.float64))
    assert_close(jacfwd(beside)(X), tp.eye(3, dtype=tp.float64))
    for f in (leaves, beside):
        factor = f(tp.ones(3, dtype=tp.float64)).detach()
        assert_close(vjp(f, X)[1](X)[0], factor * X)  # the level has ended by then
        assert_close(linearize(f, X)[1](X), factor * X)


def test_under_vmap_of_grad():
    x = tp.stack([X, 2 * X])
    assert_close(vmap(grad(lambda x: tracked(x).sum()))(x), 6 * x)
    with pytest.raises(RuntimeError, match="vjp"):  # mapped here, but tracked outside of the vmap
        grad(lambda x: vmap(tracked)(x).sum())(x)


def test_detach_cuts():
    assert_close(grad(lambda x: inner(x).sum() + x.sum())(X), tp.ones_like(X))


def test_backward_inside_a_transform():
    def f(x):
        y = x.clone().detach().requires_grad_()
        (y * y).sum().backward()
        return y.grad * x

    assert_close(f(X), 2 * X * X)
    assert_close(vmap(f)(tp.stack([X, X + 1])), tp.stack([2 * X * X, 2 * (X + 1) ** 2]))
    assert_close(grad(lambda x: f(x).sum())(X), 2 * X)


def test_backward_accumulates_into_captured_leaves_as_the_loop_does():
    x = tp.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=tp.float64)
    w, v = (tp.tensor([1.0, -1.0], dtype=tp.float64, requires_grad=True) for _ in range(2))

    def f(leaf):
        def sample(row):
            loss = (row * leaf).sum() ** 2
            loss.backward()
            return loss.detach()

        return sample

    for row in x.unbind(0):
        f(v)(row)
    vmap(f(w))(x)
    assert_close(w.grad, v.grad)


@pytest.mark.parametrize(
    "run",
    [
        lambda f: vmap(f)(tp.stack([X, X])),
        lambda f: grad(lambda x: f(x).sum())(X),
        lambda f: jvp(f, (X,), (X,)),
    ],
)
def test_a_captured_tensor_is_refused_by_name(run):
    w = tp.tensor([1.0, 2.0, 3.0], dtype=tp.float64, requires_grad=True)

    def f(x):
        return A.grad((w * x).sum(), w)[0]

    with pytest.raises(RuntimeError) as caught:
        run(f)
    text = str(caught.value)
    assert "vjp" in text and "x.detach().requires_grad_()" in text and "\n" not in text


def test_a_captured_tensor_without_dependence_on_the_transform_is_fine():
    w = tp.tensor([1.0, 2.0], dtype=tp.float64, requires_grad=True)
    f = lambda x: x * A.grad((w * w).sum(), w)[0].sum()
    assert_close(vmap(f)(X), X * 6)
    assert_close(grad(lambda x: f(x).sum())(X), tp.full((3,), 6.0, dtype=tp.float64))


def test_no_grad_inside_and_outside():
    with tp.no_grad():
        assert_close(grad(lambda x: (x * x).sum())(X), 2 * X)

    def f(x):
        with tp.no_grad():
            y = x * x
        return (y * x).sum()

    assert_close(grad(f)(X), X * X)
    assert_close(vmap(grad(f))(tp.stack([X, X])), tp.stack([X * X, X * X]))
