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


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=repr)
def test_every_index_under_vmap_and_vjp(index, transforms):
    """vmap is a loop, and the gradient of reading adds the cotangent where it was read."""
    if not valid(index):
        return
    batch = np.stack([A, A[::-1] * 2, -A])
    x, i = tp.tensor(batch), same(index)
    np.testing.assert_array_equal(transforms.vmap(lambda t: t[i])(x).numpy(), np.stack([a[index] for a in batch]))
    ct = np.random.default_rng(1).standard_normal(A[index].shape)
    expected = np.zeros_like(A)
    np.add.at(expected, index, ct)
    read = lambda t: t[i] * 1.0
    np.testing.assert_allclose(transforms.vjp(read)(tp.tensor(A), tp.tensor(ct)).numpy(), expected)
    weighted = lambda t: (t[i] * tp.tensor(ct)).sum()
    got = transforms.vmap(transforms.vjp(weighted))(x).numpy()
    np.testing.assert_allclose(got, np.stack([expected] * 3))

    def write(t):
        u = t * 1.0
        u[i] = t.sum()
        return u

    loop = []
    for a in batch:
        b = a.copy()
        b[index] = a.sum()
        loop.append(b)
    np.testing.assert_allclose(transforms.vmap(write)(x).numpy(), np.stack(loop))


def test_masks_that_are_mapped(transforms):
    vmap = transforms.vmap
    a = np.arange(12.0).reshape(3, 4) - 5
    x = tp.tensor(a)
    with pytest.raises(NotImplementedError, match="where.*nonzero_static"):
        vmap(lambda t: t[t > 0])(x)

    def write(value):
        def f(t):
            u = t * 1.0
            u[t > 0] = value
            return u

        return f

    np.testing.assert_array_equal(vmap(write(-1.0))(x).numpy(), np.where(a > 0, -1, a))
    values = tp.tensor([10.0, 20.0, 30.0, 40.0], dtype=tp.float64)
    expected = a.copy()
    for row in expected:
        n = (row > 0).sum()
        row[row > 0] = values.numpy()[:n]
    np.testing.assert_array_equal(vmap(write(values))(x).numpy(), expected)
    rows = tp.tensor(np.stack([a, a + 1]))

    def write_rows(t):
        u = t * 1.0
        u[t[:, 0] > -2] = tp.tensor([1.0, 2.0, 3.0, 4.0], dtype=tp.float64)
        return u

    loop = np.stack([a, a + 1])
    for m in loop:
        m[m[:, 0] > -2] = [1, 2, 3, 4]
    np.testing.assert_array_equal(vmap(write_rows)(rows).numpy(), loop)
    out = vmap(lambda t: made_inside(t))(x)
    np.testing.assert_array_equal(out.numpy(), np.stack([a.sum(1), a[:, 0]], 1))


def made_inside(t):
    out = tp.zeros(2, dtype=tp.float64)
    out[0] = t.sum()
    view = out[1:]
    view[0] = t[0]
    return out


def test_mapped_index_tensors(transforms):
    a = np.arange(24.0).reshape(2, 3, 4)
    i = np.array([[2, 0], [1, -1]])
    got = transforms.vmap(lambda t, k: t[k])(tp.tensor(a), tp.tensor(i))
    np.testing.assert_array_equal(got.numpy(), np.stack([a[b][i[b]] for b in range(2)]))
    got = transforms.vmap(lambda t, k: t[k[0]])(tp.tensor(a), tp.tensor(i))
    np.testing.assert_array_equal(got.numpy(), np.stack([a[b][i[b][0]] for b in range(2)]))
    got = transforms.vmap(lambda t, k: t[..., k])(tp.tensor(a), tp.tensor(i))
    np.testing.assert_array_equal(got.numpy(), np.stack([a[b][..., i[b]] for b in range(2)]))

    def write(t, k):
        u = t * 1.0
        u[k, 1] = k.to(tp.float64)
        return u

    loop = a.copy()
    for b in range(2):
        loop[b][i[b], 1] = i[b]
    np.testing.assert_array_equal(transforms.vmap(write)(tp.tensor(a), tp.tensor(i)).numpy(), loop)
