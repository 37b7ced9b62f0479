/* Functions that go to libm, an element at a time. */
#include "vmath_impl.h"

#define UNARY(name, f32, f64)                                    \
    void tpi_v##name##_f32(int64_t n, const float *x, float *y)   \
    {                                                            \
        for (int64_t i = 0; i < n; i++)                          \
            y[i] = f32(x[i]);                                    \
    }                                                            \
    void tpi_v##name##_f64(int64_t n, const double *x, double *y) \
    {                                                            \
        for (int64_t i = 0; i < n; i++)                          \
            y[i] = f64(x[i]);                                    \
    }

#define BINARY(name, f32, f64)                                                      \
    void tpi_v##name##_f32(int64_t n, const float *x, const float *y, float *out)    \
    {                                                                               \
        for (int64_t i = 0; i < n; i++)                                             \
            out[i] = f32(x[i], y[i]);                                               \
    }                                                                               \
    void tpi_v##name##_f64(int64_t n, const double *x, const double *y, double *out) \
    {                                                                               \
        for (int64_t i = 0; i < n; i++)                                             \
            out[i] = f64(x[i], y[i]);                                               \
    }

UNARY(erf, erff, erf)
UNARY(erfc, erfcf, erfc)
UNARY(sqrt, sqrtf, sqrt)
UNARY(cbrt, cbrtf, cbrt)
BINARY(pow, powf, pow)
BINARY(hypot, hypotf, hypot)
BINARY(fmod, fmodf, fmod)

static double rsqrt64(double x)
{
    return 1.0 / sqrt(x);
}

static float rsqrt32(float x)
{
    return (float)rsqrt64(x);
}

static double sigmoid64(double x)
{
    double e = exp(-fabs(x));
    return (x < 0 ? e : 1.0) / (1.0 + e);
}

static double gelu64(double x)
{
    return x < -40 ? -0.0 : 0.5 * x * erfc(-x * 0x1.6a09e667f3bcdp-1);
}

static float gelu32(float x)
{
    return (float)gelu64(x);
}

static double gelu_grad64(double x)
{
    double a = fabs(x) > 40 ? 40 : x;
    return x != x ? x : 0.5 * erfc(-x * 0x1.6a09e667f3bcdp-1) + a * exp(-0.5 * a * a) * 0x1.9884533d43651p-2;
}

static float gelu_grad32(float x)
{
    return (float)gelu_grad64(x);
}

static double gelu_tanh64(double x)
{
    double u = 0x1.9884533d43651p-1 * x * (1 + 0.044715 * x * x);
    return x < -30 ? -0.0 : x * sigmoid64(2 * u);
}

static float gelu_tanh32(float x)
{
    return (float)gelu_tanh64(x);
}

static double gelu_tanh_grad64(double x)
{
    double a = x > 30 ? 30 : x < -30 ? -30 : x;
    double u = 0x1.9884533d43651p-1 * a * (1 + 0.044715 * a * a), s = sigmoid64(2 * u);
    return s + 2 * a * s * sigmoid64(-2 * u) * 0x1.9884533d43651p-1 * (1 + 3 * 0.044715 * a * a);
}

static float gelu_tanh_grad32(float x)
{
    return (float)gelu_tanh_grad64(x);
}

static double remainder64(double x, double y)
{
    double r = fmod(x, y);
    return r == 0 ? copysign(r, y) : (r < 0) != (y < 0) ? r + y : r;
}

static float remainder32(float x, float y)
{
    float r = fmodf(x, y);
    return r == 0 ? copysignf(r, y) : (r < 0) != (y < 0) ? r + y : r;
}

UNARY(rsqrt, rsqrt32, rsqrt64)
UNARY(gelu, gelu32, gelu64)
UNARY(gelu_grad, gelu_grad32, gelu_grad64)
UNARY(gelu_tanh, gelu_tanh32, gelu_tanh64)
UNARY(gelu_tanh_grad, gelu_tanh_grad32, gelu_tanh_grad64)
BINARY(remainder, remainder32, remainder64)
