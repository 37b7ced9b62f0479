"""Third derivatives at the edges, in every order of the modes and under vmap, against the polynomial or the closed form
that the function is there."""

import itertools
import math

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import jacfwd, jacrev, vmap

INF = math.inf


def product(x):
    """By products of two, which have no special places."""
    r = x[0]
    for i in range(1, x.shape[0]):
        r = r * x[i]
    return r


def products(x):
    return tp.stack([product(x[: i + 1]) for i in range(x.shape[0])])


def variance(x):
    d = x - x.sum() / x.shape[0]
    return (d * d).sum() / (x.shape[0] - 1)


def third(f, order):
    for mode in order:
        f = (jacfwd if mode == "f" else jacrev)(f)
    return f


ORDERS = ["".join(o) for o in itertools.product("fr", repeat=3)]
ZEROS = [[1.5, -2, 0.5, 3], [0, 2, 3, -1], [0, 2, 0, -1], [0, 0, 3, 0], [0, 0, 0, 0]]
CASES = [
    *((f"prod of {z}", lambda x: x.prod(), product, z) for z in ZEROS),
    *((f"prod over a dim of {z}", lambda x: x.reshape(2, 2).prod(0).sum(), lambda x: x[0] * x[2] + x[1] * x[3], z)
      for z in ZEROS),
    *((f"cumprod of {z}", lambda x: x.cumprod(0), products, z) for z in ZEROS),
    ("square of the norm at 0", lambda x: x.norm() ** 2, lambda x: (x * x).sum(), [0.0, 0, 0]),
    ("cube of the norm at 0", lambda x: x.norm() ** 3, lambda x: x.sum() * 0, [0.0, 0]),
    ("square of hypot at 0", lambda x: tp.hypot(x[0], x[1]) ** 2, lambda x: (x * x).sum(), [0.0, 0]),
    ("atan2 at 0", lambda x: tp.atan2(x[0], x[1]), lambda x: x.sum() * 0, [0.0, 0]),
    ("var of equals", lambda x: x.var(), variance, [2.0, 2, 2]),
    ("var of zeros", lambda x: x.var(0, unbiased=False), lambda x: variance(x) * 2 / 3, [0.0, 0, 0]),
    ("square of std of equals", lambda x: x.std() ** 2, lambda x: x.sum() * 0, [1.0, 1, 1]),
    ("powers of 0", lambda x: x[0] ** 0 + x[0] ** 1 + x[0] ** 2 + x[0] ** 3,
     lambda x: 1 + x[0] + x[0] * x[0] + x[0] * x[0] * x[0], [0.0]),
    ("0 to positive powers", lambda x: tp.zeros(2, dtype=tp.float64) ** x, lambda x: x * 0, [1.0, 2.5]),
    ("polynomial by pow of tensors", lambda x: tp.pow(x, tp.tensor([2.0, 3, 1], dtype=tp.float64)),
     lambda x: tp.stack([x[0] * x[0], x[1] * x[1] * x[1], x[2]]), [0.0, 0, 0]),
    ("logsumexp with -inf", lambda x: tp.logsumexp(x, 0), lambda x: tp.log(tp.exp(x).sum()), [-INF, 0, 1]),
    ("logcumsumexp after -inf", lambda x: tp.logcumsumexp(x, 0)[1:],
     lambda x: tp.stack([x[1], tp.log(tp.exp(x[1]) + tp.exp(x[2]))]), [-INF, 0, 1]),
    ("logaddexp with -inf", lambda x: tp.logaddexp(x[0], x[1]), lambda x: x[1] * x[1] * 0 + x[1], [-INF, 1.0]),
    ("logaddexp of equals", lambda x: tp.logaddexp(x[0], x[1]), lambda x: tp.log(tp.exp(x[0]) + tp.exp(x[1])),
     [1.0, 1]),
    ("sinc by its series", lambda x: tp.sinc(x),
     lambda x: 1 - (math.pi * x) ** 2 / 6 + (math.pi * x) ** 4 / 120, [0.0, 1e-5]),
    ("xlogy at 0", lambda x: tp.xlogy(x, x * 0 + 2), lambda x: x * math.log(2), [0.0, 1]),
    ("clamp of cubes inside and outside", lambda x: (x**3).clamp(-1, 1), lambda x: tp.stack([x[0] ** 3, x[1] * 0]),
     [0.5, 2.0]),
    ("largest of cubes", lambda x: (x**3).amax(), lambda x: x[2] ** 3, [-1.0, 0, 2]),
    ("tied largest of cubes", lambda x: (x**3).max(0)[0], lambda x: x[1] ** 3, [-1.0, 2, 2]),
    ("sorted cubes", lambda x: (x**3).sort()[0], lambda x: tp.stack([x[1] ** 3, x[2] ** 3, x[0] ** 3]), [2.0, -1, 0]),
    ("median of cubes", lambda x: (x**3).median(), lambda x: x[0] ** 3, [1.0, -1, 2]),
    ("softmax of cubes", lambda x: (x**3).softmax(0), lambda x: (x * x * x).exp() / (x * x * x).exp().sum(),
     [0.0, 0, 0.5]),
    ("masked fill of cubes", lambda x: (x**3).masked_fill(x == 0, 1.0), lambda x: tp.stack([x[0] * 0, x[1] ** 3]),
     [0.0, 1]),
    ("norms of rows at 0", lambda x: (x.reshape(2, 2).norm(dim=1) ** 2).sum(), lambda x: (x * x).sum(), [0.0, 0, 1, 2]),
    ("det at rank 1", lambda x: tp.det(x.reshape(3, 3)),
     lambda x: (x[0] * (x[4] * x[8] - x[5] * x[7]) - x[1] * (x[3] * x[8] - x[5] * x[6])
                + x[2] * (x[3] * x[7] - x[4] * x[6])), [1.0] * 9),
]  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("name", "f", "reference", "at"), CASES, ids=[c[0] for c in CASES])
def test_third_derivatives(name, f, reference, at, order):
    x = tp.tensor(at, dtype=tp.float64)
    want = third(reference, "rrr")(x).numpy()
    want = np.where(np.isnan(want), 0, want)  # the reference's own: exp(-inf) times a power
    np.testing.assert_allclose(third(f, order)(x).numpy(), want, rtol=1e-7, atol=1e-9)
    both = vmap(third(f, order))(tp.stack([x, x])).numpy()
    np.testing.assert_allclose(both, [want, want], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("zeros", [(), (0,), (1, 4), (0, 2, 4), (0, 1, 2, 3, 4, 5)])
def test_third_derivatives_of_products_into_places(zeros, include, order):
    """Elements 0 and 1 are what lies in two places, into which the others are multiplied."""
    at = np.array([1.5, -2.0, 0.5, 3.0, -1.0, 2.0])
    at[list(zeros)] = 0
    index = tp.tensor([0, 1, 0, 0])

    def f(x):
        return x[:2].scatter_reduce(0, index, x[2:], "prod", include_self=include)

    def g(x):
        return x[:2].index_reduce(0, index, x[2:], "prod", include_self=include)

    def reference(x):
        first, second = x[2] * x[4] * x[5], x[3] * 1
        return tp.stack([x[0] * first, x[1] * second] if include else [first, second])

    x = tp.tensor(at, dtype=tp.float64)
    want = third(reference, "rrr")(x).numpy()
    for h in (f, g):
        np.testing.assert_allclose(third(h, order)(x).numpy(), want, atol=1e-12)
        np.testing.assert_allclose(vmap(third(h, order))(tp.stack([x, x]))[1].numpy(), want, atol=1e-12)
