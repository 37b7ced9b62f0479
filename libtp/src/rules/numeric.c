/* Composites over numbers: comparisons with tolerance, differences, sums over intervals, covariances, arrangements. */
#include <math.h>

#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"


int c_same(tp_call *c) { return tpi_set_out(c, 0, tpi_retain(arg_t(&c->args[0]))); }

int c_frexp(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    if (!tpi_is_float(x->dtype))
        return tpi_fail(TP_ERR_TYPE, "frexp: a floating dtype is needed, got %s", tp_dtype_name(x->dtype));
    tpi_scope s;
    tpi_scope_open(&s);
    T e = x_exponent_of(x);
    T mantissa = x_scale_exponent(x, x_neg(e)), exponent = x_to_dtype(e, TP_INT32);
    return scope_results(&s, c, mantissa, exponent);
}

int c_ldexp(tp_call *c)
{
    T x = arg_t(&c->args[0]), e = arg_t(&c->args[1]);
    tpi_scope s;
    tpi_scope_open(&s);
    e = tpi_floating(e);
    /* The power in the precision of the result. */
    if (e) e = x_to_dtype(e, tpi_result_type(2, (tp_tensor *[]){x, e}));
    return scope_result(&s, c, x_mul(x, e ? x_pow(x_scalar(2, e), e) : NULL));
}

int c_logit(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    if (tpi_is_complex(x->dtype)) return tpi_fail(TP_ERR_TYPE, "logit: not defined for %s", tp_dtype_name(x->dtype));
    tpi_scope s;
    tpi_scope_open(&s);
    x = tpi_floating(x);
    if (!arg_none(&c->args[1])) {
        tp_scalar low = {.tag = TP_SCALAR_FLOAT, .v.f = arg_f(&c->args[1])};
        tp_scalar high = {.tag = TP_SCALAR_FLOAT, .v.f = 1 - low.v.f};
        x = x_clamp(x, &low, &high);
    }
    T far = minus(x_log(x), x_log1p(x_neg(x)));
    if (tpi_bad()) return scope_result(&s, c, NULL);
    /* Around 1/2, where the logarithms cancel, 2 atanh(2 x - 1), whose argument is exact. */
    T half = x_scalar(0.5, x), middle = x_lt(x_abs(minus(x, half)), x_scalar(0.25, x));
    T m = tpi_bad() ? NULL : x_where(middle, x, half);
    return scope_result(&s, c, x_where(middle, x_mul_f(x_atanh(x_mul_f(minus(m, half), 2)), 2), far));
}

int c_isreal(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    tpi_scope s;
    tpi_scope_open(&s);
    bool complex = tpi_is_complex(x->dtype);
    T im = complex ? x_imag_part(x) : NULL;
    T r = complex ? x_eq(im, im ? x_iscalar(0, im) : NULL) : tpi_own(tp_ones(x->shape, x->ndim, TP_BOOL));
    return scope_result(&s, c, r);
}

int c_isclose(tp_call *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]);
    double rtol = arg_f(&c->args[2]), atol = arg_f(&c->args[3]);
    if (!(rtol >= 0) || !(atol >= 0))
        return tpi_fail(TP_ERR_VALUE, "isclose: tolerances must not be negative, got rtol %g, atol %g", rtol, atol);
    tpi_scope s;
    tpi_scope_open(&s);
    T close = x_eq(a, b);
    if (arg_b(&c->args[4])) close = x_logical_or(close, x_logical_and(x_isnan(a), x_isnan(b)));
    if ((a->dtype != TP_BOOL || b->dtype != TP_BOOL) && (rtol > 0 || atol > 0)) {
        /* Integers that far apart have a difference that double precision holds closely enough. */
        T x = tpi_is_differentiable(a->dtype) ? a : x_to_dtype(a, TP_FLOAT64);
        T y = tpi_is_differentiable(b->dtype) ? b : x_to_dtype(b, TP_FLOAT64);
        T apart = x_abs(minus(x, y)), bound = x_add_f(x_abs(x_mul_f(y, rtol)), atol, &tpi_one);
        close = x_logical_or(close, x_logical_and(x_isfinite(apart), x_le(apart, bound)));
    }
    return scope_result(&s, c, close);
}

/* ---- along a dimension ---- */

static int dim_of(const char *op, const tp_tensor *t, int64_t dim, int *d)
{
    if (t->ndim == 0) return tpi_fail(TP_ERR_VALUE, "%s: a 0-d tensor has no dimension", op);
    return tpi_wrap_dim(op, dim, t->ndim, d);
}

