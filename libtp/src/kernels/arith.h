/* Scalar arithmetic that C has no operator for. Internal to the elementwise kernels. */
#ifndef TPI_KERNELS_ARITH_H
#define TPI_KERNELS_ARITH_H

#include "kernels/loops.h"

static inline c64 cmul64(c64 a, c64 b) { return (c64){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
static inline c128 cmul128(c128 a, c128 b) { return (c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

/* Smith's scaling (CACM 5, 1962): no overflow where the quotient has none. Division by zero gives infinities by part
 * as real division does. */
#define TPI_COMPLEX_DIV(NAME, C, R, FABS)                                    \
    static inline C NAME(C a, C b)                                           \
    {                                                                        \
        if (FABS(b.re) >= FABS(b.im)) {                                      \
            if (b.re == 0) return (C){a.re / FABS(b.re), a.im / FABS(b.re)}; \
            R r = b.im / b.re, d = b.re + b.im * r;                          \
            return (C){(a.re + a.im * r) / d, (a.im - a.re * r) / d};        \
        }                                                                    \
        R r = b.re / b.im, d = b.re * r + b.im;                              \
        return (C){(a.re * r + a.im) / d, (a.im * r - a.re) / d};            \
    }
TPI_COMPLEX_DIV(cdiv64, c64, float, fabsf)
TPI_COMPLEX_DIV(cdiv128, c128, double, fabs)

#endif
