"""Per-sample gradients of a normalised residual network: they find the digits with wrong labels.

A residual network is trained on the digits, of which some got a wrong label on purpose. The gradient that a single
sample asks for is small where the network agrees with the label and large where it does not, so its norm ranks the
samples by suspicion (Paul, Ganguli, Dziugaite, NeurIPS 2021). All of them come from one call,
`vmap(grad(loss), (None, 0, 0))`, with the normalisation layers in place:

- group norm looks at one sample at a time, so nothing needs to be done, and the mean of the per-sample gradients is the
  gradient of the batch;
- batch norm in training mode mixes the samples of a batch and moves its running statistics. What a sample alone would
  do to shared statistics depends on the order of the samples, so a mapped call refuses it and names the layer.
  `replace_all_batch_norm_modules_` drops the statistics, and each sample is normalised by itself;
- batch norm in evaluation mode is an affine map: it needs no patch either.

    python normalised_residual_network.py [--steps 250] [--wrong 0.05] [--out normalised_residual_network.png]
"""

import argparse
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import tensorplay as tp
from tensorplay import nn
from tensorplay.func import functional_call, grad, grad_and_value, replace_all_batch_norm_modules_, vmap

plt.style.use(pathlib.Path(__file__).with_name("page.mplstyle"))
CLASSES, WIDTH, BATCH, RATE, MOMENTUM = 10, 12, 64, 0.1, 0.9


class Block(nn.Module):
    """x + conv(relu(norm(conv(relu(norm(x)))))): the pre-activated block of He et al., ECCV 2016."""

    def __init__(self, channels, norm):
        super().__init__()
        self.first, self.second = norm(channels), norm(channels)
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)

    def forward(self, x):
        h = self.conv1(tp.relu(self.first(x)))
        return x + self.conv2(tp.relu(self.second(h)))


def make_net(norm):
    return nn.Sequential(
        nn.Conv2d(1, WIDTH, 3, padding=1), Block(WIDTH, norm), nn.AvgPool2d(2), Block(WIDTH, norm), nn.AvgPool2d(2),
        norm(WIDTH), nn.ReLU(), nn.Flatten(), nn.Linear(4 * WIDTH, CLASSES),
    )  # fmt: skip


def load(wrong, seed=0):
    """Images, their labels of which a part is wrong, and where those are."""
    digits = load_digits()
    rng = np.random.default_rng(seed)
    images = (digits.images / 16.0).astype(np.float32)[:, None]
    labels = digits.target.astype(np.int64)
    flipped = np.zeros(len(labels), bool)
    flipped[rng.choice(len(labels), round(wrong * len(labels)), replace=False)] = True
    labels[flipped] = (labels[flipped] + rng.integers(1, CLASSES, flipped.sum())) % CLASSES
    return images, labels, flipped


def batch_loss(net):
    return lambda params, x, y: nn.functional.cross_entropy(functional_call(net, params, (x,)), y)


def sample_loss(net):
    """The loss of one image as a function of the parameters."""
    return lambda params, x, y: batch_loss(net)(params, x.unsqueeze(0), y.unsqueeze(0))


def parameters(net):
    return {k: p.detach().clone() for k, p in net.named_parameters()}


def train(net, images, labels, steps, seed=1):
    """Momentum SGD on batches; the parameters and the losses."""
    params = parameters(net)
    velocity = {k: tp.zeros_like(p) for k, p in params.items()}
    gradient = grad_and_value(batch_loss(net))
    rng, losses = np.random.default_rng(seed), []
    for step in tqdm(range(steps), desc="training", unit="step", mininterval=0.3):
        chosen = rng.integers(0, len(labels), BATCH)
        grads, loss = gradient(params, tp.from_numpy(images[chosen]), tp.from_numpy(labels[chosen]))
        rate = RATE * (1 - step / steps)
        for k, g in grads.items():
            velocity[k] = MOMENTUM * velocity[k] + g
            params[k] = params[k] - rate * velocity[k]
        losses.append(float(loss))
    return params, losses


def difference(got, expected):
    """The largest difference between two dicts of gradients, relative to the largest entry of all."""
    return max(np.abs(got[k] - e).max() for k, e in expected.items()) / max(np.abs(e).max() for e in expected.values())


def comparisons(net, images, labels):
    """How far the gradients of one mapped call are from those of a loop, and their mean from the batch's gradient."""
    params, one = parameters(net), grad(sample_loss(net))
    x, y = tp.from_numpy(images), tp.from_numpy(labels)
    mapped = {k: g.numpy() for k, g in vmap(one, (None, 0, 0))(params, x, y).items()}
    single = [one(params, x[i], y[i]) for i in range(len(labels))]
    looped = {k: np.stack([s[k].numpy() for s in single]) for k in params}
    whole = {k: g.numpy() for k, g in grad(batch_loss(net))(params, x, y).items()}
    return float(difference(mapped, looped)), float(difference({k: g.mean(0) for k, g in mapped.items()}, whole))


