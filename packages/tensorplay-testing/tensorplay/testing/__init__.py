"""Checks for tensor operators: those of tensorplay and your own.

    assert_close(actual, expected)           values within the tolerance of their dtype
    gradcheck(fn, inputs)                    derivatives against finite differences
    check_vmap(fn, inputs)                   vmap against a loop over the samples
    opcheck(op, samples)                     all of that for one operator, and the transforms of transforms
    opdb                                     samples and NumPy references of every operator

What differentiates or maps needs the package tensorplay-func.
"""

from ._close import assert_close
from ._gradcheck import gradcheck
from ._opcheck import CHECKS, opcheck
from ._samples import Sample
from ._version import version as __version__
from ._vmap import check_vmap

__all__ = ["CHECKS", "Sample", "assert_close", "check_vmap", "gradcheck", "opcheck", "opdb"]


def __getattr__(name):
    if name == "opdb":
        from importlib import import_module

        return import_module(f"{__name__}.opdb")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), "opdb"])
