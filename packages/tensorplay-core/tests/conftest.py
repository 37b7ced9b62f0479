"""Small transforms over libtp's levels, so that the tests of this package need no other package."""

import contextlib
import types

import pytest

import tensorplay as tp
from tensorplay._clib import ffi, lib, raise_error
from tensorplay._tensor import wrap


@contextlib.contextmanager
def _pushed(level, depth):
    if not level:
        raise_error()
    try:
        yield level
    finally:
        lib.tp_level_pop_to(depth)


def vjp(f):
    """x, ct -> the gradient of f at x."""

    def run(x, ct=None):
        depth = lib.tp_level_depth()
        with _pushed(lib.tp_reverse_push(lib.TP_ORIGIN_VJP), depth) as level:
            tracked = wrap(lib.tp_reverse_wrap(x._h, level))
            y = f(tracked)
            ct = tp.ones_like(wrap(lib.tp_reverse_unwrap(y._h, level))) if ct is None else ct
            out = ffi.new("tp_tensor *[1]")
            if lib.tp_reverse_vjp(level, [y._h], [ct._h], 1, [tracked._h], 1, True, True, out):
                raise_error()
            if not out[0]:
                return tp.zeros_like(x)
            g = wrap(out[0])
            return wrap(lib.tp_reverse_unwrap(g._h, level))

    return run


def jvp(f):
    """x, tangent -> the directional derivative of f at x."""

    def run(x, t=None):
        depth = lib.tp_level_depth()
        t = tp.ones_like(x) if t is None else t
        with _pushed(lib.tp_forward_push(lib.TP_ORIGIN_JVP), depth) as level:
            y = f(wrap(lib.tp_forward_wrap(x._h, t._h, level)))
            h = lib.tp_forward_tangent(y._h, level)
            if not h:
                p = wrap(lib.tp_forward_primal(y._h, level))
                return tp.zeros_like(p)
            return wrap(h)

    return run


def vmap(f, randomness="error"):
    """f over the first dimension of each tensor argument."""
    flag = {"error": 0, "different": 1, "same": 2}[randomness]

    def run(*args):
        depth = lib.tp_level_depth()
        size = next(a for a in args if isinstance(a, tp.Tensor)).shape[0]
        with _pushed(lib.tp_vmap_push(size, flag), depth) as level:
            mapped = [wrap(lib.tp_batch_wrap(a._h, level, 0)) if isinstance(a, tp.Tensor) else a for a in args]
            out = f(*mapped)
            return wrap(lib.tp_batch_unwrap(out._h, level, 0))

    return run


@pytest.fixture(scope="session")
def transforms():
    return types.SimpleNamespace(vjp=vjp, jvp=jvp, vmap=vmap)
