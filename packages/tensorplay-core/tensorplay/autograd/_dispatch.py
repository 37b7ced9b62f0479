"""Functions written in Python at every level.

NOTE: how a Function passes the levels
A Primitive is one call of a Function (or of a custom operator): forward, setup, backward, jvp and perhaps vmap over
plain sequences of arguments. `apply` looks at the highest level among the tensors and
  reverse  unwraps one level, applies the primitive to the lower values, lets setup save lower values on a context, and
           makes a graph node whose backward calls the primitive's;
  forward  applies it to the primals, and jvp (or the transpose of backward) to the tangents;
  vmap     calls the primitive's own rule, or applies a Mapped primitive, whose forward, setup, backward and jvp run
           those of the original under a vmap level, to the lower values.
Without a level forward runs. So each rule is written once and nests. A context holds lower values only: arguments and
outputs are recognised by identity, kept as saved values, and come back tracked when the backward itself is recorded.
Where a context holds tensors that setup computed, a recorded backward runs setup again on tracked arguments.
"""

from .._clib import callback_failed, check, ffi, lib, raise_error
from .._tensor import Tensor, wrap
from ._hooks import borrowed, give, hold

FunctionCtx = None  # set by function.py

_VMAP, _REVERSE, _FORWARD = lib.TP_LEVEL_VMAP, lib.TP_LEVEL_REVERSE, lib.TP_LEVEL_FORWARD
_RANDOMNESS = {lib.TP_RANDOM_ERROR: "error", lib.TP_RANDOM_DIFFERENT: "different", lib.TP_RANDOM_SAME: "same"}


class VmapInfo:
    """What a vmap rule is told: batch_size and randomness ("error", "different" or "same")."""

    __slots__ = ("batch_size", "randomness")

    def __init__(self, batch_size, randomness):
        self.batch_size, self.randomness = batch_size, randomness


class Primitive:
    """One call of a function with derivatives of its own."""

    name = "Function"
    returned = None  # how forward returned its outputs: None for one, else tuple or list
    n_extras = 0  # outputs that only the contexts of this call see
    extras_wanted = False  # whether a level above differentiates
    needs = ()
    has_vmap = False
    has_backward = True
    has_jvp = False

    def as_returned(self, outputs):
        """The outputs in the form in which forward returned them."""
        if self.returned is None:
            return outputs[0]
        return self.returned(outputs[: len(outputs) - self.n_extras])

    def lacks(self, what):
        return RuntimeError(f"{self.name}: no {what} is defined, which this transform needs")

    def unmappable(self):
        """An exception where there is neither a vmap rule nor a way to derive one."""
        return None


def as_outputs(primitive, out):
    """A list of what forward returned."""
    if isinstance(out, (tuple, list)):
        primitive.returned = tuple if type(out) not in (tuple, list) and not hasattr(out, "_fields") else type(out)
        if hasattr(out, "_fields"):
            primitive.returned = type(out)._make
        return list(out)
    primitive.returned = None
    return [out]


# ---- contexts ----


class _Slot:
    """Where a tensor stood."""

    __slots__ = ("i",)

    def __init__(self, i):
        self.i = i


