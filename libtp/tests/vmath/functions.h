/* The functions under test, with the bounds of vmath.h. A floor stands in for |value| where it is smaller: the two
 * derivatives, and digamma for x < 0, cross 0 where their terms cancel. */
#ifndef TP_TESTS_VMATH_FUNCTIONS_H
#define TP_TESTS_VMATH_FUNCTIONS_H

#include <math.h>

#include "kernels/vmath.h"

typedef void unary_32(int64_t, const float *, float *);
typedef void unary_64(int64_t, const double *, double *);
typedef void binary_32(int64_t, const float *, const float *, float *);
typedef void binary_64(int64_t, const double *, const double *, double *);

#define ULP_32 1.5
#define ULP_64 2.0

#define U(name) {#name, tpi_v##name##_f32, tpi_v##name##_f64, ULP_32, ULP_64, 0}

/* silu, and gelu without fused multiply-add, may miss by a tenth of an ulp. */
static const struct unary {
    const char *name;
    unary_32 *f32;
    unary_64 *f64;
    double ulp_32, ulp_64, floor;
} unary_functions[] = {
    U(exp),
    U(exp2),
    U(expm1),
    U(log),
    U(log2),
    U(log10),
    U(log1p),
    U(sin),
    U(cos),
    U(tan),
    U(sinh),
    U(cosh),
    U(tanh),
    U(asin),
    U(acos),
    U(atan),
    U(asinh),
    U(acosh),
    U(atanh),
    U(erf),
    U(erfc),
    U(sqrt),
    U(rsqrt),
    U(cbrt),
    U(lgamma),
    U(sigmoid),
    U(softplus),
    U(gelu_tanh),
    {"silu", tpi_vsilu_f32, tpi_vsilu_f64, 1.65, 2.0, 0},
    {"gelu", tpi_vgelu_f32, tpi_vgelu_f64, 1.5, 2.1, 0},
    {"digamma", tpi_vdigamma_f32, tpi_vdigamma_f64, 1.5, 2.0, 8},
    {"gelu_grad", tpi_vgelu_grad_f32, tpi_vgelu_grad_f64, 1.5, 3.0, 0.5},
    {"gelu_tanh_grad", tpi_vgelu_tanh_grad_f32, tpi_vgelu_tanh_grad_f64, 1.5, 3.0, 0.5},
};

static const struct binary {
    const char *name;
    binary_32 *f32;
    binary_64 *f64;
    double ulp_32, ulp_64, floor;
} binary_functions[] = {U(pow), U(atan2), U(hypot), U(fmod), U(remainder)};

#undef U

#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

/* The distance of got from hi + lo in ulps of a format with so many bits and so small a least exponent. */
static inline double ulps(double got, double hi, double lo, double least, int bits, int smallest, double top)
{
    if (isnan(hi) || isnan(got)) return isnan(hi) && isnan(got) ? 0 : INFINITY;
    if (isinf(hi)) return got == hi ? 0 : INFINITY;
    if (hi == 0) return got == 0 && !signbit(got) == !signbit(hi) ? 0 : INFINITY;
    if (!signbit(got) != !signbit(hi) && least == 0) return INFINITY;
    if (isinf(got)) /* only beyond the largest value */
        return fabs(hi) > top && !signbit(got) == !signbit(hi) ? 0 : INFINITY;
    int e;
    frexp(fmax(fabs(hi), least), &e);
    e = e - bits < smallest ? smallest : e - bits;
    return fabs(ldexp((got - hi) - lo, -e));
}

static inline double ulps_32(double got, double hi, double lo, double least)
{
    return ulps(got, hi, lo, least, 24, -149, 0x1.fffffep127);
}

static inline double ulps_64(double got, double hi, double lo, double least)
{
    return ulps(got, hi, lo, least, 53, -1074, 0x1.fffffffffffffp1023);
}

#endif
