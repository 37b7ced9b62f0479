"""Jacobians and Hessians: vmap over the rows or columns of an identity matrix."""

import functools

import tensorplay as tp

from . import _levels as levels
from ._grad import _name, check_inputs, normalize_argnums, pullback, push_forward_call
from ._tree import flatten, unflatten
from ._vmap import _check_randomness


def _chosen(func, argnums, args, kwargs, what):
    """(function of the chosen arguments alone, those as a tuple)"""
    nums = normalize_argnums(argnums, len(args), what)

    def only(*chosen):
        full = list(args)
        for n, x in zip(nums, chosen, strict=True):
            full[n] = x
        return func(*full, **kwargs)

    return only, tuple(args[n] for n in nums)


def _check_chunk(what, chunk_size):
    if chunk_size is not None and (isinstance(chunk_size, bool) or not isinstance(chunk_size, int) or chunk_size < 1):
        raise ValueError(f"{what}: chunk_size must be None or a positive int, got {chunk_size!r}")


def _basis(like, start, stop):
    """Rows start..stop of the identity over like's elements: shape [stop - start, *like.shape]."""
    n = like.numel()
    e = tp.zeros((stop - start, n), dtype=like.dtype)
    if stop > start:
        e.diagonal(start, 0, 1).fill_(1)
    return e.reshape((stop - start, *like.shape))


def _rows(pull, k, chunk_size):
    """d output[k] / d inputs, each [*output shape, *input shape]."""
    o = pull.like[k]
    n = o.numel()
    step = n if chunk_size is None else chunk_size
    parts = []
    for start in range(0, n, step) if n else [0]:
        stop = min(n, start + step)
        depth = levels.depth()
        try:
            level = levels.push_vmap(stop - start, 0)
            cts = [None] * len(pull.like)
            cts[k] = levels.batch_wrap(_basis(o, start, stop), level, 0)
            grads = levels.run_vjp(pull.level, pull.outputs, cts, pull.inputs, retain=True)
            parts.append(
                [
                    x.new_zeros((stop - start, *x.shape)) if g is None else levels.batch_unwrap(g, level, 0)
                    for g, x in zip(grads, pull.primals, strict=True)
                ]
            )
        finally:
            levels.restore(depth)
    joined = parts[0] if len(parts) == 1 else [tp.cat(list(c), 0) for c in zip(*parts, strict=True)]
    return [g.reshape((*o.shape, *x.shape)) for g, x in zip(joined, pull.primals, strict=True)]


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """The Jacobian of func by reverse mode: one evaluation, one mapped reverse pass an output leaf.

    Args:
        func: returns a pytree of Tensors, or (that, aux) with has_aux.
        argnums: an int, or a tuple of ints.
        chunk_size: at most so many rows at once; None: all.

    Returns a function whose result has the structure of the output, each leaf replaced by the structure of the chosen
    argument(s) with Jacobians of shape [*output shape, *input shape]; with has_aux (jacobian, aux).
    Cheaper than jacfwd where there are fewer outputs than inputs.

    Raises:
        RuntimeError: inputs that cannot be differentiated, or outputs that are not Tensors.
        ValueError: argnums or chunk_size do not fit.
    """
    what = f"jacrev({_name(func)})"
    _check_chunk(what, chunk_size)

    @functools.wraps(func, updated=())
    def wrapped(*args, **kwargs):
        only, chosen = _chosen(func, argnums, args, kwargs, what)
        _, pull, in_spec, aux = pullback(only, chosen, has_aux, what, levels.JACREV)
        rows = []
        for k in range(len(pull.like)):
            tree = unflatten(in_spec, _rows(pull, k, chunk_size))
            rows.append(tree[0] if isinstance(argnums, int) else tree)
        jac = unflatten(pull.spec, rows)
        return (jac, aux) if has_aux else jac

    return wrapped


def jacfwd(func, argnums=0, has_aux=False, *, chunk_size=None, randomness="error"):
    """The Jacobian of func by forward mode: one evaluation whose tangents are mapped over the input's elements.

    Arguments, result and errors are those of jacrev; randomness is that of vmap. Cheaper than jacrev where there are
    fewer inputs than outputs.
    """
    what = f"jacfwd({_name(func)})"
    _check_chunk(what, chunk_size)
    flag = _check_randomness(randomness)

    @functools.wraps(func, updated=())
    def wrapped(*args, **kwargs):
        only, chosen = _chosen(func, argnums, args, kwargs, what)
        leaves, spec = flatten(chosen)
        check_inputs(leaves, what)
        sizes = [x.numel() for x in leaves]
        total = sum(sizes)
        step = max(total, 1) if chunk_size is None else chunk_size
        columns, primals, out_spec, aux = [], None, None, None
        for start in range(0, total, step) if total else [0]:
            stop = min(total, start + step)
            depth = levels.depth()
            try:
                level = levels.push_vmap(stop - start, flag)
                tangents = []
                offset = 0
                for x, n in zip(leaves, sizes, strict=True):
                    lo, hi = max(start, offset), min(stop, offset + n)
                    e = None
                    if lo < hi:
                        e = _basis(x, lo - offset, hi - offset)
                        if hi - lo < stop - start:
                            rows = tp.zeros((stop - start, *x.shape), dtype=x.dtype)
                            rows.narrow(0, lo - start, hi - lo).copy_(e)
                            e = rows
                        e = levels.batch_wrap(e, level, 0)
                    tangents.append(e)
                    offset += n
                ps, ts, out_spec, aux = push_forward_call(only, leaves, spec, tangents, has_aux, what, levels.JACFWD)
                batched = levels.lib.tp_batch_dim
                if any(batched(p._h, level) >= 0 for p in ps):
                    # random numbers that differ by column: no Jacobian exists of one value
                    ps = [levels.batch_unwrap(p, level, 0)[0] if batched(p._h, level) >= 0 else p for p in ps]
                columns.append(
                    [
                        p.new_zeros((*p.shape, stop - start)) if t is None else levels.batch_unwrap(t, level, t.ndim)
                        for p, t in zip(ps, ts, strict=True)
                    ]
                )
                primals = ps
            finally:
                levels.restore(depth)
        full = columns[0] if len(columns) == 1 else [tp.cat(list(c), -1) for c in zip(*columns, strict=True)]
        result = []
        for p, c in zip(primals, full, strict=True):
            parts, offset = [], 0
            for x, n in zip(leaves, sizes, strict=True):
                block = c if n == total else c.narrow(-1, offset, n)
                parts.append(block.reshape((*p.shape, *x.shape)))
                offset += n
            tree = unflatten(spec, parts)
            result.append(tree[0] if isinstance(argnums, int) else tree)
        jac = unflatten(out_spec, result)
        return (jac, aux) if has_aux else jac

    return wrapped


def hessian(func, argnums=0):
    """The Hessian of a function: jacfwd(jacrev(func)).

    For a 0-d output and an input of shape S the result has shape [*S, *S]. Arguments and errors are those of jacrev.
    """
    return jacfwd(jacrev(func, argnums), argnums)
