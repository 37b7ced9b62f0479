"""The operator database: samples and NumPy references of every public operator.

opdb.entries()            {name: Entry}
opdb.names()              the names of all public operators of the table
opdb.missing()            those that have no entry
opdb.gaps(entry)          what the signature has and no sample shows
"""

from ._base import ENTRIES, Entry
from ._coverage import gaps, inplace_of, missing, names

_FAMILIES = (
    "creation",
    "elementwise",
    "maths",
    "numeric",
    "index",
    "reduce",
    "scan",
    "shape",
    "views",
    "masked",
    "compose",
    "linalg",
    "linalg_solve",
    "linalg_factor",
    "linalg_spectral",
    "linalg_function",
    "random",
    "nn",
    "nn_norm",
    "nn_activation",
    "nn_loss",
    "conv",
    "pool",
    "sampling",
    "order",
    "search",
    "special",
    "fft",
)


def entries():
    """{name: Entry} of all operators that the installed core has."""
    from importlib import import_module

    for family in _FAMILIES:
        import_module(f"{__name__}.{family}")
    present = set(names())
    return {n: e for n, e in sorted(ENTRIES.items()) if n in present}


__all__ = ["Entry", "entries", "gaps", "inplace_of", "missing", "names"]
