/* The registry of tp/registry.h, and calls with boxed arguments. */
#include "dispatch/info.h"
#include "dispatch/op.h"
#include "tpi_ops.h"

_Static_assert((int)TP_VALUE_TENSOR == TPI_TENSOR && (int)TP_VALUE_SCALAR == TPI_SCALAR &&
                   (int)TP_VALUE_FLOATS == TPI_FLOATS && (int)TP_VALUE_STRING == TPI_STR,
               "public and internal tags are the same numbers");

static const char *const tag_names[] = {"None",     "a tensor", "a list of tensors", "an integer",
                                        "a float",  "a bool",   "a number",          "a list of integers",
                                        "a string", "a dtype",  "a generator",       "a list of floats"};

static bool is_public(const tp_op *op) { return !(op->flags & TPI_OP_INTERNAL); }

int64_t tp_op_count(void)
{
    static _Atomic int64_t known;
    int64_t n = known;
    if (n) return n;
    for (int i = 0; i < tpi_op_count; i++) n += is_public(tpi_ops[i]);
    known = n;
    return n;
}

const tp_op *tp_op_at(int64_t i)
{
    int64_t at = i;
    for (int k = 0; k < tpi_op_count && at >= 0; k++)
        if (is_public(tpi_ops[k]) && at-- == 0) return tpi_ops[k];
    return tpi_null(TP_ERR_INDEX, "tp_op_at: %lld is out of range of %lld operators", (long long)i,
                    (long long)tp_op_count());
}

const tp_op *tp_op_find(const char *name)
{
    if (!name) return tpi_null(TP_ERR_VALUE, "tp_op_find: the name is NULL");
    const tp_op *op = tpi_op_by_name(name);
    if (!op || is_public(op)) return op;
    return tpi_null(TP_ERR_NOT_IMPLEMENTED, "no operator %s", name);
}

static bool known(const char *who, const tp_op *op)
{
    if (op) return true;
    tpi_fail(TP_ERR_VALUE, "%s: the operator is NULL", who);
    return false;
}

const char *tp_op_name(const tp_op *op) { return known("tp_op_name", op) ? op->name : NULL; }
const char *tp_op_doc(const tp_op *op) { return known("tp_op_doc", op) ? op->doc : NULL; }
const char *tp_op_signature(const tp_op *op)
{
    return known("tp_op_signature", op) ? tpi_infos[op->id].signature : NULL;
}
int tp_op_n_args(const tp_op *op) { return known("tp_op_n_args", op) ? op->nargs : 0; }
int tp_op_n_results(const tp_op *op) { return !known("tp_op_n_results", op) || op->inplace_of >= 0 ? 0 : op->nouts; }

int tp_op_get_argument(const tp_op *op, int i, tp_op_argument *argument)
{
    if (!known("tp_op_get_argument", op)) return TP_ERR_VALUE;
    if (!argument || argument->struct_size < sizeof *argument)
        return tpi_fail(TP_ERR_VALUE, "tp_op_get_argument: the argument is NULL or its struct_size too small");
    if (i < 0 || i >= op->nargs)
        return tpi_fail(TP_ERR_INDEX, "tp_op_get_argument: %s has %d arguments, none is number %d", op->name, op->nargs,
                        i);
    const tpi_arginfo *info = &tpi_infos[op->id].args[i];
    *argument = (tp_op_argument){.struct_size = argument->struct_size,
                                 .name = op->args[i].name,
                                 .type = info->type,
                                 .tag = op->args[i].tag,
                                 .optional = op->args[i].optional,
                                 .has_default = info->has_default,
                                 .value = info->value};
    return TP_OK;
}

static int mismatch(const tp_op *op, int i, const tp_value *v)
{
    bool sane = v->tag >= 0 && v->tag <= TP_VALUE_FLOATS;
    return tpi_fail(TP_ERR_TYPE, "%s: argument '%s' is of type %s, got %s", op->name, op->args[i].name,
                    tpi_infos[op->id].args[i].type, sane ? tag_names[v->tag] : "a value with an unknown tag");
}

