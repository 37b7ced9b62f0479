/* Integer division and its relatives, bits, and integer powers. A division by zero anywhere fails the call. */
#include "kernels/arith.h"
#include "kernels/loops.h"
#include "kernels/vmath.h"

enum { FAULT_ZERO = 1, FAULT_NEGATIVE = 2 };

static int with_fault(tp_call *c, const tpi_loop *table)
{
    int fault = 0;
    int status = tpi_elementwise(c, 2, 0, -1, table, &fault);
    if (status || !fault) return status;
    const tp_tensor *x = arg_t(&c->args[0]), *y = arg_t(&c->args[1]);
    /* A cast number has lost its mark, but has no dimensions. */
    bool number = y->flags & TPI_F_WEAK || (y->ndim == 0 && x->ndim > 0);
    if (fault == FAULT_NEGATIVE && !number) return 0;
    return fault == FAULT_ZERO
               ? tpi_fail(TP_ERR_RUNTIME, "%s: ZeroDivisionError: integer division by zero", c->op->name)
               : tpi_fail(TP_ERR_RUNTIME, "%s: integers to negative integer powers are not allowed", c->op->name);
}

/* Threads may set the same flag; it is only ever raised. */
#define RAISE(code) __atomic_store_n((int *)ctx, code, __ATOMIC_RELAXED)

#define DIVISION_LOOP(NAME, T, EXPR)                                          \
    static void NAME(int64_t n, char **p, const int64_t *s, void *ctx)        \
    {                                                                         \
        char *po = p[0], *px = p[1], *py = p[2];                              \
        for (int64_t k = 0; k < n; k++, po += s[0], px += s[1], py += s[2]) { \
            T x = *(T *)px, y = *(T *)py;                                     \
            if (y == 0) {                                                     \
                RAISE(FAULT_ZERO);                                            \
                return;                                                       \
            }                                                                 \
            *(T *)po = (T)(EXPR);                                             \
        }                                                                     \
    }

