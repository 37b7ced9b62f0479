/* Scopes of rules, and the small helpers that rules share. */
#include "core/scope.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "x_ops.h"

_Thread_local tpi_scope *tpi_scope_top;

void tpi_scope_open(tpi_scope *s)
{
    s->parent = tpi_scope_top;
    s->failed = 0;
    s->n = 0;
    s->cap = (int)(sizeof s->inline_owned / sizeof *s->inline_owned);
    s->owned = s->inline_owned;
    tpi_scope_top = s;
}

int tpi_scope_close(tpi_scope *s)
{
    tpi_scope_top = s->parent;
    for (int i = s->n - 1; i >= 0; i--) tp_release(s->owned[i]);
    if (s->owned != s->inline_owned) free(s->owned);
    return s->failed;
}

T tpi_own(tp_tensor *t)
{
    tpi_scope *s = tpi_scope_top;
    if (!t) {
        if (!s->failed) s->failed = tp_error_code() ? tp_error_code() : TP_ERR_RUNTIME;
        return NULL;
    }
    if (s->n == s->cap) {
        size_t bytes = sizeof(T) * 2 * (size_t)s->cap;
        T *p = s->owned == s->inline_owned ? malloc(bytes) : realloc(s->owned, bytes);
        if (!p) {
            tp_release(t);
            s->failed = tpi_fail(TP_ERR_MEMORY, "out of memory: scope of a rule");
            return NULL;
        }
        if (s->owned == s->inline_owned) memcpy(p, s->inline_owned, sizeof s->inline_owned);
        s->owned = p;
        s->cap *= 2;
    }
    s->owned[s->n++] = t;
    return t;
}

T tpi_rule_fail(int code, const char *fmt, ...)
{
    char message[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    tpi_scope_top->failed = tpi_fail(code, "%s", message);
    return NULL;
}

/* ---- helpers ---- */

T x_alias(T t) { return tpi_bad() || !t ? NULL : tpi_own(tpi_retain(t)); }

T x_zeros_shape(int dtype, int ndim, const int64_t *shape)
{
    if (tpi_bad()) return NULL;
    tp_tensor *t = tpi_empty(dtype, ndim, shape);
    if (t) memset(tpi_data(t), 0, (size_t)t->numel * (size_t)tpi_esize(dtype));
    return tpi_own(t);
}

T x_zeros_like(T t) { return tpi_bad() || !t ? NULL : x_zeros_shape(t->dtype, t->ndim, t->shape); }

/* A constant of t's shape as an expanded 0-d tensor: nothing is materialised. */
T x_full_like(T t, double v)
{
    if (tpi_bad() || !t) return NULL;
    return x_expand_to(x_scalar(v, t), t->ndim, t->shape);
}

T x_ones_like(T t) { return x_full_like(t, 1.0); }

T x_scalar(double v, T like)
{
    if (tpi_bad() || !like) return NULL;
    tp_scalar s = {.tag = TP_SCALAR_FLOAT, .v.f = v};
    return tpi_own(tp_scalar_tensor(&s, like->dtype));
}

T x_iscalar(int64_t v, T like)
{
    if (tpi_bad() || !like) return NULL;
    tp_scalar s = {.tag = TP_SCALAR_INT, .v.i = v};
    return tpi_own(tp_scalar_tensor(&s, like->dtype));
}

T x_to_dtype(T t, int dtype)
{
    if (tpi_bad() || !t || t->dtype == dtype) return t;
    return x_cast(t, dtype);
}

T x_movedim1(T t, int from, int to)
{
    if (tpi_bad() || !t || from == to) return t;
    int64_t dims[TP_MAX_NDIM];
    int n = t->ndim, k = 0;
    for (int i = 0; i < n; i++) {
        if (k == from) k++;
        dims[i] = i == to ? from : k++;
    }
    return x_permute(t, dims, n);
}

T x_unsqueeze_at(T t, int dim)
{
    if (tpi_bad() || !t) return NULL;
    int64_t shape[TP_MAX_NDIM + 1];
    if (t->ndim == TP_MAX_NDIM) return tpi_rule_fail(TP_ERR_VALUE, "unsqueeze: more than %d dimensions", TP_MAX_NDIM);
    for (int i = 0; i < dim; i++) shape[i] = t->shape[i];
    shape[dim] = 1;
    for (int i = dim; i < t->ndim; i++) shape[i + 1] = t->shape[i];
    return x_view(t, shape, t->ndim + 1);
}

T x_reshape_to(T t, int ndim, const int64_t *shape)
{
    if (tpi_bad() || !t) return NULL;
    if (ndim == t->ndim && (!ndim || !memcmp(shape, t->shape, sizeof(int64_t) * (size_t)ndim))) return t;
    int64_t strides[TP_MAX_NDIM];
    if (tpi_view_strides(t->ndim, t->shape, t->strides, ndim, shape, strides)) return x_view(t, shape, ndim);
    return x_view(x_clone(t), shape, ndim);
}

T x_expand_to(T t, int ndim, const int64_t *shape)
{
    if (tpi_bad() || !t) return NULL;
    if (ndim == t->ndim && !memcmp(shape, t->shape, sizeof(int64_t) * (size_t)ndim)) return t;
    return x_expand(t, shape, ndim);
}

T x_sum_to_shape(T t, int ndim, const int64_t *shape)
{
    if (tpi_bad() || !t) return NULL;
    int64_t dims[TP_MAX_NDIM], n = 0;
    int lead = t->ndim - ndim;
    for (int i = 0; i < t->ndim; i++)
        if (i < lead || (shape[i - lead] == 1 && t->shape[i] != 1)) dims[n++] = i;
    if (!n) return t;
    return x_reshape_to(x_sum_dims(t, dims, n, false), ndim, shape);
}

T x_sum_to(T t, T like) { return !like ? NULL : x_sum_to_shape(t, like->ndim, like->shape); }
