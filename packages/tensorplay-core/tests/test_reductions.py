"""Values of reductions, scans, softmax and sorting against NumPy, in every layout of memory."""

import itertools
import warnings

import numpy as np
import pytest

import tensorplay as tp

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTS = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
RTOL = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-6, "float64": 1e-13, "complex64": 3e-6, "complex128": 1e-13}
SHAPES = [(), (1,), (0,), (3, 5), (5, 0), (2, 3, 4), (70, 3), (600, 5), (5, 600), (3, 2100)]
WIDE = [(3, 40, 33), (2, 2, 2, 3), (4099,), (2100, 3), (1, 6, 1)]  # float32 only


def logsumexp(a, axis):
    with np.errstate(all="ignore"):
        top = a.max(axis, keepdims=True)
        shift = np.where(np.isfinite(top), top, 0)
        return np.squeeze(np.log(np.exp(a - shift).sum(axis, keepdims=True)) + shift, axis)


def log_softmax(a, axis):
    return a - np.expand_dims(logsumexp(a, axis), axis)


def pairs(dtypes):
    return [(s, d) for s in SHAPES for d in dtypes] + [(s, "float32") for s in WIDE]


def layouts(a):
    """The same values in other layouts: contiguous, transposed, strided, reversed."""
    yield "c", tp.tensor(a)
    if a.ndim > 1:
        yield "t", tp.tensor(np.ascontiguousarray(a.T)).permute(*range(a.ndim)[::-1])
        q = np.moveaxis(a, 0, -1)
        yield "m", tp.movedim(tp.tensor(np.ascontiguousarray(q)), -1, 0)
    if a.ndim and a.size:
        b = np.repeat(a, 2, axis=-1)
        yield "s", tp.from_numpy(b[..., ::2])
        yield "r", tp.from_numpy(np.ascontiguousarray(a[..., ::-1])[..., ::-1])


def make(shape, dtype, seed=0):
    r = np.random.default_rng(seed)
    if dtype == "bool":
        return r.random(shape) > 0.3
    if dtype in INTS:
        return r.integers(0 if dtype[0] == "u" else -5, 9, shape).astype(dtype)
    if dtype.startswith("complex"):
        return (r.standard_normal(shape) + 1j * r.standard_normal(shape)).astype(dtype)
    return np.asarray(r.standard_normal(shape)).astype("float64")


def tensors(shape, dtype, seed=0):
    a = make(shape, dtype, seed)
    for name, t in layouts(a):
        if dtype in FLOATS:
            t = t.to(getattr(tp, dtype))
            a = t.to(tp.float64).numpy()
        yield name, np.asarray(a), t


def numpy_of(t):
    return t.to(tp.float64).numpy() if t.dtype in (tp.float16, tp.bfloat16) else t.numpy()


def check(got, want, dtype, scale=1.0):
    got = numpy_of(got)
    want = np.asarray(want)
    assert got.shape == want.shape, (got.shape, want.shape)
    if dtype in INTS:
        np.testing.assert_array_equal(got, want)
    else:
        rtol = RTOL[dtype]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_allclose(got, want, rtol=rtol * 4, atol=rtol * scale)


def all_dims(ndim):
    yield None
    for k in range(1, ndim + 1):
        yield from itertools.combinations(range(ndim), k)
    if ndim:
        yield -1


@pytest.mark.parametrize("shape,dtype", pairs(FLOATS + INTS + ["complex64", "complex128"]))
def test_sum_mean(shape, dtype):
    for (_, a, t), keep in itertools.product(tensors(shape, dtype), (False, True)):
        for d in all_dims(a.ndim):
            b = a.astype("int64") if dtype in INTS else a
            scale = np.sqrt(max(a.size, 1)) * 4
            check(t.sum(d, keep), b.sum(d, keepdims=keep), dtype, scale)
            if dtype not in INTS:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    check(t.mean(d, keepdim=keep), b.mean(d, keepdims=keep), dtype, 4)


