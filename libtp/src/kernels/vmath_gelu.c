/* gelu and its tanh form, with their derivatives.
 *
 * Phi(-a) = exp(-a^2/2) Q(t) / (a + c), t = (a - c) / (a + c), as in vmath_erf.c; Phi(x) = 1/2 + x P(x^2) near 0. The
 * tanh form is x sigmoid(2 u) with 2 u = x (K1 + K3 x^2). Values for x < 0 keep their relative accuracy down to the
 * subnormals; the derivatives, which cross 0 beside x = -0.75, keep theirs against Phi(x). */
#include "vmath_expcore.h"

#define INV_SQRT_2PI 0x1.9884533d43651p-2
#define K1_HI 0x1.9884533d43651p+0 /* 2 sqrt(2 / pi) */
#define K1_LO -0x1.cbc0d30ebfd15p-54
#define K3_HI 0x1.2444f2a4d8b4bp-4 /* 0.044715 times that */
#define K3_LO -0x1.6c843a29d1c70p-61

/* Phi(-a) / exp(-a^2/2) */
TPI_INLINE double mills_24(double a)
{
    double v = 1.0 / (a + 3.5), t = 1.0 - 7.0 * v;
    double p = 0x1.d562e63f664ffp-14;
    p = p * t + 0x1.bcbbac9bcd88p-12;
    p = p * t + -0x1.036a097e8d7b4p-11;
    p = p * t + -0x1.a063c2d986c0ap-9;
    p = p * t + 0x1.a9817c30a427cp-8;
    p = p * t + 0x1.1d30fdd811f9ep-6;
    p = p * t + -0x1.db5a57cbdf82bp-4;
    p = p * t + 0x1.42fec719c98c7p-2;
    p = p * t + -0x1.21914f3dd516ap-1;
    p = p * t + 0x1.7d241a8cacc98p-1;
    return p * v;
}

TPI_INLINE float gelu_32(float xf)
{
    double x = TPI_ATLEAST(xf, -14.5f), a = fabs(x);
    a = TPI_ATMOST(a, 14.5);
    double e = tpi_exp_24(-0.5 * (a * a)) * mills_24(a);
    return (float)(x * (x < 0 ? e : 1.0 - e));
}

TPI_INLINE float gelu_grad_32(float xf)
{
    double x = TPI_ATLEAST(xf, -15.5f);
    x = TPI_ATMOST(x, 15.5);
    double a = fabs(x), g = tpi_exp_24(-0.5 * (a * a)), e = g * mills_24(a);
    return (float)((x < 0 ? e : 1.0 - e) + x * (g * INV_SQRT_2PI));
}

