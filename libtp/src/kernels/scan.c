/* Scans along one dimension. float and double accumulate in double, integers in int64 (modulo 2^64). */
#include <complex.h>
#include <math.h>

#include "core/pool.h"
#include "kernels/half.h"
#include "kernels/scan.h"
#include "kernels/vmath.h"
#include "tpi_ops.h"

typedef struct line_task {
    tpi_lines *l;
    int64_t inner, tiles, max_cols;
} line_task;

static void run_lines(int64_t begin, int64_t end, void *ctx)
{
    line_task *t = ctx;
    for (int64_t task = begin; task < end; task++) {
        int64_t outer = task / t->tiles, c = task % t->tiles * t->max_cols;
        int64_t cols = t->inner - c < t->max_cols ? t->inner - c : t->max_cols;
        t->l->tile(t->l, outer * t->l->n * t->inner + c, cols);
    }
}

void tpi_for_lines(tpi_lines *l, const tp_tensor *t, int dim, int64_t max_cols)
{
    int64_t outer = 1, inner = 1;
    for (int d = 0; d < t->ndim; d++)
        if (d != dim) *(d < dim ? &outer : &inner) *= t->shape[d];
    l->n = t->shape[dim];
    l->ld = inner;
    if (t->numel == 0) return;
    line_task task = {l, inner, (inner + max_cols - 1) / max_cols, max_cols};
    int64_t work = l->n * (inner < max_cols ? inner : max_cols), grain = 32768 / work;
    tpi_parallel_for(outer * task.tiles, grain > 0 ? grain : 1, run_lines, &task);
}

#define SAME(x) (x)

/* flag[0]: from the end. flag[1]: exclusive. */
#define SCAN(name, F, A, dec, enc, start, expr)                                                         \
    TP_CLONES static void name(tpi_lines *l, int64_t first, int64_t cols)                               \
    {                                                                                                   \
        int64_t ld = l->flag[0] ? -l->ld : l->ld, n = l->n;                                             \
        const F *restrict x = (const F *)l->in[0] + first + (l->flag[0] ? (n - 1) * l->ld : 0);         \
        F *restrict y = (F *)l->out[0] + first + (l->flag[0] ? (n - 1) * l->ld : 0);                    \
        A acc[TPI_LINE_TILE];                                                                           \
        if (cols == 1) {                                                                                \
            A a = start;                                                                                \
            if (l->flag[1])                                                                             \
                for (int64_t i = 0; i < n; i++, x += ld, y += ld) {                                     \
                    A v = dec(*x);                                                                      \
                    *y = enc(a);                                                                        \
                    a = expr(a, v);                                                                     \
                }                                                                                       \
            else {                                                                                      \
                int64_t i = 0;                                                                          \
                for (; i + 4 <= n; i += 4, x += 4 * ld, y += 4 * ld) { /* one dependent step in four */ \
                    A p = dec(x[0]), q = dec(x[ld]), u = dec(x[2 * ld]), v = dec(x[3 * ld]);            \
                    A pq = expr(p, q), pqu = expr(pq, u), uv = expr(u, v), all = expr(pq, uv);          \
                    y[0] = enc(expr(a, p));                                                             \
                    y[ld] = enc(expr(a, pq));                                                           \
                    y[2 * ld] = enc(expr(a, pqu));                                                      \
                    a = expr(a, all);                                                                   \
                    y[3 * ld] = enc(a);                                                                 \
                }                                                                                       \
                for (; i < n; i++, x += ld, y += ld) {                                                  \
                    A v = dec(*x);                                                                      \
                    a = expr(a, v);                                                                     \
                    *y = enc(a);                                                                        \
                }                                                                                       \
            }                                                                                           \
            return;                                                                                     \
        }                                                                                               \
        for (int64_t j = 0; j < cols; j++) acc[j] = start;                                              \
        for (int64_t i = 0; i < n; i++, x += ld, y += ld) {                                             \
            if (l->flag[1])                                                                             \
                for (int64_t j = 0; j < cols; j++) {                                                    \
                    A v = dec(x[j]);                                                                    \
                    y[j] = enc(acc[j]);                                                                 \
                    acc[j] = expr(acc[j], v);                                                           \
                }                                                                                       \
            else                                                                                        \
                for (int64_t j = 0; j < cols; j++) {                                                    \
                    A v = dec(x[j]);                                                                    \
                    acc[j] = expr(acc[j], v);                                                           \
                    y[j] = enc(acc[j]);                                                                 \
                }                                                                                       \
        }                                                                                               \
    }

#define PLUS(a, b) ((a) + (b))
#define TIMES(a, b) ((a) * (b))
static inline double complex times_c(double complex a, double complex b)
{
    return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}
