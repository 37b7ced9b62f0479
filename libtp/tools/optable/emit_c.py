"""C from the table: public header, internal headers, registry with typed wrappers, formulas, symbol map."""

import re

from optable.formula import c_string, default_c, x_name
from optable.rules import rule_names
from optable.schema import PROMOTE, is_formula

STAMP = "/* Generated from the operator table; edits are lost. */\n"


# -- prototypes -------------------------------------------------------------------------------------


def params(op, extra=(), skip=0):
    parts = [p for a in op.args[skip:] for p in a.c_params]
    parts += extra
    return ", ".join(parts)


def out_params(op):
    if op.nouts < 0:
        return ["tp_tensor ***out", "int64_t *n_out"]
    return ["tp_tensor **out"] if op.nouts > 1 else []


def returns(op):
    return "tp_tensor *" if op.nouts == 1 else "int "


def wrap(text, width=120):
    """Breaks a long prototype after commas."""
    if len(text) <= width:
        return text
    indent = " " * (text.index("(") + 1)
    lines, line = [], ""
    for part in re.split(r"(?<=,) ", text):
        if line and len(line) + 1 + len(part) > width:
            lines.append(line)
            line = indent + part
        else:
            line = f"{line} {part}" if line else part
    return "\n".join([*lines, line])


def prototypes(op):
    """(prototype, kind) of each C function of an operator. kind: call, inplace, operand..."""
    p = f"{op.prefix}{op.c}"
    yield f"{returns(op)}{p}({params(op, out_params(op)) or 'void'})", "call"
    if op.operand_form:
        for suffix, type in (("f", "double"), ("i", "int64_t")):
            rest = params(op, skip=2)
            yield (
                f"tp_tensor *{p}_{suffix}(tp_tensor *{op.args[0].c_name}, {type} {op.args[1].c_name}"
                f"{', ' + rest if rest else ''})",
                suffix,
            )
    if op.get("inplace"):
        yield f"int {p}_({params(op)})", "inplace"
        if op.operand_form:
            for suffix, type in (("f", "double"), ("i", "int64_t")):
                rest = params(op, skip=2)
                yield (
                    f"int {p}_{suffix}_(tp_tensor *{op.args[0].c_name}, {type} {op.args[1].c_name}"
                    f"{', ' + rest if rest else ''})",
                    "inplace_" + suffix,
                )


def comment(op):
    lines = [line.rstrip() for line in op.doc.split("\n")]
    sig = op.get("signature")
    text = [f"/* {' '.join(sig.split())}"] + [f" * {line}".rstrip() for line in lines]
    return "\n".join(text).replace("*/", "* /") + " */"


def ops_header(ops):
    out = [
        STAMP,
        """\
/* The operators.
 *
 * A function that returns `tp_tensor *` hands one reference to the caller; NULL is an error (tp/error.h). With several
 * outputs, or none but an effect (names that end in `_` write into self), it returns a status and fills `out`, an array
 * of the caller. A list of tensors comes in `*out` (release it with tp_free_list). Arguments are borrowed. A list is
 * followed by its length n_<name>; length -1 is None for `int[]?`. None is NULL for pointers, TP_INT_NONE for `int?`,
 * TP_DTYPE_NONE for `dtype?`, -1 for `bool?`. `_f` and `_i` take a number for `other`. */
#ifndef TP_OPS_H
#define TP_OPS_H

#include "tp/dtype.h"
#include "tp/error.h"
#include "tp/random.h"
#include "tp/tensor.h"

TP_BEGIN_DECLS
""",
    ]
    for op in ops:
        if op.internal:
            continue
        out.append(comment(op))
        out += [wrap(f"TP_API {p};") for p, _ in prototypes(op)]
        out.append("")
    out.append("TP_END_DECLS\n\n#endif")
    return "\n".join(out) + "\n"


