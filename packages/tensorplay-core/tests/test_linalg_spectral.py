"""Eigenvalues and singular values: derivatives of what does not depend on the choice of vectors, ties, errors."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, hessian, jacfwd, jvp, vjp, vmap
from tensorplay.testing import gradcheck

RNG = np.random.default_rng(9)
SHAPES = [(3, 3), (4, 2), (2, 4), (2, 3, 2)]


def random(*shape, imaginary=False):
    return RNG.standard_normal(shape) + (1j * RNG.standard_normal(shape) if imaginary else 0)


def symmetric(a):
    return a + a.mH


def orthogonal(n):
    return np.linalg.qr(random(n, n))[0]


# ---- derivatives against finite differences, both modes, to second order ----


def of_eigh(a):
    """exp of the Hermitian part, and the projector on the first two eigenvectors."""
    w, v = tp.linalg.eigh(symmetric(a))
    first = v[..., :2]
    return (v * tp.exp(w * 0.3).unsqueeze(-2)) @ v.mH, first @ first.mH, w


@pytest.mark.parametrize("imaginary", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (1, 1), (0, 0)])
def test_functions_of_eigenvectors(shape, imaginary):
    a = tp.from_numpy(random(*shape, imaginary=imaginary) + np.diag(2.0 * np.arange(shape[-1])))
    assert gradcheck(of_eigh, (a,), order=2)
    assert gradcheck(lambda x: tp.linalg.eigvalsh(symmetric(x), "U"), (a,), order=2)


def of_svd(a, full=False):
    """The polar factor, a smooth function of the singular values, the projectors on their spaces, the values."""
    u, s, vh = tp.linalg.svd(a, full_matrices=full)
    k = s.shape[-1]
    u1, v1 = u[..., :k], vh[..., :k, :]
    rest = u[..., k:]
    return u1 @ v1, (u1 * tp.sin(s).unsqueeze(-2)) @ v1, u1 @ u1.mH, rest @ rest.mH, v1.mH @ v1, s


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("imaginary", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_functions_of_singular_vectors(shape, imaginary, full):
    a = tp.from_numpy(random(*shape, imaginary=imaginary) + 3 * np.eye(*shape[-2:]) * (1 + np.arange(shape[-1])))
    assert gradcheck(lambda x: of_svd(x, full), (a,), order=2)
    assert gradcheck(tp.linalg.svdvals, (a,), order=2)
    assert gradcheck(lambda x: tp.svd(x)[1], (a,), order=2)


@pytest.mark.parametrize("imaginary", [False, True])
def test_functions_of_general_eigenvectors(imaginary):
    def f(a):
        w, v = tp.linalg.eig(a)
        whole = tp.linalg.solve(v, v * tp.exp(w * 0.2).unsqueeze(-2), left=False)  # the exponential of 0.2 a
        lengths = (v.abs() ** 2).cumsum(-2)
        return whole, lengths, tp.linalg.eigvals(a).abs().sum(-1), w.abs().square().sum(-1)

    a = tp.from_numpy(random(2, 3, 3, imaginary=imaginary) + np.diag([0.0, 2.0, 5.0]))
    assert gradcheck(f, (a,), order=2)


@pytest.mark.parametrize("imaginary", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_pseudoinverse(shape, imaginary):
    a = tp.from_numpy(random(*shape, imaginary=imaginary))
    assert gradcheck(tp.linalg.pinv, (a,), order=2)
    low = random(*shape[:-1], 1) @ random(*shape[:-2], 1, shape[-1])
    x = tp.from_numpy(random(*shape[:-1], 1))
    y = tp.from_numpy(random(*shape[:-2], 1, shape[-1]))
    assert gradcheck(lambda p, q: tp.linalg.pinv(p @ q, rtol=1e-8), (x, y), order=2)  # along matrices of rank 1
    np.testing.assert_allclose(tp.linalg.pinv(tp.from_numpy(low)).numpy(), np.linalg.pinv(low), atol=1e-12)


@pytest.mark.parametrize("ord", ["nuc", "fro", 2, -2, 1, -1, float("inf"), -float("inf")])
def test_matrix_norms(ord):
    a = random(2, 3, 4) + 0.2j * random(2, 3, 4)
    t = tp.from_numpy(a)
    for dim in ((-2, -1), (2, 1), (0, 2)):
        want = np.linalg.norm(a, ord, dim)
        np.testing.assert_allclose(tp.linalg.matrix_norm(t, ord, dim).numpy(), want, rtol=1e-13)
        np.testing.assert_allclose(tp.linalg.norm(t, ord, dim, keepdim=True).numpy(),
                                   np.linalg.norm(a, ord, dim, keepdims=True), rtol=1e-13)  # fmt: skip
    assert gradcheck(lambda x: tp.linalg.matrix_norm(x, ord), (t,), order=2)


# ---- coinciding values ----


def test_gradients_at_ties():
    q = orthogonal(4)
    for a in (2 * q, np.eye(4), np.diag([1.0, 1.0, 3.0, 3.0]), np.zeros((4, 4)), np.ones((4, 4))):
        t, h = tp.from_numpy(a), tp.from_numpy(a + a.T)
        np.testing.assert_allclose(grad(lambda x: (tp.linalg.svdvals(x) ** 2).sum())(t).numpy(), 2 * a, atol=1e-12)
        g = grad(lambda x: (tp.linalg.eigvalsh(x) ** 2).sum())(h).numpy()
        np.testing.assert_allclose((g + g.T) / 2, 2 * (a + a.T), atol=1e-12)
        g = grad(lambda x: tp.linalg.svd(x)[1].sum() + tp.linalg.eigh(x + x.T)[0].sum())(t).numpy()
        assert np.isfinite(g).all()
        w, v = tp.linalg.eigh(h)
        assert np.isfinite(grad(lambda x: tp.linalg.eigh(x)[1].abs().sum())(h).numpy()).all()
    np.testing.assert_allclose(grad(lambda x: tp.linalg.matrix_norm(x, "nuc"))(tp.from_numpy(2 * q)).numpy(), q,
                               atol=1e-12)  # fmt: skip


def second_of_nuclear(a, e):
    """d^2/dt^2 of the nuclear norm of a + t e: the sum of K_ij^2 / (s_i + s_j) over i < j, K = U^T e V - V^T e^T U."""
    u, s, vh = np.linalg.svd(a)
    k = u.T @ e @ vh.T
    k = k - k.T
    return (k**2 / (s[:, None] + s)).sum() / 2


@pytest.mark.parametrize("gap", [0.0, 1e-15, 1e-9, 1e-4, 1.0])
def test_second_derivative_of_the_nuclear_norm_at_ties(gap):
    u, v = orthogonal(4), orthogonal(4)
    a, e = u @ np.diag([2 + gap, 2.0, 2.0, 0.5]) @ v, random(4, 4)
    t, d = tp.from_numpy(a), tp.from_numpy(e)

    def along(x):
        return tp.linalg.matrix_norm(t + x * d, "nuc")

    want = second_of_nuclear(a, e)
    zero = tp.zeros((), dtype=tp.float64)
    assert abs(grad(grad(along))(zero).item() / want - 1) < 1e-10
    assert abs(jacfwd(grad(along))(zero).item() / want - 1) < 1e-10
    assert abs(jacfwd(jacfwd(along))(zero).item() / want - 1) < 1e-10 + (1e-13 / gap if gap > 1e-14 else 0)
    assert abs(vmap(hessian(along))(zero.expand(2))[1].item() / want - 1) < 1e-10


@pytest.mark.parametrize("gap", [1e-9, 1e-6, 1e-3])
def test_second_derivatives_next_to_ties(gap):
    """sum of the squares is a polynomial: its Hessian is twice the identity whatever the values."""
    q = orthogonal(3)
    h = tp.from_numpy(q @ np.diag([1.0, 1.0 + gap, 3.0]) @ q.T)
    e = symmetric(tp.from_numpy(random(3, 3)))

    def along(x):
        return (tp.linalg.eigvalsh(h + x * e) ** 2).sum() + (tp.linalg.svdvals(h + x * e) ** 2).sum()

    zero = tp.zeros((), dtype=tp.float64)
    want = 4 * (e * e).sum().item()
    for second in (grad(grad(along)), jacfwd(grad(along)), jacfwd(jacfwd(along))):
        assert abs(second(zero).item() / want - 1) < 1e-12 / gap + 1e-12


# ---- the rest ----


def test_compositions_of_depth_two():
    a = tp.from_numpy(random(3, 4, 4) + 4 * np.eye(4) * (1 + np.arange(4)))
    t = tp.from_numpy(random(3, 4, 4))

    def f(x):
        return tp.linalg.svdvals(x).log().sum() + tp.linalg.eigvalsh(symmetric(x)).exp().mean()

    loop = tp.stack([jvp(grad(f), (x,), (y,))[1] for x, y in zip(a, t)])
    np.testing.assert_allclose(vmap(lambda x, y: jvp(grad(f), (x,), (y,))[1])(a, t).numpy(), loop.numpy(), rtol=1e-9)
    pulled = vmap(lambda x, y: vjp(lambda z: jvp(f, (z,), (y,))[1], x)[1](tp.ones((), dtype=tp.float64))[0])(a, t)
    np.testing.assert_allclose(pulled.numpy(), loop.numpy(), rtol=1e-9)


def test_ranks_and_conditions():
    low = random(2, 5, 2) @ random(2, 2, 4)
    assert tp.linalg.matrix_rank(tp.from_numpy(low)).tolist() == [2, 2]
    assert tp.linalg.matrix_rank(tp.eye(3), hermitian=True).item() == 3
    assert tp.linalg.matrix_rank(tp.zeros(3, 3)).item() == 0 and tp.linalg.matrix_rank(tp.zeros(0, 3)).item() == 0
    assert tp.linalg.matrix_rank(tp.diag(tp.tensor([5.0, 1, 0.1])), atol=0.5).item() == 2
    assert tp.linalg.matrix_rank(tp.diag(tp.tensor([5.0, 1, 0.1])), rtol=tp.tensor(0.5)).item() == 1
    assert tp.linalg.cond(tp.zeros(2, 2)).isnan().item()
    assert tp.linalg.cond(tp.diag(tp.tensor([1.0, 0]))).item() == float("inf")


def test_errors():
    bad = tp.eye(3, dtype=tp.float64).repeat(2, 1, 1)
    bad[1, 2, 1] = float("nan")
    for name in ("eigh", "eigvalsh", "eig", "eigvals", "svd", "svdvals", "pinv"):
        f = getattr(tp.linalg, name)
        with pytest.raises(tp.linalg.LinAlgError, match=rf"^linalg.{name}: .*not finite \(matrix 1 of the batch\)$"):
            f(bad)
        with pytest.raises(tp.linalg.LinAlgError, match="matrix 1 of the batch"):
            vmap(f)(bad)
        with pytest.raises(tp.linalg.LinAlgError, match=f"^linalg.{name}: "):
            f(bad[1].clone().fill_(float("inf")))
        with pytest.raises(TypeError, match=f"^linalg.{name}: needs float32"):
            f(tp.ones(2, 2, dtype=tp.int64))
        with pytest.raises(RuntimeError, match=f"^linalg.{name}: needs at least 2"):
            f(tp.ones(2))
    for call, kind, text in (
        (lambda: tp.linalg.eigh(tp.ones(2, 3)), RuntimeError, "linalg.eigh: needs square"),
        (lambda: tp.linalg.eigh(tp.eye(2), UPLO="X"), RuntimeError, "UPLO must be"),
        (lambda: tp.linalg.cond(tp.ones(2, 3), 1), RuntimeError, "linalg.cond: needs square"),
        (lambda: tp.linalg.cond(tp.eye(2), 3), RuntimeError, "p must be"),
        (lambda: tp.linalg.cond(tp.eye(2), "max"), RuntimeError, "p must be"),
        (lambda: tp.linalg.cond(tp.zeros(2, 2), 1), tp.linalg.LinAlgError, "singular"),
        (lambda: tp.linalg.pinv(tp.eye(2), rtol=tp.ones(3)), RuntimeError, "does not fit"),
        (lambda: tp.linalg.matrix_norm(tp.eye(2), "max"), ValueError, "ord must be"),
        (lambda: tp.linalg.matrix_norm(tp.eye(2), 3), ValueError, "no norm of matrices"),
    ):
        with pytest.raises(kind, match=text):
            call()


def small_matrices(n):
    """Ordinary, and what algorithms trip over: ties, zeros, rank one, graded, tridiagonal with gaps, huge and tiny."""
    a = random(n, n)
    a = a + a.T
    q = orthogonal(n)
    line = np.diag(np.arange(n - 1) % 3.0, 1)
    graded = 10.0 ** -np.arange(n)
    return np.stack([a, np.eye(n), np.zeros((n, n)), np.ones((n, n)), np.diag(-np.arange(n * 1.0)), line + line.T,
                     (q * (np.arange(n) // 2)) @ q.T, graded[:, None] * a * graded, a * 1e-160, a * 1e120,
                     np.fliplr(np.eye(n))])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 16, 31, 32, 33])
def test_eigenvalues_of_small_matrices(n, dtype):
    a = small_matrices(n)[: 8 if dtype == np.float32 else None].astype(dtype)
    a = (a + a.swapaxes(-1, -2)) / 2
    w, v = (x.numpy() for x in tp.linalg.eigh(tp.from_numpy(a)))
    size, eps = np.abs(a).max((-2, -1)), n * 8 * np.finfo(dtype).eps
    assert w.dtype == v.dtype == dtype and (np.diff(w) >= 0).all()
    assert (np.abs(w - np.linalg.eigvalsh(a)).max(-1) <= eps * size * n).all()
    assert (np.abs(a @ v - v * w[:, None]).max((-2, -1)) <= eps * size).all()
    assert np.abs(v.swapaxes(-1, -2) @ v - np.eye(n)).max() <= eps
    values = tp.linalg.eigvalsh(tp.from_numpy(np.tril(a) + np.triu(np.full_like(a, np.nan), 1))).numpy()
    assert (np.abs(values - w).max(-1) <= eps * size).all()
