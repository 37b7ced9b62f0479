"""A physics-informed network for the heat equation, solved to four digits by Gauss-Newton steps.

The equation u_t = a u_xx on 0 < x < 1 with u = 0 at both ends and u(x, 0) = sin πx + sin(3πx) / 2 has the solution
exp(-aπ²t) sin πx + exp(-9aπ²t) sin(3πx) / 2, so the error of a network is known, not guessed. The network sees (x, t)
and multiplies what it says by x (1 - x) t, then the initial values are added: it is right at the boundary whatever its
weights are, and only the equation is left to be learned (Lagaris, Likas, Fotiadis, IEEE Trans. Neural Networks, 1998).

The residual at one point is a line of transforms: u_t and u_x are jvps, u_xx is the jvp of a jvp. `vmap` makes it the
residual at all points, `vmap(grad(residual))` its Jacobian with respect to the weights: third derivatives, in one call.
With a few hundred weights that is a small matrix, so the weights are found by the method for non-linear least squares,
Levenberg-Marquardt, whose steps `linalg.cholesky` solves. Adam is shown beside it: in several times the time it gets to
a hundredth of the accuracy.

    python heat_equation.py [--steps 400] [--out heat_equation.png]
"""

import argparse
import pathlib
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from tqdm import tqdm

import tensorplay as tp
from tensorplay import nn
from tensorplay.func import functional_call, grad_and_value, jvp, vmap

plt.style.use(pathlib.Path(__file__).with_name("page.mplstyle"))
CONDUCTIVITY, WIDTH, POINTS, ADAM_RATE = 0.1, 16, 600, 3e-3


def exact(x, t):
    k = CONDUCTIVITY * np.pi**2
    return np.exp(-k * t) * np.sin(np.pi * x) + 0.5 * np.exp(-9 * k * t) * np.sin(3 * np.pi * x)


def make_net():
    hidden = nn.Linear(2, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh()
    return nn.Sequential(*hidden, nn.Linear(WIDTH, 1)).double()


def unpack_of(net):
    """The weights as one vector, and the function that cuts such a vector into the module's parameters."""
    named = {k: p.detach() for k, p in net.named_parameters()}
    sizes = [p.numel() for p in named.values()]

    def unpack(w):
        return {k: v.reshape(p.shape) for (k, p), v in zip(named.items(), w.split(sizes))}

    return tp.cat([p.flatten() for p in named.values()]), unpack


def solution_of(net, unpack):
    """u(w, x, t) at one point, with initial and boundary values built in."""

    def u(w, x, t):
        free = functional_call(net, unpack(w), (tp.stack([2 * x - 1, 2 * t - 1]),)).squeeze(0)
        return tp.sin(np.pi * x) + 0.5 * tp.sin(3 * np.pi * x) + x * (1 - x) * t * free

    return u


def residual_of(u):
    """u_t - a u_xx at one point, by forward mode twice."""
    one = tp.ones((), dtype=tp.float64)

    def residual(w, x, t):
        u_t = jvp(lambda t: u(w, x, t), (t,), (one,))[1]
        u_x = lambda x: jvp(lambda x: u(w, x, t), (x,), (one,))[1]
        return u_t - CONDUCTIVITY * jvp(u_x, (x,), (one,))[1]

    return residual


def collocation(points, seed=0):
    """Points in the square by Latin hypercube sampling."""
    rng = np.random.default_rng(seed)
    cells = np.stack([rng.permutation(points), rng.permutation(points)])
    return [tp.from_numpy(v) for v in (cells + rng.random((2, points))) / points]


def levenberg_marquardt(residual, w, x, t, steps, observe):
    """Least squares of the residuals at the points; observe(w, loss) after every step, accepted or not."""
    rows = vmap(grad_and_value(residual), (None, 0, 0))
    mapped = vmap(residual, (None, 0, 0))
    eye, damping = tp.eye(len(w), dtype=w.dtype), 1e-2
    jacobian, r = rows(w, x, t)
    for _ in tqdm(range(steps), desc="Levenberg-Marquardt", unit="step", mininterval=0.3):
        normal, slope = jacobian.mT @ jacobian, jacobian.mT @ r
        factor = tp.linalg.cholesky(normal + damping * eye)
        trial = w - tp.cholesky_solve(slope.unsqueeze(1), factor).squeeze(1)
        if (mapped(trial, x, t) ** 2).sum() < (r * r).sum():
            w, damping = trial, max(damping / 3, 1e-12)
            jacobian, r = rows(w, x, t)
        else:
            damping *= 4
        observe(w, float((r * r).mean()))
    return w


def adam(residual, w, x, t, steps, observe, beta1=0.9, beta2=0.999):
    """The same by Adam, with a rate that falls to zero."""
    mapped = vmap(residual, (None, 0, 0))
    gradient = grad_and_value(lambda w: (mapped(w, x, t) ** 2).mean())
    m, v = tp.zeros_like(w), tp.zeros_like(w)
    for k in tqdm(range(1, steps + 1), desc="Adam", unit="step", mininterval=0.3):
        g, loss = gradient(w)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        rate = ADAM_RATE * 0.5 * (1 + np.cos(np.pi * k / steps))
        w = w - rate * (1 - beta2**k) ** 0.5 / (1 - beta1**k) * m / (v.sqrt() + 1e-8)
        if k % 10 == 0:
            observe(w, float(loss))
    return w


def grid(n=81):
    x, t = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n))
    return x, t


