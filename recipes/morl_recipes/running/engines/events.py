"""The interface of engines: the jobs that they get and the events that they yield."""

import errno
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import torch

from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.selection import explain
from morl_recipes.running.plan import Job
from morl_recipes.store.record import RunRecord

Report: TypeAlias = Callable[[int], None]
Watch: TypeAlias = Callable[[str, int], None]
"""Called with the name of a population and its environment steps so far, summed over all runs."""

Work: TypeAlias = Callable[[Job, Path | None, Report], list[RunRecord]]
"""Train a population, with an optional folder for checkpoints, and report its environment steps so far."""

SILENCE = 1800.0
"""Seconds without progress after which a worker counts as hanging; compiling and the longest iteration take minutes."""

_MACHINE = (errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ETIMEDOUT)
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG, errno.EIO)

_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory")


@dataclass(frozen=True)
class Finished:
    """A population has ended; single runs may have failed. After a late interrupt no other one is started."""

    name: str
    records: list[RunRecord]
    interrupted: bool = False


class LateInterrupt(KeyboardInterrupt):
    """An interrupt that came after a population was trained; it carries the result, which must not be lost."""

    def __init__(self, records: list[RunRecord]) -> None:
        super().__init__("interrupted after the last iteration")
        self.records = records


@dataclass(frozen=True)
class _Ended:
    name: str
    reason: str


class Failed(_Ended):
    """A population could not be trained; the others continue."""


class Lost(_Ended):
    """A population was lost with its worker, node or memory: its runs are still to do, and the others continue."""


class Stopped(_Ended):
    """A problem that affects every population, such as a full disk: the sweep must end."""


Event: TypeAlias = Finished | Failed | Lost | Stopped


class Engine(Protocol):
    """Trains populations in any order and yields one event for each. Closing the iterator stops everything at once."""

    @property
    def workers(self) -> int:
        """Number of populations that are trained at the same time."""
        ...

    @property
    def sees_folder(self) -> bool:
        """Whether workers can write checkpoints into the sweep's folder."""
        ...

    def run(
        self, populations: Sequence[Job], work: Work, checkpoints: Path | None, watch: Watch
    ) -> Generator[Event, None, None]:
        """Train populations, each with its own folder below ``checkpoints``."""
        ...


@contextmanager
def attempt(job: Job, checkpoints: Path | None, *, raises: bool = False) -> Iterator[tuple[Path | None, list[Event]]]:
    """Yield the job's folder and a list for its event; an error becomes the event.

    This is a context manager so that it adds no frame to stack traces. With ``raises`` errors are raised, except an
    interrupt that came after the job was trained.
    """
    folder = None if checkpoints is None else checkpoints / job.name
    events: list[Event] = []
    try:
        yield folder, events
    except LateInterrupt as late:
        events.append(Finished(job.name, late.records, interrupted=True))
    except Exception as error:
        if raises:
            raise
        events.append(_event_of(error, job, folder))


def perform(work: Work, population: Job, checkpoints: Path | None, report: Report) -> Event:
    """Train one job on one thread, and convert any outcome to an event."""
    torch.set_num_threads(1)
    with attempt(population, checkpoints) as (folder, events):
        events.append(Finished(population.name, work(population, folder, report)))
    return events[0]


def _event_of(error: Exception, population: Job, folder: Path | None) -> Event:
    """Distinguish problems of the store and of the machine from those of a run; the cause of an error counts too."""
    if isinstance(error, StoreError):
        return Stopped(population.name, str(error))
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _DISK:
            return Stopped(population.name, f"{cause.filename or folder}: {cause.strerror}.")
        if isinstance(cause, TimeoutError) or (isinstance(cause, OSError) and cause.errno in _MACHINE):
            return Lost(population.name, str(cause))
        if _no_memory(cause):
            return Lost(population.name, (str(cause).splitlines() or ["no memory left"])[0])
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return Failed(population.name, explain(error, population.plugins))


def _no_memory(error: BaseException) -> bool:
    """Return whether memory was exhausted; on a CPU, PyTorch only says so in the text of a RuntimeError."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error).lower() for words in _NO_MEMORY)
