/* Creation, views and indexing from C: values, ownership, and that a failing call changes nothing. */
#include "check.h"
#include "tp/level.h"
#include "tp/ops.h"
#include "tp/runtime.h"

static tp_tensor *ints(int n, const int64_t *values) { return tp_from_data(values, TP_INT64, 1, (int64_t[]){n}); }

static tp_tensor *count(int64_t rows, int64_t cols)
{
    tp_tensor *flat = tp_arange(&(tp_scalar){.tag = TP_SCALAR_INT, .v.i = rows * cols}, TP_FLOAT32);
    REQUIRE(flat);
    tp_tensor *t = tp_view(flat, (int64_t[]){rows, cols}, 2);
    REQUIRE(t);
    tp_release(flat);
    return t;
}

static float at(tp_tensor *t, int64_t i)
{
    tp_tensor *c = tp_contiguous(t);
    REQUIRE(c && i < tp_numel(c));
    float v = ((float *)tp_data(c))[i];
    tp_release(c);
    return v;
}

static void views_share_memory(void)
{
    tp_tensor *t = count(2, 3), *turned = tp_transpose(t, 0, 1), *row = tp_select(turned, 0, -1);
    REQUIRE(row);
    CHECK_INT(tp_shape(row)[0], 2);
    CHECK(at(row, 0) == 2 && at(row, 1) == 5);
    CHECK_INT(tp_fill_f_(row, 9), 0);
    CHECK(at(t, 2) == 9 && at(t, 5) == 9 && at(t, 4) == 4);
    tp_release(t); /* the views keep the memory */
    CHECK(at(turned, 0) == 0);
    tp_release(turned);
    tp_release(row);
}

static void lists_are_owned(void)
{
    tp_tensor *t = count(5, 2), **parts = NULL;
    int64_t n = 0;
    REQUIRE(tp_split(t, 2, 0, &parts, &n) == 0);
    CHECK_INT(n, 3);
    CHECK_INT(tp_shape(parts[2])[0], 1);
    tp_tensor *back = tp_cat(parts, n, 0);
    REQUIRE(back);
    for (int i = 0; i < 10; i++) CHECK(at(back, i) == i);
    tp_free_list(parts, n);
    CHECK(tp_split(t, 0, 0, &parts, &n) == TP_ERR_VALUE);
    tp_release(back);
    tp_release(t);
}

static void indices_add_in_order(void)
{
    tp_tensor *t = count(3, 2), *rows = ints(4, (int64_t[]){0, -1, 0, 2}),
              *ones = tp_ones((int64_t[]){4, 2}, 2, TP_FLOAT32);
    tp_tensor *list[1] = {rows}, *sum = tp_index_put(t, list, 1, ones, true);
    REQUIRE(sum);
    CHECK(at(sum, 0) == 2 && at(sum, 2) == 2 && at(sum, 4) == 6);
    CHECK_INT(tp_index_put_(t, list, 1, ones, true), 0);
    for (int i = 0; i < 6; i++) CHECK(at(t, i) == at(sum, i));
    tp_tensor *back = tp_index(sum, list, 1);
    CHECK(at(back, 0) == 2 && at(back, 2) == 6);
    tp_release(back);
    tp_release(sum);
    tp_release(ones);
    tp_release(rows);
    tp_release(t);
}

static void a_failing_write_changes_nothing(void)
{
    tp_tensor *t = count(3, 2), *rows = ints(2, (int64_t[]){0, 7}), *ones = tp_ones((int64_t[]){2, 2}, 2, TP_FLOAT32);
    tp_tensor *list[1] = {rows};
    int64_t version = tp_version(t);
    CHECK_INT(tp_index_put_(t, list, 1, ones, false), TP_ERR_INDEX);
    CHECK_STR(tp_error_message(), "index_put: index 7 is out of bounds for dimension 0 with size 3");
    tp_tensor *index = tp_full((int64_t[]){2, 2}, 2, &(tp_scalar){.tag = TP_SCALAR_INT, .v.i = -4}, TP_INT64);
    CHECK_INT(tp_scatter_(t, 0, index, ones), TP_ERR_INDEX);
    for (int i = 0; i < 6; i++) CHECK(at(t, i) == i);
    CHECK_INT(tp_version(t), version);
    tp_release(index);
    tp_release(ones);
    tp_release(rows);
    tp_release(t);
}

static void sizes_are_checked(void)
{
    CHECK(!tp_zeros((int64_t[]){INT64_C(1) << 40, INT64_C(1) << 40}, 2, TP_FLOAT32));
    CHECK_INT(tp_error_code(), TP_ERR_VALUE);
    CHECK(!tp_ones((int64_t[]){INT64_C(1) << 50}, 1, TP_FLOAT32));
    CHECK_INT(tp_error_code(), TP_ERR_MEMORY);
    tp_tensor *t = count(2, 2);
    CHECK(!tp_expand(t, (int64_t[]){INT64_C(1) << 61, 2, 2}, 3));
    CHECK(!tp_repeat(t, (int64_t[]){INT64_C(1) << 40, INT64_C(1) << 40}, 2));
    CHECK(!tp_view(t, (int64_t[]){3, -1}, 2));
    tp_release(t);
}

/* An index that is mapped along its last dimension, self as well along its first: row index[b] of each sample. */
static void mapped_indices(void)
{
    tp_tensor *flat = count(2, 6), *t = tp_view(flat, (int64_t[]){2, 3, 2}, 3);
    tp_tensor *index = tp_from_data((int64_t[]){0, 2, 1, -1}, TP_INT64, 2, (int64_t[]){2, 2});
    int depth = tp_level_depth();
    uint64_t level = tp_vmap_push(2, TP_RANDOM_ERROR);
    tp_tensor *bt = tp_batch_wrap(t, level, 0), *bi = tp_batch_wrap(index, level, 1), *list[1] = {bi};
    tp_tensor *r = tp_index(bt, list, 1), *out = tp_batch_unwrap(r, level, 0);
    REQUIRE(tp_level_pop_to(depth) == 0 && out);
    CHECK_INT(tp_numel(out), 8);
    const float want[8] = {0, 1, 2, 3, 10, 11, 10, 11}; /* samples: rows 0 and 1, rows 2 and -1 */
    for (int i = 0; i < 8; i++) CHECK_MSG(at(out, i) == want[i], "[%d] is %g, expected %g", i, at(out, i), want[i]);
    tp_release(out);
    tp_release(r);
    tp_release(bi);
    tp_release(bt);
    tp_release(index);
    tp_release(t);
    tp_release(flat);
}

int main(void)
{
    int64_t live = tp_live_tensors();
    RUN(views_share_memory);
    RUN(lists_are_owned);
    RUN(indices_add_in_order);
    RUN(a_failing_write_changes_nothing);
    RUN(sizes_are_checked);
    RUN(mapped_indices);
    CHECK_INT(tp_live_tensors(), live);
    return check_finish();
}
