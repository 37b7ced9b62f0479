/* Derivative and batching rules of the four operators that index. Reading and adding are each other's adjoint; so are
 * writing without adding and reading with `last`.
 *
 * NOTE: mapped indices
 * Where only self is mapped, its batch dimension is one more that is not indexed. Where indices are mapped as well, it
 * is one more that is: by 0..B-1, along the batch dimension of the indices. Result dimensions that `pos` places are
 * those of the sample either way; the batch dimension leads. */
#include "kernels/index.h"
#include "rules/shape_util.h"
#include "tpi_ops.h"
#include "x_ops.h"

/* Arguments after the tensors, as index_dims and index_put_dims are called. */
#define INDICES(c) (c)->args[1].v.ts, (c)->args[1].n

static T zeros_for(T like) { return x_full_like(like, 0); }

int index_dims__vjp(tp_vjp_ctx *c)
{
    const tp_val *a = c->args;
    if (!c->need[0]) return 0;
    c->out[0] = x_index_put_dims(x_zeros_like(arg_t(&a[0])), INDICES(c), c->grads[0], a[2].v.ints, a[2].n, arg_i(&a[3]),
                                 arg_i(&a[4]), !arg_b(&a[5]));
    return 0;
}

int index_dims__jvp(tp_jvp_ctx *c)
{
    const tp_val *a = c->args;
    if (!c->tangents[0]) return 0;
    c->out[0] = x_index_dims(c->tangents[0], INDICES(c), a[2].v.ints, a[2].n, arg_i(&a[3]), arg_i(&a[4]), arg_b(&a[5]));
    return 0;
}

int index_put_dims__vjp(tp_vjp_ctx *c)
{
    const tp_val *a = c->args;
    T g = c->grads[0];
    bool add = arg_b(&a[6]);
    if (c->need[0])
        c->out[0] = add ? g
                        : x_index_put_dims(g, INDICES(c), zeros_for(arg_t(&a[2])), a[3].v.ints, a[3].n, arg_i(&a[4]),
                                           arg_i(&a[5]), false);
    if (c->need[2]) c->out[2] = x_index_dims(g, INDICES(c), a[3].v.ints, a[3].n, arg_i(&a[4]), arg_i(&a[5]), !add);
    return 0;
}

int index_put_dims__jvp(tp_jvp_ctx *c)
{
    const tp_val *a = c->args;
    T s = c->tangents[0], v = c->tangents[2];
    bool add = arg_b(&a[6]);
    if (!s && !v) return 0;
    if (!v && add) c->out[0] = s;
    else
        c->out[0] = x_index_put_dims(s ? s : x_zeros_like(arg_t(&a[0])), INDICES(c), v ? v : zeros_for(arg_t(&a[2])),
                                     a[3].v.ints, a[3].n, arg_i(&a[4]), arg_i(&a[5]), add);
    return 0;
}

/* 0..B-1 of shape [B, 1, ...]. */
static T batch_numbers(int64_t size, int rank)
{
    if (tpi_bad()) return NULL;
    int64_t shape[TPI_DIMS_CAP];
    shape[0] = size;
    for (int i = 1; i < rank; i++) shape[i] = 1;
    tp_tensor *t = tpi_empty(TP_INT64, rank, shape);
    if (t)
        for (int64_t i = 0; i < size; i++) ((int64_t *)tpi_data(t))[i] = i;
    return tpi_own(t);
}

/* Index lists and dimensions one level down. */
typedef struct lowered {
    bool mapped;                     /* some index is */
    int n;
    T index[TPI_DIMS_CAP];
    int64_t dims[TPI_DIMS_CAP];
} lowered;

static int lower_indices(tp_batch_ctx *c, const tp_val *dims, bool self_mapped, lowered *l)
{
    const tp_val *list = &c->args[1];
    int rank = 0;
    memset(l, 0, sizeof *l);
    if (list->n >= TP_MAX_NDIM) return tpi_fail(TP_ERR_VALUE, "index: too many indices");
    for (int j = 0; j < list->n; j++) {
        int b = c->bdim[1][j], r = list->v.ts[j]->ndim - (b >= 0);
        l->mapped |= b >= 0;
        if (r > rank) rank = r;
    }
    if (l->mapped && self_mapped) {
        l->index[l->n] = batch_numbers(c->size, rank + 1);
        l->dims[l->n++] = 0;
    }
    for (int j = 0; j < list->n; j++) {
        T t = list_front(c, 1, j, false);
        if (t && c->bdim[1][j] >= 0 && t->ndim < rank + 1) {
            int64_t shape[TPI_DIMS_CAP];
            int missing = rank + 1 - t->ndim;
            shape[0] = c->size;
            for (int i = 0; i < missing; i++) shape[1 + i] = 1;
            tpi_copy_dims(shape + 1 + missing, t->shape + 1, t->ndim - 1);
            t = x_view(t, shape, rank + 1);
        }
        l->index[l->n] = t;
        l->dims[l->n++] = dims->v.ints[j] + self_mapped;
    }
    return 0;
}

