#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "../check.h"

static tp_memory_stats stats(void)
{
    tp_memory_stats s = {.struct_size = sizeof s};
    CHECK_INT(tp_get_memory_stats(&s), TP_OK);
    return s;
}

static bool caching(void)
{
#ifdef TP_SANITIZE
    return false;
#else
    const char *off = getenv("TP_NO_CACHE");
    return !(off && !strcmp(off, "1"));
#endif
}

static const size_t sizes[] = {
    0,       1,        63,      64,    65,     1023,   1024,    1025,          1280,    1281,          65535,
    65536,   65537,    73728,   73729, 131072, 131073, 1048576, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20,
    9999999, 33554432, 33554433};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void aligned_and_writable(void)
{
    for (int round = 0; round < 3; round++) {
        char *p[SIZES];
        for (int i = 0; i < SIZES; i++) {
            p[i] = round == 1 ? tpi_calloc(sizes[i]) : tpi_alloc(sizes[i]);
            REQUIRE(p[i]);
            CHECK_INT((uintptr_t)p[i] % 64, 0);
            if (round == 1)
                for (size_t j = 0; j < sizes[i]; j++)
                    if (p[i][j]) {
                        CHECK_MSG(0, "calloc of %zu: byte %zu", sizes[i], j);
                        break;
                    }
            memset(p[i], i + 1, sizes[i]);
        }
        for (int i = 0; i < SIZES; i++) {
            for (size_t j = 0; j < sizes[i]; j += 61)
                if (p[i][j] != i + 1) {
                    CHECK_MSG(0, "block of %zu: byte %zu overwritten", sizes[i], j);
                    break;
                }
            tpi_free(p[i], sizes[i]);
        }
    }
    tpi_free(NULL, 100);
    tpi_obj_free(NULL, 100);
}

static void counted(void)
{
    tp_empty_cache();
    tp_memory_stats a = stats();
    void *p = tpi_alloc(10 << 20), *q = tpi_alloc(100);
    tp_memory_stats b = stats();
    CHECK_INT(b.allocated_bytes - a.allocated_bytes, (10 << 20) + 100);
    CHECK_INT(b.allocation_count - a.allocation_count, 2);
    CHECK(b.peak_bytes >= b.allocated_bytes);
    tpi_free(p, 10 << 20);
    tpi_free(q, 100);
    tp_memory_stats c = stats();
    CHECK_INT(c.allocated_bytes, a.allocated_bytes);
    CHECK_INT(c.peak_bytes >= b.allocated_bytes, 1);
    CHECK_INT(c.cached_bytes, caching() ? (10 << 20) + 128 : 0);
    if (caching()) {
        CHECK(tpi_alloc(10 << 20) == p);
        tpi_free(p, 10 << 20);
    }
    tp_empty_cache();
    CHECK_INT(stats().cached_bytes, 0);
    tp_memory_stats bad = {.struct_size = 1};
    CHECK_INT(tp_get_memory_stats(&bad), TP_ERR_VALUE);
    CHECK_INT(tp_get_memory_stats(NULL), TP_ERR_VALUE);
}

static void impossible_sizes(void)
{
    const size_t huge[] = {SIZE_MAX, SIZE_MAX - 63, (size_t)1 << 63, (size_t)1 << 47, (size_t)1 << 46};
    for (int i = 0; i < 5; i++) {
        tp_error_clear();
        CHECK(tpi_alloc(huge[i]) == NULL);
        CHECK_INT(tp_error_code(), TP_ERR_MEMORY);
        char message[64];
        snprintf(message, sizeof message, "out of memory: %zu bytes", huge[i]);
        CHECK_STR(tp_error_message(), message);
        CHECK(tpi_calloc(huge[i]) == NULL);
    }
    tp_error_clear();
}

#if !defined(TP_SANITIZE) && !defined(__SANITIZE_THREAD__)
#define LIMITED 1
/* With the address space limited: what is cached is given back before an allocation fails, and a failed one
 * leaves everything working. In a child, which a crash does not take along. */
static void limited_child(void)
{
    enum { BLOCK = 32 << 20, COUNT = 8 };
    void *p[COUNT];
    for (int i = 0; i < COUNT; i++) p[i] = tpi_alloc(BLOCK);
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (!f || fscanf(f, "%lu", &pages) != 1) _exit(2);
    fclose(f);
    struct rlimit limit = {pages * 4096 + (64 << 20), pages * 4096 + (64 << 20)};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    for (int i = 0; i < COUNT; i++) tpi_free(p[i], BLOCK);
    /* Fits only when the cached blocks have gone. */
    void *big = tpi_alloc(240 << 20);
    if (!big) _exit(3);
    tp_error_clear();
    if (tpi_alloc(512 << 20) || tp_error_code() != TP_ERR_MEMORY) _exit(4);
    tpi_free(big, 240 << 20);
    big = tpi_alloc(250 << 20);
    if (!big) _exit(5);
    /* Down to the last byte, then again. */
    static void *small[1 << 16];
    int n = 0;
    while (n < 1 << 16 && (small[n] = tpi_alloc(60000))) n++;
    void *object = tpi_obj_alloc(2000000000);
    if (object || tp_error_code() != TP_ERR_MEMORY) _exit(6);
    while (n--) tpi_free(small[n], 60000);
    tpi_free(big, 250 << 20);
    big = tpi_alloc(200 << 20);
    _exit(big ? 0 : 7);
}

