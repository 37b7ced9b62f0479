/* Products of every dtype, and stacks of them. */
#include <complex.h>

#include "core/alloc.h"
#include "core/blas.h"
#include "core/clones.h"
#include "core/pool.h"
#include "kernels/matmul.h"

/* ---- integers: modulo 2^bits, as the elementwise operators compute ---- */

/* Products of types shorter than int would be signed: W is an unsigned type at least that long. */
#define INT_GEMM(NAME, U, W)                                                                                          \
    TP_CLONES static void NAME(int64_t m, int64_t n, int64_t k, const U *a, int64_t row, int64_t col,                 \
                               const U *restrict b, int64_t ldb, bool add, U *restrict c, int64_t ldc)                \
    {                                                                                                                 \
        for (int64_t i = 0; i < m; i++, c += ldc) {                                                                   \
            if (!add) memset(c, 0, (size_t)n * sizeof *c);                                                            \
            for (int64_t p = 0; p < k; p++) {                                                                         \
                W x = a[i * row + p * col];                                                                           \
                const U *restrict bp = b + p * ldb;                                                                   \
                for (int64_t j = 0; j < n; j++) c[j] = (U)(c[j] + x * bp[j]);                                         \
            }                                                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
    static int NAME##_any(char op_a, char op_b, int64_t m, int64_t n, int64_t k, const U *a, int64_t lda, const U *b, \
                          int64_t ldb, bool add, U *c, int64_t ldc)                                                   \
    {                                                                                                                 \
        bool ta = op_a == 'T', tb = op_b == 'T' && n > 0 && k > 0;                                                    \
        U *copy = NULL;                                                                                               \
        if (tb) {                                                                                                     \
            copy = tpi_alloc((size_t)n * (size_t)k * sizeof *copy);                                                   \
            if (!copy) return TP_ERR_MEMORY;                                                                          \
            for (int64_t p = 0; p < k; p++)                                                                           \
                for (int64_t j = 0; j < n; j++) copy[p * n + j] = b[j * ldb + p];                                     \
        }                                                                                                             \
        NAME(m, n, k, a, ta ? 1 : lda, ta ? lda : 1, tb ? copy : b, tb ? n : ldb, add, c, ldc);                       \
        tpi_free(copy, (size_t)n * (size_t)k * sizeof *copy);                                                         \
        return TP_OK;                                                                                                 \
    }
INT_GEMM(gemm_u8, uint8_t, uint32_t)
INT_GEMM(gemm_u16, uint16_t, uint32_t)
INT_GEMM(gemm_u32, uint32_t, uint32_t)
INT_GEMM(gemm_u64, uint64_t, uint64_t)

int tpi_gemm(int dtype, char op_a, char op_b, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
             const void *b, int64_t ldb, bool accumulate, void *c, int64_t ldc)
{
#define CALL(FN) return FN(op_a, op_b, m, n, k, a, lda, b, ldb, accumulate, c, ldc)
    switch (dtype) {
    case TP_FLOAT32: CALL(tpi_gemm_f32);
    case TP_FLOAT64: CALL(tpi_gemm_f64);
    case TP_COMPLEX64: CALL(tpi_gemm_c64);
    case TP_COMPLEX128: CALL(tpi_gemm_c128);
    case TP_UINT8:
    case TP_INT8: CALL(gemm_u8_any);
    case TP_UINT16:
    case TP_INT16: CALL(gemm_u16_any);
    case TP_UINT32:
    case TP_INT32: CALL(gemm_u32_any);
    default: CALL(gemm_u64_any);
    }
#undef CALL
}

bool tpi_gemm_layout(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride, char *op, int64_t *ld)
{
    if ((cols <= 1 || col_stride == 1) && (rows <= 1 || row_stride >= (cols > 1 ? cols : 1))) {
        *op = 'N';
        *ld = rows > 1 ? row_stride : cols > 1 ? cols : 1;
        return true;
    }
    if ((rows <= 1 || row_stride == 1) && (cols <= 1 || col_stride >= (rows > 1 ? rows : 1))) {
        *op = 'T';
        *ld = cols > 1 ? col_stride : rows > 1 ? rows : 1;
        return true;
    }
    return false;
}

/* ---- one column times one row ---- */

/* Results larger than the caches: their lines need not be read before they are overwritten. */
#if defined(__SSE2__)
#include <emmintrin.h>
#define STREAM_ROW(T, V, SET, MUL, LOADU, STORE)                                                            \
    int64_t head = (int64_t)((-(uintptr_t)c & 15) / sizeof(T)), j = 0;                                      \
    for (; j < head && j < cols; j++) c[j] = x * b[j];                                                      \
    V vx = SET(x);                                                                                          \
    for (; j + (int64_t)(16 / sizeof(T)) <= cols; j += 16 / sizeof(T)) STORE(c + j, MUL(vx, LOADU(b + j))); \
    for (; j < cols; j++) c[j] = x * b[j];
static void stream_f32(int64_t cols, float x, const float *b, float *c)
{
    STREAM_ROW(float, __m128, _mm_set1_ps, _mm_mul_ps, _mm_loadu_ps, _mm_stream_ps)
}
static void stream_f64(int64_t cols, double x, const double *b,
                       double *c){STREAM_ROW(double, __m128d, _mm_set1_pd, _mm_mul_pd, _mm_loadu_pd, _mm_stream_pd)}
#define STREAM_END() _mm_sfence()
#else
#define stream_f32 scale_f32
#define stream_f64 scale_f64
#define STREAM_END() (void)0
#endif

#define OUTER(X, T)                                                                                           \
    TP_CLONES static void rows_##X(int64_t rows, int64_t cols, const T *a, int64_t step, const T *restrict b, \
                                   T *restrict c)                                                             \
    {                                                                                                         \
        for (int64_t i = 0; i < rows; i++, c += cols) {                                                       \
            T x = a[i * step];                                                                                \
            for (int64_t j = 0; j < cols; j++) c[j] = x * b[j];                                               \
        }                                                                                                     \
    }                                                                                                         \
    void tpi_outer_##X(int64_t rows, int64_t cols, const T *a, int64_t step, const T *b, T *c, bool stream)   \
    {                                                                                                         \
        if (!stream || cols < 16) {                                                                           \
            rows_##X(rows, cols, a, step, b, c);                                                              \
            return;                                                                                           \
        }                                                                                                     \
        for (int64_t i = 0; i < rows; i++) stream_##X(cols, a[i * step], b, c + i * cols);                    \
        STREAM_END();                                                                                         \
    }
