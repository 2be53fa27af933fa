"""The one way in which anything is trained: a plan, a store or none, and an engine that spreads the jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from morl_recipes.common import atomic_files
from morl_recipes.common.errors import StoreError
from morl_recipes.common.text import LOG, say
from morl_recipes.running.engines.events import Engine, Event, Failed, Finished, Lost, Stopped, Work
from morl_recipes.running.engines.job import train_job
from morl_recipes.running.plan import Job, Plan
from morl_recipes.running.progress import Progress
from morl_recipes.store.checkpoint import ACCEPT
from morl_recipes.store.files import seal, unseal
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import CHECKPOINTS, POPULATIONS, POPULATIONS_SCHEMA, Store
from morl_recipes.store.versions import DECISIVE, dynamics_of, other_versions

SHOWN_SEEDS = 8


@dataclass(frozen=True)
class Options:
    """How a plan is executed.

    Args:
        retry_failed: Train failed runs again.
        accept_versions: Go on under another PyTorch than the store was begun with, or other packages of environments.
        progress: Show a progress bar over all jobs, or lines where there is no terminal.
        work: How a job is trained.
        say: Where sentences go; ``None`` for the log, and for warnings alone.
        size: Runs per job when the store is new; ``None`` sizes jobs to the machine.
        checkpoints: Folder of the checkpoints where there is no store.
        name: Name of the only job, where its checkpoint is to be found by it.
    """

    retry_failed: bool = False
    accept_versions: bool = False
    progress: bool = True
    work: Work | None = None
    say: Callable[[str], None] | None = say
    size: int | None = None
    checkpoints: Path | None = None
    name: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of a plan.

    Attributes:
        store: The :class:`~morl_recipes.store.Store` with the results; ``None`` for those that are in ``records``.
        ran: Ids of the runs that were trained now.
        done: Number of runs that are done in all.
        failed: Reasons of the runs that failed, now or earlier, by id.
        lost: Why runs that were begun now are still to do, by id: a worker or a cluster was lost.
        records: Without a store: what every run became, in the order of the plan.
        interrupted: An interrupt came too late to stop the last job.
    """

    store: Any
    ran: tuple[str, ...]
    done: int
    failed: dict[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    records: list[RunRecord] = field(default_factory=list, repr=False)
    interrupted: bool = False


def execute(plan: Plan, store: Store | None, engine: Engine, options: Options = Options()) -> Outcome:  # noqa: B008
    """Train the runs of a plan that its store does not hold yet; without a store, all of them, in memory.

    Jobs follow from the plan and the size that was chosen when the store was new, never from what is missing. A job
    that misses one run is trained again as a whole (from its checkpoint if there is one) and runs that are there
    already are kept.

    Returns:
        The outcome. A store that cannot be used or written raises :class:`~morl_recipes.store.StoreError`.
    """
    work = options.work or partial(train_job, accept_versions=options.accept_versions)
    with nullcontext() if store is None else alone(store.path):
        if store is not None:
            store.remove_leftovers()
        there = {} if store is None else {i: (f["status"], f["reason"]) for i, f in store.statuses().items()}
        present = {run_id for run_id, (status, _) in there.items() if status == "done" or not options.retry_failed}
        jobs = plan.populations(_size(plan, store, engine, options))
        jobs = [replace(job, name=options.name) for job in jobs] if options.name else jobs
        todo = [job for job in jobs if any(run.run_id not in present for run in job.runs)]
        if todo and store is not None:
            _announce(plan, store, engine, options, len(todo), sum(run.run_id not in present for run in plan.runs))
        folder = options.checkpoints if store is None else atomic_files.inside(store.path, CHECKPOINTS)
        folder = folder if engine.sees_folder else None
        progress = Progress(todo, folder, options.say or LOG.info, show=options.progress)
        by_name, ran, lost = {job.name: job for job in todo}, dict[str, RunRecord | None](), dict[str, str]()
        interrupted = False
        with closing(progress), closing(engine.run(todo, work, folder, progress.update)) as events:
            for ended, event in enumerate(events, start=1):
                job = by_name[event.name]
                for record in _records(event, job):
                    if record.run_id not in present and (store is None or store.write(record)):
                        there[record.run_id] = record.status, record.reason
                        ran[record.run_id] = record if store is None else None  # the store has it
                if isinstance(event, Lost):
                    lost |= {run.run_id: event.reason for run in job.runs if run.run_id not in present}
                progress.end(job, len(ran), lost=isinstance(event, Lost))
                if isinstance(event, Finished) and store is not None and folder is not None:
                    atomic_files.remove(atomic_files.inside(folder, event.name))
                interrupted = isinstance(event, Finished) and event.interrupted
                if interrupted and ended < len(todo):
                    where = "" if store is None else f"are in {store.path}; resume=True continues."
                    raise KeyboardInterrupt(where and f"{len(there)} of {len(plan.runs)} runs {where}")
        failed = {run_id: reason for run_id, (status, reason) in there.items() if status == "failed"}
        if store is not None and len(there) == len(plan.runs) and not failed:
            _remove_checkpoints(store, jobs)
    records = [record for record in ran.values() if record is not None]
    return Outcome(store, tuple(ran), len(there) - len(failed), failed, lost, records, interrupted)


def run_sweep(plan: Plan, out: str | Path, engine: Engine, *, command: str = "", **options: Any) -> Outcome:
    """Train the runs of a plan that the store in a folder does not hold yet.

    Args:
        plan: What to do.
        out: Folder of the results; made when missing.
        engine: How jobs are spread.
        command: What the user typed, for the manifest.
        **options: Those of :class:`Options`, by name.
    """
    return execute(plan, Store.create(out, plan.manifest(command)), engine, Options(**options))


def describe_seeds(plan: Plan) -> str:
    """Name the seeds of a plan: a list on the command line and a number in a file look alike."""
    seeds = list(dict.fromkeys(run.seed for run in plan.runs))
    some = ", ".join(str(seed) for seed in seeds[:SHOWN_SEEDS])
    return f"seed{'' if len(seeds) == 1 else 's'} {some}{', ...' if len(seeds) > SHOWN_SEEDS else ''}"


def pinned_size(store: Path) -> int | None:
    """Return the runs per job with which a store was started, if it was: a continued plan forms the same jobs."""
    path = store / POPULATIONS
    return int(unseal(path, schema=POPULATIONS_SCHEMA)["size"]) if path.exists() else None


def size_note(asked: int | None, kept: int) -> list[str]:
    """Return a sentence when a sweep asks for another size of populations than it was started with.

    Example:
        >>> size_note(1, 8)
        ['Populations keep the size 8 that the sweep was started with: `population` = 1 has no effect.']
    """
    if asked is None or asked == kept:
        return []
    return [f"Populations keep the size {kept} that the sweep was started with: `population` = {asked} has no effect."]


@contextmanager
def alone(store: Path) -> Iterator[None]:
    """Let one process at a time work on a store; the lock ends with the process, even when it is killed."""
    lock = FileLock(atomic_files.inside(store, ".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreError(f"{store}: another process is working on this sweep. Wait for it, or stop it.") from None
    except OSError as error:
        raise _unwritable(store, error) from error
    try:
        yield
    finally:
        lock.release()


def _size(plan: Plan, store: Store | None, engine: Engine, options: Options) -> int:
    """Return the runs per job: those with which the store was started, or what is asked for, or what suits."""
    size = None if store is None else pinned_size(store.path)
    if size is None:
        size = options.size or plan.suggest_size(engine.workers)
        if store is not None:
            content = seal({"schema": POPULATIONS_SCHEMA, "size": size})
            try:
                atomic_files.replace(atomic_files.inside(store.path, POPULATIONS), content)
            except OSError as error:
                raise _unwritable(store.path, error) from error
    for note in size_note(plan.population, size) if store is not None else ():
        (options.say or LOG.warning)(note)
    return size


def _announce(plan: Plan, store: Store, engine: Engine, options: Options, jobs: int, missing: int) -> None:
    """Print what is to do. Refuse other versions of PyTorch or of an environment unless they are accepted."""
    dynamics = dict.fromkeys(name for env in store.manifest.environments for name in dynamics_of(env))
    other = other_versions(store.manifest.versions, packages=(*DECISIVE, *dynamics))
    begun = f"{store.path}: was begun under other versions ({other})"
    if other and not options.accept_versions:
        advice = f"{ACCEPT}, or choose another folder (--out). Nothing was changed."
        raise StoreError(f"{begun}; runs of both would stand side by side. {advice}")
    if other:
        (options.say or LOG.warning)(f"{begun}. Every run says by which it was trained.")
    if options.say is not None:
        what = f"{missing} of {len(plan.runs)} runs ({describe_seeds(plan)})"
        options.say(f"To do: {what}. Populations: {jobs}. Workers: {engine.workers}.")


def _unwritable(store: Path, error: OSError) -> StoreError:
    return StoreError(f"{store}: cannot be written ({error.strerror}). Nothing was changed.")


def _records(event: Event, job: Job) -> list[RunRecord]:
    """Return one record per run; what concerns all jobs raises."""
    if isinstance(event, Stopped):
        raise StoreError(f"{event.reason} The sweep was stopped; what is there is untouched.")
    if isinstance(event, Failed):
        why, frame = event.reason, pd.DataFrame()
        return [RunRecord(*run.identity, "failed", why, 0, None, None, run.recipe, frame) for run in job.runs]
    return event.records if isinstance(event, Finished) else []


def _remove_checkpoints(store: Store, jobs: list[Job]) -> None:
    """Remove what finished jobs left; a file that is not ours stays, and its folder with it."""
    folder = atomic_files.inside(store.path, CHECKPOINTS)
    for job in jobs if folder.exists() else ():
        for name in (job.name, f"{job.name}.lock"):
            atomic_files.remove(folder / name)
    with suppress(OSError):
        folder.rmdir()
