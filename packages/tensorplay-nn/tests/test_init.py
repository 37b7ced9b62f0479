"""Initialisers by the properties that define them."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn

D = tp.float64


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (5, 5), (6, 2, 2), (2, 3, 3), (1, 1), (3, 1)])
@pytest.mark.parametrize("gain", [1.0, 2.5])
def test_orthogonal(shape, gain):
    tp.manual_seed(0)
    w = tp.zeros(shape, dtype=D, requires_grad=True)
    assert nn.init.orthogonal_(w, gain) is w and w.is_leaf
    m = w.detach().numpy().reshape(shape[0], -1)
    m = m if m.shape[0] <= m.shape[1] else m.T
    assert np.allclose(m @ m.T, gain**2 * np.eye(len(m)), atol=1e-12)


def test_orthogonal_matrices_are_drawn_uniformly():
    tp.manual_seed(0)
    drawn = np.stack([nn.init.orthogonal_(tp.empty(2, 2, dtype=D)).numpy() for _ in range(2000)])
    angles = np.arctan2(drawn[:, 1, 0], drawn[:, 0, 0])
    counts, _ = np.histogram(angles, np.linspace(-np.pi, np.pi, 9))
    assert np.abs(counts - 250).max() < 75  # five standard deviations
    assert abs((np.linalg.det(drawn) > 0).mean() - 0.5) < 0.06


@pytest.mark.parametrize("shape, groups", [((4, 3, 3), 1), ((4, 2, 3, 5), 2), ((2, 4, 3, 3), 1), ((3, 3, 1, 3, 3), 1)])
def test_dirac_hands_channels_on(shape, groups):
    w = nn.init.dirac_(tp.empty(shape, dtype=D), groups)
    n = len(shape) - 2
    x = tp.randn(2, shape[1] * groups, *(4 + k for k in range(n)), dtype=D)
    y = getattr(nn.functional, f"conv{n}d")(x, w, padding=[k // 2 for k in shape[2:]], groups=groups)
    each, taken = shape[0] // groups, min(shape[0] // groups, shape[1])
    for g in range(groups):
        got = y[:, g * each : (g + 1) * each].numpy()
        assert np.array_equal(got[:, :taken], x[:, g * shape[1] : g * shape[1] + taken].numpy())
        assert not got[:, taken:].any()


@pytest.mark.parametrize("sparsity, zeros", [(0.0, 0), (0.33, 4), (0.5, 5), (1.0, 10)])
def test_sparse(sparsity, zeros):
    tp.manual_seed(1)
    w = nn.init.sparse_(tp.empty(10, 400, dtype=D), sparsity, std=0.1).numpy()
    assert ((w == 0).sum(0) == zeros).all()
    if zeros < 10:
        assert abs(w[w != 0].std() - 0.1) < 0.01
        assert ((w == 0).sum(1) > 0).all() or not zeros  # not the same rows each time


def test_initialisers_refuse_what_does_not_fit():
    for call, match in (
        (lambda: nn.init.orthogonal_(tp.ones(3)), "orthogonal_: at least two"),
        (lambda: nn.init.dirac_(tp.ones(3, 2)), "dirac_: three to five"),
        (lambda: nn.init.dirac_(tp.ones(3, 2, 1), 2), "dirac_: 3 channels"),
        (lambda: nn.init.sparse_(tp.ones(3), 0.5), "sparse_: two"),
        (lambda: nn.init.sparse_(tp.ones(3, 2), 1.5), "sparse_: sparsity"),
        (lambda: nn.init.eye_(tp.ones(3)), "eye_: two"),
    ):
        with pytest.raises(ValueError, match=match):
            call()
    assert nn.init.orthogonal_(tp.ones(0, 3)).shape == (0, 3)
    assert nn.init.orthogonal_(tp.ones(3, 3, dtype=tp.float16)).dtype == tp.float16


def test_a_generator_repeats():
    cases = (nn.init.orthogonal_, ()), (nn.init.sparse_, (0.3,)), (nn.init.normal_, ()), (nn.init.uniform_, ())
    for f, more in cases:
        draws = []
        for _ in range(2):
            g = tp.Generator()
            g.manual_seed(3)
            draws.append(f(tp.empty(4, 4), *more, generator=g))
        assert draws[0].equal(draws[1])
