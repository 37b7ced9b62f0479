# ruff: noqa: F403, F405
"""Convolution, pooling, losses."""

from ._base import *
