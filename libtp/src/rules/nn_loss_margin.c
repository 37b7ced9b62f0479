/* Losses and distances that look at shapes: composites. */
#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

static T sum_at(T t, int64_t dim, bool keep) { return x_sum_dims(t, &dim, 1, keep); }
static T plus_f(T t, double v) { return x_add_f(t, v, &tpi_one); }

static T at_least(T t, double bound)
{
    const tp_scalar least = {.tag = TP_SCALAR_FLOAT, .v.f = bound};
    return x_clamp(t, &least, NULL);
}

int c_cosine_similarity(tp_call *c)
{
    T x[2] = {arg_t(&c->args[0]), arg_t(&c->args[1])};
    int64_t dim = arg_i(&c->args[2]), shape[TPI_DIMS_CAP];
    int n, rc = tpi_broadcast_shapes("cosine_similarity", x[0]->ndim, x[0]->shape, x[1]->ndim, x[1]->shape, &n, shape);
    int dtype = tp_promote_types(x[0]->dtype, x[1]->dtype), rank = n ? n : 1;
    if (rc) return rc;
    if (!tpi_is_differentiable(dtype))
        return tpi_fail(TP_ERR_TYPE, "cosine_similarity: inputs must be of a floating dtype, got %s",
                        tp_dtype_name(dtype));
    if (dim < -rank || dim >= rank)
        return tpi_fail(TP_ERR_INDEX, "cosine_similarity: dimension %lld is out of range for %d dimensions",
                        (long long)dim, n);
    if (dim < 0) dim += rank;
    tpi_scope s;
    tpi_scope_open(&s);
    for (int i = 0; i < 2; i++) {
        x[i] = x_expand_to(x_to_dtype(x[i], dtype), n, shape);
        x[i] = x_div(x[i], at_least(x_norm_dims(x[i], 2, &dim, n ? 1 : 0, true), arg_f(&c->args[3])));
    }
    T r = x_mul(x[0], x[1]);
    return scope_result(&s, c, n ? sum_at(r, dim, false) : r);
}

int c_bilinear(tp_call *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]), w = arg_t(&c->args[2]), bias = arg_t(&c->args[3]);
    bool good = w->ndim == 3 && a->ndim && a->ndim == b->ndim && a->shape[a->ndim - 1] == w->shape[1] &&
                b->shape[b->ndim - 1] == w->shape[2] && (!bias || (bias->ndim == 1 && bias->shape[0] == w->shape[0]));
    for (int d = 0; good && d < a->ndim - 1; d++) good = a->shape[d] == b->shape[d];
    if (!good)
        return tpi_fail(TP_ERR_RUNTIME, "bilinear: inputs of shapes %s and %s do not fit a weight of shape %s",
                        tpi_str(a), tpi_str(b), tpi_str(w));
    tpi_scope s;
    tpi_scope_open(&s);
    tp_tensor *three[3] = {a, w, b};
    T r = x_einsum("...i,kij,...j->...k", three, 3);
    return scope_result(&s, c, bias ? x_add(r, bias, &tpi_one) : r);
}

int c_cosine_embedding_loss(tp_call *c)
{
    const char *op = "cosine_embedding_loss";
    T x = arg_t(&c->args[0]), y = arg_t(&c->args[1]), target = arg_t(&c->args[2]);
    if (target->ndim > 1 || x->ndim != y->ndim || x->ndim != target->ndim + 1)
        return tpi_fail(TP_ERR_RUNTIME, "%s: shapes %s, %s and %s do not fit", op, tpi_str(x), tpi_str(y),
                        tpi_str(target));
    const int64_t d = x->ndim - 1;
    tpi_scope s;
    tpi_scope_open(&s);
    x = tpi_floating(x);
    y = tpi_floating(y);
    T xx = plus_f(sum_at(x_square(x), d, false), 1e-12), yy = plus_f(sum_at(x_square(y), d, false), 1e-12);
    T cosine = x_div(sum_at(x_mul(x, y), d, false), x_sqrt(x_mul(xx, yy)));
    T zero = x_scalar(0, cosine), apart = at_least(plus_f(cosine, -arg_f(&c->args[3])), 0);
    T loss = x_add(x_where(x_eq_i(target, 1), plus_f(x_neg(cosine), 1), zero), x_where(x_eq_i(target, -1), apart, zero),
                   &tpi_one);
    return scope_result(&s, c, x_loss_reduced(loss, c->args[4].v.str, op));
}

