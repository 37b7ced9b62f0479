/* Handles and storage: creation, release, snapshots, aliases. */
#include "tensor/tensor.h"

#include <pthread.h>

#include "levels/graph.h"
#include "levels/levels.h"

static _Atomic int64_t live;

int64_t tp_live_tensors(void) { return atomic_load(&live); }

/* ---- storage ---- */

tpi_storage *tpi_storage_new(size_t bytes)
{
    tpi_storage *s = tpi_obj_alloc(sizeof *s);
    if (!s) return NULL;
    memset(s, 0, sizeof *s);
    s->data = tpi_alloc(bytes);
    if (!s->data) {
        tpi_obj_free(s, sizeof *s);
        return NULL;
    }
    atomic_init(&s->refs, 1);
    s->bytes = bytes;
    return s;
}

void tpi_storage_retain(tpi_storage *s) { atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed); }

void tpi_storage_release(tpi_storage *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1) return;
    if (s->foreign) {
        if (s->deleter) s->deleter(s->payload);
    } else tpi_free(s->data, s->bytes);
    tpi_obj_free(s, sizeof *s);
}

/* ---- handles ---- */

#ifdef TP_CHECKED
#define QUARANTINE 4096
static tp_tensor *quarantine[QUARANTINE];
static int64_t quarantined;
static pthread_mutex_t quarantine_lock = PTHREAD_MUTEX_INITIALIZER;

int tpi_check_handle(const tp_tensor *t)
{
    if (!t) return tpi_fail(TP_ERR_VALUE, "a tensor handle is NULL");
    if (t->magic == TPI_ALIVE) return TP_OK;
    return tpi_fail(TP_ERR_VALUE, t->magic == TPI_DEAD ? "a tensor handle was used after it had been released"
                                                       : "a pointer is not a tensor handle");
}

static void free_handle(tp_tensor *t)
{
    t->magic = TPI_DEAD;
    pthread_mutex_lock(&quarantine_lock);
    tp_tensor **slot = &quarantine[quarantined++ % QUARANTINE], *oldest = *slot;
    *slot = t;
    pthread_mutex_unlock(&quarantine_lock);
    if (oldest) tpi_obj_free(oldest, sizeof *oldest);
}
#else
static void free_handle(tp_tensor *t) { tpi_obj_free(t, sizeof *t); }
#endif

tp_tensor *tpi_handle_new(int ndim)
{
    tp_tensor *t = tpi_obj_alloc(sizeof *t);
    if (!t) return NULL;
    memset(t, 0, sizeof *t);
#ifdef TP_CHECKED
    t->magic = TPI_ALIVE;
#endif
    atomic_init(&t->refs, 1);
    t->ndim = (uint8_t)ndim;
    if (ndim <= TPI_INLINE_DIMS) {
        t->shape = t->dims;
        t->strides = t->dims + TPI_INLINE_DIMS;
    } else {
        t->shape = tpi_obj_alloc(2 * sizeof(int64_t) * (size_t)ndim);
        if (!t->shape) {
            tpi_obj_free(t, sizeof *t);
            return NULL;
        }
        t->strides = t->shape + ndim;
    }
    t->birth = tpi_top_id();
    atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return t;
}

static void chain_release(tpi_chain *c)
{
    while (c && atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1) {
        tpi_chain *parent = c->parent;
        for (int i = 0; i < c->nargs; i++)
            if (c->args[i].tag == TPI_INTS && c->args[i].n > 0)
                tpi_obj_free((void *)c->args[i].v.ints, sizeof(int64_t) * (size_t)c->args[i].n);
        tpi_obj_free(c, sizeof *c + sizeof(tp_val) * (size_t)c->nargs);
        c = parent;
    }
}

void tpi_chain_release(tpi_chain *c) { chain_release(c); }

