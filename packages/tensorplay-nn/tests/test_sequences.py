"""Recurrent layers and attention: cells against layers, masks, transforms, bad input."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn
from tensorplay.testing import gradcheck

func = pytest.importorskip("tensorplay.func")
D = tp.float64


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_a_layer_is_its_cell_over_time(kind):
    layer, cell = getattr(nn, kind)(3, 4, dtype=D), getattr(nn, f"{kind}Cell")(3, 4, dtype=D)
    cell.load_state_dict({k.removesuffix("_l0"): v for k, v in layer.state_dict().items()})
    x, state = tp.randn(5, 2, 3, dtype=D), None
    out, last = layer(x)
    for t in range(5):
        state = cell(x[t], state)
        tp.testing.assert_close(out[t], state[0] if kind == "LSTM" else state)
    both = (last, state) if kind == "LSTM" else ((last,), (state,))
    for a, b in zip(*both, strict=True):
        tp.testing.assert_close(a[0], b)
    tp.testing.assert_close(layer(x[:, 0])[0], out[:, 0])


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_recurrent_layers_under_transforms(kind):
    layer = getattr(nn, kind)(2, 2, bidirectional=True, dtype=D)
    x = tp.randn(3, 2, dtype=D)
    gradcheck(lambda x: layer(x)[0], x, order=2)
    params = {k: v.detach() for k, v in layer.named_parameters()}

    def loss(p, x):
        return (func.functional_call(layer, p, (x,))[0] ** 2).sum()

    xs = tp.randn(4, 3, 2, dtype=D)
    got = func.vmap(func.grad(loss), in_dims=(None, 0))(params, xs)
    for i in range(4):
        for k, g in func.grad(loss)(params, xs[i]).items():
            tp.testing.assert_close(got[k][i], g)


def test_masks_of_attention():
    layer = nn.MultiheadAttention(4, 2, batch_first=True, dtype=D)
    x = tp.randn(2, 3, 4, dtype=D)
    causal = tp.ones(3, 3).triu(1) > 0
    out, weights = layer(x, x, x, attn_mask=causal)
    assert weights.shape == (2, 3, 3) and (weights[:, causal] == 0).all()
    short = layer(x[:, :2], x[:, :2], x[:, :2], attn_mask=causal[:2, :2])[0]
    tp.testing.assert_close(out[:, :2], short)
    padding = tp.tensor([[False, False, True], [False, False, False]])
    padded, _ = layer(x, x, x, padding, need_weights=False)
    tp.testing.assert_close(padded[0], layer(x[0], x[0, :2], x[0, :2])[0])
    assert layer(x, x, x, average_attn_weights=False)[1].shape == (2, 2, 3, 3)
    each = causal.expand(4, 3, 3)
    tp.testing.assert_close(layer(x, x, x, attn_mask=each)[0], out)


def test_encoder_of_layers():
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True, dtype=D)
    stack = nn.TransformerEncoder(layer, 2, nn.LayerNorm(4, dtype=D))
    x = tp.randn(2, 3, 4, dtype=D)
    tp.testing.assert_close(stack(x), stack.norm(layer(layer(x))))
    tp.testing.assert_close(func.vmap(stack)(x), stack(x))
    gradcheck(layer, tp.randn(1, 2, 4, dtype=D), order=2)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nn.RNN(2, 3, nonlinearity="gelu"), ValueError, "nonlinearity"),
        (lambda: nn.GRU(2, 3, proj_size=2), TypeError, "proj_size"),
        (lambda: nn.LSTM(2, 3)(tp.ones(4, 5)), RuntimeError, "2 features"),
        (lambda: nn.LSTM(2, 3)(tp.ones(4, 1, 2), (tp.ones(1, 1, 3), tp.ones(1, 1, 2))), RuntimeError, "state of shape"),
        (lambda: nn.GRUCell(2, 3)(tp.ones(4)), ValueError, "GRUCell: input"),
        (lambda: nn.MultiheadAttention(4, 3), ValueError, "3 heads"),
        (lambda: nn.TransformerEncoderLayer(4, 2, activation="tan"), RuntimeError, "activation"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_state_of_a_sequence_is_numpy_compatible():
    layer = nn.GRU(2, 3)
    arrays = {k: np.asarray(v.numpy()) + 1 for k, v in layer.state_dict().items()}
    layer.load_state_dict(arrays)
    np.testing.assert_array_equal(layer.weight_hh_l0.detach().numpy(), arrays["weight_hh_l0"])


def test_more_keys_than_were_given():
    layer = nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True, batch_first=True, dtype=D)
    x = tp.randn(2, 3, 4, dtype=D)
    out, weights = layer(x, x, x, tp.ones(2, 3, dtype=tp.bool), attn_mask=tp.zeros(3, 3, dtype=D))
    assert weights.shape == (2, 3, 5) and (weights[..., :3] == 0).all()
    tp.testing.assert_close(weights.sum(-1), tp.ones(2, 3, dtype=D))
    tp.testing.assert_close(layer(x[0], x[0], x[0])[0], layer(x, x, x)[0][0])
    assert list(layer.state_dict())[2:4] == ["bias_k", "bias_v"]


def test_static_keys_replace_the_projected():
    layer, x = nn.MultiheadAttention(4, 2, dtype=D), tp.randn(3, 2, 4, dtype=D)
    w, b = layer.in_proj_weight, layer.in_proj_bias
    args = (4, 2, w, b, None, None, False, 0.0, layer.out_proj.weight, layer.out_proj.bias)
    k, v = (nn.functional.linear(x, w[i : i + 4], b[i : i + 4]) for i in (4, 8))
    k, v = (t.reshape(3, 4, 2).transpose(0, 1) for t in (k, v))
    call = nn.functional.multi_head_attention_forward
    got = call(x, x, x, *args, static_k=k, static_v=v)
    for a, e in zip(got, layer(x, x, x), strict=True):
        tp.testing.assert_close(a, e)
    one = tp.ones
    for words, error, options in (
        ("static_k and static_v must have one length", RuntimeError, {"static_k": one(4, 5, 2), "static_v": v}),
        ("static_k must have shape", AssertionError, {"static_k": one(3, 3, 2)}),
        ("needs q_proj_weight", AssertionError, {"use_separate_proj_weight": True}),
        ("attn_mask must have shape", RuntimeError, {"attn_mask": one(3, 4)}),
        ("attn_mask must have 2 or 3", AssertionError, {"attn_mask": one(3)}),
        ("attn_mask must be bool", AssertionError, {"attn_mask": one(3, 3, dtype=tp.int64)}),
        ("key_padding_mask must have shape", AssertionError, {"key_padding_mask": one(2, 4)}),
        ("is_causal", RuntimeError, {"is_causal": True}),
    ):
        with pytest.raises(error, match=words):
            call(x, x, x, *args, **options)
    for bad in ((x, x, x[:2]), (x[0], x, x), (x[..., :3], x, x), (x, x[:, :1], x[:, :1])):
        with pytest.raises(AssertionError, match="multi_head_attention_forward"):
            call(*bad, *args)


def test_a_query_that_sees_nothing_gives_zeros_without_nan_in_derivatives():
    q = tp.randn(2, 3, dtype=D)
    dead = tp.tensor([[True, True], [False, False]])
    for mask in (dead, tp.where(dead, 0.0, -np.inf).to(D)):
        out = nn.functional.scaled_dot_product_attention(q, q, q, mask)
        assert (out[1] == 0).all()
        g = func.grad(lambda q, m=mask: (nn.functional.scaled_dot_product_attention(q, q, q, m) ** 2).sum())(q)
        assert tp.isfinite(g).all()
        gradcheck(lambda q, m=mask: nn.functional.scaled_dot_product_attention(q, q, q, m), q, order=2)


def test_a_transformer_is_its_parts():
    net = nn.Transformer(4, 2, 1, 1, 6, dropout=0.0, dtype=D)
    src, tgt = tp.randn(3, 2, 4, dtype=D), tp.randn(2, 2, 4, dtype=D)
    mask = net.generate_square_subsequent_mask(2, dtype=D)
    out = net(src, tgt, tgt_mask=mask)
    tp.testing.assert_close(net(src, tgt[:1], tgt_mask=mask[:1, :1]), out[:1])
    tp.testing.assert_close(net.decoder(tgt, net.encoder(src), mask), out)
    with pytest.raises(RuntimeError, match="differ in samples"):
        net(src, tgt[:, :1])
    with pytest.raises(RuntimeError, match="4 features"):
        net(src, tgt[..., :2])
