/* The conversion between two dtypes as an iterator loop. Internal. */
#ifndef TPI_KERNELS_CAST_H
#define TPI_KERNELS_CAST_H

#include "kernels/iter.h"

enum { TPI_IMAG_NONE = 0, TPI_IMAG_ZERO, TPI_IMAG_CAST };

typedef struct tpi_caster {
    int nsteps, imag, from_half, to_half;
    bool to_double;
    int8_t mid[4];           /* element size between step k and k + 1 */
    tpi_loop step[4];
} tpi_caster;

void tpi_cast_plan(tpi_caster *c, int from, int to);
/* out, in; ctx is a tpi_caster. */
void tpi_cast_loop(int64_t n, char **ptr, const int64_t *stride, void *ctx);

#endif
