"""Hooks around forward and backward: order, arguments, replacement, errors, transforms."""

import copy
import gc
import weakref

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn

D = tp.float64


class Two(nn.Module):
    def forward(self, a, n, b, *, scale=1.0):
        return a * b * scale, a + n


def test_forward_hooks_in_order_with_keywords_and_in_front():
    net, seen = Two(), []
    net.register_forward_pre_hook(lambda m, args: seen.append("pre"))
    more = {"prepend": True, "with_kwargs": True}
    net.register_forward_pre_hook(lambda m, args, kw: (args, {"scale": kw["scale"] + 1}), **more)
    net.register_forward_hook(lambda m, args, kw, out: seen.append(kw), with_kwargs=True)
    net.register_forward_hook(lambda m, args, out: seen.append("first"), prepend=True)
    out = net(tp.tensor(2.0), 1, tp.tensor(3.0), scale=1.0)
    assert float(out[0]) == 12 and seen == ["pre", "first", {"scale": 2.0}]
    net.register_forward_pre_hook(lambda m, args, kw: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match="pre-hook with kwargs"):
        net(tp.tensor(2.0), 1, tp.tensor(3.0), scale=1.0)
    with pytest.raises(TypeError, match="callable"):
        net.register_forward_hook(3)


def test_always_called_hooks_see_a_failing_forward():
    net, seen = nn.Linear(2, 2), []
    net.register_forward_hook(lambda m, a, out: seen.append(out), always_call=True)
    net.register_forward_hook(lambda m, a, out: seen.append("not"))
    with pytest.raises(RuntimeError):
        net(tp.ones(3))
    assert seen == [None]


def test_full_backward_hooks_see_and_replace_gradients():
    net, seen = Two(), []
    pre = net.register_full_backward_pre_hook(lambda m, out: (out[0] * 2, out[1]))
    handle = net.register_full_backward_hook(lambda m, inp, out: seen.append((inp, out)))
    a, b = tp.tensor(2.0, requires_grad=True), tp.tensor(3.0, requires_grad=True)
    x, y = net(a, 1, b)
    (5 * x + y).backward()
    (inp, out), = seen
    assert [float(g) for g in out] == [10, 1]
    assert (float(inp[0]), inp[1], float(inp[2])) == (31, None, 20)
    assert (float(a.grad), float(b.grad)) == (31, 20)
    handle.remove()
    pre.remove()
    with net.register_full_backward_hook(lambda m, inp, out: (inp[0] * 10, None, inp[2])):
        a.grad = None
        (5 * net(a, 1, b)[0]).backward()
    assert float(a.grad) == 150
    with net.register_full_backward_hook(lambda m, inp, out: (inp[0],)):
        with pytest.raises(RuntimeError, match="expected 3"):
            net(a, 1, b)[0].backward()


def test_without_a_differentiated_input_the_hook_runs_after_the_outputs():
    net, seen = nn.Linear(2, 3, dtype=D), []
    net.register_full_backward_hook(lambda m, inp, out: seen.append((inp, out)))
    net(tp.ones(4, 2, dtype=D)).sum().backward()
    (inp, out), = seen
    assert inp == (None,) and out[0].shape == (4, 3)
    assert net.weight.grad is not None
    with tp.no_grad():
        net(tp.ones(4, 2, dtype=D))
    assert len(seen) == 1


def test_modules_with_hooks_under_transforms():
    func = pytest.importorskip("tensorplay.func")
    net, plain, shapes = nn.Linear(2, 3, dtype=D), nn.Linear(2, 3, dtype=D), []
    plain.load_state_dict(net.state_dict())
    net.register_full_backward_hook(lambda m, inp, out: shapes.append((inp[0].shape, out[0].shape)))
    x, w = tp.randn(4, 2, dtype=D), tp.randn(3, dtype=D)

    def loss(m):
        return lambda x: (m(x) ** 3 * w).sum()

    for take in (func.grad, func.jacfwd, func.hessian, lambda f: func.grad(lambda x: func.jvp(f, (x,), (x,))[1])):
        tp.testing.assert_close(func.vmap(take(loss(net)))(x), func.vmap(take(loss(plain)))(x))
        tp.testing.assert_close(take(loss(net))(x[0]), take(loss(plain))(x[0]))
    assert shapes[0] == ((2,), (3,))
    net.register_full_backward_hook(lambda m, inp, out: (inp[0] * 0,))
    assert (func.vmap(func.grad(loss(net)))(x) == 0).all()


