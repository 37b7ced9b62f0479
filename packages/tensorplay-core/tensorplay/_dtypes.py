"""Element types: dtype objects, their limits, and the rules of promotion."""

from typing import Any

import numpy as np

from ._clib import ffi, lib, raise_error

__all__ = [
    "dtype", "finfo", "iinfo", "promote_types", "result_type", "can_cast", "get_default_dtype", "set_default_dtype",
]  # fmt: skip


class dtype:
    """An element type, for example `tensorplay.float32`.

    Attributes: name, itemsize (bytes), is_floating_point, is_complex, is_signed. There is one object for each type:
    compare with `is` or `==`.
    """

    name: str
    code: int
    itemsize: int
    is_floating_point: bool
    is_complex: bool
    is_signed: bool

    __slots__ = ("name", "code", "itemsize", "is_floating_point", "is_complex", "is_signed", "_numpy", "_typestr")

    def __init__(self, *args, **kwargs):
        raise TypeError("dtype: use the existing ones, for example tensorplay.float32")

    def __repr__(self):
        return "tensorplay." + self.name

    def __reduce__(self):
        return _by_name, (self.name,)

    def to_complex(self) -> "dtype":
        """complex64 for half and single precision, complex128 for float64; a complex dtype itself."""
        return self if self.is_complex else complex128 if self is float64 else complex64

    def to_real(self) -> "dtype":
        """The dtype of the real part."""
        return {complex64: float32, complex128: float64}.get(self, self)

    @property
    def numpy(self) -> np.dtype:
        """The numpy.dtype of the same name. TypeError for bfloat16, which NumPy does not have."""
        if self._numpy is None:
            raise TypeError(f"{self!r} has no NumPy dtype: convert to float32 first")
        return self._numpy


def _by_name(name):
    return _NAMES[name]


def _make(code):
    self = object.__new__(dtype)
    self.name = ffi.string(lib.tp_dtype_name(code)).decode()
    self.code = code
    self.itemsize = lib.tp_dtype_size(code)
    self.is_floating_point = lib.tp_dtype_is_floating(code)
    self.is_complex = lib.tp_dtype_is_complex(code)
    self.is_signed = not (self.name == "bool" or self.name.startswith("uint"))
    self._numpy = None if self.name == "bfloat16" else np.dtype(self.name)
    self._typestr = self._numpy and self._numpy.str
    return self


DTYPES = tuple(_make(code) for code in range(lib.TP_DTYPE_COUNT))
(
    bool_, uint8, int8, uint16, int16, uint32, int32, uint64, int64, float16, bfloat16, float32, float64, complex64,
    complex128,
) = DTYPES  # fmt: skip
ALIASES = {
    "half": float16, "float": float32, "double": float64, "cfloat": complex64, "cdouble": complex128,
    "short": int16, "int": int32, "long": int64,
}  # fmt: skip
_NAMES = {d.name: d for d in DTYPES}
_CODES = {d: d.code for d in DTYPES}
_CODES[None] = lib.TP_DTYPE_NONE
_NUMPY = {d._numpy: d for d in DTYPES if d._numpy is not None}


def as_dtype(d: Any) -> dtype:
    """A dtype from a dtype, a NumPy dtype or scalar type, or bool, int, float, complex. TypeError otherwise."""
    if type(d) is dtype:
        return d
    if d is bool:
        return bool_
    if d is int:
        return int64
    if d is float:
        return get_default_dtype()
    if d is complex:
        return get_default_dtype().to_complex()
    if isinstance(d, np.dtype) or (isinstance(d, type) and issubclass(d, np.generic)):
        return from_numpy_dtype(np.dtype(d))
    raise TypeError(f"dtype: expected a tensorplay dtype, got {d!r}")


def dtype_code(d):
    """The number libtp knows a dtype by; that of TP_DTYPE_NONE for None."""
    try:
        return _CODES[d]
    except (KeyError, TypeError):
        return as_dtype(d).code


def from_numpy_dtype(d, what="from_numpy"):
    """The dtype of a NumPy dtype. TypeError where there is none, ValueError for a foreign byte order."""
    found = _NUMPY.get(d)
    if found is not None:
        return found
    if d.kind in "biufc" and not d.isnative:
        raise ValueError(f"{what}: the byte order is not this machine's: use a.astype(a.dtype.newbyteorder('='))")
    for known in _NUMPY:  # long and long long are distinct types of one size
        if known.kind == d.kind and known.itemsize == d.itemsize and d.kind in "iu":
            return _NUMPY[known]
    raise TypeError(f"{what}: no tensor dtype for NumPy dtype {d}")


