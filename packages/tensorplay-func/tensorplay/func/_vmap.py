"""vmap: a function over one sample as a function over a batch."""

import functools

import tensorplay as tp
from tensorplay import Tensor

from . import _levels as levels
from ._tree import broadcast_prefix, flatten, unflatten

_RANDOMNESS = {"error": 0, "different": 1, "same": 2}


def _check_randomness(randomness):
    if not isinstance(randomness, str) or randomness not in _RANDOMNESS:
        raise RuntimeError(f"vmap: randomness must be 'error', 'different' or 'same', got {randomness!r}")
    return _RANDOMNESS[randomness]


def _name(func):
    return getattr(func, "__name__", type(func).__name__)


def _batched_leaves(func, in_dims, args):
    """(leaves, spec, dims, batch size): dims are None or non-negative."""
    if not args:
        raise ValueError(f"vmap({_name(func)}): there is no positional argument to map over")
    if not isinstance(in_dims, (int, tuple, list)) or isinstance(in_dims, bool):
        raise ValueError(
            f"vmap({_name(func)}): in_dims must be an int or a tuple that matches the arguments, got {in_dims!r}"
        )
    leaves, spec = flatten(args)
    if isinstance(in_dims, int):
        dims = [in_dims] * len(leaves)
    else:
        in_dims = tuple(in_dims)
        if len(in_dims) != len(args):
            raise ValueError(
                f"vmap({_name(func)}): in_dims has {len(in_dims)} entries for {len(args)} positional arguments"
            )
        dims = broadcast_prefix(in_dims, args, leaves, f"vmap({_name(func)}): in_dims", "the arguments")
    size = None
    for i, (x, d) in enumerate(zip(leaves, dims, strict=True)):
        if d is None:
            continue
        if isinstance(d, bool) or not isinstance(d, int):
            raise ValueError(f"vmap({_name(func)}): an in_dim must be an int or None, got {d!r}")
        if not isinstance(x, Tensor):
            raise ValueError(
                f"vmap({_name(func)}): in_dim {d} was given for an argument of type {type(x).__name__}; "
                "only Tensors can be mapped over, use None"
            )
        if not -x.ndim <= d < x.ndim:
            raise ValueError(
                f"vmap({_name(func)}): in_dim {d} is out of range for an argument of shape {list(x.shape)}"
            )
        dims[i] = d = d % x.ndim
        if size is None:
            size = x.shape[d]
        elif size != x.shape[d]:
            sizes = sorted({x.shape[d] for x, d in zip(leaves[: i + 1], dims, strict=False) if d is not None})
            raise ValueError(f"vmap({_name(func)}): the mapped dimensions have different sizes: {sizes}")
    if size is None:
        raise ValueError(f"vmap({_name(func)}): at least one argument must be mapped, all in_dims are None")
    return leaves, spec, dims, size


def _unwrap_outputs(func, out, out_dims, level):
    if type(out) is Tensor and type(out_dims) is int:
        leaves, spec, dims = [out], None, [out_dims]
    else:
        leaves, spec = flatten(out)
        if isinstance(out_dims, list):
            out_dims = tuple(out_dims)
        if isinstance(out_dims, tuple) and isinstance(out, Tensor) and len(out_dims) == 1:
            out_dims = out_dims[0]
        dims = broadcast_prefix(out_dims, out, leaves, f"vmap({_name(func)}): out_dims", "the outputs")
    result = []
    for x, d in zip(leaves, dims, strict=True):
        if not isinstance(x, Tensor):
            raise ValueError(
                f"vmap({_name(func)}): the function must return Tensors only, it returned {type(x).__name__}"
            )
        if d is None:
            if levels.lib.tp_batch_dim(x._h, level) >= 0:
                raise ValueError(f"vmap({_name(func)}): out_dim None was given for an output that is mapped over")
            result.append(x)
            continue
        if isinstance(d, bool) or not isinstance(d, int):
            raise ValueError(f"vmap({_name(func)}): an out_dim must be an int or None, got {d!r}")
        rank = x.ndim + 1
        if not -rank <= d < rank:
            raise ValueError(
                f"vmap({_name(func)}): out_dim {d} is out of range for samples of shape {list(x.shape)}"
            )
        result.append(levels.batch_unwrap(x, level, d % rank))
    return result[0] if spec is None else unflatten(spec, result)


