"""Holds the operators of tensorplay against PyTorch's of the same name, on the samples of the operator database.

    python tests/bench/peer.py [--only NAME ...] [--verbose]

For every operator that PyTorch has too, in every dtype: values, shapes, dtypes, and the first derivatives (vjp with a
random cotangent). What PyTorch refuses and we compute is counted. What differs and is meant to is in INTENDED, with the
reason; anything else is listed as a difference, and the exit status is 1.
"""

import argparse
import collections
import fnmatch
import sys
import warnings

import numpy as np
import torch
import torch.func

import tensorplay as tp
import tensorplay.func
from tensorplay.testing import opdb
from tensorplay.testing._close import mismatch, to_numpy, tolerance
from tensorplay.testing.opdb import _base as base
from tensorplay.testing.opdb._coverage import forms

# (operator, kind of difference): reason. Kinds: value, shape, dtype, gradient, refused (by us alone), arguments.
INTENDED = {
    ("all", "dtype"): "uint8 gives bool like every other dtype",
    ("all", "shape"): "an empty list of dims reduces all of them, as in sum",
    ("any", "dtype"): "uint8 gives bool like every other dtype",
    ("any", "shape"): "an empty list of dims reduces all of them, as in sum",
    ("clamp", "value"): "a bound outside of an integer dtype is not wrapped around: it is the dtype's limit",
    ("clip", "value"): "a bound outside of an integer dtype is not wrapped around: it is the dtype's limit",
    ("einsum", "dtype"): "integers keep their dtype, whether labels are summed alone or over a product",
    ("nn.functional.avg_pool?d", "refused"): "means of integers are no integers; PyTorch truncates them",
    ("complex", "refused"): "there is no complex dtype of two float16",
    ("heaviside", "value"): "NaN stays NaN, as in NumPy",
    ("sgn", "value"): "NaN stays NaN, as in NumPy",
    ("sign", "value"): "NaN stays NaN, as in NumPy",
    ("signbit", "value"): "a cast to bfloat16 keeps the sign of a NaN",
    ("index_copy", "gradient"): "of entries written to one place the last, which stays, takes the whole gradient",
    ("scatter", "gradient"): "of entries written to one place the last, which stays, takes the whole gradient",
    ("put", "gradient"): "of entries written to one place the last, which stays, takes the whole gradient",
}
# Samples whose result PyTorch leaves open: {operator: whether this is one}. topk: the order, and which of equal ones.
UNDETERMINED = {"topk": lambda sample: (sample.kwargs.get("sorted") is False or sample.args[4:5] == (False,)
                                        or np.unique(sample.args[0]).size < sample.args[0].size)}

# Of what PyTorch has under another name; everything else is looked up in torch, its namespaces and Tensor.
NAMES = {
    "cast": None,  # our spelling of Tensor.to
    "slice": None,
    "index": None,
    "index_put": None,
}
# Composites are rounded in other places here and there; inputs and results are of the order of 1.
LOOSE = {"float16": (8e-3, 8e-3), "bfloat16": (6e-2, 6e-2), "float32": (3e-5, 1e-4), "complex64": (3e-5, 1e-4)}


# -- calling the same thing in both ---------------------------------------------------------------------


def peer_function(name):
    """PyTorch's function of that name, or None."""
    if name in NAMES:
        return NAMES[name]
    found = torch
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            break
    if found is None and "." not in name:
        found = getattr(torch.nn.functional, name, None) or getattr(torch.Tensor, name, None)
    return found


def to_peer(array, dtype):
    """A torch tensor of the array's values; its strides are those of a contiguous one."""
    t = torch.from_numpy(np.array(array, order="C", copy=True))
    return t.to(torch.bfloat16) if dtype == "bfloat16" and array.dtype == np.float32 else t


def translated(x):
    """An argument in PyTorch's terms: dtypes by their names."""
    if isinstance(x, tp.dtype):
        return getattr(torch, x.name)
    if isinstance(x, (list, tuple)):
        return type(x)(map(translated, x))
    if isinstance(x, dict):
        return {k: translated(v) for k, v in x.items() if k != "generator"}
    return x


def for_peer(entry, args, kwargs):
    """The arguments of a call in PyTorch's terms. Losses there have old parameters between target and reduction."""
    args, kwargs = translated(args), translated(kwargs)
    if entry.name.startswith("nn.functional.") and entry.name.endswith(("loss", "entropy", "logits", "kl_div")):
        names = [p.name for p in forms(entry)[0].parameters]
        kwargs = dict(zip(names[2:], args[2:])) | kwargs
        args = args[:2]
    return args, kwargs


