"""Critics: one value per objective, with the loss that trains them."""

from morl_blocks.critics._base import Critic, value_loss
from morl_blocks.critics.attention_weighted import AttentionWeightedCritic
from morl_blocks.critics.branched import BranchedCritic
from morl_blocks.critics.shared import SharedCritic

__all__ = ["AttentionWeightedCritic", "BranchedCritic", "Critic", "SharedCritic", "value_loss"]
