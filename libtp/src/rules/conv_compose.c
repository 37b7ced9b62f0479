/* The public convolutions: composites that check what the function sees and compute sizes. */
#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

enum { MAX_SPATIAL = 3 };

typedef struct window {
    const char *op;
    int nd;
    int64_t stride[MAX_SPATIAL], padding[MAX_SPATIAL], dilation[MAX_SPATIAL], extra[MAX_SPATIAL];
    int64_t groups;
    bool transposed;
    bool same;           /* as much padding as keeps the size, one more behind than in front where it is odd */
} window;

int tpi_read_sizes(const char *op, const char *name, const tp_val *a, int nd, int64_t least, int64_t *out)
{
    if (a->n != 1 && a->n != nd)
        return tpi_fail(TP_ERR_RUNTIME, "%s: %s must be a number or %d numbers, got %d", op, name, nd, a->n);
    for (int d = 0; d < nd; d++) {
        out[d] = a->v.ints[a->n == 1 ? 0 : d];
        if (out[d] < least || out[d] > INT32_MAX)
            return tpi_fail(TP_ERR_RUNTIME, "%s: %s must be at least %lld, got %lld", op, name, (long long)least,
                            (long long)out[d]);
    }
    return 0;
}

static int check_shapes(const window *w, const tp_tensor *x, const tp_tensor *k, const tp_tensor *bias)
{
    const char *op = w->op;
    if (k->ndim != w->nd + 2)
        return tpi_fail(TP_ERR_RUNTIME, "%s: weight must have %d dimensions, got shape %s", op, w->nd + 2, tpi_str(k));
    if (x->ndim != w->nd + 2 && x->ndim != w->nd + 1)
        return tpi_fail(TP_ERR_RUNTIME, "%s: input must have %d or %d dimensions, got shape %s", op, w->nd + 1,
                        w->nd + 2, tpi_str(x));
    if (x->dtype == TP_BOOL || k->dtype == TP_BOOL)
        return tpi_fail(TP_ERR_TYPE, "%s: not defined for bool; convert to an integer dtype first", op);
    if (w->groups < 1 || w->groups > INT32_MAX)
        return tpi_fail(TP_ERR_RUNTIME, "%s: groups must be positive and no more than there are channels, got %lld", op,
                        (long long)w->groups);
    int64_t channels = x->shape[x->ndim - w->nd - 1], in = w->transposed ? k->shape[0] : k->shape[1] * w->groups;
    int64_t out = w->transposed ? k->shape[1] * w->groups : k->shape[0];
    if (channels != in)
        return tpi_fail(TP_ERR_RUNTIME,
                        "%s: input of shape %s has %lld channels, weight of shape %s with groups=%lld "
                        "needs %lld",
                        op, tpi_str(x), (long long)channels, tpi_str(k), (long long)w->groups, (long long)in);
    if (k->shape[0] % w->groups)
        return tpi_fail(TP_ERR_RUNTIME, "%s: the first dimension of weight, shape %s, is no multiple of groups=%lld",
                        op, tpi_str(k), (long long)w->groups);
    for (int d = 0; d < w->nd; d++)
        if (k->shape[2 + d] == 0)
            return tpi_fail(TP_ERR_RUNTIME, "%s: weight of shape %s has an empty window", op, tpi_str(k));
    if (bias && (bias->ndim != 1 || bias->shape[0] != out))
        return tpi_fail(TP_ERR_RUNTIME, "%s: bias must have shape [%lld], got %s", op, (long long)out, tpi_str(bias));
    return 0;
}

/* Spatial sizes of the result. */
static int result_size(window *w, const tp_tensor *x, const tp_tensor *k, int64_t *size)
{
    for (int d = 0; d < w->nd; d++) {
        int64_t in = x->shape[x->ndim - w->nd + d], reach = w->dilation[d] * (k->shape[2 + d] - 1) + 1;
        if (w->transposed) {
            size[d] = (in - 1) * w->stride[d] - 2 * w->padding[d] + reach + w->extra[d];
            if (w->extra[d] >= w->stride[d] && w->extra[d] >= w->dilation[d])
                return tpi_fail(TP_ERR_RUNTIME,
                                "%s: output_padding %lld must be smaller than stride %lld or dilation %lld", w->op,
                                (long long)w->extra[d], (long long)w->stride[d], (long long)w->dilation[d]);
            if (in == 0 || size[d] < 0)
                return tpi_fail(TP_ERR_RUNTIME, "%s: the result of an input of shape %s would be of size %lld", w->op,
                                tpi_str(x), (long long)size[d]);
            continue;
        }
        if (w->same) {
            if (w->stride[d] != 1) return tpi_fail(TP_ERR_RUNTIME, "%s: padding='same' needs stride 1", w->op);
            w->padding[d] = (reach - 1) / 2;
            size[d] = in;
            continue;
        }
        int64_t padded = in + 2 * w->padding[d];
        if (padded < reach)
            return tpi_fail(TP_ERR_RUNTIME,
                            "%s: the window of weight, shape %s, is larger than the padded input of shape %s", w->op,
                            tpi_str(k), tpi_str(x));
        size[d] = (padded - reach) / w->stride[d] + 1;
    }
    return 0;
}

