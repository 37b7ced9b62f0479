/* Windows as columns. Internal. */
#ifndef TPI_KERNELS_CONV_COLUMNS_H
#define TPI_KERNELS_CONV_COLUMNS_H

#include "kernels/conv.h"

/* cols[(channel, tap)][(row, column)] of output rows [row0, row1), counted over the two outer dimensions; ld elements
 * from one tap to the next. x: the first of the channels, xc elements apart. */
void tpi_conv_columns(const tpi_conv *c, int64_t channels, int64_t row0, int64_t row1, const void *x, void *cols,
                      int64_t ld);
/* The same transposed, for whole images: rows[(row, column)][(channel, tap)]; ld elements from one position to the
 * next. Better where rows of the image are shorter than vectors. */
void tpi_conv_rows(const tpi_conv *c, int64_t channels, const void *x, void *rows, int64_t ld);
/* The adjoint: what the columns hold is added where it was read. */
void tpi_conv_add_columns(const tpi_conv *c, int64_t channels, int64_t row0, int64_t row1, const void *cols, int64_t ld,
                          void *x);

#endif
