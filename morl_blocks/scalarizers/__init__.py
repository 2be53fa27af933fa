"""Scalarizers: from a vector of objective values to one utility, its gradient, and an attention over the objectives."""

from morl_blocks.scalarizers._base import Scalarizer, weighted_gaps
from morl_blocks.scalarizers.adaptive import AdaptiveSmoothTchebycheff, maintain
from morl_blocks.scalarizers.linear import Linear, linear
from morl_blocks.scalarizers.smooth_tchebycheff import (
    SmoothTchebycheff,
    smooth_attention,
    smooth_difference,
    smooth_tchebycheff,
)
from morl_blocks.scalarizers.tchebycheff import Tchebycheff, tchebycheff

__all__ = [
    "AdaptiveSmoothTchebycheff",
    "Linear",
    "Scalarizer",
    "SmoothTchebycheff",
    "Tchebycheff",
    "linear",
    "maintain",
    "smooth_attention",
    "smooth_difference",
    "smooth_tchebycheff",
    "tchebycheff",
    "weighted_gaps",
]
