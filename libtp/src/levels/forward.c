/* The forward-mode interpreter: dual handles, and the classes of forward rules. */
#include "levels/graph.h"
#include "levels/levels.h"

#include <stdlib.h>

#include "tpi_ops.h"
#include "x_ops.h"

/* A tangent has its output's shape and dtype: formulas of broadcasting operators may give less. */
static T fit_tangent(T t, const tp_tensor *like)
{
    if (!t) return NULL;
    return x_expand_to(x_to_dtype(t, like->dtype), like->ndim, like->shape);
}

int tpi_forward_interpret(const tpi_level_ref *l, uint64_t id, const tp_op *op, tp_val *args, tp_tensor **out)
{
    tp_val lower[TPI_MAX_ARGS];
    tp_tensor *few[16], *few_tangent[16], **heap, **heap_tangent = NULL;
    int rc = tpi_lower_args(op, args, id, lower, &heap, few, 16);
    if (rc) return rc;
    rc = tpi_call(op, lower, out);
    if (rc || l->masked || !op->jvp) {
        free(heap);
        return rc;
    }
    tp_tensor *tangents[TPI_MAX_ARGS] = {NULL};
    tp_tensor **tangent_list[TPI_MAX_ARGS] = {NULL};
    int n = 0;
    bool any = false;
    for (int i = 0; i < op->nargs; i++)
        if (args[i].tag == TPI_TENSORS) n += args[i].n;
    tp_tensor **lists = few_tangent;
    if (n > 16) {
        lists = heap_tangent = malloc(sizeof *lists * (size_t)n);
        if (!lists) rc = tpi_fail(TP_ERR_MEMORY, "out of memory: %s", op->name);
    }
    for (int i = 0; i < op->nargs && !rc; i++) {
        if (args[i].tag == TPI_TENSOR) {
            tp_tensor *t = args[i].v.t;
            if (op->args[i].differentiable && t->level == id) tangents[i] = t->tangent;
            any |= tangents[i] != NULL;
        } else if (args[i].tag == TPI_TENSORS) {
            bool here = false;
            for (int j = 0; j < args[i].n; j++) {
                tp_tensor *t = args[i].v.ts[j];
                lists[j] = op->args[i].differentiable && t && t->level == id ? t->tangent : NULL;
                here |= lists[j] != NULL;
            }
            if (here) tangent_list[i] = lists;
            any |= here;
            lists += args[i].n;
        }
    }
    if (any && !rc) {
        tp_tensor *made[TPI_MAX_OUTS] = {NULL};
        tpi_scope scope;
        tpi_scope_open(&scope);
        tp_jvp_ctx c = {op, lower, out, tangents, (tp_tensor *const *const *)tangent_list, made};
        rc = op->jvp(&c);
        if (!rc) rc = scope.failed;
        int origin = l->level->origin;
        for (int k = 0; k < op->nouts && !rc; k++) {
            if (!made[k] || ((op->out_nondiff >> k) & 1) || !tpi_is_differentiable(out[k]->dtype)) continue;
            T t = fit_tangent(made[k], out[k]);
            if ((rc = scope.failed)) break;
            tp_tensor *w = tpi_dual_new(out[k], tpi_retain(t), id, origin);
            out[k] = w;
            if (!w) rc = TP_ERR_MEMORY;
        }
        int closed = tpi_scope_close(&scope);
        if (!rc) rc = closed;
    }
    free(heap);
    free(heap_tangent);
    return rc;
}

/* ---- rule classes ---- */

/* Linear in all its differentiable tensors together: the operator of the tangents. */
int tpi_jvp_linear(tp_jvp_ctx *c)
{
    tp_val a[TPI_MAX_ARGS];
    tp_tensor *few[32], **list = few, **heap = NULL;
    int rc = TP_OK;
    memcpy(a, c->args, sizeof(tp_val) * (size_t)c->op->nargs);
    for (int i = 0; i < c->op->nargs; i++) {
        if (!c->op->args[i].differentiable) continue;
        if (a[i].tag == TPI_TENSOR) a[i].v.t = c->tangents[i] ? c->tangents[i] : x_zeros_like(a[i].v.t);
        else if (a[i].tag == TPI_TENSORS) {
            if (a[i].n > 32 || heap) {
                if (heap) return tpi_fail(TP_ERR_RUNTIME, "%s: two long tensor lists", c->op->name);
                list = heap = malloc(sizeof *heap * (size_t)a[i].n);
                if (!heap) return tpi_fail(TP_ERR_MEMORY, "out of memory: %s", c->op->name);
            }
            for (int j = 0; j < a[i].n; j++) {
                T t = c->tangent_list[i] ? c->tangent_list[i][j] : NULL;
                list[j] = t ? t : x_zeros_like(a[i].v.ts[j]);
            }
            a[i].v.ts = list;
        }
    }
    if (tpi_bad()) rc = tpi_scope_top->failed;
    else rc = tpi_rule_call(c->op, a, c->out);
    free(heap);
    return rc;
}

