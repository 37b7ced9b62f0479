"""Reductions and normalisations over the elements that a mask marks.

A mask is a bool tensor that broadcasts to the input; without one every element counts. What a mask leaves out does not
show in the result: a reduction of nothing is the identity of its operation, or NaN where there is none.
"""

from . import _ops

globals().update(_ops.NAMESPACES.get("masked", {}))
__all__ = sorted(_ops.NAMESPACES.get("masked", {}))
