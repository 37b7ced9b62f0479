/* The walk over the reverse-mode graph: iterative, each node once, in order of topo. See graph.h. */
#include "levels/engine.h"

#include <stdlib.h>

#include "levels/levels.h"
#include "tp/ops.h"
#include "tpi_ops.h"

/* One visited node and the cotangents of its outputs that have arrived. */
typedef struct task {
    tp_node *node;
    tp_tensor **grads;       /* nouts entries */
    tp_tensor *one;          /* storage of `grads` for the usual single output */
    bool owned;              /* grads[0] is nobody else's and may be added to in place */
    bool needed;
} task;

typedef struct engine {
    task *tasks;
    int64_t n, cap;
    int64_t *index;          /* open addressing over node pointers: position in tasks + 1 */
    int64_t slots;
    int64_t *heap;           /* positions in tasks, largest topo first */
    int64_t nheap, cap_heap;
} engine;

static uint64_t hash(const tp_node *n) { return (uint64_t)(uintptr_t)n * 0x9e3779b97f4a7c15u >> 20; }

static int grow_index(engine *e)
{
    int64_t slots = e->slots ? 2 * e->slots : 64;
    int64_t *index = calloc((size_t)slots, sizeof *index);
    if (!index) return tpi_fail(TP_ERR_MEMORY, "out of memory: backward pass");
    for (int64_t i = 0; i < e->n; i++) {
        uint64_t h = hash(e->tasks[i].node) & (uint64_t)(slots - 1);
        while (index[h]) h = (h + 1) & (uint64_t)(slots - 1);
        index[h] = i + 1;
    }
    free(e->index);
    e->index = index;
    e->slots = slots;
    return TP_OK;
}

/* Position of node's task, made if new; -1: no memory. */
static int64_t find(engine *e, tp_node *node, bool *fresh)
{
    if (2 * (e->n + 1) > e->slots && grow_index(e)) return -1;
    uint64_t h = hash(node) & (uint64_t)(e->slots - 1);
    while (e->index[h]) {
        if (e->tasks[e->index[h] - 1].node == node) {
            if (fresh) *fresh = false;
            return e->index[h] - 1;
        }
        h = (h + 1) & (uint64_t)(e->slots - 1);
    }
    if (e->n == e->cap) {
        int64_t cap = e->cap ? 2 * e->cap : 32;
        task *p = realloc(e->tasks, sizeof *p * (size_t)cap);
        if (!p) {
            tpi_fail(TP_ERR_MEMORY, "out of memory: backward pass");
            return -1;
        }
        e->tasks = p;
        e->cap = cap;
    }
    tpi_node_retain(node);
    e->tasks[e->n] = (task){.node = node};
    e->index[h] = ++e->n;
    if (fresh) *fresh = true;
    return e->n - 1;
}

static tp_tensor **grads_of(task *t)
{
    if (t->node->nouts == 1) return &t->one;
    if (!t->grads) t->grads = calloc(t->node->nouts, sizeof *t->grads);
    return t->grads;
}

static bool before(const engine *e, int64_t a, int64_t b)
{
    return e->tasks[e->heap[a]].node->topo > e->tasks[e->heap[b]].node->topo;
}

static int heap_push(engine *e, int64_t at)
{
    if (e->nheap == e->cap_heap) {
        int64_t cap = e->cap_heap ? 2 * e->cap_heap : 32;
        int64_t *p = realloc(e->heap, sizeof *p * (size_t)cap);
        if (!p) return tpi_fail(TP_ERR_MEMORY, "out of memory: backward pass");
        e->heap = p;
        e->cap_heap = cap;
    }
    int64_t i = e->nheap++;
    e->heap[i] = at;
    while (i && before(e, i, (i - 1) / 2)) {
        int64_t p = (i - 1) / 2, t = e->heap[i];
        e->heap[i] = e->heap[p];
        e->heap[p] = t;
        i = p;
    }
    return TP_OK;
}

static int64_t heap_pop(engine *e)
{
    int64_t top = e->heap[0], i = 0;
    e->heap[0] = e->heap[--e->nheap];
    for (;;) {
        int64_t c = 2 * i + 1;
        if (c >= e->nheap) break;
        if (c + 1 < e->nheap && before(e, c + 1, c)) c++;
        if (!before(e, c, i)) break;
        int64_t t = e->heap[i];
        e->heap[i] = e->heap[c];
        e->heap[c] = t;
        i = c;
    }
    return top;
}

/* Memory that only this handle has. */
static bool alone(const tp_tensor *g)
{
    return !g->base && g->kind == TPI_DENSE && atomic_load(&g->refs) == 1 && atomic_load(&g->storage->refs) == 1 &&
           !g->storage->foreign && tpi_contiguous(g);
}

/* May a cotangent like g be added in place to what has arrived at output nr of t, which is `sum`? */
static bool in_place(const task *t, uint32_t nr, const tp_tensor *sum, const tp_tensor *g)
{
    return t->owned && nr == 0 && !sum->level && !g->level && sum->dtype == g->dtype && atomic_load(&sum->refs) == 1;
}

