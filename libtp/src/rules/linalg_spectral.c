/* Eigenvalues and singular values: rules, and the public forms.
 *
 * NOTE: coinciding values
 * Derivatives of eigenvectors and singular vectors divide by differences of values. Where two are equal (to rounding)
 * the vectors are not determined, and the quotient is set to zero: right for every function that does not depend on
 * the choice. Values alone have cotangents V diag(g) V^H and U diag(g) V^H; these are operators with derivatives of
 * their own, of which only quotients (g_j - g_i) / (w_j - w_i) and (g_i + g_j) / (s_i + s_j) remain: so the second
 * derivative of the nuclear norm is exact at ties, and that of smooth symmetric functions next to them. Formulas:
 * Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation", 2008;
 * Townsend, "Differentiating the singular value decomposition", 2016. */
#include <math.h>

#include "rules/matmul_util.h"

static T herm(T t) { return x_mul_f(sum_of(t, tpi_mH(t)), 0.5); }
static T skew(T t) { return x_mul_f(difference_of(t, tpi_mH(t)), 0.5); }
static T chain(T a, T b, T c) { return tpi_product(tpi_product(a, b), c); }
static T real_part(T t) { return t && tpi_is_complex(t->dtype) ? x_real_of(t) : t; }

/* 1 / d, zero where d is. */
static T inverse(T d)
{
    if (tpi_bad() || !d) return NULL;
    T none = x_iscalar(0, d), zero = x_eq(d, none);
    return x_where(zero, none, x_reciprocal(x_where(zero, x_iscalar(1, d), d)));
}

static T as_row(T w) { return w ? x_unsqueeze_at(w, w->ndim - 1) : NULL; }
static T as_column(T w) { return w ? x_unsqueeze_at(w, w->ndim) : NULL; }
static T differences(T w) { return minus(as_row(w), as_column(w)); } /* w_j - w_i */

/* 1 / (w_j - w_i), zero on the diagonal and where values are equal as far as they are known: what such quotients say
 * cancels in every function that may be differentiated there, and would leave its rounding errors. */
static T quotients(T w)
{
    T d = differences(w), size = w ? x_abs(w) : NULL;
    if (tpi_bad() || !w->shape[w->ndim - 1]) return d;
    int64_t last = w->ndim - 1, n = w->shape[last];
    double eps = tpi_esize(tpi_to_real(w->dtype)) == 4 ? 0x1p-23 : 0x1p-52;
    T tie = x_mul_f(x_amax_dims(size, &last, 1, true), eps * (double)(n > 8 ? n : 8));
    if (tpi_bad()) return NULL;
    T same = x_le(x_abs(d), as_column(tie));
    return tpi_bad() ? NULL : x_where(same, x_iscalar(0, d), x_reciprocal(x_where(same, x_iscalar(1, d), d)));
}

static T sums(T w) { return plus(as_row(w), as_column(w)); }

static T diagonal(T m) { return m ? x_diagonal(m, 0, -2, -1) : NULL; }
static T by_columns(T m, T d) { return m && d ? x_mul(m, as_row(d)) : NULL; } /* m diag(d) */
static T as_dtype(T t, int dtype) { return t && t->dtype != dtype ? x_to_dtype(t, dtype) : t; }

/* ---- Hermitian ---- */

static T by_eigenvalues(T a, T w, T v, T g) { return g ? x_lin_hermitian(a, w, v, g) : NULL; }

int lin_eigh__vjp(tp_vjp_ctx *c)
{
    T w = c->results[0], v = c->results[1], gw = c->grads[0], gv = c->grads[1], vectors = NULL;
    if (gv) vectors = chain(v, x_mul(quotients(w), skew(tpi_product(tpi_mH(v), gv))), tpi_mH(v));
    c->out[0] = sum_of(by_eigenvalues(arg_t(&c->args[0]), w, v, gw), vectors);
    return 0;
}

int lin_eigh__jvp(tp_jvp_ctx *c)
{
    T w = c->results[0], v = c->results[1], t = c->tangents[0];
    if (!t) return 0;
    T p = chain(tpi_mH(v), herm(t), v);
    c->out[0] = real_part(diagonal(p));
    c->out[1] = tpi_product(v, x_mul(quotients(w), p));
    return 0;
}

