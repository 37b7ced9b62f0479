/* Random kernels: fills of core/philox.h in every dtype, and choices by given probabilities. */
#include <math.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "core/clones.h"
#include "core/philox.h"
#include "core/pool.h"
#include "kernels/iter.h"
#include "kernels/kernels.h"
#include "kernels/shape.h"

static tp_generator *generator_of(const tp_val *a) { return arg_none(a) ? NULL : a->v.gen; }

static int dtype_of(const tp_val *a, int otherwise) { return arg_none(a) ? otherwise : (int)arg_i(a); }

static tp_tensor *sized(const char *op, const tp_val *size, int extra, int64_t last, int dtype)
{
    int64_t numel, shape[TPI_DIMS_CAP];
    if (tpi_check_rank(op, size->n + extra)) return NULL;
    tpi_copy_dims(shape, size->v.ints, size->n);
    shape[size->n] = last;
    return tpi_numel(op, size->n + extra, shape, &numel) ? NULL : tpi_empty(dtype, size->n + extra, shape);
}

/* Takes over t, whose values become those of dtype. */
static int converted(tp_call *c, tp_tensor *t, int dtype)
{
    if (!t || t->dtype == dtype) return tpi_set_out(c, 0, t);
    tp_tensor *r = tpi_dense_cast(t, dtype);
    tp_release(t);
    return tpi_set_out(c, 0, r);
}

/* ---- floating draws ---- */

typedef enum law { UNIFORM, NORMAL, EXPONENTIAL } law;

typedef struct scale_job {
    float *f;
    double *d;
    double factor;
    float steps;
} scale_job;

static void scale_range(int64_t begin, int64_t end, void *ctx)
{
    const scale_job *j = ctx;
    if (j->f)
        for (int64_t i = begin; i < end; i++) j->f[i] *= (float)j->factor;
    else
        for (int64_t i = begin; i < end; i++) j->d[i] *= j->factor;
}

/* Down to a multiple of 1 / steps: a shorter format must not round up to 1. */
static void floor_range(int64_t begin, int64_t end, void *ctx)
{
    const scale_job *j = ctx;
    for (int64_t i = begin; i < end; i++) j->f[i] = (float)(int32_t)(j->f[i] * j->steps) / j->steps;
}

static int draw(tp_call *c, const char *op, law law, bool complex_too)
{
    tp_generator *g = generator_of(&c->args[1]);
    int dtype = dtype_of(&c->args[2], tp_get_default_dtype());
    if (!tpi_is_float(dtype) && !(complex_too && tpi_is_complex(dtype)))
        return tpi_fail(TP_ERR_TYPE, "%s: dtype %s is not floating%s", op, tp_dtype_name(dtype),
                        complex_too ? " or complex" : "");
    int compute = tpi_compute_dtype(dtype);
    tp_tensor *t = sized(op, &c->args[0], 0, 0, compute);
    if (!t) return tp_error_code();
    bool wide = compute == TP_FLOAT64 || compute == TP_COMPLEX128;
    int64_t n = t->numel * (tpi_is_complex(compute) ? 2 : 1);
    scale_job j = {.f = wide ? NULL : tpi_data(t), .d = wide ? tpi_data(t) : NULL, .factor = sqrt(0.5)};
    switch (law) {
    case UNIFORM: wide ? tpi_fill_uniform_f64(g, j.d, n) : tpi_fill_uniform_f32(g, j.f, n); break;
    case NORMAL: wide ? tpi_fill_normal_f64(g, j.d, n) : tpi_fill_normal_f32(g, j.f, n); break;
    default: wide ? tpi_fill_exponential_f64(g, j.d, n) : tpi_fill_exponential_f32(g, j.f, n);
    }
    if (law == NORMAL && tpi_is_complex(compute)) tpi_parallel_for(n, 1 << 16, scale_range, &j);
    if (law == UNIFORM && dtype != compute) {
        j.steps = dtype == TP_FLOAT16 ? 0x1p11f : 0x1p8f;
        tpi_parallel_for(n, 1 << 16, floor_range, &j);
    }
    return converted(c, t, dtype);
}

