"""The functions of :mod:`morl_blocks.gradients`, importable beside the PPO blocks."""

from morl_blocks.gradients import Combined, combine_gradients, objective_jacobian

__all__ = ["Combined", "combine_gradients", "objective_jacobian"]