int lin_eigvalsh__vjp(tp_vjp_ctx *c)
{
    T a = arg_t(&c->args[0]), out[2] = {NULL};
    if (c->grads[0] && !x_lin_eigh(a, c->args[1].v.str, out))
        c->out[0] = by_eigenvalues(a, out[0], out[1], c->grads[0]);
    return 0;
}

int lin_eigvalsh__jvp(tp_jvp_ctx *c)
{
    T out[2] = {NULL}, t = c->tangents[0];
    if (t && !x_lin_eigh(arg_t(&c->args[0]), c->args[1].v.str, out))
        c->out[0] = real_part(diagonal(chain(tpi_mH(out[1]), herm(t), out[1])));
    return 0;
}

int k_lin_hermitian(tp_call *c)
{
    T v = arg_t(&c->args[2]), g = arg_t(&c->args[3]);
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, tpi_product(by_columns(v, g), tpi_mH(v)));
}

/* V (quotients o P) V^H for a Hermitian P. */
static T hermitian_turn(const tp_val *a, T p)
{
    T v = arg_t(&a[2]), ratio = x_mul(differences(arg_t(&a[3])), quotients(arg_t(&a[1])));
    return chain(v, x_mul(ratio, p), tpi_mH(v));
}

int lin_hermitian__vjp(tp_vjp_ctx *c)
{
    T v = arg_t(&c->args[2]), p = c->grads[0] ? herm(chain(tpi_mH(v), c->grads[0], v)) : NULL;
    if (!p) return 0;
    if (c->need[0]) c->out[0] = hermitian_turn(c->args, p);
    if (c->need[3]) c->out[3] = real_part(diagonal(p));
    return 0;
}

int lin_hermitian__jvp(tp_jvp_ctx *c)
{
    const tp_val *a = c->args;
    T v = arg_t(&a[2]), t = c->tangents[0], gt = c->tangents[3];
    T turn = t ? hermitian_turn(a, herm(chain(tpi_mH(v), t, v))) : NULL;
    c->out[0] = sum_of(turn, by_eigenvalues(arg_t(&a[0]), arg_t(&a[1]), v, gt));
    return 0;
}

/* ---- singular values: U^H dA V = H + K, Hermitian and skew ---- */

/* The columns that belong to singular values, and those that complete the space. */
static T first(T u, int64_t k) { return u && u->shape[u->ndim - 1] > k ? x_narrow(u, -1, 0, k) : u; }
static T rest(T u, int64_t k)
{
    return u && u->shape[u->ndim - 1] > k ? x_narrow(u, -1, k, u->shape[u->ndim - 1] - k) : NULL;
}

/* The cotangent of the first columns when the others follow them: dU' = -U dU^H U'. */
static T folded(T g, T u, int64_t k)
{
    T other = rest(u, k);
    return g && other ? minus(first(g, k), chain(other, tpi_mH(rest(g, k)), first(u, k))) : g;
}

static T completed(T du, T u, int64_t k)
{
    T other = rest(u, k), both[2] = {du, NULL};
    if (!du || !other) return du;
    both[1] = x_neg(chain(first(u, k), tpi_mH(du), other));
    return tpi_bad() ? NULL : x_cat(both, 2, -1);
}

static T by_singular_values(T a, T u, T s, T vh, T g) { return g ? x_lin_spectral(a, u, s, vh, g) : NULL; }

int lin_svd__vjp(tp_vjp_ctx *c)
{
    T a = arg_t(&c->args[0]), s = c->results[1], v = tpi_mH(c->results[2]);
    int64_t k = s->shape[s->ndim - 1], m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1];
    T gu = folded(c->grads[0], c->results[0], k), gv = folded(tpi_mH(c->grads[2]), v, k), out = NULL;
    T u = first(c->results[0], k);
    v = first(v, k);
    T vh = tpi_mH(v);
    if (tpi_bad()) return 0;
    if (gu || gv) {
        T ua = gu ? tpi_product(tpi_mH(u), gu) : NULL, vb = gv ? tpi_product(tpi_mH(v), gv) : NULL, over = inverse(s);
        T sa = ua ? skew(ua) : NULL, sb = vb ? skew(vb) : NULL;
        T x = plus(x_mul(quotients(s), sum_of(sa, sb)), x_mul(inverse(sums(s)), difference_of(sa, sb)));
        out = chain(u, x, vh);
        if (gu && m > k) out = sum_of(out, tpi_product(by_columns(minus(gu, tpi_product(u, ua)), over), vh));
        if (gv && n > k) out = sum_of(out, tpi_product(by_columns(u, over), tpi_mH(minus(gv, tpi_product(v, vb)))));
    }
    c->out[0] = sum_of(by_singular_values(a, u, s, vh, c->grads[1]), out);
    return 0;
}

