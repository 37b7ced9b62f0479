"""Every composition of up to three transforms, over functions of different kinds, against NumPy.

The reference differentiates in 80-bit floating point with a stencil of fourth order, and loops where vmap maps.
"""

import functools
import itertools

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from tensorplay.testing import assert_close

# ---- functions of R^2 to R^2, in tensorplay and in NumPy ----

W1 = np.array([[0.6, -0.4], [0.3, 0.8], [-0.7, 0.2]])
W2 = np.array([[0.5, -0.3, 0.9], [0.2, 0.7, -0.6]])
B1 = np.array([0.1, -0.2, 0.05])


def network(x):
    h = (tp.tensor(W1) @ x + tp.tensor(B1)).tanh()
    return (tp.tensor(W2) @ h).softmax(0) * x.sum()


def np_network(x):
    h = W2.astype(np.longdouble) @ np.tanh(W1.astype(np.longdouble) @ x + B1)
    e = np.exp(h - h.max())
    return e / e.sum() * x.sum()


def rational(x):
    return tp.stack([x[0] * x[1] / (1 + x[0] ** 2 + x[1] ** 2), (x[0] - x[1]) / (2 + x.prod())])


def np_rational(x):
    return np.stack([x[0] * x[1] / (1 + x[0] ** 2 + x[1] ** 2), (x[0] - x[1]) / (2 + x[0] * x[1])])


def mutation(x):
    """Indexing, writes into a tensor made here and into views of it, advanced indices."""
    out = tp.zeros(2, 2, dtype=tp.float64)
    out[0, 0] = x[0] * x[1]
    out[1] = x * x[tp.tensor([1, 0])]
    row = out[0]
    row[1:] = x[1].sin()
    out.view(4)[3:] += x[0]
    y = out.t()[0].clone()
    y.mul_(x)
    y[tp.tensor([0, 0])] += 1.0
    return y


def np_mutation(x):
    a, b = x[0] * x[1], x[0] * x[1]
    return np.stack([a * x[0] + 1, b * x[1]])


def loop(x):
    """Python control flow."""
    y, k = x, 0
    while k < 3:
        y = 0.5 * y + (y.flip(0) * x).sin() if k % 2 == 0 else y * x - 0.25 * y
        k += 1
    for part in (y, y * 2):
        y = y + 0.1 * part
    return y


def np_loop(x):
    y = x
    for k in range(3):
        y = 0.5 * y + np.sin(y[::-1] * x) if k % 2 == 0 else y * x - 0.25 * y
    for part in (y, y * 2):
        y = y + 0.1 * part
    return y


def polynomial(x):
    a, b = x.unbind(0)
    return tp.stack([a**4 * b**3 - 2 * a * b, a**2 * b**4 + 3 * b**2 * a**3])


def np_polynomial(x):
    a, b = x
    return np.stack([a**4 * b**3 - 2 * a * b, a**2 * b**4 + 3 * b**2 * a**3])


FUNCTIONS = {
    "network": (network, np_network),
    "rational": (rational, np_rational),
    "mutation": (mutation, np_mutation),
    "loop": (loop, np_loop),
    "polynomial": (polynomial, np_polynomial),
}

# ---- the transforms, each from functions of one array to functions of one array ----


def _pattern(shape, phase):
    n = int(np.prod(shape, dtype=int))
    return np.cos(np.arange(n) * 1.3 + phase).reshape(shape) + 0.3


def _like(t, phase):
    return tp.tensor(_pattern(tuple(t.shape), phase))


def _vjp(f):
    def g(x):
        out, pull = vjp(f, x)
        return pull(_like(out, 0.0))[0]

    return g


def _linearize(f):
    def g(x):
        _, push = linearize(f, x)
        return push(_like(x, 1.0))

    return g


TRANSFORMS = {
    "vmap": vmap,
    "grad": lambda f: grad(lambda x: f(x).sum()),
    "vjp": _vjp,
    "jvp": lambda f: lambda x: jvp(f, (x,), (_like(x, 1.0),))[1],
    "linearize": _linearize,
    "jacrev": jacrev,
    "jacfwd": jacfwd,
    "hessian": hessian,
}
KIND = {
    "vmap": "V",
    "grad": "G",
    "vjp": "R",
    "jvp": "F",
    "linearize": "F",
    "jacrev": "J",
    "jacfwd": "J",
    "hessian": "H",
}


