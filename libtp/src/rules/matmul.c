/* Rules of matrix products.
 *
 * NOTE: mapped products
 * An operand that every sample shares makes one large product: the batch dimension of the other one becomes part of
 * its rows (or of its columns) wherever that is a view. Only where both are mapped is there a stack of products. */
#include "rules/matmul_util.h"

T tpi_product(T a, T b)
{
    if (!a || !b) return NULL;
    return a->ndim == 2 && b->ndim == 2 ? x_matmul_2d(a, b) : x_matmul_nd(a, b);
}

/* ---- two matrices ---- */

int matmul_2d__vjp(tp_vjp_ctx *c)
{
    T g = c->grads[0];
    if (c->need[0]) c->out[0] = x_matmul_2d(g, tpi_mH(arg_t(&c->args[1])));
    if (c->need[1]) c->out[1] = x_matmul_2d(tpi_mH(arg_t(&c->args[0])), g);
    return 0;
}

/* t with its dimensions in the given order and the first (or last) two of them as one, if that is a view. */
static T folded(T t, int d0, int d1, int d2, bool last)
{
    int order[3] = {d0, d1, d2};
    int64_t shape[3], strides[3], flat[2], made[2], dims[3];
    for (int i = 0; i < 3; i++) {
        dims[i] = order[i];
        shape[i] = t->shape[order[i]];
        strides[i] = t->strides[order[i]];
    }
    flat[0] = last ? shape[0] : shape[0] * shape[1];
    flat[1] = last ? shape[1] * shape[2] : shape[2];
    if (!tpi_view_strides(3, shape, strides, 2, flat, made)) return NULL;
    return x_view(x_permute(t, dims, 3), flat, 2);
}

static T unfolded(T t, int64_t x, int64_t y, int64_t z)
{
    const int64_t shape[3] = {x, y, z};
    return x_reshape_to(t, 3, shape);
}

/* Product of a mapped [n, k] and a shared [k, m]; the batch dimension of a is ba. */
static T left_mapped(T a, int ba, T b, int *out_bdim)
{
    if (ba == 2) {
        a = x_movedim1(a, 2, 0);
        ba = 0;
    }
    if (!a || !b) return NULL;
    int64_t x = a->shape[0], y = a->shape[1], flat[2] = {x * y, a->shape[2]};
    *out_bdim = ba;
    return unfolded(x_matmul_2d(x_reshape_to(a, 2, flat), b), x, y, b->shape[1]);
}

/* Product of a shared [n, k] and a mapped [k, m]. */
static T right_mapped(T a, T b, int bb, int *out_bdim)
{
    if (!a || !b) return NULL;
    int dk = bb == 0 ? 1 : 0, dm = bb == 2 ? 1 : 2;
    int64_t n = a->shape[0], size = b->shape[bb], m = b->shape[dm];
    T f;
    if ((f = folded(b, dk, bb, dm, true))) {        /* [k, B*m] */
        *out_bdim = 1;
        return unfolded(x_matmul_2d(a, f), n, size, m);
    }
    if ((f = folded(b, dk, dm, bb, true))) {        /* [k, m*B] */
        *out_bdim = 2;
        return unfolded(x_matmul_2d(a, f), n, m, size);
    }
    if ((f = folded(b, bb, dm, dk, false))) {       /* [B*m, k], and the transposed product */
        *out_bdim = 0;
        return tpi_mT(unfolded(x_matmul_2d(f, tpi_mT(a)), size, m, n));
    }
    if ((f = folded(b, dm, bb, dk, false))) {       /* [m*B, k] -> [m, B, n] -> [n, B, m] */
        const int64_t order[3] = {2, 1, 0};
        *out_bdim = 1;
        return x_permute(unfolded(x_matmul_2d(f, tpi_mT(a)), m, size, n), order, 3);
    }
    *out_bdim = 0;
    return x_matmul_nd(a, x_movedim1(b, bb, 0));
}

int matmul_2d__batch(tp_batch_ctx *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]);
    int ba = bdim_of(c, 0), bb = bdim_of(c, 1), at = 0;
    T r = bb < 0   ? left_mapped(a, ba, b, &at)
          : ba < 0 ? right_mapped(a, b, bb, &at)
                   : x_matmul_nd(x_movedim1(a, ba, 0), x_movedim1(b, bb, 0));
    return set_result(c, r, at);
}

/* ---- stacks of matrices ---- */

/* All but dimension `keep` (of the last two), which comes first, or last: a matrix of what is summed over. */
static T spread(T t, bool keep_rows, bool first)
{
    int64_t dims[TPI_DIMS_CAP], shape[2];
    int n = t->ndim, kept = keep_rows ? n - 2 : n - 1, at = 0;
    if (first) dims[at++] = kept;
    for (int i = 0; i < n; i++)
        if (i != kept) dims[at++] = i;
    if (!first) dims[at++] = kept;
    shape[!first] = t->shape[kept];
    shape[first] = 1;
    for (int i = 0; i < n; i++)
        if (i != kept) shape[first] *= t->shape[i];
    return x_reshape_to(x_permute(t, dims, n), 2, shape);
}

