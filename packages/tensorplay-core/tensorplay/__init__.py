# ruff: noqa: E402, I001
"""Tensors on the CPU whose function transforms live below Python.

`import tensorplay as tp` gives tensors, operators and plain autograd. `tp.func` (vmap, grad, vjp, jvp and what is made
of them), `tp.nn` and `tp.testing` come with packages of their own and are loaded when they are first used.
"""

__path__ = __import__("pkgutil").extend_path(__path__, __name__)

from math import e, inf, nan, pi

from . import _ops
from ._dtypes import (
    bfloat16, bool_, can_cast, complex64, complex128, dtype, finfo, float16, float32, float64, get_default_dtype,
    iinfo, int8, int16, int32, int64, promote_types, result_type, set_default_dtype, uint8, uint16, uint32, uint64,
)  # fmt: skip
from ._dtypes import ALIASES as _ALIASES
from ._ops import *
from ._tensor import Size, Tensor, device

_ops.install(Tensor)

from . import autograd
from ._creation import *
from ._linalg import *
from ._printing import set_printoptions
from ._random import *
from ._runtime import *
from ._sets import *
from ._shapes import *
from ._windows import *
from ._version import version as __version__
from .autograd import enable_grad, is_grad_enabled, no_grad, set_grad_enabled

bool = bool_
globals().update(_ALIASES)
newaxis = None


def is_tensor(x):
    """Whether x is a Tensor."""
    return isinstance(x, Tensor)


def is_floating_point(input):
    """Whether the dtype is float16, bfloat16, float32 or float64."""
    return input.is_floating_point()


def is_complex(input):
    """Whether the dtype is complex64 or complex128."""
    return input.is_complex()


def detach(input):
    """The same memory as a tensor that no differentiation reaches."""
    return input.detach()


def numel(input):
    """How many elements the tensor has."""
    return input.numel()


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether isclose holds for all elements, as a Python bool. RuntimeError inside a mapped function."""
    return _ops.FUNCTIONS["isclose"](input, other, rtol, atol, equal_nan).all().item()


def equal(input, other):
    """Whether shapes agree and all elements are equal, as a Python bool. RuntimeError inside a mapped function."""
    return input.shape == other.shape and (input == other).all().item()


Tensor.allclose, Tensor.equal = allclose, equal

_MODULES = {"array_api", "config", "fft", "library", "linalg", "masked", "special"}
_PACKAGES = {"func": "tensorplay-func", "nn": "tensorplay-nn", "testing": "tensorplay-testing"}


def __getattr__(name):
    if name in _MODULES or name in _PACKAGES:
        from importlib import import_module

        full = f"{__name__}.{name}"
        try:
            return import_module(full)
        except ModuleNotFoundError as error:
            if error.name != full:
                raise
            message = f"tensorplay.{name} is in a package of its own: pip install {_PACKAGES.get(name)}"
        raise ModuleNotFoundError(message, name=full)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_MODULES, *_PACKAGES})
