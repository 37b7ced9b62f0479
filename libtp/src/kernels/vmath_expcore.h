/* The exponential that other functions are made of.
 *
 * exp(x) = 2^k exp(r), k = rint(x / ln 2), |r| <= ln 2 / 2, exp(r) a minimax polynomial (Remez, relative error).
 * k is found by adding 1.5 * 2^52: the sum's low bits are k, so that 2^k is one shift away. A k outside the exponent
 * range is split in two factors, which also rounds subnormal results once. */
#ifndef TPI_VMATH_EXPCORE_H
#define TPI_VMATH_EXPCORE_H

#include "vmath_impl.h"

#define TPI_LOG2E 0x1.71547652b82fep0
#define TPI_LN2 0x1.62e42fefa39efp-1
#define TPI_LN2_HI 0x1.62e42fefap-1 /* 36 bits: times k is exact */
#define TPI_LN2_LO 0x1.cf79abc9e3b3ap-40
#define TPI_LN2_HI_F 0x1.62e4p-1f
#define TPI_LN2_LO_F 0x1.7f7d1cp-20f

/* 2^k and its halves from the bits of TPI_SHIFT + bias + k. */
TPI_INLINE double tpi_pow2_64(double shifted) /* bias 1023, -1023 < k < 1024 */
{
    return tpi_double(tpi_bits64(shifted) << 52);
}

TPI_INLINE void tpi_pow2_halves_64(double shifted, double *a, double *b) /* bias 2046 */
{
    uint64_t u = tpi_bits64(shifted), h = u >> 1;
    *a = tpi_double(h << 52);
    *b = tpi_double((u - h) << 52);
}

TPI_INLINE float tpi_pow2_32(float shifted) /* bias 127 */ { return tpi_float(tpi_bits32(shifted) << 23); }

TPI_INLINE void tpi_pow2_halves_32(float shifted, float *a, float *b) /* bias 254 */
{
    uint32_t u = tpi_bits32(shifted), h = u >> 1;
    *a = tpi_float(h << 23);
    *b = tpi_float((u - h) << 23);
}

/* (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2; the relative error of exp is 2^-57 */
TPI_INLINE double tpi_exp_tail_64(double r)
{
    double p = 0x1.ad7f6271d0201p-26;
    p = p * r + 0x1.28ad9ef4c8657p-22;
    p = p * r + 0x1.71df25d3eb151p-19;
    p = p * r + 0x1.a01999df4ee5p-16;
    p = p * r + 0x1.a01a0129dfceap-13;
    p = p * r + 0x1.6c16c18439666p-10;
    p = p * r + 0x1.1111111127e1cp-7;
    p = p * r + 0x1.555555555083fp-5;
    p = p * r + 0x1.55555555554f9p-3;
    return p * r + 0x1.000000000000ap-1;
}

/* the same with a relative error of expm1 of 2^-59 */
TPI_INLINE double tpi_expm1_tail_64(double r)
{
    double p = 0x1.20313f58f3901p-29;
    p = p * r + 0x1.af62415add2fep-26;
    p = p * r + 0x1.27e4682abed86p-22;
    p = p * r + 0x1.71ddf673aa091p-19;
    p = p * r + 0x1.a01a01d8c2748p-16;
    p = p * r + 0x1.a01a01b093d0bp-13;
    p = p * r + 0x1.6c16c16c0cf6ep-10;
    p = p * r + 0x1.111111110f524p-7;
    p = p * r + 0x1.555555555556bp-5;
    p = p * r + 0x1.5555555555559p-3;
    return p * r + 0.5;
}

/* The float functions' exponential in double: relative error 2^-28 for -700 < x < 700, no clamping. */
TPI_INLINE double tpi_exp_24(double x)
{
    double t = x * TPI_LOG2E + (TPI_SHIFT + 1023), k = t - (TPI_SHIFT + 1023), r = x - k * TPI_LN2;
    double p = 0x1.6a23e464ad754p-10;
    p = p * r + 0x1.123a1e6ec02cp-7;
    p = p * r + 0x1.5558f2d19964dp-5;
    p = p * r + 0x1.55549105297fap-3;
    p = p * r + 0x1.fffffb97de69bp-2;
    p = p * r + 1.0;
    p = p * r + 1.0;
    return p * tpi_pow2_64(t);
}

/* exp(x) as (1 + hi) * 2^k in float, |hi| < 0.42 */
TPI_INLINE float tpi_exp_reduced_32(float x, float k)
{
    float r = x - k * TPI_LN2_HI_F;
    r = r - k * TPI_LN2_LO_F;
    float p = 0x1.6a23e4p-10f;
    p = p * r + 0x1.123a1ep-7f;
    p = p * r + 0x1.5558f2p-5f;
    p = p * r + 0x1.555492p-3f;
    p = p * r + 0x1.fffffcp-2f;
    return p * (r * r) + r;
}

TPI_INLINE double tpi_exp_64(double x)
{
    x = TPI_ATLEAST(x, -746.0);
    x = TPI_ATMOST(x, 710.0);
    double t = x * TPI_LOG2E + (TPI_SHIFT + 2046), k = t - (TPI_SHIFT + 2046), a, b;
    double r = x - k * TPI_LN2_HI;
    r = r - k * TPI_LN2_LO;
    tpi_pow2_halves_64(t, &a, &b);
    double p = tpi_exp_tail_64(r) * (r * r) + r;
    return (1.0 + p) * a * b;
}

/* exp(-c a^2) = (result + *l result) * *f * *b, c a power of two, c a^2 < 760: the square is carried in two parts,
 * since its rounding error would be multiplied by the exponent. *b comes last, where the product may be subnormal. */
TPI_INLINE double tpi_exp_negative_square_64(double a, double c, double *l, double *f, double *b)
{
    double q, e;
    tpi_two_prod(a, a, &q, &e);
    q *= -c;
    e *= -c;
    double t = q * TPI_LOG2E + (TPI_SHIFT + 2046), k = t - (TPI_SHIFT + 2046);
    double h = q - k * TPI_LN2_HI, g = e - k * TPI_LN2_LO, r = h + g, rl = (h - r) + g;
    tpi_pow2_halves_64(t, f, b);
    double u = tpi_exp_tail_64(r) * (r * r) + rl, v = r + u, y = 1.0 + v;
    *l = (((r - v) + u) + (v - (y - 1.0))) * (1.0 - v + v * v);
    return y;
}

#endif
