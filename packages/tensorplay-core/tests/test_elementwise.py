"""Elementwise operators where the database of samples does not look: numbers outside of a dtype, forms, precision."""

import numpy as np
import pytest

import tensorplay as tp

INTEGERS = [tp.uint8, tp.int8, tp.uint16, tp.int16, tp.uint32, tp.int32, tp.uint64, tp.int64]
LIMITS = [np.iinfo(str(d).rpartition(".")[2]) for d in INTEGERS]


@pytest.mark.parametrize("dtype, limits", list(zip(INTEGERS, LIMITS)))
def test_numbers_outside_of_an_integer_dtype(dtype, limits):
    x = tp.tensor([limits.min, 5, limits.max], dtype=dtype)
    values = [limits.min, 5, limits.max]
    below, above = max(limits.min - 1, -(2**63)), min(limits.max + 1, 2**64 - 1)
    for least, most in ((below, above), (below, 7), (3, above)):
        assert x.clamp(least, most).tolist() == [min(max(v, least), most) for v in values]
        assert x.clamp(least, most).dtype == dtype
    assert x.clone().clamp_(below, above).tolist() == values
    for f, reference in ((tp.maximum, max), (tp.minimum, min), (tp.fmax, max), (tp.fmin, min)):
        for bound in (below, above):
            got = f(x, bound)
            assert got.tolist() == [min(max(reference(v, bound), limits.min), limits.max) for v in values]
            assert got.dtype == dtype


@pytest.mark.parametrize("dtype, limits", list(zip(INTEGERS[:6], LIMITS)))
def test_comparison_with_a_number_outside_of_an_integer_dtype(dtype, limits):
    values = [limits.min, 5, limits.max]
    x = tp.tensor(values, dtype=dtype)
    for n in (limits.min - 1, limits.max + 1, -(2**63), 2**63):
        assert (x < n).tolist() == [v < n for v in values] and (x <= n).tolist() == [v <= n for v in values]
        assert (x > n).tolist() == [v > n for v in values] and (n < x).tolist() == [n < v for v in values]
        assert (x == n).tolist() == [False] * 3 and (x != n).tolist() == [True] * 3


def test_where_and_pow_as_methods():
    x, c = tp.tensor([1.0, 2.0]), tp.tensor([True, False])
    assert x.where(c, 0.0).tolist() == [1.0, 0.0]
    assert x.pow(2).tolist() == [1.0, 4.0] and x.clone().pow_(3).tolist() == [1.0, 8.0]
    assert tp.where(c, x, 0.0).tolist() == [1.0, 0.0]
    with pytest.raises(TypeError, match="where: argument 'condition' must be a Tensor"):
        tp.where(3, c, x)


def test_xlogy_with_a_number():
    x = tp.tensor([1.0, 3.0], dtype=tp.float64)
    np.testing.assert_allclose(tp.xlogy(x, 2).numpy(), x.numpy() * np.log(2), rtol=1e-15)
    assert tp.xlogy(x.to(tp.float16), 2).dtype == tp.float16
    assert tp.xlogy(tp.tensor([1, 2]), 2).dtype == tp.float32


def test_clamp_min_and_clamp_max():
    x = tp.tensor([-1.0, 0.5, 3.0])
    assert x.clamp_min(0).tolist() == [0.0, 0.5, 3.0] and x.clamp_max(1).tolist() == [-1.0, 0.5, 1.0]
    assert tp.clamp_min(x, tp.tensor([0.0, 1.0, 2.0])).tolist() == [0.0, 1.0, 3.0]
    assert tp.clamp_max(x, max=tp.tensor([[0.0]])).tolist() == [[-1.0, 0.0, 0.0]]
    assert tp.tensor([1, 2]).clamp_min(1.5).tolist() == [1.5, 2.0]
    assert x.clone().clamp_min_(0).tolist() == [0.0, 0.5, 3.0]
    with pytest.raises(TypeError, match="clamp"):
        tp.tensor([1j]).clamp_min(0)


