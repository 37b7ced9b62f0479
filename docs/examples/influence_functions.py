"""Influence functions: which training digits help, and which harm, checked by training without each.

How would the loss at a test image change if one training image had been left out? To first order the answer is
gᵢᵀ H⁻¹ g / n, with H the Hessian of the training loss at its minimum, g the gradient of the test loss and gᵢ that of
the image (Koh and Liang, ICML 2017). `vmap(grad)` gives all gradients, `hessian` the matrix, `linalg.solve` the rest.

The model is a logistic regression that tells eights from nines, so the question has an exact answer: train again
without the image. All of those trainings, one for each image, are Newton's method mapped over a matrix of sample
weights with a zero on its diagonal: `vmap(newton)`, with a Hessian and a Cholesky factor for each. Influence ranks the
images rightly and finds the wrong labels, but says too little where an image mattered most: H includes it. One Newton
step without the image, `vmap` of `hessian` and `solve`, mends that.

    python influence_functions.py [--images 240] [--out influence_functions.png]
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
from tensorplay.func import grad, hessian, vmap

plt.style.use(pathlib.Path(__file__).with_name("page.mplstyle"))
PAIR, DECAY, WRONG, CHUNK = (8, 9), 2e-3, 6, 48


def load(images, seed=1):
    """Pixels with a constant appended, labels 0 or 1, of which WRONG of the training ones are wrong; and the rest."""
    digits = load_digits()
    chosen = np.flatnonzero(np.isin(digits.target, PAIR))
    rng = np.random.default_rng(seed)
    rng.shuffle(chosen)
    x = np.concatenate([digits.data[chosen] / 16.0, np.ones((len(chosen), 1))], 1)
    y = (digits.target[chosen] == PAIR[1]).astype(float)
    flipped = rng.choice(images, WRONG, replace=False)
    y[flipped] = 1 - y[flipped]
    return (x[:images], y[:images]), (x[images:], y[images:]), flipped


def sample_loss(w, x, y):
    """Logistic loss of one image, without overflow."""
    z = x @ w
    return tp.logaddexp(tp.zeros_like(z), z) - y * z


def objective(w, x, y, weights):
    """The weighted mean loss; divided by the number of all images, so that leaving one out changes nothing else."""
    losses = vmap(sample_loss, (None, 0, 0))(w, x, y)
    return (weights * losses).mean() + 0.5 * DECAY * (w * w).sum()


def newton(x, y, weights, steps=12):
    """The minimum for given sample weights; full steps suffice from zero for this loss."""
    w = tp.zeros(x.shape[1], dtype=tp.float64)
    for _ in range(steps):
        g = grad(objective)(w, x, y, weights)
        factor = tp.linalg.cholesky(hessian(objective)(w, x, y, weights))
        w = w - tp.cholesky_solve(g.unsqueeze(1), factor).squeeze(1)
    return w


def influences(w, x, y, x_test, y_test):
    """The predicted change of every test loss by leaving out every training image, [images, test]."""
    gradients = vmap(grad(sample_loss), (None, 0, 0))
    h = hessian(objective)(w, x, y, tp.ones_like(y))
    g, g_test = gradients(w, x, y), gradients(w, x_test, y_test)
    return g @ tp.linalg.solve(h, g_test.mT) / len(y)


def one_step(w, x, y):
    """The weights after one Newton step for each left-out image, [images, 65]."""
    h, n = hessian(objective)(w, x, y, tp.ones_like(y)), len(y)

    def step(x, y):
        g = grad(sample_loss)(w, x, y)
        return w + tp.linalg.solve(h - hessian(sample_loss)(w, x, y) / n, g / n)

    return vmap(step)(x, y)


def without_each(x, y):
    """The weights [images, 65] of the models that never saw one of the images."""
    mask = 1 - tp.eye(len(y), dtype=tp.float64)
    train = vmap(newton, (None, None, 0))
    blocks = tqdm(mask.split(CHUNK), desc="training without each", unit="block", mininterval=0.3)
    return tp.cat([train(x, y, block) for block in blocks])


def fitted(values, actual):
    """(correlation, slope) of predictions."""
    slope = (values * actual).sum() / (actual * actual).sum()
    return float(np.corrcoef(values.ravel(), actual.ravel())[0, 1]), float(slope)


def picture(path, x, y, flipped, predicted, stepped, actual, shown, x_test, y_test):
    fig = plt.figure(figsize=(11.5, 5.9))
    top, bottom = fig.subfigures(2, 1, height_ratios=[2.7, 1])
    left, right = top.subplots(1, 2)
    all_of_it = actual[:, shown], predicted[:, shown], stepped[:, shown]
    low, high = min(v.min() for v in all_of_it), max(v.max() for v in all_of_it)
    low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
    left.plot([low, high], [low, high], color="C6", lw=1, ls="--")
    for values, name, colour in ((predicted, "influence", "C0"), (stepped, "one Newton step", "C2")):
        left.plot(actual[:, shown], values[:, shown], "o", ms=4, alpha=0.7, color=colour, label=name)
    left.plot(actual[flipped, shown], predicted[flipped, shown], "o", ms=9, mfc="none", color="C1", label="wrong label")
    left.set(xlabel="change of the loss by training without the image", ylabel="predicted", xlim=(low, high),
             ylim=(low, high), title="One test image: what each training image did")  # fmt: skip
    left.legend(loc="upper left")

    total = predicted.sum(1)
    order = np.argsort(total)
    colours = ["C1" if i in flipped else "C0" for i in order]
    right.bar(np.arange(len(order)), total[order], width=1.0, color=colours)
    right.axhline(0, color="#888888", lw=0.7)
    right.set(xlabel="training images, from harmful to helpful", ylabel="change of the test loss if left out",
              title="All test images together: wrong labels in orange")  # fmt: skip

    column = predicted[:, shown]
    rank = np.argsort(column)
    harmful, helpful = rank[:5], rank[::-1][:5]
    bottom.suptitle("That image, the five without which it would fare best, the five without which it would fare worst",
                    x=0.01, ha="left")  # fmt: skip
    axes = bottom.subplots(1, 11)
    images = [(x_test[shown], y_test[shown], "black")]
    images += [(x[i], y[i], "C1") for i in harmful] + [(x[i], y[i], "C2") for i in helpful]
    for ax, (pixels, label, colour) in zip(axes, images):
        ax.imshow(pixels[:64].reshape(8, 8), cmap="gray_r", interpolation="nearest")
        ax.set(xticks=[], yticks=[])
        ax.grid(False)
        ax.set_title(f"label {PAIR[int(label)]}", loc="center", fontsize=9, weight="normal", pad=3, color=colour)
        for side in ax.spines.values():
            side.set(visible=True, color=colour, linewidth=1.4)
    fig.savefig(path)
    plt.close(fig)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=240, help="training images, hence also trainings")
    parser.add_argument("--out", default="influence_functions.png", help="where the picture goes")
    args = parser.parse_args(argv)
    (x, y), (x_test, y_test), flipped = load(args.images)
    data = [tp.from_numpy(v) for v in (x, y)]
    test = [tp.from_numpy(v) for v in (x_test, y_test)]

    w = newton(*data, tp.ones(len(y), dtype=tp.float64))
    norm = float(grad(objective)(w, *data, tp.ones_like(data[1])).norm())
    start = time.perf_counter()
    predicted = influences(w, *data, *test).numpy()
    middle = time.perf_counter()
    others = without_each(*data)
    seconds = middle - start, time.perf_counter() - middle
    losses = vmap(vmap(sample_loss, (None, 0, 0)), (0, None, None))
    before = losses(w.unsqueeze(0), *test)
    actual = (losses(others, *test) - before).numpy()

    stepped = (losses(one_step(w, *data), *test) - before).numpy()

    fit = {}
    for name, values in (("influence", predicted), ("one Newton step", stepped)):
        fit[name] = fitted(values, actual)
    found = len(np.intersect1d(np.argsort(predicted.sum(1))[:WRONG], flipped))
    print(f"{args.images} training images, gradient norm at the minimum {norm:.1e}")
    print(f"influence of all on {len(y_test)} test images: {seconds[0] * 1e3:.0f} ms; "
          f"{args.images} trainings: {seconds[1] * 1e3:.0f} ms")
    for name, (correlation, slope) in fit.items():
        print(f"{name:16s} against the actual changes: correlation {correlation:.4f}, slope {slope:.3f}")
    print(f"of the {WRONG} most harmful images {found} have a wrong label")
    shown = int(np.argmax(before[0].numpy() * (before[0].numpy() < 0.7)))  # a doubtful image, on the right side
    picture(args.out, x, y, flipped, predicted, stepped, actual, shown, x_test, y_test)
    print(f"picture: {args.out}")
    return {"norm": norm, "fit": fit, "found": found, "weights": w.numpy(),
            "others": others.numpy(), "actual": actual, "predicted": predicted}  # fmt: skip


if __name__ == "__main__":
    main()
