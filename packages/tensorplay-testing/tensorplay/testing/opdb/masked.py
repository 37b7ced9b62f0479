# ruff: noqa: F403, F405
"""Reductions and normalisations over marked elements."""

import numpy as np

import tensorplay as tp

from ._base import *

FLOAT = ("float16", "bfloat16", "float32", "float64")


def _mask(rng, *shape):
    """A random mask with elements in each row and column, where there are any."""
    m = rng.random(shape) < 0.6
    if m.ndim == 1:
        m[:2] = True
    if m.ndim == 2 and m.size:
        for shift in (0, 1):  # two in each row, where they fit
            m[np.arange(m.shape[0]), (np.arange(m.shape[0]) + shift) % m.shape[1]] = True
        m[np.arange(m.shape[1]) % m.shape[0], np.arange(m.shape[1])] = True
    return m if m.ndim else np.array(True)


SAME = {1: lambda a, i: a}  # samples of a batch share the mask: shapes and validity may depend on it


def _samples(*calls, values=make, same=False, zero=None):
    """Calls given as (shape, shape of the mask or None, args, kwargs)."""

    def samples(rng, dtype):
        for shape, mask, args, kwargs in calls:
            marked = {} if mask is None else {"mask": _mask(rng, *mask)}
            vary = SAME if same and marked else {}
            yield Sample((values(rng, dtype, *shape), *args), {**kwargs, **marked}, vary=vary)

    return samples


def m(shape, mask, *args, **kwargs):
    return shape, mask, args, kwargs


def _dims(a, dim):
    if dim is None or dim == () or dim == []:
        return tuple(range(a.ndim))
    return tuple(d % max(a.ndim, 1) for d in ((dim,) if isinstance(dim, int) else dim)) if a.ndim else ()


def _cast(a, dtype):
    return a if dtype is None else a.astype(dtype.numpy)


def _over(identity, reduce):
    """Reference of a reduction: what is not marked becomes the identity."""

    def reference(a, dim=None, *, keepdim=False, dtype=None, mask=None):
        a = _cast(a, dtype)
        if mask is not None:
            a = np.where(mask, a, np.asarray(identity(a.dtype), a.dtype))
        return reduce(a, _dims(a, dim), keepdim)

    return reference


def _wanted(rule):
    return lambda names, s: s.kwargs["dtype"].name if s.kwargs.get("dtype") is not None else rule(names[0])


_REDUCTIONS = (
    m((3, 4), (3, 4)),
    m((3, 4), (3, 4), 1),
    m((3, 4), (3, 4), 0, keepdim=True),
    m((3, 4), (4,), (0, 1)),
    m((3, 4), None, -1),
    m((), ()),
    m((0, 3), (0, 3), 1),
    m((3, 4), (3, 4), 1, dtype=tp.float64),
)
_SUMS = (*_REDUCTIONS, m((0, 3), None, 0), m((2, 1, 3), (1, 3), (0, -1), keepdim=True))

add(
    "masked.sum",
    _samples(*_SUMS),
    _over(lambda d: 0, lambda a, d, k: np.sum(a, d, keepdims=k)),
    dtype=_wanted(accumulated),
    refuses=False,
)
add(
    "masked.prod",
    _samples(*_SUMS),
    _over(lambda d: 1, lambda a, d, k: np.prod(a, d, keepdims=k)),
    dtype=_wanted(accumulated),
    refuses=False,
)


def _least(d):
    return -np.inf if d.kind == "f" else np.iinfo(d).min


def _largest(d):
    return np.inf if d.kind == "f" else np.iinfo(d).max


_ORDERED = INTEGERS + FLOAT
_CALLS = _samples(*_REDUCTIONS, values=distinct)
add(
    "masked.amax",
    _CALLS,
    _over(_least, lambda a, d, k: np.max(a, d, keepdims=k)),
    dtypes=_ORDERED,
    dtype=_wanted(str),
    refuses=False,
)
add(
    "masked.amin",
    _CALLS,
    _over(_largest, lambda a, d, k: np.min(a, d, keepdims=k)),
    dtypes=_ORDERED,
    dtype=_wanted(str),
    refuses=False,
)


def _arg(identity, function):
    def reference(a, dim=None, *, keepdim=False, dtype=None, mask=None):
        if mask is not None:
            a = np.where(mask, a, np.asarray(identity(a.dtype), a.dtype))
        return _cast(function(a, axis=dim, keepdims=keepdim), dtype)

    return reference


_ARGS = _samples(
    m((3, 4), (3, 4)),
    m((3, 4), (3, 4), 1),
    m((3, 4), (4,), 0, keepdim=True),
    m((3, 4), None, -1),
    m((), ()),
    m((0, 3), (0, 3), 1),
    m((3, 4), (3, 4), 1, dtype=tp.int64),
    values=distinct,
)
for _name, _identity, _fn in (("argmax", _least, np.argmax), ("argmin", _largest, np.argmin)):
    add(
        "masked." + _name,
        _ARGS,
        _arg(_identity, _fn),
        dtypes=_ORDERED,
        dtype=_wanted(str),
        grad=(),
        refuses=False,
    )

