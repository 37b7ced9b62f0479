/* Numbers and their neighbours: signs, exponents, next numbers, common divisors. */
#include <math.h>

#include "kernels/loops.h"

LOOP2(copysign_f32, float, float, float, copysignf(x, y))
LOOP2(copysign_f64, double, double, double, copysign(x, y))
int k_copysign(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = copysign_f32, [TP_FLOAT64] = copysign_f64};
    return tpi_elementwise(c, 2, 0, -1, table, NULL);
}

/* The next number of a format of `bits` significant bits and least exponent `least`; float32 holds them all. */
static float next_narrow(float x, float y, int bits, int least)
{
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    if (x == 0) return copysignf(ldexpf(1, least - bits + 1), y);
    if (isinf(x)) return copysignf(ldexpf(2 - ldexpf(1, 1 - bits), bits == 8 ? 127 : 15), x);
    int e = ilogbf(x);
    bool inwards = (y < x) == (x > 0);
    if (inwards && fabsf(x) == ldexpf(1, e) && e > least) e--;
    return x + ldexpf(y > x ? 1 : -1, (e > least ? e : least) - bits + 1);
}

static inline float next_f32(float x, float y, const void *ctx)
{
    int dtype = *(const int *)ctx;
    if (dtype == TP_FLOAT16) return next_narrow(x, y, 11, -14);
    return dtype == TP_BFLOAT16 ? next_narrow(x, y, 8, -126) : nextafterf(x, y);
}
LOOP2(nextafter_f32, float, float, float, next_f32(x, y, ctx))
LOOP2(nextafter_f64, double, double, double, nextafter(x, y))
int k_nextafter(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = nextafter_f32, [TP_FLOAT64] = nextafter_f64};
    int dtype = arg_t(&c->args[0])->dtype;
    return tpi_elementwise(c, 2, 0, -1, table, &dtype);
}

LOOP2(scale_exponent_f32, float, float, float, ldexpf(x, (int)y))
LOOP2(scale_exponent_f64, double, double, double, ldexp(x, (int)y))
int k_scale_exponent(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {
        [TP_FLOAT32] = scale_exponent_f32, [TP_FLOAT64] = scale_exponent_f64};
    return tpi_elementwise(c, 2, 0, -1, table, NULL);
}

static inline int exponent(double x)
{
    int e = 0;
    if (isfinite(x)) frexp(x, &e);
    return e;
}
LOOP1(exponent_of_f32, float, float, (float)exponent((double)x))
LOOP1(exponent_of_f64, double, double, exponent(x))
int k_exponent_of(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = exponent_of_f32, [TP_FLOAT64] = exponent_of_f64};
    return tpi_elementwise(c, 1, 0, -1, table, NULL);
}

/* Magnitudes as unsigned numbers: that of the most negative value exists there. */
static inline uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}
static inline uint64_t multiple(uint64_t a, uint64_t b) { return a && b ? a / divisor(a, b) * b : 0; }
static inline uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

#define SIGNED(N, T)                                                 \
    LOOP2(gcd_##N, T, T, T, (T)divisor(magnitude(x), magnitude(y)))  \
    LOOP2(lcm_##N, T, T, T, (T)multiple(magnitude(x), magnitude(y)))
#define UNSIGNED(N, T)                         \
    LOOP2(gcd_##N, T, T, T, (T)divisor(x, y))  \
    LOOP2(lcm_##N, T, T, T, (T)multiple(x, y))
SIGNED(i8, int8_t)
SIGNED(i16, int16_t)
SIGNED(i32, int32_t)
SIGNED(i64, int64_t)
UNSIGNED(u8, uint8_t)
UNSIGNED(u16, uint16_t)
UNSIGNED(u32, uint32_t)
UNSIGNED(u64, uint64_t)
int k_gcd(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {INT_ENTRIES(gcd)};
    return tpi_elementwise(c, 2, 0, -1, table, NULL);
}
int k_lcm(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {INT_ENTRIES(lcm)};
    return tpi_elementwise(c, 2, 0, -1, table, NULL);
}

static inline double logaddexp2_double(double x, double y)
{
    if (x == y) return x + 1; /* infinities too, whose difference is NaN */
    double high = x > y ? x : y, low = x > y ? y : x;
    if (x != x || y != y) return x + y;
    return high + log1p(exp2(low - high)) * 1.4426950408889634;
}
LOOP2(logaddexp2_f32, float, float, float, (float)logaddexp2_double((double)x, (double)y))
LOOP2(logaddexp2_f64, double, double, double, logaddexp2_double(x, y))
int k_logaddexp2(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = logaddexp2_f32, [TP_FLOAT64] = logaddexp2_f64};
    return tpi_elementwise(c, 2, 0, -1, table, NULL);
}
