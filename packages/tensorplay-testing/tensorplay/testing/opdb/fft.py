# ruff: noqa: F403, F405
"""Fourier transforms; the reference is the sum of the definition, in extended precision."""

import numpy as np

from ._base import *

FLOATING = ("float32", "float64")
SIGNALS = BOOL + INTEGERS + FLOATING + COMPLEX
REALS = BOOL + INTEGERS + FLOATING
SCALES = {"backward": (0, 1), None: (0, 1), "ortho": (0.5, 0.5), "forward": (1, 0)}


def _sized(x, axis, n):
    x = np.moveaxis(np.asarray(x), axis, -1)
    x = x[..., :n] if x.shape[-1] >= n else np.concatenate([x, np.zeros((*x.shape[:-1], n - x.shape[-1]))], -1)
    return np.moveaxis(x, -1, axis)


def _sum(x, axis, n, sign):
    """sum over m of x[m] exp(sign 2 pi i k m / n), each angle made of its exact fraction of a turn."""
    k = np.arange(n)
    angle = 2 * np.arccos(np.longdouble(-1)) * ((k[:, None] * k) % n).astype(np.longdouble) / n
    matrix = np.cos(angle) + 1j * sign * np.sin(angle)
    return np.moveaxis(np.moveaxis(x, axis, -1) @ matrix, -1, axis)


