"""Discrete Fourier transforms."""

from . import _ops
from ._tensor import check_device

_functions = _ops.NAMESPACES.get("fft", {})
globals().update(_functions)
__all__ = sorted(_functions)


def _frequencies(name):
    function = _functions[name]

    def frequencies(n, d=1.0, *, dtype=None, device=None, requires_grad=False):
        check_device(device)
        t = function(n, d, dtype=dtype)
        return t.requires_grad_() if requires_grad else t

    frequencies.__name__ = frequencies.__qualname__ = name
    frequencies.__doc__, frequencies.__wrapped__ = function.__doc__, function
    return frequencies


fftfreq, rfftfreq = _frequencies("fftfreq"), _frequencies("rfftfreq")
