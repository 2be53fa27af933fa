"""The preview of a sweep, as text."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from morl_envs.plugin import named_file
from morl_envs.source import close
from morl_recipes.common.errors import StoreError
from morl_recipes.common.naming import count, some
from morl_recipes.common.text import for_terminal
from morl_recipes.evaluation.episodes import one_thread
from morl_recipes.learning.batch import Batch
from morl_recipes.running.engines.local import available_cores
from morl_recipes.running.execute import describe_seeds, pinned_size, size_note
from morl_recipes.running.plan import OVERHEAD, Job, Plan, makespan
from morl_recipes.running.progress import duration
from morl_recipes.store.store import Store


def preview(
    plan: Plan,
    out: Path,
    *,
    workers: int | None = None,
    engine: Literal["local", "ray"] = "local",
    retry_failed: bool = False,
) -> str:
    """Describe the populations of a plan and how many of their runs exist; changes nothing.

    A folder that the sweep itself would not accept raises :class:`~morl_recipes.store.StoreError`.
    """
    store = _usable(plan, out)
    present: set[str] = set()
    size = None
    if store is not None:
        present, size = store.done() | (set() if retry_failed else set(store.failed())), pinned_size(out)
    populations = plan.populations(size or plan.suggest_size(workers or available_cores()))
    lines = [f"{'runs':>5} {'there':>6}  population"]
    for population in populations:
        there = sum(run.run_id in present for run in population.runs)
        methods = list(dict.fromkeys(run.method for run in population.runs))
        what = for_terminal(f"{population.env}: {some(methods, 4, between='; ')}")
        lines.append(f"{len(population.runs):>5} {there:>6}  {what}")
    missing = [run for run in plan.runs if run.run_id not in present]
    steps = sum(run.steps for run in missing)
    what = f"{count(len(plan.runs), 'run')} in {count(len(populations), 'population')}"
    lines.append(f"{what}, {describe_seeds(plan)}; {len(missing)} to do, {steps:,} steps.")
    todo = [job for job in populations if any(run.run_id not in present for run in job.runs)]
    if todo:
        cores = workers or available_cores()
        time = duration(estimate(todo, cores))
        lines.append(
            f"About {time} on {count(cores, 'worker')}, from one iteration tried here, without compiling; "
            "validations and test episodes are not included."
        )
    lines += _notes(plan, size, engine)
    lines.append(f"Results would go to {out}. Nothing was trained or written.")
    return "\n".join(lines)


def _notes(plan: Plan, pinned: int | None, engine: str) -> list[str]:
    """Explain the sizes of populations if they are not computed for this machine."""
    if pinned is not None:
        return size_note(plan.population, pinned)
    if engine == "ray" and plan.population is None:
        return ["Populations are sized for the cores of this machine here; a real run sizes them for the Ray cluster."]
    return []


def executed(names: Iterable[str]) -> list[str]:
    """Name the user's files that will be run; a dry run has to run them too."""
    files = list(dict.fromkeys(file.path for name in names if (file := named_file(name)) is not None))
    if not files:
        return []
    which = f"files {', '.join(files)}" if files[1:] else f"file {files[0]}"
    return [f"This runs the Python {which}, because its rows are only known after running it."]


def _usable(plan: Plan, out: Path) -> Store | None:
    """Raise if the sweep itself would; return the store if the sweep was started before."""
    nearest = next(folder for folder in (out, *out.parents) if folder.exists())
    if not nearest.is_dir():
        raise StoreError(f"{out}: cannot be written (Not a directory).")
    if not os.access(nearest, os.W_OK):
        raise StoreError(f"{out}: cannot be written (Permission denied).")
    return Store.check(out, plan.manifest())


TRIED = 4
"""Maximal number of runs that are trained together for an estimate."""


def estimate(jobs: Sequence[Job], workers: int) -> float:
    """Return the approximate seconds that some jobs take, longest first, without validation and without compiling.

    One iteration of the largest job of each environment is trained and discarded; the others are scaled from it.
    """
    costs: dict[str, float] = {}
    for job in sorted(jobs, key=lambda job: len(job.runs), reverse=True):
        if job.env not in costs:
            costs[job.env] = _iteration(job)
    return makespan((costs[job.env] * _size(job) for job in jobs), workers)


def _size(job: Job) -> float:
    """Return the work of a job, in iterations of one run."""
    steps: int = job.runs[0].recipe.ppo.steps_per_iteration
    return math.ceil(job.settings.total_steps / steps) * (len(job.runs) + OVERHEAD)


def _iteration(job: Job) -> float:
    """Return the processor seconds of an iteration per run, on one thread; the first iteration warms up."""
    every, source = job.live()
    runs = every[:TRIED]
    batch = Batch(runs, source, job.settings.change(compile=False))
    try:
        with one_thread():
            batch.iterate()
            start = time.process_time()
            batch.iterate()
            return (time.process_time() - start) / (len(runs) + OVERHEAD)
    finally:
        close(batch.env)
