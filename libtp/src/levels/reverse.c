/* The reverse-mode interpreter: records nodes, and runs the rule of one. The walk over the graph is engine.c. */
#include "levels/graph.h"
#include "levels/levels.h"

#include <stdlib.h>

#include "tpi_ops.h"
#include "x_ops.h"

/* Copies what a call's arguments point to; tensors go to node->saved. */
static int copy_args(tp_node *n, const tp_op *op, const tp_val *args)
{
    n->args = tpi_obj_alloc(sizeof *n->args * (size_t)(op->nargs ? op->nargs : 1));
    if (!n->args) return TP_ERR_MEMORY;
    for (int i = 0; i < op->nargs; i++) {
        tp_val *a = &n->args[i];
        *a = args[i];
        n->nargs_saved = i + 1;
        size_t bytes = args[i].tag == TPI_INTS ? sizeof(int64_t) * (size_t)args[i].n
                                               : sizeof(double) * (size_t)args[i].n;
        if ((args[i].tag == TPI_INTS || args[i].tag == TPI_FLOATS) && args[i].n > 0) {
            void *p = tpi_obj_alloc(bytes);
            if (!p) {
                n->nargs_saved = i;
                return TP_ERR_MEMORY;
            }
            memcpy(p, args[i].v.ints, bytes);
            a->v.ints = p;
        } else if (args[i].tag == TPI_STR) {
            a->v.str = strdup(args[i].v.str);
            if (!a->v.str) {
                n->nargs_saved = i;
                return tpi_fail(TP_ERR_MEMORY, "out of memory: %s", op->name);
            }
        } else if (args[i].tag == TPI_GENERATOR) tp_generator_retain(args[i].v.gen);
    }
    return TP_OK;
}

static int save_arg(tpi_saved *s, tp_tensor *t, uint64_t id, int how)
{
    if (how == 2) return tpi_save(s, t, id);
    s->edge = s->result = -1;
    s->t = tpi_meta(t);
    return s->t ? TP_OK : TP_ERR_MEMORY;
}

/* Records op(args) -> res at level id. args as the level sees them; res are lower values. */
static tp_node *record(uint64_t id, const tp_op *op, const tp_val *args, tp_tensor **res)
{
    int nedges = 0, nsaved = 0;
    for (int i = 0; i < op->nargs; i++) {
        int k = args[i].tag == TPI_TENSOR ? 1 : args[i].tag == TPI_TENSORS ? args[i].n : 0;
        nsaved += k;
        if (op->args[i].differentiable) nedges += k;
    }
    int nres = 0;
    for (int k = 0; k < op->nouts; k++) nres += (op->save_results >> k) & 1;
    tp_node *n = tpi_node_new(TPI_NODE_OP, id, nedges, op->nouts);
    if (!n) return NULL;
    n->op = op;
    bool ok = copy_args(n, op, args) == TP_OK;
    if (ok && nsaved + nres) {
        n->saved = tpi_obj_alloc(sizeof *n->saved * (size_t)(nsaved + nres));
        ok = n->saved != NULL;
        if (ok) {
            memset(n->saved, 0, sizeof *n->saved * (size_t)(nsaved + nres));
            n->nsaved = nsaved + nres;
        }
    }
    bool reshape = op->batch == tpi_batch_broadcast;
    int e = 0, s = 0;
    for (int i = 0; i < op->nargs && ok; i++) {
        if (args[i].tag != TPI_TENSOR && args[i].tag != TPI_TENSORS) continue;
        int count = args[i].tag == TPI_TENSOR ? 1 : args[i].n;
        for (int j = 0; j < count && ok; j++) {
            tp_tensor *t = args[i].tag == TPI_TENSOR ? args[i].v.t : args[i].v.ts[j];
            int edge = -1;
            if (op->args[i].differentiable) {
                edge = e++;
                n->edges[edge].arg = (int16_t)i;
                n->edges[edge].item = (int16_t)(args[i].tag == TPI_TENSOR ? -1 : j);
                if (t && t->level == id && t->node && tpi_is_differentiable(t->dtype)) {
                    tpi_node_set_edge(n, edge, t->node, t->out_nr);
                    if (reshape &&
                        (t->ndim != res[0]->ndim || memcmp(t->shape, res[0]->shape, sizeof(int64_t) * t->ndim)))
                        ok = (n->edges[edge].meta = tpi_meta(t)) != NULL;
                }
            }
            if (t && ok && op->args[i].save) {
                ok = save_arg(&n->saved[s], t, id, op->args[i].save) == TP_OK;
                if (ok) n->saved[s].edge = edge;
            }
            s++;
        }
    }
    for (int k = 0; k < op->nouts && ok; k++) {
        if (!((op->save_results >> k) & 1)) continue;
        n->saved[s] = (tpi_saved){tpi_retain(res[k]), tp_version(res[k]), -1, k};
        s++;
    }
    if (!ok) {
        tpi_node_release(n);
        return NULL;
    }
    return n;
}

