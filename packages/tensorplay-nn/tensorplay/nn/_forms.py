"""Modules that only hold the arguments of a function: activations, dropout, pooling."""

import tensorplay as tp

from . import functional as F
from . import init
from ._module import Module
from ._parameter import Parameter

REQUIRED = object()


def module_of(name, function, parameters="", doc=None, shown=None):
    """A Module class whose forward is function(input, **arguments).

    parameters: the constructor's, as Python writes them ("alpha=1.0, inplace=False"); they become attributes.
    shown: names of those in repr (None: all), inplace only when it is true.
    """
    space = {}
    exec(f"def take(self{', ' if parameters else ''}{parameters}):\n    return dict(locals())", space)
    take = space["take"]
    names = [n for n in take.__code__.co_varnames[: take.__code__.co_argcount] if n != "self"]
    shown = names if shown is None else shown

    def __init__(self, *args, **kwargs):
        Module.__init__(self)
        values = take(None, *args, **kwargs)
        for n in names:
            setattr(self, n, values[n])

    def forward(self, input):
        return function(input, **{n: getattr(self, n) for n in names})

    def extra_repr(self):
        parts = [f"{n}={getattr(self, n)!r}" for n in shown if n != "inplace" or self.inplace]
        parts = [part.removeprefix("lambd=") for part in parts]
        return ", ".join(parts)

    take.__name__ = take.__qualname__ = name
    __init__.__wrapped__ = take
    members = {"__doc__": doc or function.__doc__, "__module__": __name__.rpartition(".")[0], "__init__": __init__}
    members.update(forward=forward, extra_repr=extra_repr)
    return type(name, (Module,), members)


_PLACE = "inplace=False"

# name: (function, parameters)
_ACTIVATIONS = {
    "Tanh": (tp.tanh, ""),
    "Sigmoid": (tp.sigmoid, ""),
    "ReLU": (F.relu, _PLACE),
    "ReLU6": (F.relu6, _PLACE),
    "GELU": (F.gelu, "approximate='none'"),
    "SiLU": (F.silu, _PLACE),
    "Softplus": (F.softplus, "beta=1.0, threshold=20.0"),
    "LeakyReLU": (F.leaky_relu, "negative_slope=0.01, inplace=False"),
    "ELU": (F.elu, "alpha=1.0, inplace=False"),
    "CELU": (F.celu, "alpha=1.0, inplace=False"),
    "SELU": (F.selu, _PLACE),
    "Hardswish": (F.hardswish, _PLACE),
    "Hardsigmoid": (F.hardsigmoid, _PLACE),
    "Hardtanh": (F.hardtanh, "min_val=-1.0, max_val=1.0, inplace=False"),
    "Hardshrink": (F.hardshrink, "lambd=0.5"),
    "Softshrink": (F.softshrink, "lambd=0.5"),
    "Tanhshrink": (F.tanhshrink, ""),
    "Softsign": (F.softsign, ""),
    "LogSigmoid": (F.logsigmoid, ""),
    "Mish": (F.mish, _PLACE),
    "Threshold": (F.threshold, "threshold, value, inplace=False"),
    "GLU": (F.glu, "dim=-1"),
    "Softmax": (F.softmax, "dim=None"),
    "Softmin": (F.softmin, "dim=None"),
    "LogSoftmax": (F.log_softmax, "dim=None"),
}
ACTIVATIONS = {name: module_of(name, *entry) for name, entry in _ACTIVATIONS.items()}
globals().update(ACTIVATIONS)


class Softmax2d(Module):
    """softmax over the channels of [N, C, H, W] or [C, H, W]."""

    def forward(self, input):
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: input must have 3 or 4 dimensions, got shape {list(input.shape)}")
        return F.softmax(input, -3)


class PReLU(Module):
    """x where positive, weight * x elsewhere; weight [num_parameters], one or one for each channel, at first init."""

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(tp.empty((num_parameters,), device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self):
        """weight as at first."""
        init.constant_(self.weight, self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """x where positive, a * x elsewhere, a drawn between lower and upper in training, else their mean."""

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self):
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


class Dropout(Module):
    """In training mode zeroes each element with probability p and scales the others by 1 / (1 - p)."""

    _drop = staticmethod(F.dropout)

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"{type(self).__name__}: p must lie between 0 and 1, got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input):
        return self._drop(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class AlphaDropout(Dropout):
    """functional.alpha_dropout: keeps mean and variance of what selu makes."""

    _drop = staticmethod(F.alpha_dropout)


class FeatureAlphaDropout(Dropout):
    """functional.feature_alpha_dropout: alpha_dropout of whole channels."""

    _drop = staticmethod(F.feature_alpha_dropout)


class Dropout1d(Dropout):
    """Dropout of whole channels of [N, C, L] or [C, L]."""

    _drop = staticmethod(F.dropout1d)


class Dropout2d(Dropout):
    """Dropout of whole channels of [N, C, H, W]."""

    _drop = staticmethod(F.dropout2d)


class Dropout3d(Dropout):
    """Dropout of whole channels of [N, C, D, H, W]."""

    _drop = staticmethod(F.dropout3d)


_MAX = "kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False"
_AVG = "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True"
_POOLS = {"AvgPool1d": (F.avg_pool1d, _AVG)}
for _n in (1, 2, 3):
    _POOLS[f"MaxPool{_n}d"] = (getattr(F, f"max_pool{_n}d"), _MAX)
    _POOLS[f"AdaptiveAvgPool{_n}d"] = (getattr(F, f"adaptive_avg_pool{_n}d"), "output_size")
    if _n > 1:
        _POOLS[f"AvgPool{_n}d"] = (getattr(F, f"avg_pool{_n}d"), _AVG + ", divisor_override=None")
_SHOWN = {"M": ("kernel_size", "stride", "padding", "dilation", "ceil_mode"), "v": ("kernel_size", "stride", "padding")}


def _pool(name, function, parameters):
    shown = None if name.startswith("Adaptive") else _SHOWN["M" if name.startswith("Max") else "v"]
    cls = module_of(name, function, parameters, shown=shown)
    if shown:
        begin = cls.__init__

        def __init__(self, *args, **kwargs):
            begin(self, *args, **kwargs)
            if self.stride is None:
                self.stride = self.kernel_size
            if name == "AvgPool1d":
                for n in shown:
                    value = getattr(self, n)
                    setattr(self, n, (value,) if isinstance(value, int) else tuple(value))

        __init__.__wrapped__ = begin.__wrapped__
        cls.__init__ = __init__
    return cls


POOLS = {name: _pool(name, *entry) for name, entry in _POOLS.items()}
globals().update(POOLS)
