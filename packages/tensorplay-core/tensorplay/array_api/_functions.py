"""Everything that is not element-wise. Arguments are called as in the standard."""

import builtins
from typing import NamedTuple

import tensorplay as tp

from .. import _dtypes
from .._dtypes import as_dtype, get_default_dtype, promote_types
from .._tensor import Tensor, check_device
from ._common import array, axes, together, total_dtype
from ._info import Info

FUNCTIONS = {}


def public(function):
    """Enters a function into the namespace."""
    FUNCTIONS[function.__name__] = function
    return function


def needs(*names):
    """The same, if the package has these operators."""
    return public if builtins.all(hasattr(tp, n) for n in names) else lambda function: None


# ---- creation ----


@public
def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """start, start + step, ... before stop; from 0 to start if stop is None."""
    start, stop = (0, start) if stop is None else (start, stop)
    if step and (stop - start) / step <= 0:
        return tp.arange(0, 0, step, dtype=dtype, device=device) if dtype or _whole(start, stop, step) else tp.zeros(0)
    return tp.arange(start, stop, step, dtype=dtype, device=device)


def _whole(*numbers):
    return builtins.all(isinstance(n, int) for n in numbers)


@public
def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array of obj: an array, numbers, or what speaks DLPack or the buffer protocol."""
    return tp.asarray(obj, dtype=dtype, device=device, copy=copy)


@public
def empty(shape, *, dtype=None, device=None):
    """An array of undefined elements."""
    return tp.empty(shape, dtype=dtype, device=device)


@public
def zeros(shape, *, dtype=None, device=None):
    """An array of zeros."""
    return tp.zeros(shape, dtype=dtype, device=device)


@public
def ones(shape, *, dtype=None, device=None):
    """An array of ones."""
    return tp.ones(shape, dtype=dtype, device=device)


@public
def full(shape, fill_value, *, dtype=None, device=None):
    """An array of one number."""
    return tp.full(shape, fill_value, dtype=dtype, device=device)


@public
def empty_like(x, /, *, dtype=None, device=None):
    """empty with the shape and dtype of x."""
    return tp.empty_like(x, dtype=dtype, device=device)


@public
def zeros_like(x, /, *, dtype=None, device=None):
    """zeros with the shape and dtype of x."""
    return tp.zeros_like(x, dtype=dtype, device=device)


@public
def ones_like(x, /, *, dtype=None, device=None):
    """ones with the shape and dtype of x."""
    return tp.ones_like(x, dtype=dtype, device=device)


@public
def full_like(x, /, fill_value, *, dtype=None, device=None):
    """full with the shape and dtype of x."""
    return tp.full_like(x, fill_value, dtype=dtype, device=device)


@public
def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones on a diagonal, zeros elsewhere."""
    check_device(device)
    n_cols = n_rows if n_cols is None else n_cols
    out = tp.zeros(n_rows, n_cols, dtype=dtype)
    if -n_rows < k < n_cols:
        out.diagonal(k).fill_(1)
    return out


@public
def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """num numbers at equal distances from start to stop, which is left out unless endpoint."""
    check_device(device)
    if dtype is None and (isinstance(start, complex) or isinstance(stop, complex)):
        dtype = get_default_dtype().to_complex()
    wide = _dtypes.complex128 if dtype is not None and as_dtype(dtype).is_complex else _dtypes.float64
    if endpoint or not num:
        out = tp.linspace(start, stop, num, dtype=wide)
    else:
        out = tp.linspace(start, stop, num + 1, dtype=wide)[:num]
    return out.to(get_default_dtype() if dtype is None else dtype)


@public
def from_dlpack(x, /, *, device=None, copy=None):
    """An array over the memory of an object that speaks DLPack."""
    return tp.from_dlpack(x, device=device, copy=copy)


@public
def meshgrid(*arrays, indexing="xy"):
    """Coordinate grids of one-dimensional arrays."""
    return list(tp.meshgrid(*arrays, indexing=indexing)) if arrays else []


@public
def tril(x, /, *, k=0):
    """The lower triangle of matrices."""
    return tp.tril(x, k)


@public
def triu(x, /, *, k=0):
    """The upper triangle of matrices."""
    return tp.triu(x, k)


# ---- dtypes ----


