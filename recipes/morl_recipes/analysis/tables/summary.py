"""The summary table of a study: hypervolume, win rate, objective dominance rate, profile area and verdict."""

import math

from morl_recipes.analysis.results import statistics
from morl_recipes.analysis.results.statistics import NOTHING, MethodStatistics
from morl_recipes.analysis.results.study import Study
from morl_recipes.analysis.tables import cells as c
from morl_recipes.analysis.tables.cells import Cell, Table
from morl_recipes.analysis.tables.printed import Printed, printed_summary, score_notes

HOW = (
    "HV ± its standard deviation over preferences; in brackets 95 % intervals; each seed is one sample for "
    "all preferences and methods. 'not distinguishable': the interval of the paired difference contains 0."
)


def _cells(study: Study, row: MethodStatistics, printed: Printed, best: tuple[bool, ...]) -> list[tuple[str, Cell]]:
    """Return the cells with the heads of their columns."""
    partial = "†" if 0 < row.preferences < len(study.preferences) else ""
    against = Cell(c.GAP)
    if row.against is not None:
        difference = row.against.difference
        against = Cell(row.against.verdict, f"{difference.estimate:+.3f} {c.interval_text(difference)}")
    return [
        ("Method", Cell(row.method)),
        ("HV", Cell(c.number(row.hv.estimate, spread=row.hv_spread) + partial, c.interval_text(row.hv), best[0])),
        (f"HV, {study.beside}", c.interval_cell(row.beside)),
        ("HV, paper", Cell(c.number(printed.hv, spread=printed.hv_spread))),
        ("HV, IQM", c.interval_cell(row.iqm)),
        ("Win rate %", c.interval_cell(row.win_rate, 1, 100, best=best[1])),
        ("paper", Cell(c.number(printed.win_rate, 1))),
        ("Obj. dom. %", c.interval_cell(row.dominance, 1, 100, best=best[2])),
        ("paper", Cell(c.number(printed.dominance, 1))),
        ("DMP AUC", c.interval_cell(row.auc, best=best[3])),
        ("paper", Cell(c.number(printed.auc))),
        (f"HV against {study.short_reference}", against),
        ("Runs", Cell(f"{row.runs[0]}/{row.runs[1]}")),
    ]


def _numbers(study: Study, row: MethodStatistics, printed: Printed) -> dict[str, object]:
    """Return the row as numbers, rates in [0, 1]."""
    rates = {"hv": row.hv, f"{study.beside}_hv": row.beside, "hv_iqm": row.iqm, "win_rate": row.win_rate}
    rates |= {"obj_dom_rate": row.dominance, "dmp_auc": row.auc}
    difference = NOTHING if row.against is None else row.against.difference
    return {
        **{"env": study.env, "group": study.group, "method": row.method},
        **{"runs_used": row.runs[0], "runs_planned": row.runs[1], "preferences": row.preferences},
        "score": study.reading,
        **c.interval_numbers(rates),
        "hv_std_over_preferences": row.hv_spread,
        "paper_hv": printed.hv,
        "paper_hv_std": printed.hv_spread,
        "paper_win_rate": printed.win_rate / 100,
        "paper_obj_dom_rate": printed.dominance / 100,
        "paper_dmp_auc": printed.auc,
        "against": study.short_reference,
        **c.interval_numbers({"hv_difference": difference}),
        "probability_of_improvement": math.nan if row.against is None else row.against.improvement,
        "verdict": "" if row.against is None else row.against.verdict,
    }


def _notes(study: Study, rows: list[MethodStatistics]) -> list[str]:
    """Return the notes below the table: missing runs, and how to read it."""
    notes = list(study.gaps)
    partial = [f"{row.method} {row.preferences}" for row in rows if 0 < row.preferences < len(study.preferences)]
    if partial:
        notes.append(f"† Mean over fewer than the {len(study.preferences)} preferences: {', '.join(partial)}.")
    shared, cells = int(study.common.sum()), int((study.run_ids != "").any(0).sum())
    if study.active.sum() < 2:
        some = "only one has" if study.active.any() else "none has"
        notes.append(f"Win rate, dominance rate and profile area compare methods; {some} runs.")
    elif shared < cells:
        notes.append(
            f"Win rate, dominance rate and profile area use the {shared} of {cells} (preference, seed) cells that all "
            "methods with runs have."
        )
    if any(not math.isnan(row.hv.estimate) and math.isnan(row.hv.low) for row in rows):
        notes.append("There is no interval if a preference has a single seed.")
    gap = statistics.detectable(rows)
    if gap > 0:  # neither NaN nor 0, which means that all runs are equal
        notes.append(
            f"With {len(study.seeds)} seeds a true HV difference to {study.short_reference} of {gap:.3f} would have "
            "been detected in four of five repeats (5 % level, median over the methods); a smaller one may "
            "remain undetected."
        )
    for methods in statistics.identical_methods([study]):
        notes.append(f"The same returns in every run, to the last digit: {', '.join(methods)}.")
    return [*notes, *score_notes(study)]


def summary_table(study: Study) -> Table:
    """Build the summary table of a study: ours with 95 % intervals, and the paper's; notes explain missing numbers."""
    printed = printed_summary(study)
    rows = [(row, printed.get(row.method, Printed())) for row in statistics.study_statistics(study)]
    rated = ("hv", "win_rate", "dominance", "auc")
    best = zip(*(c.best_of([getattr(row, name).estimate for row, _ in rows]) for name in rated), strict=True)
    cells = [_cells(study, *pair, marks) for pair, marks in zip(rows, best, strict=True)]
    columns, texts = tuple(head for head, _ in cells[0]), tuple(tuple(cell for _, cell in row) for row in cells)
    numbers, notes = tuple(_numbers(study, *pair) for pair in rows), tuple(_notes(study, [row for row, _ in rows]))
    return c.without_empty(Table(f"{study.env}, {study.group}", columns, texts, notes, numbers))
