/* The level stack of a thread. */
#include "levels/graph.h"
#include "levels/levels.h"

_Thread_local tpi_stack tpi_levels = {.masked_count = -1};

/* 0: no level; 1: the process-wide ambient level. */
static _Atomic uint64_t next_id = 2;

static uint64_t new_id(void) { return atomic_fetch_add(&next_id, 1); }

uint64_t tpi_top_id(void)
{
    tpi_stack *s = &tpi_levels;
    if (!s->depth) return TPI_AMBIENT0;
    tpi_level *l = &s->levels[s->depth - 1];
    return l->ambient ? l->ambient : l->id;
}

int tp_level_depth(void) { return tpi_levels.depth; }

static tpi_level *push(int kind, int origin)
{
    tpi_stack *s = &tpi_levels;
    if (s->depth == s->cap) {
        int cap = s->cap ? 2 * s->cap : 8;
        tpi_level *p = realloc(s->levels, sizeof *p * (size_t)cap);
        if (!p) {
            tpi_fail(TP_ERR_MEMORY, "out of memory: level stack");
            return NULL;
        }
        s->levels = p;
        s->cap = cap;
    }
    tpi_level *l = &s->levels[s->depth];
    memset(l, 0, sizeof *l);
    l->id = new_id();
    l->kind = kind;
    l->origin = origin;
    s->depth++;
    return l;
}

uint64_t tp_vmap_push(int64_t batch_size, int randomness)
{
    if (batch_size < 0) {
        tpi_fail(TP_ERR_VALUE, "vmap: negative batch size %lld", (long long)batch_size);
        return 0;
    }
    if (randomness < TP_RANDOM_ERROR || randomness > TP_RANDOM_SAME) {
        tpi_fail(TP_ERR_VALUE, "vmap: unknown randomness %d", randomness);
        return 0;
    }
    tpi_level *l = push(TP_LEVEL_VMAP, TP_ORIGIN_VMAP);
    if (!l) return 0;
    l->batch = batch_size;
    l->randomness = randomness;
    tpi_levels.nvmap++;
    return l->id;
}

uint64_t tp_reverse_push(int origin)
{
    tpi_level *l = push(TP_LEVEL_REVERSE, origin);
    return l ? l->id : 0;
}

uint64_t tp_forward_push(int origin)
{
    tpi_level *l = push(TP_LEVEL_FORWARD, origin);
    return l ? l->id : 0;
}

/* Tensors that were made outside and written to inside belong to the level until it ends: plain again now. */
static void restore_captured(tp_tensor **list, int64_t n, uint64_t id)
{
    for (int64_t i = 0; i < n; i++) {
        tp_tensor *t = list[i];
        if (t->level == id && t->value) {
            tpi_content_move(t, tpi_retain(t->value));
            t->gen++;
        }
        tp_release(t);
    }
    free(list);
}

int tp_level_pop_to(int depth)
{
    tpi_stack *s = &tpi_levels;
    if (depth < 0 || depth > s->depth)
        return tpi_fail(TP_ERR_VALUE, "level_pop_to: depth %d, the stack has %d", depth, s->depth);
    while (s->depth > depth) {
        /* off the stack first: releases below may run callbacks */
        tpi_level l = s->levels[--s->depth];
        if (l.kind == TP_LEVEL_VMAP) s->nvmap--;
        restore_captured(l.ambient_captured, l.nambient, l.ambient);
        restore_captured(l.captured, l.ncaptured, l.id);
    }
    if (s->depth == 0) { /* a thread that ends leaves nothing behind */
        free(s->levels);
        s->levels = NULL;
        s->cap = 0;
    }
    return TP_OK;
}

static const char *origin_name(int origin)
{
    static const char *const n[] = {"a transform", "vmap",    "grad",      "vjp",      "jvp",       "jacrev",
                                    "jacfwd",      "hessian", "linearize", "autograd", "a Function"};
    return origin >= 0 && origin < (int)(sizeof n / sizeof *n) ? n[origin] : n[0];
}

static bool masked(int index)
{
    tpi_stack *s = &tpi_levels;
    return !s->unmasked && s->masked_count >= 0 && index < s->masked_count;
}

