"""How sure a mean over episodes is, and a score of it."""

from typing import Any

import numpy as np

from morl_recipes.common import scores
from morl_recipes.common.scores.score import Array, Bounds, Score, judge


def standard_errors(returns: Array) -> Array:
    """Return the standard error of the mean return of each objective, ``[episodes, m]`` to ``[m]``; NaN for one."""
    if len(returns) < 2:
        return np.full(returns.shape[-1], np.nan)
    return np.asarray(returns.std(0, ddof=1) / np.sqrt(len(returns)))


def score_error(score: Score, returns: Array, preference: Array, bounds: Bounds) -> float:
    r"""Return the standard error over episodes of a score of the mean returns, by the jackknife.

    .. math:: SE^2 = \frac{n-1}{n} \sum_e \big( \theta_{(e)} - \bar\theta \big)^2

    with :math:`\theta_{(e)}` the score of the mean without episode e. For a linear score it is the usual standard
    error of a mean, for a smooth one that of the delta method.

    Args:
        score: The score.
        returns: Returns of the episodes, ``[episodes, m]``.
        preference: The preference, ``[m]``.
        bounds: Bounds of the returns, or ``None``.

    Returns:
        The standard error, NaN for one episode or a score that cannot be had.

    Example:
        >>> from morl_recipes.common.scores import UTILITY
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
    """Describe fresh episodes of one policy: mean returns and every score, each with its standard error over episodes.

    Args:
        returns: Returns of the episodes, ``[episodes, m]``.
        preference: The preference, ``[m]``.
        bounds: Bounds of the returns, or ``None``.

    Returns:
        ``episodes, returns, returns_se`` and, for each score, its name and ``<name>_se``.

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
    for score in scores.SCORES:
        record[score.name] = float(judge(score, mean, preference, bounds))
        record[f"{score.name}_se"] = score_error(score, returns, preference, bounds)
    return record
