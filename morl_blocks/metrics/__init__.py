"""Metrics for comparing multi-objective policies: pure functions on arrays, maximised unless `sense` says otherwise.

NumPy arrays, tensors and nested lists go in; NumPy arrays come out. Values that are not finite raise an error, because
a metric that silently skips a failed run overrates its method.
"""

from morl_blocks.metrics._bootstrap import bootstrap_ci, interquartile_mean, seed_draws, standard_error
from morl_blocks.metrics._comparison import Comparison, compare, detectable_difference, probability_of_improvement
from morl_blocks.metrics._dominance import nondominated
from morl_blocks.metrics._following import preference_correlation, preference_regret
from morl_blocks.metrics._front_distance import additive_epsilon, igd, igd_plus
from morl_blocks.metrics._front_utility import eum, maximum_utility_loss
from morl_blocks.metrics._fronts import cardinality, front_hypervolume, non_dominated, sparsity
from morl_blocks.metrics._hypervolume import hypervolume, run_hypervolume
from morl_blocks.metrics._profiles import performance_ratios, profile, profile_auc
from morl_blocks.metrics._rates import objective_dominance_rate, win_rate
from morl_blocks.metrics._relative import objective_dominance_ci, profile_auc_ci, win_rate_ci
from morl_blocks.metrics._returns import discounted_returns
from morl_blocks.metrics._seeds import Interval
from morl_blocks.metrics._utility import expected_utility
from morl_blocks.metrics._weights import even_weights

__all__ = [
    "Comparison",
    "Interval",
    "additive_epsilon",
    "bootstrap_ci",
    "cardinality",
    "compare",
    "detectable_difference",
    "discounted_returns",
    "eum",
    "even_weights",
    "expected_utility",
    "front_hypervolume",
    "hypervolume",
    "igd",
    "igd_plus",
    "interquartile_mean",
    "maximum_utility_loss",
    "non_dominated",
    "nondominated",
    "objective_dominance_ci",
    "objective_dominance_rate",
    "performance_ratios",
    "preference_correlation",
    "preference_regret",
    "probability_of_improvement",
    "profile",
    "profile_auc",
    "profile_auc_ci",
    "run_hypervolume",
    "seed_draws",
    "sparsity",
    "standard_error",
    "win_rate",
    "win_rate_ci",
]
