/* Pooling: rules of max_pool_nd, and the public forms. */
#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

enum { MAX_SPATIAL = 3 };

/* The last nd dimensions as one. */
static T planes(T t, int nd)
{
    int64_t shape[TPI_DIMS_CAP];
    if (!t || nd == 1) return t;
    int lead = t->ndim - nd;
    tpi_copy_dims(shape, t->shape, lead);
    shape[lead] = 1;
    for (int d = lead; d < t->ndim; d++) shape[lead] *= t->shape[d];
    return x_reshape_to(t, lead + 1, shape);
}

int max_pool_nd__vjp(tp_vjp_ctx *c)
{
    T x = arg_t(&c->args[0]), g = c->grads[0];
    int nd = c->args[1].n, lead = x->ndim - nd;
    int64_t plane = 1;
    if (!g) return 0;
    for (int d = lead; d < x->ndim; d++) plane *= x->shape[d];
    c->out[0] = x_reshape_to(x_scatter_along(planes(g, nd), lead, planes(c->results[1], nd), plane), x->ndim, x->shape);
    return 0;
}

int max_pool_nd__jvp(tp_jvp_ctx *c)
{
    T x = arg_t(&c->args[0]), y = c->results[0];
    int nd = c->args[1].n, lead = x->ndim - nd;
    if (c->tangents[0])
        c->out[0] = x_reshape_to(x_gather_along(planes(c->tangents[0], nd), lead, planes(c->results[1], nd)), y->ndim,
                                 y->shape);
    return 0;
}

/* ---- public forms ---- */

typedef struct window {
    const char *op;
    int nd;
    int64_t taps[MAX_SPATIAL], stride[MAX_SPATIAL], padding[MAX_SPATIAL], dilation[MAX_SPATIAL], size[MAX_SPATIAL];
} window;

/* kernel, stride (None: kernel), padding; sizes of the result. A window begins inside the input or its left border. */
static int read_window(window *w, const tp_tensor *x, const tp_val *kernel, const tp_val *stride, const tp_val *padding,
                       const tp_val *dilation, bool ceil_mode)
{
    static const int64_t one = 1;
    tp_val unit = val_ints(&one, 1);
    int rc, nd = w->nd;
    if (x->ndim != nd + 1 && x->ndim != nd + 2)
        return tpi_fail(TP_ERR_RUNTIME, "%s: input must have %d or %d dimensions, got shape %s", w->op, nd + 1, nd + 2,
                        tpi_str(x));
    if ((rc = tpi_read_sizes(w->op, "kernel_size", kernel, nd, 1, w->taps)) ||
        (rc = tpi_read_sizes(w->op, "stride", arg_none(stride) || !stride->n ? kernel : stride, nd, 1, w->stride)) ||
        (rc = tpi_read_sizes(w->op, "padding", padding, nd, 0, w->padding)) ||
        (rc = tpi_read_sizes(w->op, "dilation", dilation ? dilation : &unit, nd, 1, w->dilation)))
        return rc;
    for (int d = 0; d < nd; d++) {
        int64_t in = x->shape[x->ndim - nd + d], reach = w->dilation[d] * (w->taps[d] - 1) + 1;
        int64_t room = in + 2 * w->padding[d] - reach;
        if (2 * w->padding[d] > reach)
            return tpi_fail(TP_ERR_RUNTIME, "%s: padding %lld is more than half of the window of %lld", w->op,
                            (long long)w->padding[d], (long long)reach);
        int64_t more = room < 0 ? -1 : (room + (ceil_mode ? w->stride[d] - 1 : 0)) / w->stride[d];
        if (room < 0 && ceil_mode && room + w->stride[d] - 1 >= 0) more = 0;
        w->size[d] = more + 1;
        if (ceil_mode && w->size[d] > 1 && (w->size[d] - 1) * w->stride[d] >= in + w->padding[d]) w->size[d]--;
        if (w->size[d] < 1 || in == 0)
            return tpi_fail(TP_ERR_RUNTIME, "%s: the window of %lld is larger than the padded input of shape %s", w->op,
                            (long long)reach, tpi_str(x));
    }
    return 0;
}

