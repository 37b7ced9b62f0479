/* Public random operators: composites over the draws, so that vmap's randomness flag governs them. */
#include <math.h>

#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

static tp_generator *generator_of(const tp_val *a) { return arg_none(a) ? NULL : a->v.gen; }

static int dtype_or(const tp_val *a, int otherwise) { return arg_none(a) ? otherwise : (int)arg_i(a); }

/* The result of a draw: written into self by the in-place form, which preset it. */
static int deliver(tpi_scope *s, tp_call *c, T t)
{
    if (!c->out[0]) return scope_result(s, c, t);
    int rc = t && !tpi_bad() ? tpi_copy_(c->out[0], t) : 0;
    int closed = tpi_scope_close(s);
    return rc ? rc : closed;
}

static int need_inexact(const char *op, const tp_tensor *t, bool complex_too)
{
    if (tpi_is_float(t->dtype) || (complex_too && tpi_is_complex(t->dtype))) return 0;
    return tpi_fail(TP_ERR_TYPE, "%s: dtype %s is not floating%s", op, tp_dtype_name(t->dtype),
                    complex_too ? " or complex" : "");
}

/* ---- integers ---- */

/* Integers below 2^bits are exact in a floating dtype. */
static int mantissa(int dtype)
{
    return dtype == TP_FLOAT64 ? 53 : dtype == TP_FLOAT32 ? 24 : dtype == TP_FLOAT16 ? 11 : 8;
}

static int largest(int dtype, int64_t *low, uint64_t *high)
{
    static const uint64_t top[] = {1,          UINT8_MAX, INT8_MAX,   UINT16_MAX, INT16_MAX,
                                   UINT32_MAX, INT32_MAX, UINT64_MAX, INT64_MAX};
    if (tpi_is_complex(dtype)) return TP_ERR_TYPE;
    if (dtype >= TP_FLOAT16) {
        *high = UINT64_C(1) << mantissa(dtype);
        *low = -(int64_t)*high;
    } else {
        *high = top[dtype];
        bool is_signed = dtype == TP_INT8 || dtype == TP_INT16 || dtype == TP_INT32 || dtype == TP_INT64;
        *low = is_signed ? -(int64_t)*high - 1 : 0;
    }
    return 0;
}

static int integers(tp_call *c, const char *op, int64_t low, int64_t high, const int64_t *size, int64_t n,
                    const tp_val *generator, int dtype)
{
    int64_t least;
    uint64_t most;
    if (largest(dtype, &least, &most))
        return tpi_fail(TP_ERR_TYPE, "%s: dtype %s is complex", op, tp_dtype_name(dtype));
    if (low >= high)
        return tpi_fail(TP_ERR_RUNTIME, "%s: low %lld is not below high %lld", op, (long long)low, (long long)high);
    if (low < least || (high > 0 && (uint64_t)(high - 1) > most))
        return tpi_fail(TP_ERR_RUNTIME, "%s: dtype %s can't hold all integers from %lld to %lld", op,
                        tp_dtype_name(dtype), (long long)low, (long long)(high - 1));
    tpi_scope s;
    tpi_scope_open(&s);
    return deliver(
        &s, c, x_randint_draw(size, n, low, (int64_t)((uint64_t)high - (uint64_t)low), generator_of(generator), dtype));
}

int c_randint(tp_call *c)
{
    const tp_val *a = c->args;
    return integers(c, "randint", 0, arg_i(&a[0]), a[1].v.ints, a[1].n, &a[2], dtype_or(&a[3], TP_INT64));
}

int c_randint_low(tp_call *c)
{
    const tp_val *a = c->args;
    return integers(c, "randint", arg_i(&a[0]), arg_i(&a[1]), a[2].v.ints, a[2].n, &a[3], dtype_or(&a[4], TP_INT64));
}

int c_randint_like(tp_call *c)
{
    const tp_val *a = c->args;
    T t = arg_t(&a[0]);
    return integers(c, "randint_like", 0, arg_i(&a[1]), t->shape, t->ndim, &a[2], dtype_or(&a[3], t->dtype));
}

int c_randint_like_low(tp_call *c)
{
    const tp_val *a = c->args;
    T t = arg_t(&a[0]);
    return integers(c, "randint_like", arg_i(&a[1]), arg_i(&a[2]), t->shape, t->ndim, &a[3], dtype_or(&a[4], t->dtype));
}

int c_random_to(tp_call *c)
{
    const tp_val *a = c->args;
    T t = arg_t(&a[0]);
    return integers(c, "random_", 0, arg_i(&a[1]), t->shape, t->ndim, &a[2], t->dtype);
}

int c_random_range(tp_call *c)
{
    const tp_val *a = c->args;
    T t = arg_t(&a[0]);
    return integers(c, "random_", arg_i(&a[1]), arg_i(&a[2]), t->shape, t->ndim, &a[3], t->dtype);
}

