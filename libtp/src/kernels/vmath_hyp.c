/* sinh, cosh, tanh.
 *
 * x = k ln 2 + r as for exp. With A = 2^(k-1) and B = 2^(-k-1),
 *   sinh(x) = (A - B) cosh(r) + (A + B) sinh(r),  cosh(x) = (A + B) cosh(r) + (A - B) sinh(r),
 * with one even and one odd polynomial (Remez, relative error) and no division; k = 0 leaves sinh(r) alone, which keeps
 * small arguments exact. tanh(x) = m / (m + 2), m = expm1(2 |x|). */
#include "vmath_expcore.h"

/* sinh(r) and cosh(r) - 1 for the float functions */
TPI_INLINE void sinh_cosh_24(double r, double *sinh_r, double *coshm1_r)
{
    double w = r * r, s = 0x1.a1708f3dc0fb5p-13, c = 0x1.6d98425a99b08p-10;
    s = s * w + 0x1.1110b16bbbd42p-7;
    s = s * w + 0x1.55555573b16f4p-3;
    c = c * w + 0x1.55547e07e36edp-5;
    c = c * w + 0x1.00000044588acp-1;
    *sinh_r = (s * w + 1.0) * r;
    *coshm1_r = c * w;
}

TPI_INLINE float sinh_cosh_32(float xf, int is_cosh)
{
    double x = TPI_ATLEAST(xf, -90.0f);
    x = TPI_ATMOST(x, 90.0);
    double t = x * TPI_LOG2E + (TPI_SHIFT + 1022), k = t - (TPI_SHIFT + 1022), r = x - k * TPI_LN2;
    double a = tpi_pow2_64(t), b = tpi_pow2_64((TPI_SHIFT + 1022) - k), s, c;
    sinh_cosh_24(r, &s, &c);
    if (is_cosh) return (float)((a + b) + ((a + b) * c + (a - b) * s));
    return copysignf((float)((a - b) + ((a - b) * c + (a + b) * s)), xf);
}

TPI_INLINE float sinh_32(float x) { return sinh_cosh_32(x, 0); }

TPI_INLINE float cosh_32(float x) { return sinh_cosh_32(x, 1); }

/* full: any argument. Beyond 40 B does not matter, and A is taken 2^-8 times as large until the end. */
TPI_INLINE double sinh_cosh_64(double x0, int is_cosh, int full)
{
    double x = fabs(x0);
    if (full) x = TPI_ATMOST(x, 712.0);
    double t = x * TPI_LOG2E + TPI_SHIFT, k = t - TPI_SHIFT, h = x - k * TPI_LN2_HI;
    double r = h - k * TPI_LN2_LO, rl = (h - r) - k * TPI_LN2_LO, ka = k, kb = k;
    if (full) {
        ka = x > 40.0 ? k - 8.0 : k;
        kb = TPI_ATMOST(k, 100.0);
    }
    double a = tpi_pow2_64(ka + (TPI_SHIFT + 1022)), b = tpi_pow2_64((TPI_SHIFT + 1022) - kb);
    double w = r * r, s = 0x1.af5f336735a78p-26, c = 0x1.28b0d7a933bd9p-22, y;
    s = s * w + 0x1.71ddf8162aaap-19;
    s = s * w + 0x1.a01a01affb407p-13;
    s = s * w + 0x1.111111110f67dp-7;
    s = s * w + 0x1.5555555555559p-3;
    c = c * w + 0x1.a01995f32242fp-16;
    c = c * w + 0x1.6c16c185e675ap-10;
    c = c * w + 0x1.555555554feefp-5;
    c = c * w + 0x1.000000000000cp-1;
    s = s * (w * r) + rl;
    c = c * w + r * rl;
    if (is_cosh) {
        y = (a + b) + ((a - b) * r + ((a + b) * c + (a - b) * s));
    } else {
        double sum, e;
        tpi_two_sum(a - b, (a + b) * r, &sum, &e);
        y = sum + (((a - b) * c + (a + b) * s) + e);
    }
    if (full) y = x > 40.0 ? y * 256.0 : y;
    return is_cosh ? y : copysign(y, x0);
}

TPI_INLINE double sinh_64(double x) { return sinh_cosh_64(x, 0, 0); }

TPI_INLINE double sinh_full_64(double x) { return sinh_cosh_64(x, 0, 1); }

TPI_INLINE double cosh_64(double x) { return sinh_cosh_64(x, 1, 0); }

TPI_INLINE double cosh_full_64(double x) { return sinh_cosh_64(x, 1, 1); }

TPI_INLINE int extreme_64(double x) { return !(fabs(x) < 700.0); }

TPI_INLINE float tanh_32(float xf)
{
    double x = 2.0f * fabsf(xf);
    x = TPI_ATMOST(x, 20.0);
    double t = x * TPI_LOG2E + (TPI_SHIFT + 1023), k = t - (TPI_SHIFT + 1023), r = x - k * TPI_LN2;
    double s = tpi_pow2_64(t), p = 0x1.6e53f02b4751bp-10;
    p = p * r + 0x1.122c10ff36cd4p-7;
    p = p * r + 0x1.5553dc9891ef4p-5;
    p = p * r + 0x1.5554aa6c7374dp-3;
    p = p * r + 0x1.0000006929236p-1;
    p = p * (r * r) + r;
    double m = p * s + (s - 1);
    return copysignf((float)(m / (m + 2)), xf);
}

/* m and d = m + 2 carry their errors ml and dl, which enter the quotient q with 1/d = (1 - q) / 2. */
TPI_INLINE double tanh_64(double x0)
{
    double x = 2 * fabs(x0);
    x = TPI_ATMOST(x, 44.0);
    double t = x * TPI_LOG2E + (TPI_SHIFT + 1023), k = t - (TPI_SHIFT + 1023), h = x - k * TPI_LN2_HI;
    double r = h - k * TPI_LN2_LO, rl = (h - r) - k * TPI_LN2_LO, s = tpi_pow2_64(t);
    double tail = s * (tpi_expm1_tail_64(r) * (r * r) + rl), m, ml, d, dl;
    tpi_two_sum(s - 1, s * r, &h, &ml);
    tail += ml;
    m = h + tail;
    ml = (h - m) + tail;
    tpi_two_sum(m, 2.0, &d, &dl);
    double q = m / d;
    q = q + (ml - q * (dl + ml)) * (0.5 - 0.5 * q);
    return copysign(q, x0);
}

TPI_MAP1(sinh_f32, float, sinh_32)
TPI_MAP1_QUICK(sinh_f64, double, sinh_64, sinh_full_64, extreme_64)
TPI_MAP1(cosh_f32, float, cosh_32)
TPI_MAP1_QUICK(cosh_f64, double, cosh_64, cosh_full_64, extreme_64)
TPI_MAP1(tanh_f32, float, tanh_32)
TPI_MAP1(tanh_f64, double, tanh_64)
