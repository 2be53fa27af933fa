"""Draw the figures of :mod:`morl_recipes.analysis.report.traces` with matplotlib, trace by trace."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from morl_recipes.analysis.report.style import MATPLOTLIB_DASH, MATPLOTLIB_MARKER, Style

Trace = Mapping[str, Any]
INK = "#1b2129"
APART, ALIKE = "#0072b2", "#7b8794"
"""Differences whose interval does not hold 0, and those whose interval does."""


def _numbers(values: list[float | None]) -> np.ndarray:
    """Turn null back into NaN, which matplotlib leaves out."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def plain_text(text: str) -> str:
    """Remove the tags of plotly's labels.

    Example:
        >>> plain_text("Linear  <b>0.2</b>")
        'Linear  0.2'
    """
    return re.sub(r"<[^>]+>", "", text.replace("<br>", "\n"))


def _stroke(style: Style) -> dict[str, Any]:
    return {"color": style.light, "linestyle": MATPLOTLIB_DASH[style.dash], "marker": MATPLOTLIB_MARKER[style.symbol]}


def _line(axes: Axes, trace: Trace, style: Style) -> None:
    stepped = "steps-post" if trace.get("line", {}).get("shape") == "hv" else "default"
    look = _stroke(style) | ({} if "markers" in trace["mode"] else {"marker": ""})
    axes.plot(_numbers(trace["x"]), _numbers(trace["y"]), linewidth=1.6, drawstyle=stepped, **look)


def _band(axes: Axes, trace: Trace, style: Style) -> None:
    axes.fill(_numbers(trace["x"]), _numbers(trace["y"]), color=style.light, alpha=0.13, linewidth=0)


def _bar(axes: Axes, trace: Trace, style: Style) -> None:
    ends = trace.get("error_x")
    error = None if ends is None else np.array([ends["arrayminus"], ends["array"]], dtype=float)
    look: dict[str, Any] = {
        "facecolor": style.light,
        "alpha": 0.85,
        "hatch": style.hatch * 2,
        "edgecolor": "white",
        "linewidth": 0.6,
    }
    position = trace.get("position", trace["y"])
    axes.barh(position, _numbers(trace["x"]), height=trace.get("thickness", 0.72), xerr=error, capsize=3, **look)


def _interval(axes: Axes, trace: Trace, style: Style) -> None:
    ends, apart = trace["error_x"], trace["meta"]["apart"]
    error = np.array([ends["arrayminus"], ends["array"]], dtype=float)
    colour = APART if apart else ALIKE
    look: dict[str, Any] = {"color": colour, "markerfacecolor": colour if apart else "white", "elinewidth": 2.2}
    axes.errorbar(trace["x"], trace["y"], xerr=error, fmt="o", capsize=3, markersize=6, zorder=3, **look)


def _paper(axes: Axes, trace: Trace, style: Style) -> None:
    axes.plot(trace["x"], trace["y"], "D", markerfacecolor="none", color=INK, markersize=5.5, zorder=4)


def _radar(axes: Axes, trace: Trace, style: Style) -> None:
    angles = np.linspace(0.0, 2 * np.pi, len(trace["theta"]))
    axes.plot(angles, _numbers(trace["r"]), linewidth=1.6, markersize=4, **_stroke(style))
    axes.set_xticks(angles[:-1], trace["theta"][:-1])


def _points(axes: Axes, trace: Trace, style: Style) -> None:
    strong = trace["meta"]["role"] == "front"
    look: dict[str, Any] = {
        "s": 34 if strong else 12,
        "marker": MATPLOTLIB_MARKER[style.symbol],
        "alpha": 1.0 if strong else 0.45,
    }
    look |= {"edgecolors": INK if strong else style.light, "linewidths": 0.8}
    fill = style.light if strong else "none"
    axes.scatter(*(_numbers(trace[key]) for key in "xyz" if key in trace), facecolors=fill, **look)


def _runs(axes: Axes, trace: Trace, style: Style) -> None:
    strong = trace["meta"]["role"] == "strong"
    look: dict[str, Any] = {
        "linewidth": 1.6 if strong else 0.6,
        "alpha": 1.0 if strong else 0.3,
        "markersize": 4 if strong else 1.5,
    }
    axes.plot(_numbers(trace["x"]), _numbers(trace["y"]), **look, **_stroke(style))


