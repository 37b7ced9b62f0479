"""tensorplay.array_api against NumPy's own namespace, which follows the same standard."""

import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import array_api as xp
from tensorplay.func import grad, vmap

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4))
Y = RNG.normal(size=(3, 4))
P = np.abs(X) + 0.5
U = RNG.uniform(-0.9, 0.9, (3, 4))
I = RNG.integers(-5, 6, (3, 4))
J = RNG.integers(1, 5, (3, 4))
B = I > 0
Z = X + 1j * Y
V = RNG.normal(size=5)
DUPLICATES = np.array([3, 1, 3, 2, 1, 1])

NAMES = """
    e inf nan newaxis pi arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like
    tril triu zeros zeros_like astype can_cast finfo iinfo isdtype result_type bool int8 int16 int32 int64 uint8 uint16
    uint32 uint64 float32 float64 complex64 complex128 abs acos acosh add asin asinh atan atan2 atanh bitwise_and
    bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide
    equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p
    log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter
    not_equal positive pow real reciprocal remainder round sign signbit sin sinh square sqrt subtract tan tanh trunc
    take take_along_axis matmul matrix_transpose tensordot vecdot broadcast_arrays broadcast_to concat expand_dims flip
    moveaxis permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin count_nonzero nonzero
    where unique_all unique_counts unique_inverse unique_values argsort sort cumulative_prod cumulative_sum max mean min
    prod std sum var all any diff
"""

