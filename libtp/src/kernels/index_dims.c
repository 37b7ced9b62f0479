/* index_dims and index_put_dims.
 *
 * NOTE: the plan
 * The indices of one entry add up to an offset into self: `off`, one an entry of their broadcast shape I. With
 * I = lead dimensions (a) and the rest (c), and the dimensions of self that are not indexed before (b) and after (d)
 * `pos`, element [a, b, c, d] of the result is self[off[a, c] + before[b] + after[d]]. */
#include "kernels/index.h"
#include "tpi_ops.h"

_Thread_local int tpi_hidden_dims;

typedef struct plan {
    const char *op;
    int k, m, lead;                          /* indices, their broadcast rank, how many lead */
    int64_t ishape[TPI_DIMS_CAP];
    int64_t n, na, nb, nc, nd;               /* n = na * nc entries */
    int nbefore, nafter;
    int64_t bshape[TPI_DIMS_CAP], bstride[TPI_DIMS_CAP], dshape[TPI_DIMS_CAP], dstride[TPI_DIMS_CAP];
    int64_t stride[TPI_DIMS_CAP], size[TPI_DIMS_CAP];  /* of self along the indexed dimensions */
    int dim[TPI_DIMS_CAP];
    int64_t *off, *before, *after;           /* after NULL: a contiguous run */
    int ndim;                                /* of the result */
    int64_t shape[TPI_DIMS_CAP];
} plan;

static void plan_free(plan *p)
{
    tpi_free(p->off, sizeof(int64_t) * (size_t)p->n);
    tpi_free(p->before, sizeof(int64_t) * (size_t)p->nb);
    tpi_free(p->after, sizeof(int64_t) * (size_t)p->nd);
}

/* Offsets of all elements of (shape, strides) in row-major order. */
static void all_offsets(int64_t *out, int ndim, const int64_t *shape, const int64_t *strides, int64_t n)
{
    int64_t at[TPI_DIMS_CAP] = {0}, offset = 0;
    for (int64_t i = 0; i < n; i++) {
        out[i] = offset;
        for (int d = ndim - 1; d >= 0; d--) {
            offset += strides[d];
            if (++at[d] < shape[d]) break;
            offset -= strides[d] * shape[d];
            at[d] = 0;
        }
    }
}

/* Geometry of the call; no memory yet. */
static int plan_shape(plan *p, const char *op, tp_tensor *self, const tp_val *indices, const tp_val *dims, int64_t pos,
                      int64_t lead)
{
    memset(p, 0, sizeof *p);
    p->op = op;
    p->k = indices->n;
    p->lead = (int)lead;
    bool indexed[TPI_DIMS_CAP] = {false};
    int64_t joined[TPI_DIMS_CAP];
    int rc;
    if (p->k != dims->n || p->k == 0)
        return tpi_fail(TP_ERR_VALUE, "%s: %d indices for %d dimensions", op, p->k, dims->n);
    for (int j = 0; j < p->k; j++) {
        tp_tensor *t = indices->v.ts[j];
        int64_t d = dims->v.ints[j];
        if (!t || d < 0 || d >= self->ndim)
            return tpi_fail(TP_ERR_INDEX, "%s: no index for dimension %lld", op, (long long)d);
        if ((rc = tpi_broadcast_shapes(op, p->m, p->ishape, t->ndim, t->shape, &p->m, joined))) return rc;
        tpi_copy_dims(p->ishape, joined, p->m);
        p->dim[j] = (int)d;
        p->size[j] = self->shape[d];
        p->stride[j] = self->strides[d];
        indexed[d] = true;
    }
    p->na = p->nb = p->nc = p->nd = 1;
    for (int i = 0; i < p->m; i++) *(i < lead ? &p->na : &p->nc) *= p->ishape[i];
    p->n = p->na * p->nc;
    for (int i = 0, r = 0; i < self->ndim; i++) {
        if (indexed[i]) continue;
        if (r++ < pos) {
            p->bshape[p->nbefore] = self->shape[i];
            p->bstride[p->nbefore++] = self->strides[i];
            p->nb *= self->shape[i];
        } else {
            p->dshape[p->nafter] = self->shape[i];
            p->dstride[p->nafter++] = self->strides[i];
            p->nd *= self->shape[i];
        }
    }
    p->ndim = p->m + p->nbefore + p->nafter;
    if ((rc = tpi_check_rank(op, p->ndim))) return rc;
    int64_t *s = p->shape, numel;
    tpi_copy_dims(s, p->ishape, p->lead);
    tpi_copy_dims(s + p->lead, p->bshape, p->nbefore);
    tpi_copy_dims(s + p->lead + p->nbefore, p->ishape + p->lead, p->m - p->lead);
    tpi_copy_dims(s + p->m + p->nbefore, p->dshape, p->nafter);
    return tpi_numel(op, p->ndim, s, &numel);
}

