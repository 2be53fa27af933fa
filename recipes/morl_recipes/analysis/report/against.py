"""Figures with one line per method: its hypervolume, and its difference from the reference; ours and the paper's."""

import math
from collections.abc import Mapping, Sequence

from morl_blocks.metrics import Interval
from morl_recipes.analysis.report.traces import Figure, gap, short, title, trace, unbounded
from morl_recipes.analysis.results.statistics import against_reference, preference_statistics, study_statistics
from morl_recipes.analysis.results.study import Study
from morl_recipes.analysis.tables.printed import printed_cells, printed_summary
from morl_recipes.recipe.paper import preference_label


def all_bars(study: Study) -> dict[str, Figure]:
    """Draw the hypervolume of each method over all preferences and for each one."""
    summary = {method: row.hv for method, row in printed_summary(study).items()}
    found = {"all": _bars(study, [(row.method, row.hv) for row in study_statistics(study)], summary)}
    rows, cells = preference_statistics(study), printed_cells(study)
    for p, weights in enumerate(study.preferences):
        here = cells[cells["preference"] == preference_label(weights)]
        printed = dict(zip(here["method"], here["hv_mean"], strict=True))
        found[str(p)] = _bars(study, [(row.method, row.hv) for row in rows if row.preference == weights], printed)
    return found


def _bars(study: Study, numbers: Sequence[tuple[str, Interval]], printed: Mapping[str, float]) -> Figure:
    """Draw each hypervolume with its 95 % interval, and the paper's value as a hollow diamond."""
    reason = unbounded(study)
    if reason is not None:
        return gap(reason)
    traces = []
    for k, (method, hv) in enumerate(numbers):
        if math.isnan(hv.estimate):
            continue
        label = f"{method}  <b>{hv.estimate:.3f}</b>"
        words, error = f"{method}<br>HV {hv.estimate:.3f}", {}
        if not math.isnan(hv.low):
            words += f"<br>95 % interval {hv.low:.3f} to {hv.high:.3f}"
            error = {"error_x": _ends(hv, thickness=1.6, width=5)}
        bar = {"orientation": "h", "x": short([hv.estimate]), "y": [label], "width": 0.72}
        traces.append(trace("bar", k, "bar", method, words, **bar, **error))
        value = float(printed.get(method, math.nan))
        if not math.isnan(value):
            words = f"{method}<br>paper {value:.3f}"
            traces.append(trace("markers", k, "paper", f"{method}, paper", words, x=[value], y=[label]))
    if not traces:
        return gap("No run here yet.")
    axes = {"xaxis": {**title("hypervolume of one run"), "rangemode": "tozero"}}
    layout = {**axes, "yaxis": {"autorange": "reversed", "automargin": True}, "height": _height(traces, "bar")}
    return {"data": traces, "layout": {**layout, "barmode": "overlay"}}


def against(study: Study) -> Figure:
    """Draw each method's paired difference from the reference with its 95 % interval, the paper's as a hollow diamond.

    A mark is filled if the interval excludes 0. A method with missing runs shows how many runs it has.
    """
    reason = unbounded(study)
    if reason is not None:
        return gap(reason)
    printed = {method: row.hv for method, row in printed_summary(study).items()}
    traces: list[Figure] = []
    for k, method in enumerate(study.methods):
        found = against_reference(study, k)
        if found is None:
            continue
        estimate, low, high = found.difference
        done, planned = study.runs(k)
        partly = f" ({done} of {planned})" if done < planned else ""
        label = f"{method}{partly}  <b>{estimate:+.3f}</b>"
        words = f"{method}: {found.verdict}<br>{estimate:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}"
        meta = {"method": k, "role": "interval", "apart": found.verdict != "not distinguishable"}
        ends = _ends(found.difference, thickness=2.5, width=6)
        mark = {"x": short([estimate]), "y": [label], "error_x": ends, "meta": meta}
        traces.append({**trace("markers", k, "interval", method, words), **mark})
        apart = printed.get(method, math.nan) - printed.get(study.reference, math.nan)
        if not math.isnan(apart):
            words = f"{method}<br>paper {apart:+.3f}"
            traces.append(trace("markers", k, "paper", f"{method}, paper", words, x=short([apart]), y=[label]))
    if not traces:
        who = study.short_reference
        return gap(f"Nothing to compare with {who} here: that needs two seeds of both on the same preferences.")
    line = {"type": "line", "x0": 0, "x1": 0, "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 1.5}}
    axes = {"xaxis": {**title(f"hypervolume minus {study.short_reference}'s"), "zeroline": False}, "shapes": [line]}
    layout = {**axes, "yaxis": {"autorange": "reversed"}, "height": _height(traces, "interval")}
    return {"data": traces, "layout": layout}


def _ends(interval: Interval, **look: float) -> Figure:
    """Return the error bar of an interval."""
    estimate, low, high = interval
    ends = {"array": short([high - estimate]), "arrayminus": short([estimate - low])}
    return {"type": "data", "symmetric": False, **ends, **look}


def _height(traces: Sequence[Figure], role: str) -> int:
    return 110 + 34 * [one["meta"]["role"] for one in traces].count(role)