def tpi_ops_header(ops):
    externs = {"tp_call": set(), "tp_vjp_ctx": set(), "tp_jvp_ctx": set(), "tp_batch_ctx": set()}
    for op in ops:
        for key in ("kernel", "composite"):
            f = op.get(key)
            if f and not is_formula(f):
                externs["tp_call"].add(f)
            elif f:
                externs["tp_call"].add(f"{op.c}__composite")
        for name, context in zip(rule_names(op), ("tp_vjp_ctx", "tp_jvp_ctx", "tp_batch_ctx")):
            if name != "NULL" and not name.startswith("tpi_"):
                externs[context].add(name)
    out = [
        STAMP,
        '#ifndef TPI_OPS_H\n#define TPI_OPS_H\n\n#include "dispatch/op.h"\n',
        "/* Sorted by name; an operator's id is its place. */",
        "extern const tp_op *const tpi_ops[];",
        "extern const int tpi_op_count;",
        "",
    ]
    for op in ops:
        out.append(f"extern const tp_op tpi_op_{op.c};")
        if op.get("inplace"):
            out.append(f"extern const tp_op tpi_op_{op.c}_;")
    out.append("\n/* Internal operators. */")
    for op in ops:
        if op.internal:
            out += [wrap(f"{p};") for p, _ in prototypes(op)]
    out.append("\n/* What the table names: kernels and composites, rules. */")
    for context, names in externs.items():
        out += [f"int {name}({context} *c);" for name in sorted(names)]
    out.append("int tpi_vjp_zero(tp_vjp_ctx *c);\n\n#endif")
    return "\n".join(out) + "\n"


def list_checks(op):
    checks = []
    for a in op.args:
        n = f"n_{a.name}"
        if a.base in ("int[]", "float[]"):
            checks.append(f"bad_list({a.c_name}, {n}, {'-1' if a.optional else '0'})")
        elif a.is_tensor_list:
            checks.append(f"bad_tensors({a.c_name}, {n}, {'true' if a.base == 'Tensor?[]' else 'false'})")
    return checks


def x_ops_header(ops):
    out = [
        STAMP,
        """\
#ifndef X_OPS_H
#define X_OPS_H

#include "core/scope.h"
#include "tp/ops.h"
#include "tpi_ops.h"

/* Operators whose results the scope owns (core/scope.h): NULL in, NULL out; NULL once the scope has failed. */

static inline bool x_any_null(tp_tensor *const *ts, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (!ts[i]) return true;
    return false;
}

static inline int x_own_all(int status, T *out, int n) {
    for (int i = 0; i < n; i++)
        if (status || !tpi_own(out[i])) out[i] = NULL;
    if (status) (void)tpi_own(NULL);
    return status;
}
""",
    ]
    for op in ops:
        null = [f"!{a.c_name}" for a in op.args if a.is_tensor and not a.optional]
        null += [f"x_any_null({a.c_name}, n_{a.name})" for a in op.args if a.base == "Tensor[]"]
        names = ", ".join(n for a in op.args for n in a.c_names)
        bad = " || ".join(["tpi_bad()", *null])
        name = x_name(op.c)
        if op.nouts == 1:
            out.append(wrap(f"static inline T {name}({params(op) or 'void'}) {{"))
            out.append(f"    return {bad} ? NULL : tpi_own({op.prefix}{op.c}({names}));\n}}\n")
        elif op.nouts > 1:
            n = op.nouts
            out.append(wrap(f"static inline int {name}({params(op, ['T *out'])}) {{"))
            out.append(f"    for (int i = 0; i < {n}; i++) out[i] = NULL;")
            out.append(f"    if ({bad}) return tpi_scope_top->failed;")
            out.append(f"    return x_own_all({op.prefix}{op.c}({', '.join(filter(None, [names, 'out']))}), out, {n});")
            out.append("}\n")
        else:
            # The array is the caller's, who frees it with tp_free_list: the tensors have one reference more.
            out.append(wrap(f"static inline int {name}({params(op, out_params(op))}) {{"))
            out.append("    *out = NULL, *n_out = 0;")
            out.append(f"    if ({bad}) return tpi_scope_top->failed;")
            call = f"{op.prefix}{op.c}({', '.join(filter(None, [names, 'out', 'n_out']))})"
            out.append(f"    int status = {call};")
            out.append("    for (int64_t i = 0; !status && i < *n_out; i++) tpi_retain((*out)[i]);")
            out.append("    return x_own_all(status, *out, status ? 0 : (int)*n_out);\n}\n")
        if op.operand_form:
            a, b = op.args[:2]
            rest = params(op, skip=2)
            rest_names = "".join(f", {n}" for x in op.args[2:] for n in x.c_names)
            for suffix, type in (("f", "double"), ("i", "int64_t")):
                out.append(
                    wrap(
                        f"static inline T {name}_{suffix}(tp_tensor *{a.c_name}, {type} {b.c_name}"
                        f"{', ' + rest if rest else ''}) {{"
                    )
                )
                out.append(
                    f"    return tpi_bad() || !{a.c_name} ? NULL : tpi_own({op.prefix}{op.c}_{suffix}("
                    f"{a.c_name}, {b.c_name}{rest_names}));\n}}\n"
                )
    out.append("#endif")
    return "\n".join(out) + "\n"


