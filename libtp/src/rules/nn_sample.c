/* Padding, resampling, windows as columns and shuffles of channels: composites of views, gathers and sums, which
 * give every rule and every order of derivative. Indices and weights of a dimension are computed once, in double
 * precision. */
#include <math.h>

#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

/* ---- padding ---- */

enum { CONSTANT, REFLECT, REPLICATE, CIRCULAR };

static int pad_mode(const char *mode)
{
    static const char *const names[] = {"constant", "reflect", "replicate", "circular"};
    return tpi_word(mode, names, 4);
}

/* 1-d bool: true for the n elements that are not padding. */
static T inside(int64_t size, int64_t before, int64_t n)
{
    tp_tensor *m = tpi_bad() ? NULL : tpi_empty(TP_BOOL, 1, &size);
    if (m) {
        memset(tpi_data(m), 0, (size_t)size);
        if (n > 0) memset((char *)tpi_data(m) + before, 1, (size_t)n);
    }
    return tpi_own(m);
}

/* Pads dimension d, of at least 0 elements on both sides, with zeros. */
static T pad_zeros(T x, int d, int64_t before, int64_t after)
{
    int64_t shape[TPI_DIMS_CAP];
    if (!x || (!before && !after)) return x;
    tpi_copy_dims(shape, x->shape, x->ndim);
    int64_t n = shape[d];
    shape[d] += before + after;
    return x_slice_backward(x, shape, x->ndim, d, before, before + n, 1);
}

/* Where an element of a reflected or replicated dimension comes from. */
static int64_t source(int mode, int64_t i, int64_t n)
{
    if (mode == REPLICATE) return i < 0 ? 0 : i >= n ? n - 1 : i;
    return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
}

static T pad_from(T x, int d, int mode, int64_t before, int64_t after)
{
    if (!x || (!before && !after)) return x;
    int64_t n = x->shape[d], size = n + before + after;
    if (before <= 0 && after <= 0) return x_slice(x, d, -before, n + after, 1);
    tp_tensor *index = tpi_bad() ? NULL : tpi_empty(TP_INT64, 1, &size);
    /* What is left after a negative side was cut off is what goes round. */
    int64_t start = before < 0 ? -before : 0, left = n - start + (after < 0 ? after : 0);
    if (mode == CIRCULAR && left < 1 && size > 0)
        return tpi_rule_fail(TP_ERR_RUNTIME, "pad: nothing is left of dimension %d of size %lld to go round", d,
                             (long long)n);
    for (int64_t i = 0; index && i < size; i++)
        ((int64_t *)tpi_data(index))[i] = mode == CIRCULAR ? start + (((i - before - start) % left) + left) % left
                                                           : source(mode, i - before, n);
    return x_index_select(x, d, tpi_own(index));
}

static int check_pad(const tp_tensor *x, const tp_val *pad, int mode, const char *name)
{
    if (pad->n % 2 || pad->n / 2 > x->ndim)
        return tpi_fail(TP_ERR_RUNTIME, "pad: %s for input of shape %s: two numbers for each of the last dimensions",
                        tpi_shape_str(pad->n, pad->v.ints), tpi_str(x));
    for (int k = 0; k < pad->n / 2; k++) {
        int64_t before = pad->v.ints[2 * k], after = pad->v.ints[2 * k + 1], n = x->shape[x->ndim - 1 - k];
        int64_t most = mode == REFLECT ? n - 1 : mode == CIRCULAR ? n : INT64_MAX, size;
        if (__builtin_add_overflow(before, after, &size) || __builtin_add_overflow(size, n, &size))
            return tpi_fail(TP_ERR_RUNTIME, "pad: sizes of %s overflow", tpi_shape_str(pad->n, pad->v.ints));
        if (size < 0 || n + before < 0 || n + after < 0)
            return tpi_fail(TP_ERR_RUNTIME, "pad: %s leaves input of shape %s with a negative size",
                            tpi_shape_str(pad->n, pad->v.ints), tpi_str(x));
        if ((before > 0 || after > 0) && (before > most || after > most || (mode != CONSTANT && n == 0)))
            return tpi_fail(TP_ERR_RUNTIME, "pad: %s is too much for mode '%s' and input of shape %s",
                            tpi_shape_str(pad->n, pad->v.ints), name, tpi_str(x));
    }
    return 0;
}

