/* Reverse mode as callers use it: vjp at a level, and plain autograd at the ambient level of a depth. */
#include <stdlib.h>

#include "levels/engine.h"
#include "levels/levels.h"
#include "tpi_ops.h"
#include "x_ops.h"

tp_tensor *tp_reverse_wrap(tp_tensor *t, uint64_t level)
{
    tpi_level_ref l;
    if (tpi_fresh(t) || tpi_level_find(level, t, &l)) return NULL;
    tp_node *leaf = tpi_is_differentiable(t->dtype) ? tpi_leaf_new(level) : NULL;
    tp_tensor *w = tpi_tracked_new(tpi_alias(t), level, l.level ? l.level->origin : TP_ORIGIN_AUTOGRAD, leaf, 0);
    if (leaf) tpi_node_release(leaf);
    return w;
}

tp_tensor *tp_reverse_unwrap(tp_tensor *t, uint64_t level)
{
    if (tpi_fresh(t) || !(t = tpi_peel_ambient(t, level))) return NULL;
    return tpi_retain(t->kind == TPI_TRACKED && t->level == level ? t->value : t);
}

bool tp_is_tracked(tp_tensor *t, uint64_t level)
{
    return !tpi_fresh(t) && t->kind == TPI_TRACKED && t->level == level && t->node;
}

static tpi_target target_of(tp_tensor *t, uint64_t level)
{
    t = tpi_peel_ambient(t, level);
    if (!t) return (tpi_target){NULL, 0};
    if (t->kind == TPI_TRACKED && t->level == level) return (tpi_target){t->node, t->out_nr};
    return (tpi_target){NULL, 0};
}

static int check_grad(const char *who, const tp_tensor *out, const tp_tensor *g)
{
    if (g->ndim != out->ndim || memcmp(g->shape, out->shape, sizeof(int64_t) * g->ndim))
        return tpi_fail(TP_ERR_VALUE, "%s: the cotangent has shape %s, the output %s", who, tpi_str(g), tpi_str(out));
    return TP_OK;
}

/* Runs the engine at `level`. With create_graph the level records (if it still lives); without, it alone is masked. */
static int run(uint64_t level, tp_tensor *const *outputs, tp_tensor *const *grads, int64_t n, tp_tensor *const *inputs,
               int64_t n_inputs, bool accumulate, bool prune, bool retain, bool create_graph, tp_tensor **results)
{
    tpi_target *to = calloc((size_t)(n + n_inputs + 1), sizeof *to);
    tp_tensor **g = calloc((size_t)n + 1, sizeof *g);
    int rc = to && g ? TP_OK : tpi_fail(TP_ERR_MEMORY, "out of memory: backward pass");
    for (int64_t i = 0; i < n && !rc; i++) {
        to[i] = target_of(outputs[i], level);
        if (!grads[i]) continue;
        rc = tpi_fresh(grads[i]);
        if (!rc) rc = check_grad("backward", outputs[i], grads[i]);
        if (rc) break;
        bool lower = !create_graph && grads[i]->kind == TPI_TRACKED && grads[i]->level == level;
        g[i] = tpi_retain(lower ? grads[i]->value : grads[i]);
        if (g[i]->dtype != outputs[i]->dtype) {
            tp_val a[2] = {val_t(g[i]), val_dtype(outputs[i]->dtype)};
            tp_tensor *cast = NULL;
            rc = tpi_call(&tpi_op_cast, a, &cast);
            tp_release(g[i]);
            g[i] = cast;
        }
    }
    for (int64_t i = 0; i < n_inputs && !rc; i++) to[n + i] = target_of(inputs[i], level);
    if (!rc) {
        tpi_level_ref l;
        int *flag = tpi_level_find(level, NULL, &l) == TP_OK ? tpi_mask_flag(&l) : NULL;
        int index = flag && l.level ? l.depth : -2;
        tp_error_clear();
        int before = flag ? *flag : 0, unmasked = tpi_levels.unmasked;
        if (flag) *flag = !create_graph;
        if (create_graph) tpi_levels.unmasked = unmasked + 1;
        tpi_engine_call c = {to, g, n, to + n, n_inputs, results, accumulate, prune, retain, create_graph};
        rc = tpi_engine_run(&c);
        tpi_levels.unmasked = unmasked;
        /* the stack may have moved while rules ran */
        if (index >= 0) {
            if (tpi_level_find(level, NULL, &l) == TP_OK) *tpi_mask_flag(&l) = before;
        } else if (flag) tpi_levels.ambient0_masked = before;
    }
    for (int64_t i = 0; i < n && g; i++) tp_release(g[i]);
    free(g);
    free(to);
    return rc;
}

