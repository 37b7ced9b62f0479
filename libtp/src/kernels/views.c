/* Views by strides or as another dtype, and the index that repeats by a tensor of counts. */
#include "kernels/kernels.h"
#include "kernels/shape.h"
#include "kernels/views.h"

int64_t tpi_extent(int ndim, const int64_t *shape, const int64_t *strides)
{
    int64_t last = 0;
    for (int i = 0; i < ndim; i++) {
        int64_t far;
        if (shape[i] == 0) return 0;
        if (__builtin_mul_overflow(shape[i] - 1, strides[i], &far) || __builtin_add_overflow(last, far, &last))
            return INT64_MAX;
    }
    return last == INT64_MAX ? last : last + 1;
}

int tpi_check_strided(const tp_val *size, const tp_val *stride)
{
    if (size->n != stride->n)
        return tpi_fail(TP_ERR_VALUE, "as_strided: size %s and stride %s differ in length",
                        tpi_shape_str(size->n, size->v.ints), tpi_shape_str(stride->n, stride->v.ints));
    for (int i = 0; i < stride->n; i++)
        if (stride->v.ints[i] < 0)
            return tpi_fail(TP_ERR_VALUE, "as_strided: negative strides are not supported, got %s",
                            tpi_shape_str(stride->n, stride->v.ints));
    int rc = tpi_check_rank("as_strided", size->n);
    return rc ? rc : tpi_numel("as_strided", size->n, size->v.ints, &(int64_t){0});
}

int k_as_strided_at(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    const tp_val *size = &c->args[1], *stride = &c->args[2];
    int64_t shift = arg_i(&c->args[3]), start, end;
    int rc = tpi_check_strided(size, stride);
    if (rc) return rc;
    int64_t extent = tpi_extent(size->n, size->v.ints, stride->v.ints);
    /* Memory of others may be longer than its number of elements says: what t reaches is there. */
    int64_t own = t->offset + tpi_extent(t->ndim, t->shape, t->strides);
    int64_t limit = (int64_t)(t->storage->bytes / (size_t)tpi_esize(t->dtype));
    if (own > limit) limit = own;
    if (__builtin_add_overflow(t->offset, shift, &start) || start < 0 || __builtin_add_overflow(start, extent, &end) ||
        end > limit)
        return tpi_fail(TP_ERR_VALUE, "as_strided: size %s with stride %s from element %lld leaves a memory of %lld",
                        tpi_shape_str(size->n, size->v.ints), tpi_shape_str(stride->n, stride->v.ints),
                        (long long)(t->offset + (shift > INT64_MAX / 2 ? 0 : shift)), (long long)limit);
    return tpi_set_out(c, 0, tpi_dense_view(t, size->n, size->v.ints, stride->v.ints, start));
}

/* The memory of t as elements of another dtype; offset and strides are counted in those. */
static int recast(tp_call *c, tp_tensor *t, int dtype, int ndim, const int64_t *shape, const int64_t *strides,
                  int64_t offset)
{
    tp_tensor *v = tpi_dense_view(t, ndim, shape, strides, offset);
    if (v) v->dtype = (uint8_t)dtype;
    return tpi_set_out(c, 0, v);
}

int k_view_as_real(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int64_t shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP];
    if (!tpi_is_complex(t->dtype))
        return tpi_fail(TP_ERR_TYPE, "view_as_real: a complex tensor is needed, got %s", tp_dtype_name(t->dtype));
    int rc = tpi_check_rank("view_as_real", t->ndim + 1);
    if (rc) return rc;
    tpi_copy_dims(shape, t->shape, t->ndim);
    for (int i = 0; i < t->ndim; i++) strides[i] = 2 * t->strides[i];
    shape[t->ndim] = 2;
    strides[t->ndim] = 1;
    return recast(c, t, tpi_to_real(t->dtype), t->ndim + 1, shape, strides, 2 * t->offset);
}

int tpi_check_pairs(int dtype, int ndim, const int64_t *shape)
{
    if (dtype != TP_FLOAT32 && dtype != TP_FLOAT64)
        return tpi_fail(TP_ERR_TYPE, "view_as_complex: float32 or float64 is needed, got %s", tp_dtype_name(dtype));
    if (ndim == 0 || shape[ndim - 1] != 2)
        return tpi_fail(TP_ERR_VALUE, "view_as_complex: the last dimension must have size 2, got shape %s",
                        tpi_shape_str(ndim, shape));
    return 0;
}

bool tpi_are_pairs(const tp_tensor *t)
{
    int n = t->ndim - 1;
    if (!t->numel) return true;
    if (t->strides[n] != 1) return false;
    for (int i = 0; i < n; i++)
        if (t->strides[i] % 2 && t->shape[i] > 1) return false;
    return true;
}

