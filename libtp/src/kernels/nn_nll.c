/* The entries of log-probabilities that class numbers choose, and the adjoint. */
#include "core/pool.h"
#include "kernels/kernels.h"
#include "kernels/shape.h"

/* A walk over the dimensions of `target`, and beside it over those of the tensor with one dimension more. */
typedef struct walk {
    int ndim;
    int64_t at[TP_MAX_NDIM], shape[TP_MAX_NDIM];
    int64_t st[TP_MAX_NDIM], sx[TP_MAX_NDIM]; /* strides of target and of the other */
    int64_t t, x;
} walk;

static void walk_start(walk *w, const tp_tensor *target, const int64_t *x_strides, int dim)
{
    w->ndim = target->ndim;
    w->t = w->x = 0;
    for (int d = 0; d < w->ndim; d++) {
        w->at[d] = 0;
        w->shape[d] = target->shape[d];
        w->st[d] = target->strides[d];
        w->sx[d] = x_strides[d < dim ? d : d + 1];
    }
}

static inline void walk_next(walk *w)
{
    for (int d = w->ndim - 1; d >= 0; d--) {
        w->t += w->st[d];
        w->x += w->sx[d];
        if (++w->at[d] < w->shape[d]) return;
        w->t -= w->st[d] * w->shape[d];
        w->x -= w->sx[d] * w->shape[d];
        w->at[d] = 0;
    }
}

/* Negation of one element; the 16-bit formats have their sign in the highest bit. */
static inline void negate(char *dst, const char *src, int dtype)
{
    switch (dtype) {
    case TP_FLOAT32: *(float *)dst = -*(const float *)src; break;
    case TP_FLOAT64: *(double *)dst = -*(const double *)src; break;
    default: *(uint16_t *)dst = *(const uint16_t *)src ^ 0x8000;
    }
}

/* Class numbers lie in [0, classes), or are to be ignored. */
static int check(const tp_tensor *target, int64_t classes, int64_t ignore)
{
    walk w;
    int64_t none[TP_MAX_NDIM + 1] = {0};
    walk_start(&w, target, none, 0);
    const int64_t *t = tpi_data(target);
    for (int64_t i = 0; i < target->numel; i++, walk_next(&w)) {
        int64_t k = t[w.t];
        if (k != ignore && (k < 0 || k >= classes))
            return tpi_fail(TP_ERR_INDEX, "nll_loss: target %lld is out of range for %lld classes", (long long)k,
                            (long long)classes);
    }
    return 0;
}

int k_nll_pick(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]), *target = arg_t(&c->args[1]);
    int dim = (int)arg_i(&c->args[2]), size = tpi_esize(x->dtype);
    int64_t ignore = arg_i(&c->args[3]), step = x->strides[dim];
    int rc = check(target, x->shape[dim], ignore);
    tp_tensor *out = rc ? NULL : tpi_empty(x->dtype, target->ndim, target->shape);
    if (!out) return rc ? rc : tp_error_code();
    walk w;
    walk_start(&w, target, x->strides, dim);
    const int64_t *t = tpi_data(target);
    const char *px = tpi_data(x);
    char *po = tpi_data(out);
    for (int64_t i = 0; i < out->numel; i++, po += size, walk_next(&w)) {
        if (t[w.t] == ignore) memset(po, 0, (size_t)size);
        else negate(po, px + (w.x + t[w.t] * step) * size, x->dtype);
    }
    return tpi_set_out(c, 0, out);
}

int k_nll_spread(tp_call *c)
{
    tp_tensor *g = arg_t(&c->args[0]), *target = arg_t(&c->args[1]);
    int dim = (int)arg_i(&c->args[2]), size = tpi_esize(g->dtype);
    int64_t classes = arg_i(&c->args[3]), ignore = arg_i(&c->args[4]), shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP];
    int rc = check(target, classes, ignore);
    tpi_copy_dims(shape, g->shape, dim);
    shape[dim] = classes;
    tpi_copy_dims(shape + dim + 1, g->shape + dim, g->ndim - dim);
    tp_tensor *out = rc ? NULL : tpi_empty(g->dtype, g->ndim + 1, shape);
    if (!out) return rc ? rc : tp_error_code();
    memset(tpi_data(out), 0, (size_t)out->numel * (size_t)size);
    /* target and out on one walk, g on another over the same dimensions */
    walk w, v;
    walk_start(&w, target, out->strides, dim);
    tpi_copy_dims(strides, g->strides, dim);
    strides[dim] = 0;
    tpi_copy_dims(strides + dim + 1, g->strides + dim, g->ndim - dim);
    walk_start(&v, target, strides, dim);
    const int64_t *t = tpi_data(target);
    const char *pg = tpi_data(g);
    char *po = tpi_data(out);
    for (int64_t i = 0; i < target->numel; i++, walk_next(&w), walk_next(&v))
        if (t[w.t] != ignore) negate(po + (w.x + t[w.t] * out->strides[dim]) * size, pg + v.x * size, g->dtype);
    return tpi_set_out(c, 0, out);
}
