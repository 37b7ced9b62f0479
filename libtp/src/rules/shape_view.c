/* Rules of the view operators.
 *
 * NOTE: the batch dimension of a view
 * A view never moves data, so these rules leave the batch dimension where it is (or permute it to the front, a view
 * too) and only shift the dimensions that the function named around it. Arguments are checked against the shape of
 * the sample first: a message must not show the hidden dimension. */
#include "rules/shape_util.h"
#include "tpi_ops.h"
#include "x_ops.h"

/* Shape of the sample behind argument 0; returns its rank. */
static int sample_shape(const tp_batch_ctx *c, int64_t *shape)
{
    T t = arg_t(&c->args[0]);
    int b = bdim_of(c, 0), k = 0;
    for (int i = 0; i < t->ndim; i++)
        if (i != b) shape[k++] = t->shape[i];
    return k;
}

int view__batch(tp_batch_ctx *c)
{
    int64_t shape[TPI_DIMS_CAP], size[TPI_DIMS_CAP], numel = 1;
    int n = c->args[1].n, ndim = sample_shape(c, shape), rc;
    for (int i = 0; i < ndim; i++) numel *= shape[i];
    size[0] = c->size;
    if ((rc = tpi_check_rank("view", n)) || (rc = tpi_infer_size("view", numel, n, c->args[1].v.ints, size + 1)))
        return rc;
    T x = tpi_batch_front(c, 0);
    int64_t strides[TPI_DIMS_CAP];
    if (x && !tpi_view_strides(x->ndim, x->shape, x->strides, n + 1, size, strides))
        return tpi_fail(TP_ERR_RUNTIME, "view: shape %s with strides %s has no view of shape %s: use reshape",
                        tpi_shape_str(ndim, shape), tpi_shape_str(ndim, x->strides + 1), tpi_shape_str(n, size + 1));
    return set_result(c, x_view(x, size, n + 1), 0);
}

int permute__vjp(tp_vjp_ctx *c)
{
    if (!c->need[0]) return 0;
    int dims[TPI_DIMS_CAP], n = c->args[1].n;
    int64_t inverse[TPI_DIMS_CAP];
    int rc = tpi_wrap_permutation("permute", c->args[1].v.ints, n, n, dims);
    if (rc) return rc;
    for (int i = 0; i < n; i++) inverse[dims[i]] = i;
    c->out[0] = x_permute(c->grads[0], inverse, n);
    return 0;
}

int permute__batch(tp_batch_ctx *c)
{
    int dims[TPI_DIMS_CAP], b = bdim_of(c, 0), n = tpi_nsample(c, 0);
    int64_t full[TPI_DIMS_CAP];
    int rc = tpi_wrap_permutation("permute", c->args[1].v.ints, c->args[1].n, n, dims);
    if (rc) return rc;
    full[0] = b;
    for (int i = 0; i < n; i++) full[i + 1] = physical(dims[i], b);
    return set_result(c, x_permute(arg_t(&c->args[0]), full, n + 1), 0);
}

int expand__vjp(tp_vjp_ctx *c)
{
    if (c->need[0]) c->out[0] = x_sum_to(c->grads[0], arg_t(&c->args[0]));
    return 0;
}

int expand__batch(tp_batch_ctx *c)
{
    int64_t shape[TPI_DIMS_CAP], size[TPI_DIMS_CAP], ones[TPI_DIMS_CAP];
    int n = c->args[1].n, ndim = sample_shape(c, shape);
    int rc = tpi_expand_size("expand", ndim, shape, c->args[1].v.ints, n, size + 1);
    if (rc) return rc;
    T x = tpi_batch_front(c, 0);
    size[0] = ones[0] = c->size;
    if (n > ndim) {
        /* New dimensions come after the batch dimension: ones there first, a view in any geometry. */
        for (int i = 0; i < n - ndim; i++) ones[1 + i] = 1;
        tpi_copy_dims(ones + 1 + n - ndim, shape, ndim);
        x = x_view(x, ones, n + 1);
    }
    return set_result(c, x_expand(x, size, n + 1), 0);
}

/* dim of slice or select: sample -> value. The bounds are checked by the kernel, which sees the same size. */
static int sample_dim(tp_batch_ctx *c, const char *op, int64_t dim, int *out)
{
    int n = tpi_nsample(c, 0), d;
    if (n == 0) return tpi_fail(TP_ERR_INDEX, "%s: a 0-d tensor can't be indexed", op);
    int rc = tpi_wrap_dim(op, dim, n, &d);
    *out = physical(d, bdim_of(c, 0));
    return rc;
}

int slice__batch(tp_batch_ctx *c)
{
    const tp_val *a = c->args;
    int d = 0, rc = sample_dim(c, "slice", arg_i(&a[1]), &d);
    if (rc) return rc;
    return set_result(c, x_slice(arg_t(&a[0]), d, arg_i(&a[2]), arg_i(&a[3]), arg_i(&a[4])), bdim_of(c, 0));
}

