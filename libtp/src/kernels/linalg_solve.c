/* Cholesky, LU and triangular solves over LAPACK. A row-major matrix is the transpose of what LAPACK sees, so a lower
 * triangle is an upper one there, and a x = b is x^T a^T = b^T: triangles need no copy that turns them. */
#include "kernels/lapack.h"
#include "kernels/linalg_elimination.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "dispatch/op.h"
#include "kernels/kernels.h"
#include "kernels/shape.h"

typedef void potrf_fn(const char *, const int *, void *, const int *, int *, size_t);
typedef void getrf_fn(const int *, const int *, void *, const int *, int *, int *);
typedef void getrs_fn(const char *, const int *, const int *, const void *, const int *, const int *, void *,
                      const int *, int *, size_t);
typedef void trsm_fn(const char *, const char *, const char *, const char *, const int *, const int *, const void *,
                     const void *, const int *, void *, const int *, size_t, size_t, size_t, size_t);

typedef struct job {
    union {
        potrf_fn *potrf;
        getrf_fn *getrf;
        trsm_fn *trsm;
    } f;
    getrs_fn *getrs;
    int n, k, dtype, esize;
    bool upper, unit;
    const char *a;
    char *b, *x;
    int32_t *info;
} job;

static int new_out(tp_call *c, int k, int dtype, int ndim, const int64_t *shape)
{
    return tpi_set_out(c, k, tpi_empty(dtype, ndim, shape));
}

/* ---- Cholesky ---- */

static int one_cholesky(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t n = (size_t)w->n, e = (size_t)w->esize;
    char *x = w->x + (size_t)i * n * n * e;
    int info = 0;
    for (size_t r = 0; r < n; r++) {
        memcpy(x + r * n * e, w->a + ((size_t)i * n * n + r * n) * e, (r + 1) * e);
        memset(x + (r * n + r + 1) * e, 0, (n - r - 1) * e);
    }
    if (n) w->f.potrf("U", &w->n, x, &w->n, &info, 1);
    w->info[i] = info;
    return info;
    (void)work;
}

int k_lin_cholesky(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]);
    const char *op = c->args[1].v.str;
    int64_t n = a->shape[a->ndim - 1];
    job w = {.n = (int)n, .dtype = a->dtype, .esize = tpi_esize(a->dtype)};
    int rc = tpi_lapack_size(op, n, n);
    if (rc) return rc;
    if (!(w.f.potrf = (potrf_fn *)tpi_lapack(op, a->dtype, "potrf"))) return tp_error_code();
    if (!(a = tpi_dense_contiguous(a))) return tp_error_code();
    if (!(rc = new_out(c, 0, a->dtype, a->ndim, a->shape)) && !(rc = new_out(c, 1, TP_INT32, a->ndim - 2, a->shape))) {
        w.a = tpi_data(a);
        w.x = tpi_data(c->out[0]);
        w.info = tpi_data(c->out[1]);
        double d = (double)n;
        tpi_lapack_run run = {.count = c->out[1]->numel, .flops = d * d * (d + 30) / 3, .one = one_cholesky, .ctx = &w};
        rc = tpi_lapack_batch(&run);
        if (!rc && run.info && arg_b(&c->args[2]))
            rc = tpi_lapack_fault(op, &run, a->ndim > 2, "the matrix is not positive definite");
    }
    tp_release(a);
    return rc;
}

/* ---- triangles ---- */

static int one_tri(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t n = (size_t)w->n, k = (size_t)w->k, e = (size_t)w->esize;
    static const double complex one = 1;
    static const float complex one_f = 1;
    const void *alpha = w->dtype == TP_FLOAT64 || w->dtype == TP_COMPLEX128 ? (const void *)&one : (const void *)&one_f;
    memcpy(w->x + (size_t)i * n * k * e, w->b + (size_t)i * n * k * e, n * k * e);
    if (n && k)
        w->f.trsm("R", w->upper ? "L" : "U", "N", w->unit ? "U" : "N", &w->k, &w->n, alpha,
                  w->a + (size_t)i * n * n * e, &w->n, w->x + (size_t)i * n * k * e, &w->k, 1, 1, 1, 1);
    return 0;
    (void)work;
}

