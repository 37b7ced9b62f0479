# ruff: noqa: F403, F405
"""Norm layers."""

import numpy as np

from ._base import *

_NOTHING = {"0-d": "a norm needs dimensions", "broadcast": "the shapes must agree"}


def norm(name, samples, reference, **options):
    options.setdefault("dtypes", FLOATS)
    options.setdefault("missing", _NOTHING)
    options.setdefault("dtype", lambda n, s: n[0])
    add(f"nn.functional.{name}", samples, reference, refuses=False, scale=10, **options)


def _standard(x, axes, eps):
    x = np.asarray(x, float)
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def _channel(p, x):
    return p.reshape([-1] + [1] * (x.ndim - 2))


def _affine(y, weight, bias):
    if weight is not None:
        y = y * _channel(weight, y)
    return y if bias is None else y + _channel(bias, y)


def _trailing_samples(bias, eps):
    def samples(rng, dtype):
        def x(*shape):
            return make(rng, dtype, *shape)

        for shape, normal in (((3, 4), [4]), ((2, 3, 4), [3, 4]), ((5,), [5]), ((2, 1, 3), [3])):
            yield Sample((x(*shape), normal))
            yield Sample((x(*shape), normal, x(*normal)))
            if bias:
                yield Sample((x(*shape), normal, x(*normal), x(*normal)))
                yield Sample((x(*shape), normal), {"bias": x(*normal)})
        yield Sample((x(0, 3), [3]))
        yield Sample((x(2, 3), [2, 3], x(2, 3)), note="one row of as many dimensions")
        yield Sample((x(2, 301), [301], x(301)), grad=False, note="vector loops")
        yield Sample((x(3, 4), [4], x(4)), {"eps": eps})

    return samples


def _layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    y = _standard(x, tuple(range(-len(normalized_shape), 0)), eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _rms_norm(x, normalized_shape, weight=None, eps=None):
    axes = tuple(range(-len(normalized_shape), 0))
    y = x / np.sqrt((x * x).mean(axes, keepdims=True) + (2**-52 if eps is None else eps))
    return y if weight is None else y * weight


norm("layer_norm", _trailing_samples(True, 0.1), _layer_norm)
norm("rms_norm", _trailing_samples(False, 0.1), _rms_norm, dtypes=INEXACT)


def _group_samples(rng, dtype):
    def x(*shape):
        return make(rng, dtype, *shape)

    for shape, groups in (((2, 4, 3), 2), ((3, 4), 2), ((2, 2, 2, 3), 1), ((1, 3, 4), 3)):
        c = shape[1]
        yield Sample((x(*shape), groups))
        yield Sample((x(*shape), groups, x(c)))
        yield Sample((x(*shape), groups, x(c), x(c)))
        yield Sample((x(*shape), groups), {"bias": x(c), "eps": 0.5})
    yield Sample((x(0, 4, 3), 2))


def _group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):
    y = _standard(x.reshape(x.shape[0], num_groups, -1), 2, eps).reshape(x.shape) if x.size else x
    return _affine(y, weight, bias)


norm("group_norm", _group_samples, _group_norm)


def _statistics_samples(flag):
    def samples(rng, dtype):
        def x(*shape):
            return make(rng, dtype, *shape)

        def var(c):
            return make(rng, dtype, c, low=0.5, high=2.0)

        for shape in ((4, 3, 5), (3, 2, 2, 2), (5, 3, 2, 1, 2)):
            c = shape[1]
            yield Sample((x(*shape), None, None), {flag: True})
            yield Sample((x(*shape), None, None, x(c), x(c)), {flag: True, "eps": 0.1})
            yield Sample((x(*shape), x(c), var(c)), {flag: False})
            yield Sample((x(*shape), x(c), var(c), x(c)), {flag: False, "momentum": 0.3})
            yield Sample((x(*shape), x(c), var(c), x(c), x(c)), {flag: False, "eps": 0.1})
        yield Sample((x(0, 3, 2), x(3), var(3)), {flag: False})
        yield Sample((x(2, 3, 4), x(3), var(3)), {flag: False, "bias": x(3)})

    return samples


def _fixed(x, mean, var, eps):
    return (x - _channel(mean, x)) / np.sqrt(_channel(var, x) + eps)


def _batch_norm(x, mean, var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    axes = (0, *range(2, x.ndim))
    return _affine(_standard(x, axes, eps) if training else _fixed(x, mean, var, eps), weight, bias)


def _instance_norm(x, mean=None, var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    axes = tuple(range(2, x.ndim))
    return _affine(_standard(x, axes, eps) if use_input_stats else _fixed(x, mean, var, eps), weight, bias)


norm("batch_norm", _statistics_samples("training"), _batch_norm)
norm("instance_norm", _statistics_samples("use_input_stats"), _instance_norm)


def _response_samples(rng, dtype):
    for shape in ((2, 3, 4), (1, 5, 2, 2), (0, 3, 2)):
        if dtype == "int64" and 0 in shape:
            continue  # as it is, whole numbers
        for size in (1, 2, 3, 5):
            yield Sample((make(rng, dtype, *shape), size))
    yield Sample((make(rng, dtype, 2, 4, 3), 3), {"alpha": 0.5, "beta": 1.5, "k": 2.0})


def _response(x, size, alpha=1e-4, beta=0.75, k=1.0):
    n = x.shape[1]
    square = np.pad(x * x, [(0, 0), (size // 2, (size - 1) // 2)] + [(0, 0)] * (x.ndim - 2))
    m = sum(square[:, i : i + n] for i in range(size)) / size
    if x.dtype == np.int64:
        m = np.trunc(m)
    return x / (k + alpha * m) ** beta


norm(
    "local_response_norm",
    _response_samples,
    _response,
    dtypes=("int64", *FLOATS),
    dtype=lambda n, s: "float32" if n[0] == "int64" else n[0],
)


def _normalize_samples(rng, dtype):
    for shape in ((3, 4), (0, 3), (2, 1, 3)):
        yield Sample((make(rng, dtype, *shape, gap=0.2),))
    yield Sample((make(rng, dtype, 3, gap=0.2),), {"dim": 0})
    yield Sample((make(rng, dtype, gap=0.2),), {"dim": 0, "p": 3.0}, grad=False)
    yield Sample((make(rng, dtype, 2, 3, gap=0.2),), {"p": 3.0, "dim": -1})
    yield Sample((make(rng, dtype, 2, 3, gap=0.2),), {"p": 1.0, "eps": 100.0})


def _normalize(x, p=2.0, dim=1, eps=1e-12):
    n = np.abs(x) if x.ndim == 0 else (np.abs(x) ** p).sum(axis=dim, keepdims=True) ** (1 / p)
    return x / np.maximum(n, eps)


norm(
    "normalize",
    _normalize_samples,
    _normalize,
    dtypes=INEXACT,
    missing={"broadcast": "one tensor"},
)
