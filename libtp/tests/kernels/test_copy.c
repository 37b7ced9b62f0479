/* Conversions, strided and transposed copies, filling, overlap. */
#include <math.h>

#include "check.h"
#include "kernels/half.h"
#include "kernels/kernels.h"

static tp_tensor *borrow(void *data, int dtype, int ndim, const int64_t *shape, const int64_t *strides)
{
    tp_tensor *t = tp_from_memory(data, dtype, ndim, shape, strides, false, NULL, NULL);
    REQUIRE(t);
    return t;
}

static void test_transposes(void)
{
    enum { MOST = 70 };
    static uint8_t src[MOST * MOST * 16], dst[MOST * MOST * 16];
    static const int dtypes[] = {TP_UINT8, TP_FLOAT16, TP_INT32, TP_FLOAT64, TP_COMPLEX128};
    for (size_t i = 0; i < sizeof src; i++) src[i] = (uint8_t)(i * 2654435761u >> 24);
    for (int k = 0; k < 5; k++)
        for (int n = 1; n <= MOST; n += n < 10 ? 1 : 13)
            for (int m = 1; m <= MOST; m += m < 10 ? 1 : 19) {
                int64_t size = tpi_esize(dtypes[k]);
                tp_tensor *d = borrow(dst, dtypes[k], 2, (int64_t[]){m, n}, NULL);
                tp_tensor *s = borrow(src, dtypes[k], 2, (int64_t[]){m, n}, (int64_t[]){1, m});
                memset(dst, 0xee, sizeof dst);
                CHECK_INT(tpi_dense_copy(d, s), 0);
                int wrong = 0;
                for (int i = 0; i < m; i++)
                    for (int j = 0; j < n; j++)
                        wrong += memcmp(dst + (i * n + j) * size, src + (j * m + i) * size, (size_t)size) != 0;
                CHECK_MSG(!wrong, "dtype %d, %d x %d: %d wrong", dtypes[k], m, n, wrong);
                CHECK_INT(dst[(int64_t)m * n * size], 0xee);
                tp_release(d);
                tp_release(s);
            }
}

static void test_three_dimensions(void)
{
    float src[5 * 6 * 7], dst[5 * 6 * 7];
    for (int i = 0; i < 210; i++) src[i] = (float)i;
    /* the last dimension backwards, the others exchanged */
    tp_tensor *s = borrow(src + 6, TP_FLOAT32, 3, (int64_t[]){6, 5, 7}, (int64_t[]){7, 42, -1});
    tp_tensor *d = borrow(dst, TP_FLOAT32, 3, (int64_t[]){6, 5, 7}, NULL);
    CHECK_INT(tpi_dense_copy(d, s), 0);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 7; k++) CHECK(dst[(i * 5 + j) * 7 + k] == (float)(j * 42 + i * 7 + 6 - k));
    tp_release(s);
    tp_release(d);
}

static void test_overlap(void)
{
    int32_t x[10];
    for (int shift = 0; shift <= 3; shift++)
        for (int up = 0; up < 2; up++) {
            for (int i = 0; i < 10; i++) x[i] = i;
            int to = up ? shift : 0, from = up ? 0 : shift;
            tp_tensor *d = borrow(x + to, TP_INT32, 1, (int64_t[]){7}, NULL);
            tp_tensor *s = borrow(x + from, TP_INT32, 1, (int64_t[]){7}, NULL);
            CHECK_INT(tpi_dense_copy(d, s), 0);
            for (int i = 0; i < 7; i++) CHECK_INT(x[to + i], from + i);
            tp_release(d);
            tp_release(s);
        }
    /* reversed onto itself, and onto itself as another dtype */
    for (int i = 0; i < 10; i++) x[i] = i;
    tp_tensor *d = borrow(x, TP_INT32, 1, (int64_t[]){10}, NULL);
    tp_tensor *s = borrow(x + 9, TP_INT32, 1, (int64_t[]){10}, (int64_t[]){-1});
    CHECK_INT(tpi_dense_copy(d, s), 0);
    for (int i = 0; i < 10; i++) CHECK_INT(x[i], 9 - i);
    tp_tensor *f = borrow(x, TP_FLOAT32, 1, (int64_t[]){10}, NULL);
    CHECK_INT(tpi_dense_copy(f, d), 0);
    for (int i = 0; i < 10; i++) CHECK(((float *)x)[i] == (float)(9 - i));
    tp_release(f);
    tp_release(d);
    tp_release(s);
}

static void test_refusals(void)
{
    float x[4] = {1, 2, 3, 4};
    tp_tensor *a = borrow(x, TP_FLOAT32, 1, (int64_t[]){4}, NULL);
    tp_tensor *b = borrow(x, TP_FLOAT32, 2, (int64_t[]){2, 2}, NULL);
    tp_tensor *e = borrow(x, TP_FLOAT32, 1, (int64_t[]){4}, (int64_t[]){0});
    tp_tensor *r = tp_from_memory(x, TP_FLOAT32, 1, (int64_t[]){4}, NULL, true, NULL, NULL);
    CHECK_INT(tpi_dense_copy(a, b), TP_ERR_VALUE);
    CHECK_INT(tpi_dense_copy(e, a), TP_ERR_RUNTIME);
    CHECK_INT(tpi_dense_copy(r, a), TP_ERR_RUNTIME);
    tp_scalar one = {.tag = TP_SCALAR_INT, .v.i = 1};
    CHECK_INT(tpi_dense_fill(r, &one), TP_ERR_RUNTIME);
    int64_t before = tp_version(a);
    CHECK_INT(tpi_dense_fill(a, &one), 0);
    CHECK(tp_version(a) > before);
    CHECK(x[0] == 1 && x[3] == 1);
    tp_release(a);
    tp_release(b);
    tp_release(e);
    tp_release(r);
}

