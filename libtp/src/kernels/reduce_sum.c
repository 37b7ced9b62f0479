/* Sums, sums of squares and products. float accumulates in float over short runs, whose sums go into a double;
 * double accumulates in lanes over a run, and runs are few before states merge in pairs. */
#include <complex.h>
#include <math.h>

#include "kernels/reduce.h"

#define ROWS_SHORT 64            /* rows that float accumulates before they go into the double state */

static void init_f64(void *s, int64_t n) { memset(s, 0, (size_t)n * 8); }
static void init_f64x2(void *s, int64_t n) { memset(s, 0, (size_t)n * 16); }

static void merge_add_f64(void *s, const void *b, int64_t n)
{
    double *restrict a = s;
    const double *restrict x = b;
    for (int64_t i = 0; i < n; i++) a[i] += x[i];
}

static void merge_add_f64x2(void *s, const void *b, int64_t n) { merge_add_f64(s, b, 2 * n); }

static void merge_add_i64(void *s, const void *b, int64_t n)
{
    uint64_t *restrict a = s;
    const uint64_t *restrict x = b;
    for (int64_t i = 0; i < n; i++) a[i] += x[i];
}

/* Loads that take in the last n % lanes elements without a loop: the lanes that were seen before are masked. */
static const int32_t mask32[32] = {0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
                                   -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
static const int64_t mask64[16] = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};

/* Sums of the elements at even and at odd places. 1024 elements, 16 in a lane, add up in float. */
static inline __attribute__((always_inline)) void sum_f32(const float *x, int64_t n, double *even, double *odd)
{
    int64_t i = 0;
    do {
        int64_t end = n - i < 1024 ? n : i + 1024;
        tpi_v16f a = {0}, b = {0}, c = {0}, d = {0};
        for (; i + 64 <= end; i += 64) {
            a += *(const tpi_v16f *)(x + i);
            b += *(const tpi_v16f *)(x + i + 16);
            c += *(const tpi_v16f *)(x + i + 32);
            d += *(const tpi_v16f *)(x + i + 48);
        }
        for (; i + 16 <= end; i += 16) a += *(const tpi_v16f *)(x + i);
        if (i < end && n >= 16) {
            tpi_v16i last = *(const tpi_v16i *)(x + end - 16) & *(const tpi_v16i *)(mask32 + (end - i));
            b += (tpi_v16f)last;
            i = end;
        }
        a = (a + b) + (c + d);
        const tpi_v4f *w = (const tpi_v4f *)&a;
        tpi_v4f t = (w[0] + w[1]) + (w[2] + w[3]);
        *even += (double)(t[0] + t[2]);
        *odd += (double)(t[1] + t[3]);
    } while (n - i >= 16);
    for (int j = 0; i < n; i++, j ^= 1) *(j ? odd : even) += x[i];
}

static inline __attribute__((always_inline)) void lanes_f64(const double *x, int64_t n, double *lanes)
{
    tpi_v8d a = {0}, b = {0}, c = {0}, d = {0};
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        a += *(const tpi_v8d *)(x + i);
        b += *(const tpi_v8d *)(x + i + 8);
        c += *(const tpi_v8d *)(x + i + 16);
        d += *(const tpi_v8d *)(x + i + 24);
    }
    for (; i + 8 <= n; i += 8) a += *(const tpi_v8d *)(x + i);
    if (i < n && n >= 8) {
        tpi_v8l last = *(const tpi_v8l *)(x + n - 8) & *(const tpi_v8l *)(mask64 + (n - i));
        b += (tpi_v8d)last;
        i = n;
    }
    a = (a + b) + (c + d);
    memcpy(lanes, &a, sizeof a);
    for (int j = 0; i < n; i++, j++) lanes[j] += x[i];
}

/* The sum of the even and of the odd ones of n lanes. */
static inline __attribute__((always_inline)) void add_lanes(double *l, int n, double *even, double *odd)
{
    for (int k = n / 2; k > 1; k /= 2)
        for (int j = 0; j < k; j++) l[j] += l[j + k];
    *even = l[0];
    *odd = l[1];
}

TP_CLONES
static void sum_inner_f32(void *s, const void *x, int64_t n, int64_t base)
{
    double even = 0, odd = 0;
    sum_f32(x, n, &even, &odd);
    *(double *)s += even + odd;
}

