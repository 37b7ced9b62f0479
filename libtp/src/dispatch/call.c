/* Dispatch: promotion, the level that decides, kernels, in-place forms. See the note in op.h. */
#include "dispatch/op.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/kernels.h"
#include "levels/graph.h"
#include "levels/levels.h"
#include "tpi_ops.h"

/* Brings an integer into the range of an integer dtype, and says whether it was outside. */
static bool limit(tp_scalar *s, int dtype)
{
    if (dtype < TP_UINT8 || dtype > TP_INT64 || (s->tag != TP_SCALAR_INT && s->tag != TP_SCALAR_UINT)) return false;
    int spare = 64 - 8 * tpi_esize(dtype);
    bool is_unsigned = dtype == TP_UINT8 || dtype == TP_UINT16 || dtype == TP_UINT32 || dtype == TP_UINT64;
    int64_t low = is_unsigned ? 0 : INT64_MIN >> spare;
    uint64_t high = is_unsigned ? UINT64_MAX >> spare : (uint64_t)(INT64_MAX >> spare);
    bool negative = s->tag == TP_SCALAR_INT && s->v.i < 0;
    if (negative ? s->v.i >= low : s->v.u <= high) return false;
    *s = negative ? (tp_scalar){.tag = TP_SCALAR_INT, .v.i = low} : (tp_scalar){.tag = TP_SCALAR_UINT, .v.u = high};
    return true;
}

static bool is_number(const tp_tensor *t) { return t->kind == TPI_DENSE && t->ndim == 0; }

/* Brings the tensor arguments that take part in promotion to one dtype. held: casts to release afterwards. */
static int promote(const tp_op *op, tp_val *args, tp_tensor **held, int *nheld)
{
    tp_tensor *ts[TPI_MAX_ARGS];
    int at[TPI_MAX_ARGS], n = 0;
    for (int i = 0; i < op->nargs; i++)
        if (op->args[i].weak && args[i].tag == TPI_TENSOR) {
            at[n] = i;
            ts[n++] = args[i].v.t;
        }
    if (!n) return TP_OK;
    int target = ts[0]->dtype;
    bool same = !(ts[0]->flags & TPI_F_WEAK);
    for (int i = 1; i < n; i++) same &= ts[i]->dtype == target && !(ts[i]->flags & TPI_F_WEAK);
    if (!same) target = tpi_result_type(n, ts);
    if (op->promote == TPI_PROMOTE_FLOAT && !tpi_is_differentiable(target)) target = tp_get_default_dtype();
    if (op->promote == TPI_PROMOTE_NO_BOOL && target == TP_BOOL) target = TP_INT64;
    if (op->promote == TPI_PROMOTE_COMPARE)
        for (int i = 0; i < n; i++) {
            if (ts[i]->dtype == target || !is_number(ts[i])) continue;
            tp_scalar s;
            tpi_load_scalar(tpi_data(ts[i]), ts[i]->dtype, &s);
            if (limit(&s, target)) target = TP_FLOAT64;
        }
    for (int i = 0; i < n; i++) {
        tp_tensor *t = ts[i], *c = NULL;
        if (t->dtype == target) continue;
        if (is_number(t)) {
            tp_scalar s;
            tpi_load_scalar(tpi_data(t), t->dtype, &s);
            if (op->promote == TPI_PROMOTE_BOUND) limit(&s, target);
            c = tp_scalar_tensor(&s, target);
        } else {
            tp_val a[2] = {val_t(t), val_dtype(target)};
            tpi_call(&tpi_op_cast, a, &c);
        }
        if (!c) return tp_error_code();
        held[(*nheld)++] = c;
        args[at[i]].v.t = c;
    }
    return TP_OK;
}

/* The same for the entries of a list. *list: the new entries, then the casts, which the caller releases. */
static int promote_list(tp_val *a, tp_tensor ***list)
{
    int n = a->n;
    bool same = true;
    for (int i = 0; i < n; i++) {
        if (!a->v.ts[i]) return TP_OK;
        same &= a->v.ts[i]->dtype == a->v.ts[0]->dtype;
    }
    if (same) return TP_OK;
    int target = tpi_result_type(n, a->v.ts);
    tp_tensor **ts = *list = calloc(2 * (size_t)n, sizeof *ts);
    if (!ts) return tpi_fail(TP_ERR_MEMORY, "out of memory: a list of %d tensors", n);
    for (int i = 0; i < n; i++) {
        ts[i] = a->v.ts[i];
        if (ts[i]->dtype == target) continue;
        tp_val c[2] = {val_t(ts[i]), val_dtype(target)};
        if (tpi_call(&tpi_op_cast, c, &ts[n + i])) return tp_error_code();
        ts[i] = ts[n + i];
    }
    a->v.ts = ts;
    return TP_OK;
}

