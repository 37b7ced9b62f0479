/* Levels from C: values against closed forms, mutation, errors, ownership. */
#include <math.h>

#include "check.h"
#include "tp/custom.h"
#include "tp/ops.h"

static tp_tensor *vec(int n, const double *v)
{
    int64_t shape[1] = {n};
    tp_tensor *t = tp_from_data(v, TP_FLOAT64, 1, shape);
    REQUIRE(t);
    return t;
}

static double at(tp_tensor *t, int i) { return ((double *)tp_data(t))[i]; }

static const double X[3] = {0.5, -1.25, 2.0};

/* d/dx sum(x^3) by reverse mode, its derivative by a second level: 6x. */
static void reverse_over_reverse(void)
{
    tp_tensor *x = vec(3, X);
    int depth = tp_level_depth();
    uint64_t outer = tp_reverse_push(TP_ORIGIN_GRAD);
    tp_tensor *a = tp_reverse_wrap(x, outer);
    uint64_t inner = tp_reverse_push(TP_ORIGIN_GRAD);
    tp_tensor *b = tp_reverse_wrap(a, inner);
    tp_tensor *sq = tp_mul(b, b), *cube = tp_mul(sq, b), *y = tp_sum(cube, NULL, -1, false, TP_DTYPE_NONE), *g, *h;
    CHECK(tp_reverse_vjp(inner, &y, NULL, 1, &b, 1, false, false, &g) == TP_OK);
    CHECK(tp_level_pop_to(depth + 1) == TP_OK);
    tp_tensor *s = tp_sum(g, NULL, -1, false, TP_DTYPE_NONE);
    CHECK(tp_reverse_vjp(outer, &s, NULL, 1, &a, 1, false, false, &h) == TP_OK);
    CHECK(tp_level_pop_to(depth) == TP_OK);
    for (int i = 0; i < 3; i++) CHECK(fabs(at(h, i) - 6 * X[i]) < 1e-12);
    tp_tensor *all[] = {x, a, b, sq, cube, y, g, s, h};
    for (int i = 0; i < 9; i++) tp_release(all[i]);
}

/* out = zeros(2); out[1] = mapped value: out becomes batched, its other view follows. */
static void write_makes_batched(void)
{
    tp_tensor *x = vec(3, X);
    int depth = tp_level_depth();
    uint64_t level = tp_vmap_push(3, TP_RANDOM_ERROR);
    tp_tensor *b = tp_batch_wrap(x, level, 0);
    double zeros[2] = {0, 0};
    tp_tensor *out = vec(2, zeros);
    tp_tensor *second = tp_select(out, 0, 1);
    CHECK(tp_copy_(second, b) == TP_OK);
    CHECK(tp_batch_dim(out, level) >= 0);
    tp_tensor *res = tp_batch_unwrap(out, level, 0);
    CHECK(tp_level_pop_to(depth) == TP_OK);
    for (int i = 0; i < 3; i++) {
        CHECK(at(res, 2 * i) == 0);
        CHECK(at(res, 2 * i + 1) == X[i]);
    }
    tp_tensor *all[] = {x, b, out, second, res};
    for (int i = 0; i < 5; i++) tp_release(all[i]);
}

static void captured_refuses_mapped(void)
{
    tp_tensor *x = vec(3, X), *w = vec(3, X);
    int depth = tp_level_depth();
    uint64_t level = tp_vmap_push(3, TP_RANDOM_ERROR);
    tp_tensor *b = tp_batch_wrap(x, level, 0);
    CHECK(tp_add_(w, b, &(tp_scalar){.tag = TP_SCALAR_INT, .v.i = 1}) == TP_ERR_RUNTIME);
    CHECK(strstr(tp_error_message(), "add_") != NULL);
    CHECK(tp_level_pop_to(depth) == TP_OK);
    for (int i = 0; i < 3; i++) CHECK(at(w, i) == X[i]);
    tp_release(b);
    tp_release(w);
    tp_release(x);
}

