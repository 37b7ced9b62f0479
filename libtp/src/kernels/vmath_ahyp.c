/* asinh, acosh, atanh.
 *
 * asinh(x) = log(x + sqrt(x^2 + 1)) and acosh(x) = log(x + sqrt(x^2 - 1)), with the argument of the logarithm carried
 * to twice the working precision, so that nothing is lost where it is close to 1.
 * atanh(x) = (k/2) ln 2 + atanh(s), s = ((1 + x) - 2^k (1 - x)) / ((1 + x) + 2^k (1 - x)), k the base 2 logarithm
 * of (1 + x) / (1 - x) as the difference of the two representations gives it: |s| < 1/4, and one division. */
#include "vmath_logcore.h"

/* log(u) in double for the float functions: relative error 2^-36 against max(|log u|, 2^-16) */
TPI_INLINE double log_24(double u)
{
    double k, f;
    tpi_log_split_64(u, &k, &f);
    double s = f / (2.0 + f), w = s * s, p = 0x1.e314219b4dc2fp-3;
    p = p * w + 0x1.24381ab72bd3fp-2;
    p = p * w + 0x1.999a7d5020c33p-2;
    p = p * w + 0x1.555554fc2cb15p-1;
    return k * 0x1.62e42fefa39efp-1 + (p * w + 2.0) * s;
}

TPI_INLINE float asinh_32(float xf)
{
    double a = fabs((double)xf), y = log_24(a + sqrt(a * a + 1.0));
    y = tpi_select64(a < 0x1p-16, a, y);
    return copysignf((float)tpi_select64(a <= 0x1.fffffep127, y, a), xf);
}

TPI_INLINE float acosh_32(float xf)
{
    double x = xf, y = log_24(x + sqrt(x * x - 1.0));
    y = tpi_select64(x <= 0x1.fffffep127, y, x);
    return (float)tpi_select64(x < 1.0, (double)NAN, y);
}

/* log(u + c), |c| <= ulp(u) */
TPI_INLINE double log_sum(double u, double c, double extra)
{
    double k, f;
    tpi_log_split_64(u, &k, &f);
    f += c * tpi_double(tpi_bits64(0x1p52 + 1023 - k) << 52);
    k += extra;
    return k * TPI_LOG_LN2_HI + (f + (tpi_log_tail_64(f) + k * TPI_LOG_LN2_LO));
}

/* sqrt(x + xl) = *r + *rl; 0 is allowed */
TPI_INLINE void sqrt_sum(double x, double xl, double *r, double *rl)
{
    double s = x + xl, sl = (x - s) + xl, q = sqrt(s), p, e;
    tpi_two_prod(q, q, &p, &e);
    *r = q;
    *rl = (((s - p) - e) + sl) / (2.0 * q + 0x1p-1000);
}

#define HUGE_ARG 0x1p500 /* beyond, x + sqrt(x^2 +- 1) is 2 x, and x^2 overflows */

TPI_INLINE double asinh_any(double x, int full)
{
    double a = fabs(x), v = full ? tpi_select64(a < HUGE_ARG, a, 1.0) : a, p, e, s, sl, r, rl;
    tpi_two_prod(v, v, &p, &e);
    tpi_two_sum(1.0, p, &s, &sl);
    sqrt_sum(s, sl + e, &r, &rl);
    double u = r + v, c = (v - (u - r)) + rl, extra = 0;
    if (full) {
        u = tpi_select64(a < HUGE_ARG, u, a);
        c = tpi_select64(a < HUGE_ARG, c, 0.0);
        extra = tpi_select64(a < HUGE_ARG, 0.0, 1.0);
    }
    double y = log_sum(u, c, extra);
    y = tpi_select64(a < 0x1p-28, a, y);
    if (full) y = tpi_select64(a <= 0x1.fffffffffffffp1023, y, a);
    return copysign(y, x);
}

TPI_INLINE double acosh_any(double x, int full)
{
    double v = full ? tpi_select64(x < HUGE_ARG, x, 1.0) : x, p, e, r, rl;
    tpi_two_prod(v, v, &p, &e);
    double s = p - 1.0, sl = (-1.0 - (s - p)) + e;
    sqrt_sum(s, sl, &r, &rl);
    double u = v + r, c = (r - (u - v)) + rl, extra = 0;
    if (full) {
        u = tpi_select64(x < HUGE_ARG, u, x);
        c = tpi_select64(x < HUGE_ARG, c, 0.0);
        extra = tpi_select64(x < HUGE_ARG, 0.0, 1.0);
    }
    double y = log_sum(u, c, extra);
    if (full) {
        y = tpi_select64(x <= 0x1.fffffffffffffp1023, y, x);
        y = tpi_select64(x < 1.0, (double)NAN, y);
    }
    return y;
}

