"""Losses as modules: the constructor holds the arguments of the functional forms."""

from . import functional as F
from ._module import Module

# name: (function, tensors of forward, parameters with defaults; weight and pos_weight are buffers)
_LOSSES = {
    "CrossEntropyLoss": (F.cross_entropy, 2, {"weight": None, "ignore_index": -100, "reduction": "mean",
                                              "label_smoothing": 0.0}),
    "NLLLoss": (F.nll_loss, 2, {"weight": None, "ignore_index": -100, "reduction": "mean"}),
    "MSELoss": (F.mse_loss, 2, {"reduction": "mean"}),
    "L1Loss": (F.l1_loss, 2, {"reduction": "mean"}),
    "SmoothL1Loss": (F.smooth_l1_loss, 2, {"reduction": "mean", "beta": 1.0}),
    "HuberLoss": (F.huber_loss, 2, {"reduction": "mean", "delta": 1.0}),
    "BCELoss": (F.binary_cross_entropy, 2, {"weight": None, "reduction": "mean"}),
    "BCEWithLogitsLoss": (F.binary_cross_entropy_with_logits, 2, {"weight": None, "reduction": "mean",
                                                                  "pos_weight": None}),
    "KLDivLoss": (F.kl_div, 2, {"reduction": "mean", "log_target": False}),
    "PoissonNLLLoss": (F.poisson_nll_loss, 2, {"log_input": True, "full": False, "eps": 1e-8, "reduction": "mean"}),
    "GaussianNLLLoss": (F.gaussian_nll_loss, 3, {"full": False, "eps": 1e-6, "reduction": "mean"}),
    "SoftMarginLoss": (F.soft_margin_loss, 2, {"reduction": "mean"}),
    "HingeEmbeddingLoss": (F.hinge_embedding_loss, 2, {"margin": 1.0, "reduction": "mean"}),
    "MarginRankingLoss": (F.margin_ranking_loss, 3, {"margin": 0.0, "reduction": "mean"}),
    "MultiMarginLoss": (F.multi_margin_loss, 2, {"p": 1, "margin": 1.0, "weight": None, "reduction": "mean"}),
    "MultiLabelMarginLoss": (F.multilabel_margin_loss, 2, {"reduction": "mean"}),
    "MultiLabelSoftMarginLoss": (F.multilabel_soft_margin_loss, 2, {"weight": None, "reduction": "mean"}),
    "CosineEmbeddingLoss": (F.cosine_embedding_loss, 3, {"margin": 0.0, "reduction": "mean"}),
    "TripletMarginLoss": (F.triplet_margin_loss, 3, {"margin": 1.0, "p": 2.0, "eps": 1e-6, "swap": False,
                                                     "reduction": "mean"}),
    "TripletMarginWithDistanceLoss": (F.triplet_margin_with_distance_loss, 3, {"distance_function": None, "margin": 1.0,
                                                                               "swap": False, "reduction": "mean"}),
    "CTCLoss": (F.ctc_loss, 4, {"blank": 0, "reduction": "mean", "zero_infinity": False}),
}  # fmt: skip


def _loss(name, function, tensors, parameters):
    names = list(parameters)

    def __init__(self, *args, **kwargs):
        Module.__init__(self)
        if len(args) > len(names):
            raise TypeError(f"{name}: at most {len(names)} arguments, got {len(args)}")
        given = dict(zip(names, args, strict=False))
        for n in kwargs:
            if n not in parameters or n in given:
                raise TypeError(f"{name}: unexpected or repeated argument {n!r}; there are {', '.join(names)}")
        for n, value in {**parameters, **given, **kwargs}.items():
            if n in ("weight", "pos_weight"):
                self.register_buffer(n, value)
            else:
                setattr(self, n, value)

    def forward(self, *inputs):
        if len(inputs) != tensors:
            raise TypeError(f"{name}: {tensors} inputs expected, got {len(inputs)}")
        return function(*inputs, **{n: getattr(self, n) for n in names})

    doc = f"{function.__doc__}\n\nThe constructor takes {', '.join(names)}; forward the {tensors} others."
    module = __name__.rpartition(".")[0]
    return type(name, (Module,), {"__doc__": doc, "__module__": module, "__init__": __init__, "forward": forward})


LOSSES = {name: _loss(name, *entry) for name, entry in _LOSSES.items()}
globals().update(LOSSES)
