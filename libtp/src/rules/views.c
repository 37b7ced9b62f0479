/* Rules and composites of strided and reinterpreting views, and of what cuts or repeats by tensors. */
#include "kernels/views.h"
#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

/* ---- as_strided ----
 *
 * NOTE: derivative of a strided view
 * Memory is a vector that self and the view both read. A value goes from one to the other by being added to the vector
 * where the first has its elements and read where the second has its own: a linear map made of index_add and
 * index_select, which have all rules. Where self itself shows an element several times its derivative there is shared
 * equally, in both modes. */

static T positions(int ndim, const int64_t *shape, const int64_t *strides, int64_t shift)
{
    int64_t n = 1, at[TPI_DIMS_CAP] = {0}, where = shift;
    for (int i = 0; i < ndim; i++) n *= shape[i];
    tp_tensor *t = tpi_empty(TP_INT64, 1, &n);
    if (!t) return tpi_own(NULL);
    int64_t *p = tpi_data(t);
    for (int64_t k = 0; k < n; k++) {
        p[k] = where;
        for (int i = ndim - 1; i >= 0; i--) {
            where += strides[i];
            if (++at[i] < shape[i]) break;
            where -= shape[i] * strides[i];
            at[i] = 0;
        }
    }
    return tpi_own(t);
}

/* 1 / how often self shows each of its elements; NULL where that is once. */
static T shares(T self, T at, int64_t length, T like)
{
    if (tpi_bad() || !self->numel || tpi_contiguous(self)) return NULL;
    T ones = x_ones_like(like);
    T count = x_index_add(x_zeros_shape(like->dtype, 1, &length), 0, at, x_reshape_to(ones, 1, &like->numel), &tpi_one);
    return x_reciprocal(x_index_select(count, 0, at));
}

/* t, laid out as the view (back) or as self, read as the other. */
static T carried(const tp_val *a, T t, bool back)
{
    T self = arg_t(&a[0]);
    const tp_val *size = &a[1], *stride = &a[2];
    int64_t shift = arg_i(&a[3]), own = tpi_extent(self->ndim, self->shape, self->strides);
    int64_t start = shift < 0 ? shift : 0, end = shift + tpi_extent(size->n, size->v.ints, stride->v.ints);
    int64_t length = (own > end ? own : end) - start, all = -1;
    T in = positions(self->ndim, self->shape, self->strides, -start);
    T out = positions(size->n, size->v.ints, stride->v.ints, shift - start);
    if (tpi_bad() || !t) return NULL;
    T zeros = x_zeros_shape(t->dtype, 1, &length), row = x_reshape(t, &all, 1);
    T share = shares(self, in, length, back ? x_zeros_shape(t->dtype, self->ndim, self->shape) : t);
    if (back) {
        T g = x_index_select(x_index_add(zeros, 0, out, row, &tpi_one), 0, in);
        return x_reshape_to(share ? x_mul(g, share) : g, self->ndim, self->shape);
    }
    T v = x_index_add(zeros, 0, in, share ? x_mul(row, share) : row, &tpi_one);
    return x_reshape_to(x_index_select(v, 0, out), size->n, size->v.ints);
}

int as_strided_at__vjp(tp_vjp_ctx *c)
{
    if (c->need[0]) c->out[0] = carried(c->args, c->grads[0], true);
    return 0;
}

int as_strided_at__jvp(tp_jvp_ctx *c)
{
    if (c->tangents[0]) c->out[0] = carried(c->args, c->tangents[0], false);
    return 0;
}

