"""The neural tangent kernel of a convolutional network, by two formulas that agree.

The empirical kernel of a network f with parameters w is K(x, x') = J(x) J(x')ᵀ, with J the Jacobian of the outputs with
respect to all parameters (Jacot, Gabriel, Hongler, NeurIPS 2018). It says how a gradient step on x' moves the output at
x. Two ways to it:

- contraction: `vmap(jacrev(f))` gives all Jacobians, `einsum` contracts them over the parameters. The Jacobians are
  kept: memory grows with samples x outputs x parameters.
- products: row k of K(x, x') is what `vjp` at x' makes of a unit vector, pushed through `jvp` at x. Mapped over unit
  vectors and over both sets, no Jacobian is ever kept, but the network runs for every pair.

Both are compositions of transforms, and agree to rounding. What a kernel claims about the network is checked as well:
after one small step of gradient descent on the training images, the outputs at test images have moved by -η K r, r the
derivative of the loss. And the kernel is a good one: regression with the kernel of the untrained network classifies
digits better than the pixels do.

    python neural_tangent_kernel.py [--images 300] [--out neural_tangent_kernel.png]
"""

import argparse
import pathlib
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import tensorplay as tp
from tensorplay import nn
from tensorplay.func import functional_call, grad, jacrev, jvp, vjp, vmap

plt.style.use(pathlib.Path(__file__).with_name("page.mplstyle"))
CLASSES, WIDTH, RIDGE = 10, 16, 1e-3


def make_net():
    return nn.Sequential(
        nn.Conv2d(1, WIDTH, 3, padding=1), nn.GELU(), nn.AvgPool2d(2),
        nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.GELU(), nn.AvgPool2d(2),
        nn.Flatten(), nn.Linear(4 * WIDTH, CLASSES),
    ).double()  # fmt: skip


def load(seed=0):
    digits = load_digits()
    order = np.random.default_rng(seed).permutation(len(digits.target))
    return (digits.images / 16.0)[order][:, None], digits.target.astype(np.int64)[order]


def single(net):
    """The outputs for one image as a function of (parameters, image)."""
    return lambda params, x: functional_call(net, params, (x.unsqueeze(0),)).squeeze(0)


def jacobians(f, params, x):
    """{name: [N, outputs, *parameter]}."""
    return vmap(jacrev(f), (None, 0))(params, x)


def by_contraction(f, params, x1, x2):
    """K of shape [N1, N2, outputs, outputs]."""
    j1, j2 = jacobians(f, params, x1), jacobians(f, params, x2)
    return sum(tp.einsum("naf,mbf->nmab", j1[k].flatten(2), j2[k].flatten(2)) for k in j1)


def by_products(f, params, x1, x2):
    """The same from J(x1) (J(x2)ᵀ e) for unit vectors e."""
    units = tp.eye(CLASSES, dtype=x1.dtype)

    def pair(a, b):
        _, pull = vjp(lambda p: f(p, b), params)

        def column(e):
            return jvp(lambda p: f(p, a), (params,), pull(e))[1]

        return vmap(column, out_dims=1)(units)

    return vmap(vmap(pair, (None, 0)), (0, None))(x1, x2)