CALLS = [
    *[
        (n, (X,), {})
        for n in "abs atan asinh cos cosh exp expm1 floor ceil negative positive sign signbit sin sinh "
        "square tanh tan trunc isfinite isinf isnan round reciprocal".split()
    ],
    *[(n, (P,), {}) for n in "log log1p log2 log10 sqrt".split()],
    *[(n, (U,), {}) for n in "acos asin atanh".split()],
    ("acosh", (P + 1,), {}),
    ("conj", (Z,), {}),
    ("real", (Z,), {}),
    ("imag", (Z,), {}),
    ("sign", (Z,), {}),
    *[
        (n, (X, Y), {})
        for n in "add subtract multiply divide atan2 hypot logaddexp maximum minimum equal less "
        "greater less_equal greater_equal not_equal copysign nextafter".split()
    ],
    *[(n, (X, 2.5), {}) for n in "add subtract multiply divide maximum less".split()],
    *[(n, (2.5, X), {}) for n in "add subtract divide minimum greater".split()],
    *[
        (n, (I, J), {})
        for n in "add floor_divide remainder bitwise_and bitwise_or bitwise_xor bitwise_left_shift "
        "bitwise_right_shift".split()
    ],
    ("pow", (P, Y), {}),
    ("pow", (P, 2), {}),
    ("bitwise_invert", (I,), {}),
    ("logical_not", (B,), {}),
    *[(n, (B, ~B), {}) for n in "logical_and logical_or logical_xor".split()],
    *[(n, (I,), {}) for n in "floor ceil trunc round abs sign square negative".split()],
    ("clip", (X, -0.5, 0.5), {}),
    ("clip", (X,), {"max": 0}),
    ("clip", (X, Y, Y + 1), {}),
    ("clip", (I, -1, None), {}),
    ("add", (X, np.asarray(1, np.float64)), {}),
    ("multiply", (X.astype(np.float32), np.asarray(2.0)), {}),
    *[
        (n, (X,), {"axis": a, "keepdims": k})
        for n in "sum prod max min mean std var".split()
        for a, k in ((None, False), (0, False), ((0, 1), True), (-1, True))
    ],
    *[(n, (X,), {"correction": 1.0}) for n in ("std", "var")],
    *[
        (n, (B,), {"axis": a, "keepdims": k})
        for n in ("all", "any")
        for a, k in ((None, False), (1, True), ((), False))
    ],
    *[(n, (X,), {"axis": a}) for n in ("argmax", "argmin") for a in (None, 0, -1)],
    ("argmax", (X,), {"keepdims": True}),
    ("sum", (I,), {}),
    ("sum", (I.astype(np.uint8),), {}),
    ("sum", (B,), {}),
    ("prod", (J.astype(np.uint16),), {"axis": 1}),
    ("sum", (I.astype(np.int8),), {"axis": 0}),
    ("sum", (X,), {"axis": ()}),
    ("sum", (X.astype(np.float32),), {"dtype": np.float64}),
    ("count_nonzero", (I,), {"axis": 0}),
    ("cumulative_sum", (X,), {"axis": 1}),
    ("cumulative_sum", (V,), {"include_initial": True}),
    ("cumulative_sum", (I.astype(np.uint8),), {"axis": 0, "include_initial": True}),
    ("cumulative_prod", (X,), {"axis": 0}),
    ("diff", (X,), {}),
    ("diff", (X,), {"axis": 0, "n": 2}),
    ("diff", (V,), {"prepend": np.zeros(1), "append": np.ones(2)}),
    ("diff", (V,), {"n": 7}),
    ("diff", (B,), {}),
    ("sort", (X,), {}),
    ("sort", (X,), {"axis": 0, "descending": True}),
    ("argsort", (X,), {"axis": 0}),
    ("nonzero", (I,), {}),
    ("where", (B, X, Y), {}),
    ("where", (B, X, 0.0), {}),
    ("where", (B, I, X), {}),
    ("take", (V, np.array([0, -1, 2])), {}),
    ("take", (X, np.array([2, -2])), {"axis": 0}),
    ("take_along_axis", (X, np.argsort(X, 1)), {}),
    ("take_along_axis", (X, np.array([[0, 1, -1, 0]])), {"axis": 0}),
    *[("unique_" + n, (DUPLICATES,), {}) for n in "all counts inverse values".split()],
    ("unique_all", (DUPLICATES.reshape(2, 3),), {}),
    ("unique_counts", (np.zeros(0),), {}),
    ("matmul", (X, Y.T), {}),
    ("matmul", (X, V[:4]), {}),
    ("matrix_transpose", (X,), {}),
    ("tensordot", (X, Y), {}),
    ("tensordot", (X, Y), {"axes": ((1,), (1,))}),
    ("vecdot", (Z, Z), {}),
    ("vecdot", (I, J), {"axis": 0}),
    ("broadcast_arrays", (X, V[:4]), {}),
    ("broadcast_to", (V, (2, 5)), {}),
    ("concat", ([X, Y],), {"axis": 1}),
    ("concat", ([X, V],), {"axis": None}),
    ("concat", ([X, I],), {}),
    ("stack", ([X, Y],), {"axis": -1}),
    ("expand_dims", (X,), {"axis": 1}),
    ("flip", (X,), {}),
    ("flip", (X,), {"axis": (0,)}),
    ("moveaxis", (X, 0, 1), {}),
    ("permute_dims", (X, (1, 0)), {}),
    ("repeat", (X, 2), {}),
    ("repeat", (X, np.array([1, 0, 2])), {"axis": 0}),
    ("reshape", (X, (2, 6)), {}),
    ("reshape", (X, (-1,)), {"copy": True}),
    ("roll", (X, 1), {}),
    ("roll", (X, (1, 2)), {"axis": (0, 1)}),
    ("roll", (X, 2), {"axis": 1}),
    ("roll", (X, 1), {"axis": (0, 1)}),
    ("squeeze", (X[:, None], 1), {}),
    ("tile", (X, (2, 1)), {}),
    ("unstack", (X,), {}),
    ("unstack", (X,), {"axis": 1}),
    ("meshgrid", (V, V[:2]), {}),
    ("meshgrid", (V, V[:2]), {"indexing": "ij"}),
    ("tril", (X,), {"k": 1}),
    ("triu", (X,), {"k": -1}),
    ("arange", (5,), {}),
    ("arange", (1, 8, 3), {}),
    ("arange", (5, 1), {}),
    ("arange", (0.0, 2.0, 0.5), {"dtype": np.float64}),
    ("eye", (3,), {"dtype": np.float64}),
    ("eye", (3, 4), {"k": 1, "dtype": np.float64}),
    ("eye", (2, 3), {"k": -5, "dtype": np.float64}),
    ("linspace", (0, 1, 5), {"dtype": np.float64}),
    ("linspace", (0, 1, 4), {"endpoint": False, "dtype": np.float64}),
    ("linspace", (2.0, -1.0, 1), {"dtype": np.float64}),
    ("full", ((2, 3), 7), {}),
    ("zeros", ((2,),), {"dtype": np.int8}),
    ("full_like", (I, 3), {}),
    ("ones_like", (X,), {}),
    ("zeros_like", (X,), {"dtype": np.float32}),
    ("astype", (X, np.float32), {}),
    ("astype", (I, np.bool_), {}),
    ("linalg.outer", (V, V), {}),
    ("linalg.trace", (X,), {"offset": 1}),
    ("linalg.diagonal", (X,), {"offset": -1}),
    ("linalg.matrix_norm", (X,), {}),
    ("linalg.vector_norm", (X,), {"axis": 1, "ord": 1}),
    ("linalg.vector_norm", (X,), {}),
    ("linalg.matmul", (X, Y.T), {}),
    ("linalg.cross", (X[:, :3], Y[:, :3]), {}),
    ("linalg.det", (X[:, :3],), {}),
    ("linalg.inv", (X[:, :3],), {}),
    ("linalg.solve", (X[:, :3], V[:3]), {}),
    ("linalg.solve", (X[:, :3], Y), {}),
    ("linalg.matrix_power", (X[:, :3], 3), {}),
    ("linalg.svdvals", (X,), {}),
    ("linalg.slogdet", (X[:, :3],), {}),
    ("linalg.matrix_rank", (X @ X.T,), {}),
    ("linalg.eigvalsh", (X @ X.T,), {}),
    ("linalg.pinv", (X,), {}),
    ("linalg.cholesky", (X @ X.T,), {}),
    ("linalg.cholesky", (X @ X.T,), {"upper": True}),
    ("fft.fftfreq", (5,), {"d": 0.5}),
    ("fft.fftfreq", (6,), {}),
    ("fft.rfftfreq", (5,), {}),
    ("fft.fftshift", (X,), {}),
    ("fft.ifftshift", (V,), {}),
    ("fft.fftshift", (X,), {"axes": 1}),
    ("fft.fft", (V,), {"n": 7}),
    ("fft.ifft", (Z,), {"axis": 0}),
    ("fft.rfft", (V,), {"norm": "ortho"}),
    ("fft.irfft", (Z,), {}),
    ("fft.fftn", (X,), {}),
    ("fft.rfftn", (X,), {"axes": (0, 1)}),
    ("fft.hfft", (Z,), {}),
    ("fft.ihfft", (V,), {}),
]


