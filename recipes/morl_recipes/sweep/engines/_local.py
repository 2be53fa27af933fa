"""The default engine: worker processes on this machine, one thread each."""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
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

from morl_recipes import _checks
from morl_recipes.sweep._plan import Job
from morl_recipes.sweep.engines._events import Event, Failed, Watch, Work, folder_of, perform

ATTEMPTS, GRACE = 3, 20.0


@dataclass
class _Task:
    population: Job
    attempts: int = 0


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    task: _Task | None = None


class LocalEngine:
    """Train populations in worker processes that live as long as the sweep.

    A worker that dies (out of memory, killed) is replaced and its population tried again, from its last checkpoint.
    Workers end with the process that started them, even when it is killed. A script that uses this engine needs the
    usual ``if __name__ == "__main__":``.

    Args:
        workers: Number of processes; by default one per core.
    """

    sees_folder = True

    def __init__(self, workers: int | None = None) -> None:
        self.workers = available_cores() if workers is None else workers
        _checks.at_least("workers", self.workers, 1)

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
                ready = wait([worker.connection for worker in workers if worker.task])
                for index, worker in enumerate(workers):
                    if worker.connection not in ready:
                        continue
                    message = _receive(worker)
                    if isinstance(message, int):
                        watch(_task(worker).population.name, message)
                        continue
                    if message is None:
                        message = _lose(worker, queue)
                        workers[index] = _start(work)
                    _assign(workers[index], queue, checkpoints)
                    if message is not None:
                        yield message
        finally:
            for worker in workers:
                _interrupt(worker)
            for worker in workers:
                worker.process.join(timeout=GRACE)
                worker.process.kill()
                worker.process.join()


def _interrupt(worker: _Worker) -> None:
    """Let an idle worker go, and a busy one save its checkpoint after the iteration, as Ctrl-C would."""
    if worker.task is not None and worker.process.pid is not None:
        with suppress(OSError):
            os.kill(worker.process.pid, signal.SIGINT)
    worker.connection.close()


def available_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start(work: Work) -> _Worker:
    """Start a process that shares nothing with this one: a plain fork would inherit the locks of this one's threads.

    On Linux a server imports the packages once and forks every worker from that; elsewhere each one imports them.
    """
    context: Any = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
    context.set_forkserver_preload(["morl_recipes.sweep"])
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work), daemon=True, name="morl-blocks worker")
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _assign(worker: _Worker, queue: "deque[_Task]", checkpoints: Path | None) -> None:
    """Hand the next population to a free worker; one that has just died is noticed when it is waited for."""
    worker.task = queue.popleft() if queue else None
    if worker.task is not None:
        population = worker.task.population
        with suppress(OSError):
            worker.connection.send_bytes(pickle.dumps((population, folder_of(checkpoints, population))))


def _task(worker: _Worker) -> _Task:
    return cast("_Task", worker.task)


def _receive(worker: _Worker) -> Event | int | None:
    """Return the worker's event or its steps so far, or ``None`` when it has died."""
    try:
        return cast("Event | int", pickle.loads(worker.connection.recv_bytes()))
    except (EOFError, OSError):
        return None


def _lose(worker: _Worker, queue: "deque[_Task]") -> Failed | None:
    """Queue the population of a dead worker again, or give it up."""
    worker.process.join()
    worker.connection.close()
    task = _task(worker)
    task.attempts += 1
    if task.attempts < ATTEMPTS:
        queue.appendleft(task)
        return None
    code = worker.process.exitcode
    return Failed(task.population.name, f"its worker died {ATTEMPTS} times (exit code {code})")


def _serve(connection: Connection, work: Work) -> None:
    """Train whatever comes, until the driver closes the connection or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's business
    torch.set_num_threads(1)
    tqdm.set_lock(threading.RLock())  # its default lock is a semaphore of the system, which a killed worker would leak
    threading.Thread(target=_die_with_parent, daemon=True).start()
    while True:
        try:
            population, folder = pickle.loads(connection.recv_bytes())
            _send(connection, perform(work, population, folder, partial(_send, connection)))
        except (EOFError, KeyboardInterrupt):  # the driver is done, or Ctrl-C reached the trainer's own handler
            return


def _send(connection: Connection, message: Event | int) -> None:
    """Send by plain pickle: multiprocessing's own passes tensors as shared memory of a process that may be gone."""
    connection.send_bytes(pickle.dumps(message))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
