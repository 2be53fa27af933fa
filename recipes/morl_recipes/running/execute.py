"""Run what is missing of a sweep, and say what happened."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pandas as pd

from morl_recipes.common import atomic_files
from morl_recipes.common.errors import StoreError
from morl_recipes.running.engines.events import Engine, Event, Failed, Finished, Lost, Stopped, Work
from morl_recipes.running.job import train_job
from morl_recipes.running.plan import Job, Plan
from morl_recipes.running.population_size import alone, pin_size, pinned_size, size_note
from morl_recipes.running.progress import Progress
from morl_recipes.store.checkpoint import ACCEPT
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import CHECKPOINTS, Store
from morl_recipes.store.versions import DECISIVE, dynamics_of, other_versions

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
        accept_versions: Go on under another PyTorch than the sweep was begun with, or other packages of environments.
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
            ask_versions(store, say, accept=accept_versions)
            missing = sum(run.run_id not in present for run in plan.runs)
            say(
                f"To do: {missing} of {len(plan.runs)} runs ({describe_seeds(plan)}). "
                f"Populations: {len(todo)}. Workers: {engine.workers}."
            )
        folder = atomic_files.inside(store.path, CHECKPOINTS) if engine.sees_folder else None
        ledger = _Ledger(store, todo, present, Progress(todo, folder, say, show=progress))
        with closing(ledger.progress), closing(engine.run(todo, work, folder, ledger.progress.watch)) as events:
            for event in events:
                ledger.enter(event)
                if isinstance(event, Finished) and folder is not None:
                    atomic_files.remove(atomic_files.inside(store.path, CHECKPOINTS, event.name))
        there |= ledger.ran
        failed = {run_id: reason for run_id, (status, reason) in there.items() if status == "failed"}
        if len(there) == len(plan.runs) and not failed:
            remove_checkpoints(store, populations)
        return Outcome(store, tuple(ledger.ran), len(there) - len(failed), failed, ledger.lost)


def describe_seeds(plan: Plan) -> str:
    """Name the seeds of a plan: a list on the command line and a number in a file look alike."""
    seeds = list(dict.fromkeys(run.seed for run in plan.runs))
    some = ", ".join(str(seed) for seed in seeds[:SHOWN_SEEDS])
    return f"seed{'' if len(seeds) == 1 else 's'} {some}{', ...' if len(seeds) > SHOWN_SEEDS else ''}"


def ask_versions(store: Store, say: Callable[[str], None], *, accept: bool) -> None:
    """Ask before runs of a second version of PyTorch, or of an environment, join those that are there."""
    dynamics = dict.fromkeys(name for env in store.manifest.environments for name in dynamics_of(env))
    other = other_versions(store.manifest.versions, packages=(*DECISIVE, *dynamics))
    if other and not accept:
        raise StoreError(
            f"{store.path}: was begun under other versions ({other}); runs of both would stand side by side. "
            f"{ACCEPT}, or choose another folder (--out). Nothing was changed."
        )
    if other:
        say(f"{store.path}: was begun under other versions ({other}). Every run says by which it was trained.")


class _Ledger:
    """What a sweep did: every run that is new is written, and kept with its status and reason, or as lost."""

    def __init__(self, store: Store, todo: list[Job], present: Collection[str], progress: Progress) -> None:
        self.store, self.present, self.progress = store, present, progress
        self.by_name = {population.name: population for population in todo}
        self.ran: dict[str, tuple[str, str]] = {}
        self.lost: dict[str, str] = {}

    def enter(self, event: Event) -> None:
        """Write the new runs of a population that has ended."""
        population = self.by_name[event.name]
        if isinstance(event, Lost):
            self.lost |= {run.run_id: event.reason for run in population.runs if run.run_id not in self.present}
        records = [record for record in _records(event, population) if record.run_id not in self.present]
        self.ran |= {record.run_id: (record.status, record.reason) for record in records if self.store.write(record)}
        self.progress.end(population, len(self.ran), lost=isinstance(event, Lost))


def remove_checkpoints(store: Store, populations: list[Job]) -> None:
    """Remove what the populations of a finished sweep left; a file that is not ours stays, and its folder with it."""
    folder = atomic_files.inside(store.path, CHECKPOINTS)
    for population in populations if folder.exists() else ():
        for name in (population.name, f"{population.name}.lock"):
            atomic_files.remove(folder / name)
    with suppress(OSError):
        folder.rmdir()


def _records(event: Event, population: Job) -> list[RunRecord]:
    """Return one record per run; what stops the whole sweep raises."""
    if isinstance(event, Stopped):
        raise StoreError(f"{event.reason} The sweep was stopped; what is there is untouched.")
    if isinstance(event, Failed):
        nothing = (0, None, None)
        return [
            RunRecord(*run.identity, "failed", event.reason, *nothing, run.recipe, pd.DataFrame())
            for run in population.runs
        ]
    return event.records if isinstance(event, Finished) else []
