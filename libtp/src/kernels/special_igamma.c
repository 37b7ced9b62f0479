/* Incomplete gamma functions P and Q, their density, and derivatives in the parameter.
 *
 * Large a near x: Temme's uniform expansion (DLMF 8.12) with coefficients from tools/special_tables.py. Elsewhere the
 * power series of P (8.11.4) or the continued fraction of Q (8.9.2, Lentz's method); Q of small arguments from
 * 8.7.3, where 1 - P would cancel. The common factor x^a exp(-x) / Gamma(a + 1) is exp(-a (mu - log1p(mu))) with
 * mu = (x - a) / a, over Stirling's series, above a = 140. */
#include "kernels/loops.h"
#include "kernels/special.h"
#include "kernels/special_tables.h"
#include "kernels/vmath.h"

#define LARGE 30.0
#define TWO_PI 6.28318530717958647693
enum { TEMME_ORDERS = sizeof TEMME / sizeof TEMME[0], TEMME_TERMS = sizeof TEMME[0] / sizeof TEMME[0][0] };

static double psi(double a)
{
    double y;
    tpi_vdigamma_f64(1, &a, &y);
    return y;
}

/* mu - log(1 + mu), mu = (x - a) / a */
static double phi_of(double a, double x)
{
    double mu = (x - a) / a;
    if (!(fabs(mu) < 0.5)) return mu - log(x / a);
    double s = mu / (2 + mu), w = s * s, sum = 0, term = 1;
    for (int k = 3; term > 1e-18; k += 2, term *= w) sum += term / k;
    return mu * s - 2 * s * w * sum;
}

/* x^a exp(-x) / Gamma(a + 1) */
static double front(double a, double x)
{
    if (a <= 140) {
        double half = pow(x, 0.5 * a) * exp(-0.5 * x);
        return half / tgamma(a + 1) * half;
    }
    double v = 1 / (a * a);
    double stirling = (1.0 / 12 - v * (1.0 / 360 - v * (1.0 / 1260 - v * (1.0 / 1680 - v * (1.0 / 1188))))) / a;
    return exp(-a * phi_of(a, x) - stirling) / sqrt(TWO_PI * a);
}

/* sum x^n / ((a + 1) ... (a + n)), and its derivative in a */
static double series(double a, double x, double *slope)
{
    double sum = 1, term = 1, harmonic = 0, d = 0;
    for (int n = 1; n < 100000; n++) {
        term *= x / (a + n);
        harmonic += 1 / (a + n);
        sum += term;
        d -= term * harmonic;
        if (term < 1e-17 * sum && (!slope || term * harmonic < -1e-17 * d)) break;
    }
    if (slope) *slope = d;
    return sum;
}

/* Gamma(a, x) exp(x) x^-a, and its derivative in a: Lentz's method on numbers with a derivative */
static double fraction(double a, double x, double *slope)
{
    double b = x + 1 - a, db = -1, d = 1 / b, dd = -db * d * d, h = d, dh = dd, c = INFINITY, dc = 0;
    for (int n = 1; n < 100000; n++) {
        double an = -n * (n - a), dan = n;
        b += 2;
        double w = b + an * d, dw = db + dan * d + an * dd;
        if (c == INFINITY) c = b, dc = db;
        else {
            double q = an / c;
            dc = db + (dan - q * dc) / c;
            c = b + q;
        }
        d = 1 / w;
        dd = -dw * d * d;
        double f = c * d, df = dc * d + c * dd;
        dh = dh * f + h * df;
        h *= f;
        if (fabs(f - 1) < 1e-16 && fabs(df) < 1e-16 * (1 + fabs(dh / h))) break;
    }
    if (slope) *slope = dh;
    return h;
}

static bool uniform(double a, double x) { return a >= LARGE && fabs(x - a) < 0.4 * a; }

/* Q, and in *p P; in *da the derivative of P in a where asked */
static double temme(double a, double x, double *p, double *da)
{
    double mu = (x - a) / a, phi = phi_of(a, x), eta = copysign(sqrt(2 * phi), mu), inverse = 1 / a;
    double sum = 0, slope = 0, by_a = 0;
    for (int k = TEMME_ORDERS - 1; k >= 0; k--) {
        double c = 0, dc = 0;
        for (int n = TEMME_TERMS - 1; n >= 0; n--) {
            dc = dc * eta + c;
            c = c * eta + TEMME[k][n];
        }
        by_a = by_a * inverse - sum * inverse * inverse;
        sum = sum * inverse + c;
        slope = slope * inverse + dc;
    }
    double e = exp(-a * phi) / sqrt(TWO_PI * a), y = eta * sqrt(0.5 * a);
    *p = 0.5 * erfc(-y) - e * sum;
    if (da) {
        /* eta eta' = -mu / a */
        double ratio = fabs(eta) > 1e-8 ? mu / eta : 1, d = -ratio / a;
        double dy = d * sqrt(0.5 * a) + eta / (2 * sqrt(2 * a));
        double dq = -exp(-a * phi) * 0.56418958354775628695 * dy + e * (slope * d + by_a) +
                    e * sum * (mu - phi - 0.5 * inverse);
        *da = -dq;
    }
    return 0.5 * erfc(y) + e * sum;
}

