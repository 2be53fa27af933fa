"""Train a recipe: one call, one loop, R runs at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from morl_recipes.common import checks
from morl_recipes.learning.runs import Run
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.settings import Settings, takes_settings
from morl_recipes.recipe.user_code import Plugin
from morl_recipes.running.monitor import Logger
from morl_recipes.running.result import TrainResult
from morl_recipes.running.session import Session


@takes_settings
def train(
    recipe: Recipe,
    env: Any,
    preferences: Sequence[Sequence[float]],
    seeds: Sequence[int],
    total_steps: int,
    *,
    out: Path | str | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    accept_versions: bool = False,
    progress: bool = True,
    loggers: Sequence[Logger] = (),
    settings: Settings | None = None,
    **changes: Any,
) -> TrainResult:
    """Train a recipe, one run per (preference, seed) pair, all at once.

    Args:
        recipe: What to train, for example ``PASTA``.
        env: A name (``"stealth"``), a card, an ``EnvSource`` or a function ``(num_envs, seeds) -> TensorEnv``. It is
            closed at the end, if it can be.
        preferences: Preferences on the simplex.
        seeds: Seeds; every preference is trained with each of them.
        total_steps: Environment steps **per run**, rounded up to whole iterations.
        out: Folder of the results, the same as of ``morl-blocks train``; nothing is written without it.
        resume: Continue the training in ``out`` if there is one (its settings must be the same).
        retry_failed: On ``resume``: train failed runs again.
        accept_versions: On ``resume``: go on under other versions of PyTorch or of the environment than at first.
        progress: Show the progress bar.
        loggers: TorchRL loggers, or anything with ``log_scalar(name, value, step)``.
        settings: How to train, as one object; what is named below is changed in it.
        **changes: Settings by name.

    Returns:
        One result per run, preferences outermost.

    Example:
        >>> from morl_recipes.recipe.rows import PASTA
        >>> from morl_recipes.environments.toy import toy
        >>> result = train(PASTA, toy(), [[0.5, 0.5]], seeds=[0], total_steps=2048, progress=False)
        >>> result.runs[0].status, len(result.runs[0].history)
        ('done', 1)
    """
    chosen = (settings or Settings()).change(total_steps=total_steps, **changes)
    how: dict[str, Any] = {"resume": resume, "retry_failed": retry_failed, "accept_versions": accept_versions}
    return train_pairs(recipe, env, preferences, seeds, chosen, out, progress=progress, loggers=loggers, **how)


def train_pairs(
    recipe: Recipe,
    env: Any,
    preferences: Sequence[Sequence[float]],
    seeds: Sequence[int],
    settings: Settings,
    out: Path | str | None,
    *,
    retry_failed: bool,
    plugin: Plugin | None = None,
    **how: Any,
) -> TrainResult:
    """Train as :func:`train` does, with the user's file that defines the recipe, if one does."""
    pairs = [(weights, seed) for weights in checks.preferences(preferences) for seed in checks.seeds(seeds)]
    runs = [Run(recipe, weights, seed) for weights, seed in pairs]
    if out is None:
        return train_runs(runs, env, settings, **how)
    from morl_recipes.running.stored import train_stored

    return train_stored(runs, env, settings, Path(out), retry_failed=retry_failed, plugin=plugin, **how)


def train_runs(
    runs: Sequence[Run],
    env: Any,
    settings: Settings | None = None,
    *,
    folder: Path | None = None,
    resume: bool = False,
    accept_versions: bool = False,
    progress: bool = True,
    loggers: Sequence[Logger] = (),
) -> TrainResult:
    """Train runs of one structure (see :func:`~morl_recipes.learning.runs.by_batch`) as one batch.

    Args:
        runs: The runs.
        env: As for :func:`train`.
        settings: How to train.
        folder: Where the checkpoint and ``history.csv`` are written; nothing is without one.
        resume: Continue from the checkpoint in the folder, if there is one.
        accept_versions: Continue also from one of other versions.
        progress: Show the progress bar.
        loggers: As for :func:`train`.
    """
    how: dict[str, Any] = {"folder": folder, "resume": resume, "accept_versions": accept_versions}
    return Session(runs, env, settings or Settings(), progress=progress, loggers=loggers, **how).train()