/* A number as a scalar; false for anything else. */
static bool number(const tp_value *v, tp_scalar *s)
{
    switch (v->tag) {
    case TP_VALUE_INT: *s = (tp_scalar){.tag = TP_SCALAR_INT, .v.i = v->v.i}; return true;
    case TP_VALUE_BOOL: *s = (tp_scalar){.tag = TP_SCALAR_BOOL, .v.i = v->v.i != 0}; return true;
    case TP_VALUE_FLOAT: *s = (tp_scalar){.tag = TP_SCALAR_FLOAT, .v.f = v->v.f}; return true;
    case TP_VALUE_SCALAR: *s = v->v.scalar; return s->tag >= TP_SCALAR_BOOL && s->tag <= TP_SCALAR_COMPLEX;
    default: return false;
    }
}

/* Argument i as calls take it. *held: a tensor made of a number, which the caller releases. */
static int unbox(const tp_op *op, int i, const tp_value *v, tp_val *out, tp_tensor **held)
{
    const tpi_argdesc *d = &op->args[i];
    const char *type = tpi_infos[op->id].args[i].type;
    bool list = v->tag == TP_VALUE_TENSORS || v->tag == TP_VALUE_INTS || v->tag == TP_VALUE_FLOATS;
    if (list && (v->n < 0 || v->n > INT32_MAX || (v->n && !v->v.ints)))
        return tpi_fail(TP_ERR_VALUE, "%s: argument '%s': a list is NULL or has a bad length", op->name, d->name);
    *out = (tp_val){.tag = d->tag, .n = list ? (int32_t)v->n : 0};
    switch (d->tag) {
    case TPI_TENSOR: {
        tp_scalar s;
        if (v->tag == TP_VALUE_TENSOR) {
            *out = val_t(v->v.tensor);
            return TP_OK;
        }
        if (strcmp(type, "Operand") != 0 || !number(v, &s)) return mismatch(op, i, v);
        *out = val_t(*held = tp_weak_scalar(&s));
        return *held ? TP_OK : tp_error_code();
    }
    case TPI_TENSORS:
        if (v->tag != TP_VALUE_TENSORS) return mismatch(op, i, v);
        for (int64_t k = 0; k < v->n && strcmp(type, "Tensor?[]") != 0; k++)
            if (!v->v.tensors[k])
                return tpi_fail(TP_ERR_VALUE, "%s: argument '%s': entry %lld is NULL", op->name, d->name, (long long)k);
        out->v.ts = (tp_tensor **)v->v.tensors;
        return TP_OK;
    case TPI_FLOAT:
        if (v->tag != TP_VALUE_FLOAT && v->tag != TP_VALUE_INT) return mismatch(op, i, v);
        out->v.f = v->tag == TP_VALUE_INT ? (double)v->v.i : v->v.f;
        return TP_OK;
    case TPI_SCALAR: return number(v, &out->v.s) ? TP_OK : mismatch(op, i, v);
    case TPI_INTS:
        if (v->tag != TP_VALUE_INTS) return mismatch(op, i, v);
        out->v.ints = v->v.ints;
        return TP_OK;
    case TPI_FLOATS:
        if (v->tag != TP_VALUE_FLOATS) return mismatch(op, i, v);
        out->v.fs = v->v.floats;
        return TP_OK;
    case TPI_STR:
        if (v->tag != TP_VALUE_STRING || !v->v.string) return mismatch(op, i, v);
        out->v.str = v->v.string;
        return TP_OK;
    case TPI_GENERATOR:
        if (v->tag != TP_VALUE_GENERATOR) return mismatch(op, i, v);
        *out = val_gen(v->v.generator);
        return TP_OK;
    case TPI_BOOL:
        if (v->tag != TP_VALUE_BOOL) return mismatch(op, i, v);
        out->v.i = v->v.i != 0;
        return TP_OK;
    case TPI_DTYPE:
        if (v->tag != TP_VALUE_DTYPE || v->v.i < 0 || v->v.i >= TP_DTYPE_COUNT) return mismatch(op, i, v);
        out->v.i = v->v.i;
        return TP_OK;
    default:
        if (v->tag != TP_VALUE_INT) return mismatch(op, i, v);
        out->v.i = v->v.i;
        return TP_OK;
    }
}

