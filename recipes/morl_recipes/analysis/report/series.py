"""Curves over training: mean and band, per method and preference."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from morl_recipes.analysis.results.study import Study
from morl_recipes.common import scores
from morl_recipes.common.naming import count
from morl_recipes.store.manifest import Manifest

Array: TypeAlias = NDArray[np.float64]
MAX_POINTS = 60
CONTROLLER = {"mu": ("mu", "smoothness μ"), "kappa": ("conflict", "conflict ratio κ")}
"""Figures of the controller: the history column that each shows, and its title."""
LIMITS = {"conflict": (0.0, 1.0), "mu": (0.0, np.inf)} | {
    score.name: (-np.inf if score.low is None else score.low, np.inf if score.high is None else score.high)
    for score in scores.SCORES
}
"""Limits of the columns, to which bands are clipped."""


class Band(NamedTuple):
    """A mean over training with its band; ``low`` and ``high`` are ``None`` if there is no spread."""

    steps: Array
    mean: Array
    low: Array | None
    high: Array | None


Curves: TypeAlias = dict[tuple[int, int | None], Band]
"""By (method, preference); preference ``None`` is the mean over preferences."""


def describe_update(history: pd.DataFrame) -> str:
    """Return the number of runs that each form of the update trained.

    Example:
        >>> describe_update(pd.DataFrame({"run_id": ["a", "a", "b"], "fast": [1, 1, 0], "compiled": [1, 1, 0]}))
        'fast, compiled (1 run); generic (1 run)'
    """
    if not {"fast", "compiled"} <= set(history.columns):
        return "not recorded (trained before version 0.2)"
    last = history.groupby("run_id", sort=False, observed=True)[["fast", "compiled"]].last().dropna()
    words = last["fast"].map({1: "fast", 0: "generic"}) + last["compiled"].map({1: ", compiled", 0: ""})
    return "; ".join(f"{form} ({count(n, 'run')})" for form, n in words.value_counts(sort=False).items())


def history_columns(manifest: Manifest) -> list[str]:
    """Return the history columns that the page needs."""
    controller = [column for column, _ in CONTROLLER.values()]
    return [*controller, "fast", "compiled", *(f"return_{i}" for i in range(manifest.most_objectives))]


def training_frame(study: Study, history: pd.DataFrame) -> pd.DataFrame:
    """Return the study's histories with every score computed from the validation returns.

    Scores are NaN on iterations without a validation; scores that need bounds are also NaN without bounds.
    """
    frame = study.histories(history)
    columns = [f"return_{i}" for i in range(len(study.info.objectives))]
    returns = frame.reindex(columns=columns).to_numpy(dtype=float)
    weights = np.array(study.preferences)[frame["preference_index"].to_numpy(dtype=int)]
    bounds = study.info.bounds
    return frame.assign(**{score.name: scores.judge(score, returns, weights, bounds) for score in scores.SCORES})


def _thin(steps: Array, mean: Array, spread: Array, limits: tuple[float, float]) -> Band | None:
    """Keep at most :data:`MAX_POINTS` evenly spaced points, including the last one; bands are clipped to the limits."""
    if not len(steps):
        return None
    keep = np.unique(np.linspace(0, len(steps) - 1, min(MAX_POINTS, len(steps))).round().astype(int))
    steps, mean, spread = steps[keep], mean[keep], spread[keep]
    if not np.isfinite(spread).all():
        return Band(steps, mean, None, None)
    return Band(steps, mean, np.maximum(mean - spread, limits[0]), np.minimum(mean + spread, limits[1]))


def _band(cell: pd.DataFrame, limits: tuple[float, float]) -> Band | None:
    return _thin(cell.index.to_numpy(dtype=float), cell["mean"].to_numpy(), cell["std"].to_numpy(), limits)


def curves(study: Study, frame: pd.DataFrame, column: str) -> Curves:
    """Average a column of the histories over seeds at equal steps.

    Only steps that all usable runs of a cell have are shown, so that every point of a mean averages the same runs. The
    band is one standard deviation over seeds, or over preferences for a mean over several preferences.
    """
    if column not in frame.columns:
        return {}
    # Compute all cells at once, because a pandas group-by takes as long for one group as for a thousand.
    keys = ["method_index", "preference_index"]
    known = frame.dropna(subset=[column]).groupby([*keys, "steps"])[column].agg(["mean", "std", "count"])
    known = known.reset_index(keys)
    groups: Any = known.groupby(keys).indices
    cells = {cell: known.iloc[rows] for cell, rows in groups.items()}
    seeds, limits = study.usable.sum(-1), LIMITS.get(column, (-np.inf, np.inf))
    found: Curves = {}
    for k in range(len(study.methods)):
        rows = []
        for p in range(len(study.preferences)):
            cell = cells.get((k, p))
            if cell is None:
                continue
            cell = cell[cell["count"] == seeds[k, p]]
            band = _band(cell, limits)
            if band is not None:
                found[k, p] = band
                rows.append(cell)
        whole = _over_preferences(rows, limits)
        if whole is not None:
            found[k, None] = whole
    return found


def _over_preferences(cells: list[pd.DataFrame], limits: tuple[float, float]) -> Band | None:
    """Average the seed means of several preferences at the steps that all of them have."""
    if not cells:
        return None
    if len(cells) == 1:
        return _band(cells[0], limits)
    table = pd.concat([cell["mean"] for cell in cells], axis="columns", join="inner").sort_index()
    values = table.to_numpy(dtype=float)
    return _thin(table.index.to_numpy(dtype=float), values.mean(1), values.std(1, ddof=1), limits)
