/* Scans and the softmax family: composites and derivatives.
 *
 * NOTE: running products
 * The derivative of y[j] = x[j] y[j-1] is again a linear recurrence, with x as its factors. So cumprod_scan and
 * affine_scan are closed under differentiation in both modes, and no order of derivative divides by an element. */
#include "rules/reduce_util.h"

T tpi_shift(T t, int dim, int64_t by)
{
    if (!t) return NULL;
    int64_t n = t->shape[dim], k = by < 0 ? -by : by;
    if (k > n) k = n;
    T part = by >= 0 ? x_slice(t, dim, 0, n - k, 1) : x_slice(t, dim, k, n, 1);
    return by >= 0 ? x_slice_backward(part, t->shape, t->ndim, dim, k, n, 1)
                   : x_slice_backward(part, t->shape, t->ndim, dim, 0, n - k, 1);
}

/* ---- cumprod_scan(self, dim, reverse, exclusive) ---- */

int cumprod_scan__vjp(tp_vjp_ctx *c)
{
    T self = arg_t(&c->args[0]), g = c->grads[0];
    int64_t dim = arg_i(&c->args[1]);
    bool reverse = arg_b(&c->args[2]), exclusive = arg_b(&c->args[3]);
    int ahead = reverse ? 1 : -1;      /* brings the next element to a place */
    T x = x_conj(self);
    if (exclusive)
        c->out[0] = x_mul(x_conj(c->results[0]), tpi_shift(x_affine_scan(g, x, dim, !reverse), (int)dim, ahead));
    else
        c->out[0] = x_mul(x_cumprod_scan(x, dim, reverse, true),
                          x_affine_scan(g, tpi_shift(x, (int)dim, ahead), dim, !reverse));
    return 0;
}

int cumprod_scan__jvp(tp_jvp_ctx *c)
{
    T self = arg_t(&c->args[0]), t = c->tangents[0];
    int64_t dim = arg_i(&c->args[1]);
    bool reverse = arg_b(&c->args[2]), exclusive = arg_b(&c->args[3]);
    T before = exclusive ? c->results[0] : x_cumprod_scan(self, dim, reverse, true);
    T r = x_affine_scan(x_mul(t, before), self, dim, reverse);
    c->out[0] = exclusive ? tpi_shift(r, (int)dim, reverse ? -1 : 1) : r;
    return 0;
}

/* ---- affine_scan(self, factor, dim, reverse) ---- */

int affine_scan__vjp(tp_vjp_ctx *c)
{
    T factor = arg_t(&c->args[1]);
    int64_t dim = arg_i(&c->args[2]);
    bool reverse = arg_b(&c->args[3]);
    T adjoint = x_affine_scan(c->grads[0], tpi_shift(x_conj(factor), (int)dim, reverse ? 1 : -1), dim, !reverse);
    if (c->need[0]) c->out[0] = adjoint;
    if (c->need[1]) c->out[1] = x_mul(adjoint, x_conj(tpi_shift(c->results[0], (int)dim, reverse ? -1 : 1)));
    return 0;
}

int affine_scan__jvp(tp_jvp_ctx *c)
{
    T t = c->tangents[0], factor_t = c->tangents[1];
    int64_t dim = arg_i(&c->args[2]);
    bool reverse = arg_b(&c->args[3]);
    if (factor_t) {
        T more = x_mul(factor_t, tpi_shift(c->results[0], (int)dim, reverse ? -1 : 1));
        t = t ? x_add(t, more, &tpi_one) : more;
    }
    c->out[0] = x_affine_scan(t, arg_t(&c->args[1]), dim, reverse);
    return 0;
}

/* ---- logcumsumexp_scan(self, dim) ---- */

/* conj(exp(a - b)), which is 0 where both are -inf. */
static T exp_difference(T a, T b)
{
    if (!a || !tpi_is_complex(a->dtype)) return x_exp_sub(a, b);
    return x_conj(x_where(x_logical_and(x_eq(a, b), x_isinf(a)), x_scalar(0, a), x_exp(x_sub(a, b, &tpi_one))));
}

/* conj(exp(y[j-1] - y[j])), which is at most 1 for real y, at place j - 1 + at; the remaining place is 0. */
static T decay(T y, int64_t dim, int at)
{
    if (!y) return NULL;
    int64_t n = y->shape[dim];
    if (n == 0) return y;
    T e = exp_difference(x_slice(y, dim, 0, n - 1, 1), x_slice(y, dim, 1, n, 1));
    return x_slice_backward(e, y->shape, y->ndim, dim, at, n - 1 + at, 1);
}

/* The cotangent of x[j] is the sum over i >= j of g[i] exp(x[j] - y[i]) = exp(x[j] - y[j]) w[j], with
 * w[j] = g[j] + exp(y[j] - y[j+1]) w[j+1]. */
int logcumsumexp_scan__vjp(tp_vjp_ctx *c)
{
    T self = arg_t(&c->args[0]), y = c->results[0];
    int64_t dim = arg_i(&c->args[1]);
    c->out[0] = x_mul(exp_difference(self, y), x_affine_scan(c->grads[0], decay(y, dim, 0), dim, true));
    return 0;
}

int logcumsumexp_scan__jvp(tp_jvp_ctx *c)
{
    T self = arg_t(&c->args[0]), y = c->results[0];
    int64_t dim = arg_i(&c->args[1]);
    c->out[0] = x_affine_scan(x_mul(x_conj(exp_difference(self, y)), c->tangents[0]), x_conj(decay(y, dim, 1)), dim,
                              false);
    return 0;
}

/* ---- softmax ---- */

static T sum_kept(T t, int64_t dim) { return x_sum_dims(t, &dim, 1, true); }