int tpi_jvp_bilinear(tp_jvp_ctx *c)
{
    T sum = NULL;
    for (int i = 0; i < c->op->nargs; i++) {
        if (!c->tangents[i]) continue;
        tp_val a[TPI_MAX_ARGS];
        tp_tensor *r[TPI_MAX_OUTS];
        memcpy(a, c->args, sizeof(tp_val) * (size_t)c->op->nargs);
        a[i].v.t = c->tangents[i];
        int rc = tpi_rule_call(c->op, a, r);
        if (rc) return rc;
        sum = sum ? x_add(sum, r[0], &tpi_one) : r[0];
    }
    c->out[0] = sum;
    return tpi_scope_top->failed;
}

/* From the reverse formulas: for an elementwise holomorphic f they say g * conj(f'), so the tangent is
 * conj(rule(conj(t))). */
int tpi_jvp_elementwise(tp_jvp_ctx *c)
{
    T sum = NULL;
    for (int i = 0; i < c->op->nargs; i++) {
        if (!c->tangents[i]) continue;
        bool z = tpi_is_complex(c->results[0]->dtype);
        tp_tensor *grad = z ? x_conj(c->tangents[i]) : c->tangents[i];
        uint8_t need[TPI_MAX_ARGS] = {0};
        tp_tensor *out[TPI_MAX_ARGS] = {NULL};
        need[i] = 1;
        tp_vjp_ctx v = {c->op, c->args, c->results, &grad, need, out, NULL, NULL};
        int rc = tpi_bad() ? tpi_scope_top->failed : c->op->vjp(&v);
        if (rc) return rc;
        T t = z ? x_conj(out[i]) : out[i];
        if (!t) continue;
        sum = sum ? x_add(sum, t, &tpi_one) : t;
    }
    c->out[0] = sum;
    return tpi_scope_top->failed;
}

int tpi_jvp_zero(tp_jvp_ctx *c)
{
    (void)c;
    return TP_OK;
}

/* ---- wrapping and unwrapping ---- */

tp_tensor *tp_forward_wrap(tp_tensor *primal, tp_tensor *tangent, uint64_t level)
{
    tpi_level_ref l;
    if (tpi_fresh(primal) || (tangent && tpi_fresh(tangent)) || tpi_level_find(level, primal, &l)) return NULL;
    if (tangent &&
        (tangent->ndim != primal->ndim || memcmp(tangent->shape, primal->shape, sizeof(int64_t) * primal->ndim)))
        return tpi_null(TP_ERR_VALUE, "jvp: the tangent has shape %s, the primal %s", tpi_str(tangent),
                        tpi_str(primal));
    if (tangent && tangent->dtype != primal->dtype)
        return tpi_null(TP_ERR_TYPE, "jvp: the tangent has dtype %s, the primal %s", tp_dtype_name(tangent->dtype),
                        tp_dtype_name(primal->dtype));
    return tpi_dual_new(tpi_alias(primal), tangent ? tpi_snapshot(tangent) : NULL, level, l.level->origin);
}

tp_tensor *tp_forward_primal(tp_tensor *t, uint64_t level)
{
    if (tpi_fresh(t) || !(t = tpi_peel_ambient(t, level))) return NULL;
    return tpi_retain(t->kind == TPI_DUAL && t->level == level ? t->value : t);
}

tp_tensor *tp_forward_tangent(tp_tensor *t, uint64_t level)
{
    tp_error_clear();
    if (tpi_fresh(t) || !(t = tpi_peel_ambient(t, level))) return NULL;
    return t->kind == TPI_DUAL && t->level == level ? tpi_retain(t->tangent) : NULL;
}
