/* Composites and rules of elementwise operators that the table does not say. */
#include <math.h>

#include "core/error.h"
#include "core/scope.h"
#include "dispatch/op.h"
#include "tpi_ops.h"
#include "x_ops.h"

/* ---- composites that hand their argument on ---- */

/* A real tensor is its own conjugate: formulas conjugate everywhere, and it must cost nothing. */
int c_conj(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    if (tpi_is_complex(t->dtype)) return tpi_call(&tpi_op_conj_values, c->args, c->out);
    c->out[0] = tpi_retain(t);
    return 0;
}

int c_real_of(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    if (tpi_is_complex(t->dtype)) return tpi_call(&tpi_op_real_part, c->args, c->out);
    c->out[0] = tpi_retain(t);
    return 0;
}

int c_positive(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    if (t->dtype == TP_BOOL) return tpi_fail(TP_ERR_TYPE, "positive: not defined for dtype bool");
    c->out[0] = tpi_retain(t);
    return 0;
}

/* ---- sums ---- */

static bool scalar_is_one(const tp_val *a)
{
    if (a->tag != TPI_SCALAR) return true;
    const tp_scalar *s = &a->v.s;
    return s->tag == TP_SCALAR_FLOAT     ? s->v.f == 1.0
           : s->tag == TP_SCALAR_COMPLEX ? s->v.c[0] == 1.0 && s->v.c[1] == 0.0
                                         : s->v.u == 1;
}

static T times_alpha(T t, const tp_val *alpha, bool conjugate)
{
    if (scalar_is_one(alpha)) return t;
    tp_scalar s = alpha->v.s;
    if (conjugate && s.tag == TP_SCALAR_COMPLEX) s.v.c[1] = -s.v.c[1];
    return x_mul(t, tpi_own(tp_weak_scalar(&s)));
}

int add__vjp(tp_vjp_ctx *c)
{
    T g = c->grads[0];
    if (c->need[0]) c->out[0] = g;
    if (c->need[1]) c->out[1] = times_alpha(g, &c->args[2], true);
    return 0;
}

int sub__vjp(tp_vjp_ctx *c)
{
    T g = c->grads[0];
    if (c->need[0]) c->out[0] = g;
    if (c->need[1]) c->out[1] = times_alpha(x_neg(g), &c->args[2], true);
    return 0;
}

int add__jvp(tp_jvp_ctx *c)
{
    T a = c->tangents[0], b = c->tangents[1];
    if (b) b = times_alpha(b, &c->args[2], false);
    c->out[0] = a && b ? x_add(a, b, &tpi_one) : a ? a : b;
    return 0;
}

int sub__jvp(tp_jvp_ctx *c)
{
    T a = c->tangents[0], b = c->tangents[1];
    if (b) b = times_alpha(b, &c->args[2], false);
    c->out[0] = a && b ? x_sub(a, b, &tpi_one) : b ? x_neg(b) : a;
    return 0;
}

int c_div_mode(tp_call *c)
{
    const char *mode = arg_none(&c->args[2]) ? NULL : c->args[2].v.str;
    const tp_op *op = !mode                        ? &tpi_op_div
                      : strcmp(mode, "floor") == 0 ? &tpi_op_floor_divide
                      : strcmp(mode, "trunc") == 0 ? &tpi_op_trunc_divide
                                                   : NULL;
    if (!op) return tpi_fail(TP_ERR_VALUE, "div: rounding_mode must be None, 'floor' or 'trunc', got '%s'", mode);
    return tpi_call(op, c->args, c->out);
}

/* ---- clamp ---- */

int c_clamp(tp_call *c)
{
    tp_val a[3] = {c->args[0], {.tag = TPI_NONE}, {.tag = TPI_NONE}};
    int status = 0;
    for (int k = 1; k <= 2 && !status; k++) {
        if (arg_none(&c->args[k])) continue;
        a[k] = val_t(tp_weak_scalar(&c->args[k].v.s));
        if (arg_none(&a[k])) status = tp_error_code();
    }
    if (!status) status = tpi_call(&tpi_op_clamp_tensor, a, c->out);
    tp_release(arg_t(&a[1]));
    tp_release(arg_t(&a[2]));
    return status;
}

/* Bounds pass the cotangent on to self; a bound has it where it is the result and the other bound is not. */
int clamp_tensor__vjp(tp_vjp_ctx *c)
{
    T g = c->grads[0], x = arg_t(&c->args[0]), lo = arg_t(&c->args[1]), hi = arg_t(&c->args[2]);
    if (c->need[0]) c->out[0] = x_clamp_grad(g, x, lo, hi);
    if (lo && c->need[1]) {
        T at = x_lt(x, lo);
        if (hi) at = x_logical_and(at, x_lt(lo, hi));
        c->out[1] = x_where(at, g, x_scalar(0, g));
    }
    if (hi && c->need[2]) {
        T at = x_gt(x, hi);
        if (lo) at = x_logical_or(at, x_gt(lo, hi));
        c->out[2] = x_where(at, g, x_scalar(0, g));
    }
    return 0;
}

/* ---- where ---- */