@pytest.mark.parametrize("shape,dtype", pairs(FLOATS + INTS + ["complex64", "complex128"]))
def test_prod(shape, dtype):
    for (_, a, t), keep in itertools.product(tensors(shape, dtype), (False, True)):
        b = a.astype("int64") if dtype in INTS else a
        if a.size > 200 and dtype not in INTS:
            m = np.exp(np.mean(np.log(np.abs(a) + 1e-3)))
            t = t / float(m)
            b = numpy_of(t)
            if dtype in ("float16", "bfloat16"):
                continue
        for d in [None, *range(a.ndim)]:
            got, want = numpy_of(t.prod(d, keep)), b.prod(d, keepdims=keep)
            if dtype in INTS:
                np.testing.assert_array_equal(got, want)
            else:
                np.testing.assert_allclose(
                    got, want, rtol=RTOL[dtype] * 2000 if dtype != "float16" else 1e-2, atol=RTOL[dtype]
                )


@pytest.mark.parametrize("shape,dtype", pairs(FLOATS + INTS))
def test_extremes(shape, dtype):
    for (_, a, t), keep in itertools.product(tensors(shape, dtype), (False, True)):
        for d in all_dims(a.ndim):
            n = a.size if d is None else np.prod([a.shape[i] for i in np.atleast_1d(d)])
            out = a.size == 0 and n and d is not None
            if n == 0 and (
                d is None or np.prod([s for i, s in enumerate(a.shape) if i not in np.atleast_1d(d) % a.ndim]) > 0
            ):
                with pytest.raises(ValueError, match="amax"):
                    t.amax(d)
                continue
            if n == 0 or out:
                continue
            check(t.amax(d, keep), a.max(d, keepdims=keep), dtype)
            check(t.amin(d, keep), a.min(d, keepdims=keep), dtype)
        if a.size == 0:
            continue
        assert t.argmax().item() == a.argmax()
        assert t.argmin().item() == a.argmin()
        check(t.max(), a.max(), dtype)
        for d in range(-a.ndim, a.ndim):
            v, i = t.max(d, keep)
            check(v, a.max(d, keepdims=keep), dtype)
            np.testing.assert_array_equal(i.numpy(), a.argmax(d, keepdims=keep))
            v, i = t.min(d, keep)
            check(v, a.min(d, keepdims=keep), dtype)
            np.testing.assert_array_equal(i.numpy(), a.argmin(d, keepdims=keep))
            np.testing.assert_array_equal(t.argmax(d, keep).numpy(), a.argmax(d, keepdims=keep))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_nan_wins(dtype):
    a = np.random.default_rng(1).standard_normal((37, 71)).astype(dtype)
    a[3, 5] = a[3, 7] = a[20, 70] = np.nan
    t = tp.tensor(a)
    for d in (0, 1, None):
        np.testing.assert_array_equal(t.amax(d).numpy(), a.max(d))
        np.testing.assert_array_equal(t.amin(d).numpy(), a.min(d))
        np.testing.assert_array_equal(t.argmax(d).numpy(), a.argmax(d))
        np.testing.assert_array_equal(t.argmin(d).numpy(), a.argmin(d))
    np.testing.assert_array_equal(t.max(1).indices.numpy(), a.argmax(1))
    np.testing.assert_array_equal(t.T.max(1).indices.numpy(), a.argmax(0))


@pytest.mark.parametrize("shape,dtype", pairs(FLOATS + INTS + ["complex64"]))
def test_truth(shape, dtype):
    for (_, a, t), keep in itertools.product(tensors(shape, dtype), (False, True)):
        for d in all_dims(a.ndim):
            np.testing.assert_array_equal(t.any(d, keep).numpy(), a.any(d, keepdims=keep))
            np.testing.assert_array_equal(t.all(d, keep).numpy(), a.all(d, keepdims=keep))
            np.testing.assert_array_equal(tp.count_nonzero(t, d).numpy(), np.count_nonzero(a, d))


@pytest.mark.parametrize("shape,dtype", pairs(FLOATS + ["complex64", "complex128"]))
def test_var_std(shape, dtype):
    for (_, a, t), keep in itertools.product(tensors(shape, dtype), (False, True)):
        for d in all_dims(a.ndim):
            for c in (1, 0, 2):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    v = a.var(d, ddof=c, keepdims=keep)
                    n = a.size if d is None else np.prod([a.shape[i] for i in np.atleast_1d(d)])
                    if n - c < 0:
                        v = v * 0 + (np.nan if n == 1 or n == 0 else np.inf)
                        if n == 1:
                            v = v * np.nan
                check(t.var(d, correction=c, keepdim=keep), v, dtype)
                check(t.std(d, correction=c, keepdim=keep), np.sqrt(v), dtype)


