/* QR. With X = Q^H dA R^-1 = W + P, W antihermitian and P upper with a real diagonal: dR = P R, dQ = dA R^-1 - Q P. */
#include "rules/matmul_util.h"

/* The upper triangle with half the diagonal. */
static T upper_half(T t) { return x_mul_f(sum_of(x_triu(t, 0), x_triu(t, 1)), 0.5); }

static bool undetermined(const tp_val *complete, const tp_tensor *r)
{
    if (!arg_b(complete) || r->shape[r->ndim - 2] == r->shape[r->ndim - 1]) return false;
    tpi_rule_fail(TP_ERR_RUNTIME, "linalg.qr: mode complete has no derivative for more rows than columns");
    return true;
}

int lin_qr__vjp(tp_vjp_ctx *c)
{
    T q = c->results[0], r = c->results[1], gq = c->grads[0], gr = c->grads[1];
    if (undetermined(&c->args[1], r)) return 0;
    T m = gr ? tpi_product(gr, tpi_mH(r)) : NULL;
    if (gq) m = difference_of(m, tpi_product(tpi_mH(q), gq));
    if (!m) return 0;
    T half = upper_half(m), s = sum_of(gq, tpi_product(q, sum_of(half, tpi_mH(half))));
    c->out[0] = tpi_mH(x_lin_tri(r, tpi_mH(s), true, false));
    return 0;
}

int lin_qr__jvp(tp_jvp_ctx *c)
{
    T q = c->results[0], r = c->results[1], t = c->tangents[0];
    if (!t || undetermined(&c->args[1], r)) return 0;
    T s = tpi_mH(x_lin_tri(tpi_mH(r), tpi_mH(t), false, false)), x = tpi_product(tpi_mH(q), s);
    T p = upper_half(sum_of(x, tpi_mH(x)));
    c->out[0] = difference_of(s, tpi_product(q, p));
    c->out[1] = tpi_product(p, r);
    return 0;
}

static int qr(tp_call *c, const char *op, bool complete, bool only_r)
{
    T a = arg_t(&c->args[0]), out[2] = {NULL};
    int rc = tpi_need_matrix(op, a);
    if (rc) return rc;
    int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1], none = 0;
    tpi_scope s;
    tpi_scope_open(&s);
    if (m >= n) x_lin_qr(a, complete, out);
    else { /* the first m columns make the factors */ x_lin_qr(x_narrow(a, -1, 0, m), false, out);
        if (!tpi_bad()) {
            T both[2] = {out[1], tpi_product(tpi_mH(out[0]), x_narrow(a, -1, m, n - m))};
            out[1] = tpi_bad() ? NULL : x_cat(both, 2, -1);
        }
    }
    T q = only_r && !tpi_bad() ? x_zeros_shape(a->dtype, 1, &none) : out[0];
    return scope_results(&s, c, q, out[1]);
}

int c_linalg_qr(tp_call *c)
{
    const char *mode = c->args[1].v.str;
    if (strcmp(mode, "reduced") && strcmp(mode, "complete") && strcmp(mode, "r"))
        return tpi_fail(TP_ERR_RUNTIME, "linalg.qr: mode must be reduced, complete or r, got %s", mode);
    return qr(c, "linalg.qr", !strcmp(mode, "complete"), !strcmp(mode, "r"));
}
int c_qr(tp_call *c) { return qr(c, "qr", !arg_b(&c->args[1]), false); }
