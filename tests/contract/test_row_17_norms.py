"""Rows 17 to 19: norm layers under every transform."""

import copy

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import (
    functional_call,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    replace_all_batch_norm_modules_,
    stack_module_state,
    vjp,
    vmap,
)

nn = pytest.importorskip("tensorplay.nn")

D = tp.float64


def _layers():
    for affine in (True, False):
        for tracked in (True, False):
            on = {"affine": affine, "track_running_stats": tracked, "dtype": D}
            yield f"batch-{affine}-{tracked}", lambda on=on: nn.BatchNorm1d(3, **on), (4, 3)
            yield f"batch2d-{affine}-{tracked}", lambda on=on: nn.BatchNorm2d(3, **on), (2, 3, 2, 2)
            yield f"batch3d-{affine}-{tracked}", lambda on=on: nn.BatchNorm3d(2, **on), (2, 2, 1, 2, 1)
            yield f"instance-{affine}-{tracked}", lambda on=on: nn.InstanceNorm1d(3, **on), (2, 3, 4)
            yield f"instance2d-{affine}-{tracked}", lambda on=on: nn.InstanceNorm2d(2, **on), (1, 2, 2, 2)
            yield f"instance3d-{affine}-{tracked}", lambda on=on: nn.InstanceNorm3d(2, **on), (2, 2, 1, 2)
            mean = {**on, "momentum": None}
            yield f"batch-mean-{affine}-{tracked}", lambda on=mean: nn.BatchNorm1d(2, **on), (3, 2)
        yield f"group-{affine}", lambda a=affine: nn.GroupNorm(1, 3, affine=a, dtype=D), (4, 3)
        on = {"bias": False, "dtype": D}
        yield f"group-no-bias-{affine}", lambda a=affine, on=on: nn.GroupNorm(2, 4, affine=a, **on), (2, 4, 2)
        yield f"layer-no-bias-{affine}", lambda a=affine, on=on: nn.LayerNorm((2, 3), 1e-5, a, **on), (2, 3)
        yield f"layer-{affine}", lambda a=affine: nn.LayerNorm(3, elementwise_affine=a, dtype=D), (4, 3)
        yield f"rms-{affine}", lambda a=affine: nn.RMSNorm(3, elementwise_affine=a, dtype=D), (4, 3)
    yield "response", lambda: nn.LocalResponseNorm(2, 0.5), (2, 3, 4)


LAYERS = {name: (make, shape) for name, make, shape in _layers()}


def _made(name, training):
    make, shape = LAYERS[name]
    rng = np.random.default_rng(3)
    layer = make().train(training)
    with tp.no_grad():
        for p in layer.parameters():
            p.copy_(tp.tensor(rng.uniform(0.5, 1.5, p.shape)))
        for k, b in layer.named_buffers():
            if k != "num_batches_tracked":
                b.copy_(tp.tensor(rng.uniform(0.5, 1.5, b.shape)))
    x, w = tp.tensor(rng.standard_normal(shape)), tp.tensor(rng.standard_normal(shape))
    state = {k: v.detach().clone() for k, v in layer.state_dict().items()}
    return layer, x, w, state


def _loss(layer, w, state):
    """The layer as a function of x alone: it works on state of its own, as the loop would."""

    def loss(x):
        return (functional_call(layer, {k: v.clone() for k, v in state.items()}, (x,)) ** 2 * w).sum()

    return loss


