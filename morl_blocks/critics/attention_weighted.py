"""A wrapper that weights any critic's loss by the scalarizer's attention."""

from torch import Tensor, nn

from morl_blocks import _checks
from morl_blocks.critics._base import Critic, checked_loss


class AttentionWeightedCritic(nn.Module):
    """Weight the loss of a critic by the attention, so that it learns most where the attention is high.

    Args:
        critic: Any critic: a module ``(observation, preference) -> [*B, m]``.

    Example:
        >>> import torch
        >>> from morl_blocks.critics import BranchedCritic
        >>> critic = AttentionWeightedCritic(BranchedCritic(observation_dim=4, num_objectives=2))
        >>> values = critic(torch.zeros(5, 4), torch.tensor([0.5, 0.5]))
        >>> critic.loss(values, values, attention=torch.full((5, 2), 0.5)).item()
        0.0
    """

    def __init__(self, critic: Critic | nn.Module) -> None:
        super().__init__()
        _checks.module("critic", critic)
        self.critic = critic

    def forward(self, observation: Tensor, preference: Tensor) -> Tensor:
        """Return the wrapped critic's values, ``[*B, m]``."""
        values: Tensor = self.critic(observation, preference)
        return values

    def loss(self, values: Tensor, targets: Tensor, attention: Tensor | None = None) -> Tensor:
        """Return the value loss weighted by the attention.

        Args:
            values: Predicted values, ``[*B, m]``.
            targets: Targets, ``[*B, m]``.
            attention: Non-negative weights that sum to 1 over the objectives, ``[m]`` or ``[*B, m]``.

        Returns:
            Loss, a scalar.
        """
        if attention is None:
            raise ValueError("`attention` must be given to AttentionWeightedCritic.loss, got None.")
        attention = _checks.floats("attention", attention)
        _checks.simplex("attention", attention)
        return checked_loss(values, targets, attention)
