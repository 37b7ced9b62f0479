"""Pooling layers of the largest elements of parts, of norms, at random places, and the way back."""

from . import functional as F
from ._module import Module

_PUBLIC = __name__.rpartition(".")[0]


class _LPPool(Module):
    _dims = 0

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input):
        pool = getattr(F, f"lp_pool{self._dims}d")
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        return (f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
                f"ceil_mode={self.ceil_mode}")


class _AdaptiveMaxPool(Module):
    _dims = 0

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input):
        return getattr(F, f"adaptive_max_pool{self._dims}d")(input, self.output_size, self.return_indices)

    def extra_repr(self):
        return f"output_size={self.output_size}"


class _MaxUnpool(Module):
    _dims = 0

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()

        def each(v):
            return (v,) * self._dims if isinstance(v, int) else tuple(v)

        self.kernel_size, self.padding = each(kernel_size), each(padding)
        self.stride = self.kernel_size if stride is None else each(stride)

    def forward(self, input, indices, output_size=None):
        back = getattr(F, f"max_unpool{self._dims}d")
        return back(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _FractionalMaxPool(Module):
    _dims = 0

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        name, n = type(self).__name__, self._dims
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{name}: one of output_size and output_ratio must be given")

        def each(v):
            return (v,) * n if isinstance(v, (int, float)) else tuple(v)

        self.kernel_size, self.return_indices = each(kernel_size), return_indices
        self.output_size = None if output_size is None else each(output_size)
        self.output_ratio = None if output_ratio is None else each(output_ratio)
        if output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"{name}: output_ratio must lie between 0 and 1, got {output_ratio}")
        self.register_buffer("_random_samples", _random_samples)

    def forward(self, input):
        pool = getattr(F, f"fractional_max_pool{self._dims}d")
        return pool(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
                    self._random_samples)


_BASES = {"LPPool": _LPPool, "AdaptiveMaxPool": _AdaptiveMaxPool, "MaxUnpool": _MaxUnpool,
          "FractionalMaxPool": _FractionalMaxPool}  # fmt: skip
_FUNCTIONS = {"LPPool": "lp_pool", "AdaptiveMaxPool": "adaptive_max_pool", "MaxUnpool": "max_unpool",
              "FractionalMaxPool": "fractional_max_pool"}  # fmt: skip


def _classes():
    for name, base in _BASES.items():
        for n in (1, 2, 3):
            function = getattr(F, f"{_FUNCTIONS[name]}{n}d", None)
            if function is not None:
                space = {"_dims": n, "__doc__": function.__doc__, "__module__": _PUBLIC}
                yield type(f"{name}{n}d", (base,), space)


POOLS = {c.__name__: c for c in _classes()}
globals().update(POOLS)
