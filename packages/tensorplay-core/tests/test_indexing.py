"""x[index] and x[index] = value against NumPy."""

import itertools

import numpy as np
import pytest

import tensorplay as tp

A = np.arange(2 * 3 * 4 * 5, dtype=np.float64).reshape(2, 3, 4, 5)
MASK1 = np.array([True, False, True])
MASK2 = np.arange(12).reshape(3, 4) % 3 == 0
I = np.array([1, 0, 1])
J = np.array([[0, 2, -1]])

BASIC = [
    0, -1, np.int64(1), slice(None), slice(1, None), slice(None, None, 2), slice(-2, 100), slice(3, 1), Ellipsis, None,
    (), (0, 1), (0, 1, 2, 3), (Ellipsis, 1), (0, Ellipsis, -1), (slice(None), None, 1), (None, None, Ellipsis, None),
    (slice(0, 1), slice(1, 3), 2, slice(None, None, 3)), (Ellipsis, None), (1, slice(None), slice(None, -1)),
]  # fmt: skip

ADVANCED = [
    I, [1, 0], [[1, 0], [0, 0]], (I, I), (slice(None), J), (slice(None), [2, 0], [1, 1]), (I, slice(None), I),
    (0, I), (0, slice(None), I), (I, 0), (I, slice(None), 0), (slice(None), 1, I), (slice(None), I, None, I),
    (I, None, I), (None, I, I), (Ellipsis, I), (Ellipsis, I, 0), (I, Ellipsis, I), (slice(None), I, slice(1, 3), J),
    (0, Ellipsis, J), (slice(None), 0, slice(None), I), (0, 1, I), (0, 1, slice(None), I),
    (I, J), (J, I, slice(None), J), (slice(None), MASK1), (slice(None), MASK2), (0, MASK2),
    (slice(None), slice(1, 3), I),
    (0, MASK1, slice(None), I[:2]), (slice(None), MASK1, I[:2]), (MASK1[:2],), (Ellipsis, MASK2, slice(None)),
    A > 17, True, False, (True, 0), (I, True), np.array(1), (slice(None), np.array(2)), [], (slice(None), []),
    range(2), (slice(None), slice(None), MASK2[0]), [True, False], ([0, 1], [True, False, False]),
]  # fmt: skip


def same(index):
    """The index with arrays as tensors."""
    if isinstance(index, np.ndarray):
        return tp.tensor(index)
    if isinstance(index, tuple):
        return tuple(map(same, index))
    return index


def valid(index):
    try:
        A[index]
    except IndexError:
        return False
    return True


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=repr)
def test_reading(index):
    if not valid(index):
        with pytest.raises(IndexError):
            tp.from_numpy(A)[index]
        return
    for x in (tp.from_numpy(A), tp.from_numpy(A.copy().transpose(3, 2, 1, 0)).permute(3, 2, 1, 0)):
        for i in (index, same(index)):
            np.testing.assert_array_equal(x[i].numpy(), A[index])


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=repr)
def test_writing(index):
    if not valid(index):
        return
    shape = A[index].shape
    rng = np.random.default_rng(0)
    # unique places only: with several values for one place NumPy promises no order either
    places = np.arange(A.size).reshape(A.shape)[index]
    unique = len(np.unique(places)) == places.size
    values = [-1.5, 3, np.float64(2), np.full((1, 1) + (1,) * len(shape), 7.0)]
    if unique:
        values += [rng.standard_normal(shape), rng.standard_normal(shape[1:]), rng.standard_normal((1, 1, *shape))]
    for v in values:
        for convert in (lambda x: x, lambda x: tp.tensor(x) if isinstance(x, np.ndarray) else x):
            b = A.copy()
            w = np.asarray(v)  # NumPy is strict about extra dimensions of 1 in places
            b[index] = np.broadcast_to(w.reshape(w.shape[max(w.ndim - len(shape), 0) :]), shape)
            x = tp.tensor(A)
            x[same(index)] = convert(v)
            np.testing.assert_array_equal(x.numpy(), b)


