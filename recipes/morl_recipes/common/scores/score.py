"""What a score is: a number that judges the mean returns of one policy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Bounds: TypeAlias = tuple[Sequence[float], Sequence[float]] | None
Function: TypeAlias = Callable[[Array, Array, Bounds], Array]


@dataclass(frozen=True)
class Score:
    """One way to judge a policy.

    Args:
        name: Name in histories, stores and frames: ``peak_<name>``.
        label: Head of its column in tables.
        title: Name in figures.
        function: From mean returns ``[*, m]``, preferences ``[*, m]`` and the bounds of the returns to ``[*]``.
        needs_bounds: It cannot be had where the bounds of the returns are unknown.
        low: Smallest value that it can take; ``None`` for no limit.
        high: Largest value.
        digits: Digits after the point in tables.
        direction: ``"max"``: more is better.
    """

    name: str
    label: str
    title: str
    function: Function
    needs_bounds: bool = False
    low: float | None = None
    high: float | None = None
    digits: int = 3
    direction: Literal["max", "min"] = "max"

    @property
    def sign(self) -> int:
        """Return 1 when more is better, -1 when less is."""
        return 1 if self.direction == "max" else -1


def judge(score: Score, returns: Array, preferences: Array, bounds: Bounds) -> Array:
    """Score mean returns; NaN where they are not finite, or where bounds are needed and unknown.

    Args:
        score: The score.
        returns: Mean returns, ``[*, m]``.
        preferences: Preferences, broadcastable to ``[*, m]``.
        bounds: Lowest and highest return of each objective, or ``None``.

    Returns:
        Scores, ``[*]``.

    Example:
        >>> from morl_recipes.common.scores import HYPERVOLUME
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
