"""The fast form of the update, for a fixed set of blocks; tests check that it equals the generic one."""

from morl_recipes.learning.fast.networks import FastActor, fast_critic, unknown_block
from morl_recipes.learning.fast.update import FastUpdate

__all__ = ["FastActor", "FastUpdate", "fast_critic", "unknown_block"]
