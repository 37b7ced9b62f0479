"""Rows 8 and 9: item, nonzero, numpy and conditions on mapped and tracked tensors."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import debug_unwrap, grad, jvp, vmap
from tensorplay.testing import assert_close

X = tp.tensor([1.0, 2.0, 3.0])


def raised(kind, f, *words):
    with pytest.raises(kind) as caught:
        f()
    text = str(caught.value)
    assert "\n" not in text
    for word in words:
        assert word in text
    return text


def test_item_on_a_mapped_tensor():
    raised(RuntimeError, lambda: vmap(lambda x: tp.tensor(x.item()))(X), "item")
    raised(RuntimeError, lambda: vmap(lambda x: tp.tensor(x.tolist()))(X))


def test_nonzero_names_the_static_form_which_works():
    x = tp.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]])
    raised(NotImplementedError, lambda: vmap(tp.nonzero)(x), "nonzero", "nonzero_static")
    got = vmap(lambda r: tp.nonzero_static(r, size=2))(x)
    assert_close(got, tp.tensor([[[1], [2]], [[0], [-1]]]))


@pytest.mark.parametrize(
    "use",
    [
        lambda t: t.numpy(),
        np.asarray,
        lambda t: t.__array__(),
        lambda t: t.__dlpack__(),
        lambda t: t.data_ptr(),
    ],
)
@pytest.mark.parametrize(
    "run",
    [
        lambda f: vmap(lambda x: (f(x), x)[1])(X),
        lambda f: grad(lambda x: (f(x), x.sum())[1])(X),
        lambda f: grad(lambda x: (f(x * 2), x.sum())[1])(X),
        lambda f: jvp(lambda x: (f(x), x)[1], (X,), (X,)),
        lambda f: vmap(grad(lambda x: (f(x), x)[1]))(X),
    ],
)
def test_memory_of_a_wrapped_tensor(run, use):
    raised(RuntimeError, lambda: run(use), "detach", "debug_unwrap")


def test_debug_unwrap_looks_inside():
    seen = []
    vmap(lambda x: (seen.append(debug_unwrap(x).numpy().copy()), x)[1])(X)
    np.testing.assert_allclose(seen[0], [1, 2, 3])


def test_item_and_bool_of_tracked_unmapped_tensors():
    def f(x):
        y = x.sum()
        assert y.item() == 6.0 and bool(y > 0) and float(y) == 6.0 and int(y) == 6
        return y * 2 if y > 5 else y

    assert_close(grad(f)(X), tp.full((3,), 2.0))
    out, t = jvp(f, (X,), (tp.ones(3),))
    assert out.item() == 12.0 and t.item() == 6.0


def test_if_on_a_mapped_tensor_names_where():
    raised(RuntimeError, lambda: vmap(lambda x: x if x > 1 else -x)(X), "tp.where")
    raised(RuntimeError, lambda: vmap(lambda x: -x if not x.sum() else x)(X), "tp.where")

    def loop(x):
        while x < 3:
            x = x + 1
        return x

    raised(RuntimeError, lambda: vmap(loop)(X), "tp.where")


@pytest.mark.parametrize("convert", [int, float, lambda t: [1, 2, 3][t.to(tp.int64)]])
def test_numbers_of_a_mapped_tensor(convert):
    raised(RuntimeError, lambda: vmap(lambda x: (convert(x), x)[1])(X), "tp.where")


def test_len_and_bool_of_what_is_not_mapped():
    w = tp.tensor(3.0)

    def f(x):
        assert len(x) == 4
        assert bool(w > 2) and int(w) == 3
        return x * 2 if w > 2 else x

    assert_close(vmap(f)(tp.ones(2, 4)), tp.full((2, 4), 2.0))
    assert vmap(lambda row: tp.stack([r.sum() for r in row]))(tp.ones(2, 3, 4)).shape == (2, 3)


def test_a_condition_under_grad_of_vmap_is_refused_too():
    raised(RuntimeError, lambda: grad(lambda b: vmap(lambda x: x if x > 1 else -x)(b).sum())(X), "tp.where")
    # a condition that every sample shares is fine
    flag = tp.tensor(True)
    assert_close(grad(lambda b: vmap(lambda x: x * 2 if flag else -x)(b).sum())(X), tp.full((3,), 2.0))


def test_counts_and_sets_name_the_form_of_fixed_size():
    x = tp.tensor([[0, 1, 1], [2, 2, 0]])
    with pytest.raises(RuntimeError, match="minlength"):
        vmap(tp.bincount)(x)
    assert vmap(lambda v: tp.bincount(v, minlength=3))(x).tolist() == [[1, 2, 0], [1, 0, 2]]
    with pytest.raises(IndexError):
        vmap(lambda v: tp.bincount(v, minlength=2))(x)
    assert vmap(lambda v: tp.histc(v, 3, 0, 3))(x).tolist() == [[1, 2, 0], [1, 0, 2]]
    for f in (tp.unique, tp.unique_consecutive):
        with pytest.raises(NotImplementedError):
            vmap(f)(x)
