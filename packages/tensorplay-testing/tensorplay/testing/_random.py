"""Operators that draw random numbers: seeds, and the randomness flag of vmap."""

import numpy as np

import tensorplay as tp

from . import _opcheck as oc
from ._close import to_numpy
from ._samples import Sample, func, to_tensor
from ._vmap import compare


def seeded(op, seed=11):
    """op after manual_seed: the same numbers at each call, so a function like any other."""

    def fn(*args, **kwargs):
        tp.manual_seed(seed)
        return op(*args, **kwargs)

    fn.__name__ = getattr(op, "__name__", "op")
    return fn


def check_seed(op, sample, drawn):
    """The seed decides; without a new seed the numbers go on (where enough of them are drawn to tell)."""
    __tracebackhide__ = True
    fn = sample.bind(op)
    fixed = seeded(fn)
    first, again = fixed(*sample.tensors()), fixed(*sample.tensors())
    after = fn(*sample.tensors())
    for a, b in zip(first, again):
        if not np.array_equal(to_numpy(a), to_numpy(b), equal_nan=True):
            raise AssertionError(f"{op.__name__}{sample}: the same seed gives other numbers")
    if drawn and first[0].numel() >= 8 and all(np.array_equal(to_numpy(a), to_numpy(b)) for a, b in zip(first, after)):
        raise AssertionError(f"{op.__name__}{sample}: two draws are the same")


def check_flags(op, sample, drawn):
    """randomness: "error" raises, "same" is the loop with one seed, "different" draws for each sample."""
    __tracebackhide__ = True
    f = func()
    fn = sample.bind(op)
    what = f"{op.__name__}{sample}"
    arrays = sample.arrays()
    free = [i for i in range(len(arrays)) if i not in sample.fixed]
    size = 3

    def mapped(dummy, *tensors):
        return fn(*tensors)

    def call(randomness, dims):
        tp.manual_seed(5)
        tensors = [to_tensor(np.stack([a] * size)) if d == 0 else to_tensor(a) for a, d in zip(arrays, dims)]
        return f.vmap(mapped, (0, *dims), 0, randomness)(tp.zeros(size), *tensors)

    for dims in {tuple(0 if i in free else None for i in range(len(arrays))), (None,) * len(arrays)}:
        if drawn:
            try:
                call("error", dims)
            except RuntimeError as error:
                if "random operations are not allowed under randomness=error" not in str(error):
                    raise AssertionError(f"{what}: the refusal under randomness=error says {error}") from error
            else:
                raise AssertionError(f"{what}: was not refused under randomness=error")
        same = [to_numpy(t) for t in call("same", dims)]
        different = [to_numpy(t) for t in call("different", dims)]
        for s, d, one in zip(same, different, fn(*sample.tensors())):
            if s.shape != (size, *one.shape) or d.shape != (size, *one.shape):
                raise AssertionError(
                    f"{what}: the shapes under vmap are {s.shape} and {d.shape}, of one sample {tuple(one.shape)}"
                )
            if not all(np.array_equal(s[0], s[i], equal_nan=True) for i in range(size)):
                raise AssertionError(f"{what}: randomness=same gives different samples")
            if drawn and s[0].size >= 8 and any(np.array_equal(d[i], d[j]) for i in range(size) for j in range(i)):
                raise AssertionError(f"{what}: randomness=different gives equal samples")
        again = [to_numpy(t) for t in call("different", dims)]
        if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(different, again)):
            raise AssertionError(f"{what}: randomness=different does not follow the seed")


def check_random(entry, seed):
    """All of it for an entry. Under "same" and a seed, vmap is the loop over samples with that seed."""
    __tracebackhide__ = True
    function = entry.function

    def op(*args, **kwargs):
        return function(*args, **kwargs)

    op.__name__ = entry.name
    dtypes = [d for d in ("float64", "float32", "complex128", "int64") if d in entry.dtypes][:2]
    for dtype in dtypes:
        for s in entry.draw(dtype, seed):
            drawn = entry.random != "undefined" and not s.kwargs.get("generator") and "not random" not in s.note
            if entry.random == "undefined":
                f = func()
                f.vmap(lambda x, s=s: s.bind(op)(*s.tensors()))(tp.zeros(3))
                continue
            if s.kwargs.get("generator") is not None:
                continue
            check_seed(op, s, drawn)
            check_flags(op, s, drawn)
            if s.arrays():
                plain = Sample(s.args, s.kwargs, fixed=s.fixed, vary=s.vary)
                for dims in _some_dims(s):
                    compare(seeded(s.bind(op)), plain, dims, 3, 0, None, None, "same")
                if s.grad and entry.grad:
                    oc.check_grad(seeded(op), s, order=entry.order)


def _some_dims(s):
    arrays = s.arrays()
    for k in (0, 1):
        dims = tuple(None if i in s.fixed else min(k, a.ndim) for i, a in enumerate(arrays))
        if any(d is not None for d in dims):
            yield dims
