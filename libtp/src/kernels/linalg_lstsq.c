/* Least squares over LAPACK's four drivers, in column-major work space. */
#include <string.h>

#include "core/error.h"
#include "dispatch/op.h"
#include "kernels/kernels.h"
#include "kernels/lapack.h"
#include "kernels/shape.h"

typedef void gels_fn(const char *, const int *, const int *, const int *, void *, const int *, void *, const int *,
                     void *, const int *, int *, size_t);
typedef void gelsy_fn(const int *, const int *, const int *, void *, const int *, void *, const int *, int *,
                      const void *, int *, void *, const int *, int *);
typedef void zgelsy_fn(const int *, const int *, const int *, void *, const int *, void *, const int *, int *,
                       const void *, int *, void *, const int *, void *, int *);
typedef void gelss_fn(const int *, const int *, const int *, void *, const int *, void *, const int *, void *,
                      const void *, int *, void *, const int *, int *);
typedef void zgelss_fn(const int *, const int *, const int *, void *, const int *, void *, const int *, void *,
                       const void *, int *, void *, const int *, void *, int *);
typedef void gelsd_fn(const int *, const int *, const int *, void *, const int *, void *, const int *, void *,
                      const void *, int *, void *, const int *, int *, int *);
typedef void zgelsd_fn(const int *, const int *, const int *, void *, const int *, void *, const int *, void *,
                       const void *, int *, void *, const int *, void *, int *, int *);

enum { GELS, GELSY, GELSD, GELSS };
static const char *const ROUTINES[] = {"gels", "gelsy", "gelsd", "gelss"};

typedef struct job {
    void *f;
    int driver, m, n, k, ld, dtype, esize, rsize, lwork, lrwork, liwork;
    double rcond;
    const char *a, *b;
    char *x, *values;
    int64_t *ranks;
} job;

