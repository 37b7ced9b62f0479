/* Conversions of the 16-bit formats that compilers turn into vector code: no branch, no table. Internal. */
#ifndef TPI_KERNELS_HALF_H
#define TPI_KERNELS_HALF_H

#include <stdint.h>
#include <string.h>

static inline float tpi_bits_f32(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static inline uint32_t tpi_f32_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

/* Exponent and fraction moved in place, then scaled by 2^112, which also normalises subnormals. */
static inline float tpi_f16_decode(uint16_t h)
{
    uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13;
    uint32_t bits = tpi_f32_bits(tpi_bits_f32(magnitude) * 0x1p112f);
    bits = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : bits;
    return tpi_bits_f32(bits | (uint32_t)(h & 0x8000) << 16);
}

/* Round to nearest even. Subnormals: adding 0.5 aligns the fraction so that the hardware rounds it. */
static inline uint16_t tpi_f16_encode(float f)
{
    uint32_t bits = tpi_f32_bits(f), sign = bits >> 16 & 0x8000, a = bits & 0x7fffffffu;
    uint32_t small = tpi_f32_bits(tpi_bits_f32(a) + 0.5f) - 0x3f000000u;
    uint32_t normal = (a - 0x38000000u + 0xfff + (a >> 13 & 1)) >> 13;
    uint32_t special = a > 0x7f800000u ? 0x7e00u | (a >> 13 & 0x3ff) : 0x7c00u;
    uint32_t r = a < 0x38800000u ? small : a >= 0x47800000u ? special : normal;
    return (uint16_t)(sign | r);
}

static inline float tpi_bf16_decode(uint16_t h) { return tpi_bits_f32((uint32_t)h << 16); }

static inline uint16_t tpi_bf16_encode(float f)
{
    uint32_t u = tpi_f32_bits(f);
    uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16, quiet = u >> 16 | 0x40;
    return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

/* double to float, rounded to odd: rounding the result once more to a shorter format rounds d itself correctly. */
static inline float tpi_f64_round_odd(double d)
{
    float f = (float)d;
    uint32_t u = tpi_f32_bits(f);
    double back = f;
    u -= (back > d && d >= 0) || (back < d && d < 0);
    u |= (double)tpi_bits_f32(u) != d;
    return tpi_bits_f32(u);
}

/* Contiguous arrays. */
void tpi_f16_decode_n(int64_t n, const uint16_t *x, float *y);
void tpi_f16_encode_n(int64_t n, const float *x, uint16_t *y);

#endif
