"""functionalize and debug_unwrap."""

import functools

from tensorplay import Tensor
from tensorplay._clib import lib
from tensorplay._tensor import wrap


def functionalize(func, *, remove="mutations"):
    """func, as a function that other transforms may be applied to.

    Every transform here tracks in-place writes and views by itself, so there is nothing to rewrite: values, gradients
    and writes into arguments are those of func. It exists so that code written for other libraries runs unchanged.

    Raises:
        RuntimeError: remove is neither "mutations" nor "mutations_and_views".
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize: remove must be 'mutations' or 'mutations_and_views', got {remove!r}")

    @functools.wraps(func, updated=())
    def wrapped(*args, **kwargs):
        return func(*args, **kwargs)

    return wrapped


def debug_unwrap(tensor, *, recurse=True):
    """The value inside a Tensor that belongs to a transform, to look at while debugging.

    Under vmap the batch dimension becomes visible. recurse=False takes off the outermost level only. A Tensor that
    belongs to no transform comes back as an alias. What is computed from the result is not transformed.

    Raises:
        TypeError: tensor is not a Tensor.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"debug_unwrap: expected a Tensor, got {type(tensor).__name__}")
    return wrap((lib.tp_unwrap_all if recurse else lib.tp_unwrap_one)(tensor._h))
