"""Python from the table: functions, methods, stubs, cffi declarations."""

from optable import emit_c
from optable.pytypes import (
    ANNOTATIONS,
    PREDICATES,
    code_default,
    convert,
    default,
    doc_text,
    expected,
    parameters,
    scalar_constant,
    signature_line,
    stub_default,
)
from optable.signature import MISSING

PREAMBLE = '''\
"""Functions and methods of the operators. Generated from the operator table; edits are lost."""

from builtins import (
    OverflowError as _OverflowError, TypeError as _TypeError, bool as _bool,
    complex as _complex, float as _float, getattr as _getattr, hasattr as _hasattr, int as _int,
    isinstance as _isinstance, len as _len, list as _list, range as _range, repr as _repr, setattr as _setattr,
    str as _str, tuple as _tuple, type as _type,
)
from collections import namedtuple as _namedtuple

import numpy as _np

from ._convert import (
    NULL as _NULL, as_handle as _as_handle, as_tensor_handle as _as_tensor_handle, dtype_code as _dtype_code,
    ffi as _ffi, floats as _floats, generator as _generator, handles as _handles, ints as _ints, lib as _lib,
    raise_error as _raise_error, scalar as _scalar, text as _text, wrap as _wrap,
)
from ._dtypes import as_dtype as _as_dtype
from ._tensor import Tensor as _Tensor

_INT_NONE = -(2**63)
_INT_MAX = 2**63 - 1
_Misfit = (AttributeError, _TypeError, _OverflowError)  # what a conversion raises
_new = _ffi.new
_LIST, _COUNT = _ffi.typeof("tp_tensor ***"), _ffi.typeof("int64_t *")


def _signatures(function):
    lines = [line.strip() for line in (function.__doc__ or "").split("\\n\\n", 1)[0].split("\\n")]
    return "; accepted: " + ", ".join(lines) if lines[0] else ""


def _invalid(function, name, given):
    """The TypeError for keywords that a function does not have."""
    return _TypeError(f"{name}() received an invalid combination of arguments: unexpected keyword argument "
                      f"{_repr(next(iter(given)))}{_signatures(function)}")


def _no_overload(function, name, args, given):
    """The TypeError for arguments that fit no overload."""
    got = [_type(a).__name__ for a in args] + [f"{k}={_type(v).__name__}" for k, v in given.items()]
    return _TypeError(f"{name}() received an invalid combination of arguments: got ({', '.join(got)})"
                      f"{_signatures(function)}")


_FITS = {
    "a Tensor": lambda x: _isinstance(x, _Tensor),
    "an int": lambda x: _hasattr(x, "__index__") and not _isinstance(x, _float),
    "a float": lambda x: _hasattr(x, "__float__") or _hasattr(x, "__index__"),
    "a bool": lambda x: _isinstance(x, (_bool, _np.bool_)),
    "a str": lambda x: _isinstance(x, _str),
}


def _explain(error, op, values, expected):
    """The exception of a failed conversion, with the operator's and the argument's name."""
    if _str(error).startswith(op + ":"):
        return error
    for value, (name, what) in zip(values, expected):
        kind, _, optional = what.partition(" or ")
        if not (optional and value is None) and not _FITS[kind](value):
            return _TypeError(f"{op}: argument {name!r} must be {what}, got {_type(value).__name__}")
    return _type(error)(f"{op}: {error}")


def _sequence(x, op, name):
    if _isinstance(x, (_list, _tuple)):
        return x
    if _isinstance(x, _Tensor) or not _hasattr(x, "__iter__"):
        raise _TypeError(f"{op}: argument {name!r} must be a sequence of tensors, got {_type(x).__name__}")
    return _tuple(x)


def _optional_handles(xs, op, name):
    return [_NULL if x is None else _as_tensor_handle(x, op, name) for x in xs]


def _take(out, n):
    """The tensors of a list that libtp returned."""
    p, n = out[0], n[0]
    try:
        for i in _range(n):
            _lib.tp_retain(p[i])
        return _tuple([_wrap(p[i]) for i in _range(n)])
    finally:
        _lib.tp_free_list(p, n)


def _is_tensor(x):
    return _isinstance(x, _Tensor)


def _is_number(x):
    return _isinstance(x, (_int, _float, _complex, _np.generic))


def _is_operand(x):
    return _isinstance(x, (_Tensor, _int, _float, _complex, _np.generic, _np.ndarray))


def _is_int(x):
    return _type(x) is _int or (
        _hasattr(x, "__index__") and not _isinstance(x, (_bool, _Tensor, _np.ndarray, _np.bool_))
    )


def _is_real(x):
    return _isinstance(x, (_int, _float, _np.generic))


def _is_bool(x):
    return _isinstance(x, (_bool, _np.bool_))


def _is_str(x):
    return _isinstance(x, _str)


def _is_dtype(x):
    try:
        _as_dtype(x)
    except (TypeError, ValueError):
        return False
    return True


def _is_generator(x):
    return _type(x).__name__ == "Generator"


def _is_ints(x):
    if _isinstance(x, (_tuple, _list)):
        for i in x:
            if not _is_int(i):
                return False
        return True
    return _is_int(x)


def _is_reals(x):
    return not [i for i in x if not _is_real(i)] if _isinstance(x, (_tuple, _list)) else _is_real(x)


def _is_tensors(x):
    return _isinstance(x, (_tuple, _list)) and not [i for i in x if not (i is None or _isinstance(i, _Tensor))]


def _keywords_fit(given, positional, keyword_only, n):
    """Whether each given keyword names an argument behind the n positional ones, and fits its type."""
    for key, value in given.items():
        for name, optional, predicate in (*positional[n:], *keyword_only):
            if name == key:
                if not (optional and value is None or predicate(value)):
                    return False
                break
        else:
            return False
    return True

'''


