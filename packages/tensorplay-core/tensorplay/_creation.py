"""Functions that make tensors."""

import operator
from typing import Any

import numpy as np

from ._clib import PLAIN_LEVEL, ffi, lib
from ._convert import ints, number, scalar
from ._dtypes import (
    as_dtype,
    bool_,
    complex64,
    dtype_code,
    from_numpy_dtype,
    get_default_dtype,
    int64,
    promote_types,
    result_type,
)
from ._dtypes import dtype as DTypeClass
from ._interop import from_dlpack, from_numpy
from ._scalars import fill_scalar
from ._tensor import Tensor, check_device, operand, wrap

__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "empty_permuted", "empty_strided", "eye", "from_dlpack",
    "from_numpy", "frombuffer", "full", "full_like", "linspace", "logspace", "ones", "ones_like", "scalar_tensor",
    "tensor", "zeros", "zeros_like",
]  # fmt: skip

DType = DTypeClass | np.dtype | type


def _finish(h, requires_grad):
    t = wrap(h)
    return t.requires_grad_() if requires_grad else t


def refuse(op, unknown):
    """TypeError for keywords that a function does not have."""
    if unknown:
        raise TypeError(
            f"{op}() received an invalid combination of arguments: unexpected keyword argument {next(iter(unknown))!r}"
        )


def size_of(size, op, unknown):
    """The tuple of `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))`."""
    if not size and "size" in unknown:
        size = (unknown.pop("size"),)
    refuse(op, unknown)
    if len(size) == 1 and type(size[0]) is not int:
        return ints(size[0], op, "size")
    return ints(size, op, "size")


# ---- from data ----


