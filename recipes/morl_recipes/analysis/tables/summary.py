"""The summary table of a study: hypervolume, win rate, objective dominance rate, profile area and verdict."""

import math

from morl_blocks.metrics import Interval
from morl_recipes.analysis.results.statistics import (
    NOTHING,
    MethodStatistics,
    detectable,
    identical_methods,
    study_statistics,
)
from morl_recipes.analysis.results.study import Study
from morl_recipes.analysis.tables.cells import (
    GAP,
    Cell,
    Table,
    best_of,
    interval_text,
    number,
    with_spread,
    without_empty,
)
from morl_recipes.analysis.tables.printed import Printed, preference_note, printed_summary
from morl_recipes.analysis.tables.readings import reading_notes

COLUMNS = (
    "Method",
    "HV",
    "HV, {beside}",
    "HV, paper",
    "HV, IQM",
    "Win rate %",
    "paper",
    "Obj. dom. %",
    "paper",
    "DMP AUC",
    "paper",
    "HV against {reference}",
    "Runs",
)


def _against(row: MethodStatistics) -> Cell:
    """Return the verdict on a method against the reference, with the difference."""
    if row.against is None:
        return Cell(GAP)
    difference = row.against.difference
    return Cell(row.against.verdict, f"{difference.estimate:+.3f} {interval_text(difference)}")


def _rate(interval: Interval, *, best: bool, scale: float, digits: int) -> Cell:
    return Cell(number(interval.estimate * scale, digits), interval_text(interval, digits, scale), best)


def _cells(
    row: MethodStatistics, printed: Printed, best: tuple[bool, bool, bool, bool], total: int
) -> tuple[Cell, ...]:
    partial = "†" if 0 < row.preferences < total else ""
    return (
        Cell(row.method),
        Cell(with_spread(row.hv.estimate, row.hv_spread) + partial, interval_text(row.hv), best[0]),
        _rate(row.beside, best=False, scale=1, digits=3),
        Cell(with_spread(printed.hv, printed.hv_spread)),
        _rate(row.iqm, best=False, scale=1, digits=3),
        _rate(row.win_rate, best=best[1], scale=100, digits=1),
        Cell(number(printed.win_rate, 1)),
        _rate(row.dominance, best=best[2], scale=100, digits=1),
        Cell(number(printed.dominance, 1)),
        _rate(row.auc, best=best[3], scale=1, digits=3),
        Cell(number(printed.auc)),
        _against(row),
        Cell(f"{row.runs[0]}/{row.runs[1]}"),
    )


def _numbers(study: Study, row: MethodStatistics, printed: Printed) -> dict[str, object]:
    """Return the row as plain numbers, rates in [0, 1]."""
    out: dict[str, object] = {"env": study.env, "group": study.group, "method": row.method}
    out |= {"runs_used": row.runs[0], "runs_planned": row.runs[1], "preferences": row.preferences}
    out["score"] = study.reading
    rates = {
        "hv": row.hv,
        f"{study.beside}_hv": row.beside,
        "hv_iqm": row.iqm,
        "win_rate": row.win_rate,
        "obj_dom_rate": row.dominance,
        "dmp_auc": row.auc,
    }
    for name, interval in rates.items():
        out |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
    out |= {"hv_std_over_preferences": row.hv_spread, "paper_hv": printed.hv, "paper_hv_std": printed.hv_spread}
    out |= {"paper_win_rate": printed.win_rate / 100, "paper_obj_dom_rate": printed.dominance / 100}
    out["paper_dmp_auc"] = printed.auc
    difference = NOTHING if row.against is None else row.against.difference
    out["against"] = study.short_reference
    out |= dict(zip(("hv_difference", "hv_difference_low", "hv_difference_high"), difference, strict=True))
    out["probability_of_improvement"] = math.nan if row.against is None else row.against.improvement
    out["verdict"] = "" if row.against is None else row.against.verdict
    return out


def _notes(study: Study, rows: list[MethodStatistics]) -> list[str]:
    """Return the notes below the table: what is missing, and how to read it."""
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
        notes.append("No interval where a preference has a single seed: one draw says nothing about the next.")
    gap = detectable(rows)
    if gap > 0:  # not NaN, and not runs that are all alike
        notes.append(
            f"With {len(study.seeds)} seeds a true HV difference to {study.short_reference} of {gap:.3f} would have "
            "been seen in four of five repeats (5 % level, median over the methods); a smaller one may be there and go "
            "unseen."
        )
    same = [
        f"The same returns in every run, to the last digit: {', '.join(methods)}."
        for methods in identical_methods([study])
    ]
    return [*notes, *same, *reading_notes(study), *preference_note(study)]


def summary_table(study: Study) -> Table:
    """Build the summary table of a study: ours with 95 % intervals, and the paper's.

    Args:
        study: One group on one environment.

    Returns:
        The table; its notes name every gap.
    """
    rows, printed = study_statistics(study), printed_summary(study)
    columns = [
        best_of([getattr(row, name).estimate for row in rows]) for name in ("hv", "win_rate", "dominance", "auc")
    ]
    nothing = Printed()
    cells = tuple(
        _cells(row, printed.get(row.method, nothing), best, len(study.preferences))
        for row, best in zip(rows, zip(*columns, strict=True), strict=True)
    )
    numbers = tuple(_numbers(study, row, printed.get(row.method, nothing)) for row in rows)
    title = f"{study.env}, {study.group}"
    heads = tuple(head.format(beside=study.beside, reference=study.short_reference) for head in COLUMNS)
    return without_empty(Table(title, heads, cells, tuple(_notes(study, rows)), numbers))