class Group:
    """The overloads of one name: `functions` and `methods` are those that each form accepts."""

    def __init__(self, ops):
        self.ops = ops
        first = ops[0]
        self.base = first.base
        self.module = first.get("module", "")
        self.functions = [op for op in ops if op.get("function", True)]
        # Overloads are methods all or none, but for those that say it themselves.
        default_method = not self.module and all(
            op.args and op.args[0].is_tensor and op.args[0].name == "self" for op in ops if "method" not in op.entry
        )
        self.methods = [op for op in ops if op.get("method", default_method)]
        self.aliases = sorted({a for op in ops for a in op.get("aliases", [])})

    def forms(self):
        """(name, in place, overloads as a function, overloads as a method) of what Python shows."""
        yield self.base, False, self.functions, self.methods
        functions, methods = ([op for op in ops if op.get("inplace")] for ops in (self.functions, self.methods))
        if functions or methods:
            yield self.base + "_", True, functions, methods

    def public_name(self, name):
        """Inside the module: the module's name in front is dropped."""
        for prefix in (self.module.replace(".", "_") + "_", self.module.rpartition(".")[2] + "_"):
            if self.module and name.startswith(prefix):
                return name[len(prefix) :]
        return name


def groups(ops):
    found = {}
    for op in ops:
        if not op.internal and (op.get("function", True) or op.get("method", True)):
            found.setdefault(op.base, []).append(op)
    # The table's order decides which overload is tried first.
    return [Group(sorted(found[base], key=lambda op: op.order)) for base in sorted(found)]


def docstring(lines, texts):
    text = "\n".join(dict.fromkeys(lines)) + "\n\n" + "\n\n".join(dict.fromkeys(texts))
    text = text.replace("\\", "\\\\").replace('"""', '\\"""')
    body = "\n".join(f"    {line}".rstrip() for line in text.split("\n"))
    return f'    """{body.lstrip()}\n    """'


