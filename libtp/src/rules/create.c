/* Filling, and the *_like forms: plain tensors of the shape and dtype that the function sees. */
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
