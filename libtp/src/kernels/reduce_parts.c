/* Kernels that the derivatives of reductions are made of. */
#include <complex.h>
#include <math.h>

#include "core/pool.h"
#include "kernels/half.h"
#include "kernels/iter.h"
#include "kernels/kernels.h"
#include "kernels/reduce.h"
#include "kernels/vmath.h"
#include "tpi_ops.h"

#define SAME(x) (x)

/* An iterator loop of two inputs. F: type in memory, T: type that is computed with. */
#define LOOP2(name, F, T, dec, enc, expr)                                     \
    static void name(int64_t n, char **ptr, const int64_t *stride, void *ctx) \
    {                                                                         \
        char *o = ptr[0], *p = ptr[1], *q = ptr[2];                           \
        int64_t so = stride[0], sp = stride[1], sq = stride[2];               \
        if (so == (int64_t)sizeof(F) && sp == so && (sq == so || sq == 0)) {  \
            F *restrict z = (F *)o;                                           \
            const F *restrict x = (const F *)p;                               \
            if (sq) {                                                         \
                const F *restrict y = (const F *)q;                           \
                for (int64_t i = 0; i < n; i++) {                             \
                    T a = dec(x[i]), b = dec(y[i]);                           \
                    z[i] = enc(expr);                                         \
                }                                                             \
            } else {                                                          \
                T b = dec(*(const F *)q);                                     \
                for (int64_t i = 0; i < n; i++) {                             \
                    T a = dec(x[i]);                                          \
                    z[i] = enc(expr);                                         \
                }                                                             \
            }                                                                 \
            return;                                                           \
        }                                                                     \
        for (int64_t i = 0; i < n; i++, o += so, p += sp, q += sq) {          \
            T a = dec(*(F *)p), b = dec(*(F *)q);                             \
            *(F *)o = enc(expr);                                              \
        }                                                                     \
    }

