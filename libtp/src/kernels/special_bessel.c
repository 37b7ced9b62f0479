/* Bessel functions of integer order and the Airy function, with every order that derivatives of order 0 and 1 reach.
 *
 * J and Y are the C library's. I and K of orders 0 and 1: Chebyshev series of the function times exp(-x) or exp(x),
 * over x to 8 and over 1/x beyond (DLMF 10.40); K below 1 from its logarithm (DLMF 10.31). Higher orders: K by its
 * recurrence upward, which is stable, I through the continued fraction of its ratios (DLMF 10.33.1). Ai: series over x
 * in [-8, 1], times exp(zeta) beyond 1, modulus and phase functions of 1/zeta below -8 (DLMF 9.7). Coefficients:
 * tools/special_tables.py. */
#include "kernels/loops.h"
#include "kernels/special.h"
#include "kernels/special_tables.h"

static double bessel_j(double x, int n)
{
    int m = n < 0 ? -n : n;
    double v = m == 0 ? j0(x) : m == 1 ? j1(x) : jn(m, x);
    return n < 0 && m & 1 ? -v : v;
}
SPECIAL1_INT(bessel_j, bessel_j, -24, 24)

static double bessel_y(double x, int n)
{
    int m = n < 0 ? -n : n;
    if (x == 0) return n < 0 && m & 1 ? INFINITY : -INFINITY;
    if (!(x > 0)) return NAN;
    double v = m == 0 ? y0(x) : m == 1 ? y1(x) : yn(m, x);
    return n < 0 && m & 1 ? -v : v;
}
SPECIAL1_INT(bessel_y, bessel_y, -24, 24)

/* exp(-a) I_0(a) and exp(-a) I_1(a), a >= 0 */
static double i0e(double a)
{
    if (a < 2) return TPI_PIECE(I0E, 0, 0.0, 2.0, a);
    if (a < 4) return TPI_PIECE(I0E, 1, 2.0, 4.0, a);
    if (a < 8) return TPI_PIECE(I0E, 2, 4.0, 8.0, a);
    return TPI_PIECE(I0E_FAR, 0, 0.0, 0.125, 1 / a) / sqrt(a);
}

static double i1e(double a)
{
    if (a < 2) return a * TPI_PIECE(I1E, 0, 0.0, 2.0, a);
    if (a < 4) return a * TPI_PIECE(I1E, 1, 2.0, 4.0, a);
    if (a < 8) return a * TPI_PIECE(I1E, 2, 4.0, 8.0, a);
    return TPI_PIECE(I1E_FAR, 0, 0.0, 0.125, 1 / a) / sqrt(a);
}

static double bessel_ie(double x, int n)
{
    double a = fabs(x);
    if (n < 0) n = -n;
    if (a != a) return a;
    if (n == 0) return i0e(a);
    double v = i1e(a);
    if (n > 1) {
        /* r_k = I_k / I_(k-1) = 1 / (2k/a + r_(k+1)) */
        if (a == 0 || isinf(a)) return 0;
        double r = 0, product = 1;
        int start = n + 20 + (int)(a < 1e4 ? sqrt(40 * a) + 10 : 700);
        if (a >= 1e4) {
            /* forward: no digits are lost while n^2 is small against a */
            double before = i0e(a);
            for (int k = 1; k < n; k++) {
                double next = before - 2 * k / a * v;
                before = v;
                v = next;
            }
            return x < 0 && n & 1 ? -v : v;
        }
        for (int k = start; k > n; k--) r = 1 / (2 * k / a + r);
        for (int k = n; k >= 2; k--) {
            r = 1 / (2 * k / a + r);
            product *= r;
        }
        v *= product;
    }
    return x < 0 && n & 1 ? -v : v;
}

static double bessel_i(double x, int n)
{
    double a = fabs(x), v = bessel_ie(x, n);
    if (a < 700) return exp(a) * v;
    double h = exp(0.5 * a);
    return isinf(h) ? (x < 0 && n & 1 ? -INFINITY : INFINITY) : h * v * h;
}
SPECIAL1_INT(bessel_i, bessel_i, -24, 24)

