/* Eigenvalues and singular values over LAPACK, in column-major work space: read by rows a matrix would be transposed,
 * and the signs of its vectors other than those that users of NumPy and PyTorch know. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "dispatch/op.h"
#include "kernels/kernels.h"
#include "kernels/lapack.h"
#include "kernels/linalg_small.h"
#include "kernels/shape.h"

typedef void syevd_fn(const char *, const char *, const int *, void *, const int *, void *, void *, const int *, int *,
                      const int *, int *, size_t, size_t);
typedef void heevd_fn(const char *, const char *, const int *, void *, const int *, void *, void *, const int *, void *,
                      const int *, int *, const int *, int *, size_t, size_t);
typedef void gesdd_fn(const char *, const int *, const int *, void *, const int *, void *, void *, const int *, void *,
                      const int *, void *, const int *, int *, int *, size_t);
typedef void zgesdd_fn(const char *, const int *, const int *, void *, const int *, void *, void *, const int *, void *,
                       const int *, void *, const int *, void *, int *, int *, size_t);
typedef void geev_fn(const char *, const char *, const int *, void *, const int *, void *, void *, void *, const int *,
                     void *, const int *, void *, const int *, int *, size_t, size_t);
typedef void zgeev_fn(const char *, const char *, const int *, void *, const int *, void *, void *, const int *, void *,
                      const int *, void *, const int *, void *, int *, size_t, size_t);

#define NOT_FINITE 1000000000 /* beyond any info of LAPACK's */

typedef struct job {
    void *f;
    int m, n, k, dtype, esize, rsize, lwork, lrwork, liwork;
    bool vectors, full, is_complex;
    const char *a;
    char *w, *u, *v; /* values; vectors, or U; V^H */
} job;

