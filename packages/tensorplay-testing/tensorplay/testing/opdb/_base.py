"""What an entry of the operator database is, and what entries are made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

import numpy as np

import tensorplay as tp

from .._samples import Sample, sample

BOOL = ("bool",)
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = UNSIGNED + SIGNED
HALF = ("float16", "bfloat16")
FLOATS = (*HALF, "float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = BOOL + INTEGERS + FLOATS
NUMBERS = INTEGERS + FLOATS + COMPLEX
INEXACT = FLOATS + COMPLEX
ALL = REAL + COMPLEX

ENTRIES: dict[str, Entry] = {}


@dataclasses.dataclass
class Entry:
    """Samples and reference of one public operator.

    name: as in the table's Python names; `namespace.name` where it has one.
    samples: (rng, dtype name) -> Samples whose main arrays have that dtype (float32 values for bfloat16).
    reference: the operator over NumPy arrays, in double precision for floating arguments; None where every sample
        checks itself.
    dtypes: those that the operator takes; any other must raise.
    dtype: the dtype of the result: "common", "float", "same", "real", a dtype's name, or a function of the sample's
        dtypes and the sample.
    grad: dtypes at which derivatives are checked.
    vmap: a reason why it can't be mapped.
    random: "drawn" (numbers differ from call to call: seeds and randomness flags are checked), "undefined" (values
        are not compared) or "".
    missing: {parameter name or class of sample: reason} of what no sample sets.
    scale: factor on tolerances of values.
    refuses: whether a dtype that is not listed has to raise (False where it is cast silently).
    layouts: False where values depend on how the arguments lie in memory.
    """

    name: str
    samples: Callable[[np.random.Generator, str], Iterable[Sample]]
    reference: Callable | None
    dtypes: tuple = ALL
    dtype: object = "common"
    grad: tuple = ("float64", "complex128")
    vmap: str | None = None
    random: str = ""
    missing: dict = dataclasses.field(default_factory=dict)
    scale: float = 1.0
    order: int = 2
    refuses: bool = True
    inplace: bool = True
    layouts: bool = True

    @property
    def function(self):
        """The operator: a function of the package, or the method where it has no function."""
        space, _, name = self.name.rpartition(".")
        if space:
            return tp._ops.NAMESPACES[space][name]
        found = tp._ops.FUNCTIONS.get(name) or tp._ops.METHODS[name]
        return found

    def grad_dtypes(self):
        return [d for d in self.grad if d in self.dtypes]

    def draw(self, dtype, seed=0):
        """The samples at a dtype."""
        key = [seed, sum(ord(c) * 31**i for i, c in enumerate(self.name)) % 2**31]
        out = list(self.samples(np.random.default_rng(key), dtype))
        if self.order < 2:
            for s in out:
                s.order = self.order
        return out

    def expected_dtype(self, dtype):
        """Function of a sample: the names of its outputs' dtypes, when its main arrays stand for `dtype`."""
        rule = self.dtype

        def of(s):
            names = [tensor_dtype(a, dtype) for a in s.arrays()]
            if callable(rule):
                return rule(names, s)
            if rule == "same":
                return names[0]
            if rule == "real":
                return to_real(names[0])
            if rule in ("common", "float"):
                found = promote_sample(s, dtype)
                return "float32" if rule == "float" and found not in INEXACT else found
            return rule

        return of


def tensor_dtype(array, dtype):
    """The dtype of the tensor that an array stands for."""
    name = array.dtype.name
    return "bfloat16" if dtype == "bfloat16" and name == "float32" else name


def tensors_for(dtype):
    """The function that makes tensors of a sample's arrays."""
    from .._samples import to_tensor

    if dtype != "bfloat16":
        return to_tensor
    return lambda a: to_tensor(a).to(tp.bfloat16) if a.dtype == np.float32 else to_tensor(a)


def add(name, samples, reference, **options):
    """Enters an operator."""
    if name in ENTRIES:
        raise ValueError(f"opdb: {name} is entered twice")
    ENTRIES[name] = Entry(name, samples, reference, **options)
    return ENTRIES[name]


def alias(name, *names):
    """Other names of an operator."""
    for n in names:
        ENTRIES[n] = dataclasses.replace(ENTRIES[name], name=n)


# ---- values ----


def storage(dtype):
    """The NumPy dtype that holds values of a dtype."""
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def round_to(a, dtype):
    """Values that the dtype can hold."""
    if dtype == "bfloat16":
        bits = np.asarray(a, np.float32).view(np.uint32)
        return np.asarray(bits & np.uint32(0xFFFF0000)).view(np.float32).reshape(np.shape(a))
    return np.asarray(np.asarray(a).astype(storage(dtype)))


