#ifndef TP_TRANSFORM_H
#define TP_TRANSFORM_H
#include "tp/level.h"
TP_BEGIN_DECLS
typedef int (*tp_function_call)(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results,
                                int64_t n_results);
typedef struct tp_function {
    size_t struct_size;
    tp_function_call call;
    void *payload;
    void (*destroy)(void *payload);
} tp_function;
#define TP_DIM_NONE INT32_MIN
typedef struct tp_vmap_options {
    size_t struct_size;
    const int *in_dims;
    const int *out_dims;
    int randomness;
    int64_t batch_size;
    int64_t chunk_size;
} tp_vmap_options;
TP_API int tp_vmap(const tp_function *f, tp_tensor *const *args, int64_t n_args, const tp_vmap_options *options,
                   tp_tensor **results, int64_t n_results);
TP_API int tp_vjp(const tp_function *f, tp_tensor *const *args, int64_t n_args, tp_tensor *const *cotangents,
                  tp_tensor **results, int64_t n_results, tp_tensor **grads);
TP_API int tp_grad(const tp_function *f, tp_tensor *const *args, int64_t n_args, const int64_t *argnums,
                   int64_t n_argnums, tp_tensor **value, tp_tensor **grads);
TP_API int tp_jvp(const tp_function *f, tp_tensor *const *args, tp_tensor *const *tangents, int64_t n_args,
                  tp_tensor **results, tp_tensor **result_tangents, int64_t n_results);
TP_API int tp_jacrev(const tp_function *f, tp_tensor *const *args, int64_t n_args, const int64_t *argnums,
                     int64_t n_argnums, tp_tensor **results, int64_t n_results, tp_tensor **jacobians);
TP_API int tp_jacfwd(const tp_function *f, tp_tensor *const *args, int64_t n_args, const int64_t *argnums,
                     int64_t n_argnums, tp_tensor **results, int64_t n_results, tp_tensor **jacobians);
TP_API int tp_hessian(const tp_function *f, tp_tensor *const *args, int64_t n_args, const int64_t *argnums,
                      int64_t n_argnums, tp_tensor **hessians);
TP_END_DECLS
#endif
