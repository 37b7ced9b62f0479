"""Functions written in Python: against definitions in NumPy, under transforms, and with bad input."""

import itertools

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.nn import functional as F
from tensorplay.testing import gradcheck

D = tp.float64


def _rng():
    return np.random.default_rng(0)


def _ctc(logp, target, frames, blank=0):
    """By enumeration of all alignments."""
    total = 0.0
    for path in itertools.product(range(logp.shape[1]), repeat=frames):
        merged = [k for k, _ in itertools.groupby(path) if k != blank]
        if merged == list(target):
            total += np.exp(sum(logp[t, k] for t, k in enumerate(path)))
    return -np.log(total) if total else np.inf


@pytest.mark.parametrize("blank", [0, 2])
def test_ctc_is_the_sum_over_alignments(blank):
    logits = _rng().standard_normal((5, 4, 3))
    logp = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    a, b = (k for k in range(3) if k != blank)
    targets, frames = [[a, b], [a, a], [b], []], [5, 4, 5, 3]
    sizes = [len(t) for t in targets]
    want = [_ctc(logp[:, i], t, f, blank) for i, (t, f) in enumerate(zip(targets, frames, strict=True))]
    padded = tp.tensor([(t + [a, a])[:2] for t in targets])
    flat = tp.tensor([k for t in targets for k in t])
    x = tp.tensor(logp)
    for t in (padded, flat):
        got = F.ctc_loss(x, t, tp.tensor(frames), tp.tensor(sizes), blank, "none")
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-12)
    mean = np.mean([w / max(n, 1) for w, n in zip(want, sizes, strict=True)])
    np.testing.assert_allclose(float(F.ctc_loss(x, padded, frames, sizes, blank)), mean, rtol=1e-12)
    one = F.ctc_loss(x[:, 0], padded[0], [5], [2], blank, "none")
    assert one.shape == ()
    np.testing.assert_allclose(float(one), want[0])
    gradcheck(lambda x: F.ctc_loss(x, padded, frames, sizes, blank, "sum"), x, order=2)


def test_ctc_of_what_cannot_be_aligned():
    x = tp.log_softmax(tp.randn(2, 1, 3, dtype=D), -1).requires_grad_()
    loss = F.ctc_loss(x, tp.tensor([[1, 1]]), [2], [2], reduction="sum")
    assert float(loss) == np.inf
    loss.backward()
    assert (x.grad == 0).all()
    assert float(F.ctc_loss(x, tp.tensor([[1, 1]]), [2], [2], zero_infinity=True)) == 0


def test_embedding_and_its_gradients():
    w = tp.tensor(_rng().standard_normal((4, 3))).requires_grad_()
    at = tp.tensor([[0, 2, 2], [3, 0, 0]])
    np.testing.assert_array_equal(F.embedding(at, w).detach().numpy(), w.detach().numpy()[at.numpy()])
    for kwargs, want in (
        ({}, [3, 0, 2, 1]),
        ({"padding_idx": 0}, [0, 0, 2, 1]),
        ({"padding_idx": -2}, [3, 0, 0, 1]),
        ({"scale_grad_by_freq": True}, [1, 0, 1, 1]),
    ):
        (g,) = tp.autograd.grad(F.embedding(at, w, **kwargs).sum(), w)
        np.testing.assert_allclose(g.numpy(), np.repeat(np.array(want, float)[:, None], 3, 1), err_msg=str(kwargs))
    v = tp.tensor([[3.0, 4.0], [30.0, 40.0], [0.3, 0.4]])
    F.embedding(tp.tensor([0, 2]), v, max_norm=1.0)
    np.testing.assert_allclose(v.numpy(), [[0.6, 0.8], [30, 40], [0.3, 0.4]], rtol=1e-6)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags(mode):
    rng = _rng()
    w, flat, offsets = rng.standard_normal((5, 3)), rng.integers(0, 5, 7), [0, 2, 2, 5]
    fold = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode]
    for padding in (None, int(flat[1])):
        bags = [flat[a:b] for a, b in zip(offsets, [*offsets[1:], 7], strict=True)]
        bags = [b[b != padding] if padding is not None else b for b in bags]
        want = [fold(w[b], axis=0) if len(b) else np.zeros(3) for b in bags]
        got = F.embedding_bag(tp.tensor(flat), tp.tensor(w), tp.tensor(offsets), mode=mode, padding_idx=padding)
        np.testing.assert_allclose(got.numpy(), want)
    ends = tp.tensor([*offsets, 7])
    got = F.embedding_bag(tp.tensor(flat), tp.tensor(w), ends, mode=mode, include_last_offset=True)
    assert got.shape == (4, 3)
    square = flat[:6].reshape(2, 3)
    got = F.embedding_bag(tp.tensor(square), tp.tensor(w), mode=mode)
    np.testing.assert_allclose(got.numpy(), fold(w[square], axis=1))
    if mode == "sum":
        share = rng.standard_normal((2, 3))
        got = F.embedding_bag(tp.tensor(square), tp.tensor(w), mode=mode, per_sample_weights=tp.tensor(share))
        np.testing.assert_allclose(got.numpy(), (w[square] * share[..., None]).sum(1))
    gradcheck(lambda w: F.embedding_bag(tp.tensor(flat), w, tp.tensor(offsets), mode=mode), tp.tensor(w))