def look(space, name):
    for part in name.split("."):
        space = getattr(space, part)
    return space


def convert(x):
    if isinstance(x, np.ndarray):
        return tp.tensor(x)
    if isinstance(x, list):
        return [convert(y) for y in x]
    if isinstance(x, type) and issubclass(x, np.generic):
        return getattr(tp, "bool_" if x is np.bool_ else x.__name__)
    return x


@pytest.mark.parametrize("case", range(len(CALLS)), ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(CALLS)])
def test_against_numpy(case):
    name, args, kwargs = CALLS[case]
    try:
        function = look(xp, name)
    except AttributeError:
        pytest.skip(f"no operator for {name}")
    got = function(*map(convert, args), **{k: convert(v) for k, v in kwargs.items()})
    if name in ("sort", "argsort") and kwargs.pop("descending", False):
        want = -np.sort(-args[0], **kwargs)
    elif name == "nextafter":
        want = np.nextafter(*args)
    elif name == "unique_values":  # NumPy's are in no order
        want = np.unique(args[0])
    else:
        want = look(np, name)(*args, **kwargs)
    got, want = (v if isinstance(v, (tuple, list)) else [v] for v in (got, want))
    assert len(got) == len(want)
    for g, w in zip(got, want):
        w = np.asarray(w)
        assert isinstance(g, tp.Tensor) and g.shape == w.shape
        if name not in ("fft.fftfreq", "fft.rfftfreq"):  # of the default dtype
            assert g.dtype.name == w.dtype.name
        np.testing.assert_allclose(g.numpy(), w, rtol=1e-6 if "freq" in name else 1e-10, atol=1e-12)


