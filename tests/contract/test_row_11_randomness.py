"""Rows 11 and 12: the randomness flag, for every random operator, at every level of a nest."""

import pytest

import tensorplay as tp
import tensorplay.nn.functional as F
from tensorplay.func import chunk_vmap, grad, jacfwd, vmap
from tensorplay.testing import assert_close

N = 8
X = tp.ones(4, N)

RANDOM = {
    "rand": lambda x: tp.rand(N),
    "randn": lambda x: tp.randn(N),
    "randn 0-d": lambda x: tp.randn(()) + x * 0,
    "randint": lambda x: tp.randint(10**6, (N,)),
    "randperm": lambda x: tp.randperm(50),
    "normal": lambda x: tp.normal(0.0, 1.0, (N,)),
    "rand_like": tp.rand_like,
    "randn_like": tp.randn_like,
    "randint_like": lambda x: tp.randint_like(x, 10**6),
    "normal of tensors": lambda x: tp.normal(x, x),
    "bernoulli": lambda x: tp.bernoulli(x.repeat(8) * 0.5),
    "dropout": lambda x: F.dropout(x.repeat(8), 0.5),
    "new normal_": lambda x: tp.zeros(N).normal_(),
    "new uniform_": lambda x: tp.zeros(N).uniform_(),
    "normal_ of the mapped": lambda x: x.clone().normal_(),
    "multinomial": lambda x: tp.multinomial(tp.ones(500), 20),
    "dropout of what is captured": lambda x: F.dropout(tp.ones(64), 0.5),
}


def all_equal(t):
    return all(bool((t[0] == t[i]).all()) for i in range(1, t.shape[0]))


def all_differ(t):
    return all(not bool((t[i] == t[j]).all()) for i in range(t.shape[0]) for j in range(i))


@pytest.mark.parametrize("flag", ["sometimes", None, 1, "Error", True])
@pytest.mark.parametrize("make", [vmap, chunk_vmap])
def test_another_value_is_refused_before_the_call(flag, make):
    with pytest.raises(RuntimeError, match="randomness must be 'error', 'different' or 'same'"):
        make(lambda x: x, randomness=flag)


@pytest.mark.parametrize("name", RANDOM)
def test_error_is_the_default(name):
    for make in (lambda f: vmap(f), lambda f: vmap(f, randomness="error")):
        with pytest.raises(RuntimeError) as caught:
            make(RANDOM[name])(X)
        assert "random operations are not allowed under randomness=error" in str(caught.value)


@pytest.mark.parametrize("name", RANDOM)
def test_same_and_different(name):
    f = RANDOM[name]
    if name != "dropout of what is captured":
        assert all_equal(vmap(f, randomness="same")(X))
    else:
        assert all_equal(vmap(lambda x: f(x) + 0 * x[0], randomness="same")(X))
    assert all_differ(vmap(f, randomness="different")(X))


@pytest.mark.parametrize("flag", ["same", "different"])
@pytest.mark.parametrize("name", RANDOM)
def test_the_seed_decides(name, flag):
    def draw(seed):
        tp.manual_seed(seed)
        return vmap(RANDOM[name], randomness=flag)(X)

    assert_close(draw(3), draw(3), rtol=0, atol=0)
    assert not bool((draw(3) == draw(4)).all())


@pytest.mark.parametrize("name", [n for n in RANDOM if n != "normal_ of the mapped"])
def test_nested_flags(name):
    f = RANDOM[name]
    x = tp.ones(3, 4, N)

    def nest(outer, inner):
        return vmap(lambda row: vmap(f, randomness=inner)(row), randomness=outer)(x)

    def columns(t):
        return t.movedim(1, 0)

    t = nest("different", "same")
    assert all_differ(t) and all(all_equal(row) for row in t)
    t = nest("same", "different")
    assert all_equal(t) and all(all_differ(row) for row in t)
    t = nest("same", "same")
    assert all_equal(t) and all_equal(columns(t))
    t = nest("different", "different")
    flat = t.reshape(12, *t.shape[2:])
    assert all_differ(flat)
    for outer, inner in (("error", "same"), ("error", "different"), ("same", "error"), ("different", "error")):
        with pytest.raises(RuntimeError, match="randomness=error"):
            nest(outer, inner)


def test_the_example_of_the_reference():
    def add_noise(x):
        return x + tp.randn(())

    x = tp.ones(3)
    r = vmap(add_noise, randomness="same")(x)
    assert (r == r[0]).all()
    r = vmap(add_noise, randomness="different")(x)
    assert (r != r[0]).any()


def test_under_derivatives():
    w = tp.ones(N, dtype=tp.float64)

    def f(x):
        return (F.dropout(x, 0.5) * x).sum()

    g = vmap(grad(f), randomness="different")(tp.ones(4, 64, dtype=tp.float64))
    assert all_differ(g) and set(g.reshape(-1).tolist()) <= {0.0, 4.0}
    g = grad(lambda x: vmap(lambda y: F.dropout(x, 0.5) * y, randomness="same")(tp.ones(3, dtype=tp.float64)).sum())(w)
    assert set(g.tolist()) <= {0.0, 6.0}
    tp.manual_seed(0)
    a = jacfwd(lambda x: F.dropout(x, 0.5), randomness="same")(w)
    assert_close(a, tp.diag(tp.diagonal(a)))


def test_generators():
    g = tp.Generator().manual_seed(5)
    want = tp.randn(N, generator=tp.Generator().manual_seed(5))
    got = vmap(lambda x: tp.randn(N, generator=g) + 0 * x, randomness="same")(tp.ones(2, N))
    assert_close(got, tp.stack([want, want]))
