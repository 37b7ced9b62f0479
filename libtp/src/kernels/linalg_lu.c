/* LU, LDL^T, Householder QR as LAPACK stores it, and least squares, in column-major work space. */
#include <complex.h>
#include <string.h>

#include "core/error.h"
#include "dispatch/op.h"
#include "kernels/kernels.h"
#include "kernels/lapack.h"
#include "kernels/shape.h"

typedef void getrf_fn(const int *, const int *, void *, const int *, int *, int *);
typedef void sytrf_fn(const char *, const int *, void *, const int *, int *, void *, const int *, int *, size_t);
typedef void sytrs_fn(const char *, const int *, const int *, const void *, const int *, const int *, void *,
                      const int *, int *, size_t);
typedef void geqrf_fn(const int *, const int *, void *, const int *, void *, void *, const int *, int *);

typedef struct job {
    void *f;
    int m, n, k, dtype, esize, lwork;
    bool pivot;
    const char *a, *b;
    const int32_t *piv;
    char *x, *y;
    int32_t *pivots, *info;
    int64_t *perm;
} job;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The rows that a list of exchanges, counted from 1, puts in each place. */
static void permutation(int64_t m, int64_t k, const int32_t *pivots, int64_t *perm)
{
    for (int64_t i = 0; i < m; i++) perm[i] = i;
    for (int64_t i = 0; i < k; i++) {
        int64_t j = pivots[i] - 1, t = perm[i];
        if (j < 0 || j >= m) continue; /* lists that no factorisation made */
        perm[i] = perm[j];
        perm[j] = t;
    }
}

int k_lin_perm(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int64_t shape[TPI_DIMS_CAP], m = arg_i(&c->args[1]);
    if (!(t = tpi_dense_contiguous(t))) return tp_error_code();
    int64_t k = t->shape[t->ndim - 1];
    tpi_copy_dims(shape, t->shape, t->ndim);
    shape[t->ndim - 1] = m;
    int rc = tpi_set_out(c, 0, tpi_empty(TP_INT64, t->ndim, shape));
    for (int64_t i = 0; !rc && i < tpi_lapack_count(t, 1); i++)
        permutation(m, least(k, m), (const int32_t *)tpi_data(t) + i * k, (int64_t *)tpi_data(c->out[0]) + i * m);
    tp_release(t);
    return rc;
}

/* ---- LU ---- */

/* Without exchanges of rows, in the order of Gauss. */
#define PLAIN_LU(T)                                                                   \
    do {                                                                              \
        T *a = (T *)x;                                                                \
        for (int64_t p = 0; p < least(m, n); p++) {                                   \
            if (a[p * n + p] == 0) {                                                  \
                if (!info) info = (int)p + 1;                                         \
                continue;                                                             \
            }                                                                         \
            for (int64_t r = p + 1; r < m; r++) {                                     \
                T f = a[r * n + p] /= a[p * n + p];                                   \
                for (int64_t j = p + 1; j < n; j++) a[r * n + j] -= f * a[p * n + j]; \
            }                                                                         \
        }                                                                             \
    } while (0)

static int plain_lu(const job *w, char *x)
{
    int64_t m = w->m, n = w->n;
    int info = 0;
    switch (w->dtype) {
    case TP_FLOAT32: PLAIN_LU(float); break;
    case TP_FLOAT64: PLAIN_LU(double); break;
    case TP_COMPLEX64: PLAIN_LU(float complex); break;
    default: PLAIN_LU(double complex);
    }
    return info;
}

static int one_lu(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t size = (size_t)w->m * (size_t)w->n * (size_t)w->esize;
    char *x = w->x + (size_t)i * size;
    int info = 0;
    int32_t *pivots = w->pivots + i * w->k;
    if (w->pivot) {
        tpi_lapack_turn(w->a + (size_t)i * size, work, w->m, w->n, w->esize);
        if (w->k) ((getrf_fn *)w->f)(&w->m, &w->n, work, &w->m, pivots, &info);
        tpi_lapack_turn(work, x, w->n, w->m, w->esize);
    } else {
        memcpy(x, w->a + (size_t)i * size, size);
        info = plain_lu(w, x);
        for (int j = 0; j < w->k; j++) pivots[j] = j + 1;
    }
    permutation(w->m, w->k, pivots, w->perm + (int64_t)i * w->m);
    w->info[i] = info;
    return info;
}

