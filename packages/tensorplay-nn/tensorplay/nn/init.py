"""Initialisers: each writes into a tensor without recording it, and returns it."""

import math

import tensorplay as tp

_GAINS = {
    "linear": 1.0, "identity": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0), "selu": 0.75,
}  # fmt: skip


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps variances through a nonlinearity; param is the slope of "leaky_relu" (0.01)."""
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else float(param)
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"calculate_gain: unknown nonlinearity {nonlinearity!r}")
    return _GAINS[nonlinearity]


def _fans(tensor, what):
    if tensor.ndim < 2:
        raise ValueError(f"{what}: at least two dimensions are needed, got shape {list(tensor.shape)}")
    field = tensor[0, 0].numel() if tensor.shape[0] and tensor.shape[1] else 1
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_fan_in_and_fan_out(tensor):
    return _fans(tensor, "fan_in and fan_out")


def _write(tensor, values):
    with tp.no_grad():
        tensor.copy_(values)
    return tensor


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform in [a, b)."""
    return _write(tensor, tp.rand(tensor.shape, dtype=_draw(tensor), generator=generator) * (b - a) + a)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal with the given mean and standard deviation."""
    return _write(tensor, tp.randn(tensor.shape, dtype=_draw(tensor), generator=generator) * std + mean)


def _draw(tensor):
    return tp.float64 if tensor.dtype == tp.float64 else tp.float32


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal, drawn again where a value falls outside [a, b]."""
    values = tp.randn(tensor.shape, dtype=tp.float64, generator=generator) * std + mean
    outside = (values < a) | (values > b)
    while bool(outside.any()):
        again = tp.randn(tensor.shape, dtype=tp.float64, generator=generator) * std + mean
        values = tp.where(outside, again, values)
        outside = (values < a) | (values > b)
    return _write(tensor, values)


def constant_(tensor, val):
    """Every element val."""
    with tp.no_grad():
        tensor.fill_(val)
    return tensor


def zeros_(tensor):
    """Zeros."""
    return constant_(tensor, 0.0)


def ones_(tensor):
    """Ones."""
    return constant_(tensor, 1.0)


def eye_(tensor):
    """The identity matrix; two dimensions."""
    if tensor.ndim != 2:
        raise ValueError(f"eye_: two dimensions are needed, got shape {list(tensor.shape)}")
    return _write(tensor, tp.eye(*tensor.shape, dtype=tensor.dtype))


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform in +-gain * sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010)."""
    i, o = _fans(tensor, "xavier_uniform_")
    bound = gain * math.sqrt(6.0 / (i + o)) if i + o else 0.0
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal with standard deviation gain * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio 2010)."""
    i, o = _fans(tensor, "xavier_normal_")
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / (i + o)) if i + o else 0.0, generator)


def _kaiming_std(tensor, a, mode, nonlinearity, what):
    i, o = _fans(tensor, what)
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"{what}: mode must be 'fan_in' or 'fan_out', got {mode!r}")
    fan = i if mode == "fan_in" else o
    return calculate_gain(nonlinearity, a) / math.sqrt(fan) if fan else 0.0


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform in +-gain * sqrt(3 / fan) (He et al. 2015)."""
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity, "kaiming_uniform_")
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal with standard deviation gain / sqrt(fan) (He et al. 2015)."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity, "kaiming_normal_"), generator)


def orthogonal_(tensor, gain=1.0, generator=None):
    """gain times an orthogonal matrix, drawn uniformly (Saxe, McClelland, Ganguli 2014).

    Dimensions after the first count as one. The rows or the columns, whichever are fewer, are orthonormal: Q of a
    matrix of normal numbers, its columns times the signs of R's diagonal, without which Q would not be uniform
    (Mezzadri 2007).
    """
    if tensor.ndim < 2:
        raise ValueError(f"orthogonal_: at least two dimensions are needed, got shape {list(tensor.shape)}")
    if not tensor.numel():
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    drawn = tp.randn((max(rows, columns), min(rows, columns)), dtype=_draw(tensor), generator=generator)
    q, r = tp.linalg.qr(drawn)
    d = r.diagonal()
    q = q * tp.where(d < 0, -1.0, 1.0)
    return _write(tensor, (gain * (q if rows >= columns else q.mT)).reshape(tensor.shape))


def dirac_(tensor, groups=1):
    """A kernel of a convolution that hands on as many channels of its input as it can, each group for itself.

    tensor: [K, C / groups, ...] with one to three spatial dimensions; 1 at their centre, 0 elsewhere.
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError(f"dirac_: three to five dimensions are needed, got shape {list(tensor.shape)}")
    if groups < 1 or tensor.shape[0] % groups:
        raise ValueError(f"dirac_: {tensor.shape[0]} channels do not divide into {groups} groups")
    each = tensor.shape[0] // groups
    values = tp.zeros(tensor.shape, dtype=tensor.dtype)
    centre = [n // 2 for n in tensor.shape[2:]]
    for k in range(tensor.shape[0]):
        if k % each < tensor.shape[1]:
            values[(k, k % each, *centre)] = 1
    return _write(tensor, values)


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal with standard deviation std, but a part `sparsity` of each column, rounded up, is 0 (Martens 2010).

    tensor: [n, m]; sparsity: 0 to 1.
    """
    if tensor.ndim != 2:
        raise ValueError(f"sparse_: two dimensions are needed, got shape {list(tensor.shape)}")
    if not 0 <= sparsity <= 1:
        raise ValueError(f"sparse_: sparsity must be in [0, 1], got {sparsity}")
    rows, columns = tensor.shape
    values = tp.randn((rows, columns), dtype=_draw(tensor), generator=generator) * std
    rank = tp.rand((rows, columns), dtype=tp.float64, generator=generator).argsort(0).argsort(0)
    return _write(tensor, tp.where(rank < math.ceil(sparsity * rows), 0.0, values))