static tp_tensor *ones_like(tp_tensor *t)
{
    tpi_scope scope;
    tpi_scope_open(&scope);
    T one = tpi_retain(x_ones_like(t));
    if (tpi_scope_close(&scope)) {
        tp_release(one);
        return NULL;
    }
    return one;
}

int tp_reverse_vjp(uint64_t level, tp_tensor *const *outputs, tp_tensor *const *grads_out, int64_t n_outputs,
                   tp_tensor *const *inputs, int64_t n_inputs, bool retain, bool create_graph, tp_tensor **grads_in)
{
    for (int64_t i = 0; i < n_inputs; i++) grads_in[i] = NULL;
    for (int64_t i = 0; i < n_outputs; i++)
        if (tpi_fresh(outputs[i])) return tp_error_code();
    tp_tensor *few[4] = {NULL}, **ones = NULL;
    int rc = TP_OK;
    if (!grads_out) {
        ones = n_outputs <= 4 ? few : calloc((size_t)n_outputs, sizeof *ones);
        if (!ones) return tpi_fail(TP_ERR_MEMORY, "out of memory: vjp");
        for (int64_t i = 0; i < n_outputs && !rc; i++)
            if (!(ones[i] = ones_like(outputs[i]))) rc = tp_error_code();
        grads_out = ones;
    }
    if (!rc)
        rc = run(level, outputs, grads_out, n_outputs, inputs, n_inputs, false, false, retain, create_graph, grads_in);
    for (int64_t i = 0; ones && i < n_outputs; i++) tp_release(ones[i]);
    if (ones != few) free(ones);
    if (rc)
        for (int64_t i = 0; i < n_inputs; i++) {
            tp_release(grads_in[i]);
            grads_in[i] = NULL;
        }
    return rc;
}

/* ---- plain autograd ---- */

/* Seeds: what was given, or ones for outputs of one element. seeds: n new references. */
static int seeds_of(const char *who, tp_tensor *const *outputs, tp_tensor *const *grads, int64_t n, tp_tensor **seeds)
{
    for (int64_t i = 0; i < n; i++) {
        if (grads && grads[i]) {
            seeds[i] = tpi_retain(grads[i]);
            int rc = check_grad(who, outputs[i], grads[i]);
            if (rc) return rc;
            continue;
        }
        if (outputs[i]->numel != 1)
            return tpi_fail(TP_ERR_RUNTIME,
                            "%s: the gradient of an output of shape %s is not defined without a cotangent; "
                            "pass one, or reduce the output to one element",
                            who, tpi_str(outputs[i]));
        seeds[i] = ones_like(outputs[i]);
        if (!seeds[i]) return tp_error_code();
    }
    return TP_OK;
}

static bool ambient_level(uint64_t id)
{
    if (id == TPI_AMBIENT0) return true;
    for (int i = 0; i < tpi_levels.depth; i++)
        if (tpi_levels.levels[i].ambient == id) return true;
    return false;
}

/* Is the tensor tracked at `level` anywhere below its outermost wrapper? */
static bool tracked_below(const tp_tensor *t, uint64_t level)
{
    for (t = t->value; t; t = t->value)
        if (t->kind == TPI_TRACKED && t->level == level && t->node) return true;
    return false;
}

