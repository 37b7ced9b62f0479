"""Writing into tensors that are made inside a mapped function: directly, through views, nested, under derivatives."""

import pytest

import tensorplay as tp
from tensorplay.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from tensorplay.testing import assert_close

tp.manual_seed(0)
X = tp.randn(4, 3, dtype=tp.float64)
F64 = {"dtype": tp.float64}


def item(x):
    out = tp.zeros(3, **F64)
    out[0] = x.sum()
    return out


def through_a_view(x):
    out = tp.zeros(2, 3, **F64)
    out[1][1:] = x[:2]
    out.t()[0].add_(x[:2])
    out.view(6)[5] = x[2] * x[2]
    return out


def through_a_view_taken_before(x):
    out = tp.zeros(2, 3, **F64)
    row = out[0]
    column = out[:, 1]
    column[1] = x[1]
    row.copy_(x)
    return out * 1 + row.sum() + column[0]


def loop_over_elements(x):
    out = tp.empty(3, **F64)
    for i in range(3):
        out[i] = x[: i + 1].prod()
    return out


def from_the_outside_in(x):
    out = x.new_zeros(3)
    out += x
    out[tp.tensor([2, 0])] = x[:2].sin()
    out[tp.tensor([True, False, False])] *= 2.0
    return out


def masked(x):
    out = tp.full((3,), 7.0, **F64)
    out.masked_fill_(tp.tensor([False, True, False]), 0.0)
    out[1:] -= x[1:].exp()
    return out


def accumulated(x):
    total = tp.zeros((), **F64)
    for part in x.unbind(0):
        total += part * part
    total.mul_(x[0])
    return total.expand(3) + x


def scattered(x):
    out = tp.zeros(5, **F64)
    out.index_add_(0, tp.tensor([4, 4, 1]), x)
    out.scatter_(0, tp.tensor([0]), x[:1])
    return out


def swapped(x):
    out = x.clone()
    out[0], out[2] = out[2].clone(), out[0].clone()
    return out


def listed(x):
    rows = [tp.zeros(2, **F64) for _ in range(2)]
    for i, row in enumerate(rows):
        row[i] = x[i]
    return tp.stack(rows)


ALL = [
    item,
    through_a_view,
    through_a_view_taken_before,
    loop_over_elements,
    from_the_outside_in,
    masked,
    accumulated,
    scattered,
    swapped,
    listed,
]


def looped(f, x):
    return tp.stack([f(row) for row in x.unbind(0)])


@pytest.mark.parametrize("f", ALL)
def test_vmap(f):
    assert_close(vmap(f)(X), looped(f, X))
    assert_close(vmap(f, 1)(X.t()), looped(f, X))
    assert vmap(f)(X[:0]).shape == (0, *f(X[0]).shape)


@pytest.mark.parametrize("f", ALL)
def test_nested_vmap(f):
    x = tp.stack([X, X * 2, X - 1])
    want = tp.stack([looped(f, rows) for rows in x.unbind(0)])
    assert_close(vmap(vmap(f))(x), want)
    assert_close(vmap(vmap(f, 1), 2)(x.permute(2, 1, 0)), want)


@pytest.mark.parametrize("f", ALL)
def test_derivatives(f):
    x = X[0]
    eps = 1e-6
    basis = tp.eye(3, **F64)
    numeric = tp.stack([(f(x + eps * e) - f(x - eps * e)) / (2 * eps) for e in basis.unbind(0)], -1)
    assert_close(jacrev(f)(x), numeric, rtol=1e-6, atol=1e-6)
    assert_close(jacfwd(f)(x), numeric, rtol=1e-6, atol=1e-6)
    want = tp.stack([jacrev(f)(r) for r in X.unbind(0)])
    assert_close(vmap(jacrev(f))(X), want)
    assert_close(vmap(jacfwd(f))(X), want)
    assert_close(grad(lambda b: vmap(f)(b).sum())(X), looped(grad(lambda r: f(r).sum()), X))
    assert_close(vmap(grad(lambda r: f(r).sum()))(X), looped(grad(lambda r: f(r).sum()), X))
    assert_close(jvp(vmap(f), (X,), (X,))[1], looped(lambda r: jvp(f, (r,), (r,))[1], X))
    out, pull = vjp(vmap(f), X)
    assert_close(pull(tp.ones_like(out))[0], looped(grad(lambda r: f(r).sum()), X))


@pytest.mark.parametrize("f", ALL)
def test_second_derivatives(f):
    scalar = lambda r: (f(r) ** 2).sum()
    want = looped(hessian(scalar), X)
    eps = 1e-5
    g = grad(scalar)
    numeric = tp.stack([(g(X[0] + eps * e) - g(X[0] - eps * e)) / (2 * eps) for e in tp.eye(3, **F64).unbind(0)], -1)
    assert_close(want[0], numeric, rtol=1e-5, atol=1e-5)
    assert_close(vmap(hessian(scalar))(X), want)
    assert_close(vmap(jacrev(jacrev(scalar)))(X), want)
    assert_close(vmap(jacfwd(jacfwd(scalar)))(X), want)


def test_made_between_two_levels():
    """Made at the outer level, written at the inner one with a value of the inner: that is a captured tensor."""

    def outer(x):
        out = tp.zeros(3, **F64)

        def inner(y):
            out[0] = y
            return y

        return vmap(inner)(x)

    with pytest.raises(RuntimeError, match="captured"):
        vmap(outer)(X)

    def fine(x):
        out = tp.zeros(3, **F64)
        out[0] = x[1]  # mapped by the outer level
        return vmap(lambda y: y * out)(x)

    assert_close(vmap(fine)(X), looped(fine, X))

    def unmapped_inside(x):
        out = tp.zeros(3, **F64)

        def inner(y):
            out[1] = x[0]  # the same for all samples of the inner level
            return y * out

        return vmap(inner)(x)

    assert_close(vmap(unmapped_inside)(X), looped(unmapped_inside, X))


def test_constants_made_outside_stay_as_they_are():
    kept = tp.zeros(3, **F64)

    def f(x):
        out = kept.clone()
        out[0] = x.sum()
        return out

    assert_close(vmap(f)(X), looped(f, X))
    assert_close(kept, tp.zeros(3, **F64))


def test_written_values_keep_their_own_history():
    def f(x):
        out = tp.zeros(2, **F64)
        out[0] = x[0] * 3
        first = out.clone()
        out[0] = x[1] * 5
        return first + 2 * out

    want = tp.tensor([[3.0, 10.0, 0.0], [0.0, 0.0, 0.0]], **F64)
    assert_close(jacrev(f)(X[0]), want)
    assert_close(jacfwd(f)(X[0]), want)
    assert_close(vmap(jacrev(f))(X), want.expand(4, 2, 3))
