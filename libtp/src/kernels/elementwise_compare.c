/* Comparisons and predicates (bool results), maximum and minimum, clamp, where, logical operators. */
#include "kernels/arith.h"
#include "kernels/loops.h"

#define INT_TYPES(X)                                                                                                 \
    X(u8, uint8_t)                                                                                                   \
    X(i8, int8_t) X(u16, uint16_t) X(i16, int16_t) X(u32, uint32_t) X(i32, int32_t) X(u64, uint64_t) X(i64, int64_t)
#define REAL_TYPES(X) INT_TYPES(X) X(f32, float) X(f64, double)

#define REAL_ENTRIES(OP)                                                                                           \
    [TP_BOOL] = OP##_u8, [TP_UINT8] = OP##_u8, [TP_INT8] = OP##_i8, [TP_UINT16] = OP##_u16, [TP_INT16] = OP##_i16, \
    [TP_UINT32] = OP##_u32, [TP_INT32] = OP##_i32, [TP_UINT64] = OP##_u64, [TP_INT64] = OP##_i64,                  \
    [TP_FLOAT32] = OP##_f32, [TP_FLOAT64] = OP##_f64

/* For what depends on the bits of an integer alone. */
#define WIDTH_ENTRIES(OP)                                                                                          \
    [TP_BOOL] = OP##_u8, [TP_UINT8] = OP##_u8, [TP_INT8] = OP##_u8, [TP_UINT16] = OP##_u16, [TP_INT16] = OP##_u16, \
    [TP_UINT32] = OP##_u32, [TP_INT32] = OP##_u32, [TP_UINT64] = OP##_u64, [TP_INT64] = OP##_u64,                  \
    [TP_FLOAT32] = OP##_f32, [TP_FLOAT64] = OP##_f64, [TP_COMPLEX64] = OP##_c64, [TP_COMPLEX128] = OP##_c128

#define WIDTH_TYPES(X) X(u8, uint8_t) X(u16, uint16_t) X(u32, uint32_t) X(u64, uint64_t) X(f32, float) X(f64, double)

/* ---- order ---- */
#define LT_LOOP(N, T) LOOP2(lt_##N, uint8_t, T, T, x < y)
#define LE_LOOP(N, T) LOOP2(le_##N, uint8_t, T, T, x <= y)
#define EQ_LOOP(N, T) LOOP2(eq_##N, uint8_t, T, T, x == y)
#define NE_LOOP(N, T) LOOP2(ne_##N, uint8_t, T, T, x != y)
REAL_TYPES(LT_LOOP)
REAL_TYPES(LE_LOOP)
WIDTH_TYPES(EQ_LOOP)
WIDTH_TYPES(NE_LOOP)
LOOP2(eq_c64, uint8_t, c64, c64, (x.re == y.re) & (x.im == y.im))
LOOP2(eq_c128, uint8_t, c128, c128, (x.re == y.re) & (x.im == y.im))
LOOP2(ne_c64, uint8_t, c64, c64, (x.re != y.re) | (x.im != y.im))
LOOP2(ne_c128, uint8_t, c128, c128, (x.re != y.re) | (x.im != y.im))
static const tpi_loop lt_table[TP_DTYPE_COUNT] = {REAL_ENTRIES(lt)};
static const tpi_loop le_table[TP_DTYPE_COUNT] = {REAL_ENTRIES(le)};
static const tpi_loop eq_table[TP_DTYPE_COUNT] = {WIDTH_ENTRIES(eq)};
static const tpi_loop ne_table[TP_DTYPE_COUNT] = {WIDTH_ENTRIES(ne)};

static int swapped(tp_call *c, const tpi_loop *table)
{
    return tpi_elementwise_on(c, 2, (tp_tensor *[]){arg_t(&c->args[1]), arg_t(&c->args[0])}, 0, TP_BOOL, table, NULL);
}

