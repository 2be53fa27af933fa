"""Decomposed training with a warm start: a few preferences first, then all from their nearest neighbour's networks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from morl_envs.source import EnvSource
from morl_recipes.learning.batch import Batch
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.run import Run
from morl_recipes.recipe.settings import Settings
from morl_recipes.running.result import TrainResult
from morl_recipes.running.train import How, train_folder

PART = 4


def train_warm(
    recipe: Recipe,
    source: EnvSource,
    grid: Tensor,
    seeds: Sequence[int],
    settings: Settings,
    share: float,
    how: How,
    *,
    folder: Path | None = None,
) -> TrainResult:
    """Train some preferences for a share of the steps, and then every preference from the nearest of them.

    A run depends on its own preference and seed and on the neighbour that it starts from, and on nothing else in the
    batch. Adam, schedules and random streams start again.
    """
    few = spread(grid, max(grid.shape[1], math.ceil(len(grid) / PART)))
    first = [Run(recipe, tuple(own), seed) for own in grid[few].tolist() for seed in seeds]
    then = [Run(recipe, tuple(own), seed) for own in grid.tolist() for seed in seeds]
    brief = settings.change(total_steps=math.ceil(share * settings.total_steps), eval_every=10**9, test_episodes=0)
    digests = {"recipe_file": how.plugin, "env_file": source.plugin}
    files = {name: file.digest for name, file in digests.items() if file is not None}
    parents: list[Batch] = []
    places = [None if folder is None else folder / name for name in ("first", "rest")]
    unlogged = replace(how, loggers=())  # loggers only get the numbers of the second phase
    train_folder(first, source, brief, unlogged, places[0], stops=True, files=files, end=parents.append)
    return train_folder(then, source, settings, how, places[1], files=files, begin=partial(inherit, parents=parents[0]))


def spread(grid: Tensor, count: int) -> list[int]:
    """Choose rows far from each other: the first, then repeatedly the one whose nearest chosen row is the farthest."""
    chosen, away = [0], torch.full((len(grid),), torch.inf)
    while len(chosen) < min(count, len(grid)):
        away = torch.minimum(away, (grid - grid[chosen[-1]]).norm(dim=1))
        chosen.append(int(away.argmax()))
    return sorted(chosen)


def inherit(batch: Batch, parents: Batch) -> None:
    """Give every run the networks, return bounds and statistics of its nearest parent with the same seed."""
    nearest = []
    for run in batch.runs:
        own = [index for index, parent in enumerate(parents.runs) if parent.seed == run.seed]
        away = [math.dist(parents.runs[index].preference, run.preference) for index in own]
        nearest.append(own[away.index(min(away))])
    pairs = [(batch.actor.params, parents.actor.params), (batch.critic.params, parents.critic.params)]
    pairs += [(getattr(batch.normalizer, end), getattr(parents.normalizer, end)) for end in ("low", "high")]
    if batch.scale is not None and parents.scale is not None:
        pairs += [(getattr(batch.scale, key), getattr(parents.scale, key)) for key in ("mean", "variance", "count")]
    for tensor, old in pairs:
        tensor.copy_(old[nearest])
