/* Composites that cut tensors apart and put them together. */
#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

/* ---- apart: lists of views ---- */

/* The dimension that is cut; 0-d tensors have none. */
static int cut_dim(tp_call *c, const char *op, int arg, int *d)
{
    tp_tensor *t = arg_t(&c->args[0]);
    if (t->ndim == 0) return tpi_fail(TP_ERR_INDEX, "%s: a 0-d tensor has no dimensions", op);
    return tpi_wrap_dim(op, arg_i(&c->args[arg]), t->ndim, d);
}

/* The views at[i]..at[i + 1] of t, whose first element along d is at[0]; with `one` their only element along d.
 *
 * NOTE: pieces of pieces
 * The cotangent of a piece is zeros of the whole with the piece written in, so n pieces of one whole can cost n wholes
 * on the way back. Cut from eighths of eighths they cost at most 8 log8 n, and where the engine adds in place, log8 n.
 * A plain tensor has no way back, and is cut at once. */
static int cut(tp_tensor *t, int d, const int64_t *at, int64_t n, bool one, tp_tensor **out)
{
    if (n <= 8 || !t->level) {
        for (int64_t i = 0; i < n; i++) {
            out[i] = one ? tp_select(t, d, at[i] - at[0]) : tp_slice(t, d, at[i] - at[0], at[i + 1] - at[0], 1);
            if (!out[i]) return tp_error_code();
        }
        return 0;
    }
    int rc = 0;
    for (int64_t k = 0; k < 8 && !rc; k++) {
        int64_t from = k * n / 8, to = (k + 1) * n / 8;
        tp_tensor *part = tp_slice(t, d, at[from] - at[0], at[to] - at[0], 1);
        rc = part ? cut(part, d, at + from, to - from, one, out + from) : tp_error_code();
        tp_release(part);
    }
    return rc;
}

/* n pieces along d, of the given sizes; without them of `size` elements, the last ones as short as it takes. */
static int pieces(tp_call *c, int d, const int64_t *sizes, int64_t size, int64_t n, bool one)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int rc = list_begin(c, n);
    if (rc) return rc;
    int64_t *at = tpi_alloc(sizeof *at * ((size_t)n + 1));
    if (!at) return tp_error_code();
    at[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t left = t->shape[d] - at[i], wanted = sizes ? sizes[i] : size;
        at[i + 1] = at[i] + (wanted < left ? wanted : left);
    }
    rc = cut(t, d, at, n, one, c->out);
    tpi_free(at, sizeof *at * ((size_t)n + 1));
    return rc;
}

int c_split(tp_call *c)
{
    int d, rc = cut_dim(c, "split", 2, &d);
    if (rc) return rc;
    int64_t size = arg_i(&c->args[1]), length = arg_t(&c->args[0])->shape[d];
    if (size < 0 || (size == 0 && length != 0))
        return tpi_fail(TP_ERR_VALUE, "split: split_size %lld for a dimension of size %lld", (long long)size,
                        (long long)length);
    if (size > length) size = length;
    return pieces(c, d, NULL, size, length ? (length - 1) / size + 1 : 1, false);
}

int c_chunk(tp_call *c)
{
    int d, rc = cut_dim(c, "chunk", 2, &d);
    if (rc) return rc;
    int64_t chunks = arg_i(&c->args[1]), length = arg_t(&c->args[0])->shape[d];
    if (chunks <= 0) return tpi_fail(TP_ERR_VALUE, "chunk: chunks must be positive, got %lld", (long long)chunks);
    if (!length) return pieces(c, d, NULL, 0, chunks, false);
    int64_t size = (length - 1) / chunks + 1;
    return pieces(c, d, NULL, size, (length - 1) / size + 1, false);
}

int c_split_sizes(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    const int64_t *sizes = c->args[1].v.ints;
    int d, n = c->args[1].n, rc = cut_dim(c, "split", 2, &d);
    if (rc) return rc;
    int64_t total = 0;
    for (int i = 0; i < n; i++)
        if (sizes[i] < 0 || __builtin_add_overflow(total, sizes[i], &total)) {
            total = -1;
            break;
        }
    if (total != t->shape[d])
        return tpi_fail(TP_ERR_VALUE, "split: sizes %s do not add up to %lld, the size of dimension %d",
                        tpi_shape_str(n, sizes), (long long)t->shape[d], d);
    return pieces(c, d, sizes, 0, n, false);
}