TP_CLONES
static void sum_inner_c64(void *s, const void *x, int64_t n, int64_t base)
{
    double even = 0, odd = 0;
    sum_f32(x, 2 * n, &even, &odd);
    ((double *)s)[0] += even;
    ((double *)s)[1] += odd;
}

TP_CLONES
static void sum_inner_f64(void *s, const void *x, int64_t n, int64_t base)
{
    double l[8], even, odd;
    lanes_f64(x, n, l);
    add_lanes(l, 8, &even, &odd);
    *(double *)s += even + odd;
}

TP_CLONES
static void sum_inner_c128(void *s, const void *x, int64_t n, int64_t base)
{
    double l[8], even, odd;
    lanes_f64(x, 2 * n, l);
    add_lanes(l, 8, &even, &odd);
    ((double *)s)[0] += even;
    ((double *)s)[1] += odd;
}

TP_CLONES
static void sum_inner_i64(void *s, const void *xp, int64_t n, int64_t base)
{
    const uint64_t *x = xp;
    uint64_t a = 0;
    for (int64_t i = 0; i < n; i++) a += x[i];
    *(uint64_t *)s += a;
}

TP_CLONES
static void add_rows_f32(double *restrict s, const float *restrict x, int64_t rows, int64_t ld, int64_t n)
{
    float acc[2 * TPI_FOLD_TILE] __attribute__((aligned(64)));
    for (int64_t r = 0; r < rows;) {
        int64_t end = r + ROWS_SHORT < rows ? r + ROWS_SHORT : rows;
        memset(acc, 0, (size_t)n * sizeof *acc);
        for (; r + 8 <= end; r += 8) {
            const float *a = x + r * ld, *b = a + ld, *c = b + ld, *d = c + ld;
            const float *e = d + ld, *f = e + ld, *g = f + ld, *h = g + ld;
            for (int64_t j = 0; j < n; j++) acc[j] += ((a[j] + b[j]) + (c[j] + d[j])) + ((e[j] + f[j]) + (g[j] + h[j]));
        }
        for (; r < end; r++) {
            const float *a = x + r * ld;
            for (int64_t j = 0; j < n; j++) acc[j] += a[j];
        }
        for (int64_t j = 0; j < n; j++) s[j] += acc[j];
    }
}

TP_CLONES
static void add_rows_f64(double *restrict s, const double *restrict x, int64_t rows, int64_t ld, int64_t n)
{
    double acc[2 * TPI_FOLD_TILE] __attribute__((aligned(64)));
    for (int64_t r = 0; r < rows;) {
        int64_t end = r + ROWS_SHORT < rows ? r + ROWS_SHORT : rows;
        memset(acc, 0, (size_t)n * sizeof *acc);
        for (; r + 8 <= end; r += 8) {
            const double *a = x + r * ld, *b = a + ld, *c = b + ld, *d = c + ld;
            const double *e = d + ld, *f = e + ld, *g = f + ld, *h = g + ld;
            for (int64_t j = 0; j < n; j++) acc[j] += ((a[j] + b[j]) + (c[j] + d[j])) + ((e[j] + f[j]) + (g[j] + h[j]));
        }
        for (; r < end; r++) {
            const double *a = x + r * ld;
            for (int64_t j = 0; j < n; j++) acc[j] += a[j];
        }
        for (int64_t j = 0; j < n; j++) s[j] += acc[j];
    }
}

static void sum_outer_f32(void *s, const void *x, int64_t rows, int64_t ld, int64_t n, int64_t base)
{
    add_rows_f32(s, x, rows, ld, n);
}

static void sum_outer_c64(void *s, const void *x, int64_t rows, int64_t ld, int64_t n, int64_t base)
{
    add_rows_f32(s, x, rows, 2 * ld, 2 * n);
}

static void sum_outer_f64(void *s, const void *x, int64_t rows, int64_t ld, int64_t n, int64_t base)
{
    add_rows_f64(s, x, rows, ld, n);
}

static void sum_outer_c128(void *s, const void *x, int64_t rows, int64_t ld, int64_t n, int64_t base)
{
    add_rows_f64(s, x, rows, 2 * ld, 2 * n);
}

