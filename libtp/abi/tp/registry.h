#ifndef TP_REGISTRY_H
#define TP_REGISTRY_H
#include "tp/random.h"
#include "tp/tensor.h"
TP_BEGIN_DECLS
typedef enum tp_value_tag {
    TP_VALUE_NONE = 0,
    TP_VALUE_TENSOR = 1,
    TP_VALUE_TENSORS = 2,
    TP_VALUE_INT = 3,
    TP_VALUE_FLOAT = 4,
    TP_VALUE_BOOL = 5,
    TP_VALUE_SCALAR = 6,
    TP_VALUE_INTS = 7,
    TP_VALUE_STRING = 8,
    TP_VALUE_DTYPE = 9,
    TP_VALUE_GENERATOR = 10,
    TP_VALUE_FLOATS = 11
} tp_value_tag;
typedef struct tp_value {
    int32_t tag;
    int32_t reserved;
    int64_t n;
    union {
        tp_tensor *tensor;
        tp_tensor *const *tensors;
        int64_t i;
        double f;
        tp_scalar scalar;
        const int64_t *ints;
        const double *floats;
        const char *string;
        tp_generator *generator;
    } v;
} tp_value;
typedef struct tp_op tp_op;
TP_API int64_t tp_op_count(void);
TP_API const tp_op *tp_op_at(int64_t i);
TP_API const tp_op *tp_op_find(const char *name);
TP_API const char *tp_op_name(const tp_op *op);
TP_API const char *tp_op_signature(
    const tp_op *op);
TP_API const char *tp_op_doc(const tp_op *op);
TP_API int tp_op_n_args(const tp_op *op);
TP_API int tp_op_n_results(const tp_op *op);
typedef struct tp_op_argument {
    size_t struct_size;
    const char *name;
    const char *type;
    int tag;
    bool optional;
    bool has_default;
    tp_value value;
} tp_op_argument;
TP_API int tp_op_get_argument(const tp_op *op, int i, tp_op_argument *argument);
TP_API int tp_op_call(const tp_op *op, const tp_value *args, int64_t n_args, tp_tensor **results, int64_t n_results);
TP_API int tp_op_call_list(const tp_op *op, const tp_value *args, int64_t n_args, tp_tensor ***results,
                           int64_t *n_results);
TP_END_DECLS
#endif
