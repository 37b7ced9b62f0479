/* softmax, log_softmax and their derivatives along one dimension. float sums in double; half types run in float. */
#include <math.h>

#include "kernels/reduce.h"
#include "kernels/scan.h"
#include "kernels/vmath.h"
#include "tpi_ops.h"

#define RUN 1024                 /* elements of a line between two visits: they stay in the cache */
#define TILE 64                  /* lines that are done together where a line is strided */

#define T float
#define V tpi_v16f
#define L 16
#define SUF f32
#define COMPUTE TP_FLOAT32
#define VEXP tpi_vexp_f32
#include "kernels/softmax_tile.h"

#define T double
#define V tpi_v8d
#define L 8
#define SUF f64
#define COMPUTE TP_FLOAT64
#define VEXP tpi_vexp_f64
#include "kernels/softmax_tile.h"

typedef void (*tile_fn)(tpi_lines *l, int64_t first, int64_t cols);

static tp_tensor *operand(tp_call *c, int i)
{
    tp_tensor *x = arg_t(&c->args[i]);
    return x->dtype < TP_FLOAT32 ? tpi_dense_cast(x, TP_FLOAT32) : tpi_dense_contiguous(x);
}

static int run(tp_call *c, int nin, int dim, tile_fn f32, tile_fn f64)
{
    int dtype = arg_t(&c->args[0])->dtype;
    tp_tensor *x[2] = {operand(c, 0), NULL}, *out = NULL;
    if (x[0] && nin > 1) x[1] = operand(c, 1);
    if (x[nin - 1] && (out = tpi_empty_like(x[0], x[0]->dtype))) {
        tpi_lines l = {.tile = x[0]->dtype == TP_FLOAT32 ? f32 : f64, .out = {tpi_data(out)}};
        for (int i = 0; i < nin; i++) l.in[i] = tpi_data(x[i]);
        tpi_for_lines(&l, out, dim, TILE);
        if (dtype < TP_FLOAT32) {
            tp_tensor *half = tpi_dense_cast(out, dtype);
            tp_release(out);
            out = half;
        }
    }
    tp_release(x[0]);
    tp_release(x[1]);
    c->out[0] = out;
    return out ? 0 : tp_error_code();
}

int k_softmax(tp_call *c) { return run(c, 1, (int)arg_i(&c->args[1]), softmax_f32, softmax_f64); }
int k_log_softmax(tp_call *c) { return run(c, 1, (int)arg_i(&c->args[1]), log_softmax_f32, log_softmax_f64); }

int k_softmax_backward(tp_call *c) { return run(c, 2, (int)arg_i(&c->args[2]), softmax_back_f32, softmax_back_f64); }

int k_log_softmax_backward(tp_call *c)
{
    return run(c, 2, (int)arg_i(&c->args[2]), log_softmax_back_f32, log_softmax_back_f64);
}
