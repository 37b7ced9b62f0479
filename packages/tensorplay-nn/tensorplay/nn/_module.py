"""Module: parameters, buffers and children under names, and a forward that uses them."""

import collections
import collections.abc

from tensorplay import Tensor

from ._hooks import Hooks, call
from ._parameter import Buffer, Parameter


class IncompatibleKeys(collections.namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """Names that load_state_dict did not find, and names that it had no use for."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if any(self) else "<All keys matched successfully>"


_OWN = ("_parameters", "_buffers", "_modules")
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class Module:
    """The base class of layers and models.

    A subclass calls `super().__init__()`, assigns Parameters, Buffers and other Modules as attributes, and defines
    `forward`. Names, state_dict keys and printing are PyTorch's.
    """

    def __init__(self):
        d = self.__dict__
        d["training"] = True
        d["_parameters"] = {}
        d["_buffers"] = {}
        d["_modules"] = {}
        d["_non_persistent"] = set()
        for table in _HOOKS:
            d[table] = Hooks()

    def forward(self, *args, **kwargs):
        """What calling the module computes; subclasses define it."""
        raise NotImplementedError(f"Module {type(self).__name__} has no forward method")

    def __call__(self, *args, **kwargs):
        d = self.__dict__
        if "_parameters" not in d:
            raise AttributeError(f"{type(self).__name__}: super().__init__() was not called")
        if d["_forward_hooks"] or d["_forward_pre_hooks"] or d["_backward_hooks"] or d["_backward_pre_hooks"]:
            return call(self, args, kwargs)
        return self.forward(*args, **kwargs)

    # ---- attributes ----

    def _table(self, name):
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(
                f"{type(self).__name__}: parameters and modules can be assigned after super().__init__() only"
            ) from None

    def __setattr__(self, name, value):
        d = self.__dict__
        if isinstance(value, Parameter):
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._table("_modules")
            self._forget(name, "_modules")
            d["_modules"][name] = value
        elif isinstance(value, Buffer):
            self._forget(name, "_buffers")
            self.register_buffer(name, value, value.persistent)
        elif name in d.get("_parameters", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign {type(value).__name__} as parameter {name!r}: it must be a Parameter")
            if value is not None:
                raise TypeError(f"cannot assign a plain Tensor as parameter {name!r}: wrap it in Parameter")
            d["_parameters"][name] = None
        elif name in d.get("_modules", ()):
            if value is not None:
                raise TypeError(f"cannot assign {type(value).__name__} as child module {name!r}: it must be a Module")
            d["_modules"][name] = None
        elif name in d.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign {type(value).__name__} as buffer {name!r}: expected a Tensor or None")
            d["_buffers"][name] = value
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name, kept):
        """Takes name out of all tables but one, in which it keeps its place."""
        d = self.__dict__
        d.pop(name, None)
        for table in _OWN:
            if table in d and table != kept:
                d[table].pop(name, None)
        if "_non_persistent" in d:
            d["_non_persistent"].discard(name)

    def __getattr__(self, name):
        d = self.__dict__
        for table in _OWN:
            entries = d.get(table)
            if entries is not None and name in entries:
                return entries[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name):
        for table in _OWN:
            if name in self.__dict__.get(table, ()):
                del self.__dict__[table][name]
                self.__dict__["_non_persistent"].discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        names = set(object.__dir__(self))
        for table in _OWN:
            names.update(self.__dict__.get(table, ()))
        return sorted(n for n in names if n.isidentifier())

    def _check_name(self, name, what):
        if not isinstance(name, str):
            raise TypeError(f"the name of a {what} must be a str, got {type(name).__name__}")
        if not name or "." in name:
            raise KeyError(f"the name of a {what} must not be empty or contain a dot, got {name!r}")

    def register_parameter(self, name, param):
        """Adds a Parameter (or None) under name."""
        table = self._table("_parameters")
        self._check_name(name, "parameter")
        if name not in table and hasattr(self, name):
            raise KeyError(f"attribute {name!r} exists already")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"parameter {name!r} must be a Parameter or None, got {type(param).__name__}")
        table[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a Tensor (or None) that is state but not a parameter; persistent: part of the state_dict."""
        table = self._table("_buffers")
        self._check_name(name, "buffer")
        if name not in table and hasattr(self, name):
            raise KeyError(f"attribute {name!r} exists already")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"buffer {name!r} must be a Tensor or None, got {type(tensor).__name__}")
        table[name] = tensor
        (self._non_persistent.discard if persistent else self._non_persistent.add)(name)

    def add_module(self, name, module):
        """Adds a child under name."""
        table = self._table("_modules")
        self._check_name(name, "module")
        if name not in table and hasattr(self, name):
            raise KeyError(f"attribute {name!r} exists already")
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"child module {name!r} must be a Module or None, got {type(module).__name__}")
        table[name] = module

    register_module = add_module

    # ---- walking ----

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """(path, module) of this module and all below it, each once unless remove_duplicate is False."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate=True):
        """All modules, this one first; each once unless remove_duplicate is False."""
        for _, m in self.named_modules(remove_duplicate=remove_duplicate):
            yield m

    def named_children(self):
        """(name, module) of the direct children, each once."""
        seen = set()
        for name, m in self._modules.items():
            if m is not None and m not in seen:
                seen.add(m)
                yield name, m

    def children(self):
        """The direct children."""
        for _, m in self.named_children():
            yield m

    def _named(self, table, prefix, recurse, remove_duplicate):
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, m in modules:
            for name, t in getattr(m, table).items():
                if t is None or (remove_duplicate and id(t) in seen):
                    continue
                seen.add(id(t))
                yield (f"{path}.{name}" if path else name), t

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """(name, Parameter); shared ones once unless remove_duplicate is False."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        """The Parameters, each once."""
        for _, p in self.named_parameters(recurse=recurse):
            yield p

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """(name, Tensor); shared ones once unless remove_duplicate is False."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        """The buffers, each once."""
        for _, b in self.named_buffers(recurse=recurse):
            yield b

    def get_submodule(self, target):
        """The module at a dotted path; AttributeError if there is none."""
        m = self
        for part in target.split(".") if target else ():
            m = getattr(m, part)
            if not isinstance(m, Module):
                raise AttributeError(f"{part!r} in {target!r} is not a Module")
        return m

    def get_parameter(self, target):
        """The Parameter at a dotted path."""
        path, _, name = target.rpartition(".")
        table = self.get_submodule(path)._parameters
        if name not in table:
            raise AttributeError(f"{target!r} is not a Parameter")
        return table[name]

    def get_buffer(self, target):
        """The buffer at a dotted path."""
        path, _, name = target.rpartition(".")
        table = self.get_submodule(path)._buffers
        if name not in table:
            raise AttributeError(f"{target!r} is not a buffer")
        return table[name]

    def set_submodule(self, target, module):
        """Puts module at a dotted path, where there is one already; ValueError for an empty path."""
        if not target:
            raise ValueError("set_submodule: the path is empty")
        if not isinstance(module, Module):
            raise TypeError(f"set_submodule: expected a Module, got {type(module).__name__}")
        self.get_submodule(target)
        path, _, name = target.rpartition(".")
        self.get_submodule(path)._modules[name] = module

    def apply(self, fn):
        """Calls fn on every module, children first; returns self."""
        for m in self.children():
            m.apply(fn)
        fn(self)
        return self

    # ---- state ----

    def state_dict(self, *, destination=None, prefix="", keep_vars=False):
        """{name: detached Tensor} of parameters and persistent buffers; the memory is shared.

        destination: a dict to write into. prefix: of the names. keep_vars: the Tensors themselves, not detached.
        """
        out = {} if destination is None else destination
        for path, m in self.named_modules(prefix=prefix.removesuffix("."), remove_duplicate=False):
            at = f"{path}." if path else ""
            for name, p in m._parameters.items():
                if p is not None:
                    out[at + name] = p if keep_vars else p.detach()
            for name, b in m._buffers.items():
                if b is not None and name not in m._non_persistent:
                    out[at + name] = b if keep_vars else b.detach()
        return out

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies values in by name. Nothing is changed if anything does not fit.

        Args:
            state_dict: {name: Tensor or array}.
            strict: missing and unexpected names are an error too.
            assign: the module's Tensors are replaced by those given, dtype included, not written into.

        Returns the missing and unexpected names.

        Raises:
            RuntimeError: lists every missing and unexpected name and every shape that differs.
            TypeError: state_dict is not a mapping.
        """
        from tensorplay import as_tensor, no_grad

        if not isinstance(state_dict, collections.abc.Mapping):
            raise TypeError(f"load_state_dict: expected a mapping, got {type(state_dict).__name__}")
        own = self.state_dict()
        missing = [k for k in own if k not in state_dict]
        unexpected = [k for k in state_dict if k not in own]
        faults = []
        if strict and missing:
            faults.append("missing: " + ", ".join(map(repr, missing)))
        if strict and unexpected:
            faults.append("unexpected: " + ", ".join(map(repr, unexpected)))
        values = {k: as_tensor(state_dict[k]) for k in own if k in state_dict}
        for k, v in values.items():
            if v.shape != own[k].shape:
                faults.append(f"{k!r} has shape {list(v.shape)}, the module's {list(own[k].shape)}")
        if faults:
            raise RuntimeError(f"load_state_dict for {type(self).__name__}: " + "; ".join(faults))
        if assign:
            made = {}  # one Parameter for each that was shared
            for k, v in values.items():
                path, _, name = k.rpartition(".")
                m = self.get_submodule(path)
                old = m._parameters.get(name)
                if old is None:
                    m._buffers[name] = v
                    continue
                if id(old) not in made:
                    new = v if isinstance(v, Parameter) else type(old)(v.detach(), requires_grad=old.requires_grad)
                    made[id(old)] = (old, new)
                m._parameters[name] = made[id(old)][1]
            return IncompatibleKeys(missing, unexpected)
        with no_grad():
            for k, v in values.items():
                own[k].copy_(v)
        return IncompatibleKeys(missing, unexpected)

    def train(self, mode=True):
        """Sets training mode here and below; returns self."""
        if not isinstance(mode, bool):
            raise ValueError(f"train: expected a bool, got {mode!r}")
        for m in self.modules():
            m.training = mode
        return self

    def eval(self):
        """Sets evaluation mode here and below; returns self."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Sets requires_grad of every parameter; returns self."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Drops (or zeroes) the gradients of all parameters."""
        for p in self.parameters():
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    p.grad = p.grad.new_zeros(p.grad.shape)

    def _convert(self, fn):
        """Replaces every parameter and buffer by fn of it; shared ones stay shared."""
        done = {}
        for m in self.modules():
            for name, p in m._parameters.items():
                if p is None:
                    continue
                if id(p) not in done:
                    new = fn(p.detach())
                    q = type(p)(new, requires_grad=p.requires_grad)
                    if p.grad is not None:
                        q.grad = fn(p.grad)
                    done[id(p)] = (p, q)
                m._parameters[name] = done[id(p)][1]
            for name, b in m._buffers.items():
                if b is None:
                    continue
                if id(b) not in done:
                    done[id(b)] = (b, fn(b))
                m._buffers[name] = done[id(b)][1]
        return self

    def to(self, *args, **kwargs):
        """Casts floating and complex parameters and buffers: to(dtype), to(device), to(tensor); returns self."""
        device = kwargs.pop("device", None)
        dtype = kwargs.pop("dtype", None)
        if kwargs:
            raise TypeError(f"to() received an unexpected keyword argument {next(iter(kwargs))!r}")
        from tensorplay import device as device_type
        from tensorplay import dtype as dtype_type

        for a in args:
            if isinstance(a, dtype_type):
                dtype = a
            elif isinstance(a, Tensor):
                dtype = a.dtype
            else:
                device = a
        if device is not None:
            device_type(device)
        if dtype is None:
            return self
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"to: a module's dtype must be floating or complex, got {dtype}")

        def cast(t):
            d = t.dtype
            return t.to(dtype) if (d.is_floating_point or d.is_complex) and d != dtype else t

        return self._convert(cast)

    def type(self, dst_type):
        """to(dst_type)"""
        return self.to(dst_type)

    def double(self):
        """to(float64)"""
        from tensorplay import float64

        return self.to(float64)

    def float(self):
        """to(float32)"""
        from tensorplay import float32

        return self.to(float32)

    def half(self):
        """to(float16)"""
        from tensorplay import float16

        return self.to(float16)

    def bfloat16(self):
        """to(bfloat16)"""
        from tensorplay import bfloat16

        return self.to(bfloat16)

    def cpu(self):
        """The module itself: there is one device."""
        return self

    # ---- hooks ----

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """hook(module, args, output) runs after forward; a result other than None replaces the output.

        prepend: in front of those that are there. with_kwargs: called as hook(module, args, kwargs, output).
        always_call: also where forward raises.
        """
        return self._forward_hooks.register(hook, prepend, with_kwargs=with_kwargs, always_call=always_call)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """hook(module, args) runs before forward; a result other than None replaces the arguments.

        prepend: in front of those that are there. with_kwargs: called as hook(module, args, kwargs), returns both.
        """
        return self._forward_pre_hooks.register(hook, prepend, with_kwargs=with_kwargs)

    def register_full_backward_hook(self, hook, prepend=False):
        """hook(module, grad_input, grad_output) runs when the gradients of the inputs are known.

        Both are tuples, of gradients for the positional arguments of forward and for its output or outputs, None where
        there is none. What it returns, unless None, replaces grad_input. Without an input that is differentiated it
        runs when the gradients of the outputs are known. Under a transform it sees what the module would see: one
        sample's under vmap.
        """
        return self._backward_hooks.register(hook, prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """hook(module, grad_output) runs before the module's part of a backward pass; its result replaces grad_output
        unless it is None."""
        return self._backward_pre_hooks.register(hook, prepend)

    # ---- printing ----

    def extra_repr(self):
        """What stands between the parentheses of repr."""
        return ""

    def _get_name(self):
        return type(self).__name__

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = []
        for name, child in self._modules.items():
            text = repr(child).split("\n")
            children.append(f"({name}): " + "\n".join([text[0], *("  " + s for s in text[1:])]))
        if not children:
            if len(lines) < 2:
                return f"{self._get_name()}({extra})"
            return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"
        return self._get_name() + "(\n  " + "\n  ".join(lines + children) + "\n)"
