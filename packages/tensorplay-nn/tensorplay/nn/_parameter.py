"""Parameter and Buffer: Tensors that a Module registers when they are assigned to it."""

import tensorplay as tp
from tensorplay import Tensor


class Parameter(Tensor):
    """A leaf Tensor that a Module lists among its parameters.

    Args:
        data: a Tensor (its memory is shared) or what `tp.tensor` takes. None: empty.
        requires_grad: whether plain autograd tracks it.
    """

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = tp.empty(0)
        elif not isinstance(data, Tensor):
            data = tp.tensor(data)
        return cls._make_subclass(data, requires_grad)

    def _repr_name(self):
        return "tensor"

    def __repr__(self):
        return f"Parameter containing:\n{Tensor.__repr__(self)}"


class Buffer(Tensor):
    """A Tensor that a Module lists among its buffers: state that is not trained.

    Args:
        data: a Tensor (its memory is shared) or what `tp.tensor` takes.
        persistent: whether it is part of the state_dict.
    """

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = tp.empty(0)
        elif not isinstance(data, Tensor):
            data = tp.tensor(data)
        t = cls._make_subclass(data, False)
        t.persistent = persistent
        return t