def flat(result):
    """The tensors of a result; a number of PyTorch counts as one."""
    if isinstance(result, (tuple, list)):
        return [t for part in result for t in flat(part)]
    return [torch.tensor(result) if isinstance(result, (bool, int, float, complex)) else result]


def numpy(t):
    if isinstance(t, tp.Tensor):
        return to_numpy(t)
    return (t.float() if t.dtype == torch.bfloat16 else t).numpy(force=True)


def name_of(dtype):
    return getattr(dtype, "name", None) or str(dtype).removeprefix("torch.")


def attempt(function, *args, **kwargs):
    """(result, None) or (None, error)."""
    try:
        return flat(function(*args, **kwargs)), None
    except Exception as error:
        return None, error


def one_line(error):
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:160]


# -- comparing ------------------------------------------------------------------------------------------


class Report:
    def __init__(self):
        self.counts = collections.Counter()
        self.differences = collections.defaultdict(list)  # (operator, kind) -> examples
        self.lifted = collections.defaultdict(set)  # operator -> dtypes that PyTorch refuses
        self.refused = collections.defaultdict(set)  # message of PyTorch's vjp -> operators
        self.absent = []

    def differs(self, name, kind, text):
        self.differences[name, kind].append(text)


def compare_results(report, name, kind, what, ours, theirs, values=True):
    if len(ours) != len(theirs):
        report.differs(name, "shape", f"{what}: {len(ours)} results, PyTorch {len(theirs)}")
        return
    for mine, its in zip(ours, theirs):
        if tuple(mine.shape) != tuple(its.shape):
            report.differs(name, "shape", f"{what}: {list(mine.shape)}, PyTorch {list(its.shape)}")
            return
        a, b = name_of(mine.dtype), name_of(its.dtype)
        if a != b:
            report.differs(name, "dtype", f"{what}: {a}, PyTorch {b}")
        if not values:
            continue
        rtol, atol = LOOSE.get(a) or LOOSE.get(b) or tolerance(a, b)
        fault = mismatch(np.asarray(numpy(mine)), np.asarray(numpy(its)), rtol, atol, True)
        if fault:
            report.differs(name, kind, f"{what}: {fault}")
            return


def compare_gradients(report, entry, what, ours, theirs, sample, rng):
    """Cotangents of all differentiable arrays, from the same cotangents of the results."""
    arrays = sample.arrays()
    wanted = [i for i, a in enumerate(arrays) if a.dtype.kind in "fc"]
    if not wanted:
        return

    def function(op, tensors, translate):
        def of(*inputs):
            new = list(tensors)
            for i, x in zip(wanted, inputs):
                new[i] = x
            args, kwargs = translate(*sample.rebuild(new))
            return tuple(t for t in flat(op(*args, **kwargs)) if name_of(t.dtype) in base.INEXACT)

        return of

    mine, its = [base.tensors_for(arrays[0].dtype.name)(a) for a in arrays], [to_peer(a, None) for a in arrays]
    try:
        peer = function(theirs, its, lambda *call: for_peer(entry, *call))
        out, back = torch.func.vjp(peer, *(its[i] for i in wanted))
        if not out:
            return
        cotangents = []
        for t in out:
            c = rng.normal(size=tuple(t.shape))
            c = c + 1j * rng.normal(size=tuple(t.shape)) if t.dtype.is_complex else c
            cotangents.append(np.asarray(c).astype(name_of(t.dtype)))
        expected = back(tuple(torch.from_numpy(c) for c in cotangents))
    except Exception as error:
        report.counts["derivatives PyTorch refuses"] += 1
        report.refused[one_line(error)].add(entry.name)
        return
    try:
        out, back = tensorplay.func.vjp(function(ours, mine, lambda *call: call), *(mine[i] for i in wanted))
        got = back(tuple(tp.from_numpy(c) for c in cotangents))
    except Exception as error:
        report.differs(entry.name, "refused", f"{what} vjp: {one_line(error)}")
        return
    report.counts["derivatives compared"] += 1
    compare_results(report, entry.name, "gradient", f"{what} vjp", list(got), list(expected))


