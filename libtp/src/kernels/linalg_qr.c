/* QR over LAPACK, in column-major work space. */
#include <string.h>

#include "core/error.h"
#include "dispatch/op.h"
#include "kernels/kernels.h"
#include "kernels/lapack.h"
#include "kernels/shape.h"

typedef void geqrf_fn(const int *, const int *, void *, const int *, void *, void *, const int *, int *);
typedef void orgqr_fn(const int *, const int *, const int *, void *, const int *, const void *, void *, const int *,
                      int *);

typedef struct job {
    geqrf_fn *geqrf;
    orgqr_fn *orgqr;
    int m, n, k, esize, lwork; /* Q is [m, k], R is [k, n] */
    const char *a;
    char *q, *r;
} job;

static int one_qr(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t m = (size_t)w->m, n = (size_t)w->n, k = (size_t)w->k, e = (size_t)w->esize;
    char *x = work, *tau = x + m * k * e, *scratch = tau + k * e, *r = w->r + (size_t)i * k * n * e;
    int info = 0;
    memset(x, 0, m * k * e);
    tpi_lapack_turn(w->a + (size_t)i * m * n * e, x, w->m, w->n, w->esize);
    if (m && n) w->geqrf(&w->m, &w->n, x, &w->m, tau, scratch, &w->lwork, &info);
    memset(r, 0, k * n * e);
    for (size_t row = 0; row < n && row < k; row++)
        for (size_t col = row; col < n; col++) memcpy(r + (row * n + col) * e, x + (col * m + row) * e, e);
    if (m && k) w->orgqr(&w->m, &w->k, &w->n, x, &w->m, tau, scratch, &w->lwork, &info);
    tpi_lapack_turn(x, w->q + (size_t)i * m * k * e, w->k, w->m, w->esize);
    return info;
}

int k_lin_qr(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]);
    const char *op = "linalg.qr";
    int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1], k = arg_b(&c->args[1]) ? m : n;
    job w = {.m = (int)m, .n = (int)n, .k = (int)k, .esize = tpi_esize(a->dtype), .lwork = (int)k * 32 + 32};
    int64_t shape[TPI_DIMS_CAP];
    int rc = tpi_lapack_size(op, m, n);
    if (rc) return rc;
    if (!(w.geqrf = (geqrf_fn *)tpi_lapack(op, a->dtype, "geqrf"))) return tp_error_code();
    if (!(w.orgqr = (orgqr_fn *)tpi_lapack_pair(op, a->dtype, "orgqr", "ungqr"))) return tp_error_code();
    if (!(a = tpi_dense_contiguous(a))) return tp_error_code();
    tpi_copy_dims(shape, a->shape, a->ndim);
    shape[a->ndim - 1] = k;
    if (!(rc = tpi_set_out(c, 0, tpi_empty(a->dtype, a->ndim, shape)))) {
        shape[a->ndim - 2] = k;
        shape[a->ndim - 1] = n;
        rc = tpi_set_out(c, 1, tpi_empty(a->dtype, a->ndim, shape));
    }
    if (!rc) {
        w.a = tpi_data(a);
        w.q = tpi_data(c->out[0]);
        w.r = tpi_data(c->out[1]);
        tpi_lapack_run run = {.count = tpi_lapack_count(a, 2),
                              .flops = (double)m * (double)k * (double)(k + 30) * 4,
                              .work = (size_t)(m * k + k + w.lwork) * (size_t)w.esize,
                              .one = one_qr,
                              .ctx = &w};
        rc = tpi_lapack_batch(&run);
    }
    tp_release(a);
    return rc;
}