int c_tensor_split(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int64_t n = arg_i(&c->args[1]);
    int d, rc = cut_dim(c, "tensor_split", 2, &d);
    if (rc) return rc;
    if (n <= 0) return tpi_fail(TP_ERR_VALUE, "tensor_split: sections must be positive, got %lld", (long long)n);
    if (n > (int64_t)1 << 28) return list_begin(c, n); /* which says so */
    int64_t *sizes = tpi_alloc(sizeof *sizes * (size_t)n);
    if (!sizes) return tp_error_code();
    for (int64_t i = 0; i < n; i++) sizes[i] = t->shape[d] / n + (i < t->shape[d] % n);
    rc = pieces(c, d, sizes, 0, n, false);
    tpi_free(sizes, sizeof *sizes * (size_t)n);
    return rc;
}

int c_tensor_split_indices(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    const int64_t *at = c->args[1].v.ints;
    int d, n = c->args[1].n, rc = cut_dim(c, "tensor_split", 2, &d);
    if (rc || (rc = list_begin(c, (int64_t)n + 1))) return rc;
    for (int i = 0; i <= n; i++)
        if (!(c->out[i] = tp_slice(t, d, i ? at[i - 1] : 0, i < n ? at[i] : t->shape[d], 1))) return tp_error_code();
    return 0;
}

int c_unbind(tp_call *c)
{
    int d, rc = cut_dim(c, "unbind", 1, &d);
    return rc ? rc : pieces(c, d, NULL, 1, arg_t(&c->args[0])->shape[d], true);
}

int c_meshgrid(tp_call *c)
{
    tp_tensor **ts = c->args[0].v.ts;
    const char *indexing = c->args[1].v.str;
    int n = c->args[0].n, rc;
    int64_t shape[TPI_DIMS_CAP], row[TPI_DIMS_CAP];
    bool xy = strcmp(indexing, "xy") == 0;
    if (!xy && strcmp(indexing, "ij") != 0)
        return tpi_fail(TP_ERR_VALUE, "meshgrid: indexing '%s' is neither 'ij' nor 'xy'", indexing);
    if ((rc = tpi_check_rank("meshgrid", n))) return rc;
    for (int i = 0; i < n; i++) {
        if (!ts[i]) return tpi_fail(TP_ERR_VALUE, "meshgrid: tensor %d is missing", i);
        if (ts[i]->ndim > 1)
            return tpi_fail(TP_ERR_VALUE, "meshgrid: 0-d or 1-d tensors are needed, got shape %s", tpi_str(ts[i]));
    }
    /* Result dimension of tensor i. */
#define PLACE(i) (xy && n >= 2 && (i) < 2 ? 1 - (i) : (i))
    for (int i = 0; i < n; i++) shape[PLACE(i)] = ts[i]->numel;
    if ((rc = list_begin(c, n))) return rc;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) row[k] = 1;
        row[PLACE(i)] = ts[i]->numel;
        tp_tensor *v = tp_reshape(ts[i], row, n);
        c->out[i] = v ? tp_expand(v, shape, n) : NULL;
        tp_release(v);
        if (!c->out[i]) return tp_error_code();
    }
#undef PLACE
    return 0;
}

/* ---- together ---- */

/* Runs build(tensor) over a list and concatenates along dim(first); everything is owned by one scope. */
static int joined(tp_call *c, T (*build)(T t), int (*place)(int ndim))
{
    tp_tensor **ts = c->args[0].v.ts;
    int n = c->args[0].n;
    const char *op = c->op->name;
    if (n == 0) return tpi_fail(TP_ERR_VALUE, "%s: an empty list of tensors", op);
    tpi_scope s;
    tpi_scope_open(&s);
    T *parts = tpi_alloc(sizeof *parts * (size_t)n), r = NULL;
    if (!parts) tpi_own(NULL);
    for (int i = 0; i < n && !tpi_bad(); i++) {
        if (!ts[i]) tpi_rule_fail(TP_ERR_VALUE, "%s: tensor %d is missing", op, i);
        else parts[i] = build(ts[i]);
    }
    if (!tpi_bad()) r = x_cat(parts, n, place(parts[0]->ndim));
    tpi_free(parts, sizeof *parts * (size_t)n);
    return scope_result(&s, c, r);
}

