/* Transforms over callbacks: values against closed forms, nests, wrong use, failures at depth three, leaks. */
#include <math.h>
#include <pthread.h>

#include "check.h"
#include "tp/tp.h"

#define NEAR(a, b) CHECK_MSG(fabs((a) - (b)) < 1e-12, "%s is %.17g, expected %.17g", #a, (double)(a), (double)(b))

static tp_tensor *tensor(int ndim, const int64_t *shape, const double *v)
{
    tp_tensor *t = tp_from_data(v, TP_FLOAT64, ndim, shape);
    REQUIRE(t);
    return t;
}
static tp_tensor *vec(int64_t n, const double *v) { return tensor(1, &n, v); }
static double at(tp_tensor *t, int i)
{
    REQUIRE(t);
    tp_tensor *c = tp_contiguous(t);
    REQUIRE(c);
    double r = ((double *)tp_data(c))[i];
    tp_release(c);
    return r;
}
static void release_all(tp_tensor **t, int n)
{
    for (int i = 0; i < n; i++) tp_release(t[i]);
}

static int destroyed;
static void destroy(void *payload) { destroyed += *(int *)payload; }
static int one = 1;

/* sum(a * b^2) */
static int weighted(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results, int64_t n_results)
{
    tp_tensor *sq = tp_mul(args[1], args[1]), *p = tp_mul(args[0], sq);
    results[0] = tp_sum(p, NULL, -1, false, TP_DTYPE_NONE);
    tp_release(sq);
    tp_release(p);
    return results[0] ? TP_OK : tp_error_code();
    (void)payload, (void)n_args, (void)n_results;
}

/* x^3, 2 x */
static int cube_and_double(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results,
                           int64_t n_results)
{
    tp_tensor *sq = tp_mul(args[0], args[0]);
    results[0] = tp_mul(sq, args[0]);
    results[1] = tp_mul_f(args[0], 2);
    tp_release(sq);
    return results[0] && results[1] ? TP_OK : tp_error_code();
    (void)payload, (void)n_args, (void)n_results;
}

static int doubled(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results, int64_t n_results)
{
    results[0] = tp_mul_f(args[0], 2);
    return results[0] ? TP_OK : tp_error_code();
    (void)payload, (void)n_args, (void)n_results;
}

static const double A[3] = {0.5, -1.25, 2}, B[3] = {3, 1, -2};

static void gradients(void)
{
    tp_tensor *args[2] = {vec(3, A), vec(3, B)}, *g[2], *value;
    tp_function f = {sizeof f, weighted, &one, destroy};
    destroyed = 0;
    CHECK_INT(tp_grad(&f, args, 2, NULL, 0, &value, g), TP_OK);
    CHECK_INT(destroyed, 1);
    double want = 0;
    for (int i = 0; i < 3; i++) {
        want += A[i] * B[i] * B[i];
        NEAR(at(g[0], i), B[i] * B[i]);
        NEAR(at(g[1], i), 2 * A[i] * B[i]);
    }
    NEAR(at(value, 0), want);
    tp_release(value);
    release_all(g, 2);
    CHECK_INT(tp_grad(&f, args, 2, (int64_t[]){-1}, 1, NULL, g), TP_OK);
    NEAR(at(g[0], 1), 2 * A[1] * B[1]);
    tp_release(g[0]);
    CHECK_INT(tp_level_depth(), 0);
    release_all(args, 2);
}

static void cotangents_and_tangents(void)
{
    tp_tensor *x = vec(3, A), *ct[2] = {vec(3, B), NULL}, *y[2], *g, *t[2], *tangent = vec(3, B);
    tp_function f = {sizeof f, cube_and_double, NULL, NULL};
    CHECK_INT(tp_vjp(&f, &x, 1, ct, y, 2, &g), TP_OK);
    for (int i = 0; i < 3; i++) NEAR(at(g, i), 3 * A[i] * A[i] * B[i]);
    NEAR(at(y[0], 2), 8);
    NEAR(at(y[1], 1), -2.5);
    release_all(y, 2);
    tp_release(g);
    CHECK_INT(tp_jvp(&f, &x, &tangent, 1, y, t, 2), TP_OK);
    for (int i = 0; i < 3; i++) {
        NEAR(at(t[0], i), 3 * A[i] * A[i] * B[i]);
        NEAR(at(t[1], i), 2 * B[i]);
    }
    release_all(y, 2);
    release_all(t, 2);
    CHECK_INT(tp_jvp(&f, &x, (tp_tensor *[]){NULL}, 1, NULL, t, 2), TP_OK);
    NEAR(at(t[1], 2), 0);
    release_all(t, 2);
    release_all((tp_tensor *[]){x, ct[0], tangent}, 3);
}

