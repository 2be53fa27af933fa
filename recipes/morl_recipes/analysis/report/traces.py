"""Figures as plotly JSON, one function per figure.

``meta`` of a trace has the number of its method; the page uses it to choose the colour and to hide the method. A figure
that cannot be drawn is ``{"gap": reason}``.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from morl_blocks.metrics import Interval, nondominated, profile, profile_auc
from morl_recipes.analysis.report.series import Array, Curves
from morl_recipes.analysis.results.statistics import preference_statistics, study_statistics
from morl_recipes.analysis.results.study import Study
from morl_recipes.analysis.tables.printed import printed_cells, printed_summary
from morl_recipes.recipe.paper import preference_label

Figure: TypeAlias = dict[str, Any]
TAU_MAX = 3.0
MAX_DOMINATED = 40
"""Dominated runs of a method that a front shows."""


def short(values: Iterable[float]) -> list[float | None]:
    """Round numbers to five digits for a small file; NaN becomes null.

    Example:
        >>> short([0.123456789, float("nan"), 204800.0])
        [0.12346, None, 204800.0]
    """
    return [None if math.isnan(value) else float(f"{value:.5g}") for value in values]


def gap(reason: str) -> Figure:
    """Return the placeholder of a figure that cannot be drawn."""
    return {"gap": reason}


def unbounded(study: Study) -> str | None:
    """Return why this study has no hypervolume; ``None`` when it has one."""
    problem = study.info.bounds_problem
    return None if problem is None else f"No hypervolume on {study.env}: {problem}."


def bars(study: Study, numbers: Sequence[tuple[str, Interval]], printed: Mapping[str, float]) -> Figure:
    """Draw the hypervolume of each method with its 95 % interval, and the paper's value as a hollow diamond."""
    reason = unbounded(study)
    if reason is not None:
        return gap(reason)
    traces = []
    for k, (method, hv) in enumerate(numbers):
        if math.isnan(hv.estimate):
            continue
        label = f"{method}  <b>{hv.estimate:.3f}</b>"
        trace: Figure = {"type": "bar", "orientation": "h", "x": short([hv.estimate]), "y": [label], "name": method}
        trace |= {"meta": {"method": k, "role": "bar"}, "width": 0.72}
        words = f"{method}<br>HV {hv.estimate:.3f}"
        if not math.isnan(hv.low):
            ends = {"array": short([hv.high - hv.estimate]), "arrayminus": short([hv.estimate - hv.low])}
            trace["error_x"] = {"type": "data", "symmetric": False, **ends, "thickness": 1.6, "width": 5}
            words += f"<br>95 % interval {hv.low:.3f} to {hv.high:.3f}"
        traces.append({**trace, "hovertemplate": words + "<extra></extra>"})
        if not math.isnan(printed.get(method, math.nan)):
            value = float(printed[method])
            mark: Figure = {
                "type": "scatter",
                "mode": "markers",
                "x": [value],
                "y": [label],
                "name": f"{method}, paper",
            }
            words = f"{method}<br>paper {value:.3f}<extra></extra>"
            traces.append({**mark, "meta": {"method": k, "role": "paper"}, "hovertemplate": words})
    if not traces:
        return gap("No run here yet.")
    count = sum(trace["type"] == "bar" for trace in traces)
    axes = {"xaxis": {"title": {"text": "hypervolume of one run"}, "rangemode": "tozero"}}
    layout = {**axes, "yaxis": {"autorange": "reversed", "automargin": True}, "height": 110 + 34 * count}
    return {"data": traces, "layout": {**layout, "barmode": "overlay"}}


def all_bars(study: Study) -> dict[str, Figure]:
    """Draw the bars over all preferences and for each one."""
    summary = {method: row.hv for method, row in printed_summary(study).items()}
    found = {"all": bars(study, [(row.method, row.hv) for row in study_statistics(study)], summary)}
    rows, cells = preference_statistics(study), printed_cells(study)
    for p, weights in enumerate(study.preferences):
        here = cells[cells["preference"] == preference_label(weights)]
        printed = dict(zip(here["method"], here["hv_mean"], strict=True))
        found[str(p)] = bars(study, [(row.method, row.hv) for row in rows if row.preference == weights], printed)
    return found