int c_cat(tp_call *c)
{
    tp_tensor **ts = c->args[0].v.ts;
    int n = c->args[0].n, kept = 0, d;
    tp_tensor *few[16], **some = few, *first = NULL;
    if (n == 0) return tpi_fail(TP_ERR_VALUE, "cat: an empty list of tensors");
    /* Tensors of shape [0] are skipped beside others: where a list starts as an empty tensor. */
    for (int i = 0; i < n; i++) {
        if (!ts[i]) return tpi_fail(TP_ERR_VALUE, "cat: tensor %d is missing", i);
        if (!first || (first->ndim == 1 && first->numel == 0)) first = ts[i];
    }
    if (first->ndim == 0) return tpi_fail(TP_ERR_VALUE, "cat: 0-d tensors can't be concatenated: use stack");
    int rc = tpi_wrap_dim("cat", arg_i(&c->args[1]), first->ndim, &d);
    if (rc) return rc;
    bool skip = false;
    for (int i = 0; i < n; i++) {
        if (first->ndim != 1 && ts[i]->ndim == 1 && ts[i]->numel == 0) {
            skip = true;
            continue;
        }
        bool same = ts[i]->ndim == first->ndim;
        for (int k = 0; same && k < first->ndim; k++) same = k == d || ts[i]->shape[k] == first->shape[k];
        if (!same)
            return tpi_fail(TP_ERR_VALUE, "cat: shapes %s and %s differ outside dimension %d", tpi_str(first),
                            tpi_str(ts[i]), d);
    }
    if (!skip) return tpi_set_out(c, 0, tpi_cat_dim(ts, n, d));
    if (n > 16 && !(some = tpi_alloc(sizeof *some * (size_t)n))) return tp_error_code();
    for (int i = 0; i < n; i++)
        if (ts[i]->ndim == first->ndim) some[kept++] = ts[i];
    rc = tpi_set_out(c, 0, tpi_cat_dim(some, kept, d));
    if (some != few) tpi_free(some, sizeof *some * (size_t)n);
    return rc;
}

int c_stack(tp_call *c)
{
    tp_tensor **ts = c->args[0].v.ts;
    int n = c->args[0].n, d, rc;
    if (n == 0) return tpi_fail(TP_ERR_VALUE, "stack: an empty list of tensors");
    for (int i = 0; i < n; i++) {
        if (!ts[i]) return tpi_fail(TP_ERR_VALUE, "stack: tensor %d is missing", i);
        if (ts[i]->ndim != ts[0]->ndim ||
            memcmp(ts[i]->shape, ts[0]->shape, sizeof(int64_t) * (size_t)ts[0]->ndim) != 0)
            return tpi_fail(TP_ERR_VALUE, "stack: shapes %s and %s differ", tpi_str(ts[0]), tpi_str(ts[i]));
    }
    if ((rc = tpi_wrap_dim("stack", arg_i(&c->args[1]), ts[0]->ndim + 1, &d))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T *parts = tpi_alloc(sizeof *parts * (size_t)n), r = NULL;
    if (!parts) tpi_own(NULL);
    for (int i = 0; i < n && !tpi_bad(); i++) parts[i] = x_unsqueeze(ts[i], d);
    if (!tpi_bad()) r = x_cat_dim(parts, n, d);
    tpi_free(parts, sizeof *parts * (size_t)n);
    return scope_result(&s, c, r);
}

static T at_least(T t, int n)
{
    if (!t) return NULL;
    for (int d = t->ndim; t && d < n; d++) t = x_unsqueeze(t, d == 2 ? 2 : 0);
    return t;
}
static T at_least_1(T t) { return at_least(t, 1); }
static T at_least_2(T t) { return at_least(t, 2); }
static T at_least_3(T t) { return at_least(t, 3); }
static T as_column(T t)
{
    int64_t shape[2] = {t->numel, 1};
    return t->ndim >= 2 ? t : x_reshape(t, shape, 2);
}
static int first_dim(int ndim)
{
    (void)ndim;
    return 0;
}
static int second_dim(int ndim) { return ndim >= 2; }
static int third_dim(int ndim)
{
    (void)ndim;
    return 2;
}

int c_hstack(tp_call *c) { return joined(c, at_least_1, second_dim); }
int c_vstack(tp_call *c) { return joined(c, at_least_2, first_dim); }
int c_dstack(tp_call *c) { return joined(c, at_least_3, third_dim); }
int c_column_stack(tp_call *c) { return joined(c, as_column, second_dim); }

static int with_dims(tp_call *c, int n)
{
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, at_least(arg_t(&c->args[0]), n));
}
int c_atleast_1d(tp_call *c) { return with_dims(c, 1); }
int c_atleast_2d(tp_call *c) { return with_dims(c, 2); }
int c_atleast_3d(tp_call *c) { return with_dims(c, 3); }

/* ---- repeated ---- */