int k_lin_tri(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]), *b = arg_t(&c->args[1]);
    const char *op = "linalg.solve_triangular";
    int64_t n = a->shape[a->ndim - 1], k = b->shape[b->ndim - 1];
    job w = {.n = (int)n, .k = (int)k, .dtype = a->dtype, .esize = tpi_esize(a->dtype)};
    w.upper = arg_b(&c->args[2]);
    w.unit = arg_b(&c->args[3]);
    int rc = tpi_lapack_size(op, n, k);
    if (rc) return rc;
    if (!(w.f.trsm = (trsm_fn *)tpi_lapack(op, a->dtype, "trsm"))) return tp_error_code();
    if (!(a = tpi_dense_contiguous(a))) return tp_error_code();
    if (!(b = tpi_dense_contiguous(b))) rc = tp_error_code();
    if (!rc && !(rc = new_out(c, 0, b->dtype, b->ndim, b->shape))) {
        w.a = tpi_data(a);
        w.b = tpi_data(b);
        w.x = tpi_data(c->out[0]);
        double d = (double)n;
        tpi_lapack_run run = {
            .count = tpi_lapack_count(b, 2), .flops = d * (d + 10) * (double)k, .one = one_tri, .ctx = &w};
        rc = tpi_lapack_batch(&run);
    }
    tp_release(a);
    tp_release(b);
    return rc;
}

/* ---- LU ---- */

/* Bytes of pivots, rounded up so that what follows is aligned. */
static size_t pivots(int64_t n) { return ((size_t)n * sizeof(int) + 63) & ~(size_t)63; }

static int one_solve(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t n = (size_t)w->n, k = (size_t)w->k, e = (size_t)w->esize;
    int *piv = work, info = 0, bad = 0;
    char *lu = (char *)work + pivots(w->n), *b = lu + n * n * e;
    const char *source = w->b + (size_t)i * n * k * e;
    char *x = w->x + (size_t)i * n * k * e;
    if (n <= TPI_SMALL_MATRIX) {
        int swaps;
        memcpy(lu, w->a + (size_t)i * n * n * e, n * n * e);
        memcpy(x, source, n * k * e);
        return w->info[i] = tpi_small_lu(w->dtype, w->n, w->k, lu, x, &swaps);
    }
    /* What LAPACK factorises is the transpose, which 'T' turns back; its pivots are those of columns. */
    memcpy(lu, w->a + (size_t)i * n * n * e, n * n * e);
    if (n) w->f.getrf(&w->n, &w->n, lu, &w->n, piv, &info);
    w->info[i] = info;
    if (!n || !k) return info;
    tpi_lapack_turn(source, b, w->n, w->k, w->esize);
    w->getrs("T", &w->n, &w->k, lu, &w->n, piv, b, &w->n, &bad, 1);
    tpi_lapack_turn(b, x, w->k, w->n, w->esize);
    return info;
}

