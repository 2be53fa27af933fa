"""Scalarizers: from a vector of objective values to one utility, its gradient, and an attention over the objectives."""

from morl_blocks.scalarizers.adaptive import AdaptiveSmoothTchebycheff, maintain
from morl_blocks.scalarizers.base import Scalarizer, weighted_gaps
from morl_blocks.scalarizers.linear import Linear, linear
from morl_blocks.scalarizers.smooth_tchebycheff import (
    SmoothTchebycheff,
    smooth_attention,
    smooth_difference,
    smooth_tchebycheff,
)
from morl_blocks.scalarizers.tchebycheff import Tchebycheff, tchebycheff
from morl_blocks.scalarizers.tchebycheff_set import SmoothTchebycheffSet, smooth_tchebycheff_set
from morl_blocks.scalarizers.torchjd import TorchJDScalarizer

__all__ = [
    "AdaptiveSmoothTchebycheff",
    "Linear",
    "Scalarizer",
    "SmoothTchebycheff",
    "SmoothTchebycheffSet",
    "Tchebycheff",
    "TorchJDScalarizer",
    "linear",
    "maintain",
    "smooth_attention",
    "smooth_difference",
    "smooth_tchebycheff",
    "smooth_tchebycheff_set",
    "tchebycheff",
    "weighted_gaps",
]