/* input, kernel_size, stride, padding, dilation, ceil_mode */
static int max_pool(tp_call *c, const char *op, int nd, bool indices)
{
    const tp_val *a = c->args;
    T x = arg_t(&a[0]);
    window w = {.op = op, .nd = nd};
    int rc = read_window(&w, x, &a[1], &a[2], &a[3], &a[4], arg_b(&a[5]));
    if (rc) return rc;
    if (tpi_is_complex(x->dtype) || x->dtype == TP_BOOL)
        return tpi_fail(TP_ERR_TYPE, "%s: not defined for dtype %s", op, tp_dtype_name(x->dtype));
    tp_val args[] = {a[0],
                     val_ints(w.size, nd),
                     val_ints(w.taps, nd),
                     val_ints(w.stride, nd),
                     val_ints(w.padding, nd),
                     val_ints(w.dilation, nd)};
    tp_tensor *out[2];
    rc = tpi_call(&tpi_op_max_pool_nd, args, out);
    if (rc) return rc;
    c->out[0] = out[0];
    if (indices) c->out[1] = out[1];
    else tp_release(out[1]);
    return 0;
}

int c_max_pool1d(tp_call *c) { return max_pool(c, "max_pool1d", 1, false); }
int c_max_pool2d(tp_call *c) { return max_pool(c, "max_pool2d", 2, false); }
int c_max_pool3d(tp_call *c) { return max_pool(c, "max_pool3d", 3, false); }
int c_max_pool1d_with_indices(tp_call *c) { return max_pool(c, "max_pool1d", 1, true); }
int c_max_pool2d_with_indices(tp_call *c) { return max_pool(c, "max_pool2d", 2, true); }
int c_max_pool3d_with_indices(tp_call *c) { return max_pool(c, "max_pool3d", 3, true); }

/* ---- means: windows as views, summed ---- */

/* x with zeros before and behind dimension d. */
static T padded(T x, int d, int64_t before, int64_t behind)
{
    int64_t shape[TPI_DIMS_CAP];
    if (!x || (!before && !behind)) return x;
    tpi_copy_dims(shape, x->shape, x->ndim);
    shape[d] += before + behind;
    return x_slice_backward(x, shape, x->ndim, d, before, before + x->shape[d], 1);
}

/* Sums over the windows of the last nd dimensions, one dimension after the other. */
static T window_sums(const window *w, T x)
{
    for (int d = 0; x && d < w->nd; d++) {
        int at = x->ndim - w->nd + d;
        int64_t in = x->shape[at], end = (w->size[d] - 1) * w->stride[d] + w->taps[d];
        const int64_t last = x->ndim;
        x = padded(x, at, w->padding[d], end > in + w->padding[d] ? end - in - w->padding[d] : 0);
        x = x_sum_dims(x_unfold_dim(x, at, w->taps[d], w->stride[d]), &last, 1, false);
        if (x && x->shape[at] > w->size[d]) x = x_slice(x, at, 0, w->size[d], 1);
    }
    return x;
}

/* How many elements each window of one dimension holds, as a plain tensor that broadcasts along dimension d of nd. */
static T counts(const window *w, int d, int64_t in, bool padding_too, int dtype)
{
    int64_t shape[MAX_SPATIAL] = {1, 1, 1};
    if (tpi_bad()) return NULL;
    shape[d] = w->size[d];
    tp_tensor *t = tpi_empty(TP_FLOAT64, w->nd, shape);
    for (int64_t o = 0; t && o < w->size[d]; o++) {
        int64_t from = o * w->stride[d] - w->padding[d], to = from + w->taps[d];
        int64_t low = padding_too ? -w->padding[d] : 0, high = in + (padding_too ? w->padding[d] : 0);
        ((double *)tpi_data(t))[o] = (double)((to < high ? to : high) - (from > low ? from : low));
    }
    return x_to_dtype(tpi_own(t), dtype);
}

