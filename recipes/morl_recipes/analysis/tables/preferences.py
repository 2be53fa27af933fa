"""The appendix tables of a study: one per preference, with expected utility and every objective."""

import math
from dataclasses import replace

import numpy as np

from morl_recipes.analysis.results.statistics import Pair, PreferenceStatistics, preference_statistics
from morl_recipes.analysis.results.study import Study
from morl_recipes.analysis.tables.cells import Cell, Table, best_of, interval_text, number, without_empty
from morl_recipes.analysis.tables.printed import printed_cells, score_notes
from morl_recipes.common import scores
from morl_recipes.recipe.paper import preference_labels

HOW = "Mean ± standard deviation over seeds; in brackets the 95 % interval of the mean HV."
DIGITS = 3


def _printed(study: Study) -> dict[tuple[str, str], list[Pair]]:
    """Return the paper's mean and std of every score and objective by (preference, method), NaN if it prints none."""
    names = [*scores.names(), *(f"obj{i}" for i in range(len(study.info.objectives)))]
    frame = printed_cells(study)
    columns = [f"{name}_{part}" for name in names for part in ("mean", "std")]
    numbers = frame.reindex(columns=columns).to_numpy(dtype=float).reshape(len(frame), len(names), 2)
    keys = zip(frame["preference"], frame["method"], strict=True)
    return {key: [(float(a), float(b)) for a, b in row] for key, row in zip(keys, numbers, strict=True)}


def _numbers(study: Study, label: str, row: PreferenceStatistics, printed: list[Pair]) -> dict[str, object]:
    """Return the row as numbers."""
    out: dict[str, object] = {"env": study.env, "group": study.group, "preference": label}
    out |= {"method": row.method, "seeds": row.seeds, "hv_low": row.hv.low, "hv_high": row.hv.high}
    names = [*scores.names(), *study.info.objectives]
    for name, ours, theirs in zip(names, row.pairs, printed, strict=True):
        out |= {f"{name}_mean": ours[0], f"{name}_std": ours[1]}
        out |= {f"paper_{name}_mean": theirs[0], f"paper_{name}_std": theirs[1]}
    return out


def preference_tables(study: Study) -> list[Table]:
    """Build one table per preference of a study: mean ± standard deviation over seeds, ours and the paper's.

    The last table has the notes on missing runs of the study.
    """
    objectives = study.info.objectives
    names = (*(score.label for score in scores.SCORES), *objectives)
    digits = [*(score.digits for score in scores.SCORES), *[DIGITS] * len(objectives)]
    signs = [*(score.sign for score in scores.SCORES), *[1] * len(objectives)]
    columns = ("Method", *(column for name in names for column in (name, "paper")), "Seeds")
    printed, rows, tables = _printed(study), preference_statistics(study), []
    for preference, label in zip(study.preferences, preference_labels(study.preferences), strict=True):
        block = [row for row in rows if row.preference == preference]
        theirs = [printed.get((label, row.method), [(math.nan, math.nan)] * len(names)) for row in block]
        best = np.transpose([best_of([sign * row.pairs[i][0] for row in block]) for i, sign in enumerate(signs)])
        cells = []
        for row, others, marks in zip(block, theirs, best.tolist(), strict=True):
            intervals = [interval_text(row.hv) if name == scores.HYPERVOLUME.label else "" for name in names]
            ours = zip(row.pairs, digits, intervals, marks, others, strict=True)
            pairs = ((Cell(number(a[0], n, a[1]), *mark), Cell(number(b[0], n, b[1]))) for a, n, *mark, b in ours)
            cells.append((Cell(row.method), *(cell for pair in pairs for cell in pair), Cell(str(row.seeds))))
        numbers = tuple(_numbers(study, label, *one) for one in zip(block, theirs, strict=True))
        tables.append(Table(f"{study.env}, {study.group}, preference {label}", columns, tuple(cells), (), numbers))
    tables[-1] = replace(tables[-1], notes=(*study.gaps, *score_notes(study)))
    return [without_empty(table) for table in tables]
