"""Discrete Fourier transforms."""

from . import _ops

globals().update(_ops.NAMESPACES.get("fft", {}))
__all__ = sorted(_ops.NAMESPACES.get("fft", {}))
