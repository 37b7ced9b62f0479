"""Random programs: elementwise operators, views, writes through views, indices, reductions, products.

NumPy runs the same program and says what the values are, aliasing included; loops and finite differences say what the
transforms give. `TP_FUZZ=1000` runs more of them.
"""

import os

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, hessian, jacfwd, jacrev, jvp, vmap
from tensorplay.testing import assert_close

PROGRAMS = int(os.environ.get("TP_FUZZ", "60"))
FIRST = int(os.environ.get("TP_FUZZ_FIRST", "0"))
SHAPES = [(3,), (2, 3), (3, 3), (2, 2, 3)]


class Numpy:
    """The operators of the programs, in NumPy."""

    tanh, sin, exp, maximum = np.tanh, np.sin, np.exp, np.maximum
    clone = staticmethod(np.array)
    new = staticmethod(lambda shape: np.zeros(shape))
    transpose = staticmethod(lambda x, i, j: np.swapaxes(x, i, j))
    unsqueeze = staticmethod(np.expand_dims)
    flip = staticmethod(lambda x, d: np.flip(x, d).copy())
    index = staticmethod(lambda x, d, i: np.take(x, i, d))
    softmax = staticmethod(lambda x, d: np.exp(x) / np.exp(x).sum(d, keepdims=True))
    total = staticmethod(lambda x, d: x.sum(d, keepdims=True))
    largest = staticmethod(lambda x, d: x.max(d, keepdims=True))
    running = staticmethod(np.cumsum)
    ordered = staticmethod(np.sort)
    where = staticmethod(lambda x, y: np.where(x > 0.1, x, y))
    stack = staticmethod(lambda xs, d: np.stack(xs, d))
    cat = staticmethod(lambda xs, d: np.concatenate(xs, d))
    matmul = staticmethod(lambda x, y: x @ np.swapaxes(y, -1, -2))

    @staticmethod
    def write(view, y, how):
        if how == "set":
            view[...] = y
        elif how == "add":
            view += y
        else:
            view *= y

    @staticmethod
    def put(x, i, y, accumulate):
        if accumulate:
            np.add.at(x, i, y)
        else:
            x[i] = y


class Tensors:
    """The same in tensorplay."""

    tanh, sin, exp, maximum = tp.tanh, tp.sin, tp.exp, tp.maximum
    clone = staticmethod(lambda x: x.clone())
    new = staticmethod(lambda shape: tp.zeros(shape, dtype=tp.float64))
    transpose = staticmethod(lambda x, i, j: x.transpose(i, j))
    unsqueeze = staticmethod(lambda x, d: x.unsqueeze(d))
    flip = staticmethod(lambda x, d: x.flip(d))
    index = staticmethod(lambda x, d, i: x.index_select(d, tp.tensor(i)))
    softmax = staticmethod(lambda x, d: x.softmax(d))
    total = staticmethod(lambda x, d: x.sum(d, True))
    largest = staticmethod(lambda x, d: x.amax(d, True))
    running = staticmethod(lambda x, d: x.cumsum(d))
    ordered = staticmethod(lambda x, d: x.sort(d).values)
    where = staticmethod(lambda x, y: tp.where(x > 0.1, x, y))
    stack = staticmethod(lambda xs, d: tp.stack(xs, d))
    cat = staticmethod(lambda xs, d: tp.cat(xs, d))
    matmul = staticmethod(lambda x, y: x @ y.transpose(-1, -2))

    @staticmethod
    def write(view, y, how):
        if how == "set":
            view[...] = y
        elif how == "add":
            view.add_(y)
        else:
            view.mul_(y)

    @staticmethod
    def put(x, i, y, accumulate):
        x.index_put_([tp.tensor(i)], y, accumulate)


def _fits(shape, into):
    """Whether a shape broadcasts to another."""
    if len(shape) > len(into):
        return False
    return all(a == b or a == 1 for a, b in zip(shape[::-1], into[::-1]))


