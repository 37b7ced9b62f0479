"""Functions of nn.functional that need Python: look-ups and losses over sequences."""

import math

import tensorplay as tp


def _reduced(name, loss, reduction):
    if reduction == "none":
        return loss
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    raise ValueError(f"{name}: reduction must be 'none', 'mean' or 'sum', got {reduction!r}")


def _known(condition):
    """bool(condition), or None where it differs between the samples of a vmap."""
    try:
        return bool(condition)
    except RuntimeError:
        return None


# ---- look-ups ----


def one_hot(tensor, num_classes=-1):
    """Zeros with a one at the class number: [...] int64 to [..., num_classes] int64.

    num_classes -1: one more than the largest number, which has to be known (not under vmap).

    Raises:
        RuntimeError: a number is negative or not below num_classes, or tensor is not int64, or it is empty and
            num_classes is not given.
    """
    if tensor.dtype != tp.int64:
        raise RuntimeError(f"one_hot: class numbers must be int64, got {tensor.dtype}")
    if num_classes == -1:
        if tensor.numel() == 0:
            raise RuntimeError("one_hot: num_classes is needed for an empty tensor")
        num_classes = int(tensor.max()) + 1
    elif num_classes < 1 and tensor.numel():
        raise RuntimeError(f"one_hot: num_classes must be positive, got {num_classes}")
    if tensor.numel() and _known(((tensor < 0) | (tensor >= num_classes)).any()):
        raise RuntimeError(f"one_hot: class numbers must lie between 0 and {num_classes - 1}")
    return (tensor.unsqueeze(-1) == tp.arange(num_classes)).to(tp.int64)


def _row(name, index, size):
    if index is None:
        return None
    if not -size <= index < size:
        raise AssertionError(f"{name}: padding_idx {index} is out of range for {size} rows")
    return index % size


def _renormed(weight, input, max_norm, norm_type):
    """Rows that are looked up and too long are shortened in place."""
    with tp.no_grad():
        w = weight.detach()
        norms = tp.linalg.vector_norm(w, norm_type, -1, True)
        used = tp.zeros((w.shape[0], 1), dtype=tp.bool)
        used[input.reshape(-1)] = True
        w.copy_(tp.where(used & (norms > max_norm), w * (max_norm / (norms + 1e-7)), w))


def _looked_up(input, weight, padding_idx, scale_grad_by_freq):
    flat = input.reshape(-1)
    rows = weight.index_select(0, flat)
    if scale_grad_by_freq:
        ones = tp.ones_like(flat, dtype=weight.dtype)
        count = tp.zeros((weight.shape[0],), dtype=weight.dtype).index_add(0, flat, ones)
        part = rows / count.index_select(0, flat).unsqueeze(-1)
        rows = part + (rows - part).detach()
    if padding_idx is not None:
        rows = tp.where((flat == padding_idx).unsqueeze(-1), rows.detach(), rows)
    return rows.reshape(*input.shape, weight.shape[1])


