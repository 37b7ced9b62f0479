/* What the vmath_*.c files share: bit access, loop shapes, and the rules that keep the arithmetic honest.
 *
 * NOTE: rounding and contraction. These files are compiled with -ffp-contract=fast where possible, so a * b + c is
 * one fused operation in the clones that have it and two in those that have not. Every algorithm must hold in both
 * worlds: constants of range reductions have enough trailing zeros for exact products; no error term is taken of a
 * product unless the product is exact or was cut by a bit mask, since the compiler may fuse the product into one of its
 * uses and round it in another (gcc drops __builtin_assoc_barrier when it vectorises).
 * Nothing here may be compiled with -ffast-math: the rounding shifts and error terms would be folded away. */
#ifndef TPI_VMATH_IMPL_H
#define TPI_VMATH_IMPL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../core/clones.h"
#include "vmath.h"

#define TPI_INLINE static inline __attribute__((always_inline))

/* Loads of a block happen before its stores, and x == y is the only overlap: no run-time alias checks. */
#if defined(__clang__)
#define TPI_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define TPI_IVDEP _Pragma("GCC ivdep")
#endif

TPI_INLINE uint32_t tpi_bits32(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

TPI_INLINE float tpi_float(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

TPI_INLINE uint64_t tpi_bits64(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

TPI_INLINE double tpi_double(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

#define TPI_SHIFT 0x1.8p52 /* adding it rounds to an integer, which the sum's low bits hold */
#define TPI_SHIFT_F 0x1.8p23f

/* NaN is kept: a comparison with it is false. */
#define TPI_ATLEAST(x, lo) ((x) < (lo) ? (lo) : (x))
#define TPI_ATMOST(x, hi) ((x) > (hi) ? (hi) : (x))

/* c ? a : b without a branch that the compiler could thread through the loop body and so lose the vector loop */
TPI_INLINE double tpi_select64(int c, double a, double b)
{
    uint64_t m = -(uint64_t)c;
    return tpi_double((tpi_bits64(a) & m) | (tpi_bits64(b) & ~m));
}

TPI_INLINE float tpi_select32(int c, float a, float b)
{
    uint32_t m = -(uint32_t)c;
    return tpi_float((tpi_bits32(a) & m) | (tpi_bits32(b) & ~m));
}

/* a * b = *p + *e up to 2^-77 of it, after Dekker (1971): p is the product cut to 26 bits, so that it is one value
 * whether or not products are fused, and |e| < 2^-25 |p|. No overflow or underflow handling. */
TPI_INLINE void tpi_two_prod(double a, double b, double *p, double *e)
{
    const uint64_t mask = ~(uint64_t)0x7ffffff;
    double ah = tpi_double(tpi_bits64(a) & mask), al = a - ah, bh = tpi_double(tpi_bits64(b) & mask), bl = b - bh;
    double q = tpi_double(tpi_bits64(a * b) & mask);
    *p = q;
    *e = ((ah * bh - q) + ah * bl + al * bh) + al * bl;
}

/* a + b = *s + *e (Knuth) */
TPI_INLINE void tpi_two_sum(double a, double b, double *s, double *e)
{
    double t = a + b, c = t - a;
    *s = t;
    *e = (a - (t - c)) + (b - c);
}

/* y[i] = core(x[i]), vectorised. */
#define TPI_MAP1(name, T, core)                             \
    TP_CLONES void tpi_v##name(int64_t n, const T *x, T *y) \
    {                                                       \
        TPI_IVDEP                                           \
        for (int64_t i = 0; i < n; i++) y[i] = core(x[i]);  \
    }

#define TPI_MAP2(name, T, core)                                           \
    TP_CLONES void tpi_v##name(int64_t n, const T *x, const T *y, T *out) \
    {                                                                     \
        TPI_IVDEP                                                         \
        for (int64_t i = 0; i < n; i++) out[i] = core(x[i], y[i]);        \
    }

/* The same in blocks: quick(x) serves a block without exceptional arguments, full(x) every other. */
#define TPI_BLOCK 512

#define TPI_MAP1_QUICK(name, T, quick, full, exceptional)                 \
    TP_CLONES void tpi_v##name(int64_t n, const T *x, T *y)               \
    {                                                                     \
        for (int64_t b = 0; b < n; b += TPI_BLOCK) {                      \
            int64_t m = n - b < TPI_BLOCK ? n - b : TPI_BLOCK;            \
            int any = 0;                                                  \
            for (int64_t i = b; i < b + m; i++) any |= exceptional(x[i]); \
            if (any) {                                                    \
                TPI_IVDEP                                                 \
                for (int64_t i = b; i < b + m; i++) y[i] = full(x[i]);    \
            } else {                                                      \
                TPI_IVDEP                                                 \
                for (int64_t i = b; i < b + m; i++) y[i] = quick(x[i]);   \
            }                                                             \
        }                                                                 \
    }

#define TPI_MAP2_QUICK(name, T, quick, full, exceptional)                       \
    TP_CLONES void tpi_v##name(int64_t n, const T *x, const T *y, T *out)       \
    {                                                                           \
        for (int64_t b = 0; b < n; b += TPI_BLOCK) {                            \
            int64_t m = n - b < TPI_BLOCK ? n - b : TPI_BLOCK;                  \
            int any = 0;                                                        \
            for (int64_t i = b; i < b + m; i++) any |= exceptional(x[i], y[i]); \
            if (any) {                                                          \
                TPI_IVDEP                                                       \
                for (int64_t i = b; i < b + m; i++) out[i] = full(x[i], y[i]);  \
            } else {                                                            \
                TPI_IVDEP                                                       \
                for (int64_t i = b; i < b + m; i++) out[i] = quick(x[i], y[i]); \
            }                                                                   \
        }                                                                       \
    }

/* The same with rare arguments for which rare(x) != 0: they are computed again by slow(x). The block is saved before
 * it is overwritten, since x and y may be one array. */
#define TPI_MAP1_RARE(name, T, core, rare, slow)                                       \
    TP_CLONES void tpi_v##name(int64_t n, const T *x, T *y)                            \
    {                                                                                  \
        for (int64_t b = 0; b < n; b += TPI_BLOCK) {                                   \
            int64_t m = n - b < TPI_BLOCK ? n - b : TPI_BLOCK;                         \
            int any = 0;                                                               \
            for (int64_t i = 0; i < m; i++) any |= rare(x[b + i]);                     \
            T saved[TPI_BLOCK];                                                        \
            if (__builtin_expect(any, 0)) memcpy(saved, x + b, (size_t)m * sizeof(T)); \
            TPI_IVDEP                                                                  \
            for (int64_t i = 0; i < m; i++) y[b + i] = core(x[b + i]);                 \
            if (__builtin_expect(any, 0))                                              \
                for (int64_t i = 0; i < m; i++)                                        \
                    if (rare(saved[i])) y[b + i] = slow(saved[i]);                     \
        }                                                                              \
    }

#define TPI_MAP2_RARE(name, T, core, rare, slow)                                   \
    TP_CLONES void tpi_v##name(int64_t n, const T *x, const T *y, T *out)          \
    {                                                                              \
        for (int64_t b = 0; b < n; b += TPI_BLOCK) {                               \
            int64_t m = n - b < TPI_BLOCK ? n - b : TPI_BLOCK;                     \
            int any = 0;                                                           \
            for (int64_t i = 0; i < m; i++) any |= rare(x[b + i], y[b + i]);       \
            T xs[TPI_BLOCK], ys[TPI_BLOCK];                                        \
            if (__builtin_expect(any, 0)) {                                        \
                memcpy(xs, x + b, (size_t)m * sizeof(T));                          \
                memcpy(ys, y + b, (size_t)m * sizeof(T));                          \
            }                                                                      \
            TPI_IVDEP                                                              \
            for (int64_t i = 0; i < m; i++) out[b + i] = core(x[b + i], y[b + i]); \
            if (__builtin_expect(any, 0))                                          \
                for (int64_t i = 0; i < m; i++)                                    \
                    if (rare(xs[i], ys[i])) out[b + i] = slow(xs[i], ys[i]);       \
        }                                                                          \
    }

#endif
