"""The test score: the best and the last policy of a run on test episodes, when it ends or from a store.

The best of several validations is partly luck, so its score overstates the policy (*selection bias*). Episodes that
were not used for the choice do not.
"""

# ruff: noqa: PT028 - `test_store` tests policies
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from morl_envs.source import EnvSource
from morl_recipes.common import checks
from morl_recipes.common.errors import StoreError
from morl_recipes.common.scores import Bounds, summarise
from morl_recipes.evaluation.episodes import AT_ONCE, held_out_returns
from morl_recipes.recipe.fields import described_actor
from morl_recipes.recipe.policy_network import require_known
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.run import Run
from morl_recipes.recipe.settings import Settings
from morl_recipes.running.stored_runs import StoredEnvironments, require_dynamics
from morl_recipes.store.record import RunRecord, at_point
from morl_recipes.store.run_folder import read_tests
from morl_recipes.store.store import Store


@dataclass(frozen=True)
class Outcome:
    """Outcome of :func:`test_store`.

    Attributes:
        tested: Ids of the runs that were played.
        there: Ids of the runs that already had such a test.
    """

    tested: tuple[str, ...]
    there: tuple[str, ...]


def with_tests(runs: Sequence[RunRecord], recipe: Recipe, source: EnvSource, episodes: int) -> list[RunRecord]:
    """Return runs of one recipe structure with their test scores; failed runs and ``episodes=0`` have none."""
    done = [index for index, run in enumerate(runs) if run.status == "done"]
    if not episodes or not done:
        return list(runs)
    both = [(run, policy) for run in (runs[i] for i in done) for policy in (run.peak_policy, run.policy)]
    returns = _play(recipe, both, source, episodes)
    tested = list(runs)
    for place, index in enumerate(done):
        tested[index] = replace(runs[index], **_points(returns[2 * place : 2 * place + 2], runs[index], source.bounds))
    return tested