def test_float_power():
    x = tp.tensor([1, 2, 3])
    y = tp.float_power(x, -2)
    assert y.dtype == tp.float64
    np.testing.assert_allclose(y.numpy(), np.array([1.0, 2, 3]) ** -2)
    np.testing.assert_allclose(x.float_power(tp.tensor([0.5, 1.0, 2.0])).numpy(), np.array([1, 2, 9.0]))
    assert tp.float_power(2, x).tolist() == [2.0, 4.0, 8.0]
    assert tp.float_power(x.to(tp.float16), 1j).dtype == tp.complex128
    assert tp.float_power(tp.tensor([1j]), 2).tolist() == [-1 + 0j]
    assert tp.float_power(tp.tensor([2.0], dtype=tp.float64), 0.1).tolist() == [2**0.1]
    z = tp.tensor([2.0], dtype=tp.float64)
    assert z.float_power_(3).tolist() == [8.0]


COMPLEX = {
    "exp2": np.exp2, "expm1": np.expm1,
    "log1p": lambda z: 0.5 * np.log1p(z.real * (2 + z.real) + z.imag**2) + 1j * np.angle(1 + z),
    "log2": np.log2, "log10": np.log10,
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)), "silu": lambda z: z / (1 + np.exp(-z)), "sinc": np.sinc,
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex(name, dtype):
    rng = np.random.default_rng(3)
    z = (rng.standard_normal(200) + 1j * rng.standard_normal(200)) * np.repeat([1e-3, 1, 3, 20], 50)
    z = np.append(z, [0, 1e-9, 1e-9j]).astype(dtype)
    with np.errstate(all="ignore"):
        want = COMPLEX[name](z.astype("complex128"))
        finite = np.isfinite(want.astype(dtype))
    f = getattr(tp, name) if hasattr(tp, name) else getattr(tp.nn.functional, name)
    got = f(tp.tensor(z))
    assert got.dtype == tp.tensor(z).dtype
    # the reference of sinc rounds pi * z before the sine
    tolerance = 1e-13 if name == "sinc" and dtype == "complex128" else 16 * np.finfo(dtype).eps
    np.testing.assert_allclose(got.numpy()[finite], want[finite], rtol=tolerance)


@pytest.mark.parametrize("name", COMPLEX)
def test_derivatives_of_complex_functions(name, transforms):
    z = np.array([0.3 + 0.4j, -1.2 + 0.1j, 2.0 - 1.5j, -0.2 - 3j])
    f, h = getattr(tp, name) if hasattr(tp, name) else getattr(tp.nn.functional, name), 1e-5
    slope = (COMPLEX[name](z + h) - COMPLEX[name](z - h)) / (2 * h)
    x = tp.tensor(z)
    np.testing.assert_allclose(transforms.jvp(f)(x, tp.full_like(x, 2 - 1j)).numpy(), slope * (2 - 1j), rtol=1e-7)
    ct = transforms.vjp(f)(x, tp.full_like(x, 2 - 1j))
    np.testing.assert_allclose(ct.numpy(), slope.conj() * (2 - 1j), rtol=1e-7)
    curvature = (COMPLEX[name](z + 1e-4) - 2 * COMPLEX[name](z) + COMPLEX[name](z - 1e-4)) / 1e-8
    second = transforms.jvp(lambda t: transforms.jvp(f)(t))(x)
    np.testing.assert_allclose(second.numpy(), curvature, rtol=1e-5)


def test_complex_logaddexp():
    z = np.array([0.3 + 0.4j, 800 + 1j, -900 + 2j, 1j])
    w = np.array([0.1 - 0.4j, 799 + 2j, -901 + 1j, 1j])
    top = np.maximum(z.real, w.real)
    want = top + np.log(np.exp(z - top) + np.exp(w - top))
    np.testing.assert_allclose(tp.logaddexp(tp.tensor(z), tp.tensor(w)).numpy(), want, rtol=1e-14)


