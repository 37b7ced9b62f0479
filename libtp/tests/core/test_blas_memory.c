/* OpenBLAS alone ends the process when it can't allocate. In children with every amount of address space
 * left over, a product must either be right or fail with TP_ERR_MEMORY, and work once there is room. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/blas.h"
#include "core/error.h"
#include "core/pool.h"
#include "../check.h"

enum { N = 256, OK = 0, MEMORY = 1, WRONG = 2, SETUP = 3, STUCK = 4 };

static float a[N * N], c[N * N];

static int product(void)
{
    for (int i = 0; i < N * N; i++) a[i] = (float)(i % 3);
    tp_error_clear();
    int status = tpi_gemm_f32('N', 'T', N, N, N, a, N, a, N, false, c, N);
    if (status == TP_ERR_MEMORY) return tp_error_code() == TP_ERR_MEMORY ? MEMORY : WRONG;
    if (status != TP_OK) return WRONG;
    float sum = 0;
    for (int p = 0; p < N; p++) sum += a[3 * N + p] * a[5 * N + p];
    return c[3 * N + 5] == sum ? OK : WRONG;
}

static size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%lu", &pages) != 1) _exit(SETUP);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void limit(size_t more)
{
    struct rlimit now;
    getrlimit(RLIMIT_AS, &now);
    now.rlim_cur = address_space() + more;
    if (setrlimit(RLIMIT_AS, &now) != 0) _exit(SETUP);
}

static void unlimit(void)
{
    struct rlimit now;
    getrlimit(RLIMIT_AS, &now);
    now.rlim_cur = now.rlim_max;
    setrlimit(RLIMIT_AS, &now);
}

static _Atomic int worst;

static void *thread_product(void *unused)
{
    (void)unused;
    /* Small enough not to be cut, so that the threads meet inside BLAS. */
    enum { M = 120 };
    static const float one[M * M];
    float *to = malloc(sizeof(float) * M * M);
    if (!to) return NULL;
    for (int i = 0; i < 50; i++) {
        int status = tpi_gemm_f32('N', 'N', M, M, M, one, M, one, M, false, to, M);
        if (status != TP_OK && status != TP_ERR_MEMORY) worst = WRONG;
    }
    free(to);
    return NULL;
}

/* The child's result, or -1 where it did not end by itself. */
static int in_child(int (*body)(size_t), size_t more)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(body(more));
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int first_product(size_t more)
{
    limit(more);
    int result = product();
    if (result != MEMORY) return result;
    if (product() != MEMORY) return WRONG; /* failing once does not change the next answer */
    unlimit();
    return product() == OK ? MEMORY : STUCK;
}

static int later_product(size_t more)
{
    if (product() != OK) return SETUP;
    limit(more);
    return product();
}

/* Loaded, but no product yet: only the work buffer is missing. */
static int loaded_product(size_t more)
{
    if (!tp_blas_library()) return SETUP;
    limit(more);
    int result = product();
    if (result != MEMORY) return result;
    unlimit();
    return product() == OK ? MEMORY : STUCK;
}

static int many_threads(size_t more)
{
    if (product() != OK) return SETUP;
    pthread_t thread[6];
    limit(more + ((size_t)6 << 20));
    int n = 0;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 1 << 18);
    while (n < 6 && pthread_create(&thread[n], &attr, thread_product, NULL) == 0) n++;
    while (n) pthread_join(thread[--n], NULL);
    return worst;
}

static void sweep(int (*body)(size_t), const char *name, int step)
{
    int ok = 0, memory = 0;
    for (int mib = 0; mib <= 400; mib += mib < 160 ? step : 40) {
        int result = in_child(body, (size_t)mib << 20);
        CHECK_MSG(result == OK || result == MEMORY, "%s with %d MiB: %d", name, mib, result);
        ok += result == OK;
        memory += result == MEMORY;
    }
    CHECK_MSG(ok > 0, "%s: %d failed for lack of memory", name, memory);
    printf("     %s: %d done, %d out of memory\n", name, ok, memory);
}

static void before_loading(void) { sweep(first_product, "first product", 3); }

static void before_the_first_buffer(void) { sweep(loaded_product, "first product after loading", 3); }

static void afterwards(void) { sweep(later_product, "later product", 4); }

static void in_several_threads(void) { sweep(many_threads, "products in threads", 8); }

static void with_data_limit(void)
{
    struct rlimit old, now;
    getrlimit(RLIMIT_DATA, &old);
    now = old;
    now.rlim_cur = (size_t)24 << 20;
    REQUIRE(setrlimit(RLIMIT_DATA, &now) == 0);
    int result = in_child(first_product, (size_t)4 << 30);
    setrlimit(RLIMIT_DATA, &old);
    CHECK_MSG(result == OK || result == MEMORY || result == STUCK, "%d", result);
}

int main(void)
{
#if defined(TP_SANITIZE) || defined(__SANITIZE_THREAD__)
    puts("skipped: the sanitizers' own memory does not fit a limit");
    return 77;
#endif
    tp_set_num_threads(2);
    RUN(before_loading);
    RUN(before_the_first_buffer);
    RUN(afterwards);
    RUN(in_several_threads);
    RUN(with_data_limit);
    return check_finish();
}
