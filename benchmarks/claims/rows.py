"""The rows of all groups on one environment, so that any two of them can be compared."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from morl_blocks.metrics import Comparison, Interval
from morl_recipes.analysis.results.load import Results
from morl_recipes.analysis.results.statistics import compare_runs, mean_interval
from morl_recipes.analysis.results.study import Array, Study
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
    """The scores of every row on one environment.

    Attributes:
        env: Name of the environment.
        studies: Its studies by group.
        asked: The score that is compared; by default hypervolume, or expected utility where there are no bounds.
    """

    env: str
    studies: dict[str, Study] = field(repr=False)
    asked: scores.Score | None = None
    _known: dict[Row, Array] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, results: Results, env: str, asked: scores.Score | None = None) -> "Rows":
        """Take the studies of one environment."""
        return cls(env, {study.group: study for study in results.studies if study.env == env}, asked)

    @cached_property
    def score(self) -> scores.Score:
        """Say what is compared."""
        if self.asked is not None:
            return self.asked
        known = all(study.info.bounds is not None for study in self.studies.values())
        return scores.HYPERVOLUME if known else scores.UTILITY

    @cached_property
    def axes(self) -> tuple[list[tuple[float, ...]], list[int]]:
        """Return the preferences and the seeds of all rows."""
        studies = self.studies.values()
        preferences = dict.fromkeys(weights for study in studies for weights in study.preferences)
        return list(preferences), sorted({seed for study in studies for seed in study.seeds})

    def runs(self, row: Row) -> tuple[int, int]:
        """Return how many runs of a row are usable, and how many were planned; PASTA stands in any group."""
        study, k = self._find(row)
        return (0, 0) if study is None else study.runs(k)

    def complete(self, row: Row) -> bool:
        """Tell whether all planned runs of a row are there, and at least two seeds."""
        done, planned = self.runs(row)
        return 0 < planned == done and int(np.isfinite(self.values(row)).sum(1).max(initial=0)) > 1

    def values(self, row: Row) -> Array:
        """Return the scores of a row, NaN where it has no run, ``[preferences, seeds]``."""
        if row not in self._known:
            preferences, seeds = self.axes
            study, k = self._find(row)
            nothing = np.full((len(preferences), len(seeds)), np.nan)
            self._known[row] = nothing if study is None else study.laid_out(k, self.score, preferences, seeds)
        return self._known[row]

    def mean(self, row: Row) -> Interval:
        """Return the mean of a row over preferences of the seed mean, with its 95 % interval."""
        values = self.values(row)
        return mean_interval(values, np.isfinite(values), limits=self.score.limits)

    def compare(self, first: Row, second: Row, level: float = 0.95) -> Comparison | None:
        """Compare two rows run by run; ``None`` without two shared seeds on each shared preference."""
        return compare_runs(self.values(first), self.values(second), level)

    def printed(self, row: Row) -> float:
        """Return the paper's score of a row, NaN where it prints none; its scale may not be ours."""
        return self._printed.get(row, np.nan)

    @cached_property
    def _printed(self) -> dict[Row, float]:
        if self.same_scale:
            studies = [study for study in self.studies.values() if study.group in ROWS]
            return {Row(p.group, method): row.hv for p in studies for method, row in printed_summary(p).items()}
        cells = paper.per_preference()
        means = cells[cells["env"] == self.env].groupby(["group", "method"])["hv_mean"].mean().reset_index()
        return {Row(*row[:2]): float(row[2]) for row in means.itertuples(index=False)}

    @cached_property
    def same_scale(self) -> bool:
        """Tell whether the paper's hypervolumes may be set against ours."""
        return self.score is scores.HYPERVOLUME and all(scale_note(study) is None for study in self.studies.values())

    def _find(self, row: Row) -> tuple[Study | None, int]:
        groups = [row.group, *self.studies] if row.method == paper.REFERENCE else [row.group]
        for group in groups:
            study = self.studies.get(group)
            if study is not None and row.method in study.methods:
                return study, study.methods.index(row.method)
        return None, 0
