#include "kernels/iter.h"

#include "core/error.h"
#include "core/pool.h"
#include "kernels/kernels.h"

typedef struct plan {
    int nops, ndim;
    int64_t shape[TP_MAX_NDIM];
    int64_t stride[TPI_ITER_OPS][TP_MAX_NDIM];
    char *ptr[TPI_ITER_OPS];
    tpi_loop loop;
    void *ctx;
} plan;

/* Runs elements [begin, end) of the folded space, counted with dimension 0 innermost. */
static void run_range(int64_t begin, int64_t end, void *arg)
{
    const plan *p = arg;
    int64_t pos[TP_MAX_NDIM], inner[TPI_ITER_OPS];
    char *at[TPI_ITER_OPS];
    int64_t rest = begin;
    for (int k = 0; k < p->nops; k++) {
        at[k] = p->ptr[k];
        inner[k] = p->stride[k][0];
    }
    for (int d = 0; d < p->ndim; d++) {
        pos[d] = rest % p->shape[d];
        rest /= p->shape[d];
        for (int k = 0; k < p->nops; k++) at[k] += pos[d] * p->stride[k][d];
    }
    for (int64_t left = end - begin; left > 0;) {
        int64_t n = p->shape[0] - pos[0];
        if (n > left) n = left;
        p->loop(n, at, inner, p->ctx);
        left -= n;
        if (left == 0) break;
        for (int k = 0; k < p->nops; k++) at[k] -= pos[0] * inner[k];
        pos[0] = 0;
        for (int d = 1; d < p->ndim; d++) {
            for (int k = 0; k < p->nops; k++) at[k] += p->stride[k][d];
            if (++pos[d] < p->shape[d]) break;
            for (int k = 0; k < p->nops; k++) at[k] -= p->shape[d] * p->stride[k][d];
            pos[d] = 0;
        }
    }
}

/* Whether dimension a should lie inside dimension b: smaller steps in the first operand where they differ. */
static bool inside(int nops, int64_t (*stride)[TP_MAX_NDIM], int a, int b)
{
    for (int k = 0; k < nops; k++) {
        int64_t x = stride[k][a] < 0 ? -stride[k][a] : stride[k][a];
        int64_t y = stride[k][b] < 0 ? -stride[k][b] : stride[k][b];
        if (x == 0 || y == 0 || x == y) continue;
        return x < y;
    }
    return false;
}

static void swap_dims(int nops, int64_t *shape, int64_t (*stride)[TP_MAX_NDIM], int a, int b)
{
    int64_t t = shape[a];
    shape[a] = shape[b];
    shape[b] = t;
    for (int k = 0; k < nops; k++) {
        t = stride[k][a];
        stride[k][a] = stride[k][b];
        stride[k][b] = t;
    }
}

int tpi_iter_fold(int nops, int ndim, int64_t *shape, int64_t (*stride)[TP_MAX_NDIM])
{
    int n = 0;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 1) continue;
        if (n != d) {
            shape[n] = shape[d];
            for (int k = 0; k < nops; k++) stride[k][n] = stride[k][d];
        }
        n++;
    }
    for (int i = 0, j = n - 1; i < j; i++, j--) swap_dims(nops, shape, stride, i, j);
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && inside(nops, stride, j, j - 1); j--) swap_dims(nops, shape, stride, j, j - 1);
    int m = 0;
    for (int d = 1; d < n; d++) {
        bool adjacent = true;
        for (int k = 0; k < nops && adjacent; k++) adjacent = stride[k][d] == stride[k][m] * shape[m];
        if (adjacent) {
            shape[m] *= shape[d];
            continue;
        }
        m++;
        if (m != d) {
            shape[m] = shape[d];
            for (int k = 0; k < nops; k++) stride[k][m] = stride[k][d];
        }
    }
    return n ? m + 1 : 0;
}

static void run_plan(plan *p, int64_t numel)
{
    if (numel == 0) return;
    p->ndim = tpi_iter_fold(p->nops, p->ndim, p->shape, p->stride);
    if (p->ndim == 0) {
        p->ndim = 1;
        p->shape[0] = 1;
        for (int k = 0; k < p->nops; k++) p->stride[k][0] = 0;
    }
    /* A few elements a loop call cost more than strided access does. */
    if (p->shape[0] < 8) {
        int longest = 0;
        for (int d = 1; d < p->ndim; d++)
            if (p->shape[d] > p->shape[longest]) longest = d;
        if (p->shape[longest] >= 4 * p->shape[0]) swap_dims(p->nops, p->shape, p->stride, 0, longest);
    }
    tpi_parallel_for(numel, TPI_ITER_GRAIN, run_range, p);
}

void tpi_iterate(int nops, char *const *ptr, int ndim, const int64_t *shape, const int64_t *const *stride,
                 tpi_loop loop, void *ctx)
{
    plan p;
    int64_t numel = 1;
    p.nops = nops;
    p.ndim = ndim;
    p.loop = loop;
    p.ctx = ctx;
    for (int d = 0; d < ndim; d++) {
        p.shape[d] = shape[d];
        numel *= shape[d];
    }
    for (int k = 0; k < nops; k++) {
        p.ptr[k] = ptr[k];
        memcpy(p.stride[k], stride[k], (size_t)ndim * sizeof(int64_t));
    }
    run_plan(&p, numel);
}

/* Byte strides of t brought to the broadcast rank. */
static void broadcast_strides(const tp_tensor *t, int ndim, const int64_t *shape, int64_t *stride)
{
    int64_t size = tpi_esize(t->dtype);
    int lead = ndim - t->ndim;
    for (int d = 0; d < lead; d++) stride[d] = 0;
    for (int d = 0; d < t->ndim; d++)
        stride[lead + d] = t->shape[d] == 1 && shape[lead + d] != 1 ? 0 : t->strides[d] * size;
}