def embedding(
    input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False
):
    """Rows of weight [V, D] by number: [...] integers to [..., D].

    Args:
        padding_idx: a row that gets no gradient.
        max_norm, norm_type: rows looked up whose norm is larger are shortened to it, in place.
        scale_grad_by_freq: gradients are divided by how often a row is looked up.
        sparse: has no effect: gradients are dense.

    Raises:
        IndexError: a number is out of range.
        RuntimeError: weight is not a matrix. AssertionError: padding_idx is out of range.
    """
    if weight.ndim != 2:
        raise RuntimeError(f"embedding: weight must be a matrix, got shape {list(weight.shape)}")
    padding_idx = _row("embedding", padding_idx, weight.shape[0])
    if max_norm is not None:
        _renormed(weight, input, max_norm, norm_type)
    return _looked_up(input, weight, padding_idx, scale_grad_by_freq)


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """Sums, means or maxima of rows of weight [V, D] over bags: [B, D].

    Args:
        input: [B, L], each row a bag; or [n], cut into bags at offsets [B], each the start of one (with
            include_last_offset the last one is the end).
        mode: "sum", "mean" or "max".
        per_sample_weights: factors of the rows, of input's shape, for "sum" only.
        padding_idx: a row that is left out of its bags.
        The others as for embedding.

    A bag of nothing gives zeros. Of equal maxima the first one gets the gradient.

    Raises:
        ValueError: shapes or mode do not fit. NotImplementedError: weights with another mode than "sum".
        RuntimeError: offsets do not start at 0, fall, or end beyond input.
    """
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"embedding_bag: mode must be 'sum', 'mean' or 'max', got {mode!r}")
    if per_sample_weights is not None:
        if mode != "sum":
            raise NotImplementedError(f"embedding_bag: per_sample_weights are for mode 'sum', got {mode!r}")
        if per_sample_weights.shape != input.shape:
            raise ValueError(
                f"embedding_bag: per_sample_weights of shape {list(per_sample_weights.shape)} must have input's shape "
                f"{list(input.shape)}"
            )
    padding_idx = _row("embedding_bag", padding_idx, weight.shape[0])
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError("embedding_bag: offsets are for a 1-d input")
    elif input.ndim == 1:
        if offsets is None or offsets.ndim != 1:
            raise ValueError("embedding_bag: a 1-d input needs 1-d offsets")
        _check_offsets(offsets, input.shape[0], include_last_offset)
    else:
        raise ValueError(f"embedding_bag: input must have 1 or 2 dimensions, got shape {list(input.shape)}")
    if max_norm is not None:
        _renormed(weight, input, max_norm, norm_type)
    rows = _looked_up(input, weight, None, scale_grad_by_freq)
    inside = None if padding_idx is None else input != padding_idx
    bags = _rows_of(rows, inside) if input.ndim == 2 else _runs_of(rows, inside, offsets, include_last_offset)
    return bags(mode, per_sample_weights)


def _check_offsets(offsets, length, include_last):
    if offsets.is_floating_point() or offsets.is_complex():
        raise RuntimeError(f"embedding_bag: offsets must be integers, got {offsets.dtype}")
    if include_last and not offsets.shape[0]:
        raise RuntimeError("embedding_bag: include_last_offset needs at least one offset")
    if not offsets.shape[0]:
        return
    if _known(offsets[0] != 0):
        raise RuntimeError(f"embedding_bag: the first offset must be 0, got {int(offsets[0])}")
    if _known(offsets[-1] > length):
        raise RuntimeError(f"embedding_bag: the last offset {int(offsets[-1])} is beyond input's length {length}")
    if _known((offsets[1:] < offsets[:-1]).any()):
        raise RuntimeError("embedding_bag: offsets must not fall")


def _rows_of(rows, inside):
    """Reduces bags of one length, rows [B, L, D]."""

    def reduce(mode, factors):
        count, length, width = rows.shape
        r = rows
        if mode == "max":
            if not length:
                return tp.zeros((count, width), dtype=rows.dtype)
            if inside is None:
                return r.max(1).values
            r = tp.where(inside.unsqueeze(-1), r, -math.inf).max(1).values
            return tp.where(inside.any(1, keepdim=True), r, 0.0)
        if inside is not None:
            r = tp.where(inside.unsqueeze(-1), r, 0.0)
        if factors is not None:
            r = r * factors.unsqueeze(-1)
        r = r.sum(1)
        if mode == "mean":
            r = r / (max(length, 1) if inside is None else inside.sum(1, keepdim=True).clamp(1))
        return r

    return reduce


