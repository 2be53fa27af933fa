"""Curves over training: mean and band, per method and preference."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from morl_recipes.analysis.results.study import Study
from morl_recipes.common import scores
from morl_recipes.store.manifest import Manifest

Array: TypeAlias = NDArray[np.float64]
MAX_POINTS = 60
CONTROLLER = {"mu": ("mu", "smoothness μ"), "kappa": ("conflict", "conflict ratio κ")}
"""Figures of the controller: the history column that each shows, and its title."""
LIMITS = {"conflict": (0.0, 1.0), "mu": (0.0, np.inf)} | {s.name: s.limits for s in scores.SCORES}
"""Limits of the columns, to which bands are clipped."""


class Band(NamedTuple):
    """A mean over training with its band; ``low`` and ``high`` are ``None`` if there is no spread."""

    steps: Array
    mean: Array
    low: Array | None
    high: Array | None


Curves: TypeAlias = dict[tuple[int, int | None], Band]
"""By (method, preference); preference ``None`` is the mean over preferences."""


def history_columns(manifest: Manifest) -> list[str]:
    """Return the history columns that the page needs."""
    controller = [column for column, _ in CONTROLLER.values()]
    return [*controller, *(f"return_{i}" for i in range(manifest.most_objectives))]


def training_frame(study: Study, history: pd.DataFrame) -> pd.DataFrame:
    """Return the study's histories with every score of the validation returns, NaN where there is none."""
    frame = study.histories(history)
    columns = [f"return_{i}" for i in range(len(study.info.objectives))]
    returns = frame.reindex(columns=columns).to_numpy(dtype=float)
    weights = np.array(study.preferences)[frame["preference_index"].to_numpy(dtype=int)]
    bounds = study.info.bounds
    return frame.assign(**{score.name: scores.judge(score, returns, weights, bounds) for score in scores.SCORES})


def _band(cell: pd.DataFrame, limits: tuple[float, float]) -> Band:
    """Keep at most :data:`MAX_POINTS` evenly spaced points, including the last one; bands are clipped to the limits."""
    steps, mean, spread = cell.index.to_numpy(dtype=float), cell["mean"].to_numpy(), cell["std"].to_numpy()
    keep = np.unique(np.linspace(0, len(steps) - 1, min(MAX_POINTS, len(steps))).round().astype(int))
    steps, mean, spread = steps[keep], mean[keep], spread[keep]
    if not np.isfinite(spread).all():
        return Band(steps, mean, None, None)
    return Band(steps, mean, np.maximum(mean - spread, limits[0]), np.minimum(mean + spread, limits[1]))


def curves(study: Study, frame: pd.DataFrame, column: str) -> Curves:
    """Average a column of the histories over seeds, at the steps that all usable runs of a cell have.

    The band is one standard deviation over seeds, or over preferences for a mean over several preferences.
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
            cell = cells.get((k, p), known.iloc[:0])
            cell = cell[cell["count"] == seeds[k, p]]
            if len(cell):
                found[k, p] = _band(cell, limits)
                rows.append(cell)
        whole = _over_preferences(rows)
        if len(whole):
            found[k, None] = _band(whole, limits)
    return found


def _over_preferences(cells: list[pd.DataFrame]) -> pd.DataFrame:
    """Average the seed means of several preferences at the steps that all of them have."""
    if len(cells) < 2:
        return cells[0] if cells else pd.DataFrame()
    table = pd.concat([cell["mean"] for cell in cells], axis="columns", join="inner").sort_index()
    return pd.DataFrame({"mean": table.mean(axis=1), "std": table.std(axis=1, ddof=1)})
