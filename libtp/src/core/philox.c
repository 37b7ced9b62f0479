#define _GNU_SOURCE
#include "philox.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "clones.h"
#include "pool.h"

/* The same values on every CPU: a fused product here and not there would round differently. */
#pragma GCC optimize("fp-contract=off")

struct tp_generator {
    uint64_t seed, offset;
    int references; /* atomic */
};

/* One lock for all generators: it is held for a few instructions, and a fork can hold it as well. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static tp_generator default_generator;

static void before_fork(void) { pthread_mutex_lock(&lock); }

static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void start(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        seed = ((uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec) ^ (uint64_t)getpid() << 40;
    }
    default_generator.seed = seed;
    pthread_atfork(before_fork, after_fork, after_fork);
}

static tp_generator *lock_generator(tp_generator *g)
{
    pthread_once(&once, start);
    pthread_mutex_lock(&lock);
    return g ? g : &default_generator;
}

tp_generator *tp_generator_new(uint64_t seed)
{
    tp_generator *g = tpi_obj_alloc(sizeof *g);
    if (g) *g = (tp_generator){.seed = seed, .references = 1};
    return g;
}

void tp_generator_retain(tp_generator *g)
{
    if (g && g != &default_generator) __atomic_fetch_add(&g->references, 1, __ATOMIC_RELAXED);
}

void tp_generator_release(tp_generator *g)
{
    if (g && g != &default_generator && __atomic_sub_fetch(&g->references, 1, __ATOMIC_ACQ_REL) == 0)
        tpi_obj_free(g, sizeof *g);
}

void tp_generator_seed(tp_generator *g, uint64_t seed) { tp_generator_set_state(g, seed, 0); }

uint64_t tp_generator_initial_seed(tp_generator *g)
{
    uint64_t seed, offset;
    tp_generator_get_state(g, &seed, &offset);
    return seed;
}

void tp_generator_get_state(tp_generator *g, uint64_t *seed, uint64_t *offset)
{
    g = lock_generator(g);
    *seed = g->seed;
    *offset = g->offset;
    pthread_mutex_unlock(&lock);
}

void tp_generator_set_state(tp_generator *g, uint64_t seed, uint64_t offset)
{
    g = lock_generator(g);
    g->seed = seed;
    g->offset = offset;
    pthread_mutex_unlock(&lock);
}

tp_generator *tp_default_generator(void)
{
    pthread_once(&once, start);
    return &default_generator;
}

void tp_manual_seed(uint64_t seed) { tp_generator_seed(NULL, seed); }

uint64_t tpi_generator_reserve(tp_generator *g, uint64_t n, uint64_t *seed)
{
    g = lock_generator(g);
    uint64_t first = g->offset;
    *seed = g->seed;
    g->offset += n;
    pthread_mutex_unlock(&lock);
    return first;
}

/* -- tiles --------------------------------------------------------------------------------------- */

enum { LANES = 32, GRAIN_BLOCKS = 1 << 13 }; /* a grain is whole tiles */

#define INLINE static inline __attribute__((always_inline))

/* Words of LANES successive blocks, w[word][lane]: the same steps as tpi_philox in every lane. The lanes are
 * 64 bits wide, of which a multiplication reads the lower half, so nothing has to be moved between rounds. */
