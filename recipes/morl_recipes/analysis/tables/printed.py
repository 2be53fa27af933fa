"""The numbers that the paper prints for the rows of a study."""

import math
from dataclasses import dataclass

import pandas as pd

from morl_recipes.analysis.results.study import Study
from morl_recipes.recipe import paper

NAN = math.nan


@dataclass(frozen=True)
class Printed:
    """The paper's summary row of one method; NaN for missing numbers."""

    hv: float = NAN
    hv_spread: float = NAN
    win_rate: float = NAN
    dominance: float = NAN
    auc: float = NAN


def printed_summary(study: Study) -> dict[str, Printed]:
    """Return the paper's summary row of each method that it has.

    The utopia study and the quadrotor tasks have no summary table; the means of the appendix are returned instead, and
    NaN where the paper's bounds differ from ours.
    """
    frame = paper.summary()
    rows = frame[frame["group"] == study.group]
    if study.env == "stealth" and len(rows):
        columns = ["hv_mean", "hv_std", "win_rate", "obj_dom_rate", "dmp_auc"]
        comparable = rows if scale_note(study) is None else rows.assign(hv_mean=NAN, hv_std=NAN)
        numbers = comparable[columns].to_numpy(dtype=float)
        return {method: Printed(*map(float, row)) for method, row in zip(rows["method"], numbers, strict=True)}
    grouped = printed_cells(study).groupby("method")["hv_mean"]
    return {
        str(method): Printed(float(hv.mean()), float(hv.std(ddof=1)) if len(hv) > 1 else NAN) for method, hv in grouped
    }


def printed_cells(study: Study) -> pd.DataFrame:
    """Return the appendix rows of this environment and group; no hypervolumes where the paper's scale is not ours."""
    frame = paper.per_preference()
    cells = frame[(frame["env"] == study.env) & (frame["group"] == study.group)]
    return cells if scale_note(study) is None else cells.assign(hv_mean=NAN, hv_std=NAN)


def scale_note(study: Study) -> str | None:
    """Explain why the paper's hypervolumes are not comparable with ours; ``None`` when they are."""
    bounds = study.info.bounds
    if bounds is None or paper.same_scale(study.env, *bounds):
        return None
    ours, printed = paper.rescored(study.env, *bounds) or (NAN, NAN)
    return (
        f"The paper's HV is not shown: it has other bounds, which it does not print. Its own returns on {study.env} "
        f"score {ours:.3f} under ours, where it prints {printed:.3f} (mean of its rows)."
    )


def preference_note(study: Study) -> list[str]:
    """Warn when ours and the paper's numbers are over different preferences or on different scales."""
    printed = set(printed_cells(study)["preference"])
    ours = set(paper.preference_labels(study.preferences))
    if not printed:
        return ["The paper prints no numbers for this table."]
    note = scale_note(study)
    notes = [] if note is None else [note]
    if ours == printed:
        return notes
    return [
        *notes,
        f"Ours covers {len(ours & printed)} of the paper's {len(printed)} preferences"
        + (f" and {len(ours - printed)} others" if ours - printed else "")
        + "; the paper's columns are over all of its own.",
    ]