tpi_chain *tpi_chain_push(tpi_chain *parent, const tp_op *op, const tp_val *args, int nargs)
{
    tpi_chain *c = tpi_obj_alloc(sizeof *c + sizeof(tp_val) * (size_t)nargs);
    if (!c) return NULL;
    atomic_init(&c->refs, 1);
    c->parent = parent;
    if (parent) atomic_fetch_add_explicit(&parent->refs, 1, memory_order_relaxed);
    c->op = op;
    c->nargs = nargs;
    c->args = (tp_val *)(c + 1);
    for (int i = 0; i < nargs; i++) {
        c->args[i] = args[i];
        if (args[i].tag != TPI_INTS || args[i].n <= 0) continue;
        size_t bytes = sizeof(int64_t) * (size_t)args[i].n;
        int64_t *copy = tpi_obj_alloc(bytes);
        if (!copy) {
            c->nargs = i;
            size_t size = sizeof *c + sizeof(tp_val) * (size_t)nargs;
            for (int j = 0; j < i; j++)
                if (c->args[j].tag == TPI_INTS && c->args[j].n > 0)
                    tpi_obj_free((void *)c->args[j].v.ints, sizeof(int64_t) * (size_t)c->args[j].n);
            if (parent) chain_release(parent);
            tpi_obj_free(c, size);
            return NULL;
        }
        memcpy(copy, args[i].v.ints, bytes);
        c->args[i].v.ints = copy;
    }
    return c;
}

static void content_release(tp_tensor *t)
{
    if (t->ndim > TPI_INLINE_DIMS) tpi_obj_free(t->shape, 2 * sizeof(int64_t) * t->ndim);
    tpi_storage_release(t->storage);
    tp_release(t->value);
    tp_release(t->tangent);
    if (t->node) tpi_node_release(t->node);
}

void tp_retain(tp_tensor *t) { tpi_retain(t); }

/* Nesting of values is bounded by the level depth; what could be long, the graph behind `node`, goes through the
 * worklist of tpi_node_release, so this recursion stays shallow. */
void tp_release(tp_tensor *t)
{
    if (!t || tpi_check_handle(t)) return;
    if (atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1) return;
    content_release(t);
    if (t->gcell) tpi_gcell_release(t->gcell);
    chain_release(t->chain);
    tp_release(t->base);
    free_handle(t);
    atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
}

static int64_t product(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    for (int i = 0; i < ndim; i++) n *= shape[i];
    return n;
}

tp_tensor *tpi_dense_new(tpi_storage *s, int64_t offset, int dtype, int ndim, const int64_t *shape,
                         const int64_t *strides)
{
    tp_tensor *t = s ? tpi_handle_new(ndim) : NULL;
    if (!t) {
        tpi_storage_release(s);
        return NULL;
    }
    t->dtype = (uint8_t)dtype;
    t->storage = s;
    t->offset = offset;
    t->numel = product(ndim, shape);
    if (ndim) memcpy(t->shape, shape, sizeof(int64_t) * (size_t)ndim); /* shape may be NULL for a 0-d tensor */
    if (strides) memcpy(t->strides, strides, sizeof(int64_t) * (size_t)ndim);
    else tpi_contiguous_strides(ndim, shape, t->strides);
    return t;
}

static tp_tensor *empty_checked(const char *op, int dtype, int ndim, const int64_t *shape)
{
    int64_t n;
    if (tpi_numel(op, ndim, shape, &n)) return NULL;
    return tpi_dense_new(tpi_storage_new((size_t)n * (size_t)tpi_esize(dtype)), 0, dtype, ndim, shape, NULL);
}

tp_tensor *tpi_empty(int dtype, int ndim, const int64_t *shape) { return empty_checked("empty", dtype, ndim, shape); }

tp_tensor *tpi_empty_like(const tp_tensor *t, int dtype)
{
    return empty_checked("empty_like", dtype, t->ndim, t->shape);
}

tp_tensor *tp_empty_raw(int dtype, int ndim, const int64_t *shape)
{
    if (dtype < 0 || dtype >= TP_DTYPE_COUNT) return tpi_null(TP_ERR_TYPE, "empty: unknown dtype %d", dtype);
    return empty_checked("empty", dtype, ndim, shape);
}

tp_tensor *tp_from_data(const void *data, int dtype, int ndim, const int64_t *shape)
{
    tp_tensor *t = tp_empty_raw(dtype, ndim, shape);
    if (t && t->numel) memcpy(tpi_data(t), data, (size_t)t->numel * (size_t)tpi_esize(dtype));
    return t;
}

