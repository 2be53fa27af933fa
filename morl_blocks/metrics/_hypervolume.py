"""Hypervolume of a point set, and the paper's hypervolume of a single run."""

import numpy as np

from morl_blocks._checks import fail
from morl_blocks._extras import needs
from morl_blocks.metrics.arrays import Array, Values, as_array, not_empty, same_objectives


@needs("moocore")
def hypervolume(points: Values, reference: Values) -> float:
    r"""Measure the volume that a set of points dominates above a reference point (maximise).

    .. math:: HV(P; r) = \lambda\Big(\bigcup_{p \in P} [r, p]\Big), \quad [r, p] = \prod_i [r_i, p_i]

    Exact, through moocore. Points that do not exceed the reference in every objective add nothing; an empty set has
    volume 0; duplicates and dominated points change nothing. moocore silently drops points with NaN, so NaN and
    infinite numbers raise an error here.

    Args:
        points: One row per policy, ``[n, m]`` with m >= 2.
        reference: The point that other points must exceed to count, ``[m]``.

    Returns:
        The volume, >= 0, in the product of the objectives' units.

    Example:
        >>> round(hypervolume([[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]], [0.0, 0.0]), 12)
        0.37
    """
    array, corner = as_array("points", points, ndim=2), as_array("reference", reference, ndim=1)
    if array.ndim != 2 or array.shape[1] < 2:
        fail("points", "have shape [n, m] with m >= 2", f"shape {list(array.shape)}")
    if corner.shape != array.shape[1:]:
        fail("reference", f"have shape [{array.shape[1]}]", f"shape {list(corner.shape)}")
    if not len(array):
        return 0.0
    import moocore

    return float(moocore.hypervolume(array, ref=corner, maximise=True))


def run_hypervolume(returns: Values, low: Values, high: Values) -> Array:
    r"""Score one policy by the product of its normalised returns (maximise); the paper's "hypervolume".

    .. math:: HV(J) = \prod_i \operatorname{clip}\Big(\frac{J_i - lo_i}{hi_i - lo_i}, 0, 1\Big)

    It is the hypervolume of the single point J in the box [lo, hi], so it says nothing about a front, is zero as soon
    as one objective is at its lower bound, and favours balanced policies. The bounds must be the same for every run
    that is compared.

    Args:
        returns: Mean return of each objective, ``[*, m]``.
        low: Return that counts as 0, ``[m]``.
        high: Return that counts as 1, above ``low``, ``[m]``.

    Returns:
        Scores in [0, 1], ``[*]``.

    Example:
        >>> run_hypervolume([[5.0, 20.0], [10.0, 0.0]], low=[0.0, 0.0], high=[10.0, 40.0])
        array([0.25, 0.  ])
    """
    array = as_array("returns", returns, ndim=1)
    not_empty("returns", array)
    bottom, top = as_array("low", low, ndim=1), as_array("high", high, ndim=1)
    same_objectives("low", bottom, array.shape[-1])
    same_objectives("high", top, array.shape[-1])
    if not (top > bottom).all():
        fail("high", "exceed `low` in every objective", f"{top.tolist()} with low {bottom.tolist()}")
    normalised: Array = np.clip((array - bottom) / (top - bottom), 0.0, 1.0)
    return np.asarray(normalised.prod(-1))
