#define _GNU_SOURCE
#include "alloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu.h"
#include "error.h"
#include "tls.h"

enum {
    ALIGNMENT = 64,
    OBJ_STEP = 32,
    OBJ_MAX = 512,
    OBJ_CLASSES = OBJ_MAX / OBJ_STEP,
    OBJ_KEEP = 64 << 10, /* bytes kept by one thread in one class */
    SMALL_MAX = 64 << 10,
    SMALL_CLASSES = 40,
    SMALL_KEEP = 1 << 20, /* bytes kept by one thread */
    LARGE_CLASSES = 248,
    HUGE_PAGE = 2 << 20,
    STATS_GRAIN = 256 << 10 /* bytes a thread counts on its own */
};
#define BYTES_MAX ((size_t)1 << 46)

typedef struct node {
    struct node *next;
} node;

/* A cached large block begins with this: in the list of its class, and in order of age. */
typedef struct block {
    struct block *next, *prev;
    struct block *newer, *older;
    size_t size;
    unsigned cls;
} block;

typedef struct thread_cache {
    node *obj[OBJ_CLASSES];
    uint32_t obj_bytes[OBJ_CLASSES];
    node *small[SMALL_CLASSES];
    _Atomic size_t small_bytes;
    /* Written by the owner alone, read by tp_get_memory_stats. */
    _Atomic int64_t bytes;
    _Atomic uint64_t count;
    struct thread_cache *next, *prev;
} thread_cache;

static TPI_TLS thread_cache *tls_cache;
static TPI_TLS bool tls_ended;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool caching;

/* All of this under lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static thread_cache *threads;
static block *large[LARGE_CLASSES];
static block *newest, *oldest;
static size_t large_bytes;

static _Atomic int64_t total_bytes; /* what threads have not counted on their own */
static _Atomic int64_t peak_bytes;
static _Atomic uint64_t total_count;

#define LOAD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define STORE(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

/* -- size classes -------------------------------------------------------------------------------- */

/* Steps of 64 up to 1 KiB, then four steps a doubling. */
static inline unsigned small_class(size_t bytes, size_t *size)
{
    if (bytes <= 1024) {
        unsigned cls = bytes ? (unsigned)((bytes - 1) / 64) : 0;
        *size = (cls + 1) * (size_t)64;
        return cls;
    }
    unsigned e = 63 - (unsigned)__builtin_clzll(bytes - 1);
    unsigned step = (unsigned)((bytes - 1) >> (e - 2)) & 3;
    *size = (size_t)(5 + step) << (e - 2);
    return 16 + (e - 10) * 4 + step;
}

/* Eight steps a doubling, so at most an eighth of a block is not used (and then not touched). */
static inline unsigned large_class(size_t bytes, size_t *size)
{
    unsigned e = 63 - (unsigned)__builtin_clzll(bytes - 1);
    unsigned step = (unsigned)((bytes - 1) >> (e - 3)) & 7;
    *size = (size_t)(9 + step) << (e - 3);
    return (e - 16) * 8 + step;
}

/* -- the system ---------------------------------------------------------------------------------- */

static void *system_alloc(size_t size, bool *zeroed)
{
    *zeroed = false;
#ifndef TP_SANITIZE
    if (size >= HUGE_PAGE) {
        /* Aligned to a huge page: map one more and cut off both ends. */
        char *p = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return NULL;
        size_t head = (size_t)(-(uintptr_t)p & (HUGE_PAGE - 1));
        if (head) munmap(p, head);
        if (head < HUGE_PAGE) munmap(p + head + size, HUGE_PAGE - head);
        madvise(p + head, size, MADV_HUGEPAGE);
        *zeroed = true;
        return p + head;
    }
#endif
    void *p;
    return posix_memalign(&p, ALIGNMENT, size) == 0 ? p : NULL;
}

static void system_free(void *p, size_t size)
{
#ifndef TP_SANITIZE
    if (size >= HUGE_PAGE) {
        munmap(p, size);
        return;
    }
#endif
    (void)size;
    free(p);
}

/* -- caches -------------------------------------------------------------------------------------- */

static void flush_small(thread_cache *cache)
{
    for (int i = 0; i < SMALL_CLASSES; i++) {
        node *list = cache->small[i];
        cache->small[i] = NULL;
        for (node *next; list; list = next) {
            next = list->next;
            free(list);
        }
    }
    STORE(cache->small_bytes, 0);
}

static void flush_thread(thread_cache *cache)
{
    flush_small(cache);
    for (int i = 0; i < OBJ_CLASSES; i++) {
        node *list = cache->obj[i];
        cache->obj[i] = NULL;
        cache->obj_bytes[i] = 0;
        for (node *next; list; list = next) {
            next = list->next;
            free(list);
        }
    }
}

static void unlink_block(block *b)
{
    if (b->prev) b->prev->next = b->next;
    else large[b->cls] = b->next;
    if (b->next) b->next->prev = b->prev;
    *(b->newer ? &b->newer->older : &newest) = b->older;
    *(b->older ? &b->older->newer : &oldest) = b->newer;
    large_bytes -= b->size;
}