/* 1 if the result is settled without any computation */
static bool at_edge(double a, double x, double *p)
{
    if (a != a || x != x || a < 0 || x < 0 || (a == 0 && x == 0) || (isinf(a) && isinf(x))) *p = NAN;
    else if (x == 0 || isinf(a)) *p = 0;
    else if (a == 0 || isinf(x)) *p = 1;
    else return false;
    return true;
}

static double igamma(double a, double x)
{
    double p;
    if (at_edge(a, x, &p)) return p;
    if (uniform(a, x)) return temme(a, x, &p, NULL), p;
    if (x <= a + 1 && !(a < 1 && x > 1.1)) return front(a, x) * series(a, x, NULL);
    return 1 - front(a, x) * a * fraction(a, x, NULL);
}

static double igammac(double a, double x)
{
    double p;
    if (at_edge(a, x, &p)) return 1 - p;
    if (uniform(a, x)) return temme(a, x, &p, NULL);
    if (a < 1 && x <= 1.1) {
        double l = a * (log(x) - TPI_PIECE(LGAMMA1P, 0, 0.0, 1.0, a)), sum = 0, term = 1;
        for (int n = 1; n < 100 && fabs(term) > 1e-18; n++) {
            term *= -x / n;
            sum += term / (a + n);
        }
        return -expm1(l) - exp(l) * a * sum;
    }
    if (x <= a + 1) return 1 - front(a, x) * series(a, x, NULL);
    return front(a, x) * a * fraction(a, x, NULL);
}

/* x^(a-1) exp(-x) / Gamma(a) */
static double density(double x, double a)
{
    if (x == 0) return a > 1 || a == 0 ? 0 : a == 1 ? 1 : INFINITY;
    if (!(x > 0)) return NAN;
    if (isinf(x)) return 0;
    if (a >= 1) return front(a, x) * (a / x);
    if (a == floor(a)) return 0;
    return pow(x, a - 1) * exp(-x) / tgamma(a);
}

static double slope_a(double a, double x)
{
    double p, d;
    if (at_edge(a, x, &p)) return p != p || a == 0 ? NAN : 0;
    if (uniform(a, x)) return temme(a, x, &p, &d), d;
    if (x <= a + 1 && !(a < 1 && x > 1.1)) {
        double sum = series(a, x, &d);
        return front(a, x) * ((log(x) - psi(a + 1)) * sum + d);
    }
    double h = fraction(a, x, &d);
    return -front(a, x) * a * ((log(x) - psi(a)) * h + d);
}

/* Order 2 by central differences of eighth order, about ten digits; the step follows the scale on which P varies. */
static double igamma_da(double a, double x, int order)
{
    static const double w[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    if (order == 1) return slope_a(a, x);
    double p, rate = fabs(log(x) - psi(a)), scale = a < 1 ? a : sqrt(a), sum = 0;
    if (at_edge(a, x, &p)) return slope_a(a, x);
    double h = 0.06 * (scale * rate > 1 ? 1 / rate : scale);
    for (int k = 1; k <= 4; k++) sum += w[k - 1] * (slope_a(a + k * h, x) - slope_a(a - k * h, x));
    return sum / h;
}

SPECIAL2(igamma, igamma)
SPECIAL2(igammac, igammac)
LOOP2(density_f32, float, float, float, (float)density(y, x))
LOOP2(density_f64, double, double, double, density(y, x))
int k_igamma_density(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = density_f32, [TP_FLOAT64] = density_f64};
    return tpi_elementwise(c, 2, 0, -1, table, NULL);
}
LOOP2(da_f32, float, float, float, (float)igamma_da(x, y, *(const int *)ctx))
LOOP2(da_f64, double, double, double, igamma_da(x, y, *(const int *)ctx))
int k_igamma_da(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = da_f32, [TP_FLOAT64] = da_f64};
    int64_t order = arg_i(&c->args[2]);
    if (order < 1 || order > 2)
        return tpi_fail(TP_ERR_NOT_IMPLEMENTED, "igamma: no derivative of order %lld in its first argument",
                        (long long)order);
    int n = (int)order;
    return tpi_elementwise(c, 2, 0, -1, table, &n);
}
