/* Losses: composites, so that they have the derivatives and batching rules of what they are made of. */
#include <math.h>

#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

typedef enum reduction { NONE, MEAN, SUM, UNKNOWN } reduction;

static reduction reduction_of(const char *op, const tp_val *a)
{
    const char *s = a->v.str;
    if (!strcmp(s, "mean")) return MEAN;
    if (!strcmp(s, "sum")) return SUM;
    if (!strcmp(s, "none")) return NONE;
    tpi_fail(TP_ERR_VALUE, "%s: reduction must be 'none', 'mean' or 'sum', got '%s'", op, s);
    return UNKNOWN;
}

static T sum_all(T t)
{
    int64_t dims[TPI_DIMS_CAP];
    if (!t || t->ndim == 0) return t;
    for (int i = 0; i < t->ndim; i++) dims[i] = i;
    return x_sum_dims(t, dims, t->ndim, false);
}

static T reduced(T t, reduction how)
{
    int64_t dims[TPI_DIMS_CAP];
    if (!t || how == NONE) return t;
    if (how == SUM || t->ndim == 0) return sum_all(t);
    for (int i = 0; i < t->ndim; i++) dims[i] = i;
    return x_mean_dims(t, dims, t->ndim, false);
}

int c_loss_reduced(tp_call *c)
{
    reduction how = reduction_of(c->args[2].v.str, &c->args[1]);
    if (how == UNKNOWN) return tp_error_code();
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, reduced(arg_t(&c->args[0]), how));
}

static int need_floating(const char *op, const char *name, const tp_tensor *t, bool complex_too)
{
    if (tpi_is_float(t->dtype) || (complex_too && tpi_is_complex(t->dtype))) return 0;
    return tpi_fail(TP_ERR_TYPE, "%s: %s must be of a floating%s dtype, got %s", op, name,
                    complex_too ? " or complex" : "", tp_dtype_name(t->dtype));
}

/* ---- classes ---- */

typedef struct classes {
    const char *op;
    int dim;             /* of the classes */
    int64_t n;
    int64_t ignore;
    reduction how;
} classes;

/* The weights of the classes as a view of x's shape. */
static T spread_weight(T weight, T x, const classes *k)
{
    int64_t shape[TPI_DIMS_CAP];
    if (!weight || !x) return NULL;
    for (int d = 0; d < x->ndim; d++) shape[d] = d == k->dim ? k->n : 1;
    return x_expand_to(x_reshape_to(x_to_dtype(weight, x->dtype), x->ndim, shape), x->ndim, x->shape);
}

static int check_classes(classes *k, const tp_tensor *x, const tp_tensor *weight)
{
    int rc = need_floating(k->op, "input", x, false);
    if (rc) return rc;
    if (!x->ndim) return tpi_fail(TP_ERR_VALUE, "%s: input must have a dimension of classes, got shape []", k->op);
    k->dim = x->ndim > 1;
    k->n = x->shape[k->dim];
    if (weight && (weight->ndim != 1 || weight->shape[0] != k->n))
        return tpi_fail(TP_ERR_VALUE, "%s: weight must have one entry for each of %lld classes, got shape %s", k->op,
                        (long long)k->n, tpi_str(weight));
    return 0;
}

static int check_target(const classes *k, const tp_tensor *x, const tp_tensor *target)
{
    if (!tpi_is_int(target->dtype))
        return tpi_fail(TP_ERR_TYPE, "%s: target must hold integers, got %s", k->op, tp_dtype_name(target->dtype));
    bool good = target->ndim == x->ndim - 1;
    for (int d = 0; good && d < target->ndim; d++) good = target->shape[d] == x->shape[d < k->dim ? d : d + 1];
    if (good) return 0;
    return tpi_fail(TP_ERR_VALUE, "%s: target of shape %s does not fit input of shape %s", k->op, tpi_str(target),
                    tpi_str(x));
}