static bool wants(const tp_op *op, const tp_val *args, uint64_t id)
{
    for (int i = 0; i < op->nargs; i++) {
        if (!op->args[i].differentiable) continue;
        int count = args[i].tag == TPI_TENSOR ? 1 : args[i].tag == TPI_TENSORS ? args[i].n : 0;
        for (int j = 0; j < count; j++) {
            const tp_tensor *t = args[i].tag == TPI_TENSOR ? args[i].v.t : args[i].v.ts[j];
            if (t && t->level == id && t->node) return true;
        }
    }
    return false;
}

/* args with the tensors of level id replaced by their values. lists: room for the entries of Tensor[] arguments. */
int tpi_lower_args(const tp_op *op, const tp_val *args, uint64_t id, tp_val *lower, tp_tensor ***heap, tp_tensor **few,
                   int nfew)
{
    int n = 0;
    *heap = NULL;
    for (int i = 0; i < op->nargs; i++)
        if (args[i].tag == TPI_TENSORS) n += args[i].n;
    tp_tensor **lists = few;
    if (n > nfew) {
        lists = *heap = malloc(sizeof *lists * (size_t)n);
        if (!lists) return tpi_fail(TP_ERR_MEMORY, "out of memory: %s", op->name);
    }
    for (int i = 0; i < op->nargs; i++) {
        lower[i] = args[i];
        if (args[i].tag == TPI_TENSOR) {
            tp_tensor *t = args[i].v.t;
            if (t->level == id) lower[i].v.t = t->value;
        } else if (args[i].tag == TPI_TENSORS) {
            for (int j = 0; j < args[i].n; j++) {
                tp_tensor *t = args[i].v.ts[j];
                lists[j] = t && t->level == id ? t->value : t;
            }
            lower[i].v.ts = lists;
            lists += args[i].n;
        }
    }
    return TP_OK;
}

int tpi_reverse_interpret(const tpi_level_ref *l, uint64_t id, const tp_op *op, tp_val *args, tp_tensor **out)
{
    tp_val lower[TPI_MAX_ARGS];
    tp_tensor *few[16], **heap;
    int rc = tpi_lower_args(op, args, id, lower, &heap, few, 16);
    if (rc) return rc;
    rc = tpi_call(op, lower, out);
    free(heap);
    if (rc || l->masked || !op->vjp || !wants(op, args, id)) return rc;
    tp_node *n = record(id, op, args, out);
    if (!n) return TP_ERR_MEMORY;
    int origin = l->ambient ? TP_ORIGIN_AUTOGRAD : l->level->origin;
    for (int k = 0; k < op->nouts; k++) {
        if (((op->out_nondiff >> k) & 1) || !out[k] || !tpi_is_differentiable(out[k]->dtype)) continue;
        tp_tensor *w = tpi_tracked_new(out[k], id, origin, n, (uint32_t)k);
        out[k] = w;
        if (!w) rc = TP_ERR_MEMORY;
    }
    tpi_node_release(n);
    return rc;
}

/* ---- running one node ---- */

static tp_tensor *unpack_as(tp_node *n, const tpi_saved *s, bool tracked)
{
    tp_tensor *t = tpi_unpack(s, n->op->name);
    if (!t || !tracked) return t;
    if (s->result >= 0) return tpi_tracked_new(t, n->level, TP_ORIGIN_AUTOGRAD, n, (uint32_t)s->result);
    if (s->edge >= 0 && n->edges[s->edge].node)
        return tpi_tracked_new(t, n->level, TP_ORIGIN_AUTOGRAD, n->edges[s->edge].node, n->edges[s->edge].nr);
    return t;
}

static T fit(T g, const tp_tensor *meta) { return meta ? x_sum_to_shape(g, meta->ndim, meta->shape) : g; }

static int write_backward(tp_node *n, tp_tensor *const *grads, tp_tensor **grads_in)
{
    tpi_scope scope;
    tpi_scope_open(&scope);
    /* row-major, where every chain of views that some layout allows has its views */
    T g = x_contiguous(grads[0]), outside = NULL, inside = NULL;
    if (g && n->edges[1].node) {
        /* a copy: what follows must not see later writes into g through an alias */
        T view = tpi_own(tpi_chain_replay(n->chain, g));
        inside = n->edges[0].node ? x_clone(view) : view;
    }
    if (g && n->edges[0].node) {
        outside = x_clone(g);
        T view = outside ? tpi_own(tpi_chain_replay(n->chain, outside)) : NULL;
        T zero = x_scalar(0, g);
        if (view && zero && tpi_copy_(view, zero)) tpi_own(NULL);
    }
    if (!tpi_bad()) {
        grads_in[0] = tpi_retain(outside);
        grads_in[1] = tpi_retain(inside);
    }
    return tpi_scope_close(&scope);
}

