"""Watching a training: one progress bar, loggers, and a Ctrl-C that waits for the end of the iteration."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterable, Sequence
from types import FrameType, TracebackType
from typing import Any, Protocol

import torch
from torch import Tensor
from tqdm import tqdm

from morl_recipes.common.checks import fail
from morl_recipes.common.scores import SCORES

LINES = 20
LABELS = {score.name: score.label for score in SCORES} | {"conflict": "κ", "mu": "μ"}


class Logger(Protocol):
    """What TorchRL's loggers (CSV, TensorBoard, W&B, MLflow) offer and the trainer uses."""

    def log_scalar(self, name: str, value: float, step: int) -> None:
        """Log one number."""
        ...


def check_loggers(loggers: Any) -> tuple[Logger, ...]:
    """Require a list of loggers, before the first iteration instead of after it."""
    chosen = tuple(loggers) if isinstance(loggers, Iterable) else (None,)
    if not all(callable(getattr(logger, "log_scalar", None)) for logger in chosen):
        fail("loggers", "be a list of TorchRL loggers, or of anything with log_scalar(name, value, step)", loggers)
    return chosen


class Bar:
    """One progress bar over the steps of all runs, with the mean HV, EU, conflict and smoothness.

    Where nobody watches a terminal, it is a line whenever another twentieth is done.
    """

    def __init__(self, total: int, done: int, *, show: bool) -> None:
        disable = None if show else True
        self.bar = tqdm(total=total, initial=done, disable=disable, unit="step", unit_scale=True, dynamic_ncols=True)
        self.total, self.done, self.lines = total, done, show and bool(self.bar.disable)
        self.shown: dict[str, str] = {}

    def update(self, steps: int, columns: dict[str, Tensor]) -> None:
        """Advance by ``steps`` and show the newest numbers that are known."""
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
            self.bar.write(message)
        elif self.lines:
            print(message, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the bar as it is."""
        self.bar.close()


def log(loggers: Sequence[Logger], columns: dict[str, Tensor], step: int) -> None:
    """Send every known number to every logger, as ``<column>/run<k>`` and the mean as ``<column>/mean``."""
    for name, column in columns.items() if loggers else ():
        for run, value in enumerate(column.tolist()):
            if value == value:
                _each(loggers, f"{name}/run{run}", value, step)
        known = column[~column.isnan()]
        if len(known):
            _each(loggers, f"{name}/mean", float(torch.mean(known)), step)


def _each(loggers: Sequence[Logger], name: str, value: float, step: int) -> None:
    for logger in loggers:
        logger.log_scalar(name, value, step)


class Interrupt:
    """Turn the first Ctrl-C into a request to stop; a second one interrupts at once.

    Outside the main thread, where Python delivers no signals, it does nothing.
    """

    def __init__(self) -> None:
        self.requested = False
        self._before: Any = None

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _request(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
