/* Kernels of reductions: each names its load and fold, and how states become results. */
#include <complex.h>
#include <math.h>

#include "kernels/half.h"
#include "kernels/reduce.h"
#include "tpi_ops.h"

/* ---- results ---- */

/* n doubles as results of the output's real dtype. */
static void put_real(const tpi_reduction *r, const double *v, int64_t n, int64_t first, int64_t step)
{
#define PUT(T, expr)                                    \
    for (int64_t j = 0; j < n; j++) {                   \
        double x = v[j];                                \
        ((T *)r->out[0])[first + j * step] = (T)(expr); \
    }                                                   \
    break
    switch (r->dtype) {
    case TP_FLOAT16: PUT(uint16_t, tpi_f16_encode(tpi_f64_round_odd(x)));
    case TP_BFLOAT16: PUT(uint16_t, tpi_bf16_encode(tpi_f64_round_odd(x)));
    case TP_FLOAT32: PUT(float, x);
    default: PUT(double, x);
    }
#undef PUT
}

static void put_int(const tpi_reduction *r, const int64_t *v, int64_t n, int64_t first, int64_t step)
{
#define PUT(T, expr)                                    \
    for (int64_t j = 0; j < n; j++) {                   \
        int64_t x = v[j];                               \
        ((T *)r->out[0])[first + j * step] = (T)(expr); \
    }                                                   \
    break
    switch (r->dtype) {
    case TP_BOOL: PUT(uint8_t, x != 0);
    case TP_UINT8:
    case TP_INT8: PUT(uint8_t, x);
    case TP_UINT16:
    case TP_INT16: PUT(uint16_t, x);
    case TP_UINT32:
    case TP_INT32: PUT(uint32_t, x);
    default: PUT(int64_t, x);
    }
#undef PUT
}

static void store_real(const tpi_reduction *r, const void *s, int64_t n, int64_t first, int64_t step)
{
    put_real(r, s, n, first, step);
}

static void store_int(const tpi_reduction *r, const void *s, int64_t n, int64_t first, int64_t step)
{
    put_int(r, s, n, first, step);
}

static void store_complex(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const double complex *s = sp;
    for (int64_t j = 0; j < n; j++) {
        if (r->dtype == TP_COMPLEX64) ((float complex *)r->out[0])[first + j * step] = (float complex)s[j];
        else ((double complex *)r->out[0])[first + j * step] = s[j];
    }
}

static tpi_reduction reduction(const tpi_fold *fold, tpi_load load, bool native)
{
    return (tpi_reduction){.fold = fold, .load = load, .native = native};
}

/* Allocates output 0 and runs. */
static int run(tp_call *c, tpi_reduction *r, int dtype, uint64_t mask, bool keepdim)
{
    tp_tensor *x = arg_t(&c->args[0]);
    int64_t shape[TP_MAX_NDIM];
    int n = tpi_reduced_shape(x, mask, keepdim, shape);
    tp_tensor *t = tpi_empty(dtype, n, shape);
    if (!t) return TP_ERR_MEMORY;
    r->dtype = dtype;
    r->out[0] = tpi_data(t);
    int rc = tpi_reduce(r, x, mask);
    if (rc) {
        tp_release(t);
        return rc;
    }
    c->out[0] = t;
    return 0;
}

/* ---- sum, mean, prod ---- */

int k_sum(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]);
    int compute = tpi_reduce_compute(x->dtype);
    bool native;
    tpi_load load = tpi_load_number(x->dtype, &native);
    tpi_reduction r = reduction(tpi_fold_sum(compute), load, native);
    r.store = compute == TP_INT64 ? store_int : tpi_is_complex(compute) ? store_complex : store_real;
    return run(c, &r, compute == TP_INT64 ? TP_INT64 : x->dtype, tpi_dim_mask(&c->args[1]), arg_b(&c->args[2]));
}

static void store_mean(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    double v[64], count = (double)r->nred;
    const double *s = sp;
    for (int64_t i = 0; i < n; i += 64) {
        int64_t m = n - i < 64 ? n - i : 64;
        for (int64_t j = 0; j < m; j++) v[j] = s[i + j] / count;
        put_real(r, v, m, first + i * step, step);
    }
}

