/* Eigenvalues of small symmetric matrices: Householder's reduction to a tridiagonal one, and implicit QR steps with
 * Wilkinson's shift. Source: Golub and Van Loan, Matrix Computations, 4th edition, algorithms 5.1.1, 8.3.1 to 8.3.3. */
#include "kernels/linalg_small.h"

#include <math.h>

/* s becomes tridiagonal, d and e; column k of the reflections is kept in row k of s, its factor in beta[k]. */
static void reduce(int n, double *restrict s, double *restrict d, double *restrict e, double *restrict beta)
{
    double p[TPI_SMALL_EIGH];
    for (int k = 0; k + 1 < n; k++) {
        double *restrict x = s + k * n, below = 0;
        for (int i = k + 2; i < n; i++) below += x[i] * x[i];
        d[k] = x[k];
        e[k] = x[k + 1];
        beta[k] = 0;
        if (below == 0) continue;
        double length = sqrt(x[k + 1] * x[k + 1] + below), head = x[k + 1] > 0 ? x[k + 1] + length : x[k + 1] - length;
        e[k] = x[k + 1] > 0 ? -length : length;
        beta[k] = 2 * head * head / (below + head * head);
        x[k + 1] = 1;
        for (int i = k + 2; i < n; i++) x[i] /= head;
        double px = 0;
        for (int i = k + 1; i < n; i++) {
            const double *row = s + i * n;
            double sum = 0;
            for (int j = k + 1; j < n; j++) sum += row[j] * x[j];
            p[i] = beta[k] * sum;
            px += p[i] * x[i];
        }
        for (int i = k + 1; i < n; i++) p[i] -= 0.5 * beta[k] * px * x[i];
        for (int i = k + 1; i < n; i++) {
            double *restrict row = s + i * n, xi = x[i], pi = p[i];
            for (int j = k + 1; j < n; j++) row[j] -= xi * p[j] + pi * x[j];
        }
    }
    d[n - 1] = s[n * n - 1];
}

/* The transpose of the product of the reflections. */
static void accumulate(int n, const double *restrict s, const double *restrict beta, double *restrict v)
{
    for (int i = 0; i < n * n; i++) v[i] = i % (n + 1) == 0;
    for (int k = n - 3; k >= 0; k--) {
        const double *x = s + k * n;
        for (int i = k + 1; i < n && beta[k] != 0; i++) {
            double *restrict row = v + i * n, sum = 0;
            for (int j = k + 1; j < n; j++) sum += row[j] * x[j];
            sum *= beta[k];
            for (int j = k + 1; j < n; j++) row[j] -= sum * x[j];
        }
    }
}

static void step(int n, int low, int high, double *restrict d, double *restrict e, double *restrict v)
{
    double half = 0.5 * (d[high - 1] - d[high]), t = e[high - 1], root = sqrt(half * half + t * t);
    double x = d[low] - (d[high] - t * (t / (half + (half < 0 ? -root : root)))), z = e[low];
    for (int k = low; k < high; k++) {
        double r = sqrt(x * x + z * z), c = r > 0 ? x / r : 1, s = r > 0 ? z / r : 0;
        if (k > low) e[k - 1] = r;
        double a1 = c * d[k] + s * e[k], a2 = c * e[k] + s * d[k + 1];
        double b1 = c * e[k] - s * d[k], b2 = c * d[k + 1] - s * e[k];
        d[k] = c * a1 + s * a2;
        e[k] = c * a2 - s * a1;
        d[k + 1] = c * b2 - s * b1;
        if (k + 1 < high) {
            x = e[k];
            z = s * e[k + 1];
            e[k + 1] *= c;
        }
        if (!v) continue;
        double *restrict one = v + k * n, *restrict two = one + n;
        for (int i = 0; i < n; i++) {
            double y = one[i], q = two[i];
            one[i] = c * y + s * q;
            two[i] = c * q - s * y;
        }
    }
}

static bool small(const double *d, const double *e, int k, double eps)
{
    return fabs(e[k]) <= eps * (fabs(d[k]) + fabs(d[k + 1]));
}

static void sort(int n, double *restrict w, double *restrict v)
{
    for (int i = 0; i + 1 < n; i++) {
        int least = i;
        for (int j = i + 1; j < n; j++)
            if (w[j] < w[least]) least = j;
        if (least == i) continue;
        double t = w[i];
        w[i] = w[least];
        w[least] = t;
        for (int j = 0; v && j < n; j++) {
            t = v[i * n + j];
            v[i * n + j] = v[least * n + j];
            v[least * n + j] = t;
        }
    }
}

bool tpi_small_eigh(int n, double *restrict s, double *restrict w, double *restrict v, double eps)
{
    double e[TPI_SMALL_EIGH], beta[TPI_SMALL_EIGH], most = 0;
    for (int i = 0; i < n * n; i++) most = fmax(most, fabs(s[i]));
    if (n < 1 || n > TPI_SMALL_EIGH || (most != 0 && !(most > 1e-100 && most < 1e100))) return false;
    reduce(n, s, w, e, beta);
    if (v) accumulate(n, s, beta, v);
    for (int high = n - 1, turns = 0; high > 0;) {
        if (small(w, e, high - 1, eps)) {
            high--;
            continue;
        }
        int low = high - 1;
        while (low > 0 && !small(w, e, low - 1, eps)) low--;
        if (++turns > 30 * n) return false;
        step(n, low, high, w, e, v);
    }
    sort(n, w, v);
    return true;
}