_SCANS = (
    m((3, 4), (3, 4), 1),
    m((3, 4), (4,), 0),
    m((3, 4), None, -1),
    m((), (), 0),
    m((0, 3), (0, 3), 1),
    m((3, 4), (3, 4), 1, dtype=tp.float64),
)


def _scan(identity, function):
    def reference(a, dim, *, dtype=None, mask=None):
        a = _cast(a, dtype)
        a = a if mask is None else np.where(mask, a, np.asarray(identity, a.dtype))
        return function(a, axis=dim) if a.ndim else a

    return reference


_running = _wanted(lambda n: n if n in INEXACT else "int64")
add("masked.cumsum", _samples(*_SCANS), _scan(0, np.cumsum), dtype=_running, refuses=False)
add("masked.cumprod", _samples(*_SCANS), _scan(1, np.cumprod), dtype=_running, refuses=False)

# ---- statistics ----

_STATISTICS = (
    m((4, 5), (4, 5)),
    m((4, 5), (4, 5), 1),
    m((4, 5), (5,), 1, keepdim=True),
    m((4, 5), (4, 5), (0, 1)),
    m((4, 5), None, -1),
    m((0, 3), (0, 3), 1),
)


def _marked(fn):
    """A statistic of the marked elements of each row, row by row."""

    def reference(a, dim=None, *args, keepdim=False, mask=None, dtype=None, **options):
        a = _cast(a, dtype)
        mask = np.ones(a.shape, bool) if mask is None else np.broadcast_to(mask, a.shape)
        dims = _dims(a, dim)
        rest = [d for d in range(a.ndim) if d not in dims]
        size = int(np.prod([a.shape[d] for d in dims], dtype=int))
        rows = a.transpose(*rest, *dims).reshape([a.shape[d] for d in rest] + [size]) if a.ndim else a.reshape(1)
        marks = mask.transpose(*rest, *dims).reshape(rows.shape) if a.ndim else mask.reshape(1)
        out = np.empty(rows.shape[:-1], np.result_type(a.dtype, np.float64) if a.dtype.kind in "biu" else a.dtype)
        for i in np.ndindex(out.shape):
            out[i] = fn(rows[i][marks[i]], *args, **options)
        return np.expand_dims(out, dims) if keepdim else out

    return reference


add(
    "masked.mean",
    _samples(*_STATISTICS, m((), ()), m((4, 5), (4, 5), 1, dtype=tp.float64), same=True),
    _marked(lambda x: x.mean()),
    dtypes=INEXACT,
    dtype=_wanted(str),
)


def _variance(root):
    def statistic(x, unbiased=None, correction=None):
        correction = (1 if unbiased in (None, True) else 0) if correction is None else correction
        n = len(x) - correction
        v = (np.abs(x - x.mean()) ** 2).sum() / n if n > 0 else np.nan
        return np.sqrt(v) if root else v

    return _marked(statistic)


def _variances(rng, dtype):
    yield from _samples(
        *_STATISTICS,
        m((4, 5), (4, 5), 1, False),
        m((4, 5), (4, 5), None, unbiased=False),
        m((4, 5), (4, 5), 0, correction=0.5),
        m((4, 5), (4, 5), None, dtype=tp.float64),
        same=True,
    )(rng, dtype)
    yield Sample((make(rng, dtype),), {"correction": 0.0}, grad=False)


for _name, _root in (("var", False), ("std", True)):
    add(
        "masked." + _name,
        _variances,
        _variance(_root),
        dtypes=ALL,
        dtype=_wanted(lambda n: n if n in INEXACT else "float32"),
        scale=4.0,
        refuses=False,
        grad=("float64",),
    )


