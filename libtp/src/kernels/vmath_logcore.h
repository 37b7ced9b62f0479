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

/* log2(x) = *h + *l to 2^-65, x positive and normal: (2 / ln 2) atanh(s) + k, s = f / (2 + f), the first two terms of
 * the series in two parts. */
TPI_INLINE void tpi_log2_53(double x, double *h, double *l)
{
    double k, f, p, e;
    tpi_log_split_64(x, &k, &f);
    /* s + sl = f / (2 + f), 1 / (2 + f) = (1 - s) / 2 */
    double g = 2.0 + f, gl = (2.0 - g) + f, s = f / g;
    tpi_two_prod(s, g, &p, &e);
    double sl = (((f - p) - e) - s * gl) * (0.5 - 0.5 * s);
    double w, wl;
    tpi_two_prod(s, s, &w, &wl);
    wl += 2.0 * (s * sl);
    double v = w + wl, a = 0x1.8614f1286cfd3p-3;
    a = a * v + 0x1.87ac2b1fe53e4p-3;
    a = a * v + 0x1.c69fbcf1b946p-3;
    a = a * v + 0x1.0c9a6353c8b1bp-2;
    a = a * v + 0x1.484b142309015p-2;
    a = a * v + 0x1.a61762a7578c4p-2;
    a = a * v + 0x1.2776c50ef9d2cp-1;
    a = a * (v * v);
    /* C1 + C3 w + a, C1 = 2 / ln 2 and C3 = C1 / 3 in two parts */
    double b, bl, c, cl;
    tpi_two_prod(w, 0x1.ec709dc3a03fdp-1, &b, &bl);
    bl += wl * 0x1.ec709dc3a03fdp-1 + (w * 0x1.d27f05548af0cp-55 + (0x1.777d0ffda0d24p-55 + a));
    c = 0x1.71547652b82fep+1 + b;
    cl = (b - (c - 0x1.71547652b82fep+1)) + bl;
    b = c + cl;
    bl = (c - b) + cl;
    tpi_two_prod(s, b, &p, &e);
    e += s * bl + sl * b;
    tpi_two_sum(k, p, &c, &cl);
    cl += e;
    *h = c + cl;
    *l = (c - *h) + cl;
}

#endif