/* off[i] = sum over the indices of index * stride, checked and wrapped. */
static int add_offsets(const plan *p, const tp_val *indices, const int64_t *stride, int64_t *off)
{
    memset(off, 0, sizeof *off * (size_t)p->n);
    for (int j = 0; j < p->k && p->n; j++) {
        tp_tensor *t = tpi_as_int64(indices->v.ts[j]);
        if (!t) return tp_error_code();
        int64_t step[TPI_DIMS_CAP], size = p->size[j], by = stride[j], at[TPI_DIMS_CAP] = {0};
        for (int i = 0; i < p->m; i++) {
            int k = i - (p->m - t->ndim);
            step[i] = k < 0 || t->shape[k] == 1 ? 0 : t->strides[k];
        }
        const int64_t *row = tpi_data(t);
        int64_t inner = p->m ? p->ishape[p->m - 1] : 1, s = p->m ? step[p->m - 1] : 0;
        tpi_bad_index bad = {0};
        for (int64_t i = 0; i < p->n; i += inner) {
            int64_t wrong = -1;
            for (int64_t x = 0; x < inner; x++) {
                int64_t v = row[x * s];
                v += v < 0 ? size : 0;
                if ((uint64_t)v >= (uint64_t)size) wrong = x;
                off[i + x] += (int64_t)((uint64_t)v * (uint64_t)by);
            }
            if (wrong >= 0) {
                tpi_note_bad(&bad, row[wrong * s], p->dim[j], size);
                break;
            }
            for (int d = p->m - 2; d >= 0; d--) {
                row += step[d];
                if (++at[d] < p->ishape[d]) break;
                row -= step[d] * p->ishape[d];
                at[d] = 0;
            }
        }
        tp_release(t);
        if (bad.found) return tpi_report_bad(p->op, &bad);
    }
    return 0;
}

static int plan_offsets(plan *p, const tp_val *indices)
{
    p->off = tpi_alloc(sizeof(int64_t) * (size_t)p->n);
    p->before = tpi_alloc(sizeof(int64_t) * (size_t)p->nb);
    if (!p->off || !p->before) return tp_error_code();
    all_offsets(p->before, p->nbefore, p->bshape, p->bstride, p->nb);
    int64_t run = 1;
    bool contiguous = true;
    for (int i = p->nafter - 1; i >= 0; i--) {
        if (p->dshape[i] != 1 && p->dstride[i] != run) contiguous = false;
        run *= p->dshape[i];
    }
    if (!contiguous) {
        if (!(p->after = tpi_alloc(sizeof(int64_t) * (size_t)p->nd))) return tp_error_code();
        all_offsets(p->after, p->nafter, p->dshape, p->dstride, p->nd);
    }
    return add_offsets(p, indices, p->stride, p->off);
}

/* ---- reading ---- */

typedef struct take_job {
    const plan *p;
    const char *src;
    char *dst;
    int size;
} take_job;

/* Entries begin..end of [a, b, c]. */
static void take_range(int64_t begin, int64_t end, void *arg)
{
    const take_job *j = arg;
    const plan *p = j->p;
    int64_t size = j->size, run = p->nd * size, nc = p->nc, nb = p->nb;
    while (begin < end) {
        int64_t ab = begin / nc, c0 = begin % nc, c1 = c0 + (end - begin) < nc ? c0 + (end - begin) : nc;
        const int64_t *off = p->off + ab / nb * nc;
        const char *src = j->src + p->before[ab % nb] * size;
        char *dst = j->dst + begin * run;
        if (p->nd == 1) {
#define TAKE(UNIT)                                                                         \
    for (int64_t c = c0; c < c1; c++) ((UNIT *)dst)[c - c0] = ((const UNIT *)src)[off[c]];
            TPI_BY_SIZE(size, TAKE)
#undef TAKE
        } else if (!p->after) {
            for (int64_t c = c0; c < c1; c++, dst += run) memcpy(dst, src + off[c] * size, (size_t)run);
        } else {
#define TAKE(UNIT)                                                                                        \
    for (int64_t c = c0; c < c1; c++, dst += run)                                                         \
        for (int64_t d = 0; d < p->nd; d++) ((UNIT *)dst)[d] = ((const UNIT *)src)[off[c] + p->after[d]];
            TPI_BY_SIZE(size, TAKE)
#undef TAKE
        }
        begin += c1 - c0;
    }
}

/* One index, one element each: checked while it is read, without a table of offsets. */
typedef struct simple_job {
    const int64_t *index;
    const char *src;
    char *dst;
    int64_t step, stride, length;
    int size, dim;
    tpi_bad_index bad;
} simple_job;

