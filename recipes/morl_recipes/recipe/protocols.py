"""Evaluation protocols of the literature as data, and the values published under them.

A published hypervolume is only meaningful with its environment, discount, horizon, reference point and grid of weights.
A :class:`Task` holds these, and whether a front of an environment of this package is comparable with it.
"""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import pandas as pd

from morl_blocks.metrics import even_weights
from morl_blocks.metrics.arrays import Array
from morl_recipes.common import checks

_TITLES = {
    "A": "PGMORL's environments: undiscounted, 500 steps, reference 0 (PGMORL, CAPQL, Q-Pensieve, COLA, Hyper-MORL)",
    "B": "MO-Gymnasium's ids: gamma 0.99, reference -100 each (C-MORL, D3PO)",
    "exact": "MO-Gymnasium's small tasks: the front that can be reached",
}


@dataclass(frozen=True)
class Task:
    """How one environment is evaluated under a protocol.

    Attributes:
        protocol: Name of the protocol.
        name: The task's name in the published tables.
        env: The most similar environment of this package.
        objectives: Number of objectives m.
        gamma: Discount of the evaluation, not of the training.
        horizon: Steps after which the publication truncates an episode.
        reference: Reference point of the hypervolume, m numbers, maximise.
        weights: Size of the even grid of the expected utility.
        seeds: Number of trainings per method; ``None`` if it does not apply.
        steps: Environment steps per training; ``None`` if it does not apply.
        comparable: Whether a front of ``env`` can be compared with the published numbers.
        reason: Why, or why not.
    """

    protocol: str
    name: str
    env: str
    objectives: int
    gamma: float
    horizon: int
    reference: tuple[float, ...]
    weights: int
    seeds: int | None
    steps: int | None
    comparable: bool
    reason: str

    def grid(self) -> Array:
        """Return the even weights of the evaluation, ``[weights, m]``."""
        return even_weights(self.objectives, self.weights)

    def published(self) -> pd.DataFrame:
        """Return the published rows of :func:`published_fronts` that a front of ``env`` can be compared with.

        A task that is not comparable raises ``ValueError`` with the reason, because its numbers mean something else.
        """
        if not self.comparable:
            rule = f"be comparable with {self.name} of protocol {self.protocol}"
            checks.fail("env", rule, f"{self.env}: {self.reason}")
        frame = published_fronts()
        rows = (frame["protocol"] == self.protocol) & (frame["environment"] == self.name)
        return frame[rows].reset_index(drop=True)


@dataclass(frozen=True)
class Protocol:
    """A set of tasks that are evaluated in the same way; ``name`` is ``"A"``, ``"B"`` or ``"exact"``."""

    name: str
    title: str
    tasks: tuple[Task, ...]

    def task(self, env: str) -> Task:
        """Return the task of an environment (any case)."""
        tasks = {task.env: task for task in self.tasks}
        task = tasks.get(env.lower()) if isinstance(env, str) else None
        if task is None:
            checks.fail("env", f"be an environment of protocol {self.name} ({', '.join(tasks)})", repr(env))
        return task

    def frame(self) -> pd.DataFrame:
        """Return the tasks as a frame, one row each."""
        return pd.DataFrame(list(self.tasks))


def protocol(name: str) -> Protocol:
    """Return a protocol of the literature.

    - ``"A"``: PGMORL's environments. MO-Gymnasium contains none of them, so no task is comparable.
    - ``"B"``: MO-Gymnasium's ids. Where version 5 rewards otherwise than version 4 of the publications, the task of the
      ``-v4`` id is comparable and that of the ``-v5`` id is not.
    - ``"exact"``: tasks whose front is known.

    Example:
        >>> [task.env for task in protocol("B").tasks if not task.comparable]
        ['mo-ant-2obj-v5', 'mo-ant-v5', 'mo-humanoid-v5']
    """
    if not isinstance(name, str) or name not in _TITLES:
        checks.fail("name", f"be a protocol ({', '.join(_TITLES)})", repr(name))
    rows = _read("tasks").query("protocol == @name").to_dict("records")
    return Protocol(name, _TITLES[name], tuple(map(_task, rows)))


def published_fronts() -> pd.DataFrame:
    """Return the published values, one row per protocol, environment, metric and method.

    Columns: ``protocol, environment`` (as the publication names it), ``metric`` (``HV`` or ``EUM``), ``method``,
    ``value, deviation`` (in plain units; NaN if none is printed), ``seeds, steps`` and ``source``. Rows of different
    protocols measure different things: never rank across them.

    Example:
        >>> frame = published_fronts()
        >>> frame.groupby("protocol").size().to_dict()
        {'A': 25, 'B': 40, 'exact': 5}
    """
    frame = _read("published").copy()
    unit = frame.pop("unit").astype(float)
    for name in ("value", "deviation"):  # without the noise of binary fractions of a few digits and a power of ten
        frame[name] = (frame[name].astype(float) * unit).round(12)
    return frame[["protocol", "environment", "metric", "method", "value", "deviation", "seeds", "steps", "source"]]


@cache
def _read(name: str) -> pd.DataFrame:
    """Read one of the packaged tables; counts that may be missing stay integers."""
    with (resources.files("morl_recipes") / "data" / "fronts" / f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, dtype={"reference": "str", "gamma": "float", "seeds": "Int64", "steps": "Int64"})


def _task(row: dict[Any, Any]) -> Task:
    """Make a task from a row of ``tasks.csv``; a single reference is that of all objectives."""
    numbers = tuple(float(part) for part in row["reference"].split())
    row["reference"] = numbers if len(numbers) == row["objectives"] else numbers * row["objectives"]
    counts = {name: None if pd.isna(row[name]) else int(row[name]) for name in ("seeds", "steps")}
    return Task(**row | counts | {"comparable": row["comparable"] == "yes"})