# -- registry ---------------------------------------------------------------------------------------


def val(a):
    """C initialiser of a tp_val from the parameters of an argument."""
    n, count = a.c_name, f"n_{a.name}"
    match a.base:
        case "Tensor" | "Operand":
            return f"val_t({n})"
        case "Tensor[]" | "Tensor?[]":
            return f"val_ts({n}, {count})"
        case "int":
            return f"val_oi({n})" if a.optional else f"val_i({n})"
        case "int[]":
            return f"val_ints({n}, {count})"
        case "float":
            return f"val_of({n})" if a.optional else f"val_f({n})"
        case "float[]":
            return f"{{.tag = TPI_FLOATS, .n = (int32_t){count}, .v.fs = {n}}}"
        case "bool":
            return f"val_ob({n})" if a.optional else f"val_b({n})"
        case "Scalar":
            return f"val_s({n})"
        case "str":
            return f"val_str({n})"
        case "dtype":
            return f"val_dtype({n})" if a.optional else f"{{.tag = TPI_DTYPE, .v.i = {n}}}"
        case "Generator":
            return f"val_gen({n})"
    raise AssertionError(a.base)


def flags(op):
    names = []
    if op.get("view") and not op.is_composite:
        names.append("TPI_OP_VIEW")
    if op.get("random"):
        names.append("TPI_OP_RANDOM")
    if op.nondiff:
        names.append("TPI_OP_NONDIFF")
    if op.nouts < 0:
        names.append("TPI_OP_LIST")
    if op.get("inplace_kernel"):
        names.append("TPI_OP_INPLACE_KERNEL")
    if op.internal:
        names.append("TPI_OP_INTERNAL")
    return " | ".join(names) or "0"


def promoted(op, a):
    if op.get("promote", "none") == "none":
        return False
    if "promote_args" in op.entry:
        return a.name in op.get("promote_args")
    return a.is_tensor or a.is_tensor_list


