"""embedding_bag against a loop over its bags: offsets, padding, weights, derivatives, maps."""

import itertools

import numpy as np
import pytest

import tensorplay as tp
import tensorplay.nn.functional as F
from tensorplay.testing import gradcheck

RNG = np.random.default_rng(0)
WEIGHT = RNG.standard_normal((6, 3))
MODES = [(m, p) for m, p in itertools.product(("sum", "mean", "max"), (False, True)) if m == "sum" or not p]


def reference(numbers, offsets, mode, factors, last, padding):
    ends = [*offsets[1:], *([] if last else [len(numbers)])]
    out = np.zeros((len(offsets) - last, 3))
    for b, (start, end) in enumerate(zip(offsets, ends, strict=False)):
        at = [k for k in range(start, end) if numbers[k] != padding]
        if at:
            rows = WEIGHT[numbers[at]] * (1 if factors is None else factors[at][:, None])
            out[b] = {"sum": rows.sum, "mean": rows.mean, "max": rows.max}[mode](0)
    return out


@pytest.mark.parametrize("padding", [None, 2])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("mode", "weighted"), MODES)
@pytest.mark.parametrize(("n", "offsets"), [(9, [0, 2, 2, 5]), (9, [0, 0, 9]), (0, [0, 0]), (9, [0, 4, 7])])
def test_bags_are_the_loop(n, offsets, mode, weighted, last, padding):
    numbers, at = RNG.integers(0, 6, n), tp.tensor(offsets)
    factors = RNG.standard_normal(n) if weighted else None
    tensors = [tp.tensor(WEIGHT), *([tp.tensor(factors)] if weighted else [])]

    def f(weight, factors=None, numbers=numbers, at=at):
        numbers = numbers if isinstance(numbers, tp.Tensor) else tp.tensor(numbers)
        return F.embedding_bag(numbers, weight, at, mode=mode, include_last_offset=last, padding_idx=padding,
                               per_sample_weights=factors)

    np.testing.assert_allclose(f(*tensors).numpy(), reference(numbers, offsets, mode, factors, last, padding))
    if not n:
        return
    gradcheck(f, tuple(tensors), order=2)
    vmap = pytest.importorskip("tensorplay.func").vmap
    many = RNG.integers(0, 6, (3, n))
    want = [reference(row, offsets, mode, factors, last, padding) for row in many]
    np.testing.assert_allclose(vmap(lambda i: f(*tensors, numbers=i))(tp.tensor(many)).numpy(), want)
    starts = np.array([offsets, sorted(offsets[:1] + list(RNG.integers(0, n, len(offsets) - 1)))])
    want = [reference(numbers, list(row), mode, factors, last, padding) for row in starts]
    got = vmap(lambda o: f(*tensors, *([None] if not weighted else []), numbers, o))(tp.tensor(starts))
    np.testing.assert_allclose(got.numpy(), want)


def test_the_first_of_equal_maxima_gets_the_gradient():
    weight = tp.ones(3, 2, dtype=tp.float64, requires_grad=True)
    F.embedding_bag(tp.tensor([2, 0, 1]), weight, tp.tensor([0, 1]), mode="max").sum().backward()
    assert weight.grad.tolist() == [[1, 1], [0, 0], [1, 1]]


def test_memory_grows_with_the_rows_not_with_rows_times_bags():
    n = 40000  # a mask of rows and bags would take 1.6 GB
    weight = tp.ones(10, 1)
    for mode in ("sum", "mean", "max"):
        out = F.embedding_bag(tp.zeros(n, dtype=tp.int64), weight, tp.arange(n), mode=mode)
        assert out.shape == (n, 1) and float(out.sum()) == n


@pytest.mark.parametrize(
    ("offsets", "options", "error", "words"),
    [
        ([1, 2], {}, RuntimeError, "first offset must be 0, got 1"),
        ([0, 6], {}, RuntimeError, "last offset 6"),
        ([0, 3, 2], {}, RuntimeError, "must not fall"),
        ([0.0, 1.0], {}, RuntimeError, "must be integers"),
        ([[0]], {}, ValueError, "1-d offsets"),
        (None, {}, ValueError, "1-d offsets"),
        ([0], {"mode": "min"}, ValueError, "'min'"),
        ([0], {"per_sample_weights": tp.ones(5)}, NotImplementedError, "mode 'sum'"),
        ([0], {"per_sample_weights": tp.ones(4), "mode": "sum"}, ValueError, r"\[4\]"),
    ],
)
def test_bad_offsets(offsets, options, error, words):
    offsets = None if offsets is None else tp.tensor(offsets)
    with pytest.raises(error, match=words):
        F.embedding_bag(tp.tensor([0, 1, 2, 3, 3]), tp.ones(4, 3), offsets, **options)
    with pytest.raises(RuntimeError, match="at least one"):
        empty = tp.zeros(0, dtype=tp.int64)
        F.embedding_bag(tp.tensor([0]), tp.ones(4, 3), empty, include_last_offset=True)
