"""A million draws of every random operator: the distribution that it names, whatever the number of threads, and with
parameters for each element."""

import numpy as np
import pytest

import tensorplay as tp

stats = pytest.importorskip("scipy.stats")

N = 1_000_000
LEVEL = 1e-4  # of each test, were the seed not fixed


def zeros(dtype=tp.float64):
    return tp.zeros(N, dtype=dtype)


CONTINUOUS = {
    "rand": (lambda: tp.rand(N, dtype=tp.float64), stats.uniform),
    "rand of float32": (lambda: tp.rand(N), stats.uniform),
    "randn": (lambda: tp.randn(N, dtype=tp.float64), stats.norm),
    "randn of float32": (lambda: tp.randn(N), stats.norm),
    "rand_like": (lambda: tp.rand_like(zeros()), stats.uniform),
    "randn_like": (lambda: tp.randn_like(zeros()), stats.norm),
    "normal of a mean for each": (lambda: tp.normal(zeros() + 2, 3.0), stats.norm(2, 3)),
    "normal of a scale for each": (lambda: tp.normal(2.0, zeros() + 3), stats.norm(2, 3)),
    "normal_": (lambda: zeros().normal_(1.0, 0.5), stats.norm(1, 0.5)),
    "uniform_": (lambda: zeros().uniform_(-1.0, 4.0), stats.uniform(-1, 5)),
    "exponential_": (lambda: zeros().exponential_(2.0), stats.expon(scale=0.5)),
    "cauchy_": (lambda: zeros().cauchy_(1.0, 2.0), stats.cauchy(1, 2)),
    "log_normal_": (lambda: zeros().log_normal_(0.5, 0.75), stats.lognorm(0.75, scale=np.exp(0.5))),
}
DISCRETE = {
    "randint": (lambda: tp.randint(7, (N,)), np.full(7, 1 / 7)),
    "randint_like": (lambda: tp.randint_like(zeros(), 10), np.full(10, 0.1)),
    "random_": (lambda: zeros(tp.int64).random_(4), np.full(4, 0.25)),
    "bernoulli": (lambda: tp.bernoulli(zeros() + 0.3), [0.7, 0.3]),
    "bernoulli_": (lambda: zeros().bernoulli_(0.85), [0.15, 0.85]),
    "geometric_": (lambda: zeros().geometric_(0.4).clamp(max=12) - 1, [*(0.4 * 0.6 ** np.arange(11)), 0.6**11]),
    "multinomial": (lambda: tp.multinomial(tp.tensor([1.0, 2, 3, 4]), N, True), [0.1, 0.2, 0.3, 0.4]),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    tp.manual_seed(11)
    draw, distribution = CONTINUOUS[name]
    assert stats.kstest(draw().double().numpy(), distribution.cdf).pvalue > LEVEL


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    tp.manual_seed(12)
    draw, probabilities = DISCRETE[name]
    counts = np.bincount(draw().long().numpy(), minlength=len(probabilities))
    assert len(counts) == len(probabilities)
    assert stats.chisquare(counts, np.asarray(probabilities) * N).pvalue > LEVEL


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_threads_do_not_change_what_is_drawn(name):
    draw, _ = (CONTINUOUS | DISCRETE)[name]
    before, drawn = tp.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            tp.set_num_threads(threads)
            tp.manual_seed(13)
            drawn.append(draw().numpy())
    finally:
        tp.set_num_threads(before)
    np.testing.assert_array_equal(drawn[0], drawn[1])
    np.testing.assert_array_equal(drawn[0], drawn[2])


def test_mapped_parameters():
    func = pytest.importorskip("tensorplay.func")
    n = 100_000
    mean, scale = tp.tensor([-3.0, 0, 5], dtype=tp.float64), tp.tensor([1.0, 2, 0.5], dtype=tp.float64)
    p = tp.tensor([0.1, 0.5, 0.9], dtype=tp.float64)
    weights = tp.tensor([[1.0, 1, 2], [3.0, 1, 0], [1.0, 8, 1]], dtype=tp.float64)

    def draw(m, s, q, w):
        one = tp.ones(n, dtype=tp.float64)
        return tp.normal(m * one, s * one), tp.bernoulli(q * one), tp.multinomial(w, n, True)

    for randomness in ("different", "same"):
        tp.manual_seed(14)
        x, b, k = func.vmap(draw, randomness=randomness)(mean, scale, p, weights)
        for i in range(3):
            assert stats.kstest(x[i].numpy(), stats.norm(mean[i].item(), scale[i].item()).cdf).pvalue > LEVEL
            heads = b[i].sum().item()
            assert stats.binomtest(int(heads), n, p[i].item()).pvalue > LEVEL
            counts, want = np.bincount(k[i].numpy(), minlength=3), (weights[i] / weights[i].sum()).numpy() * n
            assert np.all(counts[want == 0] == 0) and stats.chisquare(counts[want > 0], want[want > 0]).pvalue > LEVEL
        standard = ((x - mean.unsqueeze(1)) / scale.unsqueeze(1)).numpy()
        alike = np.abs(np.corrcoef(standard)[0, 1:])
        assert np.all(alike > 0.999) if randomness == "same" else np.all(alike < 0.02)
    # nested: the outer samples share their draws, the inner ones do not
    nested = func.vmap(func.vmap(lambda v: v + tp.randn(1000), randomness="different"), randomness="same")
    z = nested(tp.zeros(2, 3)).numpy()
    np.testing.assert_array_equal(z[0], z[1])
    assert np.abs(np.corrcoef(z[0]) - np.eye(3)).max() < 0.2
