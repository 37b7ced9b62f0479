"""Layers as functions. Kernels and rules are libtp's; this is a namespace over them."""

import inspect as _inspect
import math as _math

import tensorplay as _tp
from tensorplay import _ops as _table

from . import _fractional, _functional, _heads

_nn = _table.NAMESPACES["nn.functional"]
globals().update(_nn)

tanh, sigmoid = _tp.tanh, _tp.sigmoid
one_hot, embedding, embedding_bag = _functional.one_hot, _functional.embedding, _functional.embedding_bag
ctc_loss, gaussian_nll_loss = _functional.ctc_loss, _functional.gaussian_nll_loss
triplet_margin_with_distance_loss = _functional.triplet_margin_with_distance_loss
multi_head_attention_forward = _heads.multi_head_attention_forward
scaled_dot_product_attention = _heads.scaled_dot_product_attention


def _in_place(name, *parameters, compute=None):
    """A function of input, the parameters (name, default) and inplace; and its form that always writes."""
    compute = compute or globals()[name]
    names = [p[0] for p in parameters]

    def f(input, *args, inplace=False, **kwargs):
        if len(args) > len(names):
            *args, inplace = args
        out = compute(input, *args, **kwargs)
        return input.copy_(out) if inplace else out

    def written(input, *args, **kwargs):
        return f(input, *args, inplace=True, **kwargs)

    P = _inspect.Parameter
    values = [P("input", P.POSITIONAL_OR_KEYWORD)]
    values += [P(p[0], P.POSITIONAL_OR_KEYWORD, default=p[1] if len(p) > 1 else P.empty) for p in parameters]
    written.__signature__ = _inspect.Signature(values)
    f.__signature__ = _inspect.Signature([*values, P("inplace", P.POSITIONAL_OR_KEYWORD, default=False)])
    f.__name__ = f.__qualname__ = name
    written.__name__ = written.__qualname__ = name + "_"
    f.__doc__ = f"{compute.__doc__}\n\ninplace=True writes the result into input and returns it."
    written.__doc__ = f"{name} written into input."
    return f, written


relu, relu_ = _in_place("relu", compute=_tp.relu)
silu, silu_ = _in_place("silu", compute=_tp.silu)
leaky_relu, leaky_relu_ = _in_place("leaky_relu", ("negative_slope", 0.01), compute=_tp.leaky_relu)
elu, elu_ = _in_place("elu", ("alpha", 1.0), compute=_tp.elu)
hardtanh, hardtanh_ = _in_place("hardtanh", ("min_val", -1.0), ("max_val", 1.0))
relu6, relu6_ = _in_place("relu6")
hardswish, hardswish_ = _in_place("hardswish")
hardsigmoid, hardsigmoid_ = _in_place("hardsigmoid")
celu, celu_ = _in_place("celu", ("alpha", 1.0))
selu, selu_ = _in_place("selu")
mish, mish_ = _in_place("mish")
threshold, threshold_ = _in_place("threshold", ("threshold",), ("value",))
gelu, softplus = _tp.gelu, _tp.softplus


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """x where positive, a * x elsewhere; a is drawn between lower and upper in training, else it is their mean.

    A floating dtype. Errors: ValueError unless lower <= upper. Source: Xu, Wang, Chen and Li (2015).
    """
    if not lower <= upper:
        raise ValueError(f"rrelu: lower {lower} exceeds upper {upper}")
    if training:
        slope = lower + (upper - lower) * _tp.rand(input.shape, dtype=input.dtype)
        out = _tp.where(input > 0, input, input * slope)
    else:
        out = _tp.leaky_relu(input, (lower + upper) / 2)
    return input.copy_(out) if inplace else out


def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """rrelu written into input."""
    return rrelu(input, lower, upper, training, True)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """softmax((logits + g) / tau) along dim, g drawn from the Gumbel distribution for each element.

    hard=True: one-hot at the largest, with the derivative of the soft values. eps is not used. Source: Jang, Gu and
    Poole (2017).
    """
    # 1 - u lies in (0, 1]; the least positive number keeps both logarithms finite
    u = (1 - _tp.rand(logits.shape, dtype=logits.dtype)).clamp(_tp.finfo(logits.dtype).tiny, 1 - 2**-24)
    soft = _tp.softmax((logits - (-u.log()).log()) / tau, dim)
    if not hard:
        return soft
    index = soft.argmax(dim, keepdim=True)
    return _tp.zeros_like(soft).scatter(dim, index, 1.0) - soft.detach() + soft


