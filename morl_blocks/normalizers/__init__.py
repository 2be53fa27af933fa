"""Normalizers: bring objective values of different sizes to one scale, which every Tchebycheff scalarizer needs."""

from morl_blocks.normalizers._base import Normalizer
from morl_blocks.normalizers.initial_value import InitialValue, WarmUp, relative
from morl_blocks.normalizers.log_ratio import LogRatio, log_ratio
from morl_blocks.normalizers.running_range import RunningRange, ranged
from morl_blocks.normalizers.standardize import Standardize, standardized

__all__ = [
    "InitialValue",
    "LogRatio",
    "Normalizer",
    "RunningRange",
    "Standardize",
    "WarmUp",
    "log_ratio",
    "ranged",
    "relative",
    "standardized",
]
