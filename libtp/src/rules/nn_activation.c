/* Activations that look at shapes or check arguments: composites. */
#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

static int need_floating(const char *op, const tp_tensor *x)
{
    if (tpi_is_differentiable(x->dtype)) return 0;
    return tpi_fail(TP_ERR_TYPE, "%s: input must be of a floating dtype, got %s", op, tp_dtype_name(x->dtype));
}

int c_celu(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    double alpha = arg_f(&c->args[1]);
    const tp_scalar zero = {.tag = TP_SCALAR_FLOAT};
    if (alpha == 0) return tpi_fail(TP_ERR_VALUE, "celu: alpha must not be zero");
    tpi_scope s;
    tpi_scope_open(&s);
    T low = x_mul_f(x_expm1(x_div_f(x_clamp(x, NULL, &zero), alpha)), alpha);
    return scope_result(&s, c, x_where(x_gt_f(x, 0), x, low));
}

int c_softshrink(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    double lambd = arg_f(&c->args[1]);
    int rc = need_floating("softshrink", x);
    if (rc) return rc;
    if (!(lambd >= 0)) return tpi_fail(TP_ERR_RUNTIME, "softshrink: lambd must not be negative, got %g", lambd);
    const tp_scalar low = {.tag = TP_SCALAR_FLOAT, .v.f = -lambd}, high = {.tag = TP_SCALAR_FLOAT, .v.f = lambd};
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_sub(x, x_clamp(x, &low, &high), &tpi_one));
}

int c_prelu(tp_call *c)
{
    T x = arg_t(&c->args[0]), w = arg_t(&c->args[1]);
    int64_t channels = x->ndim > 1 ? x->shape[1] : 1, shape[TPI_DIMS_CAP];
    int rc = need_floating("prelu", x);
    if (rc) return rc;
    if (w->ndim > 1 || (w->numel != 1 && w->numel != channels))
        return tpi_fail(TP_ERR_RUNTIME, "prelu: weight must have 1 entry or %lld, got shape %s", (long long)channels,
                        tpi_str(w));
    if (w->dtype != x->dtype)
        return tpi_fail(TP_ERR_RUNTIME, "prelu: weight is %s, input %s", tp_dtype_name(w->dtype),
                        tp_dtype_name(x->dtype));
    tpi_scope s;
    tpi_scope_open(&s);
    for (int d = 0; d < x->ndim; d++) shape[d] = d == 1 ? w->numel : 1;
    T slope = x_reshape_to(w, x->ndim, shape);
    return scope_result(&s, c, x_where(x_gt_f(x, 0), x, x_mul(slope, x)));
}

int c_glu(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    int64_t dim = arg_i(&c->args[1]);
    int rc = need_floating("glu", x);
    if (rc) return rc;
    if (!x->ndim) return tpi_fail(TP_ERR_RUNTIME, "glu: input must have a dimension, got shape []");
    if (dim < -x->ndim || dim >= x->ndim)
        return tpi_fail(TP_ERR_INDEX, "glu: dimension %lld is out of range for shape %s", (long long)dim, tpi_str(x));
    if (dim < 0) dim += x->ndim;
    int64_t half = x->shape[dim] / 2;
    if (x->shape[dim] % 2)
        return tpi_fail(TP_ERR_RUNTIME, "glu: dimension %lld must have an even size, got shape %s", (long long)dim,
                        tpi_str(x));
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_mul(x_narrow(x, dim, 0, half), x_sigmoid(x_narrow(x, dim, half, half))));
}
