"""One advantage per completion from several rewards."""

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.llm.attention import reward_attention
from morl_blocks.llm.normalize import check_groups, group_normalize
from morl_blocks.scalarizers import Scalarizer


def group_advantage(
    rewards: Tensor,
    groups: Tensor,
    scalarizer: Scalarizer,
    weights: Tensor,
    *,
    levels: Tensor | None = None,
    epsilon: float = 1e-4,
) -> Tensor:
    r"""Turn several rewards into one group-relative advantage, with most attention on the reward that lags behind.

    In this order:

    1. each reward is standardised within its group: :math:`z = ` :func:`~morl_blocks.llm.group_normalize`;
    2. the attention over rewards comes from their levels: :math:`\delta = ` ``scalarizer.attention(levels, weights)``;
    3. the standardised rewards are added up: :math:`s_n = \sum_k \delta_k z_{nk}`;
    4. the sums are standardised over the batch: :math:`A_n = (s_n - \mathrm{mean}(s)) / (\mathrm{std}(s) + \epsilon)`.

    With ``Linear`` the attention is the preference, and this is GDPO (``normalize_then_sum`` in TRL). A scalarizer
    with ``attention="gradient"`` weights each reward by the exact derivative of the utility of the levels.

    The attention depends on the *mean* rewards, which a policy can also raise by mixing two kinds of completions.
    :class:`~morl_blocks.llm.ScalarizedReward` applies the preference to every single completion instead.

    - A group of one and a reward that is constant in its group add 0. When all sums are equal, every advantage is 0.
    - A NaN reward does not apply to its completion: it adds 0, and is left out of its group's mean and deviation. A
      completion whose rewards are all NaN gets the advantage 0 and is left out of step 4.
    - A reward that is NaN in the whole batch gets no attention.
    - A group id without completions has no effect; a batch without completions raises an error.

    Args:
        rewards: One row per completion, ``[*B, N, m]`` with m >= 2, to be maximised; NaN where one does not apply.
        groups: Index of the prompt of each completion, ``[N]``: integers >= 0, in any order.
        scalarizer: Any scalarizer to maximise (``sense="max"``).
        weights: Preference on the simplex, ``[m]`` or ``[*B, m]``.
        levels: Current level of each reward, ``[m]`` or ``[*B, m]``, in [0, 1] for STCH and TCH: for example running
            means. By default the means of this batch.
        epsilon: Added to both standard deviations, >= 0.

    Returns:
        Advantages, ``[*B, N]``.

    References:
        Liu et al., "GDPO: Group reward-Decoupled Normalization Policy Optimization for Multi-reward RL Optimization",
        arXiv:2601.05242.

    Example:
        >>> from morl_blocks.scalarizers import Linear, SmoothTchebycheff
        >>> rewards = torch.tensor([[1.0, 0.0], [0.75, 0.25], [0.75, 0.0], [1.0, 0.5]])
        >>> groups, weights = torch.tensor([0, 0, 1, 1]), torch.tensor([0.5, 0.5])
        >>> group_advantage(rewards, groups, Linear(), weights).round(decimals=2)
        tensor([ 0.0000,  0.0000, -1.2200,  1.2200])
        >>> group_advantage(rewards, groups, SmoothTchebycheff(0.1), weights).round(decimals=2)  # the second lags
        tensor([-0.8400,  0.8400, -0.8900,  0.8900])
    """
    given, _ = check_groups(rewards, groups)
    _checks.objectives("rewards", given)
    present = ~given.isnan()
    if levels is None:
        reached = _checks.wide(given).nanmean(-2)
    else:
        reached = _checks.wide(_checks.floats("levels", levels)).to(given.device)
        _checks.objectives("levels", reached, given.shape[-1])
        _checks.aligned("levels", reached, torch.Size([*given.shape[:-2], given.shape[-1]]))
    attention = reward_attention(reached, scalarizer, weights).unsqueeze(-2)
    scores = (attention * group_normalize(_checks.wide(given), groups, epsilon)).sum(-1, keepdim=True)
    scores = torch.where(present.any(-1, keepdim=True), scores, torch.nan)
    one_batch = torch.zeros(given.shape[-2], dtype=torch.long, device=given.device)
    return group_normalize(scores, one_batch, epsilon).squeeze(-1).to(given)
