/* Euclidean distances of all pairs of points. */
#include <math.h>

#include "core/clones.h"
#include "core/error.h"
#include "core/pool.h"
#include "dispatch/op.h"
#include "kernels/kernels.h"
#include "kernels/shape.h"

typedef struct job {
    int64_t p, r, m;
    int dtype;
    const void *a, *b;
    void *out;
} job;

#define SQUARES(NAME, ELEM)                                                                      \
    TP_CLONES static double NAME(int64_t m, const ELEM *restrict x, const ELEM *restrict y)      \
    {                                                                                            \
        double sums[8] = {0}, sum = 0;                                                           \
        int64_t k = 0;                                                                           \
        for (; k + 8 <= m; k += 8)                                                               \
            for (int l = 0; l < 8; l++) {                                                        \
                double d = (double)x[k + l] - (double)y[k + l];                                  \
                sums[l] += d * d;                                                                \
            }                                                                                    \
        for (; k < m; k++) sum += ((double)x[k] - (double)y[k]) * ((double)x[k] - (double)y[k]); \
        for (int l = 0; l < 8; l++) sum += sums[l];                                              \
        return sum;                                                                              \
    }
SQUARES(squares_f32, float)
SQUARES(squares_f64, double)

/* Rows begin ... end of all batches. */
static void range(int64_t begin, int64_t end, void *ctx)
{
    const job *w = ctx;
    for (int64_t i = begin; i < end; i++) {
        int64_t batch = i / w->p;
        for (int64_t j = 0; j < w->r; j++) {
            int64_t other = (batch * w->r + j) * w->m;
            if (w->dtype == TP_FLOAT32)
                ((float *)w->out)[i * w->r + j] = (float)sqrt(
                    squares_f32(w->m, (const float *)w->a + i * w->m, (const float *)w->b + other));
            else
                ((double *)w->out)[i * w->r + j] = sqrt(
                    squares_f64(w->m, (const double *)w->a + i * w->m, (const double *)w->b + other));
        }
    }
}

int k_lin_euclid(tp_call *c)
{
    tp_tensor *a = tpi_dense_contiguous(arg_t(&c->args[0])), *b = tpi_dense_contiguous(arg_t(&c->args[1]));
    int rc = a && b ? 0 : tp_error_code();
    int64_t shape[TPI_DIMS_CAP];
    if (!rc) {
        int n = a->ndim;
        tpi_copy_dims(shape, a->shape, n);
        shape[n - 1] = b->shape[n - 2];
        rc = tpi_set_out(c, 0, tpi_empty(a->dtype, n, shape));
        if (!rc && c->out[0]->numel) {
            job w = {.p = a->shape[n - 2],
                     .r = b->shape[n - 2],
                     .m = a->shape[n - 1],
                     .dtype = a->dtype,
                     .a = tpi_data(a),
                     .b = tpi_data(b),
                     .out = tpi_data(c->out[0])};
            int64_t cost = w.r * (w.m + 8);
            tpi_parallel_for(c->out[0]->numel / w.r, cost > 50000 ? 1 : 50000 / cost, range, &w);
        }
    }
    tp_release(a);
    tp_release(b);
    return rc;
}
