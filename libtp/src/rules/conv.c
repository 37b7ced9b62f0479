/* Rules of the three convolution operators.
 *
 * NOTE: one trilinear form
 * Output, gradient of the input and gradient of the weight are the three partial derivatives of one form T(x, w, y):
 * each operator is linear in its two tensors, and its derivative by either is one of the other two. So the three are
 * closed under differentiation of any order.
 *
 * NOTE: mapped convolutions
 * Where one operand is shared, the batch dimension of the other becomes part of its samples or of its channels, and
 * there is one convolution. Where both are mapped it is a leading dimension of both, a stack, that the kernels walk. */
#include "rules/shape_util.h"
#include "tpi_ops.h"
#include "x_ops.h"

enum { A = 0, B = 1, SIZE = 2, STRIDE = 3, PADDING = 4, DILATION = 5, GROUPS = 6, NARGS = 7 };

static int rank(const tp_val *a) { return a[SIZE].n; }

/* op of two tensors for a result of the spatial size given, the window being that of `a`. */
static T apply(const tp_op *op, const tp_val *a, T x, T y, const int64_t *size, int64_t groups)
{
    tp_val args[NARGS];
    tp_tensor *out[1];
    if (!x || !y) return NULL;
    memcpy(args, a, sizeof args);
    args[A] = val_t(x);
    args[B] = val_t(y);
    args[SIZE] = val_ints(size, rank(a));
    args[GROUPS] = val_i(groups);
    return tpi_rule_call(op, args, out) ? NULL : out[0];
}

static const int64_t *spatial(const tp_val *a, T t) { return t->shape + t->ndim - rank(a); }

/* d by argument i is `op` of the cotangent and the other argument; summed over a stack that i had not. */
static void by_argument(tp_vjp_ctx *c, int i, const tp_op *op, bool cotangent_first)
{
    const tp_val *a = c->args;
    T self = arg_t(&a[i]), other = arg_t(&a[1 - i]), g = c->grads[0];
    if (!c->need[i] || !g) return;
    other = x_conj(other);
    T r = apply(op, a, cotangent_first ? g : other, cotangent_first ? other : g, spatial(a, self), arg_i(&a[GROUPS]));
    c->out[i] = x_sum_to_shape(r, self->ndim, self->shape);
}

int conv_forward__vjp(tp_vjp_ctx *c)
{
    by_argument(c, A, &tpi_op_conv_input_grad, true);
    by_argument(c, B, &tpi_op_conv_weight_grad, false);
    return 0;
}

int conv_input_grad__vjp(tp_vjp_ctx *c)
{
    by_argument(c, A, &tpi_op_conv_forward, true);
    by_argument(c, B, &tpi_op_conv_weight_grad, true);
    return 0;
}

int conv_weight_grad__vjp(tp_vjp_ctx *c)
{
    by_argument(c, A, &tpi_op_conv_input_grad, false);
    by_argument(c, B, &tpi_op_conv_forward, false);
    return 0;
}

/* ---- batching ---- */

/* Dimensions d and d + 1 as one; the batch dimension first moved to d. */
static T merged(T t, int bdim, int d)
{
    int64_t shape[TPI_DIMS_CAP];
    t = x_movedim1(t, bdim, d);
    if (!t) return NULL;
    tpi_copy_dims(shape, t->shape, d);
    shape[d] = t->shape[d] * t->shape[d + 1];
    tpi_copy_dims(shape + d + 1, t->shape + d + 2, t->ndim - d - 2);
    return x_reshape_to(t, t->ndim - 1, shape);
}

/* The opposite: `first` is the size of the dimension in front. */
static T parted(T t, int d, int64_t first)
{
    int64_t shape[TPI_DIMS_CAP];
    if (!t) return NULL;
    tpi_copy_dims(shape, t->shape, d);
    shape[d] = first;
    shape[d + 1] = first ? t->shape[d] / first : 0;
    tpi_copy_dims(shape + d + 2, t->shape + d + 1, t->ndim - d - 1);
    return x_reshape_to(t, t->ndim + 1, shape);
}

