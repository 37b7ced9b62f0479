/* Rows standardised: two passes for mean and deviation over a row that stays in the cache, one that writes. Vector
 * lanes add up in the row's type over blocks that are short enough for their last digits, blocks in double. */
#include <math.h>

#include "core/clones.h"
#include "core/pool.h"
#include "kernels/kernels.h"
#include "kernels/reduce.h"
#include "kernels/shape.h"

enum { BLOCK = 1024, ROW_WORK = 1 << 14 };

typedef struct rows {
    int64_t n;
    const void *x, *y, *rstd, *weight, *bias;
    void *out, *out_rstd;
    double eps;
} rows;

#define STANDARDIZE(T, V, L, SUF)                                                                                   \
    TP_CLONES static double row_mean_##SUF(const T *x, int64_t n)                                                   \
    {                                                                                                               \
        double sum = 0;                                                                                             \
        for (int64_t i = 0; i < n;) {                                                                               \
            int64_t end = n - i < BLOCK ? n : i + BLOCK;                                                            \
            V a = {0}, b = {0};                                                                                     \
            for (; i + 2 * L <= end; i += 2 * L) {                                                                  \
                a += *(const V *)(x + i);                                                                           \
                b += *(const V *)(x + i + L);                                                                       \
            }                                                                                                       \
            a += b;                                                                                                 \
            for (int j = 0; j < L; j++) sum += a[j];                                                                \
            for (; i < end; i++) sum += x[i];                                                                       \
        }                                                                                                           \
        return n ? sum / (double)n : 0;                                                                             \
    }                                                                                                               \
    /* mean((x - u) (y - u)) */                                                                                     \
    TP_CLONES static double row_dot_##SUF(const T *x, const T *y, int64_t n, T u)                                   \
    {                                                                                                               \
        double sum = 0;                                                                                             \
        for (int64_t i = 0; i < n;) {                                                                               \
            int64_t end = n - i < BLOCK ? n : i + BLOCK;                                                            \
            V a = {0}, b = {0};                                                                                     \
            for (; i + 2 * L <= end; i += 2 * L) {                                                                  \
                a += (*(const V *)(x + i) - u) * (*(const V *)(y + i) - u);                                         \
                b += (*(const V *)(x + i + L) - u) * (*(const V *)(y + i + L) - u);                                 \
            }                                                                                                       \
            a += b;                                                                                                 \
            for (int j = 0; j < L; j++) sum += a[j];                                                                \
            for (; i < end; i++) sum += (double)(x[i] - u) * (y[i] - u);                                            \
        }                                                                                                           \
        return n ? sum / (double)n : 0;                                                                             \
    }                                                                                                               \
    TP_CLONES static void row_scale_##SUF(const T *restrict x, T *restrict out, int64_t n, T u, T r)                \
    {                                                                                                               \
        for (int64_t i = 0; i < n; i++) out[i] = (x[i] - u) * r;                                                    \
    }                                                                                                               \
    TP_CLONES static void row_affine_##SUF(const T *restrict x, const T *restrict w, const T *restrict b,           \
                                           T *restrict out, int64_t n, T u, T r)                                    \
    {                                                                                                               \
        for (int64_t i = 0; i < n; i++) out[i] = (x[i] - u) * r * w[i] + b[i];                                      \
    }                                                                                                               \
    TP_CLONES static void row_grad_##SUF(const T *restrict g, const T *restrict y, T *restrict out, int64_t n, T m, \
                                         T d, T r)                                                                  \
    {                                                                                                               \
        for (int64_t i = 0; i < n; i++) out[i] = r * (g[i] - m - y[i] * d);                                         \
    }                                                                                                               \
    static void standardize_##SUF(int64_t begin, int64_t end, void *ctx)                                            \
    {                                                                                                               \
        const rows *w = ctx;                                                                                        \
        for (int64_t i = begin; i < end; i++) {                                                                     \
            const T *x = (const T *)w->x + i * w->n;                                                                \
            T *out = (T *)w->out + i * w->n;                                                                        \
            double mean = row_mean_##SUF(x, w->n);                                                                  \
            double r = 1 / sqrt(row_dot_##SUF(x, x, w->n, (T)mean) + w->eps);                                       \
            if (w->out_rstd) ((T *)w->out_rstd)[i] = (T)r;                                                          \
            if (w->weight) row_affine_##SUF(x, w->weight, w->bias, out, w->n, (T)mean, (T)r);                       \
            else row_scale_##SUF(x, out, w->n, (T)mean, (T)r);                                                      \
        }                                                                                                           \
    }                                                                                                               \
    static void standardize_grad_##SUF(int64_t begin, int64_t end, void *ctx)                                       \
    {                                                                                                               \
        const rows *w = ctx;                                                                                        \
        for (int64_t i = begin; i < end; i++) {                                                                     \
            const T *g = (const T *)w->x + i * w->n, *y = (const T *)w->y + i * w->n;                               \
            T m = (T)row_mean_##SUF(g, w->n), d = (T)row_dot_##SUF(g, y, w->n, 0);                                  \
            row_grad_##SUF(g, y, (T *)w->out + i * w->n, w->n, m, d, ((const T *)w->rstd)[i]);                      \
        }                                                                                                           \
    }

STANDARDIZE(float, tpi_v16f, 16, f32)
STANDARDIZE(double, tpi_v8d, 8, f64)

static int64_t grain(int64_t n) { return n >= ROW_WORK ? 1 : ROW_WORK / (n + 1); }

static int check(const tp_tensor *x)
{
    if (x->dtype == TP_FLOAT32 || x->dtype == TP_FLOAT64) return 0;
    return tpi_fail(TP_ERR_TYPE, "standardize: not defined for %s", tp_dtype_name(x->dtype));
}

int k_standardize(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]);
    int64_t shape[TPI_DIMS_CAP], n = x->shape[x->ndim - 1];
    int rc = check(x);
    if (rc || !(x = tpi_dense_contiguous(x))) return rc ? rc : tp_error_code();
    tpi_copy_dims(shape, x->shape, x->ndim);
    shape[x->ndim - 1] = 1;
    c->out[0] = tpi_empty_like(x, x->dtype);
    c->out[1] = c->out[0] ? tpi_empty(x->dtype, x->ndim, shape) : NULL;
    if (c->out[1]) {
        rows w = {.n = n, .x = tpi_data(x), .out = tpi_data(c->out[0]), .out_rstd = tpi_data(c->out[1])};
        w.eps = arg_f(&c->args[1]);
        tpi_parallel_for(c->out[1]->numel, grain(n), x->dtype == TP_FLOAT32 ? standardize_f32 : standardize_f64, &w);
    } else rc = tp_error_code();
    tp_release(x);
    return rc;
}

