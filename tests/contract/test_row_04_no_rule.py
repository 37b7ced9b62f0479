"""Row 4: a custom operator without a batching rule is a NotImplementedError of a given form."""

import pytest

import tensorplay as tp
from tensorplay.func import grad, vmap


def _operator(name):
    @tp.library.custom_op(f"row04::{name}")
    def op(x: tp.Tensor) -> tp.Tensor:
        return tp.from_numpy(x.numpy() * 2)

    return op


@pytest.mark.parametrize(
    "run",
    [
        lambda op: vmap(op)(tp.ones(3)),
        lambda op: vmap(vmap(op))(tp.ones(3, 2)),
        lambda op: vmap(lambda x: op(x) + x)(tp.ones(3, 2)),
    ],
)
def test_the_message(run):
    op = _operator("plain")
    with pytest.raises(NotImplementedError) as caught:
        run(op)
    assert str(caught.value) == "Kernel not found for op: row04::plain on backend: VmapCPU"


def test_unmapped_arguments_need_no_rule():
    op = _operator("unmapped")
    w = tp.ones(2)
    assert vmap(lambda x: x + op(w))(tp.zeros(3, 2)).tolist() == [[2.0, 2.0]] * 3


def test_without_a_vjp_it_is_not_differentiable():
    op = _operator("nothing")
    with pytest.raises(RuntimeError, match="row04::nothing.*not differentiable"):
        grad(lambda x: op(x).sum())(tp.ones(3))


def test_with_a_rule_it_works():
    op = _operator("ruled")
    op.register_vmap(lambda info, in_dims, x: (op(x), in_dims[0]))
    assert vmap(op, 1, 1)(tp.ones(2, 3)).tolist() == [[2.0] * 3] * 2


def test_builtin_operators_that_cannot_be_mapped_say_why():
    with pytest.raises(NotImplementedError) as caught:
        vmap(tp.nonzero)(tp.ones(3, 2))
    assert "nonzero_static" in str(caught.value)
