"""Random numbers: generators and seeds."""

import functools
import operator

from . import _ops
from ._clib import ffi, lib, raise_error
from ._tensor import check_device

__all__ = [
    "Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "normal", "rand", "rand_like",
    "randint", "randint_like", "randn", "randn_like", "randperm", "seed", "set_rng_state",
]  # fmt: skip

_MASK = (1 << 64) - 1


def _seed(value, op):
    n = operator.index(value)
    if not -(1 << 63) <= n <= _MASK:
        raise ValueError(f"{op}: a seed has 64 bits, got {n}")
    return n & _MASK


class Generator:
    """A source of random numbers of its own: Philox4x32-10, whose state is a seed and a position.

    What is drawn depends on those and on how many numbers are drawn, never on the number of threads.
    """

    __slots__ = ("_g", "__weakref__")

    def __init__(self, device="cpu"):
        check_device(device)
        g = lib.tp_generator_new(67280421310721)
        if not g:
            raise_error()
        self._g = ffi.gc(g, lib.tp_generator_release)

    def manual_seed(self, seed: int) -> "Generator":
        """Starts anew from a seed, an int of 64 bits. Returns the generator."""
        lib.tp_generator_seed(self._g, _seed(seed, "manual_seed"))
        return self

    def initial_seed(self) -> int:
        """The seed it started from."""
        return lib.tp_generator_initial_seed(self._g)

    def seed(self) -> int:
        """Starts anew from a seed of the operating system's, which is returned."""
        import secrets

        value = secrets.randbits(64)
        self.manual_seed(value)
        return value

    def get_state(self) -> tuple[int, int]:
        """The state, for set_state: (seed, position)."""
        state = ffi.new("uint64_t[2]")
        lib.tp_generator_get_state(self._g, state, state + 1)
        return state[0], state[1]

    def set_state(self, state: tuple[int, int]) -> "Generator":
        """Goes on from a state that get_state returned. Returns the generator."""
        seed, position = state
        lib.tp_generator_set_state(self._g, _seed(seed, "set_state"), _seed(position, "set_state"))
        return self

    @property
    def device(self):
        """Where it draws: the CPU."""
        from ._tensor import CPU

        return CPU

    def __reduce__(self):
        return _restored, (self.get_state(),)

    def __repr__(self):
        seed, position = self.get_state()
        return f"<tensorplay.Generator seed={seed} position={position}>"


def _restored(state):
    return Generator().set_state(state)


default_generator = object.__new__(Generator)
default_generator._g = lib.tp_default_generator()


def manual_seed(seed: int) -> Generator:
    """Seeds the generator that random functions use unless they are given one. Returns it."""
    return default_generator.manual_seed(seed)


def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator.initial_seed()


def seed() -> int:
    """Seeds the default generator from the operating system; returns the seed."""
    return default_generator.seed()


def get_rng_state() -> tuple[int, int]:
    """The state of the default generator, for set_rng_state."""
    return default_generator.get_state()


def set_rng_state(state: tuple[int, int]) -> None:
    """Puts the default generator back into a state that get_rng_state returned."""
    default_generator.set_state(state)


# ---- operators that draw ----


def _factory(function):
    """The operator with the keywords of functions that make tensors: device and requires_grad."""

    @functools.wraps(function)
    def draw(*args, device=None, requires_grad=False, **kwargs):
        check_device(device)
        t = function(*args, **kwargs)
        return t.requires_grad_() if requires_grad else t

    return draw


normal = _factory(_ops.normal)
rand = _factory(_ops.rand)
rand_like = _factory(_ops.rand_like)
randint = _factory(_ops.randint)
randint_like = _factory(_ops.randint_like)
randn = _factory(_ops.randn)
randn_like = _factory(_ops.randn_like)
randperm = _factory(_ops.randperm)