static void jacobians(void)
{
    tp_tensor *x = vec(3, A), *j[2], *y[2];
    tp_function f = {sizeof f, cube_and_double, NULL, NULL};
    for (int mode = 0; mode < 2; mode++) {
        CHECK_INT((mode ? tp_jacfwd : tp_jacrev)(&f, &x, 1, NULL, 0, y, 2, j), TP_OK);
        CHECK_INT(tp_ndim(j[0]), 2);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                NEAR(at(j[0], 3 * r + c), r == c ? 3 * A[r] * A[r] : 0);
                NEAR(at(j[1], 3 * r + c), r == c ? 2 : 0);
            }
        NEAR(at(y[0], 2), 8);
        release_all(j, 2);
        release_all(y, 2);
    }
    tp_release(x);
}

static void hessians(void)
{
    tp_tensor *args[2] = {vec(3, A), vec(3, B)}, *h[4];
    tp_function f = {sizeof f, weighted, &one, destroy};
    destroyed = 0;
    CHECK_INT(tp_hessian(&f, args, 2, NULL, 0, h), TP_OK);
    CHECK_INT(destroyed, 1);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            NEAR(at(h[0], 3 * r + c), 0);
            NEAR(at(h[1], 3 * r + c), r == c ? 2 * B[r] : 0);
            NEAR(at(h[2], 3 * r + c), r == c ? 2 * B[r] : 0);
            NEAR(at(h[3], 3 * r + c), r == c ? 2 * A[r] : 0);
        }
    release_all(h, 4);
    release_all(args, 2);
}

/* The gradient by both arguments as a function. */
static int gradient_of(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results, int64_t n_results)
{
    return tp_grad(payload, args, n_args, NULL, 0, NULL, results);
    (void)n_results;
}

static void per_sample_gradients(void)
{
    const int64_t shape[2] = {2, 3}, turned[2] = {3, 2};
    const double rows[6] = {1, 2, 3, 4, 5, 6}, columns[6] = {1, 4, 2, 5, 3, 6};
    tp_tensor *w = vec(3, A), *x = tensor(2, shape, rows), *xt = tensor(2, turned, columns), *g[2];
    tp_function f = {sizeof f, weighted, NULL, NULL}, inner = {sizeof inner, gradient_of, &f, NULL};
    for (int chunk = 0; chunk < 2; chunk++)
        for (int where = 0; where < 2; where++) {
            tp_vmap_options o = {.struct_size = sizeof o,
                                 .in_dims = (int[]){TP_DIM_NONE, where ? -1 : 0},
                                 .out_dims = (int[]){0, 1},
                                 .chunk_size = chunk};
            CHECK_INT(tp_vmap(&inner, (tp_tensor *[]){w, where ? xt : x}, 2, &o, g, 2), TP_OK);
            CHECK_INT(tp_shape(g[1])[0], 3);
            for (int s = 0; s < 2; s++)
                for (int i = 0; i < 3; i++) {
                    NEAR(at(g[0], 3 * s + i), rows[3 * s + i] * rows[3 * s + i]);
                    NEAR(at(g[1], 2 * i + s), 2 * A[i] * rows[3 * s + i]);
                }
            release_all(g, 2);
        }
    release_all((tp_tensor *[]){w, x, xt}, 3);
}

/* ---- failures ---- */

static int fails(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results, int64_t n_results)
{
    tp_level_depth();
    results[0] = tp_clone(args[0]);
    if (payload) tp_vmap_push(3, TP_RANDOM_ERROR); /* a level that it leaves behind */
    return tp_error_set(TP_ERR_INDEX, "the callback's own message");
    (void)n_args, (void)n_results;
}

static int silent(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results, int64_t n_results)
{
    return *(int *)payload;
    (void)args, (void)n_args, (void)results, (void)n_results;
}

static int deeper(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results, int64_t n_results)
{
    tp_function f = {sizeof f, fails, &one, NULL}, g = {sizeof g, gradient_of, &f, NULL};
    return tp_vmap(&g, args, n_args, NULL, results, n_results);
    (void)payload;
}

