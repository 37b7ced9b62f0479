#define _GNU_SOURCE
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/blas.h"
#include "core/error.h"
#include "core/pool.h"
#include "../check.h"

/* Every product is made with small integers, which all of these types add up exactly. */
static unsigned state = 1;

static int digit(void)
{
    state = state * 1664525 + 1013904223;
    return (int)(state >> 24) % 7 - 3;
}

static bool lies_down(char op) { return op == 'T' || op == 'C'; }

static bool conjugated(char op) { return op == 'C' || op == 'R'; }

#define TEST(X, T, IMAG)                                                                                           \
    typedef int gemm_##X(char, char, int64_t, int64_t, int64_t, const T *, int64_t, const T *, int64_t, bool, T *, \
                         int64_t);                                                                                 \
                                                                                                                   \
    static T *matrix_##X(int64_t rows, int64_t stride)                                                             \
    {                                                                                                              \
        T *x = malloc(sizeof *x * (size_t)(rows * stride + 1));                                                    \
        for (int64_t i = 0; i < rows * stride; i++) x[i] = (T)digit() + (T)(IMAG * digit());                       \
        return x;                                                                                                  \
    }                                                                                                              \
                                                                                                                   \
    static void check_##X(gemm_##X *gemm, const char *which, char ta, char tb, int64_t m, int64_t n, int64_t k,    \
                          int pad, bool add)                                                                       \
    {                                                                                                              \
        int64_t lda = (lies_down(ta) ? m : k) + pad, ldb = (lies_down(tb) ? k : n) + pad, ldc = n + pad;           \
        T *a = matrix_##X(lies_down(ta) ? k : m, lda), *b = matrix_##X(lies_down(tb) ? n : k, ldb);                \
        T *c = matrix_##X(m, ldc), *expect = malloc(sizeof *c * (size_t)(m * ldc + 1));                            \
        memcpy(expect, c, sizeof *c * (size_t)(m * ldc));                                                          \
        for (int64_t i = 0; i < m; i++)                                                                            \
            for (int64_t j = 0; j < n; j++) {                                                                      \
                T sum = add ? c[i * ldc + j] : 0;                                                                  \
                for (int64_t p = 0; p < k; p++) {                                                                  \
                    T x = lies_down(ta) ? a[p * lda + i] : a[i * lda + p];                                         \
                    T y = lies_down(tb) ? b[j * ldb + p] : b[p * ldb + j];                                         \
                    sum += (conjugated(ta) ? (T)conj(x) : x) * (conjugated(tb) ? (T)conj(y) : y);                  \
                }                                                                                                  \
                expect[i * ldc + j] = sum;                                                                         \
                if (!add) c[i * ldc + j] = (T)NAN; /* is replaced, not multiplied by zero */                       \
            }                                                                                                      \
        int status = gemm(ta, tb, m, n, k, a, lda, b, ldb, add, c, ldc);                                           \
        CHECK_MSG(status == TP_OK, "status %d", status);                                                           \
        for (int64_t i = 0; i < m * ldc; i++)                                                                      \
            if (c[i] != expect[i]) {                                                                               \
                CHECK_MSG(0, "%s " #X " %c%c m %d n %d k %d pad %d add %d: [%d, %d] is %g, not %g", which, ta, tb, \
                          (int)m, (int)n, (int)k, pad, add, (int)(i / ldc), (int)(i % ldc), (double)creal(c[i]),   \
                          (double)creal(expect[i]));                                                               \
                break;                                                                                             \
            }                                                                                                      \
        free(a);                                                                                                   \
        free(b);                                                                                                   \
        free(c);                                                                                                   \
        free(expect);                                                                                              \
    }                                                                                                              \
                                                                                                                   \
    static void sizes_##X(gemm_##X *gemm, const char *which, bool big)                                             \
    {                                                                                                              \
        const int64_t edge[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 33, 64};                                             \
        const char *ops = (IMAG) != 0 ? "NTCR" : "NTC";                                                            \
        for (const char *ta = ops; *ta; ta++)                                                                      \
            for (const char *tb = ops; *tb; tb++) {                                                                \
                for (int i = 0; i < 11; i++)                                                                       \
                    for (int j = 0; j < 11; j++)                                                                   \
                        for (int l = 0; l < 11; l += 1 + (i + j) % 3)                                              \
                            check_##X(gemm, which, *ta, *tb, edge[i], edge[j], edge[l], (i + j + l) % 3,           \
                                      (i ^ j ^ l) & 1);                                                            \
                const int64_t large[][3] = {{1, 700, 900},  {900, 1, 700}, {130, 140, 150}, {9, 2100, 20},         \
                                            {300, 20, 300}, {7, 8, 20000}, {513, 10, 65},   {157, 113, 269}};      \
                for (int i = 0; i < (big ? 8 : 0); i++)                                                            \
                    check_##X(gemm, which, *ta, *tb, large[i][0], large[i][1], large[i][2], i % 2 * 5, i / 2 & 1); \
            }                                                                                                      \
    }

