"""Functions that make tensors, dtypes and promotion."""

import pickle

import numpy as np
import pytest

import tensorplay as tp

NUMPY_DTYPES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32",
                "float64", "complex64", "complex128"]  # fmt: skip


@pytest.mark.parametrize(
    "data, dtype",
    [
        (1, "int64"),
        (True, "bool"),
        (2.5, "float32"),
        (1j, "complex64"),
        ([], "float32"),
        ([[], []], "float32"),
        ([1, 2], "int64"),
        ([True, False], "bool"),
        ([1, 2.5], "float32"),
        ([1, True], "int64"),
        ([1, 2j], "complex64"),
        ((1, 2), "int64"),
        (range(3), "int64"),
        ([[1], (2,)], "int64"),
        (np.float64(1), "float64"),
        (np.int8(3), "int8"),
        ([np.float64(1)], "float64"),
        (np.array([1, 2], "i2"), "int16"),
        (bytearray(b"ab"), "uint8"),
        (np.ones((2, 3))[:, ::-2], "float64"),
        (np.array(3.0), "float64"),
        ([np.ones(2), np.zeros(2)], "float64"),
    ],
    ids=repr,
)
def test_tensor_of_data(data, dtype):
    t = tp.tensor(data)
    assert t.dtype.name == dtype
    expected = np.array(list(data) if isinstance(data, (range, bytearray)) else data)
    assert t.shape == expected.shape
    np.testing.assert_array_equal(t.numpy(), expected.astype(dtype))
    assert tp.tensor(data, dtype=tp.complex128).dtype is tp.complex128


def test_tensor_copies():
    a = np.zeros(3)
    for make in (tp.tensor, lambda x: tp.asarray(x, copy=True), lambda x: tp.tensor(tp.from_numpy(x))):
        make(a).fill_(1)
        assert (a == 0).all()
    for make in (tp.as_tensor, tp.from_numpy, tp.asarray, lambda x: tp.asarray(x, copy=False)):
        a[:] = 0
        make(a).fill_(1)
        assert (a == 1).all()
    t = tp.zeros(2)
    assert tp.as_tensor(t) is t and tp.asarray(t) is t and tp.as_tensor(t, dtype=tp.int8).dtype is tp.int8
    b = bytearray(4)
    tp.asarray(b).fill_(7)
    assert b == bytearray([7] * 4)
    with pytest.raises(RuntimeError, match="read-only"):
        tp.asarray(b"ab").fill_(1)
    for data, dtype in (([1], None), (a, tp.float32)):
        with pytest.raises(ValueError, match="copy"):
            tp.asarray(data, dtype=dtype, copy=False)


def test_tensors_in_sequences(transforms):
    x, i = tp.tensor([1.0, 2.0]), tp.tensor([3, 4])
    assert tp.tensor([x[0], 2, i[0]]).tolist() == [1, 2, 3] and tp.tensor([x[0], 2, i[0]]).dtype is tp.float32
    assert tp.tensor([i[0], 2.5]).dtype is tp.float32 and tp.tensor([i, i], dtype=tp.float64).dtype is tp.float64
    assert tp.tensor([[x[0]], [x[1]]]).shape == (2, 1)
    with pytest.raises(ValueError, match="one shape"):
        tp.tensor([x, x[0]])
    f = lambda v: tp.tensor([v.sum(), v[0] * v[1]])
    np.testing.assert_allclose(transforms.vmap(f)(tp.tensor([[1.0, 2], [3, 4]])).numpy(), [[3, 2], [7, 12]])
    np.testing.assert_allclose(transforms.vjp(f)(x).numpy(), [3, 2])
    np.testing.assert_allclose(transforms.jvp(f)(x).numpy(), [2, 3])
    np.testing.assert_allclose(transforms.vjp(lambda v: tp.tensor(v * 2))(x).numpy(), [2, 2])
    p = tp.tensor([1.0], requires_grad=True)
    assert not tp.tensor(p).requires_grad and tp.tensor(p, requires_grad=True).is_leaf


