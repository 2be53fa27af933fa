"""What a training returns: one record per run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from torch import Tensor

from morl_recipes.common import checks, scores
from morl_recipes.common.naming import count
from morl_recipes.environments.source import EnvSource
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

    from morl_recipes.running.saved_policy import SavedPolicy
    from morl_recipes.store.store import Store

SHOWN = 20
"""Most runs that a result prints."""


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
        test_peak: The policy at the peak on fresh episodes: ``episodes``, ``returns``, ``returns_se`` (standard errors
            over episodes), and each score with its own, ``hv``, ``hv_se``, ...; ``None`` without a test.
        test_final: The last policy on the same episodes.
    """

    recipe: Recipe = field(repr=False)
    preference: tuple[float, ...]
    seed: int
    status: Literal["done", "failed"]
    reason: str
    history: pd.DataFrame = field(repr=False)
    peak: dict[str, Any] | None
    final: dict[str, Any] | None
    policy: dict[str, Tensor] = field(repr=False)
    peak_policy: dict[str, Tensor] = field(repr=False)
    test_peak: dict[str, Any] | None = field(default=None, repr=False)
    test_final: dict[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True, repr=False)
class TrainResult:
    """All runs of a training, in the order in which they were asked for.

    Attributes:
        runs: The runs.
        source: Where the environments came from.
        objectives: Names of the objectives.
        settings: How it was trained.
    """

    runs: list[RunResult]
    source: EnvSource
    objectives: tuple[str, ...]
    settings: Settings = field(default_factory=Settings)

    @property
    def env(self) -> str:
        """Name of the environment."""
        return self.source.name

    def summary(self) -> pd.DataFrame:
        """Return one row per run: preference, seed, status, peak and final scores, and those of the tests."""
        import pandas as pd

        rows = []
        for run in self.runs:
            found = {
                f"{when}_{name}": (point or {}).get(name, float("nan"))
                for when, point in (("peak", run.peak), ("final", run.final))
                for name in ("steps", *scores.names())
            }
            found |= {
                f"{when}_{name}": (point or {}).get(name, float("nan"))
                for when, point in (("test_peak", run.test_peak), ("test_final", run.test_final))
                for name in scores.names()
            }
            rows.append({"preference": run.preference, "seed": run.seed, "status": run.status, **found})
        return pd.DataFrame(rows)

    def policy(self, run: int = 0, point: Literal["peak", "final"] = "peak") -> SavedPolicy:
        """Return the policy of a run as a module, from observation and preference to the most likely action.

        Args:
            run: Its place in ``runs``.
            point: The policy of the best validation, or the last one.
        """
        from morl_recipes.learning.networks import build_actor
        from morl_recipes.running.saved_policy import SavedPolicy

        checks.one_of("point", point, ("peak", "final"))
        chosen = self.runs[run]
        tensors = chosen.peak_policy if point == "peak" else chosen.policy
        with self.source.opened(1, [0]) as env:
            bounds = env.action_low, env.action_high
            module = SavedPolicy(tensors, len(self.objectives), *bounds, build_actor(chosen.recipe, env)).eval()
        return module.requires_grad_(requires_grad=False)

    def save(self, folder: Path | str) -> Store:
        """Write all runs as ``train(out=folder)`` would have: ``morl-blocks table``, ``play`` and so on read it.

        A folder that holds a training already is refused.
        """
        from morl_recipes.running.stored import save_result

        return save_result(self, Path(folder))

    def __repr__(self) -> str:
        shown = self.summary().head(SHOWN)
        shown["preference"] = [" ".join(f"{weight:.3g}" for weight in weights) for weights in shown["preference"]]
        more = f"\n... and {len(self.runs) - SHOWN} more" if len(self.runs) > SHOWN else ""
        head = f"{count(len(self.runs), 'run')} on {self.env} ({', '.join(self.objectives)})"
        return f"{head}\n{shown.to_string(index=False, float_format='{:.4g}'.format)}{more}"


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