int k_lin_lu(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]);
    const char *op = c->args[1].v.str;
    int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1], k = least(m, n), shape[TPI_DIMS_CAP];
    job w = {.m = (int)m, .n = (int)n, .k = (int)k, .dtype = a->dtype, .esize = tpi_esize(a->dtype)};
    int rc = tpi_lapack_size(op, m, n);
    if (rc) return rc;
    w.pivot = arg_b(&c->args[2]);
    if (!(w.f = tpi_lapack(op, a->dtype, "getrf"))) return tp_error_code(); /* batches run inside of BLAS */
    if (!(a = tpi_dense_contiguous(a))) return tp_error_code();
    tpi_copy_dims(shape, a->shape, a->ndim);
    rc = tpi_set_out(c, 0, tpi_empty(a->dtype, a->ndim, shape));
    shape[a->ndim - 2] = k;
    if (!rc) rc = tpi_set_out(c, 1, tpi_empty(TP_INT32, a->ndim - 1, shape));
    if (!rc) rc = tpi_set_out(c, 2, tpi_empty(TP_INT64, a->ndim - 1, a->shape));
    if (!rc) rc = tpi_set_out(c, 3, tpi_empty(TP_INT32, a->ndim - 2, a->shape));
    if (!rc) {
        w.a = tpi_data(a);
        w.x = tpi_data(c->out[0]);
        w.pivots = tpi_data(c->out[1]);
        w.perm = tpi_data(c->out[2]);
        w.info = tpi_data(c->out[3]);
        tpi_lapack_run run = {.count = c->out[3]->numel,
                              .flops = (double)m * (double)n * (double)(k + 30) / 1.5,
                              .work = (size_t)(m * n * w.esize),
                              .one = one_lu,
                              .ctx = &w};
        rc = tpi_lapack_batch(&run);
        if (!rc && run.info && arg_b(&c->args[3]))
            rc = tpi_lapack_fault(op, &run, a->ndim > 2, "a pivot is zero: the matrix is singular");
    }
    tp_release(a);
    return rc;
}

/* ---- LDL^T ---- */

static int one_ldl(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t n = (size_t)w->n, size = n * n * (size_t)w->esize;
    char *x = w->x + (size_t)i * size, *scratch = (char *)work + size;
    int info = 0;
    tpi_lapack_turn(w->a + (size_t)i * size, work, w->n, w->n, w->esize);
    if (n) ((sytrf_fn *)w->f)("L", &w->n, work, &w->n, w->pivots + i * w->n, scratch, &w->lwork, &info, 1);
    for (size_t r = 0; r < n; r++) /* what lies above the diagonal was not read */
        memset((char *)work + r * n * (size_t)w->esize, 0, r * (size_t)w->esize);
    tpi_lapack_turn(work, x, w->n, w->n, w->esize);
    w->info[i] = info;
    return info;
}

/* The routine for symmetric matrices, or for Hermitian ones. */
static void *symmetric(const char *op, int dtype, bool hermitian, const char *sy, const char *he)
{
    return hermitian ? tpi_lapack_pair(op, dtype, sy, he) : tpi_lapack(op, dtype, sy);
}

int k_lin_ldl(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]);
    const char *op = c->args[1].v.str;
    int64_t n = a->shape[a->ndim - 1];
    job w = {.n = (int)n, .dtype = a->dtype, .esize = tpi_esize(a->dtype), .lwork = (int)n * 64 + 64};
    int rc = tpi_lapack_size(op, n, n * 64 + 64);
    if (rc) return rc;
    if (!(w.f = symmetric(op, a->dtype, arg_b(&c->args[2]), "sytrf", "hetrf"))) return tp_error_code();
    if (!(a = tpi_dense_contiguous(a))) return tp_error_code();
    rc = tpi_set_out(c, 0, tpi_empty(a->dtype, a->ndim, a->shape));
    if (!rc) rc = tpi_set_out(c, 1, tpi_empty(TP_INT32, a->ndim - 1, a->shape));
    if (!rc) rc = tpi_set_out(c, 2, tpi_empty(TP_INT32, a->ndim - 2, a->shape));
    if (!rc) {
        w.a = tpi_data(a);
        w.x = tpi_data(c->out[0]);
        w.pivots = tpi_data(c->out[1]);
        w.info = tpi_data(c->out[2]);
        double d = (double)n;
        tpi_lapack_run run = {.count = c->out[2]->numel,
                              .flops = d * d * (d + 30) / 3,
                              .work = (size_t)(n * n + w.lwork) * (size_t)w.esize,
                              .one = one_ldl,
                              .ctx = &w};
        rc = tpi_lapack_batch(&run);
        if (!rc && run.info && arg_b(&c->args[3]))
            rc = tpi_lapack_fault(op, &run, a->ndim > 2, "the matrix is singular");
    }
    tp_release(a);
    return rc;
}

