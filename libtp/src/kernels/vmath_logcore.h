/* The logarithm that other functions are made of.
 *
 * x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2). log(1 + f) = f + tail(f), where the tail is small against f: that
 * order of summation keeps the error well below an ulp. In double the tail follows from s = f / (2 + f) and
 * log(1 + f) = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + R(s^2))); in float it is a polynomial (Remez). */
#ifndef TPI_VMATH_LOGCORE_H
#define TPI_VMATH_LOGCORE_H

#include "vmath_impl.h"

#define TPI_LOG_LN2_HI 0x1.62e42fefa4p-1 /* 40 bits: times k is exact */
#define TPI_LOG_LN2_LO -0x1.8432a1b0e2634p-43
#define TPI_LOG_LN2_HI_F 0x1.62e4p-1f
#define TPI_LOG_LN2_LO_F 0x1.7f7d1cp-20f

/* x positive and normal */
TPI_INLINE void tpi_log_split_64(double x, double *k, double *f)
{
    const uint64_t offset = 0x3ff0000000000000u - 0x3fe6a09e00000000u;
    uint64_t u = tpi_bits64(x) + offset;
    *k = tpi_double(u >> 52 | 0x4330000000000000u) - (0x1p52 + 1023);
    *f = tpi_double((u & 0x000fffffffffffffu) + 0x3fe6a09e00000000u) - 1.0;
}

TPI_INLINE void tpi_log_split_32(float x, float *k, float *f)
{
    const uint32_t offset = 0x3f800000u - 0x3f3504f3u;
    uint32_t u = tpi_bits32(x) + offset;
    *k = (float)((int32_t)(u >> 23) - 127);
    *f = tpi_float((u & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
}

/* log(1 + f) - f */
TPI_INLINE double tpi_log_tail_64(double f)
{
    double s = f / (2.0 + f), w = s * s, h = 0.5 * f * f;
    double p = 0x1.2f261549e8c55p-3;
    p = p * w + 0x1.399ea2204d354p-3;
    p = p * w + 0x1.74665c155aa27p-3;
    p = p * w + 0x1.c71c51830c26fp-3;
    p = p * w + 0x1.249249428c2dbp-2;
    p = p * w + 0x1.999999997f389p-2;
    p = p * w + 0x1.5555555555594p-1;
    return s * (h + w * p) - h;
}

TPI_INLINE float tpi_log_tail_32(float f)
{
    float p = 0x1.145a66p-4f;
    p = p * f + -0x1.de51ecp-4f;
    p = p * f + 0x1.e6fad4p-4f;
    p = p * f + -0x1.fc1f7p-4f;
    p = p * f + 0x1.233698p-3f;
    p = p * f + -0x1.555c56p-3f;
    p = p * f + 0x1.99a4bep-3f;
    p = p * f + -0x1.000006p-2f;
    p = p * f + 0x1.555548p-2f;
    p = p * f + -0.5f;
    return p * (f * f);
}

#endif
