/* NOTE: derivatives of any order
 * sinc, erf, gelu, silu and atan have closed forms for their n-th derivatives. Each is an operator
 * `<f>_derivative(self, order)` whose derivative is itself at order + 1: exact to any order, one pass each, and right
 * at infinities, where formulas made of other operators would meet 0 * inf. Orders above MAX_ORDER are refused.
 * Everything is evaluated in double. */
#include <complex.h>

#include "kernels/loops.h"
#include "kernels/vmath.h"

enum { BLOCK = 256, MAX_ORDER = 24, MAX_TERMS = 48 };

#define PI 3.14159265358979323846

typedef struct family {
    int order;
    void (*block)(int n, double *x, const struct family *f); /* in place */
    int terms;
    double coefficients[MAX_TERMS];
} family;

static void family_block_loop(int64_t n, char **p, const int64_t *s, const family *f, bool wide)
{
    double buf[BLOCK];
    char *po = p[0], *px = p[1];
    for (int64_t b = 0; b < n; b += BLOCK) {
        int m = n - b < BLOCK ? (int)(n - b) : BLOCK;
        for (int k = 0; k < m; k++, px += s[1]) buf[k] = wide ? *(double *)px : (double)*(float *)px;
        f->block(m, buf, f);
        for (int k = 0; k < m; k++, po += s[0]) {
            if (wide) *(double *)po = buf[k];
            else *(float *)po = (float)buf[k];
        }
    }
}
static void family_f32(int64_t n, char **p, const int64_t *s, void *ctx) { family_block_loop(n, p, s, ctx, false); }
static void family_f64(int64_t n, char **p, const int64_t *s, void *ctx) { family_block_loop(n, p, s, ctx, true); }

static int run_family(tp_call *c, family *f)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = family_f32, [TP_FLOAT64] = family_f64};
    return tpi_elementwise(c, 1, 0, -1, table, f);
}

static int order_of(tp_call *c, family *f, int least)
{
    int64_t n = arg_i(&c->args[1]);
    if (n < least || n > MAX_ORDER)
        return tpi_fail(TP_ERR_NOT_IMPLEMENTED, "%s: order %lld is not in [%d, %d]", c->op->name, (long long)n, least,
                        MAX_ORDER);
    f->order = (int)n;
    return 0;
}

/* (-1)^n H_n(x) exp(-x^2) with the physicists' Hermite polynomials */
TP_CLONES static void gauss_block(int n, double *x, const family *f)
{
    double e[BLOCK], h0[BLOCK], h1[BLOCK];
    e[0] = 0;
    for (int k = 0; k < n; k++) e[k] = -x[k] * x[k];
    tpi_vexp_f64(n, e, e);
    for (int k = 0; k < n; k++) {
        h0[k] = 1;
        h1[k] = f->order ? -2 * x[k] : 1;
    }
    for (int j = 1; j < f->order; j++)
        for (int k = 0; k < n; k++) {
            double next = -2 * x[k] * h1[k] - 2 * j * h0[k];
            h0[k] = h1[k];
            h1[k] = next;
        }
    for (int k = 0; k < n; k++) x[k] = e[k] == 0 ? 0 : h1[k] * e[k];
}

int k_gauss_derivative(tp_call *c)
{
    family f = {.block = gauss_block};
    int status = order_of(c, &f, 0);
    return status ? status : run_family(c, &f);
}

/* gelu = x Phi(x), so the n-th derivative is x phi^(n-1) + n phi^(n-2), phi^(k) = (-1)^k He_k phi. */
TP_CLONES static void gelu_block(int n, double *x, const family *f)
{
    double e[BLOCK], before[BLOCK], last[BLOCK]; /* (-1)^j He_j for j = order - 2, order - 1 */
    e[0] = 0;
    for (int k = 0; k < n; k++) {
        e[k] = -0.5 * x[k] * x[k];
        before[k] = 1;
        last[k] = -x[k];
    }
    tpi_vexp_f64(n, e, e);
    for (int j = 1; j < f->order - 1; j++)
        for (int k = 0; k < n; k++) {
            double next = -x[k] * last[k] - j * before[k];
            before[k] = last[k];
            last[k] = next;
        }
    for (int k = 0; k < n; k++) {
        double v = 0.39894228040143267794 * e[k] * (x[k] * last[k] + f->order * before[k]);
        x[k] = e[k] == 0 ? 0 : v;
    }
}

int k_gelu_derivative(tp_call *c)
{
    family f = {.block = gelu_block};
    int status = order_of(c, &f, 1);
    if (status) return status;
    if (f.order == 1)
        return tpi_vector1(
            c, (tpi_vfns){.f32 = (const void *)tpi_vgelu_grad_f32, .f64 = (const void *)tpi_vgelu_grad_f64});
    return run_family(c, &f);
}

