"""Draw the figures of :mod:`morl_recipes.analysis.report.traces` with matplotlib, trace by trace."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from morl_recipes.analysis.report.style import MATPLOTLIB_DASH, MATPLOTLIB_MARKER, Style

Trace = Mapping[str, Any]
INK = "#1b2129"
APART, ALIKE = "#0072b2", "#7b8794"
"""Colours of differences whose interval excludes 0, and of those whose interval contains it."""
LINES: dict[str, dict[str, Any]] = {
    "line": {"linewidth": 1.6},
    "radar": {"linewidth": 1.6, "markersize": 4},
    "strong": {"linewidth": 1.6, "markersize": 4},
    "faint": {"linewidth": 0.6, "alpha": 0.3, "markersize": 1.5},
}
"""Styles of the line traces, by role."""


def _numbers(values: list[float | None]) -> np.ndarray:
    """Turn null back into NaN, which matplotlib does not draw."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def plain_text(text: str) -> str:
    """Remove the HTML tags of plotly's labels."""
    return re.sub(r"<[^>]+>", "", text.replace("<br>", "\n"))


def _paint(axes: Axes, trace: Trace, style: Style) -> None:
    """Draw one trace according to its role."""
    role = trace["meta"]["role"]
    look: dict[str, Any]
    if role in LINES:
        look = {"color": style.light, "linestyle": MATPLOTLIB_DASH[style.dash], **LINES[role]}
        look["marker"] = "" if trace.get("mode") == "lines" else MATPLOTLIB_MARKER[style.symbol]
        look["drawstyle"] = "steps-post" if trace.get("line", {}).get("shape") == "hv" else "default"
        if role == "radar":
            angles = np.linspace(0.0, 2 * np.pi, len(trace["theta"]))
            axes.plot(angles, _numbers(trace["r"]), **look)
            axes.set_xticks(angles[:-1], trace["theta"][:-1])
        else:
            axes.plot(_numbers(trace["x"]), _numbers(trace["y"]), **look)
    elif role == "band":
        axes.fill(_numbers(trace["x"]), _numbers(trace["y"]), color=style.light, alpha=0.13, linewidth=0)
    elif role == "bar":
        look = {"facecolor": style.light, "alpha": 0.85, "hatch": style.hatch * 2, "edgecolor": "white"}
        look |= {"linewidth": 0.6, "height": trace.get("thickness", 0.72), "xerr": _ends(trace), "capsize": 3}
        axes.barh(trace.get("position", trace["y"]), _numbers(trace["x"]), **look)
    elif role == "interval":
        colour = APART if trace["meta"]["apart"] else ALIKE
        look = {"color": colour, "markerfacecolor": colour if colour == APART else "white", "elinewidth": 2.2}
        axes.errorbar(trace["x"], trace["y"], xerr=_ends(trace), fmt="o", capsize=3, markersize=6, zorder=3, **look)
    elif role == "paper":
        axes.plot(trace["x"], trace["y"], "D", markerfacecolor="none", color=INK, markersize=5.5, zorder=4)
    else:  # points of runs: "front" or "dominated"
        front = role == "front"
        look = {"s": 34 if front else 12, "alpha": 1.0 if front else 0.45, "linewidths": 0.8}
        look |= {"edgecolors": INK if front else style.light, "facecolors": style.light if front else "none"}
        points = [_numbers(trace[key]) for key in "xyz" if key in trace]
        axes.scatter(*points, marker=MATPLOTLIB_MARKER[style.symbol], **look)


def _ends(trace: Trace) -> np.ndarray | None:
    """Return the lengths of the error bars, ``[2, n]``; ``None`` without any."""
    return np.array([trace["error_x"][end] for end in ("arrayminus", "array")]) if "error_x" in trace else None


def _grouped(figure: Mapping[str, Any]) -> list[Trace]:
    """Spread the bars of several methods over each category, as plotly does for ``barmode`` group."""
    traces: list[Trace] = figure["data"]
    if figure["layout"].get("barmode") != "group":
        return traces
    step, middle = 0.8 / len(traces), (len(traces) - 1) / 2
    places = [np.arange(len(trace["y"])) + (k - middle) * step for k, trace in enumerate(traces)]
    return [{**trace, "position": place, "thickness": step} for trace, place in zip(traces, places, strict=True)]


def projection(figure: Mapping[str, Any]) -> str | None:
    """Return the projection of the axes that a figure needs; ``None`` for ordinary axes."""
    layout = figure.get("layout", {})
    return "polar" if "polar" in layout else "3d" if "scene" in layout else None


def draw(axes: Axes, figure: Mapping[str, Any], styles: list[Style]) -> None:
    """Draw a figure, or the reason why it cannot be drawn, on axes of its :func:`projection`."""
    if "gap" in figure:
        axes.set_axis_off()
        axes.text(0.5, 0.5, figure["gap"], ha="center", va="center", wrap=True, transform=axes.transAxes)
        return
    for trace in _grouped(figure):
        _paint(axes, trace, styles[trace["meta"]["method"]])
    titles = figure["layout"].get("scene", figure["layout"])
    for key in ("x", "y", "z"):
        given = titles.get(f"{key}axis", {})
        if "title" in given:
            getattr(axes, f"set_{key}label")(given["title"]["text"])
        if "ticktext" in given:
            getattr(axes, f"set_{key}ticks")(given["tickvals"], [plain_text(text) for text in given["ticktext"]])
        if "range" in given:
            getattr(axes, f"set_{key}lim")(given["range"])
    _finish(axes, figure)


def _finish(axes: Any, figure: Mapping[str, Any]) -> None:
    """Set what depends on the kind of axes."""
    kind, layout = projection(figure), figure["layout"]
    if kind == "polar":
        axes.set(theta_zero_location="N", theta_direction=-1, ylim=(0, None))
        return
    if kind == "3d":
        axes.set_box_aspect(None, zoom=0.85)  # room for the title of the vertical axis
        return
    tidy(axes)
    if layout.get("xaxis", {}).get("title", {}).get("text") == "environment steps":
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    rows = [plain_text(trace["y"][0]) for trace in figure["data"] if trace["meta"]["role"] in ("interval", "bar")]
    if layout.get("barmode") == "group":
        rows = figure["data"][0]["y"]
    if rows:
        axes.set_yticks(range(len(rows)), rows)
    if "shapes" in layout:  # differences: a line at 0, rows from top to bottom
        axes.axvline(0, color=INK, linewidth=1)
        axes.set_ylim(len(rows) - 0.4, -0.6)
    elif layout.get("barmode") == "overlay":
        axes.invert_yaxis()


def tidy(axes: Axes) -> None:
    """Draw a faint grid behind the data, and no frame above and on the right."""
    axes.grid(visible=True, color="#e4e8ee", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
