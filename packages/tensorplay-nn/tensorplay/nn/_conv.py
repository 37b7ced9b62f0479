"""Convolutions of one to three dimensions and their transposes."""

import math

import tensorplay as tp

from . import functional as F
from . import init
from ._module import Module
from ._parameter import Parameter

_MODES = {"zeros": None, "reflect": "reflect", "replicate": "replicate", "circular": "circular"}


class _Conv(Module):
    _dims = 0
    _transposed = False

    def _set(self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode,
             device, dtype):
        name, n = type(self).__name__, self._dims

        def each(v):
            return (v,) * n if isinstance(v, int) else tuple(v)

        if groups < 1:
            raise ValueError(f"{name}: groups must be positive, got {groups}")
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{name}: {in_channels} and {out_channels} channels do not divide into {groups} groups")
        if padding_mode not in _MODES or (self._transposed and padding_mode != "zeros"):
            raise ValueError(f"{name}: padding_mode must be one of {', '.join(_MODES)}, got {padding_mode!r}")
        if isinstance(padding, str) and (padding not in ("same", "valid") or self._transposed):
            raise ValueError(f"{name}: padding must be 'same', 'valid' or ints, got {padding!r}")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = each(kernel_size), each(stride), each(dilation)
        self.padding = padding if isinstance(padding, str) else each(padding)
        self.padding_mode = padding_mode
        if padding == "same" and any(s != 1 for s in self.stride):
            raise ValueError(f"{name}: padding='same' needs stride 1, got {self.stride}")
        ends = (in_channels, out_channels // groups) if self._transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(tp.empty((*ends, *self.kernel_size), device=device, dtype=dtype))
        b = Parameter(tp.empty((out_channels,), device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", b)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = self.weight.shape[1] * math.prod(self.kernel_size)
            bound = 1 / math.sqrt(fan_in) if fan_in else 0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        n = self._dims
        s = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding not in ((0,) * n, "valid"):
            s += f", padding={self.padding}"
        if self.dilation != (1,) * n:
            s += f", dilation={self.dilation}"
        if any(getattr(self, "output_padding", ())):
            s += f", output_padding={self.output_padding}"
        if self.groups != 1:
            s += f", groups={self.groups}"
        if self.bias is None:
            s += ", bias=False"
        return s if self.padding_mode == "zeros" else s + f", padding_mode={self.padding_mode}"


class _Forward(_Conv):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        super().__init__()
        self._set(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
                  dtype)

    def forward(self, input):
        padding = self.padding
        if self.padding_mode != "zeros":
            around = []
            for d in reversed(range(self._dims)):
                if isinstance(padding, str):
                    total = self.dilation[d] * (self.kernel_size[d] - 1) if padding == "same" else 0
                    around += [total // 2, total - total // 2]
                else:
                    around += [padding[d], padding[d]]
            input, padding = F.pad(input, around, mode=_MODES[self.padding_mode]), 0
        conv = getattr(F, f"conv{self._dims}d")
        return conv(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class _Transpose(_Conv):
    _transposed = True

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None):
        super().__init__()
        n = self._dims
        self.output_padding = (output_padding,) * n if isinstance(output_padding, int) else tuple(output_padding)
        self._set(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
                  dtype)

    def forward(self, input, output_size=None):
        extra = self.output_padding
        if output_size is not None:
            sizes = tuple(output_size)[-self._dims :]
            extra = []
            for d, size in enumerate(sizes):
                least = (input.shape[d - self._dims] - 1) * self.stride[d] - 2 * self.padding[d]
                least += self.dilation[d] * (self.kernel_size[d] - 1) + 1
                if not least <= size < least + self.stride[d]:
                    raise ValueError(
                        f"{type(self).__name__}: output_size {list(sizes)} does not fit input of shape "
                        f"{list(input.shape)}: size {d} must lie between {least} and {least + self.stride[d] - 1}"
                    )
                extra.append(size - least)
        conv = getattr(F, f"conv_transpose{self._dims}d")
        return conv(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)


_DOC = """{what} over {n} dimension{s}.

    Args:
        kernel_size, stride, padding, dilation: an int or one for each dimension.{more}
        groups: blocks of connections between input and output channels.
        bias: whether a bias of shape [out_channels] is added.

    Parameters: weight {weight} and bias, uniform in +-1/sqrt(fan_in).
    """


def _classes():
    for n in (1, 2, 3):
        s = "s" if n > 1 else ""
        more = ' padding may be "same" or "valid".'
        more += '\n        padding_mode: "zeros", "reflect", "replicate" or "circular".'
        doc = _DOC.format(what="Cross-correlation", n=n, s=s, more=more, weight="[out, in / groups, ...]")
        yield type(f"Conv{n}d", (_Forward,), {"_dims": n, "__doc__": doc, "__module__": __name__.rpartition(".")[0]})
        doc = _DOC.format(what="The adjoint of cross-correlation", n=n, s=s, more="", weight="[in, out / groups, ...]")
        space = {"_dims": n, "__doc__": doc, "__module__": __name__.rpartition(".")[0]}
        yield type(f"ConvTranspose{n}d", (_Transpose,), space)


CONVOLUTIONS = {c.__name__: c for c in _classes()}
globals().update(CONVOLUTIONS)
