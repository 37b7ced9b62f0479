/* sqrt, rsqrt, cbrt, hypot, fmod, remainder. */
#include "vmath_logcore.h"

TPI_INLINE float rsqrt_32(float x) { return 1.0f / sqrtf(x); }

TPI_INLINE double rsqrt_64(double x) { return 1.0 / sqrt(x); }

TPI_MAP1(sqrt_f32, float, sqrtf)
TPI_MAP1(sqrt_f64, double, sqrt)
TPI_MAP1(rsqrt_f32, float, rsqrt_32)
TPI_MAP1(rsqrt_f64, double, rsqrt_64)

/* a = 2^(3 q + j) m, sqrt(1/2) <= m < sqrt(2), j = 0, 1, 2: *m becomes 2^j m, *c the cube root of 2^j, *power 2^q */
TPI_INLINE void cbrt_split(double a, double *root, double *m, double *c, double *power)
{
    double k, f;
    tpi_log_split_64(a, &k, &f);
    double t = (k - 1.0) * 0x1.5555555555555p-2 + (TPI_SHIFT + 1023), j = k - 3.0 * (t - (TPI_SHIFT + 1023));
    *root = 1.0 + f;
    *c = tpi_select64(j > 1.5, 0x1.965fea53d6e3dp+0, tpi_select64(j > 0.5, 0x1.428a2f98d728bp+0, 1.0));
    *m = (1.0 + f) * tpi_select64(j > 1.5, 4.0, tpi_select64(j > 0.5, 2.0, 1.0));
    *power = tpi_double(tpi_bits64(t) << 52);
}

TPI_INLINE float cbrt_32(float xf)
{
    double a = fabs((double)xf), r, m, c, power;
    cbrt_split(a, &r, &m, &c, &power);
    /* cbrt(r), minimax */
    double p = 0x1.5fc5eddb02109p-7;
    p = p * r + -0x1.d6e9ff4733b8ap-4;
    p = p * r + 0x1.1b3ba09179e3ep-1;
    p = p * r + -0x1.9407e85d4f863p0;
    p = p * r + 0x1.7bef486d48a44p1;
    p = p * r + -0x1.f0030936e90e7p1;
    p = p * r + 0x1.cf4bfc3252c9bp1;
    p = p * r + -0x1.418c46f9b69aap1;
    p = p * r + 0x1.9415d25d00772p0;
    p = p * r + 0x1.66adc3c6f62c3p-2;
    double y = copysign(p * c * power, (double)xf);
    return (float)tpi_select64((a > 0) & (a <= 0x1.fffffep127), y, (double)xf);
}

/* One step of Halley's iteration from a value of 26 bits, whose square is exact. */
TPI_INLINE double cbrt_64(double x)
{
    double r, m, c, power;
    cbrt_split(fabs(x), &r, &m, &c, &power);
    double p = -0x1.a926ce7905242p-7;
    p = p * r + 0x1.011a6eaf685d2p-3;
    p = p * r + -0x1.145f6d4e5bf2dp-1;
    p = p * r + 0x1.5be7ed6e081ap0;
    p = p * r + -0x1.1cc9d7fd3fa64p1;
    p = p * r + 0x1.3ffa6881e4d7p1;
    p = p * r + -0x1.038152516bd2cp1;
    p = p * r + 0x1.74fcdba93932p0;
    p = p * r + 0x1.746dc3faacc98p-2;
    double y = tpi_double(tpi_bits64(p * c) & ~(uint64_t)0x7ffffff), t = m / (y * y);
    return copysign((y + y * ((t - y) / (2.0 * y + t))) * power, x);
}

TPI_INLINE double cbrt_full_64(double x)
{
    double a = fabs(x);
    int tiny = a < 0x1p-1022;
    double y = cbrt_64(tpi_select64(tiny, x * 0x1p54, x)) * tpi_select64(tiny, 0x1p-18, 1.0);
    return tpi_select64((a > 0) & (a <= 0x1.fffffffffffffp1023), y, x);
}

TPI_INLINE int irregular(double x) { return !((fabs(x) >= 0x1p-1022) & (fabs(x) <= 0x1.fffffffffffffp1023)); }