int c_poisson_nll_loss(tp_call *c)
{
    T x = arg_t(&c->args[0]), t = arg_t(&c->args[1]);
    bool log_input = arg_b(&c->args[2]), full = arg_b(&c->args[3]);
    tpi_scope s;
    tpi_scope_open(&s);
    T loss = log_input ? minus(x_exp(x), x_mul(t, x)) : minus(x, x_mul(t, x_log(plus_f(x, arg_f(&c->args[4])))));
    if (full) {
        T big = x_gt_i(t, 1), u = x_where(big, t, x_iscalar(2, t));
        T stirling = x_add(minus(x_mul(u, x_log(u)), u), x_mul_f(x_log(x_mul_f(u, 6.283185307179586)), 0.5), &tpi_one);
        loss = x_add(loss, x_where(big, stirling, x_scalar(0, stirling)), &tpi_one);
    }
    return scope_result(&s, c, x_loss_reduced(loss, c->args[5].v.str, "poisson_nll_loss"));
}

/* 0, 1, ... as a plain tensor */
static T counting(int64_t n)
{
    const tp_scalar end = {.tag = TP_SCALAR_INT, .v.i = n};
    return x_arange(&end, TP_INT64);
}

static int check_rows(const char *op, const tp_tensor *x)
{
    if (!tpi_is_float(x->dtype))
        return tpi_fail(TP_ERR_TYPE, "%s: input must be of a floating dtype, got %s", op, tp_dtype_name(x->dtype));
    if (x->ndim < 3 && (!x->ndim || x->shape[x->ndim - 1])) return 0; /* a number is one class */
    return tpi_fail(TP_ERR_RUNTIME, "%s: input must have shape [N, C] or [C], got %s", op, tpi_str(x));
}

int c_multi_margin_loss(tp_call *c)
{
    const char *op = "multi_margin_loss";
    T x = arg_t(&c->args[0]), target = arg_t(&c->args[1]), weight = arg_t(&c->args[4]);
    int64_t p = arg_i(&c->args[2]);
    int rc = check_rows(op, x);
    if (rc) return rc;
    if (p != 1 && p != 2) return tpi_fail(TP_ERR_VALUE, "%s: p must be 1 or 2, got %lld", op, (long long)p);
    if (!tpi_is_int(target->dtype))
        return tpi_fail(TP_ERR_TYPE, "%s: target must hold integers, got %s", op, tp_dtype_name(target->dtype));
    int64_t classes = x->ndim ? x->shape[x->ndim - 1] : 1, count = x->ndim == 2 ? x->shape[0] : 1;
    if (target->ndim > 1 || target->numel != count)
        return tpi_fail(TP_ERR_RUNTIME, "%s: target of shape %s does not fit input of shape %s", op, tpi_str(target),
                        tpi_str(x));
    if (weight && (weight->ndim != 1 || weight->shape[0] != classes))
        return tpi_fail(TP_ERR_RUNTIME, "%s: weight must have one entry for each of %lld classes, got shape %s", op,
                        (long long)classes, tpi_str(weight));
    const int64_t rows[2] = {count, classes};
    tpi_scope s;
    tpi_scope_open(&s);
    bool flat = x->ndim < 2 && target->ndim == 0;
    x = x_reshape_to(x, 2, rows);
    target = x_reshape_to(x_to_dtype(target, TP_INT64), 1, &count);
    /* no class number is ignored */
    T picked = x_nll_pick(x, target, 1, INT64_MIN + 1), other = x_ne(x_unsqueeze_at(target, 1), counting(classes));
    T z = x_relu(plus_f(x_add(x, x_unsqueeze_at(picked, 1), &tpi_one), arg_f(&c->args[3])));
    if (p == 2) z = x_square(z);
    if (weight) {
        T w = x_nll_pick(x_expand_to(x_to_dtype(weight, x ? x->dtype : 0), 2, rows), target, 1, INT64_MIN + 1);
        z = x_mul(z, x_unsqueeze_at(x_neg(w), 1));
    }
    T loss = x_div_f(sum_at(x_where(other, z, x_scalar(0, z)), 1, false), (double)classes);
    if (flat) loss = x_reshape_to(loss, 0, &count);
    return scope_result(&s, c, x_loss_reduced(loss, c->args[5].v.str, op));
}

