"""Bad input to every operator of the table, made from its samples: one line, the operator's name, the right class."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.testing import opdb
from tensorplay.testing.opdb._coverage import forms

pytest.importorskip("scipy")

ENTRIES = opdb.entries()
CLASSES = (ValueError, TypeError, IndexError, RuntimeError, OverflowError, MemoryError)
DIMS = {"dim", "dim0", "dim1", "dim2", "start_dim", "end_dim", "axis"}
SIZES = {"size", "shape", "output_size", "num_samples", "minlength", "repeats"}
SHAPES = [(7, 5, 3), (0,), (), (2, 1, 1, 1, 1, 1, 3)]
DTYPES = [np.bool_, np.uint8, np.float16, np.complex64]


def _wrong_values(name, value):
    """(what is wrong, classes that the call must raise or None where it may succeed, the value)"""
    if isinstance(value, tp.Tensor):
        yield "an object", (TypeError,), object()
        yield "text", (TypeError,), "text"
        for shape in SHAPES:
            yield f"shape {list(shape)}", None, tp.ones(shape, dtype=value.dtype)
        for d in DTYPES:
            if d != value.numpy().dtype.type:
                yield f"dtype {d.__name__}", None, tp.from_numpy(np.ones(value.shape, d))
    elif type(value) is int and name in DIMS:
        yield "99", (IndexError,), 99
        yield "-99", (IndexError,), -99
        yield "text", (TypeError,), "text"
        yield "2^80", (OverflowError, TypeError, IndexError), 2**80
    elif name in SIZES and isinstance(value, (int, list, tuple)):
        one = isinstance(value, int)
        yield "negative", None, -3 if one else [-3] * max(len(value), 1)
        yield "huge", None, 2**62 if one else [2**62] * max(len(value), 1)
    elif isinstance(value, str):
        yield "nonsense", CLASSES, "nonsense"


def _calls(entry):
    dtype = "float32" if "float32" in entry.dtypes else entry.dtypes[0]
    all_forms, seen = forms(entry), set()
    for s in entry.draw(dtype)[:40]:
        for form in all_forms:
            bound = None if form.varargs else form.bind(*s.rebuild(s.tensors()))
            for name, value in (bound or {}).items():
                if value is None or (id(form), name) in seen:
                    continue
                seen.add((id(form), name))
                for what, kinds, wrong in _wrong_values(name, value):
                    again = form.bind(*s.rebuild(s.tensors()))
                    again[name] = wrong
                    lead = form.parameters[0].name
                    args = [again.pop(lead)] if lead in again and not form.parameters[0].keyword else []
                    if kinds == (IndexError,) and len(all_forms) > 1:
                        kinds = (IndexError, TypeError)  # by keyword, another form of the operator may be meant
                    yield f"{name}: {what}", kinds, args, again
        if "keyword" not in seen:
            seen.add("keyword")
            args, kwargs = s.rebuild(s.tensors())
            yield "unknown keyword", (TypeError,), list(args), {**kwargs, "nonsense": 1}


def _fault(entry, kinds, args, kwargs):
    try:
        entry.function(*args, **kwargs)
    except CLASSES as e:
        text, names = str(e), (entry.name.rpartition(".")[2], entry.function.__name__)
        if "\n" in text or not text:
            return f"{type(e).__name__} of several lines: {text!r}"
        if not any(n.rstrip("_") in text for n in names):
            return f"does not name the operator: {type(e).__name__}: {text}"
        return None if kinds is None or isinstance(e, kinds) else f"{type(e).__name__}: {text}"
    except BaseException as e:
        return f"unexpected {type(e).__name__}: {e}"
    return None if kinds is None else "no error"


@pytest.mark.parametrize("name", ENTRIES)
def test_every_operator_refuses_in_one_line(name, capfd):
    entry = ENTRIES[name]
    found = []
    for what, kinds, args, kwargs in _calls(entry):
        fault = _fault(entry, kinds, args, kwargs)
        if fault:
            found.append(f"{what}: {fault}")
    out = capfd.readouterr()
    assert not out.out and not out.err
    assert (tp.ones(2) + 1).tolist() == [2.0, 2.0]  # nothing is left behind
    assert not found, f"{len(found)} faults\n" + "\n".join(found)
