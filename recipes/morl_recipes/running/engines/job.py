"""Train the runs of one job, continuing from its checkpoint if there is one, and return one record per run."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from filelock import FileLock, Timeout

from morl_recipes.common import atomic_files
from morl_recipes.common.text import LOG
from morl_recipes.learning.batch import Batch
from morl_recipes.running.engines.events import LateInterrupt
from morl_recipes.running.loggers import Logger
from morl_recipes.running.plan import Job
from morl_recipes.running.recorder import Recorder
from morl_recipes.running.test_scores import with_tests
from morl_recipes.store.checkpoint import CHECKPOINT, CheckpointError
from morl_recipes.store.record import RunRecord

PATIENCE = 60.0
"""Seconds to wait for a checkpoint that a worker of a killed sweep still holds."""


def train_job(
    job: Job,
    folder: Path | None,
    report: Callable[[int], None],
    *,
    accept_versions: bool = False,
    log: Callable[[str], AbstractContextManager[Logger]] | None = None,
    progress: bool = False,
    loggers: Sequence[Logger] = (),
    raises: tuple[type[CheckpointError], ...] = (),
    files: Mapping[str, str] | None = None,
    shared: bool = True,
    begin: Callable[[Batch], None] | None = None,
    end: Callable[[Batch], None] | None = None,
) -> list[RunRecord]:
    """Train a job, from its checkpoint in ``folder`` if there is one; return one record per run, in order.

    A checkpoint that cannot be used is renamed and the job starts again; errors in ``raises`` are raised instead.
    ``report`` is called with the environment steps so far, summed over all runs. ``log`` opens a logger for a job by
    its name, in the process that trains it. ``shared`` locks the checkpoint, because other processes may train the same
    job. ``begin`` and ``end`` are called with the new and with the trained batch. After an interrupt that came too late
    to stop the job, a :class:`LateInterrupt` with the records is raised.
    """
    require_device(job.settings.device)
    runs, source = job.live()

    def start() -> Recorder:
        batch = Batch(runs, source, job.settings)
        if begin is not None:
            begin(batch)
        every = [*loggers, *([] if logger is None else [logger])]
        return Recorder(batch, folder, progress=progress, loggers=every, files=files)

    with (
        _claimed(folder) if folder is not None and shared else nullcontext(),
        nullcontext() if log is None else log(job.name) as logger,
        Interrupt() as interrupt,
        closing(_started(start, folder, raises, accept_versions=accept_versions)) as recorder,
    ):
        while not recorder.finished:
            try:
                recorder.record(recorder.batch.iterate())
                report(recorder.batch.steps * len(runs))
            except BaseException:
                recorder.save()  # the last finished iteration
                raise
            if interrupt.requested and not recorder.finished:
                recorder.stop()  # raises KeyboardInterrupt
        records = with_tests(recorder.records(), runs[0].recipe, source, job.settings.test_episodes)
        if end is not None:
            end(recorder.batch)
        if interrupt.requested:
            raise LateInterrupt(records)
    return records


def _started(
    start: Callable[[], Recorder],
    folder: Path | None,
    raises: tuple[type[CheckpointError], ...],
    *,
    accept_versions: bool,
) -> Recorder:
    """Return a recorder that continues from its checkpoint, or from the start if the checkpoint cannot be used."""
    recorder = start()  # a new one each time: a checkpoint that failed to load may have changed the batch
    try:
        recorder.start(accept_versions=accept_versions)
    except BaseException as error:
        recorder.close()
        if folder is None or not isinstance(error, CheckpointError) or isinstance(error, raises):
            raise
        aside = folder / f"{CHECKPOINT}.unusable"
        (folder / CHECKPOINT).replace(aside)
        LOG.warning("%s The file is kept as %s, and its runs start again.", error, aside)
        return _started(start, folder, (CheckpointError,), accept_versions=accept_versions)
    return recorder


def require_device(device: str) -> None:
    """Raise for a device that this machine does not have."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"`device` must be one that PyTorch finds here, got {device!r} ({reason}).") from error


class Interrupt:
    """Convert the first Ctrl-C to a request to stop; a second one interrupts at once. Only in the main thread."""

    def __init__(self) -> None:
        self.requested = False
        self._before: Any = None

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _request(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def _claimed(folder: Path) -> Iterator[None]:
    """Lock a checkpoint for this process."""
    store, checkpoints = folder.parent.parent, folder.parent.name
    atomic_files.make_folder(store, checkpoints, folder.name)
    try:
        with FileLock(atomic_files.inside(store, checkpoints, f"{folder.name}.lock"), timeout=PATIENCE):
            yield
    except Timeout:
        raise TimeoutError(f"{folder}: another process is still training this population.") from None
