/* The public products: composites that check what the function sees, and choose by rank. */
#include "rules/matmul_util.h"

int tpi_need_numbers(const char *op, const tp_tensor *a, const tp_tensor *b)
{
    if (a->dtype != TP_BOOL || b->dtype != TP_BOOL) return 0;
    return tpi_fail(TP_ERR_TYPE, "%s: not defined for bool; convert to an integer dtype first", op);
}

static int need_rank(const char *op, const char *name, const tp_tensor *t, int rank)
{
    if (t->ndim == rank) return 0;
    return tpi_fail(TP_ERR_RUNTIME, "%s: %s must have %d dimension%s, got shape %s", op, name, rank,
                    rank == 1 ? "" : "s", tpi_str(t));
}

static int mismatch(const char *op, const tp_tensor *a, const tp_tensor *b, int64_t x, int64_t y)
{
    return tpi_fail(TP_ERR_RUNTIME, "%s: shapes %s and %s do not multiply: %lld != %lld", op, tpi_str(a), tpi_str(b),
                    (long long)x, (long long)y);
}

/* Arguments 0 and 1 of a product with exact ranks, whose inner sizes agree. */
static int check(const char *op, const tp_tensor *a, const tp_tensor *b, int ra, int rb, const char *na, const char *nb)
{
    int rc;
    if ((rc = need_rank(op, na, a, ra)) || (rc = need_rank(op, nb, b, rb)) || (rc = tpi_need_numbers(op, a, b)))
        return rc;
    int64_t x = a->shape[ra - 1], y = b->shape[rb > 1 ? rb - 2 : 0];
    return x == y ? 0 : mismatch(op, a, b, x, y);
}

int c_mm(tp_call *c)
{
    int rc = check("mm", arg_t(&c->args[0]), arg_t(&c->args[1]), 2, 2, "self", "mat2");
    return rc ? rc : tpi_call(&tpi_op_matmul_2d, c->args, c->out);
}

static int check_bmm(const char *op, const tp_tensor *a, const tp_tensor *b)
{
    int rc = check(op, a, b, 3, 3, "batch1", "batch2");
    if (rc || a->shape[0] == b->shape[0]) return rc;
    return tpi_fail(TP_ERR_RUNTIME, "%s: shapes %s and %s have different batch sizes: %lld != %lld", op, tpi_str(a),
                    tpi_str(b), (long long)a->shape[0], (long long)b->shape[0]);
}

int c_bmm(tp_call *c)
{
    int rc = check_bmm("bmm", arg_t(&c->args[0]), arg_t(&c->args[1]));
    return rc ? rc : tpi_call(&tpi_op_matmul_nd, c->args, c->out);
}

int c_mv(tp_call *c)
{
    int rc = check("mv", arg_t(&c->args[0]), arg_t(&c->args[1]), 2, 1, "self", "vec");
    return rc ? rc : tpi_call(&tpi_op_matmul_mv, c->args, c->out);
}

int c_dot(tp_call *c)
{
    int rc = check("dot", arg_t(&c->args[0]), arg_t(&c->args[1]), 1, 1, "self", "tensor");
    return rc ? rc : tpi_call(&tpi_op_matmul_dot, c->args, c->out);
}

int c_vdot(tp_call *c)
{
    int rc = check("vdot", arg_t(&c->args[0]), arg_t(&c->args[1]), 1, 1, "self", "other");
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_matmul_dot(x_conj(arg_t(&c->args[0])), arg_t(&c->args[1])));
}

static bool floating(const tp_tensor *a, const tp_tensor *b)
{
    return a->dtype >= TP_FLOAT16 && b->dtype >= TP_FLOAT16;
}

static T outer(T a, T b)
{
    a = x_unsqueeze_at(a, 1);
    b = x_unsqueeze_at(b, 0);
    return a && b && floating(a, b) ? x_matmul_2d(a, b) : x_mul(a, b);
}

