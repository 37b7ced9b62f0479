"""`x[index]` and `x[index] = value`, with NumPy's meaning.

Basic indices (ints, slices, None, Ellipsis) make views. Index arrays and masks become the operators `index` and
`index_put_`, which take one optional index tensor a dimension and put the result's index dimensions where the first
index stands if all stand side by side, else in front.
"""

import operator

import numpy as np

from ._clib import NULL, lib, raise_error
from ._dtypes import bool_, int64
from ._tensor import Tensor, operand, wrap

_INT_MAX = (1 << 63) - 1
_FULL = slice(None)


def getitem(self, index):
    """self[index]: a view for ints, slices, None and Ellipsis, else a copy of the chosen elements.

    IndexError for what is out of range or no index; ValueError for a negative step; NotImplementedError for a mask
    that vmap maps over, whose result has no one shape.
    """
    kind = type(index)
    if kind is int:
        h = self._h
        if -_INT_MAX <= index <= _INT_MAX and lib.tp_ndim(h):
            return wrap(lib.tp_select(h, 0, index))
    elif kind is slice and lib.tp_ndim(self._h):
        return _slice(self, 0, index)
    view, arrays, front = _plan(self, index)
    if arrays is None:
        return view.view(view.shape) if view is self else view
    arrays = _as_integers(arrays, "x[mask]")
    out = wrap(lib.tp_index(view._h, *_list(arrays)))
    if front is None:
        return out
    return out.movedim(*_moves(arrays, front))


def setitem(self, index, value):
    """self[index] = value, which is cast and broadcast. The errors of getitem, and ValueError for a value whose shape
    does not broadcast; a mask that vmap maps over is fine here."""
    if type(index) is int and type(value) is float and -_INT_MAX <= index <= _INT_MAX and lib.tp_ndim(self._h):
        view = wrap(lib.tp_select(self._h, 0, index))
        if lib.tpy_fill_f(view._h, value):
            raise_error()
        return
    view, arrays, front = _plan(self, index)
    source = _source(self, value)
    if arrays is None:
        source = _fit(source, lib.tp_ndim(view._h))
        if lib.tp_copy_(view._h, source._h):
            raise_error()
        return
    masks = [(d, a) for d, a in arrays.items() if a.dtype is bool_]
    if len(masks) == len(arrays) == 1 and _write_masked(view, *masks[0], source):
        return
    arrays = _as_integers(arrays, "x[mask] = value")
    if front is not None:
        source = _to_position(view, arrays, front, source)
    handles, n = _list(arrays)
    if lib.tp_index_put_(view._h, handles, n, source._h, False):
        raise_error()


# ---- values ----


def _source(x, value):
    if isinstance(value, Tensor):
        return value
    t = operand(value)
    if t is None:
        from ._creation import tensor

        t = tensor(value, dtype=None if _has_tensors(value) else x.dtype)
    return t


def _has_tensors(value):
    return isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) or _has_tensors(v) for v in value)


def _fit(t, ndim):
    """NumPy lets a value have more dimensions than its target as long as they are 1."""
    extra = lib.tp_ndim(t._h) - ndim
    if extra > 0 and all(s == 1 for s in t.shape[:extra]):
        return t.reshape(t.shape[extra:])
    return t


# ---- the plan ----


def _array(item):
    """An index tensor from an item of the index that is no basic index."""
    from ._creation import as_tensor, tensor

    if isinstance(item, Tensor):
        t = item
    elif isinstance(item, (np.ndarray, np.bool_)):
        t = as_tensor(np.asarray(item))
    elif isinstance(item, bool):
        t = tensor(item)
    elif isinstance(item, (list, tuple, range)):
        t = tensor(item) if len(item) else tensor([], dtype=int64)
    else:
        raise IndexError(
            "index: only integers, slices, None, Ellipsis, and tensors, arrays or lists of integers or bools are "
            f"possible, got {type(item).__name__}"
        )
    d = t.dtype
    if d.is_floating_point or d.is_complex:
        raise IndexError(f"index: an index tensor must hold integers or bools, got {d.name}")
    return t


def _plan(x, index):
    """(view, arrays, front): the view that the basic items make of x; its dimensions that are indexed by tensors
    (dimension -> tensor, None if there are none); and, where NumPy puts the index dimensions in front although the
    indices stand side by side in the view, the dimension where `index` puts them (else None)."""
    items = list(index) if type(index) is tuple else [index]
    used, ellipses, has_arrays = 0, 0, False
    kinds = []  # the item's class, one letter
    for i, item in enumerate(items):
        kind = type(item)
        if kind is int:
            letter = "i"
        elif item is None:
            letter = "n"
        elif kind is slice:
            letter = "s"
        elif item is Ellipsis:
            letter = "e"
        elif kind is not bool and not isinstance(item, (Tensor, np.ndarray, np.bool_)) and hasattr(item, "__index__"):
            items[i] = operator.index(item)
            letter = "i"
        else:
            items[i] = t = _array(item)
            letter = "m" if t.dtype is bool_ else "a"
            has_arrays = True
            used += t.ndim if letter == "m" else 1
        used += letter in "is"
        ellipses += letter == "e"
        kinds.append(letter)
    ndim = x.ndim
    if ellipses > 1:
        raise IndexError("index: an index can have only one Ellipsis")
    if used > ndim:
        raise IndexError(f"index: {used} indices for a tensor of shape {list(x.shape)}, which has {ndim} dimensions")
    view, d, arrays = x, 0, {}
    for letter, item in zip(kinds, items):
        if letter == "i":
            view = wrap(lib.tp_select(view._h, d, _checked(item, view, d)))
        elif letter == "s":
            view = _slice(view, d, item)
            d += 1
        elif letter == "n":
            view = view.unsqueeze(d)
            d += 1
        elif letter == "e":
            d += ndim - used
        elif letter == "a":
            arrays[d] = item
            d += 1
        elif item.ndim == 0:
            view = view.unsqueeze(d)
            arrays[d] = item.reshape(1)
            d += 1
        else:
            m = item.ndim
            if item.shape != view.shape[d : d + m]:
                raise IndexError(
                    f"index: a mask of shape {list(item.shape)} does not fit dimensions {d} to {d + m - 1} of shape "
                    f"{list(view.shape)}"
                )
            arrays[d] = item
            d += m
    if not has_arrays:
        return view, None, None
    return view, arrays, _front(kinds, arrays)