def tensor(data: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new tensor from numbers, nested sequences, NumPy arrays or tensors; the data is always copied.

    dtype: the default dtype for Python floats, int64 for ints, bool for bools, and that of the array for NumPy data.
    Sequences may hold tensors: they are stacked, and what is recorded of them (by autograd, by a transform) goes on.
    A tensor as data is copied without its plain autograd history, as `data.detach().clone()`.

    Errors: ValueError for sequences of unequal lengths and foreign byte order, TypeError for what is no number.
    """
    check_device(device)
    if requires_grad:
        return tensor(data, dtype=dtype).detach().requires_grad_()
    kind = type(data)
    if kind is float and dtype is None:
        return wrap(lib.tpy_scalar_f(data, lib.tp_get_default_dtype()))
    if kind is float or kind is int or kind is bool or kind is complex:
        return _from_number(data, dtype)
    if isinstance(data, Tensor):
        if lib.tp_level_of(data._h) <= PLAIN_LEVEL:
            data = data.detach()
        return data.clone() if dtype is None else data.to(dtype, copy=True)
    if isinstance(data, np.ndarray):
        return _from_array(data, dtype)
    if isinstance(data, (list, tuple, range)):
        return _from_sequence(data, dtype)
    if isinstance(data, np.generic):
        return _from_array(np.asarray(data), dtype)
    if hasattr(data, "__dlpack__"):
        t = from_dlpack(data)
        return t.clone() if dtype is None else t.to(dtype, copy=True)
    if hasattr(data, "__array__") or hasattr(data, "__array_interface__") or isinstance(data, (bytearray, memoryview)):
        return _from_array(np.asarray(data), dtype)
    if isinstance(data, (bool, int, float, complex)):
        return _from_number(data, dtype)
    if hasattr(data, "__index__"):
        return _from_number(operator.index(data), dtype)
    if hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, (str, bytes, dict)):
        return _from_sequence(list(data), dtype)
    raise TypeError(f"tensor: can't make a tensor of a {kind.__name__}")


def _from_number(x, dtype):
    if dtype is None:
        if isinstance(x, bool):
            dtype = bool_
        elif isinstance(x, int):
            dtype = int64
        elif isinstance(x, float):
            dtype = get_default_dtype()
        else:
            dtype = get_default_dtype().to_complex()
    d = as_dtype(dtype)
    if isinstance(x, complex) and not d.is_complex:
        raise TypeError(f"tensor: {x!r} is complex, {d.name} is not")
    if isinstance(x, int) and not isinstance(x, bool):
        if lib.tp_dtype_is_integral(d.code):
            bits = d.itemsize * 8 - d.is_signed
            if not (-(1 << bits) if d.is_signed else 0) <= x < 1 << bits:
                raise OverflowError(f"tensor: {x if abs(x) < 1 << 200 else 'the integer'} does not fit in {d.name}")
        elif abs(x) >= 1 << 63 and d is not bool_:
            x = float(x)
    s = ffi.new("tp_scalar *")
    fill_scalar(s, x)
    return wrap(lib.tp_scalar_tensor(s, d.code))


def _from_array(a, dtype):
    if a.dtype.kind in "OSUVMm":
        raise TypeError(f"tensor: can't make a tensor of a NumPy array of dtype {a.dtype}")
    if not a.dtype.isnative:
        raise ValueError("tensor: the byte order is not this machine's: use a.astype(a.dtype.newbyteorder('='))")
    d = from_numpy_dtype(a.dtype, "tensor")
    a = np.ascontiguousarray(a).reshape(a.shape)  # ascontiguousarray makes 0-d arrays 1-d
    address = ffi.cast("void *", a.__array_interface__["data"][0])
    t = wrap(lib.tp_from_data(address, d.code, a.ndim, a.shape))
    return t if dtype is None else t.to(dtype)


def _leaf_types(data, depth=0):
    """The types that nested sequences hold."""
    if depth > lib.TP_MAX_NDIM:
        raise ValueError(f"tensor: sequences nested deeper than {lib.TP_MAX_NDIM}")
    kinds = set(map(type, data))
    found = {k for k in kinds if not issubclass(k, (list, tuple, range))}
    if len(found) != len(kinds):
        for item in data:
            if isinstance(item, (list, tuple, range)):
                found |= _leaf_types(item, depth + 1)
    return found


def _from_sequence(data, dtype):
    kinds = _leaf_types(data)
    for k in kinds:
        if issubclass(k, (str, bytes, dict, set)) or k is type(None):
            raise TypeError(f"tensor: can't make a tensor of a sequence that holds {k.__name__}")
    if any(issubclass(k, Tensor) for k in kinds):
        return _stack(data, dtype)
    try:
        a = np.array(data)
    except ValueError:
        raise ValueError("tensor: nested sequences must have equal lengths at each depth") from None
    if a.dtype.kind == "f" and kinds and kinds <= {bool, int}:  # NumPy's answer to integers beyond int64
        try:
            a = np.array(data, np.uint64)
        except OverflowError:
            raise OverflowError("tensor: the integers fit neither int64 nor uint64") from None
    if a.dtype.kind == "O":
        if all(k is int or k is bool for k in kinds):
            raise OverflowError("tensor: an integer does not fit in 64 bits")
        raise TypeError("tensor: can't make a tensor of a sequence of " + ", ".join(sorted(k.__name__ for k in kinds)))
    if dtype is None:
        if not kinds:
            dtype = get_default_dtype()
        elif kinds <= {bool, int, float, complex}:
            if a.dtype.kind == "u":
                raise OverflowError(f"tensor: {a.max()} does not fit in int64: say dtype=tensorplay.uint64")
            if a.dtype.kind == "f":
                dtype = get_default_dtype()
            elif a.dtype.kind == "c":
                dtype = get_default_dtype().to_complex()
    elif a.dtype.kind in "iu" and lib.tp_dtype_is_integral(dtype_code(dtype)) and a.size:
        d = as_dtype(dtype)
        bits = d.itemsize * 8 - d.is_signed
        low, high = int(a.min()), int(a.max())
        if low < (-(1 << bits) if d.is_signed else 0) or high >= 1 << bits:
            raise OverflowError(f"tensor: {high if high >= 1 << bits else low} does not fit in {d.name}")
    elif a.dtype.kind == "c" and not as_dtype(dtype).is_complex:
        raise TypeError(f"tensor: the data is complex, {as_dtype(dtype).name} is not")
    return _from_array(a, dtype)


def _leaves(data):
    for item in data:
        if isinstance(item, (list, tuple, range)):
            yield from _leaves(item)
        else:
            yield item


def _stack(data, dtype):
    """Stacks nested sequences of tensors and numbers, brought to dtype or else to their common one."""
    if dtype is None:
        dtypes = [x.dtype if isinstance(x, Tensor) else None for x in _leaves(data)]
        dtype = result_type(*(d for d in dtypes if d), *(x for x, d in zip(_leaves(data), dtypes) if d is None))
    parts = []
    for item in data:
        if isinstance(item, (list, tuple, range)):
            parts.append(_stack(item, dtype) if len(item) else tensor([], dtype=dtype))
        else:
            t = item if isinstance(item, Tensor) else operand(item)
            if t is None:
                raise TypeError(f"tensor: can't make a tensor of a sequence that holds {type(item).__name__}")
            parts.append(t.to(dtype))
    if len({t.shape for t in parts}) > 1:
        shapes = " and ".join(str(list(s)) for s in sorted({t.shape for t in parts}))
        raise ValueError(f"tensor: the tensors of a sequence must have one shape, got {shapes}")
    return wrap(lib.tp_stack([t._h for t in parts], len(parts), 0))


def as_tensor(data: Any, dtype: DType | None = None, device: Any = None) -> Tensor:
    """data as a tensor, without a copy where that is possible: a tensor of that dtype is returned itself, a NumPy
    array shares its memory. Other data as in `tensor`."""
    check_device(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray):
        if not data.flags.aligned or any(s % data.itemsize for s in data.strides):
            return _from_array(data, dtype)
        t = from_numpy(data)
        return t if dtype is None else t.to(dtype)
    return tensor(data, dtype=dtype)


def asarray(
    obj: Any, *, dtype: DType | None = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """A tensor from a tensor, a NumPy array, an object with DLPack, the buffer protocol or __array__, or numbers.

    copy: True always copies, False raises ValueError where a copy would be needed, None copies where it must.
    """
    check_device(device)
    shared = True
    if isinstance(obj, Tensor):
        t = obj
    elif isinstance(obj, np.ndarray):
        t = from_numpy(obj)
    elif hasattr(obj, "__dlpack__"):
        t = from_dlpack(obj)
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        t = from_numpy(np.asarray(memoryview(obj)))
    elif hasattr(obj, "__array_interface__") or hasattr(obj, "__array__"):
        t = from_numpy(np.asarray(obj))
    else:
        shared = False
        t = tensor(obj, dtype=dtype)
    converts = dtype is not None and t.dtype is not as_dtype(dtype)
    if copy is False and (converts or not shared):
        raise ValueError("asarray: a copy is needed, and copy=False was given")
    if converts:
        t = t.to(dtype)
    elif copy and shared:
        t = t.clone()
    if requires_grad:
        t = t.detach().requires_grad_()
    return t


def frombuffer(
    buffer: Any, *, dtype: DType, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A 1-d tensor over the memory of an object with the buffer protocol (bytes, bytearray, memoryview, mmap, array).

    count: how many elements, -1 for all that are there; offset: where to begin, in bytes. Memory that must not be
    written to gives a read-only tensor. ValueError where the memory is too small or no multiple of the itemsize.
    """
    d = as_dtype(dtype)
    try:
        bytes_ = np.frombuffer(buffer, np.uint8)
    except (TypeError, ValueError, BufferError) as e:
        kind = ValueError if isinstance(e, ValueError) else TypeError
        raise kind(f"frombuffer: a {type(buffer).__name__} offers no contiguous memory: {e}") from None
    start, n = operator.index(offset), operator.index(count)
    if not 0 <= start <= bytes_.size:
        raise ValueError(f"frombuffer: offset {start} lies outside of a buffer of {bytes_.size} bytes")
    rest = bytes_.size - start
    if n < -1 or n * d.itemsize > rest:
        raise ValueError(f"frombuffer: {n} elements of {d.name} do not fit into {rest} bytes")
    if n == -1 and rest % d.itemsize:
        raise ValueError(f"frombuffer: {rest} bytes are no multiple of the itemsize {d.itemsize} of {d.name}")
    part = bytes_[start : start + (rest if n == -1 else n * d.itemsize)]
    t = from_numpy(part).view(d)
    return t.requires_grad_() if requires_grad else t


# ---- filled ----


def empty(
    *size: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False, **unknown: Any
) -> Tensor:
    """A tensor of shape size whose elements are whatever lies in memory. dtype: the default dtype."""
    check_device(device)
    s = size_of(size, "empty", unknown)
    return _finish(lib.tp_empty(s, len(s), dtype_code(dtype)), requires_grad)


def empty_strided(
    size: Any, stride: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of shape size with the given strides, counted in elements, whose contents are undefined.

    ValueError when size and stride differ in length or one of their entries is negative.
    """
    check_device(device)
    sizes, strides = ints(size, "empty_strided", "size"), ints(stride, "empty_strided", "stride")
    if len(sizes) != len(strides):
        raise ValueError(f"empty_strided: {len(sizes)} sizes and {len(strides)} strides")
    if min((*sizes, *strides), default=0) < 0:
        raise ValueError(f"empty_strided: size {list(sizes)} and stride {list(strides)} must not be negative")
    extent = 0 if 0 in sizes else 1 + sum((n - 1) * step for n, step in zip(sizes, strides))
    t = empty(extent, dtype=dtype).as_strided(sizes, strides)
    return t.requires_grad_() if requires_grad else t


def empty_permuted(
    size: Any, physical_layout: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of shape size whose dimensions lie in memory in the order physical_layout, the outermost first.

    ValueError unless physical_layout is a permutation of the dimensions.
    """
    check_device(device)
    sizes, order = ints(size, "empty_permuted", "size"), ints(physical_layout, "empty_permuted", "physical_layout")
    if sorted(order) != list(range(len(sizes))):
        raise ValueError(f"empty_permuted: {list(order)} is no permutation of the dimensions of {list(sizes)}")
    back = sorted(range(len(order)), key=order.__getitem__)
    t = empty([sizes[d] for d in order], dtype=dtype).permute(back)
    return t.requires_grad_() if requires_grad else t


def zeros(
    *size: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False, **unknown: Any
) -> Tensor:
    """A tensor of zeros of shape size: `zeros(2, 3)` or `zeros((2, 3))`. dtype: the default dtype."""
    check_device(device)
    s = size_of(size, "zeros", unknown)
    return _finish(lib.tp_zeros(s, len(s), dtype_code(dtype)), requires_grad)


def ones(
    *size: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False, **unknown: Any
) -> Tensor:
    """A tensor of ones of shape size: `ones(2, 3)` or `ones((2, 3))`. dtype: the default dtype."""
    check_device(device)
    s = size_of(size, "ones", unknown)
    return _finish(lib.tp_ones(s, len(s), dtype_code(dtype)), requires_grad)


def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    **unknown: Any,
) -> Tensor:
    """A tensor of shape size filled with a number or a tensor without dimensions (which stays connected to it).

    dtype: that of fill_value, where a float means the default dtype.
    """
    check_device(device)
    refuse("full", unknown)
    s = ints(size, "full", "size")
    if isinstance(fill_value, Tensor):
        if fill_value.ndim:
            raise ValueError(f"full: fill_value must have no dimensions, got shape {list(fill_value.shape)}")
        t = fill_value if dtype is None else fill_value.to(dtype)
        return t.expand(s).clone()
    return _finish(lib.tp_full(s, len(s), scalar(fill_value, "full", "fill_value"), dtype_code(dtype)), requires_grad)


def _like(name, doc):
    fn = getattr(lib, "tp_" + name)

    def like(
        input: Tensor, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False, **unknown: Any
    ) -> Tensor:
        check_device(device)
        refuse(name, unknown)
        return _finish(fn(_tensor(input, name)._h, dtype_code(dtype)), requires_grad)

    like.__name__ = like.__qualname__ = name
    like.__doc__ = doc
    return like


def _tensor(x, op):
    if isinstance(x, Tensor):
        return x
    raise TypeError(f"{op}: argument 'input' must be a Tensor, got {type(x).__name__}")


empty_like = _like("empty_like", "A tensor of the shape and dtype of input whose elements are undefined.")
zeros_like = _like("zeros_like", "Zeros of the shape and dtype of input.")
ones_like = _like("ones_like", "Ones of the shape and dtype of input.")


def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    **unknown: Any,
) -> Tensor:
    """A tensor of the shape and dtype of input filled with fill_value."""
    check_device(device)
    refuse("full_like", unknown)
    _tensor(input, "full_like")
    if isinstance(fill_value, Tensor):
        return full(input.shape, fill_value, dtype=input.dtype if dtype is None else dtype)
    value = scalar(fill_value, "full_like", "fill_value")
    return _finish(lib.tp_full_like(input._h, value, dtype_code(dtype)), requires_grad)


