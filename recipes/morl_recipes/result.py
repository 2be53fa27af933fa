"""What a training returns: one record per run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from torch import Tensor

from morl_recipes import scores
from morl_recipes.recipe import Recipe


@dataclass(frozen=True)
class RunResult:
    """One finished (or failed) run.

    Attributes:
        recipe: Its recipe.
        preference: Its preference.
        seed: Its seed.
        status: ``"done"`` or ``"failed"``.
        reason: Why it failed; empty otherwise.
        history: One row per iteration; ``return_i``, ``hv``, ``eu`` are NaN where there was no validation.
        peak: Best validation: ``iteration``, ``steps``, ``returns``, ``hv``, ``eu``; ``None`` without a validation.
        final: Last validation, likewise.
        policy: Parameters of the last policy by name, with the observation statistics when there are any.
        peak_policy: Those of the policy at the peak.
    """

    recipe: Recipe
    preference: tuple[float, ...]
    seed: int
    status: Literal["done", "failed"]
    reason: str
    history: pd.DataFrame
    peak: dict[str, Any] | None
    final: dict[str, Any] | None
    policy: dict[str, Tensor]
    peak_policy: dict[str, Tensor]


@dataclass(frozen=True)
class TrainResult:
    """All runs of a training, in the order in which they were asked for.

    Attributes:
        runs: The runs.
        env: Name of the environment.
        objectives: Names of the objectives.
    """

    runs: list[RunResult]
    env: str
    objectives: tuple[str, ...]

    def summary(self) -> pd.DataFrame:
        """Return one row per run: preference, seed, status, peak and final scores."""
        rows = []
        for run in self.runs:
            found = {
                f"{when}_{name}": (point or {}).get(name, float("nan"))
                for when, point in (("peak", run.peak), ("final", run.final))
                for name in ("steps", *scores.names())
            }
            rows.append({"preference": run.preference, "seed": run.seed, "status": run.status, **found})
        return pd.DataFrame(rows)


def validation(frame: pd.DataFrame, objectives: int, iteration: int | None = None) -> dict[str, Any] | None:
    """Return the validation at an iteration (by default the last one) as a plain record; all returns are finite."""
    if frame.empty:
        return None
    names = [f"return_{i}" for i in range(objectives)]
    known = frame[np.isfinite(frame[names]).all(axis=1)]
    if iteration is not None:
        known = known[known["iteration"] == iteration]
    if known.empty:
        return None
    row = known.iloc[-1]
    return {
        "iteration": int(row["iteration"]),
        "steps": int(row["steps"]),
        "returns": tuple(float(row[name]) for name in names),
        **{name: float(row[name]) for name in scores.names()},
    }
