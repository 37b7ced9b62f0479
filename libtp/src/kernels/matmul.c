/* Matrix products: mm, bmm and mv, with shapes and layouts sorted out here; the arithmetic is in matmul_gemm.c. */
#include "kernels/matmul.h"

#include "core/clones.h"
#include "kernels/iter.h"
#include "kernels/kernels.h"
#include "kernels/shape.h"

/* t as what a product reads: in the compute dtype, its last two dimensions (from `rows`, `cols` on: their positions)
 * as BLAS can be told. Dimensions that only repeat are not copied out. A new reference. */
typedef struct operand {
    tp_tensor *t;
    char op;
    int64_t ld;
} operand;

static tp_tensor *without_repeats(tp_tensor *t)
{
    bool repeats = false;
    int64_t shape[TP_MAX_NDIM];
    for (int d = 0; d < t->ndim; d++) {
        bool drop = t->strides[d] == 0 && t->shape[d] > 1 && d < t->ndim - 2;
        shape[d] = drop ? 1 : t->shape[d];
        repeats |= drop;
    }
    return repeats ? tpi_dense_view(t, t->ndim, shape, t->strides, t->offset) : tpi_retain(t);
}

static int read_operand(operand *o, tp_tensor *t, int compute)
{
    int n = t->ndim;
    o->t = NULL;
    if (t->dtype == compute &&
        tpi_gemm_layout(t->shape[n - 2], t->shape[n - 1], t->strides[n - 2], t->strides[n - 1], &o->op, &o->ld)) {
        o->t = tpi_retain(t);
        return TP_OK;
    }
    tp_tensor *small = without_repeats(t);
    if (!small) return tp_error_code();
    o->t = small->dtype == compute ? tpi_dense_contiguous(small) : tpi_dense_cast(small, compute);
    tp_release(small);
    o->op = 'N';
    o->ld = t->shape[n - 1] > 0 ? t->shape[n - 1] : 1;
    return o->t ? TP_OK : tp_error_code();
}

/* Takes over `made` of the compute dtype. */
static int finish(tp_call *c, tp_tensor *made, int dtype, int rc)
{
    if (!rc && made->dtype != dtype) {
        tp_tensor *cast = tpi_dense_cast(made, dtype);
        tp_release(made);
        return tpi_set_out(c, 0, cast);
    }
    if (rc) {
        tp_release(made);
        return rc;
    }
    return tpi_set_out(c, 0, made);
}

static tp_tensor *sized(int dtype, int ndim, const int64_t *shape)
{
    int64_t numel;
    return tpi_numel("matmul", ndim, shape, &numel) ? NULL : tpi_empty(dtype, ndim, shape);
}

int k_matmul_nd(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]), *b = arg_t(&c->args[1]), *out = NULL;
    int na = a->ndim - 2, nb = b->ndim - 2, n, rc, compute = tpi_compute_dtype(a->dtype);
    int64_t shape[TPI_DIMS_CAP];
    if ((rc = tpi_broadcast_shapes("matmul", na, a->shape, nb, b->shape, &n, shape))) return rc;
    shape[n] = a->shape[na];
    shape[n + 1] = b->shape[nb + 1];
    operand oa, ob;
    if ((rc = read_operand(&oa, a, compute))) return rc;
    if (!(rc = read_operand(&ob, b, compute))) {
        out = sized(compute, n + 2, shape);
        rc = out ? TP_OK : tp_error_code();
    }
    if (!rc) {
        tpi_gemm_stack s = {.dtype = compute,
                            .op_a = oa.op,
                            .op_b = ob.op,
                            .m = shape[n],
                            .n = shape[n + 1],
                            .k = a->shape[na + 1],
                            .lda = oa.ld,
                            .ldb = ob.ld,
                            .a = tpi_data(oa.t),
                            .b = tpi_data(ob.t),
                            .c = tpi_data(out),
                            .ndim = n};
        for (int d = 0; d < n; d++) {
            int da = d - n + na, db = d - n + nb;
            s.shape[d] = shape[d];
            s.sa[d] = da < 0 || oa.t->shape[da] == 1 ? 0 : oa.t->strides[da];
            s.sb[d] = db < 0 || ob.t->shape[db] == 1 ? 0 : ob.t->strides[db];
        }
        rc = tpi_gemm_run(&s);
    }
    tp_release(oa.t);
    tp_release(ob.t);
    return finish(c, out, a->dtype, rc);
}

