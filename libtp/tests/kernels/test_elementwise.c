/* The iterator and the elementwise kernels, through the public functions. */
#include <math.h>

#include "check.h"
#include "core/scope.h"
#include "dispatch/op.h"
#include "kernels/iter.h"
#include "tp/ops.h"
#include "tp/runtime.h"
#include "tpi_ops.h"

static const tp_scalar one = {.tag = TP_SCALAR_INT, .v.i = 1};

static tp_tensor *vector(int dtype, int n, const double *values)
{
    tp_tensor *t = tp_from_data(values, TP_FLOAT64, 1, (int64_t[]){n}), *c = tp_cast(t, dtype);
    REQUIRE(t && c);
    tp_release(t);
    return c;
}

static double at(tp_tensor *t, int64_t i)
{
    double v;
    tp_tensor *c = tp_cast(t, TP_FLOAT64);
    REQUIRE(c);
    v = ((double *)tp_data(c))[i];
    tp_release(c);
    return v;
}

static void is_vector(tp_tensor *t, int n, const double *want, const char *what)
{
    CHECK_MSG(t, "%s: %s", what, tp_error_message());
    if (!t) return;
    CHECK_INT(tp_numel(t), n);
    for (int i = 0; i < n; i++) CHECK_MSG(at(t, i) == want[i], "%s[%d] is %g, expected %g", what, i, at(t, i), want[i]);
    tp_release(t);
}

/* Element k of the output says which elements of the inputs met there. */
static void pair_up(int64_t n, char **p, const int64_t *s, void *ctx)
{
    for (int64_t k = 0; k < n; k++)
        *(int64_t *)(p[0] + k * s[0]) = *(int64_t *)(p[1] + k * s[1]) * 100000 + *(int64_t *)(p[2] + k * s[2]);
}

static void check_pairs(tp_tensor *a, tp_tensor *b)
{
    tp_tensor *out = NULL;
    CHECK_INT(tpi_map("pair", &out, TP_INT64, 2, (tp_tensor *[]){a, b}, pair_up, NULL), 0);
    REQUIRE(out);
    int64_t pos[TP_MAX_NDIM] = {0};
    for (int64_t k = 0; k < out->numel; k++) {
        int64_t value = 0;
        for (int i = 0; i < 2; i++) {
            tp_tensor *t = i ? b : a;
            int64_t offset = 0;
            for (int d = 0; d < t->ndim; d++)
                offset += t->shape[d] == 1 ? 0 : pos[out->ndim - t->ndim + d] * t->strides[d];
            value = value * 100000 + ((int64_t *)tpi_data(t))[offset];
        }
        CHECK_INT(((int64_t *)tpi_data(out))[k], value);
        for (int d = out->ndim - 1; d >= 0 && ++pos[d] == out->shape[d]; d--) pos[d] = 0;
    }
    tp_release(out);
}

static void test_iterator(void)
{
    static int64_t data[40000];
    for (int k = 0; k < 40000; k++) data[k] = k;
    static const struct {
        int ndim;
        int64_t shape[5], strides[5];
    } views[] = {
        {0, {0}, {0}},
        {1, {3}, {1}},
        {1, {1}, {7}},
        {2, {4, 3}, {3, 1}},
        {2, {4, 3}, {1, 4}},
        {2, {4, 1}, {2, 9}},
        {3, {5, 1, 3}, {3, 0, 1}},
        {3, {5, 4, 3}, {60, -3, 2}},
        {5, {2, 1, 5, 4, 3}, {1, 0, 2, 10, 40}},
        {5, {2, 3, 5, 4, 3}, {0, 1, 9, 50, 3}},
        {3, {70, 4, 3}, {12, 3, 1}},
        {3, {1000, 4, 3}, {12, 1, 4}},
        {2, {0, 3}, {3, 1}},
    };
    int n = sizeof views / sizeof *views;
    for (int threads = 1; threads <= 2; threads++) {
        tp_set_num_threads(threads);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                int64_t shape[TP_MAX_NDIM];
                int ndim;
                if (tpi_broadcast_shapes("", views[i].ndim, views[i].shape, views[j].ndim, views[j].shape, &ndim,
                                         shape))
                    continue;
                tp_tensor *a = tp_from_memory(data + 100, TP_INT64, views[i].ndim, views[i].shape, views[i].strides,
                                              false, NULL, NULL);
                tp_tensor *b = tp_from_memory(data + 100, TP_INT64, views[j].ndim, views[j].shape, views[j].strides,
                                              false, NULL, NULL);
                REQUIRE(a && b);
                check_pairs(a, b);
                tp_release(a);
                tp_release(b);
            }
    }
    tp_set_num_threads(2);
    int64_t shape[2] = {300, 333};
    tp_tensor *a = tp_from_memory(data, TP_INT64, 2, shape, (int64_t[]){1, 100}, false, NULL, NULL);
    tp_tensor *b = tp_from_memory(data, TP_INT64, 2, (int64_t[]){300, 1}, NULL, false, NULL, NULL);
    REQUIRE(a && b);
    check_pairs(a, b);
    tp_release(a);
    tp_release(b);
}