int c_outer(tp_call *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]);
    int rc;
    if ((rc = need_rank("outer", "self", a, 1)) || (rc = need_rank("outer", "vec2", b, 1))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, outer(a, b));
}

/* ---- matmul ---- */

T tpi_matmul(const char *op, T a, T b)
{
    if (tpi_bad() || !a || !b) return NULL;
    int na = a->ndim, nb = b->ndim, n = 0;
    if (!na || !nb)
        return tpi_rule_fail(TP_ERR_RUNTIME, "%s: operands need at least one dimension, got shapes %s and %s", op,
                             tpi_str(a), tpi_str(b));
    int64_t x = a->shape[na - 1], y = b->shape[nb > 1 ? nb - 2 : 0], shape[TPI_DIMS_CAP];
    if (x != y) {
        tpi_scope_top->failed = mismatch(op, a, b, x, y);
        return NULL;
    }
    if (na == 1 && nb == 1) return x_matmul_dot(a, b);
    if (na == 2 && nb == 2) return x_matmul_2d(a, b);
    if (na == 2 && nb == 1) return x_matmul_mv(a, b);
    if (na == 1 && nb == 2) return x_matmul_mv(tpi_mT(b), a);
    if (na >= 3 && nb <= 2) { /* [..., n, k] -> rows */
        tpi_copy_dims(shape, a->shape, na - 1);
        shape[na - 1] = nb == 2 ? b->shape[1] : 0;
        T r = nb == 2 ? x_matmul_2d(tpi_rows(a), b) : x_matmul_mv(tpi_rows(a), b);
        return x_reshape_to(r, nb == 2 ? na : na - 1, shape);
    }
    if (na == 1) {
        T r = x_matmul_nd(x_unsqueeze_at(a, 0), b);
        tpi_copy_dims(shape, b->shape, nb - 2);
        shape[nb - 2] = b->shape[nb - 1];
        return x_reshape_to(r, nb - 1, shape);
    }
    int rc = tpi_broadcast_shapes(op, na - 2, a->shape, nb - 2, b->shape, &n, shape);
    if (rc) {
        tpi_scope_top->failed = tpi_fail(TP_ERR_RUNTIME,
                                         "%s: the leading dimensions of shapes %s and %s do not broadcast", op,
                                         tpi_str(a), tpi_str(b));
        return NULL;
    }
    return x_matmul_nd(a, b);
}

int c_matmul(tp_call *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]);
    int rc = tpi_need_numbers("matmul", a, b);
    if (rc) return rc;
    if (a->ndim == 2 && b->ndim == 2 && a->shape[1] == b->shape[0]) return tpi_call(&tpi_op_matmul_2d, c->args, c->out);
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, tpi_matmul("matmul", a, b));
}

int c_inner(tp_call *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]), r;
    int rc, na = a->ndim, nb = b->ndim;
    if ((rc = tpi_need_numbers("inner", a, b))) return rc;
    if (na && nb && a->shape[na - 1] != b->shape[nb - 1])
        return tpi_fail(TP_ERR_RUNTIME, "inner: the last dimensions of shapes %s and %s differ: %lld != %lld",
                        tpi_str(a), tpi_str(b), (long long)a->shape[na - 1], (long long)b->shape[nb - 1]);
    tpi_scope s;
    tpi_scope_open(&s);
    if (!na || !nb) r = x_mul(a, b);
    else if (nb == 1) r = tpi_matmul("inner", a, b);
    else {
        int64_t shape[TPI_DIMS_CAP];
        tpi_copy_dims(shape, a->shape, na - 1);
        tpi_copy_dims(shape + na - 1, b->shape, nb - 1);
        if (na + nb - 2 > TP_MAX_NDIM) r = tpi_rule_fail(TP_ERR_VALUE, "inner: more than %d dimensions", TP_MAX_NDIM);
        else r = x_reshape_to(tpi_matmul("inner", a, tpi_mT(tpi_rows(b))), na + nb - 2, shape);
    }
    return scope_result(&s, c, r);
}

