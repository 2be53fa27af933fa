"""Figures as plotly JSON: shared parts, curves over training, radar, profiles, and runs in the space of returns.

``meta`` of a trace holds the index of its method and its role, from which the page and matplotlib choose its style. A
figure that cannot be drawn is ``{"gap": reason}``.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from morl_blocks.metrics import nondominated, profile, profile_auc
from morl_recipes.analysis.report.series import Array, Curves
from morl_recipes.analysis.results.study import Study
from morl_recipes.recipe.paper import preference_label

Figure: TypeAlias = dict[str, Any]
TAU_MAX = 3.0
MAX_DOMINATED = 40
"""Maximal number of dominated runs per method that a front shows."""


def short(values: Iterable[float]) -> list[float | None]:
    """Round numbers to five digits for a small file; NaN becomes null."""
    return [None if math.isnan(value) else float(f"{value:.5g}") for value in values]


def trace(mode: str, method: int, role: str, name: str, hover: str, **parts: Any) -> Figure:
    """Return a trace: a scatter of this mode, or bars; its name appears in the legend and in the hover text."""
    shape = {"type": mode} if mode in ("bar", "scatterpolar") else {"type": "scatter", "mode": mode}
    named = {"name": name, "hovertemplate": f"{hover}<extra></extra>", "meta": {"method": method, "role": role}}
    return {**shape, **named, **parts}


def gap(reason: str) -> Figure:
    """Return the placeholder of a figure that cannot be drawn."""
    return {"gap": reason}


def title(text: str) -> Figure:
    """Return the title of an axis."""
    return {"title": {"text": text}}


def unbounded(study: Study) -> str | None:
    """Return the reason why this study has no hypervolume, or ``None`` if it has one."""
    problem = study.info.bounds_problem
    return None if problem is None else f"No hypervolume on {study.env}: {problem}."


def lines(study: Study, series: Curves, preference: int | None, name: str) -> Figure:
    """Draw curves over training, each with its band."""
    traces: list[Figure] = []
    for k, method in enumerate(study.methods):
        band = series.get((k, preference))
        if band is None:
            continue
        if band.low is not None and band.high is not None:
            x, y = np.concatenate([band.steps, band.steps[::-1]]), np.concatenate([band.high, band.low[::-1]])
            area = {"type": "scatter", "mode": "lines", "fill": "toself", "hoverinfo": "skip"}
            traces.append({**area, "x": short(x), "y": short(y), "meta": {"method": k, "role": "band"}})
        mode = "lines" if len(band.steps) > 3 else "lines+markers"  # a line needs two points to be visible
        words = f"{method}<br>%{{x:,}} steps<br>%{{y:.4g}}"
        traces.append(trace(mode, k, "line", method, words, x=short(band.steps), y=short(band.mean)))
    if not traces:
        return gap(f"No run here has a history of the {name}.")
    axes = {"xaxis": {**title("environment steps"), "rangemode": "tozero"}, "yaxis": title(name)}
    return {"data": traces, "layout": axes}


def radar(study: Study, preference: int | None) -> Figure:
    """Draw the normalised return of every objective: a radar chart for three or more, bars for two."""
    if study.info.bounds is None:
        return gap(f"Returns cannot be normalised on {study.env}: {study.info.bounds_problem}.")
    low, high = map(np.array, study.info.bounds)
    unit = (study.returns - low) / (high - low)
    unit = unit if preference is None else unit[:, preference : preference + 1]
    names = list(study.info.objectives)
    traces = []
    for k, method in enumerate(study.methods):
        rows = [cell[np.isfinite(cell).all(-1)].mean(0) for cell in unit[k] if np.isfinite(cell).all(-1).any()]
        if not rows:
            continue
        mean = np.mean(rows, axis=0)
        if len(names) > 2:
            web = {"r": short([*mean, mean[0]]), "theta": [*names, names[0]]}
            traces.append(trace("scatterpolar", k, "radar", method, f"{method}<br>%{{theta}} %{{r:.3f}}", **web))
        else:
            bar = {"orientation": "h", "x": short(mean), "y": names}
            traces.append(trace("bar", k, "bar", method, f"{method}<br>%{{y}} %{{x:.3f}}", **bar))
    if not traces:
        return gap("No run here yet.")
    if len(names) > 2:
        polar = {"radialaxis": {"rangemode": "tozero", "angle": 30, "tickangle": 0}}
        return {"data": traces, "layout": {"polar": polar, "height": 440}}
    axes: Figure = {"xaxis": {**title("normalised return"), "rangemode": "tozero"}, "yaxis": {"automargin": True}}
    return {"data": traces, "layout": {**axes, "barmode": "group", "height": 420}}


def profiles(study: Study) -> Figure:
    """Draw the Dolan-More profiles over the (preference, seed) instances that all methods have."""
    reason = unbounded(study)
    active = np.flatnonzero(study.active)
    if reason is None and (len(active) < 2 or not study.common.any()):
        reason = "A profile compares methods, and no two of them share a preference and seed yet."
    if reason is not None:
        return gap(reason)
    scores = study.hv[active][:, study.common]
    taus = np.linspace(1.0, TAU_MAX, 81)
    traces = []
    for k, height, area in zip(active, profile(scores, taus), profile_auc(scores, TAU_MAX), strict=True):
        method, step = study.methods[k], {"line": {"shape": "hv"}}
        words = f"{method}<br>within a factor %{{x:.2f}} of the best<br>on %{{y:.0%}} (area {area:.3f})"
        traces.append(trace("lines", int(k), "line", method, words, x=short(taus), y=short(height), **step))
    across: Figure = {**title("factor τ from the best hypervolume"), "range": [1, TAU_MAX]}
    upwards: Figure = {**title(f"share of {scores.shape[1]} instances"), "range": [-0.02, 1.04]}
    return {"data": traces, "layout": {"xaxis": across, "yaxis": upwards}}


def run_points(study: Study) -> list[tuple[int, Array, list[str], NDArray[np.bool_]]]:
    """Return each method's index, returns ``[n, m]``, labels, and which are non-dominated among all runs.

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