int c_multilabel_margin_loss(tp_call *c)
{
    const char *op = "multilabel_margin_loss";
    T x = arg_t(&c->args[0]), target = arg_t(&c->args[1]);
    int rc = check_rows(op, x);
    if (rc) return rc;
    bool good = target->ndim == x->ndim && tpi_is_int(target->dtype);
    for (int d = 0; good && d < x->ndim; d++) good = target->shape[d] == x->shape[d];
    if (!good)
        return tpi_fail(TP_ERR_RUNTIME, "%s: target of shape %s (%s) does not fit input of shape %s", op,
                        tpi_str(target), tp_dtype_name(target->dtype), tpi_str(x));
    int d = x->ndim ? x->ndim - 1 : 0;
    int64_t classes = x->ndim ? x->shape[d] : 1;
    tpi_scope s;
    tpi_scope_open(&s);
    if (!x->ndim) {
        x = x_reshape_to(x, 1, &classes);
        target = x_reshape_to(target, 1, &classes);
    }
    /* targets in front of the first negative number; [.., i, 1] against [.., 1, j] */
    T listed = x_gt_f(x_cumprod_scan(x_to_dtype(x_ge_i(target, 0), TP_INT64), d, false, false), 0);
    T index = x_to_dtype(x_where(listed, target, x_iscalar(0, target)), TP_INT64);
    T chosen = x_gather(x, d, index);
    const int64_t axis = d;
    T same = x_logical_and(x_eq(x_unsqueeze_at(index, d + 1), counting(classes)), x_unsqueeze_at(listed, d + 1));
    T other = x_logical_not(x_any_dims(same, &axis, 1, true));
    T pair = x_logical_and(x_unsqueeze_at(listed, d + 1), other);
    T z = x_relu(plus_f(minus(x_unsqueeze_at(x, d), x_unsqueeze_at(chosen, d + 1)), 1));
    const int64_t both[2] = {d, d + 1};
    T loss = x_div_f(x_sum_dims(x_where(pair, z, x_scalar(0, z)), both, 2, false), (double)classes);
    return scope_result(&s, c, x_loss_reduced(loss, c->args[2].v.str, op));
}

/* anchor, positive, negative, margin, p, eps, swap, reduction */
int c_triplet_margin_loss(tp_call *c)
{
    const tp_val *a = c->args;
    T anchor = arg_t(&a[0]), positive = arg_t(&a[1]), negative = arg_t(&a[2]);
    double margin = arg_f(&a[3]), p = arg_f(&a[4]), eps = arg_f(&a[5]);
    const tp_scalar zero = {.tag = TP_SCALAR_FLOAT};
    if (!(margin > 0)) return tpi_fail(TP_ERR_VALUE, "triplet_margin_loss: margin must be positive, got %g", margin);
    tpi_scope s;
    tpi_scope_open(&s);
    T near = x_pairwise_distance(anchor, positive, p, eps, false);
    T far = x_pairwise_distance(anchor, negative, p, eps, false);
    if (arg_b(&a[6])) far = x_minimum(far, x_pairwise_distance(positive, negative, p, eps, false));
    T loss = x_clamp_min(x_sub(plus_f(near, margin), far, &tpi_one), &zero);
    return scope_result(&s, c, x_loss_reduced(loss, a[7].v.str, "triplet_margin_loss"));
}
