"""autograd.Function under plain autograd and under every nesting of levels. The rule of each Function has the wrong
sign on purpose, so that a bypassed backward shows."""

import gc

import numpy as np
import pytest

import tensorplay as tp
from tensorplay._clib import lib
from tensorplay.autograd import Function, _hooks
from tensorplay.autograd.function import once_differentiable

X = np.array([1.0, -2.0, 0.5])


class Separate(Function):
    @staticmethod
    def forward(x):
        return x * x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return -g * 3 * x * x


class Combined(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x * x
        ctx.x, ctx.kept = x, {"y": [y]}
        return y

    @staticmethod
    def backward(ctx, g):
        assert isinstance(ctx.kept["y"][0], tp.Tensor)
        return -g * 3 * ctx.x * ctx.x


class Computed(Function):
    """Keeps a tensor that setup_context computes."""

    @staticmethod
    def forward(x):
        return x * x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.square = inputs[0] * inputs[0]

    @staticmethod
    def backward(ctx, g):
        return -g * 3 * ctx.square


class WithRules(Separate):
    """Rules of its own for every transform."""

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return -t * 3 * x * x

    @staticmethod
    def vmap(info, in_dims, x):
        assert info.batch_size == 3 and info.randomness == "error"
        return WithRules.apply(x.movedim(in_dims[0], 0)), 0


FUNCTIONS = [Separate, Combined, Computed, WithRules]


@pytest.mark.parametrize("cls", FUNCTIONS)
def test_every_nesting(cls, transforms):
    vjp, jvp, vmap = transforms.vjp, transforms.jvp, transforms.vmap
    f = cls.apply
    x = tp.tensor(X)
    first, second, third = -3 * X**2, -6 * X, np.full(3, -6.0)
    cases = [
        (vmap(f), X**3), (vjp(f), first), (jvp(f), first),
        (vmap(vjp(f)), first), (vjp(vmap(f)), first), (vmap(jvp(f)), first), (jvp(vmap(f)), first),
        (vjp(vjp(f)), second), (jvp(vjp(f)), second), (vjp(jvp(f)), second), (jvp(jvp(f)), second),
        (vmap(vjp(vjp(f))), second), (vjp(vmap(vjp(f))), second), (vjp(vjp(vmap(f))), second),
        (vmap(jvp(vjp(f))), second), (jvp(vmap(vjp(f))), second), (vmap(vjp(jvp(f))), second),
        (vjp(vjp(vjp(f))), third), (jvp(vjp(vjp(f))), third), (vmap(vjp(jvp(vjp(f)))), third),
    ]  # fmt: skip
    for k, (h, expected) in enumerate(cases):
        np.testing.assert_allclose(h(x).numpy(), expected, err_msg=str(k))


@pytest.mark.parametrize("cls", FUNCTIONS[:3])
def test_nested_vmap(cls, transforms):
    vmap, vjp = transforms.vmap, transforms.vjp
    x = tp.tensor(np.arange(6.0).reshape(3, 2))
    np.testing.assert_allclose(vmap(vmap(cls.apply))(x).numpy(), x.numpy() ** 3)
    np.testing.assert_allclose(vjp(vmap(vmap(cls.apply)))(x).numpy(), -3 * x.numpy() ** 2)


@pytest.mark.parametrize("cls", FUNCTIONS)
def test_plain_autograd_to_third_order(cls):
    x = tp.tensor(X, requires_grad=True)
    y = cls.apply(x)
    for expected in (-3 * X**2, -6 * X, np.full(3, -6.0)):
        (y,) = tp.autograd.grad(y.sum(), x, create_graph=True)
        np.testing.assert_allclose(y.detach().numpy(), expected)


@pytest.mark.parametrize("cls", FUNCTIONS)
def test_nothing_leaks(cls, transforms):
    def use():
        x = tp.tensor(X, requires_grad=True)
        cls.apply(x).sum().backward()
        y = cls.apply(x)
        tp.autograd.grad(y.sum(), x, create_graph=True)
        transforms.vmap(transforms.vjp(cls.apply))(tp.tensor(X))
        transforms.vjp(transforms.vmap(cls.apply))(tp.tensor(X))
        transforms.jvp(cls.apply)(tp.tensor(X))

    use()
    gc.collect()
    before = lib.tp_live_tensors(), len(_hooks._held)
    for _ in range(20):
        use()
    assert (lib.tp_live_tensors(), len(_hooks._held)) <= before


def test_output_kept_on_the_context_does_not_keep_the_graph():
    x = tp.tensor(X, requires_grad=True)
    before = len(_hooks._held)
    y = Combined.apply(x)
    assert len(_hooks._held) == before + 1
    del y
    assert len(_hooks._held) == before


def test_several_inputs_and_outputs(transforms):
    class Two(Function):
        @staticmethod
        def forward(x, scale, y):
            return x * y * scale, (x > 0), x + y

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.scale, y = inputs
            ctx.save_for_backward(x, None, y)
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        def backward(ctx, g, g_mask, g_sum):
            x, none, y = ctx.saved_tensors
            assert none is None and ctx.needs_input_grad == (True, False, True)
            return g * y * ctx.scale + g_sum, None, g * x * ctx.scale + g_sum

    x, y = tp.tensor([1.0, 2.0], requires_grad=True), tp.tensor([3.0, -1.0], requires_grad=True)
    product, mask, total = Two.apply(x, 2.0, y)
    assert mask.dtype is tp.bool and not mask.requires_grad
    product.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [6, -2])
    np.testing.assert_allclose(y.grad.numpy(), [2, 4])


