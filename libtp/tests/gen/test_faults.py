"""Each fault of a table is reported with file, operator and key."""

import pytest


def test_the_basic_table_has_none(table):
    assert table().faults == []


@pytest.mark.parametrize(
    "keys, fault",
    [
        ({"vjp": None}, "vjp: missing rule"),
        ({"jvp": None}, "jvp: missing rule"),
        ({"batch": None}, "batch: missing rule"),
        ({"kernel": None}, "kernel: one of kernel and composite"),
        ({"composite": '"c_f"'}, "kernel: one of kernel and composite"),
        ({"kernel": None, "composite": '"c_f"'}, "vjp: a composite has no rules"),
        ({"doc": None}, "doc: missing"),
        ({"vpj": '"zero"'}, "vpj: unknown key"),
        ({"batch": '"loop"'}, "batch: 'loop' is none of"),
        ({"unsupported": '"because"'}, "batch: beside unsupported"),
        ({"promote": '"up"'}, "promote: 'up' is none of"),
        ({"module": '"nowhere"'}, "module: 'nowhere' is none of"),
        ({"inplace": '"yes"'}, "inplace: 'yes' has the wrong type"),
        ({"inplace_kernel": "true"}, "inplace_kernel: says something only beside inplace"),
        ({"saves": '["self"]'}, "saves: only beside vjp = \"function\""),
        ({"vjp": '"function"', "saves": '["selv"]'}, "saves: 'selv' is neither"),
        ({"nondiff_args": '["x"]'}, "nondiff_args: no argument 'x'"),
        ({"nondiff_outputs": "[1]"}, "nondiff_outputs: no output 1"),
        ({"vjp": '{ other = "grad" }'}, "vjp.other: no argument 'other'"),
        ({"vjp": "{}"}, "vjp: missing rule: no formula for 'self'"),
        ({"vjp": '"maybe"'}, "vjp: 'maybe' is none of"),
        ({"jvp": '"bilinear"'}, 'jvp: "bilinear" needs two'),
        ({"jvp": '"elementwise"', "batch": '"fold"'}, 'jvp: "elementwise" needs'),
        ({"jvp": "{}"}, "jvp: missing rule: no formula for 'self'"),
        ({"jvp": '["self_t", "self_t"]'}, "jvp: 2 formulas for 1 outputs"),
        ({"jvp": '"cubic"'}, "jvp: 'cubic' is none of"),
        ({"random": "true"}, "vjp: a random operator has no rules"),
    ],
)  # fmt: skip
def test_fault_of_an_entry(table, entry, keys, fault):
    faults = table(entry(**keys)).faults
    assert any(f.startswith(f"more.toml: [f] {fault}") for f in faults), faults


@pytest.mark.parametrize(
    "formula, fault",
    [
        ("grad * cos(self)", "unknown operator 'cos'"),
        ("grad * sum(self)", "unknown operator 'sum'; there is sum_dim"),
        ("grda * self", "unknown name 'grda'"),
        ("grad * (self", "syntax error"),
        ("grad * result1", "unknown name 'result1'"),
        ("grads[1]", "no gradient 1"),
        ("self * 2", "the term 'self * 2' has no gradient in it"),
        ("grad + 1", "the term '1' has no gradient in it"),
        ("grad * self.shap", "unknown attribute '.shap'"),
        ("sum_dim(grad)", "argument 'dim' of sum.dim is missing"),
        ("sum_dim(grad, 0, keep=True)", "sum.dim has no argument 'keep'"),
        ("sum_dim(grad, 1.5)", "a float is not a int[]"),
        ("sum_dim(grad, 0, True, 1)", "takes 3 positional arguments, not 4"),
        ("sum_dim(grad, 0, dim=1)", "argument 'dim' is given twice"),
        ("grad if self else grad", "a condition is made of attributes"),
        ("unbind(grad)", "is a list of tensors"),
        ("max_dim(grad, 0)", "a outputs is not a tensor"),
        ("x = grad; self = x; self", "'self' is assigned to"),
        ("import os", "does not end with an expression"),
        ("grad.shape", "a int[] is not a tensor"),
        ("[g for g in grad]", "not in the language"),
        ("has(self)", "'self' is not optional"),
        ("(grad * 2).shape[0] * grad", "give the tensor a name first"),
    ],
)
def test_fault_of_a_formula(table, entry, formula, fault):
    faults = table(entry(vjp=f'{{ self = "{formula}" }}')).faults
    assert len(faults) == 1 and faults[0].startswith("more.toml: [f] vjp.self: ") and fault in faults[0], faults
    assert faults[0].endswith(f' in "{formula}"')


def test_formula_of_a_tangent(table, entry):
    two = "f(Tensor self, Tensor other) -> Tensor"
    faults = table(entry(two, vjp='{ self = "grad", other = "grad" }', jvp='"self_t * 2"')).faults
    assert faults == ["more.toml: [f] jvp: does not use other_t"]
    faults = table(entry(jvp='"self * self"')).faults
    assert "has no tangent in it" in faults[0]


def test_names(table, entry):
    assert "already in basic.toml" in table(entry().replace("[f]", "[neg]").replace("f(", "neg(")).faults[0]
    assert "is of 'g', not of 'f'" in table(entry("g(Tensor self) -> Tensor")).faults[0]
    text = entry("sum_dim(Tensor self) -> Tensor").replace("[f]", "[sum_dim]")
    assert "is named sum_dim in C" in table(text).faults[0]
    assert "is a keyword of Python" in table(entry("f(Tensor self, int lambda) -> Tensor")).faults[0]


def test_not_toml(table):
    assert "not TOML" in table("[f").faults[0]


def test_overload_needs_quotes(table, entry):
    assert 'an overload is written ["f.dim"]' in table(entry() + "[f.dim]\nkernel = 'k'\n").faults[0]


def test_every_fault_is_reported_at_once(table, entry):
    assert len(table(entry(vjp=None, jvp=None, batch=None, doc=None)).faults) == 4
