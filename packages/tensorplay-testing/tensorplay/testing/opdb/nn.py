# ruff: noqa: F403, F405
"""Losses, convolution, pooling."""

import numpy as np

from ._base import *
from .elementwise import _same_ratio
from .scan import _log_softmax

_REDUCTIONS = ("mean", "sum", "none")


def reduced(x, reduction):
    return {"mean": np.mean, "sum": np.sum, "none": lambda v: v, "batchmean": lambda v: np.sum(v) / v.shape[0]}[
        reduction
    ](x)


# ---- losses of two tensors ----


def _pairs(*calls, low=-2.0, high=2.0, apart=False):
    """Equal, broadcast, 0-d and empty shapes, each reduction; then calls of ((shapes), kwargs)."""

    def samples(rng, dtype):
        keep = {0: _same_ratio(1), 1: _same_ratio(1)}

        def draw(a, b):
            x, y = make(rng, dtype, *a, low=low, high=high), make(rng, dtype, *b, low=low, high=high)
            if apart and dtype in FLOATS:
                x, y = round_to(np.round(x * 4) / 4 + 0.03, dtype), round_to(np.round(y * 4) / 4 - 0.07, dtype)
            return x, y

        for shape in ((3, 4), (), (2, 1, 3)):
            for reduction in _REDUCTIONS:
                yield Sample(
                    (*draw(shape, shape), *(() if reduction == "mean" else (reduction,))), vary=keep if apart else {}
                )
        yield Sample(draw((0, 3), (0, 3)), {"reduction": "sum"})
        for shapes, kwargs in calls:
            yield Sample(draw(*shapes), kwargs, vary=keep if apart else {})

    return samples


def loss(name, samples, reference, **options):
    options.setdefault("dtypes", FLOATS)
    add(f"nn.functional.{name}", samples, reference, refuses=False, scale=3, **options)


_WIDE = (((3, 4), (4,)), {"reduction": "none"}), (((4,), (3, 1)), {})
_BROADCAST = {"broadcast": "the shapes must agree"}
loss("mse_loss", _pairs(*_WIDE), lambda x, y, reduction="mean": reduced((x - y) ** 2, reduction))
loss(
    "l1_loss",
    _pairs(*_WIDE, apart=True),
    lambda x, y, reduction="mean": reduced(np.abs(x - y), reduction),
    dtypes=INEXACT,
    dtype=lambda n, s: to_real(promote_sample(s, n[0])),
)


def _smooth(x, y, reduction="mean", beta=1.0):
    d = np.abs(x - y)
    return reduced(np.where(d < beta, d * d / (2 * beta) if beta else 0, d - beta / 2), reduction)


def _huber(x, y, reduction="mean", delta=1.0):
    d = np.abs(x - y)
    return reduced(np.where(d < delta, d * d / 2, delta * (d - delta / 2)), reduction)


_BETAS = lambda word: ((((3, 4), (3, 4)), {word: 0.45}), (((3, 4), (3, 4)), {word: 2.0, "reduction": "none"}))
loss("smooth_l1_loss", _pairs(*_WIDE, *_BETAS("beta"), (((3, 4), (3, 4)), {"beta": 0.0}), apart=True), _smooth)
loss("huber_loss", _pairs(*_WIDE, *_BETAS("delta"), apart=True), _huber)


def _bce_samples(logits):
    def samples(rng, dtype):
        low, high = (-3.0, 3.0) if logits else (0.1, 0.9)

        def x(*shape):
            return make(rng, dtype, *shape, low=low, high=high)

        def y(*shape):
            return make(rng, dtype, *shape, low=0.1, high=0.9)

        for shape in ((3, 4), (), (2, 1, 3)):
            for reduction in _REDUCTIONS:
                yield Sample((x(*shape), y(*shape)), {} if reduction == "mean" else {"reduction": reduction})
        yield Sample((x(0, 3), y(0, 3)), {"reduction": "sum"})
        yield Sample((x(3, 4), y(3, 4), y(3, 4)))
        yield Sample((x(3, 4), y(3, 4)), {"weight": y(4)})
        if logits:
            yield Sample((x(3, 4), y(3, 4)), {"pos_weight": y(4) + 1})
            yield Sample(
                (round_to(np.array([100.0, -100.0, 0.0]), dtype), round_to(np.array([1.0, 0.0, 1.0]), dtype)), order=1
            )
        else:
            yield Sample(
                (round_to(np.array([0.0, 1.0, 0.0]), dtype), round_to(np.array([0.0, 1.0, 1.0]), dtype)), grad=False
            )

    return samples


def _bce(x, y, weight=None, reduction="mean"):
    v = -(y * np.maximum(np.log(x), -100) + (1 - y) * np.maximum(np.log(1 - x), -100))
    return reduced(v if weight is None else v * weight, reduction)


def _bce_logits(x, y, weight=None, reduction="mean", pos_weight=None):
    p = 1 if pos_weight is None else pos_weight
    v = p * y * np.logaddexp(0, -x) + (1 - y) * np.logaddexp(0, x)
    return reduced(v if weight is None else v * weight, reduction)


