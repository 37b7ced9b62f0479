/* add sub mul div and their integer relatives. Integers wrap: the arithmetic is unsigned. */
#include "kernels/arith.h"
#include "kernels/loops.h"

#define TABLE_WRAPPING(OP)                                                                                     \
    {[TP_UINT8] = OP##_u8,    [TP_INT8] = OP##_u8,     [TP_UINT16] = OP##_u16,    [TP_INT16] = OP##_u16,       \
     [TP_UINT32] = OP##_u32,  [TP_INT32] = OP##_u32,   [TP_UINT64] = OP##_u64,    [TP_INT64] = OP##_u64,       \
     [TP_FLOAT32] = OP##_f32, [TP_FLOAT64] = OP##_f64, [TP_COMPLEX64] = OP##_c64, [TP_COMPLEX128] = OP##_c128, \
     [TP_BOOL] = OP##_bool}

#define LOOPS_WRAPPING(OP, SYMBOL)                                                            \
    LOOP2(OP##_u8, uint8_t, uint8_t, uint8_t, (uint8_t)(x SYMBOL y))                          \
    LOOP2(OP##_u16, uint16_t, uint16_t, uint16_t, (uint16_t)((uint32_t)x SYMBOL(uint32_t) y)) \
    LOOP2(OP##_u32, uint32_t, uint32_t, uint32_t, x SYMBOL y)                                 \
    LOOP2(OP##_u64, uint64_t, uint64_t, uint64_t, x SYMBOL y)                                 \
    LOOP2(OP##_f32, float, float, float, x SYMBOL y)                                          \
    LOOP2(OP##_f64, double, double, double, x SYMBOL y)

LOOPS_WRAPPING(add, +)
LOOP2(add_bool, uint8_t, uint8_t, uint8_t, x | y)
LOOP2(add_c64, c64, c64, c64, ((c64){x.re + y.re, x.im + y.im}))
LOOP2(add_c128, c128, c128, c128, ((c128){x.re + y.re, x.im + y.im}))
LOOPS_WRAPPING(sub, -)
#define sub_bool NULL
LOOP2(sub_c64, c64, c64, c64, ((c64){x.re - y.re, x.im - y.im}))
LOOP2(sub_c128, c128, c128, c128, ((c128){x.re - y.re, x.im - y.im}))
LOOPS_WRAPPING(mul, *)
LOOP2(mul_bool, uint8_t, uint8_t, uint8_t, x &y)
LOOP2(mul_c64, c64, c64, c64, cmul64(x, y))
LOOP2(mul_c128, c128, c128, c128, cmul128(x, y))

static const tpi_loop add_table[TP_DTYPE_COUNT] = TABLE_WRAPPING(add);
static const tpi_loop sub_table[TP_DTYPE_COUNT] = TABLE_WRAPPING(sub);
static const tpi_loop mul_table[TP_DTYPE_COUNT] = TABLE_WRAPPING(mul);

static bool is_one(const tp_val *a)
{
    if (a->tag != TPI_SCALAR) return true;
    const tp_scalar *s = &a->v.s;
    switch (s->tag) {
    case TP_SCALAR_FLOAT: return s->v.f == 1.0;
    case TP_SCALAR_COMPLEX: return s->v.c[0] == 1.0 && s->v.c[1] == 0.0;
    default: return s->v.u == 1;
    }
}

/* self +- alpha * other */
static int scaled(tp_call *c, const tpi_loop *table)
{
    tp_tensor *in[2] = {arg_t(&c->args[0]), arg_t(&c->args[1])};
    const tp_scalar *alpha = &c->args[2].v.s;
    int dtype = in[0]->dtype;
    if ((alpha->tag == TP_SCALAR_FLOAT && dtype < TP_FLOAT16) ||
        (alpha->tag == TP_SCALAR_COMPLEX && dtype < TP_COMPLEX64))
        return tpi_fail(TP_ERR_TYPE, "%s: alpha must not be %s for dtype %s", c->op->name,
                        alpha->tag == TP_SCALAR_FLOAT ? "a float" : "complex", tp_dtype_name(dtype));
    tp_tensor *factor = tp_scalar_tensor(alpha, dtype), *product = NULL;
    if (!factor) return tp_error_code();
    tp_call inner = {.op = c->op, .out = &product};
    int status = tpi_elementwise_on(&inner, 2, (tp_tensor *[]){in[1], factor}, 0, -1, mul_table, NULL);
    if (!status) {
        in[1] = product;
        status = tpi_elementwise_on(c, 2, in, 0, -1, table, NULL);
    }
    tp_release(factor);
    if (product) tp_release(product);
    return status;
}

int k_add(tp_call *c)
{
    if (c->op->nargs > 2 && !is_one(&c->args[2])) return scaled(c, add_table);
    return tpi_elementwise(c, 2, 0, -1, add_table, NULL);
}

int k_sub(tp_call *c)
{
    if (arg_t(&c->args[0])->dtype == TP_BOOL)
        return tpi_fail(TP_ERR_TYPE, "%s: bool tensors do not subtract; use logical_xor", c->op->name);
    if (c->op->nargs > 2 && !is_one(&c->args[2])) return scaled(c, sub_table);
    return tpi_elementwise(c, 2, 0, -1, sub_table, NULL);
}

int k_mul(tp_call *c) { return tpi_elementwise(c, 2, 0, -1, mul_table, NULL); }

/* ---- true division ---- */
LOOP2(div_f32, float, float, float, x / y)
LOOP2(div_f64, double, double, double, x / y)
LOOP2(div_c64, c64, c64, c64, cdiv64(x, y))
LOOP2(div_c128, c128, c128, c128, cdiv128(x, y))
static const tpi_loop div_table[TP_DTYPE_COUNT] = {
    [TP_FLOAT32] = div_f32, [TP_FLOAT64] = div_f64, [TP_COMPLEX64] = div_c64, [TP_COMPLEX128] = div_c128};
int k_div(tp_call *c) { return tpi_elementwise(c, 2, 0, -1, div_table, NULL); }

/* ---- neg, positive, abs, sign, square, reciprocal ---- */
#define LOOPS1_WRAPPING(OP, EXPR)                         \
    LOOP1(OP##_u8, uint8_t, uint8_t, (uint8_t)(EXPR))     \
    LOOP1(OP##_u16, uint16_t, uint16_t, (uint16_t)(EXPR)) \
    LOOP1(OP##_u32, uint32_t, uint32_t, EXPR)             \
    LOOP1(OP##_u64, uint64_t, uint64_t, EXPR)             \
    LOOP1(OP##_f32, float, float, EXPR)                   \
    LOOP1(OP##_f64, double, double, EXPR)

LOOPS1_WRAPPING(neg, -x)
#define neg_bool NULL
LOOP1(neg_c64, c64, c64, ((c64){-x.re, -x.im}))
LOOP1(neg_c128, c128, c128, ((c128){-x.re, -x.im}))
static const tpi_loop neg_table[TP_DTYPE_COUNT] = TABLE_WRAPPING(neg);
int k_neg(tp_call *c)
{
    if (arg_t(&c->args[0])->dtype == TP_BOOL)
        return tpi_fail(TP_ERR_TYPE, "%s: bool tensors do not negate; use logical_not", c->op->name);
    return tpi_elementwise(c, 1, 0, -1, neg_table, NULL);
}

LOOP1(square_u8, uint8_t, uint8_t, (uint8_t)(x * x))
LOOP1(square_u16, uint16_t, uint16_t, (uint16_t)((uint32_t)x * x))
LOOP1(square_u32, uint32_t, uint32_t, x *x)
LOOP1(square_u64, uint64_t, uint64_t, x *x)
LOOP1(square_f32, float, float, x *x)
LOOP1(square_f64, double, double, x *x)
LOOP1(square_c64, c64, c64, cmul64(x, x))
LOOP1(square_c128, c128, c128, cmul128(x, x))
#define square_bool square_u8
static const tpi_loop square_table[TP_DTYPE_COUNT] = TABLE_WRAPPING(square);
int k_square(tp_call *c) { return tpi_elementwise(c, 1, 0, -1, square_table, NULL); }

LOOP1(reciprocal_f32, float, float, 1 / x)
LOOP1(reciprocal_f64, double, double, 1 / x)
LOOP1(reciprocal_c64, c64, c64, cdiv64(((c64){1, 0}), x))
LOOP1(reciprocal_c128, c128, c128, cdiv128(((c128){1, 0}), x))
static const tpi_loop reciprocal_table[TP_DTYPE_COUNT] = {[TP_FLOAT32] = reciprocal_f32,
                                                          [TP_FLOAT64] = reciprocal_f64,
                                                          [TP_COMPLEX64] = reciprocal_c64,
                                                          [TP_COMPLEX128] = reciprocal_c128};
int k_reciprocal(tp_call *c) { return tpi_elementwise(c, 1, 0, -1, reciprocal_table, NULL); }

/* ---- complex parts ---- */
LOOP1(conj_c64, c64, c64, ((c64){x.re, -x.im}))
LOOP1(conj_c128, c128, c128, ((c128){x.re, -x.im}))
static const tpi_loop conj_table[TP_DTYPE_COUNT] = {[TP_COMPLEX64] = conj_c64, [TP_COMPLEX128] = conj_c128};
int k_conj(tp_call *c) { return tpi_elementwise(c, 1, 0, -1, conj_table, NULL); }