int where__jvp(tp_jvp_ctx *c)
{
    T a = c->tangents[1], b = c->tangents[2];
    if (a || b) c->out[0] = x_where(arg_t(&c->args[0]), a ? a : x_scalar(0, b), b ? b : x_scalar(0, a));
    return 0;
}

int c_masked_fill(tp_call *c)
{
    tp_tensor *self = arg_t(&c->args[0]), *mask = arg_t(&c->args[1]), *value = arg_t(&c->args[2]);
    if (value->ndim != 0)
        return tpi_fail(TP_ERR_VALUE, "masked_fill: value must be a number or a 0-d tensor, got shape %s",
                        tpi_str(value));
    if (mask->dtype != TP_BOOL)
        return tpi_fail(TP_ERR_TYPE, "masked_fill: mask must be bool, got %s", tp_dtype_name(mask->dtype));
    bool number = (value->flags & TPI_F_WEAK) && !tpi_is_complex(value->dtype); /* converted as a fill does */
    if (!number && !tpi_can_cast(value->dtype, self->dtype))
        return tpi_fail(TP_ERR_TYPE, "masked_fill: a value of dtype %s does not fit a tensor of dtype %s",
                        tp_dtype_name(value->dtype), tp_dtype_name(self->dtype));
    tp_tensor *cast = NULL;
    if (value->dtype != self->dtype || (value->flags & TPI_F_WEAK)) {
        int status = tpi_call(&tpi_op_cast, (tp_val[]){val_t(value), val_dtype(self->dtype)}, &cast);
        if (status) return status;
        value = cast;
    }
    int status = tpi_call(&tpi_op_where, (tp_val[]){val_t(mask), val_t(value), val_t(self)}, c->out);
    tp_release(cast);
    return status;
}

/* ---- abs ---- */

int abs__jvp(tp_jvp_ctx *c)
{
    T t = c->tangents[0], s = x_sgn(arg_t(&c->args[0]));
    if (!t) return 0;
    c->out[0] = tpi_is_complex(t->dtype) ? x_real_of(x_mul(x_conj(s), t)) : x_mul(t, s);
    return 0;
}

/* ---- pow ---- */

/* The exponent's value if it is one real number that no level sees. */
static bool plain_number(T e, double *v)
{
    if (e->kind != TPI_DENSE || e->ndim != 0) return false;
    tp_scalar s;
    tpi_load_scalar(tpi_data(e), e->dtype, &s);
    if (s.tag == TP_SCALAR_COMPLEX) {
        *v = s.v.c[0];
        return s.v.c[1] == 0;
    }
    *v = s.v.f;
    return s.tag == TP_SCALAR_FLOAT;
}

static int double_power(tp_call *c, T x, T e)
{
    tpi_scope s;
    tpi_scope_open(&s);
    if (c->args[0].tag == TPI_SCALAR) x = tpi_own(tp_weak_scalar(&c->args[0].v.s));
    if (!tpi_bad()) {
        int dtype = tpi_is_complex(x->dtype) || tpi_is_complex(e->dtype) ? TP_COMPLEX128 : TP_FLOAT64;
        x = x_pow(x_cast(x, dtype), x_cast(e, dtype));
    }
    tpi_retain(x);
    int status = tpi_scope_close(&s);
    if (status) tp_release(x);
    else c->out[0] = x;
    return status;
}

int c_float_power(tp_call *c) { return double_power(c, arg_t(&c->args[0]), arg_t(&c->args[1])); }
int c_float_power_scalar(tp_call *c) { return double_power(c, NULL, arg_t(&c->args[1])); }

static T is_zero(T t) { return x_eq(t, x_scalar(0, t)); }

/* d/dx x^e = e x^(e-1), which is 0 and not 0 * inf at x = e = 0, so that x^n has its n derivatives at 0 and then
 * none. d/de x^e = x^e log(x), which is 0 at x = 0 for e >= 0. The substitutes stand inside the formula, so that
 * its own derivatives are finite there as well. */
int pow__vjp(tp_vjp_ctx *c)
{
    T g = c->grads[0], x = arg_t(&c->args[0]), e = arg_t(&c->args[1]);
    double v;
    if (c->need[0]) {
        if (plain_number(e, &v)) {
            if (v == 1) c->out[0] = g;
            else if (v == 2) c->out[0] = x_mul(g, x_conj(x_mul_f(x, 2)));
            else if (v != 0) c->out[0] = x_mul(g, x_conj(x_mul_f(x_pow_f(x, v - 1), v)));
        } else {
            T corner = x_logical_and(is_zero(x), is_zero(e));
            T safe = x_where(corner, x_scalar(1, e), e);
            T slope = x_mul(safe, x_pow(x, x_sub(safe, x_scalar(1, e), &tpi_one)));
            c->out[0] = x_mul(g, x_conj(x_where(corner, x_scalar(0, e), slope)));
        }
    }
    if (c->need[1]) {
        T real = e ? x_real_of(e) : NULL;
        T corner = x_logical_and(is_zero(x), x_ge(real, x_scalar(0, real)));
        T slope = x_mul(x_pow(x, e), x_log(x_where(corner, x_scalar(1, x), x)));
        c->out[1] = x_mul(g, x_conj(slope));
    }
    return 0;
}
