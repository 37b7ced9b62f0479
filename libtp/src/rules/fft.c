/* Fourier transforms: rules of the three primitives, and the public functions made of them.
 *
 * NOTE: derivatives
 * The transforms are linear, so the cotangent goes through the conjugate transpose. For complex points that is the
 * transform with the other sign. A half spectrum stands for the whole of a real line: all frequencies but 0 and, for an
 * even length, n / 2, occur twice in the sum over the whole, hence the factors 1/2 and 2. */
#include <math.h>

#include "kernels/kernels.h"
#include "rules/shape_util.h"

static const char *const NORMS[] = {"backward", "ortho", "forward"};

/* 1 and `factor` for frequencies that occur once and twice, along dimension d of n_dims. */
static T counts(int dtype, int n_dims, int d, int64_t n, double factor)
{
    int64_t size = n / 2 + 1;
    bool single = dtype == TP_COMPLEX64 || dtype == TP_FLOAT32;
    tp_tensor *t = tpi_empty(single ? TP_FLOAT32 : TP_FLOAT64, 1, &size);
    if (!t) return tpi_own(NULL);
    for (int64_t k = 0; k < size; k++) {
        double v = k == 0 || 2 * k == n ? 1 : factor;
        if (single) ((float *)tpi_data(t))[k] = (float)v;
        else ((double *)tpi_data(t))[k] = v;
    }
    return tpi_along(tpi_own(t), n_dims, d);
}

int fft_r2c__vjp(tp_vjp_ctx *c)
{
    T x = arg_t(&c->args[0]), g = c->grads[0];
    int64_t d = arg_i(&c->args[1]);
    double scale = arg_f(&c->args[3]);
    if (!g) return 0;
    if (arg_b(&c->args[2])) {
        T w = counts(g->dtype, x->ndim, (int)d, x->shape[d], 0.5);
        c->out[0] = x_fft_c2r(x_mul(g, w), d, x->shape[d], scale);
    } else c->out[0] = x_real_of(x_fft_c2c(g, &d, 1, true, scale));
    return 0;
}

int fft_c2r__vjp(tp_vjp_ctx *c)
{
    T g = c->grads[0];
    int64_t d = arg_i(&c->args[1]), n = arg_i(&c->args[2]);
    if (g) c->out[0] = x_mul(x_fft_r2c(g, d, true, arg_f(&c->args[3])), counts(g->dtype, g->ndim, (int)d, n, 2));
    return 0;
}

/* ---- the public functions ---- */

typedef struct way {
    const char *op;
    bool inverse;          /* which side "backward" scales */
    bool real_in, real_out;
    bool conj;             /* of a Hermitian signal: the sign is the other one than that of the real spectrum */
} way;

typedef struct dims {
    int n;
    int dim[TPI_DIMS_CAP];
    int64_t size[TPI_DIMS_CAP]; /* of the signal, -1: as it is */
} dims;

/* Floating or complex, float32 or float64. */
static T points(const way *w, T x)
{
    x = tpi_floating(x);
    if (tpi_bad()) return NULL;
    int d = x->dtype;
    if (d != TP_FLOAT32 && d != TP_FLOAT64 && !tpi_is_complex(d))
        return tpi_rule_fail(TP_ERR_TYPE, "%s: no transform of dtype %s: convert to float32", w->op, tp_dtype_name(d));
    if (w->real_in && tpi_is_complex(d))
        return tpi_rule_fail(TP_ERR_TYPE, "%s: expected a real tensor, got dtype %s", w->op, tp_dtype_name(d));
    return w->real_out || w->real_in || tpi_is_complex(d) ? x : NULL;
}

/* Cropped or filled up with zeros at the end. */
static T sized(T x, int d, int64_t n)
{
    if (tpi_bad() || x->shape[d] == n) return x;
    if (x->shape[d] > n) return x_narrow(x, d, 0, n);
    int64_t pad[2 * TPI_DIMS_CAP] = {0};
    int places = 2 * (x->ndim - d);
    pad[places - 1] = n - x->shape[d];
    return x_constant_pad_nd(x, pad, places, &(tp_scalar){.tag = TP_SCALAR_FLOAT});
}

