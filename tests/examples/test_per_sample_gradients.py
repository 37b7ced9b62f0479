"""The demo runs, its numbers hold, and it writes its picture."""

import importlib.util
import pathlib

import pytest

EXAMPLE = pathlib.Path(__file__).parents[2] / "docs" / "examples" / "per_sample_gradients.py"


def test_demo(tmp_path):
    for module in ("sklearn", "matplotlib", "tqdm"):
        pytest.importorskip(module, reason="a dependency of the example alone")
    spec = importlib.util.spec_from_file_location("per_sample_gradients", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    picture = tmp_path / "out.png"
    got = example.main(["--steps", "120", "--out", str(picture)])
    assert got["accuracy"] > 0.9
    assert got["difference"] < 1e-4
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
