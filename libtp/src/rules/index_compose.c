/* The public forms of indexing: checks, masks and broadcasting on the shapes that the function sees, then one of the
 * four operators of index.c. In-place forms receive the tensor to write into as out[0]. */
#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

static bool is_index(const tp_tensor *t) { return tpi_is_int(t->dtype); }

static T need_index(const char *op, T t)
{
    if (!t || is_index(t)) return t;
    return tpi_rule_fail(TP_ERR_TYPE, "%s: an index of dtype %s, integers are needed", op, tp_dtype_name(t->dtype));
}

/* values as self's dtype */
static T as_dtype_of(const char *op, T values, T self)
{
    if (!values || !self || values->dtype == self->dtype) return values;
    if (tpi_is_complex(values->dtype) && !tpi_is_complex(self->dtype))
        return tpi_rule_fail(TP_ERR_TYPE, "%s: values of dtype %s can't be stored in dtype %s", op,
                             tp_dtype_name(values->dtype), tp_dtype_name(self->dtype));
    return x_to_dtype(values, self->dtype);
}

/* Ends a composite that may be in place: the result is written already, or is `t`. */
static int finish(tpi_scope *s, tp_call *c, T t)
{
    if (!c->out[0]) return scope_result(s, c, t);
    return tpi_scope_close(s);
}

static T put_dims(tp_call *c, T self, T *index, int n, T values, const int64_t *dims, int64_t pos, bool accumulate)
{
    if (tpi_bad()) return NULL;
    if (!c->out[0]) return x_index_put_dims(self, index, n, values, dims, n, pos, 0, accumulate);
    if (tpi_index_put_dims_(self, index, n, values, dims, n, pos, 0, accumulate)) tpi_own(NULL);
    return self;
}

static T scatter(tp_call *c, T self, int64_t dim, T index, T src, bool accumulate)
{
    if (tpi_bad()) return NULL;
    if (!c->out[0]) return x_scatter_dim(self, dim, index, src, accumulate);
    if (tpi_scatter_dim_(self, dim, index, src, accumulate)) tpi_own(NULL);
    return self;
}

/* ---- index, index_put ---- */

/* NOTE: entries
 * Entry i of the list stands for dimension i, or for as many as it has if it is a mask. A mask becomes one index for
 * each, the coordinates of its true elements, which needs their number: a mapped mask has none that all samples share.
 * A 0-d mask stands for a dimension of size one that self gets for it. */
typedef struct entries {
    T self;
    int n;
    T index[TPI_DIMS_CAP];
    int64_t dims[TPI_DIMS_CAP];
    int64_t pos;
    int rank, ndim;                   /* of the indices together, of the result */
    int64_t shape[TPI_DIMS_CAP];      /* of the result */
} entries;

static int mask_fits(const char *op, T self, int d, T mask)
{
    if (d + mask->ndim <= self->ndim && !memcmp(self->shape + d, mask->shape, sizeof(int64_t) * (size_t)mask->ndim))
        return 1;
    tpi_rule_fail(TP_ERR_INDEX, "%s: the mask of shape %s does not match shape %s at dimension %d", op, tpi_str(mask),
                  tpi_str(self), d);
    return 0;
}

static void add_mask(const char *op, entries *e, int d, T mask)
{
    if (is_mapped(mask)) {
        tpi_rule_fail(TP_ERR_NOT_IMPLEMENTED,
                      "%s: a boolean mask that is mapped by vmap selects as many elements as its values say: use "
                      "where(mask, x, y), or index with nonzero_static(mask, size=n)",
                      op);
        return;
    }
    T found = x_nonzero(mask);
    for (int k = 0; found && k < mask->ndim; k++) {
        e->index[e->n] = x_select(found, 1, k);
        e->dims[e->n++] = d + k;
    }
}