/* exp(x) K_n(x) for x > 1, K_n(x) below */
static double k_core(double x, int n)
{
    double f0, f1;
    if (x <= 1) {
        double w = x * x, l = log(0.5 * x);
        f0 = TPI_PIECE(K0_NEAR, 0, 0.0, 1.0, w) - l * TPI_PIECE(I0_NEAR, 0, 0.0, 1.0, w);
        f1 = TPI_PIECE(K1_NEAR, 0, 0.0, 1.0, w) / x + l * x * TPI_PIECE(I1_NEAR, 0, 0.0, 1.0, w);
    } else {
        double root = sqrt(x);
        if (x < 2) f0 = TPI_PIECE(K0E, 0, 1.0, 2.0, x), f1 = TPI_PIECE(K1E, 0, 1.0, 2.0, x);
        else if (x < 4) f0 = TPI_PIECE(K0E, 1, 2.0, 4.0, x), f1 = TPI_PIECE(K1E, 1, 2.0, 4.0, x);
        else if (x < 8) f0 = TPI_PIECE(K0E, 2, 4.0, 8.0, x), f1 = TPI_PIECE(K1E, 2, 4.0, 8.0, x);
        else f0 = TPI_PIECE(K0E_FAR, 0, 0.0, 0.125, 1 / x), f1 = TPI_PIECE(K1E_FAR, 0, 0.0, 0.125, 1 / x);
        f0 /= root;
        f1 /= root;
    }
    if (n == 0) return f0;
    for (int k = 1; k < n; k++) {
        double next = f0 + 2 * k / x * f1;
        f0 = f1;
        f1 = next;
    }
    return f1;
}

static double bessel_k(double x, int n)
{
    if (!(x > 0)) return x == 0 ? INFINITY : NAN;
    double v = k_core(x, n < 0 ? -n : n);
    return x <= 1 ? v : exp(-x) * v;
}
SPECIAL1_INT(bessel_k, bessel_k, -24, 24)

static double bessel_ke(double x, int n)
{
    if (!(x > 0)) return x == 0 ? INFINITY : NAN;
    double v = k_core(x, n < 0 ? -n : n);
    return x <= 1 ? exp(x) * v : v;
}

/* ---- derivatives of the scaled functions: differences of nearly equal terms where x is large, so that there the
 * Hankel expansion (DLMF 10.40) is differentiated term by term ---- */
enum { MOST_ORDER = 12 };
#define HANKEL 18.0

static double hankel(double x, int n, int m, int sign)
{
    /* the factors that depend on m: (k + 1/2) (k + 3/2) ... */
    double rising = 1, a = 1, sum = 0, last = INFINITY;
    for (int j = 0; j < m; j++) rising *= -(j + 0.5) / x;
    for (int k = 0; k < 60; k++) {
        double term = a * rising;
        if (fabs(term) > last && k > n + 1) break;
        sum += term;
        last = fabs(term);
        if (last < 1e-18 * fabs(sum)) break;
        a *= sign * (4.0 * n * n - (2 * k + 1.0) * (2 * k + 1)) / (8 * (k + 1) * x);
        rising *= (k + 0.5 + m) / (k + 0.5);
    }
    return sum / sqrt(x);
}

/* (D - sign)^m of order n, D f_n = sign (f_(n-1) + f_(n+1)) / 2, at x >= 0 */
static double scaled(double x, int n, int m, int sign)
{
    double f[2 * MOST_ORDER + 1];
    for (int j = -m; j <= m; j++) f[j + m] = sign > 0 ? bessel_ie(x, n + j) : bessel_ke(x, n + j);
    for (int k = 1; k <= m; k++)
        for (int j = 0; j <= 2 * (m - k); j++) f[j] = sign * (0.5 * (f[j] + f[j + 2]) - f[j + 1]);
    return f[0];
}

static double scaled_i(double x, int n, int m)
{
    double a = fabs(x), v;
    if (m == 0) return bessel_ie(x, n);
    if (x == 0 && (n + m) & 1) return 0;
    if (isinf(x)) return 0;
    v = a > HANKEL && n < 4 ? 0.39894228040143267794 * hankel(a, n, m, -1) : scaled(a, n, m, 1);
    return x < 0 && (n + m) & 1 ? -v : v;
}