static void test_in_place(void)
{
    double x[6] = {0, 1, 2, 3, 4, 5};
    tp_tensor *whole = tp_from_memory(x, TP_FLOAT64, 1, (int64_t[]){6}, NULL, false, NULL, NULL);
    tp_tensor *head = tp_from_memory(x, TP_FLOAT64, 1, (int64_t[]){5}, NULL, false, NULL, NULL);
    tp_tensor *tail = tp_from_memory(x + 1, TP_FLOAT64, 1, (int64_t[]){5}, NULL, false, NULL, NULL);
    tp_tensor *last = tp_from_memory(x + 5, TP_FLOAT64, 0, (int64_t[]){0}, NULL, false, NULL, NULL);
    int64_t version = tp_version(whole);
    CHECK_INT(tp_add_(whole, whole, &one), 0);
    CHECK(tp_version(whole) > version);
    CHECK(x[0] == 0 && x[5] == 10);
    CHECK_INT(tp_add_(tail, head, &one), 0); /* 0 2 4 6 8 10 moved by one */
    CHECK(x[1] == 2 && x[2] == 6 && x[3] == 10 && x[5] == 18);
    CHECK_INT(tp_mul_(whole, last), 0);
    CHECK(x[1] == 36 && x[5] == 324);
    tp_tensor *wide = tp_zeros((int64_t[]){2, 6}, 2, TP_FLOAT64);
    CHECK_INT(tp_add_(whole, wide, &one), TP_ERR_VALUE);
    CHECK(x[5] == 324);
    CHECK_INT(tp_exp2_(last), 0);
    tp_release(wide);
    tp_release(whole);
    tp_release(head);
    tp_release(tail);
    tp_release(last);
}

static void test_integers(void)
{
    for (int dtype = TP_UINT8; dtype <= TP_INT64; dtype++) {
        bool is_signed = !(dtype & 1);
        tp_tensor *x = vector(dtype, 4, is_signed ? (double[]){7, -7, 7, -7} : (double[]){7, 9, 100, 0});
        tp_tensor *y = vector(dtype, 4, is_signed ? (double[]){2, 2, -2, -2} : (double[]){2, 4, 7, 3});
        is_vector(tp_floor_divide(x, y), 4, is_signed ? (double[]){3, -4, -4, 3} : (double[]){3, 2, 14, 0},
                  "floor_divide");
        is_vector(tp_remainder(x, y), 4, is_signed ? (double[]){1, 1, -1, -1} : (double[]){1, 1, 2, 0}, "remainder");
        is_vector(tp_fmod(x, y), 4, is_signed ? (double[]){1, -1, 1, -1} : (double[]){1, 1, 2, 0}, "fmod");
        is_vector(tp_div_mode(x, y, "trunc"), 4, is_signed ? (double[]){3, -3, -3, 3} : (double[]){3, 2, 14, 0},
                  "trunc");
        tp_tensor *zero = vector(dtype, 4, (double[]){1, 0, 1, 1});
        CHECK(!tp_floor_divide(x, zero) && tp_error_code() == TP_ERR_RUNTIME);
        CHECK(!tp_remainder(x, zero) && strstr(tp_error_message(), "ZeroDivisionError"));
        CHECK(!tp_fmod(x, zero));
        if (is_signed) { /* the most negative value */
            tp_tensor *sixty = vector(dtype, 1, (double[]){tpi_esize(dtype) * 8 - 1}),
                      *unit = vector(dtype, 1, (double[]){1});
            tp_tensor *least = tp_bitwise_left_shift(unit, sixty), *minus = tp_neg(unit);
            double v = at(least, 0);
            CHECK(v < 0);
            is_vector(tp_neg(least), 1, &v, "neg");
            is_vector(tp_abs(least), 1, &v, "abs");
            is_vector(tp_floor_divide(least, minus), 1, &v, "floor_divide");
            is_vector(tp_remainder(least, minus), 1, (double[]){0}, "remainder");
            is_vector(tp_mul(least, minus), 1, &v, "mul");
            is_vector(tp_sub(least, unit, &one), 1, (double[]){at(least, 0) * -1 - (dtype != TP_INT64)}, "sub");
            is_vector(tp_pow(x, minus), 4, (double[]){0, 0, 0, 0}, "pow");
            is_vector(tp_pow(minus, minus), 1, (double[]){-1}, "pow");
            CHECK(!tp_pow_i(x, -1) && tp_error_code() == TP_ERR_RUNTIME);
            tp_release(sixty);
            tp_release(unit);
            tp_release(least);
            tp_release(minus);
        }
        tp_release(x);
        tp_release(y);
        tp_release(zero);
    }
}

