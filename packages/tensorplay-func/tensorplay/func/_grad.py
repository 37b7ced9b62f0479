"""grad, vjp, jvp and linearize."""

import functools

from tensorplay import Tensor

from . import _levels as levels
from ._tree import flatten, map_tensors, unflatten


def _name(func):
    return getattr(func, "__name__", type(func).__name__)


def normalize_argnums(argnums, nargs, what):
    """argnums as a tuple of non-negative ints."""
    single = isinstance(argnums, int) and not isinstance(argnums, bool)
    nums = (argnums,) if single else argnums
    if not isinstance(nums, tuple) or not nums or any(isinstance(n, bool) or not isinstance(n, int) for n in nums):
        raise ValueError(f"{what}: argnums must be an int or a non-empty tuple of ints, got {argnums!r}")
    for n in nums:
        if not -nargs <= n < nargs:
            raise ValueError(f"{what}: argnums {n} is out of range for {nargs} positional arguments")
    nums = tuple(n % nargs for n in nums)
    if len(set(nums)) != len(nums):
        raise ValueError(f"{what}: argnums {argnums!r} names an argument twice")
    return nums


def check_inputs(leaves, what):
    for x in leaves:
        if not isinstance(x, Tensor):
            raise ValueError(f"{what}: only Tensors can be differentiated, got a value of type {type(x).__name__}")
        if not levels.is_differentiable(x):
            raise RuntimeError(f"{what}: only floating and complex Tensors can be differentiated, got {x.dtype}")


def split_aux(out, what):
    if not isinstance(out, tuple) or len(out) != 2:
        got = type(out).__name__
        raise RuntimeError(f"{what}: with has_aux=True the function must return (output, aux), it returned {got}")
    return out


def output_leaves(out, what):
    leaves, spec = flatten(out)
    for x in leaves:
        if not isinstance(x, Tensor):
            got = type(x).__name__
            raise RuntimeError(f"{what}: the function must return Tensors, it returned a value of type {got}")
    return leaves, spec


def _grad_and_value(func, argnums, has_aux, what, args, kwargs):
    depth = levels.depth()
    try:
        level = levels.push_reverse(levels.GRAD)
        nums = normalize_argnums(argnums, len(args), what)
        chosen = args[nums[0]] if isinstance(argnums, int) else tuple(args[n] for n in nums)
        if type(chosen) is Tensor:
            leaves, spec = [chosen], None
        else:
            leaves, spec = flatten(chosen)
        check_inputs(leaves, what)
        tracked = [levels.reverse_wrap(x, level) for x in leaves]
        inputs = [levels.snapshot(x) for x in tracked]
        new = tracked[0] if spec is None else unflatten(spec, tracked)
        full = list(args)
        if isinstance(argnums, int):
            full[nums[0]] = new
        else:
            for n, x in zip(nums, new, strict=True):
                full[n] = x
        out, aux = func(*full, **kwargs), None
        if has_aux:
            out, aux = split_aux(out, what)
        if not isinstance(out, Tensor):
            raise RuntimeError(f"{what}: the function must return one Tensor, it returned {type(out).__name__}")
        if out.ndim:
            raise RuntimeError(
                f"{what}: the function must return a 0-d Tensor, it returned one of shape {list(out.shape)}; "
                "reduce it, or use vjp or jacrev"
            )
        if not levels.is_differentiable(out):
            raise RuntimeError(f"{what}: the function returned {out.dtype}, which is not differentiable")
        if out.dtype.is_complex:
            raise RuntimeError(f"{what}: the function must return a real value, it returned {out.dtype}; use vjp")
        grads = levels.run_vjp(level, [out], None, inputs, retain=False)
        grads = [levels.zeros_like(x) if g is None else g for g, x in zip(grads, leaves, strict=True)]
        value = levels.reverse_unwrap(out, level)
        if has_aux:
            aux = map_tensors(lambda t: levels.reverse_unwrap(t, level), aux)
        return grads[0] if spec is None else unflatten(spec, grads), value, aux
    finally:
        levels.restore(depth)


