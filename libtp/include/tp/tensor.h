/* Tensor handles.
 *
 * A tensor is opaque and reference counted. Functions that return `tp_tensor *` hand one reference to the
 * caller; NULL means an error, whose code and message are thread-local (tp/error.h). Arguments are borrowed. */
#ifndef TP_TENSOR_H
#define TP_TENSOR_H

#include "tp/dtype.h"
#include "tp/error.h"

TP_BEGIN_DECLS

typedef struct tp_tensor tp_tensor;

#define TP_MAX_NDIM 64

TP_API void tp_retain(tp_tensor *t);
TP_API void tp_release(tp_tensor *t);          /* NULL is fine; any thread */

/* What the running function sees: under vmap these are those of one sample. */
TP_API int tp_ndim(const tp_tensor *t);
TP_API int tp_tensor_dtype(const tp_tensor *t);
TP_API int64_t tp_numel(const tp_tensor *t);
TP_API const int64_t *tp_shape(tp_tensor *t);   /* tp_ndim entries; valid while t lives and is not written to */
TP_API const int64_t *tp_strides(tp_tensor *t); /* in elements */
TP_API bool tp_is_contiguous(tp_tensor *t);
TP_API bool tp_is_wrapped(tp_tensor *t);        /* belongs to a level: has no memory of its own */
TP_API int64_t tp_version(tp_tensor *t);        /* grows with every write through any alias */

/* Creation. Contents of tp_empty are undefined. Sizes must not be negative (TP_ERR_VALUE). */
TP_API tp_tensor *tp_empty_raw(int dtype, int ndim, const int64_t *shape);
TP_API tp_tensor *tp_from_data(const void *data, int dtype, int ndim, const int64_t *shape); /* copies */
/* Borrow foreign memory; `deleter(payload)` runs once when the last alias dies (or at once on failure).
 * strides NULL: contiguous. Strides are in elements and may be negative or zero. */
TP_API tp_tensor *tp_from_memory(void *data, int dtype, int ndim, const int64_t *shape, const int64_t *strides,
                                 bool readonly, void (*deleter)(void *), void *payload);
TP_API tp_tensor *tp_scalar_tensor(const tp_scalar *value, int dtype); /* 0-d */
/* A 0-d tensor that promotes like a Python number ("weak"): dtype only matters by its category. */
TP_API tp_tensor *tp_weak_scalar(const tp_scalar *value);

/* Memory of a plain tensor. Wrapped tensors have none: NULL and TP_ERR_RUNTIME. */
TP_API void *tp_data(tp_tensor *t);
TP_API bool tp_is_readonly(tp_tensor *t);
/* Reads the single element of t (any level that is not batched). */
TP_API int tp_item(tp_tensor *t, tp_scalar *out);

/* Plain autograd. */
TP_API bool tp_requires_grad(tp_tensor *t);
TP_API int tp_set_requires_grad(tp_tensor *t, bool value);
TP_API bool tp_is_leaf(tp_tensor *t);
TP_API tp_tensor *tp_grad_get(tp_tensor *t);            /* new reference, or NULL without an error: no gradient */
TP_API int tp_grad_set(tp_tensor *t, tp_tensor *grad);  /* grad may be NULL */
TP_API int tp_retain_grad(tp_tensor *t);
/* An alias of the same memory that no level tracks. */
TP_API tp_tensor *tp_detach(tp_tensor *t);
/* A handle with t's present content (value, history, tangent): later writes into t do not change which history it
 * has. What a transform keeps of an argument that the function may overwrite. */
TP_API tp_tensor *tp_snapshot(tp_tensor *t);
TP_API tp_tensor *tp_unwrap_all(tp_tensor *t);
TP_API tp_tensor *tp_unwrap_one(tp_tensor *t);
TP_API void tp_free_list(tp_tensor **list, int64_t n);  /* of operators that return several tensors */
TP_API int64_t tp_live_tensors(void);                   /* handles alive in this process, for leak tests */

TP_END_DECLS
#endif
