/* Composites over the view primitives. They run before dispatch, on the shapes the function sees, and inherit
 * every rule. */
#include "kernels/shape.h"
#include "tp/ops.h"
#include "tpi_ops.h"

int c_contiguous(tp_call *c) {
    tp_tensor *t = arg_t(&c->args[0]);
    int rc = tpi_fresh(t);
    if (rc) return rc;
    return tpi_set_out(c, 0, tpi_contiguous(t) ? tpi_retain(t) : tp_clone(t));
}

int c_reshape(tp_call *c) {
    tp_tensor *t = arg_t(&c->args[0]);
    int64_t shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP];
    int n = c->args[1].n, rc;
    if ((rc = tpi_fresh(t)) || (rc = tpi_check_rank("reshape", n)) ||
        (rc = tpi_infer_size("reshape", t->numel, n, c->args[1].v.ints, shape)))
        return rc;
    if (tpi_view_strides(t->ndim, t->shape, t->strides, n, shape, strides))
        return tpi_set_out(c, 0, tp_view(t, shape, n));
    tp_tensor *copy = tp_clone(t);
    if (!copy) return tp_error_code();
    rc = tpi_set_out(c, 0, tp_view(copy, shape, n));
    tp_release(copy);
    return rc;
}