static T transformed(const way *w, T x, const dims *g, const char *norm)
{
    int64_t other[TPI_DIMS_CAP], total = 1, size[TPI_DIMS_CAP];
    int which = norm ? tpi_word(norm, NORMS, 3) : 0, last = g->n - 1;
    if (which < 0)
        return tpi_rule_fail(TP_ERR_VALUE, "%s: norm must be \"backward\", \"ortho\" or \"forward\", got \"%s\"", w->op,
                             norm);
    T y = points(w, x);
    if (tpi_bad()) return NULL;
    bool real = !y && !w->real_in; /* a real signal for a transform of complex ones */
    if (!y) y = tpi_floating(x);
    for (int i = 0; i < g->n; i++) {
        int64_t n = g->size[i], have = y->shape[g->dim[i]];
        bool half = w->real_out && i == last;
        size[i] = n != -1 ? n : half ? 2 * (have - 1) : have;
        if (size[i] < 1)
            return tpi_rule_fail(TP_ERR_RUNTIME, "%s: no transform of %lld points (shape %s, dimension %d)", w->op,
                                 (long long)size[i], tpi_str(x), g->dim[i]);
        total *= size[i];
        y = sized(y, g->dim[i], half ? size[i] / 2 + 1 : size[i]);
        other[i] = g->dim[i];
    }
    bool scaled = which == (w->inverse ? 0 : 2);
    double scale = which == 1 ? 1 / sqrt((double)total) : scaled ? 1 / (double)total : 1;
    if (w->real_out) {
        if (!tpi_is_complex(y->dtype)) y = x_to_dtype(y, tpi_to_complex(y->dtype));
        if (w->conj) y = x_conj(y);
        if (last) y = x_fft_c2c(y, other, last, true, 1);
        return x_fft_c2r(y, other[last], size[last], scale);
    }
    if (w->real_in || (real && g->n)) {
        y = x_fft_r2c(y, other[last], w->real_in, last ? 1 : scale);
        if (last) y = x_fft_c2c(y, other, last, false, scale);
        return w->conj || (real && w->inverse) ? x_conj(y) : y;
    }
    if (real) return x_to_dtype(y, tpi_to_complex(y->dtype));
    return x_fft_c2c(y, other, g->n, w->inverse, scale);
}

static int one(tp_call *c, way w)
{
    T x = arg_t(&c->args[0]);
    dims g = {.n = 1, .size = {arg_none(&c->args[1]) ? -1 : arg_i(&c->args[1])}};
    if (!x->ndim) return tpi_fail(TP_ERR_INDEX, "%s: a 0-d tensor has no dimensions", w.op);
    int rc = tpi_wrap_dim(w.op, arg_i(&c->args[2]), x->ndim, g.dim);
    if (rc) return rc;
    if (g.size[0] == -1 && !arg_none(&c->args[1])) g.size[0] = -2; /* -1 points were asked for */
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, transformed(&w, x, &g, arg_none(&c->args[3]) ? NULL : c->args[3].v.str));
}

static int many(tp_call *c, way w)
{
    T x = arg_t(&c->args[0]);
    const tp_val *s = &c->args[1], *d = &c->args[2];
    bool sizes = !arg_none(s), given = !arg_none(d);
    dims g = {.n = given ? d->n : sizes ? s->n : x->ndim};
    int rc = 0;
    if (sizes && given && s->n != d->n)
        return tpi_fail(TP_ERR_VALUE, "%s: %d sizes in s for %d dimensions in dim", w.op, s->n, d->n);
    if (!given && g.n > x->ndim)
        return tpi_fail(TP_ERR_VALUE, "%s: %d sizes in s for a tensor of shape %s", w.op, g.n, tpi_str(x));
    if (g.n && !x->ndim) return tpi_fail(TP_ERR_INDEX, "%s: a 0-d tensor has no dimensions", w.op);
    if (given && (rc = tpi_wrap_dims(w.op, d->v.ints, d->n, x->ndim, g.dim))) return rc;
    for (int i = 0; i < g.n; i++) {
        if (!given) g.dim[i] = x->ndim - g.n + i;
        g.size[i] = sizes ? s->v.ints[i] : -1;
    }
    if (!g.n && (w.real_in || w.real_out))
        return tpi_fail(TP_ERR_VALUE, "%s: at least one dimension has to be transformed", w.op);
    tpi_scope scope;
    tpi_scope_open(&scope);
    return scope_result(&scope, c, transformed(&w, x, &g, arg_none(&c->args[3]) ? NULL : c->args[3].v.str));
}

