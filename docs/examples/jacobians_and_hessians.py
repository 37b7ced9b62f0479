"""Jacobians and Hessian-vector products, against closed forms, and a Newton method made of them.

Softmax regression on the digits is a model of which everything is known in closed form, so it shows what the transforms
compute and that it is right.

The Jacobian of the class probabilities with respect to the pixels is (diag p - p pᵀ) W. `jacrev` makes it row by row, a
reverse pass for each of 10 outputs; `jacfwd` column by column, a tangent for each of 64 pixels. Either is one mapped
pass, and `vmap` around it gives the Jacobians of many images at once.

The Hessian of the loss has 650 x 650 entries; its product with a vector needs none of them. It is the tangent of the
gradient, `jvp(grad(loss), (w,), (v,))`, forward over reverse, for the price of a few gradients, and
`linearize(grad(loss), w)` keeps what is common to many products at one point. Conjugate gradients on those products
solve a Newton step, and Newton's method ends where gradient descent is still on its way (Nocedal and Wright, Numerical
Optimization, 7.1).

    python jacobians_and_hessians.py [--steps 8] [--out jacobians_and_hessians.png]
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
from tensorplay.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

plt.style.use(pathlib.Path(__file__).with_name("page.mplstyle"))
CLASSES, DECAY = 10, 1e-3


def load():
    digits = load_digits()
    return digits.data / 16.0, digits.target.astype(np.int64)


def logits(w, x):
    """w: [65, 10], the last row is the bias; x: [..., 64]."""
    return x @ w[:-1] + w[-1]


def probabilities(w, x):
    return tp.softmax(logits(w, x), -1)


def loss_of(x, y):
    """The regularised mean loss as a function of the weights alone: convex, with one minimum."""
    x, y = tp.from_numpy(x), tp.from_numpy(y)
    return lambda w: nn.functional.cross_entropy(logits(w, x), y) + 0.5 * DECAY * (w * w).sum()


def exact_probabilities(w, x):
    z = x @ w[:-1] + w[-1]
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def exact_jacobian(w, x):
    """d p / d x of one image: (diag p - p pᵀ) Wᵀ, shape [10, 64]."""
    p = exact_probabilities(w, x)
    return (np.diag(p) - np.outer(p, p)) @ w[:-1].T


def exact_product(w, v, x):
    """The Hessian of the loss times v: with dz = X v, Xᵀ (p dz - p (p·dz)) / n + decay v."""
    p = exact_probabilities(w, x)
    ones = np.concatenate([x, np.ones((len(x), 1))], 1)
    dz = ones @ v
    return ones.T @ (p * dz - p * (p * dz).sum(-1, keepdims=True)) / len(x) + DECAY * v


def relative(got, expected):
    return float(np.abs(got.numpy() - expected).max() / np.abs(expected).max())


def products(loss, w, v):
    """The Hessian times v in four ways: (name, product)."""
    yield "jvp of grad", jvp(grad(loss), (w,), (v,))[1]
    yield "vjp of grad", vjp(grad(loss), w)[1](v)[0]
    yield "grad of jvp", grad(lambda w: jvp(loss, (w,), (v,))[1])(w)
    yield "linearize of grad", linearize(grad(loss), w)[1](v)


def conjugate_gradients(product, b, tolerance, most=200):
    """Solves product(s) = b to the relative residual; (s, number of products)."""
    s, r = tp.zeros_like(b), b
    p, rr = r, (r * r).sum()
    enough = tolerance**2 * rr
    for k in range(most):
        if rr <= enough:
            return s, k
        hp = product(p)
        step = rr / (p * hp).sum()
        s, r = s + step * p, r - step * hp
        rr, before = (r * r).sum(), rr
        p = r + rr / before * p
    return s, most


def newton(loss, w, steps):
    """Newton's method by Hessian-vector products and a halved step where the full one does not descend.

    Yields (products so far, gradient norm, w)."""
    used = 0
    for _ in range(steps):
        g, value = grad_and_value(loss)(w)
        norm = float(g.norm())
        yield used, norm, w
        _, product = linearize(grad(loss), w)
        s, k = conjugate_gradients(product, -g, min(0.1, norm))
        used, rate = used + k + 1, 1.0
        rounding = 1e-14 * value  # near the minimum the loss has no digits left to descend by
        while rate > 1e-6 and loss(w + rate * s) > value + 1e-4 * rate * (g * s).sum() + rounding:
            rate /= 2
        w = w + rate * s
    yield used, float(grad(loss)(w).norm()), w


def descent(loss, w, budget, rate):
    """Gradient descent for as many gradients; their norms."""
    gradient, norms = grad(loss), []
    for _ in range(budget):
        g = gradient(w)
        norms.append(float(g.norm()))
        w = w - rate * g
    return norms


def picture(path, trace, slow, image, jacobian, p):
    fig = plt.figure(figsize=(11, 4.6))
    left, right = fig.subfigures(1, 2, width_ratios=[1, 1.35])
    ax = left.subplots()
    ax.plot(np.arange(1, len(slow) + 1), slow, color="C6", label="gradient descent")
    used, norms = [u + 1 for u, _, _ in trace], [n for _, n, _ in trace]
    ax.plot(used, norms, "o-", color="C0", ms=4, label="Newton, by Hessian-vector products")
    ax.set(yscale="log", xlabel="gradients and Hessian-vector products", ylabel="norm of the gradient",
           title="The same work, spent twice")  # fmt: skip
    ax.legend(loc="center right")

    axes = right.subplots(3, 4)
    right.suptitle("The Jacobian of the probabilities by the pixels of one digit", x=0.02, ha="left")
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
        ax.grid(False)
        for side in ax.spines.values():
            side.set(visible=True, color="#bbbbbb", linewidth=0.8)
    axes[0, 0].imshow(image.reshape(8, 8), cmap="gray_r", interpolation="nearest")
    axes[0, 0].set_title("the digit", loc="center", fontsize=8, weight="normal", pad=3)
    for k, ax in enumerate(axes.flat[1:11]):
        limit = np.abs(jacobian).max()
        shown = ax.imshow(jacobian[k].reshape(8, 8), cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
        ax.set_title(f"{k}: p = {p[k]:.2f}", loc="center", fontsize=8, weight="normal", pad=3)
    axes[2, 3].axis("off")
    bar = fig.colorbar(shown, ax=axes[2, 3], fraction=0.6, aspect=8)
    bar.ax.tick_params(labelsize=7)
    bar.set_label("dp / d pixel", fontsize=8)
    fig.savefig(path)
    plt.close(fig)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=8, help="Newton steps")
    parser.add_argument("--out", default="jacobians_and_hessians.png", help="where the picture goes")
    args = parser.parse_args(argv)
    x, y = load()
    loss = loss_of(x, y)
    rng = np.random.default_rng(0)
    start = tp.from_numpy(rng.standard_normal((65, CLASSES)))
    v = tp.from_numpy(rng.standard_normal((65, CLASSES)))

    errors = {}
    some = tp.from_numpy(x[:20])
    exact = np.stack([exact_jacobian(start.numpy(), row) for row in x[:20]])
    for name, transform in (("jacrev", jacrev), ("jacfwd", jacfwd)):
        errors[f"vmap of {name}"] = relative(vmap(transform(probabilities, 1), (None, 0))(start, some), exact)
    expected = exact_product(start.numpy(), v.numpy(), x)
    for name, got in products(loss, start, v):
        errors[name] = relative(got, expected)
    full = hessian(loss_of(x[:200], y[:200]))(start).reshape(650, 650)
    errors["hessian"] = relative(full @ v.flatten(), exact_product(start.numpy(), v.numpy(), x[:200]).ravel())
    for name, error in errors.items():
        print(f"{name:18s} relative difference from the closed form {error:.1e}")

    trace = list(tqdm(newton(loss, tp.zeros_like(start), args.steps), desc="Newton", total=args.steps + 1, unit="step"))
    used, norm, w = trace[-1]
    slow = descent(loss, tp.zeros_like(start), used, rate=1.0)
    print(f"after {used} products and gradients: gradient norm {norm:.1e} by Newton, {slow[-1]:.1e} by descent")
    p = exact_probabilities(w.numpy(), x)
    doubtful = int(np.argsort(np.sort(p, -1)[:, -1])[2])
    at = tp.from_numpy(x[doubtful])
    picture(args.out, trace, slow, x[doubtful], jacrev(probabilities, 1)(w, at).numpy(), p[doubtful])
    print(f"picture: {args.out}")
    return {"errors": errors, "norm": norm, "descent": slow[-1], "weights": w.numpy()}


if __name__ == "__main__":
    main()