int matmul_nd__vjp(tp_vjp_ctx *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]), g = c->grads[0];
    if (c->need[0]) {
        if (a->ndim == 2 && b->ndim == g->ndim) /* sum over the stack of g b^H: [n, L*m] times [L*m, k] */
            c->out[0] = x_matmul_2d(spread(g, true, true), x_conj(spread(b, true, false)));
        else c->out[0] = x_sum_to_shape(tpi_product(g, tpi_mH(b)), a->ndim, a->shape);
    }
    if (c->need[1]) {
        if (b->ndim == 2 && a->ndim == g->ndim) c->out[1] = x_matmul_2d(tpi_mH(tpi_rows(a)), tpi_rows(g));
        else c->out[1] = x_sum_to_shape(tpi_product(tpi_mH(a), g), b->ndim, b->shape);
    }
    return 0;
}

/* A mapped operand with its batch dimension in front of `rank` others, ones behind it where the sample has less. */
static T aligned(tp_batch_ctx *c, int i, int rank)
{
    T t = tpi_batch_front(c, i);
    int n = tpi_nsample(c, i), missing = rank - n;
    if (!t || bdim_of(c, i) < 0 || missing <= 0) return t;
    int64_t shape[TPI_DIMS_CAP];
    shape[0] = t->shape[0];
    for (int k = 0; k < missing; k++) shape[1 + k] = 1;
    tpi_copy_dims(shape + 1 + missing, t->shape + 1, n);
    return x_view(t, shape, rank + 1);
}

int matmul_nd__batch(tp_batch_ctx *c)
{
    int na = tpi_nsample(c, 0), nb = tpi_nsample(c, 1), rank = na > nb ? na : nb;
    T a = aligned(c, 0, rank), b = aligned(c, 1, rank);
    if (a && b && bdim_of(c, 1) < 0 && nb == 2) { /* rows of a shared matrix */
        int64_t shape[TPI_DIMS_CAP];
        tpi_copy_dims(shape, a->shape, a->ndim - 1);
        shape[a->ndim - 1] = b->shape[1];
        return set_result(c, x_reshape_to(x_matmul_2d(tpi_rows(a), b), a->ndim, shape), 0);
    }
    return set_result(c, x_matmul_nd(a, b), 0);
}

/* ---- vectors ---- */

int matmul_mv__vjp(tp_vjp_ctx *c)
{
    T a = arg_t(&c->args[0]), x = arg_t(&c->args[1]), g = c->grads[0];
    if (c->need[0]) c->out[0] = x_matmul_2d(x_unsqueeze_at(g, 1), x_conj(x_unsqueeze_at(x, 0)));
    if (c->need[1]) c->out[1] = x_matmul_mv(tpi_mH(a), g);
    return 0;
}

int matmul_mv__batch(tp_batch_ctx *c)
{
    T a = arg_t(&c->args[0]), x = arg_t(&c->args[1]);
    int ba = bdim_of(c, 0), bx = bdim_of(c, 1), at = 0;
    if (ba < 0) {
        if (bx == 0) return set_result(c, x_matmul_2d(x, tpi_mT(a)), 0);
        return set_result(c, x_matmul_2d(a, x), 1);
    }
    if (bx < 0) {
        if (ba == 2) {
            a = x_movedim1(a, 2, 0);
            ba = 0;
        }
        if (!a) return 0;
        int64_t n = a->shape[0], m = a->shape[1], flat[2] = {n * m, a->shape[2]}, shape[2] = {n, m};
        return set_result(c, x_reshape_to(x_matmul_mv(x_reshape_to(a, 2, flat), x), 2, shape), ba);
    }
    T r = x_matmul_nd(x_movedim1(a, ba, 0), x_unsqueeze_at(x_movedim1(x, bx, 0), 2));
    (void)at;
    return set_result(c, r ? x_reshape_to(r, 2, r->shape) : NULL, 0);
}

int matmul_dot__vjp(tp_vjp_ctx *c)
{
    for (int i = 0; i < 2; i++)
        if (c->need[i]) c->out[i] = x_mul(c->grads[0], x_conj(arg_t(&c->args[1 - i])));
    return 0;
}

