/* Functions of matrices and of sets of points: exponential, distances, renormalisation. */
#include <math.h>

#include "kernels/kernels.h"
#include "rules/matmul_util.h"

static T scaled(T t, double f) { return x_mul_f(t, f); }
static T real_scalar(double v, int dtype)
{
    return tpi_own(tp_full(NULL, 0, &(tp_scalar){.tag = TP_SCALAR_FLOAT, .v.f = v}, dtype));
}

/* ---- exponential of matrices ----
 *
 * The Pade approximant of order 13 on matrices of 1-norm up to 5.37, squared as often as the norm was halved (Higham,
 * "The scaling and squaring method for the matrix exponential revisited", SIAM J. Matrix Anal. Appl. 26, 2005). The
 * derivative in direction E is the upper right block of the exponential of [A E; 0 A]. */

static const double PADE[] = {1,
                              0.5,
                              0.12,
                              1.833333333333333333e-2,
                              1.992753623188405797e-3,
                              1.630434782608695652e-4,
                              1.035196687370600414e-5,
                              5.175983436853002070e-7,
                              2.043151356652500817e-8,
                              6.306022705717595115e-10,
                              1.483770048404140027e-11,
                              2.529153491597965955e-13,
                              2.810170546219962173e-15,
                              1.544049750670308886e-17};

/* c13 a6 + c11 a4 + c9 a2 and the like, with the next lower ones added after a product with a6. */
static T half(T a2, T a4, T a6, T eye, int odd)
{
    T high = plus(plus(scaled(a6, PADE[12 + odd]), scaled(a4, PADE[10 + odd])), scaled(a2, PADE[8 + odd]));
    T low = plus(plus(scaled(a6, PADE[6 + odd]), scaled(a4, PADE[4 + odd])), scaled(a2, PADE[2 + odd]));
    return plus(tpi_product(a6, high), plus(low, scaled(eye, PADE[odd])));
}

/* How often each matrix is to be halved; the largest of the numbers. */
static int halvings(T norm, int32_t *out)
{
    int most = 0;
    for (int64_t i = 0; i < norm->numel; i++) {
        double n = norm->dtype == TP_FLOAT32 ? ((float *)tpi_data(norm))[i] : ((double *)tpi_data(norm))[i];
        int e = 0;
        if (isfinite(n) && n > 5.371920351148152) frexp(n / 5.371920351148152, &e);
        out[i] = e;
        if (e > most) most = e;
    }
    return most;
}

int k_lin_expm(tp_call *c)
{
    T a = arg_t(&c->args[0]);
    int64_t n = a->shape[a->ndim - 1];
    tpi_scope s;
    tpi_scope_open(&s);
    if (!a->numel) return scope_result(&s, c, x_clone(a));
    /* the largest sum of |a| over columns */
    T sums = x_sum_dims(x_abs(a), &(int64_t){a->ndim - 2}, 1, false);
    T norm = tpi_bad() ? NULL : x_contiguous(x_amax_dims(sums, &(int64_t){sums->ndim - 1}, 1, false));
    T times = norm ? tpi_own(tpi_empty(TP_INT32, norm->ndim, norm->shape)) : NULL, r = NULL;
    if (times) {
        int32_t *t = tpi_data(times);
        int most = halvings(norm, t), real = norm->dtype;
        T factor = x_exp2(x_neg(x_to_dtype(times, real))), out[2] = {NULL};
        T x = x_mul(a, tpi_whole(factor)), eye = tpi_eye_like(a);
        T a2 = tpi_product(x, x), a4 = tpi_product(a2, a2), a6 = tpi_product(a4, a2);
        T u = tpi_product(x, half(a2, a4, a6, eye, 1)), v = half(a2, a4, a6, eye, 0);
        if (!x_lin_solve(minus(v, u), plus(v, u), "linalg.matrix_exp", false, out)) r = out[0];
        for (int k = 0; k < most && r; k++) {
            T more = x_gt(times, x_iscalar(k, times));
            r = tpi_bad() ? NULL : x_where(tpi_whole(more), tpi_product(r, r), r);
        }
    }
    (void)n;
    return scope_result(&s, c, r);
}

