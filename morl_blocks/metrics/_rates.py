"""How often a method is strictly the best: over preferences, and over (preference, objective) cells."""

import numpy as np

from morl_blocks.metrics.arrays import Array, Values, as_array, not_empty


def strict_best(scores: Array) -> Array:
    """Return 1 where a method (second to last axis) is the only one at the maximum, else 0."""
    best = scores == scores.max(-2, keepdims=True)
    return np.asarray(best & (best.sum(-2, keepdims=True) == 1), dtype=np.float64)


def win_rate(hv: Values) -> Array:
    r"""Return, for each method, the share of preferences on which it alone has the highest score (maximise).

    .. math:: W_k = \frac1P \sum_p \mathbf 1\{h_{kp} > h_{jp}\ \forall j \ne k\}

    A tie counts for no method, so the rates of all methods sum to at most 1. The size of a lead does not matter. Adding
    a method can only lower the rates of the others. A single method has the rate 1.

    Args:
        hv: Mean score of each method on each preference, ``[*, methods, preferences]``.

    Returns:
        Rates in [0, 1], ``[*, methods]``.

    Example:
        >>> win_rate([[0.3, 0.2, 0.1, 0.5], [0.2, 0.2, 0.4, 0.1]])
        array([0.5 , 0.25])
    """
    scores = as_array("hv", hv, ndim=2)
    not_empty("hv", scores)
    return np.asarray(strict_best(scores).mean(-1))


def objective_dominance_rate(objectives: Values) -> Array:
    """Return the share of (preference, objective) cells in which each method alone has the highest return (maximise).

    Args:
        objectives: Mean return of each objective, ``[*, methods, preferences, m]``.

    Returns:
        Rates in [0, 1], ``[*, methods]``; a tied cell counts for no method.

    Example:
        >>> objective_dominance_rate([[[1.0, 5.0]], [[2.0, 5.0]]])
        array([0. , 0.5])
    """
    returns = as_array("objectives", objectives, ndim=3)
    not_empty("objectives", returns)
    cells = returns.reshape(*returns.shape[:-2], -1)
    return np.asarray(strict_best(cells).mean(-1))
