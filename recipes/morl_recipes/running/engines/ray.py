"""The engine for several machines: tasks on an existing Ray cluster."""

import math
import os
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from morl_recipes.common import checks
from morl_recipes.common.text import LOG
from morl_recipes.running.engines.events import SILENCE, Event, Lost, Watch, Work, perform
from morl_recipes.running.plan import Job


class Heartbeats:
    """Collect the progress of all tasks, as a Ray actor: tasks report their steps, the driver reads them."""

    def __init__(self) -> None:
        self.reports: dict[str, tuple[int, int]] = {}

    def report(self, name: str, steps: int) -> None:
        """Store the steps of a population so far; a task starts with 0."""
        self.reports[name] = (self.reports.get(name, (0, 0))[0] + 1, steps)

    def read(self) -> dict[str, tuple[int, int]]:
        """Return the number of reports and the steps of each population."""
        return self.reports


@dataclass
class Task:
    """A population on the cluster, with the last report about it and when the driver heard it.

    Until the first report of an attempt it waits for a free worker, and is not overdue.
    """

    job: Job
    attempts: int = 0
    report: tuple[int, int] | None = None
    heard: float = math.inf

    def hear(self, report: tuple[int, int] | None) -> bool:
        """Return whether a report is new, and keep it."""
        new = report != self.report
        if new:
            self.report, self.heard = report, time.monotonic()
        return new


LOOK_EVERY = 2.0
"""Maximal number of seconds between two checks of the progress of all tasks."""
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Option that makes Ray listen only on the loopback address; it must be set before Ray is imported."""
FIRST_REPORT = 60.0
"""Maximal number of seconds that a task waits until its first report has arrived."""


class RayEngine:
    """Train each population as one Ray task; Ray schedules and cancels them.

    A population whose worker or node is lost, or that hangs, is retried; if all retries fail, its runs are still to do.

    Every node needs the same version of morl-blocks. Results are sent to the driver, and only the driver writes the
    store.

    Args:
        address: The cluster, as for ``ray.init``: ``"auto"``, ``"host:port"`` or ``"ray://host:port"``. ``"local"``
            starts one on this machine that listens only on the loopback address.
        cpus: Cores that Ray reserves for a population.
        retries: Number of retries of a population whose worker or node is lost, or that hangs.
        shared: Whether the sweep's folder is the same on every node, so that a retry continues from checkpoints.
        silence: Seconds without progress after which a task counts as hanging; waiting for a core does not count.
    """

    def __init__(
        self,
        address: str = "auto",
        *,
        cpus: float = 1.0,
        retries: int = 3,
        shared: bool = False,
        silence: float = SILENCE,
    ) -> None:
        if find_spec("ray") is None:
            raise ImportError("The ray engine needs the ray extra: pip install 'morl-blocks[ray]'.")
        checks.positive("cpus", cpus)
        checks.at_least("retries", retries, 0)
        self.cpus, self.retries, self.sees_folder = cpus, retries, shared
        self.silence = checks.positive("silence", silence)
        own: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
        if own and "ray" not in sys.modules:
            os.environ.update(LOOPBACK)
        self._ray: Any = import_module("ray")
        self._gone: tuple[type[Exception], ...] = (
            import_module("ray.exceptions").RayError,
            ConnectionError,
            TimeoutError,
        )
        if not self._ray.is_initialized():
            try:
                self._ray.init(address=address, logging_level="warning", log_to_driver=False, **own)
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise ValueError(f"`address` must lead to a running Ray cluster, got {address!r}: {error}") from error
            if own and (ip := self._ray.util.get_node_ip_address()) != "127.0.0.1":
                LOG.warning("Ray was imported before and listens on %s: anyone who can reach it may run code here.", ip)

    @property
    def workers(self) -> int:
        """Populations that the cluster can train at the same time."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1) // self.cpus))

    def run(
        self, populations: Sequence[Job], work: Work, checkpoints: Path | None, watch: Watch
    ) -> Generator[Event, None, None]:
        """Submit everything, the longest first, and yield results as they come."""
        tasks = _Tasks(self, work, checkpoints)
        try:
            for population in sorted(populations, key=lambda p: p.steps, reverse=True):
                tasks.submit(Task(population))
            while tasks.pending:
                try:
                    done, _ = self._ray.wait(list(tasks.pending), timeout=min(LOOK_EVERY, self.silence / 4))
                except self._gone as error:
                    yield from (Lost(task.job.name, _words(error)) for task in tasks.pending.values())
                    return
                for name, steps in tasks.listen():
                    watch(name, steps)
                for handle in done:
                    yield from tasks.end(handle)
                yield from tasks.replace_silent()
        finally:
            for handle in tasks.pending:
                tasks.cancel(handle)


