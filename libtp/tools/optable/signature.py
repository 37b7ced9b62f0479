"""Signatures: `name(Tensor self, Operand other, *, Scalar alpha=1) -> Tensor`."""

import ast
import re
from dataclasses import dataclass

from optable.errors import TableError

# base -> (tag of a present value, may have a `?`)
BASES = {
    "Tensor": ("TPI_TENSOR", True),
    "Operand": ("TPI_TENSOR", False),
    "Tensor[]": ("TPI_TENSORS", False),
    "Tensor?[]": ("TPI_TENSORS", False),
    "int": ("TPI_INT", True),
    "int[]": ("TPI_INTS", True),
    "float": ("TPI_FLOAT", True),
    "float[]": ("TPI_FLOATS", True),
    "bool": ("TPI_BOOL", True),
    "Scalar": ("TPI_SCALAR", True),
    "str": ("TPI_STR", True),
    "dtype": ("TPI_DTYPE", True),
    "Generator": ("TPI_GENERATOR", True),
}

DTYPES = (
    "bool",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)

# Names that an argument may have in the table but not in C or C++.
RESERVED = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class co_await co_return co_yield
    compl concept const const_cast consteval constexpr constinit continue decltype default delete do double
    dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new
    noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict
    return short signed sizeof static static_assert static_cast struct switch template this thread_local throw true
    try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
    out n_out T""".split()
)

MISSING = object()
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


@dataclass(frozen=True)
class Arg:
    """An argument: `type?` name with a default (MISSING: none)."""

    name: str
    base: str
    optional: bool = False
    varargs: bool = False
    keyword_only: bool = False
    default: object = MISSING

    @property
    def type(self):
        return self.base + ("?" if self.optional else "")

    @property
    def tag(self):
        return BASES[self.base][0]

    @property
    def is_tensor(self):
        return self.base in ("Tensor", "Operand")

    @property
    def is_tensor_list(self):
        return self.base in ("Tensor[]", "Tensor?[]")

    @property
    def c_name(self):
        return self.name + "_" if self.name in RESERVED else self.name

    @property
    def c_params(self):
        """Declarations of the C parameters that carry this argument."""
        n = self.c_name
        match self.base:
            case "Tensor" | "Operand":
                return [f"tp_tensor *{n}"]
            case "Tensor[]" | "Tensor?[]":
                return [f"tp_tensor *const *{n}", f"int64_t n_{self.name}"]
            case "int":
                return [f"int64_t {n}"]
            case "int[]":
                return [f"const int64_t *{n}", f"int64_t n_{self.name}"]
            case "float":
                return [f"const double *{n}" if self.optional else f"double {n}"]
            case "float[]":
                return [f"const double *{n}", f"int64_t n_{self.name}"]
            case "bool":
                return [f"int {n}" if self.optional else f"bool {n}"]
            case "Scalar":
                return [f"const tp_scalar *{n}"]
            case "str":
                return [f"const char *{n}"]
            case "dtype":
                return [f"int {n}"]
            case "Generator":
                return [f"tp_generator *{n}"]
        raise AssertionError(self.base)

    @property
    def c_names(self):
        return [p.split()[-1].lstrip("*") for p in self.c_params]


@dataclass(frozen=True)
class Signature:
    name: str
    args: tuple
    outputs: tuple  # names; ("",) for one nameless Tensor
    is_list: bool = False  # -> Tensor[]

    def index(self, name):
        for i, a in enumerate(self.args):
            if a.name == name:
                return i
        return -1

    def __getitem__(self, name):
        return self.args[self.index(name)]


def split_commas(text):
    """Splits at commas outside of brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and not depth:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [p.strip() for p in parts if p.strip()]


def parse_type(text):
    optional = text.endswith("?")
    base = text[:-1] if optional else text
    if base not in BASES:
        raise TableError(f"unknown type '{text}'; known: {', '.join(BASES)}, and `?` behind the type for None")
    if optional and not BASES[base][1]:
        raise TableError(f"type '{text}': '{base}' can't be optional")
    return base, optional


