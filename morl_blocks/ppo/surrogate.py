"""The clipped surrogate of PPO, one loss per objective, and the base class of such losses."""

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from morl_blocks import _checks


def largest_log_ratio(dtype: torch.dtype) -> float:
    """Return the log-ratio at which :func:`probability_ratio` is clamped: 62.1 in float32."""
    return 0.7 * math.log(torch.finfo(dtype).max)


def probability_ratio(log_prob: Tensor, old_log_prob: Tensor) -> Tensor:
    r"""Return :math:`\rho = \pi(a)/\pi_{\text{old}}(a)`, clamped where it would leave the range of the dtype.

    In float32 it is clamped at 9e26, because an infinite ratio times an advantage of zero is NaN. Its derivative with
    respect to ``log_prob`` is the ratio itself, and 0 where it is clamped.

    Args:
        log_prob: Log-probabilities under the current policy, ``[*]``.
        old_log_prob: Log-probabilities when the actions were taken, ``[*]``.

    Returns:
        Ratios, ``[*]``.

    Example:
        >>> probability_ratio(torch.tensor([1.3, 0.7]).log(), torch.zeros(2))
        tensor([1.3000, 0.7000])
    """
    log_prob, old_log_prob = _checks.alike(log_prob=log_prob, old_log_prob=old_log_prob)
    _checks.same_shape("old_log_prob", old_log_prob, log_prob.shape)
    return (log_prob - old_log_prob).clamp(max=largest_log_ratio(log_prob.dtype)).exp()


def clipped_objectives(log_prob: Tensor, old_log_prob: Tensor, advantage: Tensor, clip: Tensor | float) -> Tensor:
    r"""Return the clipped surrogate of each objective, as losses to minimise.

    .. math:: L_i = -\frac1B \sum_b \min\bigl(\rho_b A_{b,i},\ \operatorname{clip}(\rho_b, 1-\epsilon, 1+\epsilon)
              A_{b,i}\bigr), \qquad \rho_b = \pi(a_b)/\pi_{\text{old}}(a_b)

    Only the batch is averaged; objectives (and leading run dimensions) stay separate.

    Args:
        log_prob: Log-probabilities under the current policy, ``[*R, B]``.
        old_log_prob: Log-probabilities when the actions were taken, ``[*R, B]``.
        advantage: Advantages, ``[*R, B, m]``.
        clip: Clip range ε > 0, broadcastable to ``[*R, B]``.

    Returns:
        Losses, ``[*R, m]``.

    Example:
        >>> ratio = torch.tensor([1.3, 0.7])
        >>> clipped_objectives(ratio.log(), torch.zeros(2), torch.tensor([[2.0, -2.0], [2.0, -2.0]]), clip=0.2)
        tensor([-1.9000,  2.1000])
    """
    log_prob, old_log_prob, advantage = _checks.alike(log_prob=log_prob, old_log_prob=old_log_prob, advantage=advantage)
    clip = _checks.like("clip", clip, log_prob)
    _checks.positive("clip", clip)
    _checks.broadcastable("clip", clip, log_prob.shape)
    if not log_prob.dim() or not log_prob.shape[-1]:
        _checks.fail("log_prob", "be [*R, B] with B >= 1", f"shape {list(log_prob.shape)}")
    ratio = probability_ratio(log_prob, old_log_prob)
    if log_prob.shape != advantage.shape[:-1] or not advantage.shape[-1]:
        rule = f"have the shape {[*log_prob.shape, 'm']}"
        _checks.fail("advantage", rule, f"shape {list(advantage.shape)}")
    clipped = ratio.clamp(1 - clip, 1 + clip)
    surrogate = torch.minimum(ratio.unsqueeze(-1) * advantage, clipped.unsqueeze(-1) * advantage)
    return -surrogate.mean(-2)


class ObjectiveLoss(nn.Module, ABC):
    """One policy loss per objective, from probabilities and advantages; never summed over the objectives.

    To write a loss, implement :meth:`forward`. It works in :class:`~morl_blocks.ppo.VectorClipPPOLoss`
    (``objective_loss=...``) and in a recipe's ``loss`` slot.
    """

    @abstractmethod
    def forward(self, log_prob: Tensor, old_log_prob: Tensor, advantage: Tensor, clip: Tensor | float) -> Tensor:
        """Return losses to minimise, ``[m]``, for ``[B]``, ``[B]``, ``[B, m]`` and the clip range of the recipe."""


class ClippedSurrogate(ObjectiveLoss):
    """PPO's loss: :func:`clipped_objectives`.

    Example:
        >>> ClippedSurrogate()(torch.zeros(2), torch.zeros(2), torch.ones(2, 3), 0.2)
        tensor([-1., -1., -1.])
    """

    def forward(self, log_prob: Tensor, old_log_prob: Tensor, advantage: Tensor, clip: Tensor | float) -> Tensor:
        """Return losses to minimise, ``[*R, m]``."""
        return clipped_objectives(log_prob, old_log_prob, advantage, clip)