# ---- ranges ----


def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    **unknown: Any,
) -> Tensor:
    """start, start + step, ... below end (above, for a negative step): `arange(end)`, `arange(start, end, step)`.

    dtype: int64 if all are integers, else the default dtype. ValueError for a step of 0 or of the wrong sign.
    """
    check_device(device)
    refuse("arange", unknown)
    if end is None:
        start, end = 0, start
    start, end, step = number(start, "arange", "start"), number(end, "arange", "end"), number(step, "arange", "step")
    for x in (start, end, step):
        if isinstance(x, complex):
            raise TypeError(f"arange: {x!r} is complex")
    h = lib.tp_arange_start(scalar(start), scalar(end), scalar(step), dtype_code(dtype))
    return _finish(h, requires_grad)


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    **unknown: Any,
) -> Tensor:
    """steps values from start to end, both included, evenly spaced. dtype: the default dtype.

    start and end may be 0-d tensors, also tracked and mapped ones.
    """
    check_device(device)
    refuse("linspace", unknown)
    if isinstance(start, Tensor) or isinstance(end, Tensor):
        start, end = operand(start), operand(end)
        h = lib.tp_linspace_tensors(start._h, end._h, operator.index(steps), dtype_code(dtype))
        return _finish(h, requires_grad)
    h = lib.tp_linspace(scalar(start, "linspace", "start"), scalar(end, "linspace", "end"), operator.index(steps),
                        dtype_code(dtype))  # fmt: skip
    return _finish(h, requires_grad)


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    **unknown: Any,
) -> Tensor:
    """steps powers of base, the exponents evenly spaced from start to end, both included. dtype: the default dtype.

    start and end may be 0-d tensors, also tracked and mapped ones. ValueError for negative steps.
    """
    check_device(device)
    refuse("logspace", unknown)
    steps, base = operator.index(steps), float(base)
    if isinstance(start, Tensor) or isinstance(end, Tensor):
        start, end = operand(start), operand(end)
        return _finish(lib.tp_logspace_tensors(start._h, end._h, steps, base, dtype_code(dtype)), requires_grad)
    bounds = scalar(start, "logspace", "start"), scalar(end, "logspace", "end")
    return _finish(lib.tp_logspace(*bounds, steps, base, dtype_code(dtype)), requires_grad)


