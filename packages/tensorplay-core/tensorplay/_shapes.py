"""Functions and methods over the operators whose arguments or results the operator table can't say: shapes alone,
results that are a tensor or a tuple, views that replace the tensor itself, the forms of `to`."""

import operator
from typing import Any

from . import _ops
from ._clib import lib
from ._dtypes import dtype as DTypeClass
from ._dtypes import dtype_code
from ._tensor import CPU, Size, Tensor, check_device, device, wrap

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shapes", "is_nonzero", "is_same_size", "is_signed", "nonzero",
    "tensordot", "tril_indices", "triu_indices", "where", "zero_",
]  # fmt: skip


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes broadcast to; an int is a shape of one dimension.

    ValueError where they do not, and for a negative size; TypeError for what is no shape.
    """
    result: list[int] = []
    for shape in shapes:
        try:
            sizes = [operator.index(shape)] if hasattr(shape, "__index__") else [operator.index(n) for n in shape]
        except TypeError:
            raise TypeError(f"broadcast_shapes: {shape!r} is not a shape") from None
        if any(n < 0 for n in sizes):
            raise ValueError(f"broadcast_shapes: negative size in {sizes}")
        result = [1] * (len(sizes) - len(result)) + result
        for i in range(-len(sizes), 0):
            if sizes[i] != 1 and result[i] not in (1, sizes[i]):
                raise ValueError(f"broadcast_shapes: shapes {', '.join(map(str, shapes))} do not broadcast")
            if result[i] == 1:
                result[i] = sizes[i]
    return Size(result)


def _several(name):
    one = _ops.FUNCTIONS[name]

    def function(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return one(tensors[0])
        if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
            tensors = tensors[0]
        return tuple([one(t) for t in tensors])

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{one.__doc__}\n\nOf several tensors, or a list of them, a tuple with one result each."
    return function


atleast_1d = _several("atleast_1d")
atleast_2d = _several("atleast_2d")
atleast_3d = _several("atleast_3d")


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Positions of the elements that are not zero, in row-major order: an int64 tensor [how many, input.ndim].

    as_tuple: one 1-d tensor a dimension instead, as an index of input; a 0-d tensor counts as one of one dimension.
    NotImplementedError under vmap, where the number may differ from sample to sample: use nonzero_static.
    """
    if not as_tuple:
        return _ops.nonzero(input)
    return _ops.nonzero(input if input.ndim else input.reshape(1)).unbind(1)


def where(condition: Tensor, *values: Any, **named: Any) -> Any:
    """`where(condition, self, other)`: self where condition is true, else other; they broadcast and promote.

    `where(condition)` is `nonzero(condition, as_tuple=True)`.
    """
    if not values and not named:
        return nonzero(condition, as_tuple=True)
    return _ops.where(condition, *values, **named)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, *more: Any, **named: Any) -> Tensor:
    """Sums of products over the last `dims` dimensions of a and the first of b, or over pairs of dimensions:
    dims[0][i] of a with dims[1][i] of b. dims may also be a tensor of shape [2, n].

    RuntimeError when the sizes differ, IndexError for a dimension out of range.
    """
    if more or named:
        return _ops.tensordot(a, b, dims, *more, **named) if not named else _ops.tensordot(a, b, *more, **named)
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, (list, tuple)):
        if len(dims) != 2:
            raise ValueError(f"tensordot: dims must be a number or two lists of dimensions, got {dims!r}")
        return _ops.tensordot(a, b, *dims)
    return _ops.tensordot(a, b, dims)


def _triangle(name):
    function = _ops.FUNCTIONS[name]

    def indices(
        row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, layout: None = None
    ) -> Tensor:
        check_device(device)
        if layout is not None:
            raise ValueError(f"{name}: only the strided layout exists, got {layout!r}")
        return function(row, col, offset, dtype=dtype)

    indices.__name__ = indices.__qualname__ = name
    indices.__doc__ = function.__doc__
    return indices


tril_indices = _triangle("tril_indices")
triu_indices = _triangle("triu_indices")
zero_ = _ops.METHODS["zero_"]


def is_nonzero(input: Tensor) -> bool:
    """Whether the single element is not zero. ValueError when there is not exactly one."""
    return bool(input)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return input.shape == other.shape


# ---- methods ----


