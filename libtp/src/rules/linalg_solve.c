/* Rules of direct methods, and their public forms. */
#include "rules/matmul_util.h"

static T solved(T a, T b, const char *name, bool check, T *info)
{
    if (!a || !b) return NULL;
    T out[2] = {NULL};
    if (x_lin_solve(a, b, name, check, out)) return NULL;
    if (info) *info = out[1];
    return out[0];
}

static T inverse_h(T a) { return solved(tpi_mH(a), tpi_eye_like(a), "linalg.inv", false, NULL); }

/* ---- lin_solve: dx = a^-1 (db - da x) ---- */

int lin_solve__vjp(tp_vjp_ctx *c)
{
    T x = c->results[0], g = c->grads[0];
    if (!g) return 0;
    T b = solved(tpi_mH(arg_t(&c->args[0])), g, c->args[2].v.str, false, NULL);
    if (c->need[1]) c->out[1] = b;
    if (c->need[0]) c->out[0] = x_neg(tpi_product(b, tpi_mH(x)));
    return 0;
}

int lin_solve__jvp(tp_jvp_ctx *c)
{
    T at = c->tangents[0], bt = c->tangents[1], x = c->results[0];
    T r = at ? difference_of(bt, tpi_product(at, x)) : bt;
    c->out[0] = solved(arg_t(&c->args[0]), r, c->args[2].v.str, false, NULL);
    return 0;
}

/* ---- lin_tri ---- */

static T triangle(T t, bool upper, bool unit) { return upper ? x_triu(t, unit) : x_tril(t, -(int64_t)unit); }

int lin_tri__vjp(tp_vjp_ctx *c)
{
    bool upper = arg_b(&c->args[2]), unit = arg_b(&c->args[3]);
    T g = x_lin_tri(tpi_mH(arg_t(&c->args[0])), c->grads[0], !upper, unit);
    if (c->need[1]) c->out[1] = g;
    if (c->need[0]) c->out[0] = x_neg(triangle(tpi_product(g, tpi_mH(c->results[0])), upper, unit));
    return 0;
}

int lin_tri__jvp(tp_jvp_ctx *c)
{
    bool upper = arg_b(&c->args[2]), unit = arg_b(&c->args[3]);
    T at = c->tangents[0], bt = c->tangents[1];
    T r = at ? difference_of(bt, tpi_product(triangle(at, upper, unit), c->results[0])) : bt;
    c->out[0] = x_lin_tri(arg_t(&c->args[0]), r, upper, unit);
    return 0;
}

/* ---- lin_cholesky: dl = l phi(l^-1 da l^-H), phi the lower triangle with half the diagonal. Murray, Differentiation
 * of the Cholesky decomposition, arXiv:1602.07527. ---- */

int lin_cholesky__vjp(tp_vjp_ctx *c)
{
    T l = c->results[0], g = c->grads[0];
    if (!g) return 0;
    T s = tpi_product(tpi_mH(l), g), lh = tpi_mH(l);
    T y = x_mul_f(sum_of(x_tril(s, 0), tpi_mH(x_tril(s, -1))), 0.5);
    if (s && tpi_is_complex(s->dtype)) /* the diagonal of l is real */
        y = x_mul_f(sum_of(y, tpi_mH(y)), 0.5);
    T w = x_lin_tri(lh, tpi_mH(x_lin_tri(lh, y, true, false)), true, false);
    c->out[0] = tpi_mH(w);
    return 0;
}

int lin_cholesky__jvp(tp_jvp_ctx *c)
{
    T l = c->results[0], t = c->tangents[0];
    if (!t) return 0;
    t = x_mul_f(sum_of(t, tpi_mH(t)), 0.5);
    T s = x_lin_tri(l, tpi_mH(x_lin_tri(l, t, false, false)), false, false);
    T phi = x_mul_f(sum_of(x_tril(s, 0), x_tril(s, -1)), 0.5);
    c->out[0] = tpi_product(l, phi);
    return 0;
}

/* ---- lin_slogdet: d log det = tr(a^-1 da) ---- */

int lin_slogdet__vjp(tp_vjp_ctx *c)
{
    T a = arg_t(&c->args[0]), sign = c->results[0], gs = c->grads[0], gl = c->grads[1], w = gl;
    if (tpi_is_complex(a->dtype) && gs) {
        T turn = x_imag_part(x_mul(x_conj(sign), gs));
        w = x_complex(gl ? gl : x_zeros_like(turn), turn);
    }
    if (w) c->out[0] = x_mul(tpi_whole(w), inverse_h(a));
    return 0;
}

