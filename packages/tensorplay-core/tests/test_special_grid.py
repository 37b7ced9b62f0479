"""The special functions of test_special_accuracy on dense grids; long, so in the session `matrix` alone."""

import importlib.util
import os
import pathlib

import numpy as np
import pytest

mp = pytest.importorskip("mpmath")

_spec = importlib.util.spec_from_file_location("accuracy", pathlib.Path(__file__).with_name("test_special_accuracy.py"))
accuracy = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(accuracy)

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.skipif(os.environ.get("TP_MATRIX") != "full", reason="long: nox -s matrix"),
]
ZEROS = {
    "digamma": [1.4616321449683623, -0.504083008264455, -1.5734984731623905],
    "lgamma": [1.0, 2.0],
    "bessel_j0": [2.404825557695773, 5.520078110286311, 8.653727912911013, 11.79153443901428],
    "bessel_j1": [3.8317059702075125, 7.015586669815619],
    "bessel_y0": [0.8935769662791675, 3.957678419314858],
    "bessel_y1": [2.197141326031017, 5.429681040794135],
    "airy_ai": accuracy.AIRY_ZEROS,
}


def _grid(name, points):
    """The points, a few hundred between them, and the neighbourhoods of zeros."""
    rng = np.random.default_rng(1)
    low, high = min(points), max(points)
    found = list(points)
    if 0 < low and high <= 1:
        found += list(rng.uniform(1e-6, 1 - 1e-6, 150))
    elif low < 0 and high <= 1.3:
        found += list(rng.uniform(-1, 1.1, 100)) if high > 0 else list(-np.exp(rng.uniform(-1, np.log(300), 120)))
    else:
        found += list(np.exp(rng.uniform(np.log(1e-3), np.log(min(high, 60)), 150)))
        if low < 0 and name not in ("digamma", "lgamma", "erfcx", "log_ndtr"):
            found += list(-np.exp(rng.uniform(np.log(1e-3), np.log(min(-low, 30)), 80)))
    for zero in ZEROS.get(name, []):
        found += [zero * (1 + s * e) for e in (1e-15, 1e-12, 1e-9, 1e-6, 1e-3) for s in (1, -1)]
    return sorted({float(x) for x in found if name != "zeta" or x > 1})


@pytest.mark.parametrize("name", accuracy.CASES)
def test_values(name):
    function, reference, points = accuracy.CASES[name]
    grid = _grid(name, points)
    with mp.workdps(40):
        for x, got in zip(grid, accuracy._values(function, grid), strict=True):
            at = mp.mpf(x)
            h = abs(at) * mp.mpf(10) ** -15
            exact = reference(at)
            slope = (reference(at + h) - reference(at - h)) / (2 * h)
            limit = 4 * mp.mpf(float(np.spacing(abs(float(exact))))) + 2 * abs(at * slope) * accuracy.EPS
            assert abs(mp.mpf(float(got)) - exact) <= limit, (x, got, mp.nstr(exact, 20))
