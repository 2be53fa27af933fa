"""Distributions over actions as pure functions: a Gaussian in the unit box, a categorical for discrete actions.

The sampling functions take the noise as an argument, so each run can use its own generator.
"""

import math

import torch
from torch import Tensor

from morl_blocks import _checks

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def gaussian_sample(mean: Tensor, log_std: Tensor, noise: Tensor) -> Tensor:
    r"""Draw :math:`u = \mu + \sigma\,\epsilon` from standard normal noise of the same shape; not clipped.

    Example:
        >>> gaussian_sample(torch.tensor([0.5]), torch.tensor([0.0]), torch.tensor([-1.0]))
        tensor([-0.5000])
    """
    mean, log_std, noise = _checks.alike(mean=mean, log_std=log_std, noise=noise)
    _checks.broadcastable("mean", mean, noise.shape)
    _checks.broadcastable("log_std", log_std, noise.shape)
    return mean + log_std.exp() * noise


def gaussian_log_prob(action: Tensor, mean: Tensor, log_std: Tensor) -> Tensor:
    r"""Evaluate the log-density of an unclipped unit-box action.

    .. math:: \log \pi(u) = -\sum_j \tfrac12 \Bigl(\frac{u_j - \mu_j}{\sigma_j}\Bigr)^2 + \log \sigma_j
              + \tfrac12 \log 2\pi

    Args:
        action: Samples before the clip, ``[*B, a]``.
        mean: Means, ``[*B, a]``.
        log_std: Log standard deviations, broadcastable to ``[*B, a]``.

    Returns:
        Log-densities summed over the action dimensions, ``[*B]``.

    Example:
        >>> gaussian_log_prob(torch.zeros(2), torch.zeros(2), torch.zeros(2))
        tensor(-1.8379)
    """
    action, mean, log_std = _checks.alike(action=action, mean=mean, log_std=log_std)
    _checks.features("mean", mean, mean.shape[-1] if mean.dim() else 1)
    _checks.same_shape("action", action, mean.shape)
    _checks.broadcastable("log_std", log_std, mean.shape)
    scaled = (action - mean) * (-log_std).exp()
    return -(0.5 * scaled.square() + log_std + _HALF_LOG_2PI).sum(-1)


def gaussian_entropy(log_std: Tensor) -> Tensor:
    r"""Return the entropy :math:`\sum_j \log\sigma_j + \tfrac12 \log 2\pi e`, ``[*B, a] -> [*B]``.

    Example:
        >>> gaussian_entropy(torch.zeros(2))
        tensor(2.8379)
    """
    log_std = _checks.floats("log_std", log_std)
    _checks.features("log_std", log_std, log_std.shape[-1] if log_std.dim() else 1)
    return (log_std + (_HALF_LOG_2PI + 0.5)).sum(-1)


def unit_box_to_action(unit_action: Tensor, low: Tensor, high: Tensor) -> Tensor:
    r"""Clip to the unit box and map it to the action space: :math:`\text{low} + u\,(\text{high} - \text{low})`.

    Args:
        unit_action: Samples of the policy, ``[*B, a]``.
        low: Lower action bounds, broadcastable to ``[*B, a]``.
        high: Upper action bounds, broadcastable to ``[*B, a]``.

    Returns:
        Actions within the bounds; 0 and 1 map to the bounds exactly, ``[*B, a]``.

    Example:
        >>> unit_box_to_action(torch.tensor([-3.0, 0.5, 1.0]), torch.tensor(-1.0), torch.tensor(1.0))
        tensor([-1.,  0.,  1.])
    """
    unit_action = _checks.floats("unit_action", unit_action)
    low, high = _checks.like("low", low, unit_action), _checks.like("high", high, unit_action)
    _checks.broadcastable("low", low, unit_action.shape)
    _checks.broadcastable("high", high, unit_action.shape)
    return torch.lerp(low, high, unit_action.clamp(0.0, 1.0))


