"""Graphs far deeper than a stack: built, differentiated, released."""

import gc

import pytest

import tensorplay as tp
from tensorplay._clib import lib
from tensorplay.func import grad, jvp, vjp
from tensorplay.testing import assert_close

N = 1_000_000
PYTHON = 100_000


def chain(x, n):
    for _ in range(n):
        x = x + 1.0
    return x


@pytest.mark.slow
def test_a_million_operators_backward():
    x = tp.zeros(2, dtype=tp.float64, requires_grad=True)
    y = chain(x, N)
    y.sum().backward()
    assert_close(x.grad, tp.ones(2, dtype=tp.float64))
    assert_close(y.detach(), tp.full((2,), float(N), dtype=tp.float64))
    del y


@pytest.mark.slow
def test_a_million_operators_released_unused():
    gc.collect()
    before = lib.tp_live_tensors()
    x = tp.zeros(2, requires_grad=True)
    y = chain(x, N)
    del y, x
    gc.collect()
    assert lib.tp_live_tensors() <= before + 2


@pytest.mark.slow
def test_a_million_operators_under_grad():
    assert_close(grad(lambda x: chain(x, N).sum())(tp.zeros(2)), tp.ones(2))


@pytest.mark.slow
def test_a_long_chain_twice_and_second_order():
    n = 100_000
    _, pull = vjp(lambda x: chain(x, n) * x, tp.ones(2, dtype=tp.float64))
    for _ in range(2):
        assert_close(pull(tp.ones(2, dtype=tp.float64))[0], tp.full((2,), n + 2.0, dtype=tp.float64))
    g = grad(lambda x: grad(lambda y: (chain(y, n) * y).sum())(x).sum())(tp.ones(2, dtype=tp.float64))
    assert_close(g, tp.full((2,), 2.0, dtype=tp.float64))
    _, t = jvp(lambda x: chain(x, n), (tp.ones(2),), (tp.ones(2),))
    assert_close(t, tp.ones(2))


class AddOne(tp.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1.0

    @staticmethod
    def backward(ctx, g):
        return g


def python_chain(x, n=PYTHON):
    for _ in range(n):
        x = AddOne.apply(x)
    return x


@pytest.mark.slow
def test_a_hundred_thousand_functions_written_in_python():
    x = tp.zeros(2, requires_grad=True)
    y = python_chain(x)
    y.sum().backward()
    assert_close(x.grad, tp.ones(2))


@pytest.mark.slow
def test_a_hundred_thousand_functions_released_unused():
    gc.collect()
    before = lib.tp_live_tensors()
    x = tp.zeros(2, requires_grad=True)
    y = python_chain(x)
    del y, x
    gc.collect()
    assert lib.tp_live_tensors() <= before + 2


@pytest.mark.slow
def test_a_hundred_thousand_functions_under_grad():
    assert_close(grad(lambda x: python_chain(x, 20_000).sum())(tp.zeros(2)), tp.ones(2))


def test_each_node_is_visited_once():
    """A graph with 2^60 paths."""

    def doubled(x):
        for _ in range(60):
            x = (x + x) * 0.5
        return x

    x = tp.ones(2, dtype=tp.float64, requires_grad=True)
    doubled(x).sum().backward()
    assert_close(x.grad, tp.ones(2, dtype=tp.float64))
    assert_close(grad(lambda t: doubled(t).sum())(x.detach()), tp.ones(2, dtype=tp.float64))


def test_a_long_chain_of_views_and_writes():
    x = tp.zeros(4, dtype=tp.float64, requires_grad=True)
    y = x.clone()
    for i in range(2000):
        y[i % 4] += 1.0
    y.sum().backward()
    assert_close(x.grad, tp.ones(4, dtype=tp.float64))
    assert_close(y.detach(), tp.full((4,), 500.0, dtype=tp.float64))