def _call(func, out_dims, randomness, leaves, spec, dims, size, kwargs):
    depth = levels.depth()
    try:
        level = levels.push_vmap(size, randomness)
        args = unflatten(
            spec,
            [x if d is None else levels.batch_wrap(x, level, d) for x, d in zip(leaves, dims, strict=True)],
        )
        return _unwrap_outputs(func, func(*args, **kwargs), out_dims, level)
    finally:
        levels.restore(depth)


def _chunked(func, out_dims, randomness, leaves, spec, dims, size, kwargs, chunk):
    parts, out_spec = [], None
    state = tp.default_generator.get_state() if randomness == _RANDOMNESS["same"] else None
    for start in range(0, max(size, 1), chunk):
        n = min(chunk, size - start)
        if state is not None:  # the same draws in every chunk
            tp.default_generator.set_state(state)
        piece = [x if d is None else x.narrow(d, start, n) for x, d in zip(leaves, dims, strict=True)]
        out = _call(func, out_dims, randomness, piece, spec, dims, n, kwargs)
        got, out_spec = flatten(out)
        where = broadcast_prefix(
            tuple(out_dims) if isinstance(out_dims, list) else out_dims, out, got, "vmap: out_dims", "the outputs"
        )
        parts.append(got)
    columns = zip(where, zip(*parts, strict=True), strict=True)
    joined = [col[0] if d is None else tp.cat(list(col), d) for d, col in columns]
    return unflatten(out_spec, joined)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """Maps func over a dimension of its arguments, without a loop.

    `vmap(f)(x)` equals `tp.stack([f(x_i) for x_i in x.unbind(0)])`; f sees one sample, every operator runs on the
    whole batch.

    Args:
        func: takes and returns pytrees of Tensors.
        in_dims: the dimension to map over: an int for all positional arguments, or a tuple of one entry an argument,
            which may be a pytree that is a prefix of the argument. None: not mapped. Negative ints count from the end.
        out_dims: where the mapped dimension goes in the outputs; an int or a pytree prefix of the output.
        randomness: "error" (random operators raise RuntimeError), "different" (each sample draws its own numbers) or
            "same" (all samples share one draw).
        chunk_size: at most so many samples at once; None: all.

    Keyword arguments of the returned function are passed on unmapped.

    Raises:
        RuntimeError: randomness is none of the three (raised here, not at the call).
        ValueError: in_dims or out_dims do not fit, sizes differ, nothing is mapped, or func returns a non-Tensor.
    """
    flag = _check_randomness(randomness)
    if chunk_size is not None and (isinstance(chunk_size, bool) or not isinstance(chunk_size, int) or chunk_size < 1):
        raise ValueError(f"vmap: chunk_size must be None or a positive int, got {chunk_size!r}")

    @functools.wraps(func, updated=())
    def wrapped(*args, **kwargs):
        leaves, spec, dims, size = _batched_leaves(func, in_dims, args)
        if chunk_size is not None and chunk_size < size:
            return _chunked(func, out_dims, flag, leaves, spec, dims, size, kwargs, chunk_size)
        return _call(func, out_dims, flag, leaves, spec, dims, size, kwargs)

    return wrapped


def chunk_vmap(func, in_dims=0, out_dims=0, randomness="error", chunks=2):
    """vmap in `chunks` pieces of nearly equal size, one after the other: less memory at a time.

    Arguments and errors are those of vmap; ValueError unless chunks is a positive int.
    """
    flag = _check_randomness(randomness)
    if isinstance(chunks, bool) or not isinstance(chunks, int) or chunks < 1:
        raise ValueError(f"chunk_vmap: chunks must be a positive int, got {chunks!r}")

    @functools.wraps(func, updated=())
    def wrapped(*args, **kwargs):
        leaves, spec, dims, size = _batched_leaves(func, in_dims, args)
        chunk = max(1, -(-size // chunks))
        return _chunked(func, out_dims, flag, leaves, spec, dims, size, kwargs, chunk)

    return wrapped