/* Phi(-a) = (result + *r) * *f * *b and exp(-a^2/2) = *g * *f * *b for 0 <= a < 40, as erfc in vmath_erf.c. */
TPI_INLINE double phi_parts(double a, double *r, double *g, double *f, double *b)
{
    double d, dl, p, e, m, ml;
    tpi_two_sum(a, 4.0, &d, &dl);
    double v = 1.0 / d;
    tpi_two_prod(d, v, &p, &e);
    double err = ((1.0 - p) - e) - dl * v;
    int far = a > 4.5;
    double t = tpi_select64(far, 0.5645751953125, 1.322998046875) - 8.0 * v;
    double slope = tpi_select64(far, -0.31, -0.81) * t + tpi_select64(far, 0.43, 1.24);
    slope = slope * t + tpi_select64(far, -0.36, -0.92);
    p = tpi_select64(far, -0x1.257da1bdd2e57p-20, -0x1.d833fd31229b6p-22);
    p = p * t + tpi_select64(far, 0x1.fe73f17efd4b5p-21, -0x1.51665f45a4524p-20);
    p = p * t + tpi_select64(far, 0x1.4c9068d216092p-18, 0x1.888bcb48fc769p-20);
    p = p * t + tpi_select64(far, -0x1.16d7f8297da0bp-17, 0x1.6d5217e80a0d7p-17);
    p = p * t + tpi_select64(far, -0x1.1bf3c8ffa9b31p-16, 0x1.d51c4f6446ed1p-20);
    p = p * t + tpi_select64(far, 0x1.0ab51820cb9bcp-14, -0x1.4c9e707ca5c52p-14);
    p = p * t + tpi_select64(far, 0x1.7fb1a4ebd4cfp-18, -0x1.142a05567f4d9p-14);
    p = p * t + tpi_select64(far, -0x1.abd4f37ed5df9p-12, 0x1.48ebaf7dc85ccp-11);
    p = p * t + tpi_select64(far, 0x1.c2192c5f0f6e9p-11, 0x1.1b32b09e60c3dp-11);
    p = p * t + tpi_select64(far, 0x1.a944f67c4d54fp-11, -0x1.950dfd54498b1p-8);
    p = p * t + tpi_select64(far, -0x1.572ece7d0e57p-7, 0x1.23e1e15823a98p-9);
    p = p * t + tpi_select64(far, 0x1.3d15028d20b78p-5, 0x1.0be598eea4974p-4);
    p = p * t + tpi_select64(far, -0x1.96d85de0e944bp-4, -0x1.13f82d725ca8cp-2);
    p = p * t + tpi_select64(far, 0x1.a31567cd7c60ap-3, 0x1.370fb77c541ap-1);
    p = p * t + tpi_select64(far, -0x1.6f1cdca24ff8bp-2, -0x1.d983444a830efp-1);
    double q0 = tpi_select64(far, 0x1.19ebcaec164edp-1, 0x1.ff7b6976fd614p-1), q = p * t + q0;
    double ql = (q0 - q) + p * t + tpi_select64(far, 0x1.c2edb13409dbdp-62, -0x1.4164caf3d1c9fp-56);
    m = tpi_exp_negative_square_64(a, 0.5, &ml, f, b);
    ql += err * (q - 8.0 * v * slope) + q * ml;
    tpi_two_prod(q, v, &p, &e);
    *g = m + m * ml;
    e += ql * v;
    q = m * p + m * e;
    *r = (m * p - q) + m * e;
    return q;
}

TPI_INLINE double phi_near_0(double x)
{
    double w = x * x;
    double p = 0x1.1673c7af6f746p-29;
    p = p * w + -0x1.601804c0e9724p-25;
    p = p * w + 0x1.6578d182188d8p-21;
    p = p * w + -0x1.3ce8a31cf6628p-17;
    p = p * w + 0x1.e42b0b38b368cp-14;
    p = p * w + -0x1.37403f67d839p-10;
    p = p * w + 0x1.46d0429761b83p-7;
    p = p * w + -0x1.1058377e2ce77p-4;
    p = p * w + 0x1.9884533d4365p-2;
    return p * x + 0.5;
}

TPI_INLINE double gelu_64(double x)
{
    double a = fabs(x), z = TPI_ATLEAST(x, -39.5), r, g, f, b;
    a = TPI_ATMOST(a, 39.5);
    double e = phi_parts(a, &r, &g, &f, &b), near = x * phi_near_0(x);
    double y = tpi_select64(x < 0, (z * e + z * r) * f * b, x * (1.0 - e * f * b));
    return tpi_select64(a < 0.69, near, y);
}

TPI_INLINE double gelu_grad_64(double x)
{
    x = TPI_ATLEAST(x, -39.5);
    x = TPI_ATMOST(x, 39.5);
    double r, g, f, b, a = fabs(x), e = phi_parts(a, &r, &g, &f, &b), d = x * (g * INV_SQRT_2PI);
    double y = tpi_select64(x < 0, e + d, d - e) * f * b;
    return tpi_select64(a < 0.69, phi_near_0(x) + d * f * b, tpi_select64(x < 0, y, y + 1.0));
}

