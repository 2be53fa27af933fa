"""Every number that judges a policy, in one tuple: validation, results, stores, tables and reports iterate over it.

To add one, write a file like ``_utility.py``, add its entry to :data:`SCORES` and say on the docs page what it means.
"""

from morl_recipes.common.scores.errors import score_error, standard_errors, summarise
from morl_recipes.common.scores.hypervolume import HYPERVOLUME
from morl_recipes.common.scores.score import Bounds, Score, judge
from morl_recipes.common.scores.utility import UTILITY

SCORES: tuple[Score, ...] = (HYPERVOLUME, UTILITY)
"""The scores, in the order in which they are shown. The first one that can be had decides which policy is the best."""


def names() -> tuple[str, ...]:
    """Return the names of all scores.

    Example:
        >>> names()
        ('hv', 'eu')
    """
    return tuple(score.name for score in SCORES)


__all__ = [
    "HYPERVOLUME",
    "SCORES",
    "UTILITY",
    "Bounds",
    "Score",
    "judge",
    "names",
    "score_error",
    "standard_errors",
    "summarise",
]