def test_hooks_leave_nothing_behind():
    net, x = nn.Linear(2, 3, dtype=D), tp.randn(4, 2, dtype=D, requires_grad=True)
    net.register_full_backward_hook(lambda m, inp, out: (inp[0] * 2,))
    (first,) = tp.autograd.grad((net(x) ** 3).sum(), x, create_graph=True)
    (first**2).sum().backward()
    assert x.grad is not None
    gone = weakref.ref(net)
    del net, first, x
    gc.collect()
    assert gone() is None


def test_copies_keep_hooks_apart():
    net, seen = nn.Identity(), []
    net.register_forward_hook(lambda m, a, o: seen.append(m))
    twin = copy.deepcopy(net)
    twin(tp.ones(1))
    assert seen == [twin]
    twin._forward_hooks.clear()
    net(tp.ones(1))
    assert len(seen) == 2


def test_embedding_from_weights():
    w = tp.tensor(np.arange(6.0).reshape(3, 2))
    layer = nn.Embedding.from_pretrained(w, padding_idx=-1)
    assert not layer.weight.requires_grad and layer.padding_idx == 2
    assert layer(tp.tensor([1])).tolist() == [[2, 3]]
    bag = nn.EmbeddingBag.from_pretrained(w, freeze=False, mode="sum")
    assert bag.weight.requires_grad and bag(tp.tensor([[0, 2]])).tolist() == [[4, 6]]
    for cls in (nn.Embedding, nn.EmbeddingBag):
        with pytest.raises(AssertionError, match="matrix"):
            cls.from_pretrained(w[0])
        with pytest.raises(AssertionError, match=r"\[3, 2\]"):
            cls(4, 2, _weight=w)


def test_sequences_and_dicts_of_modules_and_parameters():
    a, b = nn.Linear(1, 1), nn.Tanh()
    seq = nn.Sequential(a) + nn.Sequential(b)
    assert list(seq) == [a, b] and list(seq * 2) == [a, b, a, b] and list(2 * seq) == [a, b, a, b]
    seq *= 2
    assert seq.pop(1) is b and list(seq) == [a, a, b] and list(seq._modules) == ["0", "1", "2"]
    seq += nn.Sequential(b)
    assert len(seq) == 4
    for bad, error in ((lambda: seq + [a], TypeError), (lambda: seq * 0, ValueError)):
        with pytest.raises(error, match="Sequential"):
            bad()
    p = nn.ParameterDict({"a": tp.ones(2)})
    q = p | {"b": tp.zeros(1)}
    assert list(reversed(q)) == ["b", "a"] and q["a"] is p["a"] and p.get("b") is None and len(p) == 1
    assert q.setdefault("c", tp.ones(1)) is q["c"] and q.pop("c").shape == (1,) and q.popitem()[0] == "b"
    lst = nn.ParameterList([tp.ones(1)])
    lst += [tp.ones(2)]
    assert len(lst) == 2
    stack = nn.ModuleList([nn.Tanh(), nn.Tanh(), nn.Linear(1, 2)])
    assert repr(stack) == (
        "ModuleList(\n  (0-1): 2 x Tanh()\n  (2): Linear(in_features=1, out_features=2, bias=True)\n)"
    )


def test_older_arguments_of_losses():
    x, y = tp.tensor([1.0, 2.0]), tp.tensor([0.0, 0.0])
    assert float(nn.MSELoss(size_average=False)(x, y)) == 5 and nn.L1Loss(reduce=False)(x, y).tolist() == [1, 2]
    assert float(nn.MSELoss(True)(x, y)) == 2.5
    with pytest.raises(TypeError, match="MSELoss: .*there are"):
        nn.MSELoss(margin=1)
    with pytest.raises(TypeError, match="GaussianNLLLoss"):
        nn.GaussianNLLLoss(True)


def test_state_that_replaces():
    net, other = nn.Linear(2, 2), nn.Linear(2, 2, dtype=D)
    state = other.state_dict()
    net.load_state_dict(state, assign=True)
    assert net.weight.dtype == D and isinstance(net.weight, nn.Parameter) and net.weight.requires_grad
    with tp.no_grad():
        state["bias"].fill_(7)
    assert net.bias.tolist() == [7, 7]
    with pytest.raises(TypeError, match="mapping"):
        net.load_state_dict([1])
    kept = {}
    assert net.state_dict(destination=kept, prefix="a.", keep_vars=True) is kept and kept["a.bias"] is net.bias
    deep = nn.Sequential(nn.Sequential(net))
    deep.set_submodule("0.0", nn.Tanh())
    assert isinstance(deep[0][0], nn.Tanh)
    for path, error in (("", ValueError), ("0.7", AttributeError)):
        with pytest.raises(error):
            deep.set_submodule(path, net)
