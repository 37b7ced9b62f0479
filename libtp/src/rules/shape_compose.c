/* Composites over the view primitives. They run before dispatch, on the shapes the function sees, and inherit
 * every rule. */
#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

int c_contiguous(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int rc = tpi_fresh(t);
    if (rc) return rc;
    return tpi_set_out(c, 0, tpi_contiguous(t) ? tpi_retain(t) : tp_clone(t));
}

static tp_tensor *reshaped(const char *op, tp_tensor *t, const int64_t *size, int64_t n)
{
    int64_t shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP];
    if (tpi_fresh(t) || tpi_check_rank(op, n) || tpi_infer_size(op, t->numel, (int)n, size, shape)) return NULL;
    if (tpi_view_strides(t->ndim, t->shape, t->strides, (int)n, shape, strides)) return tp_view(t, shape, n);
    tp_tensor *copy = tp_clone(t);
    tp_tensor *r = copy ? tp_view(copy, shape, n) : NULL;
    tp_release(copy);
    return r;
}

int c_reshape(tp_call *c)
{
    return tpi_set_out(c, 0, reshaped("reshape", arg_t(&c->args[0]), c->args[1].v.ints, c->args[1].n));
}

int c_reshape_as(tp_call *c)
{
    tp_tensor *like = arg_t(&c->args[1]);
    return tpi_set_out(c, 0, reshaped("reshape_as", arg_t(&c->args[0]), like->shape, like->ndim));
}

int c_view_as(tp_call *c)
{
    tp_tensor *like = arg_t(&c->args[1]);
    return tpi_set_out(c, 0, tp_view(arg_t(&c->args[0]), like->shape, like->ndim));
}

int c_expand_as(tp_call *c)
{
    tp_tensor *like = arg_t(&c->args[1]);
    return tpi_set_out(c, 0, tp_expand(arg_t(&c->args[0]), like->shape, like->ndim));
}

int c_broadcast_to(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    for (int i = 0; i < c->args[1].n; i++)
        if (c->args[1].v.ints[i] < 0)
            return tpi_fail(TP_ERR_VALUE, "broadcast_to: negative size in %s",
                            tpi_shape_str(c->args[1].n, c->args[1].v.ints));
    return tpi_set_out(c, 0, tp_expand(t, c->args[1].v.ints, c->args[1].n));
}

int c_broadcast_tensors(tp_call *c)
{
    tp_tensor **ts = c->args[0].v.ts;
    int n = c->args[0].n, ndim = 0;
    int64_t shape[TPI_DIMS_CAP], next[TPI_DIMS_CAP];
    int rc;
    for (int i = 0; i < n; i++) {
        if (!ts[i]) return tpi_fail(TP_ERR_VALUE, "broadcast_tensors: tensor %d is missing", i);
        if ((rc = tpi_broadcast_shapes("broadcast_tensors", ndim, shape, ts[i]->ndim, ts[i]->shape, &ndim, next)))
            return rc;
        tpi_copy_dims(shape, next, ndim);
    }
    if ((rc = list_begin(c, n))) return rc;
    for (int i = 0; i < n; i++)
        if (!(c->out[i] = tp_expand(ts[i], shape, ndim))) return tp_error_code();
    return 0;
}

int c_flatten(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int from, to, rc;
    if ((rc = tpi_wrap_dim("flatten", arg_i(&c->args[1]), t->ndim, &from)) ||
        (rc = tpi_wrap_dim("flatten", arg_i(&c->args[2]), t->ndim, &to)))
        return rc;
    if (from > to) return tpi_fail(TP_ERR_VALUE, "flatten: start_dim %d comes after end_dim %d", from, to);
    int64_t shape[TPI_DIMS_CAP], joined = 1;
    int n = 0;
    for (int i = 0; i < from; i++) shape[n++] = t->shape[i];
    for (int i = from; i <= to && i < t->ndim; i++) joined *= t->shape[i];
    shape[n++] = joined;
    for (int i = to + 1; i < t->ndim; i++) shape[n++] = t->shape[i];
    return tpi_set_out(c, 0, reshaped("flatten", t, shape, n));
}

