#ifndef TP_DTYPE_H
#define TP_DTYPE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tp/common.h"
TP_BEGIN_DECLS
typedef enum tp_dtype {
    TP_BOOL = 0,
    TP_UINT8 = 1,
    TP_INT8 = 2,
    TP_UINT16 = 3,
    TP_INT16 = 4,
    TP_UINT32 = 5,
    TP_INT32 = 6,
    TP_UINT64 = 7,
    TP_INT64 = 8,
    TP_FLOAT16 = 9,
    TP_BFLOAT16 = 10,
    TP_FLOAT32 = 11,
    TP_FLOAT64 = 12,
    TP_COMPLEX64 = 13,
    TP_COMPLEX128 = 14
} tp_dtype;
#define TP_DTYPE_COUNT 15
#define TP_DTYPE_NONE (-1)
#define TP_INT_NONE INT64_MIN
typedef enum tp_scalar_tag {
    TP_SCALAR_BOOL = 1,
    TP_SCALAR_INT = 2,
    TP_SCALAR_UINT = 3,
    TP_SCALAR_FLOAT = 4,
    TP_SCALAR_COMPLEX = 5
} tp_scalar_tag;
typedef struct tp_scalar {
    int32_t tag;
    int32_t reserved;
    union {
        int64_t i;
        uint64_t u;
        double f;
        double c[2];
    } v;
} tp_scalar;
TP_API size_t tp_dtype_size(int dtype);
TP_API const char *tp_dtype_name(int dtype);
TP_API bool tp_dtype_is_floating(int dtype);
TP_API bool tp_dtype_is_complex(int dtype);
TP_API bool tp_dtype_is_integral(int dtype);
TP_API int tp_promote_types(int a, int b);
TP_API int tp_get_default_dtype(void);
TP_API int tp_set_default_dtype(int dtype);
TP_END_DECLS
#endif
