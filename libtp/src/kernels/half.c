/* float16 arrays, through the conversion instructions of x86 where the CPU has them. */
#include "core/clones.h"
#include "kernels/half.h"

TP_CLONES static void decode(int64_t n, const uint16_t *x, float *y)
{
    for (int64_t k = 0; k < n; k++) y[k] = tpi_f16_decode(x[k]);
}

TP_CLONES static void encode(int64_t n, const float *x, uint16_t *y)
{
    for (int64_t k = 0; k < n; k++) y[k] = tpi_f16_encode(x[k]);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

__attribute__((target("avx,f16c"))) static void decode_f16c(int64_t n, const uint16_t *x, float *y)
{
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) _mm256_storeu_ps(y + k, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + k))));
    decode(n - k, x + k, y + k);
}

__attribute__((target("avx,f16c"))) static void encode_f16c(int64_t n, const float *x, uint16_t *y)
{
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        _mm_storeu_si128((__m128i *)(y + k), _mm256_cvtps_ph(_mm256_loadu_ps(x + k), _MM_FROUND_TO_NEAREST_INT));
    encode(n - k, x + k, y + k);
}

static int has_f16c(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c"); }
#else
#define decode_f16c decode
#define encode_f16c encode
static int has_f16c(void) { return 0; }
#endif

void tpi_f16_decode_n(int64_t n, const uint16_t *x, float *y) { (has_f16c() ? decode_f16c : decode)(n, x, y); }

void tpi_f16_encode_n(int64_t n, const float *x, uint16_t *y) { (has_f16c() ? encode_f16c : encode)(n, x, y); }
