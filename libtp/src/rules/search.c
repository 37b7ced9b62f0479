/* Searching, sets, counts, quantiles and reductions into places: composites, and the rules of scatter_fold. */
#include <math.h>

#include "kernels/index.h"
#include "rules/reduce_util.h"

/* ---- sorted sequences ---- */

/* Both in one dtype, half precision widened. */
static bool same_dtype(const char *op, T *a, T *b)
{
    if (tpi_need_real(op, *a) || tpi_need_real(op, *b)) return tpi_own(NULL);
    int dtype = tpi_result_type(2, (tp_tensor *[]){*a, *b});
    if (dtype == TP_FLOAT16 || dtype == TP_BFLOAT16) dtype = TP_FLOAT32;
    *a = x_to_dtype(*a, dtype);
    *b = x_to_dtype(*b, dtype);
    return *a && *b;
}

static T searched(const char *op, T seq, T values, bool right)
{
    T shown = values;
    if (seq->ndim == 0) return tpi_rule_fail(TP_ERR_VALUE, "%s: the sorted sequence is 0-d", op);
    bool fits = seq->ndim == 1 || seq->ndim == values->ndim;
    for (int d = 0; fits && seq->ndim > 1 && d < seq->ndim - 1; d++) fits = seq->shape[d] == values->shape[d];
    if (!fits)
        return tpi_rule_fail(TP_ERR_VALUE,
                             "%s: values of shape %s for sequences of shape %s: all dimensions but the last "
                             "must agree",
                             op, tpi_str(values), tpi_str(seq));
    if (!same_dtype(op, &seq, &values)) return NULL;
    if (seq->ndim == 1) values = x_reshape(values, &values->numel, 1);
    T r = x_search_lines(seq, values, right);
    return seq->ndim == 1 ? x_reshape_to(r, shown->ndim, shown->shape) : r;
}

int c_searchsorted(tp_call *c)
{
    T seq = arg_t(&c->args[0]), values = arg_t(&c->args[1]), sorter = arg_t(&c->args[5]);
    bool right = arg_b(&c->args[3]);
    if (!arg_none(&c->args[4])) {
        const char *side = c->args[4].v.str;
        if (strcmp(side, "left") != 0 && strcmp(side, "right") != 0)
            return tpi_fail(TP_ERR_VALUE, "searchsorted: side '%s' is neither 'left' nor 'right'", side);
        if (right && strcmp(side, "left") == 0)
            return tpi_fail(TP_ERR_VALUE, "searchsorted: side is 'left', and right is set");
        right = strcmp(side, "right") == 0;
    }
    tpi_scope s;
    tpi_scope_open(&s);
    if (sorter) {
        bool fits = sorter->ndim == seq->ndim && seq->ndim > 0;
        for (int d = 0; fits && d < seq->ndim; d++) fits = sorter->shape[d] == seq->shape[d];
        seq = fits ? x_gather(seq, seq->ndim - 1, sorter)
                   : tpi_rule_fail(TP_ERR_VALUE, "searchsorted: sorter of shape %s for sequences of shape %s",
                                   tpi_str(sorter), tpi_str(seq));
    }
    T r = seq ? searched("searchsorted", seq, values, right) : NULL;
    return scope_result(&s, c, r && arg_b(&c->args[2]) ? x_to_dtype(r, TP_INT32) : r);
}

int c_bucketize(tp_call *c)
{
    T values = arg_t(&c->args[0]), seq = arg_t(&c->args[1]);
    if (seq->ndim != 1) return tpi_fail(TP_ERR_VALUE, "bucketize: boundaries must be 1-d, got shape %s", tpi_str(seq));
    tpi_scope s;
    tpi_scope_open(&s);
    T r = searched("bucketize", seq, values, arg_b(&c->args[3]));
    return scope_result(&s, c, r && arg_b(&c->args[2]) ? x_to_dtype(r, TP_INT32) : r);
}

int c_isin(tp_call *c)
{
    T x = arg_t(&c->args[0]), among = arg_t(&c->args[1]), both[2] = {NULL, NULL}, r = NULL;
    tpi_scope s;
    tpi_scope_open(&s);
    if (same_dtype("isin", &x, &among)) {
        if (among->numel == 0) r = tpi_own(tp_zeros(x->shape, x->ndim, TP_BOOL));
        else {
            T flat = x_reshape(among, &among->numel, 1);
            x_sort_dim(flat, 0, false, both);
            tp_scalar last = {.tag = TP_SCALAR_INT, .v.i = among->numel - 1};
            T at = x_clamp(both[0] ? searched("isin", both[0], x, false) : NULL, NULL, &last);
            r = x_eq(x_take(both[0], at), x);
        }
        if (arg_b(&c->args[3])) r = x_logical_not(r);
    }
    return scope_result(&s, c, r);
}