static void failure_at_depth_three(void)
{
    const int64_t shape[2] = {2, 3};
    const double rows[6] = {1, 2, 3, 4, 5, 6};
    int64_t live = tp_live_tensors();
    tp_tensor *x = tensor(2, shape, rows), *tangent = tensor(2, shape, rows), *t = x;
    tp_function f = {sizeof f, deeper, &one, destroy};
    destroyed = 0;
    CHECK_INT(tp_jvp(&f, &x, &tangent, 1, NULL, &t, 1), TP_ERR_INDEX);
    CHECK_INT(tp_error_code(), TP_ERR_INDEX);
    CHECK_STR(tp_error_message(), "the callback's own message");
    CHECK(t == NULL);
    CHECK_INT(destroyed, 1);
    CHECK_INT(tp_level_depth(), 0);
    tp_release(x);
    tp_release(tangent);
    CHECK_INT(tp_live_tensors(), live);
}

static void silent_failures(void)
{
    tp_tensor *x = vec(3, A), *y = NULL;
    int code = TP_ERR_RUNTIME, none = 0;
    tp_function f = {sizeof f, silent, &code, NULL}, g = {sizeof g, silent, &none, NULL};
    CHECK_INT(tp_vmap(&f, &x, 1, NULL, &y, 1), TP_ERR_RUNTIME);
    CHECK_STR(tp_error_message(), "tp_vmap: the function failed with code 4");
    CHECK_INT(tp_vmap(&g, &x, 1, NULL, &y, 1), TP_ERR_VALUE);
    CHECK_STR(tp_error_message(), "tp_vmap: the function left result 0 unset");
    tp_release(x);
}

#define WRONG(call, code, text)                                                         \
    do {                                                                                \
        destroyed = 0;                                                                  \
        CHECK_INT(call, code);                                                          \
        CHECK_MSG(strstr(tp_error_message(), text), "message: %s", tp_error_message()); \
        CHECK_INT(tp_level_depth(), 0);                                                 \
        CHECK_INT(destroyed, 1);                                                        \
    } while (0)

static void wrong_use(void)
{
    int64_t live = tp_live_tensors();
    tp_tensor *x = vec(3, A), *short_one = vec(2, A), *out[4] = {NULL};
    tp_tensor *whole = tp_arange(&(tp_scalar){.tag = TP_SCALAR_INT, .v.i = 3}, TP_INT64);
    tp_function f = {sizeof f, weighted, &one, destroy}, c = {sizeof c, cube_and_double, &one, destroy};
    tp_function d = {sizeof d, doubled, &one, destroy};
    tp_function empty = {sizeof empty, NULL, &one, destroy}, tiny = {4, weighted, &one, destroy};
    tp_tensor *pair[2] = {x, x}, *uneven[2] = {x, short_one}, *hole[2] = {x, NULL}, *ints[2] = {x, whole};
    tp_vmap_options o = {.struct_size = sizeof o};
    CHECK_INT(tp_vmap(NULL, pair, 2, NULL, out, 1), TP_ERR_VALUE);
    CHECK_INT(tp_grad(&tiny, pair, 2, NULL, 0, NULL, out), TP_ERR_VALUE);
    WRONG(tp_vmap(&empty, pair, 2, NULL, out, 1), TP_ERR_VALUE, "has no call");
    WRONG(tp_vmap(&f, hole, 2, NULL, out, 1), TP_ERR_VALUE, "argument 1 is NULL");
    WRONG(tp_vmap(&f, NULL, 2, NULL, out, 1), TP_ERR_VALUE, "no arguments");
    WRONG(tp_vmap(&f, pair, -1, NULL, out, 1), TP_ERR_VALUE, "-1 arguments");
    WRONG(tp_vmap(&f, uneven, 2, NULL, out, 1), TP_ERR_VALUE, "argument 1 has 2 samples, others 3");
    o.in_dims = (int[]){1, 0};
    WRONG(tp_vmap(&f, pair, 2, &o, out, 1), TP_ERR_VALUE, "in_dim 1 is out of range");
    o.in_dims = (int[]){TP_DIM_NONE, TP_DIM_NONE};
    WRONG(tp_vmap(&f, pair, 2, &o, out, 1), TP_ERR_VALUE, "no argument is mapped");
    o.in_dims = NULL;
    o.out_dims = (int[]){3};
    WRONG(tp_vmap(&f, pair, 2, &o, out, 1), TP_ERR_VALUE, "out_dim 3 is out of range");
    o.out_dims = (int[]){TP_DIM_NONE};
    WRONG(tp_vmap(&f, pair, 2, &o, out, 1), TP_ERR_VALUE, "which is mapped");
    o.struct_size = 8;
    WRONG(tp_vmap(&f, pair, 2, &o, out, 1), TP_ERR_VALUE, "struct_size of the options");
    WRONG(tp_grad(&f, ints, 2, NULL, 0, NULL, out), TP_ERR_RUNTIME, "argument 1 has dtype int64");
    WRONG(tp_grad(&f, pair, 2, (int64_t[]){2}, 1, NULL, out), TP_ERR_VALUE, "argnums 2 is out of range");
    WRONG(tp_grad(&f, pair, 2, (int64_t[]){0, -2}, 2, NULL, out), TP_ERR_VALUE, "names argument 0 twice");
    WRONG(tp_vjp(&c, pair, 1, NULL, NULL, 2, out), TP_ERR_VALUE, "result 0 of shape [3] needs a cotangent");
    WRONG(tp_vjp(&d, pair, 1, uneven + 1, NULL, 1, out), TP_ERR_RUNTIME, "cotangent 0 has shape [2], expected [3]");
    WRONG(tp_jvp(&c, pair, uneven + 1, 1, NULL, out, 2), TP_ERR_RUNTIME, "tangent 0 has shape [2], expected [3]");
    WRONG(tp_jvp(&c, pair, ints + 1, 1, NULL, out, 2), TP_ERR_TYPE, "tangent 0 has dtype int64, expected float64");
    WRONG(tp_jvp(&c, pair, NULL, 1, NULL, out, 2), TP_ERR_VALUE, "no tangents");
    WRONG(tp_jacrev(&c, pair, 1, NULL, 0, NULL, 2, NULL), TP_ERR_VALUE, "nowhere to store");
    WRONG(tp_jacfwd(&c, pair, 0, NULL, 0, NULL, 2, out), TP_ERR_VALUE, "no arguments to differentiate");
    WRONG(tp_hessian(&f, ints, 2, NULL, 0, out), TP_ERR_RUNTIME, "argument 1 has dtype int64");
    WRONG(tp_grad(&d, pair, 1, NULL, 0, NULL, out), TP_ERR_RUNTIME, "must return a 0-d tensor");
    release_all((tp_tensor *[]){x, short_one, whole}, 3);
    for (int i = 0; i < 4; i++) CHECK(out[i] == NULL);
    CHECK_INT(tp_live_tensors(), live);
}

