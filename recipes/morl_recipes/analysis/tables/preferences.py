"""The appendix tables of a study: one per preference, with expected utility and every objective."""

import math
from dataclasses import replace

import numpy as np

from morl_recipes.analysis.results.statistics import Pair, PreferenceStatistics, preference_statistics
from morl_recipes.analysis.results.study import Study
from morl_recipes.analysis.tables.cells import Cell, Table, best_of, interval_text, with_spread, without_empty
from morl_recipes.analysis.tables.printed import preference_note, printed_cells
from morl_recipes.analysis.tables.readings import reading_notes
from morl_recipes.common import scores
from morl_recipes.recipe.paper import preference_labels

NOTHING: Pair = (math.nan, math.nan)
DIGITS = 3


def _printed(study: Study) -> dict[tuple[str, str], list[Pair]]:
    """Return the paper's mean and std of every score and objective by (preference, method), NaN for what it has not."""
    names = [*scores.names(), *(f"obj{i}" for i in range(len(study.info.objectives)))]
    frame = printed_cells(study)
    columns = [f"{name}_{part}" for name in names for part in ("mean", "std")]
    numbers = frame.reindex(columns=columns).to_numpy(dtype=float).reshape(len(frame), len(names), 2)
    keys = zip(frame["preference"], frame["method"], strict=True)
    return {key: [(float(a), float(b)) for a, b in row] for key, row in zip(keys, numbers, strict=True)}


def _numbers(
    study: Study, label: str, row: PreferenceStatistics, pairs: list[Pair], printed: list[Pair]
) -> dict[str, object]:
    """Return the row as plain numbers."""
    out: dict[str, object] = {"env": study.env, "group": study.group, "preference": label}
    out |= {"method": row.method, "seeds": row.seeds, "hv_low": row.hv.low, "hv_high": row.hv.high}
    names = [*scores.names(), *study.info.objectives]
    for name, ours, theirs in zip(names, pairs, printed, strict=True):
        out |= {f"{name}_mean": ours[0], f"{name}_std": ours[1]}
        out |= {f"paper_{name}_mean": theirs[0], f"paper_{name}_std": theirs[1]}
    return out


def preference_tables(study: Study) -> list[Table]:
    """Build one table per preference of a study: mean ± standard deviation over seeds, ours and the paper's.

    Args:
        study: One group on one environment.

    Returns:
        The tables in the order of the preferences; the gaps of the study stand below the last one.
    """
    names = (*(score.label for score in scores.SCORES), *study.info.objectives)
    digits = [*(score.digits for score in scores.SCORES), *[DIGITS] * len(study.info.objectives)]
    columns = ("Method", *(column for name in names for column in (name, "paper")), "Seeds")
    printed = _printed(study)
    rows = preference_statistics(study)
    tables = []
    for preference, label in zip(study.preferences, preference_labels(study.preferences), strict=True):
        block = [row for row in rows if row.preference == preference]
        ours = [[*row.scores.values(), *row.returns] for row in block]
        theirs = [printed.get((label, row.method), [NOTHING] * len(names)) for row in block]
        signs = [*(score.sign for score in scores.SCORES), *[1] * len(study.info.objectives)]
        best = np.transpose([best_of([sign * pairs[i][0] for pairs in ours]) for i, sign in enumerate(signs)])
        cells = []
        for row, pairs, others, marks in zip(block, ours, theirs, best, strict=True):
            line = [Cell(row.method)]
            for i, (mine, other) in enumerate(zip(pairs, others, strict=True)):
                interval = interval_text(row.hv) if names[i] == scores.HYPERVOLUME.label else ""
                line.append(Cell(with_spread(*mine, digits[i]), interval, bool(marks[i])))
                line.append(Cell(with_spread(*other, digits[i])))
            cells.append((*line, Cell(str(row.seeds))))
        numbers = tuple(_numbers(study, label, *one) for one in zip(block, ours, theirs, strict=True))
        tables.append(Table(f"{study.env}, {study.group}, preference {label}", columns, tuple(cells), (), numbers))
    tables[-1] = replace(tables[-1], notes=(*study.gaps, *reading_notes(study), *preference_note(study)))
    return [without_empty(table) for table in tables]
