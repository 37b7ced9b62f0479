/* Largest elements of windows, and where they are. */
#include <math.h>

#include "core/clones.h"
#include "core/pool.h"
#include "kernels/kernels.h"
#include "kernels/shape.h"

typedef struct window {
    int64_t in, taps, out, stride, pad, dilation; /* taps 0: o * in / out to ceil((o + 1) * in / out) */
} window;

typedef struct pool_job {
    window d[3];                 /* missing dimensions come first */
    const char *x;
    char *y;
    int64_t *index;
    int64_t in, out;             /* elements of a plane */
    int dtype;
} pool_job;

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* Taps of output o that lie inside: [*t0, *t1), the first one at *at. */
static inline void taps_of(const window *w, int64_t o, int64_t *t0, int64_t *t1, int64_t *at)
{
    int64_t first = o * w->stride - w->pad;
    if (!w->taps) {
        *at = o * w->in / w->out;
        *t0 = 0;
        *t1 = ((o + 1) * w->in + w->out - 1) / w->out - *at;
        return;
    }
    *t0 = first < 0 ? (-first + w->dilation - 1) / w->dilation : 0;
    *t1 = first < w->in ? min64(w->taps, (w->in - 1 - first) / w->dilation + 1) : 0;
    *at = first;
}

/* The first of equal elements, and the first NaN: a later one wins only if it is larger, or NaN after a number. A
 * window whose dilated taps all miss the input gives the least number. */
#define PLANE(NAME, T, LEAST, WINS)                                                                                 \
    static void NAME(const pool_job *j, const T *x, T *y, int64_t *index)                                           \
    {                                                                                                               \
        const window *d = j->d;                                                                                     \
        int64_t a0, a1, az, b0, b1, bz, c0, c1, cz;                                                                 \
        for (int64_t p = 0; p < d[0].out; p++) {                                                                    \
            taps_of(&d[0], p, &a0, &a1, &az);                                                                       \
            for (int64_t q = 0; q < d[1].out; q++) {                                                                \
                taps_of(&d[1], q, &b0, &b1, &bz);                                                                   \
                for (int64_t r = 0; r < d[2].out; r++) {                                                            \
                    taps_of(&d[2], r, &c0, &c1, &cz);                                                               \
                    if (a0 >= a1 || b0 >= b1 || c0 >= c1) {                                                         \
                        *y++ = LEAST;                                                                               \
                        *index++ = 0;                                                                               \
                        continue;                                                                                   \
                    }                                                                                               \
                    int64_t best = ((az + a0 * d[0].dilation) * d[1].in + bz + b0 * d[1].dilation) * d[2].in + cz + \
                                   c0 * d[2].dilation;                                                              \
                    T m = x[best];                                                                                  \
                    for (int64_t a = a0; a < a1; a++)                                                               \
                        for (int64_t b = b0; b < b1; b++) {                                                         \
                            int64_t row = ((az + a * d[0].dilation) * d[1].in + bz + b * d[1].dilation) * d[2].in + \
                                          cz;                                                                       \
                            for (int64_t c = c0; c < c1; c++) {                                                     \
                                T v = x[row + c * d[2].dilation];                                                   \
                                if (WINS) {                                                                         \
                                    m = v;                                                                          \
                                    best = row + c * d[2].dilation;                                                 \
                                }                                                                                   \
                            }                                                                                       \
                        }                                                                                           \
                    *y++ = m;                                                                                       \
                    *index++ = best;                                                                                \
                }                                                                                                   \
            }                                                                                                       \
        }                                                                                                           \
    }
PLANE(plane_f32, float, -INFINITY, v > m || (v != v && m == m))
PLANE(plane_f64, double, -INFINITY, v > m || (v != v && m == m))
PLANE(plane_u8, uint8_t, 0, v > m)
PLANE(plane_i8, int8_t, INT8_MIN, v > m)
PLANE(plane_u16, uint16_t, 0, v > m)
PLANE(plane_i16, int16_t, INT16_MIN, v > m)
PLANE(plane_u32, uint32_t, 0, v > m)
PLANE(plane_i32, int32_t, INT32_MIN, v > m)
PLANE(plane_u64, uint64_t, 0, v > m)
PLANE(plane_i64, int64_t, INT64_MIN, v > m)

