"""The figure of differences: the hypervolume of each method minus that of the reference, ours and the paper's."""

import math

from morl_blocks.metrics import Comparison
from morl_recipes.analysis.report.traces import Figure, gap, short, unbounded
from morl_recipes.analysis.results.statistics import against_reference
from morl_recipes.analysis.results.study import Study
from morl_recipes.analysis.tables.printed import printed_summary


def against(study: Study) -> Figure:
    """Draw each method's paired difference to the reference with its 95 % interval, the paper's as a hollow diamond.

    Left of the line is worse. A mark is filled where the interval excludes 0. A method with missing
    runs shows how many it has.
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
        done, planned = study.runs(k)
        partly = f" ({done} of {planned})" if done < planned else ""
        label = f"{method}{partly}  <b>{found.difference.estimate:+.3f}</b>"
        traces.append(_interval(k, method, label, found))
        apart = printed.get(method, math.nan) - printed.get(study.reference, math.nan)
        if not math.isnan(apart):
            mark: Figure = {"type": "scatter", "mode": "markers", "x": short([apart]), "y": [label]}
            mark |= {"name": f"{method}, paper", "meta": {"method": k, "role": "paper"}}
            traces.append({**mark, "hovertemplate": f"{method}<br>paper {apart:+.3f}<extra></extra>"})
    if not traces:
        who = study.short_reference
        return gap(f"Nothing to compare with {who} here: that needs two seeds of both on the same preferences.")
    count = sum(trace["meta"]["role"] == "interval" for trace in traces)
    line = {"type": "line", "x0": 0, "x1": 0, "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 1.5}}
    axes: Figure = {
        "xaxis": {"title": {"text": f"hypervolume minus {study.short_reference}'s"}, "zeroline": False},
        "shapes": [line],
    }
    return {"data": traces, "layout": {**axes, "yaxis": {"autorange": "reversed"}, "height": 110 + 34 * count}}


def _interval(k: int, method: str, label: str, found: Comparison) -> Figure:
    estimate, low, high = found.difference
    ends = {"array": short([high - estimate]), "arrayminus": short([estimate - low])}
    trace: Figure = {"type": "scatter", "mode": "markers", "x": short([estimate]), "y": [label], "name": method}
    trace["error_x"] = {"type": "data", "symmetric": False, **ends, "thickness": 2.5, "width": 6}
    trace["meta"] = {"method": k, "role": "interval", "apart": found.verdict != "not distinguishable"}
    words = f"{method}: {found.verdict}<br>{estimate:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}<extra></extra>"
    return {**trace, "hovertemplate": words}
