#define _GNU_SOURCE
#include "blas.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "pool.h"
#include "tls.h"

#define MIB ((size_t)1 << 20)

/* The file beside libtp. */
#ifndef TP_OPENBLAS
#define TP_OPENBLAS "libscipy_openblas.so"
#endif

enum { CALLS_MAX = 32 }; /* at the same time: OpenBLAS ends the process when its table of buffers is full */

/* Work for a second thread, and for each further one. */
#define THREAD_WORK (64.0 * 64 * 64)

/* CBLAS's pinned enumeration values. */
enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112, CONJ_TRANS = 113, CONJ_NO_TRANS = 114 };

typedef void sgemm_fn(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
typedef void dgemm_fn(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *,
                      int);
typedef void zgemm_fn(int, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *,
                      void *, int);
typedef void sgemv_fn(int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
typedef void dgemv_fn(int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
typedef void strmm_fn(int, int, int, int, int, int, int, float, const float *, int, float *, int);

static struct {
    void *handle;
    const char *prefix;
    bool shared;          /* loaded by somebody else before: its thread count is not ours to set */
    size_t buffer_bytes;  /* what OpenBLAS maps for a call */
    sgemm_fn *sgemm;
    dgemm_fn *dgemm;
    zgemm_fn *cgemm, *zgemm;
    sgemv_fn *sgemv;
    dgemv_fn *dgemv;
    strmm_fn *strmm;
    char path[PATH_MAX];
} blas;

enum { UNTRIED, LOADED, ABSENT };
static _Atomic int state; /* goes from UNTRIED to one of the others under load_lock, then stays */
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static int calls;        /* now inside BLAS */
static bool has_buffer;  /* the first work buffer has been mapped */

/* -- memory -------------------------------------------------------------------------------------- */

/* Whether mapping memory can fail at all before the machine itself is out of it. */
static bool memory_is_limited(void)
{
    static _Atomic int strict; /* vm.overcommit_memory: 0 unknown, 1 no, 2 yes */
    if (!strict) {
        FILE *f = fopen("/proc/sys/vm/overcommit_memory", "re");
        strict = f && fgetc(f) == '2' ? 2 : 1;
        if (f) fclose(f);
    }
    struct rlimit space, data;
    return strict == 2 || getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur != RLIM_INFINITY ||
           getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur != RLIM_INFINITY;
}

/* Whether a mapping of that size can be had now. The page for rounding and the heap's growth are in it. */
static bool can_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        tp_empty_cache();
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (p == MAP_FAILED) return false;
    munmap(p, bytes);
    return true;
}

/* -- loading ------------------------------------------------------------------------------------- */

static void *symbol(const char *name)
{
    char full[128];
    if (snprintf(full, sizeof full, "%s%s", blas.prefix, name) >= (int)sizeof full) return NULL;
    return dlsym(blas.handle, full);
}

/* TP_OK if name has been loaded, TP_ERR_VALUE if it is not a usable BLAS, TP_ERR_MEMORY. */
static int load(const char *name)
{
    struct stat file = {.st_size = 48 << 20};
    if (strchr(name, '/') && stat(name, &file) != 0) return TP_ERR_VALUE;

    void *already = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (!already) {
        /* The library, its tables, two work buffers (of a build with the largest), a thread's stack. */
        size_t buffers = strstr(name, "scipy_openblas") ? 64 * MIB : 256 * MIB;
        if (memory_is_limited() && !can_map((size_t)file.st_size + buffers + 16 * MIB))
            return tpi_fail(TP_ERR_MEMORY, "out of memory: can't load %s", name);
    }

    /* OpenBLAS starts a thread for every CPU it may use but one as it is loaded; threads are our own. The
     * affinity of the calling thread is what it looks at, and no other thread sees it change. */
    cpu_set_t all, one;
    bool pinned = !already && sched_getaffinity(0, sizeof all, &all) == 0;
    if (pinned) {
        int cpu = 0;
        while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &all)) cpu++;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pinned = sched_setaffinity(0, sizeof one, &one) == 0;
    }
    blas.handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    char fault[256] = "";
    if (!blas.handle) {
        const char *text = dlerror();
        snprintf(fault, sizeof fault, "%s", text ? text : "");
    }
    if (pinned) sched_setaffinity(0, sizeof all, &all);
    if (already) dlclose(already);
    if (!blas.handle) {
        if (strstr(fault, "emory") || strstr(fault, "failed to map") || strstr(fault, "cannot map"))
            return tpi_fail(TP_ERR_MEMORY, "out of memory: can't load %s", name);
        return TP_ERR_VALUE;
    }

    blas.prefix = dlsym(blas.handle, "scipy_cblas_sgemm") ? "scipy_" : "";
    blas.sgemm = (sgemm_fn *)symbol("cblas_sgemm");
    blas.dgemm = (dgemm_fn *)symbol("cblas_dgemm");
    blas.cgemm = (zgemm_fn *)symbol("cblas_cgemm");
    blas.zgemm = (zgemm_fn *)symbol("cblas_zgemm");
    blas.sgemv = (sgemv_fn *)symbol("cblas_sgemv");
    blas.dgemv = (dgemv_fn *)symbol("cblas_dgemv");
    blas.strmm = (strmm_fn *)symbol("cblas_strmm");
    void (*set_num_threads)(int) = (void (*)(int))symbol("openblas_set_num_threads");
    if (!blas.sgemm || !blas.dgemm || !blas.cgemm || !blas.zgemm || !blas.sgemv || !blas.dgemv || !blas.strmm ||
        !set_num_threads) {
        dlclose(blas.handle);
        return TP_ERR_VALUE;
    }
    blas.shared = already != NULL;
    if (!blas.shared) set_num_threads(1);
    blas.buffer_bytes = *blas.prefix ? 33 * MIB : 129 * MIB;
    Dl_info info;
    const char *path = dladdr((void *)blas.sgemm, &info) && info.dli_fname ? info.dli_fname : name;
    snprintf(blas.path, sizeof blas.path, "%s", path);
    return TP_OK;
}

