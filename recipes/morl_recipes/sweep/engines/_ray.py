"""The engine beyond one machine: tasks on an existing Ray cluster."""

from collections.abc import Generator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from morl_recipes import _checks
from morl_recipes.sweep._plan import Job
from morl_recipes.sweep.engines._events import Event, Lost, Watch, Work, folder_of, perform


class RayEngine:
    """Train each population as one Ray task; Ray places, retries and cancels them.

    A population that the cluster loses for good, with its nodes or altogether, stays to do.

    Every node needs the same version of morl-blocks. Results travel to the driver, which alone writes the store.

    Args:
        address: The cluster, as for ``ray.init``: ``"auto"``, ``"host:port"`` or ``"ray://host:port"``.
        cpus: Cores that Ray reserves for a population.
        retries: How often Ray tries a population again when its worker or node is lost.
        shared: Whether the sweep's folder is the same on every node, so that a retry continues from checkpoints.
    """

    def __init__(self, address: str = "auto", *, cpus: float = 1.0, retries: int = 3, shared: bool = False) -> None:
        if find_spec("ray") is None:
            raise ImportError("The ray engine needs the ray extra: pip install 'morl-blocks[ray]'.")
        _checks.positive("cpus", cpus)
        _checks.at_least("retries", retries, 0)
        self.cpus, self.retries, self.sees_folder = cpus, retries, shared
        self._ray: Any = import_module("ray")
        self._exceptions: Any = import_module("ray.exceptions")
        if not self._ray.is_initialized():
            try:
                self._ray.init(address=address, logging_level="warning", log_to_driver=False)
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise ValueError(f"`address` must lead to a running Ray cluster, got {address!r}: {error}") from error

    @property
    def workers(self) -> int:
        """Populations that the cluster can train at the same time."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1) // self.cpus))

    def run(
        self, populations: Sequence[Job], work: Work, checkpoints: Path | None, watch: Watch
    ) -> Generator[Event, None, None]:
        """Submit everything, the longest first, and yield results as they come; nothing is watched in between."""
        remote = self._ray.remote(num_cpus=self.cpus, max_retries=self.retries)(_perform_quietly)
        ordered = sorted(populations, key=lambda p: p.steps, reverse=True)
        pending = {remote.remote(work, p, folder_of(checkpoints, p)): p for p in ordered}
        gone = (self._exceptions.RayError, ConnectionError, TimeoutError)
        try:
            while pending:
                try:
                    (done, *_), _ = self._ray.wait(list(pending), num_returns=1)
                except gone as error:
                    yield from (_lost(population, error) for population in pending.values())
                    return
                population = pending.pop(done)
                try:
                    event = self._ray.get(done)
                except gone as error:
                    event = _lost(population, error)
                yield event
        finally:
            for task in pending:
                with suppress(*gone):
                    self._ray.cancel(task, force=True)


def _lost(population: Job, error: BaseException) -> Lost:
    """Blame the cluster: whatever a training raises comes back as an event of its own."""
    reason = (str(error).strip().splitlines() or [""])[0]
    return Lost(population.name, f"lost by the cluster ({type(error).__name__}: {reason})")


def _perform_quietly(work: Work, population: Job, folder: Path | None) -> Event:
    """Train one population on some node."""
    return perform(work, population, folder, lambda steps: None)
