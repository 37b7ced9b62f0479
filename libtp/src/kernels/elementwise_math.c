/* abs, sgn, rounding, powers, complex parts, and what handles special values. */
#include "kernels/arith.h"
#include "kernels/loops.h"
#include "kernels/vmath.h"


LOOP1(same_u8, uint8_t, uint8_t, x)
LOOP1(same_u16, uint16_t, uint16_t, x)
LOOP1(same_u32, uint32_t, uint32_t, x)
LOOP1(same_u64, uint64_t, uint64_t, x)
#define SAME_ENTRIES                                                                                               \
    [TP_BOOL] = same_u8, [TP_UINT8] = same_u8, [TP_INT8] = same_u8, [TP_UINT16] = same_u16, [TP_INT16] = same_u16, \
    [TP_UINT32] = same_u32, [TP_INT32] = same_u32, [TP_UINT64] = same_u64, [TP_INT64] = same_u64

/* ---- abs and sgn ---- */
LOOP1(abs_i8, int8_t, int8_t, (int8_t)(x < 0 ? -x : x))
LOOP1(abs_i16, int16_t, int16_t, (int16_t)(x < 0 ? -x : x))
LOOP1(abs_i32, uint32_t, int32_t, x < 0 ? 0u - (uint32_t)x : (uint32_t)x)
LOOP1(abs_i64, uint64_t, int64_t, x < 0 ? 0u - (uint64_t)x : (uint64_t)x)
LOOP1(abs_f32, float, float, fabsf(x))
LOOP1(abs_f64, double, double, fabs(x))
static const tpi_loop abs_table[TP_DTYPE_COUNT] = {
    [TP_BOOL] = same_u8,  [TP_UINT8] = same_u8,   [TP_INT8] = abs_i8,    [TP_UINT16] = same_u16,
    [TP_INT16] = abs_i16, [TP_UINT32] = same_u32, [TP_INT32] = abs_i32,  [TP_UINT64] = same_u64,
    [TP_INT64] = abs_i64, [TP_FLOAT32] = abs_f32, [TP_FLOAT64] = abs_f64};

/* A vector function from complex to real values. */
static int complex_to_real(tp_call *c, const void *c64_fn, const void *c128_fn)
{
    tp_tensor *self = arg_t(&c->args[0]);
    bool wide = self->dtype == TP_COMPLEX128;
    tpi_vector v = {.fn.one = (tpi_vfn1)(wide ? c128_fn : c64_fn), .in_size = wide ? 16 : 8, .out_size = wide ? 8 : 4};
    return tpi_map(c->op->name, c->out, wide ? TP_FLOAT64 : TP_FLOAT32, 1, &self, tpi_vector_loop1, &v);
}

int k_abs(tp_call *c)
{
    if (tpi_is_complex(arg_t(&c->args[0])->dtype))
        return complex_to_real(c, (const void *)tpi_vabs_c64, (const void *)tpi_vabs_c128);
    return tpi_elementwise(c, 1, 0, -1, abs_table, NULL);
}

/* z / |z|, also where |z|^2 would overflow; 0 at 0. */
static inline c64 unit_c64(c64 z)
{
    float r = hypotf(z.re, z.im);
    return r == 0 ? (c64){0, 0} : (c64){z.re / r, z.im / r};
}
static inline c128 unit_c128(c128 z)
{
    double r = hypot(z.re, z.im);
    return r == 0 ? (c128){0, 0} : (c128){z.re / r, z.im / r};
}
LOOP1(sgn_u8, uint8_t, uint8_t, x != 0)
LOOP1(sgn_u16, uint16_t, uint16_t, x != 0)
LOOP1(sgn_u32, uint32_t, uint32_t, x != 0)
LOOP1(sgn_u64, uint64_t, uint64_t, x != 0)
LOOP1(sgn_i8, int8_t, int8_t, (x > 0) - (x < 0))
LOOP1(sgn_i16, int16_t, int16_t, (x > 0) - (x < 0))
LOOP1(sgn_i32, int32_t, int32_t, (x > 0) - (x < 0))
LOOP1(sgn_i64, int64_t, int64_t, (x > 0) - (x < 0))
LOOP1(sgn_f32, float, float, x > 0 ? 1 : x < 0 ? -1 : x != x ? x : 0)
LOOP1(sgn_f64, double, double, x > 0 ? 1 : x < 0 ? -1 : x != x ? x : 0)
LOOP1(sgn_c64, c64, c64, unit_c64(x))
LOOP1(sgn_c128, c128, c128, unit_c128(x))
static const tpi_loop sgn_table[TP_DTYPE_COUNT] = {
    [TP_BOOL] = same_u8,    INT_ENTRIES(sgn),         [TP_FLOAT32] = sgn_f32,
    [TP_FLOAT64] = sgn_f64, [TP_COMPLEX64] = sgn_c64, [TP_COMPLEX128] = sgn_c128};
