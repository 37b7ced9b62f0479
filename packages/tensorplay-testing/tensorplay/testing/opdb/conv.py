# ruff: noqa: F403, F405
"""Convolutions and their adjoints."""

import itertools

import numpy as np

from ._base import *


def _each(value, n):
    return (value,) * n if isinstance(value, int) else tuple(value) * (n if len(value) == 1 else 1)


def _batched(fn):
    """fn of [N, C, ...] also for [C, ...]."""

    def reference(x, w, b=None, *args, **kwargs):
        if x.ndim == w.ndim - 1:
            return fn(x[None], w, b, *args, **kwargs)[0]
        return fn(x, w, b, *args, **kwargs)

    return reference


@_batched
def conv(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
    """Sums over the places of the kernel, of shifted input."""
    n = w.ndim - 2
    stride, dilation = _each(stride, n), _each(dilation, n)
    if padding == "valid":
        padding = 0
    if padding == "same":
        total = [d * (k - 1) for d, k in zip(dilation, w.shape[2:])]
        pads = [(t // 2, t - t // 2) for t in total]
    else:
        pads = [(p, p) for p in _each(padding, n)]
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    sizes = [(s - d * (k - 1) - 1) // t + 1 for s, d, k, t in zip(x.shape[2:], dilation, w.shape[2:], stride)]
    out = np.zeros((x.shape[0], w.shape[0], *sizes), np.result_type(x, w))
    k_out, c_in = w.shape[0] // groups, w.shape[1]
    for at in itertools.product(*map(range, w.shape[2:])):
        part = x[(..., *(slice(i * d, i * d + t * (m - 1) + 1, t) for i, d, t, m in zip(at, dilation, stride, sizes)))]
        for g in range(groups):
            ks, cs = slice(g * k_out, (g + 1) * k_out), slice(g * c_in, (g + 1) * c_in)
            out[:, ks] += np.einsum("nc...,kc->nk...", part[:, cs], w[(ks, slice(None), *at)])
    return out if b is None else out + b.reshape(-1, *([1] * n))


@_batched
def conv_transpose(x, w, b=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """Adds each input element, times the kernel, to its places in the output."""
    n = w.ndim - 2
    stride, padding, dilation = _each(stride, n), _each(padding, n), _each(dilation, n)
    more = _each(output_padding, n)
    sizes = [
        (s - 1) * t + d * (k - 1) + 1 + o for s, t, d, k, o in zip(x.shape[2:], stride, dilation, w.shape[2:], more)
    ]
    k_out, c_in = w.shape[1], w.shape[0] // groups
    out = np.zeros((x.shape[0], k_out * groups, *sizes), np.result_type(x, w))
    for at in itertools.product(*map(range, w.shape[2:])):
        places = tuple(
            slice(i * d, i * d + t * (s - 1) + 1, t) for i, d, t, s in zip(at, dilation, stride, x.shape[2:])
        )
        for g in range(groups):
            ks, cs = slice(g * k_out, (g + 1) * k_out), slice(g * c_in, (g + 1) * c_in)
            out[(slice(None), ks, *places)] += np.einsum("nc...,ck->nk...", x[:, cs], w[(cs, slice(None), *at)])
    out = out[(..., *(slice(p, m - p) for p, m in zip(padding, sizes)))]
    return out if b is None else out + b.reshape(-1, *([1] * n))


_SPATIAL = {1: (5,), 2: (5, 4), 3: (3, 4, 3)}
_KERNEL = {1: (3,), 2: (3, 2), 3: (2, 2, 2)}


def _conv_samples(n):
    space, kernel = _SPATIAL[n], _KERNEL[n]
    last = tuple(range(1, n + 1))

    def samples(rng, dtype):
        def draw(c=2, k=3, groups=1, batch=(2,), size=space, bias=True):
            x = make(rng, dtype, *batch, c, *size)
            w = make(rng, dtype, k, c // groups, *kernel)
            return (x, w, make(rng, dtype, k)) if bias else (x, w)

        yield Sample(draw())
        yield Sample(draw(bias=False))
        yield Sample(draw(batch=()))
        yield Sample((*draw(), 2, 1))
        yield Sample((*draw(), last, (1,) * n))
        yield Sample(draw(bias=False), {"dilation": 2, "padding": 2})
        yield Sample(draw(c=4, k=4, groups=2), {"groups": 2})
        yield Sample(draw(c=2, k=4, groups=2, batch=(1,)), {"groups": 2, "stride": 2, "padding": 1})
        yield Sample(draw(), {"padding": "same"})
        yield Sample((*draw(), 2, "valid"))
        yield Sample(draw(c=4, k=2, groups=2), {"padding": "same", "dilation": 2, "groups": 2})
        yield Sample(draw(batch=(0,)))

    return samples


def _transpose_samples(n):
    space, kernel = _SPATIAL[n], _KERNEL[n]

    def samples(rng, dtype):
        def draw(c=2, k=3, groups=1, batch=(2,), bias=True):
            x = make(rng, dtype, *batch, c, *(max(s - 2, 1) for s in space))
            w = make(rng, dtype, c, k // groups, *kernel)
            return (x, w, make(rng, dtype, k)) if bias else (x, w)

        yield Sample(draw())
        yield Sample(draw(bias=False))
        yield Sample(draw(batch=()))
        yield Sample((*draw(), 2, 1, 1))
        yield Sample(draw(bias=False), {"dilation": 2, "padding": 1})
        yield Sample(draw(c=4, k=4, groups=2), {"groups": 2})
        yield Sample(draw(c=2, k=4, groups=2, batch=(1,)), {"groups": 2, "stride": 2, "output_padding": 1})
        yield Sample(draw(batch=(0,)))

    return samples


_RANK = {"0-d": "needs channels"}
for _n in (1, 2, 3):
    _options = dict(dtypes=NUMBERS, scale=30, missing=_RANK)
    add(f"nn.functional.conv{_n}d", _conv_samples(_n), conv, **_options)
    add(f"nn.functional.conv_transpose{_n}d", _transpose_samples(_n), conv_transpose, **_options)


def _convolution_samples(rng, dtype):
    for n in (1, 2):
        x, w = make(rng, dtype, 2, 2, *_SPATIAL[n]), make(rng, dtype, 2, 2, *_KERNEL[n])
        one, zero = [1] * n, [0] * n
        yield Sample((x, w, make(rng, dtype, 2), one, one, one, False, zero, 1))
        yield Sample((x, w, None, [2] * n, zero, one, False, zero, 1))
        yield Sample((x, w, make(rng, dtype, 2), [2] * n, one, one, True, one, 1))
    yield Sample((make(rng, dtype, 0, 2, 5), make(rng, dtype, 2, 2, 3), None, [1], [0], [1], False, [0], 1))


def _convolution(x, w, b, stride, padding, dilation, transposed, output_padding, groups):
    if transposed:
        return conv_transpose(x, w, b, stride, padding, output_padding, groups, dilation)
    return conv(x, w, b, stride, padding, dilation, groups)


add("convolution", _convolution_samples, _convolution, dtypes=NUMBERS, scale=30, missing=_RANK)
