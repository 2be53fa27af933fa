"""Run what is missing of a sweep, and say what happened."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pandas as pd

from morl_recipes import staging
from morl_recipes.store import PlannedRun, RunRecord, Store, StoreError, other_versions
from morl_recipes.sweep._pin import alone, pin_size, pinned_size, size_note
from morl_recipes.sweep._plan import Job, Plan
from morl_recipes.sweep._progress import Progress
from morl_recipes.sweep._work import train_job
from morl_recipes.sweep.engines import Engine, Event, Failed, Finished, Lost, Stopped, Work

CHECKPOINTS = "checkpoints"
SHOWN_SEEDS = 8


def _say(text: str) -> None:
    """Print at once, also into a file that somebody follows."""
    print(text, flush=True)


@dataclass(frozen=True)
class Outcome:
    """What became of a sweep.

    Attributes:
        store: Where the results are.
        ran: Ids of the runs that were trained now.
        done: Number of runs that are done in all.
        failed: Reasons of the runs that failed, now or earlier, by id.
        lost: Why runs that were begun now are still to do, by id: a worker or a cluster was lost.
    """

    store: Store
    ran: tuple[str, ...]
    done: int
    failed: dict[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)


def run_sweep(
    plan: Plan,
    out: str | Path,
    engine: Engine,
    *,
    command: str = "",
    retry_failed: bool = False,
    accept_versions: bool = False,
    progress: bool = True,
    work: Work | None = None,
    say: Callable[[str], None] = _say,
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
        accept_versions: Go on under another PyTorch than the sweep was begun with.
        progress: Show a progress bar, or lines where there is no terminal.
        work: How a population is trained; by default as :func:`~morl_recipes.train` does.
        say: Where sentences go.

    Returns:
        The outcome. A store that cannot be used or written raises :class:`~morl_recipes.store.StoreError`.
    """
    work = partial(train_job, accept_versions=accept_versions) if work is None else work
    store = Store.create(out, plan.manifest(command))
    with alone(store.path):
        store.remove_leftovers()
        size = pinned_size(store.path) or pin_size(store.path, plan.suggest_size(engine.workers))
        for note in size_note(plan.population, size):
            say(note)
        there = {run_id: (fields["status"], fields["reason"]) for run_id, fields in store.statuses().items()}
        present = {run_id for run_id, (status, _) in there.items() if status == "done" or not retry_failed}
        populations = plan.populations(size)
        todo = [p for p in populations if any(run.run_id not in present for run in p.runs)]
        if todo:
            _ask(store, say, accept=accept_versions)
            missing = sum(run.run_id not in present for run in plan.runs)
            say(
                f"To do: {missing} of {len(plan.runs)} runs ({describe_seeds(plan)}). "
                f"Populations: {len(todo)}. Workers: {engine.workers}."
            )
        bar = Progress(todo, _checkpoints(store, engine), say, show=progress)
        ran, lost = _train(store, todo, present, engine, work, bar)
        there |= ran
        failed = {run_id: reason for run_id, (status, reason) in there.items() if status == "failed"}
        if len(there) == len(plan.runs) and not failed:
            remove_checkpoints(store, populations)
        return Outcome(store, tuple(ran), len(there) - len(failed), failed, lost)


def describe_seeds(plan: Plan) -> str:
    """Name the seeds of a plan: a list on the command line and a number in a file look alike."""
    seeds = list(dict.fromkeys(run.seed for run in plan.runs))
    some = ", ".join(str(seed) for seed in seeds[:SHOWN_SEEDS])
    return f"seed{'' if len(seeds) == 1 else 's'} {some}{', ...' if len(seeds) > SHOWN_SEEDS else ''}"


def _ask(store: Store, say: Callable[[str], None], *, accept: bool) -> None:
    """Ask before runs of a second version of PyTorch join those that are there."""
    other = other_versions(store.manifest.versions)
    if other and not accept:
        raise StoreError(
            f"{store.path}: was begun under other versions ({other}); runs of both would stand side by side. "
            "Continue all the same with --accept-versions, or choose another folder (--out). Nothing was changed."
        )
    if other:
        say(f"The sweep was begun under other versions ({other}). Every run says by which it was trained.")


def _train(
    store: Store, todo: list[Job], present: Collection[str], engine: Engine, work: Work, progress: Progress
) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Train populations and write every run that is new; return status and reason of those, and what was lost."""
    by_name = {population.name: population for population in todo}
    folder = _checkpoints(store, engine)
    ran, lost = dict[str, tuple[str, str]](), dict[str, str]()
    with closing(progress), closing(engine.run(todo, work, folder, progress.watch)) as events:
        for event in events:
            population = by_name[event.name]
            if isinstance(event, Lost):
                lost |= {run.run_id: event.reason for run in population.runs if run.run_id not in present}
            records = [r for r in _records(event, population) if r.run_id not in present]
            ran |= {record.run_id: (record.status, record.reason) for record in records if store.write(record)}
            progress.end(population, len(ran), lost=isinstance(event, Lost))
            if isinstance(event, Finished) and folder is not None:
                staging.remove(staging.inside(store.path, CHECKPOINTS, event.name))
    return ran, lost


def _checkpoints(store: Store, engine: Engine) -> Path | None:
    """Return the folder of the checkpoints, where workers can write to it."""
    return staging.inside(store.path, CHECKPOINTS) if engine.sees_folder else None


def remove_checkpoints(store: Store, populations: list[Job]) -> None:
    """Remove what the populations of a finished sweep left; a file that is not ours stays, and its folder with it."""
    folder = staging.inside(store.path, CHECKPOINTS)
    for population in populations if folder.exists() else ():
        for name in (population.name, f"{population.name}.lock"):
            staging.remove(folder / name)
    with suppress(OSError):
        folder.rmdir()


def _records(event: Event, population: Job) -> list[RunRecord]:
    """Return one record per run; what stops the whole sweep raises."""
    if isinstance(event, Stopped):
        raise StoreError(f"{event.reason} The sweep was stopped; what is there is untouched.")
    if isinstance(event, Failed):
        return [_failure(run, event.reason) for run in population.runs]
    return event.records if isinstance(event, Finished) else []


def _failure(run: PlannedRun, reason: str) -> RunRecord:
    history = pd.DataFrame({"iteration": [], "steps": []}, dtype="int64")
    return RunRecord(*run.identity, "failed", reason, 0, None, None, run.recipe, history)
