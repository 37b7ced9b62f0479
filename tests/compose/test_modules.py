"""Every module under transforms: mapped against looped, forward mode and second derivatives against differences.

A case is a module, in float64, and the inputs of one sample; modules without random numbers in them.
"""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import functional_call, grad, jvp, stack_module_state, vjp, vmap

nn = pytest.importorskip("tensorplay.nn")
D = tp.float64


def image(*shape):
    return lambda rng: tp.tensor(rng.standard_normal(shape))


def labels(classes, *shape):
    return lambda rng: tp.tensor(rng.integers(0, classes, shape))


def places(*shape):
    n = len(shape) - 2
    return lambda rng: tp.tensor(rng.permutation(4**n)[: 2 * 2**n].reshape(shape))


def share(*shape):
    return lambda rng: tp.tensor(rng.uniform(0.1, 0.9, shape))


def sign(*shape):
    return lambda rng: tp.tensor(rng.choice([-1, 1], shape))  # integers, which are not differentiated


CASES = {
    "Linear": (lambda: nn.Linear(3, 4), [image(2, 3)]),
    "Bilinear": (lambda: nn.Bilinear(3, 2, 4), [image(2, 3), image(2, 2)]),
    "Embedding": (lambda: nn.Embedding(7, 3), [labels(7, 2, 3)]),
    "EmbeddingBag": (lambda: nn.EmbeddingBag(7, 3, mode="mean"), [labels(7, 2, 3)]),
    "EmbeddingBag max": (lambda: nn.EmbeddingBag(7, 3, mode="max"), [labels(7, 2, 3)]),
    "Flatten": (lambda: nn.Flatten(), [image(2, 3, 2)]),
    "Unflatten": (lambda: nn.Unflatten(1, (3, 2)), [image(2, 6)]),
    "CosineSimilarity": (lambda: nn.CosineSimilarity(), [image(2, 3), image(2, 3)]),
    "PairwiseDistance": (lambda: nn.PairwiseDistance(), [image(2, 3), image(2, 3)]),
    "PReLU": (lambda: nn.PReLU(3), [image(2, 3)]),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), [image(1, 4, 2, 3)]),
    "PixelUnshuffle": (lambda: nn.PixelUnshuffle(2), [image(1, 1, 4, 2)]),
    "ChannelShuffle": (lambda: nn.ChannelShuffle(2), [image(1, 4, 2)]),
    "Unfold": (lambda: nn.Unfold(2, padding=1), [image(1, 2, 2, 3)]),
    "Fold": (lambda: nn.Fold((3, 3), 2), [image(1, 8, 4)]),
    "Upsample": (lambda: nn.Upsample(scale_factor=1.5, mode="bilinear"), [image(1, 2, 2, 3)]),
    "UpsamplingNearest2d": (lambda: nn.UpsamplingNearest2d(scale_factor=2), [image(1, 1, 2, 3)]),
    "UpsamplingBilinear2d": (lambda: nn.UpsamplingBilinear2d((3, 5)), [image(1, 1, 2, 3)]),
    "Softmax2d": (lambda: nn.Softmax2d(), [image(2, 3, 2, 2)]),
    "RNN": (lambda: nn.RNN(3, 2, 2, bidirectional=True), [image(4, 2, 3)]),
    "LSTM": (lambda: nn.LSTM(3, 4, batch_first=True, proj_size=2), [image(2, 4, 3)]),
    "GRU": (lambda: nn.GRU(3, 2, bias=False), [image(4, 2, 3)]),
    "RNNCell": (lambda: nn.RNNCell(3, 2), [image(2, 3)]),
    "LSTMCell": (lambda: nn.LSTMCell(3, 2), [image(2, 3)]),
    "GRUCell": (lambda: nn.GRUCell(3, 2), [image(2, 3)]),
    "MultiheadAttention": (lambda: nn.MultiheadAttention(4, 2), [image(3, 2, 4)] * 3),
    "MultiheadAttention more": (
        lambda: nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True, kdim=3), [
            image(3, 2, 4), image(2, 2, 3), image(2, 2, 4)]),
    "TransformerDecoderLayer": (
        lambda: nn.TransformerDecoderLayer(4, 2, 5, dropout=0.0, activation="gelu"), [image(3, 2, 4), image(2, 2, 4)]),
    "TransformerDecoder": (
        lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 5, dropout=0.0, activation="gelu"), 2), [
            image(3, 1, 4), image(2, 1, 4)]),
    "Transformer": (
        lambda: nn.Transformer(4, 2, 1, 1, 5, dropout=0.0, activation="gelu"), [image(2, 1, 4), image(3, 1, 4)]),
    "TransformerEncoderLayer": (
        lambda: nn.TransformerEncoderLayer(4, 2, 5, dropout=0.0, activation="gelu", norm_first=True), [image(3, 2, 4)]),
    "TransformerEncoder": (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 5, dropout=0.0), 2), [image(3, 2, 4)]),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(3, track_running_stats=False), [image(4, 3)]),
    "BatchNorm3d": (lambda: nn.BatchNorm3d(2, track_running_stats=False), [image(2, 2, 2, 1, 2)]),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), [image(2, 4, 3)]),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(2, affine=True), [image(2, 2, 2, 2)]),
    "LayerNorm": (lambda: nn.LayerNorm((2, 3)), [image(2, 2, 3)]),
    "RMSNorm": (lambda: nn.RMSNorm(4), [image(2, 4)]),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(2), [image(2, 3, 4)]),
    "CrossEntropyLoss": (
        lambda: nn.CrossEntropyLoss(share(3)(np.random.default_rng(1)), label_smoothing=0.1),
        [image(4, 3), labels(3, 4)]),
    "NLLLoss": (lambda: nn.NLLLoss(), [image(4, 3), labels(3, 4)]),
    "KLDivLoss": (lambda: nn.KLDivLoss(reduction="batchmean"), [image(2, 3), share(2, 3)]),
    "BCELoss": (lambda: nn.BCELoss(), [share(2, 3), share(2, 3)]),
    "BCEWithLogitsLoss": (lambda: nn.BCEWithLogitsLoss(), [image(2, 3), share(2, 3)]),
    "PoissonNLLLoss": (lambda: nn.PoissonNLLLoss(), [image(2, 3), share(2, 3)]),
    "GaussianNLLLoss": (lambda: nn.GaussianNLLLoss(), [image(2, 3), image(2, 3), share(2, 3)]),
    "CosineEmbeddingLoss": (lambda: nn.CosineEmbeddingLoss(), [image(2, 3), image(2, 3), sign(2)]),
    "MarginRankingLoss": (lambda: nn.MarginRankingLoss(0.1), [image(4), image(4), sign(4)]),
    "HingeEmbeddingLoss": (lambda: nn.HingeEmbeddingLoss(), [image(4), sign(4)]),
    "MultiMarginLoss": (lambda: nn.MultiMarginLoss(), [image(4, 3), labels(3, 4)]),
    "TripletMarginLoss": (lambda: nn.TripletMarginLoss(), [image(2, 3)] * 3),
    "SoftMarginLoss": (lambda: nn.SoftMarginLoss(), [image(4), sign(4)]),
    "MultiLabelSoftMarginLoss": (lambda: nn.MultiLabelSoftMarginLoss(), [image(2, 3), share(2, 3)]),
    **{name: (lambda name=name: getattr(nn, name)(), [image(2, 3), image(2, 3)])
       for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")},
    **{name: (lambda name=name: getattr(nn, name)(), [image(2, 5)]) for name in (
        "CELU", "ELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "Mish",
        "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink")},
    **{name: (lambda name=name: getattr(nn, name)(-1), [image(2, 6)]) for name in (
        "GLU", "Softmax", "Softmin", "LogSoftmax")},
}  # fmt: skip
for n, size in ((1, (5,)), (2, (5, 4)), (3, (3, 4, 3))):
    x = image(2, 2, *size)
    CASES |= {
        f"Conv{n}d": (lambda n=n: getattr(nn, f"Conv{n}d")(2, 4, 2, stride=2, padding=1, groups=2), [x]),
        f"Conv{n}d reflect": (
            lambda n=n: getattr(nn, f"Conv{n}d")(2, 2, 3, padding="same", padding_mode="circular", bias=False), [x]),
        f"ConvTranspose{n}d": (
            lambda n=n: getattr(nn, f"ConvTranspose{n}d")(2, 3, 2, stride=2, output_padding=1, dilation=2), [x]),
        f"ConstantPad{n}d": (lambda n=n: getattr(nn, f"ConstantPad{n}d")(1, 0.5), [x]),
        **{f"{name}Pad{n}d": (lambda n=n, name=name: getattr(nn, f"{name}Pad{n}d")(1), [x])
           for name in ("Zero", "Reflection", "Replication", "Circular")},
        f"MaxPool{n}d": (lambda n=n: getattr(nn, f"MaxPool{n}d")(2, stride=1, padding=1), [x]),
        f"AvgPool{n}d": (lambda n=n: getattr(nn, f"AvgPool{n}d")(2, padding=1, count_include_pad=False), [x]),
        f"AdaptiveMaxPool{n}d": (lambda n=n: getattr(nn, f"AdaptiveMaxPool{n}d")(2), [x]),
        f"LPPool{n}d": (lambda n=n: getattr(nn, f"LPPool{n}d")(2, 2, stride=1), [x]),
        f"MaxUnpool{n}d": (lambda n=n: getattr(nn, f"MaxUnpool{n}d")(2), [
            image(1, 2, *[2] * n), places(1, 2, *[2] * n)]),
        f"AdaptiveAvgPool{n}d": (lambda n=n: getattr(nn, f"AdaptiveAvgPool{n}d")(2), [x]),
    }


