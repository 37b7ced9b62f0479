/* NOTE: scopes
 * A rule works in a scope that owns every intermediate and has a sticky error: operators called through the x_*
 * forms (x_ops.h, generated) return NULL once something failed, take NULL without harm, and hand their result to
 * the scope. So a rule reads as its formula and is checked once, at its end, by whoever opened the scope:
 *
 *     int foo__vjp(tp_vjp_ctx *c) {
 *         T g = c->grads[0];
 *         if (c->need[0]) c->out[0] = x_mul(g, x_conj(arg_t(&c->args[1])));
 *         return 0;
 *     }
 *
 * A result that must outlive the scope is retained by the opener (tpi_retain). */
#ifndef TPI_SCOPE_H
#define TPI_SCOPE_H

#include "tensor/tensor.h"

typedef tp_tensor *T;

typedef struct tpi_scope {
    struct tpi_scope *parent;
    int failed;                 /* the error code, 0: none */
    int n, cap;
    tp_tensor **owned;
    tp_tensor *inline_owned[24];
} tpi_scope;

extern _Thread_local tpi_scope *tpi_scope_top;

void tpi_scope_open(tpi_scope *s);
int tpi_scope_close(tpi_scope *s);     /* releases what it owns; returns the sticky error code */
T tpi_own(tp_tensor *t);               /* NULL: the scope becomes failed with the current error */
static inline bool tpi_bad(void) { return tpi_scope_top->failed != 0; }
/* For rules: fail with a message; returns NULL. */
T tpi_rule_fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Scope-owned helpers beside the generated x_ operators. All take NULL without harm. */
T x_sum_to(T t, T like);                                   /* sums broadcast dimensions down to like's shape */
T x_sum_to_shape(T t, int ndim, const int64_t *shape);
T x_zeros_like(T t);                                       /* plain zeros of t's visible shape and dtype */
T x_ones_like(T t);
T x_full_like(T t, double v);                              /* plain, t's shape and dtype */
T x_scalar(double v, T like);                              /* 0-d of like's dtype */
T x_iscalar(int64_t v, T like);
T x_zeros_shape(int dtype, int ndim, const int64_t *shape);
T x_to_dtype(T t, int dtype);
T x_alias(T t);                                            /* same tensor, owned by the scope once more */
T x_movedim1(T t, int from, int to);                       /* moves one dimension; t itself when from == to */
T x_unsqueeze_at(T t, int dim);
T x_reshape_to(T t, int ndim, const int64_t *shape);
T x_expand_to(T t, int ndim, const int64_t *shape);

#endif