tp_tensor *tp_from_memory(void *data, int dtype, int ndim, const int64_t *shape, const int64_t *strides, bool readonly,
                          void (*deleter)(void *), void *payload)
{
    int64_t n;
    tpi_storage *s = NULL;
    if (dtype < 0 || dtype >= TP_DTYPE_COUNT) tpi_fail(TP_ERR_TYPE, "from_memory: unknown dtype %d", dtype);
    else if (!data && ndim >= 0 && tpi_numel("from_memory", ndim, shape, &n) == TP_OK && n > 0)
        tpi_fail(TP_ERR_VALUE, "from_memory: data is NULL for shape %s", tpi_shape_str(ndim, shape));
    else if (tpi_numel("from_memory", ndim, shape, &n) == TP_OK) s = tpi_obj_alloc(sizeof *s);
    if (!s) {
        if (deleter) deleter(payload);
        return NULL;
    }
    memset(s, 0, sizeof *s);
    atomic_init(&s->refs, 1);
    s->data = data;
    s->bytes = (size_t)n * (size_t)tpi_esize(dtype);
    s->foreign = true;
    s->readonly = readonly;
    s->deleter = deleter;
    s->payload = payload;
    return tpi_dense_new(s, 0, dtype, ndim, shape, strides);
}

tp_tensor *tp_scalar_tensor(const tp_scalar *value, int dtype)
{
    tp_tensor *t = tp_empty_raw(dtype, 0, NULL);
    if (t) tpi_store_scalar(tpi_data(t), dtype, value);
    return t;
}

tp_tensor *tp_weak_scalar(const tp_scalar *v)
{
    int dtype = v->tag == TP_SCALAR_BOOL    ? TP_BOOL
                : v->tag == TP_SCALAR_INT   ? TP_INT64
                : v->tag == TP_SCALAR_UINT  ? TP_UINT64
                : v->tag == TP_SCALAR_FLOAT ? TP_FLOAT64
                                            : TP_COMPLEX128;
    tp_tensor *t = tp_scalar_tensor(v, dtype);
    if (t) t->flags |= TPI_F_WEAK;
    return t;
}

static void copy_geometry(tp_tensor *d, const tp_tensor *t)
{
    d->dtype = t->dtype;
    d->numel = t->numel;
    memcpy(d->shape, t->shape, sizeof(int64_t) * t->ndim);
    memcpy(d->strides, t->strides, sizeof(int64_t) * t->ndim);
}

tp_tensor *tpi_meta(const tp_tensor *t)
{
    tp_tensor *m = tpi_handle_new(t->ndim);
    if (!m) return NULL;
    copy_geometry(m, t);
    m->kind = TPI_META;
    return m;
}

tp_tensor *tpi_dense_view(tp_tensor *t, int ndim, const int64_t *shape, const int64_t *strides, int64_t offset)
{
    if (t->kind != TPI_DENSE) return tpi_null(TP_ERR_RUNTIME, "view: the tensor has no memory of its own");
    tpi_storage_retain(t->storage);
    tp_tensor *v = tpi_dense_new(t->storage, offset, t->dtype, ndim, shape, strides);
    if (v) v->birth = t->birth;
    return v;
}

tp_tensor *tpi_snapshot(tp_tensor *t)
{
    tp_tensor *s = tpi_handle_new(t->ndim);
    if (!s) return NULL;
    copy_geometry(s, t);
    s->kind = t->kind;
    s->flags = t->flags;
    s->level = t->level;
    s->offset = t->offset;
    s->storage = t->storage;
    if (s->storage) tpi_storage_retain(s->storage);
    s->value = tpi_retain(t->value);
    s->tangent = tpi_retain(t->tangent);
    s->node = t->node;
    if (s->node) tpi_node_retain(s->node);
    s->out_nr = t->out_nr;
    s->bdim = t->bdim;
    s->origin = t->origin;
    s->birth = t->birth;
    return s;
}

tp_tensor *tpi_alias(tp_tensor *t)
{
    if (tpi_fresh(t)) return NULL;
    tp_tensor *a = tpi_snapshot(t);
    if (!a) return NULL;
    tp_tensor *root = tpi_root(t);
    a->base = tpi_retain(root);
    a->chain = t->chain;
    if (a->chain) atomic_fetch_add_explicit(&a->chain->refs, 1, memory_order_relaxed);
    a->gen = root->gen;
    return a;
}