typedef struct unboxed {
    tp_val args[TPI_MAX_ARGS];
    tp_tensor *held[TPI_MAX_ARGS];
    int n_held;
} unboxed;

static void drop(unboxed *u)
{
    for (int i = 0; i < u->n_held; i++) tp_release(u->held[i]);
}

static int unbox_all(const tp_op *op, const tp_value *args, int64_t n_args, unboxed *u)
{
    u->n_held = 0;
    if (n_args < 0 || (n_args && !args))
        return tpi_fail(TP_ERR_VALUE, "%s: the arguments are NULL or their number is negative", op->name);
    if (n_args > op->nargs)
        return tpi_fail(TP_ERR_TYPE, "%s: takes %d arguments, got %lld", op->name, op->nargs, (long long)n_args);
    for (int i = 0; i < op->nargs; i++) {
        const tpi_arginfo *info = &tpi_infos[op->id].args[i];
        const tp_value *v = i < n_args ? &args[i] : NULL;
        if (!v || (v->tag == TP_VALUE_NONE && !op->args[i].optional)) {
            if (!info->has_default) {
                drop(u);
                return tpi_fail(TP_ERR_TYPE, "%s: argument '%s' is missing", op->name, op->args[i].name);
            }
            v = &info->value;
        }
        if (v->tag == TP_VALUE_NONE) {
            u->args[i] = (tp_val){.tag = TPI_NONE};
            continue;
        }
        tp_tensor *held = NULL;
        int rc = unbox(op, i, v, &u->args[i], &held);
        if (held) u->held[u->n_held++] = held;
        if (rc) {
            drop(u);
            return rc;
        }
    }
    return TP_OK;
}

int tp_op_call(const tp_op *op, const tp_value *args, int64_t n_args, tp_tensor **results, int64_t n_results)
{
    if (!known("tp_op_call", op)) return TP_ERR_VALUE;
    int wanted = tp_op_n_results(op);
    if (wanted < 0) return tpi_fail(TP_ERR_TYPE, "%s: returns a list; call it with tp_op_call_list", op->name);
    if (n_results != wanted || (wanted && !results))
        return tpi_fail(TP_ERR_VALUE, "%s: has %d results, places for %lld were given", op->name, wanted,
                        results ? (long long)n_results : 0LL);
    for (int i = 0; i < wanted; i++) results[i] = NULL;
    unboxed u;
    int rc = unbox_all(op, args, n_args, &u);
    if (rc) return rc;
    rc = op->inplace_of >= 0 ? tpi_call_inplace(tpi_ops[op->inplace_of], u.args) : tpi_call(op, u.args, results);
    drop(&u);
    return rc;
}

int tp_op_call_list(const tp_op *op, const tp_value *args, int64_t n_args, tp_tensor ***results, int64_t *n_results)
{
    if (!known("tp_op_call_list", op)) return TP_ERR_VALUE;
    if (!results || !n_results) return tpi_fail(TP_ERR_VALUE, "%s: the place for the list is NULL", op->name);
    *results = NULL;
    *n_results = 0;
    if (tp_op_n_results(op) >= 0)
        return tpi_fail(TP_ERR_TYPE, "%s: returns no list; call it with tp_op_call", op->name);
    unboxed u;
    int rc = unbox_all(op, args, n_args, &u);
    if (rc) return rc;
    rc = tpi_call_list(op, u.args, results, n_results);
    drop(&u);
    return rc;
}