def values(u, w, n=81):
    """u on the grid, mapped over both axes."""
    axis = tp.linspace(0, 1, n, dtype=tp.float64)
    return vmap(vmap(u, (None, 0, None)), (None, None, 0))(w, axis, axis).numpy()


def picture(path, u, w, traces):
    x, t = grid()
    got, true = values(u, w), exact(x, t)
    fig, axes = plt.subplots(2, 2, figsize=(10.5, 6.8))
    (a, b), (c, d) = axes
    image = a.pcolormesh(t, x, got, cmap="inferno", shading="gouraud", rasterized=True)
    fig.colorbar(image, ax=a, label="u")
    a.set(xlabel="t", ylabel="x", title="What the network says")
    limit = np.abs(got - true).max()
    image = b.pcolormesh(t, x, got - true, cmap="RdBu_r", vmin=-limit, vmax=limit, shading="gouraud", rasterized=True)
    fig.colorbar(image, ax=b, label="error")
    b.set(xlabel="t", ylabel="x", title=f"Its error: at most {limit:.0e}")
    for ax in (a, b):
        ax.grid(False)

    colours = plt.get_cmap("viridis")(np.linspace(0, 0.85, 5))
    for k, colour in zip((0, 10, 20, 40, 80), colours):
        c.plot(x[k], true[k], color=colour, lw=4, alpha=0.3)
        c.plot(x[k], got[k], color=colour, lw=1.2, label=f"t = {t[k, 0]:.3g}")
    c.set(xlabel="x", ylabel="u", title="Network (thin) on the exact solution (broad)", ylim=(None, 1.32))
    c.legend(ncols=5, loc="upper center", handlelength=1, columnspacing=0.9)

    for (name, trace), colour in zip(traces.items(), ("C0", "C6")):
        seconds, _, errors = np.array(trace).T
        d.plot(seconds, errors, color=colour, label=f"{name}, {len(trace) * (10 if name == 'Adam' else 1)} steps")
    d.set(yscale="log", xlabel="seconds", ylabel="relative error", title="Against the exact solution")
    d.legend()
    fig.savefig(path)
    plt.close(fig)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400, help="Levenberg-Marquardt steps; Adam takes 20 for each")
    parser.add_argument("--out", default="heat_equation.png", help="where the picture goes")
    args = parser.parse_args(argv)
    tp.manual_seed(0)
    net = make_net()
    w0, unpack = unpack_of(net)
    u = solution_of(net, unpack)
    residual = residual_of(u)
    x, t = collocation(POINTS)
    true = exact(*grid())

    traces, results = {}, {}
    runs = ("Levenberg-Marquardt", levenberg_marquardt, args.steps), ("Adam", adam, 20 * args.steps)
    for name, method, steps in runs:
        trace, spent = traces.setdefault(name, []), time.perf_counter()

        def observe(w, loss, trace=trace):
            nonlocal spent
            now = time.perf_counter()
            error = np.linalg.norm(values(u, w) - true) / np.linalg.norm(true)
            trace.append((now - spent, loss, error))
            spent += time.perf_counter() - now  # looking is not part of the method

        results[name] = method(residual, w0, x, t, steps, observe)
        print(f"{name:20s} {len(w0)} weights, {POINTS} points, {steps} steps in {trace[-1][0]:.1f} s: "
              f"mean squared residual {trace[-1][1]:.1e}, relative error {trace[-1][2]:.1e}")
    best = results["Levenberg-Marquardt"]
    picture(args.out, u, best, traces)
    print(f"picture: {args.out}")
    largest = float(np.abs(values(u, best) - true).max())
    return {"error": traces["Levenberg-Marquardt"][-1][2], "largest": largest, "adam": traces["Adam"][-1][2],
            "weights": best.numpy()}  # fmt: skip


if __name__ == "__main__":
    main()
