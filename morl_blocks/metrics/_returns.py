"""Discounted vector returns of played episodes."""

import numpy as np

from morl_blocks._checks import fail
from morl_blocks.metrics.arrays import Array, Values, as_array, as_number, real_array


def discounted_returns(rewards: Values, done: Values, gamma: float = 1.0) -> Array:
    r"""Add up the discounted rewards of the first episode in every column (maximise).

    .. math:: J_n = \sum_{t=0}^{T_n} \gamma^t r_{t,n}, \qquad T_n = \min\{t : done_{t,n}\}

    The first reward is not discounted. Rewards after the end of an episode are never read and may be NaN. An episode
    that does not end counts as cut off at T. Both termination and truncation end an episode: pass ``terminated |
    truncated``.

    Args:
        rewards: One vector per step and environment, ``[T, N, m]``.
        done: Whether the episode ended with that step, ``[T, N]`` or ``[T, N, 1]``.
        gamma: Discount, in (0, 1].

    Returns:
        Returns, ``[N, m]``.

    Example:
        >>> rewards = [[[1.0, 0.0]], [[1.0, 2.0]], [[9.0, 9.0]]]
        >>> discounted_returns(rewards, [[False], [True], [False]], gamma=0.5)
        array([[1.5, 1. ]])
    """
    discount = as_number("gamma", gamma)
    if not 0 < discount <= 1:
        fail("gamma", "lie in (0, 1]", gamma)
    ends = as_array("done", done, ndim=2) != 0
    raw = real_array("rewards", rewards)
    if raw.ndim != 3 or not raw.shape[0]:
        fail("rewards", "have shape [T, N, m] with T >= 1", f"shape {list(raw.shape)}")
    if ends.shape not in (raw.shape[:2], (*raw.shape[:2], 1)):
        fail("done", f"have shape {list(raw.shape[:2])}", f"shape {list(ends.shape)}")
    ended = ends.reshape(raw.shape[:2])
    playing = np.cumsum(ended, axis=0) - ended == 0
    earned = as_array("rewards", np.where(playing[..., None], raw, 0.0))
    return np.asarray(np.einsum("t,tnm->nm", discount ** np.arange(len(raw)), earned))