#define FAMILY(name, ...)                                                                      \
    int c_fft_##name(tp_call *c) { return one(c, (way){"fft." #name, __VA_ARGS__}); }          \
    int c_fft_##name##2(tp_call * c) { return many(c, (way){"fft." #name "2", __VA_ARGS__}); } \
    int c_fft_##name##n(tp_call *c) { return many(c, (way){"fft." #name "n", __VA_ARGS__}); }

FAMILY(fft, .inverse = false)
FAMILY(ifft, .inverse = true)
FAMILY(rfft, .real_in = true)
FAMILY(irfft, .inverse = true, .real_out = true)
FAMILY(hfft, .real_out = true, .conj = true)
FAMILY(ihfft, .inverse = true, .real_in = true, .conj = true)

/* ---- order of frequencies ---- */

static int shifted(tp_call *c, const char *op, bool back)
{
    T x = arg_t(&c->args[0]);
    const tp_val *d = &c->args[1];
    int n = arg_none(d) ? x->ndim : d->n, dim[TPI_DIMS_CAP], rc;
    int64_t by[TPI_DIMS_CAP], at[TPI_DIMS_CAP];
    if (!arg_none(d) && (rc = tpi_wrap_dims(op, d->v.ints, n, x->ndim, dim))) return rc;
    for (int i = 0; i < n; i++) {
        at[i] = arg_none(d) ? i : dim[i];
        by[i] = back ? -(x->shape[at[i]] / 2) : x->shape[at[i]] / 2;
    }
    return tpi_set_out(c, 0, n ? tp_roll(x, by, n, at, n) : tp_clone(x));
}

int c_fft_fftshift(tp_call *c) { return shifted(c, "fft.fftshift", false); }
int c_fft_ifftshift(tp_call *c) { return shifted(c, "fft.ifftshift", true); }

static int frequencies(tp_call *c, const char *op, bool half)
{
    int64_t n = arg_i(&c->args[0]), size = half ? n / 2 + 1 : n;
    double step = arg_f(&c->args[1]) * (double)n;
    int dtype = arg_none(&c->args[2]) ? tp_get_default_dtype() : (int)arg_i(&c->args[2]);
    if (n < 1) return tpi_fail(TP_ERR_VALUE, "%s: n must be positive, got %lld", op, (long long)n);
    if (!tpi_is_differentiable(dtype))
        return tpi_fail(TP_ERR_TYPE, "%s: a floating dtype is needed, got %s", op, tp_dtype_name(dtype));
    tp_tensor *t = tpi_empty(TP_FLOAT64, 1, &size);
    if (!t) return tp_error_code();
    double *p = tpi_data(t);
    for (int64_t k = 0; k < size; k++) p[k] = (double)(half || k < (n + 1) / 2 ? k : k - n) / step;
    int rc = tpi_set_out(c, 0, tpi_dense_cast(t, dtype));
    tp_release(t);
    return rc;
}

int c_fft_fftfreq(tp_call *c) { return frequencies(c, "fft.fftfreq", false); }
int c_fft_rfftfreq(tp_call *c) { return frequencies(c, "fft.rfftfreq", true); }

/* ---- short-time transforms ---- */

typedef struct frames {
    int64_t n, hop, length; /* of the transform, between frames, of the window */
} frames;