_PAINT: dict[str, Callable[[Axes, Trace, Style], None]] = {
    "line": _line,
    "band": _band,
    "bar": _bar,
    "interval": _interval,
    "paper": _paper,
    "radar": _radar,
    "front": _points,
    "dominated": _points,
    "strong": _runs,
    "faint": _runs,
}


def _grouped(figure: Mapping[str, Any]) -> list[Trace]:
    """Spread the bars of several methods over each category, as plotly does for ``barmode`` group."""
    traces: list[Trace] = figure["data"]
    if figure["layout"].get("barmode") != "group":
        return traces
    thickness = 0.8 / len(traces)
    shifts = (np.arange(len(traces)) - (len(traces) - 1) / 2) * thickness
    return [
        {**trace, "position": np.arange(len(trace["y"])) + shift, "thickness": thickness}
        for trace, shift in zip(traces, shifts, strict=True)
    ]


def projection(figure: Mapping[str, Any]) -> str | None:
    """Name the kind of axes that a figure needs; ``None`` for ordinary ones."""
    layout = figure.get("layout", {})
    return "polar" if "polar" in layout else "3d" if "scene" in layout else None


def draw(axes: Axes, figure: Mapping[str, Any], styles: list[Style]) -> None:
    """Draw a figure, or the reason why there is none.

    Args:
        axes: Where to draw; its projection must be that of :func:`projection`.
        figure: Plotly JSON with the roles of :mod:`morl_recipes.analysis.report.traces`, or a gap.
        styles: The look of each method.
    """
    if "gap" in figure:
        axes.set_axis_off()
        axes.text(0.5, 0.5, figure["gap"], ha="center", va="center", wrap=True, transform=axes.transAxes)
        return
    for trace in _grouped(figure):
        _PAINT[trace["meta"]["role"]](axes, trace, styles[trace["meta"]["method"]])
    layout = figure["layout"]
    titles = layout.get("scene", layout)
    for key in ("x", "y", "z"):
        given = titles.get(f"{key}axis", {})
        if "title" in given:
            getattr(axes, f"set_{key}label")(given["title"]["text"])
        if "ticktext" in given:
            getattr(axes, f"set_{key}ticks")(given["tickvals"], [plain_text(text) for text in given["ticktext"]])
        if "range" in given:
            getattr(axes, f"set_{key}lim")(given["range"])
    _finish(axes, figure)


def _finish(axes: Axes, figure: Mapping[str, Any]) -> None:
    """Set what depends on the kind of axes."""
    kind, layout = projection(figure), figure["layout"]
    if kind == "polar":
        axes.set_theta_zero_location("N")  # type: ignore[attr-defined]
        axes.set_theta_direction(-1)  # type: ignore[attr-defined]
        axes.set_ylim(bottom=0)
        return
    if kind == "3d":
        axes.set_box_aspect(None, zoom=0.85)  # type: ignore[call-arg]  # room for the title of the vertical axis
        return
    tidy(axes)
    if layout.get("xaxis", {}).get("title", {}).get("text") == "environment steps":
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    if "shapes" in layout:
        _from_zero(axes, figure)
    elif layout.get("barmode") == "group":
        names = figure["data"][0]["y"]
        axes.set_yticks(range(len(names)), names)
    elif "barmode" in layout:
        _name_rows(axes, figure, "bar")
        axes.invert_yaxis()


def tidy(axes: Axes) -> None:
    """Draw a faint grid behind the data, and no frame above and on the right."""
    axes.grid(visible=True, color="#e4e8ee", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _from_zero(axes: Axes, figure: Mapping[str, Any]) -> None:
    """Mark where nothing differs, and name the rows from top to bottom."""
    axes.axvline(0, color=INK, linewidth=1)
    axes.set_ylim(_name_rows(axes, figure, "interval") - 0.4, -0.6)


def _name_rows(axes: Axes, figure: Mapping[str, Any], role: str) -> int:
    """Name the rows that the traces of a role are drawn in; return how many there are."""
    names = [plain_text(trace["y"][0]) for trace in figure["data"] if trace["meta"]["role"] == role]
    axes.set_yticks(range(len(names)), names)
    return len(names)
