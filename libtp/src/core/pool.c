#define _GNU_SOURCE
#include "pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cpu.h"
#include "error.h"
#include "tls.h"

enum {
    THREADS_MAX = 1024,
    STACK_BYTES = 2 << 20,
    CUTS = 4,    /* ranges a thread, so that a slow one does not hold up the rest */
    SPINS = 2000 /* rounds of waiting before sleeping: some tens of microseconds */
};

/* A parallel call. It lives on the caller's stack, in the queue while there is something to take. */
typedef struct work {
    void (*body)(int64_t, int64_t, void *);
    void (*job)(int, void *);
    void *ctx;
    int64_t n, chunk;
    _Atomic int64_t next; /* where the next range begins */
    _Atomic int active;   /* workers inside; changed under lock */
    int helpers;          /* workers that may still join */
    int claimed, njobs;   /* of a gang */
    struct work *queued;
} work;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Under lock. idle counts workers that run nothing, asleep, spinning or just started; a worker that looks
 * for work takes gang members first, so idle >= gang_open always, and every gang gets all its threads. */
static work *queue;
static int workers, idle, sleeping, gang_open;
static _Atomic unsigned news;       /* grows when something is queued */
static _Atomic unsigned generation; /* grows in a forked child */

static _Atomic int num_threads; /* 0: not asked for yet */
static TPI_TLS bool in_parallel;

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

int tp_get_num_threads(void)
{
    int n = atomic_load_explicit(&num_threads, memory_order_relaxed);
    if (n > 0) return n;
    const char *text = getenv("TP_NUM_THREADS");
    char *end = NULL;
    long asked = text ? strtol(text, &end, 10) : 0;
    n = text && end != text && !*end && asked > 0 ? (int)(asked < THREADS_MAX ? asked : THREADS_MAX) : tpi_cpu_count();
    int unset = 0;
    return atomic_compare_exchange_strong(&num_threads, &unset, n) ? n : unset;
}

int tp_set_num_threads(int n)
{
    if (n < 1 || n > THREADS_MAX)
        return tpi_fail(TP_ERR_VALUE, "set_num_threads: n must be between 1 and %d, got %d", THREADS_MAX, n);
    atomic_store(&num_threads, n);
    return TP_OK;
}

bool tpi_in_parallel(void) { return in_parallel; }

static void run_ranges(work *w)
{
    for (;;) {
        int64_t begin = atomic_fetch_add(&w->next, w->chunk);
        if (begin >= w->n) return;
        int64_t left = w->n - begin;
        w->body(begin, begin + (left < w->chunk ? left : w->chunk), w->ctx);
    }
}

/* What an idle worker does next; index is its place in a gang. Under lock. */
static work *find_work(int *index)
{
    for (work *w = queue; w; w = w->queued) {
        if (gang_open ? w->job && w->claimed < w->njobs : !w->job && w->helpers > 0 && w->next < w->n) {
            if (w->job) {
                *index = w->claimed++;
                gang_open--;
            } else {
                w->helpers--;
            }
            return w;
        }
    }
    return NULL;
}

static void *worker(void *unused)
{
    (void)unused;
    in_parallel = true;
    pthread_mutex_lock(&lock);
    for (;;) {
        unsigned seen = atomic_load(&news);
        int index = 0;
        work *w = find_work(&index);
        if (w) {
            idle--;
            w->active++;
            pthread_mutex_unlock(&lock);
            if (w->job) w->job(index, w->ctx);
            else run_ranges(w);
            pthread_mutex_lock(&lock);
            idle++;
            if (--w->active == 0) pthread_cond_broadcast(&done);
            continue;
        }
        pthread_mutex_unlock(&lock);
        for (int i = 0; i < SPINS && atomic_load_explicit(&news, memory_order_relaxed) == seen; i++) relax();
        pthread_mutex_lock(&lock);
        if (atomic_load(&news) == seen) {
            sleeping++;
            pthread_cond_wait(&wake, &lock);
            sleeping--;
        }
    }
    return NULL;
}

static void before_fork(void) { pthread_mutex_lock(&lock); }

