"""Special functions."""

from . import _ops

globals().update(_ops.NAMESPACES.get("special", {}))
__all__ = sorted(_ops.NAMESPACES.get("special", {}))