/* The highest level among the tensor arguments; checks required ones and refreshes views. */
static int top_level(const tp_op *op, tp_val *args, uint64_t *level, tp_tensor **culprit)
{
    uint64_t top = 0;
    for (int i = 0; i < op->nargs; i++) {
        if (args[i].tag == TPI_TENSOR) {
            tp_tensor *t = args[i].v.t;
            int rc = tpi_fresh(t);
            if (rc) return rc;
            if (t->level > top) {
                top = t->level;
                *culprit = t;
            }
        } else if (args[i].tag == TPI_TENSORS) {
            for (int j = 0; j < args[i].n; j++) {
                tp_tensor *t = args[i].v.ts[j];
                if (!t) continue;
                int rc = tpi_fresh(t);
                if (rc) return rc;
                if (t->level > top) {
                    top = t->level;
                    *culprit = t;
                }
            }
        } else if (args[i].tag == TPI_NONE && !op->args[i].optional)
            return tpi_fail(TP_ERR_VALUE, "%s: argument '%s' is missing (NULL)", op->name, op->args[i].name);
    }
    *level = top;
    return TP_OK;
}

static int interpret(const tp_op *op, tp_val *args, tp_tensor **out, uint64_t level, tp_tensor *culprit)
{
    tpi_level_ref l;
    int rc = tpi_level_find(level, culprit, &l);
    if (rc) return rc;
    switch (l.kind) {
    case TP_LEVEL_VMAP: return tpi_vmap_interpret(&l, level, op, args, out);
    case TP_LEVEL_REVERSE: return tpi_reverse_interpret(&l, level, op, args, out);
    default: return tpi_forward_interpret(&l, level, op, args, out);
    }
}

/* Random operators have no tensor argument: every active vmap level is asked, innermost first. */
static int random_call(const tp_op *op, tp_val *args, tp_tensor **out, int depth)
{
    for (int i = depth - 1; i >= 0; i--) {
        if (tpi_levels.levels[i].kind != TP_LEVEL_VMAP) continue;
        tpi_level l = tpi_levels.levels[i];
        if (l.randomness == TP_RANDOM_ERROR)
            return tpi_fail(TP_ERR_RUNTIME,
                            "%s: random operations are not allowed under randomness=error; pass "
                            "randomness=\"different\" or \"same\" to vmap",
                            op->name);
        if (l.randomness == TP_RANDOM_SAME) return random_call(op, args, out, i);
        int64_t size[TP_MAX_NDIM + 1];
        if (args[0].n >= TP_MAX_NDIM)
            return tpi_fail(TP_ERR_VALUE, "%s: more than %d dimensions", op->name, TP_MAX_NDIM);
        size[0] = l.batch;
        if (args[0].n) memcpy(size + 1, args[0].v.ints, sizeof(int64_t) * (size_t)args[0].n);
        tp_val inner[TPI_MAX_ARGS];
        memcpy(inner, args, sizeof(tp_val) * (size_t)op->nargs);
        inner[0] = val_ints(size, args[0].n + 1);
        tp_tensor *value = NULL;
        int rc = random_call(op, inner, &value, i);
        if (rc) return rc;
        out[0] = tpi_batched_new(value, l.id, 0);
        return out[0] ? TP_OK : TP_ERR_MEMORY;
    }
    tp_call c = {op, args, out, op->nouts};
    return op->kernel(&c);
}

static int dispatch(const tp_op *op, tp_val *args, tp_tensor **out)
{
    uint64_t level = 0;
    tp_tensor *culprit = NULL;
    int rc = top_level(op, args, &level, &culprit);
    if (rc) return rc;
    if (level) rc = interpret(op, args, out, level, culprit);
    else if ((op->flags & TPI_OP_RANDOM) && tpi_levels.nvmap) rc = random_call(op, args, out, tpi_levels.depth);
    else {
        tp_call c = {op, args, out, op->nouts};
        rc = op->kernel(&c);
    }
    /* a masked level hands back a view of its inner value, which has its family already */
    if (!rc && (op->flags & TPI_OP_VIEW) && !out[0]->base) rc = tpi_set_alias(out[0], args[0].v.t, op, args);
    return rc;
}

/* What dispatch checks for other operators: required arguments, and (in a checked build) handles. */
static int check_args(const tp_op *op, const tp_val *args)
{
    for (int i = 0; i < op->nargs; i++) {
        if (args[i].tag == TPI_NONE && !op->args[i].optional)
            return tpi_fail(TP_ERR_VALUE, "%s: argument '%s' is missing (NULL)", op->name, op->args[i].name);
        if (args[i].tag == TPI_TENSOR && tpi_check_handle(args[i].v.t)) return TP_ERR_VALUE;
        for (int j = 0; args[i].tag == TPI_TENSORS && j < args[i].n; j++)
            if (args[i].v.ts[j] && tpi_check_handle(args[i].v.ts[j])) return TP_ERR_VALUE;
    }
    return TP_OK;
}