def _alpha_dropout(name, input, p, training, inplace, shape):
    if not 0 <= p <= 1:
        raise ValueError(f"{name}: p must lie between 0 and 1, got {p}")
    if not training or p == 0:
        return input
    if p == 1:
        out = input * 0.0
    else:
        low = -1.7580993408473766  # what selu tends to, far below zero
        scale = ((1 - p) * (1 + p * low * low)) ** -0.5
        keep = _tp.rand(shape, dtype=input.dtype) >= p
        out = _tp.where(keep, input, low) * scale - scale * low * p
    return input.copy_(out) if inplace else out


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Sets elements to selu's limit with probability p and keeps mean 0 and variance 1.

    Errors: ValueError unless p lies between 0 and 1. Source: Klambauer, Unterthiner, Mayr and Hochreiter (2017).
    """
    return _alpha_dropout("alpha_dropout", input, p, training, inplace, input.shape)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels of [N, C, ...]."""
    shape = (*input.shape[:2], *(1 for _ in input.shape[2:]))
    return _alpha_dropout("feature_alpha_dropout", input, p, training, inplace, shape)


def _sizes(input, output_size, dims):
    """output_size with input's sizes in place of None."""
    if isinstance(output_size, (tuple, list)) and None in output_size:
        if len(output_size) != dims:
            output_size = tuple(output_size) * dims if len(output_size) == 1 else output_size
        sizes = input.shape[input.ndim - dims :]
        output_size = tuple(n if s is None else s for s, n in zip(output_size, sizes, strict=True))
    return output_size


def _adaptive(dims):
    name = f"adaptive_avg_pool{dims}d"
    compute = _nn[name]

    def pool(input, output_size):
        return compute(input, _sizes(input, output_size, dims))

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"{compute.__doc__}\n\nNone in output_size stands for input's size."
    return pool


def _adaptive_max(dims):
    name = f"adaptive_max_pool{dims}d"
    values, with_indices = (_nn[n] for n in (name, f"{name}_with_indices"))

    def pool(input, output_size, return_indices=False):
        return (with_indices if return_indices else values)(input, _sizes(input, output_size, dims))

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = (
        f"{values.__doc__}\n\nNone in output_size stands for input's size. return_indices=True: (values, indices), as "
        f"{name}_with_indices."
    )
    return pool


adaptive_avg_pool2d, adaptive_avg_pool3d = _adaptive(2), _adaptive(3)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = map(_adaptive_max, (1, 2, 3))
fractional_max_pool2d, fractional_max_pool3d = _fractional.pool(2), _fractional.pool(3)
fractional_max_pool2d_with_indices = _fractional.pool(2, True)
fractional_max_pool3d_with_indices = _fractional.pool(3, True)


def _pool(dims):
    name = f"max_pool{dims}d"
    values, with_indices = (_nn[n] for n in (name, f"{name}_with_indices"))

    def pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        f = with_indices if return_indices else values
        return f(input, kernel_size, stride, padding, dilation, ceil_mode)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"{values.__doc__}\n\nreturn_indices=True: (values, indices), as {name}_with_indices."
    return pool


max_pool1d, max_pool2d, max_pool3d = _pool(1), _pool(2), _pool(3)


_RESAMPLE = {"nearest": "nearest", "nearest-exact": "nearest-exact", "linear": "linear", "bilinear": "linear",
             "trilinear": "linear", "bicubic": "cubic"}  # fmt: skip
_DIMS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}


