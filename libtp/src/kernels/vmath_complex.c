/* Complex mathematics through the C99 functions, whose Annex G fixes branch cuts and special values. */
#include "vmath_impl.h"

#define PI 3.14159265358979323846
#define LN2 0.69314718055994530942
#define LN10 2.30258509299404568402

#define COMPLEX(name, f32, f64)                                                    \
    void tpi_v##name##_c64(int64_t n, const float complex *x, float complex *y)    \
    {                                                                              \
        for (int64_t i = 0; i < n; i++) y[i] = f32(x[i]);                          \
    }                                                                              \
    void tpi_v##name##_c128(int64_t n, const double complex *x, double complex *y) \
    {                                                                              \
        for (int64_t i = 0; i < n; i++) y[i] = f64(x[i]);                          \
    }

/* 1/z without overflow of |z|^2: the ratio of the smaller part to the larger (Smith, 1962). float goes through
 * double, where |z|^2 neither overflows nor underflows. 1/0 is inf + nan i as NumPy's 1 / 0j, 1/inf is a zero. */
static double complex reciprocal64(double complex z)
{
    double a = creal(z), b = cimag(z);
    if (isinf(a) || isinf(b)) return CMPLX(copysign(0.0, a), copysign(0.0, -b));
    if (a == 0 && b == 0) return CMPLX(1.0 / fabs(a), NAN);
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
    if (isinf(a) || isinf(b)) return CMPLXF(copysignf(0.0f, (float)a), copysignf(0.0f, (float)-b));
    if (a == 0 && b == 0) return CMPLXF((float)(1.0 / fabs(a)), NAN);
    double d = a * a + b * b;
    return CMPLXF((float)(a / d), (float)(-b / d));
}

/* 2^z; the logarithm of 2 times a large real part would lose its digits. */
static double complex cexp2(double complex z)
{
    double a = creal(z), b = cimag(z), size = exp2(a), angle = b * LN2;
    if (!isfinite(a) || !isfinite(b)) return cexp(CMPLX(a * LN2, angle));
    return CMPLX(size * cos(angle), b == 0 ? b : size * sin(angle));
}

/* exp(z) - 1 = expm1(a) cos(b) - 2 sin(b/2)^2 + i exp(a) sin(b) */
static double complex cexpm1(double complex z)
{
    double a = creal(z), b = cimag(z), half = sin(0.5 * b);
    if (!isfinite(a) || !isfinite(b)) return cexp(z) - 1;
    return CMPLX(expm1(a) * cos(b) - 2 * half * half, b == 0 ? b : exp(a) * sin(b));
}

/* log|1 + z| = log1p(a (2 + a) + b^2) / 2, whose terms cancel near the unit circle around -1. */
static double complex clog1p(double complex z)
{
    double a = creal(z), b = cimag(z);
    if (!(fabs(a) < 0.75 && fabs(b) < 0.75)) return clog(CMPLX(1 + a, b));
    long double excess = (long double)a * (2 + (long double)a) + (long double)b * b;
    return CMPLX(0.5 * log1p((double)excess), atan2(b, 1 + a));
}

static double complex clog2_(double complex z)
{
    double complex w = clog(z);
    return CMPLX(creal(w) / LN2, cimag(w) / LN2);
}

static double complex clog10_(double complex z)
{
    double complex w = clog(z);
    return CMPLX(creal(w) / LN10, cimag(w) / LN10);
}

/* The exponential that does not overflow is taken: exp(z) / (1 + exp(z)) left of the imaginary axis. */
static double complex csigmoid(double complex z)
{
    double complex e = cexp(creal(z) < 0 ? z : -z), w = reciprocal64(1 + e);
    return creal(z) < 0 ? e * w : w;
}

static double complex csilu(double complex z) { return z * csigmoid(z); }

/* The larger by real part is taken out. The angle goes on from its own, as in PyTorch: it is not brought back to
 * (-pi, pi], so that adding almost nothing changes almost nothing. */
double complex tpi_clogaddexp(double complex x, double complex y)
{
    double a = creal(x), b = creal(y);
    if (isnan(a) || isnan(b) || isnan(cimag(x)) || isnan(cimag(y))) return CMPLX(NAN, NAN);
    if (a < b) {
        double complex t = x;
        x = y;
        y = t;
        a = creal(x);
        b = creal(y);
    }
    if (isinf(a)) {
        if (a < 0) return y;
        return a == b ? CMPLX(a, carg(cexp(x) + cexp(y))) : x;
    }
    return x + clog1p(cexp(y - x));
}

/* float is evaluated in double. */
#define THROUGH_DOUBLE(name, f)                                                    \
    void tpi_v##name##_c64(int64_t n, const float complex *x, float complex *y)    \
    {                                                                              \
        for (int64_t i = 0; i < n; i++) y[i] = (float complex)f(x[i]);             \
    }                                                                              \
    void tpi_v##name##_c128(int64_t n, const double complex *x, double complex *y) \
    {                                                                              \
        for (int64_t i = 0; i < n; i++) y[i] = f(x[i]);                            \
    }
THROUGH_DOUBLE(exp2, cexp2)
THROUGH_DOUBLE(expm1, cexpm1)
THROUGH_DOUBLE(log1p, clog1p)
THROUGH_DOUBLE(log2, clog2_)
THROUGH_DOUBLE(log10, clog10_)
THROUGH_DOUBLE(sigmoid, csigmoid)
THROUGH_DOUBLE(silu, csilu)

void tpi_vlogaddexp_c64(int64_t n, const float complex *x, const float complex *y, float complex *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = (float complex)tpi_clogaddexp(x[i], y[i]);
}

void tpi_vlogaddexp_c128(int64_t n, const double complex *x, const double complex *y, double complex *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = tpi_clogaddexp(x[i], y[i]);
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
    for (int64_t i = 0; i < n; i++) y[i] = cabsf(x[i]);
}

void tpi_vabs_c128(int64_t n, const double complex *x, double *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = cabs(x[i]);
}

void tpi_varg_c64(int64_t n, const float complex *x, float *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = cargf(x[i]);
}

void tpi_varg_c128(int64_t n, const double complex *x, double *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = carg(x[i]);
}

/* exp(y log x), with NumPy's answers for x = 0 and repeated multiplication for small integer exponents: those results
 * are exact where the parts are. */
static double complex pow64(double complex x, double complex y)
{
    double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
    if (c == 0 && d == 0) return 1;
    if (a == 0 && b == 0) return c > 0 ? CMPLX(0, 0) : CMPLX(NAN, NAN);
    if (d == 0 && fabs(c) <= 64 && c == floor(c) && isfinite(a) && isfinite(b)) {
        double complex r = 1, p = x;
        for (int k = (int)fabs(c); k; k >>= 1) {
            if (k & 1) r = r * p;
            if (k > 1) p = p * p;
        }
        if (c > 0 && isfinite(creal(r)) && isfinite(cimag(r))) return r;
        double size = cabs(r);
        if (c < 0 && size < 0x1p1000 && size > 0x1p-1000) return reciprocal64(r);
    }
    return cpow(x, y);
}

void tpi_vpow_c64(int64_t n, const float complex *x, const float complex *y, float complex *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = (float complex)pow64(x[i], y[i]);
}

void tpi_vpow_c128(int64_t n, const double complex *x, const double complex *y, double complex *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = pow64(x[i], y[i]);
}
