/* asin, acos, atan, atan2.
 *
 * asin: for |x| <= 1/2 an odd polynomial; beyond, asin(x) = pi/2 - 2 asin(sqrt((1 - |x|) / 2)), and acos likewise.
 * atan2: with a and b the smaller angle's legs, atan(a / b), pi/4 + atan((a - b) / (a + b)) or pi/2 - atan(b / a), so
 * that the polynomial's argument is at most 1/2 in size, a - b is exact, and there is one division.
 * Polynomials are minimax in relative error (Remez). */
#include "vmath_impl.h"

#define PI_2_HI_F 0x1.921fb6p0f
#define PI_2_LO_F -0x1.777a5cp-25f
#define PI_2_HI 0x1.921fb54442d18p+0
#define PI_2_LO 0x1.1a62633145c07p-54
#define PI_4_HI 0x1.921fb54442d18p-1 /* 50 bits: small multiples are exact */
#define PI_4_LO 0x1.1a62633145c07p-55

/* asin(t) - t, w = t^2 <= 1/4 */
TPI_INLINE float asin_tail_32(float t, float w)
{
    float p = 0x1.598608p-5f;
    p = p * w + 0x1.8c0cd4p-6f;
    p = p * w + 0x1.7480dcp-5f;
    p = p * w + 0x1.3301ccp-4f;
    p = p * w + 0x1.5555c8p-3f;
    return p * (w * t);
}

TPI_INLINE double asin_tail_64(double t, double w)
{
    double p = 0x1.059c1ae8700ccp-5;
    p = p * w + -0x1.0a58f2b04a855p-6;
    p = p * w + 0x1.40485135eae9bp-6;
    p = p * w + 0x1.ab578d019fffbp-8;
    p = p * w + 0x1.8ed0899dff337p-7;
    p = p * w + 0x1.c6fbbdd7a9a9fp-7;
    p = p * w + 0x1.1c6bfb138e667p-6;
    p = p * w + 0x1.6e89f29d46b06p-6;
    p = p * w + 0x1.f1c72c49d90cbp-6;
    p = p * w + 0x1.6db6db42481fp-5;
    p = p * w + 0x1.333333336ecabp-4;
    p = p * w + 0x1.555555555538ep-3;
    return p * (w * t);
}

TPI_INLINE float asin_32(float x)
{
    float a = fabsf(x);
    int big = a > 0.5f;
    float w = big ? 0.5f - 0.5f * a : a * a, t = big ? sqrtf(w) : a, z = asin_tail_32(t, w);
    float h = PI_2_HI_F - 2 * t, l = (PI_2_HI_F - h) - 2 * t;
    return copysignf(big ? h + (l + (PI_2_LO_F - 2 * z)) : t + z, x);
}

TPI_INLINE float acos_32(float x)
{
    float a = fabsf(x);
    int big = a > 0.5f;
    float w = big ? 0.5f - 0.5f * a : a * a, t = big ? sqrtf(w) : x, z = asin_tail_32(t, w);
    float near = PI_2_HI_F - (t - (PI_2_LO_F - z)), left = 2 * PI_2_HI_F - (2 * t - (2 * PI_2_LO_F - 2 * z));
    return !big ? near : x < 0 ? left : 2 * t + 2 * z;
}

TPI_INLINE double asin_64(double x)
{
    double a = fabs(x);
    int big = a > 0.5;
    double w = big ? 0.5 - 0.5 * a : a * a, t = big ? sqrt(w) : a, z = asin_tail_64(t, w);
    double h = PI_2_HI - 2 * t, l = (PI_2_HI - h) - 2 * t;
    return copysign(big ? h + (l + (PI_2_LO - 2 * z)) : t + z, x);
}

TPI_INLINE double acos_64(double x)
{
    double a = fabs(x);
    int big = a > 0.5;
    double w = big ? 0.5 - 0.5 * a : a * a, t = big ? sqrt(w) : x, z = asin_tail_64(t, w);
    double near = PI_2_HI - (t - (PI_2_LO - z)), left = 2 * PI_2_HI - (2 * t - (2 * PI_2_LO - 2 * z));
    return !big ? near : x < 0 ? left : 2 * t + 2 * z;
}

/* atan(t) - t, |t| <= 1/2 */
TPI_INLINE double atan_tail_24(double t)
{
    double w = t * t, p = -0x1.a43df48b499f1p-5;
    p = p * w + 0x1.a0180599d76e8p-4;
    p = p * w + -0x1.224c70250fdb4p-3;
    p = p * w + 0x1.997b3a16d37c6p-3;
    p = p * w + -0x1.5555129578441p-2;
    return p * (w * t);
}