int as_strided_at__batch(tp_batch_ctx *c)
{
    const tp_val *size = &c->args[1], *stride = &c->args[2];
    int64_t shift = arg_i(&c->args[3]), shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP], end;
    int n = size->n, rc = tpi_check_strided(size, stride);
    T x = tpi_batch_front(c, 0);
    if (rc || !x) return rc;
    int64_t own = tpi_extent(x->ndim - 1, x->shape + 1, x->strides + 1);
    int64_t extent = tpi_extent(n, size->v.ints, stride->v.ints);
    if (extent && (shift < 0 || __builtin_add_overflow(shift, extent, &end) || end > own))
        return tpi_fail(TP_ERR_VALUE, "as_strided: size %s with stride %s from element %lld leaves a sample of %lld",
                        tpi_shape_str(n, size->v.ints), tpi_shape_str(n, stride->v.ints), (long long)shift,
                        (long long)own);
    if ((rc = tpi_check_rank("as_strided", n + 1))) return rc;
    shape[0] = c->size;
    strides[0] = x->strides[0];
    tpi_copy_dims(shape + 1, size->v.ints, n);
    tpi_copy_dims(strides + 1, stride->v.ints, n);
    return set_result(c, x_as_strided_at(x, shape, n + 1, strides, n + 1, extent ? shift : 0), 0);
}

int c_as_strided(tp_call *c)
{
    const tp_val *a = c->args;
    tp_tensor *t = arg_t(&a[0]);
    int64_t shift = 0;
    if (!arg_none(&a[3])) {
        const tp_tensor *memory = t;
        if (arg_i(&a[3]) < 0)
            return tpi_fail(TP_ERR_VALUE, "as_strided: negative storage_offset %lld", (long long)arg_i(&a[3]));
        int rc = tpi_fresh(t);
        if (rc) return rc;
        while (memory->kind != TPI_DENSE && memory->value) memory = memory->value;
        shift = arg_i(&a[3]) - memory->offset;
    }
    return tpi_set_out(c, 0, tpi_as_strided_at(t, a[1].v.ints, a[1].n, a[2].v.ints, a[2].n, shift));
}

/* ---- other dtypes ---- */

int view_as_real__batch(tp_batch_ctx *c) { return set_result(c, x_view_as_real(arg_t(&c->args[0])), bdim_of(c, 0)); }

int view_as_complex__batch(tp_batch_ctx *c)
{
    T x = tpi_batch_front(c, 0);
    int rc = x ? tpi_check_pairs(x->dtype, x->ndim - 1, x->shape + 1) : 0;
    if (rc || !x) return rc;
    /* The loop's samples lie in pairs; where these do not, the batch dimension lies between. */
    return set_result(c, x_view_as_complex(tpi_are_pairs(x) ? x : x_contiguous(x)), 0);
}

int view_bits__batch(tp_batch_ctx *c)
{
    T x = tpi_batch_front(c, 0);
    int to = (int)arg_i(&c->args[1]), rc = x ? tpi_check_bits(x->dtype, to, x->ndim - 1, x->shape + 1) : 0;
    if (rc || !x) return rc;
    return set_result(c, x_view_bits(tpi_esize(to) == tpi_esize(x->dtype) ? x : x_contiguous(x), to), 0);
}

/* Part 0 or 1 of every element, as a view. */
static int part(tp_call *c, int64_t which)
{
    T pairs = tp_view_as_real(arg_t(&c->args[0]));
    int rc = pairs ? tpi_set_out(c, 0, tp_select(pairs, -1, which)) : tp_error_code();
    tp_release(pairs);
    return rc;
}

int c_real(tp_call *c)
{
    T t = arg_t(&c->args[0]);
    if (tpi_is_complex(t->dtype)) return part(c, 0);
    tpi_retain(t);
    return tpi_set_out(c, 0, t);
}

int c_imag(tp_call *c)
{
    T t = arg_t(&c->args[0]);
    if (!tpi_is_complex(t->dtype))
        return tpi_fail(TP_ERR_TYPE, "imag: a complex tensor is needed, got dtype %s", tp_dtype_name(t->dtype));
    return part(c, 1);
}

int c_view_dtype(tp_call *c) { return tpi_set_out(c, 0, tpi_view_bits(arg_t(&c->args[0]), arg_i(&c->args[1]))); }

int c_view_copy_dtype(tp_call *c)
{
    tp_tensor *view = tpi_view_bits(arg_t(&c->args[0]), arg_i(&c->args[1]));
    int rc = tpi_set_out(c, 0, view ? tp_clone(view) : NULL);
    tp_release(view);
    return rc;
}