def test_angles_of_complex_logarithms_of_sums():
    inf = np.inf
    for a, b, want in (
        (2 + 9j, -inf, 2 + 9j), (100 + 4j, 0j, 100 + 4j), (-1 - 7j, -1 - 7j, np.log(2) - 1 - 7j),
        (complex(-inf, 0), complex(-inf, 2), complex(-inf, 2)), (complex(inf, 1), 3 + 1j, complex(inf, 1)),
        (complex(inf, 0), complex(inf, 1), complex(inf, np.pi / 4)), (1j, complex(np.nan, 0), complex(np.nan, np.nan)),
    ):  # fmt: skip
        got = tp.logaddexp(tp.tensor(a, dtype=tp.complex128), tp.tensor(b, dtype=tp.complex128)).item()
        np.testing.assert_allclose([got.real, got.imag], [want.real, want.imag], rtol=1e-15)
    x = tp.tensor([-1 - 7j, -1 + 3.1j, 0, 1 + 2j, 3 - 40j], dtype=tp.complex128)
    running = tp.logcumsumexp(x, 0)
    np.testing.assert_allclose(np.exp(running.numpy()), np.cumsum(np.exp(x.numpy())), rtol=1e-12)
    last = x[0]
    for v, r in zip(x[1:], running[1:]):
        last = tp.logaddexp(v, last)
        assert abs(last - r) < 1e-12
    none = tp.tensor([complex(-inf, 0), complex(-inf, 2)], dtype=tp.complex128)
    none.requires_grad_()
    value = tp.logsumexp(none, 0)
    value.backward(tp.ones_like(value))
    assert value.item().real == -inf and none.grad.tolist() == [0, 0]


def test_complex_nan_to_num():
    z = tp.tensor([complex(np.nan, 1), complex(np.inf, -np.inf), 1 + 2j])
    assert tp.nan_to_num(z, 7.0, 8.0, 9.0).tolist() == [7 + 1j, 8 + 9j, 1 + 2j]
    assert tp.nan_to_num(z).tolist()[0] == 1j


def test_masked_fill_of_bool_with_a_number():
    x, mask = tp.tensor([True, False, True]), tp.tensor([True, True, False])
    assert x.masked_fill(mask, 0).tolist() == [False, False, True]
    assert x.masked_fill(mask, 2.5).tolist() == [True, True, True]


def test_integers_to_negative_integer_powers():
    x, e = tp.tensor([1, -1, -1, 2, 0]), tp.tensor([-3, -3, -2, -1, -1])
    assert (x**e).tolist() == [1, -1, 1, 0, 0]
    for dtype in (tp.int8, tp.int32, tp.int64):
        with pytest.raises(RuntimeError, match="negative integer powers"):
            x.to(dtype) ** -1


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_next_numbers_are_numpys(dtype):
    top, tiny = np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal
    x = np.array([0, 0, 1, 1, -1, np.inf, -np.inf, top, tiny, -tiny, np.nan, 1, 2, 1.5], dtype)
    y = np.array([1, -1, 2, 0, 0, 0, 0, np.inf, 0, 1, 1, np.nan, 2, -np.inf], dtype)
    got = tp.nextafter(tp.tensor(x), tp.tensor(y)).numpy()
    with np.errstate(all="ignore"):
        want = np.nextafter(x, y)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_next_bfloat16_is_a_step_of_its_bits():
    x = np.array([1.0, 2.0, -1.0, 0.5, 3.0], np.float32)
    up = tp.nextafter(tp.tensor(x).to(tp.bfloat16), tp.tensor(np.inf, dtype=tp.bfloat16)).to(tp.float32).numpy()
    bits = x.view(np.int32) >> 16
    np.testing.assert_array_equal(up, ((bits + np.where(x > 0, 1, -1)) << 16).astype(np.int32).view(np.float32))