/* Takes the oldest blocks out until bytes are left at most; under lock. The caller frees the list. */
static block *evict(size_t bytes)
{
    block *list = NULL;
    while (oldest && large_bytes > bytes) {
        block *b = oldest;
        unlink_block(b);
        b->next = list;
        list = b;
    }
    return list;
}

static void free_blocks(block *list)
{
    for (block *next; list; list = next) {
        next = list->next;
        system_free(list, list->size);
    }
}

static void thread_ended(void *p)
{
    thread_cache *cache = p;
    tls_cache = NULL;
    tls_ended = true;
    flush_thread(cache);
    pthread_mutex_lock(&lock);
    *(cache->prev ? &cache->prev->next : &threads) = cache->next;
    if (cache->next) cache->next->prev = cache->prev;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&total_bytes, LOAD(cache->bytes));
    atomic_fetch_add(&total_count, LOAD(cache->count));
    free(cache);
}

/* A child sees the lists of the process whole; those of threads it does not have stay as they are. */
static void before_fork(void) { pthread_mutex_lock(&lock); }

static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void start(void)
{
#ifdef TP_SANITIZE
    caching = false;
#else
    const char *off = getenv("TP_NO_CACHE");
    caching = !(off && *off && strcmp(off, "0"));
#endif
    if (pthread_key_create(&key, thread_ended) != 0) caching = false;
    pthread_atfork(before_fork, after_fork, after_fork);
}

/* The cache of this thread, NULL where there is none. */
static __attribute__((noinline)) thread_cache *make_cache(void)
{
    pthread_once(&once, start);
    if (!caching || tls_ended) return NULL;
    thread_cache *cache = calloc(1, sizeof *cache);
    if (!cache) return NULL;
    if (pthread_setspecific(key, cache) != 0) {
        free(cache);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    cache->next = threads;
    if (threads) threads->prev = cache;
    threads = cache;
    pthread_mutex_unlock(&lock);
    return tls_cache = cache;
}

static inline thread_cache *thread_cache_get(void)
{
    thread_cache *cache = tls_cache;
    return __builtin_expect(cache != NULL, 1) ? cache : make_cache();
}

void tp_empty_cache(void)
{
    if (tls_cache) flush_thread(tls_cache);
    pthread_mutex_lock(&lock);
    block *list = evict(0);
    pthread_mutex_unlock(&lock);
    free_blocks(list);
}

/* -- counting ------------------------------------------------------------------------------------ */

static void count_total(int64_t bytes)
{
    int64_t now = atomic_fetch_add(&total_bytes, bytes) + bytes;
    int64_t peak = LOAD(peak_bytes);
    while (now > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, now));
}

static inline void count(thread_cache *cache, int64_t bytes, unsigned allocations)
{
    if (!cache) {
        count_total(bytes);
        atomic_fetch_add(&total_count, allocations);
        return;
    }
    int64_t mine = LOAD(cache->bytes) + bytes;
    if (mine > STATS_GRAIN || mine < -STATS_GRAIN) {
        STORE(cache->bytes, 0);
        count_total(mine);
    } else {
        STORE(cache->bytes, mine);
    }
    STORE(cache->count, LOAD(cache->count) + allocations);
}

int tp_get_memory_stats(tp_memory_stats *stats)
{
    if (!stats || stats->struct_size < sizeof *stats)
        return tpi_fail(TP_ERR_VALUE, "get_memory_stats: struct_size must be at least %zu", sizeof *stats);
    pthread_mutex_lock(&lock);
    int64_t bytes = LOAD(total_bytes);
    uint64_t allocations = LOAD(total_count);
    size_t cached = large_bytes;
    for (thread_cache *t = threads; t; t = t->next) {
        bytes += LOAD(t->bytes);
        allocations += LOAD(t->count);
        cached += LOAD(t->small_bytes);
    }
    pthread_mutex_unlock(&lock);
    int64_t peak = LOAD(peak_bytes);
    /* A block that is allocated or freed meanwhile may be seen half. */
    stats->allocated_bytes = bytes > 0 ? (uint64_t)bytes : 0;
    stats->cached_bytes = cached;
    stats->peak_bytes = (uint64_t)(peak > bytes ? peak : bytes);
    stats->allocation_count = allocations;
    return TP_OK;
}

/* -- blocks -------------------------------------------------------------------------------------- */

#ifndef TP_SANITIZE
static void *take_large(unsigned cls)
{
    pthread_mutex_lock(&lock);
    block *b = large[cls];
    if (b) unlink_block(b);
    pthread_mutex_unlock(&lock);
    return b;
}

static uint64_t large_limit; /* both under lock */
static unsigned large_frees;

