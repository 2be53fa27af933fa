"""Expected utility: the linear utility of mean returns."""

import numpy as np
import torch

from morl_blocks._checks import simplex
from morl_blocks.metrics.arrays import Array, Values, as_array, not_empty, same_objectives


def expected_utility(returns: Values, weights: Values) -> Array:
    r"""Weigh the raw mean returns by the preference (maximise): :math:`EU = w \cdot J`.

    Nothing is normalised, so the objective with the largest numbers dominates. Compare EU between methods on one
    preference of one environment, never across preferences or environments.

    Args:
        returns: Mean return of each objective, ``[*, m]``.
        weights: Preference on the simplex, ``[m]`` or broadcastable to ``[*, m]``.

    Returns:
        Utilities, ``[*]``.

    Example:
        >>> expected_utility([[10.0, 200.0], [20.0, 100.0]], [0.75, 0.25])
        array([57.5, 40. ])
    """
    array, preference = as_array("returns", returns, ndim=1), as_array("weights", weights, ndim=1)
    not_empty("returns", array)
    same_objectives("weights", preference, array.shape[-1])
    simplex("weights", torch.from_numpy(np.ascontiguousarray(preference)))
    return np.asarray((array * preference).sum(-1))
