/* Powers, tensor solves, vector products: composites of solves and products. */
#include "rules/matmul_util.h"

static int matrix_power(tp_call *c, const char *op)
{
    T a = arg_t(&c->args[0]);
    int64_t n = arg_i(&c->args[1]);
    if (a->ndim < 2 || a->shape[a->ndim - 1] != a->shape[a->ndim - 2])
        return tpi_fail(TP_ERR_RUNTIME, "%s: needs square matrices, got shape %s", op, tpi_str(a));
    int rc = tpi_need_numbers(op, a, a);
    if (rc) return rc;
    tpi_scope s;
    tpi_scope_open(&s);
    T r = NULL;
    uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
    if (n < 0) a = x_linalg_inv(a);
    for (T square = a; left && !tpi_bad(); left >>= 1) {
        if (left & 1) r = r ? tpi_product(r, square) : square;
        if (left > 1) square = tpi_product(square, square);
    }
    return scope_result(&s, c, x_clone(r ? r : tpi_eye_like(a)));
}
int c_linalg_matrix_power(tp_call *c) { return matrix_power(c, "linalg.matrix_power"); }
int c_matrix_power(tp_call *c) { return matrix_power(c, "matrix_power"); }

static int64_t product(const int64_t *s, int from, int to)
{
    int64_t p = 1;
    for (int i = from; i < to; i++) p *= s[i];
    return p;
}

int c_linalg_tensorinv(tp_call *c)
{
    T a = arg_t(&c->args[0]);
    int64_t ind = arg_i(&c->args[1]), shape[TPI_DIMS_CAP];
    if (ind <= 0) return tpi_fail(TP_ERR_RUNTIME, "linalg.tensorinv: ind must be positive, got %lld", (long long)ind);
    int k = ind < a->ndim ? (int)ind : a->ndim;
    int64_t flat[2] = {product(a->shape, 0, k), product(a->shape, k, a->ndim)};
    if (flat[0] != flat[1])
        return tpi_fail(TP_ERR_RUNTIME, "linalg.tensorinv: shape %s does not make a square matrix at ind %lld",
                        tpi_str(a), (long long)ind);
    tpi_copy_dims(shape, a->shape + k, a->ndim - k);
    tpi_copy_dims(shape + a->ndim - k, a->shape, k);
    tpi_scope s;
    tpi_scope_open(&s);
    return scope_result(&s, c, x_reshape_to(x_linalg_inv(x_reshape_to(a, 2, flat)), a->ndim, shape));
}

int c_linalg_tensorsolve(tp_call *c)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]);
    int64_t order[TPI_DIMS_CAP];
    bool moved[TPI_DIMS_CAP] = {false};
    int n = c->args[2].tag == TPI_INTS ? c->args[2].n : 0, at = 0;
    tpi_scope s;
    if (n > a->ndim) return tpi_fail(TP_ERR_RUNTIME, "linalg.tensorsolve: %d dims for shape %s", n, tpi_str(a));
    for (int i = 0; i < n; i++) {
        int d, rc = tpi_wrap_dim("linalg.tensorsolve", c->args[2].v.ints[i], a->ndim, &d);
        if (rc) return rc;
        if (moved[d]) return tpi_fail(TP_ERR_RUNTIME, "linalg.tensorsolve: dimension %d appears twice in dims", d);
        moved[d] = true;
        order[a->ndim - n + i] = d;
    }
    for (int d = 0; d < a->ndim; d++)
        if (!moved[d]) order[at++] = d;
    tpi_scope_open(&s);
    if (n) a = x_permute(a, order, a->ndim);
    if (!a) return scope_result(&s, c, NULL);
    int64_t rows = b->numel, columns = b->ndim <= a->ndim ? product(a->shape, b->ndim, a->ndim) : -1;
    if (rows != columns || product(a->shape, 0, a->ndim) != rows * columns) {
        tpi_rule_fail(TP_ERR_RUNTIME, "linalg.tensorsolve: shapes %s and %s do not make a square system", tpi_str(a),
                      tpi_str(b));
        return scope_result(&s, c, NULL);
    }
    int64_t flat[2] = {rows, columns}, shape[TPI_DIMS_CAP];
    int k = a->ndim - b->ndim;
    tpi_copy_dims(shape, a->shape + b->ndim, k);
    T x = x_linalg_solve(x_reshape_to(a, 2, flat), x_reshape_to(b, 1, flat), true);
    return scope_result(&s, c, x_reshape_to(x, k, shape));
}

