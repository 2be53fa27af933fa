"""A critic whose objectives share all layers but the last one."""

from torch import Tensor, nn

from morl_blocks.critics._base import Critic


class SharedCritic(Critic):
    r"""Trunk of ``depth`` hidden layers, one shared head layer, then one output per objective.

    With the default sizes it has :math:`64(n+m) + 8384 + 65m` parameters.

    It takes the arguments of :class:`~morl_blocks.critics.Critic`.

    Example:
        >>> import torch
        >>> critic = SharedCritic(observation_dim=30, num_objectives=3)
        >>> critic(torch.zeros(5, 30), torch.tensor([0.5, 0.3, 0.2])).shape
        torch.Size([5, 3])
        >>> sum(p.numel() for p in critic.parameters())
        10691
    """

    def add_output(self, hidden: int, activation: type[nn.Module]) -> nn.Module:
        """Add the layers after the trunk."""
        self.head = nn.Sequential(nn.Linear(hidden, hidden), activation(), nn.Linear(hidden, self.num_objectives))
        return self.head[-1]

    def forward(self, observation: Tensor, preference: Tensor) -> Tensor:
        """Return the values: ``[*B, n]`` and ``[m]`` or ``[*B, m]`` in, ``[*B, m]`` out."""
        values: Tensor = self.head(self.features(observation, preference))
        return values