TEST(f32, float, 0)
TEST(f64, double, 0)
TEST(c64, float complex, I)
TEST(c128, double complex, I)

static void own_kernels(void)
{
    sizes_f32(tpi_gemm_own_f32, "own", true);
    sizes_f64(tpi_gemm_own_f64, "own", true);
    sizes_c64(tpi_gemm_own_c64, "own", true);
    sizes_c128(tpi_gemm_own_c128, "own", true);
}

static void through_blas(void)
{
    for (int threads = 1; threads <= 3; threads += 2) {
        tp_set_num_threads(threads);
        sizes_f32(tpi_gemm_f32, "blas", true);
        sizes_f64(tpi_gemm_f64, "blas", true);
        sizes_c64(tpi_gemm_c64, "blas", true);
        sizes_c128(tpi_gemm_c128, "blas", true);
    }
}

static void *multiply(void *unused)
{
    (void)unused;
    enum { N = 150 };
    float *a = malloc(N * N * sizeof *a), *b = malloc(N * N * sizeof *b);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N * N; i++) a[i] = (float)((i + round) % 5);
        CHECK_INT(tpi_gemm_f32('N', 'T', N, N, N, a, N, a, N, false, b, N), TP_OK);
        for (int i = 0; i < N; i += 37)
            for (int j = 0; j < N; j += 11) {
                float sum = 0;
                for (int p = 0; p < N; p++) sum += a[i * N + p] * a[j * N + p];
                CHECK(b[i * N + j] == sum);
            }
    }
    free(a);
    free(b);
    return NULL;
}

static void in_threads(void)
{
    tp_set_num_threads(3);
    pthread_t thread[8];
    for (int i = 0; i < 8; i++) REQUIRE(pthread_create(&thread[i], NULL, multiply, NULL) == 0);
    for (int i = 0; i < 8; i++) pthread_join(thread[i], NULL);
}

#ifndef __SANITIZE_THREAD__
/* A fork waits for the calls inside BLAS, and the child's own calls work. */
static void forked(void)
{
    tp_set_num_threads(2);
    pthread_t thread[3];
    for (int i = 0; i < 3; i++) REQUIRE(pthread_create(&thread[i], NULL, multiply, NULL) == 0);
    for (int i = 0; i < 20; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(30);
            check_failures = 0;
            multiply(NULL);
            _exit(check_failures != 0);
        }
        int status;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
    }
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
}
#endif

static void infinities(void)
{
    /* No padding of a kernel may meet them: 0 * inf would be NaN. */
    enum { N = 37 };
    static double a[N * N], b[N * N], c[N * N];
    for (int i = 0; i < N * N; i++) {
        a[i] = 1;
        b[i] = INFINITY;
    }
    CHECK_INT(tpi_gemm_f64('N', 'N', N, N, N, a, N, b, N, false, c, N), TP_OK);
    for (int i = 0; i < N * N; i++) CHECK(isinf(c[i]));
}

int main(void)
{
    RUN(own_kernels);
    RUN(through_blas);
    RUN(in_threads);
#ifndef __SANITIZE_THREAD__
    RUN(forked);
#endif
    RUN(infinities);
    const char *library = tp_blas_library();
    REQUIRE(library != NULL);
    printf("     BLAS: %s\n", library);
    void *potrf = tpi_lapack_symbol("dpotrf_");
    CHECK(!strcmp(library, "built-in") ? potrf == NULL : potrf != NULL);
    CHECK(tpi_lapack_symbol("no_such_routine_") == NULL);
    return check_finish();
}