TP_CLONES
static void sum_outer_i64(void *sp, const void *xp, int64_t rows, int64_t ld, int64_t n, int64_t base)
{
    uint64_t *restrict s = sp;
    const uint64_t *restrict x = xp;
    for (int64_t r = 0; r < rows; r++, x += ld)
        for (int64_t j = 0; j < n; j++) s[j] += x[j];
}

/* ---- squares: in double, so that float neither overflows nor rounds ---- */
TP_CLONES
static void sumsq_inner_f32(void *s, const void *xp, int64_t n, int64_t base)
{
    const float *x = xp;
    tpi_v8d a = {0}, b = {0}, c = {0}, d = {0};
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        tpi_v8d p = __builtin_convertvector(*(const tpi_v8f *)(x + i), tpi_v8d);
        tpi_v8d q = __builtin_convertvector(*(const tpi_v8f *)(x + i + 8), tpi_v8d);
        tpi_v8d u = __builtin_convertvector(*(const tpi_v8f *)(x + i + 16), tpi_v8d);
        tpi_v8d v = __builtin_convertvector(*(const tpi_v8f *)(x + i + 24), tpi_v8d);
        a += p * p;
        b += q * q;
        c += u * u;
        d += v * v;
    }
    a = (a + b) + (c + d);
    double t = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
    for (; i < n; i++) t += (double)x[i] * x[i];
    *(double *)s += t;
}

TP_CLONES
static void sumsq_outer_f32(void *sp, const void *xp, int64_t rows, int64_t ld, int64_t n, int64_t base)
{
    double *restrict s = sp;
    const float *restrict x = xp;
    for (int64_t r = 0; r < rows; r++, x += ld)
        for (int64_t j = 0; j < n; j++) s[j] += (double)x[j] * x[j];
}

/* ---- squares of double: a run whose sum of squares is safe is taken as it is, another one element by element ---- */
static inline bool safe(double squares) { return squares < 0x1p1000 && squares > 0x1p-800; }

static void square_apart(tpi_squares *s, double x)
{
    double a = fabs(x);
    if (a > 0x1p480) s->big += (x * 0x1p-600) * (x * 0x1p-600);
    else if (a < 0x1p-440) s->small += (x * 0x1p600) * (x * 0x1p600);
    else s->mid += x * x;
}

TP_CLONES
static double sumsq_run_f64(const double *x, int64_t n)
{
    tpi_v8d a = {0}, b = {0}, c = {0}, d = {0};
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        tpi_v8d p = *(const tpi_v8d *)(x + i), q = *(const tpi_v8d *)(x + i + 8);
        tpi_v8d u = *(const tpi_v8d *)(x + i + 16), v = *(const tpi_v8d *)(x + i + 24);
        a += p * p;
        b += q * q;
        c += u * u;
        d += v * v;
    }
    a = (a + b) + (c + d);
    double t = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
    for (; i < n; i++) t += x[i] * x[i];
    return t;
}

static void squares_inner(void *s, const void *xp, int64_t n, int64_t base)
{
    const double *x = xp;
    double t = sumsq_run_f64(x, n);
    if (safe(t)) ((tpi_squares *)s)->mid += t;
    else
        for (int64_t i = 0; i < n; i++) square_apart(s, x[i]);
}

TP_CLONES
static void add_squares_f64(double *restrict s, const double *restrict x, int64_t rows, int64_t ld, int64_t n)
{
    for (int64_t r = 0; r < rows; r++, x += ld)
        for (int64_t j = 0; j < n; j++) s[j] += x[j] * x[j];
}

static void squares_outer(void *sp, const void *xp, int64_t rows, int64_t ld, int64_t n, int64_t base)
{
    tpi_squares *s = sp;
    const double *x = xp;
    double t[TPI_FOLD_TILE];
    memset(t, 0, (size_t)n * 8);
    add_squares_f64(t, x, rows, ld, n);
    for (int64_t j = 0; j < n; j++) {
        if (safe(t[j])) s[j].mid += t[j];
        else
            for (int64_t r = 0; r < rows; r++) square_apart(s + j, x[r * ld + j]);
    }
}