@pytest.mark.parametrize("shape,dtype", pairs(FLOATS))
def test_logsumexp(shape, dtype):
    for (_, a, t), keep in itertools.product(tensors(shape, dtype), (False, True)):
        for d in all_dims(a.ndim):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = np.log(np.exp(a).sum(d, keepdims=keep))
            check(t.logsumexp(d, keep), want, dtype, 4)


def test_logsumexp_edges():
    inf = np.inf
    a = np.array(
        [
            [-inf, -inf, -inf],
            [inf, 0, 1],
            [1e4, 1e4, 0],
            [-inf, 0, 0],
            [np.nan, 0, 1],
            [-1e4, -1e4, -1e4],
            [inf, -inf, 0],
        ]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = logsumexp(a, 1)
    for x in (tp.tensor(a), tp.tensor(np.ascontiguousarray(a.T)).T):
        np.testing.assert_allclose(tp.logsumexp(x, 1).numpy(), want)
        np.testing.assert_allclose(tp.logsumexp(tp.cat([x] * 12, 1), 1).numpy(), want + np.log(12))
    c = np.array([1 + 2j, 3 - 1j, 700 + 1j])
    np.testing.assert_allclose(tp.logsumexp(tp.tensor(c), 0).numpy(), 700 + np.log(np.exp(c - 700).sum()))
    np.testing.assert_allclose(
        tp.logsumexp(tp.tensor([1, 2]), 0).numpy(), logsumexp(np.array([1.0, 2.0]), 0), rtol=1e-6
    )


@pytest.mark.parametrize("shape,dtype", pairs(FLOATS + ["complex64", "complex128"]))
def test_vector_norm(shape, dtype):
    for (_, a, t), keep in itertools.product(tensors(shape, dtype), (False, True)):
        for d in all_dims(a.ndim):
            for p in (2, 1, 0, 3, 0.5, -1.5, np.inf, -np.inf):
                if np.isinf(p) and a.size == 0:
                    continue
                m = np.abs(a)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    want = {
                        0: lambda: (m != 0).sum(d, keepdims=keep).astype(float),
                        np.inf: lambda: m.max(d, keepdims=keep),
                        -np.inf: lambda: m.min(d, keepdims=keep),
                    }.get(p, lambda: (m**p).sum(d, keepdims=keep) ** (1 / p))()
                if dtype == "float16" and np.any(want > 6e4):
                    continue
                check(tp.linalg.vector_norm(t, p, d, keep), want, dtype, 4)
                check(tp.norm(t, p, d, keep), want, dtype, 4)


def test_norm_range():
    for a in (
        [3e200, 4e200],
        [3e-200, 4e-200],
        [3e-320, 4e-320],
        [1e300, 1e-300],
        [0.0, 0.0],
        [np.inf, 1],
        [np.nan, 1],
        [3e200] * 40,
    ):
        for x in (tp.tensor(a, dtype=tp.float64), tp.tensor([a, a], dtype=tp.float64).T):
            got = tp.linalg.vector_norm(x, 2, 0).numpy()
            m = np.nanmax(np.abs(a))
            want = np.hypot.reduce(np.array(a))
            np.testing.assert_allclose(got, want * np.ones(got.shape), rtol=1e-3 if m < 1e-300 else 1e-14)
    assert tp.linalg.vector_norm(tp.tensor([3e30, 4e30])).item() == pytest.approx(5e30)


def test_matrix_norms():
    a = np.random.default_rng(0).standard_normal((2, 3, 4))
    t = tp.tensor(a)
    for o in (1, -1, np.inf, -np.inf, "fro"):
        np.testing.assert_allclose(tp.linalg.matrix_norm(t, o).numpy(), np.linalg.norm(a, o, (-2, -1)))
        np.testing.assert_allclose(tp.linalg.norm(t, o, (0, 2), True).numpy(), np.linalg.norm(a, o, (0, 2), True))
        np.testing.assert_allclose(tp.linalg.norm(t, o, (2, 0)).numpy(), np.linalg.norm(a, o, (2, 0)))
        np.testing.assert_allclose(tp.linalg.norm(t[0], o).numpy(), np.linalg.norm(a[0], o))
    np.testing.assert_allclose(tp.linalg.norm(t).numpy(), np.linalg.norm(a.ravel()))


@pytest.mark.parametrize("shape,dtype", pairs(FLOATS))
def test_softmax(shape, dtype):
    for _, a, t in tensors(shape, dtype):
        for d in range(-max(a.ndim, 1), max(a.ndim, 1)):
            b = a if a.ndim else a.reshape(1)
            if a.size == 0 and b.shape[d] == 0:
                assert t.softmax(d).shape == t.shape
                continue
            check(t.softmax(d), np.exp(log_softmax(b, d)).reshape(a.shape), dtype)
            check(t.log_softmax(d), log_softmax(b, d).reshape(a.shape), dtype, 8)


def test_softmax_edges():
    inf = np.inf
    a = np.array([[1e4, 1e4, 0], [-1e4, -1e4, -1e5], [-inf, 0, 0], [-inf, -inf, 1]])
    for x in (tp.tensor(a), tp.tensor(np.ascontiguousarray(a.T)).T):
        np.testing.assert_allclose(x.softmax(1).numpy(), [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]])
        np.testing.assert_allclose(x.T.softmax(0).numpy().T, [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]])
        assert x.log_softmax(1).numpy()[2, 0] == -inf
    assert np.isnan(tp.softmax(tp.tensor([-inf, -inf]), 0).numpy()).all()


