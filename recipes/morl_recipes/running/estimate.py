"""How long a sweep would take, from an iteration that is tried out."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from morl_envs.source import close
from morl_recipes.evaluation.episodes import one_thread
from morl_recipes.learning.batch import Batch
from morl_recipes.running.plan import OVERHEAD, Job, makespan

TRIED = 4
"""Most runs that are tried out together."""


def estimate(jobs: Sequence[Job], workers: int) -> float:
    """Return about how many seconds some jobs take, longest first, without validation and without compiling.

    One iteration of the largest job of each environment is trained and forgotten; the others follow in proportion.
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
    """Return the seconds of an iteration per run, on one thread as a worker has; the first warms up and does not count.

    Processor time: whatever else the machine does meanwhile does not count.
    """
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