def descriptor(op, ids):
    vjp, jvp, batch = rule_names(op)
    composite = op.get("composite")
    args = []
    for a, save in zip(op.args, op.save):
        diff = int(op.differentiable(a))
        args.append(f'    {{"{a.name}", {a.tag}, {int(a.optional)}, {diff}, {save}, {int(promoted(op, a))}}},')
    lines = []
    if args:
        lines += [f"static const tpi_argdesc args_{op.c}[] = {{", *args, "};"]
    common = [
        f".nargs = {len(op.args)}",
        f".nouts = {op.nouts}",
        f".promote = {PROMOTE[op.get('promote', 'none')]}",
        f".args = {'args_' + op.c if args else 'NULL'}",
    ]
    own = [
        f'.name = "{op.name}"',
        f".doc = {c_string(op.summary)}",
        *common,
        f".flags = {flags(op)}",
        f".save_results = {op.save_results}",
        f".out_nondiff = {sum(1 << k for k in op.get('nondiff_outputs', []))}",
        f".kernel = {op.get('kernel', 'NULL')}",
        f".composite = {(composite if not is_formula(composite) else op.c + '__composite') if composite else 'NULL'}",
        f".vjp = {vjp}",
        f".jvp = {jvp}",
        f".batch = {batch}",
        f".id = {ids[op.name]}",
        ".inplace_of = -1",
    ]
    lines.append(f"const tp_op tpi_op_{op.c} = {{{fold(own)}}};")
    if op.get("inplace"):
        form = [
            f'.name = "{op.inplace_name}"',
            f".doc = {c_string(op.summary)}",
            *common,
            f".flags = {'TPI_OP_INTERNAL' if op.internal else '0'}",
            f".id = {ids[op.inplace_name]}",
            f".inplace_of = {ids[op.name]}",
        ]
        lines.append(f"const tp_op tpi_op_{op.c}_ = {{{fold(form)}}};")
    return "\n".join(lines) + "\n"


def fold(parts, width=116):
    lines, line = [], "   "
    for p in parts:
        if len(line) + len(p) + 2 > width:
            lines.append(line)
            line = "   "
        line += f" {p},"
    return "\n".join(["", *lines, line, ""])


def wrapper(op):
    """Definitions of the C functions of an operator. tpi_call tests what must not be NULL, but for lists."""
    out = []
    args = op.args
    vals = ", ".join(val(a) for a in args)
    declare = f"    tp_val v[] = {{{vals}}};" if args else "    tp_val v[1];"
    if len(declare) > 116:
        declare = "    tp_val v[] = {" + fold([val(a) for a in args], 112) + "    };"
    rest = "".join(f", {n}" for a in args[2:] for n in a.c_names)
    checks = " || ".join(list_checks(op))
    for prototype, kind in prototypes(op):
        body = []
        inplace = kind.startswith("inplace")
        null = op.nouts == 1 and not inplace
        if kind in ("call", "inplace"):
            if checks:
                failure = f'bad_length("{op.inplace_name if inplace else op.name}")'
                body.append(f"    if (UNLIKELY({checks})) return {f'({failure}, NULL)' if null else failure};")
            body.append(declare)
        if kind == "call":
            if op.nouts == 1:
                body += ["    tp_tensor *out = NULL;", f"    return tpi_call(&tpi_op_{op.c}, v, &out) ? NULL : out;"]
            elif op.nouts > 1:
                body += [
                    f"    for (int i = 0; i < {op.nouts}; i++) out[i] = NULL;",
                    f"    return tpi_call(&tpi_op_{op.c}, v, out);",
                ]
            else:
                body += ["    *out = NULL, *n_out = 0;", f"    return tpi_call_list(&tpi_op_{op.c}, v, out, n_out);"]
        elif kind == "inplace":
            body.append(f"    return tpi_call_inplace(&tpi_op_{op.c}, v);")
        else:
            member, tag = ("f", "FLOAT") if kind.endswith("f") else ("i", "INT")
            b = args[1].c_name
            body.append(f"    tp_scalar s = {{.tag = TP_SCALAR_{tag}, .v.{member} = {b}}};")
            body.append("    tp_tensor *w = tp_weak_scalar(&s);")
            target = f"{op.prefix}{op.c}{'_' if inplace else ''}({args[0].c_name}, w{rest})"
            if inplace:
                body += ["    if (UNLIKELY(!w)) return tp_error_code();", f"    int r = {target};"]
            else:
                body += ["    if (UNLIKELY(!w)) return NULL;", f"    tp_tensor *r = {target};"]
            body += ["    tp_release(w);", "    return r;"]
        out.append("\n".join([wrap(prototype + " {"), *body, "}\n"]))
    return "\n".join(out)