def _difference(f, x, t, h):
    return (f(x + t * h) - f(x - t * h)) / (2 * h)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_derivatives_of_order_one_to_three_are_those_of_the_values(name, training):
    layer, x, w, state = _made(name, training)
    f = _loss(layer, w, state)
    t = tp.tensor(np.random.default_rng(5).standard_normal(x.shape))

    def push(h):
        return lambda u: jvp(h, (u,), (t,))[1]

    def pull(h):
        return lambda u: (grad(h)(u) * t).sum()

    orders = [f, push(f), push(pull(f))]
    for i, h in enumerate(orders):
        want = _difference(h, x, t, 1e-5)
        for made in (push(h), pull(h)):
            np.testing.assert_allclose(float(made(x)), float(want), rtol=2e-6, atol=1e-7, err_msg=f"order {i + 1}")
    for a, b in ((push, push), (pull, push), (pull, pull)):
        np.testing.assert_allclose(float(a(b(f))(x)), float(orders[2](x)), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_pairs_of_transforms_are_the_loop(name, training):
    layer, x, w, state = _made(name, training)
    f = _loss(layer, w, state)
    xs = tp.stack([x, x * 2 + 0.5, x.flip(0) - x * x])
    t = tp.ones(x.shape, dtype=D)
    inner = {
        "values": f,
        "grad": grad(f),
        "vjp": lambda u: vjp(f, u)[1](tp.tensor(2.0, dtype=D))[0],
        "jvp": lambda u: jvp(f, (u,), (t,))[1],
        "jacrev": lambda u: jacrev(f)(u),
        "jacfwd": lambda u: jacfwd(f)(u),
        "jvp of grad": lambda u: jvp(grad(f), (u,), (t,))[1],
        "grad of jvp": grad(lambda u: jvp(f, (u,), (t,))[1]),
        "vmap": vmap(lambda s: f(x * s)),
    }
    for what, h in inner.items():
        args = tp.tensor(np.arange(1.0, 7.0).reshape(3, 2)) if what == "vmap" else xs
        got, want = vmap(h)(args), tp.stack([h(a) for a in args.unbind(0)])
        np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=1e-9, atol=1e-9, err_msg=what)
    whole = grad(lambda u: vmap(f)(u).sum())(xs)
    each = tp.stack([grad(f)(a) for a in xs.unbind(0)])
    np.testing.assert_allclose(whole.numpy(), each.numpy(), rtol=1e-9, atol=1e-9)


# each makes of a scalar function a function of the same argument, which gives one tensor
INNER = {
    "vmap": lambda f, t: lambda u: vmap(f)(tp.stack([u, u * 2 + 0.5])),
    "grad": lambda f, t: grad(f),
    "vjp": lambda f, t: lambda u: vjp(lambda v: f(v) * v, u)[1](t)[0],
    "jvp": lambda f, t: lambda u: jvp(f, (u,), (t,))[1],
    "linearize": lambda f, t: lambda u: linearize(f, u)[1](t),
    "jacrev": lambda f, t: jacrev(lambda v: f(v) * v.sum()),
    "jacfwd": lambda f, t: jacfwd(lambda v: f(v) * v.sum()),
    "hessian": lambda f, t: lambda u: (hessian(f)(u).reshape(u.numel(), -1) @ t.reshape(-1)),
}
# each gives the derivative of sum(g * c) along t
OUTER = {
    "grad": lambda g, c, u, t: (grad(lambda v: (g(v) * c).sum())(u) * t).sum(),
    "vjp": lambda g, c, u, t: (vjp(g, u)[1](c)[0] * t).sum(),
    "jvp": lambda g, c, u, t: (jvp(g, (u,), (t,))[1] * c).sum(),
    "linearize": lambda g, c, u, t: (linearize(g, u)[1](t) * c).sum(),
    "jacrev": lambda g, c, u, t: ((jacrev(g)(u) * t).reshape(*c.shape, -1).sum(-1) * c).sum(),
    "jacfwd": lambda g, c, u, t: ((jacfwd(g)(u) * t).reshape(*c.shape, -1).sum(-1) * c).sum(),
}


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_every_transform_of_every_transform(name, training):
    layer, x, w, state = _made(name, training)
    f = _loss(layer, w, state)
    rng = np.random.default_rng(7)
    t = tp.tensor(rng.standard_normal(x.shape))
    xs = tp.stack([x, x.flip(0) - x * x])
    for what, make in INNER.items():
        g = make(f, t)
        value = g(x)
        c = tp.tensor(rng.standard_normal(value.shape))
        want = float((_difference(g, x, t, 1e-5) * c).sum())
        for outer, along in OUTER.items():
            scale = max(1.0, float(value.abs().max()))
            got = float(along(g, c, x, t))
            assert abs(got - want) <= 2e-6 * max(abs(want), scale), (outer, what, got, want)
        got, want = vmap(g)(xs), tp.stack([g(a) for a in xs.unbind(0)])
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-9, atol=1e-9, err_msg=f"vmap of {what}")

        def second(u, g=g, c=c):
            return (grad(lambda v: (g(v) * c).sum())(u) * t).sum()

        h = hessian(lambda v, g=g, c=c: (g(v) * c).sum())(x).reshape(x.numel(), -1)
        got, want = float(t.reshape(-1) @ h @ t.reshape(-1)), float(_difference(second, x, t, 1e-5))
        assert abs(got - want) <= 5e-6 * max(1.0, abs(want), float(h.abs().max())), ("hessian", what, got, want)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 2, dtype=D), nn.BatchNorm1d(2, dtype=D))

    def forward(self, x):
        return self.body(x)


