"""opcheck: everything that is asked of an operator, for one operator."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import tensorplay as tp
from tensorplay import Tensor

from ._close import TOLERANCES, assert_close, mismatch, to_numpy
from ._gradcheck import gradcheck
from ._samples import Sample, func, outputs, stacked, strided, to_tensor
from ._vmap import check_sample, compare

CHECKS = ("value", "grad", "vmap", "compose")


def opcheck(
    op: Callable[..., Any],
    samples: Iterable[Any],
    reference: Callable[..., Any] | None = None,
    *,
    checks: Sequence[str] = CHECKS,
    dtype: str | Callable[[Sample], str | tuple[str, ...]] | None = None,
    order: int = 2,
    vmap: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> bool:
    """Everything that is asked of an operator, for one operator; AssertionError where something is wrong, else True.

    Args:
        op: a function of Tensors and other values that returns a Tensor or a sequence of Tensors: an operator, a
            custom operator, a Function's apply.
        samples: calls to try: Sample objects, or tuples of arguments in which NumPy arrays and Tensors stand for
            tensors. Derivatives are checked at the float64 and complex128 ones.
        reference: the same function over NumPy arrays.
        checks: which of
            "value": values, shapes (and dtypes, with dtype) against the reference, also for memory that is not
                contiguous; without a reference only that layouts agree;
            "grad": vjp and jvp against finite differences, and their derivatives up to `order`;
            "vmap": vmap against a loop, for every in_dim of every tensor, alone and together, batch sizes 0, 1 and 3;
            "compose": vmap of vjp, of jvp, of their derivatives and of vmap; vjp and jvp of vmap.
        dtype: the expected dtype of the outputs: a name, or a function of the sample that gives one (or a tuple).
        vmap: a reason why the operator can't be mapped: vmap must then raise NotImplementedError.
        rtol, atol: of values, by dtype if None.
    """
    __tracebackhide__ = True
    samples = [_as_sample(s) for s in samples]
    if not samples:
        raise ValueError("opcheck: no samples were given")
    unknown = set(checks) - set(CHECKS)
    if unknown:
        raise ValueError(f"opcheck: there is no check {sorted(unknown)[0]!r}: use some of {', '.join(CHECKS)}")
    differentiated = 0
    for s in samples:
        if "value" in checks:
            check_value(op, s, reference, dtype, rtol=rtol, atol=atol)
        if "grad" in checks and s.grad:
            differentiated += check_grad(op, s, order=order)
        if "vmap" in checks:
            check_vmap_of(op, s, vmap, rtol=rtol, atol=atol)
        if "compose" in checks and vmap is None:
            check_compose(op, s)
    if "grad" in checks and not differentiated and any(_doubles(s) for s in samples if s.grad):
        raise AssertionError(f"opcheck: {_name(op)}: no sample could be differentiated")
    return True


def _name(op):
    return getattr(op, "__name__", type(op).__name__)


def _as_sample(s):
    if isinstance(s, Sample):
        return s
    if isinstance(s, (Tensor, np.ndarray)):
        s = (s,)

    def numpy(x):
        if isinstance(x, Tensor):
            return x.detach().numpy()
        if isinstance(x, (list, tuple)):
            return type(x)(map(numpy, x))
        return x

    return Sample(tuple(map(numpy, s)))


def _doubles(sample):
    """Positions among the arrays that are differentiated."""
    return [i for i, a in enumerate(sample.arrays()) if a.dtype.name in ("float64", "complex128")]


# ---- value ----


def widened(a):
    """What a reference computes with: double precision for what is floating."""
    if a.dtype.kind == "f":
        return a.astype(np.float64)
    return a.astype(np.complex128) if a.dtype.kind == "c" else a


def check_value(
    op, sample, reference=None, dtype=None, *, tensors=to_tensor, wide=True, rtol=None, atol=None, layouts=True
):
    """Values against the reference; then with other memory layouts against the first values."""
    __tracebackhide__ = True
    fn = sample.bind(op)
    arrays = sample.arrays()
    what = f"{_name(op)}{sample}"
    given = [tensors(a) for a in arrays]
    before = [to_numpy(t).copy() for t in given]
    got = fn(*given)
    for i, (t, b) in enumerate(zip(given, before)):
        if not np.array_equal(to_numpy(t), b, equal_nan=b.dtype.kind in "fc"):
            raise AssertionError(f"{what}: tensor argument {i} was changed")
    if dtype is not None:
        names = dtype(sample) if callable(dtype) else dtype
        names = (names,) * len(got) if isinstance(names, str) else names
        found = tuple(t.dtype.name for t in got)
        if found != tuple(names):
            raise AssertionError(f"{what}: the dtype is {', '.join(found)}, expected {', '.join(names)}")
    if reference is not None and sample.value:
        args, kwargs = sample.rebuild([widened(a) if wide else a for a in arrays])
        with np.errstate(all="ignore"):
            want = reference(*args, **kwargs)
        want = tuple(want) if isinstance(want, (tuple, list)) else (want,)
        if len(want) != len(got):
            raise AssertionError(f"{what}: {len(got)} outputs, expected {len(want)}")
        for k, (g, w) in enumerate(zip(got, want)):
            _compare(g, np.asarray(w), f"{what}: output {k}" if len(got) > 1 else what, rtol, atol)
    if not layouts:
        return
    base = [to_numpy(g) for g in got]
    for how in ("transposed", "stepped"):
        if not any(a.ndim and a.size > 1 for a in arrays):
            break
        again = fn(*(tensors(strided(a, how)) for a in arrays))
        for k, (g, b) in enumerate(zip(again, base)):
            assert_close(to_numpy(g), b, msg=f"{what}: output {k} with {how} memory", rtol=rtol, atol=atol)


def _compare(got, want, what, rtol, atol):
    __tracebackhide__ = True
    name = got.dtype.name
    a = to_numpy(got)
    if a.shape != want.shape:
        raise AssertionError(f"{what}: the shape is {list(a.shape)}, expected {list(want.shape)}")
    if a.dtype.kind in "iu" and want.dtype.kind in "iub":
        want = want.astype(a.dtype)
    elif name in TOLERANCES and want.dtype.kind in "fc" and name not in ("float64", "complex128"):
        with np.errstate(over="ignore"):  # what overflows in this dtype is an infinity in the expected values as well
            limit = 3.4e38 if name == "bfloat16" else float(np.finfo(a.dtype).max)
            if want.dtype.kind == "f":
                want = np.where(np.abs(want) > limit, np.copysign(np.inf, want), want)
    default = TOLERANCES.get(name, (0.0, 0.0))
    fault = mismatch(a, want, default[0] if rtol is None else rtol, default[1] if atol is None else atol, True)
    if fault:
        raise AssertionError(f"{what}: {fault}")


# ---- derivatives ----


def check_grad(op, sample, order=2):
    """gradcheck in random directions. Whether there was anything to differentiate."""
    __tracebackhide__ = True
    places = _doubles(sample)
    if not places:
        return False
    fn = sample.bind(op)
    tensors = sample.tensors()
    if not any(t.dtype.is_floating_point or t.dtype.is_complex for t in fn(*tensors)):
        return False
    fn.__name__ = f"{_name(op)}{sample}"
    gradcheck(fn, tensors, order=min(order, sample.order), atol=1e-6, rtol=1e-5, fast=True)
    return True


# ---- vmap ----


def check_vmap_of(op, sample, reason=None, *, rtol=None, atol=None, randomness="error", tensors=to_tensor):
    """vmap against a loop; with a reason, that vmap says it can't."""
    __tracebackhide__ = True
    arrays = sample.arrays()
    if not arrays:
        return
    if reason is None:
        check_sample(op, sample, rtol=rtol, atol=atol, randomness=randomness, tensors=tensors)
        return
    fn = sample.bind(op)
    try:
        func().vmap(fn)(*(to_tensor(np.stack([a, a])) for a in arrays))
    except NotImplementedError as error:
        _one_line(error, _name(op))
    except Exception as error:
        raise AssertionError(
            f"vmap({_name(op)}): NotImplementedError was expected ({reason}), got {error!r}"
        ) from error
    else:
        raise AssertionError(f"vmap({_name(op)}): NotImplementedError was expected: {reason}")