static int read_frames(const char *op, const tp_val *a, frames *f, T window)
{
    f->n = arg_i(&a[0]);
    f->hop = arg_none(&a[1]) ? f->n / 4 : arg_i(&a[1]);
    f->length = arg_none(&a[2]) ? f->n : arg_i(&a[2]);
    if (f->n < 1) return tpi_fail(TP_ERR_RUNTIME, "%s: n_fft must be positive, got %lld", op, (long long)f->n);
    if (f->hop < 1) return tpi_fail(TP_ERR_RUNTIME, "%s: hop_length must be positive, got %lld", op, (long long)f->hop);
    if (f->length < 1 || f->length > f->n)
        return tpi_fail(TP_ERR_RUNTIME, "%s: win_length must be between 1 and n_fft %lld, got %lld", op,
                        (long long)f->n, (long long)f->length);
    if (window && (window->ndim != 1 || window->shape[0] != f->length))
        return tpi_fail(TP_ERR_RUNTIME, "%s: a window of shape [%lld] is needed, got %s", op, (long long)f->length,
                        tpi_str(window));
    return 0;
}

/* The window, or ones, in the middle of n points; NULL: ones throughout. */
static T widened(const frames *f, T window, T like)
{
    if (!window && f->length == f->n) return NULL;
    if (!window) {
        int d = like->dtype;
        window = x_ones(&f->length, 1, d == TP_COMPLEX64 ? TP_FLOAT32 : d == TP_COMPLEX128 ? TP_FLOAT64 : d);
    }
    int64_t left = (f->n - f->length) / 2, pad[2] = {left, f->n - f->length - left};
    return f->length == f->n ? window : x_constant_pad_nd(window, pad, 2, &(tp_scalar){.tag = TP_SCALAR_FLOAT});
}

int c_stft(tp_call *c)
{
    const tp_val *a = c->args;
    T x = arg_t(&a[0]), window = arg_t(&a[4]);
    bool center = arg_b(&a[5]), normalized = arg_b(&a[7]), batched = x->ndim == 2;
    frames f;
    int rc = read_frames("stft", a + 1, &f, window);
    if (rc) return rc;
    if (x->ndim != 1 && x->ndim != 2)
        return tpi_fail(TP_ERR_RUNTIME, "stft: a signal of 1 or 2 dimensions is needed, got shape %s", tpi_str(x));
    bool complex_in = tpi_is_complex(x->dtype) || (window && tpi_is_complex(window->dtype));
    bool onesided = arg_none(&a[8]) ? !complex_in : arg_b(&a[8]);
    if (onesided && complex_in) return tpi_fail(TP_ERR_RUNTIME, "stft: onesided is for real signals and windows only");
    tpi_scope s;
    tpi_scope_open(&s);
    x = tpi_floating(x);
    if (center) {
        int64_t pad[2] = {f.n / 2, f.n / 2};
        x = x_pad(x, pad, 2, a[6].v.str, NULL);
    }
    if (!tpi_bad() && x->shape[x->ndim - 1] < f.n)
        tpi_rule_fail(TP_ERR_RUNTIME, "stft: n_fft %lld exceeds the %lld points of the signal", (long long)f.n,
                      (long long)x->shape[x->ndim - 1]);
    T y = tpi_bad() ? NULL : x_unfold(x, -1, f.n, f.hop), w = tpi_bad() ? NULL : widened(&f, window, x);
    if (w) y = x_mul(y, w);
    way how = {"stft", .real_in = onesided};
    dims g = {.n = 1, .dim = {batched ? 2 : 1}, .size = {-1}};
    y = tpi_bad() ? NULL : transformed(&how, y, &g, normalized ? "ortho" : NULL);
    y = tpi_bad() ? NULL : x_transpose(y, -1, -2);
    if (y && !arg_none(&a[9]) && !arg_b(&a[9])) y = x_view_as_real(x_contiguous(y));
    return scope_result(&s, c, y);
}

/* Frames [..., count, n], each hop further on, added up. */
static T overlapped(T y, const frames *f)
{
    if (tpi_bad()) return NULL;
    int64_t shape[TPI_DIMS_CAP];
    int lead = y->ndim - 2;
    tpi_copy_dims(shape, y->shape, lead);
    shape[lead] = f->n + f->hop * (y->shape[lead] - 1);
    return x_unfold_backward(y, shape, lead + 1, lead, f->n, f->hop);
}