int k_view_as_complex(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int64_t strides[TPI_DIMS_CAP];
    int rc = tpi_check_pairs(t->dtype, t->ndim, t->shape);
    if (rc) return rc;
    if (!tpi_are_pairs(t) || (t->numel && t->offset % 2))
        return tpi_fail(TP_ERR_RUNTIME,
                        "view_as_complex: shape %s with strides %s and offset %lld does not lie in pairs", tpi_str(t),
                        tpi_shape_str(t->ndim, t->strides), (long long)t->offset);
    for (int i = 0; i < t->ndim - 1; i++) strides[i] = t->strides[i] / 2;
    return recast(c, t, tpi_to_complex(t->dtype), t->ndim - 1, t->shape, strides, t->offset / 2);
}

int tpi_check_bits(int from, int to, int ndim, const int64_t *shape)
{
    int a = tpi_esize(from), b = tpi_esize(to);
    if (a == b) return 0;
    if (ndim == 0)
        return tpi_fail(TP_ERR_VALUE, "view: a 0-d tensor of %s can't be viewed as %s, which has another size",
                        tp_dtype_name(from), tp_dtype_name(to));
    if (b > a && shape[ndim - 1] % (b / a))
        return tpi_fail(TP_ERR_VALUE, "view: shape %s of %s can't be viewed as %s: %d elements make one",
                        tpi_shape_str(ndim, shape), tp_dtype_name(from), tp_dtype_name(to), b / a);
    return 0;
}

int k_view_bits(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int64_t shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP], offset = t->offset;
    int to = (int)arg_i(&c->args[1]), n = t->ndim - 1, rc = tpi_check_bits(t->dtype, to, t->ndim, t->shape);
    if (rc) return rc;
    int a = tpi_esize(t->dtype), b = tpi_esize(to);
    tpi_copy_dims(shape, t->shape, t->ndim);
    tpi_copy_dims(strides, t->strides, t->ndim);
    if (a != b) {
        bool fits = t->strides[n] == 1 || t->numel == 0;
        if (a > b) {
            shape[n] *= a / b;
            offset *= a / b;
            for (int i = 0; i < n; i++) strides[i] *= a / b;
        } else {
            int64_t k = b / a;
            fits &= offset % k == 0;
            for (int i = 0; i < n; i++) {
                fits &= strides[i] % k == 0 || shape[i] <= 1;
                strides[i] /= k;
            }
            shape[n] /= k;
            offset /= k;
        }
        strides[n] = 1;
        if (!fits)
            return tpi_fail(TP_ERR_RUNTIME, "view: shape %s with strides %s of %s has no view as %s", tpi_str(t),
                            tpi_shape_str(t->ndim, t->strides), tp_dtype_name(t->dtype), tp_dtype_name(to));
    }
    return recast(c, t, to, t->ndim, shape, strides, offset);
}

/* Sum of a row of counts; an error for a negative one or when it is not `wanted` (-1: any). */
static int count_sum(const int64_t *row, int64_t stride, int64_t n, int64_t wanted, int64_t *sum)
{
    *sum = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t r = row[i * stride];
        if (r < 0) return tpi_fail(TP_ERR_VALUE, "repeat_interleave: negative count %lld", (long long)r);
        if (__builtin_add_overflow(*sum, r, sum))
            return tpi_fail(TP_ERR_VALUE, "repeat_interleave: the sum of the counts is too large");
    }
    if (wanted >= 0 && *sum != wanted)
        return tpi_fail(TP_ERR_VALUE, "repeat_interleave: the counts sum to %lld, output_size is %lld", (long long)*sum,
                        (long long)wanted);
    return 0;
}

int k_repeat_index(tp_call *c)
{
    tp_tensor *t = tpi_dense_contiguous(arg_t(&c->args[0]));
    if (!t) return tp_error_code();
    int64_t size = arg_none(&c->args[1]) ? -1 : arg_i(&c->args[1]), shape[TPI_DIMS_CAP], sum = 0;
    int64_t n = t->shape[t->ndim - 1], rows = n ? t->numel / n : 1;
    if (!n)
        for (int i = 0; i < t->ndim - 1; i++) rows *= t->shape[i];
    const int64_t *counts = tpi_data(t);
    int rc = 0;
    for (int64_t r = 0; r < rows && !rc; r++) rc = count_sum(counts + r * n, 1, n, size, &sum);
    tpi_copy_dims(shape, t->shape, t->ndim);
    shape[t->ndim - 1] = size >= 0 ? size : sum;
    tp_tensor *out = rc ? NULL : tpi_empty(TP_INT64, t->ndim, shape);
    if (out) {
        int64_t *p = tpi_data(out);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t i = 0; i < n; i++)
                for (int64_t k = counts[r * n + i]; k > 0; k--) *p++ = i;
    }
    tp_release(t);
    return rc ? rc : tpi_set_out(c, 0, out);
}
