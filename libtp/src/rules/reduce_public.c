/* The public reductions: composites that check, convert and normalise, and call the primitives. */
#include <math.h>

#include "rules/reduce_util.h"

int tpi_get_dims(const char *op, const tp_tensor *x, const tp_val *dim, tpi_dims *out)
{
    uint64_t seen = 0;
    bool one = dim->tag == TPI_INT;
    int n = one ? 1 : dim->tag == TPI_NONE ? 0 : dim->n;
    out->n = 0;
    if (n == 0) {
        for (int i = 0; i < x->ndim; i++) out->v[i] = i;
        out->n = x->ndim;
        return 0;
    }
    for (int i = 0; i < n; i++) {
        int64_t given = one ? dim->v.i : dim->v.ints[i];
        int d, rc = tpi_wrap_dim(op, given, x->ndim, &d);
        if (rc) return rc;
        if (seen >> d & 1)
            return tpi_fail(TP_ERR_VALUE, "%s: dimension %d appears twice in dim, self has shape %s", op, d,
                            tpi_str(x));
        seen |= UINT64_C(1) << d;
    }
    for (int d = 0; d < x->ndim; d++)
        if (seen >> d & 1) out->v[out->n++] = d;
    return 0;
}

int tpi_need_float(const char *op, const tp_tensor *x, bool complex_too)
{
    if (x->dtype >= TP_FLOAT16 && (complex_too || !tpi_is_complex(x->dtype))) return 0;
    return tpi_fail(TP_ERR_TYPE, "%s: self must be of a floating%s dtype, got %s", op, complex_too ? " or complex" : "",
                    tp_dtype_name(x->dtype));
}

int tpi_need_real(const char *op, const tp_tensor *x)
{
    if (!tpi_is_complex(x->dtype)) return 0;
    return tpi_fail(TP_ERR_TYPE, "%s: complex numbers have no order, self is %s", op, tp_dtype_name(x->dtype));
}

/* A primitive f(self, int[] dim, bool keepdim) whose arguments stand at the places given (-1: no keepdim). */
static int over_dims(tp_call *c, const char *op, const tp_op *primitive, T x, int dim, int keepdim)
{
    tpi_dims d;
    int rc = tpi_get_dims(op, x, &c->args[dim], &d);
    if (rc) return rc;
    tp_val args[] = {val_t(x), val_ints(d.v, d.n), val_b(keepdim >= 0 && arg_b(&c->args[keepdim]))};
    return tpi_call(primitive, args, c->out);
}

/* The same, after a conversion to the dtype argument, or of integers to the default dtype if `floating`. */
static int over_dims_as(tp_call *c, const char *op, const tp_op *primitive, int dtype, bool floating)
{
    T self = arg_t(&c->args[0]);
    if ((dtype < 0 || arg_none(&c->args[dtype]) || arg_i(&c->args[dtype]) == self->dtype) &&
        !(floating && self->dtype < TP_FLOAT16))
        return over_dims(c, op, primitive, self, 1, 2);
    tpi_scope s;
    tpi_scope_open(&s);
    T x = tpi_as(self, dtype < 0 ? NULL : &c->args[dtype], floating);
    int rc = x ? over_dims(c, op, primitive, x, 1, 2) : 0;
    int closed = tpi_scope_close(&s);
    return rc ? rc : closed;
}

/* ---- sum, mean, prod ---- */

int c_sum(tp_call *c)
{
    int rc = over_dims_as(c, "sum", &tpi_op_sum_dims, 3, false);
    if (rc || arg_none(&c->args[3]) || c->out[0]->dtype == (int)arg_i(&c->args[3])) return rc;
    tp_tensor *wide = c->out[0]; /* bool and small integers grew to int64 */
    rc = tpi_call(&tpi_op_cast, (tp_val[]){val_t(wide), c->args[3]}, c->out);
    tp_release(wide);
    return rc;
}

int c_mean(tp_call *c)
{
    int rc;
    if (arg_none(&c->args[3]) && (rc = tpi_need_float("mean", arg_t(&c->args[0]), true))) return rc;
    if (!arg_none(&c->args[3]) && arg_i(&c->args[3]) < TP_FLOAT16)
        return tpi_fail(TP_ERR_TYPE, "mean: dtype must be floating or complex, got %s",
                        tp_dtype_name((int)arg_i(&c->args[3])));
    return over_dims_as(c, "mean", &tpi_op_mean_dims, 3, false);
}

/* self with 0 for NaN; NULL where it has no NaN by its dtype. */
static T without_nan(T x, T *valid)
{
    if (x->dtype < TP_FLOAT16) {
        *valid = NULL;
        return x;
    }
    *valid = x_eq(x, x);
    return x_where(*valid, x, x_zeros_like(x));
}

int c_nansum(tp_call *c)
{
    tpi_scope s;
    tpi_scope_open(&s);
    tpi_dims d;
    int rc = tpi_get_dims("nansum", arg_t(&c->args[0]), &c->args[1], &d);
    T valid, r = NULL;
    if (!rc) {
        T x = tpi_as(arg_t(&c->args[0]), &c->args[3], false);
        r = x ? x_sum_dims(without_nan(x, &valid), d.v, d.n, arg_b(&c->args[2])) : NULL;
    } else {
        s.failed = rc;
    }
    return scope_result(&s, c, r);
}