/* Rows of the first of three tensors into one of its shape; w comes with what is not a tensor. */
static int rows_of_three(tp_call *c, rows w, bool grad)
{
    tp_tensor *t[3] = {NULL};
    int rc = check(arg_t(&c->args[0]));
    for (int i = 0; i < 3 && !rc; i++)
        if (!(t[i] = tpi_dense_contiguous(arg_t(&c->args[i])))) rc = tp_error_code();
    if (!rc && !(c->out[0] = tpi_empty_like(t[0], t[0]->dtype))) rc = tp_error_code();
    if (!rc) {
        bool single = t[0]->dtype == TP_FLOAT32;
        w.n = t[0]->shape[t[0]->ndim - 1];
        w.x = tpi_data(t[0]);
        w.out = tpi_data(c->out[0]);
        *(grad ? &w.y : &w.weight) = tpi_data(t[1]);
        *(grad ? &w.rstd : &w.bias) = tpi_data(t[2]);
        tpi_parallel_for(w.n ? t[0]->numel / w.n : 0, grain(w.n),
                         grad     ? single ? standardize_grad_f32 : standardize_grad_f64
                         : single ? standardize_f32
                                  : standardize_f64,
                         &w);
    }
    for (int i = 0; i < 3; i++) tp_release(t[i]);
    return rc;
}

int k_standardize_grad(tp_call *c) { return rows_of_three(c, (rows){.n = 0}, true); }
int k_layer_norm_rows(tp_call *c) { return rows_of_three(c, (rows){.eps = arg_f(&c->args[3])}, false); }