@pytest.mark.parametrize("shape,dtype", pairs(FLOATS + INTS + ["complex64", "complex128"]))
def test_scans(shape, dtype):
    for _, a, t in tensors(shape, dtype):
        if dtype[0] == "c":  # products stay in range
            a, t = a / 2, t / 2
        b = a.astype("int64") if dtype in INTS else a
        b = b if b.ndim else b.reshape(1)
        for d in range(-b.ndim, b.ndim):
            check(tp.cumsum(t, d), b.cumsum(d).reshape(a.shape), dtype, 2 * np.sqrt(max(a.size, 1)))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                p = b.cumprod(d) if dtype in INTS else None
            if p is None:
                got = numpy_of(tp.cumprod(t, d))
                want = b.astype("complex128" if dtype[0] == "c" else "float64").cumprod(d).reshape(a.shape)
                np.testing.assert_allclose(got, want, rtol=RTOL[dtype] * 400, atol=RTOL[dtype])
            else:
                np.testing.assert_array_equal(tp.cumprod(t, d).numpy(), p.reshape(a.shape))
            if dtype[0] != "c" and dtype not in INTS:
                check(tp.logcumsumexp(t, d), np.log(np.exp(b).cumsum(d)).reshape(a.shape), dtype, 4)
            if dtype[0] != "c":
                v, i = tp.cummax(t, d)
                np.testing.assert_array_equal(numpy_of(v), np.maximum.accumulate(b, d).reshape(a.shape))
                v2 = np.take_along_axis(b, i.numpy().reshape(b.shape), d).reshape(a.shape)
                np.testing.assert_array_equal(numpy_of(v), v2)
                v, i = tp.cummin(t, d)
                np.testing.assert_array_equal(numpy_of(v), np.minimum.accumulate(b, d).reshape(a.shape))


