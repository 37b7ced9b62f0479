/* Complex mathematics through the C99 functions, whose Annex G fixes branch cuts and special values. */
#include "vmath_impl.h"

#define COMPLEX(name, f32, f64)                                                      \
    void tpi_v##name##_c64(int64_t n, const float complex *x, float complex *y)       \
    {                                                                                \
        for (int64_t i = 0; i < n; i++)                                              \
            y[i] = f32(x[i]);                                                        \
    }                                                                                \
    void tpi_v##name##_c128(int64_t n, const double complex *x, double complex *y)    \
    {                                                                                \
        for (int64_t i = 0; i < n; i++)                                              \
            y[i] = f64(x[i]);                                                        \
    }

/* 1/z without overflow of |z|^2: the ratio of the smaller part to the larger (Smith, 1962). float goes through
 * double, where |z|^2 neither overflows nor underflows. 1/0 is inf + nan i as NumPy's 1 / 0j, 1/inf is a zero. */
static double complex reciprocal64(double complex z)
{
    double a = creal(z), b = cimag(z);
    if (isinf(a) || isinf(b))
        return CMPLX(copysign(0.0, a), copysign(0.0, -b));
    if (a == 0 && b == 0)
        return CMPLX(1.0 / fabs(a), NAN);
    /* scaled to [1, 2) so that neither the denominator nor the result is lost to subnormals on the way */
    int e = 0;
    (void)frexp(fmax(fabs(a), fabs(b)), &e);
    a = ldexp(a, -e);
    b = ldexp(b, -e);
    double re, im;
    if (fabs(a) >= fabs(b)) {
        double r = b / a, d = a + b * r;
        re = 1 / d;
        im = -r / d;
    } else {
        double r = a / b, d = a * r + b;
        re = r / d;
        im = -1 / d;
    }
    return CMPLX(ldexp(re, -e), ldexp(im, -e));
}

static float complex reciprocal32(float complex z)
{
    double a = crealf(z), b = cimagf(z);
    if (isinf(a) || isinf(b))
        return CMPLXF(copysignf(0.0f, (float)a), copysignf(0.0f, (float)-b));
    if (a == 0 && b == 0)
        return CMPLXF((float)(1.0 / fabs(a)), NAN);
    double d = a * a + b * b;
    return CMPLXF((float)(a / d), (float)(-b / d));
}

COMPLEX(exp, cexpf, cexp)
COMPLEX(log, clogf, clog)
COMPLEX(sqrt, csqrtf, csqrt)
COMPLEX(sin, csinf, csin)
COMPLEX(cos, ccosf, ccos)
COMPLEX(tan, ctanf, ctan)
COMPLEX(sinh, csinhf, csinh)
COMPLEX(cosh, ccoshf, ccosh)
COMPLEX(tanh, ctanhf, ctanh)
COMPLEX(asin, casinf, casin)
COMPLEX(acos, cacosf, cacos)
COMPLEX(atan, catanf, catan)
COMPLEX(asinh, casinhf, casinh)
COMPLEX(acosh, cacoshf, cacosh)
COMPLEX(atanh, catanhf, catanh)
COMPLEX(reciprocal, reciprocal32, reciprocal64)

void tpi_vabs_c64(int64_t n, const float complex *x, float *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = cabsf(x[i]);
}

void tpi_vabs_c128(int64_t n, const double complex *x, double *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = cabs(x[i]);
}

void tpi_varg_c64(int64_t n, const float complex *x, float *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = cargf(x[i]);
}

void tpi_varg_c128(int64_t n, const double complex *x, double *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = carg(x[i]);
}

/* exp(y log x), with NumPy's answers for x = 0 and repeated multiplication for small integer exponents: those results
 * are exact where the parts are. */
static double complex pow64(double complex x, double complex y)
{
    double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
    if (c == 0 && d == 0)
        return 1;
    if (a == 0 && b == 0)
        return c > 0 ? CMPLX(0, 0) : CMPLX(NAN, NAN);
    if (d == 0 && fabs(c) <= 64 && c == floor(c) && isfinite(a) && isfinite(b)) {
        double complex r = 1, p = x;
        for (int k = (int)fabs(c); k; k >>= 1) {
            if (k & 1)
                r = r * p;
            if (k > 1)
                p = p * p;
        }
        if (c > 0 && isfinite(creal(r)) && isfinite(cimag(r)))
            return r;
        double size = cabs(r);
        if (c < 0 && size < 0x1p1000 && size > 0x1p-1000)
            return reciprocal64(r);
    }
    return cpow(x, y);
}

void tpi_vpow_c64(int64_t n, const float complex *x, const float complex *y, float complex *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (float complex)pow64(x[i], y[i]);
}

void tpi_vpow_c128(int64_t n, const double complex *x, const double complex *y, double complex *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = pow64(x[i], y[i]);
}
