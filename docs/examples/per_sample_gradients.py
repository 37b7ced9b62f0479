"""Per-sample gradients on real digits: differentially private training, and an ensemble in one call.

Trains a small convolutional network on the UCI digits (8x8 grey images, shipped with scikit-learn) by DP-SGD (Abadi et
al., CCS 2016): the gradient of each sample is clipped to a norm, their sum is noised. The per-sample gradients are one
call, `vmap(grad(loss), (None, 0, 0))`. Five such networks are then one function, mapped over their stacked parameters.

    python per_sample_gradients.py [--steps 240] [--out per_sample_gradients.png]
"""

import argparse
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import tensorplay as tp
from tensorplay import nn
from tensorplay.func import functional_call, grad, grad_and_value, stack_module_state, vmap

CLASSES, MEMBERS, BATCH = 10, 5, 96
CLIP, NOISE, RATE, MOMENTUM = 1.0, 0.6, 0.5, 0.9


def make_net():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, CLASSES),
    )  # fmt: skip


def load(seed=0):
    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[:, None]
    labels = digits.target.astype(np.int64)
    order = np.random.default_rng(seed).permutation(len(labels))
    images, labels = images[order], labels[order]
    return (images[:1400], labels[:1400]), (images[1400:], labels[1400:])


def sample_loss(net):
    """The loss of one image as a function of the parameters."""

    def loss(params, image, label):
        logits = functional_call(net, params, (image.unsqueeze(0),))
        return nn.functional.cross_entropy(logits, label.unsqueeze(0))

    return loss


def sample_norms(grads):
    """The norm of each sample's whole gradient, shape [B]."""
    return sum(g.flatten(1).square().sum(1) for g in grads.values()).sqrt()


def train(net, images, labels, steps, rng, bar):
    """DP-SGD; returns the parameters, the losses, and the gradient norms of the first and the last 20 steps."""
    params = {k: p.detach().clone() for k, p in net.named_parameters()}
    velocity = {k: tp.zeros_like(p) for k, p in params.items()}
    per_sample = vmap(grad_and_value(sample_loss(net)), (None, 0, 0))
    losses, norms = [], []
    for step in range(steps):
        chosen = rng.integers(0, len(labels), BATCH)
        grads, loss = per_sample(params, tp.from_numpy(images[chosen]), tp.from_numpy(labels[chosen]))
        norm = sample_norms(grads)
        scale = (CLIP / (norm + 1e-6)).clamp(max=1.0)
        rate = RATE * (1 - step / steps)
        for k, g in grads.items():
            clipped = tp.einsum("b,b...->...", scale, g)
            private = (clipped + NOISE * CLIP * tp.randn(clipped.shape)) / BATCH
            velocity[k] = MOMENTUM * velocity[k] + private
            params[k] = params[k] - rate * velocity[k]
        losses.append(float(loss.mean()))
        norms.append(norm.numpy())
        bar.update(1)
        bar.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
    return params, losses, (np.concatenate(norms[:20]), np.concatenate(norms[-20:]))


