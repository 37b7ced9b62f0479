"""Distinct elements, histograms, searches: against NumPy, and what is refused."""

import numpy as np
import pytest

import tensorplay as tp

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64", "complex128"])
def test_unique_is_numpys(dtype):
    a = RNG.integers(0, 4, (5, 3)).astype(dtype)
    for x in (a, a[:0], a[0, 0]):
        values, inverse, counts = tp.unique(tp.tensor(x), return_inverse=True, return_counts=True)
        v, i, c = np.unique(x, return_inverse=True, return_counts=True)
        np.testing.assert_array_equal(values.numpy(), v)
        np.testing.assert_array_equal(inverse.numpy(), i.reshape(x.shape))
        np.testing.assert_array_equal(counts.numpy(), c)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_unique_slices_are_numpys(dim):
    a = RNG.integers(0, 2, (4, 6, 2))
    a = np.concatenate([a, a.take([0], dim)], dim)
    values, inverse, counts = tp.tensor(a).unique(True, True, True, dim)
    v, i, c = np.unique(a, return_inverse=True, return_counts=True, axis=dim)
    np.testing.assert_array_equal(values.numpy(), v)
    np.testing.assert_array_equal(inverse.numpy(), i.reshape(-1))
    np.testing.assert_array_equal(counts.numpy(), c)


def test_every_nan_is_its_own_and_last():
    values, counts = tp.unique(tp.tensor([np.nan, 1.0, np.nan, 1.0]), return_counts=True)
    assert values[0] == 1 and values[1:].isnan().all() and counts.tolist() == [2, 1, 1]


def test_runs():
    values, inverse, counts = tp.unique_consecutive(tp.tensor([2, 2, 1, 2, 2, 2]), True, True)
    assert values.tolist() == [2, 1, 2] and inverse.tolist() == [0, 0, 1, 2, 2, 2] and counts.tolist() == [2, 1, 3]
    assert tp.unique_consecutive(tp.tensor([[1, 2], [1, 2], [0, 1]]), dim=0).tolist() == [[1, 2], [0, 1]]


def test_long_columns_are_sorted():
    a = RNG.integers(0, 1000, 5000)
    assert tp.unique(tp.tensor(a)).tolist() == np.unique(a).tolist()


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_histogramdd_is_numpys(density, weighted):
    points, weight = RNG.standard_normal((50, 3)), RNG.uniform(0.5, 1.5, 50)
    kwargs = {"weight": tp.tensor(weight)} if weighted else {}
    edges = [np.array([-2.0, -0.3, 1.0, 2.5])] * 3
    for bins, theirs in (([3, 2, 4], [3, 2, 4]), ([tp.tensor(e) for e in edges], edges)):
        hist, found = tp.histogramdd(tp.tensor(points), bins, density=density, **kwargs)
        h, e = np.histogramdd(points, theirs, density=density, weights=weight if weighted else None)
        np.testing.assert_allclose(hist.numpy(), h, rtol=1e-12)
        for mine, its in zip(found, e, strict=True):
            np.testing.assert_allclose(mine.numpy(), its, rtol=1e-12)


