/* The vmap interpreter: batched handles, and the classes of batching rules. */
#include "levels/graph.h"
#include "levels/levels.h"
#include "tpi_ops.h"
#include "x_ops.h"

tp_tensor *tpi_batched_new(tp_tensor *value, uint64_t level, int bdim)
{
    tp_tensor *t = value ? tpi_handle_new(value->ndim - 1) : NULL;
    if (!t) {
        tp_release(value);
        return NULL;
    }
    t->kind = TPI_BATCHED;
    t->level = level;
    t->dtype = value->dtype;
    t->value = value;
    t->bdim = bdim;
    t->origin = TP_ORIGIN_VMAP;
    t->numel = 1;
    for (int i = 0, k = 0; i < value->ndim; i++) {
        if (i == bdim) continue;
        t->shape[k] = value->shape[i];
        t->strides[k] = value->strides[i];
        t->numel *= value->shape[i];
        k++;
    }
    return t;
}

int tpi_vmap_interpret(const tpi_level_ref *l, uint64_t id, const tp_op *op, tp_val *args, tp_tensor **out)
{
    if (!op->batch) {
        /* nonzero, and unique_rows, which unique and unique_consecutive are made of */
        const char *rows = strstr(op->name, "_rows"), *reason = "";
        int shown = rows ? (int)(rows - op->name) : (int)strlen(op->name);
        if (!(op->flags & TPI_OP_CUSTOM))
            reason = rows ? " (its result's shape depends on the data: sort, and compare neighbours)"
                          : " (its result's shape depends on the data: see nonzero_static)";
        return tpi_fail(TP_ERR_NOT_IMPLEMENTED, "Kernel not found for op: %.*s on backend: VmapCPU%s", shown, op->name,
                        reason);
    }
    tp_val mine[TPI_MAX_ARGS];
    int32_t *bdim[TPI_MAX_ARGS] = {NULL}, one[TPI_MAX_ARGS];
    int nlist = 0;
    for (int i = 0; i < op->nargs; i++)
        if (args[i].tag == TPI_TENSORS) nlist += args[i].n;
    tp_tensor *few_t[16], **lists = few_t;
    int32_t few_b[16], *dims = few_b;
    if (nlist > 16) {
        lists = malloc((sizeof *lists + sizeof *dims) * (size_t)nlist);
        if (!lists) return tpi_fail(TP_ERR_MEMORY, "out of memory: %s", op->name);
        dims = (int32_t *)(lists + nlist);
    }
    for (int i = 0, used = 0; i < op->nargs; i++) {
        mine[i] = args[i];
        if (args[i].tag == TPI_TENSOR) {
            tp_tensor *t = args[i].v.t;
            bool here = t->level == id;
            one[i] = here ? t->bdim : -1;
            bdim[i] = &one[i];
            if (here) {
                mine[i].v.t = t->value;
                int rc = tpi_fresh(t->value);
                if (rc) {
                    if (lists != few_t) free(lists);
                    return rc;
                }
            }
        } else if (args[i].tag == TPI_TENSORS) {
            mine[i].v.ts = lists + used;
            bdim[i] = dims + used;
            for (int j = 0; j < args[i].n; j++) {
                tp_tensor *t = args[i].v.ts[j];
                bool here = t && t->level == id;
                lists[used + j] = here ? t->value : t;
                dims[used + j] = here ? t->bdim : -1;
            }
            used += args[i].n;
        }
    }
    int32_t out_bdim[TPI_MAX_OUTS];
    tp_tensor *res[TPI_MAX_OUTS] = {NULL};
    for (int k = 0; k < op->nouts; k++) out_bdim[k] = -1;
    tp_batch_ctx c = {op, mine, bdim, l->level->batch, res, out_bdim, op->nouts};
    tpi_scope scope;
    tpi_scope_open(&scope);
    int rc = op->batch(&c);
    if (!rc) rc = scope.failed;
    for (int k = 0; k < op->nouts && !rc; k++) {
        if (!res[k]) {
            rc = tpi_fail(TP_ERR_RUNTIME, "%s: the batching rule gave no result", op->name);
            break;
        }
        tpi_retain(res[k]);
        out[k] = out_bdim[k] < 0 ? res[k] : tpi_batched_new(res[k], id, out_bdim[k]);
        if (!out[k]) rc = TP_ERR_MEMORY;
    }
    tpi_scope_close(&scope);
    if (lists != few_t) free(lists);
    return rc;
}

