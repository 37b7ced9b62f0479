"""The seam between this package and libtp: levels, wrapping and unwrapping."""

from tensorplay._clib import NULL, ffi, lib, raise_error
from tensorplay._tensor import wrap

VMAP, GRAD, VJP, JVP, JACREV, JACFWD, HESSIAN, LINEARIZE = range(1, 9)  # tp_origin


def push_vmap(size, randomness):
    return lib.tp_vmap_push(size, randomness) or raise_error()


def push_reverse(origin):
    return lib.tp_reverse_push(origin) or raise_error()


def push_forward(origin):
    return lib.tp_forward_push(origin) or raise_error()


depth = lib.tp_level_depth


def restore(depth):
    """Ends every level above depth. Belongs in a finally block."""
    if lib.tp_level_pop_to(depth):
        raise_error()


def batch_wrap(t, level, dim):
    return wrap(lib.tp_batch_wrap(t._h, level, dim))


def batch_unwrap(t, level, dim):
    return wrap(lib.tp_batch_unwrap(t._h, level, dim))


def reverse_wrap(t, level):
    return wrap(lib.tp_reverse_wrap(t._h, level))


def snapshot(t):
    """t as it is now: what the function writes into t, or the end of its level, does not change it."""
    return wrap(lib.tp_snapshot(t._h))


def reverse_unwrap(t, level):
    return wrap(lib.tp_reverse_unwrap(t._h, level))


def forward_wrap(primal, tangent, level):
    return wrap(lib.tp_forward_wrap(primal._h, NULL if tangent is None else tangent._h, level))


def forward_unwrap(t, level):
    """(primal, tangent or None)"""
    primal = wrap(lib.tp_forward_primal(t._h, level))
    h = lib.tp_forward_tangent(t._h, level)
    if h:
        return primal, wrap(h)
    if lib.tp_error_code():
        raise_error()
    return primal, None


def zeros_like(t):
    return t.new_zeros(t.shape)


def run_vjp(level, outputs, cotangents, inputs, retain, create_graph=False):
    """Cotangents of inputs (None: no dependence). cotangents None: ones; entries None: zeros."""
    n, m = len(outputs), len(inputs)
    outs = ffi.new("tp_tensor *[]", [t._h for t in outputs])
    ins = ffi.new("tp_tensor *[]", [t._h for t in inputs])
    res = ffi.new("tp_tensor *[]", m)
    cts = NULL
    if cotangents is not None:
        cts = ffi.new("tp_tensor *[]", [NULL if c is None else c._h for c in cotangents])
    if lib.tp_reverse_vjp(level, outs, cts, n, ins, m, retain, create_graph, res):
        raise_error()
    return [wrap(h) if h else None for h in res]


def is_differentiable(t):
    return t.dtype.is_floating_point or t.dtype.is_complex


