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
        width = [(0, 0)] * x.ndim
        width[d] = (max(before, 0), max(after, 0))
        if mode in ("constant", "circular"):  # what is cropped is gone before anything is added
            x = np.take(x, np.arange(max(-before, 0), x.shape[d] - max(-after, 0)), d)
            options = {"mode": "wrap"} if mode == "circular" else {"constant_values": 0 if value is None else value}
            x = np.pad(x, width, **options)
        else:
            x = np.pad(x, width, {"replicate": "edge"}.get(mode, mode))
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


# ---- grids ----


def _grids(rng, dtype, *shape):
    """Places away from those where the neighbours change, inside and outside."""
    return round_to(rng.choice([-1.13, -0.61, -0.23, 0.14, 0.37, 0.72, 1.09], shape), dtype)


def _grid_samples(nd):
    def samples(rng, dtype):
        size, places = ((4, 5), (3, 2)) if nd == 2 else ((3, 4, 2), (2, 1, 3))
        for mode in range(3 if nd == 2 else 2):
            for padding in range(3):
                for corners in (False, True):
                    x = make(rng, dtype, 2, 2, *size)
                    yield Sample(
                        (x, _grids(rng, dtype, 2, *places, nd), mode, padding, corners),
                        vary={1: lambda a, i: np.roll(a, i, 1)},
                        order=2 if mode != 1 else 1,
                    )
        yield sample(make(rng, dtype, 0, 2, *size), _grids(rng, dtype, 0, *places, nd), 0, 0, False)

    return samples


def _mirror(x, n, corners):
    """x reflected at the ends of 0 ... n - 1, or half an element outside them."""
    low, high = (0.0, n - 1.0) if corners else (-0.5, n - 0.5)
    if low == high:
        return 0.0
    while not low <= x <= high:
        x = 2 * low - x if x < low else 2 * high - x
    return x


def _grid_sampler(x, at, mode, padding, corners):
    size = x.shape[2:]

    def pad(v, n):
        v = _mirror(v, n, corners) if padding == 2 else v
        return v if padding == 0 else min(max(v, 0.0), n - 1.0)

    out = np.zeros((*x.shape[:2], *at.shape[1:-1]))
    for k in np.ndindex(at.shape[0], *at.shape[1:-1]):
        taps = []
        for g, n in zip(at[k][::-1], size, strict=True):
            g = float(g)
            v = (g + 1) / 2 * (n - 1) if corners else ((g + 1) * n - 1) / 2
            v = v if mode == 2 else pad(v, n)
            low = math.floor(v)
            if mode == 1:
                taps.append([(round(v), 1.0)])
            elif mode == 0:
                taps.append([(low, 1 - (v - low)), (low + 1, v - low)])
            else:
                taps.append([(round(pad(float(i), n)), float(_keys(v - i, -0.75))) for i in range(low - 1, low + 3)])
        for place in np.ndindex(*(len(t) for t in taps)):
            chosen = [t[i] for t, i in zip(taps, place, strict=True)]
            if all(0 <= i < n for (i, _), n in zip(chosen, size, strict=True)):
                weight = math.prod(w for _, w in chosen)
                out[(k[0], slice(None), *k[1:])] += weight * x[(k[0], slice(None), *(i for i, _ in chosen))]
    return out


for _nd in (2, 3):
    add(
        f"grid_sampler_{_nd}d",
        _grid_samples(_nd),
        _grid_sampler,
        dtypes=FLOATS,
        dtype="same",
        scale=20,
        refuses=False,
        missing={"0-d": "has spatial dimensions", "broadcast": "shapes belong together"},
    )
