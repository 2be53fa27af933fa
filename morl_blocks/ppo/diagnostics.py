"""Diagnostics of PPO training, without gradients. NaN inputs give NaN."""

import torch
from torch import Tensor

from morl_blocks import _checks


def approximate_kl(log_prob: Tensor, old_log_prob: Tensor) -> Tensor:
    r"""Estimate :math:`\operatorname{KL}(\pi_{\text{old}} \| \pi)` by the mean of :math:`\rho - 1 - \log\rho \ge 0`.

    A ratio beyond the range of the dtype is clamped to the largest finite number.

    Args:
        log_prob: Log-probabilities under the current policy, ``[*R, B]``.
        old_log_prob: Log-probabilities when the actions were taken, ``[*R, B]``.

    Returns:
        Estimate, ``[*R]``.

    Example:
        >>> approximate_kl(torch.tensor([2.0]).log(), torch.zeros(1))
        tensor(0.3069)
    """
    log_ratio, dtype = _log_ratio(log_prob, old_log_prob)
    largest = torch.finfo(dtype).max
    return (
        ((log_ratio.expm1() - log_ratio).clamp(0, largest) / log_ratio.shape[-1]).sum(-1).clamp(max=largest).to(dtype)
    )


def clip_fraction(log_prob: Tensor, old_log_prob: Tensor, clip: Tensor | float) -> Tensor:
    """Return the share of actions whose probability ratio left the clip range, ``[*R, B] -> [*R]``.

    Example:
        >>> clip_fraction(torch.tensor([1.3, 1.1]).log(), torch.zeros(2), clip=0.2)
        tensor(0.5000)
    """
    log_ratio, dtype = _log_ratio(log_prob, old_log_prob)
    limit = _checks.like("clip", clip, log_ratio)
    _checks.positive("clip", limit)
    _checks.broadcastable("clip", limit, log_ratio.shape)
    outside = (log_ratio.expm1().abs() > limit).to(log_ratio.dtype)
    return torch.where(log_ratio.isnan(), torch.nan, outside).mean(-1).to(dtype)


def explained_variance(value: Tensor, target: Tensor) -> Tensor:
    r"""Return :math:`1 - \operatorname{Var}(y - V)/\operatorname{Var}(y)` of each objective; 0 for constant targets.

    Args:
        value: Critic's values, ``[*R, B, m]``.
        target: Value targets, ``[*R, B, m]``.

    Returns:
        1 for a perfect critic, 0 for one that predicts a constant, ``[*R, m]``; clamped to the dtype's range.

    Example:
        >>> target = torch.tensor([[0.0, 1.0], [2.0, 1.0]])
        >>> explained_variance(torch.tensor([[0.0, 0.0], [1.0, 0.0]]), target)
        tensor([0.7500, 0.0000])
    """
    value, target = _checks.over_time("value", value), _checks.over_time("target", target)
    _checks.same_shape("target", target, value.shape)
    dtype = torch.promote_types(value.dtype, target.dtype)
    value, target = _checks.wide(value), _checks.wide(target)
    unit = torch.maximum(value.abs().amax(-2, keepdim=True), target.abs().amax(-2, keepdim=True)).clamp_min(1e-30)
    value, target = value / unit, target / unit
    # Constant targets are detected by their range, because rounding of their mean would leave a variance.
    unexplained, total = (target - value).var(-2, correction=0), target.var(-2, correction=0)
    constant = target.amax(-2) == target.amin(-2)
    ratio = torch.where(constant, 1.0, unexplained / total.masked_fill(constant | (total == 0), 1.0))
    carried = torch.where(value.isnan().any(-2), torch.nan, 1 - ratio)
    return carried.clamp(min=torch.finfo(dtype).min).to(dtype)


def _log_ratio(log_prob: Tensor, old_log_prob: Tensor) -> tuple[Tensor, torch.dtype]:
    """Return the log of the probability ratio in float64 where the device has it, and the dtype of the result."""
    new, old = _checks.floats("log_prob", log_prob), _checks.floats("old_log_prob", old_log_prob)
    _checks.features("log_prob", new, new.shape[-1] if new.dim() else 1)
    _checks.same_shape("old_log_prob", old, new.shape)
    if not new.shape[-1]:
        _checks.fail("log_prob", "hold at least one action", f"shape {list(new.shape)}")
    return _checks.wide(new) - _checks.wide(old), torch.promote_types(new.dtype, old.dtype)
