"""An ensemble trained in one call: batch-norm buffers included, and a learning rate for each member.

A training step of a network with batch norm does three things: it computes gradients, it moves parameters, and it moves
running statistics, which live in the module. `functional_call(..., return_buffers=True)` hands the new statistics back
in place of writing them, so the step is a pure function of (parameters, buffers, momentum, rate), and `vmap` of it
trains all members at once. Here the members differ in their initial weights and in their learning rate, which is one
more mapped argument: a sweep of learning rates in one run.

Nothing is approximate about that. The page trains every member alone as well, with the module's own forward, `backward`
and an optimiser in NumPy, and compares parameters and statistics after every step.

    python ensemble.py [--members 8] [--steps 150] [--out ensemble.png]
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
from tensorplay.func import functional_call, grad_and_value, stack_module_state, vmap

plt.style.use(pathlib.Path(__file__).with_name("page.mplstyle"))
CLASSES, BATCH, MOMENTUM = 10, 64, 0.9


def make_net():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64, CLASSES),
    ).double()  # fmt: skip


def load(seed=0):
    digits = load_digits()
    order = np.random.default_rng(seed).permutation(len(digits.target))
    images, labels = (digits.images / 16.0)[order][:, None], digits.target.astype(np.int64)[order]
    return (images[:1300], labels[:1300]), (images[1300:], labels[1300:])


def batches(labels, steps, seed=1):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, len(labels), BATCH) for _ in range(steps)]


def step_of(net):
    """(parameters, buffers, velocity, rate, x, y) -> (parameters, buffers, velocity, loss), for one member."""

    def loss(params, buffers, x, y):
        logits, buffers = functional_call(net, (params, buffers), (x,), return_buffers=True)
        return nn.functional.cross_entropy(logits, y), buffers

    def step(params, buffers, velocity, rate, x, y):
        grads, (value, buffers) = grad_and_value(loss, has_aux=True)(params, buffers, x, y)
        velocity = {k: MOMENTUM * velocity[k] + g for k, g in grads.items()}
        return {k: p - rate * velocity[k] for k, p in params.items()}, buffers, velocity, value

    return step


def train_together(nets, rates, images, labels, chosen):
    """All members in one mapped step; yields (parameters, buffers, losses), stacked, after every step."""
    params, buffers = stack_module_state(nets)
    params = {k: p.detach() for k, p in params.items()}
    velocity = {k: tp.zeros_like(p) for k, p in params.items()}
    step = vmap(step_of(nets[0]), (0, 0, 0, 0, None, None))
    for index in chosen:
        x, y = tp.from_numpy(images[index]), tp.from_numpy(labels[index])
        params, buffers, velocity, losses = step(params, buffers, velocity, tp.from_numpy(rates), x, y)
        yield params, buffers, losses


def train_alone(net, rate, images, labels, chosen):
    """One member by the module's forward and backward, with its own buffers; yields the module after every step."""
    velocity = {k: np.zeros(p.shape) for k, p in net.named_parameters()}
    for index in chosen:
        net.zero_grad()
        nn.functional.cross_entropy(net(tp.from_numpy(images[index])), tp.from_numpy(labels[index])).backward()
        with tp.no_grad():
            for k, p in net.named_parameters():
                velocity[k] = MOMENTUM * velocity[k] + p.grad.numpy()
                p.copy_(p - tp.from_numpy(rate * velocity[k]))
        yield net


def apart(net, member, params, buffers):
    """The largest difference between a module's state and that of one member of the stack."""
    own = {**dict(net.named_parameters()), **dict(net.named_buffers())}
    stacked = {**params, **buffers}
    return max(float(np.abs(own[k].detach().numpy() - t[member].numpy()).max()) for k, t in stacked.items())


def accuracies(net, params, buffers, images, labels):
    """Test accuracy of each member, by its running statistics, and of the mean of the best half."""
    net.eval()
    member = vmap(lambda p, b, x: functional_call(net, (p, b), (x,)), (0, 0, None))
    logits = member(params, buffers, tp.from_numpy(images))
    net.train()
    probabilities = tp.softmax(logits, -1).numpy()
    return (probabilities.argmax(-1) == labels).mean(-1), probabilities


