/* sin, cos, tan.
 *
 * In double, x = k pi/2 + r, |r| <= pi/4; sin and cos are +-sin(r) or +-cos(r), tan is tan(r) or -1 / tan(r).
 * In float, sin and cos take x = k pi + r (k half an odd integer for cos) and (-1)^k sin(r), computed in double, where
 * r keeps enough bits even beside a multiple of pi. The polynomials are minimax in relative error (Remez); pi is split
 * so that the products with k are exact up to the last (Cody and Waite). Larger arguments, infinities and NaN go to
 * libm one by one. */
#include "vmath_impl.h"

#define PI_HI_F 0x1.921fb54p1 /* for float: 27 bits */
#define PI_LO_F 0x1.10b4611a62633p-29
#define PI_1 0x1.921fb544p1 /* for double: 33, 33 and 53 bits */
#define PI_2 0x1.0b4611a6p-33
#define PI_3 0x1.3198a2e037073p-68
#define INV_PI 0x1.45f306dc9c883p-2

#define LIMIT_32 0x1p26f
#define LIMIT_64 0x1p20

/* sin(r) with the sign of (-1)^k, k the lowest bit of shifted */
TPI_INLINE double sin_reduced_24(double r, double shifted)
{
    double w = r * r, p = 0x1.5db8cf68a256dp-19;
    p = p * w + -0x1.9f6fa71f71a5ap-13;
    p = p * w + 0x1.110ed1bfde526p-7;
    p = p * w + -0x1.55554bbe2d2bp-3;
    double y = (p * w + 1.0) * r;
    return tpi_double(tpi_bits64(y) ^ tpi_bits64(shifted) << 63);
}

/* x = k pi/2 + r + rl, |r| <= pi/4; the low bits of the result's bits are k */
TPI_INLINE uint64_t reduce_64(double x, double *r, double *rl)
{
    double t = x * (2 * INV_PI) + TPI_SHIFT, k = t - TPI_SHIFT, a = x - k * (PI_1 / 2), b = k * (PI_2 / 2);
    double h = a - b, l = ((a - h) - b) - k * (PI_3 / 2);
    *r = h + l;
    *rl = (h - *r) + l;
    return tpi_bits64(t);
}

/* sin(k pi/2 + r + rl), with sin(r) for even and cos(r) for odd k */
TPI_INLINE double sin_reduced_53(double r, double rl, uint64_t k)
{
    double w = r * r, s = 0x1.5d8ee815cea9dp-33, c = -0x1.8fa39698ef1d2p-37;
    s = s * w + -0x1.ae5e57828e0abp-26;
    s = s * w + 0x1.71de35640a15ep-19;
    s = s * w + -0x1.a01a019bf9b74p-13;
    s = s * w + 0x1.111111110f7bp-7;
    s = s * w + -0x1.5555555555548p-3;
    c = c * w + 0x1.1ee9d5cb219b1p-29;
    c = c * w + -0x1.27e4f7e80567bp-22;
    c = c * w + 0x1.a01a019c809a7p-16;
    c = c * w + -0x1.6c16c16c14f6cp-10;
    c = c * w + 0x1.555555555554bp-5;
    double h = 0.5 * w, even = s * (w * r) + rl, odd = (w * w) * c - r * rl;
    double one = 1.0 - h;
    even = r + even;
    odd = one + (((1.0 - one) - h) + odd);
    return tpi_double(tpi_bits64(k & 1 ? odd : even) ^ (k & 2) << 62);
}

TPI_INLINE float sin_32(float xf)
{
    double x = xf, t = x * INV_PI + TPI_SHIFT, k = t - TPI_SHIFT;
    double r = x - k * PI_HI_F;
    return (float)sin_reduced_24(r - k * PI_LO_F, t);
}

TPI_INLINE float cos_32(float xf)
{
    double x = xf, t = (x * INV_PI + 0.5) + TPI_SHIFT, k = (t - TPI_SHIFT) - 0.5;
    double r = x - k * PI_HI_F;
    return (float)sin_reduced_24(r - k * PI_LO_F, t);
}

TPI_INLINE double sin_64(double x)
{
    double r, rl;
    uint64_t k = reduce_64(x, &r, &rl);
    double y = sin_reduced_53(r, rl, k);
    return x == 0 ? x : y;
}

TPI_INLINE double cos_64(double x)
{
    double r, rl;
    uint64_t k = reduce_64(x, &r, &rl);
    return sin_reduced_53(r, rl, k + 1);
}

TPI_INLINE float tan_32(float xf)
{
    double x = xf, t = x * (2 * INV_PI) + TPI_SHIFT, k = t - TPI_SHIFT;
    double r = x - k * (PI_HI_F / 2);
    r = r - k * (PI_LO_F / 2);
    double w = r * r, p = 0x1.1f282756145e9p-8;
    p = p * w + 0x1.4adf9569caa6bp-14;
    p = p * w + 0x1.6355f4480244bp-7;
    p = p * w + 0x1.5ca31e3c44dadp-6;
    p = p * w + 0x1.badd114a51364p-5;
    p = p * w + 0x1.110d873b09a11p-3;
    p = p * w + 0x1.555560722270cp-2;
    double y = (p * w + 1.0) * r;
    return (float)(tpi_bits64(t) & 1 ? -1.0 / y : y);
}

/* For odd k an error of tan(r) comes on top of the division's: the tails of r and of tan(r) are kept. */
TPI_INLINE double tan_64(double x)
{
    double r, rl;
    uint64_t k = reduce_64(x, &r, &rl);
    double w = r * r, p = 0x1.5ea167dd1befep-16;
    p = p * w + -0x1.79b37faf43e1bp-15;
    p = p * w + 0x1.7857d66c85901p-14;
    p = p * w + -0x1.bfaf44654652p-16;
    p = p * w + 0x1.1ec19b9e2f3c2p-13;
    p = p * w + 0x1.d2269fb131955p-13;
    p = p * w + 0x1.3800d91dc7bcp-11;
    p = p * w + 0x1.7d5a9bfa54aadp-10;
    p = p * w + 0x1.d6d943a944583p-9;
    p = p * w + 0x1.226e11e879e13p-7;
    p = p * w + 0x1.664f49ac83fb6p-6;
    p = p * w + 0x1.ba1ba1b455396p-5;
    p = p * w + 0x1.11111111184bep-3;
    p = p * w + 0x1.55555555554fp-2;
    double tail = p * (w * r) + (rl + rl * w), y = r + tail, yl = (r - y) + tail;
    double z = -1.0 / y;
    z = z + z * z * yl;
    y = x == 0 ? x : y;
    return k & 1 ? z : y;
}

TPI_INLINE int large_32(float x) { return !(fabsf(x) < LIMIT_32); }

TPI_INLINE int large_64(double x) { return !(fabs(x) < LIMIT_64); }

TPI_MAP1_RARE(sin_f32, float, sin_32, large_32, sinf)
TPI_MAP1_RARE(sin_f64, double, sin_64, large_64, sin)
TPI_MAP1_RARE(cos_f32, float, cos_32, large_32, cosf)
TPI_MAP1_RARE(cos_f64, double, cos_64, large_64, cos)
TPI_MAP1_RARE(tan_f32, float, tan_32, large_32, tanf)
TPI_MAP1_RARE(tan_f64, double, tan_64, large_64, tan)