def test_reading_gives_views_for_basic_indices():
    a = A.copy()
    x = tp.from_numpy(a)
    x[0, 1][2].fill_(-7)
    assert (a[0, 1, 2] == -7).all()
    x[..., 1:3].fill_(5)
    assert (a[..., 1:3] == 5).all()
    y = x[()]
    y.fill_(1)
    assert (a == 1).all()


def test_random_indices_against_numpy():
    rng = np.random.default_rng(5)
    makers = [
        lambda n: int(rng.integers(-n, n)), lambda n: slice(None), lambda n: rng.integers(-n, n, 3),
        lambda n: rng.integers(-n, n, (2, 1)), lambda n: slice(int(rng.integers(0, n)), None, int(rng.integers(1, 3))),
        lambda n: np.array(rng.integers(0, 2, n), bool),
    ]  # fmt: skip
    tried = 0
    for kinds in itertools.product(range(len(makers)), repeat=3):
        index = tuple(makers[k](n) for k, n in zip(kinds, A.shape))
        place = int(rng.integers(0, 4))
        index = index[:place] + ((None,) if place < 3 else ()) + index[place:]
        if not valid(index):
            with pytest.raises((IndexError, ValueError)):
                tp.from_numpy(A)[index]
            continue
        tried += 1
        np.testing.assert_array_equal(tp.from_numpy(A)[index].numpy(), A[index], err_msg=repr(index))
        b, x = A.copy(), tp.tensor(A)
        b[index], x[index] = -3.0, -3.0
        np.testing.assert_array_equal(x.numpy(), b, err_msg=repr(index))
    assert tried > 100


@pytest.mark.parametrize(
    "index", [2, -3, (0, 3), (0, 0, 0, 0, 0), (Ellipsis, Ellipsis), 1.5, "a", {}, [2], [[0, -3]], MASK1,
              tp.tensor([1.0]), 10**30, (slice(None), 10**20)], ids=repr
)  # fmt: skip
def test_invalid_indices(index):
    x = tp.tensor(A)
    with pytest.raises((IndexError, TypeError)):
        x[index]
    with pytest.raises((IndexError, TypeError)):
        x[index] = 0


def test_negative_steps_are_refused():
    with pytest.raises(ValueError, match="flip"):
        tp.zeros(3)[::-1]
    with pytest.raises(ValueError):
        tp.zeros(3)[::0]


def test_values_that_do_not_broadcast():
    x = tp.zeros(2, 3)
    for index, value in (((0,), [1.0, 2.0]), (slice(None), tp.zeros(3, 2)), ([0, 1], tp.zeros(4, 3)),
                         (tp.tensor([True, False]), tp.zeros(2, 3))):  # fmt: skip
        with pytest.raises((ValueError, IndexError)):
            x[index] = value


def test_derivatives_of_reading_and_writing():
    x = tp.arange(12.0).reshape(3, 4).requires_grad_()
    i = tp.tensor([0, 0, 2])
    (x[i, 1:3] * tp.tensor([[1.0, 2.0]])).sum().backward()
    expected = np.zeros((3, 4))
    expected[0, 1:3], expected[2, 1:3] = [2, 4], [1, 2]
    np.testing.assert_array_equal(x.grad.numpy(), expected)

    v = tp.tensor([1.0, 2.0]).requires_grad_()
    y = x.detach().clone()
    y[tp.tensor([0, 2]), 1] = v * 3
    y[1] = v.sum()
    y[y > 8] = v[0]
    (y * y).sum().backward()
    # y: v0*3 at [0,1], v1*3 at [2,1], v.sum() in row 1, and v0 where the result exceeds 8: [2, 0], [2, 2], [2, 3]
    total = 2 * 3 * np.array([3.0, 0]) + 2 * 3 * np.array([0, 6.0]) + 4 * 2 * 3 * np.array([1.0, 1.0])
    x8 = np.arange(12.0).reshape(3, 4)
    x8[0, 1], x8[2, 1], x8[1] = 3, 6, 3
    total = total + 2 * (x8 > 8).sum() * np.array([1.0, 0.0])
    np.testing.assert_allclose(v.grad.numpy(), total)