static void read_entries(const char *op, T self, const tp_val *list, entries *e)
{
    memset(e, 0, sizeof *e);
    e->self = self;
    int d = 0;
    for (int i = 0; i < list->n && !tpi_bad(); i++) {
        T t = list->v.ts[i];
        bool mask = t && t->dtype == TP_BOOL;
        if (mask && t->ndim == 0) {
            e->self = x_unsqueeze(e->self, d);
            t = x_view(t, &(int64_t){1}, 1);
            if (tpi_bad()) return;
        }
        int takes = mask ? t->ndim : 1;
        if (d + takes > e->self->ndim) {
            tpi_rule_fail(TP_ERR_INDEX, "%s: too many indices for a tensor of shape %s", op, tpi_str(self));
            return;
        }
        if (mask) {
            if (mask_fits(op, e->self, d, t)) add_mask(op, e, d, t);
        } else if (t) {
            e->index[e->n] = need_index(op, t);
            e->dims[e->n++] = d;
        }
        d += takes;
    }
    if (tpi_bad() || e->n == 0) return;
    int64_t joined[TPI_DIMS_CAP], next[TPI_DIMS_CAP];
    int s = e->self->ndim, before = 0;
    for (int j = 0; j < e->n; j++) {
        if (tpi_broadcast_shapes(op, e->rank, joined, e->index[j]->ndim, e->index[j]->shape, &e->rank, next)) {
            tpi_rule_fail(TP_ERR_INDEX, "%s: the indices' shapes %s and %s do not broadcast", op,
                          tpi_shape_str(e->rank, joined), tpi_str(e->index[j]));
            return;
        }
        tpi_copy_dims(joined, next, e->rank);
    }
    /* Where the indexed dimensions are side by side the new ones take their place, else they come first. */
    if (e->dims[e->n - 1] - e->dims[0] == e->n - 1) e->pos = e->dims[0];
    e->ndim = s - e->n + e->rank;
    if (tpi_check_rank(op, e->ndim)) {
        tpi_own(NULL);
        return;
    }
    for (int i = 0, j = 0; i < s; i++) {
        if (j < e->n && e->dims[j] == i) {
            j++;
            continue;
        }
        e->shape[before < e->pos ? before : before + e->rank] = e->self->shape[i];
        before++;
    }
    tpi_copy_dims(e->shape + e->pos, joined, e->rank);
}

int c_index(tp_call *c)
{
    tpi_scope s;
    entries e;
    T r = NULL;
    tpi_scope_open(&s);
    read_entries("index", arg_t(&c->args[0]), &c->args[1], &e);
    if (!tpi_bad()) r = e.n ? x_index_dims(e.self, e.index, e.n, e.dims, e.n, e.pos, 0, false) : x_clone(e.self);
    return scope_result(&s, c, r);
}

/* values of the given shape: leading dimensions of size one beyond it are dropped, the rest broadcasts. */
static T fitted(const char *op, T v, int ndim, const int64_t *shape)
{
    if (!v) return NULL;
    int extra = v->ndim - ndim;
    for (int i = 0; i < extra; i++)
        if (v->shape[i] != 1) extra = -1;
    if (extra > 0) v = x_reshape(v, v->shape + extra, ndim);
    if (!v) return NULL;
    bool good = extra >= 0 || v->ndim <= ndim;
    for (int i = 0; good && i < v->ndim; i++) {
        int64_t size = v->shape[v->ndim - 1 - i];
        good = size == 1 || size == shape[ndim - 1 - i];
    }
    if (!good)
        return tpi_rule_fail(TP_ERR_VALUE, "%s: values of shape %s do not broadcast to the indexed shape %s", op,
                             tpi_str(v), tpi_shape_str(ndim, shape));
    return x_expand_to(v, ndim, shape);
}

/* A single mask whose elements all get the same: a selection between values and self, which needs no count and works
 * for mapped masks. NULL without a failure: not such a call. */
static T put_selected(tp_call *c, T self, T v, bool accumulate)
{
    const tp_val *list = &c->args[1];
    T mask = NULL;
    int d = 0;
    for (int i = 0; i < list->n; i++) {
        if (!list->v.ts[i]) d += !mask;
        else if (mask || list->v.ts[i]->dtype != TP_BOOL) return NULL;
        else mask = list->v.ts[i];
    }
    if (!mask || !mask_fits("index_put", self, d, mask)) return NULL;
    int m = mask->ndim, rest = self->ndim - d - m, extra = v->ndim - (d + 1 + rest);
    for (int i = 0; i < extra; i++)
        if (v->shape[i] != 1) return NULL;
    if (extra > 0) v = x_reshape(v, v->shape + extra, v->ndim - extra);
    if (!v) return NULL;
    int64_t shape[TPI_DIMS_CAP];
    if (v->ndim > rest) {
        /* Its dimension for the selected elements becomes m dimensions of size one. */
        int at = v->ndim - rest - 1;
        if (v->shape[at] != 1 || tpi_check_rank("index_put", v->ndim - 1 + m)) return NULL;
        tpi_copy_dims(shape, v->shape, at);
        for (int i = 0; i < m; i++) shape[at + i] = 1;
        tpi_copy_dims(shape + at + m, v->shape + at + 1, rest);
        v = x_reshape(v, shape, v->ndim - 1 + m);
    }
    v = fitted("index_put", v, self->ndim, self->shape);
    tpi_copy_dims(shape, mask->shape, m);
    for (int i = 0; i < rest; i++) shape[m + i] = 1;
    T wide = x_reshape(mask, shape, m + rest);
    T r = x_where(wide, accumulate ? plus(self, v) : v, self);
    if (r && c->out[0] && tpi_copy_(self, r)) r = tpi_own(NULL);
    return r;
}

