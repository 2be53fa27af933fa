"""PCGrad between objectives and preferences: one gradient per objective and group of similar preferences."""

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.combiners.pcgrad import PCGrad
from morl_blocks.combiners.readings import ConflictKind, Pairing
from morl_blocks.preferences import even_preferences


def preference_groups(preferences: Tensor, groups: int) -> Tensor:
    r"""Assign each preference to the nearest of K evenly spread points of the simplex.

    .. math:: k(w) = \arg\min_k \|w - c_k\|, \qquad c_1, \dots, c_K \text{ from } \texttt{even\_preferences}

    Args:
        preferences: Preferences on the simplex, ``[*B, m]``.
        groups: Number of groups, K >= 2 and at least one per objective.

    Returns:
        One-hot membership in the dtype of the preferences, ``[*B, K]``; NaN for a preference with NaN.

    Example:
        >>> preference_groups(torch.tensor([[0.1, 0.9], [0.6, 0.4]]), groups=3)
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    preferences = _checks.floats("preferences", preferences)
    _checks.objectives("preferences", preferences)
    _checks.at_least("groups", groups, max(2, preferences.shape[-1]))
    return nearest(preferences, even_preferences(groups, preferences.shape[-1]).to(preferences))


def nearest(preferences: Tensor, centres: Tensor) -> Tensor:
    """Mark the nearest of K centres ``[K, m]`` for each preference ``[*B, m]``: one-hot, ``[*B, K]``, or NaN."""
    distance = (preferences.unsqueeze(-2) - centres).square().sum(-1)
    numbers = torch.arange(len(centres), device=preferences.device)
    chosen = (distance.argmin(-1, keepdim=True) == numbers).to(preferences.dtype)
    return torch.where(distance.isnan(), distance, chosen)


class GroupedPCGrad(PCGrad):
    r"""Project the gradients of objectives *and* groups of preferences away from each other.

    In preference-conditioned training a minibatch holds samples of many preferences. They are split into K groups of
    similar preferences (:func:`preference_groups`), and each sample is weighted by its own attention. Group k and
    objective i give the gradient :math:`g_{ki}`; all :math:`K m` of them are projected as in :class:`PCGrad` and then
    summed. A step for one group or objective therefore does not undo the progress of another one. With one group this
    is :class:`WeightedPCGrad` on samples that are weighted beforehand; both agree if all samples have the same
    attention.

    The recipes split and weight the samples. In your own loop, pass the :math:`K m` losses.

    Args:
        groups: Number of groups, K >= 2 and at least one per objective.
        seed: Seed of its own generator; by default orders come from the call's generator or PyTorch's global one.
        pairing: As in :class:`PCGrad`.
        conflict: As in :class:`PCGrad`; ``"pairs"`` counts only pairs of nonzero gradients, because a minibatch may
            have no samples of some group.

    Example:
        >>> jacobian = torch.tensor([[1.0, 0.0], [-1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])  # the second group is empty
        >>> GroupedPCGrad(groups=2)(jacobian)
        tensor([0.5000, 1.5000])
    """

    def __init__(
        self, groups: int = 8, seed: int | None = None, *, pairing: Pairing = "index", conflict: ConflictKind = "pairs"
    ) -> None:
        super().__init__(seed, pairing=pairing, conflict=conflict)
        _checks.at_least("groups", groups, 2)
        self.groups = int(groups)

    def conflict(self, gramian: Tensor, noise: Tensor | None) -> Tensor:
        """Return the conflict ratio of the chosen kind, ``[*R]``."""
        if self.conflict_kind != "pairs":
            return super().conflict(gramian, noise)
        there = (gramian.diagonal(dim1=-2, dim2=-1) > 0).sum(-1)
        negative = (gramian < 0).to(gramian.dtype)
        pairs = (there * (there - 1)).clamp_min(1)
        return torch.where(gramian.isnan(), gramian, negative).sum((-2, -1)) / pairs

    def extra_repr(self) -> str:
        """Show the groups and readings in ``repr``."""
        return f"groups={self.groups}, {super().extra_repr()}"
