"""Functions whose derivatives the user writes, and the context they share between forward and backward."""

import functools
from typing import Any

from .._clib import lib
from .._tensor import Tensor
from . import _dispatch
from ._dispatch import Primitive, as_outputs
from ._modes import no_grad

__all__ = ["Function", "FunctionCtx", "VmapInfo", "once_differentiable"]

VmapInfo = _dispatch.VmapInfo


class FunctionCtx:
    """What forward (or setup_context) leaves for backward and jvp. Attributes may be set freely; tensors among them
    are kept like those of save_for_backward."""

    needs_input_grad = ()  # one bool an argument of apply
    _saved = ()
    _saved_forward = None
    _materialize = True
    _nondifferentiable = ()
    _inputs = ()  # (shape, dtype) of the tensor arguments, None for others

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors (or None) for backward, which finds them as saved_tensors. In-place changes of them in
        between are noticed there."""
        self._saved = _checked(tensors, "save_for_backward")

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors (or None) for jvp, which finds them as saved_tensors."""
        self._saved_forward = _checked(tensors, "save_for_forward")

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors that were saved, in that order."""
        return self._saved

    def mark_non_differentiable(self, *outputs: Tensor) -> None:
        """Says that these outputs have no derivative. Integer and bool outputs never have one."""
        self._nondifferentiable = _checked(outputs, "mark_non_differentiable")

    def mark_dirty(self, *tensors):
        """Not possible: a Function returns new tensors."""
        raise NotImplementedError("mark_dirty: a Function can't modify its arguments in place: return a new tensor")

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward and jvp get tensors of zeros (True, the default) or None where a derivative is zero."""
        self._materialize = bool(value)


_dispatch.FunctionCtx = FunctionCtx


def _checked(tensors, op):
    for t in tensors:
        if t is not None and not isinstance(t, Tensor):
            raise TypeError(
                f"{op}: only tensors and None are possible, got {type(t).__name__}: set an attribute instead"
            )
    return tensors


class Function:
    """A function with derivatives of your own, for autograd and every transform. Subclass it with static methods:

    forward(*args), any Python, called without differentiation, and setup_context(ctx, inputs, output), which saves
    what the derivatives need; or both in one as forward(ctx, *args).
    backward(ctx, *grad_outputs): a gradient (or None) for each argument.
    jvp(ctx, *tangents): the tangent of each output; derived from backward where it is missing.
    vmap(info, in_dims, *args): the outputs and their batch dimensions; without it, forward, backward and jvp are
    themselves mapped by vmap.

    Call it with `apply`. Tensors among the arguments are differentiated; those inside lists or dicts can't be.
    forward must use tensors only through its arguments: one that a transform tracks and that forward captures from
    outside is an error, as its derivative would be lost.
    """

    generate_vmap_rule = False

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("Function: forward is not defined")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("Function: setup_context is not defined")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError("Function: backward is not defined")

    @staticmethod
    def jvp(ctx, *tangents):
        raise NotImplementedError("Function: jvp is not defined")

    @staticmethod
    def vmap(info, in_dims, *args):
        raise NotImplementedError("Function: vmap is not defined")

    def __init__(self, *args, **kwargs):
        raise TypeError(f"{type(self).__name__}: a Function is not instantiated: call {type(self).__name__}.apply")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Calls the function."""
        return _dispatch.call(_UserFunction(cls), args)


def _overrides(cls, name):
    return getattr(cls, name) is not getattr(Function, name)


class _UserFunction(Primitive):
    """One call of a Function's subclass."""

    def __init__(self, cls):
        self.cls = cls
        self.name = cls.__name__
        self.combined = not _overrides(cls, "setup_context")
        self.record = None
        self.has_vmap = _overrides(cls, "vmap")
        if self.has_vmap and cls.generate_vmap_rule:
            raise RuntimeError(f"{self.name}: has a vmap method and generate_vmap_rule=True: choose one")
        self.has_backward = _overrides(cls, "backward")
        self.has_jvp = _overrides(cls, "jvp")

    def forward(self, args):
        cls = self.cls
        if not self.combined:
            return as_outputs(self, cls.forward(*args))
        ctx = FunctionCtx()
        ctx.needs_input_grad = self.needs
        outputs = as_outputs(self, cls.forward(ctx, *args))
        # what was saved: arguments and outputs are found again at every level, anything else is one more output
        skeleton, tensors = _dispatch.extract(ctx)
        where = _dispatch.positions(args, outputs)
        sources, extras = [], []
        for t in tensors:
            source = where.get(id(t))
            if source is None:
                if lib.tp_level_kind_of(t._h) in (lib.TP_LEVEL_REVERSE, lib.TP_LEVEL_FORWARD):
                    source = ("is", t)  # a graph of forward's own
                else:
                    source = ("out", len(outputs) + len(extras))
                    extras.append(t)
            sources.append(source)
        self.record = skeleton, sources
        self.n_extras = len(extras)
        return outputs + extras

    def setup(self, ctx, args, outputs):
        if not self.combined:
            self.cls.setup_context(ctx, args, self.as_returned(outputs))
            return
        skeleton, sources = self.record
        tensors = [args[i] if kind == "in" else outputs[i] if kind == "out" else i for kind, i in sources]
        _dispatch.populate(ctx, skeleton, tensors)

    def backward(self, ctx, grads):
        return self.cls.backward(ctx, *grads)

    def jvp(self, ctx, tangents):
        if ctx._saved_forward is not None:
            ctx._saved = ctx._saved_forward
        return self.cls.jvp(ctx, *tangents)

    def vmap(self, info, in_dims, args):
        return self.cls.vmap(info, in_dims, *args)


class _Once(Primitive):
    """A backward that can't be differentiated, as a function of what it reads."""

    def __init__(self, function, skeleton, n):
        self.function, self.skeleton, self.n = function, skeleton, n
        self.name = "once_differentiable"

    def forward(self, args):
        ctx = FunctionCtx()
        _dispatch.populate(ctx, self.skeleton, args[: self.n])
        with no_grad():
            return as_outputs(self, self.function(ctx, *args[self.n :]))

    def setup(self, ctx, args, outputs):
        pass

    def refuse(self, ctx, _):
        raise RuntimeError("the backward of a Function is marked once_differentiable: it has no derivative of its own")

    backward = jvp = refuse
    has_backward = has_jvp = True


def once_differentiable(function):
    """Decorator of a backward that can't itself be differentiated, for example because it calls other libraries.
    Differentiating it is a RuntimeError."""

    @functools.wraps(function)
    def backward(ctx, *grads):
        skeleton, tensors = _dispatch.extract(ctx)
        return _dispatch.call(_Once(function, skeleton, len(tensors)), (*tensors, *grads))

    return backward