static int padded(tp_call *c, int mode, const char *name, const tp_val *value)
{
    T x = arg_t(&c->args[0]), r = x, mask = NULL;
    const tp_val *pad = &c->args[1];
    int rc = check_pad(x, pad, mode, name);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    for (int k = 0; k < pad->n / 2 && r; k++) {
        int64_t before = pad->v.ints[2 * k], after = pad->v.ints[2 * k + 1];
        int d = x->ndim - 1 - k;
        if (mode != CONSTANT) {
            r = pad_from(r, d, mode, before, after);
            continue;
        }
        int64_t n = x->shape[d], from = before < 0 ? -before : 0, to = after < 0 ? n + after : n;
        if (before < 0 || after < 0) r = x_slice(r, d, from, to > from ? to : from, 1);
        r = pad_zeros(r, d, before > 0 ? before : 0, after > 0 ? after : 0);
        if ((before > 0 || after > 0) && !arg_none(value) && r) {
            T m = tpi_along(inside(r->shape[d], before > 0 ? before : 0, to - from), x->ndim, d);
            mask = mask ? x_logical_and(mask, m) : m;
        }
    }
    if (mask) {
        T fill = x_full(NULL, 0, &value->v.s, x->dtype);
        r = x_where(mask, r, fill);
    }
    return scope_result(&s, c, r == x ? x_clone(x) : r);
}

int c_pad(tp_call *c)
{
    const char *name = c->args[2].v.str;
    int mode = pad_mode(name);
    if (mode < 0)
        return tpi_fail(TP_ERR_VALUE, "pad: mode '%s' is none of constant, reflect, replicate, circular", name);
    if (mode != CONSTANT && !arg_none(&c->args[3]))
        return tpi_fail(TP_ERR_VALUE, "pad: a value is given, which mode '%s' does not use", name);
    return padded(c, mode, name, &c->args[3]);
}

int c_constant_pad_nd(tp_call *c) { return padded(c, CONSTANT, "constant", &c->args[2]); }

/* ---- resampling ---- */

enum { NEAREST, NEAREST_EXACT, LINEAR, CUBIC };

static double cubic(double t, double a)
{
    t = fabs(t);
    if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((t - 5) * t + 8) * t * a - 4 * a : 0;
}

static double tent(double t)
{
    t = fabs(t);
    return t < 1 ? 1 - t : 0;
}

typedef struct resampling {
    int mode, taps;
    int64_t in, out;
    double step;
    bool corners, antialias;
} resampling;