static void failure_then_retry(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) limited_child();
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
}
#endif

static void bounded_caches(void)
{
    if (!caching()) return;
    tp_empty_cache();
    for (int round = 0; round < 3; round++) {
        static void *p[4096];
        for (int i = 0; i < 4096; i++) p[i] = tpi_alloc(1000 + 8 * i);
        for (int i = 0; i < 4096; i++) tpi_free(p[i], 1000 + 8 * i);
        CHECK(stats().cached_bytes <= 1 << 20);
    }
}

typedef struct parcel {
    void *p[256];
    size_t size[256];
    unsigned char mark[256];
} parcel;

static parcel mailbox[8];
static pthread_mutex_t mail = PTHREAD_MUTEX_INITIALIZER;

/* Each thread allocates, marks, and frees what another one has made. */
static void *exchange(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg * 77 + 1;
    for (int round = 0; round < 60; round++) {
        parcel mine;
        for (int i = 0; i < 256; i++) {
            seed = seed * 1664525 + 1013904223;
            mine.size[i] = (seed >> 8) % ((seed >> 28) == 0 ? 300000u : 2000u);
            mine.mark[i] = (unsigned char)(seed >> 16);
            mine.p[i] = i % 2 ? tpi_alloc(mine.size[i]) : tpi_obj_alloc(mine.size[i]);
            memset(mine.p[i], mine.mark[i], mine.size[i]);
        }
        pthread_mutex_lock(&mail);
        parcel other = mailbox[seed >> 29];
        mailbox[seed >> 29] = mine;
        pthread_mutex_unlock(&mail);
        for (int i = 0; i < 256; i++) {
            unsigned char *p = other.p[i];
            size_t n = other.size[i];
            if (p && n && (p[0] != other.mark[i] || p[n - 1] != other.mark[i]))
                CHECK_MSG(0, "block of %zu overwritten", n);
            if (i % 2) tpi_free(p, n);
            else tpi_obj_free(p, n);
        }
    }
    return NULL;
}

static void frees_on_other_threads(void)
{
    uint64_t before = stats().allocated_bytes;
    for (int generation = 0; generation < 3; generation++) {
        pthread_t thread[6];
        for (uintptr_t i = 0; i < 6; i++)
            REQUIRE(pthread_create(&thread[i], NULL, exchange, (void *)(i + 10 * (uintptr_t)generation)) == 0);
        for (int i = 0; i < 6; i++) pthread_join(thread[i], NULL);
    }
    for (int b = 0; b < 8; b++)
        for (int i = 0; i < 256; i++) (i % 2 ? tpi_free : tpi_obj_free)(mailbox[b].p[i], mailbox[b].size[i]);
    CHECK_INT(stats().allocated_bytes, before);
}

static pthread_key_t late;

static void late_destructor(void *value)
{
    /* Comes back until all other destructors have run. */
    static __thread int rounds;
    void *p = tpi_alloc(500), *q = tpi_obj_alloc(100);
    CHECK(p && q);
    memset(p, 1, 500);
    memset(q, 1, 100);
    tpi_free(p, 500);
    tpi_obj_free(q, 100);
    if (rounds++ < 2) pthread_setspecific(late, value);
}

static void *ends(void *unused)
{
    (void)unused;
    pthread_setspecific(late, &late);
    tpi_free(tpi_alloc(3000), 3000);
    tpi_obj_free(tpi_obj_alloc(200), 200);
    return NULL;
}

static void used_after_thread_exit(void)
{
    uint64_t before = stats().allocated_bytes;
    REQUIRE(pthread_key_create(&late, late_destructor) == 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, ends, NULL) == 0);
    pthread_join(thread, NULL);
    pthread_key_delete(late);
    CHECK_INT(stats().allocated_bytes, before);
}

static void objects(void)
{
    enum { N = 5000 };
    static unsigned char *p[N];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            size_t size = (size_t)(i * 7 % 700);
            p[i] = tpi_obj_alloc(size);
            REQUIRE(p[i]);
            CHECK((uintptr_t)p[i] % 16 == 0);
            memset(p[i], i & 255, size);
        }
        for (int i = 0; i < N; i++) {
            size_t size = (size_t)(i * 7 % 700);
            CHECK(!size || (p[i][0] == (i & 255) && p[i][size - 1] == (i & 255)));
            tpi_obj_free(p[i], size);
        }
    }
    if (caching()) {
        void *a = tpi_obj_alloc(100);
        tpi_obj_free(a, 100);
        CHECK(tpi_obj_alloc(128) == a); /* one class */
        tpi_obj_free(a, 128);
    }
}

int main(void)
{
    RUN(aligned_and_writable);
    RUN(counted);
    RUN(impossible_sizes);
#ifdef LIMITED
    RUN(failure_then_retry);
#endif
    RUN(bounded_caches);
    RUN(frees_on_other_threads);
    RUN(used_after_thread_exit);
    RUN(objects);
    return check_finish();
}