int c_index_put(tp_call *c)
{
    T self = arg_t(&c->args[0]);
    bool accumulate = arg_b(&c->args[3]);
    tpi_scope s;
    entries e;
    tpi_scope_open(&s);
    T v = as_dtype_of("index_put", arg_t(&c->args[2]), self), r = NULL;
    if (v) r = put_selected(c, self, v, accumulate);
    if (!r && !tpi_bad()) {
        read_entries("index_put", self, &c->args[1], &e);
        if (!tpi_bad() && e.n == 0) {
            v = fitted("index_put", v, self->ndim, self->shape);
            r = accumulate ? plus(self, v) : x_clone(v);
            if (r && c->out[0] && tpi_copy_(self, r)) tpi_own(NULL);
        } else if (!tpi_bad()) {
            v = fitted("index_put", v, e.ndim, e.shape);
            /* e.self is self, or a view of it with more dimensions */
            r = put_dims(c, e.self, e.index, e.n, v, e.dims, e.pos, accumulate);
            if (r && !c->out[0]) r = x_reshape_to(r, self->ndim, self->shape);
        }
    }
    return finish(&s, c, r);
}

/* ---- along one dimension ---- */

/* self with at least one dimension, dim wrapped, index 1-d. */
typedef struct along {
    T self, index;
    int dim;
    int64_t shape[TPI_DIMS_CAP];   /* self's, with the length of index along dim */
} along;

static void read_along(const char *op, tp_call *c, along *a)
{
    T self = arg_t(&c->args[0]), index = need_index(op, arg_t(&c->args[2]));
    memset(a, 0, sizeof *a);
    if (tpi_bad()) return;
    if (index->ndim > 1) {
        tpi_rule_fail(TP_ERR_VALUE, "%s: a 1-d index is needed, got shape %s", op, tpi_str(index));
        return;
    }
    if (tpi_wrap_dim(op, arg_i(&c->args[1]), self->ndim, &a->dim)) {
        tpi_own(NULL);
        return;
    }
    a->self = self->ndim ? self : x_view(self, &(int64_t){1}, 1);
    a->index = index->ndim ? index : x_view(index, &(int64_t){1}, 1);
    if (tpi_bad()) return;
    tpi_copy_dims(a->shape, a->self->shape, a->self->ndim);
    a->shape[a->dim] = a->index->numel;
}

int c_index_select(tp_call *c)
{
    tpi_scope s;
    along a;
    T r = NULL;
    tpi_scope_open(&s);
    read_along("index_select", c, &a);
    int64_t d = a.dim;
    if (!tpi_bad()) r = x_index_dims(a.self, &a.index, 1, &d, 1, d, 0, false);
    if (r && arg_t(&c->args[0])->ndim == 0 && r->numel == 1) r = x_reshape_to(r, 0, NULL);
    return scope_result(&s, c, r);
}

/* source of the shape that index_add and index_copy want */
static T source_along(const char *op, const along *a, T source)
{
    source = as_dtype_of(op, source, a->self);
    if (!source) return NULL;
    int n = a->self->ndim;
    if (source->ndim == 0 && n == 1 && a->shape[0] == 1) source = x_view(source, a->shape, 1);
    if (source && (source->ndim != n || memcmp(source->shape, a->shape, sizeof(int64_t) * (size_t)n)))
        return tpi_rule_fail(TP_ERR_VALUE, "%s: source of shape %s, expected %s for self of shape %s and %lld indices",
                             op, tpi_str(source), tpi_shape_str(n, a->shape), tpi_str(a->self),
                             (long long)a->index->numel);
    return source;
}