/* Keeps a block, or says that it can't be kept. */
static bool keep_large(void *p, size_t size, unsigned cls)
{
    pthread_mutex_lock(&lock);
    /* What is available changes as the machine is used; asking takes tens of microseconds. */
    if (large_frees++ % 256 == 0) {
        pthread_mutex_unlock(&lock);
        uint64_t available = tpi_available_memory();
        pthread_mutex_lock(&lock);
        large_limit = (available + large_bytes) / 4;
    }
    block *evicted = NULL;
    bool kept = size <= large_limit;
    if (kept) {
        evicted = evict((size_t)large_limit - size);
        block *b = p;
        b->size = size;
        b->cls = cls;
        b->prev = NULL;
        b->next = large[cls];
        if (b->next) b->next->prev = b;
        large[cls] = b;
        b->newer = NULL;
        b->older = newest;
        *(newest ? &newest->newer : &oldest) = b;
        newest = b;
        large_bytes += size;
    }
    pthread_mutex_unlock(&lock);
    free_blocks(evicted);
    return kept;
}
#endif

static void *allocate(size_t bytes, bool *zeroed)
{
    *zeroed = false;
    if (bytes > BYTES_MAX) return tpi_null(TP_ERR_MEMORY, "out of memory: %zu bytes", bytes);
    thread_cache *cache = thread_cache_get();
    size_t size;
    void *p = NULL;
#ifdef TP_SANITIZE
    /* Exactly what was asked for, so that the first byte beyond is reported; and not more than the
     * sanitizers' allocators take. */
    size = bytes ? bytes : 1;
    p = bytes <= ((size_t)1 << 38) ? system_alloc(size, zeroed) : NULL;
#else
    if (bytes <= SMALL_MAX) {
        unsigned cls = small_class(bytes, &size);
        if (cache && cache->small[cls]) {
            p = cache->small[cls];
            cache->small[cls] = ((node *)p)->next;
            STORE(cache->small_bytes, LOAD(cache->small_bytes) - size);
        }
    } else {
        unsigned cls = large_class(bytes, &size);
        if (caching) p = take_large(cls);
    }
    if (!p) p = system_alloc(size, zeroed);
    if (!p) {
        tp_empty_cache();
        p = system_alloc(size, zeroed);
    }
#endif
    if (!p) return tpi_null(TP_ERR_MEMORY, "out of memory: %zu bytes", bytes);
    count(cache, (int64_t)bytes, 1);
    return p;
}

void *tpi_alloc(size_t bytes)
{
    bool zeroed;
    return allocate(bytes, &zeroed);
}

void *tpi_calloc(size_t bytes)
{
    bool zeroed;
    void *p = allocate(bytes, &zeroed);
    if (p && !zeroed) memset(p, 0, bytes);
    return p;
}

void tpi_free(void *p, size_t bytes)
{
    if (!p) return;
    thread_cache *cache = thread_cache_get();
    count(cache, -(int64_t)bytes, 0);
    size_t size = bytes;
#ifndef TP_SANITIZE
    if (bytes <= SMALL_MAX) {
        unsigned cls = small_class(bytes, &size);
        if (cache) {
            if (LOAD(cache->small_bytes) + size > SMALL_KEEP) flush_small(cache);
            ((node *)p)->next = cache->small[cls];
            cache->small[cls] = p;
            STORE(cache->small_bytes, LOAD(cache->small_bytes) + size);
            return;
        }
    } else {
        unsigned cls = large_class(bytes, &size);
        if (caching && keep_large(p, size, cls)) return;
    }
#endif
    system_free(p, size);
}

/* -- objects ------------------------------------------------------------------------------------- */

static void *obj_system(size_t size)
{
    void *p = malloc(size);
    if (!p) {
        tp_empty_cache();
        p = malloc(size);
    }
    return p ? p : tpi_null(TP_ERR_MEMORY, "out of memory: %zu bytes", size);
}

void *tpi_obj_alloc(size_t size)
{
    if (size - 1 >= OBJ_MAX) /* 0 as well */
        return obj_system(size ? size : 1);
    unsigned cls = (unsigned)((size - 1) / OBJ_STEP);
    thread_cache *cache = thread_cache_get();
    node *p = cache ? cache->obj[cls] : NULL;
    if (p) {
        cache->obj[cls] = p->next;
        cache->obj_bytes[cls] -= (cls + 1) * OBJ_STEP;
        return p;
    }
#ifndef TP_SANITIZE
    /* The whole class even without a cache here: the thread that frees may have one. */
    size = (cls + 1) * (size_t)OBJ_STEP;
#endif
    return obj_system(size);
}

void tpi_obj_free(void *p, size_t size)
{
    if (p && size - 1 < OBJ_MAX) {
        unsigned cls = (unsigned)((size - 1) / OBJ_STEP);
        thread_cache *cache = thread_cache_get();
        if (cache && cache->obj_bytes[cls] < OBJ_KEEP) {
            ((node *)p)->next = cache->obj[cls];
            cache->obj[cls] = p;
            cache->obj_bytes[cls] += (cls + 1) * OBJ_STEP;
            return;
        }
    }
    free(p);
}