/* With s = sigmoid(x), r = sigmoid(-x): s^(n) = sum_k (-1)^k A(n, k) s^(k+1) r^(n-k), A the Eulerian numbers. No
 * difference of nearby numbers occurs in the tails. */
static void eulerian(int n, double *a)
{
    a[0] = 1;
    for (int m = 2; m <= n; m++) {
        a[m - 1] = 0;
        for (int k = m - 1; k > 0; k--) a[k] = (k + 1) * a[k] + (m - k) * a[k - 1];
    }
}

static double sigmoid_nth(int n, const double *a, double s, double r)
{
    double sum = 0, power = 1, ratio = 1;
    if (n == 0) return s;
    /* Horner in the smaller of s and r over the larger: sum_k (-1)^k a_k s^k r^(n-1-k) */
    bool swap = s > r;
    double large = swap ? s : r;
    ratio = (swap ? r : s) / large;
    for (int k = n - 1; k >= 0; k--) sum = sum * -ratio + a[k];
    for (int k = 0; k < n - 1; k++) power *= large;
    return s * r * power * (swap && n % 2 == 0 ? -sum : sum);
}

/* silu = x s(x): x s^(n) + n s^(n-1) */
static void silu_block(int n, double *x, const family *f)
{
    double s[BLOCK], r[BLOCK], lower[MAX_ORDER + 1];
    for (int k = 0; k < n; k++) r[k] = -x[k];
    tpi_vsigmoid_f64(n, x, s);
    tpi_vsigmoid_f64(n, r, r);
    if (f->order > 1) eulerian(f->order - 1, lower);
    for (int k = 0; k < n; k++) {
        double top = s[k] == 0 || r[k] == 0 ? 0 : x[k] * sigmoid_nth(f->order, f->coefficients, s[k], r[k]);
        x[k] = top + f->order * sigmoid_nth(f->order - 1, lower, s[k], r[k]);
    }
}

/* The first derivative, in the type itself: s (1 + x (1 - s)). */
#define SILU_FIRST(N, T)                                                                                           \
    static void silu_first_##N(int64_t n, char **p, const int64_t *s, void *ctx)                                   \
    {                                                                                                              \
        T x[BLOCK], y[BLOCK];                                                                                      \
        char *po = p[0], *px = p[1];                                                                               \
        for (int64_t b = 0; b < n; b += BLOCK) {                                                                   \
            int64_t m = n - b < BLOCK ? n - b : BLOCK;                                                             \
            for (int64_t k = 0; k < m; k++, px += s[1]) x[k] = *(T *)px;                                           \
            tpi_vsigmoid_##N(m, x, y);                                                                             \
            for (int64_t k = 0; k < m; k++) y[k] = y[k] == 0 || y[k] == 1 ? y[k] : y[k] * (1 + x[k] * (1 - y[k])); \
            for (int64_t k = 0; k < m; k++, po += s[0]) *(T *)po = y[k];                                           \
        }                                                                                                          \
    }
SILU_FIRST(f32, float)
SILU_FIRST(f64, double)

int k_silu_derivative(tp_call *c)
{
    static const tpi_loop first[TP_DTYPE_COUNT] = {[TP_FLOAT32] = silu_first_f32, [TP_FLOAT64] = silu_first_f64};
    family f = {.block = silu_block};
    int status = order_of(c, &f, 1);
    if (status) return status;
    if (f.order == 1) return tpi_elementwise(c, 1, 0, -1, first, NULL);
    eulerian(f.order, f.coefficients);
    return run_family(c, &f);
}

/* S(y) = sin(y) / y with y = pi x. S^(n)(y) = sum_j (-1)^j y^(2j-n) / ((2j + 1) (2j - n)!) over 2j >= n, which loses
 * digits as y grows, and y S^(n) = sin(y + n pi / 2) - n S^(n-1), which loses them as y falls below n. */
static double sinc_border(int order) { return 1.5 + 0.5 * order; }

/* Coefficients in y^2 as far as they count inside the border; an odd order has a factor of y before them. */
static void sinc_series(family *f)
{
    int m = f->order & 1, j = (f->order + 1) / 2;
    double border = sinc_border(f->order), term = j & 1 ? -1 : 1, size = 1;
    for (f->terms = 0; f->terms < MAX_TERMS && size > 1e-19; j++, m += 2) {
        f->coefficients[f->terms++] = term / (2 * j + 1);
        term /= -(m + 1.0) * (m + 2);
        size *= border * border / ((m + 1.0) * (m + 2));
    }
}

