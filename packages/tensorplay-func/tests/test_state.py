"""functional_call, stack_module_state and rearrange, on anything that looks like a module."""

import threading

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import functional_call, grad, rearrange, stack_module_state, vmap


class Plain:
    """The least that functional_call asks of a module."""

    def __init__(self, **tensors):
        self.__dict__.update(_parameters=dict(tensors), _buffers={}, _modules={})

    def __getattr__(self, name):
        for table in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[table]:
                return self.__dict__[table][name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        for table in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[table]:
                self.__dict__[table][name] = value
                return
        self.__dict__[name] = value

    def _named(self, table, prefix=""):
        for k, t in self.__dict__[table].items():
            yield prefix + k, t
        for k, m in self._modules.items():
            yield from m._named(table, f"{prefix}{k}.")

    def named_parameters(self):
        return self._named("_parameters")

    def named_buffers(self):
        return self._named("_buffers")

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)


class Scale(Plain):
    def forward(self, x, fail=False):
        self.count = self.count + 1
        self.last = x
        if fail:
            raise KeyError("forward")
        return x * self.w * self.child.w


def make(w=2.0, c=5.0):
    m = Scale(w=tp.tensor(w))
    m._buffers["count"] = tp.zeros(())
    m._modules["child"] = Plain(w=tp.tensor(c))
    return m


def test_values_replace_and_the_module_stays():
    m, x = make(), tp.tensor(3.0)
    assert float(functional_call(m, {"w": tp.tensor(10.0)}, x)) == 150
    assert float(functional_call(m, ({"w": tp.tensor(10.0)}, {"child.w": tp.tensor(1.0)}), (x,))) == 30
    with pytest.raises(KeyError, match="forward"):
        functional_call(m, {"w": tp.tensor(10.0)}, (x,), {"fail": True})
    assert float(m.w) == 2 and float(m.count) == 0 and "last" not in m.__dict__


def test_gradients_flow_to_the_values():
    m = make()
    g = grad(lambda p: functional_call(m, p, (tp.tensor(3.0),)))({"w": tp.tensor(1.0), "child.w": tp.tensor(4.0)})
    assert float(g["w"]) == 12 and float(g["child.w"]) == 3


def test_tied_values():
    m = make()
    m.child._parameters["w"] = m.w
    x = tp.tensor(3.0)
    assert float(functional_call(m, {"w": tp.tensor(10.0)}, x)) == 300
    assert float(functional_call(m, {"w": tp.tensor(10.0)}, x, tie_weights=False)) == 60
    with pytest.raises(ValueError, match="tied"):
        functional_call(m, {"w": tp.tensor(1.0), "child.w": tp.tensor(2.0)}, x)


@pytest.mark.parametrize(
    ("state", "kwargs", "error", "words"),
    [
        ({"nope": tp.ones(())}, {}, RuntimeError, "nope"),
        ({"w": tp.ones(())}, {"strict": True}, RuntimeError, "child.w"),
        ({"w": 3.0}, {}, TypeError, "float"),
        (({"w": tp.ones(())}, {"w": tp.ones(())}), {}, ValueError, "more than one"),
        (3, {}, ValueError, "int"),
    ],
)
def test_errors(state, kwargs, error, words):
    with pytest.raises(error, match=words):
        functional_call(make(), state, (tp.ones(()),), **kwargs)
    with pytest.raises(TypeError, match="module"):
        functional_call(3, {}, ())


def test_threads_do_not_see_each_other():
    m, bad = make(), []

    def work(k):
        for _ in range(50):
            got = float(functional_call(m, {"w": tp.tensor(float(k))}, (tp.tensor(1.0),)))
            if got != 5.0 * k:
                bad.append((k, got))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not bad


def test_stacked_ensemble():
    models = [make(w, c) for w, c in ((1.0, 2.0), (3.0, 4.0), (5.0, 6.0))]
    params, buffers = stack_module_state(models)
    assert params["child.w"].shape == (3,) and list(buffers) == ["count"]
    out = vmap(lambda p, b, x: functional_call(models[0], (p, b), (x,)), (0, 0, None))(params, buffers, tp.tensor(2.0))
    np.testing.assert_allclose(out.numpy(), [4, 24, 60])


def test_stacking_names_what_differs():
    a, b = make(), make()
    b._modules["child"] = make()
    with pytest.raises(RuntimeError, match="child is Scale"):
        stack_module_state([a, b])
    b._modules["child"] = Plain(w=tp.ones(2))
    with pytest.raises(RuntimeError, match=r"'child.w' has shape"):
        stack_module_state([a, b])
    with pytest.raises(RuntimeError, match="at least one"):
        stack_module_state([])
    with pytest.raises(TypeError, match="int"):
        stack_module_state([3])


def test_stacking_takes_classes_that_the_same_code_made_twice():
    def local(c):
        class Local(Plain):
            pass

        m = make()
        m._modules["child"] = Local(w=tp.tensor(c))
        return m

    params, _ = stack_module_state([local(1.0), local(2.0)])
    np.testing.assert_array_equal(params["child.w"].detach().numpy(), [1, 2])


def test_rearrange():
    x = np.arange(24.0).reshape(2, 3, 4)
    t = tp.tensor(x)
    for pattern, sizes, expected in (
        ("a b c -> c a b", {}, x.transpose(2, 0, 1)),
        ("a b c -> a (b c)", {}, x.reshape(2, 12)),
        ("a b (c d) -> d (a b) c", {"c": 2}, x.reshape(6, 2, 2).transpose(2, 0, 1)),
        ("a ... -> ... a", {}, np.moveaxis(x, 0, -1)),
        ("a b c -> a 1 b c", {}, x[:, None]),
        ("... -> ...", {}, x),
    ):
        np.testing.assert_array_equal(rearrange(t, pattern, **sizes).numpy(), expected)
    np.testing.assert_array_equal(vmap(lambda v: rearrange(v, "b c -> c b"), 1)(t).numpy(), x.transpose(1, 2, 0))
    for pattern, words in (
        ("a b c", "->"), ("a b -> b a", "does not fit"), ("a b c -> a b", "one side"), ("a a b -> a b", "twice"),
        ("a (b c -> a", "unbalanced"), ("a b (c d) -> a b c d", "size of"), ("a b c- -> a", "neither"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            rearrange(t, pattern)
    with pytest.raises(ValueError, match="does not split"):
        rearrange(t, "a b (c d) -> a b c d", c=3)
