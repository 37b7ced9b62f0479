"""Modules that pad, resample and rearrange: padding layers, upsampling, columns and shuffles."""

from . import functional as F
from ._module import Module

_PUBLIC = __name__.rpartition(".")[0]


def _each(value, n):
    return (value,) * n if isinstance(value, int) else tuple(value)


class _Pad(Module):
    _dims = 0
    _mode = "constant"

    def __init__(self, padding):
        super().__init__()
        self.padding = _each(padding, 2 * self._dims)

    def forward(self, input):
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self):
        return f"{self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_Pad):
    value = 0.0


_PAD_DOC = """{what} around the last {n} dimension{s}.

    Args:
        padding: an int for every side, or {sides} ints: before and behind the last dimension first.{more}
    """
_PADS = {
    "ConstantPad": (_ConstantPad, "constant", "Puts value", "\n        value: what is put there."),
    "ZeroPad": (_ZeroPad, "constant", "Puts zeros", ""),
    "ReflectionPad": (_Pad, "reflect", "Puts mirror images without the edges", ""),
    "ReplicationPad": (_Pad, "replicate", "Repeats the edges", ""),
    "CircularPad": (_Pad, "circular", "Puts what lies at the other end", ""),
}


def _pads():
    for name, (base, mode, what, more) in _PADS.items():
        for n in (1, 2, 3):
            doc = _PAD_DOC.format(what=what, n=n, s="s" if n > 1 else "", sides=2 * n, more=more)
            yield type(f"{name}{n}d", (base,), {"_dims": n, "_mode": mode, "__doc__": doc, "__module__": _PUBLIC})


class Upsample(Module):
    """functional.interpolate to size, or by scale_factor."""

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.name = type(self).__name__
        self.size, self.mode, self.align_corners = size, mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(s) for s in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None

    def forward(self, input):
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             self.recompute_scale_factor)

    def extra_repr(self):
        wanted = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{wanted}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Upsample of [N, C, H, W] with mode "nearest"."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """Upsample of [N, C, H, W] with mode "bilinear" and align_corners=True."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "bilinear", True)


class _Held(Module):
    """Shows its arguments by name."""

    _shown = ()

    def extra_repr(self):
        return ", ".join(f"{n}={getattr(self, n)}" for n in self._shown)


class Unfold(_Held):
    """functional.unfold: the patches of [N, C, H, W] as columns [N, C kH kW, L]."""

    _shown = ("kernel_size", "dilation", "padding", "stride")

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input):
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(_Held):
    """functional.fold: columns [N, C kH kW, L] added up to images of output_size."""

    _shown = ("output_size", "kernel_size", "dilation", "padding", "stride")

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input):
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)


class PixelShuffle(_Held):
    """functional.pixel_shuffle: [..., C r r, H, W] to [..., C, H r, W r] for r = upscale_factor."""

    _shown = ("upscale_factor",)

    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input):
        return F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(_Held):
    """functional.pixel_unshuffle: [..., C, H r, W r] to [..., C r r, H, W] for r = downscale_factor."""

    _shown = ("downscale_factor",)

    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input):
        return F.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(_Held):
    """functional.channel_shuffle: the channels of [N, C, ...] in groups, taken in turn."""

    _shown = ("groups",)

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        return F.channel_shuffle(input, self.groups)


REARRANGING = {c.__name__: c for c in _pads()}
REARRANGING |= {c.__name__: c for c in (
    Upsample, UpsamplingNearest2d, UpsamplingBilinear2d, Unfold, Fold, PixelShuffle, PixelUnshuffle, ChannelShuffle
)}  # fmt: skip
globals().update(REARRANGING)
