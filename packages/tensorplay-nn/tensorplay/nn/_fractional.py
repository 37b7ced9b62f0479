"""Pooling over windows at random places."""

import tensorplay as tp

_DOC = """The largest elements of windows at random places: [N, C, {axes}] or [C, {axes}] to the sizes of output_size.

    Args:
        kernel_size: an int or one for each dimension.
        output_size: an int or ints; or output_ratio, a share of input's sizes, one number or one for each dimension.
        return_indices: (values, positions counted over the spatial dimensions).
        _random_samples: [N, C, {n}], numbers from 0 to 1 that place the windows; drawn unless given.

    Window i of n begins at floor((i + u) a) - floor(u a), a = (size - kernel) / (n - 1), the last one at the end.
    Differentiable in input. Errors: ValueError unless one of output_size and output_ratio is given; RuntimeError for
    shapes that do not fit; TypeError unless input is real floating. Source: Graham (2014).
    """


def _each(name, what, value, dims, kind):
    value = (value,) * dims if isinstance(value, kind) else tuple(value)
    if len(value) != dims:
        raise RuntimeError(f"{name}: {what} must have {dims} entries, got {len(value)}")
    return value


def pool(dims, always_indices=False):
    """fractional_max_pool{dims}d, or its form that returns indices."""
    name = f"fractional_max_pool{dims}d"

    def f(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        if (output_size is None) == (output_ratio is None):
            if output_size is None:
                raise ValueError(f"{name}: one of output_size and output_ratio must be given")
        if input.ndim not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"{name}: input must have {dims + 1} or {dims + 2} dimensions, got shape {list(input.shape)}"
            )
        if not input.is_floating_point():
            raise TypeError(f"{name}: input must be of a real floating dtype, got {input.dtype}")
        space = input.shape[input.ndim - dims :]
        kernel = _each(name, "kernel_size", kernel_size, dims, int)
        if output_size is None:
            ratio = _each(name, "output_ratio", output_ratio, dims, (int, float))
            if not all(0 < r < 1 for r in ratio):
                raise ValueError(f"{name}: output_ratio must lie between 0 and 1, got {output_ratio}")
            output_size = tuple(int(n * r) for n, r in zip(space, ratio, strict=True))
        sizes = _each(name, "output_size", output_size, dims, int)
        for n, k, o in zip(space, kernel, sizes, strict=True):
            if k < 1 or o < 1 or o + k - 1 > n:
                raise RuntimeError(f"{name}: {o} windows of {k} do not fit input of shape {list(input.shape)}")
        x = input if input.ndim == dims + 2 else input.unsqueeze(0)
        count, channels = x.shape[:2]
        u = _random_samples
        if u is None:
            u = tp.rand((count, channels, dims), dtype=x.dtype if x.dtype == tp.float64 else tp.float32)
        elif u.ndim != 3 or u.shape[0] < count or u.shape[1] < channels or u.shape[2] != dims:
            raise RuntimeError(
                f"{name}: _random_samples must have shape [{count}, {channels}, {dims}], got {list(u.shape)}"
            )
        # positions in the plane of every element of every window, [N, C, ...sizes, ...kernel]
        place = 0
        for d, (n, k, o) in enumerate(zip(space, kernel, sizes, strict=True)):
            # a plane's first number is that of its width, a volume's that of its depth
            one = u[:count, :channels, dims - 1 - d if dims == 2 else d].unsqueeze(-1)
            step = (n - k) / (o - 1) if o > 1 else 0.0
            i = tp.arange(o)
            start = tp.where(i == o - 1, n - k, ((one + i) * step).floor() - (one * step).floor()).to(tp.int64)
            at = start.unsqueeze(-1) + tp.arange(k)
            shape = [count, channels] + [1] * (2 * dims)
            shape[2 + d], shape[2 + dims + d] = o, k
            place = place * n + at.reshape(shape)
        outer = (count, channels, *sizes)
        cells = 1
        for k in kernel:
            cells *= k
        place = place.reshape(*outer[:2], -1, cells)
        plane = x.reshape(count, channels, -1)
        with tp.no_grad():
            values = plane.detach().gather(2, place.reshape(count, channels, -1)).reshape(place.shape)
            index = place.gather(3, values.argmax(3, keepdim=True)).squeeze(3)
        out = plane.gather(2, index).reshape(outer)
        index = index.reshape(outer)
        if input.ndim == dims + 1:
            out, index = out.squeeze(0), index.squeeze(0)
        return (out, index) if return_indices or always_indices else out

    f.__name__ = f.__qualname__ = name + ("_with_indices" if always_indices else "")
    f.__doc__ = _DOC.format(axes={2: "H, W", 3: "D, H, W"}[dims], n=dims)
    return f
