# ruff: noqa: F403, F405
"""Filled tensors, ranges, indices."""

import numpy as np

import tensorplay as tp

from ._base import *

_T = {name: getattr(tp, "bool_" if name == "bool" else name) for name in ALL}


def _plain(*calls, random=()):
    """Samples without tensors: (args, kwargs)."""

    def samples(rng, dtype):
        for args, kwargs in calls:
            yield Sample(args, kwargs)

    return samples


def _typed(default):
    """The dtype that was asked for, or the default one of the call."""

    def of(names, s):
        asked = s.kwargs.get("dtype")
        if asked is not None:
            return asked.name
        return default(s) if callable(default) else default

    return of


def _c(*args, **kwargs):
    return args, kwargs


_NO_TENSOR = ("float32",)
_FILLED = _plain(
    _c(2, 3),
    _c((2, 3)),
    _c(()),
    _c(0, 3),
    _c(4, dtype=tp.float64),
    _c(2, dtype=tp.int64),
    _c((1,), dtype=tp.bool_),
    _c(2, dtype=tp.complex64),
)


def _shape(size):
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def creation(name, samples, reference, default, **options):
    add(name, samples, reference, dtypes=_NO_TENSOR, dtype=_typed(default), grad=(), refuses=False, **options)


_VARARGS = {"size": "given in every sample"}
creation("zeros", _FILLED, lambda *size, dtype=None: np.zeros(_shape(size)), "float32", missing=_VARARGS)
creation("ones", _FILLED, lambda *size, dtype=None: np.ones(_shape(size)), "float32", missing=_VARARGS)
creation("empty", _FILLED, None, "float32", random="undefined", missing=_VARARGS)


def _number(s):
    return {bool: "bool", int: "int64", float: "float32", complex: "complex64"}[type(s.args[1])]


creation(
    "full",
    _plain(
        _c((2, 3), 1.5),
        _c((), 3),
        _c((2,), True),
        _c((0, 3), 2.0),
        _c((2,), 1 + 2j),
        _c((2,), 3, dtype=tp.float64),
        _c(3, 2.0),
    ),
    lambda size, v, dtype=None: np.full(size, v),
    _number,
)


def _like(*rest):
    def samples(rng, dtype):
        for shape in SHAPES:
            yield sample(make(rng, dtype, *shape), *rest)
        yield Sample((make(rng, dtype, 2, 3), *rest), {"dtype": tp.float64})
        yield Sample((make(rng, dtype, 3), *rest), {"dtype": tp.int32})

    return samples


_AS_SELF = lambda names, s: s.kwargs["dtype"].name if "dtype" in s.kwargs else names[0]
add("zeros_like", _like(), lambda a, dtype=None: np.zeros(a.shape), dtype=_AS_SELF)
add("ones_like", _like(), lambda a, dtype=None: np.ones(a.shape), dtype=_AS_SELF)
add("empty_like", _like(), None, random="undefined", dtype=_AS_SELF)
add("full_like", _like(1), lambda a, v, dtype=None: np.full(a.shape, v), dtype=_AS_SELF)


def _range_dtype(s):
    return "int64" if all(type(x) in (int, bool) for x in s.args) else "float32"


creation(
    "arange",
    _plain(
        _c(5),
        _c(0),
        _c(2.5),
        _c(2, 7),
        _c(7, 2, -2),
        _c(0.0, 1.0, 0.25),
        _c(5, dtype=tp.float64),
        _c(1, 4, dtype=tp.float32),
        _c(1, 2, 0.5),
        _c(-1.5, 2),
    ),
    lambda *a, dtype=None: np.arange(*a),
    _range_dtype,
)
creation(
    "linspace",
    _plain(
        _c(0, 1, 5),
        _c(-1.5, 2.5, 4),
        _c(0, 1, 1),
        _c(0, 1, 0),
        _c(1, 0, 3, dtype=tp.float64),
        _c(0, 10, 3, dtype=tp.int64),
        _c(np.array(0.5), np.array(2.0), 4),
        _c(np.array(0.5), np.array(2.0), 3, dtype=tp.float64),
    ),
    lambda a, b, n, dtype=None: np.linspace(a, b, n),
    "float32",
    missing={"empty": "bounds are 0-d", "broadcast": "bounds are 0-d"},
)
creation(
    "logspace",
    _plain(
        _c(0, 2, 5),
        _c(-1.5, 2.5, 4, 2.0),
        _c(0, 1, 1),
        _c(0, 1, 0),
        _c(1, 0, 3, 3.0, dtype=tp.float64),
        _c(0, 4, 3, dtype=tp.int64),
        _c(np.array(0.5), np.array(2.0), 4),
        _c(np.array(0.5), np.array(2.0), 3, 2.0, dtype=tp.float64),
    ),
    lambda a, b, n, base=10.0, dtype=None: np.power(base, np.linspace(a, b, n)),
    "float32",
    missing={"empty": "bounds are 0-d", "broadcast": "bounds are 0-d"},
)
creation(
    "eye",
    _plain(_c(3), _c(2, 4), _c(3, 0), _c(0), _c(2, dtype=tp.int64), _c(3, m=2)),
    lambda n, m=None, dtype=None: np.eye(n, m),
    "float32",
)
for _name, _fn in (("tril_indices", np.tril_indices), ("triu_indices", np.triu_indices)):
    creation(
        _name,
        _plain(_c(3, 4), _c(3, 4, 1), _c(4, 3, -1), _c(0, 3), _c(2, 2, dtype=tp.int32), _c(3, 3, offset=-5)),
        lambda r, k, offset=0, dtype=None, fn=_fn: np.stack(fn(r, offset, k)),
        "int64",
    )