@pytest.mark.parametrize(
    "data, error",
    [
        ("a", TypeError),
        (["a"], TypeError),
        (None, TypeError),
        ([None], TypeError),
        ({1: 2}, TypeError),
        (object(), TypeError),
        ([[1], [2, 3]], ValueError),
        ([1, [2]], ValueError),
        (np.array(["a"]), TypeError),
        (np.array([{}]), TypeError),
        (np.array([1.0], ">f8"), ValueError),
        (np.array(["2020"], "M8[D]"), TypeError),
        ([tp.zeros(1), "a"], TypeError),
        (2**63, OverflowError),
        ([2**63], OverflowError),
        ([2**64], OverflowError),
        (np.longdouble(1), TypeError),
        ({1}, TypeError),
    ],
    ids=repr,
)
def test_data_that_is_none(data, error):
    with pytest.raises(error, match="tensor: "):
        tp.tensor(data)


def test_values_that_do_not_fit():
    for data in (300, [300], -1, [-1]):
        with pytest.raises(OverflowError, match="uint8"):
            tp.tensor(data, dtype=tp.uint8)
    for data in (1j, [1j]):
        with pytest.raises(TypeError, match="complex"):
            tp.tensor(data, dtype=tp.float32)
    assert (
        tp.tensor(2**64 - 1, dtype=tp.uint64).item() == 2**64 - 1
        and tp.tensor(2**70, dtype=tp.float64).item() == 2.0**70
    )


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_filled(name):
    make = getattr(tp, name)
    for t in (
        make(2, 3),
        make((2, 3)),
        make([2, 3]),
        make(tp.zeros(2, 3).shape),
        make(size=(2, 3)),
        make(np.int64(2), 3),
    ):
        assert t.shape == (2, 3) and t.dtype is tp.float32
        if name != "empty":
            np.testing.assert_array_equal(t.numpy(), getattr(np, name)((2, 3)))
    assert make().shape == make(()).shape == () and make(0).shape == (0,) and make(3, 0).shape == (3, 0)
    assert make(1, dtype=tp.int8).dtype is tp.int8 and make(1, requires_grad=True).requires_grad
    assert make(1, dtype=bool).dtype is tp.bool and make(1, dtype=np.float64).dtype is tp.float64
    like = getattr(tp, name + "_like")
    assert like(tp.tensor([1, 2])).dtype is tp.int64 and like(tp.zeros(2, 3), dtype=tp.bool).shape == (2, 3)
    method = getattr(tp.tensor([1, 2]), "new_" + name)
    assert (
        method(2, 3).shape == (2, 3)
        and method((2,)).dtype is tp.int64
        and method(2, dtype=tp.float64).dtype is tp.float64
    )
    for size, error in (((2.5,), TypeError), (("a",), TypeError), ((-1,), ValueError), ((2**62, 8), ValueError)):
        with pytest.raises(error, match=name):
            make(*size)
    for kwargs, error, text in (
        (dict(out=tp.zeros(1)), TypeError, "invalid combination of arguments"),
        (dict(device="cuda"), ValueError, "cuda"),
        (dict(dtype="x"), TypeError, "dtype"),
        (dict(dtype=tp.int8, requires_grad=True), RuntimeError, "int8"),
    ):
        with pytest.raises(error, match=text):
            make(3, **kwargs)


def test_full_and_ranges():
    assert (
        tp.full((2,), 1.5).tolist() == [1.5, 1.5]
        and tp.full(2, 3).dtype is tp.int64
        and tp.full((1,), True).dtype is tp.bool
    )
    assert tp.full((1,), 1j).dtype is tp.complex64 and tp.full_like(tp.zeros(2), 3).tolist() == [3, 3]
    assert tp.zeros(1).new_full((2,), 3).dtype is tp.float32
    x = tp.tensor(2.0, requires_grad=True)
    (tp.full((3,), x) * 2).sum().backward()
    assert x.grad.item() == 6
    with pytest.raises(ValueError):
        tp.full((2,), tp.zeros(2))
    for args in ((5,), (1, 4), (5, 0, -2), (0, 1, 0.25), (1.5, 4), (0,)):
        np.testing.assert_allclose(tp.arange(*args).numpy(), np.arange(*args))
    assert (
        tp.arange(3).dtype is tp.int64 and tp.arange(3.0).dtype is tp.float32 and tp.arange(tp.tensor(3)).numel() == 3
    )
    assert tp.arange(end=4).tolist() == [0, 1, 2, 3] and tp.arange(3, dtype=tp.int8).dtype is tp.int8
    for args in ((3, 0), (0, 3, 0), (0, 1, -1)):
        with pytest.raises(ValueError, match="arange"):
            tp.arange(*args)
    with pytest.raises(TypeError):
        tp.arange("a")
    np.testing.assert_allclose(tp.linspace(0, 1, 5).numpy(), np.linspace(0, 1, 5))
    for low, high, n in ((-3, 3, 4), (0.1, 0.7, 7), (5, 5, 3), (1e9, -3.5, 8), (2, 9, 1), (2, 9, 0)):
        ends = tp.tensor(low, dtype=tp.float64), tp.tensor(high, dtype=tp.float64)
        assert tp.linspace(*ends, n, dtype=tp.float64).equal(tp.linspace(low, high, n, dtype=tp.float64))
    assert tp.linspace(0, 1, 0).shape == (0,) and tp.linspace(2, 5, 1).tolist() == [2]
    np.testing.assert_array_equal(tp.eye(2, 3).numpy(), np.eye(2, 3))
    assert tp.eye(2).shape == (2, 2)


