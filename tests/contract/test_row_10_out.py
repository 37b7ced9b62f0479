"""Row 10: there is no out= argument."""

import pytest

import tensorplay as tp
from tensorplay.func import vmap


@pytest.mark.parametrize(
    "name, args",
    [
        ("add", (tp.ones(2), tp.ones(2))),
        ("exp", (tp.ones(2),)),
        ("sum", (tp.ones(2),)),
        ("max", (tp.ones(2),)),
        ("matmul", (tp.ones(2, 2), tp.ones(2, 2))),
        ("cat", ([tp.ones(2)],)),
        ("where", (tp.tensor([True]), tp.ones(1), tp.ones(1))),
        ("mul", (tp.ones(2), 2.0)),
        ("cumsum", (tp.ones(2), 0)),
    ],
)
def test_out_is_refused(name, args):
    out = tp.zeros(2)
    with pytest.raises(TypeError) as caught:
        getattr(tp, name)(*args, out=out)
    text = str(caught.value)
    assert text.startswith(f"{name}() received an invalid combination of arguments") and "\n" not in text
    with pytest.raises(TypeError):
        vmap(lambda x: getattr(tp, name)(*args, out=x))(tp.zeros(3, 2))
    assert out.sum().item() == 0


def test_no_operator_takes_out():
    from tensorplay.testing import signatures

    for table in signatures.table():
        for name, forms in table.items():
            for form in forms:
                assert "out" not in [p.name for p in form.parameters], name
