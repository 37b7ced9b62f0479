/* Derivatives of reductions.
 *
 * NOTE: weights
 * The derivative of most reductions is a tensor of self's shape, the weights v: the cotangent of self is grad * v, the
 * tangent of the result is the sum of conj(v) * self_t, and both are differentiated further like any product. */
#include "rules/reduce_util.h"

#include <math.h>

T tpi_keep_dims(T reduced, T self, const tp_val *dim, bool keepdim)
{
    if (!reduced || !self || keepdim) return reduced;
    int64_t shape[TPI_DIMS_CAP];
    tpi_copy_dims(shape, self->shape, self->ndim);
    if (dim->tag == TPI_INT) shape[dim->v.i] = 1;
    else
        for (int i = 0; i < dim->n; i++) shape[dim->v.ints[i]] = 1;
    return x_reshape_to(reduced, self->ndim, shape);
}

static int64_t count_of(T self, const tp_val *dim)
{
    int64_t n = 1;
    for (int i = 0; i < dim->n; i++) n *= self->shape[dim->v.ints[i]];
    return n;
}

/* The sum of conj(weights) * tangent over dim, real for the reductions that are. */
static T weigh(T weights, T tangent, const tp_val *dim, bool keepdim, bool real)
{
    T t = x_mul(x_conj(weights), tangent);
    if (real) t = tpi_real(t);
    if (dim->tag == TPI_INT) return x_sum_dims(t, &dim->v.i, 1, keepdim);
    return x_sum_dims(t, dim->v.ints, dim->n, keepdim);
}

/* ---- sum, mean, prod ---- */

int sum_dims__vjp(tp_vjp_ctx *c)
{
    T self = arg_t(&c->args[0]);
    T g = tpi_keep_dims(c->grads[0], self, &c->args[1], arg_b(&c->args[2]));
    c->out[0] = x_expand_to(g, self->ndim, self->shape);
    return 0;
}

int mean_dims__vjp(tp_vjp_ctx *c)
{
    T self = arg_t(&c->args[0]);
    T g = tpi_keep_dims(c->grads[0], self, &c->args[1], arg_b(&c->args[2]));
    g = x_mul_f(g, 1.0 / (double)count_of(self, &c->args[1]));
    c->out[0] = x_expand_to(g, self->ndim, self->shape);
    return 0;
}

/* Products of the elements before each one and behind it: zeros need no care, at any order. */
static T other_factors(T self, int64_t dim)
{
    return x_mul(x_cumprod_scan(self, dim, false, true), x_cumprod_scan(self, dim, true, true));
}

int prod_dim__vjp(tp_vjp_ctx *c)
{
    T self = arg_t(&c->args[0]);
    T g = tpi_keep_dims(c->grads[0], self, &c->args[1], arg_b(&c->args[2]));
    c->out[0] = x_mul(g, x_conj(other_factors(self, arg_i(&c->args[1]))));
    return 0;
}

int prod_dim__jvp(tp_jvp_ctx *c)
{
    const tp_val *dim = &c->args[1];
    T t = x_mul(c->tangents[0], other_factors(arg_t(&c->args[0]), arg_i(dim)));
    c->out[0] = x_sum_dims(t, &dim->v.i, 1, arg_b(&c->args[2]));
    return 0;
}

/* ---- extremes ---- */

static T extreme_weights(const tp_val *args, T result)
{
    T self = arg_t(&args[0]);
    return x_tie_weights(self, tpi_keep_dims(result, self, &args[1], arg_b(&args[2])), args[1].v.ints, args[1].n);
}

static int extreme_vjp(tp_vjp_ctx *c)
{
    T g = tpi_keep_dims(c->grads[0], arg_t(&c->args[0]), &c->args[1], arg_b(&c->args[2]));
    c->out[0] = x_mul(g, extreme_weights(c->args, c->results[0]));
    return 0;
}

static int extreme_jvp(tp_jvp_ctx *c)
{
    c->out[0] = weigh(extreme_weights(c->args, c->results[0]), c->tangents[0], &c->args[1], arg_b(&c->args[2]), false);
    return 0;
}

int amax_dims__vjp(tp_vjp_ctx *c) { return extreme_vjp(c); }
int amin_dims__vjp(tp_vjp_ctx *c) { return extreme_vjp(c); }
int amax_dims__jvp(tp_jvp_ctx *c) { return extreme_jvp(c); }
int amin_dims__jvp(tp_jvp_ctx *c) { return extreme_jvp(c); }

static int along_vjp(tp_vjp_ctx *c)
{
    T self = arg_t(&c->args[0]);
    const tp_val *dim = &c->args[1];
    bool keepdim = arg_b(&c->args[2]);
    T g = tpi_keep_dims(c->grads[0], self, dim, keepdim), at = tpi_keep_dims(c->results[1], self, dim, keepdim);
    c->out[0] = x_scatter_along(g, arg_i(dim), at, self->shape[arg_i(dim)]);
    return 0;
}

