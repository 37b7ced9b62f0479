# ruff: noqa: F403, F405
"""Arithmetic, comparison, selection, rounding, conversions."""

import numpy as np

import tensorplay as tp

from ._base import *


def _special(dtype):
    """Infinities, NaN, zeros of both signs."""
    return round_to(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.5, 1e-4]), dtype)


def unary_samples(low=-2.0, high=2.0, gap=0.0, special=True):
    """One argument: the usual shapes, then the special values (real dtypes), without derivatives."""

    def samples(rng, dtype):
        for shape in SHAPES:
            yield sample(make(rng, dtype, *shape, low=low, high=high, gap=gap))
        if special and dtype in FLOATS:
            yield Sample((_special(dtype),), grad=False, note="special")

    return samples


def unary(name, reference, *, low=-2.0, high=2.0, gap=0.0, special=True, **options):
    add(name, unary_samples(low, high, gap, special), reference, **options)


_BROADCAST = (((3, 4), (3, 4)), ((), (3,)), ((3,), ()), ((2, 1, 3), (4, 1)), ((0, 3), (3,)), ((), ()))


def binary_samples(low=-2.0, high=2.0, gap=0.0, other=None, number=True, special=True):
    """Two arguments: equal, broadcast, 0-d and empty shapes, other dtypes, Python numbers."""

    def samples(rng, dtype):
        lo, hi, g = other or (low, high, gap)
        for a, b in _BROADCAST:
            yield sample(
                make(rng, dtype, *a, low=low, high=high, gap=gap), make(rng, dtype, *b, low=lo, high=hi, gap=g)
            )
        if number and dtype != "bool":
            x = make(rng, dtype, 2, 3, low=low, high=high, gap=gap)
            yield sample(x, 2)
            if dtype in INEXACT:
                yield sample(x, 1.5)
        if special and dtype in FLOATS:
            x = _special(dtype)
            yield Sample((x, x[:, None]), grad=False, note="special")

    return samples


def binary(
    name, reference, *, low=-2.0, high=2.0, gap=0.0, other=None, number=True, special=True, mixed=True, **options
):
    base = binary_samples(low, high, gap, other, number, special)
    dtypes = options.get("dtypes", ALL)

    def samples(rng, dtype):
        yield from base(rng, dtype)
        if mixed:
            lo, hi, g = other or (low, high, gap)
            for second in ("int64", "float32", "uint8", "float64"):
                if (
                    second in dtypes
                    and second != dtype
                    and "bfloat16" != dtype
                    and {second, dtype} != {"uint64", "int64"}
                ):
                    b = make(rng, second, 3, low=lo, high=hi, gap=g)
                    yield Sample((make(rng, dtype, 2, 3, low=low, high=high, gap=gap), b), grad=False, note="mixed")
                    yield Sample(
                        (make(rng, dtype, 2, 3, low=low, high=high, gap=gap), np.asarray(b[0])),
                        grad=False,
                        note="mixed",
                    )

    add(name, samples, reference, **options)


# ---- arithmetic ----


def _cast(name, fn):
    """fn with its array arguments in a common NumPy dtype that loses nothing (bool stays bool)."""

    def reference(a, b, **kwargs):
        a, b = np.asarray(a), np.asarray(b)
        return fn(a, b, **kwargs)

    return reference


def _with_alpha(fn, bools):
    base = binary_samples()

    def samples(rng, dtype):
        yield from base(rng, dtype)
        x, y = make(rng, dtype, 2, 3), make(rng, dtype, 3)
        if dtype in INEXACT:
            yield sample(x, y, alpha=-0.5)
            yield sample(x, 3.0, alpha=2)
        elif dtype != "bool":
            yield sample(x, y, alpha=2)
        if dtype in COMPLEX:
            yield sample(x, y, alpha=1 - 2j)

    return samples


def _add(a, b, alpha=1):
    if _is_bool(a) and _is_bool(b):
        return np.logical_or(a, np.logical_and(b, alpha))
    return _wrap(a) + alpha * _wrap(b)


