"""Row 1: side effects are computed but not tracked; what escapes stays printable and refuses arithmetic."""

import pytest

import tensorplay as tp
from tensorplay.func import grad, grad_and_value, jacfwd, jacrev, jvp, vjp, vmap
from tensorplay.testing import assert_close

X = tp.tensor([0.5, 1.0, 2.0], dtype=tp.float64)


def _escapes():
    """(name of the transform in messages, function that runs it on a function of one tensor)"""
    return [
        ("vmap", lambda f: vmap(f)(X)),
        ("grad", lambda f: grad(lambda x: f(x).sum())(X)),
        ("grad", lambda f: grad_and_value(lambda x: f(x).sum())(X)),
        ("vjp", lambda f: vjp(f, X)),
        ("jvp", lambda f: jvp(f, (X,), (X,))),
        ("jacrev", lambda f: jacrev(f)(X)),
        ("jacfwd", lambda f: jacfwd(f)(X)),
    ]


@pytest.mark.parametrize("name, run", _escapes())
def test_what_escapes_can_be_looked_at_but_not_used(name, run):
    kept = []

    def f(x):
        kept.append(x.sin())
        return kept[-1].sin()

    run(f)
    y = kept[0]
    assert repr(y) and str(y)
    assert isinstance(tuple(y.shape), tuple) and y.dtype is tp.float64 and y.ndim == len(y.shape)
    if name == "vjp":  # its graph is kept for the vjp function, the tensor's level has ended all the same
        pass
    for use in (lambda: y + 1, lambda: y * y, lambda: tp.exp(y), lambda: y.sum(), lambda: X + y):
        with pytest.raises(RuntimeError) as caught:
            use()
        text = str(caught.value)
        assert name in text and "\n" not in text


def test_a_global_is_assigned_and_aux_hands_the_value_back():
    seen = []

    def f(x):
        y = x.sin()
        seen.append(y)
        return y.sin(), y

    x = tp.tensor(0.7, dtype=tp.float64)
    g, y = grad(f, has_aux=True)(x)
    assert len(seen) == 1
    assert_close(y, x.sin())
    assert_close(y + 1, x.sin() + 1)  # aux has left the transform
    assert_close(g, x.sin().cos() * x.cos())


@pytest.mark.parametrize("n", [1, 2])
def test_aux_may_be_a_tree(n):
    def f(x):
        y = x * 2
        return (y * y).sum(), {"y": y, "rest": (y + 1, [3, "text", None])}

    g, aux = grad(f, has_aux=True)(X)
    assert_close(aux["y"], X * 2)
    assert_close(aux["rest"][0], X * 2 + 1)
    assert aux["rest"][1] == [3, "text", None]
    assert_close(g, 8 * X)
    out, back, aux = vjp(lambda x: (x * x, x + n), X, has_aux=True)
    assert_close(aux, X + n)
    _, _, aux = jvp(lambda x: (x * x, x + n), (X,), (X,), has_aux=True)
    assert_close(aux, X + n)
    _, aux = jacrev(lambda x: (x * x, x + n), has_aux=True)(X)
    assert_close(aux, X + n)
    _, aux = jacfwd(lambda x: (x * x, x + n), has_aux=True)(X)
    assert_close(aux, X + n)


def test_the_message_names_the_inner_transform_of_a_nest():
    kept = []

    def f(x):
        kept.append(x * 2)
        return kept[-1].sum()

    vmap(grad(f))(tp.ones(2, 3, dtype=tp.float64))
    with pytest.raises(RuntimeError, match="grad"):
        kept[0] + 1


def test_an_escaped_tensor_is_released_like_any_other():
    from tensorplay._clib import lib

    before = lib.tp_live_tensors()
    for _ in range(20):
        kept = []
        vmap(lambda x: kept.append(x * 2) or x)(X)
        grad(lambda x: (kept.append(x * 2), x.sum())[1])(X)
        kept.clear()
    assert lib.tp_live_tensors() <= before + 2