int c_ravel(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    return tpi_set_out(c, 0, reshaped("ravel", t, &t->numel, 1));
}

int c_unflatten(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    const tp_val *sizes = &c->args[2];
    int64_t shape[TPI_DIMS_CAP];
    int d, rc = tpi_wrap_dim("unflatten", arg_i(&c->args[1]), t->ndim, &d);
    if (rc) return rc;
    if (t->ndim == 0) return tpi_fail(TP_ERR_INDEX, "unflatten: a 0-d tensor has no dimensions");
    if (sizes->n == 0) return tpi_fail(TP_ERR_VALUE, "unflatten: sizes is empty");
    if ((rc = tpi_check_rank("unflatten", (int64_t)t->ndim + sizes->n))) return rc;
    if ((rc = tpi_infer_size("unflatten", t->shape[d], sizes->n, sizes->v.ints, shape + d))) return rc;
    tpi_copy_dims(shape, t->shape, d);
    tpi_copy_dims(shape + d + sizes->n, t->shape + d + 1, t->ndim - d - 1);
    return tpi_set_out(c, 0, tp_view(t, shape, t->ndim + sizes->n - 1));
}

static tp_tensor *transposed(const char *op, tp_tensor *t, int64_t dim0, int64_t dim1)
{
    int a, b;
    int64_t dims[TPI_DIMS_CAP];
    if (tpi_wrap_dim(op, dim0, t->ndim, &a) || tpi_wrap_dim(op, dim1, t->ndim, &b)) return NULL;
    for (int i = 0; i < t->ndim; i++) dims[i] = i == a ? b : i == b ? a : i;
    return tp_permute(t, dims, t->ndim);
}

int c_transpose(tp_call *c)
{
    return tpi_set_out(c, 0, transposed("transpose", arg_t(&c->args[0]), arg_i(&c->args[1]), arg_i(&c->args[2])));
}

int c_t(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    if (t->ndim > 2) return tpi_fail(TP_ERR_VALUE, "t: at most 2 dimensions, got shape %s: use transpose", tpi_str(t));
    return tpi_set_out(c, 0, t->ndim < 2 ? tpi_retain(t) : transposed("t", t, 0, 1));
}

int c_adjoint(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    if (t->ndim < 2)
        return tpi_fail(TP_ERR_VALUE, "adjoint: at least 2 dimensions are needed, got shape %s", tpi_str(t));
    tp_tensor *m = transposed("adjoint", t, -2, -1);
    if (!m || !tpi_is_complex(t->dtype)) return tpi_set_out(c, 0, m);
    int rc = tpi_set_out(c, 0, tp_conj(m));
    tp_release(m);
    return rc;
}

int c_movedim(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    const tp_val *s = &c->args[1], *d = &c->args[2];
    int from[TPI_DIMS_CAP], to[TPI_DIMS_CAP], n = s->n, rc;
    int64_t dims[TPI_DIMS_CAP];
    bool moved[TPI_DIMS_CAP] = {false};
    if (n != d->n)
        return tpi_fail(TP_ERR_VALUE, "movedim: source %s and destination %s differ in length",
                        tpi_shape_str(n, s->v.ints), tpi_shape_str(d->n, d->v.ints));
    if ((rc = tpi_wrap_dims("movedim", s->v.ints, n, t->ndim, from)) ||
        (rc = tpi_wrap_dims("movedim", d->v.ints, n, t->ndim, to)))
        return rc;
    if (t->ndim == 0) return tpi_set_out(c, 0, tpi_retain(t));
    for (int i = 0; i < t->ndim; i++) dims[i] = -1;
    for (int i = 0; i < n; i++) {
        dims[to[i]] = from[i];
        moved[from[i]] = true;
    }
    for (int i = 0, k = 0; i < t->ndim; i++) {
        if (dims[i] >= 0) continue;
        while (moved[k]) k++;
        dims[i] = k++;
    }
    return tpi_set_out(c, 0, tp_permute(t, dims, t->ndim));
}

