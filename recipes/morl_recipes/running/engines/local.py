"""The default engine: worker processes on this machine, one thread each."""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, cast

import torch
from tqdm import tqdm

from morl_recipes.common import checks
from morl_recipes.running.engines.events import SILENCE, Event, Lost, Watch, Work, perform
from morl_recipes.running.plan import Job

ATTEMPTS = 3
SAVING, LEAVING = 3.0, 1.0
"""Seconds after Ctrl-C in which busy workers finish their iterations, and then save the previous ones."""


@dataclass
class _Task:
    population: Job
    attempts: int = 0


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    task: _Task | None = None
    heard: float = 0.0

    def silent_for(self) -> float:
        """Return the seconds since its task was assigned or it last reported progress."""
        return time.monotonic() - self.heard if self.task is not None else 0.0


class LocalEngine:
    """Train populations in worker processes that live as long as the sweep.

    A worker that dies (out of memory, killed) or hangs is replaced and its population is retried from its last
    checkpoint; after three workers it is given up. Workers end with the process that started them, even if it is
    killed, and within five seconds of a Ctrl-C. A script that uses this engine needs the usual ``if __name__ ==
    "__main__":``.

    Args:
        workers: Number of processes; by default one per core.
        silence: Seconds without progress after which a worker counts as hanging.
    """

    sees_folder = True

    def __init__(self, workers: int | None = None, *, silence: float = SILENCE) -> None:
        self.workers = available_cores() if workers is None else workers
        checks.at_least("workers", self.workers, 1)
        self.silence = checks.positive("silence", silence)

    def run(
        self, populations: Sequence[Job], work: Work, checkpoints: Path | None, watch: Watch
    ) -> Generator[Event, None, None]:
        """Train populations, the longest first."""
        queue = deque(_Task(p) for p in sorted(populations, key=lambda p: p.steps, reverse=True))
        workers = [_start(work) for _ in range(min(self.workers, len(queue)))]
        try:
            for worker in workers:
                _assign(worker, queue, checkpoints)
            while any(worker.task for worker in workers):
                ready = wait([worker.connection for worker in workers if worker.task], timeout=self.silence / 4)
                for index, worker in enumerate(workers):
                    message = self._message(worker, ready)
                    if message == _NOTHING:
                        continue
                    if isinstance(message, int):
                        watch(_task(worker).population.name, message)
                        continue
                    event = _lose(worker, queue, message) if isinstance(message, str) else message
                    if isinstance(message, str):
                        workers[index] = _start(work)
                    _assign(workers[index], queue, checkpoints)
                    if event is not None:
                        yield event
        finally:
            _stop(workers)

    def _message(self, worker: _Worker, ready: Sequence[object]) -> Event | int | str:
        """Return the worker's event, its steps so far, the reason of its loss as text, or ``None``."""
        if worker.connection in ready:
            worker.heard = time.monotonic()
            return _receive(worker)
        if worker.silent_for() < self.silence:
            return _NOTHING
        worker.process.kill()  # works for a stopped or blocked process too
        return f"no progress for {self.silence:g} seconds"


_NOTHING = -1


def _stop(workers: Sequence[_Worker]) -> None:
    """End all workers within five seconds; busy ones save their checkpoints."""
    for worker in workers:
        _interrupt(worker)
    _join(workers, SAVING)
    for worker in workers:
        _interrupt(worker)
        worker.connection.close()
    _join(workers, LEAVING)
    for worker in workers:
        worker.process.kill()
        worker.process.join()


def _join(workers: Sequence[_Worker], seconds: float) -> None:
    """Wait for workers to end, for at most this time in total."""
    end = time.monotonic() + seconds
    for worker in workers:
        if worker.task is not None:
            worker.process.join(timeout=max(0.0, end - time.monotonic()))


def _interrupt(worker: _Worker) -> None:
    """Ask a busy worker to finish its iteration and save it; a second call saves the previous iteration."""
    if worker.task is None:
        worker.connection.close()
    elif worker.process.pid is not None and worker.process.is_alive():
        with suppress(OSError):
            os.kill(worker.process.pid, signal.SIGINT)


def available_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start(work: Work) -> _Worker:
    """Start a process that shares nothing with this one; a fork would inherit the locks of its threads.

    On Linux a server imports the packages once and forks every worker from it; on other systems each worker imports
    them.
    """
    context: Any = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
    context.set_forkserver_preload(["morl_recipes.running"])
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work), daemon=True, name="morl-blocks worker")
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _assign(worker: _Worker, queue: "deque[_Task]", checkpoints: Path | None) -> None:
    """Assign the next population to a free worker; a worker that has just died is noticed in the next wait."""
    worker.task, worker.heard = queue.popleft() if queue else None, time.monotonic()
    if worker.task is not None:
        with suppress(OSError):
            worker.connection.send_bytes(pickle.dumps((worker.task.population, checkpoints)))


def _task(worker: _Worker) -> _Task:
    return cast("_Task", worker.task)


def _receive(worker: _Worker) -> Event | int | str:
    """Return the worker's event or its steps so far, or the reason why there is none."""
    try:
        return cast("Event | int", pickle.loads(worker.connection.recv_bytes()))
    except (EOFError, OSError):
        worker.process.join()
        return f"exit code {worker.process.exitcode}"


def _lose(worker: _Worker, queue: "deque[_Task]", reason: str) -> Lost | None:
    """Queue the population of a lost worker again, or give it up."""
    worker.process.join()
    worker.connection.close()
    task = _task(worker)
    task.attempts += 1
    if task.attempts < ATTEMPTS:
        queue.appendleft(task)
        return None
    return Lost(task.population.name, f"its worker was lost {ATTEMPTS} times ({reason})")


def _serve(connection: Connection, work: Work) -> None:
    """Train the assigned jobs until the driver closes the connection or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver handles Ctrl-C
    torch.set_num_threads(1)
    tqdm.set_lock(threading.RLock())  # its default lock is a semaphore of the system, which a killed worker would leak
    threading.Thread(target=_die_with_parent, daemon=True).start()
    while True:
        try:
            population, checkpoints = pickle.loads(connection.recv_bytes())
            _send(connection, perform(work, population, checkpoints, partial(_send, connection)))
        except (EOFError, KeyboardInterrupt):  # the driver is done, or Ctrl-C reached the trainer's own handler
            return


def _send(connection: Connection, message: Event | int) -> None:
    """Send by plain pickle: multiprocessing would send tensors as shared memory of a process that may have ended."""
    connection.send_bytes(pickle.dumps(message))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
