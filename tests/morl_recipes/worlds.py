"""Small recipes and broken environments for the tests of the trainer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from morl_recipes import PASTA, PPO, EnvSource, Recipe
from morl_recipes.specs import AttentionWeighted, Branched
from morl_recipes.toy import ToyBatch

TINY = PPO(steps_per_iteration=64, epochs=2, minibatch_size=16, hidden=8)


def tiny(recipe: Recipe = PASTA, **numbers: Any) -> Recipe:
    """Return a recipe with small networks and short iterations."""
    small = replace(recipe, ppo=replace(TINY, **numbers))
    if isinstance(recipe.critic, AttentionWeighted) and isinstance(recipe.critic.critic, Branched):
        return replace(small, critic=AttentionWeighted(Branched(hidden=8)))
    return small


class Poisoned(ToyBatch):
    """A toy world in which some environments give NaN from a certain step on."""

    def __init__(self, num_envs: int, seeds: Sequence[int], bad: Sequence[int], after: int, place: str) -> None:
        super().__init__(num_envs, seeds)
        self.bad, self.after, self.place = list(bad), after, place

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Step, and spoil."""
        if not bool(action.isfinite().all()):
            raise ValueError("`action` must be finite.")
        observation, reward, terminated, truncated = super().step_tensors(action)
        spoil = self._clock[self.bad] > self.after
        target = reward if self.place == "reward" else observation
        target[self.bad] = torch.where(spoil.unsqueeze(-1), torch.nan, target[self.bad])
        return observation, reward, terminated, truncated


def poisoned(run: int, num_envs: int, after: int, place: str) -> EnvSource:
    """Return a source that spoils the training environments of one run."""

    def make(count: int, seeds: Sequence[int]) -> ToyBatch:
        bad = range(run * num_envs, (run + 1) * num_envs) if count % num_envs == 0 else ()
        return Poisoned(count, seeds, list(bad), after, place)

    return EnvSource("poisoned", make)
