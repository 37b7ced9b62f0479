/* Geometry that view kernels, batching rules and composites share. Internal. */
#ifndef TPI_KERNELS_SHAPE_H
#define TPI_KERNELS_SHAPE_H

#include "core/error.h"
#include "dispatch/op.h"

/* Rules see one dimension more than the function does; lists are checked against TP_MAX_NDIM first. */
#define TPI_DIMS_CAP (TP_MAX_NDIM + 4)

/* Stores a new reference in an output, or reports why there is none. */
static inline int tpi_set_out(tp_call *c, int k, tp_tensor *t)
{
    c->out[k] = t;
    return t ? 0 : tp_error_code();
}

static inline void tpi_copy_dims(int64_t *dst, const int64_t *src, int64_t n)
{
    if (n > 0) memcpy(dst, src, (size_t)n * sizeof *dst);
}

/* Number of entries of a size list: within TP_MAX_NDIM. */
int tpi_check_rank(const char *op, int64_t n);
/* dims[0..n) -> distinct dimensions of ndim in out. */
int tpi_wrap_dims(const char *op, const int64_t *dims, int64_t n, int ndim, int *out);
/* The same, and every dimension occurs. */
int tpi_wrap_permutation(const char *op, const int64_t *dims, int64_t n, int ndim, int *out);
/* size with its -1 entries taken from shape; error unless shape broadcasts to it. */
int tpi_expand_size(const char *op, int ndim, const int64_t *shape, const int64_t *size, int64_t n, int64_t *out);
/* Python's clamping of start:end for a dimension of `size` elements; *len: how many are selected. */
int tpi_slice_bounds(const char *op, int64_t size, int64_t step, int64_t *start, int64_t *end, int64_t *len);
/* index in [-size, size) -> [0, size). */
int tpi_wrap_index(const char *op, int64_t index, int dim, int64_t size, int64_t *out);
/* Two different dimensions, start and length of a diagonal: start is (row, column). */
int tpi_diagonal_geometry(const char *op, int ndim, const int64_t *shape, int64_t offset, int64_t dim1, int64_t dim2,
                          int *d1, int *d2, int64_t *row, int64_t *col, int64_t *len);
int tpi_unfold_count(const char *op, int64_t length, int64_t size, int64_t step, int64_t *count);
/* Which of dims have size 1: drop[d]. */
int tpi_squeeze_mask(const char *op, int ndim, const int64_t *shape, const int64_t *dims, int64_t n, bool *drop);

#endif
