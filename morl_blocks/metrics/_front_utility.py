"""Linear utilities of a front: expected utility over many weights, and the largest utility loss."""

import numpy as np
import torch

from morl_blocks._checks import fail, simplex
from morl_blocks.metrics._fronts import front_points
from morl_blocks.metrics._weights import even_weights
from morl_blocks.metrics.arrays import Array, Values, as_array, same_objectives
from morl_blocks.scalarizers.base import Sense

NUM_WEIGHTS = 100
"""Size of the even grid when no weights are given."""


def eum(points: Values, weights: Values | None = None, sense: Sense = "max") -> float:
    r"""Average the utility of the best point for each weight (maximise; minimise for ``"min"``).

    .. math:: EUM(P; W) = \frac{1}{|W|} \sum_{w \in W} \max_{p \in P} w \cdot p

    This is the expected utility metric of the MORL literature. For ``"min"`` it is the mean of the *lowest* cost. Only
    points on the convex hull count, and nothing is normalised. The value depends on the grid: see :func:`even_weights`.

    Args:
        points: One row per policy, ``[n, m]`` with m >= 2; dominated points change nothing.
        weights: Preferences on the simplex, ``[k, m]``; an even grid of 100 by default.
        sense: Whether more (``"max"``) or less (``"min"``) of every objective is better.

    Returns:
        The mean utility, in the objectives' own units and sign.

    Example:
        >>> eum([[1.0, 0.0], [0.0, 1.0]], weights=[[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
        0.8333333333333334
    """
    best = _best(front_points("points", points, sense), weights)
    return float(best.mean() if sense == "max" else -best.mean())


def maximum_utility_loss(points: Values, known: Values, weights: Values | None = None, sense: Sense = "max") -> float:
    r"""Find the largest utility that a known front has over the points found, among many weights (minimise).

    .. math:: MUL(P; Z, W) = \max_{w \in W} \Big( \max_{z \in Z} w \cdot z - \max_{p \in P} w \cdot p \Big)

    It is negative when the points beat the known front for every weight.

    Args:
        points: The front found, ``[n, m]`` with m >= 2.
        known: The front to reach, ``[k, m]``.
        weights: Preferences on the simplex, ``[j, m]``; an even grid of 100 by default.
        sense: Whether more (``"max"``) or less (``"min"``) of every objective is better.

    Returns:
        The loss, in the objectives' own units.

    Example:
        >>> maximum_utility_loss([[1.0, 0.0]], known=[[1.0, 0.0], [0.0, 1.0]], weights=[[1.0, 0.0], [0.25, 0.75]])
        0.5
    """
    found, goal = front_points("points", points, sense), front_points("known", known, sense)
    same_objectives("known", goal, found.shape[1])
    return float((_best(goal, weights) - _best(found, weights)).max())


def _best(points: Array, weights: Values | None) -> Array:
    """Return the utility of the best point for each weight, ``[k]``; more is better."""
    count = points.shape[1]
    grid = even_weights(count, max(NUM_WEIGHTS, count)) if weights is None else as_array("weights", weights, ndim=2)
    if grid.ndim != 2 or not len(grid):
        fail("weights", "have shape [k, m] with k >= 1", f"shape {list(grid.shape)}")
    same_objectives("weights", grid, count)
    simplex("weights", torch.from_numpy(np.ascontiguousarray(grid)))
    return np.asarray((grid @ points.T).max(1))