int c_narrow_tensor(tp_call *c)
{
    T t = arg_t(&c->args[0]), start = arg_t(&c->args[2]);
    int64_t dim = arg_i(&c->args[1]), length = arg_i(&c->args[3]);
    tp_scalar at;
    int d, rc = tpi_fresh(start);
    if (rc) return rc;
    if (!tpi_is_int(start->dtype))
        return tpi_fail(TP_ERR_TYPE, "narrow: start of dtype %s, an integer is needed", tp_dtype_name(start->dtype));
    if (start->ndim)
        return tpi_fail(TP_ERR_VALUE, "narrow: start must have no dimensions, got shape %s", tpi_str(start));
    if (!is_mapped(start)) {
        if ((rc = tp_item(start, &at))) return rc;
        return tpi_set_out(c, 0, tp_narrow(t, dim, at.v.i, length));
    }
    if ((rc = tpi_wrap_dim("narrow", dim, t->ndim, &d))) return rc;
    if (t->ndim == 0) return tpi_fail(TP_ERR_INDEX, "narrow: a 0-d tensor has no dimensions");
    if (length < 0 || length > t->shape[d])
        return tpi_fail(TP_ERR_VALUE, "narrow: length %lld for a dimension of size %lld", (long long)length,
                        (long long)t->shape[d]);
    tpi_scope s;
    tpi_scope_open(&s);
    int64_t step = 1;
    T first = x_to_dtype(start, TP_INT64), zero = x_iscalar(0, first);
    first = x_where(x_lt(first, zero), x_add(first, x_iscalar(t->shape[d], first), &tpi_one), first);
    T index = x_add(first, positions(1, &length, &step, 0), &tpi_one);
    return scope_result(&s, c, x_index_select(t, d, index));
}

/* ---- lists ---- */

static int copied(tp_call *c, tp_tensor **views, int64_t n, int rc)
{
    if (!rc) rc = list_begin(c, n);
    for (int64_t i = 0; i < n && !rc; i++)
        if (!(c->out[i] = tp_clone(views[i]))) rc = tp_error_code();
    tp_free_list(views, n);
    return rc;
}

static int copies_of(tp_call *c, const tp_op *op)
{
    tp_tensor **views = NULL;
    int64_t n = 0;
    int rc = tpi_call_list(op, c->args, &views, &n);
    return copied(c, views, n, rc);
}

int c_split_sizes_copy(tp_call *c) { return copies_of(c, &tpi_op_split_with_sizes); }
int c_split_copy(tp_call *c) { return copies_of(c, &tpi_op_split); }
int c_unbind_copy(tp_call *c) { return copies_of(c, &tpi_op_unbind); }

static int list_of(tp_call *c, const tp_op *op, tp_tensor *t, tp_val at, int64_t dim)
{
    tp_val args[3] = {val_t(t), at, val_i(dim)};
    return tpi_call_list(op, args, &c->out, &c->nout);
}

int c_tensor_split_tensor(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]), *at = arg_t(&c->args[1]);
    int64_t dim = arg_i(&c->args[2]);
    tp_scalar s;
    int rc = tpi_fresh(at);
    if (rc) return rc;
    if (!tpi_is_int(at->dtype))
        return tpi_fail(TP_ERR_TYPE, "tensor_split: sections or indices of dtype %s, integers are needed",
                        tp_dtype_name(at->dtype));
    if (at->ndim > 1)
        return tpi_fail(TP_ERR_VALUE, "tensor_split: sections (0-d) or indices (1-d) of shape %s", tpi_str(at));
    if (is_mapped(at))
        return tpi_fail(TP_ERR_RUNTIME, "tensor_split: where to split can't be mapped by vmap: the samples' results "
                                        "would have different shapes");
    if (at->ndim == 0) {
        if ((rc = tp_item(at, &s))) return rc;
        return list_of(c, &tpi_op_tensor_split, t, val_i(s.v.i), dim);
    }
    int64_t n = at->shape[0], *ints = tpi_alloc(sizeof *ints * (size_t)(n + 1));
    if (!ints) return tp_error_code();
    for (int64_t i = 0; i < n && !rc; i++) {
        tp_tensor *e = tp_select(at, 0, i);
        rc = e ? tp_item(e, &s) : tp_error_code();
        tp_release(e);
        if (!rc) ints[i] = s.v.i;
    }
    if (!rc) rc = list_of(c, &tpi_op_tensor_split_indices, t, val_ints(ints, n), dim);
    tpi_free(ints, sizeof *ints * (size_t)(n + 1));
    return rc;
}