int k_sgn(tp_call *c) { return tpi_elementwise(c, 1, 0, -1, sgn_table, NULL); }

/* ---- rounding; integers are whole already ---- */
#define ROUNDING(OP, F32, F64)              \
    LOOP1(OP##_f32, float, float, F32(x))   \
    LOOP1(OP##_f64, double, double, F64(x)) \
    static const tpi_loop OP##_table[TP_DTYPE_COUNT] = {SAME_ENTRIES, [TP_FLOAT32] = OP##_f32, [TP_FLOAT64] = OP##_f64};
ROUNDING(floor, floorf, floor)
ROUNDING(ceil, ceilf, ceil)
ROUNDING(trunc, truncf, trunc)
ROUNDING(round, rintf, rint)
int k_floor(tp_call *c) { return tpi_elementwise(c, 1, 0, -1, floor_table, NULL); }
int k_ceil(tp_call *c) { return tpi_elementwise(c, 1, 0, -1, ceil_table, NULL); }
int k_trunc(tp_call *c) { return tpi_elementwise(c, 1, 0, -1, trunc_table, NULL); }

/* Decimals: scaled by a power of ten that is exact in double for |decimals| <= 22. */
typedef struct scaling {
    double factor;
    bool divide;
} scaling;
static inline double round_decimals(double x, const scaling *s)
{
    if (s->divide) return rint(x / s->factor) * s->factor;
    double scaled = x * s->factor;
    return isfinite(scaled) ? rint(scaled) / s->factor : x;
}
LOOP1(decimals_f32, float, float, (float)round_decimals(x, ctx))
LOOP1(decimals_f64, double, double, round_decimals(x, ctx))

int k_round(tp_call *c)
{
    int64_t decimals = arg_i(&c->args[1]);
    int dtype = arg_t(&c->args[0])->dtype;
    if (decimals == 0) return tpi_elementwise(c, 1, 0, -1, round_table, NULL);
    if (dtype < TP_FLOAT16)
        return tpi_fail(TP_ERR_TYPE, "%s: decimals is for floating dtypes, got %s", c->op->name, tp_dtype_name(dtype));
    if (decimals < -300 || decimals > 300)
        return tpi_fail(TP_ERR_VALUE, "%s: decimals must be in [-300, 300], got %lld", c->op->name,
                        (long long)decimals);
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = decimals_f32, [TP_FLOAT64] = decimals_f64};
    scaling s = {pow(10, (double)(decimals < 0 ? -decimals : decimals)), decimals < 0};
    return tpi_elementwise(c, 1, 0, -1, table, &s);
}

/* ---- powers ---- */
int tpi_int_pow(tp_call *c);

LOOP1(pow2_f32, float, float, x *x)
LOOP1(pow2_f64, double, double, x *x)
LOOP1(pow3_f32, float, float, x * x * x)
LOOP1(pow3_f64, double, double, x * x * x)
LOOP1(pow1_f32, float, float, x)
LOOP1(pow1_f64, double, double, x)
LOOP1(powm1_f32, float, float, 1 / x)
LOOP1(powm1_f64, double, double, 1 / x)
/* pow and sqrt differ at -0 and -inf */
LOOP1(powh_f32, float, float, x == -INFINITY ? INFINITY : sqrtf(x) + 0.0f)
LOOP1(powh_f64, double, double, x == -INFINITY ? INFINITY : sqrt(x) + 0.0)
LOOP1(pow2_c64, c64, c64, cmul64(x, x))
LOOP1(pow2_c128, c128, c128, cmul128(x, x))

static const tpi_loop pow_by_two[TP_DTYPE_COUNT] = {
    [TP_FLOAT32] = pow2_f32, [TP_FLOAT64] = pow2_f64, [TP_COMPLEX64] = pow2_c64, [TP_COMPLEX128] = pow2_c128};
static const tpi_loop pow_by_three[TP_DTYPE_COUNT] = {[TP_FLOAT32] = pow3_f32, [TP_FLOAT64] = pow3_f64};
static const tpi_loop pow_by_one[TP_DTYPE_COUNT] = {[TP_FLOAT32] = pow1_f32, [TP_FLOAT64] = pow1_f64};
static const tpi_loop pow_by_minus_one[TP_DTYPE_COUNT] = {[TP_FLOAT32] = powm1_f32, [TP_FLOAT64] = powm1_f64};
static const tpi_loop pow_by_half[TP_DTYPE_COUNT] = {[TP_FLOAT32] = powh_f32, [TP_FLOAT64] = powh_f64};

int k_pow(tp_call *c)
{
    tp_tensor *base = arg_t(&c->args[0]), *exponent = arg_t(&c->args[1]);
    if (base->dtype == TP_BOOL) return tpi_unsupported_dtype(c, TP_BOOL);
    if (base->dtype < TP_FLOAT16) return tpi_int_pow(c);
    if (exponent->ndim == 0) {
        tp_scalar e;
        tpi_load_scalar(tpi_data(exponent), exponent->dtype, &e);
        bool real = !tpi_is_complex(base->dtype);
        double v = real ? e.v.f : e.v.c[1] == 0 ? e.v.c[0] : NAN;
        const tpi_loop *table = v == 2     ? pow_by_two
                                : !real    ? NULL
                                : v == 1   ? pow_by_one
                                : v == 3   ? pow_by_three
                                : v == -1  ? pow_by_minus_one
                                : v == 0.5 ? pow_by_half
                                           : NULL;
        if (table) return tpi_elementwise(c, 1, 0, -1, table, NULL);
    }
    return tpi_vector2(c, (tpi_vfns){.f32 = (const void *)tpi_vpow_f32,
                                     .f64 = (const void *)tpi_vpow_f64,
                                     .c64 = (const void *)tpi_vpow_c64,
                                     .c128 = (const void *)tpi_vpow_c128});
}

static inline c64 crsqrt64(c64 z)
{
    float complex w = csqrtf(CMPLXF(z.re, z.im));
    return cdiv64((c64){1, 0}, (c64){crealf(w), cimagf(w)});
}
static inline c128 crsqrt128(c128 z)
{
    double complex w = csqrt(CMPLX(z.re, z.im));
    return cdiv128((c128){1, 0}, (c128){creal(w), cimag(w)});
}
LOOP1(rsqrt_c64, c64, c64, crsqrt64(x))
LOOP1(rsqrt_c128, c128, c128, crsqrt128(x))
int k_rsqrt(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_COMPLEX64] = rsqrt_c64, [TP_COMPLEX128] = rsqrt_c128};
    if (tpi_is_complex(arg_t(&c->args[0])->dtype)) return tpi_elementwise(c, 1, 0, -1, table, NULL);
    return tpi_vector1(c, (tpi_vfns){.f32 = (const void *)tpi_vrsqrt_f32, .f64 = (const void *)tpi_vrsqrt_f64});
}

