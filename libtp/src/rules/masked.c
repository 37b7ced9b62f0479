/* Composites of the namespace `masked`: the mask's gaps are filled with the operation's identity.
 *
 * A fill is a `where` with a constant, so neither value nor derivative of what the mask leaves out gets anywhere, NaN
 * and infinity included. */
#include <math.h>

#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

/* An argument as an operator takes it: the number, or that of an absent one. */
static int dtype_arg(const tp_val *a) { return arg_none(a) ? TP_DTYPE_NONE : (int)arg_i(a); }

/* dims of a reduction: all for None and for an empty list. */
typedef struct dims {
    const int64_t *v;
    int n;
} dims;
static dims dims_arg(const tp_val *a) { return arg_none(a) || a->n <= 0 ? (dims){NULL, -1} : (dims){a->v.ints, a->n}; }

/* The mask as bool of x's shape; NULL: none given. */
static T whole_mask(const char *op, T x, const tp_val *arg)
{
    T mask = arg_t(arg);
    if (!mask || !x) return NULL;
    int64_t shape[TPI_DIMS_CAP];
    int ndim;
    if (mask->ndim > x->ndim || tpi_broadcast_shapes(op, x->ndim, x->shape, mask->ndim, mask->shape, &ndim, shape) ||
        memcmp(shape, x->shape, sizeof(int64_t) * (size_t)ndim))
        return tpi_rule_fail(TP_ERR_VALUE, "%s: a mask of shape %s does not broadcast to shape %s", op, tpi_str(mask),
                             tpi_str(x));
    if (mask->dtype != TP_BOOL) mask = x_ne_i(mask, 0);
    return x_expand_to(mask, x->ndim, x->shape);
}

static T fill(T x, T mask, double v) { return mask ? x_where(mask, x, x_scalar(v, x)) : x; }

static T as_dtype(T x, int dtype) { return dtype == TP_DTYPE_NONE ? x : x_to_dtype(x, dtype); }

/* Names without the namespace's dot would not be those that users call. */
#define BEGIN(name)            \
    const char *op = name;     \
    const tp_val *a = c->args; \
    T self = arg_t(&a[0]);     \
    tpi_scope s;               \
    tpi_scope_open(&s);        \
    (void)op
#define END(r) return scope_result(&s, c, r)

int c_masked_sum(tp_call *c)
{
    BEGIN("masked.sum");
    dims d = dims_arg(&a[1]);
    T x = fill(self, whole_mask(op, self, &a[4]), 0);
    END(x_sum(x, d.v, d.n, arg_b(&a[2]), dtype_arg(&a[3])));
}

int c_masked_prod(tp_call *c)
{
    BEGIN("masked.prod");
    dims d = dims_arg(&a[1]);
    bool keep = arg_b(&a[2]);
    int dtype = dtype_arg(&a[3]), at[TPI_DIMS_CAP];
    T x = fill(self, whole_mask(op, self, &a[4]), 1);
    bool drop[TPI_DIMS_CAP] = {false};
    if (d.n >= 0 && tpi_wrap_dims(op, d.v, d.n, self->ndim, at)) tpi_own(NULL);
    else if (self->ndim == 0) x = x_prod(x, TP_INT_NONE, false, dtype);
    else {
        for (int i = 0; i < self->ndim; i++) drop[i] = d.n < 0;
        for (int i = 0; i < d.n; i++) drop[at[i]] = true;
        for (int i = self->ndim - 1; i >= 0; i--)
            if (drop[i]) x = x_prod(x, i, keep, dtype);
    }
    END(x);
}

int c_masked_cumsum(tp_call *c)
{
    BEGIN("masked.cumsum");
    END(x_cumsum(fill(self, whole_mask(op, self, &a[3]), 0), arg_i(&a[1]), dtype_arg(&a[2])));
}

int c_masked_cumprod(tp_call *c)
{
    BEGIN("masked.cumprod");
    END(x_cumprod(fill(self, whole_mask(op, self, &a[3]), 1), arg_i(&a[1]), dtype_arg(&a[2])));
}

