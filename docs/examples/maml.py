"""MAML on the sine task: a gradient of a gradient step, mapped over tasks.

Each task is a sine of its own amplitude and phase, of which ten points are known. MAML (Finn, Abbeel, Levine, ICML
2017) looks for initial weights from which one gradient step on those ten points fits the task. With transforms the
algorithm is its own definition:

    adapted = params - RATE * grad(loss)(params, support)         # inside the function that is differentiated
    meta    = mean over tasks of loss(adapted, query)

The meta-gradient is `grad` of `meta`, hence a derivative through the inner gradient, and the tasks are one `vmap`. The
page checks that gradient against finite differences in double precision, and against the first-order one that leaves
the second derivatives out, which is a different vector. (With ReLU, as in the paper, the loss after a step jumps where
a unit switches, and no difference quotient would check it; hence GELU.) Beside it a network of the same size is trained
on all tasks without the inner step: the mean of all sines is small, and a few steps from there fit little.

    python maml.py [--steps 8000] [--out maml.png]
"""

import argparse
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from tqdm import tqdm

import tensorplay as tp
from tensorplay import nn
from tensorplay.func import functional_call, grad, grad_and_value, vmap

plt.style.use(pathlib.Path(__file__).with_name("page.mplstyle"))
SHOTS, TASKS, WIDTH, RATE, META_RATE = 10, 25, 40, 0.01, 1e-3


def make_net():
    return nn.Sequential(nn.Linear(1, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 1))


def draw(rng, tasks, dtype=np.float32):
    """(support x, support y, query x, query y) of sines, each [tasks, points, 1]."""
    amplitude, phase = rng.uniform(0.1, 5, (tasks, 1, 1)), rng.uniform(0, np.pi, (tasks, 1, 1))
    return known(rng, amplitude, phase, dtype)


def known(rng, amplitude, phase, dtype=np.float32):
    x = rng.uniform(-5, 5, (2, len(amplitude), SHOTS, 1))
    y = amplitude * np.sin(x + phase)
    return [tp.from_numpy(v.astype(dtype)) for v in (x[0], y[0], x[1], y[1])]


def loss_of(net):
    return lambda params, x, y: nn.functional.mse_loss(functional_call(net, params, (x,)), y)


def adapt(loss, params, x, y, steps=1, first_order=False):
    """params after some gradient steps on one task; first_order cuts the derivative of the gradient."""
    for _ in range(steps):
        g = grad(loss)(params, x, y)
        params = {k: p - RATE * (g[k].detach() if first_order else g[k]) for k, p in params.items()}
    return params


def meta_loss_of(loss, first_order=False):
    """The mean over the tasks of the loss after one step of adaptation."""

    def of_task(params, xs, ys, xq, yq):
        return loss(adapt(loss, params, xs, ys, first_order=first_order), xq, yq)

    return lambda params, *data: vmap(of_task, (None, 0, 0, 0, 0))(params, *data).mean()


def joint_loss_of(loss):
    """The loss on all tasks without adaptation: the baseline."""

    def both(params, xs, ys, xq, yq):
        return (loss(params, xs, ys) + loss(params, xq, yq)) / 2

    return both


def adam(objective, params, batches, bar, rate=META_RATE, beta1=0.9, beta2=0.999):
    """Adam (Kingma and Ba, 2015); the parameters and the values of the objective."""
    gradient = grad_and_value(objective)
    m = {k: tp.zeros_like(p) for k, p in params.items()}
    v = {k: tp.zeros_like(p) for k, p in params.items()}
    values = []
    for step, data in enumerate(batches, 1):
        g, value = gradient(params, *data)
        values.append(float(value))
        scale = rate * (1 - beta2**step) ** 0.5 / (1 - beta1**step)
        for k in params:
            m[k] = beta1 * m[k] + (1 - beta1) * g[k]
            v[k] = beta2 * v[k] + (1 - beta2) * g[k] * g[k]
            params[k] = params[k] - scale * m[k] / (v[k].sqrt() + 1e-8)
        bar.update(1)
    return params, values


def check(net, rng, directions=5, h=1e-5):
    """The meta-gradient against central differences: the largest relative difference of slopes along random directions,
    in float64; and how far the first-order gradient is from it, relative to its norm."""
    params = {k: p.detach().to(tp.float64) for k, p in net.named_parameters()}
    data = draw(rng, TASKS, np.float64)
    loss = loss_of(net)
    meta = meta_loss_of(loss)
    g, cut = grad(meta)(params, *data), grad(meta_loss_of(loss, first_order=True))(params, *data)
    worst = 0.0
    for _ in range(directions):
        v = {k: tp.from_numpy(rng.standard_normal(p.shape)) for k, p in params.items()}
        ends = [float(meta({k: p + t * v[k] for k, p in params.items()}, *data)) for t in (h, -h)]
        slope = float(sum((g[k] * v[k]).sum() for k in g))
        worst = max(worst, abs(slope - (ends[0] - ends[1]) / (2 * h)) / abs(slope))
    norm = float(sum((t * t).sum() for t in g.values())) ** 0.5
    apart = float(sum(((g[k] - cut[k]) ** 2).sum() for k in g)) ** 0.5 / norm
    return worst, apart


