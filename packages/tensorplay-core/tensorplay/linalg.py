"""Linear algebra: norms, products and decompositions."""

from . import _ops
from ._clib import LinAlgError

globals().update(_ops.NAMESPACES.get("linalg", {}))
__all__ = ["LinAlgError", *sorted(_ops.NAMESPACES.get("linalg", {}))]
