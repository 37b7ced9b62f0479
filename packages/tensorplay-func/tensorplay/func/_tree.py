"""Pytrees: optree in a namespace of our own, in which dataclasses are nodes as well."""

import dataclasses

import optree

from tensorplay import Tensor

NAMESPACE = "tensorplay.func"


def _register_dataclass(cls):
    names = tuple(f.name for f in dataclasses.fields(cls) if f.init)

    def flatten(obj):
        return tuple(getattr(obj, n) for n in names), None, names

    def unflatten(_, children):
        return cls(**dict(zip(names, children, strict=True)))

    try:
        optree.register_pytree_node(cls, flatten, unflatten, namespace=NAMESPACE)
    except ValueError:  # another thread was faster
        pass


def flatten(tree):
    """(leaves, spec); None is a leaf, so that positions survive."""
    while True:
        leaves, spec = optree.tree_flatten(tree, none_is_leaf=True, namespace=NAMESPACE)
        fresh = {
            type(x)
            for x in leaves
            if not isinstance(x, (Tensor, type)) and type(x).__module__ != "builtins" and dataclasses.is_dataclass(x)
        }
        if not fresh:
            return leaves, spec
        for cls in fresh:
            _register_dataclass(cls)


def unflatten(spec, leaves):
    return optree.tree_unflatten(spec, leaves)


def map_tensors(fn, tree):
    """tree with fn applied to its Tensors; everything else stays."""
    if isinstance(tree, Tensor):
        return fn(tree)
    leaves, spec = flatten(tree)
    return unflatten(spec, [fn(x) if isinstance(x, Tensor) else x for x in leaves])


def broadcast_prefix(prefix, tree, leaves, what, describe):
    """One entry of prefix for each leaf of tree; ValueError, worded by what and describe, where they do not fit."""
    try:
        got = optree.broadcast_prefix(prefix, tree, none_is_leaf=True, namespace=NAMESPACE)
    except (ValueError, TypeError):
        got = None
    if got is None or len(got) != len(leaves):
        raise ValueError(f"{what} {prefix!r} does not match the structure of {describe}: {flatten(tree)[1]}") from None
    return got
