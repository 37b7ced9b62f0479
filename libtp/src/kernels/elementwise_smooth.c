/* NOTE: derivatives of any order
 * sinc, erf, gelu, silu and atan have closed forms for their n-th derivatives. Each is an operator
 * `<f>_derivative(self, order)` whose derivative is itself at order + 1: exact to any order, one pass each, and right
 * at infinities, where formulas made of other operators would meet 0 * inf. Orders above MAX_ORDER are refused.
 * Everything is evaluated in double. */
#include "kernels/loops.h"
#include "kernels/vmath.h"

enum { BLOCK = 256, MAX_ORDER = 24 };

/* ---- activations with parameters ---- */
int k_sigmoid(tp_call *c)
{
    return tpi_vector1(c, (tpi_vfns){.f32 = (const void *)tpi_vsigmoid_f32, .f64 = (const void *)tpi_vsigmoid_f64});
}

static int approximation(tp_call *c, int at, bool *tanh)
{
    const char *s = c->args[at].v.str;
    *tanh = strcmp(s, "tanh") == 0;
    if (!*tanh && strcmp(s, "none") != 0)
        return tpi_fail(TP_ERR_VALUE, "%s: approximate must be 'none' or 'tanh', got '%s'", c->op->name, s);
    return 0;
}

int k_gelu(tp_call *c)
{
    bool tanh;
    int status = approximation(c, 1, &tanh);
    if (status) return status;
    if (tanh)
        return tpi_vector1(
            c, (tpi_vfns){.f32 = (const void *)tpi_vgelu_tanh_f32, .f64 = (const void *)tpi_vgelu_tanh_f64});
    return tpi_vector1(c, (tpi_vfns){.f32 = (const void *)tpi_vgelu_f32, .f64 = (const void *)tpi_vgelu_f64});
}

int k_gelu_tanh_grad(tp_call *c)
{
    return tpi_vector1(
        c, (tpi_vfns){.f32 = (const void *)tpi_vgelu_tanh_grad_f32, .f64 = (const void *)tpi_vgelu_tanh_grad_f64});
}

typedef struct softplus_ctx {
    double beta, threshold;
} softplus_ctx;

/* x where beta * x is beyond the threshold, else log(1 + exp(beta * x)) / beta. */
#define SOFTPLUS_LOOP(N, T)                                                                       \
    static void softplus_##N(int64_t n, char **p, const int64_t *s, void *ctx)                    \
    {                                                                                             \
        T beta = (T)((softplus_ctx *)ctx)->beta, threshold = (T)((softplus_ctx *)ctx)->threshold; \
        T u[BLOCK], v[BLOCK];                                                                     \
        char *po = p[0], *px = p[1];                                                              \
        for (int64_t b = 0; b < n; b += BLOCK) {                                                  \
            int64_t m = n - b < BLOCK ? n - b : BLOCK;                                            \
            for (int64_t k = 0; k < m; k++) u[k] = *(T *)(px + k * s[1]) * beta;                  \
            tpi_vsoftplus_##N(m, u, v);                                                           \
            for (int64_t k = 0; k < m; k++, po += s[0], px += s[1])                               \
                *(T *)po = u[k] > threshold ? *(T *)px : v[k] / beta;                             \
        }                                                                                         \
    }
SOFTPLUS_LOOP(f32, float)
SOFTPLUS_LOOP(f64, double)
int k_softplus(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = softplus_f32, [TP_FLOAT64] = softplus_f64};
    softplus_ctx s = {arg_f(&c->args[1]), arg_f(&c->args[2])};
    if (s.beta == 0) return tpi_fail(TP_ERR_VALUE, "%s: beta must not be 0", c->op->name);
    return tpi_elementwise(c, 1, 0, -1, table, &s);
}

/* g (x) times the derivative of tanh and sigmoid, from their values y */
LOOP2(tanh_grad_f32, float, float, float, x * (1 - y * y))
LOOP2(tanh_grad_f64, double, double, double, x * (1 - y * y))
LOOP2(sigmoid_grad_f32, float, float, float, x *(y * (1 - y)))
LOOP2(sigmoid_grad_f64, double, double, double, x *(y * (1 - y)))
int k_tanh_grad(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = tanh_grad_f32, [TP_FLOAT64] = tanh_grad_f64};
    return tpi_elementwise(c, 2, 0, -1, table, NULL);
}
int k_sigmoid_grad(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = sigmoid_grad_f32, [TP_FLOAT64] = sigmoid_grad_f64};
    return tpi_elementwise(c, 2, 0, -1, table, NULL);
}

/* ---- the families ---- */

