/* gather_dim and scatter_dim: index has self's rank and says, element by element, where along dim. */
#include "core/clones.h"
#include "kernels/index.h"
#include "tpi_ops.h"

/* Joint walk over index and the tensor of its shape (out or src), and self without its own steps along dim. */
typedef struct walk {
    int ndim;
    int64_t shape[TPI_DIMS_CAP], sself[TPI_DIMS_CAP], sindex[TPI_DIMS_CAP], sother[TPI_DIMS_CAP];
    int64_t along, length;      /* self's step and size along dim */
    int dim;
} walk;

static int walk_begin(walk *w, const char *op, tp_tensor *self, int64_t dim, const tp_tensor *index,
                      const tp_tensor *other)
{
    bool fits = index->ndim == self->ndim && self->ndim > 0 && dim >= 0 && dim < self->ndim &&
                other->ndim == index->ndim;
    for (int i = 0; fits && i < index->ndim; i++)
        fits = (i == dim || index->shape[i] <= self->shape[i]) && other->shape[i] == index->shape[i];
    if (!fits)
        return tpi_fail(TP_ERR_VALUE, "%s: index of shape %s does not fit into shape %s along dimension %lld", op,
                        tpi_str(index), tpi_str(self), (long long)dim);
    w->ndim = self->ndim;
    w->dim = (int)dim;
    w->along = self->strides[dim];
    w->length = self->shape[dim];
    for (int i = 0; i < w->ndim; i++) {
        w->shape[i] = index->shape[i];
        w->sself[i] = i == dim ? 0 : self->strides[i];
        w->sindex[i] = index->strides[i];
        w->sother[i] = other->strides[i];
    }
    return 0;
}

/* Drops dimensions of size one and joins neighbours that are one run in all three. */
static void walk_fold(walk *w)
{
    int n = 0;
    for (int i = 0; i < w->ndim; i++) {
        if (w->shape[i] == 1) continue;
        int64_t size = w->shape[i];
        if (n && w->sself[n - 1] == w->sself[i] * size && w->sindex[n - 1] == w->sindex[i] * size &&
            w->sother[n - 1] == w->sother[i] * size) {
            w->shape[n - 1] *= size;
        } else {
            w->shape[n] = size;
            n++;
        }
        w->sself[n - 1] = w->sself[i];
        w->sindex[n - 1] = w->sindex[i];
        w->sother[n - 1] = w->sother[i];
    }
    if (n == 0) {
        w->shape[0] = 1;
        w->sself[0] = w->sindex[0] = w->sother[0] = 0;
        n = 1;
    }
    w->ndim = n;
}

typedef struct gather_job {
    walk w;
    const int64_t *index;
    const char *src;
    char *dst;
    int size;
    tpi_bad_index bad;
} gather_job;

enum { BLOCK = 256 };

/* Offsets into self of n entries of index, si apart; negative if one is out of range. */
static inline __attribute__((always_inline)) int64_t block_offsets(int64_t *off, const int64_t *index, int64_t n,
                                                                   int64_t si, int64_t ss, int64_t along,
                                                                   int64_t length)
{
    int64_t bad = 0;
#define OFFSETS(SI, SS, ALONG)                                          \
    for (int64_t k = 0; k < n; k++) {                                   \
        int64_t v = index[k * (SI)];                                    \
        v += length & (v >> 63);                                        \
        bad |= v | (int64_t)((uint64_t)length - 1 - (uint64_t)v);       \
        off[k] = (int64_t)((uint64_t)v * (uint64_t)(ALONG)) + k * (SS); \
    }
    /* Along the last dimension of contiguous tensors the steps are constants. */
    if (si == 1 && ss == 0 && along == 1) {
        OFFSETS(1, 0, 1)
    } else {
        OFFSETS(si, ss, along)
    }
#undef OFFSETS
    return bad;
}

TP_CLONES static void gather_range(int64_t begin, int64_t end, void *arg)
{
    gather_job *j = arg;
    const walk *w = &j->w;
    int last = w->ndim - 1;
    int64_t inner = w->shape[last], si = w->sindex[last], so = w->sother[last], ss = w->sself[last], along = w->along,
            length = w->length;
    while (begin < end) {
        int64_t row = begin / inner, x0 = begin % inner, x1 = x0 + (end - begin) < inner ? x0 + (end - begin) : inner;
        int64_t self = 0, index = 0, other = 0, wrong = -1;
        for (int d = last - 1; d >= 0; d--) {
            int64_t at = row % w->shape[d];
            row /= w->shape[d];
            self += at * w->sself[d];
            index += at * w->sindex[d];
            other += at * w->sother[d];
        }
        const int64_t *ix = j->index + index;
        /* A block at a time, offsets first: both loops become vector code. */
        for (int64_t x = x0; x < x1; x += BLOCK) {
            int64_t off[BLOCK], n = x1 - x < BLOCK ? x1 - x : BLOCK, bad;
            const int64_t *at = ix + x * si;
            bad = block_offsets(off, at, n, si, ss, along, length);
            if (bad < 0) {
                for (wrong = x; ix[wrong * si] >= -length && ix[wrong * si] < length;) wrong++;
                break;
            }
#define GATHER(UNIT)                                               \
    {                                                              \
        const UNIT *s = (const UNIT *)j->src + self + x * ss;      \
        UNIT *o = (UNIT *)j->dst + other + x * so;                 \
        if (so == 1)                                               \
            for (int64_t k = 0; k < n; k++) o[k] = s[off[k]];      \
        else                                                       \
            for (int64_t k = 0; k < n; k++) o[k * so] = s[off[k]]; \
    }
            TPI_BY_SIZE(j->size, GATHER)
#undef GATHER
        }
        if (wrong >= 0) {
            tpi_note_bad(&j->bad, ix[wrong * si], w->dim, length);
            return;
        }
        begin += x1 - x0;
    }
}