/* The folder libtp lies in, with the slash; "" where that is unknown. */
static void own_folder(char *folder, size_t size)
{
    Dl_info info;
    *folder = 0;
    if (!dladdr((void *)&state, &info) || !info.dli_fname) return;
    const char *slash = strrchr(info.dli_fname, '/');
    if (slash && (size_t)(slash - info.dli_fname) + 1 < size)
        snprintf(folder, size, "%.*s", (int)(slash - info.dli_fname) + 1, info.dli_fname);
}

/* A fork waits for the calls that are inside BLAS, so the child finds it unlocked and its buffers free. */
static void before_fork(void)
{
    pthread_mutex_lock(&load_lock);
    pthread_mutex_lock(&lock);
    while (calls) pthread_cond_wait(&left, &lock);
}

static void parent_after_fork(void)
{
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&load_lock);
}

static void child_after_fork(void)
{
    parent_after_fork();
    pthread_cond_init(&left, NULL);
}

static void watch_forks(void) { pthread_atfork(before_fork, parent_after_fork, child_after_fork); }

/* Loads a library unless that has been tried. TP_OK says that it has; see state for the result. */
static int ready(void)
{
    if (atomic_load_explicit(&state, memory_order_acquire) != UNTRIED) return TP_OK;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&load_lock);
    int status = TP_OK;
    if (state == UNTRIED) {
        char folder[PATH_MAX - 64], beside[PATH_MAX];
        own_folder(folder, sizeof folder);
        snprintf(beside, sizeof beside, "%s%s", folder, TP_OPENBLAS);
        const char *asked = getenv("TP_BLAS");
        /* By its bare name for a program that libtp is linked into: its run path is looked at. */
        const char *names[] = {asked, *folder ? beside : NULL, TP_OPENBLAS, "libopenblas.so.0"};
        bool none = asked && !strcmp(asked, "built-in");
        status = TP_ERR_VALUE;
        for (size_t i = 0; i < sizeof names / sizeof *names && !none && status == TP_ERR_VALUE; i++)
            if (names[i] && *names[i]) status = load(names[i]);
        /* Without memory the next call tries again. */
        if (status != TP_ERR_MEMORY) {
            atomic_store_explicit(&state, status == TP_OK ? LOADED : ABSENT, memory_order_release);
            status = TP_OK;
        }
    }
    pthread_mutex_unlock(&load_lock);
    return status;
}