int tp_autograd_grad(tp_tensor *const *outputs, tp_tensor *const *grads, int64_t n, tp_tensor *const *inputs,
                     int64_t n_inputs, bool retain, bool create_graph, bool allow_unused, tp_tensor **grads_in)
{
    int rc = TP_OK;
    for (int64_t i = 0; i < n_inputs; i++) grads_in[i] = NULL;
    uint64_t level = 0;
    for (int64_t i = 0; i < n_inputs; i++) {
        tp_tensor *t = inputs[i];
        if ((rc = tpi_fresh(t))) return rc;
        if (t->kind != TPI_TRACKED || !t->node)
            return tpi_fail(
                TP_ERR_RUNTIME,
                "grad: input %lld of shape %s %s; use vjp, or x.detach().requires_grad_() on what is to be "
                "differentiated",
                (long long)i, tpi_str(t),
                tracked_below(t, TPI_AMBIENT0) || t->value
                    ? "was captured from outside an active transform, which cannot be differentiated inside it"
                    : "does not require grad");
        if (t->level > level) level = t->level;
    }
    bool reached = false;
    for (int64_t i = 0; i < n; i++) {
        tp_tensor *o = outputs[i];
        if ((rc = tpi_fresh(o))) return rc;
        if (o->kind == TPI_TRACKED && o->level == level && o->node) reached = true;
        if (o->level > level)
            return tpi_fail(
                TP_ERR_RUNTIME,
                "grad: output %lld of shape %s depends on an active transform that the input was captured from "
                "outside of; use vjp, or make the input inside with x.detach().requires_grad_()",
                (long long)i, tpi_str(o));
    }
    for (int64_t i = 0; i < n_inputs; i++)
        if (inputs[i]->level < level) {
            for (int64_t k = 0; k < n; k++)
                if (tracked_below(outputs[k], inputs[i]->level))
                    return tpi_fail(
                        TP_ERR_RUNTIME,
                        "grad: input %lld of shape %s was captured from outside an active transform on which "
                        "the output depends; use vjp, or x.detach().requires_grad_()",
                        (long long)i, tpi_str(inputs[i]));
        }
    if (n_inputs && !reached)
        return tpi_fail(TP_ERR_RUNTIME,
                        "grad: no output requires grad: nothing was recorded between inputs and outputs");
    tpi_level_ref l;
    if (n_inputs && (rc = tpi_level_find(level, inputs[0], &l))) return rc;
    if (!ambient_level(level)) create_graph = retain = true; /* stays differentiable for the transform */
    retain |= create_graph;
    tp_tensor **seeds = calloc((size_t)n + 1, sizeof *seeds);
    if (!seeds) return tpi_fail(TP_ERR_MEMORY, "out of memory: grad");
    rc = seeds_of("grad", outputs, grads, n, seeds);
    if (!rc) rc = run(level, outputs, seeds, n, inputs, n_inputs, false, true, retain, create_graph, grads_in);
    for (int64_t i = 0; i < n; i++) tp_release(seeds[i]);
    free(seeds);
    for (int64_t i = 0; i < n_inputs && !rc && !allow_unused; i++)
        if (!grads_in[i])
            rc = tpi_fail(TP_ERR_RUNTIME,
                          "grad: the outputs do not depend on input %lld of shape %s; pass "
                          "allow_unused=True to get None",
                          (long long)i, tpi_str(inputs[i]));
    if (rc)
        for (int64_t i = 0; i < n_inputs; i++) {
            tp_release(grads_in[i]);
            grads_in[i] = NULL;
        }
    return rc;
}

/* Accumulates at every reverse level that the output is tracked at, outermost first: leaves of this depth, and,
 * through vmap, leaves captured from outside (there the cotangents of all samples are summed, as the loop would). */
static int backward_one(tp_tensor *out, tp_tensor *seed, tp_tensor *const *inputs, int64_t n_inputs, bool retain,
                        bool create_graph, bool *found)
{
    int rc = tpi_fresh(out);
    if (rc) return rc;
    if (out->kind == TPI_TRACKED && out->node) {
        *found = true;
        tp_tensor *none = NULL;
        tp_tensor **res = n_inputs ? calloc((size_t)n_inputs, sizeof *res) : &none;
        if (!res) return tpi_fail(TP_ERR_MEMORY, "out of memory: backward");
        bool keep = !ambient_level(out->level);
        rc = run(out->level, &out, &seed, 1, inputs, n_inputs, true, n_inputs > 0, retain || create_graph || keep,
                 create_graph || keep, res);
        if (n_inputs) {
            for (int64_t i = 0; i < n_inputs; i++) tp_release(res[i]);
            free(res);
        }
        if (rc) return rc;
    }
    if (!out->value) return TP_OK;
    tpi_scope scope;
    tpi_scope_open(&scope);
    T lower = seed;
    if (seed->level == out->level && seed->value) {
        lower = seed->value;
        if (out->kind == TPI_BATCHED) lower = x_movedim1(lower, seed->bdim, out->bdim);
    } else if (out->kind == TPI_BATCHED)
        lower = x_expand_to(x_unsqueeze_at(seed, out->bdim), out->value->ndim, out->value->shape);
    rc = tpi_bad() ? scope.failed : backward_one(out->value, lower, inputs, n_inputs, retain, create_graph, found);
    int closed = tpi_scope_close(&scope);
    return rc ? rc : closed;
}

