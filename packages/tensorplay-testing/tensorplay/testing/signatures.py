"""The signatures of the operators, read from the stubs that the operator table generates."""

import ast
import functools
import pathlib

import tensorplay


class Parameter:
    """One parameter: its name, its type as the stub writes it, and its default as source text (None: none)."""

    __slots__ = ("name", "type", "default", "keyword")

    def __init__(self, name, type, default, keyword):
        self.name, self.type, self.default, self.keyword = name, type, default, keyword

    @property
    def is_tensor(self):
        """Takes a tensor, or tensors in a list."""
        return "Tensor" in self.type

    @property
    def is_list(self):
        return "_Sequence[Tensor" in self.type

    @property
    def optional(self):
        return self.default is not None

    def is_default(self, value):
        """Whether a value is the one that the parameter has when it is left out."""
        if value is None:
            return self.default == "None"
        try:
            default = ast.literal_eval(self.default)
        except (ValueError, SyntaxError):
            return False
        if isinstance(value, (list, tuple)) or isinstance(default, (list, tuple)):
            return (
                isinstance(value, (list, tuple)) and isinstance(default, (list, tuple)) and list(value) == list(default)
            )
        return type(value) in (bool, int, float, str) and value == default and type(value) is type(default)

    def __repr__(self):
        return f"{self.name}: {self.type}" + (f" = {self.default}" if self.optional else "")


class Signature:
    """One accepted form of a function or method."""

    __slots__ = ("name", "parameters", "returns", "varargs")

    def __init__(self, name, parameters, returns, varargs):
        self.name, self.parameters, self.returns, self.varargs = name, parameters, returns, varargs

    def bind(self, args, kwargs):
        """{parameter name: value}, or None where the arguments do not fit in number and name."""
        positional = [p.name for p in self.parameters if not p.keyword and p.name != self.varargs]
        bound = dict(zip(positional, args))
        if len(args) > len(positional):
            if not self.varargs:
                return None
            bound[self.varargs] = args[len(positional) :]
        names = {p.name for p in self.parameters}
        if kwargs.keys() - names or kwargs.keys() & bound.keys():
            return None
        bound.update(kwargs)
        if any(not p.optional and p.name not in bound for p in self.parameters):
            return None
        return bound

    def __repr__(self):
        return f"{self.name}({', '.join(map(repr, self.parameters))}) -> {self.returns}"


def _signature(node, method):
    a = node.args
    given = [*a.posonlyargs, *a.args]
    defaults = [None] * (len(given) - len(a.defaults)) + [ast.unparse(d) for d in a.defaults]
    parameters = []
    for i, (arg, default) in enumerate(zip(given, defaults)):
        text = ast.unparse(arg.annotation) if arg.annotation else "Tensor" if i == 0 and method else ""
        parameters.append(Parameter(arg.arg, text, default, False))
    varargs = None
    if a.vararg:
        varargs = a.vararg.arg
        text = ast.unparse(a.vararg.annotation) if a.vararg.annotation else "_int"
        parameters.append(Parameter(varargs, text, "()", False))
    for arg, default in zip(a.kwonlyargs, a.kw_defaults):
        text = ast.unparse(arg.annotation) if arg.annotation else ""
        parameters.append(Parameter(arg.arg, text, ast.unparse(default) if default else None, True))
    return Signature(node.name, parameters, ast.unparse(node.returns) if node.returns else "", varargs)


@functools.cache
def table():
    """(functions, methods): {name: [Signature, ...]} of all public operators."""
    path = pathlib.Path(tensorplay._ops.__file__).with_suffix(".pyi")
    functions, methods = {}, {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            functions.setdefault(node.name, []).append(_signature(node, False))
        elif isinstance(node, ast.ClassDef) and not node.bases:
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    methods.setdefault(item.name, []).append(_signature(item, True))
    return functions, methods