int k_lin_solve(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]), *b = arg_t(&c->args[1]);
    const char *op = c->args[2].v.str;
    int64_t n = a->shape[a->ndim - 1], k = b->shape[b->ndim - 1];
    job w = {.n = (int)n, .k = (int)k, .dtype = a->dtype, .esize = tpi_esize(a->dtype)};
    int rc = tpi_lapack_size(op, n, k);
    if (rc) return rc;
    if (!(w.f.getrf = (getrf_fn *)tpi_lapack(op, a->dtype, "getrf"))) return tp_error_code();
    if (!(w.getrs = (getrs_fn *)tpi_lapack(op, a->dtype, "getrs"))) return tp_error_code();
    if (!(a = tpi_dense_contiguous(a))) return tp_error_code();
    if (!(b = tpi_dense_contiguous(b))) rc = tp_error_code();
    if (!rc && !(rc = new_out(c, 0, b->dtype, b->ndim, b->shape)) &&
        !(rc = new_out(c, 1, TP_INT32, a->ndim - 2, a->shape))) {
        w.a = tpi_data(a);
        w.b = tpi_data(b);
        w.x = tpi_data(c->out[0]);
        w.info = tpi_data(c->out[1]);
        double d = (double)n;
        tpi_lapack_run run = {.count = c->out[1]->numel,
                              .flops = d * (d + 30) * (d / 1.5 + 2 * (double)k),
                              .work = pivots(n) + (size_t)(n * n + n * k) * (size_t)w.esize,
                              .one = one_solve,
                              .ctx = &w};
        rc = tpi_lapack_batch(&run);
        if (!rc && run.info && arg_b(&c->args[3]))
            rc = tpi_lapack_fault(op, &run, a->ndim > 2, "the matrix is singular");
    }
    tp_release(a);
    tp_release(b);
    return rc;
}

static int one_slogdet(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t n = (size_t)w->n, e = (size_t)w->esize;
    int *piv = work, info = 0;
    char *lu = (char *)work + pivots(w->n);
    memcpy(lu, w->a + (size_t)i * n * n * e, n * n * e);
    if (n) w->f.getrf(&w->n, &w->n, lu, &w->n, piv, &info);
    double complex sign = 1;
    double log_abs = 0;
    for (size_t j = 0; j < n; j++) {
        const char *p = lu + (j * n + j) * e;
        double complex d = w->dtype == TP_FLOAT32     ? *(const float *)p
                           : w->dtype == TP_FLOAT64   ? *(const double *)p
                           : w->dtype == TP_COMPLEX64 ? (double complex) * (const float complex *)p
                                                      : *(const double complex *)p;
        double size = cabs(d);
        log_abs += log(size);
        sign *= size == 0 ? 0 : d / size;
        if (piv[j] != (int)j + 1) sign = -sign;
    }
    switch (w->dtype) {
    case TP_FLOAT32:
        ((float *)w->x)[i] = (float)creal(sign);
        ((float *)w->b)[i] = (float)log_abs;
        break;
    case TP_FLOAT64:
        ((double *)w->x)[i] = creal(sign);
        ((double *)w->b)[i] = log_abs;
        break;
    case TP_COMPLEX64:
        ((float complex *)w->x)[i] = (float complex)sign;
        ((float *)w->b)[i] = (float)log_abs;
        break;
    default: ((double complex *)w->x)[i] = sign; ((double *)w->b)[i] = log_abs;
    }
    return 0;
}

int k_lin_slogdet(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]);
    const char *op = "linalg.slogdet";
    int64_t n = a->shape[a->ndim - 1];
    job w = {.n = (int)n, .dtype = a->dtype, .esize = tpi_esize(a->dtype)};
    int rc = tpi_lapack_size(op, n, n);
    if (rc) return rc;
    if (!(w.f.getrf = (getrf_fn *)tpi_lapack(op, a->dtype, "getrf"))) return tp_error_code();
    if (!(a = tpi_dense_contiguous(a))) return tp_error_code();
    if (!(rc = new_out(c, 0, a->dtype, a->ndim - 2, a->shape)) &&
        !(rc = new_out(c, 1, tpi_to_real(a->dtype), a->ndim - 2, a->shape))) {
        w.a = tpi_data(a);
        w.x = tpi_data(c->out[0]);
        w.b = tpi_data(c->out[1]);
        double d = (double)n;
        tpi_lapack_run run = {.count = c->out[0]->numel,
                              .flops = d * (d + 30) * d / 1.5,
                              .work = pivots(n) + (size_t)(n * n) * (size_t)w.esize,
                              .one = one_slogdet,
                              .ctx = &w};
        rc = tpi_lapack_batch(&run);
    }
    tp_release(a);
    return rc;
}
