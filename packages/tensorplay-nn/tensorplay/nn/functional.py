"""Layers as functions. Kernels and rules are libtp's; this is a namespace over them."""

import tensorplay as tp
from tensorplay import _ops

globals().update(_ops.NAMESPACES.get("nn.functional", {}))

tanh, sigmoid = tp.tanh, tp.sigmoid


def _activation(name, write, compute, doc):
    def f(input, inplace=False):
        return write(input) if inplace else compute(input)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"{doc}\n\nShapes: any. inplace=True writes the result into input and returns it."
    return f


relu = _activation("relu", lambda x: x.copy_(tp.relu(x)), tp.relu, "max(x, 0), element by element; NaN stays NaN.")
silu = _activation("silu", lambda x: x.copy_(tp.silu(x)), tp.silu, "x * sigmoid(x), element by element.")


def relu_(input):
    """relu written into input."""
    return relu(input, True)


gelu, softplus = tp.gelu, tp.softplus


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where positive, negative_slope * x elsewhere; inplace=True writes into input."""
    out = tp.leaky_relu(input, negative_slope)
    return input.copy_(out) if inplace else out


def elu(input, alpha=1.0, inplace=False):
    """x where positive, alpha * (exp(x) - 1) elsewhere; inplace=True writes into input."""
    out = tp.elu(input, alpha)
    return input.copy_(out) if inplace else out


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) / sum(exp(x)) along dim (None: dimension 0 for 0-, 1- and 3-d inputs, else 1), in dtype if given."""
    return tp.softmax(input, _softmax_dim(input, dim), dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of the softmax along dim, computed without leaving the log domain."""
    return tp.log_softmax(input, _softmax_dim(input, dim), dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax of -x."""
    return softmax(-input, dim, dtype=dtype)


def _softmax_dim(input, dim):
    if dim is not None:
        return dim
    return 0 if input.ndim in (0, 1, 3) else 1