OUTER(f32, float) OUTER(f64, double)

/* ---- stacks ---- */

/* Neighbouring dimensions that both operands walk alike become one; sizes of 1 go. */
    static void merge(tpi_gemm_stack *s)
{
    int n = 0;
    for (int d = 0; d < s->ndim; d++) {
        if (s->shape[d] == 1) continue;
        if (n && s->sa[n - 1] == s->sa[d] * s->shape[d] && s->sb[n - 1] == s->sb[d] * s->shape[d])
            s->shape[n - 1] *= s->shape[d];
        else s->shape[n++] = s->shape[d];
        s->sa[n - 1] = s->sa[d];
        s->sb[n - 1] = s->sb[d];
    }
    s->ndim = n;
}

typedef struct stack_job {
    const tpi_gemm_stack *s;
    int64_t size, rows;      /* bytes of an element; rows of c a unit of work has */
    bool outer, stream;
    _Atomic int status;
} stack_job;

static void stack_range(int64_t begin, int64_t end, void *ctx)
{
    stack_job *j = ctx;
    const tpi_gemm_stack *s = j->s;
    int64_t at[TP_MAX_NDIM], a = 0, b = 0;
    for (int d = s->ndim - 1, i = 0; d >= 0; d--, i++) {
        int64_t left = begin;
        for (int e = s->ndim - 1; e > d; e--) left /= s->shape[e];
        at[d] = left % s->shape[d];
        a += at[d] * s->sa[d];
        b += at[d] * s->sb[d];
    }
    for (int64_t i = begin; i < end; i++) {
        const char *pa = s->a + a * j->size, *pb = s->b + b * j->size;
        char *pc = s->c + i * s->m * s->n * j->size;
        if (j->outer) {
            int64_t step = s->op_a == 'N' ? s->lda : 1;
            if (s->dtype == TP_FLOAT32)
                tpi_outer_f32(s->m, s->n, (const float *)pa, step, (const float *)pb, (float *)pc, j->stream);
            else tpi_outer_f64(s->m, s->n, (const double *)pa, step, (const double *)pb, (double *)pc, j->stream);
        } else {
            int rc = tpi_gemm(s->dtype, s->op_a, s->op_b, s->m, s->n, s->k, pa, s->lda, pb, s->ldb, false, pc, s->n);
            if (rc) j->status = rc;
        }
        for (int d = s->ndim - 1; d >= 0; d--) {
            a += s->sa[d];
            b += s->sb[d];
            if (++at[d] < s->shape[d]) break;
            a -= s->sa[d] * s->shape[d];
            b -= s->sb[d] * s->shape[d];
            at[d] = 0;
        }
    }
}

