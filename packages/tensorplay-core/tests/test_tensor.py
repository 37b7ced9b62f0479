"""Class Tensor: operators of Python, conversions, containers, attributes."""

import copy
import math
import operator
import pickle
import threading
import weakref

import numpy as np
import pytest

import tensorplay as tp
from tensorplay._clib import lib

F = np.array([[1.5, -2.0, 3.0], [0.5, 4.0, -1.25]], dtype=np.float32)
G = np.array([[2.0, 1.0, -1.0]], dtype=np.float32)
I = np.array([7, -3, 4], dtype=np.int64)
J = np.array([2, 5, -3], dtype=np.int64)
B = np.array([True, False, True])

ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod"]
COMPARISON = ["eq", "ne", "lt", "le", "gt", "ge"]
BITS = ["and_", "or_", "xor"]


def same(t, a):
    np.testing.assert_allclose(t.numpy(), a, rtol=1e-6)
    assert t.numpy().dtype == a.dtype or a.dtype == np.float64


@pytest.mark.parametrize("name", ARITHMETIC + COMPARISON)
def test_operators_of_floats(name):
    op = getattr(operator, name)
    x, y = tp.tensor(F), tp.tensor(G)
    same(op(x, y), op(F, G))
    for number in (2.5, -2, 3, np.float32(0.5), np.int64(2), True):
        same(op(x, number), op(F, np.float32(number)))
        same(op(number, x), op(np.float32(number), F))
    for array in (G, G.astype(np.float64)):
        same(op(x, array), op(F, array))
        got = op(array, x)
        assert isinstance(got, tp.Tensor)
        same(got, op(array, F))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "floordiv", "mod"] + COMPARISON + BITS)
def test_operators_of_integers(name):
    op = getattr(operator, name)
    x, y = tp.tensor(I), tp.tensor(J)
    same(op(x, y), op(I, J))
    for number in (2, -3, np.int64(5)):
        same(op(x, number), op(I, number))
        same(op(number, x), op(number, I))


