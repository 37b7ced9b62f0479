"""Formulas of the table, compiled to C.

NOTE: what a formula is
Python's expression syntax over typed values: `grad * conj(other)`, `sum_dim(self, dim, keepdim=True)`. Assignments
may precede the last expression (`s = sigmoid(self); grad * s * (1 - s)`). Everything is compiled to calls of the x_
forms of operators, which own their results in the scope of the rule and pass NULL on; so there is no error code in a
formula. A number beside a tensor becomes a weak scalar, through the `_f` and `_i` forms where the operator has them.

What is a derivative has to be linear in `grad` or in the tangents: each term of the sum at its top names at least
one of them, and is dropped at run time when one of those is absent.
"""

import ast
import math
import re
import textwrap
from dataclasses import dataclass, field

from optable.errors import TableError
from optable.schema import result_number
from optable.signature import DTYPES, MISSING

# Helpers of core/scope.h: parameters as (type, only shape and dtype are read), and the call.
BUILTINS = {
    "sum_to": ([("Tensor", False), ("Tensor", True)], "x_sum_to({0}, {1})"),
    "sum_to_shape": ([("Tensor", False), ("int[]", False)], "x_sum_to_shape({0}, (int)({1n}), {1})"),
    "zeros_like": ([("Tensor", True)], "x_zeros_like({0})"),
    "ones_like": ([("Tensor", True)], "x_ones_like({0})"),
    "full_like": ([("Tensor", True), ("float", False)], "x_full_like({0}, {1})"),
    "scalar": ([("float", False), ("Tensor", True)], "x_scalar({0}, {1})"),
    "to_dtype": ([("Tensor", False), ("dtype", False)], "x_to_dtype({0}, {1})"),
    "reshape_to": ([("Tensor", False), ("int[]", False)], "x_reshape_to({0}, (int)({1n}), {1})"),
    "expand_to": ([("Tensor", False), ("int[]", False)], "x_expand_to({0}, (int)({1n}), {1})"),
    "unsqueeze_at": ([("Tensor", False), ("int", False)], "x_unsqueeze_at({0}, (int)({1}))"),
    "movedim1": ([("Tensor", False), ("int", False), ("int", False)], "x_movedim1({0}, (int)({1}), (int)({2}))"),
}
# All x_ names that core/scope.h takes: an operator of that name is called x_<name>_op.
SCOPE_NAMES = frozenset(BUILTINS) | {"iscalar", "zeros_shape", "alias"}

NUMBERS = ("bool", "int", "float")
C_TYPES = {
    "Tensor": "T",
    "int": "int64_t",
    "float": "double",
    "bool": "bool",
    "dtype": "int",
    "str": "const char *",
    "Scalar": "const tp_scalar *",
    "Generator": "tp_generator *",
}
BINARY = {
    ast.Add: ("add", "+"),
    ast.Sub: ("sub", "-"),
    ast.Mult: ("mul", "*"),
    ast.Div: ("div", "/"),
    ast.Pow: ("pow", "**"),
    ast.MatMult: ("matmul", "@"),
    ast.FloorDiv: ("floor_divide", "//"),
    ast.Mod: ("remainder", "%"),
    ast.BitAnd: ("bitwise_and", "&"),
    ast.BitOr: ("bitwise_or", "|"),
}
COMPARE = {
    ast.Lt: ("lt", "<"),
    ast.LtE: ("le", "<="),
    ast.Gt: ("gt", ">"),
    ast.GtE: ("ge", ">="),
    ast.Eq: ("eq", "=="),
    ast.NotEq: ("ne", "!="),
}
CONSTANTS = {"pi": math.pi, "inf": math.inf, "nan": math.nan}
MATH = ("sqrt", "exp", "log", "sin", "cos", "tanh", "floor", "ceil")
ATTRIBUTES = {
    "ndim": ("int", "ndim_of"),
    "numel": ("int", "numel_of"),
    "dtype": ("dtype", "dtype_of"),
    "is_complex": ("bool", "is_complex_of"),
    "is_floating": ("bool", "is_floating_of"),
    "shape": ("int[]", ""),
}
DTYPE_C = {name: f"TP_{name.upper()}" for name in DTYPES}