/* ---- counts ---- */

int c_bincount(tp_call *c)
{
    T x = arg_t(&c->args[0]), weights = arg_t(&c->args[1]);
    int64_t size = arg_i(&c->args[2]);
    if (x->ndim != 1 || (weights && (weights->ndim != 1 || weights->numel != x->numel)))
        return tpi_fail(TP_ERR_VALUE, "bincount: 1-d tensors of one size are needed, got shapes %s and %s", tpi_str(x),
                        weights ? tpi_str(weights) : "none");
    if (!tpi_is_int(x->dtype))
        return tpi_fail(TP_ERR_TYPE, "bincount: integers are needed, got %s", tp_dtype_name(x->dtype));
    if (size < 0) return tpi_fail(TP_ERR_VALUE, "bincount: minlength must not be negative, got %lld", (long long)size);
    bool mapped = is_mapped(x);
    if (mapped && size == 0)
        return tpi_fail(TP_ERR_RUNTIME,
                        "bincount: under vmap the size depends on the values: give minlength, the number "
                        "of counts");
    tpi_scope s;
    tpi_scope_open(&s);
    if (!mapped && x->numel) {
        const int64_t first = 0;
        tp_scalar most, least;
        T high = x_amax(x, &first, 1, false), low = x_amin(x, &first, 1, false);
        if (high && low && !tp_item(high, &most) && !tp_item(low, &least)) {
            if (least.v.i < 0)
                tpi_rule_fail(TP_ERR_INDEX, "bincount: numbers must not be negative, got %lld", (long long)least.v.i);
            else if (most.v.i >= size) size = most.v.i + 1;
        } else tpi_own(NULL);
    }
    int dtype = weights ? tpi_is_differentiable(weights->dtype) ? weights->dtype : TP_FLOAT64 : TP_INT64;
    T r = NULL;
    if (!tpi_bad()) {
        T ones = weights ? x_to_dtype(weights, dtype) : tpi_own(tp_ones(x->shape, 1, dtype));
        r = x_scatter_add(tpi_own(tp_zeros(&size, 1, dtype)), 0, x_to_dtype(x, TP_INT64), ones);
    }
    return scope_result(&s, c, r);
}

/* Sums of weights (NULL: counts) in the bins 0 ... n - 1; other bins do not count. */
static T binned(T bin, T weights, int64_t n, int dtype)
{
    if (!bin) return NULL;
    int64_t size = n + 1;
    T good = x_logical_and(x_ge(bin, x_iscalar(0, bin)), x_lt(bin, x_iscalar(n, bin)));
    bin = x_where(good, bin, x_iscalar(n, bin));
    if (!weights) weights = tpi_own(tp_ones(bin->shape, bin->ndim, dtype));
    T sums = x_scatter_add(tpi_own(tp_zeros(&size, 1, dtype)), 0, x_reshape(bin, &bin->numel, 1),
                           x_reshape(weights, &bin->numel, 1));
    return x_slice(sums, 0, 0, n, 1);
}

int c_histc(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    int64_t bins = arg_i(&c->args[1]);
    const tp_scalar *ends[2] = {&c->args[2].v.s, &c->args[3].v.s};
    double low = ends[0]->tag == TP_SCALAR_FLOAT ? ends[0]->v.f : (double)ends[0]->v.i;
    double high = ends[1]->tag == TP_SCALAR_FLOAT ? ends[1]->v.f : (double)ends[1]->v.i;
    if (bins < 1 || bins > (int64_t)1 << 40)
        return tpi_fail(TP_ERR_VALUE, "histc: bins must be positive, got %lld", (long long)bins);
    if (!(low <= high) || !isfinite(low) || !isfinite(high))
        return tpi_fail(TP_ERR_VALUE, "histc: no range from %g to %g", low, high);
    if (x->dtype == TP_BOOL || tpi_is_complex(x->dtype))
        return tpi_fail(TP_ERR_TYPE, "histc: not defined for %s", tp_dtype_name(x->dtype));
    tpi_scope s;
    tpi_scope_open(&s);
    T v = x_to_dtype(x, TP_FLOAT64), from, to;
    if (low < high || (x && x->numel == 0)) {
        from = v ? x_scalar(low, v) : NULL;
        to = v ? x_scalar(high > low ? high : low + 1, v) : NULL;
    } else {
        int64_t all[TPI_DIMS_CAP];
        for (int d = 0; d < x->ndim; d++) all[d] = d;
        from = x_amin(v, all, x->ndim, false);
        to = x_amax(v, all, x->ndim, false);
        if (!tpi_bad() && !is_mapped(from) && !is_mapped(to)) {
            tp_scalar a, b;
            if (!tp_item(from, &a) && !tp_item(to, &b) && !isfinite(b.v.f - a.v.f))
                tpi_rule_fail(TP_ERR_VALUE, "histc: no range from %g to %g: give min and max", a.v.f, b.v.f);
        }
        T flat = x_eq(from, to), one = from ? x_scalar(1, from) : NULL, none = from ? x_scalar(0, from) : NULL;
        T more = x_where(flat, one, none);
        from = minus(from, more);
        to = plus(to, more);
    }
    T place = x_mul_f(x_div(minus(v, from), minus(to, from)), (double)bins);
    T bin = place ? x_where(x_eq(v, to), x_scalar((double)(bins - 1), place), x_floor(place)) : NULL;
    bin = bin ? x_where(x_isfinite(bin), bin, x_scalar(-1, bin)) : NULL;
    tp_scalar least = {.tag = TP_SCALAR_INT, .v.i = -1}, most = {.tag = TP_SCALAR_INT, .v.i = bins};
    return scope_result(&s, c, binned(x_to_dtype(x_clamp(bin, &least, &most), TP_INT64), NULL, bins, x->dtype));
}