class _Tasks:
    """The tasks of a sweep on the cluster, by their handles."""

    def __init__(self, engine: RayEngine, work: Work, checkpoints: Path | None) -> None:
        self.pending: dict[Any, Task] = {}
        self._engine, self._ray, self._work, self._checkpoints = engine, engine._ray, work, checkpoints
        # Ray's own retries wait in its queue, where the driver cannot distinguish a waiting task from one that hangs.
        self._perform = self._ray.remote(num_cpus=engine.cpus, max_retries=0)(_perform_with_reports)
        self._heartbeats = self._ray.remote(num_cpus=0, max_restarts=-1)(Heartbeats).remote()

    def submit(self, task: Task) -> None:
        """Submit a population to the cluster."""
        self.pending[self._perform.remote(self._work, task.job, self._checkpoints, self._heartbeats)] = task

    def end(self, handle: Any) -> Iterator[Event]:
        """Yield the event of a task that has ended, or none if it is retried."""
        task = self.pending.pop(handle)
        try:
            event = self._ray.get(handle)
        except self._engine._gone as error:
            yield from self._lose(task, _words(error))
        else:
            yield event

    def listen(self) -> list[tuple[str, int]]:
        """Return the steps of the populations that have reported since the last call."""
        with suppress(*self._engine._gone):  # Ray restarts a lost actor
            reports = self._ray.get(self._heartbeats.read.remote(), timeout=LOOK_EVERY)
            told = [(task, reports.get(task.job.name)) for task in self.pending.values()]
            return [(task.job.name, report[1]) for task, report in told if report is not None and task.hear(report)]
        return []

    def replace_silent(self) -> Iterator[Event]:
        """Retry populations that hang; yield those that hung too often."""
        oldest, silence = time.monotonic() - self._engine.silence, self._engine.silence
        for handle in [handle for handle, task in self.pending.items() if task.heard <= oldest]:
            self.cancel(handle)
            yield from self._lose(self.pending.pop(handle), f"no progress for {silence:g} seconds")

    def cancel(self, handle: Any) -> None:
        """Stop a task's worker."""
        with suppress(*self._engine._gone):
            self._ray.cancel(handle, force=True)

    def _lose(self, task: Task, reason: str) -> Iterator[Event]:
        task.attempts, task.heard = task.attempts + 1, math.inf
        if task.attempts > self._engine.retries:
            yield Lost(task.job.name, reason)
        else:
            self.submit(task)


def _words(error: BaseException) -> str:
    """Return the reason of a loss; what a training itself raises comes back as an event."""
    reason = (str(error).strip().splitlines() or [""])[0]
    return f"lost by the cluster ({type(error).__name__}: {reason})"


def _perform_with_reports(work: Work, population: Job, checkpoints: Path | None, heartbeats: Any) -> Event:
    """Train one population on some node, and report its progress from the beginning on.

    It waits for the first report, because a task that hangs before it would look like one that waits for a core.
    """
    ray: Any = import_module("ray")
    with suppress(ray.exceptions.RayError):
        ray.get(heartbeats.report.remote(population.name, 0), timeout=FIRST_REPORT)
    return perform(work, population, checkpoints, lambda steps: heartbeats.report.remote(population.name, steps))
