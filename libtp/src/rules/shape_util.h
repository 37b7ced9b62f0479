/* What batching rules and composites of the shape, index and creation families share. Internal. */
#ifndef TPI_RULES_SHAPE_UTIL_H
#define TPI_RULES_SHAPE_UTIL_H

#include <string.h>

#include "kernels/shape.h"
#include "levels/levels.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

static inline T plus(T a, T b) { return x_add(a, b, &tpi_one); }
static inline T minus(T a, T b) { return x_sub(a, b, &tpi_one); }

/* Sums of terms that may be absent (NULL: zero), as rules have them. */
static inline T sum_of(T a, T b) { return !a ? b : !b ? a : plus(a, b); }
static inline T difference_of(T a, T b) { return !a ? x_neg(b) : !b ? a : minus(a, b); }

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

/* Integers and bool as the default dtype. */
static inline T tpi_floating(T x)
{
    return x && !tpi_is_differentiable(x->dtype) ? x_to_dtype(x, tp_get_default_dtype()) : x;
}

/* A 1-d tensor along dimension d of n. */
static inline T tpi_along(T v, int n, int d)
{
    int64_t shape[TPI_DIMS_CAP];
    if (!v) return NULL;
    for (int i = 0; i < n; i++) shape[i] = i == d ? v->shape[0] : 1;
    return x_reshape_to(v, n, shape);
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

/* The same with two results. */
static inline int scope_results(tpi_scope *s, tp_call *c, T a, T b)
{
    tpi_retain(a);
    tpi_retain(b);
    int rc = tpi_scope_close(s);
    if (rc) {
        tp_release(a);
        tp_release(b);
        return rc;
    }
    c->out[0] = a;
    c->out[1] = b;
    return 0;
}

/* Whether a level of vmap maps t: its values, and so anything read from them, differ from sample to sample. */
static inline bool is_mapped(const tp_tensor *t)
{
    for (; t->level; t = t->value)
        if (t->kind == TPI_BATCHED) return true;
    return false;
}

/* Which of n words it is; -1: none. */
static inline int tpi_word(const char *word, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0) return i;
    return -1;
}

/* One entry of a list of sizes, or one for each of nd dimensions, into out. RuntimeError below `least`. */
int tpi_read_sizes(const char *op, const char *name, const tp_val *a, int nd, int64_t least, int64_t *out);

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