static void map_strided(tp_tensor *out, int nin, tp_tensor *const *in, tpi_loop loop, void *ctx)
{
    plan p;
    p.nops = nin + 1;
    p.ndim = out->ndim;
    p.loop = loop;
    p.ctx = ctx;
    memcpy(p.shape, out->shape, (size_t)out->ndim * sizeof(int64_t));
    p.ptr[0] = tpi_data(out);
    broadcast_strides(out, out->ndim, out->shape, p.stride[0]);
    for (int k = 0; k < nin; k++) {
        p.ptr[k + 1] = tpi_data(in[k]);
        broadcast_strides(in[k], out->ndim, out->shape, p.stride[k + 1]);
    }
    run_plan(&p, out->numel);
}

/* Result shape of any number of operands; points at one of theirs or into buf. */
static int common_shape(const char *op, int nin, tp_tensor *const *in, int *ndim, const int64_t **shape, int64_t *buf)
{
    *ndim = in[0]->ndim;
    *shape = in[0]->shape;
    for (int k = 1; k < nin; k++) {
        int n;
        int64_t next[TP_MAX_NDIM];
        int status = tpi_broadcast_shapes(op, *ndim, *shape, in[k]->ndim, in[k]->shape, &n, next);
        if (status) return status;
        memcpy(buf, next, (size_t)n * sizeof(int64_t));
        *ndim = n;
        *shape = buf;
    }
    return 0;
}

static inline bool same_shape(const tp_tensor *t, int ndim, const int64_t *shape)
{
    if (t->ndim != ndim) return false;
    for (int d = 0; d < ndim; d++)
        if (t->shape[d] != shape[d]) return false;
    return true;
}

/* Checks of a tensor that is written in place. *beside: the result has to be computed elsewhere first. */
static int check_preset(const char *op, tp_tensor *out, int out_dtype, int nin, tp_tensor *const *in, int ndim,
                        const int64_t *shape, bool *beside)
{
    if (!same_shape(out, ndim, shape))
        return tpi_fail(TP_ERR_VALUE, "%s: operands broadcast to %s, which does not fit the written tensor of shape %s",
                        op, tpi_shape_str(ndim, shape), tpi_str(out));
    int status = tpi_check_writable(op, out);
    if (status) return status;
    *beside = out->dtype != out_dtype;
    for (int k = 0; k < nin && !*beside; k++) *beside = in[k] != out && tpi_overlap(out, in[k]) == 1;
    return 0;
}

typedef struct flat {
    tpi_loop loop;
    void *ctx;
    int nops;
    char *ptr[TPI_ITER_OPS];
    int64_t stride[TPI_ITER_OPS];
} flat;

static void run_flat(int64_t begin, int64_t end, void *arg)
{
    const flat *f = arg;
    char *at[TPI_ITER_OPS];
    for (int k = 0; k < f->nops; k++) at[k] = f->ptr[k] + begin * f->stride[k];
    f->loop(end - begin, at, f->stride, f->ctx);
}

int tpi_map(const char *op, tp_tensor **out, int out_dtype, int nin, tp_tensor *const *in, tpi_loop loop, void *ctx)
{
    const tp_tensor *full = in[0];
    for (int k = 1; k < nin; k++)
        if (in[k]->ndim > full->ndim) full = in[k];
    bool same = true, packed = true;
    for (int k = 0; k < nin; k++) {
        if (in[k]->ndim == 0 || in[k] == full) continue;
        same = same && same_shape(in[k], full->ndim, full->shape);
        packed = packed && same && tpi_dense_is_contiguous(in[k]);
    }
    packed = packed && tpi_dense_is_contiguous(full);
    int ndim = full->ndim;
    const int64_t *shape = full->shape;
    int64_t buf[TP_MAX_NDIM];
    if (!same) {
        int status = common_shape(op, nin, in, &ndim, &shape, buf);
        if (status) return status;
    }
    tp_tensor *o = *out;
    if (o) {
        bool beside = false;
        int status = check_preset(op, o, out_dtype, nin, in, ndim, shape, &beside);
        if (status) return status;
        if (beside) {
            tp_tensor *tmp = NULL;
            status = tpi_map(op, &tmp, out_dtype, nin, in, loop, ctx);
            if (!status) status = tpi_dense_copy(o, tmp);
            tp_release(tmp);
            return status;
        }
        tpi_bump_version(o);
        packed = packed && tpi_dense_is_contiguous(o);
    } else {
        o = tpi_empty(out_dtype, ndim, shape);
        if (!o) return tp_error_code();
        *out = o;
    }
    if (!packed) {
        map_strided(o, nin, in, loop, ctx);
        return 0;
    }
    flat f;
    f.loop = loop;
    f.ctx = ctx;
    f.nops = nin + 1;
    f.ptr[0] = tpi_data(o);
    f.stride[0] = tpi_esize(out_dtype);
    for (int k = 0; k < nin; k++) {
        f.ptr[k + 1] = tpi_data(in[k]);
        f.stride[k + 1] = in[k]->ndim == 0 ? 0 : tpi_esize(in[k]->dtype);
    }
    if (o->numel <= TPI_ITER_GRAIN) {
        if (o->numel > 0) loop(o->numel, f.ptr, f.stride, ctx);
    } else {
        tpi_parallel_for(o->numel, TPI_ITER_GRAIN, run_flat, &f);
    }
    return 0;
}