def compare(report, entry, theirs):
    ours = entry.function
    rng = np.random.default_rng(0)
    for dtype in base.ALL:
        if dtype not in entry.dtypes:
            refusal(report, entry, theirs, dtype)
            continue
        for sample in entry.draw(dtype):
            what = f"{entry.name}{sample}" + (" in bfloat16" if dtype == "bfloat16" else "")
            tensors = base.tensors_for(dtype)
            args, kwargs = sample.rebuild([tensors(a) for a in sample.arrays()])
            mine, error = attempt(ours, *args, **kwargs)
            args, kwargs = sample.rebuild([to_peer(a, dtype) for a in sample.arrays()])
            args, kwargs = for_peer(entry, args, kwargs)
            its, refused = attempt(theirs, *args, **kwargs)
            if error is not None:
                if refused is None:
                    report.differs(entry.name, "refused", f"{what}: {one_line(error)}")
                continue
            if refused is not None:
                report.counts["samples PyTorch refuses"] += 1
                report.lifted[entry.name].add(dtype)
                continue
            report.counts["samples compared"] += 1
            determined = not entry.random and not UNDETERMINED.get(entry.name, lambda sample: False)(sample)
            compare_results(report, entry.name, "value", what, mine, its, values=determined)
            if determined and dtype in entry.grad_dtypes() and sample.grad and sample.value:
                compare_gradients(report, entry, what, ours, theirs, sample, rng)


def refusal(report, entry, theirs, dtype):
    """Whether PyTorch computes at a dtype that we refuse."""
    donor = next((d for d in ("float64", "int64", "bool", "complex128") if d in entry.dtypes), None)
    if donor is None or not entry.refuses:
        return
    for sample in entry.draw(donor)[:1]:
        arrays = sample.arrays()
        if not arrays or all(a.dtype.name != donor for a in arrays):
            return
        new = [torch.from_numpy(np.array(a)).to(getattr(torch, dtype)) if a.dtype.name == donor else to_peer(a, dtype)
               for a in arrays]
        args, kwargs = sample.rebuild(new)
        args, kwargs = for_peer(entry, args, kwargs)
        _, refused = attempt(theirs, *args, **kwargs)
        if refused is None:
            report.differs(entry.name, "refused", f"{entry.name}{sample} in {dtype}: a TypeError, PyTorch computes")


# -- the report -----------------------------------------------------------------------------------------


def reason_for(key):
    for (name, kind), reason in INTENDED.items():
        if fnmatch.fnmatchcase(key[0], name) and fnmatch.fnmatchcase(key[1], kind):
            return (name, kind), reason
    return None, None


def show(report, verbose, partial):
    explained, unexplained = collections.defaultdict(list), []
    for key in sorted(report.differences):
        entry, _ = reason_for(key)
        if entry:
            explained[entry].append(key)
        else:
            unexplained.append(key)
    print(f"tensorplay {tp.__version__} beside PyTorch {torch.__version__}\n")
    for what in ("operators compared", "samples compared", "derivatives compared", "samples PyTorch refuses",
                 "derivatives PyTorch refuses"):
        print(f"{report.counts[what]:7d} {what}")
    print(f"{len(report.absent):7d} operators without a PyTorch function of that name: {', '.join(report.absent)}")
    if verbose:
        print("\nComputed here, refused by PyTorch:")
        for name, dtypes in sorted(report.lifted.items()):
            print(f"  {name}: {', '.join(d for d in base.ALL if d in dtypes)}")
        print("\nDerivatives computed here, refused by PyTorch:")
        for message, names in sorted(report.refused.items()):
            print(f"  {', '.join(sorted(names))}: {message}")
    print("\nIntended differences:")
    for entry, keys in explained.items():
        print(f"  {', '.join(sorted({k[0] for k in keys}))} ({entry[1]}): {INTENDED[entry]}")
    stale = [] if partial else [entry for entry in INTENDED if entry not in explained]
    for name, kind in stale:
        print(f"  {name} ({kind}): listed as a difference, and there is none")
    print(f"\n{len(unexplained)} other differences")
    for key in unexplained:
        examples = report.differences[key]
        for text in examples if verbose else examples[:2]:
            print(f"  {key[1]}: {text}")
        if len(examples) > 2 and not verbose:
            print(f"  ... and {len(examples) - 2} more samples")
    return bool(unexplained or stale)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="operators, * and ? allowed")
    parser.add_argument("--verbose", action="store_true", help="every example, and what only we compute")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    report = Report()
    for name, entry in opdb.entries().items():
        if options.only and not any(fnmatch.fnmatchcase(name, pattern) for pattern in options.only):
            continue
        theirs = peer_function(name)
        if theirs is None:
            report.absent.append(name)
            continue
        report.counts["operators compared"] += 1
        compare(report, entry, theirs)
    return show(report, options.verbose, bool(options.only))


if __name__ == "__main__":
    sys.exit(main())