static T tail(T x, int d) { return x ? x_slice(x, d, 1, x->shape[d], 1) : NULL; }
static T head(T x, int d) { return x ? x_slice(x, d, 0, x->shape[d] ? x->shape[d] - 1 : 0, 1) : NULL; }

int c_diff(tp_call *c)
{
    T x = arg_t(&c->args[0]), parts[3];
    int64_t n = arg_i(&c->args[1]);
    int d, k = 0, rc = dim_of("diff", x, arg_i(&c->args[2]), &d);
    if (rc) return rc;
    if (n < 0) return tpi_fail(TP_ERR_VALUE, "diff: n must not be negative, got %lld", (long long)n);
    if (arg_t(&c->args[3])) parts[k++] = arg_t(&c->args[3]);
    parts[k++] = x;
    if (arg_t(&c->args[4])) parts[k++] = arg_t(&c->args[4]);
    tpi_scope s;
    tpi_scope_open(&s);
    T r = n && k > 1 ? x_cat(parts, k, d) : x;
    if (r && n > r->shape[d]) n = r->shape[d];
    for (; n > 0 && r; n--)
        r = r->dtype == TP_BOOL ? x_logical_xor(tail(r, d), head(r, d)) : minus(tail(r, d), head(r, d));
    return scope_result(&s, c, r == x ? x_clone(x) : r);
}

/* The area of each interval; the dimension into *dim. */
static T areas(const char *op, tp_call *c, int *dim)
{
    T y = arg_t(&c->args[0]), x = arg_t(&c->args[1]);
    int d;
    if (dim_of(op, y, arg_i(&c->args[3]), &d)) return tpi_own(NULL);
    if (y->dtype == TP_BOOL || (x && x->dtype == TP_BOOL))
        return tpi_rule_fail(TP_ERR_TYPE, "%s: not defined for bool", op);
    *dim = d;
    y = tpi_floating(y);
    T sums = plus(tail(y, d), head(y, d));
    if (!x) {
        tp_scalar dx = c->args[2].v.s;
        T h = dx.tag == TP_SCALAR_COMPLEX ? tpi_own(tp_weak_scalar(&dx)) : NULL;
        if (h) return x_mul_f(x_mul(sums, h), 0.5);
        return x_mul_f(sums, 0.5 * (dx.tag == TP_SCALAR_FLOAT ? dx.v.f : (double)dx.v.i));
    }
    int at = d - y->ndim;            /* from the end: x broadcasts against y */
    x = tpi_floating(x);
    if (x && x->ndim == 1) x = tpi_along(x, y->ndim, d);
    if (!x) return NULL;
    if (x->ndim + at < 0 || x->shape[x->ndim + at] != y->shape[d])
        return tpi_rule_fail(TP_ERR_VALUE, "%s: x of shape %s does not fit dimension %d of y, shape %s", op, tpi_str(x),
                             d, tpi_str(y));
    T widths = minus(tail(x, x->ndim + at), head(x, x->ndim + at));
    T r = x_mul_f(x_mul(sums, widths), 0.5);
    if (r) *dim = r->ndim + at;
    return r;
}

int c_trapezoid(tp_call *c)
{
    tpi_scope s;
    tpi_scope_open(&s);
    int d = 0;
    T r = areas("trapezoid", c, &d);
    int64_t dim = d;
    return scope_result(&s, c, r ? x_sum_dims(r, &dim, 1, false) : NULL);
}

int c_cumulative_trapezoid(tp_call *c)
{
    tpi_scope s;
    tpi_scope_open(&s);
    int d = 0;
    T r = areas("cumulative_trapezoid", c, &d);
    return scope_result(&s, c, r ? x_cumsum(r, d, TP_DTYPE_NONE) : NULL);
}

static T part(T x, int d, int64_t from, int64_t end) { return x ? x_slice(x, d, from, end, 1) : NULL; }

/* Central differences; at the ends those of the given order. h: the distances of neighbours as a 1-d tensor, or NULL
 * and the constant one. Weights: the derivative of the parabola through three neighbours (Fornberg, Math. Comp. 51,
 * 1988). */