int matmul_dot__batch(tp_batch_ctx *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]);
    int ba = bdim_of(c, 0), bb = bdim_of(c, 1);
    if (bb < 0) return set_result(c, x_matmul_mv(x_movedim1(a, ba, 0), b), 0);
    if (ba < 0) return set_result(c, x_matmul_mv(x_movedim1(b, bb, 0), a), 0);
    T r = x_matmul_nd(x_unsqueeze_at(x_movedim1(a, ba, 0), 1), x_unsqueeze_at(x_movedim1(b, bb, 0), 2));
    return set_result(c, r ? x_reshape_to(r, 1, r->shape) : NULL, 0);
}

/* ---- the affine map ---- */

int linear_affine__vjp(tp_vjp_ctx *c)
{
    T x = arg_t(&c->args[0]), w = arg_t(&c->args[1]), bias = arg_t(&c->args[2]), g = c->grads[0];
    if (c->need[0]) c->out[0] = x_linear_affine(g, tpi_mH(w), NULL);
    if (c->need[1]) {
        T gt = x->ndim == 1 ? x_unsqueeze_at(g, 1) : tpi_mT(tpi_rows(g));
        c->out[1] = x_matmul_2d(gt, x_conj(x->ndim == 1 ? x_unsqueeze_at(x, 0) : tpi_rows(x)));
    }
    if (c->need[2]) c->out[2] = x_sum_to_shape(g, 1, bias->shape);
    return 0;
}

int linear_affine__jvp(tp_jvp_ctx *c)
{
    T x = arg_t(&c->args[0]), w = arg_t(&c->args[1]);
    T xt = c->tangents[0], wt = c->tangents[1], bt = c->tangents[2], sum = NULL;
    if (xt) {
        sum = x_linear_affine(xt, w, bt);
        bt = NULL;
    }
    if (wt) {
        T t = x_linear_affine(x, wt, bt);
        sum = sum ? x_add(sum, t, &tpi_one) : t;
        bt = NULL;
    }
    c->out[0] = sum ? sum : bt;
    return 0;
}

/* [m], or mapped [B, m], to be added to [B, ..., m] of n dimensions. */
static T bias_row(tp_batch_ctx *c, int n)
{
    T b = tpi_batch_front(c, 2);
    if (!b || bdim_of(c, 2) < 0) return b;
    int64_t shape[TPI_DIMS_CAP];
    shape[0] = b->shape[0];
    for (int i = 1; i < n - 1; i++) shape[i] = 1;
    shape[n - 1] = b->shape[1];
    return x_view(b, shape, n);
}

int linear_affine__batch(tp_batch_ctx *c)
{
    T x = arg_t(&c->args[0]), w = arg_t(&c->args[1]), bias = arg_t(&c->args[2]);
    int bx = bdim_of(c, 0), bw = bdim_of(c, 1), bb = bias ? bdim_of(c, 2) : -1;
    if (bw < 0 && bx >= 0 && bb < 0) {
        /* one more of the leading dimensions, wherever it lies */
        if (bx == x->ndim - 1) {
            x = x_movedim1(x, bx, 0);
            bx = 0;
        }
        return set_result(c, x_linear_affine(x, w, bias), bx);
    }
    int n = tpi_nsample(c, 0) + 1, at = 0; /* of the result with its batch dimension */
    int64_t shape[TPI_DIMS_CAP];
    x = tpi_batch_front(c, 0);
    if (!x || !w) return 0;
    tpi_copy_dims(shape + 1, bx < 0 ? x->shape : x->shape + 1, n - 1);
    shape[0] = c->size;
    shape[n - 1] = w->shape[bw == 0 ? 1 : 0];
    T r;
    if (bw < 0) { /* only the bias, or input and bias */
        r = x_linear_affine(x, w, NULL);
        if (!r) return 0;
        if (bx < 0) r = x_unsqueeze_at(r, 0);
        return set_result(c, x_add(r, bias_row(c, n), &tpi_one), 0);
    }
    if (bx < 0) {
        T rows = n == 2 ? x_unsqueeze_at(x, 0) : tpi_rows(x);
        const int64_t swap0[3] = {0, 2, 1}, swap1[3] = {2, 1, 0}, swap2[3] = {1, 0, 2};
        r = right_mapped(rows,
                         x_permute(w,
                                   bw == 0   ? swap0
                                   : bw == 1 ? swap1
                                             : swap2,
                                   3),
                         bw == 0   ? 0
                         : bw == 1 ? 1
                                   : 2,
                         &at);
        r = x_movedim1(r, at, 0);
    } else {
        int64_t flat[3] = {c->size, 1, x->shape[n - 1]};
        for (int i = 1; i < n - 1; i++) flat[1] *= x->shape[i];
        r = x_matmul_nd(x_reshape_to(x, 3, flat), tpi_mT(x_movedim1(w, bw, 0)));
    }
    r = x_reshape_to(r, n, shape);
    return set_result(c, bias ? x_add(r, bias_row(c, n), &tpi_one) : r, 0);
}
