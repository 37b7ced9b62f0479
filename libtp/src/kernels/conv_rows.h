/* Copies of short runs, inline: rows of images are shorter than a call of memcpy is worth. Internal. */
#ifndef TPI_KERNELS_CONV_ROWS_H
#define TPI_KERNELS_CONV_ROWS_H

#include <stdint.h>
#include <string.h>

/* Two moves that overlap cover every length up to twice their size. The runs themselves must not overlap. */
static inline void tpi_run_copy(void *to, const void *from, int64_t bytes)
{
    char *t = to;
    const char *f = from;
#define BOTH_ENDS(N)                   \
    {                                  \
        char a[N], b[N];               \
        memcpy(a, f, N);               \
        memcpy(b, f + bytes - (N), N); \
        memcpy(t, a, N);               \
        memcpy(t + bytes - (N), b, N); \
        return;                        \
    }
    if (bytes > 128) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    if (bytes > 64) BOTH_ENDS(64)
    if (bytes >= 32) BOTH_ENDS(32)
    if (bytes >= 16) BOTH_ENDS(16)
    if (bytes >= 8) BOTH_ENDS(8)
    if (bytes >= 4) BOTH_ENDS(4)
    for (int64_t i = 0; i < bytes; i++) t[i] = f[i];
#undef BOTH_ENDS
}

static inline void tpi_run_zero(void *to, int64_t bytes)
{
    char *t = to;
    if (bytes > 64) {
        memset(to, 0, (size_t)bytes);
        return;
    }
    int64_t i = 0;
    for (; i + 8 <= bytes; i += 8) memset(t + i, 0, 8);
    if (i + 4 <= bytes) {
        memset(t + i, 0, 4);
        i += 4;
    }
    for (; i < bytes; i++) t[i] = 0;
}

/* Where in [0, n) the place `first` + j * stride lies inside of `in` elements: [*lo, *hi). */
static inline void tpi_run_inside(int64_t first, int64_t stride, int64_t in, int64_t n, int64_t *lo, int64_t *hi)
{
    int64_t a = first < 0 ? (-first + stride - 1) / stride : 0;
    int64_t b = first < in ? (in - 1 - first) / stride + 1 : 0;
    *lo = a < n ? a : n;
    *hi = b < *lo ? *lo : b < n ? b : n;
}

#endif
