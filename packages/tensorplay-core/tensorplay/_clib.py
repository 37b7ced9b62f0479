"""The loaded library, and its errors as exceptions."""

import atexit
import threading

from ._tensorplay_cffi import ffi, lib

if lib.tp_abi_version() != lib.TP_ABI_VERSION:
    raise ImportError(
        f"tensorplay was built for ABI {lib.TP_ABI_VERSION} of libtp, but the loaded libtp has "
        f"{lib.tp_abi_version()}: reinstall tensorplay-core"
    )

NULL = ffi.NULL
PLAIN_LEVEL = 1  # id of the level of plain autograd outside every transform


class LinAlgError(RuntimeError):
    """A matrix is singular or not positive definite, or an iteration did not converge."""


LinAlgError.__module__ = "tensorplay.linalg"

_CLASSES = {
    lib.TP_ERR_VALUE: ValueError,
    lib.TP_ERR_TYPE: TypeError,
    lib.TP_ERR_INDEX: IndexError,
    lib.TP_ERR_RUNTIME: RuntimeError,
    lib.TP_ERR_NOT_IMPLEMENTED: NotImplementedError,
    lib.TP_ERR_MEMORY: MemoryError,
    lib.TP_ERR_LINALG: LinAlgError,
    lib.TP_ERR_BUFFER: BufferError,
}
_CALLBACK = lib.TP_ERR_CALLBACK


class _Pending(threading.local):
    exception = None


_pending = _Pending()


def error_message():
    """The message of the last failure in this thread."""
    return ffi.string(lib.tp_error_message()).decode("utf-8", "replace")


def raise_error():
    """Raises the last failure of libtp in this thread. An exception of a Python callback comes back as itself."""
    code = lib.tp_error_code()
    if code == _CALLBACK:
        exception, _pending.exception = _pending.exception, None
        if exception is not None:
            try:
                raise exception
            finally:
                del exception
    message = error_message()
    lib.tp_error_clear()
    raise _CLASSES.get(code, RuntimeError)(message)


def check(status):
    """Raises when a function that returns a status reports a failure."""
    if status:
        raise_error()


def callback_failed(exception):
    """To be returned by a callback that raised: keeps the exception for raise_error."""
    _pending.exception = exception
    message = f"{type(exception).__name__}: {exception}".encode("utf-8", "replace")
    return lib.tp_error_set(_CALLBACK, message)


@atexit.register
def _shut_down():
    lib.tpy_set_alive(0)