/* The least (greatest) number of x's dtype where the mask is false. */
static T fill_limit(const char *op, T x, T mask, bool least)
{
    if (!x || tpi_bad()) return NULL;
    if (x->dtype == TP_BOOL || tpi_is_complex(x->dtype))
        return tpi_rule_fail(TP_ERR_TYPE, "%s: %s is not supported", op, tp_dtype_name(x->dtype));
    if (!mask || !tpi_is_int(x->dtype)) return fill(x, mask, least ? -INFINITY : INFINITY);
    int bits = 8 * tpi_esize(x->dtype);
    bool is_unsigned = x->dtype == TP_UINT8 || x->dtype == TP_UINT16 || x->dtype == TP_UINT32 || x->dtype == TP_UINT64;
    tp_scalar v = {.tag = TP_SCALAR_UINT, .v.u = UINT64_MAX >> (64 - bits + !is_unsigned)};
    if (least) v = (tp_scalar){.tag = TP_SCALAR_INT, .v.i = is_unsigned ? 0 : INT64_MIN >> (64 - bits)};
    return x_where(mask, x, tpi_own(tp_scalar_tensor(&v, x->dtype)));
}

int c_masked_amax(tp_call *c)
{
    BEGIN("masked.amax");
    dims d = dims_arg(&a[1]);
    T x = as_dtype(self, dtype_arg(&a[3]));
    END(x_amax(fill_limit(op, x, whole_mask(op, self, &a[4]), true), d.v, d.n, arg_b(&a[2])));
}

int c_masked_amin(tp_call *c)
{
    BEGIN("masked.amin");
    dims d = dims_arg(&a[1]);
    T x = as_dtype(self, dtype_arg(&a[3]));
    END(x_amin(fill_limit(op, x, whole_mask(op, self, &a[4]), false), d.v, d.n, arg_b(&a[2])));
}

static int masked_arg(tp_call *c, const char *name, bool largest)
{
    BEGIN(name);
    int dtype = dtype_arg(&a[3]);
    int64_t dim = arg_none(&a[1]) ? TP_INT_NONE : arg_i(&a[1]);
    T x = fill_limit(op, self, whole_mask(op, self, &a[4]), largest);
    bool keep = arg_b(&a[2]);
    END(x_to_dtype(largest ? x_argmax(x, dim, keep) : x_argmin(x, dim, keep),
                   dtype == TP_DTYPE_NONE ? self->dtype : dtype));
}
int c_masked_argmax(tp_call *c) { return masked_arg(c, "masked.argmax", true); }
int c_masked_argmin(tp_call *c) { return masked_arg(c, "masked.argmin", false); }

/* x in the dtype asked for; TypeError unless that has fractions. */
static T fractional(const char *op, T x, int dtype)
{
    x = as_dtype(x, dtype);
    if (!x || tpi_is_differentiable(x->dtype)) return x;
    return tpi_rule_fail(TP_ERR_TYPE, "%s: %s has no fractions: say a floating dtype", op, tp_dtype_name(x->dtype));
}

/* How many elements count, as x's dtype. */
static T count_of(T x, T mask, dims d, bool keep)
{
    return mask && x ? x_to_dtype(x_sum(mask, d.v, d.n, keep, TP_INT64), tpi_to_real(x->dtype)) : NULL;
}

int c_masked_mean(tp_call *c)
{
    BEGIN("masked.mean");
    dims d = dims_arg(&a[1]);
    bool keep = arg_b(&a[2]);
    T x = fractional(op, self, dtype_arg(&a[3])), mask = whole_mask(op, self, &a[4]), r = NULL;
    if (!tpi_bad() && !mask) r = x_mean(x, d.v, d.n, keep, TP_DTYPE_NONE);
    else if (!tpi_bad()) r = x_div(x_sum(fill(x, mask, 0), d.v, d.n, keep, TP_DTYPE_NONE), count_of(x, mask, d, keep));
    END(r);
}

