"""What a worker does: train one population and return one record per run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pandas as pd
from filelock import FileLock, Timeout
from torch import Tensor

from morl_recipes.checkpoint import CheckpointError
from morl_recipes.learning.runs import Run
from morl_recipes.recipe import Recipe
from morl_recipes.result import RunResult
from morl_recipes.session import CHECKPOINT
from morl_recipes.store import PlannedRun, RunRecord
from morl_recipes.sweep._plan import Job
from morl_recipes.trainer import train_runs

_LOG = logging.getLogger("morl_recipes")
PATIENCE = 60.0
"""Seconds to wait for a killed sweep's last worker to let go of its checkpoint."""


def train_job(population: Job, folder: Path | None, report: Callable[[int], None]) -> list[RunRecord]:
    """Train a population from where its checkpoint left off; one that cannot be used is set aside.

    Args:
        population: The runs.
        folder: Where its checkpoint is, or will be; without one an interrupted training starts again.
        report: Told the environment steps so far, all runs together.

    Returns:
        One record per run, in order.
    """
    for plugin in population.plugins:
        plugin.load()
    runs = [Run(Recipe.from_dict(run.recipe), run.preference, run.seed) for run in population.runs]
    watch = _Reporter(report, len(runs))
    with _claimed(folder):
        train = partial(
            train_runs,
            runs,
            population.env,
            population.settings,
            folder=folder,
            resume=folder is not None,
            progress=False,
            loggers=[watch],
        )
        try:
            results = train().runs
        except CheckpointError as error:
            if folder is None:
                raise
            _set_aside(folder / CHECKPOINT, error)
            results = train().runs
    return [record_of(run, result) for run, result in zip(population.runs, results, strict=True)]


def _set_aside(path: Path, error: CheckpointError) -> None:
    """Make room for a new checkpoint and say so: a damaged one must not fail its runs for ever."""
    aside = path.with_name(f"{path.name}.unusable")
    path.replace(aside)
    _LOG.warning("%s It is kept as %s, and its population starts again.", error, aside)


def record_of(run: PlannedRun, result: RunResult) -> RunRecord:
    """Return what the store keeps of a run: both validation points with their policies, and the history."""
    history = result.history
    if history.empty:
        history = pd.DataFrame({"iteration": [], "steps": []}, dtype="int64")
    identity = (run.run_id, run.group, run.method, run.env, run.preference, run.seed)
    steps = int(history["steps"].max()) if len(history) else 0
    points = (result.peak, result.final)
    what = (run.recipe, history, _policies(result), result.test_peak, result.test_final)
    return RunRecord(*identity, result.status, result.reason, steps, *points, *what)


def _policies(result: RunResult) -> dict[str, Tensor]:
    """Return the policies of both points under their own names."""
    both = {"peak": result.peak_policy, "final": result.policy}
    return {f"{point}.{name}": tensor for point, policy in both.items() for name, tensor in policy.items()}


class _Reporter:
    """A logger that passes on nothing but the number of steps."""

    def __init__(self, report: Callable[[int], None], runs: int) -> None:
        self.report, self.runs, self.last = report, runs, 0

    def log_scalar(self, name: str, value: float, step: int) -> None:
        """Report each new number of steps once."""
        if step != self.last:
            self.last = step
            self.report(step * self.runs)


@contextmanager
def _claimed(folder: Path | None) -> Iterator[None]:
    """Keep a checkpoint for this process alone."""
    if folder is None:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder.with_name(f"{folder.name}.lock"), timeout=PATIENCE):
            yield
    except Timeout:
        raise TimeoutError(f"{folder}: another process is still training this population.") from None
