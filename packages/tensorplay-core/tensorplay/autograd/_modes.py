"""no_grad, enable_grad, set_grad_enabled: as context managers and as decorators."""

import functools

from .._clib import lib


def is_grad_enabled() -> bool:
    """Whether operators are recorded for differentiation here."""
    return lib.tp_grad_mode_get()


class _Mode:
    """A context manager that may be entered more than once, and a decorator of functions and generator functions."""

    def __init__(self):
        self._tokens = []

    def __enter__(self):
        self._tokens.append(lib.tp_grad_mode_set(self._enabled))
        return self

    def __exit__(self, *exception):
        lib.tp_grad_mode_restore(self._tokens.pop())

    def _again(self):
        return type(self)()

    def __call__(self, function):
        import inspect  # costs more than the rest of this package

        if inspect.isgeneratorfunction(function):
            return self._generator(function)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with self._again():
                return function(*args, **kwargs)

        return wrapper

    def _generator(self, function):
        """The mode holds while the generator runs, not while it waits."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            generator = function(*args, **kwargs)
            step = functools.partial(next, generator)
            try:
                while True:
                    with self._again():
                        try:
                            value = step()
                        except StopIteration as stop:
                            return stop.value
                    try:
                        sent = yield value
                        step = functools.partial(generator.send, sent)
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        step = functools.partial(generator.throw, error)
            finally:
                with self._again():
                    generator.close()

        return wrapper


class no_grad(_Mode):
    """Operators inside are not recorded: their results are constants for autograd, and for the grad, vjp and jvp
    that were active on entry. Transforms that begin inside work as ever."""

    _enabled = False

    def __new__(cls, function=None):
        self = object.__new__(cls)
        if function is not None:  # @no_grad without parentheses
            self.__init__()
            return self(function)
        return self

    def __init__(self, function=None):
        super().__init__()


class enable_grad(no_grad):
    """Operators inside are recorded, also within no_grad."""

    _enabled = True


class set_grad_enabled(_Mode):
    """Switches recording on or off: at once when called, until the end of the block in a with statement."""

    def __init__(self, mode):
        super().__init__()
        self._enabled = bool(mode)
        self._tokens.append(lib.tp_grad_mode_set(self._enabled))
        self._entered = False

    def __enter__(self):
        if self._entered:
            return super().__enter__()
        self._entered = True
        return self

    def _again(self):
        return set_grad_enabled(self._enabled)

    def __call__(self, function):
        lib.tp_grad_mode_restore(self._tokens.pop())  # as a decorator it changes nothing where it stands
        return super().__call__(function)