static int histogram(tp_call *c, tpi_scope *s, T edges, T weight, bool density)
{
    T x = arg_t(&c->args[0]), hist = NULL;
    bool fits = !weight || weight->ndim == x->ndim;
    for (int d = 0; weight && fits && d < x->ndim; d++) fits = weight->shape[d] == x->shape[d];
    if (!fits)
        tpi_rule_fail(TP_ERR_VALUE, "histogram: weight of shape %s for input of shape %s", tpi_str(weight), tpi_str(x));
    if (edges && !tpi_bad()) {
        int64_t n = edges->shape[0] - 1;
        T v = x, bin = searched("histogram", edges, v, true);
        T last = x_select(edges, 0, n);
        bin = bin ? x_where(x_eq(v, last), x_iscalar(n, bin), bin) : NULL;
        bin = bin ? x_where(x_isnan(v), x_iscalar(0, bin), bin) : NULL;
        hist = binned(bin ? minus(bin, x_iscalar(1, bin)) : NULL, weight ? x_to_dtype(weight, x->dtype) : NULL, n,
                      x->dtype);
        if (density && hist) {
            const int64_t first = 0;
            T width = minus(x_slice(edges, 0, 1, n + 1, 1), x_slice(edges, 0, 0, n, 1));
            hist = x_div(x_div(hist, x_sum_dims(hist, &first, 1, false)), width);
        }
    }
    return scope_results(s, c, hist, edges);
}

static int need_floats(const char *op, const tp_tensor *x)
{
    if (tpi_is_float(x->dtype)) return 0;
    return tpi_fail(TP_ERR_TYPE, "%s: a floating dtype is needed, got %s", op, tp_dtype_name(x->dtype));
}

int c_histogram(tp_call *c)
{
    T x = arg_t(&c->args[0]), edges = NULL;
    int64_t bins = arg_i(&c->args[1]);
    const tp_val *range = &c->args[2];
    bool given = !arg_none(range) && range->n >= 0;
    int rc = need_floats("histogram", x);
    if (rc) return rc;
    if (bins < 1 || bins > (int64_t)1 << 40)
        return tpi_fail(TP_ERR_VALUE, "histogram: bins must be positive, got %lld", (long long)bins);
    if (given && (range->n != 2 || !(range->v.fs[0] <= range->v.fs[1]) || !isfinite(range->v.fs[1] - range->v.fs[0])))
        return tpi_fail(TP_ERR_VALUE, "histogram: range must be two finite numbers in ascending order");
    tpi_scope s;
    tpi_scope_open(&s);
    T v = x_to_dtype(x, TP_FLOAT64), low, high;
    if (given || x->numel == 0) {
        low = v ? x_scalar(given ? range->v.fs[0] : 0, v) : NULL;
        high = v ? x_scalar(given ? range->v.fs[1] : 1, v) : NULL;
    } else {
        int64_t all[TPI_DIMS_CAP];
        for (int d = 0; d < x->ndim; d++) all[d] = d;
        low = x_amin(v, all, x->ndim, false);
        high = x_amax(v, all, x->ndim, false);
    }
    /* An interval of no width gets one. */
    T more = x_where(x_eq(low, high), x_scalar(0.5, low), x_scalar(0, low));
    low = minus(low, more);
    edges = x_to_dtype(x_linspace_tensors(low, plus(high, more), bins + 1, TP_FLOAT64), x->dtype);
    return histogram(c, &s, edges, arg_t(&c->args[3]), arg_b(&c->args[4]));
}

