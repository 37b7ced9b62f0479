/* Questions about a dense tensor's memory. */
#include "tensor/tensor.h"

#include "kernels/kernels.h"

tp_tensor *tpi_dense_contiguous(tp_tensor *t)
{
    return tpi_contiguous(t) ? tpi_retain(t) : tpi_dense_cast(t, t->dtype);
}

/* Do two different indices of t lead to one element? Sorted by stride, each dimension must step over the whole extent
 * of the smaller ones; layouts that interleave without meeting are refused too, as they cannot come from views. */
static bool self_overlaps(const tp_tensor *t)
{
    int64_t stride[TP_MAX_NDIM], size[TP_MAX_NDIM];
    int n = 0;
    for (int i = 0; i < t->ndim; i++) {
        if (t->shape[i] < 2) continue;
        int64_t s = t->strides[i] < 0 ? -t->strides[i] : t->strides[i];
        if (s == 0) return true;
        int k = n++;
        while (k && stride[k - 1] > s) {
            stride[k] = stride[k - 1];
            size[k] = size[k - 1];
            k--;
        }
        stride[k] = s;
        size[k] = t->shape[i];
    }
    int64_t extent = 1;
    for (int i = 0; i < n; i++) {
        if (stride[i] < extent) return true;
        extent += stride[i] * (size[i] - 1);
    }
    return false;
}

int tpi_check_writable(const char *op, const tp_tensor *t)
{
    if (t->kind != TPI_DENSE) return tpi_fail(TP_ERR_RUNTIME, "%s: the tensor has no memory of its own", op);
    if (t->storage->readonly)
        return tpi_fail(TP_ERR_RUNTIME, "%s: the tensor of shape %s lies in read-only memory; clone() it first", op,
                        tpi_str(t));
    if (t->numel && self_overlaps(t))
        return tpi_fail(TP_ERR_RUNTIME,
                        "%s: several elements of the tensor of shape %s share one place in memory (expanded); "
                        "clone() it first",
                        op, tpi_str(t));
    return TP_OK;
}

static void range(const tp_tensor *t, const char **lo, const char **hi)
{
    int64_t a = 0, b = 0, size = tpi_esize(t->dtype);
    for (int i = 0; i < t->ndim; i++) {
        int64_t step = t->strides[i] * (t->shape[i] - 1);
        if (step < 0) a += step;
        else b += step;
    }
    *lo = (const char *)tpi_data(t) + a * size;
    *hi = (const char *)tpi_data(t) + (b + 1) * size;
}

int tpi_overlap(const tp_tensor *a, const tp_tensor *b)
{
    /* only foreign memory can be shared by two storages */
    if (!a->numel || !b->numel || (a->storage != b->storage && !(a->storage->foreign && b->storage->foreign))) return 0;
    const char *alo, *ahi, *blo, *bhi;
    range(a, &alo, &ahi);
    range(b, &blo, &bhi);
    if (ahi <= blo || bhi <= alo) return 0;
    if (tpi_data(a) == tpi_data(b) && a->dtype == b->dtype && a->ndim == b->ndim &&
        !memcmp(a->shape, b->shape, sizeof(int64_t) * a->ndim)) {
        bool same = true;
        for (int i = 0; i < a->ndim; i++) same &= a->shape[i] == 1 || a->strides[i] == b->strides[i];
        if (same) return 2;
    }
    return 1;
}
