/* Largest and smallest elements, with and without their positions. NaN is above (and below) everything, and the
 * first of equal elements is the one that counts. */
#include <math.h>

#include "kernels/reduce.h"

/* c is a vector of masks */
#define PICK(V, M, c, x, a) ((V)(((M)(x) & (c)) | ((M)(a) & ~(c))))

#define BEST_INNER(name, T, V, M, L, OP)                                                                    \
    static inline __attribute__((always_inline)) T name##_run(const T *x, int64_t n, T first)               \
    {                                                                                                       \
        V a, b, c, d;                                                                                       \
        for (int j = 0; j < L; j++) a[j] = first;                                                           \
        b = c = d = a;                                                                                      \
        int64_t i = 0;                                                                                      \
        for (; i + 4 * L <= n; i += 4 * L) {                                                                \
            V p = *(const V *)(x + i), q = *(const V *)(x + i + L);                                         \
            V u = *(const V *)(x + i + 2 * L), v = *(const V *)(x + i + 3 * L);                             \
            M mp = (p OP a) | (p != p), mq = (q OP b) | (q != q);                                           \
            M mu = (u OP c) | (u != u), mv = (v OP d) | (v != v);                                           \
            a = PICK(V, M, mp, p, a);                                                                       \
            b = PICK(V, M, mq, q, b);                                                                       \
            c = PICK(V, M, mu, u, c);                                                                       \
            d = PICK(V, M, mv, v, d);                                                                       \
        }                                                                                                   \
        M m = (b OP a) | (b != b);                                                                          \
        a = PICK(V, M, m, b, a);                                                                            \
        m = (d OP c) | (d != d);                                                                            \
        c = PICK(V, M, m, d, c);                                                                            \
        m = (c OP a) | (c != c);                                                                            \
        a = PICK(V, M, m, c, a);                                                                            \
        T t = first;                                                                                        \
        for (int j = 0; j < L; j++)                                                                         \
            if (a[j] OP t || a[j] != a[j]) t = a[j];                                                        \
        for (; i < n; i++)                                                                                  \
            if (x[i] OP t || x[i] != x[i]) t = x[i];                                                        \
        return t;                                                                                           \
    }                                                                                                       \
    TP_CLONES static void name(void *s, const void *xp, int64_t n, int64_t base)                            \
    {                                                                                                       \
        T t = *(T *)s;                                                                                      \
        if (t == t)                                                                                         \
            *(T *)s = name##_run(xp, n, t);                                                                 \
    }

BEST_INNER(max_inner_f32, float, tpi_v16f, tpi_v16i, 16, >)
BEST_INNER(min_inner_f32, float, tpi_v16f, tpi_v16i, 16, <)
BEST_INNER(max_inner_f64, double, tpi_v8d, tpi_v8l, 8, >)
BEST_INNER(min_inner_f64, double, tpi_v8d, tpi_v8l, 8, <)

#define BEST_INT(name, OP)                                                              \
    TP_CLONES static void name(void *s, const void *xp, int64_t n, int64_t base)        \
    {                                                                                   \
        const int64_t *x = xp;                                                          \
        int64_t t = *(int64_t *)s;                                                      \
        for (int64_t i = 0; i < n; i++) t = x[i] OP t ? x[i] : t;                       \
        *(int64_t *)s = t;                                                              \
    }
BEST_INT(max_inner_i64, >)
BEST_INT(min_inner_i64, <)

#define BEST_OUTER(name, merge, T, OP)                                                                          \
    TP_CLONES static void name(void *sp, const void *xp, int64_t rows, int64_t ld, int64_t n, int64_t base)     \
    {                                                                                                           \
        T *restrict s = sp;                                                                                     \
        const T *restrict x = xp;                                                                               \
        int64_t r = 0;                                                                                          \
        for (; r + 4 <= rows; r += 4, x += 4 * ld) {                                                            \
            const T *restrict b = x + ld, *restrict c = b + ld, *restrict d = c + ld;                           \
            for (int64_t j = 0; j < n; j++) {                                                                   \
                T t = s[j], p = x[j], q = b[j], u = c[j], v = d[j];                                             \
                t = (p OP t) | (p != p) ? p : t;                                                                \
                t = (q OP t) | (q != q) ? q : t;                                                                \
                t = (u OP t) | (u != u) ? u : t;                                                                \
                t = (v OP t) | (v != v) ? v : t;                                                                \
                s[j] = t;                                                                                       \
            }                                                                                                   \
        }                                                                                                       \
        for (; r < rows; r++, x += ld)                                                                          \
            for (int64_t j = 0; j < n; j++) {                                                                   \
                T t = s[j], p = x[j];                                                                           \
                s[j] = (p OP t) | (p != p) ? p : t;                                                             \
            }                                                                                                   \
    }                                                                                                           \
    static void merge(void *s, const void *b, int64_t n) { name(s, b, 1, n, n, 0); }

BEST_OUTER(max_outer_f32, max_merge_f32, float, >)
BEST_OUTER(min_outer_f32, min_merge_f32, float, <)
BEST_OUTER(max_outer_f64, max_merge_f64, double, >)
BEST_OUTER(min_outer_f64, min_merge_f64, double, <)
BEST_OUTER(max_outer_i64, max_merge_i64, int64_t, >)
BEST_OUTER(min_outer_i64, min_merge_i64, int64_t, <)

