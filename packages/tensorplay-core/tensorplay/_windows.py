"""Window functions: factors that fade a frame out towards its ends.

Formulas: Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proc. IEEE 66,
1978; Kaiser and Schafer, "On the use of the I0-sinh window for spectrum analysis", IEEE Trans. ASSP-28, 1980.
"""

import math
from typing import Any

from . import _ops
from ._creation import arange
from ._dtypes import as_dtype, float64, get_default_dtype
from ._dtypes import dtype as DTypeClass
from ._tensor import Tensor, check_device

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]

_ARGUMENTS = """

window_length: how many points, 0 or more; a single point is 1. periodic: the first window_length points of the
symmetric window that has one more, so that windows in a row continue each other. dtype: floating, the default one.
Errors: ValueError for a negative length; TypeError for another dtype.
"""


def _made(name, length, periodic, formula, dtype, device, requires_grad):
    """formula(x), x running from 0 to 1 over the points."""
    check_device(device)
    d = get_default_dtype() if dtype is None else as_dtype(dtype)
    if not d.is_floating_point:
        raise TypeError(f"{name}: a floating dtype is needed, got {d.name}")
    if length < 0:
        raise ValueError(f"{name}: negative window_length {length}")
    x = arange(length, dtype=float64) / max(length if periodic else length - 1, 1)
    t = (formula(x) if length > 1 else x + 1).to(d)
    return t.requires_grad_() if requires_grad else t


def _cosines(*factors):
    return lambda x: sum(a * (2 * math.pi * k * x).cos() for k, a in enumerate(factors) if k) + factors[0]


def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: DTypeClass | None = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The triangle 1 - |2 x - 1| for x from 0 to 1."""
    return _made("bartlett_window", window_length, periodic, lambda x: 1 - (2 * x - 1).abs(), dtype, device,
                 requires_grad)  # fmt: skip


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: DTypeClass | None = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x) for x from 0 to 1."""
    return _made("blackman_window", window_length, periodic, _cosines(0.42, -0.5, 0.08), dtype, device, requires_grad)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *,
    dtype: DTypeClass | None = None, device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """alpha - beta cos(2 pi x) for x from 0 to 1."""
    return _made("hamming_window", window_length, periodic, _cosines(alpha, -beta), dtype, device, requires_grad)


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: DTypeClass | None = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """0.5 - 0.5 cos(2 pi x) for x from 0 to 1."""
    return _made("hann_window", window_length, periodic, _cosines(0.5, -0.5), dtype, device, requires_grad)


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: DTypeClass | None = None,
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """I0(beta sqrt(1 - (2 x - 1)^2)) / I0(beta) for x from 0 to 1."""

    def formula(x):
        bessel = _ops.FUNCTIONS["i0"]
        return bessel(beta * (1 - (2 * x - 1) ** 2).clamp(min=0).sqrt()) / bessel(beta + 0 * x)

    return _made("kaiser_window", window_length, periodic, formula, dtype, device, requires_grad)


for _name in __all__:
    globals()[_name].__doc__ += _ARGUMENTS
