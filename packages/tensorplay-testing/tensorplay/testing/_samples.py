"""Samples: the arguments of one call of an operator, as NumPy arrays."""

from __future__ import annotations

import dataclasses

import numpy as np

import tensorplay as tp
from tensorplay import Tensor


def func():
    """tensorplay.func, or an error that says which package it is in."""
    try:
        import tensorplay.func as module
    except ImportError as error:
        raise ImportError("tensorplay.testing: this check needs the package tensorplay-func") from error
    return module


def _leaves(x, found):
    if isinstance(x, np.ndarray):
        found.append(x)
    elif isinstance(x, (list, tuple)):
        for y in x:
            _leaves(y, found)
    elif isinstance(x, dict):
        for y in x.values():
            _leaves(y, found)
    return found


def _replace(x, it):
    if isinstance(x, np.ndarray):
        return next(it)
    if isinstance(x, tuple):
        return tuple(_replace(y, it) for y in x)
    if isinstance(x, list):
        return [_replace(y, it) for y in x]
    if isinstance(x, dict):
        return {k: _replace(y, it) for k, y in x.items()}
    return x


@dataclasses.dataclass
class Sample:
    """The arguments of one call. NumPy arrays stand for tensors, also inside lists and tuples; anything else is passed
    as it is.

    fixed: positions (among the arrays, in order) that vmap can't map over, because shapes or validity of the result
        would depend on the values.
    vary: {position: function (array, i) -> array} that gives the i-th sample of a batch; by default the elements
        change places, and floating ones their values by a little.
    grad: False where derivatives don't exist at this point (a kink, a tie, an empty result).
    value: False where the reference does not apply.
    """

    args: tuple = ()
    kwargs: dict = dataclasses.field(default_factory=dict)
    fixed: tuple = ()
    vary: dict = dataclasses.field(default_factory=dict)
    grad: bool = True
    value: bool = True
    order: int = 2
    note: str = ""

    def arrays(self):
        """The arrays, in the order of the arguments."""
        return _leaves((self.args, self.kwargs), [])

    def rebuild(self, new):
        """(args, kwargs) with other values in place of the arrays."""
        it = iter(new)
        return _replace(self.args, it), _replace(self.kwargs, it)

    def tensors(self):
        """The arrays as tensors, with copies of their memory."""
        return [to_tensor(a) for a in self.arrays()]

    def bind(self, op):
        """op as a function of the tensors alone, which returns a tuple of tensors."""

        def fn(*tensors):
            args, kwargs = self.rebuild(tensors)
            return outputs(op(*args, **kwargs))

        fn.__name__ = getattr(op, "__name__", type(op).__name__)
        return fn

    def __str__(self):
        def show(x):
            if isinstance(x, np.ndarray):
                return f"{x.dtype}{list(x.shape)}"
            if isinstance(x, (list, tuple)):
                inner = ", ".join(map(show, x))
                return f"[{inner}]" if isinstance(x, list) else f"({inner})"
            return repr(x)

        parts = [show(a) for a in self.args] + [f"{k}={show(v)}" for k, v in self.kwargs.items()]
        return f"({', '.join(parts)})" + (f" [{self.note}]" if self.note else "")


def sample(*args, **kwargs):
    """Sample(args, kwargs)."""
    return Sample(args, kwargs)


def outputs(out):
    """What an operator returned, as a tuple of tensors."""
    if isinstance(out, Tensor):
        return (out,)
    if isinstance(out, (tuple, list)) and all(isinstance(t, Tensor) for t in out):
        return tuple(out)
    raise AssertionError(f"an operator returns tensors, got {type(out).__name__}")


def to_tensor(a):
    """A tensor of an array's values, with the array's strides where they are possible."""
    a = np.asarray(a)
    if a.size == 0 or a.flags.c_contiguous:
        return tp.from_numpy(np.array(a, order="C", copy=True))
    return tp.from_numpy(copy_strided(a))


def copy_strided(a):
    """A copy with the same strides, in memory of its own."""
    if any(s < 0 for s in a.strides):
        return np.array(a)
    extent = sum((n - 1) * s for n, s in zip(a.shape, a.strides)) // a.itemsize + 1
    memory = np.zeros(extent, a.dtype)
    view = np.lib.stride_tricks.as_strided(memory, a.shape, a.strides)
    view[...] = a
    return view


def strided(a, how):
    """The values of an array in memory that is not contiguous: "transposed", "stepped" or "offset"."""
    if a.ndim == 0 or a.size == 0:
        return a
    if how == "transposed":
        return np.array(a.T, order="C").T
    memory = np.zeros((*(2 * n for n in a.shape[:-1]), 3 * a.shape[-1] + 1), a.dtype)
    view = memory[(*([slice(1, None, 2)] * (a.ndim - 1)), slice(1, None, 3))]
    view[...] = a
    return view


def varied(sample, position, array, i):
    """The i-th sample of a batch made of one sample's array."""
    if position in sample.vary:
        return np.asarray(sample.vary[position](array, i), dtype=array.dtype)
    if i == 0:
        return array
    a = np.roll(array.reshape(-1), i).reshape(array.shape)
    if a.dtype.kind in "fc":
        a = (a * (1 - 0.01 * i)).astype(array.dtype)
    return a


def stacked(sample, position, array, size, dim):
    """A batch of `size` samples along dimension dim, and the samples."""
    each = [varied(sample, position, array, i) for i in range(size)]
    if not size:
        return np.zeros((*array.shape[:dim], 0, *array.shape[dim:]), array.dtype), each
    return np.stack(each, axis=dim), each