static T derivative(T x, int d, double step, T h, int order)
{
    int64_t n = x->shape[d];
    T ends[3];
    if (!h) {
        ends[1] = x_mul_f(minus(part(x, d, 2, n), part(x, d, 0, n - 2)), 0.5 / step);
        if (order == 1) {
            ends[0] = x_mul_f(minus(part(x, d, 1, 2), part(x, d, 0, 1)), 1 / step);
            ends[2] = x_mul_f(minus(part(x, d, n - 1, n), part(x, d, n - 2, n - 1)), 1 / step);
        } else {
            for (int k = 0; k < 2; k++) {
                int64_t a = k ? n - 1 : 0, b = k ? n - 2 : 1, e = k ? n - 3 : 2;
                T r = minus(x_mul_f(part(x, d, b, b + 1), 2), x_mul_f(part(x, d, a, a + 1), 1.5));
                ends[2 * k] = x_mul_f(minus(r, x_mul_f(part(x, d, e, e + 1), 0.5)), (k ? -1 : 1) / step);
            }
        }
        return x_cat(ends, 3, d);
    }
    int64_t m = n - 1;
    T left = tpi_along(part(h, 0, 0, m - 1), x->ndim, d), right = tpi_along(part(h, 0, 1, m), x->ndim, d),
      both = plus(left, right);
    T a = x_neg(x_div(right, x_mul(left, both))), e = x_div(left, x_mul(right, both));
    T b = x_div(minus(right, left), x_mul(left, right));
    ends[1] = plus(plus(x_mul(a, part(x, d, 0, n - 2)), x_mul(b, part(x, d, 1, n - 1))), x_mul(e, part(x, d, 2, n)));
    for (int k = 0; k < 2; k++) {
        int64_t p = k ? n - 1 : 0, q = k ? n - 2 : 1, r = k ? n - 3 : 2;
        T near = tpi_along(part(h, 0, k ? m - 1 : 0, k ? m : 1), x->ndim, d);
        T slope = x_div(minus(part(x, d, q, q + 1), part(x, d, p, p + 1)), near);
        if (order == 2) {
            T far = tpi_along(part(h, 0, k ? m - 2 : 1, k ? m - 1 : 2), x->ndim, d);
            T next = x_div(minus(part(x, d, r, r + 1), part(x, d, q, q + 1)), far);
            slope = minus(slope, x_mul(x_div(near, plus(near, far)), minus(next, slope)));
        }
        ends[2 * k] = k ? x_neg(slope) : slope;
    }
    return x_cat(ends, 3, d);
}