/* Windows of two by two that neither overlap nor leave anything out: a choice of four, without branches. */
#define PAIRS(NAME, T, I)                                                                                             \
    TP_CLONES static void NAME(int64_t n, const T *restrict top, const T *restrict low, I at, I width, T *restrict y, \
                               int64_t *restrict index)                                                               \
    {                                                                                                                 \
        for (int64_t r = 0; r < n; r++) {                                                                             \
            T a = top[2 * r], b = top[2 * r + 1], c = low[2 * r], d = low[2 * r + 1];                                 \
            bool right = (b > a) | ((b != b) & (a == a)), lower_right = (d > c) | ((d != d) & (c == c));              \
            T u = right ? b : a, v = lower_right ? d : c;                                                             \
            I iu = right, iv = width + lower_right;                                                                   \
            bool lower = (v > u) | ((v != v) & (u == u));                                                             \
            y[r] = lower ? v : u;                                                                                     \
            index[r] = (int64_t)(at + (I)(2 * r) + (lower ? iv : iu));                                                \
        }                                                                                                             \
    }
PAIRS(pairs_f32, float, int32_t)
PAIRS(pairs_f64, double, int64_t)

/* One tap of n windows side by side, without branches: the same choice as above. */
#define TAP(NAME, T)                                                                                    \
    TP_CLONES static void NAME(int64_t n, const T *restrict x, int64_t step, int32_t at, T *restrict m, \
                               int32_t *restrict best)                                                  \
    {                                                                                                   \
        for (int64_t r = 0; r < n; r++) {                                                               \
            T v = x[r * step], u = m[r];                                                                \
            bool wins = (v > u) | ((v != v) & (u == u));                                                \
            m[r] = wins ? v : u;                                                                        \
            best[r] = wins ? at + (int32_t)(r * step) : best[r];                                        \
        }                                                                                               \
    }
TAP(tap_f32, float)
TAP(tap_f64, double)

enum { SIDE_BY_SIDE = 64 };

