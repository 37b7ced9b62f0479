/* Operators that rearrange elements into new memory: cat, flip, roll, tril, triu. */
#include "core/clones.h"
#include "core/pool.h"
#include "kernels/kernels.h"
#include "kernels/shape.h"

/* ---- cat ---- */

/* Copies `rows` pieces of `bytes`; pieces of one element are moved by loops of their width. */
static void copy_rows(char *dst, int64_t dst_step, const char *src, int64_t src_step, int64_t rows, int64_t bytes)
{
#define ROWS_OF(UNIT)                                                                                   \
    for (int64_t r = 0; r < rows; r++, dst += dst_step, src += src_step) memcpy(dst, src, sizeof(UNIT))
    switch (bytes) {
    case 0: return;
    case 4: ROWS_OF(uint32_t); return;
    case 8: ROWS_OF(uint64_t); return;
    case 16: ROWS_OF(uint64_t[2]); return;
    default:
        for (int64_t r = 0; r < rows; r++, dst += dst_step, src += src_step) memcpy(dst, src, (size_t)bytes);
    }
#undef ROWS_OF
}

typedef struct cat_job {
    char *dst;
    const char *src;
    int64_t dst_step, bytes;
} cat_job;

static void cat_range(int64_t begin, int64_t end, void *arg)
{
    cat_job *j = arg;
    copy_rows(j->dst + begin * j->dst_step, j->dst_step, j->src + begin * j->bytes, j->bytes, end - begin, j->bytes);
}

int k_cat(tp_call *c)
{
    tp_tensor **ts = c->args[0].v.ts;
    int n = c->args[0].n, d, rc;
    if (n == 0 || !ts[0]) return tpi_fail(TP_ERR_VALUE, "cat: an empty list of tensors");
    tp_tensor *first = ts[0];
    if ((rc = tpi_wrap_dim("cat", arg_i(&c->args[1]), first->ndim, &d))) return rc;
    if (first->ndim == 0) return tpi_fail(TP_ERR_VALUE, "cat: 0-d tensors can't be concatenated: use stack");
    int64_t shape[TPI_DIMS_CAP], total = 0;
    tpi_copy_dims(shape, first->shape, first->ndim);
    for (int i = 0; i < n; i++) {
        if (!ts[i]) return tpi_fail(TP_ERR_VALUE, "cat: tensor %d is missing", i);
        bool same = ts[i]->ndim == first->ndim;
        for (int k = 0; same && k < first->ndim; k++) same = k == d || ts[i]->shape[k] == first->shape[k];
        if (!same)
            return tpi_fail(TP_ERR_VALUE, "cat: shapes %s and %s differ outside dimension %d", tpi_str(first),
                            tpi_str(ts[i]), d);
        if (__builtin_add_overflow(total, ts[i]->shape[d], &total))
            return tpi_fail(TP_ERR_VALUE, "cat: the result is too large");
    }
    shape[d] = total;
    tp_tensor *out = tpi_empty(first->dtype, first->ndim, shape);
    if (!out) return tp_error_code();
    int64_t outer = 1, inner = tpi_esize(out->dtype), at = 0;
    for (int k = 0; k < d; k++) outer *= shape[k];
    for (int k = d + 1; k < out->ndim; k++) inner *= shape[k];
    for (int i = 0; i < n && out->numel; i++) {
        tp_tensor *t = ts[i];
        if (!t->numel) continue;
        if (tpi_contiguous(t)) {
            cat_job job = {(char *)tpi_data(out) + at * inner, tpi_data(t), total * inner, t->shape[d] * inner};
            int64_t grain = (1 << 18) / (job.bytes + 1) + 1;
            tpi_parallel_for(outer, grain, cat_range, &job);
        } else {
            tp_tensor *part = tpi_dense_view(out, t->ndim, t->shape, out->strides, out->offset + at * out->strides[d]);
            rc = part ? tpi_dense_copy(part, t) : tp_error_code();
            tp_release(part);
            if (rc) {
                tp_release(out);
                return rc;
            }
        }
        at += t->shape[d];
    }
    c->out[0] = out;
    return 0;
}

/* ---- flip, roll ---- */

typedef struct flip_job {
    const char *src;
    char *dst;
    int ndim, size;
    int64_t shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP];
} flip_job;

