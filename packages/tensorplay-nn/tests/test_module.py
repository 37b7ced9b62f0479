import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 2)
        self.b = self.a
        self.scale = nn.Parameter(tp.ones(2))
        self.register_buffer("steps", tp.zeros(()))
        self.register_buffer("scratch", tp.zeros(()), persistent=False)

    def forward(self, x):
        self.steps = self.steps + 1
        return self.b(tp.tanh(self.a(x) @ tp.ones(2, 3))) * self.scale


def test_names_and_shared_parameters():
    net = Net()
    assert [k for k, _ in net.named_parameters()] == ["scale", "a.weight", "a.bias"]
    assert [k for k, _ in net.named_parameters(remove_duplicate=False)] == [
        "scale", "a.weight", "a.bias", "b.weight", "b.bias"]  # fmt: skip
    assert list(net.state_dict()) == ["scale", "steps", "a.weight", "a.bias", "b.weight", "b.bias"]
    assert [k for k, _ in net.named_modules()] == ["", "a"]


def test_linear_value_and_gradient():
    net = nn.Linear(3, 2).double()
    x = np.array([[1.0, -2.0, 0.5]])
    out = net(tp.tensor(x))
    w, b = net.weight.detach().numpy(), net.bias.detach().numpy()
    np.testing.assert_allclose(out.detach().numpy(), x @ w.T + b)
    out.sum().backward()
    np.testing.assert_allclose(net.weight.grad.numpy(), np.repeat(x, 2, 0))
    net.zero_grad()
    assert net.weight.grad is None


def test_state_dict_round_trip_and_report():
    a, b = Net(), Net()
    assert b.load_state_dict(a.state_dict()) == ([], [])
    np.testing.assert_array_equal(a.a.weight.detach().numpy(), b.a.weight.detach().numpy())
    state = a.state_dict()
    state["extra"] = state.pop("scale")
    state["a.bias"] = tp.zeros(5)
    before = b.a.weight.detach().clone()
    with pytest.raises(RuntimeError, match=r"missing: 'scale'; unexpected: 'extra'; 'a.bias' has shape \[5\]"):
        b.load_state_dict(state)
    np.testing.assert_array_equal(b.a.weight.detach().numpy(), before.numpy())


def test_copies_keep_structure():
    net = Net()
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert twin.a is twin.b and twin.a.weight is not net.a.weight
        assert twin.a.weight.requires_grad and isinstance(twin.a.weight, nn.Parameter)
        np.testing.assert_array_equal(twin.a.weight.detach().numpy(), net.a.weight.detach().numpy())


def test_assignment_errors():
    net = Net()
    with pytest.raises(TypeError, match="scale"):
        net.scale = tp.ones(2)
    with pytest.raises(TypeError, match="'a'"):
        net.a = 3

    class Early(nn.Module):
        def __init__(self):
            self.w = nn.Parameter(tp.ones(1))

    with pytest.raises(AttributeError, match="super"):
        Early()
    with pytest.raises(AttributeError, match="nothing"):
        net.nothing
    del net.scale
    assert not hasattr(net, "scale")


def test_what_is_assigned_anew_keeps_its_place():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    assert list(net.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert [k for k, _ in net.named_parameters()] == ["0.weight", "0.bias", "1.bias"]
    net.double()
    assert net[1].weight is net[0].weight
    norm = nn.BatchNorm1d(2)
    norm.running_mean = nn.Buffer(tp.ones(2))
    assert list(norm.state_dict())[2:] == ["running_mean", "running_var", "num_batches_tracked"]
    norm.weight = None
    norm.weight = nn.Parameter(tp.ones(2))
    assert list(norm.state_dict())[:2] == ["weight", "bias"]
    assert repr(net.load_state_dict(net.state_dict())) == "<All keys matched successfully>"
    assert repr(norm.weight) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"


def test_modes_casts_and_repr():
    net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Dropout(0.25), nn.Linear(3, 1, bias=False))
    assert not net.eval().training and not net[2].training
    assert net.double()[0].weight.dtype is tp.float64 and net[0].weight.requires_grad
    assert repr(net) == (
        "Sequential(\n  (0): Linear(in_features=4, out_features=3, bias=True)\n  (1): ReLU()\n"
        "  (2): Dropout(p=0.25, inplace=False)\n  (3): Linear(in_features=3, out_features=1, bias=False)\n)"
    )


