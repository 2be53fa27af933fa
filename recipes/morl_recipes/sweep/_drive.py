"""Run what is missing of a sweep, and say what happened."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from safetensors import SafetensorError, safe_open
from tqdm import tqdm

from morl_recipes.session import CHECKPOINT
from morl_recipes.store import PlannedRun, RunRecord, Store, StoreError
from morl_recipes.sweep._pin import alone, pin_size, pinned_size, size_note
from morl_recipes.sweep._plan import Job, Plan
from morl_recipes.sweep._work import train_job
from morl_recipes.sweep.engines import Engine, Event, Failed, Finished, Stopped, Work

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
    work: Work = train_job,
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
        progress: Show a progress bar, or lines where there is no terminal.
        work: How a population is trained.
        say: Where sentences go.

    Returns:
        The outcome. A store that cannot be used or written raises :class:`~morl_recipes.store.StoreError`.
    """
    store = Store.create(out, plan.manifest(command))
    with alone(store.path):
        store.remove_leftovers()
        size = pinned_size(store.path) or pin_size(store.path, plan.suggest_size(engine.workers))
        for note in size_note(plan.population, size):
            say(note)
        present = store.done() | (set() if retry_failed else set(store.failed()))
        todo = [p for p in plan.populations(size) if any(run.run_id not in present for run in p.runs)]
        missing = sum(run.run_id not in present for run in plan.runs)
        if todo:
            say(
                f"To do: {missing} of {len(plan.runs)} runs ({describe_seeds(plan)}). "
                f"Populations: {len(todo)}. Workers: {engine.workers}."
            )
        bar = Progress(todo, _checkpoints(store, engine), say, show=progress)
        ran = _train(store, todo, present, engine, work, bar)
        if not store.missing() and not store.failed():
            shutil.rmtree(store.path / CHECKPOINTS, ignore_errors=True)
        return Outcome(store, tuple(ran), len(store.done()), store.failed())


def describe_seeds(plan: Plan) -> str:
    """Name the seeds of a plan: a list on the command line and a number in a file look alike."""
    seeds = list(dict.fromkeys(run.seed for run in plan.runs))
    some = ", ".join(str(seed) for seed in seeds[:SHOWN_SEEDS])
    return f"seed{'' if len(seeds) == 1 else 's'} {some}{', ...' if len(seeds) > SHOWN_SEEDS else ''}"


class Progress:
    """One bar over the steps of all runs; where nobody watches a terminal, a line per population that has ended.

    Args:
        todo: The populations to train.
        folder: Where their checkpoints are: steps done before count neither as new nor in the speed.
        say: Where lines go.
        show: Show anything.
    """

    def __init__(self, todo: list[Job], folder: Path | None, say: Callable[[str], None], *, show: bool) -> None:
        self._counted = {population.name: _steps_before(folder, population) for population in todo}
        self._say, self._populations, self._ended = say, len(todo), 0
        tqdm.set_lock(threading.RLock())  # its default lock is a semaphore of the system, which a kill would leak
        self._bar = tqdm(
            total=sum(population.steps for population in todo),
            initial=sum(self._counted.values()),
            unit=" steps",
            unit_scale=True,
            disable=None if show and todo else True,
            leave=False,
        )
        self._lines = show and bool(self._bar.disable)

    def watch(self, name: str, steps: int) -> None:
        """Count the steps of a population so far."""
        self._bar.update(steps - self._counted[name])
        self._counted[name] = steps

    def end(self, population: Job, runs: int) -> None:
        """Count a population that has ended, and the runs that were written so far."""
        self.watch(population.name, population.steps)
        self._ended += 1
        self._bar.set_postfix_str(f"{runs} runs")
        if self._lines:
            self._say(f"Job {self._ended} of {self._populations} has ended; {runs} runs so far.")

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()


def _steps_before(folder: Path | None, population: Job) -> int:
    """Return the steps that a population's checkpoint holds, all runs together; a damaged one is met by the trainer."""
    path = None if folder is None else folder / population.name / CHECKPOINT
    if path is None or not path.exists():
        return 0
    try:
        with safe_open(path, framework="pt") as file:
            iterations = int(json.loads(file.metadata()["meta"])["iteration"])
        return sum(iterations * int(run.recipe["ppo"]["steps_per_iteration"]) for run in population.runs)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError):
        return 0


def _train(
    store: Store, todo: list[Job], present: Collection[str], engine: Engine, work: Work, progress: Progress
) -> list[str]:
    """Train populations and write every run that is new; return the ids."""
    by_name = {population.name: population for population in todo}
    folder = _checkpoints(store, engine)
    ran: list[str] = []
    with closing(progress), closing(engine.run(todo, work, folder, progress.watch)) as events:
        for event in events:
            population = by_name[event.name]
            records = [r for r in _records(event, population) if r.run_id not in present]
            ran += [record.run_id for record in records if store.write(record)]
            progress.end(population, len(ran))
            if isinstance(event, Finished) and folder is not None:
                shutil.rmtree(folder / event.name, ignore_errors=True)
    return ran


def _checkpoints(store: Store, engine: Engine) -> Path | None:
    """Return the folder of the checkpoints, where workers can write to it."""
    return store.path / CHECKPOINTS if engine.sees_folder else None


def _records(event: Event, population: Job) -> list[RunRecord]:
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
