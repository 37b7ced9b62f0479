/* Positions of the elements that are not zero. */
#include "kernels/kernels.h"
#include "kernels/reduce.h"
#include "tpi_ops.h"

#define RUN 1024

/* Rows of positions of the non-zero elements among n contiguous ones at src; at most `size` rows. Returns how many. */
static int64_t positions(const char *src, int dtype, int64_t n, int ndim, const int64_t *shape, int64_t size,
                         int64_t *rows)
{
    tpi_load load = tpi_load_truth(dtype);
    int esize = tpi_esize(dtype);
    int64_t truth[RUN], hits[RUN], found = 0;
    for (int64_t i = 0; i < n && found < size; i += RUN) {
        int64_t m = n - i < RUN ? n - i : RUN, k = 0;
        load(truth, src + i * esize, m, 1, 0);
        for (int64_t j = 0; j < m; j++) {
            hits[k] = i + j;
            k += truth[j];
        }
        if (k > size - found) k = size - found;
        int64_t *row = rows + found * ndim;
        if (ndim == 1) memcpy(row, hits, sizeof(int64_t) * (size_t)k);
        else
            for (int64_t j = 0; j < k; j++, row += ndim) {
                int64_t at = hits[j];
                for (int d = ndim - 1; d >= 0; d--) {
                    row[d] = at % shape[d];
                    at /= shape[d];
                }
            }
        found += k;
    }
    return found;
}

int k_nonzero(tp_call *c)
{
    tp_tensor *x = tpi_dense_contiguous(arg_t(&c->args[0])), *count = NULL, *out = NULL;
    if (!x) return tp_error_code();
    int64_t dims[TP_MAX_NDIM];
    for (int d = 0; d < x->ndim; d++) dims[d] = d;
    tp_val args[] = {val_t(x), val_ints(dims, x->ndim), val_b(false)};
    tp_call counting = {.op = c->op, .args = args, .out = &count, .nout = 1};
    int rc = k_count_nonzero(&counting);
    if (!rc) {
        int64_t shape[2] = {*(const int64_t *)tpi_data(count), x->ndim};
        rc = (out = tpi_empty(TP_INT64, 2, shape)) ? 0 : TP_ERR_MEMORY;
        if (!rc) positions(tpi_data(x), x->dtype, x->numel, x->ndim, x->shape, shape[0], tpi_data(out));
    }
    tp_release(count);
    tp_release(x);
    c->out[0] = out;
    return rc;
}

int k_nonzero_rows(tp_call *c)
{
    tp_tensor *x = tpi_dense_contiguous(arg_t(&c->args[0]));
    if (!x) return tp_error_code();
    int64_t size = arg_i(&c->args[1]), fill = arg_i(&c->args[2]), blocks = 1, n = 1, shape[TP_MAX_NDIM + 2];
    int batch = (int)arg_i(&c->args[3]), ndim = x->ndim - batch;
    for (int d = 0; d < x->ndim; d++) *(d < batch ? &blocks : &n) *= x->shape[d];
    for (int d = 0; d < batch; d++) shape[d] = x->shape[d];
    shape[batch] = size;
    shape[batch + 1] = ndim;
    tp_tensor *out = tpi_empty(TP_INT64, batch + 2, shape);
    if (out) {
        int64_t *rows = tpi_data(out);
        const char *src = tpi_data(x);
        for (int64_t b = 0; b < blocks; b++, rows += size * ndim, src += n * tpi_esize(x->dtype)) {
            int64_t found = positions(src, x->dtype, n, ndim, x->shape + batch, size, rows);
            for (int64_t i = found * ndim; i < size * ndim; i++) rows[i] = fill;
        }
    }
    tp_release(x);
    c->out[0] = out;
    return out ? 0 : tp_error_code();
}
