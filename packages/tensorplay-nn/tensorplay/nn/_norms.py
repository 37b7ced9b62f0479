"""Norm layers, and what takes the running statistics out of a model."""

import sys

import tensorplay as tp

from . import functional as F
from . import init
from ._module import Module
from ._parameter import Parameter


def _path_of(module):
    """The name of a module below the outermost module whose forward is running in this thread; "" if that is itself."""
    frame, root = sys._getframe(1), None
    while frame is not None:
        if frame.f_code.co_name == "forward":
            owner = frame.f_locals.get("self")
            if isinstance(owner, Module):
                root = owner
        frame = frame.f_back
    for path, m in root.named_modules() if root is not None else ():
        if m is module:
            return path
    return ""


class _Affine(Module):
    """Optional weight and bias of one shape."""

    def _set(self, shape, weight, bias, device, dtype):
        for name, wanted in (("weight", weight), ("bias", bias)):
            p = Parameter(tp.empty(shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, p)

    def reset_parameters(self):
        """weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class _Norm(_Affine):
    """Channels with optional weight, bias and running statistics."""

    _dims = ()

    def __init__(self, num_features, eps, momentum, affine, track_running_stats, device, dtype, bias):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._set((num_features,), affine, affine and bias, device, dtype)
        if track_running_stats:
            self.register_buffer("running_mean", tp.zeros((num_features,), device=device, dtype=dtype))
            self.register_buffer("running_var", tp.ones((num_features,), device=device, dtype=dtype))
            self.register_buffer("num_batches_tracked", tp.tensor(0, dtype=tp.int64))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self):
        """Mean 0, variance 1, no batches seen."""
        if self.track_running_stats:
            with tp.no_grad():
                self.running_mean.zero_()
                self.running_var.fill_(1)
                self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """weight 1, bias 0, statistics as at first."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check(self, input):
        if input.ndim not in self._dims:
            wanted = " or ".join(map(str, self._dims))
            got = list(input.shape)
            raise ValueError(f"{type(self).__name__}: input must have {wanted} dimensions, got shape {got}")

    def _normalise(self, input):
        """The result, by the statistics of the input or by the running ones; the former move the latter in training."""
        raise NotImplementedError

    def _moved(self, compute, momentum, count):
        """compute(running_mean, running_var, momentum), and the running statistics moved.

        momentum None: to the averages over all batches, of which there were `count`. count None: batches do not count.
        """
        try:
            if momentum is not None:
                out = compute(self.running_mean, self.running_var, momentum)
            else:
                # the average over all batches: momentum 1 gives this batch's statistics, which are weighted here
                mean, var = tp.zeros_like(self.running_mean), tp.ones_like(self.running_var)
                out = compute(mean, var, 1.0)
                for old, new in ((self.running_mean, mean), (self.running_var, var)):
                    old = old.detach()
                    old.copy_(old + (new - old) / (count + 1).to(old.dtype))
            if count is not None:
                count.add_(1)
            return out
        except RuntimeError as error:
            if "captured from outside" not in str(error):
                raise
            path = _path_of(self)
            at = f" at {path!r}" if path else ""
            raise RuntimeError(
                f"{type(self).__name__}{at}: running statistics that were captured from outside vmap cannot take those "
                "of a mapped input: map the buffers too, ask functional_call to return_buffers, or drop them with "
                "replace_all_batch_norm_modules_"
            ) from error

    def forward(self, input):
        self._check(input)
        return self._normalise(input)

    def extra_repr(self):
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")


class _BatchNorm(_Norm):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None,
                 dtype=None, *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def _normalise(self, input):
        own = self.training or self.running_mean is None or self.running_var is None
        momentum = 0.0 if self.momentum is None else self.momentum

        def compute(mean, var, momentum):
            return F.batch_norm(input, mean, var, self.weight, self.bias, own, momentum, self.eps)

        if self.training and self.track_running_stats and self.running_mean is not None:
            return self._moved(compute, self.momentum, self.num_batches_tracked)
        tracked = not self.training or self.track_running_stats
        return compute(*((self.running_mean, self.running_var) if tracked else (None, None)), momentum)


_BATCH_DOC = """Batch normalisation over {input}, by channel.

    Args:
        num_features: the number C of channels.
        eps: added to the variance.
        momentum: of the running statistics; None: they are the averages over all batches.
        affine: whether there are weight and bias, both [C].
        track_running_stats: whether there are running statistics, which evaluation mode uses.

    Training mode under vmap: the running statistics must be mapped as well, or dropped
    (`replace_all_batch_norm_modules_`), or returned (`functional_call(..., return_buffers=True)`).
    """


class BatchNorm1d(_BatchNorm):
    __doc__ = _BATCH_DOC.format(input="[N, C] or [N, C, L]")
    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    __doc__ = _BATCH_DOC.format(input="[N, C, H, W]")
    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    __doc__ = _BATCH_DOC.format(input="[N, C, D, H, W]")
    _dims = (5,)


class _InstanceNorm(_Norm):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None,
                 dtype=None, *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def _normalise(self, input):
        single = input.ndim == self._dims[0]
        at = 0 if single else 1
        if input.shape[at] != self.num_features and self.affine:
            raise ValueError(f"{type(self).__name__}: {self.num_features} channels expected, got {input.shape[at]}")
        x = input.unsqueeze(0) if single else input
        own = self.training or not self.track_running_stats

        def compute(mean, var, momentum):
            return F.instance_norm(x, mean, var, self.weight, self.bias, own, momentum, self.eps)

        # PyTorch's instance norm does not count batches, and takes momentum None for 0
        momentum = 0.0 if self.momentum is None else self.momentum
        if own and self.track_running_stats and self.running_mean is not None:
            out = self._moved(compute, momentum, None)
        else:
            out = compute(self.running_mean, self.running_var, momentum)
        return out.squeeze(0) if single else out


_INSTANCE_DOC = """Instance normalisation over {input}, by channel and sample.

    Arguments as for batch normalisation; by default there are neither weight and bias nor running statistics.
    """


class InstanceNorm1d(_InstanceNorm):
    __doc__ = _INSTANCE_DOC.format(input="[N, C, L] or [C, L]")
    _dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    __doc__ = _INSTANCE_DOC.format(input="[N, C, H, W] or [C, H, W]")
    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    __doc__ = _INSTANCE_DOC.format(input="[N, C, D, H, W] or [C, D, H, W]")
    _dims = (4, 5)


class LayerNorm(_Affine):
    """Normalises over the last dimensions, whose sizes are normalized_shape.

    Args:
        normalized_shape: an int or ints.
        eps: added to the variance.
        elementwise_affine: whether there are weight (ones at first) and, with bias, bias (zeros), of that shape.
    """

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self._set(shape, elementwise_affine, elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
                f"bias={self.bias is not None}")


class RMSNorm(Module):
    """Divides by the root of the mean square over the last dimensions; weight (ones at first) of their shape.

    Args:
        normalized_shape: an int or ints.
        eps: added to the mean square; None: the dtype's epsilon.
        elementwise_affine: whether there is a weight.
    """

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        p = Parameter(tp.empty(shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", p)
        self.reset_parameters()

    def reset_parameters(self):
        """weight 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input):
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Affine):
    """Normalises [N, C, ...] over each of num_groups groups of channels.

    Args:
        num_groups, num_channels: the second a multiple of the first.
        eps: added to the variance.
        affine: whether there are weight (ones at first) and bias (zeros), both [C].
    """

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels do not divide into {num_groups} groups")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._set((num_channels,), affine, affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
                f"bias={self.bias is not None}")


class LocalResponseNorm(Module):
    """x / (k + alpha m)^beta, m the mean square of size channels around each one of [N, C, ...]."""

    def __init__(self, size, alpha=0.0001, beta=0.75, k=1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


def batch_norm_without_running_stats(module):
    """Drops the running statistics of a norm layer in place: track_running_stats False, its buffers None.

    Anything that is not a batch or instance norm is left alone.
    """
    if isinstance(module, _Norm) and module.track_running_stats:
        module.running_mean = module.running_var = module.num_batches_tracked = None
        module.track_running_stats = False


def replace_all_batch_norm_modules_(root):
    """Drops the running statistics of every batch and instance norm in a model, in place; returns the model."""
    for module in root.modules():
        batch_norm_without_running_stats(module)
    return root
