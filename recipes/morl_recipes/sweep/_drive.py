"""Run what is missing of a sweep, and say what happened."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from morl_recipes.store import Manifest, PlannedRun, RunRecord, Store, StoreError
from morl_recipes.sweep._pin import alone, pin_size, pinned_size
from morl_recipes.sweep._plan import Plan, Population
from morl_recipes.sweep._work import train_population
from morl_recipes.sweep.engines import Engine, Event, Failed, Finished, Stopped, Work

CHECKPOINTS = "checkpoints"


@dataclass(frozen=True)
class Outcome:
    """What became of a sweep.

    Attributes:
        store: Where the results are.
        ran: Ids of the runs that were trained now.
        done: Number of runs that are done in all.
        failed: Reasons of the runs that failed, now or earlier, by id.
    """

    store: Store
    ran: tuple[str, ...]
    done: int
    failed: dict[str, str] = field(default_factory=dict)


def run_sweep(
    plan: Plan,
    out: str | Path,
    engine: Engine,
    *,
    command: str = "",
    retry_failed: bool = False,
    progress: bool = True,
    work: Work = train_population,
    say: Callable[[str], None] = print,
) -> Outcome:
    """Train the runs of a plan that its store does not hold yet.

    Populations follow from the plan and the size that was chosen when the sweep first started, never from what is
    missing. A population that is missing one run is trained again as a whole (from its checkpoint if there is one)
    and runs that are there already are kept.

    Args:
        plan: What to do.
        out: Folder of the results; made when missing.
        engine: Who trains.
        command: What the user typed, for the manifest.
        retry_failed: Train failed runs again.
        progress: Show a progress bar.
        work: How a population is trained.
        say: Where sentences go.

    Returns:
        The outcome. A store that cannot be used or written raises :class:`~morl_recipes.store.StoreError`.
    """
    store = Store.create(out, Manifest(command, plan.environments, plan.runs))
    with alone(store.path):
        store.remove_leftovers()
        size = pinned_size(store.path) or pin_size(store.path, plan.suggest_size(engine.workers))
        present = store.done() | (set() if retry_failed else set(store.failed()))
        todo = [p for p in plan.populations(size) if any(run.run_id not in present for run in p.runs)]
        missing = sum(run.run_id not in present for run in plan.runs)
        if todo:
            say(f"To do: {missing} of {len(plan.runs)} runs. Populations: {len(todo)}. Workers: {engine.workers}.")
        ran = _train(store, todo, present, engine, work, progress=progress)
        if not store.missing() and not store.failed():
            shutil.rmtree(store.path / CHECKPOINTS, ignore_errors=True)
        return Outcome(store, tuple(ran), len(store.done()), store.failed())


def _train(
    store: Store, todo: list[Population], present: Collection[str], engine: Engine, work: Work, *, progress: bool
) -> list[str]:
    """Train populations and write every run that is new; return the ids."""
    by_name = {population.name: population for population in todo}
    folder = store.path / CHECKPOINTS if engine.sees_folder else None
    ran: list[str] = []
    total = sum(population.steps for population in todo)
    with tqdm(total=total, unit=" steps", unit_scale=True, disable=not (progress and todo), leave=False) as bar:
        counted: dict[str, int] = {}

        def watch(name: str, steps: int) -> None:
            bar.update(steps - counted.get(name, 0))
            counted[name] = steps

        with closing(engine.run(todo, work, folder, watch)) as events:
            for event in events:
                population = by_name[event.name]
                watch(event.name, population.steps)
                records = [r for r in _records(event, population) if r.run_id not in present]
                ran += [record.run_id for record in records if store.write(record)]
                bar.set_postfix_str(f"{len(ran)} runs")
                if isinstance(event, Finished) and folder is not None:
                    shutil.rmtree(folder / event.name, ignore_errors=True)
    return ran


def _records(event: Event, population: Population) -> list[RunRecord]:
    """Return one record per run; what stops the whole sweep raises."""
    if isinstance(event, Stopped):
        raise StoreError(f"{event.reason} The sweep was stopped; what is there is untouched.")
    if isinstance(event, Failed):
        return [_failure(run, event.reason) for run in population.runs]
    return event.records


def _failure(run: PlannedRun, reason: str) -> RunRecord:
    history = pd.DataFrame({"iteration": [], "steps": []}, dtype="int64")
    identity = (run.run_id, run.group, run.method, run.env, run.preference, run.seed)
    return RunRecord(*identity, "failed", reason, 0, None, None, run.recipe, history)
