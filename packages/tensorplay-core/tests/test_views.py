"""Views by strides and as another dtype, and cutting and repeating by tensors: what the operator database can't say."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, jvp, vjp, vmap

A = np.arange(12.0).reshape(3, 4)


def strided(a, size, stride, offset=0):
    flat = np.ascontiguousarray(a).reshape(-1)[offset:]
    return np.lib.stride_tricks.as_strided(flat, size, [s * a.itemsize for s in stride])


def test_strides_over_shared_memory():
    x = tp.tensor(A)
    row = x[1]
    assert row.as_strided((2,), (1,)).tolist() == [4, 5]
    assert row.as_strided((2,), (1,), 1).tolist() == [1, 2]  # counted from the start of the memory
    view = x.as_strided((2, 2), (5, 1))
    view.fill_(-1)
    assert (x.numpy() == -1).sum() == 4 and x[1, 1] == -1


@pytest.mark.parametrize("size, stride, offset", [((3, 3), (1, 1), 0), ((2, 3), (0, 2), 1), ((4,), (0,), 3)])
def test_overlapping_strides_add_their_gradients(size, stride, offset):
    rng = np.random.default_rng(0)
    g = rng.normal(size=size)
    want = np.zeros(12)
    at = strided(np.arange(12), size, stride, offset)
    np.add.at(want, at.reshape(-1), g.reshape(-1))
    _, back = vjp(lambda x: x.as_strided(size, stride, offset), tp.tensor(A))
    np.testing.assert_allclose(back(tp.tensor(g))[0].numpy(), want.reshape(3, 4))
    tangent = rng.normal(size=(3, 4))
    got = jvp(lambda x: x.as_strided(size, stride, offset), (tp.tensor(A),), (tp.tensor(tangent).t().clone().t(),))[1]
    np.testing.assert_allclose(got.numpy(), strided(tangent, size, stride, offset))


def test_self_that_overlaps_shares_its_gradient():
    x = tp.ones(1, dtype=tp.float64).expand(4)
    _, back = vjp(lambda x: x.as_strided((2,), (0,)), x)
    got = back(tp.tensor([1.0, 3.0], dtype=tp.float64))[0]
    assert got.tolist() == [1, 1, 1, 1]  # 4 in all, as x is one number shown four times


def test_strides_of_samples():
    x = tp.tensor(A)
    got = vmap(lambda r: r.as_strided((2, 2), (1, 2)))(x)
    np.testing.assert_array_equal(got.numpy(), np.stack([strided(r, (2, 2), (1, 2)) for r in A]))
    got = vmap(grad(lambda r: (r.as_strided((3, 2), (1, 1)) ** 2).sum()))(x)
    np.testing.assert_array_equal(got.numpy(), 2 * A * [1, 2, 2, 1])
    got = vmap(lambda c: c.as_strided(c.shape, c.stride()), in_dims=1)(x)
    np.testing.assert_array_equal(got.numpy(), A.T)
    with pytest.raises(ValueError, match="leaves a sample of 4"):
        vmap(lambda r: r.as_strided((3,), (2,)))(x)


def test_writing_through_reinterpreting_views():
    z = tp.zeros(3, dtype=tp.complex64)
    z.view_as_real()[:, 1] = tp.tensor([1.0, 2, 3])
    assert z.tolist() == [1j, 2j, 3j]
    x = tp.zeros(2, 2)
    tp.view_as_complex(x)[0] = 1 + 2j
    assert x.tolist() == [[1, 2], [0, 0]]
    y = tp.ones(2)
    y.view(tp.int32)[0] = 0
    assert y.tolist() == [0, 1]

    def f(z):
        z = z * 1
        z.view_as_real()[0] = 0
        return (z.abs() ** 2).sum()

    got = grad(f)(tp.tensor([1 + 1j, 2 - 1j]))
    assert got.tolist() == [0, 4 - 2j]


def test_view_as_other_dtypes():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    for d in (tp.float64, tp.int16, tp.uint8, tp.int32, tp.complex64, tp.bool_):
        np.testing.assert_array_equal(tp.tensor(x).view(d).numpy(), x.view(d.numpy))
    for dim in (0, 1):
        got = vmap(lambda r: r.view(tp.int16), in_dims=dim)(tp.tensor(x))
        want = np.stack([np.ascontiguousarray(r).view(np.int16) for r in np.moveaxis(x, dim, 0)])
        np.testing.assert_array_equal(got.numpy(), want)
    for dim in (0, 1, 2):
        pairs = np.random.default_rng(0).normal(size=(3, 4, 2))
        batch = np.ascontiguousarray(np.moveaxis(pairs, 0, dim))
        got = vmap(tp.view_as_complex, in_dims=dim)(tp.tensor(batch))
        np.testing.assert_array_equal(got.numpy(), pairs[..., 0] + 1j * pairs[..., 1])


def test_repeats_that_are_mapped():
    x = tp.tensor(A)
    counts = tp.tensor([[1, 0, 2, 1], [1, 1, 1, 1], [4, 0, 0, 0]])
    got = vmap(lambda x, n: x.repeat_interleave(n, output_size=4))(x, counts)
    np.testing.assert_array_equal(got.numpy(), np.stack([np.repeat(a, n) for a, n in zip(A, counts.numpy())]))
    got = vmap(lambda n: x.repeat_interleave(n, dim=1, output_size=4))(counts)
    assert got.shape == (3, 3, 4)
    with pytest.raises(NotImplementedError, match="output_size"):
        vmap(lambda x, n: x.repeat_interleave(n))(x, counts)
    with pytest.raises(ValueError, match="sum to 4, output_size is 5"):
        vmap(lambda n: tp.repeat_interleave(n, output_size=5))(counts)


X = tp.tensor(A)
BAD = [
    (lambda: X.as_strided((2,), (1, 1)), ValueError, "as_strided"),
    (lambda: X.as_strided((2,), (-1,)), ValueError, "negative strides"),
    (lambda: X.as_strided((13,), (1,)), ValueError, "leaves a memory of 12"),
    (lambda: X.as_strided((2,), (1,), 11), ValueError, "leaves a memory of 12"),
    (lambda: X.as_strided((2,), (1,), -1), ValueError, "storage_offset"),
    (lambda: X.as_strided((2,), (2**62,)), ValueError, "as_strided"),
    (lambda: X[1].as_strided((2,), (2**63 - 1,), 2**63 - 1), ValueError, "as_strided"),
    (lambda: X.as_strided((-1,), (1,)), ValueError, "as_strided"),
    (lambda: X.view_as_real(), TypeError, "view_as_real"),
    (lambda: X.view_as_complex(), ValueError, "last dimension"),
    (lambda: tp.ones(2, dtype=tp.int64).view_as_complex(), TypeError, "view_as_complex"),
    (lambda: tp.ones(3, 2).t().view_as_complex(), ValueError, "last dimension"),
    (lambda: tp.ones(2, 2).t().view_as_complex(), RuntimeError, "pairs"),
    (lambda: tp.ones(3)[1:].view_as_complex(), RuntimeError, "offset 1"),
    (lambda: tp.tensor(1.0).view(tp.int16), ValueError, "0-d"),
    (lambda: tp.ones(3).view(tp.float64), ValueError, "2 elements make one"),
    (lambda: X.t().view(tp.float32), RuntimeError, "has no view as float32"),
    (lambda: X.view("float32"), TypeError, "view"),
    (lambda: X.hsplit(3), ValueError, "hsplit"),
    (lambda: X.hsplit(0), ValueError, "hsplit"),
    (lambda: tp.tensor(1.0).hsplit(1), ValueError, "hsplit"),
    (lambda: X[0].vsplit(1), ValueError, "vsplit"),
    (lambda: X.dsplit(1), ValueError, "dsplit"),
    (lambda: X.tensor_split(tp.tensor([1.0])), TypeError, "tensor_split"),
    (lambda: X.tensor_split(tp.tensor([[1]])), ValueError, "tensor_split"),
    (lambda: vmap(lambda i: X.tensor_split(i)[0])(tp.tensor([1, 2])), RuntimeError, "mapped by vmap"),
    (lambda: tp.unravel_index(tp.tensor([1.0]), (2, 2)), TypeError, "unravel_index"),
    (lambda: tp.unravel_index(tp.tensor([1]), (2, -2)), ValueError, "unravel_index"),
    (lambda: tp.unravel_index(tp.tensor([1]), (2, 0)), ValueError, "unravel_index"),
    (lambda: X.repeat_interleave(tp.tensor([1, 2]), 0), ValueError, "repeat_interleave"),
    (lambda: X.repeat_interleave(tp.tensor([1, -2, 0]), 0), ValueError, "negative count -2"),
    (lambda: X.repeat_interleave(tp.tensor([1.0]), 0), TypeError, "repeat_interleave"),
    (lambda: X.repeat_interleave(tp.tensor([1]), 2), IndexError, "repeat_interleave"),
    (lambda: X.repeat_interleave(2, 0, output_size=5), ValueError, "output_size is 5"),
    (lambda: tp.repeat_interleave(tp.tensor([[1]])), ValueError, "1-d"),
    (lambda: tp.ones(3).fill_diagonal_(1), ValueError, "fill_diagonal_"),
    (lambda: tp.ones(2, 2, 3).fill_diagonal_(1), ValueError, "fill_diagonal_"),
    (lambda: vmap(lambda x: x[tp.tensor([7])])(X), IndexError, "dimension 0 with size 4"),
    (lambda: vmap(lambda x: x[:, tp.tensor([7])])(tp.ones(2, 3, 4)), IndexError, "dimension 1 with size 4"),
    (lambda: vmap(lambda x: x.gather(0, tp.tensor([7])))(X), IndexError, "dimension 0 with size 4"),
    (lambda: vmap(lambda x, i: x[i])(X, tp.tensor([0, 1, 9])), IndexError, "dimension 0 with size 4"),
    (lambda: vmap(lambda x, i: x.scatter(0, i, 1.0))(X, tp.full((3, 1), 9)), IndexError, "dimension 0 with size 4"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_input(case):
    call, kind, text = BAD[case]
    with pytest.raises(kind, match=text) as found:
        call()
    assert "\n" not in str(found.value)


def test_filling_a_diagonal_in_a_transform():
    m = tp.tensor(A)
    got = grad(lambda x: ((x * 1).fill_diagonal_(5) ** 2).sum())(m)
    want = 2 * A
    np.fill_diagonal(want, 0)
    np.testing.assert_array_equal(got.numpy(), want)
    got = vmap(lambda x: (x * 1).fill_diagonal_(5))(tp.ones(2, 3, 3))
    assert (got.diagonal(0, 1, 2) == 5).all() and got.sum() == 2 * 21


def test_real_and_imag_are_views():
    z = tp.tensor([1 + 2j, 3 - 4j], dtype=tp.complex128)
    assert z.conj_physical_() is z and z.imag.tolist() == [-2, 4]
    z.conj_physical_()
    z.real[0] = 7
    z.imag.mul_(10)
    np.testing.assert_array_equal(z.numpy(), [7 + 20j, 3 - 40j])
    x = tp.ones(2)
    assert x.real is x and tp.real(x).data_ptr() == x.data_ptr()
    with pytest.raises(TypeError, match="^imag: a complex tensor is needed"):
        tp.imag(x)
    func = pytest.importorskip("tensorplay.func")

    def f(v):
        w = tp.complex(v, v * 2)
        w.real.mul_(v)
        w.imag.copy_(w.real + 1)
        return (w * w.conj()).real.sum()  # v^4 + (v^2 + 1)^2

    v = tp.tensor([0.5, -2.0], dtype=tp.float64)
    want = 4 * v**3 + 4 * v * (v**2 + 1)
    np.testing.assert_allclose(func.grad(f)(v).numpy(), want.numpy())
    np.testing.assert_allclose(func.vmap(func.grad(f))(v).numpy(), want.numpy())
    np.testing.assert_allclose(func.jvp(f, (v,), (tp.ones_like(v),))[1].item(), want.sum().item())
