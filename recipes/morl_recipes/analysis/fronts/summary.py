"""Returns of a front for each preference with intervals, and the exact front if it is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit  # type: ignore[import-untyped]

from morl_blocks.metrics.arrays import Values, as_array, same_objectives
from morl_envs import CARDS, exact_front
from morl_recipes.common import checks
from morl_recipes.store.front import Array, FrontReturns

LEVEL, SURE = 0.95, 1.96
"""Level of an interval, and half of its width in standard errors where these are known well."""


class Reached(NamedTuple):
    """Mean return by preference and half of its 95 % interval, ``[K, m]`` each; fewest seeds of a preference."""

    asked: Array
    mean: Array
    half: Array
    seeds: int


def reached(front: FrontReturns) -> Reached:
    """Return mean returns, with intervals over seeds (Student's t), or over episodes of a single seed (NaN for one)."""
    asked = front.distinct_preferences
    rounded = np.round(front.asked, 9)
    rows = [np.flatnonzero((rounded == weights).all(1)) for weights in asked]
    fewest = min(len(own) for own in rows)
    mean = np.array([front.returns[own].mean(0) for own in rows])
    if fewest == 1:
        half = SURE * np.array([front.errors[own].mean(0) for own in rows])
    else:
        half = np.array([front.returns[own].std(0, ddof=1) / np.sqrt(len(own)) for own in rows])
        half *= np.array([stdtrit(len(own) - 1, (1 + LEVEL) / 2) for own in rows])[:, None]
    return Reached(asked, mean, half, fewest)


def checked(front: FrontReturns, known: Values | None) -> Array | None:
    """Require a front, and exact points ``[k, m]`` of its objectives if there are any."""
    checks.instance("front", front, FrontReturns, "be a Front")
    if known is None:
        return None
    points = as_array("known", known)
    if points.ndim != 2:
        checks.fail("known", "have shape [k, m]", f"shape {list(points.shape)}")
    same_objectives("known", points, len(front.objectives))
    return points


def known_front(front: FrontReturns) -> Array | None:
    """Return the exact front for the front's discount, ``[k, m]``; ``None`` if it is not known."""
    card = CARDS.get(front.env)
    return None if card is None or card.exact_front is None else exact_front(front.env, front.gamma)