/* -weight * logp at target; `share` gets what a mean divides by. */
static T pick(const classes *k, T logp, T target, T weight, T *share)
{
    T loss = x_nll_pick(logp, target, k->dim, k->ignore);
    if (!weight) {
        if (k->how == MEAN) *share = sum_all(x_ne_i(target, k->ignore));
        return loss;
    }
    T w = x_neg(x_nll_pick(spread_weight(weight, logp, k), target, k->dim, k->ignore));
    if (k->how == MEAN) *share = sum_all(w);
    return x_mul(loss, w);
}

static T finish(const classes *k, T loss, T share)
{
    if (k->how == NONE) return loss;
    T total = sum_all(loss);
    return k->how == MEAN ? x_div(total, x_to_dtype(share, total ? total->dtype : TP_FLOAT32)) : total;
}

int c_nll_loss(tp_call *c)
{
    T x = arg_t(&c->args[0]), target = arg_t(&c->args[1]), weight = arg_t(&c->args[2]), share = NULL;
    classes k = {.op = "nll_loss", .ignore = arg_i(&c->args[3]), .how = reduction_of("nll_loss", &c->args[4])};
    int rc;
    if (k.how == UNKNOWN) return TP_ERR_VALUE;
    if ((rc = check_classes(&k, x, weight)) || (rc = check_target(&k, x, target))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T loss = pick(&k, x, x_to_dtype(target, TP_INT64), weight, &share);
    return scope_result(&s, c, finish(&k, loss, share));
}

/* -sum over the classes of weight * t */
static T over_classes(const classes *k, T t, T weight)
{
    const int64_t dim = k->dim;
    if (weight) t = x_mul(t, spread_weight(weight, t, k));
    return x_neg(x_sum_dims(t, &dim, 1, false));
}

/* Targets that are probabilities. */
static T soft_targets(const classes *k, T logp, T target, T weight, double smoothing)
{
    int64_t samples = k->n ? logp->numel / k->n : 0;
    target = x_to_dtype(target, logp->dtype);
    if (smoothing > 0) target = x_add_f(x_mul_f(target, 1 - smoothing), smoothing / (double)k->n, &tpi_one);
    T loss = over_classes(k, x_mul(target, logp), weight);
    if (k->how == NONE) return loss;
    T total = sum_all(loss);
    return k->how == MEAN && samples != 1 ? x_div_f(total, (double)samples) : total;
}

int c_cross_entropy(tp_call *c)
{
    T x = arg_t(&c->args[0]), target = arg_t(&c->args[1]), weight = arg_t(&c->args[2]), share = NULL, r;
    double smoothing = arg_f(&c->args[5]);
    classes k = {
        .op = "cross_entropy", .ignore = arg_i(&c->args[3]), .how = reduction_of("cross_entropy", &c->args[4])};
    int rc;
    if (k.how == UNKNOWN) return TP_ERR_VALUE;
    if ((rc = check_classes(&k, x, weight))) return rc;
    if (!(smoothing >= 0 && smoothing <= 1))
        return tpi_fail(TP_ERR_VALUE, "cross_entropy: label_smoothing must lie between 0 and 1, got %g", smoothing);
    bool soft = target->ndim == x->ndim && !memcmp(target->shape, x->shape, sizeof *x->shape * (size_t)x->ndim);
    if (soft) {
        if ((rc = need_floating("cross_entropy", "a target of probabilities", target, false))) return rc;
        if (k.ignore >= 0)
            return tpi_fail(TP_ERR_RUNTIME, "cross_entropy: ignore_index is for targets of class numbers");
    } else if ((rc = check_target(&k, x, target))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T logp = x_log_softmax_dim(x, k.dim);
    if (!logp) r = NULL;
    else if (soft) r = soft_targets(&k, logp, target, weight, smoothing);
    else {
        target = x_to_dtype(target, TP_INT64);
        T loss = pick(&k, logp, target, weight, &share);
        if (smoothing > 0) {
            /* ignored targets have no part in the smooth loss either */
            T smooth = over_classes(&k, logp, weight);
            smooth = x_where(x_ne_i(target, k.ignore), smooth, x_scalar(0, smooth));
            loss = x_add(x_mul_f(loss, 1 - smoothing), x_mul_f(smooth, smoothing / (double)k.n), &tpi_one);
        }
        r = finish(&k, loss, share);
    }
    return scope_result(&s, c, r);
}

/* ---- regression ---- */

/* Shapes that broadcast, dtypes with a derivative. */
static int check_pair(const char *op, const tp_tensor *x, const tp_tensor *target, bool complex_too)
{
    int rc, n;
    int64_t shape[TPI_DIMS_CAP];
    if ((rc = tpi_broadcast_shapes(op, x->ndim, x->shape, target->ndim, target->shape, &n, shape))) return rc;
    if (complex_too || (!tpi_is_complex(x->dtype) && !tpi_is_complex(target->dtype))) return 0;
    return tpi_fail(TP_ERR_TYPE, "%s: not defined for complex dtypes", op);
}

/* The promoted difference, of a floating dtype. */
static T difference(T x, T target)
{
    T d = x->dtype == TP_BOOL && target->dtype == TP_BOOL ? NULL : x_sub(x, target, &tpi_one);
    if (!d && !tpi_bad()) d = x_sub(x_to_dtype(x, tp_get_default_dtype()), target, &tpi_one);
    return tpi_floating(d);
}

typedef T (*pointwise)(T d, double parameter);

static int pair_loss(tp_call *c, const char *op, int reduce_arg, pointwise f, double parameter, bool complex_too)
{
    T x = arg_t(&c->args[0]), target = arg_t(&c->args[1]);
    reduction how = reduction_of(op, &c->args[reduce_arg]);
    int rc = how == UNKNOWN ? TP_ERR_VALUE : check_pair(op, x, target, complex_too);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, reduced(f(difference(x, target), parameter), how));
}

static T squared(T d, double unused) { return x_square(d); }
static T absolute(T d, double unused) { return x_abs(d); }

static T huber(T d, double delta)
{
    T a = x_abs(d);
    return x_where(x_lt_f(a, delta), x_mul_f(x_square(d), 0.5), x_mul_f(x_sub_f(a, 0.5 * delta, &tpi_one), delta));
}

static T smooth_l1(T d, double beta)
{
    if (beta == 0) return x_abs(d);
    T a = x_abs(d);
    return x_where(x_lt_f(a, beta), x_mul_f(x_square(d), 0.5 / beta), x_sub_f(a, 0.5 * beta, &tpi_one));
}

int c_mse_loss(tp_call *c) { return pair_loss(c, "mse_loss", 2, squared, 0, false); }
int c_l1_loss(tp_call *c) { return pair_loss(c, "l1_loss", 2, absolute, 0, true); }

int c_smooth_l1_loss(tp_call *c)
{
    double beta = arg_f(&c->args[3]);
    if (!(beta >= 0)) return tpi_fail(TP_ERR_VALUE, "smooth_l1_loss: beta must not be negative, got %g", beta);
    return pair_loss(c, "smooth_l1_loss", 2, smooth_l1, beta, false);
}

int c_huber_loss(tp_call *c)
{
    double delta = arg_f(&c->args[3]);
    if (!(delta > 0)) return tpi_fail(TP_ERR_VALUE, "huber_loss: delta must be positive, got %g", delta);
    return pair_loss(c, "huber_loss", 2, huber, delta, false);
}

/* ---- binary targets ---- */

static int check_binary(const char *op, const tp_tensor *x, const tp_tensor *target)
{
    int rc;
    if ((rc = need_floating(op, "input", x, false)) || (rc = need_floating(op, "target", target, false))) return rc;
    if (x->ndim == target->ndim && !memcmp(x->shape, target->shape, sizeof *x->shape * (size_t)x->ndim)) return 0;
    return tpi_fail(TP_ERR_VALUE, "%s: target of shape %s must have input's shape %s", op, tpi_str(target), tpi_str(x));
}

static T one_minus(T t) { return x_add_f(x_neg(t), 1.0, &tpi_one); }

/* log(t), at least -100. The inner bound, the least positive float32, keeps an infinite slope out of the outer one. */
static T bounded_log(T t)
{
    const tp_scalar least = {.tag = TP_SCALAR_FLOAT, .v.f = 0x1p-149}, bound = {.tag = TP_SCALAR_FLOAT, .v.f = -100};
    return x_clamp(x_log(x_clamp(t, &least, NULL)), &bound, NULL);
}

/* log(1 - x), at least -100: exact at both ends of [0, 1]. */
static T log_complement(T x)
{
    const tp_scalar half = {.tag = TP_SCALAR_FLOAT, .v.f = 0.5};
    return x_where(x_gt_f(x, 0.5), bounded_log(one_minus(x)), x_log1p(x_neg(x_clamp(x, NULL, &half))));
}

int c_binary_cross_entropy(tp_call *c)
{
    const char *op = "binary_cross_entropy";
    T x = arg_t(&c->args[0]), target = arg_t(&c->args[1]), weight = arg_t(&c->args[2]);
    reduction how = reduction_of(op, &c->args[3]);
    int rc = how == UNKNOWN ? TP_ERR_VALUE : check_binary(op, x, target);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T wide = x->dtype == TP_FLOAT16 || x->dtype == TP_BFLOAT16 ? x_to_dtype(x, TP_FLOAT32) : x;
    T loss = x_neg(x_add(x_mul(target, bounded_log(wide)), x_mul(one_minus(target), log_complement(wide)), &tpi_one));
    if (weight) loss = x_mul(loss, weight);
    return scope_result(&s, c, x_to_dtype(reduced(loss, how), tp_promote_types(x->dtype, target->dtype)));
}

int c_binary_cross_entropy_with_logits(tp_call *c)
{
    const char *op = "binary_cross_entropy_with_logits";
    T x = arg_t(&c->args[0]), target = arg_t(&c->args[1]), weight = arg_t(&c->args[2]), positive = arg_t(&c->args[4]);
    reduction how = reduction_of(op, &c->args[3]);
    int rc = how == UNKNOWN ? TP_ERR_VALUE : check_binary(op, x, target);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    /* -log(sigmoid(x)) = softplus(-x); -log(1 - sigmoid(x)) = x + softplus(-x) */
    T log_sigmoid = x_softplus(x_neg(x), 1.0, 40.0), loss;
    if (positive) {
        T w = x_add_f(x_mul(x_sub_f(positive, 1.0, &tpi_one), target), 1.0, &tpi_one);
        loss = x_add(x_mul(one_minus(target), x), x_mul(w, log_sigmoid), &tpi_one);
    } else loss = x_add(x_mul(one_minus(target), x), log_sigmoid, &tpi_one);
    if (weight) loss = x_mul(loss, weight);
    return scope_result(&s, c, reduced(loss, how));
}

int c_kl_div(tp_call *c)
{
    const char *op = "kl_div";
    T x = arg_t(&c->args[0]), target = arg_t(&c->args[1]);
    bool mean_of_batch = !strcmp(c->args[2].v.str, "batchmean"), logs = arg_b(&c->args[3]);
    reduction how = mean_of_batch ? SUM : reduction_of(op, &c->args[2]);
    int rc = how == UNKNOWN ? TP_ERR_VALUE : check_pair(op, x, target, false);
    if (rc || (rc = need_floating(op, "input", x, false)) || (rc = need_floating(op, "target", target, false)))
        return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T loss = logs ? x_mul(x_exp(target), x_sub(target, x, &tpi_one))
                  : x_sub(x_xlogy(target, target), x_mul(target, x), &tpi_one);
    loss = reduced(loss, how);
    if (mean_of_batch && x->ndim && x->shape[0] != 1) loss = x_div_f(loss, (double)x->shape[0]);
    return scope_result(&s, c, loss);
}
