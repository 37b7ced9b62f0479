/* Matrix products of dense tensors, for the kernels of linear algebra and convolutions. Internal. */
#ifndef TPI_KERNELS_MATMUL_H
#define TPI_KERNELS_MATMUL_H

#include "tensor/tensor.h"

/* Row-major c[m, n] (+)= op(a)[m, k] op(b)[k, n] as in core/blas.h, of any dtype but bool and the 16-bit floats. */
int tpi_gemm(int dtype, char op_a, char op_b, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
             const void *b, int64_t ldb, bool accumulate, void *c, int64_t ldc);

/* How BLAS is told of a [rows, cols] matrix with these strides; false: it has to be copied. */
bool tpi_gemm_layout(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride, char *op, int64_t *ld);

/* n products c = a b, one from each place of three walks over the same dimensions (strides in elements, 0 repeats). */
typedef struct tpi_gemm_stack {
    int dtype;
    char op_a, op_b;
    int64_t m, n, k, lda, ldb;
    const char *a, *b;
    char *c;                       /* contiguous matrices, one behind the other */
    int ndim;
    int64_t shape[TP_MAX_NDIM], sa[TP_MAX_NDIM], sb[TP_MAX_NDIM];
} tpi_gemm_stack;
int tpi_gemm_run(tpi_gemm_stack *s);

/* c[i, j] = a[i] * b[j] for stacks of one-column a and one-row b. */
void tpi_outer_f32(int64_t rows, int64_t cols, const float *a, int64_t a_step, const float *b, float *c, bool stream);
void tpi_outer_f64(int64_t rows, int64_t cols, const double *a, int64_t a_step, const double *b, double *c,
                   bool stream);

#endif