/* The derivative at a in direction e. */
static T frechet(T a, T e)
{
    if (!a || !e) return NULL;
    int64_t n = a->shape[a->ndim - 1];
    T zero = x_zeros_like(a), top[2] = {a, e}, low[2] = {zero, a};
    if (tpi_bad()) return NULL;
    T both[2] = {x_cat(top, 2, -1), x_cat(low, 2, -1)};
    T r = tpi_bad() ? NULL : x_lin_expm(x_cat(both, 2, -2));
    return r ? x_narrow(x_narrow(r, -2, 0, n), -1, n, n) : NULL;
}

int lin_expm__vjp(tp_vjp_ctx *c)
{
    if (c->grads[0]) c->out[0] = frechet(tpi_mH(arg_t(&c->args[0])), c->grads[0]);
    return 0;
}

int lin_expm__jvp(tp_jvp_ctx *c)
{
    c->out[0] = frechet(arg_t(&c->args[0]), c->tangents[0]);
    return 0;
}

static int matrix_exp(tp_call *c, const char *op)
{
    T a = arg_t(&c->args[0]);
    int rc = tpi_need_square(op, a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_lin_expm(a));
}

int c_linalg_matrix_exp(tp_call *c) { return matrix_exp(c, "linalg.matrix_exp"); }
int c_matrix_exp(tp_call *c) { return matrix_exp(c, "matrix_exp"); }

/* ---- distances ----
 *
 * Euclidean distances are sums of squares of differences, never differences of products. Their derivatives are
 * products with the matrix of cotangents over distances, zero where points coincide. */

/* g / d, zero where d is. */
static T weights(T g, T d)
{
    if (tpi_bad() || !g || !d) return NULL;
    T none = x_iscalar(0, d), zero = x_eq(d, none);
    return x_where(zero, none, x_div(g, x_where(zero, x_iscalar(1, d), d)));
}

static T total(T t, int dim, bool keepdim)
{
    return tpi_bad() || !t ? NULL : x_sum_dims(t, &(int64_t){t->ndim + dim}, 1, keepdim);
}

int lin_euclid__vjp(tp_vjp_ctx *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]), w = weights(c->grads[0], c->results[0]);
    if (!w) return 0;
    if (c->need[0]) c->out[0] = minus(x_mul(a, total(w, -1, true)), tpi_product(w, b));
    if (c->need[1]) c->out[1] = minus(x_mul(b, tpi_mT(total(w, -2, true))), tpi_product(tpi_mT(w), a));
    return 0;
}

int lin_euclid__jvp(tp_jvp_ctx *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]), at = c->tangents[0], bt = c->tangents[1], s = NULL;
    if (at) s = minus(total(x_mul(a, at), -1, true), tpi_product(at, tpi_mT(b)));
    if (bt) s = sum_of(s, minus(tpi_mT(total(x_mul(b, bt), -1, true)), tpi_product(a, tpi_mT(bt))));
    c->out[0] = weights(s, c->results[0]);
    return 0;
}

static T minkowski(T a, T b, double p)
{
    tp_scalar order = {.tag = TP_SCALAR_FLOAT, .v.f = p};
    return tpi_bad() ? NULL : x_linalg_vector_norm(minus(a, b), &order, &(int64_t){-1}, 1, false, TP_DTYPE_NONE);
}

static int need_real(const char *op, const tp_tensor *t)
{
    if (t->dtype == TP_FLOAT32 || t->dtype == TP_FLOAT64) return 0;
    return tpi_fail(TP_ERR_TYPE, "%s: needs float32 or float64, got %s", op, tp_dtype_name(t->dtype));
}

