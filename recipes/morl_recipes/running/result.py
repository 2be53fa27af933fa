"""The result of a training: one record per run."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from morl_envs.source import EnvSource
from morl_recipes.common import checks, scores
from morl_recipes.common.naming import count
from morl_recipes.common.text import for_terminal
from morl_recipes.recipe.settings import Settings
from morl_recipes.store.record import RunRecord

if TYPE_CHECKING:
    import pandas as pd

    from morl_recipes.evaluation.saved_policy import SavedPolicy
    from morl_recipes.store.store import Store

SHOWN = 20
"""Maximal number of runs that a result prints."""


RunResult = RunRecord
"""The type of ``TrainResult.runs``: a record with its live recipe."""


@dataclass(frozen=True, repr=False)
class TrainResult:
    """All runs of a training, in the requested order.

    Attributes:
        runs: The runs.
        source: Source of the environments.
        settings: Settings of the training.
    """

    runs: list[RunRecord]
    source: EnvSource
    settings: Settings = field(default_factory=Settings)

    @property
    def env(self) -> str:
        """Name of the environment."""
        return self.source.name

    @cached_property
    def objectives(self) -> tuple[str, ...]:
        """Names of the objectives."""
        return self.source.complete().objectives

    def summary(self) -> pd.DataFrame:
        """Return one row per run: preference, seed, status, peak and final scores, and those of the tests."""
        import pandas as pd

        names = scores.names()
        columns = {"peak": ("steps", *names), "final": ("steps", *names), "test_peak": names, "test_final": names}
        rows = [
            {"preference": run.preference, "seed": run.seed, "status": run.status}
            | {f"{at}_{name}": (getattr(run, at) or {}).get(name, nan) for at, own in columns.items() for name in own}
            for run in self.runs
        ]
        return pd.DataFrame(rows)

    def policy(self, run: int = 0, point: Literal["peak", "final"] = "peak") -> SavedPolicy:
        """Return the policy of a run as a module that maps observation and preference to the most likely action.

        Args:
            run: Index of the run in ``runs``.
            point: The policy of the best validation, or the last one.
        """
        from morl_recipes.evaluation.saved_policy import bounds_of, make_policy
        from morl_recipes.recipe.policy_network import Network

        checks.one_of("point", point, ("peak", "final"))
        if checks.at_least("run", run, 0) >= len(self.runs):
            checks.fail("run", f"be the index of one of {count(len(self.runs), 'run')}", run)
        chosen = self.runs[run]
        tensors = chosen.peak_policy if point == "peak" else chosen.policy
        with self.source.opened(1, [0]) as env:
            network = Network.of(chosen.recipe.actor, env)
            return make_policy(tensors | bounds_of(env), len(self.objectives), network)

    def save(self, folder: Path | str) -> Store:
        """Write all runs like ``train(out=folder)``, for ``morl-blocks table``, ``play`` and other commands.

        A folder that already contains a training raises an error.
        """
        from morl_recipes.running.train import save_result

        return save_result(self, checks.path("folder", folder))

    def __repr__(self) -> str:
        shown = self.summary().head(SHOWN)
        shown["preference"] = [" ".join(f"{weight:.3g}" for weight in weights) for weights in shown["preference"]]
        more = f"\n... and {len(self.runs) - SHOWN} more" if len(self.runs) > SHOWN else ""
        head = f"{count(len(self.runs), 'run')} on {self.env} ({', '.join(self.objectives)})"
        return f"{for_terminal(head)}\n{shown.to_string(index=False, float_format='{:.4g}'.format)}{more}"
