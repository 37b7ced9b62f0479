/* NOTE: writing
 * Every mutation of a tensor that some level sees ends in copy_. At the highest level among dst and src:
 *   none      memory is written through;
 *   vmap      a dst that is not batched must have been made inside this vmap: its root takes the batch dimension
 *             (all its views follow on their next use); then the values are written one level down;
 *   reverse   the value is written one level down. A root that is written whole takes src's history; through a view,
 *             the root gets a TPI_NODE_WRITE node: the cotangent outside the view goes on to its old history, that
 *             inside to src's;
 *   forward   likewise for the tangent.
 * Tensors captured from outside the level become plain again when it ends. */
#include "dispatch/op.h"

#include "kernels/kernels.h"
#include "levels/graph.h"
#include "levels/levels.h"
#include "tpi_ops.h"
#include "x_ops.h"

_Thread_local const char *tpi_writing;

static const char *writing(void) { return tpi_writing ? tpi_writing : "copy"; }

static int write_at(tp_tensor *dst, tp_tensor *src);

/* The content of root becomes that of `made`, whose value is what root held. */
static void replace(tp_tensor *root, tp_tensor *made)
{
    tpi_content_move(root, made);
    root->gen++;
}

static int write_vmap(const tpi_level_ref *l, uint64_t id, tp_tensor *dst, tp_tensor *src)
{
    int rc = TP_OK;
    if (dst->level != id) {
        tp_tensor *root = tpi_root(dst);
        if (root->birth < id)
            return tpi_fail(
                TP_ERR_RUNTIME,
                "%s_: a tensor of shape %s that was captured from outside vmap cannot take a mapped value of "
                "shape %s: no order of the samples is defined; use the out-of-place form %s",
                writing(), tpi_str(dst), tpi_str(src), tpi_writing ? tpi_writing : "(where, index_put)");
        tpi_scope scope;
        tpi_scope_open(&scope);
        int64_t shape[TP_MAX_NDIM + 1];
        shape[0] = l->level->batch;
        memcpy(shape + 1, root->shape, sizeof(int64_t) * root->ndim);
        T v = x_clone(x_contiguous(x_expand_to(root, root->ndim + 1, shape))); /* row-major: see graph.h */
        tp_tensor *made = v ? tpi_batched_new(tpi_retain(v), id, 0) : NULL;
        if (made) {
            v->birth = root->birth;
            replace(root, made);
        }
        rc = tpi_scope_close(&scope);
        if (!rc) rc = tpi_fresh(dst);
        if (rc) return rc;
    }
    tpi_scope scope;
    tpi_scope_open(&scope);
    T d = x_movedim1(dst->value, dst->bdim, 0);
    T s = src->level == id ? x_movedim1(src->value, src->bdim, 0) : src;
    if (d && s) {
        rc = tpi_copy_(d, s);
        if (rc) tpi_own(NULL);
    }
    int closed = tpi_scope_close(&scope);
    return rc ? rc : closed;
}

/* dst's root takes content of this level: the same value, no history, no tangent. */
static int lift(const tpi_level_ref *l, uint64_t id, int origin, tp_tensor *dst)
{
    tp_tensor *root = tpi_root(dst);
    if (root->level == id) return tpi_fresh(dst);
    int rc = tpi_capture(l, root);
    if (rc) return rc;
    tp_tensor *value = tpi_snapshot(root);
    tp_tensor *made = l->kind == TP_LEVEL_REVERSE ? tpi_tracked_new(value, id, origin, NULL, 0)
                                                  : tpi_dual_new(value, NULL, id, origin);
    if (!made) return TP_ERR_MEMORY;
    replace(root, made);
    return tpi_fresh(dst);
}

/* Writes into the value below dst, whose root belongs to level id. A view of a root without history or tangent is
 * regenerated as a plain one, outside the root's level: then the view is made anew of what the root holds, so that
 * whatever the write does to the value below (it may become batched) happens under the root. */
static int write_below(uint64_t id, tp_tensor *dst, tp_tensor *src)
{
    if (dst->level == id) return write_at(dst->value, src);
    tp_tensor *view = tpi_chain_replay(dst->chain, tpi_root(dst)->value);
    int rc = view ? write_at(view, src) : tp_error_code();
    tp_release(view);
    return rc;
}

