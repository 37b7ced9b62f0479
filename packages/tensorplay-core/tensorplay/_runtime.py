"""The process: threads, memory, what the CPU offers."""

import operator

from ._clib import check, ffi, lib, raise_error

__all__ = ["blas_library", "cpu_capability", "empty_cache", "get_num_threads", "memory_stats", "set_num_threads"]


def set_num_threads(n: int) -> None:
    """How many threads an operator may use, the calling one included. ValueError unless n >= 1.

    The default is TP_NUM_THREADS of the environment, else what CPU affinity and container quota allow.
    """
    n = operator.index(n)
    if not 1 <= n < 1 << 31:
        raise ValueError(f"set_num_threads: at least 1 is needed, got {n}")
    check(lib.tp_set_num_threads(n))


def get_num_threads() -> int:
    """How many threads an operator may use."""
    return lib.tp_get_num_threads()


def cpu_capability() -> str:
    """The widest instructions the kernels use here: "avx512", "avx2", "neon" or "default"."""
    return ffi.string(lib.tp_cpu_capability()).decode()


def blas_library() -> str:
    """Where matrix products go: the path of the BLAS library, or "built-in"."""
    path = lib.tp_blas_library()
    if not path:
        raise_error()
    return ffi.string(path).decode()


def memory_stats() -> dict[str, int]:
    """A dict of allocated_bytes, cached_bytes, peak_bytes and allocation_count of this process's tensors."""
    stats = ffi.new("tp_memory_stats *", {"struct_size": ffi.sizeof("tp_memory_stats")})
    check(lib.tp_get_memory_stats(stats))
    return {
        name: getattr(stats, name) for name in ("allocated_bytes", "cached_bytes", "peak_bytes", "allocation_count")
    }


def empty_cache() -> None:
    """Gives memory that is kept for reuse back to the system."""
    lib.tp_empty_cache()