TPI_INLINE double asinh_64(double x) { return asinh_any(x, 0); }

TPI_INLINE double asinh_full_64(double x) { return asinh_any(x, 1); }

TPI_INLINE double acosh_64(double x) { return acosh_any(x, 0); }

TPI_INLINE double acosh_full_64(double x) { return acosh_any(x, 1); }

TPI_INLINE int asinh_rare(double x) { return !(fabs(x) < HUGE_ARG); }

TPI_INLINE int acosh_rare(double x) { return !(x >= 1.0 && x < HUGE_ARG); }

/* k and 2^k for 0 <= a < 1; rounding up only above .65 keeps k = 0 for all small arguments, where it costs least */
TPI_INLINE double atanh_scale(double plus, double minus, double *k)
{
    uint64_t i = (tpi_bits64(plus) - tpi_bits64(minus) + UINT64_C(0x5999999999999)) >> 52;
    *k = tpi_double(i | 0x4330000000000000u) - 0x1p52;
    return tpi_double((i + 1023) << 52);
}

TPI_INLINE float atanh_32(float xf)
{
    double a = fabs((double)xf), plus = 1.0 + a, minus = 1.0 - a, k, b = atanh_scale(plus, minus, &k);
    double s = ((1.0 - b) + a * (1.0 + b)) / (plus + b * minus), w = s * s, p = 0x1.0284860eaeb32p-3;
    p = p * w + 0x1.22e60063faaafp-3;
    p = p * w + 0x1.99a29842fc36ep-3;
    p = p * w + 0x1.55554dda87e6ep-2;
    return copysignf((float)(k * 0x1.62e42fefa39efp-2 + (p * w + 1.0) * s), xf);
}

TPI_INLINE double atanh_64(double x)
{
    double a = fabs(x), plus = 1.0 + a, minus = 1.0 - a, k, b = atanh_scale(plus, minus, &k), n, e;
    tpi_two_prod(a, 1.0 + b, &n, &e);
    n = ((1.0 - b) + n) + e;
    n = tpi_select64(b < 4.0, n, plus - b * minus); /* minus is exact for a >= 1/2, b >= 4 */
    double s = n / (plus + b * minus), w = s * s, p = 0x1.37122e4e3a9d6p-4;
    p = p * w + 0x1.0886a6452ce5ap-4;
    p = p * w + 0x1.3b9f5e22709b1p-4;
    p = p * w + 0x1.7457f6ff80c44p-4;
    p = p * w + 0x1.c71c8db5b18ap-4;
    p = p * w + 0x1.249248fa944acp-3;
    p = p * w + 0x1.99999999d6926p-3;
    p = p * w + 0x1.5555555555463p-2;
    double y = k * (TPI_LOG_LN2_HI / 2) + (s + (p * (w * s) + k * (TPI_LOG_LN2_LO / 2)));
    /* the exact products of tiny arguments leave the normal range */
    return copysign(tpi_select64(a < 0x1p-28, a, y), x);
}

TPI_INLINE float atanh_full_32(float x)
{
    float a = fabsf(x);
    return tpi_select32(a < 1.0f, atanh_32(x), tpi_select32(a == 1.0f, copysignf(INFINITY, x), NAN));
}

TPI_INLINE double atanh_full_64(double x)
{
    double a = fabs(x);
    return tpi_select64(a < 1.0, atanh_64(x), tpi_select64(a == 1.0, copysign((double)INFINITY, x), (double)NAN));
}

TPI_INLINE int outside_32(float x) { return !(fabsf(x) < 1.0f); }

TPI_INLINE int outside_64(double x) { return !(fabs(x) < 1.0); }

TPI_MAP1(asinh_f32, float, asinh_32)
TPI_MAP1_QUICK(asinh_f64, double, asinh_64, asinh_full_64, asinh_rare)
TPI_MAP1(acosh_f32, float, acosh_32)
TPI_MAP1_QUICK(acosh_f64, double, acosh_64, acosh_full_64, acosh_rare)
TPI_MAP1_QUICK(atanh_f32, float, atanh_32, atanh_full_32, outside_32)
TPI_MAP1_QUICK(atanh_f64, double, atanh_64, atanh_full_64, outside_64)