static int along_jvp(tp_jvp_ctx *c)
{
    T self = arg_t(&c->args[0]);
    const tp_val *dim = &c->args[1];
    T t = x_gather_along(c->tangents[0], arg_i(dim), tpi_keep_dims(c->results[1], self, dim, arg_b(&c->args[2])));
    c->out[0] = x_reshape_to(t, c->results[0]->ndim, c->results[0]->shape);
    return 0;
}

int max_along__vjp(tp_vjp_ctx *c) { return along_vjp(c); }
int min_along__vjp(tp_vjp_ctx *c) { return along_vjp(c); }
int max_along__jvp(tp_jvp_ctx *c) { return along_jvp(c); }
int min_along__jvp(tp_jvp_ctx *c) { return along_jvp(c); }

/* ---- norms ---- */

/* |x|^(p-1) sgn(x) / |r|^(p-1), with 0 for what is undefined at zeros. */
static T norm_weights(const tp_val *args, T result)
{
    T self = arg_t(&args[0]);
    double p = arg_f(&args[1]);
    T r = tpi_keep_dims(result, self, &args[2], arg_b(&args[3]));
    if (p == 2) return x_mul(self, x_div_safe(x_scalar(1, r), r));
    bool complex = tpi_is_complex(self->dtype);
    T size = complex ? x_norm_dims(self, 2, NULL, 0, false) : self, v;   /* |x| where x is complex */
    if (isinf(p))
        v = x_mul(x_signed_pow(size, 0, !complex),
                  x_tie_weights(complex ? size : x_abs(size), r, args[2].v.ints, args[2].n));
    else if (p == 1) v = x_signed_pow(size, 0, !complex);
    else v = x_mul(x_signed_pow(size, p - 1, !complex), x_signed_pow(r, 1 - p, false));
    if (!complex) return v;
    return x_mul(x_mul(v, x_div_safe(x_scalar(1, size), size)), self);
}

int norm_dims__vjp(tp_vjp_ctx *c)
{
    if (arg_f(&c->args[1]) == 0) return 0;
    T g = tpi_keep_dims(c->grads[0], arg_t(&c->args[0]), &c->args[2], arg_b(&c->args[3]));
    c->out[0] = x_mul(g, norm_weights(c->args, c->results[0]));
    return 0;
}

int norm_dims__jvp(tp_jvp_ctx *c)
{
    if (arg_f(&c->args[1]) == 0) return 0;
    c->out[0] = weigh(norm_weights(c->args, c->results[0]), c->tangents[0], &c->args[2], arg_b(&c->args[3]), true);
    return 0;
}

/* ---- var, std, logsumexp ---- */

/* 2 (x - mean) / (n - correction) */
static T var_weights(const tp_val *args)
{
    T self = arg_t(&args[0]);
    double d = (double)count_of(self, &args[1]) - arg_f(&args[2]);
    return x_mul_f(x_center(self, args[1].v.ints, args[1].n), 2 / (d > 0 ? d : 0));
}

/* (x - mean) / ((n - correction) std) */
static T std_weights(const tp_val *args, T result)
{
    T self = arg_t(&args[0]), r = tpi_keep_dims(result, self, &args[1], arg_b(&args[3]));
    double d = (double)count_of(self, &args[1]) - arg_f(&args[2]);
    T scale = x_mul_f(x_div_safe(x_scalar(1, r), r), 1 / (d > 0 ? d : 0));
    return x_mul(x_center(self, args[1].v.ints, args[1].n), scale);
}

int var_dims__vjp(tp_vjp_ctx *c)
{
    c->out[0] = x_mul(tpi_keep_dims(c->grads[0], arg_t(&c->args[0]), &c->args[1], arg_b(&c->args[3])),
                      var_weights(c->args));
    return 0;
}

int var_dims__jvp(tp_jvp_ctx *c)
{
    c->out[0] = weigh(var_weights(c->args), c->tangents[0], &c->args[1], arg_b(&c->args[3]), true);
    return 0;
}

int std_dims__vjp(tp_vjp_ctx *c)
{
    c->out[0] = x_mul(tpi_keep_dims(c->grads[0], arg_t(&c->args[0]), &c->args[1], arg_b(&c->args[3])),
                      std_weights(c->args, c->results[0]));
    return 0;
}

int std_dims__jvp(tp_jvp_ctx *c)
{
    c->out[0] = weigh(std_weights(c->args, c->results[0]), c->tangents[0], &c->args[1], arg_b(&c->args[3]), true);
    return 0;
}

static T lse_weights(const tp_val *args, T result)
{
    T self = arg_t(&args[0]);
    return x_exp_sub(self, tpi_keep_dims(result, self, &args[1], arg_b(&args[2])));
}

int logsumexp_dims__vjp(tp_vjp_ctx *c)
{
    T g = tpi_keep_dims(c->grads[0], arg_t(&c->args[0]), &c->args[1], arg_b(&c->args[2]));
    c->out[0] = x_mul(g, lse_weights(c->args, c->results[0]));
    return 0;
}

int logsumexp_dims__jvp(tp_jvp_ctx *c)
{
    c->out[0] = weigh(lse_weights(c->args, c->results[0]), c->tangents[0], &c->args[1], arg_b(&c->args[2]), false);
    return 0;
}
