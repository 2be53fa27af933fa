"""Progress of a training and of a sweep: a bar in a terminal, otherwise lines."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from torch import Tensor
from tqdm import tqdm

from morl_recipes.common.naming import count
from morl_recipes.common.scores import SCORES
from morl_recipes.common.text import for_terminal, say
from morl_recipes.running.plan import Job
from morl_recipes.store.checkpoint import CHECKPOINT, peek

EVERY = 60.0
"""Seconds between two lines of a log."""


LINES = 20
LABELS = {score.name: score.label for score in SCORES} | {"conflict": "κ", "mu": "μ"}


class Bar:
    """One progress bar over the steps of all runs, with the mean HV, EU, conflict and smoothness.

    Without a terminal it prints a line for every twentieth of the steps.
    """

    def __init__(self, total: int, done: int, *, show: bool) -> None:
        disable = None if show else True
        self.bar = tqdm(total=total, initial=done, disable=disable, unit="step", unit_scale=True, dynamic_ncols=True)
        self.total, self.done, self.lines = total, done, show and bool(self.bar.disable)
        self.shown: dict[str, str] = {}

    def update(self, steps: int, columns: dict[str, Tensor]) -> None:
        """Advance by ``steps`` and show the newest known numbers."""
        for name, label in LABELS.items():
            known = columns[name][~columns[name].isnan()]
            if len(known):
                self.shown[label] = f"{float(known.mean()):.3g}"
        values = {label: self.shown[label] for label in LABELS.values() if label in self.shown}
        self.bar.set_postfix(values, refresh=False)
        self.bar.update(steps)
        before, self.done = self.done, self.done + steps
        if self.lines and before * LINES // self.total < self.done * LINES // self.total:
            words = ", ".join(f"{label} {value}" for label, value in values.items())
            self.say(f"{self.done:,} of {self.total:,} steps: {words}")

    def say(self, message: str) -> None:
        """Print a message above the bar, or as a line."""
        if not self.bar.disable:
            self.bar.write(for_terminal(message))
        elif self.lines:
            say(message, file=sys.stderr)

    def close(self) -> None:
        """Close the bar and leave it visible."""
        self.bar.close()


class Progress:
    """One bar over the steps of all runs; without a terminal, a line per finished population and per minute.

    Steps of the checkpoints in ``folder`` count neither as new steps nor for the speed.
    """

    def __init__(
        self, todo: list[Job], folder: Path | None, say: Callable[[str], None], *, show: bool, every: float = EVERY
    ) -> None:
        self._counted = {population.name: _steps_before(folder, population) for population in todo}
        self._say, self._populations, self._ended, self._runs = say, len(todo), 0, 0
        self._planned = sum(len(population.runs) for population in todo)
        self._total, self._before = sum(population.steps for population in todo), sum(self._counted.values())
        self._begun, self._started = set[str](), time.monotonic()
        tqdm.set_lock(threading.RLock())  # its default lock is a semaphore of the system, which a kill would leak
        self._bar = tqdm(
            total=self._total,
            initial=self._before,
            unit=" steps",
            unit_scale=True,
            disable=None if show and todo else True,
            leave=False,
        )
        self._lines = show and bool(self._bar.disable)
        self._closed = threading.Event()
        if self._lines and todo:
            threading.Thread(target=self._report, args=(every,), daemon=True).start()

    def update(self, name: str, steps: int) -> None:
        """Count the steps of a population so far."""
        self._begun.add(name)
        self._bar.update(steps - self._counted[name])
        self._counted[name] = steps

    def end(self, population: Job, runs: int, *, lost: bool = False) -> None:
        """Count a finished population, and the runs that were written so far."""
        if not lost:
            self.update(population.name, population.steps)
        self._begun.discard(population.name)
        self._ended, self._runs = self._ended + 1, runs
        counted = count(runs, "run")
        self._bar.set_postfix_str(counted)
        if self._lines:
            self._say(f"Job {self._ended} of {self._populations} has ended; {counted} so far.")

    def line(self) -> str:
        """Return a line of progress: runs done, jobs running, speed and remaining time."""
        steps = sum(self._counted.values())
        speed = (steps - self._before) / max(time.monotonic() - self._started, 1e-9)
        left = f"about {duration((self._total - steps) / speed)} left" if speed > 0 else "no step yet"
        return (
            f"{self._runs} of {self._planned} runs done, {count(len(self._begun), 'job')} running, "
            f"{steps / max(self._total, 1):.1%} of the steps, {speed:,.0f} steps/s, {left}."
        )

    def close(self) -> None:
        """Remove the bar, and end the lines."""
        self._closed.set()
        self._bar.close()

    def _report(self, every: float) -> None:
        while not self._closed.wait(every):
            self._say(self.line())


def duration(seconds: float) -> str:
    """Print a duration in a readable unit.

    Example:
        >>> duration(42), duration(600), duration(8100)
        ('42 s', '10 min', '2 h 15 min')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def _steps_before(folder: Path | None, population: Job) -> int:
    """Return the steps in a population's checkpoint, summed over all runs; 0 for a damaged one."""
    meta = {} if folder is None else peek(folder / population.name / CHECKPOINT)
    try:
        return sum(int(meta["iteration"]) * run.recipe.ppo.steps_per_iteration for run in population.runs)
    except (KeyError, TypeError, ValueError):
        return 0
