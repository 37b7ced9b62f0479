"""Modules, parameters, initialisers and the functional forms of layers."""

from . import _conv, _forms, _losses, _pools, _rearrange, functional, init
from ._attention import (
    MultiheadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from ._containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from ._files import load_file, save_file
from ._forms import (
    AlphaDropout,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    FeatureAlphaDropout,
    PReLU,
    RReLU,
    Softmax2d,
)
from ._layers import (
    Bilinear,
    CosineSimilarity,
    Embedding,
    EmbeddingBag,
    Flatten,
    Identity,
    Linear,
    PairwiseDistance,
    Unflatten,
)
from ._module import Module
from ._norms import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
    LocalResponseNorm,
    RMSNorm,
    batch_norm_without_running_stats,
    replace_all_batch_norm_modules_,
)
from ._parameter import Buffer, Parameter
from ._recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from ._version import version as __version__

_TABLES = (_conv.CONVOLUTIONS, _forms.ACTIVATIONS, _forms.POOLS, _pools.POOLS, _losses.LOSSES, _rearrange.REARRANGING)
for _table in _TABLES:
    globals().update(_table)

__all__ = [
    "GRU", "GRUCell", "LSTM", "LSTMCell", "MultiheadAttention", "RNN", "RNNCell", "Transformer",
    "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
    "AlphaDropout", "FeatureAlphaDropout",
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Bilinear", "Buffer", "CosineSimilarity", "Dropout", "Dropout1d",
    "Dropout2d", "Dropout3d", "Embedding", "EmbeddingBag", "Flatten", "GroupNorm", "Identity", "InstanceNorm1d",
    "InstanceNorm2d", "InstanceNorm3d", "LayerNorm", "Linear", "LocalResponseNorm", "Module", "ModuleDict",
    "ModuleList", "PReLU", "PairwiseDistance", "Parameter", "ParameterDict", "ParameterList", "RMSNorm", "RReLU",
    "Sequential", "Softmax2d", "Unflatten", "batch_norm_without_running_stats", "functional", "init",
    "load_file", "save_file",
    "replace_all_batch_norm_modules_",
]  # fmt: skip
__all__ += [name for _table in _TABLES for name in _table]