int tp_backward(tp_tensor *const *outputs, tp_tensor *const *grads, int64_t n, tp_tensor *const *inputs,
                int64_t n_inputs, bool retain, bool create_graph)
{
    int rc = TP_OK;
    for (int64_t i = 0; i < n; i++)
        if ((rc = tpi_fresh(outputs[i]))) return rc;
    tp_tensor **seeds = calloc((size_t)n + 1, sizeof *seeds);
    if (!seeds) return tpi_fail(TP_ERR_MEMORY, "out of memory: backward");
    rc = seeds_of("backward", outputs, grads, n, seeds);
    bool all_ambient0 = n > 1;
    for (int64_t i = 0; i < n; i++)
        all_ambient0 &= outputs[i]->kind == TPI_TRACKED && outputs[i]->level == TPI_AMBIENT0;
    if (!rc && all_ambient0 && !n_inputs) /* several outputs share their graph: one walk */
        rc = run(TPI_AMBIENT0, outputs, seeds, n, NULL, 0, true, false, retain || create_graph, create_graph, NULL);
    else
        for (int64_t i = 0; i < n && !rc; i++) {
            bool found = false;
            rc = backward_one(outputs[i], seeds[i], inputs, n_inputs, retain || i + 1 < n, create_graph, &found);
            if (!rc && !found)
                rc = tpi_fail(TP_ERR_RUNTIME, "backward: output %lld of shape %s does not require grad", (long long)i,
                              tpi_str(outputs[i]));
        }
    for (int64_t i = 0; i < n; i++) tp_release(seeds[i]);
    free(seeds);
    return rc;
}

/* ---- properties of handles ---- */

bool tp_requires_grad(tp_tensor *t)
{
    if (tpi_fresh(t)) return false;
    for (; t; t = t->value)
        if (t->kind == TPI_TRACKED && t->node) return true;
    return false;
}

bool tp_is_leaf(tp_tensor *t)
{
    return tpi_fresh(t) || t->kind != TPI_TRACKED || !t->node || t->node->kind == TPI_NODE_LEAF;
}

int tp_set_requires_grad(tp_tensor *t, bool on)
{
    int rc = tpi_fresh(t);
    if (rc) return rc;
    bool tracked = t->kind == TPI_TRACKED && t->node;
    if (on && !tpi_is_differentiable(t->dtype))
        return tpi_fail(TP_ERR_RUNTIME, "requires_grad_: only floating and complex tensors can require grad, got %s",
                        tp_dtype_name(t->dtype));
    if (on == tracked) return TP_OK;
    if (!on) {
        if (t->node->kind != TPI_NODE_LEAF)
            return tpi_fail(TP_ERR_RUNTIME, "requires_grad_: only leaf tensors can stop requiring grad; use detach()");
        if (!ambient_level(t->level))
            return tpi_fail(TP_ERR_RUNTIME, "requires_grad_: a tensor that a transform differentiates cannot stop "
                                            "requiring grad; use detach()");
        tpi_content_move(t, tpi_retain(t->value));
        return TP_OK;
    }
    uint64_t id = tpi_ambient_id();
    tpi_level_ref l;
    rc = tpi_level_find(id, t, &l);
    if (rc) return rc;
    if (t->level > id) return tpi_fail(TP_ERR_RUNTIME, "requires_grad_: the tensor belongs to an inner transform");
    tp_node *leaf = tpi_leaf_new(id);
    if (!leaf) return TP_ERR_MEMORY;
    /* one reference is the leaf's, the other t's */
    leaf->gcell = t->gcell ? t->gcell : tpi_gcell_new();
    if (leaf->gcell) atomic_fetch_add(&leaf->gcell->refs, 1);
    tp_tensor *value = leaf->gcell ? tpi_snapshot(t) : NULL;
    tp_tensor *made = value ? tpi_tracked_new(value, id, TP_ORIGIN_AUTOGRAD, leaf, 0) : NULL;
    rc = made ? tpi_capture(&l, t) : TP_ERR_MEMORY;
    if (!rc) {
        if (!t->gcell) t->gcell = leaf->gcell;
        /* a leaf stands for itself: views made before keep sharing the memory, not the history */
        tp_tensor *base = t->base;
        tpi_chain *chain = t->chain;
        t->base = NULL;
        t->chain = NULL;
        tpi_content_move(t, made);
        tpi_chain_release(chain);
        tp_release(base);
    } else {
        tp_release(made);
        if (leaf->gcell && !t->gcell) tpi_gcell_release(leaf->gcell);
    }
    tpi_node_release(leaf);
    return rc;
}

tp_tensor *tp_grad_get(tp_tensor *t)
{
    tp_error_clear();
    if (!t->gcell) return NULL;
    pthread_mutex_lock(&t->gcell->lock);
    tp_tensor *g = tpi_retain(t->gcell->grad);
    pthread_mutex_unlock(&t->gcell->lock);
    return g;
}

