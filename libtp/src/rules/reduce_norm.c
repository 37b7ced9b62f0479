/* The public norms. */
#include <math.h>

#include "rules/matmul_util.h"
#include "rules/reduce_util.h"

static double number(const tp_val *v)
{
    if (arg_none(v)) return 2;
    const tp_scalar *s = &v->v.s;
    switch (s->tag) {
    case TP_SCALAR_FLOAT: return s->v.f;
    case TP_SCALAR_UINT: return (double)s->v.u;
    case TP_SCALAR_COMPLEX: return NAN;
    default: return (double)s->v.i;
    }
}

/* Where the arguments stand: self, ord, dim, keepdim, dtype. */
static int checked(tp_call *c, const char *op, T *x)
{
    T self = arg_t(&c->args[0]);
    if (!arg_none(&c->args[4])) {
        int dtype = (int)arg_i(&c->args[4]);
        if (dtype < TP_FLOAT16 || (tpi_is_complex(self->dtype) && !tpi_is_complex(dtype)))
            return tpi_fail(TP_ERR_TYPE, "%s: dtype %s does not fit a tensor of %s", op, tp_dtype_name(dtype),
                            tp_dtype_name(self->dtype));
    } else {
        int rc = tpi_need_float(op, self, true);
        if (rc) return rc;
    }
    *x = tpi_as(self, &c->args[4], false);
    return *x ? 0 : tp_error_code();
}

static int vector_norm(tp_call *c, const char *op, double p)
{
    tpi_dims d;
    int rc = tpi_get_dims(op, arg_t(&c->args[0]), &c->args[2], &d);
    if (rc) return rc;
    if (isnan(p)) return tpi_fail(TP_ERR_VALUE, "%s: the order must be a real number", op);
    tpi_scope s;
    tpi_scope_open(&s);
    T x, r = NULL;
    if ((rc = checked(c, op, &x))) s.failed = rc;
    else r = x_norm_dims(x, p, d.v, d.n, arg_b(&c->args[3]));
    return scope_result(&s, c, r);
}

int c_norm(tp_call *c)
{
    return vector_norm(c, strcmp(c->op->name, "norm") ? "linalg.vector_norm" : "norm", number(&c->args[1]));
}

/* Two distinct dimensions in the order given. */
static int matrix_dims(const char *op, T self, const tp_val *dim, int *row, int *col)
{
    int rc;
    if (self->ndim < 2)
        return tpi_fail(TP_ERR_VALUE, "%s: a matrix has two dimensions, self has shape %s", op, tpi_str(self));
    if (arg_none(dim)) {
        *row = 0;
        *col = 1;
        return self->ndim == 2
                   ? 0
                   : tpi_fail(TP_ERR_VALUE, "%s: dim must name two dimensions of shape %s", op, tpi_str(self));
    }
    if (dim->n != 2) return tpi_fail(TP_ERR_VALUE, "%s: dim must name two dimensions, got %d", op, dim->n);
    if ((rc = tpi_wrap_dim(op, dim->v.ints[0], self->ndim, row)) ||
        (rc = tpi_wrap_dim(op, dim->v.ints[1], self->ndim, col)))
        return rc;
    return *row != *col ? 0 : tpi_fail(TP_ERR_VALUE, "%s: dim names dimension %d twice", op, *row);
}

/* The largest, smallest or all singular values of the matrices in two dimensions. */
static T of_singular_values(const char *op, T x, int row, int col, double ord, bool keepdim)
{
    const int64_t from[2] = {row, col}, to[2] = {-2, -1};
    int64_t back[2] = {row < col ? row : col, row < col ? col : row};
    T values = x_lin_svdvals(x_movedim(x, from, 2, to, 2), op);
    if (tpi_bad()) return NULL;
    int64_t last = values->ndim - 1;
    T r = ord == 0  ? x_sum_dims(values, &last, 1, false)
          : ord > 0 ? x_amax_dims(values, &last, 1, false)
                    : x_amin_dims(values, &last, 1, false);
    return keepdim ? x_unsqueeze_at(x_unsqueeze_at(r, (int)back[0]), (int)back[1]) : r;
}

static int matrix_norm(tp_call *c, const char *op, double ord)
{
    T self = arg_t(&c->args[0]);
    int row, col, rc = matrix_dims(op, self, &c->args[2], &row, &col);
    if (rc) return rc;
    if (fabs(ord) != 1 && fabs(ord) != 2 && !isinf(ord))
        return tpi_fail(TP_ERR_VALUE, "%s: ord %g is no norm of matrices (1, -1, 2, -2, inf, -inf, \"fro\", \"nuc\")",
                        op, ord);
    int64_t add = fabs(ord) == 1 ? row : col, best = fabs(ord) == 1 ? col : row;
    bool keepdim = arg_b(&c->args[3]);
    tpi_scope s;
    tpi_scope_open(&s);
    T x, r = NULL;
    if ((rc = checked(c, op, &x))) {
        s.failed = rc;
    } else if (fabs(ord) == 2) {
        r = of_singular_values(op, x, row, col, ord, keepdim);
    } else {
        T sums = x_norm_dims(x, 1, &add, 1, true);
        int64_t both[2] = {best, add};
        if (best > add) {
            both[0] = add;
            both[1] = best;
        }
        r = ord > 0 ? x_amax_dims(sums, both, 2, keepdim) : x_amin_dims(sums, both, 2, keepdim);
    }
    return scope_result(&s, c, r);
}

static int named_norm(tp_call *c, const char *op)
{
    const char *ord = c->args[1].v.str;
    int row, col, rc;
    if (strcmp(ord, "fro") && strcmp(ord, "nuc"))
        return tpi_fail(TP_ERR_VALUE, "%s: ord must be a number, \"fro\" or \"nuc\", got \"%s\"", op, ord);
    if ((rc = matrix_dims(op, arg_t(&c->args[0]), &c->args[2], &row, &col))) return rc;
    if (!strcmp(ord, "fro")) return vector_norm(c, op, 2);
    tpi_scope s;
    tpi_scope_open(&s);
    T x, r = NULL;
    if ((rc = checked(c, op, &x))) s.failed = rc;
    else r = of_singular_values(op, x, row, col, 0, arg_b(&c->args[3]));
    return scope_result(&s, c, r);
}

int c_norm_str(tp_call *c)
{
    /* The Frobenius norm is that of any number of dimensions here. */
    return strcmp(c->args[1].v.str, "fro") ? named_norm(c, "norm") : vector_norm(c, "norm", 2);
}

int c_matrix_norm(tp_call *c) { return matrix_norm(c, "linalg.matrix_norm", number(&c->args[1])); }
int c_matrix_norm_str(tp_call *c) { return named_norm(c, "linalg.matrix_norm"); }

int c_linalg_norm(tp_call *c)
{
    T self = arg_t(&c->args[0]);
    const tp_val *ord = &c->args[1], *dim = &c->args[2];
    if (arg_none(ord)) return vector_norm(c, "linalg.norm", 2);
    if (arg_none(dim) ? self->ndim < 2 : dim->n == 1) return vector_norm(c, "linalg.norm", number(ord));
    return matrix_norm(c, "linalg.norm", number(ord));
}

int c_linalg_norm_str(tp_call *c) { return named_norm(c, "linalg.norm"); }
