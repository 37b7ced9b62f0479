"""The linear algebra extension of the standard, as far as its operators exist."""

from typing import NamedTuple

import tensorplay as tp

from .._tensor import Tensor
from ._common import array, axes, together, total_dtype
from ._functions import matmul, matrix_transpose, tensordot, vecdot

FUNCTIONS = {f.__name__: f for f in (matmul, matrix_transpose, tensordot, vecdot)}


def _needs(*names):
    """Enters a function if tensorplay.linalg has these operators; else there is none."""

    def enter(function):
        if not all(hasattr(tp.linalg, n) for n in names):
            return None
        FUNCTIONS[function.__name__] = function
        return function

    return enter


class EighResult(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor


class EigResult(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor


@_needs("cholesky")
def cholesky(x, /, *, upper=False):
    """The triangular factor of positive definite matrices."""
    factor = tp.linalg.cholesky(x)
    return factor.mH if upper else factor


@_needs("cross")
def cross(x1, x2, /, *, axis=-1):
    """The cross product of vectors of three elements along an axis."""
    return tp.linalg.cross(*together("cross", x1, x2), dim=axis)


@_needs("det")
def det(x, /):
    """Determinants of matrices."""
    return tp.linalg.det(x)


@_needs()
def diagonal(x, /, *, offset=0):
    """Diagonals of matrices."""
    return tp.diagonal(array(x, "diagonal"), offset, -2, -1)


@_needs("eig")
def eig(x, /):
    """Eigenvalues and right eigenvectors."""
    return EigResult(*tp.linalg.eig(x))


@_needs("eigvals")
def eigvals(x, /):
    """Eigenvalues."""
    return tp.linalg.eigvals(x)


@_needs("eigh")
def eigh(x, /):
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices."""
    return EighResult(*tp.linalg.eigh(x))


@_needs("eigvalsh")
def eigvalsh(x, /):
    """Eigenvalues of Hermitian matrices, ascending."""
    return tp.linalg.eigvalsh(x)


@_needs("inv")
def inv(x, /):
    """Inverses of matrices."""
    return tp.linalg.inv(x)


@_needs("matrix_norm")
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Norms of matrices."""
    return tp.linalg.matrix_norm(x, ord, (-2, -1), keepdims)


@_needs("matrix_power")
def matrix_power(x, n, /):
    """Powers of matrices."""
    return tp.linalg.matrix_power(x, n)


@_needs("matrix_rank", "svdvals")
def matrix_rank(x, /, *, rtol=None):
    """How many singular values are above rtol times the largest."""
    s = tp.linalg.svdvals(x)
    if rtol is None:
        rtol = max(x.shape[-2:]) * tp.finfo(s.dtype).eps
    limit = s.amax(-1, keepdim=True) if s.shape[-1] else s.sum(-1, keepdim=True)
    if isinstance(rtol, Tensor):
        rtol = rtol.unsqueeze(-1)
    return tp.sum(s > limit * rtol, -1)


@_needs()
def outer(x1, x2, /):
    """The products of all pairs of two vectors' elements."""
    x1, x2 = together("outer", x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer: vectors are needed, got shapes {list(x1.shape)} and {list(x2.shape)}")
    return x1[:, None] * x2


@_needs("pinv")
def pinv(x, /, *, rtol=None):
    """Pseudo-inverses; singular values below rtol times the largest count as zero."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * tp.finfo(x.dtype).eps
    return tp.linalg.pinv(x, rtol=rtol)


@_needs("qr")
def qr(x, /, *, mode="reduced"):
    """Orthonormal columns and an upper triangle whose product is x."""
    return QRResult(*tp.linalg.qr(x, mode))


@_needs("slogdet")
def slogdet(x, /):
    """Sign and logarithm of the absolute value of determinants."""
    return SlogdetResult(*tp.linalg.slogdet(x))


@_needs("solve")
def solve(x1, x2, /):
    """What multiplied by x1 gives x2. A vector is a vector only if it has one dimension."""
    x1, x2 = together("solve", x1, x2)
    if x2.ndim == 1:
        return tp.linalg.solve(x1, x2[:, None])[..., 0]
    shape = tp.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    return tp.linalg.solve(x1.expand(*shape, *x1.shape[-2:]), x2.expand(*shape, *x2.shape[-2:]))


@_needs("svd")
def svd(x, /, *, full_matrices=True):
    """Singular values, and the unitary matrices on both sides of them."""
    return SVDResult(*tp.linalg.svd(x, full_matrices=full_matrices))


@_needs("svdvals")
def svdvals(x, /):
    """Singular values."""
    return tp.linalg.svdvals(x)


@_needs()
def trace(x, /, *, offset=0, dtype=None):
    """Sums of the diagonals of matrices."""
    return tp.sum(diagonal(x, offset=offset), -1, dtype=total_dtype(x, dtype))


@_needs("vector_norm")
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Norms of vectors; of all elements if axis is None."""
    if axis == ():
        return abs(x) if ord else (x != 0).to(x.abs().dtype)
    return tp.linalg.vector_norm(x, ord, axes(x, axis) if x.ndim else None, keepdims)


for _name in [n for n, f in globals().items() if f is None and not n.startswith("_")]:
    del globals()[_name]
__all__ = sorted(FUNCTIONS)


def __dir__():
    return __all__