/* ---- for rules ---- */

int tpi_nsample(const tp_batch_ctx *c, int i)
{
    tp_tensor *t = arg_t(&c->args[i]);
    return t ? t->ndim - (bdim_of(c, i) >= 0) : 0;
}

T tpi_batch_front(tp_batch_ctx *c, int i)
{
    T t = arg_t(&c->args[i]);
    int b = bdim_of(c, i);
    return b > 0 ? x_movedim1(t, b, 0) : t;
}

T tpi_batch_full(tp_batch_ctx *c, int i)
{
    T t = arg_t(&c->args[i]);
    if (!t || bdim_of(c, i) >= 0) return tpi_batch_front(c, i);
    int64_t shape[TP_MAX_NDIM + 1];
    if (t->ndim == TP_MAX_NDIM)
        return tpi_rule_fail(TP_ERR_VALUE, "%s: more than %d dimensions", c->op->name, TP_MAX_NDIM);
    shape[0] = c->size;
    memcpy(shape + 1, t->shape, sizeof(int64_t) * t->ndim);
    return x_expand_to(t, t->ndim + 1, shape);
}

/* Elementwise with broadcasting: the batch dimension goes to the front, and a sample of lower rank gets ones behind
 * it, so that samples align from the right. A result is contiguous as each sample sees it, whatever the operands are,
 * so what a loop could view can be viewed. Nothing is done where it is in front already. */
int tpi_batch_broadcast(tp_batch_ctx *c)
{
    int rank = 0;
    bool agree = true;
    for (int i = 0; i < c->op->nargs; i++) {
        if (c->args[i].tag != TPI_TENSOR) continue;
        int n = tpi_nsample(c, i);
        if (n > rank) rank = n;
    }
    for (int i = 0; i < c->op->nargs; i++) {
        if (c->args[i].tag != TPI_TENSOR) continue;
        int b = bdim_of(c, i), n = tpi_nsample(c, i);
        if (b < 0) agree &= n == 0;
        else agree &= n == rank && b == 0;
    }
    if (!agree)
        for (int i = 0; i < c->op->nargs; i++) {
            if (c->args[i].tag != TPI_TENSOR || bdim_of(c, i) < 0) continue;
            T t = tpi_batch_front(c, i);
            int n = tpi_nsample(c, i);
            if (t && n < rank) {
                int64_t shape[TP_MAX_NDIM];
                shape[0] = t->shape[0];
                for (int k = 0; k < rank - n; k++) shape[1 + k] = 1;
                memcpy(shape + 1 + rank - n, t->shape + 1, sizeof(int64_t) * (size_t)n);
                t = x_view(t, shape, rank + 1);
            }
            c->args[i].v.t = t;
        }
    int rc = tpi_rule_call(c->op, c->args, c->out);
    for (int k = 0; k < c->nout; k++) c->out_bdim[k] = 0;
    return rc;
}

static int arg_named(const tp_op *op, const char *name)
{
    for (int i = 0; i < op->nargs; i++)
        if (!strcmp(op->args[i].name, name)) return i;
    return -1;
}

/* Operators of one tensor with a non-negative `dim` (an int or a list): one to the right. */
int tpi_batch_reduce(tp_batch_ctx *c)
{
    int d = arg_named(c->op, "dim");
    int64_t dims[TP_MAX_NDIM];
    if (d >= 0 && c->args[d].tag == TPI_INT) c->args[d].v.i++;
    else if (d >= 0 && c->args[d].tag == TPI_INTS) {
        for (int i = 0; i < c->args[d].n; i++) dims[i] = c->args[d].v.ints[i] + 1;
        c->args[d].v.ints = dims;
    }
    for (int i = 0; i < c->op->nargs; i++)
        if (c->args[i].tag == TPI_TENSOR) c->args[i].v.t = tpi_batch_full(c, i);
    int rc = tpi_rule_call(c->op, c->args, c->out);
    for (int k = 0; k < c->nout; k++) c->out_bdim[k] = 0;
    return rc;
}

int tpi_batch_view(tp_batch_ctx *c) { return tpi_batch_reduce(c); }