static int64_t clamped(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

/* Element and weight of each tap of result element o. */
static void taps_at(const resampling *p, int64_t o, int64_t *index, double *weight)
{
    if (p->mode <= NEAREST_EXACT) {
        index[0] = clamped((int64_t)floor(((double)o + (p->mode == NEAREST_EXACT ? 0.5 : 0)) * p->step), p->in);
        return;
    }
    if (p->antialias) {
        double wide = p->step > 1 ? p->step : 1, reach = (p->mode == LINEAR ? 1 : 2) * wide, sum = 0;
        double center = p->step * ((double)o + 0.5);
        int64_t first = (int64_t)fmax(floor(center - reach + 0.5), 0);
        int64_t end = (int64_t)fmin(floor(center + reach + 0.5), (double)p->in);
        for (int k = 0; k < p->taps; k++) {
            double t = ((double)(first + k) - center + 0.5) / wide;
            weight[k] = first + k < end ? (p->mode == LINEAR ? tent(t) : cubic(t, -0.5)) : 0;
            index[k] = clamped(first + k, p->in);
            sum += weight[k];
        }
        for (int k = 0; k < p->taps; k++) weight[k] /= sum;
        return;
    }
    double at = p->corners ? (double)o * p->step : ((double)o + 0.5) * p->step - 0.5;
    if (p->mode == LINEAR && at < 0) at = 0;
    double low = floor(at), t = at - low;
    int64_t first = (int64_t)low - (p->mode == CUBIC);
    for (int k = 0; k < p->taps; k++) {
        index[k] = clamped(first + k, p->in);
        weight[k] = p->mode == LINEAR ? (k ? t : 1 - t) : cubic(t + 1 - k, -0.75);
    }
}

static int resample_mode(const char *mode)
{
    static const char *const names[] = {"nearest", "nearest-exact", "linear", "cubic"};
    return tpi_word(mode, names, 4);
}

/* x with dimension d resampled: for each tap a gather, times its weights. */
static T resample(T x, int d, const resampling *p)
{
    int64_t size[2] = {p->taps, p->out};
    tp_tensor *index = tpi_bad() ? NULL : tpi_empty(TP_INT64, 2, size);
    tp_tensor *weight = index && !tpi_bad() ? tpi_empty(TP_FLOAT64, 2, size) : NULL;
    int64_t *at = tpi_alloc(sizeof *at * (size_t)p->taps);
    double *w = tpi_alloc(sizeof *w * (size_t)p->taps);
    if (index && weight && at && w)
        for (int64_t o = 0; o < p->out; o++) {
            w[0] = 1;
            taps_at(p, o, at, w);
            for (int k = 0; k < p->taps; k++) {
                ((int64_t *)tpi_data(index))[k * p->out + o] = at[k];
                ((double *)tpi_data(weight))[k * p->out + o] = w[k];
            }
        }
    bool full = !at || !w;
    tpi_free(at, sizeof *at * (size_t)p->taps);
    tpi_free(w, sizeof *w * (size_t)p->taps);
    T places = tpi_own(index), weights = tpi_own(weight), r = NULL;
    if (full) return tpi_own(NULL);
    if (p->mode <= NEAREST_EXACT) return x_index_select(x, d, x_select(places, 0, 0));
    weights = x_to_dtype(weights, tpi_to_real(x->dtype));
    for (int k = 0; k < p->taps; k++) {
        T term = x_mul(x_index_select(x, d, x_select(places, 0, k)), tpi_along(x_select(weights, 0, k), x->ndim, d));
        r = r ? x_add(r, term, &tpi_one) : term;
    }
    return r;
}

int c_interpolate_dim(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    resampling p = {.mode = resample_mode(c->args[3].v.str),
                    .taps = 1,
                    .out = arg_i(&c->args[2]),
                    .corners = arg_b(&c->args[5]),
                    .antialias = arg_b(&c->args[6])};
    int d, rc = tpi_wrap_dim("interpolate_dim", arg_i(&c->args[1]), x->ndim, &d);
    if (rc) return rc;
    if (p.mode < 0)
        return tpi_fail(TP_ERR_VALUE, "interpolate_dim: mode '%s' is none of nearest, nearest-exact, linear, cubic",
                        c->args[3].v.str);
    if (x->ndim == 0 || x->shape[d] == 0 || p.out < 1)
        return tpi_fail(TP_ERR_RUNTIME,
                        "interpolate_dim: dimension %d of input of shape %s to %lld elements: both must "
                        "be positive",
                        d, tpi_str(x), (long long)p.out);
    if (p.mode >= LINEAR && !tpi_is_differentiable(x->dtype))
        return tpi_fail(TP_ERR_TYPE, "interpolate_dim: mode '%s' needs a floating or complex dtype, got %s",
                        c->args[3].v.str, tp_dtype_name(x->dtype));
    p.in = x->shape[d];
    p.corners &= p.mode >= LINEAR;
    p.antialias &= p.mode >= LINEAR;
    double scale = arg_none(&c->args[4]) ? 0 : arg_f(&c->args[4]);
    if (p.corners) p.step = p.out > 1 ? (double)(p.in - 1) / (double)(p.out - 1) : 0;
    else p.step = scale > 0 ? 1 / scale : (double)p.in / (double)p.out;
    if (!isfinite(p.step) || p.step > 1e9)
        return tpi_fail(TP_ERR_VALUE, "interpolate_dim: scale %g is out of range", scale);
    if (p.mode == LINEAR) p.taps = 2;
    if (p.mode == CUBIC) p.taps = 4;
    if (p.antialias) {
        double reach = ceil((p.mode == LINEAR ? 1 : 2) * fmax(p.step, 1)) * 2 + 1;
        p.taps = (int)fmin(reach, (double)p.in);
    }
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, resample(x, d, &p));
}

/* ---- windows as columns ---- */