def _one_line(error, name):
    text = str(error)
    if "\n" in text or not text:
        raise AssertionError(f"{name}: the message is not one line: {text!r}")


# ---- transforms of transforms ----


def check_compose(op, sample, size=2):
    """vmap of vjp, jvp, their derivatives and vmap; vjp and jvp of vmap."""
    __tracebackhide__ = True
    arrays = sample.arrays()
    free = [i for i in range(len(arrays)) if i not in sample.fixed]
    if not free:
        return
    fn = sample.bind(op)
    places = _doubles(sample)
    plain = fn(*sample.tensors())
    kept = [k for k, t in enumerate(plain) if t.dtype.name in ("float64", "complex128")]
    _nested_vmap(fn, sample, free)
    if not places or not kept:
        return
    f = func()

    def differentiable(tensors):
        """The floating outputs as a function of the differentiated tensors."""

        def of(*values):
            full = list(tensors)
            for i, v in zip(places, values):
                full[i] = v
            out = fn(*full)
            return tuple(out[k] for k in kept)

        return of

    n = len(arrays)

    def vjp(*values):
        tensors, cotangents = values[:n], values[n:]
        return f.vjp(differentiable(tensors), *(tensors[i] for i in places))[1](tuple(cotangents))

    def jvp(*values):
        tensors, tangents = values[:n], values[n:]
        return f.jvp(differentiable(tensors), tuple(tensors[i] for i in places), tuple(tangents))[1]

    def hvp(*values):
        primals = tuple(values[i] for i in places)
        ones = tuple(tensor.new_ones(tensor.shape) for tensor in differentiable(values[:n])(*primals))

        def gradient(*inner):
            return f.vjp(differentiable(values[:n]), *inner)[1](ones)

        return f.jvp(gradient, primals, tuple(values[n:]))[1]

    rng = np.random.default_rng(1)
    cotangents = [_random(rng, to_numpy(plain[k])) for k in kept]
    tangents = [_random(rng, arrays[i]) for i in places]
    name = _name(op)
    for label, transform, vectors in (
        ("vjp", vjp, cotangents),
        ("jvp", jvp, tangents),
        ("jvp of the vjp", hvp, tangents),
    ):
        if label == "jvp of the vjp" and (not sample.grad or sample.order < 2):
            continue
        transform.__name__ = f"{label} of {name}"
        extended = Sample((*arrays, *vectors), fixed=sample.fixed, vary=dict(sample.vary))
        # all mapped; only the values; only the vectors (the derivative is linear in them); each value alone
        patterns = [
            [a.ndim if i % 2 else 0 for i, a in enumerate(extended.arrays())],
            [0 if i < n else None for i in range(n + len(vectors))],
            [None if i < n else 0 for i in range(n + len(vectors))],
        ]
        if label != "jvp of the vjp" and len(free) > 1:
            patterns += [[arrays[i].ndim if i == j else None for i in range(n + len(vectors))] for j in free]
        for dims in patterns:
            dims = tuple(None if i in sample.fixed else d for i, d in enumerate(dims))
            if any(d is not None for d in dims):
                compare(_as_is(transform), extended, dims, size, 0)
    if sample.grad:
        _of_vmap(fn, sample, free, places, size)


