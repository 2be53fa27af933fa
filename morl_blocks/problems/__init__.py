"""Problems with a known Pareto front, to test methods on: batched, differentiable, all objectives minimised."""

from morl_blocks.problems._base import Problem
from morl_blocks.problems.dtlz import DTLZ2
from morl_blocks.problems.vlmop import VLMOP2
from morl_blocks.problems.zdt import ZDT1, ZDT2, ZDT3

__all__ = ["DTLZ2", "VLMOP2", "ZDT1", "ZDT2", "ZDT3", "Problem"]