def lines(study: Study, series: Curves, preference: int | None, title: str) -> Figure:
    """Draw curves over training, each with its band."""
    traces: list[Figure] = []
    for k, method in enumerate(study.methods):
        band = series.get((k, preference))
        if band is None:
            continue
        if band.low is not None and band.high is not None:
            around = np.concatenate([band.steps, band.steps[::-1]])
            edge = np.concatenate([band.high, band.low[::-1]])
            area: Figure = {"type": "scatter", "mode": "lines", "fill": "toself", "hoverinfo": "skip"}
            traces.append({**area, "x": short(around), "y": short(edge), "meta": {"method": k, "role": "band"}})
        mode = "lines" if len(band.steps) > 3 else "lines+markers"  # a line of one point cannot be seen
        line: Figure = {"type": "scatter", "mode": mode, "name": method, "meta": {"method": k, "role": "line"}}
        words = f"{method}<br>%{{x:,}} steps<br>%{{y:.4g}}<extra></extra>"
        traces.append({**line, "x": short(band.steps), "y": short(band.mean), "hovertemplate": words})
    if not traces:
        return gap(f"No run here has a history of the {title}.")
    axes = {
        "xaxis": {"title": {"text": "environment steps"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": title}},
    }
    return {"data": traces, "layout": axes}


def radar(study: Study, preference: int | None) -> Figure:
    """Draw the normalised return of every objective: a web for three and more, bars for two."""
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
        trace: Figure = {"name": method, "meta": {"method": k, "role": "radar" if len(names) > 2 else "bar"}}
        if len(names) > 2:
            words = f"{method}<br>%{{theta}} %{{r:.3f}}<extra></extra>"
            trace |= {"type": "scatterpolar", "r": short([*mean, mean[0]]), "theta": [*names, names[0]]}
        else:
            words = f"{method}<br>%{{y}} %{{x:.3f}}<extra></extra>"
            trace |= {"type": "bar", "orientation": "h", "x": short(mean), "y": names}
        traces.append({**trace, "hovertemplate": words})
    if not traces:
        return gap("No run here yet.")
    if len(names) > 2:
        return {
            "data": traces,
            "layout": {"polar": {"radialaxis": {"rangemode": "tozero", "angle": 30, "tickangle": 0}}, "height": 440},
        }
    axes: Figure = {"xaxis": {"title": {"text": "normalised return"}, "rangemode": "tozero"}}
    return {"data": traces, "layout": {**axes, "yaxis": {"automargin": True}, "barmode": "group", "height": 420}}


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
    heights, areas = profile(scores, taus), profile_auc(scores, TAU_MAX)
    traces = []
    for k, height, area in zip(active, heights, areas, strict=True):
        method = study.methods[k]
        words = f"{method}<br>within a factor %{{x:.2f}} of the best<br>on %{{y:.0%}} (area {area:.3f})<extra></extra>"
        trace: Figure = {"type": "scatter", "mode": "lines", "name": method, "meta": {"method": int(k), "role": "line"}}
        trace |= {"x": short(taus), "y": short(height), "hovertemplate": words}
        traces.append({**trace, "line": {"shape": "hv"}})
    axes: Figure = {"xaxis": {"title": {"text": "factor τ from the best hypervolume"}, "range": [1, TAU_MAX]}}
    title = f"share of {scores.shape[1]} instances"
    return {"data": traces, "layout": {**axes, "yaxis": {"title": {"text": title}, "range": [-0.02, 1.04]}}}


def run_points(study: Study) -> list[tuple[int, Array, list[str], Array]]:
    """Return each method's runs: its number, returns ``[n, m]``, labels, and which are non-dominated among all runs.

    Of a method's dominated runs at most :data:`MAX_DOMINATED` are there, evenly picked from preferences and seeds.
    """
    cells = np.argwhere(study.usable)
    if not len(cells):
        return []
    returns = study.returns[study.usable]
    front = nondominated(returns)
    labels = [f"{preference_label(study.preferences[p])}, seed {study.seeds[s]}" for _, p, s in cells]
    out = []
    for k in range(len(study.methods)):
        mine = np.flatnonzero(cells[:, 0] == k)
        behind = mine[~front[mine]]
        if len(behind) > MAX_DOMINATED:
            picked = behind[np.linspace(0, len(behind) - 1, MAX_DOMINATED).round().astype(int)]
            mine = np.union1d(mine[front[mine]], picked)
        if len(mine):
            out.append((k, returns[mine], [labels[i] for i in mine], front[mine].astype(float)))
    return out


def front(study: Study, axes: Sequence[int]) -> Figure:
    """Scatter the runs over two or three objectives; filled points are non-dominated in all objectives."""
    keys, names = "xyz"[: len(axes)], [study.info.objectives[i] for i in axes]
    traces = []
    for k, returns, labels, best in run_points(study):
        for role, chosen in (("dominated", best == 0), ("front", best == 1)):
            if not chosen.any():
                continue
            numbers = "<br>".join(f"{name} %{{{key}:.4g}}" for name, key in zip(names, keys, strict=True))
            kind = "non-dominated" if role == "front" else role
            words = f"{study.methods[k]}<br>%{{text}}<br>{numbers}<br>{kind}<extra></extra>"
            trace: Figure = {"type": "scatter3d" if len(axes) == 3 else "scatter", "mode": "markers"}
            trace |= {"name": study.methods[k], "meta": {"method": k, "role": role}, "hovertemplate": words}
            trace["text"] = [label for label, there in zip(labels, chosen, strict=True) if there]
            traces.append({**trace, **{key: short(returns[chosen, i]) for key, i in zip(keys, axes, strict=True)}})
    if not traces:
        return gap("No run here yet.")
    titles = {f"{key}axis": {"title": {"text": name}} for key, name in zip(keys, names, strict=True)}
    if len(axes) == 3:
        return {"data": traces, "layout": {"scene": titles, "height": 480}}
    return {"data": traces, "layout": titles}


def parallel(study: Study) -> Figure:
    """Draw every run as a line over all objectives, each scaled to its own range; strong lines are non-dominated."""
    points = run_points(study)
    if not points:
        return gap("No run here yet.")
    every = np.concatenate([returns for _, returns, _, _ in points])
    low, span = every.min(0), np.ptp(every, axis=0)
    names = study.info.objectives
    traces = []
    for k, returns, labels, best in points:
        unit = (returns - low) / np.where(span > 0, span, 1.0)
        for role, chosen in (("faint", best == 0), ("strong", best == 1)):
            rows = np.flatnonzero(chosen)
            if not len(rows):
                continue
            heights = [value for i in rows for value in (*short(unit[i]), None)]
            texts = [text for i in rows for text in (*(f"{labels[i]}<br>{v:.4g}" for v in returns[i]), "")]
            trace: Figure = {"type": "scatter", "mode": "lines+markers", "connectgaps": False, "y": heights}
            trace |= {
                "x": [x for _ in rows for x in (*range(len(names)), None)],
                "text": texts,
                "name": study.methods[k],
            }
            words = f"{study.methods[k]}<br>%{{text}}<extra></extra>"
            traces.append({**trace, "meta": {"method": k, "role": role}, "hovertemplate": words})
    ticks = [f"{name}<br>{a:.3g} to {a + b:.3g}" for name, a, b in zip(names, low, span, strict=True)]
    axis = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": ticks, "zeroline": False}
    scale = {"title": {"text": "worst to best run"}, "tickvals": [0, 1], "ticktext": ["worst", "best"]}
    return {"data": traces, "layout": {"xaxis": axis, "yaxis": scale, "height": 440}}
