"""Derivatives to third order, forward, reverse and mapped, of reductions, scans, softmax and sorting."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, hessian, jacfwd, jacrev, jvp, vmap

D = tp.float64
X1 = np.array([0.7, -1.3, 0.4, 2.1])
X2 = np.random.default_rng(0).standard_normal((3, 4))
X3 = np.random.default_rng(1).standard_normal((2, 3, 2))
Z0 = np.array([1.5, 0.0, -2.0, 3.0])
ZZ = np.array([2.0, 0.0, 0.0, 3.0])
Z2 = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [1.0, -2.0, 0.5]])
W = {n: tp.tensor(np.random.default_rng(n).standard_normal(n), dtype=D) for n in range(1, 30)}

CASES = {
    "sum": [
        (lambda x: x.sum() ** 2, X2),
        (lambda x: x.sum(0) ** 3, X2),
        (lambda x: x.sum((0, 2), keepdim=True) ** 2, X3),
    ],
    "mean": [(lambda x: x.mean() ** 2, X2), (lambda x: x.mean(1) ** 3, X2), (lambda x: x.mean((0, 2)) ** 2, X3)],
    "prod": [
        (lambda x: x.prod(), X1),
        (lambda x: x.prod(0), Z2),
        (lambda x: x.prod(1, keepdim=True), Z2),
        (lambda x: x.prod(), Z0),
        (lambda x: x.prod(), ZZ),
        (lambda x: x.prod(), np.zeros(3)),
        (lambda x: x.prod(-1), X3),
    ],
    "amax": [(lambda x: x.amax() ** 3, X2), (lambda x: x.amax(0) ** 3, X2), (lambda x: x.amax((0, 2), True) ** 3, X3)],
    "amin": [(lambda x: x.amin(1) ** 3, X2)],
    "max": [
        (lambda x: x.max() ** 3, X2),
        (lambda x: x.max(0).values ** 3, X2),
        (lambda x: x.min(1, True).values ** 3, X2),
        (lambda x: x.max(-1)[0] ** 2, X3),
        (lambda x: tp.aminmax(x, dim=0).max ** 2 + tp.aminmax(x, dim=0).min, X2),
    ],
    "var": [
        (lambda x: x.var(), X2),
        (lambda x: x.var(0), X2),
        (lambda x: x.var((0, 2), correction=0, keepdim=True), X3),
        (lambda x: tp.var_mean(x, 1)[0] * tp.var_mean(x, 1)[1], X2),
    ],
    "std": [
        (lambda x: x.std(), X2),
        (lambda x: x.std(0), X2),
        (lambda x: x.std((0, 2), correction=0, keepdim=True), X3),
    ],
    "logsumexp": [
        (lambda x: x.logsumexp(0), X2),
        (lambda x: x.logsumexp((0, 2), True), X3),
        (lambda x: x.logsumexp(), X1),
    ],
    "softmax": [(lambda x: x.softmax(0), X2), (lambda x: x.softmax(-1), X2), (lambda x: x.softmax(1), X3)],
    "log_softmax": [
        (lambda x: x.log_softmax(0), X2),
        (lambda x: x.log_softmax(-1), X2),
        (lambda x: x.log_softmax(1), X3),
    ],
    "norm": [
        (lambda x, p=p: tp.linalg.vector_norm(x, p), X1)
        for p in (2, 1, 3, 2.5, 0.5, -1, float("inf"), -float("inf"), 0)
    ]
    + [
        (lambda x: x.norm(dim=0), X2),
        (lambda x: x.norm(3, (0, 2), True), X3),
        (lambda x: tp.linalg.norm(x, 1), X2),
        (lambda x: tp.linalg.norm(x, -float("inf")), X2),
        (lambda x: tp.linalg.norm(x, "fro"), X2),
    ],
    "cumsum": [(lambda x: x.cumsum(0) ** 2, X2), (lambda x: x.cumsum(-1) ** 3, X2)],
    "cumprod": [
        (lambda x: x.cumprod(0), X1),
        (lambda x: x.cumprod(0), Z2),
        (lambda x: x.cumprod(1), Z2),
        (lambda x: x.cumprod(0), ZZ),
        (lambda x: x.cumprod(1), X3),
    ],
    "logcumsumexp": [
        (lambda x: tp.logcumsumexp(x, 0), X1),
        (lambda x: tp.logcumsumexp(x, 1), X2),
        (lambda x: tp.logcumsumexp(x, 0), X2),
    ],
    "cummax": [(lambda x: tp.cummax(x, 0)[0] ** 2, X2), (lambda x: tp.cummin(x, 1).values ** 2, X2)],
    "sort": [
        (lambda x: x.sort(0)[0] ** 3, X2),
        (lambda x: x.sort(-1, descending=True).values ** 2, X2),
        (lambda x: tp.msort(x) ** 2, X2),
    ],
    "topk": [(lambda x: x.topk(2)[0] ** 3, X2), (lambda x: x.topk(1, 0, largest=False, sorted=False)[0] ** 2, X2)],
    "kth": [
        (lambda x: x.kthvalue(2)[0] ** 2, X2),
        (lambda x: x.kthvalue(2, 0, True)[0] ** 2, X2),
        (lambda x: x.median() ** 2, X2),
        (lambda x: x.median(0)[0] ** 2, X2),
    ],
    "nan": [(lambda x: tp.nansum(x, 0) ** 2, X2), (lambda x: tp.nanmean(x) ** 2, X2)],
}
ALL = [pytest.param(f, x, id=f"{n}-{i}") for n, fs in CASES.items() for i, (f, x) in enumerate(fs)]


def t(a):
    return tp.tensor(a, dtype=D)


def fd(f, x, h=1e-5):
    x = np.asarray(x, dtype="float64")
    cols = []
    for i in range(x.size):
        d = np.zeros(x.size)
        d[i] = h
        d = d.reshape(x.shape)
        p, m, p2, m2 = (f(t(x + k * d)).numpy() for k in (1, -1, 2, -2))
        cols.append((8 * (p - m) - (p2 - m2)) / (12 * h))
    j = np.stack(cols, -1)
    return j.reshape(j.shape[:-1] + x.shape)


def close(got, want, tol=2e-7):
    np.testing.assert_allclose(got.numpy(), want, rtol=tol, atol=tol)


@pytest.mark.parametrize("f,x", ALL)
def test_first(f, x):
    want = fd(f, x)
    close(jacrev(f)(t(x)), want)
    close(jacfwd(f)(t(x)), want)


@pytest.mark.parametrize("f,x", ALL)
def test_second(f, x):
    want = fd(jacrev(f), x, 1e-4)
    for j in (jacrev(jacrev(f)), jacfwd(jacrev(f)), jacrev(jacfwd(f)), jacfwd(jacfwd(f))):
        close(j(t(x)), want, 1e-6)


@pytest.mark.parametrize("f,x", ALL)
def test_third(f, x):
    if x.size > 10 and f(t(x)).numel() > 6:
        x = x[:2, :3] if x.ndim < 3 else x
    want = fd(jacrev(jacrev(f)), x, 1e-3)
    for j in (jacrev(jacrev(jacrev(f))), jacfwd(jacrev(jacfwd(f))), jacfwd(jacfwd(jacfwd(f)))):
        close(j(t(x)), want, 2e-5)


@pytest.mark.parametrize("f,x", ALL)
def test_mapped(f, x):
    r = np.random.default_rng(7)
    for b in (0, 1, 3):
        X = (
            np.stack([x] + [x + r.standard_normal(x.shape) * 0.1 for _ in range(2)])[:b]
            if b
            else np.zeros((0, *x.shape))
        )
        for g in (f, jacrev(f), jacfwd(f), jacfwd(jacrev(f))):
            want = np.stack([g(t(v)).numpy() for v in X]) if b else None
            for d in range(x.ndim + 1):
                got = vmap(g, in_dims=d)(t(np.moveaxis(X, 0, d))).numpy()
                if b:
                    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
                else:
                    assert got.shape[0] == 0
            if b:
                got = vmap(vmap(g))(t(np.stack([X, X[::-1]]))).numpy()
                np.testing.assert_allclose(got, np.stack([want, want[::-1]]), rtol=1e-12, atol=1e-12)


def test_mapped_nondiff():
    X = np.random.default_rng(0).integers(-2, 3, (3, 4, 5)).astype("float64")
    for f in (
        lambda x: x.argmax(),
        lambda x: x.argmax(0),
        lambda x: x.argmin(-1, keepdim=True),
        lambda x: x.any(0),
        lambda x: x.all(),
        lambda x: tp.count_nonzero(x, 1),
        lambda x: x.argsort(1),
        lambda x: x.sort(0)[1],
        lambda x: x.topk(2, 0)[1],
        lambda x: x.max(1)[1],
        lambda x: tp.nonzero_static(x, size=7),
        lambda x: tp.cummax(x, 0)[1],
        lambda x: x.median(0)[1],
        lambda x: x.kthvalue(2, 1)[1],
        lambda x: x.sum(dtype=tp.int64),
    ):
        for d in range(3):
            want = np.stack([f(t(v)).numpy() for v in X])
            np.testing.assert_array_equal(vmap(f, in_dims=d)(t(np.moveaxis(X, 0, d))).numpy(), want)
        np.testing.assert_array_equal(vmap(vmap(f))(t(np.stack([X, X]))).numpy(), np.stack([want, want]))
    with pytest.raises(NotImplementedError, match="nonzero_static"):
        vmap(tp.nonzero)(t(X))


ZERO_DIM = dict(
    sum=lambda t: t.sum(0),
    sum_neg=lambda t: t.sum(-1),
    sum_all=lambda t: t.sum(),
    cumsum=lambda t: tp.cumsum(t, 0),
    cumprod=lambda t: tp.cumprod(t, -1),
    logsumexp=lambda t: tp.logsumexp(t, 0),
    amax=lambda t: tp.amax(t, -1),
    mean=lambda t: t.mean(0),
    prod=lambda t: t.prod(0),
    prod_all=lambda t: t.prod(),
    max=lambda t: t.max(0)[0],
    sort=lambda t: t.sort()[0],
    topk=lambda t: t.topk(1)[0],
    kth=lambda t: t.kthvalue(1)[0],
    median=lambda t: t.median(-1)[0],
    cummax=lambda t: tp.cummax(t, 0)[0],
    lcse=lambda t: tp.logcumsumexp(t, 0),
    keep=lambda t: t.sum(0, True),
    prod_keep=lambda t: t.prod(0, True),
    median_all=lambda t: t.median(),
    amin=lambda t: t.amin((0,), True),
)


@pytest.mark.parametrize("name", ZERO_DIM)
def test_zero_dim_samples(name):
    f = ZERO_DIM[name]
    for x in ([2.0], [2.0, -3.0], []):
        np.testing.assert_allclose(vmap(f)(t(x)).numpy(), x)
    for jac in (jacrev, jacfwd):
        r = jac(f)(tp.tensor(0.5))
        assert tuple(r.shape) == ()
        np.testing.assert_allclose(r.numpy(), 1.0)
    assert vmap(lambda t: t.softmax(0))(t([2.0, 1.0])).tolist() == [1.0, 1.0]
    assert vmap(lambda t: t.argmax(0))(t([2.0, 1.0])).tolist() == [0, 0]


def test_ties():
    x = t([1.0, 3.0, 3.0, 2.0, 3.0])
    np.testing.assert_allclose(grad(lambda v: v.amax())(x).numpy(), [0, 1 / 3, 1 / 3, 0, 1 / 3])
    np.testing.assert_allclose(grad(lambda v: v.max())(x).numpy(), [0, 1 / 3, 1 / 3, 0, 1 / 3])
    np.testing.assert_allclose(grad(lambda v: v.max(0)[0])(x).numpy(), [0, 1, 0, 0, 0])
    np.testing.assert_allclose(grad(lambda v: v.sort()[0][-1])(x).numpy(), [0, 0, 0, 0, 1])
    np.testing.assert_allclose(jvp(lambda v: v.amax(), (x,), (t([1.0, 2, 3, 4, 5]),))[1].numpy(), 10 / 3)
    np.testing.assert_allclose(
        grad(lambda v: tp.linalg.vector_norm(v, float("inf")))(t([-3.0, 3.0, 1.0])).numpy(), [-0.5, 0.5, 0]
    )


def test_norm_at_zero():
    X = np.array([[0.0, 0, 0], [1, -2, 2], [0, 3, 0]])
    for nrm in (lambda v: tp.linalg.norm(v), lambda v: v.norm(), lambda v: tp.linalg.vector_norm(v, 2)):
        f = lambda v: nrm(v) ** 2
        np.testing.assert_allclose(vmap(grad(f))(t(X)).numpy(), 2 * X)
        np.testing.assert_allclose(grad(f)(t(X[0])).numpy(), 0)
        np.testing.assert_allclose(grad(nrm)(t(X[0])).numpy(), 0)
        assert float(jvp(f, (t(X[0]),), (t(np.ones(3)),))[1]) == 0
        for h in (hessian(f), jacrev(jacrev(f)), jacfwd(jacfwd(f))):
            np.testing.assert_allclose(h(t(X[1])).numpy(), 2 * np.eye(3), atol=1e-12)
            assert np.isfinite(h(t(X[0])).numpy()).all()
    for p in (1, 1.5, 3, 0.5, float("inf"), -float("inf"), 0):
        for j in (jacrev, jacfwd, hessian):
            assert np.isfinite(j(lambda v: tp.linalg.vector_norm(v, p))(t(X[0])).numpy()).all(), p
            assert np.isfinite(j(lambda v: tp.linalg.vector_norm(v, p))(t(X[2])).numpy()).all(), p


def test_std_of_constants():
    x = t(np.full(4, 2.5))
    for j in (jacrev, jacfwd, hessian):
        assert np.all(np.isfinite(j(lambda v: v.std())(x).numpy()))
    np.testing.assert_allclose(grad(lambda v: v.std())(x).numpy(), 0)
    np.testing.assert_allclose(hessian(lambda v: v.var())(x).numpy(), (np.eye(4) - 0.25) * 2 / 3)
    assert np.isnan(t([1.0]).var().item())
    assert t([1.0]).var(correction=0).item() == 0


def test_logsumexp_infinities():
    inf = float("inf")
    f = lambda v: v.logsumexp(0)
    for j in (grad(f), jacfwd(f)):
        np.testing.assert_allclose(j(t([-inf, -inf])).numpy(), 0)
        np.testing.assert_allclose(j(t([-inf, 0.0, 0.0])).numpy(), [0, 0.5, 0.5])
        np.testing.assert_allclose(j(t([inf, 0.0])).numpy(), [1, 0])
        np.testing.assert_allclose(j(t([1e4, 1e4, -1e4])).numpy(), [0.5, 0.5, 0])
    np.testing.assert_allclose(hessian(f)(t([-inf, -inf])).numpy(), 0)
    np.testing.assert_allclose(hessian(f)(t([-inf, 0.0, 0.0])).numpy(), [[0, 0, 0], [0, 0.25, -0.25], [0, -0.25, 0.25]])
    g = lambda v: tp.logcumsumexp(v, 0)
    for j in (jacrev(g), jacfwd(g)):
        np.testing.assert_allclose(
            j(t([-inf, -inf, 0.0, 0.0])).numpy(), [[0] * 4, [0] * 4, [0, 0, 1, 0], [0, 0, 0.5, 0.5]]
        )
    assert np.isfinite(jacrev(jacrev(g))(t([-inf, 1e4, -1e4])).numpy()).all()


def test_prod_two_zeros():
    X = np.array([[2.0, 0.0, 0.0, 3.0], [1.0, 2.0, 3.0, 4.0], [0.0, 5.0, 1.0, 2.0], [0.0, 0.0, 0.0, 1.0]])

    def expected(x):
        n = len(x)
        return np.array(
            [
                [0.0 if i == j else np.prod([x[k] for k in range(n) if k not in (i, j)]) for j in range(n)]
                for i in range(n)
            ]
        )

    E = np.stack([expected(x) for x in X])
    f = lambda x: tp.prod(x)
    for h in (hessian(f), jacrev(grad(f)), jacfwd(jacfwd(f)), jacrev(jacfwd(f))):
        np.testing.assert_allclose(vmap(h)(t(X)).numpy(), E, atol=1e-12)
    third = jacrev(jacrev(grad(f)))(t([0.0, 0.0, 0.0, 2.0])).numpy()
    assert third[0, 1, 2] == 2 and third[1, 0, 2] == 2 and third[0, 0, 1] == 0 and third[0, 1, 3] == 0


COMPLEX = [
    lambda z: z.sum(0),
    lambda z: z.mean(),
    lambda z: z.prod(),
    lambda z: z.prod(0),
    lambda z: z.cumsum(0),
    lambda z: z.cumprod(1),
    lambda z: z.norm(),
    lambda z: z.norm(1),
    lambda z: z.norm(3),
    lambda z: z.norm(float("inf")),
    lambda z: z.var(0),
    lambda z: z.std(),
    lambda z: z.logsumexp(0),
]


@pytest.mark.parametrize("i", range(len(COMPLEX)))
def test_complex(i):
    f = COMPLEX[i]
    r = np.random.default_rng(3)
    Z, V = (r.standard_normal((3, 3)) + 1j * r.standard_normal((3, 3)) for _ in range(2))
    z, v = tp.tensor(Z), tp.tensor(V)
    h = 1e-6
    want = (f(tp.tensor(Z + h * V)).numpy() - f(tp.tensor(Z - h * V)).numpy()) / (2 * h)
    np.testing.assert_allclose(jvp(f, (z,), (v,))[1].numpy(), want, rtol=1e-7, atol=1e-8)
    from tensorplay.func import vjp

    out, pull = vjp(f, z)
    w = tp.tensor(
        r.standard_normal(out.shape) + (1j * r.standard_normal(out.shape) if out.dtype == tp.complex128 else 0)
    )
    w = w.to(out.dtype)
    (g,) = pull(w)
    lhs = np.real(np.sum(np.conj(w.numpy()) * want))
    rhs = np.real(np.sum(np.conj(g.numpy()) * V))
    np.testing.assert_allclose(lhs, rhs, rtol=1e-7)
    # second order: forward over reverse against differences of the pullback
    F = lambda z: vjp(f, z)[1](w)[0]
    want = (F(tp.tensor(Z + h * V)).numpy() - F(tp.tensor(Z - h * V)).numpy()) / (2 * h)
    np.testing.assert_allclose(jvp(F, (z,), (v,))[1].numpy(), want, rtol=1e-6, atol=1e-7)


def test_half_and_single():
    for dt, tol in ((tp.float32, 1e-5), (tp.float16, 1e-2), (tp.bfloat16, 5e-2)):
        for n, fs in CASES.items():
            f, x = fs[-1] if n != "norm" else fs[0]
            g = grad(lambda v: f(v).sum())(tp.tensor(x).to(dt))
            assert g.dtype == dt, n
            want = grad(lambda v: f(v).sum())(tp.tensor(x).to(dt).to(D)).numpy()
            np.testing.assert_allclose(g.to(D).numpy(), want, rtol=tol * 5, atol=tol * 5, err_msg=n)
