"""Preference following: how well each policy serves the preference that it was trained or conditioned for."""

import numpy as np
import torch

from morl_blocks._checks import fail, same_shape, simplex
from morl_blocks.metrics.arrays import Array, Values, as_array, same_objectives
from morl_blocks.scalarizers import Scalarizer


def preference_regret(achieved: Values, weights: Values, scalarizer: Scalarizer, known: Values | None = None) -> Array:
    r"""Measure how much utility each preference loses because another available policy serves it better (minimise).

    .. math:: \text{regret}_p = \max_{z \in Z} U(z; w_p) - U(J_p; w_p)

    By default Z is the set of all policies of the same batch: a regret of 0 for every preference means that no other
    policy of the batch serves it better. Policies that ignore the preference, but differ by chance, have a regret above
    0. Policies that are all equal have a regret of 0, so look at :func:`preference_correlation` too. With a ``known``
    front, Z is that front and the regret is the distance to the optimum; it is negative for a policy above the front.

    Args:
        achieved: Mean return of the policy for each preference, normalised as the scalarizer expects, ``[*, P, m]``.
        weights: The preferences on the simplex, ``[P, m]``.
        scalarizer: The utility, such as ``SmoothTchebycheff(0.1)``; for ``sense="min"`` the regret is the cost above
            the lowest.
        known: Attainable points, ``[n, m]``; the policies themselves by default.

    Returns:
        Regrets in the utility's unit, ``[*, P]``.

    Example:
        >>> from morl_blocks.scalarizers import Linear
        >>> achieved, weights = [[0.9, 0.1], [0.8, 0.3], [0.1, 0.9]], [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
        >>> preference_regret(achieved, weights, Linear()).round(3)
        array([0.  , 0.6 , 0.05])
    """
    points, asked = _points(achieved, weights)
    if not isinstance(scalarizer, Scalarizer):
        fail("scalarizer", "be a Scalarizer such as SmoothTchebycheff(0.1)", repr(scalarizer))
    sign = 1.0 if scalarizer.sense == "max" else -1.0
    own = sign * _utility(scalarizer, points, np.broadcast_to(asked, points.shape))
    if known is None:
        others = np.expand_dims(points, -3)  # [*, 1, P, m]
    else:
        others = as_array("known", known, ndim=2)
        same_objectives("known", others, points.shape[-1])
        if others.ndim != 2 or not len(others):
            fail("known", "have shape [n, m] with n >= 1", f"shape {list(others.shape)}")
    shape = (*points.shape[:-1], others.shape[-2], points.shape[-1])
    pairs, preferences = np.broadcast_to(others, shape), np.broadcast_to(asked[:, None, :], shape)
    best = (sign * _utility(scalarizer, pairs, preferences)).max(-1)
    return np.asarray(best - own)


def preference_correlation(achieved: Values, weights: Values) -> Array:
    r"""Correlate the ranks of the requested weights and of the achieved returns, objective by objective (maximise).

    .. math:: \rho_i = \operatorname{corr}_p\bigl(\operatorname{rank} w_{pi}, \operatorname{rank} J_{pi}\bigr)

    Spearman's correlation over the preferences: 1 when more weight on an objective always gives more of it, 0 for
    policies that ignore the preference. Ties share their mean rank. Policies that are all equal follow nothing and have
    0. An objective with the same weight in every preference cannot be judged and has NaN.

    Args:
        achieved: Mean return of the policy for each preference, ``[*, P, m]``; on any increasing scale.
        weights: The preferences on the simplex, ``[P, m]`` with P >= 2.

    Returns:
        Correlations in [-1, 1], ``[*, m]``.

    Example:
        >>> preference_correlation([[0.1, 5.0], [0.2, 9.0], [0.4, 7.0]], [[0.2, 0.8], [0.5, 0.5], [0.8, 0.2]])
        array([ 1. , -0.5])
    """
    points, asked = _points(achieved, weights)
    if len(asked) < 2:
        fail("weights", "hold at least 2 preferences", len(asked))
    given, got = _centred(_ranks(asked)), _centred(_ranks(points))
    product, size = (given * got).sum(-2), np.sqrt((given**2).sum(-2) * (got**2).sum(-2))
    followed = np.divide(product, size, out=np.zeros_like(product), where=size > 0)
    return np.asarray(np.where((given**2).sum(-2) > 0, followed, np.nan))


def _points(achieved: Values, weights: Values) -> tuple[Array, Array]:
    """Return checked ``achieved`` and ``weights``."""
    points, asked = as_array("achieved", achieved, ndim=2), as_array("weights", weights, ndim=2)
    if asked.ndim != 2 or not len(asked) or asked.shape[1] < 2:
        fail("weights", "have shape [P, m] with m >= 2", f"shape {list(asked.shape)}")
    simplex("weights", torch.from_numpy(np.ascontiguousarray(asked)))
    if points.shape[-2:] != asked.shape:
        fail("achieved", f"have shape [*, {asked.shape[0]}, {asked.shape[1]}]", f"shape {list(points.shape)}")
    return points, asked


def _utility(scalarizer: Scalarizer, points: Array, weights: Array) -> Array:
    """Return utilities, ``[*]`` for ``[*, m]``, in double precision."""
    with torch.no_grad():
        pair = (torch.from_numpy(np.array(array)) for array in (points, weights))
        result = scalarizer(*pair)
    same_shape("scalarizer", result, torch.Size(points.shape[:-1]))
    return np.asarray(result.numpy())


def _ranks(values: Array) -> Array:
    """Return the rank of each number among those of its objective, ties at their mean, ``[*, P, m]``."""
    below = (np.expand_dims(values, -3) < np.expand_dims(values, -2)).sum(-2)
    equal = (np.expand_dims(values, -3) == np.expand_dims(values, -2)).sum(-2)
    return np.asarray(below + (equal - 1) / 2)


def _centred(ranks: Array) -> Array:
    return np.asarray(ranks - ranks.mean(-2, keepdims=True))