int c_histogram_edges(tp_call *c)
{
    T x = arg_t(&c->args[0]), edges = arg_t(&c->args[1]);
    int rc = need_floats("histogram", x);
    if (rc) return rc;
    if (edges->ndim != 1 || edges->shape[0] < 2)
        return tpi_fail(TP_ERR_VALUE,
                        "histogram: bins must be a number or a 1-d tensor of at least two edges, got shape %s",
                        tpi_str(edges));
    tpi_scope s;
    tpi_scope_open(&s);
    return histogram(c, &s, x_to_dtype(edges, x->dtype), arg_t(&c->args[2]), arg_b(&c->args[3]));
}

/* ---- quantiles ---- */

enum { LINEAR, LOWER, HIGHER, MIDPOINT, NEAREST };

static int interpolation_of(const char *name)
{
    static const char *const names[] = {"linear", "lower", "higher", "midpoint", "nearest"};
    return tpi_word(name, names, 5);
}

/* What stands at positions of sorted lines, or between two of their places. */
static T interpolated(T sorted, int d, T position, int how)
{
    T above = x_ceil(position);
    T below = how == HIGHER ? above : how == NEAREST ? x_round(position, 0) : x_floor(position);
    T value = x_gather(sorted, d, x_to_dtype(below, TP_INT64));
    if (!value || (how != LINEAR && how != MIDPOINT)) return value;
    T next = x_gather(sorted, d, x_to_dtype(above, TP_INT64));
    T part = how == LINEAR ? x_to_dtype(minus(position, below), sorted->dtype) : x_scalar(0.5, value);
    /* Equal neighbours may be infinite, and next to -inf there is nothing finite. */
    T low = x_logical_and(x_isinf(value), x_isfinite(next));
    T gap = x_where(x_logical_or(x_eq(value, next), low), x_scalar(0, value), minus(next, value));
    return x_where(x_eq(above, below), value, plus(value, x_mul(gap, part)));
}

static int quantile(tp_call *c, const char *op, bool number, bool skip)
{
    T x = arg_t(&c->args[0]), both[2] = {NULL, NULL};
    const char *name = c->args[4].v.str;
    int how = interpolation_of(name), d = 0, rc = need_floats(op, x);
    bool flat = arg_none(&c->args[2]), keep = arg_b(&c->args[3]);
    if (rc) return rc;
    if (how < 0)
        return tpi_fail(TP_ERR_VALUE, "%s: interpolation '%s' is none of linear, lower, higher, midpoint, nearest", op,
                        name);
    if (number && !(arg_f(&c->args[1]) >= 0 && arg_f(&c->args[1]) <= 1))
        return tpi_fail(TP_ERR_VALUE, "%s: q must be in [0, 1], got %g", op, arg_f(&c->args[1]));
    T given = number ? NULL : arg_t(&c->args[1]);
    if (given && given->ndim > 1)
        return tpi_fail(TP_ERR_VALUE, "%s: q must be 0-d or 1-d, got shape %s", op, tpi_str(given));
    if (!flat && (rc = tpi_wrap_dim(op, arg_i(&c->args[2]), x->ndim, &d))) return rc;
    if ((flat ? x->numel : x->ndim ? x->shape[d] : 1) == 0)
        return tpi_fail(TP_ERR_VALUE, "%s: no elements, self has shape %s", op, tpi_str(x));
    tpi_scope s;
    tpi_scope_open(&s);
    T v = flat || x->ndim == 0 ? x_reshape(x, &x->numel, 1) : x_movedim1(x, d, x->ndim - 1);
    T q = number ? x_scalar(arg_f(&c->args[1]), x) : x_to_dtype(given, x->dtype), r = NULL;
    bool first = given && given->ndim;
    int last = v ? v->ndim - 1 : 0;
    const int64_t end = last;
    const tp_scalar zero = {.tag = TP_SCALAR_INT};
    int64_t many = first ? given->shape[0] : 1, shape[TPI_DIMS_CAP];
    x_sort_dim(v, last, false, both);
    if (both[0] && q) {
        double n = (double)v->shape[last];
        T nans = x_isnan(v), position = x_clamp(x_to_dtype(x_reshape(q, &many, 1), TP_FLOAT64), &zero, &tpi_one);
        tpi_copy_dims(shape, v->shape, last);
        shape[last] = many;
        if (skip) {
            T bad = x_to_dtype(x_sum_dims(x_to_dtype(nans, TP_INT64), &end, 1, true), TP_FLOAT64);
            position = x_mul(position, x_clamp_min(x_rsub_f(bad, n - 1), &zero));
        } else { /* NaN is the last in order */
            position = x_expand_to(x_mul_f(position, n - 1), last + 1, shape);
            position = x_where(x_any_dims(nans, &end, 1, true), x_scalar(n - 1, position), position);
        }
        /* Places are those that the data's own precision tells apart: 0.96 of 50 is 48. */
        if (x && x->dtype == TP_FLOAT32) position = x_to_dtype(x_to_dtype(position, TP_FLOAT32), TP_FLOAT64);
        r = interpolated(both[0], last, position, how);
        r = first ? x_movedim1(r, last, 0) : x_select(r, last, 0);
    }
    if (keep && r) {
        int at = 0;
        if (first) shape[at++] = many;
        for (int i = 0; i < x->ndim; i++) shape[at++] = flat || i == d ? 1 : x->shape[i];
        r = x_reshape_to(r, at, shape);
    }
    return scope_result(&s, c, r);
}