def picture(path, rates, curves, deviations, accuracy, times):
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(11.5, 3.7), width_ratios=[1.25, 1, 1])
    colours = plt.get_cmap("viridis")(np.linspace(0.02, 0.9, len(rates)))
    width = max(1, len(curves) // 15)
    for k, colour in enumerate(colours):
        smooth = np.convolve(curves[:, k], np.ones(width) / width, "valid")
        left.plot(np.arange(len(smooth)) + width, smooth, color=colour, lw=1.3, label=f"{rates[k]:.2g}")
    left.set(yscale="log", xlabel="step", ylabel="training loss", title="One run, a learning rate for each member")
    left.legend(title="rate", title_fontsize=8, ncols=2, loc="lower left", handlelength=1.2)

    middle.scatter(rates, accuracy * 100, c=colours, s=36, zorder=3)
    middle.plot(rates, accuracy * 100, color="#bbbbbb", lw=1)
    middle.set(xscale="log", xlabel="learning rate", ylabel="test accuracy, %", title="By its own running statistics")

    for k, colour in enumerate(colours):
        right.plot(np.arange(len(deviations)) + 1, np.maximum(deviations[:, k], 1e-18), color=colour, lw=1)
    right.axhline(np.finfo(float).eps, color="C6", lw=1, ls="--")
    right.text(len(deviations), 3e-17, "dashed: float64 epsilon", ha="right", va="top", fontsize=8, color="#555555")
    together, alone = times
    right.set(yscale="log", xlabel="step", ylabel="largest difference of the states", ylim=(1e-18, 1e-8),
              title="Trained together against alone")  # fmt: skip
    right.text(0.03, 0.97, f"together {together * 1e3:.1f} ms a step\nalone {alone * 1e3:.1f} ms a step",
               transform=right.transAxes, va="top", fontsize=8)  # fmt: skip
    fig.savefig(path)
    plt.close(fig)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--steps", type=int, default=150, help="training steps")
    parser.add_argument("--out", default="ensemble.png", help="where the picture goes")
    args = parser.parse_args(argv)
    tp.manual_seed(0)
    (images, labels), (test_images, test_labels) = load()
    nets = [make_net() for _ in range(args.members)]
    rates = np.geomspace(0.002, 0.5, args.members)
    chosen = batches(labels, args.steps)

    together = train_together(nets, rates, images, labels, chosen)
    alone = [train_alone(net, rate, images, labels, chosen) for net, rate in zip(nets, rates)]
    # Both start from the modules' state: the stack is taken before the first module moves.
    curves, deviations, times = [], [], np.zeros(2)
    for _ in tqdm(range(args.steps), desc="ensemble", unit="step", mininterval=0.3):
        start = time.perf_counter()
        params, buffers, losses = next(together)
        middle = time.perf_counter()
        for member in alone:
            next(member)
        times += middle - start, time.perf_counter() - middle
        curves.append(losses.numpy())
        deviations.append([apart(net, k, params, buffers) for k, net in enumerate(nets)])
    curves, deviations = np.array(curves), np.array(deviations)
    times /= args.steps

    accuracy, probabilities = accuracies(make_net(), params, buffers, test_images, test_labels)
    best = np.argsort(curves[-20:].mean(0))[: max(1, args.members // 2)]
    voted = float((probabilities[best].mean(0).argmax(-1) == test_labels).mean())
    for k, rate in enumerate(rates):
        print(f"rate {rate:<7.2g} final loss {curves[-10:, k].mean():.4f}  test accuracy {accuracy[k]:.3f}")
    print(f"the {len(best)} of least training loss together: {voted:.3f}")
    print(f"largest difference from training alone, over all steps, parameters and buffers: {deviations.max():.1e}")
    print(f"a step of all members: mapped {times[0] * 1e3:.1f} ms, one after the other {times[1] * 1e3:.1f} ms")
    picture(args.out, rates, curves, deviations, accuracy, times)
    print(f"picture: {args.out}")
    return {"deviation": float(deviations.max()), "accuracy": accuracy.tolist(), "voted": voted,
            "batches": int(buffers["1.num_batches_tracked"][0])}  # fmt: skip


if __name__ == "__main__":
    main()
