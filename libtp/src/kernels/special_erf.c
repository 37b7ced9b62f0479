/* Functions around the error function, and products with logarithms.
 *
 * erfcx: (1 + 2x) erfcx(x) is smooth in (x - k) / (x + k) (Shepherd and Laframboise, Math. Comp. 36, 1981). erfinv:
 * erfinv(y) / y over y^2 where |y| <= 1/2; beyond, erfcinv(w) / t over t = sqrt(-log w) with w = 1 - |y|, which is
 * exact. ndtri is made of the same two. Coefficients: tools/special_tables.py. */
#include "kernels/special.h"

#include "kernels/loops.h"
#include "kernels/special_tables.h"
#include "kernels/vmath.h"

double tpi_erfcx(double x)
{
    if (x < 0) {
        if (x < -27) return INFINITY;
        double high = x * x, low = fma(x, x, -high);
        double e = exp(high);
        return e + e * low + (e + e * low - tpi_erfcx(-x));
    }
    if (x > 1e8) return 0.56418958354775628695 / x;
    double u = (x - 3.75) / (x + 3.75);
    double f = u < 0 ? TPI_PIECE(ERFCX, 0, -1.0, 0.0, u) : TPI_PIECE(ERFCX, 1, 0.0, 1.0, u);
    return f / (1 + 2 * x);
}
SPECIAL1(erfcx, tpi_erfcx)

/* erfcx^(n) = (-2)^n n! exp(x^2) i^n erfc(x) (DLMF 7.18): the recurrence 7.18.7 forward near 0, its continued fraction
 * for the ratios beyond 1. */
static double erfcx_derivative(double x, int n)
{
    double f = tpi_erfcx(x), before = 1.12837916709551257390, scale = 1;
    if (x != x) return x;
    if (x == INFINITY) return 0;
    if (x < 1) {
        for (int k = 1; k <= n; k++) {
            double next = -(x / k) * f + before / (2 * k);
            before = f;
            f = next;
            scale *= -2.0 * k;
        }
        return scale * f;
    }
    double r = 0;
    int start = n + 30 + (int)(160 / (x * x));
    for (int k = start; k > n; k--) r = 1 / (2 * x + 2 * (k + 1) * r);
    double ratio[32];
    for (int k = n; k >= 1; k--) ratio[k] = r = 1 / (2 * x + 2 * (k + 1) * r);
    for (int k = 1; k <= n; k++) f *= ratio[k] * -2.0 * k;
    return f;
}
SPECIAL1_INT(erfcx_derivative, erfcx_derivative, 0, 30)

/* erfc(-x / sqrt 2) / 2 with what rounding takes from the argument, to first order */
static double ndtr(double x)
{
    const double r = 0x1.6a09e667f3bcdp-1, rest = -0x1.bdd3413b26456p-55;
    if (!(fabs(x) < 40)) return x > 0 ? 1 : x < 0 ? 0 : x;
    double z = -x * r, e = fma(-x, r, -z) - x * rest;
    return 0.5 * erfc(z) - e * 0.56418958354775628695 * exp(-z * z);
}
SPECIAL1(ndtr, ndtr)

static double log_ndtr(double x)
{
    const double r = 0.70710678118654752440;
    if (x < -1) return log(0.5 * tpi_erfcx(-x * r)) - 0.5 * x * x;
    return x < 0 ? log(0.5 * erfc(-x * r)) : log1p(-0.5 * erfc(x * r));
}
SPECIAL1(log_ndtr, log_ndtr)

static double erfcinv_tail(double w)
{
    double t = sqrt(-log(w));
    double f = t < 1.5   ? TPI_PIECE(ERFCINV, 0, 0.8325, 1.5, t)
               : t < 3   ? TPI_PIECE(ERFCINV, 1, 1.5, 3.0, t)
               : t < 6.5 ? TPI_PIECE(ERFCINV, 2, 3.0, 6.5, t)
               : t < 13  ? TPI_PIECE(ERFCINV, 3, 6.5, 13.0, t)
                         : TPI_PIECE(ERFCINV, 4, 13.0, 28.0, t);
    return t * f;
}

static double erfinv(double y)
{
    double a = fabs(y), w = y * y;
    if (a < 0.25) return y * TPI_PIECE(ERFINV, 0, 0.0, 0.0625, w);
    if (a <= 0.5) return y * TPI_PIECE(ERFINV, 1, 0.0625, 0.25, w);
    if (a == 1) return copysign(INFINITY, y);
    return a < 1 ? copysign(erfcinv_tail(1 - a), y) : NAN;
}
SPECIAL1(erfinv, erfinv)

static double ndtri(double p)
{
    const double root2 = 1.41421356237309504880;
    if (!(p >= 0 && p <= 1)) return NAN;
    if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
    if (p < 0.25) return -root2 * erfcinv_tail(2 * p);
    if (p > 0.75) return root2 * erfcinv_tail(2 * (1 - p));
    return root2 * erfinv(2 * p - 1);
}
SPECIAL1(ndtri, ndtri)

static inline double entr(double x) { return x > 0 ? -x * log(x) : x == 0 ? 0 : x < 0 ? -INFINITY : x; }
SPECIAL1(entr, entr)

static inline double xlog1py(double x, double y) { return x == 0 && y == y ? 0 : x * log1p(y); }
SPECIAL2(xlog1py, xlog1py)

/* j0(x) = sin(x) / x and its derivatives: the power series within n + 2, x j^(n) = sin(x + n pi / 2) - n j^(n-1)
 * beyond. */
static double spherical_bessel_j0(double x, int n)
{
    double w = x * x;
    if (isinf(x)) return 0;
    if (fabs(x) < (n ? 1.5 + 0.5 * n : 0.5)) {
        /* sum_j (-1)^j x^(2j-n) / ((2j + 1) (2j - n)!) */
        int j = (n + 1) / 2, m = n & 1;
        double term = j & 1 ? -1 : 1, sum = 0, size = 1;
        for (; size > 1e-18; j++, m += 2) {
            sum += term / (2 * j + 1);
            term *= -w / ((m + 1.0) * (m + 2));
            size = fabs(term);
        }
        return n & 1 ? sum * x : sum;
    }
    double s = sin(x), c = cos(x), f = s / x;
    for (int k = 1; k <= n; k++) f = ((k & 2 ? -1 : 1) * (k & 1 ? c : s) - k * f) / x;
    return f;
}
SPECIAL1_INT(spherical_j0, spherical_bessel_j0, 0, 24)

int k_digamma(tp_call *c)
{
    return tpi_vector1(c, (tpi_vfns){.f32 = (const void *)tpi_vdigamma_f32, .f64 = (const void *)tpi_vdigamma_f64});
}
int k_lgamma(tp_call *c)
{
    return tpi_vector1(c, (tpi_vfns){.f32 = (const void *)tpi_vlgamma_f32, .f64 = (const void *)tpi_vlgamma_f64});
}
