"""The database measures its own coverage from the signatures."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("scipy")

from tensorplay.testing import Sample, opdb, signatures

ENTRIES = opdb.entries()


def _only(entry, keep):
    """The entry with some of its samples."""
    draw = entry.samples
    return dataclasses.replace(entry, samples=lambda rng, dtype: (s for s in draw(rng, dtype) if keep(s)))


@pytest.mark.parametrize(
    "name, keep, gap",
    [
        ("add", lambda s: "alpha" not in s.kwargs, "no sample sets alpha"),
        ("add", lambda s: all(a.ndim for a in s.arrays()), "no sample has a 0-d tensor"),
        ("add", lambda s: all(a.size for a in s.arrays()), "no sample has an empty tensor"),
        ("add", lambda s: len({a.shape for a in s.arrays()}) == 1, "different shapes"),
        ("sum", lambda s: "dtype" not in s.kwargs, "no sample sets dtype"),
        ("sum", lambda s: len(s.args) < 3 and "keepdim" not in s.kwargs, "no sample sets keepdim"),
        ("max", lambda s: len(s.arrays()) == 1, "no sample of the form"),
        ("gelu", lambda s: not s.kwargs, "no sample sets approximate"),
    ],
)
def test_gaps_are_found(name, keep, gap):
    assert opdb.gaps(ENTRIES[name]) == []
    assert any(gap in g for g in opdb.gaps(_only(ENTRIES[name], keep)))


def test_a_missing_operator_is_named(monkeypatch):
    import tensorplay as tp

    monkeypatch.setitem(tp._ops.FUNCTIONS, "entirely_new", lambda self: self)
    assert opdb.missing() == ["entirely_new"]


def test_signatures():
    functions, methods = signatures.table()
    (form,) = functions["clone"]
    assert [p.name for p in form.parameters] == ["self"]
    assert form.parameters[0].is_tensor
    form = functions["sum"][0]
    by_name = {p.name: p for p in form.parameters}
    assert by_name["keepdim"].optional and not by_name["self"].optional
    assert by_name["keepdim"].is_default(False) and not by_name["keepdim"].is_default(True)
    assert by_name["dim"].is_default(None) and not by_name["dim"].is_default(0)
    assert form.bind((1, 2, True), {"dtype": 3}) == {"self": 1, "dim": 2, "keepdim": True, "dtype": 3}
    assert form.bind((1,), {"unknown": 3}) is None
    assert functions["permute"][0].bind((1, 2, 0), {}) == {"self": 1, "dims": (2, 0)}
    assert "add_" in methods


def test_samples_follow_the_seed():
    entry = ENTRIES["add"]
    first, again, other = entry.draw("float64", 1), entry.draw("float64", 1), entry.draw("float64", 2)
    assert all(
        np.array_equal(a, b, equal_nan=True) for s, t in zip(first, again) for a, b in zip(s.arrays(), t.arrays())
    )
    assert not all(np.array_equal(a, b) for s, t in zip(first, other) for a, b in zip(s.arrays(), t.arrays()))


def test_a_sample_rebuilds_its_arguments():
    a, b = np.zeros(2), np.ones(3)
    s = Sample(([a, None, b], 4), {"p": a})
    assert len(s.arrays()) == 3
    args, kwargs = s.rebuild([1, 2, 3])
    assert args == ([1, None, 2], 4) and kwargs == {"p": 3}
    assert str(s) == "([float64[2], None, float64[3]], 4, p=float64[2])"