int c_nanmean(tp_call *c)
{
    T self = arg_t(&c->args[0]), valid, r = NULL;
    int rc;
    if (arg_none(&c->args[3]) && (rc = tpi_need_float("nanmean", self, true))) return rc;
    tpi_dims d;
    if ((rc = tpi_get_dims("nanmean", self, &c->args[1], &d))) return rc;
    bool keepdim = arg_b(&c->args[2]);
    tpi_scope s;
    tpi_scope_open(&s);
    T x = tpi_as(self, &c->args[3], true);
    if (x) {
        T sum = x_sum_dims(without_nan(x, &valid), d.v, d.n, keepdim);
        r = x_div(sum, x_sum_dims(valid, d.v, d.n, keepdim));
    }
    return scope_result(&s, c, r);
}

/* self flattened, or with its dimension found; 0-d becomes 1-d. *keepdim is cleared where the result is 0-d. */
static T one_dim(tp_call *c, const char *op, T x, const tp_val *dim, int *d, bool *keepdim)
{
    *d = 0;
    if (!arg_none(dim) && tpi_wrap_dim(op, arg_i(dim), x->ndim, d)) {
        tpi_scope_top->failed = tp_error_code();
        return NULL;
    }
    if (x->ndim == 0) *keepdim = false;
    if (!arg_none(dim)) return tpi_lift(x);
    return x->ndim == 1 ? x : x_reshape_to(x, 1, &x->numel);
}

/* With dim None and keepdim all dimensions stay, with size 1. */
static T all_kept(T r, T self, const tp_val *dim, bool wanted)
{
    int64_t shape[TP_MAX_NDIM];
    if (!r || !arg_none(dim) || !wanted) return r;
    for (int i = 0; i < self->ndim; i++) shape[i] = 1;
    return x_reshape_to(r, self->ndim, shape);
}

int c_prod(tp_call *c)
{
    T self = arg_t(&c->args[0]), r = NULL;
    bool keepdim = arg_b(&c->args[2]);
    int d;
    tpi_scope s;
    tpi_scope_open(&s);
    T x = one_dim(c, "prod", self, &c->args[1], &d, &keepdim);
    if (x && (x = tpi_as(x, &c->args[3], false)))
        r = all_kept(x_prod_dim(x, d, keepdim && !arg_none(&c->args[1])), self, &c->args[1], keepdim);
    if (!arg_none(&c->args[3])) r = x_to_dtype(r, (int)arg_i(&c->args[3])); /* bool and small integers grew to int64 */
    return scope_result(&s, c, r);
}

/* ---- extremes ---- */

static int extreme(tp_call *c, const char *op, const tp_op *primitive, int dim, int keepdim)
{
    T self = arg_t(&c->args[0]);
    int rc = tpi_need_real(op, self);
    if (rc) return rc;
    if (dim >= 0) return over_dims(c, op, primitive, self, dim, keepdim);
    tp_val none = {.tag = TPI_NONE};
    tp_val args[] = {c->args[0], none};
    tp_call all = {.op = c->op, .args = args, .out = c->out, .nout = 1};
    return over_dims(&all, op, primitive, self, 1, -1);
}

int c_amax(tp_call *c) { return extreme(c, "amax", &tpi_op_amax_dims, 1, 2); }
int c_amin(tp_call *c) { return extreme(c, "amin", &tpi_op_amin_dims, 1, 2); }
int c_max(tp_call *c) { return extreme(c, "max", &tpi_op_amax_dims, -1, -1); }
int c_min(tp_call *c) { return extreme(c, "min", &tpi_op_amin_dims, -1, -1); }

int c_aminmax(tp_call *c)
{
    T self = arg_t(&c->args[0]);
    tpi_dims d;
    int rc = tpi_need_real("aminmax", self);
    if (rc || (rc = tpi_get_dims("aminmax", self, &c->args[1], &d))) return rc;
    bool keepdim = arg_b(&c->args[2]);
    tpi_scope s;
    tpi_scope_open(&s);
    T low = x_amin_dims(self, d.v, d.n, keepdim), high = x_amax_dims(self, d.v, d.n, keepdim);
    return scope_results(&s, c, low, high);
}

static int with_indices(tp_call *c, const char *op, int (*primitive)(T, int64_t, bool, T *))
{
    T self = arg_t(&c->args[0]), both[2] = {NULL, NULL};
    int d, rc = tpi_need_real(op, self);
    if (rc) return rc;
    bool keepdim = arg_b(&c->args[2]);
    tpi_scope s;
    tpi_scope_open(&s);
    T x = one_dim(c, op, self, &c->args[1], &d, &keepdim);
    if (x) primitive(x, d, keepdim, both);
    return scope_results(&s, c, both[0], both[1]);
}

