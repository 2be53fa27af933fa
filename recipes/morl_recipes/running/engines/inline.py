"""The engine for one job at a time, in the current process."""

from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path

import torch

from morl_recipes.running.engines.events import Attempt, Event, Finished, Watch, Work
from morl_recipes.running.plan import Job


class InlineEngine:
    """Train jobs one after the other in this process, on one thread."""

    workers = 1
    sees_folder = True
    raises = False
    """Raise errors instead of reporting them as events."""

    def run(
        self, populations: Sequence[Job], work: Work, checkpoints: Path | None, watch: Watch
    ) -> Generator[Event, None, None]:
        """Train jobs in order."""
        if not self.raises:
            torch.set_num_threads(1)
        for job in populations:
            attempt = Attempt(job, checkpoints, raises=self.raises)
            with attempt:
                attempt.event = Finished(job.name, work(job, attempt.folder, partial(watch, job.name)))
            yield attempt.event


class RaisingEngine(InlineEngine):
    """The engine of :func:`~morl_recipes.train`: errors are raised in the user's call."""

    raises = True
