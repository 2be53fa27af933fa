"""The rows of all groups on one environment, so that any two of them can be compared."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from morl_blocks.metrics import Comparison, Interval
from morl_recipes.analysis.groups.load import Results
from morl_recipes.analysis.groups.panel import Array, Panel
from morl_recipes.analysis.groups.statistics import compare_runs, mean_interval
from morl_recipes.analysis.tables.printed import printed_summary, scale_note
from morl_recipes.common import scores
from morl_recipes.recipe import paper
from morl_recipes.recipe.rows import ROWS


class Row(NamedTuple):
    """A row of the tables: its group and its name there."""

    group: str
    method: str


PASTA = Row("baselines", paper.REFERENCE)


@dataclass(frozen=True)
class Rows:
    """The scores of every row on one environment: hypervolume, or expected utility where there are no bounds.

    Attributes:
        env: Name of the environment.
        panels: Its panels by group.
    """

    env: str
    panels: dict[str, Panel] = field(repr=False)
    _known: dict[Row, Array] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, results: Results, env: str) -> "Rows":
        """Take the panels of one environment."""
        return cls(env, {panel.group: panel for panel in results.panels if panel.env == env})

    @cached_property
    def score(self) -> scores.Score:
        """Say what is compared."""
        known = all(panel.info.bounds is not None for panel in self.panels.values())
        return scores.HYPERVOLUME if known else scores.UTILITY

    @cached_property
    def axes(self) -> tuple[list[tuple[float, ...]], list[int]]:
        """Return the preferences and the seeds of all rows."""
        panels = self.panels.values()
        preferences = dict.fromkeys(weights for panel in panels for weights in panel.preferences)
        return list(preferences), sorted({seed for panel in panels for seed in panel.seeds})

    def runs(self, row: Row) -> tuple[int, int]:
        """Return how many runs of a row are usable, and how many were planned; PASTA stands in any group."""
        panel, k = self._find(row)
        return (0, 0) if panel is None else panel.runs(k)

    def complete(self, row: Row) -> bool:
        """Tell whether all planned runs of a row are there, and at least two seeds."""
        done, planned = self.runs(row)
        return 0 < planned == done and int(np.isfinite(self.values(row)).sum(1).max(initial=0)) > 1

    def values(self, row: Row) -> Array:
        """Return the scores of a row, NaN where it has no run, ``[preferences, seeds]``."""
        if row not in self._known:
            preferences, seeds = self.axes
            panel, k = self._find(row)
            nothing = np.full((len(preferences), len(seeds)), np.nan)
            self._known[row] = nothing if panel is None else panel.laid_out(k, self.score, preferences, seeds)
        return self._known[row]

    def mean(self, row: Row) -> Interval:
        """Return the mean of a row over preferences of the seed mean, with its 95 % interval."""
        values = self.values(row)
        return mean_interval(values, np.isfinite(values), score=self.score)

    def compare(self, first: Row, second: Row, level: float = 0.95) -> Comparison | None:
        """Compare two rows run by run; ``None`` without two shared seeds on each shared preference."""
        return compare_runs(self.values(first), self.values(second), level)

    def printed(self, row: Row) -> float:
        """Return the paper's score of a row, NaN where it prints none; its scale may not be ours."""
        return self._printed.get(row, np.nan)

    @cached_property
    def _printed(self) -> dict[Row, float]:
        if self.same_scale:
            panels = [panel for panel in self.panels.values() if panel.group in ROWS]
            return {Row(p.group, method): row.hv for p in panels for method, row in printed_summary(p).items()}
        cells = paper.per_preference()
        means = cells[cells["env"] == self.env].groupby(["group", "method"])["hv_mean"].mean().reset_index()
        return {Row(*row[:2]): float(row[2]) for row in means.itertuples(index=False)}

    @cached_property
    def same_scale(self) -> bool:
        """Tell whether the paper's hypervolumes may be set against ours."""
        return self.score is scores.HYPERVOLUME and all(scale_note(panel) is None for panel in self.panels.values())

    def _find(self, row: Row) -> tuple[Panel | None, int]:
        groups = [row.group, *self.panels] if row.method == paper.REFERENCE else [row.group]
        for group in groups:
            panel = self.panels.get(group)
            if panel is not None and row.method in panel.methods:
                return panel, panel.methods.index(row.method)
        return None, 0
