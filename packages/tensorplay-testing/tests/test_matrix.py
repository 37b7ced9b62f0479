"""Every operator of the table against every check.

By default a part of it runs, chosen by the commit (`--matrix-seed`, `--matrix-fraction`); `nox -s matrix` runs all.
"""

import hashlib
import os

import pytest

pytest.importorskip("scipy")
pytest.importorskip("tensorplay.func")

from tensorplay.testing import _matrix, opdb

ENTRIES = opdb.entries()
SEED = int(os.environ.get("TP_MATRIX_SEED", "0"))
FRACTION = float(os.environ.get("TP_MATRIX_FRACTION", "0.5"))


def _chosen(name, check):
    if check == "samples":  # cheap, and what makes an operator without samples fail
        return True
    digest = hashlib.sha256(f"{SEED} {name} {check}".encode()).digest()
    return int.from_bytes(digest[:4], "big") < FRACTION * 2**32


CELLS = [
    (name, check)
    for name, entry in ENTRIES.items()
    for check in _matrix.CHECKS
    if _matrix.applies(entry, check) and _chosen(name, check)
]


def test_no_operator_is_without_samples():
    assert opdb.missing() == []


def test_no_entry_is_without_operator():
    from tensorplay.testing.opdb._base import ENTRIES as known

    names = set(opdb.names())
    assert sorted(known.keys() - names) == []


@pytest.mark.matrix
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name, check", CELLS, ids=[f"{n}-{c}" for n, c in CELLS])
def test_cell(name, check):
    _matrix.run(ENTRIES[name], check, SEED % 1000)
