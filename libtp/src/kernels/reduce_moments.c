/* Folds with two numbers a state: moments (var, std) and log-sum-exp. A run or a block of rows that lies in the
 * cache is read twice; states merge without cancellation. */
#include <math.h>

#include "kernels/reduce.h"
#include "kernels/vmath.h"

#define RUN 1024                 /* elements that are read twice */

static void init_moments(void *s, int64_t n) { memset(s, 0, (size_t)n * sizeof(tpi_moments)); }

static inline __attribute__((always_inline)) void join(tpi_moments *a, double n, double mean, double m2)
{
    if (a->n == 0) {
        *a = (tpi_moments){n, mean, m2};
        return;
    }
    double total = a->n + n, d = mean - a->mean;
    a->m2 += m2 + d * d * (a->n * n / total);
    a->mean += d * (n / total);
    a->n = total;
}

static void merge_moments(void *sp, const void *bp, int64_t n)
{
    tpi_moments *s = sp;
    const tpi_moments *b = bp;
    for (int64_t j = 0; j < n; j++)
        if (b[j].n > 0) join(s + j, b[j].n, b[j].mean, b[j].m2);
}

#define MOMENTS_INNER(name, T, LOAD)                                                                 \
    TP_CLONES static void name(void *s, const void *xp, int64_t total, int64_t base)                 \
    {                                                                                                \
        const T *x = xp;                                                                             \
        for (int64_t n; total > 0; total -= n, x += n) {                                             \
            n = total < RUN ? total : RUN;                                                           \
            tpi_v8d a = {0}, b = {0}, c = {0}, d = {0};                                              \
            int64_t i = 0;                                                                           \
            for (; i + 32 <= n; i += 32) {                                                           \
                a += LOAD(x + i);                                                                    \
                b += LOAD(x + i + 8);                                                                \
                c += LOAD(x + i + 16);                                                               \
                d += LOAD(x + i + 24);                                                               \
            }                                                                                        \
            a = (a + b) + (c + d);                                                                   \
            double mean = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7])), m2 = 0; \
            for (; i < n; i++) mean += x[i];                                                         \
            mean /= (double)n;                                                                       \
            a = b = c = d = (tpi_v8d){0};                                                            \
            for (i = 0; i + 32 <= n; i += 32) {                                                      \
                tpi_v8d p = LOAD(x + i) - mean, q = LOAD(x + i + 8) - mean;                          \
                tpi_v8d u = LOAD(x + i + 16) - mean, v = LOAD(x + i + 24) - mean;                    \
                a += p * p;                                                                          \
                b += q * q;                                                                          \
                c += u * u;                                                                          \
                d += v * v;                                                                          \
            }                                                                                        \
            a = (a + b) + (c + d);                                                                   \
            m2 = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));                  \
            for (; i < n; i++) m2 += (x[i] - mean) * (x[i] - mean);                                  \
            join(s, (double)n, mean, m2);                                                            \
        }                                                                                            \
    }
#define LOAD_F32(p) __builtin_convertvector(*(const tpi_v8f *)(p), tpi_v8d)
#define LOAD_F64(p) (*(const tpi_v8d *)(p))
MOMENTS_INNER(moments_inner_f32, float, LOAD_F32)
MOMENTS_INNER(moments_inner_f64, double, LOAD_F64)

#define MOMENTS_OUTER(name, T)                                                                                      \
    TP_CLONES static void name(void *sp, const void *xp, int64_t rows, int64_t ld, int64_t n, int64_t base)         \
    {                                                                                                               \
        tpi_moments *s = sp;                                                                                        \
        const T *restrict x = xp;                                                                                   \
        double mean[TPI_FOLD_TILE], m2[TPI_FOLD_TILE];                                                              \
        for (int64_t m; rows > 0; rows -= m, x += m * ld) {                                                         \
            m = rows < 32 ? rows : 32;                                                                              \
            memset(mean, 0, (size_t)n * 8);                                                                         \
            memset(m2, 0, (size_t)n * 8);                                                                           \
            int64_t r = 0;                                                                                          \
            for (; r + 4 <= m; r += 4) {                                                                            \
                const T *restrict a = x + r * ld, *restrict b = a + ld, *restrict c = b + ld, *restrict d = c + ld; \
                for (int64_t j = 0; j < n; j++)                                                                     \
                    mean[j] += ((double)a[j] + (double)b[j]) + ((double)c[j] + (double)d[j]);                       \
            }                                                                                                       \
            for (; r < m; r++)                                                                                      \
                for (int64_t j = 0; j < n; j++) mean[j] += x[r * ld + j];                                           \
            for (int64_t j = 0; j < n; j++) mean[j] /= (double)m;                                                   \
            for (r = 0; r + 4 <= m; r += 4) {                                                                       \
                const T *restrict a = x + r * ld, *restrict b = a + ld, *restrict c = b + ld, *restrict d = c + ld; \
                for (int64_t j = 0; j < n; j++) {                                                                   \
                    double p = a[j] - mean[j], q = b[j] - mean[j], u = c[j] - mean[j], v = d[j] - mean[j];          \
                    m2[j] += (p * p + q * q) + (u * u + v * v);                                                     \
                }                                                                                                   \
            }                                                                                                       \
            for (; r < m; r++)                                                                                      \
                for (int64_t j = 0; j < n; j++) {                                                                   \
                    double p = x[r * ld + j] - mean[j];                                                             \
                    m2[j] += p * p;                                                                                 \
                }                                                                                                   \
            for (int64_t j = 0; j < n; j++) join(s + j, (double)m, mean[j], m2[j]);                                 \
        }                                                                                                           \
    }
