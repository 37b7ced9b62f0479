"""The Fourier transform extension of the standard."""

import tensorplay as tp

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


def _frequencies(name):
    function = getattr(tp.fft, name)

    def frequencies(n, /, *, d=1.0, dtype=None, device=None):
        return function(n, d, dtype=dtype, device=device)

    return named(frequencies, name, f"`tensorplay.fft.{name}`.")


def _shift(name):
    function = getattr(tp.fft, name)

    def shift(x, /, *, axes=None):
        return function(array(x, name), (axes,) if isinstance(axes, int) else axes)

    return named(shift, name, f"`tensorplay.fft.{name}`.")


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    FUNCTIONS[_name] = _one(_name)
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    FUNCTIONS[_name] = _many(_name)
for _name in ("fftfreq", "rfftfreq"):
    FUNCTIONS[_name] = _frequencies(_name)
for _name in ("fftshift", "ifftshift"):
    FUNCTIONS[_name] = _shift(_name)
globals().update(FUNCTIONS)
__all__ = sorted(FUNCTIONS)


def __dir__():
    return __all__
