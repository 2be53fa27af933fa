"""Train a front: one policy for all preferences, or one policy per preference, evaluated on an even grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from morl_blocks.preferences import even_preferences
from morl_envs.shortened import shortened
from morl_envs.source import EnvSource, find_source
from morl_recipes.common import checks
from morl_recipes.common.text import LOG
from morl_recipes.evaluation.episodes import front_returns
from morl_recipes.evaluation.saved_policy import bounds_of, make_policy
from morl_recipes.recipe.policy_network import Network
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.selection import name_of
from morl_recipes.recipe.settings import Settings, takes
from morl_recipes.recipe.specs import Given, Uniform
from morl_recipes.running.fronts.front import Front
from morl_recipes.running.fronts.warm import train_warm
from morl_recipes.running.train import How, given_settings, train
from morl_recipes.store.front import NAME
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import OF_FRONT

STORE, WARM = OF_FRONT, "warm"
"""Folders of the training inside the front's folder: a result store, or the checkpoints of a warm start."""


@takes(How, Settings)
def train_front(
    recipe: Recipe,
    env: Any,
    preferences: int | Sequence[Sequence[float]] = 40,
    seeds: Sequence[int] = (0,),
    total_steps: int = Settings.total_steps,
    *,
    conditioned: bool = True,
    warm_start: float = 0.0,
    gamma: float = 1.0,
    normalize_observations: bool | None = None,
    horizon: int | None = None,
    out: Path | str | None = None,
    settings: Settings | None = None,
    **changes: Any,
) -> Front:
    """Train policies for many trade-offs, and evaluate them.

    The last policies are evaluated, not the best validated ones, because a front has no single score to choose them by.
    Episodes have their own random stream; ``eval_episodes`` of them are played for every policy and preference.

    Args:
        recipe: The recipe; :func:`~morl_recipes.front_recipe` has a good one for most environments. Not every recipe
            follows its preference: PASTA sums its gradients without weights.
        env: As for :func:`~morl_recipes.train`.
        preferences: Number of preferences to evaluate, spread evenly over the simplex, or the preferences themselves.
        seeds: Seeds.
        total_steps: Environment steps **per run**, rounded up to whole iterations.
        conditioned: Train one policy per seed for all preferences, redrawn for every episode (uniformly, unless the
            recipe says otherwise). ``False`` trains one run per preference and seed, all at once.
        warm_start: For ``conditioned=False``: the share of ``total_steps`` for which a quarter of the preferences are
            trained first. Every run then starts from the policy and the critic of its nearest neighbour among these,
            with the same seed. These steps are additional. 0 for none.
        gamma: Discount of the returns that the front shows.
        normalize_observations: Scale observations by running statistics. By default as on the environment's card;
            without a card, for continuous actions.
        horizon: Steps after which an episode of the training is truncated; the front is evaluated on full episodes. By
            default the number of steps after which the discount falls to 5 %: later rewards hardly count, and shorter
            episodes visit the states that matter more often.
        out: Folder for the front, with the training's result store in ``store`` (of a warm start, checkpoints);
            nothing is written without it.
        settings: All settings as one object; arguments given by name replace its values.
        **changes: Options of resuming (a warm start keeps no single runs to retry), and settings by name.

    Returns:
        The front.

    Example:
        >>> from morl_recipes.recipe.rows import ROWS
        >>> from morl_envs.toy import toy
        >>> linear = ROWS["ours"]["Linear, vector advantages"]
        >>> front = train_front(linear, toy(), preferences=5, total_steps=2048, progress=False, eval_episodes=2)
        >>> front.asked.shape, front.policy([0.3, 0.7])([0.0, 0.0, 0.0, 0.0]).shape
        ((5, 2), (2,))
    """
    how = How.of(changes)
    checks.instance("recipe", recipe, Recipe, "be a Recipe, such as morl_recipes.PASTA")
    checks.flag("conditioned", conditioned)
    chosen = given_settings(settings, test_episodes=0).change(total_steps=total_steps, **changes)
    gamma = checks.between("gamma", gamma, 0.0, 1.0)
    out = None if out is None else checks.path("out", out)
    source = scaled_source(find_source(env, chosen.device).complete(), normalize=normalize_observations)
    world = shortened(source, horizon, gamma)
    grid = _grid(preferences, len(source.objectives))
    made = adapted(recipe, conditioned=conditioned)
    warm_start = checks.between("warm_start", warm_start, 0.0, 1.0)
    if warm_start and conditioned:
        checks.fail("warm_start", "be 0 for one policy of all preferences, which has no neighbours", warm_start)
    if warm_start and how.retry_failed:
        checks.fail("retry_failed", "be False for a warm start, which keeps no single runs", how.retry_failed)
    if out is not None:
        _require_own(out, STORE if warm_start else WARM, resume=how.resume)
    if warm_start:
        folder = None if out is None else out / WARM
        runs = train_warm(made, world, grid, checks.seeds(seeds), chosen, warm_start, how, folder=folder).runs
    else:
        m = len(source.objectives)
        asked = [(1 / m,) * m] if conditioned else grid.tolist()
        store = None if out is None else out / STORE
        runs = train(made, world, asked, seeds, chosen.total_steps, out=store, settings=chosen, **vars(how)).runs
    front = evaluate_runs(_finished(runs), name_of(recipe)[1], source, grid, chosen, gamma=gamma)
    if out is not None:
        front.save(out)
    return front


