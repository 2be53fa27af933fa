"""Compare the rows of two sets of results: run by run if they share seeds, otherwise by their means."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.special import stdtrit  # type: ignore[import-untyped]

from morl_blocks.metrics import Interval, bootstrap_ci, compare, standard_error
from morl_recipes.analysis.datasets import Dataset, find_dataset, names
from morl_recipes.analysis.results.load import Results, load_results
from morl_recipes.analysis.results.statistics import NOTHING, mean_interval
from morl_recipes.analysis.results.study import Array, Reading, Study
from morl_recipes.analysis.tables.cells import Cell, Table, interval_cell, interval_numbers, interval_text, number
from morl_recipes.analysis.tables.formats import Format, print_tables
from morl_recipes.analysis.tables.printed import WORDS
from morl_recipes.common import checks, scores
from morl_recipes.common.errors import StoreError
from morl_recipes.common.naming import some
from morl_recipes.store.store import Store

SAME = 1e-7
"""Largest relative difference between scores of the same run; published numbers are rounded."""
LEVEL = 0.95
"""Level of the intervals."""
How = Literal["same runs", "paired", "other seeds", "too few"]
Verdict = Literal["same", "better", "worse", "not distinguishable", ""]
COLUMNS = ("Row", "First", "Second", "Second - first", "Verdict", "Runs: first, second, both")
HOW = (
    "Paired by preference and seed where both have two seeds or more in common; otherwise the means of both are "
    "compared (Welch). 'same': every run has the same score. Each interval is for one comparison: of twenty, about one "
    "misses 0 where nothing differs."
)


@dataclass(frozen=True)
class RowDifference:
    """One row in two sets of results.

    Attributes:
        score: What is compared: ``"hv"``, or ``"eu"`` where the environment has no bounds.
        first: Mean of the first set over the preferences that both sets have, with its interval; ``second`` likewise.
        difference: Second minus first, with its 95 % interval; NaN if there are too few seeds.
        how: Whether every run has the same score, runs were paired by preference and seed, the sets have different
            seeds, or there are too few.
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
        """Return the verdict of the comparison; empty without an interval."""
        if self.how == "same runs":
            return "same"
        if math.isnan(self.difference.low):
            return ""
        if self.difference.low > 0:
            return "better"
        return "worse" if self.difference.high < 0 else "not distinguishable"


def compare_results(first: Results, second: Results) -> list[RowDifference]:
    """Compare every row that both sets have, under the first's bounds; PASTA, in many groups, once per environment."""
    others = {(study.env, study.group): study for study in second.studies}
    found, seen = [], set[tuple[str, ...]]()
    for study in first.studies:
        other = others.get((study.env, study.group))
        for k, method in enumerate(study.methods if other is not None else ()):
            runs = tuple(study.run_ids[k][study.usable[k]])
            if other is not None and method in other.methods and (not runs or runs not in seen):
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
    counts = int(there[0].sum()), int(there[1].sum()), int((there[0] & there[1]).sum())
    before, after = (mean_interval(*part, limits=score.limits) for part in zip((ours, theirs), there, strict=True))
    names = (mine.env, mine.group, mine.methods[k], score.name)
    return RowDifference(*names, before, after, *_difference(ours, theirs), counts)


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
        return unpaired(ours, theirs), "other seeds"
    means = [np.nanmean(values, axis=1).mean() for values in (theirs, ours)]
    return Interval(float(means[0] - means[1]), math.nan, math.nan), "too few"


