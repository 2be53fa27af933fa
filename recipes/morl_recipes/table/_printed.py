"""What the paper prints for the rows of a panel."""

import math
from dataclasses import dataclass

import pandas as pd

from morl_recipes import paper
from morl_recipes.panels import Panel

NAN = math.nan


@dataclass(frozen=True)
class Printed:
    """The paper's summary row of one method; NaN where it prints nothing."""

    hv: float = NAN
    hv_spread: float = NAN
    win_rate: float = NAN
    dominance: float = NAN
    auc: float = NAN


def printed_summary(panel: Panel) -> dict[str, Printed]:
    """Return the paper's summary row of each method that it has.

    The utopia study and the quadrotor tasks have no summary table; their hypervolumes are the means of the appendix.
    """
    frame = paper.summary()
    rows = frame[frame["group"] == panel.group]
    if panel.env == "stealth" and len(rows):
        columns = ["hv_mean", "hv_std", "win_rate", "obj_dom_rate", "dmp_auc"]
        numbers = rows[columns].to_numpy(dtype=float)
        return {method: Printed(*map(float, row)) for method, row in zip(rows["method"], numbers, strict=True)}
    cells = printed_cells(panel)
    grouped = cells.groupby("method")["hv_mean"]
    return {
        str(method): Printed(float(hv.mean()), float(hv.std(ddof=1)) if len(hv) > 1 else NAN) for method, hv in grouped
    }


def printed_cells(panel: Panel) -> pd.DataFrame:
    """Return the appendix rows of this environment and group."""
    frame = paper.per_preference()
    return frame[(frame["env"] == panel.env) & (frame["group"] == panel.group)]


def preference_note(panel: Panel) -> list[str]:
    """Warn when ours and the paper's numbers are over different preferences."""
    printed = set(printed_cells(panel)["preference"])
    ours = set(paper.preference_labels(panel.preferences))
    if not printed:
        return ["The paper prints no numbers for this table."]
    if ours == printed:
        return []
    return [
        f"Ours covers {len(ours & printed)} of the paper's {len(printed)} preferences"
        + (f" and {len(ours - printed)} others" if ours - printed else "")
        + "; the paper's columns are over all of its own."
    ]