const char *tp_blas_library(void)
{
    if (ready() != TP_OK) return NULL;
    return state == LOADED ? blas.path : "built-in";
}

void *tpi_lapack_symbol(const char *name) { return ready() == TP_OK && state == LOADED ? symbol(name) : NULL; }

/* -- calls --------------------------------------------------------------------------------------- */

/* The first use of the library's thread-local storage makes the C library allocate it, and end the process
 * where it can't; 64 KiB are more than that and the run-time loader's tables. */
static int first_in_thread(void)
{
    static TPI_TLS bool seen;
    if (seen) return TP_OK;
    void *volatile p = malloc(64 << 10);
    if (!p) return tpi_fail(TP_ERR_MEMORY, "out of memory: no room to call BLAS");
    free(p);
    seen = true;
    return TP_OK;
}

int tpi_blas_enter(void)
{
    if (first_in_thread() != TP_OK) return TP_ERR_MEMORY;
    pthread_mutex_lock(&lock);
    /* The first buffer: alone in here, a triangular product (which has no path for small sizes) takes and
     * keeps it, right after the same mapping has been had and given back. */
    while (!has_buffer) {
        if (calls) {
            pthread_cond_wait(&left, &lock);
            continue;
        }
        if (memory_is_limited() && !can_map(blas.buffer_bytes)) {
            pthread_mutex_unlock(&lock);
            return tpi_fail(TP_ERR_MEMORY, "out of memory: %zu bytes for BLAS", blas.buffer_bytes);
        }
        float a = 1, b = 1;
        blas.strmm(ROW_MAJOR, 141 /* left */, 121 /* upper */, NO_TRANS, 131 /* non-unit */, 1, 1, 1, &a, 1, &b, 1);
        has_buffer = true;
    }
    /* A further call may need a further buffer; where there is no room it waits for this one. */
    while (calls && (calls == CALLS_MAX || (memory_is_limited() && !can_map(blas.buffer_bytes))))
        pthread_cond_wait(&left, &lock);
    calls++;
    pthread_mutex_unlock(&lock);
    return TP_OK;
}

void tpi_blas_leave(void)
{
    pthread_mutex_lock(&lock);
    calls--;
    pthread_cond_broadcast(&left); /* enterers and forks wait for different things */
    pthread_mutex_unlock(&lock);
}

/* -- products ------------------------------------------------------------------------------------ */

typedef struct problem {
    char op_a, op_b;
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    bool accumulate;
} problem;

typedef struct kind {
    size_t size;
    double work;     /* of one multiplication, real single precision is 1 */
    double own_work; /* up to which libtp's own kernel is as fast */
    int (*own)(const problem *p);
    void (*call)(const problem *p); /* every number fits an int */
} kind;

static int transpose(char op)
{
    return op == 'N' ? NO_TRANS : op == 'T' ? TRANS : op == 'C' ? CONJ_TRANS : CONJ_NO_TRANS;
}

static bool lies_down(char op) { return op == 'T' || op == 'C'; }

#define OWN(X, T)                                                                                                    \
    static int own_##X(const problem *p)                                                                             \
    {                                                                                                                \
        return tpi_gemm_own_##X(p->op_a, p->op_b, p->m, p->n, p->k, p->a, p->lda, p->b, p->ldb, p->accumulate, p->c, \
                                p->ldc);                                                                             \
    }