int index_dims__batch(tp_batch_ctx *c)
{
    const tp_val *a = c->args;
    lowered l;
    bool self_mapped = bdim_of(c, 0) >= 0;
    /* Which entry takes an element last is a question of one sample: samples must not share a self. */
    if (arg_b(&a[5]))
        for (int j = 0; j < a[1].n; j++) self_mapped |= c->bdim[1][j] >= 0;
    int rc = lower_indices(c, &a[2], self_mapped, &l);
    if (rc) return rc;
    int64_t pos = arg_i(&a[3]), lead = arg_i(&a[4]);
    T x = self_mapped ? tpi_batch_full(c, 0) : tpi_batch_front(c, 0);
    tpi_hidden_dims += self_mapped;
    T r = l.mapped ? x_index_dims(x, l.index, l.n, l.dims, l.n, pos, lead + 1, arg_b(&a[5]))
                   : x_index_dims(x, l.index, l.n, l.dims, l.n, pos + 1, lead, arg_b(&a[5]));
    tpi_hidden_dims -= self_mapped;
    return set_result(c, r, l.mapped ? 0 : (int)lead);
}

int index_put_dims__batch(tp_batch_ctx *c)
{
    const tp_val *a = c->args;
    lowered l;
    int rc = lower_indices(c, &a[3], true, &l);
    if (rc) return rc;
    int64_t pos = arg_i(&a[4]), lead = arg_i(&a[5]);
    T x = tpi_batch_full(c, 0), v = tpi_batch_full(c, 2);
    if (l.mapped) lead++;
    else {
        v = x_movedim1(v, 0, (int)lead);
        pos++;
    }
    tpi_hidden_dims++;
    T r = x_index_put_dims(x, l.index, l.n, v, l.dims, l.n, pos, lead, arg_b(&a[6]));
    tpi_hidden_dims--;
    return set_result(c, r, 0);
}

/* ---- gather, scatter ---- */

int gather_dim__vjp(tp_vjp_ctx *c)
{
    const tp_val *a = c->args;
    if (c->need[0])
        c->out[0] = x_scatter_dim(x_zeros_like(arg_t(&a[0])), arg_i(&a[1]), arg_t(&a[2]), c->grads[0], !arg_b(&a[3]));
    return 0;
}

int gather_dim__batch(tp_batch_ctx *c)
{
    const tp_val *a = c->args;
    T x = tpi_batch_full(c, 0), index = tpi_batch_full(c, 2);
    tpi_hidden_dims++;
    T r = x_gather_dim(x, arg_i(&a[1]) + 1, index, arg_b(&a[3]));
    tpi_hidden_dims--;
    return set_result(c, r, 0);
}

int scatter_dim__vjp(tp_vjp_ctx *c)
{
    const tp_val *a = c->args;
    T g = c->grads[0], index = arg_t(&a[2]);
    bool add = arg_b(&a[4]);
    if (c->need[0]) c->out[0] = add ? g : x_scatter_dim(g, arg_i(&a[1]), index, zeros_for(arg_t(&a[3])), false);
    if (c->need[3]) c->out[3] = x_gather_dim(g, arg_i(&a[1]), index, !add);
    return 0;
}

int scatter_dim__jvp(tp_jvp_ctx *c)
{
    const tp_val *a = c->args;
    T s = c->tangents[0], v = c->tangents[3];
    bool add = arg_b(&a[4]);
    if (!s && !v) return 0;
    if (!v && add) c->out[0] = s;
    else
        c->out[0] = x_scatter_dim(s ? s : x_zeros_like(arg_t(&a[0])), arg_i(&a[1]), arg_t(&a[2]),
                                  v ? v : zeros_for(arg_t(&a[3])), add);
    return 0;
}

int scatter_dim__batch(tp_batch_ctx *c)
{
    const tp_val *a = c->args;
    T x = tpi_batch_full(c, 0), index = tpi_batch_full(c, 2), src = tpi_batch_full(c, 3);
    tpi_hidden_dims++;
    T r = x_scatter_dim(x, arg_i(&a[1]) + 1, index, src, arg_b(&a[4]));
    tpi_hidden_dims--;
    return set_result(c, r, 0);
}
