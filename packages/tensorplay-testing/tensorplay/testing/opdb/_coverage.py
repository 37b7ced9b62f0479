"""What the samples of an entry show, measured from the operator's signature."""

import numpy as np

import tensorplay as tp

from .. import signatures


def names():
    """The Python names of all public operators, aliases included, in-place forms (which are derived) not."""
    ops = tp._ops
    flat = {*ops.FUNCTIONS, *ops.METHODS}
    spaced = {f"{space}.{name}" for space, table in ops.NAMESPACES.items() for name in table}
    # a function of a namespace also stands in FUNCTIONS under its full name
    hidden = {f"{space.replace('.', '_')}_{name}" for space, table in ops.NAMESPACES.items() for name in table}
    inplace = {n for n in flat if n.endswith("_") and not n.endswith("__") and n[:-1] in flat}
    return sorted((flat - inplace - hidden) | spaced)


def missing():
    """Operators without an entry."""
    from . import entries

    found = entries()
    return [n for n in names() if n not in found]


def inplace_of(name):
    """The name of the in-place form, or None."""
    return name + "_" if name + "_" in tp._ops.METHODS else None


def forms(entry):
    """The signatures of an entry's operator."""
    functions, methods = signatures.table()
    space, _, name = entry.name.rpartition(".")
    if space:
        return functions.get(f"{space.replace('.', '_')}_{name}") or functions[name]
    return functions.get(name) or methods[name]


def gaps(entry):
    """A list of what no sample shows: each optional argument set, and of the tensors 0-d, empty and broadcast ones.
    Memory layouts, dtypes and in_dims are varied by the checks."""
    found = []
    samples = [
        s
        for d in {*entry.grad_dtypes()[:1], *entry.dtypes[:1], *entry.dtypes[-1:], "int64", "float32"}
        if d in entry.dtypes
        for s in entry.draw(d)
    ]
    used = [False] * len(forms(entry))
    shown = {}
    for s in samples:
        for i, form in enumerate(forms(entry)):
            bound = form.bind(s.args, s.kwargs)
            if bound is None or not all(_fits(form, k, v) for k, v in bound.items()):
                continue
            used[i] = True
            for p in form.parameters:
                if p.optional and p.name in bound and not p.is_default(bound[p.name]):
                    shown.setdefault(i, set()).add(p.name)
            break
    for i, form in enumerate(forms(entry)):
        if not used[i] and f"form {i}" in entry.missing:
            continue
        if not used[i]:
            found.append(f"no sample of the form {form!r}")
            continue
        for p in form.parameters:
            if p.optional and p.name not in shown.get(i, ()) and p.name not in entry.missing:
                found.append(f"no sample sets {p.name} of {form!r}")
    arrays = [s.arrays() for s in samples]
    if any(arrays):
        if "0-d" not in entry.missing and not any(a.ndim == 0 for xs in arrays for a in xs):
            found.append("no sample has a 0-d tensor")
        if "empty" not in entry.missing and not any(a.size == 0 for xs in arrays for a in xs):
            found.append("no sample has an empty tensor")
    several = any(sum(p.is_tensor and not p.is_list for p in form.parameters) > 1 for form in forms(entry))
    if several and "broadcast" not in entry.missing:
        if not any(len({a.shape for a in xs}) > 1 for xs in arrays if len(xs) > 1):
            found.append("no sample has tensors of different shapes")
    return found


def _fits(form, name, value):
    """Whether a value may stand for a parameter, as far as tells overloads apart."""
    p = next(p for p in form.parameters if p.name == name)
    text = p.type
    if isinstance(value, np.ndarray):
        return p.is_tensor
    if isinstance(value, str):
        return "_str" in text or "_DType" in text
    if isinstance(value, bool):
        return "_bool" in text or "_Number" in text
    if isinstance(value, tp.dtype):
        return "_DType" in text
    if isinstance(value, (list, tuple)):
        if any(isinstance(v, np.ndarray) for v in value):
            return p.is_list
        if any(isinstance(v, tp.dtype) for v in value):
            return False
        return "_Sequence" in text or p.is_list
    if isinstance(value, (int, float, complex)):
        if "Tensor | _Number" in text:
            return True
        return "_int" in text or "_float" in text or "_Number" in text
    return True