@dataclass
class Value:
    """A typed piece of C. Lists are two pieces (pointer and length), several outputs are an array of T."""

    type: str  # "Tensor", "int", ...; "None"; "outputs"
    c: list
    optional: bool = False
    deps: frozenset = frozenset()  # gradients or tangents it is made of
    literal: object = MISSING
    outputs: tuple = ()


@dataclass
class Compiled:
    """Statements, then the C of the results."""

    statements: list = field(default_factory=list)
    results: list = field(default_factory=list)


def c_float(v):
    if math.isnan(v):
        return "(double)NAN"
    if math.isinf(v):
        return "(double)INFINITY" if v > 0 else "-(double)INFINITY"
    return repr(float(v))


def c_string(s):
    out = []
    for byte in s.encode():
        ch = chr(byte)
        out.append("\\" + ch if ch in '\\"' else ch if 32 <= byte < 127 else f"\\{byte:03o}")
    return '"' + "".join(out) + '"'


def c_literal(v):
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, int):
        return f"INT64_C({v})" if abs(v) >= 2**31 else str(v)
    return c_float(v)


def scalar_literal(v):
    """C of a `const tp_scalar *`."""
    if isinstance(v, bool):
        return f"&(tp_scalar){{.tag = TP_SCALAR_BOOL, .v.i = {int(v)}}}"
    if isinstance(v, int):
        return f"&(tp_scalar){{.tag = TP_SCALAR_INT, .v.i = {c_literal(v)}}}"
    if isinstance(v, complex):
        return f"&(tp_scalar){{.tag = TP_SCALAR_COMPLEX, .v.c = {{{c_float(v.real)}, {c_float(v.imag)}}}}}"
    return f"&(tp_scalar){{.tag = TP_SCALAR_FLOAT, .v.f = {c_float(v)}}}"


def parse(text):
    """(assignments, last expression)."""
    text = textwrap.dedent(text).strip()
    try:
        return [], ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError:
        pass
    try:
        body = ast.parse(text).body
    except SyntaxError as e:
        raise TableError(f"syntax error: {e.msg}") from None
    for statement in body[:-1]:
        if not (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
        ):
            raise TableError(f"'{ast.unparse(statement)}': only `name = expression` may precede the last expression")
    if not body or not isinstance(body[-1], ast.Expr):
        raise TableError("does not end with an expression")
    return body[:-1], body[-1].value