def unpaired(ours: Array, theirs: Array) -> Interval:
    r"""Return Welch's interval, :math:`\bar y - \bar x \pm t_{df} \sqrt{SE_x^2 + SE_y^2}` with df rounded down."""
    parts = [(values, np.isfinite(values)) for values in (ours, theirs)]
    before, after = (bootstrap_ci(values, present=known).estimate for values, known in parts)
    estimate = after - before
    squares = [standard_error(values, known) ** 2 for values, known in parts]
    freedoms = [int(known.sum(1).min()) - 1 for _, known in parts]
    weight = sum(square**2 / freedom for square, freedom in zip(squares, freedoms, strict=True))
    freedom = max(1, int(sum(squares) ** 2 / weight)) if weight else min(freedoms)
    reach = float(stdtrit(freedom, (1 + LEVEL) / 2)) * math.sqrt(sum(squares))
    return Interval(estimate, estimate - reach, estimate + reach)


def open_results(name: str | Path) -> Store | Dataset:
    """Open the folder of a result store, or results that were published, by name or by file."""
    if Path(name).is_dir():
        return Store.open(name)
    if Path(name).suffix == ".csv" or str(name) in names():
        return find_dataset(name)
    raise StoreError(f"{name}: neither a folder of results nor published ones ({', '.join(names())}).")


def render_difference(
    first: str | Path, second: str | Path, *, score: Reading | None = None, format: Format = "terminal"
) -> str:
    """Print how the rows of one set of results differ from those of another.

    Args:
        first: A folder of results or the name of published ones.
        second: The results that are compared with it.
        score: The score of each run; by default the test score if all runs of both have one, else the peak.
        format: As for :func:`~morl_recipes.analysis.tables.render_table`.

    Returns:
        The text. Results without a common row raise :class:`~morl_recipes.store.StoreError`.
    """
    first, second = checks.path("first", first), checks.path("second", second)
    found = [load_results(open_results(name), score=score) for name in (first, second)]
    if len({results.reading for results in found}) > 1:
        found = [load_results(open_results(name), score="peak") for name in (first, second)]
    rows = compare_results(*found)
    if not rows:
        have = [some(list(dict.fromkeys(f"{p.env}, {m}" for p in r.studies for m in p.methods))) for r in found]
        raise StoreError(
            f"{first} and {second} have no row in common. Nothing to compare: {have[0]} in one; {have[1]} in the other."
        )
    gaps = _gaps(found, rows)
    tables = []
    for env, name in dict.fromkeys((row.env, row.score) for row in rows):
        block = [row for row in rows if row.env == env]
        title = f"{env}, {name.upper()}: first {first}, second {second}"
        notes = (WORDS[found[0].reading], *gaps.get(env, ()))
        tables.append(Table(title, COLUMNS, tuple(map(_cells, block)), notes, tuple(map(_numbers, block))))
    return print_tables(tables, format, how=HOW)


def _cells(row: RowDifference) -> tuple[Cell, ...]:
    gap = row.difference.estimate
    difference = Cell(number(gap) if math.isnan(gap) else f"{gap:+.3f}", interval_text(row.difference))
    means, runs = map(interval_cell, (row.first, row.second)), ", ".join(map(str, row.runs))
    return Cell(f"{row.group}/{row.method}"), *means, difference, Cell(row.verdict or row.how), Cell(runs)


def _numbers(row: RowDifference) -> dict[str, object]:
    who = {"env": row.env, "group": row.group, "method": row.method, "score": row.score}
    intervals = interval_numbers({"first": row.first, "second": row.second, "difference": row.difference})
    counts = dict(zip(("runs_first", "runs_second", "runs_both"), row.runs, strict=True))
    return {**who, **intervals, **counts, "how": row.how, "verdict": row.verdict}


def _gaps(found: Sequence[Results], rows: list[RowDifference]) -> dict[str, list[str]]:
    """Return, by environment, the runs of the compared rows that were left out, for both results."""
    notes: dict[str, list[str]] = {}
    for which, results in zip(("First", "Second"), found, strict=True):
        for study in results.studies:
            compared = tuple(f"{row.method}:" for row in rows if (row.env, row.group) == (study.env, study.group))
            gaps = [f"{which}, {gap}" for gap in study.gaps if gap.startswith(compared)]
            notes[study.env] = [*notes.get(study.env, ()), *gaps]
    return notes
