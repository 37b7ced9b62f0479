"""Losses as modules: the constructor holds the arguments of the functional forms."""

import inspect

from . import functional as F
from ._module import Module

_SIZE, _REDUCE = {"size_average": None}, {"reduce": None, "reduction": "mean"}
_KEYWORD_ONLY = {"GaussianNLLLoss", "TripletMarginWithDistanceLoss"}

# name: (function, tensors of forward, parameters with defaults; weight and pos_weight are buffers)
_LOSSES = {
    "CrossEntropyLoss": (F.cross_entropy, 2, {"weight": None, **_SIZE, "ignore_index": -100, **_REDUCE,
                                              "label_smoothing": 0.0}),
    "NLLLoss": (F.nll_loss, 2, {"weight": None, **_SIZE, "ignore_index": -100, **_REDUCE}),
    "MSELoss": (F.mse_loss, 2, {**_SIZE, **_REDUCE}),
    "L1Loss": (F.l1_loss, 2, {**_SIZE, **_REDUCE}),
    "SmoothL1Loss": (F.smooth_l1_loss, 2, {**_SIZE, **_REDUCE, "beta": 1.0}),
    "HuberLoss": (F.huber_loss, 2, {"reduction": "mean", "delta": 1.0}),
    "BCELoss": (F.binary_cross_entropy, 2, {"weight": None, **_SIZE, **_REDUCE}),
    "BCEWithLogitsLoss": (F.binary_cross_entropy_with_logits, 2, {"weight": None, **_SIZE, **_REDUCE,
                                                                  "pos_weight": None}),
    "KLDivLoss": (F.kl_div, 2, {**_SIZE, **_REDUCE, "log_target": False}),
    "PoissonNLLLoss": (F.poisson_nll_loss, 2, {"log_input": True, "full": False, **_SIZE, "eps": 1e-8, **_REDUCE}),
    "GaussianNLLLoss": (F.gaussian_nll_loss, 3, {"full": False, "eps": 1e-6, "reduction": "mean"}),
    "SoftMarginLoss": (F.soft_margin_loss, 2, {**_SIZE, **_REDUCE}),
    "HingeEmbeddingLoss": (F.hinge_embedding_loss, 2, {"margin": 1.0, **_SIZE, **_REDUCE}),
    "MarginRankingLoss": (F.margin_ranking_loss, 3, {"margin": 0.0, **_SIZE, **_REDUCE}),
    "MultiMarginLoss": (F.multi_margin_loss, 2, {"p": 1, "margin": 1.0, "weight": None, **_SIZE, **_REDUCE}),
    "MultiLabelMarginLoss": (F.multilabel_margin_loss, 2, {**_SIZE, **_REDUCE}),
    "MultiLabelSoftMarginLoss": (F.multilabel_soft_margin_loss, 2, {"weight": None, **_SIZE, **_REDUCE}),
    "CosineEmbeddingLoss": (F.cosine_embedding_loss, 3, {"margin": 0.0, **_SIZE, **_REDUCE}),
    "TripletMarginLoss": (F.triplet_margin_loss, 3, {"margin": 1.0, "p": 2.0, "eps": 1e-6, "swap": False,
                                                     **_SIZE, **_REDUCE}),
    "TripletMarginWithDistanceLoss": (F.triplet_margin_with_distance_loss, 3, {"distance_function": None, "margin": 1.0,
                                                                               "swap": False, "reduction": "mean"}),
    "CTCLoss": (F.ctc_loss, 4, {"blank": 0, "reduction": "mean", "zero_infinity": False}),
}  # fmt: skip


def _reduction(size_average, reduce, reduction):
    """The reduction that the two older arguments stand for."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def _loss(name, function, tensors, parameters):
    names = [n for n in parameters if n not in ("size_average", "reduce")]
    P = inspect.Parameter
    kind = P.KEYWORD_ONLY if name in _KEYWORD_ONLY else P.POSITIONAL_OR_KEYWORD
    own = [P(n, kind, default=d) for n, d in parameters.items()]
    signature = inspect.Signature([P("self", P.POSITIONAL_ONLY), *own])

    def __init__(self, *args, **kwargs):
        Module.__init__(self)
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}: {error}; there are {', '.join(parameters)}") from None
        bound.apply_defaults()
        values = bound.arguments
        older = values.pop("size_average", None), values.pop("reduce", None)
        values["reduction"] = _reduction(*older, values["reduction"])
        for n in names:
            if n in ("weight", "pos_weight"):
                self.register_buffer(n, values[n])
            else:
                setattr(self, n, values[n])

    def forward(self, *inputs):
        if len(inputs) != tensors:
            raise TypeError(f"{name}: {tensors} inputs expected, got {len(inputs)}")
        return function(*inputs, **{n: getattr(self, n) for n in names})

    __init__.__signature__ = signature
    doc = f"{function.__doc__}\n\nThe constructor takes {', '.join(names)}; forward the {tensors} others."
    module = __name__.rpartition(".")[0]
    return type(name, (Module,), {"__doc__": doc, "__module__": module, "__init__": __init__, "forward": forward})


LOSSES = {name: _loss(name, *entry) for name, entry in _LOSSES.items()}
globals().update(LOSSES)