/* input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override */
static int avg_pool(tp_call *c, const char *op, int nd)
{
    const tp_val *a = c->args;
    T x = arg_t(&a[0]);
    window w = {.op = op, .nd = nd};
    bool padding_too = arg_b(&a[5]), has_divisor = nd > 1 && !arg_none(&a[6]);
    int rc = read_window(&w, x, &a[1], &a[2], &a[3], NULL, arg_b(&a[4]));
    if (rc) return rc;
    if (!tpi_is_differentiable(x->dtype) && x->dtype != TP_INT64)
        return tpi_fail(TP_ERR_TYPE, "%s: input must be int64 or of a floating or complex dtype, got %s", op,
                        tp_dtype_name(x->dtype));
    if (has_divisor && arg_i(&a[6]) == 0) return tpi_fail(TP_ERR_RUNTIME, "%s: divisor_override must not be zero", op);
    tpi_scope s;
    tpi_scope_open(&s);
    T r = window_sums(&w, x);
    if (x->dtype == TP_INT64) {
        T number = NULL;
        for (int d = 0; !has_divisor && d < nd; d++) {
            T along = counts(&w, d, x->shape[x->ndim - nd + d], padding_too, TP_INT64);
            number = number ? x_mul(number, along) : along;
        }
        r = has_divisor ? x_trunc_divide_i(r, arg_i(&a[6])) : x_trunc_divide(r, number);
    } else if (has_divisor) r = x_div_f(r, (double)arg_i(&a[6]));
    else {
        double same = 1;
        bool uniform = true;
        for (int d = 0; d < nd; d++) {
            int64_t in = x->shape[x->ndim - nd + d], end = (w.size[d] - 1) * w.stride[d] + w.taps[d] - w.padding[d];
            same *= (double)w.taps[d];
            uniform &= padding_too ? end <= in + w.padding[d] : !w.padding[d] && end <= in;
        }
        if (uniform) r = x_mul_f(r, 1 / same);
        else
            for (int d = 0; d < nd; d++)
                r = x_div(r, counts(&w, d, x->shape[x->ndim - nd + d], padding_too, tpi_to_real(x->dtype)));
    }
    return scope_result(&s, c, r);
}

int c_avg_pool1d(tp_call *c) { return avg_pool(c, "avg_pool1d", 1); }
int c_avg_pool2d(tp_call *c) { return avg_pool(c, "avg_pool2d", 2); }
int c_avg_pool3d(tp_call *c) { return avg_pool(c, "avg_pool3d", 3); }

/* Window o of `out` covers [o * in / out, ceil((o + 1) * in / out)): a product with a matrix of weights where those are
 * not all equal. */
static T adaptive(T x, int d, int64_t out)
{
    if (!x) return NULL;
    int64_t in = x->shape[d], shape[TPI_DIMS_CAP], size[2] = {in, out};
    if (out && in % out == 0) {
        const int64_t inner = d + 1;
        tpi_copy_dims(shape, x->shape, d);
        shape[d] = out;
        shape[d + 1] = in / out;
        tpi_copy_dims(shape + d + 2, x->shape + d + 1, x->ndim - d - 1);
        return x_mean_dims(x_reshape_to(x, x->ndim + 1, shape), &inner, 1, false);
    }
    tp_tensor *m = tpi_bad() ? NULL : tpi_empty(TP_FLOAT64, 2, size);
    if (m) memset(tpi_data(m), 0, (size_t)m->numel * sizeof(double));
    for (int64_t o = 0; m && o < out; o++) {
        int64_t from = o * in / out, to = ((o + 1) * in + out - 1) / out;
        for (int64_t i = from; i < to; i++) ((double *)tpi_data(m))[i * out + o] = 1.0 / (double)(to - from);
    }
    T weights = x_to_dtype(tpi_own(m), x->dtype);
    return x_movedim1(x_matmul(x_movedim1(x, d, x->ndim - 1), weights), x->ndim - 1, d);
}

static int adaptive_avg_pool(tp_call *c, const char *op, int nd)
{
    T x = arg_t(&c->args[0]), r = x;
    int64_t size[MAX_SPATIAL] = {0};
    int rc;
    if (x->ndim != nd + 1 && x->ndim != nd + 2)
        return tpi_fail(TP_ERR_RUNTIME, "%s: input must have %d or %d dimensions, got shape %s", op, nd + 1, nd + 2,
                        tpi_str(x));
    if (!tpi_is_differentiable(x->dtype))
        return tpi_fail(TP_ERR_TYPE, "%s: input must be of a floating or complex dtype, got %s", op,
                        tp_dtype_name(x->dtype));
    if ((rc = tpi_read_sizes(op, "output_size", &c->args[1], nd, 0, size))) return rc;
    for (int d = 0; d < nd; d++)
        if (!x->shape[x->ndim - nd + d])
            return tpi_fail(TP_ERR_RUNTIME, "%s: input of shape %s is empty", op, tpi_str(x));
    tpi_scope s;
    tpi_scope_open(&s);
    for (int d = 0; d < nd; d++) r = adaptive(r, x->ndim - nd + d, size[d]);
    return scope_result(&s, c, r);
}