def _as_is(transform):
    def fn(*tensors):
        return outputs(transform(*tensors))

    fn.__name__ = transform.__name__
    return fn


def _random(rng, a):
    d = rng.uniform(0.5, 1.5, a.shape) * rng.choice([-1.0, 1.0], a.shape)
    if a.dtype.kind == "c":
        d = d + 1j * rng.uniform(0.5, 1.5, a.shape)
    return np.asarray(d, dtype=a.dtype)


def _of_vmap(fn, sample, free, places, size):
    """vjp and jvp of vmap, by finite differences."""
    __tracebackhide__ = True
    f = func()
    arrays = sample.arrays()
    many = [{i: (0 if n % 2 else arrays[i].ndim) for n, i in enumerate(free)}]
    if len(free) > 1:
        many += [{i: 0} for i in free if i in places]
    for chosen in many:
        dims = tuple(chosen.get(i) for i in range(len(arrays)))
        inputs = [
            to_tensor(stacked(sample, i, a, size, d)[0] if d is not None else a)
            for i, (a, d) in enumerate(zip(arrays, dims))
        ]
        mapped = f.vmap(fn, dims)
        mapped.__name__ = f"vmap({fn.__name__}), in_dims {dims}, of {sample}"
        gradcheck(mapped, inputs, atol=1e-6, rtol=1e-5, fast=True)


