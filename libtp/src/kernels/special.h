/* Scalar special functions in double precision that several kernels share. */
#ifndef TPI_SPECIAL_H
#define TPI_SPECIAL_H

#include <float.h>
#include <math.h>

/* sum_j c_j T_j(t), Clenshaw (1955) */
static inline double tpi_chebyshev(const double *c, int n, double t)
{
    double b1 = 0, b2 = 0, u = 2 * t;
    for (int j = n - 1; j > 0; j--) {
        double b = c[j] + u * b1 - b2;
        b2 = b1;
        b1 = b;
    }
    return c[0] + (t * b1 - b2);
}

/* Row `row` of a table, whose piece is [a, b], at x. */
#define TPI_PIECE(TABLE, row, a, b, x)                                     \
    tpi_chebyshev(TABLE[row], (int)(sizeof TABLE[0] / sizeof TABLE[0][0]), \
                  ((x) - 0.5 * ((a) + (b))) * (2 / ((b) - (a))))

double tpi_erfcx(double x);

/* One loop for each of float32 and float64 over a function of double, and the kernel. */
#define SPECIAL1(NAME, FN)                                                                                    \
    LOOP1(NAME##_f32, float, float, (float)FN(x))                                                             \
    LOOP1(NAME##_f64, double, double, FN(x))                                                                  \
    int k_##NAME(tp_call *c)                                                                                  \
    {                                                                                                         \
        static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = NAME##_f32, [TP_FLOAT64] = NAME##_f64}; \
        return tpi_elementwise(c, 1, 0, -1, table, NULL);                                                     \
    }

#define SPECIAL2(NAME, FN)                                                                                    \
    LOOP2(NAME##_f32, float, float, float, (float)FN(x, y))                                                   \
    LOOP2(NAME##_f64, double, double, double, FN(x, y))                                                       \
    int k_##NAME(tp_call *c)                                                                                  \
    {                                                                                                         \
        static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = NAME##_f32, [TP_FLOAT64] = NAME##_f64}; \
        return tpi_elementwise(c, 2, 0, -1, table, NULL);                                                     \
    }

/* The same with an integer, argument 1, that the function takes last. */
#define SPECIAL1_INT(NAME, FN, LEAST, MOST)                                                                         \
    LOOP1(NAME##_f32, float, float, (float)FN(x, *(const int *)ctx))                                                \
    LOOP1(NAME##_f64, double, double, FN(x, *(const int *)ctx))                                                     \
    int k_##NAME(tp_call *c)                                                                                        \
    {                                                                                                               \
        static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = NAME##_f32, [TP_FLOAT64] = NAME##_f64};       \
        int64_t n = arg_i(&c->args[1]);                                                                             \
        if (n < (LEAST) || n > (MOST))                                                                              \
            return tpi_fail(TP_ERR_NOT_IMPLEMENTED, "%s: order %lld is not in [%d, %d]", c->op->name, (long long)n, \
                            (int)(LEAST), (int)(MOST));                                                             \
        int order = (int)n;                                                                                         \
        return tpi_elementwise(c, 1, 0, -1, table, &order);                                                         \
    }

#endif
