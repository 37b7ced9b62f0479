"""The checks must fail for wrong rules: a vjp, a jvp, a second derivative, a batching rule, a value."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.testing import Sample, check_vmap, gradcheck, opcheck

func = pytest.importorskip("tensorplay.func")


def cube(vjp=1.0, jvp=1.0, second=1.0, batch=None, detached=False, transposed=False, bent=0.0):
    """x ** 3 with rules that are off by factors."""

    class Cube(tp.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            if detached:
                x = x.detach()
            slope = 3 * x * x * vjp
            if second != 1.0:  # the same value, another derivative
                slope = slope.detach() + second * (slope - slope.detach())
            out = g * slope
            return out.transpose(0, 1) if transposed else out

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return t * 3 * x * x * jvp

        if batch is not None:

            @staticmethod
            def vmap(info, in_dims, x):
                return x * x * x * batch, in_dims[0]

    return Cube.apply


X = tp.tensor([[0.5, -1.5], [2.0, 1.0]], dtype=tp.float64)


@pytest.mark.parametrize("fast", [False, True])
def test_right_rules_pass(fast):
    assert gradcheck(cube(), X, order=2, fast=fast)
    assert gradcheck(cube(), X, order=3, fast=True)
    assert check_vmap(cube(), X)
    assert check_vmap(cube(batch=1.0), X)
    assert opcheck(cube(), [(X,)], lambda x: x**3)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(
    "options, order, words",
    [
        ({"vjp": 1.001}, 1, ["first derivative", "reverse mode", "argument 0"]),
        ({"vjp": -1.0}, 1, ["first derivative", "reverse mode"]),
        ({"transposed": True}, 1, ["first derivative", "reverse mode"]),
        ({"jvp": 1.001}, 1, ["first derivative", "forward mode", "argument 0"]),
        ({"second": 0.5}, 2, ["second derivative"]),
        ({"detached": True}, 2, ["second derivative"]),
    ],
)
def test_wrong_derivatives_fail(options, order, words, fast):
    with pytest.raises(AssertionError) as caught:
        gradcheck(cube(**options), X, order=order, fast=fast, rtol=1e-5, atol=1e-6)
    for word in words:
        assert word in str(caught.value)
    if order == 2:
        assert gradcheck(cube(**options), X, order=1, fast=fast)


def test_the_message_names_the_position():
    class OneWrong(tp.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g * 2.0, g * tp.tensor([3.0, 3.0, 4.0], dtype=tp.float64)

        @staticmethod
        def jvp(ctx, a, b):
            return a * 2.0 + b * 3.0

    x = tp.full((3,), 3.0, dtype=tp.float64)
    y = tp.full((3,), 2.0, dtype=tp.float64)
    with pytest.raises(
        AssertionError,
        match=r"reverse mode: argument 1 at index \(2,\), output 0 at index \(2,\): got 4, finite differences give 3",
    ):
        gradcheck(OneWrong.apply, (x, y))


def test_dropped_and_absent_terms_are_found():
    def severed(x, y):
        return x * y.detach()

    one = tp.ones(2, dtype=tp.float64)
    with pytest.raises(AssertionError, match="argument 1"):
        gradcheck(severed, (one * 2, one * 3))


def test_complex_rules():
    z = tp.tensor([1 + 2j, -0.5 + 0.3j], dtype=tp.complex128)
    assert gradcheck(lambda z: z * z, z, order=2)
    assert gradcheck(lambda z: z.conj() * z, z, order=2)
    assert gradcheck(lambda z: z.abs(), z, order=2)

    class Unconjugated(tp.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(ctx, g):
            (z,) = ctx.saved_tensors
            return g * 2 * z  # the conjugate is missing

        @staticmethod
        def jvp(ctx, t):
            (z,) = ctx.saved_tensors
            return t * 2 * z

    with pytest.raises(AssertionError, match="reverse mode"):
        gradcheck(Unconjugated.apply, z)


def test_refusals():
    with pytest.raises(ValueError, match="argument 0 has dtype float32"):
        gradcheck(lambda x: x, tp.ones(2))
    with pytest.raises(ValueError, match="none of the inputs"):
        gradcheck(lambda x: x, tp.tensor([1, 2]))
    with pytest.raises(TypeError, match="must return Tensors"):
        gradcheck(lambda x: 3, X)
    with pytest.raises(ValueError, match="no floating or complex output"):
        gradcheck(lambda x: x > 0, X)
    with pytest.raises(ValueError, match="no samples"):
        opcheck(cube(), [])
    with pytest.raises(ValueError, match="there is no check 'speed'"):
        opcheck(cube(), [(X,)], checks=("speed",))


def test_wrong_batching_rules_fail():
    with pytest.raises(AssertionError, match=r"vmap\(apply\), in_dims .*batch size"):
        check_vmap(cube(batch=1.001), X)
    with pytest.raises(AssertionError, match="vmap"):
        opcheck(cube(batch=2.0), [(X,)], checks=("vmap",))

    @tp.library.custom_op("checks::swapped")
    def swapped(x: tp.Tensor) -> tp.Tensor:
        return tp.from_numpy(np.ascontiguousarray(x.numpy()))

    @swapped.register_vmap
    def _(info, in_dims, x):
        return swapped(x), 0  # wherever the mapped dimension was

    with pytest.raises(AssertionError, match=r"in_dims \(1,\)"):
        check_vmap(swapped, tp.tensor([1.0, 2.0, 3.0]), batch_sizes=(3,))
    assert check_vmap(swapped, tp.tensor([1.0, 2.0, 3.0]), in_dims=(0,))


def test_an_operator_that_sums_over_the_samples_fails():
    @tp.library.custom_op("checks::total")
    def total(x: tp.Tensor) -> tp.Tensor:
        return tp.from_numpy(np.asarray(x.numpy().sum()))

    @total.register_vmap
    def _(info, in_dims, x):
        return total(x), None

    with pytest.raises(AssertionError):
        check_vmap(total, tp.tensor([1.0, 2.0, 3.0]))


def test_custom_operators():
    @tp.library.custom_op("checks::scaled_sine")
    def sine(x: tp.Tensor, factor: float) -> tp.Tensor:
        return tp.from_numpy(np.asarray(np.sin(x.numpy()) * factor))

    @sine.register_vjp
    def _(ctx, grad):
        x, factor = ctx.inputs
        return grad * x.cos() * factor, None

    @sine.register_vmap
    def _(info, in_dims, x, factor):
        return sine(x, factor), in_dims[0]

    samples = [(X, 2.0), Sample((np.array(0.3), -1.0)), (tp.zeros(0, 2, dtype=tp.float64), 1.0)]
    assert opcheck(sine, samples, lambda x, f: np.sin(x) * f, dtype="float64")
    with pytest.raises(AssertionError, match="differ"):
        opcheck(sine, samples, lambda x, f: np.sin(x) * f * 1.0001)
    with pytest.raises(AssertionError, match="the dtype is float64, expected float32"):
        opcheck(sine, samples, dtype="float32")


def test_memory_layouts_are_varied():
    def reads_memory(x):
        if x.is_contiguous():
            return x * 1
        return x * 2

    with pytest.raises(AssertionError, match="memory"):
        opcheck(reads_memory, [(X,)], checks=("value",))


def test_writing_into_an_argument_is_found():
    with pytest.raises(AssertionError, match="argument 0 was changed"):
        opcheck(lambda x: x.add_(1), [(X.clone(),)], checks=("value",))


def test_compositions_are_checked():
    """Right at first order and under vmap, wrong once the vjp is mapped."""

    class Odd(tp.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return Slope.apply(x) * g

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return 2 * x * t

        @staticmethod
        def vmap(info, in_dims, x):
            return Odd.apply(x), in_dims[0]

    class Slope(tp.autograd.Function):
        @staticmethod
        def forward(x):
            return 2 * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return 2 * g

        @staticmethod
        def jvp(ctx, t):
            return 2 * t

        @staticmethod
        def vmap(info, in_dims, x):
            return Slope.apply(x.flip(in_dims[0])), in_dims[0]

    assert opcheck(Odd.apply, [(X,)], lambda x: x * x, checks=("value", "grad", "vmap"))
    with pytest.raises(AssertionError):
        opcheck(Odd.apply, [(X,)], checks=("compose",))
