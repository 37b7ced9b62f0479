"""Element-wise functions."""

import tensorplay as tp

from .._tensor import Tensor, operand
from ._common import array, named, together

_UNARY = {
    "abs": "abs", "acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh", "atan": "atan", "atanh": "atanh",
    "bitwise_invert": "bitwise_not", "ceil": "ceil", "conj": "conj", "cos": "cos", "cosh": "cosh", "exp": "exp",
    "expm1": "expm1", "floor": "floor", "imag": "imag", "isfinite": "isfinite", "isinf": "isinf", "isnan": "isnan",
    "log": "log", "log10": "log10", "log1p": "log1p", "log2": "log2", "logical_not": "logical_not", "negative": "neg",
    "real": "real", "reciprocal": "reciprocal", "round": "round", "signbit": "signbit", "sin": "sin", "sinh": "sinh",
    "sqrt": "sqrt", "square": "square", "tan": "tan", "tanh": "tanh", "trunc": "trunc",
}  # fmt: skip
_BINARY = {
    "add": "add", "atan2": "atan2", "bitwise_and": "bitwise_and", "bitwise_left_shift": "bitwise_left_shift",
    "bitwise_or": "bitwise_or", "bitwise_right_shift": "bitwise_right_shift", "bitwise_xor": "bitwise_xor",
    "copysign": "copysign", "divide": "div", "equal": "eq", "floor_divide": "floor_divide", "greater": "gt",
    "greater_equal": "ge", "hypot": "hypot", "less": "lt", "less_equal": "le", "logaddexp": "logaddexp",
    "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor", "maximum": "maximum",
    "minimum": "minimum", "multiply": "mul", "nextafter": "nextafter", "not_equal": "ne", "pow": "pow",
    "remainder": "remainder", "subtract": "sub",
}  # fmt: skip


def _unary(name, target):
    function = getattr(tp, target, None)
    if function is None:
        return None

    def unary(x, /):
        return function(array(x, name))

    return named(unary, name, f"`tensorplay.{target}`, element by element.")


def _binary(name, target):
    function = getattr(tp, target, None)
    if function is None:
        return None

    def binary(x1, x2, /):
        return function(*together(name, x1, x2))

    return named(binary, name, f"`tensorplay.{target}`, element by element. One of the operands may be a number.")


FUNCTIONS = {n: _unary(n, t) for n, t in _UNARY.items()}
FUNCTIONS.update({n: _binary(n, t) for n, t in _BINARY.items()})


def positive(x, /):
    """A copy of x."""
    return array(x, "positive").clone()


def sign(x, /):
    """-1, 0 or 1; for complex x / abs(x), or 0."""
    return (tp.sgn if array(x, "sign").is_complex() else tp.sign)(x)


def clip(x, /, min=None, max=None):
    """x limited to what lies between min and max, in the dtype of x; None is no limit."""
    out = array(x, "clip")
    for bound, function in ((min, tp.maximum), (max, tp.minimum)):
        if bound is None:
            continue
        if not isinstance(bound, Tensor):
            bound = operand(bound)
            if bound is None:
                raise TypeError("clip: a bound must be a number or an array")
            out = tp.clamp(out, **{"min" if function is tp.maximum else "max": bound.item()})
            continue
        out = function(*together("clip", out, bound))
    return out.to(x.dtype) if out is not x else x.clone()


FUNCTIONS.update(positive=positive, sign=sign, clip=clip)
