"""Expected utility: the raw returns weighed by the preference."""

from morl_blocks.metrics import expected_utility
from morl_recipes.common.scores.score import Array, Bounds, Score


def _utility(returns: Array, preferences: Array, bounds: Bounds) -> Array:
    return expected_utility(returns, preferences)


UTILITY = Score("eu", "EU", "expected utility", _utility)
"""``expected_utility`` of the mean returns."""