@public
def astype(x, dtype, /, *, copy=True, device=None):
    """x in another dtype; x itself only without copy and where it has that dtype. TypeError from complex to real."""
    check_device(device)
    if array(x, "astype").is_complex() and not as_dtype(dtype).is_complex:
        raise TypeError(f"astype: {x.dtype.name} to {as_dtype(dtype).name} would drop the imaginary part")
    return x.to(dtype, copy=copy)


@public
def can_cast(from_, to, /):
    """Whether promotion of the two gives `to`."""
    d = from_.dtype if isinstance(from_, Tensor) else as_dtype(from_)
    try:
        return promote_types(d, to) is as_dtype(to)
    except TypeError:
        return False


@public
def result_type(*arrays_and_dtypes):
    """The dtype of an operation on these arrays, dtypes and numbers."""
    found, numbers = None, []
    for x in arrays_and_dtypes:
        if isinstance(x, (builtins.bool, int, float, complex)):
            numbers.append(x)
            continue
        d = x.dtype if isinstance(x, Tensor) else as_dtype(x)
        found = d if found is None else promote_types(found, d)
    if found is None:
        raise ValueError("result_type: at least one array or dtype is needed")
    return tp.result_type(found, *numbers)


@public
def isdtype(dtype, kind):
    """Whether a dtype is of a kind: a dtype, the name of a kind, or a tuple of these."""
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, k) for k in kind)
    d = as_dtype(dtype)
    if not isinstance(kind, str):
        return d is as_dtype(kind)
    if d in (_dtypes.float16, _dtypes.bfloat16):
        return kind in ("real floating", "numeric")
    return d in Info().dtypes(kind=kind).values()


class _Limits:
    def __init__(self, info, dtype, names):
        for n in names:
            setattr(self, n, getattr(info, n))
        self.dtype = dtype

    def __repr__(self):
        return f"{type(self).__name__.strip('_')}({', '.join(f'{k}={v}' for k, v in vars(self).items())})"


@public
def finfo(type, /):
    """Limits of a floating dtype, or of an array's: bits, eps, max, min, smallest_normal, dtype."""
    d = type.dtype if isinstance(type, Tensor) else as_dtype(type)
    return _Limits(tp.finfo(d), d.to_real(), ("bits", "eps", "max", "min", "smallest_normal"))


@public
def iinfo(type, /):
    """Limits of an integer dtype, or of an array's: bits, max, min, dtype."""
    d = type.dtype if isinstance(type, Tensor) else as_dtype(type)
    return _Limits(tp.iinfo(d), d, ("bits", "max", "min"))


# ---- indexing and searching ----


@public
def take(x, indices, /, *, axis=None):
    """The elements x[indices] along an axis, which may be left out for one dimension. indices has one dimension."""
    if axis is None:
        if array(x, "take").ndim != 1:
            raise ValueError(f"take: axis is needed for shape {list(x.shape)}")
        axis = 0
    n = x.shape[axis]
    return tp.index_select(x, axis, tp.where(indices < 0, indices + n, indices))


@public
def take_along_axis(x, indices, /, *, axis=-1):
    """Elements of x at an index for each position; both broadcast but for the axis."""
    axis %= builtins.max(array(x, "take_along_axis").ndim, 1)
    n = x.shape[axis]
    return tp.take_along_dim(x, tp.where(indices < 0, indices + n, indices), axis)


@public
def argmax(x, /, *, axis=None, keepdims=False):
    """Where the largest element is."""
    return _arg(tp.argmax, x, axis, keepdims)


@public
def argmin(x, /, *, axis=None, keepdims=False):
    """Where the smallest element is."""
    return _arg(tp.argmin, x, axis, keepdims)


def _arg(function, x, axis, keepdims):
    if axis is None:
        out = function(x)
        return out.reshape((1,) * x.ndim) if keepdims else out
    return function(x, axis, keepdims)


@public
def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many elements are not zero: int64."""
    return sum(array(x, "count_nonzero") != 0, axis=axis, keepdims=keepdims, dtype=_dtypes.int64)


@public
def nonzero(x, /):
    """The positions of the elements that are not zero, an array for each dimension."""
    if array(x, "nonzero").ndim == 0:
        raise ValueError("nonzero: an array without dimensions has no positions")
    return tp.nonzero(x, as_tuple=True)


@needs("searchsorted")
def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Where elements of x2 would have to be inserted into x1 to keep its order."""
    return tp.searchsorted(*together("searchsorted", x1, x2), side=side, sorter=sorter)