static int gradients(tp_call *c, const tp_val *spacing, bool coordinates)
{
    T x = arg_t(&c->args[0]);
    const tp_val *dims = &c->args[2];
    int64_t order = arg_i(&c->args[3]);
    int wrapped[TPI_DIMS_CAP], rc, n = dims->n < 0 || arg_none(dims) ? x->ndim : dims->n;
    if (order != 1 && order != 2)
        return tpi_fail(TP_ERR_VALUE, "gradient: edge_order must be 1 or 2, got %lld", (long long)order);
    if (x->dtype == TP_BOOL) return tpi_fail(TP_ERR_TYPE, "gradient: not defined for bool");
    if (n == x->ndim && (dims->n < 0 || arg_none(dims)))
        for (int i = 0; i < n; i++) wrapped[i] = i;
    else if ((rc = tpi_wrap_dims("gradient", dims->v.ints, n, x->ndim, wrapped))) return rc;
    bool given = !arg_none(spacing) && spacing->n >= 0;
    if (given && spacing->n != n && (coordinates || spacing->n != 1))
        return tpi_fail(TP_ERR_VALUE, "gradient: %d spacings for %d dims", spacing->n, n);
    for (int i = 0; i < n; i++) {
        if (x->shape[wrapped[i]] < order + 1)
            return tpi_fail(TP_ERR_VALUE, "gradient: dimension %d of shape %s has fewer than edge_order + 1 elements",
                            wrapped[i], tpi_str(x));
        T at = coordinates ? spacing->v.ts[i] : NULL;
        if (at && (at->ndim != 1 || at->shape[0] != x->shape[wrapped[i]]))
            return tpi_fail(TP_ERR_VALUE, "gradient: coordinates of shape %s for dimension %d of shape %s", tpi_str(at),
                            wrapped[i], tpi_str(x));
    }
    if ((rc = list_begin(c, n))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T y = tpi_floating(x);
    for (int i = 0; i < n && y; i++) {
        T at = coordinates ? tpi_floating(spacing->v.ts[i]) : NULL;
        T h = at ? minus(tail(at, 0), head(at, 0)) : NULL;
        double step = coordinates || !given ? 1 : spacing->v.fs[spacing->n == 1 ? 0 : i];
        c->out[i] = tpi_retain(tpi_bad() ? NULL : derivative(y, wrapped[i], step, h, (int)order));
    }
    return tpi_scope_close(&s);
}

int c_gradient(tp_call *c) { return gradients(c, &c->args[1], false); }
int c_gradient_coordinates(tp_call *c) { return gradients(c, &c->args[1], true); }

/* ---- covariances ---- */

static T weights_of(tp_call *c, int i, T x, bool whole)
{
    T w = arg_t(&c->args[i]);
    if (!w) return NULL;
    const char *name = whole ? "fweights" : "aweights";
    if (whole ? !tpi_is_int(w->dtype) : !tpi_is_float(w->dtype))
        return tpi_rule_fail(TP_ERR_TYPE, "cov: %s must be %s, got %s", name, whole ? "integers" : "floating",
                             tp_dtype_name(w->dtype));
    if (w->ndim > 1 || w->numel != x->shape[1])
        return tpi_rule_fail(TP_ERR_VALUE, "cov: %s of shape %s for %lld observations", name, tpi_str(w),
                             (long long)x->shape[1]);
    return x_to_dtype(x_reshape_to(w, 1, &w->numel), tpi_to_real(x->dtype));
}

static T total(T v)
{
    const int64_t first = 0;
    return x_sum_dims(v, &first, 1, false);
}

/* The matrix of covariances, [variables, variables]. */
static T covariance(tp_call *c, const char *op, T x, int64_t correction, bool weighted)
{
    if (x->ndim > 2) return tpi_rule_fail(TP_ERR_VALUE, "%s: at most two dimensions, got shape %s", op, tpi_str(x));
    if (x->dtype == TP_BOOL) return tpi_rule_fail(TP_ERR_TYPE, "%s: not defined for bool", op);
    int64_t row[2] = {1, x->numel}, last = 1;
    x = tpi_floating(x);
    if (x && x->ndim < 2) x = x_reshape_to(x, 2, row);
    if (!x) return NULL;
    T f = weighted ? weights_of(c, 2, x, true) : NULL, a = weighted ? weights_of(c, 3, x, false) : NULL;
    T w = f && a ? x_mul(f, a) : f ? f : a;
    if (tpi_bad()) return NULL;
    tp_scalar zero = {.tag = TP_SCALAR_FLOAT};
    T count = w ? total(w) : x_to_dtype(x_scalar((double)x->shape[1], x), tpi_to_real(x->dtype));
    T mean = w ? x_div(x_sum_dims(x_mul(x, w), &last, 1, true), count) : x_mean_dims(x, &last, 1, true);
    T norm = count;
    if (correction && a) norm = minus(count, x_mul_f(x_div(total(x_mul(w, a)), count), (double)correction));
    else if (correction) norm = x_sub_f(count, (double)correction, &tpi_one);
    norm = x_clamp_min(norm, &zero);
    T centered = minus(x, mean), other = w ? x_mul(centered, w) : centered;
    return x_div(x_matmul(centered, x_conj(x_transpose(other, 0, 1))), norm);
}

static T squeezed(T m, const tp_tensor *x)
{
    return x->ndim < 2 || (m && m->numel == 1) ? x_reshape_to(m, 0, NULL) : m;
}

int c_cov(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, squeezed(covariance(c, "cov", x, arg_i(&c->args[1]), true), x));
}

int c_corrcoef(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    tpi_scope s;
    tpi_scope_open(&s);
    T m = covariance(c, "corrcoef", x, 1, false);
    if (m) {
        T scale = x_sqrt(x_diagonal(m, 0, 0, 1));
        tp_scalar low = {.tag = TP_SCALAR_INT, .v.i = -1};
        m = x_div(x_div(m, x_unsqueeze(scale, 1)), scale);
        if (m && tpi_is_complex(m->dtype))
            m = x_complex(x_clamp(x_real_of(m), &low, &tpi_one), x_clamp(x_imag_part(m), &low, &tpi_one));
        else m = x_clamp(m, &low, &tpi_one);
    }
    return scope_result(&s, c, squeezed(m, x));
}

/* ---- arrangements ---- */