TP_CLONES static void sinc_block(int n, double *x, const family *f)
{
    int order = f->order;
    double s[BLOCK], c[BLOCK], y[BLOCK], near[BLOCK], border = sinc_border(order), scale = 1;
    s[0] = c[0] = 0;
    for (int j = 0; j < order; j++) scale *= PI;
    /* reduced before the product with pi rounds; whole numbers are zeros of the sine */
    for (int k = 0; k < n; k++) {
        double t = x[k] - 2 * rint(0.5 * x[k]);
        s[k] = fabs(t) == 1 ? 0 : PI * t;
        c[k] = PI * t;
        y[k] = PI * x[k];
    }
    tpi_vsin_f64(n, s, s);
    if (order == 0) {
        for (int k = 0; k < n; k++) x[k] = x[k] == 0 ? 1 : s[k] / y[k];
        return;
    }
    tpi_vcos_f64(n, c, c);
    for (int k = 0; k < n; k++) near[k] = 0;
    for (int j = f->terms - 1; j >= 0; j--)
        for (int k = 0; k < n; k++) near[k] = near[k] * (y[k] * y[k]) + f->coefficients[j];
    for (int k = 0; k < n; k++) x[k] = s[k] / y[k];
    for (int j = 1; j <= order; j++) {
        const double *wave = j & 1 ? c : s;
        double sign = j & 2 ? -1 : 1;
        for (int k = 0; k < n; k++) x[k] = (sign * wave[k] - j * x[k]) / y[k];
    }
    for (int k = 0; k < n; k++) {
        double inner = order & 1 ? near[k] * y[k] : near[k];
        x[k] = scale * (fabs(y[k]) < border ? inner : x[k]);
    }
}

/* The same for complex numbers, one at a time. */
static double complex sinc_one(double complex x, const family *f)
{
    int order = f->order;
    double complex y = PI * x, reduced = CMPLX(PI * (creal(x) - 2 * rint(0.5 * creal(x))), cimag(y)), sum = 0;
    double scale = 1;
    if (x == 0 && order == 0) return 1;
    for (int j = 0; j < order; j++) scale *= PI;
    if (order && cabs(y) < sinc_border(order)) {
        for (int j = f->terms - 1; j >= 0; j--) sum = sum * (y * y) + f->coefficients[j];
        return scale * (order & 1 ? sum * y : sum);
    }
    double complex s = csin(reduced), c = ccos(reduced);
    sum = s / y;
    for (int j = 1; j <= order; j++) sum = ((j & 2 ? -1 : 1) * (j & 1 ? c : s) - j * sum) / y;
    return scale * sum;
}

static void sinc_c64(int64_t n, char **p, const int64_t *s, void *ctx)
{
    for (int64_t k = 0; k < n; k++)
        *(float complex *)(p[0] + k * s[0]) = (float complex)sinc_one(*(float complex *)(p[1] + k * s[1]), ctx);
}
static void sinc_c128(int64_t n, char **p, const int64_t *s, void *ctx)
{
    for (int64_t k = 0; k < n; k++)
        *(double complex *)(p[0] + k * s[0]) = sinc_one(*(double complex *)(p[1] + k * s[1]), ctx);
}

static int run_sinc(tp_call *c, family *f)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_COMPLEX64] = sinc_c64, [TP_COMPLEX128] = sinc_c128};
    sinc_series(f);
    return tpi_is_complex(arg_t(&c->args[0])->dtype) ? tpi_elementwise(c, 1, 0, -1, table, f) : run_family(c, f);
}

int k_sinc_derivative(tp_call *c)
{
    family f = {.block = sinc_block};
    int status = order_of(c, &f, 0);
    return status ? status : run_sinc(c, &f);
}

int k_sinc(tp_call *c)
{
    family f = {.order = 0, .block = sinc_block};
    return run_sinc(c, &f);
}

/* With x = cot(t): atan^(n)(x) = (-1)^(n-1) (n-1)! sin(t)^n sin(n t), and sin(n t) = sin(t) U_(n-1)(cos t). */
static void atan_block(int n, double *x, const family *f)
{
    int order = f->order;
    double factor = 1;
    for (int j = 1; j < order; j++) factor *= -j;
    for (int k = 0; k < n; k++) {
        double v = x[k];
        double s = fabs(v) < 1e150 ? 1 / sqrt(1 + v * v) : 1 / fabs(v);
        double cosine = fabs(v) < 1e150 ? v * s : copysign(1, v);
        double u0 = 1, u1 = 2 * cosine, power = s * s;
        for (int j = 1; j < order; j++) {
            double u2 = 2 * cosine * u1 - u0;
            u0 = u1;
            u1 = u2;
            power *= s;
        }
        x[k] = v == v ? factor * power * u0 : v;
    }
}

LOOP1(atan_first_f32, float, float, 1 / (1 + x * x))
LOOP1(atan_first_f64, double, double, 1 / (1 + x * x))
int k_atan_derivative(tp_call *c)
{
    static const tpi_loop first[TP_DTYPE_COUNT] = {[TP_FLOAT32] = atan_first_f32, [TP_FLOAT64] = atan_first_f64};
    family f = {.block = atan_block};
    int status = order_of(c, &f, 1);
    if (status) return status;
    return f.order == 1 ? tpi_elementwise(c, 1, 0, -1, first, NULL) : run_family(c, &f);
}
