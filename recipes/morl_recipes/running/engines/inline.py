"""The engine for one training at a time: this very process."""

from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path

from morl_recipes.running.engines.events import Event, Finished, Watch, Work, perform
from morl_recipes.running.plan import Job


class InlineEngine:
    """Train populations one after the other in this process."""

    workers = 1
    sees_folder = True

    def run(
        self, populations: Sequence[Job], work: Work, checkpoints: Path | None, watch: Watch
    ) -> Generator[Event, None, None]:
        """Train populations in order; an interrupt that was too late for one of them stops before the next."""
        for left, population in zip(range(len(populations))[::-1], populations, strict=True):
            event = perform(work, population, checkpoints, partial(watch, population.name))
            yield event
            if left and isinstance(event, Finished) and event.interrupted:
                raise KeyboardInterrupt