/* Adds g (consumed) to what has arrived at output nr of node. */
static int deliver(engine *e, tp_node *node, uint32_t nr, tp_tensor *g)
{
    bool fresh;
    int64_t at = find(e, node, &fresh);
    int rc = at < 0 ? TP_ERR_MEMORY : TP_OK;
    bool queued = !fresh && (e->tasks[at < 0 ? 0 : at].grads || e->tasks[at < 0 ? 0 : at].one);
    if (!rc && !queued) rc = heap_push(e, at);
    tp_tensor **slot = rc ? NULL : grads_of(&e->tasks[at]);
    if (!rc && !slot) rc = tpi_fail(TP_ERR_MEMORY, "out of memory: backward pass");
    if (rc) {
        tp_release(g);
        return rc;
    }
    slot += nr;
    task *t = &e->tasks[at];
    if (!*slot) {
        *slot = g;
        if (nr == 0) t->owned = alone(g);
        return TP_OK;
    }
    tp_val a[3] = {val_t(*slot), val_t(g), val_s(&tpi_one)};
    if (in_place(t, nr, *slot, g)) rc = tpi_call_inplace(&tpi_op_add, a);
    else {
        tp_tensor *sum = NULL;
        rc = tpi_call(&tpi_op_add, a, &sum);
        if (!rc) {
            tp_release(*slot);
            *slot = sum;
            if (nr == 0) t->owned = true;
        }
    }
    tp_release(g);
    return rc;
}

/* The cotangent of a piece, as zeros of the whole with the piece written in, would make n pieces cost n wholes: where
 * the whole has a sum already, the piece is added to its part of that, and *done says so. */
static int add_piece(engine *e, const tpi_engine_call *c, tp_node *n, tp_tensor *g, bool *done)
{
    const tpi_edge *d = n->edges;
    *done = false;
    if (c->create_graph || n->kind != TPI_NODE_OP || n->freed || (n->op != &tpi_op_select && n->op != &tpi_op_slice) ||
        !g || !d->node)
        return TP_OK;
    int64_t at = find(e, d->node, NULL);
    if (at < 0) return TP_ERR_MEMORY;
    task *t = &e->tasks[at];
    tp_tensor *sum = t->node->nouts == 1 ? t->one : t->grads ? t->grads[0] : NULL;
    if ((c->prune && !t->needed) || !sum || !in_place(t, d->nr, sum, g)) return TP_OK;
    const tp_val *a = n->args;
    tp_tensor *part = n->op == &tpi_op_select ? tp_select(sum, arg_i(&a[1]), arg_i(&a[2]))
                                              : tp_slice(sum, arg_i(&a[1]), arg_i(&a[2]), arg_i(&a[3]), arg_i(&a[4]));
    if (!part) return tp_error_code();
    tp_val v[3] = {val_t(part), val_t(g), val_s(&tpi_one)};
    int rc = tpi_call_inplace(&tpi_op_add, v);
    tp_release(part);
    if (!rc && !c->retain) tpi_node_free_saved(n);
    *done = !rc;
    return rc;
}

static void drop_grads(task *t)
{
    if (t->node->nouts == 1) {
        tp_release(t->one);
        t->one = NULL;
    } else if (t->grads) {
        for (int i = 0; i < t->node->nouts; i++) tp_release(t->grads[i]);
        free(t->grads);
        t->grads = NULL;
    }
}

static int run_hooks(tp_node *n, tp_tensor **grads)
{
    for (tpi_hook *h = n->hooks; h; h = h->next) {
        if (!grads[h->nr]) continue;
        tp_error_clear();
        tp_tensor *r = h->call(h->payload, grads[h->nr]);
        if (r) {
            tp_release(grads[h->nr]);
            grads[h->nr] = r;
        } else if (tp_error_code()) return tp_error_code();
    }
    return TP_OK;
}

