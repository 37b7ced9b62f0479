"""The pages under docs/examples run, their numbers hold, also against references of this file, and each has a picture.

The settings are smaller than the pages' own where those take long.
"""

import importlib.util
import pathlib

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import vmap

FOLDER = pathlib.Path(__file__).parents[2] / "docs" / "examples"
SMALLER = {
    "normalised_residual_network": "--steps 160",
    "ensemble": "--members 5 --steps 70",
    "neural_tangent_kernel": "--images 150",
    "maml": "--steps 500",
    "heat_equation": "--steps 100",
    "influence_functions": "--images 120",
}


@pytest.fixture
def page(request, tmp_path):
    """The page that a test is named after, as (module, what main returns)."""
    for module in ("sklearn", "matplotlib", "tqdm"):
        pytest.importorskip(module, reason="a dependency of the examples alone")
    name = request.node.originalname.removeprefix("test_")
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    picture = tmp_path / "out.png"
    got = example.main([*SMALLER.get(name, "").split(), "--out", str(picture)])
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    return example, got


def test_every_page_is_listed_and_tested():
    index, tests = (FOLDER / "index.md").read_text(), pathlib.Path(__file__).read_text()
    for path in FOLDER.glob("*.py"):
        assert index.count(f"made/{path.stem}") == 2, path.stem
        assert f"def test_{path.stem}(page)" in tests or path.stem == "per_sample_gradients", path.stem


def test_normalised_residual_network(page):
    example, got = page
    rows = {name: (loop, batch) for name, loop, batch in got["rows"]}
    assert all(loop < 2e-5 for loop, _ in rows.values())
    # a sample at a time is the batch for these two; patched batch norm normalises each sample by itself
    assert rows["group norm"][1] < 2e-5 and rows["batch norm, evaluation"][1] < 2e-5
    assert rows["batch norm, patched"][1] > 1e-2
    assert "replace_all_batch_norm_modules_" in got["refusal"] and "'1.first'" in got["refusal"]
    assert got["area"] > 0.97 and got["found"] > 0.6

    # the gradient of the group-norm network against central differences along a direction, in float64
    net = example.make_net(lambda c: example.nn.GroupNorm(4, c)).double()
    images, labels, _ = example.load(0.05)
    x, y = tp.from_numpy(images[:6].astype(np.float64)), tp.from_numpy(labels[:6])
    params = example.parameters(net)
    rng = np.random.default_rng(0)
    v = {k: tp.from_numpy(rng.standard_normal(p.shape)) for k, p in params.items()}
    grads = vmap(example.grad(example.sample_loss(net)), (None, 0, 0))(params, x, y)
    slope = sum((g * v[k]).flatten(1).sum(1) for k, g in grads.items()).numpy()

    def losses(t):
        moved = {k: p + t * v[k] for k, p in params.items()}
        return np.array([float(example.sample_loss(net)(moved, x[i], y[i])) for i in range(len(y))])

    h = 1e-6
    assert np.allclose(slope, (losses(h) - losses(-h)) / (2 * h), rtol=1e-5, atol=1e-6)

    # and the separation of the scores against a count of pairs
    scores, wrong = rng.standard_normal(40), rng.random(40) < 0.3
    pairs = (scores[wrong][:, None] > scores[~wrong]).mean()
    assert abs(example.separation(scores, wrong) - pairs) < 1e-12