int lin_slogdet__jvp(tp_jvp_ctx *c)
{
    T a = arg_t(&c->args[0]), t = c->tangents[0];
    if (!t) return 0;
    const int64_t dims[2] = {a->ndim - 2, a->ndim - 1};
    T trace = x_sum_dims(x_mul(x_conj(inverse_h(a)), t), dims, 2, false);
    if (!trace) return 0;
    if (!tpi_is_complex(a->dtype)) {
        c->out[1] = trace;
        return 0;
    }
    T turn = x_imag_part(trace);
    c->out[1] = x_real_of(trace);
    c->out[0] = x_mul(c->results[0], x_complex(x_zeros_like(turn), turn));
    return 0;
}

/* ---- checks ---- */

int tpi_need_square(const char *op, const tp_tensor *a)
{
    int rc = tpi_need_matrix(op, a);
    if (rc) return rc;
    if (a->shape[a->ndim - 1] != a->shape[a->ndim - 2])
        return tpi_fail(TP_ERR_RUNTIME, "%s: needs square matrices, got shape %s", op, tpi_str(a));
    return 0;
}

int tpi_need_pair(const char *op, const tp_tensor *a, const tp_tensor *b, bool left)
{
    int rc = tpi_need_square(op, a);
    if (rc) return rc;
    if (a->dtype != b->dtype)
        return tpi_fail(TP_ERR_RUNTIME, "%s: dtypes differ: %s and %s", op, tp_dtype_name(a->dtype),
                        tp_dtype_name(b->dtype));
    if (b->ndim < 2) return tpi_fail(TP_ERR_RUNTIME, "%s: needs at least 2 dimensions, got shape %s", op, tpi_str(b));
    if (b->shape[b->ndim - (left ? 2 : 1)] != a->shape[a->ndim - 1])
        return tpi_fail(TP_ERR_RUNTIME, "%s: matrices %s do not fit %s", op, tpi_str(a), tpi_str(b));
    return 0;
}

/* Both with the leading dimensions that they broadcast to. */
int tpi_broadcast_lead(const char *op, T *a, T *b)
{
    int64_t lead[TPI_DIMS_CAP], shape[TPI_DIMS_CAP];
    int n, rc = tpi_broadcast_shapes(op, (*a)->ndim - 2, (*a)->shape, (*b)->ndim - 2, (*b)->shape, &n, lead);
    if (rc) return rc;
    T *both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        T t = *both[i];
        tpi_copy_dims(shape, lead, n);
        tpi_copy_dims(shape + n, t->shape + t->ndim - 2, 2);
        if (t->ndim != n + 2 || memcmp(t->shape, shape, sizeof *shape * (size_t)(n + 2)))
            *both[i] = x_expand_to(t, n + 2, shape);
    }
    return 0;
}

/* ---- Cholesky ---- */

static int cholesky(tp_call *c, const char *op, bool upper, bool check, bool ex)
{
    T a = arg_t(&c->args[0]), out[2] = {NULL};
    int rc = tpi_need_square(op, a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    x_lin_cholesky(upper ? tpi_mH(a) : a, op, check, out);
    T l = upper ? tpi_mH(out[0]) : out[0];
    return ex ? scope_results(&s, c, l, out[1]) : scope_result(&s, c, l);
}

int c_linalg_cholesky(tp_call *c) { return cholesky(c, "linalg.cholesky", arg_b(&c->args[1]), true, false); }
int c_cholesky(tp_call *c) { return cholesky(c, "cholesky", arg_b(&c->args[1]), true, false); }
int c_linalg_cholesky_ex(tp_call *c)
{
    return cholesky(c, "linalg.cholesky_ex", arg_b(&c->args[1]), arg_b(&c->args[2]), true);
}

/* x of l l^H x = b, or of l^H l x = b for an upper l. */
static T cholesky_solved(T l, T b, bool upper)
{
    T h = tpi_mH(l);
    return upper ? x_lin_tri(l, x_lin_tri(h, b, false, false), true, false)
                 : x_lin_tri(h, x_lin_tri(l, b, false, false), true, false);
}

int c_cholesky_solve(tp_call *c)
{
    T b = arg_t(&c->args[0]), l = arg_t(&c->args[1]);
    int rc = tpi_need_pair("cholesky_solve", l, b, true);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    if ((rc = tpi_broadcast_lead("cholesky_solve", &l, &b))) tpi_rule_fail(rc, "%s", tp_error_message());
    return scope_result(&s, c, cholesky_solved(l, b, arg_b(&c->args[2])));
}

int c_cholesky_inverse(tp_call *c)
{
    T l = arg_t(&c->args[0]);
    int rc = tpi_need_square("cholesky_inverse", l);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, cholesky_solved(l, tpi_eye_like(l), arg_b(&c->args[1])));
}

/* ---- triangles ---- */