int k_rand(tp_call *c) { return draw(c, "rand", UNIFORM, true); }
int k_randn(tp_call *c) { return draw(c, "randn", NORMAL, true); }
int k_exponential_draw(tp_call *c) { return draw(c, "exponential", EXPONENTIAL, false); }

/* ---- integers ---- */

int k_randint_draw(tp_call *c)
{
    tp_tensor *t = sized("randint", &c->args[0], 0, 0, TP_INT64);
    if (!t) return tp_error_code();
    tpi_fill_integers(generator_of(&c->args[3]), tpi_data(t), t->numel, arg_i(&c->args[1]),
                      (uint64_t)arg_i(&c->args[2]));
    return converted(c, t, dtype_of(&c->args[4], TP_INT64));
}

int k_randperm_draw(tp_call *c)
{
    int64_t n = arg_i(&c->args[1]);
    tp_tensor *t = sized("randperm", &c->args[0], 1, n, TP_INT64);
    if (!t) return tp_error_code();
    tp_generator *g = generator_of(&c->args[2]);
    for (int64_t i = 0; i < t->numel; i += n) tpi_fill_permutation(g, (int64_t *)tpi_data(t) + i, n);
    return converted(c, t, dtype_of(&c->args[3], TP_INT64));
}

/* ---- dropout ---- */

typedef struct mask_job {
    float *u, p, keep;
} mask_job;

TP_CLONES static void mask_run(int64_t n, float *u, float p, float keep)
{
    for (int64_t i = 0; i < n; i++) u[i] = u[i] < p ? 0.0f : keep;
}

static void mask_range(int64_t begin, int64_t end, void *ctx)
{
    const mask_job *j = ctx;
    mask_run(end - begin, j->u + begin, j->p, j->keep);
}

int k_dropout_mask(tp_call *c)
{
    double p = arg_f(&c->args[1]);
    tp_tensor *t = sized("dropout", &c->args[0], 0, 0, TP_FLOAT32);
    if (!t) return tp_error_code();
    mask_job j = {tpi_data(t), (float)p, p < 1 ? (float)(1 / (1 - p)) : 0};
    tpi_fill_uniform_f32(generator_of(&c->args[2]), j.u, t->numel);
    int dtype = dtype_of(&c->args[3], tp_get_default_dtype());
    if (dtype == TP_FLOAT64) { /* the factor in full precision */
        j.keep = 1;
        tpi_parallel_for(t->numel, 1 << 15, mask_range, &j);
        int rc = converted(c, t, dtype);
        scale_job s = {.d = rc ? NULL : tpi_data(c->out[0]), .factor = p < 1 ? 1 / (1 - p) : 0};
        if (!rc) tpi_parallel_for(c->out[0]->numel, 1 << 15, scale_range, &s);
        return rc;
    }
    tpi_parallel_for(t->numel, 1 << 15, mask_range, &j);
    return converted(c, t, dtype);
}

/* ---- by given probabilities ---- */

#define BERNOULLI(NAME, T)                                                                        \
    static void NAME(int64_t n, char **ptr, const int64_t *stride, void *ctx)                     \
    {                                                                                             \
        bool good = true;                                                                         \
        for (int64_t i = 0; i < n; i++) {                                                         \
            T p = *(const T *)(ptr[1] + i * stride[1]), u = *(const T *)(ptr[2] + i * stride[2]); \
            good &= p >= 0 && p <= 1;                                                             \
            *(T *)(ptr[0] + i * stride[0]) = u < p;                                               \
        }                                                                                         \
        if (!good) *(_Atomic bool *)ctx = true;                                                   \
    }
BERNOULLI(bernoulli_f32, float)
BERNOULLI(bernoulli_f64, double)