def test_an_argument_that_samples_share_collects_from_all(transforms):
    class Product(Function):
        @staticmethod
        def forward(a, b):
            return a * b

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b, g * a

    rows, y = tp.tensor([[1.0, 2.0], [3.0, 4.0]]), tp.tensor([3.0, -1.0])
    shared = lambda b: transforms.vmap(lambda a: Product.apply(a, b))(rows)
    np.testing.assert_allclose(shared(y).numpy(), rows.numpy() * y.numpy())
    np.testing.assert_allclose(transforms.vjp(shared)(y).numpy(), [4, 6])
    np.testing.assert_allclose(transforms.jvp(shared)(y).numpy(), rows.numpy())


def test_materialized_gradients():
    seen = []

    def make(materialize):
        class Pair(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.set_materialize_grads(materialize)
                return x * 1, x * 2

            @staticmethod
            def backward(ctx, a, b):
                seen.append(a)
                return b * 2

        return Pair

    for materialize in (True, False):
        x = tp.tensor(X, requires_grad=True)
        make(materialize).apply(x)[1].sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 2)
    np.testing.assert_allclose(seen[0].numpy(), 0)
    assert seen[1] is None


def test_an_intermediate_that_is_no_output_is_not_silently_constant(transforms):
    class Intermediate(Function):
        @staticmethod
        def forward(ctx, x):
            square = x * x
            ctx.save_for_backward(square)
            return square * x

        @staticmethod
        def backward(ctx, g):
            return -g * 3 * ctx.saved_tensors[0]

    f, x = Intermediate.apply, tp.tensor(X)
    vjp, jvp, vmap = transforms.vjp, transforms.jvp, transforms.vmap
    for h in (vjp(f), jvp(f), vmap(vjp(f)), vjp(vmap(f))):
        np.testing.assert_allclose(h(x).numpy(), -3 * X**2)
    for h in (vjp(vjp(f)), jvp(vjp(f)), vmap(vjp(vjp(f))), vjp(vmap(vjp(f)))):
        with pytest.raises(RuntimeError, match="return it as an output"):
            h(x)
    y = tp.tensor(X, requires_grad=True)
    (g,) = tp.autograd.grad(f(y).sum(), y, create_graph=True)
    with pytest.raises(RuntimeError, match="return it as an output"):
        g.sum().backward()


def test_captured_tensors_are_an_error(transforms):
    w = tp.tensor(X, requires_grad=True)

    class Captures(Function):
        @staticmethod
        def forward(ctx, x):
            return x * w

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(RuntimeError, match="pass it to apply"):
        Captures.apply(tp.tensor(X, requires_grad=True))

    def outer(y):
        class Inner(Function):
            @staticmethod
            def forward(ctx, x):
                return x * y

            @staticmethod
            def backward(ctx, g):
                return g

        return Inner.apply(y + 1)

    for h in (transforms.vjp(outer), transforms.jvp(outer), transforms.vjp(transforms.vmap(outer))):
        with pytest.raises(RuntimeError, match="pass it to apply"):
            h(tp.tensor(X))
    np.testing.assert_allclose(transforms.vmap(outer)(tp.tensor(X)).numpy(), (X + 1) * X)  # nothing to lose there
    with pytest.raises(TypeError, match="arguments of their own"):
        Separate.apply([w])