static size_t up(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

/* One matrix; with lwork -1, the sizes of the work space in *work, *rwork, *iwork. */
static int call(const job *w, void *a, void *b, void *values, int *rank, void *work, int lwork, void *rwork, int *iwork)
{
    const float rcond_f = (float)w->rcond;
    const void *rcond = w->rsize == 4 ? (const void *)&rcond_f : (const void *)&w->rcond;
    bool complex_type = tpi_is_complex(w->dtype);
    int info = 0;
    switch (w->driver) {
    case GELS: ((gels_fn *)w->f)("N", &w->m, &w->n, &w->k, a, &w->m, b, &w->ld, work, &lwork, &info, 1); break;
    case GELSY:
        if (complex_type)
            ((zgelsy_fn *)w->f)(&w->m, &w->n, &w->k, a, &w->m, b, &w->ld, iwork, rcond, rank, work, &lwork, rwork,
                                &info);
        else ((gelsy_fn *)w->f)(&w->m, &w->n, &w->k, a, &w->m, b, &w->ld, iwork, rcond, rank, work, &lwork, &info);
        break;
    case GELSD:
        if (complex_type)
            ((zgelsd_fn *)w->f)(&w->m, &w->n, &w->k, a, &w->m, b, &w->ld, values, rcond, rank, work, &lwork, rwork,
                                iwork, &info);
        else
            ((gelsd_fn *)w->f)(&w->m, &w->n, &w->k, a, &w->m, b, &w->ld, values, rcond, rank, work, &lwork, iwork,
                               &info);
        break;
    default:
        if (complex_type)
            ((zgelss_fn *)w->f)(&w->m, &w->n, &w->k, a, &w->m, b, &w->ld, values, rcond, rank, work, &lwork, rwork,
                                &info);
        else ((gelss_fn *)w->f)(&w->m, &w->n, &w->k, a, &w->m, b, &w->ld, values, rcond, rank, work, &lwork, &info);
    }
    return info;
}

static int one_lstsq(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t e = (size_t)w->esize, m = (size_t)w->m, n = (size_t)w->n, k = (size_t)w->k, ld = (size_t)w->ld;
    size_t least = m < n ? m : n;
    char *a = work, *b = a + up(m * n * e), *scratch = b + up(ld * k * e), *rwork = scratch + up((size_t)w->lwork * e);
    int *iwork = (int *)(rwork + up((size_t)w->lrwork * (size_t)w->rsize)), rank = 0, info = 0;
    const char *source = w->b + (size_t)i * m * k * e;
    char *x = w->x + (size_t)i * n * k * e;
    tpi_lapack_turn(w->a + (size_t)i * m * n * e, a, w->m, w->n, w->esize);
    memset(b, 0, ld * k * e);
    for (size_t r = 0; r < m; r++)
        for (size_t j = 0; j < k; j++) memcpy(b + (j * ld + r) * e, source + (r * k + j) * e, e);
    memset(iwork, 0, (size_t)w->liwork * sizeof *iwork);
    if (least && k)
        info = call(w, a, b, w->values + (size_t)i * least * (size_t)w->rsize, &rank, scratch, w->lwork, rwork, iwork);
    for (size_t r = 0; r < n; r++)
        for (size_t j = 0; j < k; j++) memcpy(x + (r * k + j) * e, b + (j * ld + r) * e, e);
    w->ranks[i] = w->driver == GELS ? (int64_t)least : rank;
    return info;
}

/* The answer to a query of work space. */
static int answer(const job *w, const void *p)
{
    return (int)(w->rsize == 4 ? (double)*(const float *)p : *(const double *)p);
}

int k_lin_lstsq(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]), *b = arg_t(&c->args[1]);
    const char *op = "linalg.lstsq";
    int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1], k = b->shape[b->ndim - 1], shape[TPI_DIMS_CAP];
    int64_t least = m < n ? m : n, most = m > n ? m : n;
    job w = {.m = (int)m, .n = (int)n, .k = (int)k, .ld = (int)(most ? most : 1), .dtype = a->dtype};
    w.esize = tpi_esize(a->dtype);
    w.rsize = tpi_esize(tpi_to_real(a->dtype));
    w.rcond = arg_f(&c->args[2]);
    w.driver = (int)arg_i(&c->args[3]);
    int rc = tpi_lapack_size(op, most * (k + 1), n);
    if (rc) return rc;
    if (!(w.f = tpi_lapack(op, a->dtype, ROUTINES[w.driver]))) return tp_error_code();
    /* The answer to a query is in the work space's first element, whose real part leads. */
    w.liwork = (int)(n > 64 ? n : 64);
    w.lrwork = (int)(5 * least + 2 * n + 64);
    if (least && k) {
        double query[8] = {0}, values[8], rwork[8] = {0};
        int rank = 0, iwork[8] = {0};
        call(&w, (void *)values, (void *)values, values, &rank, query, -1, rwork, iwork);
        w.lwork = answer(&w, query) + 64;
        if (w.driver == GELSD) {
            if (iwork[0] > w.liwork) w.liwork = iwork[0];
            int r = answer(&w, rwork);
            if (r > w.lrwork) w.lrwork = r;
        }
    }
    if (!(a = tpi_dense_contiguous(a))) return tp_error_code();
    if (!(b = tpi_dense_contiguous(b))) rc = tp_error_code();
    if (!rc) {
        tpi_copy_dims(shape, b->shape, b->ndim);
        shape[b->ndim - 2] = n;
        rc = tpi_set_out(c, 0, tpi_empty(b->dtype, b->ndim, shape));
        if (!rc) rc = tpi_set_out(c, 1, tpi_empty(TP_INT64, b->ndim - 2, shape));
        shape[b->ndim - 2] = least;
        if (!rc) rc = tpi_set_out(c, 2, tpi_empty(tpi_to_real(b->dtype), b->ndim - 1, shape));
    }
    if (!rc) {
        w.a = tpi_data(a);
        w.b = tpi_data(b);
        w.x = tpi_data(c->out[0]);
        w.ranks = tpi_data(c->out[1]);
        w.values = tpi_data(c->out[2]);
        memset(w.values, 0, (size_t)c->out[2]->numel * (size_t)w.rsize);
        size_t e = (size_t)w.esize;
        tpi_lapack_run run = {.count = c->out[1]->numel,
                              .flops = (double)m * (double)n * (double)(least + k + 30) * 4,
                              .work = up((size_t)(m * n) * e) + up((size_t)(w.ld * k) * e) + up((size_t)w.lwork * e) +
                                      up((size_t)w.lrwork * (size_t)w.rsize) + (size_t)w.liwork * sizeof(int),
                              .one = one_lstsq,
                              .ctx = &w};
        rc = tpi_lapack_batch(&run);
        if (!rc && run.info)
            rc = tpi_lapack_fault(op, &run, a->ndim > 2,
                                  run.info > 0 && w.driver == GELS ? "the matrix does not have full rank"
                                                                   : "the singular values did not converge");
    }
    tp_release(a);
    tp_release(b);
    return rc;
}