/* [s0, s1] by counts [r0, r1]: a view of shape [r0, s0, r1, s1] that is reshaped, which copies once. */
static int repeated(tp_call *c, const char *op, const int64_t *counts, int n)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int64_t ones[2 * TPI_DIMS_CAP], wide[2 * TPI_DIMS_CAP], shape[TPI_DIMS_CAP];
    int lead = n - t->ndim, k = 0, rc;
    if ((rc = tpi_check_rank(op, n))) return rc;
    for (int i = 0; i < n; i++) {
        int64_t old = i < lead ? 1 : t->shape[i - lead];
        if (counts[i] < 0) return tpi_fail(TP_ERR_VALUE, "%s: negative count in %s", op, tpi_shape_str(n, counts));
        if (__builtin_mul_overflow(old, counts[i], &shape[i]))
            return tpi_fail(TP_ERR_VALUE, "%s: shape %s by counts %s is too large", op, tpi_str(t),
                            tpi_shape_str(n, counts));
        if (counts[i] != 1) {
            ones[k] = 1;
            wide[k++] = counts[i];
        }
        if (old != 1 || counts[i] == 1) {
            ones[k] = old;
            wide[k++] = old;
        }
    }
    if ((rc = tpi_check_rank(op, k)) || (rc = tpi_numel(op, n, shape, &(int64_t){0}))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T r = x_expand(x_reshape(t, ones, k), wide, k);
    return scope_result(&s, c, x_view(x_clone(r), shape, n));
}

int c_repeat(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    if (c->args[1].n < t->ndim)
        return tpi_fail(TP_ERR_VALUE, "repeat: counts %s for a tensor of shape %s",
                        tpi_shape_str(c->args[1].n, c->args[1].v.ints), tpi_str(t));
    return repeated(c, "repeat", c->args[1].v.ints, c->args[1].n);
}

int c_tile(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int n = c->args[1].n, missing = t->ndim - n, rc = tpi_check_rank("tile", n);
    if (rc) return rc;
    if (missing <= 0) return repeated(c, "tile", c->args[1].v.ints, n);
    int64_t counts[TPI_DIMS_CAP];
    for (int i = 0; i < missing; i++) counts[i] = 1;
    tpi_copy_dims(counts + missing, c->args[1].v.ints, n);
    return repeated(c, "tile", counts, t->ndim);
}

int c_repeat_interleave(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int64_t count = arg_i(&c->args[1]), shape[TPI_DIMS_CAP], numel;
    int d = 0, rc;
    bool flat = arg_none(&c->args[2]);
    if (count < 0) return tpi_fail(TP_ERR_VALUE, "repeat_interleave: negative count %lld", (long long)count);
    if (!flat && (rc = tpi_wrap_dim("repeat_interleave", arg_i(&c->args[2]), t->ndim, &d))) return rc;
    int64_t length = flat || t->ndim == 0 ? t->numel : t->shape[d], size;
    if (__builtin_mul_overflow(length, count, &size)) size = -1;
    if (!arg_none(&c->args[3]) && arg_i(&c->args[3]) != size)
        return tpi_fail(TP_ERR_VALUE, "repeat_interleave: output_size is %lld, %lld times %lld elements are another",
                        (long long)arg_i(&c->args[3]), (long long)count, (long long)length);
    tpi_scope s;
    tpi_scope_open(&s);
    T x = flat || t->ndim == 0 ? x_reshape(t, &t->numel, 1) : t, r = NULL;
    if (x) {
        tpi_copy_dims(shape, x->shape, d + 1);
        shape[d + 1] = count;
        tpi_copy_dims(shape + d + 2, x->shape + d + 1, x->ndim - d - 1);
        T wide = x_unsqueeze(x, d + 1);
        if (tpi_numel("repeat_interleave", x->ndim + 1, shape, &numel)) wide = tpi_own(NULL);
        wide = x_expand(wide, shape, x->ndim + 1);
        if (wide) shape[d] *= count;
        tpi_copy_dims(shape + d + 1, x->shape + d + 1, x->ndim - d - 1);
        r = x_view(x_clone(wide), shape, x->ndim);
    }
    return scope_result(&s, c, r);
}

/* ---- turned ---- */

static int flipped(tp_call *c, const char *op, int64_t dim)
{
    tp_tensor *t = arg_t(&c->args[0]);
    if (t->ndim <= dim)
        return tpi_fail(TP_ERR_VALUE, "%s: at least %d dimensions are needed, got shape %s", op, (int)dim + 1,
                        tpi_str(t));
    return tpi_set_out(c, 0, tp_flip(t, &dim, 1));
}
int c_fliplr(tp_call *c) { return flipped(c, "fliplr", 1); }
int c_flipud(tp_call *c) { return flipped(c, "flipud", 0); }