static void parent_after_fork(void) { pthread_mutex_unlock(&lock); }

/* The child has none of the workers; it starts its own when it needs them. */
static void child_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&wake, NULL);
    pthread_cond_init(&done, NULL);
    queue = NULL;
    workers = idle = sleeping = gang_open = 0;
    generation++;
}

static void start(void) { pthread_atfork(before_fork, parent_after_fork, child_after_fork); }

/* Starts what is missing of count workers, or as many as the system gives; under lock. */
static void start_workers(int count)
{
    pthread_attr_t attr;
    if (workers >= count || pthread_attr_init(&attr) != 0) return;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    /* Signals belong to the program's threads. */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (workers < count) {
        pthread_t thread;
        if (pthread_create(&thread, &attr, worker, NULL) != 0) break;
        workers++;
        idle++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
}

/* Puts w into the queue and wakes helpers; under lock, which it releases. */
static void enqueue(work *w, int helpers)
{
    w->queued = queue;
    queue = w;
    news++;
    int asleep = sleeping;
    pthread_mutex_unlock(&lock);
    if (asleep > helpers && helpers == 1) {
        pthread_cond_signal(&wake);
    } else if (asleep) {
        pthread_cond_broadcast(&wake);
    }
}

/* Waits for the workers that are inside w and takes it out of the queue. */
static void finish(work *w, unsigned born)
{
    if (!w->job) /* nobody else can join when all ranges are taken, so spinning sees the end */
        for (int i = 0; i < SPINS && atomic_load(&w->active); i++) relax();
    pthread_mutex_lock(&lock);
    if (born == generation) { /* a body that forks leaves the others behind */
        while (w->claimed < w->njobs || w->active) pthread_cond_wait(&done, &lock);
        work **p = &queue;
        while (*p != w) p = &(*p)->queued;
        *p = w->queued;
    }
    pthread_mutex_unlock(&lock);
}

void tpi_parallel_for(int64_t n, int64_t grain, void (*body)(int64_t, int64_t, void *), void *ctx)
{
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    int threads;
    if (n <= grain || in_parallel || (threads = tp_get_num_threads()) == 1) {
        body(0, n, ctx);
        return;
    }
    pthread_once(&once, start);

    int64_t grains = (n - 1) / grain + 1;
    int64_t cuts = (int64_t)threads * CUTS;
    int64_t chunk = grains <= cuts ? grain : ((grains - 1) / cuts + 1) * grain;
    int64_t chunks = (n - 1) / chunk + 1;
    int helpers = (int)(chunks < threads ? chunks : threads) - 1;

    /* next may pass n by a chunk for every thread; n near the maximum would wrap. */
    if (n > INT64_MAX - chunk * (threads + 1)) {
        body(0, n, ctx);
        return;
    }
    work w = {.body = body, .ctx = ctx, .n = n, .chunk = chunk, .helpers = helpers};
    pthread_mutex_lock(&lock);
    start_workers(threads - 1);
    unsigned born = generation;
    enqueue(&w, helpers);

    in_parallel = true;
    run_ranges(&w);
    in_parallel = false;
    finish(&w, born);
}

int tpi_run_jobs(int njobs, void (*job)(int, void *), void *ctx)
{
    if (njobs < 1) return 1;
    if (njobs > 1 && (in_parallel || njobs > tp_get_num_threads())) return 0;
    bool nested = in_parallel;
    work w = {.job = job, .ctx = ctx, .claimed = 1, .njobs = njobs};
    unsigned born = 0;
    if (njobs > 1) {
        pthread_once(&once, start);
        pthread_mutex_lock(&lock);
        start_workers(tp_get_num_threads() - 1);
        if (idle - gang_open < njobs - 1) {
            pthread_mutex_unlock(&lock);
            return 0;
        }
        gang_open += njobs - 1;
        born = generation;
        enqueue(&w, njobs - 1);
    }
    in_parallel = true;
    job(0, ctx);
    in_parallel = nested;
    if (njobs > 1) finish(&w, born);
    return 1;
}