def categorical_sample(logits: Tensor, noise: Tensor) -> Tensor:
    r"""Draw an action index by the Gumbel trick from uniform noise.

    .. math:: \arg\max_k\ \ell_k - \log(-\log \epsilon_k)

    Args:
        logits: Unnormalised log-probabilities, ``[*B, k]``.
        noise: Uniform numbers in ``[0, 1)``, ``[*B, k]``.

    Returns:
        Indices, ``[*B]``, int64.

    Example:
        >>> categorical_sample(torch.tensor([0.0, 50.0, 0.0]), torch.tensor([0.9, 0.1, 0.5]))
        tensor(1)
    """
    logits, noise = _checks.alike(logits=logits, noise=noise)
    _checks.objectives("logits", logits, minimum=1)
    _checks.broadcastable("logits", logits, noise.shape)
    tiny = torch.finfo(noise.dtype).tiny
    return (logits - (-noise.clamp_min(tiny).log()).log()).argmax(-1)


def categorical_log_prob(action: Tensor, logits: Tensor) -> Tensor:
    """Return the log-probability of action indices ``[*B]`` under logits ``[*B, k]``.

    Example:
        >>> categorical_log_prob(torch.tensor(1), torch.zeros(4))
        tensor(-1.3863)
    """
    logits, action = _checks.floats("logits", logits), _checks.indices("action", action)
    _checks.objectives("logits", logits, minimum=1)
    _checks.same_shape("action", action, logits.shape[:-1])
    _checks.within("action", action, logits.shape[-1])
    return logits.log_softmax(-1).gather(-1, action.unsqueeze(-1)).squeeze(-1)


def categorical_entropy(logits: Tensor) -> Tensor:
    """Return the entropy of logits, ``[*B, k] -> [*B]``.

    Example:
        >>> categorical_entropy(torch.zeros(4))
        tensor(1.3863)
    """
    logits = _checks.floats("logits", logits)
    _checks.objectives("logits", logits, minimum=1)
    log_prob = logits.log_softmax(-1)
    return -(log_prob.exp() * log_prob).sum(-1)


def gaussian_kl(mean: Tensor, log_std: Tensor, other_mean: Tensor, other_log_std: Tensor) -> Tensor:
    r"""Return the divergence of one Gaussian from another, ``[*B, a] -> [*B]``.

    .. math:: \operatorname{KL} = \sum_j \log\frac{\sigma'_j}{\sigma_j}
              + \frac{\sigma_j^2 + (\mu_j - \mu'_j)^2}{2 \sigma_j'^2} - \tfrac12

    Example:
        >>> gaussian_kl(torch.zeros(1), torch.zeros(1), torch.ones(1), torch.zeros(1))
        tensor(0.5000)
    """
    mean, log_std, other_mean, other_log_std = _checks.alike(
        mean=mean, log_std=log_std, other_mean=other_mean, other_log_std=other_log_std
    )
    _checks.features("mean", mean, mean.shape[-1] if mean.dim() else 1)
    _checks.same_shape("other_mean", other_mean, mean.shape)
    _checks.broadcastable("log_std", log_std, mean.shape)
    _checks.broadcastable("other_log_std", other_log_std, mean.shape)
    spread = ((2 * log_std).exp() + (mean - other_mean).square()) * (-2 * other_log_std).exp()
    return (other_log_std - log_std + 0.5 * (spread - 1)).sum(-1)


def categorical_kl(logits: Tensor, other_logits: Tensor) -> Tensor:
    r"""Return the divergence :math:`\sum_k p_k \log(p_k / p'_k)` of logits from others, ``[*B, k] -> [*B]``.

    Example:
        >>> categorical_kl(torch.tensor([0.0, 0.0]), torch.tensor([0.0, 0.0]))
        tensor(0.)
    """
    logits, other_logits = _checks.alike(logits=logits, other_logits=other_logits)
    _checks.objectives("logits", logits, minimum=1)
    _checks.same_shape("other_logits", other_logits, logits.shape)
    log_prob, other = logits.log_softmax(-1), other_logits.log_softmax(-1)
    return (log_prob.exp() * (log_prob - other)).sum(-1)
