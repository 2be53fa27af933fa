"""Progress of a training and of a sweep: a bar in a terminal, otherwise a line per minute."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor
from tqdm import tqdm

from morl_recipes.common.scores import SCORES
from morl_recipes.common.text import say
from morl_recipes.running.plan import Job
from morl_recipes.store.checkpoint import CHECKPOINT, peek

EVERY = 60.0
"""Seconds between two lines of a log."""
LINE = "{percentage:.1f}% of {total_fmt} steps, {rate_fmt}, {remaining} left{postfix}"
LABELS = {score.name: score.label for score in SCORES} | {"conflict": "κ", "mu": "μ"}


class _Lines:
    """A file that prints each state of a bar as a line."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say

    def write(self, text: str) -> None:
        if text.strip():
            self.say(text.strip())

    def flush(self) -> None:
        """Do nothing: each line is flushed."""


def open_bar(total: int, done: int, *, show: bool, say: Callable[[str], None], leave: bool = False) -> tqdm[Any]:
    """Return a bar over environment steps, of which ``done`` count neither as new nor for the speed."""
    tqdm.set_lock(threading.RLock())  # its default lock is a semaphore of the system, which a kill would leak
    lines: dict[str, Any] = {}
    if show and not sys.stderr.isatty():
        times = dict.fromkeys(("mininterval", "maxinterval", "delay"), EVERY)
        lines = {"file": _Lines(say), "bar_format": LINE, "leave": False, **times}
    options = {"leave": leave, "dynamic_ncols": True, **lines}
    return tqdm(total=total, initial=done, disable=not show, unit=" steps", unit_scale=True, **options)


class Bar:
    """A bar over the steps of all runs of a training, with the mean HV, EU, conflict and smoothness."""

    def __init__(self, total: int, done: int, *, show: bool) -> None:
        self.bar = open_bar(total, done, show=show, say=lambda line: say(line, file=sys.stderr), leave=True)
        self.shown: dict[str, str] = {}

    def update(self, steps: int, columns: dict[str, Tensor]) -> None:
        """Advance by ``steps`` and show the newest known numbers."""
        for name, label in LABELS.items():
            known = columns[name][~columns[name].isnan()]
            if len(known):
                self.shown[label] = f"{float(known.mean()):.3g}"
        self.bar.set_postfix(self.shown, refresh=False)
        self.bar.update(steps)


class Progress:
    """A bar over the steps of all jobs, with the number of finished runs; without a terminal, a line per job too."""

    def __init__(self, todo: list[Job], folder: Path | None, say: Callable[[str], None], *, show: bool) -> None:
        self._counted = {job.name: _steps_before(folder, job) for job in todo}
        self._planned = sum(len(job.runs) for job in todo)
        total, before = sum(job.steps for job in todo), sum(self._counted.values())
        self.bar = open_bar(total, before, show=show and bool(todo), say=say)
        self.bar.set_postfix_str(f"0 of {self._planned} runs done", refresh=False)

    def update(self, name: str, steps: int) -> None:
        """Count the steps of a job so far."""
        self.bar.update(steps - self._counted[name])
        self._counted[name] = steps

    def end(self, job: Job, runs: int, *, lost: bool = False) -> None:
        """Count a job that has ended, and show the runs that were written so far."""
        if not lost:
            self.update(job.name, job.steps)
        self.bar.set_postfix_str(f"{runs} of {self._planned} runs done")


def _steps_before(folder: Path | None, job: Job) -> int:
    """Return the steps in a job's checkpoint, summed over all runs; 0 for a damaged one."""
    meta = {} if folder is None else peek(folder / job.name / CHECKPOINT)
    try:
        return sum(int(meta["iteration"]) * run.recipe.ppo.steps_per_iteration for run in job.runs)
    except (KeyError, TypeError, ValueError):
        return 0
