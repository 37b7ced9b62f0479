/* Kernels of the view operators: new geometry over the same storage. */
#include "kernels/kernels.h"
#include "kernels/shape.h"

int tpi_check_rank(const char *op, int64_t n)
{
    if (n > TP_MAX_NDIM)
        return tpi_fail(TP_ERR_VALUE, "%s: %lld dimensions are more than the %d supported", op, (long long)n,
                        TP_MAX_NDIM);
    return 0;
}

int tpi_wrap_dims(const char *op, const int64_t *dims, int64_t n, int ndim, int *out)
{
    bool seen[TPI_DIMS_CAP] = {false};
    int rc = tpi_check_rank(op, n);
    if (rc) return rc;
    for (int64_t i = 0; i < n; i++) {
        if ((rc = tpi_wrap_dim(op, dims[i], ndim, &out[i]))) return rc;
        if (seen[out[i]])
            return tpi_fail(TP_ERR_VALUE, "%s: dimension %d appears more than once in dims %s", op, out[i],
                            tpi_shape_str((int)n, dims));
        seen[out[i]] = true;
    }
    return 0;
}

int tpi_wrap_permutation(const char *op, const int64_t *dims, int64_t n, int ndim, int *out)
{
    if (n != ndim) return tpi_fail(TP_ERR_VALUE, "%s: %lld dims for a tensor of %d dimensions", op, (long long)n, ndim);
    return tpi_wrap_dims(op, dims, n, ndim, out);
}

int tpi_expand_size(const char *op, int ndim, const int64_t *shape, const int64_t *size, int64_t n, int64_t *out)
{
    int rc = tpi_check_rank(op, n);
    if (rc) return rc;
    if (n < ndim)
        return tpi_fail(TP_ERR_VALUE, "%s: size %s has fewer dimensions than the tensor of shape %s", op,
                        tpi_shape_str((int)n, size), tpi_shape_str(ndim, shape));
    int lead = (int)n - ndim;
    for (int i = 0; i < n; i++) {
        int64_t old = i < lead ? 1 : shape[i - lead];
        int64_t want = size[i];
        if (want == -1 && i >= lead) want = old;
        if (want < 0 || (want != old && old != 1))
            return tpi_fail(TP_ERR_VALUE, "%s: shape %s can't be expanded to %s", op, tpi_shape_str(ndim, shape),
                            tpi_shape_str((int)n, size));
        out[i] = want;
    }
    return 0;
}

int tpi_slice_bounds(const char *op, int64_t size, int64_t step, int64_t *start, int64_t *end, int64_t *len)
{
    if (step <= 0) return tpi_fail(TP_ERR_VALUE, "%s: step must be positive, got %lld", op, (long long)step);
    int64_t s = *start < 0 ? *start + size : *start;
    int64_t e = *end < 0 ? *end + size : *end;
    s = s < 0 ? 0 : s > size ? size : s;
    e = e < s ? s : e > size ? size : e;
    *start = s;
    *end = e;
    *len = e == s ? 0 : (e - s - 1) / step + 1;
    return 0;
}

int tpi_wrap_index(const char *op, int64_t index, int dim, int64_t size, int64_t *out)
{
    if (index < -size || index >= size)
        return tpi_fail(TP_ERR_INDEX, "%s: index %lld is out of bounds for dimension %d with size %lld", op,
                        (long long)index, dim, (long long)size);
    *out = index < 0 ? index + size : index;
    return 0;
}

