/* Loads of reductions: elements of any dtype and stride into a buffer of the compute type. */
#include <complex.h>
#include <math.h>

#include "kernels/half.h"
#include "kernels/reduce.h"
#include "kernels/vmath.h"

#define LOADER(name, S, D, expr)                                                                  \
    TP_CLONES static void name(void *dp, const void *sp, int64_t n, int64_t stride, double param) \
    {                                                                                             \
        D *restrict d = dp;                                                                       \
        const S *restrict s = sp;                                                                 \
        if (stride == 1)                                                                          \
            for (int64_t i = 0; i < n; i++) {                                                     \
                S x = s[i];                                                                       \
                d[i] = (expr);                                                                    \
            }                                                                                     \
        else if (stride == 2) /* vector code has instructions for it */                           \
            for (int64_t i = 0; i < n; i++) {                                                     \
                S x = s[2 * i];                                                                   \
                d[i] = (expr);                                                                    \
            }                                                                                     \
        else                                                                                      \
            for (int64_t i = 0; i < n; i++) {                                                     \
                S x = s[i * stride];                                                              \
                d[i] = (expr);                                                                    \
            }                                                                                     \
    }

LOADER(number_u8, uint8_t, int64_t, x)
LOADER(number_i8, int8_t, int64_t, x)
LOADER(number_u16, uint16_t, int64_t, x)
LOADER(number_i16, int16_t, int64_t, x)
LOADER(number_u32, uint32_t, int64_t, x)
LOADER(number_i32, int32_t, int64_t, x)
LOADER(number_i64, int64_t, int64_t, x)
LOADER(order_u64, uint64_t, int64_t, tpi_order_u64(x))
LOADER(strided_f16, uint16_t, float, tpi_f16_decode(x))
LOADER(number_bf16, uint16_t, float, tpi_bf16_decode(x))
LOADER(number_f32, float, float, x)
LOADER(number_f64, double, double, x)
LOADER(number_c64, float complex, float complex, x)
LOADER(number_c128, double complex, double complex, x)

static void number_f16(void *dp, const void *sp, int64_t n, int64_t stride, double param)
{
    if (stride == 1) tpi_f16_decode_n(n, sp, dp);
    else strided_f16(dp, sp, n, stride, param);
}

LOADER(number_i32_narrow, int32_t, int32_t, x)

LOADER(truth_8, uint8_t, int64_t, x != 0)
LOADER(truth_16, uint16_t, int64_t, x != 0)
LOADER(truth_half, uint16_t, int64_t, (x & 0x7fff) != 0)
LOADER(truth_32, uint32_t, int64_t, x != 0)
LOADER(truth_64, uint64_t, int64_t, x != 0)
LOADER(truth_f32, float, int64_t, x != 0)
LOADER(truth_f64, double, int64_t, x != 0)
LOADER(truth_c64, float complex, int64_t, x != 0)
LOADER(truth_c128, double complex, int64_t, x != 0)

/* ---- absolute values and their powers ---- */
LOADER(abs_f16, uint16_t, float, fabsf(tpi_f16_decode(x)))
LOADER(abs_bf16, uint16_t, float, fabsf(tpi_bf16_decode(x)))
LOADER(abs_f32, float, float, fabsf(x))
LOADER(abs_f64, double, double, fabs(x))
LOADER(abs_c64, float complex, float, cabsf(x))
LOADER(abs_c128, double complex, double, cabs(x))

tpi_load tpi_load_number(int dtype, bool *native)
{
    static const tpi_load table[TP_DTYPE_COUNT] = {
        number_u8,  number_u8,  number_i8,   number_u16, number_i16, number_u32, number_i32,  number_i64,
        number_i64, number_f16, number_bf16, number_f32, number_f64, number_c64, number_c128,
    };
    *native = dtype == TP_INT64 || dtype == TP_UINT64 || dtype >= TP_FLOAT32;
    return table[dtype];
}

tpi_load tpi_load_ordered(int dtype, bool *native)
{
    tpi_load load = tpi_load_number(dtype, native);
    *native |= dtype == TP_INT32;
    if (dtype == TP_UINT64) *native = false;
    return dtype == TP_INT32 ? number_i32_narrow : dtype == TP_UINT64 ? order_u64 : load;
}

tpi_load tpi_load_truth(int dtype)
{
    static const tpi_load table[TP_DTYPE_COUNT] = {
        truth_8,  truth_8,    truth_8,    truth_16,  truth_16,  truth_32,  truth_32,   truth_64,
        truth_64, truth_half, truth_half, truth_f32, truth_f64, truth_c64, truth_c128,
    };
    return table[dtype];
}

tpi_load tpi_load_abs(int dtype)
{
    switch (dtype) {
    case TP_FLOAT16: return abs_f16;
    case TP_BFLOAT16: return abs_bf16;
    case TP_FLOAT32: return abs_f32;
    case TP_FLOAT64: return abs_f64;
    case TP_COMPLEX64: return abs_c64;
    default: return abs_c128;
    }
}

#define POWER(name, S, expr)                                                                      \
    TP_CLONES static void name(void *dp, const void *sp, int64_t n, int64_t stride, double param) \
    {                                                                                             \
        double *d = dp, p[256];                                                                   \
        const S *s = sp;                                                                          \
        for (int64_t i = 0; i < 256 && i < n; i++) p[i] = param;                                  \
        for (int64_t i = 0; i < n; i += 256) {                                                    \
            int64_t m = n - i < 256 ? n - i : 256;                                                \
            for (int64_t j = 0; j < m; j++) {                                                     \
                S x = s[(i + j) * stride];                                                        \
                d[i + j] = (expr);                                                                \
            }                                                                                     \
            if (param == 3)                                                                       \
                for (int64_t j = i; j < i + m; j++) d[j] *= d[j] * d[j];                          \
            else if (param == 4)                                                                  \
                for (int64_t j = i; j < i + m; j++) d[j] = (d[j] * d[j]) * (d[j] * d[j]);         \
            else tpi_vpow_f64(m, d + i, p, d + i);                                                \
        }                                                                                         \
    }

POWER(power_f16, uint16_t, fabsf(tpi_f16_decode(x)))
POWER(power_bf16, uint16_t, fabsf(tpi_bf16_decode(x)))
POWER(power_f32, float, fabsf(x))
POWER(power_f64, double, fabs(x))
POWER(power_c64, float complex, cabs(x))
POWER(power_c128, double complex, cabs(x))

tpi_load tpi_load_power(int dtype)
{
    switch (dtype) {
    case TP_FLOAT16: return power_f16;
    case TP_BFLOAT16: return power_bf16;
    case TP_FLOAT32: return power_f32;
    case TP_FLOAT64: return power_f64;
    case TP_COMPLEX64: return power_c64;
    default: return power_c128;
    }
}