static T with_bias(T r, T bias, int nd)
{
    if (!bias || !r) return r;
    int64_t shape[MAX_SPATIAL + 1] = {bias->shape[0], 1, 1, 1};
    return x_add(r, x_reshape_to(bias, nd + 1, shape), &tpi_one);
}

static int convolve(tp_call *c, window *w)
{
    T x = arg_t(&c->args[0]), k = arg_t(&c->args[1]), bias = arg_t(&c->args[2]);
    int64_t size[MAX_SPATIAL], shape[MAX_SPATIAL + 2], numel;
    int rc, nd = w->nd;
    if ((rc = check_shapes(w, x, k, bias)) || (rc = result_size(w, x, k, size))) return rc;
    shape[0] = x->ndim == nd + 2 ? x->shape[0] : 1;
    shape[1] = w->transposed ? k->shape[1] * w->groups : k->shape[0];
    tpi_copy_dims(shape + 2, size, nd);
    if ((rc = tpi_numel(w->op, nd + 2, shape, &numel))) return rc;
    bool unbatched = x->ndim == nd + 1;
    tpi_scope s;
    tpi_scope_open(&s);
    if (unbatched) x = x_unsqueeze_at(x, 0);
    T r = w->transposed ? x_conv_input_grad(x, k, size, nd, w->stride, nd, w->padding, nd, w->dilation, nd, w->groups)
                        : x_conv_forward(x, k, size, nd, w->stride, nd, w->padding, nd, w->dilation, nd, w->groups);
    r = with_bias(r, bias, nd);
    if (unbatched && r) r = x_reshape_to(r, nd + 1, r->shape + 1);
    return scope_result(&s, c, r);
}

/* input, weight, bias, stride, padding, dilation, groups */
static int plain(tp_call *c, const char *op, int nd)
{
    window w = {.op = op, .nd = nd, .groups = arg_i(&c->args[6])};
    const tp_val *pad = &c->args[4];
    int rc;
    if ((rc = tpi_read_sizes(op, "stride", &c->args[3], nd, 1, w.stride)) ||
        (rc = tpi_read_sizes(op, "dilation", &c->args[5], nd, 1, w.dilation)))
        return rc;
    if (pad->tag != TPI_STR) {
        if ((rc = tpi_read_sizes(op, "padding", pad, nd, 0, w.padding))) return rc;
    } else if (!strcmp(pad->v.str, "same")) w.same = true;
    else if (strcmp(pad->v.str, "valid"))
        return tpi_fail(TP_ERR_VALUE, "%s: padding must be numbers, 'same' or 'valid', got '%s'", op, pad->v.str);
    return convolve(c, &w);
}

int c_conv1d(tp_call *c) { return plain(c, "conv1d", 1); }
int c_conv2d(tp_call *c) { return plain(c, "conv2d", 2); }
int c_conv3d(tp_call *c) { return plain(c, "conv3d", 3); }

/* input, weight, bias, stride, padding, output_padding, groups, dilation */
static int transposed(tp_call *c, const char *op, int nd)
{
    window w = {.op = op, .nd = nd, .groups = arg_i(&c->args[6]), .transposed = true};
    int rc;
    if ((rc = tpi_read_sizes(op, "stride", &c->args[3], nd, 1, w.stride)) ||
        (rc = tpi_read_sizes(op, "padding", &c->args[4], nd, 0, w.padding)) ||
        (rc = tpi_read_sizes(op, "output_padding", &c->args[5], nd, 0, w.extra)) ||
        (rc = tpi_read_sizes(op, "dilation", &c->args[7], nd, 1, w.dilation)))
        return rc;
    return convolve(c, &w);
}

int c_conv_transpose1d(tp_call *c) { return transposed(c, "conv_transpose1d", 1); }
int c_conv_transpose2d(tp_call *c) { return transposed(c, "conv_transpose2d", 2); }
int c_conv_transpose3d(tp_call *c) { return transposed(c, "conv_transpose3d", 3); }

/* input, weight, bias, stride, padding, dilation, transposed, output_padding, groups */
int c_convolution(tp_call *c)
{
    const char *op = "convolution";
    int nd = arg_t(&c->args[1])->ndim - 2, rc;
    if (nd < 1 || nd > MAX_SPATIAL)
        return tpi_fail(TP_ERR_RUNTIME, "convolution: weight must have 3, 4 or 5 dimensions, got shape %s",
                        tpi_str(arg_t(&c->args[1])));
    window w = {.op = op, .nd = nd, .transposed = arg_b(&c->args[6]), .groups = arg_i(&c->args[8])};
    if ((rc = tpi_read_sizes(op, "stride", &c->args[3], nd, 1, w.stride)) ||
        (rc = tpi_read_sizes(op, "padding", &c->args[4], nd, 0, w.padding)) ||
        (rc = tpi_read_sizes(op, "dilation", &c->args[5], nd, 1, w.dilation)) ||
        (rc = tpi_read_sizes(op, "output_padding", &c->args[7], nd, 0, w.extra)))
        return rc;
    return convolve(c, &w);
}