#define LOOPS(name, expr)                                                       \
    LOOP2(name##_f16, uint16_t, float, tpi_f16_decode, tpi_f16_encode, expr)    \
    LOOP2(name##_bf16, uint16_t, float, tpi_bf16_decode, tpi_bf16_encode, expr) \
    LOOP2(name##_f32, float, float, SAME, SAME, expr)                           \
    LOOP2(name##_f64, double, double, SAME, SAME, expr)

LOOPS(div_safe, b == 0 ? 0 : a / b)
LOOPS(same, (a == b) | ((a != a) & (b != b)) ? 1 : 0)
LOOPS(minus, a - b)
LOOP2(minus_c64, float complex, float complex, SAME, SAME, a - b)
LOOP2(minus_c128, double complex, double complex, SAME, SAME, a - b)

#define PICK_LOOP(name, dtype)              \
    ((dtype) == TP_FLOAT16    ? name##_f16  \
     : (dtype) == TP_BFLOAT16 ? name##_bf16 \
     : (dtype) == TP_FLOAT32  ? name##_f32  \
                              : name##_f64)

static int map2(tp_call *c, const char *op, tp_tensor *a, tp_tensor *b, tpi_loop loop)
{
    tp_tensor *in[2] = {a, b};
    return tpi_map(op, c->out, a->dtype, 2, in, loop, NULL);
}

int k_div_safe(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]);
    return map2(c, "div_safe", x, arg_t(&c->args[1]), PICK_LOOP(div_safe, x->dtype));
}

/* ---- exp(a - b) and |x|^p: through a buffer of the compute type ---- */
#define RUN 512

#define EXP_SUB(name, F, T, dec, enc, vexp, INF)                                 \
    static void name(int64_t n, char **ptr, const int64_t *stride, void *ctx)    \
    {                                                                            \
        T e[RUN];                                                                \
        for (int64_t i = 0; i < n; i += RUN) {                                   \
            int64_t m = n - i < RUN ? n - i : RUN;                               \
            const char *p = ptr[1] + i * stride[1], *q = ptr[2] + i * stride[2]; \
            for (int64_t j = 0; j < m; j++, p += stride[1], q += stride[2]) {    \
                T a = dec(*(const F *)p), b = dec(*(const F *)q), d = a - b;     \
                e[j] = a == b ? (a == -INF ? -INF : 0) : d;                      \
            }                                                                    \
            vexp(m, e, e);                                                       \
            char *o = ptr[0] + i * stride[0];                                    \
            for (int64_t j = 0; j < m; j++, o += stride[0]) *(F *)o = enc(e[j]); \
        }                                                                        \
    }
EXP_SUB(exp_sub_f16, uint16_t, float, tpi_f16_decode, tpi_f16_encode, tpi_vexp_f32, INFINITY)
EXP_SUB(exp_sub_bf16, uint16_t, float, tpi_bf16_decode, tpi_bf16_encode, tpi_vexp_f32, INFINITY)
EXP_SUB(exp_sub_f32, float, float, SAME, SAME, tpi_vexp_f32, INFINITY)
EXP_SUB(exp_sub_f64, double, double, SAME, SAME, tpi_vexp_f64, (double)INFINITY)

int k_exp_sub(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]);
    return map2(c, "exp_sub", x, arg_t(&c->args[1]), PICK_LOOP(exp_sub, x->dtype));
}

typedef struct power {
    double p;
    bool sign;
} power;

#define SIGNED_POW(name, F, T, dec, enc, vpow)                                                          \
    static void name(int64_t n, char **ptr, const int64_t *stride, void *ctx)                           \
    {                                                                                                   \
        const power *w = ctx;                                                                           \
        T a[RUN], e[RUN];                                                                               \
        for (int64_t j = 0; j < RUN && j < n; j++) e[j] = (T)w->p;                                      \
        for (int64_t i = 0; i < n; i += RUN) {                                                          \
            int64_t m = n - i < RUN ? n - i : RUN;                                                      \
            const char *p = ptr[1] + i * stride[1];                                                     \
            for (int64_t j = 0; j < m; j++, p += stride[1]) a[j] = (T)fabs((double)dec(*(const F *)p)); \
            vpow(m, a, e, a);                                                                           \
            p = ptr[1] + i * stride[1];                                                                 \
            char *o = ptr[0] + i * stride[0];                                                           \
            for (int64_t j = 0; j < m; j++, p += stride[1], o += stride[0]) {                           \
                T x = dec(*(const F *)p), v = x == 0 ? 0 : a[j];                                        \
                *(F *)o = enc(w->sign && x < 0 ? -v : v);                                               \
            }                                                                                           \
        }                                                                                               \
    }
SIGNED_POW(signed_pow_f16, uint16_t, float, tpi_f16_decode, tpi_f16_encode, tpi_vpow_f32)
SIGNED_POW(signed_pow_bf16, uint16_t, float, tpi_bf16_decode, tpi_bf16_encode, tpi_vpow_f32)
SIGNED_POW(signed_pow_f32, float, float, SAME, SAME, tpi_vpow_f32)
SIGNED_POW(signed_pow_f64, double, double, SAME, SAME, tpi_vpow_f64)

int k_signed_pow(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]);
    power w = {arg_f(&c->args[1]), arg_b(&c->args[2])};
    return tpi_map("signed_pow", c->out, x->dtype, 1, &x, PICK_LOOP(signed_pow, x->dtype), &w);
}

/* ---- over dimensions ---- */

/* A reduction of x over c->args[dims] that keeps them. */
static tp_tensor *kept(tpi_kernel_fn kernel, tp_tensor *x, const tp_val *dims)
{
    tp_tensor *r = NULL;
    tp_val args[] = {val_t(x), *dims, val_b(true)};
    tp_call call = {.args = args, .out = &r, .nout = 1};
    return kernel(&call) ? NULL : r;
}

int k_center(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]), *mean = kept(k_mean, x, &c->args[1]);
    if (!mean) return tp_error_code();
    int rc = map2(c, "center", x, mean,
                  x->dtype == TP_COMPLEX64    ? minus_c64
                  : x->dtype == TP_COMPLEX128 ? minus_c128
                                              : PICK_LOOP(minus, x->dtype));
    tp_release(mean);
    return rc;
}