static void store_mean_complex(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const double complex *s = sp;
    for (int64_t j = 0; j < n; j++) {
        double complex m = s[j] / (double)r->nred;
        store_complex(r, &m, 1, first + j * step, step);
    }
}

int k_mean(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]);
    bool native;
    tpi_load load = tpi_load_number(x->dtype, &native);
    tpi_reduction r = reduction(tpi_fold_sum(tpi_reduce_compute(x->dtype)), load, native);
    r.store = tpi_is_complex(x->dtype) ? store_mean_complex : store_mean;
    return run(c, &r, x->dtype, tpi_dim_mask(&c->args[1]), arg_b(&c->args[2]));
}

int k_prod(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]);
    int compute = tpi_reduce_compute(x->dtype);
    bool native;
    tpi_load load = tpi_load_number(x->dtype, &native);
    tpi_reduction r = reduction(tpi_fold_prod(compute), load, native);
    r.store = compute == TP_INT64 ? store_int : tpi_is_complex(compute) ? store_complex : store_real;
    return run(c, &r, compute == TP_INT64 ? TP_INT64 : x->dtype, UINT64_C(1) << arg_i(&c->args[1]), arg_b(&c->args[2]));
}

/* ---- extremes ---- */

static void store_float(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const float *s = sp;
    if (r->dtype == TP_FLOAT32) {
        for (int64_t j = 0; j < n; j++) ((float *)r->out[0])[first + j * step] = s[j];
        return;
    }
    for (int64_t j = 0; j < n; j++) {
        double v = s[j];
        put_real(r, &v, 1, first + j * step, step);
    }
}

static void store_u64(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const int64_t *s = sp;
    for (int64_t j = 0; j < n; j++) ((int64_t *)r->out[0])[first + j * step] = tpi_order_u64((uint64_t)s[j]);
}

static void store_i32(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const int32_t *s = sp;
    for (int64_t j = 0; j < n; j++) ((int32_t *)r->out[0])[first + j * step] = s[j];
}

static int extreme(tp_call *c, const char *op, const tpi_fold *(*fold)(int))
{
    tp_tensor *x = arg_t(&c->args[0]);
    uint64_t mask = tpi_dim_mask(&c->args[1]);
    int rc = tpi_check_nonempty(op, x, mask);
    if (rc) return rc;
    int compute = x->dtype == TP_INT32 ? TP_INT32 : tpi_reduce_compute(x->dtype);
    bool native;
    tpi_load load = tpi_load_ordered(x->dtype, &native);
    tpi_reduction r = reduction(fold(compute), load, native);
    r.store = compute == TP_INT32     ? store_i32
              : x->dtype == TP_UINT64 ? store_u64
              : compute == TP_INT64   ? store_int
              : compute == TP_FLOAT32 ? store_float
                                      : store_real;
    return run(c, &r, x->dtype, mask, arg_b(&c->args[2]));
}

int k_amax(tp_call *c) { return extreme(c, "amax", tpi_fold_max); }
int k_amin(tp_call *c) { return extreme(c, "amin", tpi_fold_min); }

/* The position alone (out[0]), or the value (out[0]) and its position (out[1]). */
static void store_index(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const tpi_best_f *s = sp;
    for (int64_t j = 0; j < n; j++) ((int64_t *)r->out[0])[first + j * step] = s[j].index;
}

static void store_best_f(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const tpi_best_f *s = sp;
    for (int64_t j = 0; j < n; j++) {
        put_real(r, &s[j].v, 1, first + j * step, step);
        ((int64_t *)r->out[1])[first + j * step] = s[j].index;
    }
}

static void store_best_i(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const tpi_best_i *s = sp;
    for (int64_t j = 0; j < n; j++) {
        int64_t v = r->dtype == TP_UINT64 ? tpi_order_u64((uint64_t)s[j].v) : s[j].v;
        put_int(r, &v, 1, first + j * step, step);
        ((int64_t *)r->out[1])[first + j * step] = s[j].index;
    }
}

