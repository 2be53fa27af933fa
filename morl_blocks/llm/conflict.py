"""The conflict ratio of rewards."""

from torch import Tensor

from morl_blocks import _checks
from morl_blocks.combiners import pair_conflict
from morl_blocks.llm.normalize import group_normalize


def reward_conflict(rewards: Tensor, groups: Tensor) -> Tensor:
    r"""Return the share of pairs of rewards that disagree about which completions of a group are good.

    .. math:: \kappa = \frac{\#\{i<j : z_i^\top z_j < 0\}}{m (m-1) / 2}

    with :math:`z` from :func:`~morl_blocks.llm.group_normalize`. It needs no gradients: two rewards conflict when they
    are negatively correlated within the groups. Use it to step a scheduler such as ``ConflictBraked``.

    Args:
        rewards: One row per completion, ``[*B, N, m]``; NaN where a reward does not apply.
        groups: Index of the prompt of each completion, ``[N]``.

    Returns:
        Conflict ratio in [0, 1], ``[*B]``; 0 for one reward.

    Example:
        >>> import torch
        >>> rewards = torch.tensor([[0.0, 1.0, 0.2], [1.0, 0.0, 0.3]])
        >>> reward_conflict(rewards, torch.tensor([0, 0]))
        tensor(0.6667)
    """
    normalized = group_normalize(_checks.floats("rewards", rewards), groups)
    return pair_conflict(normalized.mT @ normalized)
