"""What runs around a module's forward and around its part of a backward pass."""

import itertools
import weakref

from tensorplay import Tensor
from tensorplay.autograd import Function

_ids = itertools.count()


class RemovableHandle:
    """What registering a hook returns; remove() takes the hook off. Also a context manager."""

    def __init__(self, hooks):
        self._hooks = weakref.ref(hooks)
        self.id = next(_ids)

    def remove(self):
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


class Hooks(dict):
    """An ordered table of hooks, with what was said about each, that can be referred to weakly."""

    __slots__ = ("__weakref__",)

    def register(self, hook, prepend, **options):
        if not callable(hook):
            raise TypeError(f"a hook must be callable, got {type(hook).__name__}")
        handle = RemovableHandle(self)
        others = list(self.items()) if prepend else ()
        if prepend:
            self.clear()
        self[handle.id] = (hook, options)
        self.update(others)
        return handle


class _Passing(Function):
    """The identity, whose backward is seen by a callback."""

    @staticmethod
    def forward(callback, *tensors):
        return tuple(t.clone() for t in tensors)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.callback = inputs[0]
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *grads):
        return (None, *ctx.callback(grads))

    @staticmethod
    def jvp(ctx, _, *tangents):
        return tangents


def _passed(values, callback):
    """A tuple whose floating tensors go through the identity; whether any of them is differentiated."""
    at = [i for i, v in enumerate(values) if isinstance(v, Tensor) and (v.is_floating_point() or v.is_complex())]
    if not at or not any(values[i].requires_grad for i in at):
        return values, False

    def spread(grads):
        whole = [None] * len(values)
        for i, g in zip(at, grads, strict=True):
            whole[i] = g
        whole = callback(tuple(whole))
        return tuple(whole[i] for i in at)

    new = list(values)
    for i, t in zip(at, _Passing.apply(spread, *(values[i] for i in at)), strict=True):
        new[i] = t
    return tuple(new), True


def _replaced(what, module, grads, new):
    if new is None:
        return grads
    new = new if isinstance(new, tuple) else (new,)
    if len(new) != len(grads):
        raise RuntimeError(
            f"{type(module).__name__}: a backward hook returned {len(new)} gradients of {what}, expected {len(grads)}"
        )
    return new


class _Backward:
    """One call of a module whose backward pass has hooks."""

    def __init__(self, module):
        self.module = module
        self.after = [hook for hook, _ in module._backward_hooks.values()]
        self.before = [hook for hook, _ in module._backward_pre_hooks.values()]
        self.outputs = None
        self.count = 0
        self.entered = False

    def enter(self, args):
        self.count = len(args)
        new, self.entered = _passed(args, self._at_inputs)
        return new

    def leave(self, out):
        values = out if isinstance(out, tuple) else (out,)
        new, _ = _passed(values, self._at_outputs)
        if not isinstance(out, tuple):
            return new[0]
        return type(out)(*new) if hasattr(out, "_fields") else new

    def _at_outputs(self, grads):
        for hook in self.before:
            grads = _replaced("outputs", self.module, grads, hook(self.module, grads))
        self.outputs = grads
        if not self.entered:  # no gradient arrives at an input
            self._at_inputs((None,) * self.count)
        return grads

    def _at_inputs(self, grads):
        # the graph holds this object: gradients that have a graph of their own must not stay in it
        outputs, self.outputs = self.outputs, None
        for hook in self.after:
            grads = _replaced("inputs", self.module, grads, hook(self.module, grads, outputs))
        return grads


def call(module, args, kwargs):
    """module.forward(*args, **kwargs) with all of its hooks."""
    for hook, options in list(module._forward_pre_hooks.values()):
        if options["with_kwargs"]:
            new = hook(module, args, kwargs)
            if new is not None:
                if not isinstance(new, tuple) or len(new) != 2:
                    raise RuntimeError(
                        f"{type(module).__name__}: a forward pre-hook with kwargs must return None or (args, kwargs), "
                        f"got {type(new).__name__}"
                    )
                args, kwargs = new
        else:
            new = hook(module, args)
            if new is not None:
                args = new if isinstance(new, tuple) else (new,)
    around = _Backward(module) if module._backward_hooks or module._backward_pre_hooks else None
    seen = set()

    def after(out, always_only=False):
        for key, (hook, options) in list(module._forward_hooks.items()):
            if key in seen or (always_only and not options["always_call"]):
                continue
            seen.add(key)
            new = hook(module, args, kwargs, out) if options["with_kwargs"] else hook(module, args, out)
            if new is not None:
                out = new
        return out

    out = None
    try:
        if around is not None:
            args = around.enter(args)
        out = after(module.forward(*args, **kwargs))
        return out if around is None else around.leave(out)
    except Exception:
        try:
            after(out, True)
        except Exception:  # the first error is the one that is told
            pass
        raise
