"""Smoothness schedulers: the mu of smooth Tchebycheff scalarization in each training iteration."""

from morl_blocks.schedulers._base import Scheduler, smooth
from morl_blocks.schedulers.conflict_braked import ConflictBraked, boost, braked
from morl_blocks.schedulers.decay import LinearDecay, linear_decay
from morl_blocks.schedulers.fixed import Fixed
from morl_blocks.schedulers.self_tuned import SelfTuned, resolution

__all__ = [
    "ConflictBraked",
    "Fixed",
    "LinearDecay",
    "Scheduler",
    "SelfTuned",
    "boost",
    "braked",
    "linear_decay",
    "resolution",
    "smooth",
]