static int arg_extreme(tp_call *c, const char *op, const tpi_fold *(*fold)(int), bool values)
{
    tp_tensor *x = arg_t(&c->args[0]);
    uint64_t mask = UINT64_C(1) << arg_i(&c->args[1]);
    bool keepdim = arg_b(&c->args[2]);
    int rc = tpi_check_nonempty(op, x, mask);
    if (rc) return rc;
    int compute = tpi_reduce_compute(x->dtype);
    bool native;
    tpi_load load = x->dtype == TP_UINT64 ? tpi_load_ordered(x->dtype, &native) : tpi_load_number(x->dtype, &native);
    tpi_reduction r = reduction(fold(compute), load, native);
    if (!values) {
        r.store = store_index;
        return run(c, &r, TP_INT64, mask, keepdim);
    }
    int64_t shape[TP_MAX_NDIM];
    int n = tpi_reduced_shape(x, mask, keepdim, shape);
    tp_tensor *at = tpi_empty(TP_INT64, n, shape);
    if (!at) return TP_ERR_MEMORY;
    r.store = compute == TP_INT64 ? store_best_i : store_best_f;
    r.out[1] = tpi_data(at);
    if ((rc = run(c, &r, x->dtype, mask, keepdim))) {
        tp_release(at);
        return rc;
    }
    c->out[1] = at;
    return 0;
}

int k_argmax(tp_call *c) { return arg_extreme(c, "argmax", tpi_fold_argmax, false); }
int k_argmin(tp_call *c) { return arg_extreme(c, "argmin", tpi_fold_argmin, false); }
int k_max_dim(tp_call *c) { return arg_extreme(c, "max", tpi_fold_argmax, true); }
int k_min_dim(tp_call *c) { return arg_extreme(c, "min", tpi_fold_argmin, true); }

/* ---- truth ---- */

static int truth(tp_call *c, const tpi_fold *fold, int dtype)
{
    tpi_reduction r = reduction(fold, tpi_load_truth(arg_t(&c->args[0])->dtype), false);
    r.store = store_int;
    return run(c, &r, dtype, tpi_dim_mask(&c->args[1]), arg_b(&c->args[2]));
}

int k_any(tp_call *c) { return truth(c, tpi_fold_sum(TP_INT64), TP_BOOL); }
int k_all(tp_call *c) { return truth(c, tpi_fold_min(TP_INT64), TP_BOOL); }
int k_count_nonzero(tp_call *c) { return truth(c, tpi_fold_sum(TP_INT64), TP_INT64); }

/* ---- norms ---- */

static void store_root(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const double *s = sp;
    for (int64_t j = 0; j < n; j++) {
        double v = r->param == 2 ? sqrt(s[j]) : pow(s[j], 1 / r->param);
        put_real(r, &v, 1, first + j * step, step);
    }
}

static void store_squares(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const tpi_squares *s = sp;
    for (int64_t j = 0; j < n; j++) {
        double v = s[j].big > 0    ? sqrt(s[j].big + s[j].mid * 0x1p-600 * 0x1p-600) * 0x1p600
                   : s[j].mid > 0  ? sqrt(s[j].mid + s[j].small * 0x1p-600 * 0x1p-600)
                   : s[j].mid == 0 ? sqrt(s[j].small) * 0x1p-600
                                   : s[j].mid;
        put_real(r, &v, 1, first + j * step, step);
    }
}

static void store_count(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const int64_t *s = sp;
    for (int64_t j = 0; j < n; j++) {
        double v = (double)s[j];
        put_real(r, &v, 1, first + j * step, step);
    }
}

int k_norm(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]);
    double p = arg_f(&c->args[1]);
    uint64_t mask = tpi_dim_mask(&c->args[2]);
    int real = tpi_to_real(x->dtype), compute = tpi_reduce_compute(real), rc;
    bool native = !tpi_is_complex(x->dtype);
    tpi_reduction r = {.load = tpi_load_abs(x->dtype), .store = store_real, .param = p};
    if (p == 2) {
        r.fold = compute == TP_FLOAT32 ? tpi_fold_sumsq() : tpi_fold_squares();
        r.store = compute == TP_FLOAT32 ? store_root : store_squares;
        r.native = native && real >= TP_FLOAT32;
    } else if (p == 0) {
        r.fold = tpi_fold_sum(TP_INT64);
        r.load = tpi_load_truth(x->dtype);
        r.store = store_count;
    } else if (isinf(p)) {
        if ((rc = tpi_check_nonempty("norm", x, mask))) return rc;
        r.fold = p > 0 ? tpi_fold_max(compute) : tpi_fold_min(compute);
        r.store = compute == TP_FLOAT32 ? store_float : store_real;
    } else if (p == 1) {
        r.fold = tpi_fold_sum(compute);
    } else {
        r.fold = tpi_fold_sum(TP_FLOAT64);
        r.load = tpi_load_power(x->dtype);
        r.store = store_root;
    }
    return run(c, &r, real, mask, arg_b(&c->args[3]));
}

