#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/cpu.h"
#include "core/error.h"
#include "core/pool.h"
#include "../check.h"

typedef struct cover {
    _Atomic unsigned char *seen;
    int64_t n, grain;
    _Atomic int64_t calls;
} cover;

static void mark(int64_t begin, int64_t end, void *ctx)
{
    cover *c = ctx;
    c->calls++;
    if (begin < 0 || begin >= end || end > c->n || begin % c->grain)
        CHECK_MSG(0, "range [%ld, %ld) of %ld, grain %ld", (long)begin, (long)end, (long)c->n, (long)c->grain);
    for (int64_t i = begin; i < end; i++) c->seen[i]++;
}

static void check_cover(int64_t n, int64_t grain)
{
    cover c = {.seen = calloc((size_t)n + 1, 1), .n = n, .grain = grain};
    tpi_parallel_for(n, grain, mark, &c);
    for (int64_t i = 0; i < n; i++)
        if (c.seen[i] != 1) {
            CHECK_MSG(0, "n %ld grain %ld: %ld seen %d times", (long)n, (long)grain, (long)i, c.seen[i]);
            break;
        }
    if (n <= grain) CHECK_INT(c.calls, n > 0);
    free((void *)c.seen);
}

static void covers_once(void)
{
    for (int threads = 1; threads <= 5; threads++) {
        CHECK_INT(tp_set_num_threads(threads), TP_OK);
        CHECK_INT(tp_get_num_threads(), threads);
        const int64_t n[] = {0, 1, 2, 7, 64, 1000, 4097, 100000};
        const int64_t grain[] = {1, 2, 16, 1000, 100000};
        for (int i = 0; i < 8; i++)
            for (int g = 0; g < 5; g++) check_cover(n[i], grain[g]);
    }
    cover none = {0};
    tpi_parallel_for(-5, 1, mark, &none);
    CHECK_INT(none.calls, 0);
}

static void whole(int64_t begin, int64_t end, void *ctx)
{
    (void)begin;
    CHECK(!tpi_in_parallel());
    *(int64_t *)ctx = end;
}

static void bad_arguments(void)
{
    CHECK_INT(tp_set_num_threads(0), TP_ERR_VALUE);
    CHECK_INT(tp_set_num_threads(-3), TP_ERR_VALUE);
    CHECK_INT(tp_set_num_threads(1 << 20), TP_ERR_VALUE);
    tp_error_clear();
    tp_set_num_threads(1);
    int64_t end = 0;
    tpi_parallel_for(INT64_MAX, 1, whole, &end);
    CHECK(end == INT64_MAX);
    CHECK(tpi_cpu_count() >= 1);
    CHECK(tpi_available_memory() > 0);
    CHECK(!strcmp(tp_cpu_capability(), "avx512") || !strcmp(tp_cpu_capability(), "avx2") ||
          !strcmp(tp_cpu_capability(), "neon") || !strcmp(tp_cpu_capability(), "default"));
}

static void inner(int64_t begin, int64_t end, void *ctx) { atomic_fetch_add((_Atomic int64_t *)ctx, end - begin); }

static void outer(int64_t begin, int64_t end, void *ctx)
{
    CHECK(tpi_in_parallel());
    for (int64_t i = begin; i < end; i++) tpi_parallel_for(100, 1, inner, ctx);
}

static void nested(void)
{
    tp_set_num_threads(4);
    _Atomic int64_t sum = 0;
    CHECK(!tpi_in_parallel());
    tpi_parallel_for(200, 1, outer, &sum);
    CHECK(!tpi_in_parallel());
    CHECK_INT(sum, 20000);
}

static void *caller(void *unused)
{
    (void)unused;
    for (int i = 0; i < 300; i++) {
        _Atomic int64_t sum = 0;
        tpi_parallel_for(1000, 10, inner, &sum);
        CHECK_INT(sum, 1000);
    }
    return NULL;
}