/* Sorted with what does not count at the end, the middle one of those that do is at (their number - 1) / 2. */
int c_masked_median(tp_call *c)
{
    BEGIN("masked.median");
    int dtype = dtype_arg(&a[3]), d = 0;
    bool keep = arg_b(&a[2]);
    if (tpi_wrap_dim(op, arg_i(&a[1]), self->ndim, &d)) tpi_own(NULL);
    T mask = whole_mask(op, self, &a[4]), x = self, sorted[2] = {NULL};
    int64_t one = 1, at = d;
    if (self->ndim == 0) {
        x = x_view(x, &one, 1);
        if (mask) mask = x_view(mask, &one, 1);
    }
    bool whole = x && tpi_is_int(x->dtype);
    if (x && !whole && x->dtype != TP_BOOL) {
        T number = x_logical_not(x_isnan(x));
        mask = mask ? x_logical_and(mask, number) : number;
        x = fill(x, mask, NAN);
    } else if (x && x->dtype == TP_BOOL) x = fill(x, mask, 1);
    else if (x) x = fill_limit(op, x, mask, false);
    if (x && x->shape[d] == 0) tpi_rule_fail(TP_ERR_INDEX, "%s: dimension %d of shape %s is empty", op, d, tpi_str(x));
    T n = NULL, r = NULL;
    if (!tpi_bad()) n = mask ? x_sum(mask, &at, 1, true, TP_INT64) : NULL;
    if (n && !tpi_is_differentiable(x->dtype) && !is_mapped(n)) {
        tp_scalar none = {.tag = TP_SCALAR_BOOL};
        T some = x_any(x_eq_i(n, 0), NULL, -1, false);
        if (some && tp_item(some, &none)) tpi_own(NULL);
        if (none.v.i)
            tpi_rule_fail(TP_ERR_VALUE, "%s: a row without elements has no median in %s", op, tp_dtype_name(x->dtype));
    }
    if (!tpi_bad() && !x_sort(x, d, false, false, sorted)) {
        if (n) {
            static const tp_scalar zero = {.tag = TP_SCALAR_INT};
            T middle = x_clamp_min(x_floor_divide_i(x_sub_i(n, 1, &tpi_one), 2), &zero);
            r = x_gather(sorted[0], d, middle);
            if (!keep || self->ndim == 0) r = x_squeeze_dims(r, &at, 1);
        } else {
            int64_t middle = (x->shape[d] - 1) / 2;
            r = x_select(sorted[0], d, middle);
            if (keep && self->ndim) r = x_unsqueeze(r, d);
        }
    }
    END(dtype == TP_DTYPE_NONE ? r : x_to_dtype(r, dtype));
}

static T norm_of(const char *op, T x, T mask, const tp_val *ord, dims d, bool keep)
{
    static const tp_scalar two = {.tag = TP_SCALAR_FLOAT, .v.f = 2};
    const tp_scalar *p = arg_none(ord) ? &two : &ord->v.s;
    bool negative = p->tag == TP_SCALAR_FLOAT ? p->v.f < 0 : p->tag == TP_SCALAR_INT && p->v.i < 0;
    if (p->tag == TP_SCALAR_COMPLEX) return tpi_rule_fail(TP_ERR_TYPE, "%s: ord must be real", op);
    if (negative && mask) x = x_abs(x); /* a complex infinity has no direction for a derivative */
    return x_linalg_vector_norm(fill(x, mask, negative ? INFINITY : 0), p, d.v, d.n, keep, TP_DTYPE_NONE);
}

int c_masked_norm(tp_call *c)
{
    BEGIN("masked.norm");
    T x = fractional(op, self, dtype_arg(&a[4]));
    END(norm_of(op, x, whole_mask(op, self, &a[5]), &a[1], dims_arg(&a[2]), arg_b(&a[3])));
}

int c_masked_normalize(tp_call *c)
{
    BEGIN("masked.normalize");
    int64_t dim = arg_i(&a[2]);
    double eps = arg_f(&a[3]);
    T x = fractional(op, self, dtype_arg(&a[4])), mask = whole_mask(op, self, &a[5]);
    T norm = norm_of(op, x, mask, &a[1], (dims){&dim, 1}, true);
    if (norm && norm->dtype == TP_FLOAT16 && eps > 0 && eps < 0x1p-24) eps = 0x1p-24; /* the least that is not 0 */
    END(x_div(fill(x, mask, 0), x_maximum(norm, x_scalar(eps, norm))));
}