int c_random(tp_call *c)
{
    T t = arg_t(&c->args[0]);
    int64_t low;
    uint64_t high;
    if (largest(t->dtype, &low, &high))
        return tpi_fail(TP_ERR_TYPE, "random_: dtype %s is complex", tp_dtype_name(t->dtype));
    tpi_scope s;
    tpi_scope_open(&s);
    return deliver(&s, c,
                   x_randint_draw(t->shape, t->ndim, 0, (int64_t)(high + 1), generator_of(&c->args[1]), t->dtype));
}

int c_randperm(tp_call *c)
{
    const tp_val *a = c->args;
    int64_t n = arg_i(&a[0]), low;
    uint64_t high;
    int dtype = dtype_or(&a[2], TP_INT64);
    if (n < 0) return tpi_fail(TP_ERR_RUNTIME, "randperm: n must not be negative, got %lld", (long long)n);
    if (largest(dtype, &low, &high) || (n > 0 && (uint64_t)(n - 1) > high))
        return tpi_fail(TP_ERR_RUNTIME, "randperm: dtype %s can't hold all integers below %lld", tp_dtype_name(dtype),
                        (long long)n);
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_randperm_draw(&n, 0, n, generator_of(&a[1]), dtype));
}

/* ---- floating numbers ---- */

int c_rand_like(tp_call *c)
{
    T t = arg_t(&c->args[0]);
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_rand(t->shape, t->ndim, generator_of(&c->args[1]), dtype_or(&c->args[2], t->dtype)));
}

int c_randn_like(tp_call *c)
{
    T t = arg_t(&c->args[0]);
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_randn(t->shape, t->ndim, generator_of(&c->args[1]), dtype_or(&c->args[2], t->dtype)));
}

static int need_deviation(double std)
{
    return std >= 0 ? 0 : tpi_fail(TP_ERR_RUNTIME, "normal: std must not be negative, got %g", std);
}

/* x * factor + shift */
static T affine(T x, double factor, double shift)
{
    if (factor != 1) x = x_mul_f(x, factor);
    return shift != 0 ? x_add_f(x, shift, &tpi_one) : x;
}

int c_normal_tensors(tp_call *c)
{
    T mean = arg_t(&c->args[0]), std = arg_t(&c->args[1]);
    int rc, n;
    int64_t shape[TPI_DIMS_CAP];
    if ((rc = need_inexact("normal", mean, true)) || (rc = need_inexact("normal", std, true)) ||
        (rc = tpi_broadcast_shapes("normal", mean->ndim, mean->shape, std->ndim, std->shape, &n, shape)))
        return rc;
    int dtype = tp_promote_types(mean->dtype, std->dtype);
    tpi_scope s;
    tpi_scope_open(&s);
    T x = x_randn(shape, n, generator_of(&c->args[2]), dtype);
    return scope_result(&s, c, x_add(mean, x_mul(x, std), &tpi_one));
}

