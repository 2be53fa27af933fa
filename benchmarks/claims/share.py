"""A lead as a share of the other row's score."""

import math

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

from morl_blocks.metrics import Interval
from morl_recipes.analysis.results.study import Array


def lead_share(first: Array, second: Array, level: float = 0.95) -> Interval:
    r"""Return how far the first row is ahead, as a share of the second row's score, with Fieller's interval.

    It holds every share s for which the mean of ``first - (1 + s) second`` may be 0, a seed being one draw:

    .. math:: (\bar a - \rho \bar b)^2 \le \frac{t^2}{n} (s_{aa} - 2 \rho s_{ab} + \rho^2 s_{bb}), \quad \rho = 1 + s

    So it lies above 0 where the interval of the difference does, and nowhere else; the score that is divided by is not
    taken to be exact. Scores that are never negative bound it at -1.

    Args:
        first: Scores of the row that shall be ahead, NaN where it has no run, ``[preferences, seeds]``.
        second: Scores of the other row, likewise.
        level: Confidence.

    Returns:
        The share; NaN where the second score is not above 0, and without ends where that may be 0.

    Example:
        >>> second = np.array([[0.10, 0.12, 0.11]])
        >>> [round(number, 3) for number in lead_share(second + np.array([0.01, 0.02, 0.03]), second)]
        [0.182, -0.05, 0.379]
    """
    shared = np.isfinite(first) & np.isfinite(second)
    seeds = shared.any(0)
    a, b = (np.where(shared, one, 0.0).sum(0)[seeds] / shared.sum(0)[seeds] for one in (first, second))
    if len(a) < 2 or b.mean() <= 0:
        return Interval(math.nan, math.nan, math.nan)
    (saa, sab), (_, sbb) = np.cov(a, b) * stats.t.ppf((1 + level) / 2, len(a) - 1) ** 2 / len(a)
    square, mixed, rest = b.mean() ** 2 - sbb, a.mean() * b.mean() - sab, a.mean() ** 2 - saa
    estimate = float(a.mean() / b.mean())
    if square <= 0:
        return Interval(estimate - 1, math.nan, math.nan)
    reach = math.sqrt(max(mixed**2 - square * rest, 0.0))
    floor = 0.0 if a.min() >= 0 else -math.inf
    low, high = (max(float(end / square), floor) for end in (mixed - reach, mixed + reach))
    return Interval(estimate - 1, min(low, estimate) - 1, max(high, estimate) - 1)
