"""repr of tensors."""

import numpy as np
import pytest

import tensorplay as tp


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: tp.tensor([1.0, 2.0]), "tensor([1., 2.])"),
        (lambda: tp.tensor([[1, 2], [3, 4]]), "tensor([[1, 2],\n        [3, 4]])"),
        (lambda: tp.tensor(2.5), "tensor(2.5)"),
        (lambda: tp.tensor(3), "tensor(3)"),
        (lambda: tp.tensor([True, False]), "tensor([ True, False])"),
        (lambda: tp.tensor([1.0], dtype=tp.float64), "tensor([1.], dtype=tensorplay.float64)"),
        (lambda: tp.tensor([1], dtype=tp.uint8), "tensor([1], dtype=tensorplay.uint8)"),
        (lambda: tp.tensor([0.1], dtype=tp.float16), "tensor([0.1], dtype=tensorplay.float16)"),
        (lambda: tp.tensor([1.5], dtype=tp.bfloat16), "tensor([1.5], dtype=tensorplay.bfloat16)"),
        (lambda: tp.tensor([1 + 2j]), "tensor([1.+2.j])"),
        (lambda: tp.tensor([]), "tensor([])"),
        (lambda: tp.zeros(0, 3), "tensor([], size=(0, 3))"),
        (lambda: tp.zeros(0, dtype=tp.int64), "tensor([], dtype=tensorplay.int64)"),
        (lambda: tp.tensor([1.0], requires_grad=True), "tensor([1.], requires_grad=True)"),
        (lambda: tp.tensor([1.0], requires_grad=True) * 2, "tensor([2.], grad_fn=<mul>)"),
        (lambda: tp.tensor([float("nan"), float("inf")]), "tensor([nan, inf])"),
        (lambda: tp.tensor(np.pi), "tensor(3.1416)"),
        (lambda: tp.tensor([np.pi, 1e-4]), "tensor([3.1416e+00, 1.0000e-04])"),
    ],
)  # fmt: skip
def test_plain(make, text):
    assert repr(make()) == str(make()) == text


def test_long():
    assert repr(tp.arange(5000)) == "tensor([   0,    1,    2, ..., 4997, 4998, 4999])"
    assert all(len(line) <= 80 for line in repr(tp.zeros(10, 30)).splitlines())
    assert repr(tp.zeros(2, 2, 2)).splitlines()[1] == "         [0., 0.]],"


def test_options():
    x = tp.tensor([1 / 3, 100.0])
    try:
        tp.set_printoptions(precision=2)
        assert repr(x) == "tensor([  0.33, 100.  ])"
        tp.set_printoptions(sci_mode=True)
        assert repr(x) == "tensor([3.33e-01, 1.00e+02])"
        tp.set_printoptions(profile="full")
        assert "..." not in repr(tp.arange(2000))
        with pytest.raises(ValueError):
            tp.set_printoptions(profile="x")
    finally:
        tp.set_printoptions(profile="default")
    with np.printoptions(precision=1):
        assert repr(tp.tensor(1 / 3)) == "tensor(0.3333)"


def test_inside_and_after_transforms(transforms):
    kept = []
    x = tp.tensor([[1.0, 2.0], [3.0, 4.0]])

    def look(v):
        kept.append(v)
        return v * 2

    for transform, start in ((transforms.vmap, "BatchedTensor(level="), (transforms.vjp, "TrackedTensor(level="),
                             (transforms.jvp, "DualTensor(level=")):  # fmt: skip
        transform(lambda v: (kept.append((repr(v), v)), v * 2)[1])(x)
        during, v = kept.pop()
        assert during.startswith(start) and repr(v) == during and "[3., 4.]" in during
        with pytest.raises(RuntimeError, match="escaped"):
            v + 1
    transforms.vmap(transforms.vmap(look))(x)
    assert repr(kept.pop()).count("BatchedTensor") == 2
    transforms.jvp(lambda v: (kept.append(repr(v * 0 + tp.tensor(1.0))), v)[1])(x)
    assert "primal=tensor" in kept.pop() and "bdim=0" in repr_of_mapped(transforms, x)


def repr_of_mapped(transforms, x):
    texts = []
    transforms.vmap(lambda v: (texts.append(repr(v)), v)[1])(x)
    return texts[0]