def make_program(seed):
    """(shape of the input, the program as a function of the operators and the input)"""
    rng = np.random.default_rng(seed)
    start = SHAPES[rng.integers(len(SHAPES))]
    steps = []
    probe = [np.full(start, 0.5)]  # to know the shapes; steps are recorded as functions (ops, values) -> value or None
    views = [False]

    def pick():
        return int(rng.integers(len(probe)))

    def add(step, is_view=False):
        result = step(Numpy, probe)
        steps.append(step)
        if result is not None:
            probe.append(result)
            views.append(is_view)

    for _ in range(int(rng.integers(4, 9))):
        i, kind = pick(), rng.integers(10)
        x = probe[i]
        if kind == 0:
            name = ["tanh", "sin", "exp", "clone"][rng.integers(4)]
            if name == "exp":
                add(lambda o, v, i=i: o.exp(v[i] * 0.1))
            else:
                add(lambda o, v, i=i, name=name: getattr(o, name)(v[i]))
        elif kind == 1:
            js = [j for j, y in enumerate(probe) if _fits(y.shape, x.shape)]
            j, c = js[rng.integers(len(js))], float(rng.uniform(-1, 1))
            form = rng.integers(3)
            if form == 0:
                add(lambda o, v, i=i, j=j, c=c: v[i] * v[j] + c)
            elif form == 1:
                add(lambda o, v, i=i, j=j, c=c: v[i] - c * v[j])
            else:
                add(lambda o, v, i=i, j=j: v[i] / (2.0 + v[j] * v[j]))
        elif kind in (2, 3) and x.ndim:  # views
            form = rng.integers(5)
            if form == 0 and x.ndim > 1:
                a, b = (int(d) for d in rng.permutation(x.ndim)[:2])
                add(lambda o, v, i=i, a=a, b=b: o.transpose(v[i], a, b), True)
            elif form == 1:
                d = int(rng.integers(x.ndim))
                k = int(rng.integers(x.shape[d]))
                at = (slice(None),) * d + (k,)
                if x.ndim > 1:
                    add(lambda o, v, i=i, at=at: v[i][at], True)
            elif form == 2:
                d = int(rng.integers(x.ndim))
                if x.shape[d] > 1:
                    at = (slice(None),) * d + (slice(int(rng.integers(2)), None, int(rng.integers(1, 3))),)
                    add(lambda o, v, i=i, at=at: v[i][at], True)
            elif form == 3:
                d = int(rng.integers(x.ndim + 1))
                add(lambda o, v, i=i, d=d: o.unsqueeze(v[i], d), True)
            elif x.flags.c_contiguous and not views[i]:
                add(lambda o, v, i=i: v[i].reshape(-1), True)
        elif kind in (4, 5, 6) and i > 0 and steps:  # writes; never into the input itself
            js = [j for j, y in enumerate(probe) if _fits(y.shape, x.shape) and not np.shares_memory(y, x)]
            if js and not np.shares_memory(x, probe[0]):
                j, how = js[rng.integers(len(js))], ["set", "add", "mul"][rng.integers(3)]
                add(lambda o, v, i=i, j=j, how=how: o.write(v[i], v[j], how))
        elif kind == 7 and x.ndim:
            d = int(rng.integers(x.ndim))
            form = rng.integers(7)
            if form == 6:
                index = rng.integers(0, x.shape[d], int(rng.integers(1, 4)))
                add(lambda o, v, i=i, d=d, index=index: o.index(v[i], d, index))
            else:
                name = ["softmax", "total", "largest", "running", "ordered", "flip"][form]
                add(lambda o, v, i=i, d=d, name=name: getattr(o, name)(v[i], d))
        elif kind == 8:
            js = [j for j, y in enumerate(probe) if y.shape == x.shape]
            j = js[rng.integers(len(js))]
            form = rng.integers(4)
            if form == 0 and x.ndim < 4:
                d = int(rng.integers(x.ndim + 1))
                add(lambda o, v, i=i, j=j, d=d: o.stack([v[i], v[j]], d))
            elif form == 1 and x.ndim:
                d = int(rng.integers(x.ndim))
                add(lambda o, v, i=i, j=j, d=d: o.cat([v[i], v[j]], d))
            elif form == 2 and x.ndim > 1:
                add(lambda o, v, i=i, j=j: o.matmul(v[i], v[j]))
            else:
                add(lambda o, v, i=i, j=j: o.where(v[i], v[j]))
        else:
            if rng.integers(2) and x.ndim and i > 0 and not np.shares_memory(x, probe[0]):
                index, accumulate = rng.integers(0, x.shape[0], 2), bool(rng.integers(2))
                js = [
                    j for j, y in enumerate(probe) if _fits(y.shape, (2, *x.shape[1:])) and not np.shares_memory(y, x)
                ]
                if js:
                    j = js[rng.integers(len(js))]
                    add(lambda o, v, i=i, j=j, index=index, a=accumulate: o.put(v[i], index, v[j], a))
            else:
                shape = SHAPES[rng.integers(len(SHAPES))]
                add(lambda o, v, shape=shape: o.new(shape))

    def run(ops, x):
        values = [x]
        for step in steps:
            result = step(ops, values)
            if result is not None:
                values.append(result)
        return sum((values[k] * (0.3 + 0.1 * k)).sum() for k in range(1, len(values))) + (values[0] ** 2).sum()

    return start, run