typedef struct windows {
    int64_t kernel[2], dilation[2], padding[2], stride[2], count[2], span[2];
} windows;

/* The windows of an image of the given size; a: kernel_size, dilation, padding, stride. */
static int read_windows(const char *op, const tp_val *a, const int64_t *size, windows *w)
{
    int rc;
    if ((rc = tpi_read_sizes(op, "kernel_size", &a[0], 2, 1, w->kernel)) ||
        (rc = tpi_read_sizes(op, "dilation", &a[1], 2, 1, w->dilation)) ||
        (rc = tpi_read_sizes(op, "padding", &a[2], 2, 0, w->padding)) ||
        (rc = tpi_read_sizes(op, "stride", &a[3], 2, 1, w->stride)))
        return rc;
    for (int d = 0; d < 2; d++) {
        w->span[d] = w->dilation[d] * (w->kernel[d] - 1) + 1;
        int64_t room = size[d] + 2 * w->padding[d] - w->span[d];
        if (room < 0)
            return tpi_fail(TP_ERR_RUNTIME, "%s: no window of %s elements fits an image of %s with that padding", op,
                            tpi_shape_str(2, w->span), tpi_shape_str(2, size));
        w->count[d] = room / w->stride[d] + 1;
    }
    return 0;
}

int c_nn_functional_unfold(tp_call *c)
{
    T x = arg_t(&c->args[0]), r = x;
    windows w;
    if (x->ndim != 3 && x->ndim != 4)
        return tpi_fail(TP_ERR_RUNTIME, "unfold: input must have 3 or 4 dimensions, got shape %s", tpi_str(x));
    int b = x->ndim - 3, rc = read_windows("unfold", &c->args[1], x->shape + b + 1, &w);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    for (int d = 0; d < 2; d++) {
        r = pad_zeros(r, b + 1 + d, w.padding[d], w.padding[d]);
        r = x_unfold_dim(r, b + 1 + d, w.span[d], w.stride[d]);
        if (r && w.dilation[d] > 1) r = x_slice(r, r->ndim - 1, 0, INT64_MAX, w.dilation[d]);
    }
    /* [N, C, Lh, Lw, kh, kw] */
    const int64_t order[6] = {0, 1, 4, 5, 2, 3}, plain[5] = {0, 3, 4, 1, 2};
    int64_t shape[3] = {x->shape[0], x->shape[b] * w.kernel[0] * w.kernel[1], w.count[0] * w.count[1]};
    r = x_permute(r, b ? order : plain, 5 + b);
    return scope_result(&s, c, x_reshape_to(r, 2 + b, shape + 1 - b));
}

int c_nn_functional_fold(tp_call *c)
{
    T x = arg_t(&c->args[0]), r = x;
    windows w;
    int64_t size[2];
    int b = x->ndim - 2, rc = tpi_read_sizes("fold", "output_size", &c->args[1], 2, 1, size);
    if (rc || (rc = read_windows("fold", &c->args[2], size, &w))) return rc;
    int64_t cells = w.kernel[0] * w.kernel[1], places = w.count[0] * w.count[1];
    if ((b != 0 && b != 1) || x->shape[b] % cells || x->shape[b + 1] != places)
        return tpi_fail(TP_ERR_RUNTIME, "fold: input of shape %s, expected [N, C * %lld, %lld] or without N",
                        tpi_str(x), (long long)cells, (long long)places);
    int64_t channels = x->shape[b] / cells;
    tpi_scope s;
    tpi_scope_open(&s);
    int64_t wide[6] = {x->shape[0], channels, w.kernel[0], w.kernel[1], w.count[0], w.count[1]};
    const int64_t order[6] = {0, 1, 4, 5, 2, 3}, plain[5] = {0, 3, 4, 1, 2};
    r = x_permute(x_reshape_to(r, 5 + b, wide + 1 - b), b ? order : plain, 5 + b);
    for (int d = 1; d >= 0 && r; d--) {
        int64_t shape[TPI_DIMS_CAP];
        int last = r->ndim - 1;
        if (w.dilation[d] > 1) {
            tpi_copy_dims(shape, r->shape, r->ndim);
            shape[last] = w.span[d];
            r = x_slice_backward(r, shape, r->ndim, last, 0, w.span[d], w.dilation[d]);
        }
        if (!r) break;
        tpi_copy_dims(shape, r->shape, last);
        shape[b + 1 + d] = size[d] + 2 * w.padding[d];
        r = x_unfold_backward(r, shape, last, b + 1 + d, w.span[d], w.stride[d]);
        if (w.padding[d]) r = x_slice(r, b + 1 + d, w.padding[d], w.padding[d] + size[d], 1);
    }
    return scope_result(&s, c, w.padding[0] || w.padding[1] ? x_clone(r) : r);
}