int tp_grad_set(tp_tensor *t, tp_tensor *grad)
{
    if (grad && (grad->ndim != t->ndim || memcmp(grad->shape, t->shape, sizeof(int64_t) * t->ndim)))
        return tpi_fail(TP_ERR_RUNTIME, "grad: shape %s assigned to a tensor of shape %s", tpi_str(grad), tpi_str(t));
    if (grad && grad->dtype != t->dtype)
        return tpi_fail(TP_ERR_RUNTIME, "grad: dtype %s assigned to a tensor of dtype %s", tp_dtype_name(grad->dtype),
                        tp_dtype_name(t->dtype));
    if (!t->gcell && !(t->gcell = tpi_gcell_new())) return TP_ERR_MEMORY;
    pthread_mutex_lock(&t->gcell->lock);
    tp_tensor *old = t->gcell->grad;
    t->gcell->grad = tpi_retain(grad);
    pthread_mutex_unlock(&t->gcell->lock);
    tp_release(old);
    return TP_OK;
}

int tp_retain_grad(tp_tensor *t)
{
    int rc = tpi_fresh(t);
    if (rc) return rc;
    if (t->kind != TPI_TRACKED || !t->node)
        return tpi_fail(TP_ERR_RUNTIME, "retain_grad: the tensor does not require grad");
    if (t->node->kind == TPI_NODE_LEAF) return TP_OK;
    if (t->node->gcell && t->node->gcell_nr != t->out_nr)
        return tpi_fail(TP_ERR_RUNTIME, "retain_grad: another output of the same operator retains its gradient");
    if (!t->gcell && !(t->gcell = tpi_gcell_new())) return TP_ERR_MEMORY;
    if (!t->node->gcell) {
        atomic_fetch_add(&t->gcell->refs, 1);
        t->node->gcell = t->gcell;
        t->node->gcell_nr = t->out_nr;
    }
    return TP_OK;
}

static tp_tensor *detached(tp_tensor *t)
{
    if (tpi_fresh(t)) return NULL;
    switch (t->kind) {
    case TPI_TRACKED:
    case TPI_DUAL: return detached(t->value);
    case TPI_BATCHED: {
        tp_tensor *v = detached(t->value), *b = v ? tpi_batched_new(v, t->level, t->bdim) : NULL;
        if (b) b->birth = t->birth;
        return b;
    }
    default: return tpi_snapshot(t);
    }
}

tp_tensor *tp_detach(tp_tensor *t) { return detached(t); }

int tp_item(tp_tensor *t, tp_scalar *out)
{
    for (;;) {
        int rc = tpi_fresh(t);
        if (rc) return rc;
        if (t->kind == TPI_BATCHED)
            return tpi_fail(TP_ERR_RUNTIME,
                            "item: a tensor that is mapped over by vmap has one value a sample, not one; "
                            "keep it a tensor, and use where for a choice that depends on it");
        if (t->kind == TPI_DENSE) break;
        if (t->kind == TPI_META) return tpi_fail(TP_ERR_RUNTIME, "item: the tensor has no values");
        t = t->value;
    }
    if (t->numel != 1)
        return tpi_fail(TP_ERR_VALUE, "item: a tensor of shape %s has %lld elements, not one", tpi_str(t),
                        (long long)t->numel);
    tpi_load_scalar(tpi_data(t), t->dtype, out);
    return TP_OK;
}

/* ---- metadata for callers ---- */

int tp_ndim(const tp_tensor *t) { return t->ndim; }
int tp_tensor_dtype(const tp_tensor *t) { return t->dtype; }
int64_t tp_numel(const tp_tensor *t) { return t->numel; }
const int64_t *tp_shape(tp_tensor *t) { return t->shape; }
const int64_t *tp_strides(tp_tensor *t) { return tpi_fresh(t) ? NULL : t->strides; }
bool tp_is_contiguous(tp_tensor *t) { return !tpi_fresh(t) && tpi_contiguous(t); }

bool tp_is_readonly(tp_tensor *t)
{
    while (t->value) t = t->value;
    return t->storage && t->storage->readonly;
}

/* The memory of a plain tensor, or of a leaf of plain autograd at depth 0. */
void *tp_data(tp_tensor *t)
{
    if (tpi_fresh(t)) return NULL;
    while (t->kind == TPI_TRACKED && t->level == TPI_AMBIENT0) {
        t = t->value;
        if (tpi_fresh(t)) return NULL;
    }
    if (t->kind != TPI_DENSE)
        return tpi_null(TP_ERR_RUNTIME, "data: the tensor belongs to a transform and has no memory of its own; use "
                                        "detach() for its values, or debug_unwrap to look at it");
    return tpi_data(t);
}