INLINE void tile(uint64_t seed, uint64_t first, uint32_t w[4][LANES])
{
    const uint64_t low = 0xFFFFFFFFu;
    for (int i = 0; i < LANES; i++) {
        uint64_t counter = first + (uint64_t)i, c0 = counter, c1 = counter >> 32, c2 = 0, c3 = 0;
        uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
        _Pragma("GCC unroll 10") for (int round = 0; round < 10; round++)
        {
            uint64_t p0 = 0xD2511F53u * (c0 & low), p1 = 0xCD9E8D57u * (c2 & low);
            c0 = (p1 >> 32) ^ c1 ^ k0;
            c2 = (p0 >> 32) ^ c3 ^ k1;
            c1 = p1;
            c3 = p0;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        w[0][i] = (uint32_t)c0;
        w[1][i] = (uint32_t)c1;
        w[2][i] = (uint32_t)c2;
        w[3][i] = (uint32_t)c3;
    }
}

/* -- elementary functions ------------------------------------------------------------------------ *
 * Branch-free, so that the loops vectorise, on the ranges that occur here; series of known error. */

INLINE double bits_double(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

INLINE float bits_float(uint32_t b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* log of a normal number: x = 2^e m with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh((m - 1) / (m + 1)),
 * whose Taylor series ends where its remainder is below a quarter of an ulp (|s| <= 0.1716). */
INLINE double log_f64(double x)
{
    const double ln2_hi = 0x1.62e42fefa3800p-1, ln2_lo = 0x1.ef35793c76730p-45;
    uint64_t ix, root = 0x3FE6A09E667F3BCDu;
    memcpy(&ix, &x, sizeof ix);
    uint64_t e = (ix - root + (1023ull << 52)) >> 52; /* e + 1023 */
    double m = bits_double(ix - ((e - 1023) << 52));
    double ed = bits_double(e | 0x4330000000000000u) - (0x1p52 + 1023); /* 2^52 + e as bits: no int conversion */
    double f = m - 1, s = f / (m + 1), z = s * s;
    double p = 2.0 / 21;
    p = p * z + 2.0 / 19;
    p = p * z + 2.0 / 17;
    p = p * z + 2.0 / 15;
    p = p * z + 2.0 / 13;
    p = p * z + 2.0 / 11;
    p = p * z + 2.0 / 9;
    p = p * z + 2.0 / 7;
    p = p * z + 2.0 / 5;
    p = p * z + 2.0 / 3;
    /* 2 s = f - s f, so log m = f - s (f - z p): the leading term is exact. */
    return ed * ln2_hi + (f - (s * (f - z * p) - ed * ln2_lo));
}

INLINE float log_f32(float x)
{
    uint32_t ix;
    memcpy(&ix, &x, sizeof ix);
    int32_t e = (int32_t)(ix - 0x3F3504F3u) >> 23;
    float m = bits_float(ix - ((uint32_t)e << 23)), ef = (float)e;
    float f = m - 1, s = f / (m + 1), z = s * s;
    float p = 2.0f / 11;
    p = p * z + 2.0f / 9;
    p = p * z + 2.0f / 7;
    p = p * z + 2.0f / 5;
    p = p * z + 2.0f / 3;
    return ef * 0x1.62e4p-1f + (f - (s * (f - z * p) - ef * 0x1.7f7d1cp-20f));
}

/* The quadrant of an angle given as a fraction of a turn in 32 bits, and the rest in [-1/8, 1/8) turn. */
INLINE uint32_t quadrant(uint32_t turn, int32_t *rest)
{
    uint32_t q = (turn + (1u << 29)) >> 30;
    *rest = (int32_t)(turn - (q << 30));
    return q;
}

/* r cos and r sin of q right angles and x; Taylor on [-pi/4, pi/4]. */
INLINE void polar_f64(double r, uint32_t q, double x, double *re, double *im)
{
    double z = x * x;
    double s = -1.0 / 1307674368000;
    s = s * z + 1.0 / 6227020800;
    s = s * z - 1.0 / 39916800;
    s = s * z + 1.0 / 362880;
    s = s * z - 1.0 / 5040;
    s = s * z + 1.0 / 120;
    s = s * z - 1.0 / 6;
    s = x + x * z * s;
    double c = 1.0 / 20922789888000;
    c = c * z - 1.0 / 87178291200;
    c = c * z + 1.0 / 479001600;
    c = c * z - 1.0 / 3628800;
    c = c * z + 1.0 / 40320;
    c = c * z - 1.0 / 720;
    c = c * z + 1.0 / 24;
    c = 1 - (0.5 * z - z * z * c);
    double a = q & 1 ? s : c, b = q & 1 ? c : s;
    *re = r * ((q + 1) & 2 ? -a : a);
    *im = r * (q & 2 ? -b : b);
}

INLINE void polar_f32(float r, uint32_t q, float x, float *re, float *im)
{
    float z = x * x;
    float s = 1.0f / 362880;
    s = s * z - 1.0f / 5040;
    s = s * z + 1.0f / 120;
    s = s * z - 1.0f / 6;
    s = x + x * z * s;
    float c = -1.0f / 3628800;
    c = c * z + 1.0f / 40320;
    c = c * z - 1.0f / 720;
    c = c * z + 1.0f / 24;
    c = 1 - (0.5f * z - z * z * c);
    float a = q & 1 ? s : c, b = q & 1 ? c : s;
    *re = r * ((q + 1) & 2 ? -a : a);
    *im = r * (q & 2 ? -b : b);
}

/* The 53 high bits of (hi, lo) as an integer, in two exact halves that fit an int. */
INLINE double high_bits(uint32_t hi, uint32_t lo)
{
    return (double)(int32_t)(hi >> 5) * 0x1p26 + (double)(int32_t)((hi & 31) << 21 | lo >> 11);
}

/* -- conversions of a tile ----------------------------------------------------------------------- */

INLINE void convert_uniform_f32(uint32_t w[4][LANES], float *out)
{
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < 4; j++) out[4 * i + j] = (float)(int32_t)(w[j][i] >> 8) * 0x1p-24f;
}

INLINE void convert_uniform_f64(uint32_t w[4][LANES], double *out)
{
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < 2; j++) out[2 * i + j] = high_bits(w[2 * j + 1][i], w[2 * j][i]) * 0x1p-53;
}

/* u in [2^-32, 1]: normals up to 6.66 standard deviations. */
INLINE void convert_normal_f32(uint32_t w[4][LANES], float *out)
{
    float re[2][LANES], im[2][LANES];
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < LANES; i++) {
            float u = (float)(int32_t)(w[2 * j][i] >> 1) * 0x1p-31f + 0x1p-32f;
            int32_t rest;
            uint32_t q = quadrant(w[2 * j + 1][i], &rest);
            float r = __builtin_sqrtf(-2 * log_f32(u));
            polar_f32(r, q, (float)rest * 0x1.921fb6p-30f, &re[j][i], &im[j][i]); /* 2 pi / 2^32 */
        }
    for (int i = 0; i < LANES; i++) {
        out[4 * i] = re[0][i];
        out[4 * i + 1] = im[0][i];
        out[4 * i + 2] = re[1][i];
        out[4 * i + 3] = im[1][i];
    }
}

