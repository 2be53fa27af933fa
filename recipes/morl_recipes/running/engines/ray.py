"""The engine for several machines: tasks on an existing Ray cluster."""

import math
import os
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from morl_recipes.common import checks
from morl_recipes.common.text import LOG
from morl_recipes.running.engines.events import SILENCE, Event, Lost, Watch, Work, perform
from morl_recipes.running.plan import Job

Task: TypeAlias = tuple[str, int]
"""Name of a population, and number of the attempt."""


class Heartbeats:
    """Collect the progress of all tasks, as a Ray actor: tasks report their steps, the driver reads them.

    A task that has not reported waits for a free worker, and is not silent.
    """

    def __init__(self) -> None:
        self.reports: dict[Task, tuple[float, int]] = {}

    def report(self, task: Task, steps: int) -> None:
        """Store the steps of a task so far; it starts with 0."""
        self.reports[task] = time.monotonic(), steps

    def read(self) -> dict[Task, tuple[float, int]]:
        """Return the seconds since the last report of each task, and its steps."""
        return {task: (time.monotonic() - heard, steps) for task, (heard, steps) in self.reports.items()}


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
                tasks.submit(population, 1)
            while tasks.pending:
                try:
                    done, _ = self._ray.wait(list(tasks.pending), timeout=min(LOOK_EVERY, self.silence / 4))
                except self._gone as error:
                    yield from (Lost(job.name, _words(error)) for job, _ in tasks.pending.values())
                    return
                tasks.listen(watch)
                for handle in done:
                    yield from tasks.end(handle)
                yield from tasks.replace_silent()
        finally:
            for handle in tasks.pending:
                tasks.cancel(handle)


class _Tasks:
    """The tasks of a sweep on the cluster, by their handles: a population and the number of the attempt."""

    def __init__(self, engine: RayEngine, work: Work, checkpoints: Path | None) -> None:
        self.pending: dict[Any, tuple[Job, int]] = {}
        self._heard: dict[Any, float] = {}  # kept here, because a lost actor forgets its reports
        self._engine, self._ray, self._work, self._checkpoints = engine, engine._ray, work, checkpoints
        # Ray's own retries wait in its queue, where the driver cannot distinguish a waiting task from one that hangs.
        self._perform = self._ray.remote(num_cpus=engine.cpus, max_retries=0)(_perform_with_reports)
        self._heartbeats = self._ray.remote(num_cpus=0, max_restarts=-1)(Heartbeats).remote()

    def submit(self, job: Job, attempt: int) -> None:
        """Submit a population to the cluster."""
        handle = self._perform.remote(self._work, job, self._checkpoints, attempt, self._heartbeats)
        self.pending[handle] = job, attempt

    def end(self, handle: Any) -> Iterator[Event]:
        """Yield the event of a task that has ended, or none if it is retried."""
        try:
            event = self._ray.get(handle)
        except self._engine._gone as error:
            yield from self._lose(handle, _words(error))
        else:
            del self.pending[handle]
            yield event

    def listen(self, watch: Watch) -> None:
        """Pass on the steps of all tasks that have begun."""
        with suppress(*self._engine._gone):  # Ray restarts a lost actor
            reports = self._ray.get(self._heartbeats.read.remote(), timeout=LOOK_EVERY)
            now = time.monotonic()
            for handle, (job, attempt) in self.pending.items():
                if (report := reports.get((job.name, attempt))) is not None:
                    age, steps = report
                    self._heard[handle] = now - age
                    watch(job.name, steps)

    def replace_silent(self) -> Iterator[Event]:
        """Retry populations that hang; yield those that hung too often."""
        oldest, silence = time.monotonic() - self._engine.silence, self._engine.silence
        for handle in [handle for handle in self.pending if self._heard.get(handle, math.inf) <= oldest]:
            self.cancel(handle)
            yield from self._lose(handle, f"no progress for {silence:g} seconds")

    def cancel(self, handle: Any) -> None:
        """Stop a task's worker."""
        with suppress(*self._engine._gone):
            self._ray.cancel(handle, force=True)

    def _lose(self, handle: Any, reason: str) -> Iterator[Event]:
        job, attempt = self.pending.pop(handle)
        if attempt > self._engine.retries:
            yield Lost(job.name, reason)
        else:
            self.submit(job, attempt + 1)


def _words(error: BaseException) -> str:
    """Return the reason of a loss; what a training itself raises comes back as an event."""
    reason = (str(error).strip().splitlines() or [""])[0]
    return f"lost by the cluster ({type(error).__name__}: {reason})"


def _perform_with_reports(
    work: Work, population: Job, checkpoints: Path | None, attempt: int, heartbeats: Any
) -> Event:
    """Train one population on some node, and report its progress from the beginning on."""
    ray: Any = import_module("ray")
    task = population.name, attempt
    with suppress(ray.exceptions.RayError):  # wait for it: a task that hangs before would look like one without a core
        ray.get(heartbeats.report.remote(task, 0), timeout=FIRST_REPORT)
    return perform(work, population, checkpoints, lambda steps: heartbeats.report.remote(task, steps))
