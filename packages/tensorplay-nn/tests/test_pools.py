"""Pooling over parts, norms and random windows, and unpooling: values by hand, ties, zeros, bad input."""

import itertools

import numpy as np
import pytest

import tensorplay as tp
import tensorplay.nn.functional as F
from tensorplay import nn

D = tp.float64


def test_unpooling_undoes_pooling():
    x = tp.tensor(np.random.default_rng(0).permutation(48).reshape(1, 2, 4, 6).astype(float))
    values, places = F.max_pool2d(x, 2, return_indices=True)
    back = F.max_unpool2d(values, places, 2)
    tp.testing.assert_close(F.max_pool2d(back, 2), values)
    assert int((back != 0).sum()) <= 12 and back.shape == x.shape
    assert F.max_unpool2d(values, places, 2, output_size=(1, 2, 5, 7)).shape == (1, 2, 5, 7)


@pytest.mark.parametrize("dtype", [tp.float32, D])
def test_rows_of_windows_are_the_windows(dtype):
    rng = np.random.default_rng(2)
    for kernel, stride, padding, dilation in ((3, 2, 1, 1), (3, 1, 1, 2), ((2, 3), (1, 2), (1, 0), 1), (2, 3, 1, 3)):
        x = rng.integers(-3, 4, (1, 7, 140)).astype(float)
        x[rng.random(x.shape) < 0.05] = np.nan
        k, s, p, d = (np.broadcast_to(v, 2).tolist() for v in (kernel, stride, padding, dilation))
        values, places = F.max_pool2d(tp.tensor(x).to(dtype), kernel, stride, padding, dilation, return_indices=True)
        for q, r in itertools.product(range(values.shape[1]), range(values.shape[2])):
            rows, columns = ([o * b - c + i * e for i in range(a)] for o, a, b, c, e in zip((q, r), k, s, p, d))
            cells = [a * 140 + b for a in rows if 0 <= a < 7 for b in columns if 0 <= b < 140]
            best = cells[int(np.argmax(x.reshape(-1)[cells]))]
            assert int(places[0, q, r]) == best
            np.testing.assert_equal(float(values[0, q, r]), x.reshape(-1)[best])


def test_a_window_that_misses_the_input_gives_minus_infinity():
    assert F.max_pool1d(tp.ones(1, 1), 2, 2, 1, 2).tolist() == [[-np.inf]]
    assert F.max_pool2d(tp.ones(1, 9, 1), (1, 2), (1, 2), (0, 1), (1, 2))[0, 0].tolist() == [-np.inf]
    assert F.max_pool1d(tp.ones(1, 1, dtype=tp.int64), 2, 2, 1, 2).tolist() == [[-(2**63)]]


def test_parts_of_unequal_size_and_none():
    x = tp.tensor([[1.0, 9, 2, 3, 9, 0, 5]])
    values, places = F.adaptive_max_pool1d(x, 3, return_indices=True)
    assert values.tolist() == [[9, 9, 9]] and places.tolist() == [[1, 4, 4]]
    y = tp.tensor(np.arange(24.0).reshape(1, 4, 6))
    assert F.adaptive_max_pool2d(y, (None, 2)).tolist() == [[[2, 5], [8, 11], [14, 17], [20, 23]]]
    assert F.adaptive_max_pool2d(y, 0).shape == (1, 0, 0)


def test_norms_of_zeros_have_no_slope():
    x = tp.zeros(1, 1, 4, dtype=D, requires_grad=True)
    y = F.lp_pool1d(x, 2.0, 2)
    y.sum().backward()
    assert y.tolist() == [[[0, 0]]] and x.grad.tolist() == [[[0, 0, 0, 0]]]
    assert F.lp_pool1d(tp.tensor([[[3.0, -4.0, 0.0]]]), 2.0, 2, ceil_mode=True).tolist() == [[[5, 0]]]


