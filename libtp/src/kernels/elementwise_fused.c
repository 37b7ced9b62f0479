/* Short sums and products in one pass; the 16-bit floats round once. */
#include "kernels/arith.h"
#include "kernels/loops.h"

/* ---- self + weight * (end - self) ---- */
#define LERP_COMPLEX(N, C, MUL)                           \
    static inline C lerp_one_##N(C x, C y, C z)           \
    {                                                     \
        C step = MUL(z, ((C){y.re - x.re, y.im - x.im})); \
        return (C){x.re + step.re, x.im + step.im};       \
    }                                                     \
    LOOP3(lerp_##N, C, C, C, C, lerp_one_##N(x, y, z))
LOOP3(lerp_f32, float, float, float, float, x + z * (y - x))
LOOP3(lerp_f64, double, double, double, double, x + z * (y - x))
LERP_COMPLEX(c64, c64, cmul64)
LERP_COMPLEX(c128, c128, cmul128)
int k_lerp(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {
        [TP_FLOAT32] = lerp_f32, [TP_FLOAT64] = lerp_f64, [TP_COMPLEX64] = lerp_c64, [TP_COMPLEX128] = lerp_c128};
    return tpi_elementwise(c, 3, 0, -1, table, NULL);
}

/* ---- self + value * (tensor1 * or / tensor2) ---- */
typedef struct factor {
    uint64_t u;
    double f;
    c128 c;
} factor;

#define FUSED_LOOP(NAME, T, VALUE, EXPR)                                                        \
    TP_CLONES static void NAME(int64_t n, char **p, const int64_t *s, void *ctx)                \
    {                                                                                           \
        const factor *f = ctx;                                                                  \
        VALUE;                                                                                  \
        char *po = p[0], *px = p[1], *py = p[2], *pz = p[3];                                    \
        if (s[0] == sizeof(T) && s[1] == sizeof(T) && s[2] == sizeof(T) && s[3] == sizeof(T)) { \
            T *o = (T *)po;                                                                     \
            const T *vx = (T *)px, *vy = (T *)py, *vz = (T *)pz;                                \
            TPI_IVDEP for (int64_t k = 0; k < n; k++)                                           \
            {                                                                                   \
                T x = vx[k], y = vy[k], z = vz[k];                                              \
                o[k] = EXPR;                                                                    \
            }                                                                                   \
        } else {                                                                                \
            for (int64_t k = 0; k < n; k++, po += s[0], px += s[1], py += s[2], pz += s[3]) {   \
                T x = *(T *)px, y = *(T *)py, z = *(T *)pz;                                     \
                *(T *)po = EXPR;                                                                \
            }                                                                                   \
        }                                                                                       \
    }
#define FUSED_COMPLEX(NAME, C, R, MUL, OP)                                           \
    static inline C NAME##_one(C x, C y, C z, C v)                                   \
    {                                                                                \
        C t = MUL(v, OP(y, z));                                                      \
        return (C){x.re + t.re, x.im + t.im};                                        \
    }                                                                                \
    FUSED_LOOP(NAME, C, C v = ((C){(R)f->c.re, (R)f->c.im}), NAME##_one(x, y, z, v))
FUSED_LOOP(addcmul_u8, uint8_t, uint64_t v = f->u, (uint8_t)(x + v * y * z))
FUSED_LOOP(addcmul_u16, uint16_t, uint64_t v = f->u, (uint16_t)(x + v * y * z))
FUSED_LOOP(addcmul_u32, uint32_t, uint64_t v = f->u, (uint32_t)(x + v * y * z))
FUSED_LOOP(addcmul_u64, uint64_t, uint64_t v = f->u, x + v * y * z)
FUSED_LOOP(addcmul_f32, float, float v = (float)f->f, x + v * (y * z))
FUSED_LOOP(addcmul_f64, double, double v = f->f, x + v * (y * z))
FUSED_COMPLEX(addcmul_c64, c64, float, cmul64, cmul64)
FUSED_COMPLEX(addcmul_c128, c128, double, cmul128, cmul128)
FUSED_LOOP(addcdiv_f32, float, float v = (float)f->f, x + v * (y / z))
FUSED_LOOP(addcdiv_f64, double, double v = f->f, x + v * (y / z))
FUSED_COMPLEX(addcdiv_c64, c64, float, cmul64, cdiv64)
FUSED_COMPLEX(addcdiv_c128, c128, double, cmul128, cdiv128)

static int fused(tp_call *c, const tpi_loop *table)
{
    const tp_scalar *v = &c->args[3].v.s;
    int dtype = arg_t(&c->args[0])->dtype;
    if ((v->tag == TP_SCALAR_FLOAT && dtype < TP_FLOAT16) || (v->tag == TP_SCALAR_COMPLEX && dtype < TP_COMPLEX64))
        return tpi_fail(TP_ERR_TYPE, "%s: value must not be %s for dtype %s", c->op->name,
                        v->tag == TP_SCALAR_FLOAT ? "a float" : "complex", tp_dtype_name(dtype));
    factor f;
    tpi_store_scalar(&f.u, TP_UINT64, v);
    tpi_store_scalar(&f.f, TP_FLOAT64, v);
    tpi_store_scalar(&f.c, TP_COMPLEX128, v);
    return tpi_elementwise(c, 3, 0, -1, table, &f);
}

int k_addcmul(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {
        [TP_UINT8] = addcmul_u8,    [TP_INT8] = addcmul_u8,       [TP_UINT16] = addcmul_u16,
        [TP_INT16] = addcmul_u16,   [TP_UINT32] = addcmul_u32,    [TP_INT32] = addcmul_u32,
        [TP_UINT64] = addcmul_u64,  [TP_INT64] = addcmul_u64,     [TP_FLOAT32] = addcmul_f32,
        [TP_FLOAT64] = addcmul_f64, [TP_COMPLEX64] = addcmul_c64, [TP_COMPLEX128] = addcmul_c128};
    return fused(c, table);
}

int k_addcdiv(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = addcdiv_f32,
                                                   [TP_FLOAT64] = addcdiv_f64,
                                                   [TP_COMPLEX64] = addcdiv_c64,
                                                   [TP_COMPLEX128] = addcdiv_c128};
    return fused(c, table);
}

/* ---- self * log(other), 0 where self is 0 ---- */
LOOP2(xlogy_f32, float, float, float, x == 0 && y == y ? 0 : x * logf(y))
LOOP2(xlogy_f64, double, double, double, x == 0 && y == y ? 0 : x * log(y))
int k_xlogy(tp_call *c)
{
    static const tpi_loop table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = xlogy_f32, [TP_FLOAT64] = xlogy_f64};
    return tpi_elementwise(c, 2, 0, -1, table, NULL);
}
