/* Conversions between all dtypes.
 *
 * Loops exist for the ten real machine types; the 16-bit floats go through float32 in blocks, and a complex array
 * is an array of its real parts with twice the stride. */
#include "core/clones.h"
#include "core/error.h"
#include "kernels/cast.h"
#include "kernels/half.h"
#include "kernels/iter.h"
#include "kernels/kernels.h"

/* Out of range (and NaN) is the most negative value, then cut to width: what x86 hardware gives. */
static inline int32_t f32_to_i32(float x) { return x >= -0x1p31f && x < 0x1p31f ? (int32_t)x : INT32_MIN; }
static inline int64_t f32_to_i64(float x) { return x >= -0x1p63f && x < 0x1p63f ? (int64_t)x : INT64_MIN; }
static inline int32_t f64_to_i32(double x) { return x > -0x1.00000002p31 && x < 0x1p31 ? (int32_t)x : INT32_MIN; }
static inline int64_t f64_to_i64(double x) { return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN; }
static inline uint64_t f32_to_u64(float x)
{
    return x >= 0x1p63f && x < 0x1p64f ? (uint64_t)x : (uint64_t)f32_to_i64(x);
}
static inline uint64_t f64_to_u64(double x)
{
    return x >= 0x1p63 && x < 0x1p64 ? (uint64_t)x : (uint64_t)f64_to_i64(x);
}

#define CAST_LOOP(S, ST, D, DT, EXPR)                                               \
    TP_CLONES static void S##_##D(int64_t n, char **p, const int64_t *s, void *ctx) \
    {                                                                               \
        char *dst = p[0], *src = p[1];                                              \
        if (s[0] == sizeof(DT) && s[1] == sizeof(ST)) {                             \
            DT *o = (DT *)dst;                                                      \
            const ST *i = (const ST *)src;                                          \
            _Pragma("GCC ivdep") for (int64_t k = 0; k < n; k++)                    \
            {                                                                       \
                ST x = i[k];                                                        \
                o[k] = (DT)(EXPR);                                                  \
            }                                                                       \
        } else {                                                                    \
            for (int64_t k = 0; k < n; k++, dst += s[0], src += s[1]) {             \
                ST x = *(const ST *)src;                                            \
                *(DT *)dst = (DT)(EXPR);                                            \
            }                                                                       \
        }                                                                           \
    }

#define CAST_INT(S, ST)                     \
    CAST_LOOP(S, ST, bool, uint8_t, x != 0) \
    CAST_LOOP(S, ST, u8, uint8_t, x)        \
    CAST_LOOP(S, ST, i8, int8_t, x)         \
    CAST_LOOP(S, ST, u16, uint16_t, x)      \
    CAST_LOOP(S, ST, i16, int16_t, x)       \
    CAST_LOOP(S, ST, u32, uint32_t, x)      \
    CAST_LOOP(S, ST, i32, int32_t, x)       \
    CAST_LOOP(S, ST, u64, uint64_t, x)      \
    CAST_LOOP(S, ST, i64, int64_t, x)       \
    CAST_LOOP(S, ST, f32, float, x)         \
    CAST_LOOP(S, ST, f64, double, x)