/* A plane of two dimensions. Where a window lies inside along the row, its neighbours go with it. */
#define IMAGE(NAME, T, TAP_OF)                                                                   \
    static void NAME(const pool_job *j, const T *x, T *y, int64_t *index)                        \
    {                                                                                            \
        const window *h = &j->d[1], *w = &j->d[2];                                               \
        int64_t b0, b1, bz, c0, c1, cz, room = w->in - 1 - (w->taps - 1) * w->dilation + w->pad; \
        int64_t low = min64((w->pad + w->stride - 1) / w->stride, w->out);                       \
        int64_t high = room < 0 ? low : min64(w->out, room / w->stride + 1);                     \
        for (int64_t q = 0; q < h->out; q++, y += w->out, index += w->out) {                     \
            taps_of(h, q, &b0, &b1, &bz);                                                        \
            for (int64_t r = 0; r < w->out;) {                                                   \
                T m[SIDE_BY_SIDE];                                                               \
                int32_t best[SIDE_BY_SIDE];                                                      \
                int64_t n = r >= low && r < high ? min64(SIDE_BY_SIDE, high - r) : 1;            \
                taps_of(w, r, &c0, &c1, &cz);                                                    \
                if (b0 >= b1 || c0 >= c1) {                                                      \
                    y[r] = -INFINITY;                                                            \
                    index[r++] = 0;                                                              \
                    continue;                                                                    \
                }                                                                                \
                int64_t first = (bz + b0 * h->dilation) * w->in + cz + c0 * w->dilation;         \
                for (int64_t k = 0; k < n; k++) {                                                \
                    m[k] = x[first + k * w->stride];                                             \
                    best[k] = (int32_t)(first + k * w->stride);                                  \
                }                                                                                \
                for (int64_t b = b0; b < b1; b++)                                                \
                    for (int64_t c = c0; c < c1; c++) {                                          \
                        int64_t at = (bz + b * h->dilation) * w->in + cz + c * w->dilation;      \
                        TAP_OF(n, x + at, w->stride, (int32_t)at, m, best);                      \
                    }                                                                            \
                for (int64_t k = 0; k < n; k++, r++) {                                           \
                    y[r] = m[k];                                                                 \
                    index[r] = best[k];                                                          \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
    }
IMAGE(image_f32, float, tap_f32)
IMAGE(image_f64, double, tap_f64)

static bool halves(const window *w)
{
    return w->taps == 2 && w->stride == 2 && w->pad == 0 && w->dilation == 1 && 2 * w->out <= w->in;
}

static void pool_range(int64_t begin, int64_t end, void *ctx)
{
    const pool_job *j = ctx;
    int size = tpi_esize(j->dtype);
    const window *h = &j->d[1], *w = &j->d[2];
    bool image = j->d[0].in == 1 && j->d[0].taps == 1 && j->d[0].out == 1 && j->d[0].pad == 0 && j->in < INT32_MAX;
    bool quick = image && halves(h) && halves(w);
    image &= !quick && w->taps && w->out >= 4;
    for (int64_t i = begin; i < end; i++) {
        const char *x = j->x + i * j->in * size;
        char *y = j->y + i * j->out * size;
        int64_t *index = j->index + i * j->out;
#define CALL(NAME)                              \
    NAME(j, (const void *)x, (void *)y, index); \
    break
        switch (j->dtype) {
        case TP_FLOAT32:
            if (image) image_f32(j, (const float *)x, (float *)y, index);
            else if (!quick) plane_f32(j, (const float *)x, (float *)y, index);
            for (int64_t q = 0; quick && q < h->out; q++)
                pairs_f32(w->out, (const float *)x + 2 * q * w->in, (const float *)x + (2 * q + 1) * w->in,
                          (int32_t)(2 * q * w->in), (int32_t)w->in, (float *)y + q * w->out, index + q * w->out);
            break;
        case TP_FLOAT64:
            if (image) image_f64(j, (const double *)x, (double *)y, index);
            else if (!quick) plane_f64(j, (const double *)x, (double *)y, index);
            for (int64_t q = 0; quick && q < h->out; q++)
                pairs_f64(w->out, (const double *)x + 2 * q * w->in, (const double *)x + (2 * q + 1) * w->in,
                          2 * q * w->in, w->in, (double *)y + q * w->out, index + q * w->out);
            break;
        case TP_BOOL:
        case TP_UINT8: CALL(plane_u8);
        case TP_INT8: CALL(plane_i8);
        case TP_UINT16: CALL(plane_u16);
        case TP_INT16: CALL(plane_i16);
        case TP_UINT32: CALL(plane_u32);
        case TP_INT32: CALL(plane_i32);
        case TP_UINT64: CALL(plane_u64);
        default: CALL(plane_i64);
        }
#undef CALL
    }
}

/* self, size, kernel, stride, padding, dilation: lists of one entry a spatial dimension. */
int k_max_pool_nd(tp_call *c)
{
    const tp_val *a = c->args;
    tp_tensor *self = arg_t(&a[0]);
    int nd = a[1].n, lead = self->ndim - nd, compute = tpi_compute_dtype(self->dtype);
    pool_job j = {.dtype = compute, .in = 1, .out = 1};
    int64_t shape[TPI_DIMS_CAP], planes = 1;
    for (int d = 0; d < 3; d++) {
        int k = d - 3 + nd;
        j.d[d] = (window){1, 1, 1, 1, 0, 1};
        if (k < 0) continue;
        j.d[d] = (window){self->shape[lead + k], a[2].v.ints[k], a[1].v.ints[k],
                          a[3].v.ints[k],        a[4].v.ints[k], a[5].v.ints[k]};
        shape[lead + k] = j.d[d].out;
        j.in *= j.d[d].in;
        j.out *= j.d[d].out;
    }
    for (int d = 0; d < lead; d++) planes *= shape[d] = self->shape[d];
    tp_tensor *x = self->dtype == compute ? tpi_dense_contiguous(self) : tpi_dense_cast(self, compute);
    tp_tensor *y = x ? tpi_empty(compute, self->ndim, shape) : NULL;
    tp_tensor *index = y ? tpi_empty(TP_INT64, self->ndim, shape) : NULL;
    if (index && index->numel) {
        j.x = tpi_data(x);
        j.y = tpi_data(y);
        j.index = tpi_data(index);
        tpi_parallel_for(planes, 1 + 16384 / (j.in + 1), pool_range, &j);
    }
    if (index && compute != self->dtype) {
        tp_tensor *cast = tpi_dense_cast(y, self->dtype);
        tp_release(y);
        y = cast;
    }
    tp_release(x);
    if (!index || !y) {
        tp_release(index);
        tp_release(y);
        return tp_error_code();
    }
    c->out[0] = y;
    c->out[1] = index;
    return 0;
}
