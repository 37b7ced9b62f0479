"""Plain autograd: gradients of tensors that require them, and functions with derivatives of their own.

The transforms of `tensorplay.func` and plain autograd are the same machinery: what is here works inside them too.
"""

from collections.abc import Sequence

from .._clib import NULL, ffi, lib, raise_error
from .._tensor import Tensor, wrap
from ._modes import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .function import Function

__all__ = [
    "Function", "backward", "enable_grad", "grad", "is_grad_enabled", "no_grad", "set_grad_enabled",
]  # fmt: skip


Tensors = Tensor | Sequence[Tensor]
Cotangents = Tensor | Sequence[Tensor | None] | None


def _tensors(x, op, name):
    xs = (x,) if isinstance(x, Tensor) else tuple(x) if isinstance(x, Sequence) else None
    if xs is None:
        if hasattr(x, "__iter__"):
            xs = tuple(x)
        else:
            raise TypeError(f"{op}: {name} must be a Tensor or a sequence of them, got {type(x).__name__}")
    for t in xs:
        if not isinstance(t, Tensor):
            raise TypeError(f"{op}: {name} must hold tensors, got {type(t).__name__}")
    return xs


def _cotangents(grads, outputs, op):
    if grads is None:
        return NULL
    grads = (grads,) if isinstance(grads, Tensor) else tuple(grads)
    if len(grads) != len(outputs):
        raise ValueError(f"{op}: {len(grads)} cotangents for {len(outputs)} outputs")
    for g in grads:
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"{op}: a cotangent must be a Tensor or None, got {type(g).__name__}")
    return [NULL if g is None else g._h for g in grads]


def grad(
    outputs: Tensors, inputs: Tensors, grad_outputs: Cotangents = None, retain_graph: bool | None = None,
    create_graph: bool = False, allow_unused: bool | None = None, is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """The gradients of outputs with respect to inputs: a tuple of tensors, one an input, of its shape and dtype.

    grad_outputs: a cotangent of its output's shape for each output; may be left out (or None) for outputs of one
    element. retain_graph: keep what the backward needs for another one (default: create_graph). create_graph: record
    this computation, so that the results can be differentiated. allow_unused: None in place of a gradient where no
    output depends on an input, which is an error otherwise; materialize_grads: zeros there. is_grads_batched: the
    first dimension of the cotangents is a batch, and becomes the first of the results; computed by one vmap.

    Works inside every transform on tensors that are tracked there: under vmap it gives the gradient of each sample,
    under grad and jvp a result that stays differentiable. RuntimeError for an input that does not require gradients,
    or was captured from outside a transform on which the output depends.
    """
    outputs, inputs = _tensors(outputs, "grad", "outputs"), _tensors(inputs, "grad", "inputs")
    if materialize_grads and allow_unused is False:
        raise ValueError("grad: materialize_grads needs allow_unused")
    if is_grads_batched:
        return _batched_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads)
    cotangents = _cotangents(grad_outputs, outputs, "grad")
    n = len(inputs)
    out = ffi.new("tp_tensor *[]", n)
    if lib.tp_autograd_grad(
        [t._h for t in outputs], cotangents, len(outputs), [t._h for t in inputs], n,
        create_graph if retain_graph is None else bool(retain_graph), bool(create_graph),
        bool(allow_unused) or materialize_grads, out,
    ):  # fmt: skip
        raise_error()
    grads = tuple([wrap(h) if h else None for h in out])
    if materialize_grads:
        grads = tuple([wrap(lib.tp_zeros_like(t._h, -1)) if g is None else g for g, t in zip(grads, inputs)])
    return grads


def _batched_grad(outputs, inputs, cotangents, retain_graph, create_graph, allow_unused, materialize_grads):
    cotangents = (cotangents,) if isinstance(cotangents, Tensor) else tuple(cotangents or ())
    sizes = {g.shape[0] for g in cotangents if g is not None and g.ndim}
    if len(sizes) != 1:
        raise ValueError(f"grad: batched cotangents need one batch size, got {sorted(sizes)}")
    depth = lib.tp_level_depth()
    level = lib.tp_vmap_push(sizes.pop(), lib.TP_RANDOM_ERROR)
    if not level:
        raise_error()
    try:
        mapped = [None if g is None else wrap(lib.tp_batch_wrap(g._h, level, 0)) for g in cotangents]
        grads = grad(outputs, inputs, mapped, retain_graph, create_graph, allow_unused, False, materialize_grads)
        return tuple([None if g is None else wrap(lib.tp_batch_unwrap(g._h, level, 0)) for g in grads])
    finally:
        lib.tp_level_pop_to(depth)


def backward(
    tensors: Tensors, grad_tensors: Cotangents = None, retain_graph: bool | None = None, create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:  # fmt: skip
    """Adds the gradients of tensors with respect to the leaves of their graph (or to inputs only) to those' `grad`.

    grad_tensors: a cotangent of its tensor's shape for each; may be left out (or None) for tensors of one element.
    retain_graph: keep what the backward needs for another one (default: create_graph). create_graph: record this
    computation. RuntimeError where nothing requires gradients, or the graph was freed by an earlier backward.
    """
    tensors = _tensors(tensors, "backward", "tensors")
    cotangents = _cotangents(grad_tensors, tensors, "backward")
    handles = NULL
    if inputs is not None:
        inputs = _tensors(inputs, "backward", "inputs")
        if not inputs:
            raise ValueError("backward: inputs is empty")
        handles = [t._h for t in inputs]
    if lib.tp_backward(
        [t._h for t in tensors], cotangents, len(tensors), handles, len(inputs or ()),
        create_graph if retain_graph is None else bool(retain_graph), bool(create_graph),
    ):  # fmt: skip
        raise_error()


def __getattr__(name):
    if name == "functional":
        from importlib import import_module

        return import_module(__name__ + ".functional")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
