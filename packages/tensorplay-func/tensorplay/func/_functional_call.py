"""functional_call and stack_module_state: modules as functions of their state."""

import collections.abc
import types

import tensorplay as tp
from tensorplay import Tensor


def _is_module(x):
    d = getattr(x, "__dict__", None)
    return d is not None and all(isinstance(d.get(k), dict) for k in ("_parameters", "_buffers", "_modules"))


def _shadow(module, memo):
    """A copy of the module tree that shares every value: what the call assigns lands here, not in the module."""
    done = memo.get(id(module))
    if done is not None:
        return done
    copy = object.__new__(type(module))
    memo[id(module)] = copy
    state = copy.__dict__
    state.update(module.__dict__)
    state["_parameters"] = state["_parameters"].copy()
    state["_buffers"] = state["_buffers"].copy()
    children = state["_modules"] = state["_modules"].copy()
    for k, m in children.items():
        if m is not None:
            children[k] = _shadow(m, memo)
    return copy


# Attributes of these types point at no module.
_PLAIN = frozenset({bool, int, float, complex, str, bytes, set, frozenset, type(None), Tensor, tp.dtype})


def _rebind(memo, originals):
    """Attributes that point into the old tree (bound methods, lists of children) point into the copy."""

    def follow(v):
        if id(v) in memo and _is_module(v):
            return memo[id(v)]
        if isinstance(v, types.MethodType) and id(v.__self__) in memo:
            return types.MethodType(v.__func__, memo[id(v.__self__)])
        if type(v) in (list, tuple):
            new = [follow(x) for x in v]
            return v if all(a is b for a, b in zip(new, v, strict=True)) else type(v)(new)
        if type(v) is dict:
            new = {k: follow(x) for k, x in v.items()}
            return v if all(new[k] is v[k] for k in v) else new
        return v

    for module in originals:
        for k, v in module.__dict__.items():
            if type(v) not in _PLAIN and k not in ("_parameters", "_buffers", "_modules"):
                new = follow(v)
                if new is not v:
                    memo[id(module)].__dict__[k] = new


def _merge(dicts):
    if isinstance(dicts, collections.abc.Mapping):
        return dict(dicts)
    if not isinstance(dicts, (tuple, list)) or not all(isinstance(d, collections.abc.Mapping) for d in dicts):
        raise ValueError(
            "functional_call: parameter_and_buffer_dicts must be a dict or a sequence of dicts, "
            f"got {type(dicts).__name__}"
        )
    merged = {}
    for d in dicts:
        twice = sorted(merged.keys() & d.keys())
        if twice:
            raise ValueError(f"functional_call: {twice[0]!r} appears in more than one of the dicts")
        merged.update(d)
    return merged


