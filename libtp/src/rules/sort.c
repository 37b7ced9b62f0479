/* Sorting and selecting: composites, and the rules that the table does not say. */
#include <math.h>

#include "rules/reduce_util.h"

/* ---- rules ---- */

int sort_dim__jvp(tp_jvp_ctx *c)
{
    c->out[0] = x_gather_along(c->tangents[0], arg_i(&c->args[1]), c->results[1]);
    return 0;
}

int topk_dim__jvp(tp_jvp_ctx *c)
{
    c->out[0] = x_gather_along(c->tangents[0], arg_i(&c->args[1]), c->results[1]);
    return 0;
}

int kth_dim__vjp(tp_vjp_ctx *c)
{
    T self = arg_t(&c->args[0]);
    const tp_val *dim = &c->args[1];
    T g = tpi_keep_dims(c->grads[0], self, dim, false), at = tpi_keep_dims(c->results[1], self, dim, false);
    c->out[0] = x_scatter_along(g, arg_i(dim), at, self->shape[arg_i(dim)]);
    return 0;
}

int kth_dim__jvp(tp_jvp_ctx *c)
{
    T self = arg_t(&c->args[0]);
    const tp_val *dim = &c->args[1];
    T t = x_gather_along(c->tangents[0], arg_i(dim), tpi_keep_dims(c->results[1], self, dim, false));
    c->out[0] = x_reshape_to(t, c->results[0]->ndim, c->results[0]->shape);
    return 0;
}

int nonzero_rows__batch(tp_batch_ctx *c)
{
    c->args[0].v.t = tpi_batch_front(c, 0);
    c->args[3].v.i++;
    c->out_bdim[0] = 0;
    return tpi_rule_call(c->op, c->args, c->out);
}

/* ---- composites ---- */

/* The dimension, and self with at least one dimension. */
static int begin(tp_call *c, const char *op, int dim, int *d)
{
    T self = arg_t(&c->args[0]);
    int rc = tpi_need_real(op, self);
    return rc ? rc : tpi_wrap_dim(op, arg_i(&c->args[dim]), self->ndim, d);
}

static T like_self(T r, T self) { return r && self->ndim == 0 ? x_reshape_to(r, 0, self->shape) : r; }

int c_sort(tp_call *c)
{
    T self = arg_t(&c->args[0]), both[2] = {NULL, NULL};
    int d, rc = begin(c, "sort", 1, &d);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    x_sort_dim(tpi_lift(self), d, arg_b(&c->args[2]), both);
    return scope_results(&s, c, like_self(both[0], self), like_self(both[1], self));
}

int c_argsort(tp_call *c)
{
    T self = arg_t(&c->args[0]);
    int d, rc = begin(c, "argsort", 1, &d);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, like_self(x_argsort_dim(tpi_lift(self), d, arg_b(&c->args[2])), self));
}

int c_msort(tp_call *c)
{
    T self = arg_t(&c->args[0]), both[2] = {NULL, NULL};
    int rc = tpi_need_real("msort", self);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    x_sort_dim(tpi_lift(self), 0, false, both);
    return scope_result(&s, c, like_self(both[0], self));
}

int c_topk(tp_call *c)
{
    T self = arg_t(&c->args[0]), both[2] = {NULL, NULL};
    int d, rc = begin(c, "topk", 2, &d);
    if (rc) return rc;
    int64_t k = arg_i(&c->args[1]), n = self->ndim ? self->shape[d] : 1;
    if (k < 0 || k > n)
        return tpi_fail(TP_ERR_VALUE, "topk: k is %lld, but dimension %d of shape %s has %lld elements", (long long)k,
                        d, tpi_str(self), (long long)n);
    tpi_scope s;
    tpi_scope_open(&s);
    x_topk_dim(tpi_lift(self), d, k, arg_b(&c->args[3]), arg_b(&c->args[4]), both);
    bool scalar = k == 1;              /* k = 0 of a 0-d tensor is an empty 1-d one */
    return scope_results(&s, c, scalar ? like_self(both[0], self) : both[0],
                         scalar ? like_self(both[1], self) : both[1]);
}

/* The k-th smallest along d with the position; keepdim leaves the dimension. */
static int kth(tp_call *c, T x, int d, int64_t k, bool nan, bool keepdim)
{
    T both[2] = {NULL, NULL};
    tpi_scope s;
    tpi_scope_open(&s);
    if (x->ndim == 0) keepdim = false;
    T lifted = tpi_lift(x);
    x_kth_dim(lifted, d, k, nan, both);
    if (keepdim)
        for (int i = 0; i < 2; i++) both[i] = x_unsqueeze_at(both[i], d);
    return scope_results(&s, c, both[0], both[1]);
}

int c_kthvalue(tp_call *c)
{
    T self = arg_t(&c->args[0]);
    int d, rc = begin(c, "kthvalue", 2, &d);
    if (rc) return rc;
    int64_t k = arg_i(&c->args[1]), n = self->ndim ? self->shape[d] : 1;
    if (k < 1 || k > n)
        return tpi_fail(TP_ERR_VALUE, "kthvalue: k is %lld, but dimension %d of shape %s has %lld elements",
                        (long long)k, d, tpi_str(self), (long long)n);
    return kth(c, self, d, k, false, arg_b(&c->args[3]));
}

int c_median_dim(tp_call *c)
{
    T self = arg_t(&c->args[0]);
    int d, rc = begin(c, "median", 1, &d);
    if (rc) return rc;
    int64_t n = self->ndim ? self->shape[d] : 1;
    if (n == 0) return tpi_fail(TP_ERR_VALUE, "median: dimension %d of shape %s has no elements", d, tpi_str(self));
    return kth(c, self, d, (n - 1) / 2 + 1, true, arg_b(&c->args[2]));
}

int c_median(tp_call *c)
{
    T self = arg_t(&c->args[0]), both[2] = {NULL, NULL}, r;
    int rc = tpi_need_real("median", self);
    if (rc) return rc;
    if (self->numel == 0 && self->dtype < TP_FLOAT16)
        return tpi_fail(TP_ERR_VALUE, "median: no elements, self has shape %s", tpi_str(self));
    tpi_scope s;
    tpi_scope_open(&s);
    if (self->numel == 0) {
        r = x_scalar(NAN, self);
    } else {
        x_kth_dim(x_reshape_to(self, 1, &self->numel), 0, (self->numel - 1) / 2 + 1, true, both);
        r = both[0];
    }
    return scope_result(&s, c, r);
}

int c_nonzero_static(tp_call *c)
{
    int64_t size = arg_i(&c->args[1]);
    if (size < 0) return tpi_fail(TP_ERR_VALUE, "nonzero_static: size must not be negative, got %lld", (long long)size);
    tp_val args[] = {c->args[0], c->args[1], c->args[2], val_i(0)};
    return tpi_call(&tpi_op_nonzero_rows, args, c->out);
}
