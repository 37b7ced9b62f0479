/* Filling, and the *_like forms: plain tensors of the shape and dtype that the function sees. */
#include <math.h>

#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

static int like_dtype(const tp_call *c, int arg)
{
    return arg_none(&c->args[arg]) ? arg_t(&c->args[0])->dtype : (int)arg_i(&c->args[arg]);
}

int c_empty_like(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    return tpi_set_out(c, 0, tp_empty(t->shape, t->ndim, like_dtype(c, 1)));
}

int c_zeros_like(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    return tpi_set_out(c, 0, tp_zeros(t->shape, t->ndim, like_dtype(c, 1)));
}

int c_ones_like(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    return tpi_set_out(c, 0, tp_ones(t->shape, t->ndim, like_dtype(c, 1)));
}

int c_full_like(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    return tpi_set_out(c, 0, tp_full(t->shape, t->ndim, &c->args[1].v.s, like_dtype(c, 2)));
}

static int filled(tp_call *c, T value)
{
    T self = arg_t(&c->args[0]);
    tpi_scope s;
    tpi_scope_open(&s);
    value = value ? x_to_dtype(value, self->dtype) : x_iscalar(0, self);
    if (!c->out[0]) return scope_result(&s, c, x_clone(x_expand_to(value, self->ndim, self->shape)));
    if (value && tpi_copy_(self, value)) tpi_own(NULL);
    return tpi_scope_close(&s);
}

int c_fill(tp_call *c)
{
    T value = arg_t(&c->args[1]);
    if (value->ndim)
        return tpi_fail(TP_ERR_VALUE, "fill_: a number or 0-d tensor is needed, got shape %s", tpi_str(value));
    return filled(c, value);
}

int c_zero(tp_call *c) { return filled(c, NULL); }

/* ---- linspace and logspace, in double precision before the cast ---- */

/* dtype: that of the result; bounds lose their fractions first where it holds integers. */
static T spaced(const char *op, tp_call *c, bool tensors, const tp_val *dtype_arg)
{
    tp_scalar zero = {.tag = TP_SCALAR_INT};
    int64_t steps = arg_i(&c->args[2]);
    bool whole = !arg_none(dtype_arg) && !tpi_is_differentiable((int)arg_i(dtype_arg));
    if (!tensors) {
        const tp_scalar *a = &c->args[0].v.s, *b = &c->args[1].v.s;
        bool complex = a->tag == TP_SCALAR_COMPLEX || b->tag == TP_SCALAR_COMPLEX;
        if (steps < 0)
            return tpi_rule_fail(TP_ERR_VALUE, "%s: steps must not be negative, got %lld", op, (long long)steps);
        tp_scalar low = *a, high = *b;
        if (whole && low.tag == TP_SCALAR_FLOAT) low.v.f = trunc(low.v.f);
        if (whole && high.tag == TP_SCALAR_FLOAT) high.v.f = trunc(high.v.f);
        return x_linspace(&low, &high, steps, complex ? TP_COMPLEX128 : TP_FLOAT64);
    }
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]);
    if (a->ndim || b->ndim)
        return tpi_rule_fail(TP_ERR_VALUE, "%s: bounds must be 0-d, got shapes %s and %s", op, tpi_str(a), tpi_str(b));
    if (steps < 0) return tpi_rule_fail(TP_ERR_VALUE, "%s: steps must not be negative, got %lld", op, (long long)steps);
    bool complex = tpi_is_complex(a->dtype) || tpi_is_complex(b->dtype);
    if (whole && !complex) a = x_trunc(a), b = x_trunc(b);
    int dtype = complex ? TP_COMPLEX128 : TP_FLOAT64;
    a = x_to_dtype(a, dtype), b = x_to_dtype(b, dtype);
    if (steps < 2) return steps ? x_unsqueeze_at(a, 0) : x_slice(x_unsqueeze_at(a, 0), 0, 0, 0, 1);
    /* As the kernel does it for numbers: the first half counts from a, the second from b, so that both are met. */
    int64_t half = steps / 2;
    tp_scalar last = {.tag = TP_SCALAR_INT, .v.i = half - 1}, rest = {.tag = TP_SCALAR_INT, .v.i = steps - 1 - half};
    T step = x_div_f(x_sub(b, a, &tpi_one), (double)(steps - 1));
    T parts[2] = {x_add(a, x_mul(step, x_linspace(&zero, &last, half, TP_FLOAT64)), &tpi_one),
                  x_sub(b, x_mul(step, x_linspace(&rest, &zero, steps - half, TP_FLOAT64)), &tpi_one)};
    return tpi_bad() ? NULL : x_cat(parts, 2, 0);
}

static int spaced_result(tp_call *c, tpi_scope *s, T r, int arg)
{
    if (!r) return scope_result(s, c, r);
    int otherwise = tp_get_default_dtype();
    int dtype = arg_none(&c->args[arg]) ? tpi_is_complex(r->dtype) ? tpi_to_complex(otherwise) : otherwise
                                        : (int)arg_i(&c->args[arg]);
    if (dtype == TP_BOOL || (tpi_is_complex(r->dtype) && !tpi_is_complex(dtype)))
        r = tpi_rule_fail(TP_ERR_TYPE, "%s: dtype %s is not supported", c->op->name, tp_dtype_name(dtype));
    return scope_result(s, c, r ? x_to_dtype(r, dtype) : NULL);
}

int c_linspace_tensors(tp_call *c)
{
    tpi_scope s;
    tpi_scope_open(&s);
    return spaced_result(c, &s, spaced("linspace", c, true, &c->args[3]), 3);
}

static int logspace(tp_call *c, bool tensors)
{
    tpi_scope s;
    tpi_scope_open(&s);
    T e = spaced("logspace", c, tensors, &c->args[4]);
    return spaced_result(c, &s, e ? x_pow(x_scalar(arg_f(&c->args[3]), e), e) : NULL, 4);
}

int c_logspace(tp_call *c) { return logspace(c, false); }
int c_logspace_tensors(tp_call *c) { return logspace(c, true); }