static int write_reverse(const tpi_level_ref *l, uint64_t id, tp_tensor *dst, tp_tensor *src)
{
    tp_tensor *root = tpi_root(dst);
    if (l->ambient && !l->masked && root->level == id && root->node && root->node->kind == TPI_NODE_LEAF)
        return tpi_fail(TP_ERR_RUNTIME,
                        "%s_: a leaf tensor of shape %s that requires grad cannot be written to; use "
                        "no_grad() or detach()",
                        writing(), tpi_str(root));
    if (l->masked) {
        /* nothing is recorded: values only */
        tp_tensor *d = dst->level == id ? dst->value : dst, *s = src->level == id ? src->value : src;
        return write_at(d, s);
    }
    int origin = src->level == id ? src->origin : dst->origin;
    tp_node *snode = src->level == id ? src->node : NULL;
    uint32_t snr = src->out_nr;
    bool tracked = tpi_is_differentiable(dst->dtype);
    if (dst->level != id && (!snode || !tracked)) return write_at(dst, src->level == id ? src->value : src);
    int rc = lift(l, id, origin, dst);
    if (rc) return rc;
    rc = write_below(id, dst, src->level == id ? src->value : src);
    if (rc || !tracked) return rc;
    /* Written whole: src's history is now dst's. Not a leaf's, though: dst would pass for that leaf. */
    if (dst == root && !(snode && snode->kind == TPI_NODE_LEAF)) {
        if (snode) tpi_node_retain(snode);
        tp_node *old = root->node;
        root->node = snode;
        root->out_nr = snr;
        root->gen++;
        if (old) tpi_node_release(old);
        return TP_OK;
    }
    if (!snode && !root->node) return TP_OK;
    tp_node *n = tpi_node_new(TPI_NODE_WRITE, id, 2, 1);
    if (!n) return TP_ERR_MEMORY;
    n->chain = dst->chain;
    if (n->chain) atomic_fetch_add_explicit(&n->chain->refs, 1, memory_order_relaxed);
    if (dst != root) tpi_node_set_edge(n, 0, root->node, root->out_nr);
    tpi_node_set_edge(n, 1, snode, snr);
    tp_node *old = root->node;
    root->node = n;
    root->out_nr = 0;
    root->gen++;
    if (old) tpi_node_release(old);
    return TP_OK;
}

static int write_forward(const tpi_level_ref *l, uint64_t id, tp_tensor *dst, tp_tensor *src)
{
    tp_tensor *stan = src->level == id ? src->tangent : NULL;
    tp_tensor *sval = src->level == id ? src->value : src;
    if (l->masked) return write_at(dst->level == id ? dst->value : dst, sval);
    if (dst->level != id && (!stan || !tpi_is_differentiable(dst->dtype))) return write_at(dst, sval);
    int rc = lift(l, id, src->level == id ? src->origin : dst->origin, dst);
    if (rc) return rc;
    rc = write_below(id, dst, sval);
    if (rc || !tpi_is_differentiable(dst->dtype)) return rc;
    tp_tensor *root = tpi_root(dst);
    if (!stan && !root->tangent) return TP_OK;
    tp_tensor *made = NULL;
    if (dst == root) made = tpi_retain(stan);
    else { /* tangents are shared freely, so a new one */ tpi_scope scope;
        tpi_scope_open(&scope);
        T base = root->tangent ? x_clone(x_contiguous(root->tangent)) : x_zeros_like(root); /* row-major: see graph.h */
        T view = base ? tpi_own(tpi_chain_replay(dst->chain, base)) : NULL;
        if (view && tpi_copy_(view, stan ? stan : x_zeros_like(view))) tpi_own(NULL);
        made = tpi_retain(base);
        rc = tpi_scope_close(&scope);
        if (rc) {
            tp_release(made);
            return rc;
        }
    }
    tp_tensor *old = root->tangent;
    root->tangent = made;
    root->gen++;
    tp_release(old);
    return TP_OK;
}

/* Same shape (or broadcast at the bottom), same dtype. */
static int write_at(tp_tensor *dst, tp_tensor *src)
{
    int rc = tpi_fresh(dst);
    if (!rc) rc = tpi_fresh(src);
    if (rc) return rc;
    uint64_t id = dst->level > src->level ? dst->level : src->level;
    if (!id) {
        tpi_scope scope;
        tpi_scope_open(&scope);
        T s = x_expand_to(src, dst->ndim, dst->shape);
        if (s && tpi_dense_copy(dst, s)) tpi_own(NULL);
        return tpi_scope_close(&scope);
    }
    tpi_level_ref l;
    rc = tpi_level_find(id, dst->level == id ? dst : src, &l);
    if (rc) return rc;
    return l.kind == TP_LEVEL_VMAP      ? write_vmap(&l, id, dst, src)
           : l.kind == TP_LEVEL_REVERSE ? write_reverse(&l, id, dst, src)
                                        : write_forward(&l, id, dst, src);
}

/* The memory under dst, for the checks that must come before anything is changed. */
static int check_writable(tp_tensor *t)
{
    while (t->value) {
        t = t->value;
        int rc = tpi_fresh(t);
        if (rc) return rc;
    }
    return t->kind == TPI_DENSE ? tpi_check_writable(writing(), t) : TP_OK;
}

int tpi_copy_(tp_tensor *dst, tp_tensor *src)
{
    int rc = tpi_fresh(dst);
    if (!rc) rc = tpi_fresh(src);
    if (!rc) rc = check_writable(dst);
    if (rc) return rc;
    if (!dst->level && !src->level && dst->ndim == src->ndim &&
        !memcmp(dst->shape, src->shape, sizeof(int64_t) * dst->ndim))
        return tpi_dense_copy(dst, src);
    int n;
    int64_t shape[TP_MAX_NDIM];
    rc = tpi_broadcast_shapes("copy_", dst->ndim, dst->shape, src->ndim, src->shape, &n, shape);
    if (rc) return rc;
    if (n != dst->ndim || memcmp(shape, dst->shape, sizeof(int64_t) * (size_t)n))
        return tpi_fail(TP_ERR_VALUE, "copy_: shape %s does not broadcast to %s", tpi_str(src), tpi_str(dst));
    tpi_scope scope;
    tpi_scope_open(&scope);
    T s = x_expand_to(x_to_dtype(src, dst->dtype), dst->ndim, dst->shape);
    if (s) {
        rc = write_at(dst, s);
        if (rc) tpi_own(NULL);
    }
    int closed = tpi_scope_close(&scope);
    return rc ? rc : closed;
}