/* u in [2^-53, 1]: normals up to 8.57 standard deviations. */
INLINE void convert_normal_f64(uint32_t w[4][LANES], double *out)
{
    double re[LANES], im[LANES];
    for (int i = 0; i < LANES; i++) {
        double u = (high_bits(w[1][i], w[0][i]) + 1) * 0x1p-53;
        int32_t rest;
        uint32_t q = quadrant(w[3][i], &rest);
        double angle = (double)rest * 0x1p21 + (double)(int32_t)(w[2][i] >> 11);
        double r = __builtin_sqrt(-2 * log_f64(u));
        polar_f64(r, q, angle * 0x1.921fb54442d18p-51, &re[i], &im[i]); /* 2 pi / 2^53 */
    }
    for (int i = 0; i < LANES; i++) {
        out[2 * i] = re[i];
        out[2 * i + 1] = im[i];
    }
}

/* In double precision: near 1, single would leave u, and so small values, too few bits. */
INLINE void convert_exponential_f32(uint32_t w[4][LANES], float *out)
{
    float e[4][LANES];
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < LANES; i++)
            e[j][i] = (float)-log_f64(((double)(int32_t)(w[j][i] ^ 0x80000000u) + 0x1p31 + 0.5) * 0x1p-32);
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < 4; j++) out[4 * i + j] = e[j][i];
}

INLINE void convert_exponential_f64(uint32_t w[4][LANES], double *out)
{
    double e[2][LANES];
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < LANES; i++) e[j][i] = 0 - log_f64((high_bits(w[2 * j + 1][i], w[2 * j][i]) + 1) * 0x1p-53);
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < 2; j++) out[2 * i + j] = e[j][i];
}

INLINE void convert_bits(uint32_t w[4][LANES], uint64_t *out)
{
    for (int i = 0; i < LANES; i++) {
        out[2 * i] = (uint64_t)w[1][i] << 32 | w[0][i];
        out[2 * i + 1] = (uint64_t)w[3][i] << 32 | w[2][i];
    }
}

/* -- fills --------------------------------------------------------------------------------------- */

typedef struct fill {
    uint64_t seed, first;
    void *out;
    int64_t n;
    /* of integers */
    int64_t low;
    uint64_t range;
} fill;

static void run_fill(tp_generator *g, fill *f, int per_block, void (*body)(int64_t, int64_t, void *))
{
    if (f->n <= 0) return;
    int64_t blocks = (f->n - 1) / per_block + 1;
    f->first = tpi_generator_reserve(g, (uint64_t)blocks, &f->seed);
    tpi_parallel_for(blocks, GRAIN_BLOCKS, body, f);
}

