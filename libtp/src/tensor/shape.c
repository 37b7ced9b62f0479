/* Shape and view arithmetic. */
#include "tensor/tensor.h"

#include <stdio.h>

int tpi_numel(const char *op, int ndim, const int64_t *shape, int64_t *numel)
{
    if (ndim < 0 || ndim > TP_MAX_NDIM)
        return tpi_fail(TP_ERR_VALUE, "%s: %d dimensions, at most %d are supported", op, ndim, TP_MAX_NDIM);
    int64_t n = 1;
    bool overflow = false, empty = false;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0)
            return tpi_fail(TP_ERR_VALUE, "%s: negative size %lld in shape %s", op, (long long)shape[i],
                            tpi_shape_str(ndim, shape));
        if (shape[i] == 0) empty = true;
        else overflow |= __builtin_mul_overflow(n, shape[i], &n);
    }
    /* an empty tensor may have sizes whose product overflows, but strides are computed from them */
    if (overflow || n > INT64_MAX / 32)
        return tpi_fail(TP_ERR_VALUE, "%s: shape %s has too many elements", op, tpi_shape_str(ndim, shape));
    *numel = empty ? 0 : n;
    return TP_OK;
}

void tpi_contiguous_strides(int ndim, const int64_t *shape, int64_t *strides)
{
    int64_t s = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = s;
        s *= shape[i] > 1 ? shape[i] : 1;
    }
}

int tpi_broadcast_shapes(const char *op, int na, const int64_t *a, int nb, const int64_t *b, int *nout, int64_t *out)
{
    int n = na > nb ? na : nb;
    for (int i = n - 1, ia = na - 1, ib = nb - 1; i >= 0; i--, ia--, ib--) {
        int64_t x = ia >= 0 ? a[ia] : 1, y = ib >= 0 ? b[ib] : 1;
        if (x != y && x != 1 && y != 1)
            return tpi_fail(TP_ERR_VALUE, "%s: shapes %s and %s do not broadcast: %lld != %lld at dimension %d", op,
                            tpi_shape_str(na, a), tpi_shape_str(nb, b), (long long)x, (long long)y, i);
        out[i] = x == 1 ? y : x;
    }
    *nout = n;
    return TP_OK;
}

int tpi_wrap_dim(const char *op, int64_t dim, int ndim, int *out)
{
    int64_t n = ndim ? ndim : 1;
    if (dim < -n || dim >= n)
        return tpi_fail(TP_ERR_INDEX, "%s: dimension %lld is out of range for a %d-d tensor (expected %lld to %lld)",
                        op, (long long)dim, ndim, (long long)-n, (long long)(n - 1));
    *out = (int)(dim < 0 ? dim + n : dim);
    return TP_OK;
}

bool tpi_view_strides(int old_ndim, const int64_t *old_shape, const int64_t *old_strides, int ndim,
                      const int64_t *shape, int64_t *strides)
{
    int64_t numel = 1;
    for (int i = 0; i < old_ndim; i++) numel *= old_shape[i];
    if (numel == 0) {
        tpi_contiguous_strides(ndim, shape, strides);
        return true;
    }
    /* walk both shapes from the right: each run of old dimensions that is contiguous in itself must be covered by
     * whole new dimensions */
    int v = ndim - 1;
    int64_t run = 1, view = 1, base = old_ndim ? old_strides[old_ndim - 1] : 1;
    for (int d = old_ndim - 1; d >= 0; d--) {
        run *= old_shape[d];
        bool end = d == 0 || (old_shape[d - 1] != 1 && old_strides[d - 1] != run * base);
        if (!end) continue;
        while (v >= 0 && (view < run || shape[v] == 1)) {
            strides[v] = view * base;
            view *= shape[v];
            v--;
        }
        if (view != run) return false;
        if (d > 0) {
            base = old_strides[d - 1];
            run = view = 1;
        }
    }
    for (; v >= 0; v--) {
        if (shape[v] != 1) return false;
        strides[v] = 1;
    }
    return true;
}

int tpi_infer_size(const char *op, int64_t numel, int ndim, const int64_t *shape, int64_t *out)
{
    int hole = -1;
    int64_t known = 1;
    if (ndim > TP_MAX_NDIM)
        return tpi_fail(TP_ERR_VALUE, "%s: %d dimensions, at most %d are supported", op, ndim, TP_MAX_NDIM);
    for (int i = 0; i < ndim; i++) {
        out[i] = shape[i];
        if (shape[i] == -1) {
            if (hole >= 0)
                return tpi_fail(TP_ERR_VALUE, "%s: only one size can be inferred, got %s", op,
                                tpi_shape_str(ndim, shape));
            hole = i;
        } else if (shape[i] < 0)
            return tpi_fail(TP_ERR_VALUE, "%s: negative size %lld in shape %s", op, (long long)shape[i],
                            tpi_shape_str(ndim, shape));
        else if (__builtin_mul_overflow(known, shape[i], &known))
            return tpi_fail(TP_ERR_VALUE, "%s: shape %s has too many elements", op, tpi_shape_str(ndim, shape));
    }
    if (hole >= 0) {
        if (known == 0 && numel == 0)
            return tpi_fail(TP_ERR_VALUE, "%s: size -1 in %s is ambiguous for an empty tensor", op,
                            tpi_shape_str(ndim, shape));
        if (known == 0 || numel % known)
            return tpi_fail(TP_ERR_VALUE, "%s: shape %s is invalid for %lld elements", op, tpi_shape_str(ndim, shape),
                            (long long)numel);
        out[hole] = numel / known;
    } else if (known != numel)
        return tpi_fail(TP_ERR_VALUE, "%s: shape %s is invalid for %lld elements", op, tpi_shape_str(ndim, shape),
                        (long long)numel);
    return TP_OK;
}

const char *tpi_shape_str(int ndim, const int64_t *shape)
{
    static _Thread_local char ring[8][160];
    static _Thread_local int next;
    char *b = ring[next = (next + 1) & 7];
    size_t cap = sizeof ring[0], n = 0;
    b[n++] = '[';
    for (int i = 0; i < ndim; i++) {
        int k = snprintf(b + n, cap - n, i ? ", %lld" : "%lld", (long long)shape[i]);
        if (k < 0 || n + (size_t)k + 8 > cap) {
            memcpy(b + n, ", ...", 5);
            n += 5;
            break;
        }
        n += (size_t)k;
    }
    b[n++] = ']';
    b[n] = 0;
    return b;
}

bool tpi_contiguous(const tp_tensor *t)
{
    int64_t s = 1;
    if (t->numel == 0) return true;
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (t->shape[i] == 1) continue;
        if (t->strides[i] != s) return false;
        s *= t->shape[i];
    }
    return true;
}