int k_lt(tp_call *c) { return tpi_elementwise(c, 2, 0, TP_BOOL, lt_table, NULL); }
int k_le(tp_call *c) { return tpi_elementwise(c, 2, 0, TP_BOOL, le_table, NULL); }
int k_gt(tp_call *c) { return swapped(c, lt_table); }
int k_ge(tp_call *c) { return swapped(c, le_table); }
int k_eq(tp_call *c) { return tpi_elementwise(c, 2, 0, TP_BOOL, eq_table, NULL); }
int k_ne(tp_call *c) { return tpi_elementwise(c, 2, 0, TP_BOOL, ne_table, NULL); }

/* ---- logic ---- */
#define AND_LOOP(N, T) LOOP2(and_##N, uint8_t, T, T, (x != 0) & (y != 0))
#define OR_LOOP(N, T) LOOP2(or_##N, uint8_t, T, T, (x != 0) | (y != 0))
#define XOR_LOOP(N, T) LOOP2(xor_##N, uint8_t, T, T, (x != 0) ^ (y != 0))
#define NOT_LOOP(N, T) LOOP1(not_##N, uint8_t, T, x == 0)
WIDTH_TYPES(AND_LOOP)
WIDTH_TYPES(OR_LOOP)
WIDTH_TYPES(XOR_LOOP)
WIDTH_TYPES(NOT_LOOP)
#define TRUE_C(x) (((x).re != 0) | ((x).im != 0))
LOOP2(and_c64, uint8_t, c64, c64, TRUE_C(x) & TRUE_C(y))
LOOP2(and_c128, uint8_t, c128, c128, TRUE_C(x) & TRUE_C(y))
LOOP2(or_c64, uint8_t, c64, c64, TRUE_C(x) | TRUE_C(y))
LOOP2(or_c128, uint8_t, c128, c128, TRUE_C(x) | TRUE_C(y))
LOOP2(xor_c64, uint8_t, c64, c64, TRUE_C(x) ^ TRUE_C(y))
LOOP2(xor_c128, uint8_t, c128, c128, TRUE_C(x) ^ TRUE_C(y))
LOOP1(not_c64, uint8_t, c64, !TRUE_C(x))
LOOP1(not_c128, uint8_t, c128, !TRUE_C(x))
static const tpi_loop and_table[TP_DTYPE_COUNT] = {WIDTH_ENTRIES(and)};
static const tpi_loop or_table[TP_DTYPE_COUNT] = {WIDTH_ENTRIES(or)};
static const tpi_loop xor_table[TP_DTYPE_COUNT] = {WIDTH_ENTRIES(xor)};
static const tpi_loop not_table[TP_DTYPE_COUNT] = {WIDTH_ENTRIES(not)};
int k_logical_and(tp_call *c) { return tpi_elementwise(c, 2, 0, TP_BOOL, and_table, NULL); }
int k_logical_or(tp_call *c) { return tpi_elementwise(c, 2, 0, TP_BOOL, or_table, NULL); }
int k_logical_xor(tp_call *c) { return tpi_elementwise(c, 2, 0, TP_BOOL, xor_table, NULL); }
int k_logical_not(tp_call *c) { return tpi_elementwise(c, 1, 0, TP_BOOL, not_table, NULL); }