int lin_svd__jvp(tp_jvp_ctx *c)
{
    T t = c->tangents[0], s = c->results[1], v = tpi_mH(c->results[2]);
    if (!t) return 0;
    int64_t k = s->shape[s->ndim - 1], m = t->shape[t->ndim - 2], n = t->shape[t->ndim - 1];
    T u = first(c->results[0], k), v1 = first(v, k), x = chain(tpi_mH(u), t, v1), over = inverse(s);
    if (tpi_bad()) return 0;
    T h = x_mul(quotients(s), herm(x)), q = x_mul(inverse(sums(s)), skew(x));
    T du = tpi_product(u, plus(h, q)), dv = tpi_product(v1, minus(h, q));
    if (m > k) du = plus(du, by_columns(minus(tpi_product(t, v1), tpi_product(u, x)), over));
    if (n > k) dv = plus(dv, by_columns(minus(tpi_product(tpi_mH(t), u), tpi_product(v1, tpi_mH(x))), over));
    c->out[0] = completed(du, c->results[0], k);
    c->out[1] = real_part(diagonal(x));
    c->out[2] = tpi_mH(completed(dv, v, k));
    return 0;
}

int lin_svdvals__vjp(tp_vjp_ctx *c)
{
    T a = arg_t(&c->args[0]), out[3] = {NULL};
    if (c->grads[0] && !x_lin_svd(a, false, c->args[1].v.str, out))
        c->out[0] = by_singular_values(a, out[0], out[1], out[2], c->grads[0]);
    return 0;
}

int lin_svdvals__jvp(tp_jvp_ctx *c)
{
    T out[3] = {NULL}, t = c->tangents[0];
    if (t && !x_lin_svd(arg_t(&c->args[0]), false, c->args[1].v.str, out))
        c->out[0] = real_part(diagonal(chain(tpi_mH(out[0]), t, tpi_mH(out[2]))));
    return 0;
}

int k_lin_spectral(tp_call *c)
{
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, tpi_product(by_columns(arg_t(&c->args[1]), arg_t(&c->args[4])), arg_t(&c->args[3])));
}

/* How U diag(g) V^H turns with A in direction t, a map that is its own transpose. */
static T spectral_turn(const tp_val *a, T t)
{
    T u = arg_t(&a[1]), s = arg_t(&a[2]), vh = arg_t(&a[3]), g = arg_t(&a[4]), v = tpi_mH(vh);
    int64_t k = s->shape[s->ndim - 1], m = t->shape[t->ndim - 2], n = t->shape[t->ndim - 1];
    T x = chain(tpi_mH(u), t, v);
    T h = x_mul(x_mul(differences(g), quotients(s)), herm(x));
    T q = x_mul(x_mul(sums(g), inverse(sums(s))), skew(x)), ratio = x_mul(g, inverse(s));
    T out = chain(u, plus(h, q), vh);
    if (m > k) out = sum_of(out, tpi_product(by_columns(minus(tpi_product(t, v), tpi_product(u, x)), ratio), vh));
    if (n > k)
        out = sum_of(out, tpi_product(by_columns(u, ratio), minus(tpi_product(tpi_mH(u), t), tpi_product(x, vh))));
    return out;
}

int lin_spectral__vjp(tp_vjp_ctx *c)
{
    T u = arg_t(&c->args[1]), vh = arg_t(&c->args[3]);
    if (!c->grads[0]) return 0;
    if (c->need[0]) c->out[0] = spectral_turn(c->args, c->grads[0]);
    if (c->need[4]) c->out[4] = real_part(diagonal(chain(tpi_mH(u), c->grads[0], tpi_mH(vh))));
    return 0;
}

