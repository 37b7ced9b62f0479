/* Norm layers: rules of the standardisation, and composites that bring each layer's input to rows. */
#include <math.h>

#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

static T mean_last(T t)
{
    int64_t dim = t ? t->ndim - 1 : 0;
    return x_mean_dims(t, &dim, 1, true);
}

static T sum_last(T t)
{
    int64_t dim = t ? t->ndim - 1 : 0;
    return x_sum_dims(t, &dim, 1, true);
}

/* ---- standardize: y = (x - m) r. dy = r (dx - mean(dx) - y mean(dx y)), dr = -r^2 mean(dx y). ---- */

int standardize__vjp(tp_vjp_ctx *c)
{
    T y = c->results[0], r = c->results[1], g = c->grads[0], gr = c->grads[1], out = NULL;
    if (g) out = x_standardize_grad(g, y, r);
    if (gr) {
        int64_t n = y->shape[y->ndim - 1];
        out = sum_of(out, x_div_f(x_mul(x_mul(x_neg(gr), x_square(r)), y), (double)n));
    }
    c->out[0] = out;
    return 0;
}

int standardize__jvp(tp_jvp_ctx *c)
{
    T y = c->results[0], r = c->results[1], t = c->tangents[0];
    c->out[0] = x_standardize_grad(t, y, r);
    c->out[1] = x_mul(x_neg(x_square(r)), mean_last(x_mul(t, y)));
    return 0;
}

/* ---- standardize_grad: b = r (g - mean(g) - y mean(g y)) ---- */

/* What is left of b by r. */
static T projected(T g, T y)
{
    return x_sub(x_sub(g, mean_last(g), &tpi_one), x_mul(y, mean_last(x_mul(g, y))), &tpi_one);
}

int standardize_grad__vjp(tp_vjp_ctx *c)
{
    T g = arg_t(&c->args[0]), y = arg_t(&c->args[1]), r = arg_t(&c->args[2]), h = c->grads[0];
    if (c->need[0]) c->out[0] = x_standardize_grad(h, y, r);
    if (c->need[1]) {
        T both = sum_of(x_mul(h, mean_last(x_mul(g, y))), x_mul(g, mean_last(x_mul(h, y))));
        c->out[1] = x_mul(x_neg(r), both);
    }
    if (c->need[2]) c->out[2] = sum_last(x_mul(h, projected(g, y)));
    return 0;
}

int standardize_grad__jvp(tp_jvp_ctx *c)
{
    T g = arg_t(&c->args[0]), y = arg_t(&c->args[1]), r = arg_t(&c->args[2]), out = NULL;
    T gt = c->tangents[0], yt = c->tangents[1], rt = c->tangents[2];
    if (gt) out = x_standardize_grad(gt, y, r);
    if (yt) {
        T both = sum_of(x_mul(yt, mean_last(x_mul(g, y))), x_mul(y, mean_last(x_mul(g, yt))));
        out = sum_of(out, x_mul(x_neg(r), both));
    }
    if (rt) out = sum_of(out, x_mul(rt, projected(g, y)));
    c->out[0] = out;
    return 0;
}

/* ---- layer_norm_rows ---- */

static T standardized(T x, double eps, T *rstd)
{
    T out[2] = {NULL, NULL};
    if (x && x_standardize(x, eps, out)) return NULL;
    if (rstd) *rstd = out[1];
    return out[0];
}

int layer_norm_rows__vjp(tp_vjp_ctx *c)
{
    T x = arg_t(&c->args[0]), w = arg_t(&c->args[1]), g = c->grads[0], r = NULL;
    T y = c->need[0] || c->need[1] ? standardized(x, arg_f(&c->args[3]), &r) : NULL;
    if (c->need[0]) c->out[0] = x_standardize_grad(x_mul(g, w), y, r);
    if (c->need[1]) c->out[1] = x_sum_to_shape(x_mul(g, y), 1, g->shape + g->ndim - 1);
    if (c->need[2]) c->out[2] = x_sum_to_shape(g, 1, g->shape + g->ndim - 1);
    return 0;
}

int layer_norm_rows__jvp(tp_jvp_ctx *c)
{
    T x = arg_t(&c->args[0]), w = arg_t(&c->args[1]), xt = c->tangents[0], wt = c->tangents[1], r = NULL, out = NULL;
    T y = xt || wt ? standardized(x, arg_f(&c->args[3]), &r) : NULL;
    if (xt) out = x_mul(x_standardize_grad(xt, y, r), w);
    if (wt) out = sum_of(out, x_mul(y, wt));
    if (c->tangents[2]) out = sum_of(out, c->tangents[2]);
    if (out) out = x_expand_to(out, x->ndim, x->shape);
    c->out[0] = out;
    return 0;
}