/* A product with a vector is gemv's: matrix times column, or the transposed matrix times the row. */
#define CALL_REAL(X, T, GEMM, GEMV)                                                                                 \
    static void call_##X(const problem *p)                                                                          \
    {                                                                                                               \
        int ta = lies_down(p->op_a), tb = lies_down(p->op_b), m = (int)p->m, n = (int)p->n, k = (int)p->k;          \
        T beta = p->accumulate ? 1 : 0;                                                                             \
        if (n == 1)                                                                                                 \
            blas.GEMV(ROW_MAJOR, ta ? TRANS : NO_TRANS, ta ? k : m, ta ? m : k, 1, p->a, (int)p->lda, p->b,         \
                      tb ? 1 : (int)p->ldb, beta, p->c, (int)p->ldc);                                               \
        else if (m == 1)                                                                                            \
            blas.GEMV(ROW_MAJOR, tb ? NO_TRANS : TRANS, tb ? n : k, tb ? k : n, 1, p->b, (int)p->ldb, p->a,         \
                      ta ? (int)p->lda : 1, beta, p->c, 1);                                                         \
        else                                                                                                        \
            blas.GEMM(ROW_MAJOR, ta ? TRANS : NO_TRANS, tb ? TRANS : NO_TRANS, m, n, k, 1, p->a, (int)p->lda, p->b, \
                      (int)p->ldb, beta, p->c, (int)p->ldc);                                                        \
    }

#define CALL_COMPLEX(X, T, GEMM)                                                                                  \
    static void call_##X(const problem *p)                                                                        \
    {                                                                                                             \
        T one = 1, beta = p->accumulate ? 1 : 0;                                                                  \
        blas.GEMM(ROW_MAJOR, transpose(p->op_a), transpose(p->op_b), (int)p->m, (int)p->n, (int)p->k, &one, p->a, \
                  (int)p->lda, p->b, (int)p->ldb, &beta, p->c, (int)p->ldc);                                      \
    }

OWN(f32, float)
OWN(f64, double)
OWN(c64, float complex)
OWN(c128, double complex)
CALL_REAL(f32, float, sgemm, sgemv)
CALL_REAL(f64, double, dgemm, dgemv)
CALL_COMPLEX(c64, float complex, cgemm)
CALL_COMPLEX(c128, double complex, zgemm)

static const kind kind_f32 = {sizeof(float), 1, 64.0 * 64 * 64, own_f32, call_f32};
static const kind kind_f64 = {sizeof(double), 2, 2 * 64.0 * 64 * 64, own_f64, call_f64};
static const kind kind_c64 = {sizeof(float complex), 4, 4 * 12.0 * 12 * 12, own_c64, call_c64};
static const kind kind_c128 = {sizeof(double complex), 8, 8 * 12.0 * 12 * 12, own_c128, call_c128};

/* The part of p whose c is rows [i, i + m) and columns [j, j + n), and whose depth is [l, l + k). */
static problem part(const kind *t, const problem *p, int64_t i, int64_t m, int64_t j, int64_t n, int64_t l, int64_t k)
{
    problem q = *p;
    q.m = m;
    q.n = n;
    q.k = k;
    int64_t a = lies_down(p->op_a) ? l * p->lda + i : i * p->lda + l;
    int64_t b = lies_down(p->op_b) ? j * p->ldb + l : l * p->ldb + j;
    q.a = (const char *)p->a + a * (int64_t)t->size;
    q.b = (const char *)p->b + b * (int64_t)t->size;
    q.c = (char *)p->c + (i * p->ldc + j) * (int64_t)t->size;
    q.accumulate = p->accumulate || l > 0;
    return q;
}

