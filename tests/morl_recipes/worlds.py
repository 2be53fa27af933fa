"""Small recipes and broken environments for the tests of the trainer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from morl_envs.toy import ToyBatch, toy
from morl_recipes import PASTA, PPO, EnvSource, Recipe, Run
from morl_recipes.learning.batch import Batch
from morl_recipes.recipe.settings import Settings
from morl_recipes.recipe.spec import AnySpec, Spec
from morl_recipes.recipe.specs import AttentionWeighted

TINY = PPO(steps_per_iteration=64, epochs=2, minibatch_size=16)


def tiny(recipe: Recipe = PASTA, **numbers: Any) -> Recipe:
    """Return a recipe with small networks and short iterations."""
    actor = recipe.actor.but(hidden=8) if isinstance(recipe.actor, Spec) else recipe.actor
    return replace(recipe, ppo=replace(TINY, **numbers), actor=actor, critic=_narrow(recipe.critic))


def runs_of(recipe: Recipe, count: int, preference: tuple[float, ...] = (0.5, 0.5)) -> list[Run]:
    """Return runs of one recipe that differ in their seeds."""
    return [Run(recipe, preference, seed) for seed in range(count)]


def trained(
    runs: Sequence[Run], iterations: int = 3, source: EnvSource | None = None, *, chunk: int = 8, **options: Any
) -> Batch:
    """Return a batch of runs in the toy world, or another one, after some iterations."""
    settings = Settings(**{"total_steps": 640, "num_envs": 4, "compile": False, **options})
    batch = Batch(runs, source or toy(), settings, chunk=chunk)
    for _ in range(iterations):
        batch.iterate()
    return batch


def _narrow(critic: AnySpec) -> AnySpec:
    """Return a critic's spec with 8 hidden units; live modules stay as they are."""
    if not isinstance(critic, Spec):
        return critic
    return critic.but(critic=_narrow(critic.critic)) if critic.kind is AttentionWeighted else critic.but(hidden=8)


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


class Scripted(ToyBatch):
    """A toy world that calls ``spoil(step of the environments, reward)`` after every step, and can be closed."""

    def __init__(self, num_envs: int, seeds: Sequence[int], spoil: Callable[[int, Tensor], None]) -> None:
        super().__init__(num_envs, seeds)
        self.spoil, self.closed, self.steps = spoil, False, 0

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Step, and spoil."""
        observation, reward, terminated, truncated = super().step_tensors(action)
        self.steps += 1
        self.spoil(self.steps, reward)
        return observation, reward, terminated, truncated

    def close(self) -> None:
        """Remember it."""
        self.closed = True


class Scripts:
    """Opens training worlds with one script and validation worlds with another, and remembers them.

    Args:
        training: ``(step, reward [N, m])``, after every step of the training worlds.
        validation: Likewise, of the validation worlds.
    """

    def __init__(self, training: Callable[[int, Tensor], None], validation: Callable[[int, Tensor], None]) -> None:
        self.scripts = [training, validation]
        self.opened: list[Scripted] = []

    def __call__(self, num_envs: int, seeds: Sequence[int]) -> Scripted:
        """Open the next world; a training opens its training world first."""
        self.opened.append(Scripted(num_envs, seeds, self.scripts[len(self.opened) % 2]))
        return self.opened[-1]
