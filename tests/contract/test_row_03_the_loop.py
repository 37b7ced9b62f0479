"""Rows 3, 5 and 6: vmap is the loop, for every operator that the reference lists as covered or as missing."""

import pytest

import tensorplay as tp
import tensorplay.nn.functional as F
from tensorplay.func import vmap
from tensorplay.testing import assert_close, check_vmap

tp.manual_seed(0)
A, B = tp.randn(3, 4, dtype=tp.float64), tp.randn(3, 4, dtype=tp.float64)
P = A.abs() + 0.5
S = tp.randn(3, 3, dtype=tp.float64)
I = tp.tensor([2, 0, 1])

# Each: the arguments of one sample, and the function.
COVERED = {  # row 5
    "add": ((A, B), lambda a, b: a + b),
    "sub": ((A, B), lambda a, b: a - b),
    "mul": ((A, B), lambda a, b: a * b),
    "div": ((A, P), lambda a, b: a / b),
    "pow": ((P, B), lambda a, b: a**b),
    "neg": ((A,), lambda a: -a),
    "abs": ((A,), abs),
    "exp": ((A,), tp.exp),
    "log": ((P,), tp.log),
    "sqrt": ((P,), tp.sqrt),
    "sin": ((A,), tp.sin),
    "cos": ((A,), tp.cos),
    "tanh": ((A,), tp.tanh),
    "sigmoid": ((A,), tp.sigmoid),
    "relu": ((A,), tp.relu),
    "matmul": ((A, S), lambda a, s: s @ a),
    "mm": ((S, A), tp.mm),
    "bmm": ((A.reshape(3, 2, 2), B.reshape(3, 2, 2)), tp.bmm),
    "sum": ((A,), lambda a: a.sum(1)),
    "cumsum": ((A,), lambda a: a.cumsum(0)),
    "clamp": ((A,), lambda a: a.clamp(-0.5, 0.5)),
    "where": ((A, B), lambda a, b: tp.where(a > b, a, b * 2)),
    "stack": ((A, B), lambda a, b: tp.stack([a, b], 1)),
    "cat": ((A, B), lambda a, b: tp.cat([a, b], 1)),
    "index_select": ((A, I), lambda a, i: a.index_select(0, i)),
    "narrow": ((A,), lambda a: a.narrow(1, 1, 2)),
    "select": ((A,), lambda a: a.select(1, 2)),
    "tril": ((S,), tp.tril),
    "maximum": ((A, B), tp.maximum),
    "minimum": ((A, B), tp.minimum),
    "logsumexp": ((A,), lambda a: a.logsumexp(1)),
    "reshape": ((A,), lambda a: a.reshape(2, 6)),
    "view": ((A,), lambda a: a.view(3, 2, 2)),
    "transpose": ((A,), lambda a: a.transpose(0, 1)),
    "permute": ((A,), lambda a: a.permute(1, 0)),
    "movedim": ((A,), lambda a: a.movedim(0, 1)),
    "squeeze": ((A,), lambda a: a.unsqueeze(1).squeeze(1)),
    "unsqueeze": ((A,), lambda a: a.unsqueeze(0)),
    "expand": ((A,), lambda a: a.expand(2, 3, 4)),
    "contiguous": ((A,), lambda a: a.t().contiguous()),
    "basic index": ((A,), lambda a: a[1:, ::2]),
    "integer index": ((A,), lambda a: a[-1, 0]),
    "ellipsis": ((A,), lambda a: a[..., None, 1]),
    "advanced index": ((A, I), lambda a, i: a[i]),
    "advanced pair": ((A, I), lambda a, i: a[i, i]),
    "mask": ((A,), lambda a: a[tp.tensor([True, False, True])]),
    "new_zeros": ((A,), lambda a: a.new_zeros(2) + a[0, :2]),
    "new_ones": ((A,), lambda a: a.new_ones((4,)) * a),
    "new_full": ((A,), lambda a: a.new_full((4,), 2.0) * a),
    "zeros": ((A,), lambda a: tp.zeros(4, dtype=tp.float64) + a),
    "ones": ((A,), lambda a: tp.ones(4, dtype=tp.float64) + a),
}
LIFTED = {  # row 6
    "dot": ((A[0], B[0]), lambda a, b: a.dot(b)),
    "mean": ((A,), lambda a: a.mean(0)),
    "max": ((A,), lambda a: a.max(1)),
    "max of all": ((A,), lambda a: a.max()),
    "min": ((A,), lambda a: a.min(0)),
    "argmax": ((A,), lambda a: a.argmax(1)),
    "argmax of all": ((A,), lambda a: a.argmax()),
    "softmax": ((A,), lambda a: a.softmax(1)),
    "log_softmax": ((A,), lambda a: a.log_softmax(0)),
    "norm": ((A,), lambda a: a.norm()),
    "norm along": ((A,), lambda a: a.norm(1, 0)),
    "masked_fill": ((A, B), lambda a, b: a.masked_fill(b > 0, 2.5)),
    "clone": ((A,), lambda a: a.clone()),
    "sort": ((A,), lambda a: a.sort(1)),
    "argsort": ((A,), lambda a: a.argsort(0)),
    "topk": ((A,), lambda a: a.topk(2)),
    "einsum": ((A, B), lambda a, b: tp.einsum("ij,kj->ik", [a, b])),
    "dropout": ((A,), lambda a: F.dropout(a, 0.5, False)),
}


