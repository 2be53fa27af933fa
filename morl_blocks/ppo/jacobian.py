"""The gradients of several losses, under the name they have beside the PPO blocks: :mod:`morl_blocks.gradients`."""

from morl_blocks.gradients import Combined, combine_gradients, objective_jacobian

__all__ = ["Combined", "combine_gradients", "objective_jacobian"]
