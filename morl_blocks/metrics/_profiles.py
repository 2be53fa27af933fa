"""Dolan-More performance profiles: how often a method is within a factor of the best.

Reference: E. D. Dolan and J. J. More, "Benchmarking optimization software with performance profiles", 2002.
"""

import numpy as np

from morl_blocks._checks import fail
from morl_blocks.metrics.arrays import Array, Values, as_array, as_number, not_empty, not_negative


def performance_ratios(hv: Values) -> Array:
    r"""Divide the best score on each instance by each method's score: 1 is best, larger is worse.

    .. math:: r_{ki} = \max_j h_{ji} / h_{ki}, \qquad r_{ki} = \infty \text{ where } h_{ki} = 0

    Args:
        hv: Scores >= 0, higher is better, ``[*, methods, instances]``.

    Returns:
        Ratios in [1, inf], same shape. Where every method scored 0, all ratios are infinite.

    Example:
        >>> performance_ratios([[0.4, 0.1], [0.2, 0.0]])
        array([[ 1.,  1.],
               [ 2., inf]])
    """
    scores = as_array("hv", hv, ndim=2)
    not_empty("hv", scores)
    not_negative("hv", scores)
    best = np.broadcast_to(scores.max(-2, keepdims=True), scores.shape)
    return np.asarray(np.divide(best, scores, out=np.full(scores.shape, np.inf), where=scores > 0))


def profile(hv: Values, taus: Values) -> Array:
    r"""Return, for each method, the share of instances on which it is within a factor of the best.

    .. math:: \rho_k(\tau) = \frac1I \sum_i \mathbf 1\{r_{ki} \le \tau\}

    Args:
        hv: Scores >= 0, higher is better, ``[*, methods, instances]``.
        taus: Factors >= 1, ``[T]``.

    Returns:
        Shares in [0, 1], never falling with tau, ``[*, methods, T]``.

    Example:
        >>> profile([[0.4, 0.1], [0.2, 0.1]], [1.0, 2.0])
        array([[1. , 1. ],
               [0.5, 1. ]])
    """
    factors = as_array("taus", taus, ndim=1)
    not_empty("taus", factors)
    if factors.ndim != 1:
        fail("taus", "be [T]", f"shape {list(factors.shape)}")
    if (factors < 1).any():
        fail("taus", "be >= 1", factors.min())
    ratios = performance_ratios(hv)
    return np.asarray((ratios[..., None] <= factors).mean(-2))


def profile_auc(hv: Values, tau_max: float = 3.0) -> Array:
    r"""Average the performance profile over tau in [1, ``tau_max``] (the paper's DMP AUC).

    .. math:: \frac{1}{\tau_{max}-1}\int_1^{\tau_{max}} \rho_k(\tau)\,d\tau
        = \frac1I \sum_i \operatorname{clip}\Big(\frac{\tau_{max} - r_{ki}}{\tau_{max} - 1}, 0, 1\Big)

    Args:
        hv: Scores >= 0, higher is better, ``[*, methods, instances]``; an instance is a (preference, seed) pair.
        tau_max: Factor from which on a method counts as failed on an instance, > 1.

    Returns:
        Areas in [0, 1], ``[*, methods]``.

    Example:
        >>> profile_auc([[1.0, 1.0, 1.0, 1.0], [1.0, 1 / 1.5, 1 / 2, 1 / 4]])
        array([1.    , 0.5625])
    """
    return np.asarray(credits_of(performance_ratios(hv), tau_max).mean(-1))


def credits_of(ratios: Array, tau_max: float) -> Array:
    """Return each instance's contribution to the area under the profile, in [0, 1]; it is 1 at a ratio of 1."""
    tau_max = as_number("tau_max", tau_max)
    if not tau_max > 1:
        fail("tau_max", "be finite and > 1", tau_max)
    return np.asarray(np.clip((tau_max - ratios) / (tau_max - 1), 0.0, 1.0))