def call_lines(op, python_op, inplace=False):
    """Body that converts the arguments and calls libtp."""
    before, c, values, wanted = [], [], [], []
    for a in op.args:
        statements, parts = convert(op, a, python_op)
        before += statements
        c.append(parts)
        if expected(a):
            values.append(a.name)
            wanted.append(f'("{a.name}", "{expected(a)}")')
    fn = f"_tp_{op.c}{'_' if inplace else ''}"
    n = op.nouts
    extra = [] if inplace or n == 1 else ["_out"] if n > 1 else ["_out", "_n"]
    if extra == ["_out"]:
        before.append(f"_out = _new(_OUT{n})")
    elif extra:
        before += ["_out = _new(_LIST)", "_n = _new(_COUNT)"]
    flat = [p for parts in c for p in parts]
    lines = list(before)
    lines.append("try:")
    if op.operand_form:
        a, b = op.args[0].name, op.args[1].name
        rest = "".join(f", {p}" for parts in c[2:] for p in parts)
        end = "_" if inplace else ""
        lines += [
            f"    _t = _type({b})",
            "    if _t is _Tensor:",
            f"        _r = {fn}({a}._h, {b}._h{rest})",
            "    elif _t is _float:",
            f"        _r = _tp_{op.c}_f{end}({a}._h, {b}{rest})",
            f"    elif _t is _int and _INT_NONE <= {b} <= _INT_MAX:",
            f"        _r = _tp_{op.c}_i{end}({a}._h, {b}{rest})",
            "    else:",
            f'        _r = {fn}({a}._h, _as_handle({b}, "{python_op}", "{b}"){rest})',
        ]
    else:
        lines.append(f"    _r = {fn}({', '.join(flat + extra)})")
    pair = f"({', '.join(values)}{',' * (len(values) == 1)}), ({', '.join(wanted)}{',' * (len(wanted) == 1)})"
    lines += ["except _Misfit as _e:", f'    raise _explain(_e, "{python_op}", {pair}) from None']
    if inplace:
        lines += ["if _r:", "    _raise_error()", f"return {op.args[0].name}"]
    elif n == 1:
        lines.append("return _wrap(_r)")
    else:
        lines += ["if _r:", "    _raise_error()"]
        if n < 0:
            lines.append("return _take(_out, _n)")
        else:
            values = ", ".join(f"_wrap(_out[{k}])" for k in range(n))
            lines.append(f"return {op.c}_result({values})")
    return lines


def varargs_lines(op, function, python_op):
    """`f(x, 2, 3)` and `f(x, (2, 3))` and `f(x, size=(2, 3))`; `f(a, b)` and `f([a, b])`."""
    a = next(a for a in op.args if a.varargs)
    n = a.name
    one = f"_type({n}[0]) is not _int" if a.base == "int[]" else f"not _isinstance({n}[0], _Tensor)"
    lines = [f"if _len({n}) == 1 and {one}:", f"    {n} = {n}[0]"]
    lines += [f'elif not {n} and "{n}" in unknown:', f'    {n} = unknown.pop("{n}")']
    if a.default is not MISSING:
        lines += [f"elif not {n}:", f"    {n} = {default(a)}"]
    else:
        lines += [f"elif not {n} and unknown:", f'    raise _invalid({function}, "{python_op}", unknown)']
    return lines


def single(op, name, owner, inplace=False):
    """Source of a function that is one operator; `owner` is the one that the user calls, with the docstring."""
    python_op = op.base + ("_" if inplace else "")
    head = parameters(op, default_text=code_default)
    lines = [f"def {name}({', '.join([*head, '**unknown'])}):"]
    if owner == name:
        lines.append(inplace_doc(op, python_op) if inplace else docstring([signature_line(op)], [doc_text(op)]))
    body = varargs_lines(op, owner, python_op) if any(a.varargs for a in op.args) else []
    body += ["if unknown:", f'    raise _invalid({owner}, "{python_op}", unknown)']
    body += call_lines(op, python_op, inplace)
    return "\n".join([*lines, *(f"    {line}" for line in body), "", ""])


