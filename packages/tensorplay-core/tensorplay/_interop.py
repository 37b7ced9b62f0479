"""Exchange with NumPy and DLPack, copies and pickles."""

import copy as _copy
from typing import Any

import numpy as np

from ._clib import PLAIN_LEVEL, ffi, lib, raise_error
from ._dtypes import DTYPES, bfloat16, from_numpy_dtype, uint16
from ._tensor import Tensor, check_device, require_memory, wrap

# ---- NumPy ----


class _Memory:
    """What a NumPy array over a tensor's memory holds on to: an alias of its own, since writing a tensor that
    belongs to a transform into the original would replace the original's memory."""

    __slots__ = ("alias", "__array_interface__")


def numpy(t, what):
    """A NumPy array over the memory of t."""
    h = t._h
    if lib.tp_is_wrapped(h):
        if lib.tp_requires_grad(h) and lib.tp_level_of(h) == PLAIN_LEVEL:
            raise RuntimeError(
                f"{what}: the tensor requires gradients, which a NumPy array can't follow: use t.detach().numpy() "
                "(tensorplay.func.debug_unwrap looks inside a transform)"
            )
        require_memory(t, what)
    d = DTYPES[lib.tp_tensor_dtype(h)]
    if d is bfloat16:
        raise TypeError(f"{what}: NumPy has no bfloat16: convert to float32 first")
    return _over_memory(t, d)


def _over_memory(t, d):
    """A NumPy array of dtype d (of the same itemsize) over the memory of a plain tensor."""
    memory = _Memory()
    memory.alias = alias = wrap(lib.tp_detach(t._h))
    h = alias._h
    n = lib.tp_ndim(h)
    shape = tuple(ffi.unpack(lib.tp_shape(h), n)) if n else ()
    if not lib.tp_numel(h):
        return np.empty(shape, d.numpy)
    size = d.itemsize
    memory.__array_interface__ = {
        "version": 3,
        "shape": shape,
        "typestr": d._typestr,
        "data": (int(ffi.cast("uintptr_t", lib.tp_data(h))), lib.tp_is_readonly(h)),
        "strides": tuple([s * size for s in ffi.unpack(lib.tp_strides(h), n)]) if n else None,
    }
    return np.asarray(memory)


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor over the memory of a NumPy array, whose dtype, shape and strides it takes.

    Writing to one shows in the other; a read-only array gives a read-only tensor. TypeError for dtypes without a
    counterpart, ValueError for a foreign byte order and for memory that is not aligned.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"from_numpy: expected a numpy.ndarray, got {type(array).__name__}")
    d = from_numpy_dtype(array.dtype)
    size = d.itemsize
    strides = array.strides
    for s in strides:
        if s % size:
            raise ValueError(f"from_numpy: strides {strides} are no multiples of the itemsize {size}: use a.copy()")
    flags = array.flags
    if not flags.aligned:
        raise ValueError("from_numpy: the array's memory is not aligned to its dtype: use a.copy()")
    return wrap(
        lib.tpy_from_memory(
            array.__array_interface__["data"][0], d.code, array.ndim, array.shape, [s // size for s in strides],
            not flags.writeable, id(array),
        )
    )  # fmt: skip


# ---- DLPack ----

_API = None


def _capsules():
    """PyCapsule functions of the C API."""
    global _API
    if _API is None:
        import ctypes

        api = ctypes.PyDLL(None)
        new, valid, pointer, rename = (
            getattr(api, "PyCapsule_" + name) for name in ("New", "IsValid", "GetPointer", "SetName")
        )
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p,) * 3
        valid.restype, valid.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_void_p)
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_void_p)
        rename.restype, rename.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_void_p)
        _API = new, valid, pointer, rename
    return _API


