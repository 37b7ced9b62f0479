"""Recurrent layers: one product for all inputs, then a loop over time of products with the state."""

import math

import tensorplay as tp

from . import functional as F
from . import init
from ._module import Module
from ._parameter import Parameter

_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def _step(kind, gates, state, w_hh, b_hh, nonlinearity):
    """One step: gates are those of the input; the new (h,) or (h, c)."""
    h = state[0]
    if kind == "GRU":
        mine = F.linear(h, w_hh, b_hh)
        (r, z, n), (hr, hz, hn) = gates.chunk(3, -1), mine.chunk(3, -1)
        r, z = tp.sigmoid(r + hr), tp.sigmoid(z + hz)
        n = tp.tanh(n + r * hn)
        return (n + z * (h - n),)
    total = gates + F.linear(h, w_hh, b_hh)
    if kind == "LSTM":
        i, f, g, o = total.chunk(4, -1)
        c = tp.sigmoid(f) * state[1] + tp.sigmoid(i) * tp.tanh(g)
        return tp.sigmoid(o) * tp.tanh(c), c
    return (tp.tanh(total) if nonlinearity == "tanh" else tp.relu(total),)


class _Recurrent(Module):
    _kind = "RNN"

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, device=None, dtype=None, **more):
        super().__init__()
        name = type(self).__name__
        self.nonlinearity = more.pop("nonlinearity", "tanh") if self._kind == "RNN" else None
        self.proj_size = more.pop("proj_size", 0) if self._kind == "LSTM" else 0
        if more:
            raise TypeError(f"{name}: unexpected argument {next(iter(more))!r}")
        if self.nonlinearity not in (None, "tanh", "relu"):
            raise ValueError(f"{name}: nonlinearity must be 'tanh' or 'relu', got {self.nonlinearity!r}")
        if not 0 <= dropout <= 1:
            raise ValueError(f"{name}: dropout must lie between 0 and 1, got {dropout}")
        if hidden_size <= 0 or num_layers <= 0:
            raise ValueError(f"{name}: hidden_size and num_layers must be positive, got {hidden_size}, {num_layers}")
        if not 0 <= self.proj_size < hidden_size:
            raise ValueError(f"{name}: proj_size must be less than hidden_size, got {self.proj_size}")
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional = batch_first, float(dropout), bidirectional
        rows, out = _GATES[self._kind] * hidden_size, self.proj_size or hidden_size
        ways = 2 if bidirectional else 1

        def parameter(*shape):
            return Parameter(tp.empty(shape, device=device, dtype=dtype))

        for layer in range(num_layers):
            width = input_size if layer == 0 else out * ways
            for end in ("", "_reverse")[:ways]:
                at = f"l{layer}{end}"
                self.register_parameter(f"weight_ih_{at}", parameter(rows, width))
                self.register_parameter(f"weight_hh_{at}", parameter(rows, out))
                if bias:
                    self.register_parameter(f"bias_ih_{at}", parameter(rows))
                    self.register_parameter(f"bias_hh_{at}", parameter(rows))
                if self.proj_size:
                    self.register_parameter(f"weight_hr_{at}", parameter(self.proj_size, hidden_size))
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the parameters anew."""
        bound = 1 / math.sqrt(self.hidden_size)
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def _pass(self, x, state, at, reverse):
        def of(name):
            return self._parameters.get(f"{name}_{at}")

        gates = F.linear(x, of("weight_ih"), of("bias_ih")).unbind(0)
        w_hh, b_hh, w_hr = of("weight_hh"), of("bias_hh"), of("weight_hr")
        outs = []
        for now in reversed(gates) if reverse else gates:
            state = _step(self._kind, now, state, w_hh, b_hh, self.nonlinearity)
            if w_hr is not None:
                state = (F.linear(state[0], w_hr), state[1])
            outs.append(state[0])
        return tp.stack(outs[::-1] if reverse else outs), state

    def forward(self, input, hx=None):
        """(output, final state); the state is h, for LSTM (h, c).

        input: [L, N, features], [N, L, features] if batch_first, or [L, features]; states: [layers * directions, N,
        size].
        """
        name, lstm = type(self).__name__, self._kind == "LSTM"
        if input.ndim not in (2, 3):
            raise ValueError(f"{name}: input must have 2 or 3 dimensions, got shape {list(input.shape)}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"{name}: input must have {self.input_size} features, got shape {list(input.shape)}")
        single = input.ndim == 2
        x = input.unsqueeze(1) if single else input.transpose(0, 1) if self.batch_first else input
        if x.shape[0] == 0:
            raise RuntimeError(f"{name}: a sequence of length 0")
        ways = 2 if self.bidirectional else 1
        count, out = self.num_layers * ways, self.proj_size or self.hidden_size
        sizes = (out, self.hidden_size) if lstm else (out,)
        if hx is None:
            states = tuple(tp.zeros((count, x.shape[1], n), dtype=x.dtype) for n in sizes)
        else:
            states = tuple(hx) if lstm else (hx,)
            if single:
                states = tuple(s.unsqueeze(1) for s in states)
            for s, n in zip(states, sizes, strict=True):
                if s.shape != (count, x.shape[1], n):
                    raise RuntimeError(
                        f"{name}: a state of shape {list(s.shape)} does not fit: {[count, x.shape[1], n]} expected"
                    )
        finals = []
        for layer in range(self.num_layers):
            outs = []
            for way in range(ways):
                k = layer * ways + way
                y, final = self._pass(x, tuple(s[k] for s in states), f"l{layer}{'_reverse' * way}", way == 1)
                outs.append(y)
                finals.append(final)
            x = outs[0] if ways == 1 else tp.cat(outs, -1)
            if self.dropout and layer < self.num_layers - 1:
                x = F.dropout(x, self.dropout, self.training)
        last = tuple(tp.stack([f[i] for f in finals]) for i in range(len(sizes)))
        if single:
            x, last = x.squeeze(1), tuple(s.squeeze(1) for s in last)
        elif self.batch_first:
            x = x.transpose(0, 1)
        return x, (last if lstm else last[0])

    def extra_repr(self):
        s = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            s += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            s += f", num_layers={self.num_layers}"
        if not self.bias:
            s += ", bias=False"
        if self.batch_first:
            s += ", batch_first=True"
        if self.dropout:
            s += f", dropout={self.dropout}"
        return s + ", bidirectional=True" if self.bidirectional else s


class RNN(_Recurrent):
    """h_t = tanh(W_ih x_t + b_ih + W_hh h + b_hh), or relu, over a sequence, in layers.

    Args:
        input_size, hidden_size, num_layers: sizes.
        nonlinearity: "tanh" or "relu" (by keyword).
        bias, batch_first, bidirectional: as they say; dropout: between the layers in training.

    Parameters: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0 and so on, uniform in +-1/sqrt(hidden_size).
    """


class GRU(_Recurrent):
    """Gated recurrent units over a sequence, in layers; arguments as for RNN. Source: Cho et al. (2014)."""

    _kind = "GRU"


class LSTM(_Recurrent):
    """Long short-term memory over a sequence, in layers; arguments as for RNN, and proj_size (0: none), which makes
    h_t = W_hr times the cell's output. Source: Hochreiter and Schmidhuber (1997).
    """

    _kind = "LSTM"


class _Cell(Module):
    _kind = "RNN"

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = _GATES[self._kind] * hidden_size
        for name, shape in (("weight_ih", (rows, input_size)), ("weight_hh", (rows, hidden_size)),
                            ("bias_ih", (rows,)), ("bias_hh", (rows,))):  # fmt: skip
            made = Parameter(tp.empty(shape, device=device, dtype=dtype)) if bias or len(shape) == 2 else None
            self.register_parameter(name, made)
        self.reset_parameters()

    reset_parameters = _Recurrent.reset_parameters
    nonlinearity = None

    def forward(self, input, hx=None):
        """The state after one step: input [N, features] or [features]."""
        if input.ndim not in (1, 2) or input.shape[-1] != self.input_size:
            raise ValueError(
                f"{type(self).__name__}: input must be [N, {self.input_size}] or [{self.input_size}], got shape "
                f"{list(input.shape)}"
            )
        lstm = self._kind == "LSTM"
        if hx is None:
            zero = tp.zeros((*input.shape[:-1], self.hidden_size), dtype=input.dtype)
            state = (zero, zero)
        else:
            state = tuple(hx) if lstm else (hx,)
        gates = F.linear(input, self.weight_ih, self.bias_ih)
        out = _step(self._kind, gates, state, self.weight_hh, self.bias_hh, self.nonlinearity)
        return out if lstm else out[0]

    def extra_repr(self):
        s = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            s += ", bias=False"
        return s + f", nonlinearity={self.nonlinearity}" if self.nonlinearity not in (None, "tanh") else s


class RNNCell(_Cell):
    """One step of RNN."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNNCell: nonlinearity must be 'tanh' or 'relu', got {nonlinearity!r}")
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity


class GRUCell(_Cell):
    """One step of GRU."""

    _kind = "GRU"


class LSTMCell(_Cell):
    """One step of LSTM: (h, c)."""

    _kind = "LSTM"
