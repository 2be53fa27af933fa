"""The engine for one job at a time, in the current process."""

from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path

import torch

from morl_recipes.running.engines.events import Event, Finished, Watch, Work, attempt
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
            with attempt(job, checkpoints, raises=self.raises) as (folder, events):
                events.append(Finished(job.name, work(job, folder, partial(watch, job.name))))
            yield events[0]


class RaisingEngine(InlineEngine):
    """The engine of :func:`~morl_recipes.train`: errors are raised in the user's call."""

    raises = True