int tpi_diagonal_geometry(const char *op, int ndim, const int64_t *shape, int64_t offset, int64_t dim1, int64_t dim2,
                          int *d1, int *d2, int64_t *row, int64_t *col, int64_t *len)
{
    int rc;
    if (ndim < 2)
        return tpi_fail(TP_ERR_VALUE, "%s: at least 2 dimensions are needed, got shape %s", op,
                        tpi_shape_str(ndim, shape));
    if ((rc = tpi_wrap_dim(op, dim1, ndim, d1)) || (rc = tpi_wrap_dim(op, dim2, ndim, d2))) return rc;
    if (*d1 == *d2) return tpi_fail(TP_ERR_VALUE, "%s: dim1 and dim2 are the same dimension %d", op, *d1);
    int64_t rows = shape[*d1], cols = shape[*d2];
    /* Beyond the corner in either direction: empty. */
    if (offset >= cols || offset <= -rows) {
        *row = *col = *len = 0;
        return 0;
    }
    *row = offset < 0 ? -offset : 0;
    *col = offset > 0 ? offset : 0;
    int64_t a = rows - *row, b = cols - *col;
    *len = a < b ? a : b;
    return 0;
}

int tpi_squeeze_mask(const char *op, int ndim, const int64_t *shape, const int64_t *dims, int64_t n, bool *drop)
{
    int at[TPI_DIMS_CAP];
    int rc = tpi_wrap_dims(op, dims, n, ndim, at);
    if (rc) return rc;
    memset(drop, 0, (size_t)ndim * sizeof *drop);
    for (int64_t i = 0; i < n; i++)
        if (at[i] < ndim) drop[at[i]] = shape[at[i]] == 1;
    return 0;
}

int k_view(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    const int64_t *size = c->args[1].v.ints;
    int n = c->args[1].n;
    int64_t shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP];
    int rc;
    if ((rc = tpi_check_rank("view", n)) || (rc = tpi_infer_size("view", t->numel, n, size, shape))) return rc;
    if (!tpi_view_strides(t->ndim, t->shape, t->strides, n, shape, strides))
        return tpi_fail(TP_ERR_RUNTIME, "view: shape %s with strides %s has no view of shape %s: use reshape",
                        tpi_str(t), tpi_shape_str(t->ndim, t->strides), tpi_shape_str(n, shape));
    return tpi_set_out(c, 0, tpi_dense_view(t, n, shape, strides, t->offset));
}

int k_permute(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int dims[TPI_DIMS_CAP];
    int64_t shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP];
    int rc = tpi_wrap_permutation("permute", c->args[1].v.ints, c->args[1].n, t->ndim, dims);
    if (rc) return rc;
    for (int i = 0; i < t->ndim; i++) {
        shape[i] = t->shape[dims[i]];
        strides[i] = t->strides[dims[i]];
    }
    return tpi_set_out(c, 0, tpi_dense_view(t, t->ndim, shape, strides, t->offset));
}

int k_expand(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int n = c->args[1].n;
    int64_t shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP], numel;
    int rc = tpi_expand_size("expand", t->ndim, t->shape, c->args[1].v.ints, n, shape);
    if (rc || (rc = tpi_numel("expand", n, shape, &numel))) return rc;
    int lead = n - t->ndim;
    for (int i = 0; i < n; i++) {
        bool same = i >= lead && t->shape[i - lead] == shape[i];
        strides[i] = same ? t->strides[i - lead] : 0;
    }
    return tpi_set_out(c, 0, tpi_dense_view(t, n, shape, strides, t->offset));
}

/* The views are made by functions of their own: the backward kernels write through the same geometry. */
static tp_tensor *slice_view(const char *op, tp_tensor *t, int64_t dim, int64_t start, int64_t end, int64_t step)
{
    int d = 0;
    int64_t len = 0, shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP];
    if (t->ndim == 0) return tpi_null(TP_ERR_INDEX, "%s: a 0-d tensor can't be sliced", op);
    if (tpi_wrap_dim(op, dim, t->ndim, &d) || tpi_slice_bounds(op, t->shape[d], step, &start, &end, &len)) return NULL;
    tpi_copy_dims(shape, t->shape, t->ndim);
    tpi_copy_dims(strides, t->strides, t->ndim);
    shape[d] = len;
    /* A stride that no element needs must not overflow. */
    if (len > 1) strides[d] *= step;
    return tpi_dense_view(t, t->ndim, shape, strides, t->offset + (len ? start * t->strides[d] : 0));
}

