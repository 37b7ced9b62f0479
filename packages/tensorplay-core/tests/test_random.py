"""Random functions as Python sees them: shapes, keywords, seeds, generators, and the flag of vmap."""

import numpy as np
import pytest

import tensorplay as tp


@pytest.mark.parametrize(
    "make",
    [
        lambda **k: tp.rand(2, 3, **k), lambda **k: tp.randn((2, 3), **k), lambda **k: tp.normal(0.0, 1.0, (2, 3), **k),
        lambda **k: tp.randint(1000, (2, 3), **k), lambda **k: tp.randint(-5, 1000, (2, 3), **k),
        lambda **k: tp.randperm(6, **k).reshape(2, 3), lambda **k: tp.rand_like(tp.zeros(2, 3), **k),
        lambda **k: tp.randn_like(tp.zeros(2, 3), **k), lambda **k: tp.randint_like(tp.zeros(2, 3), 1000, **k),
    ],
)  # fmt: skip
def test_seeds_and_keywords(make):
    tp.manual_seed(7)
    a = make()
    b = make()
    tp.manual_seed(7)
    c = make()
    assert a.shape == (2, 3) and (a == c).all() and not (a == b).all()
    assert (a == make(generator=tp.Generator().manual_seed(7))).all()
    assert make(dtype=tp.float64).dtype is tp.float64
    with pytest.raises(ValueError, match="cuda"):
        make(device="cuda")
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        make(out=a)
    with pytest.raises(TypeError):
        make(generator=3)
    if a.is_floating_point():
        assert make(requires_grad=True, device="cpu").requires_grad


def test_in_place():
    x = tp.zeros(1000)
    assert x.uniform_(2.0, 3.0) is x and 2 <= x.min() and x.max() < 3
    assert abs(x.normal_(5.0, 0.1).mean().item() - 5) < 0.1
    assert set(x.bernoulli_(0.5).tolist()) == {0.0, 1.0}


def test_generators_draw_on():
    g = tp.Generator().manual_seed(3)
    a, state = tp.rand(5, generator=g), g.get_state()
    b = tp.rand(5, generator=g)
    g.set_state(state)
    assert (tp.rand(5, generator=g) == b).all() and not (a == b).all()


def test_nested_flags_of_vmap(transforms):
    x = tp.zeros(3, 4)
    vmap = transforms.vmap
    draw = lambda v: v + tp.rand(())
    different_same = vmap(vmap(draw, "same"), "different")(x).numpy()
    assert (different_same == different_same[:, :1]).all() and len(np.unique(different_same)) == 3
    same_different = vmap(vmap(draw, "different"), "same")(x).numpy()
    assert (same_different == same_different[:1]).all() and len(np.unique(same_different)) == 4
    for outer, inner in (("error", "same"), ("different", "error"), ("error", "different")):
        with pytest.raises(RuntimeError, match="randomness=error"):
            vmap(vmap(draw, inner), outer)(x)
    for like in (tp.rand_like, tp.randn_like):
        assert len(np.unique(vmap(lambda v: like(v), "different")(x).numpy())) == 12
        assert len(np.unique(vmap(lambda v: like(v), "same")(x).numpy())) == 4
        with pytest.raises(RuntimeError, match="randomness=error"):
            vmap(lambda v: like(v))(x)


def test_distributions_of_fills():
    stats = pytest.importorskip("scipy.stats")
    tp.manual_seed(1)
    x = tp.zeros(200000, dtype=tp.float64)
    for draw, law in (
        (lambda: x.cauchy_(1.0, 2.0), stats.cauchy(1, 2)),
        (lambda: x.log_normal_(0.5, 0.25), stats.lognorm(0.25, scale=np.exp(0.5))),
    ):
        assert draw() is x and stats.kstest(x.numpy(), law.cdf).pvalue > 1e-4
    for p in (0.01, 0.3, 0.95):
        n = tp.zeros(200000, dtype=tp.int32).geometric_(p).numpy()
        seen = np.bincount(n, minlength=2)[1:]
        likely = stats.geom(p).pmf(np.arange(1, len(seen) + 1)) * n.size
        k = int((likely > 10).sum())
        seen, likely = np.append(seen[:k], seen[k:].sum()), np.append(likely[:k], n.size - likely[:k].sum())
        assert n.min() == 1 and stats.chisquare(seen, likely).pvalue > 1e-4


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda x: x.cauchy_(0.0, 0.0), RuntimeError),
        (lambda x: x.log_normal_(0.0, -1.0), RuntimeError),
        (lambda x: x.geometric_(1.0), RuntimeError),
        (lambda x: x.geometric_(float("nan")), RuntimeError),
        (lambda x: x.long().cauchy_(), TypeError),
        (lambda x: x.long().log_normal_(), TypeError),
        (lambda x: x.bool().geometric_(0.5), TypeError),
    ],
)
def test_refused_fills(call, kind):
    with pytest.raises(kind):
        call(tp.ones(3))
