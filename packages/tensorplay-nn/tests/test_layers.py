"""Modules that are made from tables: what they share with those written out."""

import copy
import pickle

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn

MODULES = [
    nn.ReLU(True), nn.Hardtanh(-2.0, 2.0), nn.Threshold(0.1, 2.0), nn.GLU(), nn.PReLU(), nn.MaxPool2d(2),
    nn.AvgPool1d(2), nn.Conv1d(4, 2, 3), nn.ConvTranspose3d(2, 2, 1), nn.BatchNorm2d(3), nn.LayerNorm(4),
    nn.CrossEntropyLoss(label_smoothing=0.1), nn.Embedding(4, 2, 1), nn.EmbeddingBag(4, 2, mode="sum"),
]  # fmt: skip


@pytest.mark.parametrize("module", MODULES, ids=lambda m: type(m).__name__)
def test_copies_pickle_and_repr(module):
    for made in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert type(made) is type(module) and repr(made) == repr(module)
        for k, v in module.state_dict().items():
            np.testing.assert_array_equal(made.state_dict()[k].numpy(), v.numpy())


def test_every_public_name_is_there():
    for name in nn.__all__:
        assert getattr(nn, name).__doc__, name


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: nn.Hardtanh(1, 2, 3, 4), TypeError),
        (lambda: nn.MSELoss(size="all"), TypeError),
        (lambda: nn.MSELoss()(tp.ones(2)), TypeError),
        (lambda: nn.Conv2d(4, 6, 3, groups=5), ValueError),
        (lambda: nn.ConvTranspose1d(4, 6, 3, padding_mode="reflect"), ValueError),
        (lambda: nn.GroupNorm(3, 4), ValueError),
        (lambda: nn.BatchNorm2d(3)(tp.ones(2, 3)), ValueError),
        (lambda: nn.Embedding(3, 2, padding_idx=3), AssertionError),
        (lambda: nn.AlphaDropout(2.0), ValueError),
    ],
)
def test_bad_arguments(make, error):
    with pytest.raises(error):
        make()


def test_alpha_dropout_keeps_mean_and_variance():
    x = tp.nn.functional.selu(tp.randn(100000, dtype=tp.float64))
    y = nn.AlphaDropout(0.3)(x)
    assert abs(float(y.mean())) < 0.03 and abs(float(y.var()) - 1) < 0.05
    assert nn.AlphaDropout(0.3).eval()(x) is x
    z = nn.FeatureAlphaDropout(0.5)(tp.ones(4, 8, 3, 3))
    assert (z == z[:, :, :1, :1]).all()


def test_transposed_convolution_finds_its_output_padding():
    down, up = nn.Conv1d(2, 3, 3, stride=2), nn.ConvTranspose1d(3, 2, 3, stride=2)
    x = tp.randn(1, 2, 8)
    assert up(down(x), output_size=x.shape).shape == x.shape
    with pytest.raises(ValueError, match="output_size"):
        up(down(x), output_size=[20])