/* Rows begin..end, each read backwards. */
TP_CLONES static void flip_rows(int64_t begin, int64_t end, void *arg)
{
    const flip_job *j = arg;
    int last = j->ndim - 1;
    int64_t n = j->shape[last];
    for (int64_t r = begin; r < end; r++) {
        int64_t rest = r, at = 0;
        for (int d = last - 1; d >= 0; d--) {
            at += rest % j->shape[d] * j->strides[d];
            rest /= j->shape[d];
        }
#define REVERSE(UNIT)                                 \
    {                                                 \
        const UNIT *s = (const UNIT *)j->src + at;    \
        UNIT *o = (UNIT *)j->dst + r * n;             \
        for (int64_t i = 0; i < n; i++) o[i] = s[-i]; \
    }
        switch (j->size) {
        case 1: REVERSE(uint8_t) break;
        case 2: REVERSE(uint16_t) break;
        case 4: REVERSE(uint32_t) break;
        case 8: REVERSE(uint64_t) break;
        default: REVERSE(double _Complex) break;
        }
#undef REVERSE
    }
}

int k_flip(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int dims[TPI_DIMS_CAP];
    flip_job j = {.ndim = t->ndim, .size = tpi_esize(t->dtype)};
    int64_t offset = t->offset;
    int n = c->args[1].n, rc = tpi_wrap_dims("flip", c->args[1].v.ints, n, t->ndim, dims);
    if (rc) return rc;
    tpi_copy_dims(j.shape, t->shape, t->ndim);
    tpi_copy_dims(j.strides, t->strides, t->ndim);
    if (t->numel && t->ndim)
        for (int i = 0; i < n; i++) {
            offset += (t->shape[dims[i]] - 1) * t->strides[dims[i]];
            j.strides[dims[i]] = -t->strides[dims[i]];
        }
    tp_tensor *reversed = tpi_dense_view(t, t->ndim, j.shape, j.strides, offset);
    if (!reversed) return tp_error_code();
    tp_tensor *out;
    if (t->ndim && t->numel && j.strides[t->ndim - 1] == -1) {
        int64_t row = j.shape[t->ndim - 1];
        if ((out = tpi_empty_like(t, t->dtype))) {
            j.src = tpi_data(reversed);
            j.dst = tpi_data(out);
            tpi_parallel_for(t->numel / row, (1 << 16) / row + 1, flip_rows, &j);
        }
    } else out = tpi_dense_cast(reversed, t->dtype);
    tp_release(reversed);
    return tpi_set_out(c, 0, out);
}

/* out[to:to + len] = t[from:from + len] along d */
static int copy_part(tp_tensor *out, tp_tensor *t, int d, int64_t to, int64_t from, int64_t len)
{
    int64_t shape[TPI_DIMS_CAP];
    if (len == 0) return 0;
    tpi_copy_dims(shape, t->shape, t->ndim);
    shape[d] = len;
    tp_tensor *dst = tpi_dense_view(out, t->ndim, shape, out->strides, out->offset + to * out->strides[d]);
    tp_tensor *src = tpi_dense_view(t, t->ndim, shape, t->strides, t->offset + from * t->strides[d]);
    int rc = dst && src ? tpi_dense_copy(dst, src) : tp_error_code();
    tp_release(dst);
    tp_release(src);
    return rc;
}

int k_roll(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int d, rc = tpi_wrap_dim("roll", arg_i(&c->args[2]), t->ndim, &d);
    if (rc) return rc;
    if (t->ndim == 0) return tpi_fail(TP_ERR_INDEX, "roll: a 0-d tensor has no dimensions");
    tp_tensor *out = tpi_empty_like(t, t->dtype);
    if (!out) return tp_error_code();
    if (t->numel) {
        int64_t size = t->shape[d], shift = arg_i(&c->args[1]) % size;
        if (shift < 0) shift += size;
        rc = copy_part(out, t, d, shift, 0, size - shift);
        if (!rc) rc = copy_part(out, t, d, 0, size - shift, shift);
    }
    if (rc) tp_release(out);
    else c->out[0] = out;
    return rc;
}

/* ---- tril, triu ---- */

typedef struct tri_job {
    char *data;
    int64_t rows, cols, diagonal, size;
    bool upper;
} tri_job;

/* Zeros the other side of rows begin..end, counted over all matrices. */
static void tri_range(int64_t begin, int64_t end, void *arg)
{
    tri_job *j = arg;
    for (int64_t r = begin; r < end; r++) {
        int64_t i = r % j->rows;
        /* First column beyond the diagonal: those before it are the lower triangle. */
        int64_t edge = j->diagonal >= j->cols ? j->cols : j->diagonal < -j->rows ? 0 : i + j->diagonal + !j->upper;
        edge = edge < 0 ? 0 : edge > j->cols ? j->cols : edge;
        char *row = j->data + r * j->cols * j->size;
        if (j->upper) memset(row, 0, (size_t)(edge * j->size));
        else memset(row + edge * j->size, 0, (size_t)((j->cols - edge) * j->size));
    }
}