int c_adaptive_avg_pool1d(tp_call *c) { return adaptive_avg_pool(c, "adaptive_avg_pool1d", 1); }
int c_adaptive_avg_pool2d(tp_call *c) { return adaptive_avg_pool(c, "adaptive_avg_pool2d", 2); }
int c_adaptive_avg_pool3d(tp_call *c) { return adaptive_avg_pool(c, "adaptive_avg_pool3d", 3); }

/* Largest elements of the same windows; where they are all equal they are ordinary ones, which are faster. */
static int adaptive_max_pool(tp_call *c, const char *op, int nd, bool indices)
{
    T x = arg_t(&c->args[0]);
    int64_t size[MAX_SPATIAL] = {0}, taps[MAX_SPATIAL] = {0}, zeros[MAX_SPATIAL] = {0}, ones[MAX_SPATIAL] = {1, 1, 1};
    int rc;
    if (x->ndim != nd + 1 && x->ndim != nd + 2)
        return tpi_fail(TP_ERR_RUNTIME, "%s: input must have %d or %d dimensions, got shape %s", op, nd + 1, nd + 2,
                        tpi_str(x));
    if (tpi_is_complex(x->dtype) || x->dtype == TP_BOOL)
        return tpi_fail(TP_ERR_TYPE, "%s: not defined for dtype %s", op, tp_dtype_name(x->dtype));
    if ((rc = tpi_read_sizes(op, "output_size", &c->args[1], nd, 0, size))) return rc;
    bool even = true;
    for (int d = 0; d < nd; d++) {
        int64_t in = x->shape[x->ndim - nd + d];
        if (!in) return tpi_fail(TP_ERR_RUNTIME, "%s: input of shape %s is empty", op, tpi_str(x));
        even &= size[d] && in % size[d] == 0;
    }
    for (int d = 0; even && d < nd; d++) taps[d] = x->shape[x->ndim - nd + d] / size[d];
    tp_val args[] = {c->args[0],          val_ints(size, nd), val_ints(taps, nd), val_ints(even ? taps : ones, nd),
                     val_ints(zeros, nd), val_ints(ones, nd)};
    tp_tensor *out[2];
    rc = tpi_call(&tpi_op_max_pool_nd, args, out);
    if (rc) return rc;
    c->out[0] = out[0];
    if (indices) c->out[1] = out[1];
    else tp_release(out[1]);
    return 0;
}

int c_adaptive_max_pool1d(tp_call *c) { return adaptive_max_pool(c, "adaptive_max_pool1d", 1, false); }
int c_adaptive_max_pool2d(tp_call *c) { return adaptive_max_pool(c, "adaptive_max_pool2d", 2, false); }
int c_adaptive_max_pool3d(tp_call *c) { return adaptive_max_pool(c, "adaptive_max_pool3d", 3, false); }
int c_adaptive_max_pool1d_with_indices(tp_call *c) { return adaptive_max_pool(c, "adaptive_max_pool1d", 1, true); }
int c_adaptive_max_pool2d_with_indices(tp_call *c) { return adaptive_max_pool(c, "adaptive_max_pool2d", 2, true); }
int c_adaptive_max_pool3d_with_indices(tp_call *c) { return adaptive_max_pool(c, "adaptive_max_pool3d", 3, true); }

/* ---- norms of windows ---- */

/* input, norm_type, kernel_size, stride, ceil_mode */
static int lp_pool(tp_call *c, const char *op, int nd)
{
    const tp_val *a = c->args;
    T x = arg_t(&a[0]);
    double p = arg_f(&a[1]);
    static const int64_t none = 0;
    tp_val zero = val_ints(&none, 1);
    window w = {.op = op, .nd = nd};
    int rc = read_window(&w, x, &a[2], &a[3], &zero, NULL, arg_b(&a[4]));
    if (rc) return rc;
    if (!tpi_is_float(x->dtype))
        return tpi_fail(TP_ERR_TYPE, "%s: input must be of a real floating dtype, got %s", op, tp_dtype_name(x->dtype));
    if (p == 0) return tpi_fail(TP_ERR_VALUE, "%s: norm_type must not be zero", op);
    tpi_scope s;
    tpi_scope_open(&s);
    T r = window_sums(&w, x_pow_f(x, p));
    for (int d = 0; r && d < nd; d++) { /* a window that overhangs counts as if its other elements were like these */
        int64_t in = x->shape[x->ndim - nd + d], end = (w.size[d] - 1) * w.stride[d] + w.taps[d];
        if (end > in) r = x_mul_f(x_div(r, counts(&w, d, in, true, x->dtype)), (double)w.taps[d]);
    }
    T nothing = x_eq_i(r, 0);
    r = x_where(nothing, x_scalar(0, r), x_pow_f(x_where(nothing, x_scalar(1, r), r), 1 / p));
    return scope_result(&s, c, r);
}

