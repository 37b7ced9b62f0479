"""Bad input: each a one-line error of the right class that names the operator."""

import numpy as np
import pytest

import tensorplay as tp
import tensorplay.nn.functional as F
from tensorplay.func import grad, vmap

A = tp.ones(2, 3)
B = tp.ones(4, 5)
V = tp.ones(3)
INT = tp.tensor([1, 2])
BOOL = tp.tensor([True, False])
C = tp.tensor([1 + 2j])
I = tp.tensor([0, 1])
HUGE = 2**62
VALUE = (ValueError, RuntimeError)
ANY = (ValueError, RuntimeError, TypeError, IndexError)

CALLS = [  # (operator named by the message, call, class of the error, words of the message)
    # shapes
    ("add", lambda: A + B, VALUE, "[2, 3]", "[4, 5]"),
    ("add", lambda: tp.add(A, B), VALUE, "[2, 3]", "[4, 5]"),
    ("mul", lambda: A * tp.ones(2), VALUE, "[2, 3]", "[2]"),
    ("where", lambda: tp.where(A > 0, A, B), VALUE, "[4, 5]"),
    ("matmul", lambda: A @ B, VALUE, "[2, 3]", "[4, 5]"),
    ("matmul", lambda: tp.matmul(A, tp.ones(())), VALUE),
    ("mm", lambda: tp.mm(A, V), VALUE),
    ("bmm", lambda: tp.bmm(A, A), VALUE),
    ("mv", lambda: tp.mv(A, tp.ones(2)), VALUE),
    ("dot", lambda: tp.dot(V, tp.ones(4)), VALUE),
    ("linear", lambda: F.linear(A, B), VALUE),
    ("einsum", lambda: tp.einsum("ij,jk->ik", [A, B]), VALUE),
    ("einsum", lambda: tp.einsum("ij->k", [A]), VALUE),
    ("einsum", lambda: tp.einsum("ijk", [A]), VALUE),
    ("cat", lambda: tp.cat([A, B]), VALUE, "[2, 3]", "[4, 5]"),
    ("cat", lambda: tp.cat([]), VALUE),
    ("stack", lambda: tp.stack([A, B]), VALUE),
    ("stack", lambda: tp.stack([]), VALUE),
    ("reshape", lambda: A.reshape(4, 2), VALUE, "[4, 2]", "6 elements"),
    ("reshape", lambda: A.reshape(-1, -1), VALUE),
    ("reshape", lambda: A.reshape(-1, 4), VALUE),
    ("reshape", lambda: tp.ones(0, 3).reshape(-1, 0), VALUE),
    ("view", lambda: A.t().view(6), VALUE),
    ("expand", lambda: A.expand(4, 3), VALUE),
    ("expand", lambda: A.expand(3), VALUE),
    ("expand", lambda: tp.broadcast_to(A, (2, 4)), VALUE),
    ("permute", lambda: A.permute(0, 0), VALUE),
    ("permute", lambda: A.permute(0), VALUE),
    ("unflatten", lambda: A.unflatten(1, (2, 2)), VALUE),
    ("split", lambda: A.split(-1), VALUE),
    ("split", lambda: A.split([1, 5]), VALUE),
    ("chunk", lambda: A.chunk(0), VALUE),
    ("tril", lambda: tp.tril(tp.ones(())), VALUE),
    ("diag", lambda: tp.diag(tp.ones(2, 2, 2)), VALUE),
    ("trace", lambda: tp.trace(V), VALUE),
    ("copy", lambda: tp.ones(3).copy_(tp.ones(4)), VALUE),
    ("add", lambda: tp.ones(3).add_(tp.ones(2, 3)), VALUE),
    # dims
    ("sum", lambda: A.sum(2), IndexError, "2"),
    ("sum", lambda: A.sum((0, 0)), VALUE),
    ("mean", lambda: A.mean(-3), IndexError),
    ("softmax", lambda: A.softmax(5), IndexError),
    ("cumsum", lambda: A.cumsum(2), IndexError),
    ("transpose", lambda: A.transpose(0, 2), IndexError),
    ("unsqueeze", lambda: A.unsqueeze(4), IndexError),
    ("squeeze", lambda: A.squeeze(3), IndexError),
    ("flip", lambda: A.flip(3), IndexError),
    ("flip", lambda: A.flip(0, 0), VALUE),
    ("movedim", lambda: A.movedim((0, 1), (0,)), VALUE),
    ("sort", lambda: A.sort(2), IndexError),
    ("topk", lambda: A.topk(9), VALUE),
    ("topk", lambda: A.topk(-1), VALUE),
    ("kthvalue", lambda: A.kthvalue(0), VALUE),
    ("select", lambda: A.select(0, 5), IndexError),
    ("narrow", lambda: A.narrow(0, 1, 5), ANY),
    ("unbind", lambda: tp.ones(()).unbind(), IndexError),
    ("max", lambda: A.max(3), IndexError),
    # dtypes
    ("mean", lambda: INT.mean(), TypeError),
    ("sub", lambda: BOOL - BOOL, TypeError),
    ("neg", lambda: -BOOL, TypeError),
    ("lt", lambda: C < C, TypeError),
    ("max", lambda: C.max(), TypeError),
    ("sort", lambda: C.sort(), TypeError),
    ("floor", lambda: tp.floor(C), TypeError),
    ("bitwise_and", lambda: A & A, TypeError),
    ("matmul", lambda: BOOL @ BOOL, TypeError),
    ("pow", lambda: INT**-1, VALUE),
    ("floor_divide", lambda: INT // 0, (ZeroDivisionError, RuntimeError)),
    ("add", lambda: INT.add_(1.5), ANY),
    ("dropout", lambda: F.dropout(INT, 0.5), TypeError),
    # indices
    ("index", lambda: A[5], IndexError),
    ("index", lambda: A[0, 0, 0], IndexError),
    ("index", lambda: A[tp.tensor([5])], IndexError),
    ("index", lambda: A[tp.tensor([1.0])], (IndexError, TypeError)),
    ("index", lambda: A[tp.tensor([True, False, True])], IndexError),
    ("index", lambda: A["a"], (IndexError, TypeError)),
    ("index", lambda: A[1.0], (IndexError, TypeError)),
    ("index", lambda: A[..., ...], IndexError),
    ("index", lambda: A.index_select(0, tp.tensor([7])), IndexError),
    ("index_select", lambda: A.index_select(0, tp.tensor([[0]])), VALUE),
    ("gather", lambda: A.gather(0, tp.tensor([[9]])), IndexError),
    ("gather", lambda: A.gather(0, tp.tensor([0])), VALUE),
    ("scatter", lambda: A.scatter(0, tp.tensor([[9]]), A), IndexError),
    ("scatter_add", lambda: A.scatter_add(0, tp.tensor([[0]]), INT), ANY),
    ("index_add", lambda: A.index_add(0, I, V), VALUE),
    ("index", lambda: A.take(tp.tensor([100])), IndexError),
    ("masked_select", lambda: A.masked_select(tp.ones(5) > 0), VALUE),
    ("masked_fill", lambda: A.masked_fill(A, 1.0), ANY),
    ("nll_loss", lambda: F.nll_loss(A, tp.tensor([0, 9])), IndexError),
    # empty
    ("max", lambda: tp.ones(0).max(), VALUE),
    ("argmax", lambda: tp.ones(0, 3).argmax(0), VALUE),
    ("amin", lambda: tp.ones(0, 3).amin(0), VALUE),
    # sizes
    ("zeros", lambda: tp.zeros(-1), VALUE),
    ("zeros", lambda: tp.zeros(HUGE, HUGE), (ValueError, MemoryError, RuntimeError)),
    ("ones", lambda: tp.ones(2**40, 2**30), (ValueError, MemoryError, RuntimeError)),
    ("empty", lambda: tp.empty(2**61), (ValueError, MemoryError)),
    ("full", lambda: tp.full((2**62,), 1.0), (ValueError, MemoryError)),
    ("expand", lambda: tp.ones(1).expand(HUGE, HUGE), VALUE),
    ("arange", lambda: tp.arange(0, 1e30), (ValueError, MemoryError, RuntimeError)),
    ("arange", lambda: tp.arange(0, 1, 0), VALUE),
    ("arange", lambda: tp.arange(0, 1, -1), VALUE),
    ("linspace", lambda: tp.linspace(0, 1, -1), VALUE),
    ("eye", lambda: tp.eye(-1), VALUE),
    ("randperm", lambda: tp.randperm(-1), VALUE),
    ("randint", lambda: tp.randint(5, 5, (2,)), VALUE),
    ("repeat", lambda: A.repeat(-1, 1), VALUE),
    ("repeat", lambda: A.repeat(2**40, 2**40), (ValueError, MemoryError, RuntimeError)),
    ("reshape", lambda: A.reshape(HUGE, HUGE), VALUE),
    # wrong types and foreign objects
    ("add", lambda: tp.add(A, "x"), TypeError),
    ("add", lambda: tp.add("x", A), TypeError),
    ("add", lambda: tp.add(A), TypeError),
    ("add", lambda: tp.add(A, A, A), TypeError),
    ("add", lambda: tp.add(A, A, alpha="x"), TypeError),
    ("exp", lambda: tp.exp(3.0), TypeError),
    ("exp", lambda: tp.exp(None), TypeError),
    ("exp", lambda: tp.exp(object()), TypeError),
    ("exp", lambda: tp.exp(A, nonsense=1), TypeError),
    ("sum", lambda: A.sum("0"), TypeError),
    ("sum", lambda: A.sum(1.5), TypeError),
    ("sum", lambda: A.sum(dtype="nonsense"), TypeError),
    ("cat", lambda: tp.cat(A), TypeError),
    ("cat", lambda: tp.cat([A, 3]), TypeError),
    ("cat", lambda: tp.cat(5), TypeError),
    ("reshape", lambda: A.reshape("a"), TypeError),
    ("reshape", lambda: A.reshape(1.5, 2), TypeError),
    ("matmul", lambda: tp.matmul(A, np.ones(3)), TypeError),
    ("max", lambda: tp.max(A, 0, 1, 2), TypeError),
    ("gelu", lambda: tp.gelu(A, approximate="exact"), VALUE),
    ("div", lambda: tp.div(A, A, rounding_mode="up"), VALUE),
    ("cross_entropy", lambda: F.cross_entropy(A, I, reduction="median"), VALUE),
    ("einsum", lambda: tp.einsum(3, [A]), TypeError),
    ("full", lambda: tp.full((2,), "x"), TypeError),
    ("tensor", lambda: tp.tensor("x"), TypeError),
    ("tensor", lambda: tp.tensor([1, [2]]), VALUE),
    ("tensor", lambda: tp.tensor([None]), TypeError),
    ("tensor", lambda: tp.tensor(2**70), OverflowError),
    ("from_numpy", lambda: tp.from_numpy([1.0]), TypeError),
    ("from_numpy", lambda: tp.from_numpy(np.array(["x"])), TypeError),
    ("from_numpy", lambda: tp.from_numpy(np.ones(2, ">f4")), VALUE),
    ("multinomial", lambda: tp.multinomial(-V, 1), VALUE),
    ("bernoulli", lambda: tp.bernoulli(V * 2), VALUE),
    # writing where that is not possible
    ("add", lambda: tp.ones(1).expand(3).add_(1), VALUE),
    ("fill", lambda: _read_only().fill_(1), VALUE),
    ("copy", lambda: _read_only().copy_(tp.ones(3)), VALUE),
    ("", lambda: _read_only().__setitem__(0, 1.0), VALUE),
    ("add", lambda: tp.ones(3, requires_grad=True).add_(1), VALUE),
    # autograd
    ("backward", lambda: tp.ones(3, requires_grad=True).exp().backward(), VALUE),
    ("backward", lambda: tp.ones(()).backward(), VALUE),
    ("grad", lambda: tp.autograd.grad(tp.ones(()), tp.ones(3)), VALUE),
    ("", lambda: INT.requires_grad_(), ANY),
    ("grad", lambda: grad(lambda x: x)(V), VALUE),
    ("grad", lambda: grad(lambda x: x.sum())(INT), ANY),
    ("vmap", lambda: vmap(lambda x: x)(tp.ones(())), VALUE),
]


def _read_only():
    a = np.ones(3, np.float32)
    a.flags.writeable = False
    return tp.from_numpy(a)


@pytest.mark.parametrize("case", range(len(CALLS)), ids=[f"{i}-{c[0]}" for i, c in enumerate(CALLS)])
def test_one_line_that_names_the_operator(case, capfd):
    name, call, kind, *words = CALLS[case]
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert text and "\n" not in text, text
    assert name in text, text
    for word in words:
        assert word in text, text
    out = capfd.readouterr()
    assert out.out == "" and out.err == ""
    assert (tp.ones(2) + 1).tolist() == [2.0, 2.0]  # the next call works


def test_errors_leave_no_tensor_behind():
    import gc

    from tensorplay._clib import lib

    def run():
        for _, call, *_rest in CALLS:
            try:
                call()
            except Exception:
                pass

    run()
    gc.collect()
    before = lib.tp_live_tensors()
    run()
    run()
    gc.collect()
    assert lib.tp_live_tensors() <= before


@pytest.mark.parametrize(
    "wrap",
    [
        lambda f: vmap(lambda x: f(x))(tp.ones(4, 2, 3)),
        lambda f: grad(lambda x: f(x).sum())(A),
        lambda f: vmap(grad(lambda x: f(x).sum()))(tp.ones(4, 2, 3)),
    ],
)
def test_shapes_in_messages_are_those_that_the_function_sees(wrap):
    with pytest.raises(VALUE) as caught:
        wrap(lambda x: x @ B)
    assert "[2, 3]" in str(caught.value) and "[4, 2, 3]" not in str(caught.value)
    with pytest.raises(VALUE) as caught:
        wrap(lambda x: x.reshape(5))
    assert "6 elements" in str(caught.value)
    with pytest.raises(IndexError):
        wrap(lambda x: x.sum(2))