static int triangle(tp_call *c, const char *op, bool upper)
{
    tp_tensor *t = arg_t(&c->args[0]);
    if (t->ndim < 2)
        return tpi_fail(TP_ERR_VALUE, "%s: at least 2 dimensions are needed, got shape %s", op, tpi_str(t));
    tp_tensor *out = tpi_dense_cast(t, t->dtype);
    if (!out) return tp_error_code();
    if (out->numel) {
        tri_job job = {tpi_data(out),      t->shape[t->ndim - 2], t->shape[t->ndim - 1],
                       arg_i(&c->args[1]), tpi_esize(t->dtype),   upper};
        tpi_parallel_for(out->numel / job.cols, (1 << 16) / job.cols + 1, tri_range, &job);
    }
    c->out[0] = out;
    return 0;
}

int k_tril(tp_call *c) { return triangle(c, "tril", false); }
int k_triu(tp_call *c) { return triangle(c, "triu", true); }

/* ---- unfold, backwards: windows may overlap, so they are added ---- */

#define ADD_ROWS(T)                                                      \
    for (int64_t i = 0; i < n; i++) ((T *)dst)[i] += ((const T *)src)[i]

/* dst += src over n elements. Integers wrap around, bool is the logical or; no half types. */
static void add_run(int dtype, int64_t n, void *dst, const void *src)
{
    switch (dtype) {
    case TP_BOOL:
        for (int64_t i = 0; i < n; i++) ((uint8_t *)dst)[i] |= ((const uint8_t *)src)[i];
        break;
    case TP_UINT8:
    case TP_INT8: ADD_ROWS(uint8_t); break;
    case TP_UINT16:
    case TP_INT16: ADD_ROWS(uint16_t); break;
    case TP_UINT32:
    case TP_INT32: ADD_ROWS(uint32_t); break;
    case TP_UINT64:
    case TP_INT64: ADD_ROWS(uint64_t); break;
    case TP_FLOAT32: ADD_ROWS(float); break;
    case TP_FLOAT64: ADD_ROWS(double); break;
    case TP_COMPLEX64:
        n *= 2;
        ADD_ROWS(float);
        break;
    case TP_COMPLEX128:
        n *= 2;
        ADD_ROWS(double);
        break;
    }
}

int k_unfold_backward(tp_call *c)
{
    tp_tensor *grad = arg_t(&c->args[0]);
    const tp_val *in = &c->args[1];
    int64_t size = arg_i(&c->args[3]), step = arg_i(&c->args[4]), numel, count;
    int d, rc;
    if ((rc = tpi_numel("unfold_backward", in->n, in->v.ints, &numel)) ||
        (rc = tpi_wrap_dim("unfold_backward", arg_i(&c->args[2]), in->n, &d)) ||
        (rc = tpi_unfold_count("unfold_backward", in->v.ints[d], size, step, &count)))
        return rc;
    /* Windows in rows of the dimensions after d: [outer, count, inner, size] -> [outer, length, inner]. */
    bool half = grad->dtype == TP_FLOAT16 || grad->dtype == TP_BFLOAT16;
    tp_tensor *g = half ? tpi_dense_cast(grad, TP_FLOAT32) : tpi_dense_contiguous(grad);
    tp_tensor *out = g ? tpi_empty(g->dtype, in->n, in->v.ints) : NULL;
    if (!out) {
        tp_release(g);
        return tp_error_code();
    }
    int64_t es = tpi_esize(out->dtype), outer = 1, inner = 1, length = in->v.ints[d];
    for (int i = 0; i < d; i++) outer *= in->v.ints[i];
    for (int i = d + 1; i < in->n; i++) inner *= in->v.ints[i];
    memset(tpi_data(out), 0, (size_t)(numel * es));
    char *dst = tpi_data(out), *src = tpi_data(g);
    for (int64_t o = 0; o < outer && numel; o++)
        for (int64_t w = 0; w < count; w++)
            for (int64_t i = 0; i < inner; i++, src += size * es) {
                char *at = dst + ((o * length + w * step) * inner + i) * es;
                if (inner == 1) add_run(out->dtype, size, at, src);
                else
                    for (int64_t k = 0; k < size; k++) add_run(out->dtype, 1, at + k * inner * es, src + k * es);
            }
    tp_release(g);
    rc = tpi_set_out(c, 0, half ? tpi_dense_cast(out, grad->dtype) : tpi_retain(out));
    tp_release(out);
    return rc;
}
