"""Convolutions against their defining sum, with every argument; pooling at ties and NaN; losses at their edges."""

import itertools

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import _ops

F = type("F", (), {k: staticmethod(v) for k, v in _ops.NAMESPACES["nn.functional"].items()})
RNG = np.random.default_rng(0)


def windows(nd, value):
    return (value,) * nd if isinstance(value, int) else value


def cross_correlation(x, w, stride=1, padding=0, dilation=1, groups=1):
    """The definition, one element of the window at a time."""
    nd = w.ndim - 2
    stride, padding, dilation = (windows(nd, v) for v in (stride, padding, dilation))
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    out = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], w.shape[2:], stride, dilation)]
    y = np.zeros((x.shape[0], w.shape[0], *out))
    co, ci = w.shape[0] // groups, w.shape[1]
    for g, tap in itertools.product(range(groups), itertools.product(*map(range, w.shape[2:]))):
        at = tuple(
            slice(t * d, t * d + s * (o - 1) + 1, s) for t, d, s, o in zip(tap, dilation, stride, out, strict=True)
        )
        part = x[(slice(None), slice(g * ci, (g + 1) * ci), *at)]
        y[:, g * co : (g + 1) * co] += np.einsum(
            "nc...,kc->nk...", part, w[(slice(g * co, (g + 1) * co), slice(None), *tap)]
        )
    return y


CASES = [
    ((2, 3, 9, 10), (4, 3, 3, 3)), ((1, 1, 28, 28), (10, 1, 5, 5)), ((2, 3, 20, 33), (13, 3, 3, 2)),
    ((2, 4, 5, 5), (6, 4, 1, 1)), ((5, 2, 3, 3), (2, 2, 3, 3)), ((2, 3, 40, 40), (16, 3, 3, 3)),
    ((1, 2, 4, 90), (3, 2, 2, 7)),
]  # fmt: skip
ARGUMENTS = [
    {}, {"padding": 1}, {"stride": 2}, {"stride": (2, 1), "padding": (0, 2)}, {"dilation": 2},
    {"stride": 3, "padding": 2, "dilation": (1, 2)}, {"padding": 4},
]  # fmt: skip


def check(f, x, w, arguments, transforms, dtype=tp.float64, tol=1e-10):
    expected = cross_correlation(x, w, **arguments)
    a, b = tp.tensor(x).to(dtype), tp.tensor(w).to(dtype)
    y = f(a, b, **arguments)
    np.testing.assert_allclose(y.numpy(), expected, rtol=tol, atol=tol)
    # The map is linear in each operand: cotangents pair with directions as results do.
    g, dx, dw = (RNG.standard_normal(s) for s in (expected.shape, x.shape, w.shape))
    gx = transforms.vjp(lambda t: f(t, b, **arguments))(a, tp.tensor(g).to(dtype)).numpy()
    gw = transforms.vjp(lambda t: f(a, t, **arguments))(b, tp.tensor(g).to(dtype)).numpy()
    scale = np.abs(g).sum()
    assert abs((gx * dx).sum() - (g * cross_correlation(dx, w, **arguments)).sum()) <= tol * scale * 10
    assert abs((gw * dw).sum() - (g * cross_correlation(x, dw, **arguments)).sum()) <= tol * scale * 10


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
@pytest.mark.parametrize("shape, window", CASES, ids=str)
def test_conv2d(shape, window, arguments, transforms):
    x, w = RNG.standard_normal(shape), RNG.standard_normal(window)
    dilation = windows(2, arguments.get("dilation", 1))
    padding = windows(2, arguments.get("padding", 0))
    if any(n + 2 * p < d * (k - 1) + 1 for n, p, d, k in zip(shape[2:], padding, dilation, window[2:], strict=True)):
        with pytest.raises(RuntimeError, match="conv2d: the window of weight"):
            F.conv2d(tp.tensor(x), tp.tensor(w), **arguments)
        return
    check(F.conv2d, x, w, arguments, transforms)
    check(F.conv2d, x, w, arguments, transforms, tp.float32, 2e-4)


