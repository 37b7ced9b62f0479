"""Class Tensor: a handle of libtp with Python's operators on it.

The methods that come from the operator table are attached by `_ops.install`; what is written here is what the
table can't say: operators, conversions, attributes and plain autograd.
"""

import operator as _operator

import numpy as np

from ._clib import NULL, PLAIN_LEVEL, ffi, lib, raise_error
from ._dtypes import ALIASES, DTYPES, bfloat16, bool_, int8, uint8
from ._scalars import fill_scalar, read_scalar

_new = object.__new__


class Size(tuple):
    """A shape: a tuple of ints."""

    __slots__ = ()

    def numel(self):
        """The product of the entries."""
        n = 1
        for i in self:
            n *= i
        return n

    def __repr__(self):
        return f"tensorplay.Size({list(self)})"

    def __add__(self, other):
        return Size(tuple.__add__(self, other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other):
        return Size(tuple.__add__(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, other):
        return Size(tuple.__mul__(self, other))

    __rmul__ = __mul__

    def __getitem__(self, index):
        got = tuple.__getitem__(self, index)
        return Size(got) if isinstance(index, slice) else got


class device:
    """Where a tensor lives. There is one device, the CPU; it equals the string "cpu"."""

    __slots__ = ("type", "index")

    def __new__(cls, type="cpu", index=None):
        if isinstance(type, cls):
            return type
        if type not in ("cpu", "cpu:0") or index not in (None, 0):
            raise ValueError(f"device: {type!r} is not available: only 'cpu' is")
        return CPU

    def __repr__(self):
        return "device(type='cpu')"

    def __str__(self):
        return "cpu"

    def __eq__(self, other):
        return self is other or other in ("cpu", "cpu:0") if isinstance(other, (str, device)) else NotImplemented

    def __hash__(self):
        return hash("cpu")

    def __reduce__(self):
        return device, ("cpu",)


CPU = _new(device)
CPU.type, CPU.index = "cpu", None


def check_device(d):
    """Accepts None and the CPU; ValueError for any other device."""
    if d is not None and d is not CPU:
        device(d)


class GradFn:
    """The operator or Function that computed a tensor."""

    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name

    def name(self):
        """The operator's name."""
        return self._name

    def __repr__(self):
        return f"<{self._name}>"


def wrap(h):
    """The Tensor that owns a handle libtp returned; raises libtp's error for NULL."""
    if h:
        t = _new(Tensor)
        t._h = h
        return t
    raise_error()


def weak(x):
    """A 0-d tensor that promotes like the Python number x."""
    kind = type(x)
    if kind is float:
        return wrap(lib.tpy_weak_f(x))
    if kind is int and -(1 << 63) <= x < 1 << 63:
        return wrap(lib.tpy_weak_i(x))
    s = ffi.new("tp_scalar *")
    fill_scalar(s, x)
    return wrap(lib.tp_weak_scalar(s))


def operand(x):
    """A Tensor from what may stand beside one in an expression; None for what may not."""
    if isinstance(x, Tensor):
        return x
    if isinstance(x, (bool, int, float, complex)):
        return weak(x)
    if isinstance(x, np.generic):
        kind = x.dtype.kind
        if kind == "b":
            return weak(bool(x))
        if kind in "iu":
            return weak(int(x))
        if kind == "f":
            return weak(float(x))
        return weak(complex(x)) if kind == "c" else None
    if isinstance(x, np.ndarray):
        from ._creation import as_tensor

        return as_tensor(x)
    return None


def describe(t):
    """What transform a wrapped tensor belongs to, for messages."""
    kind = lib.tp_level_kind_of(t._h)
    return {
        lib.TP_LEVEL_VMAP: "a tensor mapped by vmap",
        lib.TP_LEVEL_REVERSE: "a tensor that is being differentiated",
        lib.TP_LEVEL_FORWARD: "a tensor that carries a tangent (jvp)",
    }.get(kind, "this tensor")


def require_memory(t, what):
    """RuntimeError for a tensor that belongs to a transform and so has no memory of its own."""
    if lib.tp_is_wrapped(t._h):
        raise RuntimeError(
            f"{what}: {describe(t)} has no memory of its own: use detach() to leave autograd, or "
            "tensorplay.func.debug_unwrap to look inside a transform"
        )


def _read(t, what):
    """The single element of t as a Python number."""
    s = ffi.new("tp_scalar *")
    if lib.tp_item(t._h, s):
        if lib.tp_level_kind_of(t._h) == lib.TP_LEVEL_VMAP and lib.tp_error_code() == lib.TP_ERR_RUNTIME:
            lib.tp_error_clear()
            if what == "bool":
                raise RuntimeError(
                    "bool: a tensor mapped by vmap has no single truth value, so it can't be the condition of if, "
                    "while or assert: use tp.where to choose between values"
                )
            raise RuntimeError(
                f"{what}: a tensor mapped by vmap has one value per sample, not one Python number: keep it a tensor, "
                "and use tp.where to choose between values"
            )
        if lib.tp_error_code() == lib.TP_ERR_VALUE:
            n = lib.tp_numel(t._h)
            more = ": use any() or all()" if what == "bool" and n > 1 else ""
            raise ValueError(f"{what}: a tensor of shape {list(t.shape)} has {n} elements, not one{more}")
        raise_error()
    return read_scalar(s)


def _slow(fn, a, b, *more):
    """fn of two operands of which one may be no tensor; NotImplemented where it can't become one."""
    a, b = operand(a), operand(b)
    if a is None or b is None:
        return NotImplemented
    return wrap(fn(a._h, b._h, *more))


def _named(method, name, doc):
    method.__name__, method.__qualname__, method.__doc__ = name, "Tensor." + name, doc
    return method


def _binary(name, doc, function):
    """The method `self <op> other`: tensors, floats and ints go straight to their function of libtp."""
    fn, fn_f, fn_i = (getattr(lib, "tp_" + function + suffix) for suffix in ("", "_f", "_i"))

    def method(self, other):
        kind = type(other)
        if kind is Tensor:
            h = fn(self._h, other._h)
        elif kind is float:
            h = fn_f(self._h, other)
        elif kind is int:
            try:
                h = fn_i(self._h, other)
            except OverflowError:
                return _slow(fn, self, other)
        else:
            return _slow(fn, self, other)
        if h:
            t = _new(Tensor)
            t._h = h
            return t
        raise_error()

    return _named(method, name, doc)


_ONE = ffi.new("tp_scalar *")
fill_scalar(_ONE, 1)


def _sum(name, doc, function):
    """The same for add and sub, which take a factor for other."""
    fn, fn_f, fn_i = (getattr(lib, "tp_" + function + suffix) for suffix in ("", "_f", "_i"))
    one = _ONE

    def method(self, other):
        kind = type(other)
        if kind is Tensor:
            h = fn(self._h, other._h, one)
        elif kind is float:
            h = fn_f(self._h, other, one)
        elif kind is int:
            try:
                h = fn_i(self._h, other, one)
            except OverflowError:
                return _slow(fn, self, other, one)
        else:
            return _slow(fn, self, other, one)
        if h:
            t = _new(Tensor)
            t._h = h
            return t
        raise_error()

    return _named(method, name, doc)


def _reflected(name, doc, function, *more):
    fn = getattr(lib, "tp_" + function)

    def method(self, other):
        return _slow(fn, other, self, *more)

    return _named(method, name, doc)


def _inplace(name, doc, function, *more):
    fn, fn_f, fn_i = (getattr(lib, "tp_" + function + suffix) for suffix in ("_", "_f_", "_i_"))

    def method(self, other):
        kind = type(other)
        if kind is Tensor:
            status = fn(self._h, other._h, *more)
        elif kind is float:
            status = fn_f(self._h, other, *more)
        elif kind is int and -(1 << 63) <= other < 1 << 63:
            status = fn_i(self._h, other, *more)
        else:
            o = operand(other)
            if o is None:
                return NotImplemented
            status = fn(self._h, o._h, *more)
        if status:
            raise_error()
        return self

    return _named(method, name, doc)


def _unary(name, doc, function):
    fn = getattr(lib, "tp_" + function)

    def method(self):
        h = fn(self._h)
        if h:
            t = _new(Tensor)
            t._h = h
            return t
        raise_error()

    return _named(method, name, doc)


def _caster(name, target):
    def method(self):
        return self.to(target)

    return _named(method, name, f"The values as {target.name}; self where it has that dtype already. Differentiable.")


class Tensor:
    """An array of numbers of one dtype. Made by the functions of `tensorplay`: tensor, zeros, randn, ...

    `Tensor(data)` is `tensorplay.tensor(data)`; `Tensor()` is empty. Subclasses keep their own attributes.
    """

    __slots__ = ("_h", "__weakref__")
    __array_priority__ = 1000  # NumPy leaves `array + tensor` to the tensor
    __hash__ = object.__hash__

    def __new__(cls, data=(), dtype=None, requires_grad=False):
        from ._creation import tensor

        t = data if isinstance(data, Tensor) else tensor(data, dtype=dtype)
        return cls._make_subclass(t, requires_grad)

    @classmethod
    def _make_subclass(cls, data, requires_grad=False):
        """A leaf of this class over the memory of data."""
        h = lib.tp_detach(data._h)
        if not h:
            raise_error()
        t = _new(cls)
        t._h = h
        if requires_grad:
            t.requires_grad_()
        return t

    def __del__(self, _release=lib.tp_release):
        try:
            _release(self._h)
        except AttributeError:  # it never got a handle
            pass

    # ---- arithmetic ----
    __add__ = _sum("__add__", "self + other", "add")
    __radd__ = _sum("__radd__", "other + self", "add")
    __sub__ = _sum("__sub__", "self - other", "sub")
    __rsub__ = _reflected("__rsub__", "other - self", "sub", _ONE)
    __mul__ = _binary("__mul__", "self * other", "mul")
    __rmul__ = _binary("__rmul__", "other * self", "mul")
    __truediv__ = _binary("__truediv__", "self / other", "div")
    __rtruediv__ = _reflected("__rtruediv__", "other / self", "div")
    __floordiv__ = _binary("__floordiv__", "self // other", "floor_divide")
    __rfloordiv__ = _reflected("__rfloordiv__", "other // self", "floor_divide")
    __mod__ = _binary("__mod__", "self % other", "remainder")
    __rmod__ = _reflected("__rmod__", "other % self", "remainder")
    __pow__ = _binary("__pow__", "self ** other", "pow")
    __rpow__ = _reflected("__rpow__", "other ** self", "pow")
    __neg__ = _unary("__neg__", "-self", "neg")
    __abs__ = _unary("__abs__", "abs(self)", "abs")

    def __pos__(self):
        return self

    def __matmul__(self, other):
        if isinstance(other, np.ndarray):
            other = operand(other)
        return wrap(lib.tp_matmul(self._h, other._h)) if isinstance(other, Tensor) else NotImplemented

    def __rmatmul__(self, other):
        if isinstance(other, np.ndarray):
            other = operand(other)
        return wrap(lib.tp_matmul(other._h, self._h)) if isinstance(other, Tensor) else NotImplemented

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    # ---- bits and logic ----
    __and__ = _binary("__and__", "self & other", "bitwise_and")
    __rand__ = _binary("__rand__", "other & self", "bitwise_and")
    __or__ = _binary("__or__", "self | other", "bitwise_or")
    __ror__ = _binary("__ror__", "other | self", "bitwise_or")
    __xor__ = _binary("__xor__", "self ^ other", "bitwise_xor")
    __rxor__ = _binary("__rxor__", "other ^ self", "bitwise_xor")
    __lshift__ = _binary("__lshift__", "self << other", "bitwise_left_shift")
    __rlshift__ = _reflected("__rlshift__", "other << self", "bitwise_left_shift")
    __rshift__ = _binary("__rshift__", "self >> other", "bitwise_right_shift")
    __rrshift__ = _reflected("__rrshift__", "other >> self", "bitwise_right_shift")
    __invert__ = _unary("__invert__", "~self", "bitwise_not")

    # ---- comparison ----
    __eq__ = _binary("__eq__", "self == other, element by element", "eq")
    __ne__ = _binary("__ne__", "self != other, element by element", "ne")
    __lt__ = _binary("__lt__", "self < other, element by element", "lt")
    __le__ = _binary("__le__", "self <= other, element by element", "le")
    __gt__ = _binary("__gt__", "self > other, element by element", "gt")
    __ge__ = _binary("__ge__", "self >= other, element by element", "ge")

    # ---- in place ----
    __iadd__ = _inplace("__iadd__", "self += other", "add", _ONE)
    __isub__ = _inplace("__isub__", "self -= other", "sub", _ONE)
    __imul__ = _inplace("__imul__", "self *= other", "mul")
    __itruediv__ = _inplace("__itruediv__", "self /= other", "div")
    __ifloordiv__ = _inplace("__ifloordiv__", "self //= other", "floor_divide")
    __imod__ = _inplace("__imod__", "self %= other", "remainder")
    __ipow__ = _inplace("__ipow__", "self **= other", "pow")
    __iand__ = _inplace("__iand__", "self &= other", "bitwise_and")
    __ior__ = _inplace("__ior__", "self |= other", "bitwise_or")
    __ixor__ = _inplace("__ixor__", "self ^= other", "bitwise_xor")
    __ilshift__ = _inplace("__ilshift__", "self <<= other", "bitwise_left_shift")
    __irshift__ = _inplace("__irshift__", "self >>= other", "bitwise_right_shift")

    # ---- as a Python number ----
    def item(self):
        """The single element as a Python number. RuntimeError when there is not exactly one, and under vmap."""
        return _read(self, "item")

    def __bool__(self):
        return bool(_read(self, "bool"))

    def __int__(self):
        return int(_read(self, "int"))

    def __float__(self):
        return float(_read(self, "float"))

    def __complex__(self):
        return complex(_read(self, "complex"))

    def __index__(self):
        if lib.tp_dtype_is_floating(lib.tp_tensor_dtype(self._h)) or lib.tp_dtype_is_complex(
            lib.tp_tensor_dtype(self._h)
        ):
            raise TypeError(f"index: only integer tensors can be an index, got {self.dtype.name}")
        return int(_read(self, "index"))

    def __format__(self, spec):
        if spec and lib.tp_ndim(self._h) == 0 and lib.tp_level_kind_of(self._h) != lib.TP_LEVEL_VMAP:
            return format(self.item(), spec)
        return format(repr(self), spec)

    # ---- as a container ----
    def __len__(self):
        h = self._h
        if lib.tp_ndim(h) == 0:
            raise TypeError("len: a tensor without dimensions has no length")
        return lib.tp_shape(h)[0]

    def __iter__(self):
        if lib.tp_ndim(self._h) == 0:
            raise TypeError("iter: a tensor without dimensions can't be iterated over")
        return iter(self.unbind(0))

    def __reversed__(self):
        return self.flip(0) if lib.tp_ndim(self._h) else self

    def __contains__(self, element):
        o = operand(element)
        if o is None:
            raise TypeError(f"in: a tensor can't contain a {type(element).__name__}")
        return bool(wrap(lib.tp_eq(self._h, o._h)).any())

    # ---- attributes ----
    @property
    def shape(self, _ndim=lib.tp_ndim, _shape=lib.tp_shape, _unpack=ffi.unpack):
        """The sizes of the dimensions; under vmap those of one sample."""
        h = self._h
        n = _ndim(h)
        return Size(_unpack(_shape(h), n)) if n else _NO_DIMS

    def size(self, dim=None):
        """The shape, or the size of one dimension."""
        return self.shape if dim is None else self.shape[self._dim(dim, "size")]

    def stride(self, dim=None):
        """How many elements lie between neighbours along each dimension, or along one."""
        h = self._h
        n = lib.tp_ndim(h)
        s = tuple(ffi.unpack(lib.tp_strides(h), n)) if n else ()
        return s if dim is None else s[self._dim(dim, "stride")]

    @property
    def strides(self):
        """The strides in elements."""
        return self.stride()

    def _dim(self, dim, op):
        n = lib.tp_ndim(self._h)
        d = _operator.index(dim)
        if not -n <= d < n:
            raise IndexError(f"{op}: dimension {d} is out of range for a tensor of shape {list(self.shape)}")
        return d

    @property
    def ndim(self, _ndim=lib.tp_ndim):
        """How many dimensions the tensor has."""
        return _ndim(self._h)

    def dim(self):
        """How many dimensions the tensor has."""
        return lib.tp_ndim(self._h)

    ndimension = dim

    def numel(self):
        """How many elements the tensor has."""
        return lib.tp_numel(self._h)

    nelement = numel

    @property
    def dtype(self, _code=lib.tp_tensor_dtype, _dtypes=DTYPES):
        """The type of the elements."""
        return _dtypes[_code(self._h)]

    @property
    def itemsize(self):
        """Bytes of one element."""
        return self.dtype.itemsize

    def element_size(self):
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self.numel() * self.dtype.itemsize

    @property
    def device(self):
        """Where the tensor lives: the CPU."""
        return CPU

    def is_contiguous(self):
        """Whether the elements lie in row-major order without gaps."""
        return lib.tp_is_contiguous(self._h)

    def is_floating_point(self):
        """Whether the dtype is float16, bfloat16, float32 or float64."""
        return self.dtype.is_floating_point

    def is_complex(self):
        """Whether the dtype is complex64 or complex128."""
        return self.dtype.is_complex

    @property
    def is_cpu(self):
        """True: there are no other devices."""
        return True

    def data_ptr(self):
        """The address of the first element. RuntimeError inside a transform."""
        if lib.tp_level_of(self._h) != PLAIN_LEVEL:
            require_memory(self, "data_ptr")
        p = lib.tp_data(self._h)
        if not p and self.numel():
            raise_error()
        return int(ffi.cast("uintptr_t", p))

    @property
    def _version(self):
        return lib.tp_version(self._h)

    @property
    def T(self):
        """The tensor with its dimensions in reverse order, as a view."""
        return self.permute(tuple(range(lib.tp_ndim(self._h) - 1, -1, -1)))

    @property
    def mT(self):
        """The last two dimensions exchanged, as a view. RuntimeError below two dimensions."""
        if lib.tp_ndim(self._h) < 2:
            raise RuntimeError(f"mT: at least two dimensions are needed, got shape {list(self.shape)}")
        return self.transpose(-2, -1)

    @property
    def H(self):
        """The conjugate transpose of a matrix. RuntimeError unless there are two dimensions."""
        if lib.tp_ndim(self._h) != 2:
            raise RuntimeError(f"H: a matrix is needed, got shape {list(self.shape)}")
        return self.transpose(0, 1).conj()

    @property
    def real(self):
        """The real parts as a view; a real tensor itself."""
        return wrap(lib.tp_real(self._h)) if self.is_complex() else self

    @property
    def imag(self):
        """The imaginary parts as a view. TypeError for a real tensor."""
        return wrap(lib.tp_imag(self._h))

    @property
    def mH(self):
        """The conjugate transpose of the last two dimensions."""
        return self.mT.conj()

    # ---- dtype and device ----
    def type(self, dtype=None):
        """The dtype's name, or the values in another dtype."""
        return repr(self.dtype) if dtype is None else self.to(dtype)

    def cpu(self):
        """The tensor itself: it lives on the CPU."""
        return self

    # ---- plain autograd ----
    @property
    def requires_grad(self):
        """Whether operators on this tensor are recorded for backward. Settable on leaves."""
        return lib.tp_requires_grad(self._h)

    @requires_grad.setter
    def requires_grad(self, value):
        if lib.tp_set_requires_grad(self._h, bool(value)):
            raise_error()

    def requires_grad_(self, requires_grad=True):
        """Starts (or stops) recording operators on this tensor, in place.

        RuntimeError unless the dtype is floating or complex, and for stopping on a tensor that was computed.
        """
        if lib.tp_set_requires_grad(self._h, bool(requires_grad)):
            raise_error()
        return self

    @property
    def is_leaf(self):
        """Whether the tensor was not computed from tensors that require gradients."""
        return lib.tp_is_leaf(self._h)

    @property
    def grad_fn(self):
        """What computed the tensor, if it is tracked: an object with name(). None for leaves."""
        p = lib.tp_history_name(self._h)
        return GradFn(ffi.string(p).decode()) if p else None

    @property
    def grad(self):
        """What backward() accumulated here, or None."""
        lib.tp_error_clear()
        h = lib.tp_grad_get(self._h)
        if h:
            return wrap(h)
        if lib.tp_error_code():
            raise_error()
        return None

    @grad.setter
    def grad(self, value):
        if value is None:
            h = NULL
        elif not isinstance(value, Tensor):
            raise TypeError(f"grad: expected a Tensor or None, got {type(value).__name__}")
        elif value.shape != self.shape or value.dtype is not self.dtype:
            raise ValueError(
                f"grad: shape {list(value.shape)} and {value.dtype.name} do not fit a tensor of shape "
                f"{list(self.shape)} and {self.dtype.name}"
            )
        else:
            h = value._h
        if lib.tp_grad_set(self._h, h):
            raise_error()

    @grad.deleter
    def grad(self):
        self.grad = None

    def retain_grad(self):
        """Makes backward() keep the gradient of this tensor although it is not a leaf."""
        if lib.tp_retain_grad(self._h):
            raise_error()

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Adds the gradients of this tensor with respect to the leaves of its graph to their `grad`.

        gradient: the cotangent, of this tensor's shape; may be left out for one element. RuntimeError where nothing
        requires gradients, or the graph was freed by an earlier backward without retain_graph.
        """
        from .autograd import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def register_hook(self, hook):
        """Calls hook(grad) when the gradient of this tensor is complete; what it returns, unless None, replaces it.

        Returns a handle with remove(). RuntimeError unless the tensor requires gradients.
        """
        from .autograd._hooks import register_hook

        return register_hook(self, hook)

    def detach(self):
        """The same memory as a tensor that no differentiation reaches."""
        return wrap(lib.tp_detach(self._h))

    def detach_(self):
        """Cuts this tensor itself off from its history. RuntimeError for a view of another tensor."""
        return _interop.detach_(self)

    @property
    def data(self):
        """The same memory, not tracked: what detach() returns."""
        return wrap(lib.tp_detach(self._h))

    # ---- NumPy, DLPack, copies ----
    def numpy(self, *, force=False):
        """A NumPy array over the same memory (read-only if the tensor is).

        RuntimeError inside a transform and for a tensor that requires gradients, unless force, which detaches.
        TypeError for bfloat16.
        """
        return _interop.numpy(self.detach() if force else self, "numpy")

    def __array__(self, dtype=None, copy=None):
        a = _interop.numpy(self, "__array__")
        if dtype is not None and a.dtype != dtype:
            if copy is False:
                raise ValueError(f"__array__: {a.dtype} to {np.dtype(dtype)} needs a copy, and copy=False was given")
            return a.astype(dtype)
        return a.copy() if copy else a

    def __buffer__(self, flags):
        return memoryview(_interop.numpy(self, "buffer"))

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return _interop.to_dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self):
        require_memory(self, "__dlpack_device__")
        return (1, 0)

    def tolist(self):
        """The elements as nested lists of Python numbers; one number for a tensor without dimensions."""
        if lib.tp_ndim(self._h) == 0:
            return self.item()
        t = self.float() if self.dtype.name == "bfloat16" else self
        return _interop.numpy(t.detach() if lib.tp_requires_grad(t._h) else t, "tolist").tolist()

    def __copy__(self):
        return _interop.shallow_copy(self)

    def __deepcopy__(self, memo):
        return _interop.deep_copy(self, memo)

    def __reduce_ex__(self, protocol):
        return _interop.reduce(self)

    # ---- factories ----
    def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
        """`tensorplay.tensor` with this tensor's dtype as the default."""
        from ._creation import tensor

        return tensor(data, dtype=self.dtype if dtype is None else dtype, device=device, requires_grad=requires_grad)


_NO_DIMS = Size()
_DEVICE = device

for _name, _target in (*ALIASES.items(), ("bool", bool_), ("bfloat16", bfloat16), ("byte", uint8), ("char", int8)):
    setattr(Tensor, _name, _caster(_name, _target))
del _name, _target

from . import _indexing, _interop, _printing  # noqa: E402  (they need Tensor)

Tensor.__getitem__ = _indexing.getitem
Tensor.__setitem__ = _indexing.setitem
Tensor.__repr__ = _printing.tensor_repr
