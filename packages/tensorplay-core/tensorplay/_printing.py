"""How tensors print: NumPy's arrays in PyTorch's words."""

import threading

import numpy as np

from ._clib import PLAIN_LEVEL, lib
from ._dtypes import DTYPES, bfloat16, bool_, complex64, float16, float32, get_default_dtype, int64
from ._tensor import Tensor, wrap


class _Options(threading.local):
    def __init__(self):
        self.precision, self.threshold, self.edgeitems, self.linewidth, self.sci_mode = 4, 1000, 3, 80, None


_options = _Options()


def set_printoptions(
    precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None,
    linewidth: int | None = None, profile: str | None = None, sci_mode: bool | None = None,
) -> None:  # fmt: skip
    """How tensors print in this thread.

    precision: digits after the point (4). threshold: elements from which on only edges are shown (1000). edgeitems: how
    many at each edge (3). linewidth: characters a line (80). sci_mode: True always uses exponents, False never, None
    where it is shorter. profile: "default", "short" or "full" sets all of them first.
    """
    profiles = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, float("inf"), 3, 80)}
    if profile is not None:
        if profile not in profiles:
            raise ValueError(f"set_printoptions: unknown profile {profile!r}: 'default', 'short' or 'full'")
        _options.precision, _options.threshold, _options.edgeitems, _options.linewidth = profiles[profile]
        _options.sci_mode = None
    for name, value in (("precision", precision), ("threshold", threshold), ("edgeitems", edgeitems),
                        ("linewidth", linewidth)):  # fmt: skip
        if value is not None:
            setattr(_options, name, value)
    if sci_mode is not None:
        _options.sci_mode = sci_mode


def _values(t, prefix):
    """The elements of a plain tensor as nested brackets, lines aligned behind prefix."""
    d = DTYPES[lib.tp_tensor_dtype(t._h)]
    if d in (float16, bfloat16):  # print as the decimals of their value in single precision
        t = wrap(lib.tp_cast(t._h, float32.code))
    a = t.detach().numpy()
    if not a.size:
        return "[]" if a.ndim else ""
    options = dict(
        precision=_options.precision, threshold=min(_options.threshold, 1 << 62), edgeitems=_options.edgeitems,
        linewidth=_options.linewidth,
    )  # fmt: skip
    formatter = None
    if a.dtype.kind in "fc" and _options.sci_mode is not None:
        style = f"{{:.{_options.precision}{'e' if _options.sci_mode else 'f'}}}"
        formatter = {"float_kind": style.format, "complex_kind": style.format}
    with np.printoptions(legacy=False, **options):
        return np.array2string(a, separator=", ", prefix=prefix, formatter=formatter)


def _dtype_suffix(d):
    implied = {get_default_dtype(), int64, bool_}
    if get_default_dtype() is float32:
        implied.add(complex64)
    return "" if d in implied else f", dtype={d!r}"


def _plain(t, name, suffix):
    prefix = name + "("
    text = _values(t, prefix)
    d = DTYPES[lib.tp_tensor_dtype(t._h)]
    parts = ""
    if not lib.tp_numel(t._h):
        if t.ndim != 1:
            parts += f", size={tuple(t.shape)}"
        if d is not get_default_dtype():
            parts += f", dtype={d!r}"
    else:
        parts += _dtype_suffix(d)
    return prefix + text + parts + suffix + ")"


def tensor_repr(t):
    """repr(t). A tensor inside a transform shows its level and what it holds."""
    cls = type(t)
    name = "tensor"
    suffix = ""
    if cls is not Tensor:
        extra = getattr(t, "_repr_name", None)
        name = extra() if callable(extra) else cls.__name__
    h = t._h
    kind = lib.tp_level_kind_of(h)
    if kind == lib.TP_LEVEL_NONE:
        return _plain(t, name, suffix)
    level = lib.tp_level_of(h)
    value = wrap(lib.tp_unwrap_one(h))
    if kind == lib.TP_LEVEL_REVERSE:
        if level == PLAIN_LEVEL and lib.tp_level_kind_of(value._h) == lib.TP_LEVEL_NONE:
            return _plain(value, name, _autograd_suffix(t))
        return f"TrackedTensor(level={level}, value={_indent(value)})"
    if kind == lib.TP_LEVEL_VMAP:
        return f"BatchedTensor(level={level}, bdim={lib.tp_batch_dim(h, level)}, value={_indent(value)})"
    lib.tp_error_clear()
    tangent = lib.tp_forward_tangent(h, level)
    shown = _indent(wrap(tangent)) if tangent else "unknown" if lib.tp_error_code() else "zero"
    lib.tp_error_clear()
    return f"DualTensor(level={level}, primal={_indent(value)}, tangent={shown})"


def _indent(t):
    return repr(t).replace("\n", "\n    ")


def _autograd_suffix(t):
    made_by = t.grad_fn
    return f", grad_fn={made_by!r}" if made_by else ", requires_grad=True" if lib.tp_requires_grad(t._h) else ""
