"""Advantage estimates as pure functions of tensors: ``[*B, T, m]`` in, ``[*B, T, m]`` out."""

from typing import Literal

import torch
from torch import Tensor

from morl_blocks import _checks

TimeLimit = Literal["bootstrap", "terminal"]
Mask = Literal["step", "next"]


def discounted_scan(delta: Tensor, decay: Tensor) -> Tensor:
    r"""Solve :math:`a_t = \delta_t + c_t\, a_{t+1}` with :math:`a_T = 0` for all times in :math:`\log_2 T` steps.

    Each pass doubles the number of steps that an entry has summed: :math:`a_t \leftarrow a_t + C_t\, a_{t+k}` and
    :math:`C_t \leftarrow C_t\, C_{t+k}`. It only multiplies decays and never divides by them, so for decays in ``[0,
    1]`` a long horizon can at worst underflow to zero, the correct limit.

    Args:
        delta: Summands, ``[*B, T, m]``.
        decay: Decays in ``[0, 1]``, ``[*B, T, m]`` or ``[*B, T, 1]``; zero ends the sum, even before NaN.

    Returns:
        Decayed sums from each time to the end, ``[*B, T, m]``.

    Example:
        >>> discounted_scan(torch.ones(3, 1), torch.full((3, 1), 0.5)).squeeze(-1)
        tensor([1.7500, 1.5000, 1.0000])
    """
    delta, decay = _checks.over_time("delta", delta), _checks.over_time("decay", decay)
    _checks.broadcastable("decay", decay, delta.shape)
    _checks.same_shape("decay", decay[..., 0], delta.shape[:-1])
    # Time is the last dimension, so that slices and the broadcast over the objectives stay contiguous.
    total, decay = delta.mT.contiguous(), decay.mT
    horizon, span = total.shape[-1], 1
    while span < horizon:
        reach = decay[..., : horizon - span]
        # Multiplying by zero would let NaN and infinity pass an episode end.
        tail = torch.where(reach == 0, 0.0, reach * total[..., span:])
        total = torch.cat([total[..., :-span] + tail, total[..., -span:]], dim=-1)
        decay = decay[..., :-span] * decay[..., span:]
        span *= 2
    return total.mT


def vector_gae(
    reward: Tensor,
    value: Tensor,
    next_value: Tensor,
    terminated: Tensor,
    done: Tensor,
    gamma: Tensor | float,
    lmbda: Tensor | float,
    *,
    time_limit: TimeLimit = "bootstrap",
    mask: Mask = "step",
) -> tuple[Tensor, Tensor]:
    r"""Estimate the advantage of each objective separately, over time in dimension -2.

    .. math::

        \delta_t &= r_t + \gamma (1 - \text{terminated}_t) V(s'_t) - V(s_t) \\
        A_t &= \delta_t + \gamma \lambda (1 - \text{done}_t) A_{t+1}, \qquad y_t = A_t + V(s_t)

    A time limit (``done`` without ``terminated``) ends the sum but still bootstraps from :math:`V(s'_t)`; a
    termination does not bootstrap, whatever ``next_value`` holds there. Nothing crosses an episode end, not even NaN.
    The end of the rollout bootstraps like a time limit.

    Two options give other readings of the paper; neither estimates the return of the environment.

    Args:
        reward: Reward, ``[*B, T, m]``.
        value: :math:`V(s_t)`, ``[*B, T, m]``.
        next_value: :math:`V(s'_t)` of the true next observation, the final one at an episode end, ``[*B, T, m]``.
        terminated: Whether the episode terminated, bool, ``[*B, T, 1]``.
        done: ``terminated`` or truncated, bool, ``[*B, T, 1]``.
        gamma: Discount in ``[0, 1]``, broadcastable to ``[*B, T, m]`` (``[m]``: one per objective).
        lmbda: Trace decay in ``[0, 1]``, broadcastable to ``[*B, T, m]``.
        time_limit: ``"bootstrap"``: as above; ``"terminal"``: a time limit counts as a termination.
        mask: ``"step"``: step t has its own ends; ``"next"``: it has those of step t + 1, and the last step its own.

    Returns:
        Advantage and λ-return (value target), both ``[*B, T, m]``.

    Example:
        >>> reward, value = torch.tensor([[1.0], [0.0], [2.0]]), torch.tensor([[0.5], [0.4], [0.3]])
        >>> next_value, never = torch.tensor([[0.4], [0.3], [0.2]]), torch.zeros(3, 1, dtype=torch.bool)
        >>> advantage, target = vector_gae(reward, value, next_value, never, never, gamma=0.99, lmbda=0.95)
        >>> advantage.squeeze(-1)
        tensor([2.4780, 1.6821, 1.8980])
    """
    _checks.choice("time_limit", time_limit, ("bootstrap", "terminal"))
    _checks.choice("mask", mask, ("step", "next"))
    reward, value, next_value = _vectors(reward, value, next_value)
    ends = torch.Size([*reward.shape[:-1], 1])
    terminated, done = _checks.flags("terminated", terminated, ends), _checks.flags("done", done, ends)
    gamma, lmbda = _discount("gamma", gamma, reward), _discount("lmbda", lmbda, reward)
    terminated, done = read_ends(terminated, done, time_limit, mask)
    bootstrap = torch.where(terminated, torch.zeros_like(next_value), next_value)
    delta = reward + gamma * bootstrap - value
    decay = (~done).to(delta.dtype) * (gamma * lmbda)
    advantage = discounted_scan(delta, decay)
    return advantage, advantage + value


def read_ends(terminated: Tensor, done: Tensor, time_limit: TimeLimit, mask: Mask) -> tuple[Tensor, Tensor]:
    """Return the steps that do not bootstrap and those that end the sum, for an option of :func:`vector_gae`.

    Args:
        terminated: Whether the episode terminated, bool, ``[*B, T, 1]``.
        done: ``terminated`` or truncated, bool, ``[*B, T, 1]``.
        time_limit: ``"bootstrap"`` or ``"terminal"``.
        mask: ``"step"`` or ``"next"``.

    Returns:
        Both as booleans, ``[*B, T, 1]``.

    Example:
        >>> terminated, done = torch.tensor([[False], [False], [True]]), torch.tensor([[False], [True], [True]])
        >>> read_ends(terminated, done, "terminal", "step")[0].squeeze(-1)
        tensor([False,  True,  True])
        >>> read_ends(terminated, done, "bootstrap", "next")[0].squeeze(-1)
        tensor([False,  True,  True])
    """
    done = done | terminated
    terminated = done if time_limit == "terminal" else terminated
    if mask == "next":
        terminated, done = (torch.cat([end[..., 1:, :], end[..., -1:, :]], -2) for end in (terminated, done))
    return terminated, done


def _vectors(reward: Tensor, value: Tensor, next_value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the three as floating point of one dtype and one shape, ``[*B, T, m]``."""
    reward = _checks.over_time("reward", reward)
    value, next_value = _checks.floats("value", value), _checks.floats("next_value", next_value)
    _checks.same_shape("value", value, reward.shape)
    _checks.same_shape("next_value", next_value, reward.shape)
    dtype = torch.promote_types(torch.promote_types(reward.dtype, value.dtype), next_value.dtype)
    return reward.to(dtype), value.to(dtype), next_value.to(dtype)


def _discount(name: str, value: Tensor | float, reward: Tensor) -> Tensor:
    """Return a checked discount in the dtype of the rewards."""
    value = _checks.like(name, value, reward)
    _checks.between(name, value, 0.0, 1.0)
    _checks.broadcastable(name, value, reward.shape)
    return value
