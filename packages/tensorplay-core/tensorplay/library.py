"""Operators of your own, written in Python.

    @tp.library.custom_op("mylib::cube")
    def cube(x: tp.Tensor) -> tp.Tensor:
        return tp.from_numpy(x.numpy() ** 3)

    @cube.register_vjp
    def _(ctx, grad):
        (x,) = ctx.inputs
        return grad * 3 * x * x

The function sees plain tensors, whatever transforms are active, so it may use NumPy or any other library. Rules are
written with tensorplay's operators and may be differentiated and mapped again.
"""

import inspect
from collections.abc import Callable
from typing import Any

from ._tensor import Tensor
from .autograd import _dispatch
from .autograd._dispatch import Primitive, VmapInfo, as_outputs

__all__ = ["CustomOp", "VmapInfo", "custom_op", "get_op"]

_operators = {}

_TYPES = {
    Tensor: "Tensor", int: "int", float: "float", bool: "bool", str: "str", complex: "complex",
    list[int]: "int[]", list[float]: "float[]", list[bool]: "bool[]", tuple[int, ...]: "int[]",
}  # fmt: skip


def _type_name(annotation, where):
    if annotation in _TYPES:
        return _TYPES[annotation]
    arguments = getattr(annotation, "__args__", ())
    if type(None) in arguments and len(arguments) == 2:
        other = arguments[0] if arguments[1] is type(None) else arguments[1]
        return _type_name(other, where) + "?"
    if getattr(annotation, "__name__", "") == "dtype":
        return "dtype"
    raise TypeError(f"custom_op: {where} has type {annotation!r}: use Tensor, int, float, bool, str, dtype, lists of "
                    "numbers, or their optional forms")  # fmt: skip


def _schema_of(function, name):
    """A signature line from the annotations of a function."""
    hints = inspect.get_annotations(function, eval_str=True)
    parts, keyword_only = [], False
    for p in inspect.signature(function).parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise TypeError(f"custom_op: {name}: parameter {p.name!r} stands for any number of arguments")
        if p.name not in hints:
            raise TypeError(f"custom_op: {name}: parameter {p.name!r} has no type annotation")
        if p.kind is p.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            parts.append("*")
        default = "" if p.default is p.empty else f"={p.default!r}"
        parts.append(f"{_type_name(hints[p.name], f'parameter {p.name!r}')} {p.name}{default}")
    if "return" not in hints:
        raise TypeError(f"custom_op: {name}: the result has no type annotation")
    result = hints["return"]
    if getattr(result, "__origin__", None) is tuple:
        returns = "(" + ", ".join(_type_name(a, "the result") for a in result.__args__) + ")"
    else:
        returns = _type_name(result, "the result")
    return f"{name}({', '.join(parts)}) -> {returns}"


class _Call(Primitive):
    """One call of a custom operator."""

    def __init__(self, op):
        self.op, self.name = op, op.name
        self.has_vmap, self.has_backward, self.has_jvp = op._vmap is not None, op._vjp is not None, op._jvp is not None

    def forward(self, args):
        outputs = as_outputs(self, self.op.function(*args))
        for k, t in enumerate(outputs):
            if not isinstance(t, Tensor):
                raise TypeError(f"{self.name}: returned a {type(t).__name__} as output {k}, a Tensor is needed")
            if any(t is a for a in args):  # an alias would let the caller change what it passed
                outputs[k] = t.clone()
        return outputs

    def setup(self, ctx, args, outputs):
        if self.op._setup is not None:
            self.op._setup(ctx, args, self.as_returned(outputs))
        else:
            ctx.inputs, ctx.output = args, self.as_returned(outputs)

    def backward(self, ctx, grads):
        return self.op._vjp(ctx, *grads)

    def jvp(self, ctx, tangents):
        return self.op._jvp(ctx, *tangents)

    def vmap(self, info, in_dims, args):
        return self.op._vmap(info, in_dims, *args)

    def lacks(self, what):
        register = "register_vjp" if what == "backward" else "register_jvp or register_vjp"
        return RuntimeError(
            f"{self.name}: the custom operator is not differentiable: no rule was given with {register}"
        )

    def unmappable(self):
        return NotImplementedError(f"Kernel not found for op: {self.name} on backend: VmapCPU")


