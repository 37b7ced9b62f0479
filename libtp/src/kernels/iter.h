/* NOTE: the iterator
 *
 * A kernel is a plain inner loop over n elements of an output and its inputs, each given by a pointer and a stride
 * in bytes (0: the same element again). The iterator brings the operands to the broadcast shape, drops dimensions
 * of size one, orders the rest by stride, merges those that lie next to each other in every operand, hands the loop
 * the innermost one, and cuts large work over the thread pool. Contiguous operands and scalars, which is nearly
 * every call, become one loop call without any of that. Nothing is allocated but the output. */
#ifndef TPI_KERNELS_ITER_H
#define TPI_KERNELS_ITER_H

#include "tensor/tensor.h"

#define TPI_ITER_OPS 6           /* the output and up to five inputs */
#define TPI_ITER_GRAIN 32768     /* elements a thread should have at least */

/* ptr and stride are read only; ptr[0] is the output. Runs on any thread, must not fail: report through ctx. */
typedef void (*tpi_loop)(int64_t n, char **ptr, const int64_t *stride, void *ctx);

/* out = loop(in...) with broadcasting over dense inputs. *out NULL: a new contiguous tensor of out_dtype. Otherwise
 * written in place: *out must be writable and of the broadcast shape; where it overlaps an input other than element
 * by element, or has another dtype, the result is computed beside it and copied; its version is bumped. */
int tpi_map(const char *op, tp_tensor **out, int out_dtype, int nin, tp_tensor *const *in, tpi_loop loop, void *ctx);

/* The same for raw memory: operand k (0: output) begins at ptr[k] and has stride[k][d] bytes along dimension d. */
void tpi_iterate(int nops, char *const *ptr, int ndim, const int64_t *shape, const int64_t *const *stride,
                 tpi_loop loop, void *ctx);

/* Drops, orders and merges dimensions in place (innermost first on return) and returns their number; 0 dimensions
 * is one element. stride[k] has room for ndim entries. Innermost is the one with the smallest steps in operand 0. */
int tpi_iter_fold(int nops, int ndim, int64_t *shape, int64_t (*stride)[TP_MAX_NDIM]);

/* Contiguity of a dense tensor, inline. */
static inline bool tpi_dense_is_contiguous(const tp_tensor *t)
{
    int64_t expected = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (t->shape[d] != 1 && t->strides[d] != expected) return t->numel == 0;
        expected *= t->shape[d];
    }
    return true;
}

#endif