def _runs_of(rows, inside, offsets, include_last):
    """Reduces runs of rows [n, D], whose starts are offsets."""
    length, width = rows.shape
    count = offsets.shape[0] - bool(include_last)
    offsets = offsets.to(tp.int64)
    place = tp.arange(length)
    owner = tp.searchsorted(offsets[:count], place, right=True) - 1
    if include_last:
        before_end = place < offsets[count]
        inside = before_end if inside is None else inside & before_end
        owner = owner.clamp(0)

    def reduce(mode, factors):
        r = rows
        if not count or not length:
            return tp.zeros((count, width), dtype=rows.dtype) + 0.0 * rows.sum()
        zeros = tp.zeros((count, width), dtype=rows.dtype)
        if mode == "max":
            if inside is not None:
                r = tp.where(inside.unsqueeze(-1), r, -math.inf)
            best = r.detach()
            top = (zeros - math.inf).index_reduce(0, owner, best, "amax")
            # the first of those that are largest gets the gradient; what is not a number counts as largest
            hit = (best == top.index_select(0, owner)) | best.isnan()
            if inside is not None:
                hit = hit & inside.unsqueeze(-1)
            first = tp.where(hit, place.unsqueeze(1), length)
            none = tp.full((count, width), length, dtype=tp.int64)
            first = none.index_reduce(0, owner, first, "amin")
            return tp.where(first < length, rows.gather(0, first.clamp(0, length - 1)), 0.0)
        if inside is not None:
            r = tp.where(inside.unsqueeze(-1), r, 0.0)
        if factors is not None:
            r = r * factors.unsqueeze(-1)
        r = zeros.index_add(0, owner, r)
        if mode == "mean":
            ones = tp.ones((length,), dtype=rows.dtype) if inside is None else inside.to(rows.dtype)
            r = r / tp.zeros((count,), dtype=rows.dtype).index_add(0, owner, ones).clamp(1).unsqueeze(-1)
        return r

    return reduce


# ---- losses ----


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """(log v + (input - target)^2 / v) / 2 with v = max(var, eps), reduced; full adds log(2 pi) / 2.

    var: a number, or of input's shape, of that shape without its last dimension or with size 1 there. The bound has no
    part in derivatives.

    Raises:
        ValueError: var does not fit or has a negative entry.
    """
    if not isinstance(var, tp.Tensor):
        if var < 0:
            raise ValueError("gaussian_nll_loss: var has a negative entry")
        var = tp.full(input.shape, float(var), dtype=input.dtype)
    elif _known((var < 0).any()):
        raise ValueError("gaussian_nll_loss: var has a negative entry")
    if var.shape != input.shape:
        if var.shape == input.shape[:-1]:
            var = var.unsqueeze(-1)
        elif var.ndim != input.ndim or var.shape[:-1] != input.shape[:-1] or var.shape[-1] != 1:
            raise ValueError(
                f"gaussian_nll_loss: var of shape {list(var.shape)} does not fit input of shape {list(input.shape)}"
            )
    low = var.detach()
    var = var + (low.clamp(eps) - low)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduced("gaussian_nll_loss", loss, reduction)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """triplet_margin_loss with any distance of two tensors; by default pairwise_distance.

    Raises:
        ValueError: margin is not positive, or another reduction.
    """
    from .functional import pairwise_distance

    if margin <= 0:
        raise ValueError(f"triplet_margin_with_distance_loss: margin must be positive, got {margin}")
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = tp.minimum(far, distance(positive, negative))
    return _reduced("triplet_margin_with_distance_loss", (margin + near - far).clamp(0), reduction)