int c_squeeze(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int64_t dims[TPI_DIMS_CAP], n = 0;
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] == 1) dims[n++] = i;
    return tpi_set_out(c, 0, tpi_squeeze_dims(t, dims, n));
}

int c_squeeze_dim(tp_call *c)
{
    return tpi_set_out(c, 0, tpi_squeeze_dims(arg_t(&c->args[0]), c->args[1].v.ints, c->args[1].n));
}

int c_narrow(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int64_t start = arg_i(&c->args[2]), length = arg_i(&c->args[3]);
    int d, rc = tpi_wrap_dim("narrow", arg_i(&c->args[1]), t->ndim, &d);
    if (rc) return rc;
    if (t->ndim == 0) return tpi_fail(TP_ERR_INDEX, "narrow: a 0-d tensor has no dimensions");
    int64_t size = t->shape[d];
    if (length < 0) return tpi_fail(TP_ERR_VALUE, "narrow: negative length %lld", (long long)length);
    if (start < -size || start > size || (start < 0 ? start + size : start) > size - length)
        return tpi_fail(TP_ERR_INDEX, "narrow: start %lld and length %lld are not inside dimension %d of size %lld",
                        (long long)start, (long long)length, d, (long long)size);
    if (start < 0) start += size;
    return tpi_set_out(c, 0, tp_slice(t, d, start, start + length, 1));
}

int c_copy(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]), *src = arg_t(&c->args[1]);
    if (c->out[0]) return tpi_copy_(t, src);
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_clone(x_expand(x_to_dtype(src, t->dtype), t->shape, t->ndim)));
}

/* Writes src into a view of a copy; consumes both. */
static int scatter_into(tp_call *c, tp_tensor *copy, tp_tensor *part)
{
    tp_tensor *src = arg_t(&c->args[1]);
    int rc = part ? 0 : tp_error_code();
    if (!rc && (src->ndim != part->ndim || memcmp(src->shape, part->shape, sizeof(int64_t) * (size_t)src->ndim)))
        rc = tpi_fail(TP_ERR_VALUE, "%s: src of shape %s for a view of shape %s", c->op->name, tpi_str(src),
                      tpi_str(part));
    if (!rc) rc = tpi_copy_(part, src);
    tp_release(part);
    if (rc) tp_release(copy);
    else c->out[0] = copy;
    return rc;
}

int c_select_scatter(tp_call *c)
{
    const tp_val *a = c->args;
    tp_tensor *copy = tp_clone(arg_t(&a[0]));
    return copy ? scatter_into(c, copy, tp_select(copy, arg_i(&a[2]), arg_i(&a[3]))) : tp_error_code();
}

int c_slice_scatter(tp_call *c)
{
    const tp_val *a = c->args;
    tp_tensor *copy = tp_clone(arg_t(&a[0]));
    return copy ? scatter_into(c, copy, tp_slice(copy, arg_i(&a[2]), arg_i(&a[3]), arg_i(&a[4]), arg_i(&a[5])))
                : tp_error_code();
}

int c_diagonal_scatter(tp_call *c)
{
    const tp_val *a = c->args;
    tp_tensor *copy = tp_clone(arg_t(&a[0]));
    return copy ? scatter_into(c, copy, tp_diagonal(copy, arg_i(&a[2]), arg_i(&a[3]), arg_i(&a[4]))) : tp_error_code();
}

int c_unfold(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    const tp_val *a = c->args;
    if (t->ndim) return tpi_set_out(c, 0, tpi_unfold_dim(t, arg_i(&a[1]), arg_i(&a[2]), arg_i(&a[3])));
    /* As if it had one dimension of one element, which then is the window. */
    int d;
    int64_t count, one = 1, length = arg_i(&a[2]);
    int rc = tpi_wrap_dim("unfold", arg_i(&a[1]), 0, &d);
    if (rc || (rc = tpi_unfold_count("unfold", 1, length, arg_i(&a[3]), &count))) return rc;
    tp_tensor *row = tp_view(t, &one, 1);
    rc = tpi_set_out(c, 0, row ? tp_slice(row, 0, 0, length, 1) : NULL);
    tp_release(row);
    return rc;
}
