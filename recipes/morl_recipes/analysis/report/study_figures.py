"""All figures of one study, by name and preference."""

from itertools import combinations
from typing import Any

import pandas as pd

from morl_recipes.analysis.report import traces
from morl_recipes.analysis.report.against import against
from morl_recipes.analysis.report.series import CONTROLLER, curves, training_frame
from morl_recipes.analysis.results.study import Study
from morl_recipes.common import scores


def curve_name(score: scores.Score) -> str:
    """Name the figure of a score over training."""
    return f"{score.name}_curve"


def front_names(study: Study) -> list[str]:
    """Name the figures that show the runs in the space of returns, by the number of objectives."""
    count = len(study.info.objectives)
    if count == 2:
        return ["front_01"]
    if count == 3:
        return ["front_3d", *(f"front_{i}{j}" for i, j in combinations(range(3), 2))]
    return ["parallel"]


def _front(study: Study, name: str) -> traces.Figure:
    if name == "parallel":
        return traces.parallel(study)
    axes = range(3) if name == "front_3d" else map(int, name.removeprefix("front_"))
    return traces.front(study, list(axes))


def study_figures(study: Study, history: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Build every figure of a study as plotly JSON.

    Returns:
        ``figures[name][preference]``: the preference is its number as text, ``"all"`` for all of them. Figures that
        do not depend on a preference have only ``"all"``.
    """
    frame = training_frame(study, history)
    choices: dict[str, int | None] = {"all": None} | {str(p): p for p in range(len(study.preferences))}
    figures: dict[str, dict[str, Any]] = {
        "bars": traces.all_bars(study),
        "against": {"all": against(study)},
        "radar": {key: traces.radar(study, p) for key, p in choices.items()},
        "profiles": {"all": traces.profiles(study)},
    }
    for score in scores.SCORES:
        if score.needs_bounds and study.info.bounds is None:
            figures[curve_name(score)] = {
                "all": traces.gap(f"No {score.title} on {study.env}: {study.info.bounds_problem}.")
            }
            continue
        series = curves(study, frame, score.name)
        figures[curve_name(score)] = {k: traces.lines(study, series, p, score.title) for k, p in choices.items()}
    for name, (column, title) in CONTROLLER.items():
        series = curves(study, frame, column)
        figures[name] = {key: traces.lines(study, series, p, title) for key, p in choices.items()}
    return figures | {name: {"all": _front(study, name)} for name in front_names(study)}
