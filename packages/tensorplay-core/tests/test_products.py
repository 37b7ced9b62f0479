"""Matrix products, einsum and their errors against NumPy; layouts that products must take as they lie."""

import numpy as np
import pytest

import tensorplay as tp

RNG = np.random.default_rng(0)
SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((5, 2, 3), (3, 4)),
    ((3,), (5, 3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 1, 2, 3), (6, 3, 4)), ((0, 3), (3, 4)),
    ((2, 0), (0, 4)), ((40, 50), (50, 60)), ((7, 1, 3), (1, 7, 3, 2)), ((9, 1), (1, 9)),
]  # fmt: skip


def draw(shape, dtype):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape)).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)


def layouts(a):
    """The same values behind different strides."""
    yield tp.tensor(a)
    if a.ndim >= 2:
        yield tp.tensor(np.swapaxes(a, -1, -2).copy()).transpose(-1, -2)
    yield tp.tensor(np.repeat(a, 2, -1))[..., ::2]
    yield tp.tensor(a.T.copy()).permute(*reversed(range(a.ndim)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("left, right", SHAPES)
def test_matmul(left, right, dtype):
    a, b = draw(left, dtype), draw(right, dtype)
    tol = 1e-4 if dtype in ("float32", "complex64") else 1e-11
    for x in layouts(a):
        for y in layouts(b):
            np.testing.assert_allclose((x @ y).numpy(), a @ b, rtol=tol, atol=tol)


@pytest.mark.parametrize(
    "dtype", "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 complex64".split()
)
def test_products_keep_the_dtype(dtype):
    a, b = np.arange(6).reshape(2, 3), np.arange(12).reshape(3, 4)
    x, y = tp.tensor(a).to(getattr(tp, dtype)), tp.tensor(b.T.copy()).to(getattr(tp, dtype)).t()
    for result, expected in [
        (x @ y, a @ b), (x @ y[:, 0], a @ b[:, 0]), (tp.dot(x[0], y[:, 0]), a[0] @ b[:, 0]),
        (tp.bmm(x[None].expand(2, 2, 3), y[None].expand(2, 3, 4)), np.stack([a @ b] * 2)),
    ]:  # fmt: skip
        assert result.dtype == getattr(tp, dtype)
        np.testing.assert_allclose(result.to(tp.complex128).numpy(), expected)


def test_integers_wrap_around():
    x = tp.tensor([[200, 100]], dtype=tp.uint8)
    assert (x @ x.t()).item() == (200 * 200 + 100 * 100) % 256


EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ii->i", (3, 3)), ("ii", (3, 3)), ("ij->ji", (2, 3)), ("i,j", (3,), (4,)),
    ("...ij,...jk", (5, 2, 3), (3, 4)), ("b...,b...->...", (2, 3, 4), (2, 3, 4)), ("i,i", (3,), (3,)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), (",->", (), ()),
    ("iij,jkk->ik", (3, 3, 4), (4, 2, 2)), ("a,ab,abc->abc", (2,), (2, 3), (2, 3, 4)), ("...ii->...i", (2, 3, 3)),
    ("bca,dbc->ad", (3, 4, 2), (5, 3, 4)), ("zA,Ab", (2, 3), (3, 4)), ("ij->", (2, 3)), ("...->...", (2, 3)),
    ("ea,fb,abcd,gc,hd->efgh", (2, 3), (2, 3), (3, 3, 3, 3), (2, 3), (2, 3)), (" i j , j k -> i k ", (2, 3), (3, 4)),
    ("ij,ij->ij", (1, 3), (2, 3)), ("ij,jk->ik", (2, 1), (2, 3)), ("ij,jk->ik", (2, 0), (0, 3)),
]  # fmt: skip


@pytest.mark.parametrize("equation, shapes", [(e, s) for e, *s in EQUATIONS])
def test_einsum(equation, shapes, transforms):
    xs = [RNG.standard_normal(s) for s in shapes]
    ys = [RNG.standard_normal((3, *s)) for s in shapes]

    def expected(arrays):
        try:
            return np.einsum(equation, *arrays)
        except ValueError:  # NumPy does not broadcast a size of 1 against every other label
            n = max(a.shape[-1] for a in arrays[:1]), arrays[1].shape[0]
            return np.einsum(equation, np.broadcast_to(arrays[0], (arrays[0].shape[0], n[1])), arrays[1])

    np.testing.assert_allclose(tp.einsum(equation, *map(tp.tensor, xs)).numpy(), expected(xs), rtol=1e-12)
    mapped = transforms.vmap(lambda *a: tp.einsum(equation, *a))(*map(tp.tensor, ys))
    np.testing.assert_allclose(mapped.numpy(), np.stack([expected([y[i] for y in ys]) for i in range(3)]), rtol=1e-12)


@pytest.mark.parametrize(
    "equation, part",
    [
        ("ij,jk", "labels for more"), ("i.j->i", "unexpected '.'"), ("ij->ik", "is in no operand"),
        ("ij->ii", "occurs twice"), ("i", "more dimensions"), ("ijk", "fewer dimensions"),
        ("ij->i->j", "unexpected '-'"), ("i$->i", "unexpected '$'"), ("ii->i", "sizes"),
    ],
)  # fmt: skip
def test_einsum_errors(equation, part):
    with pytest.raises(ValueError, match="^einsum: ") as e:
        tp.einsum(equation, tp.ones(2, 3))
    assert part in str(e.value)


@pytest.mark.parametrize(
    "f, shapes, message",
    [
        (tp.mm, ((2, 3), (4, 5)), "mm: shapes [2, 3] and [4, 5] do not multiply: 3 != 4"),
        (tp.matmul, ((2, 3), (4, 5)), "matmul: shapes [2, 3] and [4, 5] do not multiply: 3 != 4"),
        (tp.mm, ((2, 3, 1), (4, 5)), "mm: self must have 2 dimensions, got shape [2, 3, 1]"),
        (tp.bmm, ((2, 3, 4), (3, 4, 5)), "bmm: shapes [2, 3, 4] and [3, 4, 5] have different batch sizes: 2 != 3"),
        (tp.dot, ((2,), (3,)), "dot: shapes [2] and [3] do not multiply: 2 != 3"),
        (tp.matmul, ((), (3,)), "matmul: operands need at least one dimension, got shapes [] and [3]"),
    ],
)
def test_shape_errors(f, shapes, message, transforms):
    with pytest.raises(RuntimeError) as e:
        f(*map(tp.ones, shapes))
    assert str(e.value) == message
    with pytest.raises(RuntimeError) as e:  # the message shows the sample's shapes
        transforms.vmap(f)(*(tp.ones(7, *s) for s in shapes))
    assert str(e.value) == message


def test_bool_has_no_product():
    with pytest.raises(TypeError, match="matmul: not defined for bool"):
        tp.ones(2, 2, dtype=tp.bool) @ tp.ones(2, 2, dtype=tp.bool)


def test_beta_zero_leaves_self_out():
    bad = tp.full((2, 2), tp.nan)
    assert tp.addmm(bad, tp.ones(2, 3), tp.ones(3, 2), beta=0).numpy().tolist() == [[3, 3], [3, 3]]


def test_a_product_of_any_size_does_not_depend_on_threads():
    a, b = tp.randn(70, 80), tp.randn(80, 90)
    known = tp.get_num_threads()
    try:
        tp.set_num_threads(1)
        one = (a @ b).numpy()
        tp.set_num_threads(2)
        np.testing.assert_allclose((a @ b).numpy(), one, rtol=1e-5, atol=1e-5)
    finally:
        tp.set_num_threads(known)
