"""NumPy and DLPack in both directions, without copies."""

import gc
import weakref

import numpy as np
import pytest

import tensorplay as tp
from tensorplay._clib import lib

DTYPES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32",
          "float64", "complex64", "complex128"]  # fmt: skip


def arrays(dtype):
    a = np.arange(24).reshape(2, 3, 4).astype(dtype)
    return [
        a,
        a.T,
        a[:, ::-1, ::2],
        a[1:, 0],
        a[0, 0, 0:1],
        np.array(a[1, 1, 1]),
        a[:, :0],
        np.broadcast_to(a[0, 0], (2, 4)),
        np.asfortranarray(a),
    ]


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_both_ways(dtype):
    for a in arrays(dtype):
        t = tp.from_numpy(a)
        assert t.dtype.name == dtype and t.shape == a.shape
        b = t.numpy()
        np.testing.assert_array_equal(a, b)
        assert b.dtype == a.dtype and (
            not a.size or b.__array_interface__["data"][0] == a.__array_interface__["data"][0]
        )
        assert not a.size or b.strides == a.strides and b.flags.writeable == a.flags.writeable
        c = np.asarray(t)
        assert not a.size or np.shares_memory(a, c)


@pytest.mark.parametrize("dtype", [d for d in DTYPES])
def test_dlpack_both_ways(dtype):
    for a in arrays(dtype):
        if not a.flags.writeable:
            t = tp.from_numpy(a)
            with pytest.raises(BufferError):
                t.__dlpack__()
            b = np.from_dlpack(t)
            assert not b.flags.writeable
            t = tp.from_dlpack(b)
            with pytest.raises(RuntimeError, match="read-only"):
                t.fill_(0)
            continue
        t = tp.from_dlpack(a)
        np.testing.assert_array_equal(t.numpy(), a)
        b = np.from_dlpack(t)
        np.testing.assert_array_equal(a, b)
        assert not a.size or (np.shares_memory(a, b) and np.shares_memory(a, t.numpy()))
        for capsule in (t.__dlpack__(), t.__dlpack__(max_version=(1, 0)), t.__dlpack__(max_version=(0, 8))):
            u = tp.from_dlpack(capsule)
            np.testing.assert_array_equal(u.numpy(), a)
            with pytest.raises(ValueError, match="consumed"):
                tp.from_dlpack(capsule)


class Old:
    """A producer from before DLPack 1.0."""

    def __init__(self, t, device=(1, 0)):
        self.t, self.device = t, device

    def __dlpack__(self, stream=None):
        return self.t.__dlpack__()

    def __dlpack_device__(self):
        return self.device


def test_dlpack_options():
    t = tp.arange(3.0)
    assert t.__dlpack_device__() == (1, 0)
    assert tp.from_dlpack(Old(t)).tolist() == [0, 1, 2]
    with pytest.raises(BufferError):
        tp.from_dlpack(Old(t, (2, 0)))
    for kwargs in (dict(stream=1), dict(dl_device=(2, 0))):
        with pytest.raises(BufferError):
            t.__dlpack__(**kwargs)
    copy = tp.from_dlpack(t, copy=True)
    copy.fill_(9)
    assert t.tolist() == [0, 1, 2] and tp.from_dlpack(t, copy=False).data_ptr() == t.data_ptr()
    b = tp.from_dlpack(tp.tensor([1.5], dtype=tp.bfloat16))
    assert b.dtype is tp.bfloat16 and b.tolist() == [1.5]
    for bad in (3, "a", np):
        with pytest.raises(TypeError):
            tp.from_dlpack(bad)
    with pytest.raises(RuntimeError, match="detach"):
        tp.zeros(2, requires_grad=True).__dlpack__()


def test_owners_live_as_long_as_needed():
    a = np.zeros(100)
    dead = weakref.ref(a)
    t = tp.from_numpy(a)
    view = t[10:20]
    del a, t
    gc.collect()
    assert dead() is not None
    b = view.numpy()
    del view
    gc.collect()
    assert dead() is not None and b.shape == (10,)
    del b
    gc.collect()
    assert dead() is None

    before = lib.tp_live_tensors()
    for make in (tp.Tensor.numpy, np.from_dlpack, tp.Tensor.__dlpack__, lambda t: t.__dlpack__(max_version=(1, 0)),
                 lambda t: tp.from_dlpack(t.__dlpack__())):  # fmt: skip
        x = make(tp.ones(5))
        gc.collect()
        if isinstance(x, np.ndarray):
            assert x.tolist() == [1] * 5
        del x
        gc.collect()
        assert lib.tp_live_tensors() == before


def test_memory_of_an_array_survives_a_tracked_write():
    x = tp.zeros(4)
    a = x.numpy()
    x[0] = tp.tensor(2.0, requires_grad=True) * 3
    del x
    gc.collect()
    assert a.shape == (4,) and a.sum() in (0, 6)


def test_foreign_arrays_that_have_no_tensor():
    record = np.zeros(3, [("a", "f4"), ("b", "i2")])
    with pytest.raises(ValueError, match="itemsize"):
        tp.from_numpy(record["a"])
    unaligned = np.frombuffer(bytes(17), dtype=np.uint8)[1:].view(np.float64)
    if not unaligned.flags.aligned:
        with pytest.raises(ValueError, match="aligned"):
            tp.from_numpy(unaligned)
        assert tp.as_tensor(unaligned).tolist() == [0, 0]
    for bad, error in (
        (np.zeros(1, ">f4"), ValueError),
        (np.zeros(1, "M8[s]"), TypeError),
        (np.array(["a"]), TypeError),
        (np.array([{}]), TypeError),
        (record, TypeError),
        ([1.0], TypeError),
        (None, TypeError),
    ):
        with pytest.raises(error, match="from_numpy"):
            tp.from_numpy(bad)


def test_numpy_functions_take_tensors():
    t = tp.tensor([1.0, 4.0])
    assert np.sqrt(t).tolist() == [1, 2] and np.add(t, t).tolist() == [2, 8]
    assert np.array(t).tolist() == [1, 4] and np.asarray(t, dtype=np.int8).dtype == np.int8
    a = np.array(t, copy=True)
    a[0] = 9
    assert t.tolist() == [1, 4]
    with pytest.raises(ValueError):
        np.asarray(t, dtype=np.float64, copy=False)
    with pytest.raises(TypeError, match="bfloat16"):
        t.bfloat16().numpy()
    assert t.requires_grad_().numpy(force=True).tolist() == [1, 4]