def test_one_hot():
    at = tp.tensor([[0, 2], [1, 1]])
    np.testing.assert_array_equal(F.one_hot(at).numpy(), np.eye(3, dtype=int)[at.numpy()])
    assert F.one_hot(at, 5).shape == (2, 2, 5) and F.one_hot(at[:0], 2).shape == (0, 2, 2)


@pytest.mark.parametrize("full", [True, False])
def test_gaussian_nll(full):
    rng = _rng()
    x, y, v = rng.standard_normal((3, 4)), rng.standard_normal((3, 4)), rng.uniform(0.1, 2, (3, 4))

    def want(v):
        return 0.5 * (np.log(v) + (x - y) ** 2 / v) + (0.5 * np.log(2 * np.pi) if full else 0)

    for var in (v, v[:, :1], v[:, 0], 0.7):
        wide = var[:, None] if np.ndim(var) == 1 else var
        arg = var if isinstance(var, float) else tp.tensor(var)
        got = F.gaussian_nll_loss(tp.tensor(x), tp.tensor(y), arg, full)
        np.testing.assert_allclose(float(got), want(wide).mean())
    gradcheck(lambda x, v: F.gaussian_nll_loss(x, tp.tensor(y), v, full), (tp.tensor(x), tp.tensor(v)), order=2)


def test_triplet_with_distance():
    a, p, n = (tp.tensor(_rng().standard_normal((3, 4)) + i) for i in range(3))
    for swap in (False, True):
        got = F.triplet_margin_with_distance_loss(a, p, n, swap=swap)
        assert abs(float(got) - float(F.triplet_margin_loss(a, p, n, swap=swap))) < 1e-12

    def city(u, v):
        return (u - v).abs().sum(-1)

    got = F.triplet_margin_with_distance_loss(a, p, n, distance_function=city, margin=2.0, reduction="none")
    np.testing.assert_allclose(got.numpy(), (2 + city(a, p) - city(a, n)).clamp(0).numpy())


@pytest.mark.parametrize("how", ["plain", "bool", "float", "causal", "scale", "gqa"])
def test_attention(how):
    rng = _rng()
    q, k, v = rng.standard_normal((2, 2, 3, 4)), rng.standard_normal((2, 2, 5, 4)), rng.standard_normal((2, 2, 5, 3))
    kwargs, add, scale = {}, 0.0, 0.5
    if how == "bool":
        mask = rng.integers(0, 2, (3, 5)).astype(bool)
        mask[0], mask[1, 0] = False, True
        kwargs, add = {"attn_mask": tp.tensor(mask)}, np.where(mask, 0.0, -np.inf)
    elif how == "float":
        mask = rng.standard_normal((3, 5))
        kwargs, add = {"attn_mask": tp.tensor(mask)}, mask
    elif how == "causal":
        kwargs, add = {"is_causal": True}, np.where(np.tril(np.ones((3, 5))) > 0, 0.0, -np.inf)
    elif how == "scale":
        kwargs, scale = {"scale": 0.3}, 0.3
    elif how == "gqa":
        k, v = k[:, :1], v[:, :1]
        kwargs = {"enable_gqa": True}
    s = q @ np.swapaxes(k, -1, -2) * scale + add
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(-1, keepdims=True))
    want = np.nan_to_num(e / e.sum(-1, keepdims=True)) @ v
    args = tuple(map(tp.tensor, (q, k, v)))
    np.testing.assert_allclose(F.scaled_dot_product_attention(*args, **kwargs).numpy(), want, atol=1e-12)
    gradcheck(lambda *a: F.scaled_dot_product_attention(*a, **kwargs), args)