int layer_norm_rows__batch(tp_batch_ctx *c)
{
    int nd = tpi_nsample(c, 0);
    T x = arg_t(&c->args[0]), p[2];
    double eps = arg_f(&c->args[3]);
    int bx = bdim_of(c, 0);
    if (bx >= 0) x = x_movedim1(x, bx, 0);
    if (bx >= 0 && bdim_of(c, 1) < 0 && bdim_of(c, 2) < 0)
        return set_result(c, x_layer_norm_rows(x, arg_t(&c->args[1]), arg_t(&c->args[2]), eps), 0);
    for (int i = 0; i < 2; i++) {
        int b = bdim_of(c, i + 1);
        p[i] = arg_t(&c->args[i + 1]);
        if (b < 0) continue;
        p[i] = x_movedim1(p[i], b, 0);
        int64_t shape[TPI_DIMS_CAP];
        if (!p[i]) return 0;
        shape[0] = c->size;
        for (int d = 1; d < nd; d++) shape[d] = 1;
        shape[nd] = p[i]->shape[1];
        p[i] = x_reshape_to(p[i], nd + 1, shape);
    }
    return set_result(c, sum_of(x_mul(standardized(x, eps, NULL), p[0]), p[1]), 0);
}

/* ---- what the layers share ---- */

static int need_real_floating(const char *op, const tp_tensor *x)
{
    if (tpi_is_float(x->dtype)) return 0;
    return tpi_fail(TP_ERR_TYPE, "%s: input must be of a real floating dtype, got %s", op, tp_dtype_name(x->dtype));
}

/* Half types compute in float32. */
static T widened(T x)
{
    return x && (x->dtype == TP_FLOAT16 || x->dtype == TP_BFLOAT16) ? x_to_dtype(x, TP_FLOAT32) : x;
}

static T narrowed(T y, int dtype) { return y && y->dtype != dtype ? x_to_dtype(y, dtype) : y; }

static int check_channels(const char *op, const char *name, const tp_tensor *t, int64_t channels)
{
    if (!t || (t->ndim == 1 && t->shape[0] == channels)) return 0;
    return tpi_fail(TP_ERR_RUNTIME, "%s: %s must have one entry for each of %lld channels, got shape %s", op, name,
                    (long long)channels, tpi_str(t));
}

/* [C] as [C, 1, ...], to be broadcast against [N, C, ...]. */
static T by_channel(T p, T x)
{
    int64_t shape[TPI_DIMS_CAP];
    if (!p || !x) return NULL;
    shape[0] = x->shape[1];
    for (int d = 2; d < x->ndim; d++) shape[d - 1] = 1;
    return x_reshape_to(narrowed(p, x->dtype), x->ndim - 1, shape);
}

static T affine(T y, T weight, T bias)
{
    if (weight) y = x_mul(y, by_channel(weight, y));
    return bias ? x_add(y, by_channel(bias, y), &tpi_one) : y;
}

/* Rows over the last dimensions: t as [.., n]. */
static T as_rows(T t, int64_t count, int64_t n)
{
    int64_t shape[2] = {count, n};
    return x_reshape_to(t, 2, shape);
}

static int check_trailing(const char *op, const tp_tensor *x, const tp_val *a, const tp_tensor *weight,
                          const tp_tensor *bias, int64_t *n)
{
    const tp_tensor *p[2] = {weight, bias};
    bool good = a->n >= 1 && a->n <= x->ndim;
    *n = 1;
    for (int d = 0; good && d < a->n; d++) {
        good = a->v.ints[d] == x->shape[x->ndim - a->n + d];
        *n *= a->v.ints[d];
    }
    if (!good)
        return tpi_fail(TP_ERR_RUNTIME, "%s: normalized_shape must be the last sizes of input, of shape %s", op,
                        tpi_str(x));
    for (int i = 0; i < 2; i++) {
        if (!p[i]) continue;
        good = p[i]->ndim == a->n;
        for (int d = 0; good && d < a->n; d++) good = p[i]->shape[d] == a->v.ints[d];
        if (!good)
            return tpi_fail(TP_ERR_RUNTIME, "%s: %s must have the shape normalized_shape, got %s", op,
                            i ? "bias" : "weight", tpi_str(p[i]));
    }
    return 0;
}