def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """Resamples the spatial dimensions of [N, C, ...] to `size`, or to floor(size * scale_factor).

    mode: "nearest", "nearest-exact" and "area" (means over windows) for 1 to 3 dimensions; "linear" for one, "bilinear"
    and "bicubic" for two, "trilinear" for three. align_corners (the four last): the corner elements keep their places.
    recompute_scale_factor: the ratio of the sizes is used, not scale_factor. antialias ("bilinear", "bicubic"): the
    filter is widened where the result is smaller. nn.functional.interpolate_dim says how elements are found.

    Errors: ValueError unless one of size and scale_factor is given, with one number or one for each dimension, for a
    mode that does not exist or does not fit the number of dimensions, and for options that it does not have.
    """
    dims = input.ndim - 2
    if mode != "area" and mode not in _RESAMPLE:
        raise ValueError(f"interpolate: mode {mode!r} is none of {', '.join(_RESAMPLE)}, area")
    if dims < 1 or _DIMS.get(mode, dims) != dims:
        raise ValueError(f"interpolate: mode {mode!r} does not fit input of shape {list(input.shape)}")
    if align_corners is not None and mode not in _DIMS:
        raise ValueError(f"interpolate: align_corners is for {', '.join(_DIMS)}, not for mode {mode!r}")
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(f"interpolate: antialias is for bilinear and bicubic, not for mode {mode!r}")
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: one of size and scale_factor must be given")
    if recompute_scale_factor and size is not None:
        raise ValueError("interpolate: recompute_scale_factor needs scale_factor, not size")

    def each(x, name):
        x = tuple(x) if isinstance(x, (tuple, list)) else (x,) * dims
        if len(x) != dims:
            raise ValueError(f"interpolate: {name} has {len(x)} entries for {dims} spatial dimensions")
        return x

    scales = (None,) * dims
    if size is None:
        given = each(scale_factor, "scale_factor")
        size = tuple(int(_math.floor(n * float(f))) for n, f in zip(input.shape[2:], given, strict=True))
        if not recompute_scale_factor:
            scales = given
    else:
        size = each(size, "size")
    if mode == "area":
        return globals()[f"adaptive_avg_pool{dims}d"](input, size)
    out = input
    for d, (n, scale) in enumerate(zip(size, scales, strict=True)):
        out = _nn["interpolate_dim"](
            out, d + 2, n, mode=_RESAMPLE[mode], scale=scale, align_corners=bool(align_corners), antialias=antialias
        )
    return out


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Elements of [N, C, H, W] or [N, C, D, H, W] at places between them, which a grid [N, ..., 2 or 3] names.

    A place is (x, y) or (x, y, z), each from -1 to 1 across the image; align_corners=True: between the centres of the
    corner elements, otherwise between the edges. mode: "bilinear", "nearest", and "bicubic" for images. padding_mode:
    outside there are "zeros", the element at the "border", or a "reflection". Differentiable in input and grid. Errors:
    ValueError for other modes; RuntimeError for shapes that do not fit; TypeError unless both have one floating dtype.
    """
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    if mode not in modes or (mode == "bicubic" and input.ndim == 5):
        raise ValueError(f"grid_sample: mode {mode!r} is none of {', '.join(modes[: 5 - max(input.ndim - 2, 2)])}")
    if padding_mode not in paddings:
        raise ValueError(f"grid_sample: padding_mode {padding_mode!r} is none of {', '.join(paddings)}")
    sample = _tp.grid_sampler_3d if input.ndim == 5 else _tp.grid_sampler_2d
    return sample(input, grid, modes.index(mode), paddings.index(padding_mode), bool(align_corners))


def affine_grid(theta, size, align_corners=None):
    """The grid for grid_sample of affine maps: theta [N, 2, 3] and size (N, C, H, W) to [N, H, W, 2], or [N, 3, 4] and
    (N, C, D, H, W) to [N, D, H, W, 3].

    The places of the output, as grid_sample has them, are mapped by theta, whose last column is the shift. A floating
    dtype. Errors: ValueError for other dtypes, other shapes of theta and a size below 1; NotImplementedError unless
    size has 4 or 5 entries.
    """
    size = tuple(size)
    if not theta.is_floating_point():
        raise ValueError(f"affine_grid: theta must be floating, got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(f"affine_grid: size must have 4 or 5 entries, got {list(size)}")
    if theta.shape[-2:] != (dims, dims + 1) or theta.ndim != 3 or theta.shape[0] != size[0]:
        raise ValueError(
            f"affine_grid: theta must have shape [{size[0]}, {dims}, {dims + 1}] for size {list(size)}, got "
            f"{list(theta.shape)}"
        )
    if min(size) < 1:
        raise ValueError(f"affine_grid: size must be positive, got {list(size)}")
    axes = []
    for n in size[2:]:
        # corner elements at -1 and 1, or the edges there and the elements half a step inside
        at = 1.0 if align_corners else (n - 1) / n
        axes.append(_tp.linspace(-at if n > 1 else 0.0, at, n, dtype=theta.dtype))
    places = [*_tp.meshgrid(*axes, indexing="ij")][::-1]
    places = _tp.stack([*places, _tp.ones_like(places[0])], -1).reshape(-1, dims + 1)
    return (places @ theta.transpose(-2, -1)).reshape(size[0], *size[2:], dims)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """interpolate under its older name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate with mode "nearest"."""
    return interpolate(input, size, scale_factor)


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate with mode "bilinear" and align_corners=True."""
    return interpolate(input, size, scale_factor, "bilinear", True)


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) / sum(exp(x)) along dim (None: dimension 0 for 0-, 1- and 3-d inputs, else 1), in dtype if given."""
    return _tp.softmax(input, _softmax_dim(input, dim), dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of the softmax along dim, computed without leaving the log domain."""
    return _tp.log_softmax(input, _softmax_dim(input, dim), dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax of -x."""
    return softmax(-input, dim, dtype=dtype)


def _softmax_dim(input, dim):
    if dim is not None:
        return dim
    return 0 if input.ndim in (0, 1, 3) else 1
