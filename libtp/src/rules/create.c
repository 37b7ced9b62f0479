/* The *_like forms: plain tensors of the shape and dtype that the function sees. */
#include "rules/shape_util.h"
#include "tp/ops.h"

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