/* ---- layers over trailing dimensions ---- */

int c_layer_norm(tp_call *c)
{
    T x = arg_t(&c->args[0]), weight = arg_t(&c->args[2]), bias = arg_t(&c->args[3]);
    double eps = arg_f(&c->args[4]);
    int64_t n;
    int rc = need_real_floating("layer_norm", x);
    if (rc || (rc = check_trailing("layer_norm", x, &c->args[1], weight, bias, &n))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T wide = widened(x), r;
    T rows = wide && (c->args[1].n != 1) ? as_rows(wide, n ? x->numel / n : 0, n) : wide;
    if (!x->numel && !n) r = x_alias(wide);
    else if (weight && bias) {
        r = x_layer_norm_rows(rows, x_reshape_to(narrowed(weight, wide->dtype), 1, &n),
                              x_reshape_to(narrowed(bias, wide->dtype), 1, &n), eps);
    } else {
        r = standardized(rows, eps, NULL);
        if (weight && r) r = x_mul(r, x_reshape_to(narrowed(weight, r->dtype), 1, &n));
        if (bias && r) r = x_add(r, x_reshape_to(narrowed(bias, r->dtype), 1, &n), &tpi_one);
    }
    if (rows != wide) r = x_reshape_to(r, x->ndim, x->shape);
    return scope_result(&s, c, narrowed(r, x->dtype));
}

int c_rms_norm(tp_call *c)
{
    T x = arg_t(&c->args[0]), weight = arg_t(&c->args[2]);
    int64_t n, dims[TPI_DIMS_CAP];
    if (!tpi_is_differentiable(x->dtype))
        return tpi_fail(TP_ERR_TYPE, "rms_norm: input must be of a floating or complex dtype, got %s",
                        tp_dtype_name(x->dtype));
    int rc = check_trailing("rms_norm", x, &c->args[1], weight, NULL, &n), k = c->args[1].n;
    if (rc) return rc;
    for (int d = 0; d < k; d++) dims[d] = x->ndim - k + d;
    tpi_scope s;
    tpi_scope_open(&s);
    T wide = widened(x), r = NULL;
    if (wide) {
        bool single = wide->dtype == TP_FLOAT32 || wide->dtype == TP_COMPLEX64;
        double eps = c->args[3].tag == TPI_NONE ? single ? 0x1p-23 : 0x1p-52 : arg_f(&c->args[3]);
        r = x_mul(wide, x_rsqrt(x_add_f(x_mean_dims(x_square(wide), dims, k, true), eps, &tpi_one)));
        if (weight) r = x_mul(r, weight);
    }
    return scope_result(&s, c, narrowed(r, weight ? tp_promote_types(x->dtype, weight->dtype) : x->dtype));
}

/* ---- layers over channels ---- */

int c_group_norm(tp_call *c)
{
    const char *op = "group_norm";
    T x = arg_t(&c->args[0]), weight = arg_t(&c->args[2]), bias = arg_t(&c->args[3]);
    int64_t groups = arg_i(&c->args[1]);
    int rc = need_real_floating(op, x);
    if (rc) return rc;
    if (x->ndim < 2)
        return tpi_fail(TP_ERR_RUNTIME, "group_norm: input must have at least 2 dimensions, got shape %s", tpi_str(x));
    if (groups < 1 || x->shape[1] % groups)
        return tpi_fail(TP_ERR_RUNTIME, "group_norm: %lld channels do not divide into %lld groups",
                        (long long)x->shape[1], (long long)groups);
    if ((rc = check_channels(op, "weight", weight, x->shape[1])) ||
        (rc = check_channels(op, "bias", bias, x->shape[1])))
        return rc;
    int64_t count = x->shape[0] * groups, n = x->numel && count ? x->numel / count : 0;
    tpi_scope s;
    tpi_scope_open(&s);
    T y = widened(x);
    if (x->numel) y = x_reshape_to(standardized(as_rows(y, count, n), arg_f(&c->args[4]), NULL), x->ndim, x->shape);
    return scope_result(&s, c, narrowed(affine(x->numel ? y : x_alias(y), weight, bias), x->dtype));
}

/* t without derivatives. */
static T plain(T t) { return t ? tpi_own(tp_detach(t)) : NULL; }

/* running moves by momentum towards fresh. */
static void move(const char *op, T running, T fresh, double momentum)
{
    if (!running || !fresh || tpi_bad()) return;
    T now = plain(running), next = x_add(x_mul_f(now, 1 - momentum), x_mul_f(fresh, momentum), &tpi_one);
    if (!next || !tpi_copy_(running, next)) return;
    if (strstr(tp_error_message(), "captured from outside"))
        tpi_fail(TP_ERR_RUNTIME,
                 "%s: running statistics that were captured from outside vmap cannot take those of a mapped input; "
                 "map them too, or drop them with replace_all_batch_norm_modules_",
                 op);
    tpi_own(NULL);
}

typedef struct layer {
    const char *op;
    T x, mean, var, weight, bias;
    double momentum, eps;
} layer;

static int read_layer(tp_call *c, layer *l)
{
    int rc;
    l->x = arg_t(&c->args[0]);
    l->mean = arg_t(&c->args[1]);
    l->var = arg_t(&c->args[2]);
    l->weight = arg_t(&c->args[3]);
    l->bias = arg_t(&c->args[4]);
    l->momentum = arg_f(&c->args[6]);
    l->eps = arg_f(&c->args[7]);
    if ((rc = need_real_floating(l->op, l->x))) return rc;
    if (l->x->ndim < 2 && (l->x->ndim < 1 || l->x->numel))
        return tpi_fail(TP_ERR_RUNTIME, "%s: input must have at least 2 dimensions, got shape %s", l->op,
                        tpi_str(l->x));
    int64_t channels = l->x->ndim > 1 ? l->x->shape[1] : 0;
    if ((rc = check_channels(l->op, "running_mean", l->mean, channels)) ||
        (rc = check_channels(l->op, "running_var", l->var, channels)) ||
        (rc = check_channels(l->op, "weight", l->weight, channels)) ||
        (rc = check_channels(l->op, "bias", l->bias, channels)))
        return rc;
    return 0;
}

static T by_running_statistics(const layer *l)
{
    T x = widened(l->x);
    T scale = x_rsqrt(x_add_f(widened(l->var), l->eps, &tpi_one));
    if (l->weight) scale = x_mul(scale, narrowed(l->weight, scale ? scale->dtype : 0));
    T y = x_mul(x_sub(x, by_channel(l->mean, x), &tpi_one), by_channel(scale, x));
    return narrowed(affine(y, NULL, l->bias), l->x->dtype);
}

static int need_statistics(const layer *l)
{
    if (l->mean && l->var) return 0;
    return tpi_fail(TP_ERR_RUNTIME, "%s: running_mean and running_var are needed where the batch's are not used",
                    l->op);
}

int c_batch_norm(tp_call *c)
{
    layer l = {.op = "batch_norm"};
    int rc = read_layer(c, &l);
    bool training = arg_b(&c->args[5]);
    if (rc || (!training && (rc = need_statistics(&l)))) return rc;
    T x = l.x;
    if (x->ndim < 2) return tpi_set_out(c, 0, tp_clone(x));
    int64_t channels = x->shape[1], n = channels ? x->numel / channels : 0, order[TPI_DIMS_CAP], shape[TPI_DIMS_CAP];
    if (training && n == 1)
        return tpi_fail(TP_ERR_VALUE, "batch_norm: more than 1 value per channel is needed in training, got shape %s",
                        tpi_str(x));
    tpi_scope s;
    tpi_scope_open(&s);
    if (!training) return scope_result(&s, c, by_running_statistics(&l));
    /* channels first; swapping the first two dimensions is its own inverse */
    for (int d = 0; d < x->ndim; d++) order[d] = d < 2 ? 1 - d : d;
    for (int d = 0; d < x->ndim; d++) shape[d] = x->shape[order[d]];
    T rows = as_rows(x_permute(widened(x), order, x->ndim), channels, n);
    T y = x_permute(x_reshape_to(standardized(rows, l.eps, NULL), x->ndim, shape), order, x->ndim);
    y = narrowed(affine(y, l.weight, l.bias), x->dtype);
    if (y && n > 1 && (l.mean || l.var)) {
        const int64_t last = 1;
        rows = plain(rows);
        if (l.mean) move(l.op, l.mean, x_mean_dims(rows, &last, 1, false), l.momentum);
        if (l.var) move(l.op, l.var, x_var_dims(rows, &last, 1, 1, false), l.momentum);
    }
    return scope_result(&s, c, y);
}

int c_instance_norm(tp_call *c)
{
    layer l = {.op = "instance_norm"};
    int rc = read_layer(c, &l);
    bool own = arg_b(&c->args[5]);
    if (rc || (!own && (rc = need_statistics(&l)))) return rc;
    T x = l.x;
    if (x->ndim < 2) return tpi_set_out(c, 0, tp_clone(x));
    int64_t count = x->shape[0] * x->shape[1], n = 1;
    for (int d = 2; d < x->ndim; d++) n *= x->shape[d];
    if (own && n == 1)
        return tpi_fail(TP_ERR_VALUE, "instance_norm: more than 1 value per channel is needed, got shape %s",
                        tpi_str(x));
    tpi_scope s;
    tpi_scope_open(&s);
    if (!own) return scope_result(&s, c, by_running_statistics(&l));
    T rows = as_rows(widened(x), count, n);
    T y = x_reshape_to(standardized(rows, l.eps, NULL), x->ndim, x->shape);
    y = narrowed(affine(y, l.weight, l.bias), x->dtype);
    if (y && x->numel && (l.mean || l.var)) {
        const int64_t last = 1, first = 0;
        rows = plain(rows);
        T m = x_reshape_to(x_mean_dims(rows, &last, 1, false), 2, x->shape);
        T v = x_reshape_to(x_var_dims(rows, &last, 1, 1, false), 2, x->shape);
        if (l.mean) move(l.op, l.mean, x_mean_dims(m, &first, 1, false), l.momentum);
        if (l.var) move(l.op, l.var, x_mean_dims(v, &first, 1, false), l.momentum);
    }
    return scope_result(&s, c, y);
}

int c_local_response_norm(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    int64_t size = arg_i(&c->args[1]), shape[TPI_DIMS_CAP];
    if (x->ndim < 3)
        return tpi_fail(TP_ERR_VALUE, "local_response_norm: input must have at least 3 dimensions, got shape %s",
                        tpi_str(x));
    if (size < 1)
        return tpi_fail(TP_ERR_VALUE, "local_response_norm: size must be positive, got %lld", (long long)size);
    if (!tpi_is_float(x->dtype) && x->dtype != TP_INT64)
        return tpi_fail(TP_ERR_TYPE, "local_response_norm: input must be int64 or of a real floating dtype, got %s",
                        tp_dtype_name(x->dtype));
    tpi_scope s;
    tpi_scope_open(&s);
    if (!x->numel) return scope_result(&s, c, x_clone(x));
    bool whole = x->dtype == TP_INT64;
    T square = x_square(x), parts[3] = {NULL, square, NULL};
    tpi_copy_dims(shape, x->shape, x->ndim);
    shape[1] = size / 2;
    parts[0] = x_zeros_shape(x->dtype, x->ndim, shape);
    shape[1] = (size - 1) / 2;
    parts[2] = x_zeros_shape(x->dtype, x->ndim, shape);
    const int64_t last = x->ndim;
    T m = NULL;
    if (parts[0] && parts[1] && parts[2]) {
        m = x_unfold(x_cat(parts, 3, 1), 1, size, 1);
        // the mean of integers is a whole number, as avg_pool's
        m = whole ? x_trunc_divide_i(x_sum_dims(m, &last, 1, false), size) : x_mean_dims(m, &last, 1, false);
    }
    m = x_add_f(x_mul_f(m, arg_f(&c->args[2])), arg_f(&c->args[4]), &tpi_one);
    return scope_result(&s, c, x_div(x, x_pow(m, x_scalar(arg_f(&c->args[3]), m))));
}

int c_normalize(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    int64_t dim = arg_i(&c->args[2]);
    int rank = x->ndim ? x->ndim : 1;
    if (!tpi_is_differentiable(x->dtype))
        return tpi_fail(TP_ERR_TYPE, "normalize: input must be of a floating or complex dtype, got %s",
                        tp_dtype_name(x->dtype));
    if (dim < -rank || dim >= rank)
        return tpi_fail(TP_ERR_INDEX, "normalize: dimension %lld is out of range for shape %s", (long long)dim,
                        tpi_str(x));
    if (dim < 0) dim += rank;
    const tp_scalar least = {.tag = TP_SCALAR_FLOAT, .v.f = arg_f(&c->args[3])};
    tpi_scope s;
    tpi_scope_open(&s);
    T norm = x_norm_dims(x, arg_f(&c->args[1]), &dim, x->ndim ? 1 : 0, true);
    return scope_result(&s, c, x_div(x, x_clamp(norm, &least, NULL)));
}
