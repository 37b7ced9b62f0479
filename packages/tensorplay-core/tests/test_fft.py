"""Fourier transforms: lengths of every kind against SciPy, identities, short-time transforms, errors, threads."""

import threading

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import fft

sf = pytest.importorskip("scipy.fft")
get_window = pytest.importorskip("scipy.signal").get_window

# small, powers, products of the small primes, a radix of each kind, primes beyond them, and what is cut into columns
LENGTHS = [*range(1, 40), 49, 62, 64, 74, 81, 100, 121, 127, 128, 169, 210, 243, 256, 289, 343, 361, 512, 529, 625, 841,
           961, 1000, 1009, 1024, 1155, 2048, 2310, 4096, 4099, 8192, 10007, 30030, 65536, 100003]  # fmt: skip
EPS = {"float32": 6e-8, "float64": 1.1e-16}


def distance(got, want):
    return np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-300)


@pytest.mark.parametrize("dtype", EPS)
@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(n, dtype):
    rng = np.random.default_rng(n)
    bound = 4 * EPS[dtype] * (1 + np.sqrt(np.log2(n)))  # of a root mean square, for every length
    for lines in (1, 3, 4, 9) if n < 5000 else (1, 2):
        x = rng.standard_normal((lines, n)).astype(dtype)
        z = (x + 1j * rng.standard_normal((lines, n))).astype(np.result_type(dtype, "complex64"))
        wide = z.astype(np.clongdouble)
        half = z[:, : n // 2 + 1]
        assert distance(fft.fft(tp.from_numpy(z)).numpy(), sf.fft(wide)) < bound
        assert distance(fft.ifft(tp.from_numpy(z)).numpy(), sf.ifft(wide)) < bound
        assert distance(fft.fft(tp.from_numpy(x)).numpy(), sf.fft(x.astype(np.longdouble))) < bound
        assert distance(fft.rfft(tp.from_numpy(x)).numpy(), sf.rfft(x.astype(np.longdouble))) < bound
        real = fft.irfft(tp.from_numpy(half.copy()), n=n)
        assert real.dtype.name == dtype
        assert distance(real.numpy(), sf.irfft(half.astype(np.clongdouble), n=n)) < bound


def test_lines_that_lie_otherwise():
    rng = np.random.default_rng(1)
    for shape in ((3, 16, 20, 9), (70, 5, 33), (2, 128, 3)):
        z = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
        for order in (range(len(shape)), range(len(shape) - 1, -1, -1), (1, 0, *range(2, len(shape)))):
            a, t = z.transpose(tuple(order)), tp.from_numpy(z.copy()).permute(tuple(order))
            for axis in range(len(shape)):
                np.testing.assert_allclose(fft.fft(t, dim=axis).numpy(), sf.fft(a, axis=axis), atol=1e-12)
                np.testing.assert_allclose(fft.rfft(t.real, dim=axis).numpy(), sf.rfft(a.real, axis=axis), atol=1e-12)
                np.testing.assert_allclose(fft.irfft(t, dim=axis).numpy() if a.shape[axis] > 1 else 0,
                                           sf.irfft(a, axis=axis) if a.shape[axis] > 1 else 0, atol=1e-12)  # fmt: skip
            np.testing.assert_allclose(fft.fftn(t[..., ::2]).numpy(), sf.fftn(a[..., ::2]), atol=1e-10)


def test_lines_do_not_touch_each_other():
    x = np.random.default_rng(2).standard_normal((8, 15))
    for bad in (np.nan, np.inf):
        y = x.copy()
        y[3, 4] = bad
        for f in (fft.fft, fft.rfft, fft.ihfft, fft.irfft, fft.hfft):
            got, clean = f(tp.from_numpy(y)).numpy(), f(tp.from_numpy(x)).numpy()
            np.testing.assert_array_equal(np.delete(got, 3, 0), np.delete(clean, 3, 0))
            assert not np.isfinite(got[3]).all()


@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_several_dimensions(kind, norm):
    rng = np.random.default_rng(3)
    a = rng.standard_normal((4, 5, 6))
    a = a if kind in ("rfft", "ihfft") else a + 1j * rng.standard_normal((4, 5, 6))
    t = tp.from_numpy(a)
    for s, dim in ((None, None), (None, (0, 2)), ((3, 8), (2, 0)), ((7,), None), ((5, -1, 4), (0, 1, 2))):
        size = None if s is None else [a.shape[d] if n == -1 else n for n, d in zip(s, dim or [0] * 3)]
        want = getattr(sf, kind + "n")(a, size, dim, norm)
        np.testing.assert_allclose(getattr(fft, kind + "n")(t, s, dim, norm).numpy(), want, atol=1e-12)
    want = getattr(sf, kind + "2")(a, norm=norm)
    np.testing.assert_allclose(getattr(fft, kind + "2")(t, norm=norm).numpy(), want, atol=1e-12)


def test_round_trips_and_energy():
    rng = np.random.default_rng(4)
    for n in (2, 7, 30, 64, 101):
        x = tp.from_numpy(rng.standard_normal((5, n)))
        z = tp.complex(x, x.flip(1))
        np.testing.assert_allclose(fft.ifft(fft.fft(z)).numpy(), z.numpy(), atol=1e-14)
        np.testing.assert_allclose(fft.irfft(fft.rfft(x), n=n).numpy(), x.numpy(), atol=1e-14)
        np.testing.assert_allclose(fft.hfft(fft.ihfft(x), n=n).numpy(), x.numpy(), atol=1e-14)
        assert abs(fft.fft(z, norm="ortho").abs().square().sum() - z.abs().square().sum()) < 1e-11


def test_orders_and_frequencies():
    for n in (1, 2, 5, 8):
        np.testing.assert_allclose(fft.fftfreq(n, 0.3, dtype=tp.float64).numpy(), np.fft.fftfreq(n, 0.3), rtol=1e-15)
        np.testing.assert_allclose(fft.rfftfreq(n, 0.3, dtype=tp.float64).numpy(), np.fft.rfftfreq(n, 0.3), rtol=1e-15)
        a = np.arange(n * 3).reshape(n, 3)
        np.testing.assert_array_equal(fft.fftshift(tp.from_numpy(a)).numpy(), np.fft.fftshift(a))
        np.testing.assert_array_equal(fft.ifftshift(tp.from_numpy(a), dim=0).numpy(), np.fft.ifftshift(a, 0))
    assert fft.fftfreq(4).dtype is tp.float32


def test_short_time_transforms():
    rng = np.random.default_rng(5)
    x = rng.standard_normal(300)
    window = get_window("hann", 64)
    t, w = tp.from_numpy(x), tp.from_numpy(window)
    ours = tp.stft(t, 64, hop_length=16, window=w, pad_mode="constant").numpy()
    _, _, theirs = pytest.importorskip("scipy.signal").stft(x, window=window, nperseg=64, noverlap=48, padded=False)
    np.testing.assert_allclose(ours[:, : theirs.shape[1]] / window.sum(), theirs, atol=1e-14)
    for normalized in (False, True):
        for onesided in (False, True):
            y = t.stft(64, 16, window=w, normalized=normalized, onesided=onesided)
            back = y.istft(64, 16, window=w, normalized=normalized, onesided=onesided, length=300)
            np.testing.assert_allclose(back.numpy()[:288], x[:288], atol=1e-13)
    assert tp.stft(t, 64, window=w, return_complex=False).shape[-1] == 2


def test_errors():
    x = tp.ones(3, 4)
    for call, kind, text in (
        (lambda: fft.fft(tp.tensor(1.0)), IndexError, "fft.fft: "),
        (lambda: fft.fft(x, dim=2), IndexError, "fft.fft: "),
        (lambda: fft.fft(x, n=0), RuntimeError, "fft.fft: no transform of 0 points"),
        (lambda: fft.fft(x, n=-1), RuntimeError, "fft.fft: "),
        (lambda: fft.fft(x[:, :0]), RuntimeError, "fft.fft: no transform of 0 points"),
        (lambda: fft.irfft(x[:, :1]), RuntimeError, "fft.irfft: no transform of 0 points"),
        (lambda: fft.fft(x, norm="both"), ValueError, "fft.fft: norm must be"),
        (lambda: fft.rfft(x.to(tp.complex64)), TypeError, "fft.rfft: expected a real tensor"),
        (lambda: fft.fft(x.half()), TypeError, "fft.fft: no transform of dtype float16"),
        (lambda: fft.fftn(x, s=(2,), dim=(0, 1)), ValueError, "fft.fftn: 1 sizes in s for 2 dimensions"),
        (lambda: fft.fftn(x, s=(2, 2, 2)), ValueError, "fft.fftn: 3 sizes"),
        (lambda: fft.fftn(x, dim=(0, 0)), (ValueError, RuntimeError), "fft.fftn: "),
        (lambda: fft.ifftn(tp.tensor(1.0), dim=(0,)), IndexError, "fft.ifftn: a 0-d tensor has no dimensions"),
        (lambda: fft.fft2(tp.tensor(1.0), s=(2, 2)), IndexError, "fft.fft2: a 0-d tensor has no dimensions"),
        (lambda: fft.rfftn(tp.tensor(1.0)), ValueError, "fft.rfftn: at least one dimension"),
        (lambda: fft.fftfreq(0), ValueError, "fft.fftfreq: n must be positive"),
        (lambda: fft.rfftfreq(3, dtype=tp.int64), TypeError, "fft.rfftfreq: a floating dtype"),
        (lambda: tp.stft(tp.ones(5), 16, center=False), RuntimeError, "stft: n_fft 16 exceeds the 5 points"),
        (lambda: tp.stft(tp.ones(2, 2, 5), 4), RuntimeError, "stft: a signal of 1 or 2 dimensions"),
        (lambda: tp.stft(tp.ones(9), 4, window=tp.ones(3)), RuntimeError, r"stft: a window of shape \[4\]"),
        (lambda: tp.stft(tp.ones(9), 4, hop_length=0), RuntimeError, "stft: hop_length must be positive"),
        (lambda: tp.stft(tp.ones(9), 4, win_length=5), RuntimeError, "stft: win_length must be between"),
        (lambda: tp.istft(tp.ones(3, 4), 4), RuntimeError, "istft: a complex tensor is needed"),
        (lambda: tp.istft(tp.ones(4, 4, dtype=tp.complex64), 9), RuntimeError, "istft: 5 frequencies are needed"),
        (lambda: tp.istft(tp.ones(3, 4, dtype=tp.complex64), 4, window=tp.zeros(4)), RuntimeError, "without weight"),
    ):
        with pytest.raises(kind, match=text):
            call()


def test_threads_share_plans():
    rng = np.random.default_rng(6)
    xs = [rng.standard_normal(n) for n in range(2, 160)]
    want = [np.fft.fft(x) for x in xs]
    failed = []

    def work(seed):
        for i in np.random.default_rng(seed).permutation(len(xs)):  # more lengths than plans are kept
            if not np.allclose(fft.fft(tp.from_numpy(xs[i])).numpy(), want[i], atol=1e-10):
                failed.append(i)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_second_derivatives_of_a_spectrum():
    """The power spectrum's Hessian in closed form: 2 Re(F^H diag(w) F)."""
    n = 6
    weight = tp.from_numpy(np.arange(1.0, n + 1))
    x = tp.from_numpy(np.random.default_rng(7).standard_normal(n)).requires_grad_()
    (g,) = tp.autograd.grad((fft.fft(x).abs().square() * weight).sum(), x, create_graph=True)
    rows = [tp.autograd.grad(g[i], x, retain_graph=True)[0].numpy() for i in range(n)]
    matrix = np.fft.fft(np.eye(n))
    np.testing.assert_allclose(rows, 2 * (matrix.conj().T @ np.diag(weight.numpy()) @ matrix).real, atol=1e-12)


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 16])
def test_windows(n, periodic):
    for function, name in ((tp.bartlett_window, "bartlett"), (tp.blackman_window, "blackman"),
                           (tp.hamming_window, "hamming"), (tp.hann_window, "hann"),
                           (tp.kaiser_window, ("kaiser", 12.0))):  # fmt: skip
        want = get_window(name, n, fftbins=periodic) if n else np.zeros(0)
        np.testing.assert_allclose(function(n, periodic, dtype=tp.float64).numpy(), want, atol=1e-15)
    for function in (tp.hann_window, tp.kaiser_window):
        with pytest.raises(ValueError, match="negative window_length"):
            function(-1)
        with pytest.raises(TypeError, match="a floating dtype"):
            function(4, dtype=tp.int64)