def test_names():
    names = NAMES.split()
    assert [n for n in names if not hasattr(xp, n)] == []
    assert set(names) <= set(dir(xp)) and xp.__array_api_version__ == "2024.12"
    x = tp.ones(2, 2)
    assert x.__array_namespace__() is xp and x.__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ValueError, match="api_version"):
        x.__array_namespace__(api_version="2011.01")
    with pytest.raises(AttributeError):
        xp.no_such_function
    undocumented = [n for n in dir(xp) if inspect.isfunction(getattr(xp, n)) and not getattr(xp, n).__doc__]
    assert not undocumented
    for name in "to_device __dlpack__ __dlpack_device__ mT T device dtype ndim shape __complex__ __index__".split():
        assert hasattr(x, name)


def test_information():
    info = xp.__array_namespace_info__()
    assert info.default_device() == "cpu" and info.devices() == ["cpu"]
    assert info.default_dtypes()["real floating"] is tp.float32 and info.capabilities()["boolean indexing"]
    assert set(info.dtypes(kind="unsigned integer")) == {"uint8", "uint16", "uint32", "uint64"}
    assert info.dtypes(kind=("bool", "complex floating"))["bool"] is tp.bool_ and len(info.dtypes()) == 13
    with pytest.raises(ValueError):
        info.dtypes(kind="quaternion")
    assert xp.isdtype(tp.float32, ("integral", "real floating")) and not xp.isdtype(tp.int8, "unsigned integer")
    assert xp.isdtype(tp.int8, tp.int8) and xp.isdtype(tp.complex64, "numeric") and not xp.isdtype(tp.bool_, "numeric")
    assert xp.can_cast(tp.int8, tp.int16) and not xp.can_cast(tp.float64, tp.float32)
    assert xp.result_type(tp.ones(2), tp.tensor(1.0, dtype=tp.float64)) is tp.float64
    assert xp.result_type(tp.int8, 3) is tp.int8 and xp.finfo(tp.complex64).dtype is tp.float32
    assert xp.iinfo(tp.ones(1, dtype=tp.uint8)).max == 255 and xp.finfo(tp.float64).eps == 2.0**-52


