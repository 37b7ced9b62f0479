/* NOTE: libtp's own matrix products.
 *
 * Large ones are packed and blocked for the caches (Goto and van de Geijn, "Anatomy of high-performance
 * matrix multiplication", 2008) around a micro-kernel written with vector types. Small ones read a as it
 * lies, through two strides, and b in strips of 64 bytes, copied to the stack only where they are
 * transposed or not full. */
#include <string.h>

#include "alloc.h"
#include "blas.h"
#include "clones.h"
#include "error.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && !defined(TP_SANITIZE)
#define KERNELS_FOR_X86 1
#endif

enum {
    KC = 256, /* depth of a block: a strip of b stays in L1 */
    MC = 144, /* rows of a block of a, in L2; a multiple of every MR */
    NC = 2048,
    MR_MAX = 12,
    NR_MAX = 32,
    STRIP_BYTES = 64,
    SMALL_WORK = 96 * 96 * 96
};

static inline bool transposed(char op) { return op == 'T' || op == 'C'; }

static inline bool conjugated(char op) { return op == 'C' || op == 'R'; }

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* acc[MR][NR] = the sum over k of column k of a sliver of a and row k of a sliver of b. */
#define MICRO(NAME, T, BYTES, MR, TARGET)                                                          \
    TARGET static void NAME(int64_t kc, const T *restrict a, const T *restrict b, T *restrict acc) \
    {                                                                                              \
        typedef T vec __attribute__((vector_size(BYTES), aligned(16), may_alias));                 \
        enum { W = (BYTES) / sizeof(T) };                                                          \
        vec s[MR][2] = {{{0}}};                                                                    \
        for (int64_t k = 0; k < kc; k++, a += (MR), b += 2 * W) {                                  \
            vec b0 = *(const vec *)b, b1 = *(const vec *)(b + W);                                  \
            _Pragma("GCC unroll 12") for (int i = 0; i < (MR); i++)                                \
            {                                                                                      \
                s[i][0] += a[i] * b0;                                                              \
                s[i][1] += a[i] * b1;                                                              \
            }                                                                                      \
        }                                                                                          \
        _Pragma("GCC unroll 12") for (int i = 0; i < (MR); i++)                                    \
        {                                                                                          \
            *(vec *)(acc + 2 * W * i) = s[i][0];                                                   \
            *(vec *)(acc + 2 * W * i + W) = s[i][1];                                               \
        }                                                                                          \
    }

/* ROWS rows of c times a strip, from b[kc][ldb]. */
#define STRIP_ROWS(T, BYTES, ROWS)                                                            \
    for (; m >= (ROWS); m -= (ROWS), a += (ROWS) * row) {                                     \
        vec s[ROWS][V] = {{{0}}};                                                             \
        const T *bp = b;                                                                      \
        for (int64_t p = 0; p < kc; p++, bp += ldb)                                           \
            _Pragma("GCC unroll 8") for (int r = 0; r < (ROWS); r++)                          \
                _Pragma("GCC unroll 4") for (int v = 0; v < V; v++)                           \
                    s[r][v] += a[r * row + p * col] * *(const vec *)(bp + v * W);             \
        _Pragma("GCC unroll 8") for (int r = 0; r < (ROWS); r++, c += ldc)                    \
        {                                                                                     \
            if (whole) {                                                                      \
                _Pragma("GCC unroll 4") for (int v = 0; v < V; v++)                           \
                {                                                                             \
                    if (add) s[r][v] += *(vec *)(c + v * W);                                  \
                    *(vec *)(c + v * W) = s[r][v];                                            \
                }                                                                             \
            } else {                                                                          \
                T t[V * W];                                                                   \
                memcpy(t, s[r], sizeof t);                                                    \
                for (int j = 0; j < nr; j++) c[j * c_col] = add ? c[j * c_col] + t[j] : t[j]; \
            }                                                                                 \
        }                                                                                     \
    }

#define STRIPS(NAME, T, BYTES, MR, TARGET)                                                                   \
    TARGET static void NAME(int64_t m, int nr, int64_t kc, const T *a, int64_t row, int64_t col, const T *b, \
                            int64_t ldb, bool add, T *c, int64_t ldc, int64_t c_col)                         \
    {                                                                                                        \
        typedef T vec __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));                    \
        enum { W = (BYTES) / sizeof(T), V = STRIP_BYTES / (BYTES) };                                         \
        bool whole = nr == V * W && c_col == 1;                                                              \
        STRIP_ROWS(T, BYTES, MR)                                                                             \
        if ((MR) > 4) STRIP_ROWS(T, BYTES, 4)                                                                \
        if ((MR) > 2) STRIP_ROWS(T, BYTES, 2)                                                                \
        STRIP_ROWS(T, BYTES, 1)                                                                              \
    }

