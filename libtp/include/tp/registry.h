/* The operators by name: what there is, with which arguments, and the call of any of them with boxed arguments.
 *
 * An operator is a pointer that lives as long as the library. `name` is as in the table: "add", "sum.dim"; a name that
 * ends in `_` writes into its first argument and has no result. */
#ifndef TP_REGISTRY_H
#define TP_REGISTRY_H

#include "tp/random.h"
#include "tp/tensor.h"

TP_BEGIN_DECLS

/* What a value is; also what an argument takes. */
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

/* A boxed argument. What it points to is borrowed. */
typedef struct tp_value {
    int32_t tag; /* tp_value_tag */
    int32_t reserved;
    int64_t n;   /* length of a list */
    union {
        tp_tensor *tensor;
        tp_tensor *const *tensors;
        int64_t i; /* an integer, a bool (0 or 1), a dtype */
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
TP_API const tp_op *tp_op_at(int64_t i);            /* sorted by name; NULL and TP_ERR_INDEX out of range */
TP_API const tp_op *tp_op_find(const char *name);   /* NULL and TP_ERR_NOT_IMPLEMENTED for an unknown one */
TP_API const char *tp_op_name(const tp_op *op);
TP_API const char *tp_op_signature(
    const tp_op *op); /* "add(Tensor self, Operand other, *, Scalar alpha=1) -> Tensor" */
TP_API const char *tp_op_doc(const tp_op *op);      /* one line */
TP_API int tp_op_n_args(const tp_op *op);
TP_API int tp_op_n_results(const tp_op *op);        /* -1: a list; 0: writes into its first argument */

typedef struct tp_op_argument {
    size_t struct_size;    /* set by the caller: sizeof(tp_op_argument) */
    const char *name;
    const char *type;      /* as in the signature: "Tensor", "Operand" (a tensor or a number), "int[]?" */
    int tag;               /* of a value that is present */
    bool optional;         /* may be TP_VALUE_NONE */
    bool has_default;
    tp_value value;        /* the default */
} tp_op_argument;

/* Describes argument i, 0 <= i < tp_op_n_args(op). */
TP_API int tp_op_get_argument(const tp_op *op, int i, tp_op_argument *argument);

/* Calls op. Arguments that are not given, at the end or as TP_VALUE_NONE where the argument is not optional, have their
 * defaults. An integer is taken for a float, any number for a Scalar or an Operand. Anything else that does not fit is
 * TP_ERR_TYPE with the argument's name. results: tp_op_n_results(op) new references. */
TP_API int tp_op_call(const tp_op *op, const tp_value *args, int64_t n_args, tp_tensor **results, int64_t n_results);
/* The same for operators that return a list; *results is released with tp_free_list. */
TP_API int tp_op_call_list(const tp_op *op, const tp_value *args, int64_t n_args, tp_tensor ***results,
                           int64_t *n_results);

TP_END_DECLS
#endif