/* ---- beta * self + alpha * product ---- */

static bool is_number(const tp_val *v, double number)
{
    const tp_scalar *s = &v->v.s;
    switch (s->tag) {
    case TP_SCALAR_FLOAT: return s->v.f == number;
    case TP_SCALAR_COMPLEX: return s->v.c[0] == number && s->v.c[1] == 0;
    default: return (double)s->v.i == number;
    }
}

static T times(T t, const tp_val *factor)
{
    if (!t || is_number(factor, 1)) return t;
    /* Integers stay integers: a factor loses its fraction. */
    if (factor->v.s.tag == TP_SCALAR_FLOAT && !tpi_is_differentiable(t->dtype))
        return x_mul_i(t, (int64_t)factor->v.s.v.f);
    return x_mul(t, tpi_own(tp_weak_scalar(&factor->v.s)));
}

/* beta 0 leaves self out, whatever it holds. */
static T affine(tp_call *c, const char *op, T product, int beta)
{
    T self = arg_t(&c->args[0]);
    int n;
    int64_t shape[TPI_DIMS_CAP];
    if (!product) return NULL;
    if (tpi_broadcast_shapes(op, self->ndim, self->shape, product->ndim, product->shape, &n, shape) ||
        n != product->ndim || memcmp(shape, product->shape, sizeof *shape * (size_t)n))
        return tpi_rule_fail(TP_ERR_RUNTIME, "%s: self of shape %s does not broadcast to %s", op, tpi_str(self),
                             tpi_str(product));
    T r = times(product, &c->args[beta + 1]);
    return is_number(&c->args[beta], 0) ? r : x_add(times(self, &c->args[beta]), r, &tpi_one);
}

static int add_product(tp_call *c, const char *op, int ra, int rb, const char *na, const char *nb)
{
    T a = arg_t(&c->args[1]), b = arg_t(&c->args[2]), r;
    int rc = ra == 3 ? check_bmm(op, a, b) : check(op, a, b, ra, rb, na, nb);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    r = ra == 3 ? x_matmul_nd(a, b) : rb == 2 ? x_matmul_2d(a, b) : x_matmul_mv(a, b);
    return scope_result(&s, c, affine(c, op, r, 3));
}

int c_addmm(tp_call *c) { return add_product(c, "addmm", 2, 2, "mat1", "mat2"); }
int c_addmv(tp_call *c) { return add_product(c, "addmv", 2, 1, "mat", "vec"); }
int c_baddbmm(tp_call *c) { return add_product(c, "baddbmm", 3, 3, "batch1", "batch2"); }

int c_addbmm(tp_call *c)
{
    T a = arg_t(&c->args[1]), b = arg_t(&c->args[2]);
    int rc = check_bmm("addbmm", a, b);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    const int64_t order[3] = {1, 0, 2}; /* sum over the stack: [n, B*k] times [B*k, m] */
    T left = x_permute(a, order, 3), r = NULL;
    if (left) {
        const int64_t flat[2] = {left->shape[0], left->shape[1] * left->shape[2]};
        r = affine(c, "addbmm", x_matmul_2d(x_reshape_to(left, 2, flat), tpi_rows(b)), 3);
    }
    return scope_result(&s, c, r);
}

static bool is_true(const tp_scalar *v) { return v->tag == TP_SCALAR_FLOAT ? v->v.f != 0 : v->v.i != 0; }

