/* pow: 2^(y log2 |x|), with the sign and the special cases of C99 F.9.4.4.
 *
 * log2 |x| = k + log2(m), sqrt(1/2) <= m < sqrt(2), log2(m) = (2 / ln 2) atanh(s), s = (m - 1) / (m + 1). An error of
 * the logarithm is multiplied by up to 1075 ln 2, so that double carries it in two parts, to about 2^-65 of its size;
 * float has room enough in double. */
#include "vmath_expcore.h"
#include "vmath_logcore.h"

/* 2^z for |z| <= 300, relative error 2^-28 */
TPI_INLINE double exp2_24(double z)
{
    double t = z + (TPI_SHIFT + 1023), r = z - (t - (TPI_SHIFT + 1023)), p = 0x1.470c2977a4bfcp-13;
    p = p * r + 0x1.5f72de891921cp-10;
    p = p * r + 0x1.3b270cd59ad56p-7;
    p = p * r + 0x1.c6ae71fc046d3p-5;
    p = p * r + 0x1.ebfbe2c706f6bp-3;
    p = p * r + 0x1.62e43117ef312p-1;
    return (p * r + 1.0) * tpi_pow2_64(t);
}

/* log2(x), x positive and normal, relative error 2^-36 */
TPI_INLINE double log2_24(double x)
{
    double k, f;
    tpi_log_split_64(x, &k, &f);
    double s = f / (2.0 + f), w = s * s, p = 0x1.5c77b329a0c65p-2;
    p = p * w + 0x1.a59547fb12cedp-2;
    p = p * w + 0x1.2777695196bb7p-1;
    p = p * w + 0x1.ec709d42ff40fp-1;
    return (p * w + 0x1.71547652b82fep+1) * s + k;
}

/* 2^(z + zl), z cut to 26 bits */
TPI_INLINE double exp2_53(double z, double zl)
{
    zl = tpi_select64(fabs(z) < 1100.0, zl, 0.0);
    z = TPI_ATLEAST(z, -1100.0);
    z = TPI_ATMOST(z, 1100.0);
    double t = z + (TPI_SHIFT + 2046), d = z - (t - (TPI_SHIFT + 2046)), r = d + zl, rl = (d - r) + zl, f, b;
    tpi_pow2_halves_64(t, &f, &b);
    double p = 0x1.e8955a3b33edap-32;
    p = p * r + 0x1.e61c79edb519p-28;
    p = p * r + 0x1.b525db464374fp-24;
    p = p * r + 0x1.62bfc74eeea47p-20;
    p = p * r + 0x1.ffcbfbf7af1e9p-17;
    p = p * r + 0x1.4309130ec68c2p-13;
    p = p * r + 0x1.5d87fe78bbcfbp-10;
    p = p * r + 0x1.3b2ab6fba02d5p-7;
    p = p * r + 0x1.c6b08d704a05fp-5;
    p = p * r + 0x1.ebfbdff82c5a3p-3;
    p = p * (r * r) + (rl * TPI_LN2 + r * 0x1.abc9e3b39803fp-56);
    return (1.0 + (r * TPI_LN2 + p)) * f * b;
}

TPI_INLINE float pow_32(float xf, float yf)
{
    double z = yf * log2_24(xf);
    z = TPI_ATLEAST(z, -200.0);
    z = TPI_ATMOST(z, 200.0);
    return (float)exp2_24(z);
}

TPI_INLINE double pow_positive_64(double x, double extra, double y)
{
    double h, l, z, zl;
    tpi_log2_53(x, &h, &l);
    tpi_two_sum(h, extra, &z, &zl);
    l += zl;
    h = z + l;
    l = (z - h) + l;
    tpi_two_prod(y, h, &z, &zl);
    zl += y * l;
    return exp2_53(z, zl);
}

TPI_INLINE double pow_64(double x, double y)
{
    double h, l, z, zl;
    tpi_log2_53(x, &h, &l);
    tpi_two_prod(y, h, &z, &zl);
    zl += y * l;
    return exp2_53(z, zl);
}

/* The answer for (x, y) from that for positive, finite |x| and finite y: size is |x|^|y| or what remains of it. */
TPI_INLINE double finish(double x, double y, double size)
{
    const double inf = (double)INFINITY;
    double a = fabs(x), b = fabs(y), half = 0.5 * b;
    int whole = ((b + 0x1p52) - 0x1p52 == b) | (b >= 0x1p52);
    int odd = whole & (b < 0x1p53) & (((half + 0x1p52) - 0x1p52 != half) & (half < 0x1p52));
    /* 0, infinite x or infinite y: 0, 1 or inf */
    int grows = ((a > 1.0) & (y > 0)) | ((a < 1.0) & (y < 0));
    int extreme = (a == 0) | (a == inf) | (b == inf);
    double limit = tpi_select64(grows, inf, 0.0);
    limit = tpi_select64(a == 1.0, 1.0, limit);
    size = tpi_select64(extreme, limit, size);
    uint64_t sign = tpi_bits64(x) & ((uint64_t)odd << 63);
    double r = tpi_double(tpi_bits64(size) | sign);
    r = tpi_select64((x < 0) & (a < inf) & !whole, (double)NAN, r);
    r = tpi_select64((x != x) | (y != y), x + y, r);
    return tpi_select64((y == 0) | (x == 1.0), 1.0, r);
}

TPI_INLINE float pow_full_32(float xf, float yf)
{
    double x = xf, y = yf, a = fabs(x), z = y * log2_24(a);
    z = TPI_ATLEAST(z, -200.0);
    z = TPI_ATMOST(z, 200.0);
    return (float)finish(x, y, exp2_24(z));
}

/* Beyond 2^65 y only needs its sign: log2 |x| is 0 or larger than 2^-53 in size. */
TPI_INLINE double pow_full_64(double x, double y)
{
    double a = fabs(x), b = TPI_ATLEAST(y, -0x1p65);
    b = TPI_ATMOST(b, 0x1p65);
    int tiny = a < 0x1p-1022;
    double size = pow_positive_64(tpi_select64(tiny, a * 0x1p64, a), tpi_select64(tiny, -64.0, 0.0), b);
    return finish(x, y, size);
}

TPI_INLINE int special_32(float x, float y)
{
    return !((x > 0) & (x <= 0x1.fffffep127f) & (fabsf(y) <= 0x1.fffffep127f));
}

TPI_INLINE int special_64(double x, double y)
{
    return !((x >= 0x1p-1022) & (x <= 0x1.fffffffffffffp1023) & (fabs(y) <= 0x1p65));
}

TPI_MAP2_QUICK(pow_f32, float, pow_32, pow_full_32, special_32)
TPI_MAP2_QUICK(pow_f64, double, pow_64, pow_full_64, special_64)