int c_block_diag(tp_call *c)
{
    tp_tensor **ts = c->args[0].v.ts;
    int n = c->args[0].n;
    int64_t width = 0, before = 0, zero[2] = {1, 0};
    for (int i = 0; i < n; i++) {
        if (!ts[i]) return tpi_fail(TP_ERR_VALUE, "block_diag: tensor %d is missing", i);
        if (ts[i]->ndim > 2)
            return tpi_fail(TP_ERR_VALUE, "block_diag: at most two dimensions, got shape %s", tpi_str(ts[i]));
        int64_t columns = ts[i]->ndim ? ts[i]->shape[ts[i]->ndim - 1] : 1;
        if (__builtin_add_overflow(width, columns, &width))
            return tpi_fail(TP_ERR_VALUE, "block_diag: the number of columns overflows");
    }
    if (n == 0) return tpi_set_out(c, 0, tp_zeros(zero, 2, TP_DTYPE_NONE));
    tpi_scope s;
    tpi_scope_open(&s);
    T *rows = tpi_calloc(sizeof *rows * (size_t)n);
    if (!rows) tpi_own(NULL);
    for (int i = 0; rows && i < n; i++) {
        int64_t shape[2] = {ts[i]->ndim == 2 ? ts[i]->shape[0] : 1, ts[i]->ndim ? ts[i]->shape[ts[i]->ndim - 1] : 1};
        T m = x_reshape_to(ts[i], 2, shape);
        int64_t columns = shape[1];
        shape[1] = width;
        rows[i] = x_slice_backward(m, shape, 2, 1, before, before + columns, 1);
        before += columns;
    }
    T r = rows && !tpi_bad() ? x_cat(rows, n, 0) : NULL;
    tpi_free(rows, sizeof *rows * (size_t)n);
    return scope_result(&s, c, r);
}

int c_cartesian_prod(tp_call *c)
{
    tp_tensor **ts = c->args[0].v.ts;
    int n = c->args[0].n;
    if (n == 0) return tpi_fail(TP_ERR_VALUE, "cartesian_prod: at least one tensor is needed");
    for (int i = 0; i < n; i++)
        if (!ts[i] || ts[i]->ndim != 1)
            return tpi_fail(TP_ERR_VALUE, "cartesian_prod: 1-d tensors are needed, got shape %s", tpi_str(ts[i]));
    if (n == 1) return tpi_set_out(c, 0, tpi_retain(ts[0]));
    int rc = tpi_check_rank("cartesian_prod", n);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T columns[TPI_DIMS_CAP];
    int64_t full[TPI_DIMS_CAP], row[TPI_DIMS_CAP], total;
    for (int i = 0; i < n; i++) full[i] = ts[i]->shape[0];
    if (tpi_numel("cartesian_prod", n, full, &total)) tpi_own(NULL);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) row[k] = k == i ? full[i] : 1;
        columns[i] = tpi_bad() ? NULL : x_reshape(x_expand_to(x_reshape_to(ts[i], n, row), n, full), &total, 1);
    }
    return scope_result(&s, c, tpi_bad() ? NULL : x_stack(columns, n, 1));
}

int c_combinations(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    int64_t r = arg_i(&c->args[1]), shape[2] = {1, r}, none = 0;
    bool again = arg_b(&c->args[2]);
    if (x->ndim != 1) return tpi_fail(TP_ERR_VALUE, "combinations: a 1-d tensor is needed, got shape %s", tpi_str(x));
    if (r < 0) return tpi_fail(TP_ERR_VALUE, "combinations: r must not be negative, got %lld", (long long)r);
    if (r == 0) return tpi_set_out(c, 0, tp_zeros(&none, 1, x->dtype));
    int64_t n = x->shape[0], top = again ? n + r - 1 : n;
    if (n == 0 && again) top = 0;
    shape[0] = r > top ? 0 : 1;
    for (int64_t k = 1; shape[0] && k <= r; k++) {
        __int128 wide = (__int128)shape[0] * (top - r + k) / k; /* always whole */
        if (wide > (int64_t)1 << 40)
            return tpi_fail(TP_ERR_VALUE, "combinations: too many: %lld of %lld elements", (long long)r, (long long)n);
        shape[0] = (int64_t)wide;
    }
    tpi_scope s;
    tpi_scope_open(&s);
    T index = tpi_own(tpi_empty(TP_INT64, 2, shape));
    int64_t *at = index ? tpi_data(index) : NULL;
    for (int64_t i = 0; at && i < shape[0]; i++, at += r) {
        int64_t k = r - 1;
        if (i == 0) {
            for (k = 0; k < r; k++) at[k] = again ? 0 : k;
            continue;
        }
        memcpy(at, at - r, (size_t)r * sizeof *at);
        while (at[k] == (again ? n - 1 : n - r + k)) k--;
        at[k]++;
        for (int64_t j = k + 1; j < r; j++) at[j] = again ? at[k] : at[j - 1] + 1;
    }
    T flat = index ? x_reshape_to(index, 1, &index->numel) : NULL;
    return scope_result(&s, c, x_reshape_to(x_index_select(x, 0, flat), 2, shape));
}