_NEVER = -1e30  # the logarithm of no probability: finite, so that derivatives of what is never reached are zeros


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """-log of the probability of targets, summed over all alignments with blanks and repetitions.

    Args:
        log_probs: [T, N, C] or [T, C], logarithms of probabilities.
        targets: [N, S], [S], or those of all samples one after the other, [sum of target_lengths].
        input_lengths, target_lengths: [N] integers.
        reduction: "mean" divides each loss by its target's length first.
        zero_infinity: a target that is too long for its input gives 0 in place of infinity.

    Differentiable to any order; where a loss is infinite the derivative is 0.

    Raises:
        ValueError: another reduction. RuntimeError: shapes or lengths do not fit.

    Source: Graves, Fernandez, Gomez and Schmidhuber (2006).
    """
    single = log_probs.ndim == 2
    if log_probs.ndim not in (2, 3):
        raise RuntimeError(f"ctc_loss: log_probs must have shape [T, N, C] or [T, C], got {list(log_probs.shape)}")
    x = log_probs.unsqueeze(1) if single else log_probs
    steps, count, classes = x.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"ctc_loss: blank {blank} is not one of {classes} classes")
    lengths = []
    for name, value in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        value = tp.as_tensor(value).to(tp.int64).reshape(-1)
        if value.shape[0] != count:
            raise RuntimeError(f"ctc_loss: {name} must have {count} entries, got {value.shape[0]}")
        lengths.append(value)
    frames, sizes = lengths
    if _known(((frames < 0) | (frames > steps)).any()):
        raise RuntimeError(f"ctc_loss: input_lengths must lie between 0 and {steps}")
    targets = targets.to(tp.int64)
    if targets.ndim == 1 and not single:
        ends = sizes.cumsum(0)
        longest = int(sizes.max()) if count else 0
        if count and int(ends[-1]) != targets.shape[0]:
            raise RuntimeError(f"ctc_loss: target_lengths add up to {int(ends[-1])}, targets has {targets.shape[0]}")
        at = (ends - sizes).unsqueeze(1) + tp.arange(longest)
        at = at.clamp(0, max(targets.shape[0] - 1, 0))
        targets = targets[at] if targets.shape[0] else tp.zeros((count, 0), dtype=tp.int64)
    elif targets.ndim == 1:
        targets = targets.unsqueeze(0)
    if targets.shape[0] != count or _known(((sizes < 0) | (sizes > targets.shape[1])).any()):
        raise RuntimeError(f"ctc_loss: targets of shape {list(targets.shape)} do not fit target_lengths")
    longest = targets.shape[1]
    real = tp.arange(longest) < sizes.unsqueeze(1)
    labels = tp.where(real, targets, blank)
    blanks = tp.full((count, longest), blank, dtype=tp.int64)
    labels = tp.stack([blanks, labels], 2).reshape(count, 2 * longest)
    labels = tp.cat([labels, tp.full((count, 1), blank, dtype=tp.int64)], 1)
    half = x.dtype in (tp.float16, tp.bfloat16)
    scores = (x.to(tp.float32) if half else x).gather(2, labels.unsqueeze(0).expand(steps, count, 2 * longest + 1))
    # from two places before, over a blank between different labels
    jump = (labels != blank) & (labels != labels.roll(2, 1)) & (tp.arange(2 * longest + 1) >= 2)

    def shifted(a, n):
        return tp.cat([tp.full((count, n), _NEVER, dtype=a.dtype), a], 1)[:, : 2 * longest + 1]

    start = tp.arange(2 * longest + 1) == 0
    alpha = tp.where(start, 0.0, _NEVER).to(scores.dtype).expand(count, 2 * longest + 1)
    for t in range(steps):
        ways = [alpha, shifted(alpha, 1), tp.where(jump, shifted(alpha, 2), _NEVER)]
        # before the first frame the only place is a blank that is not yet there: both of the first two can begin
        moved = tp.logsumexp(tp.stack(ways), 0) if t else tp.where(tp.arange(2 * longest + 1) < 2, 0.0, _NEVER)
        moved = (moved.to(scores.dtype) + scores[t]).clamp(_NEVER)
        alpha = tp.where((t < frames).unsqueeze(1), moved, alpha)
    last = (2 * sizes).unsqueeze(1)
    end = alpha.gather(1, last).squeeze(1)
    before = alpha.gather(1, (last - 1).clamp(0)).squeeze(1)
    before = tp.where(sizes > 0, before, _NEVER)
    loss = -tp.logaddexp(end, before)
    loss = tp.where(loss > -_NEVER / 2, 0.0 if zero_infinity else math.inf, loss)
    loss = loss.to(x.dtype)
    if reduction == "mean":
        return (loss / sizes.clamp(1).to(loss.dtype)).mean()
    if single and reduction == "none":
        return loss.squeeze(0)
    return _reduced("ctc_loss", loss, reduction)
