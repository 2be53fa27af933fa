"""The paper's printed numbers for the rows of a study, and the notes below tables."""

import math
from typing import NamedTuple

import pandas as pd

from morl_recipes.analysis.results.study import Study
from morl_recipes.recipe import paper

NAN = math.nan
WORDS = {
    "peak": "Scores are best validations, as the paper reports them.",
    "test": "Scores are test scores: the policy of each run's best validation, played on fresh episodes.",
    "final": "Scores are last validations.",
    "test_final": "Scores are test scores of the last policy of each run, played on fresh episodes.",
}


class Printed(NamedTuple):
    """The paper's summary row of one method; NaN for missing numbers."""

    hv: float = NAN
    hv_spread: float = NAN
    win_rate: float = NAN
    dominance: float = NAN
    auc: float = NAN


def printed_summary(study: Study) -> dict[str, Printed]:
    """Return the paper's summary row of each method, if it has one.

    The utopia study and the quadrotor tasks have no summary table, so the means of the appendix are returned. They are
    NaN if the paper's bounds differ from ours.
    """
    frame = paper.summary()
    rows = frame[frame["group"] == study.group]
    if study.env == "stealth" and len(rows):
        if scale_note(study) is not None:
            rows = rows.assign(hv_mean=NAN, hv_std=NAN)
        columns = ["hv_mean", "hv_std", "win_rate", "obj_dom_rate", "dmp_auc"]
        numbers = rows[columns].to_numpy(dtype=float).tolist()
        return {method: Printed(*row) for method, row in zip(rows["method"], numbers, strict=True)}
    grouped = printed_cells(study).groupby("method")["hv_mean"]
    return {str(method): Printed(float(hv.mean()), float(hv.std(ddof=1))) for method, hv in grouped}


def printed_cells(study: Study) -> pd.DataFrame:
    """Return the appendix rows of this environment and group, without hypervolumes if the paper's scale is not ours."""
    frame = paper.per_preference()
    cells = frame[(frame["env"] == study.env) & (frame["group"] == study.group)]
    return cells if scale_note(study) is None else cells.assign(hv_mean=NAN, hv_std=NAN)


def scale_note(study: Study) -> str | None:
    """Return why the paper's hypervolumes are not comparable with ours, or ``None`` if they are."""
    bounds = study.info.bounds
    if bounds is None or paper.same_scale(study.env, *bounds):
        return None
    ours, printed = paper.rescored(study.env, *bounds) or (NAN, NAN)
    return (
        f"The paper's HV is not shown: it has other bounds, which it does not print. Its own returns on {study.env} "
        f"score {ours:.3f} under ours, where it prints {printed:.3f} (mean of its rows)."
    )


def score_notes(study: Study) -> list[str]:
    """Return notes on the score that is shown, its selection bias, and differences from the paper's runs."""
    bias, level, runs = study.bias
    notes = [study.why or WORDS[study.reading]]
    if runs:
        share = f", {100 * bias / level:.0f} % of the test score" if level > 0 else ""
        notes.append(
            "Selection bias: the best of several noisy validations is chosen for its luck too, and tends to overstate "
            f"its policy; here peak minus test is {bias:+.3f} HV (mean over {runs} runs{share})."
        )
    elif study.reading == "peak" and not study.why:
        notes = []  # no run was tested, and the paper has the same score
    printed = set(printed_cells(study)["preference"])
    if not printed:
        return [*notes, "The paper prints no numbers for this table."]
    note = scale_note(study)
    notes += [] if note is None else [note]
    ours = set(paper.preference_labels(study.preferences))
    if ours != printed:
        others = f" and {len(ours - printed)} others" if ours - printed else ""
        notes.append(
            f"Ours covers {len(ours & printed)} of the paper's {len(printed)} preferences{others}; the paper's columns "
            "are over all of its own."
        )
    return notes
