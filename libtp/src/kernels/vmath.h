/* Elementwise mathematics over contiguous arrays.
 *
 * Every function maps n elements of x to y. x and y may be the same array (in place) but must not overlap
 * otherwise; no alignment is needed; n <= 0 does nothing. Special values (NaN, infinities, signed zeros) are those
 * of C99; real functions are within 1.5 ulp in float and 2 ulp in double over the whole domain.
 * Exceptions: silu in float, and without fused multiply-add gelu in double, may miss by a tenth of an ulp; the gelu
 * derivatives, and digamma for x < 0, are exact to a few ulp of their terms, which cancel beside their zeros.
 * The last bit may depend on where in the array an element stands.
 * No function allocates; errno and the exception flags are not kept. */
#ifndef TPI_VMATH_H
#define TPI_VMATH_H

#include <complex.h>
#include <stdint.h>

#define TPI_VMATH_DECL_UNARY(name)                                \
    void tpi_v##name##_f32(int64_t n, const float *x, float *y);  \
    void tpi_v##name##_f64(int64_t n, const double *x, double *y)

#define TPI_VMATH_DECL_BINARY(name)                                                  \
    void tpi_v##name##_f32(int64_t n, const float *x, const float *y, float *out);   \
    void tpi_v##name##_f64(int64_t n, const double *x, const double *y, double *out)

#define TPI_VMATH_DECL_COMPLEX(name)                                               \
    void tpi_v##name##_c64(int64_t n, const float complex *x, float complex *y);   \
    void tpi_v##name##_c128(int64_t n, const double complex *x, double complex *y)

TPI_VMATH_DECL_UNARY(exp);
TPI_VMATH_DECL_UNARY(exp2);
TPI_VMATH_DECL_UNARY(expm1);
TPI_VMATH_DECL_UNARY(log);
TPI_VMATH_DECL_UNARY(log2);
TPI_VMATH_DECL_UNARY(log10);
TPI_VMATH_DECL_UNARY(log1p);
TPI_VMATH_DECL_UNARY(sin);
TPI_VMATH_DECL_UNARY(cos);
TPI_VMATH_DECL_UNARY(tan);
TPI_VMATH_DECL_UNARY(sinh);
TPI_VMATH_DECL_UNARY(cosh);
TPI_VMATH_DECL_UNARY(tanh);
TPI_VMATH_DECL_UNARY(asin);
TPI_VMATH_DECL_UNARY(acos);
TPI_VMATH_DECL_UNARY(atan);
TPI_VMATH_DECL_UNARY(asinh);
TPI_VMATH_DECL_UNARY(acosh);
TPI_VMATH_DECL_UNARY(atanh);
TPI_VMATH_DECL_UNARY(erf);
TPI_VMATH_DECL_UNARY(erfc);
TPI_VMATH_DECL_UNARY(sqrt);
TPI_VMATH_DECL_UNARY(rsqrt);
TPI_VMATH_DECL_UNARY(cbrt);
TPI_VMATH_DECL_UNARY(lgamma);
TPI_VMATH_DECL_UNARY(digamma);

TPI_VMATH_DECL_UNARY(sigmoid);        /* 1 / (1 + exp(-x)) */
TPI_VMATH_DECL_UNARY(softplus);       /* log(1 + exp(x)) */
TPI_VMATH_DECL_UNARY(silu);           /* x * sigmoid(x) */
TPI_VMATH_DECL_UNARY(gelu);           /* x * Phi(x), Phi the normal distribution function */
TPI_VMATH_DECL_UNARY(gelu_grad);      /* d/dx gelu(x) = Phi(x) + x * phi(x) */
TPI_VMATH_DECL_UNARY(gelu_tanh);      /* x/2 * (1 + tanh(u)), u = sqrt(2/pi) * (x + 0.044715 x^3) */
TPI_VMATH_DECL_UNARY(gelu_tanh_grad); /* d/dx gelu_tanh(x) */

TPI_VMATH_DECL_BINARY(pow);
TPI_VMATH_DECL_BINARY(atan2); /* angle of the point (y, x): the first argument is the ordinate */
TPI_VMATH_DECL_BINARY(hypot);
TPI_VMATH_DECL_BINARY(fmod);      /* sign of the dividend, as in C */
TPI_VMATH_DECL_BINARY(remainder); /* sign of the divisor, as in Python's %; a divisor of 0 gives NaN */

TPI_VMATH_DECL_COMPLEX(exp);
TPI_VMATH_DECL_COMPLEX(log);
TPI_VMATH_DECL_COMPLEX(exp2);
TPI_VMATH_DECL_COMPLEX(expm1);
TPI_VMATH_DECL_COMPLEX(log2);
TPI_VMATH_DECL_COMPLEX(log10);
TPI_VMATH_DECL_COMPLEX(log1p);
TPI_VMATH_DECL_COMPLEX(sigmoid);
TPI_VMATH_DECL_COMPLEX(silu);
TPI_VMATH_DECL_COMPLEX(sqrt);
TPI_VMATH_DECL_COMPLEX(sin);
TPI_VMATH_DECL_COMPLEX(cos);
TPI_VMATH_DECL_COMPLEX(tan);
TPI_VMATH_DECL_COMPLEX(sinh);
TPI_VMATH_DECL_COMPLEX(cosh);
TPI_VMATH_DECL_COMPLEX(tanh);
TPI_VMATH_DECL_COMPLEX(asin);
TPI_VMATH_DECL_COMPLEX(acos);
TPI_VMATH_DECL_COMPLEX(atan);
TPI_VMATH_DECL_COMPLEX(asinh);
TPI_VMATH_DECL_COMPLEX(acosh);
TPI_VMATH_DECL_COMPLEX(atanh);
TPI_VMATH_DECL_COMPLEX(reciprocal);

void tpi_vabs_c64(int64_t n, const float complex *x, float *y);
void tpi_vabs_c128(int64_t n, const double complex *x, double *y);
void tpi_varg_c64(int64_t n, const float complex *x, float *y);
void tpi_varg_c128(int64_t n, const double complex *x, double *y);
void tpi_vpow_c64(int64_t n, const float complex *x, const float complex *y, float complex *out);
void tpi_vpow_c128(int64_t n, const double complex *x, const double complex *y, double complex *out);
void tpi_vlogaddexp_c64(int64_t n, const float complex *x, const float complex *y, float complex *out);
double complex tpi_clogaddexp(double complex x, double complex y);
void tpi_vlogaddexp_c128(int64_t n, const double complex *x, const double complex *y, double complex *out);

#endif