int k_tie_weights(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]), *mask = NULL;
    tp_call compare = {.op = c->op, .args = c->args, .out = &mask, .nout = 1};
    int rc = map2(&compare, "amax", x, arg_t(&c->args[1]), PICK_LOOP(same, x->dtype));
    if (rc) return rc;
    /* counted in integers: half types would stop at 2048 */
    tp_tensor *count = kept(k_count_nonzero, mask, &c->args[2]), *share = NULL;
    rc = count && (share = tpi_empty_like(count, TP_FLOAT64)) ? 0 : tp_error_code();
    tp_tensor *cast = NULL;
    if (!rc) {
        const int64_t *k = tpi_data(count);
        double *w = tpi_data(share);
        for (int64_t i = 0; i < count->numel; i++) w[i] = (double)(k[i] > 1 ? k[i] : 1);
        rc = (cast = tpi_dense_cast(share, x->dtype)) ? 0 : tp_error_code();
    }
    if (!rc) rc = map2(c, "amax", mask, cast, PICK_LOOP(div_safe, x->dtype));
    tp_release(cast);
    tp_release(share);
    tp_release(count);
    tp_release(mask);
    return rc;
}

/* ---- along one dimension ---- */
typedef struct along {
    const tp_tensor *index;      /* contiguous */
    const tp_tensor *src;        /* gather: self; scatter: contiguous, as index */
    tp_tensor *dst;              /* gather: contiguous, as index; scatter: contiguous */
    int dim;
    int64_t n, inner;            /* of index along dim, and elements of it behind dim */
    int64_t size;                /* of the other tensor along dim */
    _Atomic bool bad;
} along;

/* Offset in `t` of the element whose position is that of element (outer, 0, k) of index. */
static int64_t line_offset(const tp_tensor *t, int dim, int64_t outer, int64_t k)
{
    int64_t off = 0;
    for (int d = t->ndim - 1; d > dim; d--) {
        off += k % t->shape[d] * t->strides[d];
        k /= t->shape[d];
    }
    for (int d = dim - 1; d >= 0; d--) {
        off += outer % t->shape[d] * t->strides[d];
        outer /= t->shape[d];
    }
    return off;
}

#define GATHER(T)                                               \
    for (int64_t i = 0; i < a->n; i++) {                        \
        int64_t at = index[i * a->inner];                       \
        if (at < 0 || at >= a->size) {                          \
            a->bad = true;                                      \
            return;                                             \
        }                                                       \
        ((T *)dst)[i * a->inner] = ((const T *)src)[at * step]; \
    }                                                           \
    break

static void gather_lines(int64_t begin, int64_t end, void *ctx)
{
    along *a = ctx;
    int esize = tpi_esize(a->src->dtype);
    int64_t step = a->src->strides[a->dim];
    for (int64_t line = begin; line < end; line++) {
        int64_t outer = line / a->inner, k = line % a->inner, first = outer * a->n * a->inner + k;
        const int64_t *index = (const int64_t *)tpi_data(a->index) + first;
        const char *src = (const char *)tpi_data(a->src) + line_offset(a->src, a->dim, outer, k) * esize;
        char *dst = (char *)tpi_data(a->dst) + first * esize;
        switch (esize) {
        case 1: GATHER(uint8_t);
        case 2: GATHER(uint16_t);
        case 4: GATHER(uint32_t);
        case 8: GATHER(uint64_t);
        default: GATHER(double complex);
        }
    }
}

#define SCATTER(T, F, dec, enc)                                           \
    for (int64_t i = 0; i < a->n; i++) {                                  \
        int64_t at = index[i * a->inner];                                 \
        if (at < 0 || at >= a->size) {                                    \
            a->bad = true;                                                \
            return;                                                       \
        }                                                                 \
        F *d = (F *)dst + at * a->inner;                                  \
        *d = (F)enc((T)dec(*d) + (T)dec(((const F *)src)[i * a->inner])); \
    }                                                                     \
    break