TPI_INLINE float gelu_tanh_32(float xf)
{
    double x = TPI_ATLEAST(xf, -15.0f), z = TPI_ATMOST(x, 15.0);
    return (float)(x / (1.0 + tpi_exp_24(-z * (K3_HI * (z * z) + K1_HI))));
}

TPI_INLINE float gelu_tanh_grad_32(float xf)
{
    double x = TPI_ATLEAST(xf, -15.0f);
    x = TPI_ATMOST(x, 15.0);
    double w = x * x, e = tpi_exp_24(-x * (K3_HI * w + K1_HI)), s = 1.0 / (1.0 + e);
    return (float)(s + x * (K1_HI + 3 * K3_HI * w) * (s * e) * s);
}

/* exp(-|x| (K1 + K3 x^2)) = result * *f * *b with the exponent in two parts, |x| < 23; *l is the relative error. */
TPI_INLINE double tanh_form_exp(double x, double *l, double *f, double *b)
{
    double a = fabs(x), w, wl, m, ml, s, sl, h, hl;
    tpi_two_prod(a, a, &w, &wl);
    tpi_two_prod(w, K3_HI, &m, &ml);
    tpi_two_sum(K1_HI, m, &s, &sl);
    sl += ml + (K1_LO + (K3_LO * w + K3_HI * wl));
    h = s + sl;
    sl = (s - h) + sl;
    tpi_two_prod(a, h, &s, &hl);
    hl += a * sl;
    double t = s * -TPI_LOG2E + (TPI_SHIFT + 2046), k = t - (TPI_SHIFT + 2046);
    double c = -s - k * TPI_LN2_HI, g = -hl - k * TPI_LN2_LO, r = c + g, rl = (c - r) + g;
    tpi_pow2_halves_64(t, f, b);
    double u = tpi_exp_tail_64(r) * (r * r) + rl, v = r + u, y = 1.0 + v;
    *l = (((r - v) + u) + (v - (y - 1.0))) * (1.0 - v + v * v);
    return y;
}

/* x / (1 + e) for x > 0 and x e / (1 + e) for x < 0, e = y f b; corrected as sigmoid is in vmath_exp.c */
TPI_INLINE double gelu_tanh_64(double x)
{
    double z = TPI_ATLEAST(x, -22.0), l, f, b;
    z = TPI_ATMOST(z, 22.0);
    double y = tanh_form_exp(z, &l, &f, &b), e = y * f * b, s = 1.0 + e;
    double q = tpi_select64(x < 0, z * y, x) / s;
    double err = tpi_select64(x < 0, l, 0.0) - ((e - (s - 1.0)) + e * l) * (1.5 - 0.5 * s);
    q = tpi_select64(fabs(x) < (double)INFINITY, q + q * err, q);
    return copysign(tpi_select64(x < 0, q * f * b, q), x);
}

TPI_INLINE double gelu_tanh_grad_64(double x)
{
    x = TPI_ATLEAST(x, -22.0);
    x = TPI_ATMOST(x, 22.0);
    double l, f, b, y = tanh_form_exp(x, &l, &f, &b);
    y = y + y * l;
    double e = y * f * b, s = 1.0 / (1.0 + e), c = x * (K1_HI + 3 * K3_HI * (x * x)) * (s * s);
    return tpi_select64(x < 0, (s + c) * y * f * b, s + c * e);
}

TPI_MAP1(gelu_f32, float, gelu_32)
TPI_MAP1(gelu_f64, double, gelu_64)
TPI_MAP1(gelu_grad_f32, float, gelu_grad_32)
TPI_MAP1(gelu_grad_f64, double, gelu_grad_64)
TPI_MAP1(gelu_tanh_f32, float, gelu_tanh_32)
TPI_MAP1(gelu_tanh_f64, double, gelu_tanh_64)
TPI_MAP1(gelu_tanh_grad_f32, float, gelu_tanh_grad_32)
TPI_MAP1(gelu_tanh_grad_f64, double, gelu_tanh_grad_64)