int lin_spectral__jvp(tp_jvp_ctx *c)
{
    const tp_val *a = c->args;
    T turn = c->tangents[0] ? spectral_turn(a, c->tangents[0]) : NULL;
    c->out[0] = sum_of(turn,
                       by_singular_values(arg_t(&a[0]), arg_t(&a[1]), arg_t(&a[2]), arg_t(&a[3]), c->tangents[4]));
    return 0;
}

/* ---- general matrices: dA V = V P, eigenvectors of length 1 ---- */

static T solved(T a, T b, const char *name)
{
    T out[2] = {NULL};
    return tpi_bad() || x_lin_solve(a, b, name, false, out) ? NULL : out[0];
}

static T embedded(T d) { return d ? x_diag_embed(d, 0, -2, -1) : NULL; }

/* The cotangent of a, real if a is. */
static T eig_cotangent(const tp_tensor *a, T w, T v, T gw, T gv, const char *name)
{
    T inner = gw ? embedded(gw) : NULL;
    if (gv) {
        T p = tpi_product(tpi_mH(v), gv), length = real_part(diagonal(p));
        T r = minus(p, by_columns(tpi_product(tpi_mH(v), v), as_dtype(length, v->dtype)));
        inner = sum_of(inner, x_mul(x_conj(quotients(w)), r));
    }
    T g = inner ? solved(tpi_mH(v), tpi_product(inner, tpi_mH(v)), name) : NULL;
    return tpi_is_complex(a->dtype) ? g : real_part(g);
}

int lin_eig__vjp(tp_vjp_ctx *c)
{
    c->out[0] = eig_cotangent(arg_t(&c->args[0]), c->results[0], c->results[1], c->grads[0], c->grads[1],
                              c->args[1].v.str);
    return 0;
}

int lin_eig__jvp(tp_jvp_ctx *c)
{
    T w = c->results[0], v = c->results[1], t = as_dtype(c->tangents[0], v->dtype);
    if (!t) return 0;
    T p = solved(v, tpi_product(t, v), c->args[1].v.str), q = x_mul(quotients(w), p);
    T dv = tpi_product(v, q),
      length = tpi_bad() ? NULL : real_part(x_sum_dims(x_mul(x_conj(v), dv), &(int64_t){v->ndim - 2}, 1, false));
    c->out[0] = diagonal(p);
    c->out[1] = tpi_bad() ? NULL : minus(dv, by_columns(v, as_dtype(length, v->dtype)));
    return 0;
}

int lin_eigvals__vjp(tp_vjp_ctx *c)
{
    T out[2] = {NULL};
    if (c->grads[0] && !x_lin_eig(arg_t(&c->args[0]), c->args[1].v.str, out))
        c->out[0] = eig_cotangent(arg_t(&c->args[0]), out[0], out[1], c->grads[0], NULL, c->args[1].v.str);
    return 0;
}

int lin_eigvals__jvp(tp_jvp_ctx *c)
{
    T out[2] = {NULL};
    if (!c->tangents[0] || x_lin_eig(arg_t(&c->args[0]), c->args[1].v.str, out)) return 0;
    c->out[0] = diagonal(
        solved(out[1], tpi_product(as_dtype(c->tangents[0], out[1]->dtype), out[1]), c->args[1].v.str));
    return 0;
}

/* ---- pseudoinverse: dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P (Golub and Pereyra, 1973) ---- */

int k_lin_pinv(tp_call *c)
{
    T a = arg_t(&c->args[0]), atol = arg_t(&c->args[1]), rtol = arg_t(&c->args[2]), out[3] = {NULL}, p = NULL;
    bool hermitian = arg_b(&c->args[3]);
    int64_t k = a->shape[a->ndim - 1] < a->shape[a->ndim - 2] ? a->shape[a->ndim - 1] : a->shape[a->ndim - 2];
    tpi_scope s;
    tpi_scope_open(&s);
    int rc = hermitian ? x_lin_eigh(a, "linalg.pinv", out) : x_lin_svd(a, false, "linalg.pinv", out);
    if (!rc) {
        T values = out[hermitian ? 0 : 1], size = hermitian ? x_abs(values) : values;
        if (k) {
            T most = x_amax_dims(size, &(int64_t){size->ndim - 1}, 1, true);
            T cutoff = x_maximum(as_column(atol), x_mul(as_column(rtol), most));
            values = x_where(x_gt(size, cutoff), x_reciprocal(values), x_iscalar(0, values));
        }
        T left = hermitian ? out[1] : tpi_mH(out[2]);
        p = tpi_product(by_columns(left, values), tpi_mH(hermitian ? out[1] : out[0]));
    }
    return scope_result(&s, c, p);
}

