/* Windows as columns: the copy of an image that makes a convolution a matrix product, and its adjoint. */
#include "kernels/conv_columns.h"

#include <complex.h>

#include "kernels/conv_rows.h"

#define COLUMNS(NAME, T)                                                                                               \
    static void copy_##NAME(const tpi_conv *c, int64_t channels, int64_t row0, int64_t row1, const T *x, T *cols,      \
                            int64_t ld)                                                                                \
    {                                                                                                                  \
        const tpi_window *d = c->d;                                                                                    \
        int64_t w = d[2].out, s = d[2].stride, size = sizeof(T), lo, hi;                                               \
        for (int64_t i = 0; i < channels; i++, x += c->xc)                                                             \
            for (int64_t a = 0; a < d[0].taps; a++)                                                                    \
                for (int64_t b = 0; b < d[1].taps; b++)                                                                \
                    for (int64_t e = 0; e < d[2].taps; e++, cols += ld) {                                              \
                        int64_t first = e * d[2].dilation - d[2].pad;                                                  \
                        tpi_run_inside(first, s, d[2].in, w, &lo, &hi);                                                \
                        T *to = cols;                                                                                  \
                        int64_t q = row0 % d[1].out, z = row0 / d[1].out * d[0].stride - d[0].pad + a * d[0].dilation; \
                        for (int64_t r = row0; r < row1; r++, to += w) {                                               \
                            int64_t y = q * d[1].stride - d[1].pad + b * d[1].dilation;                                \
                            if (z < 0 || z >= d[0].in || y < 0 || y >= d[1].in) tpi_run_zero(to, w * size);            \
                            else {                                                                                     \
                                const T *from = x + (z * d[1].in + y) * d[2].in + first;                               \
                                tpi_run_zero(to, lo * size);                                                           \
                                if (s == 1) tpi_run_copy(to + lo, from + lo, (hi - lo) * size);                        \
                                else                                                                                   \
                                    for (int64_t j = lo; j < hi; j++) to[j] = from[j * s];                             \
                                tpi_run_zero(to + hi, (w - hi) * size);                                                \
                            }                                                                                          \
                            if (++q == d[1].out) {                                                                     \
                                q = 0;                                                                                 \
                                z += d[0].stride;                                                                      \
                            }                                                                                          \
                        }                                                                                              \
                    }                                                                                                  \
    }
COLUMNS(u8, uint8_t)
COLUMNS(u16, uint16_t)
COLUMNS(u32, uint32_t)
COLUMNS(u64, uint64_t)
typedef double complex c16;
COLUMNS(c16, c16)

void tpi_conv_columns(const tpi_conv *c, int64_t channels, int64_t row0, int64_t row1, const void *x, void *cols,
                      int64_t ld)
{
    switch (tpi_esize(c->dtype)) {
    case 1: copy_u8(c, channels, row0, row1, x, cols, ld); break;
    case 2: copy_u16(c, channels, row0, row1, x, cols, ld); break;
    case 4: copy_u32(c, channels, row0, row1, x, cols, ld); break;
    case 8: copy_u64(c, channels, row0, row1, x, cols, ld); break;
    default: copy_c16(c, channels, row0, row1, x, cols, ld);
    }
}

#define ROWS(NAME, T)                                                                               \
    static void rows_##NAME(const tpi_conv *c, int64_t channels, const T *x, T *rows, int64_t ld)   \
    {                                                                                               \
        const tpi_window *d = c->d;                                                                 \
        for (int64_t p = 0; p < d[0].out; p++)                                                      \
            for (int64_t q = 0; q < d[1].out; q++)                                                  \
                for (int64_t r = 0; r < d[2].out; r++, rows += ld) {                                \
                    int64_t z0 = p * d[0].stride - d[0].pad, y0 = q * d[1].stride - d[1].pad;       \
                    int64_t x0 = r * d[2].stride - d[2].pad, step = d[2].dilation, n = d[2].taps;   \
                    bool whole = x0 >= 0 && x0 + (n - 1) * step < d[2].in;                          \
                    T *to = rows;                                                                   \
                    const T *channel = x;                                                           \
                    for (int64_t i = 0; i < channels; i++, channel += c->xc)                        \
                        for (int64_t a = 0; a < d[0].taps; a++)                                     \
                            for (int64_t b = 0; b < d[1].taps; b++, to += n) {                      \
                                int64_t z = z0 + a * d[0].dilation, y = y0 + b * d[1].dilation;     \
                                bool in = z >= 0 && z < d[0].in && y >= 0 && y < d[1].in;           \
                                const T *from = channel + (z * d[1].in + y) * d[2].in + x0;         \
                                if (in && whole && step == 1 && n == 3) {                           \
                                    to[0] = from[0];                                                \
                                    to[1] = from[1];                                                \
                                    to[2] = from[2];                                                \
                                } else                                                              \
                                    for (int64_t e = 0; e < n; e++) {                               \
                                        int64_t at = x0 + e * step;                                 \
                                        to[e] = in && at >= 0 && at < d[2].in ? from[e * step] : 0; \
                                    }                                                               \
                            }                                                                       \
                }                                                                                   \
    }