/* One call in this thread. BLAS counts in 32 bits: longer dimensions are cut, longer rows are ours. */
static int whole(const kind *t, const problem *p, bool use_blas)
{
    const int64_t most = 1 << 30;
    if (!use_blas || p->lda > INT_MAX || p->ldb > INT_MAX || p->ldc > INT_MAX) return t->own(p);
    int status = tpi_blas_enter();
    if (status != TP_OK) return status;
    for (int64_t i = 0; i < p->m; i += most)
        for (int64_t j = 0; j < p->n; j += most)
            for (int64_t l = 0; l < p->k; l += most) {
                int64_t m = p->m - i, n = p->n - j, k = p->k - l;
                problem q = part(t, p, i, m < most ? m : most, j, n < most ? n : most, l, k < most ? k : most);
                t->call(&q);
            }
    tpi_blas_leave();
    return TP_OK;
}

typedef struct panels {
    const kind *kind;
    const problem *problem;
    bool use_blas;
    int64_t rows, columns, across; /* of a panel; panels in a row of them */
    _Atomic int status;
} panels;

static void run_panels(int64_t begin, int64_t end, void *ctx)
{
    panels *s = ctx;
    for (int64_t x = begin; x < end; x++) {
        int64_t i = x / s->across * s->rows, j = x % s->across * s->columns;
        int64_t m = s->problem->m - i, n = s->problem->n - j;
        problem q = part(s->kind, s->problem, i, m < s->rows ? m : s->rows, j, n < s->columns ? n : s->columns, 0,
                         s->problem->k);
        int status = whole(s->kind, &q, s->use_blas);
        if (status != TP_OK) s->status = status;
    }
}

static int64_t ceil_div(int64_t a, int64_t b) { return (a - 1) / b + 1; }

static int gemm(const kind *t, const problem *p)
{
    if (p->m <= 0 || p->n <= 0) return TP_OK;
    double work = (double)p->m * (double)p->n * (double)p->k * t->work;
    if (work <= t->own_work) return t->own(p); /* k == 0 as well */
    int status = ready();
    if (status != TP_OK) return status;

    panels s = {.kind = t, .problem = p, .use_blas = state == LOADED, .rows = p->m, .columns = p->n, .across = 1};
    int64_t down = 1;
    if (work >= 2 * THREAD_WORK && !(s.use_blas && blas.shared) && !tpi_in_parallel()) {
        /* As many panels as threads, of the shape that reads the least of a and b; widths that are
         * multiples of the micro-kernels'. */
        int threads = tp_get_num_threads();
        if (work < threads * THREAD_WORK) threads = (int)(work / THREAD_WORK);
        double least = 0;
        for (int d = 1; d <= threads; d++) {
            int64_t rows = ceil_div(ceil_div(p->m, d), 8) * 8, columns = ceil_div(ceil_div(p->n, threads / d), 16) * 16;
            double cost = (double)rows * (double)columns + 16 * ((double)rows + (double)columns);
            if (d == 1 || cost < least) {
                least = cost;
                s.rows = rows;
                s.columns = columns;
            }
        }
        s.across = ceil_div(p->n, s.columns);
        down = ceil_div(p->m, s.rows);
    }
    if (down * s.across == 1) return whole(t, p, s.use_blas);
    tpi_parallel_for(down * s.across, 1, run_panels, &s);
    return s.status == TP_OK ? TP_OK : tpi_fail(s.status, "out of memory: work memory of a matrix product");
}

#define GEMM(X, T)                                                                                               \
    int tpi_gemm_##X(char op_a, char op_b, int64_t m, int64_t n, int64_t k, const T *a, int64_t lda, const T *b, \
                     int64_t ldb, bool accumulate, T *c, int64_t ldc)                                            \
    {                                                                                                            \
        problem p = {op_a, op_b, m, n, k, a, b, c, lda, ldb, ldc, accumulate};                                   \
        return gemm(&kind_##X, &p);                                                                              \
    }

GEMM(f32, float)
GEMM(f64, double)
GEMM(c64, float complex)
GEMM(c128, double complex)