int lin_pinv__vjp(tp_vjp_ctx *c)
{
    T a = arg_t(&c->args[0]), p = c->results[0], g = tpi_mH(c->grads[0]);
    if (!g) return 0;
    T ph = tpi_mH(p), gpp = chain(g, p, ph), ppg = chain(ph, p, g);
    T out = plus(minus(gpp, chain(a, p, gpp)), minus(ppg, chain(ppg, p, a)));
    c->out[0] = minus(out, chain(ph, tpi_mH(g), ph));
    return 0;
}

int lin_pinv__jvp(tp_jvp_ctx *c)
{
    T a = arg_t(&c->args[0]), p = c->results[0], t = c->tangents[0];
    if (!t) return 0;
    T ph = tpi_mH(p), th = tpi_mH(t), one = chain(p, ph, th), two = chain(th, ph, p);
    T out = plus(minus(one, chain(one, a, p)), minus(two, chain(p, a, two)));
    c->out[0] = minus(out, chain(p, t, p));
    return 0;
}

/* ---- public forms ---- */

/* The triangle that is read: the lower one, or the upper one as that of the conjugate transpose. */
static int read_triangle(const char *op, const tp_val *uplo, T *a)
{
    const char *u = uplo->v.str;
    int rc = tpi_need_square(op, *a);
    if (rc) return rc;
    if (strlen(u) != 1 || !strchr("LlUu", *u))
        return tpi_fail(TP_ERR_RUNTIME, "%s: UPLO must be \"L\" or \"U\", got \"%s\"", op, u);
    if (*u == 'U' || *u == 'u') *a = tpi_mH(*a);
    return 0;
}

int c_linalg_eigh(tp_call *c)
{
    T a = arg_t(&c->args[0]), out[2] = {NULL};
    tpi_scope s;
    tpi_scope_open(&s);
    int rc = read_triangle("linalg.eigh", &c->args[1], &a);
    if (rc) s.failed = rc;
    else x_lin_eigh(a, "linalg.eigh", out);
    return scope_results(&s, c, out[0], out[1]);
}

int c_linalg_eigvalsh(tp_call *c)
{
    T a = arg_t(&c->args[0]), w = NULL;
    tpi_scope s;
    tpi_scope_open(&s);
    int rc = read_triangle("linalg.eigvalsh", &c->args[1], &a);
    if (rc) s.failed = rc;
    else w = x_lin_eigvalsh(a, "linalg.eigvalsh");
    return scope_result(&s, c, w);
}