@pytest.mark.parametrize("shape,dtype", pairs(FLOATS + INTS) + [((70000,), d) for d in FLOATS + INTS])
def test_sort(shape, dtype):
    for name, a, t in tensors(shape, dtype):
        if a.size > 60000 and name != "c":
            continue
        if a.size and a.dtype.kind == "f":
            a.flat[:: max(1, a.size // 3)] = np.nan
            t = tp.tensor(a).to(t.dtype)
            a = numpy_of(t)
        b = a if a.ndim else a.reshape(1)
        for d in range(b.ndim):
            i = np.argsort(b, d, kind="stable")
            v, j = t.sort(d)
            np.testing.assert_array_equal(j.numpy().reshape(b.shape), i)
            np.testing.assert_array_equal(numpy_of(v).reshape(b.shape), np.take_along_axis(b, i, d))
            np.testing.assert_array_equal(tp.argsort(t, d).numpy().reshape(b.shape), i)
            v, j = t.sort(d, descending=True, stable=True)
            # descending and stable: the reverse of an ascending sort of the reversed line
            r = b.shape[d] - 1 - np.flip(np.argsort(np.flip(b, d), d, kind="stable"), d)
            np.testing.assert_array_equal(j.numpy().reshape(b.shape), r)
            for k in {0, 1, min(5, b.shape[d]), b.shape[d] // 2, b.shape[d]}:
                if k > b.shape[d]:
                    continue
                v, j = t.topk(k, d)
                jj = j.numpy().reshape(b.shape[:d] + (k,) + b.shape[d + 1 :])
                np.testing.assert_array_equal(jj, np.take(r, range(k), d))
                np.testing.assert_array_equal(numpy_of(v).reshape(jj.shape), np.take_along_axis(b, jj, d))
                v, j = t.topk(k, d, largest=False, sorted=False)
                jj = j.numpy().reshape(jj.shape)
                np.testing.assert_array_equal(jj, np.sort(np.take(i, range(k), d), d))
            for k in {1, b.shape[d] // 2, b.shape[d]}:
                if 0 < k <= b.shape[d]:
                    v, j = t.kthvalue(k, d)
                    np.testing.assert_array_equal(j.numpy().ravel(), np.take(i, k - 1, d).ravel())
                    assert t.kthvalue(k, d, True).values.ndim == a.ndim


def test_median():
    a = np.random.default_rng(0).standard_normal((5, 8))
    t = tp.tensor(a)
    np.testing.assert_array_equal(t.median(1).values.numpy(), np.sort(a, 1)[:, 3])
    np.testing.assert_array_equal(t.median(0).values.numpy(), np.sort(a, 0)[2])
    assert t.median().item() == np.sort(a.ravel())[19]
    a[2, 3] = np.nan
    v, i = tp.tensor(a).median(1)
    assert np.isnan(v.numpy()[2]) and i.numpy()[2] == 3
    assert np.isnan(tp.tensor(a).median().item())
    assert np.isnan(tp.zeros(0).median().item())


def test_signed_zeros_and_nans_sort():
    v, i = tp.sort(tp.tensor([0.0, -0.0, np.nan, -np.inf, np.inf, -0.0]))
    assert i.tolist() == [3, 0, 1, 5, 4, 2]
    assert np.signbit(v.numpy()).tolist()[:4] == [True, False, True, True]


@pytest.mark.parametrize("shape,dtype", pairs(FLOATS + INTS + ["complex64"]))
def test_nonzero(shape, dtype):
    for _, a, t in tensors(shape, dtype):
        want = np.argwhere(a)
        np.testing.assert_array_equal(tp.nonzero(t).numpy(), want)
        for size in (0, 2, len(want) + 3):
            padded = np.full((size, a.ndim), -7)
            padded[: len(want)] = want[:size]
            np.testing.assert_array_equal(tp.nonzero_static(t, size=size, fill_value=-7).numpy(), padded)


def test_nan_forms():
    a = np.array([[1.0, np.nan, 2.0], [np.nan] * 3])
    t = tp.tensor(a)
    np.testing.assert_array_equal(tp.nansum(t, 1).numpy(), [3.0, 0.0])
    np.testing.assert_array_equal(tp.nanmean(t, 1).numpy(), [1.5, np.nan])
    np.testing.assert_array_equal(tp.nanmean(t, 0, True).numpy(), [[1.0, np.nan, 2.0]])


def test_accuracy():
    n = 1 << 22
    x = tp.full((n,), 0.1)
    exact = float(np.float32(0.1)) * n
    assert abs(x.sum().item() - exact) / exact < 5e-7
    assert abs(x.view(n // 4, 4).sum(0).numpy() - exact / 4).max() / exact < 5e-7
    assert abs(x.mean().item() - np.float32(0.1)) < 2e-8
    h = tp.full((100000,), 0.1).to(tp.float16)
    assert h.mean().item() == pytest.approx(0.1, rel=1e-3)
    d = tp.full((n,), 0.1, dtype=tp.float64)
    assert abs(d.sum().item() - 0.1 * n) / (0.1 * n) < 2e-14
    v = tp.tensor(1e8 + np.arange(1000.0))
    np.testing.assert_allclose(v.var().item(), np.arange(1000.0).var(ddof=1), rtol=1e-9)


def test_threads_agree():
    r = np.random.default_rng(3)
    a = tp.tensor(r.standard_normal((1500, 700)).astype("float32"))
    ops = [
        lambda t: t.sum(),
        lambda t: t.sum(0),
        lambda t: t.sum(1),
        lambda t: t.var(),
        lambda t: t.prod(0),
        lambda t: t.norm(),
        lambda t: t.logsumexp(0),
        lambda t: t.argmax(),
        lambda t: t.view(-1, 3).sum(0),
        lambda t: t.view(3, -1).mean(1),
    ]
    before = tp.get_num_threads()
    try:
        tp.set_num_threads(1)
        one = [f(a).numpy() for f in ops]
        tp.set_num_threads(3)
        for w, f in zip(one, ops):
            np.testing.assert_array_equal(f(a).numpy(), w)
    finally:
        tp.set_num_threads(before)


@pytest.mark.parametrize(
    "call,error,text",
    [
        (lambda x: x.sum(2), IndexError, "sum"),
        (lambda x: x.sum((0, 0)), ValueError, "twice"),
        (lambda x: x.sum((0, -2)), ValueError, "twice"),
        (lambda x: tp.zeros(3, dtype=tp.int64).mean(), TypeError, "mean"),
        (lambda x: tp.zeros(3, dtype=tp.int64).var(), TypeError, "var"),
        (lambda x: tp.zeros(0, 3).amax(0), ValueError, r"amax.*\[0, 3\]"),
        (lambda x: tp.zeros(0).argmax(), ValueError, "argmax"),
        (lambda x: tp.zeros(0).max(), ValueError, "amax|max"),
        (lambda x: tp.zeros(2, 0).max(1), ValueError, "max"),
        (lambda x: x.topk(5), ValueError, "topk"),
        (lambda x: x.topk(-1), ValueError, "topk"),
        (lambda x: x.kthvalue(0), ValueError, "kthvalue"),
        (lambda x: x.sort(3), IndexError, "sort"),
        (lambda x: x.softmax(4), IndexError, "softmax"),
        (lambda x: tp.zeros(3, dtype=tp.int64).softmax(0), TypeError, "softmax"),
        (lambda x: x.to(tp.complex64).amax(), TypeError, "amax"),
        (lambda x: x.to(tp.complex64).sort(), TypeError, "sort"),
        (lambda x: tp.linalg.norm(tp.zeros(3, dtype=tp.int64)), TypeError, "norm"),
        (lambda x: tp.norm(x, "bar"), ValueError, "norm"),
        (lambda x: tp.linalg.norm(x, 3), ValueError, "norm"),
        (lambda x: tp.linalg.matrix_norm(x[0]), ValueError, "matrix_norm"),
        (lambda x: tp.nonzero_static(x, size=-1), ValueError, "nonzero_static"),
        (lambda x: x.cumsum(2), IndexError, "cumsum"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(tp.ones(2, 3))


@pytest.mark.parametrize("dtype", [tp.bool, tp.uint8, tp.int32])
def test_the_dtype_that_was_asked_for(dtype):
    x = tp.tensor([[True, False], [True, True]])
    for r in (x.sum(dtype=dtype), x.sum(0, dtype=dtype), x.prod(dtype=dtype), x.prod(1, dtype=dtype),
              x.cumsum(0, dtype=dtype), x.cumprod(1, dtype=dtype)):  # fmt: skip
        assert r.dtype == dtype
    assert x.prod(1, dtype=dtype).tolist() == [0, 1] and x.cumprod(1, dtype=dtype).tolist() == [[1, 0], [1, 1]]


def test_complex_logcumsumexp(transforms):
    z = np.array([[1 + 2j, 0.5 - 1j, -2 + 3j, 800 + 1j], [-900 + 1j, -901 + 0.5j, -899.0, -900 - 2j]])
    top = np.maximum.accumulate(z.real, 1)
    want = np.stack([top[:, k] + np.log(np.exp(z[:, : k + 1] - top[:, k : k + 1]).sum(1)) for k in range(4)], 1)
    x = tp.tensor(z)
    np.testing.assert_allclose(tp.logcumsumexp(x, 1).numpy(), want, rtol=1e-14)
    h, v = 1e-6, np.array([[0.5, 1j, 2.0, -1.0], [1.0, 2.0, 0.5 + 1j, 1j]])
    f = lambda t: tp.logcumsumexp(t, 1)
    slope = (f(tp.tensor(z + h * v)).numpy() - f(tp.tensor(z - h * v)).numpy()) / (2 * h)
    tangent = transforms.jvp(f)(x, tp.tensor(v)).numpy()
    np.testing.assert_allclose(tangent, slope, rtol=1e-6)
    w = np.array([[1.0, 2j, -1.0, 0.5], [1j, 1.0, 1.0, 2.0]])
    ct = transforms.vjp(f)(x, tp.tensor(w)).numpy()
    np.testing.assert_allclose((ct.conj() * v).sum(), (w.conj() * tangent).sum(), rtol=1e-12)
    assert tp.logcumsumexp(tp.tensor([complex(-np.inf, 0), 1j]), 0).tolist()[1] == pytest.approx(1j)
