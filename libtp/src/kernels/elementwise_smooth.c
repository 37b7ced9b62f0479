/* Activations with parameters, and the gates of their derivatives. */
#include "kernels/loops.h"
#include "kernels/vmath.h"

enum { BLOCK = 256 };

/* ---- activations with parameters ---- */
int k_sigmoid(tp_call *c)
{
    return tpi_vector1(c, (tpi_vfns){.f32 = (const void *)tpi_vsigmoid_f32,
                                     .f64 = (const void *)tpi_vsigmoid_f64,
                                     .c64 = (const void *)tpi_vsigmoid_c64,
                                     .c128 = (const void *)tpi_vsigmoid_c128});
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