static void simple_range(int64_t begin, int64_t end, void *arg)
{
    simple_job *j = arg;
    int64_t wrong = -1;
#define TAKE(UNIT)                                                  \
    for (int64_t i = begin; i < end; i++) {                         \
        int64_t v = j->index[i * step];                             \
        v += v < 0 ? length : 0;                                    \
        if (__builtin_expect((uint64_t)v >= (uint64_t)length, 0)) { \
            wrong = i;                                              \
            break;                                                  \
        }                                                           \
        ((UNIT *)j->dst)[i] = ((const UNIT *)j->src)[v * stride];   \
    }
    int64_t step = j->step, stride = j->stride, length = j->length;
    TPI_BY_SIZE(j->size, TAKE)
#undef TAKE
    if (wrong >= 0) tpi_note_bad(&j->bad, j->index[wrong * step], j->dim, length);
}

/* Zeros where a later entry has the same indices. */
static int keep_last(const plan *p, const tp_val *indices, tp_tensor *out)
{
    int64_t stride[TPI_DIMS_CAP], slots = 1;
    for (int j = p->k - 1; j >= 0; j--) {
        stride[j] = slots;
        if (__builtin_mul_overflow(slots, p->size[j], &slots))
            return tpi_fail(TP_ERR_VALUE, "%s: the indexed dimensions are too large", p->op);
    }
    int64_t *slot = tpi_alloc(sizeof *slot * (size_t)p->n), *winner = tpi_alloc(sizeof *winner * (size_t)slots);
    int rc = slot && winner ? add_offsets(p, indices, stride, slot) : tp_error_code();
    int64_t run = p->nd * tpi_esize(out->dtype);
    if (!rc) {
        for (int64_t i = 0; i < p->n; i++) winner[slot[i]] = i;
        for (int64_t i = 0; i < p->n; i++) {
            if (winner[slot[i]] == i) continue;
            int64_t a = i / p->nc, c = i % p->nc;
            for (int64_t b = 0; b < p->nb; b++)
                memset((char *)tpi_data(out) + ((a * p->nb + b) * p->nc + c) * run, 0, (size_t)run);
        }
    }
    tpi_free(slot, sizeof *slot * (size_t)p->n);
    tpi_free(winner, sizeof *winner * (size_t)slots);
    return rc;
}

int k_index_dims(tp_call *c)
{
    const tp_val *a = c->args;
    tp_tensor *self = arg_t(&a[0]);
    plan p;
    int rc = plan_shape(&p, "index", self, &a[1], &a[2], arg_i(&a[3]), arg_i(&a[4]));
    if (rc) return rc;
    bool last = arg_b(&a[5]);
    tp_tensor *out = tpi_empty(self->dtype, p.ndim, p.shape);
    if (!out) return tp_error_code();
    tp_tensor *only = a[1].v.ts[0];
    if (p.k == 1 && p.nb == 1 && p.nd == 1 && p.lead == 0 && !last && (only->ndim <= 1 || tpi_contiguous(only))) {
        tp_tensor *t = tpi_as_int64(only);
        rc = t ? 0 : tp_error_code();
        if (t) {
            simple_job j = {tpi_data(t), tpi_data(self), tpi_data(out),          t->ndim == 1 ? t->strides[0] : 1,
                            p.stride[0], p.size[0],      tpi_esize(self->dtype), p.dim[0],
                            {0}};
            tpi_parallel_for(p.n, 1 << 15, simple_range, &j);
            rc = tpi_report_bad("index", &j.bad);
            tp_release(t);
        }
    } else if (!(rc = plan_offsets(&p, &a[1])) && out->numel) {
        take_job j = {&p, tpi_data(self), tpi_data(out), tpi_esize(self->dtype)};
        tpi_parallel_for(p.na * p.nb * p.nc, (1 << 15) / p.nd + 1, take_range, &j);
        if (last) rc = keep_last(&p, &a[1], out);
    }
    plan_free(&p);
    if (rc) tp_release(out);
    else c->out[0] = out;
    return rc;
}

/* ---- writing ----
 * Entries are written in order, so that the last of several for one element remains and sums do not depend on the
 * number of threads: threads share the dimensions that are not indexed. */

typedef struct put_job {
    const plan *p;
    const char *src;
    char *dst;
    int64_t step;      /* of src in elements: 1, or 0 for one value everywhere */
    int dtype, size;
    bool add, over_b;  /* what the range counts: b, or d */
} put_job;