int c_quantile(tp_call *c) { return quantile(c, "quantile", false, false); }
int c_quantile_number(tp_call *c) { return quantile(c, "quantile", true, false); }
int c_nanquantile(tp_call *c) { return quantile(c, "nanquantile", false, true); }
int c_nanquantile_number(tp_call *c) { return quantile(c, "nanquantile", true, true); }

/* The element of sorted lines at a position for each line, and where it was. */
static void pick(T sorted, T indices, T at, int d, bool keep, T *out)
{
    out[0] = x_gather(sorted, d, at);
    out[1] = x_gather(indices, d, at);
    for (int k = 0; k < 2 && !keep; k++) out[k] = x_select(out[k], d, 0);
}

static void nanmedian(T x, int d, bool keep, T *out)
{
    T both[2] = {NULL, NULL};
    const int64_t dim = d;
    x_sort_dim(x, d, false, both);
    if (!both[0]) return;
    tp_scalar two = {.tag = TP_SCALAR_INT, .v.i = 2}, zero = {.tag = TP_SCALAR_INT};
    T good = x_sum_dims(x_to_dtype(x_logical_not(x_isnan(x)), TP_INT64), &dim, 1, true);
    T at = good ? x_floor_divide(x_sub_i(good, 1, &tpi_one), tpi_own(tp_weak_scalar(&two))) : NULL;
    pick(both[0], both[1], x_clamp_min(at, &zero), d, keep, out);
}

