"""Products with Jacobians and Hessians, and these themselves, of functions of tensors.

Functions take tensors and return a tensor or a tuple of tensors; inputs are a tensor or a tuple of them, and results
have the form of the inputs (Jacobians: outputs by inputs). Over pytrees, and faster, the same is in `tensorplay.func`.
With create_graph, results can be differentiated; with strict, an output that does not depend on an input is a
RuntimeError instead of a zero.
"""

from collections.abc import Callable
from typing import Any

from .._clib import lib, raise_error
from .._tensor import Tensor, wrap
from . import enable_grad, grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tuple(x, op, what):
    if isinstance(x, Tensor):
        return (x,), True
    if not isinstance(x, (tuple, list)) or not all(isinstance(t, Tensor) for t in x):
        raise TypeError(f"{op}: {what} must be a Tensor or a tuple of them, got {type(x).__name__}")
    return tuple(x), False


def _form(xs, single):
    return xs[0] if single else tuple(xs)


def _leaves(inputs, create_graph):
    return [(t.clone() if create_graph and t.requires_grad else t.detach().clone().requires_grad_()) for t in inputs]


def _cotangent(v, like, op):
    if v is None:
        if any(t.numel() != 1 for t in like):
            raise RuntimeError(f"{op}: v may only be left out for one element")
        return [wrap(lib.tp_ones_like(t._h, -1)) for t in like]
    vs, _ = _tuple(v, op, "v")
    if len(vs) != len(like) or any(a.shape != b.shape for a, b in zip(vs, like)):
        raise ValueError(f"{op}: v has shapes {[list(t.shape) for t in vs]}, needed {[list(t.shape) for t in like]}")
    return list(vs)


def _gradients(outputs, inputs, cotangents, create_graph, strict, op, batched=False):
    pairs = [(o, c) for o, c in zip(outputs, cotangents) if o.requires_grad]
    found = [None] * len(inputs)
    if pairs:
        found = grad(
            [o for o, _ in pairs], inputs, [c for _, c in pairs], True, create_graph, allow_unused=True,
            is_grads_batched=batched,
        )  # fmt: skip
    out = []
    for i, (g, t) in enumerate(zip(found, inputs)):
        if g is None:
            if strict:
                raise RuntimeError(f"{op}: the output does not depend on input {i}, and strict=True was given")
            g = wrap(lib.tp_zeros_like(t._h, -1))
            if batched:
                g = g.expand(cotangents[0].shape[0], *t.shape)
        out.append(g)
    return out


def _done(x, create_graph):
    if isinstance(x, tuple):
        return tuple([_done(t, create_graph) for t in x])
    return x if create_graph else x.detach()


def vjp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """func(*inputs), and the product of v with its Jacobian. v has the form of the outputs."""
    xs, single = _tuple(inputs, "vjp", "inputs")
    with enable_grad():
        xs = _leaves(xs, create_graph)
        outputs, one = _tuple(func(*xs), "vjp", "the result of func")
        grads = _gradients(outputs, xs, _cotangent(v, outputs, "vjp"), create_graph, strict, "vjp")
    return _done(_form(outputs, one), create_graph), _done(_form(grads, single), create_graph)


def jvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """func(*inputs), and the product of its Jacobian with v, by one forward pass. v has the form of the inputs."""
    xs, _ = _tuple(inputs, "jvp", "inputs")
    if not create_graph:
        xs = tuple(t.detach() for t in xs)
    vs = _cotangent(v, xs, "jvp")
    depth = lib.tp_level_depth()
    level = lib.tp_forward_push(lib.TP_ORIGIN_JVP)
    if not level:
        raise_error()
    try:
        vs = [t.to(x.dtype) for x, t in zip(xs, vs)]
        duals = [wrap(lib.tp_forward_wrap(x._h, t._h, level)) for x, t in zip(xs, vs)]
        outputs, one = _tuple(func(*duals), "jvp", "the result of func")
        values, tangents = [], []
        for k, t in enumerate(outputs):
            values.append(wrap(lib.tp_forward_primal(t._h, level)))
            h = lib.tp_forward_tangent(t._h, level)
            if not h and strict:
                raise RuntimeError(f"jvp: output {k} does not depend on the inputs, and strict=True was given")
            tangents.append(wrap(h) if h else wrap(lib.tp_zeros_like(values[-1]._h, -1)))
    finally:
        lib.tp_level_pop_to(depth)
    return _form(values, one), _form(tangents, one)


def jacobian(
    func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = True
) -> Any:
    """The Jacobian of func at inputs: for an output of shape a and an input of shape b, a tensor of shape a + b.

    One tensor for one output and one input, else a tuple over outputs of tuples over inputs. All rows are computed
    together, by vmap; vectorize=False computes one after the other, for less memory.
    """
    xs, single = _tuple(inputs, "jacobian", "inputs")
    with enable_grad():
        xs = _leaves(xs, create_graph)
        outputs, one = _tuple(func(*xs), "jacobian", "the result of func")
        rows = []
        for o in outputs:
            basis = _basis(o)
            if vectorize and o.numel():
                columns = _gradients([o], xs, [basis], create_graph, strict, "jacobian", batched=True)
            else:
                each = [_gradients([o], xs, [basis[i]], create_graph, strict, "jacobian") for i in range(o.numel())]
                columns = [_stacked([g[i] for g in each], x) for i, x in enumerate(xs)]
            rows.append(_form([g.reshape(o.shape + x.shape) for g, x in zip(columns, xs)], single))
    return _done(_form(rows, one), create_graph)


def _stacked(parts, like):
    if not parts:
        return wrap(lib.tp_zeros((0, *like.shape), like.ndim + 1, like.dtype.code))
    return wrap(lib.tp_stack([t._h for t in parts], len(parts), 0))


def _basis(o):
    n = o.numel()
    return wrap(lib.tp_eye(n, n, o.dtype.code)).reshape((n, *o.shape))


def _gradient_of(func, op):
    def gradient(*xs):
        y = func(*xs)
        if not isinstance(y, Tensor) or y.numel() != 1:
            got = list(y.shape) if isinstance(y, Tensor) else type(y).__name__
            raise RuntimeError(f"{op}: func must return a tensor of one element, got {got}")
        return tuple(_gradients([y.reshape(())], xs, _cotangent(None, [y.reshape(())], op), True, False, op))

    return gradient


def hessian(
    func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = True
) -> Any:
    """The Hessian of a function of one element: for inputs of shapes a and b, a tensor of shape a + b."""
    xs, single = _tuple(inputs, "hessian", "inputs")
    h = jacobian(_gradient_of(func, "hessian"), xs, create_graph, strict, vectorize)
    return h[0][0] if single else h


def vhp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """func(*inputs), and the product of v with its Hessian. v has the form of the inputs."""
    xs, single = _tuple(inputs, "vhp", "inputs")
    with enable_grad():
        xs = _leaves(xs, create_graph)
        values = []

        def kept(*args):
            values.append(func(*args))
            return values[0]

        gradients = _gradient_of(kept, "vhp")(*xs)
        products = _gradients(gradients, xs, _cotangent(v, xs, "vhp"), create_graph, strict, "vhp")
    return _done(values[0], create_graph), _done(_form(products, single), create_graph)


hvp = vhp
