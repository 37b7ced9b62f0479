"""Derivatives at the edges: zeros, ties, infinities, empty tensors; first, second and third, by every route."""

import itertools
import math

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from tensorplay.testing import assert_close

INF, NAN = math.inf, math.nan


def number(v):
    return tp.tensor(float(v), dtype=tp.float64)


def by_grad(f, order):
    for _ in range(order):
        f = grad(f)
    return f


def by_jvp(f, order):
    for _ in range(order):
        f = lambda x, f=f: jvp(f, (x,), (tp.ones_like(x),))[1]
    return f


def by_mixture(f, order):
    """jvp of grad of jvp ..."""
    for k in range(order):
        f = by_jvp(f, 1) if k % 2 == 0 else by_grad(f, 1)
    return f


def by_vmap(f, order):
    """Under vmap, of a batch of one."""
    g = by_grad(f, order)
    return lambda x: vmap(g)(x.unsqueeze(0))[0]


ROUTES = {"grad": by_grad, "jvp": by_jvp, "mixture": by_mixture, "vmap": by_vmap}

# function, point, the derivatives from the first on
SCALAR = [
    ("x**0", lambda x: x**0, 0.0, (0, 0, 0)),
    ("x**1", lambda x: x**1, 0.0, (1, 0, 0)),
    ("x**2", lambda x: x**2, 0.0, (0, 2, 0)),
    ("x**3", lambda x: x**3, 0.0, (0, 0, 6)),
    ("x**2.0", lambda x: x**2.0, 0.0, (0, 2, 0)),
    ("x**tensor(2)", lambda x: x ** number(2), 0.0, (0, 2, 0)),
    ("pow(x, 3) at -1", lambda x: x**3, -1.0, (3, -6, 6)),
    ("x*x*x", lambda x: x * x * x, 0.0, (0, 0, 6)),
    ("square", lambda x: x.square(), 0.0, (0, 2, 0)),
    ("sqrt at inf", lambda x: x.sqrt(), INF, (0,)),
    ("abs", lambda x: x.abs(), 0.0, (0, 0, 0)),
    ("relu", lambda x: x.relu(), 0.0, (0, 0)),
    ("relu cubed", lambda x: x.relu() ** 3, 0.0, (0, 0)),
    ("sinc", lambda x: tp.sinc(x), 0.0, (0, -(math.pi**2) / 3, 0)),
    (
        "sinc close to 0",
        lambda x: tp.sinc(x),
        1e-8,
        (-(math.pi**2) / 3 * 1e-8, -(math.pi**2) / 3, math.pi**4 / 5 * 1e-8),
    ),
    ("tanh far", lambda x: x.tanh(), 800.0, (0, 0, 0)),
    ("sigmoid far", lambda x: x.sigmoid(), -800.0, (0, 0, 0)),
    ("sigmoid far right", lambda x: x.sigmoid(), 800.0, (0, 0, 0)),
    ("softplus far", lambda x: tp.softplus(x), 800.0, (1, 0, 0)),
    ("softplus far left", lambda x: tp.softplus(x), -800.0, (0, 0, 0)),
    ("silu far", lambda x: tp.silu(x), -800.0, (0, 0, 0)),
    ("gelu far", lambda x: tp.gelu(x), 50.0, (1, 0, 0)),
    ("gelu far left", lambda x: tp.gelu(x), -50.0, (0, 0, 0)),
    ("erf far", lambda x: tp.erf(x), 40.0, (0, 0, 0)),
    ("logaddexp of equals", lambda x: tp.logaddexp(x, x), 0.5, (1, 0, 0)),
    ("logaddexp with -inf", lambda x: tp.logaddexp(x, number(-INF)), 0.5, (1, 0, 0)),
    ("xlogy(0, 1 + x)", lambda x: tp.xlogy(x, 1 + x), 0.0, (0, 2, -3)),
    ("xlogy(x, 0) at 0", lambda x: tp.xlogy(x * 0, x), 0.0, (0,)),
    ("exp at -inf", lambda x: x.exp(), -INF, (0, 0, 0)),
    ("where", lambda x: tp.where(x > 0, x.log(), 0.0 * x), -1.0, (0, 0)),
    ("clamp inside", lambda x: x.clamp(-1, 1) ** 2, 0.0, (0, 2, 0)),
    ("clamp outside", lambda x: x.clamp(-1, 1) ** 2, 3.0, (0, 0, 0)),
    ("maximum with itself", lambda x: tp.maximum(x, x), 2.0, (1, 0)),
    ("minimum with itself", lambda x: tp.minimum(x, x * 1), 2.0, (1, 0)),
    ("norm of one element", lambda x: (x * x).reshape(1).norm(), 1.0, (2, 2)),
    ("hypot", lambda x: tp.hypot(x, number(3.0)), 0.0, (0, 1 / 3, 0)),
    ("atan2", lambda x: tp.atan2(x, number(2.0)), 0.0, (0.5, 0, -0.25)),
    ("floor", lambda x: x.floor() * x, 2.5, (2, 0)),
    ("remainder", lambda x: tp.remainder(x, 2.0), 0.5, (1, 0)),
    ("prod of a zero", lambda x: tp.stack([x, number(2.0), x + 3]).prod(), 0.0, (6, 4, 0)),
    ("prod of two zeros", lambda x: tp.stack([x, x, number(5.0)]).prod(), 0.0, (0, 10, 0)),
    ("prod of three zeros", lambda x: tp.stack([x, x, x]).prod(), 0.0, (0, 0, 6)),
    ("cumprod of zeros", lambda x: tp.stack([x, x + 1, x]).cumprod(0).sum(), 0.0, (2, 4, 6)),
    ("logsumexp of equals", lambda x: tp.stack([x, x]).logsumexp(0), 1.0, (1, 0, 0)),
    ("logsumexp with -inf", lambda x: tp.stack([x, number(-INF)]).logsumexp(0), 1.0, (1, 0, 0)),
    ("softmax of equals", lambda x: tp.stack([x, x]).softmax(0)[0], 1.0, (0, 0, 0)),
    ("softmax with -inf", lambda x: tp.stack([x, number(-INF)]).softmax(0).sum(), 1.0, (0, 0, 0)),
    ("log_softmax", lambda x: tp.stack([x, 0 * x]).log_softmax(0)[0], 900.0, (0, 0, 0)),
    ("var of equals", lambda x: tp.stack([x, x, x]).var(0), 1.0, (0, 0, 0)),
    ("var", lambda x: tp.stack([x, -x]).var(0), 0.0, (0, 4, 0)),
    ("asinh", lambda x: x.asinh(), 0.0, (1, 0, -1)),
    ("log1p", lambda x: x.log1p(), 0.0, (1, -1, 2)),
    ("expm1", lambda x: x.expm1(), 0.0, (1, 1, 1)),
]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name, f, at, derivatives", SCALAR, ids=[s[0] for s in SCALAR])
def test_scalar_functions(name, f, at, derivatives, route):
    for order, want in enumerate(derivatives, 1):
        got = ROUTES[route](f, order)(number(at))
        assert_close(got, number(want), rtol=1e-9, atol=1e-12 + abs(want) * 1e-9, msg=f"derivative {order}")