int c_linalg_solve_triangular(tp_call *c)
{
    const char *op = "linalg.solve_triangular";
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]);
    bool upper = arg_b(&c->args[2]), left = arg_b(&c->args[3]), unit = arg_b(&c->args[4]);
    int rc = tpi_need_pair(op, a, b, left);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    if (!left) {
        a = tpi_mT(a);
        b = tpi_mT(b);
        upper = !upper;
    }
    if (a && b && (rc = tpi_broadcast_lead(op, &a, &b))) tpi_rule_fail(rc, "%s", tp_error_message());
    T x = x_lin_tri(a, b, upper, unit);
    return scope_result(&s, c, left ? x : tpi_mT(x));
}

int c_triangular_solve(tp_call *c)
{
    const char *op = "triangular_solve";
    T b = arg_t(&c->args[0]), a = arg_t(&c->args[1]);
    bool upper = arg_b(&c->args[2]), turn = arg_b(&c->args[3]), unit = arg_b(&c->args[4]);
    int rc = tpi_need_pair(op, a, b, true);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    if ((rc = tpi_broadcast_lead(op, &a, &b))) tpi_rule_fail(rc, "%s", tp_error_message());
    T x = x_lin_tri(turn ? tpi_mT(a) : a, b, turn ? !upper : upper, unit);
    return scope_results(&s, c, x, x_clone(a));
}

/* ---- solves ---- */

static int solve(tp_call *c, const char *op, bool left, bool check, bool ex)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]), info = NULL;
    int rc = tpi_need_square(op, a);
    if (rc) return rc;
    bool vector = b->ndim == 1 ||
                  (b->ndim == a->ndim - 1 && !memcmp(a->shape, b->shape, sizeof *b->shape * (size_t)b->ndim));
    if (vector && !left)
        return tpi_fail(TP_ERR_RUNTIME, "%s: left must be True for vectors, got shapes %s and %s", op, tpi_str(a),
                        tpi_str(b));
    tpi_scope s;
    tpi_scope_open(&s);
    if (vector) b = x_unsqueeze_at(b, b->ndim);
    if (b && (rc = tpi_need_pair(op, a, b, left))) tpi_rule_fail(rc, "%s", tp_error_message());
    if (!left) {
        a = tpi_mT(a);
        b = tpi_mT(b);
    }
    if (!tpi_bad() && (rc = tpi_broadcast_lead(op, &a, &b))) tpi_rule_fail(rc, "%s", tp_error_message());
    T x = tpi_bad() ? NULL : solved(a, b, op, check, &info);
    if (!left) x = tpi_mT(x);
    if (x && vector) x = x_reshape_to(x, x->ndim - 1, x->shape);
    return ex ? scope_results(&s, c, x, info) : scope_result(&s, c, x);
}

int c_linalg_solve(tp_call *c) { return solve(c, "linalg.solve", arg_b(&c->args[2]), true, false); }
int c_linalg_solve_ex(tp_call *c) { return solve(c, "linalg.solve_ex", arg_b(&c->args[2]), arg_b(&c->args[3]), true); }

static int inverse(tp_call *c, const char *op, bool check, bool ex)
{
    T a = arg_t(&c->args[0]), info = NULL;
    int rc = tpi_need_square(op, a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T x = solved(a, tpi_eye_like(a), op, check, &info);
    return ex ? scope_results(&s, c, x, info) : scope_result(&s, c, x);
}

int c_linalg_inv(tp_call *c) { return inverse(c, "linalg.inv", true, false); }
int c_inverse(tp_call *c) { return inverse(c, "inverse", true, false); }
int c_linalg_inv_ex(tp_call *c) { return inverse(c, "linalg.inv_ex", arg_b(&c->args[1]), true); }

static int slogdet(tp_call *c, const char *op)
{
    T a = arg_t(&c->args[0]), out[2] = {NULL};
    int rc = tpi_need_square(op, a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    x_lin_slogdet(a, out);
    return scope_results(&s, c, out[0], out[1]);
}
int c_linalg_slogdet(tp_call *c) { return slogdet(c, "linalg.slogdet"); }
int c_slogdet(tp_call *c) { return slogdet(c, "slogdet"); }

int c_logdet(tp_call *c)
{
    T a = arg_t(&c->args[0]), out[2] = {NULL};
    int rc = tpi_need_square("logdet", a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    x_lin_slogdet(a, out);
    T sign = tpi_bad() ? NULL : out[0];
    if (!sign) return scope_result(&s, c, NULL);
    if (tpi_is_complex(a->dtype)) return scope_result(&s, c, sum_of(x_log(sign), out[1]));
    T nan = x_full_like(sign, __builtin_nan(""));
    return scope_result(&s, c, x_where(x_lt(sign, x_zeros_like(sign)), nan, out[1]));
}