static double scaled_k(double x, int n, int m)
{
    if (m == 0) return bessel_ke(x, n);
    if (x == INFINITY) return 0;
    return x > HANKEL && n < 4 ? 1.25331413731550025121 * hankel(x, n, m, 1) : scaled(x, n, m, -1);
}

#define SCALED(NAME, FN)                                                                                               \
    LOOP1(NAME##_f32, float, float, (float)FN(x, ((const int *)ctx)[0], ((const int *)ctx)[1]))                        \
    LOOP1(NAME##_f64, double, double, FN(x, ((const int *)ctx)[0], ((const int *)ctx)[1]))                             \
    int k_##NAME(tp_call *c)                                                                                           \
    {                                                                                                                  \
        static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = NAME##_f32, [TP_FLOAT64] = NAME##_f64};          \
        int64_t order = arg_i(&c->args[2]);                                                                            \
        if (order > MOST_ORDER)                                                                                        \
            return tpi_fail(TP_ERR_NOT_IMPLEMENTED, "%s: no derivative of order %lld", c->op->name, (long long)order); \
        int numbers[2] = {(int)arg_i(&c->args[1]), (int)order};                                                        \
        return tpi_elementwise(c, 1, 0, -1, table, numbers);                                                           \
    }
SCALED(bessel_ie, scaled_i)
SCALED(bessel_ke, scaled_k)

/* ---- Airy ---- */
#define ROOT_PI 1.77245385090551602730
#define QUARTER_PI 0.78539816339744830962
#define AIRY_EDGE (3.0 / (2.0 * 22.62741699796952078083)) /* 1 / zeta at 8 */

static double airy_below(double x, int prime)
{
    double z = -x, root = sqrt(z), zeta = 2.0 / 3 * z * root, v = 1 / zeta, root4 = sqrt(root);
    double high = z * root, low = fma(z, root, -high) + z * (fma(-root, root, z) / (2 * root));
    /* zeta to more than double: high and low times 2/3 */
    double third = 2.0 / 3, p = high * third, e = fma(high, third, -p) + (low * third + high * 3.7007434154171886e-17);
    if (!(zeta < 1e300)) return prime ? NAN : 0;
    double s0 = sin(p), c0 = cos(p), s1 = s0 + c0 * e, c1 = c0 - s0 * e;
    const double r = 0.70710678118654752440;
    double s = (s1 - c1) * r, c = (c1 + s1) * r; /* of zeta - pi/4 */
    if (prime) {
        double a = TPI_PIECE(AIRY_R, 0, 0.0, AIRY_EDGE, v), b = v * TPI_PIECE(AIRY_S, 0, 0.0, AIRY_EDGE, v);
        return root4 / ROOT_PI * (s * a - c * b);
    }
    double a = TPI_PIECE(AIRY_P, 0, 0.0, AIRY_EDGE, v), b = v * TPI_PIECE(AIRY_Q, 0, 0.0, AIRY_EDGE, v);
    return (c * a + s * b) / (ROOT_PI * root4);
}

/* Ai, and Ai' where prime is set */
static double airy(double x, int prime)
{
    if (x != x) return x;
    if (x == INFINITY) return 0;
    if (x < -8) return airy_below(x, prime);
    if (x < 1) {
        int k = (int)floor(x);
        return prime ? TPI_PIECE(AIRY_PRIME, k + 8, k, k + 1.0, x) : TPI_PIECE(AIRY, k + 8, k, k + 1.0, x);
    }
    double root = sqrt(x), root4 = sqrt(root), zeta = 2.0 / 3 * x * root, f;
    if (x < 8) {
        int k = x < 2 ? 0 : x < 4 ? 1 : 2;
        double a = 1 << k;
        f = prime ? TPI_PIECE(AIRY_PRIME_MID, k, a, 2 * a, x) : TPI_PIECE(AIRY_MID, k, a, 2 * a, x);
    } else {
        f = prime ? TPI_PIECE(AIRY_PRIME_FAR, 0, 0.0, AIRY_EDGE, 1 / zeta)
                  : TPI_PIECE(AIRY_FAR, 0, 0.0, AIRY_EDGE, 1 / zeta);
    }
    f *= exp(-zeta);
    return prime ? f * root4 : f / root4;
}
SPECIAL1_INT(airy, airy, 0, 1)
