/* Determinants, LU, LDL^T, reflectors and least squares: rules and public forms. */
#include "rules/matmul_util.h"

/* tr(m e) of matrices. */
static T trace_of(T m, T e)
{
    if (!m || !e) return NULL;
    const int64_t dims[2] = {m->ndim - 2, m->ndim - 1};
    return x_sum_dims(x_mul(tpi_mT(m), e), dims, 2, false);
}

/* ---- determinants: kernels/linalg_det.c says what M0, M1 and M2 are ---- */

int lin_det__vjp(tp_vjp_ctx *c)
{
    if (c->grads[0]) c->out[0] = x_mul(tpi_whole(c->grads[0]), tpi_mH(x_lin_adj(arg_t(&c->args[0]))));
    return 0;
}

int lin_det__jvp(tp_jvp_ctx *c)
{
    if (c->tangents[0]) c->out[0] = trace_of(x_lin_adj(arg_t(&c->args[0])), c->tangents[0]);
    return 0;
}

int lin_adj__vjp(tp_vjp_ctx *c)
{
    if (c->grads[0]) c->out[0] = tpi_mH(x_lin_adj1(arg_t(&c->args[0]), tpi_mH(c->grads[0])));
    return 0;
}

int lin_adj__jvp(tp_jvp_ctx *c)
{
    if (c->tangents[0]) c->out[0] = x_lin_adj1(arg_t(&c->args[0]), c->tangents[0]);
    return 0;
}

int lin_adj1__vjp(tp_vjp_ctx *c)
{
    T a = arg_t(&c->args[0]), e = arg_t(&c->args[1]), g = tpi_mH(c->grads[0]);
    if (!g) return 0;
    if (c->need[0]) c->out[0] = tpi_mH(x_lin_adj2(a, e, g));
    if (c->need[1]) c->out[1] = tpi_mH(x_lin_adj1(a, g));
    return 0;
}

int lin_adj1__jvp(tp_jvp_ctx *c)
{
    T a = arg_t(&c->args[0]), e = arg_t(&c->args[1]), at = c->tangents[0], et = c->tangents[1];
    c->out[0] = sum_of(at ? x_lin_adj2(a, e, at) : NULL, et ? x_lin_adj1(a, et) : NULL);
    return 0;
}

/* The derivative of M2(e, f) in direction h, by the inverse: of the fourth order, singular matrices are refused. */
static T adj3(T a, T e, T f, T h)
{
    T b = x_linalg_inv(a), x[3] = {tpi_product(b, e), tpi_product(b, f), tpi_product(b, h)}, tr[3], pair[3], sum = NULL;
    for (int i = 0; i < 3; i++) {
        T p = x[(i + 1) % 3], q = x[(i + 2) % 3];
        tr[i] = trace_of(x[i], tpi_eye_like(x[i]));
        pair[i] = trace_of(p, q);
    }
    if (tpi_bad()) return NULL;
    /* c3 b - sum c2 b x b + sum tr (b x b x b) - all orders of b x b x b x b */
    T c3 = minus(x_mul(x_mul(tr[0], tr[1]), tr[2]),
                 plus(x_mul(tr[0], pair[0]), plus(x_mul(tr[1], pair[1]), x_mul(tr[2], pair[2]))));
    c3 = plus(c3, plus(trace_of(tpi_product(x[0], x[1]), x[2]), trace_of(tpi_product(x[0], x[2]), x[1])));
    sum = x_mul(tpi_whole(c3), b);
    for (int i = 0; i < 3 && !tpi_bad(); i++) {
        T p = x[(i + 1) % 3], q = x[(i + 2) % 3];
        T c2 = minus(x_mul(tr[(i + 1) % 3], tr[(i + 2) % 3]), pair[i]);
        sum = minus(sum, x_mul(tpi_whole(c2), tpi_product(x[i], b)));
        T both = plus(tpi_product(p, q), tpi_product(q, p));
        sum = plus(sum, x_mul(tpi_whole(tr[i]), tpi_product(both, b)));
        sum = minus(sum, tpi_product(tpi_product(x[i], both), b));
    }
    return x_mul(tpi_whole(x_lin_det(a)), sum);
}