#define KERNELS(X, T)                                                                                                  \
    typedef void micro_##X(int64_t, const T *, const T *, T *);                                                        \
    typedef void strip_##X(int64_t, int, int64_t, const T *, int64_t, int64_t, const T *, int64_t, bool, T *, int64_t, \
                           int64_t);                                                                                   \
    MICRO(micro_base_##X, T, 16, 4, )                                                                                  \
    STRIPS(strip_base_##X, T, 16, 2, )                                                                                 \
    KERNELS_X86(X, T)                                                                                                  \
    static micro_##X *pick_micro_##X(int *mr, int *nr)                                                                 \
    {                                                                                                                  \
        PICK_MICRO_X86(X, T)                                                                                           \
        *mr = 4;                                                                                                       \
        *nr = 32 / sizeof(T);                                                                                          \
        return micro_base_##X;                                                                                         \
    }                                                                                                                  \
    static strip_##X *pick_strip_##X(void)                                                                             \
    {                                                                                                                  \
        PICK_STRIP_X86(X)                                                                                              \
        return strip_base_##X;                                                                                         \
    }

#ifdef KERNELS_FOR_X86
#define V4 __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#define V3 __attribute__((target("arch=x86-64-v3")))
#define KERNELS_X86(X, T)              \
    MICRO(micro_v4_##X, T, 64, 12, V4) \
    MICRO(micro_v3_##X, T, 32, 6, V3)  \
    STRIPS(strip_v4_##X, T, 64, 8, V4) \
    STRIPS(strip_v3_##X, T, 32, 4, V3)
#define PICK_MICRO_X86(X, T)   \
    switch (vector_bytes()) {  \
    case 64:                   \
        *mr = 12;              \
        *nr = 128 / sizeof(T); \
        return micro_v4_##X;   \
    case 32:                   \
        *mr = 6;               \
        *nr = 64 / sizeof(T);  \
        return micro_v3_##X;   \
    }
#define PICK_STRIP_X86(X)         \
    switch (vector_bytes()) {     \
    case 64: return strip_v4_##X; \
    case 32: return strip_v3_##X; \
    }

static int vector_bytes(void)
{
    const char *capability = tp_cpu_capability();
    return !strcmp(capability, "avx512") ? 64 : !strcmp(capability, "avx2") ? 32 : 16;
}
#else
#define KERNELS_X86(X, T)
#define PICK_MICRO_X86(X, T)
#define PICK_STRIP_X86(X)
#endif

KERNELS(f32, float)
KERNELS(f64, double)

#define ELEM float
#define NAME(x) x##_f32
#include "gemm_real.h"
#undef ELEM
#undef NAME

#define ELEM double
#define NAME(x) x##_f64
#include "gemm_real.h"
#undef ELEM
#undef NAME

/* Complex products: rows of c as sums of rows of b, a block of b at a time. C's complex product calls a
 * function that looks after infinities; here it is the four real products. */
#define COMPLEX_GEMM(X, R)                                                                                          \
    TP_CLONES static void block_##X(int64_t m, int64_t n, int64_t kc, const R *a, int64_t row, int64_t col, R sign, \
                                    const R *restrict b, R *c, int64_t ldc)                                         \
    {                                                                                                               \
        for (int64_t i = 0; i < m; i++) {                                                                           \
            R *restrict ci = c + 2 * i * ldc;                                                                       \
            for (int64_t p = 0; p < kc; p++) {                                                                      \
                const R *x = a + 2 * (i * row + p * col);                                                           \
                R re = x[0], im = sign * x[1];                                                                      \
                const R *restrict bp = b + 2 * p * n;                                                               \
                for (int64_t j = 0; j < n; j++) {                                                                   \
                    ci[2 * j] += re * bp[2 * j] - im * bp[2 * j + 1];                                               \
                    ci[2 * j + 1] += re * bp[2 * j + 1] + im * bp[2 * j];                                           \
                }                                                                                                   \
            }                                                                                                       \
        }                                                                                                           \
    }                                                                                                               \
                                                                                                                    \
    int tpi_gemm_own_##X(char op_a, char op_b, int64_t m, int64_t n, int64_t k, const R complex *a, int64_t lda,    \
                         const R complex *b, int64_t ldb, bool accumulate, R complex *c, int64_t ldc)               \
    {                                                                                                               \
        enum { DEPTH = 32, WIDTH = 64 };                                                                            \
        R strip[DEPTH * WIDTH * 2];                                                                                 \
        if (!accumulate)                                                                                            \
            for (int64_t i = 0; i < m; i++) memset(c + i * ldc, 0, (size_t)n * sizeof *c);                          \
        int64_t row = transposed(op_a) ? 1 : lda, col = transposed(op_a) ? lda : 1;                                 \
        int64_t b_row = transposed(op_b) ? 1 : ldb, b_col = transposed(op_b) ? ldb : 1;                             \
        R sign = conjugated(op_b) ? -1 : 1;                                                                         \
        for (int64_t j = 0; j < n; j += WIDTH)                                                                      \
            for (int64_t p = 0; p < k; p += DEPTH) {                                                                \
                int64_t nc = min64(WIDTH, n - j), kc = min64(DEPTH, k - p);                                         \
                for (int64_t q = 0; q < kc; q++)                                                                    \
                    for (int64_t jj = 0; jj < nc; jj++) {                                                           \
                        const R *x = (const R *)(b + (p + q) * b_row + (j + jj) * b_col);                           \
                        strip[2 * (q * nc + jj)] = x[0];                                                            \
                        strip[2 * (q * nc + jj) + 1] = sign * x[1];                                                 \
                    }                                                                                               \
                block_##X(m, nc, kc, (const R *)(a + p * col), row, col, conjugated(op_a) ? -1 : 1, strip,          \
                          (R *)(c + j), ldc);                                                                       \
            }                                                                                                       \
        return TP_OK;                                                                                               \
    }

COMPLEX_GEMM(c64, float)
COMPLEX_GEMM(c128, double)