int c_addr(tp_call *c)
{
    T a = arg_t(&c->args[1]), b = arg_t(&c->args[2]);
    int rc;
    if ((rc = need_rank("addr", "vec1", a, 1)) || (rc = need_rank("addr", "vec2", b, 1))) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    if (a->dtype == TP_BOOL && b->dtype == TP_BOOL && arg_t(&c->args[0])->dtype == TP_BOOL) {
        /* (beta and self) or (alpha and both) */
        T self = x_expand_to(arg_t(&c->args[0]), 2, (int64_t[2]){a->shape[0], b->shape[0]});
        T both = x_logical_and(x_unsqueeze_at(a, 1), x_unsqueeze_at(b, 0)),
          none = tpi_bad() ? NULL : x_zeros_like(both);
        T r = x_logical_or(is_true(&c->args[3].v.s) ? self : none, is_true(&c->args[4].v.s) ? both : none);
        return scope_result(&s, c, r);
    }
    return scope_result(&s, c, affine(c, "addr", outer(a, b), 3));
}

/* ---- tensordot, kron, linear ---- */

static T tensordot(T a, T b, const int *da, const int *db, int n)
{
    int64_t pa[TPI_DIMS_CAP], pb[TPI_DIMS_CAP], shape[2 * TPI_DIMS_CAP], k = 1, rows = 1, cols = 1;
    int ka = 0, kb = n, rank = 0;
    bool in_a[TPI_DIMS_CAP] = {false}, in_b[TPI_DIMS_CAP] = {false};
    for (int i = 0; i < n; i++) {
        in_a[da[i]] = in_b[db[i]] = true;
        k *= a->shape[da[i]];
        pb[i] = db[i];
    }
    for (int d = 0; d < a->ndim; d++)
        if (!in_a[d]) {
            pa[ka++] = d;
            rows *= shape[rank++] = a->shape[d];
        }
    for (int i = 0; i < n; i++) pa[ka++] = da[i];
    for (int d = 0; d < b->ndim; d++)
        if (!in_b[d]) {
            pb[kb++] = d;
            cols *= shape[rank++] = b->shape[d];
        }
    if (rank > TP_MAX_NDIM) return tpi_rule_fail(TP_ERR_VALUE, "tensordot: more than %d dimensions", TP_MAX_NDIM);
    const int64_t sa[2] = {rows, k}, sb[2] = {k, cols};
    T left = x_reshape_to(x_permute(a, pa, ka), 2, sa), right = x_reshape_to(x_permute(b, pb, kb), 2, sb);
    return x_reshape_to(x_matmul_2d(left, right), rank, shape);
}

/* Sums of small integers are int64; products are of the operands' dtype. */
static T as_dtype_of(T t, T like) { return t && t->dtype != like->dtype ? x_to_dtype(t, like->dtype) : t; }

static int tensordot_call(tp_call *c, const int64_t *dims_a, int64_t n, const int64_t *dims_b, int64_t nb)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]);
    int rc, da[TPI_DIMS_CAP], db[TPI_DIMS_CAP];
    if ((rc = tpi_need_numbers("tensordot", a, b))) return rc;
    if (n != nb)
        return tpi_fail(TP_ERR_RUNTIME, "tensordot: %lld dimensions of self, %lld of other", (long long)n,
                        (long long)nb);
    if ((rc = tpi_wrap_dims("tensordot", dims_a, n, a->ndim, da)) ||
        (rc = tpi_wrap_dims("tensordot", dims_b, n, b->ndim, db)))
        return rc;
    for (int i = 0; i < n; i++)
        if (a->shape[da[i]] != b->shape[db[i]] && a->shape[da[i]] != 1 && b->shape[db[i]] != 1)
            return tpi_fail(TP_ERR_RUNTIME, "tensordot: dimensions %d of shape %s and %d of shape %s differ", da[i],
                            tpi_str(a), db[i], tpi_str(b));
    tpi_scope s;
    tpi_scope_open(&s);
    for (int i = 0; i < n && !tpi_bad(); i++) { /* a size of 1 broadcasts: the other dimension is summed */
        int64_t x = da[i], y = db[i];
        if (a->shape[x] == b->shape[y]) continue;
        if (a->shape[x] == 1) b = as_dtype_of(x_sum_dims(b, &y, 1, true), b);
        else a = as_dtype_of(x_sum_dims(a, &x, 1, true), a);
    }
    return scope_result(&s, c, tpi_bad() ? NULL : tensordot(a, b, da, db, (int)n));
}