def test_once_differentiable(transforms):
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return tp.from_numpy(np.exp(x.numpy()))

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            return tp.from_numpy(g.numpy() * np.exp(ctx.saved_tensors[0].numpy()))

    x = tp.tensor(X, requires_grad=True)
    (g,) = tp.autograd.grad(Once.apply(x).sum(), x, create_graph=True)
    np.testing.assert_allclose(g.detach().numpy(), np.exp(X))
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()
    with pytest.raises(RuntimeError, match="once_differentiable"):
        transforms.vjp(transforms.vjp(Once.apply))(tp.tensor(X))
    np.testing.assert_allclose(transforms.vjp(Once.apply)(tp.tensor(X)).numpy(), np.exp(X))


def test_exceptions_come_back_as_themselves(transforms):
    class Mine(Exception):
        pass

    class Raises(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise Mine("here")

    x = tp.tensor(X, requires_grad=True)
    depth = lib.tp_level_depth()
    with pytest.raises(Mine, match="here"):
        Raises.apply(x).sum().backward()
    for h in (transforms.vjp(Raises.apply), transforms.jvp(Raises.apply), transforms.vmap(transforms.vjp(Raises.apply)),
              transforms.vjp(transforms.vmap(Raises.apply))):  # fmt: skip
        with pytest.raises(Mine):
            h(tp.tensor(X))
    assert lib.tp_level_depth() == depth
    (tp.tensor(X, requires_grad=True) * 2).sum().backward()


@pytest.mark.parametrize(
    "result, message",
    [((None, None, None), "3 gradients"), ("a", "str"), (tp.zeros(2), "shape"), ((tp.zeros(3), tp.zeros(3)), "2 grad")],
    ids=str,
)
def test_wrong_results_of_backward(result, message):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return result

    x = tp.tensor([1.0, 2.0, 3.0], requires_grad=True)
    if result == (None, None, None):
        Wrong.apply(x).sum().backward()
        assert x.grad is None
        return
    with pytest.raises((RuntimeError, TypeError), match=message):
        Wrong.apply(x).sum().backward()


def test_missing_rules_are_named():
    class Bare(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

    x = tp.tensor(X, requires_grad=True)
    with pytest.raises(RuntimeError, match="Bare: no backward"):
        Bare.apply(x).sum().backward()
    with pytest.raises(TypeError):
        Bare()
    with pytest.raises(NotImplementedError):
        Function.apply(tp.zeros(1))


def test_saved_values_are_guarded():
    x = tp.tensor(X, requires_grad=True)
    y = x * 1
    z = Separate.apply(y)
    with tp.no_grad():
        y.mul_(2)
    with pytest.raises(RuntimeError, match="in-place"):
        z.sum().backward()


def test_under_no_grad_nothing_is_kept():
    x = tp.tensor(X, requires_grad=True)
    before = len(_hooks._held)
    with tp.no_grad():
        y = Separate.apply(x)
    assert not y.requires_grad and len(_hooks._held) == before


def test_a_graph_of_forwards_own():
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            with tp.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = ctx.x * ctx.x
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, g):
            return tp.autograd.grad(ctx.y, ctx.x, g)[0]

    x = tp.tensor(X, requires_grad=True)
    Inner.apply(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * X)


def test_long_chains_need_no_stack():
    class Step(Function):
        @staticmethod
        def forward(x):
            return x + 0.0

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, g):
            return g

    x = y = tp.tensor(1.0, requires_grad=True)
    for _ in range(20000):
        y = Step.apply(y)
    y.backward()
    assert x.grad.item() == 1
    before = len(_hooks._held)
    del y
    assert len(_hooks._held) <= before - 20000


def test_random_numbers_follow_the_flag_of_vmap(transforms):
    class Noise(Function):
        @staticmethod
        def forward(x):
            return x + tp.rand(())

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g

    x = tp.zeros(4)
    assert len(set(transforms.vmap(Noise.apply, "different")(x).tolist())) == 4
    assert len(set(transforms.vmap(Noise.apply, "same")(x).tolist())) == 1
    with pytest.raises(RuntimeError, match="randomness"):
        transforms.vmap(Noise.apply)(x)
