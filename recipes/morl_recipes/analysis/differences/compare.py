"""Compare the rows of two sets of results: run by run where they share seeds, by their means where they do not."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import stdtrit  # type: ignore[import-untyped]

from morl_blocks.metrics import Interval, bootstrap_ci, compare, standard_error
from morl_recipes.analysis.results.load import Results
from morl_recipes.analysis.results.statistics import NOTHING, mean_interval
from morl_recipes.analysis.results.study import Array, Study
from morl_recipes.common import scores

SAME = 1e-7
"""Largest relative difference between scores of the same run; published numbers are rounded."""
LEVEL = 0.95
"""Of the intervals."""
How = Literal["same runs", "paired", "other seeds", "too few"]
Verdict = Literal["same", "better", "worse", "not distinguishable", ""]


@dataclass(frozen=True)
class RowDifference:
    """One row in two sets of results.

    Attributes:
        env: Name of the environment.
        group: Name of the group.
        method: Name of the row.
        score: What is compared: ``"hv"``, or ``"eu"`` where the environment has no bounds.
        first: Mean of the first set over the preferences that both have, with its interval.
        second: Mean of the second set, likewise.
        difference: Second minus first, with its 95 % interval; NaN where one seed is not enough.
        how: Whether every run has the same score, runs were paired by preference and seed, the sets have
            other seeds, or there are too few.
        runs: Runs of the first set, of the second, and those that both have, on the shared preferences.
    """

    env: str
    group: str
    method: str
    score: str
    first: Interval
    second: Interval
    difference: Interval
    how: How
    runs: tuple[int, int, int]

    @property
    def verdict(self) -> Verdict:
        """Return how the second compares with the first; empty without an interval."""
        if self.how == "same runs":
            return "same"
        if math.isnan(self.difference.low):
            return ""
        if self.difference.low > 0:
            return "better"
        return "worse" if self.difference.high < 0 else "not distinguishable"


def compare_results(first: Results, second: Results) -> list[RowDifference]:
    """Compare every row that both have; PASTA, which belongs to many groups, once per environment.

    Bounds of the hypervolume are those of the first.
    """
    others = {(study.env, study.group): study for study in second.studies}
    found, seen = [], set[tuple[str, ...]]()
    for study in first.studies:
        other = others.get((study.env, study.group))
        if other is None:
            continue
        for k, method in enumerate(study.methods):
            runs = tuple(study.run_ids[k][study.usable[k]])
            if method in other.methods and (not runs or runs not in seen):
                seen.add(runs)
                found.append(_row(study, k, replace(other, info=study.info), other.methods.index(method)))
    return found


def _row(mine: Study, k: int, other: Study, j: int) -> RowDifference:
    score = scores.UTILITY if mine.info.bounds is None else scores.HYPERVOLUME
    preferences = [p for p in mine.preferences if p in other.preferences]
    seeds = sorted({*mine.seeds, *other.seeds})
    ours, theirs = (study.laid_out(row, score, preferences, seeds) for study, row in ((mine, k), (other, j)))
    usable = np.isfinite(ours).any(1) & np.isfinite(theirs).any(1)
    ours, theirs = ours[usable], theirs[usable]
    there = np.isfinite(ours), np.isfinite(theirs)
    shared = there[0] & there[1]
    counts = int(there[0].sum()), int(there[1].sum()), int(shared.sum())
    difference, how = _difference(ours, theirs)
    parts = zip((ours, theirs), there, strict=True)
    before, after = (mean_interval(values, known, score=score) for values, known in parts)
    return RowDifference(mine.env, mine.group, mine.methods[k], score.name, before, after, difference, how, counts)


def _difference(ours: Array, theirs: Array) -> tuple[Interval, How]:
    """Return second minus first ``[preferences, seeds]``, paired where both have two seeds of each preference."""
    there = np.isfinite(ours), np.isfinite(theirs)
    shared = there[0] & there[1]
    if not len(ours):
        return NOTHING, "too few"
    if (there[0] == there[1]).all() and np.allclose(ours[shared], theirs[shared], SAME, 0.0):
        return Interval(0.0, 0.0, 0.0), "same runs"
    if shared.sum(1).min() > 1:
        return compare(theirs, ours, present=shared).difference, "paired"
    if min(known.sum(1).min() for known in there) > 1:
        return _unpaired(ours, theirs), "other seeds"
    means = [np.nanmean(values, axis=1).mean() for values in (theirs, ours)]
    return Interval(float(means[0] - means[1]), math.nan, math.nan), "too few"


def _unpaired(ours: Array, theirs: Array) -> Interval:
    r"""Compare two sets of seeds by Welch's interval, a seed being one draw in each.

    .. math:: \bar y - \bar x \pm t_{df} \sqrt{SE_x^2 + SE_y^2}

    with Welch's degrees of freedom, rounded down.
    """
    parts = [(values, np.isfinite(values)) for values in (ours, theirs)]
    before, after = (bootstrap_ci(values, present=known).estimate for values, known in parts)
    estimate = after - before
    squares = [standard_error(values, known) ** 2 for values, known in parts]
    freedoms = [int(known.sum(1).min()) - 1 for _, known in parts]
    weight = sum(square**2 / freedom for square, freedom in zip(squares, freedoms, strict=True))
    freedom = max(1, int(sum(squares) ** 2 / weight)) if weight else min(freedoms)
    reach = float(stdtrit(freedom, (1 + LEVEL) / 2)) * math.sqrt(sum(squares))
    return Interval(estimate, estimate - reach, estimate + reach)
