"""Layers as functions. Kernels and rules are libtp's; this is a namespace over them."""

import tensorplay as _tp
from tensorplay import _ops as _table

globals().update(_table.NAMESPACES.get("nn.functional", {}))

tanh, sigmoid = _tp.tanh, _tp.sigmoid


def _activation(name, write, compute, doc):
    def f(input, inplace=False):
        return write(input) if inplace else compute(input)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"{doc}\n\nShapes: any. inplace=True writes the result into input and returns it."
    return f


relu = _activation("relu", lambda x: x.copy_(_tp.relu(x)), _tp.relu, "max(x, 0), element by element; NaN stays NaN.")
silu = _activation("silu", lambda x: x.copy_(_tp.silu(x)), _tp.silu, "x * sigmoid(x), element by element.")


def relu_(input):
    """relu written into input."""
    return relu(input, True)


gelu, softplus = _tp.gelu, _tp.softplus


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where positive, negative_slope * x elsewhere; inplace=True writes into input."""
    out = _tp.leaky_relu(input, negative_slope)
    return input.copy_(out) if inplace else out


def elu(input, alpha=1.0, inplace=False):
    """x where positive, alpha * (exp(x) - 1) elsewhere; inplace=True writes into input."""
    out = _tp.elu(input, alpha)
    return input.copy_(out) if inplace else out


def _pool(dims):
    name = f"max_pool{dims}d"
    values, with_indices = (_table.NAMESPACES["nn.functional"][n] for n in (name, f"{name}_with_indices"))

    def pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        f = with_indices if return_indices else values
        return f(input, kernel_size, stride, padding, dilation, ceil_mode)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"{values.__doc__}\n\nreturn_indices=True: (values, indices), as {name}_with_indices."
    return pool


max_pool1d, max_pool2d, max_pool3d = _pool(1), _pool(2), _pool(3)


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
