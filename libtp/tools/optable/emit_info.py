"""Signatures, types and defaults of the operators, as the registry of the C API shows them: signatures.c."""

from optable.emit_c import STAMP
from optable.formula import DTYPE_C, c_float, c_literal, c_string, scalar_literal
from optable.signature import MISSING


def value(arg):
    """A `tp_value` that holds the default."""
    v = arg.default
    if v is MISSING or v is None:
        return "{.tag = TP_VALUE_NONE}"
    match arg.base:
        case "int":
            return f"{{.tag = TP_VALUE_INT, .v.i = {c_literal(v)}}}"
        case "bool":
            return f"{{.tag = TP_VALUE_BOOL, .v.i = {int(v)}}}"
        case "float":
            return f"{{.tag = TP_VALUE_FLOAT, .v.f = {c_float(v)}}}"
        case "str":
            return f"{{.tag = TP_VALUE_STRING, .v.string = {c_string(v)}}}"
        case "dtype":
            return f"{{.tag = TP_VALUE_DTYPE, .v.i = {DTYPE_C[v]}}}"
        case "Scalar" | "Operand":
            number = scalar_literal(v).removeprefix("&(tp_scalar)")
            return f"{{.tag = TP_VALUE_SCALAR, .v.scalar = {number}}}"
        case "int[]" | "float[]":
            tag, element = ("INTS", "int64_t") if arg.base == "int[]" else ("FLOATS", "double")
            items = f"(const {element}[]){{{', '.join(c_literal(x) for x in v)}}}" if v else "NULL"
            return f"{{.tag = TP_VALUE_{tag}, .n = {len(v)}, .v.{tag.lower()} = {items}}}"
    raise AssertionError(arg)


def signatures(ops):
    """signatures.c: one entry an operator, in the order of tpi_ops."""
    out = [STAMP, '#include <math.h>\n\n#include "dispatch/info.h"\n']
    entries = {}
    for op in ops:
        args = "NULL"
        if op.args:
            args = f"info_{op.c}"
            out.append(f"static const tpi_arginfo {args}[] = {{")
            out += [f'    {{"{a.type}", {int(a.default is not MISSING)}, {value(a)}}},' for a in op.args]
            out.append("};")
        text = " ".join(op.get("signature").split())
        entries[op.name] = (text, args)
        if op.get("inplace"):
            head, _, _ = text.rpartition("->")
            entries[op.inplace_name] = (f"{op.base}_{head[head.index('(') :].rstrip()} -> ()", args)
    out.append("const tpi_opinfo tpi_infos[] = {")
    out += [f"    {{{c_string(text)}, {args}}}," for _, (text, args) in sorted(entries.items())]
    out.append("};")
    return "\n".join(out) + "\n"