static tp_tensor *select_view(const char *op, tp_tensor *t, int64_t dim, int64_t index)
{
    int d;
    int64_t shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP];
    if (t->ndim == 0) return tpi_null(TP_ERR_INDEX, "%s: a 0-d tensor can't be indexed", op);
    if (tpi_wrap_dim(op, dim, t->ndim, &d) || tpi_wrap_index(op, index, d, t->shape[d], &index)) return NULL;
    for (int i = 0, k = 0; i < t->ndim; i++) {
        if (i == d) continue;
        shape[k] = t->shape[i];
        strides[k++] = t->strides[i];
    }
    return tpi_dense_view(t, t->ndim - 1, shape, strides, t->offset + index * t->strides[d]);
}

static tp_tensor *diagonal_view(const char *op, tp_tensor *t, int64_t offset, int64_t dim1, int64_t dim2)
{
    int d1, d2;
    int64_t row, col, len, shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP];
    if (tpi_diagonal_geometry(op, t->ndim, t->shape, offset, dim1, dim2, &d1, &d2, &row, &col, &len)) return NULL;
    int k = 0;
    for (int i = 0; i < t->ndim; i++) {
        if (i == d1 || i == d2) continue;
        shape[k] = t->shape[i];
        strides[k++] = t->strides[i];
    }
    shape[k] = len;
    strides[k++] = t->strides[d1] + t->strides[d2];
    return tpi_dense_view(t, k, shape, strides, t->offset + row * t->strides[d1] + col * t->strides[d2]);
}

int k_slice(tp_call *c)
{
    const tp_val *a = c->args;
    return tpi_set_out(c, 0, slice_view("slice", arg_t(&a[0]), arg_i(&a[1]), arg_i(&a[2]), arg_i(&a[3]), arg_i(&a[4])));
}

int k_select(tp_call *c)
{
    const tp_val *a = c->args;
    return tpi_set_out(c, 0, select_view("select", arg_t(&a[0]), arg_i(&a[1]), arg_i(&a[2])));
}

int k_diagonal(tp_call *c)
{
    const tp_val *a = c->args;
    return tpi_set_out(c, 0, diagonal_view("diagonal", arg_t(&a[0]), arg_i(&a[1]), arg_i(&a[2]), arg_i(&a[3])));
}

/* How many windows of `size`, `step` apart, fit. */
int tpi_unfold_count(const char *op, int64_t length, int64_t size, int64_t step, int64_t *count)
{
    if (step <= 0) return tpi_fail(TP_ERR_VALUE, "%s: step must be positive, got %lld", op, (long long)step);
    if (size < 0 || size > length)
        return tpi_fail(TP_ERR_VALUE, "%s: windows of size %lld do not fit into a dimension of size %lld", op,
                        (long long)size, (long long)length);
    *count = (length - size) / step + 1;
    return 0;
}

int k_unfold(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int d = 0;
    int64_t size = arg_i(&c->args[2]), step = arg_i(&c->args[3]), count = 0;
    int64_t shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP];
    int rc = tpi_check_rank("unfold", t->ndim + 1);
    if (rc || (rc = tpi_wrap_dim("unfold", arg_i(&c->args[1]), t->ndim, &d)) ||
        (rc = tpi_unfold_count("unfold", t->shape[d], size, step, &count)))
        return rc;
    tpi_copy_dims(shape, t->shape, t->ndim);
    tpi_copy_dims(strides, t->strides, t->ndim);
    shape[d] = count;
    if (count > 1) strides[d] *= step;
    shape[t->ndim] = size;
    strides[t->ndim] = t->strides[d];
    return tpi_set_out(c, 0, tpi_dense_view(t, t->ndim + 1, shape, strides, t->offset));
}

