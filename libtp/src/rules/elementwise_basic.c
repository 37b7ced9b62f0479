/* Composites and rules of elementwise arithmetic that the table does not say. */
#include "core/error.h"
#include "core/scope.h"
#include "dispatch/op.h"
#include "tpi_ops.h"
#include "x_ops.h"

/* A real tensor is its own conjugate: formulas conjugate everywhere, and it must cost nothing. */
int c_conj(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    if (!tpi_is_complex(t->dtype)) {
        c->out[0] = tpi_retain(t);
        return 0;
    }
    return tpi_call(&tpi_op_conj_physical, c->args, c->out);
}

static bool scalar_is_one(const tp_val *a)
{
    if (a->tag != TPI_SCALAR)
        return true;
    const tp_scalar *s = &a->v.s;
    return s->tag == TP_SCALAR_FLOAT ? s->v.f == 1.0
           : s->tag == TP_SCALAR_COMPLEX ? s->v.c[0] == 1.0 && s->v.c[1] == 0.0 : s->v.u == 1;
}

/* g * conj(alpha) */
static T times_alpha(T g, const tp_val *alpha)
{
    if (scalar_is_one(alpha))
        return g;
    tp_scalar s = alpha->v.s;
    if (s.tag == TP_SCALAR_COMPLEX)
        s.v.c[1] = -s.v.c[1];
    return x_mul(g, tpi_own(tp_weak_scalar(&s)));
}

int add__vjp(tp_vjp_ctx *c)
{
    T g = c->grads[0];
    if (c->need[0])
        c->out[0] = g;
    if (c->need[1])
        c->out[1] = times_alpha(g, &c->args[2]);
    return 0;
}
