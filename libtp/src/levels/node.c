/* Graph nodes: making, saving, releasing. See graph.h. */
#include "levels/graph.h"

#include <stdlib.h>

#include "levels/levels.h"

tp_node *tpi_node_new(int kind, uint64_t level, int nedges, int nouts)
{
    tp_node *n = tpi_obj_alloc(sizeof *n);
    if (!n) return NULL;
    memset(n, 0, sizeof *n);
    atomic_init(&n->refs, 1);
    n->kind = (uint8_t)kind;
    n->level = level;
    n->nouts = (uint16_t)nouts;
    n->nedges = nedges;
    n->topo = 1;
    if (nedges) {
        n->edges = tpi_obj_alloc(sizeof *n->edges * (size_t)nedges);
        if (!n->edges) {
            tpi_obj_free(n, sizeof *n);
            return NULL;
        }
        memset(n->edges, 0, sizeof *n->edges * (size_t)nedges);
    }
    return n;
}

void tpi_node_set_edge(tp_node *n, int i, tp_node *to, uint32_t nr)
{
    n->edges[i].node = to;
    n->edges[i].nr = nr;
    if (!to) return;
    tpi_node_retain(to);
    if (to->topo >= n->topo) n->topo = to->topo + 1;
}

void tpi_node_free_saved(tp_node *n)
{
    n->freed = 1;
    for (int i = 0; i < n->nsaved; i++) {
        tp_tensor *t = n->saved[i].t;
        n->saved[i].t = NULL;
        tp_release(t);
    }
}

static void destroy(tp_node *n)
{
    tpi_node_free_saved(n);
    if (n->args) {
        for (int i = 0; i < n->nargs_saved; i++) {
            tp_val *a = &n->args[i];
            if ((a->tag == TPI_INTS) && a->n > 0) tpi_obj_free((void *)a->v.ints, sizeof(int64_t) * (size_t)a->n);
            if ((a->tag == TPI_FLOATS) && a->n > 0) tpi_obj_free((void *)a->v.fs, sizeof(double) * (size_t)a->n);
            if (a->tag == TPI_STR) free((void *)a->v.str);
            if (a->tag == TPI_GENERATOR) tp_generator_release(a->v.gen);
        }
        tpi_obj_free(n->args, sizeof *n->args * (size_t)n->op->nargs);
    }
    if (n->saved) tpi_obj_free(n->saved, sizeof *n->saved * (size_t)n->nsaved);
    for (int i = 0; i < n->nedges; i++) {
        tp_release(n->edges[i].meta);
        if (n->edges[i].node) tpi_node_release(n->edges[i].node);
    }
    if (n->edges) tpi_obj_free(n->edges, sizeof *n->edges * (size_t)n->nedges);
    tpi_chain_release(n->chain);
    if (n->gcell) tpi_gcell_release(n->gcell);
    for (tpi_hook *h = n->hooks; h;) {
        tpi_hook *next = h->next;
        if (h->destroy) h->destroy(h->payload);
        tpi_obj_free(h, sizeof *h);
        h = next;
    }
    if (n->cb.destroy) n->cb.destroy(n->payload);
    tpi_obj_free(n, sizeof *n);
}

static _Thread_local tp_node *dead;
static _Thread_local bool draining;

void tpi_node_release(tp_node *n)
{
    if (atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) != 1) return;
    n->next_dead = dead;
    dead = n;
    if (draining) return;
    draining = true;
    while (dead) {
        tp_node *d = dead;
        dead = d->next_dead;
        destroy(d);
    }
    draining = false;
}

tp_node *tpi_leaf_new(uint64_t level) { return tpi_node_new(TPI_NODE_LEAF, level, 0, 1); }

/* ---- gradients of leaves ---- */

tpi_gcell *tpi_gcell_new(void)
{
    tpi_gcell *g = tpi_obj_alloc(sizeof *g);
    if (!g) return NULL;
    memset(g, 0, sizeof *g);
    atomic_init(&g->refs, 1);
    pthread_mutex_init(&g->lock, NULL);
    return g;
}

void tpi_gcell_release(tpi_gcell *g)
{
    if (atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) != 1) return;
    tp_release(g->grad);
    pthread_mutex_destroy(&g->lock);
    tpi_obj_free(g, sizeof *g);
}

/* ---- handles ---- */

static tp_tensor *wrapped_like(tp_tensor *value, int kind, uint64_t level, int origin)
{
    tp_tensor *t = value ? tpi_handle_new(value->ndim) : NULL;
    if (!t) {
        tp_release(value);
        return NULL;
    }
    t->kind = (uint8_t)kind;
    t->level = level;
    t->dtype = value->dtype;
    t->numel = value->numel;
    memcpy(t->shape, value->shape, sizeof(int64_t) * value->ndim);
    memcpy(t->strides, value->strides, sizeof(int64_t) * value->ndim);
    t->value = value;
    t->origin = (uint8_t)origin;
    t->birth = value->birth > t->birth ? value->birth : t->birth;
    return t;
}

tp_tensor *tpi_tracked_new(tp_tensor *value, uint64_t level, int origin, tp_node *node, uint32_t nr)
{
    tp_tensor *t = wrapped_like(value, TPI_TRACKED, level, origin);
    if (!t) return NULL;
    t->node = node;
    t->out_nr = nr;
    if (node) tpi_node_retain(node);
    return t;
}

tp_tensor *tpi_dual_new(tp_tensor *value, tp_tensor *tangent, uint64_t level, int origin)
{
    tp_tensor *t = wrapped_like(value, TPI_DUAL, level, origin);
    if (!t) {
        tp_release(tangent);
        return NULL;
    }
    t->tangent = tangent;
    return t;
}

/* ---- saved values ---- */

int64_t tp_version(tp_tensor *t)
{
    int64_t v = 0;
    for (; t->value; t = t->value) v += t->gen;
    return v + t->gen + (t->storage ? (int64_t)atomic_load(&t->storage->version) : 0);
}

int tpi_save(tpi_saved *s, tp_tensor *t, uint64_t level)
{
    /* what is not tracked here may be a caller's handle, which a later write can bring to this very level: keep its
     * content, not the handle */
    s->t = t->level == level ? tpi_retain(t->value) : tpi_snapshot(t);
    s->edge = s->result = -1;
    if (!s->t) return TP_ERR_MEMORY;
    s->version = tp_version(s->t);
    return TP_OK;
}

tp_tensor *tpi_unpack(const tpi_saved *s, const char *op)
{
    if (s->t->kind != TPI_META && tp_version(s->t) != s->version)
        return tpi_null(TP_ERR_RUNTIME,
                        "%s: a tensor of shape %s that its backward pass needs was modified by an in-place operation",
                        op, tpi_str(s->t));
    return tpi_retain(s->t);
}