/* The dimension that hsplit, vsplit and dsplit cut. */
static int axis_of(const char *op, tp_tensor *t, int rank, int64_t *dim)
{
    if (t->ndim < rank)
        return tpi_fail(TP_ERR_VALUE, "%s: at least %d dimensions are needed, got shape %s", op, rank, tpi_str(t));
    if (*dim >= t->ndim) *dim = t->ndim - 1;
    return 0;
}

static int equal_parts(tp_call *c, const char *op, int rank, int64_t dim)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int64_t n = arg_i(&c->args[1]);
    int rc = axis_of(op, t, rank, &dim);
    if (rc) return rc;
    if (n <= 0 || t->shape[dim] % n)
        return tpi_fail(TP_ERR_VALUE, "%s: dimension %lld of size %lld can't be divided by %lld", op, (long long)dim,
                        (long long)t->shape[dim], (long long)n);
    return list_of(c, &tpi_op_tensor_split, t, val_i(n), dim);
}

static int parts_at(tp_call *c, const char *op, int rank, int64_t dim)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int rc = axis_of(op, t, rank, &dim);
    return rc ? rc : list_of(c, &tpi_op_tensor_split_indices, t, c->args[1], dim);
}

int c_hsplit(tp_call *c) { return equal_parts(c, "hsplit", 1, 1); }
int c_vsplit(tp_call *c) { return equal_parts(c, "vsplit", 2, 0); }
int c_dsplit(tp_call *c) { return equal_parts(c, "dsplit", 3, 2); }
int c_hsplit_indices(tp_call *c) { return parts_at(c, "hsplit", 1, 1); }
int c_vsplit_indices(tp_call *c) { return parts_at(c, "vsplit", 2, 0); }
int c_dsplit_indices(tp_call *c) { return parts_at(c, "dsplit", 3, 2); }

int c_unravel_index(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    const tp_val *shape = &c->args[1];
    int64_t below = 1;
    bool empty = false;
    if (!tpi_is_int(t->dtype))
        return tpi_fail(TP_ERR_TYPE, "unravel_index: indices of dtype %s, integers are needed",
                        tp_dtype_name(t->dtype));
    for (int i = 0; i < shape->n; i++) {
        empty |= shape->v.ints[i] == 0;
        if (shape->v.ints[i] < 0)
            return tpi_fail(TP_ERR_VALUE, "unravel_index: negative size in %s", tpi_shape_str(shape->n, shape->v.ints));
    }
    if (empty && t->numel)
        return tpi_fail(TP_ERR_VALUE, "unravel_index: shape %s has no elements",
                        tpi_shape_str(shape->n, shape->v.ints));
    int rc = list_begin(c, shape->n);
    for (int i = shape->n - 1; i >= 0 && !rc; i--) {
        int64_t size = shape->v.ints[i] ? shape->v.ints[i] : 1;
        tp_tensor *q = tp_floor_divide_i(t, below);
        c->out[i] = q ? tp_remainder_i(q, size) : NULL;
        tp_release(q);
        if (!c->out[i]) rc = tp_error_code();
        if (__builtin_mul_overflow(below, size, &below)) below = INT64_MAX; /* beyond all indices */
    }
    return rc;
}

/* ---- repeated by counts ---- */

