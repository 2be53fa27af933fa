"""Standardise each reward within each group of completions."""

import torch
from torch import Tensor

from morl_blocks import _checks


def group_normalize(rewards: Tensor, groups: Tensor, epsilon: float = 1e-4) -> Tensor:
    r"""Subtract the mean of its group from each reward and divide by the group's standard deviation.

    .. math:: z_{nk} = \frac{r_{nk} - \mathrm{mean}_{g(n)}(r_k)}{\mathrm{std}_{g(n)}(r_k) + \epsilon}

    The standard deviation is the unbiased one (n - 1), as in GRPO implementations. Three cases have no spread to divide
    by and give exactly 0: a group of one, a reward that is constant in its group, and a NaN reward. A NaN (a reward
    that does not apply to a completion) is also left out of the mean and the standard deviation of its group.

    Ids need not be consecutive. A group without completions has no effect; a batch without completions raises an error.

    Args:
        rewards: One row per completion, ``[*B, N, m]``, to be maximised; NaN where a reward does not apply.
        groups: Index of the prompt of each completion, ``[N]``: integers >= 0, in any order.
        epsilon: Added to the standard deviation, >= 0.

    Returns:
        Standardised rewards, ``[*B, N, m]``, without NaN.

    Example:
        >>> rewards = torch.tensor([[1.0, 5.0], [3.0, 5.0], [0.0, 9.0]])
        >>> group_normalize(rewards, torch.tensor([0, 0, 1])).round(decimals=3)
        tensor([[-0.7070,  0.0000],
                [ 0.7070,  0.0000],
                [ 0.0000,  0.0000]])
    """
    given, member = check_groups(rewards, groups)
    epsilon = _checks.single("epsilon", epsilon)
    _checks.between("epsilon", epsilon, 0.0, torch.inf, bounds="[)")
    values, present = _checks.wide(given), ~given.isnan()
    index = member.unsqueeze(-1).expand_as(values)
    shape = (*values.shape[:-2], int(member.max()) + 1, values.shape[-1])

    def total(of: Tensor) -> Tensor:
        return of.new_zeros(shape).scatter_add(-2, index, of).gather(-2, index)

    def extreme(fill: float, which: str) -> Tensor:
        filled = torch.where(present, values, fill)
        return filled.new_full(shape, fill).scatter_reduce(-2, index, filled, which).gather(-2, index)

    count = total(present.to(values))
    mean = total(torch.where(present, values, 0.0)) / count.clamp(min=1)
    deviation = torch.where(present, values - mean, 0.0)
    std = (total(deviation.square()) / (count - 1).clamp(min=1)).sqrt()
    # Rounding may move the mean of equal numbers, and the division would amplify this: compare the numbers instead.
    varies = present & (extreme(-torch.inf, "amax") > extreme(torch.inf, "amin"))
    return torch.where(varies, deviation / torch.where(varies, std + epsilon, 1.0), 0.0).to(given)


def check_groups(rewards: Tensor, groups: Tensor) -> tuple[Tensor, Tensor]:
    """Return rewards ``[*B, N, m]`` as floating point and the index of each completion's group, ``[N]``."""
    given = _checks.floats("rewards", rewards).detach()
    if given.dim() < 2 or not given.shape[-2] or not given.shape[-1]:
        _checks.fail("rewards", "be [*B, N, m] with at least one completion and one reward", list(given.shape))
    _checks.moderate("rewards", torch.where(given.isnan(), 0.0, given))
    ids = _checks.indices("groups", groups)
    if ids.shape != given.shape[-2:-1]:
        _checks.fail("groups", f"hold one id per completion, shape {[given.shape[-2]]}", f"shape {list(ids.shape)}")
    if bool((ids < 0).any()):
        _checks.fail("groups", "hold ids >= 0", int(ids.min()))
    return given, ids.to(given.device).unique(return_inverse=True)[1]
