"""The transforms' signatures, pytrees, dimensions and errors; references are closed forms in NumPy."""

import collections
import dataclasses

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import func
from tensorplay.func import (
    chunk_vmap,
    debug_unwrap,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)  # fmt: skip

D = tp.float64
RNG = np.random.default_rng(0)
Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Params:
    w: object
    b: object


def T(a):
    return tp.tensor(np.asarray(a), dtype=D)


def close(a, b):
    np.testing.assert_allclose(a.numpy(), b, rtol=1e-12, atol=1e-14)


# ---- vmap ----


def test_in_dims_and_out_dims():
    x, y = RNG.standard_normal((4, 3, 2)), RNG.standard_normal(3)
    f = lambda a, b: a * b.sum()
    for d in (0, 1, 2, -1, -3):
        close(vmap(f, (d, None))(T(x), T(y)), np.moveaxis(x * y.sum(), d, 0))
    for d in (0, 1, 2, -1):
        close(vmap(lambda a: a, out_dims=d)(T(x)), np.moveaxis(x, 0, d))
    close(vmap(f, (1, 0))(T(x), T(y)), np.moveaxis(x, 1, 0) * y[:, None, None])


def test_pytrees_and_nested_in_dims():
    x, y = RNG.standard_normal((3, 2)), RNG.standard_normal((2, 3))
    f = lambda d, p: {"s": d["x"] + p.a, "t": (p.b, Params(d["x"], p.b))}
    got = vmap(f, ({"x": 0}, Pair(1, None)), out_dims={"s": 1, "t": 0})({"x": T(x)}, Pair(T(y), T([5.0])))
    close(got["s"], (x + y.T).T)
    close(got["t"][0], np.full((3, 1), 5.0))
    assert isinstance(got["t"][1], Params)
    close(got["t"][1].w, x)


def test_keyword_arguments_pass_unmapped():
    close(vmap(lambda a, *, k: a * k.sum())(T([1.0, 2.0]), k=T([3.0, 4.0])), [7, 14])


@pytest.mark.parametrize("size", [0, 1, 5])
def test_batch_sizes(size):
    x = RNG.standard_normal((size, 3))
    close(vmap(lambda a: (a * a).sum())(T(x)), (x * x).sum(1))


@pytest.mark.parametrize("chunk", [1, 2, 5, 100])
def test_chunks(chunk):
    x = RNG.standard_normal((3, 5))
    close(vmap(lambda a: a * 2, 1, 1, chunk_size=chunk)(T(x)), 2 * x)
    close(chunk_vmap(lambda a: a * 2, 1, 1, chunks=chunk)(T(x)), 2 * x)
    tp.manual_seed(3)
    r = vmap(lambda a: a + tp.rand(()), randomness="same", chunk_size=chunk)(tp.zeros(5)).numpy()
    assert (r == r[0]).all()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: vmap(lambda a: a, randomness="often"), RuntimeError, "randomness"),
        (lambda: vmap(lambda a: a)(), ValueError, "no positional argument"),
        (lambda: vmap(lambda a: a, None)(T([1.0])), ValueError, "in_dims"),
        (lambda: vmap(lambda a: a, (0, 0))(T([1.0])), ValueError, "2 entries for 1"),
        (lambda: vmap(lambda a: a, 1)(T([1.0])), ValueError, "in_dim 1 is out of range"),
        (lambda: vmap(lambda a: a)(tp.ones(())), ValueError, "out of range"),
        (lambda: vmap(lambda a: a)(3.0), ValueError, "float"),
        (lambda: vmap(lambda a: a, (None,))(T([1.0])), ValueError, "at least one"),
        (lambda: vmap(lambda a, b: a)(T([1.0]), T([1.0, 2.0])), ValueError, r"different sizes: \[1, 2\]"),
        (lambda: vmap(lambda a: 3.0)(T([1.0])), ValueError, "float"),
        (lambda: vmap(lambda a: a, out_dims=1)(T([1.0])), ValueError, "out_dim 1"),
        (lambda: vmap(lambda a: a, out_dims=None)(T([1.0])), ValueError, "out_dim None"),
        (lambda: vmap(lambda a: (a, a), out_dims=(0, 0, 0))(T([1.0])), ValueError, "out_dims"),
        (lambda: vmap(lambda a: a, chunk_size=0), ValueError, "chunk_size"),
        (lambda: chunk_vmap(lambda a: a, chunks=0), ValueError, "chunks"),
        (lambda: grad(lambda a: a)(T([1.0])), RuntimeError, "0-d"),
        (lambda: grad(lambda a: 1.0)(T(1.0)), RuntimeError, "float"),
        (lambda: grad(lambda a: a, argnums=1)(T(1.0)), ValueError, "out of range"),
        (lambda: grad(lambda a, b: a, argnums=(0, -2))(T(1.0), T(1.0)), ValueError, "twice"),
        (lambda: grad(lambda a: a)(tp.tensor(1)), RuntimeError, "int64"),
        (lambda: grad(lambda a: a)(1.0), ValueError, "float"),
        (lambda: grad(lambda a: a, has_aux=True)(T(1.0)), RuntimeError, "aux"),
        (lambda: vjp(lambda: 1), RuntimeError, "no primals"),
        (lambda: vjp(lambda a: a, T([1.0]))[1](T([1.0, 2.0])), RuntimeError, "shape"),
        (lambda: vjp(lambda a: a, T([1.0]))[1]((T([1.0]),)), RuntimeError, "structure"),
        (lambda: jvp(lambda a: a, T([1.0]), T([1.0])), RuntimeError, "tuple"),
        (lambda: jvp(lambda a: a, (T([1.0]),), (T([1.0, 2.0]),)), RuntimeError, "shape"),
        (lambda: jvp(lambda a: tp.ones(2), (T([1.0]),), (T([1.0]),), strict=True), RuntimeError, "strict"),
        (lambda: functionalize(lambda a: a, remove="all"), RuntimeError, "remove"),
    ],
)
def test_errors(call, error, words):
    depth = func._levels.depth()
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert func._levels.depth() == depth


