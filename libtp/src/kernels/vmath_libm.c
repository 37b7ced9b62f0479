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

UNARY(sqrt, sqrtf, sqrt)
UNARY(cbrt, cbrtf, cbrt)
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
BINARY(remainder, remainder32, remainder64)