int c_linalg_vander(tp_call *c)
{
    T x = arg_t(&c->args[0]);
    int64_t n = !arg_none(&c->args[1]) ? arg_i(&c->args[1]) : x->ndim ? x->shape[x->ndim - 1] : 1;
    if (n <= 1) return tpi_fail(TP_ERR_RUNTIME, "linalg.vander: N must be at least 2, got %lld", (long long)n);
    tpi_scope s;
    tpi_scope_open(&s);
    if (!x->ndim) x = x_unsqueeze_at(x, 0);
    int dtype = x && x->dtype < TP_FLOAT16 ? TP_INT64 : x ? x->dtype : 0, at = x ? x->ndim : 0;
    int64_t shape[TPI_DIMS_CAP];
    x = x_unsqueeze_at(x_to_dtype(x, dtype), at);
    if (!x) return scope_result(&s, c, NULL);
    tpi_copy_dims(shape, x->shape, at);
    shape[at] = n - 1;
    T powers = x_cumprod(x_expand_to(x, at + 1, shape), -1, TP_DTYPE_NONE);
    shape[at] = 1;
    T both[2] = {x_ones(shape, at + 1, dtype), powers};
    return scope_result(&s, c, tpi_bad() ? NULL : x_cat(both, 2, -1));
}

int c_linalg_vecdot(tp_call *c)
{
    T x = arg_t(&c->args[0]), y = arg_t(&c->args[1]);
    int dx, dy, rc;
    if ((rc = tpi_need_numbers("linalg.vecdot", x, y))) return rc;
    if ((rc = tpi_wrap_dim("linalg.vecdot", arg_i(&c->args[2]), x->ndim, &dx))) return rc;
    if ((rc = tpi_wrap_dim("linalg.vecdot", arg_i(&c->args[2]), y->ndim, &dy))) return rc;
    if (x->ndim == 0 || y->ndim == 0 || x->shape[dx] != y->shape[dy])
        return tpi_fail(TP_ERR_RUNTIME, "linalg.vecdot: sizes of shapes %s and %s differ in dimension %lld", tpi_str(x),
                        tpi_str(y), (long long)arg_i(&c->args[2]));
    tpi_scope s;
    tpi_scope_open(&s);
    T p = x_mul(x_conj(x), y);
    int64_t dim = arg_i(&c->args[2]);
    if (p) dim = dim < 0 ? dim + p->ndim : dx + (p->ndim - x->ndim);
    return scope_result(&s, c, x_sum_dims(p, &dim, 1, false));
}