# ---- functions of vectors, where a value is not unique or a norm is zero ----

VECTOR = [
    ("norm at zero", lambda x: x.norm(), [0.0, 0.0], [0.0, 0.0]),
    ("squared norm at zero", lambda x: x.norm() ** 2, [0.0, 0.0], [0.0, 0.0]),
    ("1-norm at a zero", lambda x: x.norm(1), [0.0, -2.0], [0.0, -1.0]),
    ("3-norm at zero", lambda x: x.norm(3), [0.0, 0.0], [0.0, 0.0]),
    ("inf-norm, a tie", lambda x: x.norm(INF), [2.0, -2.0], [0.5, -0.5]),
    ("std of equals", lambda x: x.std(), [1.0, 1.0], [0.0, 0.0]),
    ("amax, a tie", lambda x: x.amax(), [1.0, 1.0], [0.5, 0.5]),
    ("amin, a tie", lambda x: x.amin(), [1.0, 1.0], [0.5, 0.5]),
    ("max along, a tie", lambda x: x.max(0).values, [1.0, 1.0], [1.0, 0.0]),
    ("maximum, a tie", lambda x: tp.maximum(x[0], x[1]), [1.0, 1.0], [0.5, 0.5]),
    ("minimum, a tie", lambda x: tp.minimum(x[0], x[1]), [1.0, 1.0], [0.5, 0.5]),
    (
        "sort, a tie",
        lambda x: (x.sort().values * tp.tensor([1.0, 2.0], dtype=tp.float64)).sum(),
        [1.0, 1.0],
        [1.0, 2.0],
    ),
    ("hypot at zero", lambda x: tp.hypot(x[0], x[1]), [0.0, 0.0], [0.0, 0.0]),
    ("atan2 at zero", lambda x: (tp.atan2(x[0], x[1]) * 0).nan_to_num(), [0.0, 1.0], [0.0, 0.0]),
    ("cumsum of nothing", lambda x: x[:0].cumsum(0).sum() + x.sum(), [1.0, 2.0], [1.0, 1.0]),
    ("sum of nothing", lambda x: x[:0].sum() * x[0], [1.0, 2.0], [0.0, 0.0]),
    ("prod of nothing", lambda x: x[:0].prod() * x[0], [1.0, 2.0], [1.0, 0.0]),
    ("logsumexp, all -inf", lambda x: x.logsumexp(0), [-INF, -INF], [0.0, 0.0]),
    ("index twice", lambda x: x[tp.tensor([0, 0, 1])].sum(), [1.0, 2.0], [2.0, 1.0]),
    ("index nothing", lambda x: x[tp.tensor([0, 1]) > 5].sum(), [1.0, 2.0], [0.0, 0.0]),
    ("pow of zeros", lambda x: (x ** tp.tensor([0.0, 2.0], dtype=tp.float64)).sum(), [0.0, 0.0], [0.0, 0.0]),
]


