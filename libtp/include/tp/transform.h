/* Function transforms over callbacks: what tp/level.h does by hand, done.
 *
 * The transforms nest freely: a callback may call any of them, and an operator inside of it sees all levels. Results
 * are new references; arguments are borrowed. On failure the code is returned, the message is that of the operator or
 * of the callback, no level stays behind, and all entries of the results are NULL.
 *
 * argnums says with respect to which arguments a function is differentiated: n_argnums different numbers of arguments,
 * negative ones counted from the end; NULL: all. Differentiated arguments are floating or complex (TP_ERR_RUNTIME). */
#ifndef TP_TRANSFORM_H
#define TP_TRANSFORM_H

#include "tp/level.h"

TP_BEGIN_DECLS

/* A function of n_args tensors. results has n_results entries, NULL at first; the function stores a new reference in
 * each and returns TP_OK, or it returns an error code, with the error set (tp_error_set, or by the call that failed);
 * what it has stored by then is released. It runs in the thread of the transform, perhaps more than once. */
typedef int (*tp_function_call)(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results,
                                int64_t n_results);

/* The payload belongs to the transform from the call on, also when that fails: destroy(payload) runs exactly once,
 * before the transform returns. destroy may be NULL: nothing to destroy. */
typedef struct tp_function {
    size_t struct_size; /* sizeof(tp_function) */
    tp_function_call call;
    void *payload;
    void (*destroy)(void *payload);
} tp_function;

/* An entry of in_dims or out_dims: not mapped. */
#define TP_DIM_NONE INT32_MIN

typedef struct tp_vmap_options {
    size_t struct_size;   /* sizeof(tp_vmap_options) */
    const int *in_dims;   /* n_args: the dimension to map over, negative ones counted from the end; NULL: all 0 */
    const int *out_dims;  /* n_results: where the mapped dimension goes; NULL: all 0 */
    int randomness;       /* tp_randomness */
    int64_t batch_size;   /* 0: that of the arguments; needed where none is mapped */
    int64_t chunk_size;   /* at most so many samples at once; 0: all */
} tp_vmap_options;

/* Maps f over a dimension of its arguments. options NULL: the defaults. TP_ERR_VALUE for dims and sizes that do not
 * fit; random operators in f fail with TP_ERR_RUNTIME unless randomness allows them. */
TP_API int tp_vmap(const tp_function *f, tp_tensor *const *args, int64_t n_args, const tp_vmap_options *options,
                   tp_tensor **results, int64_t n_results);

/* The value of f, and the cotangents of its arguments for those of its results: grads has n_args entries of the
 * arguments' shapes, zeros where the results do not depend on one. An entry of cotangents may be NULL: zeros;
 * cotangents NULL: ones, for results of one element. results may be NULL: not asked for. */
TP_API int tp_vjp(const tp_function *f, tp_tensor *const *args, int64_t n_args, tp_tensor *const *cotangents,
                  tp_tensor **results, int64_t n_results, tp_tensor **grads);

/* The gradient of f, whose one result is real and 0-d: grads has n_argnums entries. value may be NULL: not wanted. */
TP_API int tp_grad(const tp_function *f, tp_tensor *const *args, int64_t n_args, const int64_t *argnums,
                   int64_t n_argnums, tp_tensor **value, tp_tensor **grads);

/* The value of f, and the tangents of its results for those of its arguments. Entries of tangents may be NULL: zeros.
 * results may be NULL: not asked for. */
TP_API int tp_jvp(const tp_function *f, tp_tensor *const *args, tp_tensor *const *tangents, int64_t n_args,
                  tp_tensor **results, tp_tensor **result_tangents, int64_t n_results);

/* Jacobians by reverse and by forward mode: jacobians[i * n_argnums + j] is that of result i by argument j, of shape
 * [*result, *argument]. results may be NULL: not asked for. Reverse mode is cheaper where results have fewer elements
 * than arguments. */
TP_API int tp_jacrev(const tp_function *f, tp_tensor *const *args, int64_t n_args, const int64_t *argnums,
                     int64_t n_argnums, tp_tensor **results, int64_t n_results, tp_tensor **jacobians);
TP_API int tp_jacfwd(const tp_function *f, tp_tensor *const *args, int64_t n_args, const int64_t *argnums,
                     int64_t n_argnums, tp_tensor **results, int64_t n_results, tp_tensor **jacobians);

/* Second derivatives of the one result of f, forward over reverse: hessians[i * n_argnums + j] is the derivative by
 * arguments i and j, of shape [*result, *argument i, *argument j]. */
TP_API int tp_hessian(const tp_function *f, tp_tensor *const *args, int64_t n_args, const int64_t *argnums,
                      int64_t n_argnums, tp_tensor **hessians);

TP_END_DECLS
#endif