@public
def where(condition, /, *values):
    """`where(condition, x1, x2)`: x1 where condition is true, else x2. `where(condition)`, which scikit-learn uses, is
    nonzero(condition).
    """
    if not values:
        return nonzero(condition)
    x1, x2 = values
    return tp.where(condition, *together("where", x1, x2))


class UniqueAll(NamedTuple):
    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    values: Tensor
    inverse_indices: Tensor


def _unique(x):
    """Distinct values in order, with what unique_all returns. Every NaN is a value of its own."""
    flat = array(x, "unique").reshape(-1)
    first, inverse, counts = tp.unique_rows(flat.reshape(-1, 1))
    return UniqueAll(flat[first], first, inverse.reshape(x.shape), counts)


@public
def unique_all(x, /):
    """The distinct values, where each occurs first, which one each element is, and how often it occurs."""
    return _unique(x)


@public
def unique_counts(x, /):
    """The distinct values and how often each occurs."""
    u = _unique(x)
    return UniqueCounts(u.values, u.counts)


@public
def unique_inverse(x, /):
    """The distinct values and which one each element is."""
    u = _unique(x)
    return UniqueInverse(u.values, u.inverse_indices)


@public
def unique_values(x, /):
    """The distinct values."""
    return _unique(x).values


@public
def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """Indices that sort x along an axis."""
    return tp.argsort(x, dim=axis, descending=descending, stable=stable)


@public
def sort(x, /, *, axis=-1, descending=False, stable=True):
    """x in order along an axis."""
    return tp.sort(x, axis, descending, stable).values


# ---- products ----


@public
def matmul(x1, x2, /):
    """The matrix product."""
    return tp.matmul(*together("matmul", x1, x2))


@public
def matrix_transpose(x, /):
    """The last two axes exchanged."""
    if array(x, "matrix_transpose").ndim < 2:
        raise ValueError(f"matrix_transpose: at least two dimensions are needed, got shape {list(x.shape)}")
    return x.mT


@public
def tensordot(x1, x2, /, *, axes=2):
    """Sums of products over pairs of axes."""
    return tp.tensordot(*together("tensordot", x1, x2), dims=axes)


@public
def vecdot(x1, x2, /, *, axis=-1):
    """Sums of products of conj(x1) and x2 along an axis."""
    x1, x2 = together("vecdot", x1, x2)
    if builtins.min(x1.ndim, x2.ndim) == 0 or x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: shapes {list(x1.shape)} and {list(x2.shape)} differ along axis {axis}")
    return tp.sum((x1.conj() if x1.is_complex() else x1) * x2, axis, dtype=x1.dtype)


# ---- shapes ----


@public
def broadcast_arrays(*arrays):
    """The arrays, all with the shape that they broadcast to."""
    return list(tp.broadcast_tensors(*arrays)) if arrays else []


@public
def broadcast_to(x, /, shape):
    """x repeated to a shape."""
    return tp.broadcast_to(x, tuple(shape))


@public
def concat(arrays, /, *, axis=0):
    """The arrays one after the other along an axis; flattened first if that is None."""
    arrays = together("concat", *arrays)
    if axis is None:
        arrays, axis = [a.reshape(-1) for a in arrays], 0
    return tp.cat(arrays, axis)


@public
def expand_dims(x, /, *, axis=0):
    """x with an axis of size 1 inserted."""
    return tp.unsqueeze(x, axis)


@public
def flip(x, /, *, axis=None):
    """x in reverse order along axes, along all of them if axis is None."""
    return tp.flip(x, axes(x, axis))


@public
def moveaxis(x, source, destination, /):
    """x with axes at other positions."""
    return tp.movedim(x, source, destination)


@public
def permute_dims(x, /, axes):
    """x with its axes in another order."""
    return tp.permute(x, tuple(axes))


@public
def repeat(x, repeats, /, *, axis=None):
    """Each element repeated in a row: as often as a number or an array of integers says."""
    return tp.repeat_interleave(x, repeats, axis)


@public
def reshape(x, /, shape, *, copy=None):
    """The elements in another shape. copy: True makes a copy, False raises ValueError where one is needed."""
    if copy is False:
        try:
            return x.view(tuple(shape))
        except RuntimeError as error:
            raise ValueError(f"reshape: a copy is needed, and copy=False was given: {error}") from None
    out = tp.reshape(x, tuple(shape))
    return out.clone() if copy else out