TPI_MAP1(cbrt_f32, float, cbrt_32)
TPI_MAP1_QUICK(cbrt_f64, double, cbrt_64, cbrt_full_64, irregular)

TPI_INLINE float hypot_32(float xf, float yf)
{
    double x = xf, y = yf, r = sqrt(x * x + y * y);
    return (float)tpi_select64((fabs(x) == (double)INFINITY) | (fabs(y) == (double)INFINITY), (double)INFINITY, r);
}

TPI_INLINE double hypot_64(double x, double y) { return sqrt(x * x + y * y); }

TPI_INLINE double hypot_full_64(double x, double y)
{
    double a = fabs(x), b = fabs(y), big = a > b ? a : b;
    double down = tpi_select64(big > 0x1p500, 0x1p-600, tpi_select64(big < 0x1p-400, 0x1p600, 1.0));
    double r = hypot_64(x * down, y * down) * (1.0 / down);
    return tpi_select64((a == (double)INFINITY) | (b == (double)INFINITY), (double)INFINITY, r);
}

/* The larger leg decides: a smaller one whose square vanishes does not matter. */
TPI_INLINE int hypot_special(double x, double y)
{
    double a = fabs(x), b = fabs(y), big = a > b ? a : b;
    return !((a <= 0x1p500) & (b <= 0x1p500) & ((big > 0x1p-400) | (big == 0)));
}

TPI_MAP2(hypot_f32, float, hypot_32)
TPI_MAP2_QUICK(hypot_f64, double, hypot_64, hypot_full_64, hypot_special)

/* |x| - n |y|, n the rounded quotient, is exact while n has few bits: 28 for float in double; 24 for double, whose y is
 * taken in two parts. Larger quotients, y = 0, infinities and NaN go to libm one by one. */
TPI_INLINE float fmod_32(float x, float y)
{
    double a = fabs((double)x), b = fabs((double)y), n = (a / b + TPI_SHIFT) - TPI_SHIFT, r = a - n * b;
    return copysignf((float)tpi_select64(r < 0, r + b, r), x);
}

TPI_INLINE double fmod_64(double x, double y)
{
    double a = fabs(x), b = fabs(y), n = (a / b + TPI_SHIFT) - TPI_SHIFT;
    double h = tpi_double(tpi_bits64(b) & ~(uint64_t)0x7ffffff), r = (a - n * h) - n * (b - h);
    return copysign(tpi_select64(r < 0, r + b, r), x);
}

TPI_INLINE float remainder_32(float x, float y)
{
    float r = fmod_32(x, y);
    return tpi_select32(r == 0, copysignf(r, y), tpi_select32((r < 0) != (y < 0), r + y, r));
}

TPI_INLINE double remainder_64(double x, double y)
{
    double r = fmod_64(x, y);
    return tpi_select64(r == 0, copysign(r, y), tpi_select64((r < 0) != (y < 0), r + y, r));
}

static float remainder_slow_32(float x, float y)
{
    float r = fmodf(x, y);
    return r == 0 ? copysignf(r, y) : (r < 0) != (y < 0) ? r + y : r;
}

static double remainder_slow_64(double x, double y)
{
    double r = fmod(x, y);
    return r == 0 ? copysign(r, y) : (r < 0) != (y < 0) ? r + y : r;
}

TPI_INLINE int quotient_special_32(float x, float y)
{
    double a = fabs((double)x), b = fabs((double)y);
    return !((a < b * 0x1p28) & (b <= 0x1.fffffep127));
}

TPI_INLINE int quotient_special_64(double x, double y)
{
    double a = fabs(x), b = fabs(y);
    return !((a < b * 0x1p24) & ((a > 0x1p-900) | (a == 0)) & (b <= 0x1p900));
}

TPI_MAP2_RARE(fmod_f32, float, fmod_32, quotient_special_32, fmodf)
TPI_MAP2_RARE(fmod_f64, double, fmod_64, quotient_special_64, fmod)
TPI_MAP2_RARE(remainder_f32, float, remainder_32, quotient_special_32, remainder_slow_32)
TPI_MAP2_RARE(remainder_f64, double, remainder_64, quotient_special_64, remainder_slow_64)