def norms(net, params, images, labels):
    """The norm of every sample's gradient; in chunks, which bounds the memory."""

    def one(params, x, y):
        g = grad(sample_loss(net))(params, x, y)
        return sum(v.square().sum() for v in g.values()).sqrt()

    mapped = vmap(one, (None, 0, 0), chunk_size=256)
    return mapped(params, tp.from_numpy(images), tp.from_numpy(labels)).numpy()


def normalisations(images, labels):
    """(name, difference from the loop, difference from the batch) of each kind of normalisation; and the refusal."""
    rows = []
    group = make_net(lambda c: nn.GroupNorm(4, c))
    batch = make_net(nn.BatchNorm2d)
    for _ in range(20):  # some batches, so that the running statistics are not those of a new network
        batch(tp.from_numpy(images))
    x, y = tp.from_numpy(images), tp.from_numpy(labels)
    try:
        vmap(grad(sample_loss(batch)), (None, 0, 0))(parameters(batch), x, y)
        refusal = ""
    except RuntimeError as error:
        refusal = str(error)
    rows.append(("group norm", *comparisons(group, images, labels)))
    rows.append(("batch norm, evaluation", *comparisons(batch.eval(), images, labels)))
    patched = replace_all_batch_norm_modules_(batch.train())
    rows.append(("batch norm, patched", *comparisons(patched, images, labels)))
    return rows, refusal


def separation(scores, flipped):
    """The chance that a wrong label has a higher score than a right one (the area under the ROC curve)."""
    ranks = scores.argsort().argsort()[flipped] + 1
    n, m = flipped.sum(), (~flipped).sum()
    return float((ranks.sum() - n * (n + 1) / 2) / (n * m))


def picture(path, scores, flipped, images, labels):
    truth = load_digits().target
    fig = plt.figure(figsize=(10, 6.4))
    top, bottom = fig.subfigures(2, 1, height_ratios=[1.35, 1])
    left, right = top.subplots(1, 2, width_ratios=[1.5, 1])

    floor = np.percentile(scores, 0.5)
    bins = np.geomspace(floor, scores.max() * 1.05, 48)
    for chosen, name, colour in ((~flipped, "label as in the data", "C0"), (flipped, "wrong label", "C1")):
        values = scores[chosen].clip(floor)
        left.hist(values, bins=bins, color=colour, alpha=0.75, label=f"{name} ({len(values)})")
    left.set(xscale="log", yscale="log", xlabel="norm of the sample's gradient", ylabel="samples", ylim=(0.7, None),
             title="What each sample asks the network to change")  # fmt: skip
    left.legend(loc="upper left")

    order = np.argsort(-scores)
    seen = np.arange(1, len(order) + 1)
    found = flipped[order].cumsum() / flipped.sum()
    right.plot(seen / len(order) * 100, found * 100, color="C1", label="by gradient norm")
    right.plot([0, 100], [0, 100], color="C6", lw=1, ls="--", label="at random")
    right.set(xlabel="samples looked at, %", ylabel="wrong labels found, %", xlim=(0, 100), ylim=(0, 102),
              title="Looking at the largest first")  # fmt: skip
    right.legend(loc="lower right")

    bottom.suptitle("The sixteen largest gradients: label given (in the data)", x=0.01, ha="left")
    for ax, i in zip(bottom.subplots(2, 8).flat, order[:16]):
        ax.imshow(images[i, 0], cmap="gray_r", interpolation="nearest")
        ax.set(xticks=[], yticks=[])
        ax.grid(False)
        ax.set_title(f"{labels[i]} ({truth[i]})", fontsize=9, loc="center", pad=3, weight="normal",
                     color="C1" if flipped[i] else "C0")  # fmt: skip
        for side in ax.spines.values():
            side.set(visible=True, color="C1" if flipped[i] else "C0", linewidth=1.2)
    fig.savefig(path)
    plt.close(fig)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=250, help="training steps")
    parser.add_argument("--wrong", type=float, default=0.05, help="the part of the labels that is made wrong")
    parser.add_argument("--out", default="normalised_residual_network.png", help="where the picture goes")
    args = parser.parse_args(argv)
    tp.manual_seed(0)
    images, labels, flipped = load(args.wrong)

    rows, refusal = normalisations(images[:24], labels[:24])
    for name, loop, batch in rows:
        print(f"{name:22s}  mapped against loop {loop:.0e}, mean against the batch's gradient {batch:.0e}")
    print(f"batch norm, unpatched: {refusal}")

    net = make_net(lambda c: nn.GroupNorm(4, c))
    params, losses = train(net, images, labels, args.steps)
    scores = norms(net, params, images, labels)
    found = float(flipped[np.argsort(-scores)[: flipped.sum()]].mean())
    area = separation(scores, flipped)
    print(f"{flipped.sum()} of {len(labels)} labels are wrong; of as many largest gradients {found:.0%} are of those; "
          f"area under the ROC curve {area:.4f}")
    picture(args.out, scores, flipped, images, labels)
    print(f"picture: {args.out}")
    return {"rows": rows, "refusal": refusal, "found": found, "area": area, "loss": float(np.mean(losses[-20:]))}


if __name__ == "__main__":
    main()