#define ENC_F16(x) tpi_f16_encode(tpi_f64_round_odd(x))
#define ENC_BF16(x) tpi_bf16_encode(tpi_f64_round_odd(x))
#define ENC_F32(x) ((float)(x))
#define ENC_C64(x) ((float complex)(x))

#define SCANS(name, start, expr, expr_c)                                                      \
    SCAN(name##_f16, uint16_t, double, tpi_f16_decode, ENC_F16, start, expr)                  \
    SCAN(name##_bf16, uint16_t, double, tpi_bf16_decode, ENC_BF16, start, expr)               \
    SCAN(name##_f32, float, double, SAME, ENC_F32, start, expr)                               \
    SCAN(name##_f64, double, double, SAME, SAME, start, expr)                                 \
    SCAN(name##_i64, uint64_t, uint64_t, SAME, SAME, start, expr)                             \
    SCAN(name##_c64, float complex, double complex, SAME, ENC_C64, start, expr_c)             \
    SCAN(name##_c128, double complex, double complex, SAME, SAME, start, expr_c)              \
    static void (*const name##_table[])(tpi_lines *, int64_t, int64_t) = {                    \
        name##_i64, name##_f16, name##_bf16, name##_f32, name##_f64, name##_c64, name##_c128, \
    };
SCANS(cumsum, 0, PLUS, PLUS)
SCANS(cumprod, 1, TIMES, times_c)

static int table_index(int dtype) { return dtype < TP_FLOAT16 ? 0 : dtype - TP_FLOAT16 + 1; }

/* Argument i contiguous, integers as int64. */
static tp_tensor *operand(tp_call *c, int i)
{
    tp_tensor *x = arg_t(&c->args[i]);
    return x->dtype < TP_INT64 ? tpi_dense_cast(x, TP_INT64) : tpi_dense_contiguous(x);
}

static int finish(tp_call *c, tpi_lines *l, tp_tensor *x, int dim)
{
    tp_tensor *out = tpi_empty_like(x, x->dtype);
    if (out) {
        l->in[0] = tpi_data(x);
        l->out[0] = tpi_data(out);
        tpi_for_lines(l, x, dim, TPI_LINE_TILE);
    }
    tp_release(x);
    c->out[0] = out;
    return out ? 0 : TP_ERR_MEMORY;
}

int k_cumsum(tp_call *c)
{
    tp_tensor *x = operand(c, 0);
    if (!x) return tp_error_code();
    tpi_lines l = {.tile = cumsum_table[table_index(x->dtype)], .flag = {arg_b(&c->args[2]), false}};
    return finish(c, &l, x, (int)arg_i(&c->args[1]));
}

int k_cumprod(tp_call *c)
{
    tp_tensor *x = operand(c, 0);
    if (!x) return tp_error_code();
    tpi_lines l = {.tile = cumprod_table[table_index(x->dtype)], .flag = {arg_b(&c->args[2]), arg_b(&c->args[3])}};
    return finish(c, &l, x, (int)arg_i(&c->args[1]));
}

/* ---- y[j] = x[j] + f[j] y[j - 1] ---- */
#define AFFINE(name, F, A, dec, enc, mul)                                                          \
    TP_CLONES static void name(tpi_lines *l, int64_t first, int64_t cols)                          \
    {                                                                                              \
        int64_t ld = l->flag[0] ? -l->ld : l->ld, n = l->n, at = l->flag[0] ? (n - 1) * l->ld : 0; \
        const F *restrict x = (const F *)l->in[0] + first + at;                                    \
        const F *restrict f = (const F *)l->in[1] + first + at;                                    \
        F *restrict y = (F *)l->out[0] + first + at;                                               \
        A acc[TPI_LINE_TILE];                                                                      \
        for (int64_t j = 0; j < cols; j++) {                                                       \
            acc[j] = dec(x[j]);                                                                    \
            y[j] = enc(acc[j]);                                                                    \
        }                                                                                          \
        for (int64_t i = 1; i < n; i++) {                                                          \
            x += ld;                                                                               \
            f += ld;                                                                               \
            y += ld;                                                                               \
            for (int64_t j = 0; j < cols; j++) {                                                   \
                A b = dec(x[j]), w = dec(f[j]);                                                    \
                acc[j] = b + mul(w, acc[j]);                                                       \
                y[j] = enc(acc[j]);                                                                \
            }                                                                                      \
        }                                                                                          \
    }
AFFINE(affine_f16, uint16_t, double, tpi_f16_decode, ENC_F16, TIMES)
AFFINE(affine_bf16, uint16_t, double, tpi_bf16_decode, ENC_BF16, TIMES)
AFFINE(affine_f32, float, double, SAME, ENC_F32, TIMES)
AFFINE(affine_f64, double, double, SAME, SAME, TIMES)
AFFINE(affine_i64, uint64_t, uint64_t, SAME, SAME, TIMES)
AFFINE(affine_c64, float complex, double complex, SAME, ENC_C64, times_c)
AFFINE(affine_c128, double complex, double complex, SAME, SAME, times_c)

int k_affine_scan(tp_call *c)
{
    static void (*const table[])(tpi_lines *, int64_t, int64_t) = {
        affine_i64, affine_f16, affine_bf16, affine_f32, affine_f64, affine_c64, affine_c128,
    };
    tp_tensor *x = operand(c, 0), *f = x ? operand(c, 1) : NULL;
    if (!f) {
        tp_release(x);
        return tp_error_code();
    }
    tpi_lines l = {
        .tile = table[table_index(x->dtype)], .flag = {arg_b(&c->args[3]), false}, .in = {NULL, tpi_data(f)}};
    int rc = finish(c, &l, x, (int)arg_i(&c->args[2]));
    tp_release(f);
    return rc;
}

/* ---- running log-sum-exp: the state is the largest element so far and the sum of exp(x - it) ---- */
#define LOGCUMSUMEXP(name, F, dec, enc)                                  \
    static void name(tpi_lines *l, int64_t first, int64_t cols)          \
    {                                                                    \
        for (int64_t j = 0; j < cols; j++) {                             \
            const F *x = (const F *)l->in[0] + first + j;                \
            F *y = (F *)l->out[0] + first + j;                           \
            double m = -INFINITY, sum = 0;                               \
            for (int64_t i = 0; i < l->n; i++, x += l->ld, y += l->ld) { \
                double v = dec(*x);                                      \
                if (v > m) {                                             \
                    sum = sum * exp(m - v) + 1;                          \
                    m = v;                                               \
                } else if (v == m) {                                     \
                    sum += m == -(double)INFINITY ? 0 : 1;               \
                } else if (v < m) {                                      \
                    sum += exp(v - m);                                   \
                } else {                                                 \
                    m = sum = NAN;                                       \
                }                                                        \
                *y = enc(m + log(sum));                                  \
            }                                                            \
        }                                                                \
    }
LOGCUMSUMEXP(logcumsumexp_f16, uint16_t, tpi_f16_decode, ENC_F16)
LOGCUMSUMEXP(logcumsumexp_bf16, uint16_t, tpi_bf16_decode, ENC_BF16)
LOGCUMSUMEXP(logcumsumexp_f32, float, SAME, ENC_F32)
LOGCUMSUMEXP(logcumsumexp_f64, double, SAME, SAME)

#define TURN (2 * 3.14159265358979323846)

/* The same for complex numbers: the largest real part is taken out. The sum has the value, adding one number after the
 * other the turns of its angle. */
#define LOGCUMSUMEXP_COMPLEX(name, F, enc)                                                               \
    static void name(tpi_lines *l, int64_t first, int64_t cols)                                          \
    {                                                                                                    \
        for (int64_t j = 0; j < cols; j++) {                                                             \
            const F *x = (const F *)l->in[0] + first + j;                                                \
            F *y = (F *)l->out[0] + first + j;                                                           \
            double m = -INFINITY;                                                                        \
            double complex sum = 0, last = CMPLX(-(double)INFINITY, 0);                                  \
            for (int64_t i = 0; i < l->n; i++, x += l->ld, y += l->ld) {                                 \
                double complex v = *x;                                                                   \
                double a = creal(v);                                                                     \
                if (a > m) {                                                                             \
                    if (i) sum *= exp(m - a);                                                            \
                    m = a;                                                                               \
                } else if (!(a <= m) || isnan(cimag(v))) {                                               \
                    m = NAN;                                                                             \
                    sum = CMPLX(NAN, NAN);                                                               \
                }                                                                                        \
                if (a > -(double)INFINITY) sum += cexp(CMPLX(a == m ? 0 : a - m, cimag(v)));             \
                double complex r = clog(sum);                                                            \
                last = tpi_clogaddexp(v, last);                                                          \
                if (isfinite(creal(r)) && isfinite(m))                                                   \
                    last = CMPLX(m + creal(r), cimag(r) + TURN * rint((cimag(last) - cimag(r)) / TURN)); \
                *y = enc(last);                                                                          \
            }                                                                                            \
        }                                                                                                \
    }
LOGCUMSUMEXP_COMPLEX(logcumsumexp_c64, float complex, ENC_C64)
LOGCUMSUMEXP_COMPLEX(logcumsumexp_c128, double complex, SAME)

int k_logcumsumexp(tp_call *c)
{
    static void (*const table[])(tpi_lines *, int64_t, int64_t) = {
        logcumsumexp_f16, logcumsumexp_bf16, logcumsumexp_f32, logcumsumexp_f64, logcumsumexp_c64, logcumsumexp_c128,
    };
    tp_tensor *x = operand(c, 0);
    if (!x) return tp_error_code();
    tpi_lines l = {.tile = table[x->dtype - TP_FLOAT16]};
    return finish(c, &l, x, (int)arg_i(&c->args[1]));
}

/* ---- running extremes. An element takes over unless it is beaten; NaN beats everything but NaN. ---- */
#define CUMULATIVE(name, F, A, dec, OP)                                               \
    TP_CLONES static void name(tpi_lines *l, int64_t first, int64_t cols)             \
    {                                                                                 \
        const F *restrict x = (const F *)l->in[0] + first;                            \
        F *restrict y = (F *)l->out[0] + first;                                       \
        int64_t *restrict at = (int64_t *)l->out[1] + first, where[TPI_LINE_TILE];    \
        F best[TPI_LINE_TILE];                                                        \
        if (cols == 1) {                                                              \
            F top = *x;                                                               \
            int64_t k = 0;                                                            \
            for (int64_t i = 0; i < l->n; i++, x += l->ld, y += l->ld, at += l->ld) { \
                A v = dec(*x), t = dec(top);                                          \
                bool take = (v OP t) | (v != v);                                      \
                top = take ? *x : top;                                                \
                k = take ? i : k;                                                     \
                *y = top;                                                             \
                *at = k;                                                              \
            }                                                                         \
            return;                                                                   \
        }                                                                             \
        memcpy(best, x, sizeof(F) * (size_t)cols);                                    \
        memset(where, 0, sizeof *where * (size_t)cols);                               \
        for (int64_t i = 0; i < l->n; i++, x += l->ld, y += l->ld, at += l->ld)       \
            for (int64_t j = 0; j < cols; j++) {                                      \
                A v = dec(x[j]), t = dec(best[j]);                                    \
                bool take = (v OP t) | (v != v);                                      \
                y[j] = best[j] = take ? x[j] : best[j];                               \
                at[j] = where[j] = take ? i : where[j];                               \
            }                                                                         \
    }
#define CUMULATIVES(name, OP)                                                                \
    CUMULATIVE(name##_u8, uint8_t, int, SAME, OP)                                            \
    CUMULATIVE(name##_i8, int8_t, int, SAME, OP)                                             \
    CUMULATIVE(name##_u16, uint16_t, int, SAME, OP)                                          \
    CUMULATIVE(name##_i16, int16_t, int, SAME, OP)                                           \
    CUMULATIVE(name##_u32, uint32_t, uint32_t, SAME, OP)                                     \
    CUMULATIVE(name##_i32, int32_t, int32_t, SAME, OP)                                       \
    CUMULATIVE(name##_u64, uint64_t, uint64_t, SAME, OP)                                     \
    CUMULATIVE(name##_i64, int64_t, int64_t, SAME, OP)                                       \
    CUMULATIVE(name##_f16, uint16_t, float, tpi_f16_decode, OP)                              \
    CUMULATIVE(name##_bf16, uint16_t, float, tpi_bf16_decode, OP)                            \
    CUMULATIVE(name##_f32, float, float, SAME, OP)                                           \
    CUMULATIVE(name##_f64, double, double, SAME, OP)                                         \
    static void (*const name##_table[])(tpi_lines *, int64_t, int64_t) = {                   \
        name##_u8,  name##_u8,  name##_i8,  name##_u16,  name##_i16, name##_u32, name##_i32, \
        name##_u64, name##_i64, name##_f16, name##_bf16, name##_f32, name##_f64,             \
    };
CUMULATIVES(cummax, >=)
CUMULATIVES(cummin, <=)

static int cumulative(tp_call *c, void (*const *table)(tpi_lines *, int64_t, int64_t))
{
    tp_tensor *x = tpi_dense_contiguous(arg_t(&c->args[0]));
    tp_tensor *at = x ? tpi_empty_like(x, TP_INT64) : NULL;
    if (!at) {
        tp_release(x);
        return tp_error_code();
    }
    tpi_lines l = {.tile = table[x->dtype], .out = {NULL, tpi_data(at)}};
    int rc = finish(c, &l, x, (int)arg_i(&c->args[1]));
    if (rc) tp_release(at);
    else c->out[1] = at;
    return rc;
}

int k_cummax(tp_call *c) { return cumulative(c, cummax_table); }
int k_cummin(tp_call *c) { return cumulative(c, cummin_table); }