static int one_ldl_solve(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t n = (size_t)w->n, k = (size_t)w->k, e = (size_t)w->esize;
    char *b = (char *)work + n * n * e;
    int info = 0;
    tpi_lapack_turn(w->a + (size_t)i * n * n * e, work, w->n, w->n, w->esize);
    tpi_lapack_turn(w->b + (size_t)i * n * k * e, b, w->n, w->k, w->esize);
    if (n && k) ((sytrs_fn *)w->f)("L", &w->n, &w->k, work, &w->n, w->piv + i * w->n, b, &w->n, &info, 1);
    tpi_lapack_turn(b, w->x + (size_t)i * n * k * e, w->k, w->n, w->esize);
    return info;
}

int k_lin_ldl_solve(tp_call *c)
{
    tp_tensor *t[3] = {NULL};
    const char *op = "linalg.ldl_solve";
    tp_tensor *a = arg_t(&c->args[0]);
    int64_t n = a->shape[a->ndim - 1], k = arg_t(&c->args[2])->shape[a->ndim - 1];
    job w = {.n = (int)n, .k = (int)k, .dtype = a->dtype, .esize = tpi_esize(a->dtype)};
    int rc = tpi_lapack_size(op, n, k);
    if (rc) return rc;
    if (!(w.f = symmetric(op, a->dtype, arg_b(&c->args[3]), "sytrs", "hetrs"))) return tp_error_code();
    for (int j = 0; j < 3 && !rc; j++)
        if (!(t[j] = tpi_dense_contiguous(arg_t(&c->args[j])))) rc = tp_error_code();
    if (!rc) {
        /* LAPACK follows the exchanges wherever they point. */
        const int32_t *p = tpi_data(t[1]);
        for (int64_t i = 0; i < t[1]->numel; i++)
            if (p[i] == 0 || p[i] > n || p[i] < -n) {
                rc = tpi_fail(TP_ERR_RUNTIME, "%s: pivots must lie between 1 and %lld, got %d", op, (long long)n, p[i]);
                break;
            }
    }
    if (!rc && !(rc = tpi_set_out(c, 0, tpi_empty(a->dtype, t[2]->ndim, t[2]->shape)))) {
        w.a = tpi_data(t[0]);
        w.piv = tpi_data(t[1]);
        w.b = tpi_data(t[2]);
        w.x = tpi_data(c->out[0]);
        double d = (double)n;
        tpi_lapack_run run = {.count = tpi_lapack_count(t[2], 2),
                              .flops = d * (d + 30) * (double)(k + 1) * 2,
                              .work = (size_t)(n * n + n * k) * (size_t)w.esize,
                              .one = one_ldl_solve,
                              .ctx = &w};
        rc = tpi_lapack_batch(&run);
    }
    for (int j = 0; j < 3; j++) tp_release(t[j]);
    return rc;
}

/* ---- geqrf ---- */

static int one_geqrf(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t e = (size_t)w->esize, size = (size_t)w->m * (size_t)w->n * e;
    int info = 0;
    tpi_lapack_turn(w->a + (size_t)i * size, work, w->m, w->n, w->esize);
    if (w->k)
        ((geqrf_fn *)w->f)(&w->m, &w->n, work, &w->m, w->y + (size_t)i * (size_t)w->k * e, (char *)work + size,
                           &w->lwork, &info);
    tpi_lapack_turn(work, w->x + (size_t)i * size, w->n, w->m, w->esize);
    return info;
}

int k_lin_geqrf(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]);
    int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1], k = least(m, n), shape[TPI_DIMS_CAP];
    job w = {.m = (int)m, .n = (int)n, .k = (int)k, .esize = tpi_esize(a->dtype), .lwork = (int)n * 32 + 32};
    int rc = tpi_lapack_size("geqrf", m, n * 32 + 32);
    if (rc) return rc;
    if (!(w.f = tpi_lapack("geqrf", a->dtype, "geqrf"))) return tp_error_code();
    if (!(a = tpi_dense_contiguous(a))) return tp_error_code();
    tpi_copy_dims(shape, a->shape, a->ndim);
    shape[a->ndim - 2] = k;
    rc = tpi_set_out(c, 0, tpi_empty(a->dtype, a->ndim, a->shape));
    if (!rc) rc = tpi_set_out(c, 1, tpi_empty(a->dtype, a->ndim - 1, shape));
    if (!rc) {
        w.a = tpi_data(a);
        w.x = tpi_data(c->out[0]);
        w.y = tpi_data(c->out[1]);
        tpi_lapack_run run = {.count = tpi_lapack_count(a, 2),
                              .flops = (double)m * (double)n * (double)(k + 30) * 2,
                              .work = (size_t)(m * n + w.lwork) * (size_t)w.esize,
                              .one = one_geqrf,
                              .ctx = &w};
        rc = tpi_lapack_batch(&run);
    }
    tp_release(a);
    return rc;
}
