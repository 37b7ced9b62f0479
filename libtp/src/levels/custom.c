/* Nodes with a backward of the caller's, saved values, hooks. */
#include "tp/custom.h"

#include "levels/graph.h"
#include "levels/levels.h"

int tp_node_custom(uint64_t level, tp_tensor *const *inputs, int64_t n_inputs, tp_tensor *const *output_values,
                   int64_t n_outputs, const uint8_t *nondiff, const tp_node_callbacks *callbacks, void *payload,
                   tp_tensor **outputs)
{
    tpi_level_ref l;
    bool any = false;
    int rc = tpi_level_find(level, NULL, &l);
    tp_node *n = NULL;
    for (int64_t i = 0; i < n_outputs; i++) outputs[i] = NULL;
    if (!rc && n_outputs > UINT16_MAX) rc = tpi_fail(TP_ERR_VALUE, "Function: %lld outputs", (long long)n_outputs);
    for (int64_t i = 0; i < n_inputs && !rc; i++) {
        if (!inputs[i]) continue;
        rc = tpi_fresh(inputs[i]);
        any |= inputs[i]->kind == TPI_TRACKED && inputs[i]->level == level && inputs[i]->node;
    }
    if (!rc && any && !l.masked) {
        n = tpi_node_new(TPI_NODE_CUSTOM, level, (int)n_inputs, (int)n_outputs);
        if (!n) rc = TP_ERR_MEMORY;
    }
    if (!n) {
        if (callbacks->destroy) callbacks->destroy(payload);
        if (rc) return rc;
        for (int64_t i = 0; i < n_outputs; i++) outputs[i] = tpi_retain(output_values[i]);
        return TP_OK;
    }
    memcpy(&n->cb, callbacks, callbacks->struct_size < sizeof n->cb ? callbacks->struct_size : sizeof n->cb);
    n->payload = payload;
    for (int64_t i = 0; i < n_inputs; i++) {
        tp_tensor *t = inputs[i];
        n->edges[i].arg = (int16_t)i;
        n->edges[i].item = -1;
        if (t && t->kind == TPI_TRACKED && t->level == level && tpi_is_differentiable(t->dtype))
            tpi_node_set_edge(n, (int)i, t->node, t->out_nr);
    }
    int origin = l.ambient ? TP_ORIGIN_AUTOGRAD : l.level->origin;
    for (int64_t i = 0; i < n_outputs; i++) {
        tp_tensor *v = output_values[i];
        bool plain = !v || (nondiff && nondiff[i]) || !tpi_is_differentiable(v->dtype);
        /* an input returned as it is gets a handle of its own: its history here is this node */
        outputs[i] = plain ? tpi_retain(v) : tpi_tracked_new(tpi_alias(v), level, origin, n, (uint32_t)i);
        if (v && !outputs[i]) rc = TP_ERR_MEMORY;
    }
    tpi_node_release(n);
    return rc;
}

bool tp_level_records(uint64_t level)
{
    tpi_level_ref l;
    return tpi_level_find(level, NULL, &l) == TP_OK && !l.masked;
}

int tp_vmap_info(uint64_t level, int64_t *batch_size, int *randomness)
{
    tpi_level_ref l;
    int rc = tpi_level_find(level, NULL, &l);
    if (rc) return rc;
    if (l.kind != TP_LEVEL_VMAP || !l.level) return tpi_fail(TP_ERR_VALUE, "vmap_info: not a level of vmap");
    *batch_size = l.level->batch;
    *randomness = l.level->randomness;
    return TP_OK;
}

/* ---- saved values ---- */

struct tp_saved {
    tpi_saved s;
    uint64_t level;
    tp_node *node;          /* the history of what was saved */
    uint32_t nr;
    bool weak;              /* the node owns the payload that owns this: not counted */
};

static tp_saved *saved_new(tp_tensor *t, uint64_t level, bool weak)
{
    if (tpi_fresh(t)) return NULL;
    tp_saved *s = tpi_obj_alloc(sizeof *s);
    if (!s) return NULL;
    memset(s, 0, sizeof *s);
    s->level = level;
    if (tpi_save(&s->s, t, level)) {
        tpi_obj_free(s, sizeof *s);
        return NULL;
    }
    if (t->kind == TPI_TRACKED && t->level == level && t->node) {
        s->node = t->node;
        s->nr = t->out_nr;
        s->weak = weak;
        if (!weak) tpi_node_retain(s->node);
    }
    return s;
}

tp_saved *tp_save_value(tp_tensor *t, uint64_t level) { return saved_new(t, level, false); }
tp_saved *tp_save_output(tp_tensor *output, uint64_t level) { return saved_new(output, level, true); }

tp_tensor *tp_saved_unpack(tp_saved *s, bool tracked)
{
    tp_tensor *t = tpi_unpack(&s->s, "Function");
    if (!t || !tracked || !s->node) return t;
    return tpi_tracked_new(t, s->level, TP_ORIGIN_AUTOGRAD, s->node, s->nr);
}

void tp_saved_release(tp_saved *s)
{
    if (!s) return;
    tp_release(s->s.t);
    if (s->node && !s->weak) tpi_node_release(s->node);
    tpi_obj_free(s, sizeof *s);
}

const char *tp_history_name(tp_tensor *t)
{
    if (tpi_fresh(t) || t->kind != TPI_TRACKED || !t->node) return NULL;
    switch (t->node->kind) {
    case TPI_NODE_LEAF: return NULL;
    case TPI_NODE_OP: return t->node->op->name;
    case TPI_NODE_WRITE: return "copy_";
    default: return t->node->cb.name ? t->node->cb.name : "Function";
    }
}

/* ---- hooks ---- */

static _Atomic uint64_t hook_ids = 1;

int tp_register_hook(tp_tensor *t, tp_tensor *(*hook)(void *, tp_tensor *), void (*destroy)(void *), void *payload,
                     uint64_t *id)
{
    int rc = tpi_fresh(t);
    if (!rc && (t->kind != TPI_TRACKED || !t->node))
        rc = tpi_fail(TP_ERR_RUNTIME, "register_hook: the tensor does not require grad");
    tpi_hook *h = rc ? NULL : tpi_obj_alloc(sizeof *h);
    if (!h) {
        if (destroy) destroy(payload);
        return rc ? rc : TP_ERR_MEMORY;
    }
    *h = (tpi_hook){atomic_fetch_add(&hook_ids, 1), t->out_nr, hook, destroy, payload, NULL};
    tpi_hook **at = &t->node->hooks;
    while (*at) at = &(*at)->next;
    *at = h;
    *id = h->id;
    return TP_OK;
}

int tp_remove_hook(tp_tensor *t, uint64_t id)
{
    int rc = tpi_fresh(t);
    if (rc || t->kind != TPI_TRACKED || !t->node) return rc;
    for (tpi_hook **at = &t->node->hooks; *at; at = &(*at)->next) {
        if ((*at)->id != id) continue;
        tpi_hook *h = *at;
        *at = h->next;
        if (h->destroy) h->destroy(h->payload);
        tpi_obj_free(h, sizeof *h);
        return TP_OK;
    }
    return TP_OK;
}