def _entries(module):
    """{full name: (owner, dict name, key, value)} of all parameters and buffers, repeats included."""
    found, stack = {}, [("", module, ())]
    while stack:
        prefix, m, above = stack.pop()
        if id(m) in above:
            continue
        tables = m.__dict__
        for kind in ("_parameters", "_buffers"):
            for k, t in tables[kind].items():
                found[prefix + k] = (m, kind, k, t)
        for k, child in tables["_modules"].items():
            if child is not None:
                stack.append((f"{prefix}{k}.", child, (*above, id(m))))
    return found


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False,
                    return_buffers=False):
    """Calls module with the given parameters and buffers instead of its own.

    Args:
        module: anything with named parameters, buffers and children (a tensorplay.nn Module).
        parameter_and_buffer_dicts: {full name: Tensor}, or a sequence of such dicts without common names. What is not
            named keeps the module's value.
        args: positional arguments: a tuple, or a single value that is not a tuple. kwargs: keyword arguments.
        tie_weights: a value given under one name of a shared parameter or buffer stands for all of its names.
        strict: every parameter and buffer must be given.
        return_buffers: the result is (output, buffers): the call works on copies of the buffers, given or not, and
            hands back what it made of them, {full name: Tensor}. So a training step of a model with running statistics
            is a pure function, which can be mapped over an ensemble and differentiated; under vmap a buffer that every
            sample shares comes back as one per sample.

    The module itself is left as it is, whatever the call assigns and whether it fails or not; calls from several
    threads do not see each other. For that the call runs on a copy of the module tree, whose values are shared: it is
    the copy that hooks are given as their module.

    Raises:
        ValueError: names given twice, or two different values for one tied parameter.
        RuntimeError: unknown names; with strict, missing ones.
        TypeError: module is not a module, or a value is not a Tensor.
    """
    if not _is_module(module):
        raise TypeError(f"functional_call: expected a module, got {type(module).__name__}")
    given = _merge(parameter_and_buffer_dicts)
    entries = _entries(module)
    unknown = sorted(given.keys() - entries.keys())
    if unknown:
        raise RuntimeError(f"functional_call: {type(module).__name__} has no parameter or buffer {unknown[0]!r}")
    values = dict(given)
    current = {name: t for name, (_, _, _, t) in entries.items()}
    if tie_weights:
        groups = {}
        for name, t in current.items():
            if t is not None:
                groups.setdefault(id(t), []).append(name)
        for names in groups.values():
            named = [n for n in names if n in given]
            if not named or len(names) == 1:
                continue
            if any(given[n] is not given[named[0]] for n in named):
                raise ValueError(f"functional_call: different values for the tied {' and '.join(map(repr, named))}")
            for n in names:
                values[n] = given[named[0]]
    if strict:
        missing = sorted(n for n, t in current.items() if t is not None and n not in values)
        if missing:
            raise RuntimeError(f"functional_call: strict=True, but {missing[0]!r} was not given")
    for name, t in values.items():
        if t is not None and not isinstance(t, Tensor):
            raise TypeError(f"functional_call: the value of {name!r} is of type {type(t).__name__}, not a Tensor")
    if return_buffers:
        copies = {}
        for name, (_, kind, _, own) in entries.items():
            t = values.get(name, own)
            if kind == "_buffers" and t is not None:
                if id(t) not in copies:
                    copies[id(t)] = (t, t.clone())
                values[name] = copies[id(t)][1]
    memo = {}
    copy = _shadow(module, memo)
    originals, stack, seen = [], [module], set()
    while stack:
        m = stack.pop()
        if id(m) not in seen:
            seen.add(id(m))
            originals.append(m)
            stack.extend(c for c in m._modules.values() if c is not None)
    _rebind(memo, originals)
    for name, t in values.items():
        m, kind, k, _ = entries[name]
        memo[id(m)].__dict__[kind][k] = t
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    out = copy(*args, **(kwargs or {}))
    if not return_buffers:
        return out
    buffers = {}
    for name, (m, kind, k, _) in entries.items():
        if kind == "_buffers" and (t := memo[id(m)].__dict__[kind].get(k)) is not None:
            buffers[name] = t
    return out, buffers


def _same(a, b):
    """One class, or one that was made twice by the same code (in a function, or in a notebook's cell)."""
    return a is b or (a.__module__, a.__qualname__) == (b.__module__, b.__qualname__)


def _structure(model, prefix=""):
    yield prefix or "the module itself", type(model)
    for k, child in model._modules.items():
        if child is not None:
            yield from _structure(child, f"{prefix}.{k}" if prefix else k)


def stack_module_state(models):
    """The states of several modules of one structure, stacked: (parameters, buffers), {name: Tensor [n, ...]}.

    For an ensemble: `vmap(lambda p, b, x: functional_call(base, (p, b), (x,)), (0, 0, None))(params, buffers, x)`.
    The stacked parameters are new leaves that require grad where the modules' own do.

    Raises:
        RuntimeError: no modules, or modules of different structure (the first difference is named).
        TypeError: something is not a module.
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: at least one module is needed")
    for i, m in enumerate(models):
        if not _is_module(m):
            raise TypeError(f"stack_module_state: entry {i} is of type {type(m).__name__}, not a module")
    first = list(_structure(models[0]))
    for i, m in enumerate(models[1:], 1):
        other = list(_structure(m))
        for (pa, a), (pb, b) in zip(first, other, strict=False):
            if pa != pb or not _same(a, b):
                raise RuntimeError(
                    f"stack_module_state: module {i} differs from module 0 in structure: {pb} is {b.__name__}, "
                    f"{pa} is {a.__name__}"
                )
        if len(first) != len(other):
            longer, k = (first, 0) if len(first) > len(other) else (other, i)
            path, cls = longer[min(len(first), len(other))]
            raise RuntimeError(f"stack_module_state: only module {k} has {path} ({cls.__name__})")

    def collect(what):
        named = [dict(getattr(m, what)()) for m in models]
        out = {}
        for i, d in enumerate(named[1:], 1):
            odd = sorted(d.keys() ^ named[0].keys())
            if odd:
                raise RuntimeError(f"stack_module_state: {odd[0]!r} exists in only one of modules 0 and {i}")
        for k, t in named[0].items():
            for i, d in enumerate(named):
                for attr in ("shape", "dtype", "requires_grad"):
                    a, b = getattr(t, attr), getattr(d[k], attr)
                    if a != b:
                        raise RuntimeError(
                            f"stack_module_state: {k!r} has {attr} {b} in module {i}, {a} in module 0"
                        )
            out[k] = tp.stack([d[k].detach() for d in named], 0)
            if t.requires_grad:
                out[k].requires_grad_()
        return out

    return collect("named_parameters"), collect("named_buffers")