int c_lin_adj3(tp_call *c)
{
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, adj3(arg_t(&c->args[0]), arg_t(&c->args[1]), arg_t(&c->args[2]), arg_t(&c->args[3])));
}

int lin_adj2__vjp(tp_vjp_ctx *c)
{
    T a = arg_t(&c->args[0]), e = arg_t(&c->args[1]), f = arg_t(&c->args[2]), g = tpi_mH(c->grads[0]);
    if (!g) return 0;
    if (c->need[0]) c->out[0] = tpi_mH(x_lin_adj3(a, e, f, g));
    if (c->need[1]) c->out[1] = tpi_mH(x_lin_adj2(a, f, g));
    if (c->need[2]) c->out[2] = tpi_mH(x_lin_adj2(a, e, g));
    return 0;
}

int lin_adj2__jvp(tp_jvp_ctx *c)
{
    T a = arg_t(&c->args[0]), e = arg_t(&c->args[1]), f = arg_t(&c->args[2]);
    T at = c->tangents[0], et = c->tangents[1], ft = c->tangents[2];
    T r = sum_of(et ? x_lin_adj2(a, et, f) : NULL, ft ? x_lin_adj2(a, e, ft) : NULL);
    c->out[0] = sum_of(r, at ? x_lin_adj3(a, e, f, at) : NULL);
    return 0;
}

static int det(tp_call *c, const char *op)
{
    T a = arg_t(&c->args[0]);
    int rc = tpi_need_square(op, a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_lin_det(a));
}

int c_linalg_det(tp_call *c) { return det(c, "linalg.det"); }
int c_det(tp_call *c) { return det(c, "det"); }

/* ---- LU ----
 *
 * With P constant, P A = L U. Square: X = L^-1 P dA U^-1, dL = L tril(X, -1), dU = triu(X) U. Of wide matrices the
 * columns beyond the square part give dU2 = L^-1 (P dA2 - dL U2), of tall ones the rows below it
 * dL2 = (P dA2 - L2 dU) U^-1. */

typedef struct parts {
    T l, u, low, right; /* the square triangles, L below, U beside; the last two may be NULL */
    int64_t m, n, k;
} parts;

static parts parts_of(T lu)
{
    parts p = {.m = lu->shape[lu->ndim - 2], .n = lu->shape[lu->ndim - 1]};
    p.k = p.m < p.n ? p.m : p.n;
    p.l = p.u = x_narrow(x_narrow(lu, -2, 0, p.k), -1, 0, p.k);
    if (p.m > p.k) p.low = x_narrow(lu, -2, p.k, p.m - p.k);
    if (p.n > p.k) p.right = x_narrow(lu, -1, p.k, p.n - p.k);
    return p;
}

/* x U^-1, x U^-H. */
static T by_upper(T x, T u) { return tpi_mH(x_lin_tri(tpi_mH(u), tpi_mH(x), false, false)); }
static T by_upper_h(T x, T u) { return tpi_mH(x_lin_tri(u, tpi_mH(x), true, false)); }

static T unit_lower(T lu)
{
    T l = x_tril(lu, -1);
    return l ? plus(l, tpi_eye_like(l)) : NULL;
}

/* Rows in the order of perm, [..., m], or back in the order they came from. */
static T rows_at(T x, T perm, bool back)
{
    if (tpi_bad() || !x) return NULL;
    if (back) perm = x_argsort(perm, -1, false, false);
    perm = tpi_bad() ? NULL : x_unsqueeze_at(perm, perm->ndim);
    return perm ? x_gather(x, -2, x_expand_to(perm, x->ndim, x->shape)) : NULL;
}

int lin_lu__vjp(tp_vjp_ctx *c)
{
    T lu = c->results[0], g = c->grads[0];
    if (!g) return 0;
    parts p = parts_of(lu), q = parts_of(g);
    if (tpi_bad()) return 0;
    T lh = tpi_mH(p.l), gl = x_tril(q.l, -1), gu = x_triu(q.u, 0), below = NULL, beside = NULL;
    if (p.right) {
        beside = x_lin_tri(lh, q.right, true, true);
        gl = minus(gl, tpi_product(beside, tpi_mH(p.right)));
    }
    if (p.low) {
        below = by_upper_h(q.low, p.u);
        gu = minus(gu, tpi_product(tpi_mH(p.low), below));
    }
    T inner = plus(x_tril(tpi_product(tpi_mH(unit_lower(p.l)), gl), -1),
                   x_triu(tpi_product(gu, tpi_mH(x_triu(p.u, 0))), 0));
    T out = by_upper_h(x_lin_tri(lh, inner, true, true), p.u);
    if (beside && !tpi_bad()) out = x_cat((T[]){out, beside}, 2, -1);
    if (below && !tpi_bad()) out = x_cat((T[]){out, below}, 2, -2);
    c->out[0] = rows_at(out, c->results[2], true);
    return 0;
}