@pytest.mark.parametrize("name, f, at, want", VECTOR, ids=[v[0] for v in VECTOR])
def test_gradients_of_vectors(name, f, at, want):
    x, want = tp.tensor(at, dtype=tp.float64), tp.tensor(want, dtype=tp.float64)
    assert_close(grad(f)(x), want)
    assert_close(jacrev(f)(x), want)
    assert_close(jacfwd(f)(x), want)
    assert_close(vmap(grad(f))(tp.stack([x, x])), tp.stack([want, want]))
    leaf = x.clone().requires_grad_()
    f(leaf).backward()
    assert_close(leaf.grad, want)


@pytest.mark.parametrize("name, f, at", [(v[0], v[1], v[2]) for v in VECTOR], ids=[v[0] for v in VECTOR])
def test_second_derivatives_of_vectors_agree_and_are_finite(name, f, at):
    x = tp.tensor(at, dtype=tp.float64)
    want = hessian(f)(x)
    assert bool(want.isfinite().all())
    for route in (jacrev(jacrev(f)), jacfwd(jacfwd(f)), jacrev(jacfwd(f))):
        assert_close(route(x), want)
    assert_close(vmap(hessian(f))(tp.stack([x, x])), tp.stack([want, want]))


def test_hessians_with_closed_forms():
    zero = tp.zeros(3, dtype=tp.float64)
    assert_close(hessian(lambda x: (x * x).sum())(zero), 2 * tp.eye(3, dtype=tp.float64))
    x = tp.tensor([0.0, 0.0, 3.0], dtype=tp.float64)
    want = tp.zeros(3, 3, dtype=tp.float64)
    want[0, 1] = want[1, 0] = 3.0
    assert_close(hessian(lambda x: x.prod())(x), want)
    third = jacfwd(hessian(lambda x: x.prod()))(zero)
    want = tp.zeros(3, 3, 3, dtype=tp.float64)
    for i, j, k in itertools.permutations(range(3)):
        want[i, j, k] = 1.0
    assert_close(third, want)


# ---- empty tensors go through everything ----

EMPTY = {
    "elementwise": lambda x: (x.exp() * 2 + x).tanh(),
    "sum": lambda x: x.sum(0),
    "sum of all": lambda x: x.sum(),
    "mean": lambda x: x.mean(1),
    "matmul": lambda x: x @ x.transpose(-1, -2),
    "softmax": lambda x: x.softmax(1),
    "cumsum": lambda x: x.cumsum(0),
    "sort": lambda x: x.sort(0).values,
    "cat": lambda x: tp.cat([x, x], 0),
    "index": lambda x: x[:, tp.tensor([0, 2])],
    "reshape": lambda x: x.reshape(3, 0),
    "flip": lambda x: x.flip(0, 1),
    "pad by writing": lambda x: _padded(x),
}


def _padded(x):
    out = tp.zeros(2, 3, dtype=tp.float64)
    out[:0] = x
    return out


@pytest.mark.parametrize("name", EMPTY)
def test_empty_tensors(name):
    f = EMPTY[name]
    x = tp.zeros(0, 3, dtype=tp.float64)
    out = f(x)
    got, pull = vjp(f, x)
    assert got.shape == out.shape and pull(tp.ones_like(out))[0].shape == (0, 3)
    assert jvp(f, (x,), (x,))[1].shape == out.shape
    assert jacrev(f)(x).shape == (*out.shape, 0, 3)
    assert jacfwd(f)(x).shape == (*out.shape, 0, 3)
    assert vmap(f)(tp.zeros(4, 0, 3, dtype=tp.float64)).shape == (4, *out.shape)
    assert vmap(f, 1)(tp.zeros(0, 0, 3, dtype=tp.float64)).shape == (0, *out.shape)
    assert hessian(lambda x: f(x).sum())(x).shape == (0, 3, 0, 3)


def test_infinities_do_not_spread():
    x = tp.tensor([1.0, INF, -INF], dtype=tp.float64)
    keep = x.isfinite()
    g = grad(lambda x: tp.where(keep, x, 0.0).pow(3).sum())(x)
    assert_close(g, tp.tensor([3.0, 0.0, 0.0], dtype=tp.float64))


@pytest.mark.parametrize("p", [INF, -INF])
def test_the_largest_element_is_found_again(p):
    """The derivative of an extreme norm belongs to the element that equals it, to the last bit."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (2000, 3))
    pick = np.abs(x).argmax(1) if p > 0 else np.abs(x).argmin(1)
    g = vjp(lambda t: t.norm(p, 1), tp.tensor(x))[1](tp.ones(2000, dtype=tp.float64))[0].numpy()
    want = np.zeros_like(x)
    want[range(2000), pick] = np.sign(x[range(2000), pick])
    np.testing.assert_array_equal(g, want)