/* Operators that treat leading dimensions as a batch of their own: every tensor gets the batch dimension in front. */
int tpi_batch_leading(tp_batch_ctx *c)
{
    for (int i = 0; i < c->op->nargs; i++)
        if (c->args[i].tag == TPI_TENSOR) c->args[i].v.t = tpi_batch_full(c, i);
    int rc = tpi_rule_call(c->op, c->args, c->out);
    for (int k = 0; k < c->nout; k++) c->out_bdim[k] = 0;
    return rc;
}

/* Operators whose first argument has a batch dimension of its own at the front (N of NCHW) and whose other tensors
 * are shared: [B, N, ...] -> [B*N, ...]. With other tensors batched the operator needs a rule of its own. */
int tpi_batch_fold(tp_batch_ctx *c)
{
    T x = tpi_batch_full(c, 0);
    if (tpi_bad()) return tpi_scope_top->failed;
    for (int i = 1; i < c->op->nargs; i++)
        if (c->args[i].tag == TPI_TENSOR && bdim_of(c, i) >= 0)
            return tpi_fail(TP_ERR_NOT_IMPLEMENTED, "%s: argument '%s' cannot be mapped by folding", c->op->name,
                            c->op->args[i].name);
    int64_t shape[TP_MAX_NDIM], b = x->shape[0], n = x->shape[1];
    shape[0] = b * n;
    memcpy(shape + 1, x->shape + 2, sizeof(int64_t) * (size_t)(x->ndim - 2));
    c->args[0].v.t = x_reshape_to(x, x->ndim - 1, shape);
    int rc = tpi_rule_call(c->op, c->args, c->out);
    for (int k = 0; k < c->nout && !rc; k++) {
        T r = c->out[k];
        shape[0] = b;
        shape[1] = n;
        memcpy(shape + 2, r->shape + 1, sizeof(int64_t) * (size_t)(r->ndim - 1));
        c->out[k] = x_reshape_to(r, r->ndim + 1, shape);
        c->out_bdim[k] = 0;
    }
    return rc ? rc : tpi_scope_top->failed;
}

/* ---- wrapping and unwrapping ---- */

tp_tensor *tp_batch_wrap(tp_tensor *t, uint64_t level, int bdim)
{
    if (bdim < 0 || bdim >= t->ndim)
        return tpi_null(TP_ERR_VALUE, "vmap: in_dim %d is out of range for a tensor of shape %s", bdim, tpi_str(t));
    tpi_level_ref l;
    if (tpi_level_find(level, t, &l)) return NULL;
    if (l.kind != TP_LEVEL_VMAP || l.level->batch != t->shape[bdim])
        return tpi_null(TP_ERR_VALUE, "vmap: dimension %d of shape %s is not the batch size", bdim, tpi_str(t));
    return tpi_batched_new(tpi_alias(t), level, bdim);
}

tp_tensor *tp_batch_unwrap(tp_tensor *t, uint64_t level, int out_dim)
{
    if (tpi_fresh(t)) return NULL;
    tpi_level_ref l;
    if (tpi_level_find(level, t, &l) || !(t = tpi_peel_ambient(t, level))) return NULL;
    if (t->level > level) return tpi_null(TP_ERR_RUNTIME, "vmap: an output belongs to an inner transform");
    if (out_dim < 0 || out_dim > t->ndim)
        return tpi_null(TP_ERR_VALUE, "vmap: out_dim %d is out of range for a sample of shape %s", out_dim, tpi_str(t));
    tpi_scope scope;
    tpi_scope_open(&scope);
    T r;
    if (t->level == level) {
        tpi_fresh(t->value);
        r = x_movedim1(t->value, t->bdim, out_dim);
    } else { /* the same for every sample: copies, as stacking them would make */
        int64_t shape[TP_MAX_NDIM + 1];
        int n = t->ndim + 1;
        for (int i = 0, k = 0; i < n; i++) shape[i] = i == out_dim ? l.level->batch : t->shape[k++];
        r = x_clone(x_expand_to(x_unsqueeze_at(t, out_dim), n, shape));
    }
    tpi_retain(r);
    if (tpi_scope_close(&scope)) {
        tp_release(r);
        return NULL;
    }
    return r;
}

int tp_batch_dim(tp_tensor *t, uint64_t level)
{
    if (tpi_fresh(t) || !(t = tpi_peel_ambient(t, level))) return -1;
    return t->kind == TPI_BATCHED && t->level == level ? t->bdim : -1;
}