def _kinky(run, x, eps=1e-4):
    """Whether a sort, a maximum or a condition changes its mind near x."""
    g = _numeric(run, x, eps)
    h = _numeric(run, x, eps / 10)
    return not np.allclose(g, h, rtol=1e-3, atol=1e-3)


def _numeric(run, x, eps=1e-5):
    g = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[at] = eps
        g[at] = (run(Numpy, x + e) - run(Numpy, x - e)) / (2 * eps)
    return g


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(FIRST, FIRST + PROGRAMS))
def test_program(seed):
    shape, run = make_program(seed)
    rng = np.random.default_rng(seed + 10_000)
    batch = rng.uniform(-1, 1, (3, *shape))
    f = lambda x: run(Tensors, x)
    values = [run(Numpy, x.copy()) for x in batch]
    if not np.all(np.isfinite(values)) or max(map(abs, values)) > 1e6:
        pytest.skip("grows too large")
    tensors = tp.tensor(batch)
    want = tp.tensor(np.array(values))
    assert_close(tp.stack([f(x) for x in tensors.unbind(0)]), want)
    assert_close(vmap(f)(tensors), want)
    last = tensors.movedim(0, -1).contiguous()
    assert_close(vmap(f, -1)(last), want)
    assert_close(vmap(vmap(f))(tp.stack([tensors, tensors * 0.5]))[0], want)
    x = batch[0]
    if _kinky(run, x):
        return
    numeric = tp.tensor(_numeric(run, x))
    scale = float(numeric.abs().max().item()) + 1.0
    close = dict(rtol=1e-4, atol=1e-5 * scale)
    assert_close(jacfwd(f)(tensors[0]), numeric, **close)
    loop = tp.stack([jacfwd(f)(t) for t in tensors.unbind(0)])
    assert_close(vmap(jacfwd(f))(tensors), loop, msg="vmap(jacfwd)")
    assert_close(jvp(vmap(f), (tensors,), (tensors,))[1], (loop * tensors).reshape(3, -1).sum(1), msg="jvp(vmap)")
    try:
        assert_close(grad(f)(tensors[0]), numeric, **close)
    except RuntimeError as error:  # a write into what a derivative needs: an error, or right where a copy was made
        assert "modified by an in-place operation" in str(error)
        for route in (vmap(grad(f)), grad(lambda b: vmap(f)(b).sum())):
            try:
                assert_close(route(tensors), loop, msg="mapped")
            except RuntimeError as other:
                assert "modified by an in-place operation" in str(other)
        return
    assert_close(vmap(grad(f))(tensors), loop, msg="vmap(grad)")
    assert_close(grad(lambda b: vmap(f)(b).sum())(tensors), loop, msg="grad(vmap)")
    assert_close(jacrev(vmap(f))(tensors).sum(0), loop, msg="jacrev(vmap)")
    second = hessian(f)(tensors[0])
    assert_close(jacfwd(jacfwd(f))(tensors[0]), second, msg="jacfwd(jacfwd)")
    assert_close(jacrev(jacrev(f))(tensors[0]), second, msg="jacrev(jacrev)")
    assert_close(vmap(hessian(f))(tensors)[0], second, msg="vmap(hessian)")
    leaf = tensors[0].clone().requires_grad_()
    f(leaf).backward()
    assert_close(leaf.grad, loop[0], msg="backward")
