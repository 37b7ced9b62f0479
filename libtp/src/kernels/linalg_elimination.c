/* LU of small matrices by rows: every inner loop runs over neighbours. */
#include "kernels/linalg_elimination.h"

#include <complex.h>
#include <math.h>
#include <stdint.h>

#include "core/clones.h"
#include "tp/dtype.h"

/* A pivot is the element of the largest SIZE, LAPACK's 1-norm of complex numbers. */
#define SMALL_LU(NAME, ELEM, SIZE)                                                          \
    TP_CLONES static int NAME(int n, int k, ELEM *restrict a, ELEM *restrict b, int *swaps) \
    {                                                                                       \
        int info = 0;                                                                       \
        for (int p = 0; p < n; p++) {                                                       \
            int best = p;                                                                   \
            for (int r = p + 1; r < n; r++)                                                 \
                if (SIZE(a[r * n + p]) > SIZE(a[best * n + p])) best = r;                   \
            if (best != p) {                                                                \
                ++*swaps;                                                                   \
                for (int j = 0; j < n; j++) {                                               \
                    ELEM t = a[p * n + j];                                                  \
                    a[p * n + j] = a[best * n + j];                                         \
                    a[best * n + j] = t;                                                    \
                }                                                                           \
                for (int j = 0; j < k; j++) {                                               \
                    ELEM t = b[p * k + j];                                                  \
                    b[p * k + j] = b[best * k + j];                                         \
                    b[best * k + j] = t;                                                    \
                }                                                                           \
            }                                                                               \
            ELEM pivot = a[p * n + p];                                                      \
            if (pivot == 0) {                                                               \
                if (!info) info = p + 1;                                                    \
                continue;                                                                   \
            }                                                                               \
            for (int r = p + 1; r < n; r++) {                                               \
                ELEM f = a[r * n + p] / pivot;                                              \
                a[r * n + p] = f;                                                           \
                for (int j = p + 1; j < n; j++) a[r * n + j] -= f * a[p * n + j];           \
                for (int j = 0; j < k; j++) b[r * k + j] -= f * b[p * k + j];               \
            }                                                                               \
        }                                                                                   \
        for (int p = n - 1; p >= 0 && k; p--) {                                             \
            ELEM pivot = a[p * n + p];                                                      \
            for (int r = p + 1; r < n; r++) {                                               \
                ELEM f = a[p * n + r];                                                      \
                for (int j = 0; j < k; j++) b[p * k + j] -= f * b[r * k + j];               \
            }                                                                               \
            for (int j = 0; j < k; j++) b[p * k + j] /= pivot;                              \
        }                                                                                   \
        return info;                                                                        \
    }
#define SIZE_COMPLEX_F(x) (fabsf(crealf(x)) + fabsf(cimagf(x)))
#define SIZE_COMPLEX(x) (fabs(creal(x)) + fabs(cimag(x)))
SMALL_LU(lu_f32, float, fabsf)
SMALL_LU(lu_f64, double, fabs)
SMALL_LU(lu_c64, float complex, SIZE_COMPLEX_F)
SMALL_LU(lu_c128, double complex, SIZE_COMPLEX)

int tpi_small_lu(int dtype, int n, int k, void *a, void *b, int *swaps)
{
    *swaps = 0;
    switch (dtype) {
    case TP_FLOAT32: return lu_f32(n, k, a, b, swaps);
    case TP_FLOAT64: return lu_f64(n, k, a, b, swaps);
    case TP_COMPLEX64: return lu_c64(n, k, a, b, swaps);
    default: return lu_c128(n, k, a, b, swaps);
    }
}
