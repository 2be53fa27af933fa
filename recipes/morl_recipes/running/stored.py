"""A training from Python that keeps its results as the command line does: the same store, the same ids."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from morl_recipes.common import atomic_files, checks
from morl_recipes.environments.source import EnvSource, find_source
from morl_recipes.learning.runs import Run
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.selection import name_of
from morl_recipes.recipe.settings import Settings
from morl_recipes.recipe.user_code import Plugin
from morl_recipes.running.execute import ask_versions, remove_checkpoints
from morl_recipes.running.job import record_of, train_from_checkpoint
from morl_recipes.running.monitor import Logger
from morl_recipes.running.plan import Group, Plan, plan_run
from morl_recipes.running.population_size import alone, pin_size
from morl_recipes.running.result import RunResult, TrainResult, validation
from morl_recipes.running.saved_policy import at_point
from morl_recipes.running.session import CHECKPOINT, Session
from morl_recipes.store.checkpoint import OtherTrainingError
from morl_recipes.store.histories import read_history, stacked
from morl_recipes.store.manifest import EnvInfo, PlannedRun
from morl_recipes.store.shapes import POLICY
from morl_recipes.store.store import CHECKPOINTS, Store
from morl_recipes.store.tests import read_tests

_LOG = logging.getLogger("morl_recipes")
COMMAND = "morl_recipes.train(...)"


def train_stored(
    runs: Sequence[Run],
    env: Any,
    settings: Settings,
    out: Path,
    *,
    resume: bool = False,
    retry_failed: bool = False,
    accept_versions: bool = False,
    progress: bool = True,
    loggers: Sequence[Logger] = (),
    plugin: Plugin | None = None,
) -> TrainResult:
    """Train runs as :func:`~morl_recipes.train_runs` does, and keep them in a result store, the folder ``out``.

    Checkpoints are in it as long as the training is in progress. On ``resume`` what is finished is read, not trained,
    failed runs too unless ``retry_failed``; other versions raise unless ``accept_versions``. The ids of runs of a
    user's file, ``plugin``, follow from its text too.
    """
    source = find_source(env, settings.device).complete()
    plan = plan_runs(runs, source, settings, plugin)
    manifest = plan.manifest(COMMAND)
    if Store.check(out, manifest) is None:  # a mistake in a block shows before anything is written
        Session(runs[:1], source, settings, progress=False).close()
    store = Store.create(out, manifest)
    how: dict[str, Any] = {"resume": resume, "accept_versions": accept_versions}
    how |= {"progress": progress, "loggers": loggers}
    with alone(store.path):
        if not resume:
            _require_unused("out", "hold no earlier training (resume it, or choose another folder)", store)
        size = pin_size(store.path, len(runs))
        present = _present(store, retry_failed=retry_failed, accept_versions=accept_versions)
        results: list[RunResult] = []
        for job in plan.populations(size):
            part, interrupted = runs[len(results) : len(results) + len(job.runs)], False
            if not present.issuperset(run.run_id for run in job.runs):
                folder = atomic_files.make_folder(store.path, CHECKPOINTS, job.name)
                begin = partial(Session, part, source, settings, folder=folder, **how)
                trained, interrupted = train_from_checkpoint(begin, folder, but=(OtherTrainingError,))
                _write(store, job.runs, trained, present)
            results += [_read(store, run.recipe, planned) for run, planned in zip(part, job.runs, strict=True)]
            if interrupted and len(results) < len(runs):
                raise KeyboardInterrupt(f"{len(results)} of {len(runs)} runs are in {out}; resume=True continues.")
        remove_checkpoints(store, plan.populations(size))
    return TrainResult(results, source, source.objectives, settings)


def save_result(result: TrainResult, out: Path) -> Store:
    """Write a training that was kept in memory into a store of its own; one that holds runs is refused."""
    runs = [Run(run.recipe, run.preference, run.seed) for run in result.runs]
    plan = plan_runs(runs, result.source.complete(), result.settings)
    store = Store.create(out, plan.manifest(COMMAND))
    with alone(store.path):
        _require_unused("folder", "hold no earlier training (choose another folder)", store)
        _write(store, plan.runs, result.runs)
    return store


def plan_runs(runs: Sequence[Run], source: EnvSource, settings: Settings, plugin: Plugin | None = None) -> Plan:
    """Give runs of one structure the names and ids that a sweep would give them."""
    planned = []
    for run in runs:
        group, method = name_of(run.recipe)
        planned.append(plan_run(source, group, method, run, settings, plugin))
    info = EnvInfo(source.objectives, source.hv_low, source.hv_high)
    plugins = tuple(file for file in (plugin, source.plugin) if file is not None)
    return Plan(tuple(planned), (Group(tuple(planned), plugins),), {source.name: info}, settings)


def _require_unused(name: str, rule: str, store: Store) -> None:
    """Refuse a store with runs or checkpoints: runs that are done are never overwritten."""
    if store.run_ids() or any(atomic_files.inside(store.path, CHECKPOINTS).glob(f"*/{CHECKPOINT}")):
        checks.fail(name, rule, store.path)


def _present(store: Store, *, retry_failed: bool, accept_versions: bool) -> set[str]:
    """Return the runs that stay as they are; ask before runs of other versions join them."""
    present = store.done() if retry_failed else set(store.run_ids())
    if len(present) < len(store.manifest.runs):
        ask_versions(store, _LOG.warning, accept=accept_versions)
    return present


def _write(
    store: Store, planned: Sequence[PlannedRun], results: Sequence[RunResult], present: Collection[str] = ()
) -> None:
    for run, result in zip(planned, results, strict=True):
        if run.run_id not in present:
            store.write(record_of(run, result))


def _read(store: Store, recipe: Recipe, planned: PlannedRun) -> RunResult:
    """Return a stored run as the training returned it."""
    fields, objectives = store.read(planned.run_id), len(planned.preference)
    frame = pd.DataFrame(stacked([read_history(store, fields)]))
    bare = fields["status"] == "failed" and POLICY not in fields["files"]  # it failed before it had a policy
    tensors = {} if bare else store.policy(planned.run_id)
    return RunResult(
        recipe=recipe,
        preference=planned.preference,
        seed=planned.seed,
        status=fields["status"],
        reason=fields["reason"],
        history=frame,
        peak=fields["peak"] and validation(frame, objectives, fields["peak"]["iteration"]),
        final=validation(frame, objectives),
        policy=at_point(tensors, "final"),
        peak_policy=at_point(tensors, "peak"),
        **read_tests(store, fields),
    )
