"""Figures as plotly JSON: shared parts, curves over training, radar and profiles.

``meta`` of a trace holds the index of its method and its role, from which the page and matplotlib choose its style. A
figure that cannot be drawn is ``{"gap": reason}``.
"""

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from morl_blocks.metrics import profile, profile_auc
from morl_recipes.analysis.report.series import Curves
from morl_recipes.analysis.results.study import Study

Figure: TypeAlias = dict[str, Any]
TAU_MAX = 3.0


def short(values: Iterable[float]) -> list[float | None]:
    """Round numbers to five digits for a small file; NaN becomes null.

    Example:
        >>> short([0.123456789, float("nan"), 204800.0])
        [0.12346, None, 204800.0]
    """
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