def made(name):
    """(the module, its parameters, three samples of inputs stacked, scalar function of (params, *inputs))."""
    make, inputs = CASES[name]
    rng = np.random.default_rng(11)
    tp.manual_seed(3)
    module = make().double()
    params = {k: tp.tensor(rng.standard_normal(p.shape)) for k, p in module.named_parameters()}
    stacked = [tp.stack([draw(rng) for _ in range(3)]) for draw in inputs]

    def loss(params, *x):
        out = functional_call(module, params, x)
        flat, total = [out], 0.0
        while flat:
            t = flat.pop()
            if isinstance(t, tuple):
                flat.extend(t)
            elif t is not None:
                weight = tp.from_numpy(np.cos(np.arange(1.0, t.numel() + 1))).reshape(t.shape)
                total = total + (t * weight + 0.3 * t * t).sum()
        return total

    return module, params, stacked, loss


def moved(tree, direction, h):
    return {k: v + h * direction[k] for k, v in tree.items()}


def close(got, want, what, rtol=1e-9):
    got, want = got.detach().numpy(), want.detach().numpy()
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * max(1.0, np.abs(want).max(initial=0)), err_msg=what)


@pytest.mark.parametrize("name", CASES)
def test_a_mapped_module_is_the_loop(name):
    module, params, xs, loss = made(name)
    rows = list(zip(*(x.unbind(0) for x in xs)))
    float_inputs = tuple(i + 1 for i, x in enumerate(xs) if x.dtype == D)
    argnums = (0, *float_inputs) if params else float_inputs
    one = grad(loss, argnums)
    got = vmap(one, (None, *[0] * len(xs)))(params, *xs)
    want = [one(params, *row) for row in rows]
    for i in range(len(argnums)):
        if isinstance(got[i], dict):
            for k in got[i]:
                close(got[i][k], tp.stack([w[i][k] for w in want]), k)
        else:
            close(got[i], tp.stack([w[i] for w in want]), f"input {argnums[i]}")

    # second order, by both modes, mapped and not
    tangents = tuple(params if a == 0 else tp.ones_like(xs[a - 1][0]) for a in argnums)

    def product(way):
        def of(params, *x):
            values = tuple((params, *x)[a] for a in argnums)

            def chosen(*values):
                full = [params, *x]
                for a, v in zip(argnums, values):
                    full[a] = v
                return loss(*full)

            if way == "forward":
                return jvp(lambda *v: grad(chosen, tuple(range(len(v))))(*v), values, tangents)[1]
            return vjp(lambda *v: grad(chosen, tuple(range(len(v))))(*v), *values)[1](tangents)

        return of

    forward = vmap(product("forward"), (None, *[0] * len(xs)))(params, *xs)
    reverse = [product("reverse")(params, *row) for row in rows]
    for i in range(len(argnums)):
        for k in forward[i] if isinstance(forward[i], dict) else [None]:
            a = forward[i] if k is None else forward[i][k]
            close(a, tp.stack([r[i] if k is None else r[i][k] for r in reverse]), f"second derivative {k or i}")


