/* Checks that kernels and batching rules of the strided and reinterpreting views share. Internal. */
#ifndef TPI_KERNELS_VIEWS_H
#define TPI_KERNELS_VIEWS_H

#include "dispatch/op.h"

/* How many elements of memory a geometry spans: 0 for an empty one, INT64_MAX where that overflows. */
int64_t tpi_extent(int ndim, const int64_t *shape, const int64_t *strides);
int tpi_check_strided(const tp_val *size, const tp_val *stride);
/* view_as_complex: dtype and last dimension; whether the strides allow it. */
int tpi_check_pairs(int dtype, int ndim, const int64_t *shape);
bool tpi_are_pairs(const tp_tensor *t);
int tpi_check_bits(int from, int to, int ndim, const int64_t *shape);

#endif
