"""Is one recipe better than another, or can the runs not tell?"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from morl_blocks._checks import fail
from morl_blocks.metrics._bootstrap import Interval, Strata, bootstrap_ci, strata

Verdict = Literal["better", "worse", "not distinguishable"]


@dataclass(frozen=True)
class Comparison:
    """The paired difference of two recipes.

    Attributes:
        difference: Mean of first minus second, with its confidence interval.
        improvement: Probability that a run of the first beats a run of the second on the same preference.
        level: Confidence of the interval.
    """

    difference: Interval
    improvement: float
    level: float

    @property
    def verdict(self) -> Verdict:
        """Say what the interval says: it lies above 0, below 0, or holds 0."""
        if self.difference.low > 0:
            return "better"
        if self.difference.high < 0:
            return "worse"
        return "not distinguishable"


def probability_of_improvement(first: Strata, second: Strata) -> float:
    r"""Estimate how likely a run of the first recipe beats a run of the second on the same preference (maximise).

    .. math:: \frac1P \sum_p \Big( \Pr(X_p > Y_p) + \tfrac12 \Pr(X_p = Y_p) \Big)

    over all pairs of seeds (Mann-Whitney). 0.5 means no difference; it counts wins, not their size.

    Args:
        first: ``[preferences, seeds]`` or one list of seeds per preference.
        second: The same preferences; the number of seeds may differ.

    Returns:
        A number in [0, 1].

    Example:
        >>> probability_of_improvement([[0.3, 0.4]], [[0.2, 0.3]])
        0.875
    """
    rows, others = strata("first", first), strata("second", second)
    if len(rows) != len(others):
        fail("second", f"have the {len(rows)} preferences of `first`", f"{len(others)}")
    shares = [
        np.mean((row[:, None] > other) + 0.5 * (row[:, None] == other)) for row, other in zip(rows, others, strict=True)
    ]
    return float(np.mean(shares))


def compare(first: Strata, second: Strata, *, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Comparison:
    """Compare two recipes run by run: same preference, same seed (maximise).

    The confidence interval is :func:`~morl_blocks.metrics.bootstrap_ci` of the paired differences. It is for one
    comparison: of twenty such verdicts at 95 %, about one is wrong where nothing differs.

    Args:
        first: Scores, ``[preferences, seeds]`` or one list of seeds per preference.
        second: Scores of the same runs (same shape) under the other recipe.
        level: Confidence, in (0, 1).
        resamples: Number of resamples, >= 1.
        seed: Seed of the resampling.

    Returns:
        The difference with its interval, the probability of improvement, and a verdict.

    Example:
        >>> compare([[0.30, 0.29, 0.31]], [[0.20, 0.21, 0.19]]).verdict
        'better'
        >>> compare([[0.30, 0.10, 0.20]], [[0.20, 0.21, 0.19]]).verdict
        'not distinguishable'
    """
    rows, others = strata("first", first), strata("second", second)
    shape, other_shape = [len(row) for row in rows], [len(row) for row in others]
    if shape != other_shape:
        fail("second", f"have seeds per preference {shape}, like `first`", other_shape)
    differences = [row - other for row, other in zip(rows, others, strict=True)]
    interval = bootstrap_ci(differences, level=level, resamples=resamples, seed=seed)
    return Comparison(interval, probability_of_improvement(rows, others), level)