#define CAST_FLOAT(S, ST)                          \
    CAST_LOOP(S, ST, bool, uint8_t, x != 0)        \
    CAST_LOOP(S, ST, u8, uint8_t, S##_to_i32(x))   \
    CAST_LOOP(S, ST, i8, int8_t, S##_to_i32(x))    \
    CAST_LOOP(S, ST, u16, uint16_t, S##_to_i32(x)) \
    CAST_LOOP(S, ST, i16, int16_t, S##_to_i32(x))  \
    CAST_LOOP(S, ST, u32, uint32_t, S##_to_i64(x)) \
    CAST_LOOP(S, ST, i32, int32_t, S##_to_i32(x))  \
    CAST_LOOP(S, ST, u64, uint64_t, S##_to_u64(x)) \
    CAST_LOOP(S, ST, i64, int64_t, S##_to_i64(x))  \
    CAST_LOOP(S, ST, f32, float, x)                \
    CAST_LOOP(S, ST, f64, double, x)

CAST_INT(u8, uint8_t)
CAST_INT(i8, int8_t)
CAST_INT(u16, uint16_t)
CAST_INT(i16, int16_t)
CAST_INT(u32, uint32_t)
CAST_INT(i32, int32_t)
CAST_INT(u64, uint64_t)
CAST_INT(i64, int64_t)
CAST_FLOAT(f32, float)
CAST_FLOAT(f64, double)

CAST_LOOP(f16_strided, uint16_t, f32, float, tpi_f16_decode(x))
CAST_LOOP(bf16, uint16_t, f32, float, tpi_bf16_decode(x))
CAST_LOOP(f32_strided, float, f16, uint16_t, tpi_f16_encode(x))
CAST_LOOP(f32, float, bf16, uint16_t, tpi_bf16_encode(x))
static void f16_f32(int64_t n, char **p, const int64_t *s, void *ctx)
{
    if (s[0] == 4 && s[1] == 2) tpi_f16_decode_n(n, (const uint16_t *)p[1], (float *)p[0]);
    else f16_strided_f32(n, p, s, ctx);
}
static void f32_f16(int64_t n, char **p, const int64_t *s, void *ctx)
{
    if (s[0] == 2 && s[1] == 4) tpi_f16_encode_n(n, (const float *)p[1], (uint16_t *)p[0]);
    else f32_strided_f16(n, p, s, ctx);
}
CAST_LOOP(f64, double, odd, float, tpi_f64_round_odd(x))

typedef struct pair32 {
    float re, im;
} pair32;
typedef struct pair64 {
    double re, im;
} pair64;
#define TRUTH_LOOP(S, ST)                                                  \
    static void S##_bool(int64_t n, char **p, const int64_t *s, void *ctx) \
    {                                                                      \
        char *dst = p[0], *src = p[1];                                     \
        for (int64_t k = 0; k < n; k++, dst += s[0], src += s[1]) {        \
            ST x = *(const ST *)src;                                       \
            *(uint8_t *)dst = x.re != 0 || x.im != 0;                      \
        }                                                                  \
    }
TRUTH_LOOP(c64, pair32)
TRUTH_LOOP(c128, pair64)

/* Index among the machine types: bool only differs as a destination. */
static const int8_t machine[TP_DTYPE_COUNT] = {0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -1, 9, 10, 9, 10};
#define ROW(S) {S##_bool, S##_u8, S##_i8, S##_u16, S##_i16, S##_u32, S##_i32, S##_u64, S##_i64, S##_f32, S##_f64}
static const tpi_loop real_loops[11][11] = {ROW(u8),  ROW(u8),  ROW(i8),  ROW(u16), ROW(i16), ROW(u32),
                                            ROW(i32), ROW(u64), ROW(i64), ROW(f32), ROW(f64)};

enum { BLOCK = 256 };

static bool is_half(int dtype) { return dtype == TP_FLOAT16 || dtype == TP_BFLOAT16; }

/* The chain of loops for real parts; each has its own scratch type. */
void tpi_cast_plan(tpi_caster *c, int from, int to)
{
    c->imag = tpi_is_complex(to) ? (tpi_is_complex(from) ? TPI_IMAG_CAST : TPI_IMAG_ZERO) : TPI_IMAG_NONE;
    c->from_half = tpi_esize(from) / 2;
    c->to_half = tpi_esize(to) / 2;
    c->nsteps = 0;
    c->to_double = to == TP_COMPLEX128;
    if (tpi_is_complex(from) && to == TP_BOOL) {
        c->step[c->nsteps++] = from == TP_COMPLEX64 ? c64_bool : c128_bool;
        return;
    }
    from = tpi_to_real(from);
    to = tpi_to_real(to);
    if (from == to && is_half(from)) {
        c->step[c->nsteps++] = u16_u16;
        return;
    }
    if (is_half(from)) {
        c->step[c->nsteps++] = from == TP_FLOAT16 ? f16_f32 : bf16_f32;
        if (to == TP_FLOAT32) return;
        c->mid[0] = 4;
        from = TP_FLOAT32;
    }
    if (!is_half(to)) {
        c->step[c->nsteps++] = real_loops[machine[from]][machine[to]];
        return;
    }
    if (from != TP_FLOAT32) {
        if (tpi_esize(from) > 2) {
            if (from != TP_FLOAT64) {
                c->mid[c->nsteps] = 8;
                c->step[c->nsteps++] = real_loops[machine[from]][machine[TP_FLOAT64]];
            }
            c->mid[c->nsteps] = 4;
            c->step[c->nsteps++] = f64_odd;
        } else {
            c->mid[c->nsteps] = 4;
            c->step[c->nsteps++] = real_loops[machine[from]][machine[TP_FLOAT32]];
        }
    }
    c->step[c->nsteps++] = to == TP_FLOAT16 ? f32_f16 : f32_bf16;
}

static void cast_real(const tpi_caster *c, int64_t n, char *dst, int64_t ds, char *src, int64_t ss)
{
    if (c->nsteps == 1) {
        c->step[0](n, (char *[]){dst, src}, (int64_t[]){ds, ss}, NULL);
        return;
    }
    double scratch[2][BLOCK];
    for (int64_t b = 0; b < n; b += BLOCK) {
        int64_t m = n - b < BLOCK ? n - b : BLOCK;
        char *at = src + b * ss;
        int64_t step = ss;
        for (int k = 0; k < c->nsteps; k++) {
            bool last = k == c->nsteps - 1;
            char *to = last ? dst + b * ds : (char *)scratch[k & 1];
            int64_t to_step = last ? ds : c->mid[k];
            c->step[k](m, (char *[]){to, at}, (int64_t[]){to_step, step}, NULL);
            at = to;
            step = to_step;
        }
    }
}

void tpi_cast_loop(int64_t n, char **p, const int64_t *s, void *ctx)
{
    const tpi_caster *c = ctx;
    cast_real(c, n, p[0], s[0], p[1], s[1]);
    if (c->imag == TPI_IMAG_CAST) {
        cast_real(c, n, p[0] + c->to_half, s[0], p[1] + c->from_half, s[1]);
    } else if (c->imag == TPI_IMAG_ZERO) {
        char *dst = p[0] + c->to_half;
        if (c->to_double)
            for (int64_t k = 0; k < n; k++, dst += s[0]) *(double *)dst = 0;
        else
            for (int64_t k = 0; k < n; k++, dst += s[0]) *(float *)dst = 0;
    }
}

void tpi_convert(int64_t n, const void *src, int src_dtype, void *dst, int dst_dtype)
{
    if (src_dtype == dst_dtype) {
        memcpy(dst, src, (size_t)n * tpi_esize(src_dtype));
        return;
    }
    tpi_caster c;
    tpi_cast_plan(&c, src_dtype, dst_dtype);
    tpi_cast_loop(n, (char *[]){dst, (char *)src}, (int64_t[]){tpi_esize(dst_dtype), tpi_esize(src_dtype)}, &c);
}

tp_tensor *tpi_dense_cast(tp_tensor *t, int dtype)
{
    tp_tensor *out = NULL;
    if (t->dtype == dtype) {
        out = tpi_empty_like(t, dtype);
        if (out && tpi_dense_copy(out, t)) {
            tp_release(out);
            out = NULL;
        }
        return out;
    }
    tpi_caster c;
    tpi_cast_plan(&c, t->dtype, dtype);
    if (tpi_map("cast", &out, dtype, 1, &t, tpi_cast_loop, &c)) {
        tp_release(out);
        return NULL;
    }
    return out;
}