/* ---- complex parts ---- */
LOOP1(real_c64, float, c64, x.re)
LOOP1(real_c128, double, c128, x.re)
LOOP1(imag_c64, float, c64, x.im)
LOOP1(imag_c128, double, c128, x.im)
LOOP2(complex_f32, c64, float, float, ((c64){x, y}))
LOOP2(complex_f64, c128, double, double, ((c128){x, y}))

static int part(tp_call *c, tpi_loop narrow, tpi_loop wide)
{
    tp_tensor *self = arg_t(&c->args[0]);
    if (!tpi_is_complex(self->dtype))
        return tpi_fail(TP_ERR_TYPE, "%s: needs a complex tensor, got %s", c->op->name, tp_dtype_name(self->dtype));
    return tpi_map(c->op->name, c->out, tpi_to_real(self->dtype), 1, &self, self->dtype == TP_COMPLEX64 ? narrow : wide,
                   NULL);
}
int k_real(tp_call *c) { return part(c, real_c64, real_c128); }
int k_imag(tp_call *c) { return part(c, imag_c64, imag_c128); }

int k_complex(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = complex_f32, [TP_FLOAT64] = complex_f64};
    int dtype = arg_t(&c->args[0])->dtype;
    if (!table[dtype])
        return tpi_fail(TP_ERR_TYPE, "%s: real and imag must be float32 or float64, got %s", c->op->name,
                        tp_dtype_name(dtype));
    return tpi_elementwise(c, 2, 0, tpi_to_complex(dtype), table, NULL);
}