/* z = y (g - s), s = sum(g y). */
int softmax_backward__vjp(tp_vjp_ctx *c)
{
    T g = arg_t(&c->args[0]), y = arg_t(&c->args[1]), h = c->grads[0];
    int64_t dim = arg_i(&c->args[2]);
    if (c->need[0]) c->out[0] = x_softmax_backward(h, y, dim);
    if (c->need[1]) {
        T s = sum_kept(x_mul(g, y), dim), u = sum_kept(x_mul(h, y), dim);
        c->out[1] = x_sub(x_mul(h, x_sub(g, s, &tpi_one)), x_mul(g, u), &tpi_one);
    }
    return 0;
}

int softmax_backward__jvp(tp_jvp_ctx *c)
{
    T g = arg_t(&c->args[0]), y = arg_t(&c->args[1]), gt = c->tangents[0], yt = c->tangents[1], r = NULL;
    int64_t dim = arg_i(&c->args[2]);
    if (gt) r = x_softmax_backward(gt, y, dim);
    if (yt) {
        T s = sum_kept(x_mul(g, y), dim), u = sum_kept(x_mul(g, yt), dim);
        T t = x_sub(x_mul(yt, x_sub(g, s, &tpi_one)), x_mul(y, u), &tpi_one);
        r = r ? x_add(r, t, &tpi_one) : t;
    }
    c->out[0] = r;
    return 0;
}

/* t - sum(exp(y) t) */
static T log_softmax_tangent(T t, T y, int64_t dim) { return x_sub(t, sum_kept(x_mul(x_exp(y), t), dim), &tpi_one); }

int log_softmax_dim__jvp(tp_jvp_ctx *c)
{
    c->out[0] = log_softmax_tangent(c->tangents[0], c->results[0], arg_i(&c->args[1]));
    return 0;
}

/* z = g - exp(y) s, s = sum(g). */
int log_softmax_backward__vjp(tp_vjp_ctx *c)
{
    T g = arg_t(&c->args[0]), y = arg_t(&c->args[1]), h = c->grads[0];
    int64_t dim = arg_i(&c->args[2]);
    if (c->need[0]) c->out[0] = log_softmax_tangent(h, y, dim);
    if (c->need[1]) c->out[1] = x_neg(x_mul(x_mul(h, x_exp(y)), sum_kept(g, dim)));
    return 0;
}

int log_softmax_backward__jvp(tp_jvp_ctx *c)
{
    T g = arg_t(&c->args[0]), y = arg_t(&c->args[1]), gt = c->tangents[0], yt = c->tangents[1], r = NULL;
    int64_t dim = arg_i(&c->args[2]);
    if (gt) r = x_log_softmax_backward(gt, y, dim);
    if (yt) {
        T t = x_neg(x_mul(x_mul(yt, x_exp(y)), sum_kept(g, dim)));
        r = r ? x_add(r, t, &tpi_one) : t;
    }
    c->out[0] = r;
    return 0;
}

/* ---- composites ---- */

/* The dtype that was asked for: scans and products of bool and small integers are computed in int64. */
static T as_asked(T r, const tp_val *dtype) { return arg_none(dtype) ? r : x_to_dtype(r, (int)arg_i(dtype)); }

/* The result of a scan of a lifted 0-d tensor is 0-d. */
static T unlift(T r, T self) { return r && self->ndim == 0 ? x_reshape_to(r, 0, self->shape) : r; }

static int checked_dim(tp_call *c, const char *op, int *d)
{
    return tpi_wrap_dim(op, arg_i(&c->args[1]), arg_t(&c->args[0])->ndim, d);
}

int c_cumsum(tp_call *c)
{
    T self = arg_t(&c->args[0]);
    int d, rc = checked_dim(c, "cumsum", &d);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(
        &s, c,
        unlift(as_asked(x_cumsum_scan(tpi_lift(tpi_as(self, &c->args[2], false)), d, false), &c->args[2]), self));
}

int c_cumprod(tp_call *c)
{
    T self = arg_t(&c->args[0]);
    int d, rc = checked_dim(c, "cumprod", &d);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T x = tpi_lift(tpi_as(self, &c->args[2], false));
    return scope_result(&s, c, unlift(as_asked(x_cumprod_scan(x, d, false, false), &c->args[2]), self));
}

int c_logcumsumexp(tp_call *c)
{
    T self = arg_t(&c->args[0]);
    int d, rc = checked_dim(c, "logcumsumexp", &d);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, unlift(x_logcumsumexp_scan(tpi_lift(tpi_as(self, NULL, true)), d), self));
}

static int running(tp_call *c, const char *op, int (*primitive)(T, int64_t, T *))
{
    T self = arg_t(&c->args[0]), both[2] = {NULL, NULL};
    int d, rc = checked_dim(c, op, &d);
    if (rc || (rc = tpi_need_real(op, self))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    primitive(tpi_lift(self), d, both);
    return scope_results(&s, c, unlift(both[0], self), unlift(both[1], self));
}

int c_cummax(tp_call *c) { return running(c, "cummax", x_cummax_scan); }
int c_cummin(tp_call *c) { return running(c, "cummin", x_cummin_scan); }

static int softmax(tp_call *c, const char *op, T (*primitive)(T, int64_t))
{
    T self = arg_t(&c->args[0]), r = NULL;
    int d, rc = checked_dim(c, op, &d);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T x = tpi_as(self, &c->args[2], false);
    if (x && (rc = tpi_need_float(op, x, false))) s.failed = rc;
    else r = unlift(primitive(tpi_lift(x), d), self);
    return scope_result(&s, c, r);
}

int c_softmax(tp_call *c) { return softmax(c, "softmax", x_softmax_dim); }
int c_log_softmax(tp_call *c) { return softmax(c, "log_softmax", x_log_softmax_dim); }