int lin_lu__jvp(tp_jvp_ctx *c)
{
    T lu = c->results[0];
    if (!c->tangents[0]) return 0;
    T t = rows_at(c->tangents[0], c->results[2], false);
    if (tpi_bad()) return 0;
    parts p = parts_of(lu), d = parts_of(t);
    T x = by_upper(x_lin_tri(p.l, d.l, false, true), p.u);
    T dl = tpi_product(unit_lower(p.l), x_tril(x, -1)), du = tpi_product(x_triu(x, 0), x_triu(p.u, 0)),
      out = sum_of(dl, du);
    if (p.right && !tpi_bad())
        out = x_cat((T[]){out, x_lin_tri(p.l, minus(d.right, tpi_product(dl, p.right)), false, true)}, 2, -1);
    if (p.low && !tpi_bad()) out = x_cat((T[]){out, by_upper(minus(d.low, tpi_product(p.low, du)), p.u)}, 2, -2);
    c->out[0] = out;
    return 0;
}

static int factors(tp_call *c, const char *op, bool check, T out[4])
{
    T a = arg_t(&c->args[0]);
    int rc = tpi_need_matrix(op, a);
    if (!rc && x_lin_lu(a, op, arg_b(&c->args[1]), check, out)) rc = tp_error_code();
    return rc;
}

static int scope_three(tpi_scope *s, tp_call *c, T x, T y, T z)
{
    tpi_retain(z);
    int rc = scope_results(s, c, x, y);
    if (rc) tp_release(z);
    else c->out[2] = z;
    return rc;
}

int c_linalg_lu_factor_ex(tp_call *c)
{
    tpi_scope s;
    tpi_scope_open(&s);
    T out[4] = {NULL};
    factors(c, "linalg.lu_factor_ex", arg_b(&c->args[2]), out);
    return scope_three(&s, c, out[0], out[1], out[3]);
}

int c_linalg_lu_factor(tp_call *c)
{
    tpi_scope s;
    tpi_scope_open(&s);
    T out[4] = {NULL};
    factors(c, "linalg.lu_factor", true, out);
    return scope_results(&s, c, out[0], out[1]);
}

/* L and U of what is stored in one matrix. */
static void unpacked(T lu, T *l, T *u)
{
    int64_t m = lu->shape[lu->ndim - 2], n = lu->shape[lu->ndim - 1], k = m < n ? m : n;
    T low = x_tril(x_narrow(lu, -1, 0, k), -1);
    *l = low ? plus(low, x_eye(m, k, lu->dtype)) : NULL;
    *u = x_triu(x_narrow(lu, -2, 0, k), 0);
}

/* P with P L U = A, from the rows that L U has in each place. */
static T permutation_matrix(T perm, int dtype)
{
    if (tpi_bad()) return NULL;
    int64_t m = perm->shape[perm->ndim - 1], flat = -1, shape[TPI_DIMS_CAP];
    tpi_copy_dims(shape, perm->shape, perm->ndim);
    shape[perm->ndim] = m;
    T rows = x_index_select(x_eye(m, m, dtype), 0,
                            m ? x_reshape_to(perm, 1, &(int64_t){perm->numel}) : x_reshape(perm, &flat, 1));
    return tpi_mT(x_reshape_to(rows, perm->ndim + 1, shape));
}

int c_linalg_lu(tp_call *c)
{
    tpi_scope s;
    tpi_scope_open(&s);
    T out[4] = {NULL}, l = NULL, u = NULL, p = NULL;
    int64_t none = 0;
    if (!factors(c, "linalg.lu", false, out)) {
        unpacked(out[0], &l, &u);
        p = arg_b(&c->args[1]) ? permutation_matrix(out[2], out[0]->dtype) : x_zeros_shape(out[0]->dtype, 1, &none);
    }
    return scope_three(&s, c, p, l, u);
}

