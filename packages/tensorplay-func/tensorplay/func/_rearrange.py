"""rearrange: reshapes and transposes written as a pattern (after einops, Rogozhnikov, ICLR 2022)."""

from tensorplay import Tensor


def _parse(side, pattern):
    """'b (h w) ... 1' as [['b'], ['h', 'w'], '...', []]; [] is a dimension of size one."""
    groups, current, seen = [], None, set()
    for token in side.replace("(", " ( ").replace(")", " ) ").replace("...", " ... ").split():
        if token == "(":
            if current is not None:
                raise ValueError(f"rearrange: nested parentheses in {pattern!r}")
            current = []
        elif token == ")":
            if current is None:
                raise ValueError(f"rearrange: unbalanced parentheses in {pattern!r}")
            groups.append(current)
            current = None
        elif token == "...":
            if current is not None:
                raise ValueError(f"rearrange: an ellipsis inside parentheses is not supported: {pattern!r}")
            if "..." in groups:
                raise ValueError(f"rearrange: two ellipses on one side of {pattern!r}")
            groups.append("...")
        elif token == "1":
            if current is None:
                groups.append([])
        elif token.isidentifier():
            if token in seen:
                raise ValueError(f"rearrange: {token!r} appears twice on one side of {pattern!r}")
            seen.add(token)
            if current is None:
                groups.append([token])
            else:
                current.append(token)
        else:
            raise ValueError(f"rearrange: {token!r} in {pattern!r} is neither a name nor 1")
    if current is not None:
        raise ValueError(f"rearrange: unbalanced parentheses in {pattern!r}")
    return groups, seen


def rearrange(tensor, pattern, **axes_lengths):
    """Reorders, splits and merges dimensions: `rearrange(x, "b (h w) c -> b c h w", h=8)`.

    Args:
        tensor: any Tensor, or a list of Tensors of one shape, which are stacked along a new first dimension.
        pattern: "left -> right" with the same names on both sides; parentheses merge dimensions, 1 is a dimension of
            size one, `...` any number of dimensions.
        axes_lengths: sizes of names that the shape does not determine.

    A view where one exists, a copy otherwise.

    Raises:
        ValueError: the pattern is malformed or does not fit the shape.
        TypeError: tensor is not a Tensor.
    """
    if isinstance(tensor, (list, tuple)):
        import tensorplay as tp

        tensor = tp.stack(list(tensor), 0)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"rearrange: expected a Tensor, got {type(tensor).__name__}")
    if not isinstance(pattern, str) or pattern.count("->") != 1:
        raise ValueError(f"rearrange: expected one '->' in the pattern, got {pattern!r}")
    left, right = pattern.split("->")
    (lg, ln), (rg, rn) = _parse(left, pattern), _parse(right, pattern)
    if ln != rn:
        raise ValueError(f"rearrange: {sorted(ln ^ rn)[0]!r} is on one side only of {pattern!r}")
    if ("..." in rg) != ("..." in lg):
        raise ValueError(f"rearrange: the ellipsis is on one side only of {pattern!r}")
    unknown = sorted(axes_lengths.keys() - ln)
    if unknown:
        raise ValueError(f"rearrange: {unknown[0]!r} does not appear in {pattern!r}")
    shape = list(tensor.shape)
    fixed = len(lg) - ("..." in lg)
    if len(shape) < fixed or ("..." not in lg and len(shape) != fixed):
        raise ValueError(f"rearrange: {pattern!r} does not fit a tensor of shape {shape}")
    sizes, atoms, split, extra = {}, [], [], len(shape) - fixed
    pos = 0
    for g in lg:
        if g == "...":
            for k in range(extra):
                atoms.append(("...", k))
                split.append(shape[pos])
                sizes[("...", k)] = shape[pos]
                pos += 1
            continue
        size = shape[pos]
        known, open_names = 1, []
        for n in g:
            if n in axes_lengths:
                sizes[n] = axes_lengths[n]
                known *= axes_lengths[n]
            else:
                open_names.append(n)
        if len(open_names) > 1:
            raise ValueError(f"rearrange: give the size of {open_names[0]!r} or {open_names[1]!r} in {pattern!r}")
        if open_names:
            if known == 0 or size % known:
                raise ValueError(f"rearrange: a dimension of size {size} does not split into {g} with {axes_lengths}")
            sizes[open_names[0]] = size // known
        elif known != size:
            raise ValueError(f"rearrange: {g or 1} has size {known} in {pattern!r}, the dimension has {size}")
        for n in g:
            atoms.append(n)
            split.append(sizes[n])
        pos += 1
    order, final = [], []
    for g in rg:
        if g == "...":
            order += [("...", k) for k in range(extra)]
            final += [sizes[("...", k)] for k in range(extra)]
            continue
        size = 1
        for n in g:
            order.append(n)
            size *= sizes[n]
        final.append(size)
    index = {a: i for i, a in enumerate(atoms)}
    return tensor.reshape(tuple(split)).permute(tuple(index[a] for a in order)).reshape(tuple(final))