def inplace_doc(op, name):
    text = f"`{op.base}` with its result written into self, which is returned."
    return docstring([signature_line(op, name)], [text])


def dispatcher(ops, function, inplace, made):
    """Source of a function that chooses an overload by its arguments, in the table's order; `made`: the overloads
    that another function has defined."""
    name = ops[0].base + ("_" if inplace else "")
    lines = []
    for op in ops:
        if op.c in made:
            continue
        made.add(op.c)
        impl = f"_impl_{op.c}{'_' if inplace else ''}"
        lines.append(single(op, impl, function, inplace))
        rest = [a for a in op.args if not a.keyword_only]
        for kind, args in (("P", rest), ("K", [a for a in op.args if a.keyword_only])):
            specs = "".join(f'("{a.name}", {a.optional}, {PREDICATES[a.base]}), ' for a in args)
            lines.append(f"{impl}_{kind} = ({specs.rstrip()})\n")
        lines.append("\n")
    lines.append(f"def {function}(*args, **given):\n")
    text = (
        [f"`{ops[0].base}` with its result written into self, which is returned."]
        if inplace
        else [doc_text(op) for op in ops if op.doc]
    )
    lines.append(docstring([signature_line(op, name) for op in ops], list(dict.fromkeys(text))) + "\n")
    lines.append("    n = _len(args)\n")
    for op in ops:
        impl = f"_impl_{op.c}{'_' if inplace else ''}"
        slots = [a for a in op.args if not a.keyword_only]
        tests = []
        varargs = slots and slots[-1].varargs
        if not varargs:
            tests.append(f"n <= {len(slots)}")
        for i, a in enumerate(slots):
            if a.varargs:
                fits = PREDICATES[a.base]
                tests.append(f"(n < {i + 1} or {fits}(args[{i}]) and (n == {i + 1} or {fits}(args[{i}:])))")
                continue
            none = f"args[{i}] is None or " if a.optional else ""
            tests.append(f"(n < {i + 1} or {none}{PREDICATES[a.base]}(args[{i}]))")
            if a.default is MISSING:
                tests.append(f'(n > {i} or "{a.name}" in given)')
        for a in op.args:
            if a.keyword_only and a.default is MISSING:
                tests.append(f'"{a.name}" in given')
        tests.append(f"(not given or _keywords_fit(given, {impl}_P, {impl}_K, n))")
        joined = "\n            and ".join(tests)
        lines.append(f"    if (\n            {joined}\n    ):\n        return {impl}(*args, **given)\n")
    lines.append(f'    raise _no_overload({function}, "{name}", args, given)\n\n\n')
    return "".join(lines)