/* ---- shuffles ---- */

/* The last three dimensions of x split into five, put into another order (place) and joined to three again. */
static int rearranged(tp_call *c, const char *op, const int64_t *split, const int64_t *place, const int64_t *joined)
{
    T x = arg_t(&c->args[0]);
    int64_t shape[TPI_DIMS_CAP], order[TPI_DIMS_CAP];
    int b = x->ndim - 3, rc = tpi_check_rank(op, b + 5);
    if (rc) return rc;
    for (int i = 0; i < b; i++) shape[i] = x->shape[i], order[i] = i;
    for (int i = 0; i < 5; i++) shape[b + i] = split[i], order[b + i] = b + place[i];
    tpi_scope s;
    tpi_scope_open(&s);
    T y = x_permute(x_reshape_to(x, b + 5, shape), order, b + 5);
    tpi_copy_dims(shape + b, joined, 3);
    y = x_reshape_to(y, b + 3, shape);
    return scope_result(&s, c, arg_i(&c->args[1]) == 1 ? x_clone(y) : y);
}

int c_pixel_shuffle(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    int64_t r = arg_i(&c->args[1]);
    int b = x->ndim - 3;
    if (b < 0 || r < 1 || r > INT32_MAX || x->shape[b] % (r * r))
        return tpi_fail(TP_ERR_RUNTIME,
                        "pixel_shuffle: input of shape %s, factor %lld: [..., C * r * r, H, W] is needed", tpi_str(x),
                        (long long)r);
    int64_t k = x->shape[b] / (r * r), h = x->shape[b + 1], w = x->shape[b + 2];
    const int64_t split[5] = {k, r, r, h, w}, joined[3] = {k, h * r, w * r}, place[5] = {0, 3, 1, 4, 2};
    return rearranged(c, "pixel_shuffle", split, place, joined);
}

int c_pixel_unshuffle(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    int64_t r = arg_i(&c->args[1]);
    int b = x->ndim - 3;
    if (b < 0 || r < 1 || r > INT32_MAX || x->shape[b + 1] % r || x->shape[b + 2] % r)
        return tpi_fail(TP_ERR_RUNTIME,
                        "pixel_unshuffle: input of shape %s, factor %lld: [..., C, H * r, W * r] is needed", tpi_str(x),
                        (long long)r);
    int64_t k = x->shape[b], h = x->shape[b + 1] / r, w = x->shape[b + 2] / r;
    const int64_t split[5] = {k, h, r, w, r}, joined[3] = {k * r * r, h, w}, place[5] = {0, 2, 4, 1, 3};
    return rearranged(c, "pixel_unshuffle", split, place, joined);
}

int c_channel_shuffle(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    int64_t groups = arg_i(&c->args[1]), shape[TPI_DIMS_CAP];
    int rc;
    if (x->ndim < 3 || groups < 1 || x->shape[1] % groups)
        return tpi_fail(TP_ERR_RUNTIME,
                        "channel_shuffle: input of shape %s, %lld groups: [N, C, ...] with a multiple of "
                        "channels is needed",
                        tpi_str(x), (long long)groups);
    if ((rc = tpi_check_rank("channel_shuffle", x->ndim + 1))) return rc;
    shape[0] = x->shape[0];
    shape[1] = groups;
    shape[2] = x->shape[1] / groups;
    tpi_copy_dims(shape + 3, x->shape + 2, x->ndim - 2);
    tpi_scope s;
    tpi_scope_open(&s);
    T y = x_reshape_to(x_transpose(x_reshape_to(x, x->ndim + 1, shape), 1, 2), x->ndim, x->shape);
    return scope_result(&s, c, groups == 1 || shape[2] == 1 ? x_clone(y) : y);
}