@pytest.mark.parametrize("name", CASES)
def test_derivatives_against_differences(name):
    module, params, xs, loss = made(name)
    x = [v[0] for v in xs]
    rng = np.random.default_rng(5)
    state = {**params, **{i: v for i, v in enumerate(x) if v.dtype == D}}
    direction = {k: tp.tensor(rng.standard_normal(v.shape)) for k, v in state.items()}

    def f(state):
        return loss({k: state[k] for k in params}, *[state.get(i, v) for i, v in enumerate(x)])

    def slope(state):
        return jvp(f, (state,), (direction,))[1]

    for h, value, exact in ((1e-6, f, slope), (1e-6, slope, lambda s: jvp(slope, (s,), (direction,))[1])):
        want = (value(moved(state, direction, h)) - value(moved(state, direction, -h))) / (2 * h)
        close(exact(state), want, value.__name__, rtol=2e-7)
    by_reverse = grad(f)(state)
    close(sum((by_reverse[k] * direction[k]).sum() for k in state), slope(state), "reverse mode")


@pytest.mark.parametrize("name", [name for name in CASES if list(CASES[name][0]().parameters())])
def test_an_ensemble_is_its_members(name):
    make, inputs = CASES[name]
    tp.manual_seed(4)
    members = [make().double() for _ in range(3)]
    rng = np.random.default_rng(2)
    x = tuple(draw(rng) for draw in inputs)
    params, buffers = stack_module_state(members)
    together = vmap(lambda p, b: functional_call(members[0], (p, b), x))(params, buffers)
    for i, member in enumerate(members):
        pairs = [(together, member(*x))]
        while pairs:
            got, want = pairs.pop()
            if isinstance(want, tuple):
                pairs.extend(zip(got, want))
            elif want is not None:
                close(got[i], want, f"member {i}")