def best_of(runs, f):
    """f's result, and its shortest time: the first run warms up, others may meet a busy machine."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        result = f()
        times.append(time.perf_counter() - start)
    return result, min(times)


def check_against_loop(net, params, images, labels):
    """The largest relative difference between mapped and looped gradients, and the time of both."""
    one = grad(sample_loss(net))
    mapped = vmap(one, (None, 0, 0))
    x, y = tp.from_numpy(images), tp.from_numpy(labels)
    together, fast = best_of(5, lambda: mapped(params, x, y))
    single, slow = best_of(5, lambda: [one(params, x[i], y[i]) for i in range(len(labels))])
    worst = 0.0
    for k, g in together.items():
        expected = np.stack([s[k].numpy() for s in single])
        worst = max(worst, float(np.abs(g.numpy() - expected).max() / np.abs(expected).max()))
    return worst, fast, slow


def picture(path, losses, norms, images, probabilities, labels):
    """Loss curves, gradient norms, and the digits on which the members disagree most."""
    mean = probabilities.mean(0)
    entropy = -(mean * np.log(mean + 1e-12)).sum(-1)
    hardest = np.argsort(-entropy)[:8]
    fig = plt.figure(figsize=(11, 7.2), layout="constrained")
    top, bottom = fig.subfigures(2, 1, height_ratios=[1.15, 1])

    left, right = top.subplots(1, 2)
    for i, curve in enumerate(losses):
        smooth = np.convolve(curve, np.ones(10) / 10, "valid")
        left.plot(np.arange(len(smooth)) + 10, smooth, lw=1.2, label=f"network {i + 1}")
    left.set(xlabel="step", ylabel="loss (mean of 10 steps)", title="Private training of five networks", ylim=(0, None))
    left.legend(frameon=False, fontsize=8)

    early, late = norms
    bins = np.geomspace(max(late.min(), 1e-4), max(early.max(), late.max()), 45)
    for values, name, colour in ((early, "first 20 steps", "tab:gray"), (late, "last 20 steps", "tab:blue")):
        right.hist(values.clip(bins[0], bins[-1]), bins=bins, color=colour, alpha=0.6, label=name)
    right.axvline(CLIP, color="tab:red", lw=1.5, label=f"clipped to {CLIP:g}")
    right.set(xscale="log", xlabel="norm of a sample's gradient", ylabel="samples", title="Per-sample gradient norms")
    right.legend(frameon=False, fontsize=8)

    bottom.suptitle("Where the ensemble disagrees most: its members (dots), their mean (bars), the true digit in green")
    above, below = bottom.subplots(2, len(hardest), height_ratios=[1.5, 1])
    for ax, bars, i in zip(above, below, hardest, strict=True):
        ax.imshow(images[i, 0], cmap="gray_r", interpolation="nearest")
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"a {labels[i]}, voted {mean[i].argmax()}", fontsize=9)
        colours = ["tab:green" if k == labels[i] else "tab:gray" for k in range(CLASSES)]
        bars.bar(range(CLASSES), mean[i], color=colours, alpha=0.6)
        for member in probabilities[:, i]:
            bars.plot(range(CLASSES), member, ".", color="black", ms=2.5)
        bars.set(ylim=(0, 1.05), xticks=range(CLASSES), yticks=[0, 1] if bars is below[0] else [])
        bars.tick_params(labelsize=7, length=2)
    fig.savefig(path, dpi=120)
    plt.close(fig)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=240, help="training steps of each of the five networks")
    parser.add_argument("--out", default="per_sample_gradients.png", help="where the picture goes")
    args = parser.parse_args(argv)
    tp.manual_seed(0)
    (images, labels), (test_images, test_labels) = load()
    rng = np.random.default_rng(1)

    nets = [make_net() for _ in range(MEMBERS)]
    losses, norms = [], None
    with tqdm(total=MEMBERS * args.steps, desc="DP-SGD", unit="step", mininterval=0.3) as bar:
        for net in nets:
            params, curve, norms = train(net, images, labels, args.steps, rng, bar)
            net.load_state_dict(params)
            losses.append(curve)

    worst, fast, slow = check_against_loop(nets[0], params, images[:16], labels[:16])
    print(f"per-sample gradients of 16 digits: vmap {fast * 1e3:.2f} ms, Python loop {slow * 1e3:.2f} ms, "
          f"largest relative difference {worst:.1e}")
    if not worst < 1e-4:
        raise SystemExit("the mapped gradients differ from the loop")

    stacked, buffers = stack_module_state(nets)
    logits = vmap(lambda p, b, x: functional_call(nets[0], (p, b), (x,)), (0, 0, None))(
        stacked, buffers, tp.from_numpy(test_images))  # fmt: skip
    probabilities = tp.softmax(logits, -1).detach().numpy()
    members = (probabilities.argmax(-1) == test_labels).mean(-1)
    accuracy = float((probabilities.mean(0).argmax(-1) == test_labels).mean())
    print(f"test accuracy of the members: {', '.join(f'{a:.3f}' for a in members)}; of the ensemble: {accuracy:.3f}")
    picture(args.out, losses, norms, test_images, probabilities, test_labels)
    print(f"picture: {args.out}")
    return {"accuracy": accuracy, "difference": worst, "members": members.tolist()}


if __name__ == "__main__":
    main()
