/* Largest and smallest elements, with and without their positions. NaN is above (and below) everything, and the
 * first of equal elements is the one that counts. */
#include <math.h>

#include "kernels/reduce.h"

/* BETTER is an instruction of its own; it drops NaN, which the sum beside it keeps. A sum that is NaN because of
 * opposite infinities costs a second look. Two halves of H lanes; the last elements may be seen twice. */
#define BEST_RUN(name, T, H, OP)                                                                  \
    static inline __attribute__((always_inline)) T name##_careful(const T *x, int64_t n)          \
    {                                                                                             \
        T t = x[0];                                                                               \
        for (int64_t i = 0; i < n; i++)                                                           \
            if (x[i] OP t || x[i] != x[i]) t = x[i];                                              \
        return t;                                                                                 \
    }                                                                                             \
    TP_CLONES static T name##_run(const T *x, int64_t n)                                          \
    {                                                                                             \
        if (n < (H)) return name##_careful(x, n);                                                 \
        T best[2 * (H)], sum[2 * (H)];                                                            \
        const T *second = n >= 2 * (H) ? x + (H) : x + n - (H);                                   \
        for (int j = 0; j < (H); j++) {                                                           \
            best[j] = sum[j] = x[j];                                                              \
            best[j + (H)] = sum[j + (H)] = second[j];                                             \
        }                                                                                         \
        int64_t i = 2 * (H);                                                                      \
        for (; i + 2 * (H) <= n; i += 2 * (H))                                                    \
            for (int j = 0; j < 2 * (H); j++) {                                                   \
                T v = x[i + j];                                                                   \
                best[j] = v OP best[j] ? v : best[j];                                             \
                sum[j] += v;                                                                      \
            }                                                                                     \
        for (; i < n; i += (H)) {                                                                 \
            const T *p = x + (i + (H) <= n ? i : n - (H));                                        \
            for (int j = 0; j < (H); j++) {                                                       \
                T v = p[j];                                                                       \
                best[j] = v OP best[j] ? v : best[j];                                             \
                sum[j] += v;                                                                      \
            }                                                                                     \
        }                                                                                         \
        for (int k = (H); k >= 4; k /= 2)                                                         \
            for (int j = 0; j < k; j++) {                                                         \
                best[j] = best[j + k] OP best[j] ? best[j + k] : best[j];                         \
                sum[j] += sum[j + k];                                                             \
            }                                                                                     \
        T s = (sum[0] + sum[1]) + (sum[2] + sum[3]);                                              \
        if (s != s) return name##_careful(x, n);                                                  \
        T p = best[1] OP best[0] ? best[1] : best[0], q = best[3] OP best[2] ? best[3] : best[2]; \
        return q OP p ? q : p;                                                                    \
    }                                                                                             \
    static void name(void *s, const void *xp, int64_t n, int64_t base)                            \
    {                                                                                             \
        T t = *(T *)s;                                                                            \
        if (t == t && n > 0) {                                                                    \
            T v = name##_run(xp, n);                                                              \
            *(T *)s = v OP t || v != v ? v : t;                                                   \
        }                                                                                         \
    }

BEST_RUN(max_inner_f32, float, 32, >)
BEST_RUN(min_inner_f32, float, 32, <)
BEST_RUN(max_inner_f64, double, 16, >)
BEST_RUN(min_inner_f64, double, 16, <)

#define BEST_INT(name, T, OP)                                                    \
    TP_CLONES static void name(void *s, const void *xp, int64_t n, int64_t base) \
    {                                                                            \
        const T *x = xp;                                                         \
        T t = *(T *)s;                                                           \
        for (int64_t i = 0; i < n; i++) t = x[i] OP t ? x[i] : t;                \
        *(T *)s = t;                                                             \
    }
BEST_INT(max_inner_i32, int32_t, >)
BEST_INT(min_inner_i32, int32_t, <)
BEST_INT(max_inner_i64, int64_t, >)
BEST_INT(min_inner_i64, int64_t, <)

#define BEST_OUTER(name, merge, T, OP)                                                                      \
    TP_CLONES static void name(void *sp, const void *xp, int64_t rows, int64_t ld, int64_t n, int64_t base) \
    {                                                                                                       \
        T *restrict s = sp;                                                                                 \
        const T *restrict x = xp;                                                                           \
        int64_t r = 0;                                                                                      \
        for (; r + 4 <= rows; r += 4, x += 4 * ld) {                                                        \
            const T *restrict b = x + ld, *restrict c = b + ld, *restrict d = c + ld;                       \
            for (int64_t j = 0; j < n; j++) {                                                               \
                T t = s[j], p = x[j], q = b[j], u = c[j], v = d[j];                                         \
                t = (p OP t) | (p != p) ? p : t;                                                            \
                t = (q OP t) | (q != q) ? q : t;                                                            \
                t = (u OP t) | (u != u) ? u : t;                                                            \
                t = (v OP t) | (v != v) ? v : t;                                                            \
                s[j] = t;                                                                                   \
            }                                                                                               \
        }                                                                                                   \
        for (; r < rows; r++, x += ld)                                                                      \
            for (int64_t j = 0; j < n; j++) {                                                               \
                T t = s[j], p = x[j];                                                                       \
                s[j] = (p OP t) | (p != p) ? p : t;                                                         \
            }                                                                                               \
    }                                                                                                       \
    static void merge(void *s, const void *b, int64_t n) { name(s, b, 1, n, n, 0); }