int k_bernoulli_draw(tp_call *c)
{
    _Atomic bool bad = false;
    tp_tensor *in[2] = {arg_t(&c->args[0]), arg_t(&c->args[1])};
    int dtype = in[0]->dtype;
    int rc = tpi_map("bernoulli", c->out, dtype, 2, in, dtype == TP_FLOAT64 ? bernoulli_f64 : bernoulli_f32, &bad);
    if (!rc && bad) rc = tpi_fail(TP_ERR_RUNTIME, "bernoulli: a probability is not in [0, 1]");
    return rc;
}

typedef struct key {
    double key;
    int64_t index;
} key;

static int by_key(const void *x, const void *y)
{
    const key *a = x, *b = y;
    if (a->key != b->key) return a->key > b->key ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

/* The first category whose cumulative weight exceeds what u, in [0, 1), stands for. */
static int64_t search(const double *cumulative, int64_t n, double x)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (cumulative[mid] > x) high = mid;
        else low = mid + 1;
    }
    return low;
}

static int bad_weights(void)
{
    return tpi_fail(TP_ERR_RUNTIME, "multinomial: weights must be finite, not negative, and not all zero");
}

static int choose(const double *w, int64_t n, const double *noise, int64_t count, bool replacement, double *cumulative,
                  key *keys, int64_t *out)
{
    double total = 0;
    int64_t possible = 0, last = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(w[i] >= 0) || isinf(w[i])) return bad_weights();
        total += w[i];
        if (w[i] > 0) {
            possible++;
            last = i;
        }
        if (replacement) cumulative[i] = total;
        else keys[i] = (key){w[i] > 0 ? w[i] / noise[i] : -1, i};
    }
    if (!possible || isinf(total)) return bad_weights();
    if (replacement) {
        for (int64_t k = 0; k < count; k++) {
            int64_t i = search(cumulative, n, noise[k] * total);
            out[k] = i <= last ? i : last;
        }
        return TP_OK;
    }
    if (possible < count)
        return tpi_fail(TP_ERR_RUNTIME,
                        "multinomial: %lld samples without replacement, but only %lld categories have a "
                        "positive weight",
                        (long long)count, (long long)possible);
    qsort(keys, (size_t)n, sizeof *keys, by_key);
    for (int64_t k = 0; k < count; k++) out[k] = keys[k].index;
    return TP_OK;
}

int k_multinomial_draw(tp_call *c)
{
    tp_tensor *p = arg_t(&c->args[0]), *noise = arg_t(&c->args[1]);
    int64_t count = arg_i(&c->args[2]), shape[TPI_DIMS_CAP];
    bool replacement = arg_b(&c->args[3]);
    int last = p->ndim - 1;
    int64_t n = p->shape[last], per_row = noise->shape[last];
    tpi_copy_dims(shape, p->shape, last);
    shape[last] = count;
    tp_tensor *w = tpi_dense_cast(p, TP_FLOAT64), *u = w ? tpi_dense_cast(noise, TP_FLOAT64) : NULL;
    tp_tensor *out = u ? tpi_empty(TP_INT64, p->ndim, shape) : NULL;
    size_t bytes = (size_t)n * (sizeof(double) + sizeof(key));
    char *work = out ? tpi_alloc(bytes) : NULL;
    int rc = work ? TP_OK : tp_error_code();
    int64_t rows = n ? p->numel / n : 0;
    for (int64_t r = 0; r < rows && !rc; r++)
        rc = choose((double *)tpi_data(w) + r * n, n, (double *)tpi_data(u) + r * per_row, count, replacement,
                    (double *)(work + (size_t)n * sizeof(key)), (key *)work, (int64_t *)tpi_data(out) + r * count);
    tpi_free(work, bytes);
    tp_release(w);
    tp_release(u);
    if (rc) {
        tp_release(out);
        return rc;
    }
    return tpi_set_out(c, 0, out);
}