def _nested_vmap(fn, sample, free):
    """vmap of vmap: everything at both levels, then the arguments at different ones."""
    __tracebackhide__ = True
    f = func()
    arrays = sample.arrays()
    outer = {i: 0 for i in free}
    inner = {i: arrays[i].ndim for i in free}  # counted without the outer dimension
    cases = [(outer, inner)]
    if len(free) > 1:
        cases.append(({free[0]: 0}, {i: 0 for i in free[1:]}))
        cases.append(({i: 0 for i in free[1:]}, {free[0]: arrays[free[0]].ndim}))
    for out, inn in cases:
        dims = tuple(inn.get(i) for i in range(len(arrays)))

        def mapped(*tensors, dims=dims):
            return f.vmap(fn, dims)(*tensors)

        mapped.__name__ = f"vmap({fn.__name__}, {dims})"
        # what the outer level maps are batches for the inner one
        whole = [stacked(sample, i, a, 3, dims[i])[0] if dims[i] is not None else a for i, a in enumerate(arrays)]

        def roll(a, i, at):
            return np.roll(a, i, axis=at)

        vary = {}
        for i in range(len(arrays)):
            if dims[i] is not None:
                vary[i] = lambda a, k, at=dims[i]: roll(a, k, at)
            elif i in sample.vary:
                vary[i] = sample.vary[i]
        nested = Sample(tuple(whole), fixed=sample.fixed, vary=vary)
        compare(mapped, nested, tuple(out.get(i) for i in range(len(arrays))), 2, 0)


# ---- in place ----


def check_inplace(op, name, sample):
    """`x.name(...)` against the operator: value, identity, memory, derivative and vmap."""
    __tracebackhide__ = True
    arrays = sample.arrays()
    if not arrays or not sample.args or not isinstance(sample.args[0], np.ndarray):
        return False
    fn = sample.bind(op)
    plain = fn(*sample.tensors())[0]
    if tuple(plain.shape) != arrays[0].shape or plain.dtype.name != arrays[0].dtype.name:
        return False
    want = to_numpy(plain)
    what = f"{name}{sample}"

    def inplace(*tensors):
        y = tensors[0].clone()
        args, kwargs = sample.rebuild([y, *tensors[1:]])
        result = getattr(y, name)(*args[1:], **kwargs)
        if result is not y:
            raise AssertionError(f"{what}: did not return the tensor it changed")
        return (y,)

    inplace.__name__ = name
    assert_close(to_numpy(inplace(*sample.tensors())[0]), want, msg=what)
    if arrays[0].ndim and arrays[0].size:  # through a view, of memory that is not contiguous
        a = strided(arrays[0], "stepped")
        base = a.base if a.base is not None else a
        kept = base.copy()
        rest = sample.tensors()[1:]
        whole = tp.from_numpy(base)
        view = whole[(*([slice(1, None, 2)] * (a.ndim - 1)), slice(1, None, 3))]
        args, kwargs = sample.rebuild([view, *rest])
        getattr(view, name)(*args[1:], **kwargs)
        expected = kept
        expected[(*([slice(1, None, 2)] * (a.ndim - 1)), slice(1, None, 3))] = want
        assert_close(to_numpy(whole), expected, msg=f"{what}: through a view")
    compare_args = Sample(tuple(arrays), fixed=sample.fixed, vary=dict(sample.vary))
    n = len(arrays)
    for dims in ([0] * n, [None, *[0] * (n - 1)], [arrays[0].ndim, *[None] * (n - 1)]):
        dims = tuple(None if i in sample.fixed else d for i, d in enumerate(dims))
        if any(d is not None for d in dims):
            compare(inplace, compare_args, dims, 2)
    if sample.grad and _doubles(sample) and plain.dtype.name in ("float64", "complex128"):
        gradcheck(inplace, sample.tensors(), atol=1e-6, rtol=1e-5, fast=True, order=1)
    return True
