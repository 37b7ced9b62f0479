/* NOTE: reductions
 *
 * A reduction is a fold: states that take in elements, merge, and are stored. The engine (reduce.c) drops and merges
 * dimensions and picks how memory is walked:
 *   inner   the reduced dimension is the contiguous one: one state takes in runs of elements;
 *   outer   a kept dimension is the contiguous one: a row of states takes in rows of elements.
 * Elements of other strides or dtypes are loaded into a small buffer of the compute type first. Long reductions with
 * few results are cut at fixed places and their states merged in pairs, so results do not depend on the number of
 * threads, and rounding errors grow with the logarithm of the length. */
#ifndef TPI_KERNELS_REDUCE_H
#define TPI_KERNELS_REDUCE_H

#include "core/clones.h"
#include "core/error.h"
#include "dispatch/op.h"

#define TPI_FOLD_TILE 512        /* states of a row: outer is never called with more columns */
#define TPI_FOLD_BLOCK 4096      /* elements of a run, and rows of a call of outer */
#define TPI_FOLD_STATE_MAX 32    /* bytes of a state */
#define TPI_FOLD_ELEM_MAX 16     /* bytes of a loaded element */

typedef struct tpi_fold {
    int32_t state, elem;         /* bytes */
    bool indexed;                /* the order and the position of the elements matter */
    void (*init)(void *s, int64_t n);
    /* n elements, the first at position `base` of the reduction, into s[0] */
    void (*inner)(void *s, const void *x, int64_t n, int64_t base);
    /* `rows` rows of n elements, ld elements apart, into s[0..n) */
    void (*outer)(void *s, const void *x, int64_t rows, int64_t ld, int64_t n, int64_t base);
    /* s[j] takes in later[j] */
    void (*merge)(void *s, const void *later, int64_t n);
} tpi_fold;

/* n elements, `stride` elements apart, into dst as the compute type; param is the reduction's. */
typedef void (*tpi_load)(void *dst, const void *src, int64_t n, int64_t stride, double param);

typedef struct tpi_reduction {
    const tpi_fold *fold;
    tpi_load load;
    bool native;                 /* contiguous elements need no load */
    /* writes results first, first + step, ... from n states */
    void (*store)(const struct tpi_reduction *r, const void *states, int64_t n, int64_t first, int64_t step);
    void *out[2];
    int dtype;                   /* of out[0] */
    int64_t nred;                /* elements of each result: set by tpi_reduce */
    double param;
} tpi_reduction;

/* Reduces the dimensions in `mask` of dense x. Results lie in row-major order of the kept dimensions. */
int tpi_reduce(tpi_reduction *r, const tp_tensor *x, uint64_t mask);

/* Bit mask of non-negative distinct dims. */
static inline uint64_t tpi_dim_mask(const tp_val *dims)
{
    uint64_t m = 0;
    for (int i = 0; i < dims->n; i++) m |= UINT64_C(1) << dims->v.ints[i];
    return m;
}

/* Shape of the result; returns its rank. */
int tpi_reduced_shape(const tp_tensor *x, uint64_t mask, bool keepdim, int64_t *shape);
/* "amax: ... has no elements" unless every reduced dimension has some or there is no result. */
int tpi_check_nonempty(const char *op, const tp_tensor *x, uint64_t mask);

/* ---- loads. Compute types: float (f16, bf16, f32), double, int64 (bool and integers), and the complex ones ---- */
tpi_load tpi_load_number(int dtype, bool *native);
tpi_load tpi_load_ordered(int dtype,
                          bool *native); /* the same, but uint64 as an int64 of the same order, int32 as it is */
tpi_load tpi_load_truth(int dtype);                 /* x != 0 as int64 */
tpi_load tpi_load_abs(int dtype);                   /* |x| as float or double, floating and complex dtypes only */
tpi_load tpi_load_power(int dtype);                 /* |x|^param as double, the same dtypes */

static inline int tpi_reduce_compute(int dtype)
{
    return dtype < TP_FLOAT16 ? TP_INT64 : dtype <= TP_FLOAT32 ? TP_FLOAT32 : dtype;
}

/* ---- folds, by compute dtype: FLOAT32, FLOAT64, INT64; sum and prod also complex ones, max and min also INT32 ---- */
const tpi_fold *tpi_fold_sum(int compute);
const tpi_fold *tpi_fold_prod(int compute);
const tpi_fold *tpi_fold_sumsq(void); /* of float elements; state double */
const tpi_fold *tpi_fold_squares(void); /* of double elements; state tpi_squares */
const tpi_fold *tpi_fold_max(int compute);
const tpi_fold *tpi_fold_min(int compute);
const tpi_fold *tpi_fold_argmax(int compute);
const tpi_fold *tpi_fold_argmin(int compute);
const tpi_fold *tpi_fold_moments(int compute);
const tpi_fold *tpi_fold_lse(int compute);

/* A state of argmax and argmin. index -1: nothing seen. */
typedef struct tpi_best_f {
    double v;
    int64_t index;
} tpi_best_f;
typedef struct tpi_best_i {
    int64_t v;
    int64_t index;
} tpi_best_i;
/* Sums of squares of double, apart by size so that none overflows or vanishes (Blue 1978): big ones times 2^-1200,
 * small ones times 2^1200. */
typedef struct tpi_squares {
    double mid, big, small;
} tpi_squares;
/* Count, mean and sum of squared deviations (Chan, Golub, LeVeque 1983). */
typedef struct tpi_moments {
    double n, mean, m2;
} tpi_moments;
/* Largest element m and the sum of exp(x - m). */
typedef struct tpi_lse {
    double m, sum;
} tpi_lse;

/* int64 whose order is that of uint64. */
static inline int64_t tpi_order_u64(uint64_t x) { return (int64_t)(x ^ UINT64_C(0x8000000000000000)); }

/* Unaligned vectors of 64 bytes; compilers cut them to what the machine has. */
typedef float tpi_v16f __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t tpi_v16i __attribute__((vector_size(64), aligned(4), may_alias));
typedef double tpi_v8d __attribute__((vector_size(64), aligned(8), may_alias));
typedef int64_t tpi_v8l __attribute__((vector_size(64), aligned(8), may_alias));
typedef float tpi_v4f __attribute__((vector_size(16), aligned(4), may_alias));
typedef float tpi_v8f __attribute__((vector_size(32), aligned(4), may_alias));

#endif
