"""Even grids of preferences."""

from itertools import combinations
from math import comb

import numpy as np

from morl_blocks._checks import at_least, fail
from morl_blocks.metrics.arrays import Array

_FINENESS = 20
"""Number of candidates per weight from which an evenly spread grid is chosen."""


def even_weights(num_objectives: int, count: int) -> Array:
    r"""Spread ``count`` preferences evenly over the simplex, including its corners.

    Two objectives give equal steps. With more, a *simplex lattice* (all weights that are multiples of 1/h) has

    .. math:: \binom{h + m - 1}{m - 1}

    points: 66 for three objectives and steps of 0.1. If ``count`` is such a number, the lattice is returned. For any
    other count, points of a lattice at least 20 times finer are chosen one by one, each as far as possible from those
    before. The result is deterministic. MORL-Baselines minimises the Riesz energy of random starts instead; its grids
    cover the simplex equally well, but depend on a seed.

    An even grid is not a uniform sample. It has many weights on the boundary of the simplex (all of them when h < m),
    so averages over it, such as :func:`eum`, depend on the grid. Only compare values from the same grid.

    Args:
        num_objectives: m, >= 2.
        count: Number of weights, >= m.

    Returns:
        Weights on the simplex, ``[count, m]``, in ascending order.

    Example:
        >>> even_weights(2, 5)[:, 0]
        array([0.  , 0.25, 0.5 , 0.75, 1.  ])
        >>> even_weights(3, 66).shape, even_weights(3, 40).shape
        ((66, 3), (40, 3))
    """
    at_least("num_objectives", num_objectives, 2)
    at_least("count", count, 1)
    if count < num_objectives:
        fail("count", f"be >= num_objectives = {num_objectives}, so that every corner is included", count)
    steps = _steps(num_objectives, count)
    if _size(num_objectives, steps) == count:
        return _lattice(num_objectives, steps)
    return _spread(_lattice(num_objectives, _steps(num_objectives, _FINENESS * count)), count)


def _size(objectives: int, steps: int) -> int:
    """Return how many points a simplex lattice has."""
    return comb(steps + objectives - 1, objectives - 1)


def _steps(objectives: int, count: int) -> int:
    """Return the steps of the smallest lattice with at least ``count`` points."""
    steps = count - 1 if objectives == 2 else 1
    while _size(objectives, steps) < count:
        steps += 1
    return steps


def _lattice(objectives: int, steps: int) -> Array:
    """Return all weights that are multiples of 1/steps: stars and bars, in ascending order."""
    places = steps + objectives - 1
    bars = np.array(list(combinations(range(places), objectives - 1)))
    edges = np.concatenate([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), places)], axis=1)
    return np.asarray((np.diff(edges, axis=1) - 1) / steps)


def _spread(candidates: Array, count: int) -> Array:
    """Choose the corners, then repeatedly the candidate farthest from all chosen ones; ``[count, m]``, sorted."""
    chosen = [int(corner) for corner in candidates.argmax(0)]
    gaps = np.min([np.square(candidates - candidates[corner]).sum(1) for corner in chosen], axis=0)
    while len(chosen) < count:
        # Rounding must not decide between candidates at equal distances.
        chosen.append(int(gaps.round(12).argmax()))
        gaps = np.minimum(gaps, np.square(candidates - candidates[chosen[-1]]).sum(1))
    return candidates[sorted(chosen)]