def test_more_operators():
    x, i, b = tp.tensor(F), tp.tensor(I), tp.tensor(B)
    same(-x, -F), same(+x, F), same(abs(x), abs(F))
    same(~i, ~I), same(~b, ~B)
    same(b & True, B), same(b | b, B), same(b ^ True, ~B)
    same(i << 2, I << 2), same(i >> 1, I >> 1), same(1 << tp.tensor([1, 2]), np.array([2, 4]))
    same(x**2, F**2), same(2.0**x, 2.0**F), same(abs(x) ** 0.5, abs(F) ** np.float32(0.5)), same(i**2, I**2)
    q, r = divmod(i, 3)
    same(q, I // 3), same(r, I % 3)
    q, r = divmod(7, tp.tensor([2, -3]))
    same(q, 7 // np.array([2, -3])), same(r, 7 % np.array([2, -3]))
    assert (i / 2).dtype is tp.float32 and (i + 1.5).dtype is tp.float32 and (i + 1j).dtype is tp.complex64
    assert (b + 1).dtype is tp.int64 and (x + True).dtype is tp.float32
    assert (tp.tensor([1], dtype=tp.uint64) + (2**63)).item() == 2**63 + 1


def test_matmul():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    x, y = tp.tensor(a), tp.tensor(b)
    same(x @ y, a @ b), same(x @ b, a @ b), same(a @ y, a @ b)
    for bad in (3, [1.0], None):
        with pytest.raises(TypeError):
            x @ bad
        with pytest.raises(TypeError):
            bad @ x


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"])
def test_in_place_operators(name):
    op = getattr(operator, name)
    for other in (2.0, 3, tp.tensor(G), np.float32(2), G):
        a = abs(F) + 1
        x = y = tp.tensor(a)
        expected = op(a.copy(), other.numpy() if isinstance(other, tp.Tensor) else other)
        x = op(x, other)
        assert x is y
        same(x, expected)
    i = tp.tensor(I)
    i &= 6
    i |= 1
    i ^= tp.tensor(3)
    i <<= 2
    i >>= 1
    same(i, (((((I & 6) | 1) ^ 3) << 2) >> 1))


@pytest.mark.parametrize("other", [None, "a", [1.0], {}, object()], ids=repr)
def test_operands_that_are_none(other):
    x = tp.tensor(F)
    for op in (operator.add, operator.pow, operator.lt, operator.iadd, operator.and_):
        with pytest.raises(TypeError):
            op(x, other)
        with pytest.raises(TypeError):
            op(other, x) if op is not operator.iadd else other - x  # a list takes any iterable
    assert not (x == other) and x != other


def test_integers_that_do_not_fit():
    x = tp.tensor(I)
    for op in (operator.add, operator.mul, operator.lt, operator.iadd):
        with pytest.raises(OverflowError):
            op(x, 2**70)


def test_python_numbers():
    assert float(tp.tensor(1.5)) == 1.5 and int(tp.tensor(2.7)) == 2 and complex(tp.tensor(1 + 2j)) == 1 + 2j
    assert bool(tp.tensor([[2]])) and not tp.tensor(0.0) and [10, 20, 30][tp.tensor(1)] == 20
    assert range(9)[tp.tensor(2) : tp.tensor([5])] == range(2, 5)
    assert tp.tensor(3).item() == 3 and type(tp.tensor(3).item()) is int and tp.tensor(True).item() is True
    assert tp.tensor(2**64 - 1, dtype=tp.uint64).item() == 2**64 - 1
    assert math.floor(tp.tensor(2.5)) == 2 and math.sqrt(tp.tensor(4.0)) == 2
    for f in (float, int, bool, operator.index, tp.Tensor.item, complex):
        with pytest.raises((ValueError, TypeError), match=r"\[2\]|index"):
            f(tp.tensor([1.0, 2.0]))
    with pytest.raises(TypeError, match="float32"):
        [1, 2][tp.tensor(1.0)]
    assert f"{tp.tensor(3.14159):.2f}" == "3.14" and f"{tp.tensor([1, 2])}" == "tensor([1, 2])"


def test_mapped_tensors_have_no_one_value(transforms):
    x = tp.tensor([1.0, 2.0])
    for f, word in ((bool, "tp.where"), (float, "tp.where"), (int, "tp.where"), (tp.Tensor.item, "vmap")):
        with pytest.raises(RuntimeError, match=word):
            transforms.vmap(lambda v: (f(v), v)[1])(x)
    with pytest.raises(RuntimeError, match="tp.where"):
        transforms.vmap(lambda v: ([0, 1][v], v)[1])(tp.tensor([0, 1]))
    seen = []
    transforms.vmap(lambda v: (seen.append((len(v), v.shape, bool(tp.tensor(1)))), v)[1])(tp.zeros(2, 3))
    assert seen == [(3, (3,), True)]
    assert transforms.vjp(lambda v: v * 2 if v.sum() > 0 and float(v[0]) else v)(x).tolist() == [2, 2]


def test_no_memory_inside_transforms(transforms):
    x = tp.tensor([1.0, 2.0])
    for use in (tp.Tensor.numpy, np.asarray, tp.Tensor.__dlpack__, tp.Tensor.data_ptr, np.from_dlpack, pickle.dumps):
        for t in (transforms.vmap, transforms.vjp, transforms.jvp):
            with pytest.raises(RuntimeError, match="detach.*debug_unwrap"):
                t(lambda v: (use(v), v)[1])(x)
    with pytest.raises(RuntimeError, match="detach.*debug_unwrap"):
        x.requires_grad_().numpy()


def test_as_a_container():
    x = tp.tensor(F)
    assert (
        len(x) == 2 and [r.tolist() for r in x] == F.tolist() and [r.tolist() for r in reversed(x)] == F[::-1].tolist()
    )
    assert 4.0 in x and 99 not in x
    with pytest.raises(TypeError):
        "a" in x
    for f in (len, iter, list):
        with pytest.raises(TypeError):
            f(tp.tensor(1.0))
    assert len({x, x, tp.tensor(F)}) == 2 and hash(x) == hash(x)
    assert x.tolist() == F.tolist() and tp.tensor(2.5).tolist() == 2.5
    assert tp.tensor([1.5], dtype=tp.bfloat16).tolist() == [1.5]


def test_attributes():
    x = tp.tensor(F)
    assert x.shape == (2, 3) and isinstance(x.shape, tp.Size) and x.shape.numel() == 6
    assert x.shape + (1,) == (2, 3, 1) and isinstance(x.shape[:1], tp.Size) and isinstance((1,) + x.shape, tuple)
    assert x.size() == (2, 3) and x.size(-1) == 3 and x.ndim == x.dim() == 2 and x.numel() == 6
    assert x.stride() == x.strides == (3, 1) and x.stride(0) == 3 and x.is_contiguous() and not x.T.is_contiguous()
    assert x.dtype is tp.float32 and x.itemsize == x.element_size() == 4 and x.nbytes == 24
    assert x.device == "cpu" and x.device == tp.device("cpu") and str(x.device) == "cpu"
    assert x.T.shape == (3, 2) and x.mT.shape == (3, 2) and x.H.shape == (3, 2) and x.mH.shape == (3, 2)
    assert tp.zeros(2, 3, 4).T.shape == (4, 3, 2) and tp.zeros(2, 3, 4).mT.shape == (2, 4, 3)
    assert x.data_ptr() == x.numpy().ctypes.data
    assert x.is_floating_point() and not x.is_complex() and tp.is_tensor(x)
    z = tp.tensor([1 + 2j])
    assert z.real.item() == 1 and z.imag.item() == 2 and x.real is x
    with pytest.raises(IndexError):
        x.size(2)
    for bad in (lambda: tp.zeros(3).mT, lambda: tp.zeros(3).H, lambda: x.nothing):
        with pytest.raises((RuntimeError, AttributeError)):
            bad()
    with pytest.raises(AttributeError):
        x.attribute = 1


def test_conversions():
    x = tp.tensor([1.7, -2.2])
    names = ["double", "float", "half", "bfloat16", "long", "int", "short", "bool", "byte", "char", "cfloat", "cdouble"]
    dtypes = [tp.float64, tp.float32, tp.float16, tp.bfloat16, tp.int64, tp.int32, tp.int16, tp.bool, tp.uint8, tp.int8,
              tp.complex64, tp.complex128]  # fmt: skip
    for name, d in zip(names, dtypes):
        assert getattr(x.abs(), name)().dtype is d
        assert x.abs().to(d).dtype is d
    assert x.to(tp.float32) is x and x.to("cpu") is x and x.to(x) is x and x.cpu() is x and x.float() is x
    assert x.to(tp.float32, copy=True) is not x
    assert x.to("cpu", tp.int8).dtype is tp.int8 and x.to(dtype=np.float64).dtype is tp.float64
    assert x.to(tp.tensor(1)).dtype is tp.int64 and x.type_as(tp.tensor(1)).dtype is tp.int64
    assert x.to(int).dtype is tp.int64 and x.to(np.dtype("int16")).tolist() == [1, -2]
    for bad in ("cuda", "float64", "meta"):
        with pytest.raises(ValueError, match="not available"):
            x.to(bad)
    y = tp.tensor([1.0, 2.0], requires_grad=True)
    y.double().half().sum().backward()
    assert y.grad.tolist() == [1, 1] and y.grad.dtype is tp.float32


def test_filling():
    x = tp.zeros(2, 2)
    assert x.fill_(3) is x and x.tolist() == [[3, 3], [3, 3]]
    assert x.fill_(tp.tensor(2.5)).tolist() == [[2.5] * 2] * 2 and x.zero_().sum().item() == 0
    with pytest.raises((TypeError, ValueError)):
        x.fill_(tp.zeros(2))


def test_copies():
    x = tp.tensor(F)
    assert copy.copy(x).data_ptr() == x.data_ptr()
    d = copy.deepcopy(x)
    assert d.data_ptr() != x.data_ptr() and d.tolist() == x.tolist()
    p = tp.tensor(F, requires_grad=True)
    (p * 2).sum().backward()
    memo = copy.deepcopy({"a": p, "b": [p]})
    q = memo["a"]
    assert memo["b"][0] is q and q.requires_grad and q.is_leaf and q.grad.tolist() == p.grad.tolist()
    assert q.grad.data_ptr() != p.grad.data_ptr()
    with pytest.raises(RuntimeError, match="detach"):
        copy.deepcopy(p * 1)


@pytest.mark.parametrize("dtype", [tp.float32, tp.bfloat16, tp.bool, tp.complex128, tp.uint16, tp.float16], ids=repr)
def test_pickles(dtype):
    for x in (
        tp.tensor(abs(F)).to(dtype),
        tp.zeros(0, 3, dtype=dtype),
        tp.tensor(1).to(dtype),
        tp.tensor(F).to(dtype).T,
    ):
        for protocol in (2, 5):
            y = pickle.loads(pickle.dumps(x, protocol))
            assert y.dtype is dtype and y.shape == x.shape and y.tolist() == x.tolist()
            y.fill_(1)
    if dtype.is_floating_point:
        p = tp.tensor([1.0]).to(dtype).requires_grad_()
        assert pickle.loads(pickle.dumps(p)).requires_grad
        with pytest.raises(RuntimeError, match="detach"):
            pickle.dumps(p * 1)
    buffers = []
    data = pickle.dumps(tp.zeros(1000), protocol=5, buffer_callback=buffers.append)
    assert buffers and len(data) < 1000 and pickle.loads(data, buffers=buffers).shape == (1000,)


class Named(tp.Tensor):
    pass


def test_subclasses():
    x = tp.tensor([1.0, 2.0])
    n = Named._make_subclass(x, True)
    n.label = "a"
    assert type(n) is Named and n.requires_grad and n.data_ptr() == x.data_ptr() and type(n + 1) is tp.Tensor
    assert (x + n).tolist() == [2, 4] and (n * n).tolist() == [1, 4] and (2 - n).tolist() == [1, 0]
    for m in (copy.deepcopy(n), copy.copy(n), pickle.loads(pickle.dumps(n))):
        assert type(m) is Named and m.label == "a" and m.requires_grad and m.tolist() == [1, 2]
    assert repr(n).startswith("Named(")
    assert tp.Tensor([1, 2]).tolist() == [1, 2] and type(Named([1.0])) is Named and tp.Tensor().shape == (0,)


def test_handles_are_released_on_any_thread_and_without_one():
    before = lib.tp_live_tensors()
    x = tp.zeros(3)
    r = weakref.ref(x)
    box = [x]
    del x
    t = threading.Thread(target=box.clear)
    t.start()
    t.join()
    assert r() is None and lib.tp_live_tensors() <= before
    with pytest.raises(TypeError):
        tp.Tensor({})
    object.__new__(tp.Tensor)  # has no handle: releasing it must not raise


def test_in_place_on_leaves_and_views():
    x = tp.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError):
        x += 1
    with pytest.raises(RuntimeError):
        x[0] = 1
    with tp.no_grad():
        x += 1
    assert x.tolist() == [2, 3] and x.requires_grad
    y = tp.zeros(2, 2)
    row = y[0]
    row += 5
    assert y.tolist() == [[5, 5], [0, 0]]
    with pytest.raises((ValueError, RuntimeError)):
        y += tp.zeros(3, 2, 2)
    i = tp.tensor([1, 2])
    with pytest.raises((RuntimeError, TypeError), match="int64"):
        i += 1.5
    readonly = tp.from_numpy(np.broadcast_to(np.float32(1), (2,)))
    with pytest.raises(RuntimeError, match="read-only"):
        readonly += 1