int c_normal_mean(tp_call *c)
{
    T mean = arg_t(&c->args[0]);
    int rc;
    if ((rc = need_inexact("normal", mean, true)) || (rc = need_deviation(arg_f(&c->args[1])))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T x = affine(x_randn(mean->shape, mean->ndim, generator_of(&c->args[2]), mean->dtype), arg_f(&c->args[1]), 0);
    return scope_result(&s, c, x_add(mean, x, &tpi_one));
}

int c_normal_std(tp_call *c)
{
    T std = arg_t(&c->args[1]);
    int rc = need_inexact("normal", std, true);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T x = x_mul(x_randn(std->shape, std->ndim, generator_of(&c->args[2]), std->dtype), std);
    return scope_result(&s, c, affine(x, 1, arg_f(&c->args[0])));
}

int c_normal_size(tp_call *c)
{
    const tp_val *a = c->args;
    int rc = need_deviation(arg_f(&a[1]));
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T x = x_randn(a[2].v.ints, a[2].n, generator_of(&a[3]), dtype_or(&a[4], tp_get_default_dtype()));
    return scope_result(&s, c, affine(x, arg_f(&a[1]), arg_f(&a[0])));
}

int c_normal_fill(tp_call *c)
{
    T t = arg_t(&c->args[0]);
    int rc;
    if ((rc = need_inexact("normal_", t, true)) || (rc = need_deviation(arg_f(&c->args[2])))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T x = x_randn(t->shape, t->ndim, generator_of(&c->args[3]), t->dtype);
    return deliver(&s, c, affine(x, arg_f(&c->args[2]), arg_f(&c->args[1])));
}

int c_uniform(tp_call *c)
{
    T t = arg_t(&c->args[0]);
    double low = arg_f(&c->args[1]), high = arg_f(&c->args[2]);
    int rc = need_inexact("uniform_", t, true);
    if (rc) return rc;
    if (!(low <= high) || !isfinite(high - low))
        return tpi_fail(TP_ERR_RUNTIME, "uniform_: low %g and high %g must be finite and in order", low, high);
    tpi_scope s;
    tpi_scope_open(&s);
    if (!tpi_is_complex(t->dtype)) {
        T x = x_rand(t->shape, t->ndim, generator_of(&c->args[3]), t->dtype);
        return deliver(&s, c, affine(x, high - low, low));
    }
    int64_t pairs[TPI_DIMS_CAP];
    if ((rc = tpi_check_rank("uniform_", t->ndim + 1))) return tpi_scope_close(&s), rc;
    tpi_copy_dims(pairs, t->shape, t->ndim);
    pairs[t->ndim] = 2;
    T x = x_rand(pairs, t->ndim + 1, generator_of(&c->args[3]), tpi_to_real(t->dtype));
    return deliver(&s, c, x_view_as_complex(affine(x, high - low, low)));
}

int c_exponential(tp_call *c)
{
    T t = arg_t(&c->args[0]);
    double rate = arg_f(&c->args[1]);
    int rc = need_inexact("exponential_", t, false);
    if (rc) return rc;
    if (!(rate > 0)) return tpi_fail(TP_ERR_RUNTIME, "exponential_: lambd must be positive, got %g", rate);
    tpi_scope s;
    tpi_scope_open(&s);
    return deliver(&s, c,
                   affine(x_exponential_draw(t->shape, t->ndim, generator_of(&c->args[2]), t->dtype), 1 / rate, 0));
}

/* ---- choices ---- */

/* 1 with probability p, of p's dtype; one draw for each element of `shape`. */
static T bernoulli(T p, const int64_t *shape, int ndim, const tp_val *generator)
{
    if (!p) return NULL;
    int compute = p->dtype == TP_FLOAT64 ? TP_FLOAT64 : TP_FLOAT32;
    T u = x_rand(shape, ndim, generator_of(generator), compute);
    return x_bernoulli_draw(x_to_dtype(p, compute), u);
}

int c_bernoulli(tp_call *c)
{
    T p = arg_t(&c->args[0]);
    int rc = need_inexact("bernoulli", p, false);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_to_dtype(bernoulli(p, p->shape, p->ndim, &c->args[1]), p->dtype));
}

int c_bernoulli_p(tp_call *c)
{
    T t = arg_t(&c->args[0]);
    double p = arg_f(&c->args[1]);
    if (!(p >= 0 && p <= 1)) return tpi_fail(TP_ERR_RUNTIME, "bernoulli: the probability %g is not in [0, 1]", p);
    tp_scalar number = {.tag = TP_SCALAR_FLOAT, .v.f = p};
    tpi_scope s;
    tpi_scope_open(&s);
    T x = bernoulli(tpi_own(tp_scalar_tensor(&number, TP_FLOAT64)), t->shape, t->ndim, &c->args[2]);
    return deliver(&s, c, x_to_dtype(x, t->dtype));
}

int c_bernoulli_tensor(tp_call *c)
{
    T t = arg_t(&c->args[0]), p = arg_t(&c->args[1]);
    int n, rc = need_inexact("bernoulli", p, false);
    int64_t shape[TPI_DIMS_CAP];
    if (rc || (rc = tpi_broadcast_shapes("bernoulli", t->ndim, t->shape, p->ndim, p->shape, &n, shape))) return rc;
    if (n != t->ndim || memcmp(shape, t->shape, sizeof *shape * (size_t)n))
        return tpi_fail(TP_ERR_RUNTIME, "bernoulli: p of shape %s does not broadcast to self's shape %s", tpi_str(p),
                        tpi_str(t));
    tpi_scope s;
    tpi_scope_open(&s);
    return deliver(&s, c, x_to_dtype(bernoulli(p, t->shape, t->ndim, &c->args[2]), t->dtype));
}

int c_multinomial(tp_call *c)
{
    T p = arg_t(&c->args[0]);
    int64_t n = arg_i(&c->args[1]), shape[2];
    bool replacement = arg_b(&c->args[2]);
    int rc = need_inexact("multinomial", p, false);
    if (rc) return rc;
    if (p->ndim < 1 || p->ndim > 2)
        return tpi_fail(TP_ERR_RUNTIME, "multinomial: self must have 1 or 2 dimensions, got shape %s", tpi_str(p));
    int64_t categories = p->shape[p->ndim - 1];
    if (n <= 0 || !categories)
        return tpi_fail(TP_ERR_RUNTIME, "multinomial: %lld samples of %lld categories", (long long)n,
                        (long long)categories);
    if (!replacement && n > categories)
        return tpi_fail(TP_ERR_RUNTIME, "multinomial: %lld samples without replacement of %lld categories",
                        (long long)n, (long long)categories);
    tpi_copy_dims(shape, p->shape, p->ndim);
    tpi_scope s;
    tpi_scope_open(&s);
    T noise;
    if (replacement) {
        shape[p->ndim - 1] = n;
        noise = x_rand(shape, p->ndim, generator_of(&c->args[3]), TP_FLOAT64);
    } else noise = x_exponential_draw(shape, p->ndim, generator_of(&c->args[3]), TP_FLOAT64);
    return scope_result(&s, c, x_multinomial_draw(p, noise, n, replacement));
}

/* ---- dropout ---- */

static int dropout(tp_call *c, const char *op, int spatial)
{
    T x = arg_t(&c->args[0]);
    double p = arg_f(&c->args[1]);
    int rc = need_inexact(op, x, true);
    if (rc) return rc;
    if (!(p >= 0 && p <= 1)) return tpi_fail(TP_ERR_VALUE, "%s: p must lie between 0 and 1, got %g", op, p);
    if (spatial && x->ndim != spatial + 1 && x->ndim != spatial + 2)
        return tpi_fail(TP_ERR_VALUE, "%s: input must have %d or %d dimensions, got shape %s", op, spatial + 1,
                        spatial + 2, tpi_str(x));
    if (!arg_b(&c->args[2]) || p == 0) {
        c->out[0] = tpi_retain(x);
        return 0;
    }
    int64_t shape[TPI_DIMS_CAP];
    for (int d = 0; d < x->ndim; d++) shape[d] = d < x->ndim - spatial ? x->shape[d] : 1;
    tpi_scope s;
    tpi_scope_open(&s);
    T r = x_mul(x, x_dropout_mask(shape, x->ndim, p, NULL, tpi_to_real(x->dtype)));
    if (r && arg_b(&c->args[3])) { /* into input, which is the result */
        if ((rc = tpi_copy_(x, r))) s.failed = rc;
        r = x;
    }
    return scope_result(&s, c, r);
}

int c_dropout(tp_call *c) { return dropout(c, "dropout", 0); }
int c_dropout1d(tp_call *c) { return dropout(c, "dropout1d", 1); }
int c_dropout2d(tp_call *c) { return dropout(c, "dropout2d", 2); }
int c_dropout3d(tp_call *c) { return dropout(c, "dropout3d", 3); }

int c_cauchy(tp_call *c)
{
    T t = arg_t(&c->args[0]);
    double sigma = arg_f(&c->args[2]);
    int rc = need_inexact("cauchy_", t, false);
    if (rc) return rc;
    if (!(sigma > 0)) return tpi_fail(TP_ERR_RUNTIME, "cauchy_: sigma must be positive, got %g", sigma);
    tpi_scope s;
    tpi_scope_open(&s);
    T angle = affine(x_rand(t->shape, t->ndim, generator_of(&c->args[3]), TP_FLOAT64), M_PI, -M_PI_2);
    return deliver(&s, c, x_to_dtype(affine(x_tan(angle), sigma, arg_f(&c->args[1])), t->dtype));
}

int c_geometric(tp_call *c)
{
    T t = arg_t(&c->args[0]);
    double p = arg_f(&c->args[1]);
    static const tp_scalar one = {.tag = TP_SCALAR_INT, .v.i = 1};
    if (t->dtype == TP_BOOL || tpi_is_complex(t->dtype))
        return tpi_fail(TP_ERR_TYPE, "geometric_: %s is not supported", tp_dtype_name(t->dtype));
    if (!(p > 0 && p < 1)) return tpi_fail(TP_ERR_RUNTIME, "geometric_: p must be between 0 and 1, got %g", p);
    tpi_scope s;
    tpi_scope_open(&s);
    T e = x_exponential_draw(t->shape, t->ndim, generator_of(&c->args[2]), TP_FLOAT64);
    return deliver(&s, c, x_to_dtype(x_clamp_min(x_ceil(affine(e, -1 / log1p(-p), 0)), &one), t->dtype));
}

int c_log_normal(tp_call *c)
{
    T t = arg_t(&c->args[0]);
    double std = arg_f(&c->args[2]);
    int rc = need_inexact("log_normal_", t, false);
    if (rc) return rc;
    if (!(std > 0)) return tpi_fail(TP_ERR_RUNTIME, "log_normal_: std must be positive, got %g", std);
    tpi_scope s;
    tpi_scope_open(&s);
    T n = affine(x_randn(t->shape, t->ndim, generator_of(&c->args[3]), TP_FLOAT64), std, arg_f(&c->args[1]));
    return deliver(&s, c, x_to_dtype(x_exp(n), t->dtype));
}