/* out [m, n] = a [m, k] b [k, n], or [m] where b is a vector; rows of out begin as `bias`, if there is one. */
static int product(tp_call *c, tp_tensor *a, tp_tensor *b, tp_tensor *bias, int ndim, const int64_t *shape)
{
    int compute = tpi_compute_dtype(a->dtype), rc;
    int64_t m = a->shape[0], k = a->shape[1], n = b->shape[1];
    operand oa, ob = {NULL};
    if ((rc = read_operand(&oa, a, compute))) return rc;
    tp_tensor *out = NULL;
    if (!(rc = read_operand(&ob, b, compute))) {
        out = sized(compute, ndim, shape);
        rc = out ? TP_OK : tp_error_code();
    }
    tp_tensor *row = NULL;
    if (!rc && bias && n) {
        row = bias->dtype == compute ? tpi_dense_contiguous(bias) : tpi_dense_cast(bias, compute);
        rc = row ? TP_OK : tp_error_code();
        size_t bytes = (size_t)n * (size_t)tpi_esize(compute);
        for (int64_t i = 0; i < m && !rc; i++) memcpy((char *)tpi_data(out) + (size_t)i * bytes, tpi_data(row), bytes);
    }
    if (!rc && m && n) {
        if (k == 1 && !bias && m > 1) {
            tpi_gemm_stack s = {.dtype = compute,
                                .op_a = oa.op,
                                .op_b = ob.op,
                                .m = m,
                                .n = n,
                                .k = k,
                                .lda = oa.ld,
                                .ldb = ob.ld,
                                .a = tpi_data(oa.t),
                                .b = tpi_data(ob.t),
                                .c = tpi_data(out)};
            rc = tpi_gemm_run(&s);
        } else
            rc = tpi_gemm(compute, oa.op, ob.op, m, n, k, tpi_data(oa.t), oa.ld, tpi_data(ob.t), ob.ld, bias != NULL,
                          tpi_data(out), n);
    }
    tp_release(row);
    tp_release(oa.t);
    tp_release(ob.t);
    return finish(c, out, a->dtype, rc);
}

int k_matmul_2d(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]), *b = arg_t(&c->args[1]);
    int64_t shape[2] = {a->shape[0], b->shape[1]};
    return product(c, a, b, NULL, 2, shape);
}

/* A handle on the stack of the caller for another reading of t's memory; not to be retained beyond it. */
static tp_tensor *as_matrix(tp_tensor *t, int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride)
{
    const int64_t shape[2] = {rows, cols}, strides[2] = {row_stride, col_stride};
    return tpi_dense_view(t, 2, shape, strides, t->offset);
}

int k_matmul_mv(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]), *x = arg_t(&c->args[1]);
    tp_tensor *column = as_matrix(x, x->shape[0], 1, x->strides[0], 1);
    int rc = column ? product(c, a, column, NULL, 1, a->shape) : tp_error_code();
    tp_release(column);
    return rc;
}

int k_linear_affine(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]), *w = arg_t(&c->args[1]), *bias = arg_t(&c->args[2]);
    int n = x->ndim;
    int64_t shape[TPI_DIMS_CAP], flat[2] = {1, x->shape[n - 1]}, strides[2];
    for (int d = 0; d < n - 1; d++) {
        shape[d] = x->shape[d];
        flat[0] *= x->shape[d];
    }
    shape[n - 1] = w->shape[0];
    tp_tensor *held = NULL, *rows = NULL;
    if (n == 2) rows = tpi_retain(x);
    else if (tpi_view_strides(n, x->shape, x->strides, 2, flat, strides))
        rows = as_matrix(x, flat[0], flat[1], strides[0], strides[1]);
    else if ((held = tpi_dense_contiguous(x))) rows = as_matrix(held, flat[0], flat[1], flat[1], 1);
    tp_tensor *wt = rows ? as_matrix(w, w->shape[1], w->shape[0], w->strides[1], w->strides[0]) : NULL;
    int rc = wt ? product(c, rows, wt, bias, n, shape) : tp_error_code();
    tp_release(wt);
    tp_release(rows);
    tp_release(held);
    return rc;
}