def to_dlpack(t, stream=None, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule over the memory of t: of version 1.x where the consumer says it knows that."""
    if stream is not None:
        raise BufferError(f"__dlpack__: the CPU has no streams, got stream={stream!r}")
    if dl_device is not None and tuple(dl_device) != (1, 0):
        raise BufferError(f"__dlpack__: only the CPU (1, 0) is possible, got dl_device={dl_device!r}")
    require_memory(t, "__dlpack__")
    if copy:
        t = t.clone()
    versioned = max_version is not None and max_version[0] >= 1
    managed = lib.tp_dlpack_export_versioned(t._h, bool(copy)) if versioned else lib.tp_dlpack_export(t._h)
    if not managed:
        raise_error()
    new = _capsules()[0]
    try:
        return new(
            int(ffi.cast("uintptr_t", managed)), lib.tpy_capsule_name(versioned, False), lib.tpy_capsule_destructor()
        )
    except BaseException:
        (lib.tp_dlpack_release_versioned if versioned else lib.tp_dlpack_release)(managed)
        raise


def from_dlpack(x: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of an object that speaks DLPack (1.x or older), or of a capsule.

    copy: True makes a copy, False forbids one (BufferError where it would be needed). BufferError for memory that
    is not the CPU's and for dtypes without a counterpart.
    """
    check_device(device)
    capsule = x
    if hasattr(x, "__dlpack__"):
        kind = x.__dlpack_device__()
        if kind[0] != 1:
            raise BufferError(f"from_dlpack: the memory is on device {tuple(map(int, kind))}, not on the CPU")
        try:
            capsule = x.__dlpack__(max_version=(1, 0), **({} if copy is None else {"copy": copy}))
        except TypeError:
            capsule = x.__dlpack__()  # a producer older than DLPack 1.0 knows no arguments
    elif type(x).__name__ != "PyCapsule":
        raise TypeError(f"from_dlpack: expected an object with __dlpack__ or a capsule, got {type(x).__name__}")
    _, valid, pointer, rename = _capsules()
    for versioned in (True, False):
        name = lib.tpy_capsule_name(versioned, False)
        if valid(capsule, name):
            break
    else:
        raise ValueError("from_dlpack: the capsule holds no DLPack tensor, or was consumed before")
    managed = ffi.cast("struct DLManagedTensorVersioned *" if versioned else "struct DLManagedTensor *",
                       pointer(capsule, name))  # fmt: skip
    t = wrap(lib.tp_dlpack_import_versioned(managed) if versioned else lib.tp_dlpack_import(managed))
    rename(capsule, lib.tpy_capsule_name(versioned, True))
    return t.clone() if copy and not hasattr(x, "__dlpack__") else t


# ---- copies and pickles ----


def detach_(t):
    """Replaces the handle of t by a detached one of the same memory."""
    h = lib.tp_detach(t._h)
    if not h:
        raise_error()
    old, t._h = t._h, h
    lib.tp_release(old)
    return t


def _state(t):
    """Attributes that a subclass added."""
    return getattr(t, "__dict__", None) or None


def shallow_copy(t):
    """Another Python object for the same tensor."""
    new = object.__new__(type(t))
    lib.tp_retain(t._h)
    new._h = t._h
    state = _state(t)
    if state:
        new.__dict__.update(state)
    return new


def deep_copy(t, memo):
    """A copy with memory of its own; a leaf that requires gradients stays one, and its grad is copied."""
    found = memo.get(id(t))
    if found is not None:
        return found
    h = t._h
    plain = not lib.tp_is_wrapped(h) or lib.tp_level_of(h) == PLAIN_LEVEL
    if plain and not lib.tp_is_leaf(h):
        raise RuntimeError("deepcopy: the tensor was computed from others that require gradients: use detach() first")
    with_grad = plain and lib.tp_requires_grad(h)
    source = (t.detach() if plain else t).clone()
    new = object.__new__(type(t))
    lib.tp_retain(source._h)
    new._h = source._h
    memo[id(t)] = new
    if with_grad:
        new.requires_grad_()
        if t.grad is not None:
            new.grad = _copy.deepcopy(t.grad, memo)
    state = _state(t)
    if state:
        new.__dict__.update(_copy.deepcopy(state, memo))
    return new


def reduce(t):
    """For pickle: the values as a NumPy array, whether gradients are required, and a subclass's attributes."""
    h = t._h
    if lib.tp_is_wrapped(h) and lib.tp_level_of(h) != PLAIN_LEVEL:
        require_memory(t, "pickle")
    if not lib.tp_is_leaf(h):
        raise RuntimeError("pickle: the tensor was computed from others that require gradients: use detach() first")
    requires_grad = lib.tp_requires_grad(h)
    d = DTYPES[lib.tp_tensor_dtype(h)]
    values = _over_memory(t, uint16 if d is bfloat16 else d)
    return _rebuild, (type(t), values, d, requires_grad, _state(t))


def _rebuild(cls, values, d, requires_grad, state):
    if d is bfloat16:
        source = _reinterpret(values, d)
    else:
        source = from_numpy(np.require(values, requirements="W"))
    t = object.__new__(cls)
    lib.tp_retain(source._h)
    t._h = source._h
    if requires_grad:
        t.requires_grad_()
    if state:
        t.__dict__.update(state)
    return t


def _reinterpret(values, d):
    """A tensor of dtype d with the bits of a NumPy array of the same itemsize."""
    values = np.ascontiguousarray(values).reshape(values.shape)  # ascontiguousarray makes 0-d arrays 1-d
    address = ffi.cast("void *", values.__array_interface__["data"][0])
    return wrap(lib.tp_from_data(address, d.code, values.ndim, values.shape))
