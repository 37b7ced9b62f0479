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
from ._parameter import Buffer, Parameter
from ._version import version as __version__

__all__ = [
    "ELU", "GELU", "Buffer", "Conv2d", "CrossEntropyLoss", "Dropout", "Flatten", "Identity", "LeakyReLU", "Linear",
    "LogSoftmax", "MSELoss", "MaxPool2d", "Module", "ModuleDict", "ModuleList", "NLLLoss", "Parameter",
    "ParameterDict", "ParameterList", "ReLU", "Sequential", "SiLU", "Sigmoid", "Softmax", "Softplus", "Tanh",
    "Unflatten", "functional", "init",
]  # fmt: skip