def test_ensemble(page):
    example, got = page
    assert got["deviation"] < 1e-9  # rounding, which the largest rate amplifies
    assert got["batches"] == 70
    assert max(got["accuracy"]) > 0.85 and got["voted"] > 0.85

    # a step of one member moves the statistics as the formula says: 0.9 of the old, 0.1 of the batch's
    (images, labels), _ = example.load()
    net = example.make_net()
    weight, x = net[0].weight.detach().numpy(), np.pad(images[:32], ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(x[:, 0], (3, 3), (1, 2))
    seen = np.einsum("nyxij,cij->nyxc", windows, weight[:, 0]).reshape(-1, 8)
    _, buffers, _ = next(example.train_together([net], np.array([0.1]), images, labels, [range(32)]))
    assert np.allclose(buffers["1.running_mean"][0].numpy(), 0.1 * seen.mean(0), atol=1e-14)
    assert np.allclose(buffers["1.running_var"][0].numpy(), 0.9 + 0.1 * seen.var(0, ddof=1), atol=1e-13)


def test_jacobians_and_hessians(page):
    example, got = page
    assert max(got["errors"].values()) < 1e-13
    assert got["norm"] < 1e-14 < got["descent"]

    # the minimum that Newton's method finds is scikit-learn's
    from sklearn.linear_model import LogisticRegression

    x, y = example.load()
    ones = np.concatenate([x, np.ones((len(x), 1))], 1)  # as a feature: the page regularises the bias too
    model = LogisticRegression(C=1 / (example.DECAY * len(x)), fit_intercept=False, tol=1e-10, max_iter=5000)
    model.fit(ones, y)
    assert np.abs(model.coef_.T - got["weights"]).max() < 1e-3


def test_neural_tangent_kernel(page):
    example, got = page
    assert got["difference"] < 1e-12
    assert got["symmetry"] < 1e-13 and got["smallest"] > -1e-12
    for large, small in zip(got["moved"], got["moved"][1:]):
        assert 8 < large / small < 12  # the error is of second order in the step
    assert got["accuracy"] > 0.88 and got["accuracy"] > got["linear"]

    # a linear network's kernel in closed form: (x·x' + 1) on the diagonal
    layer = example.nn.Linear(64, 10).double()
    params = {k: p.detach() for k, p in layer.named_parameters()}
    x = tp.from_numpy(example.load()[0][:9].reshape(9, 64))
    flat = x.numpy()
    expected = np.einsum("nm,ab->nmab", flat[:4] @ flat[4:].T + 1, np.eye(10))
    for way in (example.by_contraction, example.by_products):
        assert np.allclose(way(example.single(layer), params, x[:4], x[4:]).numpy(), expected, atol=1e-12)


def test_maml(page):
    example, got = page
    assert got["difference"] < 1e-6  # central differences in float64
    assert got["first order"] > 0.05  # so the second derivatives matter
    assert got["MAML"][1] < 0.6 * got["MAML"][0] and got["MAML"][10] < 0.5 * got["trained on all tasks"][10]

    # in closed form: the loss (p - y)² / 1 of one weight, after one step p - 2 RATE (p - y)
    rate = example.RATE
    loss = lambda params, x, y: ((params["p"] - y) ** 2).mean()
    ys, yq = tp.tensor([[1.0], [2.0]], dtype=tp.float64), tp.tensor([[3.0], [-1.0]], dtype=tp.float64)
    p = {"p": tp.tensor(0.5, dtype=tp.float64)}
    got = example.grad(example.meta_loss_of(loss))(p, ys, ys, yq, yq)["p"]
    adapted = 0.5 - 2 * rate * (0.5 - ys.numpy())
    assert abs(float(got) - (2 * (adapted - yq.numpy()) * (1 - 2 * rate)).mean()) < 1e-14


def test_heat_equation(page):
    example, got = page
    assert got["error"] < 1e-3 and got["largest"] < 3e-3

    # the network satisfies the equation by central differences too, and the exact solution by the page's residual
    net = example.make_net()
    _, unpack = example.unpack_of(net)
    u, h = example.solution_of(net, unpack), 1e-3
    w = tp.from_numpy(got["weights"])
    at = lambda x, t: float(u(w, tp.tensor(x, dtype=tp.float64), tp.tensor(t, dtype=tp.float64)))
    for x, t in ((0.3, 0.2), (0.7, 0.5), (0.5, 0.9)):
        u_t = (at(x, t + h) - at(x, t - h)) / (2 * h)
        u_xx = (at(x + h, t) - 2 * at(x, t) + at(x - h, t)) / h**2
        assert abs(u_t - example.CONDUCTIVITY * u_xx) < 0.02
        assert abs(at(x, t) - example.exact(x, t)) < 3e-3
    k = example.CONDUCTIVITY * np.pi**2
    solution = lambda w, x, t: tp.exp(-k * t) * tp.sin(np.pi * x) + 0.5 * tp.exp(-9 * k * t) * tp.sin(3 * np.pi * x)
    x, t = example.collocation(50)
    assert vmap(example.residual_of(solution), (None, 0, 0))(w, x, t).abs().max() < 1e-13


def test_influence_functions(page):
    example, got = page
    assert got["norm"] < 1e-14
    correlation, slope = got["fit"]["one Newton step"]
    assert correlation > 0.98 and abs(slope - 1) < 0.1
    correlation, slope = got["fit"]["influence"]
    assert correlation > 0.9 and 0.4 < slope < 1
    assert got["found"] >= 4

    # scikit-learn's minima, with all images and without one of them, are those of the page
    from sklearn.linear_model import LogisticRegression

    (x, y), _, _ = example.load(120)
    model = LogisticRegression(C=1 / (example.DECAY * len(y)), fit_intercept=False, tol=1e-12, max_iter=5000)
    assert np.abs(model.fit(x, y).coef_[0] - got["weights"]).max() < 1e-4
    for i in (0, 17, 101):
        kept = np.arange(len(y)) != i
        assert np.abs(model.fit(x[kept], y[kept]).coef_[0] - got["others"][i]).max() < 1e-4
