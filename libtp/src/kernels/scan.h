/* Lines along one dimension of contiguous tensors. Internal.
 *
 * A contiguous tensor is [outer, n, inner] around the dimension. A body gets a tile: `cols` neighbouring lines that
 * begin at element `first`, their elements `ld` apart. */
#ifndef TPI_KERNELS_SCAN_H
#define TPI_KERNELS_SCAN_H

#include "core/clones.h"
#include "core/error.h"
#include "dispatch/op.h"
#include "kernels/kernels.h"

#define TPI_LINE_TILE 256

typedef struct tpi_lines {
    int64_t n, ld;
    const void *in[2];
    void *out[2];
    int dtype;
    bool flag[2];
    _Atomic int failed;          /* error code of a body */
    void (*tile)(struct tpi_lines *l, int64_t first, int64_t cols);
} tpi_lines;

/* Calls l->tile for all lines of t along dim, on the pool; sets n and ld. Nothing for empty tensors. */
void tpi_for_lines(tpi_lines *l, const tp_tensor *t, int dim, int64_t max_cols);

#endif