static size_t up(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

/* LAPACK may not return from matrices with NaN or infinities. */
static bool all_finite(const job *w, const void *p, size_t n)
{
    double sum = 0; /* of zeros, or of NaN */
    if (w->is_complex) n *= 2;
    if (w->rsize == 4)
        for (size_t i = 0; i < n; i++) sum += 0 * ((const float *)p)[i];
    else
        for (size_t i = 0; i < n; i++) sum += 0 * ((const double *)p)[i];
    return sum == 0;
}

static int fault(const char *op, const tpi_lapack_run *run, bool batched)
{
    return tpi_lapack_fault(op, run, batched,
                            run->info == NOT_FINITE ? "the matrix has elements that are not finite"
                                                    : "the algorithm did not converge");
}

/* The answer to a query of work space. */
static int answer(const job *w, const void *p)
{
    return (int)(w->rsize == 4 ? (double)*(const float *)p : *(const double *)p);
}

/* ---- Hermitian ---- */

static int eigh_call(const job *w, void *a, void *values, void *work, int lwork, void *rwork, int lrwork, int *iwork,
                     int liwork)
{
    const char *jobz = w->vectors ? "V" : "N";
    int info = 0;
    if (w->is_complex)
        ((heevd_fn *)w->f)(jobz, "L", &w->n, a, &w->n, values, work, &lwork, rwork, &lrwork, iwork, &liwork, &info, 1,
                           1);
    else ((syevd_fn *)w->f)(jobz, "L", &w->n, a, &w->n, values, work, &lwork, iwork, &liwork, &info, 1, 1);
    return info;
}

/* From the lower triangle of a, column by column; float32 in double precision too. */
static bool small_eigh(const job *w, const void *a, int64_t at)
{
    double s[TPI_SMALL_EIGH * TPI_SMALL_EIGH], v[TPI_SMALL_EIGH * TPI_SMALL_EIGH], values[TPI_SMALL_EIGH];
    const int n = w->n;
    const int64_t first = at * n;
    bool single = w->rsize == 4;
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
            s[i * n + j] = s[j * n + i] = single ? (double)((const float *)a)[j * n + i]
                                                 : ((const double *)a)[j * n + i];
    if (!tpi_small_eigh(n, s, values, w->vectors ? v : NULL, single ? 0x1p-30 : 0x1p-53)) return false;
    for (int i = 0; i < n; i++) {
        if (single) ((float *)w->w)[first + i] = (float)values[i];
        else ((double *)w->w)[first + i] = values[i];
        for (int j = 0; w->vectors && j < n; j++) {
            if (single) ((float *)w->u)[(first + i) * n + j] = (float)v[j * n + i];
            else ((double *)w->u)[(first + i) * n + j] = v[j * n + i];
        }
    }
    return true;
}

static int one_eigh(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t n = (size_t)w->n, e = (size_t)w->esize, square = n * n * e;
    char *a = work, *scratch = a + up(square), *rwork = scratch + up((size_t)w->lwork * e);
    int *iwork = (int *)(rwork + up((size_t)w->lrwork * (size_t)w->rsize)), info = 0;
    tpi_lapack_turn(w->a + (size_t)i * square, a, w->n, w->n, w->esize);
    for (size_t j = 0; j < n; j++) memset(a + j * n * e, 0, j * e); /* not read, and not to be anything either */
    if (!all_finite(w, a, n * n)) return NOT_FINITE;
    if (!w->is_complex && n && n <= TPI_SMALL_EIGH && small_eigh(w, a, i)) return 0;
    if (n)
        info = eigh_call(w, a, w->w + (size_t)i * n * (size_t)w->rsize, scratch, w->lwork, rwork, w->lrwork, iwork,
                         w->liwork);
    if (!w->vectors || info) return info;
    tpi_lapack_turn(a, w->u + (size_t)i * square, w->n, w->n, w->esize);
    return info;
}

static job new_job(const tp_tensor *a)
{
    int real = tpi_to_real(a->dtype);
    return (job){.m = (int)a->shape[a->ndim - 2],
                 .n = (int)a->shape[a->ndim - 1],
                 .dtype = a->dtype,
                 .esize = tpi_esize(a->dtype),
                 .rsize = tpi_esize(real),
                 .is_complex = real != a->dtype};
}

static int eigh(tp_call *c, bool vectors)
{
    tp_tensor *a = arg_t(&c->args[0]);
    const char *op = c->args[1].v.str;
    job w = new_job(a);
    int rc = tpi_lapack_size(op, (int64_t)w.n * w.n, w.n);
    if (rc) return rc;
    w.vectors = vectors;
    if (!(w.f = tpi_lapack_pair(op, a->dtype, "syevd", "heevd"))) return tp_error_code();
    if (w.n) {
        double query[2] = {0}, values[2], rquery[2] = {0};
        int iquery[2] = {0};
        eigh_call(&w, values, values, query, -1, rquery, -1, iquery, -1);
        w.lwork = answer(&w, query) + 8;
        w.lrwork = w.is_complex ? answer(&w, rquery) + 8 : 0;
        w.liwork = iquery[0] + 8;
    }
    if (!(a = tpi_dense_contiguous(a))) return tp_error_code();
    rc = tpi_set_out(c, 0, tpi_empty(tpi_to_real(a->dtype), a->ndim - 1, a->shape));
    if (!rc && vectors) rc = tpi_set_out(c, 1, tpi_empty(a->dtype, a->ndim, a->shape));
    if (!rc) {
        w.a = tpi_data(a);
        w.w = tpi_data(c->out[0]);
        w.u = vectors ? tpi_data(c->out[1]) : NULL;
        double d = (double)w.n;
        size_t e = (size_t)w.esize;
        tpi_lapack_run run = {.count = tpi_lapack_count(a, 2),
                              .flops = d * d * (d + 30) * (vectors ? 9 : 2),
                              .work = up((size_t)w.n * (size_t)w.n * e) + up((size_t)w.lwork * e) +
                                      up((size_t)w.lrwork * (size_t)w.rsize) + (size_t)w.liwork * sizeof(int),
                              .one = one_eigh,
                              .ctx = &w};
        rc = tpi_lapack_batch(&run);
        if (!rc && run.info) rc = fault(op, &run, a->ndim > 2);
    }
    tp_release(a);
    return rc;
}

int k_lin_eigh(tp_call *c) { return eigh(c, true); }
int k_lin_eigvalsh(tp_call *c) { return eigh(c, false); }

/* ---- singular values ---- */

static int svd_call(const job *w, void *a, void *s, void *u, void *v, void *work, int lwork, void *rwork, int *iwork)
{
    const char *jobz = !w->vectors ? "N" : w->full ? "A" : "S";
    const int one = 1, ldu = w->m > 0 ? w->m : one, rows = w->full ? w->n : w->k, ldv = rows > 0 ? rows : one;
    int info = 0;
    if (w->is_complex)
        ((zgesdd_fn *)w->f)(jobz, &w->m, &w->n, a, &ldu, s, u, &ldu, v, &ldv, work, &lwork, rwork, iwork, &info, 1);
    else ((gesdd_fn *)w->f)(jobz, &w->m, &w->n, a, &ldu, s, u, &ldu, v, &ldv, work, &lwork, iwork, &info, 1);
    return info;
}

static void identity(const job *w, char *x, int n)
{
    const float complex one_f = 1;
    const double complex one = 1;
    memset(x, 0, (size_t)n * (size_t)n * (size_t)w->esize);
    for (int i = 0; i < n; i++)
        memcpy(x + ((size_t)i * (size_t)n + (size_t)i) * (size_t)w->esize, w->rsize == 4 ? (const void *)&one_f : &one,
               (size_t)w->esize);
}

static int one_svd(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t e = (size_t)w->esize, size = (size_t)w->m * (size_t)w->n * e, k = (size_t)w->k;
    size_t ku = (size_t)(w->full ? w->m : w->k), kv = (size_t)(w->full ? w->n : w->k);
    char *a = work, *u = a + up(size), *v = u + (w->vectors ? up((size_t)w->m * ku * e) : 0);
    char *scratch = v + (w->vectors ? up(kv * (size_t)w->n * e) : 0), *rwork = scratch + up((size_t)w->lwork * e);
    int *iwork = (int *)(rwork + up((size_t)w->lrwork * (size_t)w->rsize)), info;
    char *out_u = w->vectors ? w->u + (size_t)i * (size_t)w->m * ku * e : NULL;
    char *out_v = w->vectors ? w->v + (size_t)i * kv * (size_t)w->n * e : NULL;
    if (!k) { /* LAPACK has nothing to say of empty matrices */
        if (w->vectors && w->full) {
            identity(w, out_u, w->m);
            identity(w, out_v, w->n);
        }
        return 0;
    }
    tpi_lapack_turn(w->a + (size_t)i * size, a, w->m, w->n, w->esize);
    if (!all_finite(w, a, (size_t)w->m * (size_t)w->n)) return NOT_FINITE;
    info = svd_call(w, a, w->w + (size_t)i * k * (size_t)w->rsize, u, v, scratch, w->lwork, rwork, iwork);
    if (w->vectors && !info) {
        tpi_lapack_turn(u, out_u, (int64_t)ku, w->m, w->esize);
        tpi_lapack_turn(v, out_v, w->n, (int64_t)kv, w->esize);
    }
    return info;
}

static int svd(tp_call *c, bool vectors, bool full)
{
    tp_tensor *a = arg_t(&c->args[0]);
    const char *op = c->args[vectors ? 2 : 1].v.str;
    int64_t shape[TPI_DIMS_CAP];
    job w = new_job(a);
    int n = a->ndim, rc = tpi_lapack_size(op, (int64_t)w.m * w.n, w.n);
    if (rc) return rc;
    w.k = w.m < w.n ? w.m : w.n;
    w.vectors = vectors;
    w.full = full;
    if (!(w.f = tpi_lapack(op, a->dtype, "gesdd"))) return tp_error_code();
    int64_t least = w.k, most = w.m > w.n ? w.m : w.n;
    if (w.is_complex)
        w.lrwork = (int)(least *
                         (5 * least + 7 > 2 * most + 2 * least + 1 ? 5 * least + 7 : 2 * most + 2 * least + 1)) +
                   8;
    w.liwork = (int)(8 * least + 8);
    if (least) {
        double query[2] = {0}, values[2];
        int iquery[8];
        svd_call(&w, values, values, values, values, query, -1, values, iquery);
        w.lwork = answer(&w, query) + 8;
    }
    if (!(a = tpi_dense_contiguous(a))) return tp_error_code();
    tpi_copy_dims(shape, a->shape, n);
    shape[n - 2] = w.k;
    rc = tpi_set_out(c, vectors ? 1 : 0, tpi_empty(tpi_to_real(a->dtype), n - 1, shape));
    if (!rc && vectors) {
        shape[n - 2] = w.m;
        shape[n - 1] = full ? w.m : w.k;
        rc = tpi_set_out(c, 0, tpi_empty(a->dtype, n, shape));
        shape[n - 2] = full ? w.n : w.k;
        shape[n - 1] = w.n;
        if (!rc) rc = tpi_set_out(c, 2, tpi_empty(a->dtype, n, shape));
    }
    if (!rc) {
        w.a = tpi_data(a);
        w.w = tpi_data(c->out[vectors ? 1 : 0]);
        w.u = vectors ? tpi_data(c->out[0]) : NULL;
        w.v = vectors ? tpi_data(c->out[2]) : NULL;
        size_t e = (size_t)w.esize, ku = (size_t)(full ? w.m : w.k), kv = (size_t)(full ? w.n : w.k);
        size_t vectors_size = vectors ? up((size_t)w.m * ku * e) + up(kv * (size_t)w.n * e) : 0;
        tpi_lapack_run run = {.count = tpi_lapack_count(a, 2),
                              .flops = (double)w.m * (double)w.n * (double)(w.k + 30) * (vectors ? 20 : 4),
                              .work = up((size_t)w.m * (size_t)w.n * e) + vectors_size + up((size_t)w.lwork * e) +
                                      up((size_t)w.lrwork * (size_t)w.rsize) + (size_t)w.liwork * sizeof(int),
                              .one = one_svd,
                              .ctx = &w};
        rc = tpi_lapack_batch(&run);
        if (!rc && run.info) rc = fault(op, &run, n > 2);
    }
    tp_release(a);
    return rc;
}

int k_lin_svd(tp_call *c) { return svd(c, true, arg_b(&c->args[1])); }
int k_lin_svdvals(tp_call *c) { return svd(c, false, false); }

/* ---- general matrices ---- */

static int eig_call(const job *w, void *a, void *values, void *imag, void *v, void *work, int lwork, void *rwork)
{
    const char *jobv = w->vectors ? "V" : "N";
    int info = 0;
    if (w->is_complex)
        ((zgeev_fn *)w->f)("N", jobv, &w->n, a, &w->n, values, v, &w->n, v, &w->n, work, &lwork, rwork, &info, 1, 1);
    else ((geev_fn *)w->f)("N", jobv, &w->n, a, &w->n, values, imag, v, &w->n, v, &w->n, work, &lwork, &info, 1, 1);
    return info;
}

/* Real matrices have pairs of columns that are real and imaginary part of two conjugate vectors. */
#define UNPAIR(R, C)                                                                \
    do {                                                                            \
        const R *re = (const R *)values, *im = (const R *)imag, *x = (const R *)vr; \
        C *out = (C *)(w->w + (size_t)i * n * 2 * e), *y = (C *)cv;                 \
        for (size_t j = 0; j < n; j++) out[j] = re[j] + im[j] * I;                  \
        for (size_t j = 0; w->vectors && j < n; j++) {                              \
            if (im[j] == 0) {                                                       \
                for (size_t r = 0; r < n; r++) y[r * n + j] = x[j * n + r];         \
                continue;                                                           \
            }                                                                       \
            for (size_t r = 0; r < n; r++) {                                        \
                y[r * n + j] = x[j * n + r] + x[(j + 1) * n + r] * I;               \
                y[r * n + j + 1] = x[j * n + r] - x[(j + 1) * n + r] * I;           \
            }                                                                       \
            j++;                                                                    \
        }                                                                           \
    } while (0)

static int one_eig(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t n = (size_t)w->n, e = (size_t)w->esize, square = n * n * e;
    char *a = work, *vr = a + up(square), *values = vr + up(square), *imag = values + up(n * e);
    char *scratch = imag + up(n * e), *rwork = scratch + up((size_t)w->lwork * e);
    char *cv = w->vectors ? w->u + (size_t)i * n * n * (w->is_complex ? e : 2 * e) : NULL;
    int info = 0;
    tpi_lapack_turn(w->a + (size_t)i * square, a, w->n, w->n, w->esize);
    if (!all_finite(w, a, n * n)) return NOT_FINITE;
    if (n) info = eig_call(w, a, values, imag, vr, scratch, w->lwork, rwork);
    if (info) return info;
    if (w->is_complex) {
        memcpy(w->w + (size_t)i * n * e, values, n * e);
        if (w->vectors) tpi_lapack_turn(vr, cv, w->n, w->n, w->esize);
    } else if (w->dtype == TP_FLOAT32) UNPAIR(float, float complex);
    else UNPAIR(double, double complex);
    return 0;
}

static int eig(tp_call *c, bool vectors)
{
    tp_tensor *a = arg_t(&c->args[0]);
    const char *op = c->args[1].v.str;
    job w = new_job(a);
    int rc = tpi_lapack_size(op, (int64_t)w.n * w.n, w.n), out = tpi_to_complex(a->dtype);
    if (rc) return rc;
    w.vectors = vectors;
    if (!(w.f = tpi_lapack(op, a->dtype, "geev"))) return tp_error_code();
    w.lrwork = w.is_complex ? 2 * w.n + 8 : 0;
    if (w.n) {
        double query[2] = {0}, values[2];
        eig_call(&w, values, values, values, values, query, -1, values);
        w.lwork = answer(&w, query) + 8;
    }
    if (!(a = tpi_dense_contiguous(a))) return tp_error_code();
    rc = tpi_set_out(c, 0, tpi_empty(out, a->ndim - 1, a->shape));
    if (!rc && vectors) rc = tpi_set_out(c, 1, tpi_empty(out, a->ndim, a->shape));
    if (!rc) {
        w.a = tpi_data(a);
        w.w = tpi_data(c->out[0]);
        w.u = vectors ? tpi_data(c->out[1]) : NULL;
        double d = (double)w.n;
        size_t e = (size_t)w.esize, n = (size_t)w.n;
        tpi_lapack_run run = {.count = tpi_lapack_count(a, 2),
                              .flops = d * d * (d + 30) * 25,
                              .work = 2 * up(n * n * e) + 2 * up(n * e) + up((size_t)w.lwork * e) +
                                      (size_t)w.lrwork * (size_t)w.rsize,
                              .one = one_eig,
                              .ctx = &w};
        rc = tpi_lapack_batch(&run);
        if (!rc && run.info) rc = fault(op, &run, a->ndim > 2);
    }
    tp_release(a);
    return rc;
}

int k_lin_eig(tp_call *c) { return eig(c, true); }
int k_lin_eigvals(tp_call *c) { return eig(c, false); }
