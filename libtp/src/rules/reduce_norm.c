/* The public norms. */
#include <math.h>

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
    return vector_norm(c, strcmp(c->op->name, "norm") ? "vector_norm" : "norm", number(&c->args[1]));
}

int c_norm_str(tp_call *c)
{
    const char *p = c->args[1].v.str;
    if (strcmp(p, "fro")) return tpi_fail(TP_ERR_VALUE, "norm: p must be a number or \"fro\", got \"%s\"", p);
    return vector_norm(c, "norm", 2);
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

static int matrix_norm(tp_call *c, const char *op, double ord)
{
    T self = arg_t(&c->args[0]);
    int row, col, rc = matrix_dims(op, self, &c->args[2], &row, &col);
    if (rc) return rc;
    if (fabs(ord) == 2)
        return tpi_fail(TP_ERR_NOT_IMPLEMENTED, "%s: ord %g needs singular values, which are not there yet", op, ord);
    if (fabs(ord) != 1 && !isinf(ord))
        return tpi_fail(TP_ERR_VALUE, "%s: ord %g is no norm of matrices (1, -1, inf, -inf, \"fro\")", op, ord);
    int64_t add = fabs(ord) == 1 ? row : col, best = fabs(ord) == 1 ? col : row;
    bool keepdim = arg_b(&c->args[3]);
    tpi_scope s;
    tpi_scope_open(&s);
    T x, r = NULL;
    if ((rc = checked(c, op, &x))) {
        s.failed = rc;
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

static int frobenius(tp_call *c, const char *op)
{
    const char *ord = c->args[1].v.str;
    int row, col, rc = matrix_dims(op, arg_t(&c->args[0]), &c->args[2], &row, &col);
    if (rc) return rc;
    if (!strcmp(ord, "nuc"))
        return tpi_fail(TP_ERR_NOT_IMPLEMENTED, "%s: ord \"nuc\" needs singular values, which are not there yet", op);
    if (strcmp(ord, "fro")) return tpi_fail(TP_ERR_VALUE, "%s: ord must be a number or \"fro\", got \"%s\"", op, ord);
    return vector_norm(c, op, 2);
}

int c_matrix_norm(tp_call *c) { return matrix_norm(c, "matrix_norm", number(&c->args[1])); }
int c_matrix_norm_str(tp_call *c) { return frobenius(c, "matrix_norm"); }

int c_linalg_norm(tp_call *c)
{
    T self = arg_t(&c->args[0]);
    const tp_val *ord = &c->args[1], *dim = &c->args[2];
    if (arg_none(ord)) return vector_norm(c, "norm", 2);
    if (arg_none(dim) ? self->ndim < 2 : dim->n == 1) return vector_norm(c, "norm", number(ord));
    return matrix_norm(c, "norm", number(ord));
}

int c_linalg_norm_str(tp_call *c) { return frobenius(c, "norm"); }
