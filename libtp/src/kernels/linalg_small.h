/* Decompositions of small matrices without LAPACK, whose calls cost more than the work. Internal. */
#ifndef TPI_KERNELS_LINALG_SMALL_H
#define TPI_KERNELS_LINALG_SMALL_H

#include <stdbool.h>

enum { TPI_SMALL_EIGH = 32 };

/* Ascending eigenvalues w[n], and eigenvectors as rows of v[n][n] if that is not NULL, of the symmetric matrix s[n][n],
 * which is overwritten; n is at most TPI_SMALL_EIGH. False, and nothing said of w and v, where LAPACK should be asked:
 * for elements near overflow and underflow, and without convergence. eps: of the dtype of the result. */
bool tpi_small_eigh(int n, double *restrict s, double *restrict w, double *restrict v, double eps);

#endif