int c_tensordot(tp_call *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]);
    int64_t n = arg_i(&c->args[2]), da[TPI_DIMS_CAP], db[TPI_DIMS_CAP];
    if (n < 0 || n > a->ndim || n > b->ndim)
        return tpi_fail(TP_ERR_RUNTIME, "tensordot: dims %lld is out of range for shapes %s and %s", (long long)n,
                        tpi_str(a), tpi_str(b));
    for (int i = 0; i < n; i++) {
        da[i] = a->ndim - n + i;
        db[i] = i;
    }
    return tensordot_call(c, da, n, db, n);
}

int c_tensordot_dims(tp_call *c)
{
    const tp_val *x = &c->args[2], *y = &c->args[3];
    return tensordot_call(c, x->v.ints, x->n, y->v.ints, y->n);
}

int c_kron(tp_call *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]), r;
    int n = a->ndim > b->ndim ? a->ndim : b->ndim;
    if (2 * n > TP_MAX_NDIM) return tpi_fail(TP_ERR_VALUE, "kron: more than %d dimensions", TP_MAX_NDIM / 2);
    int64_t sa[TPI_DIMS_CAP], sb[TPI_DIMS_CAP], shape[TPI_DIMS_CAP];
    for (int d = 0; d < n; d++) {
        int64_t x = d < n - a->ndim ? 1 : a->shape[d - n + a->ndim],
                y = d < n - b->ndim ? 1 : b->shape[d - n + b->ndim];
        sa[2 * d] = x;
        sa[2 * d + 1] = sb[2 * d] = 1;
        sb[2 * d + 1] = y;
        if (__builtin_mul_overflow(x, y, &shape[d]))
            return tpi_fail(TP_ERR_VALUE, "kron: shapes %s and %s have too large a product", tpi_str(a), tpi_str(b));
    }
    tpi_scope s;
    tpi_scope_open(&s);
    r = x_mul(x_reshape_to(a, 2 * n, sa), x_reshape_to(b, 2 * n, sb));
    return scope_result(&s, c, x_reshape_to(r, n, shape));
}

int c_linear(tp_call *c)
{
    T x = arg_t(&c->args[0]), w = arg_t(&c->args[1]), bias = arg_t(&c->args[2]);
    int rc;
    if ((rc = tpi_need_numbers("linear", x, w))) return rc;
    if (w->ndim != 2 && w->ndim != 1)
        return tpi_fail(TP_ERR_RUNTIME, "linear: weight must have 2 dimensions, got shape %s", tpi_str(w));
    if (x->ndim == 0 || x->shape[x->ndim - 1] != w->shape[w->ndim - 1])
        return tpi_fail(TP_ERR_RUNTIME,
                        "linear: input of shape %s does not fit weight of shape %s: the last dimensions "
                        "must agree",
                        tpi_str(x), tpi_str(w));
    if (bias && (w->ndim == 2 ? bias->ndim != 1 || bias->shape[0] != w->shape[0] : bias->ndim != 0))
        return tpi_fail(TP_ERR_RUNTIME, "linear: bias of shape %s does not fit weight of shape %s", tpi_str(bias),
                        tpi_str(w));
    if (w->ndim == 2) return tpi_call(&tpi_op_linear_affine, c->args, c->out);
    tpi_scope s;
    tpi_scope_open(&s);
    T r = tpi_matmul("linear", x, w);
    return scope_result(&s, c, bias ? x_add(r, bias, &tpi_one) : r);
}

int c_trace(tp_call *c)
{
    T t = arg_t(&c->args[0]);
    int rc = need_rank("trace", "self", t, 2);
    if (rc) return rc;
    const int64_t dim = 0;
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_sum_dims(x_diagonal(t, 0, 0, 1), &dim, 1, false));
}