def _front(kinds, arrays):
    """Ints count as index arrays for the question whether all indices stand side by side."""
    letters = "".join(kinds)
    first, last = min(letters.find(c) % (1 << 30) for c in "iam"), max(letters.rfind(c) for c in "iam")
    if not set(letters[first : last + 1]) & set("sne"):
        return None
    start = d = min(arrays)
    while d in arrays:
        d += arrays[d].ndim if arrays[d].dtype is bool_ else 1
    side_by_side = d > max(arrays)
    return start if side_by_side and start else None


def _checked(i, x, d):
    if not -_INT_MAX <= i <= _INT_MAX:
        raise IndexError(f"index: {i} is out of range for dimension {d} of shape {list(x.shape)}")
    return i


def _slice(x, d, s):
    if s == _FULL:
        return x if d else wrap(lib.tp_slice(x._h, 0, 0, _INT_MAX, 1))
    step = 1 if s.step is None else operator.index(s.step)
    if step <= 0:
        raise ValueError(f"index: the step of a slice must be positive, got {step}: use flip to reverse a dimension")
    start = 0 if s.start is None else _bound(s.start)
    end = _INT_MAX if s.stop is None else _bound(s.stop)
    return wrap(lib.tp_slice(x._h, d, start, end, min(step, _INT_MAX)))


def _bound(i):
    return max(-_INT_MAX, min(_INT_MAX, operator.index(i)))


# ---- index tensors ----


def _is_mapped(t):
    return lib.tp_level_kind_of(t._h) == lib.TP_LEVEL_VMAP


def _as_integers(arrays, what):
    """Index tensors of int64, masks replaced by the positions of their true elements."""
    out = {}
    for d, a in arrays.items():
        if a.dtype is not bool_:
            out[d] = a if a.dtype is int64 else a.to(int64)
            continue
        if _is_mapped(a):
            raise NotImplementedError(
                f"{what}: how many elements a mask that vmap maps over chooses differs from sample to sample: use "
                "tp.where(mask, x, other), or nonzero_static with a fixed size"
            )
        for i, column in enumerate(a.nonzero().unbind(1)):
            out[d + i] = column
    return out


def _list(arrays):
    """The arguments of `index`: handles, NULL for a dimension without an index, and how many."""
    n = max(arrays) + 1
    return [arrays[d]._h if d in arrays else NULL for d in range(n)], n


def _index_ndim(arrays):
    return max(a.ndim for a in arrays.values())


def _moves(arrays, front):
    k = _index_ndim(arrays)
    return tuple(range(front, front + k)), tuple(range(k))


def _to_position(view, arrays, front, source):
    """A value laid out with the index dimensions in front, as index_put_ wants it: at dimension `front`."""
    k, n = _index_ndim(arrays), len(arrays)
    rank = view.ndim - n + k
    source = _fit(source, rank)
    if source.ndim <= rank - k - front:  # broadcasts over all that moves
        return source
    source = source.reshape((1,) * (rank - source.ndim) + source.shape)
    destination, moved = _moves(arrays, front)
    return source.movedim(moved, destination)


def _write_masked(view, d, mask, source):
    """view[mask at dimension d] = source by selection, which vmap can map. False: for index_put_ to do."""
    m, rest = mask.ndim, view.ndim - d - mask.ndim
    source = _fit(source, d + 1 + rest)
    mapped = _is_mapped(mask)
    shape = source.shape
    if len(shape) > rest:
        if shape[len(shape) - rest - 1] == 1:  # one value for all chosen places
            source = source.reshape(shape[: len(shape) - rest - 1] + (1,) * m + shape[len(shape) - rest :])
        elif mapped:
            source = _spread(source.reshape((1,) * (d + 1 + rest - len(shape)) + shape), d, mask)
        else:
            return False
    wide = mask.reshape(mask.shape + (1,) * rest)
    if source.dtype is not view.dtype:
        source = source.to(view.dtype)
    merged = wrap(lib.tp_where(wide._h, source._h, view._h))
    if lib.tp_copy_(view._h, merged._h):
        raise_error()
    return True


def _spread(source, d, mask):
    """Entry k of dimension d of source goes to the k-th true element of the mask; other places hold anything."""
    n = source.shape[d]
    if n == 0:
        raise ValueError(f"x[mask] = value: no elements in a value of shape {list(source.shape)}")
    order = (mask.reshape(-1).to(int64).cumsum(0) - 1).clamp(0, n - 1)
    taken = source.index_select(d, order)
    return taken.reshape(taken.shape[:d] + mask.shape + taken.shape[d + 1 :])
