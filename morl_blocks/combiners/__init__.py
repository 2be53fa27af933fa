"""Gradient combiners: from m objective gradients to one update, through their Gramian."""

from morl_blocks.combiners._base import Combiner, DrawingCombiner, Merged, Weighed
from morl_blocks.combiners.conflict import conflict_ratio, pair_conflict
from morl_blocks.combiners.grouped import GroupedPCGrad, preference_groups
from morl_blocks.combiners.pcgrad import PCGrad, WeightedPCGrad, pcgrad_projections, random_order
from morl_blocks.combiners.readings import projected_conflict
from morl_blocks.combiners.sum import Sum, WeightedSum
from morl_blocks.combiners.torchjd import TorchJD

__all__ = [
    "Combiner",
    "DrawingCombiner",
    "GroupedPCGrad",
    "Merged",
    "PCGrad",
    "Sum",
    "TorchJD",
    "Weighed",
    "WeightedPCGrad",
    "WeightedSum",
    "conflict_ratio",
    "pair_conflict",
    "pcgrad_projections",
    "preference_groups",
    "projected_conflict",
    "random_order",
]