def _hermitian(x, axis, n):
    """The n points of which the n // 2 + 1 first are given."""
    x = np.moveaxis(_sized(x, axis, n // 2 + 1), axis, -1).astype(np.clongdouble)
    x[..., 0] = x[..., 0].real
    if n % 2 == 0:
        x[..., -1] = x[..., -1].real
    tail = np.conj(x[..., 1 : (n + 1) // 2][..., ::-1])
    return np.moveaxis(np.concatenate([x, tail], -1), -1, axis)


def _transform(kind, x, sizes, axes, norm):
    x = np.asarray(x).astype(np.clongdouble)
    inverse = kind.startswith("i")
    halved_out, halved_in = kind in ("rfft", "ihfft"), kind in ("irfft", "hfft")
    total = 1
    for i, axis in enumerate(axes):
        last = i == len(axes) - 1
        have = x.shape[axis]
        n = sizes[i] if sizes[i] != -1 else 2 * (have - 1) if halved_in and last else have
        total *= n
        if halved_in and last:
            continue
        x = _sum(_sized(x, axis, n), axis, n, 1 if inverse else -1)
    if halved_in:
        x = _sum(_hermitian(x, axes[-1], n), axes[-1], n, 1 if inverse else -1).real
    if halved_out:
        x = np.moveaxis(np.moveaxis(x, axes[-1], -1)[..., : n // 2 + 1], -1, axes[-1])
    power = SCALES[norm][inverse]
    return x / np.longdouble(total) ** np.longdouble(power)


def _result(kind):
    def rule(names, s):
        x = names[0] if names[0] in INEXACT else "float32"
        single = x in ("float32", "complex64")
        if kind in ("irfft", "hfft"):
            return "float32" if single else "float64"
        return "complex64" if single else "complex128"

    return rule


def _one(kind):
    def samples(rng, dtype):
        for shape, dim in (((8,), -1), ((2, 3, 7), 1), ((4, 5), 0), ((3, 12), -1), ((0, 4), 1), ((2, 37), -1)):
            yield sample(make(rng, dtype, *shape), dim=dim)
        yield sample(make(rng, dtype, 3, 6), n=9, norm="ortho")
        yield sample(make(rng, dtype, 3, 9), n=4, norm="forward")
        yield sample(make(rng, dtype, 2, 5), 5, 0, "backward")
        yield sample(make(rng, dtype, 3), n=1)

    def reference(x, n=None, dim=-1, norm=None):
        return _transform(kind, x, [-1 if n is None else n], [dim], norm)

    return samples, reference


def _many(kind):
    def samples(rng, dtype):
        if kind in ("fft", "ifft"):
            yield sample(make(rng, dtype))
        for shape in ((6,), (3, 5), (2, 3, 5), (4, 2, 2, 3)):
            yield sample(make(rng, dtype, *shape))
        yield sample(make(rng, dtype, 2, 0, 3), dim=(0, 2))
        yield sample(make(rng, dtype, 3, 4, 5), dim=(2, 0), norm="ortho")
        yield sample(make(rng, dtype, 3, 4, 5), s=(4, -1), norm="forward")
        yield sample(make(rng, dtype, 3, 4, 5), (6, 3), (0, 1), "backward")

    def reference(x, s=None, dim=None, norm=None):
        axes = dim if dim is not None else range(x.ndim - len(s), x.ndim) if s is not None else range(x.ndim)
        return _transform(kind, x, s if s is not None else [-1] * len(axes), list(axes), norm)

    return samples, reference


def _two(kind):
    def samples(rng, dtype):
        for shape in ((3, 5), (2, 5, 3)):
            yield sample(make(rng, dtype, *shape))
        yield sample(make(rng, dtype, 2, 0, 3), dim=(0, 2))
        yield sample(make(rng, dtype, 3, 4, 5), dim=(2, 0), norm="ortho")
        yield sample(make(rng, dtype, 3, 4, 5), (6, 3), (0, 1), "forward")

    def reference(x, s=None, dim=(-2, -1), norm=None):
        return _transform(kind, x, s if s is not None else [-1] * 2, list(dim), norm)

    return samples, reference


for _kind in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _takes = REALS if _kind in ("rfft", "ihfft") else SIGNALS
    for _suffix, _make in (("", _one), ("2", _two), ("n", _many)):
        _missing = {} if _suffix == "n" and _kind in ("fft", "ifft") else {"0-d": "there is no dimension to transform"}
        add(f"fft.{_kind}{_suffix}", *_make(_kind), dtypes=_takes, dtype=_result(_kind), scale=4, missing=_missing)


def _shift_samples(rng, dtype):
    yield sample(make(rng, dtype))
    for shape in ((5,), (4, 3), (0, 3)):
        yield sample(make(rng, dtype, *shape))
    yield sample(make(rng, dtype, 5, 4, 3), dim=(0, 2))


def _shift(sign):
    def reference(x, dim=None):
        axes = range(x.ndim) if dim is None else dim
        return np.roll(x, [sign * (x.shape[d] // 2) for d in axes], list(axes)) if x.ndim else x

    return reference


add("fft.fftshift", _shift_samples, _shift(1), dtype="same")
add("fft.ifftshift", _shift_samples, _shift(-1), dtype="same")


def _frequency_samples(rng, dtype):
    for n in (1, 4, 7):
        yield sample(n, d=0.25, dtype=getattr(tp, dtype))
    yield sample(6, dtype=getattr(tp, dtype))


add("fft.fftfreq", _frequency_samples, lambda n, d=1.0, dtype=None: np.fft.fftfreq(n, d), dtypes=FLOATS, grad=(),
    dtype=lambda names, s: s.kwargs["dtype"].name, missing={"0-d": "no tensor", "empty": "no tensor"})  # fmt: skip
add("fft.rfftfreq", _frequency_samples, lambda n, d=1.0, dtype=None: np.fft.rfftfreq(n, d), dtypes=FLOATS, grad=(),
    dtype=lambda names, s: s.kwargs["dtype"].name, missing={"0-d": "no tensor", "empty": "no tensor"})  # fmt: skip


# ---- short-time transforms ----


def _wide(window, length, n):
    left = (n - length) // 2
    return np.pad(np.ones(length) if window is None else np.asarray(window), (left, n - length - left))


def _stft(x, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False,
          onesided=None, return_complex=None):  # fmt: skip
    hop, length = hop_length or n_fft // 4, win_length or n_fft
    x = np.asarray(x)
    if center:
        mode = {"constant": "constant", "reflect": "reflect"}[pad_mode]
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)], mode=mode)
    frames = np.stack([x[..., i : i + n_fft] for i in range(0, x.shape[-1] - n_fft + 1, hop)], -2)
    half = onesided if onesided is not None else not (np.iscomplexobj(x) or np.iscomplexobj(window))
    y = np.fft.fft(frames * _wide(window, length, n_fft), norm="ortho" if normalized else None)
    y = np.swapaxes(y[..., : n_fft // 2 + 1] if half else y, -1, -2)
    return np.stack([y.real, y.imag], -1) if return_complex is False else y


def _stft_dtype(names, s):
    parts = [n if n in INEXACT else "float32" for n in names]
    single = all(n in ("float32", "complex64") for n in parts)
    if s.kwargs.get("return_complex") is False:
        return "float32" if single else "float64"
    return "complex64" if single else "complex128"


def _stft_samples(rng, dtype):
    window_dtype = dtype if dtype in FLOATING + COMPLEX else "float32"
    real = dtype not in COMPLEX
    yield sample(make(rng, dtype, 16), 8)
    yield sample(make(rng, dtype, 2, 15), 6, hop_length=2, pad_mode="constant", normalized=True)
    yield sample(make(rng, dtype, 2, 12), 5, hop_length=3, win_length=4, window=make(rng, window_dtype, 4, gap=0.3),
                 center=False)  # fmt: skip
    yield sample(make(rng, dtype, 12), 8, hop_length=4, window=make(rng, window_dtype, 8, gap=0.3), onesided=False)
    yield sample(make(rng, dtype, 12), 4, hop_length=4, onesided=real, return_complex=False)


add("stft", _stft_samples, _stft, dtypes=SIGNALS, dtype=_stft_dtype, scale=8,
    missing={"0-d": "a signal has a dimension", "empty": "a frame has points"})  # fmt: skip


def _istft(x, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None,
           length=None, return_complex=False):  # fmt: skip
    hop, wide = hop_length or n_fft // 4, _wide(window, win_length or n_fft, n_fft)
    frames, norm = np.swapaxes(np.asarray(x), -1, -2), "ortho" if normalized else None
    y = np.fft.ifft(frames, norm=norm) if return_complex else np.fft.irfft(
        frames[..., : n_fft // 2 + 1], n=n_fft, norm=norm)  # fmt: skip
    count = y.shape[-2]
    total = n_fft + hop * (count - 1)
    out = np.zeros((*y.shape[:-2], total), np.result_type(y, wide))
    envelope = np.zeros(total, wide.dtype)
    for i in range(count):
        out[..., i * hop : i * hop + n_fft] += y[..., i, :] * wide
        envelope[i * hop : i * hop + n_fft] += wide**2
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    out = out[..., start:end] / envelope[start:end]
    missing = end - start - out.shape[-1]
    return np.pad(out, [(0, 0)] * (out.ndim - 1) + [(0, missing)])


def _istft_samples(rng, dtype):
    part = "float32" if dtype == "complex64" else "float64"
    window = make(rng, part, 8, low=0.5, high=1.5)
    yield sample(make(rng, dtype, 5, 4), 8)
    yield sample(make(rng, dtype, 2, 8, 4), 8, hop_length=3, window=window, onesided=False)
    yield sample(make(rng, dtype, 2, 5, 4), 8, hop_length=3, window=window, normalized=True, onesided=True)
    yield sample(make(rng, dtype, 6, 3), 10, hop_length=2, win_length=8, window=window, length=7)
    yield sample(make(rng, dtype, 6, 3), 6, hop_length=2, center=False, length=12, onesided=False, return_complex=True)


add("istft", _istft_samples, _istft, dtypes=COMPLEX, scale=16,
    dtype=lambda names, s: names[0] if s.kwargs.get("return_complex") else to_real(names[0]),
    missing={"0-d": "frames have dimensions", "empty": "a frame has points"})  # fmt: skip
