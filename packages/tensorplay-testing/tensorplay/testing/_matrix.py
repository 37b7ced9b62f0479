"""The operator matrix: each entry of the database against each check."""

import tensorplay as tp

from . import _opcheck as oc
from ._close import TOLERANCES, tolerance
from .opdb import _base as base
from .opdb._coverage import gaps, inplace_of

CHECKS = ("samples", "value", "dtypes", "grad", "vmap", "compose", "inplace")


def applies(entry, check):
    """Whether a check has something to look at."""
    if check in ("grad", "compose"):
        return not entry.random and (bool(entry.grad_dtypes()) or check == "compose") and entry.vmap is None
    if check == "inplace":
        return entry.inplace and inplace_of(entry.name) is not None
    return True


def run(entry, check, seed=0):
    """One cell of the matrix; AssertionError where something is wrong."""
    __tracebackhide__ = True
    if applies(entry, check):
        globals()[f"_{check}"](entry, seed)


def _main(entry):
    """The dtype at which most is checked."""
    return next(
        (d for d in ("float64", "int64", "complex128", "bool", "float32") if d in entry.dtypes), entry.dtypes[0]
    )


def _function(entry):
    function = entry.function

    def op(*args, **kwargs):
        return function(*args, **kwargs)

    op.__name__ = entry.name
    return op


def _reference(entry):
    return None if entry.random else entry.reference


def _samples(entry, seed):
    found = gaps(entry)
    if found:
        raise AssertionError(f"{entry.name}: {'; '.join(found)}")


def _value(entry, seed):
    dtype = _main(entry)
    small = (1e-5 if dtype == "float32" else 1e-9) * entry.scale
    for s in entry.draw(dtype, seed):
        oc.check_value(
            _function(entry),
            s,
            _reference(entry),
            entry.expected_dtype(dtype),
            rtol=small,
            atol=small,
            layouts=not entry.random and entry.layouts,
        )


def _dtypes(entry, seed):
    for dtype in base.ALL:
        if dtype not in entry.dtypes:
            if entry.refuses:
                _refused(entry, dtype, seed)
            continue
        samples = entry.draw(dtype, seed)
        rtol, atol = tolerance(dtype if dtype in TOLERANCES else "float32")
        if dtype in base.HALF:  # sums of rounded terms may cancel: an error is small beside the terms, not the sum
            wide = min(entry.scale, 4.0) ** 0.5  # composites round several times
            rtol, atol = rtol * 4 * wide, rtol * 2 * wide
        else:
            rtol, atol = rtol * 10 * entry.scale, atol * 10 * entry.scale
        for s in samples:
            inexact = _inexact(entry, dtype, s)
            oc.check_value(
                _function(entry),
                s,
                _reference(entry),
                entry.expected_dtype(dtype),
                tensors=base.tensors_for(dtype),
                rtol=rtol if inexact else 0.0,
                atol=atol if inexact else 0.0,
                layouts=False,
            )


def _inexact(entry, dtype, s):
    """Whether there is a tolerance: integers and bool are compared exactly, unless the result is floating."""
    names = entry.expected_dtype(dtype)(s)
    names = (names,) if isinstance(names, str) else names
    return any(n in TOLERANCES for n in names)


def _refused(entry, dtype, seed):
    donor = next((d for d in ("float64", "int64", "bool", "complex128") if d in entry.dtypes), None)
    if donor is None:
        return
    for s in entry.draw(donor, seed)[:1]:
        arrays = s.arrays()
        if not arrays or not any(a.dtype.name == donor for a in arrays):
            return
        target = getattr(tp, "bool_" if dtype == "bool" else dtype)
        tensors = [t.to(target) if t.dtype.name == donor else t for t in s.tensors()]
        args, kwargs = s.rebuild(tensors)
        try:
            out = entry.function(*args, **kwargs)
        except (TypeError, RuntimeError, NotImplementedError, ValueError) as error:
            text = str(error)
            if "\n" in text or not text:
                raise AssertionError(f"{entry.name}: the refusal of {dtype} is not one line: {text!r}") from error
            continue
        raise AssertionError(f"{entry.name}: {dtype} is not among the entry's dtypes, and was not refused: {out!r:.60}")


def _grad(entry, seed):
    some = floating = False
    for dtype in entry.grad_dtypes():
        for s in entry.draw(dtype, seed):
            if s.grad:
                some |= oc.check_grad(_function(entry), s, order=entry.order)
            else:
                floating |= any(t.dtype.name == dtype for t in s.bind(_function(entry))(*s.tensors()))
    if floating and not some and "derivative" not in entry.missing:
        raise AssertionError(f"{entry.name}: no sample shows its derivatives")


def _vmap(entry, seed):
    if entry.random:
        from ._random import check_random

        check_random(entry, seed)
        return
    dtypes = [_main(entry)]
    dtypes += [d for d in ("int64", "complex128", "bool") if d in entry.dtypes and d not in dtypes]
    for n, dtype in enumerate(dtypes):
        samples = entry.draw(dtype, seed)
        for s in samples if n == 0 else samples[:2]:
            oc.check_vmap_of(_function(entry), s, entry.vmap, rtol=1e-9, atol=1e-9)


def _compose(entry, seed):
    dtypes = entry.grad_dtypes() or [_main(entry)]
    for n, dtype in enumerate(dtypes):
        samples = entry.draw(dtype, seed)
        for s in samples if n == 0 else samples[:2]:
            oc.check_compose(_function(entry), s)


def _inplace(entry, seed):
    some = False
    for dtype in (_main(entry), *(d for d in ("int64", "complex128", "bool") if d in entry.dtypes)):
        for s in entry.draw(dtype, seed):
            if not entry.random:
                some |= oc.check_inplace(_function(entry), inplace_of(entry.name), s)
    if not some and not entry.random:
        raise AssertionError(f"{entry.name}: no sample shows {inplace_of(entry.name)}")
