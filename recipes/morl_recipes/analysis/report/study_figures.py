"""All figures of one study, by name and preference."""

from itertools import combinations
from typing import Any

import pandas as pd

from morl_recipes.analysis.report import against, traces
from morl_recipes.analysis.report.series import CONTROLLER, curves, training_frame
from morl_recipes.analysis.results.study import Study
from morl_recipes.common import scores


def curve_name(score: scores.Score) -> str:
    """Return the name of the figure of a score over training."""
    return f"{score.name}_curve"


def front_names(study: Study) -> list[str]:
    """Return the names of the figures that show the runs in the space of returns, by the number of objectives."""
    count = len(study.info.objectives)
    if count == 2:
        return ["front_01"]
    return ["front_3d", *(f"front_{i}{j}" for i, j in combinations(range(3), 2))] if count == 3 else ["parallel"]


def study_figures(study: Study, history: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Build every figure of a study as plotly JSON: ``figures[name][preference]``, an index as text or ``"all"``."""
    frame = training_frame(study, history)
    choices: dict[str, int | None] = {"all": None} | {str(p): p for p in range(len(study.preferences))}
    figures: dict[str, dict[str, Any]] = {
        "bars": against.all_bars(study),
        "against": {"all": against.against(study)},
        "radar": {key: traces.radar(study, p) for key, p in choices.items()},
        "profiles": {"all": traces.profiles(study)},
    }
    shown = {curve_name(score): (score.name, score.title) for score in scores.SCORES} | CONTROLLER
    for name, (column, title) in shown.items():
        series = curves(study, frame, column)
        figures[name] = {key: traces.lines(study, series, p, title) for key, p in choices.items()}
    for score in scores.SCORES:
        if score.needs_bounds and study.info.bounds is None:
            reason = f"No {score.title} on {study.env}: {study.info.bounds_problem}."
            figures[curve_name(score)] = {"all": traces.gap(reason)}
    for name in front_names(study):
        axes = [0, 1, 2] if name == "front_3d" else [int(digit) for digit in name.partition("_")[2]]
        figures[name] = {"all": traces.front(study, axes) if axes else traces.parallel(study)}
    return figures