def grad(func, argnums=0, has_aux=False):
    """The gradient of a function that returns a 0-d Tensor.

    Args:
        func: returns a real 0-d Tensor, or (that, aux) with has_aux.
        argnums: which positional argument(s), pytrees of Tensors, to differentiate with respect to: an int, or a tuple
            of ints for a tuple of gradients.
        has_aux: func returns (output, aux); the result is then (gradient, aux).

    Returns a function with func's arguments, whose result has the structure of the chosen argument(s). For complex
    inputs it is the conjugate Wirtinger derivative, the direction of steepest ascent, as in PyTorch.

    Raises:
        RuntimeError: the output is not a real 0-d Tensor, or an input is not floating or complex.
        ValueError: argnums does not fit.
    """

    @functools.wraps(func, updated=())
    def wrapped(*args, **kwargs):
        g, _, aux = _grad_and_value(func, argnums, has_aux, f"grad({_name(func)})", args, kwargs)
        return (g, aux) if has_aux else g

    return wrapped


def grad_and_value(func, argnums=0, has_aux=False):
    """grad that also returns the function's value: (gradient, value), or (gradient, (value, aux)) with has_aux.

    Arguments and errors are those of grad.
    """

    @functools.wraps(func, updated=())
    def wrapped(*args, **kwargs):
        g, value, aux = _grad_and_value(func, argnums, has_aux, f"grad_and_value({_name(func)})", args, kwargs)
        return (g, (value, aux)) if has_aux else (g, value)

    return wrapped


class Pullback:
    """What a reverse pass needs: outputs and inputs at a level that may have ended."""

    __slots__ = ("level", "outputs", "spec", "inputs", "primals", "like")

    def __init__(self, level, outputs, spec, inputs, primals):
        self.level, self.outputs, self.spec = level, outputs, spec
        self.inputs, self.primals = inputs, primals
        self.like = [levels.reverse_unwrap(o, level) for o in outputs]

    def __call__(self, cotangents, retain=True):
        """Cotangents (entries may be None) of the outputs to those of the inputs, as a list."""
        grads = levels.run_vjp(self.level, self.outputs, cotangents, self.inputs, retain)
        return [levels.zeros_like(x) if g is None else g for g, x in zip(grads, self.primals, strict=True)]


def pullback(func, args, has_aux, what, origin):
    """(outputs pytree, Pullback, input spec, aux)"""
    depth = levels.depth()
    try:
        level = levels.push_reverse(origin)
        leaves, spec = flatten(args)
        check_inputs(leaves, what)
        tracked = [levels.reverse_wrap(x, level) for x in leaves]
        inputs = [levels.snapshot(x) for x in tracked]
        out, aux = func(*unflatten(spec, tracked)), None
        if has_aux:
            out, aux = split_aux(out, what)
            aux = map_tensors(lambda t: levels.reverse_unwrap(t, level), aux)
        outs, out_spec = output_leaves(out, what)
        pull = Pullback(level, [levels.snapshot(o) for o in outs], out_spec, inputs, leaves)
        return unflatten(out_spec, pull.like), pull, spec, aux
    finally:
        levels.restore(depth)


def _match(tree, spec, like, what, word):
    leaves, got = flatten(tree)
    if got != spec:
        raise RuntimeError(f"{what}: the {word} have the structure {got}, expected {spec}")
    for i, (c, o) in enumerate(zip(leaves, like, strict=True)):
        if not isinstance(c, Tensor):
            raise RuntimeError(f"{what}: the {word} must be Tensors, got {type(c).__name__}")
        if c.shape != o.shape:
            raise RuntimeError(f"{what}: {word[:-1]} {i} has shape {list(c.shape)}, expected {list(o.shape)}")
        if c.dtype != o.dtype:
            if levels.is_differentiable(o) and (
                not levels.is_differentiable(c) or (c.dtype.is_complex and not o.dtype.is_complex)
            ):
                raise TypeError(f"{what}: {word[:-1]} {i} has dtype {c.dtype}, expected {o.dtype}")
            leaves[i] = c.to(o.dtype)
    return leaves


def vjp(func, *primals, has_aux=False):
    """The value of func at primals, and its vector-Jacobian product.

    Args:
        func: takes pytrees of Tensors, returns a pytree of Tensors (or (that, aux) with has_aux).
        primals: floating or complex.

    Returns (output, vjp_fn), or (output, vjp_fn, aux). vjp_fn takes cotangents with the structure and shapes of the
    output and returns a tuple with one entry a primal. It may be called any number of times, after everything else has
    ended, and under other transforms.

    Raises:
        RuntimeError: no primals, non-Tensor outputs, or cotangents that do not fit.
    """
    what = f"vjp({_name(func)})"
    if not primals:
        raise RuntimeError(f"{what}: no primals were given")
    out, pull, in_spec, aux = pullback(func, primals, has_aux, what, levels.VJP)

    def vjp_fn(cotangents, retain_graph=True):
        return unflatten(in_spec, pull(_match(cotangents, pull.spec, pull.like, "vjp_fn", "cotangents"), retain_graph))

    return (out, vjp_fn, aux) if has_aux else (out, vjp_fn)