int c_nanmedian_dim(tp_call *c)
{
    T x = arg_t(&c->args[0]), out[2] = {NULL, NULL};
    int d, rc = tpi_wrap_dim("nanmedian", arg_i(&c->args[1]), x->ndim, &d);
    if (rc) return rc;
    if (x->ndim && x->shape[d] == 0)
        return tpi_fail(TP_ERR_VALUE, "nanmedian: dimension %d of shape %s has no elements", d, tpi_str(x));
    if ((rc = tpi_need_real("nanmedian", x))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    bool scalar = x->ndim == 0;
    nanmedian(scalar ? x_reshape(x, &x->numel, 1) : x, d, arg_b(&c->args[2]) && !scalar, out);
    return scope_results(&s, c, out[0], out[1]);
}

int c_nanmedian(tp_call *c)
{
    T x = arg_t(&c->args[0]), out[2] = {NULL, NULL};
    int rc = tpi_need_real("nanmedian", x);
    if (rc) return rc;
    if (x->numel == 0 && !tpi_is_float(x->dtype))
        return tpi_fail(TP_ERR_VALUE, "nanmedian: no elements, self has shape %s", tpi_str(x));
    tpi_scope s;
    tpi_scope_open(&s);
    if (x->numel) nanmedian(x_reshape(x, &x->numel, 1), 0, false, out);
    else out[0] = x_scalar(NAN, x);
    return scope_result(&s, c, out[0]);
}

int c_mode(tp_call *c)
{
    T x = arg_t(&c->args[0]), both[2] = {NULL, NULL}, out[2] = {NULL, NULL}, starts[2] = {NULL, NULL};
    int d, rc = tpi_wrap_dim("mode", arg_i(&c->args[1]), x->ndim, &d);
    if (rc) return rc;
    if (x->ndim && x->shape[d] == 0)
        return tpi_fail(TP_ERR_VALUE, "mode: dimension %d of shape %s has no elements", d, tpi_str(x));
    if ((rc = tpi_need_real("mode", x))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    bool scalar = x->ndim == 0, keep = arg_b(&c->args[2]) && !scalar;
    T v = scalar ? x_reshape(x, &x->numel, 1) : x;
    x_sort_dim(v, d, false, both);
    if (both[0]) {
        /* Lengths of runs so far: the first place with the longest ends the first of the longest runs. */
        int64_t n = v->shape[d], shape[TPI_DIMS_CAP];
        tp_scalar end = {.tag = TP_SCALAR_INT, .v.i = n};
        T place = tpi_along(x_arange(&end, TP_INT64), v->ndim, d);
        T change = x_ne(x_slice(both[0], d, 1, n, 1), x_slice(both[0], d, 0, n - 1, 1));
        tpi_copy_dims(shape, v->shape, v->ndim);
        shape[d] = 1;
        T parts[2] = {tpi_own(tp_ones(shape, v->ndim, TP_BOOL)), change};
        T fresh = change ? x_cat(parts, 2, d) : NULL;
        T from = fresh && place ? x_where(fresh, place, x_iscalar(0, place)) : NULL;
        if (from) x_cummax(from, d, starts);
        T longest = starts[0] ? x_argmax(minus(place, starts[0]), d, true) : NULL;
        if (longest) pick(both[0], both[1], longest, d, keep, out);
        if (scalar && out[0]) {
            out[0] = x_reshape_to(out[0], 0, NULL);
            out[1] = x_reshape_to(out[1], 0, NULL);
        }
    }
    return scope_results(&s, c, out[0], out[1]);
}

/* ---- reductions into places ---- */

enum { PROD, AMIN, AMAX, SUM, MEAN };

static int reduction_of(const char *op, const char *name, bool sums)
{
    static const char *const names[] = {"prod", "amin", "amax", "sum", "mean"};
    int how = tpi_word(name, names, 5);
    if (how >= 0 && (sums || how != SUM)) return how;
    tpi_fail(TP_ERR_VALUE, "%s: reduce '%s' is none of %sprod, mean, amin, amax", op, name, sums ? "sum, " : "");
    return -1;
}

static T zeros(T like) { return x_full_like(like, 0); }
static T ones(T like) { return x_full_like(like, 1); }

/* index of the shape of the part of src that it covers */
static T reduced(T self, int64_t d, T index, T src, int how, bool include)
{
    if (!self || !index || !src) return NULL;
    if (how <= AMAX) {
        bool half = self->dtype == TP_FLOAT16 || self->dtype == TP_BFLOAT16;
        T x = half ? x_to_dtype(self, TP_FLOAT32) : self, v = half ? x_to_dtype(src, TP_FLOAT32) : src;
        T r = x_scatter_fold(x, d, index, v, how, include);
        return half ? x_to_dtype(r, self->dtype) : r;
    }
    T base = include ? self : x_scatter(self, d, index, zeros(src)), r = x_scatter_add(base, d, index, src);
    if (how == SUM) return r;
    T start = include ? ones(self) : zeros(self), one = start ? x_iscalar(1, start) : NULL;
    T count = x_scatter_add(start, d, index, ones(src));
    count = count ? x_maximum(count, one) : NULL;
    return tpi_is_differentiable(self->dtype) ? x_div(r, count) : x_floor_divide(r, count);
}

static int scatter_reduced(tpi_scope *s, tp_call *c, T self, int64_t d, T index, T src, int how)
{
    bool include = arg_b(&c->args[5]);
    T r = reduced(self, d, index, src, how, include);
    if (arg_t(&c->args[0])->ndim == 0) r = x_reshape_to(r, 0, NULL);
    return scope_result(s, c, r);
}

static T cast_source(const char *op, T src, T self)
{
    if (src->dtype == self->dtype) return src;
    return tpi_rule_fail(TP_ERR_TYPE, "%s: source of dtype %s for self of dtype %s", op, tp_dtype_name(src->dtype),
                         tp_dtype_name(self->dtype));
}

int c_scatter_reduce(tp_call *c)
{
    T self = arg_t(&c->args[0]), index = arg_t(&c->args[2]), src = arg_t(&c->args[3]);
    int d, how = reduction_of("scatter_reduce", c->args[4].v.str, true);
    if (how < 0) return tp_error_code();
    int rc = tpi_wrap_dim("scatter_reduce", arg_i(&c->args[1]), self->ndim, &d);
    if (rc) return rc;
    if (!tpi_is_int(index->dtype))
        return tpi_fail(TP_ERR_TYPE, "scatter_reduce: an index of dtype %s, integers are needed",
                        tp_dtype_name(index->dtype));
    bool fits = (self->ndim ? self->ndim : 1) == (index->ndim ? index->ndim : 1) &&
                (src->ndim ? src->ndim : 1) == (index->ndim ? index->ndim : 1);
    for (int i = 0; fits && i < index->ndim; i++) {
        int64_t room = self->ndim ? self->shape[i] : 1, given = src->ndim ? src->shape[i] : 1;
        fits = (i == d || index->shape[i] <= room) && index->shape[i] <= given;
    }
    if (!fits)
        return tpi_fail(TP_ERR_VALUE,
                        "scatter_reduce: index of shape %s and src of shape %s do not fit self of shape %s "
                        "along dimension %d",
                        tpi_str(index), tpi_str(src), tpi_str(self), d);
    tpi_scope s;
    tpi_scope_open(&s);
    T x = tpi_lift(self), at = tpi_lift(index), v = tpi_lift(src);
    v = v ? cast_source("scatter_reduce", v, self) : NULL;
    for (int i = 0; v && at && i < at->ndim; i++)
        if (v->shape[i] != at->shape[i]) v = x_slice(v, i, 0, at->shape[i], 1);
    return scatter_reduced(&s, c, x, d, x_to_dtype(at, TP_INT64), v, how);
}

static int scattered_by(tp_call *c, T src, tpi_scope *s)
{
    const char *by = c->args[4].v.str;
    bool add = strcmp(by, "add") == 0;
    T r = NULL;
    if (!add && strcmp(by, "multiply") != 0)
        tpi_rule_fail(TP_ERR_VALUE, "scatter: reduce '%s' is neither 'add' nor 'multiply'", by);
    else if (src)
        r = x_scatter_reduce(arg_t(&c->args[0]), arg_i(&c->args[1]), arg_t(&c->args[2]), src, add ? "sum" : "prod",
                             true);
    return scope_result(s, c, r);
}

int c_scatter_by(tp_call *c)
{
    tpi_scope s;
    tpi_scope_open(&s);
    return scattered_by(c, arg_t(&c->args[3]), &s);
}

int c_scatter_value_by(tp_call *c)
{
    T self = arg_t(&c->args[0]), index = arg_t(&c->args[2]);
    tpi_scope s;
    tpi_scope_open(&s);
    T value = x_to_dtype(tpi_own(tp_weak_scalar(&c->args[3].v.s)), self->dtype);
    return scattered_by(c, x_expand_to(value, index->ndim, index->shape), &s);
}

int c_index_reduce(tp_call *c)
{
    T self = arg_t(&c->args[0]), index = arg_t(&c->args[2]), src = arg_t(&c->args[3]);
    int d, how = reduction_of("index_reduce", c->args[4].v.str, false);
    if (how < 0) return tp_error_code();
    int rc = tpi_wrap_dim("index_reduce", arg_i(&c->args[1]), self->ndim, &d);
    if (rc) return rc;
    if (!tpi_is_int(index->dtype))
        return tpi_fail(TP_ERR_TYPE, "index_reduce: an index of dtype %s, integers are needed",
                        tp_dtype_name(index->dtype));
    bool fits = index->ndim <= 1 && src->ndim == self->ndim && (!src->ndim || src->shape[d] == index->numel);
    for (int i = 0; fits && i < self->ndim; i++) fits = i == d || src->shape[i] == self->shape[i];
    if (!fits)
        return tpi_fail(TP_ERR_VALUE,
                        "index_reduce: index of shape %s and source of shape %s do not fit self of shape %s "
                        "along dimension %d",
                        tpi_str(index), tpi_str(src), tpi_str(self), d);
    tpi_scope s;
    tpi_scope_open(&s);
    T x = tpi_lift(self), v = tpi_lift(src);
    v = v ? cast_source("index_reduce", v, self) : NULL;
    T at = NULL;
    if (v) {
        T row = x_reshape_to(x_to_dtype(index, TP_INT64), 1, &index->numel);
        at = x_expand_to(tpi_along(row, v->ndim, d), v->ndim, v->shape);
    }
    return scatter_reduced(&s, c, x, d, at, v, how);
}

/* Of the elements that are multiplied into one place: the product of those that are not zero, how many are, and the
 * sums of those and of their squares, which are zero but have derivatives. */
typedef struct group {
    T product, count, sum, squares;
} group;

static T equals(T count, int64_t n) { return x_eq(count, x_iscalar(n, count)); }

/* For each element the product of the others: exact to its second derivative, whatever is zero. Of z zeros the product
 * is an elementary symmetric polynomial, here in power sums; with four it has no third derivative. */
static T others(const group *g, T element, T divisor, T zero)
{
    if (tpi_bad()) return NULL;
    T nothing = x_iscalar(0, element), rest = minus(g->sum, element);
    T pairs = x_mul_f(minus(x_mul(g->sum, g->sum), g->squares), 0.5);
    T of_others = x_where(
        equals(g->count, 1), g->product,
        x_where(equals(g->count, 2), x_mul(g->product, rest),
                x_where(equals(g->count, 3), x_mul(g->product, minus(pairs, x_mul(element, rest))), nothing)));
    T zeros = x_where(equals(g->count, 1), g->sum, x_where(equals(g->count, 2), pairs, nothing));
    T quotient = x_div(g->product, divisor);
    return x_where(zero, of_others, x_where(equals(g->count, 0), quotient, x_mul(quotient, zeros)));
}

/* How much the result changes with self, and with src: w[0] of self's shape, w[1] of src's. */
static void fold_weights(const tp_val *a, T result, T *w)
{
    T self = arg_t(&a[0]), index = arg_t(&a[2]), src = arg_t(&a[3]);
    int64_t d = arg_i(&a[1]);
    int how = (int)arg_i(&a[4]);
    bool include = arg_b(&a[5]);
    T none = zeros(self), touched = include ? NULL : x_to_dtype(x_scatter(none, d, index, ones(src)), TP_BOOL);
    if (how == PROD) {
        T one = x_scalar(1, self), nothing = x_scalar(0, self);
        T zero_self = x_eq(self, nothing), zero_src = x_eq(src, nothing);
        T x = x_where(zero_self, one, self), v = x_where(zero_src, one, src);
        T start = x_to_dtype(zero_self, self->dtype), base = x, zeros_self = x_where(zero_self, self, nothing);
        T zeros_src = x_where(zero_src, src, nothing);
        if (touched) {
            start = x_where(touched, nothing, start);
            base = x_where(touched, one, base);
            zeros_self = x_where(touched, nothing, zeros_self);
        }
        group g = {.product = x_scatter_fold(base, d, index, v, PROD, true),
                   .count = x_scatter_add(start, d, index, x_to_dtype(zero_src, self->dtype)),
                   .sum = x_scatter_add(zeros_self, d, index, zeros_src),
                   .squares = x_scatter_add(x_mul(zeros_self, zeros_self), d, index, x_mul(zeros_src, zeros_src))};
        w[0] = others(&g, self, x, zero_self);
        if (tpi_bad()) return;
        group there = {x_gather(g.product, d, index), x_gather(g.count, d, index), x_gather(g.sum, d, index),
                       x_gather(g.squares, d, index)};
        w[1] = others(&there, src, v, zero_src);
        if (touched) w[0] = x_where(touched, nothing, w[0]);
        return;
    }
    T nothing = x_scalar(0, self);
    T hit = x_to_dtype(x_eq(self, result), self->dtype);
    if (touched) hit = x_where(touched, nothing, hit);
    T src_hit = x_to_dtype(x_eq(src, x_gather(result, d, index)), self->dtype);
    T count = x_maximum(x_scatter_add(hit, d, index, src_hit), x_scalar(1, self));
    w[0] = x_div(hit, count);
    w[1] = x_div(src_hit, x_gather(count, d, index));
}

int scatter_fold__vjp(tp_vjp_ctx *c)
{
    T w[2] = {NULL, NULL}, g = c->grads[0];
    fold_weights(c->args, c->results[0], w);
    if (c->need[0]) c->out[0] = x_mul(g, w[0]);
    if (c->need[3]) c->out[3] = x_mul(x_gather(g, arg_i(&c->args[1]), arg_t(&c->args[2])), w[1]);
    return 0;
}

int scatter_fold__jvp(tp_jvp_ctx *c)
{
    T w[2] = {NULL, NULL}, s = c->tangents[0], v = c->tangents[3];
    if (!s && !v) return 0;
    fold_weights(c->args, c->results[0], w);
    T r = s ? x_mul(s, w[0]) : zeros(arg_t(&c->args[0]));
    c->out[0] = v ? x_scatter_add(r, arg_i(&c->args[1]), arg_t(&c->args[2]), x_mul(v, w[1])) : r;
    return 0;
}

int scatter_fold__batch(tp_batch_ctx *c)
{
    const tp_val *a = c->args;
    T x = tpi_batch_full(c, 0), index = tpi_batch_full(c, 2), src = tpi_batch_full(c, 3);
    tpi_hidden_dims++;
    T r = x_scatter_fold(x, arg_i(&a[1]) + 1, index, src, arg_i(&a[4]), arg_b(&a[5]));
    tpi_hidden_dims--;
    return set_result(c, r, 0);
}
