"""Custom operators: NumPy inside, rules outside."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.library import custom_op, get_op

X = np.array([1.0, -2.0, 0.5])


def cube(name, **rules):
    @custom_op(f"test::{name}")
    def op(x: tp.Tensor, factor: float = 1.0) -> tp.Tensor:
        """The cube."""
        return tp.from_numpy(x.numpy() ** 3 * factor)

    if "vjp" in rules:

        @op.register_vjp
        def _(ctx, g):
            x, factor = ctx.inputs
            return g * 3 * x * x * factor, None

    if "jvp" in rules:

        @op.register_jvp
        def _(ctx, t, none):
            assert none is None
            x, factor = ctx.inputs
            return t * 3 * x * x * factor

    if "vmap" in rules:

        @op.register_vmap
        def _(info, in_dims, x, factor):
            assert info.batch_size == 3
            return op(x, factor), in_dims[0]

    return op


def test_a_call():
    op = cube("plain")
    np.testing.assert_allclose(op(tp.tensor(X)).numpy(), X**3)
    np.testing.assert_allclose(op(tp.tensor(X), 2.0).numpy(), 2 * X**3)
    np.testing.assert_allclose(op(factor=2.0, x=tp.tensor(X)).numpy(), 2 * X**3)
    assert op.schema == "test::plain(Tensor x, float factor=1.0) -> Tensor"
    assert op.__doc__ == "The cube." and get_op("test::plain") is op


def test_without_rules(transforms):
    op = cube("bare")
    y = op(tp.tensor(X, requires_grad=True))
    with pytest.raises(RuntimeError, match="test::bare.*register_vjp"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="register_vjp"):
        transforms.vjp(op)(tp.tensor(X))
    with pytest.raises(RuntimeError, match="register_jvp"):
        transforms.jvp(op)(tp.tensor(X))
    with pytest.raises(NotImplementedError, match="Kernel not found for op: test::bare on backend: VmapCPU"):
        transforms.vmap(op)(tp.tensor(X))


@pytest.mark.parametrize("rules", [{"vjp"}, {"vjp", "jvp"}])
def test_derivatives(rules, transforms):
    op = cube("derived" + str(len(rules)), **dict.fromkeys(rules))
    x = tp.tensor(X)
    vjp, jvp = transforms.vjp, transforms.jvp
    for h, expected in ((vjp(op), 3 * X**2), (jvp(op), 3 * X**2), (vjp(vjp(op)), 6 * X), (jvp(vjp(op)), 6 * X),
                        (vjp(jvp(op)), 6 * X), (vjp(vjp(vjp(op))), np.full(3, 6.0))):  # fmt: skip
        np.testing.assert_allclose(h(x).numpy(), expected)
    y = tp.tensor(X, requires_grad=True)
    op(y, 2.0).sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), 6 * X**2)


def test_batching(transforms):
    op = cube("batched", vjp=1, vmap=1)
    x = tp.tensor(X)
    vjp, jvp, vmap = transforms.vjp, transforms.jvp, transforms.vmap
    for h, expected in ((vmap(op), X**3), (vmap(vjp(op)), 3 * X**2), (vjp(vmap(op)), 3 * X**2),
                        (vmap(vjp(vjp(op))), 6 * X), (jvp(vmap(vjp(op))), 6 * X)):  # fmt: skip
        np.testing.assert_allclose(h(x).numpy(), expected)


def test_keyword_only_arguments_and_several_outputs(transforms):
    @custom_op("test::powers")
    def powers(x: tp.Tensor, *, n: int = 2) -> tuple[tp.Tensor, tp.Tensor]:
        return tp.from_numpy(x.numpy() ** n), tp.from_numpy(np.sign(x.numpy()))

    powers.register_autograd(
        lambda ctx, g, _: (g * ctx.n * ctx.x ** (ctx.n - 1), None),
        setup_context=lambda ctx, inputs, output: vars(ctx).update(x=inputs[0], n=inputs[1]),
    )
    a, b = powers(tp.tensor(X), n=3)
    np.testing.assert_allclose(a.numpy(), X**3)
    np.testing.assert_allclose(b.numpy(), np.sign(X))
    np.testing.assert_allclose(transforms.vjp(lambda x: powers(x, n=3)[0])(tp.tensor(X)).numpy(), 3 * X**2)
    assert powers.schema == "test::powers(Tensor x, *, int n=2) -> (Tensor, Tensor)"


def test_results_never_alias_arguments():
    op = custom_op("test::same", lambda x: x, schema="(Tensor x) -> Tensor")
    x = tp.tensor(X)
    op(x).fill_(7)
    np.testing.assert_array_equal(x.numpy(), X)


def test_refusals():
    for name in ("noname", "::x", "a::", "a::b::c", 3):
        with pytest.raises(ValueError, match="namespace::name"):
            custom_op(name)
    with pytest.raises(ValueError, match="mutates_args"):
        custom_op("test::m", mutates_args=("x",))
    with pytest.raises(TypeError, match="annotation"):
        custom_op("test::a", lambda x: x)

    def odd(x: dict) -> tp.Tensor: ...

    with pytest.raises(TypeError, match="dict"):
        custom_op("test::b", odd)
    with pytest.raises(TypeError, match="output 0"):
        custom_op("test::c", lambda x: 3, schema="(Tensor x) -> Tensor")(tp.tensor(X))
    with pytest.raises(TypeError):
        cube("d").register_vjp(3)
    with pytest.raises(TypeError):
        cube("e")(tp.tensor(X), 1.0, 2.0)
