/* exp, exp2, expm1, and what follows from them: sigmoid, silu, softplus. */
#include "vmath_expcore.h"

TPI_INLINE float exp_32(float x)
{
    x = TPI_ATLEAST(x, -104.0f);
    x = TPI_ATMOST(x, 89.0f);
    float t = x * (float)TPI_LOG2E + (TPI_SHIFT_F + 254), a, b;
    tpi_pow2_halves_32(t, &a, &b);
    return (1.0f + tpi_exp_reduced_32(x, t - (TPI_SHIFT_F + 254))) * a * b;
}

TPI_INLINE float exp2_32(float x)
{
    x = TPI_ATLEAST(x, -151.0f);
    x = TPI_ATMOST(x, 129.0f);
    float t = x + (TPI_SHIFT_F + 254), r = x - (t - (TPI_SHIFT_F + 254)), a, b;
    tpi_pow2_halves_32(t, &a, &b);
    /* ln 2 in two parts: its rounding error alone would cost a third of an ulp */
    float p = 0x1.470c2ap-13f;
    p = p * r + 0x1.5f72dep-10f;
    p = p * r + 0x1.3b270cp-7f;
    p = p * r + 0x1.c6ae72p-5f;
    p = p * r + 0x1.ebfbe2p-3f;
    p = p * r + -0x1.ee810dp-27f;
    return (1.0f + (p * r + r * 0x1.62e432p-1f)) * a * b;
}

TPI_INLINE double exp2_64(double x)
{
    x = TPI_ATLEAST(x, -1077.0);
    x = TPI_ATMOST(x, 1025.0);
    double t = x + (TPI_SHIFT + 2046), r = x - (t - (TPI_SHIFT + 2046)), a, b;
    tpi_pow2_halves_64(t, &a, &b);
    double p = 0x1.c0637f0759bcep-32;
    p = p * r + 0x1.e606382d4938bp-28;
    p = p * r + 0x1.b5416d65891f6p-24;
    p = p * r + 0x1.62bfd47f83a5p-20;
    p = p * r + 0x1.ffcbee354df51p-17;
    p = p * r + 0x1.430913096b542p-13;
    p = p * r + 0x1.5d87fe7bbdbf8p-10;
    p = p * r + 0x1.3b2ab6fba1df5p-7;
    p = p * r + 0x1.c6b08d7048f23p-5;
    p = p * r + 0x1.ebfbdff82c598p-3;
    p = p * r + 0x1.62e42fefa39f3p-1;
    return (p * r + 1.0) * a * b;
}

TPI_INLINE float expm1_32(float xf)
{
    double x = TPI_ATLEAST(xf, -40.0f);
    x = TPI_ATMOST(x, 89.0);
    double t = x * TPI_LOG2E + (TPI_SHIFT + 1023), k = t - (TPI_SHIFT + 1023), r = x - k * TPI_LN2;
    double s = tpi_pow2_64(t), p = 0x1.6e53f02b4751bp-10;
    p = p * r + 0x1.122c10ff36cd4p-7;
    p = p * r + 0x1.5553dc9891ef4p-5;
    p = p * r + 0x1.5554aa6c7374dp-3;
    p = p * r + 0x1.0000006929236p-1;
    p = p * (r * r) + r;
    return copysignf((float)(p * s + (s - 1)), xf);
}

/* 2^k (1 + r + r^2 P) - 1, where 2^k - 1 and 2^k r cancel: their sum is taken with its error. */
TPI_INLINE double expm1_64(double x0)
{
    double x = TPI_ATLEAST(x0, -50.0);
    x = TPI_ATMOST(x, 710.0);
    double t = x * TPI_LOG2E + TPI_SHIFT, k = t - TPI_SHIFT;
    double h = x - k * TPI_LN2_HI, r = h - k * TPI_LN2_LO, rl = (h - r) - k * TPI_LN2_LO;
    double top = k > 1023 ? 2.0 : 1.0;
    k = TPI_ATMOST(k, 1023.0);
    double s = tpi_pow2_64(k + (TPI_SHIFT + 1023));
    double q = s * (tpi_expm1_tail_64(r) * (r * r) + rl), a = s - 1, b = s * r;
    double sum = a + b, bb = sum - a, err = (a - (sum - bb)) + (b - bb);
    return copysign((sum + (err + q)) * top, x0);
}

TPI_INLINE double exp_reduced_64(double x, double k)
{
    double r = x - k * TPI_LN2_HI;
    r = r - k * TPI_LN2_LO;
    return tpi_exp_tail_64(r) * (r * r) + r;
}

/* sigmoid(x) = e / (1 + e) for x < 0, 1 / (1 + e) otherwise, e = exp(-|x|) = a b (1 + u); silu is x times that.
 * The rounding errors of numerator and denominator would add up to more than an ulp: both are carried, and enter
 * with 1/s replaced by its chord over [1, 2]. The factor b comes last: exp(x) may be subnormal where x exp(x) is
 * not. */