def _in_place(name):
    view = _ops.METHODS[name]

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        h = self._h
        if lib.tp_requires_grad(h) and lib.tp_is_leaf(h):
            raise RuntimeError(f"{name}_: a leaf that requires gradients can't be changed in place")
        seen = view(self, *args, **kwargs)
        self._h, seen._h = seen._h, h
        return self

    method.__name__, method.__qualname__ = name + "_", f"Tensor.{name}_"
    method.__doc__ = f"Makes this tensor the view that `{name}` returns, and returns it."
    return method


IN_PLACE_VIEWS = ("as_strided", "squeeze", "swapaxes", "swapdims", "t", "transpose", "unsqueeze")


def to(
    self: Tensor,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: None = None,
    other: Tensor | None = None,
) -> Tensor:
    """The tensor with another dtype: `to(dtype)`, `to(device)`, `to(device, dtype)`, `to(other)`, each followed by
    non_blocking, which says nothing on the CPU, and copy.

    self where nothing changes, unless copy. Differentiable. ValueError for a device that is not the CPU; TypeError for
    arguments that fit none of the forms.
    """
    if args:
        first, rest = args[0], args[1:]
        if type(first) is DTypeClass:
            dtype = first
        elif isinstance(first, Tensor):
            other = first
        elif first is None or isinstance(first, (str, _Device)):
            device = first
            if rest and not isinstance(rest[0], bool):
                dtype, rest = rest[0], rest[1:]
        else:
            dtype = first
        if rest:
            non_blocking, copy = (*rest, copy)[:2] if len(rest) < 3 else (None, None)
            if not (isinstance(non_blocking, bool) and isinstance(copy, bool)):
                raise TypeError(f"to: {args!r} are none of (dtype), (device, dtype) or (other), non_blocking, copy")
    if memory_format is not None:
        raise ValueError(f"to: only the row-major memory format exists, got {memory_format!r}")
    if other is not None:
        dtype = other.dtype
    if device is not CPU:
        check_device(device)
    h = self._h
    code = lib.tp_tensor_dtype(h)
    target = code if dtype is None else dtype_code(dtype)
    if target != code:
        return wrap(lib.tp_cast(h, target))
    return self.clone() if copy else self


_Device = device


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The values in the dtype of other. TypeError unless that is a tensor."""
    if not isinstance(other, Tensor):
        raise TypeError(f"type_as: argument 'other' must be a Tensor, got {type(other).__name__}")
    return to(self, other.dtype)


def to_device(self: Tensor, device: Any, /, *, stream: None = None) -> Tensor:
    """The tensor itself: it lives on the CPU. ValueError for another device or a stream."""
    check_device(device)
    if stream is not None:
        raise ValueError(f"to_device: the CPU has no streams, got {stream!r}")
    return self


def array_namespace(self: Tensor, /, *, api_version: str | None = None) -> Any:
    """The namespace of the Python array API standard. ValueError for a version that it does not have."""
    from . import array_api

    if api_version is not None and api_version not in array_api.VERSIONS:
        raise ValueError(f"__array_namespace__: api_version {api_version!r} is none of {', '.join(array_api.VERSIONS)}")
    return array_api


def conj_physical_(self: Tensor) -> Tensor:
    """Conjugates every element in place; a real tensor stays as it is."""
    return self.copy_(self.conj()) if self.is_complex() else self


def is_signed(self: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return self.dtype.is_signed


def get_device(self: Tensor) -> int:
    """-1: the CPU."""
    return -1


def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """The sum over what would have to be repeated to broadcast `size` to this shape; a tensor of shape size.

    ValueError when size does not broadcast to the shape.
    """
    shape = tuple(size[0]) if len(size) == 1 and not hasattr(size[0], "__index__") else size
    if not shape:
        return self.sum()
    lead = self.ndim - len(shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, self.shape[lead:])):
        raise ValueError(f"sum_to_size: size {list(shape)} does not broadcast to shape {list(self.shape)}")
    dims = [d for d in range(self.ndim) if d < lead or shape[d - lead] == 1 != self.shape[d]]
    return self.sum(dims, keepdim=True).reshape(shape) if dims else self


def install(cls: type) -> None:
    """Makes them methods of the class."""
    for name in IN_PLACE_VIEWS:
        setattr(cls, name + "_", _in_place(name))
    for function in (to, type_as, conj_physical_, to_device, is_nonzero, is_signed, get_device, sum_to_size, nonzero,
                     is_same_size):
        setattr(cls, function.__name__, function)
    cls.__array_namespace__ = array_namespace
    cls.__rdiv__ = cls.__rtruediv__


install(Tensor)