@pytest.mark.parametrize("name", NUMPY_DTYPES + ["bfloat16"])
def test_dtypes(name):
    d = getattr(tp, name)
    assert repr(d) == "tensorplay." + name and d.name == name and pickle.loads(pickle.dumps(d)) is d
    assert tp.zeros(1, dtype=d).element_size() == d.itemsize
    if name != "bfloat16":
        a = np.dtype(name)
        assert d.itemsize == a.itemsize and d.numpy == a and tp.from_numpy(np.zeros(2, a)).dtype is d
        assert tp.zeros(2, dtype=a).dtype is d and tp.zeros(2, dtype=a.type).numpy().dtype == a
    else:
        with pytest.raises(TypeError):
            d.numpy
    with pytest.raises(TypeError):
        tp.dtype()


def test_promotion():
    names = [n for n in NUMPY_DTYPES if n not in ("uint16", "uint32", "uint64")]
    for a in names:
        for b in names:
            got = tp.promote_types(getattr(tp, a), getattr(tp, b))
            expected = np.promote_types(a, b)
            integers = np.dtype(a).kind in "biu" or np.dtype(b).kind in "biu"
            if integers and expected.kind in "fc":  # an integer does not widen a float
                expected = np.dtype(a) if np.dtype(a).kind in "fc" else np.dtype(b)
            assert got.name == expected.name, (a, b)
    assert tp.promote_types(tp.float16, tp.bfloat16) is tp.float32
    i, x, h = tp.tensor([1]), tp.tensor([1.0]), tp.tensor([1.0], dtype=tp.float16)
    zero_d = tp.tensor(1.0, dtype=tp.float64)
    for args, d in (
        ((i, 1.5), tp.float32),
        ((x, 1), tp.float32),
        ((h, zero_d), tp.float16),
        ((i, zero_d), tp.float64),
        ((i, 1j), tp.complex64),
        ((zero_d, 1j), tp.complex128),
        ((1, 2.5), tp.float32),
        ((h, 1j), tp.complex64),
        ((tp.tensor([True]), 2), tp.int64),
        ((tp.int8, tp.uint8), tp.int16),
    ):
        assert tp.result_type(*args) is d, args
        if all(not isinstance(a, tp.dtype) for a in args) and isinstance(args[0], tp.Tensor):
            assert (args[0] + args[1]).dtype is d, args
    assert tp.can_cast(tp.int8, tp.float16) and not tp.can_cast(tp.float32, tp.int64)
    assert not tp.can_cast(tp.int8, tp.uint8) and tp.can_cast(tp.float32, tp.complex64)
    with pytest.raises(ValueError):
        tp.result_type()
    with pytest.raises(TypeError):
        tp.result_type("a")


def test_default_dtype():
    assert tp.get_default_dtype() is tp.float32
    try:
        tp.set_default_dtype(tp.float64)
        assert (
            tp.tensor(1.0).dtype
            is tp.tensor([1.0]).dtype
            is tp.zeros(1).dtype
            is (tp.tensor([1]) / 2).dtype
            is tp.float64
        )
        assert tp.tensor(1j).dtype is tp.complex128 and repr(tp.zeros(1)) == "tensor([0.])"
        with pytest.raises((ValueError, TypeError)):
            tp.set_default_dtype(tp.int32)
    finally:
        tp.set_default_dtype(tp.float32)