@pytest.mark.parametrize("groups", [2, 4, 8])
@pytest.mark.parametrize("arguments", [{}, {"padding": 1, "stride": 2}], ids=str)
def test_groups(groups, arguments, transforms):
    x, w = RNG.standard_normal((2, 8, 9, 9)), RNG.standard_normal((8, 8 // groups, 3, 3))
    check(F.conv2d, x, w, {"groups": groups, **arguments}, transforms)


@pytest.mark.parametrize(
    "f, shape, window", [("conv1d", (2, 3, 40), (5, 3, 4)), ("conv3d", (2, 3, 6, 7, 8), (5, 3, 2, 3, 2))]
)
@pytest.mark.parametrize("arguments", [{}, {"padding": 1, "stride": 2}, {"dilation": 2}], ids=str)
def test_other_ranks(f, shape, window, arguments, transforms):
    check(getattr(F, f), RNG.standard_normal(shape), RNG.standard_normal(window), arguments, transforms)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "complex64", "complex128", "float16", "bfloat16"])
def test_other_dtypes(dtype):
    x, w = RNG.integers(-3, 4, (2, 3, 7, 7)), RNG.integers(-3, 4, (4, 3, 3, 3))
    y = F.conv2d(tp.tensor(x).to(getattr(tp, dtype)), tp.tensor(w).to(getattr(tp, dtype)), padding=1)
    assert y.dtype == getattr(tp, dtype)
    expected = cross_correlation(x, w, padding=1)
    if dtype == "int8":
        expected = expected.astype(np.int64).astype(np.int8)
    np.testing.assert_allclose(y.to(tp.complex128).numpy(), expected, rtol=1e-2, atol=1e-9)


def test_complex_cotangents_are_conjugated(transforms):
    x, w = (RNG.standard_normal(s) + 1j * RNG.standard_normal(s) for s in ((1, 1, 5, 5), (1, 1, 3, 3)))
    g = RNG.standard_normal((1, 1, 3, 3)) + 1j * RNG.standard_normal((1, 1, 3, 3))
    gw = transforms.vjp(lambda t: F.conv2d(tp.tensor(x), t))(tp.tensor(w), tp.tensor(g))
    np.testing.assert_allclose(
        gw.numpy()[0, 0], [[(g[0, 0] * x[0, 0, i : i + 3, j : j + 3].conj()).sum() for j in range(3)] for i in range(3)]
    )


def test_same_padding_and_unbatched_input():
    x, w = RNG.standard_normal((3, 9, 10)), RNG.standard_normal((4, 3, 4, 3))
    y = F.conv2d(tp.tensor(x), tp.tensor(w), padding="same")
    assert tuple(y.shape) == (4, 9, 10)
    np.testing.assert_allclose(y.numpy(), cross_correlation(np.pad(x, ((0, 0), (1, 2), (1, 1)))[None], w)[0])


@pytest.mark.parametrize(
    "arguments, size",
    [
        ({}, 7),
        ({"stride": 2, "padding": 1}, 9),
        ({"stride": 2, "output_padding": 1}, 12),
        ({"dilation": 2, "output_padding": 1}, 10),
    ],
    ids=str,
)
def test_transposed_is_the_adjoint(arguments, size):
    """<conv_transpose(y, w), x> is <y, conv(x, w)> for every x."""
    y, w = RNG.standard_normal((2, 4, 5, 5)), RNG.standard_normal((4, 3, 3, 3))
    out = F.conv_transpose2d(tp.tensor(y), tp.tensor(w), **arguments).numpy()
    assert out.shape == (2, 3, size, size)
    x = RNG.standard_normal(out.shape)
    forward = {k: v for k, v in arguments.items() if k != "output_padding"}
    full = cross_correlation(x, w, **forward)[:, :, :5, :5]
    assert abs((out * x).sum() - (y * full).sum()) < 1e-9


def test_empty_batch_and_errors():
    assert tuple(F.conv2d(tp.zeros(0, 3, 5, 5), tp.zeros(4, 3, 3, 3)).shape) == (0, 4, 3, 3)
    for x, w, arguments, part in [
        ((1, 2, 5, 5), (4, 3, 3, 3), {}, "has 2 channels"), ((5,), (4, 3, 3, 3), {}, "3 or 4 dimensions"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"bias": tp.zeros(3)}, "bias must have shape [4]"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"stride": 0}, "stride must be at least 1"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"padding": (1, 2, 3)}, "padding must be a number or 2 numbers"),
        ((1, 3, 5, 5), (4, 3, 3, 3), {"padding": "same", "stride": 2}, "needs stride 1"),
        ((1, 4, 5, 5), (3, 2, 3, 3), {"groups": 2}, "no multiple of groups=2"),
    ]:  # fmt: skip
        with pytest.raises(RuntimeError) as e:
            F.conv2d(tp.zeros(*x), tp.zeros(*w), **arguments)
        assert str(e.value).startswith("conv2d: ") and part in str(e.value)


