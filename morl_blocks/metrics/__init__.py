"""Numbers for comparing multi-objective policies: pure functions on arrays, maximise everywhere.

NumPy arrays, tensors and nested lists go in; NumPy comes out. A number that is not finite raises, because a metric
that quietly skips a broken run reports a better method than the one that was trained.
"""

from morl_blocks.metrics._bootstrap import Interval, bootstrap_ci, interquartile_mean, seed_draws
from morl_blocks.metrics._comparison import Comparison, compare, probability_of_improvement
from morl_blocks.metrics._dominance import nondominated
from morl_blocks.metrics._hypervolume import hypervolume, run_hypervolume
from morl_blocks.metrics._profiles import performance_ratios, profile, profile_auc
from morl_blocks.metrics._rates import objective_dominance_rate, win_rate
from morl_blocks.metrics._utility import expected_utility

__all__ = [
    "Comparison",
    "Interval",
    "bootstrap_ci",
    "compare",
    "expected_utility",
    "hypervolume",
    "interquartile_mean",
    "nondominated",
    "objective_dominance_rate",
    "performance_ratios",
    "probability_of_improvement",
    "profile",
    "profile_auc",
    "run_hypervolume",
    "seed_draws",
    "win_rate",
]
