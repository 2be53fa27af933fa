"""All scores of a policy in one tuple, which validation, results, stores, tables and reports iterate over.

To add one, write its function, add its entry to :data:`SCORES` and describe it on the docs page.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from morl_blocks.metrics import expected_utility, run_hypervolume

Array: TypeAlias = NDArray[np.float64]
Bounds: TypeAlias = tuple[Sequence[float], Sequence[float]] | None
Function: TypeAlias = Callable[[Array, Array, Bounds], Array]


@dataclass(frozen=True)
class Score:
    """One score of a policy.

    Args:
        name: Name in histories, stores and frames: ``peak_<name>``.
        label: Heading of its column in tables.
        title: Name in figures.
        function: Maps mean returns ``[*, m]``, preferences ``[*, m]`` and the bounds of the returns to ``[*]``.
        needs_bounds: Whether it needs the bounds of the returns.
        limits: Smallest and largest possible value.
        digits: Digits after the point in tables.
        direction: ``"max"``: more is better.
    """

    name: str
    label: str
    title: str
    function: Function
    needs_bounds: bool = False
    limits: tuple[float, float] = (-math.inf, math.inf)
    digits: int = 3
    direction: Literal["max", "min"] = "max"

    @property
    def sign(self) -> int:
        """Return 1 when more is better, -1 when less is."""
        return 1 if self.direction == "max" else -1


def _hypervolume(returns: Array, preferences: Array, bounds: Bounds) -> Array:
    low, high = bounds or ((), ())
    return run_hypervolume(returns, low, high)


HYPERVOLUME = Score("hv", "HV", "hypervolume", _hypervolume, needs_bounds=True, limits=(0.0, 1.0))
"""The paper's hypervolume of one policy: the product of its normalised returns."""
UTILITY = Score("eu", "EU", "expected utility", lambda returns, preferences, _: expected_utility(returns, preferences))
"""The raw returns weighted by the preference."""
SCORES: tuple[Score, ...] = (HYPERVOLUME, UTILITY)
"""The scores, in the order in which they are shown. The first one that can be computed decides which policy is best."""


def names() -> tuple[str, ...]:
    """Return the names of all scores."""
    return tuple(score.name for score in SCORES)


def judge(score: Score, returns: Array, preferences: Array, bounds: Bounds) -> Array:
    """Score mean returns ``[*, m]``; NaN if they are not finite, or if bounds are needed and unknown.

    Preferences are broadcast to the returns; bounds are the lowest and the highest return of each objective.

    Example:
        >>> returns = np.array([[5.0, 20.0], [np.nan, 1.0]])
        >>> judge(HYPERVOLUME, returns, np.array([0.5, 0.5]), ([0.0, 0.0], [10.0, 40.0]))
        array([0.25,  nan])
    """
    found = np.full(returns.shape[:-1], np.nan)
    usable = np.isfinite(returns).all(-1)
    if usable.any() and (bounds is not None or not score.needs_bounds):
        weights = np.broadcast_to(preferences, returns.shape)[usable]
        found[usable] = score.function(returns[usable], weights / weights.sum(-1, keepdims=True), bounds)
    return found


def standard_errors(returns: Array) -> Array:
    """Return the standard error of the mean return of each objective, ``[episodes, m]`` to ``[m]``; NaN for one."""
    if len(returns) < 2:
        return np.full(returns.shape[-1], np.nan)
    return np.asarray(returns.std(0, ddof=1) / np.sqrt(len(returns)))


def score_error(score: Score, returns: Array, preference: Array, bounds: Bounds) -> float:
    r"""Return the standard error over episodes of a score of the mean returns, by the jackknife.

    .. math:: SE^2 = \frac{n-1}{n} \sum_e \big( \theta_{(e)} - \bar\theta \big)^2

    with :math:`\theta_{(e)}` the score of the mean without episode e. For a linear score it is the usual standard
    error of a mean, for a smooth one that of the delta method. It is NaN for one episode.

    Example:
        >>> returns = np.array([[1.0, 0.0], [3.0, 0.0], [5.0, 0.0]])
        >>> round(score_error(UTILITY, returns, np.array([1.0, 0.0]), None), 3)
        1.155
    """
    count = len(returns)
    if count < 2:
        return float("nan")
    without = (returns.sum(0) - returns) / (count - 1)
    found = judge(score, without, preference, bounds)
    return float(np.sqrt((count - 1) / count * np.square(found - found.mean()).sum()))


def summarise(returns: Array, preference: Array, bounds: Bounds) -> dict[str, Any]:
    """Summarise episodes ``[episodes, m]`` of one policy: mean returns and every score, each with its standard error.

    Example:
        >>> found = summarise(np.array([[1.0, 2.0], [3.0, 2.0]]), np.array([0.5, 0.5]), ([0.0, 0.0], [4.0, 4.0]))
        >>> found["returns"], found["returns_se"], found["hv"], found["eu"]
        ((2.0, 2.0), (1.0, 0.0), 0.25, 2.0)
    """
    mean = returns.mean(0)
    record: dict[str, Any] = {
        "episodes": len(returns),
        "returns": tuple(map(float, mean)),
        "returns_se": tuple(map(float, standard_errors(returns))),
    }
    for score in SCORES:
        record[score.name] = float(judge(score, mean, preference, bounds))
        record[f"{score.name}_se"] = score_error(score, returns, preference, bounds)
    return record