int select__batch(tp_batch_ctx *c)
{
    const tp_val *a = c->args;
    int b = bdim_of(c, 0), d = 0, rc = sample_dim(c, "select", arg_i(&a[1]), &d);
    if (rc) return rc;
    int64_t index;
    if ((rc = tpi_wrap_index("select", arg_i(&a[2]), d < b ? d : d - 1, arg_t(&a[0])->shape[d], &index))) return rc;
    return set_result(c, x_select(arg_t(&a[0]), d, index), d < b ? b - 1 : b);
}

int diagonal__batch(tp_batch_ctx *c)
{
    int64_t shape[TPI_DIMS_CAP], row, col, len;
    const tp_val *a = c->args;
    int b = bdim_of(c, 0), n = sample_shape(c, shape), d1, d2;
    int rc = tpi_diagonal_geometry("diagonal", n, shape, arg_i(&a[1]), arg_i(&a[2]), arg_i(&a[3]), &d1, &d2, &row, &col,
                                   &len);
    if (rc) return rc;
    d1 = physical(d1, b);
    d2 = physical(d2, b);
    return set_result(c, x_diagonal(arg_t(&a[0]), arg_i(&a[1]), d1, d2), b - (d1 < b) - (d2 < b));
}

int unsqueeze__batch(tp_batch_ctx *c)
{
    int b = bdim_of(c, 0), n = tpi_nsample(c, 0), d;
    int rc = tpi_wrap_dim("unsqueeze", arg_i(&c->args[1]), n + 1, &d);
    if (rc) return rc;
    bool before = d <= b;
    return set_result(c, x_unsqueeze(arg_t(&c->args[0]), before ? d : d + 1), before ? b + 1 : b);
}

int squeeze_dims__vjp(tp_vjp_ctx *c)
{
    T x = arg_t(&c->args[0]);
    if (c->need[0]) c->out[0] = x_reshape_to(c->grads[0], x->ndim, x->shape);
    return 0;
}

int squeeze_dims__batch(tp_batch_ctx *c)
{
    int64_t shape[TPI_DIMS_CAP] = {0}, dims[TPI_DIMS_CAP];
    bool drop[TPI_DIMS_CAP];
    int b = bdim_of(c, 0), n = sample_shape(c, shape), k = 0, left = b;
    int rc = tpi_squeeze_mask("squeeze", n, shape, c->args[1].v.ints, c->args[1].n, drop);
    if (rc) return rc;
    for (int i = 0; i < n; i++) {
        if (!drop[i]) continue;
        dims[k++] = physical(i, b);
        left -= i < b;
    }
    return set_result(c, x_squeeze_dims(arg_t(&c->args[0]), dims, k), left);
}

/* ---- cotangents of views: the size list grows by the batch dimension, at the place where grad has it ---- */

/* Puts B into the size list of args[1], first; grad's batch dimension is moved to the front. */
static T grad_front(tp_batch_ctx *c, int64_t *size)
{
    size[0] = c->size;
    tpi_copy_dims(size + 1, c->args[1].v.ints, c->args[1].n);
    return tpi_batch_front(c, 0);
}

int slice_backward__batch(tp_batch_ctx *c)
{
    int64_t size[TPI_DIMS_CAP];
    const tp_val *a = c->args;
    int d, n = a[1].n, rc = tpi_wrap_dim("slice_backward", arg_i(&a[2]), n, &d);
    if (rc) return rc;
    T g = grad_front(c, size);
    return set_result(c, x_slice_backward(g, size, n + 1, d + 1, arg_i(&a[3]), arg_i(&a[4]), arg_i(&a[5])), 0);
}

int select_backward__batch(tp_batch_ctx *c)
{
    int64_t size[TPI_DIMS_CAP];
    const tp_val *a = c->args;
    int d, n = a[1].n, rc = tpi_wrap_dim("select_backward", arg_i(&a[2]), n, &d);
    if (rc) return rc;
    T g = grad_front(c, size);
    return set_result(c, x_select_backward(g, size, n + 1, d + 1, arg_i(&a[3])), 0);
}

int diagonal_backward__batch(tp_batch_ctx *c)
{
    int64_t size[TPI_DIMS_CAP];
    const tp_val *a = c->args;
    int d1, d2, n = a[1].n, rc;
    if ((rc = tpi_wrap_dim("diagonal_backward", arg_i(&a[3]), n, &d1)) ||
        (rc = tpi_wrap_dim("diagonal_backward", arg_i(&a[4]), n, &d2)))
        return rc;
    T g = grad_front(c, size);
    return set_result(c, x_diagonal_backward(g, size, n + 1, arg_i(&a[2]), d1 + 1, d2 + 1), 0);
}