LOOP1(angle_f32, float, float, x != x ? x : __builtin_signbit(x) && x != 0 ? 3.14159265358979323846f : 0)
LOOP1(angle_f64, double, double, x != x ? x : __builtin_signbit(x) && x != 0 ? 3.14159265358979323846 : 0)
int k_angle(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = angle_f32, [TP_FLOAT64] = angle_f64};
    if (tpi_is_complex(arg_t(&c->args[0])->dtype))
        return complex_to_real(c, (const void *)tpi_varg_c64, (const void *)tpi_varg_c128);
    return tpi_elementwise(c, 1, 0, -1, table, NULL);
}

/* ---- special values ---- */
typedef struct replacements {
    double nan, posinf, neginf;
} replacements;
static inline double replace(double x, const replacements *r)
{
    return x != x ? r->nan : x == INFINITY ? r->posinf : x == -INFINITY ? r->neginf : x;
}
LOOP1(nan_to_num_f32, float, float, (float)replace(x, ctx))
LOOP1(nan_to_num_f64, double, double, replace(x, ctx))
LOOP1(nan_to_num_c64, c64, c64, ((c64){(float)replace(x.re, ctx), (float)replace(x.im, ctx)}))
LOOP1(nan_to_num_c128, c128, c128, ((c128){replace(x.re, ctx), replace(x.im, ctx)}))

int k_nan_to_num(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {
        SAME_ENTRIES, [TP_FLOAT32] = nan_to_num_f32, [TP_FLOAT64] = nan_to_num_f64, [TP_COMPLEX64] = nan_to_num_c64,
        [TP_COMPLEX128] = nan_to_num_c128};
    static const double largest[] = {[TP_FLOAT16] = 65504,
                                     [TP_BFLOAT16] = 0x1.fep127,
                                     [TP_FLOAT32] = 0x1.fffffep127,
                                     [TP_FLOAT64] = 0x1.fffffffffffffp1023};
    int dtype = tpi_to_real(arg_t(&c->args[0])->dtype);
    double most = tpi_is_float(dtype) ? largest[dtype] : 0;
    const tp_val *a = c->args;
    replacements r = {arg_none(&a[1]) ? 0 : arg_f(&a[1]), arg_none(&a[2]) ? most : arg_f(&a[2]),
                      arg_none(&a[3]) ? -most : arg_f(&a[3])};
    return tpi_elementwise(c, 1, 0, -1, table, &r);
}

#define HEAVISIDE(N, T) LOOP2(heaviside_##N, T, T, T, x == 0 ? y : x != x ? x : x > 0)
HEAVISIDE(u8, uint8_t)
HEAVISIDE(i8, int8_t)
HEAVISIDE(u16, uint16_t)
HEAVISIDE(i16, int16_t)
HEAVISIDE(u32, uint32_t)
HEAVISIDE(i32, int32_t)
HEAVISIDE(u64, uint64_t)
HEAVISIDE(i64, int64_t)
HEAVISIDE(f32, float)
HEAVISIDE(f64, double)
int k_heaviside(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {
        [TP_BOOL] = heaviside_u8, INT_ENTRIES(heaviside), [TP_FLOAT32] = heaviside_f32, [TP_FLOAT64] = heaviside_f64};
    return tpi_elementwise(c, 2, 0, -1, table, NULL);
}

static inline double logaddexp_double(double x, double y)
{
    if (x == y) return x + 0.69314718055994530942;
    double most = x > y ? x : y, d = fabs(x - y);
    return d == d ? most + log1p(exp(-d)) : x + y;
}
LOOP2(logaddexp_f32, float, float, float, (float)logaddexp_double(x, y))
LOOP2(logaddexp_f64, double, double, double, logaddexp_double(x, y))
int k_logaddexp(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = logaddexp_f32, [TP_FLOAT64] = logaddexp_f64};
    if (tpi_is_complex(arg_t(&c->args[0])->dtype))
        return tpi_vector2(
            c, (tpi_vfns){.c64 = (const void *)tpi_vlogaddexp_c64, .c128 = (const void *)tpi_vlogaddexp_c128});
    return tpi_elementwise(c, 2, 0, -1, table, NULL);
}
