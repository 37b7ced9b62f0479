# ruff: noqa: F403, F405
"""Random numbers. Values are judged by seeds and flags here, by their distribution in the tests."""

import tensorplay as tp

from ._base import *
from .creation import _c, _plain, _typed

_NO_TENSOR = ("float32",)
_GENERATOR = tp.Generator().manual_seed(3)


def source(name, samples, default, **options):
    add(
        name, samples, None, dtypes=_NO_TENSOR, dtype=_typed(default), grad=(), refuses=False, random="drawn", **options
    )


_SIZES = (_c(3, 4), _c((3, 4)), _c(()), _c(0, 3), _c(9, dtype=tp.float64), _c(9, generator=_GENERATOR))
_VARARGS = {"size": "given in every sample"}
source("rand", _plain(*_SIZES, _c(4, dtype=tp.float16)), "float32", missing=_VARARGS)
source("randn", _plain(*_SIZES, _c(4, dtype=tp.complex64)), "float32", missing=_VARARGS)
source(
    "randint",
    _plain(
        _c(1000, (3, 4)),
        _c(-500, 500, (9,)),
        _c(10, (0,)),
        _c(1000, ()),
        _c(100, (9,), dtype=tp.float32),
        _c(100, (9,), generator=_GENERATOR),
        _c(-5, 100, (9,), dtype=tp.int8),
        _c(-5, 100, (9,), generator=_GENERATOR),
    ),
    "int64",
)
source("randperm", _plain(_c(12), _c(0), _c(1), _c(20, dtype=tp.int32), _c(20, generator=_GENERATOR)), "int64")


def _like(*rest, generator=True):
    def samples(rng, dtype):
        for shape in ((3, 4), (), (0, 3), (2, 1, 5)):
            yield Sample((make(rng, dtype, *shape), *rest), grad=False)
        yield Sample((make(rng, dtype, 9), *rest), {"dtype": tp.float64}, grad=False)
        yield Sample((make(rng, dtype, 9), *rest), {"generator": _GENERATOR}, grad=False)

    return samples


def drawn(name, samples, **options):
    options.setdefault("dtype", "same")
    options.setdefault("refuses", False)
    options.setdefault("grad", ())
    add(name, samples, None, random="drawn", **options)


_AS_SELF = lambda names, s: s.kwargs["dtype"].name if "dtype" in s.kwargs else names[0]
drawn("rand_like", _like(), dtypes=FLOATS, dtype=_AS_SELF)
drawn("randn_like", _like(), dtypes=INEXACT, dtype=_AS_SELF)


def _randint_like(rng, dtype):
    yield from _like(100)(rng, dtype)
    yield from _like(5, 100)(rng, dtype)


drawn("randint_like", _randint_like, dtypes=INTEGERS + FLOATS, dtype=_AS_SELF)


def _normal_samples(rng, dtype):
    yield sample(make(rng, dtype, 3, 4), make(rng, dtype, 4, low=0.5, high=2.0))
    yield sample(make(rng, dtype), make(rng, dtype, 9, low=0.5, high=2.0))
    yield sample(make(rng, dtype, 0, 3), make(rng, dtype, 3, low=0.5, high=2.0))
    yield sample(make(rng, dtype, 3, 4), 2.0)
    yield sample(make(rng, dtype, 9))
    yield sample(1.5, make(rng, dtype, 9, low=0.5, high=2.0))
    for args in (
        (make(rng, dtype, 9), make(rng, dtype, 9, low=0.5, high=2.0)),
        (make(rng, dtype, 9), 2.0),
        (1.5, make(rng, dtype, 9, low=0.5, high=2.0)),
    ):
        yield Sample(args, {"generator": _GENERATOR}, grad=False)
    if dtype == "float32":
        yield Sample((1.0, 2.0, (3, 4)))
        yield Sample((1.0, 2.0, (9,)), {"dtype": tp.float64})
        yield Sample((1.0, 2.0, (9,)), {"generator": _GENERATOR})


def _normal_dtype(names, s):
    if "dtype" in s.kwargs:
        return s.kwargs["dtype"].name
    return promote([(n, a.ndim > 0) for n, a in zip(names, s.arrays())]) if names else "float32"


drawn(
    "normal",
    _normal_samples,
    dtypes=FLOATS,
    dtype=_normal_dtype,
    grad=("float64",),
    missing={"form 4": "in place only: the function of a tensor alone is the mean's"},
)


