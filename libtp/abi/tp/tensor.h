#ifndef TP_TENSOR_H
#define TP_TENSOR_H
#include "tp/dtype.h"
#include "tp/error.h"
TP_BEGIN_DECLS
typedef struct tp_tensor tp_tensor;
#define TP_MAX_NDIM 64
TP_API void tp_retain(tp_tensor *t);
TP_API void tp_release(tp_tensor *t);
TP_API int tp_ndim(const tp_tensor *t);
TP_API int tp_tensor_dtype(const tp_tensor *t);
TP_API int64_t tp_numel(const tp_tensor *t);
TP_API const int64_t *tp_shape(tp_tensor *t);
TP_API const int64_t *tp_strides(tp_tensor *t);
TP_API bool tp_is_contiguous(tp_tensor *t);
TP_API bool tp_is_wrapped(tp_tensor *t);
TP_API int64_t tp_version(tp_tensor *t);
TP_API tp_tensor *tp_empty_raw(int dtype, int ndim, const int64_t *shape);
TP_API tp_tensor *tp_from_data(const void *data, int dtype, int ndim, const int64_t *shape);
TP_API tp_tensor *tp_from_memory(void *data, int dtype, int ndim, const int64_t *shape, const int64_t *strides,
                                 bool readonly, void (*deleter)(void *), void *payload);
TP_API tp_tensor *tp_scalar_tensor(const tp_scalar *value, int dtype);
TP_API tp_tensor *tp_weak_scalar(const tp_scalar *value);
TP_API void *tp_data(tp_tensor *t);
TP_API bool tp_is_readonly(tp_tensor *t);
TP_API int tp_item(tp_tensor *t, tp_scalar *out);
TP_API bool tp_requires_grad(tp_tensor *t);
TP_API int tp_set_requires_grad(tp_tensor *t, bool value);
TP_API bool tp_is_leaf(tp_tensor *t);
TP_API tp_tensor *tp_grad_get(tp_tensor *t);
TP_API int tp_grad_set(tp_tensor *t, tp_tensor *grad);
TP_API int tp_retain_grad(tp_tensor *t);
TP_API tp_tensor *tp_detach(tp_tensor *t);
TP_API tp_tensor *tp_snapshot(tp_tensor *t);
TP_API tp_tensor *tp_unwrap_all(tp_tensor *t);
TP_API tp_tensor *tp_unwrap_one(tp_tensor *t);
TP_API void tp_free_list(tp_tensor **list, int64_t n);
TP_API int64_t tp_live_tensors(void);
TP_END_DECLS
#endif