def curves(loss, params, data, steps):
    """The mean loss on the query points of new tasks after 0, 1, ... steps of adaptation."""

    def of_task(params, xs, ys, xq, yq):
        out = [loss(params, xq, yq)]
        for _ in range(steps):
            params = adapt(loss, params, xs, ys)
            out.append(loss(params, xq, yq))
        return tp.stack(out)

    return vmap(of_task, (None, 0, 0, 0, 0))(params, *data).mean(0).numpy()


def picture(path, net, learned, values, results):
    amplitude, phase = np.array([4.2, 2.2]).reshape(2, 1, 1), np.array([0.4, 2.6]).reshape(2, 1, 1)
    data = known(np.random.default_rng(3), amplitude, phase)
    fig = plt.figure(figsize=(11.5, 6.2))
    top, bottom = fig.subfigures(2, 1)
    loss, grid = loss_of(net), np.linspace(-5, 5, 200, dtype=np.float32)[:, None]
    predict = lambda p: functional_call(net, p, (tp.from_numpy(grid),)).numpy()[:, 0]
    axes = top.subplots(1, 4, sharey=True)
    for k, ax in enumerate(axes):
        name = ("MAML", "trained on all tasks")[k % 2]
        task = k // 2
        xs, ys = data[0][task], data[1][task]
        truth = (amplitude[task] * np.sin(grid + phase[task]))[:, 0]
        ax.plot(grid[:, 0], truth, color="#bbbbbb", lw=4, label="the task")
        for steps, style, colour in ((0, ":", "C6"), (1, "--", "C0"), (10, "-", "C1")):
            text = "before" if not steps else f"{steps} step{'s' * (steps > 1)}"
            adapted = adapt(loss, learned[name], xs, ys, steps)
            ax.plot(grid[:, 0], predict(adapted), style, color=colour, lw=1.5, label=text)
        ax.plot(xs.numpy(), ys.numpy(), "^", color="black", ms=4, label="known points")
        ax.set(xlabel="x", title=f"{name}, task {task + 1}", ylim=(-6.8, 5.6))
        if k == 0:
            ax.legend(loc="lower center", ncols=3, fontsize=7, handlelength=1.6, columnspacing=0.8)

    left, right = bottom.subplots(1, 2)
    for (name, curve), colour in zip(values.items(), ("C0", "C6")):
        width = max(1, len(curve) // 30)
        smooth = np.convolve(curve, np.ones(width) / width, "valid")
        left.plot(np.arange(len(smooth)) + width, smooth, color=colour, label=name)
    left.set(xlabel="step", ylabel="mean squared error", ylim=(0, None),
             title="Training: after one inner step, or none")  # fmt: skip
    left.legend()
    for (name, curve), colour in zip(results.items(), ("C0", "C6")):
        right.plot(curve, "o-", ms=4, color=colour, label=name)
    right.set(xlabel="steps of adaptation to a new task", ylabel="mean squared error", ylim=(0, None),
              title="Tasks that neither has seen")  # fmt: skip
    right.legend()
    fig.savefig(path)
    plt.close(fig)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=8000, help="training steps of either network")
    parser.add_argument("--out", default="maml.png", help="where the picture goes")
    args = parser.parse_args(argv)
    tp.manual_seed(0)
    rng = np.random.default_rng(0)
    net = make_net()
    worst, apart = check(net, rng)
    print(f"meta-gradient against central differences: {worst:.1e}; "
          f"without second derivatives it would be off by {apart:.0%} of its norm")

    loss, learned, values = loss_of(net), {}, {}
    with tqdm(total=2 * args.steps, desc="training", unit="step", mininterval=0.3) as bar:
        for name, objective in (("MAML", meta_loss_of(loss)), ("trained on all tasks", joint_loss_of(loss))):
            params = {k: p.detach().clone() for k, p in net.named_parameters()}
            batches = (draw(rng, TASKS) for _ in range(args.steps))
            learned[name], values[name] = adam(objective, params, batches, bar)

    data = draw(np.random.default_rng(7), 600)
    results = {name: curves(loss, params, data, 10) for name, params in learned.items()}
    for name, curve in results.items():
        print(f"{name:20s}  error on 600 new tasks: {curve[0]:.2f} before, {curve[1]:.2f} after one step, "
              f"{curve[10]:.2f} after ten")
    picture(args.out, net, learned, values, results)
    print(f"picture: {args.out}")
    return {"difference": worst, "first order": apart, **{k: c.tolist() for k, c in results.items()}}


if __name__ == "__main__":
    main()