static int op_backward(tp_node *n, tp_tensor *const *grads, bool tracked, tp_tensor **grads_in)
{
    const tp_op *op = n->op;
    if (n->freed)
        return tpi_fail(TP_ERR_RUNTIME,
                        "%s: its saved values were freed by an earlier backward pass; pass "
                        "retain_graph=True to that one",
                        op->name);
    tp_val args[TPI_MAX_ARGS];
    uint8_t need[TPI_MAX_ARGS] = {0}, *need_list[TPI_MAX_ARGS] = {NULL};
    tp_tensor *out[TPI_MAX_ARGS] = {NULL}, **out_list[TPI_MAX_ARGS] = {NULL}, *results[TPI_MAX_OUTS] = {NULL};
    tpi_scope scope;
    tpi_scope_open(&scope);
    void *block = NULL;
    int total = 0;
    for (int i = 0; i < op->nargs; i++)
        if (n->args[i].tag == TPI_TENSORS) total += n->args[i].n;
    tp_tensor **ts = NULL, **gs = NULL;
    uint8_t *nl = NULL;
    if (total) {
        block = calloc((size_t)total, 2 * sizeof(tp_tensor *) + 1);
        if (!block) {
            tpi_scope_close(&scope);
            return tpi_fail(TP_ERR_MEMORY, "out of memory: backward of %s", op->name);
        }
        ts = block;
        gs = ts + total;
        nl = (uint8_t *)(gs + total);
    }
    int s = 0;
    for (int i = 0; i < op->nargs && !tpi_bad(); i++) {
        args[i] = n->args[i];
        if (args[i].tag == TPI_TENSOR) {
            const tpi_saved *v = &n->saved[s++];
            args[i].v.t = v->t ? tpi_own(unpack_as(n, v, tracked)) : NULL;
        } else if (args[i].tag == TPI_TENSORS) {
            args[i].v.ts = ts;
            need_list[i] = nl;
            out_list[i] = gs;
            for (int j = 0; j < args[i].n; j++) {
                const tpi_saved *v = &n->saved[s++];
                ts[j] = v->t ? tpi_own(unpack_as(n, v, tracked)) : NULL;
            }
            ts += args[i].n;
            gs += args[i].n;
            nl += args[i].n;
        }
    }
    for (; s < n->nsaved && !tpi_bad(); s++) results[n->saved[s].result] = tpi_own(unpack_as(n, &n->saved[s], tracked));
    for (int e = 0; e < n->nedges; e++) {
        const tpi_edge *d = &n->edges[e];
        if (!d->node) continue;
        need[d->arg] = 1;
        if (d->item >= 0) need_list[d->arg][d->item] = 1;
    }
    tp_vjp_ctx c = {op, args, results, grads, need, out, out_list, need_list};
    int rc = tpi_bad() ? scope.failed : op->vjp(&c);
    if (!rc) rc = scope.failed;
    for (int e = 0; e < n->nedges && !rc; e++) {
        const tpi_edge *d = &n->edges[e];
        if (!d->node) continue;
        T g = d->item >= 0 ? out_list[d->arg][d->item] : out[d->arg];
        grads_in[e] = tpi_retain(fit(g, d->meta));
        rc = scope.failed;
    }
    int closed = tpi_scope_close(&scope);
    free(block);
    return rc ? rc : closed;
}

int tpi_node_backward(tp_node *n, tp_tensor *const *grads, bool create_graph, bool retain, tp_tensor **grads_in)
{
    int rc;
    if (n->kind == TPI_NODE_WRITE) rc = write_backward(n, grads, grads_in);
    else if (n->kind == TPI_NODE_CUSTOM) {
        if (n->freed)
            return tpi_fail(TP_ERR_RUNTIME,
                            "%s: its saved values were freed by an earlier backward pass; pass "
                            "retain_graph=True to that one",
                            n->cb.name ? n->cb.name : "Function");
        rc = n->cb.backward(n->payload, grads, n->nouts, grads_in, n->nedges, create_graph);
        if (!rc && !retain) n->freed = 1;
    } else rc = op_backward(n, grads, create_graph, grads_in);
    if (!rc && !retain && n->kind == TPI_NODE_OP) tpi_node_free_saved(n);
    return rc;
}