MOMENTS_OUTER(moments_outer_f32, float)
MOMENTS_OUTER(moments_outer_f64, double)

const tpi_fold *tpi_fold_moments(int compute)
{
    enum { S = sizeof(tpi_moments) };
    static const tpi_fold f32 = {S, 4, false, init_moments, moments_inner_f32, moments_outer_f32, merge_moments};
    static const tpi_fold f64 = {S, 8, false, init_moments, moments_inner_f64, moments_outer_f64, merge_moments};
    return compute == TP_FLOAT32 ? &f32 : &f64;
}

/* ---- log-sum-exp ---- */
static void init_lse(void *s, int64_t n)
{
    for (int64_t i = 0; i < n; i++) ((tpi_lse *)s)[i] = (tpi_lse){-INFINITY, 0};
}

/* s = log-sum-exp of s and (m, sum), where sum is that of exp(x - m): 0 where m is -inf, infinite where it is inf. */
static inline __attribute__((always_inline)) void lse_join(tpi_lse *s, double m, double sum)
{
    if (m == s->m) {
        s->sum += sum;
    } else if (m > s->m) {
        s->sum = s->sum * exp(s->m - m) + sum;
        s->m = m;
    } else if (m < s->m) {
        s->sum += sum * exp(m - s->m);
    } else {
        s->m = s->sum = NAN;
    }
}

static void merge_lse(void *sp, const void *bp, int64_t n)
{
    tpi_lse *s = sp;
    const tpi_lse *b = bp;
    for (int64_t j = 0; j < n; j++) lse_join(s + j, b[j].m, b[j].sum);
}

#define LSE(T, SUF, EXP, MAX, INF)                                                                           \
    static void lse_inner_##SUF(void *sp, const void *xp, int64_t total, int64_t base)                       \
    {                                                                                                        \
        const T *x = xp;                                                                                     \
        T e[RUN];                                                                                            \
        for (int64_t n; total > 0; total -= n, x += n) {                                                     \
            n = total < RUN ? total : RUN;                                                                   \
            T m = -INF;                                                                                      \
            tpi_fold_max(MAX)->inner(&m, x, n, 0);                                                           \
            if (m == -INF) continue;                                                                         \
            T shift = m == INF ? 0 : m;                                                                      \
            for (int64_t i = 0; i < n; i++) e[i] = x[i] - shift;                                             \
            EXP(n, e, e);                                                                                    \
            double sum = 0;                                                                                  \
            tpi_fold_sum(MAX)->inner(&sum, e, n, 0);                                                         \
            lse_join(sp, m, sum);                                                                            \
        }                                                                                                    \
    }                                                                                                        \
    static void lse_outer_##SUF(void *sp, const void *xp, int64_t rows, int64_t ld, int64_t n, int64_t base) \
    {                                                                                                        \
        const T *x = xp;                                                                                     \
        T m[TPI_FOLD_TILE], shift[TPI_FOLD_TILE], e[TPI_FOLD_TILE];                                          \
        double sum[TPI_FOLD_TILE];                                                                           \
        for (int64_t k; rows > 0; rows -= k, x += k * ld) {                                                  \
            k = rows < 32 ? rows : 32;                                                                       \
            for (int64_t j = 0; j < n; j++) m[j] = -INF;                                                     \
            tpi_fold_max(MAX)->outer(m, x, k, ld, n, 0);                                                     \
            for (int64_t j = 0; j < n; j++) {                                                                \
                shift[j] = m[j] == INF || m[j] == -INF ? 0 : m[j];                                           \
                sum[j] = 0;                                                                                  \
            }                                                                                                \
            for (int64_t r = 0; r < k; r++) {                                                                \
                const T *row = x + r * ld;                                                                   \
                for (int64_t j = 0; j < n; j++) e[j] = row[j] - shift[j];                                    \
                EXP(n, e, e);                                                                                \
                for (int64_t j = 0; j < n; j++) sum[j] += e[j];                                              \
            }                                                                                                \
            for (int64_t j = 0; j < n; j++) lse_join((tpi_lse *)sp + j, m[j], sum[j]);                       \
        }                                                                                                    \
    }
LSE(float, f32, tpi_vexp_f32, TP_FLOAT32, INFINITY)
LSE(double, f64, tpi_vexp_f64, TP_FLOAT64, (double)INFINITY)

const tpi_fold *tpi_fold_lse(int compute)
{
    enum { S = sizeof(tpi_lse) };
    static const tpi_fold f32 = {S, 4, false, init_lse, lse_inner_f32, lse_outer_f32, merge_lse};
    static const tpi_fold f64 = {S, 8, false, init_lse, lse_inner_f64, lse_outer_f64, merge_lse};
    return compute == TP_FLOAT32 ? &f32 : &f64;
}