TPI_INLINE float logistic_32(float x, int silu, int full)
{
    float z = -fabsf(x), b = 1;
    if (full) z = TPI_ATLEAST(z, silu ? -112.0f : -104.0f);
    const float shift = TPI_SHIFT_F + (full ? 254 : 127);
    float t = z * (float)TPI_LOG2E + shift, k = t - shift, u = tpi_exp_reduced_32(z, k), a;
    if (full) tpi_pow2_halves_32(t, &a, &b);
    else a = tpi_pow2_32(t);
    float e = a * u + a, el = (a - e) + a * u, m = e, ml = el;
    if (silu) {
        float za = z * a;
        m = za * u + za;
        ml = (za - m) + za * u;
    }
    float eb = e * b, s = 1.0f + eb, sl = eb - (s - 1.0f);
    float q = (x < 0 ? m : silu ? x : 1.0f) / s;
    q = q + ((x < 0 ? ml : 0.0f) - q * sl) * (1.5f - 0.5f * s);
    q = full && x < 0 ? q * b : q;
    return silu ? copysignf(q, x) : q;
}

TPI_INLINE float sigmoid_32(float x) { return logistic_32(x, 0, 0); }

TPI_INLINE float sigmoid_full_32(float x) { return logistic_32(x, 0, 1); }

TPI_INLINE float silu_32(float x) { return logistic_32(x, 1, 0); }

TPI_INLINE float silu_full_32(float x) { return x > 112.0f ? x : logistic_32(x, 1, 1); }

TPI_INLINE int extreme_32(float x) { return !(fabsf(x) < 87.0f); }

TPI_INLINE double logistic_64(double x, int silu, int full)
{
    double z = -fabs(x), b = 1;
    if (full) z = TPI_ATLEAST(z, silu ? -756.0 : -746.0);
    const double shift = TPI_SHIFT + (full ? 2046 : 1023);
    double t = z * TPI_LOG2E + shift, k = t - shift, u = exp_reduced_64(z, k), a;
    if (full) tpi_pow2_halves_64(t, &a, &b);
    else a = tpi_pow2_64(t);
    double e = a * u + a, el = (a - e) + a * u, m = e, ml = el;
    if (silu) {
        double za = z * a;
        m = za * u + za;
        ml = (za - m) + za * u;
    }
    double eb = e * b, s = 1.0 + eb, sl = eb - (s - 1.0);
    double q = (x < 0 ? m : silu ? x : 1.0) / s;
    q = q + ((x < 0 ? ml : 0.0) - q * sl) * (1.5 - 0.5 * s);
    q = full && x < 0 ? q * b : q;
    return silu ? copysign(q, x) : q;
}

TPI_INLINE double sigmoid_64(double x) { return logistic_64(x, 0, 0); }

TPI_INLINE double sigmoid_full_64(double x) { return logistic_64(x, 0, 1); }

TPI_INLINE double silu_64(double x) { return logistic_64(x, 1, 0); }

TPI_INLINE double silu_full_64(double x) { return x > 756.0 ? x : logistic_64(x, 1, 1); }

TPI_INLINE int extreme_64(double x) { return !(fabs(x) < 708.0); }

/* max(x, 0) + log(1 + e), e = exp(-|x|) <= 1: log(1 + e) = 2 atanh(s), s = e / (2 + e) <= 1/3 */
TPI_INLINE float softplus_32(float xf)
{
    double x = xf, z = -fabs(x);
    z = TPI_ATLEAST(z, -150.0);
    double e = tpi_exp_24(z), s = e / (2.0 + e), w = s * s;
    double p = 0x1.f1d58601b99eap-3;
    p = p * w + 0x1.b6cd309773e7dp-3;
    p = p * w + 0x1.2509d70ed2c1ep-2;
    p = p * w + 0x1.9996a535364f1p-2;
    p = p * w + 0x1.5555585ab1d5p-1;
    double y = s * (2.0 + w * p);
    return (float)(x > 0 ? x + y : y);
}

TPI_INLINE double softplus_64(double x)
{
    double e = tpi_exp_64(-fabs(x)), s = e / (2.0 + e), w = s * s, h = 0.5 * e * e;
    double p = 0x1.5cc06d6e2258dp-3;
    p = p * w + 0x1.5563746db9338p-4;
    p = p * w + 0x1.efea297f69572p-4;
    p = p * w + 0x1.1066a225b3621p-3;
    p = p * w + 0x1.3b1df1bf86ac1p-3;
    p = p * w + 0x1.745cb2f27f5e6p-3;
    p = p * w + 0x1.c71c742423173p-3;
    p = p * w + 0x1.249249207c7bdp-2;
    p = p * w + 0x1.99999999a0952p-2;
    p = p * w + 0x1.5555555555534p-1;
    double y = e - (h - s * (h + w * p));
    return x > 0 ? x + y : y;
}

TPI_MAP1(exp_f32, float, exp_32)
TPI_MAP1(exp_f64, double, tpi_exp_64)
TPI_MAP1(exp2_f32, float, exp2_32)
TPI_MAP1(exp2_f64, double, exp2_64)
TPI_MAP1(expm1_f32, float, expm1_32)
TPI_MAP1(expm1_f64, double, expm1_64)
TPI_MAP1_QUICK(sigmoid_f32, float, sigmoid_32, sigmoid_full_32, extreme_32)
TPI_MAP1_QUICK(sigmoid_f64, double, sigmoid_64, sigmoid_full_64, extreme_64)
TPI_MAP1_QUICK(silu_f32, float, silu_32, silu_full_32, extreme_32)
TPI_MAP1_QUICK(silu_f64, double, silu_64, silu_full_64, extreme_64)
TPI_MAP1(softplus_f32, float, softplus_32)
TPI_MAP1(softplus_f64, double, softplus_64)
