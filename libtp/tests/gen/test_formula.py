"""What formulas become in C, and what they save."""

import re

import pytest


def lines(op, key):
    """Statements of a rule, without the frame."""
    return [line.strip() for line in op.rules[key].split("\n")[2:-2] if line != "    return 0;"]


def compiled(table, entry, formula, signature="f(Tensor self) -> Tensor", **keys):
    others = [a.split()[1] for a in signature[2 : signature.rindex(")")].split(", ")[1:] if "Tensor" in a]
    vjp = ", ".join([f'self = """{formula}"""', *(f'{a} = "zero"' for a in others)])
    t = table(entry(signature, vjp=f"{{ {vjp} }}", jvp='"linear"', **keys))
    assert t.faults == []
    op = t["f"]
    line = next(x for x in lines(op, "vjp") if "c->out[0]" in x)
    return op, line.partition("c->out[0] = ")[2].rstrip(";")


@pytest.mark.parametrize(
    "formula, c",
    [
        ("grad", "g0"),
        ("-grad", "x_neg(g0)"),
        ("grad * 2", "x_mul_i(g0, 2)"),
        ("2 * grad", "x_mul_i(g0, 2)"),
        ("grad * -0.5", "x_mul_f(g0, -0.5)"),
        ("grad * 2 ** 0.5", "x_mul_f(g0, 1.4142135623730951)"),
        ("grad / 3", "x_div_i(g0, 3)"),
        ("grad * conj(self)", "x_mul(g0, x_conj(a_self))"),
        ("grad * (1 - self)", "x_mul(g0, x_sub(weak_i(1), a_self))"),
        ("grad + grad * self", "x_add(g0, x_mul(g0, a_self), &(tp_scalar){.tag = TP_SCALAR_INT, .v.i = 1})"),
        ("grad * (self + 1)", "x_mul(g0, x_add_i(a_self, 1, &(tp_scalar){.tag = TP_SCALAR_INT, .v.i = 1}))"),
        ("grad - grad * self", "x_sub(g0, x_mul(g0, a_self))"),
        ("where(self > 0, grad, 0)", "x_where(x_gt_i(a_self, 0), g0, weak_i(0))"),
        ("sum_dim(grad, [0, -1], keepdim=True)", "x_sum_dim(g0, (const int64_t[]){0, -1}, 2, true)"),
        ("sum_dim(grad, 0)", "x_sum_dim(g0, (const int64_t[]){0}, 1, false)"),
        ("sum_dim(grad, [])", "x_sum_dim(g0, NULL, 0, false)"),
        ("reshape(grad, self.shape)", "x_reshape(g0, shape_of(a_self), ndim_of(a_self))"),
        ("reshape(grad, 2, -1)", "x_reshape(g0, (const int64_t[]){2, -1}, 2)"),
        ("grad * self.shape[-1]", "x_mul_i(g0, list_at(shape_of(a_self), ndim_of(a_self), -1))"),
        ("grad / self.numel", "x_div_i(g0, numel_of(a_self))"),
        ("grad if self.ndim > 1 else -grad", "((ndim_of(a_self) > 1) ? g0 : x_neg(g0))"),
        ("conj(grad) if self.is_complex else grad", "(is_complex_of(a_self) ? x_conj(g0) : g0)"),
        ("sum_to(grad, self)", "x_sum_to(g0, a_self)"),
        ("expand_to(grad, self.shape)", "x_expand_to(g0, (int)(ndim_of(a_self)), shape_of(a_self))"),
        ("to_dtype(grad, float64)", "x_to_dtype(g0, TP_FLOAT64)"),
        ("cat([grad, -grad], dim=-1)", "x_cat((T[]){g0, x_neg(g0)}, 2, -1)"),
        ("mul(max_dim(grad, 0)[0], self)",
         "x_mul(({ T o1[2] = {NULL}; (void)x_max_dim(g0, 0, false, o1); o1[0]; }), a_self)"),
        ("grad * max_dim(self, 0).values",
         "x_mul(g0, ({ T o1[2] = {NULL}; (void)x_max_dim(a_self, 0, false, o1); o1[0]; }))"),
        ("scale(grad, 2)", 'x_scale(g0, 2, NULL, "x", -1, TP_INT_NONE)'),
        ("scale(grad, 2, 0.5, mode='a\\\"b', flag=True, k=3)", 'x_scale(g0, 2, &(double){0.5}, "a\\"b", true, 3)'),
        ("grad * inf", "x_mul_f(g0, (double)INFINITY)"),
        ("add(grad, grad, alpha=self.ndim)",
         "x_add(g0, g0, &(tp_scalar){.tag = TP_SCALAR_INT, .v.i = ndim_of(a_self)})"),
    ],
)  # fmt: skip
def test_vjp(table, entry, formula, c):
    assert compiled(table, entry, formula)[1] == c