static void init_squares(void *s, int64_t n) { memset(s, 0, (size_t)n * sizeof(tpi_squares)); }
static void merge_squares(void *s, const void *b, int64_t n) { merge_add_f64(s, b, 3 * n); }

/* ---- products ---- */
static void init_one_f64(void *s, int64_t n)
{
    for (int64_t i = 0; i < n; i++) ((double *)s)[i] = 1;
}

static void init_one_i64(void *s, int64_t n)
{
    for (int64_t i = 0; i < n; i++) ((int64_t *)s)[i] = 1;
}

static void init_one_c128(void *s, int64_t n)
{
    for (int64_t i = 0; i < n; i++) ((double complex *)s)[i] = 1;
}

static void merge_mul_f64(void *s, const void *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) ((double *)s)[i] *= ((const double *)b)[i];
}

static void merge_mul_i64(void *s, const void *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) ((uint64_t *)s)[i] *= ((const uint64_t *)b)[i];
}

static inline __attribute__((always_inline)) void times(double *a, double xr, double xi)
{
    double re = a[0] * xr - a[1] * xi, im = a[0] * xi + a[1] * xr;
    a[0] = re;
    a[1] = im;
}

static void merge_mul_c128(void *s, const void *b, int64_t n)
{
    double *a = s;
    const double *x = b;
    for (int64_t i = 0; i < n; i++) times(a + 2 * i, x[2 * i], x[2 * i + 1]);
}

/* float multiplies eight elements in float, the rest in double: a product of many must not leave float's range. */
TP_CLONES
static void prod_inner_f32(void *s, const void *xp, int64_t n, int64_t base)
{
    const float *x = xp;
    int64_t i = 0;
    tpi_v8d p = {1, 1, 1, 1, 1, 1, 1, 1}, q = p;
    for (; i + 128 <= n; i += 128) {
        tpi_v16f a = *(const tpi_v16f *)(x + i), b = *(const tpi_v16f *)(x + i + 64);
        for (int k = 16; k < 64; k += 16) {
            a *= *(const tpi_v16f *)(x + i + k);
            b *= *(const tpi_v16f *)(x + i + 64 + k);
        }
        a *= b;
        const tpi_v8f *w = (const tpi_v8f *)&a;
        p *= __builtin_convertvector(w[0], tpi_v8d);
        q *= __builtin_convertvector(w[1], tpi_v8d);
    }
    for (; i + 16 <= n; i += 16) {
        p *= __builtin_convertvector(*(const tpi_v8f *)(x + i), tpi_v8d);
        q *= __builtin_convertvector(*(const tpi_v8f *)(x + i + 8), tpi_v8d);
    }
    p *= q;
    double t = ((p[0] * p[1]) * (p[2] * p[3])) * ((p[4] * p[5]) * (p[6] * p[7]));
    for (; i < n; i++) t *= x[i];
    *(double *)s *= t;
}

TP_CLONES
static void prod_inner_f64(void *s, const void *xp, int64_t n, int64_t base)
{
    const double *x = xp;
    tpi_v8d a = {1, 1, 1, 1, 1, 1, 1, 1}, b = a, c = a, d = a;
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        a *= *(const tpi_v8d *)(x + i);
        b *= *(const tpi_v8d *)(x + i + 8);
        c *= *(const tpi_v8d *)(x + i + 16);
        d *= *(const tpi_v8d *)(x + i + 24);
    }
    a = (a * b) * (c * d);
    double t = ((a[0] * a[1]) * (a[2] * a[3])) * ((a[4] * a[5]) * (a[6] * a[7]));
    for (; i < n; i++) t *= x[i];
    *(double *)s *= t;
}

TP_CLONES
static void prod_inner_i64(void *s, const void *xp, int64_t n, int64_t base)
{
    const uint64_t *x = xp;
    uint64_t a = 1;
    for (int64_t i = 0; i < n; i++) a *= x[i];
    *(uint64_t *)s *= a;
}

