"""Random nests of transforms whose inner functions use the variables of all outer ones.

Each transform in a nest can be written in several ways (a gradient by reverse or by forward mode, a map by vmap or by
a loop, ...). All choices must give the same value and derivatives: this finds levels that are confused.
`TP_FUZZ=1000` runs more of them.
"""

import os

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, jacfwd, jacrev, jvp, linearize, vjp, vmap
from tensorplay.testing import assert_close

NESTS = int(os.environ.get("TP_FUZZ", "60"))
FIRST = int(os.environ.get("TP_FUZZ_FIRST", "0"))
N = 2


def _loop(f, xs):
    return tp.stack([f(x) for x in xs.unbind(0)])


MAPS = [
    lambda f, xs: vmap(f)(xs),
    _loop,
    lambda f, xs: vmap(f, 1)(xs.t()),
    lambda f, xs: vmap(f, -1, 1)(xs.movedim(0, -1)).movedim(1, 0),
    lambda f, xs: vmap(f, chunk_size=1)(xs),
    lambda f, xs: vmap(lambda x: vmap(f)(x.unsqueeze(0))[0])(xs),
]


def _plain(f, x):
    """By plain autograd, at whatever level we are."""
    y = x.clone().requires_grad_()
    (g,) = tp.autograd.grad(f(y).sum() + 0.0 * y.sum(), y, create_graph=True)
    return g


GRADIENTS = [
    lambda f, x: grad(lambda z: f(z).sum())(x),
    lambda f, x: jacrev(f)(x).sum(0),
    lambda f, x: jacfwd(f)(x).sum(0),
    lambda f, x: vjp(f, x)[1](tp.ones(N, dtype=tp.float64))[0],
    lambda f, x: tp.stack([jvp(f, (x,), (e,))[1].sum() for e in tp.eye(N, dtype=tp.float64).unbind(0)]),
    lambda f, x: vmap(lambda e: linearize(f, x)[1](e).sum())(tp.eye(N, dtype=tp.float64)),
    _plain,
]


def _double_vjp(f, x, t):
    """A jvp as the vjp of the vjp."""
    u = tp.zeros(N, dtype=tp.float64)
    return vjp(lambda c: vjp(f, x)[1](c)[0], u)[1](t)[0]


PUSHES = [
    lambda f, x, t: jvp(f, (x,), (t,))[1],
    lambda f, x, t: linearize(f, x)[1](t),
    lambda f, x, t: jacfwd(f)(x) @ t,
    lambda f, x, t: jacrev(f)(x) @ t,
    _double_vjp,
    lambda f, x, t: vmap(lambda s: jvp(f, (x,), (s,))[1])(tp.stack([t, t]))[1],
]


class Nest:
    """A random expression: a tree, evaluated with an environment of variables and a choice for each transform."""

    def __init__(self, rng, depth):
        self.kinds = 0
        self.tree = self.make(rng, depth, 1)

    def make(self, rng, depth, variables):
        kind = rng.choice(["map", "gradient", "push", "product", "sine", "sum", "write"]) if depth else "variable"
        if kind == "variable":
            return ("variable", int(rng.integers(variables)))
        if kind in ("map", "gradient", "push"):
            self.kinds += 1
            place = self.kinds - 1
            body = self.make(rng, depth - 1, variables + 1)
            return (
                kind,
                place,
                body,
                self.make(rng, depth - 2 if depth > 1 else 0, variables),
                int(rng.integers(variables)),
            )
        if kind == "sine":
            return (kind, self.make(rng, depth - 1, variables))
        return (kind, self.make(rng, depth - 1, variables), self.make(rng, depth - 1, variables))

    def run(self, x, choice):
        return self.value(self.tree, [x], choice)

    def value(self, tree, env, choice):
        kind = tree[0]
        if kind == "variable":
            return env[tree[1]]
        if kind == "sine":
            return (self.value(tree[1], env, choice) + 0.1).sin()
        if kind in ("product", "sum", "write"):
            a, b = self.value(tree[1], env, choice), self.value(tree[2], env, choice)
            if kind == "product":
                return a * b.flip(0) + 0.2 * a
            if kind == "sum":
                return 0.5 * a + b.sum() * 0.3
            out = tp.zeros(N, dtype=tp.float64)
            out[0] = a[1]
            out[1:] += b[:1].tanh()
            return out
        _, place, body, argument, other = tree
        at = self.value(argument, env, choice)

        def f(z):
            return self.value(body, [*env, z], choice)

        pick = choice[place]
        if kind == "map":
            rows = tp.stack([at, 0.5 * at + env[other], env[other]])
            return MAPS[pick % len(MAPS)](f, rows).sum(0) * 0.5
        if kind == "gradient":
            return GRADIENTS[pick % len(GRADIENTS)](f, at)
        return PUSHES[pick % len(PUSHES)](f, at, env[other])


OUTER = [
    lambda f, x: jacfwd(f)(x),
    lambda f, x: jacrev(f)(x),
    lambda f, x: vmap(jacrev(f))(tp.stack([x, x]))[1],
    lambda f, x: tp.stack([jvp(f, (x,), (e,))[1] for e in tp.eye(N, dtype=tp.float64).unbind(0)], 1),
]


@pytest.mark.parametrize("seed", range(FIRST, FIRST + NESTS))
def test_nest(seed):
    rng = np.random.default_rng(seed)
    nest = Nest(rng, 4)
    while not nest.kinds:
        nest = Nest(rng, 4)
    x = tp.tensor(rng.uniform(0.3, 1.0, N))
    first = [0] * nest.kinds
    want = nest.run(x, first)
    if not bool(want.isfinite().all()) or want.abs().max().item() > 1e4:
        pytest.skip("grows too large")
    jacobian = OUTER[0](lambda t: nest.run(t, first), x)
    eps = 1e-5
    basis = tp.eye(N, dtype=tp.float64).unbind(0)
    numeric = tp.stack([(nest.run(x + eps * e, first) - nest.run(x - eps * e, first)) / (2 * eps) for e in basis], 1)
    scale = max(1.0, jacobian.abs().max().item())
    assert_close(jacobian, numeric, rtol=1e-4, atol=1e-5 * scale, msg="finite differences")
    for _ in range(4):
        choice = [int(c) for c in rng.integers(0, 42, nest.kinds)]
        f = lambda t, choice=choice: nest.run(t, choice)
        try:
            f(x)
            OUTER[1](f, x)
        except RuntimeError as error:  # autograd.grad of what an outer transform tracks, inside an inner one
            assert "x.detach().requires_grad_()" in str(error)
            continue
        assert_close(f(x), want, rtol=1e-8, atol=1e-9 * scale, msg=f"choice {choice}")
        outer = OUTER[rng.integers(len(OUTER))]
        assert_close(outer(f, x), jacobian, rtol=1e-8, atol=1e-8 * scale, msg=f"jacobian, choice {choice}")