def get_default_dtype() -> dtype:
    """The dtype that Python floats become: float32 unless set_default_dtype was called."""
    return DTYPES[lib.tp_get_default_dtype()]


def set_default_dtype(d: Any) -> None:
    """Sets the dtype that Python floats become. ValueError unless it is a floating dtype."""
    if lib.tp_set_default_dtype(dtype_code(d)):
        raise_error()


def promote_types(type1: Any, type2: Any) -> dtype:
    """The smallest dtype that both convert to. float16 and bfloat16 meet in float32, integer and float in the float."""
    return DTYPES[lib.tp_promote_types(dtype_code(type1), dtype_code(type2))]


_RANK = {"b": 0, "i": 1, "f": 2, "c": 3}


def _category(d):
    return 0 if d is bool_ else 3 if d.is_complex else 2 if d.is_floating_point else 1


def can_cast(from_: Any, to: Any) -> bool:
    """Whether converting keeps the category (bool < integer < float < complex; signed does not fit unsigned)."""
    from_, to = as_dtype(from_), as_dtype(to)
    a, b = _category(from_), _category(to)
    return a <= b and not (a == b == 1 and from_.is_signed and not to.is_signed)


def result_type(*operands: Any) -> dtype:
    """The dtype that an operator of these operands computes in.

    Operands are tensors, NumPy arrays, numbers or dtypes. Tensors with dimensions decide; a tensor without
    dimensions or a Python number counts only where its category (bool, integer, float, complex) is higher.
    """
    from ._tensor import Tensor

    groups = [None, None, None]  # with dimensions, without, numbers
    for x in operands:
        if isinstance(x, Tensor):
            place, d = (0 if lib.tp_ndim(x._h) else 1), DTYPES[lib.tp_tensor_dtype(x._h)]
        elif isinstance(x, np.ndarray):
            place, d = (0 if x.ndim else 1), from_numpy_dtype(x.dtype, "result_type")
        elif isinstance(x, (bool, np.bool_)):
            place, d = 2, bool_
        elif isinstance(x, (float, np.floating)):
            place, d = 2, get_default_dtype()
        elif isinstance(x, (complex, np.complexfloating)):
            place, d = 2, get_default_dtype().to_complex()
        elif type(x) is dtype or isinstance(x, (type, np.dtype)):
            place, d = 0, as_dtype(x)
        else:
            if not hasattr(x, "__index__"):
                raise TypeError(f"result_type: {type(x).__name__} has no dtype")
            place, d = 2, int64
        groups[place] = d if groups[place] is None else promote_types(groups[place], d)
    best = None
    for d in groups:
        if d is None:
            continue
        if best is None:
            best = d
        elif _category(d) > _category(best):
            if d.is_complex and best.is_floating_point:
                d = best.to_complex() if groups[2] is d else promote_types(d, best)
            best = d
    if best is None:
        raise ValueError("result_type: at least one operand is needed")
    return best


class finfo:
    """Limits of a floating dtype: bits, eps, max, min, tiny, smallest_normal, resolution (Python floats).

    For a complex dtype they are those of its parts. TypeError for other dtypes.
    """

    def __init__(self, type=None):
        d = as_dtype(get_default_dtype() if type is None else type)
        d = d.to_real()
        if not d.is_floating_point:
            raise TypeError(f"finfo: expected a floating dtype, got {d!r}")
        self.dtype = d.name
        self.bits = d.itemsize * 8
        if d is bfloat16:
            self.eps, self.max, self.tiny = 2.0**-7, (2 - 2.0**-7) * 2.0**127, 2.0**-126
            self.resolution = 0.01
        else:
            info = np.finfo(d._numpy)
            self.eps, self.max, self.tiny = float(info.eps), float(info.max), float(info.tiny)
            self.resolution = float(info.resolution)
        self.min, self.smallest_normal = -self.max, self.tiny

    def __repr__(self):
        return (
            f"finfo(resolution={self.resolution}, min={self.min}, max={self.max}, eps={self.eps}, "
            f"smallest_normal={self.smallest_normal}, dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer dtype: bits, min, max. TypeError for other dtypes."""

    def __init__(self, type):
        d = as_dtype(type)
        if not lib.tp_dtype_is_integral(d.code):
            raise TypeError(f"iinfo: expected an integer dtype, got {d!r}")
        self.dtype = d.name
        self.bits = d.itemsize * 8
        self.min = -(1 << (self.bits - 1)) if d.is_signed else 0
        self.max = (1 << (self.bits - d.is_signed)) - 1

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
