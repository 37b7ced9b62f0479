/* What the composites and rules of products share. Internal. */
#ifndef TPI_RULES_MATMUL_UTIL_H
#define TPI_RULES_MATMUL_UTIL_H

#include "core/error.h"
#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

/* The two last dimensions changed places; the same, conjugated. */
static inline T tpi_mT(T t)
{
    if (!t || tpi_bad()) return NULL; /* after a failure t may be no matrix */
    int64_t dims[TPI_DIMS_CAP];
    int n = t->ndim;
    for (int i = 0; i < n - 2; i++) dims[i] = i;
    dims[n - 2] = n - 1;
    dims[n - 1] = n - 2;
    return x_permute(t, dims, n);
}
static inline T tpi_mH(T t) { return x_conj(tpi_mT(t)); }

/* A factor for each matrix: [...] as [..., 1, 1]. */
static inline T tpi_whole(T t) { return t ? x_unsqueeze_at(x_unsqueeze_at(t, t->ndim), t->ndim + 1) : NULL; }

/* Identity matrices like t, [..., n, n]. */
static inline T tpi_eye_like(T t)
{
    if (!t) return NULL;
    int64_t n = t->shape[t->ndim - 1];
    return x_expand_to(x_eye(n, n, t->dtype), t->ndim, t->shape);
}

/* Whether LAPACK has routines for a's dtype, and a is a matrix or a batch of them; the error names op. */
static inline int tpi_need_matrix(const char *op, const tp_tensor *a)
{
    if (a->dtype < TP_FLOAT32)
        return tpi_fail(TP_ERR_TYPE, "%s: needs float32, float64, complex64 or complex128, got %s", op,
                        tp_dtype_name(a->dtype));
    if (a->ndim < 2) return tpi_fail(TP_ERR_RUNTIME, "%s: needs at least 2 dimensions, got shape %s", op, tpi_str(a));
    return 0;
}

/* As tpi_need_matrix, and square. */
int tpi_need_square(const char *op, const tp_tensor *a);
/* Square a beside matrices b of its dtype that a multiplies from the left, or from the right. */
int tpi_need_pair(const char *op, const tp_tensor *a, const tp_tensor *b, bool left);
/* Both matrices with the leading dimensions that they broadcast to. */
int tpi_broadcast_lead(const char *op, T *a, T *b);

/* All dimensions but the last as one. */
static inline T tpi_rows(T t)
{
    if (!t || t->ndim == 2) return t;
    int64_t shape[2] = {1, t->shape[t->ndim - 1]};
    for (int i = 0; i < t->ndim - 1; i++) shape[0] *= t->shape[i];
    return x_reshape_to(t, 2, shape);
}

/* The matrix product of two tensors of at least two dimensions whose sizes agree; leading dimensions broadcast. */
T tpi_product(T a, T b);

/* Whether both are bool, which have no products; the error names op. */
int tpi_need_numbers(const char *op, const tp_tensor *a, const tp_tensor *b);

/* matmul without its checks of dtype; for composites that have made theirs. */
T tpi_matmul(const char *op, T a, T b);

#endif