def test_windows_at_random_places():
    tp.manual_seed(0)
    x = tp.tensor(np.arange(2 * 3 * 9 * 11.0).reshape(2, 3, 9, 11))
    values, places = F.fractional_max_pool2d(x, (2, 3), (4, 5), return_indices=True)
    assert values.shape == (2, 3, 4, 5) and (x.reshape(2, 3, -1).gather(2, places.reshape(2, 3, -1))
                                             == values.reshape(2, 3, -1)).all()
    assert (values[..., -1, -1] == x[..., -1, -1]).all()
    u = tp.tensor(np.zeros((2, 3, 2)))
    assert F.fractional_max_pool2d(x, 2, (4, 5), _random_samples=u).tolist()[0][0][0] == [12, 14, 16, 18, 21]
    module = nn.FractionalMaxPool3d(2, output_ratio=0.5)
    assert module(tp.randn(2, 4, 6, 8)).shape == (2, 2, 3, 4)
    one = x[:1, :1, :5, :5] * 1.0
    tp.testing.gradcheck(lambda x: F.fractional_max_pool2d(x, 2, (2, 3), _random_samples=u[:1, :1]), one, order=2)
    func = pytest.importorskip("tensorplay.func")
    got = func.vmap(lambda x, u: F.fractional_max_pool2d(x, 2, (4, 5), _random_samples=u.unsqueeze(0)))(x, u)
    tp.testing.assert_close(got, F.fractional_max_pool2d(x, 2, (4, 5), _random_samples=u))
    with pytest.raises(RuntimeError, match="randomness"):
        func.vmap(lambda x: F.fractional_max_pool2d(x, 2, 3))(x)


X = tp.ones(1, 2, 4, 6)
AT = tp.zeros(1, 2, 4, 6, dtype=tp.int64)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: F.adaptive_max_pool2d(X[0, 0], 2), RuntimeError, "3 or 4 dimensions"),
        (lambda: F.adaptive_max_pool2d(X[..., :0], 2), RuntimeError, "is empty"),
        (lambda: F.adaptive_max_pool2d(X, -1), RuntimeError, "output_size"),
        (lambda: F.adaptive_max_pool2d(X > 0, 2), TypeError, "bool"),
        (lambda: F.lp_pool2d(X, 2.0, 7), RuntimeError, "larger than"),
        (lambda: F.lp_pool2d(X, 0.0, 2), ValueError, "norm_type"),
        (lambda: F.lp_pool2d(X.to(tp.int64), 2.0, 2), TypeError, "int64"),
        (lambda: F.max_unpool2d(X, AT.to(tp.int32), 2), RuntimeError, "int64"),
        (lambda: F.max_unpool2d(X, AT[:, :1], 2), RuntimeError, r"\[1, 1, 4, 6\]"),
        (lambda: F.max_unpool2d(X[0, 0], AT[0, 0], 2), RuntimeError, "3 or 4 dimensions"),
        (lambda: F.max_unpool2d(X, AT + 96, 2), IndexError, "96"),
        (lambda: F.max_unpool2d(X, AT, 2, output_size=(10, 12)), ValueError, "between 7 and 9"),
        (lambda: F.max_unpool2d(X, AT, 2, output_size=(8,)), ValueError, "2 or 4 entries"),
        (lambda: F.max_unpool2d(X, AT, 2, padding=9), RuntimeError, "padding"),
        (lambda: F.fractional_max_pool2d(X, 2), ValueError, "output_ratio"),
        (lambda: F.fractional_max_pool2d(X, 2, output_ratio=1.5), ValueError, "between 0 and 1"),
        (lambda: F.fractional_max_pool2d(X, 2, 4), RuntimeError, "do not fit"),
        (lambda: F.fractional_max_pool2d(X, 2, 2, _random_samples=tp.ones(2, 2)), RuntimeError, "_random_samples"),
        (lambda: F.fractional_max_pool2d(X.to(tp.int64), 2, 2), TypeError, "int64"),
        (lambda: F.fractional_max_pool3d(X[0, 0], 2, 2), RuntimeError, "4 or 5 dimensions"),
        (lambda: nn.FractionalMaxPool2d(2), ValueError, "one of"),
        (lambda: nn.FractionalMaxPool2d(2, output_ratio=2.0), ValueError, "between 0 and 1"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
