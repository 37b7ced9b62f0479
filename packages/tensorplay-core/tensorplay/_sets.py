"""Distinct elements, and histograms of several dimensions: what returns as many results as are asked for."""

from . import _ops
from ._creation import linspace, zeros
from ._dtypes import int64
from ._tensor import Tensor

__all__ = ["histogramdd", "unique", "unique_consecutive"]


def _distinct(op, input, dim, consecutive, return_inverse, return_counts):
    if not isinstance(input, Tensor):
        raise TypeError(f"{op}: a Tensor is needed, got {type(input).__name__}")
    if dim is None:
        rows = input.reshape(-1, 1)
    else:
        if not -max(input.ndim, 1) <= dim < max(input.ndim, 1):
            raise IndexError(f"{op}: dimension {dim} is out of range for shape {list(input.shape)}")
        moved = input.reshape(1) if input.ndim == 0 else input.movedim(dim, 0)
        if moved.numel() == 0 and moved.shape[0]:
            raise ValueError(f"{op}: shape {list(input.shape)} has no elements in the slices along dimension {dim}")
        rows = moved.reshape(moved.shape[0], -1) if moved.numel() else moved.reshape(0, 0)
    first, inverse, counts = _ops.FUNCTIONS["unique_rows"](rows, consecutive)
    if dim is None:
        values, inverse = rows.select(1, 0).index_select(0, first), inverse.reshape(input.shape)
    else:
        values = input.reshape(1).index_select(0, first) if input.ndim == 0 else input.index_select(dim, first)
    results = (values, *((inverse,) if return_inverse else ()), *((counts,) if return_counts else ()))
    return results if len(results) > 1 else values


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements of a tensor, or slices along dim, in ascending order.

    Returns values, then, if asked for, inverse (int64: which value each element or slice is; the input's shape, or
    [size of dim]) and counts (int64, [number of values]). NaN is different from NaN; slices are ordered by their first
    different element. The result is sorted whatever `sorted` says. Values depend smoothly on the input. Under vmap:
    NotImplementedError, since the number of values would differ between samples. Errors: IndexError for a dim out of
    range; ValueError for slices without elements.
    """
    return _distinct("unique", input, dim, False, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The first of each run of equal elements, or of equal slices along dim, in their order.

    Results and errors as those of unique.
    """
    return _distinct("unique_consecutive", input, dim, True, return_inverse, return_counts)


def histogramdd(input, bins, *, range=None, weight=None, density=False):
    """Counts, or sums of weights, of points [..., D] in a grid of D dimensions.

    bins: the number of intervals, for all dimensions or for each; or for each the 1-d tensor of its edges. range: 2 D
    numbers, low and high for each dimension (by default smallest and largest coordinate). Returns (hist [bins of each
    dimension], tuple of edges); the last interval of each dimension contains its end, points outside do not count.
    density: divided by the total and by the volume of the cells. Errors: ValueError for shapes and ranges that do not
    fit; TypeError unless the dtype is floating.
    """
    if input.ndim < 2:
        raise ValueError(f"histogramdd: input must be [..., D], got shape {list(input.shape)}")
    size = input.shape[-1]
    points = input.reshape(-1, size)
    if not input.dtype.is_floating_point:
        raise TypeError(f"histogramdd: a floating dtype is needed, got {input.dtype}")
    many = list(bins) if isinstance(bins, (list, tuple)) else [bins] * size
    if len(many) != size:
        raise ValueError(f"histogramdd: bins for {len(many)} dimensions, input of shape {list(input.shape)}")
    if range is not None and len(range) != 2 * size:
        raise ValueError(f"histogramdd: range has {len(range)} numbers, {2 * size} are needed")
    if weight is not None:
        if weight.numel() != points.shape[0]:
            raise ValueError(
                f"histogramdd: weight of shape {list(weight.shape)} for input of shape {list(input.shape)}"
            )
        weight = weight.reshape(-1).to(input.dtype)
    edges, cell, inside = [], zeros(points.shape[0], dtype=int64), None
    for d, count in enumerate(many):
        x = points.select(1, d)
        if isinstance(count, Tensor):
            edge = count.to(input.dtype)
        else:
            bounds = None if range is None else [float(range[2 * d]), float(range[2 * d + 1])]
            edge = x.histogram(count, range=bounds)[1] if x.numel() or bounds else linspace(0, 1, count + 1)
        n = edge.shape[0] - 1
        at = _ops.FUNCTIONS["searchsorted"](edge, x, right=True) - 1
        at = at - (x == edge.select(0, n)).to(int64)
        good = (at >= 0) & (at < n) & (x == x)
        inside = good if inside is None else inside & good
        cell = cell * n + at.clamp(0, n - 1)
        edges.append(edge)
    shape = [e.shape[0] - 1 for e in edges]
    total = 1
    for n in shape:
        total *= n
    ones = points.new_ones(points.shape[0]) if weight is None else weight
    hist = zeros(total, dtype=input.dtype).scatter_add(0, cell, ones * inside.to(input.dtype)).reshape(shape)
    if density:
        hist = hist / hist.sum()
        for d, edge in enumerate(edges):
            hist = hist / edge.diff().reshape([-1 if k == d else 1 for k, _ in enumerate(shape)])
    return hist, tuple(edges)


Tensor.unique, Tensor.unique_consecutive = unique, unique_consecutive
