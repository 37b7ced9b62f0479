"""Kernels read nothing before or behind their operands: each lies against a page that must not be touched."""

import ctypes
import sys

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import _ops

F = type("F", (), {k: staticmethod(v) for k, v in _ops.NAMESPACES["nn.functional"].items()})
PAGE = 65536  # a multiple of the page size everywhere
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="maps pages by Linux's numbers")


@pytest.fixture(params=["before", "behind"])
def guarded(request):
    """a -> a tensor of its values that begins, or ends, at a forbidden page."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    maps = []

    def place(a):
        size = (a.nbytes + PAGE - 1) // PAGE * PAGE + 2 * PAGE
        p = libc.mmap(None, size, 3, 0x22, -1, 0)
        maps.append((p, size))
        libc.mprotect(p, PAGE, 0)
        libc.mprotect(p + size - PAGE, PAGE, 0)
        at = p + PAGE if request.param == "before" else p + size - PAGE - a.nbytes
        r = np.ndarray(a.shape, a.dtype, (ctypes.c_char * a.nbytes).from_address(at))
        r[...] = a
        t = tp.from_numpy(r)
        assert t.data_ptr() == at
        return t

    yield place
    for p, size in maps:
        libc.munmap(p, size)


RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int8"])
def test_products(guarded, dtype):
    def g(*shape):
        return guarded(RNG.standard_normal(shape).astype(dtype))

    for m, k, n in [(1, 1, 1), (3, 5, 7), (16, 1, 17), (1, 9, 33), (33, 9, 1), (40, 40, 40), (70, 65, 66), (8, 300, 9)]:
        for a in (g(m, k), g(k, m).t()):
            for b in (g(k, n), g(n, k).t()):
                assert tuple((a @ b).shape) == (m, n)
        assert tuple((g(3, m, k) @ g(3, k, n)).shape) == (3, m, n)
        assert tuple((g(m, k) @ g(k)).shape) == (m,)
        assert (g(k) @ g(k)).ndim == 0
        assert tuple(F.linear(g(m, k), g(n, k), g(n)).shape) == (m, n)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize(
    "shape, window",
    [
        ((2, 3, 9, 10), (4, 3, 3, 3)), ((1, 1, 28, 28), (10, 1, 5, 5)), ((2, 3, 20, 33), (13, 3, 3, 2)),
        ((2, 4, 5, 5), (6, 4, 1, 1)), ((1, 1, 1, 5), (1, 1, 1, 1)), ((1, 3, 6, 6), (5, 3, 3, 3)),
        ((1, 1, 4, 17), (7, 1, 1, 2)),
    ],
)  # fmt: skip
def test_convolutions(guarded, transforms, dtype, shape, window):
    x, w = (guarded(RNG.standard_normal(s).astype(dtype)) for s in (shape, window))
    for arguments in [{}, {"padding": 1}, {"stride": 2}, {"stride": (2, 1), "padding": (0, 2)}, {"padding": "same"}]:
        y = F.conv2d(x, w, **arguments)
        g = guarded(RNG.standard_normal(tuple(y.shape)).astype(dtype))
        assert transforms.vjp(lambda t, a=arguments: F.conv2d(t, w, **a))(x, g).shape == x.shape
        assert transforms.vjp(lambda t, a=arguments: F.conv2d(x, t, **a))(w, g).shape == w.shape


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_pooling(guarded, dtype):
    for shape in [(2, 3, 9, 10), (1, 1, 5, 5), (2, 8, 8)]:
        x = guarded(RNG.standard_normal(shape).astype(dtype))
        for arguments in [(2,), (3, 2, 1), ((1, 3),), (2, 2, 0, 1, True)]:
            assert F.max_pool2d(x, *arguments).ndim == len(shape)