static T variance(const char *op, const tp_val *a)
{
    T self = arg_t(&a[0]), x = tpi_floating(as_dtype(self, dtype_arg(&a[5])));
    T mask = whole_mask(op, self, &a[6]);
    dims d = dims_arg(&a[1]);
    bool keep = arg_b(&a[4]);
    if (!arg_none(&a[2]) && !arg_none(&a[3]))
        return tpi_rule_fail(TP_ERR_VALUE, "%s: give unbiased or correction, not both", op);
    double correction = !arg_none(&a[3]) ? arg_f(&a[3]) : arg_none(&a[2]) || arg_b(&a[2]);
    if (!x || tpi_bad()) return NULL;
    if (!mask) mask = x_expand_to(tpi_own(tp_ones(NULL, 0, TP_BOOL)), x->ndim, x->shape);
    T mean = x_div(x_sum(fill(x, mask, 0), d.v, d.n, true, TP_DTYPE_NONE), count_of(x, mask, d, true));
    T apart = fill(x_sub(x, mean, &tpi_one), mask, 0);
    T squares = tpi_is_complex(x->dtype) ? x_real_of(x_mul(apart, x_conj(apart))) : x_mul(apart, apart);
    T total = x_sum(squares, d.v, d.n, keep, TP_DTYPE_NONE), n = count_of(x, mask, d, keep);
    return x_div(total, x_maximum(x_sub(n, x_scalar(correction, n), &tpi_one), x_scalar(0, n)));
}

int c_masked_var(tp_call *c)
{
    BEGIN("masked.var");
    T v = variance(op, a);
    END(x_to_dtype(v, tpi_is_complex(self->dtype) && arg_none(&a[5]) ? self->dtype : v ? v->dtype : TP_FLOAT32));
}

int c_masked_std(tp_call *c)
{
    BEGIN("masked.std");
    T v = variance(op, a), zero = x_eq_f(v, 0);
    v = x_where(zero, x_scalar(0, v), x_sqrt(x_where(zero, x_scalar(1, v), v)));
    END(x_to_dtype(v, tpi_is_complex(self->dtype) && arg_none(&a[5]) ? self->dtype : v ? v->dtype : TP_FLOAT32));
}

int c_masked_softmax(tp_call *c)
{
    BEGIN("masked.softmax");
    T x = tpi_floating(as_dtype(self, dtype_arg(&a[2])));
    END(x_softmax(fill(x, whole_mask(op, self, &a[3]), -INFINITY), arg_i(&a[1]), TP_DTYPE_NONE));
}

int c_masked_log_softmax(tp_call *c)
{
    BEGIN("masked.log_softmax");
    T x = tpi_floating(as_dtype(self, dtype_arg(&a[2])));
    END(x_log_softmax(fill(x, whole_mask(op, self, &a[3]), -INFINITY), arg_i(&a[1]), TP_DTYPE_NONE));
}

int c_masked_softmin(tp_call *c)
{
    BEGIN("masked.softmin");
    T x = tpi_floating(as_dtype(self, dtype_arg(&a[2])));
    END(x_softmax(fill(x_neg(x), whole_mask(op, self, &a[3]), -INFINITY), arg_i(&a[1]), TP_DTYPE_NONE));
}

int c_masked_logaddexp(tp_call *c)
{
    BEGIN("masked.logaddexp");
    int dtype = dtype_arg(&a[2]);
    T x = tpi_floating(as_dtype(self, dtype)), y = arg_t(&a[1]);
    T m = whole_mask(op, self, &a[3]), n = whole_mask(op, y, &a[4]);
    END(x_logaddexp(fill(x, m, -INFINITY), fill(tpi_floating(as_dtype(y, dtype)), n, -INFINITY)));
}

int c_masked_logsumexp(tp_call *c)
{
    BEGIN("masked.logsumexp");
    int dtype = dtype_arg(&a[3]);
    dims d = dims_arg(&a[1]);
    T x = tpi_floating(dtype != TP_DTYPE_NONE && tpi_is_differentiable(dtype) ? x_to_dtype(self, dtype) : self);
    T r = x_logsumexp(fill(x, whole_mask(op, self, &a[4]), -INFINITY), d.v, d.n, arg_b(&a[2]));
    END(x_to_dtype(r, dtype == TP_DTYPE_NONE ? self->dtype : dtype));
}