#define SWAP(field)                          \
    do {                                     \
        __typeof__(a->field) tmp = a->field; \
        a->field = b->field;                 \
        b->field = tmp;                      \
    } while (0)

static void content_swap(tp_tensor *a, tp_tensor *b)
{
    SWAP(kind);
    SWAP(dtype);
    SWAP(ndim);
    SWAP(level);
    SWAP(numel);
    SWAP(shape);
    SWAP(strides);
    int64_t dims[2 * TPI_INLINE_DIMS];
    memcpy(dims, a->dims, sizeof dims);
    memcpy(a->dims, b->dims, sizeof dims);
    memcpy(b->dims, dims, sizeof dims);
    if (a->ndim <= TPI_INLINE_DIMS) {
        a->shape = a->dims;
        a->strides = a->dims + TPI_INLINE_DIMS;
    }
    if (b->ndim <= TPI_INLINE_DIMS) {
        b->shape = b->dims;
        b->strides = b->dims + TPI_INLINE_DIMS;
    }
    SWAP(storage);
    SWAP(offset);
    SWAP(value);
    SWAP(tangent);
    SWAP(node);
    SWAP(out_nr);
    SWAP(bdim);
    SWAP(origin);
}

void tpi_content_move(tp_tensor *dst, tp_tensor *src)
{
    if (!src) return;
    tp_tensor *s = src;
    if (atomic_load(&src->refs) != 1) {
        s = tpi_snapshot(src);
        tp_release(src);
        if (!s) return;
    }
    content_swap(dst, s);
    tp_release(s);
}

int tpi_chain_apply(const tpi_chain *c, tp_tensor *t, tp_tensor **out)
{
    tp_val args[TPI_MAX_ARGS];
    args[0] = val_t(t);
    memcpy(args + 1, c->args, sizeof(tp_val) * (size_t)c->nargs);
    return tpi_call(c->op, args, out);
}

/* Applies the links of chain, the oldest first, to view, which is consumed. */
static tp_tensor *replay(const tpi_chain *chain, tp_tensor *view)
{
    int n = 0;
    for (const tpi_chain *c = chain; c; c = c->parent) n++;
    const tpi_chain *few[16], **links = n <= 16 ? few : tpi_obj_alloc(sizeof *links * (size_t)n);
    if (!links) {
        tp_release(view);
        return NULL;
    }
    int at = n;
    for (const tpi_chain *c = chain; c; c = c->parent) links[--at] = c;
    for (int i = 0; i < n && view; i++) {
        tp_tensor *next = NULL;
        int rc = tpi_chain_apply(links[i], view, &next);
        tp_release(view);
        view = rc ? NULL : next;
    }
    if (links != few) tpi_obj_free(links, sizeof *links * (size_t)n);
    return view;
}

/* The view that chain describes, of any tensor that has the root's shape. New reference. */
tp_tensor *tpi_chain_replay(const tpi_chain *chain, tp_tensor *root)
{
    tp_tensor *view = tpi_alias(root);
    return view ? replay(chain, view) : NULL;
}

/* Regeneration touches a handle that other threads may be reading: one at a time, and only after a write. */
int tpi_regenerate(tp_tensor *t)
{
    tp_tensor *root = t->base;
    uint32_t gen = root->gen;
    tpi_levels.unmasked++;
    tp_tensor *view = t->chain ? replay(t->chain, tpi_retain(root)) : tpi_snapshot(root);
    tpi_levels.unmasked--;
    if (!view) return tp_error_code();
    tpi_content_move(t, view);
    t->gen = gen;
    return TP_OK;
}

int tpi_set_alias(tp_tensor *out, tp_tensor *of, const tp_op *op, const tp_val *args)
{
    tpi_chain *c = tpi_chain_push(of->chain, op, args + 1, op->nargs - 1);
    if (!c) return TP_ERR_MEMORY;
    tp_tensor *root = tpi_root(of);
    out->base = tpi_retain(root);
    out->chain = c;
    out->gen = root->gen;
    return TP_OK;
}
