# ruff: noqa: F403, F405
"""Padding, resampling, windows as columns, shuffles of channels."""

import math

import numpy as np

from ._base import *

_NO_BROADCAST = {"broadcast": "one tensor"}


def enter(name, samples, reference, **options):
    options.setdefault("dtype", "same")
    options.setdefault("missing", {"0-d": "has no dimension to work on"})
    add(f"nn.functional.{name}", samples, reference, **options)


# ---- padding ----


def _pad_samples(rng, dtype):
    x = make(rng, dtype, 2, 3, 4, 5)
    for pad in ([1, 2], [1, 2, 0, 3], [2, 1, 1, 1, 1, 2], [-1, 2, 1, -1], [-2, -1], []):
        yield sample(x, pad)
    yield sample(x, [3, 4, 2, 3], "reflect")
    yield sample(x, [3, 4, 2, 6], "replicate")
    yield sample(x, [5, 4, 2, 4], "circular")
    for mode in ("reflect", "replicate", "circular"):
        yield sample(x, [2, -1, -1, 2], mode)
        yield sample(make(rng, dtype, 5), [1, 0], mode)
    yield sample(x, [1, 2, -1, 1], "constant", 1)
    yield sample(x, [1, 0], "constant", True if dtype == "bool" else 3)
    yield sample(make(rng, dtype, 0, 3), [1, 1], value=2)
    yield sample(make(rng, dtype), [])


def _pad(x, pad, mode="constant", value=None):
    for k in range(len(pad) // 2):
        d, (before, after) = x.ndim - 1 - k, pad[2 * k : 2 * k + 2]
        n = x.shape[d]
        if mode == "constant":
            low, high = max(-before, 0), n - max(-after, 0)
            x = np.take(x, np.arange(low, high), d)
            grow = (max(before, 0), max(after, 0))
        else:
            grow = (max(before, 0), max(after, 0))
        width = [(0, 0)] * x.ndim
        width[d] = grow
        options = {"constant_values": 0 if value is None else value} if mode == "constant" else {}
        x = np.pad(
            x, width, {"constant": "constant", "replicate": "edge", "circular": "wrap"}.get(mode, mode), **options
        )
        if mode != "constant":
            x = np.take(x, np.arange(max(-before, 0), x.shape[d] - max(-after, 0)), d)
    return x


enter("pad", _pad_samples, _pad, missing={})


# ---- resampling ----


def _resample_samples(rng, dtype):
    yield sample(make(rng, dtype, 2, 5, 3), 1, 8)
    yield sample(make(rng, dtype, 2, 5), -1, 3)
    yield sample(make(rng, dtype, 4), 0, 6, mode="nearest-exact")
    yield sample(make(rng, dtype, 0, 4), 1, 6)
    yield sample(make(rng, dtype, 5), 0, 8, scale=1.7)
    if dtype in INEXACT:
        for mode in ("linear", "cubic"):
            yield sample(make(rng, dtype, 2, 5, 3), 1, 8, mode=mode)
            yield sample(make(rng, dtype, 5, 2), 0, 8, mode=mode, align_corners=True)
            yield sample(make(rng, dtype, 2, 9), 1, 4, mode=mode, scale=0.45)
            yield sample(make(rng, dtype, 2, 11), 1, 4, mode=mode, antialias=True)
            yield sample(make(rng, dtype, 2, 4), 1, 7, mode=mode, antialias=True)
            yield sample(make(rng, dtype, 1), 0, 3, mode=mode)
            yield sample(make(rng, dtype, 3), 0, 1, mode=mode, align_corners=True)


def _keys(t, a):
    """The convolution kernel of Keys (1981)."""
    t = np.abs(t)
    near = (a + 2) * t**3 - (a + 3) * t**2 + 1
    far = a * (t**3 - 5 * t**2 + 8 * t - 4)
    return np.where(t <= 1, near, np.where(t < 2, far, 0))


def _resample(x, dim, size, mode="nearest", scale=None, align_corners=False, antialias=False):
    n = x.shape[dim]
    step = n / size if scale is None else 1 / scale
    out = np.arange(size)
    if mode.startswith("nearest"):
        at = np.floor((out + (0.5 if mode == "nearest-exact" else 0)) * step).astype(int)
        return np.take(x, np.clip(at, 0, n - 1), dim)
    if align_corners:
        step = (n - 1) / (size - 1) if size > 1 else 0.0
    at = out * step if align_corners else (out + 0.5) * step - 0.5
    weights = np.zeros((size, n))
    if antialias:
        wide = max(step, 1)
        t = (np.arange(n) - at[:, None]) / wide
        weights = np.maximum(1 - np.abs(t), 0) if mode == "linear" else _keys(t, -0.5)
        weights /= weights.sum(1, keepdims=True)
    else:
        for o in out:
            low = math.floor(at[o])
            for i in range(low - 1, low + 3):
                w = _keys(at[o] - i, -0.75) if mode == "cubic" else max(1 - abs(at[o] - i), 0)
                weights[o, min(max(i, 0), n - 1)] += w
    return np.moveaxis(np.tensordot(weights, x, (1, dim)), 0, dim)


enter("interpolate_dim", _resample_samples, _resample)


# ---- windows as columns ----


def _unfold_samples(rng, dtype):
    yield sample(make(rng, dtype, 2, 3, 5, 6), 3)
    yield sample(make(rng, dtype, 3, 5, 6), [2, 3], padding=1)
    yield sample(make(rng, dtype, 1, 2, 6, 7), [2, 3], [2, 1], [1, 2], [2, 3])
    yield sample(make(rng, dtype, 0, 2, 4, 4), 2)


def _pairs(*xs):
    return [tuple(x) if isinstance(x, (list, tuple)) else (x, x) for x in xs]


def _windows(kernel_size, dilation, padding, stride, size):
    """(row, column) slices of a padded image, one for each window."""
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = _pairs(kernel_size, dilation, padding, stride)
    for i in range(0, size[0] + 2 * ph - dh * (kh - 1), sh):
        for j in range(0, size[1] + 2 * pw - dw * (kw - 1), sw):
            yield slice(i, i + dh * (kh - 1) + 1, dh), slice(j, j + dw * (kw - 1) + 1, dw)


def _unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    (ph, pw) = _pairs(padding)[0]
    y = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(ph, ph), (pw, pw)])
    rows = math.prod(x.shape[-3:-2]) * math.prod(_pairs(kernel_size)[0])
    columns = [
        y[..., r, c].reshape(*x.shape[:-3], rows)
        for r, c in _windows(kernel_size, dilation, padding, stride, x.shape[-2:])
    ]
    return np.stack(columns, -1)