static int need_pivots(const char *op, const tp_tensor *lu, const tp_tensor *pivots)
{
    int64_t m, n;
    int rc = tpi_need_matrix(op, lu);
    if (rc) return rc;
    m = lu->shape[lu->ndim - 2];
    n = lu->shape[lu->ndim - 1];
    if (pivots->dtype != TP_INT32)
        return tpi_fail(TP_ERR_RUNTIME, "%s: pivots of dtype %s, int32 is needed", op, tp_dtype_name(pivots->dtype));
    if (pivots->ndim != lu->ndim - 1 || memcmp(pivots->shape, lu->shape, sizeof *lu->shape * (size_t)(lu->ndim - 2)) ||
        pivots->shape[pivots->ndim - 1] != (m < n ? m : n))
        return tpi_fail(TP_ERR_RUNTIME, "%s: pivots of shape %s do not fit factors of shape %s", op, tpi_str(pivots),
                        tpi_str(lu));
    return 0;
}

int c_lu_unpack(tp_call *c)
{
    T lu = arg_t(&c->args[0]), pivots = arg_t(&c->args[1]), l, u, p;
    int64_t none = 0;
    int rc = need_pivots("lu_unpack", lu, pivots);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    if (arg_b(&c->args[2])) unpacked(lu, &l, &u);
    else {
        l = x_zeros_shape(lu->dtype, 1, &none);
        u = x_zeros_shape(lu->dtype, 1, &none);
    }
    p = arg_b(&c->args[3]) ? permutation_matrix(x_lin_perm(pivots, lu->shape[lu->ndim - 2]), lu->dtype)
                           : x_zeros_shape(lu->dtype, 1, &none);
    return scope_three(&s, c, p, l, u);
}

/* x of A x = b, or of A^H x = b, with P^T L U = A: perm says which row of b each row of L U is. */
static T lu_solved(T lu, T perm, T b, bool adjoint)
{
    if (!adjoint) return x_lin_tri(lu, x_lin_tri(lu, rows_at(b, perm, false), false, true), true, false);
    T h = tpi_mH(lu);
    return rows_at(x_lin_tri(h, x_lin_tri(h, b, false, false), true, true), perm, true);
}