#define PROD_OUTER(name, T, S)                                                                              \
    TP_CLONES static void name(void *sp, const void *xp, int64_t rows, int64_t ld, int64_t n, int64_t base) \
    {                                                                                                       \
        S *restrict s = sp;                                                                                 \
        const T *restrict x = xp;                                                                           \
        int64_t r = 0;                                                                                      \
        for (; r + 8 <= rows; r += 8, x += 8 * ld) {                                                        \
            const T *restrict b = x + 4 * ld;                                                               \
            for (int64_t j = 0; j < n; j++) {                                                               \
                T p = (x[j] * x[j + ld]) * (x[j + 2 * ld] * x[j + 3 * ld]);                                 \
                T q = (b[j] * b[j + ld]) * (b[j + 2 * ld] * b[j + 3 * ld]);                                 \
                s[j] *= (S)p * (S)q;                                                                        \
            }                                                                                               \
        }                                                                                                   \
        for (; r < rows; r++, x += ld)                                                                      \
            for (int64_t j = 0; j < n; j++) s[j] *= x[j];                                                   \
    }
PROD_OUTER(prod_outer_f32, float, double)
PROD_OUTER(prod_outer_f64, double, double)
PROD_OUTER(prod_outer_i64, uint64_t, uint64_t)

#define PROD_COMPLEX(suffix, T)                                                                                 \
    static void prod_inner_##suffix(void *s, const void *xp, int64_t n, int64_t base)                           \
    {                                                                                                           \
        const T *x = xp;                                                                                        \
        for (int64_t i = 0; i < n; i++) times(s, x[2 * i], x[2 * i + 1]);                                       \
    }                                                                                                           \
    static void prod_outer_##suffix(void *s, const void *xp, int64_t rows, int64_t ld, int64_t n, int64_t base) \
    {                                                                                                           \
        const T *x = xp;                                                                                        \
        for (int64_t r = 0; r < rows; r++, x += 2 * ld)                                                         \
            for (int64_t j = 0; j < n; j++) times((double *)s + 2 * j, x[2 * j], x[2 * j + 1]);                 \
    }
PROD_COMPLEX(c64, float)
PROD_COMPLEX(c128, double)

const tpi_fold *tpi_fold_sum(int compute)
{
    static const tpi_fold f32 = {8, 4, false, init_f64, sum_inner_f32, sum_outer_f32, merge_add_f64};
    static const tpi_fold f64 = {8, 8, false, init_f64, sum_inner_f64, sum_outer_f64, merge_add_f64};
    static const tpi_fold i64 = {8, 8, false, init_f64, sum_inner_i64, sum_outer_i64, merge_add_i64};
    static const tpi_fold c64 = {16, 8, false, init_f64x2, sum_inner_c64, sum_outer_c64, merge_add_f64x2};
    static const tpi_fold c128 = {16, 16, false, init_f64x2, sum_inner_c128, sum_outer_c128, merge_add_f64x2};
    switch (compute) {
    case TP_FLOAT32: return &f32;
    case TP_FLOAT64: return &f64;
    case TP_COMPLEX64: return &c64;
    case TP_COMPLEX128: return &c128;
    default: return &i64;
    }
}

const tpi_fold *tpi_fold_sumsq(void)
{
    static const tpi_fold f32 = {8, 4, false, init_f64, sumsq_inner_f32, sumsq_outer_f32, merge_add_f64};
    return &f32;
}

const tpi_fold *tpi_fold_squares(void)
{
    static const tpi_fold f64 = {sizeof(tpi_squares), 8, false, init_squares, squares_inner, squares_outer,
                                 merge_squares};
    return &f64;
}

const tpi_fold *tpi_fold_prod(int compute)
{
    static const tpi_fold f32 = {8, 4, false, init_one_f64, prod_inner_f32, prod_outer_f32, merge_mul_f64};
    static const tpi_fold f64 = {8, 8, false, init_one_f64, prod_inner_f64, prod_outer_f64, merge_mul_f64};
    static const tpi_fold i64 = {8, 8, false, init_one_i64, prod_inner_i64, prod_outer_i64, merge_mul_i64};
    static const tpi_fold c64 = {16, 8, false, init_one_c128, prod_inner_c64, prod_outer_c64, merge_mul_c128};
    static const tpi_fold c128 = {16, 16, false, init_one_c128, prod_inner_c128, prod_outer_c128, merge_mul_c128};
    switch (compute) {
    case TP_FLOAT32: return &f32;
    case TP_FLOAT64: return &f64;
    case TP_COMPLEX64: return &c64;
    case TP_COMPLEX128: return &c128;
    default: return &i64;
    }
}
