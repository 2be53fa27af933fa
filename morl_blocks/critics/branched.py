"""A critic with one head per objective on a shared trunk."""

from torch import Tensor, nn

from morl_blocks._networks import LinearBank
from morl_blocks.critics._base import Critic


class BranchedCritic(Critic):
    r"""Trunk of ``depth`` hidden layers, then one head (hidden layer + output) per objective.

    The heads run as batched products, so that m heads cost little more than one. With the default sizes it has
    :math:`64(n+m) + 4224 + 4225m` parameters.

    It takes the arguments of :class:`~morl_blocks.critics.Critic`.

    Example:
        >>> import torch
        >>> critic = BranchedCritic(observation_dim=30, num_objectives=3)
        >>> critic(torch.zeros(5, 30), torch.tensor([0.5, 0.3, 0.2])).shape
        torch.Size([5, 3])
        >>> sum(p.numel() for p in critic.parameters())
        19011
    """

    def add_output(self, hidden: int, activation: type[nn.Module]) -> nn.Module:
        """Add the layers after the trunk."""
        m = self.num_objectives
        self.heads = nn.Sequential(LinearBank(m, hidden, hidden), activation(), LinearBank(m, hidden, 1))
        return self.heads[-1]

    def forward(self, observation: Tensor, preference: Tensor) -> Tensor:
        """Return the values: ``[*B, n]`` and ``[m]`` or ``[*B, m]`` in, ``[*B, m]`` out."""
        features = self.features(observation, preference)
        values: Tensor = self.heads(features.unsqueeze(-2)).squeeze(-1)
        return values
