"""The preview of a sweep, as text."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from datetime import timedelta
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
from morl_recipes.store.store import Store

TRIED = 4
"""Maximal number of runs that are trained together for an estimate."""


def preview(
    plan: Plan,
    out: Path,
    *,
    workers: int | None = None,
    engine: Literal["local", "ray"] = "local",
    retry_failed: bool = False,
) -> str:
    """Describe the populations of a plan and how many of their runs exist; changes nothing, and raises as a sweep."""
    _require_writable(out)
    store, present, size = Store.check(out, plan.manifest()), set[str](), None
    if store is not None:
        present, size = store.done() | (set() if retry_failed else set(store.failed())), pinned_size(out)
    cores = workers or available_cores()
    populations = plan.populations(size or plan.suggest_size(cores))
    lines, todo = [f"{'runs':>5} {'there':>6}  population"], list[Job]()
    for population in populations:
        there = sum(run.run_id in present for run in population.runs)
        methods = some(list(dict.fromkeys(run.method for run in population.runs)), 4, between="; ")
        lines.append(f"{len(population.runs):>5} {there:>6}  {for_terminal(f'{population.env}: {methods}')}")
        todo += [population] if there < len(population.runs) else []
    missing = [run for run in plan.runs if run.run_id not in present]
    what = f"{count(len(plan.runs), 'run')} in {count(len(populations), 'population')}, {describe_seeds(plan)}"
    lines.append(f"{what}; {len(missing)} to do, {sum(run.steps for run in missing):,} steps.")
    if todo:
        duration = timedelta(seconds=round(estimate(todo, cores)))
        lines.append(
            f"About {duration} (h:mm:ss) on {count(cores, 'worker')}, from one iteration tried here, without "
            "compiling; validations and test episodes are not included."
        )
    if size is not None:
        lines += size_note(plan.population, size)
    elif engine == "ray" and plan.population is None:
        lines.append("Populations are sized for the cores of this machine; a real run sizes them for the Ray cluster.")
    return "\n".join([*lines, f"Results would go to {out}. Nothing was trained or written."])


def executed(names: Iterable[str]) -> list[str]:
    """Name the user's files that will be run; a dry run has to run them too."""
    files = list(dict.fromkeys(file.path for name in names if (file := named_file(name)) is not None))
    if not files:
        return []
    which = f"files {', '.join(files)}" if files[1:] else f"file {files[0]}"
    return [f"This runs the Python {which}, because its rows are only known after running it."]


def _require_writable(out: Path) -> None:
    nearest = next(folder for folder in (out, *out.parents) if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        reason = "Permission denied" if nearest.is_dir() else "Not a directory"
        raise StoreError(f"{out}: cannot be written ({reason}).")


def estimate(jobs: Sequence[Job], workers: int) -> float:
    """Return the approximate seconds of some jobs, from the second iteration of the largest one per environment."""
    costs: dict[str, float] = {}
    for job in sorted(jobs, key=lambda job: len(job.runs), reverse=True):
        if job.env not in costs:
            costs[job.env] = _seconds_per_step(job)
    return makespan((costs[job.env] * job.runs[0].steps * (len(job.runs) + OVERHEAD) for job in jobs), workers)


def _seconds_per_step(job: Job) -> float:
    """Return the processor seconds per step and run, on one thread; the first iteration warms up."""
    every, source = job.live()
    batch = Batch(every[:TRIED], source, job.settings.change(compile=False))
    try:
        with one_thread():
            batch.iterate()
            start = time.process_time()
            batch.iterate()
            seconds = time.process_time() - start
        return seconds / (len(batch.runs) + OVERHEAD) / batch.ppo.steps_per_iteration
    finally:
        close(batch.env)