static void scatter_lines(int64_t begin, int64_t end, void *ctx)
{
    along *a = ctx;
    int esize = tpi_esize(a->src->dtype);
    for (int64_t line = begin; line < end; line++) {
        int64_t outer = line / a->inner, k = line % a->inner, first = outer * a->n * a->inner + k;
        const int64_t *index = (const int64_t *)tpi_data(a->index) + first;
        const char *src = (const char *)tpi_data(a->src) + first * esize;
        char *dst = (char *)tpi_data(a->dst) + (outer * a->size * a->inner + k) * esize;
        switch (a->src->dtype) {
        case TP_BOOL: SCATTER(int, bool, SAME, SAME);
        case TP_UINT8:
        case TP_INT8: SCATTER(uint8_t, uint8_t, SAME, SAME);
        case TP_UINT16:
        case TP_INT16: SCATTER(uint16_t, uint16_t, SAME, SAME);
        case TP_UINT32:
        case TP_INT32: SCATTER(uint32_t, uint32_t, SAME, SAME);
        case TP_UINT64:
        case TP_INT64: SCATTER(uint64_t, uint64_t, SAME, SAME);
        case TP_FLOAT16: SCATTER(float, uint16_t, tpi_f16_decode, tpi_f16_encode);
        case TP_BFLOAT16: SCATTER(float, uint16_t, tpi_bf16_decode, tpi_bf16_encode);
        case TP_FLOAT32: SCATTER(float, float, SAME, SAME);
        case TP_FLOAT64: SCATTER(double, double, SAME, SAME);
        case TP_COMPLEX64: SCATTER(float complex, float complex, SAME, SAME);
        default: SCATTER(double complex, double complex, SAME, SAME);
        }
    }
}

static int run_along(along *a, void (*lines)(int64_t, int64_t, void *))
{
    a->n = a->index->shape[a->dim];
    a->inner = 1;
    for (int d = a->dim + 1; d < a->index->ndim; d++) a->inner *= a->index->shape[d];
    if (a->index->numel > 0) {
        int64_t count = a->index->numel / a->n, grain = TPI_ITER_GRAIN / a->n;
        tpi_parallel_for(count, grain > 0 ? grain : 1, lines, a);
    }
    return a->bad ? tpi_fail(TP_ERR_INDEX, "gather: an index is out of range for a dimension of size %lld",
                             (long long)a->size)
                  : 0;
}

int k_gather_along(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]), *index = tpi_dense_contiguous(arg_t(&c->args[2]));
    if (!index) return tp_error_code();
    tp_tensor *out = tpi_empty(x->dtype, index->ndim, index->shape);
    int rc = TP_ERR_MEMORY;
    if (out) {
        int dim = (int)arg_i(&c->args[1]);
        along a = {.index = index, .src = x, .dst = out, .dim = dim, .size = x->shape[dim]};
        rc = run_along(&a, gather_lines);
    }
    tp_release(index);
    if (rc) tp_release(out);
    else c->out[0] = out;
    return rc;
}

int k_scatter_along(tp_call *c)
{
    int dim = (int)arg_i(&c->args[1]);
    tp_tensor *index = tpi_dense_contiguous(arg_t(&c->args[2]));
    tp_tensor *x = index ? tpi_dense_contiguous(arg_t(&c->args[0])) : NULL, *out = NULL;
    int64_t shape[TP_MAX_NDIM];
    int rc = x ? 0 : tp_error_code();
    if (!rc) {
        memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
        shape[dim] = arg_i(&c->args[3]);
        rc = (out = tpi_empty(x->dtype, x->ndim, shape)) ? 0 : TP_ERR_MEMORY;
    }
    if (!rc) {
        memset(tpi_data(out), 0, (size_t)out->numel * (size_t)tpi_esize(out->dtype));
        along a = {.index = index, .src = x, .dst = out, .dim = dim, .size = shape[dim]};
        rc = run_along(&a, scatter_lines);
    }
    tp_release(x);
    tp_release(index);
    if (rc) tp_release(out);
    else c->out[0] = out;
    return rc;
}