def scalar_tensor(
    s: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False, **unknown: Any
) -> Tensor:
    """A 0-d tensor of a number: of the default dtype unless dtype is given (complex for complex numbers)."""
    refuse("scalar_tensor", unknown)
    if dtype is None:
        dtype = promote_types(get_default_dtype(), complex64) if isinstance(s, complex) else get_default_dtype()
    return tensor(number(s, "scalar_tensor", "s"), dtype=dtype, device=device, requires_grad=requires_grad)


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    **unknown: Any,
) -> Tensor:
    """The identity matrix with n rows and m columns (n of them if m is None). dtype: the default dtype."""
    check_device(device)
    refuse("eye", unknown)
    columns = lib.TP_INT_NONE if m is None else operator.index(m)
    return _finish(lib.tp_eye(operator.index(n), columns, dtype_code(dtype)), requires_grad)


# ---- methods ----


def _new_method(name, function, doc):
    def method(self, *size, dtype=None, device=None, requires_grad=False):
        return function(*size, dtype=self.dtype if dtype is None else dtype, device=device, requires_grad=requires_grad)

    method.__name__, method.__qualname__, method.__doc__ = name, "Tensor." + name, doc
    setattr(Tensor, name, method)


_new_method("new_empty", empty, "`tensorplay.empty` with this tensor's dtype as the default.")
_new_method("new_zeros", zeros, "`tensorplay.zeros` with this tensor's dtype as the default.")
_new_method("new_ones", ones, "`tensorplay.ones` with this tensor's dtype as the default.")


def _new_full(self, size, fill_value, *, dtype=None, device=None, requires_grad=False):
    """`tensorplay.full` with this tensor's dtype as the default."""
    return full(size, fill_value, dtype=self.dtype if dtype is None else dtype, device=device,
                requires_grad=requires_grad)  # fmt: skip


def _new_empty_strided(self, size, stride, *, dtype=None, device=None, requires_grad=False):
    """`tensorplay.empty_strided` with this tensor's dtype as the default."""
    return empty_strided(size, stride, dtype=self.dtype if dtype is None else dtype, device=device,
                         requires_grad=requires_grad)  # fmt: skip


_new_empty_strided.__name__, _new_empty_strided.__qualname__ = "new_empty_strided", "Tensor.new_empty_strided"
Tensor.new_empty_strided = _new_empty_strided
_new_full.__name__, _new_full.__qualname__ = "new_full", "Tensor.new_full"
Tensor.new_full = _new_full