@pytest.mark.parametrize("name", [*COVERED, *LIFTED])
def test_every_operator_of_the_lists(name):
    inputs, fn = (COVERED | LIFTED)[name]
    assert check_vmap(fn, inputs, vary={1: lambda a, i: (a + i) % 3} if inputs[-1] is I else None)


def test_the_statement_itself():
    x = tp.randn(5, 3, 4)
    f = lambda t: (t.sin() @ t.t()).softmax(0).sum(1)
    assert_close(vmap(f)(x), tp.stack([f(x_i) for x_i in x.unbind(0)]))
    for size in (0, 1):
        got = vmap(f)(x[:size])
        assert got.shape == (size, 3)
        if size:
            assert_close(got, tp.stack([f(x_i) for x_i in x[:size].unbind(0)]))


@pytest.mark.parametrize("in_dim", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("out_dim", [0, 1, -1, -2])
def test_in_dims_and_out_dims(in_dim, out_dim):
    x = tp.randn(3, 4, 5)
    f = lambda t: t.sin()
    want = tp.stack([f(t) for t in x.unbind(in_dim)], out_dim)
    assert_close(vmap(f, in_dim, out_dim)(x), want)


def test_trees_of_dims():
    x, y, z = tp.randn(3, 4), tp.randn(4, 3), tp.randn(4)

    def f(pair, d):
        a, b = pair
        return {"s": a + b + d["z"], "t": (a * 2, b.sum())}

    got = vmap(f, ((0, 1), {"z": None}), {"s": 1, "t": (0, 0)})((x, y), {"z": z})
    want = [f((x[i], y[:, i]), {"z": z}) for i in range(3)]
    assert_close(got["s"], tp.stack([w["s"] for w in want], 1))
    assert_close(got["t"][0], tp.stack([w["t"][0] for w in want]))
    assert_close(got["t"][1], tp.stack([w["t"][1] for w in want]))


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 7, 100])
def test_chunks(chunk_size):
    x = tp.randn(7, 3)
    assert_close(vmap(lambda t: t.sum() * t, chunk_size=chunk_size)(x), tp.stack([t.sum() * t for t in x.unbind(0)]))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: vmap(lambda x: x)(), "no positional argument"),
        (lambda: vmap(lambda x, y: x, (0, 0))(tp.ones(2), tp.ones(3)), "different sizes"),
        (lambda: vmap(lambda x: x, 2)(tp.ones(2)), "out of range"),
        (lambda: vmap(lambda x: x, (0, 0))(tp.ones(2)), "in_dims has 2 entries for 1"),
        (lambda: vmap(lambda x: x, (None,))(tp.ones(2)), "at least one argument must be mapped"),
        (lambda: vmap(lambda x: 3)(tp.ones(2)), "must return Tensors"),
        (lambda: vmap(lambda x: x, 0, 4)(tp.ones(2)), "out_dim 4 is out of range"),
        (lambda: vmap(lambda x: x, 0, None)(tp.ones(2)), "out_dim None"),
        (lambda: vmap(lambda x: x)(3.0), "only Tensors can be mapped"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
