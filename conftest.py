"""Options of the operator matrix; see packages/tensorplay-testing/tests/test_matrix.py."""

import os
import subprocess


def pytest_addoption(parser):
    group = parser.getgroup("operator matrix")
    group.addoption("--matrix-fraction", type=float, help="how much of the operator matrix runs, 0 to 1 (default 0.5)")
    group.addoption("--matrix-seed", type=int, help="which part runs (default: from the hash of the commit)")


def _commit():
    """A number from the commit's hash; 0 outside of a repository."""
    try:
        out = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=20, cwd=os.path.dirname(__file__)
        )
        return int(out.stdout.strip()[:8], 16)
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0


def pytest_configure(config):
    # Processes of pytest-xdist inherit the environment, and so the choice.
    if config.getoption("--matrix-fraction") is not None:
        os.environ["TP_MATRIX_FRACTION"] = str(config.getoption("--matrix-fraction"))
    if config.getoption("--matrix-seed") is not None:
        os.environ["TP_MATRIX_SEED"] = str(config.getoption("--matrix-seed"))
    os.environ.setdefault("TP_MATRIX_SEED", str(_commit()))
    os.environ.setdefault("TP_MATRIX_FRACTION", "1" if os.environ.get("TP_MATRIX") == "full" else "0.5")


def pytest_report_header(config):
    seed, fraction = os.environ["TP_MATRIX_SEED"], os.environ["TP_MATRIX_FRACTION"]
    return f"operator matrix: --matrix-seed {seed} --matrix-fraction {fraction}"
