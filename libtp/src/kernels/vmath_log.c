/* log, log2, log10, log1p. */
#include "vmath_logcore.h"

TPI_INLINE int irregular_32(float x) { return !(x >= 0x1p-126f && x <= 0x1.fffffep127f); }

TPI_INLINE int irregular_64(double x) { return !(x >= 0x1p-1022 && x <= 0x1.fffffffffffffp1023); }

/* log(x)/log(base) = k log(2)/log(base) + f + (f (1/log(base) - 1) + tail/log(base)), with 1/log(10) - 1/2 for base
 * 10: f and f/2 are exact, and the rest is small. */
enum { NATURAL, BINARY, DECIMAL };

TPI_INLINE float logarithm_32(float x, int base)
{
    float k, f;
    tpi_log_split_32(x, &k, &f);
    float t = tpi_log_tail_32(f);
    if (base == BINARY) return k + (f + (f * 0x1.c551dap-2f + t * 0x1.715476p+0f));
    if (base == DECIMAL) {
        float lo = f * -0x1.0d213ap-4f + t * 0x1.bcb7b2p-2f;
        return k * 0x1.344p-2f + (0.5f * f + (lo + k * 0x1.3509f8p-18f));
    }
    return k * TPI_LOG_LN2_HI_F + (f + (t + k * TPI_LOG_LN2_LO_F));
}

TPI_INLINE double logarithm_64(double x, int base)
{
    double k, f;
    tpi_log_split_64(x, &k, &f);
    double t = tpi_log_tail_64(f);
    if (base == BINARY) return k + (f + (f * 0x1.c551d94ae0bf8p-2 + t * 0x1.71547652b82fep+0));
    if (base == DECIMAL) {
        double lo = f * -0x1.0d213ab646bc7p-4 + t * 0x1.bcb7b1526e50ep-2;
        return k * 0x1.34413509f8p-2 + (0.5 * f + (lo + k * -0x1.80433b83b532ap-44));
    }
    return k * TPI_LOG_LN2_HI + (f + (t + k * TPI_LOG_LN2_LO));
}

/* Subnormals are scaled; 0, negative, infinite and NaN arguments have their own answers. */
TPI_INLINE float full_32(float x, int base)
{
    int tiny = x < 0x1p-126f;
    float y = logarithm_32(tiny ? x * 0x1p32f : x, base);
    const float shift = base == BINARY ? 32.0f : base == DECIMAL ? 0x1.3441359p+3f : 0x1.62e42ffp+4f;
    y = tiny ? y - shift : y;
    y = x < INFINITY ? y : x;
    y = x == 0 ? -INFINITY : y;
    return x < 0 ? NAN : y;
}

TPI_INLINE double full_64(double x, int base)
{
    int tiny = x < 0x1p-1022;
    double y = logarithm_64(tiny ? x * 0x1p64 : x, base);
    const double shift = base == BINARY ? 64.0 : base == DECIMAL ? 0x1.34413509f79ffp+4 : 0x1.62e42fefa39efp+5;
    y = tiny ? y - shift : y;
    y = x < (double)INFINITY ? y : x;
    y = x == 0 ? -(double)INFINITY : y;
    return x < 0 ? (double)NAN : y;
}

#define LOGARITHM(name, base)                                                         \
    TPI_INLINE float name##_quick_32(float x) { return logarithm_32(x, base); }       \
    TPI_INLINE float name##_full_32(float x) { return full_32(x, base); }             \
    TPI_INLINE double name##_quick_64(double x) { return logarithm_64(x, base); }     \
    TPI_INLINE double name##_full_64(double x) { return full_64(x, base); }           \
    TPI_MAP1_QUICK(name##_f32, float, name##_quick_32, name##_full_32, irregular_32)  \
    TPI_MAP1_QUICK(name##_f64, double, name##_quick_64, name##_full_64, irregular_64)

LOGARITHM(log, NATURAL)
LOGARITHM(log2, BINARY)
LOGARITHM(log10, DECIMAL)

/* 1 + x = u + c exactly (barring |x| so large that c does not matter): c / 2^k is added to f. */
TPI_INLINE float log1p_any_32(float x, int full)
{
    float u = 1.0f + x, c = x > 1.0f ? 1.0f - (u - x) : x - (u - 1.0f), k, f;
    tpi_log_split_32(u, &k, &f);
    float e = full ? TPI_ATMOST(k, 126.0f) : k;
    f += c * tpi_float((uint32_t)(127 - (int32_t)e) << 23);
    return copysignf(k * TPI_LOG_LN2_HI_F + (f + (tpi_log_tail_32(f) + k * TPI_LOG_LN2_LO_F)), x);
}

TPI_INLINE float log1p_32(float x) { return log1p_any_32(x, 0); }

TPI_INLINE float log1p_full_32(float x)
{
    float y = log1p_any_32(x, 1);
    y = x < INFINITY ? y : x;
    y = x == -1.0f ? -INFINITY : y;
    return x < -1.0f ? NAN : y;
}

TPI_INLINE double log1p_any_64(double x, int full)
{
    double u = 1.0 + x, c = x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0), k, f;
    tpi_log_split_64(u, &k, &f);
    double e = full ? TPI_ATMOST(k, 1022.0) : k;
    f += c * tpi_double(tpi_bits64(0x1p52 + 1023 - e) << 52);
    return copysign(k * TPI_LOG_LN2_HI + (f + (tpi_log_tail_64(f) + k * TPI_LOG_LN2_LO)), x);
}

TPI_INLINE double log1p_64(double x) { return log1p_any_64(x, 0); }

TPI_INLINE double log1p_full_64(double x)
{
    double y = log1p_any_64(x, 1);
    y = x < (double)INFINITY ? y : x;
    y = x == -1.0 ? -(double)INFINITY : y;
    return x < -1.0 ? (double)NAN : y;
}

TPI_INLINE int log1p_irregular_32(float x) { return !(x > -1.0f && x < 0x1p126f); }

TPI_INLINE int log1p_irregular_64(double x) { return !(x > -1.0 && x < 0x1p1022); }

TPI_MAP1_QUICK(log1p_f32, float, log1p_32, log1p_full_32, log1p_irregular_32)
TPI_MAP1_QUICK(log1p_f64, double, log1p_64, log1p_full_64, log1p_irregular_64)