def trace_kernel(f, params, x1, x2, block=100):
    """The mean over the outputs of K's diagonal, [N1, N2]: the kernel for regression; blocks bound the memory."""
    rows = []
    total = -(-len(x1) // block)
    other = jacobians(f, params, x2)
    for start in tqdm(range(0, len(x1), block), total=total, desc="kernel", unit="block", mininterval=0.3):
        j = jacobians(f, params, x1[start : start + block])
        rows.append(sum(tp.einsum("naf,maf->nm", j[k].flatten(2), other[k].flatten(2)) for k in j) / CLASSES)
    return tp.cat(rows)


def first_order(net, params, kernel, train, labels, test, rate):
    """The movement of the test outputs by one step of gradient descent, against -rate K r; relative difference."""

    def loss(p):
        return nn.functional.cross_entropy(functional_call(net, p, (train,)), labels, reduction="sum")

    moved = {k: params[k] - rate * g for k, g in grad(loss)(params).items()}
    got = (functional_call(net, moved, (test,)) - functional_call(net, params, (test,))) / rate
    r = tp.softmax(functional_call(net, params, (train,)), -1) - nn.functional.one_hot(labels, CLASSES)
    expected = -tp.einsum("nmab,mb->na", kernel, r)
    return float((got - expected).abs().max() / expected.abs().max())


def regression(k_train, k_test, labels):
    """Kernel ridge regression on centred one-hot labels; the predicted classes."""
    targets = tp.eye(CLASSES, dtype=k_train.dtype)[tp.from_numpy(labels)] - 1 / CLASSES
    ridge = RIDGE * k_train.diagonal().mean() * tp.eye(len(labels), dtype=k_train.dtype)
    factor = tp.linalg.cholesky(k_train + ridge)
    return (k_test @ tp.cholesky_solve(targets, factor)).argmax(-1).numpy()


def picture(path, kernel, labels, spectra, steps, moved, accuracy):
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 4), width_ratios=[1.15, 1, 1])
    order = np.argsort(labels, kind="stable")
    scale = np.sqrt(np.diag(kernel))
    shown = (kernel / np.outer(scale, scale))[np.ix_(order, order)]
    image = left.imshow(shown, cmap="magma", vmin=np.percentile(shown, 1), vmax=1, interpolation="nearest")
    edges = np.searchsorted(labels[order], np.arange(CLASSES + 1))
    for e in edges[1:-1]:
        left.axhline(e - 0.5, color="white", lw=0.4)
        left.axvline(e - 0.5, color="white", lw=0.4)
    centres = (edges[1:] + edges[:-1]) / 2
    left.set(xticks=centres, yticks=centres, xticklabels=range(CLASSES), yticklabels=range(CLASSES),
             xlabel="digit", ylabel="digit", title="The kernel between images, by digit")  # fmt: skip
    left.grid(False)
    left.tick_params(length=0)
    fig.colorbar(image, ax=left, shrink=0.8, label="normalised kernel")

    for (name, values), colour in zip(spectra.items(), ("C0", "C6")):
        values = values[values > values[0] * 1e-14]
        middle.plot(np.arange(1, len(values) + 1), values / values[0], color=colour, label=name)
        middle.plot([], [], " ", label=f"   regression: {accuracy[name]:.1%} right")
    middle.set(xscale="log", yscale="log", xlabel="rank", ylabel="eigenvalue over the largest",
               title="Spectra of two kernels")  # fmt: skip
    middle.legend(loc="lower left")

    right.plot(steps, moved, "o", color="C0", ms=5, label="measured")
    line = moved[0] * np.array(steps) / steps[0]
    right.plot(steps, line, color="C6", lw=1, ls="--", label="proportional to the step")
    right.set(xscale="log", yscale="log", xlabel="step of gradient descent", ylabel="relative difference",
              title="Outputs moved, against -step K r")  # fmt: skip
    right.legend(loc="upper left")
    fig.savefig(path)
    plt.close(fig)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=300, help="training images of the kernel regression")
    parser.add_argument("--out", default="neural_tangent_kernel.png", help="where the picture goes")
    args = parser.parse_args(argv)
    tp.manual_seed(0)
    images, labels = load()
    n, m = args.images, 500
    x, y = tp.from_numpy(images[:n]), labels[:n]
    test, test_labels = tp.from_numpy(images[n : n + m]), labels[n : n + m]
    net = make_net()
    params = {k: p.detach() for k, p in net.named_parameters()}
    f = single(net)

    times, kernels = [], []
    for way in (by_contraction, by_products):
        way(f, params, x[:2], x[:2])
        start = time.perf_counter()
        kernels.append(way(f, params, x[:12], x[12:30]))
        times.append(time.perf_counter() - start)
    difference = float((kernels[0] - kernels[1]).abs().max() / kernels[0].abs().max())
    count = sum(p.numel() for p in params.values())
    print(f"kernel of 12 x 18 images, {CLASSES} x {CLASSES} outputs, {count} parameters: relative difference "
          f"{difference:.1e}; contraction {times[0] * 1e3:.0f} ms, products {times[1] * 1e3:.0f} ms")

    steps = [10.0**-k for k in range(2, 7)]
    some = tp.from_numpy(y[12:30])
    moved = [first_order(net, params, kernels[0], x[12:30], some, x[:12], rate) for rate in steps]
    print("movement of the outputs against -step K r:", ", ".join(f"{d:.1e} at {s:.0e}" for s, d in zip(steps, moved)))

    both = trace_kernel(f, params, tp.cat([x, test]), x)
    k_train, k_test = both[:n], both[n:]
    flat = tp.cat([x, test]).flatten(1)
    linear = flat @ flat[:n].mT + 1
    ours, plain = "tangent kernel", "linear kernel of the pixels"
    accuracy = {ours: float((regression(k_train, k_test, y) == test_labels).mean()),
                plain: float((regression(linear[:n], linear[n:], y) == test_labels).mean())}  # fmt: skip
    print(f"regression on {n} images, {m} for the test: " + ", ".join(f"{k} {a:.3f}" for k, a in accuracy.items()))
    spectra = {name: np.linalg.eigvalsh(k.numpy())[::-1] for name, k in ((ours, k_train), (plain, linear[:n]))}
    picture(args.out, k_train.numpy(), y, spectra, steps, moved, accuracy)
    print(f"picture: {args.out}")
    return {"difference": difference, "moved": moved, "accuracy": accuracy[ours], "linear": accuracy[plain],
            "smallest": float(spectra[ours][-1] / spectra[ours][0]),
            "symmetry": float((k_train - k_train.mT).abs().max() / k_train.abs().max())}  # fmt: skip


if __name__ == "__main__":
    main()