int c_linalg_eig(tp_call *c)
{
    T a = arg_t(&c->args[0]), out[2] = {NULL};
    int rc = tpi_need_square("linalg.eig", a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    x_lin_eig(a, "linalg.eig", out);
    return scope_results(&s, c, out[0], out[1]);
}

int c_linalg_eigvals(tp_call *c)
{
    T a = arg_t(&c->args[0]);
    int rc = tpi_need_square("linalg.eigvals", a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_lin_eigvals(a, "linalg.eigvals"));
}

static int three(tpi_scope *s, tp_call *c, T x, T y, T z)
{
    tpi_retain(z);
    int rc = scope_results(s, c, x, y);
    if (rc) tp_release(z);
    else c->out[2] = z;
    return rc;
}

int c_linalg_svd(tp_call *c)
{
    T a = arg_t(&c->args[0]), out[3] = {NULL};
    int rc = tpi_need_matrix("linalg.svd", a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    x_lin_svd(a, arg_b(&c->args[1]), "linalg.svd", out);
    return three(&s, c, out[0], out[1], out[2]);
}

int c_svd(tp_call *c)
{
    T a = arg_t(&c->args[0]), out[3] = {NULL};
    bool some = arg_b(&c->args[1]), vectors = arg_b(&c->args[2]);
    int rc = tpi_need_matrix("svd", a);
    if (rc) return rc;
    int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1], shape[TPI_DIMS_CAP];
    tpi_scope s;
    tpi_scope_open(&s);
    if (vectors) {
        x_lin_svd(a, !some, "svd", out);
        return three(&s, c, out[0], out[1], tpi_mH(out[2]));
    }
    tpi_copy_dims(shape, a->shape, a->ndim);
    shape[a->ndim - 2] = shape[a->ndim - 1] = m;
    out[0] = x_zeros_shape(a->dtype, a->ndim, shape);
    shape[a->ndim - 2] = shape[a->ndim - 1] = n;
    out[2] = x_zeros_shape(a->dtype, a->ndim, shape);
    return three(&s, c, out[0], x_lin_svdvals(a, "svd"), out[2]);
}

int c_linalg_svdvals(tp_call *c)
{
    T a = arg_t(&c->args[0]);
    int rc = tpi_need_matrix("linalg.svdvals", a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_lin_svdvals(a, "linalg.svdvals"));
}

/* ---- tolerances ---- */

static T real_scalar(double v, int dtype)
{
    return tpi_own(tp_full(NULL, 0, &(tp_scalar){.tag = TP_SCALAR_FLOAT, .v.f = v}, dtype));
}

/* Absolute and relative tolerance: without both, the relative one is epsilon times the larger size; without the other,
 * one that is missing is zero. */
static void tolerances(T a, T *atol, T *rtol)
{
    int real = tpi_to_real(a->dtype);
    int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1];
    double eps = tpi_esize(real) == 4 ? 0x1p-23 : 0x1p-52;
    if (!*rtol) *rtol = real_scalar(*atol ? 0 : eps * (double)(m > n ? m : n), real);
    if (!*atol) *atol = real_scalar(0, real);
    *atol = as_dtype(*atol, real);
    *rtol = as_dtype(*rtol, real);
}

static T given(const tp_val *v, int dtype) { return arg_none(v) ? NULL : real_scalar(arg_f(v), tpi_to_real(dtype)); }

/* A tolerance for each matrix. */
static T for_each(const char *op, T tol, T a)
{
    int64_t lead[TPI_DIMS_CAP];
    int n;
    if (tpi_bad() || !tol) return NULL;
    if (tpi_broadcast_shapes(op, a->ndim - 2, a->shape, tol->ndim, tol->shape, &n, lead) || n != a->ndim - 2 ||
        memcmp(lead, a->shape, sizeof *lead * (size_t)n))
        return tpi_rule_fail(TP_ERR_RUNTIME, "%s: a tolerance of shape %s does not fit matrices %s", op, tpi_str(tol),
                             tpi_str(a));
    return x_expand_to(tol, n, lead);
}