int c_max_dim(tp_call *c) { return with_indices(c, "max", x_max_along); }
int c_min_dim(tp_call *c) { return with_indices(c, "min", x_min_along); }

static int position(tp_call *c, const char *op, T (*primitive)(T, int64_t, bool))
{
    T self = arg_t(&c->args[0]), r = NULL;
    int d, rc = tpi_need_real(op, self);
    if (rc) return rc;
    bool keepdim = arg_b(&c->args[2]);
    tpi_scope s;
    tpi_scope_open(&s);
    T x = one_dim(c, op, self, &c->args[1], &d, &keepdim);
    if (x) r = all_kept(primitive(x, d, keepdim && !arg_none(&c->args[1])), self, &c->args[1], keepdim);
    return scope_result(&s, c, r);
}

int c_argmax(tp_call *c) { return position(c, "argmax", x_argmax_dim); }
int c_argmin(tp_call *c) { return position(c, "argmin", x_argmin_dim); }

/* ---- truth ---- */

int c_any(tp_call *c) { return over_dims(c, "any", &tpi_op_any_dims, arg_t(&c->args[0]), 1, 2); }
int c_all(tp_call *c) { return over_dims(c, "all", &tpi_op_all_dims, arg_t(&c->args[0]), 1, 2); }

int c_count_nonzero(tp_call *c)
{
    return over_dims(c, "count_nonzero", &tpi_op_count_nonzero_dims, arg_t(&c->args[0]), 1, -1);
}

/* ---- spread ---- */

static int spread(tp_call *c, const char *op, bool root, bool mean, const tp_val *dim, double correction, bool keepdim)
{
    T self = arg_t(&c->args[0]);
    tpi_dims d;
    int rc = tpi_need_float(op, self, true);
    if (rc || (rc = tpi_get_dims(op, self, dim, &d))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T v = root ? x_std_dims(self, d.v, d.n, correction, keepdim) : x_var_dims(self, d.v, d.n, correction, keepdim);
    if (!mean) return scope_result(&s, c, v);
    return scope_results(&s, c, v, x_mean_dims(self, d.v, d.n, keepdim));
}

static int corrected(tp_call *c, const char *op, bool root, bool mean)
{
    return spread(c, op, root, mean, &c->args[1], arg_f(&c->args[2]), arg_b(&c->args[3]));
}

static int unbiased(tp_call *c, const char *op, bool root, bool mean)
{
    return spread(c, op, root, mean, &c->args[1], arg_b(&c->args[2]) ? 1 : 0, arg_b(&c->args[3]));
}

static int flagged(tp_call *c, const char *op, bool root, bool mean)
{
    tp_val all = {.tag = TPI_NONE};
    return spread(c, op, root, mean, &all, arg_b(&c->args[1]) ? 1 : 0, false);
}

int c_var(tp_call *c) { return corrected(c, "var", false, false); }
int c_std(tp_call *c) { return corrected(c, "std", true, false); }
int c_var_mean(tp_call *c) { return corrected(c, "var_mean", false, true); }
int c_std_mean(tp_call *c) { return corrected(c, "std_mean", true, true); }
int c_var_unbiased(tp_call *c) { return unbiased(c, "var", false, false); }
int c_std_unbiased(tp_call *c) { return unbiased(c, "std", true, false); }
int c_var_mean_unbiased(tp_call *c) { return unbiased(c, "var_mean", false, true); }
int c_std_mean_unbiased(tp_call *c) { return unbiased(c, "std_mean", true, true); }
int c_var_flag(tp_call *c) { return flagged(c, "var", false, false); }
int c_std_flag(tp_call *c) { return flagged(c, "std", true, false); }
int c_var_mean_flag(tp_call *c) { return flagged(c, "var_mean", false, true); }
int c_std_mean_flag(tp_call *c) { return flagged(c, "std_mean", true, true); }

/* ---- log-sum-exp ---- */

int c_logsumexp(tp_call *c)
{
    T self = arg_t(&c->args[0]);
    if (!tpi_is_complex(self->dtype)) return over_dims_as(c, "logsumexp", &tpi_op_logsumexp_dims, -1, true);
    /* log of the sum, shifted by the largest real part */
    tpi_dims d;
    int rc = tpi_get_dims("logsumexp", self, &c->args[1], &d);
    if (rc) return rc;
    bool keepdim = arg_b(&c->args[2]);
    tpi_scope s;
    tpi_scope_open(&s);
    T top = x_amax_dims(tpi_real(self), d.v, d.n, true);
    top = x_where(x_isinf(top), x_scalar(0, top), top); /* an infinity needs no shift, and would leave NaN */
    T total = x_sum_dims(x_exp(x_sub(self, top, &tpi_one)), d.v, d.n, keepdim), none = x_eq_f(total, 0);
    /* no derivative where every term is zero */
    T r = x_where(none, x_scalar(-INFINITY, total), x_log(x_where(none, x_scalar(1, total), total)));
    if (r) top = x_reshape_to(top, r->ndim, r->shape);
    return scope_result(&s, c, x_add(r, top, &tpi_one));
}