BEST_OUTER(max_outer_f32, max_merge_f32, float, >)
BEST_OUTER(min_outer_f32, min_merge_f32, float, <)
BEST_OUTER(max_outer_f64, max_merge_f64, double, >)
BEST_OUTER(min_outer_f64, min_merge_f64, double, <)
BEST_OUTER(max_outer_i32, max_merge_i32, int32_t, >)
BEST_OUTER(min_outer_i32, min_merge_i32, int32_t, <)
BEST_OUTER(max_outer_i64, max_merge_i64, int64_t, >)
BEST_OUTER(min_outer_i64, min_merge_i64, int64_t, <)

#define INIT(name, T, value)                                 \
    static void name(void *s, int64_t n)                     \
    {                                                        \
        for (int64_t i = 0; i < n; i++) ((T *)s)[i] = value; \
    }
INIT(init_low_f32, float, -INFINITY)
INIT(init_high_f32, float, INFINITY)
INIT(init_low_f64, double, -INFINITY)
INIT(init_high_f64, double, INFINITY)
INIT(init_low_i32, int32_t, INT32_MIN)
INIT(init_high_i32, int32_t, INT32_MAX)
INIT(init_low_i64, int64_t, INT64_MIN)
INIT(init_high_i64, int64_t, INT64_MAX)

const tpi_fold *tpi_fold_max(int compute)
{
    static const tpi_fold f32 = {4, 4, false, init_low_f32, max_inner_f32, max_outer_f32, max_merge_f32};
    static const tpi_fold f64 = {8, 8, false, init_low_f64, max_inner_f64, max_outer_f64, max_merge_f64};
    static const tpi_fold i32 = {4, 4, false, init_low_i32, max_inner_i32, max_outer_i32, max_merge_i32};
    static const tpi_fold i64 = {8, 8, false, init_low_i64, max_inner_i64, max_outer_i64, max_merge_i64};
    return compute == TP_FLOAT32 ? &f32 : compute == TP_FLOAT64 ? &f64 : compute == TP_INT32 ? &i32 : &i64;
}

const tpi_fold *tpi_fold_min(int compute)
{
    static const tpi_fold f32 = {4, 4, false, init_high_f32, min_inner_f32, min_outer_f32, min_merge_f32};
    static const tpi_fold f64 = {8, 8, false, init_high_f64, min_inner_f64, min_outer_f64, min_merge_f64};
    static const tpi_fold i32 = {4, 4, false, init_high_i32, min_inner_i32, min_outer_i32, min_merge_i32};
    static const tpi_fold i64 = {8, 8, false, init_high_i64, min_inner_i64, min_outer_i64, min_merge_i64};
    return compute == TP_FLOAT32 ? &f32 : compute == TP_FLOAT64 ? &f64 : compute == TP_INT32 ? &i32 : &i64;
}

/* ---- with positions: a run's extreme first, in vectors; its position only where it beats the state ---- */
static void init_best(void *s, int64_t n)
{
    for (int64_t i = 0; i < n; i++) ((tpi_best_f *)s)[i] = (tpi_best_f){0, -1};
}

#define ARG_INNER(name, run, T, B, OP)                                  \
    TP_CLONES static int64_t name##_find(const T *x, int64_t n, T t)    \
    {                                                                   \
        int64_t i = 0;                                                  \
        for (int any = 0; i + 64 <= n; i += 64) {                       \
            for (int j = 0; j < 64; j++) any |= x[i + j] == t;          \
            if (any) break;                                             \
        }                                                               \
        while (x[i] != t) i++;                                          \
        return i;                                                       \
    }                                                                   \
    static void name(void *sp, const void *xp, int64_t n, int64_t base) \
    {                                                                   \
        B *s = sp;                                                      \
        const T *x = xp;                                                \
        if (s->index >= 0 && s->v != s->v) return;                      \
        T t = run(x, n);                                                \
        if (s->index >= 0 && !(t OP s->v || t != t)) return;            \
        int64_t i = 0;                                                  \
        if (t != t)                                                     \
            while (x[i] == x[i]) i++;                                   \
        else i = name##_find(x, n, t);                                  \
        s->v = t;                                                       \
        s->index = base + i;                                            \
    }

TP_CLONES
static int64_t max_run_i64(const int64_t *x, int64_t n)
{
    int64_t t = x[0];
    for (int64_t i = 1; i < n; i++) t = x[i] > t ? x[i] : t;
    return t;
}