int repeat_index__batch(tp_batch_ctx *c)
{
    if (arg_none(&c->args[1]))
        return tpi_fail(TP_ERR_NOT_IMPLEMENTED, "repeat_interleave: counts that vmap maps over give results of "
                                                "different sizes: pass output_size, the sum that all samples have");
    return set_result(c, x_repeat_index(tpi_batch_front(c, 0), arg_i(&c->args[1])), 0);
}

static T counts_index(T repeats, int64_t n, const tp_val *output_size)
{
    if (!repeats) return NULL;
    if (!tpi_is_int(repeats->dtype))
        return tpi_rule_fail(TP_ERR_TYPE, "repeat_interleave: counts of dtype %s, integers are needed",
                             tp_dtype_name(repeats->dtype));
    bool one = repeats->ndim <= 1 && repeats->numel == 1;
    if (repeats->ndim > 1 || (!one && repeats->numel != n))
        return tpi_rule_fail(TP_ERR_VALUE, "repeat_interleave: counts of shape %s for a dimension of size %lld",
                             tpi_str(repeats), (long long)n);
    int64_t size = arg_none(output_size) ? TP_INT_NONE : arg_i(output_size);
    if (size < 0 && size != TP_INT_NONE)
        return tpi_rule_fail(TP_ERR_VALUE, "repeat_interleave: negative output_size %lld", (long long)size);
    return x_repeat_index(x_expand_to(x_to_dtype(repeats, TP_INT64), 1, &n), size);
}

int c_repeat_interleave_counts(tp_call *c)
{
    T repeats = arg_t(&c->args[0]);
    if (repeats->ndim != 1)
        return tpi_fail(TP_ERR_VALUE, "repeat_interleave: a 1-d tensor of counts is needed, got shape %s",
                        tpi_str(repeats));
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, counts_index(repeats, repeats->shape[0], &c->args[1]));
}

int c_repeat_interleave_tensor(tp_call *c)
{
    T t = arg_t(&c->args[0]), repeats = arg_t(&c->args[1]);
    bool flat = arg_none(&c->args[2]);
    int d = 0, rc = flat ? 0 : tpi_wrap_dim("repeat_interleave", arg_i(&c->args[2]), t->ndim, &d);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T x = flat || t->ndim == 0 ? x_reshape(t, &t->numel, 1) : t;
    return scope_result(&s, c, x ? x_index_select(x, d, counts_index(repeats, x->shape[d], &c->args[3])) : NULL);
}

/* ---- fill_diagonal ---- */

int c_fill_diagonal(tp_call *c)
{
    T self = arg_t(&c->args[0]);
    int n = self->ndim;
    bool wrap = arg_b(&c->args[2]);
    if (n < 2)
        return tpi_fail(TP_ERR_VALUE, "fill_diagonal_: at least 2 dimensions are needed, got shape %s", tpi_str(self));
    for (int i = 1; n > 2 && i < n; i++)
        if (self->shape[i] != self->shape[0])
            return tpi_fail(TP_ERR_VALUE, "fill_diagonal_: beyond two dimensions all sizes must be equal, got shape %s",
                            tpi_str(self));
    tpi_scope s;
    tpi_scope_open(&s);
    T target = c->out[0] ? self : x_clone(self), at = target;
    T value = tpi_own(tp_full(NULL, 0, &c->args[1].v.s, self->dtype));
    if (wrap && n == 2 && self->shape[0] > self->shape[1] + 1) {
        /* Every (columns + 1)-th of all elements: chosen by a mask, whatever the memory is. */
        tp_tensor *mask = tpi_empty(TP_BOOL, 2, self->shape);
        uint8_t *m = mask ? tpi_data(mask) : NULL;
        for (int64_t k = 0; m && k < self->numel; k++) m[k] = k % (self->shape[1] + 1) == 0;
        value = x_where(tpi_own(mask), value, target);
    } else
        for (int k = n; at && k > 1; k--) at = x_diagonal(at, 0, 0, k - 1);
    if (at && value && tpi_copy_(at, value)) tpi_own(NULL);
    return c->out[0] ? tpi_scope_close(&s) : scope_result(&s, c, target);
}
