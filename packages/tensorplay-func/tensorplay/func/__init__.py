"""Function transforms: vmap, grad, vjp, jvp and everything composed of them.

Every transform takes a Python function over pytrees (nested tuples, lists, dicts, named tuples, dataclasses, nodes
registered with optree) of Tensors, and all of them nest in any order: they are levels of libtp's dispatcher.
"""

from ._functional_call import functional_call, stack_module_state
from ._grad import grad, grad_and_value, jvp, linearize, vjp
from ._jacobian import hessian, jacfwd, jacrev
from ._misc import debug_unwrap, functionalize
from ._rearrange import rearrange
from ._version import version as __version__
from ._vmap import chunk_vmap, vmap

_NN = ("replace_all_batch_norm_modules_", "batch_norm_without_running_stats")

__all__ = [
    "chunk_vmap", "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd",
    "jacrev", "jvp", "linearize", "rearrange", "stack_module_state", "vjp", "vmap",
]  # without _NN: a star import must work where nn is not installed


def __getattr__(name):
    if name in _NN:
        try:
            import tensorplay.nn as nn
        except ImportError as e:
            raise ImportError(f"tensorplay.func.{name} is in tensorplay-nn: pip install tensorplay-nn") from e
        try:
            return getattr(nn, name)
        except AttributeError:
            raise AttributeError(f"the installed tensorplay-nn is too old for tensorplay.func.{name}") from None
    raise AttributeError(f"module 'tensorplay.func' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_NN])
