/* LU of small matrices, where a call of LAPACK costs more than the arithmetic. Internal. */
#ifndef TPI_KERNELS_LINALG_ELIMINATION_H
#define TPI_KERNELS_LINALG_ELIMINATION_H

#define TPI_SMALL_MATRIX 32

/* a [n, n] becomes L (below the diagonal, ones on it) and U by partial pivoting, b [n, k] the solution of a x = b; both
 * by rows. *swaps: how many rows were exchanged. Returns 0, or the place of the first pivot that is zero, from 1. */
int tpi_small_lu(int dtype, int n, int k, void *a, void *b, int *swaps);

#endif