@pytest.mark.parametrize("name", "hardtanh relu6 hardswish celu selu mish elu leaky_relu relu".split())
def test_in_place_forms(name):
    x = tp.tensor([-4.0, -0.3, 0.2, 7.0])
    want = getattr(F, name)(x)
    for write in (getattr(F, name + "_"), lambda t: getattr(F, name)(t, inplace=True)):
        t = x.clone()
        assert write(t) is t
        np.testing.assert_array_equal(t.numpy(), want.numpy())


def test_random_activations():
    x = tp.randn(1000, dtype=D)
    drawn = F.rrelu(x, 0.1, 0.3, training=True)
    slope = (drawn / x)[x < 0]
    assert slope.min() >= 0.1 and slope.max() <= 0.3 and slope.max() - slope.min() > 0.1
    assert (F.rrelu(x, 0.1, 0.3)[x < 0] == 0.2 * x[x < 0]).all()
    logits = tp.tensor([0.0, 1.0, 2.0]).expand(4000, 3)
    hard = F.gumbel_softmax(logits, hard=True)
    np.testing.assert_allclose(hard.mean(0).numpy(), np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum(), atol=0.04)


X, T = tp.ones(2, 3), tp.tensor([0, 1])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: F.layer_norm(X, [2]), RuntimeError, "layer_norm: normalized_shape"),
        (lambda: F.layer_norm(T, [2]), TypeError, "layer_norm: input"),
        (lambda: F.group_norm(X, 2), RuntimeError, "group_norm: 3 channels"),
        (lambda: F.batch_norm(X, None, None), RuntimeError, "batch_norm: running_mean"),
        (lambda: F.batch_norm(X[:1], None, None, training=True), ValueError, "more than 1 value"),
        (lambda: F.batch_norm(X, tp.ones(2), None, training=True), RuntimeError, "running_mean must have"),
        (lambda: F.local_response_norm(X, 2), ValueError, "local_response_norm: input"),
        (lambda: F.normalize(X, dim=2), IndexError, "normalize: dimension 2"),
        (lambda: F.glu(X), RuntimeError, "glu: dimension 1"),
        (lambda: F.prelu(X, tp.ones(2)), RuntimeError, "prelu: weight"),
        (lambda: F.softshrink(X, -1.0), RuntimeError, "softshrink: lambd"),
        (lambda: F.rrelu(X, 2, 1), ValueError, "rrelu: lower"),
        (lambda: F.soft_margin_loss(X, X, "all"), ValueError, "soft_margin_loss: reduction"),
        (lambda: F.multi_margin_loss(X, T, p=3), ValueError, "multi_margin_loss: p"),
        (lambda: F.multi_margin_loss(X, tp.tensor([0, 3])), IndexError, "out of range"),
        (lambda: F.multilabel_margin_loss(X, T), RuntimeError, "multilabel_margin_loss: target"),
        (lambda: F.bilinear(X, X, X), RuntimeError, "bilinear: inputs"),
        (lambda: F.one_hot(tp.tensor([-1]), 2), RuntimeError, "one_hot: class numbers"),
        (lambda: F.embedding(tp.tensor([3]), X), IndexError, "index"),
        (lambda: F.embedding_bag(T, X), ValueError, "embedding_bag: a 1-d input"),
        (lambda: F.gaussian_nll_loss(X, X, -X), ValueError, "negative entry"),
        (lambda: F.ctc_loss(X, X, [1], [1], blank=9), RuntimeError, "ctc_loss: blank"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: F.hardtanh(x, 2.0, 1.0), "hardtanh: min_val 2 exceeds max_val 1"),
        (lambda x: tp.nn.Hardtanh(2.0, 1.0)(x), "min_val"),
        (lambda x: F.celu(x, 0.0), "celu: alpha"),
        (lambda x: F.triplet_margin_loss(x, x, x, margin=-1.0), "margin must be positive, got -1"),
        (lambda x: F.triplet_margin_loss(x, x, x, margin=float("nan")), "margin must be positive"),
    ],
)
def test_parameters_without_meaning(call, words):
    with pytest.raises(ValueError, match=words):
        call(tp.ones(2, 3))