class CustomOp:
    """An operator written in Python; made by custom_op, called like the function it wraps.

    Attributes: name, schema (its signature), function.
    """

    def __init__(self, name, function, schema=None):
        self.name, self.function = name, function
        self._signature = inspect.signature(function)
        self.schema = schema or _schema_of(function, name)
        self._vjp = self._jvp = self._vmap = self._setup = None
        self.__name__, self.__doc__, self.__wrapped__ = name.rpartition("::")[2], function.__doc__, function

    def __repr__(self):
        return f"<custom operator {self.schema}>"

    def __call__(self, *args, **kwargs):
        if kwargs or len(args) != len(self._signature.parameters):
            bound = self._signature.bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        if kwargs:  # keyword-only parameters are not differentiated
            names = list(kwargs)
            return _dispatch.call(_KeywordCall(self, names), (*args, *kwargs.values()))
        return _dispatch.call(_Call(self), args)

    def register_vjp(self, function=None, *, setup_context=None):
        """Gives the reverse-mode rule: function(ctx, *grads) returns a gradient (or None) for each argument.

        ctx.inputs and ctx.output hold the call's arguments and result; setup_context(ctx, inputs, output) replaces
        that by saving what the rule needs, with ctx.save_for_backward or as attributes. Also a decorator.
        """
        return self._register("_vjp", function, setup_context)

    register_autograd = register_vjp

    def register_jvp(self, function=None, *, setup_context=None):
        """Gives the forward-mode rule: function(ctx, *tangents) returns the tangent of each output. Without it, the
        rule follows from the vjp. Also a decorator."""
        return self._register("_jvp", function, setup_context)

    def register_vmap(self, function=None):
        """Gives the batching rule: function(info, in_dims, *args) returns the outputs and their batch dimensions.

        in_dims has an entry an argument, None for what is not mapped; info.batch_size, info.randomness. Without it,
        vmap over the operator is a NotImplementedError. Also a decorator.
        """
        return self._register("_vmap", function, None)

    def _register(self, what, function, setup_context):
        if setup_context is not None:
            self._setup = setup_context
        if function is None:
            return lambda f: self._register(what, f, None)
        if not callable(function):
            raise TypeError(f"{self.name}: a rule must be callable, got {type(function).__name__}")
        setattr(self, what, function)
        return function


class _KeywordCall(_Call):
    """A call with keyword-only arguments, which are last."""

    def __init__(self, op, names):
        super().__init__(op)
        function, n = op.function, len(names)
        self.op = _Bound(op, lambda *args: function(*args[:-n], **dict(zip(names, args[-n:]))))


class _Bound:
    """An operator with another function."""

    def __init__(self, op, function):
        self.function = function
        self._vjp, self._jvp, self._vmap, self._setup = op._vjp, op._jvp, op._vmap, op._setup


def custom_op(
    name: str, function: Callable[..., Any] | None = None, *, schema: str | None = None, mutates_args: Any = ()
) -> Any:
    """Makes an operator of a Python function: `@custom_op("namespace::name")`.

    The function takes tensors and numbers and returns a tensor or a tuple of tensors. schema: its signature, such as
    "(Tensor x, float p=2.0) -> Tensor"; read from the type annotations if None. mutates_args must be empty: an
    operator returns new tensors. Rules are given with register_vjp, register_jvp and register_vmap of the result;
    without a vjp, differentiating is a RuntimeError, without a batching rule, vmap is a NotImplementedError.
    """
    if not isinstance(name, str) or name.count("::") != 1 or not all(name.split("::")):
        raise ValueError(f"custom_op: the name must have the form 'namespace::name', got {name!r}")
    if mutates_args not in ((), [], None, "none"):
        raise ValueError(f"custom_op: {name}: an operator can't modify its arguments: mutates_args must be empty")
    if function is None:
        return lambda f: custom_op(name, f, schema=schema)
    if schema is not None and schema.startswith("("):
        schema = name + schema
    op = CustomOp(name, function, schema)
    _operators[name] = op
    return op


def get_op(name: str) -> CustomOp:
    """The custom operator of that name. KeyError if there is none."""
    return _operators[name]