/* Both as stacks: [B, ...], or [B, E, ...] made one where a sample is a stack already. */
static int stacked(tp_batch_ctx *c)
{
    int base = rank(c->args) + 2, r;
    T t[2];
    int64_t inner = 1;
    bool nested = tpi_nsample(c, A) > base || tpi_nsample(c, B) > base;
    for (int i = 0; i < 2; i++) {
        t[i] = tpi_batch_front(c, i);
        if (t[i] && tpi_nsample(c, i) > base) inner = t[i]->shape[bdim_of(c, i) >= 0];
    }
    for (int i = 0; i < 2 && nested; i++) {
        bool mapped = bdim_of(c, i) >= 0, stack = tpi_nsample(c, i) > base;
        int64_t shape[TPI_DIMS_CAP];
        if (!t[i] || (!mapped && !stack)) continue;
        if (mapped && !stack) t[i] = x_unsqueeze_at(t[i], 1);
        else if (!mapped) t[i] = x_unsqueeze_at(t[i], 0);
        if (!t[i]) continue;
        shape[0] = c->size;
        shape[1] = inner;
        tpi_copy_dims(shape + 2, t[i]->shape + 2, base);
        t[i] = merged(x_expand_to(t[i], base + 2, shape), 0, 0);
    }
    r = set_result(c, apply(c->op, c->args, t[0], t[1], c->args[SIZE].v.ints, arg_i(&c->args[GROUPS])), 0);
    if (nested) {
        T out = c->out[0];
        c->out[0] = NULL;
        if (out) {
            int64_t shape[TPI_DIMS_CAP];
            shape[0] = c->size;
            shape[1] = inner;
            tpi_copy_dims(shape + 2, out->shape + 1, base);
            c->out[0] = x_reshape_to(out, base + 2, shape);
        }
    }
    return r;
}

/* Argument i is mapped, the other is not: its batch dimension goes in front of dimension `into`, and comes out in front
 * of dimension `from` of the result. */
static int folded(tp_batch_ctx *c, int i, int into, int from)
{
    T t[2] = {arg_t(&c->args[A]), arg_t(&c->args[B])};
    t[i] = merged(t[i], bdim_of(c, i), into);
    T r = apply(c->op, c->args, t[0], t[1], c->args[SIZE].v.ints, arg_i(&c->args[GROUPS]));
    return set_result(c, parted(r, from, c->size), from);
}

static bool simple(tp_batch_ctx *c)
{
    int base = rank(c->args) + 2;
    return tpi_nsample(c, A) == base && tpi_nsample(c, B) == base && c->size > 0;
}

static bool only(tp_batch_ctx *c, int i) { return bdim_of(c, i) >= 0 && bdim_of(c, 1 - i) < 0; }

int conv_forward__batch(tp_batch_ctx *c)
{
    if (simple(c) && only(c, A)) return folded(c, A, 0, 0); /* samples */
    if (simple(c) && only(c, B) && arg_i(&c->args[GROUPS]) == 1) return folded(c, B, 0, 1); /* output channels */
    return stacked(c);
}

int conv_input_grad__batch(tp_batch_ctx *c)
{
    if (simple(c) && only(c, A)) return folded(c, A, 0, 0);
    if (simple(c) && only(c, B) && arg_i(&c->args[GROUPS]) == 1) return folded(c, B, 1, 1); /* input channels */
    return stacked(c);
}

int conv_weight_grad__batch(tp_batch_ctx *c)
{
    if (simple(c) && only(c, A) && arg_i(&c->args[GROUPS]) == 1) return folded(c, A, 1, 1); /* input channels */
    if (simple(c) && only(c, B) && arg_i(&c->args[GROUPS]) == 1) return folded(c, B, 1, 0); /* output channels */
    return stacked(c);
}