def registry(ops):
    everything = [op.name for op in ops] + [op.inplace_name for op in ops if op.get("inplace")]
    order = sorted(everything)
    ids = {name: i for i, name in enumerate(order)}
    symbols = {op.name: f"tpi_op_{op.c}" for op in ops}
    symbols |= {op.inplace_name: f"tpi_op_{op.c}_" for op in ops if op.get("inplace")}
    out = [
        STAMP,
        """\
#include "core/error.h"
#include "levels/levels.h"
#include "tp/ops.h"
#include "tpi_ops.h"

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

static inline tp_val val_ob(int b) {
    return b < 0 ? (tp_val){.tag = TPI_NONE} : (tp_val){.tag = TPI_BOOL, .v.i = b != 0};
}

__attribute__((cold, noinline, unused)) static int bad_length(const char *op) {
    return tpi_fail(TP_ERR_VALUE, "%s: a list is NULL, has a NULL entry or a bad length", op);
}

static inline bool bad_list(const void *p, int64_t n, int64_t least) {
    return n < least || n > INT32_MAX || (n > 0 && !p);
}

__attribute__((unused)) static bool bad_tensors(tp_tensor *const *p, int64_t n, bool optional) {
    if (bad_list(p, n, 0)) return true;
    for (int64_t i = 0; i < n && !optional; i++)
        if (!p[i]) return true;
    return false;
}

int tpi_vjp_zero(tp_vjp_ctx *c) {
    (void)c;
    return 0;
}
""",
    ]
    out += [descriptor(op, ids) for op in ops]
    out.append("const tp_op *const tpi_ops[] = {")
    out += [f"    &{symbols[name]}," for name in order]
    out.append(f"}};\nconst int tpi_op_count = {len(order)};\n")
    out += [wrapper(op) for op in ops]
    return "\n".join(out)


def formulas(ops):
    out = [
        STAMP,
        """\
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/scope.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

#pragma GCC diagnostic ignored "-Wunused-function"

static inline T weak(tp_scalar s) { return tpi_bad() ? NULL : tpi_own(tp_weak_scalar(&s)); }
static inline T weak_i(int64_t i) { return weak((tp_scalar){.tag = TP_SCALAR_INT, .v.i = i}); }
static inline T weak_b(bool b) { return weak((tp_scalar){.tag = TP_SCALAR_BOOL, .v.i = b}); }
static inline T weak_f(double f) { return weak((tp_scalar){.tag = TP_SCALAR_FLOAT, .v.f = f}); }
static inline T weak_s(const tp_scalar *s) { return s ? weak(*s) : NULL; }

/* Terms of a sum, where NULL is an absent one. */
@SUMS@
static inline const int64_t *shape_of(T t) { return t ? t->shape : NULL; }
static inline int64_t ndim_of(T t) { return t ? t->ndim : 0; }
static inline int64_t numel_of(T t) { return t ? t->numel : 0; }
static inline int dtype_of(T t) { return t ? t->dtype : TP_FLOAT32; }
static inline bool is_complex_of(T t) { return t && tpi_is_complex(t->dtype); }
static inline bool is_floating_of(T t) { return t && tpi_is_float(t->dtype); }

static inline int64_t list_at(const int64_t *p, int64_t n, int64_t i) {
    if (i < 0) i += n;
    if (i >= 0 && i < n) return p[i];
    if (!tpi_bad()) tpi_rule_fail(TP_ERR_INDEX, "index %lld is out of range of a list of %lld", (long long)i,
                                  (long long)n);
    return 0;
}
static inline int64_t slice_bound(int64_t n, int64_t i) { return i < 0 ? (i + n < 0 ? 0 : i + n) : i > n ? n : i; }
static inline const int64_t *slice_at(const int64_t *p, int64_t n, int64_t start, int64_t stop) {
    (void)stop;
    return p ? p + slice_bound(n, start) : p;
}
static inline int64_t slice_len(const int64_t n, int64_t start, int64_t stop) {
    int64_t len = slice_bound(n, stop) - slice_bound(n, start);
    return len < 0 ? 0 : len;
}
static inline int64_t floor_div(int64_t a, int64_t b) {
    if (b == 0) return 0;
    int64_t q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
static inline int64_t floor_mod(int64_t a, int64_t b) { return b == 0 ? 0 : a - b * floor_div(a, b); }
static inline double scalar_value(const tp_scalar *s) {
    return s->tag == TP_SCALAR_FLOAT ? s->v.f : s->tag == TP_SCALAR_COMPLEX ? s->v.c[0]
         : s->tag == TP_SCALAR_UINT ? (double)s->v.u : (double)s->v.i;
}

/* The end of a composite: its results become the caller's. */
static int finish(tpi_scope *scope, tp_call *c, int n, T *results) {
    if (!scope->failed)
        for (int k = 0; k < n; k++) c->out[k] = tpi_retain(results[k]);
    return tpi_scope_close(scope);
}
""",
    ]
    for op in ops:
        out += [op.rules[key] for key in ("composite", "vjp", "jvp") if key in op.rules]
    text = "\n".join(out)
    return text.replace("@SUMS@\n", sums({op.c: op for op in ops}))