/* ---- var, std, logsumexp ---- */

static void store_var(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const tpi_moments *s = sp;
    double d = (double)r->nred - r->param;
    for (int64_t j = 0; j < n; j++) {
        double v = s[j].m2 / (d > 0 ? d : 0);
        put_real(r, &v, 1, first + j * step, step);
    }
}

static void store_std(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const tpi_moments *s = sp;
    double d = (double)r->nred - r->param;
    for (int64_t j = 0; j < n; j++) {
        double v = sqrt(s[j].m2 / (d > 0 ? d : 0));
        put_real(r, &v, 1, first + j * step, step);
    }
}

/* The real and imaginary parts as a last dimension of size 2. */
static tp_tensor *real_parts(tp_tensor *x)
{
    int64_t shape[TP_MAX_NDIM + 1], strides[TP_MAX_NDIM + 1];
    for (int d = 0; d < x->ndim; d++) {
        shape[d] = x->shape[d];
        strides[d] = 2 * x->strides[d];
    }
    shape[x->ndim] = 2;
    strides[x->ndim] = 1;
    tpi_storage_retain(x->storage);
    return tpi_dense_new(x->storage, 2 * x->offset, tpi_to_real(x->dtype), x->ndim + 1, shape, strides);
}

/* Variance of a complex tensor: that of the real plus that of the imaginary parts. */
static int complex_spread(tp_call *c, bool root)
{
    tp_tensor *x = arg_t(&c->args[0]), *parts = real_parts(x), *sum = NULL;
    if (!parts) return TP_ERR_MEMORY;
    tp_val args[] = {val_t(parts), c->args[1], c->args[2], c->args[3]};
    tp_tensor *both = NULL;
    tp_call inner = {.op = c->op, .args = args, .out = &both};
    int rc = k_var(&inner);
    tp_release(parts);
    if (rc) return rc;
    int64_t last = both->ndim - 1;
    tp_val sum_args[] = {val_t(both), val_ints(&last, 1), val_b(false)};
    tp_call add = {.op = c->op, .args = sum_args, .out = &sum};
    rc = k_sum(&add);
    tp_release(both);
    if (rc) return rc;
    for (int64_t i = 0; root && i < sum->numel; i++) {
        if (sum->dtype == TP_FLOAT32) ((float *)tpi_data(sum))[i] = sqrtf(((float *)tpi_data(sum))[i]);
        else ((double *)tpi_data(sum))[i] = sqrt(((double *)tpi_data(sum))[i]);
    }
    c->out[0] = sum;
    return 0;
}

static int spread(tp_call *c, bool root)
{
    tp_tensor *x = arg_t(&c->args[0]);
    if (tpi_is_complex(x->dtype)) return complex_spread(c, root);
    bool native;
    tpi_load load = tpi_load_number(x->dtype, &native);
    tpi_reduction r = reduction(tpi_fold_moments(tpi_reduce_compute(x->dtype)), load, native);
    r.store = root ? store_std : store_var;
    r.param = arg_f(&c->args[2]);
    return run(c, &r, x->dtype, tpi_dim_mask(&c->args[1]), arg_b(&c->args[3]));
}

int k_var(tp_call *c) { return spread(c, false); }
int k_std(tp_call *c) { return spread(c, true); }

static void store_lse(const tpi_reduction *r, const void *sp, int64_t n, int64_t first, int64_t step)
{
    const tpi_lse *s = sp;
    for (int64_t j = 0; j < n; j++) {
        double v = s[j].m + log(s[j].sum);
        put_real(r, &v, 1, first + j * step, step);
    }
}

int k_logsumexp(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]);
    bool native;
    tpi_load load = tpi_load_number(x->dtype, &native);
    tpi_reduction r = reduction(tpi_fold_lse(tpi_reduce_compute(x->dtype)), load, native);
    r.store = store_lse;
    return run(c, &r, x->dtype, tpi_dim_mask(&c->args[1]), arg_b(&c->args[2]));
}