static int cross(tp_call *c, const char *op, bool first)
{
    T a = arg_t(&c->args[0]), b = arg_t(&c->args[1]);
    int dim = -1, rc;
    if ((rc = tpi_need_numbers(op, a, b))) return rc;
    if (a->ndim != b->ndim)
        return tpi_fail(TP_ERR_RUNTIME, "%s: numbers of dimensions differ: %s and %s", op, tpi_str(a), tpi_str(b));
    if (first) {
        for (int d = a->ndim - 1; d >= 0; d--)
            if (a->shape[d] == 3 && b->shape[d] == 3) dim = d;
        if (dim < 0)
            return tpi_fail(TP_ERR_RUNTIME, "%s: no dimension of size 3 in %s and %s", op, tpi_str(a), tpi_str(b));
    } else if ((rc = tpi_wrap_dim(op, arg_i(&c->args[2]), a->ndim, &dim))) return rc;
    if (a->ndim == 0 || a->shape[dim] != 3 || b->shape[dim] != 3)
        return tpi_fail(TP_ERR_RUNTIME, "%s: dimension %d must have size 3, got shapes %s and %s", op, dim, tpi_str(a),
                        tpi_str(b));
    tpi_scope s;
    tpi_scope_open(&s);
    T l = x_mul(x_roll_dim(a, -1, dim), x_roll_dim(b, -2, dim)),
      r = x_mul(x_roll_dim(a, -2, dim), x_roll_dim(b, -1, dim));
    return scope_result(&s, c, x_sub(l, r, &tpi_one));
}
int c_linalg_cross(tp_call *c) { return cross(c, "linalg.cross", false); }
int c_cross(tp_call *c) { return cross(c, "cross", arg_none(&c->args[2])); }

typedef struct chain {
    T *t;
    int64_t n, *split;
} chain;

static T chained(const chain *w, int64_t i, int64_t j)
{
    if (i == j) return w->t[i];
    int64_t k = w->split[i * w->n + j];
    T l = chained(w, i, k), r = chained(w, k + 1, j);
    return tpi_bad() ? NULL : x_matmul(l, r);
}

int c_linalg_multi_dot(tp_call *c)
{
    const char *op = "linalg.multi_dot";
    int64_t n = c->args[0].n;
    T *given = c->args[0].v.ts;
    if (n < 2) return tpi_fail(TP_ERR_RUNTIME, "%s: needs at least 2 tensors, got %lld", op, (long long)n);
    for (int64_t i = 0; i < n; i++) {
        int rank = given[i]->ndim;
        if (rank != 2 && !(rank == 1 && (i == 0 || i == n - 1)))
            return tpi_fail(TP_ERR_RUNTIME, "%s: tensor %lld must be a matrix, got shape %s", op, (long long)i,
                            tpi_str(given[i]));
        if (given[i]->dtype != given[0]->dtype)
            return tpi_fail(TP_ERR_RUNTIME, "%s: dtypes differ: %s and %s", op, tp_dtype_name(given[0]->dtype),
                            tp_dtype_name(given[i]->dtype));
        if (i && given[i - 1]->shape[given[i - 1]->ndim - 1] != given[i]->shape[0])
            return tpi_fail(TP_ERR_RUNTIME, "%s: shapes %s and %s do not multiply", op, tpi_str(given[i - 1]),
                            tpi_str(given[i]));
    }
    size_t bytes = (size_t)(n * n) * (sizeof(int64_t) + sizeof(double)) + (size_t)(n + 1) * sizeof(double);
    char *memory = tpi_calloc(bytes);
    if (!memory) return tp_error_code();
    chain w = {.t = given, .n = n, .split = (int64_t *)memory};
    double *cost = (double *)(w.split + n * n), *size = cost + n * n;
    for (int64_t i = 0; i < n; i++) size[i] = i == 0 && given[0]->ndim == 1 ? 1 : (double)given[i]->shape[0];
    size[n] = given[n - 1]->ndim == 1 ? 1 : (double)given[n - 1]->shape[1];
    for (int64_t len = 1; len < n; len++)
        for (int64_t i = 0; i + len < n; i++) {
            int64_t j = i + len;
            cost[i * n + j] = __builtin_inf();
            for (int64_t k = i; k < j; k++) {
                double x = cost[i * n + k] + cost[(k + 1) * n + j] + size[i] * size[k + 1] * size[j + 1];
                if (x < cost[i * n + j]) {
                    cost[i * n + j] = x;
                    w.split[i * n + j] = k;
                }
            }
        }
    tpi_scope s;
    tpi_scope_open(&s);
    T r = chained(&w, 0, n - 1);
    int rc = scope_result(&s, c, r);
    tpi_free(memory, bytes);
    return rc;
}
