"""Python numbers as `tp_scalar` and back."""

from ._clib import lib

_BOOL, _INT, _UINT = lib.TP_SCALAR_BOOL, lib.TP_SCALAR_INT, lib.TP_SCALAR_UINT
_FLOAT, _COMPLEX = lib.TP_SCALAR_FLOAT, lib.TP_SCALAR_COMPLEX


def fill_scalar(s, x):
    """Writes a bool, int, float or complex to a tp_scalar. OverflowError for an int beyond 64 bits."""
    if isinstance(x, bool):
        s.tag, s.v.i = _BOOL, x
    elif isinstance(x, int):
        if -(1 << 63) <= x < 1 << 63:
            s.tag, s.v.i = _INT, x
        elif 0 <= x < 1 << 64:
            s.tag, s.v.u = _UINT, x
        else:
            raise OverflowError(f"the integer {x if abs(x) < 1 << 200 else '...'} does not fit in 64 bits")
    elif isinstance(x, float):
        s.tag, s.v.f = _FLOAT, x
    else:
        s.tag, s.v.c[0], s.v.c[1] = _COMPLEX, x.real, x.imag


def read_scalar(s):
    """The bool, int, float or complex that a tp_scalar holds."""
    tag = s.tag
    if tag == _FLOAT:
        return s.v.f
    if tag == _INT:
        return s.v.i
    if tag == _BOOL:
        return s.v.i != 0
    if tag == _UINT:
        return s.v.u
    return complex(s.v.c[0], s.v.c[1])