def module_source(found):
    out, bound, counts = [], set(), set()
    functions, methods, namespaces, aliases, scalars = {}, {}, {}, {}, {}
    for group in found:
        for op in group.ops:
            bound |= {s[3:] for s in emit_c.op_symbols(op)}
            if op.nouts > 1:
                counts.add(op.nouts)
            scalars |= {
                scalar_constant(a.default): a.default
                for a in op.args
                if a.base == "Scalar" and a.default not in (MISSING, None)
            }
        for name, is_inplace, as_function, as_method in group.forms():
            made = set()
            method = f"_method_{name}" if as_function and as_method and as_function != as_method else name
            for python, ops in {method: as_method, name: as_function or as_method}.items():
                if len(ops) == 1:
                    out.append(single(ops[0], python, python, is_inplace))
                else:
                    out.append(dispatcher(ops, python, is_inplace, made))
            for shown in [name, *(a + ("_" if is_inplace else "") for a in group.aliases)]:
                if shown != name:
                    aliases[shown] = name
                if as_method:
                    methods[shown] = method
                if as_function and group.module:
                    namespaces.setdefault(group.module, {})[group.public_name(shown)] = name
                elif as_function:
                    functions[shown] = name
    head = [PREAMBLE, *(f'_OUT{n} = _ffi.typeof("tp_tensor *[{n}]")' for n in sorted(counts))]
    head += [f"_tp_{c} = _lib.tp_{c}" for c in sorted(bound)]
    for v in sorted(scalars):
        head += [f"_V_{v} = {scalars[v]!r}", f'_S_{v} = _scalar(_V_{v}, "", "")']
    head += [
        f'{op.c}_result = _namedtuple("{op.c}_result", {list(op.signature.outputs)!r})'
        for group in found
        for op in group.ops
        if op.nouts > 1
    ]
    tail = ["", *(f"{k} = {v}" for k, v in sorted(aliases.items())), ""]
    tail += [dictionary("FUNCTIONS", functions), dictionary("METHODS", methods)]
    tail.append("# Functions of the modules below tensorplay.")
    tail.append("NAMESPACES = {")
    for module in sorted(namespaces):
        tail.append(f'    "{module}": {{')
        tail += [f'        "{k}": {v},' for k, v in sorted(namespaces[module].items())]
        tail.append("    },")
    tail += ["}", "", INSTALL]
    return "\n".join([*head, "", "", *out]).rstrip("\n") + "\n\n" + "\n".join(tail)


INSTALL = '''\
__all__ = _list(FUNCTIONS)


def install(cls):
    """Makes the functions methods of the class, but for those that it defines itself."""
    for name, function in METHODS.items():
        if name not in cls.__dict__:
            _setattr(cls, name, function)
'''


def dictionary(name, entries):
    return "\n".join([f"{name} = {{", *(f'    "{k}": {v},' for k, v in sorted(entries.items())), "}", ""])


# -- stubs ------------------------------------------------------------------------------------------

STUB = """\
# Generated from the operator table; edits are lost.
from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from collections.abc import Callable as _Callable, Sequence as _Sequence
from typing import Any as _Any, NamedTuple as _NamedTuple, overload as _overload

from ._dtypes import dtype as _dtype
from ._random import Generator
from ._tensor import Tensor

_Number = _bool | _int | _float | _complex
_DType = _dtype | _str | type
FUNCTIONS: dict[_str, _Callable[..., _Any]]
METHODS: dict[_str, _Callable[..., _Any]]
NAMESPACES: dict[_str, dict[_str, _Callable[..., _Any]]]
def install(cls: type) -> None: ...
"""


def stub_lines(ops, name, inplace, method, indent):
    lines = []
    for op in ops:
        if len(ops) > 1:
            lines.append(f"{indent}@_overload")
        returns = "Tensor" if op.nouts == 1 or inplace else "tuple[Tensor, ...]" if op.nouts < 0 else f"{op.c}_result"
        params = ", ".join(parameters(op, "method" if method else "function", stub_default))
        lines.append(f"{indent}def {name}({params}) -> {returns}: ...")
    return lines


def stub_source(found):
    lines, methods = [STUB], []
    for group in found:
        for op in group.ops:
            if op.nouts > 1:
                lines.append(f"class {op.c}_result(_NamedTuple):")
                lines += [f"    {n}: Tensor" for n in op.signature.outputs]
        for name, inplace, as_function, as_method in group.forms():
            for shown in [name, *(a + ("_" if inplace else "") for a in group.aliases)]:
                lines += stub_lines(as_function, shown, inplace, False, "")
                methods += stub_lines(as_method, shown, inplace, True, "    ")
    lines.append("\nclass TensorMethods:")
    lines += methods or ["    ..."]
    return "\n".join(lines) + "\n"


def outputs(ops):
    """Files by name."""
    found = groups(ops)
    assert ANNOTATIONS.keys() == PREDICATES.keys()
    return {"cdef.h": emit_c.cdef(ops), "_ops.py": module_source(found), "_ops.pyi": stub_source(found)}