# ---- gradients ----


def test_grad_of_pytrees_with_aux_and_keywords():
    def f(p, x, *, scale):
        y = p["w"] * x + p["b"][0]
        return (y * y).sum() * scale, {"y": y}

    w, b, x = 2.0, -1.0, np.array([1.0, 3.0])
    g, aux = grad(f, has_aux=True)({"w": T(w), "b": [T(b)]}, T(x), scale=0.5)
    close(g["w"], ((w * x + b) * x).sum())
    close(g["b"][0], (w * x + b).sum())
    close(aux["y"], w * x + b)
    g, (value, aux) = grad_and_value(f, 1, has_aux=True)({"w": T(w), "b": [T(b)]}, T(x), scale=0.5)
    close(g, (w * x + b) * w)
    close(value, 0.5 * ((w * x + b) ** 2).sum())


def test_unused_argument_has_a_zero_gradient():
    g = grad(lambda a, b: a.sum(), (0, 1))(T([1.0]), T([2.0, 3.0]))
    close(g[1], [0, 0])
    close(jacrev(lambda a, b: a, 1)(T([1.0]), T([2.0, 3.0])), np.zeros((1, 2)))
    close(jacfwd(lambda a, b: a, 1)(T([1.0]), T([2.0, 3.0])), np.zeros((1, 2)))


def test_vjp_outlives_its_level_and_may_be_mapped():
    x = np.array([0.5, -1.0, 2.0])
    out, pull = vjp(lambda a: a.sin(), T(x))
    close(out, np.sin(x))
    cts = RNG.standard_normal((4, 3))
    for _ in range(2):
        close(pull(T(cts[0]))[0], cts[0] * np.cos(x))
    close(vmap(pull)(T(cts))[0], cts * np.cos(x))
    close(grad(lambda c: (pull(c)[0] ** 2).sum())(T(cts[0])), 2 * cts[0] * np.cos(x) ** 2)


def test_an_overwritten_argument_keeps_its_history():
    x = np.array([0.5, 1.0])

    def f(a):
        a.exp_()
        return (a * 3).sum()

    close(grad(f)(T(x)), 3 * np.exp(x))
    close(vjp(lambda a: a.mul_(a), T(x))[1](T([1.0, 1.0]))[0], 2 * x)


def test_jvp_of_pytrees():
    out, t, aux = jvp(lambda d: ({"p": d["x"] * d["y"]}, d["x"]), ({"x": T(2.0), "y": T(3.0)},),
                      ({"x": T(1.0), "y": T(10.0)},), has_aux=True)  # fmt: skip
    assert (float(out["p"]), float(t["p"]), float(aux)) == (6, 23, 2)