typedef struct outer_job {
    const tpi_gemm_stack *s;
    int64_t size, step;
    bool stream;
} outer_job;

static void outer_range(int64_t begin, int64_t end, void *ctx)
{
    outer_job *j = ctx;
    const tpi_gemm_stack *s = j->s;
    const char *a = s->a + begin * j->step * j->size;
    char *c = s->c + begin * s->n * j->size;
    if (s->dtype == TP_FLOAT32)
        tpi_outer_f32(end - begin, s->n, (const float *)a, j->step, (const float *)s->b, (float *)c, j->stream);
    else tpi_outer_f64(end - begin, s->n, (const double *)a, j->step, (const double *)s->b, (double *)c, j->stream);
}

int tpi_gemm_run(tpi_gemm_stack *s)
{
    const double thread_work = 64.0 * 64 * 64;
    int64_t total = 1;
    int size = tpi_esize(s->dtype);
    merge(s);
    for (int d = 0; d < s->ndim; d++) total *= s->shape[d];
    if (total == 0 || s->m == 0 || s->n == 0) return TP_OK;

    /* Rows of a that follow each other, and one b: a single product. */
    if (s->ndim == 1 && s->sb[0] == 0 && s->op_a == 'N' && (s->m == 1 ? s->sa[0] >= s->k : s->sa[0] == s->m * s->lda)) {
        if (s->m == 1) s->lda = s->sa[0] > 0 ? s->sa[0] : 1;
        s->m *= total;
        s->ndim = 0;
        total = 1;
    }
    bool contiguous_b = s->op_b == 'N' || s->ldb == 1 || s->n == 1;
    stack_job j = {.s = s, .size = size};
    j.outer = s->k == 1 && (s->dtype == TP_FLOAT32 || s->dtype == TP_FLOAT64) && contiguous_b;
    j.stream = (double)total * (double)s->m * (double)s->n * size > 48.0 * (1 << 20);
    if (j.outer && total == 1) {
        outer_job o = {s, size, s->op_a == 'N' ? s->lda : 1, j.stream};
        tpi_parallel_for(s->m, 1 + 32768 / s->n, outer_range, &o);
        return TP_OK;
    }
    double work = (double)s->m * (double)s->n * (double)(s->k ? s->k : 1);
    if (j.outer) work *= 8;
    /* Few large products are cut by themselves, many by the stack. */
    if (total < 2 * tp_get_num_threads() && work >= 2 * thread_work) stack_range(0, total, &j);
    else tpi_parallel_for(total, work >= thread_work ? 1 : (int64_t)(thread_work / work) + 1, stack_range, &j);
    return j.status == TP_OK ? TP_OK : tpi_fail(j.status, "out of memory: work memory of a matrix product");
}