static int pinv(tp_call *c, const char *op, const tp_val *atol, const tp_val *rtol, bool tensors, bool hermitian)
{
    T a = arg_t(&c->args[0]), p = NULL;
    int rc = hermitian ? tpi_need_square(op, a) : tpi_need_matrix(op, a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T at = !atol ? NULL : tensors ? arg_t(atol) : given(atol, a->dtype);
    T rt = !rtol ? NULL : tensors ? arg_t(rtol) : given(rtol, a->dtype);
    tolerances(a, &at, &rt);
    at = for_each(op, at, a);
    rt = for_each(op, rt, a);
    if (!tpi_bad()) p = x_lin_pinv(a, at, rt, hermitian);
    return scope_result(&s, c, p);
}

int c_linalg_pinv(tp_call *c) { return pinv(c, "linalg.pinv", &c->args[1], &c->args[2], false, arg_b(&c->args[3])); }
int c_linalg_pinv_tensor(tp_call *c)
{
    return pinv(c, "linalg.pinv", &c->args[1], &c->args[2], true, arg_b(&c->args[3]));
}
int c_linalg_pinv_rcond(tp_call *c) { return pinv(c, "linalg.pinv", NULL, &c->args[1], false, arg_b(&c->args[2])); }
int c_pinverse(tp_call *c) { return pinv(c, "pinverse", NULL, &c->args[1], false, false); }

static int rank(tp_call *c, const tp_val *atol, const tp_val *rtol, bool tensors, bool hermitian)
{
    const char *op = "linalg.matrix_rank";
    T a = arg_t(&c->args[0]), r = NULL;
    int rc = hermitian ? tpi_need_square(op, a) : tpi_need_matrix(op, a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T at = !atol ? NULL : tensors ? arg_t(atol) : given(atol, a->dtype);
    T rt = !rtol ? NULL : tensors ? arg_t(rtol) : given(rtol, a->dtype);
    tolerances(a, &at, &rt);
    T size = tpi_bad() ? NULL : hermitian ? x_abs(x_lin_eigvalsh(a, op)) : x_lin_svdvals(a, op);
    if (size && !size->shape[size->ndim - 1]) r = x_zeros_shape(TP_INT64, a->ndim - 2, a->shape);
    else if (size) {
        T most = x_amax_dims(size, &(int64_t){size->ndim - 1}, 1, false);
        T cutoff = tpi_bad() ? NULL : x_maximum(at, x_mul(rt, most));
        r = cutoff ? x_sum_dims(x_gt(size, as_column(cutoff)), &(int64_t){size->ndim - 1}, 1, false) : NULL;
    }
    return scope_result(&s, c, r);
}

int c_linalg_matrix_rank(tp_call *c) { return rank(c, &c->args[1], &c->args[2], false, arg_b(&c->args[3])); }
int c_linalg_matrix_rank_tensor(tp_call *c) { return rank(c, &c->args[1], &c->args[2], true, arg_b(&c->args[3])); }
int c_linalg_matrix_rank_tol(tp_call *c) { return rank(c, &c->args[1], NULL, false, arg_b(&c->args[2])); }
int c_linalg_matrix_rank_tol_tensor(tp_call *c) { return rank(c, &c->args[1], NULL, true, arg_b(&c->args[2])); }

/* ---- condition ---- */

int c_linalg_cond(tp_call *c)
{
    T a = arg_t(&c->args[0]), r = NULL;
    const tp_scalar *p = arg_none(&c->args[1]) ? NULL : &c->args[1].v.s;
    double ord = !p ? 2 : p->tag == TP_SCALAR_FLOAT ? p->v.f : p->tag == TP_SCALAR_INT ? (double)p->v.i : NAN;
    bool spectral = ord == 2 || ord == -2;
    int rc = spectral ? tpi_need_matrix("linalg.cond", a) : tpi_need_square("linalg.cond", a);
    if (rc) return rc;
    if (!spectral && ord != 1 && ord != -1 && !isinf(ord))
        return tpi_fail(TP_ERR_RUNTIME, "linalg.cond: p must be 1, -1, 2, -2, inf, -inf, \"fro\" or \"nuc\"");
    tpi_scope s;
    tpi_scope_open(&s);
    if (spectral) {
        T values = x_lin_svdvals(a, "linalg.cond");
        int64_t k = values ? values->shape[values->ndim - 1] : 0;
        if (values && !k) r = x_zeros_shape(tpi_to_real(a->dtype), a->ndim - 2, a->shape);
        else if (values) {
            T most = x_select(values, -1, 0), least = x_select(values, -1, k - 1);
            r = ord > 0 ? x_div(most, least) : x_div(least, most);
        }
    } else {
        tp_scalar v = {.tag = TP_SCALAR_FLOAT, .v.f = ord};
        const int64_t dims[2] = {-2, -1};
        r = x_mul(x_linalg_matrix_norm(a, &v, dims, 2, false, TP_DTYPE_NONE),
                  x_linalg_matrix_norm(x_linalg_inv(a), &v, dims, 2, false, TP_DTYPE_NONE));
    }
    return scope_result(&s, c, r);
}

int c_linalg_cond_str(tp_call *c)
{
    T a = arg_t(&c->args[0]);
    const char *p = c->args[1].v.str;
    const int64_t dims[2] = {-2, -1};
    int rc = tpi_need_square("linalg.cond", a);
    if (rc) return rc;
    if (strcmp(p, "fro") && strcmp(p, "nuc"))
        return tpi_fail(TP_ERR_RUNTIME,
                        "linalg.cond: p must be 1, -1, 2, -2, inf, -inf, \"fro\" or \"nuc\", got \"%s\"", p);
    tpi_scope s;
    tpi_scope_open(&s);
    T inv = x_linalg_inv(a);
    T r = tpi_bad() ? NULL
                    : x_mul(x_linalg_matrix_norm_str(a, p, dims, 2, false, TP_DTYPE_NONE),
                            x_linalg_matrix_norm_str(inv, p, dims, 2, false, TP_DTYPE_NONE));
    return scope_result(&s, c, r);
}