enter("unfold", _unfold_samples, _unfold)


def _fold_samples(rng, dtype):
    yield sample(make(rng, dtype, 2, 12, 12), [4, 5], 2)
    yield sample(make(rng, dtype, 8, 20), [4, 5], 2, padding=[1, 0])
    yield sample(make(rng, dtype, 1, 12, 9), [6, 7], [2, 3], [2, 1], [1, 2], [2, 4])
    yield sample(make(rng, dtype, 0, 4, 9), 4, 2)


def _fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    size, (kh, kw), (ph, pw) = _pairs(output_size, kernel_size, padding)
    channels = x.shape[-2] // (kh * kw)
    out = np.zeros((*x.shape[:-2], channels, size[0] + 2 * ph, size[1] + 2 * pw), x.dtype)
    for k, (r, c) in enumerate(_windows(kernel_size, dilation, padding, stride, size)):
        out[..., r, c] += x[..., k].reshape(*x.shape[:-2], channels, kh, kw)
    return out[..., ph : ph + size[0], pw : pw + size[1]]


enter("fold", _fold_samples, _fold)


# ---- shuffles ----


def _shapes(*calls):
    return lambda rng, dtype: [sample(make(rng, dtype, *shape), n) for shape, n in calls]


def _shuffle(x, r):
    *batch, k, h, w = x.shape
    out = np.empty((*batch, k // (r * r), h * r, w * r), x.dtype)
    for i in range(r):
        for j in range(r):
            out[..., i::r, j::r] = x[..., i * r + j :: r * r, :, :]
    return out


def _unshuffle(x, r):
    *batch, k, h, w = x.shape
    out = np.empty((*batch, k * r * r, h // r, w // r), x.dtype)
    for i in range(r):
        for j in range(r):
            out[..., i * r + j :: r * r, :, :] = x[..., i::r, j::r]
    return out


def _channels(x, groups):
    out = np.empty_like(x)
    per = x.shape[1] // groups
    for g in range(groups):
        out[:, g::groups] = x[:, g * per : (g + 1) * per]
    return out


enter(
    "pixel_shuffle",
    _shapes(((2, 8, 3, 2), 2), ((9, 1, 2), 3), ((2, 2, 4, 1, 2), 2), ((0, 4, 2, 2), 2), ((4, 2, 2), 1)),
    _shuffle,
)
enter("pixel_unshuffle", _shapes(((2, 2, 4, 6), 2), ((1, 3, 6), 3), ((0, 2, 4, 4), 2), ((4, 2, 2), 1)), _unshuffle)
enter("channel_shuffle", _shapes(((2, 6, 3), 2), ((2, 6, 2, 2), 3), ((0, 4, 2), 2), ((2, 4, 2), 4)), _channels)
