"""What to watch while PPO trains; none of it needs a gradient."""

import torch
from torch import Tensor


def approximate_kl(log_prob: Tensor, old_log_prob: Tensor) -> Tensor:
    r"""Estimate :math:`\operatorname{KL}(\pi_{\text{old}} \| \pi)` by the mean of :math:`\rho - 1 - \log\rho \ge 0`.

    Args:
        log_prob: Log-probabilities under the current policy, ``[*R, B]``.
        old_log_prob: Log-probabilities when the actions were taken, ``[*R, B]``.

    Returns:
        Estimate, ``[*R]``.

    Example:
        >>> approximate_kl(torch.tensor([2.0]).log(), torch.zeros(1))
        tensor(0.3069)
    """
    log_ratio = log_prob - old_log_prob
    return (log_ratio.exp() - 1 - log_ratio).mean(-1)


def clip_fraction(log_prob: Tensor, old_log_prob: Tensor, clip: Tensor | float) -> Tensor:
    """Return the share of actions whose probability ratio left the clip range, ``[*R, B] -> [*R]``.

    Example:
        >>> clip_fraction(torch.tensor([1.3, 1.1]).log(), torch.zeros(2), clip=0.2)
        tensor(0.5000)
    """
    ratio = (log_prob - old_log_prob).exp()
    return ((ratio - 1).abs() > clip).to(ratio.dtype).mean(-1)


def explained_variance(value: Tensor, target: Tensor) -> Tensor:
    r"""Return :math:`1 - \operatorname{Var}(y - V)/\operatorname{Var}(y)` of each objective; 0 for constant targets.

    Args:
        value: Critic's values, ``[*R, B, m]``.
        target: Value targets, ``[*R, B, m]``.

    Returns:
        1 for a perfect critic, 0 for one that predicts a constant, ``[*R, m]``.

    Example:
        >>> target = torch.tensor([[0.0, 1.0], [2.0, 1.0]])
        >>> explained_variance(torch.tensor([[0.0, 0.0], [1.0, 0.0]]), target)
        tensor([0.7500, 0.0000])
    """
    unexplained, total = (target - value).var(-2, correction=0), target.var(-2, correction=0)
    return torch.where(total > 0, 1 - unexplained / total, 0.0)