static void drop(tp_tensor **out, int n)
{
    for (int i = 0; i < n; i++) {
        tp_release(out[i]);
        out[i] = NULL;
    }
}

/* The name that users know: "linalg.inv" for linalg_inv, without an overload's. */
static void shown_name(const tp_op *op, char *out, size_t size)
{
    static const char *const spaces[] = {"linalg_", "fft_", "special_", "masked_"}, *const own[] = {"fill", "scatter",
                                                                                                    "select"};
    size_t start = 0;
    snprintf(out, size, "%s", op->name);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (!strncmp(out, spaces[i], strlen(spaces[i]))) start = strlen(spaces[i]);
    out[start + strcspn(out + start, ".")] = 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (start && *out == 'm' && !strcmp(out + start, own[i]))
            start = 0; /* masked_fill is no function of a namespace */
    if (start) out[start - 1] = '.';
}

/* A public composite was called, so it is the one to be named, not an operator that it is made of: "bincount: ..."
 * rather than "scatter_add: ...". Messages that begin otherwise are left alone. */
static int named(const tp_op *op, int rc)
{
    char word[64], name[64], text[1024];
    const char *message = tp_error_message();
    if (!rc || rc == TP_ERR_CALLBACK || rc == TP_ERR_MEMORY || (op->flags & (TPI_OP_INTERNAL | TPI_OP_CUSTOM)))
        return rc;
    size_t n = strcspn(message, ": ");
    if (!n || n >= sizeof word || message[n] != ':') return rc;
    memcpy(word, message, n);
    word[n] = 0;
    shown_name(op, name, sizeof name);
    if (word[n - 1] == '_') word[n - 1] = 0; /* an in-place form */
    if (!strcmp(word, name)) return rc;
    if (!tpi_op_find(word)) {
        for (char *c = word; *c; c++)
            if (*c == '.') *c = '_';
        if (!tpi_op_find(word)) return rc;
    }
    snprintf(text, sizeof text, "%s%s", name, message + n);
    return tpi_fail(rc, "%s", text);
}

int tpi_call(const tp_op *op, tp_val *args, tp_tensor **out)
{
    int rc;
    for (int i = 0; i < op->nouts; i++) out[i] = NULL;
    if (op->composite) {
        if ((rc = check_args(op, args))) return rc;
        tp_call c = {op, args, out, op->nouts};
        rc = named(op, op->composite(&c));
    } else if (op->promote) {
        tp_tensor *held[TPI_MAX_ARGS];
        tp_val mine[TPI_MAX_ARGS];
        tp_tensor **list = NULL;
        int n = 0, length = 0;
        memcpy(mine, args, sizeof(tp_val) * (size_t)op->nargs);
        rc = promote(op, mine, held, &n);
        if (args[0].tag == TPI_TENSORS && !rc) {
            length = args[0].n;
            rc = promote_list(&mine[0], &list);
        }
        if (!rc) rc = dispatch(op, mine, out);
        drop(held, n);
        if (list) {
            drop(list + length, length);
            free(list);
        }
    } else rc = dispatch(op, args, out);
    if (rc) drop(out, op->nouts);
    return rc;
}

int tpi_call_list(const tp_op *op, tp_val *args, tp_tensor ***out, int64_t *n)
{
    *out = NULL;
    *n = 0;
    int rc = check_args(op, args);
    if (rc) return rc;
    tp_call c = {op, args, NULL, 0};
    rc = named(op, op->composite(&c));
    if (rc) {
        if (c.out) tp_free_list(c.out, c.nout);
        return rc;
    }
    *out = c.out;
    *n = c.nout;
    return TP_OK;
}

void tp_free_list(tp_tensor **list, int64_t n)
{
    if (!list) return;
    for (int64_t i = 0; i < n; i++) tp_release(list[i]);
    tpi_free(list, sizeof *list * (size_t)n);
}

/* ---- in-place forms ----
 * On memory that no level records: the kernel writes into self, or its result is copied there. Anywhere else the
 * out-of-place operator and one level-aware write (copy_) give value, history and tangent together. */

/* self takes the result of op, if dtype and shape allow it. */
static int store_result(const tp_op *op, tp_tensor *self, tp_tensor *result)
{
    if (!tpi_can_cast(result->dtype, self->dtype))
        return tpi_fail(TP_ERR_RUNTIME, "%s_: result type %s cannot be stored in %s", op->name,
                        tp_dtype_name(result->dtype), tp_dtype_name(self->dtype));
    if (result->ndim != self->ndim || memcmp(result->shape, self->shape, sizeof(int64_t) * self->ndim))
        return tpi_fail(TP_ERR_RUNTIME, "%s_: the result has shape %s, self has %s", op->name, tpi_str(result),
                        tpi_str(self));
    return tpi_copy_(self, result);
}

