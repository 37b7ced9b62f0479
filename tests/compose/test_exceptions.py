"""An exception anywhere leaves no level behind, and arguments and modules as they were."""

import pytest

import tensorplay as tp
from tensorplay._clib import lib
from tensorplay.func import chunk_vmap, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from tensorplay.testing import assert_close

X = tp.tensor([1.0, 2.0, 3.0], dtype=tp.float64)


class Stop(Exception):
    pass


TRANSFORMS = {
    "vmap": lambda f: vmap(f)(X),
    "vmap chunks": lambda f: vmap(f, chunk_size=2)(X),
    "chunk_vmap": lambda f: chunk_vmap(f)(X),
    "grad": lambda f: grad(lambda x: f(x).sum())(X),
    "grad_and_value": lambda f: grad_and_value(lambda x: f(x).sum())(X),
    "vjp": lambda f: vjp(f, X),
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "linearize": lambda f: linearize(f, X),
    "jacrev": lambda f: jacrev(f)(X),
    "jacfwd": lambda f: jacfwd(f)(X),
    "hessian": lambda f: hessian(f)(X),
    "vmap of grad": lambda f: vmap(grad(lambda x: f(x).sum()))(X),
    "grad of vmap of jvp": lambda f: grad(lambda x: vmap(lambda y: jvp(f, (y,), (y,))[1])(x).sum())(X),
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("kind", [Stop, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_raised_in_the_function(name, kind):
    def f(x):
        y = x * 2
        raise kind(y.ndim)

    before = lib.tp_level_depth()
    with pytest.raises(kind):
        TRANSFORMS[name](f)
    assert lib.tp_level_depth() == before
    assert_close(X + 1, tp.tensor([2.0, 3.0, 4.0], dtype=tp.float64))
    assert_close(grad(lambda x: (x * x).sum())(X), 2 * X)


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize(
    "error, f",
    [
        (ValueError, lambda x: x.reshape(7, 7)),
        (Exception, lambda x: x @ tp.ones(4, 4, dtype=tp.float64)),
        ((TypeError, RuntimeError, ValueError, AttributeError), lambda x: 3),
        (IndexError, lambda x: x.sum(5)),
    ],
)
def test_raised_by_an_operator_or_a_bad_result(name, error, f):
    before = lib.tp_level_depth()
    with pytest.raises(error):
        TRANSFORMS[name](f)
    assert lib.tp_level_depth() == before


@pytest.mark.parametrize("where", ["forward", "setup_context", "backward", "jvp", "vmap"])
def test_raised_in_the_rules_of_a_function(where):
    def hook(name):
        if name == where:
            raise Stop(name)

    class Square(tp.autograd.Function):
        @staticmethod
        def forward(x):
            hook("forward")
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            hook("setup_context")
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            hook("backward")
            return 2 * ctx.saved_tensors[0] * g

        @staticmethod
        def jvp(ctx, t):
            hook("jvp")
            return 2 * ctx.saved_tensors[0] * t

        @staticmethod
        def vmap(info, in_dims, x):
            hook("vmap")
            return Square.apply(x), in_dims[0]

    f = Square.apply
    calls = {
        "forward": lambda: f(X),
        "setup_context": lambda: grad(lambda x: f(x).sum())(X),
        "backward": lambda: jacrev(f)(X),
        "jvp": lambda: jvp(f, (X,), (X,)),
        "vmap": lambda: vmap(f)(X),
    }
    before = lib.tp_level_depth()
    with pytest.raises(Stop, match=where) as caught:
        calls[where]()
    assert lib.tp_level_depth() == before
    assert any(entry.name == "hook" for entry in caught.traceback)  # comes back as itself


def test_nothing_leaks_when_functions_raise():
    def f(x):
        y = (x * 2).sin()
        raise Stop(str(y.shape))

    def run():
        for name in TRANSFORMS:
            with pytest.raises(Stop):
                TRANSFORMS[name](f)

    import gc

    run()
    gc.collect()
    before = lib.tp_live_tensors()
    for _ in range(5):
        run()
    gc.collect()
    assert lib.tp_live_tensors() <= before + 2


def test_generators_that_are_abandoned():
    """A level is restored by the frame that pushed it, whatever else is suspended."""

    def values():
        for i in range(3):
            yield X * i

    def f(x):
        it = values()
        return x + next(it).sum()

    assert_close(vmap(f)(X), X)
    assert lib.tp_level_depth() == 0