int k_unsqueeze(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int d;
    int64_t shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP];
    int rc = tpi_check_rank("unsqueeze", t->ndim + 1);
    if (rc || (rc = tpi_wrap_dim("unsqueeze", arg_i(&c->args[1]), t->ndim + 1, &d))) return rc;
    tpi_copy_dims(shape, t->shape, d);
    tpi_copy_dims(strides, t->strides, d);
    tpi_copy_dims(shape + d + 1, t->shape + d, t->ndim - d);
    tpi_copy_dims(strides + d + 1, t->strides + d, t->ndim - d);
    shape[d] = 1;
    /* What a contiguous tensor would have here, so that flags of contiguity agree with NumPy's. */
    strides[d] = d < t->ndim ? t->shape[d] * t->strides[d] : 1;
    return tpi_set_out(c, 0, tpi_dense_view(t, t->ndim + 1, shape, strides, t->offset));
}

int k_squeeze_dims(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    bool drop[TPI_DIMS_CAP];
    int64_t shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP];
    int rc = tpi_squeeze_mask("squeeze", t->ndim, t->shape, c->args[1].v.ints, c->args[1].n, drop);
    if (rc) return rc;
    int k = 0;
    for (int i = 0; i < t->ndim; i++) {
        if (drop[i]) continue;
        shape[k] = t->shape[i];
        strides[k++] = t->strides[i];
    }
    return tpi_set_out(c, 0, tpi_dense_view(t, k, shape, strides, t->offset));
}

/* ---- writing a cotangent into zeros ---- */

static tp_tensor *zeros_of(const char *op, const tp_call *c)
{
    int64_t numel;
    const tp_val *size = &c->args[1];
    if (tpi_check_rank(op, size->n) || tpi_numel(op, size->n, size->v.ints, &numel)) return NULL;
    tp_tensor *t = tpi_empty(arg_t(&c->args[0])->dtype, size->n, size->v.ints);
    if (t && numel) memset(tpi_data(t), 0, (size_t)numel * (size_t)tpi_esize(t->dtype));
    return t;
}

/* Consumes full and part; part is a view of full. */
static int write_part(tp_call *c, const char *op, tp_tensor *full, tp_tensor *part)
{
    tp_tensor *grad = arg_t(&c->args[0]);
    int rc = part ? 0 : tp_error_code();
    if (!rc && (part->ndim != grad->ndim || memcmp(part->shape, grad->shape, sizeof(int64_t) * (size_t)grad->ndim)))
        rc = tpi_fail(TP_ERR_VALUE, "%s: a cotangent of shape %s for a view of shape %s", op, tpi_str(grad),
                      tpi_str(part));
    if (!rc) rc = tpi_dense_copy(part, grad);
    tp_release(part);
    if (rc) tp_release(full);
    else c->out[0] = full;
    return rc;
}

int k_slice_backward(tp_call *c)
{
    const tp_val *a = c->args;
    tp_tensor *full = zeros_of("slice_backward", c);
    if (!full) return tp_error_code();
    return write_part(c, "slice_backward", full,
                      slice_view("slice_backward", full, arg_i(&a[2]), arg_i(&a[3]), arg_i(&a[4]), arg_i(&a[5])));
}

int k_select_backward(tp_call *c)
{
    const tp_val *a = c->args;
    tp_tensor *full = zeros_of("select_backward", c);
    if (!full) return tp_error_code();
    return write_part(c, "select_backward", full, select_view("select_backward", full, arg_i(&a[2]), arg_i(&a[3])));
}

int k_diagonal_backward(tp_call *c)
{
    const tp_val *a = c->args;
    tp_tensor *full = zeros_of("diagonal_backward", c);
    if (!full) return tp_error_code();
    return write_part(c, "diagonal_backward", full,
                      diagonal_view("diagonal_backward", full, arg_i(&a[2]), arg_i(&a[3]), arg_i(&a[4])));
}