def make(rng, dtype, *shape, low=-2.0, high=2.0, gap=0.0):
    """Random values: floats between low and high (and not within gap of zero), integers likewise (0 to 5 when
    unsigned)."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in INTEGERS:
        lo, hi = (
            (max(0, int(np.ceil(low))), int(np.floor(high)) + 3)
            if dtype in UNSIGNED
            else (int(np.ceil(low)) - 2, int(np.floor(high)) + 3)
        )
        lo = max(lo, int(np.ceil(low))) if low >= 0 else lo
        x = np.asarray(rng.integers(lo, hi, shape))
        if gap:
            x = np.where(x == 0, 1, x)
        return np.asarray(x, dtype=dtype)

    def draw():
        x = rng.uniform(low, high, shape)
        if gap and low < 0 < high:
            x = np.where(np.abs(x) < gap, np.copysign(gap + np.abs(x), x), x)
        return x

    x = draw()
    if dtype in COMPLEX:
        x = x + 1j * draw()
    return round_to(np.asarray(x), dtype)


def distinct(rng, dtype, *shape, low=-2.0, high=2.0):
    """Values without ties, in random order; as many as fit for integers."""
    n = int(np.prod(shape, dtype=int))
    if dtype == "bool":
        return make(rng, dtype, *shape)
    if dtype in INTEGERS:
        start = 0 if dtype in UNSIGNED else -(n // 2)
        x = np.arange(start, start + n)
    else:
        x = low + (high - low) * (np.arange(n) + 0.5) / max(n, 1)
        if dtype in COMPLEX:
            x = x + 1j * rng.permutation(x)
    return round_to(np.asarray(rng.permutation(x)).reshape(shape), dtype)


SHAPES = ((3, 4), (), (0, 3), (2, 1, 3))


# ---- dtypes of results ----


def to_real(name):
    return {"complex64": "float32", "complex128": "float64"}.get(name, name)


def to_complex(name):
    return {"float32": "complex64", "float64": "complex128", "float16": "complex64"}.get(name, name)


def accumulated(name):
    """Sums and products add up integers and bool in int64."""
    return "int64" if name in BOOL or name in INTEGERS else name


_LADDER = [
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
]


def _category(name):
    return 0 if name == "bool" else 1 if name in INTEGERS else 2 if name in FLOATS else 3


def promote_pair(a, b):
    """The dtype that two dtypes meet in: PyTorch's lattice, where a float beats every integer."""
    if a == b:
        return a
    ca, cb = _category(a), _category(b)
    if ca == cb == 1:
        if (a in UNSIGNED) == (b in UNSIGNED):
            return max(a, b, key=_LADDER.index)
        unsigned, signed = (a, b) if a in UNSIGNED else (b, a)
        bits = int(unsigned.removeprefix("uint"))
        if int(signed.removeprefix("int")) > bits:
            return signed
        return {8: "int16", 16: "int32", 32: "int64"}.get(bits, "float32")
    if ca == cb == 2:
        return "float32" if {a, b} == {"float16", "bfloat16"} else max(a, b, key=_LADDER.index)
    if ca == cb == 3:
        return "complex128"
    high, low = (a, b) if ca > cb else (b, a)
    if _category(high) == 3 and _category(low) == 2:
        return "complex128" if "complex128" == high or low == "float64" else "complex64"
    return high


def promote(tensors, numbers=()):
    """The dtype that tensors, given as (name, has dimensions), and Python numbers meet in."""
    order = [[n for n, dims in tensors if dims], [n for n, dims in tensors if not dims]]
    weak = {bool: "bool", int: "int64", float: "float32", complex: "complex64"}
    order.append([weak[type(x)] for x in numbers])
    result = None
    for names in order:
        if not names:
            continue
        group = names[0]
        for n in names[1:]:
            group = promote_pair(group, n)
        if result is None:
            result = group
        elif _category(group) > _category(result):
            if _category(group) == 3 and _category(result) == 2:  # keeps the precision it has
                result = "complex128" if result == "float64" else "complex64"
            else:
                result = group
    return result


def promote_sample(s, dtype):
    """promote of the arrays and the positional numbers of a sample."""
    tensors = [(tensor_dtype(a, dtype), a.ndim > 0) for a in s.arrays()]
    numbers = [x for x in s.args if type(x) in (bool, int, float, complex)]
    return promote(tensors, numbers)


__all__ = [n for n in dir() if not n.startswith("_")] + ["sample", "Sample"]