/* y == -1 apart: the most negative value has no positive counterpart, and wraps. */
#define SIGNED_LOOPS(N, T, U)                                           \
    static inline T floor_div_##N(T x, T y)                             \
    {                                                                   \
        if (y == -1) return (T)(0 - (U)x);                              \
        return (T)(x / y - ((x % y != 0) & ((x < 0) != (y < 0))));      \
    }                                                                   \
    static inline T floor_mod_##N(T x, T y)                             \
    {                                                                   \
        T r = y == -1 ? 0 : (T)(x % y);                                 \
        return r != 0 && (r < 0) != (y < 0) ? (T)(r + y) : r;           \
    }                                                                   \
    DIVISION_LOOP(floor_divide_##N, T, floor_div_##N(x, y))             \
    DIVISION_LOOP(trunc_divide_##N, T, y == -1 ? (T)(0 - (U)x) : x / y) \
    DIVISION_LOOP(remainder_##N, T, floor_mod_##N(x, y))                \
    DIVISION_LOOP(fmod_##N, T, y == -1 ? 0 : x % y)                     \
    POWER_LOOP(pow_##N, T, U, y < 0)
#define UNSIGNED_LOOPS(N, T)                  \
    DIVISION_LOOP(floor_divide_##N, T, x / y) \
    DIVISION_LOOP(remainder_##N, T, x % y)    \
    POWER_LOOP(pow_##N, T, T, false)

/* 1 and -1 have integer inverses; those of others are rounded towards 0. */
static inline int64_t inverse_power(int64_t base, bool odd) { return base == 1 ? 1 : base == -1 ? (odd ? -1 : 1) : 0; }

#define POWER_LOOP(NAME, T, U, NEGATIVE)                                      \
    static void NAME(int64_t n, char **p, const int64_t *s, void *ctx)        \
    {                                                                         \
        char *po = p[0], *px = p[1], *py = p[2];                              \
        for (int64_t k = 0; k < n; k++, po += s[0], px += s[1], py += s[2]) { \
            T y = *(T *)py;                                                   \
            uint64_t base = (uint64_t)*(T *)px, r = 1;                        \
            if (NEGATIVE) {                                                   \
                RAISE(FAULT_NEGATIVE);                                        \
                *(T *)po = (T)inverse_power((int64_t)base, y & 1);            \
                continue;                                                     \
            }                                                                 \
            for (U e = (U)y; e; e >>= 1, base *= base)                        \
                if (e & 1) r *= base;                                         \
            *(T *)po = (T)(U)r;                                               \
        }                                                                     \
    }

SIGNED_LOOPS(i8, int8_t, uint8_t)
SIGNED_LOOPS(i16, int16_t, uint16_t)
SIGNED_LOOPS(i32, int32_t, uint32_t)
SIGNED_LOOPS(i64, int64_t, uint64_t)
UNSIGNED_LOOPS(u8, uint8_t)
UNSIGNED_LOOPS(u16, uint16_t)
UNSIGNED_LOOPS(u32, uint32_t)
UNSIGNED_LOOPS(u64, uint64_t)

#define trunc_divide_u8 floor_divide_u8
#define trunc_divide_u16 floor_divide_u16
#define trunc_divide_u32 floor_divide_u32
#define trunc_divide_u64 floor_divide_u64
#define fmod_u8 remainder_u8
#define fmod_u16 remainder_u16
#define fmod_u32 remainder_u32
#define fmod_u64 remainder_u64

/* Floor division that agrees with remainder: x == floor_divide(x, y) * y + remainder(x, y) up to rounding. */
static inline double floor_divide_double(double x, double y)
{
    if (y == 0) return x / y;
    double mod = fmod(x, y), div = (x - mod) / y;
    if (mod != 0 && (y < 0) != (mod < 0)) div -= 1;
    if (div == 0) return copysign(0, x / y);
    double floored = floor(div);
    return div - floored > 0.5 ? floored + 1 : floored;
}
static inline float floor_divide_float(float x, float y)
{
    if (y == 0) return x / y;
    float mod = fmodf(x, y), div = (x - mod) / y;
    if (mod != 0 && (y < 0) != (mod < 0)) div -= 1;
    if (div == 0) return copysignf(0, x / y);
    float floored = floorf(div);
    return div - floored > 0.5f ? floored + 1 : floored;
}
LOOP2(floor_divide_f32, float, float, float, floor_divide_float(x, y))
LOOP2(floor_divide_f64, double, double, double, floor_divide_double(x, y))
LOOP2(trunc_divide_f32, float, float, float, truncf(x / y))
LOOP2(trunc_divide_f64, double, double, double, trunc(x / y))

static const tpi_loop floor_divide_table[TP_DTYPE_COUNT] = {
    INT_ENTRIES(floor_divide), [TP_FLOAT32] = floor_divide_f32, [TP_FLOAT64] = floor_divide_f64};
static const tpi_loop trunc_divide_table[TP_DTYPE_COUNT] = {
    INT_ENTRIES(trunc_divide), [TP_FLOAT32] = trunc_divide_f32, [TP_FLOAT64] = trunc_divide_f64};
static const tpi_loop remainder_table[TP_DTYPE_COUNT] = {INT_ENTRIES(remainder)};
static const tpi_loop fmod_table[TP_DTYPE_COUNT] = {INT_ENTRIES(fmod)};
const tpi_loop tpi_int_pow_table[TP_DTYPE_COUNT] = {INT_ENTRIES(pow)};

int k_floor_divide(tp_call *c) { return with_fault(c, floor_divide_table); }
int k_trunc_divide(tp_call *c) { return with_fault(c, trunc_divide_table); }
int tpi_int_pow(tp_call *c) { return with_fault(c, tpi_int_pow_table); }

int k_remainder(tp_call *c)
{
    if (arg_t(&c->args[0])->dtype < TP_FLOAT16) return with_fault(c, remainder_table);
    return tpi_vector2(c, (tpi_vfns){.f32 = (const void *)tpi_vremainder_f32, .f64 = (const void *)tpi_vremainder_f64});
}

int k_fmod(tp_call *c)
{
    if (arg_t(&c->args[0])->dtype < TP_FLOAT16) return with_fault(c, fmod_table);
    return tpi_vector2(c, (tpi_vfns){.f32 = (const void *)tpi_vfmod_f32, .f64 = (const void *)tpi_vfmod_f64});
}

/* ---- bits ---- */
#define BIT_LOOPS(OP, EXPR)                             \
    LOOP2(OP##_u8, uint8_t, uint8_t, uint8_t, EXPR)     \
    LOOP2(OP##_u16, uint16_t, uint16_t, uint16_t, EXPR) \
    LOOP2(OP##_u32, uint32_t, uint32_t, uint32_t, EXPR) \
    LOOP2(OP##_u64, uint64_t, uint64_t, uint64_t, EXPR)
#define BIT_TABLE(OP)                                                        \
    {[TP_BOOL] = OP##_u8,    [TP_UINT8] = OP##_u8,   [TP_INT8] = OP##_u8,    \
     [TP_UINT16] = OP##_u16, [TP_INT16] = OP##_u16,  [TP_UINT32] = OP##_u32, \
     [TP_INT32] = OP##_u32,  [TP_UINT64] = OP##_u64, [TP_INT64] = OP##_u64}
BIT_LOOPS(and, x &y)
BIT_LOOPS(or, x | y)
BIT_LOOPS(xor, x ^ y)
LOOP1(not_bool, uint8_t, uint8_t, !x)
LOOP1(not_u8, uint8_t, uint8_t, (uint8_t)~x)
LOOP1(not_u16, uint16_t, uint16_t, (uint16_t)~x)
LOOP1(not_u32, uint32_t, uint32_t, ~x)
LOOP1(not_u64, uint64_t, uint64_t, ~x)
static const tpi_loop and_table[TP_DTYPE_COUNT] = BIT_TABLE(and);
static const tpi_loop or_table[TP_DTYPE_COUNT] = BIT_TABLE(or);
static const tpi_loop xor_table[TP_DTYPE_COUNT] = BIT_TABLE(xor);
static const tpi_loop not_table[TP_DTYPE_COUNT] = {
    [TP_BOOL] = not_bool,  [TP_UINT8] = not_u8,  [TP_INT8] = not_u8,    [TP_UINT16] = not_u16, [TP_INT16] = not_u16,
    [TP_UINT32] = not_u32, [TP_INT32] = not_u32, [TP_UINT64] = not_u64, [TP_INT64] = not_u64};

/* The 16-bit floats must not fall through to a float32 entry: there is none, which is the error. */
int k_bitwise_and(tp_call *c) { return tpi_elementwise(c, 2, 0, -1, and_table, NULL); }
int k_bitwise_or(tp_call *c) { return tpi_elementwise(c, 2, 0, -1, or_table, NULL); }
int k_bitwise_xor(tp_call *c) { return tpi_elementwise(c, 2, 0, -1, xor_table, NULL); }
int k_bitwise_not(tp_call *c) { return tpi_elementwise(c, 1, 0, -1, not_table, NULL); }

/* A shift by the width or more, or by a negative count, moves every bit out. */
#define SHIFT_LOOPS(N, T, U)                                                                       \
    LOOP2(lshift_##N, T, T, T, (U)y < sizeof(T) * 8 ? (T)((uint64_t)x << ((U)y & 63)) : (T)0)      \
    LOOP2(rshift_##N, T, T, T, (T)(x >> ((U)y < sizeof(T) * 8 ? (int)y : (int)sizeof(T) * 8 - 1)))
SHIFT_LOOPS(i8, int8_t, uint8_t)
SHIFT_LOOPS(i16, int16_t, uint16_t)
SHIFT_LOOPS(i32, int32_t, uint32_t)
SHIFT_LOOPS(i64, int64_t, uint64_t)
#undef SHIFT_LOOPS
#define SHIFT_LOOPS(N, T)                                                               \
    LOOP2(lshift_##N, T, T, T, y < sizeof(T) * 8 ? (T)((uint64_t)x << (y & 63)) : (T)0) \
    LOOP2(rshift_##N, T, T, T, y < sizeof(T) * 8 ? (T)(x >> (y & 63)) : (T)0)
SHIFT_LOOPS(u8, uint8_t)
SHIFT_LOOPS(u16, uint16_t)
SHIFT_LOOPS(u32, uint32_t)
SHIFT_LOOPS(u64, uint64_t)
static const tpi_loop lshift_table[TP_DTYPE_COUNT] = {INT_ENTRIES(lshift)};
static const tpi_loop rshift_table[TP_DTYPE_COUNT] = {INT_ENTRIES(rshift)};
int k_bitwise_left_shift(tp_call *c) { return tpi_elementwise(c, 2, 0, -1, lshift_table, NULL); }
int k_bitwise_right_shift(tp_call *c) { return tpi_elementwise(c, 2, 0, -1, rshift_table, NULL); }