static int put_along(tp_call *c, tpi_scope *s, along *a, T values, bool accumulate)
{
    int64_t d = a->dim;
    T self = arg_t(&c->args[0]), r = NULL;
    if (!tpi_bad()) r = put_dims(c, a->self, &a->index, 1, values, &d, d, accumulate);
    if (r && !c->out[0]) r = x_reshape_to(r, self->ndim, self->shape);
    return finish(s, c, r);
}

int c_index_add(tp_call *c)
{
    tpi_scope s;
    along a;
    tpi_scope_open(&s);
    read_along("index_add", c, &a);
    T source = arg_t(&c->args[3]);
    const tp_scalar *alpha = &c->args[4].v.s;
    if (!tpi_bad() && !(alpha->tag == TP_SCALAR_INT && alpha->v.i == 1))
        source = x_mul(source, tpi_own(tp_weak_scalar(alpha)));
    if (!tpi_bad()) source = source_along("index_add", &a, source);
    return put_along(c, &s, &a, source, true);
}

int c_index_copy(tp_call *c)
{
    tpi_scope s;
    along a;
    tpi_scope_open(&s);
    read_along("index_copy", c, &a);
    T source = tpi_bad() ? NULL : source_along("index_copy", &a, arg_t(&c->args[3]));
    return put_along(c, &s, &a, source, false);
}

int c_index_fill(tp_call *c)
{
    tpi_scope s;
    along a;
    T v = arg_t(&c->args[3]);
    tpi_scope_open(&s);
    read_along("index_fill", c, &a);
    if (!tpi_bad() && v->ndim)
        tpi_rule_fail(TP_ERR_VALUE, "index_fill: a number or 0-d tensor is needed, got shape %s", tpi_str(v));
    if (!tpi_bad()) v = x_expand_to(as_dtype_of("index_fill", v, a.self), a.self->ndim, a.shape);
    return put_along(c, &s, &a, v, false);
}

/* ---- gather, scatter ---- */

/* self and index with at least one dimension, dim wrapped; `bound`: a shape that index must not exceed. */
static bool read_pointwise(const char *op, T *self, T *index, int64_t dim, int *d)
{
    T i = need_index(op, *index), x = *self;
    if (!i) return false;
    if (tpi_wrap_dim(op, dim, x->ndim, d)) {
        tpi_own(NULL);
        return false;
    }
    if (x->ndim == 0) x = x_view(x, &(int64_t){1}, 1);
    if (i->ndim == 0) i = x_view(i, &(int64_t){1}, 1);
    if (!x || !i) return false;
    bool good = x->ndim == i->ndim;
    for (int k = 0; good && k < x->ndim; k++) good = k == *d || i->shape[k] <= x->shape[k];
    if (!good)
        tpi_rule_fail(TP_ERR_VALUE, "%s: index of shape %s does not fit self of shape %s along dimension %d", op,
                      tpi_str(*index), tpi_str(*self), *d);
    *self = x;
    *index = i;
    return good;
}

/* An index without elements may have any rank: nothing is read or written. */
static bool is_idle(T self, T index) { return index->numel == 0 && index->ndim != self->ndim && is_index(index); }

