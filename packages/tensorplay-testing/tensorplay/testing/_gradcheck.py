"""gradcheck: derivatives of both modes against finite differences, to any order.

NOTE: convention. A complex number counts as two real ones. For a real loss L and a complex input the gradient is
dL/d(re) + i dL/d(im), as in PyTorch, so that a step dx changes L by Re(sum conj(grad) dx); a cotangent v of an output f
stands for the loss Re(sum conj(v) f).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tensorplay as tp
from tensorplay import Tensor

from ._close import to_numpy
from ._samples import func, outputs

_ORDINALS = {1: "first", 2: "second", 3: "third"}


def gradcheck(
    fn: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    order: int = 1,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    forward: bool = True,
    fast: bool = False,
    seed: int = 0,
) -> bool:
    """Compares the derivatives of fn with central finite differences; AssertionError where they differ, else True.

    Args:
        fn: takes the inputs as positional arguments and returns a Tensor or a sequence of Tensors.
        inputs: a Tensor or a sequence; the float64 and complex128 Tensors among them are differentiated, others (and
            values that are no Tensors) are passed as they are. At least one must be differentiated.
        order: 2 also checks the derivative of the vjp, 3 the derivative of that, and so on.
        eps, atol, rtol: the step, and |got - expected| <= atol + rtol * |expected|.
        forward: also checks jvp, element by element, against the same differences.
        fast: checks products with random vectors instead of each entry of the Jacobian; what fails is then looked at
            entry by entry.
        seed: of those vectors and of the cotangents of the higher orders.

    The message names mode, order, argument, output and position. The function must be differentiable near the inputs
    (no kinks or ties within eps) and return the same values each time.

    Raises:
        ValueError: nothing to differentiate, or a floating input of less than double precision.
        TypeError: fn returns something else than Tensors.
    """
    __tracebackhide__ = True
    if isinstance(inputs, Tensor):
        inputs = (inputs,)
    inputs = tuple(inputs)
    chosen = []
    for i, x in enumerate(inputs):
        if isinstance(x, Tensor) and (x.dtype.is_floating_point or x.dtype.is_complex):
            if x.dtype.name not in ("float64", "complex128"):
                raise ValueError(
                    f"gradcheck: argument {i} has dtype {x.dtype.name}: differences need float64 or complex128"
                )
            chosen.append(i)
    if not chosen:
        raise ValueError("gradcheck: none of the inputs is a float64 or complex128 Tensor")
    name = getattr(fn, "__name__", type(fn).__name__)
    rng = np.random.default_rng(seed)
    _Check(name, fn, inputs, chosen, eps, atol, rtol, forward, fast, rng, 1).run(order)
    return True


def _is_inexact(t):
    return t.dtype.is_floating_point or t.dtype.is_complex


def _random_like(rng, x):
    """A direction in the space of x's values, of entries neither small nor large."""
    shape = tuple(x.shape)
    d = rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
    if x.dtype.is_complex if isinstance(x, Tensor) else np.iscomplexobj(x):
        d = d + 1j * rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
    return np.asarray(d)


def _tensor(a, like):
    return tp.tensor(np.ascontiguousarray(a).reshape(a.shape), dtype=like.dtype)