def _filled(*calls):
    def samples(rng, dtype):
        for shape in ((3, 4), (), (0, 3), (2, 1, 5)):
            yield Sample((make(rng, dtype, *shape), *calls[0]), grad=False)
        for args in calls[1:]:
            kwargs = args[-1] if args and isinstance(args[-1], dict) else {}
            yield Sample((make(rng, dtype, 9), *(a for a in args if not isinstance(a, dict))), kwargs, grad=False)
        yield Sample((make(rng, dtype, 9), *calls[0]), {"generator": _GENERATOR}, grad=False)

    return samples


drawn("uniform", _filled((), (0.25,), (-2.0, 3.0), ({"low": 0.5, "high": 0.75},)), dtypes=INEXACT)
drawn("exponential", _filled((), (2.0,)), dtypes=FLOATS)
drawn("cauchy", _filled((), (1.0,), (-2.0, 3.0)), dtypes=FLOATS)
drawn("log_normal", _filled((), (0.5,), (-1.0, 0.5)), dtypes=FLOATS)
drawn("geometric", _filled((0.03,), (0.01,)), dtypes=INTEGERS + FLOATS)


def _random_calls(rng, dtype):
    yield from _filled(())(rng, dtype)
    yield from _filled((100,))(rng, dtype)
    yield from _filled((5, 100))(rng, dtype)


drawn("random", _random_calls, dtypes=INTEGERS + FLOATS)


def _bernoulli_calls(rng, dtype):
    def p(*shape):
        return make(rng, dtype, *shape, low=0.1, high=0.9)

    for shape in ((6, 4), (), (0, 3), (20,)):
        yield Sample((p(*shape),), grad=False)
    yield Sample((p(9),), {"generator": _GENERATOR}, grad=False)
    x = make(rng, dtype, 40)
    yield Sample((x, 0.25), grad=False)
    yield Sample((x, 0.25), {"generator": _GENERATOR}, grad=False)
    yield Sample((make(rng, dtype, 10, 4), make(rng, "float64", 4, low=0.2, high=0.8)), grad=False)
    yield Sample((x, make(rng, "float64", 40, low=0.2, high=0.8)), {"generator": _GENERATOR}, grad=False)


drawn("bernoulli", _bernoulli_calls, dtypes=FLOATS)


def _multinomial_calls(rng, dtype):
    def w(*shape):
        return make(rng, dtype, *shape, low=0.1, high=1.0)

    yield Sample((w(20), 9), grad=False)
    yield Sample((w(3, 20), 9), grad=False)
    yield Sample((w(20), 30, True), grad=False)
    yield Sample((w(20), 9), {"generator": _GENERATOR}, grad=False)
    yield Sample((w(0, 5), 2), grad=False)


drawn(
    "multinomial",
    _multinomial_calls,
    dtypes=("float16", "bfloat16", "float32", "float64"),
    dtype="int64",
    missing={"0-d": "needs categories"},
)


_WRITES = "writes into its argument: among the tests of modules"


def _dropout_calls(*shapes):
    def samples(rng, dtype):
        for shape in shapes:
            yield Sample((make(rng, dtype, *shape),))
        x = make(rng, dtype, *shapes[0])
        yield Sample((x, 0.3))
        yield Sample((x, 0.5, False), note="not random")
        yield Sample((x, 0.0), note="not random")
        yield Sample((x, 1.0), note="not random")
        yield Sample((x,), {"p": 0.75, "training": True})

    return samples


drawn(
    "nn.functional.dropout",
    _dropout_calls((10, 4), (), (0, 3), (40,)),
    dtypes=INEXACT,
    grad=("float64", "complex128"),
    missing={"inplace": _WRITES},
)
for _n, _shapes in (
    (1, ((8, 5, 2), (40, 3), (0, 3, 2))),
    (2, ((8, 5, 2, 2), (40, 2, 2), (0, 3, 2, 2))),
    (3, ((8, 5, 2, 1, 2), (40, 2, 1, 2), (0, 3, 2, 1, 1))),
):
    drawn(
        f"nn.functional.dropout{_n}d",
        _dropout_calls(*_shapes),
        dtypes=INEXACT,
        grad=("float64", "complex128"),
        missing={"0-d": "needs channels", "inplace": _WRITES},
    )
