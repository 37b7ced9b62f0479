"""Every module beside PyTorch's, with the same arguments, state and inputs, in float64: outputs, gradients of
parameters and inputs, buffers afterwards and repr agree.

usage: peer_nn.py [name ...]   with both packages installed
"""

import sys

import numpy as np
import torch

import tensorplay as tp
from tensorplay import nn

RNG = np.random.default_rng(0)
TOLERANCE = 1e-10


def x(*shape):
    return RNG.standard_normal(shape)


def unit(*shape):
    return RNG.uniform(0.1, 0.9, shape)


def ints(high, *shape):
    return RNG.integers(0, high, shape)


def signs(*shape):
    return np.where(RNG.integers(0, 2, shape), 1, -1)


def cases():
    """(class name, positional arguments, keyword arguments, inputs)"""
    elementwise = "Tanh Sigmoid ReLU ReLU6 GELU SiLU Softplus LeakyReLU ELU CELU SELU Hardswish Hardsigmoid Hardtanh "
    elementwise += "Hardshrink Softshrink Tanhshrink Softsign LogSigmoid Mish PReLU RReLU Identity"
    for name in elementwise.split():
        yield name, (), {}, (3 * x(3, 4),)
    yield "Threshold", (0.1, -2.0), {}, (x(3, 4),)
    yield "GELU", ("tanh",), {}, (x(3, 4),)
    yield "PReLU", (4,), {}, (x(3, 4, 2),)
    yield "Hardtanh", (-0.5, 0.7), {}, (x(3, 4),)
    for name in ("Softmax", "LogSoftmax", "Softmin"):
        yield name, (1,), {}, (x(3, 4),)
    yield "Softmax2d", (), {}, (x(2, 3, 2, 2),)
    yield "GLU", (), {}, (x(3, 4),)
    yield "Linear", (4, 5), {}, (x(2, 3, 4),)
    yield "Linear", (4, 5), {"bias": False}, (x(4),)
    yield "Bilinear", (3, 4, 5), {}, (x(2, 3), x(2, 4))
    yield "Embedding", (5, 3), {"padding_idx": 1}, (ints(5, 2, 4),)
    yield "Embedding", (5, 3), {"scale_grad_by_freq": True}, (ints(5, 2, 4),)
    for mode in ("sum", "mean", "max"):
        yield "EmbeddingBag", (5, 3), {"mode": mode}, (ints(5, 7), np.array([0, 2, 2, 5]))
        yield "EmbeddingBag", (5, 3), {"mode": mode, "padding_idx": 2}, (ints(5, 2, 4),)
    yield "Flatten", (), {}, (x(2, 3, 4),)
    yield "Unflatten", (1, (2, 3)), {}, (x(2, 6),)
    yield "CosineSimilarity", (), {}, (x(3, 4), x(3, 4))
    yield "PairwiseDistance", (), {}, (x(3, 4), x(3, 4))
    for n in (1, 2, 3):
        side = (8, 6, 5)[:n]
        image = (2, 4, *side)
        yield f"Conv{n}d", (4, 6, 3), {}, (x(*image),)
        yield f"Conv{n}d", (4, 6, 3), {"stride": 2, "padding": 1, "groups": 2, "bias": False}, (x(*image),)
        yield f"Conv{n}d", (4, 6, 2), {"padding": "same", "dilation": 2}, (x(*image),)
        for mode in ("reflect", "replicate", "circular"):
            yield f"Conv{n}d", (4, 2, 3), {"padding": 1, "padding_mode": mode}, (x(*image),)
        yield f"ConvTranspose{n}d", (4, 6, 3), {"stride": 2, "output_padding": 1, "padding": 1}, (x(*image),)
        yield f"ConvTranspose{n}d", (4, 6, 2), {"dilation": 2, "groups": 2}, (x(*image[1:]),)
        yield f"MaxPool{n}d", (3,), {"stride": 2, "padding": 1}, (x(*image),)
        for name in ("Zero", "Reflection", "Replication", "Circular"):
            yield f"{name}Pad{n}d", (2,), {}, (x(*image),)
            yield f"{name}Pad{n}d", ((1, 2, 0, 1, 2, 1)[: 2 * n],), {}, (x(*image[1:]),)
        yield f"ConstantPad{n}d", (1, 0.5), {}, (x(*image),)
        yield f"ConstantPad{n}d", ((1, -1, 0, 1, 2, -2)[: 2 * n], 2.0), {}, (x(*image),)
        yield "Upsample", (), {"scale_factor": 2}, (x(*image),)
        yield "Upsample", (), {"size": (5, 4, 3)[:n], "mode": "area"}, (x(*image),)
        linear = ("linear", "bilinear", "trilinear")[n - 1]
        yield "Upsample", (), {"scale_factor": (1.5, 2.0, 0.5)[:n], "mode": linear, "align_corners": True}, (x(*image),)
        yield f"MaxPool{n}d", (2,), {"ceil_mode": True}, (x(*image),)
        yield f"AvgPool{n}d", (3,), {"stride": 2, "padding": 1}, (x(*image),)
        yield f"AdaptiveAvgPool{n}d", (3,), {}, (x(*image),)
        yield f"AdaptiveMaxPool{n}d", (3,), {}, (x(*image),)
        yield f"AdaptiveMaxPool{n}d", (2,), {"return_indices": True}, (x(*image[1:]),)
        yield f"LPPool{n}d", (2, 2), {}, (x(*image),)
        yield f"LPPool{n}d", (1.5, 3), {"stride": 2, "ceil_mode": True}, (unit(*image),)
        small = (2, 4, *(s // 2 for s in side))
        places = [[RNG.permutation(int(np.prod([2 * s for s in small[2:]])))[: int(np.prod(small[2:]))]
                   for _ in range(4)] for _ in range(2)]
        yield f"MaxUnpool{n}d", (2,), {}, (x(*small), np.array(places).reshape(small))
        if n > 1:
            places = {"_random_samples": torch.as_tensor(unit(2, 4, n))}
            yield f"FractionalMaxPool{n}d", (2, 2), places, (x(*image),)
            yield f"FractionalMaxPool{n}d", ((2, 3, 2)[:n],), {"output_ratio": 0.5, **places}, (x(*image),)
        for affine in (True, False):
            for tracked in (True, False):
                on = {"affine": affine, "track_running_stats": tracked}
                yield f"BatchNorm{n}d", (4,), on, (x(*image),)
                yield f"BatchNorm{n}d", (4,), {**on, "momentum": None, "eps": 0.1}, (x(*image),)
                yield f"InstanceNorm{n}d", (4,), on, (x(*image),)
    picture = (x(2, 4, 6, 4),)
    yield "Upsample", (7,), {"mode": "bicubic"}, picture
    yield "UpsamplingNearest2d", (), {"scale_factor": 2}, picture
    yield "UpsamplingBilinear2d", ((5, 6),), {}, picture
    yield "PixelShuffle", (2,), {}, picture
    yield "PixelUnshuffle", (2,), {}, picture
    yield "ChannelShuffle", (2,), {}, picture
    yield "Unfold", ((2, 3),), {"padding": 1, "stride": 2}, picture
    yield "Fold", ((4, 5), (2, 3)), {"padding": 1, "dilation": 2}, (x(2, 12, 12),)
    yield "BatchNorm1d", (4,), {}, (x(3, 4),)
    yield "GroupNorm", (2, 4), {}, (x(2, 4, 3),)
    yield "GroupNorm", (2, 4), {"affine": False, "eps": 0.1}, (x(2, 4),)
    yield "LayerNorm", (4,), {}, (x(3, 4),)
    yield "LayerNorm", ((3, 4),), {"bias": False}, (x(2, 3, 4),)
    yield "LayerNorm", (4,), {"elementwise_affine": False}, (x(3, 4),)
    yield "RMSNorm", (4,), {}, (x(3, 4),)
    yield "RMSNorm", ((3, 4),), {"eps": 0.1}, (x(2, 3, 4),)
    yield "LocalResponseNorm", (3,), {"alpha": 0.5}, (x(2, 4, 3),)
    for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d"):
        yield name, (0.0,), {}, (x(2, 3, 4, 4, 4)[(slice(None),) * 2 + (0,) * (3 - int(name[7:-1] or 3))],)
    for name in ("RNN", "LSTM", "GRU"):
        yield name, (3, 4), {}, (x(5, 2, 3),)
        yield name, (3, 4, 2), {"bidirectional": True, "batch_first": True}, (x(2, 5, 3),)
        yield name, (3, 4), {"bias": False}, (x(5, 3),)
        yield f"{name}Cell", (3, 4), {}, (x(2, 3),)
    yield "RNN", (3, 4), {"nonlinearity": "relu"}, (x(5, 2, 3), x(1, 2, 4))
    yield "LSTM", (3, 4, 2), {"proj_size": 2}, (x(5, 2, 3),)
    yield "MultiheadAttention", (4, 2), {}, (x(3, 2, 4), x(5, 2, 4), x(5, 2, 4))
    wide = {"batch_first": True, "kdim": 3, "vdim": 5}
    yield "MultiheadAttention", (4, 2), wide, (x(2, 3, 4), x(2, 6, 3), x(2, 6, 5))
    more = {"add_bias_kv": True, "add_zero_attn": True, "bias": False}
    yield "MultiheadAttention", (4, 2), more, (x(3, 4), x(5, 4), x(5, 4))
    plain = {"dropout": 0.0}
    for options in (plain, {**plain, "norm_first": True, "activation": "gelu", "batch_first": True}):
        yield "TransformerDecoderLayer", (4, 2, 6), options, (x(3, 2, 4), x(5 if options is plain else 3, 2, 4))
    yield "Transformer", (4, 2, 2, 1, 6), plain, (x(3, 2, 4), x(5, 2, 4))
    yield "Transformer", (4, 2, 1, 2, 6), {**plain, "batch_first": True, "bias": False}, (x(2, 3, 4), x(2, 5, 4))
    yield "TransformerEncoderLayer", (4, 2, 6), plain, (x(3, 2, 4),)
    yield "TransformerEncoderLayer", (4, 2, 6), {**plain, "norm_first": True, "activation": "gelu"}, (x(3, 2, 4),)
    for how in ("mean", "sum", "none"):
        r = {"reduction": how}
        for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"):
            yield name, (), r, (x(3, 4), x(3, 4))
        for name in ("BCELoss", "BCEWithLogitsLoss", "KLDivLoss", "PoissonNLLLoss", "MultiLabelSoftMarginLoss"):
            yield name, (), r, (unit(3, 4), unit(3, 4))
        yield "GaussianNLLLoss", (), {**r, "full": True}, (x(3, 4), x(3, 4), unit(3, 4))
        for name in ("SoftMarginLoss", "HingeEmbeddingLoss"):
            yield name, (), r, (x(3, 4), signs(3, 4))
        yield "MarginRankingLoss", (), {**r, "margin": 0.3}, (x(3), x(3), signs(3))
        yield "MultiMarginLoss", (), {**r, "p": 2}, (x(3, 4), ints(4, 3))
        yield "MultiLabelMarginLoss", (), r, (x(2, 4), np.array([[1, 3, -1, 0], [0, -1, 2, 1]]))
        yield "CosineEmbeddingLoss", (), {**r, "margin": 0.2}, (x(3, 4), x(3, 4), signs(3))
        yield "TripletMarginLoss", (), {**r, "swap": True}, (x(3, 4), x(3, 4), x(3, 4))
        yield "TripletMarginWithDistanceLoss", (), r, (x(3, 4), x(3, 4), x(3, 4))
        yield "CrossEntropyLoss", (), {**r, "label_smoothing": 0.1}, (x(3, 4), ints(4, 3))
        yield "NLLLoss", (), {**r, "ignore_index": 1}, (x(3, 4), np.array([0, 1, 3]))


def values(cls, tensor, dtype, args, kwargs, state, inputs, training):
    kwargs = {k: tensor(v.numpy()) if isinstance(v, torch.Tensor) else v for k, v in kwargs.items()}
    module = cls(*args, **kwargs).to(dtype).train(training)
    if state is not None:
        module.load_state_dict({k: tensor(v) for k, v in state.items()})
    given = [tensor(v) for v in inputs]
    for t in given:
        if t.is_floating_point():
            t.requires_grad_()
    out = module(*given)
    while not hasattr(out, "shape"):
        out = out[0]
    mean = np.random.default_rng(1).standard_normal(tuple(out.shape))
    loss = (out * tensor(np.asarray(mean))).sum()
    if loss.requires_grad:
        loss.backward()
    found = {"output": out}
    found.update({f"gradient of {k}": p.grad for k, p in module.named_parameters()})
    found.update({f"gradient of input {i}": t.grad for i, t in enumerate(given) if t.grad is not None})
    found.update({f"buffer {k}": b for k, b in module.named_buffers()})
    return module, {k: v.detach().numpy() for k, v in found.items() if v is not None}


def compare(name, args, kwargs, inputs, training):
    theirs = getattr(torch.nn, name)(*args, **kwargs).double()
    rng = np.random.default_rng(2)
    state = {}
    for k, v in theirs.state_dict().items():
        state[k] = rng.uniform(0.5, 1.5, tuple(v.shape)) if v.is_floating_point() else v.numpy()
    got = values(getattr(nn, name), tp.tensor, tp.float64, args, kwargs, state, inputs, training)
    want = values(getattr(torch.nn, name), torch.as_tensor, torch.float64, args, kwargs, state, inputs, training)
    faults = []
    # the default distance is a module there
    shown = repr(want[0]).replace("NonDynamicallyQuantizable", "")
    if repr(got[0]) != shown and name != "TripletMarginWithDistanceLoss":
        faults.append(f"repr {got[0]!r}, not {want[0]!r}")
    for k, w in want[1].items():
        if name == "Hardsigmoid" and k.startswith("gradient"):
            continue  # a sixth in single precision there
        g = got[1].get(k)
        if g is None or g.shape != w.shape or not np.allclose(g, w, rtol=TOLERANCE, atol=TOLERANCE):
            faults.append(f"{k} differs")
    return faults


def main(only):
    count = bad = 0
    for name, args, kwargs, inputs in cases():
        if only and name not in only:
            continue
        for training in (False,) if name == "RReLU" else (True, False):
            count += 1
            try:
                faults = compare(name, args, kwargs, inputs, training)
            except Exception as error:
                faults = [f"{type(error).__name__}: {error}"]
            for fault in faults:
                print(f"{name}{args} {kwargs} {'train' if training else 'eval'}: {fault}")
            bad += bool(faults)
    print(f"{count - bad} of {count} agree")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