/* Every operator of one or two tensors, in every dtype, over awkward values, shapes and strides: a tensor or an error,
 * never a crash (the sanitizers read along). */
static void test_everything_runs(void)
{
    static const double values[] = {0,     -0.0,  1,        -1,        2.5, -300, 1e10,
                                    -1e19, 1e300, INFINITY, -INFINITY, NAN, 70,   1e-320};
    enum { N = sizeof values / sizeof *values };
    int ran = 0;
    for (int dtype = 0; dtype < TP_DTYPE_COUNT; dtype++) {
        tp_tensor *base = vector(dtype, N, values);
        tp_tensor *views[] = {
            base,
            tpi_dense_view(base, 2, (int64_t[]){2, 7}, (int64_t[]){7, 1}, 0),
            tpi_dense_view(base, 2, (int64_t[]){2, 7}, (int64_t[]){1, 2}, 0),
            tpi_dense_view(base, 1, (int64_t[]){7}, (int64_t[]){-2}, 13),
            tpi_dense_view(base, 0, (int64_t[]){0}, (int64_t[]){0}, 3),
            tpi_dense_view(base, 2, (int64_t[]){0, 7}, (int64_t[]){7, 1}, 0),
        };
        for (int i = 0; i < tpi_op_count; i++) {
            const tp_op *op = tpi_ops[i];
            bool tensors = !(op->flags & TPI_OP_INTERNAL) && op->kernel && op->batch == tpi_op_add.batch &&
                           op->nargs <= 2 && op->nouts == 1;
            for (int k = 0; k < op->nargs; k++) tensors = tensors && op->args[k].tag == TPI_TENSOR;
            if (!tensors) continue;
            for (int a = 0; a < 6; a++)
                for (int b = 0; b < (op->nargs == 2 ? 6 : 1); b++) {
                    tp_tensor *out = NULL;
                    tp_error_clear();
                    int rc = tpi_call(op, (tp_val[]){val_t(views[a]), val_t(views[b])}, &out);
                    CHECK_MSG((rc == 0) == (out != NULL) && rc == tp_error_code(), "%s: %d", op->name, rc);
                    ran += out != NULL;
                    tp_release(out);
                }
        }
        for (int k = 5; k >= 0; k--) tp_release(views[k]);
    }
    CHECK_MSG(ran > 10000, "only %d", ran);
}

static void test_special_values(void)
{
    tp_tensor *x = vector(TP_FLOAT32, 4, (double[]){NAN, 1, -INFINITY, -0.0}),
              *y = vector(TP_FLOAT32, 4, (double[]){0, NAN, 2, 0});
    tp_tensor *m = tp_maximum(x, y), *f = tp_fmax(x, y), *h = tp_pow_f(x, 0.5), *r = tp_relu(x);
    CHECK(isnan(at(m, 0)) && isnan(at(m, 1)) && at(m, 2) == 2);
    CHECK(at(f, 0) == 0 && at(f, 1) == 1 && at(f, 2) == 2);
    CHECK(isinf(at(h, 2)) && at(h, 3) == 0 && !signbit(at(h, 3)));
    CHECK(isnan(at(r, 0)) && at(r, 2) == 0);
    tp_release(m);
    tp_release(f);
    tp_release(h);
    tp_release(r);
    tp_release(x);
    tp_release(y);
}

int main(void)
{
    RUN(test_iterator);
    RUN(test_in_place);
    RUN(test_integers);
    RUN(test_everything_runs);
    RUN(test_special_values);
    CHECK_INT(tp_live_tensors(), 0);
    return check_finish();
}