int c_lp_pool1d(tp_call *c) { return lp_pool(c, "lp_pool1d", 1); }
int c_lp_pool2d(tp_call *c) { return lp_pool(c, "lp_pool2d", 2); }
int c_lp_pool3d(tp_call *c) { return lp_pool(c, "lp_pool3d", 3); }

/* ---- the way back ---- */

/* input, indices, kernel_size, stride, padding, output_size */
static int max_unpool(tp_call *c, const char *op, int nd)
{
    const tp_val *a = c->args;
    T x = arg_t(&a[0]), index = arg_t(&a[1]);
    int64_t taps[MAX_SPATIAL], stride[MAX_SPATIAL], padding[MAX_SPATIAL], shape[TPI_DIMS_CAP], plane = 1;
    int rc, lead = x->ndim - nd;
    if (lead != 1 && lead != 2)
        return tpi_fail(TP_ERR_RUNTIME, "%s: input must have %d or %d dimensions, got shape %s", op, nd + 1, nd + 2,
                        tpi_str(x));
    if (!tpi_is_differentiable(x->dtype))
        return tpi_fail(TP_ERR_TYPE, "%s: input must be of a floating or complex dtype, got %s", op,
                        tp_dtype_name(x->dtype));
    if (index->dtype != TP_INT64)
        return tpi_fail(TP_ERR_RUNTIME, "%s: indices must be int64, got %s", op, tp_dtype_name(index->dtype));
    if (index->ndim != x->ndim || memcmp(index->shape, x->shape, (size_t)x->ndim * sizeof *x->shape))
        return tpi_fail(TP_ERR_RUNTIME, "%s: indices of shape %s must have input's shape %s", op, tpi_str(index),
                        tpi_str(x));
    if ((rc = tpi_read_sizes(op, "kernel_size", &a[2], nd, 1, taps)) ||
        (rc = tpi_read_sizes(op, "stride", arg_none(&a[3]) || !a[3].n ? &a[2] : &a[3], nd, 1, stride)) ||
        (rc = tpi_read_sizes(op, "padding", &a[4], nd, 0, padding)))
        return rc;
    bool sized = !arg_none(&a[5]);
    if (sized && a[5].n != nd && a[5].n != nd + 2)
        return tpi_fail(TP_ERR_VALUE, "%s: output_size must have %d or %d entries, got %d", op, nd, nd + 2,
                        (int)a[5].n);
    tpi_copy_dims(shape, x->shape, x->ndim);
    for (int d = 0; d < nd; d++) {
        int64_t usual = (x->shape[lead + d] - 1) * stride[d] + taps[d] - 2 * padding[d];
        int64_t size = sized ? a[5].v.ints[a[5].n - nd + d] : usual;
        if (sized && (size <= usual - stride[d] || size >= usual + stride[d]))
            return tpi_fail(TP_ERR_VALUE, "%s: output_size %lld must lie between %lld and %lld at dimension %d", op,
                            (long long)size, (long long)(usual - stride[d] + 1), (long long)(usual + stride[d] - 1), d);
        if (size < 0)
            return tpi_fail(TP_ERR_RUNTIME, "%s: padding %lld is too large for input of shape %s", op,
                            (long long)padding[d], tpi_str(x));
        shape[lead + d] = size;
        plane *= size;
    }
    tpi_scope s;
    tpi_scope_open(&s);
    int64_t flat[3];
    tpi_copy_dims(flat, shape, lead);
    flat[lead] = plane;
    T r = x_scatter(x_zeros_shape(x->dtype, lead + 1, flat), lead, planes(index, nd), planes(x, nd));
    return scope_result(&s, c, x_reshape_to(r, x->ndim, shape));
}

int c_max_unpool1d(tp_call *c) { return max_unpool(c, "max_unpool1d", 1); }
int c_max_unpool2d(tp_call *c) { return max_unpool(c, "max_unpool2d", 2); }
int c_max_unpool3d(tp_call *c) { return max_unpool(c, "max_unpool3d", 3); }
