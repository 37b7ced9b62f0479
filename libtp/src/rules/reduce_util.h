/* What the rules and composites of reductions, scans and sorts share. Internal. */
#ifndef TPI_RULES_REDUCE_UTIL_H
#define TPI_RULES_REDUCE_UTIL_H

#include "core/error.h"
#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

typedef struct tpi_dims {
    int n;
    int64_t v[TP_MAX_NDIM];
} tpi_dims;

/* A `dim` argument (int or list, or None) -> distinct non-negative dimensions. None and an empty list are all
 * dimensions; those of a 0-d tensor are none. */
int tpi_get_dims(const char *op, const tp_tensor *x, const tp_val *dim, tpi_dims *out);

/* The shape of self with the listed dimensions 1. */
T tpi_keep_dims(T reduced, T self, const tp_val *dim, bool keepdim);

int tpi_need_float(const char *op, const tp_tensor *x, bool complex_too);
int tpi_need_real(const char *op, const tp_tensor *x);

/* self converted to the dtype argument, if there is one; integers and bool to the default dtype if `floating`. */
static inline T tpi_as(T x, const tp_val *dtype, bool floating)
{
    if (dtype && !arg_none(dtype)) return x_to_dtype(x, (int)arg_i(dtype));
    return floating && x->dtype < TP_FLOAT16 ? x_to_dtype(x, tp_get_default_dtype()) : x;
}

/* A 0-d tensor as one of a single element, for operators along a dimension; others as they are. */
static inline T tpi_lift(T x)
{
    const int64_t one = 1;
    return x && x->ndim == 0 ? x_reshape_to(x, 1, &one) : x;
}

/* The real part of a complex tensor; a real one as it is. */
static inline T tpi_real(T x) { return x ? x_to_dtype(x, tpi_to_real(x->dtype)) : NULL; }

/* t shifted by `by` along dim: element j is t[j - by], 0 where there is none. */
T tpi_shift(T t, int dim, int64_t by);

#endif
