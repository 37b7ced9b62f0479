"""C++ from the table: tp/ops.hpp, a function of namespace tp for every operator, on top of tp/tensor.hpp."""

from optable.formula import c_string
from optable.signature import MISSING, RESERVED

STAMP = "/* Generated from the operator table; edits are lost. */\n"
NAMESPACES = ("linalg", "fft", "special", "masked")

# A class of the wrapper, or a standard one; and how its value is handed to C.
VALUES = {
    "Tensor": ("const Tensor &", "{n}.handle()"),
    "Tensor?": ("const Tensor &", "{n}.handle()"),
    "Operand": ("const Operand &", "{n}.handle()"),
    "Tensor[]": ("const Tensors &", "{n}.data(), {n}.size()"),
    "Tensor?[]": ("const Tensors &", "{n}.data(), {n}.size()"),
    "int": ("std::int64_t ", "{n}"),
    "int?": ("std::optional<std::int64_t> ", "{n}.value_or(TP_INT_NONE)"),
    "int[]": ("const Ints &", "{n}.data(), {n}.size()"),
    "int[]?": ("const OptionalInts &", "{n}.data(), {n}.size()"),
    "float": ("double ", "{n}"),
    "float?": ("std::optional<double> ", "{n} ? &*{n} : nullptr"),
    "float[]": ("const Floats &", "{n}.data(), {n}.size()"),
    "float[]?": ("const OptionalFloats &", "{n}.data(), {n}.size()"),
    "bool": ("bool ", "{n}"),
    "bool?": ("std::optional<bool> ", "{n} ? int(*{n}) : -1"),
    "Scalar": ("const Scalar &", "{n}.get()"),
    "Scalar?": ("const std::optional<Scalar> &", "{n} ? {n}->get() : nullptr"),
    "str": ("const char *", "{n}"),
    "str?": ("const char *", "{n}"),
    "dtype": ("Dtype ", "{n}"),
    "dtype?": ("std::optional<Dtype> ", "{n} ? int(*{n}) : TP_DTYPE_NONE"),
    "Generator": ("const Generator &", "{n}.handle()"),
    "Generator?": ("const Generator &", "{n}.handle()"),
}


def literal(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value != value:
        return "std::numeric_limits<double>::quiet_NaN()"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return ("-" if value < 0 else "") + "std::numeric_limits<double>::infinity()"
    if isinstance(value, complex):
        return f"std::complex<double>({literal(value.real)}, {literal(value.imag)})"
    if isinstance(value, int) and not -(2**31) < value < 2**31:
        return f"std::int64_t{{{value}}}"
    return repr(value)


def default(arg):
    value = arg.default
    if value is None:
        return "nullptr" if arg.base == "str" else "{}"
    if arg.base == "str":
        return c_string(value)
    if arg.base == "dtype":
        return "TP_" + value.upper()
    if arg.base in ("int[]", "float[]"):
        return f"{{{', '.join(map(literal, value))}}}"
    return literal(value)


def parameters(args):
    """Declarations; a default is left out where an argument without one follows."""
    last = max((k for k, a in enumerate(args) if a.default is MISSING), default=-1)
    for k, a in enumerate(args):
        yield VALUES[a.type][0] + a.c_name + (f" = {default(a)}" if k > last else "")


def function(op, name):
    args = ", ".join(VALUES[a.type][1].format(n=a.c_name) for a in op.args)
    head = ", ".join(parameters(op.args))
    call = f"tp_{op.c}({args}"
    if op.nouts == 1:
        return f"inline Tensor {name}({head}) {{ return Tensor::take({call})); }}"
    comma = ", " if args else ""
    if op.nouts > 1:
        return (f"inline std::array<Tensor, {op.nouts}> {name}({head}) {{\n    tp_tensor *out[{op.nouts}] = {{}};\n"
                f"    check({call}{comma}out));\n    return take<{op.nouts}>(out);\n}}")
    return (f"inline std::vector<Tensor> {name}({head}) {{\n    tp_tensor **out = nullptr;\n    std::int64_t n = 0;\n"
            f"    check({call}{comma}&out, &n));\n    return take(out, n);\n}}")


def inplace(op, name):
    args = ", ".join(VALUES[a.type][1].format(n=a.c_name) for a in op.args)
    first = op.args[0].c_name
    head = ", ".join([f"Tensor &{first}", *parameters(op.args[1:])])
    return f"inline Tensor &{name}_({head}) {{\n    check(tp_{op.c}_({args}));\n    return {first};\n}}"


def place(op):
    """(namespace, name) in C++."""
    for space in NAMESPACES:
        if op.c.startswith(space + "_") and op.get("module") == space:
            name = op.c[len(space) + 1 :]
            return space, name if not name[0].isdigit() else op.c
    return "", op.c


def header(ops):
    """tp/ops.hpp."""
    spaces = {"": [], **{space: [] for space in NAMESPACES}}
    for op in ops:
        if op.internal:
            continue
        space, name = place(op)
        name = name + "_op" if name in RESERVED else name
        spaces[space].append("/* " + op.summary.replace("*/", "* /") + " */")
        spaces[space].append(function(op, name))
        if op.get("inplace"):
            spaces[space].append(inplace(op, name))
    out = [STAMP, """\
/* The operators for C++17. A name is that of the C function without tp_; those of linalg, fft, special and masked are
 * in namespaces of these names. Several results come as an array (`auto [q, r] = tp::linalg::qr(a)`), a list as a
 * vector. An argument that may be absent is so by default, or by {}. Failures throw tp::Error. */
#ifndef TP_OPS_HPP
#define TP_OPS_HPP

#include <tp/ops.h>
#include <tp/tensor.hpp>

namespace tp {
"""]
    for space, functions in spaces.items():
        if functions:
            inner = "\n".join(functions)
            out.append(f"namespace {space} {{\n\n{inner}\n\n}} // namespace {space}\n" if space else inner + "\n")
    out.append("} // namespace tp\n\n#endif")
    return "\n".join(out) + "\n"