def _is_bool(x):
    return np.asarray(x).dtype == bool


def _wrap(x):
    """Integers and bool as Python's unbounded ones would be hard on NumPy: int64 wraps, and is cut to the result."""
    x = np.asarray(x)
    return x.astype(np.int64) if x.dtype.kind in "bui" else x


add("add", _with_alpha(np.add, True), _add)
add("sub", _with_alpha(np.subtract, False), lambda a, b, alpha=1: _wrap(a) - alpha * _wrap(b), dtypes=NUMBERS)
alias("sub", "subtract")
binary("rsub", lambda a, b: _wrap(b) - _wrap(a), dtypes=NUMBERS)
binary("mul", lambda a, b: np.logical_and(a, b) if _is_bool(a) and _is_bool(b) else _wrap(a) * _wrap(b))
alias("mul", "multiply")


def _div(a, b):
    return np.true_divide(a, b)


def _floor_divide(a, b):
    a, b = _wrap(a), _wrap(b)
    if a.dtype.kind == b.dtype.kind == "i":
        return a // b
    return np.where(b == 0, np.true_divide(a, b), np.floor_divide(a, b))


def _trunc_divide(a, b):
    a, b = _wrap(a), _wrap(b)
    if a.dtype.kind == b.dtype.kind == "i":
        return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))
    return np.trunc(np.true_divide(a, b))


def _div_samples(rng, dtype):
    yield from binary_samples(gap=0.3, other=(-2.0, 2.0, 0.4), special=dtype in FLOATS)(rng, dtype)
    if dtype in ("float32", "float64", "int32", "int64"):
        x = make(rng, dtype, 2, 3, low=-9, high=9)
        # away from the jumps of the rounded quotient
        y = make(rng, dtype, 3, low=1.1, high=3)
        if dtype in FLOATS:
            x = round_to(y * (np.round(x / y) + 0.3), dtype)
        for mode in ("floor", "trunc", None):
            yield Sample((x, y), {"rounding_mode": mode}, vary={0: _same_ratio(1), 1: _same_ratio(-1)})
        yield Sample((x, 2), {"rounding_mode": "floor"}, grad=False)


def _same_ratio(sign):
    return lambda a, i: np.roll(a.reshape(-1), i).reshape(a.shape)


def _div_dtype(names, s):
    found = promote_sample(s, names[0])
    rounded = s.kwargs.get("rounding_mode") is not None
    return "float32" if found not in INEXACT and not rounded else found


def _div_mode(a, b, rounding_mode=None):
    if rounding_mode is None:
        return _div(a, b)
    return (_floor_divide if rounding_mode == "floor" else _trunc_divide)(a, b)


add("div", _div_samples, _div_mode, dtype=_div_dtype)
alias("div", "divide", "true_divide")


def _quotients(rng, dtype):
    """Dividends whose quotient is not close to an integer."""
    for a, b in _BROADCAST:
        y = make(rng, dtype, *b, low=1.0, high=3.0)
        x = make(rng, dtype, *a, low=-9, high=9)
        if dtype in FLOATS:
            shape = np.broadcast_shapes(a, b)
            if shape == tuple(a):
                x = round_to(np.asarray(y * (np.round(x / y) + rng.uniform(0.25, 0.75, shape))), dtype)
            grad = shape == tuple(a)
        else:
            grad = False
        plain = _same_ratio(1)
        yield Sample((x, y), grad=grad, vary={0: plain, 1: plain} if np.shape(y) == np.shape(x) else {})
    yield Sample((make(rng, dtype, 2, 3), 2), grad=False)
    if dtype in FLOATS:
        yield Sample((make(rng, dtype, 2, 3), -1.5), grad=False)
        x = round_to(np.array([0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5.5, -5.5]), dtype)
        yield Sample((x, x[:, None]), grad=False, value=False, note="special")
        yield Sample((np.asarray(x[6:]), round_to(np.array([2.0, -2.0]), dtype)), grad=False)
    elif dtype in SIGNED:
        yield Sample((np.array([7, -7, 7, -7, 6, -6], dtype), np.array([2, 2, -2, -2, 3, -3], dtype)), grad=False)


