"""In-place views, forms of `to`, functions of shapes, and the masked reductions at their edges."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, vmap


def test_views_in_place():
    x = tp.arange(6.0).reshape(2, 3)
    y = x
    assert x.transpose_(0, 1) is x and y.shape == (3, 2) and y[0, 1] == 3
    assert x.unsqueeze_(0).shape == (1, 3, 2) and x.squeeze_().shape == (3, 2) and x.t_().shape == (2, 3)
    assert x.swapaxes_(0, 1).shape == (3, 2) and x.swapdims_(0, 1).shape == (2, 3)
    assert x.as_strided_((2, 2), (1, 1)).tolist() == [[0, 1], [1, 2]]
    base = tp.zeros(2, 3)
    view = base.t()
    view.unsqueeze_(0)[0, 1] = 7
    assert base.tolist() == [[0, 7, 0], [0, 7, 0]] and base.shape == (2, 3)


def test_views_in_place_in_transforms():
    def f(x):
        y = x * 2
        y.t_()
        y[0] = 0
        return (y * y).sum()

    x = tp.ones(2, 3)
    assert grad(f)(x).tolist() == [[0, 8, 8], [0, 8, 8]]
    got = vmap(lambda r: (r * 1).unsqueeze_(0).squeeze_(0).transpose_(0, -1))(tp.ones(4, 2, 3))
    assert got.shape == (4, 3, 2)
    w = tp.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        w.unsqueeze_(0)


def test_forms_of_to():
    x = tp.ones(2)
    i = tp.int32
    for got in (x.to(i), x.to("cpu", i), x.to(tp.device("cpu"), i), x.to(None, i), x.to(tp.ones(1, dtype=i))):
        assert got.dtype is i
    for got in (x.to(dtype=i, copy=True), x.to("cpu", i, False, True), x.to(i, True), x.to(other=tp.ones(1, dtype=i))):
        assert got.dtype is i
    for got in (x.to("cpu"), x.to(tp.float32), x.to(x), x.to("cpu", tp.float32, True, False), x.to_device("cpu")):
        assert got is x
    for got in (x.to(x, copy=True), x.to(tp.float32, False, True), x.to("cpu", copy=True)):
        assert got is not x and got.data_ptr() != x.data_ptr()
    assert x.to(np.float64).dtype is tp.float64 and x.type_as(tp.ones(1, dtype=i)).dtype is i


BAD = [
    (lambda: tp.ones(1).to("cuda"), ValueError),
    (lambda: tp.ones(1).to(3), TypeError),
    (lambda: tp.ones(1).to(tp.int32, 3), TypeError),
    (lambda: tp.ones(1).to("cpu", tp.int32, False, False, False), TypeError),
    (lambda: tp.ones(1).to(memory_format="channels_last"), ValueError),
    (lambda: tp.ones(1).type_as(3), TypeError),
    (lambda: tp.ones(1).to_device("cuda"), ValueError),
    (lambda: tp.broadcast_shapes((2,), (3,)), ValueError),
    (lambda: tp.broadcast_shapes((-1,)), ValueError),
    (lambda: tp.broadcast_shapes("a"), TypeError),
    (lambda: tp.tril_indices(-1, 2), ValueError),
    (lambda: tp.tril_indices(2, 2, device="cuda"), ValueError),
    (lambda: tp.tensordot(tp.ones(2), tp.ones(2), dims=(1, 2, 3)), ValueError),
    (lambda: tp.ones(2, 3).sum_to_size(3, 3), ValueError),
    (lambda: tp.ones(2, 3).narrow(0, tp.tensor(1.0), 1), TypeError),
    (lambda: tp.ones(2, 3).narrow(0, tp.tensor([1]), 1), ValueError),
    (lambda: tp.ones(2, 3).narrow(0, tp.tensor(2), 1), IndexError),
    (lambda: vmap(lambda i: tp.ones(3).narrow(0, i, 2))(tp.tensor([0, 2])), IndexError),
    (lambda: tp.is_nonzero(tp.ones(2)), ValueError),
    (lambda: tp.masked.sum(tp.ones(2, 3), mask=tp.ones(2, dtype=tp.bool_)), ValueError),
    (lambda: tp.masked.sum(tp.ones(3), mask=tp.ones(2, 3, dtype=tp.bool_)), ValueError),
    (lambda: tp.masked.sum(tp.ones(3), 1), IndexError),
    (lambda: tp.masked.prod(tp.ones(2, 3), (0, 0)), ValueError),
    (lambda: tp.masked.mean(tp.ones(3, dtype=tp.int64)), TypeError),
    (lambda: tp.masked.norm(tp.ones(3, dtype=tp.int64)), TypeError),
    (lambda: tp.masked.amax(tp.ones(3, dtype=tp.bool_)), TypeError),
    (lambda: tp.masked.var(tp.ones(3), unbiased=True, correction=1.0), ValueError),
    (lambda: tp.masked.median(tp.ones(2, dtype=tp.int64), mask=tp.tensor([False, False])), ValueError),
    (lambda: tp.masked.median(tp.ones(2, 0)), IndexError),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_input(case):
    call, kind = BAD[case]
    with pytest.raises(kind) as found:
        call()
    assert "\n" not in str(found.value)


def test_functions_of_shapes():
    for shapes in ((), ((2, 1), (3,)), (3, (1,)), ((0, 1), (1, 4)), ((5,), (), (1, 1, 1))):
        assert tuple(tp.broadcast_shapes(*shapes)) == np.broadcast_shapes(*shapes)
    x = tp.tensor([[0.0, 1], [2, 0]])
    assert [t.tolist() for t in x.nonzero(as_tuple=True)] == [[0, 1], [1, 0]]
    assert [t.tolist() for t in tp.where(x > 0)] == [[0, 1], [1, 0]]
    assert tp.nonzero(tp.tensor(3.0), as_tuple=True)[0].tolist() == [0]
    assert [t.ndim for t in tp.atleast_2d(tp.tensor(1.0), tp.ones(3))] == [2, 2]
    a, b = tp.arange(6.0).reshape(2, 3), tp.arange(6.0).reshape(3, 2)
    for dims in (1, ([1], [0]), (1, 0), tp.tensor([[1], [0]]), ([0, 1], [1, 0])):
        want = np.tensordot(a.numpy(), b.numpy(), dims.tolist() if isinstance(dims, tp.Tensor) else dims)
        np.testing.assert_array_equal(tp.tensordot(a, b, dims=dims).numpy(), want)
    assert a.sum_to_size(1, 3).tolist() == [[3, 5, 7]] and a.sum_to_size((3,)).shape == (3,)
    assert tp.tril_indices(row=2, col=2, offset=1, dtype=tp.int32, device="cpu").dtype is tp.int32
    state = tp.get_rng_state()
    first = tp.rand(3)
    tp.set_rng_state(state)
    assert (tp.rand(3) == first).all()


NONE = tp.tensor([False, False])


def test_masked_edges():
    x = tp.tensor([np.inf, np.nan], dtype=tp.float64)
    m = tp.masked
    assert m.sum(x, mask=NONE) == 0 and m.prod(x, mask=NONE) == 1
    assert m.amax(x, mask=NONE) == -np.inf and m.amin(x, mask=NONE) == np.inf
    assert m.mean(x, mask=NONE).isnan() and m.median(x, mask=NONE).isnan() and m.var(x, mask=NONE).isnan()
    assert m.norm(x, mask=NONE) == 0 and m.norm(x, -1, mask=NONE) == np.inf and m.logsumexp(x, mask=NONE) == -np.inf
    assert m.softmax(x, 0, mask=NONE).isnan().all()
    one = tp.tensor([True, False])
    y = tp.tensor([3.0, np.nan], dtype=tp.float64)
    functions = [m.sum, m.prod, m.amax, m.amin, m.mean, m.norm, m.logsumexp]
    for f in functions:
        g = grad(lambda y: f(y, mask=one))(y)
        assert abs(f(y, mask=one).item() - 3) < 1e-15 and g.tolist() == [1, 0], f
    assert m.std(y, mask=one, unbiased=False) == 0
    assert grad(lambda y: m.std(y, mask=one, unbiased=False))(y).tolist() == [0, 0]
    got = vmap(lambda y, k: m.median(y, mask=k))(
        tp.tensor([[3.0, 1], [2, 5]]), tp.tensor([[True, False], [True, True]])
    )
    assert got.tolist() == [3, 2]
    assert m.amax(tp.tensor([3, 4], dtype=tp.uint8), mask=NONE) == 0 and m.argmax(x, mask=NONE).dtype is tp.float64
