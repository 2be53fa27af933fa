"""Vector PPO: the pieces that keep the objectives apart until the combiner."""

from morl_blocks.ppo.jacobian import Combined, combine_gradients, objective_jacobian

__all__ = ["Combined", "combine_gradients", "objective_jacobian"]