/* Captured by a reverse level and written with a tracked value: plain again, with the value, when it ends. */
static void captured_is_restored(void)
{
    tp_tensor *x = vec(3, X), *acc = vec(3, X);
    int depth = tp_level_depth();
    uint64_t level = tp_reverse_push(TP_ORIGIN_GRAD);
    tp_tensor *w = tp_reverse_wrap(x, level), *y = tp_mul(w, w);
    CHECK(tp_copy_(acc, y) == TP_OK);
    CHECK(tp_is_tracked(acc, level));
    CHECK(tp_level_pop_to(depth) == TP_OK);
    CHECK(!tp_is_wrapped(acc));
    for (int i = 0; i < 3; i++) CHECK(at(acc, i) == X[i] * X[i]);
    tp_tensor *all[] = {x, acc, w, y};
    for (int i = 0; i < 4; i++) tp_release(all[i]);
}

static void escaped_is_named(void)
{
    tp_tensor *x = vec(3, X);
    int depth = tp_level_depth();
    tp_tensor *w = tp_forward_wrap(x, x, tp_forward_push(TP_ORIGIN_JVP));
    CHECK(tp_level_pop_to(depth) == TP_OK);
    CHECK(tp_mul(w, w) == NULL);
    CHECK(tp_error_code() == TP_ERR_RUNTIME);
    CHECK(strstr(tp_error_message(), "jvp") != NULL);
    tp_release(w);
    tp_release(x);
}

/* Released, and differentiated, without a deep stack. */
static void long_chain(void)
{
    tp_tensor *x = vec(1, X);
    int depth = tp_level_depth();
    uint64_t level = tp_reverse_push(TP_ORIGIN_GRAD);
    tp_tensor *w = tp_reverse_wrap(x, level), *y = w, *g;
    tp_retain(y);
    for (int i = 0; i < 1000000; i++) {
        tp_tensor *z = tp_neg(y);
        tp_release(y);
        y = z;
        if (!y) break;
    }
    REQUIRE(y);
    CHECK(tp_reverse_vjp(level, &y, NULL, 1, &w, 1, true, false, &g) == TP_OK);
    CHECK(at(g, 0) == 1);
    CHECK(tp_level_pop_to(depth) == TP_OK);
    tp_release(y);
    tp_release(w);
    tp_release(g);
    tp_release(x);
}

static void written_after_saving(void)
{
    tp_tensor *x = vec(3, X), *g;
    int depth = tp_level_depth();
    uint64_t level = tp_reverse_push(TP_ORIGIN_GRAD);
    tp_tensor *w = tp_reverse_wrap(x, level), *e = tp_exp(w);
    tp_tensor *y = tp_mul(e, e);
    CHECK(tp_copy_(e, w) == TP_OK);
    tp_tensor *s = tp_sum(y, NULL, -1, false, TP_DTYPE_NONE);
    CHECK(tp_reverse_vjp(level, &s, NULL, 1, &w, 1, false, false, &g) == TP_ERR_RUNTIME);
    CHECK(strstr(tp_error_message(), "in-place") != NULL);
    CHECK(tp_level_pop_to(depth) == TP_OK);
    tp_tensor *all[] = {x, w, e, y, s};
    for (int i = 0; i < 5; i++) tp_release(all[i]);
}

#ifdef TP_CHECKED
static void released_handle(void)
{
    tp_tensor *x = vec(3, X);
    tp_release(x);
    CHECK(tp_neg(x) == NULL);
    CHECK(tp_error_code() == TP_ERR_VALUE);
    tp_release(x); /* ignored */
}
#endif

int main(void)
{
    int64_t before = tp_live_tensors();
    RUN(reverse_over_reverse);
    RUN(write_makes_batched);
    RUN(captured_refuses_mapped);
    RUN(captured_is_restored);
    RUN(escaped_is_named);
    RUN(long_chain);
    RUN(written_after_saving);
#ifdef TP_CHECKED
    RUN(released_handle);
#endif
    CHECK_INT(tp_live_tensors(), before);
    return check_finish();
}