def scaled_source(source: EnvSource, *, normalize: bool | None) -> EnvSource:
    """Return the source with or without scaled observations.

    For ``None`` a card decides. Most robot simulators have no card, and their observations mix positions of 0.1 with
    speeds of 10. So without a card, observations are scaled if actions are continuous.
    """
    if normalize is None:
        normalize = source.normalize_observations or (source.card is None and not source.is_discrete())
    elif not isinstance(normalize, bool):
        checks.fail("normalize_observations", "be true, false or None", repr(normalize))
    return replace(source, normalize_observations=normalize)


def adapted(recipe: Recipe, *, conditioned: bool) -> Recipe:
    """Return the recipe for one policy of all preferences, or for one policy per preference."""
    if conditioned:
        return recipe if recipe.conditioned else replace(recipe, preferences=Uniform())
    return replace(recipe, preferences=Given())


def _require_own(out: Path, other: str, *, resume: bool) -> None:
    """Raise for the folder of another front: one that was trained in the other way, or one that is not resumed."""
    if (out / other).exists():
        checks.fail("out", f"hold no other training (it has a folder {other}; choose another one)", out)
    if (out / NAME).exists() and not resume:
        checks.fail("out", "hold no earlier training (resume it, or choose another folder)", out)


def _grid(preferences: int | Sequence[Sequence[float]], objectives: int) -> Tensor:
    """Return the preferences to evaluate, ``[K, m]``."""
    if isinstance(preferences, int):
        return even_preferences(checks.at_least("preferences", preferences, 2), objectives)
    return torch.tensor([checks.preference(own, objectives) for own in checks.preferences(preferences)])


def _finished(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """Return the runs that did not fail; log those that did."""
    for run in runs:
        if run.status == "failed":
            LOG.warning("Seed %d, preference %s is not in the front: %s.", run.seed, list(run.preference), run.reason)
    done = [run for run in runs if run.status == "done"]
    if not done:
        raise ValueError(f"`train_front` must have at least one run that does not fail, got {runs[0].reason}.")
    return done


def evaluate_runs(
    runs: Sequence[RunRecord], method: str, source: EnvSource, grid: Tensor, settings: Settings, *, gamma: float
) -> Front:
    """Evaluate the runs' last policies: each for all preferences, or for its own preference."""
    conditioned, m = runs[0].recipe.conditioned, len(source.objectives)
    with source.opened(1, [0]) as env:
        bounds, network = bounds_of(env), Network.of(runs[0].recipe.actor, env)
    policies = tuple({**run.policy, **bounds} for run in runs)
    own = torch.tensor([run.preference for run in runs]).unsqueeze(1)
    asked = grid.expand(len(runs), -1, -1) if conditioned else own  # [R, K, m]
    seeds, modules = [run.seed for run in runs], [make_policy(policy, m, network) for policy in policies]
    returns = front_returns(modules, seeds, asked, source, episodes=settings.eval_episodes, gamma=gamma).double()
    episodes = settings.eval_episodes
    errors = returns.std(2) / episodes**0.5 if episodes > 1 else returns[:, :, 0] * torch.nan
    return Front(
        env=source.name,
        objectives=source.objectives,
        method=method,
        conditioned=conditioned,
        policies=policies,
        network=network,
        seeds=tuple(seeds),
        asked=asked.double().flatten(0, 1).numpy(),
        returns=returns.mean(2).flatten(0, 1).numpy(),
        errors=errors.flatten(0, 1).numpy(),
        member=np.repeat(np.arange(len(runs)), asked.shape[1]),
        episodes=episodes,
        gamma=gamma,
    )