typedef struct family {
    int order;
    void (*block)(int n, double *x, const struct family *f); /* in place */
    double coefficients[MAX_ORDER + 1];
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
static void gauss_block(int n, double *x, const family *f)
{
    double e[BLOCK];
    e[0] = 0;
    for (int k = 0; k < n; k++) e[k] = -x[k] * x[k];
    tpi_vexp_f64(n, e, e);
    for (int k = 0; k < n; k++) {
        double h0 = 1, h1 = -2 * x[k];
        if (f->order == 0 || e[k] == 0) {
            x[k] = e[k];
            continue;
        }
        for (int j = 1; j < f->order; j++) {
            double h2 = -2 * x[k] * h1 - 2 * j * h0;
            h0 = h1;
            h1 = h2;
        }
        x[k] = h1 * e[k];
    }
}

int k_gauss_derivative(tp_call *c)
{
    family f = {.block = gauss_block};
    int status = order_of(c, &f, 0);
    return status ? status : run_family(c, &f);
}

/* gelu = x Phi(x), so the n-th derivative is x phi^(n-1) + n phi^(n-2), phi^(k) = (-1)^k He_k phi. */
static void gelu_block(int n, double *x, const family *f)
{
    double e[BLOCK];
    e[0] = 0;
    for (int k = 0; k < n; k++) e[k] = -0.5 * x[k] * x[k];
    tpi_vexp_f64(n, e, e);
    for (int k = 0; k < n; k++) {
        double before = 1, last = -x[k]; /* (-1)^j He_j for j = order - 2, order - 1 */
        if (e[k] == 0) {
            x[k] = 0;
            continue;
        }
        for (int j = 1; j < f->order - 1; j++) {
            double next = -x[k] * last - j * before;
            before = last;
            last = next;
        }
        x[k] = 0.39894228040143267794 * e[k] * (x[k] * last + f->order * before);
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

int k_silu_derivative(tp_call *c)
{
    family f = {.block = silu_block};
    int status = order_of(c, &f, 1);
    if (status) return status;
    eulerian(f.order, f.coefficients);
    return run_family(c, &f);
}

/* S(y) = sin(y) / y with y = pi x. S^(n)(y) = sum_j (-1)^j y^(2j-n) / ((2j + 1) (2j - n)!) over 2j >= n, which loses
 * digits as y grows, and y S^(n) = sin(y + n pi / 2) - n S^(n-1), which loses them as y falls below n. */
static double sinc_series(double y, int order)
{
    int m = order & 1, j = (order + 1) / 2;
    double term = (j & 1 ? -1.0 : 1.0) * (m ? y : 1.0), sum = 0;
    for (;; j++, m += 2) {
        double part = term / (2 * j + 1);
        sum += part;
        if (fabs(part) <= 1e-18 * fabs(sum) || part == 0) return sum;
        term *= -y * y / ((m + 1) * (m + 2));
    }
}

static void sinc_block(int n, double *x, const family *f)
{
    int order = f->order;
    double s[BLOCK], c[BLOCK], scale = 1;
    s[0] = c[0] = 0;
    for (int j = 0; j < order; j++) scale *= 3.14159265358979323846;
    /* reduced before the product with pi rounds; whole numbers are zeros of the sine */
    for (int k = 0; k < n; k++) {
        double t = x[k] - 2 * rint(0.5 * x[k]);
        s[k] = fabs(t) == 1 ? 0 : 3.14159265358979323846 * t;
        c[k] = 3.14159265358979323846 * t;
    }
    tpi_vsin_f64(n, s, s);
    if (order == 0) {
        for (int k = 0; k < n; k++) x[k] = x[k] == 0 ? 1 : s[k] / (3.14159265358979323846 * x[k]);
        return;
    }
    tpi_vcos_f64(n, c, c);
    for (int k = 0; k < n; k++) {
        double y = 3.14159265358979323846 * x[k];
        if (fabs(y) < 1.5 + 0.5 * order) {
            x[k] = scale * sinc_series(y, order);
            continue;
        }
        double value = s[k] / y;
        for (int j = 1; j <= order; j++) {
            double wave = j & 1 ? c[k] : s[k];
            value = ((j & 2 ? -wave : wave) - j * value) / y;
        }
        x[k] = scale * value;
    }
}

int k_sinc_derivative(tp_call *c)
{
    family f = {.block = sinc_block};
    int status = order_of(c, &f, 0);
    return status ? status : run_family(c, &f);
}

int k_sinc(tp_call *c)
{
    family f = {.order = 0, .block = sinc_block};
    return run_family(c, &f);
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
