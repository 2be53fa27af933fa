"""Paired comparison of two recipes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from morl_blocks._checks import at_least, fail
from morl_blocks._extras import needs
from morl_blocks.metrics._bootstrap import standard_error, student_interval
from morl_blocks.metrics._seeds import Interval, freedom_of, runs_of, share
from morl_blocks.metrics.arrays import Array, Values, as_array, as_number, not_empty

Strata: TypeAlias = Values | Sequence[Values]
Verdict = Literal["better", "worse", "not distinguishable"]


@dataclass(frozen=True)
class Comparison:
    """The paired difference of two recipes.

    Attributes:
        difference: Mean of first minus second, with its confidence interval.
        improvement: Probability that a run of the first beats a run of the second on the same preference.
        level: Confidence of the interval.
        error: Standard error of the difference, where each seed is one sample.
        freedom: Its degrees of freedom.
    """

    difference: Interval
    improvement: float
    level: float
    error: float
    freedom: int

    @property
    def verdict(self) -> Verdict:
        """Return whether the interval lies above 0, below 0, or contains 0."""
        if self.difference.low > 0:
            return "better"
        if self.difference.high < 0:
            return "worse"
        return "not distinguishable"

    @property
    def detectable(self) -> float:
        """Return the smallest difference that this many seeds would detect in four of five repeats."""
        return detectable_difference(self.error, self.freedom, level=self.level)


@needs("scipy")
def detectable_difference(error: float, freedom: int, *, level: float = 0.95, power: float = 0.8) -> float:
    r"""Return the smallest true difference that a paired comparison detects with a given power.

    .. math:: \delta\, SE \quad\text{with}\quad \Pr(T_{df}(\delta) > t_{df}) = \text{power}

    with the noncentral t of df degrees of freedom and noncentrality :math:`\delta`, 3.8 standard errors at five seeds.
    A smaller difference may exist and remain undetected.

    Args:
        error: Standard error of the difference.
        freedom: Its degrees of freedom, seeds - 1.
        level: Confidence of the comparison, in (0, 1).
        power: Probability that the difference is detected, in (0, 1).

    Returns:
        The difference, >= 0.

    Example:
        >>> round(detectable_difference(0.01, freedom=4), 3), round(detectable_difference(0.01, freedom=10**6), 3)
        (0.038, 0.028)
    """
    at_least("freedom", freedom, 1)
    error, level, power = as_number("error", error), share("level", level), share("power", power)
    if error < 0:
        fail("error", "be finite and >= 0", error)
    if power <= (1 - level) / 2:  # the interval misses 0 on one side this often by chance
        return 0.0
    from scipy.special import nctdtrinc, stdtrit  # type: ignore[import-untyped]

    return error * float(nctdtrinc(freedom, 1 - power, stdtrit(freedom, (1 + level) / 2)))


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
    rows, others = _strata("first", first), _strata("second", second)
    if len(rows) != len(others):
        fail("second", f"have the {len(rows)} preferences of `first`", f"{len(others)}")
    shares = [
        np.mean((row[:, None] > other) + 0.5 * (row[:, None] == other)) for row, other in zip(rows, others, strict=True)
    ]
    return float(np.mean(shares))


def _strata(name: str, values: Strata) -> list[Array]:
    """Split ``[preferences, seeds]`` numbers (or one list of seeds per preference) into one array per preference."""
    if isinstance(values, Sequence):
        rows = [as_array(name, row, ndim=1) for row in values]
    else:
        rows = list(as_array(name, values, ndim=2))
    if not rows:
        fail(name, "hold at least one preference", "none")
    for row in rows:
        if row.ndim != 1:
            fail(name, "have shape [preferences, seeds]", f"a preference of shape {list(row.shape)}")
        not_empty(name, row)
    return rows


@needs("scipy")
def compare(first: Values, second: Values, *, present: object = None, level: float = 0.95) -> Comparison:
    """Compare two recipes run by run: same preference, same seed (maximise).

    The interval is Student's of the paired differences, as in :func:`~morl_blocks.metrics.bootstrap_ci`: each seed is
    one sample, for both recipes and all preferences. Differences are less skewed than scores, so no side is longer. The
    interval is for a single comparison: of twenty such verdicts at 95 %, about one is wrong if nothing differs.

    Args:
        first: Scores, ``[preferences, seeds]``; a column is a seed.
        second: Scores of the same runs (same shape) under the other recipe.
        present: Which runs both recipes have, ``[preferences, seeds]``; all by default.
        level: Confidence, in (0, 1).

    Returns:
        The difference with its interval, the probability of improvement, and a verdict.

    Example:
        >>> compare([[0.30, 0.29, 0.31]], [[0.20, 0.21, 0.19]]).verdict
        'better'
        >>> compare([[0.30, 0.10, 0.20]], [[0.20, 0.21, 0.19]]).verdict
        'not distinguishable'
    """
    (ours, there), (theirs, _) = runs_of("first", first, present), runs_of("second", second, present)
    if ours.shape != theirs.shape:
        fail("second", f"have shape {list(ours.shape)}, like `first`", f"shape {list(theirs.shape)}")
    freedom, level = freedom_of("first", there), share("level", level)
    interval = student_interval(ours - theirs, there, level)
    chance = probability_of_improvement(
        *([row[known] for row, known in zip(x, there, strict=True)] for x in (ours, theirs))
    )
    return Comparison(interval, chance, level, standard_error(ours - theirs, there), freedom)