static int noise(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results, int64_t n_results)
{
    tp_tensor *r = tp_rand(tp_shape(args[0]), tp_ndim(args[0]), NULL, TP_FLOAT64);
    results[0] = r ? tp_add(args[0], r, &(tp_scalar){.tag = TP_SCALAR_INT, .v.i = 1}) : NULL;
    tp_release(r);
    return results[0] ? TP_OK : tp_error_code();
    (void)payload, (void)n_args, (void)n_results;
}

static void randomness(void)
{
    const int64_t shape[2] = {4, 2};
    const double zero[8] = {0};
    tp_tensor *x = tensor(2, shape, zero), *y;
    tp_function f = {sizeof f, noise, NULL, NULL};
    CHECK_INT(tp_vmap(&f, &x, 1, NULL, &y, 1), TP_ERR_RUNTIME);
    for (int chunk = 0; chunk < 4; chunk += 3) {
        tp_vmap_options o = {.struct_size = sizeof o, .randomness = TP_RANDOM_SAME, .chunk_size = chunk};
        CHECK_INT(tp_vmap(&f, &x, 1, &o, &y, 1), TP_OK);
        for (int s = 1; s < 4; s++) CHECK(at(y, 2 * s) == at(y, 0) && at(y, 2 * s + 1) == at(y, 1));
        tp_release(y);
        o.randomness = TP_RANDOM_DIFFERENT;
        CHECK_INT(tp_vmap(&f, &x, 1, &o, &y, 1), TP_OK);
        for (int s = 1; s < 4; s++) CHECK(at(y, 2 * s) != at(y, 0));
        tp_release(y);
    }
    tp_release(x);
}

static void *worker(void *payload)
{
    for (int i = 0; i < 20; i++) per_sample_gradients();
    return payload;
}

static void threads(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) REQUIRE(!pthread_create(&t[i], NULL, worker, NULL));
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
}

int main(void)
{
    int64_t live = tp_live_tensors();
    RUN(gradients);
    RUN(cotangents_and_tangents);
    RUN(jacobians);
    RUN(hessians);
    RUN(per_sample_gradients);
    RUN(failure_at_depth_three);
    RUN(silent_failures);
    RUN(wrong_use);
    RUN(randomness);
    RUN(threads);
    CHECK_INT(tp_live_tensors(), live);
    return check_finish();
}
