"""The Python array API standard, 2024.12, over Tensors: what `Tensor.__array_namespace__()` returns.

A thin layer of the standard's names, signatures and rules of promotion over the operators of `tensorplay`; every
function works under every transform. Where it differs from the functions of `tensorplay`: arrays without dimensions
promote like others, sums of unsigned integers stay unsigned, and arguments are called as the standard calls them.
Slices with a negative step are refused by Tensors; `flip` reverses.

A function whose operator does not exist is not here: `hasattr` says what there is.
"""

from .. import e, inf, nan, newaxis, pi
from .._dtypes import bool_ as bool
from .._dtypes import (
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from . import _elementwise, _functions
from ._info import Info as _Info

__array_api_version__ = "2024.12"
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")

_MODULES = {"fft", "linalg"}


def __array_namespace_info__():
    """What this namespace can do: capabilities, devices and dtypes."""
    return _Info()


_TABLES = (_elementwise.FUNCTIONS, _functions.FUNCTIONS)
for _table in _TABLES:
    globals().update({name: f for name, f in _table.items() if f is not None})

__all__ = [
    "__array_api_version__", "__array_namespace_info__", "bool", "complex128", "complex64", "e", "fft", "float32",
    "float64", "inf", "int16", "int32", "int64", "int8", "linalg", "nan", "newaxis", "pi", "uint16", "uint32", "uint64",
    "uint8",
]  # fmt: skip
__all__ = sorted({*__all__, *(name for table in _TABLES for name, f in table.items() if f is not None)})


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
