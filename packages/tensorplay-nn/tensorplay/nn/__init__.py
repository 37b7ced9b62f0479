"""Modules, parameters, initialisers and the functional forms of layers."""

from . import functional, init
from ._containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from ._layers import (
    ELU,
    GELU,
    Conv2d,
    Dropout,
    Flatten,
    Identity,
    LeakyReLU,
    Linear,
    LogSoftmax,
    MaxPool2d,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
    Unflatten,
)  # fmt: skip
from ._losses import CrossEntropyLoss, MSELoss, NLLLoss
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
)  # fmt: skip
from ._parameter import Buffer, Parameter
from ._version import version as __version__

__all__ = [
    "ELU", "GELU", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Buffer", "Conv2d", "CrossEntropyLoss", "Dropout",
    "Flatten", "GroupNorm", "Identity", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm", "LeakyReLU",
    "Linear", "LocalResponseNorm", "LogSoftmax", "MSELoss", "MaxPool2d", "Module", "ModuleDict", "ModuleList",
    "NLLLoss", "Parameter", "ParameterDict", "ParameterList", "RMSNorm", "ReLU", "Sequential", "SiLU", "Sigmoid",
    "Softmax", "Softplus", "Tanh", "Unflatten", "batch_norm_without_running_stats", "functional", "init",
    "replace_all_batch_norm_modules_",
]  # fmt: skip
