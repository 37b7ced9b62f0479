"""Conversions that the functions of the namespace share."""

from .. import _dtypes
from .._dtypes import promote_types
from .._tensor import Tensor, operand

UNSIGNED = (_dtypes.uint8, _dtypes.uint16, _dtypes.uint32, _dtypes.uint64)


def array(x, op):
    """x itself; TypeError unless it is a Tensor."""
    if isinstance(x, Tensor):
        return x
    raise TypeError(f"{op}: expected an array, got {type(x).__name__}")


def together(op, *operands):
    """Operands as Tensors of one dtype: that of all arrays, with dimensions or without, beside which Python numbers
    promote weakly. TypeError unless there is an array among them."""
    arrays = [x for x in operands if isinstance(x, Tensor)]
    if not arrays:
        raise TypeError(f"{op}: at least one array is needed")
    d = arrays[0].dtype
    for x in arrays[1:]:
        if x.dtype is not d:
            d = promote_types(d, x.dtype)
    out = []
    for x in operands:
        if not isinstance(x, Tensor):
            x = operand(x)
            if x is None:
                raise TypeError(f"{op}: expected arrays and numbers, got {type(operands[len(out)]).__name__}")
        elif x.dtype is not d:
            x = x.to(d)
        out.append(x)
    return out


def total_dtype(x, dtype):
    """The dtype of a sum or product: unsigned integers stay unsigned."""
    return _dtypes.uint64 if dtype is None and x.dtype in UNSIGNED else dtype


def axes(x, axis):
    """An axis, several or None as a tuple."""
    if axis is None:
        return tuple(range(x.ndim))
    return axis if isinstance(axis, tuple) else (axis,)


def named(function, name, doc):
    """function under the name by which the standard knows it."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function
