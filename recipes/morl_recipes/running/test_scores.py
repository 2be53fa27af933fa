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

import numpy as np
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
from morl_recipes.running.stored_runs import policy_tensors, require_dynamics, source_of
from morl_recipes.store.record import RunRecord
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
    done = [run for run in runs if run.status == "done"]
    if not episodes or not done:
        return list(runs)
    policies = [(run.peak_policy, run.policy) for run in done]
    tests = iter(_play(recipe, done, policies, source, source.bounds, episodes))
    return [replace(run, **next(tests)) if run.status == "done" else run for run in runs]


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
    checks.flag("progress", progress)
    checks.flag("accept_versions", accept_versions)
    store = Store.open(folder)
    groups, there, problems = _pending(store, episodes, accept_versions=accept_versions)
    if problems and not groups and not there:
        raise StoreError(f"{store.path}: no run can be tested. {problems[0]}")
    tested: list[str] = []
    total = 2 * episodes * sum(map(len, groups))
    with tqdm(total=total, disable=None if progress else True, unit="episode", dynamic_ncols=True) as bar:
        for group in groups:
            source = source_of(store, group[0][0].env, env)
            size = max(1, AT_ONCE // (2 * episodes))
            for start in range(0, len(group), size):  # results are written as they come
                part = group[start : start + size]
                _test_part(store, part, source, episodes)
                tested += [run.run_id for run, _ in part]
                bar.update(2 * episodes * len(part))
    if problems:
        count = len(tested) + len(there) + len(problems)
        raise StoreError(f"{len(problems)} of {count} runs could not be tested, the others were. {problems[0]}")
    return Outcome(tuple(tested), tuple(there))


test_store.__test__ = False  # type: ignore[attr-defined]  # not a pytest test


_Stored = tuple[Run, tuple[dict[str, Tensor], ...]]
"""A run of a store with a recipe that contains its actor, and its best and its last policy."""


def _pending(store: Store, episodes: int, *, accept_versions: bool) -> tuple[list[list[_Stored]], list[str], list[str]]:
    """Return the runs to test by environment and actor, the ids of those with such a test, and reading problems."""
    groups: dict[str, list[_Stored]] = {}
    there, problems = list[str](), list[str]()
    for run_id, fields in store.records():
        try:
            if isinstance(fields, StoreError):
                raise fields
            tests = read_tests(store.folder(run_id), fields).values()
            if fields["status"] != "done":
                continue
            if all(test is not None and test["episodes"] == episodes for test in tests):
                there.append(run_id)
                continue
            if not accept_versions:
                require_dynamics(store, fields)
            run = replace(store.planned[run_id], recipe=actor_recipe(store.planned[run_id].recipe))
            best, last = (policy_tensors(store, run_id, point) for point in ("peak", "final"))
        except StoreError as problem:
            problems.append(str(problem))
        except ValueError as error:
            problems.append(f"{store.path}: the actor of run {run_id} is not one of this package ({error})")
        else:
            shapes = {name: list(tensor.shape) for name, tensor in last.items()}
            key = json.dumps([run.env, repr(run.recipe.actor), shapes], sort_keys=True)
            groups.setdefault(key, []).append((run, (best, last)))
    if not groups and not there and not problems:
        raise StoreError(f"{store.path}: no finished run yet. Nothing to test.")
    return list(groups.values()), there, problems


def actor_recipe(recipe: Mapping[str, Any]) -> Recipe:
    """Return a recipe with the stored actor; its other blocks are not used, and may be from a user's file."""
    made, actor = Recipe.from_dict({"ppo": recipe["ppo"]} if "ppo" in recipe else {}), described_actor(recipe)
    return made if actor is None else replace(made, actor=require_known(actor))


def _test_part(store: Store, part: Sequence[_Stored], source: EnvSource, episodes: int) -> None:
    """Play both policies of some runs and write their scores."""
    runs, policies = zip(*part, strict=True)
    bounds = store.manifest.environments[runs[0].env].bounds
    try:
        tests = _play(runs[0].recipe, runs, policies, source, bounds, episodes)
    except ValueError as error:
        raise StoreError(
            f"{store.path}: the policies do not fit {source.name} as it is here ({error}) Use the version that trained "
            "them; nothing was changed."
        ) from error
    for run, test in zip(runs, tests, strict=True):
        store.write_test(run.run_id, test)


def _play(
    recipe: Recipe,
    runs: Sequence[Run | RunRecord],
    policies: Sequence[Sequence[Mapping[str, Tensor]]],
    source: EnvSource,
    bounds: Bounds,
    episodes: int,
) -> list[dict[str, Any]]:
    """Play the best and the last policy of each run, and return the summaries of their episodes."""
    both = [(policy, run.seed, run.preference) for run, pair in zip(runs, policies, strict=True) for policy in pair]
    every, seeds, preferences = zip(*both, strict=True)
    returns = held_out_returns(recipe, every, seeds, preferences, source, episodes).double().numpy()
    tests = []
    for run, (best, last) in zip(runs, returns.reshape(len(runs), 2, episodes, -1), strict=True):
        weights = np.array(run.preference)
        tests.append({"test_peak": summarise(best, weights, bounds), "test_final": summarise(last, weights, bounds)})
    return tests
