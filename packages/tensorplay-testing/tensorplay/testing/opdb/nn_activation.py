# ruff: noqa: F403, F405
"""Activations of nn.functional."""

import numpy as np

from ._base import *
from .elementwise import _same_ratio
from .maths import _bent, _with


def activation(name, reference, *options, dtypes=FLOATS, **more):
    more.setdefault("dtype", "same")
    add(f"nn.functional.{name}", _with(_bent, *options), reference, dtypes=dtypes, refuses=False, scale=10, **more)


def _hardtanh(a, min_val=-1.0, max_val=1.0):
    return np.where(a <= min_val, min_val, np.where(a >= max_val, max_val, a))


def _elu(a, alpha):
    return np.where(a > 0, a, alpha * np.expm1(np.minimum(a, 0)))


def _celu(a, alpha=1.0):
    return np.where(a > 0, a, alpha * np.expm1(np.minimum(a, 0) / alpha))


def _hardswish(a):
    return a * np.clip(a + 3, 0, 6) / 6


activation("hardtanh", _hardtanh, {"min_val": -0.7}, {"min_val": -0.6, "max_val": 1.6})
activation("relu6", lambda a: np.where(a <= 0, 0, np.where(a >= 6, 6, a)))
activation("hardsigmoid", lambda a: _hardtanh(a + 3, 0, 6) / 6)
activation("hardswish", _hardswish)
activation("celu", _celu, {"alpha": 0.5})
activation("selu", lambda a: 1.0507009873554805 * _elu(a, 1.6732632423543772))
activation("logsigmoid", lambda a: -np.logaddexp(0, -a))
activation("mish", lambda a: a * np.tanh(np.logaddexp(0, a)))
activation("softsign", lambda a: a / (1 + np.abs(a)), dtypes=INTEGERS + FLOATS + COMPLEX, dtype="float")
activation("tanhshrink", lambda a: a - np.tanh(a), dtypes=FLOATS + COMPLEX, dtype="float")


def _threshold(a, threshold, value):
    return np.where(a <= threshold, value, a)


def _threshold_samples(rng, dtype):
    keep = {0: _same_ratio(1)}
    for shape in SHAPES:
        yield Sample((make(rng, dtype, *shape, gap=0.2), 0.1, -1.5), vary=keep)


def _softshrink(a, lambd=0.5):
    return a - np.clip(a, -lambd, lambd)


def _hardshrink(a, lambd=0.5):
    return np.where(np.abs(a) <= lambd, 0, a)


add("nn.functional.threshold", _threshold_samples, _threshold, dtypes=FLOATS, dtype="same", refuses=False)
activation("softshrink", _softshrink, {"lambd": 0.13})
activation("hardshrink", _hardshrink, {"lambd": 0.13})


def _prelu_samples(rng, dtype):
    for shape, n in (((3, 4), 4), ((), 1), ((0, 3), 3), ((2, 1, 3), 1), ((2, 3, 2), 3)):
        yield Sample((make(rng, dtype, *shape, gap=0.2), make(rng, dtype, n)), vary={0: _same_ratio(1)})
    yield Sample((make(rng, dtype, 3, gap=0.2), make(rng, dtype)), vary={0: _same_ratio(1)})


def _prelu(a, w):
    return np.where(a > 0, a, a * (w.reshape([-1] + [1] * (a.ndim - 2)) if a.ndim > 1 else w.reshape(())))


add(
    "nn.functional.prelu",
    _prelu_samples,
    _prelu,
    dtypes=FLOATS,
    dtype="same",
    refuses=False,
    missing={"broadcast": "the slopes belong to channels"},
)


def _glu_samples(rng, dtype):
    for shape, dim in (((3, 4), None), ((2, 1, 6), -1), ((4, 3), 0), ((0, 2), 1)):
        yield Sample((make(rng, dtype, *shape),), {} if dim is None else {"dim": dim})


def _glu(a, dim=-1):
    x, y = np.split(a, 2, axis=dim)
    return x / (1 + np.exp(-y))


add(
    "nn.functional.glu",
    _glu_samples,
    _glu,
    dtypes=FLOATS,
    dtype="same",
    refuses=False,
    missing={"0-d": "needs a dimension"},
)