/* ---- dot ---- */

/* Lanes that the compiler keeps in vectors, added in pairs at the end. */
#define DOT_REAL(NAME, T)                                                \
    TP_CLONES static T NAME(int64_t n, const T *a, const T *b)           \
    {                                                                    \
        enum { LANES = 256 / sizeof(T) };                                \
        T s[LANES] = {0};                                                \
        int64_t i = 0;                                                   \
        for (; i + LANES <= n; i += LANES)                               \
            for (int l = 0; l < LANES; l++) s[l] += a[i + l] * b[i + l]; \
        for (int l = 0; i < n; i++, l++) s[l] += a[i] * b[i];            \
        for (int w = LANES / 2; w; w /= 2)                               \
            for (int l = 0; l < w; l++) s[l] += s[l + w];                \
        return s[0];                                                     \
    }
DOT_REAL(dot_f32, float)
DOT_REAL(dot_f64, double)

#define DOT_COMPLEX(NAME, R)                                              \
    TP_CLONES static void NAME(int64_t n, const R *a, const R *b, R *out) \
    {                                                                     \
        R re[8] = {0}, im[8] = {0};                                       \
        int64_t i = 0;                                                    \
        for (; i + 8 <= n; i += 8)                                        \
            for (int l = 0; l < 8; l++) {                                 \
                const R *x = a + 2 * (i + l), *y = b + 2 * (i + l);       \
                re[l] += x[0] * y[0] - x[1] * y[1];                       \
                im[l] += x[0] * y[1] + x[1] * y[0];                       \
            }                                                             \
        for (int l = 0; i < n; i++, l++) {                                \
            re[l] += a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];   \
            im[l] += a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];   \
        }                                                                 \
        for (int w = 4; w; w /= 2)                                        \
            for (int l = 0; l < w; l++) {                                 \
                re[l] += re[l + w];                                       \
                im[l] += im[l + w];                                       \
            }                                                             \
        out[0] = re[0];                                                   \
        out[1] = im[0];                                                   \
    }
DOT_COMPLEX(dot_c64, float)
DOT_COMPLEX(dot_c128, double)

static tp_tensor *plain(tp_tensor *t, int compute)
{
    if (t->dtype != compute) return tpi_dense_cast(t, compute);
    return t->ndim == 1 && (t->strides[0] == 1 || t->shape[0] <= 1) ? tpi_retain(t) : tpi_dense_contiguous(t);
}

int k_matmul_dot(tp_call *c)
{
    tp_tensor *a = arg_t(&c->args[0]), *b = arg_t(&c->args[1]);
    int compute = tpi_compute_dtype(a->dtype);
    tp_tensor *x = plain(a, compute), *y = x ? plain(b, compute) : NULL, *out = y ? tpi_empty(compute, 0, NULL) : NULL;
    int rc = out ? TP_OK : tp_error_code();
    if (out) {
        int64_t n = a->shape[0];
        void *r = tpi_data(out);
        switch (compute) {
        case TP_FLOAT32: *(float *)r = dot_f32(n, tpi_data(x), tpi_data(y)); break;
        case TP_FLOAT64: *(double *)r = dot_f64(n, tpi_data(x), tpi_data(y)); break;
        case TP_COMPLEX64: dot_c64(n, tpi_data(x), tpi_data(y), r); break;
        case TP_COMPLEX128: dot_c128(n, tpi_data(x), tpi_data(y), r); break;
        default: rc = tpi_gemm(compute, 'N', 'N', 1, 1, n, tpi_data(x), n ? n : 1, tpi_data(y), 1, false, r, 1);
        }
    }
    tp_release(x);
    tp_release(y);
    return out ? finish(c, out, a->dtype, rc) : rc;
}