class Compiler:
    """Compiles the formulas of one rule of one operator. `used` collects the names that need a declaration."""

    def __init__(self, op, kind, ops):
        self.op, self.kind, self.ops = op, kind, ops
        self.used = {}  # C name -> declaration, in order of first use
        self.locals = {}
        self.save = [0] * len(op.args)
        self.save_results = 0
        self.serial = 0

    # -- entry points ------------------------------------------------------------------------------

    def derivative(self, text):
        """One T: terms with absent gradients or tangents dropped."""
        compiled = Compiled()
        self.locals = {}
        statements, last = parse(text)
        self.assignments(statements, compiled)
        compiled.results = [self.terms(last)]
        return compiled

    def composite(self, text):
        compiled = Compiled()
        self.locals = {}
        statements, last = parse(text)
        self.assignments(statements, compiled)
        nodes = last.elts if isinstance(last, ast.Tuple) else [last]
        n = len(self.op.signature.outputs)
        if len(nodes) != n:
            raise TableError(f"gives {len(nodes)} results for {n} outputs")
        for node in nodes:
            v = self.expr(node)
            if n == 1 and v.type == "outputs":
                raise TableError(f"'{ast.unparse(node)}' has {len(v.outputs)} outputs: choose one with [0]")
            compiled.results.append(self.tensor(v, ast.unparse(node)))
        return compiled

    def assignments(self, statements, compiled):
        for s in statements:
            name, v = s.targets[0].id, self.expr(s.value)
            if self.op.signature.index(name) >= 0 or name in ("grad", "grads", "result", "results"):
                raise TableError(f"'{name}' is assigned to but names something else")
            if name in self.locals:
                raise TableError(f"'{name}' is assigned to twice")
            c = f"u_{name}"
            if v.type in ("int[]", "float[]"):
                element = "int64_t" if v.type == "int[]" else "double"
                compiled.statements += [f"const {element} *{c} = {v.c[0]};", f"int64_t {c}_n = {v.c[1]};"]
                value = Value(v.type, [c, f"{c}_n"], v.optional, v.deps)
            elif v.type == "outputs":
                n = len(v.outputs)
                compiled.statements.append(f"T {c}[{n}] = {{NULL}};")
                compiled.statements.append(f"(void){v.c[0].format(out=c)};")
                value = Value("outputs", [None, c], False, v.deps, MISSING, v.outputs)
            elif v.type in C_TYPES:
                type = C_TYPES[v.type]
                compiled.statements.append(f"{type}{'' if type.endswith('*') else ' '}{c} = {v.c[0]};")
                value = Value(v.type, [c], v.optional, v.deps)
            else:
                raise TableError(f"'{name}' can't hold a {v.type}")
            self.locals[name] = value

    def terms(self, node):
        """C of the sum at the top of a derivative."""
        if isinstance(node, ast.IfExp):
            return f"({self.condition(node.test)} ? {self.terms(node.body)} : {self.terms(node.orelse)})"
        if isinstance(node, ast.Constant) and node.value is None:
            return "NULL"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not self.simple(node.operand):
            return f"x_neg({self.terms(node.operand)})"
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            add = isinstance(node.op, ast.Add)
            left, right = self.terms(node.left), self.terms(node.right)
            if self.guarded:
                return f"{'plus' if add else 'minus'}({left}, {right})"
            other = self.operator("add" if add else "sub")
            pair = [Value("Tensor", [left]), Value("Tensor", [right])]
            return self.call(other, pair, {}, ast.unparse(node))
        v = self.expr(node)
        text = ast.unparse(node)
        c = self.tensor(v, text)
        if not v.deps:
            what = "gradient" if self.kind == "vjp" else "tangent"
            raise TableError(f"the term '{text}' has no {what} in it")
        return f"({' && '.join(sorted(v.deps))} ? {c} : NULL)" if self.guarded and c not in v.deps else c

    @staticmethod
    def simple(node):
        return not (
            isinstance(node, ast.IfExp) or isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))
        )

    @property
    def guarded(self):
        return self.kind == "jvp" or len(self.op.signature.outputs) > 1

    # -- names -------------------------------------------------------------------------------------

    def declare(self, c, text):
        self.used.setdefault(c, text)
        return c

    def name(self, name, meta=False):
        """meta: only shape and dtype are wanted."""
        op = self.op
        if name in self.locals:
            return self.locals[name]
        if self.kind == "vjp" and name == "grad":  # before an argument of that name, which backward kernels have
            return self.grad(0)
        i = op.signature.index(name)
        if i >= 0:
            return self.argument(i, meta)
        if self.kind == "vjp":
            mask = result_number(op, name)
            if mask and mask & (mask - 1) == 0:
                return self.result(mask.bit_length() - 1)
        if self.kind == "jvp":
            if name.endswith("_t"):
                i = op.signature.index(name[:-2])
                if i >= 0:
                    return self.tangent(i)
            mask = result_number(op, name)
            if mask and mask & (mask - 1) == 0:
                return self.result(mask.bit_length() - 1)
        if name in CONSTANTS:
            return Value("float", [c_float(CONSTANTS[name])], literal=CONSTANTS[name])
        if name in DTYPE_C:
            return Value("dtype", [DTYPE_C[name]])
        raise TableError(f"unknown name '{name}'")

    def grad(self, k):
        if not 0 <= k < len(self.op.signature.outputs):
            raise TableError(f"no gradient {k}: there are {len(self.op.signature.outputs)} outputs")
        if k in self.op.get("nondiff_outputs", []):
            raise TableError(f"gradient {k} is that of a nondifferentiable output")
        c = self.declare(f"g{k}", f"T g{k} = c->grads[{k}];")
        return Value("Tensor", [c], deps=frozenset([c]))

    def result(self, k):
        if not 0 <= k < len(self.op.signature.outputs):
            raise TableError(f"no result {k}: there are {len(self.op.signature.outputs)} outputs")
        self.save_results |= 1 << k
        return Value("Tensor", [self.declare(f"r{k}", f"T r{k} = c->results[{k}];")])

    def tangent(self, i):
        arg = self.op.args[i]
        if not self.op.differentiable(arg) or not arg.is_tensor:
            raise TableError(f"'{arg.name}_t': '{arg.name}' of type {arg.type} has no tangent in a formula")
        c = self.declare(f"t_{arg.name}", f"T t_{arg.name} = c->tangents[{i}];")
        return Value("Tensor", [c], deps=frozenset([c]))

    def argument(self, i, meta=False):
        arg = self.op.args[i]
        c, p = f"a_{arg.name}", f"c->args[{i}]"
        none = f"arg_none(&{p}) ? "
        if arg.is_tensor or arg.is_tensor_list:
            self.save[i] = max(self.save[i], 1 if meta else 2)
        match arg.base:
            case "Tensor" | "Operand":
                self.declare(c, f"T {c} = arg_t(&{p});")
                return Value("Tensor", [c], arg.optional)
            case "Tensor[]" | "Tensor?[]":
                return Value("Tensor[]", [f"{p}.v.ts", f"{p}.n"])
            case "int[]":
                self.declare(c, f"const int64_t *{c} = {p}.v.ints;")
                self.declare(f"{c}_n", f"int64_t {c}_n = {none if arg.optional else ''}{'-1 : ' * arg.optional}{p}.n;")
                return Value("int[]", [c, f"{c}_n"], arg.optional)
            case "float[]":
                return Value("float[]", [f"{p}.v.fs", f"{p}.n"])
            case "int":
                self.declare(c, f"int64_t {c} = " + (none + "TP_INT_NONE : " if arg.optional else "") + f"{p}.v.i;")
            case "float":
                if arg.optional:
                    self.declare(c, f"const double *{c} = {none}NULL : &{p}.v.f;")
                    return Value("float", [f"*{c}", c], True)
                self.declare(c, f"double {c} = {p}.v.f;")
            case "bool":
                if arg.optional:
                    self.declare(c, f"int {c} = {none}-1 : (int){p}.v.i;")
                else:
                    self.declare(c, f"bool {c} = arg_b(&{p});")
            case "Scalar":
                self.declare(c, f"const tp_scalar *{c} = " + (none + "NULL : " if arg.optional else "") + f"&{p}.v.s;")
            case "str":
                self.declare(c, f"const char *{c} = {none}NULL : {p}.v.str;")
            case "dtype":
                self.declare(c, f"int {c} = " + (none + "TP_DTYPE_NONE : " if arg.optional else "") + f"(int){p}.v.i;")
            case "Generator":
                self.declare(c, f"tp_generator *{c} = {none}NULL : {p}.v.gen;")
        return Value(arg.base, [c], arg.optional)

    # -- expressions -------------------------------------------------------------------------------

    def expr(self, node, meta=False):
        method = getattr(self, "expr_" + type(node).__name__.lower(), None)
        if method is None:
            raise TableError(f"'{ast.unparse(node)}' is not in the language of formulas")
        return method(node, meta) if isinstance(node, ast.Name) else method(node)

    def expr_name(self, node, meta):
        return self.name(node.id, meta)

    def expr_constant(self, node):
        v = node.value
        if v is None:
            return Value("None", [])
        if isinstance(v, str):
            return Value("str", [c_string(v)], literal=v)
        if isinstance(v, bool):
            return Value("bool", [c_literal(v)], literal=v)
        if isinstance(v, int):
            return Value("int", [c_literal(v)], literal=v)
        if isinstance(v, float):
            return Value("float", [c_literal(v)], literal=v)
        if isinstance(v, complex):
            return Value("Scalar", [scalar_literal(v)], literal=v)
        raise TableError(f"'{ast.unparse(node)}' is not in the language of formulas")

    def expr_list(self, node):
        values = [self.expr(e) for e in node.elts]
        deps = frozenset().union(*(v.deps for v in values))
        if values and any(v.type == "Tensor" for v in values):
            return Value(
                "Tensor[]", [f"(T[]){{{', '.join(self.tensor(v) for v in values)}}}", str(len(values))], deps=deps
            )
        if all(v.type in ("int", "bool") for v in values):
            if not values:
                return Value("int[]", ["NULL", "0"], literal=[])
            return Value("int[]", [f"(const int64_t[]){{{', '.join(v.c[0] for v in values)}}}", str(len(values))])
        if all(v.type in NUMBERS for v in values):
            return Value("float[]", [f"(const double[]){{{', '.join(v.c[0] for v in values)}}}", str(len(values))])
        raise TableError(f"'{ast.unparse(node)}' mixes types")

    expr_tuple = expr_list

    def expr_unaryop(self, node):
        v = self.expr(node.operand)
        if isinstance(node.op, ast.Not):
            return Value("bool", [f"(!{self.boolean(v, node)})"])
        if v.literal is not MISSING and isinstance(node.op, ast.USub) and v.type in ("int", "float"):
            return Value(v.type, [c_literal(-v.literal)], literal=-v.literal)
        if isinstance(node.op, ast.USub):
            if v.type == "Tensor":
                return Value("Tensor", [f"{self.x('neg')}({v.c[0]})"], deps=v.deps)
            if v.type in ("int", "float"):
                return Value(v.type, [f"(-{v.c[0]})"])
        if isinstance(node.op, ast.Invert) and v.type == "Tensor":
            return Value("Tensor", [f"{self.x('bitwise_not')}({v.c[0]})"], deps=v.deps)
        raise TableError(f"'{ast.unparse(node)}': no such operation on a {v.type}")

    def expr_binop(self, node):
        if type(node.op) not in BINARY:
            raise TableError(f"'{ast.unparse(node)}' is not in the language of formulas")
        name, sign = BINARY[type(node.op)]
        a, b = self.expr(node.left), self.expr(node.right)
        if "Tensor" in (a.type, b.type):
            return self.tensor_binary(name, a, b, node)
        if a.type in NUMBERS and b.type in NUMBERS:
            return self.number_binary(sign, a, b, node)
        raise TableError(f"'{ast.unparse(node)}': no such operation on {a.type} and {b.type}")

    def tensor_binary(self, name, a, b, node):
        text, deps = ast.unparse(node), a.deps | b.deps
        other = self.operator(name)
        if name in ("add", "mul") and a.type != "Tensor":
            a, b = b, a  # commutes; the number behind has a form of its own
        if other.operand_form and a.type == "Tensor" and b.type in ("int", "float"):
            suffix = "i" if b.type == "int" else "f"
            if all(arg.default is not MISSING for arg in other.args[2:]):
                rest = "".join(f", {c}" for arg in other.args[2:] for c in default_c(arg))
                return Value("Tensor", [f"x_{name}_{suffix}({a.c[0]}, {b.c[0]}{rest})"], deps=deps)
        return Value("Tensor", [self.call(other, [a, b], {}, text)], deps=deps)

    def number_binary(self, sign, a, b, node):
        x, y = a.c[0], b.c[0]
        integer = a.type != "float" and b.type != "float"
        if a.literal is not MISSING and b.literal is not MISSING and sign in ("+", "-", "*", "/", "**"):
            try:
                v = {
                    "+": lambda p, q: p + q,
                    "-": lambda p, q: p - q,
                    "*": lambda p, q: p * q,
                    "/": lambda p, q: p / q,
                    "**": lambda p, q: p**q,
                }[sign](a.literal, b.literal)
            except (ArithmeticError, ValueError) as e:
                raise TableError(f"'{ast.unparse(node)}': {e}") from None
            if isinstance(v, (int, float)):
                return Value("int" if isinstance(v, int) else "float", [c_literal(v)], literal=v)
        if sign in "+-*":
            return Value("int" if integer else "float", [f"({x} {sign} {y})"])
        if sign == "/":
            return Value("float", [f"((double){x} / (double){y})"])
        if sign == "**":
            return Value("float", [f"pow((double){x}, (double){y})"])
        if sign in ("//", "%") and integer:
            return Value("int", [f"{'floor_div' if sign == '//' else 'floor_mod'}({x}, {y})"])
        raise TableError(f"'{ast.unparse(node)}': no such operation on {a.type} and {b.type}")

    def expr_compare(self, node):
        if len(node.ops) != 1:
            raise TableError(f"'{ast.unparse(node)}': one comparison at a time")
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            raise TableError(f"'{ast.unparse(node)}': use has(name)")
        if type(node.ops[0]) not in COMPARE:
            raise TableError(f"'{ast.unparse(node)}' is not in the language of formulas")
        name, sign = COMPARE[type(node.ops[0])]
        a, b = self.expr(node.left), self.expr(node.comparators[0])
        if "Tensor" in (a.type, b.type):
            return self.tensor_binary(name, a, b, node)
        if a.type in NUMBERS and b.type in NUMBERS or a.type == b.type == "dtype" and sign in ("==", "!="):
            return Value("bool", [f"({a.c[0]} {sign} {b.c[0]})"])
        if a.type == b.type == "str" and sign in ("==", "!="):
            return Value("bool", [f"(strcmp({a.c[0]}, {b.c[0]}) {sign} 0)"])
        raise TableError(f"'{ast.unparse(node)}': {a.type} and {b.type} do not compare")

    def expr_boolop(self, node):
        sign = " && " if isinstance(node.op, ast.And) else " || "
        return Value("bool", ["(" + sign.join(self.condition(v) for v in node.values) + ")"])

    def boolean(self, v, node):
        if v.type in NUMBERS and len(v.c) == 1:
            return v.c[0]
        raise TableError(f"'{ast.unparse(node)}': a condition is made of attributes and numbers, not of a {v.type}")

    def condition(self, node):
        return self.boolean(self.expr(node), node)

    def expr_ifexp(self, node):
        test = self.condition(node.test)
        a, b = self.expr(node.body), self.expr(node.orelse)
        deps = a.deps | b.deps
        if "Tensor" in (a.type, b.type):
            optional = "None" in (a.type, b.type)
            x, y = (("NULL" if v.type == "None" else self.tensor(v)) for v in (a, b))
            return Value("Tensor", [f"({test} ? {x} : {y})"], optional, deps)
        if a.type in NUMBERS and b.type in NUMBERS:
            type = a.type if a.type == b.type else "float" if "float" in (a.type, b.type) else "int"
            return Value(type, [f"({test} ? {a.c[0]} : {b.c[0]})"])
        if a.type == b.type and a.type not in ("None", "outputs"):
            return Value(a.type, [f"({test} ? {x} : {y})" for x, y in zip(a.c, b.c)], a.optional or b.optional, deps)
        raise TableError(f"'{ast.unparse(node)}': {a.type} or {b.type}")

    def expr_attribute(self, node):
        if node.attr not in ATTRIBUTES:
            v = self.expr(node.value)
            if v.type == "outputs" and node.attr in v.outputs:
                return self.output(v, v.outputs.index(node.attr))
            raise TableError(f"unknown attribute '.{node.attr}'; known: .{', .'.join(ATTRIBUTES)}")
        v = self.expr(node.value, True)
        if v.type != "Tensor":
            raise TableError(f"'{ast.unparse(node)}': a {v.type} has no .{node.attr}")
        type, function = ATTRIBUTES[node.attr]
        if node.attr == "shape":
            if not isinstance(node.value, (ast.Name, ast.Subscript)):
                raise TableError(f"'{ast.unparse(node)}': give the tensor a name first (x = ...; x.shape)")
            return Value("int[]", [f"shape_of({v.c[0]})", f"ndim_of({v.c[0]})"])
        return Value(type, [f"{function}({v.c[0]})"])

    def expr_subscript(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in ("grads", "results"):
            k = self.literal_int(node.slice)
            if node.value.id == "grads" and self.kind == "vjp":
                return self.grad(k)
            if node.value.id == "results" and self.kind != "composite":
                return self.result(k)
        v = self.expr(node.value)
        if v.type == "outputs":
            return self.output(v, self.literal_int(node.slice))
        if v.type == "int[]" and isinstance(node.slice, ast.Slice):
            return self.sliced(v, node)
        if v.type == "int[]":
            i = self.expr(node.slice)
            if i.type == "int":
                return Value("int", [f"list_at({v.c[0]}, {v.c[1]}, {i.c[0]})"])
        raise TableError(f"'{ast.unparse(node)}': a {v.type} has no such entry")

    def sliced(self, v, node):
        s = node.slice
        start = 0 if s.lower is None else self.literal_int(s.lower)
        stop = None if s.upper is None else self.literal_int(s.upper)
        if s.step is not None or (start < 0 and stop is not None):
            raise TableError(f"'{ast.unparse(node)}': a slice is [start:], [:stop] or [start:stop] with start >= 0")
        bounds = f"{v.c[1]}, {start}, {'INT64_MAX' if stop is None else stop}"
        return Value("int[]", [f"slice_at({v.c[0]}, {bounds})", f"slice_len({bounds})"])

    def literal_int(self, node):
        v = self.expr(node)
        if v.type != "int" or v.literal is MISSING:
            raise TableError(f"'{ast.unparse(node)}' is not an integer literal")
        return v.literal

    def output(self, v, k):
        n = len(v.outputs)
        if not 0 <= k < n:
            raise TableError(f"no output {k} of {n}")
        if v.c[0] is None:
            return Value("Tensor", [f"{v.c[1]}[{k}]"], deps=v.deps)
        self.serial += 1
        o = f"o{self.serial}"
        call = v.c[0].format(out=o)
        return Value("Tensor", [f"({{ T {o}[{n}] = {{NULL}}; (void){call}; {o}[{k}]; }})"], deps=v.deps)

    # -- calls -------------------------------------------------------------------------------------

    def operator(self, name):
        """The operator that is written `name` in a formula."""
        op = self.ops.get(name)
        if op is not None:
            return op
        close = sorted(k for k in self.ops if k.startswith(name + "_"))
        raise TableError(f"unknown operator '{name}'" + (f"; there is {', '.join(close[:6])}" if close else ""))

    def x(self, name):
        self.operator(name)
        return x_name(name)

    def expr_call(self, node):
        if not isinstance(node.func, ast.Name):
            raise TableError(f"'{ast.unparse(node)}': only operators are called")
        name, text = node.func.id, ast.unparse(node)
        if any(k.arg is None for k in node.keywords) or any(isinstance(a, ast.Starred) for a in node.args):
            raise TableError(f"'{text}': no * or ** here")
        if name == "has":
            return self.has(node)
        builtin = BUILTINS.get(name)
        if builtin and not node.keywords and len(node.args) == len(builtin[0]):
            return self.builtin(builtin, node)
        args = [self.expr(a) for a in node.args]
        if name == "len" and len(args) == 1 and args[0].type in ("int[]", "Tensor[]", "float[]"):
            return Value("int", [f"(int64_t)({args[0].c[1]})"])
        if name in ("float", "int") and len(args) == 1 and not node.keywords:
            if args[0].type in NUMBERS:
                return Value(name, [f"({'double' if name == 'float' else 'int64_t'})({args[0].c[0]})"])
            if args[0].type == "Scalar" and name == "float":
                return Value("float", [f"scalar_value({args[0].c[0]})"])
        if name in MATH and len(args) == 1 and args[0].type in NUMBERS:
            return Value("float", [f"{name}((double)({args[0].c[0]}))"])
        op = self.operator(name)
        keywords = {k.arg: self.expr(k.value) for k in node.keywords}
        deps = frozenset().union(*(v.deps for v in [*args, *keywords.values()]))
        c = self.call(op, args, keywords, text)
        if op.nouts == 1:
            return Value("Tensor", [c], deps=deps)
        if op.nouts < 0:
            raise TableError(f"'{text}' is a list of tensors: not in a formula")
        return Value("outputs", [c], deps=deps, outputs=op.signature.outputs)

    def has(self, node):
        if len(node.args) != 1 or not isinstance(node.args[0], ast.Name) or node.keywords:
            raise TableError(f"'{ast.unparse(node)}': has(name of an optional argument)")
        i = self.op.signature.index(node.args[0].id)
        if i < 0:
            raise TableError(f"unknown name '{node.args[0].id}'")
        if not self.op.args[i].optional:
            raise TableError(f"'{ast.unparse(node)}': '{node.args[0].id}' is not optional")
        if self.op.args[i].is_tensor:
            self.save[i] = max(self.save[i], 1)
        return Value("bool", [f"(!arg_none(&c->args[{i}]))"])

    def builtin(self, builtin, node):
        types, template = builtin
        text, fields, deps = ast.unparse(node), {}, frozenset()
        for i, ((type, meta), arg) in enumerate(zip(types, node.args)):
            v = self.expr(arg, meta)
            if not meta:
                deps |= v.deps
            parts = self.coerce(v, type, False, text)
            fields[str(i)], fields[f"{i}n"] = parts[0], parts[-1]
        return Value("Tensor", [re.sub(r"\{(\w+)\}", lambda m: fields[m[1]], template)], deps=deps)

    def call(self, op, positional, keywords, text):
        """C of a call of op's x_ form; `{out}` stands for the array of several outputs."""
        given = dict(keywords)
        slots = [a for a in op.args if not a.keyword_only]
        if (
            slots
            and slots[-1].varargs
            and len(positional) >= len(slots)
            and all(v.type == "int" for v in positional[len(slots) - 1 :])
        ):
            rest = positional[len(slots) - 1 :]
            numbers = ", ".join(v.c[0] for v in rest)
            positional = [
                *positional[: len(slots) - 1],
                Value("int[]", [f"(const int64_t[]){{{numbers}}}", str(len(rest))]),
            ]
        if len(positional) > len(slots):
            raise TableError(f"'{text}': {op.name} takes {len(slots)} positional arguments, not {len(positional)}")
        for arg, v in zip(slots, positional):
            if arg.name in given:
                raise TableError(f"'{text}': argument '{arg.name}' is given twice")
            given[arg.name] = v
        c = []
        for arg in op.args:
            if arg.name in given:
                parts = self.coerce(given.pop(arg.name), arg.base, arg.optional, f"{text}: argument '{arg.name}'")
            elif arg.default is not MISSING:
                parts = default_c(arg)
            else:
                raise TableError(f"'{text}': argument '{arg.name}' of {op.name} is missing")
            c += parts
        if given:
            raise TableError(f"'{text}': {op.name} has no argument '{next(iter(given))}'")
        if op.nouts > 1:
            c.append("{out}")
        # Nested calls of several outputs are expressions by now: only the outermost keeps the placeholder.
        inner = ", ".join(c[:-1] if op.nouts > 1 else c)
        if op.nouts > 1:
            inner = inner.replace("{", "{{").replace("}", "}}")
            return f"{x_name(op.c)}({inner}{', ' if inner else ''}{{out}})"
        return f"{x_name(op.c)}({inner})"

    def tensor(self, v, text=""):
        if v.type == "Tensor":
            return v.c[0]
        if v.type in NUMBERS and len(v.c) == 1:
            return f"weak_{ {'int': 'i', 'float': 'f', 'bool': 'b'}[v.type] }({v.c[0]})"
        if v.type == "Scalar":
            return f"weak_s({v.c[0]})"
        raise TableError((f"'{text}': " if text else "") + f"a {v.type} is not a tensor")

    def coerce(self, v, base, optional, text):
        """C arguments that carry v as a parameter of that type."""
        if v.type == "None":
            if not optional:
                raise TableError(f"{text}: None is not a {base}")
            return none_c(base)
        if base in ("Tensor", "Operand"):
            return [self.tensor(v, text)]
        if base in ("Tensor[]", "Tensor?[]"):
            if v.type == "Tensor[]":
                return v.c
        elif base == "int" and v.type in ("int", "bool"):
            return v.c
        elif base == "float" and v.type in NUMBERS:
            if optional:
                return [v.c[1]] if len(v.c) > 1 else [f"&(double){{{v.c[0]}}}"]
            return v.c[:1]
        elif base == "Scalar" and v.type in NUMBERS:
            if v.literal is not MISSING:
                return [scalar_literal(v.literal)]
            tag, member = {"int": ("INT", "i"), "bool": ("BOOL", "i"), "float": ("FLOAT", "f")}[v.type]
            return [f"&(tp_scalar){{.tag = TP_SCALAR_{tag}, .v.{member} = {v.c[0]}}}"]
        elif base == "int[]" and v.type == "int":
            return [f"(const int64_t[]){{{v.c[0]}}}", "1"]
        elif base == "float[]" and v.type == "int[]" and v.literal == []:
            return v.c
        elif base == v.type:
            return v.c
        raise TableError(f"{text}: a {v.type} is not a {base}")


def x_name(c):
    return f"x_{c}_op" if c in SCOPE_NAMES else f"x_{c}"


def none_c(base):
    match base:
        case "int":
            return ["TP_INT_NONE"]
        case "int[]":
            return ["NULL", "-1"]
        case "bool":
            return ["-1"]
        case "dtype":
            return ["TP_DTYPE_NONE"]
    return ["NULL"]


def default_c(arg):
    """C arguments that carry the default of an argument inside a formula."""
    v = arg.default
    if v is None:
        return none_c(arg.base)
    match arg.base:
        case "int" | "bool":
            return [c_literal(v)]
        case "float":
            return [f"&(double){{{c_float(v)}}}" if arg.optional else c_float(v)]
        case "str":
            return [c_string(v)]
        case "dtype":
            return [DTYPE_C[v]]
        case "Scalar":
            return [scalar_literal(v)]
        case "Operand":
            return [f"weak_s({scalar_literal(v)})"]
        case "int[]" | "float[]":
            if not v:
                return ["NULL", "0"]
            element = "int64_t" if arg.base == "int[]" else "double"
            return [f"(const {element}[]){{{', '.join(c_literal(x) for x in v)}}}", str(len(v))]
    raise AssertionError(arg)
