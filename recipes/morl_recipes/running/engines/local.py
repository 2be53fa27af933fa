"""The default engine: worker processes on this machine, one thread each."""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Sequence
from contextlib import suppress
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
        queue = deque(sorted(populations, key=lambda job: job.steps, reverse=True))
        attempts = Counter[str]()
        workers = [_Worker(work) for _ in range(min(self.workers, len(queue)))]
        try:
            for worker in workers:
                worker.assign(queue, checkpoints)
            while busy := [worker for worker in workers if worker.job is not None]:
                ready = wait([worker.connection for worker in busy], timeout=self.silence / 4)
                for worker in busy:
                    job, message = cast("Job", worker.job), worker.receive(ready, self.silence)
                    if isinstance(message, int):
                        watch(job.name, message)
                    elif message is not None:
                        if isinstance(message, str):  # the worker is lost
                            worker.start()
                            message = self._lose(job, message, attempts, queue)
                        worker.assign(queue, checkpoints)
                        if message is not None:
                            yield message
        finally:
            _stop(workers)

    def _lose(self, job: Job, reason: str, attempts: "Counter[str]", queue: "deque[Job]") -> Lost | None:
        """Queue the job of a lost worker again, or give it up."""
        attempts[job.name] += 1
        if attempts[job.name] < ATTEMPTS:
            queue.appendleft(job)
            return None
        return Lost(job.name, f"its worker was lost {ATTEMPTS} times ({reason})")


class _Worker:
    """A process that trains one job at a time, started again if it is lost."""

    process: BaseProcess
    connection: Connection

    def __init__(self, work: Work) -> None:
        self.work, self.heard = work, 0.0
        self.job: Job | None = None
        self.start()

    def start(self) -> None:
        """Start a process that shares nothing with this one; a fork would inherit the locks of its threads.

        On Linux a server imports the packages once and forks every worker from it; on other systems each worker
        imports them.
        """
        context: Any = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
        context.set_forkserver_preload(["morl_recipes.running"])
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.work), daemon=True, name="morl-blocks worker")
        self.process.start()
        theirs.close()

    def assign(self, queue: "deque[Job]", checkpoints: Path | None) -> None:
        """Assign the next job; a worker that has just died is noticed in the next wait."""
        self.job, self.heard = queue.popleft() if queue else None, time.monotonic()
        if self.job is not None:
            with suppress(OSError):
                self.connection.send_bytes(pickle.dumps((self.job, checkpoints)))

    def receive(self, ready: Sequence[object], silence: float) -> Event | int | str | None:
        """Return the event of the job, its steps so far, the reason of the worker's loss as text, or ``None``."""
        try:
            if self.connection in ready:
                self.heard = time.monotonic()
                return cast("Event | int", pickle.loads(self.connection.recv_bytes()))
            if time.monotonic() - self.heard < silence:
                return None
            self.process.kill()  # works for a stopped or blocked process too
            reason = f"no progress for {silence:g} seconds"
            self.process.join()
        except (EOFError, OSError):
            self.process.join()
            reason = f"exit code {self.process.exitcode}"
        self.connection.close()
        return reason

    def interrupt(self) -> None:
        """Ask a busy worker to finish its iteration and save it; a second call saves the previous iteration."""
        if self.job is None:
            self.connection.close()
        elif self.process.pid is not None and self.process.is_alive():
            with suppress(OSError):
                os.kill(self.process.pid, signal.SIGINT)


def _stop(workers: Sequence[_Worker]) -> None:
    """End all workers within five seconds; busy ones save their checkpoints."""
    for seconds in (SAVING, LEAVING):
        for worker in workers:
            worker.interrupt()
            if seconds == LEAVING:
                worker.connection.close()
        end = time.monotonic() + seconds
        for worker in workers:
            if worker.job is not None:
                worker.process.join(timeout=max(0.0, end - time.monotonic()))
    for worker in workers:
        worker.process.kill()
        worker.process.join()


def available_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _serve(connection: Connection, work: Work) -> None:
    """Train the assigned jobs until the driver closes the connection or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver handles Ctrl-C
    torch.set_num_threads(1)
    tqdm.set_lock(threading.RLock())  # its default lock is a semaphore of the system, which a killed worker would leak
    threading.Thread(target=_die_with_parent, daemon=True).start()

    def send(message: Event | int) -> None:
        # Plain pickle: multiprocessing would send tensors as shared memory of a process that may have ended.
        connection.send_bytes(pickle.dumps(message))

    while True:
        try:
            job, checkpoints = pickle.loads(connection.recv_bytes())
            send(perform(work, job, checkpoints, send))
        except (EOFError, KeyboardInterrupt):  # the driver is done, or Ctrl-C reached the trainer's own handler
            return


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
