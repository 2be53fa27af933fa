"""Generalised advantage estimation that keeps the objectives apart: ``[*B, T, m]`` in, ``[*B, T, m]`` out."""

import torch
from torch import Tensor


def discounted_scan(delta: Tensor, decay: Tensor) -> Tensor:
    r"""Solve :math:`a_t = \delta_t + c_t\, a_{t+1}` with :math:`a_T = 0` for all times in :math:`\log_2 T` steps.

    Each pass doubles the span that an entry has summed: :math:`a_t \leftarrow a_t + C_t\, a_{t+k}` and
    :math:`C_t \leftarrow C_t\, C_{t+k}`. Only products of decays appear, never a quotient, so for decays in
    ``[0, 1]`` a long horizon can at worst underflow to the right answer, zero.

    Args:
        delta: Summands, ``[*B, T, m]``.
        decay: Decays in ``[0, 1]``, ``[*B, T, m]`` or ``[*B, T, 1]``; zero cuts the sum.

    Returns:
        Decayed sums from each time to the end, ``[*B, T, m]``.

    Example:
        >>> discounted_scan(torch.ones(3, 1), torch.full((3, 1), 0.5)).squeeze(-1)
        tensor([1.7500, 1.5000, 1.0000])
    """
    horizon = delta.shape[-2]
    total, span = delta, 1
    while span < horizon:
        head = total[..., :-span, :] + decay[..., : horizon - span, :] * total[..., span:, :]
        total = torch.cat([head, total[..., -span:, :]], dim=-2)
        decay = decay[..., :-span, :] * decay[..., span:, :]
        span *= 2
    return total


def vector_gae(
    reward: Tensor,
    value: Tensor,
    next_value: Tensor,
    terminated: Tensor,
    done: Tensor,
    gamma: Tensor | float,
    lmbda: Tensor | float,
) -> tuple[Tensor, Tensor]:
    r"""Estimate the advantage of each objective by itself, over time in dimension -2.

    .. math::

        \delta_t &= r_t + \gamma (1 - \text{terminated}_t) V(s'_t) - V(s_t) \\
        A_t &= \delta_t + \gamma \lambda (1 - \text{done}_t) A_{t+1}, \qquad y_t = A_t + V(s_t)

    A time limit (``done`` without ``terminated``) ends the sum but still bootstraps from :math:`V(s'_t)`; a
    termination does not bootstrap, whatever ``next_value`` holds there. Nothing crosses an episode end. The end of
    the rollout bootstraps like a time limit.

    Args:
        reward: Reward, ``[*B, T, m]``.
        value: :math:`V(s_t)`, ``[*B, T, m]``.
        next_value: :math:`V(s'_t)` of the true next observation, the final one at an episode end, ``[*B, T, m]``.
        terminated: Whether the episode came to its own end, bool, ``[*B, T, 1]``.
        done: ``terminated`` or truncated, bool, ``[*B, T, 1]``.
        gamma: Discount in ``[0, 1]``, broadcastable to ``[*B, T, m]`` (``[m]``: one per objective).
        lmbda: Trace decay in ``[0, 1]``, broadcastable to ``[*B, T, m]``.

    Returns:
        Advantage and λ-return (value target), both ``[*B, T, m]``.

    Example:
        >>> reward, value = torch.tensor([[1.0], [0.0], [2.0]]), torch.tensor([[0.5], [0.4], [0.3]])
        >>> next_value, never = torch.tensor([[0.4], [0.3], [0.2]]), torch.zeros(3, 1, dtype=torch.bool)
        >>> advantage, target = vector_gae(reward, value, next_value, never, never, gamma=0.99, lmbda=0.95)
        >>> advantage.squeeze(-1)
        tensor([2.4780, 1.6821, 1.8980])
    """
    bootstrap = torch.where(terminated, torch.zeros_like(next_value), next_value)
    delta = reward + gamma * bootstrap - value
    decay = (~(done | terminated)).to(delta.dtype) * (gamma * lmbda)
    advantage = discounted_scan(delta, decay)
    return advantage, advantage + value