static int lu_solve(tp_call *c, const char *op, T lu, T pivots, T b, bool left, bool adjoint)
{
    int rc = tpi_need_pair(op, lu, b, left);
    if (rc || (rc = need_pivots(op, lu, pivots))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    if (!left) b = tpi_mH(b);
    T perm = x_lin_perm(pivots, lu->shape[lu->ndim - 1]);
    int64_t shape[TPI_DIMS_CAP];
    if (b && perm && (rc = tpi_broadcast_lead(op, &lu, &b))) tpi_rule_fail(rc, "%s", tp_error_message());
    if (!tpi_bad()) {
        tpi_copy_dims(shape, lu->shape, lu->ndim - 1);
        perm = x_expand_to(perm, lu->ndim - 1, shape);
    }
    T x = tpi_bad() ? NULL : lu_solved(lu, perm, b, adjoint == left); /* X A = B is A^H X^H = B^H */
    return scope_result(&s, c, left ? x : tpi_mH(x));
}

int c_linalg_lu_solve(tp_call *c)
{
    const tp_val *a = c->args;
    return lu_solve(c, "linalg.lu_solve", arg_t(&a[0]), arg_t(&a[1]), arg_t(&a[2]), arg_b(&a[3]), arg_b(&a[4]));
}

int c_lu_solve(tp_call *c)
{
    const tp_val *a = c->args;
    return lu_solve(c, "lu_solve", arg_t(&a[1]), arg_t(&a[2]), arg_t(&a[0]), true, false);
}

/* ---- LDL^T ---- */

static int ldl(tp_call *c, const char *op, bool check, bool ex)
{
    T a = arg_t(&c->args[0]), out[3] = {NULL};
    int rc = tpi_need_square(op, a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    x_lin_ldl(a, op, arg_b(&c->args[1]), check, out);
    return ex ? scope_three(&s, c, out[0], out[1], out[2]) : scope_results(&s, c, out[0], out[1]);
}

int c_linalg_ldl_factor(tp_call *c) { return ldl(c, "linalg.ldl_factor", true, false); }
int c_linalg_ldl_factor_ex(tp_call *c) { return ldl(c, "linalg.ldl_factor_ex", arg_b(&c->args[2]), true); }

int c_linalg_ldl_solve(tp_call *c)
{
    const char *op = "linalg.ldl_solve";
    T a = arg_t(&c->args[0]), pivots = arg_t(&c->args[1]), b = arg_t(&c->args[2]);
    int rc = tpi_need_pair(op, a, b, true);
    if (rc || (rc = need_pivots(op, a, pivots))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    if ((rc = tpi_broadcast_lead(op, &a, &b))) tpi_rule_fail(rc, "%s", tp_error_message());
    T x = tpi_bad() ? NULL : x_lin_ldl_solve(a, x_expand_to(pivots, a->ndim - 1, a->shape), b, arg_b(&c->args[3]));
    return scope_result(&s, c, x);
}

/* a^-1 is linear in b and symmetric, or Hermitian. */
int lin_ldl_solve__vjp(tp_vjp_ctx *c)
{
    T g = c->grads[0];
    bool hermitian = arg_b(&c->args[3]);
    if (!g) return 0;
    T x = x_lin_ldl_solve(arg_t(&c->args[0]), arg_t(&c->args[1]), hermitian ? g : x_conj(g), hermitian);
    if (c->need[2]) c->out[2] = hermitian ? x : x_conj(x);
    return 0;
}

int lin_ldl_solve__jvp(tp_jvp_ctx *c)
{
    if (c->tangents[2])
        c->out[0] = x_lin_ldl_solve(arg_t(&c->args[0]), arg_t(&c->args[1]), c->tangents[2], arg_b(&c->args[3]));
    return 0;
}

/* ---- reflectors ----
 *
 * H1 ... Hk = I - V T V^H with the columns of a below the diagonal and ones on it as V, and an upper triangle T with
 * (I + D S) T = D, D = diag(tau), S the part of V^H V above the diagonal (Schreiber and Van Loan, "A storage-efficient
 * WY representation for products of Householder transformations", SIAM J. Sci. Stat. Comput. 10, 1989). */

static bool reflectors(const char *op, T a, T tau, T *v, T *t)
{
    int64_t m = a->shape[a->ndim - 2], k = tau->shape[tau->ndim - 1];
    T low = x_tril(x_narrow(a, -1, 0, k), -1);
    *v = low ? plus(low, x_eye(m, k, a->dtype)) : NULL;
    T d = x_diag_embed(tau, 0, -2, -1);
    *t = tpi_bad() ? NULL : x_lin_tri(tpi_product(d, x_triu(tpi_product(tpi_mH(*v), *v), 1)), d, true, true);
    return !tpi_bad();
    (void)op;
}

static int need_reflectors(const char *op, const tp_tensor *a, const tp_tensor *tau)
{
    int rc = tpi_need_matrix(op, a);
    if (rc) return rc;
    if (tau->dtype != a->dtype)
        return tpi_fail(TP_ERR_RUNTIME, "%s: dtypes differ: %s and %s", op, tp_dtype_name(a->dtype),
                        tp_dtype_name(tau->dtype));
    int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1];
    if (tau->ndim != a->ndim - 1 || memcmp(tau->shape, a->shape, sizeof *a->shape * (size_t)(a->ndim - 2)) ||
        tau->shape[tau->ndim - 1] > (m < n ? m : n))
        return tpi_fail(TP_ERR_RUNTIME, "%s: factors tau of shape %s do not fit reflectors of shape %s", op,
                        tpi_str(tau), tpi_str(a));
    return 0;
}

static int householder(tp_call *c, const char *op)
{
    T a = arg_t(&c->args[0]), tau = arg_t(&c->args[1]), v, t;
    int rc = need_reflectors(op, a, tau);
    if (rc) return rc;
    int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1];
    if (n > m)
        return tpi_fail(TP_ERR_RUNTIME, "%s: needs at least as many rows as columns, got shape %s", op, tpi_str(a));
    tpi_scope s;
    tpi_scope_open(&s);
    T q = NULL; /* the first n columns of I - V T V^H */
    if (reflectors(op, a, tau, &v, &t))
        q = minus(x_eye(m, n, a->dtype), tpi_product(v, tpi_product(t, tpi_mH(x_narrow(v, -2, 0, n)))));
    return scope_result(&s, c, q);
}

int c_linalg_householder_product(tp_call *c) { return householder(c, "linalg.householder_product"); }
int c_orgqr(tp_call *c) { return householder(c, "orgqr"); }

int c_ormqr(tp_call *c)
{
    T a = arg_t(&c->args[0]), tau = arg_t(&c->args[1]), x = arg_t(&c->args[2]), v, t;
    bool left = arg_b(&c->args[3]), transposed = arg_b(&c->args[4]);
    int rc = need_reflectors("ormqr", a, tau);
    if (rc || (rc = tpi_need_matrix("ormqr", x))) return rc;
    if (x->dtype != a->dtype)
        return tpi_fail(TP_ERR_RUNTIME, "ormqr: dtypes differ: %s and %s", tp_dtype_name(a->dtype),
                        tp_dtype_name(x->dtype));
    if (x->shape[x->ndim - (left ? 2 : 1)] != a->shape[a->ndim - 2])
        return tpi_fail(TP_ERR_RUNTIME, "ormqr: reflectors of shape %s do not fit a matrix of shape %s", tpi_str(a),
                        tpi_str(x));
    if (x->ndim != a->ndim || memcmp(x->shape, a->shape, sizeof *a->shape * (size_t)(a->ndim - 2)))
        return tpi_fail(TP_ERR_RUNTIME, "ormqr: leading dimensions differ: %s and %s", tpi_str(a), tpi_str(x));
    tpi_scope s;
    tpi_scope_open(&s);
    T y = NULL;
    if (reflectors("ormqr", a, tau, &v, &t)) {
        if (transposed) t = tpi_mH(t);
        y = minus(x, left ? tpi_product(v, tpi_product(t, tpi_product(tpi_mH(v), x)))
                          : tpi_product(tpi_product(tpi_product(x, v), t), tpi_mH(v)));
    }
    return scope_result(&s, c, y);
}

int c_geqrf(tp_call *c)
{
    T a = arg_t(&c->args[0]), out[2] = {NULL};
    int rc = tpi_need_matrix("geqrf", a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    x_lin_geqrf(a, out);
    return scope_results(&s, c, out[0], out[1]);
}

/* ---- least squares ----
 *
 * X = A+ B with the pseudoinverse: dX = A+ (dB - dA X) + A+ A+^H dA^H (B - A X) + (I - A+ A) dA^H A+^H X (Golub and
 * Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate", SIAM
 * J. Numer. Anal. 10, 1973). */

/* The pseudoinverse of matrices of full rank, by QR. */
static T pseudoinverse(T a)
{
    bool wide = a->shape[a->ndim - 2] < a->shape[a->ndim - 1];
    T out[2] = {NULL};
    if (x_lin_qr(wide ? tpi_mH(a) : a, false, out)) return NULL;
    T p = x_lin_tri(out[1], tpi_mH(out[0]), true, false);
    return wide ? tpi_mH(p) : p;
}

int lin_lstsq__vjp(tp_vjp_ctx *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]), x = c->results[0], g = c->grads[0];
    if (!g) return 0;
    T p = pseudoinverse(a);
    if (tpi_bad()) return 0;
    T h = tpi_product(tpi_mH(p), g); /* A+^H g */
    if (c->need[1]) c->out[1] = h;
    if (!c->need[0]) return 0;
    T r = minus(b, tpi_product(a, x)), out = x_neg(tpi_product(h, tpi_mH(x)));
    if (a->shape[a->ndim - 2] > a->shape[a->ndim - 1]) out = plus(out, tpi_product(r, tpi_mH(tpi_product(p, h))));
    if (a->shape[a->ndim - 2] < a->shape[a->ndim - 1]) {
        T outside = minus(g, tpi_product(p, tpi_product(a, g)));
        out = plus(out, tpi_product(tpi_product(tpi_mH(p), x), tpi_mH(outside)));
    }
    c->out[0] = out;
    return 0;
}