TP_CLONES
static int64_t min_run_i64(const int64_t *x, int64_t n)
{
    int64_t t = x[0];
    for (int64_t i = 1; i < n; i++) t = x[i] < t ? x[i] : t;
    return t;
}

ARG_INNER(argmax_inner_f32, max_inner_f32_run, float, tpi_best_f, >)
ARG_INNER(argmin_inner_f32, min_inner_f32_run, float, tpi_best_f, <)
ARG_INNER(argmax_inner_f64, max_inner_f64_run, double, tpi_best_f, >)
ARG_INNER(argmin_inner_f64, min_inner_f64_run, double, tpi_best_f, <)
ARG_INNER(argmax_inner_i64, max_run_i64, int64_t, tpi_best_i, >)
ARG_INNER(argmin_inner_i64, min_run_i64, int64_t, tpi_best_i, <)

/* I: an integer as wide as T, so that the comparison serves both selections. A call has at most TPI_FOLD_BLOCK rows.
 * A NaN in v is kept, since no comparison with it holds, unless x is NaN as well: hence the third test. */
#define ARG_OUTER(name, merge, T, I, B, OP)                                                                        \
    TP_CLONES static void name(void *sp, const void *xp, int64_t rows, int64_t ld, int64_t n, int64_t base)        \
    {                                                                                                              \
        B *s = sp;                                                                                                 \
        const T *restrict x = xp;                                                                                  \
        T v[TPI_FOLD_TILE];                                                                                        \
        I at[TPI_FOLD_TILE];                                                                                       \
        for (int64_t j = 0; j < n; j++) {                                                                          \
            v[j] = s[j].index >= 0 ? (T)s[j].v : x[j];                                                             \
            at[j] = s[j].index >= 0 ? -1 : 0;                                                                      \
        }                                                                                                          \
        for (int64_t r = 0; r < rows; r++, x += ld)                                                                \
            for (int64_t j = 0; j < n; j++) {                                                                      \
                bool c = (x[j] OP v[j]) | ((x[j] != x[j]) & (v[j] == v[j]));                                       \
                v[j] = c ? x[j] : v[j];                                                                            \
                at[j] = c ? (I)r : at[j];                                                                          \
            }                                                                                                      \
        for (int64_t j = 0; j < n; j++)                                                                            \
            if (at[j] >= 0) {                                                                                      \
                s[j].v = v[j];                                                                                     \
                s[j].index = base + at[j];                                                                         \
            }                                                                                                      \
    }                                                                                                              \
    static void merge(void *sp, const void *bp, int64_t n)                                                         \
    {                                                                                                              \
        B *s = sp;                                                                                                 \
        const B *b = bp;                                                                                           \
        for (int64_t j = 0; j < n; j++)                                                                            \
            if (b[j].index >= 0 && (s[j].index < 0 || b[j].v OP s[j].v || (b[j].v != b[j].v && s[j].v == s[j].v))) \
                s[j] = b[j];                                                                                       \
    }

ARG_OUTER(argmax_outer_f32, argmax_merge_f32, float, int32_t, tpi_best_f, >)
ARG_OUTER(argmin_outer_f32, argmin_merge_f32, float, int32_t, tpi_best_f, <)
ARG_OUTER(argmax_outer_f64, argmax_merge_f64, double, int64_t, tpi_best_f, >)
ARG_OUTER(argmin_outer_f64, argmin_merge_f64, double, int64_t, tpi_best_f, <)
ARG_OUTER(argmax_outer_i64, argmax_merge_i64, int64_t, int64_t, tpi_best_i, >)
ARG_OUTER(argmin_outer_i64, argmin_merge_i64, int64_t, int64_t, tpi_best_i, <)

const tpi_fold *tpi_fold_argmax(int compute)
{
    static const tpi_fold f32 = {16, 4, true, init_best, argmax_inner_f32, argmax_outer_f32, argmax_merge_f32};
    static const tpi_fold f64 = {16, 8, true, init_best, argmax_inner_f64, argmax_outer_f64, argmax_merge_f64};
    static const tpi_fold i64 = {16, 8, true, init_best, argmax_inner_i64, argmax_outer_i64, argmax_merge_i64};
    return compute == TP_FLOAT32 ? &f32 : compute == TP_FLOAT64 ? &f64 : &i64;
}

const tpi_fold *tpi_fold_argmin(int compute)
{
    static const tpi_fold f32 = {16, 4, true, init_best, argmin_inner_f32, argmin_outer_f32, argmin_merge_f32};
    static const tpi_fold f64 = {16, 8, true, init_best, argmin_inner_f64, argmin_outer_f64, argmin_merge_f64};
    static const tpi_fold i64 = {16, 8, true, init_best, argmin_inner_i64, argmin_outer_i64, argmin_merge_i64};
    return compute == TP_FLOAT32 ? &f32 : compute == TP_FLOAT64 ? &f64 : &i64;
}