/* Whether a plain real tensor has an element next to zero in [start, end). */
static bool vanishes(tp_tensor *t, int64_t start, int64_t end)
{
    bool found = false;
    if (!t || t->level) return false;
    T part = x_to_dtype(x_narrow(t, -1, start, end - start), TP_FLOAT64);
    part = tpi_bad() ? NULL : x_contiguous(part);
    if (part && part->kind == TPI_DENSE)
        for (int64_t k = 0; k < part->numel; k++) found |= fabs(((const double *)tpi_data(part))[k]) < 1e-11;
    return found;
}

int c_istft(tp_call *c)
{
    const tp_val *a = c->args;
    T x = arg_t(&a[0]), window = arg_t(&a[4]);
    bool center = arg_b(&a[5]), normalized = arg_b(&a[6]), complex_out = arg_b(&a[9]);
    frames f;
    int rc = read_frames("istft", a + 1, &f, window);
    if (rc) return rc;
    if (!tpi_is_complex(x->dtype))
        return tpi_fail(TP_ERR_RUNTIME, "istft: a complex tensor is needed, got dtype %s", tp_dtype_name(x->dtype));
    if ((x->ndim != 2 && x->ndim != 3) || !x->numel)
        return tpi_fail(TP_ERR_RUNTIME, "istft: frequencies by frames are needed, got shape %s", tpi_str(x));
    int64_t have = x->shape[x->ndim - 2];
    bool onesided = arg_none(&a[7]) ? have != f.n : arg_b(&a[7]);
    if (have != (onesided ? f.n / 2 + 1 : f.n))
        return tpi_fail(TP_ERR_RUNTIME, "istft: %lld frequencies are needed for n_fft %lld, got shape %s",
                        (long long)(onesided ? f.n / 2 + 1 : f.n), (long long)f.n, tpi_str(x));
    if (complex_out && onesided)
        return tpi_fail(TP_ERR_RUNTIME, "istft: a half spectrum has a real signal: return_complex needs all of it");
    if (f.hop > f.length)
        return tpi_fail(TP_ERR_RUNTIME, "istft: hop_length %lld exceeds win_length %lld", (long long)f.hop,
                        (long long)f.length);
    tpi_scope s;
    tpi_scope_open(&s);
    way how = {"istft", .inverse = true, .real_out = !complex_out}; /* of a full spectrum, its first half */
    dims g = {.n = 1, .dim = {x->ndim - 1}, .size = {f.n}};
    T y = transformed(&how, x_transpose(x, -1, -2), &g, normalized ? "ortho" : NULL);
    T w = tpi_bad() ? NULL : widened(&f, window, x);
    int64_t count = x->shape[x->ndim - 1], total = f.n + f.hop * (count - 1), start = center ? f.n / 2 : 0, end = total;
    int64_t rows[2] = {count, f.n};
    if (!arg_none(&a[8])) end = start + arg_i(&a[8]);
    else if (center) end = total - f.n / 2;
    int64_t stop = end < total ? end : total;
    if (!tpi_bad() && (arg_none(&a[8]) ? stop <= start : arg_i(&a[8]) < 0 || stop < start))
        tpi_rule_fail(TP_ERR_RUNTIME, "istft: no points between %lld and %lld", (long long)start, (long long)end);
    T one = tpi_bad() ? NULL : w ? w : x_ones(&f.n, 1, y->dtype);
    T envelope = tpi_bad() ? NULL : overlapped(x_expand(x_square(one), rows, 2), &f);
    y = overlapped(w ? x_mul(y, w) : y, &f);
    if (!tpi_bad() && vanishes(envelope, start, stop))
        tpi_rule_fail(TP_ERR_RUNTIME, "istft: the overlapping windows leave a point without weight");
    if (!tpi_bad()) {
        y = x_div(x_narrow(y, -1, start, stop - start), x_narrow(envelope, -1, start, stop - start));
        y = sized(y, tpi_bad() ? 0 : y->ndim - 1, end - start);
    }
    return scope_result(&s, c, y);
}