TPI_INLINE double atan_tail_53(double t)
{
    double w = t * t, p = 0x1.4b19fdd335735p-7;
    p = p * w + -0x1.c134037196415p-6;
    p = p * w + 0x1.56de238c19193p-5;
    p = p * w + -0x1.a38ff625dd261p-5;
    p = p * w + 0x1.dfe790dc43ae4p-5;
    p = p * w + -0x1.10f2fb07589e6p-4;
    p = p * w + 0x1.3b113a35b950ap-4;
    p = p * w + -0x1.745cf4910b9cp-4;
    p = p * w + 0x1.c71c708e937a9p-4;
    p = p * w + -0x1.2492492156f88p-3;
    p = p * w + 0x1.9999999990ffep-3;
    p = p * w + -0x1.5555555555515p-2;
    return p * (w * t);
}

/* The angle of (b, a), a, b >= 0, not both infinite; if mirror is not 0 (a sign bit), of (-b, a). */
TPI_INLINE double angle(double a, double b, uint64_t mirror, int is_float)
{
    int small = a <= 0.5 * b, large = a > 2.0 * b;
    double num = tpi_select64(small, a, tpi_select64(large, -b, a - b));
    double den = tpi_select64(small, b, tpi_select64(large, a, a + b));
    double t = num / tpi_select64(den == 0, 1.0, den);
    double c = tpi_select64(large, 2.0, 1.0) - tpi_select64(small, 1.0, 0.0);
    t = tpi_double(tpi_bits64(t) ^ mirror);
    /* c or 4 - c: -2 + c or 2 - c, plus 2 */
    c = 2.0 + tpi_double(tpi_bits64(c - 2.0) ^ mirror);
    if (is_float) return c * PI_4_HI + (t + atan_tail_24(t));
    return c * PI_4_HI + (t + (atan_tail_53(t) + c * PI_4_LO));
}

TPI_INLINE float atan_32(float x) { return copysignf((float)angle(fabs((double)x), 1.0, 0, 1), x); }

TPI_INLINE double atan_64(double x) { return copysign(angle(fabs(x), 1.0, 0, 0), x); }

/* The sign bit of x decides, not x < 0: atan2(0, -0) is pi. */
#define SIGN 0x8000000000000000u

TPI_INLINE float atan2_32(float y, float x)
{
    double b = x;
    return copysignf((float)angle(fabs((double)y), fabs(b), tpi_bits64(b) & SIGN, 1), y);
}

TPI_INLINE double atan2_64(double y, double x) { return copysign(angle(fabs(y), fabs(x), tpi_bits64(x) & SIGN, 0), y); }

/* Infinite legs count 1 beside finite ones, which count 0. */
TPI_INLINE float atan2_full_32(float y, float x)
{
    int xi = fabsf(x) == INFINITY, yi = fabsf(y) == INFINITY, nan = (x != x) | (y != y);
    float a = copysignf(tpi_select32(yi, 1.0f, tpi_select32(xi, 0.0f, y)), y);
    float b = copysignf(tpi_select32(xi, 1.0f, tpi_select32(yi, 0.0f, x)), x);
    return tpi_select32(nan, x + y, atan2_32(a, b));
}

/* Very large legs are scaled, so that a + b and 2 b stay finite. */
TPI_INLINE double atan2_full_64(double y, double x)
{
    int xi = fabs(x) == (double)INFINITY, yi = fabs(y) == (double)INFINITY, nan = (x != x) | (y != y);
    double scale = tpi_select64((fabs(x) > 0x1p1000) | (fabs(y) > 0x1p1000), 0x1p-30, 1.0);
    double a = copysign(tpi_select64(yi, 1.0, tpi_select64(xi, 0.0, y * scale)), y);
    double b = copysign(tpi_select64(xi, 1.0, tpi_select64(yi, 0.0, x * scale)), x);
    return tpi_select64(nan, x + y, atan2_64(a, b));
}

TPI_INLINE int special_32(float y, float x) { return !(fabsf(x) <= 0x1.fffffep127f) | !(fabsf(y) <= 0x1.fffffep127f); }

TPI_INLINE int special_64(double y, double x) { return !(fabs(x) <= 0x1p1000) | !(fabs(y) <= 0x1p1000); }

TPI_MAP1(asin_f32, float, asin_32)
TPI_MAP1(asin_f64, double, asin_64)
TPI_MAP1(acos_f32, float, acos_32)
TPI_MAP1(acos_f64, double, acos_64)
TPI_MAP1(atan_f32, float, atan_32)
TPI_MAP1(atan_f64, double, atan_64)
TPI_MAP2_QUICK(atan2_f32, float, atan2_32, atan2_full_32, special_32)
TPI_MAP2_QUICK(atan2_f64, double, atan2_64, atan2_full_64, special_64)
