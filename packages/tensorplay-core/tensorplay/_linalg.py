"""Linear algebra whose number of results depends on an argument."""

from typing import Any

from . import _ops
from ._tensor import Tensor

__all__ = ["lu"]


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """L and U of matrices [..., m, n] in one tensor, and the exchanges of rows [..., k] of int32, counted from 1.

    As linalg.lu_factor_ex, with info [...] of int32 as a third result if get_infos; no error for a singular matrix.
    """
    factors, pivots, info = _ops.NAMESPACES["linalg"]["lu_factor_ex"](A, pivot=pivot)
    return (factors, pivots, info) if get_infos else (factors, pivots)


Tensor.lu = lu
