/* What batching rules and composites of the shape, index and creation families share. Internal. */
#ifndef TPI_RULES_SHAPE_UTIL_H
#define TPI_RULES_SHAPE_UTIL_H

#include "kernels/shape.h"
#include "levels/levels.h"

/* Where dimension d of the sample lies beside a batch dimension at b. */
static inline int physical(int d, int b) { return d < b ? d : d + 1; }

static inline int set_result(tp_batch_ctx *c, T t, int bdim)
{
    c->out[0] = t;
    c->out_bdim[0] = bdim;
    return 0;
}

/* Entry j of list argument i with its batch dimension first; one that has none is expanded to the batch if `full`. */
static inline T list_front(const tp_batch_ctx *c, int i, int j, bool full)
{
    T t = c->args[i].v.ts[j];
    if (!t) return NULL;
    int b = c->bdim[i][j];
    if (b >= 0) return x_movedim1(t, b, 0);
    if (!full) return t;
    int64_t shape[TPI_DIMS_CAP];
    shape[0] = c->size;
    tpi_copy_dims(shape + 1, t->shape, t->ndim);
    return x_expand_to(t, t->ndim + 1, shape);
}

/* Ends the scope of a composite with its result: the caller's reference, or the scope's error. */
static inline int scope_result(tpi_scope *s, tp_call *c, T t)
{
    tpi_retain(t);
    int rc = tpi_scope_close(s);
    if (rc) {
        tp_release(t);
        return rc;
    }
    return tpi_set_out(c, 0, t);
}

/* Lists that composites return. */
static inline int list_begin(tp_call *c, int64_t n)
{
    if (n < 0 || n > (int64_t)1 << 28)
        return tpi_fail(TP_ERR_VALUE, "%s: a list of %lld tensors", c->op->name, (long long)n);
    c->out = tpi_calloc(sizeof *c->out * (size_t)n);
    c->nout = c->out ? n : 0;
    return c->out ? 0 : tp_error_code();
}

#endif
