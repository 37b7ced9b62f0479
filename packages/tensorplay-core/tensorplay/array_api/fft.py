"""The Fourier transform extension of the standard, as far as its operators exist."""

import tensorplay as tp

from .._dtypes import get_default_dtype
from .._tensor import check_device
from ._common import array, named

FUNCTIONS = {}


def _one(name):
    function = getattr(tp.fft, name)

    def transform(x, /, *, n=None, axis=-1, norm="backward"):
        return function(array(x, name), n, axis, norm)

    return named(transform, name, f"`tensorplay.fft.{name}` along an axis.")


def _many(name):
    function = getattr(tp.fft, name)

    def transform(x, /, *, s=None, axes=None, norm="backward"):
        return function(array(x, name), s, axes, norm)

    return named(transform, name, f"`tensorplay.fft.{name}` along several axes.")


def _frequencies(name, half):
    def frequencies(n, /, *, d=1.0, dtype=None, device=None):
        check_device(device)
        positive = n // 2 + 1 if half else (n + 1) // 2
        k = tp.arange(positive, dtype=tp.float64)
        if not half:
            k = tp.cat([k, tp.arange(-(n // 2), 0, dtype=tp.float64)])
        return (k / (n * d)).to(get_default_dtype() if dtype is None else dtype)

    return named(
        frequencies, name, f"The frequencies of the elements of {'r' if half else ''}fft for n samples d apart."
    )


def _shift(name, sign):
    def shift(x, /, *, axes=None):
        dims = range(array(x, name).ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
        dims = tuple(dims)
        halves = [x.shape[d] // 2 if sign > 0 else (x.shape[d] + 1) // 2 for d in dims]
        return tp.roll(x, halves, dims) if dims else x

    return named(shift, name, "Moves the zero frequency to the middle." if sign > 0 else "Undoes fftshift.")


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    if hasattr(tp.fft, _name):
        FUNCTIONS[_name] = _one(_name)
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    if hasattr(tp.fft, _name):
        FUNCTIONS[_name] = _many(_name)
FUNCTIONS["fftfreq"], FUNCTIONS["rfftfreq"] = _frequencies("fftfreq", False), _frequencies("rfftfreq", True)
FUNCTIONS["fftshift"], FUNCTIONS["ifftshift"] = _shift("fftshift", 1), _shift("ifftshift", -1)
globals().update(FUNCTIONS)
__all__ = sorted(FUNCTIONS)


def __dir__():
    return __all__
