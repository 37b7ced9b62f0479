/* Inside of a tensor handle, storage and the geometry helpers. Internal.
 *
 * NOTE: handles, values and aliases
 * A handle is what a caller holds; its content can be replaced by a write. Content is one of
 *   TPI_DENSE    storage + offset + shape + strides (level 0)
 *   TPI_BATCHED  a lower value and the position of its hidden batch dimension
 *   TPI_TRACKED  a lower value and the graph node (and output number) that made it
 *   TPI_DUAL     a lower value and a tangent (NULL: zero)
 *   TPI_META     shape and dtype only (what a node keeps of an argument whose values it does not need)
 * shape and strides are always those the function sees (of the sample).
 *
 * Aliasing: the first tensor of a family is the root; every view holds the root (`base`) and the chain of view
 * operators that leads from the root to it, and remembers the root's generation (`gen`). When a write replaces the
 * content of the root (a tracked or batched value is written into it), root->gen grows, and a view whose gen lags
 * is regenerated on its next use by replaying its chain: tpi_fresh(). Dense memory is written through and needs no
 * regeneration. Inner values (t->value) are never handed to a caller as the same handle that a wrapper owns, unless
 * the wrapper is about to die.
 */
#ifndef TPI_TENSOR_H
#define TPI_TENSOR_H

#include <stdatomic.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "tp/tensor.h"

enum { TPI_DENSE = 0, TPI_BATCHED = 1, TPI_TRACKED = 2, TPI_DUAL = 3, TPI_META = 4 };
enum { TPI_F_WEAK = 1, TPI_F_RETAIN_GRAD = 2, TPI_F_LEAF = 4 };

typedef struct tp_node tp_node;
typedef struct tpi_chain tpi_chain;

typedef struct tpi_storage {
    _Atomic int64_t refs;
    char *data;
    size_t bytes;
    _Atomic uint32_t version;
    bool readonly;
    bool foreign;
    void (*deleter)(void *);
    void *payload;
} tpi_storage;

#define TPI_INLINE_DIMS 5

struct tp_tensor {
#ifdef TP_CHECKED
    uint64_t magic;            /* TPI_ALIVE, or TPI_DEAD once released */
#endif
    _Atomic int32_t refs;
    uint8_t kind, dtype, ndim, flags;
    uint64_t level;            /* id of the level this handle's content belongs to; 0 for dense */
    int64_t numel;
    int64_t *shape, *strides;  /* into `dims`, or one heap block of 2*ndim */
    int64_t dims[2 * TPI_INLINE_DIMS];
    /* dense */
    tpi_storage *storage;
    int64_t offset;            /* in elements */
    /* wrapped */
    tp_tensor *value;
    tp_tensor *tangent;        /* dual */
    tp_node *node;             /* tracked: NULL for a constant of the level */
    uint32_t out_nr;
    int32_t bdim;              /* batched */
    uint8_t origin;            /* tp_origin of the level, for messages */
    /* aliasing */
    uint32_t gen;
    tp_tensor *base;           /* NULL for a root */
    tpi_chain *chain;
    uint64_t birth;            /* id of the innermost level when the tensor was made */
    struct tpi_gcell *gcell;   /* where backward() accumulates: leaves and retain_grad */
};

/* A link of a view chain: a view operator and its arguments after the tensor (all integers or int lists). */
struct tpi_chain {
    _Atomic int32_t refs;
    tpi_chain *parent;
    const struct tp_op *op;
    int32_t nargs;             /* without the tensor */
    struct tp_val *args;       /* owned */
};

/* ---- handles ---- */
tp_tensor *tpi_handle_new(int ndim); /* zeroed but for refs=1, ndim, shape/strides pointers, birth */
tp_tensor *tpi_dense_new(tpi_storage *s /*stolen*/, int64_t offset, int dtype, int ndim, const int64_t *shape,
                         const int64_t *strides /*NULL: contiguous*/);
