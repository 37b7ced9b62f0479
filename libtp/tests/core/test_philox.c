#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdbool.h>

#include "core/philox.h"
#include "core/pool.h"
#include "../check.h"

/* The known-answer vectors published with the algorithm (Random123, kat_vectors, philox4x32 10). */
static void known_answers(void)
{
    static const struct {
        uint64_t lo, hi, key;
        uint32_t expect[4];
    } vectors[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x85a308d3243f6a88, 0x0370734413198a2e, 0x299f31d0a4093822, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        tpi_philox_at(vectors[i].key, vectors[i].lo, vectors[i].hi, out);
        for (int j = 0; j < 4; j++) CHECK_MSG(out[j] == vectors[i].expect[j], "vector %d word %d: %08x", i, j, out[j]);
    }
}

enum { N = 1000003 };

/* Fills agree with the blocks they are documented to be made of, wherever they begin. */
static void fills_are_blocks(void)
{
    const uint64_t seed = 0x123456789abcdef, start = 0xfffffff0; /* counters cross 2^32 */
    tp_generator *g = tp_generator_new(seed);
    REQUIRE(g);
    const int64_t lengths[] = {0, 1, 3, 127, 128, 129, 1000};
    for (int l = 0; l < 7; l++) {
        int64_t n = lengths[l];
        float f[1001];
        double d[1001];
        uint64_t u[1001], offset, s;
        f[n] = -1;
        d[n] = -1;
        u[n] = 77;
        tp_generator_set_state(g, seed, start);
        tpi_fill_uniform_f32(g, f, n);
        tp_generator_get_state(g, &s, &offset);
        CHECK(s == seed);
        CHECK_INT(offset - start, (n + 3) / 4);
        tp_generator_set_state(g, seed, start);
        tpi_fill_uniform_f64(g, d, n);
        tp_generator_get_state(g, &s, &offset);
        CHECK_INT(offset - start, (n + 1) / 2);
        tp_generator_set_state(g, seed, start);
        tpi_fill_bits(g, u, n);
        for (int64_t i = 0; i < n; i++) {
            uint32_t w[4];
            tpi_philox(seed, start + (uint64_t)i / 4, w);
            CHECK(f[i] == (float)(w[i % 4] >> 8) / 16777216.0f);
            tpi_philox(seed, start + (uint64_t)i / 2, w);
            uint64_t word = (uint64_t)w[i % 2 * 2 + 1] << 32 | w[i % 2 * 2];
            CHECK(u[i] == word);
            CHECK(d[i] == (double)(word >> 11) * 0x1p-53);
        }
        CHECK(f[n] == -1 && d[n] == -1 && u[n] == 77);
    }
    tp_generator_release(g);
}

typedef struct moments {
    double mean, variance, skew, kurtosis, least, most;
} moments;

#define MOMENTS(X, T)                                           \
    static moments moments_##X(const T *x)                      \
    {                                                           \
        moments m = {0};                                        \
        for (int i = 0; i < N; i++) m.mean += (double)x[i] / N; \
        m.least = m.most = (double)x[0];                        \
        for (int i = 0; i < N; i++) {                           \
            double d = (double)x[i] - m.mean;                   \
            m.variance += d * d / N;                            \
            m.skew += d * d * d / N;                            \
            m.kurtosis += d * d * d * d / N;                    \
            m.least = fmin(m.least, (double)x[i]);              \
            m.most = fmax(m.most, (double)x[i]);                \
        }                                                       \
        m.skew /= pow(m.variance, 1.5);                         \
        m.kurtosis /= m.variance * m.variance;                  \
        return m;                                               \
    }

MOMENTS(f32, float)
MOMENTS(f64, double)

