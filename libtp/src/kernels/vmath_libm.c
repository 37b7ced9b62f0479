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

UNARY(lgamma, lgammaf, lgamma)
