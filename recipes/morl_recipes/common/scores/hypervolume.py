"""The paper's hypervolume of one policy: the product of its normalised returns."""

from morl_blocks.metrics import run_hypervolume
from morl_recipes.common.scores.score import Array, Bounds, Score


def _hypervolume(returns: Array, preferences: Array, bounds: Bounds) -> Array:
    low, high = bounds or ((), ())
    return run_hypervolume(returns, low, high)


HYPERVOLUME = Score("hv", "HV", "hypervolume", _hypervolume, needs_bounds=True, low=0.0, high=1.0)
"""``run_hypervolume`` of the mean returns."""
