/* Special functions that a formula can't say. */
#include <math.h>

#include "rules/reduce_util.h"

/* DLMF 35.3.4: p (p - 1) / 4 log(pi) + the sum of lgamma(x - j / 2) over j < p, over a new last dimension */
int c_mvlgamma(tp_call *c)
{
    tp_tensor *self = arg_t(&c->args[0]);
    int64_t p = arg_i(&c->args[1]);
    if (p < 1) return tpi_fail(TP_ERR_RUNTIME, "mvlgamma: p must be at least 1, got %lld", (long long)p);
    if (tpi_is_complex(self->dtype))
        return tpi_fail(TP_ERR_TYPE, "mvlgamma: dtype %s is not supported", tp_dtype_name(self->dtype));
    tpi_scope s;
    tpi_scope_open(&s);
    tp_tensor *sum = x_add_f(x_lgamma(self), 0.25 * (double)p * (double)(p - 1) * 1.14472988584940017414, &tpi_one);
    for (int64_t j = 1; j < p && !s.failed; j++)
        sum = x_add(sum, x_lgamma(x_add_f(self, -0.5 * (double)j, &tpi_one)), &tpi_one);
    return scope_result(&s, c, sum);
}
