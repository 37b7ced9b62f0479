"""interpolate: sizes, modes, options; what an affine function becomes."""

import numpy as np
import pytest

import tensorplay as tp
import tensorplay.nn.functional as F


def ramp(*shape):
    grids = np.meshgrid(*(np.arange(n, dtype=float) for n in shape), indexing="ij")
    return tp.tensor(sum((i + 1.5) * g for i, g in enumerate(grids)) + 0.25)[None, None]


@pytest.mark.parametrize("mode,shape", [("linear", (5,)), ("bilinear", (4, 6)), ("trilinear", (3, 4, 5))])
def test_affine_functions_survive_when_corners_keep_their_places(mode, shape):
    out = F.interpolate(ramp(*shape), size=tuple(2 * n - 1 for n in shape), mode=mode, align_corners=True)
    np.testing.assert_allclose(out.numpy()[0, 0], sum(
        (i + 1.5) * g for i, g in enumerate(np.meshgrid(*(np.arange(2 * n - 1) / 2 for n in shape), indexing="ij"))
    ) + 0.25, rtol=1e-13)  # fmt: skip


def test_cubic_keeps_affine_functions_away_from_the_edges():  # with a = -0.5, which antialias uses
    out = F.interpolate(ramp(12, 12), scale_factor=2, mode="bicubic", antialias=True).numpy()[0, 0]
    at = (np.arange(24) + 0.5) / 2 - 0.5
    np.testing.assert_allclose(out[5:19, 5:19], (1.5 * at[:, None] + 2.5 * at + 0.25)[5:19, 5:19], rtol=1e-12)


def test_antialias_of_a_checkerboard_is_grey():
    board = tp.tensor(np.indices((32, 32)).sum(0) % 2 * 1.0)[None, None]
    sharp = F.interpolate(board, size=(7, 7), mode="bilinear").numpy()
    grey = F.interpolate(board, size=(7, 7), mode="bilinear", antialias=True).numpy()
    assert np.abs(sharp - 0.5).max() > 0.2 and np.abs(grey - 0.5).max() < 0.02


def test_area_is_the_mean_over_windows():
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 6))
    out = F.interpolate(tp.tensor(x), size=(2, 3), mode="area").numpy()
    np.testing.assert_allclose(out, x.reshape(2, 3, 2, 2, 3, 2).mean((3, 5)), rtol=1e-13)


def test_scale_factor_is_used_unless_recomputed():
    x = tp.arange(7.0)[None, None]
    kept = F.interpolate(x, scale_factor=1.6, mode="linear").numpy()[0, 0]
    ratio = F.interpolate(x, scale_factor=1.6, mode="linear", recompute_scale_factor=True).numpy()[0, 0]
    at = np.arange(11) + 0.5
    np.testing.assert_allclose(kept, np.clip(at / 1.6 - 0.5, 0, 6), rtol=1e-6)
    np.testing.assert_allclose(ratio, np.clip(at * 7 / 11 - 0.5, 0, 6), rtol=1e-6)
    assert (F.upsample_nearest(x, scale_factor=2) == x.repeat_interleave(2, 2)).all()
    assert (F.upsample(x, 14) == F.upsample_nearest(x, 14)).all()


@pytest.mark.parametrize(
    "shape,options",
    [
        ((1, 1, 4), {"size": 3, "mode": "bilinear"}),
        ((4,), {"size": 3}),
        ((1, 1, 4), {"size": 3, "mode": "sharp"}),
        ((1, 1, 4), {}),
        ((1, 1, 4), {"size": 3, "scale_factor": 2.0}),
        ((1, 1, 4, 4), {"size": (3, 3, 3)}),
        ((1, 1, 4), {"size": 3, "align_corners": True}),
        ((1, 1, 4), {"size": 3, "mode": "linear", "antialias": True}),
        ((1, 1, 4), {"size": 3, "recompute_scale_factor": True}),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(shape, options):
    with pytest.raises(ValueError, match="^interpolate: [^\n]+$"):
        F.interpolate(tp.zeros(shape), **options)


def test_fold_adds_what_unfold_took():
    x = tp.tensor(np.random.default_rng(1).standard_normal((2, 3, 6, 5)))
    count = F.fold(F.unfold(tp.ones_like(x), 3, padding=1), (6, 5), 3, padding=1)
    np.testing.assert_allclose((F.fold(F.unfold(x, 3, padding=1), (6, 5), 3, padding=1) / count).numpy(), x.numpy())


@pytest.mark.parametrize("corners", [True, False])
def test_affine_grid_of_the_identity_returns_the_image(corners):
    for shape in ((2, 3, 4, 5), (2, 1, 3, 2, 4)):
        dims = len(shape) - 2
        x = tp.tensor(np.random.default_rng(0).standard_normal(shape))
        theta = tp.eye(dims, dims + 1, dtype=tp.float64).expand(2, dims, dims + 1)
        grid = F.affine_grid(theta, shape, corners)
        assert grid.shape == (2, *shape[2:], dims)
        tp.testing.assert_close(F.grid_sample(x, grid, align_corners=corners), x)
        tp.testing.assert_close(F.affine_grid(2 * theta, shape, corners), 2 * grid)


def test_affine_grid_under_transforms_and_bad_input():
    theta = tp.tensor(np.random.default_rng(1).standard_normal((1, 2, 3)))
    tp.testing.gradcheck(lambda t: F.affine_grid(t, (1, 1, 2, 3)) ** 2, theta, order=2)
    tp.testing.check_vmap(lambda t: F.affine_grid(t, (1, 1, 2, 3), True), (theta,))
    for bad, size, error in (
        (theta.to(tp.int64), (1, 1, 2, 3), ValueError),
        (theta, (2, 1, 2, 3), ValueError),
        (theta, (1, 1, 2), NotImplementedError),
        (theta, (1, 1, 0, 3), ValueError),
    ):
        with pytest.raises(error, match="affine_grid"):
            F.affine_grid(bad, size)


def test_circular_padding_of_what_a_negative_side_has_left():
    x = tp.arange(5)
    assert F.pad(x, [2, -1], "circular").tolist() == [2, 3, 0, 1, 2, 3]
    assert F.pad(x, [-2, 3], "circular").tolist() == [2, 3, 4, 2, 3, 4]
    with pytest.raises(RuntimeError, match="^pad: nothing is left"):
        F.pad(x, [-5, 2], "circular")
