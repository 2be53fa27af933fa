"""Train the runs of a plan: an engine distributes them as jobs, and a store, if there is one, keeps the records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from morl_recipes.common import atomic_files, checks
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
    """Options of the execution of a plan.

    Args:
        retry_failed: Train failed runs again.
        accept_versions: Continue under another version of PyTorch, or of environment packages, than the store was
            started with.
        progress: Show a progress bar over all jobs, or lines without a terminal.
        work: Function that trains a job; ``None`` is :func:`~morl_recipes.running.engines.job.train_job`.
        say: Function that prints messages; ``None`` logs warnings only.
        size: Runs per job when the store is new; ``None`` sizes jobs to the machine.
    """

    retry_failed: bool = False
    accept_versions: bool = False
    progress: bool = True
    work: Work | None = None
    say: Callable[[str], None] | None = say
    size: int | None = None

    def __post_init__(self) -> None:
        """Check what a user may set."""
        for name in ("retry_failed", "accept_versions", "progress"):
            checks.flag(name, getattr(self, name))
        if self.size is not None:
            checks.at_least("size", self.size, 1)


@dataclass(frozen=True)
class Outcome:
    """Outcome of a plan.

    Attributes:
        store: The :class:`~morl_recipes.store.Store` with the results; ``None`` if they are in ``records``.
        ran: Ids of the runs that were trained in this call.
        done: Total number of finished runs.
        failed: Reasons of the runs that failed, in this call or earlier, by id.
        lost: Reasons of the runs whose worker or cluster was lost, by id; a later call trains them.
        records: Without a store: the record of each run, in the order in which the jobs ended.
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
    """Train the runs of a plan that the store does not contain yet; without a store, all of them.

    Jobs depend on the plan and on the size chosen when the store was new, never on which runs are missing. A job with a
    missing run is trained again as a whole (from its checkpoint if there is one), and existing runs are kept.

    Returns:
        The outcome. A store that cannot be used or written raises :class:`~morl_recipes.store.StoreError`.
    """
    work = options.work or partial(train_job, accept_versions=options.accept_versions)
    with nullcontext() if store is None else alone(store.path):
        if store is not None:
            store.remove_leftovers()
        stored = {} if store is None else store.statuses()
        known = {run_id: (fields["status"], fields["reason"]) for run_id, fields in stored.items()}
        settled = {run_id for run_id, (status, _) in known.items() if status == "done" or not options.retry_failed}
        jobs = plan.populations(_size(plan, store, engine, options))
        todo = [job for job in jobs if any(run.run_id not in settled for run in job.runs)]
        if todo and store is not None:
            _announce(plan, store, engine, options, len(todo), sum(run.run_id not in settled for run in plan.runs))
        folder = None if store is None or not engine.sees_folder else atomic_files.inside(store.path, CHECKPOINTS)
        progress = Progress(todo, folder, options.say or LOG.info, show=options.progress)
        by_name, ran, lost = {job.name: job for job in todo}, dict[str, RunRecord | None](), dict[str, str]()
        interrupted = False
        with closing(progress.bar), closing(engine.run(todo, work, folder, progress.update)) as events:
            for ended, event in enumerate(events, start=1):
                job = by_name[event.name]
                for record in _records(event, job):
                    if record.run_id not in settled and (store is None or store.write(record)):
                        known[record.run_id] = record.status, record.reason
                        ran[record.run_id] = record if store is None else None  # the store holds it
                if isinstance(event, Lost):
                    lost |= {run.run_id: event.reason for run in job.runs if run.run_id not in settled}
                progress.end(job, len(ran), lost=isinstance(event, Lost))
                if isinstance(event, Finished) and store is not None and folder is not None:
                    atomic_files.remove(atomic_files.inside(folder, event.name))
                interrupted = isinstance(event, Finished) and event.interrupted
                if interrupted and ended < len(todo):
                    where = "" if store is None else f"are in {store.path}; resume=True continues."
                    raise KeyboardInterrupt(where and f"{len(known)} of {len(plan.runs)} runs {where}")
        failed = {run_id: reason for run_id, (status, reason) in known.items() if status == "failed"}
        if store is not None and len(known) == len(plan.runs) and not failed:
            _remove_checkpoints(store, jobs)
    records = [record for record in ran.values() if record is not None]
    return Outcome(store, tuple(ran), len(known) - len(failed), failed, lost, records, interrupted)