/* Marks the tasks from which an input can be reached. Iterative depth first. */
static int mark_needed(engine *e, const tpi_engine_call *c)
{
    for (int64_t i = 0; i < c->n_inputs; i++) {
        if (!c->inputs[i].node) continue;
        int64_t at = find(e, c->inputs[i].node, NULL);
        if (at < 0) return TP_ERR_MEMORY;
        e->tasks[at].needed = true;
    }
    typedef struct {
        tp_node *node;
        int32_t edge;
    } frame;
    frame *stack = NULL;
    int64_t n = 0, cap = 0;
    int rc = TP_OK;
    for (int64_t i = 0; i < c->n_outputs && !rc; i++) {
        tp_node *start = c->outputs[i].node;
        if (!start) continue;
        bool fresh = false;
        if (find(e, start, &fresh) < 0) rc = TP_ERR_MEMORY;
        /* targets are entered as well: another target may lie behind them */
        frame f = {start, 0};
        for (bool first = true; !rc && (first || n);) {
            if (first) {
                if (n == cap) {
                    cap = cap ? 2 * cap : 64;
                    frame *p = realloc(stack, sizeof *p * (size_t)cap);
                    if (!p) {
                        rc = tpi_fail(TP_ERR_MEMORY, "out of memory: backward pass");
                        break;
                    }
                    stack = p;
                }
                stack[n++] = f;
                first = false;
            }
            frame *top = &stack[n - 1];
            if (top->edge == top->node->nedges) {
                n--;
                if (n) { /* hand the verdict to the consumer */
                    int64_t mine = find(e, top->node, NULL), theirs = find(e, stack[n - 1].node, NULL);
                    if (e->tasks[mine].needed) e->tasks[theirs].needed = true;
                }
                continue;
            }
            tp_node *next = top->node->edges[top->edge++].node;
            if (!next) continue;
            bool known_before;
            int64_t before_n = e->n, at = find(e, next, &known_before);
            if (at < 0) {
                rc = TP_ERR_MEMORY;
                break;
            }
            if (e->n == before_n && next->kind != TPI_NODE_LEAF) {
                /* seen: a verdict exists unless it is a target that was never entered */
                if (e->tasks[at].needed) {
                    int64_t theirs = find(e, top->node, NULL);
                    e->tasks[theirs].needed = true;
                }
                bool entered = e->tasks[at].owned;
                if (entered) continue;
            } else if (next->kind == TPI_NODE_LEAF) {
                if (e->tasks[at].needed) {
                    int64_t theirs = find(e, top->node, NULL);
                    e->tasks[theirs].needed = true;
                }
                continue;
            }
            e->tasks[at].owned = true; /* doubles as "entered" until the walk begins */
            f = (frame){next, 0};
            first = true;
        }
    }
    free(stack);
    for (int64_t i = 0; i < e->n; i++) e->tasks[i].owned = false;
    return rc;
}

int tpi_engine_run(const tpi_engine_call *c)
{
    engine e = {0};
    int rc = c->prune ? mark_needed(&e, c) : TP_OK;
    for (int64_t i = 0; i < c->n_outputs && !rc; i++)
        if (c->outputs[i].node && c->grads[i])
            rc = deliver(&e, c->outputs[i].node, c->outputs[i].nr, tpi_retain(c->grads[i]));
    tp_tensor **in = NULL;
    int64_t cap = 0;
    while (e.nheap && !rc) {
        int64_t at = heap_pop(&e);
        tp_node *n = e.tasks[at].node;
        tp_tensor **grads = grads_of(&e.tasks[at]);
        rc = n->hooks ? run_hooks(n, grads) : TP_OK;
        for (int64_t i = 0; i < c->n_inputs && !rc; i++) {
            if (c->inputs[i].node != n || !grads[c->inputs[i].nr]) continue;
            tp_release(c->results[i]);
            c->results[i] = tpi_retain(grads[c->inputs[i].nr]);
        }
        if (!rc && c->accumulate && n->gcell && grads[n->gcell_nr]) rc = tpi_gcell_add(n->gcell, grads[n->gcell_nr]);
        if (!rc && n->kind != TPI_NODE_LEAF && (!c->prune || e.tasks[at].needed) && n->nedges) {
            if (n->nedges > cap) {
                free(in);
                cap = n->nedges + 8;
                in = malloc(sizeof *in * (size_t)cap);
                if (!in) {
                    rc = tpi_fail(TP_ERR_MEMORY, "out of memory: backward pass");
                    break;
                }
            }
            memset(in, 0, sizeof *in * (size_t)n->nedges);
            bool done;
            rc = add_piece(&e, c, n, grads[0], &done);
            grads = grads_of(&e.tasks[at]); /* which may have moved */
            if (!rc && !done) rc = tpi_node_backward(n, grads, c->create_graph, c->retain, in);
            for (int i = 0; i < n->nedges; i++) {
                if (!in[i]) continue;
                const tpi_edge *d = &n->edges[i];
                bool go = !rc && d->node;
                if (go && c->prune) {
                    int64_t to = find(&e, d->node, NULL);
                    go = to >= 0 && e.tasks[to].needed;
                }
                if (go) rc = deliver(&e, d->node, d->nr, in[i]);
                else tp_release(in[i]);
            }
        }
        drop_grads(&e.tasks[at]);
    }
    free(in);
    for (int64_t i = 0; i < e.n; i++) {
        drop_grads(&e.tasks[i]);
        tpi_node_release(e.tasks[i].node);
    }
    free(e.tasks);
    free(e.index);
    free(e.heap);
    return rc;
}

int tpi_gcell_add(tpi_gcell *g, tp_tensor *grad)
{
    int rc = TP_OK;
    pthread_mutex_lock(&g->lock);
    tp_tensor *old = g->grad, *made = NULL;
    if (!old && alone(grad)) made = tpi_retain(grad);
    else if (!old) { /* a.grad and b.grad of a + b must not be one tensor */ tp_val a = val_t(grad);
        rc = tpi_call(&tpi_op_clone, &a, &made);
    } else {
        tp_val a[3] = {val_t(old), val_t(grad), val_s(&tpi_one)};
        rc = tpi_call(&tpi_op_add, a, &made);
    }
    if (!rc) g->grad = made;
    pthread_mutex_unlock(&g->lock);
    if (!rc) tp_release(old);
    return rc;
}
