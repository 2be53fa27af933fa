"""Distance of a front from a known exact one."""

from typing import NamedTuple

import numpy as np

from morl_blocks.metrics import additive_epsilon, front_hypervolume, igd_plus
from morl_blocks.metrics.arrays import Values, as_array, same_objectives
from morl_envs import exact_front
from morl_recipes.recipe.protocols import protocol

TOLERANCE = 1e-3
"""A known point is found if a point comes within this share of the front's range in each objective."""


class ExactDistance(NamedTuple):
    """Distance of a front from the exact one.

    Attributes:
        hv_share: Hypervolume as a share of the exact front's; 1 is perfect, 0 if no point exceeds the reference.
        igd_plus: Mean shortfall, in the objectives' units; 0 is perfect.
        epsilon: Largest shortfall of any known point in any objective; 0 is perfect.
        found: Number of points of the exact front that were found.
        total: Number of points of the exact front.
    """

    hv_share: float
    igd_plus: float
    epsilon: float
    found: int
    total: int


def distance_to_exact(
    points: Values, env: str, gamma: float = 1.0, *, reference: Values | None = None
) -> ExactDistance:
    r"""Compare a front with the exact one of a small environment.

    The exact front is that of :func:`morl_envs.exact_front`: it maximises, and the first reward is not discounted. Its
    points are *expected* returns. In a stochastic environment (resource gathering) the mean of few episodes may exceed
    them, and ``hv_share`` may exceed 1.

    Args:
        points: Mean return of each policy, discounted by ``gamma`` like the exact front, ``[n, m]``.
        env: An environment with a known front, such as ``"deep-sea-treasure-v0"``.
        gamma: Discount of the returns, in (0, 1].
        reference: Reference point ``[m]``; by default that of ``protocol("exact")``.

    Returns:
        Shares and distances; see :class:`ExactDistance`.

    Example:
        >>> distance_to_exact([[0.7, -1.0], [23.7, -19.0]], "deep-sea-treasure-v0")._asdict()["found"]
        2
    """
    exact, found_points = exact_front(env, gamma), as_array("points", points, ndim=2)
    same_objectives("points", found_points, exact.shape[1])
    corner = protocol("exact").task(env).reference if reference is None else reference
    share = front_hypervolume(points, corner, allow_empty=True) / front_hypervolume(exact, corner)
    spread = np.ptp(exact, axis=0)
    away = np.abs(exact[:, None] - found_points) / np.where(spread > 0, spread, 1.0)
    found = int((away.max(-1) <= TOLERANCE).any(1).sum())
    return ExactDistance(share, igd_plus(points, exact), additive_epsilon(points, exact), found, len(exact))