/* Within six standard errors, and a seed that is fixed. */
static void check_moments(const char *name, moments m, double mean, double variance, double skew, double kurtosis)
{
    CHECK_MSG(fabs(m.mean - mean) < 6e-3 * sqrt(variance), "%s: mean %g", name, m.mean);
    CHECK_MSG(fabs(m.variance / variance - 1) < 1.5e-2, "%s: variance %g", name, m.variance);
    CHECK_MSG(fabs(m.skew - skew) < 0.1, "%s: skew %g", name, m.skew);
    CHECK_MSG(fabs(m.kurtosis / kurtosis - 1) < 0.1, "%s: kurtosis %g", name, m.kurtosis);
}

static void moments_agree(void)
{
    float *f = malloc(N * sizeof *f);
    double *d = malloc(N * sizeof *d);
    tp_manual_seed(42);
    tpi_fill_uniform_f32(NULL, f, N);
    moments m = moments_f32(f);
    check_moments("uniform f32", m, 0.5, 1.0 / 12, 0, 1.8);
    CHECK(m.least >= 0 && m.most < 1);
    tpi_fill_uniform_f64(NULL, d, N);
    m = moments_f64(d);
    check_moments("uniform f64", m, 0.5, 1.0 / 12, 0, 1.8);
    CHECK(m.least >= 0 && m.most < 1);
    tpi_fill_normal_f32(NULL, f, N);
    m = moments_f32(f);
    check_moments("normal f32", m, 0, 1, 0, 3);
    CHECK(m.least < -4.2 && m.most > 4.2);
    tpi_fill_normal_f64(NULL, d, N);
    m = moments_f64(d);
    check_moments("normal f64", m, 0, 1, 0, 3);
    CHECK(m.least < -4.2 && m.most > 4.2);
    double pairs = 0;
    for (int i = 0; i + 1 < N; i += 2) pairs += d[i] * d[i + 1];
    CHECK(fabs(pairs / (N / 2)) < 0.01);
    tpi_fill_exponential_f32(NULL, f, N);
    m = moments_f32(f);
    check_moments("exponential f32", m, 1, 1, 2, 9);
    CHECK(m.least >= 0);
    tpi_fill_exponential_f64(NULL, d, N);
    m = moments_f64(d);
    check_moments("exponential f64", m, 1, 1, 2, 9);
    CHECK(m.least >= 0);
    free(f);
    free(d);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov's distance to the distribution function, and its value for one in a million. */
static void distributions_agree(void)
{
    double *d = malloc(N * sizeof *d);
    float *f = malloc(N * sizeof *f);
    tp_manual_seed(7);
    for (int kind = 0; kind < 4; kind++) {
        if (kind == 0) tpi_fill_normal_f64(NULL, d, N);
        else if (kind == 1) tpi_fill_normal_f32(NULL, f, N);
        else if (kind == 2) tpi_fill_exponential_f64(NULL, d, N);
        else tpi_fill_exponential_f32(NULL, f, N);
        for (int i = 0; kind % 2 && i < N; i++) d[i] = (double)f[i];
        qsort(d, N, sizeof *d, by_value);
        double worst = 0;
        for (int i = 0; i < N; i++) {
            double p = kind < 2 ? 0.5 * erfc(-d[i] / sqrt(2)) : -expm1(-d[i]);
            worst = fmax(worst, fmax(fabs(p - (double)i / N), fabs(p - (i + 1.0) / N)));
        }
        CHECK_MSG(worst < 2.7 / sqrt(N), "kind %d: %g", kind, worst);
    }
    free(d);
    free(f);
}

/* Against the C library, from the same bits: the elementary functions are nearly exact, also in the tails. */
static void normals_are_accurate(void)
{
    enum { M = 400000 };
    double *d = malloc(M * sizeof *d), worst = 0, worst_float = 0, worst_e = 0, worst_ef = 0;
    float *f = malloc(M * sizeof *f);
    const double turn = 6.283185307179586476925286766559;
    tp_generator *g = tp_generator_new(99);
    tpi_fill_normal_f64(g, d, M);
    for (int i = 0; i < M; i += 2) {
        uint32_t w[4];
        tpi_philox(99, (uint64_t)i / 2, w);
        uint64_t x = (uint64_t)w[1] << 32 | w[0], y = (uint64_t)w[3] << 32 | w[2];
        double r = sqrt(-2 * log(((double)(x >> 11) + 1) * 0x1p-53)), t = turn * ((double)(y >> 11) * 0x1p-53);
        worst = fmax(worst, fmax(fabs(d[i] - r * cos(t)), fabs(d[i + 1] - r * sin(t))) / r);
    }
    tp_generator_set_state(g, 99, 0);
    tpi_fill_normal_f32(g, f, M);
    for (int i = 0; i < M; i += 2) {
        uint32_t w[4];
        tpi_philox(99, (uint64_t)i / 4, w);
        double u = (double)(float)((float)(w[i % 4] >> 1) * 0x1p-31f + 0x1p-32f);
        double r = sqrt(-2 * log(u)), t = turn * ((double)w[i % 4 + 1] * 0x1p-32);
        if (r > 0)
            worst_float = fmax(worst_float,
                               fmax(fabs((double)f[i] - r * cos(t)), fabs((double)f[i + 1] - r * sin(t))) / r);
    }
    tp_generator_set_state(g, 99, 0);
    tpi_fill_exponential_f64(g, d, M);
    tp_generator_set_state(g, 99, 0);
    tpi_fill_exponential_f32(g, f, M);
    for (int i = 0; i < M; i++) {
        uint32_t w[4];
        tpi_philox(99, (uint64_t)i / 2, w);
        uint64_t x = (uint64_t)w[i % 2 * 2 + 1] << 32 | w[i % 2 * 2];
        double e = -log(((double)(x >> 11) + 1) * 0x1p-53);
        worst_e = fmax(worst_e, fabs(d[i] - e) / e);
        tpi_philox(99, (uint64_t)i / 4, w);
        e = -log(((double)w[i % 4] + 0.5) * 0x1p-32);
        worst_ef = fmax(worst_ef, fabs((double)f[i] - e) / e);
    }
    CHECK_MSG(worst < 8e-16, "normal f64: %g", worst);
    CHECK_MSG(worst_float < 4e-7, "normal f32: %g", worst_float);
    CHECK_MSG(worst_e < 4e-16, "exponential f64: %g", worst_e);
    CHECK_MSG(worst_ef < 7e-8, "exponential f32: %g", worst_ef);
    tp_generator_release(g);
    free(d);
    free(f);
}

static void integers(void)
{
    int64_t *x = malloc(N * sizeof *x);
    tp_manual_seed(3);
    tpi_fill_integers(NULL, x, N, -3, 7);
    int64_t seen[7] = {0};
    for (int i = 0; i < N; i++) {
        REQUIRE(x[i] >= -3 && x[i] <= 3);
        seen[x[i] + 3]++;
    }
    double chi2 = 0;
    for (int i = 0; i < 7; i++) chi2 += (seen[i] - N / 7.0) * (seen[i] - N / 7.0) / (N / 7.0);
    CHECK_MSG(chi2 < 40, "%g", chi2);

    /* Three quarters of 2^64, from the least number on: without rejection some thirds are twice as likely. */
    const uint64_t range = (uint64_t)3 << 62;
    tpi_fill_integers(NULL, x, N, INT64_MIN, range);
    int64_t third[3] = {0};
    for (int i = 0; i < N; i++) {
        uint64_t y = (uint64_t)x[i] - (uint64_t)INT64_MIN;
        REQUIRE(y < range);
        third[y % 3]++;
    }
    for (int i = 0; i < 3; i++) CHECK(fabs(third[i] - N / 3.0) < 6 * sqrt(N));

    tpi_fill_integers(NULL, x, N, INT64_MIN, 0);
    double mean = 0;
    for (int i = 0; i < N; i++) mean += (double)x[i] / N;
    CHECK(fabs(mean) < 6 * 0x1p64 / sqrt(12.0 * N));
    tpi_fill_integers(NULL, x, 10, 5, 1);
    for (int i = 0; i < 10; i++) CHECK_INT(x[i], 5);
    free(x);
}

static void permutations(void)
{
    int counts[24] = {0};
    tp_manual_seed(11);
    for (int round = 0; round < 24000; round++) {
        int64_t p[4];
        tpi_fill_permutation(NULL, p, 4);
        bool used[4] = {0};
        for (int i = 0; i < 4; i++) {
            REQUIRE(p[i] >= 0 && p[i] < 4 && !used[p[i]]);
            used[p[i]] = true;
        }
        int rank = 0;
        for (int i = 0; i < 4; i++) {
            int less = 0;
            for (int j = i + 1; j < 4; j++) less += p[j] < p[i];
            rank = rank * (4 - i) + less;
        }
        counts[rank]++;
    }
    for (int i = 0; i < 24; i++) CHECK_MSG(abs(counts[i] - 1000) < 200, "%d: %d", i, counts[i]);
    int64_t one[1] = {-1};
    tpi_fill_permutation(NULL, one, 1);
    CHECK_INT(one[0], 0);
    tpi_fill_permutation(NULL, one, 0);
}

static void threads_do_not_change_values(void)
{
    double *normal[2];
    int64_t *whole[2];
    for (int i = 0; i < 2; i++) {
        normal[i] = malloc(N * sizeof(double));
        whole[i] = malloc(N * sizeof(int64_t));
    }
    for (int threads = 1; threads <= 5; threads += 2) {
        int i = threads > 1;
        tp_set_num_threads(threads);
        tp_manual_seed(5);
        tpi_fill_normal_f64(NULL, normal[i], N);
        tpi_fill_integers(NULL, whole[i], N, 0, (uint64_t)3 << 62);
        CHECK(!i || !memcmp(normal[0], normal[1], N * sizeof(double)));
        CHECK(!i || !memcmp(whole[0], whole[1], N * sizeof(int64_t)));
    }
    for (int i = 0; i < 2; i++) {
        free(normal[i]);
        free(whole[i]);
    }
}

static tp_generator *shared;
static uint8_t taken[8 * 1000];

static void *reserve(void *unused)
{
    (void)unused;
    for (int i = 0; i < 500; i++) {
        uint64_t seed, first = tpi_generator_reserve(shared, 2, &seed);
        CHECK(seed == 17);
        __atomic_add_fetch(&taken[first], 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&taken[first + 1], 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void generators(void)
{
    shared = tp_generator_new(17);
    pthread_t thread[8];
    for (int i = 0; i < 8; i++) REQUIRE(pthread_create(&thread[i], NULL, reserve, NULL) == 0);
    for (int i = 0; i < 8; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 8000; i++) CHECK_INT(taken[i], 1);
    tp_generator_retain(shared);
    tp_generator_release(shared);
    uint64_t seed, offset;
    tp_generator_get_state(shared, &seed, &offset);
    CHECK_INT(offset, 8000);
    tp_generator_seed(shared, 18);
    CHECK_INT(tp_generator_initial_seed(shared), 18);
    tp_generator_get_state(shared, &seed, &offset);
    CHECK_INT(offset, 0);
    tp_generator_release(shared);
    tp_generator_release(NULL);
    tp_generator_release(tp_default_generator());
    tp_manual_seed(1);
    CHECK_INT(tp_generator_initial_seed(NULL), 1);
    CHECK_INT(tp_generator_initial_seed(tp_default_generator()), 1);
}

int main(void)
{
    RUN(known_answers);
    RUN(fills_are_blocks);
    RUN(moments_agree);
    RUN(distributions_agree);
    RUN(normals_are_accurate);
    RUN(integers);
    RUN(permutations);
    RUN(threads_do_not_change_values);
    RUN(generators);
    return check_finish();
}