int c_roll(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    const tp_val *shifts = &c->args[1], *dims = &c->args[2];
    bool flat = dims->n <= 0;
    if (flat ? shifts->n != 1 : shifts->n != dims->n)
        return tpi_fail(TP_ERR_VALUE, "roll: shifts %s and dims %s differ in length",
                        tpi_shape_str(shifts->n, shifts->v.ints), tpi_shape_str(flat ? 0 : dims->n, dims->v.ints));
    tpi_scope s;
    tpi_scope_open(&s);
    T r = flat ? x_reshape(t, &t->numel, 1) : t;
    for (int i = 0; r && i < shifts->n; i++) {
        int d;
        if (tpi_wrap_dim("roll", flat ? 0 : dims->v.ints[i], r->ndim, &d)) r = tpi_own(NULL);
        else if (r->ndim) r = x_roll_dim(r, r->shape[d] ? shifts->v.ints[i] % r->shape[d] : 0, d);
    }
    return scope_result(&s, c, flat ? x_reshape(r, t->shape, t->ndim) : r == t ? x_clone(r) : r);
}

int c_rot90(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int dims[TPI_DIMS_CAP];
    if (c->args[2].n != 2 || t->ndim < 2)
        return tpi_fail(TP_ERR_VALUE, "rot90: two dims of at least two are needed, got dims %s for shape %s",
                        tpi_shape_str(c->args[2].n, c->args[2].v.ints), tpi_str(t));
    int rc = tpi_wrap_dims("rot90", c->args[2].v.ints, 2, t->ndim, dims);
    if (rc) return rc;
    int64_t a = dims[0], b = dims[1], both[2] = {a, b};
    tpi_scope s;
    tpi_scope_open(&s);
    T r = NULL;
    switch (((arg_i(&c->args[1]) % 4) + 4) % 4) {
    case 0: r = x_clone(t); break;
    case 1: r = x_transpose(x_flip(t, &b, 1), a, b); break;
    case 2: r = x_flip(t, both, 2); break;
    case 3: r = x_transpose(x_flip(t, &a, 1), a, b); break;
    }
    return scope_result(&s, c, r);
}

/* ---- diagonals ---- */

static T embedded(T t, int64_t offset, int64_t dim1, int64_t dim2)
{
    if (!t) return NULL;
    if (t->ndim == 0) return tpi_rule_fail(TP_ERR_VALUE, "diag_embed: a 0-d tensor has no diagonal");
    int64_t shape[TPI_DIMS_CAP], side = t->shape[t->ndim - 1];
    int d1, d2, n = t->ndim + 1;
    if (offset > INT32_MAX || offset < -INT32_MAX)
        return tpi_rule_fail(TP_ERR_VALUE, "diag_embed: offset %lld is too large", (long long)offset);
    side += offset < 0 ? -offset : offset;
    if (tpi_check_rank("diag_embed", n) || tpi_wrap_dim("diag_embed", dim1, n, &d1) ||
        tpi_wrap_dim("diag_embed", dim2, n, &d2))
        return tpi_own(NULL);
    if (d1 == d2) return tpi_rule_fail(TP_ERR_VALUE, "diag_embed: dim1 and dim2 are the same dimension %d", d1);
    for (int i = 0, k = 0; i < n; i++) shape[i] = i == d1 || i == d2 ? side : t->shape[k++];
    return x_diagonal_backward(t, shape, n, offset, d1, d2);
}

int c_diag_embed(tp_call *c)
{
    tpi_scope s;
    tpi_scope_open(&s);
    const tp_val *a = c->args;
    return scope_result(&s, c, embedded(arg_t(&a[0]), arg_i(&a[1]), arg_i(&a[2]), arg_i(&a[3])));
}

int c_diagflat(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, embedded(x_reshape(t, &t->numel, 1), arg_i(&c->args[1]), 0, 1));
}

int c_diag(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    int64_t k = arg_i(&c->args[1]);
    if (t->ndim != 1 && t->ndim != 2)
        return tpi_fail(TP_ERR_VALUE, "diag: 1 or 2 dimensions are needed, got shape %s", tpi_str(t));
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, t->ndim == 1 ? embedded(t, k, 0, 1) : x_clone(x_diagonal(t, k, 0, 1)));
}