def sums(ops):
    """plus and minus, if the table has what they call; else no formula has a sum."""
    lines = []

    def call(name):
        rest = "".join(f", {c}" for a in ops[name].args[2:] for c in default_c(a))
        return f"x_{name}(a, b{rest})"

    if "add" in ops:
        lines.append(f"static inline T plus(T a, T b) {{ return !a ? b : !b ? a : {call('add')}; }}\n")
    if {"sub", "neg"} <= ops.keys():
        lines.append(f"static inline T minus(T a, T b) {{ return !b ? a : !a ? x_neg(b) : {call('sub')}; }}\n")
    return "".join(lines) + "\n" * bool(lines)


# -- symbols ----------------------------------------------------------------------------------------

PROTOTYPE = re.compile(r"TP_API\s+[^;{]*?\b(tp_\w+)\s*\(")
DATA = re.compile(r"TP_API\s+extern\s+[^;(]*?\b(tp_\w+)\s*[;\[]")


def header_symbols(paths):
    """Names that hand-written public headers export."""
    names = set()
    for path in paths:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.S)
        names |= set(PROTOTYPE.findall(text)) | set(DATA.findall(text))
    return names


def op_symbols(op):
    return [re.search(r"(\w+)\(", p)[1] for p, _ in prototypes(op)]


def symbol_map(ops, names):
    exported = set(names)
    for op in ops:
        if not op.internal:
            exported |= set(op_symbols(op))
    body = "\n".join(f"        {n};" for n in sorted(exported))
    return f"TP_0 {{\n    global:\n{body}\n    local:\n        *;\n}};\n"


def cdef(ops):
    """Declarations for cffi, after those of the types."""
    return "\n".join(f"{p};" for op in ops if not op.internal for p, _ in prototypes(op)) + "\n"


def check_symbols(ops, names, report):
    taken = dict.fromkeys(names, "a public header")
    for op in ops:
        for s in op_symbols(op):
            if s in taken:
                report.add(op.file, op.name, "", f"{s} is already in {taken[s]}")
            taken[s] = f"operator '{op.name}'"


def outputs(ops, names):
    """Files by name."""
    return {
        "tp/ops.h": ops_header(ops),
        "tpi_ops.h": tpi_ops_header(ops),
        "x_ops.h": x_ops_header(ops),
        "registry.c": registry(ops),
        "formulas.c": formulas(ops),
        "tp.map": symbol_map(ops, names),
    }
