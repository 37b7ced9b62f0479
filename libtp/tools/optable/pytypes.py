"""How arguments look and travel in Python: defaults, signature lines, conversions, annotations."""

import math

from optable.signature import MISSING

ANNOTATIONS = {
    "Tensor": "Tensor", "Operand": "Tensor | _Number", "Tensor[]": "_Sequence[Tensor]",
    "Tensor?[]": "_Sequence[Tensor | None]", "int": "_int", "int[]": "_int | _Sequence[_int]", "float": "_float",
    "float[]": "_float | _Sequence[_float]", "bool": "_bool", "Scalar": "_Number", "str": "_str", "dtype": "_DType",
    "Generator": "Generator",
}  # fmt: skip

# Predicates of the generated module that choose an overload.
PREDICATES = {
    "Tensor": "_is_tensor", "Operand": "_is_operand", "Tensor[]": "_is_tensors", "Tensor?[]": "_is_tensors",
    "int": "_is_int", "int[]": "_is_ints", "float": "_is_real", "float[]": "_is_reals", "bool": "_is_bool",
    "Scalar": "_is_number", "str": "_is_str", "dtype": "_is_dtype", "Generator": "_is_generator",
}  # fmt: skip

VARARGS = {"int[]": "_int | _Sequence[_int]", "Tensor[]": "Tensor | _Sequence[Tensor]"}  # one of what `*` collects

DESCRIPTIONS = {
    "Tensor": "a Tensor", "Operand": "a Tensor or a number", "int": "an int", "float": "a float", "bool": "a bool",
    "Scalar": "a number", "str": "a str", "dtype": "a dtype", "Generator": "a Generator",
}  # fmt: skip

DTYPE_LINES = {
    "common": "Dtypes: the arguments are brought to their common dtype.",
    "float": "Dtypes: integers and bool become the default dtype, others their common dtype.",
    "compare": "Dtypes: the arguments are brought to their common dtype, which an integer number may exceed.",
    "bound": "Dtypes: the arguments are brought to their common dtype; an integer number outside of it is its limit.",
    "no_bool": "Dtypes: bool becomes int64, others their common dtype.",
}


def py_float(v):
    return repr(v) if math.isfinite(v) else "float('nan')" if math.isnan(v) else f"float('{v}')"


def default(arg):
    """Python source of a default."""
    v = arg.default
    if isinstance(v, float):
        return py_float(v)
    if isinstance(v, tuple):
        return py_float(v[0]) if len(v) == 1 and isinstance(v[0], float) else repr(v[0] if len(v) == 1 else v)
    return repr(v)


def scalar_constant(v):
    """Part of a name for the constant of a Scalar default: made once, not at each call."""
    return f"{type(v).__name__}_{v}".translate(str.maketrans({c: "_" for c in ".+-()"}))


def code_default(arg):
    """Default in the generated function."""
    scalar = arg.base == "Scalar" and arg.default is not None
    return f"_V_{scalar_constant(arg.default)}" if scalar else default(arg)


def stub_default(arg):
    text = default(arg)
    return "..." if "float(" in text else text


def parameters(op, annotate=False, default_text=default):
    """Source of the parameter list; self (the first argument of a method) is not annotated there."""
    parts, star = [], False
    for i, a in enumerate(op.args):
        if a.keyword_only and not star and not any(b.varargs for b in op.args):
            parts.append("*")
            star = True
        text = ("*" if a.varargs else "") + a.name
        if annotate and not (annotate == "method" and i == 0):
            type = VARARGS[a.base] if a.varargs else ANNOTATIONS[a.base]
            text += f": {type}{' | None' if a.optional else ''}"
        if a.default is not MISSING and not a.varargs:
            text += f"{' = ' if annotate else '='}{default_text(a)}"
        parts.append(text)
    return parts


def signature_line(op, name=None):
    """`sum(self, dim=None, keepdim=False) -> Tensor`."""
    out = op.signature.outputs
    returns = "tuple of Tensor" if op.nouts < 0 else "Tensor" if op.nouts == 1 else f"({', '.join(out)})"
    return f"{name or op.base}({', '.join(parameters(op))}) -> {returns}"


def doc_text(op):
    """The entry's doc, with the dtypes from `promote` where it does not speak of them."""
    text = op.doc
    line = DTYPE_LINES.get(op.get("promote", "none"))
    if line and "dtype" not in text.lower():
        text += ("\n" if "\n" in text else "\n\n") + line
    return text


def convert(op, arg, python_op):
    """(statements before the call, C arguments) that carry an argument."""
    n, where = arg.name, f'"{python_op}", "{arg.name}"'
    match arg.base:
        case "Tensor":
            return [], [f"_NULL if {n} is None else {n}._h" if arg.optional else f"{n}._h"]
        case "Operand":
            return [], [f"{n}._h if _type({n}) is _Tensor else _as_handle({n}, {where})"]
        case "Tensor[]" | "Tensor?[]":
            # The sequence is kept: what it yields may have no other owner.
            function = "_handles" if arg.base == "Tensor[]" else "_optional_handles"
            return [f"{n} = _sequence({n}, {where})", f"_h_{n} = {function}({n}, {where})"], [
                f"_h_{n}",
                f"_len(_h_{n})",
            ]
        case "int[]" | "float[]":
            read = f"{n} = _{arg.base[:-2]}s({n}, {where})"
            if not arg.optional:
                return [read], [n, f"_len({n})"]
            return [
                f"if {n} is None:",
                f"    {n}, _n_{n} = _NULL, -1",
                "else:",
                f"    {read}",
                f"    _n_{n} = _len({n})",
            ], [n, f"_n_{n}"]
        case "int":
            return [], [f"_INT_NONE if {n} is None else {n}" if arg.optional else n]
        case "float":
            return [], [f"_NULL if {n} is None else ({n},)" if arg.optional else n]
        case "bool":
            return [], [f"-1 if {n} is None else {n}" if arg.optional else n]
        case "Scalar":
            c = f"_scalar({n}, {where})"
            if arg.default not in (MISSING, None):
                v = scalar_constant(arg.default)
                c = f"_S_{v} if {n} is _V_{v} else {c}"
            return [], [f"_NULL if {n} is None else {c}" if arg.optional else c]
        case "str":
            if arg.optional:
                return [], [f"_text({n}, {where})"]
            return [], [f"{n}.encode()"]
        case "dtype":
            c = f"_dtype_code({n})"
            return [], [f"-1 if {n} is None else {c}" if arg.optional else c]
        case "Generator":
            return [], [f"_generator({n}, {where})"]
    raise AssertionError(arg.base)


def expected(arg):
    """What an argument has to be, for a message; empty where its conversion says it itself."""
    if arg.base not in ("Tensor", "int", "float", "bool", "str"):
        return ""
    return DESCRIPTIONS[arg.base] + (" or None" if arg.optional else "")