def test_limits():
    for d in (tp.float16, tp.float32, tp.float64):
        a, b = tp.finfo(d), np.finfo(d.name)
        assert (a.eps, a.max, a.min, a.tiny, a.bits) == (b.eps, b.max, b.min, b.tiny, b.bits)
    assert tp.finfo(tp.complex64).eps == tp.finfo(tp.float32).eps and tp.finfo().bits == 32
    b = tp.finfo(tp.bfloat16)
    one = tp.tensor(1.0, dtype=tp.bfloat16)
    assert (one + b.eps).item() == 1 + b.eps and tp.tensor(b.max, dtype=tp.bfloat16).item() == b.max
    for d in (tp.uint8, tp.int8, tp.int64, tp.uint64):
        a, b = tp.iinfo(d), np.iinfo(d.name)
        assert (a.min, a.max, a.bits) == (b.min, b.max, b.bits)
    for f, d in ((tp.finfo, tp.int8), (tp.iinfo, tp.float32), (tp.iinfo, tp.bool)):
        with pytest.raises(TypeError):
            f(d)


def test_generators_and_seeds():
    g = tp.Generator().manual_seed(5)
    assert g.initial_seed() == 5 and pickle.loads(pickle.dumps(g)).get_state() == g.get_state()
    h = tp.Generator().set_state(g.get_state())
    assert h.get_state() == g.get_state() and "seed=5" in repr(g) and g.device == "cpu"
    assert tp.manual_seed(3).initial_seed() == tp.initial_seed() == 3
    assert isinstance(g.seed(), int) and g.manual_seed(-1).initial_seed() == 2**64 - 1
    with pytest.raises(ValueError):
        g.manual_seed(2**64)
    with pytest.raises(TypeError):
        g.manual_seed(1.5)


def test_empty_with_strides():
    t = tp.empty_strided((2, 3), (1, 2), dtype=tp.int32)
    assert t.shape == (2, 3) and t.stride() == (1, 2) and t.dtype is tp.int32
    t.copy_(tp.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(t.numpy(), np.arange(6).reshape(2, 3))
    assert tp.empty_strided((0, 3), (7, 7)).shape == (0, 3)
    assert tp.empty_strided((), ()).shape == ()
    assert t.new_empty_strided((3,), (2,)).dtype is tp.int32
    p = tp.empty_permuted((2, 3, 4), (2, 0, 1))
    assert p.shape == (2, 3, 4) and p.stride() == (3, 1, 6)
    for call in (lambda: tp.empty_strided((2,), (1, 1)), lambda: tp.empty_strided((2,), (-1,)),
                 lambda: tp.empty_strided((-2,), (1,)), lambda: tp.empty_permuted((2, 3), (0, 0))):  # fmt: skip
        with pytest.raises(ValueError, match="^empty_(strided|permuted): "):
            call()


def test_frombuffer():
    memory = bytearray(np.arange(4, dtype="f8").tobytes())
    t = tp.frombuffer(memory, dtype=tp.float64)
    t[0] = 7
    np.testing.assert_array_equal(np.frombuffer(memory), [7, 1, 2, 3])
    np.testing.assert_array_equal(tp.frombuffer(memory, dtype=tp.float64, count=2, offset=8).numpy(), [1, 2])
    assert tp.frombuffer(b"", dtype=tp.float32).shape == (0,)
    with pytest.raises(RuntimeError):
        tp.frombuffer(b"abcd", dtype=tp.uint8)[0] = 1
    with pytest.raises(TypeError, match="^frombuffer: "):
        tp.frombuffer("text", dtype=tp.uint8)
    for keywords in ({"count": 9}, {"count": -2}, {"offset": 33}, {"offset": -1}, {"offset": 1}):
        with pytest.raises(ValueError, match="^frombuffer: "):
            tp.frombuffer(memory, dtype=tp.float64, **keywords)


def test_questions_about_a_tensor():
    assert tp.is_nonzero(tp.tensor([[2.0]])) and not tp.tensor(0).is_nonzero()
    with pytest.raises(ValueError, match=r"shape \[2\] has 2 elements, not one"):
        tp.ones(2).is_nonzero()
    assert tp.is_signed(tp.ones(1)) and not tp.ones(1, dtype=tp.uint8).is_signed() and not tp.tensor(True).is_signed()
    assert tp.ones(2, 3).ndimension() == 2 and tp.ones(1).is_cpu
    x = tp.ones(2, requires_grad=True)
    assert not tp.detach(x * 2).requires_grad