ROWS(u8, uint8_t)
ROWS(u16, uint16_t)
ROWS(u32, uint32_t)
ROWS(u64, uint64_t)
ROWS(c16, c16)

void tpi_conv_rows(const tpi_conv *c, int64_t channels, const void *x, void *rows, int64_t ld)
{
    switch (tpi_esize(c->dtype)) {
    case 1: rows_u8(c, channels, x, rows, ld); break;
    case 2: rows_u16(c, channels, x, rows, ld); break;
    case 4: rows_u32(c, channels, x, rows, ld); break;
    case 8: rows_u64(c, channels, x, rows, ld); break;
    default: rows_c16(c, channels, x, rows, ld);
    }
}

#define ADD(NAME, T)                                                                                                   \
    static void add_##NAME(const tpi_conv *c, int64_t channels, int64_t row0, int64_t row1, const T *cols, int64_t ld, \
                           T *x)                                                                                       \
    {                                                                                                                  \
        const tpi_window *d = c->d;                                                                                    \
        int64_t w = d[2].out, lo, hi;                                                                                  \
        for (int64_t i = 0; i < channels; i++, x += c->xc)                                                             \
            for (int64_t a = 0; a < d[0].taps; a++)                                                                    \
                for (int64_t b = 0; b < d[1].taps; b++)                                                                \
                    for (int64_t e = 0; e < d[2].taps; e++, cols += ld) {                                              \
                        int64_t first = e * d[2].dilation - d[2].pad, s = d[2].stride;                                 \
                        tpi_run_inside(first, s, d[2].in, w, &lo, &hi);                                                \
                        const T *from = cols;                                                                          \
                        for (int64_t r = row0; r < row1; r++, from += w) {                                             \
                            int64_t z = r / d[1].out * d[0].stride - d[0].pad + a * d[0].dilation;                     \
                            int64_t y = r % d[1].out * d[1].stride - d[1].pad + b * d[1].dilation;                     \
                            if (z < 0 || z >= d[0].in || y < 0 || y >= d[1].in) continue;                              \
                            T *to = x + (z * d[1].in + y) * d[2].in + first;                                           \
                            if (s == 1)                                                                                \
                                for (int64_t j = lo; j < hi; j++) to[j] += from[j];                                    \
                            else                                                                                       \
                                for (int64_t j = lo; j < hi; j++) to[j * s] += from[j];                                \
                        }                                                                                              \
                    }                                                                                                  \
    }
ADD(u8, uint8_t)
ADD(u16, uint16_t)
ADD(u32, uint32_t)
ADD(u64, uint64_t)
ADD(f32, float)
ADD(f64, double)
typedef float complex c8;
ADD(c8, c8)
ADD(c16, c16)

void tpi_conv_add_columns(const tpi_conv *c, int64_t channels, int64_t row0, int64_t row1, const void *cols, int64_t ld,
                          void *x)
{
#define CALL(NAME)                                    \
    add_##NAME(c, channels, row0, row1, cols, ld, x); \
    break
    switch (c->dtype) {
    case TP_UINT8:
    case TP_INT8: CALL(u8);
    case TP_UINT16:
    case TP_INT16: CALL(u16);
    case TP_UINT32:
    case TP_INT32: CALL(u32);
    case TP_FLOAT32: CALL(f32);
    case TP_FLOAT64: CALL(f64);
    case TP_COMPLEX64: CALL(c8);
    case TP_COMPLEX128: CALL(c16);
    default: CALL(u64);
    }
#undef CALL
}