@public
def roll(x, /, shift, *, axis=None):
    """Elements moved along axes; those that leave at one end come in at the other."""
    if axis is None:
        return tp.roll(x, shift)
    many = isinstance(axis, tuple)
    shift = shift if isinstance(shift, tuple) else (shift,) * (len(axis) if many else 1)
    return tp.roll(x, shift, axis if many else (axis,) * len(shift))


@public
def squeeze(x, /, axis):
    """x without axes of size 1. ValueError for another size."""
    dims = axes(x, axis)
    for d in dims:
        if -x.ndim <= d < x.ndim and x.shape[d] != 1:
            raise ValueError(f"squeeze: axis {d} of shape {list(x.shape)} does not have size 1")
    return tp.squeeze(x, dims)


@public
def stack(arrays, /, *, axis=0):
    """The arrays side by side along a new axis."""
    return tp.stack(together("stack", *arrays), axis)


@public
def tile(x, repetitions, /):
    """x laid side by side."""
    return tp.tile(x, tuple(repetitions))


@public
def unstack(x, /, *, axis=0):
    """The arrays x[i] along an axis."""
    return tp.unbind(x, axis)


# ---- statistics ----


@public
def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """The sum; unsigned integers in uint64, signed ones and bool in int64."""
    dtype = total_dtype(x, dtype)
    if axis == ():
        return x.to(dtype or (_dtypes.int64 if _whole_dtype(x.dtype) else x.dtype))
    return tp.sum(x, axes(x, axis), keepdims, dtype=dtype)


def _whole_dtype(d):
    return not (d.is_floating_point or d.is_complex)


@public
def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """The product; unsigned integers in uint64, signed ones and bool in int64."""
    dtype = total_dtype(x, dtype)
    if axis is None:
        out = tp.prod(x, dtype=dtype)
        return out.reshape((1,) * x.ndim) if keepdims else out
    for d in sorted((d % builtins.max(x.ndim, 1) for d in axes(x, axis)), reverse=True):
        x = tp.prod(x, d, keepdims, dtype=dtype)
    return x


@public
def max(x, /, *, axis=None, keepdims=False):
    """The largest element."""
    return x if axis == () else tp.amax(x, axes(x, axis), keepdims)


@public
def min(x, /, *, axis=None, keepdims=False):
    """The smallest element."""
    return x if axis == () else tp.amin(x, axes(x, axis), keepdims)


@public
def mean(x, /, *, axis=None, keepdims=False):
    """The arithmetic mean."""
    return x if axis == () else tp.mean(x, axes(x, axis), keepdims)


@public
def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The standard deviation; sums are divided by n - correction."""
    return tp.zeros_like(x) if axis == () else tp.std(x, axes(x, axis), correction=correction, keepdim=keepdims)


@public
def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The variance; sums are divided by n - correction."""
    return tp.zeros_like(x) if axis == () else tp.var(x, axes(x, axis), correction=correction, keepdim=keepdims)


def _cumulative(function, x, axis, dtype, include_initial, first):
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"{function.__name__}: axis is needed for shape {list(x.shape)}")
        axis = 0
    out = function(x, axis, dtype=total_dtype(x, dtype))
    if include_initial:
        shape = list(out.shape)
        shape[axis] = 1
        out = tp.cat([tp.full(shape, first, dtype=out.dtype), out], axis)
    return out


@public
def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running sums along an axis, which may be left out for one dimension."""
    return _cumulative(tp.cumsum, x, axis, dtype, include_initial, 0)


@public
def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running products along an axis, which may be left out for one dimension."""
    return _cumulative(tp.cumprod, x, axis, dtype, include_initial, 1)


@public
def all(x, /, *, axis=None, keepdims=False):
    """Whether all elements are true."""
    return x.to(_dtypes.bool_) if axis == () else tp.all(x, axes(x, axis), keepdims)


@public
def any(x, /, *, axis=None, keepdims=False):
    """Whether some element is true."""
    return x.to(_dtypes.bool_) if axis == () else tp.any(x, axes(x, axis), keepdims)


@public
def diff(x, /, n=1, *, axis=-1, prepend=None, append=None):
    """Differences of neighbours along an axis, n times; prepend and append are joined to x first. n may also be given
    by position, as scikit-learn does.
    """
    parts = [p for p in (prepend, x, append) if p is not None]
    return tp.diff(concat(parts, axis=axis) if len(parts) > 1 else array(x, "diff"), n, axis)
