/* NOTE: Random fills.
 *
 * A fill takes as many blocks of four 32-bit words as it needs from the generator at once; element i is
 * a function of its own block alone, so the values don't depend on how the work is cut. Of a fill that
 * begins at block s, element i is made of: 32-bit word i % 4 of block s + i / 4 (uniform and exponential
 * f32), the 64-bit word i % 2 of block s + i / 2 (uniform and exponential f64, integers, bits), or the
 * pair of words that holds it (normals: Box and Muller's method, two values of two words). */
#ifndef TPI_CORE_PHILOX_H
#define TPI_CORE_PHILOX_H

#include <stdint.h>

#include <tp/random.h>

/* Advances the generator (NULL: the default one) by n blocks, atomically; returns the first and, in
 * *seed, the seed that goes with it. */
uint64_t tpi_generator_reserve(tp_generator *generator, uint64_t n, uint64_t *seed);

/* One block of Philox4x32-10: counter (lo, hi), key seed. Word pairs of out are little-endian halves. */
static inline void tpi_philox_at(uint64_t seed, uint64_t lo, uint64_t hi, uint32_t out[4])
{
    uint32_t c0 = (uint32_t)lo, c1 = (uint32_t)(lo >> 32), c2 = (uint32_t)hi, c3 = (uint32_t)(hi >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

static inline void tpi_philox(uint64_t seed, uint64_t counter, uint32_t out[4])
{
    tpi_philox_at(seed, counter, 0, out);
}

/* Fills of n contiguous elements from generator (NULL: the default one), parallel. */
void tpi_fill_uniform_f32(tp_generator *generator, float *out, int64_t n);  /* [0, 1), 24 bits */
void tpi_fill_uniform_f64(tp_generator *generator, double *out, int64_t n); /* [0, 1), 53 bits */
void tpi_fill_normal_f32(tp_generator *generator, float *out, int64_t n);   /* mean 0, deviation 1 */
void tpi_fill_normal_f64(tp_generator *generator, double *out, int64_t n);
void tpi_fill_exponential_f32(tp_generator *generator, float *out, int64_t n); /* rate 1, >= 0 */
void tpi_fill_exponential_f64(tp_generator *generator, double *out, int64_t n);
void tpi_fill_bits(tp_generator *generator, uint64_t *out, int64_t n);

/* Integers low, low + 1, ... low + range - 1 with equal probability (Lemire 2019); range 0 means 2^64. */
void tpi_fill_integers(tp_generator *generator, int64_t *out, int64_t n, int64_t low, uint64_t range);

/* A permutation of 0 .. n-1, all equally likely (Fisher and Yates). */
void tpi_fill_permutation(tp_generator *generator, int64_t *out, int64_t n);

#endif