class _Check:
    """One function at one point, at one order."""

    def __init__(self, name, fn, inputs, chosen, eps, atol, rtol, forward, fast, rng, order):
        self.name, self.fn, self.inputs, self.chosen = name, fn, inputs, chosen
        self.eps, self.atol, self.rtol = eps, atol, rtol
        self.forward, self.fast, self.rng, self.order = forward, fast, rng, order

    def of_chosen(self, *values):
        """The differentiable outputs as a function of the differentiable inputs."""
        full = list(self.inputs)
        for i, v in zip(self.chosen, values):
            full[i] = v
        out = self.fn(*full)
        try:
            tensors = outputs(out)
        except AssertionError:
            raise TypeError(f"gradcheck: {self.name} must return Tensors, it returned {type(out).__name__}") from None
        found = tuple(t for t in tensors if _is_inexact(t))
        self.kept = tuple(i for i, t in enumerate(tensors) if _is_inexact(t))
        return found

    def fail(self, mode, text):
        __tracebackhide__ = True
        order = _ORDINALS.get(self.order, f"{self.order}th")
        raise AssertionError(f"gradcheck: {self.name}: {order} derivative, {mode}: {text}")

    def evaluate(self, values):
        """Values of the outputs at other inputs, in double precision."""
        return [
            np.array(to_numpy(t))
            for t in self.of_chosen(*(_tensor(v, self.inputs[i]) for v, i in zip(values, self.chosen)))
        ]

    def difference(self, k, direction):
        """The derivative of the outputs as the k-th differentiable input moves, by central differences."""
        up, down = list(self.values), list(self.values)
        up[k] = up[k] + self.eps * direction
        down[k] = down[k] - self.eps * direction
        return [(a - b) / (2 * self.eps) for a, b in zip(self.evaluate(up), self.evaluate(down))]

    def run(self, order):
        __tracebackhide__ = True
        self.primals = [self.inputs[i] for i in self.chosen]
        self.values = [np.array(to_numpy(x)) for x in self.primals]
        f = func()
        self.out, self.pull = f.vjp(self.of_chosen, *self.primals)
        if not self.out:
            raise ValueError(f"gradcheck: {self.name} has no floating or complex output")
        (self.check_directions if self.fast else self.check_entries)()
        if order > 1:
            self.check_next(order)

    # ---- every entry of the Jacobian ----

    def _coordinates(self, x):
        """(index, direction) of the real coordinates of an array's space."""
        for index in np.ndindex(x.shape):
            for unit in (1.0, 1j) if np.iscomplexobj(x) else (1.0,):
                e = np.zeros(x.shape, np.result_type(x.dtype, type(unit)))
                e[index] = unit
                yield index, e

    def check_entries(self):
        __tracebackhide__ = True
        f = func()
        numeric = [
            [(index, e, self.difference(k, e)) for index, e in self._coordinates(x)] for k, x in enumerate(self.values)
        ]
        outs = [to_numpy(t) for t in self.out]
        for o, out in enumerate(outs):
            for at, v in self._coordinates(out):
                cotangents = tuple(
                    _tensor(v if i == o else np.zeros_like(w), t) for i, (w, t) in enumerate(zip(outs, self.out))
                )
                for k, g in enumerate(self._gradients(cotangents)):
                    for index, e, d in numeric[k]:
                        got = float(np.sum((np.conj(g) * e).real))
                        want = float(np.sum((np.conj(v) * d[o]).real))
                        self.compare("reverse mode", k, index, o, at, got, want)
        if self.forward:
            for k in range(len(self.chosen)):
                for index, e, d in numeric[k]:
                    self._forward(f, {k: e}, d, k, index)

    def _gradients(self, cotangents):
        """What reverse mode says, checked for shape and dtype."""
        __tracebackhide__ = True
        grads = self.pull(cotangents)
        for k, (g, x) in enumerate(zip(grads, self.primals)):
            if g.shape != x.shape or g.dtype != x.dtype:
                self.fail(
                    "reverse mode",
                    f"the gradient of argument {self.chosen[k]} is {g.dtype.name}{list(g.shape)}, "
                    f"the argument {x.dtype.name}{list(x.shape)}",
                )
        return [to_numpy(g) for g in grads]

    def _forward(self, f, directions, want, k, index):
        """Forward mode along directions of some inputs; the other inputs carry no tangent."""
        __tracebackhide__ = True
        which = sorted(directions)

        def of_some(*some):
            full = list(self.primals)
            for i, v in zip(which, some):
                full[i] = v
            return self.of_chosen(*full)

        primals = tuple(self.primals[i] for i in which)
        tangents = tuple(_tensor(directions[i], self.primals[i]) for i in which)
        values, got = f.jvp(of_some, primals, tangents)
        for o, (t, value, w) in enumerate(zip(got, values, want)):
            if t.shape != value.shape or t.dtype != value.dtype or value.dtype != self.out[o].dtype:
                self.fail(
                    "forward mode",
                    f"the tangent of output {self.kept[o]} is {t.dtype.name}{list(t.shape)}, "
                    f"the output {self.out[o].dtype.name}{list(self.out[o].shape)}",
                )
            a = to_numpy(t)
            bad = ~(np.abs(a - w) <= self.atol + self.rtol * np.abs(w))
            if np.any(bad):
                at = tuple(int(i) for i in np.argwhere(bad)[0]) if a.ndim else ()
                self.compare("forward mode", k, index, o, at, a[at], w[at], True)

    def compare(self, mode, k, index, o, at, got, want, known=False):
        __tracebackhide__ = True
        if known or not abs(got - want) <= self.atol + self.rtol * abs(want):
            place = f"argument {self.chosen[k]}" if k is not None else "all arguments"
            place += f" at index {tuple(index)}" if index else ""
            self.fail(
                mode,
                f"{place}, output {self.kept[o]}"
                + (f" at index {tuple(at)}" if at else "")
                + f": got {got:.8g}, finite differences give {want:.8g}",
            )

    # ---- products with random vectors ----

    def check_directions(self):
        __tracebackhide__ = True
        f = func()
        outs = [to_numpy(t) for t in self.out]
        cotangents = [_random_like(self.rng, x) for x in outs]
        vectors = tuple(_tensor(v, t) for v, t in zip(cotangents, self.out))
        grads = self._gradients(vectors)
        parts = []
        try:
            for k, x in enumerate(self.values):
                u = _random_like(self.rng, x)
                d = self.difference(k, u)
                parts.append((u, d))
                terms = [(np.conj(v) * w).real for v, w in zip(cotangents, d)]
                want = float(sum(t.sum() for t in terms))
                got = float(np.sum((np.conj(grads[k]) * u).real))
                scale = float(sum(np.abs(t).sum() for t in terms))
                if not abs(got - want) <= self.atol * max(1.0, len(terms) ** 0.5) + self.rtol * scale:
                    self.compare("reverse mode", k, (), 0, (), got, want, True)
                if self.forward:
                    self._forward(f, {k: u}, d, k, ())
            if self.forward and len(parts) > 1:
                total = [sum(x) for x in zip(*(d for _, d in parts))]
                self._forward(f, {k: u for k, (u, _) in enumerate(parts)}, total, None, ())
            if len(parts) > 1:  # other arguments not differentiated: other terms are absent
                self._alone(f, vectors, grads)
        except AssertionError:
            if sum(x.size for x in self.values) * sum(x.size for x in outs) < 4000:
                self.check_entries()
            raise

    def _alone(self, f, vectors, grads):
        __tracebackhide__ = True
        for k, x in enumerate(self.primals):

            def of_one(v, k=k):
                full = list(self.primals)
                full[k] = v
                return self.of_chosen(*full)

            got = to_numpy(f.vjp(of_one, x)[1](vectors)[0])
            bad = ~(np.abs(got - grads[k]) <= self.atol + self.rtol * np.abs(grads[k]))
            if np.any(bad):
                at = tuple(int(i) for i in np.argwhere(bad)[0]) if got.ndim else ()
                self.fail(
                    "reverse mode",
                    f"argument {self.chosen[k]} differentiated alone has another gradient than with "
                    f"the others at index {at}: {got[at]:.8g} and {grads[k][at]:.8g}",
                )

    # ---- the next order ----

    def check_next(self, order):
        __tracebackhide__ = True
        f = func()
        n = len(self.chosen)
        cotangents = [_tensor(_random_like(self.rng, t), t) for t in self.out]

        def gradient(*values):
            return f.vjp(self.of_chosen, *values[:n])[1](tuple(values[n:]))

        inputs = (*self.primals, *cotangents)
        step = _Check(
            self.name,
            gradient,
            inputs,
            list(range(len(inputs))),
            self.eps,
            self.atol,
            self.rtol,
            self.forward,
            self.fast,
            self.rng,
            self.order + 1,
        )
        step.run(order - 1)
        if self.forward:  # reverse over forward, forward over forward

            def tangent(*values):
                return f.jvp(self.of_chosen, tuple(values[:n]), tuple(values[n:]))[1]

            tangents = [_tensor(_random_like(self.rng, x), x) for x in self.primals]
            inputs = (*self.primals, *tangents)
            step = _Check(
                f"the jvp of {self.name}",
                tangent,
                inputs,
                list(range(len(inputs))),
                self.eps,
                self.atol,
                self.rtol,
                True,
                self.fast,
                self.rng,
                self.order + 1,
            )
            step.run(1)
