"""`__array_namespace_info__`: what the standard lets one ask."""

from .. import _dtypes
from .._dtypes import get_default_dtype
from .._tensor import CPU, check_device

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]
_ALL = _KINDS["bool"] + _KINDS["numeric"]


class Info:
    """Answers of this namespace."""

    def capabilities(self):
        """What depends on the implementation."""
        from .._clib import lib

        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": lib.TP_MAX_NDIM}

    def default_device(self):
        """The CPU."""
        return CPU

    def default_dtypes(self, *, device=None):
        """The dtypes that functions choose."""
        check_device(device)
        d = get_default_dtype()
        return {
            "real floating": d,
            "complex floating": d.to_complex(),
            "integral": _dtypes.int64,
            "indexing": _dtypes.int64,
        }

    def devices(self):
        """All devices: the CPU."""
        return [CPU]

    def dtypes(self, *, device=None, kind=None):
        """The dtypes by name; of a kind, or of several in a tuple. ValueError for an unknown kind."""
        check_device(device)
        names = _ALL
        if kind is not None:
            kinds = kind if isinstance(kind, tuple) else (kind,)
            for k in kinds:
                if k not in _KINDS:
                    raise ValueError(f"dtypes: unknown kind {k!r}")
            names = [n for n in _ALL if any(n in _KINDS[k] for k in kinds)]
        return {n: getattr(_dtypes, n + "_" if n == "bool" else n) for n in names}
