#ifndef TP_LEVEL_H
#define TP_LEVEL_H
#include "tp/tensor.h"
TP_BEGIN_DECLS
typedef enum tp_level_kind {
    TP_LEVEL_NONE = 0,
    TP_LEVEL_VMAP = 1,
    TP_LEVEL_REVERSE = 2,
    TP_LEVEL_FORWARD = 3
} tp_level_kind;
typedef enum tp_randomness { TP_RANDOM_ERROR = 0, TP_RANDOM_DIFFERENT = 1, TP_RANDOM_SAME = 2 } tp_randomness;
typedef enum tp_origin {
    TP_ORIGIN_NONE = 0,
    TP_ORIGIN_VMAP = 1,
    TP_ORIGIN_GRAD = 2,
    TP_ORIGIN_VJP = 3,
    TP_ORIGIN_JVP = 4,
    TP_ORIGIN_JACREV = 5,
    TP_ORIGIN_JACFWD = 6,
    TP_ORIGIN_HESSIAN = 7,
    TP_ORIGIN_LINEARIZE = 8,
    TP_ORIGIN_AUTOGRAD = 9,
    TP_ORIGIN_FUNCTION = 10
} tp_origin;
TP_API int tp_level_depth(void);
TP_API uint64_t tp_vmap_push(int64_t batch_size, int randomness);
TP_API uint64_t tp_reverse_push(int origin);
TP_API uint64_t tp_forward_push(int origin);
TP_API int tp_level_pop_to(int depth);
TP_API uint64_t tp_level_of(tp_tensor *t);
TP_API int tp_level_kind_of(tp_tensor *t);
TP_API tp_tensor *tp_batch_wrap(tp_tensor *t, uint64_t level, int bdim);
TP_API tp_tensor *tp_batch_unwrap(tp_tensor *t, uint64_t level, int out_dim);
TP_API int tp_batch_dim(tp_tensor *t, uint64_t level);
TP_API tp_tensor *tp_reverse_wrap(tp_tensor *t, uint64_t level);
TP_API tp_tensor *tp_reverse_unwrap(tp_tensor *t, uint64_t level);
TP_API int tp_reverse_vjp(uint64_t level, tp_tensor *const *outputs, tp_tensor *const *grads_out, int64_t n_outputs,
                          tp_tensor *const *inputs, int64_t n_inputs, bool retain, bool create_graph,
                          tp_tensor **grads_in);
TP_API bool tp_is_tracked(tp_tensor *t, uint64_t level);
TP_API tp_tensor *tp_forward_wrap(tp_tensor *primal, tp_tensor *tangent, uint64_t level);
TP_API tp_tensor *tp_forward_primal(tp_tensor *t, uint64_t level);
TP_API tp_tensor *tp_forward_tangent(tp_tensor *t, uint64_t level);
TP_API int tp_grad_mode_set(bool enabled);
TP_API int tp_grad_mode_restore(int token);
TP_API bool tp_grad_mode_get(void);
TP_API int tp_backward(tp_tensor *const *outputs, tp_tensor *const *grads, int64_t n, tp_tensor *const *inputs,
                       int64_t n_inputs, bool retain, bool create_graph);
TP_API int tp_autograd_grad(tp_tensor *const *outputs, tp_tensor *const *grads, int64_t n, tp_tensor *const *inputs,
                            int64_t n_inputs, bool retain, bool create_graph, bool allow_unused, tp_tensor **grads_in);
TP_END_DECLS
#endif