def _derivative(f, x, u, h):
    return (8 * (f(x + h * u) - f(x - h * u)) - (f(x + 2 * h * u) - f(x - 2 * h * u))) / (12 * h)


def _np_jacobian(f, h):
    def g(x):
        columns = []
        for index in np.ndindex(x.shape):
            e = np.zeros_like(x)
            e[index] = 1
            columns.append(_derivative(f, x, e, h))
        out = np.stack(columns, -1)
        return out.reshape(*out.shape[:-1], *x.shape)

    return g


def _np_transform(kind, f, h):
    if kind == "V":
        return lambda x: np.stack([f(row) for row in x])
    if kind == "F":
        return lambda x: _derivative(f, x, _pattern(x.shape, 1.0).astype(np.longdouble), h)
    if kind == "G":
        return lambda x: _np_jacobian(lambda y: f(y).sum(), h)(x)
    if kind == "R":

        def pulled(x):
            c = _pattern(f(x).shape, 0.0)
            return _np_jacobian(lambda y: (c * f(y)).sum(), h)(x)

        return pulled
    jacobian = _np_jacobian(f, h)
    return jacobian if kind == "J" else _np_jacobian(jacobian, h)


def _point(kinds):
    rows = sum(k == "V" for k in kinds)
    rng = np.random.default_rng(7)
    return rng.uniform(0.3, 1.1, (2,) * rows + (2,))


def _order(kinds):
    return sum({"V": 0, "H": 2}.get(k, 1) for k in kinds)


@functools.cache
def _expected(name, kinds):
    h = np.longdouble(0.01 if name == "polynomial" else 0.004)
    f = FUNCTIONS[name][1]
    for kind in reversed(kinds):
        f = _np_transform(kind, f, h)
    return f(_point(kinds).astype(np.longdouble)).astype(np.float64)


def _compositions(depth):
    return list(itertools.product(TRANSFORMS, repeat=depth))


def _check(name, composition):
    kinds = tuple(KIND[t] for t in composition)
    f = FUNCTIONS[name][0]
    for t in reversed(composition):
        f = TRANSFORMS[t](f)
    got = f(tp.tensor(_point(kinds)))
    want = _expected(name, kinds)
    scale = max(1.0, float(np.abs(want).max()))
    assert_close(got, want, rtol=2e-5, atol=2e-6 * scale, msg=f"{'('.join(composition)}({name}")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_function_itself(name):
    x = _point(())
    assert_close(FUNCTIONS[name][0](tp.tensor(x)), FUNCTIONS[name][1](x.astype(np.longdouble)).astype(np.float64))


@pytest.mark.parametrize("outer", TRANSFORMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_and_two(name, outer):
    _check(name, (outer,))
    for inner in TRANSFORMS:
        _check(name, (outer, inner))


@pytest.mark.parametrize("outer, middle", _compositions(2))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_three(name, outer, middle):
    for inner in TRANSFORMS:
        composition = (outer, middle, inner)
        # the reference's own error and time grow with the order; higher ones have closed forms below
        if _order(tuple(KIND[t] for t in composition)) <= (4 if name in ("polynomial", "mutation") else 3):
            _check(name, composition)


@pytest.mark.parametrize("composition", [c for c in _compositions(3) if _order(tuple(KIND[t] for t in c)) > 4])
def test_high_orders(composition):
    """Orders five and six: of two functions whose derivatives are known."""
    x = tp.tensor([0.7], dtype=tp.float64)
    f = lambda t: t.exp()
    g = lambda t: t**7
    order = 0
    for t in reversed(composition):
        f, g = TRANSFORMS[t](f), TRANSFORMS[t](g)
        order += {"V": 0, "H": 2}.get(KIND[t], 1)
    # the vectors that vjp and jvp multiply with are known as well: all shapes have one element
    factor = 1.0
    for t in composition:
        factor *= {"R": _pattern((1,), 0.0)[0], "F": _pattern((1,), 1.0)[0]}.get(KIND[t], 1.0)
    falling = np.prod([7.0 - k for k in range(order)])
    assert_close(f(x).reshape(-1), np.array([np.exp(0.7) * factor]), rtol=1e-9)
    assert_close(g(x).reshape(-1), np.array([falling * 0.7 ** (7 - order) * factor]), rtol=1e-9)
