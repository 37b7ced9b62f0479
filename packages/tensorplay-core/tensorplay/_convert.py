"""Conversions of Python arguments to what libtp's functions take."""

import operator

import numpy as np

from ._clib import NULL, check, ffi, lib, raise_error
from ._dtypes import dtype_code
from ._scalars import fill_scalar
from ._tensor import Tensor, operand, wrap

__all__ = [
    "NULL", "as_handle", "as_tensor_handle", "check", "dtype_code", "ffi", "floats", "generator", "handles", "ints",
    "lib", "number", "optional_handle", "raise_error", "scalar", "text", "wrap",
]  # fmt: skip


def as_tensor_handle(x, op, name):
    """The handle of a tensor; TypeError naming operator and argument for anything else."""
    if isinstance(x, Tensor):
        return x._h
    raise TypeError(f"{op}: argument {name!r} must be a Tensor, got {type(x).__name__}")


def as_handle(x, op="operator", name="other"):
    """The handle of a tensor, or of a number or NumPy scalar or array as a tensor."""
    if isinstance(x, Tensor):
        return x._h
    t = operand(x)
    if t is None:
        raise TypeError(f"{op}: argument {name!r} must be a Tensor or a number, got {type(x).__name__}")
    return ffi.gc(lib_retain(t._h), lib.tp_release)


def lib_retain(h):
    lib.tp_retain(h)
    return h


def optional_handle(x, op="operator", name="argument"):
    """NULL for None."""
    return NULL if x is None else as_tensor_handle(x, op, name)


def handles(xs, op="operator", name="tensors"):
    """A list of handles from a sequence of tensors."""
    if isinstance(xs, Tensor):
        raise TypeError(f"{op}: argument {name!r} must be a sequence of tensors, got one Tensor")
    try:
        return [x._h for x in xs]
    except (TypeError, AttributeError):
        raise TypeError(f"{op}: argument {name!r} must be a sequence of tensors, got {_types(xs)}") from None


def _types(xs):
    if isinstance(xs, (list, tuple)):
        return f"{type(xs).__name__} of " + ", ".join(sorted({type(x).__name__ for x in xs}))
    return type(xs).__name__


def ints(x, op="operator", name="size"):
    """A sequence of ints from an int or a sequence of ints."""
    if type(x) is tuple or type(x) is list:
        for i in x:
            if type(i) is not int:
                break
        else:
            return x
    elif type(x) is int:
        return (x,)
    try:
        if hasattr(x, "__index__") and not isinstance(x, (tuple, list, np.ndarray)):
            return (operator.index(x),)
        return tuple(operator.index(i) for i in x)
    except TypeError:
        got = _types(x)
    raise TypeError(f"{op}: argument {name!r} must be an int or a sequence of ints, got {got}")


def floats(x, op="operator", name="values"):
    """A list of floats from a sequence of numbers, or from one."""
    if isinstance(x, (int, float)):
        return [float(x)]
    try:
        return [float(i) for i in x]
    except TypeError:
        raise TypeError(f"{op}: argument {name!r} must be a sequence of numbers, got {_types(x)}") from None


def number(x, op="operator", name="value"):
    """A Python number from a number, a NumPy scalar or a tensor of one element."""
    if isinstance(x, (bool, int, float, complex)):
        return x
    if isinstance(x, (np.generic, Tensor)):
        return x.item()
    try:
        return operator.index(x)
    except TypeError:
        raise TypeError(f"{op}: argument {name!r} must be a number, got {type(x).__name__}") from None


def scalar(x, op="operator", name="value"):
    """A `tp_scalar *` from a number."""
    s = ffi.new("tp_scalar *")
    fill_scalar(s, x if isinstance(x, (bool, int, float, complex)) else number(x, op, name))
    return s


def text(x, op="operator", name="mode"):
    """A C string from a str; NULL for None."""
    if x is None:
        return NULL
    if not isinstance(x, str):
        raise TypeError(f"{op}: argument {name!r} must be a str, got {type(x).__name__}")
    return x.encode()


def generator(x, op="operator", name="generator"):
    """A `tp_generator *` from a Generator; NULL, the default generator, for None."""
    if x is None:
        return NULL
    from ._random import Generator

    if not isinstance(x, Generator):
        raise TypeError(f"{op}: argument {name!r} must be a Generator, got {type(x).__name__}")
    return x._g