@pytest.mark.parametrize(
    "args, formula, c, declaration",
    [
        ("int n", "grad * n", "x_mul_i(g0, a_n)", "int64_t a_n = c->args[1].v.i;"),
        ("float p", "grad * p", "x_mul_f(g0, a_p)", "double a_p = c->args[1].v.f;"),
        ("Scalar s", "grad * s", "x_mul(g0, weak_s(a_s))", "const tp_scalar *a_s = &c->args[1].v.s;"),
        ("int[] d", "sum_dim(grad, d)", "x_sum_dim(g0, a_d, a_d_n, false)", "int64_t a_d_n = c->args[1].n;"),
        ("str m", "grad if m == 'x' else -grad", '((strcmp(a_m, "x") == 0) ? g0 : x_neg(g0))',
         "const char *a_m = arg_none(&c->args[1]) ? NULL : c->args[1].v.str;"),
        ("bool b", "-grad if b and not self.ndim else grad", "((a_b && (!ndim_of(a_self))) ? x_neg(g0) : g0)",
         "bool a_b = arg_b(&c->args[1]);"),
        ("Tensor? w", "grad * w if has(w) else grad", "((!arg_none(&c->args[1])) ? x_mul(g0, a_w) : g0)",
         "T a_w = arg_t(&c->args[1]);"),
        ("float? q", "scale(grad, 1, q)", 'x_scale(g0, 1, a_q, "x", -1, TP_INT_NONE)',
         "const double *a_q = arg_none(&c->args[1]) ? NULL : &c->args[1].v.f;"),
    ],
)  # fmt: skip
def test_arguments(table, entry, args, formula, c, declaration):
    op, got = compiled(table, entry, formula, f"f(Tensor self, {args}) -> Tensor")
    assert got == c
    assert declaration in lines(op, "vjp")


def test_assignments_are_statements(table, entry):
    op, line = compiled(table, entry, "s = conj(self); n = self.ndim; d = [0, n]; sum_dim(grad * s, d)")
    body = lines(op, "vjp")
    assert "T u_s = x_conj(a_self);" in body
    assert "int64_t u_n = ndim_of(a_self);" in body
    assert "const int64_t *u_d = (const int64_t[]){0, u_n};" in body
    assert line == "x_sum_dim(x_mul(g0, u_s), u_d, u_d_n, false)"


@pytest.mark.parametrize(
    "formula, save, results",
    [
        ("grad", 0, 0), ("grad * self", 2, 0), ("grad * result", 0, 1), ("reshape(grad, self.shape)", 1, 0),
        ("grad * self * self.ndim", 2, 0), ("sum_to(grad, self)", 1, 0), ("grad * ones_like(self)", 1, 0),
        ("to_dtype(grad, self.dtype)", 1, 0),
    ],
)  # fmt: skip
def test_what_is_saved(table, entry, formula, save, results):
    op, _ = compiled(table, entry, formula)
    assert (op.save, op.save_results) == ([save], results)


def test_functions_save_shapes_and_what_they_say(table, entry):
    t = table(entry(vjp='"function"', saves='["result"]'))
    assert t.faults == [] and t["f"].save == [1] and t["f"].save_results == 1


def test_absent_gradients_drop_their_terms(table):
    assert lines(table()["two"], "vjp")[-2:] == [
        "if (c->need[0]) c->out[0] = plus((g0 ? x_mul(g0, a_b) : NULL), g1);",
        "if (c->need[1]) c->out[1] = minus((g0 ? x_mul(g0, a_a) : NULL), (g1 ? x_mul_i(g1, 2) : NULL));",
    ]


def test_absent_tangents_drop_their_terms(table):
    assert lines(table()["two"], "jvp")[-3:] == [
        "c->out[0] = (t_a ? x_mul(t_a, a_b) : NULL);",
        "c->out[0] = plus(c->out[0], (t_b ? x_mul(t_b, a_a) : NULL));",
        "c->out[1] = minus(t_a, (t_b ? x_mul_i(t_b, 2) : NULL));",
    ]


def test_the_cotangent_comes_before_an_argument_named_grad(table, entry):
    text = entry("f(Tensor grad, int n) -> Tensor", vjp='{ grad = "grad * n" }').replace('"linear"', '"grad_t * n"')
    t = table(text)
    assert t.faults == []
    assert lines(t["f"], "vjp")[-1] == "if (c->need[0]) c->out[0] = x_mul_i(g0, a_n);"


def test_composite(table, entry):
    t = table(entry(kernel=None, vjp=None, jvp=None, batch=None, composite='"y = self * 2; where(y > 1, y, self)"'))
    assert t.faults == []
    body = lines(t["f"], "composite")
    assert body[0] == "T a_self = arg_t(&c->args[0]);"
    assert body[-2:] == [
        "T u_y = x_mul_i(a_self, 2);",
        "return finish(&scope, c, 1, (T[]){x_where(x_gt_i(u_y, 1), u_y, a_self)});",
    ]


def test_composite_with_two_outputs(table, entry):
    keys = {"kernel": None, "vjp": None, "jvp": None, "batch": None}
    sig = "f(Tensor self) -> (Tensor a, Tensor b)"
    t = table(entry(sig, composite='"m = max_dim(self, 0); m.values, m[1]"', **keys))
    assert t.faults == []
    body = "\n".join(lines(t["f"], "composite"))
    assert re.search(r"T u_m\[2\] = \{NULL\};\s*\(void\)x_max_dim\(a_self, 0, false, u_m\);", body)
    assert "finish(&scope, c, 2, (T[]){u_m[0], u_m[1]})" in body
    assert "gives 1 results for 2 outputs" in table(entry(sig, composite='"neg(self)"', **keys)).faults[0]