def _take(x, tensors):
    """x with slots for the tensors in it, which are appended to tensors."""
    if isinstance(x, Tensor):
        tensors.append(x)
        return _Slot(len(tensors) - 1)
    kind = type(x)
    if kind is tuple or kind is list:
        return kind([_take(v, tensors) for v in x])
    if kind is dict:
        return {k: _take(v, tensors) for k, v in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return kind._make([_take(v, tensors) for v in x])
    return x


def _put(x, tensors):
    kind = type(x)
    if kind is _Slot:
        return tensors[x.i]
    if kind is tuple or kind is list:
        return kind([_put(v, tensors) for v in x])
    if kind is dict:
        return {k: _put(v, tensors) for k, v in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return kind._make([_put(v, tensors) for v in x])
    return x


_OF_THE_CALL = {"needs_input_grad", "_inputs"}  # describe the call, hold no tensors


def extract(ctx):
    """(skeleton, tensors): all that is on a context, without and with its tensors."""
    tensors = []
    return {k: v if k in _OF_THE_CALL else _take(v, tensors) for k, v in vars(ctx).items()}, tensors


def populate(ctx, skeleton, tensors):
    """Puts on a context what extract took from one; keeps what describes the context's own call."""
    own = ctx.__dict__
    for k, v in skeleton.items():
        if k not in _OF_THE_CALL:
            own[k] = _put(v, tensors)
        elif k not in own:
            own[k] = v


def positions(args, outputs):
    """id of a tensor -> ("in", i) or ("out", k)."""
    where = {id(t): ("out", k) for k, t in enumerate(outputs) if isinstance(t, Tensor)}
    where.update((id(t), ("in", i)) for i, t in enumerate(args) if isinstance(t, Tensor))
    return where


def _spec(x):
    return (x.shape, x.dtype) if isinstance(x, Tensor) else None


def _sequence(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _context(args, needs):
    ctx = FunctionCtx()
    ctx.needs_input_grad = needs
    ctx._inputs = tuple(map(_spec, args))
    return ctx


# ---- calling a primitive's rules ----


def _run_backward(primitive, ctx, grads):
    """One gradient an argument, of its shape and dtype, or None."""
    if not primitive.has_backward:
        raise primitive.lacks("backward")
    result = primitive.backward(ctx, grads)
    result = _sequence(result)
    n = len(ctx._inputs)
    if len(result) > n and all(g is None for g in result[n:]):
        result = result[:n]
    if len(result) != n:
        raise RuntimeError(f"{primitive.name}: backward returned {len(result)} gradients for {n} arguments")
    return [
        None if g is None else _fitted(primitive, i, g, spec) for i, (g, spec) in enumerate(zip(result, ctx._inputs))
    ]


def _fitted(primitive, i, g, spec):
    where = f"{primitive.name}: backward returned for argument {i}"
    if not isinstance(g, Tensor):
        raise TypeError(f"{where} a {type(g).__name__}: a Tensor or None is needed")
    if spec is None:
        raise RuntimeError(f"{where} a gradient, but that argument is no tensor: return None")
    shape, dtype = spec
    if g.shape != shape:
        extra = g.ndim - len(shape)
        if extra < 0 or any(w not in (1, s) for s, w in zip(g.shape[extra:], shape)):
            raise RuntimeError(f"{where} a gradient of shape {list(g.shape)}, the argument has shape {list(shape)}")
        dims = [*range(extra), *(extra + d for d, w in enumerate(shape) if w == 1 != g.shape[extra + d])]
        g = g.sum(dims, keepdim=True).reshape(shape)
    if g.dtype is not dtype:
        if g.dtype.is_complex and not dtype.is_complex:
            g = g.real
        g = g.to(dtype)
    return g


def _zeros(spec):
    shape, dtype = spec
    return wrap(lib.tp_zeros(shape, len(shape), dtype.code))


def _run_jvp(primitive, ctx, tangents, outputs):
    """The tangent of each output, or None. outputs without extras."""
    if primitive.has_jvp:
        if ctx._materialize:
            tangents = [
                _zeros(s) if t is None and s is not None and _differentiable(s[1]) else t
                for t, s in zip(tangents, ctx._inputs)
            ]
        result = primitive.jvp(ctx, tangents)
        result = list(_sequence(result))
        if len(result) != len(outputs):
            raise RuntimeError(f"{primitive.name}: jvp returned {len(result)} tangents for {len(outputs)} outputs")
        for k, (t, o) in enumerate(zip(result, outputs)):
            if t is None:
                continue
            if not isinstance(t, Tensor) or not isinstance(o, Tensor) or t.shape != o.shape:
                got = list(t.shape) if isinstance(t, Tensor) else type(t).__name__
                wanted = list(o.shape) if isinstance(o, Tensor) else "no tensor"
                raise RuntimeError(f"{primitive.name}: jvp returned for output {k} {got}, the output is {wanted}")
            result[k] = t.to(o.dtype)
        return result
    if not primitive.has_backward:
        raise primitive.lacks("jvp (nor a backward to derive it from)")
    return _transposed(primitive, ctx, tangents, outputs)


def _differentiable(dtype):
    return dtype.is_floating_point or dtype.is_complex


def _leaf(t, level):
    return wrap(lib.tp_reverse_wrap(t._h, level))


def _transposed(primitive, ctx, tangents, outputs):
    """jvp from backward: that is linear in its cotangent, and the transpose of a linear map is its own vjp."""
    depth = lib.tp_level_depth()
    level = lib.tp_reverse_push(lib.TP_ORIGIN_FUNCTION)
    if not level:
        raise_error()
    try:
        probes = [
            _leaf(_zeros(_spec(o)), level) if isinstance(o, Tensor) and _differentiable(o.dtype) else None
            for o in outputs
        ]
        grads = [
            p if p is not None else _zeros(_spec(o)) if isinstance(o, Tensor) and ctx._materialize else None
            for p, o in zip(probes, outputs)
        ]
        grads = _run_backward(primitive, ctx, grads)
        pairs = [(g, t) for g, t in zip(grads, tangents) if g is not None and t is not None]
        pairs = [(g, t) for g, t in pairs if lib.tp_is_tracked(g._h, level)]
        found = [p for p in probes if p is not None]
        if not pairs or not found:
            return [None] * len(outputs)
        result = ffi.new("tp_tensor *[]", len(found))
        check(
            lib.tp_reverse_vjp(
                level, [g._h for g, _ in pairs], [t._h for _, t in pairs], len(pairs), [p._h for p in found],
                len(found), False, False, result,
            )
        )  # fmt: skip
        result = iter([wrap(h) if h else None for h in result])
        return [None if p is None else next(result) for p in probes]
    finally:
        lib.tp_level_pop_to(depth)


# ---- levels ----


def call(primitive, args):
    """The primitive of args, in the form in which forward returns it."""
    for i, x in enumerate(args):
        if type(x) in (list, tuple, dict):
            inside = []
            _take(x, inside)
            if any(lib.tp_level_of(t._h) for t in inside):
                raise TypeError(
                    f"{primitive.name}: argument {i} is a {type(x).__name__} that holds differentiated or mapped "
                    "tensors: pass tensors as arguments of their own"
                )
    primitive.needs = tuple([isinstance(x, Tensor) and lib.tp_requires_grad(x._h) for x in args])
    outputs = apply(primitive, args)
    return primitive.as_returned(outputs)


def _top(xs):
    """The highest level among the tensors of xs, and its kind."""
    top, kind = 0, 0
    for x in xs:
        if isinstance(x, Tensor):
            level = lib.tp_level_of(x._h)
            if level > top:
                top, kind = level, lib.tp_level_kind_of(x._h)
    return top, kind


def apply(primitive, args):
    """The list of the primitive's outputs, extras included."""
    level, kind = _top(args)
    if not level:
        return primitive.forward(args)
    if kind == _REVERSE:
        outputs = _reverse(primitive, args, level)
    elif kind == _FORWARD:
        outputs = _forward(primitive, args, level)
    else:
        outputs = _vmap(primitive, args, level)
    return outputs


def _check_captured(primitive, outputs, level):
    for t in outputs:
        if isinstance(t, Tensor) and lib.tp_level_of(t._h) >= level:
            raise RuntimeError(
                f"{primitive.name}: forward used a differentiated or mapped tensor that is not among its arguments, "
                "whose derivative would be lost: pass it to apply, or use its detach()"
            )


def _reverse(primitive, args, level):
    needs = tuple([isinstance(x, Tensor) and lib.tp_is_tracked(x._h, level) for x in args])
    lower = tuple([wrap(lib.tp_reverse_unwrap(x._h, level)) if isinstance(x, Tensor) else x for x in args])
    records = any(needs) and lib.tp_level_records(level)
    primitive.extras_wanted |= records
    outputs = apply(primitive, lower)
    _check_captured(primitive, outputs, level)
    if not records:
        return outputs
    ctx = _context(lower, needs)
    primitive.setup(ctx, lower, outputs)
    return _Node().record(primitive, ctx, args, lower, outputs, level)


class _Saved:
    """A value that a node keeps."""

    __slots__ = ("_s",)

    def __init__(self, s):
        if not s:
            raise_error()
        self._s = s

    def __del__(self, _release=lib.tp_saved_release):
        _release(self._s)

    def unpack(self, tracked):
        return wrap(lib.tp_saved_unpack(self._s, tracked))


_names = {}


def _c_name(name):
    """A C string that lives as long as the process."""
    if name not in _names:
        _names[name] = ffi.new("char[]", name.encode("utf-8", "replace"))
    return _names[name]


class _Node:
    """What the graph node of one call keeps."""

    __slots__ = ("primitive", "skeleton", "saved", "again", "tensor_args", "out_specs")

    def record(self, primitive, ctx, args, lower, outputs, level):
        """Makes the node; returns the outputs tracked at level, which the node must not hold."""
        self.primitive = primitive
        self.tensor_args = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        tensor_outs = [k for k, t in enumerate(outputs) if isinstance(t, Tensor)]
        self.out_specs = [_spec(t) for t in outputs]
        fixed = {id(t) for t in ctx._nondifferentiable}
        nondiff = bytes([id(outputs[k]) in fixed for k in tensor_outs])
        ctx._nondifferentiable = ()
        self.skeleton, tensors = extract(ctx)
        ctx.__dict__.clear()  # the caller's setup may keep the context
        self.saved = self.again = None
        made = ffi.new("tp_tensor *[]", len(tensor_outs) or 1)
        check(
            lib.tpy_node_custom(
                level, [args[i]._h for i in self.tensor_args], len(self.tensor_args),
                [outputs[k]._h for k in tensor_outs], len(tensor_outs), ffi.from_buffer("uint8_t[]", nondiff),
                _c_name(primitive.name), hold(self), made,
            )
        )  # fmt: skip
        wrapped = list(outputs)
        for k, h in zip(tensor_outs, made):
            wrapped[k] = wrap(h)

        def save(source, t):
            kind, i = source
            if kind == "in":
                return _Saved(lib.tp_save_value(args[i]._h, level))
            if kind == "out":
                return _Saved(lib.tp_save_output(wrapped[i]._h, level))
            if lib.tp_level_of(t._h) >= level:
                return t  # a graph of forward's own
            return _Saved(lib.tp_save_value(t._h, level))

        where = positions(lower, outputs)
        sources = [where.get(id(t), ("value", None)) for t in tensors]
        self.saved = [save(s, t) for s, t in zip(sources, tensors)]
        if any(s[0] == "value" and _differentiable(t.dtype) for s, t in zip(sources, tensors)):
            self.again = (
                [save(("in", i), x) if isinstance(x, Tensor) else x for i, x in enumerate(args)],
                [save(("out", k), x) if isinstance(x, Tensor) else x for k, x in enumerate(wrapped)],
            )
        return wrapped

    def backward(self, grads, create_graph):
        primitive, specs = self.primitive, self.out_specs
        ctx = FunctionCtx()
        unpack = lambda s: s.unpack(create_graph) if type(s) is _Saved else s
        if create_graph and self.again:
            args, outputs = ([unpack(x) for x in xs] for xs in self.again)
            ctx.needs_input_grad, ctx._inputs = self.skeleton["needs_input_grad"], self.skeleton["_inputs"]
            primitive.setup(ctx, tuple(args), outputs)
        else:
            populate(ctx, self.skeleton, [unpack(s) for s in self.saved])
        n = len(specs) - primitive.n_extras
        if any(g is not None for g in grads[n:]):
            raise RuntimeError(
                f"{primitive.name}: a tensor that forward computed and saved is neither an argument nor an output, so "
                "the derivative of backward does not know it: return it as an output, or use setup_context"
            )
        if ctx._materialize:
            grads = [_zeros(s) if g is None and s is not None else g for g, s in zip(grads, specs)]
        return _run_backward(primitive, ctx, grads[:n])


@ffi.def_extern()
def tpy_backward_py(payload, grads, n_grads, grads_in, n_in, create_graph):
    try:
        node = ffi.from_handle(payload)
        given = iter(grads[0:n_grads])
        arrived = []
        for spec in node.out_specs:
            h = next(given) if spec is not None else None
            arrived.append(borrowed(h) if h else None)
        result = node.backward(arrived, create_graph)
        for place, i in enumerate(node.tensor_args):
            g = result[i]
            if g is not None:
                grads_in[place] = give(g)
        return 0
    except BaseException as error:
        return callback_failed(error)


def _forward(primitive, args, level):
    primals, tangents = [], []
    for x in args:
        t = None
        if isinstance(x, Tensor):
            lib.tp_error_clear()
            h = lib.tp_forward_tangent(x._h, level)
            if h:
                t = wrap(h)
            elif lib.tp_error_code():
                raise_error()
            x = wrap(lib.tp_forward_primal(x._h, level))
        primals.append(x)
        tangents.append(t)
    primals = tuple(primals)
    records = any(t is not None for t in tangents) and lib.tp_level_records(level)
    outputs = apply(primitive, primals)
    _check_captured(primitive, outputs, level)
    if not records:
        return outputs
    n = len(outputs) - primitive.n_extras
    if primitive.extras_wanted and any(_differentiable(t.dtype) for t in outputs[n:]):
        raise RuntimeError(
            f"{primitive.name}: a tensor that forward computed and saved is neither an argument nor an output, so its "
            "tangent is unknown: return it as an output, or use setup_context"
        )
    ctx = _context(primals, tuple([t is not None for t in tangents]))
    primitive.setup(ctx, primals, outputs)
    fixed = {id(t) for t in ctx._nondifferentiable}
    new = _run_jvp(primitive, ctx, tangents, outputs[:n])
    wrapped = list(outputs)
    for k, (t, o) in enumerate(zip(new, outputs)):
        if t is not None and id(o) not in fixed and _differentiable(o.dtype):
            wrapped[k] = wrap(lib.tp_forward_wrap(o._h, t._h, level))
    return wrapped


# ---- vmap ----


def _vmap_info(level):
    size, randomness = ffi.new("int64_t *"), ffi.new("int *")
    check(lib.tp_vmap_info(level, size, randomness))
    return size[0], randomness[0]


def _vmap(primitive, args, level):
    dims, lower = [], []
    for x in args:
        d = lib.tp_batch_dim(x._h, level) if isinstance(x, Tensor) else -1
        lower.append(wrap(lib.tp_batch_unwrap(x._h, level, d)) if d >= 0 else x)
        dims.append(None if d < 0 else d)
    dims, lower = tuple(dims), tuple(lower)
    size, randomness = _vmap_info(level)
    if primitive.has_vmap:
        return _vmap_rule(primitive, lower, dims, level, VmapInfo(size, _RANDOMNESS[randomness]))
    error = primitive.unmappable()
    if error is not None:
        raise error
    mapped = Mapped(primitive, level, size, randomness, dims)
    outputs = apply(mapped, lower)
    primitive.returned, primitive.n_extras = mapped.returned, mapped.n_extras
    _check_captured(primitive, outputs, level)
    return [wrap(lib.tp_batch_wrap(t._h, level, 0)) if isinstance(t, Tensor) else t for t in outputs]


def _vmap_rule(primitive, lower, dims, level, info):
    result = primitive.vmap(info, dims, lower)
    if not (isinstance(result, (tuple, list)) and len(result) == 2):
        raise RuntimeError(f"{primitive.name}: vmap must return the outputs and their batch dimensions")
    outputs = as_outputs(primitive, result[0])
    out_dims = result[1]
    if not isinstance(out_dims, (tuple, list)):
        out_dims = [out_dims] * len(outputs)
    if len(out_dims) != len(outputs):
        raise RuntimeError(f"{primitive.name}: vmap returned {len(out_dims)} out_dims for {len(outputs)} outputs")
    _check_captured(primitive, outputs, level)
    wrapped = []
    for t, d in zip(outputs, out_dims):
        if isinstance(t, Tensor) and d is not None:
            if not -t.ndim <= d < t.ndim:
                raise RuntimeError(f"{primitive.name}: vmap returned out_dim {d} for shape {list(t.shape)}")
            t = wrap(lib.tp_batch_wrap(t._h, level, d % t.ndim))
        wrapped.append(t)
    primitive.n_extras = 0
    return wrapped


class Mapped(Primitive):
    """A primitive over a batch: its rules are those of the original under vmap. All outputs are batched in front."""

    def __init__(self, inner, level, size, randomness, dims):
        self.inner, self.level, self.size, self.randomness, self.dims = inner, level, size, randomness, dims
        self.name, self.needs = inner.name, inner.needs
        self.has_backward, self.has_jvp = inner.has_backward, inner.has_jvp

    @property
    def extras_wanted(self):
        return self.inner.extras_wanted

    @extras_wanted.setter
    def extras_wanted(self, value):
        self.inner.extras_wanted = value

    def lacks(self, what):
        return self.inner.lacks(what)

    def forward(self, args):
        level = self.level
        outputs = self.inner.forward(tuple([_wrapped(x, d, level) for x, d in zip(args, self.dims)]))
        self.returned, self.n_extras = self.inner.returned, self.inner.n_extras
        return [_unwrapped(t, level) for t in outputs]

    def _under(self, run):
        """run(level) under a vmap level of its own: that of the call may have ended."""
        depth = lib.tp_level_depth()
        level = lib.tp_vmap_push(self.size, self.randomness)
        if not level:
            raise_error()
        try:
            return run(level)
        finally:
            lib.tp_level_pop_to(depth)

    def setup(self, ctx, args, outputs):
        def run(level):
            mapped = tuple([_wrapped(x, d, level) for x, d in zip(args, self.dims)])
            mapped_outputs = [_wrapped(t, 0, level) for t in outputs]
            inner = _context(mapped, ctx.needs_input_grad)
            self.inner.setup(inner, mapped, mapped_outputs)
            fixed = {id(t) for t in inner._nondifferentiable}
            ctx._nondifferentiable = tuple([o for o, m in zip(outputs, mapped_outputs) if id(m) in fixed])
            ctx._materialize = inner._materialize
            inner._nondifferentiable = ()
            skeleton, tensors = extract(inner)
            where = positions(mapped, mapped_outputs)
            kept, dims = [], []
            for t in tensors:
                kind, i = where.get(id(t), ("value", None))
                if kind == "in":
                    kept.append(args[i])
                    dims.append(self.dims[i])
                elif kind == "out":
                    kept.append(outputs[i])
                    dims.append(0)
                else:
                    d = lib.tp_batch_dim(t._h, level)
                    kept.append(t if d < 0 else wrap(lib.tp_batch_unwrap(t._h, level, d)))
                    dims.append(None if d < 0 else d)
            ctx._saved = tuple(kept)
            ctx._mapped = _Hidden((skeleton, dims))

        self._under(run)

    def _inner_context(self, ctx, level):
        skeleton, dims = ctx._mapped.value
        inner = FunctionCtx()
        populate(inner, skeleton, [_wrapped(t, d, level) for t, d in zip(ctx._saved, dims)])
        return inner

    def backward(self, ctx, grads):
        def run(level):
            inner = self._inner_context(ctx, level)
            result = _run_backward(self.inner, inner, [_wrapped(g, 0, level) for g in grads])
            out = []
            for g, d in zip(result, self.dims):
                if g is not None:
                    g = wrap(lib.tp_batch_unwrap(g._h, level, d or 0))
                    g = g.sum(0) if d is None else g
                out.append(g)
            return tuple(out)

        return self._under(run)

    def jvp(self, ctx, tangents):
        def run(level):
            inner = self._inner_context(ctx, level)
            mapped = [_wrapped(t, d, level) for t, d in zip(tangents, self.dims)]
            return tuple([_unwrapped(t, level) for t in _sequence(self.inner.jvp(inner, mapped))])

        return self._under(run)


class _Hidden:
    """Keeps extract from looking for tensors inside."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


def _wrapped(x, d, level):
    if d is None or not isinstance(x, Tensor):
        return x
    return wrap(lib.tp_batch_wrap(x._h, level, d))


def _unwrapped(x, level):
    return wrap(lib.tp_batch_unwrap(x._h, level, 0)) if isinstance(x, Tensor) else x