def _median(x):
    x = x[~np.isnan(x)] if x.dtype.kind == "f" else x
    return np.sort(x)[(len(x) - 1) // 2] if len(x) else np.nan


def _one_dim(reference):
    return lambda a, dim=-1, **options: reference(a, dim, **options)


add(
    "masked.median",
    _samples(
        m((4, 5), (4, 5)),
        m((4, 5), (4, 5), 1),
        m((4, 5), (5,), -1, keepdim=True),
        m((4, 5), None, 0),
        m((), (), 0),
        m((0, 3), (0, 3), 1),
        m((4, 5), (4, 5), 1, dtype=tp.float64),
        values=distinct,
        same=True,
    ),
    _one_dim(_marked(_median)),
    dtypes=_ORDERED,
    dtype=_wanted(str),
    refuses=False,
)

_NORMS = _samples(
    m((3, 4), (3, 4)),
    m((3, 4), (3, 4), 2, 1),
    m((3, 4), (3, 4), 1, 0, keepdim=True),
    m((3, 4), (4,), 3.0, (0, 1)),
    m((3, 4), None, 2, -1),
    m((3, 4), (3, 4), -1, 1),
    m((), (), 2),
    m((0, 3), (0, 3), 2, 1),
    m((3, 4), (3, 4), 2, 1, dtype=tp.complex128),
    values=lambda rng, dtype, *shape: make(rng, dtype, *shape, gap=0.3),
)


def _norm(a, ord=2, dim=None, *, keepdim=False, dtype=None, mask=None):
    a = _cast(a, dtype)
    size = np.abs(a) if mask is None else np.where(mask, np.abs(a), 0 if ord > 0 else np.inf)
    with np.errstate(divide="ignore"):
        return np.sum(size ** float(ord), _dims(a, dim), keepdims=keepdim) ** (1 / ord)


add("masked.norm", _NORMS, _norm, dtypes=INEXACT, dtype=_wanted(to_real), scale=4.0)
ENTRIES["masked.norm"].dtype = lambda names, s: "float64" if "dtype" in s.kwargs else to_real(names[0])


def _normalize(a, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    a = _cast(a, dtype)
    norm = _norm(a, ord, dim, keepdim=True, mask=mask)
    return (a if mask is None else np.where(mask, a, 0)) / np.maximum(norm, eps)


add(
    "masked.normalize",
    _samples(
        m((3, 4), (3, 4), 2, 1),
        m((3, 4), (4,), 1, 0),
        m((3, 4), None, 3.0, -1),
        m((3, 4), (3, 4), 2, 1, eps=5.0),
        m((), (), 2, 0),
        m((0, 3), (0, 3), 2, 1),
        m((3, 4), (3, 4), 2, 1, dtype=tp.complex128),
        values=lambda rng, dtype, *shape: make(rng, dtype, *shape, gap=0.3),
    ),
    _normalize,
    dtypes=INEXACT,
    dtype=_wanted(str),
    scale=4.0,
)

# ---- exponentials ----


def _softmax(sign, log):
    def reference(a, dim, *, dtype=None, mask=None):
        a = sign * _cast(a, dtype)
        e = np.exp(a - a.max(initial=-1e300)) * (1 if mask is None else mask)
        total = e.sum(dim, keepdims=True) if a.ndim else e
        with np.errstate(divide="ignore"):
            return np.log(e / total) if log else e / total

    return reference


_SOFT = _samples(
    m((3, 4), (3, 4), 1),
    m((3, 4), (3, 4), 0),
    m((3, 4), (4,), 1),
    m((3, 4), None, -1),
    m((), (), 0),
    m((0, 3), (0, 3), 1),
    m((3, 4), (3, 4), 1, dtype=tp.float64),
    same=True,
)


def _finite(samples):
    """Without derivatives where results are infinite: finite differences say nothing there."""

    def of(rng, dtype):
        for s in samples(rng, dtype):
            s.grad = "mask" not in s.kwargs or bool(s.kwargs["mask"].all())
            yield s

    return of


_SOFT_DTYPES = dict(dtypes=FLOAT, dtype=_wanted(str), refuses=False, grad=("float64",))
add("masked.softmax", _SOFT, _softmax(1, False), **_SOFT_DTYPES)
add("masked.softmin", _SOFT, _softmax(-1, False), **_SOFT_DTYPES)
add("masked.log_softmax", _finite(_SOFT), _softmax(1, True), **_SOFT_DTYPES)


def _logsumexp(a, dim=None, *, keepdim=False, dtype=None, mask=None):
    a = _cast(a, dtype)
    e = np.exp(a) * (1 if mask is None else mask)
    with np.errstate(divide="ignore"):
        return np.log(e.sum(_dims(a, dim), keepdims=keepdim))


add(
    "masked.logsumexp",
    _samples(
        m((3, 4), (3, 4)),
        m((3, 4), (3, 4), 1),
        m((3, 4), (4,), (0, 1), keepdim=True),
        m((3, 4), None, -1),
        m((), ()),
        m((0, 3), (0, 3), 1),
        m((3, 4), (3, 4), 1, dtype=tp.float64),
        same=True,
    ),
    _logsumexp,
    **_SOFT_DTYPES,
)


def _logaddexps(rng, dtype):
    for shape, other in (((3, 4), (3, 4)), ((3, 4), (4,)), ((), ()), ((0, 3), (0, 3))):
        yield sample(make(rng, dtype, *shape), make(rng, dtype, *other))
    x, y = make(rng, dtype, 3, 4), make(rng, dtype, 3, 4)
    first = _mask(rng, 3, 4)
    keep = {2: lambda a, i: a, 3: lambda a, i: a}
    yield Sample((x, y), {"input_mask": first, "other_mask": _mask(rng, 3, 4) | ~first}, vary=keep)
    yield Sample((x, y), {"input_mask": first, "dtype": tp.float64}, vary=keep)


def _logaddexp(a, b, *, dtype=None, input_mask=None, other_mask=None):
    a, b = _cast(a, dtype), _cast(b, dtype)
    e = np.exp(a) * (1 if input_mask is None else input_mask)
    return np.log(e + np.exp(b) * (1 if other_mask is None else other_mask))


add("masked.logaddexp", _logaddexps, _logaddexp, **_SOFT_DTYPES)