loss("binary_cross_entropy", _bce_samples(False), _bce)
loss("binary_cross_entropy_with_logits", _bce_samples(True), _bce_logits)


def _kl_samples(rng, dtype):
    def x(*shape):
        return make(rng, dtype, *shape, low=-3.0, high=-0.1)

    def p(*shape):
        return make(rng, dtype, *shape, low=0.1, high=0.9)

    for shape in ((3, 4), (2, 1, 3)):
        for reduction in (*_REDUCTIONS, "batchmean"):
            yield Sample((x(*shape), p(*shape)), {} if reduction == "mean" else {"reduction": reduction})
    yield Sample((x(), p()))
    yield Sample((x(0, 3), p(0, 3), "sum"))
    yield Sample((x(3, 4), p(4)), {"reduction": "none"})
    yield Sample((x(3, 4), x(3, 4)), {"log_target": True})
    if dtype == "float64":
        yield Sample((x(3), np.array([0.0, 0.5, 0.5])), {"reduction": "sum"}, grad=False)


def _kl(x, y, reduction="mean", log_target=False):
    if log_target:
        return reduced(np.exp(y) * (y - x), reduction)
    return reduced(np.where(y > 0, y * (np.log(np.where(y > 0, y, 1)) - x), 0.0), reduction)


loss("kl_div", _kl_samples, _kl)

# ---- losses of classes ----


def _class_samples(entropy):
    def samples(rng, dtype):
        def t(*shape):
            return np.asarray(rng.integers(0, 4, shape))

        def w():
            return make(rng, dtype, 4, low=0.5, high=1.5)

        for shape, target in (((3, 4), (3,)), ((4,), ()), ((2, 4, 3), (2, 3)), ((2, 4, 2, 2), (2, 2, 2))):
            for reduction in _REDUCTIONS:
                yield Sample(
                    (make(rng, dtype, *shape), t(*target)), {} if reduction == "mean" else {"reduction": reduction}
                )
        yield Sample((make(rng, dtype, 0, 4), t(0)), {"reduction": "sum"})
        yield Sample((make(rng, dtype, 3, 4), t(3), w()))
        yield Sample((make(rng, dtype, 3, 4), t(3)), {"weight": w(), "reduction": "none"})
        yield Sample((make(rng, dtype, 4, 4), np.array([1, 2, 1, 0])), {"ignore_index": 1})
        yield Sample((make(rng, dtype, 4, 4), np.array([1, -7, 3, 0]), w()), {"ignore_index": -7})
        if entropy:
            p = make(rng, dtype, 3, 4, low=0.1, high=0.9)
            yield Sample((make(rng, dtype, 3, 4), p))
            yield Sample((make(rng, dtype, 3, 4), p, w()), {"reduction": "sum", "label_smoothing": 0.2})
            yield Sample((make(rng, dtype, 3, 4), t(3)), {"label_smoothing": 0.1})
            yield Sample((make(rng, dtype, 3, 4), t(3), w()), {"label_smoothing": 0.3, "reduction": "none"})
            yield Sample(
                (make(rng, dtype, 4, 4), np.array([1, 2, 1, 0]), w()), {"ignore_index": 1, "label_smoothing": 0.25}
            )

    return samples


def _nll(x, target, weight=None, ignore_index=-100, reduction="mean"):
    c = 1 if x.ndim > 1 else 0
    w = np.ones(x.shape[c]) if weight is None else weight
    keep = target != ignore_index
    at = np.where(keep, target, 0)
    picked = -np.take_along_axis(x, np.expand_dims(at, c), c).squeeze(c) * w[at] * keep
    if reduction == "mean":
        return picked.sum() / (w[at] * keep).sum()
    return reduced(picked, reduction)


def _cross_entropy(x, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    c = 1 if x.ndim > 1 else 0
    logp = _log_softmax(x, c) if x.size else x
    n = x.shape[c]
    w = np.ones(n) if weight is None else weight
    wide = w.reshape([n if d == c else 1 for d in range(x.ndim)])
    if target.dtype.kind == "f":
        soft = target * (1 - label_smoothing) + label_smoothing / n
        v = -(soft * logp * wide).sum(axis=c)
        return v.sum() / max(v.size, 1) if reduction == "mean" else reduced(v, reduction)
    if not label_smoothing:
        return _nll(logp, target, weight, ignore_index, reduction)
    keep = target != ignore_index
    hard = _nll(logp, target, weight, ignore_index, "none")
    smooth = -(logp * wide).sum(axis=c) * keep / n
    v = (1 - label_smoothing) * hard + label_smoothing * smooth
    if reduction == "mean":
        return v.sum() / (w[np.where(keep, target, 0)] * keep).sum()
    return reduced(v, reduction)


_CLASSES = {"broadcast": "shown by the class numbers"}
loss("nll_loss", _class_samples(False), _nll, dtype=lambda n, s: n[0])
loss("cross_entropy", _class_samples(True), _cross_entropy, dtype=lambda n, s: n[0])