#define INIT(name, T, value)                                    \
    static void name(void *s, int64_t n)                        \
    {                                                           \
        for (int64_t i = 0; i < n; i++) ((T *)s)[i] = value;    \
    }
INIT(init_low_f32, float, -INFINITY)
INIT(init_high_f32, float, INFINITY)
INIT(init_low_f64, double, -INFINITY)
INIT(init_high_f64, double, INFINITY)
INIT(init_low_i64, int64_t, INT64_MIN)
INIT(init_high_i64, int64_t, INT64_MAX)

const tpi_fold *tpi_fold_max(int compute)
{
    static const tpi_fold f32 = {4, 4, false, init_low_f32, max_inner_f32, max_outer_f32, max_merge_f32};
    static const tpi_fold f64 = {8, 8, false, init_low_f64, max_inner_f64, max_outer_f64, max_merge_f64};
    static const tpi_fold i64 = {8, 8, false, init_low_i64, max_inner_i64, max_outer_i64, max_merge_i64};
    return compute == TP_FLOAT32 ? &f32 : compute == TP_FLOAT64 ? &f64 : &i64;
}

const tpi_fold *tpi_fold_min(int compute)
{
    static const tpi_fold f32 = {4, 4, false, init_high_f32, min_inner_f32, min_outer_f32, min_merge_f32};
    static const tpi_fold f64 = {8, 8, false, init_high_f64, min_inner_f64, min_outer_f64, min_merge_f64};
    static const tpi_fold i64 = {8, 8, false, init_high_i64, min_inner_i64, min_outer_i64, min_merge_i64};
    return compute == TP_FLOAT32 ? &f32 : compute == TP_FLOAT64 ? &f64 : &i64;
}

/* ---- with positions: a run's extreme first, in vectors; its position only where it beats the state ---- */
static void init_best(void *s, int64_t n)
{
    for (int64_t i = 0; i < n; i++) ((tpi_best_f *)s)[i] = (tpi_best_f){0, -1};
}

#define ARG_INNER(name, run, T, B, OP)                                                          \
    TP_CLONES static void name(void *sp, const void *xp, int64_t n, int64_t base)               \
    {                                                                                           \
        B *s = sp;                                                                              \
        const T *x = xp;                                                                        \
        if (s->index >= 0 && s->v != s->v)                                                      \
            return;                                                                             \
        T t = run(x, n, x[0]);                                                                  \
        if (s->index >= 0 && !(t OP s->v || t != t))                                            \
            return;                                                                             \
        int64_t i = 0;                                                                          \
        if (t != t)                                                                             \
            while (x[i] == x[i]) i++;                                                           \
        else                                                                                    \
            while (x[i] != t) i++;                                                              \
        s->v = t;                                                                               \
        s->index = base + i;                                                                    \
    }

static inline __attribute__((always_inline)) int64_t max_run_i64(const int64_t *x, int64_t n, int64_t t)
{
    for (int64_t i = 0; i < n; i++) t = x[i] > t ? x[i] : t;
    return t;
}

static inline __attribute__((always_inline)) int64_t min_run_i64(const int64_t *x, int64_t n, int64_t t)
{
    for (int64_t i = 0; i < n; i++) t = x[i] < t ? x[i] : t;
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
#define ARG_OUTER(name, merge, T, I, B, OP)                                                                       \
    TP_CLONES static void name(void *sp, const void *xp, int64_t rows, int64_t ld, int64_t n, int64_t base)       \
    {                                                                                                             \
        B *s = sp;                                                                                                \
        const T *restrict x = xp;                                                                                 \
        T v[TPI_FOLD_TILE];                                                                                       \
        I at[TPI_FOLD_TILE];                                                                                      \
        for (int64_t j = 0; j < n; j++) {                                                                         \
            v[j] = s[j].index >= 0 ? (T)s[j].v : x[j];                                                            \
            at[j] = s[j].index >= 0 ? -1 : 0;                                                                     \
        }                                                                                                         \
        for (int64_t r = 0; r < rows; r++, x += ld)                                                               \
            for (int64_t j = 0; j < n; j++) {                                                                     \
                bool c = (x[j] OP v[j]) | ((x[j] != x[j]) & (v[j] == v[j]));                                      \
                v[j] = c ? x[j] : v[j];                                                                           \
                at[j] = c ? (I)r : at[j];                                                                         \
            }                                                                                                     \
        for (int64_t j = 0; j < n; j++)                                                                           \
            if (at[j] >= 0) {                                                                                     \
                s[j].v = v[j];                                                                                    \
                s[j].index = base + at[j];                                                                        \
            }                                                                                                     \
    }                                                                                                             \
    static void merge(void *sp, const void *bp, int64_t n)                                                        \
    {                                                                                                             \
        B *s = sp;                                                                                                \
        const B *b = bp;                                                                                          \
        for (int64_t j = 0; j < n; j++)                                                                           \
            if (b[j].index >= 0 &&                                                                                \
                (s[j].index < 0 || b[j].v OP s[j].v || (b[j].v != b[j].v && s[j].v == s[j].v)))                   \
                s[j] = b[j];                                                                                      \
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