def run_sweep(plan: Plan, out: str | Path, engine: Engine, *, command: str = "", **options: Any) -> Outcome:
    """Train the runs of a plan that the store in a folder does not contain yet.

    Args:
        plan: The plan.
        out: Folder of the results; created if missing.
        engine: Engine that distributes the jobs.
        command: The user's command, for the manifest.
        **options: Those of :class:`Options`, by name.
    """
    checks.instance("plan", plan, Plan, "be a Plan of make_plan")
    if not callable(getattr(engine, "run", None)):
        checks.fail("engine", "be an engine, such as InlineEngine()", repr(engine))
    manifest = plan.manifest(checks.text("command", command))
    return execute(plan, Store.create(checks.path("out", out), manifest), engine, Options(**options))


def describe_seeds(plan: Plan) -> str:
    """Describe the seeds of a plan: ``--seeds 3`` is the seed 3, but ``seeds = 3`` in a file means 0, 1, 2."""
    seeds = list(dict.fromkeys(run.seed for run in plan.runs))
    some = ", ".join(str(seed) for seed in seeds[:SHOWN_SEEDS])
    return f"seed{'' if len(seeds) == 1 else 's'} {some}{', ...' if len(seeds) > SHOWN_SEEDS else ''}"


def pinned_size(store: Path) -> int | None:
    """Return the runs per job with which a store was started, if any, so that a continued plan forms the same jobs."""
    path = store / POPULATIONS
    return int(unseal(path, schema=POPULATIONS_SCHEMA)["size"]) if path.exists() else None


def size_note(asked: int | None, kept: int) -> list[str]:
    """Return a message if a sweep requests another population size than it was started with."""
    if asked is None or asked == kept:
        return []
    return [f"Populations keep the size {kept} that the sweep was started with: `population` = {asked} has no effect."]


@contextmanager
def alone(store: Path) -> Iterator[None]:
    """Let one process at a time work on a store; the lock is released when the process ends, even if it is killed."""
    try:
        lock = FileLock(atomic_files.inside(store, ".lock")).acquire(timeout=0)
    except Timeout:
        raise StoreError(f"{store}: another process is working on this sweep. Wait for it, or stop it.") from None
    except OSError as error:
        raise _unwritable(store, error) from error
    with lock:
        yield


def _size(plan: Plan, store: Store | None, engine: Engine, options: Options) -> int:
    """Return the runs per job: the number with which the store was started, the requested, or a suggested one."""
    size = None if store is None else pinned_size(store.path)
    if size is None:
        size = options.size or plan.suggest_size(engine.workers)
        if store is not None:
            path, content = atomic_files.inside(store.path, POPULATIONS), {"schema": POPULATIONS_SCHEMA, "size": size}
            try:
                atomic_files.replace(path, seal(content))
            except OSError as error:
                raise _unwritable(store.path, error) from error
    for note in size_note(plan.population, size) if store is not None else ():
        (options.say or LOG.warning)(note)
    return size


def _announce(plan: Plan, store: Store, engine: Engine, options: Options, jobs: int, missing: int) -> None:
    """Print the work to do. Raise for other versions of PyTorch or of an environment unless they are accepted."""
    dynamics = dict.fromkeys(name for env in store.manifest.environments for name in dynamics_of(env))
    other = other_versions(store.manifest.versions, packages=(*DECISIVE, *dynamics))
    begun = f"{store.path}: was started under other versions ({other})"
    if other and not options.accept_versions:
        advice = f"{ACCEPT}, or choose another folder (--out). Nothing was changed."
        raise StoreError(f"{begun}; the store would mix runs of both. {advice}")
    if other:
        (options.say or LOG.warning)(f"{begun}. Every run records its versions.")
    if options.say is not None:
        what = f"{missing} of {len(plan.runs)} runs ({describe_seeds(plan)})"
        options.say(f"To do: {what}. Populations: {jobs}. Workers: {engine.workers}.")


def _unwritable(store: Path, error: OSError) -> StoreError:
    return StoreError(f"{store}: cannot be written ({error.strerror}). Nothing was changed.")


def _records(event: Event, job: Job) -> list[RunRecord]:
    """Return the records of an ended job; none if it was lost. Problems that affect all jobs are raised."""
    if isinstance(event, Stopped):
        raise StoreError(f"{event.reason} The sweep was stopped; existing results are unchanged.")
    if isinstance(event, Failed):
        why, frame = event.reason, pd.DataFrame()
        return [RunRecord(*run.identity, "failed", why, 0, None, None, run.recipe, frame) for run in job.runs]
    return event.records if isinstance(event, Finished) else []


def _remove_checkpoints(store: Store, jobs: list[Job]) -> None:
    """Remove files of finished jobs; a foreign file is kept, and its folder with it."""
    folder = atomic_files.inside(store.path, CHECKPOINTS)
    for job in jobs if folder.exists() else ():
        for name in (job.name, f"{job.name}.lock"):
            atomic_files.remove(folder / name)
    with suppress(OSError):
        folder.rmdir()