/* ---- writing: in order, see index_dims.c ---- */

typedef struct scatter_job {
    walk w;                 /* not folded */
    int split;              /* the dimension that threads share, -1: none */
    const int64_t *index;
    const char *src;
    char *dst;
    int dtype, size;
    bool add;
    tpi_bad_index bad;
} scatter_job;

TP_CLONES static void scatter_walk(const walk *w, const int64_t *index, const char *src, char *dst, scatter_job *j)
{
    int64_t at[TPI_DIMS_CAP] = {0}, self = 0, other = 0;
    int last = w->ndim - 1;
    int64_t inner = w->shape[last], si = w->sindex[last], so = w->sother[last], ss = w->sself[last];
    for (;;) {
        for (int64_t x = 0; x < inner; x += BLOCK) {
            int64_t off[BLOCK], n = inner - x < BLOCK ? inner - x : BLOCK;
            if (block_offsets(off, index + x * si, n, si, ss, w->along, w->length) < 0) {
                while (index[x * si] >= -w->length && index[x * si] < w->length) x++;
                tpi_note_bad(&j->bad, index[x * si], w->dim, w->length);
                return;
            }
#define SCATTER(T, STORE)                                           \
    {                                                               \
        T *o = (T *)dst + self + x * ss;                            \
        const T *s = (const T *)src + other + x * so;               \
        for (int64_t k = 0; k < n; k++) STORE(o[off[k]], s[k * so]) \
    }
#define MOVE(T) SCATTER(T, TPI_STORE_SET)
            if (j->add) {
                TPI_BY_SUM(j->dtype, SCATTER)
            } else {
                TPI_BY_SIZE(j->size, MOVE)
            }
#undef MOVE
#undef SCATTER
        }
        int d = last - 1;
        for (; d >= 0; d--) {
            self += w->sself[d];
            index += w->sindex[d];
            other += w->sother[d];
            if (++at[d] < w->shape[d]) break;
            self -= w->sself[d] * w->shape[d];
            index -= w->sindex[d] * w->shape[d];
            other -= w->sother[d] * w->shape[d];
            at[d] = 0;
        }
        if (d < 0) return;
    }
}

static void scatter_range(int64_t begin, int64_t end, void *arg)
{
    scatter_job *j = arg;
    walk w = j->w;
    const int64_t *index = j->index;
    const char *src = j->src;
    char *dst = j->dst;
    if (j->split >= 0) {
        int d = j->split;
        w.shape[d] = end - begin;
        index += begin * w.sindex[d];
        src += begin * w.sother[d] * j->size;
        dst += begin * w.sself[d] * j->size;
    }
    walk_fold(&w);
    scatter_walk(&w, index, src, dst, j);
}

/* Whether every index is in range: before something is written that outlives a failing call. */
typedef struct check_job {
    walk w;
    const int64_t *index;
    tpi_bad_index bad;
} check_job;

static void check_range(int64_t begin, int64_t end, void *arg)
{
    check_job *j = arg;
    const walk *w = &j->w;
    int last = w->ndim - 1;
    int64_t inner = w->shape[last], si = w->sindex[last];
    uint64_t length = (uint64_t)w->length;
    while (begin < end) {
        int64_t row = begin / inner, x0 = begin % inner, x1 = x0 + (end - begin) < inner ? x0 + (end - begin) : inner;
        const int64_t *ix = j->index;
        for (int d = last - 1; d >= 0; d--) {
            ix += row % w->shape[d] * w->sindex[d];
            row /= w->shape[d];
        }
        /* v in [-length, length) */
        int64_t wrong = -1;
        for (int64_t x = x0; x < x1; x++)
            if ((uint64_t)ix[x * si] + length >= 2 * length) wrong = x;
        if (wrong >= 0) {
            tpi_note_bad(&j->bad, ix[wrong * si], w->dim, w->length);
            return;
        }
        begin += x1 - x0;
    }
}

static int check_all(const char *op, const walk *w, const tp_tensor *index)
{
    check_job j = {.w = *w, .index = tpi_data(index)};
    for (int i = 0; i < j.w.ndim; i++) j.w.sself[i] = j.w.sother[i] = j.w.sindex[i];
    walk_fold(&j.w);
    tpi_parallel_for(index->numel, 1 << 16, check_range, &j);
    return tpi_report_bad(op, &j.bad);
}