def test_linearize_evaluates_once():
    calls = []

    def f(a, b):
        calls.append(1)
        return {"s": a.sin() * b, "t": a.sum()}

    a, b = np.array([0.3, -1.2]), np.array([2.0, 0.5])
    out, push = linearize(f, T(a), T(b))
    for da, db in RNG.standard_normal((3, 2, 2)):
        t = push(T(da), T(db))
        close(t["s"], np.cos(a) * b * da + np.sin(a) * db)
        close(t["t"], da.sum())
    rows = RNG.standard_normal((5, 2))
    close(vmap(push, (0, None))(T(rows), T([0.0, 0.0]))["s"], np.cos(a) * b * rows)
    assert len(calls) == 1
    close(out["s"], np.sin(a) * b)


@pytest.mark.parametrize("jac", [jacrev, jacfwd])
@pytest.mark.parametrize("chunk", [None, 1, 2, 50])
def test_jacobians(jac, chunk):
    a, b = RNG.standard_normal((2, 2)), RNG.standard_normal(3)
    f = lambda x, y: {"o": (x * x).sum(0), "q": x[0, 0] * y}
    j = jac(f, (0, 1), chunk_size=chunk)(T(a), T(b))
    expected = np.zeros((2, 2, 2))
    for i in range(2):
        expected[i, :, i] = 2 * a[:, i]
    close(j["o"][0], expected)
    close(j["o"][1], np.zeros((2, 3)))
    close(j["q"][1], a[0, 0] * np.eye(3))
    j, aux = jac(lambda x: (x * 2, x.sum()), has_aux=True)(T(b))
    close(j, 2 * np.eye(3))
    close(aux, b.sum())


def test_jacobians_of_empty_shapes():
    for jac in (jacrev, jacfwd):
        assert jac(lambda x: x * 2)(tp.ones(0, dtype=D)).shape == (0, 0)
        assert jac(lambda x: x.sum())(tp.ones(0, 2, dtype=D)).shape == (0, 2)


def test_hessian():
    a = RNG.standard_normal(3)
    h = hessian(lambda x: (x**3).sum() + x[0] * x[1])(T(a))
    e = np.diag(6 * a)
    e[0, 1] = e[1, 0] = 1
    close(h, e)
    close(vmap(hessian(lambda x: (x**3).sum()))(T(np.stack([a, 2 * a])))[1], np.diag(12 * a))


def test_complex_gradient_is_the_direction_of_steepest_ascent():
    z = 1.5 - 0.5j
    g = grad(lambda v: (v * v.conj()).real)(tp.tensor(z, dtype=tp.complex128))
    np.testing.assert_allclose(complex(g), 2 * z)


def test_debug_unwrap():
    seen = []
    vmap(lambda a: (seen.append((debug_unwrap(a).shape, a.shape)), a)[1])(tp.ones(4, 3))
    assert seen == [((4, 3), (3,))]
    inner = []
    vmap(grad(lambda a: (inner.append(debug_unwrap(a, recurse=False)), a.sum())[1]))(tp.ones(4, 3))
    assert inner[0].shape == (3,)
    with pytest.raises(TypeError, match="debug_unwrap"):
        debug_unwrap(3)


def test_functionalize_keeps_values_and_writes():
    def f(x):
        y = x.clone()
        y.view(-1).mul_(2)
        return y

    close(functionalize(f)(T([1.0, 2.0])), [2, 4])
    close(vmap(functionalize(f, remove="mutations_and_views"))(T([[1.0], [2.0]])), [[2], [4]])


def test_tangents_and_cotangents_of_another_kind_are_refused():
    x = tp.ones(2)
    for wrong in (tp.ones(2, dtype=tp.int64), tp.ones(2, dtype=tp.bool_), tp.ones(2, dtype=tp.complex64)):
        with pytest.raises(TypeError, match="tangent 0 has dtype"):
            jvp(tp.sin, (x,), (wrong,))
        with pytest.raises(TypeError, match="cotangent 0 has dtype"):
            vjp(tp.sin, x)[1](wrong)
    assert jvp(tp.sin, (x,), (x.double(),))[1].dtype is tp.float32


@pytest.mark.parametrize("f", [tp.unique, tp.unique_consecutive])
def test_distinct_elements_can_not_be_mapped(f):
    with pytest.raises(NotImplementedError, match=r"^Kernel not found for op: unique on backend: VmapCPU \(.*sort"):
        vmap(f)(tp.ones(2, 3))
