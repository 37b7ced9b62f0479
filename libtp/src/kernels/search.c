/* Binary search in sorted lines, distinct rows, and reductions into places that an index names. */
#include <math.h>

#include "core/pool.h"
#include "kernels/index.h"
#include "kernels/kernels.h"
#include "kernels/loops.h"
#include "tpi_ops.h"

/* ---- binary search ---- */

typedef struct search {
    const char *seq, *values;
    int64_t *out;
    int64_t n, m;                /* elements of a line, values for it */
    int ndim;
    const int64_t *shape, *step; /* leading dimensions, and the sequence's steps along them in elements */
    int64_t last;                /* its step along the line */
    bool right;
} search;

static int64_t line_start(const search *w, int64_t line)
{
    int64_t at = 0;
    for (int d = w->ndim - 1; d >= 0; d--) {
        at += line % w->shape[d] * w->step[d];
        line /= w->shape[d];
    }
    return at;
}

/* NaN is larger than everything, in the line and among the values. */
#define SEARCH(N, T)                                                                        \
    static inline bool below_##N(T a, T b) { return a < b || (b != b && a == a); }          \
    static void search_##N(int64_t begin, int64_t end, void *ctx)                           \
    {                                                                                       \
        const search *w = ctx;                                                              \
        int64_t line = -1;                                                                  \
        const T *seq = NULL;                                                                \
        for (int64_t i = begin; i < end; i++) {                                             \
            if (i / w->m != line) seq = (const T *)w->seq + line_start(w, line = i / w->m); \
            T v = ((const T *)w->values)[i];                                                \
            int64_t low = 0, high = w->n;                                                   \
            while (low < high) {                                                            \
                int64_t mid = low + (high - low) / 2;                                       \
                T s = seq[mid * w->last];                                                   \
                if (w->right ? !below_##N(v, s) : below_##N(s, v)) low = mid + 1;           \
                else high = mid;                                                            \
            }                                                                               \
            w->out[i] = low;                                                                \
        }                                                                                   \
    }
SEARCH(u8, uint8_t)
SEARCH(i8, int8_t)
SEARCH(u16, uint16_t)
SEARCH(i16, int16_t)
SEARCH(u32, uint32_t)
SEARCH(i32, int32_t)
SEARCH(u64, uint64_t)
SEARCH(i64, int64_t)
SEARCH(f32, float)
SEARCH(f64, double)

int k_search_lines(tp_call *c)
{
    typedef void (*body)(int64_t, int64_t, void *);
    static const body table[TP_DTYPE_COUNT] = {
        [TP_BOOL] = search_u8, INT_ENTRIES(search), [TP_FLOAT32] = search_f32, [TP_FLOAT64] = search_f64};
    tp_tensor *seq = arg_t(&c->args[0]), *values = tpi_dense_contiguous(arg_t(&c->args[1]));
    if (!values) return tp_error_code();
    if (!table[seq->dtype]) {
        tp_release(values);
        return tpi_unsupported_dtype(c, seq->dtype);
    }
    tp_tensor *out = tpi_empty(TP_INT64, values->ndim, values->shape);
    if (out && out->numel) {
        search w = {.seq = tpi_data(seq),
                    .values = tpi_data(values),
                    .out = tpi_data(out),
                    .n = seq->shape[seq->ndim - 1],
                    .m = values->shape[values->ndim - 1],
                    .ndim = seq->ndim - 1,
                    .shape = seq->shape,
                    .step = seq->strides,
                    .last = seq->strides[seq->ndim - 1],
                    .right = arg_b(&c->args[2])};
        tpi_parallel_for(out->numel, 4096, table[seq->dtype], &w);
    }
    tp_release(values);
    c->out[0] = out;
    return out ? 0 : tp_error_code();
}

/* ---- distinct rows ---- */

/* Order of elements: NaN last and equal to each other here. */
#define ORDER(N, T)                                       \
    static int order_##N(const char *p, const char *q)    \
    {                                                     \
        T a = *(const T *)p, b = *(const T *)q;           \
        if (a != a || b != b) return (a != a) - (b != b); \
        return (a > b) - (a < b);                         \
    }
ORDER(u8, uint8_t)
ORDER(i8, int8_t)
ORDER(u16, uint16_t)
ORDER(i16, int16_t)
ORDER(u32, uint32_t)
ORDER(i32, int32_t)
ORDER(u64, uint64_t)
ORDER(i64, int64_t)
ORDER(f32, float)
ORDER(f64, double)
static int order_c64(const char *p, const char *q)
{
    int re = order_f32(p, q);
    return re ? re : order_f32(p + 4, q + 4);
}
static int order_c128(const char *p, const char *q)
{
    int re = order_f64(p, q);
    return re ? re : order_f64(p + 8, q + 8);
}

typedef struct rows {
    const char *data;
    int64_t m, bytes;            /* elements and bytes of a row */
    int esize;
    int (*order)(const char *, const char *);
    bool inexact;
} rows;

static int compare(const rows *r, int64_t i, int64_t j)
{
    const char *p = r->data + i * r->bytes, *q = r->data + j * r->bytes;
    for (int64_t k = 0; k < r->m; k++, p += r->esize, q += r->esize) {
        int o = r->order(p, q);
        if (o) return o;
    }
    return 0;
}

/* A NaN is equal to nothing, itself included. */
static bool same_row(const rows *r, int64_t i, int64_t j)
{
    if (compare(r, i, j)) return false;
    const char *p = r->data + i * r->bytes;
    bool narrow = r->order == order_f32 || r->order == order_c64;
    for (int64_t k = 0; r->inexact && k < r->bytes / (narrow ? 4 : 8); k++)
        if (narrow ? isnan(((const float *)p)[k]) : isnan(((const double *)p)[k])) return false;
    return true;
}

/* Stable: equal rows keep their order, so the first of a run is the first in memory. */
static void merge_sort(const rows *r, int64_t *at, int64_t *tmp, int64_t n)
{
    for (int64_t i = 0; i < n; i += 16)
        for (int64_t j = i + 1; j < i + 16 && j < n; j++) {
            int64_t v = at[j], k = j;
            for (; k > i && compare(r, at[k - 1], v) > 0; k--) at[k] = at[k - 1];
            at[k] = v;
        }
    for (int64_t width = 16; width < n; width *= 2) {
        for (int64_t i = 0; i < n; i += 2 * width) {
            int64_t a = i, mid = i + width < n ? i + width : n, end = i + 2 * width < n ? i + 2 * width : n, b = mid;
            for (int64_t k = i; k < end; k++)
                tmp[k] = a < mid && (b >= end || compare(r, at[a], at[b]) <= 0) ? at[a++] : at[b++];
        }
        memcpy(at, tmp, sizeof *at * (size_t)n);
    }
}

int k_unique_rows(tp_call *c)
{
    typedef int (*order)(const char *, const char *);
    static const order table[TP_DTYPE_COUNT] = {
        [TP_BOOL] = order_u8,     INT_ENTRIES(order),         [TP_FLOAT32] = order_f32,
        [TP_FLOAT64] = order_f64, [TP_COMPLEX64] = order_c64, [TP_COMPLEX128] = order_c128};
    tp_tensor *self = arg_t(&c->args[0]);
    if (self->ndim != 2)
        return tpi_fail(TP_ERR_VALUE, "unique_rows: two dimensions are needed, got shape %s", tpi_str(self));
    bool half = self->dtype == TP_FLOAT16 || self->dtype == TP_BFLOAT16;
    tp_tensor *wide = half ? tpi_dense_cast(self, TP_FLOAT32) : tpi_retain(self);
    tp_tensor *x = wide ? tpi_dense_contiguous(wide) : NULL;
    tp_release(wide);
    if (!x) return tp_error_code();
    int64_t n = x->shape[0], k = 0;
    rows r = {.data = tpi_data(x),
              .m = x->shape[1],
              .esize = tpi_esize(x->dtype),
              .order = table[x->dtype],
              .inexact = tpi_is_differentiable(x->dtype)};
    r.bytes = r.m * r.esize;
    tp_tensor *inverse = tpi_empty(TP_INT64, 1, &n), *order_of = tpi_empty(TP_INT64, 1, &n);
    tp_tensor *spare = tpi_empty(TP_INT64, 1, &n), *first = NULL, *counts = NULL;
    if (inverse && order_of && spare) {
        int64_t *at = tpi_data(order_of), *tmp = tpi_data(spare), *number = tpi_data(inverse);
        for (int64_t i = 0; i < n; i++) at[i] = i;
        if (!arg_b(&c->args[1])) merge_sort(&r, at, tmp, n);
        for (int64_t i = 0; i < n; i++) {
            bool fresh = i == 0 || !same_row(&r, at[i - 1], at[i]);
            if (fresh) tmp[k++] = i;              /* where the run starts in the order */
            number[at[i]] = k - 1;
        }
        first = tpi_empty(TP_INT64, 1, &k);
        counts = tpi_empty(TP_INT64, 1, &k);
        for (int64_t i = 0; first && counts && i < k; i++) {
            ((int64_t *)tpi_data(first))[i] = at[tmp[i]];
            ((int64_t *)tpi_data(counts))[i] = (i + 1 < k ? tmp[i + 1] : n) - tmp[i];
        }
    }
    tp_release(order_of);
    tp_release(spare);
    tp_release(x);
    c->out[0] = first;
    c->out[1] = inverse;
    c->out[2] = counts;
    return first && counts && inverse ? 0 : tp_error_code();
}

/* ---- reductions into places ---- */

typedef struct fold {
    char *out;
    const char *src;
    const int64_t *index;
    int64_t along, run;
    int how;
    bool fresh;                  /* places start from the neutral element */
} fold;

#define FOLD(N, T, LOW, HIGH)                                                                               \
    static void fold_##N(const fold *w, int64_t at, int64_t index_step, int64_t src_step, int64_t out_step) \
    {                                                                                                       \
        T *out = (T *)w->out + at, neutral = w->how == 0 ? 1 : w->how == 1 ? (T)(HIGH) : (T)(LOW);          \
        const T *src = (const T *)w->src;                                                                   \
        for (int64_t i = 0; i < w->run; i++) {                                                              \
            T *o = out + i * out_step + w->index[i * index_step] * w->along, v = src[i * src_step];         \
            if (w->fresh) *o = neutral;                                                                     \
            else if (w->how == 0) *o = (T)(*o * v);                                                         \
            else if (w->how == 1) *o = v < *o || v != v ? v : *o;                                           \
            else *o = v > *o || v != v ? v : *o;                                                            \
        }                                                                                                   \
    }
FOLD(u8, uint8_t, 0, UINT8_MAX)
FOLD(i8, int8_t, INT8_MIN, INT8_MAX)
FOLD(u16, uint16_t, 0, UINT16_MAX)
FOLD(i16, int16_t, INT16_MIN, INT16_MAX)
FOLD(u32, uint32_t, 0, UINT32_MAX)
FOLD(i32, int32_t, INT32_MIN, INT32_MAX)
FOLD(u64, uint64_t, 0, UINT64_MAX)
FOLD(i64, int64_t, INT64_MIN, INT64_MAX)
FOLD(f32, float, -INFINITY, INFINITY)
FOLD(f64, double, -INFINITY, INFINITY)

typedef void (*fold_fn)(const fold *, int64_t, int64_t, int64_t, int64_t);

/* One element of every dimension but the last of index after the other; the last is the run. */
static void fold_all(fold *w, fold_fn body, const tp_tensor *out, const tp_tensor *index, const tp_tensor *src, int dim)
{
    const int64_t *first = tpi_data((tp_tensor *)index);
    const char *data = tpi_data((tp_tensor *)src);
    int last = index->ndim - 1, esize = tpi_esize(out->dtype);
    int64_t at[TPI_DIMS_CAP] = {0};
    w->run = index->shape[last];
    for (bool more = index->numel > 0; more;) {
        int64_t o = 0, i = 0, s = 0;
        for (int d = 0; d < last; d++) {
            o += d == dim ? 0 : at[d] * out->strides[d];
            i += at[d] * index->strides[d];
            s += at[d] * src->strides[d];
        }
        w->index = first + i;
        w->src = data + s * esize;
        body(w, o, index->strides[last], src->strides[last], last == dim ? 0 : out->strides[last]);
        int d = last - 1;
        while (d >= 0 && ++at[d] == index->shape[d]) at[d--] = 0;
        more = d >= 0;
    }
}

int k_scatter_fold(tp_call *c)
{
    static const fold_fn table[TP_DTYPE_COUNT] = {
        [TP_BOOL] = fold_u8, INT_ENTRIES(fold), [TP_FLOAT32] = fold_f32, [TP_FLOAT64] = fold_f64};
    tp_tensor *self = arg_t(&c->args[0]), *index = arg_t(&c->args[2]), *src = arg_t(&c->args[3]);
    int dim = (int)arg_i(&c->args[1]);
    if (!table[self->dtype]) return tpi_unsupported_dtype(c, self->dtype);
    tp_tensor *at = tpi_dense_contiguous(index), *out = at ? tpi_empty(self->dtype, self->ndim, self->shape) : NULL;
    int rc = out ? 0 : tp_error_code();
    int64_t *place = at ? tpi_data(at) : NULL, length = self->shape[dim];
    for (int64_t i = 0; !rc && i < at->numel; i++)
        if (place[i] < 0 || place[i] >= length)
            rc = tpi_fail(TP_ERR_INDEX, "%s: index %lld is out of range for dimension %d of size %lld",
                          "scatter_reduce", (long long)place[i], dim - tpi_hidden_dims, (long long)length);
    if (!rc) rc = tpi_dense_copy(out, self);
    if (!rc) {
        fold w = {.out = tpi_data(out), .along = out->strides[dim], .how = (int)arg_i(&c->args[4])};
        w.fresh = !arg_b(&c->args[5]);
        if (w.fresh) fold_all(&w, table[self->dtype], out, at, src, dim);
        w.fresh = false;
        fold_all(&w, table[self->dtype], out, at, src, dim);
    }
    tp_release(at);
    if (rc) tp_release(out);
    else c->out[0] = out;
    return rc;
}
