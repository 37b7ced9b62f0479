/* Orthogonal polynomials of a degree that is a tensor too, with their derivatives in x.
 *
 * p_(j+1) = (A x + B) p_j - C p_(j-1), DLMF 18.9, differentiated as often as asked:
 * p_(j+1)^(k) = (A x + B) p_j^(k) + k A p_j^(k-1) - C p_(j-1)^(k). Where degrees are large, Chebyshev polynomials
 * inside of [-1, 1] are cosines and sines (DLMF 18.5). The recurrence runs in the widest type of the machine. */
#include "kernels/loops.h"
#include "kernels/special.h"

enum {
    POLY_T,
    POLY_U,
    POLY_V,
    POLY_W,
    POLY_H,
    POLY_HE,
    POLY_L,
    POLY_P,
    POLY_T_SHIFTED,
    POLY_U_SHIFTED,
    POLY_V_SHIFTED,
    POLY_W_SHIFTED,
    POLY_KINDS
};
enum { MOST_ORDER = 16, WAVES = 200 };

typedef struct poly {
    int kind, order;
} poly;

/* p_1 = a x + b */
static void first_of(int kind, long double *a, long double *b)
{
    static const double table[POLY_KINDS][2] = {{1, 0}, {2, 0}, {2, -1}, {2, 1}, {2, 0}, {1, 0}, {-1, 1}, {1, 0}};
    *a = table[kind][0];
    *b = table[kind][1];
}

static void step_of(int kind, long double j, long double *a, long double *b, long double *c)
{
    *b = 0;
    switch (kind) {
    case POLY_H: *a = 2, *c = 2 * j; break;
    case POLY_HE: *a = 1, *c = j; break;
    case POLY_L: *a = -1 / (j + 1), *b = (2 * j + 1) / (j + 1), *c = j / (j + 1); break;
    case POLY_P: *a = (2 * j + 1) / (j + 1), *c = j / (j + 1); break;
    default: *a = 2, *c = 1;
    }
}

/* T, U, V, W at x = cos(t), |x| < 1 */
static double wave(int kind, long double x, long double n)
{
    long double t = acosl(x);
    switch (kind) {
    case POLY_T: return (double)cosl(n * t);
    case POLY_U: return (double)(sinl((n + 1) * t) / sqrtl((1 - x) * (1 + x)));
    case POLY_V: return (double)(cosl((n + 0.5L) * t) / cosl(0.5L * t));
    default: return (double)(sinl((n + 0.5L) * t) / sinl(0.5L * t));
    }
}

static double polynomial(double xd, double nd, const poly *p)
{
    int kind = p->kind, order = p->order;
    double scale = 1;
    if (xd != xd || nd != nd) return NAN;
    nd = trunc(nd);
    if (nd < order || nd < 0) return 0;
    long double x = xd;
    if (kind >= POLY_T_SHIFTED) {
        kind -= POLY_T_SHIFTED;
        x = 2 * (long double)xd - 1;
        for (int k = 0; k < order; k++) scale *= 2;
    }
    if (kind <= POLY_W && order == 0 && nd > WAVES && fabsl(x) < 1) return wave(kind, x, nd);
    if (nd > 1e8) return NAN;
    long double before[MOST_ORDER + 1] = {1}, last[MOST_ORDER + 1] = {0}, a, b, c;
    if (nd == 0) return order ? 0 : 1;
    first_of(kind, &a, &b);
    last[0] = a * x + b;
    if (order) last[1] = a;
    int64_t n = (int64_t)nd;
    for (int64_t j = 1; j < n; j++) {
        step_of(kind, (long double)j, &a, &b, &c);
        long double y = a * x + b;
        for (int k = order; k >= 0; k--) {
            long double next = y * last[k] - c * before[k];
            if (k) next += k * a * last[k - 1];
            before[k] = last[k];
            last[k] = next;
        }
        if (!isfinite((double)last[0]) && isinf(xd)) break;
        if (!isfinite(last[0])) break;
    }
    if (isinf(xd) && last[order] != last[order]) {
        /* the sign of the leading term */
        bool minus = (kind == POLY_L && (n & 1)) != (xd < 0 && (n - order) & 1);
        return minus ? -INFINITY : INFINITY;
    }
    return scale * (double)last[order];
}

LOOP2(polynomial_f32, float, float, float, (float)polynomial(x, y, ctx))
LOOP2(polynomial_f64, double, double, double, polynomial(x, y, ctx))
int k_polynomial(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = polynomial_f32, [TP_FLOAT64] = polynomial_f64};
    int64_t kind = arg_i(&c->args[2]), order = arg_i(&c->args[3]);
    if (order < 0 || order > MOST_ORDER)
        return tpi_fail(TP_ERR_NOT_IMPLEMENTED, "polynomial: derivative of order %lld is not in [0, %d]",
                        (long long)order, MOST_ORDER);
    poly p = {(int)kind, (int)order};
    return tpi_elementwise(c, 2, 0, -1, table, &p);
}
