/* Rules of the operators that rearrange elements. Batch dimensions go first: results are new memory, and contiguous
 * as each sample sees it. */
#include "rules/shape_util.h"
#include "tpi_ops.h"
#include "x_ops.h"

int cat_dim__vjp(tp_vjp_ctx *c)
{
    tp_tensor **ts = c->args[0].v.ts;
    int d, rc = tpi_wrap_dim("cat", arg_i(&c->args[1]), ts[0]->ndim, &d);
    if (rc) return rc;
    int64_t at = 0;
    for (int j = 0; j < c->args[0].n; j++) {
        int64_t len = ts[j]->shape[d];
        if (c->need_list[0][j]) c->out_list[0][j] = x_slice(c->grads[0], d, at, at + len, 1);
        at += len;
    }
    return 0;
}

int cat_dim__jvp(tp_jvp_ctx *c)
{
    int n = c->args[0].n;
    tp_tensor *const *tangents = c->tangent_list[0];
    T *parts = tpi_alloc(sizeof *parts * (size_t)n);
    if (!parts) return tp_error_code();
    for (int j = 0; j < n; j++) parts[j] = tangents && tangents[j] ? tangents[j] : x_zeros_like(c->args[0].v.ts[j]);
    if (!tpi_bad()) c->out[0] = x_cat_dim(parts, n, arg_i(&c->args[1]));
    tpi_free(parts, sizeof *parts * (size_t)n);
    return 0;
}

int cat_dim__batch(tp_batch_ctx *c)
{
    int n = c->args[0].n, d;
    T *parts = tpi_alloc(sizeof *parts * (size_t)n);
    if (!parts) return tp_error_code();
    for (int j = 0; j < n; j++) parts[j] = list_front(c, 0, j, true);
    int rc = 0;
    if (!tpi_bad()) {
        rc = tpi_wrap_dim("cat", arg_i(&c->args[1]), parts[0]->ndim - 1, &d);
        if (!rc) set_result(c, x_cat_dim(parts, n, d + 1), 0);
    }
    tpi_free(parts, sizeof *parts * (size_t)n);
    return rc;
}

int flip__batch(tp_batch_ctx *c)
{
    int dims[TPI_DIMS_CAP], n = c->args[1].n;
    int64_t shifted[TPI_DIMS_CAP];
    int rc = tpi_wrap_dims("flip", c->args[1].v.ints, n, tpi_nsample(c, 0), dims);
    if (rc) return rc;
    int k = 0;
    for (int i = 0; i < n; i++)
        if (dims[i] < tpi_nsample(c, 0)) shifted[k++] = dims[i] + 1;
    return set_result(c, x_flip(tpi_batch_front(c, 0), shifted, k), 0);
}

int roll_dim__batch(tp_batch_ctx *c)
{
    int d, rc = tpi_wrap_dim("roll", arg_i(&c->args[2]), tpi_nsample(c, 0), &d);
    if (rc) return rc;
    return set_result(c, x_roll_dim(tpi_batch_front(c, 0), arg_i(&c->args[1]), d + 1), 0);
}

static int check_matrix(tp_batch_ctx *c, const char *op)
{
    if (tpi_nsample(c, 0) >= 2) return 0;
    return tpi_fail(TP_ERR_VALUE, "%s: at least 2 dimensions are needed, got %d", op, tpi_nsample(c, 0));
}

int tril__batch(tp_batch_ctx *c)
{
    int rc = check_matrix(c, "tril");
    return rc ? rc : set_result(c, x_tril(tpi_batch_front(c, 0), arg_i(&c->args[1])), 0);
}

int triu__batch(tp_batch_ctx *c)
{
    int rc = check_matrix(c, "triu");
    return rc ? rc : set_result(c, x_triu(tpi_batch_front(c, 0), arg_i(&c->args[1])), 0);
}

int unfold_dim__batch(tp_batch_ctx *c)
{
    const tp_val *a = c->args;
    int b = bdim_of(c, 0), d, rc = tpi_wrap_dim("unfold", arg_i(&a[1]), tpi_nsample(c, 0), &d);
    if (rc) return rc;
    return set_result(c, x_unfold_dim(arg_t(&a[0]), physical(d, b), arg_i(&a[2]), arg_i(&a[3])), b);
}

int unfold_backward__batch(tp_batch_ctx *c)
{
    int64_t size[TPI_DIMS_CAP];
    const tp_val *a = c->args;
    int d, n = a[1].n, rc = tpi_wrap_dim("unfold_backward", arg_i(&a[2]), n, &d);
    if (rc) return rc;
    size[0] = c->size;
    tpi_copy_dims(size + 1, a[1].v.ints, n);
    return set_result(c, x_unfold_backward(tpi_batch_front(c, 0), size, n + 1, d + 1, arg_i(&a[3]), arg_i(&a[4])), 0);
}

/* reshape relies on it: the batch dimension goes first, so a copy is contiguous as each sample sees it. */
int clone__batch(tp_batch_ctx *c) { return set_result(c, x_clone(tpi_batch_front(c, 0)), 0); }