tp_tensor *tpi_empty(int dtype, int ndim, const int64_t *shape); /* contiguous, checked sizes */
tp_tensor *tpi_empty_like(const tp_tensor *t, int dtype); /* same shape, contiguous */
tp_tensor *tpi_meta(const tp_tensor *t);
/* A dense view of t's storage. t must be dense. Sets base/chain nowhere: dispatch does. */
tp_tensor *tpi_dense_view(tp_tensor *t, int ndim, const int64_t *shape, const int64_t *strides, int64_t offset);
/* Same content in a new handle that is not connected to t's alias family: a snapshot. */
tp_tensor *tpi_snapshot(tp_tensor *t);
/* An identity view of t: follows what is written into t. */
tp_tensor *tpi_alias(tp_tensor *t);
/* Replaces the content of dst by that of src (reference is consumed), keeping dst's identity. */
void tpi_content_move(tp_tensor *dst, tp_tensor *src);
/* Brings a view up to date with its root. 0, or an error. Inline test, slow path out of line. */
int tpi_regenerate(tp_tensor *t);
#ifdef TP_CHECKED
#define TPI_ALIVE 0x7470616c69766521u
#define TPI_DEAD 0x747064656164bad0u
/* A checked build keeps released handles aside for a while, so that their use is reported, not undefined. */
int tpi_check_handle(const tp_tensor *t);
#else
static inline int tpi_check_handle(const tp_tensor *t)
{
    (void)t;
    return 0;
}
#endif
static inline int tpi_fresh(tp_tensor *t)
{
    if (tpi_check_handle(t)) return TP_ERR_VALUE;
    return t->base && t->base->gen != t->gen ? tpi_regenerate(t) : 0;
}
static inline tp_tensor *tpi_root(tp_tensor *t) { return t->base ? t->base : t; }
static inline tp_tensor *tpi_retain(tp_tensor *t)
{
    if (t) atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

/* View chains. */
tpi_chain *tpi_chain_push(tpi_chain *parent, const struct tp_op *op, const struct tp_val *args, int nargs);
void tpi_chain_release(tpi_chain *c);
int tpi_chain_apply(const tpi_chain *link, tp_tensor *t, tp_tensor **out);
tp_tensor *tpi_chain_replay(const tpi_chain *chain, tp_tensor *root);
int tpi_set_alias(tp_tensor *out, tp_tensor *of, const struct tp_op *op, const struct tp_val *args);

tpi_storage *tpi_storage_new(size_t bytes);
void tpi_storage_retain(tpi_storage *s);
void tpi_storage_release(tpi_storage *s);

/* ---- dense access (kernels) ---- */
static inline void *tpi_data(const tp_tensor *t)
{
    static const uint8_t size[TP_DTYPE_COUNT] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16};
    return t->storage->data + t->offset * size[t->dtype];
}
static inline int tpi_esize(int dtype)
{
    static const uint8_t size[TP_DTYPE_COUNT] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16};
    return size[dtype];
}
bool tpi_contiguous(const tp_tensor *t); /* dense or wrapped, from shape and strides */
/* A dense contiguous tensor with t's values: t itself (new reference) if it is contiguous already. */
tp_tensor *tpi_dense_contiguous(tp_tensor *t);
/* Writable check for kernels that write into t: readonly memory and expanded dimensions are errors. */
int tpi_check_writable(const char *op, const tp_tensor *t);
/* 0: certainly disjoint; 1: may overlap; 2: the very same elements in the same order. */
int tpi_overlap(const tp_tensor *a, const tp_tensor *b);
static inline void tpi_bump_version(tp_tensor *t) { atomic_fetch_add(&t->storage->version, 1); }

/* ---- shape arithmetic ---- */
int tpi_numel(const char *op, int ndim, const int64_t *shape, int64_t *numel); /* negative or overflowing: error */
void tpi_contiguous_strides(int ndim, const int64_t *shape, int64_t *strides);
/* Result shape of broadcasting; error names op and both shapes. */
int tpi_broadcast_shapes(const char *op, int na, const int64_t *a, int nb, const int64_t *b, int *nout, int64_t *out);
/* dim in [-ndim, ndim) -> [0, ndim); a 0-d tensor accepts -1 and 0 (-> 0). IndexError otherwise. */
int tpi_wrap_dim(const char *op, int64_t dim, int ndim, int *out);
/* Strides that make `shape` a view of (old_shape, old_strides); false if there are none. */
bool tpi_view_strides(int old_ndim, const int64_t *old_shape, const int64_t *old_strides, int ndim,
                      const int64_t *shape, int64_t *strides);
/* Resolves one -1 entry; error names op. */
int tpi_infer_size(const char *op, int64_t numel, int ndim, const int64_t *shape, int64_t *out);
/* "[2, 3]" into a thread-local ring of buffers: valid for the next 8 calls. */
const char *tpi_shape_str(int ndim, const int64_t *shape);
static inline const char *tpi_str(const tp_tensor *t) { return tpi_shape_str(t->ndim, t->shape); }

/* ---- dtype ---- */
int tpi_result_type(int n, tp_tensor *const *ts); /* PyTorch's rules: dimensioned > 0-d > weak */
bool tpi_can_cast(int from, int to); /* the category does not drop */
int tpi_to_real(int dtype); /* complex64 -> float32, ...; others unchanged */
int tpi_to_complex(int dtype);
int tpi_compute_dtype(int dtype); /* half types -> float32 */
static inline bool tpi_is_float(int d) { return d >= TP_FLOAT16 && d <= TP_FLOAT64; }
static inline bool tpi_is_complex(int d) { return d >= TP_COMPLEX64; }
static inline bool tpi_is_differentiable(int d) { return d >= TP_FLOAT16; }
static inline bool tpi_is_int(int d) { return d >= TP_UINT8 && d <= TP_INT64; }
void tpi_store_scalar(void *p, int dtype, const tp_scalar *s);
void tpi_load_scalar(const void *p, int dtype, tp_scalar *s);
float tpi_half_to_float(uint16_t h);
uint16_t tpi_float_to_half(float f);
static inline float tpi_bf16_to_float(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static inline uint16_t tpi_float_to_bf16(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((u >> 16) | 0x40);
    return (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

#endif
