#include "kernels/loops.h"

#include <stdatomic.h>

enum { BLOCK = 512 };

int tpi_unsupported_dtype(tp_call *c, int dtype)
{
    return tpi_fail(TP_ERR_TYPE, "%s: not defined for dtype %s", c->op->name, tp_dtype_name(dtype));
}

/* ---- 16-bit floats ---- */

typedef struct half_ctx {
    tpi_loop loop;
    void *ctx;
    int nops, dtype;
    uint8_t half[TPI_ITER_OPS + 2];
} half_ctx;

#define DECODE_LOOP(NAME, DECODE, PACKED)                                                         \
    TP_CLONES static void NAME(int64_t n, const char *src, int64_t step, float *out)              \
    {                                                                                             \
        if (step == 2) PACKED                                                                     \
        else                                                                                      \
            for (int64_t k = 0; k < n; k++, src += step) out[k] = DECODE(*(const uint16_t *)src); \
    }
#define ENCODE_LOOP(NAME, ENCODE, PACKED)                                                   \
    TP_CLONES static void NAME(int64_t n, const float *src, char *out, int64_t step)        \
    {                                                                                       \
        if (step == 2) PACKED                                                               \
        else                                                                                \
            for (int64_t k = 0; k < n; k++, out += step) *(uint16_t *)out = ENCODE(src[k]); \
    }
DECODE_LOOP(decode_f16, tpi_f16_decode, tpi_f16_decode_n(n, (const uint16_t *)src, out);)
DECODE_LOOP(decode_bf16, tpi_bf16_decode,
            for (int64_t k = 0; k < n; k++) out[k] = tpi_bf16_decode(((const uint16_t *)src)[k]);)
ENCODE_LOOP(encode_f16, tpi_f16_encode, tpi_f16_encode_n(n, src, (uint16_t *)out);)
ENCODE_LOOP(encode_bf16, tpi_bf16_encode,
            for (int64_t k = 0; k < n; k++)((uint16_t *)out)[k] = tpi_bf16_encode(src[k]);)

static void half_loop(int64_t n, char **p, const int64_t *s, void *arg)
{
    const half_ctx *h = arg;
    float buf[TPI_ITER_OPS][BLOCK];
    char *at[TPI_ITER_OPS];
    int64_t step[TPI_ITER_OPS];
    for (int64_t b = 0; b < n; b += BLOCK) {
        int64_t m = n - b < BLOCK ? n - b : BLOCK;
        for (int k = 0; k < h->nops; k++) {
            at[k] = p[k] + b * s[k];
            step[k] = s[k];
            if (!h->half[k]) continue;
            step[k] = k == 0 || s[k] != 0 ? 4 : 0;
            if (k > 0 && (s[k] != 0 || b == 0))
                (h->dtype == TP_FLOAT16 ? decode_f16 : decode_bf16)(s[k] ? m : 1, at[k], s[k], buf[k]);
            at[k] = (char *)buf[k];
        }
        h->loop(m, at, step, h->ctx);
        if (h->half[0]) (h->dtype == TP_FLOAT16 ? encode_f16 : encode_bf16)(m, buf[0], p[0] + b * s[0], s[0]);
    }
}

int tpi_elementwise_on(tp_call *c, int nin, tp_tensor *const *in, int by, int out_dtype, const tpi_loop *table,
                       void *ctx)
{
    int dtype = in[by]->dtype;
    if (out_dtype < 0) out_dtype = dtype;
    if (dtype == TP_FLOAT16 || dtype == TP_BFLOAT16) {
        half_ctx h;
        h.loop = table[TP_FLOAT32];
        h.ctx = ctx;
        h.nops = nin + 1;
        h.dtype = dtype;
        h.half[0] = out_dtype == dtype;
        for (int k = 0; k < nin; k++) h.half[k + 1] = in[k]->dtype == dtype;
        if (!h.loop) return tpi_unsupported_dtype(c, dtype);
        return tpi_map(c->op->name, c->out, out_dtype, nin, in, half_loop, &h);
    }
    tpi_loop loop = table[dtype];
    if (!loop) return tpi_unsupported_dtype(c, dtype);
    return tpi_map(c->op->name, c->out, out_dtype, nin, in, loop, ctx);
}

