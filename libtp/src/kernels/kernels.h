/* Entry points of kernels that other parts call directly. All tensors are dense. Internal. */
#ifndef TPI_KERNELS_KERNELS_H
#define TPI_KERNELS_KERNELS_H

#include "tensor/tensor.h"

/* dst = src, element by element, cast to dst's dtype (C conversions; complex to real takes the real part, bool is
 * x != 0, out-of-range values convert without undefined behaviour). Equal shapes, any strides; overlapping memory
 * gives what a copy of src would. Fails on read-only or expanded dst; bumps dst's version. */
int tpi_dense_copy(tp_tensor *dst, tp_tensor *src);

/* Writes v into every element of dst; the same checks. */
int tpi_dense_fill(tp_tensor *dst, const tp_scalar *v);

/* A new contiguous tensor with t's values as dtype. */
tp_tensor *tpi_dense_cast(tp_tensor *t, int dtype);

/* n elements between two dtypes, contiguous. */
void tpi_convert(int64_t n, const void *src, int src_dtype, void *dst, int dst_dtype);

#endif