@pytest.mark.parametrize(
    "error,call",
    [
        (IndexError, lambda: tp.unique(tp.zeros(2, 2), dim=2)),
        (ValueError, lambda: tp.unique(tp.zeros(2, 0), dim=0)),
        (TypeError, lambda: tp.unique([1, 2])),
        (ValueError, lambda: tp.histogramdd(tp.zeros(3), 2)),
        (ValueError, lambda: tp.histogramdd(tp.zeros(3, 2), [2])),
        (ValueError, lambda: tp.histogramdd(tp.zeros(3, 2), 2, range=[0, 1])),
        (TypeError, lambda: tp.histogramdd(tp.zeros(3, 2, dtype=tp.int64), 2)),
        (ValueError, lambda: tp.searchsorted(tp.zeros(2, 3), tp.zeros(3, 1))),
        (ValueError, lambda: tp.searchsorted(tp.zeros(3), 1.0, side="middle")),
        (ValueError, lambda: tp.searchsorted(tp.zeros(3), 1.0, side="left", right=True)),
        (ValueError, lambda: tp.bucketize(1.0, tp.zeros(2, 2))),
        (TypeError, lambda: tp.isin(tp.zeros(2, dtype=tp.complex64), tp.zeros(2))),
        (ValueError, lambda: tp.bincount(tp.zeros(2, 2, dtype=tp.int64))),
        (IndexError, lambda: tp.bincount(tp.tensor([-1, 2]))),
        (TypeError, lambda: tp.bincount(tp.zeros(2))),
        (ValueError, lambda: tp.histc(tp.zeros(2), 0)),
        (ValueError, lambda: tp.histc(tp.zeros(2), 3, 2, 1)),
        (ValueError, lambda: tp.histogram(tp.zeros(2), 3, range=[1.0])),
        (ValueError, lambda: tp.quantile(tp.zeros(0), 0.5)),
        (ValueError, lambda: tp.quantile(tp.zeros(2), 1.5)),
        (ValueError, lambda: tp.quantile(tp.zeros(2), 0.5, interpolation="cubic")),
        (TypeError, lambda: tp.quantile(tp.zeros(2, dtype=tp.int64), 0.5)),
        (ValueError, lambda: tp.mode(tp.zeros(2, 0))),
        (ValueError, lambda: tp.zeros(3).scatter_reduce(0, tp.tensor([0]), tp.ones(1), "max")),
        (IndexError, lambda: tp.zeros(3).scatter_reduce(0, tp.tensor([3]), tp.ones(1), "amax")),
        (TypeError, lambda: tp.zeros(3).scatter_reduce(0, tp.tensor([0]), tp.ones(1, dtype=tp.int64), "amax")),
        (ValueError, lambda: tp.zeros(3, 2).index_reduce(0, tp.tensor([0]), tp.ones(2, 2), "amax")),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(error, call):
    with pytest.raises(error, match=r"^\w+: [^\n]+$"):
        call()


def test_extremes_of_scatter_reduce_share_the_gradient_of_ties():
    x = tp.tensor([1.0, 5.0], dtype=tp.float64, requires_grad=True)
    v = tp.tensor([1.0, 1.0, 2.0], dtype=tp.float64, requires_grad=True)
    x.scatter_reduce(0, tp.tensor([0, 0, 1]), v, "amax").sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1 / 3, 1])
    np.testing.assert_allclose(v.grad.numpy(), [1 / 3, 1 / 3, 0])


@pytest.mark.parametrize("how", ["linear", "lower", "higher", "nearest", "midpoint"])
def test_places_of_quantiles_are_rounded_as_the_data(how):
    a = np.arange(51, dtype="f4")
    for q in np.arange(0, 1.001, 0.02):
        place = np.float32(q) * np.float32(50)  # 0.96 * 50 is 48 in single precision
        below, above = a[int(np.floor(place))], a[int(np.ceil(place))]
        want = {"linear": place, "lower": below, "higher": above, "nearest": a[int(np.rint(place))],
                "midpoint": (below + above) / 2}[how]  # fmt: skip
        assert tp.quantile(tp.from_numpy(a), float(q), interpolation=how).item() == want
        assert tp.nanquantile(tp.from_numpy(a), float(q), interpolation=how).item() == want


def test_ranges_without_width_get_one_around_them():
    x = tp.ones(3)
    want = np.histogram(np.ones(3), 4, (1, 1))
    got = x.histogram(4, range=(1.0, 1.0))
    np.testing.assert_array_equal(got[0].numpy(), want[0])
    np.testing.assert_array_equal(got[1].numpy(), want[1])
    edges = tp.histogramdd(tp.ones(3, 2), [2, 2], range=[1.0, 1.0, 0.0, 0.0])[1]
    np.testing.assert_array_equal(edges[1].numpy(), [-0.5, 0, 0.5])
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="^histc: no range from .*give min and max"):
            tp.histc(tp.tensor([0.0, bad]))
        assert tp.histc(tp.tensor([0.0, bad]), 2, 0, 1).tolist() == [1, 0]


def test_quantiles_next_to_infinities():
    for values, q, want in (([-np.inf, 1, 2], 0.25, -np.inf), ([1, np.inf, np.inf], 0.25, np.inf),
                            ([-np.inf, -np.inf, 1], 0.4, -np.inf), ([1, 2, np.inf], 0.5, 2)):  # fmt: skip
        assert tp.quantile(tp.tensor(values, dtype=tp.float64), q).item() == want