def test_captured_running_statistics_are_refused_by_operator_and_by_path():
    net, xs = Net(), tp.randn(4, 5, 3, dtype=D)
    with pytest.raises(RuntimeError, match=r"BatchNorm1d at 'body.1'.*replace_all_batch_norm_modules_"):
        vmap(net)(xs)
    bn = net.body[1]
    assert int(bn.num_batches_tracked) == 0
    np.testing.assert_array_equal(bn.running_mean.numpy(), [0, 0])
    with pytest.raises(RuntimeError, match=r"^batch_norm: .*replace_all_batch_norm_modules_"):
        vmap(lambda x: nn.functional.batch_norm(x, bn.running_mean, bn.running_var, training=True))(xs[..., :2])
    mine = net.eval()
    np.testing.assert_allclose(vmap(mine)(xs).detach().numpy(), tp.stack([mine(x) for x in xs]).detach().numpy())


@pytest.mark.parametrize("take", [grad, jacrev, jacfwd, lambda f: jacfwd(jacrev(f))])
def test_running_statistics_move_once_per_evaluation(take):
    bn, x = nn.BatchNorm1d(2, dtype=D), tp.randn(4, 2, dtype=D)
    take(lambda u: (bn(u) ** 3).sum())(x)
    once = nn.BatchNorm1d(2, dtype=D)
    once(x)
    assert int(bn.num_batches_tracked) == 1
    np.testing.assert_allclose(bn.running_mean.numpy(), once.running_mean.numpy())
    np.testing.assert_allclose(bn.running_var.numpy(), once.running_var.numpy())


def test_running_statistics_can_be_dropped():
    net = Net()
    assert replace_all_batch_norm_modules_(net) is net
    bn = net.body[1]
    assert not bn.track_running_stats and bn.running_mean is None and bn.num_batches_tracked is None
    assert "body.1.running_mean" not in net.state_dict()
    xs = tp.randn(4, 5, 3, dtype=D)
    np.testing.assert_allclose(vmap(net)(xs).detach().numpy(), tp.stack([net(x) for x in xs]).detach().numpy())


@pytest.mark.parametrize("momentum", [0.3, None])
def test_an_ensemble_trains_in_one_vmap_with_its_buffers(momentum):
    nets = [Net() for _ in range(3)]
    for net in nets:
        net.body[1].momentum = momentum
    params, buffers = stack_module_state(copy.deepcopy(nets))
    params = {k: v.detach() for k, v in params.items()}
    x = tp.randn(6, 3, dtype=D)

    def step(p, b):
        def loss(p):
            y, new = functional_call(nets[0], (p, b), (x,), return_buffers=True)
            return (y**3).sum(), new

        g, new = grad(loss, has_aux=True)(p)
        return {k: v - 0.01 * g[k] for k, v in p.items()}, new

    before = {k: v.clone() for k, v in buffers.items()}
    p, b = params, buffers
    for _ in range(3):
        p, b = vmap(step)(p, b)
    for k, v in before.items():
        np.testing.assert_array_equal(v.numpy(), buffers[k].numpy())
    for i, net in enumerate(nets):
        for _ in range(3):
            net.zero_grad()
            (net(x) ** 3).sum().backward()
            with tp.no_grad():
                for q in net.parameters():
                    q.copy_(q - 0.01 * q.grad)
        for k, v in net.state_dict().items():
            got = (p[k] if k in p else b[k])[i]
            np.testing.assert_allclose(got.numpy(), v.numpy(), rtol=1e-9, atol=1e-12, err_msg=k)


def test_shared_buffers_come_back_one_per_sample():
    net, xs = Net(), tp.randn(4, 5, 3, dtype=D)
    out, new = vmap(lambda x: functional_call(net, {}, (x,), return_buffers=True))(xs)
    assert out.shape == (4, 5, 2) and new["body.1.running_mean"].shape == (4, 2)
    assert int(net.body[1].num_batches_tracked) == 0