#define PUT(T, STORE)                                                                                              \
    if (nd == 1) {                                                                                                 \
        for (int64_t c = 0; c < nc; c++) STORE(((T *)dst)[off[c]], ((const T *)src)[c * step])                     \
    } else if (!after) {                                                                                           \
        for (int64_t c = 0; c < nc; c++)                                                                           \
            for (int64_t d = d0; d < d1; d++) STORE(((T *)dst)[off[c] + d], ((const T *)src)[(c * nd + d) * step]) \
    } else {                                                                                                       \
        for (int64_t c = 0; c < nc; c++)                                                                           \
            for (int64_t d = d0; d < d1; d++)                                                                      \
                STORE(((T *)dst)[off[c] + after[d]], ((const T *)src)[(c * nd + d) * step])                        \
    }
#define MOVE(T) PUT(T, TPI_STORE_SET)

static void put_block(const put_job *j, int64_t b0, int64_t b1, int64_t d0, int64_t d1)
{
    const plan *p = j->p;
    int64_t nc = p->nc, nd = p->nd, step = j->step;
    for (int64_t a = 0; a < p->na; a++)
        for (int64_t b = b0; b < b1; b++) {
            const int64_t *off = p->off + a * nc, *after = p->after;
            char *dst = j->dst + p->before[b] * j->size;
            const char *src = j->src + (a * p->nb + b) * nc * nd * step * j->size;
            if (j->add) {
                TPI_BY_SUM(j->dtype, PUT)
            } else {
                TPI_BY_SIZE(j->size, MOVE)
            }
        }
}

static void put_range(int64_t begin, int64_t end, void *arg)
{
    const put_job *j = arg;
    if (j->over_b) put_block(j, begin, end, 0, j->p->nd);
    else put_block(j, 0, j->p->nb, begin, end);
}

int k_index_put_dims(tp_call *c)
{
    const tp_val *a = c->args;
    tp_tensor *self = arg_t(&a[0]), *values = arg_t(&a[2]);
    bool preset = c->out[0] != NULL;
    plan p;
    if (arg_b(&a[6]) && tpi_is_half(self->dtype) && values->dtype == self->dtype)
        return tpi_widened(c, 2, k_index_put_dims);
    tp_tensor *out = NULL, *src = NULL, *indices[TPI_DIMS_CAP];
    int held = 0, rc;
    tp_val list = {.tag = TPI_TENSORS, .n = a[1].n, .v.ts = indices};
    if (a[1].n > TP_MAX_NDIM) return tpi_fail(TP_ERR_VALUE, "index_put: too many indices");
    /* The geometry is that of what is written, which need not be self's. */
    if ((rc = plan_shape(&p, "index_put", preset ? c->out[0] : self, &a[1], &a[3], arg_i(&a[4]), arg_i(&a[5]))))
        return rc;
    if (values->ndim != p.ndim || memcmp(values->shape, p.shape, sizeof(int64_t) * (size_t)p.ndim) ||
        values->dtype != self->dtype)
        return tpi_fail(
            TP_ERR_VALUE, "index_put: values of shape %s and dtype %s for elements of shape %s and dtype %s",
            tpi_str(values), tp_dtype_name(values->dtype), tpi_shape_str(p.ndim, p.shape), tp_dtype_name(self->dtype));
    if (preset) { /* before anything is written */
        for (; held < a[1].n; held++)
            if (!(indices[held] = tpi_apart(a[1].v.ts[held], c->out[0]))) goto done;
        if (!(src = tpi_apart(values, c->out[0]))) goto done;
    } else {
        list = a[1];
        src = tpi_retain(values);
    }
    bool uniform = tpi_is_uniform(src);
    if (!uniform) {
        tp_tensor *t = tpi_dense_contiguous(src);
        tp_release(src);
        if (!(src = t)) goto done;
    }
    /* Indices are checked before the first write: a failing call changes nothing. */
    if (preset && plan_offsets(&p, &list)) goto done;
    if (!(out = tpi_written(c))) goto done;
    if (!preset) {
        plan_shape(&p, "index_put", out, &list, &a[3], arg_i(&a[4]), arg_i(&a[5]));
        if (plan_offsets(&p, &list)) goto done;
    }
    if (values->numel) {
        put_job j = {&p,         tpi_data(src),         tpi_data(out), uniform ? 0 : 1,
                     out->dtype, tpi_esize(out->dtype), arg_b(&a[6]),  p.nb > 1};
        int64_t work = p.n * (j.over_b ? p.nd : p.nb);
        tpi_parallel_for(j.over_b ? p.nb : p.nd, (1 << 15) / work + 1, put_range, &j);
    }
    c->out[0] = out;
    out = NULL;
    rc = 0;
    goto release;
done:
    rc = tp_error_code();
release:
    if (!preset) tp_release(out);
    for (int i = 0; i < held; i++) tp_release(indices[i]);
    tp_release(src);
    plan_free(&p);
    return rc;
}