def test_store(
    folder: str | Path | Store,
    episodes: int = Settings.test_episodes,
    *,
    progress: bool = True,
    env: Any = None,
    accept_versions: bool = False,
) -> Outcome:
    """Play the stored policies of all finished runs on test episodes and write the scores beside the runs.

    Nothing is trained and no file of a run is changed: the scores are written to a separate file ``test.json``, run by
    run. After an interruption, the same call continues with the remaining runs. A run that was already tested on as
    many episodes is not played again. The scores are those that the training itself would have written.

    Args:
        folder: A result store, or its folder.
        episodes: Test episodes per policy.
        progress: Show a progress bar.
        env: The environment, if it was made in Python and has no name.
        accept_versions: Play with other versions of Gymnasium, MO-Gymnasium or MuJoCo than the runs were trained with.

    Returns:
        The outcome. A store without a policy raises :class:`~morl_recipes.store.StoreError`. So does a store in which
        some runs cannot be read or had other versions, after all other runs were tested.
    """
    checks.at_least("episodes", episodes, 1)
    store = Store.open(folder)
    batches, there, problems = _pending(store, episodes, accept_versions=accept_versions)
    if problems and not batches and not there:
        raise StoreError(f"{store.path}: no run can be tested. {problems[0]}")
    tested: list[str] = []
    environments = StoredEnvironments(store, env)
    with tqdm(
        total=2 * episodes * sum(map(len, batches)),
        disable=None if progress else True,
        unit="episode",
        dynamic_ncols=True,
    ) as bar:
        for batch in batches:
            source = environments.source(batch[0][0].env)
            size = max(1, AT_ONCE // (2 * episodes))
            for start in range(0, len(batch), size):  # results are written as they come
                part = batch[start : start + size]
                tested += _test_part(store, part, source, episodes)
                bar.update(2 * episodes * len(part))
    if problems:
        count = len(tested) + len(there) + len(problems)
        raise StoreError(f"{len(problems)} of {count} runs could not be tested, the others were. {problems[0]}")
    return Outcome(tuple(tested), tuple(there))


test_store.__test__ = False  # type: ignore[attr-defined]  # not a pytest test


_Stored = tuple[Run, dict[str, dict[str, Tensor]]]
"""A run of a store with a recipe that contains its actor, and its policies, ``peak`` and ``final``."""


def _pending(store: Store, episodes: int, *, accept_versions: bool) -> tuple[list[list[_Stored]], list[str], list[str]]:
    """Return the runs to test by environment and actor, the ids of those with such a test, and reading problems."""
    groups: dict[str, list[_Stored]] = {}
    there, problems = list[str](), list[str]()
    for run_id, fields in store.records():
        run = store.planned[run_id]
        try:
            if isinstance(fields, StoreError):
                raise fields
            points = read_tests(store.folder(run_id), fields).values()
            if fields["status"] != "done":
                continue
            if all(point is not None and point["episodes"] == episodes for point in points):
                there.append(run_id)
                continue
            if not accept_versions:
                require_dynamics(store, fields)
            stored = replace(run, recipe=actor_recipe(run.recipe)), _split(store, run)
        except StoreError as problem:
            problems.append(str(problem))
            continue
        except ValueError as error:
            problems.append(f"{store.path}: the actor of run {run_id} is not one of this package ({error})")
            continue
        shapes = {name: list(tensor.shape) for name, tensor in stored[1]["final"].items()}
        key = json.dumps([run.env, repr(stored[0].recipe.actor), shapes], sort_keys=True)
        groups.setdefault(key, []).append(stored)
    if not groups and not there and not problems:
        raise StoreError(f"{store.path}: no finished run yet. Nothing to test.")
    return list(groups.values()), there, problems


def actor_recipe(recipe: Mapping[str, Any]) -> Recipe:
    """Return a recipe with the stored actor; its other blocks are not used, and may be from a user's file."""
    made, actor = Recipe.from_dict({"ppo": recipe["ppo"]} if "ppo" in recipe else {}), described_actor(recipe)
    return made if actor is None else replace(made, actor=require_known(actor))


def _split(store: Store, run: Run) -> dict[str, dict[str, Tensor]]:
    """Return the policies of both points."""
    tensors = store.policy(run.run_id)
    policies = {point: at_point(tensors, point) for point in ("peak", "final")}
    for point, policy in policies.items():
        if not policy:
            raise StoreError(f"{store.path}: run {run.run_id} has no policy of its {point}.")
    return policies


def _test_part(store: Store, part: Sequence[_Stored], source: EnvSource, episodes: int) -> list[str]:
    """Play both policies of some runs and write their scores."""
    both = [(run, policies[point]) for run, policies in part for point in ("peak", "final")]
    try:
        returns = _play(part[0][0].recipe, both, source, episodes)
    except ValueError as error:
        raise StoreError(
            f"{store.path}: the policies do not fit {source.name} as it is here ({error}) Use the version that trained "
            "them; nothing was changed."
        ) from error
    for place, (run, _) in enumerate(part):
        info = store.manifest.environments[run.env]
        store.write_test(run.run_id, _points(returns[2 * place : 2 * place + 2], run, info.bounds))
    return [run.run_id for run, _ in part]


def _play(
    recipe: Recipe, both: Sequence[tuple[Run | RunRecord, Mapping[str, Tensor]]], source: EnvSource, episodes: int
) -> Tensor:
    runs, policies = zip(*both, strict=True)
    seeds, preferences = zip(*((run.seed, run.preference) for run in runs), strict=True)
    return held_out_returns(recipe, policies, seeds, preferences, source, episodes)


def _points(returns: Tensor, run: RunRecord | Run, bounds: Bounds) -> Mapping[str, Any]:
    """Summarise the episodes of both policies, ``[2, episodes, m]``."""
    weights = torch.tensor(run.preference, dtype=torch.float64).numpy()
    both = returns.double().numpy()
    return {name: summarise(own, weights, bounds) for name, own in zip(("test_peak", "test_final"), both, strict=True)}
