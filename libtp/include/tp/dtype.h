/* Element types. Values are explicit and never reused. */
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
#define TP_DTYPE_NONE (-1)       /* an absent optional dtype argument */
#define TP_INT_NONE INT64_MIN    /* an absent optional integer argument */

/* A Python-like number. `tag` says which member holds it. */
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
        int64_t i;   /* bool (0 or 1) and int */
        uint64_t u;
        double f;
        double c[2]; /* real, imaginary */
    } v;
} tp_scalar;

TP_API size_t tp_dtype_size(int dtype);        /* bytes of one element; 0 for an unknown dtype */
TP_API const char *tp_dtype_name(int dtype);   /* "float32"; NULL for an unknown dtype */
TP_API bool tp_dtype_is_floating(int dtype);   /* float16, bfloat16, float32, float64 */
TP_API bool tp_dtype_is_complex(int dtype);
TP_API bool tp_dtype_is_integral(int dtype);   /* every integer, not bool */
TP_API int tp_promote_types(int a, int b);     /* the smallest dtype that both convert to */
TP_API int tp_get_default_dtype(void);         /* float32 unless it was set */
TP_API int tp_set_default_dtype(int dtype);    /* floating dtypes only */

TP_END_DECLS
#endif