def _remainder(a, b):
    a, b = _wrap(a), _wrap(b)
    return np.remainder(a, b)


def _fmod(a, b):
    a, b = _wrap(a), _wrap(b)
    return np.fmod(a, b)


_REAL_NUMBERS = INTEGERS + FLOATS
add("floor_divide", _quotients, _floor_divide, dtypes=_REAL_NUMBERS)
add("remainder", _quotients, _remainder, dtypes=_REAL_NUMBERS)
add("fmod", _quotients, _fmod, dtypes=_REAL_NUMBERS)


def _pow_samples(rng, dtype):
    if dtype in INTEGERS:
        for a, b in _BROADCAST:
            yield sample(make(rng, dtype, *a, low=-3, high=3), np.abs(make(rng, dtype, *b, low=0, high=3)))
        yield sample(make(rng, dtype, 2, 3), 2)
        yield sample(make(rng, dtype, 2, 3), 0)
        return
    for a, b in _BROADCAST:
        yield sample(make(rng, dtype, *a, low=0.3, high=2.5), make(rng, dtype, *b))
    x = make(rng, dtype, 2, 3, gap=0.4)
    for e in (2, 3, 0, 1, -1, 0.5):
        base = make(rng, dtype, 2, 3, low=0.3, high=2.5) if e == 0.5 else x
        yield sample(base, e)
    if dtype in FLOATS:
        yield Sample(
            (_special(dtype), round_to(np.array([0.0, 1.0, -1.0, 2.0, 0.5, np.inf, np.nan]), dtype)[:, None]),
            grad=False,
            note="special",
        )
    if dtype in ("float32", "float64"):
        yield sample(2.5, make(rng, dtype, 3))
        yield sample(2, make(rng, dtype, 2, 2))


