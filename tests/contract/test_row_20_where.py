"""Row 20: conditions are written with where, and the branch not taken leaks no NaN where its formula is finite."""

import pytest

import tensorplay as tp
from tensorplay.func import grad, hessian, jacfwd, jvp, vmap
from tensorplay.testing import assert_close

X = tp.tensor([-2.0, -0.5, 0.5, 3.0], dtype=tp.float64)


def test_where_in_place_of_if():
    f = lambda x: tp.where(x > 0, x.sin(), x * x)
    assert_close(vmap(f)(X), tp.stack([x.sin() if x > 0 else x * x for x in X.unbind(0)]))
    want = tp.where(X > 0, X.cos(), 2 * X)
    assert_close(vmap(grad(f))(X), want)
    assert_close(grad(lambda x: f(x).sum())(X), want)
    assert_close(vmap(lambda x: jvp(f, (x,), (tp.ones_like(x),))[1])(X), want)


def test_the_double_where_recipe():
    def safe(x):
        inside = tp.where(x > 0, x, 1.0)
        return tp.where(x > 0, tp.sqrt(inside), 0.0)

    x = tp.tensor([-1.0, 0.0, 4.0], dtype=tp.float64)
    want = tp.tensor([0.0, 0.0, 0.25], dtype=tp.float64)
    assert_close(grad(lambda x: safe(x).sum())(x), want)
    assert_close(vmap(grad(safe))(x), want)
    assert_close(tp.diagonal(jacfwd(safe)(x)), want)
    assert_close(vmap(hessian(safe))(x), tp.tensor([0.0, 0.0, -1 / 32], dtype=tp.float64))


@pytest.mark.parametrize(
    "name, f, at, want",
    [
        ("abs", lambda x: tp.where(x > 0, x.abs(), 0.0), 0.0, 0.0),
        ("norm", lambda x: x.reshape(1).norm(), 0.0, 0.0),
        ("pow", lambda x: tp.where(x > 0, x**3, x**2), 0.0, 0.0),
        ("sinc", lambda x: tp.sinc(x), 0.0, 0.0),
        ("xlogy", lambda x: tp.xlogy(x, x + 1.0), 0.0, 0.0),
        ("pow of zero", lambda x: x**0, 0.0, 0.0),
        ("masked_fill", lambda x: x.exp().masked_fill(x < 1, 0.0), 0.0, 0.0),
        ("clamp", lambda x: x.clamp(1.0, 2.0) * 3, 0.0, 0.0),
    ],
)
def test_finite_formulas_have_finite_gradients(name, f, at, want):
    x = tp.tensor(at, dtype=tp.float64)
    assert_close(grad(lambda t: f(t).sum())(x), tp.tensor(want, dtype=tp.float64))


def test_a_mask_of_infinities_leaks_nothing():
    x = tp.tensor([1.0, 2.0, 3.0], dtype=tp.float64)
    keep = tp.tensor([True, False, True])
    f = lambda x: x.masked_fill(~keep, float("-inf")).softmax(0)[0]
    g = grad(f)(x)
    assert bool(g.isfinite().all()) and g[1].item() == 0
    assert bool(hessian(f)(x).isfinite().all())
    g = grad(lambda x: tp.where(keep, x, float("-inf")).logsumexp(0))(x)
    assert bool(g.isfinite().all()) and g[1].item() == 0
