"""States in files."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn


def test_a_state_comes_back(tmp_path):
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2, dtype=tp.float64))
    state = {**net.state_dict(), "half": tp.ones(2, dtype=tp.bfloat16) / 3, "flags": tp.tensor([True, False])}
    nn.save_file(state, tmp_path / "a.safetensors", {"by": "test"})
    found = nn.load_file(tmp_path / "a.safetensors")
    assert found.keys() == state.keys()
    for k, v in state.items():
        assert found[k].dtype == v.dtype and found[k].shape == v.shape and bool((found[k] == v).all())
    nn.save_file(net, tmp_path / "b.safetensors")
    library = pytest.importorskip("safetensors.numpy")
    for k, v in library.load_file(tmp_path / "b.safetensors").items():
        np.testing.assert_array_equal(v, net.state_dict()[k].numpy())


def test_what_the_format_has_not(tmp_path):
    with pytest.raises(TypeError, match="complex64"):
        nn.save_file({"a": tp.ones(2, dtype=tp.complex64)}, tmp_path / "a")
    with pytest.raises(TypeError, match="not a Tensor"):
        nn.save_file({"a": 1}, tmp_path / "a")


def test_what_is_no_such_file(tmp_path):
    path = tmp_path / "a"
    for raw in (b"", b"abc", (100).to_bytes(8, "little"), (3).to_bytes(8, "little") + b"{,}"):
        path.write_bytes(raw)
        with pytest.raises(ValueError, match="not a safetensors file"):
            nn.load_file(path)
    nn.save_file({"a": tp.ones(4)}, path)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match="does not fit"):
        nn.load_file(path)
