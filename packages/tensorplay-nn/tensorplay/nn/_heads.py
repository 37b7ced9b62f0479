"""Attention: the scaled product and its form of several heads with projections."""

import math

import tensorplay as tp


def _seen(mask):
    """Rows of a mask that let a key take part: keepdim, bool."""
    return (mask if mask.dtype == tp.bool else mask > -math.inf).any(-1, keepdim=True)


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """softmax(query key^T scale + mask) value: [..., L, E], [..., S, E], [..., S, V] to [..., L, V].

    Args:
        attn_mask: bool, True where a key takes part; or added to the scores. Broadcast to [..., L, S].
        dropout_p: share of the weights that is dropped.
        is_causal: query i sees the keys up to i.
        scale: 1 / sqrt(E) unless given.
        enable_gqa: query may have a multiple of key's and value's heads (dimension -3).

    A query that sees no key gives zeros.

    Raises:
        RuntimeError: both a mask and is_causal, or shapes that do not fit.
    """
    from .functional import dropout

    if query.ndim < 2 or key.ndim < 2 or value.ndim < 2:
        raise RuntimeError("scaled_dot_product_attention: query, key and value must have at least 2 dimensions")
    if is_causal and attn_mask is not None:
        raise RuntimeError("scaled_dot_product_attention: attn_mask must not be given with is_causal")
    if enable_gqa:
        heads = [t.shape[-3] if t.ndim > 2 else 0 for t in (query, key, value)]
        if not all(heads) or heads[0] % heads[1] or heads[0] % heads[2]:
            shapes = ", ".join(str(list(t.shape)) for t in (query, key, value))
            raise RuntimeError(
                "scaled_dot_product_attention: enable_gqa needs dimension -3 of query to be a multiple of key's and "
                f"value's, got {shapes}"
            )
        key = key.repeat_interleave(heads[0] // heads[1], -3)
        value = value.repeat_interleave(heads[0] // heads[2], -3)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    half = query.dtype in (tp.float16, tp.bfloat16)
    q, k = (query.to(tp.float32), key.to(tp.float32)) if half else (query, key)
    scores = (q * scale) @ k.transpose(-2, -1)
    if is_causal:
        attn_mask = tp.arange(scores.shape[-2]).unsqueeze(1) >= tp.arange(scores.shape[-1])
    if attn_mask is None:
        weights = tp.softmax(scores, -1)
    else:
        # a row without keys gets finite scores, then weight zero: no derivative of it is NaN
        seen = _seen(attn_mask)
        if attn_mask.dtype == tp.bool:
            scores = tp.where(attn_mask, scores, -math.inf)
        else:
            scores = scores + attn_mask
        weights = tp.where(seen, tp.softmax(tp.where(seen, scores, 0.0), -1), 0.0)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p, True)
    return weights.to(value.dtype) @ value


def _additive(name, mask, dtype):
    """A bool mask, True where a key is left out, as a term of the scores."""
    if mask is None:
        return None
    if mask.dtype == tp.bool:
        return tp.where(mask, -math.inf, 0.0).to(dtype)
    if not mask.is_floating_point():
        raise AssertionError(f"multi_head_attention_forward: {name} must be bool or floating, got {mask.dtype}")
    return mask.to(dtype)


def _fits(what, got, wanted):
    if tuple(got) != tuple(wanted):
        raise AssertionError(f"multi_head_attention_forward: {what} must have shape {list(wanted)}, got {list(got)}")


def _checked(query, key, value, key_padding_mask, attn_mask, embed_dim, heads):
    """The arguments in three dimensions and whether they had two."""
    name = "multi_head_attention_forward"
    if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
        shapes = ", ".join(str(list(t.shape)) for t in (query, key, value))
        raise AssertionError(f"{name}: query, key and value must have 2 or 3 dimensions, all the same, got {shapes}")
    if query.shape[-1] != embed_dim:
        raise AssertionError(f"{name}: query must have {embed_dim} features, got shape {list(query.shape)}")
    if heads < 1 or embed_dim % heads:
        raise AssertionError(f"{name}: embed_dim {embed_dim} does not divide into {heads} heads")
    single = query.ndim == 2
    if single:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    if key.shape[:2] != value.shape[:2] or key.shape[1] != query.shape[1]:
        raise AssertionError(
            f"{name}: key of shape {list(key.shape)} and value of shape {list(value.shape)} must agree, and have "
            f"{query.shape[1]} samples as query has"
        )
    if key_padding_mask is not None:
        _fits("key_padding_mask", key_padding_mask.shape, (query.shape[1], key.shape[0]))
    if attn_mask is not None and attn_mask.ndim not in (2, 3):
        raise AssertionError(f"{name}: attn_mask must have 2 or 3 dimensions, got shape {list(attn_mask.shape)}")
    return query, key, value, key_padding_mask, single


def multi_head_attention_forward(
    query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
    dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
    use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None,
    static_v=None, average_attn_weights=True, is_causal=False,
):  # fmt: skip
    """Attention of num_heads heads between projections of query, key and value, projected once more.

    Args:
        query, key, value: [L, N, E], [S, N, E], [S, N, E], or without N.
        embed_dim_to_check: E.
        in_proj_weight, in_proj_bias: [3 E, E] and [3 E] or None, for query, key and value one below the other.
        bias_k, bias_v: [1, 1, E], one key and value more for every sample, or None.
        add_zero_attn: one more of zeros.
        dropout_p, training: share of the weights that is dropped in training.
        out_proj_weight, out_proj_bias: of the last projection.
        key_padding_mask: [N, S], and attn_mask: [L, S] or [N num_heads, L, S]: True, or -inf, where a key is left out.
        need_weights, average_attn_weights: whether weights are returned, and as means over the heads.
        use_separate_proj_weight: q_proj_weight, k_proj_weight and v_proj_weight are used for in_proj_weight.
        static_k, static_v: [N num_heads, S, E / num_heads], in place of the projected key and value.
        is_causal: a hint that attn_mask, which has to be given, is the causal one.

    Returns (output, weights or None); weights are [N, L, S], or [N, num_heads, L, S]. Without weights a query that
    sees no key gives the projection of zeros, with them NaN, as in PyTorch.

    Raises:
        AssertionError: shapes or dtypes do not fit. RuntimeError: a mask's shape does not, or is_causal without it.

    Source: Vaswani et al. (2017).
    """
    from . import functional as F

    name = "multi_head_attention_forward"
    query, key, value, key_padding_mask, single = _checked(
        query, key, value, key_padding_mask, attn_mask, embed_dim_to_check, num_heads
    )
    if is_causal and attn_mask is None:
        raise RuntimeError(f"{name}: is_causal is a hint about attn_mask, which must be given")
    length, count, width = query.shape
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        for what, w, t in zip("qkv", weights, (query, key, value), strict=True):
            if w is None:
                raise AssertionError(f"{name}: use_separate_proj_weight needs {what}_proj_weight")
            _fits(f"{what}_proj_weight", w.shape, (width, t.shape[-1]))
    else:
        if in_proj_weight is None:
            raise AssertionError(f"{name}: in_proj_weight is needed without use_separate_proj_weight")
        if key.shape[-1] != width or value.shape[-1] != width:
            raise AssertionError(
                f"{name}: key and value must have {width} features, got {key.shape[-1]} and {value.shape[-1]}"
            )
        weights = in_proj_weight.chunk(3, 0)
    biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3, 0)
    q, k, v = (F.linear(t, w, b) for t, w, b in zip((query, key, value), weights, biases, strict=True))
    padding = 0
    if bias_k is not None or bias_v is not None:
        if bias_k is None or bias_v is None:
            raise AssertionError(f"{name}: bias_k and bias_v must be given together")
        if static_k is not None or static_v is not None:
            raise AssertionError(f"{name}: bias_k and bias_v do not go with static_k and static_v")
        for what, b in (("bias_k", bias_k), ("bias_v", bias_v)):
            if b.numel() != width or b.shape[-1] != width:
                _fits(what, b.shape, (1, 1, width))
        k = tp.cat([k, bias_k.reshape(1, 1, width).expand(1, count, width)], 0)
        v = tp.cat([v, bias_v.reshape(1, 1, width).expand(1, count, width)], 0)
        padding += 1
    size = width // num_heads

    def split(t, static, what):
        if static is None:
            return t.reshape(t.shape[0], count, num_heads, size).permute(1, 2, 0, 3)
        _fits(what, (static.shape[0], static.shape[-1]), (count * num_heads, size))
        return static.reshape(count, num_heads, -1, size)

    q, k, v = split(q, None, ""), split(k, static_k, "static_k"), split(v, static_v, "static_v")
    if add_zero_attn:
        zeros = tp.zeros((count, num_heads, 1, size), dtype=k.dtype)
        k, v = tp.cat([k, zeros], 2), tp.cat([v, zeros.to(v.dtype)], 2)
        padding += 1
    if k.shape[2] != v.shape[2]:
        raise RuntimeError(f"{name}: static_k and static_v must have one length, got {k.shape[2]} and {v.shape[2]}")
    mask = _additive("attn_mask", attn_mask, q.dtype)
    keys = k.shape[2] - padding
    if mask is not None:
        wanted = (length, keys) if mask.ndim == 2 else (count * num_heads, length, keys)
        if tuple(mask.shape) != wanted:
            raise RuntimeError(f"{name}: attn_mask must have shape {list(wanted)}, got {list(mask.shape)}")
        if mask.ndim == 3:
            mask = mask.reshape(count, num_heads, length, keys)
    if key_padding_mask is not None:
        left_out = _additive("key_padding_mask", key_padding_mask, q.dtype)[:, None, None, :]
        mask = left_out if mask is None else mask + left_out
    if mask is not None and padding:
        mask = F.pad(mask, (0, padding))
    dropped = dropout_p if training else 0.0
    share = None
    if need_weights:
        scores = (q * (1 / math.sqrt(size))) @ k.transpose(-2, -1)
        share = tp.softmax(scores if mask is None else scores + mask, -1)
        if dropped:
            share = F.dropout(share, dropped, True)
        out = share @ v
    else:
        out = scaled_dot_product_attention(q, k, v, mask, dropped)
    out = F.linear(out.permute(2, 0, 1, 3).reshape(length, count, width), out_proj_weight, out_proj_bias)
    if need_weights and average_attn_weights:
        share = share.mean(1)
    if single:
        out, share = out.squeeze(1), None if share is None else share.squeeze(0)
    return out, share
