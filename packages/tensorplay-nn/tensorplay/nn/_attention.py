"""Multi-head attention and the encoder of transformers."""

import copy
import math

import tensorplay as tp

from . import functional as F
from . import init
from ._containers import ModuleList
from ._forms import Dropout
from ._layers import Linear
from ._module import Module
from ._norms import LayerNorm
from ._parameter import Parameter


def _additive(mask, dtype):
    """A bool mask, True where a key is left out, as a term of the scores."""
    return tp.where(mask, -math.inf, 0.0).to(dtype) if mask.dtype == tp.bool else mask.to(dtype)


class MultiheadAttention(Module):
    """Attention of num_heads heads between projections of query, key and value. Source: Vaswani et al. (2017).

    Args:
        embed_dim, num_heads: the first a multiple of the second.
        dropout: share of the weights that is dropped in training.
        bias: of the projections.
        kdim, vdim: sizes of key and value; embed_dim unless given.
        batch_first: [N, L, E] instead of [L, N, E].
    """

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
                 vdim=None, batch_first=False, device=None, dtype=None):
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueError(f"MultiheadAttention: embed_dim {embed_dim} does not divide into {num_heads} heads")
        if add_bias_kv or add_zero_attn:
            raise ValueError("MultiheadAttention: add_bias_kv and add_zero_attn are not supported")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim

        def parameter(*shape):
            return Parameter(tp.empty(shape, device=device, dtype=dtype))

        self._one = self.kdim == embed_dim and self.vdim == embed_dim
        if self._one:
            self.in_proj_weight = parameter(3 * embed_dim, embed_dim)
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = parameter(embed_dim, embed_dim)
            self.k_proj_weight = parameter(embed_dim, self.kdim)
            self.v_proj_weight = parameter(embed_dim, self.vdim)
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", parameter(3 * embed_dim) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias, device=device, dtype=dtype)
        for p in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if p is not None:
                init.xavier_uniform_(p)
        if bias:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        """(output, weights or None); masks are True, or -inf, where a key is left out.

        key_padding_mask: [N, S]. attn_mask: [L, S] or [N * num_heads, L, S]. weights: [N, L, S], or with
        average_attn_weights=False [N, num_heads, L, S].
        """
        single = query.ndim == 2
        if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
            raise ValueError("MultiheadAttention: query, key and value must have 2 or 3 dimensions, all the same")
        if is_causal and attn_mask is None:
            raise RuntimeError("MultiheadAttention: is_causal is a hint about attn_mask, which must be given")
        x = [query, key, value]
        if single:
            x = [t.unsqueeze(0) for t in x]
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            x = [t.transpose(0, 1) for t in x]
        e, heads = self.embed_dim, self.num_heads
        weights = self.in_proj_weight.chunk(3, 0) if self._one else (
            self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)  # fmt: skip
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3, 0)

        def split(t, w, b):
            t = F.linear(t, w, b)
            return t.reshape(t.shape[0], t.shape[1], heads, e // heads).transpose(1, 2)

        q, k, v = (split(t, w, b) for t, w, b in zip(x, weights, biases, strict=True))
        scores = (q / math.sqrt(e // heads)) @ k.transpose(-2, -1)
        if attn_mask is not None:
            mask = _additive(attn_mask, q.dtype)
            scores = scores + (mask.reshape(scores.shape) if mask.ndim == 3 else mask)
        if key_padding_mask is not None:
            scores = scores + _additive(key_padding_mask, q.dtype)[:, None, None, :]
        share = F.softmax(scores, -1)
        if self.dropout:
            share = F.dropout(share, self.dropout, self.training)
        out = (share @ v).transpose(1, 2)
        out = self.out_proj(out.reshape(out.shape[0], out.shape[1], e))
        if single:
            out = out.squeeze(0)
        elif not self.batch_first:
            out = out.transpose(0, 1)
        if not need_weights:
            return out, None
        share = share.mean(1) if average_attn_weights else share
        return out, share.squeeze(0) if single else share


class TransformerEncoderLayer(Module):
    """Self-attention and a network of two linear layers, each with a residual and layer norm.

    Args:
        d_model, nhead, dim_feedforward: sizes.
        dropout: in training, of the attention, within the network and of both branches.
        activation: "relu", "gelu" or a function.
        norm_first: norms in front of the branches instead of behind the sums.
    """

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        on = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **on)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **on)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **on)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **on)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **on)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        if isinstance(activation, str):
            if activation not in ("relu", "gelu"):
                raise RuntimeError(f"TransformerEncoderLayer: activation must be 'relu' or 'gelu', got {activation!r}")
            activation = getattr(F, activation)
        self.activation = activation

    def _attend(self, x, mask, padding):
        return self.dropout1(self.self_attn(x, x, x, padding, False, mask)[0])

    def _feed(self, x):
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        x = src
        if self.norm_first:
            x = x + self._attend(self.norm1(x), src_mask, src_key_padding_mask)
            return x + self._feed(self.norm2(x))
        x = self.norm1(x + self._attend(x, src_mask, src_key_padding_mask))
        return self.norm2(x + self._feed(x))


class TransformerEncoder(Module):
    """num_layers copies of encoder_layer one after the other, and a norm at the end if given."""

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask)
        return src if self.norm is None else self.norm(src)
