# ruff: noqa: F403, F405
"""Pooling: the reference goes from window to window."""

import itertools

import numpy as np

from ._base import *
from .conv import _each
from .elementwise import _same_ratio

_KEEP = {0: _same_ratio(1)}


def _windows(size, k, s, p, d, ceil_mode):
    """(first, end) of each window along one dimension, counted in the input, padding included."""
    span = d * (k - 1) + 1
    room = size + 2 * p - span
    n = (-(-room // s) if ceil_mode else room // s) + 1
    if ceil_mode and (n - 1) * s >= size + p:
        n -= 1
    return [i * s - p for i in range(n)]


def _pool(x, kernel, stride, padding, dilation, ceil_mode, n, fn, dtypes):
    """fn(elements [N, C, m], their positions, the window's size without overhang) of each window."""
    lead, space = x.shape[: x.ndim - n], x.shape[x.ndim - n :]
    flat = x.reshape(-1, *space)
    kernel, padding, dilation = _each(kernel, n), _each(padding, n), _each(dilation, n)
    stride = kernel if stride is None or stride == () else _each(stride, n)
    firsts = [_windows(*args, ceil_mode) for args in zip(space, kernel, stride, padding, dilation)]
    sizes = tuple(map(len, firsts))
    outs = [np.zeros((flat.shape[0], *sizes), t) for t in dtypes]
    for at in itertools.product(*map(range, sizes)):
        spans, places = 1, []
        for f, i, k, d, size, p in zip(firsts, at, kernel, dilation, space, padding):
            all_of = [f[i] + j * d for j in range(k)]
            spans *= sum(q < size + p for q in all_of)
            places.append([q for q in all_of if 0 <= q < size])
        cells = list(itertools.product(*places))
        numbers = [int(np.ravel_multi_index(cell, space)) for cell in cells]
        got = fn(np.stack([flat[(slice(None), *cell)] for cell in cells], -1), np.array(numbers), spans)
        for out, value in zip(outs, got):
            out[(slice(None), *at)] = value
    return [o.reshape(*lead, *sizes) for o in outs]


def _max(n):
    def reference(x, kernel, stride=None, padding=0, dilation=1, ceil_mode=False):
        def fn(v, numbers, spans):
            at = np.argmax(v, -1)
            return np.take_along_axis(v, at[:, None], -1)[:, 0], numbers[at]

        return tuple(_pool(x, kernel, stride, padding, dilation, ceil_mode, n, fn, (x.dtype, np.int64)))

    return reference


def _avg(n):
    def reference(x, kernel, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        def fn(v, numbers, spans):
            mean = v.sum(-1) / (divisor_override or (spans if count_include_pad else len(numbers)))
            return (np.trunc(mean) if x.dtype == np.int64 else mean,)

        return _pool(x, kernel, stride, padding, 1, ceil_mode, n, fn, (x.dtype,))[0]

    return reference


def _adaptive(n):
    def reference(x, output_size):
        for d, (size, parts) in enumerate(zip(x.shape[x.ndim - n :], _each(output_size, n))):
            axis = x.ndim - n + d
            ends = [(o * size // parts, -(-(o + 1) * size // parts)) for o in range(parts)]
            x = np.stack([np.take(x, range(a, b), axis).mean(axis) for a, b in ends], axis)
        return x

    return reference


_SPACE = {1: (7,), 2: (5, 6), 3: (4, 3, 5)}
_KERNEL = {1: (3,), 2: (2, 3), 3: (2, 1, 2)}


def _pool_samples(n, average):
    space, kernel = _SPACE[n], _KERNEL[n]

    def samples(rng, dtype):
        def x(*lead, size=space):
            return make(rng, dtype, *lead, *size) if average else distinct(rng, dtype, *lead, *size)

        vary = {} if average else _KEEP
        yield Sample((x(2, 3), 2), vary=vary)
        yield Sample((x(2), kernel), vary=vary)
        yield Sample((x(1, 2), kernel, 1), vary=vary)
        yield Sample((x(1, 2), 2, 2, 1), vary=vary)
        yield Sample((x(1, 2), 3, (2,) * n, (1,) * n), {"ceil_mode": True}, vary=vary)
        yield Sample((x(1, 2), 2), {"ceil_mode": True, "stride": 2}, vary=vary)
        yield Sample((x(0, 2), 2), vary=vary)
        if average:
            yield Sample((x(1, 2), 3, 2, 1, True, False))
            yield Sample((x(1, 2), 2, 1, 1), {"count_include_pad": False})
            if n > 1:
                yield Sample((x(1, 2), 2), {"divisor_override": 3})
        else:
            yield Sample((x(1, 2), 2, 1, 0, 2), vary=vary)
            yield Sample((x(1, 2), 2, 2, 1), {"dilation": (2,) * n}, vary=vary)
            if dtype in FLOATS:
                y = x(1, 1)
                y.reshape(-1)[2] = np.nan
                y.reshape(-1)[4] = -np.inf
                yield Sample((y, 2, 1), grad=False)
            yield Sample((make(rng, dtype, 1, 2, *space, low=0, high=1), 2, 1), grad=False, note="ties")

    return samples


def _adaptive_samples(n):
    def samples(rng, dtype):
        for lead, size in (((2, 3), 2), ((2,), _KERNEL[n]), ((1, 2), 1), ((1, 1), 4), ((0, 2), 2)):
            yield Sample((make(rng, dtype, *lead, *_SPACE[n]), size))

    return samples


_RANK = {"0-d": "needs channels"}
for _n in (1, 2, 3):
    _name = f"nn.functional.max_pool{_n}d"
    _values = lambda *a, fn=_max(_n), **k: fn(*a, **k)[0]
    add(_name, _pool_samples(_n, False), _values, dtypes=INTEGERS + FLOATS, dtype="same", missing=_RANK)
    add(
        f"{_name}_with_indices",
        _pool_samples(_n, False),
        _max(_n),
        dtypes=INTEGERS + FLOATS,
        dtype=lambda n, s: (n[0], "int64"),
        missing=_RANK,
    )
    add(
        f"nn.functional.avg_pool{_n}d",
        _pool_samples(_n, True),
        _avg(_n),
        dtypes=("int64", *INEXACT),
        dtype="same",
        missing=_RANK,
        scale=30,
    )
    add(
        f"nn.functional.adaptive_avg_pool{_n}d",
        _adaptive_samples(_n),
        _adaptive(_n),
        dtypes=INEXACT,
        dtype="same",
        missing=_RANK,
    )


def _parts_max(n):
    def reference(x, output_size):
        space, sizes = x.shape[x.ndim - n :], _each(output_size, n)
        flat = x.reshape(-1, *space)
        values, places = np.zeros((len(flat), *sizes), x.dtype), np.zeros((len(flat), *sizes), np.int64)
        for at in itertools.product(*map(range, sizes)):
            ends = [range(o * s // p, -(-(o + 1) * s // p)) for o, s, p in zip(at, space, sizes)]
            cells = list(itertools.product(*ends))
            v = np.stack([flat[(slice(None), *cell)] for cell in cells], -1)
            best = np.argmax(v, -1)
            values[(slice(None), *at)] = np.take_along_axis(v, best[:, None], -1)[:, 0]
            places[(slice(None), *at)] = np.array([np.ravel_multi_index(c, space) for c in cells])[best]
        lead = x.shape[: x.ndim - n]
        return values.reshape(*lead, *sizes), places.reshape(*lead, *sizes)

    return reference


def _parts_samples(n):
    def samples(rng, dtype):
        for lead, size in (((2, 3), 2), ((2,), _KERNEL[n]), ((1, 2), 1), ((1, 1), 4), ((0, 2), 2), ((1, 2), _SPACE[n])):
            yield Sample((distinct(rng, dtype, *lead, *_SPACE[n]), size), vary=_KEEP)
        if dtype in FLOATS:
            y = distinct(rng, dtype, 1, 1, *_SPACE[n])
            y.reshape(-1)[2] = np.nan
            yield Sample((y, 2), grad=False)
        yield Sample((make(rng, dtype, 1, 2, *_SPACE[n], low=0, high=1), 2), grad=False, note="ties")

    return samples


def _lp_samples(n):
    space, kernel = _SPACE[n], _KERNEL[n]

    def samples(rng, dtype):
        def x(*lead):
            return make(rng, dtype, *lead, *space, low=0.2, high=2)

        yield Sample((x(2, 3), 2, 2))
        yield Sample((make(rng, dtype, 1, 2, *space, gap=0.2), 2.0, kernel, 1))
        yield Sample((x(2), 1.5, kernel))
        yield Sample((x(1, 2), 3.0, 3, (2,) * n, True))
        yield Sample((x(1, 2), 1.0, 2), {"ceil_mode": True, "stride": 2})
        yield Sample((x(0, 2), 2.0, 2))
        yield Sample((x(1, 1) * 0, 2.0, 2), grad=False, note="the power 1 / p at zero")

    return samples


def _lp(n):
    def reference(x, p, kernel, stride=None, ceil_mode=False):
        def fn(v, numbers, spans):
            return ((v**p).sum(-1) / spans,)

        mean = _pool(x, kernel, stride, 0, 1, ceil_mode, n, fn, (x.dtype,))[0]
        return (mean * np.prod(_each(kernel, n))) ** (1 / p)

    return reference


def _back_samples(n):
    space = _SPACE[n]

    def turned(a, i):  # each plane's positions in another order
        return np.roll(a.reshape(*a.shape[: a.ndim - n], -1), i, -1).reshape(a.shape) if a.size else a

    vary = {1: turned}

    def samples(rng, dtype):
        def places(lead, sizes, plane):
            rows = [rng.permutation(plane)[: int(np.prod(sizes))] for _ in range(int(np.prod(lead)))]
            return np.array(rows, np.int64).reshape(*lead, *sizes)

        for lead, kernel, stride, padding, out in (
            ((2, 3), 2, None, 0, None), ((2,), _KERNEL[n], None, 0, None), ((1, 2), 3, 2, 1, None),
            ((1, 2), (2,) * n, (2,) * n, (0,) * n, 1), ((0, 2), 2, None, 0, None), ((1, 1), 2, 2, 0, -1),
        ):  # fmt: skip
            sizes = tuple(max(s // 2, 1) for s in space)
            k, p = _each(kernel, n), _each(padding, n)
            s = k if stride is None else _each(stride, n)
            usual = [(o - 1) * a + b - 2 * c for o, a, b, c in zip(sizes, s, k, p)]
            if out is not None:
                usual = [u + out for u in usual]
            at = places(lead, sizes, int(np.prod(usual)))
            kwargs = {}
            if out is not None:
                kwargs["output_size"] = tuple(usual) if out > 0 else (*lead, *usual)
            x = make(rng, dtype, *lead, *sizes)
            if stride is None:
                yield Sample((x, at, kernel), kwargs, vary=vary)
            else:
                yield Sample((x, at, kernel, stride, padding), kwargs, vary=vary)

    return samples


def _back(n):
    def reference(x, at, kernel, stride=None, padding=0, output_size=None):
        lead, sizes = x.shape[: x.ndim - n], x.shape[x.ndim - n :]
        k, p = _each(kernel, n), _each(padding, n)
        s = k if stride is None else _each(stride, n)
        shape = [(o - 1) * a + b - 2 * c for o, a, b, c in zip(sizes, s, k, p)]
        if output_size is not None:
            shape = list(output_size)[-n:]
        out = np.zeros((int(np.prod(lead)), int(np.prod(shape))), x.dtype)
        flat = (len(out), int(np.prod(sizes)))
        for row, v, i in zip(out, x.reshape(flat), at.reshape(flat)):
            row[i] = v
        return out.reshape(*lead, *shape)

    return reference


for _n in (1, 2, 3):
    _name = f"nn.functional.adaptive_max_pool{_n}d"
    _values = lambda *a, fn=_parts_max(_n): fn(*a)[0]
    add(_name, _parts_samples(_n), _values, dtypes=INTEGERS + FLOATS, dtype="same", missing=_RANK)
    add(
        f"{_name}_with_indices",
        _parts_samples(_n),
        _parts_max(_n),
        dtypes=INTEGERS + FLOATS,
        dtype=lambda n, s: (n[0], "int64"),
        missing=_RANK,
    )
    add(f"nn.functional.lp_pool{_n}d", _lp_samples(_n), _lp(_n), dtypes=FLOATS, dtype="same", missing=_RANK, scale=50)
    add(
        f"nn.functional.max_unpool{_n}d",
        _back_samples(_n),
        _back(_n),
        dtypes=INEXACT,
        dtype="same",
        missing={**_RANK, "broadcast": "indices have input's shape"},
    )