int tpi_level_find(uint64_t id, const tp_tensor *culprit, tpi_level_ref *out)
{
    tpi_stack *s = &tpi_levels;
    for (int i = s->depth - 1; i >= 0; i--) {
        tpi_level *l = &s->levels[i];
        if (l->id == id) {
            *out = (tpi_level_ref){l, l->kind, i, false, (l->masked && !s->unmasked) || masked(i)};
            return TP_OK;
        }
        if (l->ambient == id) {
            *out = (tpi_level_ref){l, TP_LEVEL_REVERSE, i, true, (l->ambient_masked && !s->unmasked) || masked(i)};
            return TP_OK;
        }
    }
    if (id == TPI_AMBIENT0) {
        *out = (tpi_level_ref){NULL, TP_LEVEL_REVERSE, -1, true, (s->ambient0_masked && !s->unmasked) || masked(-1)};
        return TP_OK;
    }
    return tpi_fail(TP_ERR_RUNTIME,
                    "a tensor of shape %s escaped from %s: its level has ended (or belongs to another thread); return "
                    "it from the function, with has_aux=True if it is not to be transformed",
                    culprit ? tpi_str(culprit) : "[]", origin_name(culprit ? culprit->origin : 0));
}

uint64_t tpi_ambient_id(void)
{
    tpi_stack *s = &tpi_levels;
    if (!s->depth) return TPI_AMBIENT0;
    tpi_level *l = &s->levels[s->depth - 1];
    if (!l->ambient) l->ambient = new_id();
    return l->ambient;
}

int tpi_capture(const tpi_level_ref *l, tp_tensor *root)
{
    if (!l->level) return TP_OK;
    if (root->birth >= l->level->id) return TP_OK;
    tp_tensor ***list = l->ambient ? &l->level->ambient_captured : &l->level->captured;
    int64_t *n = l->ambient ? &l->level->nambient : &l->level->ncaptured;
    int64_t *cap = l->ambient ? &l->level->cap_ambient : &l->level->cap_captured;
    if (*n == *cap) {
        int64_t c = *cap ? 2 * *cap : 8;
        tp_tensor **p = realloc(*list, sizeof *p * (size_t)c);
        if (!p) return tpi_fail(TP_ERR_MEMORY, "out of memory: captured tensors");
        *list = p;
        *cap = c;
    }
    (*list)[(*n)++] = tpi_retain(root);
    return TP_OK;
}

int *tpi_mask_flag(const tpi_level_ref *l)
{
    return !l->level ? &tpi_levels.ambient0_masked : l->ambient ? &l->level->ambient_masked : &l->level->masked;
}

/* ---- no_grad ---- */

int tp_grad_mode_set(bool enabled)
{
    int token = tpi_levels.masked_count;
    tpi_levels.masked_count = enabled ? -1 : tpi_levels.depth;
    return token;
}

int tp_grad_mode_restore(int token)
{
    tpi_levels.masked_count = token;
    return TP_OK;
}

bool tp_grad_mode_get(void) { return tpi_levels.masked_count < tpi_levels.depth; }

/* ---- asking about tensors ---- */

uint64_t tp_level_of(tp_tensor *t) { return tpi_fresh(t) ? 0 : t->level; }

int tp_level_kind_of(tp_tensor *t)
{
    if (tpi_fresh(t)) return TP_LEVEL_NONE;
    switch (t->kind) {
    case TPI_BATCHED: return TP_LEVEL_VMAP;
    case TPI_TRACKED: return TP_LEVEL_REVERSE;
    case TPI_DUAL: return TP_LEVEL_FORWARD;
    default: return TP_LEVEL_NONE;
    }
}

tp_tensor *tp_snapshot(tp_tensor *t) { return tpi_fresh(t) ? NULL : tpi_snapshot(t); }

/* NOTE: plain autograd inside a transform records at the ambient level above it, which ends with it: a value that
 * leaves the transform leaves that recording behind. Where the transform has ended as well (its vjp function is called
 * later), its ambient level is known by its origin, and by its number, which is larger. */
tp_tensor *tpi_peel_ambient(tp_tensor *t, uint64_t level)
{
    tpi_stack *s = &tpi_levels;
    int i = s->depth - 1;
    while (i >= 0 && s->levels[i].id != level) i--;
    while (t->kind == TPI_TRACKED &&
           (i >= 0 ? t->level == s->levels[i].ambient : t->level > level && t->origin == TP_ORIGIN_AUTOGRAD)) {
        t = t->value;
        if (tpi_fresh(t)) return NULL;
    }
    return t;
}

bool tp_is_wrapped(tp_tensor *t) { return !tpi_fresh(t) && t->kind != TPI_DENSE; }

tp_tensor *tp_unwrap_one(tp_tensor *t)
{
    if (tpi_fresh(t)) return NULL;
    return tpi_alias(t->value ? t->value : t);
}

tp_tensor *tp_unwrap_all(tp_tensor *t)
{
    if (tpi_fresh(t)) return NULL;
    while (t->value) {
        t = t->value;
        if (tpi_fresh(t)) return NULL;
    }
    return tpi_alias(t);
}