# ---- pooling ----


def test_first_of_equal_elements_wins(transforms):
    x = tp.tensor([[[1.0, 1.0, 3.0, 3.0], [1.0, 1.0, 3.0, 3.0]]])
    assert F.max_pool2d_with_indices(x, 2)[1].numpy().tolist() == [[[0, 2]]]
    g = transforms.vjp(lambda t: F.max_pool2d(t, 2))(x).numpy()
    assert g.tolist() == [[[1, 0, 1, 0], [0, 0, 0, 0]]]


@pytest.mark.parametrize("window, stride", [(2, 2), (2, 1), ((1, 2), (1, 2))])
@pytest.mark.parametrize("dtype", [tp.float32, tp.float64, tp.float16])
def test_nan_wins(window, stride, dtype):
    x = tp.tensor([[[1.0, tp.nan, 3.0, 4.0], [2.0, 1.0, 1.0, tp.nan]]]).to(dtype)
    y, at = F.max_pool2d_with_indices(x, window, stride)
    values = x.to(tp.float64).numpy()[0]
    taps = windows(2, window)
    steps = windows(2, stride)
    for i, j in np.ndindex(*y.shape[1:]):
        part = values[i * steps[0] : i * steps[0] + taps[0], j * steps[1] : j * steps[1] + taps[1]]
        np.testing.assert_equal(y.to(tp.float64).numpy()[0, i, j], part.max())
        np.testing.assert_equal(values.flat[at.numpy()[0, i, j]], part.max())


def test_padding_never_wins():
    assert F.max_pool2d(tp.full((1, 2, 2), -5.0), 2, padding=1).numpy().tolist() == [[[-5, -5], [-5, -5]]]
    assert F.max_pool2d(tp.full((1, 2, 2), -5, dtype=tp.int8), 2, padding=1).numpy().tolist() == [[[-5, -5], [-5, -5]]]


# ---- losses ----


def test_ignored_targets_have_no_part(transforms):
    x, t = RNG.standard_normal((4, 5)), np.array([0, -100, 3, -100])
    logp = x - np.log(np.exp(x).sum(1, keepdims=True))
    assert F.cross_entropy(tp.tensor(x), tp.tensor(t)).item() == pytest.approx(-(logp[0, 0] + logp[2, 3]) / 2)
    g = transforms.vjp(lambda v: F.cross_entropy(v, tp.tensor(t)))(tp.tensor(x)).numpy()
    assert (g[[1, 3]] == 0).all() and (g[[0, 2]] != 0).all()
    assert np.isnan(F.cross_entropy(tp.tensor(x), tp.full((4,), -100)).item())


def test_targets_out_of_range():
    for bad in (3, -1):
        with pytest.raises(IndexError, match=f"target {bad} is out of range for 3 classes"):
            F.cross_entropy(tp.zeros(2, 3), tp.tensor([0, bad]))
    with pytest.raises(ValueError, match=r"target of shape \[1\] does not fit input of shape \[2, 3\]"):
        F.cross_entropy(tp.zeros(2, 3), tp.tensor([0]))


def test_binary_losses_at_their_ends(transforms):
    p, t = tp.tensor([0.0, 1.0, 0.0, 1.0]), tp.tensor([0.0, 1.0, 1.0, 0.0])
    assert F.binary_cross_entropy(p, t, reduction="none").numpy().tolist() == [0, 0, 100, 100]
    x = tp.tensor([1000.0, -1000.0, 0.0])
    t = tp.tensor([0.0, 1.0, 1.0])
    np.testing.assert_allclose(
        F.binary_cross_entropy_with_logits(x, t, reduction="none").numpy(), [1000, 1000, np.log(2)], rtol=1e-6
    )
    g = transforms.vjp(lambda v: F.binary_cross_entropy_with_logits(v, t, reduction="sum"))(x).numpy()
    assert g.tolist() == [1, -1, -0.5]