/* Zeros in out, which is contiguous, where a later entry of index means the same element of self. */
static int keep_last(tp_tensor *self, const walk *w, tp_tensor *index, tp_tensor *out)
{
    int64_t n = index->numel, strides[TPI_DIMS_CAP];
    int64_t *winner = tpi_alloc(sizeof *winner * (size_t)self->numel);
    int64_t *slot = tpi_alloc(sizeof *slot * (size_t)n);
    int rc = winner && slot ? 0 : tp_error_code();
    if (!rc) {
        tpi_contiguous_strides(self->ndim, self->shape, strides);
        int64_t at[TPI_DIMS_CAP] = {0};
        const int64_t *ix = tpi_data(index);
        for (int64_t i = 0; i < n; i++) {
            int64_t s = (*ix < 0 ? *ix + w->length : *ix) * strides[w->dim];
            for (int d = 0; d < index->ndim; d++)
                if (d != w->dim) s += at[d] * strides[d];
            slot[i] = s;
            winner[s] = i;
            for (int d = index->ndim - 1; d >= 0; d--) {
                ix += index->strides[d];
                if (++at[d] < index->shape[d]) break;
                ix -= index->strides[d] * index->shape[d];
                at[d] = 0;
            }
        }
        int size = tpi_esize(out->dtype);
        for (int64_t i = 0; i < n; i++)
            if (winner[slot[i]] != i) memset((char *)tpi_data(out) + i * size, 0, (size_t)size);
    }
    tpi_free(winner, sizeof *winner * (size_t)self->numel);
    tpi_free(slot, sizeof *slot * (size_t)n);
    return rc;
}

int k_gather(tp_call *c)
{
    tp_tensor *self = arg_t(&c->args[0]), *index = tpi_as_int64(arg_t(&c->args[2]));
    tp_tensor *out = index ? tpi_empty_like(index, self->dtype) : NULL;
    walk w;
    int rc = out ? walk_begin(&w, "gather", self, arg_i(&c->args[1]), index, out) : tp_error_code();
    if (!rc && out->numel) {
        gather_job j = {w, tpi_data(index), tpi_data(self), tpi_data(out), tpi_esize(self->dtype), {0}};
        walk_fold(&j.w);
        tpi_parallel_for(out->numel, 1 << 15, gather_range, &j);
        rc = tpi_report_bad("gather", &j.bad);
        if (!rc && arg_b(&c->args[3])) rc = keep_last(self, &w, index, out);
    }
    tp_release(index);
    if (rc) tp_release(out);
    else c->out[0] = out;
    return rc;
}

int k_scatter(tp_call *c)
{
    tp_tensor *self = arg_t(&c->args[0]), *src = arg_t(&c->args[3]);
    bool preset = c->out[0] != NULL;
    if (arg_b(&c->args[4]) && tpi_is_half(self->dtype) && src->dtype == self->dtype)
        return tpi_widened(c, 3, k_scatter);
    tp_tensor *index = tpi_as_int64(arg_t(&c->args[2])), *out = NULL, *target = preset ? c->out[0] : self;
    walk w;
    int rc = index ? 0 : tp_error_code();
    if (!rc && src->dtype != self->dtype)
        rc = tpi_fail(TP_ERR_TYPE, "scatter: src has dtype %s, self has %s", tp_dtype_name(src->dtype),
                      tp_dtype_name(self->dtype));
    if (!rc && preset) {
        tp_tensor *t = tpi_apart(index, target);
        tp_release(index);
        index = t;
        if (!index) rc = tp_error_code();
    }
    src = preset ? tpi_apart(src, target) : tpi_retain(src);
    if (!rc && !src) rc = tp_error_code();
    if (!rc) rc = walk_begin(&w, "scatter", target, arg_i(&c->args[1]), index, src);
    if (!rc && preset && index->numel) rc = check_all("scatter", &w, index);
    if (!rc && !(out = tpi_written(c))) rc = tp_error_code();
    if (!rc && !preset) rc = walk_begin(&w, "scatter", out, arg_i(&c->args[1]), index, src);
    if (!rc && index->numel) {
        scatter_job j = {w,
                         -1,
                         tpi_data(index),
                         tpi_data(src),
                         tpi_data(out),
                         out->dtype,
                         tpi_esize(out->dtype),
                         arg_b(&c->args[4]),
                         {0}};
        for (int i = 0; i < w.ndim; i++)
            if (i != w.dim && w.shape[i] > 1 && (j.split < 0 || w.shape[i] > w.shape[j.split])) j.split = i;
        int64_t n = j.split < 0 ? 1 : w.shape[j.split];
        tpi_parallel_for(n, (1 << 15) / (index->numel / n) + 1, scatter_range, &j);
        rc = tpi_report_bad("scatter", &j.bad);
    }
    tp_release(index);
    tp_release(src);
    if (!rc) c->out[0] = out;
    else if (!preset) tp_release(out);
    return rc;
}
