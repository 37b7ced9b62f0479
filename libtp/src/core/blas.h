/* NOTE: BLAS.
 *
 * OpenBLAS is loaded by the first product large enough to need it (TP_BLAS of the environment, the copy
 * beside libtp, the system's), with one thread: large products are cut into panels here and run over
 * tpi_parallel_for, each panel a single-threaded call. There is nothing to schedule inside BLAS, so
 * nothing can deadlock. A system OpenBLAS that somebody else has already loaded keeps its own thread
 * count and is called whole. Without any library the kernels of gemm.c do the work.
 *
 * OpenBLAS exits the process when it can't map a work buffer. It keeps one buffer for each call that
 * runs at the same time, so a call that would need one more than ever before first makes sure that a
 * mapping of that size can be had, and fails with TP_ERR_MEMORY where it can't. */
#ifndef TPI_CORE_BLAS_H
#define TPI_CORE_BLAS_H

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

/* Row-major c[m, n] = op(a)[m, k] @ op(b)[k, n], added to c if accumulate, else replacing it (whatever c
 * held). op: 'N' as it is, 'T' transposed, 'C' transposed and conjugated, 'R' conjugated. For 'N' and 'R'
 * a is [m, k] with row stride lda, for 'T' and 'C' it is [k, m]; b likewise. Sizes may be 0; strides
 * are counted in elements, at least as large as the row, which is contiguous. c must not overlap a or b.
 * Returns TP_OK or TP_ERR_MEMORY, in which case c may have been partly written. */
int tpi_gemm_f32(char op_a, char op_b, int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, const float *b,
                 int64_t ldb, bool accumulate, float *c, int64_t ldc);
int tpi_gemm_f64(char op_a, char op_b, int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b,
                 int64_t ldb, bool accumulate, double *c, int64_t ldc);
int tpi_gemm_c64(char op_a, char op_b, int64_t m, int64_t n, int64_t k, const float complex *a, int64_t lda,
                 const float complex *b, int64_t ldb, bool accumulate, float complex *c, int64_t ldc);
int tpi_gemm_c128(char op_a, char op_b, int64_t m, int64_t n, int64_t k, const double complex *a, int64_t lda,
                  const double complex *b, int64_t ldb, bool accumulate, double complex *c, int64_t ldc);

/* The same through libtp's own kernels only, in the calling thread: what small products, batches of
 * them and builds without BLAS use. Needs no BLAS and never loads one. */
int tpi_gemm_own_f32(char op_a, char op_b, int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, const float *b,
                     int64_t ldb, bool accumulate, float *c, int64_t ldc);
int tpi_gemm_own_f64(char op_a, char op_b, int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                     const double *b, int64_t ldb, bool accumulate, double *c, int64_t ldc);
int tpi_gemm_own_c64(char op_a, char op_b, int64_t m, int64_t n, int64_t k, const float complex *a, int64_t lda,
                     const float complex *b, int64_t ldb, bool accumulate, float complex *c, int64_t ldc);
int tpi_gemm_own_c128(char op_a, char op_b, int64_t m, int64_t n, int64_t k, const double complex *a, int64_t lda,
                      const double complex *b, int64_t ldb, bool accumulate, double complex *c, int64_t ldc);

/* Every call of a symbol from tpi_lapack_symbol stands between these. enter returns TP_OK (then leave
 * must follow, in the same thread) or TP_ERR_MEMORY. */
int tpi_blas_enter(void);
void tpi_blas_leave(void);

/* The LAPACK or BLAS routine of that Fortran name ("dpotrf_"; integers are 32 bits), or NULL where there
 * is no BLAS (no error set) or no memory to load it (TP_ERR_MEMORY set). */
void *tpi_lapack_symbol(const char *name);

#endif