def is_int(v):
    return isinstance(v, int) and not isinstance(v, bool)


def is_number(v):
    return is_int(v) or isinstance(v, float)


def check_default(arg_type, base, optional, value):
    """The default as it is used; raises unless its type fits."""
    if value is None:
        if optional:
            return None
        raise TableError(f"default None of the type '{arg_type}', which is not optional")
    if base == "int" and is_int(value) or base == "bool" and isinstance(value, bool):
        return value
    if base == "float" and is_number(value):
        return float(value)
    if base == "str" and isinstance(value, str):
        return value
    if base in ("Scalar", "Operand") and isinstance(value, (bool, int, float, complex)):
        return value
    if base in ("int[]", "float[]"):
        values = [value] if is_number(value) else list(value) if isinstance(value, (list, tuple)) else [None]
        if all(is_int(v) if base == "int[]" else is_number(v) for v in values):
            return tuple(values)
    if base == "dtype" and isinstance(value, str) and value in DTYPES:
        return value
    raise TableError(f"default {value!r} does not fit the type '{arg_type}'")


def parse_arg(text, keyword_only):
    left, equals, default = text.partition("=")
    words = left.split()
    if len(words) != 2:
        raise TableError(f"argument '{text}' is not of the form `type name` or `type name=default`")
    base, optional = parse_type(words[0])
    name = words[1]
    varargs = name.startswith("*")
    if varargs:
        name = name[1:]
        if base not in ("int[]", "Tensor[]") or keyword_only:
            raise TableError(f"argument '{text}': only a positional int[] or Tensor[] can be written with `*`")
    if not IDENTIFIER.match(name):
        raise TableError(f"argument '{text}': '{name}' is not a name")
    value = MISSING
    if equals:
        try:
            value = ast.literal_eval(default.strip())
        except (ValueError, SyntaxError):
            raise TableError(f"argument '{name}': default '{default.strip()}' is not a Python literal") from None
        try:
            value = check_default(words[0], base, optional, value)
        except TableError as e:
            raise TableError(f"argument '{name}': {e}") from None
    return Arg(name, base, optional, varargs, keyword_only, value)


def parse_returns(text):
    text = text.strip()
    if text == "Tensor":
        return ("",), False
    if text == "Tensor[]":
        return ("",), True
    if text.startswith("(") and text.endswith(")"):
        names = []
        for part in split_commas(text[1:-1]):
            words = part.split()
            if len(words) != 2 or words[0] != "Tensor" or not IDENTIFIER.match(words[1]):
                raise TableError(f"output '{part}' is not of the form `Tensor name`")
            names.append(words[1])
        if len(names) < 2 or len(set(names)) != len(names):
            raise TableError(f"outputs '{text}' are not two or more distinct names")
        return tuple(names), False
    raise TableError(f"returns '{text}'; known: Tensor, (Tensor a, Tensor b), Tensor[]")


def parse_signature(text):
    """Signature of `name(type name=default, *, ...) -> returns`."""
    head, arrow, returns = text.rpartition("->")
    match = re.fullmatch(r"\s*([A-Za-z][\w.]*)\s*\((.*)\)\s*", head, re.S)
    if not arrow or not match:
        raise TableError(f"'{text}' is not of the form `name(arguments) -> Tensor`")
    args, keyword_only, seen_default = [], False, False
    for part in split_commas(match[2]):
        if part == "*":
            if keyword_only:
                raise TableError("more than one `*`")
            keyword_only = True
            continue
        arg = parse_arg(part, keyword_only)
        if any(a.name == arg.name for a in args):
            raise TableError(f"argument '{arg.name}' appears twice")
        if arg.default is MISSING and seen_default and not keyword_only:
            raise TableError(f"argument '{arg.name}' without a default follows one with a default")
        seen_default = seen_default or arg.default is not MISSING
        if args and args[-1].varargs and not keyword_only:
            raise TableError(f"argument '*{args[-1].name}' must be the last positional one")
        args.append(arg)
    outputs, is_list = parse_returns(returns)
    return Signature(match[1], tuple(args), outputs, is_list)
