/* Hurwitz zeta function with its derivatives in s, and polygamma.
 *
 * Euler and Maclaurin's formula (DLMF 25.11.28) after as many terms as make its error count for nothing. Below 0, for
 * whole s, the two-sided sum is folded into three of one side. */
#include "kernels/loops.h"
#include "kernels/special.h"
#include "kernels/vmath.h"

enum { MOST_DERIVATIVES = 8, BERNOULLI = 12 };

/* B_2j / (2j)! */
static const double bernoulli[BERNOULLI] = {0x1.5555555555555p-4,   -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15,
                                            -0x1.bbd779334ef0bp-21, 0x1.66a8f2bf70ebep-26,  -0x1.22805d644267fp-31,
                                            0x1.d6db2c4e09162p-37,  -0x1.7da4e1f79955cp-42, 0x1.355871d652e9ep-47,
                                            -0x1.f57d968caacf1p-53, 0x1.967e1f09c376fp-58,  -0x1.497d9033a2b5cp-63};

static double power(double x, int m)
{
    double p = 1;
    for (; m > 0; m--) p *= x;
    return p;
}

/* d^m/ds^m zeta(s, q), q > 0, s > 1 */
static double hurwitz(double s, double q, int m)
{
    double sum = 0, a = q, enough = 10 + 0.8 * s;
    for (int k = 0; k < 10 || a < enough; k++, a = q + k) {
        double term = pow(a, -s) * power(-log(a), m);
        sum += term;
        /* what follows is less than its integral */
        if (a > 2 && fabs(term) * power(1 + a / (s - 1), m + 1) < 1e-18 * fabs(sum)) return sum;
        if (term == 0 && a > 2) return sum;
    }
    double t = pow(a, -s), l = -log(a), binomial = 1, tail = 0, sign = 1 / (s - 1);
    for (int i = 0; i <= m; i++) {
        tail += binomial * power(l, m - i) * sign;
        binomial = binomial * (m - i) / (i + 1);
        sign *= -(i + 1.0) / (s - 1);
    }
    tail = a * tail + 0.5 * power(l, m);
    /* rising[i]: the i-th derivative of s (s + 1) ... (s + 2j), over i! */
    double rising[MOST_DERIVATIVES + 1] = {s, 1}, inverse = 1 / a;
    for (int j = 0; j < BERNOULLI; j++) {
        double part = 0, falling = 1;
        for (int i = 0; i <= m; i++) {
            part += falling * rising[i] * power(l, m - i);
            falling *= m - i;
        }
        part *= bernoulli[j] * inverse;
        tail += part;
        if (fabs(part) < 1e-18 * fabs(tail)) break;
        inverse /= a * a;
        for (int k = 2 * j + 1; k <= 2 * j + 2; k++)
            for (int i = m; i >= 0; i--) rising[i] = rising[i] * (s + k) + (i ? rising[i - 1] : 0);
    }
    return sum + t * tail;
}

static double zeta_below(double s, double q)
{
    double whole = floor(q), f = q - whole, sign = fmod(s, 2) == 0 ? 1 : -1;
    return hurwitz(s, f, 0) + sign * (hurwitz(s, 1 - f, 0) - hurwitz(s, 1 - q, 0));
}

static double zeta(double s, double q, int m)
{
    if (s != s || q != q) return s + q;
    if (s == 1) return m & 1 ? -INFINITY : INFINITY;
    if (s < 1) return NAN;
    if (q == INFINITY || s == INFINITY) return s == INFINITY && q < 1 ? INFINITY : s == INFINITY && q == 1 ? 1 : 0;
    if (q > 0) return hurwitz(s, q, m);
    if (q == floor(q)) return INFINITY;
    return m || s != floor(s) || q < -9e15 ? NAN : zeta_below(s, q);
}

LOOP2(zeta_f32, float, float, float, (float)zeta(x, y, *(const int *)ctx))
LOOP2(zeta_f64, double, double, double, zeta(x, y, *(const int *)ctx))
int k_zeta(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = zeta_f32, [TP_FLOAT64] = zeta_f64};
    int64_t order = arg_i(&c->args[2]);
    if (order < 0 || order > MOST_DERIVATIVES)
        return tpi_fail(TP_ERR_NOT_IMPLEMENTED, "zeta: order %lld is not in [0, %d]", (long long)order,
                        MOST_DERIVATIVES);
    int m = (int)order;
    return tpi_elementwise(c, 2, 0, -1, table, &m);
}

static double log_factorial(double n)
{
    double x = n + 1, y;
    tpi_vlgamma_f64(1, &x, &y);
    return y;
}

/* n[1]: n!, or its logarithm where that overflows */
static double polygamma(double x, const double *n)
{
    double z = zeta(*n + 1, x, 0), sign = fmod(*n, 2) == 0 ? -1 : 1;
    if (*n <= 170) return sign * z * n[1];
    return sign * (z < 0 ? -1 : 1) * exp(n[1] + log(fabs(z)));
}
LOOP1(polygamma_f32, float, float, (float)polygamma(x, ctx))
LOOP1(polygamma_f64, double, double, polygamma(x, ctx))
int k_digamma(tp_call *c);

int k_polygamma(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = polygamma_f32, [TP_FLOAT64] = polygamma_f64};
    int64_t n = arg_i(&c->args[0]);
    if (n < 0) return tpi_fail(TP_ERR_RUNTIME, "polygamma: n must not be negative, got %lld", (long long)n);
    double order[2] = {(double)n, 1};
    tp_tensor *x = arg_t(&c->args[1]);
    if (n == 0) {
        tp_call d = *c;
        d.args = c->args + 1;
        return k_digamma(&d);
    }
    if (n <= 170)
        for (int64_t k = 2; k <= n; k++) order[1] *= (double)k;
    else order[1] = log_factorial(order[0]);
    return tpi_elementwise_on(c, 1, &x, 0, -1, table, order);
}