/* ---- predicates of floating values; the same answer for every integer ---- */
#define PREDICATE(OP, EXPR, ANY, INTEGER)                                                                              \
    LOOP1(OP##_f32, uint8_t, float, EXPR)                                                                              \
    LOOP1(OP##_f64, uint8_t, double, EXPR)                                                                             \
    ANY int k_##OP(tp_call *c)                                                                                         \
    {                                                                                                                  \
        static const tpi_loop table[TP_DTYPE_COUNT] = {                                                                \
            [TP_FLOAT32] = OP##_f32, [TP_FLOAT64] = OP##_f64, [TP_COMPLEX64] = OP##_c64, [TP_COMPLEX128] = OP##_c128}; \
        return predicate(c, table, INTEGER);                                                                           \
    }

static int predicate(tp_call *c, const tpi_loop *table, int integer)
{
    tp_tensor *self = arg_t(&c->args[0]);
    if (self->dtype >= TP_FLOAT16) return tpi_elementwise(c, 1, 0, TP_BOOL, table, NULL);
    c->out[0] = tpi_empty_like(self, TP_BOOL);
    if (!c->out[0]) return tp_error_code();
    memset(tpi_data(c->out[0]), integer, (size_t)self->numel);
    return 0;
}

#define COMPLEX_PREDICATE(OP, EXPR) LOOP1(OP##_c64, uint8_t, c64, EXPR) LOOP1(OP##_c128, uint8_t, c128, EXPR)
PREDICATE(isnan, x != x, COMPLEX_PREDICATE(isnan, (x.re != x.re) | (x.im != x.im)), 0)
PREDICATE(isinf, (x == INFINITY) | (x == -INFINITY),
          COMPLEX_PREDICATE(isinf, (x.re == INFINITY) | (x.re == -INFINITY) | (x.im == INFINITY) | (x.im == -INFINITY)),
          0)
PREDICATE(isfinite, x - x == 0, COMPLEX_PREDICATE(isfinite, (x.re - x.re == 0) & (x.im - x.im == 0)), 1)
#undef PREDICATE
#define PREDICATE(OP, EXPR)                                                                               \
    LOOP1(OP##_f32, uint8_t, float, EXPR)                                                                 \
    LOOP1(OP##_f64, uint8_t, double, EXPR)                                                                \
    int k_##OP(tp_call *c)                                                                                \
    {                                                                                                     \
        static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = OP##_f32, [TP_FLOAT64] = OP##_f64}; \
        return predicate(c, table, 0);                                                                    \
    }
PREDICATE(isposinf, x == INFINITY)
PREDICATE(isneginf, x == -INFINITY)

LOOP1(signbit_i8, uint8_t, int8_t, x < 0)
LOOP1(signbit_i16, uint8_t, int16_t, x < 0)
LOOP1(signbit_i32, uint8_t, int32_t, x < 0)
LOOP1(signbit_i64, uint8_t, int64_t, x < 0)
LOOP1(signbit_f32, uint8_t, float, __builtin_signbit(x) != 0)
LOOP1(signbit_f64, uint8_t, double, __builtin_signbit(x) != 0)
int k_signbit(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {
        [TP_INT8] = signbit_i8,   [TP_INT16] = signbit_i16,   [TP_INT32] = signbit_i32,
        [TP_INT64] = signbit_i64, [TP_FLOAT32] = signbit_f32, [TP_FLOAT64] = signbit_f64};
    int dtype = arg_t(&c->args[0])->dtype;
    if (table[dtype]) return tpi_elementwise(c, 1, 0, TP_BOOL, table, NULL);
    return predicate(c, table, 0);
}

/* ---- extrema: maximum and minimum pass NaN on, fmax and fmin leave it out ---- */
#define MAX_LOOP(N, T) LOOP2(max_##N, T, T, T, (x > y) | (x != x) ? x : y)
#define MIN_LOOP(N, T) LOOP2(min_##N, T, T, T, (x < y) | (x != x) ? x : y)
REAL_TYPES(MAX_LOOP)
REAL_TYPES(MIN_LOOP)
LOOP2(fmax_f32, float, float, float, (x >= y) | (y != y) ? x : y)
LOOP2(fmax_f64, double, double, double, (x >= y) | (y != y) ? x : y)
LOOP2(fmin_f32, float, float, float, (x <= y) | (y != y) ? x : y)
LOOP2(fmin_f64, double, double, double, (x <= y) | (y != y) ? x : y)
static const tpi_loop max_table[TP_DTYPE_COUNT] = {REAL_ENTRIES(max)};
static const tpi_loop min_table[TP_DTYPE_COUNT] = {REAL_ENTRIES(min)};
int k_maximum(tp_call *c) { return tpi_elementwise(c, 2, 0, -1, max_table, NULL); }
int k_minimum(tp_call *c) { return tpi_elementwise(c, 2, 0, -1, min_table, NULL); }
int k_fmax(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = fmax_f32, [TP_FLOAT64] = fmax_f64};
    return tpi_elementwise(c, 2, 0, -1, arg_t(&c->args[0])->dtype < TP_FLOAT16 ? max_table : table, NULL);
}
int k_fmin(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = fmin_f32, [TP_FLOAT64] = fmin_f64};
    return tpi_elementwise(c, 2, 0, -1, arg_t(&c->args[0])->dtype < TP_FLOAT16 ? min_table : table, NULL);
}

/* Selects in this order become vector code; NaN in any operand goes to the result. */
#define CLAMP_FN(N, T)                                   \
    static inline T clamp_one_##N(T x, T lo, T hi)       \
    {                                                    \
        T t = x < lo ? lo : x;                           \
        t = t > hi ? hi : t;                             \
        t = lo != lo ? lo : t;                           \
        return hi != hi ? hi : t;                        \
    }                                                    \
    LOOP3(clamp_##N, T, T, T, T, clamp_one_##N(x, y, z))
REAL_TYPES(CLAMP_FN)
static const tpi_loop clamp_table[TP_DTYPE_COUNT] = {REAL_ENTRIES(clamp)};
int k_clamp(tp_call *c)
{
    tp_tensor *self = arg_t(&c->args[0]), *lo = arg_t(&c->args[1]), *hi = arg_t(&c->args[2]);
    if (lo && hi) return tpi_elementwise(c, 3, 0, -1, clamp_table, NULL);
    if (!lo && !hi) return tpi_fail(TP_ERR_RUNTIME, "clamp: at least one of min and max is needed");
    return tpi_elementwise_on(c, 2, (tp_tensor *[]){self, lo ? lo : hi}, 0, -1, lo ? max_table : min_table, NULL);
}

/* ---- relu and its kin, and the gates that hand a cotangent on ---- */
/* ctx: the two bounds; a bound that an integer type lacks is never reached */
#define HARDTANH_LOOP(N, T)                                                                            \
    static inline T hardtanh_one_##N(T x, double lo, double hi)                                        \
    {                                                                                                  \
        return (double)x <= lo ? (T)lo : (double)x >= hi ? (T)hi : x;                                  \
    }                                                                                                  \
    LOOP1(hardtanh_##N, T, T, hardtanh_one_##N(x, ((const double *)ctx)[0], ((const double *)ctx)[1]))
INT_TYPES(HARDTANH_LOOP)
static inline float hardtanh_one_f32(float x, float lo, float hi)
{
    float t = x <= lo ? lo : x;
    return t >= hi ? hi : t;
}
static inline double hardtanh_one_f64(double x, double lo, double hi)
{
    double t = x <= lo ? lo : x;
    return t >= hi ? hi : t;
}
LOOP1(hardtanh_f32, float, float, hardtanh_one_f32(x, (float)((const double *)ctx)[0], (float)((const double *)ctx)[1]))
LOOP1(hardtanh_f64, double, double, hardtanh_one_f64(x, ((const double *)ctx)[0], ((const double *)ctx)[1]))
static const tpi_loop hardtanh_table[TP_DTYPE_COUNT] = {REAL_ENTRIES(hardtanh)};
int k_hardtanh(tp_call *c)
{
    double bounds[2] = {arg_f(&c->args[1]), arg_f(&c->args[2])};
    if (bounds[0] > bounds[1])
        return tpi_fail(TP_ERR_VALUE, "hardtanh: min_val %g exceeds max_val %g", bounds[0], bounds[1]);
    return tpi_elementwise(c, 1, 0, -1, hardtanh_table, bounds);
}

#define RELU_LOOP(N, T) LOOP1(relu_##N, T, T, (x > 0) | (x != x) ? x : 0)
REAL_TYPES(RELU_LOOP)
static const tpi_loop relu_table[TP_DTYPE_COUNT] = {REAL_ENTRIES(relu)};
int k_relu(tp_call *c)
{
    if (arg_t(&c->args[0])->dtype == TP_BOOL) return tpi_unsupported_dtype(c, TP_BOOL);
    return tpi_elementwise(c, 1, 0, -1, relu_table, NULL);
}

/* g (x) where y > 0; NaN counts as positive */
LOOP2(relu_grad_f32, float, float, float, y <= 0 ? 0 : x)
LOOP2(relu_grad_f64, double, double, double, y <= 0 ? 0 : x)
int k_relu_grad(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = relu_grad_f32, [TP_FLOAT64] = relu_grad_f64};
    return tpi_elementwise(c, 2, 0, -1, table, NULL);
}

/* g (x) where y > z, half of it where they are equal, nothing where y < z */
LOOP3(greater_grad_f32, float, float, float, float, y < z ? 0 : y == z ? x * 0.5f : x)
LOOP3(greater_grad_f64, double, double, double, double, y < z ? 0 : y == z ? x * 0.5 : x)
int k_greater_grad(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = greater_grad_f32, [TP_FLOAT64] = greater_grad_f64};
    return tpi_elementwise(c, 3, 0, -1, table, NULL);
}

/* g where lo <= x <= hi */
#define CLAMP_GRAD(N, T)                                                                             \
    TP_CLONES static void clamp_grad_##N(int64_t n, char **p, const int64_t *s, void *ctx)           \
    {                                                                                                \
        char *po = p[0], *pg = p[1], *px = p[2], *pl = p[3], *ph = p[4];                             \
        if (s[0] == sizeof(T) && s[1] == sizeof(T) && s[2] == sizeof(T) && s[3] == 0 && s[4] == 0) { \
            T *o = (T *)po, lo = *(T *)pl, hi = *(T *)ph;                                            \
            const T *g = (T *)pg, *x = (T *)px;                                                      \
            TPI_IVDEP for (int64_t k = 0; k < n; k++) o[k] = (x[k] >= lo) & (x[k] <= hi) ? g[k] : 0; \
            return;                                                                                  \
        }                                                                                            \
        for (int64_t k = 0; k < n; k++) {                                                            \
            T x = *(T *)px, lo = *(T *)pl, hi = *(T *)ph;                                            \
            *(T *)po = (x >= lo) & (x <= hi) ? *(T *)pg : 0;                                         \
            po += s[0], pg += s[1], px += s[2], pl += s[3], ph += s[4];                              \
        }                                                                                            \
    }
CLAMP_GRAD(f32, float)
CLAMP_GRAD(f64, double)
int k_clamp_grad(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = clamp_grad_f32, [TP_FLOAT64] = clamp_grad_f64};
    tp_tensor *in[4], *infinite[2] = {NULL, NULL};
    int status = 0;
    for (int k = 0; k < 4; k++) in[k] = arg_t(&c->args[k]);
    for (int k = 0; k < 2; k++)
        if (!in[k + 2]) {
            tp_scalar v = {.tag = TP_SCALAR_FLOAT, .v.f = k ? INFINITY : -INFINITY};
            in[k + 2] = infinite[k] = tp_scalar_tensor(&v, in[1]->dtype);
            if (!infinite[k]) status = tp_error_code();
        }
    if (!status) status = tpi_elementwise_on(c, 4, in, 0, -1, table, NULL);
    for (int k = 0; k < 2; k++)
        if (infinite[k]) tp_release(infinite[k]);
    return status;
}

/* ---- where ---- */
typedef struct unit128 {
    uint64_t a, b;
} unit128;
LOOP3(where1, uint8_t, uint8_t, uint8_t, uint8_t, x ? y : z)
LOOP3(where2, uint16_t, uint8_t, uint16_t, uint16_t, x ? y : z)
LOOP3(where4, uint32_t, uint8_t, uint32_t, uint32_t, x ? y : z)
LOOP3(where8, uint64_t, uint8_t, uint64_t, uint64_t, x ? y : z)
LOOP3(where16, unit128, uint8_t, unit128, unit128, x ? y : z)
int k_where(tp_call *c)
{
    tp_tensor *in[3] = {arg_t(&c->args[0]), arg_t(&c->args[1]), arg_t(&c->args[2])};
    if (in[0]->dtype != TP_BOOL)
        return tpi_fail(TP_ERR_TYPE, "%s: the condition must be bool, got %s", c->op->name,
                        tp_dtype_name(in[0]->dtype));
    int size = tpi_esize(in[1]->dtype);
    tpi_loop loop = size == 1 ? where1 : size == 2 ? where2 : size == 4 ? where4 : size == 8 ? where8 : where16;
    return tpi_map(c->op->name, c->out, in[1]->dtype, 3, in, loop, NULL);
}
