"""What a worker does: train one population and return one record per run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout
from torch import Tensor

from morl_recipes.common import atomic_files
from morl_recipes.environments.source import find_source
from morl_recipes.learning.runs import Run
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.running.engines.events import LateInterrupt
from morl_recipes.running.monitor import Logger
from morl_recipes.running.plan import Job
from morl_recipes.running.result import RunResult
from morl_recipes.running.session import CHECKPOINT, Session
from morl_recipes.store.checkpoint import CheckpointError
from morl_recipes.store.manifest import PlannedRun
from morl_recipes.store.record import RunRecord

_LOG = logging.getLogger("morl_recipes")
PATIENCE = 60.0
"""Seconds to wait for a killed sweep's last worker to let go of its checkpoint."""


def train_job(
    population: Job,
    folder: Path | None,
    report: Callable[[int], None],
    *,
    accept_versions: bool = False,
    log: Callable[[str], AbstractContextManager[Logger]] | None = None,
) -> list[RunRecord]:
    """Train a population from where its checkpoint left off; one that cannot be used is set aside.

    Args:
        population: The runs.
        folder: Where its checkpoint is, or will be; without one an interrupted training starts again.
        report: Told the environment steps so far, all runs together.
        accept_versions: Continue from a checkpoint of other versions.
        log: Opens a logger for the population of a name, here, where it is trained; closed at its end.

    Returns:
        One record per run, in order. They come in a :class:`LateInterrupt` where an interrupt did not stop it.
    """
    for plugin in population.plugins:
        plugin.load()
    runs = [Run(Recipe.from_dict(run.recipe), run.preference, run.seed) for run in population.runs]
    source = find_source(population.env, population.settings.device, population.plugins)
    with _claimed(folder), nullcontext() if log is None else log(population.name) as logger:
        reporter = _Reporter(report, len(runs))
        begin = partial(
            Session,
            runs,
            source,
            population.settings,
            folder=folder,
            resume=folder is not None,
            accept_versions=accept_versions,
            progress=False,
            loggers=[reporter] if logger is None else [reporter, logger],
        )
        results, interrupted = train_from_checkpoint(begin, folder)
    records = [record_of(run, result) for run, result in zip(population.runs, results, strict=True)]
    if interrupted:
        raise LateInterrupt(records)
    return records


def train_from_checkpoint(
    begin: Callable[[], Session], folder: Path | None, *, but: tuple[type[CheckpointError], ...] = ()
) -> tuple[list[RunResult], bool]:
    """Train, and again from the start where a checkpoint cannot be used: it must not fail its runs for ever.

    Args:
        begin: Makes the session.
        folder: Where its checkpoint is, if it has one.
        but: What is raised all the same.

    Returns:
        The results, and whether an interrupt came too late to stop the training.
    """
    session = begin()
    try:
        return session.train().runs, session.interrupted
    except CheckpointError as error:
        if folder is None or isinstance(error, but):
            raise
        path = folder / CHECKPOINT
        aside = path.with_name(f"{path.name}.unusable")
        path.replace(aside)
        _LOG.warning("%s It is kept as %s, and its population starts again.", error, aside)
        session = begin()
        return session.train().runs, session.interrupted


def record_of(run: PlannedRun, result: RunResult) -> RunRecord:
    """Return what the store keeps of a run: both validation points with their policies, and the history."""
    history = result.history
    steps = 0 if history.empty else int(history["steps"].max())
    points = (result.peak, result.final)
    return RunRecord(
        *run.identity,
        *(result.status, result.reason, steps, *points),
        recipe=run.recipe,
        history=history,
        policy=_policies(result),
        test_peak=result.test_peak,
        test_final=result.test_final,
    )


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
    store, checkpoints = folder.parent.parent, folder.parent.name
    atomic_files.make_folder(store, checkpoints, folder.name)
    try:
        with FileLock(atomic_files.inside(store, checkpoints, f"{folder.name}.lock"), timeout=PATIENCE):
            yield
    except Timeout:
        raise TimeoutError(f"{folder}: another process is still training this population.") from None