int c_cdist(tp_call *c)
{
    static const char *const modes[] = {"use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
                                        "donot_use_mm_for_euclid_dist"};
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]);
    double p = arg_f(&c->args[2]);
    int rc = need_real("cdist", a);
    if (rc || (rc = need_real("cdist", b))) return rc;
    if (a->dtype != b->dtype)
        return tpi_fail(TP_ERR_RUNTIME, "cdist: dtypes differ: %s and %s", tp_dtype_name(a->dtype),
                        tp_dtype_name(b->dtype));
    if (a->ndim < 2 || b->ndim < 2 || a->shape[a->ndim - 1] != b->shape[b->ndim - 1])
        return tpi_fail(TP_ERR_RUNTIME, "cdist: points [..., P, M] and [..., R, M] are needed, got shapes %s and %s",
                        tpi_str(a), tpi_str(b));
    if (!(p >= 0)) return tpi_fail(TP_ERR_RUNTIME, "cdist: p must not be negative, got %g", p);
    if (!arg_none(&c->args[3]) && tpi_word(c->args[3].v.str, modes, 3) < 0)
        return tpi_fail(TP_ERR_RUNTIME, "cdist: unknown compute_mode \"%s\"", c->args[3].v.str);
    int64_t m = a->shape[a->ndim - 1], shape[TPI_DIMS_CAP];
    tpi_scope s;
    tpi_scope_open(&s);
    T r = NULL;
    if ((rc = tpi_broadcast_lead("cdist", &a, &b))) tpi_rule_fail(rc, "%s", tp_error_message());
    else if (!m) {
        tpi_copy_dims(shape, a->shape, a->ndim);
        shape[a->ndim - 1] = b->shape[b->ndim - 2];
        r = x_zeros_shape(a->dtype, a->ndim, shape);
    } else
        r = p == 2 ? x_lin_euclid(a, b) : minkowski(x_unsqueeze_at(a, a->ndim - 1), x_unsqueeze_at(b, b->ndim - 2), p);
    return scope_result(&s, c, r);
}

/* Indices of the first, or second, of all pairs i < j < n. */
static T pairs(int64_t n, bool second)
{
    int64_t count = n > 1 ? n * (n - 1) / 2 : 0;
    tp_tensor *t = tpi_empty(TP_INT64, 1, &count);
    int64_t *p = t ? tpi_data(t) : NULL;
    for (int64_t i = 0; p && i < n; i++)
        for (int64_t j = i + 1; j < n; j++) *p++ = second ? j : i;
    return tpi_own(t);
}

int c_pdist(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    double p = arg_f(&c->args[1]);
    int rc = need_real("nn.functional.pdist", x);
    if (rc) return rc;
    if (x->ndim != 2)
        return tpi_fail(TP_ERR_RUNTIME, "nn.functional.pdist: points [N, M] are needed, got shape %s", tpi_str(x));
    if (!(p >= 0)) return tpi_fail(TP_ERR_RUNTIME, "nn.functional.pdist: p must not be negative, got %g", p);
    int64_t n = x->shape[0], count = n > 1 ? n * (n - 1) / 2 : 0;
    tpi_scope s;
    tpi_scope_open(&s);
    if (!count || !x->shape[1]) return scope_result(&s, c, x_zeros_shape(x->dtype, 1, &count));
    T a = x_index_select(x, 0, pairs(n, false)), b = x_index_select(x, 0, pairs(n, true));
    return scope_result(&s, c, minkowski(a, b, p));
}

/* ---- renorm ---- */

int c_renorm(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    const tp_scalar *order = &c->args[1].v.s, *bound = &c->args[3].v.s;
    int d, rc, k = 0;
    if (!tpi_is_differentiable(x->dtype))
        return tpi_fail(TP_ERR_TYPE, "renorm: a floating or complex tensor is needed, got %s", tp_dtype_name(x->dtype));
    if (x->ndim < 2)
        return tpi_fail(TP_ERR_RUNTIME, "renorm: at least 2 dimensions are needed, got shape %s", tpi_str(x));
    if ((rc = tpi_wrap_dim("renorm", arg_i(&c->args[2]), x->ndim, &d))) return rc;
    double p = order->tag == TP_SCALAR_FLOAT ? order->v.f : order->tag == TP_SCALAR_INT ? (double)order->v.i : NAN;
    double most = bound->tag == TP_SCALAR_FLOAT ? bound->v.f : bound->tag == TP_SCALAR_INT ? (double)bound->v.i : NAN;
    if (!(p > 0)) return tpi_fail(TP_ERR_RUNTIME, "renorm: p must be positive");
    if (!(most >= 0)) return tpi_fail(TP_ERR_RUNTIME, "renorm: maxnorm must not be negative");
    int64_t others[TPI_DIMS_CAP];
    for (int i = 0; i < x->ndim; i++)
        if (i != d) others[k++] = i;
    tpi_scope s;
    tpi_scope_open(&s);
    T norm = x_linalg_vector_norm(x, order, others, k, true, TP_DTYPE_NONE), r = NULL;
    if (norm) {
        T one = x_iscalar(1, norm), limit = real_scalar(most, norm->dtype);
        T small = x_mul_f(one, 1e-7);
        r = x_mul(x, x_where(x_gt(norm, limit), x_div(limit, plus(norm, small)), one));
    }
    return scope_result(&s, c, r);
}