#define FILL(X, T, PER_BLOCK)                                                  \
    TP_CLONES static void range_##X(int64_t begin, int64_t end, void *ctx)     \
    {                                                                          \
        const fill *f = ctx;                                                   \
        T *out = f->out;                                                       \
        uint32_t w[4][LANES] __attribute__((aligned(64)));                     \
        for (int64_t b = begin; b < end; b += LANES) {                         \
            tile(f->seed, f->first + (uint64_t)b, w);                          \
            int64_t left = f->n - b * (PER_BLOCK);                             \
            if (left >= (PER_BLOCK) * LANES) {                                 \
                convert_##X(w, out + b * (PER_BLOCK));                         \
            } else {                                                           \
                T last[(PER_BLOCK) * LANES];                                   \
                convert_##X(w, last);                                          \
                memcpy(out + b * (PER_BLOCK), last, (size_t)left * sizeof(T)); \
            }                                                                  \
        }                                                                      \
    }                                                                          \
                                                                               \
    void tpi_fill_##X(tp_generator *g, T *out, int64_t n)                      \
    {                                                                          \
        fill f = {.out = out, .n = n};                                         \
        run_fill(g, &f, PER_BLOCK, range_##X);                                 \
    }

FILL(uniform_f32, float, 4)
FILL(uniform_f64, double, 2)
FILL(normal_f32, float, 4)
FILL(normal_f64, double, 2)
FILL(exponential_f32, float, 4)
FILL(exponential_f64, double, 2)
FILL(bits, uint64_t, 2)

/* A number below range (0: 2^64) from word half of a block, without bias: the high half of word * range,
 * drawn again, from counters no fill uses, where the low half says that some results would be more likely
 * than others. */
static inline uint64_t below(uint64_t word, uint64_t range, uint64_t seed, uint64_t block, int half)
{
    if (range == 0) return word;
    unsigned __int128 product = (unsigned __int128)word * range;
    if (__builtin_expect((uint64_t)product < range, 0)) {
        uint64_t reject = -range % range;
        for (uint64_t again = 1; (uint64_t)product < reject; again++) {
            uint32_t w[4];
            tpi_philox_at(seed, block, again, w);
            product = (unsigned __int128)((uint64_t)w[2 * half + 1] << 32 | w[2 * half]) * range;
        }
    }
    return (uint64_t)(product >> 64);
}

TP_CLONES static void range_integers(int64_t begin, int64_t end, void *ctx)
{
    const fill *f = ctx;
    int64_t *out = f->out;
    uint32_t w[4][LANES];
    uint64_t words[2 * LANES];
    for (int64_t b = begin; b < end; b += LANES) {
        tile(f->seed, f->first + (uint64_t)b, w);
        convert_bits(w, words);
        int64_t left = f->n - 2 * b;
        int count = left < 2 * LANES ? (int)left : 2 * LANES;
        for (int i = 0; i < count; i++)
            out[2 * b + i] = (int64_t)((uint64_t)f->low +
                                       below(words[i], f->range, f->seed, f->first + (uint64_t)(b + i / 2), i % 2));
    }
}

void tpi_fill_integers(tp_generator *g, int64_t *out, int64_t n, int64_t low, uint64_t range)
{
    fill f = {.out = out, .n = n, .low = low, .range = range};
    run_fill(g, &f, 2, range_integers);
}

void tpi_fill_permutation(tp_generator *g, int64_t *out, int64_t n)
{
    if (n <= 0) return;
    uint64_t seed, first = tpi_generator_reserve(g, ((uint64_t)n - 1) / 2 + 1, &seed);
    uint32_t w[4];
    for (int64_t i = 0; i < n; i++) {
        int half = (int)(i % 2);
        if (half == 0) tpi_philox(seed, first + (uint64_t)i / 2, w);
        uint64_t word = (uint64_t)w[2 * half + 1] << 32 | w[2 * half];
        /* The inside-out form: i takes a place up to its own, whose holder moves to the end. */
        uint64_t j = below(word, (uint64_t)i + 1, seed, first + (uint64_t)i / 2, half);
        out[i] = out[j];
        out[j] = i;
    }
}