BAD = [
    (lambda: xp.add(1, 2), TypeError), (lambda: xp.abs(1.0), TypeError), (lambda: xp.add(tp.ones(2), "a"), TypeError),
    (lambda: xp.squeeze(tp.ones(2, 3), 0), ValueError), (lambda: xp.take(tp.ones(2, 3), tp.tensor([0])), ValueError),
    (lambda: xp.reshape(tp.ones(2, 3).t(), (6,), copy=False), ValueError),
    (lambda: xp.astype(tp.ones(2, dtype=tp.complex64), tp.float32), TypeError),
    (lambda: xp.nonzero(tp.tensor(1.0)), ValueError), (lambda: xp.cumulative_sum(tp.ones(2, 2)), ValueError),
    (lambda: xp.vecdot(tp.ones(2), tp.ones(3)), ValueError), (lambda: xp.matrix_transpose(tp.ones(2)), ValueError),
    (lambda: xp.zeros(2, device="cuda"), ValueError), (lambda: xp.result_type(1, 2), ValueError),
    (lambda: xp.linalg.outer(tp.ones(2, 2), tp.ones(2)), ValueError), (lambda: xp.sum(tp.ones(2), axis=3), IndexError),
    (lambda: xp.clip(tp.ones(2), "a"), TypeError),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_input(case):
    call, kind = BAD[case]
    with pytest.raises(kind) as found:
        call()
    assert "\n" not in str(found.value)


def test_under_transforms():
    def f(x):
        space = x.__array_namespace__()
        return space.sum(space.exp(space.clip(x, -1.0, 1.0)) * space.cumulative_sum(x))

    x = tp.tensor(V)
    g = vmap(grad(f))(tp.stack([x, 2 * x]))
    for row, y in zip(g, (x, 2 * x)):
        assert (row - grad(f)(y)).abs().max() < 1e-12


SCIPY = """
import numpy as np, tensorplay as tp
from scipy import special, stats
from scipy.cluster import vq
from scipy.integrate import trapezoid
rng = np.random.default_rng(0)
a, b, m = rng.random(20) + 0.1, rng.random(20) + 0.1, rng.random((12, 3))
calls = [
    lambda a, b, m: special.logsumexp(m, axis=1), lambda a, b, m: special.softmax(m, axis=0),
    lambda a, b, m: special.gammaln(a), lambda a, b, m: special.xlogy(a, b),
    lambda a, b, m: special.betainc(a, b, a / 2),
    lambda a, b, m: stats.zscore(a), lambda a, b, m: stats.kurtosis(m, axis=0),
    lambda a, b, m: stats.ttest_ind(a, b).pvalue,
    lambda a, b, m: stats.pearsonr(a, b).statistic, lambda a, b, m: stats.gmean(a), lambda a, b, m: stats.entropy(a, b),
    lambda a, b, m: stats.rankdata(a), lambda a, b, m: stats.quantile(a, 0.3), lambda a, b, m: stats.circmean(a),
    lambda a, b, m: vq.whiten(m), lambda a, b, m: vq.kmeans(m, m[:3, :])[0], lambda a, b, m: trapezoid(a),
]
for i, f in enumerate(calls):
    got, want = f(tp.tensor(a), tp.tensor(b), tp.tensor(m)), f(a, b, m)
    assert isinstance(got, tp.Tensor), (i, type(got))
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-9)
"""
SKLEARN = """
import numpy as np, tensorplay as tp
from sklearn import config_context, metrics, preprocessing
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel
rng = np.random.default_rng(0)
x, y, p = rng.random((30, 4)), rng.integers(0, 2, 30), rng.integers(0, 2, 30)
calls = [
    lambda x, y, p: preprocessing.StandardScaler().fit_transform(x),
    lambda x, y, p: preprocessing.MinMaxScaler().fit_transform(x),
    lambda x, y, p: preprocessing.Normalizer().fit_transform(x),
    lambda x, y, p: metrics.accuracy_score(y, p), lambda x, y, p: metrics.confusion_matrix(y, p),
    lambda x, y, p: metrics.mean_squared_error(x[:, 0], x[:, 1]), lambda x, y, p: metrics.r2_score(x[:, 0], x[:, 1]),
    lambda x, y, p: metrics.roc_auc_score(y, x[:, 0]), lambda x, y, p: metrics.f1_score(y, p),
    lambda x, y, p: cosine_similarity(x), lambda x, y, p: rbf_kernel(x),
]
with config_context(array_api_dispatch=True):
    for f in calls:
        got, want = f(tp.tensor(x), tp.tensor(y), tp.tensor(p)), f(x, y, p)
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)
"""


@pytest.mark.parametrize("package, code", [("scipy", SCIPY), ("sklearn", SKLEARN)])
def test_other_packages(package, code):
    pytest.importorskip(package)
    env = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
