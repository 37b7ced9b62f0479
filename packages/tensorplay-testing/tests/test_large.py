"""The same operators on tensors that reach the vector loops, their ends, and the thread pool."""

import numpy as np
import pytest

import tensorplay as tp

pytest.importorskip("scipy")

from tensorplay.testing import Sample, assert_close, opdb
from tensorplay.testing import _opcheck as oc
from tensorplay.testing.opdb import _base as base

SHAPE = (3, 4)
FORMS = {"long": (1, 301), "tall": (401, 1), "huge": (50, 300)}


def _tiled(s, form):
    """A sample whose arrays of shape [3, 4] are laid side by side; None where there are others."""
    arrays = s.arrays()
    if not arrays or any(a.shape != SHAPE for a in arrays) or not s.value:
        return None
    args, kwargs = s.rebuild([np.ascontiguousarray(np.tile(a, FORMS[form])) for a in arrays])
    return Sample(args, kwargs)


def _usable(entry):
    if entry.random or entry.reference is None:
        return False
    dtype = "float64" if "float64" in entry.dtypes else entry.dtypes[0]
    return any(_tiled(s, "long") for s in entry.draw(dtype))


# Sizes are arguments of some. Products of 180000 elements overflow, and their running ones say nothing.
SKIPPED = {
    "prod",
    "cumprod",
    "masked.prod",
    "masked.cumprod",
    "kron",
    "outer",
    "ger",
    "meshgrid",
    "diagflat",
    "diag_embed",
    "view_as",
    "view",
    "view_copy",
    "reshape",
    "unflatten",
    "expand",
    "broadcast_to",
    "repeat_interleave",
    "repeat",
    "tile",
    "diagonal_scatter",
    "nn.functional.layer_norm",
    "nn.functional.rms_norm",
}
ENTRIES = {n: e for n, e in opdb.entries().items() if n not in SKIPPED and _usable(e)}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ENTRIES)
def test_values(name, form):
    entry = ENTRIES[name]
    for dtype in ("float32", "float64", "bfloat16", "int32", "uint8", "complex64", "bool"):
        if dtype not in entry.dtypes or (form == "huge" and dtype not in ("float32", "int32")):
            continue
        rtol, atol = {"float64": (1e-9, 1e-9), "bfloat16": (6e-2, 6e-2)}.get(dtype, (2e-4, 2e-4))
        done = 0
        for s in entry.draw(dtype):
            large = _tiled(s, form)
            if large is None or done == 2:
                continue
            done += 1
            inexact = any(n in oc.TOLERANCES for n in _names(entry, dtype, large))
            oc.check_value(
                entry.function,
                large,
                entry.reference,
                entry.expected_dtype(dtype),
                tensors=base.tensors_for(dtype),
                rtol=rtol if inexact else 0.0,
                # of sums, beside the number of terms
                atol=atol * (30 if form == "huge" else 5) if inexact else 0.0,
                layouts=form != "huge",
            )


def _names(entry, dtype, s):
    names = entry.expected_dtype(dtype)(s)
    return (names,) if isinstance(names, str) else names


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int64", "int32"])
def test_products_of_all_sizes(dtype):
    rng = np.random.default_rng(3)
    close = {"float32": (1e-4, 1e-4), "complex64": (1e-4, 1e-4)}.get(dtype, (1e-10, 1e-10))
    sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 48, 65, 130]
    for _ in range(60):
        n, k, m = (int(rng.choice(sizes)) for _ in range(3))
        lead = [(), (1,), (3,), (2, 2)][rng.integers(4)]
        a, b = base.make(rng, dtype, *lead, n, k), base.make(rng, dtype, *lead[rng.integers(2) * len(lead) :], k, m)
        want = a @ b
        ta, tb = tp.from_numpy(a), tp.from_numpy(b)
        if rng.integers(2):
            ta = tp.from_numpy(np.ascontiguousarray(np.swapaxes(a, -1, -2))).transpose(-1, -2)
        if rng.integers(2):
            tb = tp.from_numpy(np.ascontiguousarray(np.swapaxes(b, -1, -2))).transpose(-1, -2)
        assert_close(ta @ tb, want, rtol=close[0], atol=close[1] * k, msg=f"{a.shape} @ {b.shape}")


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_numbers_of_threads(threads):
    old = tp.get_num_threads()
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (700, 801)).astype(np.float32)
    t = tp.from_numpy(x)
    try:
        tp.set_num_threads(threads)
        assert_close(t.exp() * t + 1, np.exp(x) * x + 1, rtol=1e-5, atol=1e-6)
        assert_close(t.sum(0), x.astype(np.float64).sum(0), rtol=1e-5, atol=1e-4, check_dtype=False)
        assert_close(t.sum(1), x.astype(np.float64).sum(1), rtol=1e-5, atol=1e-4, check_dtype=False)
        assert_close(t.sum(), x.astype(np.float64).sum(), rtol=1e-4, atol=1e-2, check_dtype=False)
        assert_close(t.t().contiguous(), np.ascontiguousarray(x.T), rtol=0, atol=0)
        assert_close(t.sort(1).values, np.sort(x, 1), rtol=0, atol=0)
        assert_close(t.argmax(1), x.argmax(1))
        assert_close(t.amax(0), x.max(0), rtol=0, atol=0)
        assert_close(t[t > 0.5], x[x > 0.5], rtol=0, atol=0)
        assert_close(t @ t.t(), x @ x.T, rtol=1e-3, atol=1e-3)
        assert_close(t.cumsum(1), np.cumsum(x.astype(np.float64), 1), rtol=1e-4, atol=1e-3, check_dtype=False)
    finally:
        tp.set_num_threads(old)
