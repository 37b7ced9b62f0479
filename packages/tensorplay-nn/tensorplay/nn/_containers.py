"""Containers of modules and of parameters."""

import collections.abc
import operator

from ._module import Module
from ._parameter import Parameter


def _position(n, index, what):
    i = operator.index(index)
    if not -n <= i < n:
        raise IndexError(f"{what}: index {i} is out of range for {n} entries")
    return i % n


class _Numbered(Module):
    """Children under the names "0", "1", ..."""

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(list(self._modules.values()))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._sliced(list(self._modules.values())[index])
        return list(self._modules.values())[_position(len(self), index, type(self).__name__)]

    def __setitem__(self, index, module):
        name = list(self._modules)[_position(len(self), index, type(self).__name__)]
        if not isinstance(module, Module):
            raise TypeError(f"{type(self).__name__}: expected a Module, got {type(module).__name__}")
        self._modules[name] = module

    def __delitem__(self, index):
        modules = list(self._modules.values())
        if isinstance(index, slice):
            del modules[index]
        else:
            del modules[_position(len(self), index, type(self).__name__)]
        self._renumber(modules)

    def _renumber(self, modules):
        self._modules.clear()
        self.extend(modules)

    def append(self, module):
        """Adds a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Adds modules at the end; returns self."""
        for m in modules:
            self.append(m)
        return self

    def pop(self, index):
        """Removes and returns the module at index."""
        module = self[index]
        del self[index]
        return module

    def insert(self, index, module):
        """Adds a module before index; returns self."""
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)
        return self


class Sequential(_Numbered):
    """Modules called one after the other: `Sequential(a, b)(x)` is `b(a(x))`. Also takes one dict of named modules."""

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], collections.abc.Mapping):
            for name, m in args[0].items():
                self.add_module(name, m)
        else:
            self.extend(args)

    def _sliced(self, modules):
        names = list(self._modules)
        chosen = {n: m for n, m in self._modules.items() if any(m is c for c in modules)}
        return type(self)(chosen) if not all(n.isdigit() for n in names) else type(self)(*modules)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise TypeError(f"Sequential: expected a Sequential, got {type(other).__name__}")
        return self.extend(other)

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise TypeError(f"Sequential: expected a Sequential, got {type(other).__name__}")
        return Sequential(*self, *other)

    def _times(self, count):
        count = operator.index(count)
        if count < 1:
            raise ValueError(f"Sequential: the factor must be positive, got {count}")
        return count

    def __mul__(self, count):
        return Sequential(*list(self) * self._times(count))

    __rmul__ = __mul__

    def __imul__(self, count):
        return self.extend(list(self) * (self._times(count) - 1))

    def forward(self, input):
        for m in self._modules.values():
            input = m(input)
        return input


class ModuleList(_Numbered):
    """A list of modules that are registered; it has no forward of its own."""

    def __init__(self, modules=()):
        super().__init__()
        self.extend(modules)

    def _sliced(self, modules):
        return type(self)(modules)

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return type(self)([*self, *other])

    def __repr__(self):
        runs = []  # [first, last, text] of equal neighbours
        for i, m in enumerate(self):
            text = repr(m)
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = []
        for first, last, text in runs:
            begin = f"({first}): " if first == last else f"({first}-{last}): {last - first + 1} x "
            lines.append(f"  {begin}" + text.replace("\n", "\n  "))
        return f"{self._get_name()}(" + "".join(f"\n{line}" for line in lines) + ("\n)" if lines else ")")


class ModuleDict(Module):
    """A dict of modules that are registered; it has no forward of its own."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        """Removes and returns the module at key."""
        return self._modules.pop(key)

    def update(self, modules):
        """Adds the modules of a mapping or of an iterable of pairs."""
        pairs = modules.items() if isinstance(modules, collections.abc.Mapping | ModuleDict) else modules
        for k, m in pairs:
            self[k] = m


def _as_parameter(x):
    return x if isinstance(x, Parameter) else Parameter(x)


class ParameterList(Module):
    """A list of Parameters that are registered; other values are turned into Parameters."""

    def __init__(self, values=()):
        super().__init__()
        self.extend(values)

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(list(self._parameters.values()))

    def __getitem__(self, index):
        values = list(self._parameters.values())
        if isinstance(index, slice):
            return type(self)(values[index])
        return values[_position(len(self), index, "ParameterList")]

    def __setitem__(self, index, value):
        self._parameters[str(_position(len(self), index, "ParameterList"))] = _as_parameter(value)

    def __iadd__(self, values):
        return self.extend(values)

    def append(self, value):
        """Adds a Parameter at the end; returns self."""
        self.register_parameter(str(len(self)), _as_parameter(value))
        return self

    def extend(self, values):
        """Adds Parameters at the end; returns self."""
        for v in values:
            self.append(v)
        return self

    def extra_repr(self):
        def line(p):
            return f"Parameter containing: [{p.dtype} of size {'x'.join(map(str, p.shape))}]"

        return "\n".join(f"({k}): {line(p)}" for k, p in self._parameters.items())


class ParameterDict(Module):
    """A dict of Parameters that are registered; other values are turned into Parameters."""

    def __init__(self, parameters=None):
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        return self._parameters[key]

    def __setitem__(self, key, value):
        self._parameters.pop(key, None)
        self.register_parameter(key, _as_parameter(value))

    def __delitem__(self, key):
        del self._parameters[key]

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters)

    def __reversed__(self):
        return reversed(self._parameters)

    def __contains__(self, key):
        return key in self._parameters

    def __or__(self, other):
        new = self.copy()
        new.update(other)
        return new

    def __ior__(self, other):
        self.update(other)
        return self

    def keys(self):
        return self._parameters.keys()

    def values(self):
        return self._parameters.values()

    def items(self):
        return self._parameters.items()

    def get(self, key, default=None):
        """The Parameter at key, or default."""
        return self._parameters.get(key, default)

    def setdefault(self, key, default=None):
        """The Parameter at key, which is made of default where there is none."""
        if key not in self._parameters:
            self[key] = default
        return self[key]

    def pop(self, key):
        """Removes and returns the Parameter at key."""
        return self._parameters.pop(key)

    def popitem(self):
        """Removes and returns the last pair."""
        return self._parameters.popitem()

    def clear(self):
        self._parameters.clear()

    def copy(self):
        """A new ParameterDict of the same Parameters."""
        return type(self)(self._parameters)

    def fromkeys(self, keys, default=None):
        """A new ParameterDict with default at every key."""
        return type(self)({k: default for k in keys})

    def update(self, parameters):
        """Adds those of a mapping or of an iterable of pairs."""
        is_map = isinstance(parameters, collections.abc.Mapping | ParameterDict)
        for k, v in parameters.items() if is_map else parameters:
            self[k] = v

    extra_repr = ParameterList.extra_repr
