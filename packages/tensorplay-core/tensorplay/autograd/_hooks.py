"""Python objects that libtp holds, and hooks on gradients."""

from .._clib import callback_failed, check, ffi, lib
from .._tensor import Tensor, wrap

_held = {}


def hold(x):
    """A `void *` for x, which lives until libtp calls destroy with it."""
    h = ffi.new_handle(x)
    _held[int(ffi.cast("uintptr_t", h))] = h
    return h


@ffi.def_extern()
def tpy_destroy_py(payload):
    _held.pop(int(ffi.cast("uintptr_t", payload)), None)


def borrowed(h):
    """A Tensor for a handle that belongs to the caller."""
    h = ffi.cast("tp_tensor *", h)
    lib.tp_retain(h)
    return wrap(h)


def give(t):
    """A handle with a reference of its own."""
    lib.tp_retain(t._h)
    return t._h


@ffi.def_extern()
def tpy_hook_py(payload, grad, result):
    try:
        new = ffi.from_handle(payload)(borrowed(grad))
        if new is not None:
            if not isinstance(new, Tensor):
                raise TypeError(f"hook: must return a Tensor or None, got {type(new).__name__}")
            result[0] = give(new)
        return 0
    except BaseException as error:
        return callback_failed(error)


class RemovableHandle:
    """A registered hook: remove() takes it away. Also a context manager that removes it at its end."""

    def __init__(self, tensor, number):
        self._tensor, self.id = tensor, number

    def remove(self):
        """Takes the hook away; again does nothing."""
        if self._tensor is not None:
            tensor, self._tensor = self._tensor, None
            check(lib.tp_remove_hook(tensor._h, self.id))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


def register_hook(tensor, hook):
    """See Tensor.register_hook."""
    if not callable(hook):
        raise TypeError(f"register_hook: the hook must be callable, got {type(hook).__name__}")
    number = ffi.new("uint64_t *")
    check(lib.tpy_register_hook(tensor._h, hold(hook), number))
    return RemovableHandle(tensor, number[0])
