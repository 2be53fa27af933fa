"""Figures of the runs in the space of returns: filled or strong marks are non-dominated in all objectives."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from morl_blocks.metrics import nondominated
from morl_recipes.analysis.report.series import Array
from morl_recipes.analysis.report.traces import Figure, gap, short, title, trace
from morl_recipes.analysis.results.study import Study
from morl_recipes.recipe.paper import preference_label

MAX_DOMINATED = 40
"""Maximal number of dominated runs per method that a front shows."""


def run_points(study: Study) -> list[tuple[int, Array, list[str], NDArray[np.bool_]]]:
    """Return each method's runs: its index, returns ``[n, m]``, labels, and which are non-dominated among all runs.

    At most :data:`MAX_DOMINATED` dominated runs of a method are included, chosen evenly over preferences and seeds.
    """
    cells = np.argwhere(study.usable)
    if not len(cells):
        return []
    returns = study.returns[study.usable]
    best = nondominated(returns)
    labels = [f"{preference_label(study.preferences[p])}, seed {study.seeds[s]}" for _, p, s in cells]
    out = []
    for k in range(len(study.methods)):
        mine = np.flatnonzero(cells[:, 0] == k)
        behind = mine[~best[mine]]
        if len(behind) > MAX_DOMINATED:
            chosen = behind[np.linspace(0, len(behind) - 1, MAX_DOMINATED).round().astype(int)]
            mine = np.union1d(mine[best[mine]], chosen)
        if len(mine):
            out.append((k, returns[mine], [labels[i] for i in mine], best[mine]))
    return out


def front(study: Study, axes: Sequence[int]) -> Figure:
    """Scatter the runs over two or three objectives."""
    keys, names = "xyz"[: len(axes)], [study.info.objectives[i] for i in axes]
    kind = {"type": "scatter3d" if len(axes) == 3 else "scatter"}
    numbers = "<br>".join(f"{name} %{{{key}:.4g}}" for name, key in zip(names, keys, strict=True))
    traces = []
    for k, returns, labels, best in run_points(study):
        for role, word, rows in (("dominated", "dominated", ~best), ("front", "non-dominated", best)):
            if rows.any():
                method = study.methods[k]
                places: dict[str, Any] = {key: short(returns[rows, i]) for key, i in zip(keys, axes, strict=True)}
                places["text"] = [labels[i] for i in np.flatnonzero(rows)]
                words = f"{method}<br>%{{text}}<br>{numbers}<br>{word}"
                traces.append(trace("markers", k, role, method, words, **kind, **places))
    if not traces:
        return gap("No run here yet.")
    titles = {f"{key}axis": title(name) for key, name in zip(keys, names, strict=True)}
    return {"data": traces, "layout": {"scene": titles, "height": 480} if len(axes) == 3 else titles}


def parallel(study: Study) -> Figure:
    """Draw every run as a line over all objectives, each scaled to its own range."""
    points = run_points(study)
    if not points:
        return gap("No run here yet.")
    every = np.concatenate([returns for _, returns, _, _ in points])
    low, span = every.min(0), np.ptp(every, axis=0)
    names = study.info.objectives
    traces = []
    for k, returns, labels, best in points:
        unit = (returns - low) / np.where(span > 0, span, 1.0)
        for role, chosen in (("faint", ~best), ("strong", best)):
            rows = np.flatnonzero(chosen)
            if len(rows):
                y = [value for i in rows for value in (*short(unit[i]), None)]
                text = [text for i in rows for text in (*(f"{labels[i]}<br>{v:.4g}" for v in returns[i]), "")]
                line = {"x": [*range(len(names)), None] * len(rows), "y": y, "text": text, "connectgaps": False}
                method = study.methods[k]
                traces.append(trace("lines+markers", k, role, method, f"{method}<br>%{{text}}", **line))
    ticks = [f"{name}<br>{a:.3g} to {a + b:.3g}" for name, a, b in zip(names, low, span, strict=True)]
    axis = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": ticks, "zeroline": False}
    scale = {**title("worst to best run"), "tickvals": [0, 1], "ticktext": ["worst", "best"]}
    return {"data": traces, "layout": {"xaxis": axis, "yaxis": scale, "height": 440}}