int lin_lstsq__jvp(tp_jvp_ctx *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]), x = c->results[0], at = c->tangents[0], bt = c->tangents[1];
    T p = pseudoinverse(a);
    if (tpi_bad()) return 0;
    T out = tpi_product(p, at ? difference_of(bt, tpi_product(at, x)) : bt);
    if (at && a->shape[a->ndim - 2] > a->shape[a->ndim - 1]) {
        T r = minus(b, tpi_product(a, x));
        out = sum_of(out, tpi_product(p, tpi_product(tpi_mH(p), tpi_product(tpi_mH(at), r))));
    }
    if (at && a->shape[a->ndim - 2] < a->shape[a->ndim - 1]) {
        T y = tpi_product(tpi_mH(at), tpi_product(tpi_mH(p), x));
        out = sum_of(out, minus(y, tpi_product(p, tpi_product(a, y))));
    }
    c->out[0] = out;
    return 0;
}

int c_linalg_lstsq(tp_call *c)
{
    static const char *const drivers[] = {"gels", "gelsy", "gelsd", "gelss"};
    const char *op = "linalg.lstsq", *name = arg_none(&c->args[3]) ? "gelsy" : c->args[3].v.str;
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]), out[3] = {NULL}, residuals = NULL;
    int driver = tpi_word(name, drivers, 4), rc = tpi_need_matrix(op, a);
    if (rc) return rc;
    if (driver < 0) return tpi_fail(TP_ERR_RUNTIME, "%s: driver must be gels, gelsy, gelsd or gelss, got %s", op, name);
    if (a->dtype != b->dtype)
        return tpi_fail(TP_ERR_RUNTIME, "%s: dtypes differ: %s and %s", op, tp_dtype_name(a->dtype),
                        tp_dtype_name(b->dtype));
    int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1], none = 0;
    bool vector = b->ndim == a->ndim - 1 && !memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)b->ndim);
    if (!vector && (b->ndim < 2 || b->shape[b->ndim - 2] != m))
        return tpi_fail(TP_ERR_RUNTIME, "%s: matrices %s do not fit %s", op, tpi_str(a), tpi_str(b));
    bool single = tpi_esize(tpi_to_real(a->dtype)) == 4;
    double rcond = arg_none(&c->args[2]) ? (single ? 0x1p-23 : 0x1p-52) * (double)(m > n ? m : n) : arg_f(&c->args[2]);
    tpi_scope s;
    tpi_scope_open(&s);
    if (vector) b = x_unsqueeze_at(b, b->ndim);
    if (b && (rc = tpi_broadcast_lead(op, &a, &b))) tpi_rule_fail(rc, "%s", tp_error_message());
    T x = NULL, rank = NULL, values = NULL;
    if (!tpi_bad() && !x_lin_lstsq(a, b, rcond, driver, out)) {
        x = out[0];
        bool full = m > n && driver != 1;
        if (full && driver != 0) { /* only where every matrix has full rank */
            tp_tensor *r = out[1];
            while (r->level) r = r->value;
            for (int64_t i = 0; i < r->numel; i++) full &= ((const int64_t *)tpi_data(r))[i] == n;
        }
        T d = full ? minus(b, tpi_product(a, x)) : NULL;
        if (d && tpi_is_complex(d->dtype))
            residuals = x_sum_dims(x_real_of(x_mul(d, x_conj(d))), &(int64_t){a->ndim - 2}, 1, false);
        else if (d) residuals = x_sum_dims(x_square(d), &(int64_t){a->ndim - 2}, 1, false);
        else residuals = x_zeros_shape(tpi_to_real(a->dtype), 1, &none);
        rank = driver == 0 ? x_zeros_shape(TP_INT64, 1, &none) : out[1];
        values = driver < 2 ? x_zeros_shape(tpi_to_real(a->dtype), 1, &none) : out[2];
        if (vector) {
            x = x_squeeze_dim(x, &(int64_t){-1}, 1);
            if (full) residuals = x_squeeze_dim(residuals, &(int64_t){-1}, 1);
        }
    }
    tpi_retain(values);
    if ((rc = scope_three(&s, c, x, residuals, rank))) {
        tp_release(values);
        return rc;
    }
    c->out[3] = values;
    return 0;
}