static void concurrent_callers(void)
{
    tp_set_num_threads(3);
    pthread_t thread[8];
    for (int i = 0; i < 8; i++) REQUIRE(pthread_create(&thread[i], NULL, caller, NULL) == 0);
    for (int i = 0; i < 20; i++) /* meanwhile */
        tp_set_num_threads(1 + i % 5);
    for (int i = 0; i < 8; i++) pthread_join(thread[i], NULL);
}

typedef struct meeting {
    int n;
    _Atomic int arrived;
    _Atomic int seen;
} meeting;

/* Ends only when all have begun: a pool that ran jobs in turn would hang here. */
static void meet(int index, void *ctx)
{
    meeting *m = ctx;
    CHECK(m->n == 1 || tpi_in_parallel());
    m->seen |= 1 << index;
    m->arrived++;
    while (m->arrived < m->n) sched_yield();
}

static _Atomic int gangs, refused;

static void *gang_caller(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++) {
        meeting m = {.n = 2 + i % 3};
        if (tpi_run_jobs(m.n, meet, &m)) {
            CHECK_INT(m.seen, (1 << m.n) - 1);
            gangs++;
        } else {
            CHECK_INT(m.seen, 0);
            refused++;
        }
        _Atomic int64_t sum = 0;
        tpi_parallel_for(100, 1, inner, &sum);
        CHECK_INT(sum, 100);
    }
    return NULL;
}

static void job_in_body(int64_t begin, int64_t end, void *ctx)
{
    (void)begin;
    (void)end;
    (void)ctx;
    meeting m = {.n = 2};
    CHECK_INT(tpi_run_jobs(2, meet, &m), 0);
    m.n = 1;
    CHECK_INT(tpi_run_jobs(1, meet, &m), 1);
}

static void all_jobs_or_none(void)
{
    tp_set_num_threads(4);
    meeting m = {.n = 4};
    CHECK_INT(tpi_run_jobs(4, meet, &m), 1);
    CHECK_INT(m.seen, 15);
    meeting many = {.n = 5};
    CHECK_INT(tpi_run_jobs(5, meet, &many), 0);
    CHECK_INT(tpi_run_jobs(0, meet, &many), 1);
    CHECK_INT(many.seen, 0);
    meeting alone = {.n = 1};
    CHECK_INT(tpi_run_jobs(1, meet, &alone), 1);
    tpi_parallel_for(8, 1, job_in_body, NULL);
    pthread_t thread[5];
    for (int i = 0; i < 5; i++) REQUIRE(pthread_create(&thread[i], NULL, gang_caller, NULL) == 0);
    for (int i = 0; i < 5; i++) pthread_join(thread[i], NULL);
    CHECK(gangs > 0);
    CHECK_INT(gangs + refused, 500);
}

#ifndef __SANITIZE_THREAD__
static _Atomic int stop;

static void *busy(void *unused)
{
    (void)unused;
    while (!stop) {
        _Atomic int64_t sum = 0;
        tpi_parallel_for(1000, 10, inner, &sum);
    }
    return NULL;
}

/* A child of a process whose pool is at work gets a pool of its own. */
static void forked(void)
{
    tp_set_num_threads(3);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, busy, NULL) == 0);
    for (int i = 0; i < 30; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            _Atomic int64_t sum = 0;
            tpi_parallel_for(1000, 10, inner, &sum);
            meeting m = {.n = 3};
            int ran = tpi_run_jobs(3, meet, &m);
            _exit(sum == 1000 && ran == 1 && m.seen == 7 ? 0 : 1);
        }
        int status;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
    }
    stop = 1;
    pthread_join(thread, NULL);
}
#endif

int main(void)
{
    RUN(bad_arguments);
    RUN(covers_once);
    RUN(nested);
    RUN(concurrent_callers);
    RUN(all_jobs_or_none);
#ifndef __SANITIZE_THREAD__
    RUN(forked);
#endif
    return check_finish();
}