static int inplace_plain(const tp_op *op, tp_val *args)
{
    tp_tensor *self = args[0].v.t;
    int rc = tpi_check_writable(op->name, self);
    if (rc) return rc;
    tp_tensor *out[TPI_MAX_OUTS] = {NULL};
    if ((op->flags & TPI_OP_INPLACE_KERNEL) && op->promote == TPI_PROMOTE_NONE) {
        out[0] = self;
        tp_call c = {op, args, out, op->nouts};
        return op->kernel(&c);
    }
    if (op->flags & TPI_OP_INPLACE_KERNEL) {
        tp_tensor *held[TPI_MAX_ARGS];
        tp_val mine[TPI_MAX_ARGS];
        int n = 0;
        memcpy(mine, args, sizeof(tp_val) * (size_t)op->nargs);
        rc = promote(op, mine, held, &n);
        if (!rc && mine[0].v.t == self) {
            out[0] = self;
            tp_call c = {op, mine, out, op->nouts};
            rc = op->kernel(&c);
            drop(held, n);
            return rc;
        }
        drop(held, n);
        if (rc) return rc;
    }
    rc = tpi_call(op, args, out);
    if (!rc) rc = store_result(op, self, out[0]);
    drop(out, op->nouts);
    return rc;
}

static int call_inplace(const tp_op *op, tp_val *args);

int tpi_call_inplace(const tp_op *op, tp_val *args)
{
    const char *outer = tpi_writing;
    tpi_writing = op->name;
    int rc = call_inplace(op, args);
    tpi_writing = outer;
    return rc;
}

static int call_inplace(const tp_op *op, tp_val *args)
{
    uint64_t level = 0;
    tp_tensor *culprit = NULL;
    int rc;
    if (args[0].tag != TPI_TENSOR) return tpi_fail(TP_ERR_VALUE, "%s_: argument 'self' is missing (NULL)", op->name);
    tp_tensor *self = args[0].v.t;
    if (op->composite && (op->flags & TPI_OP_INPLACE_KERNEL)) { /* it writes into out[0] by in-place operators */
        tp_tensor *out[1] = {self};
        tp_call c = {op, args, out, 1};
        return op->composite(&c);
    }
    rc = top_level(op, args, &level, &culprit);
    if (rc) return rc;
    if (!level && !op->composite) return inplace_plain(op, args);
    if (level && self->level) { /* recording switched off for the highest level: work on the values below it */
        tpi_level_ref l;
        rc = tpi_level_find(level, culprit, &l);
        if (rc) return rc;
        if (l.masked && l.kind != TP_LEVEL_VMAP) {
            tp_val lower[TPI_MAX_ARGS];
            tp_tensor *few[16], **heap;
            rc = tpi_lower_args(op, args, level, lower, &heap, few, 16);
            if (rc) return rc;
            rc = tpi_call_inplace(op, lower);
            free(heap);
            return rc;
        }
    }
    tp_tensor *out[TPI_MAX_OUTS] = {NULL}, *old = NULL;
    tp_val mine[TPI_MAX_ARGS];
    memcpy(mine, args, sizeof(tp_val) * (size_t)op->nargs);
    bool needed = op->composite != NULL; /* does a rule need what self held before, as self or as another argument? */
    for (int i = 0; i < op->nargs; i++)
        needed |= args[i].tag == TPI_TENSOR && args[i].v.t == self && op->args[i].save == 2;
    if (needed) {
        tp_val a = val_t(self);
        rc = tpi_call(&tpi_op_clone, &a, &old);
        if (rc) return rc;
        for (int i = 0; i < op->nargs; i++)
            if (args[i].tag == TPI_TENSOR && args[i].v.t == self) mine[i] = val_t(old);
    }
    rc = tpi_call(op, mine, out);
    tp_release(old);
    if (!rc) rc = store_result(op, self, out[0]);
    drop(out, op->nouts < 1 ? 1 : op->nouts);
    return rc;
}

int tpi_rule_call(const tp_op *op, tp_val *args, tp_tensor **out)
{
    for (int i = 0; i < op->nouts; i++) out[i] = NULL;
    if (tpi_bad()) return tpi_scope_top->failed;
    int rc = tpi_call(op, args, out);
    if (rc) {
        tpi_own(NULL);
        return rc;
    }
    for (int i = 0; i < op->nouts; i++)
        if (out[i]) out[i] = tpi_own(out[i]);
    return tpi_scope_top->failed;
}