int c_gather(tp_call *c)
{
    T self = arg_t(&c->args[0]), index = arg_t(&c->args[2]), r = NULL;
    int ndim = index->ndim, d, rc;
    bool idle = is_idle(self, index);
    if (idle && (rc = tpi_wrap_dim("gather", arg_i(&c->args[1]), self->ndim, &d))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    if (idle) {
        r = x_slice(x_reshape(self, &self->numel, 1), 0, 0, 0, 1);
        return scope_result(&s, c, x_reshape(r, index->shape, ndim));
    }
    if (read_pointwise("gather", &self, &index, arg_i(&c->args[1]), &d)) r = x_gather_dim(self, d, index, false);
    if (r && ndim == 0) r = x_reshape_to(r, 0, NULL);
    return scope_result(&s, c, r);
}

static int scattered(tp_call *c, const char *op, bool accumulate)
{
    T self = arg_t(&c->args[0]), index = arg_t(&c->args[2]), src = arg_t(&c->args[3]), r = NULL;
    int ndim = self->ndim, d, rc;
    bool idle = is_idle(self, index);
    if (idle && (rc = tpi_wrap_dim(op, arg_i(&c->args[1]), ndim, &d))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    if (idle) return c->out[0] ? tpi_scope_close(&s) : scope_result(&s, c, x_clone(self));
    if (read_pointwise(op, &self, &index, arg_i(&c->args[1]), &d)) src = as_dtype_of(op, src, self);
    if (!tpi_bad() && src->ndim == 0) src = x_view(src, &(int64_t){1}, 1);
    if (!tpi_bad()) {
        bool good = src->ndim == index->ndim;
        for (int k = 0; good && k < src->ndim; k++) good = index->shape[k] <= src->shape[k];
        if (!good)
            tpi_rule_fail(TP_ERR_VALUE, "%s: index of shape %s does not fit src of shape %s", op, tpi_str(index),
                          tpi_str(src));
        for (int k = 0; good && src && k < src->ndim; k++)
            if (index->shape[k] < src->shape[k]) src = x_slice(src, k, 0, index->shape[k], 1);
        r = scatter(c, self, d, index, src, accumulate);
    }
    if (r && !c->out[0] && ndim == 0) r = x_reshape_to(r, 0, NULL);
    return finish(&s, c, r);
}

int c_scatter(tp_call *c) { return scattered(c, "scatter", false); }
int c_scatter_add(tp_call *c) { return scattered(c, "scatter_add", true); }

int c_scatter_value(tp_call *c)
{
    T self = arg_t(&c->args[0]), index = arg_t(&c->args[2]), r = NULL;
    int ndim = self->ndim, d, rc;
    bool idle = is_idle(self, index);
    if (idle && (rc = tpi_wrap_dim("scatter", arg_i(&c->args[1]), ndim, &d))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    if (idle) return c->out[0] ? tpi_scope_close(&s) : scope_result(&s, c, x_clone(self));
    if (read_pointwise("scatter", &self, &index, arg_i(&c->args[1]), &d)) {
        T v = as_dtype_of("scatter", tpi_own(tp_weak_scalar(&c->args[3].v.s)), self);
        r = scatter(c, self, d, index, x_expand_to(v, index->ndim, index->shape), false);
    }
    if (r && !c->out[0] && ndim == 0) r = x_reshape_to(r, 0, NULL);
    return finish(&s, c, r);
}

/* ---- the flattened tensor, masks ---- */

int c_take(tp_call *c)
{
    T self = arg_t(&c->args[0]), r = NULL;
    tpi_scope s;
    tpi_scope_open(&s);
    T index = need_index("take", arg_t(&c->args[1]));
    if (index) r = x_index_dims(x_reshape(self, &self->numel, 1), &index, 1, &(int64_t){0}, 1, 0, 0, false);
    return scope_result(&s, c, r);
}

int c_put(tp_call *c)
{
    T self = arg_t(&c->args[0]), source = arg_t(&c->args[2]), r = NULL;
    tpi_scope s;
    tpi_scope_open(&s);
    T index = need_index("put", arg_t(&c->args[1]));
    source = as_dtype_of("put", source, self);
    if (!tpi_bad() && index->numel != source->numel)
        tpi_rule_fail(TP_ERR_VALUE, "put: %lld elements for %lld indices", (long long)source->numel,
                      (long long)index->numel);
    if (!tpi_bad()) {
        T flat = x_reshape(self, &self->numel, 1);
        index = x_reshape(index, &index->numel, 1);
        source = x_reshape(source, &source->numel, 1);
        r = x_index_put_dims(flat, &index, 1, source, &(int64_t){0}, 1, 0, 0, arg_b(&c->args[3]));
        r = x_reshape_to(r, self->ndim, self->shape);
    }
    return scope_result(&s, c, r);
}

int c_take_along_dim(tp_call *c)
{
    T self = arg_t(&c->args[0]), index = arg_t(&c->args[1]), r = NULL;
    int d = 0, n = self->ndim;
    tpi_scope s;
    tpi_scope_open(&s);
    index = need_index("take_along_dim", index);
    if (tpi_bad()) return scope_result(&s, c, NULL);
    if (arg_none(&c->args[2])) {
        r = x_gather_dim(x_reshape(self, &self->numel, 1), 0, x_reshape(index, &index->numel, 1), false);
        return scope_result(&s, c, r);
    }
    if (tpi_wrap_dim("take_along_dim", arg_i(&c->args[2]), n, &d)) tpi_own(NULL);
    else if (index->ndim != n)
        tpi_rule_fail(TP_ERR_VALUE, "take_along_dim: indices of shape %s for self of shape %s", tpi_str(index),
                      tpi_str(self));
    else if (n == 0) {
        int64_t one = 1;
        r = x_reshape_to(x_gather_dim(x_view(self, &one, 1), 0, x_view(index, &one, 1), false), 0, NULL);
    } else {
        int64_t a[TPI_DIMS_CAP], b[TPI_DIMS_CAP];
        for (int i = 0; i < n; i++) {
            int64_t x = self->shape[i], y = index->shape[i];
            if (i != d && x != y && x != 1 && y != 1) {
                tpi_rule_fail(TP_ERR_VALUE, "take_along_dim: shapes %s and %s do not broadcast outside dimension %d",
                              tpi_str(self), tpi_str(index), d);
                break;
            }
            a[i] = b[i] = x == 1 ? y : x;
        }
        a[d] = self->shape[d];
        b[d] = index->shape[d];
        r = x_gather_dim(x_expand_to(self, n, a), d, x_expand_to(index, n, b), false);
    }
    return scope_result(&s, c, r);
}

static bool need_mask(const char *op, T mask)
{
    if (mask->dtype == TP_BOOL) return true;
    tpi_rule_fail(TP_ERR_TYPE, "%s: a mask of dtype %s, bool is needed", op, tp_dtype_name(mask->dtype));
    return false;
}

int c_masked_select(tp_call *c)
{
    T self = arg_t(&c->args[0]), mask = arg_t(&c->args[1]), r = NULL;
    int64_t shape[TPI_DIMS_CAP];
    int n;
    tpi_scope s;
    tpi_scope_open(&s);
    if (!need_mask("masked_select", mask)) return scope_result(&s, c, NULL);
    if (tpi_broadcast_shapes("masked_select", self->ndim, self->shape, mask->ndim, mask->shape, &n, shape))
        tpi_own(NULL);
    else {
        entries e;
        T m = x_expand_to(mask, n, shape);
        if (m && n == 0) m = x_view(m, &(int64_t){1}, 1);
        T x = x_expand_to(self, n, shape);
        if (x && n == 0) x = x_view(x, &(int64_t){1}, 1);
        if (!tpi_bad()) read_entries("masked_select", x, &(tp_val){.tag = TPI_TENSORS, .n = 1, .v.ts = &m}, &e);
        if (!tpi_bad()) r = x_index_dims(e.self, e.index, e.n, e.dims, e.n, e.pos, 0, false);
    }
    return scope_result(&s, c, r);
}

/* The k-th true element gets element k of source. Places before the first one read element -1; none of them is kept. */
int c_masked_scatter(tp_call *c)
{
    T self = arg_t(&c->args[0]), mask = arg_t(&c->args[1]), r = NULL;
    tpi_scope s;
    tpi_scope_open(&s);
    if (!need_mask("masked_scatter", mask)) return scope_result(&s, c, NULL);
    T source = as_dtype_of("masked_scatter", arg_t(&c->args[2]), self);
    int64_t shape[TPI_DIMS_CAP];
    int ndim;
    if (tpi_broadcast_shapes("masked_scatter", self->ndim, self->shape, mask->ndim, mask->shape, &ndim, shape))
        return scope_result(&s, c, tpi_own(NULL));
    mask = x_expand_to(mask, ndim, shape);
    self = x_expand_to(self, ndim, shape);
    if (tpi_bad()) return scope_result(&s, c, NULL);
    T flat = source ? x_reshape(source, &source->numel, 1) : NULL;
    if (flat && flat->numel == 0 && self->numel) flat = x_zeros_shape(self->dtype, 1, &(int64_t){1});
    T m = mask ? x_to_dtype(x_reshape(mask, &mask->numel, 1), TP_INT64) : NULL;
    T count = x_cumsum(m, 0, TP_DTYPE_NONE);
    T order = count ? plus(count, x_iscalar(-1, count)) : NULL;
    if (!tpi_bad()) {
        r = x_index_dims(flat, &order, 1, &(int64_t){0}, 1, 0, 0, false);
        r = x_where(mask, x_reshape_to(r, self->ndim, self->shape), self);
    }
    return scope_result(&s, c, r);
}