def push_forward_call(func, leaves, spec, tangents, has_aux, what, origin, strict=False):
    """(primal leaves, tangent leaves or None entries, output spec, aux) of func at leaves."""
    depth = levels.depth()
    try:
        level = levels.push_forward(origin)
        duals = [levels.forward_wrap(x, t, level) for x, t in zip(leaves, tangents, strict=True)]
        out, aux = func(*unflatten(spec, duals)), None
        if has_aux:
            out, aux = split_aux(out, what)
            aux = map_tensors(lambda t: levels.forward_unwrap(t, level)[0], aux)
        outs, out_spec = output_leaves(out, what)
        pairs = [levels.forward_unwrap(o, level) for o in outs]
        if strict and any(t is None for _, t in pairs):
            raise RuntimeError(f"{what}: with strict=True every output must depend on the inputs")
        return [p for p, _ in pairs], [t for _, t in pairs], out_spec, aux
    finally:
        levels.restore(depth)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """The value of func at primals, and its Jacobian-vector product with tangents.

    Args:
        primals, tangents: tuples of the same structure, shapes and dtypes; floating or complex.
        strict: RuntimeError where an output does not depend on the inputs (otherwise its tangent is zero).

    Returns (output, output_tangent), or (output, output_tangent, aux) with has_aux.

    Raises:
        RuntimeError: primals and tangents do not match, or outputs are not Tensors.
    """
    what = f"jvp({_name(func)})"
    for word, v in (("primals", primals), ("tangents", tangents)):
        if not isinstance(v, (tuple, list)) or not v:
            raise RuntimeError(f"{what}: {word} must be a non-empty tuple, got {type(v).__name__}")
    primals, tangents = tuple(primals), tuple(tangents)
    leaves, spec = flatten(primals)
    check_inputs(leaves, what)
    tans = _match(tangents, spec, leaves, what, "tangents")
    ps, ts, out_spec, aux = push_forward_call(func, leaves, spec, tans, has_aux, what, levels.JVP, strict)
    ts = [levels.zeros_like(p) if t is None else t for p, t in zip(ps, ts, strict=True)]
    result = unflatten(out_spec, ps), unflatten(out_spec, ts)
    return (*result, aux) if has_aux else result


def linearize(func, *primals):
    """The value of func at primals and its linear approximation there: (output, jvp_fn).

    func is evaluated once, here. jvp_fn takes tangents with the structure of primals and returns the tangent of the
    output; it may be called any number of times, and under other transforms. It is the transpose of the vjp function:
    that one, recorded on a zero cotangent, is linear, and its own vjp is the Jacobian-vector product.

    Raises:
        RuntimeError: no primals, or tangents that do not fit.
    """
    what = f"linearize({_name(func)})"
    if not primals:
        raise RuntimeError(f"{what}: no primals were given")
    out, pull, in_spec, _ = pullback(func, primals, False, what, levels.LINEARIZE)
    live = [i for i, o in enumerate(pull.like) if levels.is_differentiable(o)]
    depth = levels.depth()
    try:
        level = levels.push_reverse(levels.LINEARIZE)
        zeros = [levels.reverse_wrap(levels.zeros_like(pull.like[i]), level) for i in live]
        cts = [None] * len(pull.like)
        for i, z in zip(live, zeros, strict=True):
            cts[i] = z
        back = levels.run_vjp(pull.level, pull.outputs, cts, pull.inputs, retain=True)
    finally:
        levels.restore(depth)
    used = [i for i, g in enumerate(back) if g is not None]
    primal_leaves, spec, like = pull.primals, pull.spec, pull.like

    def jvp_fn(*tangents):
        tans = _match(tangents, in_spec, primal_leaves, "jvp_fn", "tangents")
        got = levels.run_vjp(level, [back[i] for i in used], [tans[i] for i in used], zeros, retain=True)
        result = [None] * len(like)
        for i, t in zip(live, got, strict=True):
            result[i] = t
        return unflatten(spec, [levels.zeros_like(o) if t is None else t for t, o in zip(result, like, strict=True)])

    return out, jvp_fn
