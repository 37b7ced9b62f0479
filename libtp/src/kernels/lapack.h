/* Batches of LAPACK calls. Internal.
 *
 *     dpotrf_fn *f = tpi_lapack("linalg.cholesky", dtype, "potrf");  // "spotrf_", "dpotrf_", "cpotrf_", "zpotrf_"
 *     if (!f) return tp_error_code();
 *     tpi_lapack_run run = {.count = batch, .flops = n * n * n / 3.0, .work = bytes, .one = each, .ctx = &w};
 *     if ((rc = tpi_lapack_batch(&run))) return rc;                        // TP_ERR_MEMORY
 *     if (run.info) return tpi_lapack_fault(op, &run, batched, "the matrix is not positive definite");
 *
 * LAPACK is column-major with 32-bit sizes: memory of a row-major matrix is that of its transpose. tpi_lapack_turn
 * copies from one order to the other. */
#ifndef TPI_KERNELS_LAPACK_H
#define TPI_KERNELS_LAPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/tensor.h"

/* The routine of that name for a dtype, s, d, c or z put in front. NULL with an error that names op: for a dtype
 * without one (TP_ERR_TYPE), where there is no LAPACK (TP_ERR_RUNTIME), without memory. */
void *tpi_lapack(const char *op, int dtype, const char *name);

/* The same with a name of its own for complex dtypes: ("orgqr", "ungqr"). */
void *tpi_lapack_pair(const char *op, int dtype, const char *real, const char *complex_name);

typedef struct tpi_lapack_run {
    int64_t count;   /* matrices */
    double flops;    /* of one matrix, roughly: how the batch is cut */
    size_t work;     /* bytes of scratch memory of one call, 64-byte aligned */
    int (*one)(int64_t i, void *work, void *ctx); /* matrix i; its info, 0 when all is well */
    void *ctx;
    int64_t index;   /* out: the first matrix whose info is not zero, */
    int info;        /* and that info; 0 when there is none */
} tpi_lapack_run;

/* Calls `one` for every matrix, over the thread pool, each range of matrices inside tpi_blas_enter and leave. */
int tpi_lapack_batch(tpi_lapack_run *run);

/* The LinAlgError "op: text", or "op: text (matrix 3 of the batch)". Returns its code. */
int tpi_lapack_fault(const char *op, const tpi_lapack_run *run, bool batched, const char *text);

/* dst[cols, rows] = src[rows, cols] transposed; elements of esize bytes (4, 8, 16), both without gaps. */
void tpi_lapack_turn(const void *src, void *dst, int64_t rows, int64_t cols, int esize);

/* Matrices in the leading dimensions: the product of all but the last `last` sizes. */
static inline int64_t tpi_lapack_count(const tp_tensor *t, int last)
{
    int64_t n = 1;
    for (int i = 0; i < t->ndim - last; i++) n *= t->shape[i];
    return n;
}

/* TP_OK if the sizes fit LAPACK's integers. */
int tpi_lapack_size(const char *op, int64_t m, int64_t n);

#endif