def test_hooks():
    net = nn.Identity()
    with net.register_forward_pre_hook(lambda m, a: a[0] + 1), net.register_forward_hook(lambda m, a, o: o * 2):
        assert float(net(tp.tensor(3.0))) == 8
    assert float(net(tp.tensor(3.0))) == 3


def test_containers():
    seq = nn.Sequential(nn.Linear(1, 2), nn.Tanh(), nn.Linear(2, 1))
    assert len(seq[1:]) == 2 and seq[-1] is seq[2]
    lst = nn.ModuleList([nn.Tanh()])
    lst.insert(0, nn.ReLU())
    assert [type(m).__name__ for m in lst] == ["ReLU", "Tanh"]
    with pytest.raises(IndexError):
        lst[2]
    d = nn.ModuleDict({"x": nn.Tanh()})
    assert "x" in d and list(d) == ["x"]
    ps = nn.ParameterList([tp.ones(2), tp.zeros(3)])
    assert [k for k, _ in ps.named_parameters()] == ["0", "1"]
    assert [k for k, _ in nn.ParameterDict({"w": tp.ones(2)}).named_parameters()] == ["w"]


def test_initialisers_have_their_variance():
    tp.manual_seed(0)
    w = tp.empty((400, 300), dtype=tp.float64)
    for fill, std in (
        (nn.init.xavier_uniform_, np.sqrt(2 / 700)),
        (nn.init.xavier_normal_, np.sqrt(2 / 700)),
        (nn.init.kaiming_uniform_, np.sqrt(2 / 300)),
        (nn.init.kaiming_normal_, np.sqrt(2 / 300)),
    ):
        assert abs(fill(w).numpy().std() / std - 1) < 0.02
    t = nn.init.trunc_normal_(w).numpy()
    assert np.abs(t).max() <= 2 and 0.8 < t.std() < 0.95


def test_max_pool_returns_positions():
    x = np.array([[[1.0, 5.0, 2.0, 0.0], [4.0, 3.0, 9.0, 9.0]]])
    values, indices = nn.MaxPool2d(2, return_indices=True)(tp.tensor(x))
    np.testing.assert_array_equal(values.numpy(), [[[5, 9]]])
    np.testing.assert_array_equal(indices.numpy(), [[[1, 6]]])
    np.testing.assert_array_equal(nn.functional.max_pool2d(tp.tensor(x), 2).numpy(), [[[5, 9]]])


def test_convolution_against_its_definition():
    net = nn.Conv2d(2, 3, (2, 3), stride=(1, 2), padding=1).double()
    x = np.random.default_rng(0).standard_normal((1, 2, 4, 5))
    w, b = net.weight.detach().numpy(), net.bias.detach().numpy()
    p = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = np.zeros((1, 3, 5, 3))
    for i in range(5):
        for j in range(3):
            out[0, :, i, j] = (w * p[0, None, :, i : i + 2, 2 * j : 2 * j + 3]).sum((1, 2, 3)) + b
    np.testing.assert_allclose(net(tp.tensor(x)).detach().numpy(), out)


def test_a_model_trains_without_the_transforms_package():
    code = """if 1:
        import sys
        sys.modules["tensorplay.func"] = None  # importing it fails
        import tensorplay as tp
        from tensorplay import nn
        tp.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                            nn.Dropout(0.1), nn.Linear(12, 4), nn.LayerNorm(4), nn.Linear(4, 2))
        x, y, losses = tp.randn(16, 1, 4, 4), tp.arange(16) % 2, []
        for _ in range(40):
            net.zero_grad()
            losses.append(nn.functional.cross_entropy(net(x), y))
            losses[-1].backward()
            with tp.no_grad():
                for p in net.parameters():
                    p.sub_(p.grad * 0.3)
        assert float(losses[-1]) < 0.5 * float(losses[0]), (float(losses[0]), float(losses[-1]))
    """
    subprocess.run([sys.executable, "-c", code], check=True)
