"""Special functions."""

from . import _ops

# Functions that are at the top of the package too: name here -> name there.
_SAME = {
    name: name
    for name in (
        "digamma erf erfc erfinv exp2 expm1 i0 log1p log_softmax logit logsumexp polygamma round sinc softmax xlogy"
    ).split()
} | {
    "expit": "sigmoid",
    "gammainc": "igamma",
    "gammaincc": "igammac",
    "gammaln": "lgamma",
    "multigammaln": "mvlgamma",
    "psi": "digamma",
}

globals().update({name: _ops.FUNCTIONS[at] for name, at in _SAME.items() if at in _ops.FUNCTIONS})
globals().update(_ops.NAMESPACES.get("special", {}))
__all__ = sorted({*_SAME, *_ops.NAMESPACES.get("special", {})} & {*globals()})