def _pow(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind in "iu" and b.dtype.kind in "iu":
        return a.astype(np.int64) ** b.astype(np.int64)
    if a.dtype.kind == "c" or b.dtype.kind == "c":
        return np.power(a.astype(complex), b)
    return np.power(a.astype(np.float64), b)


add("pow", _pow_samples, _pow, dtypes=NUMBERS, scale=10)
unary("neg", lambda a: -_wrap(a), dtypes=NUMBERS, dtype="same")
alias("neg", "negative")
unary("positive", lambda a: a, dtypes=NUMBERS, dtype="same")
unary("abs", lambda a: np.abs(_wrap(a)) if a.dtype != bool else a, gap=0.2, dtype="real")
alias("abs", "absolute")


def _sgn(a):
    if a.dtype == bool:
        return a
    if a.dtype.kind == "c":
        r = np.abs(a)
        return np.where(r == 0, 0, a / np.where(r == 0, 1, r))
    return np.sign(a)


unary("sgn", _sgn, gap=0.3, dtype="same")
alias("sgn", "sign")
unary("square", lambda a: _wrap(a) ** 2, dtype=lambda n, s: "int64" if n[0] == "bool" else n[0])
unary("reciprocal", lambda a: 1 / a.astype(a.dtype if a.dtype.kind in "fc" else float), gap=0.4, dtype="float")


def _lerp_samples(rng, dtype):
    for a, b, w in (((3, 4), (3, 4), (3, 4)), ((), (3,), ()), ((2, 1, 3), (4, 1), (3,)), ((0, 3), (3,), (0, 1))):
        yield sample(make(rng, dtype, *a), make(rng, dtype, *b), make(rng, dtype, *w))
    if dtype in INEXACT:
        yield sample(make(rng, dtype, 2, 3), make(rng, dtype, 3), 0.25)
    yield sample(make(rng, dtype, 2, 3), make(rng, dtype, 3), 2)


add("lerp", _lerp_samples, lambda a, b, w: a + w * (b - a), dtypes=INEXACT)


def _three(gap):
    def samples(rng, dtype):
        for a, b, c in (((3, 4), (3, 4), (3, 4)), ((), (3,), ()), ((2, 1, 3), (4, 1), (3,)), ((0, 3), (3,), (0, 1))):
            yield sample(make(rng, dtype, *a), make(rng, dtype, *b), make(rng, dtype, *c, gap=gap))
        x = make(rng, dtype, 2, 3), make(rng, dtype, 3), make(rng, dtype, 2, 1, gap=gap)
        yield sample(*x, value=2)
        if dtype in INEXACT:
            yield sample(*x, value=-0.5)

    return samples


add("addcmul", _three(0), lambda a, b, c, value=1: _wrap(a) + value * _wrap(b) * _wrap(c), dtypes=NUMBERS)
add("addcdiv", _three(0.4), lambda a, b, c, value=1: _wrap(a) + value * (b / c), dtype="float")

# ---- comparison and logic ----


def _comparison(name, fn, dtypes):
    def samples(rng, dtype):
        yield from binary_samples()(rng, dtype)
        x = make(rng, dtype, 2, 3)
        yield sample(x, x.copy())
        yield sample(x, np.where(make(rng, "bool", 2, 3), x, np.asarray(0, x.dtype)))

    add(name, samples, fn, dtypes=dtypes, dtype="bool")


_comparison("eq", np.equal, ALL)
_comparison("ne", np.not_equal, ALL)
alias("ne", "not_equal")
for _name, _also, _fn in (
    ("lt", "less", np.less),
    ("le", "less_equal", np.less_equal),
    ("gt", "greater", np.greater),
    ("ge", "greater_equal", np.greater_equal),
):
    _comparison(_name, _fn, REAL)
    alias(_name, _also)
for _name, _fn in (("logical_and", np.logical_and), ("logical_or", np.logical_or), ("logical_xor", np.logical_xor)):
    _comparison(_name, _fn, ALL)
unary("logical_not", np.logical_not, dtype="bool")
for _name, _fn, _dtypes in (
    ("isnan", np.isnan, ALL),
    ("isinf", np.isinf, ALL),
    ("isfinite", np.isfinite, ALL),
    ("isposinf", lambda a: np.isposinf(a.astype(float)), REAL),
    ("isneginf", lambda a: np.isneginf(a.astype(float)), REAL),
):
    unary(_name, _fn, dtype="bool", dtypes=_dtypes)
unary(
    "signbit",
    lambda a: np.signbit(a) if a.dtype.kind == "f" else a < 0 if a.dtype.kind == "i" else np.zeros(a.shape, bool),
    dtype="bool",
    dtypes=REAL,
)

_INTS = BOOL + INTEGERS
for _name, _fn in (("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or), ("bitwise_xor", np.bitwise_xor)):
    binary(_name, _fn, dtypes=_INTS)
unary("bitwise_not", np.invert, dtypes=_INTS, dtype="same")


def _shift_samples(rng, dtype):
    for a, b in _BROADCAST:
        yield sample(make(rng, dtype, *a, low=-9, high=9), np.abs(make(rng, dtype, *b, low=0, high=3)))
    yield sample(make(rng, dtype, 2, 3, low=-9, high=9), 2)
    yield sample(make(rng, dtype, 3, low=-9, high=9), np.array([7, 5, 0], dtype))


add("bitwise_left_shift", _shift_samples, lambda a, b: _wrap(a) << _wrap(b), dtypes=INTEGERS)
add("bitwise_right_shift", _shift_samples, np.right_shift, dtypes=INTEGERS)

# ---- selection ----


def _apart(rng, dtype, a, b):
    """Two arrays whose elements differ by more than a finite difference, wherever they meet."""
    x, y = make(rng, dtype, *a), make(rng, dtype, *b)
    if dtype in FLOATS:
        x = round_to(np.round(x * 4) / 4 + 0.03, dtype)
        y = round_to(np.round(y * 4) / 4 - 0.06, dtype)
    return x, y


def _extreme_samples(rng, dtype):
    keep = {0: _same_ratio(1), 1: _same_ratio(1)}
    for a, b in _BROADCAST:
        yield Sample(_apart(rng, dtype, a, b), vary=keep)
    if dtype != "bool":
        yield Sample((_apart(rng, dtype, (2, 3), ())[0], 1), vary={0: _same_ratio(1)})
    if dtype in FLOATS:
        yield Sample((_apart(rng, dtype, (2, 3), ())[0], -0.5), vary={0: _same_ratio(1)})
        yield Sample((_special(dtype), _special(dtype)[:, None]), grad=False, note="special")


for _name, _fn in (("maximum", np.maximum), ("minimum", np.minimum), ("fmax", np.fmax), ("fmin", np.fmin)):
    add(_name, _extreme_samples, _fn, dtypes=REAL)


def _clamp_samples(rng, dtype):
    keep = {i: _same_ratio(1) for i in range(3)}

    def x(*shape):
        return _apart(rng, dtype, shape, ())[0]

    for shape in SHAPES:
        yield Sample((x(*shape), -1, 1), vary=keep)
    yield Sample((x(2, 3), 0), vary=keep)
    yield Sample((x(2, 3),), {"max": 1}, vary=keep)
    yield Sample((x(2, 3),), {"min": 1}, vary=keep)
    if dtype in FLOATS:
        yield Sample((x(2, 3), -0.5, 0.75), vary=keep)
        yield Sample((x(2, 3), 1.0, -1.0), vary=keep, note="crossed")
        yield Sample((_special(dtype), -1.0, 2.0), grad=False, note="special")
    if dtype not in UNSIGNED:
        low, high = make(rng, dtype, 3, low=-1, high=-0.5), make(rng, dtype, 2, 1, low=0.5, high=1)
        if dtype in FLOATS:
            low, high = round_to(np.round(low * 4) / 4 - 0.1, dtype), round_to(np.round(high * 4) / 4 - 0.1, dtype)
        yield Sample((x(2, 3), low, high), vary=keep)
        yield Sample((x(2, 3),), {"min": low}, vary=keep)
        yield Sample((x(2, 3),), {"max": high}, vary=keep)
        yield Sample((x(), low, high), vary=keep)


def _clamp(a, min=None, max=None):
    a = _wrap(a)
    if min is not None:
        a = np.maximum(a, min)
    return np.minimum(a, max) if max is not None else a


def _clamp_dtype(names, s):
    numbers = [x for x in (*s.args[1:], *s.kwargs.values()) if type(x) in (int, float)]
    return promote([(n, a.ndim > 0) for n, a in zip(names, s.arrays())], numbers)


add("clamp", _clamp_samples, _clamp, dtypes=REAL, dtype=_clamp_dtype)
alias("clamp", "clip")


def _where_samples(rng, dtype):
    for c, a, b in (
        ((3, 4), (3, 4), (3, 4)),
        ((), (3,), ()),
        ((2, 1, 3), (4, 1), (3,)),
        ((0, 3), (3,), (0, 1)),
        ((3,), (), ()),
    ):
        yield sample(make(rng, "bool", *c), make(rng, dtype, *a), make(rng, dtype, *b))
    c, x = make(rng, "bool", 2, 3), make(rng, dtype, 3)
    if dtype != "bool":
        yield sample(c, x, 2)
        yield sample(c, 0, x)
    if dtype in FLOATS:
        yield sample(c, x, 0.5)
        yield Sample((np.arange(8) % 2 == 0, _special(dtype), round_to(np.zeros(8), dtype)), grad=False, note="special")


def _where_dtype(names, s):
    return promote(
        [(n, a.ndim > 0) for n, a in zip(names[1:], s.arrays()[1:])], [x for x in s.args if type(x) in (int, float)]
    )


add(
    "where",
    _where_samples,
    lambda c, a, b: np.where(c, a, b),
    dtype=_where_dtype,
    missing={"form 1": "the method, whose tensor is the second argument of the function"},
)


def _fill_samples(rng, dtype):
    for a, b in (((3, 4), (3, 4)), ((), ()), ((2, 1, 3), (4, 1)), ((0, 3), (3,)), ((2, 3), ())):
        x, m = make(rng, dtype, *a), make(rng, "bool", *b)
        yield sample(x, m, make(rng, dtype))
    x, m = make(rng, dtype, 2, 3), make(rng, "bool", 2, 3)
    if dtype != "bool":
        yield sample(x, m, 2)
    if dtype in FLOATS:
        yield sample(x, m, -0.5)
        yield Sample((x, m, float("-inf")), grad=False)


add("masked_fill", _fill_samples, lambda a, m, v: np.where(m, np.asarray(v).astype(a.dtype), a), dtype="same")


def _heaviside_samples(rng, dtype):
    yield from binary_samples(gap=0.3)(rng, dtype)
    x = np.array([0, 1, 0, 1], storage(dtype))
    yield sample(x, make(rng, dtype, 4)) if dtype not in FLOATS else Sample((x, make(rng, dtype, 4)), grad=False)


add(
    "heaviside",
    _heaviside_samples,
    lambda a, b: np.where(np.isnan(a), a, np.where(a == 0, b, (a > 0).astype(np.asarray(a).dtype))),
    dtypes=REAL,
)


def _nan_samples(rng, dtype):
    for shape in SHAPES:
        yield sample(make(rng, dtype, *shape))
    for kwargs in ({"nan": 1.5}, {"posinf": 3.0, "neginf": -4.0}, {"nan": 0.5, "posinf": 2.0}):
        yield sample(make(rng, dtype, 2, 3), **kwargs)
        if dtype in FLOATS and len(kwargs) > 1:
            x = _special(dtype)
            yield Sample(
                (
                    x[
                        np.isfinite(x)
                        | np.isnan(x)
                        | np.isin(x, [np.inf] * ("posinf" in kwargs))
                        | np.isin(x, [-np.inf] * ("neginf" in kwargs))
                    ],
                ),
                kwargs,
                grad=False,
            )
    if dtype == "float64":
        yield Sample((_special(dtype),), {}, grad=False)


def _nan_to_num(a, nan=None, posinf=None, neginf=None):
    if a.dtype.kind not in "fc":
        return a
    return np.nan_to_num(a, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


add("nan_to_num", _nan_samples, _nan_to_num, dtype="same")

# ---- rounding ----


def _rounded(fn):
    return lambda a: fn(a) if a.dtype.kind == "f" else a


def _off_integers(rng, dtype):
    keep = {0: _same_ratio(1)}
    for shape in SHAPES:
        x = make(rng, dtype, *shape, low=-4, high=4)
        if dtype in FLOATS:
            x = round_to(np.asarray(np.round(x) + rng.choice([-0.3, 0.2, 0.4], shape)), dtype)
        yield Sample((x,), vary=keep)
    if dtype in FLOATS:
        yield Sample(
            (round_to(np.array([0.5, 1.5, 2.5, -0.5, -1.5, 3.0, np.inf, -np.inf, np.nan, -0.0]), dtype),), grad=False
        )


for _name, _fn in (("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc)):
    add(_name, _off_integers, _rounded(_fn), dtypes=REAL, dtype="same")
alias("trunc", "fix")


def _round_samples(rng, dtype):
    yield from _off_integers(rng, dtype)
    if dtype in ("float32", "float64"):
        x = round_to(np.array([[1.234, -2.7182], [314.17, -0.018]]), dtype)
        for decimals in (1, 2, -1):
            yield Sample((x,), {"decimals": decimals}, vary={0: _same_ratio(1)})


add(
    "round",
    _round_samples,
    lambda a, decimals=0: np.round(a, decimals) if a.dtype.kind == "f" else a,
    dtypes=REAL,
    dtype="same",
)
add(
    "frac",
    lambda rng, dtype: (s for s in _off_integers(rng, dtype) if not np.isinf(s.args[0]).any()),
    lambda a: a - np.trunc(a),
    dtypes=_REAL_NUMBERS,
    dtype="same",
)

# ---- complex numbers and dtypes ----

unary("conj", np.conj, dtype="same")
alias("conj", "conj_physical")
unary("real", np.real, dtype="real")
unary("imag", np.imag, dtype="real", dtypes=COMPLEX)
add(
    "complex",
    binary_samples(number=False, special=False),
    lambda a, b: a + 1j * b,
    dtypes=("float32", "float64"),
    dtype=lambda n, s: to_complex(promote([(x, a.ndim > 0) for x, a in zip(n, s.arrays())])),
)


def _angle(a):
    if a.dtype.kind == "c":
        return np.angle(a)
    return np.where(np.isnan(a), a, np.where(a < 0, np.pi, 0.0)) if a.dtype.kind == "f" else np.where(a < 0, np.pi, 0.0)


unary("angle", _angle, gap=0.3, dtype=lambda n, s: to_real(n[0]) if n[0] in INEXACT else "float32")


def _cast_samples(rng, dtype):
    for shape in SHAPES[:3]:
        for target in (tp.float64, tp.float32, tp.complex128, tp.int64, tp.bool_):
            if dtype in COMPLEX and target.name not in COMPLEX:
                continue
            yield Sample((make(rng, dtype, *shape, gap=0.2), target), grad=target.name in ("float64", "complex128"))


add("cast", _cast_samples, lambda a, t: a.astype(t.name), dtype=lambda n, s: s.args[1].name, scale=100)
unary("clone", lambda a: a, dtype="same")


def _whole_fill_samples(rng, dtype):
    for shape in SHAPES:
        yield sample(make(rng, dtype, *shape), make(rng, dtype))
    yield sample(make(rng, dtype, 2, 3), True if dtype == "bool" else 2)
    if dtype in INEXACT:
        yield sample(make(rng, dtype, 2, 3), -0.5)


add("fill", _whole_fill_samples, lambda a, v: np.full(a.shape, v, a.dtype), dtype="same")


def _zero_samples(rng, dtype):
    for shape in SHAPES:
        yield sample(make(rng, dtype, *shape))


add("zero", _zero_samples, lambda a: np.zeros_like(a), dtype="same")


def _one_bound(word):
    def samples(rng, dtype):
        keep = {i: _same_ratio(1) for i in range(2)}
        for shape in SHAPES:
            yield Sample((_apart(rng, dtype, shape, ())[0], 1), vary=keep)
        for shapes in (((2, 3), (3,)), ((), (3,)), ((2, 1, 3), (4, 1))):
            yield Sample(_apart(rng, dtype, *shapes), vary=keep)
        if dtype in FLOATS:
            yield Sample((_apart(rng, dtype, (2, 3), ())[0], 0.5), vary=keep)
            yield Sample((_special(dtype), 0.5), grad=False, note="special")

    return samples


def _bound_dtype(names, s):
    numbers = [x for x in s.args[1:] if type(x) in (int, float)]
    return promote([(n, a.ndim > 0) for n, a in zip(names, s.arrays())], numbers)


add("clamp_min", _one_bound("min"), lambda a, m: np.maximum(_wrap(a), m), dtypes=REAL, dtype=_bound_dtype)
add("clamp_max", _one_bound("max"), lambda a, m: np.minimum(_wrap(a), m), dtypes=REAL, dtype=_bound_dtype)


def _float_power_samples(rng, dtype):
    for a, b in _BROADCAST:
        yield sample(make(rng, dtype, *a, low=0.3, high=2.5, gap=0.2), make(rng, dtype, *b))
    x = make(rng, dtype, 2, 3, low=0.3, high=2.5, gap=0.2)
    yield sample(x, 2)
    yield sample(x, 0.5) if dtype not in SIGNED else sample(x, 3)
    if dtype in ("float32", "float64"):
        yield sample(2.5, make(rng, dtype, 3))


def _float_power(a, b):
    a, b = np.asarray(a), np.asarray(b)
    wide = np.complex128 if "c" in a.dtype.kind + b.dtype.kind else np.float64
    return np.power(a.astype(wide), b.astype(wide))


add(
    "float_power",
    _float_power_samples,
    _float_power,
    dtype=lambda n, s: "complex128" if any(x in COMPLEX for x in n) else "float64",
    scale=10,
)