static void test_conversions(void)
{
    /* every pair of dtypes, contiguous and strided, small whole numbers: the value survives everywhere */
    static const int8_t small[] = {0, 1, 3, 100};
    for (int from = 0; from < TP_DTYPE_COUNT; from++)
        for (int to = 0; to < TP_DTYPE_COUNT; to++)
            for (int n = 0; n <= 600; n = n * 2 + 1) {
                tp_tensor *i8 = tpi_empty(TP_INT8, 1, (int64_t[]){n});
                REQUIRE(i8);
                for (int k = 0; k < n; k++) ((int8_t *)tpi_data(i8))[k] = small[k % 4];
                tp_tensor *s = tpi_dense_cast(i8, from), *d = tpi_dense_cast(s, to), *back = tpi_dense_cast(d, TP_INT8);
                REQUIRE(s && d && back);
                CHECK_INT(tp_tensor_dtype(d), to);
                bool flat = from == TP_BOOL || to == TP_BOOL;
                for (int k = 0; k < n; k++)
                    CHECK_INT(((int8_t *)tpi_data(back))[k], flat ? small[k % 4] != 0 : small[k % 4]);
                if (n > 4) {
                    tp_tensor *half = tpi_dense_view(s, 1, (int64_t[]){n / 2}, (int64_t[]){2}, s->offset + 1);
                    tp_tensor *c = tpi_dense_cast(half, to);
                    REQUIRE(half && c);
                    for (int k = 0; k < n / 2; k++)
                        CHECK(!memcmp((char *)tpi_data(c) + k * tpi_esize(to),
                                      (char *)tpi_data(d) + (2 * k + 1) * tpi_esize(to), (size_t)tpi_esize(to)));
                    tp_release(half);
                    tp_release(c);
                }
                tp_release(i8);
                tp_release(s);
                tp_release(d);
                tp_release(back);
            }
}

static void test_out_of_range(void)
{
    static const double x[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 9.3e18, -9.3e18, 4e9, -4e9, 70000, -1.5};
    enum { N = sizeof x / sizeof *x };
    float f[N];
    char out[N * 16];
    for (int k = 0; k < N; k++) f[k] = (float)x[k];
    for (int to = 0; to < TP_DTYPE_COUNT; to++) {
        tpi_convert(N, x, TP_FLOAT64, out, to);
        tpi_convert(N, f, TP_FLOAT32, out, to);
    }
    tpi_convert(N, x, TP_FLOAT64, out, TP_INT64);
    CHECK(((int64_t *)out)[0] == INT64_MIN && ((int64_t *)out)[10] == -1);
    tpi_convert(N, x, TP_FLOAT64, out, TP_UINT8);
    CHECK_INT(((uint8_t *)out)[9], 70000 % 256);
    CHECK_INT(((uint8_t *)out)[10], 255);
}

static void test_half(void)
{
    /* decoding is exact and encoding its inverse, for every pattern */
    static uint16_t all[65536], again[65536];
    static float wide[65536];
    for (int k = 0; k < 65536; k++) all[k] = (uint16_t)k;
    tpi_f16_decode_n(65536, all, wide);
    tpi_f16_encode_n(65536, wide, again);
    for (int k = 0; k < 65536; k++) {
        bool nan = (k & 0x7fff) > 0x7c00;
        CHECK(nan ? isnan(wide[k]) && (again[k] & 0x7fff) > 0x7c00 : again[k] == k);
        CHECK(nan || tpi_f16_decode((uint16_t)k) == wide[k]);
        CHECK(nan || tpi_f16_encode(wide[k]) == k);
    }
    /* ties go to even, between all neighbours and at the ends */
    for (int k = 0; k < 0x7bff; k++) {
        double middle = 0.5 * ((double)wide[k] + (double)wide[k + 1]);
        uint16_t even = (uint16_t)(k & 1 ? k + 1 : k);
        CHECK_INT(tpi_f16_encode((float)middle), even);
        CHECK_INT(tpi_f16_encode(tpi_f64_round_odd(middle * (1 + 1e-15))), k + 1);
        CHECK_INT(tpi_f16_encode(tpi_f64_round_odd(middle * (1 - 1e-15))), k);
    }
    CHECK_INT(tpi_f16_encode(65519.996f), 0x7bff);
    CHECK_INT(tpi_f16_encode(65520), 0x7c00);
    CHECK_INT(tpi_bf16_encode(tpi_bits_f32(0x3f808000)), 0x3f80);
    CHECK_INT(tpi_bf16_encode(tpi_bits_f32(0x3f818000)), 0x3f82);
    CHECK(isnan(tpi_bf16_decode(tpi_bf16_encode(tpi_bits_f32(0x7f800001)))));
}

int main(void)
{
    RUN(test_transposes);
    RUN(test_three_dimensions);
    RUN(test_overlap);
    RUN(test_refusals);
    RUN(test_conversions);
    RUN(test_out_of_range);
    RUN(test_half);
    CHECK_INT(tp_live_tensors(), 0);
    return check_finish();
}
