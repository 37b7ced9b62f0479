/* Determinants and their derivatives, without a division by what may be zero.
 *
 * NOTE: derivatives of a determinant
 * The k-th derivative of det at A in directions E1 ... Ek is tr(M Ek), M a polynomial in A, linear in E1 ... E(k-1):
 * M0 = adj(A), M1(E), M2(E, F). With A = P^T L D U Q^T (complete pivoting, L and U unit triangles, D diagonal) the
 * directions become E' = L^-1 P E Q U^-1, and of D alone the derivatives are sums of minors: products of the diagonal
 * that leave out one, two or three entries. Those exist, and are exact, where D has zeros. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "dispatch/op.h"
#include "kernels/kernels.h"
#include "kernels/lapack.h"
#include "kernels/linalg_elimination.h"
#include "kernels/shape.h"

typedef void getrf_fn(const int *, const int *, void *, const int *, int *, int *);

typedef struct job {
    getrf_fn *getrf;
    int n, dtype, esize, directions;
    const char *a, *e, *f;
    char *out;
} job;

/* Bytes of a list of n places, rounded up so that what follows is aligned. */
static size_t pivots(int64_t n) { return ((size_t)n * sizeof(int) + 63) & ~(size_t)63; }

/* Everything is computed in double precision. */
static void widen(int dtype, const char *src, int64_t n, void *dst)
{
    tpi_convert(n, src, dtype, dst, tpi_is_complex(dtype) ? TP_COMPLEX128 : TP_FLOAT64);
}

static void narrow(int dtype, const void *src, int64_t n, char *dst)
{
    tpi_convert(n, src, tpi_is_complex(dtype) ? TP_COMPLEX128 : TP_FLOAT64, dst, dtype);
}

#define ELEM double
#define SIZE(x) fabs(x)
#define NAME(x) x##_real
#include "kernels/linalg_minors.h"
#undef ELEM
#undef SIZE
#undef NAME
#define ELEM double complex
#define SIZE(x) (fabs(creal(x)) + fabs(cimag(x)))
#define NAME(x) x##_complex
#include "kernels/linalg_minors.h"

/* ---- the determinant ---- */

static int one_det(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    size_t n = (size_t)w->n, e = (size_t)w->esize;
    int *piv = work, info = 0;
    char *lu = (char *)work + pivots(w->n);
    double complex det = 1;
    bool small = n <= TPI_SMALL_MATRIX;
    memcpy(lu, w->a + i * (int64_t)(n * n * e), n * n * e);
    if (small) {
        int swaps;
        tpi_small_lu(w->dtype, w->n, 0, lu, NULL, &swaps);
        if (swaps % 2) det = -1;
    } else w->getrf(&w->n, &w->n, lu, &w->n, piv, &info);
    for (size_t j = 0; j < n; j++) {
        const char *p = lu + (j * n + j) * e;
        double complex d = w->dtype == TP_FLOAT32     ? *(const float *)p
                           : w->dtype == TP_FLOAT64   ? *(const double *)p
                           : w->dtype == TP_COMPLEX64 ? (double complex) * (const float complex *)p
                                                      : *(const double complex *)p;
        if (tpi_is_complex(w->dtype)) det *= d;
        else det = creal(det) * creal(d); /* a complex product would make NaN of infinities */
        if (!small && piv[j] != (int)j + 1) det = -det;
    }
    if (tpi_is_complex(w->dtype)) narrow(w->dtype, &det, 1, w->out + i * w->esize);
    else narrow(w->dtype, &(double){creal(det)}, 1, w->out + i * w->esize);
    return 0;
}

int k_lin_det(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]);
    int64_t n = a->shape[a->ndim - 1];
    job w = {.n = (int)n, .dtype = a->dtype, .esize = tpi_esize(a->dtype)};
    int rc = tpi_lapack_size("linalg.det", n, n);
    if (rc) return rc;
    if (!(w.getrf = (getrf_fn *)tpi_lapack("linalg.det", a->dtype, "getrf"))) return tp_error_code();
    if (!(a = tpi_dense_contiguous(a))) return tp_error_code();
    if (!(rc = tpi_set_out(c, 0, tpi_empty(a->dtype, a->ndim - 2, a->shape)))) {
        w.a = tpi_data(a);
        w.out = tpi_data(c->out[0]);
        double d = (double)n;
        tpi_lapack_run run = {.count = c->out[0]->numel,
                              .flops = d * (d + 30) * d / 1.5,
                              .work = pivots(n) + (size_t)(n * n * w.esize),
                              .one = one_det,
                              .ctx = &w};
        rc = tpi_lapack_batch(&run);
    }
    tp_release(a);
    return rc;
}

/* ---- its derivatives ---- */

static int one_minors(int64_t i, void *work, void *ctx)
{
    const job *w = ctx;
    if (tpi_is_complex(w->dtype)) minors_complex(w, i, work);
    else minors_real(w, i, work);
    return 0;
}

static int minors(tp_call *c, int directions)
{
    tp_tensor *t[3] = {NULL};
    int64_t n = arg_t(&c->args[0])->shape[arg_t(&c->args[0])->ndim - 1];
    int rc = tpi_lapack_size("linalg.det", n, n);
    if (!rc && !tpi_lapack("linalg.det", arg_t(&c->args[0])->dtype, "getrf")) rc = tp_error_code(); /* for the batch */
    for (int k = 0; k <= directions && !rc; k++)
        if (!(t[k] = tpi_dense_contiguous(arg_t(&c->args[k])))) rc = tp_error_code();
    if (!rc && !(rc = tpi_set_out(c, 0, tpi_empty(t[0]->dtype, t[0]->ndim, t[0]->shape)))) {
        job w = {.n = (int)n, .dtype = t[0]->dtype, .esize = tpi_esize(t[0]->dtype), .directions = directions};
        w.a = tpi_data(t[0]);
        w.e = directions > 0 ? tpi_data(t[1]) : NULL;
        w.f = directions > 1 ? tpi_data(t[2]) : NULL;
        w.out = tpi_data(c->out[0]);
        double d = (double)n;
        size_t wide = tpi_is_complex(w.dtype) ? sizeof(double complex) : sizeof(double);
        tpi_lapack_run run = {.count = tpi_lapack_count(t[0], 2),
                              .flops = d * d * (d + 10) * (2 + 2 * directions),
                              .work = 2 * pivots(n) + wide * (size_t)((4 + directions) * n * n + 2 * n),
                              .one = one_minors,
                              .ctx = &w};
        rc = tpi_lapack_batch(&run);
    }
    for (int k = 0; k < 3; k++) tp_release(t[k]);
    return rc;
}

int k_lin_adj(tp_call *c) { return minors(c, 0); }
int k_lin_adj1(tp_call *c) { return minors(c, 1); }
int k_lin_adj2(tp_call *c) { return minors(c, 2); }