int tpi_elementwise(tp_call *c, int nin, int by, int out_dtype, const tpi_loop *table, void *ctx)
{
    tp_tensor *in[TPI_ITER_OPS];
    for (int k = 0; k < nin; k++) in[k] = arg_t(&c->args[k]);
    return tpi_elementwise_on(c, nin, in, by, out_dtype, table, ctx);
}

/* ---- vector functions ---- */

static void gather(int64_t n, const char *src, int64_t step, int size, char *out)
{
    if (size == 4)
        for (int64_t k = 0; k < n; k++, src += step) ((uint32_t *)out)[k] = *(const uint32_t *)src;
    else if (size == 8)
        for (int64_t k = 0; k < n; k++, src += step) memcpy(out + k * 8, src, 8);
    else
        for (int64_t k = 0; k < n; k++, src += step) memcpy(out + k * 16, src, 16);
}

static void scatter(int64_t n, const char *src, int size, char *out, int64_t step)
{
    for (int64_t k = 0; k < n; k++, out += step) memcpy(out, src + k * size, (size_t)size);
}

void tpi_vector_loop1(int64_t n, char **p, const int64_t *s, void *ctx)
{
    const tpi_vector *v = ctx;
    bool out_packed = s[0] == v->out_size, in_packed = s[1] == v->in_size;
    if (out_packed && in_packed) {
        v->fn.one(n, p[1], p[0]);
        return;
    }
    double in[2 * BLOCK], out[2 * BLOCK];
    for (int64_t b = 0; b < n; b += BLOCK) {
        int64_t m = n - b < BLOCK ? n - b : BLOCK;
        char *x = p[1] + b * s[1], *y = p[0] + b * s[0];
        if (!in_packed) {
            gather(m, x, s[1], v->in_size, (char *)in);
            x = (char *)in;
        }
        v->fn.one(m, x, out_packed ? (void *)y : (void *)out);
        if (!out_packed) scatter(m, (char *)out, v->out_size, y, s[0]);
    }
}

void tpi_vector_loop2(int64_t n, char **p, const int64_t *s, void *ctx)
{
    const tpi_vector *v = ctx;
    bool packed[3] = {s[0] == v->out_size, s[1] == v->in_size, s[2] == v->in_size};
    if (packed[0] && packed[1] && packed[2]) {
        v->fn.two(n, p[1], p[2], p[0]);
        return;
    }
    double buf[2][2 * BLOCK], out[2 * BLOCK];
    for (int64_t b = 0; b < n; b += BLOCK) {
        int64_t m = n - b < BLOCK ? n - b : BLOCK;
        char *x[2], *y = p[0] + b * s[0];
        for (int k = 0; k < 2; k++) {
            x[k] = p[k + 1] + b * s[k + 1];
            if (packed[k + 1]) continue;
            if (s[k + 1] != 0 || b == 0)
                gather(s[k + 1] == 0 ? BLOCK < n ? BLOCK : n : m, x[k], s[k + 1], v->in_size, (char *)buf[k]);
            x[k] = (char *)buf[k];
        }
        v->fn.two(m, x[0], x[1], packed[0] ? (void *)y : (void *)out);
        if (!packed[0]) scatter(m, (char *)out, v->out_size, y, s[0]);
    }
}

static int vector(tp_call *c, int nin, tpi_vfns f)
{
    int dtype = arg_t(&c->args[0])->dtype;
    int compute = dtype == TP_FLOAT16 || dtype == TP_BFLOAT16 ? TP_FLOAT32 : dtype;
    const void *fn = compute == TP_FLOAT32      ? f.f32
                     : compute == TP_FLOAT64    ? f.f64
                     : compute == TP_COMPLEX64  ? f.c64
                     : compute == TP_COMPLEX128 ? f.c128
                                                : NULL;
    if (!fn) return tpi_unsupported_dtype(c, dtype);
    tpi_vector v;
    v.in_size = v.out_size = tpi_esize(compute);
    tpi_loop table[TP_DTYPE_COUNT];
    if (nin == 1) {
        v.fn.one = (tpi_vfn1)fn;
        table[compute] = tpi_vector_loop1;
    } else {
        v.fn.two = (tpi_vfn2)fn;
        table[compute] = tpi_vector_loop2;
    }
    return tpi_elementwise(c, nin, 0, -1, table, &v);
}

int tpi_vector1(tp_call *c, tpi_vfns f) { return vector(c, 1, f); }
int tpi_vector2(tp_call *c, tpi_vfns f) { return vector(c, 2, f); }
